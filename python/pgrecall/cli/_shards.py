"""Shards behind a PL/Proxy database: set up, add, compare, and move users between them.

The SQL is in `sql/proxy`. A connection of a shard is a libpq string without a user; this module
connects to it as the user of the connection to the proxy.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
from psycopg import conninfo, sql
from psycopg.rows import dict_row

from pgrecall._dsn import parameters_of
from pgrecall.errors import ConfigurationError, InvalidInputError, NotFoundError
from pgrecall.schema import read_file

__all__ = ["Move", "Shard", "add_shard", "init_shards", "move_user", "shard_states"]

_HOLD_TRIES = 60
_HOLD_TIMEOUT = "1s"  # calls of the user queue behind the move while it waits
_CONNECT_TIMEOUT = "5"

# One digest for each kind of shared configuration. Calibrated and installed values are a shard's.
_DIGESTS = b"""
select md5((recall.get_settings() - array[
           'owner', 'role_prefix', 'share_roles', 'hash_partitions', 'history_from',
           'history_until', 'history_months_ahead', 'scheduled_by', 'scheduled_in',
           'has_overrides', 'has_sealed_users', 'unrelated_similarity', 'unrelated_deviation',
           'hidden_embedding_model'])::text) as settings,
       (select md5(coalesce(string_agg(m::text, e'\\n' order by m.model_id), ''))
          from recall.list_models() as m) as models,
       (select md5(coalesce(string_agg(k::text, e'\\n' order by k.kind), ''))
          from recall.memory_kinds as k) as kinds,
       (select md5(coalesce(string_agg(concat_ws(' ', p.name, p.language, p.checksum), e'\\n'
                                       order by p.name, p.language), ''))
          from recall.list_prompts() as p where p.is_current) as prompts,
       recall.version() as version,
       (select count(*) from recall.users) as users
"""

# A row that was written since the copy began. The transaction id of a row has 32 bits; the upper
# ones are those of the present, or one less. Ids of subtransactions are above the oldest running
# transaction, too, so comparing with that one misses none.
_CHANGED = sql.SQL("""
user_id = {user} and (
    with now (xid) as (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
    select x - case when x > n.xid then 4294967296 else 0 end
      from now as n
     cross join lateral (
            select n.xid / 4294967296 * 4294967296 + t.xmin::text::bigint) as f (x)) >= {since}
""")


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
        problems: what an administrator must do something about.
        digests: of settings, models, kinds and prompts.
    """

    shard_no: int
    name: str
    connection: str
    slots: int = 0
    exceptions: int = 0
    version: str | None = None
    users: int | None = None
    problems: list[str] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)


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
    shards = _shards(proxy)
    expected: str = _value(proxy, "select r.version from recall_proxy.release as r")
    first: Shard | None = None
    for shard in shards:
        try:
            with _connected(proxy, shard.connection) as conn:
                found = _digests(conn)
            strays = _rows(proxy, "select * from recall_proxy.list_strays(%s)", [shard.shard_no])
        except psycopg.Error as error:
            shard.problems.append(f"cannot be reached: {str(error).strip().splitlines()[-1]}")
            continue
        shard.version, shard.users = found.pop("version"), found.pop("users")
        shard.digests = found
        if strays:
            shard.problems.append(
                f"has rows of {len(strays)} users who live elsewhere, such as "
                f"{strays[0]['list_strays']}: was it restored from a backup?"
            )
        if shard.version != expected:
            shard.problems.append(
                f"is of release {shard.version}, the proxy of {expected}: calls are refused until "
                "all shards are upgraded and pgrecall shards init has run"
            )
        if first is None:
            first = shard
        elif differing := [key for key in found if found[key] != first.digests[key]]:
            shard.problems.append(f"{', '.join(differing)} differ from shard {first.name}")
    return shards


