"""Upgrades: migrations, functions and types made new, what is refused, and interruptions."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql
from psycopg.types.json import Jsonb

from pgrecall import schema
from pgrecall.schema import InstallError
from support import (
    append,
    call,
    finding,
    login_role,
    open_session,
    raise_errors,
    rows,
    said,
    together,
    tool,
    value,
)
from support.invariants import check_invariants
from support.releases import ROOT, ROUTES, SMALL, Release, catalog
from support.servers import TestServer

# each test upgrades a database of its own, which takes seconds
pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]

BOOKMARKS = """\
create table if not exists recall.bookmarks (
    user_id    uuid        not null,
    message_id uuid        not null,
    created_at timestamptz not null,
    constraint bookmarks_pkey primary key (user_id, message_id)
) partition by hash (user_id);
"""
BOOKMARK_COMMENTS = """
comment on table recall.bookmarks is 'Messages that a user marked.';
comment on column recall.bookmarks.user_id is 'The user.';
comment on column recall.bookmarks.message_id is 'The message.';
comment on column recall.bookmarks.created_at is 'When it was marked.';
"""
RETIRED = """\
-- Do what the next release no longer does.
create or replace function recall._retired(
    p_number integer
)
returns integer
language sql
immutable
parallel safe
return p_number;

comment on function recall._retired(integer) is 'Gone in the next release.';
"""
RETIRED_TRIGGER = """
create or replace function recall._retired_guard()
returns trigger
language plpgsql
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return new;
end;
$function$;
comment on function recall._retired_guard() is 'Gone in the next release.';
create or replace trigger models_retired before update on recall.models
    for each row execute function recall._retired_guard();
comment on trigger models_retired on recall.models is 'Gone in the next release.';
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("releases")


@pytest.fixture(scope="module")
def old(folder: Path) -> Release:
    """The release to upgrade: the present files, and objects that the next one lacks."""
    release = Release(folder, "0.1.0")
    release.write("functions/common/_retired.sql", RETIRED)
    release.include("../functions/common/_retired.sql", "../functions/common/_uuids.sql")
    release.write("sql/retired.sql", RETIRED_TRIGGER)
    release.include("retired.sql", "triggers.sql")
    return release


@pytest.fixture(scope="module")
def new(folder: Path) -> Release:
    """The next release: a change of each sort, tables changed by migrations."""
    release = Release(folder, "0.2.0")
    release.replace(
        "sql/tables/sessions.sql",
        r"(    search_purge_at         timestamptz,\n)",
        "\\g<1>    priority                integer               not null default 0,\n",
    )
    release.replace(
        "sql/tables/sessions.sql",
        r"(    constraint sessions_metadata_check .*\n)",
        "    constraint sessions_priority_check check (priority >= 0),\n\\g<1>",
    )
    release.replace(
        "sql/tables/sessions.sql",
        r"(comment on column recall.sessions.user_id)",
        "comment on column recall.sessions.priority is 'Order.';\n\\g<1>",
    )
    release.migrate(
        "0001_add_priority",
        "alter table recall.sessions\n"
        "    add column priority integer not null default 0,\n"
        "    add constraint sessions_priority_check check (priority >= 0);\n",
    )
    release.replace(
        "sql/tables/settings.sql",
        r"(    message_max_characters  .*\n)",  # the last column
        "\\g<1>    patience interval not null default '1 second',\n",
    )
    release.replace(
        "sql/tables/settings.sql",
        r"(comment on table recall.settings)",
        "comment on column recall.settings.patience is 'Patience.';\n\\g<1>",
    )
    release.replace("sql/types.sql", r"'tool', 'function'\)", "'tool', 'function', 'note')")
    release.migrate("0002_add_role", "alter type recall.message_role add value 'note';\n")
    release.write("sql/tables/bookmarks.sql", BOOKMARKS + BOOKMARK_COMMENTS)
    release.include("tables/bookmarks.sql", "tables/operation.sql")
    release.migrate("0003_add_bookmarks", BOOKMARKS.replace("if not exists ", ""))
    release.replace(
        "sql/indexes.sql",
        r"index if not exists sessions_created_at_idx",
        "index if not exists sessions_newest_idx",
    )
    release.replace(
        "sql/indexes.sql",
        r"index recall.sessions_created_at_idx",
        "index recall.sessions_newest_idx",
    )
    release.migrate(
        "0004_rename_newest",
        "alter index recall.sessions_created_at_idx\n    rename to sessions_newest_idx;\n",
    )
    release.replace(
        "functions/session/list_models.sql",
        r"(    output_price        bigint)\n",
        "\\g<1>,\n    note                text\n",
    )
    release.replace(
        "functions/session/list_models.sql", r"m\.output_price\n", "m.output_price, 'none'\n"
    )
    release.replace(
        "sql/types.sql", r"(create type recall.shared_word as \()", "\\g<1>\n    note text,"
    )
    return release


