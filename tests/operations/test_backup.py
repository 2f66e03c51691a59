"""The scripts of docs/operations/backup.md: copies have the same rows and are sound."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgrecall import schema
from pgrecall.embedded import _Cluster
from support import append, call, open_session, said, value
from support.everyfunction import World, furnish
from support.servers import FAST, TestServer, new_home, running_server

Connection = psycopg.Connection[Any]
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operations" / "backup.md").read_text(encoding="utf-8")
# each test makes databases, and most a cluster
pytestmark = pytest.mark.slow
CHROOT = Path(os.environ.get("PGRECALL_CHROOT", "/var/tmp/pgrecall-debian"))


def scripts(heading: str) -> list[str]:
    """Return the shell scripts of a section of the page."""
    (section,) = re.findall(rf"(?ms)^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE)
    return re.findall(r"(?ms)^```sh\n(.*?)^```", section)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a script in an empty folder, with the programs of the embedded server."""
    programs = _Cluster(tmp_path)._programs
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])

    def run_script(script: str, *options: str, **names: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", *options, "-c", script], cwd=tmp_path, capture_output=True, text=True,
            check=False, stdin=subprocess.DEVNULL, env={**os.environ, "PATH": path, **names},
        )  # fmt: skip

    return run_script


def succeed(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def cluster() -> Iterator[TestServer]:
    """A cluster whose roles are named recall_*."""
    with running_server("embedded") as server:
        yield server


@pytest.fixture
def fresh() -> Iterator[TestServer]:
    """A cluster without any of our roles."""
    with running_server("embedded") as server:
        yield server


@pytest.fixture(scope="module")
def old(cluster: TestServer) -> tuple[str, World]:
    """The DSN of a database with a user of everything, and the names of what they have."""
    dsn = cluster.dsn(cluster.create_database("old"))
    with psycopg.connect(dsn, autocommit=True) as conn:
        schema.install(conn, embedding_dimensions=384, hash_partitions=2)
        return dsn, filled(conn)


def filled(conn: Connection) -> World:
    """Furnish a user, and leave no dead job, which doctor would report."""
    world = furnish(conn, "marked")
    conn.execute("select recall.retry_dead_jobs()")
    return world


def contents(dsn: str, *but: str) -> dict[str, str]:
    """Return a digest of the rows of each table."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        tables = value(conn, "select array_agg(c.oid::regclass::text) from pg_class as c"
                             " where c.relnamespace = 'recall'::regnamespace"
                             " and c.relkind in ('r', 'p') and not c.relispartition")  # fmt: skip
        return {
            table: value(conn, f"select coalesce(md5(string_agg(t::text, '|' order by t::text)),"
                               f" '') from {table} as t")
            for table in sorted(tables)
            if table.removeprefix("recall.") not in but
        }  # fmt: skip


def check_copy(new: str, world: World) -> None:
    """Check that a copy proves its memories, and works on."""
    with psycopg.connect(new, autocommit=True) as conn:
        assert not call(conn, "verify_integrity", p_user_id=world["user"])
        status = dict(conn.execute("select name, status from recall.health()").fetchall())
        assert status["public"] == status["owner"] == status["roles"] == "ok"
        assert status["shared_roles"] == status["integrity"] == "ok"
        user = uuid.uuid4()
        append(conn, user, open_session(conn, user), said("hello"))
        call(conn, "remember", p_user_id=user, p_content="Ada likes tea.")
        assert call(conn, "search", p_user_id=user, p_query="tea")


def test_copy_in_the_same_cluster_has_roles_of_its_own(
    cluster: TestServer, old: tuple[str, World], run: Any
) -> None:
    before, world = old
    new = cluster.dsn(cluster.create_database("new"))
    (script,) = scripts("Into the same cluster")
    succeed(run(script, "-e", OLD=before, NEW=new))
    assert contents(new, "settings", "migrations") == contents(before, "settings", "migrations")
    check_copy(new, world)
    with psycopg.connect(new) as conn:
        assert value(conn, "select nspowner::regrole::text from pg_namespace"
                           " where nspname = 'recall'") == "copy_owner"  # fmt: skip


def test_restore_after_roles_reports_no_error(
    fresh: TestServer, cluster: TestServer, old: tuple[str, World], run: Any
) -> None:
    before, world = old
    with cluster.admin() as admin:
        # a hostile name, and a member that the other cluster lacks
        for role in ("app'\"$$ %s", "missing"):
            admin.execute(sql.SQL("create role {} login").format(sql.Identifier(role)))
            admin.execute(sql.SQL("grant recall_writer to {}").format(sql.Identifier(role)))
    with fresh.admin() as admin:
        admin.execute(sql.SQL("create role {}").format(sql.Identifier("app'\"$$ %s")))
    new = fresh.dsn(fresh.create_database("new"))
    done = run(scripts("Into a fresh cluster")[0], "-e", OLD=before, NEW=new)
    succeed(done)
    assert "ERROR" not in done.stderr
    assert "role missing does not exist yet: it is a member of recall_writer" in done.stderr
    assert contents(new) == contents(before)
    check_copy(new, world)
    with fresh.admin() as admin:
        assert value(admin, "select pg_has_role(%s, 'recall_writer', 'member')", ["app'\"$$ %s"])
    succeed(run('psql -q -d "$NEW" -f roles.sql', "-e", NEW=new))  # a second time


def test_restore_without_roles_is_mended_by_the_installer(
    fresh: TestServer, old: tuple[str, World], run: Any
) -> None:
    before, world = old
    new = fresh.dsn(fresh.create_database("new"))
    dump, restore, *mend = scripts("Into a fresh cluster")[1].splitlines()
    succeed(run(dump, "-e", OLD=before))
    done = run(restore, NEW=new)
    assert 'role "recall_owner" does not exist' in done.stderr
    assert contents(new) == contents(before)
    doctor = run(mend[-1], NEW=new)
    assert doctor.returncode == 1, "doctor finds what PUBLIC may execute"
    succeed(run("\n".join(mend), "-e", NEW=new))
    assert contents(new, "migrations", "settings") == contents(before, "migrations", "settings")
    assert settings_but_owner(new) == settings_but_owner(before)
    check_copy(new, world)


def settings_but_owner(dsn: str) -> Any:
    """Return the settings without the owner, which the installer was told here."""
    with psycopg.connect(dsn) as conn:
        return value(conn, "select to_jsonb(s) - 'owner' from recall.settings as s")


def test_database_with_pg_cron_is_copied_by_its_schema(server: TestServer, run: Any) -> None:
    with server.admin() as admin:
        name = value(admin, "select max(setting) from pg_settings"
                            " where name = 'cron.database_name'")  # fmt: skip
    if name is None:
        pytest.skip("the server has no pg_cron")
    before, new = server.dsn(name), server.dsn(server.create_database("new"))
    with psycopg.connect(before, autocommit=True) as conn:
        conn.execute("create extension if not exists pg_cron")
        server.install(conn, embedding_dimensions=384, hash_partitions=2)
        try:
            world = filled(conn)
            (script,) = scripts("A database with pg_cron")
            done = run(script, "-e", OLD=before, NEW=new)
            succeed(done)
            assert "ERROR" not in done.stderr
            assert contents(new) == contents(before)
            with psycopg.connect(new, autocommit=True) as copy:
                assert not call(copy, "verify_integrity", p_user_id=world["user"])
                assert not value(
                    copy, "select count(*) from pg_extension where extname = 'pg_cron'"
                )
        finally:
            schema.uninstall(conn)
            conn.execute("drop extension pg_cron")


def test_erasures_are_replayed_after_point_in_time_recovery(tmp_path: Path, run: Any) -> None:
    archive = new_home()
    archive.chmod(0o777)
    settings = {
        "wal_level": "replica",
        "archive_mode": "on",
        "archive_command": f"cp %p {archive}/%f",
    }
    home = new_home()
    restored = _Cluster(home)
    try:
        with running_server("embedded", settings) as primary:
            dsn = primary.dsn(primary.create_database("app"))
            with psycopg.connect(dsn, autocommit=True) as conn:
                schema.install(conn, embedding_dimensions=384, hash_partitions=2)
                world, other = furnish(conn, "marked"), furnish(conn, "others")
                conn.execute("select recall.retry_dead_jobs()")
            restored.prepare_folder()
            restored._run("pg_basebackup", "-d", primary.admin_dsn, "-D", str(restored.data),
                          "--checkpoint=fast", "--no-sync")  # fmt: skip
            with psycopg.connect(dsn, autocommit=True) as conn:
                call(conn, "remember", p_user_id=world["user"], p_content="After the backup.")
                before = contents(dsn)
                moment = value(conn, "select clock_timestamp()::text")
                time.sleep(0.01)
                receipt = value(conn, "select recall.forget_user(%s)", [world["user"]])
                # the accident
                conn.execute("truncate recall.memory_store cascade")
                conn.execute("select pg_switch_wal()")
            keep, replay = scripts("Point-in-time recovery")
            succeed(run(keep, "-e", OLD=dsn))
        (restored.data / "recovery.signal").touch()
        shutil.chown(restored.data / "recovery.signal", *owner(restored.data))
        restored.start(FAST | {
            "restore_command": f"cp {archive}/%f %p",
            "recovery_target_time": moment,
            "recovery_target_action": "promote",
        })  # fmt: skip
        new = restored.dsn(psycopg.conninfo.conninfo_to_dict(dsn)["dbname"] or "")
        wait_for_promotion(new)
        with psycopg.connect(new) as conn:
            unlogged = value(conn, "select array_agg(relname::text) from pg_class"
                                   " where relpersistence = 'u' and relkind = 'r'")  # fmt: skip
        assert contents(new, *unlogged) == {
            table: rows
            for table, rows in before.items()
            if table.removeprefix("recall.") not in unlogged
        }
        done = run(replay, "-e", NEW=new)
        succeed(done)
        with psycopg.connect(new, autocommit=True) as conn:
            assert value(conn, "select count(*) from recall.users where user_id = %s",
                         [world["user"]]) == 0  # fmt: skip
            assert value(conn, "select count(*) from recall.users where user_id = %s",
                         [other["user"]]) == 1  # fmt: skip
            assert not call(conn, "verify_integrity", p_user_id=other["user"])
            # the receipt alone does the same
            assert value(conn, "select recall.replay_erasures(%s)", [json.dumps([receipt])]) == 0
    finally:
        restored.stop()
        shutil.rmtree(home, ignore_errors=True)
        shutil.rmtree(archive, ignore_errors=True)


def owner(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_uid, found.st_gid


def wait_for_promotion(dsn: str) -> None:
    for _ in range(300):
        with psycopg.connect(dsn) as conn:
            if not value(conn, "select pg_is_in_recovery()"):
                return
        time.sleep(0.1)
    raise AssertionError("the server is still in recovery")


def test_user_is_moved_by_their_export(server: TestServer, run: Any) -> None:
    before, new = (server.dsn(server.cloned_database(label)) for label in ("old", "new"))
    (script,) = scripts("One user")
    with psycopg.connect(before, autocommit=True) as conn:
        call(conn, "ensure_user", p_external_id="ada")
        user = value(conn, "select recall.user_id('ada')")
        call(conn, "remember", p_user_id=user, p_content="Ada likes tea.")
    succeed(run(script, "-e", OLD=before, NEW=new))
    with psycopg.connect(new, autocommit=True) as conn:
        assert [m["content"] for m in call(conn, "get_memories", p_user_id=user)] == [
            "Ada likes tea."
        ]
        call(conn, "remember", p_user_id=user, p_content="Ada lives in London.")
    refused = run(script, "-e", OLD=before, NEW=new)
    assert refused.returncode == 1
    assert "memories that the document does not have" in refused.stderr


# --- pg_upgrade, from Debian's PostgreSQL 17 to the embedded server's version


@contextmanager
def old_and_new_programs() -> Iterator[Callable[..., str]]:
    """Yield a function that runs a program in the chroot, where both versions are."""
    if os.getuid() != 0 or not (CHROOT / "usr/lib/postgresql/17/bin/postgres").exists():
        pytest.skip("PostgreSQL 17 is in a chroot that .ci/run sets up")
    folder = CHROOT / "srv" / f"upgrade-{uuid.uuid4().hex[:8]}"
    inside = f"/{folder.relative_to(CHROOT)}"

    def chroot(script: str) -> str:
        names = (f"OLD_BIN=/usr/lib/postgresql/17/bin NEW_BIN={inside}/pginstall/bin"
                 f" OLD_DATA={inside}/old NEW_DATA={inside}/new PGUSER=postgres")  # fmt: skip
        done = subprocess.run(
            ["chroot", str(CHROOT), "/usr/sbin/runuser", "-u", "postgres", "--", "bash", "-ec",
             f'cd {inside}; export {names}; export PATH="$NEW_BIN:$PATH"; {script}'],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    try:
        package = _Cluster(folder)._programs.parents[1]
        shutil.copytree(package, folder, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, CHROOT / "srv" / libraries.name, dirs_exist_ok=True)
        subprocess.run(["chroot", str(CHROOT), "chown", "-R", "postgres", inside], check=True)
        yield chroot
    finally:
        for data in ("old", "new"):
            if (folder / data / "postmaster.pid").exists():
                chroot(f'"$OLD_BIN/pg_ctl" -D {data} -m immediate stop')
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as made:
        return int(made.getsockname()[1])


def test_pg_upgrade_from_17_to_18(run: Any) -> None:
    upgrade, *rest = scripts("pg_upgrade")[0].splitlines()
    port = free_port()
    dsn = f"postgresql://postgres@127.0.0.1:{port}/app"
    start = f'-o "-p {port} -c listen_addresses=127.0.0.1 -k /tmp" -w start >/dev/null'
    with old_and_new_programs() as chroot:
        chroot('"$OLD_BIN/initdb" -D "$OLD_DATA" -U postgres -A trust --locale=C.UTF-8 >/dev/null')
        chroot(f'"$OLD_BIN/pg_ctl" -D "$OLD_DATA" {start}')
        with psycopg.connect(dsn.replace("/app", "/postgres"), autocommit=True) as conn:
            conn.execute("create database app")
        with psycopg.connect(dsn, autocommit=True) as conn:
            schema.install(conn, embedding_dimensions=384, hash_partitions=2)
            world = filled(conn)
            # Versions of columns, which pg_dump prints and an older minor of 18 does not accept.
            conn.execute("set allow_system_table_mods = on")
            conn.execute("update pg_attribute set attoptions = null where attoptions is not null")
        before = contents(dsn)
        chroot('"$OLD_BIN/pg_ctl" -D "$OLD_DATA" -w stop >/dev/null')
        chroot('"$NEW_BIN/initdb" -D "$NEW_DATA" -U postgres -A trust --locale=C.UTF-8'
               " --no-data-checksums >/dev/null")  # fmt: skip
        chroot(upgrade)
        chroot(f'"$NEW_BIN/pg_ctl" -D "$NEW_DATA" {start}')
        assert contents(dsn) == before
        succeed(run("\n".join(rest), "-e", NEW=dsn))
        check_copy(dsn, world)
        chroot('"$NEW_BIN/pg_ctl" -D "$NEW_DATA" -w stop >/dev/null')