def move_user(
    proxy: psycopg.Connection[Any],
    user_id: UUID,
    target: str,
    *,
    progress: Callable[[str], object] | None = None,
) -> Move:
    """Move a user to another shard; an interrupted move continues.

    The rows are copied while calls go on. Then calls of the user wait until the rows that have
    changed are copied, too. The target commits first, then the source refuses the user, then the
    proxy knows the new shard. So at each moment one shard accepts writes, or none does.

    Raises:
        NotFoundError: no such user or shard.
        ConfigurationError: another move of this user runs or is not finished, or the target has
            rows of the user.
    """
    _require_proxy(proxy)
    say = progress or (lambda _: None)
    began = time.monotonic()
    names = {shard.name: shard for shard in _shards(proxy)}
    numbers = {shard.shard_no: shard for shard in names.values()}
    if target not in names:
        raise NotFoundError(
            f"there is no shard {target}", hint="pgrecall shards status lists the shards."
        )
    with _alone(proxy, user_id):
        row = proxy.execute(
            "select m.from_shard, m.to_shard, m.state from recall_proxy.moves as m"
            " where m.user_id = %s",
            [user_id],
        ).fetchone()
        if row is None:
            source = numbers[_value(proxy, "select recall_proxy.shard_of(%s)", [user_id])]
            state = "copying"
            move = Move(user_id, source.name, target, {})
            if source.name == target:
                return move
            for shard in (source, names[target]):  # no move is recorded that cannot begin
                with _connected(proxy, shard.connection):
                    pass
            proxy.execute(
                "insert into recall_proxy.moves (user_id, from_shard, to_shard)"
                " values (%s, %s, %s)",
                [user_id, source.shard_no, names[target].shard_no],
            )
        else:
            source, state = numbers[row[0]], row[2]
            move = Move(user_id, source.name, numbers[row[1]].name, {}, was_resumed=True)
            if move.target != target:
                raise ConfigurationError(
                    f"a move of this user from {move.source} to {move.target} is not finished",
                    hint=f"Finish it first: pgrecall shards move {user_id} --to {move.target}",
                )
        with _as_owner(proxy, source.connection) as giving:
            if state == "copying":
                held_at = time.monotonic()
                if not _has_departed(giving, user_id):
                    if move.was_resumed and not _has_user(giving, user_id):
                        _abandon(proxy, names[target], move)
                    try:
                        held_at = _copy(proxy, giving, names[target], move, say)
                    except (NotFoundError, ConfigurationError):
                        if not move.was_resumed:  # the receiving shard has kept nothing
                            proxy.execute(
                                "delete from recall_proxy.moves where user_id = %s", [user_id]
                            )
                        raise
                with proxy.transaction():
                    proxy.execute(
                        "select recall_proxy.route_user(%s, %s)", [user_id, names[target].shard_no]
                    )
                    proxy.execute(
                        "update recall_proxy.moves set state = 'arrived' where user_id = %s",
                        [user_id],
                    )
                move.held_seconds = time.monotonic() - held_at
            say(f"deleting the rows on {source.name}")
            with giving.transaction():
                giving.execute("select recall_shard.remove_departed(%s)", [user_id])
            proxy.execute("delete from recall_proxy.moves where user_id = %s", [user_id])
    move.seconds = time.monotonic() - began
    return move


def _abandon(proxy: psycopg.Connection[Any], target: Shard, move: Move) -> None:
    """End a move whose user was erased on the source; the target may have committed a copy.

    Raises:
        NotFoundError: always, when the copy is deleted.
    """
    with _as_owner(proxy, target.connection) as taking, taking.transaction():
        taking.execute("select recall_shard.receive_user(%s, true, '[]')", [move.user_id])
    proxy.execute("delete from recall_proxy.moves where user_id = %s", [move.user_id])
    raise NotFoundError(
        f"user {move.user_id} was erased on {move.source} before the move was finished",
        hint=f"The copy on {target.name} is deleted, and the move has ended.",
    )


