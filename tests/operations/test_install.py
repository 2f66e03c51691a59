"""Installation by every route: the same catalog, by whom ever, several at once, interrupted."""

from __future__ import annotations

import random
import re
import shutil
import tempfile
import threading
import time
import uuid
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql

from pgrecall import schema
from pgrecall.embedded import EmbeddedServer
from pgrecall.schema import InstallError
from support import (
    append,
    call,
    do_job,
    finding,
    login_role,
    open_session,
    raise_errors,
    refused,
    rows,
    run,
    said,
    together,
    value,
)
from support.installing import (
    AS_PG_CRON,
    ROLES,
    ROOT,
    SMALL,
    broken_rules,
    drop_our_roles,
    exists,
    health,
    install_by_driver,
    install_by_psql,
    installer,
    our_roles,
    owned_database,
    psql,
    use,
)
from support.invariants import check_invariants
from support.servers import TestServer

Connection = psycopg.Connection[Any]


# --- tools


def install_by_one_file(dsn: str, **sizes: int) -> None:
    """As a migration tool without psql's commands sends it: within a transaction of its own."""
    with psycopg.connect(dsn) as conn:
        for name, size in sizes.items():
            conn.execute("select set_config(%s, %s, false)", [f"recall.{name}", str(size)])
        conn.execute(schema.one_file().encode())


ROUTES = {
    "psql": install_by_psql,
    "driver": install_by_driver,
    "one file": install_by_one_file,
}


def catalog(dsn: str, *more: str) -> str:
    """Return everything that pg_dump says of a database's objects, rights and comments included."""
    done = run("pg_dump", dsn, "--schema-only", *more)
    assert done.returncode == 0, done.stderr
    # what pg_dump says of itself, a random word against injection, and the version that PostgreSQL
    # 17.12 keeps of a column
    return re.sub(
        r"(?m)^(-- Dumped .*|\\(un)?restrict .*|ALTER TABLE .* SET \(pg_attver=\d+\);)\n", "",
        done.stdout,
    )  # fmt: skip


REGISTRIES = ("settings", "models", "memory_kinds", "maintenance_tasks")


def registries(conn: Connection) -> dict[str, list[dict[str, Any]]]:
    found = {name: rows(conn, f"select * from recall.{name} order by 1") for name in REGISTRIES}
    found["migrations"] = rows(conn, "select version, checksum from recall.migrations order by 1")
    return found


def snapshot(dsn: str) -> tuple[str, dict[str, list[dict[str, Any]]]]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        return catalog(dsn), registries(conn)


# --- the routes


@pytest.mark.slow
def test_every_route_gives_the_same_catalog(server: TestServer) -> None:
    """Once and twice, whatever search path, time zone and date style the installer has."""
    results = {}
    for route, install in ROUTES.items():
        name = server.create_database("route")
        dsn = server.dsn(name)
        install(dsn, **SMALL)
        results[route, "once"] = snapshot(dsn)
        with psycopg.connect(dsn, autocommit=True) as conn:
            for setting, word in (
                ("search_path", "nowhere"),
                ("timezone", "Asia/Tokyo"),
                ("datestyle", "SQL, DMY"),
                ("intervalstyle", "sql_standard"),
                ("bytea_output", "escape"),
                ("standard_conforming_strings", "on"),
            ):
                conn.execute(
                    sql.SQL("alter database {} set {} = {}").format(
                        sql.Identifier(name), sql.Identifier(setting), sql.Literal(word)
                    )
                )
        install(dsn)
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(sql.SQL("alter database {} reset all").format(sql.Identifier(name)))
        results[route, "twice"] = snapshot(dsn)
        server.drop_database(name)
    first = results["psql", "once"]
    assert "CREATE FUNCTION recall.append_messages" in first[0]
    for which, result in results.items():
        assert result[0] == first[0], which
        assert result[1] == first[1], which


def test_an_upgrade_replaces_functions_that_returned_tables(empty_dsn: str) -> None:
    """PostgreSQL keeps the type of a result when a function is replaced."""
    install_by_driver(empty_dsn, **SMALL)
    result = "select pg_get_function_result('recall.get_session(uuid, uuid)'::regprocedure)"
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("set role recall_owner")
        conn.execute("drop function recall.get_session(uuid, uuid)")
        conn.execute("create function recall.get_session(p_user_id uuid, p_session_id uuid)"
                     " returns table (user_id uuid, session_id uuid)"
                     " begin atomic select p_user_id, p_session_id; end")  # fmt: skip
    install_by_psql(empty_dsn)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert value(conn, result) == "SETOF recall.session_row"


