"""The servers of a soak run: a primary, its standby, PgBouncer; started, killed and promoted."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from pgrecall.embedded import _as_server_user, _Cluster, _environment
from support.poolers import SCRIPT

CHROOT = Path(os.environ.get("PGRECALL_CHROOT") or "/var/tmp/pgrecall-debian")
DEBIAN = Path("/usr/lib/postgresql/17/bin")
DATABASES = ("soak_a", "soak_b")
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "timezone": "UTC",
    "max_connections": "90",
    "max_locks_per_transaction": "1024",
    "checkpoint_timeout": "1min",
    "autovacuum_naptime": "10s",
    "wal_level": "replica",
    "wal_keep_size": "256MB",
    "max_worker_processes": "16",
    "log_line_prefix": "%m [%p] %q%u@%d ",
}
CRON = {
    "shared_preload_libraries": "pg_cron,pg_stat_statements",
    "cron.database_name": DATABASES[0],
    "cron.use_background_workers": "on",
    "cron.timezone": "UTC",
}


def is_debian_here() -> bool:
    """Return whether the chroot of .ci/debian_pg.sh is complete and can be used."""
    done = subprocess.run([str(SCRIPT), "mount"], check=False, capture_output=True)
    return done.returncode == 0


@dataclass
class Cluster:
    """One data folder and its server, which is a child of this process.

    Attributes:
        port: on 127.0.0.1.
        is_debian: whether it is PostgreSQL 17 in the chroot, else the embedded server.
        home: where the embedded server has its folder.
    """

    port: int
    is_debian: bool
    home: Path
    _server: subprocess.Popen[bytes] | None = None
    _orphans: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._inside = Path(f"/srv/soak-{self.port}")
        self._embedded = _Cluster(self.home / f"cluster-{self.port}")
        self.folder = CHROOT / self._inside.relative_to("/") if self.is_debian else (
            self._embedded.home)  # fmt: skip
        self.log = self.folder / "server.log"

    @property
    def _data(self) -> str:
        """The data folder as the server sees it."""
        return str((self._inside if self.is_debian else self.folder) / "data")

    def _program(self, name: str) -> tuple[list[str], dict[str, Any]]:
        """Return how a program of the server is run: its command, and options of Popen."""
        if self.is_debian:
            command = ["chroot", "--userspec=postgres:postgres", str(CHROOT), str(DEBIAN / name)]
            return command, {"env": {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}}
        command = [str(self._embedded._programs / name)]
        return command, {"env": _environment(), "cwd": "/", **_as_server_user()}

    def run(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the server to its end."""
        command, options = self._program(name)
        return subprocess.run([*command, *arguments], check=False, text=True, **options,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip

    def create(self, primary: Cluster | None = None) -> None:
        """Make the data folder: a new one, or a copy of the primary that follows it."""
        self.remove()
        if self.is_debian:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._mount()
            self.folder.chmod(0o755)
            owner = (CHROOT / "var/lib/postgresql").stat()
            os.chown(self.folder, owner.st_uid, owner.st_gid)
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._mount()
            self._embedded.prepare_folder()
        if primary is None:
            done = self.run("initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E",
                            "UTF8", "--locale=C.UTF-8" if self.is_debian else "--locale=C",
                            "--no-sync")  # fmt: skip
        else:
            done = self.run("pg_basebackup", "-h", "127.0.0.1", "-p", str(primary.port), "-U",
                            "postgres", "-D", self._data, "-R", "-c", "fast",
                            "--no-sync")  # fmt: skip
        assert done.returncode == 0, done.stdout
        if primary is None:
            with (self.folder / "data/postgresql.conf").open("a") as file:
                settings = {**SETTINGS, **(CRON if self.is_debian else {})}
                sockets = "/run/postgresql" if self.is_debian else self.folder
                settings["unix_socket_directories"] = "" if self.is_debian else str(sockets)
                file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def _mount(self) -> None:
        """Keep the folder in memory where that is allowed.

        A killed process loses nothing that it wrote, and recovery need not sync thousands of files.
        """
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4g", "tmpfs", str(self.folder)],
                       check=False, capture_output=True)  # fmt: skip

    def start(self, seconds: float = 300) -> None:
        """Start the server and wait until it takes connections, through crash recovery."""
        command, options = self._program("postgres")
        end = time.monotonic() + seconds
        while True:
            with self.log.open("ab") as log:
                self._server = subprocess.Popen(
                    [*command, "-D", self._data, "-p", str(self.port)],
                    stdout=log, stderr=log, start_new_session=True, **options)  # fmt: skip
            while self._server.poll() is None:
                with suppress(psycopg.OperationalError), self.connect() as conn:
                    conn.execute("select 1")
                    return
                assert time.monotonic() < end, f"no server on {self.port}: see {self.log}"
                time.sleep(0.1)
            # Processes of a postmaster that was killed alone end soon, except pg_cron's launcher,
            # which keeps the next server from starting until somebody ends it.
            assert time.monotonic() < end, f"no server on {self.port}: see {self.log}"
            time.sleep(1)
            if time.monotonic() > end - seconds + 5:
                self._end_orphans()

    def _end_orphans(self) -> None:
        for pid in self._orphans:
            with suppress(OSError):  # it has ended, or its number is another's by now
                if Path(f"/proc/{pid}/cwd").readlink() == (self.folder / "data").resolve():
                    os.kill(pid, signal.SIGKILL)
        self._orphans.clear()

    def dsn(self, database: str = "postgres", user: str = "postgres") -> str:
        return make_conninfo(host="127.0.0.1", port=self.port, dbname=database, user=user)

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        return psycopg.connect(self.dsn(database), autocommit=True, connect_timeout=5)

    def children(self) -> list[int]:
        """Return the processes of the server but the first."""
        if self._server is None:
            return []
        path = Path(f"/proc/{self._server.pid}/task/{self._server.pid}/children")
        with suppress(OSError):
            return [int(pid) for pid in path.read_text().split()]
        return []

    def kill(self, how: str, chance: random.Random) -> None:
        """Kill -9 `all` processes, the `postmaster` alone, or one `backend`."""
        assert self._server is not None
        children = self.children()
        if how == "backend":
            self._kill_backend(chance)
            return
        self._server.kill()
        self._orphans = children
        if how == "all":
            self._end_orphans()
        self._server.wait()

    def _kill_backend(self, chance: random.Random) -> None:
        """Kill one backend, and wait until the server has ended all others because of it."""
        with suppress(psycopg.OperationalError), self.connect() as conn:
            busy = [row[0] for row in conn.execute(
                "select pid from pg_stat_activity where backend_type = 'client backend'"
                " and datname like 'soak%' and pid <> pg_backend_pid()")]  # fmt: skip
            if busy:
                os.kill(chance.choice(busy), signal.SIGKILL)
                for _ in range(600):
                    conn.execute("select pg_sleep(0.1)")

    def stop(self) -> None:
        if self._server is not None and self._server.poll() is None:
            self._server.send_signal(signal.SIGINT)
            try:
                self._server.wait(60)
            except subprocess.TimeoutExpired:
                self._server.kill()

    def remove(self) -> None:
        self.stop()
        if self.folder.is_mount():
            subprocess.run(["umount", "-l", str(self.folder)], check=False, capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass
class Servers:
    """The primary and its standby, which change places, and the pooler before the primary."""

    primary: Cluster
    standby: Cluster
    pooler_port: int
    pooler: subprocess.Popen[bytes] | None = field(default=None)

    def start_pooler(self) -> None:
        """Start PgBouncer before the primary, in place of a former one."""
        self.stop_pooler()
        users = CHROOT / f"srv/soak-users-{self.pooler_port}"
        users.write_text("".join(f'"{name}" ""\n' for name in ("postgres", *LOGINS)))
        users.chmod(0o644)
        self.pooler = subprocess.Popen(
            [str(SCRIPT), "pgbouncer", str(self.pooler_port), f"auth_file=/srv/{users.name}",
             "default_pool_size=6", "max_client_conn=200", "server_login_retry=1",
             "max_prepared_statements=100"],
            env={**os.environ, "PGRECALL_PORT": str(self.primary.port)},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip

    def stop_pooler(self) -> None:
        if self.pooler is not None:
            self.pooler.kill()
            self.pooler.wait()

    def demand_standby(self, seconds: float = 60) -> None:
        """Let every commit wait for the standby, and return when all earlier ones are there."""
        with self.primary.connect() as conn:
            conn.execute("alter system set synchronous_standby_names = '*'")
            conn.execute("select pg_reload_conf()")
            time.sleep(0.5)
            row = conn.execute("select pg_current_wal_insert_lsn()").fetchone()
            assert row is not None
            end = time.monotonic() + seconds
            query = ("select count(*) > 0 from pg_stat_replication"
                     " where sync_state = 'sync' and flush_lsn >= %s")  # fmt: skip
            while conn.execute(query, row).fetchone() != (True,):
                assert time.monotonic() < end, "the standby does not follow"
                time.sleep(0.1)

    def promote(self, chance: random.Random) -> None:
        """Kill the primary, promote the standby, and make a new standby of the old folder."""
        self.primary.kill("all", chance)
        with self.standby.connect() as conn:
            assert conn.execute("select pg_promote(true, 60)").fetchone() == (True,)
        self.primary, self.standby = self.standby, self.primary

    def rebuild_standby(self) -> None:
        self.standby.create(self.primary)
        self.standby.start()

    def stop(self) -> None:
        self.stop_pooler()
        self.standby.stop()
        self.primary.stop()

    def remove(self) -> None:
        self.stop()
        self.standby.remove()
        self.primary.remove()


LOGINS = {"soak_reader": "recall_reader", "soak_writer": "recall_writer",
          "soak_admin": "recall_admin", "soak_worker": "recall_worker"}  # fmt: skip
