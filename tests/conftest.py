"""Fixtures for tests against a real server; `tests/support/servers.py` says which."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import psycopg
import pytest
from psycopg.rows import tuple_row

from support.invariants import check_invariants
from support.proxies import running_fleet, show_tables
from support.servers import TestServer, running_server

pytest_plugins = ("support.installing", "support.scripted_model", "support.two_users")

# On a busy machine a statement may take any time; and an example may use the module's database.
hypothesis.settings.register_profile(
    "pgrecall",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
hypothesis.settings.load_profile("pgrecall")

_SERVER_LINE = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the slow tests out, unless an option asks for them."""
    if config.getoption("--slow") or "slow" in config.getoption("markexpr"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.fixture(scope="session")
def server(pytestconfig: pytest.Config) -> Iterator[TestServer]:
    """The server of this run."""
    with running_server(os.environ.get("PGRECALL_TEST_SERVER") or "embedded") as running:
        line = pytestconfig.stash[_SERVER_LINE] = running.describe()
        if hasattr(pytestconfig, "workeroutput"):
            pytestconfig.workeroutput["server"] = line
        yield running


@pytest.fixture(scope="module")
def dsn(server: TestServer, request: pytest.FixtureRequest) -> Iterator[str]:
    """A superuser's DSN of a database of this test module: schema installed, no data at first."""
    label = re.sub(r"\W+", "_", request.module.__name__).removeprefix("test_")
    if os.environ.get("PGRECALL_TEST_PROXY"):
        with running_fleet(server, label, "a", "b") as fleet:
            show_tables(fleet)
            yield fleet.dsn
        return
    name = server.cloned_database(label)
    yield server.dsn(name)
    server.drop_database(name)


@pytest.fixture(scope="module")
def idle(dsn: str) -> Iterator[list[psycopg.Connection]]:
    """Connections to the module's database that a test has done with."""
    connections: list[psycopg.Connection] = []
    yield connections
    for conn in connections:
        conn.close()


@pytest.fixture
def connect(
    dsn: str, idle: list[psycopg.Connection]
) -> Iterator[Callable[..., psycopg.Connection]]:
    """Open more connections to the module's database: `connect(autocommit=True, user=…)`.

    They are in autocommit mode unless told otherwise. At the end of the test those with parameters
    of their own are closed; the others serve the next test, too, as in a pool: a third of the whole
    run went into what new connections read, compile and plan.
    """
    own: list[psycopg.Connection] = []
    shared: list[psycopg.Connection] = []

    def open_one(*, autocommit: bool = True, **parameters: str) -> psycopg.Connection:
        if parameters:
            own.append(conn := psycopg.connect(dsn, autocommit=autocommit, **parameters))
        else:
            shared.append(conn := idle.pop() if idle else psycopg.connect(dsn))
            conn.autocommit = autocommit
        return conn

    yield open_one
    for conn in own:
        conn.close()
    for conn in shared:
        try:
            _reset(conn)
        except psycopg.Error:
            conn.close()  # the test has broken it
        else:
            idle.append(conn)


def _reset(conn: psycopg.Connection) -> None:
    """Reset a connection like DISCARD ALL, but keep its cached plans."""
    conn.rollback()
    conn.autocommit = True
    for statement in (
        "close all", "set session authorization default", "reset all", "unlisten *",
        "select pg_advisory_unlock_all()", "discard temp", "discard sequences",
    ):  # fmt: skip
        conn.execute(statement)
    conn.row_factory = tuple_row


@pytest.fixture
def db(connect: Callable[..., psycopg.Connection]) -> psycopg.Connection:
    """A superuser's connection in autocommit mode."""
    return connect()


@pytest.fixture(autouse=True)
def invariants_at_the_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check the invariants of the schema after concurrent, marked and property-based tests."""
    shakes = (
        request.node.get_closest_marker("concurrent")
        or request.node.get_closest_marker("invariants")
        or getattr(getattr(request, "function", None), "hypothesis", None)
    )
    shakes = shakes and not os.environ.get("PGRECALL_TEST_PROXY")  # that has no tables
    dsn = request.getfixturevalue("dsn") if shakes and "dsn" in request.fixturenames else None
    yield
    if dsn is not None:
        with psycopg.connect(dsn, autocommit=True) as conn:
            check_invariants(conn)


@pytest.fixture
def user() -> uuid.UUID:
    """A user nobody has used before."""
    return uuid.uuid4()


@pytest.fixture
def empty_queue(db: psycopg.Connection) -> Iterator[None]:
    """Delete all jobs after each test."""
    yield
    db.execute("delete from recall.jobs")


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder for an embedded server; not tmp_path, since the path of a socket is bounded."""
    path = Path(tempfile.mkdtemp(prefix="pgrecall-home-"))
    path.chmod(0o755)  # root's server may pass
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def empty_dsn(server: TestServer) -> Iterator[str]:
    """A superuser's DSN of an empty database, for tests of installation."""
    name = server.create_database()
    yield server.dsn(name)
    server.drop_database(name)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the server's line from a process of pytest-xdist; each has a server of its own."""
    if line := getattr(node, "workeroutput", {}).get("server"):
        node.config.stash[_SERVER_LINE] = line


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say which server ran the tests, and what was skipped, so that nothing is skipped silently."""
    reasons = Counter(
        report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        for report in terminalreporter.stats.get("skipped", [])
    )
    terminalreporter.section("server")
    terminalreporter.line(config.stash.get(_SERVER_LINE, "no test needed a server"))
    terminalreporter.line(f"skipped: {sum(reasons.values()) or 'nothing'}")
    for reason, count in sorted(reasons.items()):
        terminalreporter.line(f"  {count} × {reason.removeprefix('Skipped: ')}")
