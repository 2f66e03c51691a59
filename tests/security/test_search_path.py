"""Traps in the schemas of the extensions, where others may create objects.

PostgreSQL prefers an exact match in a later schema of the search path over a variadic or
polymorphic function of pg_catalog. So that path holds no schema where others may create.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql

from pgrecall import AgentMemory, schema
from pgrecall.cli._main import _run
from support import append, call, login_role, open_session, our_role, said, value
from support.everyfunction import CALLS, furnish
from support.installing import health, installer, owned_database, use
from support.servers import TestServer
from support.two_users import as_role

Connection = psycopg.Connection[Any]

SMALL = {"embedding_dimensions": 4, "hash_partitions": 2}
TYPES = ("text", "uuid", "integer", "bigint", "jsonb", "double precision", "timestamptz")

# Each matches calls of a variadic or polymorphic function of pg_catalog exactly.
FUNCTION_TRAPS = """
do $traps$
declare
    v_trap record;
    v_made integer := 0;
begin
    for v_trap in
        select f.name, a.arguments
          from (values ('format'), ('concat'), ('jsonb_build_object'), ('jsonb_build_array'),
                       ('num_nulls'), ('num_nonnulls')) as f (name)
         cross join unnest(%(variadic)s::text[]) as a (arguments)
         union all
        select p.proname, array_to_string(array(
                   select case t.typname
                              when 'anyarray' then y.name || '[]'
                              when 'anycompatiblearray' then y.name || '[]'
                              when 'anyelement' then y.name
                              when 'anycompatible' then y.name
                              when 'any' then y.name
                              when 'anynonarray' then y.name
                              else format_type(t.oid, null) end
                     from unnest(p.proargtypes) with ordinality as u (type, place)
                     join pg_type as t on t.oid = u.type
                    order by u.place), ', ')
          from pg_proc as p
         cross join unnest(%(types)s::text[]) as y (name)
         where p.pronamespace = 'pg_catalog'::regnamespace
           and p.prokind in ('f', 'a')
           and exists (select from unnest(p.proargtypes) as u (type)
                        join pg_type as t on t.oid = u.type where t.typname ~ '^any')
    loop
        begin
            execute format(
                'create function %(schema)s.%%I(%%s) returns text language plpgsql as '
                '$f$ begin raise exception ''hijacked by %%s''; end $f$',
                v_trap.name, v_trap.arguments, v_trap.name);
            v_made := v_made + 1;
        exception when duplicate_function or feature_not_supported then
            null; -- the same twice, or a function of the type internal
        end;
    end loop;
    assert v_made > 500, v_made;
end;
$traps$;
"""
OPERATOR_TRAPS = """
do $traps$
declare
    v_trap record;
    v_made integer := 0;
begin
    for v_trap in
        select o.name, l.type as arg_left, r.type as arg_right, row_number() over () as n
          from unnest(array['=', '<>', '<', '>', '<=', '>=', '||', '->', '->>', '@>', '&&', '+',
                            '-', '*', '/', '<=>', '<@', '~', '?', '@@', '^@', '!~', '#>>'])
               as o (name)
         cross join unnest(%(types)s::text[]) as l (type)
         cross join unnest(%(types)s::text[]) as r (type)
         where not exists (
                select
                  from pg_operator as p
                 where p.oprname = o.name and p.oprleft = l.type::regtype
                   and p.oprright = r.type::regtype)
    loop
        execute format(
            'create function %(schema)s.op%%s(%%s, %%s) returns boolean language plpgsql as '
            '$f$ begin raise exception ''hijacked by operator''; end $f$;'
            'create operator %(schema)s.%%s (function = %(schema)s.op%%s, leftarg = %%s,'
            ' rightarg = %%s)',
            v_trap.n, v_trap.arg_left, v_trap.arg_right, v_trap.name, v_trap.n, v_trap.arg_left,
            v_trap.arg_right);
        v_made := v_made + 1;
    end loop;
    assert v_made > 100, v_made;
