"""Make the blocking client out of the asynchronous one: in python/pgrecall, each _async → _sync.

`--check` changes nothing and fails when the result is not what stands there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import unasync

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "pgrecall"
BIN = Path(sys.executable).parent

# Names that change by more than `async` or `await`. Any other name that begins with `Async` would
# become `Sync…`.
NAMES = {
    "AsyncAdmin": "Admin",
    "AsyncAgentMemory": "AgentMemory",
    "AsyncCallLog": "CallLog",
    "AsyncCalls": "Calls",
    "AsyncChatSession": "ChatSession",
    "AsyncClient": "Client",
    "AsyncConnection": "Connection",
    "AsyncConnectionPool": "ConnectionPool",
    "AsyncContextManager": "ContextManager",
    "AsyncContexts": "Contexts",
    "AsyncConversation": "Conversation",
    "AsyncCopy": "Copy",
    "AsyncCore": "Core",
    "AsyncCursor": "Cursor",
    "AsyncDatabase": "Database",
    "AsyncEncryption": "Encryption",
    "AsyncEndpoint": "Endpoint",
    "AsyncExitStack": "ExitStack",
    "AsyncGuard": "Guard",
    "AsyncItems": "Items",
    "AsyncMemories": "Memories",
    "AsyncMemoryTools": "MemoryTools",
    "AsyncNullConnectionPool": "NullConnectionPool",
    "AsyncOpenAI": "OpenAI",
    "AsyncPrimary": "Primary",
    "AsyncPrivacy": "Privacy",
    "AsyncRecordingClient": "RecordingClient",
    "AsyncReplica": "Replica",
    "AsyncReplyStream": "ReplyStream",
    "AsyncRetrieval": "Retrieval",
    "AsyncSession": "Session",
    "AsyncSessions": "Sessions",
    "AsyncStream": "Stream",
    "AsyncTransaction": "Transaction",
    "AsyncTranscript": "Transcript",
    "AsyncTransport": "Transport",
    "AsyncTurn": "Turn",
    "AsyncUsers": "Users",
    "AsyncWorker": "Worker",
    "DefaultAsyncHttpxClient": "DefaultHttpxClient",
    "_async": "_sync",
    "aclose": "close",
    "aclosing": "closing",
    "aread": "read",
    "asynccontextmanager": "contextmanager",
    "enter_async_context": "enter_context",
    "push_async_callback": "callback",
}


def generate(source: Path, target: Path) -> None:
    """Write the blocking modules of the folder `source` into the folder `target`."""
    rule = unasync.Rule("/_async/", "/_sync/", additional_replacements=NAMES)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "_async"
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        files = sorted(copy.rglob("*.py"))
        unasync.unasync_files([str(file) for file in files], [rule])
        made = Path(scratch) / "_sync"
        for file in sorted(made.rglob("*.py")):
            name = file.relative_to(made)
            header = f"# Made from _async/{name} by `make generate`; change that file, not this.\n"
            file.write_text(header + file.read_text(encoding="utf-8"), encoding="utf-8")
            target_file = target / name
            target_file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target_file)
    for arguments in (["check", "--fix-only", "--quiet"], ["format", "--quiet"]):
        subprocess.run(
            [str(BIN / "ruff"), *arguments, "--config", str(ROOT / "pyproject.toml"), str(target)],
            check=True,
        )


def main() -> int:
    """Generate, or with `--check` compare."""
    sources = sorted(PACKAGE.rglob("_async"))
    stale = []
    for source in sources:
        target = source.with_name("_sync")
        if "--check" in sys.argv[1:]:
            stale += differences(source, target)
        else:
            shutil.rmtree(target, ignore_errors=True)
            generate(source, target)
    for name in stale:
        print(f"{name} is not what `make generate` makes")
    return 1 if stale or not sources else 0


def differences(source: Path, target: Path) -> list[Path]:
    """Return the files in `target` that are not what `generate` makes of `source`."""
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch) / "_sync"
        generate(source, fresh)
        names = {file.relative_to(fresh) for file in fresh.rglob("*.py")}
        names |= {file.relative_to(target) for file in target.rglob("*.py")}
        return [
            (target / name).relative_to(PACKAGE)
            for name in sorted(names)
            if read(fresh / name) != read(target / name)
        ]


def read(path: Path) -> str | None:
    """Return a file's text, None when there is none."""
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
