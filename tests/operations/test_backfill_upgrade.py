"""Expand, backfill and contract a column of a million rows, while turns are appended."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgrecall.schema import InstallError
from support import append, call, open_session, raise_errors, rows, said, together, value
from support.invariants import check_invariants
from support.releases import SMALL, Release, catalog
from support.servers import TestServer

Connection = psycopg.Connection[Any]

pytestmark = pytest.mark.slow

USERS = 1000
BACKFILL = """\
-- Fill append_receipts.turns for the next receipts of a user.
create or replace function recall._backfill_turns(
    p_user_id      uuid,
    p_position     jsonb,
    p_limit        integer,
    out o_done     integer,
    out o_position jsonb
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_last  uuid;
    v_count integer;
begin
    select max(d.request_id::text)::uuid, count(*)
      into v_last, v_count
      from (
            select r.request_id
              from recall.append_receipts as r
             where r.user_id = p_user_id
               and r.request_id > coalesce((p_position ->> 'after')::uuid,
                                           '00000000-0000-0000-0000-000000000000')
             order by r.request_id
             limit p_limit
           ) as d;
    update recall.append_receipts as r
       set turns = r.to_turn - r.from_turn + 1
     where r.user_id = p_user_id
       and r.request_id > coalesce((p_position ->> 'after')::uuid,
                                   '00000000-0000-0000-0000-000000000000')
       and r.request_id <= v_last
       and r.turns is null;
    get diagnostics o_done = row_count;
    if v_count = p_limit then
        o_position := jsonb_build_object('after', v_last);
    end if;
end;
$function$;

comment on function recall._backfill_turns(uuid, jsonb, integer) is 'Fill append_receipts.turns.';
"""
COLUMN = "    payload_digest bytea,\n    turns          integer"
COMMENT = "comment on column recall.append_receipts.turns is 'Turns of the append.';\n"


@pytest.fixture(scope="module", autouse=True)
def no_database_stays(server: TestServer) -> Iterator[None]:
    with server.dropping_databases():
        yield


@pytest.fixture(scope="module")
def expand(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Add the column, write it in new rows, and register the backfill of the others."""
    release = Release(tmp_path_factory.mktemp("expand"), "0.2.0")
    table = "sql/tables/history.sql"
    release.replace(
        table,
        r"(?s)(exists recall\.append_receipts .*?)    payload_digest bytea",
        f"\\g<1>{COLUMN}",
    )
    release.replace(table, r"(comment on column recall.append_receipts.created_at)",
                    f"{COMMENT}\\g<1>")  # fmt: skip
    function = "functions/history/append_messages.sql"
    release.replace(function, r"from_turn, to_turn, created_at\)",
                    "from_turn, to_turn, created_at, turns)")  # fmt: skip
    release.replace(
        function,
        r"date_trunc\('minute', v_now\) \+ interval '1 minute'\);",
        "date_trunc('minute', v_now) + interval '1 minute', v_batch.turns);",
    )
    release.write("functions/jobs/maintenance/_backfill_turns.sql", BACKFILL)
    release.include("../functions/jobs/maintenance/_backfill_turns.sql",
                    "../functions/jobs/maintenance/run_backfills.sql")  # fmt: skip
    release.migrate(
        "0001_add_turns",
        "alter table recall.append_receipts add column turns integer;\n"
        "insert into recall.backfills (backfill, migration, table_name)\n"
        "values ('turns', '0001_add_turns', 'append_receipts');\n",
    )
    return release


@pytest.fixture(scope="module")
def contract(expand: Release) -> Release:
    """Rely on the column in each row."""
    release = Release(expand.folder.parent, "0.3.0", expand.folder)
    release.replace("sql/tables/history.sql", r"    turns          integer",
                    "    turns          integer     not null")  # fmt: skip
    release.migrate(
        "0002_require_turns",
        "do 'begin perform recall._check_backfill(''turns''); end';\n"
        "alter table recall.append_receipts alter column turns set not null;\n",
    )
    return release


def install(server: Any, release: Release) -> str:
    dsn: str = server.dsn(server.create_database("backfill"))
    release.by_psql(dsn, **SMALL)
    return dsn


def left(conn: Connection) -> int:
    return value(conn, "select count(*) from recall.append_receipts where turns is null")


def test_contract_before_its_backfill_in_one_upgrade_is_refused(
    server: Any, tmp_path: Path, contract: Release
) -> None:
    dsn = install(server, Release(tmp_path, "0.1.0"))
    before = catalog(dsn)
    with pytest.raises(InstallError, match="First install a release that has migration 0001"):
        contract.by_driver(dsn)
    assert catalog(dsn) == before


@pytest.mark.concurrent
@pytest.mark.timeout(1200)
def test_a_million_rows_are_filled_while_turns_are_appended(
    server: Any, tmp_path: Path, expand: Release, contract: Release
) -> None:
    dsn = install(server, Release(tmp_path, "0.1.0"))
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(
            """
            insert into recall.users (user_id, created_at)
            select gen_random_uuid(), now() from generate_series(1, %s)
            """,
            [USERS],
        )
        conn.execute(
            """
            insert into recall.append_receipts
            select u.user_id, gen_random_uuid(), gen_random_uuid(), 1, 1, 2, now()
              from recall.users as u cross join generate_series(1, %s)
            """,
            [1_000_000 // USERS],
        )
        # the upgrade itself touches no row
        before = value(conn, "select pg_current_wal_lsn()")
        expand.by_one_file(dsn)
        assert value(conn, "select pg_current_wal_lsn() - %s", [before]) < 50_000_000
        assert left(conn) == 1_000_000

    done = threading.Event()

    def append_turns() -> int:
        count = 0
        with psycopg.connect(dsn, autocommit=True) as conn:
            user = value(conn, "select user_id from recall.users order by random() limit 1")
            session = open_session(conn, user)
            conn.execute("set lock_timeout = '30s'")
            while not done.is_set():
                append(conn, user, session, said("a", "b", "c"), None, uuid.uuid4())
                count += 1
        return count

    def fill() -> list[int]:
        """Run the task as a worker does; a killed batch and an early contraction change nothing."""
        batches: list[int] = []
        try:
            with psycopg.connect(dsn, autocommit=True) as conn:
                while True:
                    (found,) = call(conn, "run_maintenance", p_task="run_backfills")
                    result = found["run_maintenance"]
                    assert "error" not in result, result
                    batches.append(result["done"])
                    if len(batches) == 5:
                        kill_a_batch(dsn)
                        with pytest.raises(InstallError, match="backfill turns of migration 0001"):
                            contract.by_driver(dsn)
                    if not result["more"]:
                        return batches
        finally:
            done.set()

    results = together([append_turns, append_turns, fill])
    raise_errors(results)
    first, second, batches = results
    assert min(first, second) > 10
    assert sum(batches) == 1_000_000
    assert len(batches) > 20
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert left(conn) == 0
        assert rows(conn, "select turns, count(*) from recall.append_receipts group by 1"
                          " order by 1") == [{"turns": 2, "count": 1_000_000},
                                             {"turns": 3, "count": first + second}]  # fmt: skip
        assert value(conn, "select rows_done from recall.backfills") == 1_000_000
        contract.by_psql(dsn)
        assert catalog(dsn) == catalog(install(server, contract))
        check_invariants(conn)


def kill_a_batch(dsn: str) -> None:
    """End the process of a batch before it commits."""
    other = psycopg.connect(dsn)
    call(other, "run_backfills", p_limit=500)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("select pg_terminate_backend(%s, 5000)", [other.info.backend_pid])
    other.close()