@pytest.mark.slow
def test_an_upgrade_turns_removed_settings_into_constants(empty_dsn: str) -> None:
    """Columns and overrides go; a warning tells values that differ from the constant."""
    install_by_driver(empty_dsn, **SMALL)
    user, other = uuid.uuid4(), uuid.uuid4()
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        before = catalog(empty_dsn)
        # PostgreSQL 17 refuses a column with a default where a function uses the row type
        for old_column, default in (
            ("top_memories integer", "20"),
            ("cache_stable_step real", "0.5"),
            ("job_backoff_cap interval", "'1 hour'"),
        ):
            name = old_column.split()[0]
            conn.execute(f"alter table recall.settings add {old_column}".encode())
            conn.execute(f"alter table recall.settings alter {name} set default {default}".encode())
            conn.execute(f"update recall.settings set {name} = default".encode())
            conn.execute(f"alter table recall.settings alter {name} set not null".encode())
        conn.execute("alter table recall.settings add constraint settings_of_old_check"
                     " check (top_memories > 0 and extract_batch > 0)")  # fmt: skip
        conn.execute("update recall.settings set top_memories = 7, configured = '{top_memories}'")
        for each, overrides in ((user, {"scoring": "classic"}), (other, {"secrets": "mask"})):
            call(conn, "configure_user", p_user_id=each, p_changes=overrides)
        conn.execute("update recall.users set overrides = overrides || '{\"split_facts\": 9}'"
                     " where user_id = %s", [user])  # fmt: skip
    done = psql(empty_dsn, ROOT / "sql" / "install.sql")
    assert done.returncode == 0, done.stderr
    assert "setting top_memories was 7, and is the constant 20 in recall._context_limits" in (
        done.stderr
    )
    assert "overrides of 1 users" in done.stderr
    assert "cache_stable_step" not in done.stderr
    assert catalog(empty_dsn) == before
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert value(conn, "select configured from recall.settings") == []
        assert rows(conn, "select overrides from recall.users order by overrides ? 'scoring'") == [
            {"overrides": {"secrets": "mask"}}, {"overrides": {"scoring": "classic"}},
        ]  # fmt: skip
    install_by_psql(empty_dsn)


@pytest.mark.slow
def test_an_upgrade_follows_changed_defaults_unless_configured(empty_dsn: str) -> None:
    install_by_driver(empty_dsn, **SMALL)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        before = catalog(empty_dsn)
        call(conn, "configure", p_changes={"merge_above": 4, "durable_confidence": 0.6})
        conn.execute(
            "alter table recall.settings"
            " alter near_duplicate_distance set default 0.08,"
            " alter merge_above set default 4, alter merge_batch set default 30,"
            " alter durable_confidence set default 0.5,"
            " alter job_max_attempts drop not null,"
            " drop constraint settings_recall_floor_check,"
            " add constraint settings_recall_floor_check check (recall_floor > 0)"
        )
        conn.execute("update recall.settings set near_duplicate_distance = 0.08")
    install_by_psql(empty_dsn)
    assert catalog(empty_dsn) == before
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert rows(conn, "select near_duplicate_distance, merge_above, merge_batch,"
                          " durable_confidence, configured from recall.settings") == [{
            "near_duplicate_distance": pytest.approx(0.2),  # followed: nobody has set it
            "merge_above": 4,  # set to the former default
            "merge_batch": 20,
            "durable_confidence": pytest.approx(0.6),
            "configured": ["durable_confidence", "merge_above"],
        }]  # fmt: skip


@pytest.mark.slow
def test_an_upgrade_keeps_what_was_configured(empty_dsn: str) -> None:
    install_by_driver(empty_dsn, **SMALL)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        call(conn, "configure", p_changes={"extraction": "verbatim", "session_ttl": "7 days"})
        call(conn, "register_model", p_model_id="gpt-4o", p_context_window_size=5, p_input_price=1)
        call(conn, "register_kind", p_kind="fact", p_description="mine")
        conn.execute("update recall.maintenance_tasks set schedule = '1 1 1 1 1'")
        before = registries(conn)
    install_by_psql(empty_dsn, embedding_dimensions=4)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert registries(conn) == before
    install_by_psql(empty_dsn, history_months_ahead=5)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert value(conn, "select history_months_ahead from recall.settings") == 5
        check_invariants(conn)


def test_installation_has_the_default_sizes(empty_dsn: str) -> None:
    install_by_psql(empty_dsn)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        (settings,) = rows(conn, "select * from recall.settings")
        assert {name: settings[name] for name in SMALL} == {
            "embedding_dimensions": 1536,
            "hash_partitions": 8,
            "history_months_ahead": 3,
        }


