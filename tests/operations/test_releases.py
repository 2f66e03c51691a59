"""Each released installation with data: upgraded, interrupted, and used by two drivers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory
from support import call, rows, sweep, tool, value
from support.invariants import check_invariants
from support.released import (
    INSTALLATIONS,
    ROOT,
    Released,
    check_answers,
    check_foreign_objects,
    check_sealed_user,
    drop_what_is_not_ours,
    lasting_catalog,
    releases,
)
from support.releases import ROUTES, Release
from support.sealed import KEYS
from support.servers import TestServer, running_server

Connection = psycopg.Connection[Any]

# each restores or installs databases of thousands of objects
pytestmark = pytest.mark.slow

RELEASES = releases()
_NONE = pytest.mark.skip(reason="tests/releases is empty until `make release` cuts the first one")
EACH = [pytest.param(each, id=str(each)) for each in RELEASES] or [pytest.param(None, marks=_NONE)]
CASES = [
    pytest.param(each, name, id=f"{each}-{name}") for each in RELEASES for name in INSTALLATIONS
] or [pytest.param(None, "", marks=_NONE)]

UNLOGGED = ("/working", "/memory_access_log")
"""What a crashed server has emptied."""

EXPLAINED = {"dead_jobs", "queue", "maintenance", "row_security", "public", "grants", "extraction",
             "summaries", "embeddings"}  # fmt: skip
"""Failed checks: dead and old jobs, which age with the fixture; nobody runs maintenance; objects of
others in our schema.
"""


@pytest.fixture(scope="module", autouse=True)
def no_database_stays(server: TestServer) -> Iterator[None]:
    with server.dropping_databases():
        yield


class Restored:
    """Databases with a restored installation; the first is a template of the others."""

    def __init__(self, server: TestServer) -> None:
        self.server = server
        self._templates: dict[tuple[str, str], str] = {}

    def __call__(self, release: Released, name: str) -> str:
        """Return the DSN of a new one."""
        key = (release.version, name)
        if key not in self._templates:
            database = self.server.create_database("release")
            release.restore(self.server, name, database)
            self._templates[key] = database
        copy = self.server.create_database(name, template=self._templates[key])
        return self.server.dsn(copy)


@pytest.fixture(scope="module")
def restored(server: TestServer) -> Restored:
    return Restored(server)


@pytest.fixture(scope="module")
def present(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The present files."""
    folder = tmp_path_factory.mktemp("present")
    found = (ROOT / "functions/observability/version.sql").read_text().split("return '")[1]
    return Release(folder, found.split("'")[0], keeps_migrations=True)


@pytest.fixture(scope="module")
def fresh(server: TestServer, present: Release) -> Callable[[str], str]:
    """Return the catalog of a new installation of the present files, by name."""
    found: dict[str, str] = {}

    def installed(name: str) -> str:
        if name not in found:
            found[name] = new_catalog(server, present, name)
        return found[name]

    return installed


def new_catalog(server: TestServer, release: Release, name: str) -> str:
    database = server.create_database("fresh")
    release.by_psql(server.dsn(database), share_roles="on", **INSTALLATIONS[name])
    try:
        return lasting_catalog(server.dsn(database))
    finally:
        server.drop_database(database)


