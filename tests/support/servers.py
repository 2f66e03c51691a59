"""The servers that the tests run on, and the databases on them."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import conninfo, sql

from pgrecall import schema
from pgrecall.embedded import EmbeddedServer, _Cluster

DIMENSIONS = 384
HASH_PARTITIONS = 8

# Nothing of a test survives a crash, so nothing has to reach the disk.
FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "100",
    "max_wal_size": "256MB",
}
# Databases come and go here, thousands of files each: in memory, where there is room for them all,
# that takes a fifth of a run's time less.
_MEMORY = Path("/dev/shm")
_ROOM = 4 << 30
# PGRECALL_TEST_LOCALE runs any test in databases of such a locale, where the server has it.
LOCALES = {
    "C": "locale_provider libc locale 'C'",
    "Turkish libc": "locale_provider libc locale 'tr_TR.UTF-8'",
    "Turkish ICU": "locale_provider icu icu_locale 'tr-TR' locale 'C.UTF-8'",
}
_OPTIONAL = ("pg_cron", "pg_stat_statements", "pgtap", "plpgsql_check")


@dataclass
class TestServer:
    """A running server, with one template database that has the schema installed.

    Attributes:
        kind: embedded, docker or dsn.
        admin_dsn: a superuser's DSN of some database other than the template.
    """

    __test__ = False

    kind: str
    admin_dsn: str
    _run: str = field(default_factory=lambda: secrets.token_hex(4))
    _template: str | None = None
    _databases: list[str] = field(default_factory=list)

    def dsn(self, database: str, **changes: str) -> str:
        """Return the DSN of a database, `changes` being parameters such as user."""
        return conninfo.make_conninfo(self.admin_dsn, dbname=database, **changes)

    def admin(self) -> psycopg.Connection:
        return psycopg.connect(self.admin_dsn, autocommit=True)

    def create_database(
        self, label: str = "empty", *, template: str = "template0", locale: str | None = None
    ) -> str:
        """Create a database and return its name; it is dropped at the end of the run.

        The locale is a name of LOCALES; a test that asks for one the server lacks is skipped.
        """
        if template == "template0":
            locale = locale or os.environ.get("PGRECALL_TEST_LOCALE")
        # the run's own part keeps apart what several runs on one server make
        name = f"recall_test_{self._run}_{len(self._databases)}_{label}"[:63]
        with self.admin() as conn:
            try:
                conn.execute(
                    sql.SQL("create database {} template {} strategy file_copy {}").format(
                        sql.Identifier(name),
                        sql.Identifier(template),
                        sql.SQL(LOCALES[locale] if locale else ""),
                    )
                )
            except (psycopg.errors.WrongObjectType, psycopg.errors.FeatureNotSupported) as error:
                if locale is None:
                    raise
                pytest.skip(f"the server has no locale {locale}: {error}")
        self._databases.append(name)
        return name

    def drop_database(self, name: str) -> None:
        with self.admin() as conn:
            conn.execute(
                sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
            )
        if name in self._databases:
            self._databases.remove(name)

    def install(self, conn: psycopg.Connection, **sizes: int) -> None:
        """Install the schema with the roles that the databases of this run share."""
        schema.install(conn, role_prefix=f"run_{self._run}", share_roles=True, **sizes)

    def template(self) -> str:
        """Return the name of the database with the schema installed; made once."""
        if self._template is None:
            name = self.create_database("template")
            with psycopg.connect(self.dsn(name), autocommit=True) as conn:
                self.install(conn, embedding_dimensions=DIMENSIONS, hash_partitions=HASH_PARTITIONS)
                # what a sweep gets done in a call shall not depend on how busy the machine is
                conn.execute('select recall.configure(\'{"maintenance_lock_time": "1 minute"}\')')
            self._template = name
        return self._template

    def cloned_database(self, label: str) -> str:
        """Create a database with the schema installed and no data, and return its name."""
        return self.create_database(label, template=self.template())

    @contextmanager
    def dropping_databases(self) -> Iterator[None]:
        """Drop the databases that are created inside, for they share roles with other tests."""
        before = set(self._databases)
        try:
            yield
        finally:
            for name in set(self._databases) - before - {self._template}:
                self.drop_database(name)

    def drop_all(self) -> None:
        for name in list(self._databases):
            self.drop_database(name)
        with self.admin() as conn:
            for suffix in ("owner", "reader", "writer", "worker", "admin"):
                conn.execute(
                    sql.SQL("drop role if exists {}").format(
                        sql.Identifier(f"run_{self._run}_{suffix}")
                    )
                )

    def describe(self) -> str:
        """Return one line: which server this is, and what it offers."""
        with self.admin() as conn:
            version = conn.execute("show server_version").fetchone()
            found = dict(
                conn.execute(
                    "select name, default_version from pg_catalog.pg_available_extensions"
                    " where name = any(%s)",
                    (["vector", "pg_trgm", *_OPTIONAL],),
                ).fetchall()
            )
        assert version is not None
        there = ", ".join(f"{name} {found[name]}" for name in sorted(found))
        lacking = ", ".join(name for name in _OPTIONAL if name not in found) or "nothing"
        return f"{self.kind} PostgreSQL {version[0]} with {there}; without {lacking}"


@dataclass
class Standby:
    """A server that follows another one by streaming, open for reading."""

    _primary: TestServer
    _cluster: _Cluster

    def dsn(self, database: str, **changes: str) -> str:
        """Return a superuser's DSN of a database."""
        return conninfo.make_conninfo(self._cluster.dsn(database), **changes)

    def stop(self) -> None:
        """Stop it; `start` lets it follow again."""
        self._cluster.stop()

    def start(self, **settings: str) -> None:
        """Start it again."""
        self._cluster.start({**FAST, **settings})

    def catch_up(self) -> None:
        """Wait until all that the primary has committed can be read here."""
        with self._primary.admin() as primary, psycopg.connect(self.dsn("postgres")) as standby:
            # a commit that waits for the disk takes those along that did not
            primary.execute("set synchronous_commit = on")
            (end,) = (
                primary.execute("select pg_logical_emit_message(true, '', '')").fetchone() or ()
            )
            for _ in range(3000):
                query = "select pg_last_wal_replay_lsn() >= %s"
                if standby.execute(query, [end]).fetchone() == (True,):
                    return
                time.sleep(0.01)
        raise AssertionError(f"the standby does not follow: {self._cluster.log.read_text()}")