def fill(conn: Connection) -> tuple[uuid.UUID, uuid.UUID]:
    """Write turns, memories and jobs; return their user and session."""
    user = uuid.uuid4()
    session = open_session(conn, user, p_title="π ≠ 3")
    append(conn, user, session, said('a\\b\tc\n"d"', "日本語 🎉"))
    for number, city in enumerate(("Oslo", "Rome")):
        call(conn, "remember", p_user_id=user, p_content=f"Ada lives in {city}.", p_slot="city",
             p_embedding=f"[{number},1,0,0]")  # fmt: skip
    call(conn, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    call(conn, "configure", p_changes={"session_ttl": "9 days"})
    return user, session


def answers(conn: Connection, user: uuid.UUID, session: uuid.UUID) -> list[Any]:
    return [
        call(conn, "get_messages", p_user_id=user, p_session_id=session),
        call(conn, "get_session", p_user_id=user, p_session_id=session),
        call(conn, "get_memories", p_user_id=user),
        [row["content"] for row in call(conn, "search", p_user_id=user, p_query="Where is Ada?",
                                        p_query_embedding="[1,1,0,0]")],
        call(conn, "verify_integrity", p_user_id=user),
        value(conn, "select session_ttl from recall.settings"),
        rows(conn, "select kind, state, payload from recall.jobs order by kind, job_id"),
    ]  # fmt: skip


def recorded(dsn: str) -> list[dict[str, Any]]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        return rows(conn, "select version, checksum, objects from recall.migrations"
                          " where version <> '0.1.0' order by version")  # fmt: skip


@pytest.fixture
def fresh(server: TestServer, new: Release) -> Iterator[str]:
    """A database with a new installation of the next release."""
    name = server.create_database("fresh")
    new.by_psql(server.dsn(name), **SMALL)
    yield server.dsn(name)
    server.drop_database(name)


@pytest.fixture
def installed(empty_dsn: str, old: Release) -> str:
    """A database with the older release."""
    old.by_driver(empty_dsn, **SMALL)
    return empty_dsn


def test_every_route_upgrades_to_the_catalog_of_a_new_installation(
    server: TestServer, old: Release, new: Release, fresh: str
) -> None:
    """Data and answers stay; migrations are recorded alike, and not run where they are new."""
    wanted = catalog(fresh)
    assert "sessions_newest_idx" in wanted
    for route, upgrade in ROUTES.items():
        name = server.create_database("upgraded")
        dsn = server.dsn(name)
        old.by_driver(dsn, **SMALL)
        with psycopg.connect(dsn, autocommit=True) as conn:
            user, session = fill(conn)
            before = answers(conn, user, session)
        for _ in range(2):
            upgrade(new, dsn)
            assert catalog(dsn) == wanted, route
            assert recorded(dsn) == recorded(fresh), route
        with psycopg.connect(dsn, autocommit=True) as conn:
            assert answers(conn, user, session) == before
            assert value(conn, "select recall.version()") == "0.2.0"
            assert call(conn, "list_models")[0]["note"] == "none"
            append(conn, user, session, said("after"))
            check_invariants(conn)
        server.drop_database(name)


# --- the sequence of an installation made some hours earlier


def test_the_same_version_with_another_result_is_installed(folder: Path, installed: str) -> None:
    release = Release(folder / "result", "0.1.0")
    release.replace("functions/session/user_id.sql", r"returns uuid", "returns text")
    release.by_driver(installed)
    with psycopg.connect(installed, autocommit=True) as conn:
        assert value(conn, "select pg_typeof(recall.user_id('ada'))::text") == "text"


def test_a_column_without_a_migration_is_refused(folder: Path, installed: str) -> None:
    release = Release(folder / "column", "0.2.0")
    release.replace("sql/tables/users.sql", r"(    has_vectors .*\n)", "\\g<1>    mood text,\n")
    release.replace(
        "sql/tables/users.sql",
        r"(comment on column recall.users.user_id is)",
        "comment on column recall.users.mood is 'Mood.';\n\\g<1>",
    )
    before = catalog(installed)
    with pytest.raises(InstallError, match=r'column "mood" of relation "recall\.users"') as caught:
        release.by_driver(installed)
    assert str(caught.value.hint).startswith("Keep the schema, and restore a backup")
    assert catalog(installed) == before


@pytest.mark.parametrize("route", ROUTES)
def test_a_downgrade_is_refused(route: str, old: Release, fresh: str) -> None:
    before = catalog(fresh)
    with pytest.raises(
        (InstallError, psycopg.Error), match=r"a downgrade to 0\.1\.0 is not"
    ) as caught:
        ROUTES[route](old, fresh)
    assert "Install 0.2.0 or later" in str(caught.value) or caught.value.diag.message_hint
    assert catalog(fresh) == before


# --- migrations that do not follow those of the database


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("insert into recall.migrations (version, checksum) values ('0005_add_more', '')",
         "migration 0005_add_more was applied here, and pgrecall 0.2.0 does not have it"),
        ("update recall.migrations set checksum = sha256('other') where version ~ '^0002_'",
         "migration 0002_add_role has changed since it was applied here"),
        ("delete from recall.migrations where version ~ '^000[23]_'",
         "migration 0002_add_role was not applied here, although the later 0004_rename_newest"),
        ("update recall.migrations set version = '0003_other' where version ~ '^0003_'",
         "migration 0003_add_bookmarks was not applied here"),
        ("truncate recall.migrations", "recall.migrations is empty"),
    ],
)  # fmt: skip
def test_a_history_that_does_not_fit_is_refused(
    new: Release, fresh: str, change: str, words: str
) -> None:
    with psycopg.connect(fresh, autocommit=True) as conn:
        conn.execute(change.encode())
    before = catalog(fresh)
    with pytest.raises(InstallError, match=re.escape(words)) as caught:
        new.by_driver(fresh)
    assert (caught.value.sqlstate, bool(caught.value.hint)) == ("RC007", True)
    assert catalog(fresh) == before