end;
$traps$;
"""
TYPE_TRAPS = """
create domain %(schema)s.memory_store as pg_catalog.text check (false);
create domain %(schema)s.settings as pg_catalog.text check (false);
create domain %(schema)s.regclass as pg_catalog.text check (false);
create domain %(schema)s.jsonb as pg_catalog.text check (false);
create type %(schema)s.sneaky as enum ('sneaky');
create function %(schema)s.leak(%(schema)s.sneaky) returns pg_catalog.text language plpgsql as
    $f$ begin raise exception 'hijacked by a cast'; end $f$;
create cast (%(schema)s.sneaky as pg_catalog.text) with function %(schema)s.leak(%(schema)s.sneaky)
    as implicit;
"""


def plant(conn: Connection, home: str, *traps: str) -> None:
    """Create the traps in a schema, with the rights of a connection."""
    variadic = [
        ", ".join(types) for count in (1, 2, 3) for types in itertools.product(TYPES, repeat=count)
    ]
    conn.execute("set search_path = pg_catalog")
    for trap in traps:
        conn.execute(_filled(trap, home, variadic))
    conn.execute("reset search_path")


def _filled(trap: str, home: str, variadic: list[str]) -> bytes:
    quoted = sql.Identifier(home).as_string()
    return (
        trap % {"schema": quoted, "types": _array(TYPES), "variadic": _array(variadic)}
    ).encode()


def _array(items: Any) -> str:
    return "array[" + ", ".join(f"'{item}'" for item in items) + "]"


@pytest.fixture
def home(db: Connection) -> str:
    """The schema of pgvector in the module's database."""
    return str(
        value(db, "select extnamespace::regnamespace::text from pg_extension"
                  " where extname = 'vector'")
    )  # fmt: skip


@pytest.fixture
def trapped(db: Connection, dsn: str, home: str) -> Iterator[Connection]:
    """A login that may create in the extensions' schema, has set traps there, and may call us."""
    with login_role(db, member_of=["recall_admin"]) as login:
        db.execute(f"grant create on schema {home} to {login['user']}".encode())
        with as_role(dsn, login) as conn:
            plant(conn, home, FUNCTION_TRAPS, OPERATOR_TRAPS, TYPE_TRAPS)
            yield conn


def test_traps_in_the_extensions_schema_catch_no_call(
    db: Connection, trapped: Connection, home: str
) -> None:
    trapped.execute(f"set search_path = pg_catalog, {home}".encode())
    with pytest.raises(psycopg.errors.RaiseException, match="hijacked by jsonb_build_object"):
        trapped.execute("select jsonb_build_object('a'::text, 'b'::text)::text")
    trapped.execute("set search_path = pg_catalog")
    world = furnish(db, "trapped")
    for asked in CALLS:
        with db.transaction(force_rollback=True):
            db.execute(asked.query.encode(), world).fetchall()
    assert health(db)["search_path"] == "ok"
    call(db, "metrics")


def test_maintenance_of_a_trapped_database_calls_no_trap(
    db: Connection, trapped: Connection
) -> None:
    """The owner and the installer run these."""
    assert trapped.info.user
    for row in call(db, "run_due_maintenance"):
        assert "error" not in str(row), row


