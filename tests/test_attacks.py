"""Attacks on the walls between users: careless grants, traps, hostile texts in every parameter."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from everyfunction import CALLS, World, furnish, public_functions
from support import append, call, login_role, open_session, refused, rows, said, value
from test_security import (
    ALPHA,
    BRAVO,
    FOR_ALL_USERS,
    IDS,
    MATRIX,
    as_role,
    belongings,
)

Connection = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def worlds(dsn: str) -> tuple[World, World]:
    """Two users, each with a word of his own in everything he has."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        return furnish(conn, ALPHA), furnish(conn, BRAVO)


@pytest.fixture(scope="module")
def calls_of_nobody(worlds: tuple[World, World]) -> list[str]:
    """What in an answer would give a user away: his word, his ids."""
    theirs = worlds[1]
    return [BRAVO, str(theirs["user"]), *(str(theirs[key]) for key in IDS)]


# --- canaries


@pytest.mark.parametrize("role", MATRIX)
def test_no_role_is_shown_another_user(
    db: Connection, dsn: str, worlds: tuple[World, World], calls_of_nobody: list[str], role: str
) -> None:
    """Every function that the role may call, with and without an identity; errors too."""
    mine, theirs = worlds
    before = belongings(db, theirs["user"])
    with login_role(db, member_of=[role]) as login, as_role(dsn, login) as conn:
        for asked in CALLS:
            if asked.function not in MATRIX[role] or asked.function in FOR_ALL_USERS:
                continue
            for identity in ("", str(mine["user"])) if asked.of_user else ("",):
                with conn.transaction(force_rollback=True):
                    conn.execute("select set_config('recall.user_id', %s, true)", [identity])
                    told = json.dumps(
                        conn.execute(asked.query.encode(), mine).fetchall(), default=str
                    )
                assert [word for word in calls_of_nobody if word in told] == [], asked
    assert belongings(db, theirs["user"]) == before


def test_numbers_of_all_users_name_nobody(
    db: Connection, worlds: tuple[World, World], calls_of_nobody: list[str]
) -> None:
    """health, metrics and the list of tasks count; who is counted they do not say."""
    db.execute(
        "insert into recall.jobs (job_id, user_id, kind, state, dedupe_key, payload, priority,"
        " run_at, attempts, max_attempts, last_error, created_at) select recall.uuidv7(), user_id,"
        " kind, 'dead', 'a copy', payload, priority, run_at, attempts, max_attempts,"
        " coalesce(last_error, payload ->> 'mark'), created_at from recall.jobs where user_id = %s"
        " limit 1",
        [worlds[1]["user"]],
    )
    for function in ("health", "metrics", "list_maintenance", "maintenance_commands"):
        told = json.dumps(call(db, function), default=str)
        assert [word for word in calls_of_nobody if word in told] == [], function


# --- careless grants


RIGHTS = ("select count(*) from {}", "delete from {}", "update {} set user_id = user_id")


