"""Shards behind a PL/Proxy database: set up, add, compare, and move users between them.

The SQL is in `sql/proxy`, and works without this module. A connection of a shard is a libpq string
without a user. To set up a shard, this module connects to it as the user of the connection to the
proxy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
from psycopg import conninfo
from psycopg.rows import dict_row

from pgrecall._dsn import parameters_of
from pgrecall.errors import ConfigurationError, InvalidInputError
from pgrecall.schema import read_file

__all__ = [
    "Move", "Shard", "abandon_move", "add_shard", "init_shards", "move_user", "shard_states",
]  # fmt: skip

_CONNECT_TIMEOUT = "5"


@dataclass(slots=True)
class Shard:
    """A shard as `pgrecall shards status` shows it.

    Attributes:
        shard_no: its number.
        name: its name.
        connection: a libpq string without a user.
        slots: how many of the 1,024 slots it has.
        exceptions: users who live here although their slot is another shard's.
        version: the release installed there, None when it does not answer.
        users: how many live there.
        digests: of settings, models, kinds and prompts.
        problems: what an administrator must do something about.
    """

    shard_no: int
    name: str
    connection: str
    slots: int = 0
    exceptions: int = 0
    version: str | None = None
    users: int | None = None
    digests: dict[str, str] | None = None
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Move:
    """The outcome of a move.

    Attributes:
        user_id: the user.
        source: name of the shard they lived on.
        target: name of the shard they live on.
        rows: copied rows by table.
        seconds: duration of the whole move.
        held_seconds: how long calls of the user waited at most.
        was_resumed: whether it continued an interrupted move.
    """

    user_id: UUID
    source: str
    target: str
    rows: dict[str, int]
    seconds: float = 0.0
    held_seconds: float = 0.0
    was_resumed: bool = False


def init_shards(proxy: psycopg.Connection[Any], shards: Mapping[str, str]) -> list[Shard]:
    """Make a database the proxy of these shards, or make its functions anew after an upgrade.

    Without shards, those of the proxy are taken. The slots are shared among the first shards only.

    Raises:
        ConfigurationError: shards are of different releases or sizes, or a shard is new to a proxy
            that is in use.
        InvalidInputError: no shards, or a connection with a user.
    """
    with _one_transaction(proxy):
        proxy.execute(read_file("sql/proxy/proxy.sql").encode())
        known = {shard.name: shard.connection for shard in _shards(proxy)}
        if known and (new := sorted({*shards} - {*known})):
            raise ConfigurationError(
                f"shard {new[0]} is new to this proxy",
                hint="pgrecall shards add adds a shard. It moves no user.",
            )
        wanted = {**known, **shards}
        if not wanted:
            raise InvalidInputError(
                "a proxy needs a shard", hint="Pass --shard NAME='host=… dbname=…' for each."
            )
        _generate(proxy, wanted)
        proxy.execute("select recall_proxy.share_slots()")
        return _shards(proxy)


def add_shard(
    proxy: psycopg.Connection[Any], name: str, connection: str, *, slots: int = 0
) -> Shard:
    """Add a shard, and give it slots for new users; no user moves.

    Raises:
        ConfigurationError: the shard is of another release or size, or differs in its settings.
        InvalidInputError: a connection with a user, or more slots than there are.
    """
    _require_proxy(proxy)
    with _one_transaction(proxy):
        known = {shard.name: shard.connection for shard in _shards(proxy)}
        _generate(proxy, {**known, name: connection})
        proxy.execute("select recall_proxy.assign_slots(%s, %s)", [name, slots])
        return next(shard for shard in _shards(proxy) if shard.name == name)


def shard_states(proxy: psycopg.Connection[Any]) -> list[Shard]:
    """Return the shards, with what is wrong about each."""
    _require_proxy(proxy)
    return [Shard(**row) for row in _rows(proxy, "select * from recall_proxy.status()")]


def move_user(
    proxy: psycopg.Connection[Any],
    user_id: UUID,
    target: str,
    *,
    progress: Callable[[str], object] | None = None,
) -> Move:
    """Move a user to another shard; an interrupted move continues.

    `recall_proxy.move_user` does it. The proxy's server connects to both shards.

    Raises:
        NotFoundError: no such user or shard.
        ConfigurationError: another move of this user runs or is not finished, the target has rows
            of the user, or a shard is not ready.
    """
    _require_proxy(proxy)
    with _long_call(proxy, progress):
        done = _value(proxy, "call recall_proxy.move_user(%s, %s)", [user_id, target])
    return Move(user_id, **done)


def abandon_move(
    proxy: psycopg.Connection[Any],
    user_id: UUID,
    *,
    progress: Callable[[str], object] | None = None,
) -> None:
    """End an interrupted move; the user stays, and the copy is deleted if its shard answers.

    Raises:
        NotFoundError: no move that can be abandoned.
        ConfigurationError: a process moves the user, or the user has left the source.
    """
    _require_proxy(proxy)
    with _long_call(proxy, progress):
        proxy.execute("select recall_proxy.abandon_move(%s)", [user_id])


@contextmanager
def _long_call(
    proxy: psycopg.Connection[Any], progress: Callable[[str], object] | None
) -> Iterator[None]:
    """Let a call run without a timeout, and pass its messages on."""

    def said(notice: psycopg.errors.Diagnostic) -> None:
        if progress is not None:
            progress(str(notice.message_primary))

    proxy.add_notice_handler(said)
    proxy.execute("set statement_timeout = 0; set transaction_timeout = 0;"
                  " set client_min_messages = notice")  # fmt: skip
    try:
        yield
    finally:
        proxy.remove_notice_handler(said)


def _generate(proxy: psycopg.Connection[Any], shards: Mapping[str, str]) -> None:
    """Prepare the shards, compare them, and make the functions of the proxy."""
    statements: list[str] = []
    first: tuple[str, dict[str, Any]] | None = None
    for name, connection in shards.items():
        proxy.execute("select recall_proxy.add_shard(%s, %s)", [name, _checked(name, connection)])
        with _connected(proxy, connection) as conn:
            with conn.transaction():
                conn.execute(read_file("sql/proxy/shard.sql").encode())
            found = _state(conn)
            generated = _last_result(conn, read_file("sql/proxy/generate.sql"))
        if first is None:
            first, statements = (name, found), generated
            continue
        _compare(first, (name, found))
        if generated != statements:
            raise ConfigurationError(
                f"shards {first[0]} and {name} differ in functions, roles or rights",
                hint="Install all shards with the same --role-prefix, and upgrade all of them.",
            )
    made = proxy.execute("select r.version, r.checksum from recall_proxy.release as r").fetchone()
    if made is not None and all(f"'{part}'" in statements[-1] for part in made):
        return  # calls in progress would lose the functions that they run
    for statement in statements:
        proxy.execute(statement.encode())


def _compare(one: tuple[str, dict[str, Any]], other: tuple[str, dict[str, Any]]) -> None:
    """Raise when two shards cannot be behind one proxy."""
    for key in ("version", "settings", "models", "kinds", "prompts"):
        if one[1][key] != other[1][key]:
            detail = f": {one[1][key]} and {other[1][key]}" if key == "version" else ""
            raise ConfigurationError(
                f"shards {one[0]} and {other[0]} differ in {key}{detail}",
                hint="Upgrade all shards, and give them the same embedding model, dimensions, "
                "settings, models, kinds and prompts.",
            )


def _state(conn: psycopg.Connection[Any]) -> dict[str, Any]:
    (found,) = _rows(conn, "select * from recall_shard.state()")
    return {**found.pop("digests"), **found}


def _last_result(conn: psycopg.Connection[Any], text: str) -> list[str]:
    cursor = conn.execute(text.encode())
    while cursor.nextset():
        pass
    return [row[0] for row in cursor.fetchall()]


def _checked(name: str, connection: str) -> str:
    """Return the connection of a shard as libpq reads it.

    Raises:
        InvalidInputError: it names a user, or is no connection string.
    """
    try:
        parts = parameters_of(connection)
    except psycopg.Error as error:
        raise InvalidInputError(
            f"the connection of shard {name} is no connection string: {error}",
            hint="Such as host=10.0.0.5 port=5432 dbname=recall",
        ) from error
    if parts.keys() & {"user", "password"}:
        raise InvalidInputError(
            f"the connection of shard {name} names a user or a password",
            hint="Callers connect as their own role; passwords belong into user mappings.",
        )
    # a host that does not answer must not hold a call for minutes
    parts.setdefault("connect_timeout", _CONNECT_TIMEOUT)
    return conninfo.make_conninfo("", **dict(sorted(parts.items())))


def _shards(proxy: psycopg.Connection[Any]) -> list[Shard]:
    return [
        Shard(**row)
        for row in _rows(
            proxy,
            "select s.shard_no, s.name, s.connection,"
            " (select count(*) from recall_proxy.slots as l where l.shard_no = s.shard_no)"
            " as slots,"
            " (select count(*) from recall_proxy.moved_users as m where m.shard_no = s.shard_no)"
            " as exceptions from recall_proxy.shards as s order by s.shard_no",
        )
    ]


def _require_proxy(proxy: psycopg.Connection[Any]) -> None:
    made_by_superuser = (
        "select coalesce(bool_or(r.rolsuper), false) from pg_catalog.pg_class as c"
        " join pg_catalog.pg_namespace as n on n.oid = c.relnamespace"
        " join pg_catalog.pg_roles as r on r.oid = n.nspowner"
        " where n.nspname = 'recall_proxy' and c.relname = 'release'"
    )
    if not _value(proxy, made_by_superuser):
        raise ConfigurationError(
            f"database {proxy.info.dbname} is no proxy",
            hint="pgrecall shards init makes it one; --dsn names the proxy, not a shard.",
        )


@contextmanager
def _one_transaction(proxy: psycopg.Connection[Any]) -> Iterator[None]:
    with proxy.transaction():
        proxy.execute("select pg_advisory_xact_lock(hashtextextended('recall_proxy.init', 0))")
        proxy.execute("set local client_min_messages = warning")
        yield


@contextmanager
def _connected(
    proxy: psycopg.Connection[Any], connection: str
) -> Iterator[psycopg.Connection[Any]]:
    """Connect to a shard as the user of the proxy's connection."""
    own = {"user": proxy.info.user, "connect_timeout": _CONNECT_TIMEOUT}
    if proxy.info.password:
        own["password"] = proxy.info.password
    with psycopg.connect(conninfo.make_conninfo(connection, **own), autocommit=True) as conn:
        conn.execute(
            "set search_path = pg_catalog, pg_temp;"
            " set datestyle = 'ISO'; set intervalstyle = 'postgres'; set timezone = 'UTC';"
            " set idle_in_transaction_session_timeout = 0; set client_min_messages = warning"
        )
        yield conn


def _rows(
    conn: psycopg.Connection[Any], query: str, parameters: list[Any] | None = None
) -> list[dict[str, Any]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query.encode(), parameters).fetchall()


def _value(conn: psycopg.Connection[Any], query: str, parameters: list[Any] | None = None) -> Any:
    row = conn.execute(query.encode(), parameters).fetchone()
    return None if row is None else row[0]
