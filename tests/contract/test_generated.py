"""Files written by `make generate` are current: blocking client, signatures and reference."""

from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import catalog
import driver_pages
import node_client
import pgrecall
import reference

ROOT = Path(__file__).resolve().parents[2]


def test_generated_files_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "generate.py"), "--check"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_asynchronous_is_left() -> None:
    paths = sorted((ROOT / "python" / "pgrecall").rglob("_sync/*.py"))
    assert {path.parent.parent.name for path in paths} == {"pgrecall", "calls", "encryption"}
    for path in paths:
        code = path.read_text(encoding="utf-8").split("\n", 1)[1]
        for word in ("async ", "await ", "Async", "asyncio"):
            assert word not in code, f"{path.name} has {word!r}"


def test_blocking_and_asynchronous_client_have_the_same_methods() -> None:
    pairs = [
        (pgrecall.AsyncAgentMemory, pgrecall.AgentMemory),
        (pgrecall.AsyncChatSession, pgrecall.ChatSession),
        (pgrecall.AsyncWorker, pgrecall.Worker),
        (pgrecall.AsyncMemoryTools, pgrecall.MemoryTools),
        (pgrecall.AsyncReplyStream, pgrecall.ReplyStream),
    ]
    blocking_parts = driver_pages.parts(pgrecall.AgentMemory)
    for name, part in driver_pages.parts(pgrecall.AsyncAgentMemory).items():
        pairs.append((part, blocking_parts[name]))
    for asynchronous, blocking in pairs:
        names = {name.replace("aclose", "close") for name in public(asynchronous)}
        assert names == public(blocking)
        for name in names & public(asynchronous):
            if not callable(getattr(blocking, name)):
                continue
            one = inspect.signature(getattr(asynchronous, name)).parameters
            other = inspect.signature(getattr(blocking, name)).parameters
            assert list(one) == list(other), name


def test_signatures_are_those_of_the_catalog(dsn: str) -> None:
    assert catalog.SIGNATURES.read_text(encoding="utf-8") == catalog.signatures(dsn)


def test_client_for_node_is_that_of_the_catalog(dsn: str) -> None:
    assert node_client.CLIENT.read_text(encoding="utf-8") == node_client.client(dsn)


def test_public_functions_keep_their_contract(dsn: str) -> None:
    """A difference here is a change for callers: `make generate`, and a line in CHANGELOG.md."""
    committed = catalog.CONTRACT.read_text(encoding="utf-8")
    assert catalog.contract(dsn).splitlines() == committed.splitlines()


def test_pages_of_the_reference_are_those_of_the_catalog(dsn: str) -> None:
    assert reference.stale(dsn) == [], "run make generate"


def test_page_of_the_driver_marks_class_methods() -> None:
    lines = driver_pages.methods("AgentMemory", pgrecall.AgentMemory)
    for name in ("connect", "embedded", "from_environment"):
        place = lines.index(f"#### AgentMemory.{name}")
        assert lines[place + 2 : place + 4] == ["```py", "@classmethod"]
    assert lines.count("@classmethod") == 3


def test_page_of_settings_says_nothing_twice() -> None:
    """The comment of its column says what a setting is; the file says what raising it does."""
    groups = tomllib.loads((ROOT / ".ci" / "settings.toml").read_text(encoding="utf-8"))
    effects = {name: row[1] for group in groups.values() for name, row in group.items()}
    assert [name for name, text in effects.items() if text and text[:8] != "Higher: "] == []


def public(cls: type) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")}