def test_grant_all_on_all_tables(db: Connection, dsn: str, worlds: tuple[World, World]) -> None:
    """It shows and changes no row: of tables, of leaves, of next month's, of those of an append."""
    mine, theirs = worlds
    with login_role(db) as login:
        name = sql.Identifier(login["user"])
        db.execute(sql.SQL("grant all on schema recall to {}").format(name))
        owner = value(db, "select nspowner::regrole::text from pg_namespace"
                          " where nspname = 'recall'")  # fmt: skip
        db.execute(
            sql.SQL("alter default privileges for role {} in schema recall grant all on tables"
                    " to {}").format(sql.Identifier(owner), name)
        )  # fmt: skip
        # a leaf that an append makes, for want of it
        gone = value(
            db,
            "select c.oid::regclass::text from pg_inherits as i join pg_class as c"
            " on c.oid = i.inhrelid where i.inhparent = "
            "recall._hash_leaf('recall.conversation_history', %s)"
            " and pg_get_expr(c.relpartbound, c.oid) like %s",
            [mine["user"], f"%FROM ('{datetime.now(UTC):%Y-%m}-01%"],
        )
        parent = value(db, "select recall._hash_leaf('recall.conversation_history', %s)::text",
                       [mine["user"]])  # fmt: skip
        db.execute(f"alter table {parent} detach partition {gone}".encode())
        db.execute(f"create table public.kept as table {gone}".encode())
        db.execute(f"drop table {gone}".encode())
        append(db, mine["user"], mine["session"], said("and a leaf is made"))
        db.execute(f"insert into {parent} select * from public.kept".encode())
        db.execute("drop table public.kept")
        db.execute("select recall.ensure_partitions(p_as_of => now() + interval '7 months')")
        db.execute(sql.SQL("grant all on all tables in schema recall to {}").format(name))
        found = rows(
            db,
            "select c.oid::regclass::text as name, exists (select from pg_attribute as a"
            " where a.attrelid = c.oid and a.attname = 'user_id') as has_user,"
            " has_table_privilege(%s, c.oid, 'select, update, delete') as granted"
            " from pg_class as c where c.relnamespace = 'recall'::regnamespace"
            " and c.relkind in ('r', 'p')",
            [login["user"]],
        )
        assert all(table["granted"] for table in found)
        before = [belongings(db, world["user"]) for world in worlds]
        with as_role(dsn, login) as careless:
            for identity in ("", str(theirs["user"])):
                careless.execute("select set_config('recall.user_id', %s, false)", [identity])
                for table in found:
                    for right in RIGHTS if table["has_user"] else RIGHTS[:2]:
                        cursor = careless.execute(right.format(table["name"]).encode())
                        touched = cursor.fetchone()[0] if "count" in right else cursor.rowcount
                        assert touched == 0, (right, table["name"])
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
                careless.execute(
                    "insert into recall.users (user_id, created_at)"
                    " values (gen_random_uuid(), now())"
                )
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                careless.execute("alter table recall.users disable row level security")
        assert [belongings(db, world["user"]) for world in worlds] == before
        (grants,) = (row for row in call(db, "health") if row["name"] == "grants")
        assert (grants["status"], login["user"] in grants["hint"]) == ("fail", True)
        db.execute(
            sql.SQL("revoke all on all tables in schema recall from {};"
                    " create function public.spy() returns trigger language plpgsql"
                    " as 'begin return new; end'; create trigger spy after insert"
                    " on recall.sessions for each row execute function public.spy()").format(name)
        )  # fmt: skip
        (grants,) = (row for row in call(db, "health") if row["name"] == "grants")
        assert (grants["status"], "spy on " in grants["detail"]) == ("fail", True)
        db.execute("drop function public.spy() cascade")
        db.execute(
            sql.SQL("alter default privileges for role {} in schema recall revoke all on tables"
                    " from {}").format(sql.Identifier(owner), name)
        )  # fmt: skip
    (grants,) = (row for row in call(db, "health") if row["name"] == "grants")
    assert grants["status"] == "ok"


# --- injection

HOSTILE = [
    "'; drop table recall.users cascade; --",
    "x' or 'a'='a",
    '"; delete from recall.users; select "',
    "$$; select pg_sleep(9); $$",
    "$function$ raise exception 'in' $function$",
    "%I %L %s %1$s %%",
    "\\'; truncate recall.jobs; --",
    "recall.users; drop schema recall cascade",
    "1) union select user_id::text from recall.users --",
    "{\"a\", 'b'}",
    "'a' & ! :* <-> (b | \\",
    "/* */ ; reset role; --",
]

SANE: dict[str, Any] = {
    "p_user_id": "user", "p_session_id": "session", "p_memory_id": "memory",
    "p_memory_ids": None, "p_job_id": "embed_job", "p_lease_token": "embed_token",
    "p_embedding": "vector", "p_query_embedding": "vector", "p_external_id": "name",
}  # fmt: skip
"""Parameters that the world has a value for."""

SAMPLES: dict[str, Any] = {
    "uuid[]": [], "integer": 1, "bigint": 1, "real": "0.5", "boolean": True, "interval": "1 hour",
    "timestamp with time zone": "2030-01-01T00:00:00Z", "halfvec": None, "halfvec[]": None,
    "real[]": [], "bytea": b"", "recall.provenance": "fact", "text": "x", "text[]": ["x"],
    "jsonb": Jsonb({}), "uuid": None,
}  # fmt: skip

OBJECTS: dict[str, list[str]] = {
    "p_messages": ["messages", "tools"],
    "p_candidates": ["candidates"],
    "p_decisions": ["decisions"],
    "p_options": ["options", "quoting", "fixed"],
    "p_filter": ["filter"],
    "p_changes": ["changes"],
    "p_message": ["message"],
    "p_usage": ["usage"],
    "p_result": ["embedded", "compacted", "merged", "noticed", "summarized", "decided"],
    "p_phases": ["phases"],
}
"""Well-formed values of the world; each of their texts is made hostile."""

TEXTS = ("text", "text[]", "jsonb")
COMMITTING = {"maintain", "schedule_maintenance", "unschedule_maintenance"}