@pytest.mark.parametrize(
    ("route", "change"),
    [
        ("psql", {"embedding_dimensions": 5}),
        ("driver", {"hash_partitions": 1}),
        ("one file", {"embedding_dimensions": 5, "hash_partitions": 1}),
    ],
)
@pytest.mark.slow
def test_a_changed_size_is_refused(empty_dsn: str, route: str, change: dict[str, int]) -> None:
    install_by_driver(empty_dsn, **SMALL)
    before = snapshot(empty_dsn)
    words = "installed with 4 dimensions and 2 hash partitions, not"
    if route == "psql":
        done = psql(empty_dsn, ROOT / "sql" / "install.sql", **change)
        assert done.returncode != 0
        assert words in done.stderr
    else:
        with pytest.raises((InstallError, psycopg.Error), match=words) as caught:
            ROUTES[route](empty_dsn, **change)
        assert caught.value.sqlstate == "RC007"
    assert snapshot(empty_dsn) == before


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("embedding_dimensions", "0"),
        ("embedding_dimensions", "-1"),
        ("embedding_dimensions", "16001"),
        ("embedding_dimensions", "many"),
        ("embedding_dimensions", "1e3"),
        ("embedding_dimensions", " 4"),
        ("embedding_dimensions", "4; drop table x"),
        ("embedding_dimensions", "99999999999999999999"),
        ("hash_partitions", "-1"),
        ("hash_partitions", "1025"),
        ("hash_partitions", "2.5"),
        ("history_months_ahead", "0"),
        ("history_months_ahead", "121"),
    ],
)
def test_a_bad_size_is_refused(empty_dsn: str, name: str, bad: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("select set_config(%s, %s, false)", [f"recall.{name}", bad])
        with pytest.raises(InstallError, match=f"recall.{name} is '{re.escape(bad)}'") as caught:
            schema.install(conn)
        assert (caught.value.sqlstate, caught.value.hint is not None) == ("RC007", True)
    assert not exists(empty_dsn)


@pytest.mark.slow
def test_sizes_at_their_ends(server: TestServer) -> None:
    for dimensions, storage in ((1, "p"), (3700, "p"), (16000, "e")):
        name = server.create_database("size")
        install_by_driver(server.dsn(name), embedding_dimensions=dimensions, hash_partitions=1)
        with psycopg.connect(server.dsn(name), autocommit=True) as conn:
            assert rows(
                conn,
                "select attstorage::text, format_type(atttypid, atttypmod) as type"
                " from pg_attribute where attname = 'embedding'"
                " and attrelid = 'recall.memory_embedding_p0'::regclass",
            ) == [{"attstorage": storage, "type": "halfvec"}]
            user = uuid.uuid4()
            # the functions check the length, so that vectors of two models can stand side by side
            with refused("RC004"):
                call(
                    conn,
                    "remember",
                    p_user_id=user,
                    p_content="Ada likes tea.",
                    p_embedding=str([0.5] * (dimensions + (-1 if dimensions > 1 else 1))),
                )
            vector = [0.5, *([0.25] * (dimensions - 1))]
            (made,) = call(conn, "remember", p_user_id=user, p_content="Ada likes tea.",
                           p_embedding=str(vector))  # fmt: skip
            assert made["outcome"] == "added"
            call(conn, "retract_memory", p_user_id=user, p_memory_id=made["memory_id"])
            moved_out = value(
                conn,
                "select sum(pg_relation_size(reltoastrelid)) from pg_class"
                " where relname in ('memory_embedding_p0', 'memory_embedding_ended_p0')",
            )
            # neither the vector nor, beside it, the name of its model
            assert (moved_out == 0) == (storage == "p")
        server.drop_database(name)


# --- the one file


@pytest.fixture
def one_file(tmp_path: Path) -> Path:
    file = tmp_path / "pgrecall.sql"
    file.write_text(schema.one_file(), encoding="utf-8")
    return file


def test_one_file_leaves_the_transaction_to_its_caller(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("create table of_the_tool (id int)")
        conn.execute(schema.one_file().encode())
        assert value(conn, "select recall.version()")
        conn.rollback()
        assert value(conn, "select to_regclass('of_the_tool') is null")
    assert not exists(empty_dsn)


@pytest.mark.parametrize("before", ["nothing", "installed"])
def test_one_file_gives_the_transaction_back_as_it_was(empty_dsn: str, before: str) -> None:
    """A migration tool goes on in it, with its own role and search path."""
    query = (
        "select current_user, current_setting('role'), current_setting('search_path'),"
        " current_setting('client_min_messages'), current_setting('check_function_bodies')"
    )
    if before == "installed":
        install_by_driver(empty_dsn, **SMALL)
    with (
        psycopg.connect(empty_dsn, autocommit=True) as admin,
        login_role(admin, options="superuser") as login,
        psycopg.connect(empty_dsn) as conn,
    ):
        conn.execute(sql.SQL("set role {}").format(sql.Identifier(login["user"])))
        conn.execute("set search_path = odd, public")
        conn.execute("create table public.of_the_tool (id int)")
        found = conn.execute(query).fetchone()
        conn.execute(schema.one_file().encode())
        assert conn.execute(query).fetchone() == found
        conn.execute("insert into of_the_tool values (1)")
        conn.rollback()


def test_one_file_in_one_transaction_of_psql(empty_dsn: str, one_file: Path) -> None:
    done = run("psql", empty_dsn, "-qX1", "-v", "ON_ERROR_STOP=1", "-f", str(one_file))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert broken_rules(conn) == []


@pytest.mark.parametrize("stops", [True, False], ids=["stops", "goes on after an error"])
@pytest.mark.parametrize("before", ["nothing", "installed"])
@pytest.mark.slow
def test_one_file_in_autocommit_creates_nothing(
    empty_dsn: str, one_file: Path, before: str, stops: bool
) -> None:
    """Neither extensions nor roles; nor functions anew, with the caller's search path."""
    if before == "installed":
        install_by_driver(empty_dsn, **SMALL)
    roles = "select count(*) from pg_roles"
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        there = value(conn, roles)
    found = catalog(empty_dsn)
    done = run("psql", empty_dsn, "-qX", "-v", f"ON_ERROR_STOP={int(stops)}",
               "-v", "VERBOSITY=verbose", "-f", str(one_file))  # fmt: skip
    assert done.stderr.count("ERROR") == 1
    assert "ERROR:  RC007: pgrecall is installed in one transaction" in done.stderr
    assert "psql: add -1." in done.stderr
    assert catalog(empty_dsn) == found
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert value(conn, roles) == there


# --- what must be there


def test_install_in_a_read_only_transaction_is_refused(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("set default_transaction_read_only = on")
        with pytest.raises(InstallError, match="read-only transaction") as caught:
            schema.install(conn)
        assert caught.value.sqlstate == "RC007"


def test_database_in_another_encoding_is_refused(server: TestServer) -> None:
    with server.admin() as admin:
        name = f"{server.create_database('other')}_latin1"
        admin.execute(
            sql.SQL(
                "create database {} template template0 encoding 'LATIN1' locale 'C'"
                " locale_provider libc"
            ).format(sql.Identifier(name))
        )
        try:
            with (
                psycopg.connect(server.dsn(name), autocommit=True) as conn,
                pytest.raises(InstallError, match="needs a UTF8 database, this one is LATIN1"),
            ):
                schema.install(conn)
        finally:
            server.drop_database(name)


@pytest.mark.parametrize(
    "foreign",
    [
        "create table recall.migrations (id int)",
        "create table recall.settings (id int)",
        "create function recall.version() returns text return 'x'",
        "create type recall.provenance as enum ('a')",
    ],
)
def test_a_schema_of_that_name_that_is_not_ours(empty_dsn: str, foreign: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("create extension vector")
        conn.execute("create extension pg_trgm")
        conn.execute("create schema recall")
        conn.execute(foreign.encode())
        before = catalog(empty_dsn)
        with pytest.raises(InstallError, match="is not pgrecall's") as caught:
            schema.install(conn)
        assert caught.value.sqlstate == "RC007"
    assert catalog(empty_dsn) == before


def test_an_empty_schema_made_for_us(server: TestServer, empty_dsn: str) -> None:
    """As a DBA does who gives no right to create schemas."""
    with psycopg.connect(empty_dsn, autocommit=True) as admin, login_role(admin) as login:
        admin.execute("create extension vector")
        admin.execute("create extension pg_trgm")
        admin.execute(
            sql.SQL("create schema recall authorization {}").format(sql.Identifier(login["user"]))
        )
        install_by_driver(conninfo.make_conninfo(empty_dsn, **login), **SMALL)
        assert value(admin, "select nspowner::regrole::text from pg_namespace"
                            " where nspname = 'recall'") == login["user"]  # fmt: skip


@pytest.mark.parametrize("home", ["extensions", "Odd name"])
@pytest.mark.slow
def test_extensions_in_a_schema_of_their_own(empty_dsn: str, home: str) -> None:
    """Where only the installer's right is needed: users of the functions need none there."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(sql.SQL("create schema {}").format(sql.Identifier(home)))
        for extension in ("vector", "pg_trgm"):
            conn.execute(
                sql.SQL("create extension {} schema {}").format(
                    sql.Identifier(extension), sql.Identifier(home)
                )
            )
        schema.install(conn, **SMALL)
        conn.execute(sql.SQL("set search_path = {}").format(sql.Identifier(home)))
        user = uuid.uuid4()
        session = open_session(conn, user)
        append(conn, user, session, said("hello"))
        call(conn, "remember", p_user_id=user, p_content="Ada likes tea.",
             p_embedding="[1,2,3,4]")  # fmt: skip
        (found,) = call(conn, "neighbors", p_user_id=user, p_embedding="[1,2,3,4]")
        assert found["similarity"] == pytest.approx(1, abs=0.001)
    install_by_psql(empty_dsn)


# --- by whom


@pytest.mark.slow
def test_a_plain_owner_without_createrole(fresh: TestServer) -> None:
    """The installer owns everything; health says so, and who can do better."""
    with installer(fresh) as login:
        dsn = owned_database(fresh, login)
        install_by_driver(dsn, **SMALL)
        install_by_psql(dsn)
        assert our_roles(fresh) == ()
        with psycopg.connect(dsn, autocommit=True) as conn:
            use(conn)
            assert broken_rules(conn) == []
            found = health(conn)
            assert (found["owner"], found["roles"]) == ("warn", "warn")
            check_invariants(conn)
        # a superuser's upgrade brings the roles, and leaves the owner, whom it must trust
        superuser = conninfo.make_conninfo(dsn, user=conninfo.conninfo_to_dict(
            fresh.admin_dsn)["user"])  # fmt: skip
        with pytest.raises(InstallError, match=f"what {login['user']} has put into it") as caught:
            install_by_driver(superuser)
        assert caught.value.sqlstate == "RC007"
        assert our_roles(fresh) == ()
        install_by_driver(superuser, owner=login["user"])
        assert our_roles(fresh) == ROLES
        with psycopg.connect(dsn, autocommit=True) as conn:
            use(conn)
            assert broken_rules(conn) == []
            assert health(conn)["roles"] == "ok"
            assert value(conn, "select has_function_privilege('recall_reader',"
                               " 'recall.get_session(uuid, uuid)', 'execute')")  # fmt: skip
            assert value(conn, "select nspowner::regrole::text from pg_namespace"
                               " where nspname = 'recall'") == login["user"]  # fmt: skip
            conn.execute("create table mine ()")
            assert health(conn)["owner"] == "ok"
        # the installer hands it over, and nothing else
        with psycopg.connect(superuser, autocommit=True) as conn:
            schema.install(conn, owner="recall_owner")
            conn.execute(sql.SQL("grant recall_admin to {}").format(sql.Identifier(login["user"])))
            assert {*value(conn, OWNERS, ["recall"])} == {"recall_owner"}
            assert {*value(conn, OWNERS, ["public"])} >= {login["user"]}
        with psycopg.connect(dsn, autocommit=True) as conn:
            assert (health(conn)["owner"], health(conn)["roles"]) == ("ok", "ok")
            use(conn)
        install_by_driver(superuser)
        with psycopg.connect(superuser, autocommit=True) as conn:
            assert broken_rules(conn) == []
            assert health(conn)["owner"] == "ok"


@pytest.mark.slow
def test_schema_is_handed_over_by_a_role_with_createrole(fresh: TestServer) -> None:
    """It may act as the owner; other wishes are refused, and change nothing."""
    with installer(fresh) as login, installer(fresh, "createrole") as creator:
        dsn = owned_database(fresh, login)
        install_by_driver(dsn, **SMALL)
        with fresh.admin() as admin:
            admin.execute(sql.SQL("grant {} to {}").format(
                sql.Identifier(login["user"]), sql.Identifier(creator["user"])))  # fmt: skip
        name = str(conninfo.conninfo_to_dict(dsn)["dbname"])
        with fresh.admin() as admin:
            admin.execute(sql.SQL("alter database {} owner to postgres").format(
                sql.Identifier(name)))  # fmt: skip
        before = snapshot(dsn)
        with (
            psycopg.connect(conninfo.make_conninfo(dsn, **creator), autocommit=True) as conn,
            pytest.raises(InstallError, match="needs CREATE on database") as caught,
        ):
            schema.install(conn, owner="recall_owner")
        assert caught.value.sqlstate == "RC007"
        grant = str(caught.value.hint).partition("owner runs: ")[2]
        assert grant.startswith("grant create on database")
        assert snapshot(dsn) == before
        with fresh.admin() as admin:
            admin.execute(grant.encode())
        before = snapshot(dsn)
        for owner, words in (("nobody", "there is no such role"), ("postgres", "may not act as")):
            with psycopg.connect(dsn, autocommit=True) as conn:
                with pytest.raises(InstallError, match=words) as caught:
                    schema.install(conn, owner=owner)
                assert caught.value.sqlstate == "RC007"
        assert snapshot(dsn) == before
        handed = conninfo.make_conninfo(dsn, **creator)
        for _ in range(2):
            with psycopg.connect(handed, autocommit=True) as conn:
                schema.install(conn, owner="recall_owner")
        with psycopg.connect(handed, autocommit=True) as conn:
            assert {*value(conn, OWNERS, ["recall"])} == {"recall_owner"}
            assert (health(conn)["owner"], health(conn)["roles"]) == ("ok", "ok")
            assert broken_rules(conn) == []
        assert catalog(handed, "--schema=recall") == catalog(
            created(fresh, creator), "--schema=recall"
        )


@pytest.mark.slow
def test_health_accepts_a_chosen_owner_but_no_superuser(fresh: TestServer) -> None:
    """The choice survives upgrades, and ends when another role becomes the owner."""
    with installer(fresh) as login, installer(fresh) as boss:
        dsn = owned_database(fresh, login)
        install_by_psql(dsn, **SMALL)
        with psycopg.connect(dsn, autocommit=True) as conn:
            status, detail, hint = finding(conn, "owner")
            assert status == "warn"
            assert f"recall.owner = '{login['user']}'" in hint
            schema.install(conn, owner=login["user"])  # as the hint says
            assert finding(conn, "owner") == (
                "ok", f"schema recall belongs to {login['user']}, as chosen", None
            )  # fmt: skip
            schema.install(conn)
            assert finding(conn, "owner")[0] == "ok"
        superuser = conninfo.make_conninfo(
            dsn, user=conninfo.conninfo_to_dict(fresh.admin_dsn)["user"]
        )
        with psycopg.connect(superuser, autocommit=True) as conn:
            schema.install(conn, owner=boss["user"])
            assert finding(conn, "owner")[0] == "ok"
            schema.install(conn, owner="postgres")
            status, detail, hint = finding(conn, "owner")
            assert (status, detail) == ("warn", "schema recall belongs to postgres, a superuser")
            assert "meant to be" not in hint


@pytest.mark.slow
def test_objects_of_others_stay_theirs_when_roles_or_owner_change(fresh: TestServer) -> None:
    dsn = fresh.dsn(fresh.create_database("others"))
    with (
        installer(fresh) as other,
        installer(fresh) as boss,
        psycopg.connect(dsn, autocommit=True) as conn,
    ):
        schema.install(conn, **SMALL)
        conn.execute("create table recall.my_table (id serial)")
        conn.execute("create function recall.mine() returns integer language sql return 1")
        conn.execute(sql.SQL("alter function recall.mine() owner to {}").format(
            sql.Identifier(other["user"])))  # fmt: skip
        schema.install(conn, role_prefix="recall_copy")
        schema.install(conn, owner=boss["user"])
        assert {*value(conn, OWNERS, ["recall"])} == {"postgres", other["user"], boss["user"]}
        assert value(conn, "select proowner::regrole::text from pg_proc"
                           " where proname = 'mine'") == other["user"]  # fmt: skip
        assert value(conn, "select relowner::regrole::text from pg_class"
                           " where relname = 'my_table'") == "postgres"  # fmt: skip


OWNERS = """
    select array_agg(distinct o.owner::regrole::text)
      from pg_namespace as n
     cross join lateral (
            select n.nspowner as owner
            union select c.relowner from pg_class as c where c.relnamespace = n.oid
            union select p.proowner from pg_proc as p where p.pronamespace = n.oid
            union select t.typowner from pg_type as t where t.typnamespace = n.oid) as o
     where n.nspname = %s
"""


def created(server: TestServer, login: dict[str, str]) -> str:
    """Return the DSN of a database whose schema the role has installed, with the same roles."""
    dsn = owned_database(server, login)
    install_by_driver(dsn, **SMALL, share_roles=True)
    return dsn


@pytest.mark.slow
def test_plain_owners_with_createrole(fresh: TestServer) -> None:
    with installer(fresh, "createrole") as first, installer(fresh, "createrole") as second:
        dsn = owned_database(fresh, first)
        install_by_psql(dsn, **SMALL)
        assert our_roles(fresh) == ROLES
        with psycopg.connect(dsn, autocommit=True) as conn:
            use(conn)
            assert broken_rules(conn) == []
            found = health(conn)
            assert (found["owner"], found["roles"]) == ("ok", "ok")
            before = snapshot(dsn)
        install_by_driver(dsn)
        assert snapshot(dsn) == before

        # a role that did not create the roles may not act as their owner, and owns all itself
        other = owned_database(fresh, second)
        install_by_driver(other, **SMALL, share_roles=True)
        with psycopg.connect(other, autocommit=True) as conn:
            use(conn)
            assert broken_rules(conn) == []
            assert health(conn)["owner"] == "warn"
        # nor may somebody else upgrade
        with psycopg.connect(conninfo.make_conninfo(other, **first), autocommit=True) as conn:
            with pytest.raises(InstallError, match="may not act as it") as caught:
                schema.install(conn)
            assert caught.value.hint is not None
            assert second["user"] in caught.value.hint


def test_a_missing_extension_names_who_can_mend_it(server: TestServer, empty_dsn: str) -> None:
    """pgvector is for superusers to create; without it nothing is created."""
    with psycopg.connect(empty_dsn, autocommit=True) as admin, login_role(admin) as login:
        name = conninfo.conninfo_to_dict(empty_dsn)["dbname"]
        admin.execute(
            sql.SQL("grant create on database {} to {}").format(
                sql.Identifier(str(name)), sql.Identifier(login["user"])
            )
        )
        with psycopg.connect(conninfo.make_conninfo(empty_dsn, **login), autocommit=True) as conn:
            with pytest.raises(InstallError, match="may not create extension vector") as caught:
                schema.install(conn)
            assert caught.value.sqlstate == "RC007"
            assert caught.value.hint is not None
            assert "superuser" in caught.value.hint
            assert f"database {name}: create extension vector;" in caught.value.hint
            admin.execute("create extension vector")
            schema.install(conn, **SMALL)  # pg_trgm is trusted


def test_no_right_to_create_a_schema(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as admin, login_role(admin) as login:
        admin.execute("create extension vector")
        admin.execute("create extension pg_trgm")
        with psycopg.connect(conninfo.make_conninfo(empty_dsn, **login), autocommit=True) as conn:
            with pytest.raises(InstallError, match="may not create a schema") as caught:
                schema.install(conn)
            assert caught.value.sqlstate == "RC007"
            assert caught.value.hint is not None
            assert "database's owner" in caught.value.hint


# --- several at once, and interrupted


@pytest.mark.concurrent
@pytest.mark.slow
def test_twenty_installers_of_one_database(empty_dsn: str) -> None:
    results = together([partial(install_by_driver, empty_dsn, **SMALL)] * 20)
    raise_errors(results)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert broken_rules(conn) == []
        check_invariants(conn)


@pytest.mark.concurrent
def test_an_installer_names_who_holds_its_lock(empty_dsn: str) -> None:
    """Any login may take the lock; the wait for it ends, and what ends the holder is said."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn, login_role(conn) as login:
        stranger = psycopg.connect(empty_dsn, autocommit=True, **login)
        stranger.execute("select pg_advisory_lock(hashtextextended('pgrecall.install', 0))")
        with pytest.raises(schema.InstallError) as caught:
            install_by_driver(
                conninfo.make_conninfo(empty_dsn, options="-c lock_timeout=500ms"), **SMALL
            )
        pid = stranger.info.backend_pid
        assert caught.value.sqlstate == "RC007"
        assert f"process {pid} of role {login['user']}" in str(caught.value)
        conn.execute("select pg_terminate_backend(%s)", [pid])
        install_by_driver(empty_dsn, **SMALL)
        stranger.close()


@pytest.mark.concurrent
@pytest.mark.parametrize("who", ["superuser", "createrole"])
@pytest.mark.slow
def test_six_installers_that_share_roles_in_six_databases(fresh: TestServer, who: str) -> None:
    """They meet at the roles, which do not exist yet."""
    with installer(fresh, "createrole") as login:
        as_whom = {} if who == "superuser" else login
        targets = [owned_database(fresh, login) for _ in range(6)]
        targets = [
            fresh.dsn(str(conninfo.conninfo_to_dict(dsn)["dbname"]), **as_whom) for dsn in targets
        ]
        install = partial(install_by_driver, **SMALL, share_roles=True)
        raise_errors(together(partial(install, dsn) for dsn in targets))
        assert our_roles(fresh) == ROLES
        for dsn in targets:
            with psycopg.connect(dsn, autocommit=True) as conn:
                assert broken_rules(conn) == []
                assert health(conn)["owner"] == "ok"
                use(conn)
        assert len({catalog(dsn) for dsn in targets}) == 1


@pytest.mark.concurrent
@pytest.mark.slow
def test_a_killed_installer_leaves_nothing(fresh: TestServer) -> None:
    chance = random.Random(7)
    name = fresh.create_database("killed")
    dsn = fresh.dsn(name)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("create extension vector")
        conn.execute("create extension pg_trgm")
    before = catalog(dsn)
    killed = 0
    while killed < 4:
        conn = psycopg.connect(dsn, autocommit=True)
        errors: list[BaseException] = []

        def install(conn: Connection = conn, errors: list[BaseException] = errors) -> None:
            try:
                schema.install(conn, **SMALL)
            except (InstallError, psycopg.Error) as error:
                errors.append(error)

        thread = threading.Thread(target=install)
        with fresh.admin() as admin:
            thread.start()
            time.sleep(chance.uniform(0.02, 0.3))
            value(admin, "select pg_terminate_backend(%s, 5000)", [conn.info.backend_pid])
        thread.join()
        conn.close()
        if not errors:  # it was done already
            with psycopg.connect(dsn, autocommit=True) as conn:
                schema.uninstall(conn)
            drop_our_roles(fresh)
            continue
        killed += 1
        assert catalog(dsn) == before
        assert our_roles(fresh) == ()
    install_by_driver(dsn, **SMALL)
    with psycopg.connect(dsn, autocommit=True) as conn:
        use(conn)


# --- a small lock table


@pytest.mark.slow
def test_partitions_that_the_lock_table_cannot_hold_are_refused() -> None:
    """With the numbers that fit: as many partitions, or so large a table."""
    home = Path(tempfile.mkdtemp(prefix="pgrecall-test-"))

    def running(locks: str) -> EmbeddedServer:
        return EmbeddedServer(home, settings={
            "max_connections": "20", "max_locks_per_transaction": locks,
            "autovacuum_worker_slots": "3", "max_wal_senders": "0"})  # fmt: skip

    try:
        with running("80") as server:
            with pytest.raises(InstallError, match="8 hash partitions and 3 months ahead") as no:
                install_by_driver(server.dsn)
            assert (no.value.sqlstate, exists(server.dsn)) == ("RC007", False)
            (locks,) = re.findall(r"max_locks_per_transaction = (\d+);", str(no.value.hint))
            (fits,) = map(int, re.findall(r"hash_partitions = (\d+);", str(no.value.hint)))
            with pytest.raises(InstallError, match="max_locks_per_transaction"):
                install_by_driver(server.dsn, hash_partitions=fits + 1)
            with psycopg.connect(server.dsn) as other:
                install_by_driver(server.dsn, hash_partitions=fits)
                assert value(other, "select count(*) from recall.users") == 0
            install_by_driver(server.dsn)  # an upgrade is never refused
            with psycopg.connect(server.dsn, autocommit=True) as conn:
                assert health(conn)["locks"] == "ok"
                schema.uninstall(conn)
        with running(locks) as server:
            with psycopg.connect(server.dsn) as installing:
                installing.execute("select 1")
                schema.install(installing, hash_partitions=8)
                with psycopg.connect(server.dsn) as other:
                    assert value(other, "select count(*) from pg_class") > 100
            with psycopg.connect(server.dsn, autocommit=True) as conn:
                assert health(conn)["locks"] == "ok"
    finally:
        shutil.rmtree(home, ignore_errors=True)


def test_planned_locks_are_those_of_the_installation(empty_dsn: str) -> None:
    """Exactly for relations, and by a twentieth for all locks that the installer takes."""
    planned: dict[str, int] = {}
    with psycopg.connect(empty_dsn) as conn:
        for name, size in SMALL.items():
            conn.execute("select set_config(%s, %s, true)", [f"recall.{name}", str(size)])
        for file in schema.install_files():
            if file.name == "sql/partitions.sql":
                (planned,) = rows(
                    conn,
                    "select c.* from recall.settings as s cross join"
                    " recall._lock_counts(s.hash_partitions, s.history_months_ahead) as c",
                )
            if not file.name.startswith("migrations/"):
                conn.execute(file.text.encode())
        (counts,) = rows(conn, "select * from recall._lock_counts()")
        locks = value(
            conn,
            "select count(distinct (locktype, database, relation, classid, objid, objsubid))"
            " from pg_locks where pid = pg_backend_pid()",
        )
    assert planned["o_relations"] == counts["o_relations"]
    assert planned["o_first"] == counts["o_first"]
    assert abs(planned["o_installation"] - locks) < locks / 20


# --- away again


@pytest.mark.parametrize("way", ["psql", "driver"])
@pytest.mark.slow
def test_uninstall_leaves_nothing_but_the_roles(empty_dsn: str, way: str) -> None:
    def uninstall() -> None:
        if way == "psql":
            done = psql(empty_dsn, ROOT / "sql" / "uninstall.sql")
            # a server whose pg_cron works in another database is told of it
            said = [line for line in done.stderr.splitlines() if "pg_cron lives in" not in line]
            assert (done.returncode, len(said)) == (0, 1)
            assert said[0].endswith(f"drop role {', '.join(ROLES)};")
        else:
            with psycopg.connect(empty_dsn, autocommit=True) as conn:
                schema.uninstall(conn)

    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("create extension vector")
        conn.execute("create extension pg_trgm")
        before = catalog(empty_dsn)
        for _ in range(2):
            install_by_driver(empty_dsn, **SMALL)
            use(conn)
            uninstall()
            conn.execute("discard all")
            assert catalog(empty_dsn) == before
            left = rows(
                conn,
                "select classid::regclass::text, objid, refobjid::regrole::text from pg_shdepend"
                " where dbid = (select oid from pg_database where datname = current_database())"
                " and refclassid = 'pg_authid'::regclass and refobjid > 16383",
            )
            assert left == [], "the roles can be dropped when no other database needs them"
        uninstall()


def test_uninstall_unschedules_our_jobs_first(empty_dsn: str) -> None:
    """They survive DROP SCHEMA and would fail for ever. A stand-in for pg_cron."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        schema.install(conn, **SMALL)
        conn.execute(
            """
            create schema cron;
            create table cron.job (jobid bigint, jobname text, database text);
            create function cron.unschedule(p_id bigint) returns boolean language sql
            begin atomic
                delete from cron.job where jobid = p_id;
                select true;
            end;
            insert into cron.job values
                (1, 'recall_ensure_partitions' || recall._cron_suffix(), current_database()),
                (2, 'theirs', current_database()),
                (3, 'recall_ensure_partitions@elsewhere', 'elsewhere'),
                (4, 'recall_report', current_database());
            """
        )
        conn.execute(AS_PG_CRON.encode())
        schema.uninstall(conn)
        assert [row["jobid"] for row in rows(conn, "select jobid from cron.job order by 1")] == [
            2,
            3,
            4,
        ]


# --- dump and restore


def fill(conn: Connection) -> tuple[uuid.UUID, uuid.UUID]:
    """Put something into every table that the functions of today write; return user and session."""
    users = [value(conn, "select recall.ensure_user(%s)", [f"user {n}"]) for n in range(5)]
    for user in users:
        session = open_session(conn, user, p_system_prompt="Be brief.", p_title="π ≠ 3")
        request = uuid.uuid4()
        append(
            conn, user, session, said('a\\b\tc\n"d"', "日本語 🎉"), {"prompt_tokens": 3}, request
        )
        append(conn, user, session, said("old", created_at="2019-05-05T00:00:00Z"))
        call(conn, "annotate_message", p_user_id=user, p_session_id=session, p_turn_index=1,
             p_patch={"k": 1})  # fmt: skip
        call(conn, "remember", p_user_id=user, p_content="Ada likes tea.",
             p_embedding="[1,0,0,0]", p_tags=["a b", "c,d"])  # fmt: skip
        (made,) = call(conn, "remember", p_user_id=user, p_content="Ada lives in Oslo.",
                       p_slot="city", p_embedding="[0,1,0,0]")  # fmt: skip
        call(conn, "remember", p_user_id=user, p_content="Ada lives in Rome.", p_slot="city",
             p_embedding="[0,0,1,0]")  # fmt: skip
        call(conn, "put_working", p_user_id=user, p_session_id=session, p_task_id="t", p_key="k",
             p_value={"v": 1})  # fmt: skip
        call(conn, "record_access", p_user_id=user, p_memory_ids=[made["memory_id"]],
             p_relevance="{0.5}")  # fmt: skip
        call(conn, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    call(conn, "configure", p_changes={"session_ttl": "9 days"})
    for job in call(conn, "claim_jobs", p_worker="w", p_kinds=["embed"], p_limit=2):
        assert do_job(conn, job)["type"] == "done"
    return user, session


def contents(conn: Connection) -> dict[str, tuple[int, str]]:
    """Return, for each table, how many rows it has and a checksum of them."""
    tables = rows(
        conn,
        "select c.oid::regclass::text as name from pg_class as c"
        " where c.relnamespace = 'recall'::regnamespace and c.relkind in ('r', 'p')"
        " and not c.relispartition order by 1",
    )
    found = {}
    for table in tables:
        (row,) = rows(
            conn,
            f"select count(*) as n, coalesce(md5(string_agg(t::text, '|' order by t::text)), '')"
            f" as sum from {table['name']} as t",
        )
        found[table["name"]] = (row["n"], row["sum"])
    return found


@pytest.mark.parametrize("owner", ["recall_owner", "the installer"])
@pytest.mark.slow
def test_a_plain_owners_dump_is_complete(fresh: TestServer, tmp_path: Path, owner: str) -> None:
    options = "createrole" if owner == "recall_owner" else ""
    with installer(fresh, options) as login:
        source, target = owned_database(fresh, login), owned_database(fresh, login)
        install_by_driver(source, **SMALL, share_roles=True)
        with psycopg.connect(source, autocommit=True) as conn:
            user, session = fill(conn)
            before = contents(conn)
            messages = call(conn, "get_messages", p_user_id=user, p_session_id=session)
            full = {name for name, (count, _) in before.items() if count}
            assert {
                "recall.conversation_history",
                "recall.memory_store",
                "recall.memory_embedding",
                "recall.memory_embedding_ended",
                "recall.memory_events",
                "recall.working_memory",
                "recall.jobs",
                "recall.append_receipts",
                "recall.message_search",
                "recall.message_annotations",
            } <= full
        dump = tmp_path / "dump.sql"
        done = run("pg_dump", source, "--schema=recall", "-f", str(dump))
        assert (done.returncode, done.stderr) == (0, "")
        done = run("psql", target, "-qX", "-v", "ON_ERROR_STOP=1", "-1", "-f", str(dump))
        assert (done.returncode, done.stderr) == (0, "")

        # PostgreSQL itself prints the nested conditions of a CHECK differently once restored
        of_source, of_target = (
            re.sub(r"[()]", "", catalog(dsn, "--schema=recall")) for dsn in (source, target)
        )
        assert of_target == of_source
        with psycopg.connect(target, autocommit=True) as conn:
            assert contents(conn) == before
            assert call(conn, "get_messages", p_user_id=user, p_session_id=session) == messages
            assert append(conn, user, session, said("after"))[0][1] == 4
            call(conn, "remember", p_user_id=user, p_content="Ada lives in Turku.", p_slot="city")
            use(conn)
            assert broken_rules(conn) == []
            check_invariants(conn)
        install_by_psql(target)


def test_somebody_else_may_not_use_what_was_installed(empty_dsn: str) -> None:
    """Nothing is open to PUBLIC, not even the schema."""
    install_by_driver(empty_dsn, **SMALL)
    with (
        psycopg.connect(empty_dsn, autocommit=True) as admin,
        login_role(admin) as login,
        psycopg.connect(conninfo.make_conninfo(empty_dsn, **login), autocommit=True) as conn,
        refused("42501", "permission denied for schema recall"),
    ):
        conn.execute("select recall.version()")