def test_a_development_version_without_a_record_is_upgraded(
    new: Release, fresh: str, installed: str
) -> None:
    with psycopg.connect(installed, autocommit=True) as conn:
        conn.execute("alter table recall.migrations drop column objects")
    new.by_psql(installed)
    assert catalog(installed) == catalog(fresh)
    assert recorded(installed) == recorded(fresh)


def test_a_failing_migration_leaves_nothing(folder: Path, installed: str) -> None:
    release = Release(folder / "failing", "0.2.0")
    release.migrate("0001_add_mood", "alter table recall.users add column mood text;\n")
    release.migrate("0002_fail", "select 1 / 0;\n")
    before = catalog(installed)
    with pytest.raises(InstallError, match=r"migrations/0002_fail\.sql: division by zero"):
        release.by_driver(installed)
    assert catalog(installed) == before


# --- objects of others


def test_grants_and_objects_of_others_survive(new: Release, installed: str) -> None:
    """Functions, types, tables and triggers in the schema, and views on functions."""
    with psycopg.connect(installed, autocommit=True) as conn, login_role(conn) as login:
        conn.execute(
            sql.SQL(
                """
                grant usage on schema recall to {login};
                grant execute on function recall.list_models() to {login} with grant option;
                grant execute on function recall.version() to {login};
                grant select on recall.models to {login};
                create type recall.mine as (a integer);
                create table recall.my_table (id uuid default recall.uuidv7(), v recall.mine);
                create function recall.my_function(p recall.mine) returns integer return 7;
                create function recall.search(p integer) returns integer return 8;
                create function public.my_guard() returns trigger language plpgsql
                    as 'begin return new; end';
                create trigger my_trigger before update on recall.models
                    for each row execute function public.my_guard();
                create trigger my_freeze before update on recall.my_table
                    for each row execute function recall._refuse_update();
                create view public.my_view as select * from recall.list_sessions(null::uuid);
                grant execute on function recall.my_function(recall.mine) to {login};
                """
            ).format(login=sql.Identifier(login["user"]))
        )
        for _ in range(2):
            new.by_psql(installed)
        described = "select obj_description('recall.session_row'::regtype, 'pg_type')"
        assert "A row of recall.get_session" in value(conn, described)
        assert value(conn, "select to_regtype('recall.\"!session_row\"') is null")
        assert value(conn, "select recall.my_function(null) + recall.search(1)") == 15
        conn.execute("insert into recall.my_table default values")
        assert value(conn, "select count(*) from pg_trigger where tgname = 'my_freeze'") == 1
        assert value(conn, "select count(*) from pg_trigger where tgname = 'my_trigger'") == 1
        with psycopg.connect(conninfo.make_conninfo(installed, **login), autocommit=True) as other:
            assert call(other, "list_models")
            assert call(other, "version") == [{"version": "0.2.0"}]
            other.execute("select from recall.models")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                call(other, "metrics")
        held = (
            "select has_function_privilege(%s, 'recall.list_models()', 'execute with grant option')"
        )
        assert value(conn, held, [login["user"]]) is True
        conn.execute("drop table recall.my_table; drop function recall.my_function(recall.mine)")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ("create view public.my_view as select recall._retired(1)",
         "other objects use functions that this release does not have"),
        ("create view public.mine as select s from recall.list_sessions(null::uuid) as s",
         "other objects use the type recall.session_row, which this release changes"),
        ("create function public.mine(p recall.shared_word) returns integer return 1",
         "other objects use the type recall.shared_word, which this release changes"),
        ("set role recall_owner; create function recall._extra(p_number int) returns int return 1",
         "exists that is not pgrecall's"),
    ],
)  # fmt: skip
def test_an_object_in_the_way_is_named(
    folder: Path, new: Release, installed: str, made: str, words: str
) -> None:
    release = Release(folder / f"way-{uuid.uuid4()}", "0.3.0", new.folder)
    release.write("functions/common/_extra.sql", RETIRED.replace("_retired", "_extra"))
    release.include("../functions/common/_extra.sql", "../functions/common/_uuids.sql")
    release.replace("sql/types.sql", r"(create type recall.session_row as \([^;]*timestamptz)\n",
                    "\\g<1>,\n    mood text\n")  # fmt: skip
    with psycopg.connect(installed, autocommit=True) as conn:
        conn.execute(made.encode())
    before = catalog(installed)
    with pytest.raises(InstallError, match=words) as caught:
        release.by_driver(installed)
    assert (caught.value.sqlstate, bool(caught.value.hint)) == ("RC007", True)
    assert catalog(installed) == before