def poisoned(item: Any, text: str, keys: bool) -> Any:
    """Return a JSON value with each text, or each key, replaced."""
    if isinstance(item, dict):
        return {
            (text if keys else key): poisoned(part, text, keys) for key, part in item.items()
        } or {text: text}
    if isinstance(item, list):
        return [poisoned(part, text, keys) for part in item]
    return text if isinstance(item, str) and not keys else item


def hostile_values(name: str, kind: str, text: str, world: World) -> Iterator[Any]:
    if kind == "text":
        yield text
    elif kind == "text[]":
        yield [text]
        yield [text, None]
    else:
        yield Jsonb(text)
        yield Jsonb([text])
        yield Jsonb({text: text})
        for key in OBJECTS.get(name, ()):
            for keys in (False, True):
                yield Jsonb(poisoned(world[key].obj, text, keys))


def test_hostile_texts_in_every_parameter(db: Connection, worlds: tuple[World, World]) -> None:
    """Each text and JSON parameter of each function: it works, or a rule of ours refuses it.

    What a caller writes never becomes a part of a statement, which a syntax error or an unknown
    name would betray; and nothing but his own rows can change.
    """
    mine, theirs = worlds
    objects = "select count(*) from pg_class where relnamespace = 'recall'::regnamespace"
    before = belongings(db, theirs["user"]), value(db, objects)
    tried = 0
    for function, parameters in text_functions(db).items():
        base = {
            name: mine[SANE[name]] if SANE.get(name) else SAMPLES[kind]
            for name, kind, is_needed in parameters
            if is_needed or name in SANE
        }
        for (name, kind, _), text in (
            (parameter, text) for parameter in parameters for text in HOSTILE
        ):
            if kind not in TEXTS:
                continue
            for item in hostile_values(name, kind, text, mine):
                tried += 1
                attack(db, function, parameters, base | {name: item})
        assert (belongings(db, theirs["user"]), value(db, objects)) == before, function
    assert tried > 2000


def text_functions(db: Connection) -> dict[str, list[tuple[str, str, bool]]]:
    """Return the functions that take texts: name, type and need of each parameter."""
    found: dict[str, list[tuple[str, str, bool]]] = {}
    for row in rows(
        db,
        "select p.proname, a.name, format_type(a.type, null) as type,"
        " a.place <= p.pronargs - p.pronargdefaults as is_needed"
        " from pg_proc as p cross join lateral unnest(p.proargnames[: p.pronargs],"
        " p.proargtypes::oid[]) with ordinality as a (name, type, place)"
        " where p.pronamespace = 'recall'::regnamespace order by p.proname, a.place",
    ):
        if row["proname"] in public_functions(db) - COMMITTING:
            found.setdefault(row["proname"], []).append(
                (row["name"], row["type"], row["is_needed"])
            )
    return {
        function: parameters
        for function, parameters in found.items()
        if any(kind in TEXTS for _, kind, _ in parameters)
    }


def attack(
    db: Connection,
    function: str,
    parameters: list[tuple[str, str, bool]],
    arguments: dict[str, Any],
) -> None:
    """Call it, and take it back."""
    types = {name: kind for name, kind, _ in parameters}
    named = sql.SQL(", ").join(
        sql.SQL("{} => {}::" + types[name]).format(sql.Identifier(name), sql.Placeholder(name))
        for name in arguments
    )
    query = sql.SQL("select * from {}({})").format(sql.Identifier("recall", function), named)
    try:
        with db.transaction(force_rollback=True):
            db.execute(query, arguments).fetchall()
    except psycopg.Error as error:
        if not (error.sqlstate or "").startswith(("RC", "22", "23")):
            raise AssertionError((function, arguments)) from error


# --- without roles


def test_a_schema_without_roles_is_closed_too(db: Connection, dsn: str) -> None:
    """Where no role can be made the owner alone may call: nobody else, not even to look."""
    with login_role(db) as login, as_role(dsn, login) as stranger:
        for statement in (
            "select recall.version()",
            "select count(*) from recall.users",
            "select * from recall.health()",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                stranger.execute(statement.encode())


def test_an_unknown_user_is_nobody(db: Connection, worlds: tuple[World, World]) -> None:
    """Who has nothing sees nothing of those who have."""
    nobody = uuid.uuid4()
    session = open_session(db, nobody)
    for function in ("search", "search_messages", "get_memories", "search_sessions"):
        found = call(db, function, p_user_id=nobody, **(
            {"p_query": BRAVO} if function.startswith("search") else {}))  # fmt: skip
        assert BRAVO not in json.dumps(found, default=str)
    with refused("RC001"):
        call(db, "get_messages", p_user_id=nobody, p_session_id=worlds[1]["session"])
    assert session
