"""Rights of each role: grants, identity, isolation of users, hijacked search paths."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import conninfo

from pgrecall.errors import ConfigurationError
from support import append, call, login_role, open_session, our_role, refused, rows, said, value
from support.everyfunction import CALLS, Call, World, public_functions
from support.two_users import (
    BRAVO,
    FOR_ALL_USERS,
    MATRIX,
    Login,
    answer,
    as_role,
    belongings,
    least_role,
    tables_of_users,
)

Connection = psycopg.Connection[Any]

# --- rights


def test_each_role_may_call_exactly_the_functions_of_the_matrix(db: Connection) -> None:
    """Exactly these: nothing that is internal, nothing for anybody else."""
    public = public_functions(db)
    assert public == MATRIX["recall_admin"], "a function without a line here"
    for role, functions in MATRIX.items():
        granted = rows(
            db,
            "select p.proname from pg_proc as p where p.pronamespace = 'recall'::regnamespace"
            " and has_function_privilege(%s::regrole, p.oid, 'execute')",
            [our_role(db, role)],
        )
        assert {row["proname"] for row in granted} == functions, role


def test_nothing_is_for_the_public(db: Connection) -> None:
    open_objects = rows(
        db,
        """
        select p.oid::regprocedure::text as object
          from pg_proc as p
         cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
         where p.pronamespace = 'recall'::regnamespace and a.grantee = 0
        union all
        select c.oid::regclass::text
          from pg_class as c
         cross join lateral aclexplode(c.relacl) as a
         where c.relnamespace = 'recall'::regnamespace and a.grantee = 0
        union all
        select n.nspname
          from pg_namespace as n
         cross join lateral aclexplode(n.nspacl) as a
         where n.nspname = 'recall' and a.grantee = 0
        """,
    )
    assert open_objects == []


@pytest.mark.parametrize("asked", CALLS, ids=str)
def test_the_least_role_suffices(
    dsn: str, worlds: tuple[World, World], logins: dict[str, Login], asked: Call
) -> None:
    """The role below does not suffice. A reader's functions work in a read-only transaction."""
    role = least_role(asked.function)
    with as_role(dsn, logins[role]) as conn, conn.transaction(force_rollback=True):
        if role == "recall_reader":
            conn.execute("set transaction read only")
        answer(conn, asked, worlds[0])
    weaker = ["nobody", *MATRIX]
    below = weaker[weaker.index(role) - 1]
    with (
        as_role(dsn, logins[below]) as conn,
        refused("42501", "permission denied for"),
    ):
        answer(conn, asked, worlds[0])