def test_statements_of_the_driver_use_no_trap_on_the_path_of_the_database(
    db: Connection, dsn: str, trapped: Connection, home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The owner of a database may set a path, which is that of each new connection."""
    assert trapped.info.user
    name = sql.Identifier(db.info.dbname).as_string()
    for path in (f"{home}, pg_catalog", f"pg_catalog, {home}"):
        db.execute(f"alter database {name} set search_path = {path}".encode())
        try:
            with psycopg.connect(dsn) as conn, pytest.raises(psycopg.errors.RaiseException):
                conn.execute("select jsonb_build_object('a'::text, 'b'::text)::pg_catalog.text")
            for command in ("status", "roles", "doctor", "metrics"):
                assert _run([command, "--dsn", dsn]) in (0, 1), capsys.readouterr().err
            with AgentMemory.connect(dsn, embedder=False) as memory:
                memory.remember("ada", "I like tea")
                assert memory.search("ada", "tea")
                list(memory.privacy.export_user_pieces("ada"))
        finally:
            db.execute(f"alter database {name} reset search_path".encode())
    assert "hijacked" not in "".join(capsys.readouterr())


def test_functions_name_only_catalog_and_recall_in_their_path(db: Connection) -> None:
    paths = db.execute(
        "select distinct c.setting from pg_proc as p, unnest(p.proconfig) as c (setting)"
        " where p.pronamespace = 'recall'::regnamespace and c.setting like 'search\\_path=%'"
    ).fetchall()
    assert paths == [("search_path=pg_catalog, recall, pg_temp",)]


@pytest.mark.parametrize("before", ["nothing", "installed"])
def test_installer_runs_and_uses_no_trap(empty_dsn: str, before: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("create extension vector; create extension pg_trgm")
        home = str(value(conn, "select current_schema()"))
        if before == "installed":
            schema.install(conn, **SMALL)
        plant(conn, home, FUNCTION_TRAPS, OPERATOR_TRAPS, TYPE_TRAPS)
        conn.execute("create schema evil")
        for name in ("name", "text", "timestamptz"):
            conn.execute(
                f"create domain evil.{name} as pg_catalog.{name} check (1 / 0 > 0)".encode()
            )
        conn.execute(f"set search_path = evil, {home}, pg_catalog".encode())
        schema.install(conn, **SMALL)
        conn.execute("set search_path = pg_catalog")
        assert health(conn)["search_path"] == "ok"
        use(conn)


@pytest.mark.parametrize("odd", ["standard_conforming_strings = off", "quote_all_identifiers = on"])
def test_installer_reads_its_own_texts_under_any_setting(empty_dsn: str, odd: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        for _ in ("install", "upgrade"):
            conn.execute(f"set {odd}".encode())
            schema.install(conn, **SMALL)
            assert value(conn, f"show {odd.split()[0]}") == odd.split()[-1]
            conn.execute("reset all")
            assert health(conn)["version"] == "ok"


def test_object_that_the_owner_of_an_extension_adds_to_it_is_refused(fresh: TestServer) -> None:
    """pg_trgm is trusted, so the owner of a database may own the extension, and alter it."""
    with installer(fresh) as login:
        name = fresh.create_database("owned")
        superuser = fresh.dsn(name)
        with psycopg.connect(superuser, autocommit=True) as conn:
            conn.execute("create schema b; create extension vector schema b")
            conn.execute(f"grant usage on schema b to {login['user']}".encode())
            conn.execute(f"grant create on database {name} to {login['user']}".encode())
        with psycopg.connect(fresh.dsn(name, **login), autocommit=True) as conn:
            conn.execute("""
                create schema a;
                create extension pg_trgm schema a;
                create function a.near(b.halfvec, b.halfvec) returns float8 language sql return 0;
                create operator a.<=> (function = a.near, leftarg = b.halfvec,
                                       rightarg = b.halfvec);
                alter extension pg_trgm add function a.near(b.halfvec, b.halfvec);
                alter extension pg_trgm add operator a.<=> (b.halfvec, b.halfvec);
                """)
        with (
            psycopg.connect(superuser, autocommit=True) as conn,
            pytest.raises(schema.InstallError, match=r"would use operator a\.<=>"),
        ):
            schema.install(conn, **SMALL)


def test_schema_that_another_login_has_prepared_is_not_filled_unasked(fresh: TestServer) -> None:
    """Triggers of its owner would run within the transaction of a superuser."""
    with installer(fresh) as login:
        dsn = owned_database(fresh, login)
        superuser = conninfo.make_conninfo(
            dsn, user=conninfo.conninfo_to_dict(fresh.admin_dsn)["user"]
        )
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("create schema recall")
        with psycopg.connect(superuser, autocommit=True) as conn:
            with pytest.raises(schema.InstallError, match="has put into it") as refused:
                schema.install(conn, **SMALL)
            assert refused.value.sqlstate == "RC007"
            assert f"--owner {login['user']}" in str(refused.value.hint)
            schema.install(conn, **SMALL, owner=login["user"])


def test_extensions_do_not_go_into_the_schema_of_another_login(fresh: TestServer) -> None:
    """`"$user"` comes first on the default path, and its owner could drop the extensions."""
    with installer(fresh) as login:
        name = fresh.create_database()
        with psycopg.connect(fresh.dsn(name), autocommit=True) as conn:
            mine = conn.info.user
            conn.execute(f"create schema {mine} authorization {login['user']}".encode())
            schema.install(conn, **SMALL)
            homes = value(
                conn,
                "select array_agg(distinct extnamespace::regnamespace::text)"
                " from pg_extension where extname ~ 'vector|trgm'",
            )
            assert homes == ["public"]


@pytest.mark.parametrize(
    ("trap", "message"),
    [
        (
            """
            create function a.near(b.halfvec, b.halfvec) returns float8 language sql return 0;
            create operator a.<=> (function = a.near, leftarg = b.halfvec, rightarg = b.halfvec);
            """,
            "_cosine_distance.* would use operator a.<=>",
        ),
        ("create domain a.vector as text", "would use type a.vector"),
        (
            "create function a.vector_dims(b.halfvec) returns int language sql return 0",
            r"_vector_dims.* would use function a.vector_dims",
        ),
    ],
    ids=["operator", "type", "function"],
)
def test_trap_that_a_definition_would_use_is_named(empty_dsn: str, trap: str, message: str) -> None:
    """Beside pg_trgm somebody names objects like those of pgvector, which has another schema."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("create schema a; create extension pg_trgm schema a;"
                     "create schema b; create extension vector schema b")  # fmt: skip
        conn.execute(trap.encode())
        with pytest.raises(schema.InstallError, match=message) as refused:
            schema.install(conn, **SMALL)
        assert refused.value.sqlstate == "RC007"
        assert value(conn, "select to_regnamespace('recall') is null")