def new_home() -> Path:
    """Return a new folder for a server, in memory where there is room.

    Not in pytest's tmp_path: the path of a socket is bounded, and root's server is not root.
    """
    has_room = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM
    return Path(tempfile.mkdtemp(prefix="pgrecall-test-", dir=_MEMORY if has_room else None))


@contextmanager
def streaming_standby(primary: TestServer) -> Iterator[Standby]:
    """Yield a standby of the embedded server; skip the test on any other, which is not ours."""
    if primary.kind != "embedded":
        pytest.skip(f"a standby is made of the embedded server, and this run uses {primary.kind}")
    home = new_home()
    cluster = _Cluster(home)
    try:
        cluster.prepare_folder()
        cluster._run(
            "pg_basebackup", "-d", primary.admin_dsn, "-D", str(cluster.data),
            "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
        )  # fmt: skip
        cluster.start(FAST)
        yield Standby(primary, cluster)
    finally:
        cluster.stop()
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def running_server(choice: str, settings: Mapping[str, str] | None = None) -> Iterator[TestServer]:
    """Yield the server that PGRECALL_TEST_SERVER names: embedded, docker, or the DSN of one.

    Further settings are for the embedded one.
    """
    if choice == "embedded":
        home = new_home()
        try:
            with EmbeddedServer(home, settings={**FAST, **(settings or {})}) as embedded:
                yield TestServer("embedded", embedded.dsn)
        finally:
            shutil.rmtree(home, ignore_errors=True)
    elif choice == "docker":
        from testcontainers.community.postgres import PostgresContainer

        image = os.environ.get("PGRECALL_TEST_IMAGE", "pgvector/pgvector:pg17")
        with PostgresContainer(image, driver=None) as container:
            yield TestServer("docker", container.get_connection_url())
    else:
        server = TestServer("dsn", choice)
        try:
            yield server
        finally:
            server.drop_all()


def kill_all(home: Path) -> None:
    """Kill the server and every process of it at once, none of which can clean up."""
    postmaster = int((home / "data" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    for pid in (postmaster, *map(int, children)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def url(dsn: str) -> str:
    """Return a DSN as the URL that every driver takes."""
    part = {key: quote(str(item), safe="") for key, item in conninfo.conninfo_to_dict(dsn).items()}
    login = part["user"] + (f":{part['password']}" if "password" in part else "")
    return f"postgresql://{login}@{part['host']}:{part.get('port', 5432)}/{part['dbname']}"
