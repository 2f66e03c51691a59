"""Run the test suites of frameworks against our adapters: `make integrations`.

The suites are those in the source distributions of the frameworks, at fixed versions, with our
classes in the place of theirs. `.ci/suites` has a plugin of pytest for each suite, and in
excluded.toml the tests that are left out. The table in docs/integrations.md must have the counts of
this run; `make integrations ARGS=--write` writes it. Names of suites as arguments run these only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrecall import schema
from pgrecall.embedded import EmbeddedServer

ROOT = Path(__file__).resolve().parents[1]
SUITES = ROOT / ".ci" / "suites"
CACHE = ROOT / ".cache" / "integrations"
PAGE = ROOT / "docs" / "integrations.md"
BEGIN, END = "<!-- written by make integrations -->\n", "<!-- end -->\n"
# what the suites import beside the frameworks
TOOLS = (
    "inline-snapshot==0.36.1",
    "pytest-asyncio==1.5.0",
    "pytest-mock==3.17.0",
)


@dataclass(frozen=True)
class Suite:
    """A suite: the package whose source has it, the plugin that runs it, and what it tests."""

    name: str
    package: str
    version: str
    plugin: str
    tests: tuple[str, ...]
    ours: str

    @property
    def is_ours(self) -> bool:
        """Whether the tests stand in .ci/suites, and the package is a library of tests."""
        return self.plugin == "suite"

    @property
    def folder(self) -> Path:
        """Where its source is unpacked."""
        return (
            SUITES if self.is_ours else CACHE / f"{self.package.replace('-', '_')}-{self.version}"
        )


ALL = (
    Suite("base store", "langgraph-checkpoint", "4.3.2", "langgraph_stores",
          ("test_store.py",), "`PgRecallStore`"),
    Suite("PostgresStore", "langgraph-checkpoint-postgres", "3.2.0", "langgraph_stores",
          ("test_store.py", "test_async_store.py"), "`PgRecallStore`, `AsyncPgRecallStore`"),
    Suite("PostgresSaver", "langgraph-checkpoint-postgres", "3.2.0", "langgraph_savers",
          ("test_sync.py", "test_async.py"),
          "PostgresSaver beside the schema `recall`"),
    Suite("sessions and runners", "openai-agents", "0.24.0", "openai_agents_sessions",
          ("memory/test_session.py", "memory/test_session_limit.py",
           "memory/test_compaction_model_visibility.py",
           "memory/test_openai_responses_compaction_session.py", "test_agent_runner.py",
           "test_agent_runner_streamed.py", "test_hitl_session_scenario.py", "test_max_turns.py",
           "deferred_session_writes"),
          "`PgRecallSession`"),
    Suite("conformance", "langgraph-checkpoint-conformance", "0.0.2", "suite",
          ("test_saver_conformance.py",), "PostgresSaver beside the schema `recall`"),
    Suite("retrievers", "langchain-tests", "1.1.9", "suite",
          ("test_langchain_standard.py",), "`PgRecallRetriever`"),
)  # fmt: skip


def main() -> int:
    """Run all suites, print the table, and return how many failed or differ from the page."""
    names = [name for name in sys.argv[1:] if not name.startswith("-")]
    suites = [suite for suite in ALL if not names or suite.name in names]
    python = environment()
    unpack(python)
    rows, failed = [], 0
    with server() as dsn:
        for suite in suites:
            started = time.monotonic()
            is_fine, counts = run(suite, python, dsn)
            failed += not is_fine
            seconds = time.monotonic() - started
            print(f"{suite.package} ({suite.name}): {counts}, {seconds:.0f} s", flush=True)
            rows.append(row(suite, counts))
    text = f"{BEGIN}{table(rows)}{END}"
    print(text)
    if len(suites) < len(ALL):
        return failed
    if "--write" in sys.argv:
        before, after = _around(PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(before + text + after, encoding="utf-8")
    elif text not in PAGE.read_text(encoding="utf-8"):
        print(f"{PAGE.name} has other counts: run make integrations ARGS=--write")
        failed += 1
    return failed


def environment() -> Path:
    """Return the Python of an environment with the suites' tools above the project's packages."""
    python = CACHE / "venv" / "bin" / "python"
    frameworks = sorted({f"{one.package}=={one.version}" for one in ALL})
    wanted = "\n".join([sys.prefix, *TOOLS, *frameworks])
    stamp = CACHE / "installed"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        subprocess.run(
            [sys.executable, "-m", "venv", "--clear", "--without-pip", CACHE / "venv"], check=True
        )
        paths = "\n".join(path for path in sys.path if path.endswith("site-packages"))
        packages = next((CACHE / "venv" / "lib").glob("python*/site-packages"))
        (packages / "project.pth").write_text(f"{paths}\n{ROOT / 'python'}\n", encoding="utf-8")
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *TOOLS,
             *frameworks],
            check=True,
        )  # fmt: skip
        stamp.write_text(wanted, encoding="utf-8")
    return python


def unpack(python: Path) -> None:
    """Download and unpack the sources that are not there."""
    for suite in ALL:
        if suite.folder.exists():
            continue
        with tempfile.TemporaryDirectory() as folder:
            # pip builds the metadata of a source, with the hatchling of the environment
            subprocess.run(
                [python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
                 "--no-build-isolation", "--disable-pip-version-check", "--dest", folder,
                 f"{suite.package}=={suite.version}"],
                check=True,
            )  # fmt: skip
            (archive,) = Path(folder).iterdir()
            with tarfile.open(archive) as opened:
                opened.extractall(CACHE, filter="data")


@contextmanager
def server() -> Iterator[str]:
    """Yield the URL of a database; each database made on this server has the schema."""
    memory = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(
        prefix="pgrecall-suites-", dir=memory if memory.is_dir() else None
    ) as home:
        settings = {
            "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off",
            "max_connections": "200",
        }  # fmt: skip
        with EmbeddedServer(home, settings=settings) as embedded:
            template = make_conninfo(embedded.dsn, dbname="template1")
            with psycopg.connect(template, autocommit=True) as conn:
                conn.execute("grant temporary on database template1 to public")
                schema.install(conn, hash_partitions=2)
            with psycopg.connect(embedded.dsn, autocommit=True) as conn:
                conn.execute("create database suites")
            at = conninfo_to_dict(embedded.dsn)
            host = quote(str(at["host"]), safe="")
            yield f"postgresql://{at['user']}@{host}:{at['port']}/suites?sslmode=disable"


def run(suite: Suite, python: Path, dsn: str) -> tuple[bool, Counter[str]]:
    """Run one suite; return whether it passed, and its counts."""
    tests = [name if suite.is_ours else f"tests/{name}" for name in suite.tests]
    with tempfile.TemporaryDirectory() as reports:
        report = Path(reports) / "counts.json"
        environ = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(SUITES), str(suite.folder))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "SUITE": f"{suite.package}: {suite.name}",
            "SUITE_REPORT": str(report),
            "SUITE_ADMIN_DSN": dsn,
        }
        # their settings, but for options and warnings that are for their own environment
        command = [
            python, "-m", "pytest", "-q", "-n", "0" if suite.is_ours else "3",
            "-p", "suite", "-p", suite.plugin, "-p", "no:cacheprovider",
            "-o", "addopts=", "-o", "asyncio_mode=auto", "-W", "ignore", "--rootdir", suite.folder,
            "--tb=short", *tests,
        ]  # fmt: skip
        done = subprocess.run(
            command, cwd=suite.folder, env=environ, capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(done.stdout[-8000:], done.stderr[-2000:], sep="\n")
        if not report.exists():
            return False, Counter()
        counts = Counter(json.loads(report.read_text(encoding="utf-8")))
    return done.returncode == 0 and counts["ours"] == counts["passed"] > 0, counts


def row(suite: Suite, counts: Counter[str]) -> str:
    """Return the suite's row of the table."""
    cells = (
        suite.package, suite.version, suite.name, suite.ours,
        *(str(counts[key]) for key in ("ours", "passed", "excluded")),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def table(rows: list[str]) -> str:
    """Return the table, and the reasons for what is excluded."""
    lines = [
        "| package | version | suite | class of ours | run | passed | excluded |\n",
        "|---|---|---|---|---|---|---|\n",
        *rows,
        "\n`.ci/suites/excluded.toml` has a line with a reason for each test that is excluded:\n",
    ]
    excluded = tomllib.loads((SUITES / "excluded.toml").read_text(encoding="utf-8"))
    for suite, patterns in excluded.items():
        lines.append(f"\n**{suite}**\n\n")
        for reason, times in Counter(patterns.values()).items():
            lines.append(f"- {reason}{f' ({times} lines)' if times > 1 else ''}\n")
    return "".join(lines)


def _around(text: str) -> tuple[str, str]:
    """Return what stands on the page before and after the table."""
    before, _, rest = text.partition(BEGIN)
    return before, rest.partition(END)[2]


if __name__ == "__main__":
    sys.exit(main())