def test_no_role_writes_a_table(db: Connection, dsn: str, logins: dict[str, Login]) -> None:
    """Only recall_reader was granted something: to read the parents."""
    granted = rows(
        db,
        "select distinct a.grantee::regrole::text as role, a.privilege_type as right,"
        " c.relispartition as is_leaf from pg_class as c"
        " cross join lateral aclexplode(c.relacl) as a"
        " where c.relnamespace = 'recall'::regnamespace and a.grantee <> c.relowner",
    )
    reader = our_role(db, "recall_reader")
    assert granted == [{"role": reader, "right": "SELECT", "is_leaf": False}]
    for name, login in logins.items():
        with as_role(dsn, login) as conn:
            for statement in (
                "delete from recall.users",
                "truncate recall.jobs",
                "update recall.settings set extraction = 'none'",
                "create table recall.mine (id int)",
                "select recall._lock_user_and_bump_revision(gen_random_uuid())",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    conn.execute(statement.encode())
            if name != "recall_reader":
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    conn.execute("select * from recall.users")


# --- identity


def test_calls_without_a_user_are_refused(db: Connection, worlds: tuple[World, World]) -> None:
    for asked in CALLS:
        if asked.of_user:
            with refused("RC003", "p_user_id is null"):
                answer(db, asked, worlds[0] | {"user": None})


def test_call_for_another_identity_is_refused_before_any_read(
    db: Connection, worlds: tuple[World, World]
) -> None:
    """recall.user_id holds for the transaction; it is compared before anything is looked at."""
    mine, theirs = worlds
    for asked in CALLS:
        if not asked.of_user and asked.function != "ensure_user":
            continue
        with (
            refused("RC006", "is not the user of this transaction"),
            db.transaction(),
        ):
            db.execute("select set_config('recall.user_id', %s, true)", [str(theirs["user"])])
            answer(db, asked, mine)
        with db.transaction(force_rollback=True):
            db.execute("select set_config('recall.user_id', %s, true)", [str(mine["user"])])
            answer(db, asked, mine)
    assert value(db, "select current_setting('recall.user_id', true)") in ("", None)


@pytest.mark.parametrize("identity", ["nonsense", "' or true --", "00000000"])
def test_an_identity_that_is_no_user(
    db: Connection, worlds: tuple[World, World], identity: str
) -> None:
    with refused("RC006"), db.transaction():
        db.execute("select set_config('recall.user_id', %s, true)", [identity])
        call(db, "get_profile", p_user_id=worlds[0]["user"])


# --- two users


@pytest.mark.parametrize("asked", [c for c in CALLS if c.of_user], ids=str)
def test_a_call_sees_and_changes_one_user(
    db: Connection, worlds: tuple[World, World], asked: Call
) -> None:
    mine, theirs = worlds
    before = belongings(db, theirs["user"])
    with db.transaction(force_rollback=True):
        assert BRAVO not in answer(db, asked, mine)
        assert belongings(db, theirs["user"]) == before


@pytest.mark.parametrize(
    "asked", [c for c in CALLS if not c.of_user and c.function not in FOR_ALL_USERS], ids=str
)
def test_a_call_for_nobody_shows_nobody(
    db: Connection, worlds: tuple[World, World], asked: Call
) -> None:
    with db.transaction(force_rollback=True):
        assert BRAVO not in answer(db, asked, worlds[0])


# --- the second wall


def test_a_reader_sees_the_user_of_the_transaction(
    db: Connection, dsn: str, worlds: tuple[World, World], logins: dict[str, Login]
) -> None:
    mine, theirs = worlds
    full = 0
    with as_role(dsn, logins["recall_reader"]) as reader:
        for table in tables_of_users(db):
            counted = f"select count(*) from {table}"
            assert value(reader, counted) == 0, f"{table} without an identity"
            for world in (mine, theirs):
                with reader.transaction():
                    reader.execute(
                        "select set_config('recall.user_id', %s, true)", [str(world["user"])]
                    )
                    users = rows(reader, f"select distinct user_id from {table}")
                    seen = value(reader, counted)
                assert {row["user_id"] for row in users} <= {world["user"]}, table
                assert seen == value(db, f"{counted} where user_id = %s", [world["user"]]), table
                full += bool(seen)
            reader.execute("set recall.user_id = ''")
            assert value(reader, counted) == 0, table
        assert full >= 26, "thirteen tables with rows of both"
        for table in ("settings", "models", "system_prompts", "migrations", "erasures"):
            assert value(reader, f"select count(*) from recall.{table}") == 0
        leaf = value(db, "select recall._hash_leaf('recall.users', %s)::text", [mine["user"]])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(f"select * from {leaf}".encode())


def test_a_careless_grant_shows_nothing(
    db: Connection, dsn: str, worlds: tuple[World, World]
) -> None:
    """Neither of the tables, nor of a leaf, nor of a leaf that is made later."""
    mine = worlds[0]
    with login_role(db) as login:
        name = login["user"]
        db.execute(f"grant usage on schema recall to {name}".encode())
        db.execute(
            f"alter default privileges in schema recall grant select on tables to {name}".encode()
        )
        owner = value(db, "select nspowner::regrole::text from pg_namespace"
                          " where nspname = 'recall'")  # fmt: skip
        db.execute(
            f"alter default privileges for role {owner} in schema recall"
            f" grant select on tables to {name}".encode()
        )
        append(db, mine["user"], mine["session"], said("old", created_at="2025-12-31T00:00:00Z"))
        db.execute("select recall.ensure_partitions(p_as_of => now() + interval '9 months')")
        db.execute(f"grant select on all tables in schema recall to {name}".encode())
        found = rows(
            db,
            "select c.oid::regclass::text as name from pg_class as c"
            " where c.relnamespace = 'recall'::regnamespace and c.relkind in ('r', 'p')",
        )
        with as_role(dsn, login) as careless:
            for identity in ("", str(mine["user"])):
                careless.execute("select set_config('recall.user_id', %s, false)", [identity])
                for table in found:
                    assert value(careless, f"select count(*) from {table['name']}") == 0, table
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                careless.execute("set row_security = off; select count(*) from recall.users")


# --- hijacks


@contextmanager
def attacker(db: Connection, dsn: str) -> Iterator[Connection]:
    """A login role that may call everything, with a schema of traps in front of its search path.

    For every function that our functions call there is one of the same name and arguments, or of
    closer ones, that raises; for common operators too; and a temporary table for each of ours.
    """
    name = conninfo.conninfo_to_dict(dsn)["dbname"]
    with login_role(db, member_of=["recall_admin"]) as login:
        db.execute(f"create schema evil authorization {login['user']}".encode())
        db.execute(f'grant temporary on database "{name}" to {login["user"]}'.encode())
        with as_role(dsn, login) as conn:
            conn.execute(TRAPS.encode())
            conn.execute("set search_path = evil, pg_temp, pg_catalog, recall, public")
            yield conn


TRAPS = r"""
do $traps$
declare
    v_function record;
    v_operator record;
    v_table    record;
    v_made     integer := 0;
begin
    for v_function in
        select p.proname, pg_get_function_identity_arguments(p.oid) as arguments,
               pg_get_function_result(p.oid) as result
          from pg_proc as p
          join pg_namespace as n on n.oid = p.pronamespace
         where p.prokind = 'f'
           and n.nspname in ('pg_catalog', 'public', 'recall')
           and exists (
                   select from pg_proc as r
                    where r.pronamespace = 'recall'::regnamespace
                      and (r.prosrc ~ ('\m' || p.proname || '\(')
                           or p.pronamespace = r.pronamespace))
    loop
        begin
            execute format(
                'create function evil.%I(%s) returns %s language plpgsql as '
                '$f$ begin raise exception ''hijacked by %s''; end $f$',
                v_function.proname, v_function.arguments, v_function.result, v_function.proname);
            v_made := v_made + 1;
        exception when others then null;
        end;
    end loop;
    if v_made < 100 then
        raise exception 'only % traps', v_made;
    end if;

    -- closer than the variadic ones and the polymorphic ones
    for v_function in
        select * from (values ('format', 'text, text'), ('format', 'text, uuid'),
                              ('format', 'text, text, text'), ('format', 'text, integer'),
                              ('concat_ws', 'text, text, uuid, text, uuid'),
                              ('jsonb_build_object', 'text, text'),
                              ('jsonb_build_object', 'text, integer'),
                              ('coalesce', 'text, text'), ('array_length', 'uuid[], integer'),
                              ('cardinality', 'uuid[]'), ('unnest', 'uuid[]'),
                              ('hashtextextended', 'text, integer'),
                              ('least', 'integer, integer'), ('jsonb_agg', 'jsonb')
                      ) as v (proname, arguments)
    loop
        execute format(
            'create function evil.%I(%s) returns text language plpgsql as '
            '$f$ begin raise exception ''hijacked by %s''; end $f$',
            v_function.proname, v_function.arguments, v_function.proname);
    end loop;

    for v_operator in
        select o.oprname, format_type(o.oprleft, null) as arg_left,
               format_type(o.oprright, null) as arg_right, format_type(o.oprresult, null) as result,
               row_number() over () as n
          from pg_operator as o
          join pg_namespace as n on n.oid = o.oprnamespace
         where n.nspname in ('pg_catalog', 'public')
           and o.oprleft <> 0
           and o.oprname in ('=', '<>', '<', '>', '<=', '>=', '||', '->', '->>', '@>', '&&', '+',
                             '-', '*', '/', '<=>', '<@', '~', '?', '@@')
           and (o.oprleft::regtype::text in ('uuid', 'text', 'integer', 'bigint', 'jsonb', 'real',
                    'double precision', 'timestamp with time zone', 'interval', 'bytea',
                    'text[]', 'uuid[]', 'halfvec', 'tsvector', 'int4range', 'boolean'))
    loop
        begin
            execute format(
                'create function evil.op%s(%s, %s) returns %s language plpgsql as '
                '$f$ begin raise exception ''hijacked by operator''; end $f$;'
                'create operator evil.%s (function = evil.op%s, leftarg = %s, rightarg = %s)',
                v_operator.n, v_operator.arg_left, v_operator.arg_right, v_operator.result,
                v_operator.oprname, v_operator.n, v_operator.arg_left, v_operator.arg_right);
        exception when others then null;
        end;
    end loop;

    for v_table in
        select c.relname
          from pg_class as c
         where c.relnamespace = 'recall'::regnamespace
           and c.relkind in ('r', 'p')
           and not c.relispartition
    loop
        execute format('create temporary table %I (user_id uuid, evil text)', v_table.relname);
    end loop;
    create temporary table pg_class (oid oid, evil text);
    create temporary table pg_proc (oid oid, evil text);
end;
$traps$;
"""


# Types named like those that our functions cast to come first in the search path. Casts lead from
# the attacker's own type to the types of parameters.
TYPE_TRAPS = """
create domain evil.uuid as pg_catalog.text check (false);
create domain evil.text as pg_catalog.text check (false);
create domain evil.jsonb as pg_catalog.text check (false);
create domain evil.halfvec as pg_catalog.text check (false);
create domain evil.timestamptz as pg_catalog.text check (false);
create domain evil.regclass as pg_catalog.text check (false);
create domain pg_temp.uuid as pg_catalog.text check (false);
create domain pg_temp.halfvec as pg_catalog.text check (false);
create type evil.memory_store as (user_id pg_catalog.text);
create type evil.provenance as enum ('evil');
create type evil.memory_tier as enum ('evil');
create type evil.mine as enum ('sneaky');
create function evil.leak(evil.mine) returns pg_catalog.text language plpgsql as
    $f$ begin raise exception 'hijacked by a cast as %', current_user; end $f$;
create cast (evil.mine as pg_catalog.text) with function evil.leak(evil.mine) as implicit;
"""


@pytest.mark.slow
def test_nothing_of_a_callers_search_path_is_called(
    db: Connection, dsn: str, worlds: tuple[World, World]
) -> None:
    """Unqualified names in our functions resolve to objects of pg_catalog, ours or pgvector's."""
    with attacker(db, dsn) as conn:
        # the trap works where the path is the caller's
        with pytest.raises(psycopg.errors.RaiseException, match="hijacked"):
            conn.execute("select version()")
        conn.execute(TYPE_TRAPS.encode())
        operators = (
            "select count(*) from pg_catalog.pg_operator where oprnamespace = %s::regnamespace"
        )
        assert value(db, operators, ["evil"]) > 100
        for asked in CALLS:
            query = asked.query.replace("::uuid", "::pg_catalog.uuid")
            for name in ("now()", "gen_random_uuid()"):
                query = query.replace(name, f"pg_catalog.{name}")
            with conn.transaction(force_rollback=True):
                conn.execute(query.encode(), worlds[0]).fetchall()
        user = uuid.uuid4()
        made = conn.execute(
            "select recall.open_session(%s, 'gpt-4o', p_title => 'mine')", [user]
        ).fetchone()
        assert made is not None
        # his own cast runs before the call, with his own rights; those of others' types are not his
        with pytest.raises(psycopg.errors.RaiseException, match=f"as {conn.info.user}"):
            conn.execute("select recall.user_id('sneaky'::evil.mine)")
        for statement in (
            "create cast (pg_catalog.text as recall.provenance) with inout as implicit",
            "create function recall.user_id(evil.mine) returns int language sql return null",
            "alter function recall.version() reset all",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(statement.encode())
        # what is not SECURITY DEFINER calls nothing of his path either
        conn.execute("call recall.maintain('expire_working')")
        for function in ("schedule_maintenance", "unschedule_maintenance"):
            try:
                conn.execute(f"select * from recall.{function}()".encode())
            except ConfigurationError:
                continue  # there is no pg_cron
    with_session = rows(db, "select session_id from recall.sessions where user_id = %s", [user])
    assert [row["session_id"] for row in with_session] == [made[0]]
    db.execute("drop schema if exists evil cascade")


ODD_SETTINGS = {
    "row_security": "off",
    "plan_cache_mode": "force_custom_plan",
    "standard_conforming_strings": "on",
    "quote_all_identifiers": "on",
    "bytea_output": "escape",
    "datestyle": "SQL, DMY",
    "intervalstyle": "sql_standard",
    "timezone": "Asia/Kathmandu",
    "extra_float_digits": "-15",
    "default_text_search_config": "pg_catalog.simple",
    "xmlbinary": "hex",
    "transform_null_equals": "on",
    "array_nulls": "off",
    "search_path": "pg_temp",
    "statement_timeout": "60s",
    "enable_seqscan": "off",
    "enable_nestloop": "off",
    "jit": "off",  # in PostgreSQL 17 what is disabled costs so much that it would be compiled
}


@pytest.mark.slow
def test_a_callers_settings_change_nothing(
    db: Connection, dsn: str, worlds: tuple[World, World]
) -> None:
    """Dates are read as UTC, bytes and numbers as they are, whatever the connection prefers."""
    plain = psycopg.connect(dsn, autocommit=True)
    odd = psycopg.connect(dsn, autocommit=True)
    for name, word in ODD_SETTINGS.items():
        odd.execute("select set_config(%s, %s, false)", [name, word])
    for asked in CALLS:
        found = []
        for conn in (plain, odd):
            with conn.transaction(force_rollback=True):
                # as text: how a date or a number is shown is the caller's
                query = f"select x::text from ({asked.query}) as x"
                found.append(len(conn.execute(query.encode(), worlds[0]).fetchall()))
        # how many tasks a call gets done, and of what there are figures, is a matter of time
        assert found[0] == found[1] or asked.function in {"run_due_maintenance", "metrics"}, asked
    user = uuid.uuid4()
    session = odd.execute("select recall.open_session(%s, 'gpt-4o')", [user]).fetchone()[0]  # type: ignore[index]
    odd.execute(
        'select * from recall.append_messages(%s, %s, \'[{"role": "user", "content": "x",'
        ' "created_at": "2024-05-04 03:02:01"}]\')',
        [user, session],
    )
    assert value(plain, "select created_at from recall.conversation_history where user_id = %s",
                 [user]) == datetime(2024, 5, 4, 3, 2, 1, tzinfo=UTC)  # fmt: skip
    plain.close()
    odd.close()


# --- fuzz

odd_texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40
) | st.sampled_from(
    [
        "'", '"', "\\", "%", "%s", "$$", "$1", "'; drop table recall.users; --", "{}", "[]", "null",
        "{'a'}", "a,b", '{"a":1}', "(", ":*", "& |", "!", "<->", "a:b", "\u202e", "🎉", "ß", "İ",
        "\t\n", "\\x00", "()", "*", "a & ! b", "'a' | :A", "E'\\n'", "/*", "--",
    ]
)  # fmt: skip


@settings(max_examples=25)
@given(text=odd_texts, other=odd_texts)
@pytest.mark.slow
def test_odd_texts_are_texts(dsn: str, text: str, other: str) -> None:
    """In every place that takes a text of the caller's it comes back as it was, or is refused."""
    with psycopg.connect(dsn, autocommit=True) as db, db.transaction(force_rollback=True):
        user = value(
            db, "select recall.ensure_user(%s, %s)", [f"x{text}", json.dumps({text: other})]
        )
        session = open_session(
            db, user, p_model_id=text, p_system_prompt=other, p_title=text, p_agent_id=other,
            p_metadata={text: {other: text}},
        )  # fmt: skip
        append(db, user, session, [*said(text, name=other, metadata={other: text}), *said(other)])
        call(db, "annotate_message", p_user_id=user, p_session_id=session, p_turn_index=1,
             p_patch={f"_{text}": other})  # fmt: skip
        (shown,) = call(db, "get_session", p_user_id=user, p_session_id=session)
        assert (shown["title"], shown["system_prompt"]) == (text, other)
        assert shown["metadata"][text] == {other: text}
        second, first = call(db, "get_messages", p_user_id=user, p_session_id=session)
        assert (first["content"], second["content"]) == (text, other)
        assert first["metadata"] == {other: text, f"_{text}": other}
        call(db, "put_working", p_user_id=user, p_session_id=session, p_task_id=text, p_key=other,
             p_value={other: text})  # fmt: skip
        (working,) = call(db, "get_working", p_user_id=user, p_session_id=session, p_task_id=text)
        assert working["get_working"] == {other: {other: text}}
        # searching for anything is no error
        for function in ("search", "search_messages"):
            call(db, function, p_user_id=user, p_query=text)
        call(db, "compile_context", p_user_id=user, p_session_id=session, p_query=text)
        (made,) = call(db, "remember", p_user_id=user, p_content=f"a {text}", p_tags=[text],
                       p_metadata={text: other}, p_agent_id=other)  # fmt: skip
        for wanted in (
            {"tags_any": [text]},
            {"tags_all": [text]},
            {"metadata": {text: other}},
            {"agent_id": other},
        ):
            found = call(db, "get_memories", p_user_id=user, p_filter=wanted)
            assert [row["memory_id"] for row in found] == [made["memory_id"]]
            assert found[0]["content"] == f"a {text}"
        for call_with_text in (
            lambda: call(db, "list_sessions", p_user_id=user, p_status=text),
            lambda: call(db, "get_memories", p_user_id=user, p_filter={text: other}),
            lambda: call(db, "enqueue_job", p_user_id=user, p_kind=text),
            lambda: call(db, "configure", p_changes={text: other}),
            lambda: call(db, "configure", p_changes={"extraction": f"-{text}"}),
        ):
            with refused("RC003"), db.transaction():
                call_with_text()