# --- several at once, and interrupted


@pytest.mark.concurrent
def test_twenty_upgrades_at_once(new: Release, fresh: str, installed: str) -> None:
    text = new.one_file()

    def upgrade() -> None:
        with psycopg.connect(installed) as conn:
            conn.execute(text.encode())

    raise_errors(together([upgrade] * 20))
    assert catalog(installed) == catalog(fresh)
    assert recorded(installed) == recorded(fresh)


@pytest.mark.concurrent
def test_calls_during_upgrades_wait_and_succeed(new: Release, fresh: str, installed: str) -> None:
    """Neither deadlocks with the installer, nor stumbles over what a connection has cached."""
    text = new.one_file()
    done = threading.Event()

    def use() -> int:
        count = 0
        with psycopg.connect(installed, autocommit=True, prepare_threshold=0) as conn:
            user = uuid.uuid4()
            session = open_session(conn, user)
            while not done.is_set() or count == 0:
                append(conn, user, session, said("Do I like tea?"))
                call(conn, "remember", p_user_id=user, p_content=f"I like tea {uuid.uuid4().hex}")
                call(conn, "get_memories", p_user_id=user)
                call(conn, "search", p_user_id=user, p_query="tea")
                call(conn, "compile_context", p_user_id=user, p_session_id=session)
                count += 1
            # once more, after the last upgrade
            call(conn, "search", p_user_id=user, p_query="tea")
        return count

    def upgrade() -> None:
        try:
            for _ in range(3):
                time.sleep(1)
                with psycopg.connect(installed) as conn:
                    conn.execute(text.encode())
        finally:
            done.set()

    results = together([use, use, use, upgrade])
    raise_errors(results)
    assert min(results[:3]) > 1
    assert catalog(installed) == catalog(fresh)


