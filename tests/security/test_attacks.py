"""Attacks on the walls between users: careless grants, traps, hostile texts in every parameter."""

from __future__ import annotations

import json
import random
import string
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import count
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from support import (
    append,
    call,
    index_messages,
    login_role,
    open_session,
    refused,
    rows,
    said,
    value,
)
from support.everyfunction import CALLS, World, vector
from support.parameters import (
    Parameter,
    adorned,
    call_with,
    leaves,
    public_parameters,
    replaced,
    sane_arguments,
)
from support.servers import DIMENSIONS
from support.two_users import (
    ALPHA,
    BRAVO,
    FOR_ALL_USERS,
    MATRIX,
    as_role,
    belongings,
    ids_of,
)

Connection = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def calls_of_nobody(dsn: str, worlds: tuple[World, World]) -> list[str]:
    """Return the strings that would reveal a user in an answer: their word and their ids."""
    with psycopg.connect(dsn) as conn:
        ids = ids_of(conn, worlds[1]["user"])
    return [BRAVO, *{str(one) for column in ids.values() for one in column}]


# --- canaries


@pytest.mark.parametrize("role", MATRIX)
@pytest.mark.slow
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
    "\u202e\U0010ffff\ufffe\u0301",
]

NOISE = "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=10_000))
"""It hardly compresses: an entry of an index holds 2,704 bytes."""

ODD: dict[str, list[Any]] = {
    "text": [None, "", " ", "x" * 100_000, NOISE, NOISE[:4000], NOISE[:2600], NOISE[:900]],
    "text[]": [
        None,
        [],
        [None],
        ["", ""],
        ["x" * 9000],
        [NOISE],
        [NOISE[:4000]],
        [NOISE[:2600]],
        [NOISE[:900]] * 3,
    ],
    "integer": [None, -(2**31), 2**31 - 1, 0, -1],
    "bigint": [None, -(2**63), 2**63 - 1, 0, -1],
    "real": [None, "NaN", "Infinity", "-Infinity", "-1", "1e30", "1e-40"],
    "interval": [
        None,
        "-1 day",
        "178000000 years",
        "0",
        "infinity",
        "-infinity",
        "999 years",
        "9999 years",
        "-178000000 years",
        "106751991 days",
        "00:00:00.000001",
    ],
    "timestamp with time zone": [
        None,
        "infinity",
        "-infinity",
        "4713-01-01 BC",
        "294276-12-31",
        "4714-11-24 00:00+00 BC",
        "294276-12-31 23:59:59.999999+00",
        "0001-01-01 12:00+00",
        "0001-12-31 BC",
        "epoch",
        "9999-12-31 09:59+00",
        "1000-01-01 00:00+00",
        "9999-12-30 00:00+00",
    ],
    "boolean": [None],
    "uuid": [None, "00000000-0000-0000-0000-000000000000"],
    "uuid[]": [None, [None], ["ffffffff-ffff-ffff-ffff-ffffffffffff"] * 3],
    "real[]": [None, [None], ["NaN"], ["Infinity"] * 2],
    "double precision[]": [None, [None], ["NaN"], ["Infinity"] * 2, ["1e300"], [[1.0], [2.0]]],
    "bytea": [None, b"", b"\0\xff'\\"],
    "halfvec": [None, "[1]", str([0] * DIMENSIONS)],
    "halfvec[]": [None],
    "recall.provenance": [None],
    "jsonb": [],
}
"""What is no sensible value of a type, but one."""


def nested(depth: int) -> Any:
    item: Any = 1
    for _ in range(depth):
        item = [item]
    return item


ODD_JSON: list[Any] = [
    None, True, -1, 1.5, 1e300, 10**30, 2**63, "", "x" * 5000, "\\", "$$", "%s", "{", "1e400",
    "NaN", "-infinity", "infinity", "0001-01-01T12:00:00Z", "9999-12-31T09:59:00Z", "2030-13-01",
    "4714-11-24 BC", "294276-12-31", -(2**31), 2**63 - 1, "178000000 years", 1e38, {"x": NOISE},
    {NOISE: "x"}, [NOISE], "00000000-0000-0000-0000-00000000000g", [], [None], [[[]]],
    {}, {"a": None}, nested(300), 1e-320, "0" * 400, {"'; --": {"\"": []}},
]  # fmt: skip
"""Of a type that a place in a JSON value does not expect, too large, too small or too deep."""