@pytest.mark.parametrize("odd", ["Extensions", "with space", "dot.ted", 'quo"ted', "apo'strophe"])
def test_schema_of_the_extensions_may_have_any_name(empty_dsn: str, odd: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(sql.SQL("create schema {}").format(sql.Identifier(odd)))
        for extension in ("vector", "pg_trgm"):
            conn.execute(sql.SQL("create extension {} schema {}").format(
                sql.Identifier(extension), sql.Identifier(odd)))  # fmt: skip
        schema.install(conn, **SMALL)
        use(conn)
        schema.install(conn)
        assert health(conn)["search_path"] == "ok"
        call(conn, "metrics")
        user = uuid.uuid4()
        call(conn, "remember", p_user_id=user, p_content="Ada likes tea.", p_embedding="[1,2,3,4]")
        (found,) = call(conn, "search", p_user_id=user, p_query="teas",
                        p_query_embedding="[1,2,3,4]")  # fmt: skip
        assert found["similarity"] == pytest.approx(1, abs=0.001)


@pytest.mark.slow
def test_owner_of_the_database_with_reader_rights_stays_a_reader(fresh: TestServer) -> None:
    """The owner may create in public, rename it, and put another in its place."""
    with installer(fresh) as login:
        dsn = owned_database(fresh, login)
        superuser = conninfo.make_conninfo(
            dsn, user=conninfo.conninfo_to_dict(fresh.admin_dsn)["user"]
        )
        with psycopg.connect(superuser, autocommit=True) as conn:
            schema.install(conn, **SMALL)
            user = uuid.uuid4()
            session = open_session(conn, user)
            append(conn, user, session, said("tea or tulips"))
            call(conn, "remember", p_user_id=user, p_content="Ada likes tea.",
                 p_embedding="[1,2,3,4]")  # fmt: skip
            conn.execute(
                sql.SQL("grant {} to {}").format(
                    sql.Identifier(our_role(conn, "recall_reader")), sql.Identifier(login["user"])
                )
            )
        with psycopg.connect(dsn, autocommit=True) as conn:
            plant(conn, "public", FUNCTION_TRAPS, OPERATOR_TRAPS, TYPE_TRAPS)
            conn.execute("alter schema public rename to elsewhere; create schema public")
            conn.execute("""
                create function public.cosine_distance(elsewhere.halfvec, elsewhere.halfvec)
                returns float8 language plpgsql as
                $f$ begin raise exception 'hijacked by a schema'; end $f$;
                create operator public.<=> (function = public.cosine_distance,
                    leftarg = elsewhere.halfvec, rightarg = elsewhere.halfvec);
                """)
            for statement in (
                "select * from recall.compile_context(%s, %s, 'tea')",
                "select * from recall.search(%s, 'tea', '[1,2,3,4]') where %s is not null",
            ):
                assert conn.execute(statement.encode(), [user, session]).fetchall()
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute("select recall.forget_user(%s)", [user])