def test_composite_types_that_stay_alike_keep_their_oids(new: Release, installed: str) -> None:
    query = ("select t.typname::text as name, t.oid::bigint as oid from pg_type as t"
             " join pg_class as c on c.oid = t.typrelid"
             " where c.relnamespace = 'recall'::regnamespace and c.relkind = 'c'")  # fmt: skip

    def oids() -> dict[str, int]:
        with psycopg.connect(installed) as conn:
            return {row["name"]: row["oid"] for row in rows(conn, query)}

    before = oids()
    ROUTES["one file"](new, installed)
    after = oids()
    same = {name for name in before if after.get(name) == before[name]}
    assert "found_memory" in same
    assert len(same) > 10
    assert not [name for name in after if name.startswith("!")]


def test_an_upgrade_names_who_keeps_a_table_locked(new: Release, installed: str) -> None:
    before = catalog(installed)
    with psycopg.connect(installed) as holder, psycopg.connect(installed) as conn:
        holder.execute("lock table recall.memory_store in access share mode")
        conn.execute("set lock_timeout = '1s'")
        with pytest.raises(psycopg.Error, match=rf"process {holder.info.backend_pid} of") as caught:
            conn.execute(new.one_file().encode())
        assert caught.value.sqlstate == "RC007"
    assert catalog(installed) == before


@pytest.mark.concurrent
def test_two_databases_that_share_roles(
    server: TestServer, old: Release, new: Release, fresh: str, installed: str
) -> None:
    """The one that is not upgraded works on; both may be upgraded at once."""
    name = server.create_database("second")
    second = server.dsn(name)
    old.by_psql(second, **SMALL)
    with psycopg.connect(second, autocommit=True) as conn:
        found, wanted = catalog(second), catalog(fresh)
        user, session = fill(conn)
        before = answers(conn, user, session)
        new.by_psql(installed)
        assert catalog(second) == found
        assert answers(conn, user, session) == before
        raise_errors(together([partial(new.by_psql, dsn) for dsn in (installed, second)]))
        assert [catalog(installed), catalog(second)] == [wanted] * 2
    server.drop_database(name)