LARGE: list[Any] = [NOISE[:4000], 2**31 - 1, 2**63 - 1, "4714-11-24 BC", "999 years", []]
"""What each place in a JSON value is attacked with: names that fit no index, and extremes."""

SLOW = {"next_request": 3, "import_user": 40}
"""Of the many places in their documents every so-manieth is attacked."""


def attacks(parameter: Parameter, base: Any, turn: Iterator[int]) -> Iterator[Any]:
    """Yield hostile values of a parameter, in a JSON value one after the other for each place."""
    yield from ODD[parameter.kind]
    if parameter.kind == "text":
        yield from HOSTILE
    elif parameter.kind == "text[]":
        yield from ([text] for text in HOSTILE)
    elif parameter.kind == "jsonb":
        item = base.obj if base is not None else {}
        yield from (Jsonb(odd) for odd in ODD_JSON)
        for text in HOSTILE[::3]:
            yield Jsonb({text: text})
            yield Jsonb([{text: [text]}])
        for path in leaves(item, breadth=1, inner=True):
            yield from (Jsonb(replaced(item, path, odd)) for odd in LARGE)
            yield Jsonb(replaced(item, path, ODD_JSON[next(turn) % len(ODD_JSON)]))
            yield Jsonb(replaced(item, path, HOSTILE[next(turn) % len(HOSTILE)]))


@pytest.mark.slow
def test_hostile_values_in_every_parameter(db: Connection, worlds: tuple[World, World]) -> None:
    """Each parameter of each function, and each place in a JSON value: it works, or a rule of ours
    refuses it.

    An argument never becomes part of a statement: a syntax error or an unknown name would show it.
    The functions validate every value before PostgreSQL would. Only the caller's rows can change.
    """
    mine, theirs = adorned(db, worlds[0]), worlds[1]
    objects = "select count(*) from pg_class where relnamespace = 'recall'::regnamespace"
    before = belongings(db, theirs["user"]), value(db, objects)
    tried, worked, internal, verbose = 0, 0, [], []
    turn = count()
    for function, parameters in public_parameters(db).items():
        for sane in sane_arguments(function, parameters, mine):
            for parameter in parameters:
                given = list(attacks(parameter, sane.get(parameter.name), turn))
                if parameter.kind == "jsonb":
                    given = given[:: SLOW.get(function, 1)]
                for item in given:
                    tried += 1
                    arguments = sane | {parameter.name: item}
                    try:
                        with db.transaction(force_rollback=True):
                            call_with(db, function, parameters, arguments)
                            worked += 1
                    except psycopg.Error as error:
                        context = error.diag.context or ""
                        verbose += [function] * (
                            len(error.diag.message_primary or "") > 400
                            or any(text in context for text in (ALPHA, *HOSTILE))
                        )
                        if not (error.sqlstate or "").startswith("RC"):
                            internal.append(
                                (function, parameter.name, str(item)[:60], str(error)[:300])
                            )
        assert (belongings(db, theirs["user"]), value(db, objects)) == before, function
    assert internal == []
    assert verbose == [], "an error that quotes much, or where it came by"
    assert worked > 600
    assert tried - worked > 600


READING = ("search", "search_messages", "get_memories", "compile_context", "explain_context")