def check_upgraded(dsn: str, release: Released, name: str, wanted: str, *without: str) -> None:
    """Assert that an upgraded installation is whole, and has the catalog of a new one."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        sweep(conn, "run_backfills")
        check_answers(conn, release.answers(name), without=without)
        if name == "awkward":
            check_foreign_objects(conn)
            check_sealed_user(dsn)
        sweep(conn, "release_expired_leases")
        check_invariants(conn)
        failed = {row["name"]: row["detail"] for row in call(conn, "health")
                  if row["status"] == "fail"}  # fmt: skip
        assert failed.keys() <= EXPLAINED, failed
        for row in rows(conn, "select user_id from recall.users"):
            assert call(conn, "verify_integrity", p_user_id=row["user_id"]) == []
        drop_what_is_not_ours(conn)
    assert lasting_catalog(dsn) == wanted


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("release", "name"), CASES)
def test_upgraded_release_has_the_new_catalog_and_its_answers(
    restored: Restored, present: Release, fresh: Callable[[str], str], release: Released,
    name: str, route: str,
) -> None:  # fmt: skip
    dsn = restored(release, name)
    ROUTES[route](present, dsn)
    check_upgraded(dsn, release, name, fresh(name))


@pytest.mark.parametrize("release", [each for each in RELEASES if each.version == "0.1.0"])
def test_upgrade_bounds_intervals_that_overflow(
    restored: Restored, present: Release, release: Released
) -> None:
    """Release 0.1.0 took intervals of any length, for all and as overrides of a user."""
    dsn = restored(release, "small")
    user = uuid.uuid4()
    long = {"receipt_ttl": "10000 years", "decay_idle": "100000000 years",
            "decay_lifetime": "infinity", "session_ttl": "1 year"}  # fmt: skip
    with psycopg.connect(dsn, autocommit=True) as conn:
        call(conn, "configure", p_changes=long)
        call(conn, "configure_user", p_user_id=user, p_changes=long)
        (made,) = call(conn, "remember", p_user_id=user, p_content="Likes tea")
        conn.execute("update recall.memory_store set expires_at = 'infinity' where user_id = %s",
                     [user])  # fmt: skip
        call(conn, "register_kind", p_kind="lasting", p_description="x", p_lifetime="infinity",
             p_review_after="9999 years")  # fmt: skip
        call(conn, "register_kind", p_kind="short", p_description="x", p_lifetime="1 day")
        call(conn, "register_model", p_model_id="dear", p_context_window_size=1,
             p_input_price=2**63 - 1)  # fmt: skip
        call(conn, "configure_maintenance", p_task="purge_expired",
             p_changes={"period": "infinity"})  # fmt: skip
    present.by_driver(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("set intervalstyle = 'postgres'")
        found = rows(conn, "select receipt_ttl::text, decay_idle::text, decay_lifetime::text"
                           " from recall.settings")  # fmt: skip
        assert found == [{"receipt_ttl": "1000 years", "decay_idle": "1000 years",
                          "decay_lifetime": "1000 years"}]  # fmt: skip
        assert rows(conn, "select lifetime::text, review_after::text from recall.memory_kinds"
                          " where kind in ('lasting', 'short') order by kind") == [
            {"lifetime": None, "review_after": None}, {"lifetime": "1 day", "review_after": None}
        ]  # fmt: skip
        assert value(conn, "select input_price from recall.models"
                           " where model_id = 'dear'") == 10**12  # fmt: skip
        assert value(conn, "select period::text from recall.maintenance_tasks"
                           " where task = 'purge_expired'") == "1000 years"  # fmt: skip
        sweep(conn, "run_backfills")
        overrides = "select overrides from recall.users where user_id = %s"
        assert value(conn, overrides, [user]) == {
            "receipt_ttl": "1000 years", "decay_idle": "1000 years",
            "decay_lifetime": "1000 years", "session_ttl": "1 year"}  # fmt: skip
        (memory,) = call(conn, "get_memory", p_user_id=user, p_memory_id=made["memory_id"])
        assert memory["expires_at"].year > 3000
        assert value(conn, "select rows_done from recall.backfills"
                           " where backfill = 'overrides'") == 1  # fmt: skip


@pytest.mark.parametrize("release", [each for each in RELEASES if each.version == "0.1.0"])
def test_upgraded_encrypted_user_who_repeated_themselves_is_exported_and_moved(
    server: TestServer, restored: Restored, present: Release, release: Released
) -> None:
    """The audit of release 0.1.0 holds the ciphertext of a repetition, bound to no row."""
    dsn = restored(release, "awkward")
    with AgentMemory.connect(dsn, embedder=False, wrapping_keys=KEYS) as memory:
        first = memory.remember("sealed", "I ski every day.")
        assert memory.remember("sealed", "I SKI every day!").outcome == "duplicate"
    held = "select count(*) from recall.memory_events where detail ->> 'content' like 'sealed:%'"
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert value(conn, held) == 1
    present.by_driver(dsn)
    elsewhere = server.dsn(server.cloned_database("moved"))
    with (
        AgentMemory.connect(dsn, embedder=False, wrapping_keys=KEYS) as memory,
        AgentMemory.connect(elsewhere, embedder=False, wrapping_keys=KEYS) as other,
    ):
        memory.remember("sealed", "I ski every day")
        user = memory.users.id("sealed")
        for _ in range(2):
            document = memory.privacy.export_user(user, sealed=True)
            other.privacy.forget_user(user)
            other.privacy.import_user(document)
            for one in (memory, other):
                assert "I SKI every day!" in str(one.privacy.export_user(user))
                events = one.memories.history(user, first.memory_id)
                assert [event.detail.get("content") for event in events
                        if event.event == "duplicate"] == ["I SKI every day!", None]  # fmt: skip
                assert one.privacy.verify_integrity(user) == []
            memory.encryption.rotate_user(user)
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert value(conn, held) == 1


@pytest.mark.parametrize("release", [each for each in RELEASES if each.version == "0.1.0"])
def test_append_repeated_after_the_upgrade_is_recognized(
    restored: Restored, present: Release, release: Released
) -> None:
    """A client whose answer was lost in the upgrade sends the call again."""
    dsn, user, request = restored(release, "small"), uuid.uuid4(), uuid.uuid4()
    said = [{"role": "user", "content": "yes", "metadata": {"a": {"b": 1}}}]
    usage = {"prompt_tokens": 5}
    with psycopg.connect(dsn, autocommit=True) as conn:
        session = call(conn, "open_session", p_user_id=user, p_model_id="m")[0]["open_session"]
        given = {"p_user_id": user, "p_session_id": session, "p_messages": Jsonb(said),
                 "p_usage": Jsonb(usage), "p_request_id": request}  # fmt: skip
        first = call(conn, "append_messages", **given)
    present.by_driver(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert call(conn, "append_messages", **given) == [{**first[0], "inserted": False}]
        no = [{**said[0], "content": "no"}]
        for change in ({"p_messages": Jsonb(no)}, {"p_usage": None}):
            with pytest.raises(psycopg.Error) as caught:
                call(conn, "append_messages", **{**given, **change})
            assert caught.value.sqlstate == "RC008"
        given["p_request_id"] = uuid.uuid4()
        call(conn, "append_messages", **given)
        kept = conn.execute(
            "select payload_hash is null, length(payload_digest) from recall.append_receipts"
            " where user_id = %s order by 1", [user]).fetchall()  # fmt: skip
        assert kept == [(False, None), (True, 32)]


@pytest.mark.parametrize(("release", "name"), CASES)
def test_restored_release_has_the_catalog_of_its_installer(
    server: TestServer, restored: Restored, release: Released, name: str, tmp_path: Path
) -> None:
    """The fixture is what the wheel installs, on this server, too."""
    dsn = restored(release, name)
    with psycopg.connect(dsn, autocommit=True) as conn:
        drop_what_is_not_ours(conn)
    files = Release.of(release.sql_files(tmp_path))
    assert lasting_catalog(dsn) == new_catalog(server, files, name)


@pytest.fixture(scope="module")
def own() -> Iterator[TestServer]:
    """A server whose processes may be killed."""
    with running_server("embedded") as server:
        yield server


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("release", "name"), CASES)
def test_upgrade_killed_at_ten_points_leaves_the_release(
    own: TestServer, present: Release, release: Released, name: str
) -> None:
    """SIGKILL ends the server's process after some steps; the server recovers each time."""
    wanted = new_catalog(own, present, name)
    dsn = Restored(own)(release, name)
    before = lasting_catalog(dsn)
    steps = present.steps()
    for point in range(1, 11):
        kill_server_process_after(dsn, steps[: point * len(steps) // 10 - (point == 10)])
        assert lasting_catalog(dsn) == before, point
    with psycopg.connect(dsn, autocommit=True) as conn:
        check_answers(conn, release.answers(name), without=UNLOGGED)
    present.by_psql(dsn)
    check_upgraded(dsn, release, name, wanted, *UNLOGGED)


def kill_server_process_after(dsn: str, steps: list[str]) -> None:
    """Send steps to psql, wait until the server has run them, and end its process by SIGKILL."""
    process = subprocess.Popen(
        [tool("psql"), "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", dsn],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(steps) + "\nselect pg_backend_pid();\n")
    process.stdin.flush()
    with psycopg.connect(dsn, autocommit=True) as watcher:
        os.kill(int(process.stdout.readline()), signal.SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            watcher.execute("select pg_sleep(60)")  # until the server ends all its processes
    process.stdin.close()
    process.wait()
    for _ in range(600):
        try:
            psycopg.connect(dsn).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server does not recover")


@pytest.mark.parametrize("release", EACH)
def test_return_to_the_release_is_refused(
    restored: Restored, release: Released, tmp_path: Path
) -> None:
    dsn = restored(release, "small")
    Release(tmp_path, "99.0.0.dev1", keeps_migrations=True).by_driver(dsn)
    before = lasting_catalog(dsn)
    files = Release.of(release.sql_files(tmp_path))
    with pytest.raises(psycopg.Error, match=rf"99\.0\.0\.dev1 is installed here, and a downgrade to"
                                            rf" {release.version} is not possible"):  # fmt: skip
        files.by_psql(dsn)
    assert lasting_catalog(dsn) == before
    Release(tmp_path, "99.0.0", keeps_migrations=True).by_psql(dsn)
    with psycopg.connect(dsn) as conn:
        assert value(conn, "select recall.version()") == "99.0.0"


@pytest.mark.parametrize(
    ("pattern", "new"),
    [
        (r"(    has_vectors .*\n)", "\\g<1>    mood text,\n"),
        (r"attempts     integer          not null default 0",
         "attempts     integer          not null default 1"),
        (r"check \(attempts >= 0 and max_attempts >= 1\)",
         "check (attempts >= 0 and max_attempts >= 2)"),
    ],
    ids=["column", "default", "check"],
)  # fmt: skip
@pytest.mark.parametrize("release", EACH[-1:])
def test_table_changed_without_its_migration_differs(
    server: TestServer, restored: Restored, release: Released, tmp_path: Path, pattern: str,
    new: str,
) -> None:  # fmt: skip
    """The comparison with a new installation notices it, which is what CI relies on."""
    changed = Release(tmp_path, "99.0.0", keeps_migrations=True)
    file = "users" if "has_vectors" in pattern else "jobs"
    changed.replace(f"sql/tables/{file}.sql", pattern, new)
    dsn = restored(release, "small")
    changed.by_psql(dsn)
    assert lasting_catalog(dsn) != new_catalog(server, changed, "small")


# --- a driver and a schema of two releases


def install_wheel(release: Released, folder: Path) -> Path:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
         "--disable-pip-version-check", "--target", str(folder), str(release.wheel)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def session(script: Path, dsn: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        # -P: the folder of the script has modules named as those of Python
        [sys.executable, "-P", str(script), dsn], capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


def configure_local(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        call(conn, "configure", p_changes={"embedding_model": "local", "extraction": "verbatim"})


@pytest.mark.parametrize("release", EACH)
def test_released_driver_works_on_the_present_schema(
    server: TestServer, release: Released, tmp_path: Path
) -> None:
    dsn = server.dsn(server.cloned_database("driver"))
    configure_local(dsn)
    folder = str(install_wheel(release, tmp_path))
    where = (
        "import pgrecall, importlib.metadata as m; print(pgrecall.__file__, m.version('pgrecall'))"
    )
    found = run_python(where, PYTHONPATH=folder)
    assert found.startswith(folder)
    assert found.split()[1] == release.version
    done = session(release.folder / "session.py", dsn, PYTHONPATH=folder)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def run_python(text: str, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True,
        env={**os.environ, **environment},
    ).stdout  # fmt: skip


@pytest.mark.parametrize("release", EACH)
def test_present_driver_on_a_released_schema_works_or_says_to_upgrade(
    server: TestServer, release: Released, tmp_path: Path
) -> None:
    dsn = server.dsn(server.create_database("driver"))
    files = Release.of(release.sql_files(tmp_path))
    files.by_psql(dsn, embedding_dimensions=384, hash_partitions=1, share_roles="on")
    configure_local(dsn)
    done = session(ROOT / "tests" / "support" / "released_session.py", dsn)
    assert done.stdout == "done\n" or "pgrecall install --dsn DSN" in done.stderr, done.stderr


def test_driver_on_a_schema_without_its_functions_says_to_upgrade(
    server: TestServer, tmp_path: Path
) -> None:
    """A function that the driver calls, and one of its parameters, came with a later release."""
    dsn = server.dsn(server.cloned_database("older"))
    configure_local(dsn)
    script = ROOT / "tests" / "support" / "released_session.py"
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("alter function recall.put_working rename to _other")
    done = session(script, dsn)
    assert "older than this driver" in done.stderr
    assert "pgrecall install --dsn DSN installs and upgrades it." in done.stderr