def _copy(
    proxy: psycopg.Connection[Any],
    giving: psycopg.Connection[Any],
    target: Shard,
    move: Move,
    say: Callable[[str], object],
) -> float:
    """Copy all rows of a user, have the source refuse the user, and return when the hold began.

    The receiving transaction commits once, at the end: no sweep there sees a part of a user.
    """
    user_id = move.user_id
    since: int = _value(giving, "select pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
    months = _rows(giving, "select * from recall_shard.user_months(%s)", [user_id])
    tables = _rows(giving, "select * from recall_shard.user_tables()")
    with _as_owner(proxy, target.connection) as taking:
        taking.execute("begin")  # closing the connection rolls back
        taking.execute(
            "select recall_shard.receive_user(%s, %s, %s::jsonb)",
            [user_id, move.was_resumed, json.dumps(months, default=str)],
        )
        for table in tables:
            say(f"copying {table['name']}")
            _send(giving, taking, table, _of_user(user_id), table["name"])
        say("copying what has changed")
        with _held(giving, user_id) as held_at:
            for table in tables:
                move.rows[table["name"].removeprefix("recall.")] = _send_changes(
                    giving, taking, table, user_id, since
                )
            _send_prompts(giving, taking, user_id)
            taking.execute("commit")
            # both shards have all rows now; the source refuses the user by this commit
            giving.execute("select recall_shard.depart(%s)", [user_id])
    return held_at


def _send_changes(
    giving: psycopg.Connection[Any],
    taking: psycopg.Connection[Any],
    table: dict[str, Any],
    user_id: UUID,
    since: int,
) -> int:
    """Send the rows of a table that have changed since a transaction; return how many there are."""
    name, keys = _name(table), table["keys"]
    if not keys:
        taking.execute(sql.SQL("delete from {} where user_id = %s").format(name), [user_id])
        return _send(giving, taking, table, _of_user(user_id), table["name"])
    changed = _CHANGED.format(user=sql.Literal(user_id), since=sql.Literal(since))
    _make_scratch(taking, table, table["columns"])
    sent = _send(giving, taking, table, changed, "pg_temp.moved_rows")
    if sent:
        taking.execute(
            sql.SQL("delete from {} as t using pg_temp.moved_rows as m where {}").format(
                name, _matching(keys)
            )
        )
    count = sql.SQL("select count(*) from {} where user_id = %s").format(name)
    there, here = (_value(conn, count, [user_id]) for conn in (giving, taking))
    if there != here + sent:
        # Rows were deleted meanwhile. They go first: a changed row may have the value of a deleted
        # one that a unique index allows once.
        _make_scratch(taking, table, keys, "moved_keys")
        _send(giving, taking, {**table, "columns": keys}, _of_user(user_id), "pg_temp.moved_keys")
        taking.execute(
            sql.SQL(
                "delete from {} as t where t.user_id = %s"
                " and not exists (select 1 from pg_temp.moved_keys as m where {})"
            ).format(name, _matching(keys)),
            [user_id],
        )
    if sent:
        columns = _listed(table["columns"])
        taking.execute(
            sql.SQL("insert into {} ({}) select {} from pg_temp.moved_rows").format(
                name, columns, columns
            )
        )
    here = _value(taking, count, [user_id])
    if there != here:
        raise ConfigurationError(
            f"{table['name']}: {there} rows on the source, {here} on the target",
            hint="Something writes to the shards past the proxy. Nothing was moved.",
        )
    return int(there)


def _send_prompts(
    giving: psycopg.Connection[Any], taking: psycopg.Connection[Any], user_id: UUID
) -> None:
    """Send the system prompts of a user's sessions; they are shared between users."""
    table: dict[str, Any] = {
        "name": "recall.system_prompts",
        "columns": ["prompt_hash", "content", "token_count", "created_at"],
        "keys": ["prompt_hash"],
    }
    _make_scratch(taking, table, table["columns"])
    used = sql.SQL(
        "prompt_hash in (select s.system_prompt_hash from recall.sessions as s"
        " where s.user_id = {})"
    ).format(sql.Literal(user_id))
    _send(giving, taking, table, used, "pg_temp.moved_rows")
    # The update locks a prompt, so that no purge deletes it before the sessions are visible.
    taking.execute(
        "insert into recall.system_prompts (prompt_hash, content, token_count, created_at)"
        " select m.prompt_hash, m.content, m.token_count, m.created_at"
        " from pg_temp.moved_rows as m order by m.prompt_hash"
        " on conflict (prompt_hash) do update set released_at = null"
    )


def _send(
    giving: psycopg.Connection[Any],
    taking: psycopg.Connection[Any],
    table: Mapping[str, Any],
    condition: sql.Composable,
    into: str,
) -> int:
    """Stream the rows of a table that meet a condition; return how many were inserted."""
    columns = _listed(table["columns"])
    out = sql.SQL("copy (select {} from {} as t where {}) to stdout").format(
        columns, _name(table), condition
    )
    back = sql.SQL("copy {} ({}) from stdin").format(sql.Identifier(*into.split(".")), columns)
    with giving.cursor() as reader, taking.cursor() as writer:
        with reader.copy(out) as source, writer.copy(back) as sink:
            for block in source:
                sink.write(block)
        return writer.rowcount


def _make_scratch(
    taking: psycopg.Connection[Any],
    table: Mapping[str, Any],
    columns: list[str],
    name: str = "moved_rows",
) -> None:
    scratch = sql.Identifier("pg_temp", name)
    taking.execute(sql.SQL("drop table if exists {}").format(scratch))
    taking.execute(
        sql.SQL("create temp table {} as select {} from {} limit 0").format(
            scratch, _listed(columns), _name(table)
        )
    )


def _name(table: Mapping[str, Any]) -> sql.Identifier:
    return sql.Identifier(*table["name"].split("."))


def _listed(columns: list[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def _matching(keys: list[str]) -> sql.Composed:
    return sql.SQL(" and ").join(
        sql.SQL("t.{} = m.{}").format(sql.Identifier(key), sql.Identifier(key)) for key in keys
    )


def _of_user(user_id: UUID) -> sql.Composable:
    return sql.SQL("user_id = {}").format(sql.Literal(user_id))


@contextmanager
def _held(giving: psycopg.Connection[Any], user_id: UUID) -> Iterator[float]:
    """Keep all calls and sweeps from a user within one transaction; give the time it began.

    Calls queue behind a waiting lock, so each wait is short and repeated.
    """
    with giving.transaction():
        for tries in range(_HOLD_TRIES):
            began = time.monotonic()
            try:
                with giving.transaction():  # a savepoint, whose end releases the locks
                    giving.execute(sql.SQL("set local lock_timeout = {}").format(_HOLD_TIMEOUT))
                    giving.execute("select recall_shard.hold_user(%s)", [user_id])
                break
            except psycopg.errors.LockNotAvailable:
                if tries == _HOLD_TRIES - 1:
                    raise
                time.sleep(0.2)
        giving.execute("set local lock_timeout to default")
        yield began


def _generate(proxy: psycopg.Connection[Any], shards: Mapping[str, str]) -> None:
    """Prepare the shards, compare them, and make the functions of the proxy."""
    statements: list[str] = []
    first: tuple[str, dict[str, Any]] | None = None
    for name, connection in shards.items():
        proxy.execute("select recall_proxy.add_shard(%s, %s)", [name, _checked(name, connection)])
        with _connected(proxy, connection) as conn:
            with conn.transaction():
                conn.execute(read_file("sql/proxy/shard.sql").encode())
            found = _digests(conn)
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
    vector = _value(
        proxy,
        "select quote_ident(n.nspname) from pg_extension as e"
        " join pg_namespace as n on n.oid = e.extnamespace where e.extname = 'vector'",
    )
    proxy.execute("select set_config('search_path', %s, true)", [f"pg_catalog, {vector}"])
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


def _digests(conn: psycopg.Connection[Any]) -> dict[str, Any]:
    with conn.cursor(row_factory=dict_row) as cursor:
        try:
            found = cursor.execute(_DIGESTS).fetchone()
        except (psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedFunction) as error:
            raise ConfigurationError(
                f"database {conn.info.dbname} has no schema recall of pgrecall",
                hint="pgrecall install --dsn DSN installs it.",
            ) from error
    assert found is not None  # noqa: S101
    return found


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
    if _value(proxy, "select to_regclass('recall_proxy.release') is null"):
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
def _alone(proxy: psycopg.Connection[Any], user_id: UUID) -> Iterator[None]:
    """Be the only move of a user."""
    key = "hashtextextended('recall_proxy.move ' || %s, 0)"
    if not _value(proxy, f"select pg_try_advisory_lock({key})", [str(user_id)]):
        raise ConfigurationError(
            f"another process moves user {user_id}", hint="Wait until it has finished."
        )
    try:
        yield
    finally:
        if not proxy.closed:
            proxy.execute(f"select pg_advisory_unlock({key})", [str(user_id)])


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
            "set datestyle = 'ISO'; set intervalstyle = 'postgres'; set timezone = 'UTC';"
            " set idle_in_transaction_session_timeout = 0; set client_min_messages = warning"
        )
        yield conn


@contextmanager
def _as_owner(proxy: psycopg.Connection[Any], connection: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect to a shard, and act as the owner of its schema, with durable commits."""
    with _connected(proxy, connection) as conn:
        owner = _value(
            conn,
            "select pg_get_userbyid(n.nspowner)::text from pg_namespace as n"
            " where n.nspname = 'recall_shard'",
        )
        conn.execute(sql.SQL("set role {}").format(sql.Identifier(owner)))
        # the source deletes what the target has committed, so that must not get lost
        conn.execute("set statement_timeout = 0; set synchronous_commit = on")
        yield conn


def _has_departed(giving: psycopg.Connection[Any], user_id: UUID) -> bool:
    return bool(
        _value(
            giving,
            "select exists (select from recall_shard.departed_users where user_id = %s)",
            [user_id],
        )
    )


def _has_user(giving: psycopg.Connection[Any], user_id: UUID) -> bool:
    return bool(
        _value(giving, "select exists (select from recall.users where user_id = %s)", [user_id])
    )


def _rows(
    conn: psycopg.Connection[Any], query: str, parameters: list[Any] | None = None
) -> list[dict[str, Any]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query.encode(), parameters).fetchall()


def _value(
    conn: psycopg.Connection[Any],
    query: str | sql.Composed,
    parameters: list[Any] | None = None,
) -> Any:
    text = query.encode() if isinstance(query, str) else query
    row = conn.execute(text, parameters).fetchone()
    return None if row is None else row[0]