@pytest.mark.slow
def test_hostile_filters_of_who_may_only_call(db: Connection, dsn: str) -> None:
    """A role with EXECUTE and nothing else, in a transaction that reads only: each text finds what
    bears it and nothing else, or is refused where it means nothing."""
    user, session = uuid.uuid4(), {}
    memories, turns = {}, {}
    for text in HOSTILE:
        session[text] = open_session(db, user, p_agent_id=text)
        turns[text] = append(db, user, session[text], said("a note", metadata={text: text}))[0][0]
        (made,) = call(db, "remember", p_user_id=user, p_content=f"a note, {text}", p_tags=[text],
                       p_slot=text, p_agent_id=text, p_metadata={text: text})  # fmt: skip
        memories[text] = made["memory_id"]
    index_messages(db)
    with login_role(db) as login:
        role = sql.Identifier(login["user"])
        db.execute(sql.SQL("grant usage on schema recall to {}").format(role))
        for function in READING:
            db.execute(sql.SQL("grant execute on function {} to {}").format(
                sql.Identifier("recall", function), role))  # fmt: skip
        with as_role(dsn, login) as conn:
            conn.execute("set default_transaction_read_only = on")
            ask = partial(call, conn, p_user_id=user)
            for text in HOSTILE:
                asked = {"p_session_id": session[text], "p_query": "note"}
                for found_by in ({"tags_any": [text]}, {"tags_all": [text]}, {"slots": [text]},
                                 {"agent_id": text}, {"metadata": {text: text}}):  # fmt: skip
                    (hit,) = ask("search", p_query="note", p_filter=found_by)
                    (row,) = ask("get_memories", p_filter=found_by)
                    (why,) = ask("explain_context", **asked, p_options={"filter": found_by})
                    (made,) = ask("compile_context", **asked, p_options={"filter": found_by})
                    (used,) = made["compile_context"]["memories"]
                    ids = {hit["memory_id"], row["memory_id"], why["memory_id"],
                           uuid.UUID(used["id"])}  # fmt: skip
                    assert ids == {memories[text]}, (text, found_by)
                for found_by in ({"agent_id": text}, {"metadata": {text: text}}):
                    (turn,) = ask("search_messages", p_query="note", p_filter=found_by)
                    assert turn["message_id"] == turns[text], (text, found_by)
                for wrong in ({text: text}, {"scopes": text}, {"tiers": [text]}, {"limit": text},
                              {"provenance": [text]}, {"session_id": text}, {"valid_at": text},
                              {"observed_after": text}, {"metadata": text}):  # fmt: skip
                    for function in ("search", "get_memories"):
                        with refused("RC003"):
                            ask(function, p_filter=wrong)
                    for function in ("compile_context", "explain_context"):
                        with refused("RC003"):
                            ask(function, **asked, p_options={"filter": wrong})
                for wrong in ({text: text}, {"roles": [text]}, {"since": text}, {"until": text},
                              {"session_id": text}, {"metadata": text}):  # fmt: skip
                    with refused("RC003"):
                        ask("search_messages", p_query="note", p_filter=wrong)


def test_what_was_last_used_very_long_ago_is_still_found(db: Connection) -> None:
    """Its freshness is nothing, and no error: neither by words nor by a vector alone."""
    user = uuid.uuid4()
    call(db, "remember", p_user_id=user, p_content="likes tea", p_embedding=vector(1))
    db.execute("update recall.memory_store set created_at = created_at - interval '300 years'"
               " where user_id = %s", [user])  # fmt: skip
    for asked in ({"p_query": "tea"}, {"p_query_embedding": vector(1)},
                  {"p_query": "tea", "p_query_embedding": vector(1)}):  # fmt: skip
        (found,) = call(db, "search", p_user_id=user, **asked)
        assert found["freshness"] == pytest.approx(0, abs=1e-9)


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
    """A user without data sees nothing of other users."""
    nobody = uuid.uuid4()
    session = open_session(db, nobody)
    for function in ("search", "search_messages", "get_memories", "search_sessions"):
        found = call(db, function, p_user_id=nobody, **(
            {"p_query": BRAVO} if function.startswith("search") else {}))  # fmt: skip
        assert BRAVO not in json.dumps(found, default=str)
    with refused("RC001"):
        call(db, "get_messages", p_user_id=nobody, p_session_id=worlds[1]["session"])
    assert session