def test_an_installer_killed_at_ten_points_changes_nothing(
    new: Release, fresh: str, installed: str
) -> None:
    """Each time SIGKILL ends psql after some steps; the next upgrade gives the wanted catalog."""
    with psycopg.connect(installed, autocommit=True) as conn:
        user, session = fill(conn)
        expected = answers(conn, user, session)
        before, history = catalog(installed), recorded(installed)
        steps = new.steps()
        conditions = iter(re.findall(r"recall\.due_\d{4}", new.one_file()))
        assert len(list(conditions)) == 4
        for point in range(1, 11):
            kill_after(installed, steps[: point * len(steps) // 10 - (point == 10)])
            while value(conn, "select count(*) from pg_stat_activity where application_name ="
                              " 'killed'"):  # fmt: skip
                time.sleep(0.01)
            assert catalog(installed) == before, point
            assert recorded(installed) == history, point
            assert answers(conn, user, session) == expected, point
        new.by_psql(installed)
        assert catalog(installed) == catalog(fresh)
        assert answers(conn, user, session) == expected
        check_invariants(conn)


def kill_after(dsn: str, steps: list[str]) -> None:
    """Send steps to psql, wait until it has run them, and end it by SIGKILL."""
    process = subprocess.Popen(
        [tool("psql"), "-qX", "-v", "ON_ERROR_STOP=1", "-d", dsn],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PGAPPNAME": "killed"},
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(steps) + "\n\\echo here\n")
    process.stdin.flush()
    assert process.stdout.readline() == "here\n"
    process.kill()
    process.wait()


def test_upgrade_names_the_schema_of_a_language_beside_the_extensions(empty_dsn: str) -> None:
    """Functions of release 0.1.0 found it, since its schema was on their search path."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("create extension vector; create extension pg_trgm")
        conn.execute("create text search configuration mine (copy = pg_catalog.german)")
        schema.install(conn, embedding_dimensions=4, hash_partitions=1)
        user = uuid.uuid4()
        call(conn, "remember", p_user_id=user, p_content="Ada trinkt Tee.")
        conn.execute("update recall.settings set language = 'mine'")
        conn.execute("""update recall.users set overrides = '{"language": "mine"}'""")
        schema.install(conn)
        home = value(conn, "select current_schema()")
        assert value(conn, "select language from recall.settings") == f"{home}.mine"
        assert value(conn, "select overrides from recall.users") == {"language": f"{home}.mine"}
        call(conn, "remember", p_user_id=user, p_content="Ada mag Tulpen.")
        assert call(conn, "search", p_user_id=user, p_query="Tulpe")


# --- a dropped extension


def test_upgrade_after_a_dropped_extension_names_the_lost_columns(
    empty_dsn: str, server: TestServer
) -> None:
    """The statements of docs/operations/upgrade.md keep the texts where there is no backup."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        server.install(conn, embedding_dimensions=4, hash_partitions=2)
        user, session = fill(conn)
        call(conn, "put_items", p_user_id=user, p_embedding_model="m", p_items=Jsonb([
            {"namespace": ["a"], "key": "k", "value": {"text": "tea"},
             "vectors": [{"path": "text", "embedding": [1, 2]}]}]))  # fmt: skip
        call(conn, "configure", p_changes={"embed_messages": True})
        conn.execute(
            "insert into recall.message_search (user_id, session_id, turn_index, message_id, role,"
            " created_at, search_vector, embedding, embedding_model)"
            " select h.user_id, h.session_id, h.turn_index, h.message_id, h.role, h.created_at, '',"
            " '[1,2,3,4]', s.embedding_model from recall.conversation_history as h, recall.settings"
            " as s"
        )
        conn.execute("update recall.sessions set indexed_through_turn = turn_count")
        conn.execute("delete from recall.jobs")
        before = catalog(empty_dsn)
        kept = rows(conn, "select * from recall.memory_store order by memory_id")
        conn.execute("drop extension vector cascade")
        dropped = catalog(empty_dsn)
        status, detail, _ = finding(conn, "extensions")
        assert (status, detail[:48]) == ("fail", "missing: extension vector, columns item_vectors.")
        for _ in range(2):  # creating the extension again does not help
            with pytest.raises(InstallError, match=r"jobs\.vectors, memory_embed") as caught:
                server.install(conn)
            assert (caught.value.sqlstate, caught.value.file) == ("RC007", "sql/lost_columns.sql")
            assert "upgrade.md" in str(caught.value.hint)
            assert catalog(empty_dsn) == dropped
            conn.execute("create extension if not exists vector")
            dropped = catalog(empty_dsn)

        page = (ROOT / "docs" / "operations" / "upgrade.md").read_text(encoding="utf-8")
        (script,) = re.findall(r"(?ms)^## A dropped extension\n.*?^```sql\n(.*?)^```", page)
        conn.execute(script.encode())
        server.install(conn)
        made = Counter(map(unordered, catalog(empty_dsn).split("\n")))
        wanted = Counter(map(unordered, before.split("\n")))
        assert (made - wanted, wanted - made) == (Counter(), Counter())
        assert finding(conn, "extensions")[0] == "ok"
        assert rows(conn, "select * from recall.memory_store order by memory_id") == kept
        check_invariants(conn)
        call(conn, "run_maintenance", p_task="enqueue_missing_embeddings")
        assert rows(conn, "select session_id from recall.jobs where kind = 'embed' order by 1") == [
            {"session_id": session}, {"session_id": None}]  # fmt: skip
        call(conn, "remember", p_user_id=user, p_content="Ada reads.", p_embedding="[1,2,3,4]")
        append(conn, user, session, said("after"))


def unordered(line: str) -> str:
    """Return a line of a dump without the comma that says whether more columns follow."""
    return line.removesuffix(",")
