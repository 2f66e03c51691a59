"""`health` names each problem and the action that resolves it."""

from __future__ import annotations

import ast
import json
import re
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgrecall import schema
from pgrecall.embedded import EmbeddedServer
from support import call, finding, open_session, our_role, rows, value
from support.everyfunction import CALLS, World, furnish
from support.servers import DIMENSIONS

Connection = psycopg.Connection[Any]


@pytest.fixture(autouse=True)
def rolled_back(db: Connection) -> Iterator[None]:
    db.autocommit = False
    yield
    db.rollback()


def enqueue(db: Connection, user: uuid.UUID, ago: str, kind: str = "embed") -> uuid.UUID:
    return value(
        db,
        "select recall.enqueue_job(%s, %s, p_run_at => now() - %s::interval)",
        [user, kind, ago],
    )


def test_all_is_well_after_installation(db: Connection) -> None:
    found = {row["name"]: row for row in call(db, "health")}
    assert {"version", "owner", "roles", "search_path", "partitions", "queue", "leases",
            "dead_jobs", "maintenance"} <= set(found)  # fmt: skip
    assert {row["status"] for row in found.values()} <= {"ok", "warn"}
    for name in ("owner", "roles", "search_path", "partitions", "queue", "leases", "dead_jobs"):
        assert found[name]["status"] == "ok", found[name]
        assert found[name]["hint"] is None


@pytest.mark.parametrize(("month", "status"), [("now()", "fail"), ("now() + '1 month'", "warn")])
def test_health_reports_a_missing_month(db: Connection, month: str, status: str) -> None:
    (leaf,) = rows(
        db,
        "select l.leaf::text as name from recall._month_leaves('recall.conversation_history_p3')"
        f" as l where l.lower_bound <= date_trunc('month', {month}, 'UTC')"
        f" and date_trunc('month', {month}, 'UTC') < l.upper_bound",
    )
    db.execute(f"drop table {leaf['name']}".encode())
    found = finding(db, "partitions")
    assert found[0] == status
    assert "1 parents lack this month" in found[1] or "1 the next one" in found[1]
    assert found[2] == "select * from recall.ensure_partitions();"
    db.execute(found[2].encode())
    assert finding(db, "partitions")[0] == "ok"


def test_health_accepts_the_configured_months_ahead(db: Connection) -> None:
    db.execute("select recall.configure('{\"history_months_ahead\": 1}')")
    assert finding(db, "partitions")[0] == "ok"


@pytest.mark.parametrize(
    ("ago", "status"), [("1 minute", "ok"), ("11 minutes", "warn"), ("61 minutes", "fail")]
)
def test_queue_turns_red_when_due_work_waits(
    db: Connection, user: uuid.UUID, ago: str, status: str
) -> None:
    enqueue(db, user, ago)
    found = finding(db, "queue")
    assert found[0] == status
    assert found[1].startswith("1 jobs due, the oldest since")
    assert (found[2] is None) == (status == "ok")


def test_health_warns_of_a_lapsed_lease(db: Connection, user: uuid.UUID) -> None:
    enqueue(db, user, "1 minute")
    call(db, "claim_jobs", p_worker="w")
    assert finding(db, "leases")[0] == "ok"
    db.execute("update recall.jobs set lease_until = now() - interval '6 minutes'")
    found = finding(db, "leases")
    assert found[0] == "warn"
    assert found[2] is not None
    db.execute(found[2].encode())
    assert finding(db, "leases")[0] == "ok"


def test_health_reports_a_dead_job(db: Connection, user: uuid.UUID) -> None:
    enqueue(db, user, "1 minute")
    (job,) = call(db, "claim_jobs", p_worker="w")
    call(db, "fail_job", p_user_id=user, p_job_id=job["job_id"],
         p_lease_token=job["lease_token"], p_error="poison", p_retry=False)  # fmt: skip
    found = finding(db, "dead_jobs")
    assert (found[0], found[1]) == ("fail", "1 jobs failed for good: 1 embed")
    call(db, "retry_dead_jobs")
    assert finding(db, "dead_jobs")[0] == "ok"


def test_health_fails_for_each_role_that_may_create_where_the_functions_look(
    db: Connection,
) -> None:
    assert finding(db, "search_path")[0] == "ok"
    with db.transaction(force_rollback=True):
        db.execute("create role sneaky; grant create on schema recall to sneaky, public")
        status, detail, hint = finding(db, "search_path")
        assert (status, detail[:17]) == ("fail", "PUBLIC, sneaky ma")
        assert hint == "Its owner runs: revoke create on schema recall from PUBLIC, sneaky;"
        db.execute(hint.removeprefix("Its owner runs: ").encode())
        assert finding(db, "search_path")[0] == "ok"


def test_health_fails_for_a_function_with_another_search_path(db: Connection) -> None:
    with db.transaction(force_rollback=True):
        db.execute("alter function recall.user_id(text) set search_path to public")
        status, detail, hint = finding(db, "search_path")
        assert (status, hint) == ("fail", "Run the installer again.")
        assert detail == "another search path is set for user_id(text)"


def test_dropped_text_search_configuration_is_named(db: Connection) -> None:
    assert finding(db, "language") == ("ok", "texts are searched as english", None)
    with db.transaction(force_rollback=True):
        db.execute("create text search configuration public.mine (copy = pg_catalog.english)")
        call(db, "configure", p_changes={"language": "public.mine"})
        assert finding(db, "language")[0] == "ok"
        db.execute("drop text search configuration public.mine")
        status, detail, hint = finding(db, "language")
        assert (status, "is dropped" in detail) == ("fail", True)
        # other settings can be changed all the same
        call(db, "configure", p_changes={"embed_batch": 64})
        assert hint
        assert "recall.configure" in hint
        call(db, "configure", p_changes={"language": "english"})
        assert finding(db, "language")[0] == "ok"


def test_health_reports_a_failing_or_late_task(db: Connection) -> None:
    call(db, "run_due_maintenance")
    assert finding(db, "maintenance")[0] == "ok"
    db.execute("update recall.maintenance_tasks set last_run_at = now() - interval '9 days'"
               " where task = 'ensure_partitions'")  # fmt: skip
    found = finding(db, "maintenance")
    assert found[0] == "warn"
    assert found[1].startswith("ensure_partitions: late, last run 20")
    assert "pgrecall worker" in str(found[2])
    db.execute("update recall.maintenance_tasks set last_run_at = now() - interval '11 days'"
               " where task = 'ensure_partitions'")  # fmt: skip
    assert finding(db, "maintenance")[0] == "fail"
    call(db, "run_maintenance", p_task="ensure_partitions")
    assert finding(db, "maintenance")[0] == "ok"
    db.execute("update recall.maintenance_tasks set last_result = '{\"error\": \"disk full\"}'"
               " where task = 'ensure_partitions'")  # fmt: skip
    found = finding(db, "maintenance")
    assert (found[0], found[1]) == ("fail", "ensure_partitions: disk full")
    assert "run_maintenance" in str(found[2])


@pytest.mark.parametrize(("failures", "status"), [(1, "warn"), (2, "warn"), (3, "fail")])
def test_health_reports_lock_timeouts_of_a_task_only_when_repeated(
    db: Connection, failures: int, status: str
) -> None:
    """The next run tries again; only when that goes on something is wrong."""
    call(db, "run_due_maintenance")
    db.execute("update recall.maintenance_tasks set failures = %s,"
               " last_result = '{\"error\": \"lock timeout\", \"sqlstate\": \"55P03\"}'"
               " where task = 'ensure_partitions'", [failures])  # fmt: skip
    found = finding(db, "maintenance")
    assert found[0] == status
    assert (f"{failures} times in a row" in found[1]) == (failures > 1)


@pytest.mark.parametrize(
    ("by", "ago", "status", "words", "hint"),
    [
        ("worker", "1 minute", "ok", "maintenance was run by a worker", None),
        ("pg_cron", "1 minute", "ok", "maintenance was run by pg_cron", None),
        (
            "worker",
            "11 minutes",
            "warn",
            "by a worker, the last time 00:11",
            "schedule_maintenance",
        ),
        (
            "pg_cron",
            "11 minutes",
            "warn",
            "by pg_cron, the last time 00:11",
            "cron.job_run_details",
        ),
    ],
)
def test_health_names_who_runs_maintenance(
    db: Connection, by: str, ago: str, status: str, words: str, hint: str | None
) -> None:
    db.execute("update recall.maintenance_tasks set last_run_by = %s,"
               " last_run_at = now() - %s::interval", [by, ago])  # fmt: skip
    found = finding(db, "scheduler")
    assert found[0] == status
    assert words in found[1]
    assert hint in str(found[2]) if hint else found[2] is None


def test_health_reports_that_nobody_runs_maintenance(db: Connection) -> None:
    db.execute("update recall.migrations set applied_at = now()")  # the template may be old
    assert finding(db, "scheduler")[:2] == ("ok", "nobody has run maintenance yet")
    db.execute("update recall.migrations set applied_at = now() - interval '11 minutes'")
    assert finding(db, "scheduler")[0] == "warn"
    call(db, "run_maintenance", p_task="ensure_partitions")
    assert finding(db, "scheduler")[0] == "warn", "a call by hand is nobody's duty"
    call(db, "run_due_maintenance")
    assert finding(db, "scheduler")[0] == "ok"


def test_health_works_in_a_read_only_transaction(db: Connection, user: uuid.UUID) -> None:
    open_session(db, user)
    db.commit()
    db.execute("set transaction read only")
    assert call(db, "health")


@pytest.mark.parametrize(
    ("kind", "row"),
    [("extract", "extraction"), ("embed", "embeddings"), ("compact", "summaries"),
     ("summarize", "summaries"), ("merge", None)],
)  # fmt: skip
@pytest.mark.parametrize(
    ("ago", "status"), [("50 minutes", "ok"), ("2 hours", "warn"), ("25 hours", "fail")]
)
def test_backlog_is_measured_from_when_the_work_was_left(
    db: Connection, user: uuid.UUID, kind: str, row: str | None, ago: str, status: str
) -> None:
    """Measured from when the work was left, however often it was tried again since."""
    enqueue(db, user, "1 minute", kind)
    db.execute("update recall.jobs set attempts = 3, run_at = now() + interval '1 hour',"
               " created_at = now() - %s::interval", [ago])  # fmt: skip
    for name in ("extraction", "embeddings", "summaries"):
        found = finding(db, name)
        assert found[0] == (status if name == row else "ok")
        assert found[1].startswith("1 " if name == row else "0 ")
        assert (found[2] is None) == (found[0] == "ok")


def test_work_that_is_not_due_is_not_late(db: Connection, user: uuid.UUID) -> None:
    enqueue(db, user, "-1 hour", "extract")
    db.execute("update recall.jobs set created_at = now() - interval '2 days'")
    assert finding(db, "extraction")[0] == "ok"


def test_dead_jobs_by_kind(db: Connection, user: uuid.UUID) -> None:
    for kind in ("embed", "merge"):
        enqueue(db, user, "1 minute", kind)
    db.execute("update recall.jobs set state = 'dead'")
    assert finding(db, "dead_jobs")[1] == "2 jobs failed for good: 1 embed, 1 merge"


def test_health_warns_of_an_outdated_extension(db: Connection) -> None:
    assert finding(db, "extensions")[0] == "ok"
    db.execute("set local allow_system_table_mods = on")
    db.execute("update pg_extension set extversion = '0.7.0' where extname = 'vector'")
    found = finding(db, "extensions")
    assert found[0] == "warn"
    assert "vector 0.7.0" in found[1]
    assert found[2] == "alter extension vector update;"


def test_health_fails_for_a_dropped_extension(db: Connection) -> None:
    with db.transaction(force_rollback=True):
        db.execute("drop extension pg_trgm cascade")
        status, detail, hint = finding(db, "extensions")
        assert (status, hint) == ("fail", "Run the installer again.")
        assert detail.startswith("missing: extension pg_trgm; vector ")
        status, detail, hint = finding(db, "integrity")
        assert (status, hint) == ("fail", "Run the installer again.")
        assert detail == "missing: _word_similarity(p_word text, p_text text)"
    with db.transaction(force_rollback=True):
        db.execute("drop extension vector cascade")
        db.execute("create extension vector")
        status, detail, hint = finding(db, "extensions")
        assert (status, "restore a backup" in str(hint)) == ("fail", True)
        assert detail.startswith("missing: columns item_vectors.embedding, jobs.vectors, ")
        assert "more" in finding(db, "integrity")[1]


def test_health_knows_each_column_that_a_dropped_extension_takes_along(db: Connection) -> None:
    columns = value(
        db,
        "select string_agg(format('%s.%s', c.relname, a.attname), ', ')"
        " from pg_class as c join pg_attribute as a on a.attrelid = c.oid"
        " where c.relnamespace = 'recall'::regnamespace and c.relkind in ('r', 'p')"
        " and not c.relispartition and a.attnum > 0",
    ).split(", ")
    db.execute("drop extension vector cascade")
    left = value(
        db,
        "select array_agg(format('%s.%s', c.relname, a.attname))"
        " from pg_class as c join pg_attribute as a on a.attrelid = c.oid"
        " where c.relnamespace = 'recall'::regnamespace and a.attnum > 0",
    )
    lost = value(db, "select recall._lost_columns()").split(", ")
    assert sorted(lost) == sorted(set(columns) - set(left))


def test_health_reports_a_dropped_function_and_trigger(db: Connection) -> None:
    assert finding(db, "integrity")[0] == "ok"
    (trigger,) = rows(
        db,
        "select t.tgname, t.tgrelid::regclass::text as table from pg_trigger as t"
        " join pg_class as c on c.oid = t.tgrelid where c.relnamespace = 'recall'::regnamespace"
        " and t.tgparentid = 0 and not t.tgisinternal order by 1, 2 limit 1",
    )
    db.execute(f"drop trigger {trigger['tgname']} on {trigger['table']}".encode())
    db.execute("drop function recall.user_id(text)")
    status, detail, hint = finding(db, "integrity")
    assert (status, hint) == ("fail", "Run the installer again.")
    table = trigger["table"].removeprefix("recall.")
    assert detail == f"missing: {trigger['tgname']} on {table}, user_id(p_external_id text)"


def test_health_reports_a_table_without_row_security(db: Connection) -> None:
    assert finding(db, "row_security")[0] == "ok"
    db.execute("alter table recall.conversation_history_p3 disable row level security")
    found = finding(db, "row_security")
    assert found[:2] == ("fail", "row-level security is off on recall.conversation_history_p3")
    db.execute(str(found[2]).removeprefix("Run the installer again, or: ").encode())
    assert finding(db, "row_security")[0] == "ok"


def test_health_reports_a_function_granted_to_public(db: Connection) -> None:
    db.execute("grant execute on function recall.search to public")
    found = finding(db, "public")
    assert found[0] == "fail"
    assert "anybody may execute recall.search(" in found[1]
    db.execute(str(found[2]).removeprefix("Run the installer again, or: ").encode())
    assert finding(db, "public")[0] == "ok"


def test_writes_that_a_crash_may_lose(db: Connection) -> None:
    db.execute("set local synchronous_commit = off")
    found = finding(db, "durability")
    assert found[0] == "warn"
    assert "synchronous_commit = off" in found[1]
    assert "alter system set synchronous_commit = on;" in str(found[2])


def test_autovacuum_row_warns_without_track_counts(db: Connection) -> None:
    assert finding(db, "autovacuum")[0] == "ok"
    db.execute("set local track_counts = off")
    found = finding(db, "autovacuum")
    assert found[0] == "warn"
    assert "track_counts = on" in str(found[2])


def test_vacuum_does_not_keep_pace(db: Connection, connect: Callable[..., Connection]) -> None:
    other = connect()
    other.execute("alter table recall.memory_access_log set (autovacuum_enabled = off)")
    other.execute("insert into recall.memory_access_log select gen_random_uuid(),"
                  " gen_random_uuid(), 0, now() from generate_series(1, 10100)")  # fmt: skip
    other.execute("delete from recall.memory_access_log")
    other.execute("select pg_stat_force_next_flush()")
    found = finding(connect(), "vacuum")
    other.execute("alter table recall.memory_access_log reset (autovacuum_enabled)")
    assert found[:2] == ("warn", "dead rows: memory_access_log 10100")
    other.execute(str(found[2]).partition("now: ")[2].encode())
    other.execute("select pg_stat_force_next_flush()")
    assert finding(connect(), "vacuum")[0] == "ok"


@pytest.mark.slow
def test_health_warns_of_a_small_lock_table() -> None:
    """And a server whose writes last."""
    home = Path(tempfile.mkdtemp(prefix="pgrecall-test-"))

    def running(locks: str) -> EmbeddedServer:
        return EmbeddedServer(home, settings={
            "max_connections": "20", "max_locks_per_transaction": locks,
            "autovacuum_worker_slots": "3", "max_wal_senders": "0"})  # fmt: skip

    try:
        with running("128") as server, psycopg.connect(server.dsn, autocommit=True) as conn:
            schema.install(conn, embedding_dimensions=4, hash_partitions=1)
        with (
            running("30") as server,
            psycopg.connect(server.dsn, autocommit=True) as conn,
        ):
            assert finding(conn, "locks")[0] == "ok"
            call(conn, "configure", p_changes={"history_months_ahead": 24})
            while call(conn, "ensure_partitions", p_limit=10)[0]["more"]:
                pass
            found = finding(conn, "locks")
            assert found[0] == "warn"
            assert "tables and indexes; the first calls of 20 connections" in found[1]
            assert found[2] == "alter system set max_locks_per_transaction = 64; and restart."
            assert finding(conn, "durability")[0] == "ok"
    finally:
        shutil.rmtree(home, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.concurrent
def test_first_calls_at_once_fail_until_the_named_lock_table_is_set() -> None:
    """Each connection makes the largest call of a turn, and keeps its locks until all have."""
    (asked,) = [each for each in CALLS if str(each) == "compile_context split, recalled"]
    home = Path(tempfile.mkdtemp(prefix="pgrecall-test-"))

    def first_calls(dsn: str, world: World) -> int:
        with ExitStack() as stack:
            for made in range(57):
                conn = stack.enter_context(psycopg.connect(dsn))
                try:
                    conn.execute(asked.query.encode(), world).fetchall()
                except psycopg.errors.OutOfMemory:
                    conn.rollback()
                    return made
            return 57

    def running(locks: str) -> EmbeddedServer:
        return EmbeddedServer(
            home, settings={"max_connections": "60", "max_locks_per_transaction": locks}
        )

    try:
        with running("256") as server, psycopg.connect(server.dsn, autocommit=True) as conn:
            schema.install(conn, embedding_dimensions=DIMENSIONS, hash_partitions=8)
            world = furnish(conn, "marked")
            assert finding(conn, "locks")[0] == "ok"
        with running("10") as server:
            with psycopg.connect(server.dsn, autocommit=True) as conn:
                status, _, hint = finding(conn, "locks")
                assert status == "warn"
            assert first_calls(server.dsn, world) < 57
        (named,) = re.findall(r"max_locks_per_transaction = (\d+);", str(hint))
        with running(named) as server:
            with psycopg.connect(server.dsn, autocommit=True) as conn:
                assert finding(conn, "locks")[0] == "ok"
            assert first_calls(server.dsn, world) == 57
    finally:
        shutil.rmtree(home, ignore_errors=True)


def test_parameters_of_a_default_server_are_well(db: Connection) -> None:
    assert finding(db, "parameters") == ("ok", "no server parameter harms the schema", None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"plan_cache_mode": "force_custom_plan"},
         "plan_cache_mode is force_custom_plan, better auto: each function"),
        ({"plan_cache_mode": "force_generic_plan"}, "plan_cache_mode is force_generic_plan"),
        ({"work_mem": "64kB"}, "work_mem is 64kB, better 4MB: a search sorts"),
        ({"work_mem": "1GB"}, "work_mem is 1GB, better 64MB: 100 connections may take it"),
        ({"maintenance_work_mem": "2MB"}, "maintenance_work_mem is 2MB, better 64MB"),
        ({"statement_timeout": "900ms"}, "statement_timeout is 900ms, better 5s"),
        ({"enable_hashjoin": "off", "enable_sort": "off"},
         "enable_hashjoin is off, better on: searches and sweeps are planned with it; enable_sort"),
        ({"enable_partition_pruning": "off"}, "enable_partition_pruning is off, better on"),
    ],
)  # fmt: skip
def test_health_warns_of_harmful_parameters(
    db: Connection, changes: dict[str, str], said: str
) -> None:
    for name, setting in changes.items():
        db.execute("select set_config(%s, %s, true)", [name, setting])
    status, detail, hint = finding(db, "parameters")
    assert (status, detail.startswith(said)) == ("warn", True), detail
    for name in changes:
        assert f"alter system set {name} = " in str(hint)
    assert "restart" not in str(hint)


@pytest.mark.parametrize(
    "changes",
    [
        {"work_mem": "1MB"},
        {"work_mem": "64MB", "effective_cache_size": "1GB"},
        {"work_mem": "160MB"},
        {"maintenance_work_mem": "16MB"},
        {"statement_timeout": "1s"},
        {"statement_timeout": "0"},
        {"enable_seqscan": "off", "jit": "off"},
    ],
)  # fmt: skip
def test_health_accepts_harmless_parameters(db: Connection, changes: dict[str, str]) -> None:
    for name, setting in changes.items():
        db.execute("select set_config(%s, %s, true)", [name, setting])
    assert finding(db, "parameters")[0] == "ok"


def test_wal_that_forces_checkpoints(db: Connection) -> None:
    """More than half of max_wal_size between two checkpoints, on average of an hour or more."""
    most = value(db, "select pg_size_bytes(current_setting('max_wal_size'))")
    hour = round(12 * 0.6 * most)  # a checkpoint every five minutes
    judge = "select status, detail from recall._health_parameters(%s, now() - %s::interval)"
    (found,) = rows(db, judge, [hour, "1 hour 1 second"])
    assert found["status"] == "warn"
    better = round(1.8 * most / 1024**2)
    assert f"B, better {better}MB: " in found["detail"]
    assert "of WAL between two checkpoints force more of them" in found["detail"]
    for wal, since in (
        (hour, "59 minutes"),
        (hour, "2 hours"),
        (round(hour * 0.8), "1 hour 1 second"),
    ):
        assert rows(db, judge, [wal, since])[0]["status"] == "ok", (wal, since)


def test_buffers_too_small_for_the_schema(db: Connection) -> None:
    db.execute("set local allow_system_table_mods = on")
    pages = "update pg_class set relpages = %s where oid = 'recall.jobs_pkey'::regclass"
    db.execute(pages.encode(), [7 * 2**17])
    assert finding(db, "parameters")[0] == "ok"
    db.execute(pages.encode(), [4 * 2**20])
    status, detail, hint = finding(db, "parameters")
    assert status == "warn"
    assert "better 8GB: the schema has 32 GB; a quarter of the memory is usual" in detail
    assert str(hint).startswith("alter system set shared_buffers = '8GB'; select pg_reload_conf();")
    assert "And restart." in str(hint)


def test_the_server_takes_no_writes(db: Connection) -> None:
    assert finding(db, "writes")[0] == "ok"
    db.execute("set local default_transaction_read_only = on")
    found = finding(db, "writes")
    assert found[:2] == ("fail", "default_transaction_read_only = on")
    assert "alter system reset default_transaction_read_only" in str(found[2])


@pytest.mark.parametrize(("age", "status"), [(1_100_000_000, "warn"), (1_900_000_000, "fail")])
def test_transaction_ids_run_out(db: Connection, age: int, status: str) -> None:
    db.execute("set local allow_system_table_mods = on")
    db.execute(
        "update pg_database set datfrozenxid = mod(pg_current_xact_id()::text::numeric"
        " - %s + 4294967296, 4294967296)::bigint::text::xid where datname = current_database()",
        [age],
    )
    found = finding(db, "writes")
    assert found[0] == status
    assert f"{age // 1_000_000} million" in found[1]
    assert "vacuum (freeze)" in str(found[2])


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (("update pg_index set indisvalid = false where indexrelid = "
         "'recall.memory_store_p3_pkey'::regclass"),
         "index memory_store_p3_pkey is not valid"),
        ("alter table recall.memory_events disable trigger memory_events_no_update",
         "trigger memory_events_no_update of memory_events is off"),
        (("alter table recall.jobs drop constraint jobs_payload_check,"
         " add constraint jobs_payload_check check (jsonb_typeof(payload) = 'object') not valid"),
         "constraint jobs_payload_check of jobs is not validated"),
    ],
)  # fmt: skip
def test_what_keeps_writes_in_order_is_off(db: Connection, broken: str, says: str) -> None:
    assert finding(db, "integrity")[0] == "ok"
    db.execute("set local allow_system_table_mods = on")
    db.execute(broken.encode())
    found = finding(db, "integrity")
    assert found[0] == "fail"
    assert says in found[1]
    db.execute(str(found[2]).removeprefix("Run the installer again, or: ").encode())
    assert finding(db, "integrity")[0] == "ok"


def test_disputes_that_nobody_settles(db: Connection, user: uuid.UUID) -> None:
    call(db, "remember", p_user_id=user, p_content="User works at Acme", p_slot="employer")
    (row,) = call(db, "ingest_memories", p_user_id=user, p_session_id=None, p_candidates=[
        {"content": "User works at Initech", "slot": "employer", "source": "tool",
         "provenance": "tool_output"}])  # fmt: skip
    assert row["outcome"] == "disputed"
    assert finding(db, "disputes")[0] == "ok"
    db.execute("update recall.memory_store set created_at = created_at - interval '31 days',"
               " ended_at = ended_at - interval '31 days' where disputes is not null")  # fmt: skip
    found = finding(db, "disputes")
    assert found[0] == "warn"
    assert found[1].startswith("1 contradictions of what 1 users said are open, the oldest since 3")
    assert "recall.resolve_dispute" in str(found[2])
    call(db, "resolve_dispute", p_user_id=user, p_memory_id=row["memory_id"], p_accept=False)
    assert finding(db, "disputes")[0] == "ok"


def test_health_warns_of_a_missing_role(db: Connection) -> None:
    reader = our_role(db, "recall_reader")
    prefix = reader.removesuffix("_reader")
    db.execute(f"alter role {reader} rename to {reader}_gone".encode())
    found = finding(db, "roles")
    assert found[:2] == ("warn", f"3 of 4 application roles exist ({prefix}_*)")
    assert "CREATEROLE" in str(found[2])


def test_prompts_are_as_they_were_set(db: Connection) -> None:
    assert finding(db, "prompts")[0] == "ok"
    own = {"p_name": "extract", "p_content": "Extract facts.", "p_version": "own-1"}
    call(db, "set_prompt", **own)
    assert finding(db, "prompts") == (
        "ok", "each step has a prompt, and none was changed by hand", None
    )  # fmt: skip

    db.execute("update recall.prompts set content = content || ' Be brief.'"
               " where version = 'own-1' or name = 'merge'")  # fmt: skip
    status, detail, hint = finding(db, "prompts")
    assert (status, detail) == ("warn", "changed by hand: extract@own-1, merge@1")
    assert "recall.set_prompt" in str(hint)


def test_prompt_language_without_prompts(db: Connection) -> None:
    call(db, "configure", p_changes=json.dumps({"prompt_language": "de"}))
    status, detail, hint = finding(db, "prompts")
    assert (status, "prompt_language, de" in detail) == ("warn", True)
    assert "p_language => 'de'" in str(hint)
    call(db, "set_prompt", p_name="extract", p_content="Finde Fakten.", p_version="own-1",
         p_language="de")  # fmt: skip
    assert finding(db, "prompts")[0] == "ok"


def test_prompt_that_its_step_cannot_use(db: Connection) -> None:
    """A release whose step reads one more field; then no prompt is in use at all."""
    call(db, "set_prompt", p_name="summarize", p_content="Be brief.", p_version="own-1")
    db.execute("select recall._ship_prompt('summarize', '2', 'en', 1, 1, 'Sum up.',"
               " jsonb_set(s.schema, '{properties,title}', '{\"type\": \"string\"}'))"
               " from recall.prompts as s where s.name = 'summarize' and is_shipped")  # fmt: skip
    status, detail, _ = finding(db, "prompts")
    assert (status, "summarize@own-1: the answer lacks property title" in detail) == ("fail", True)
    db.execute("delete from recall.prompts where name = 'summarize'")
    assert finding(db, "prompts") == (
        "fail", "no prompt is in use for summarize", "Run the installer again."
    )  # fmt: skip


def strings_of_tests() -> Iterator[set[str]]:
    """Yield the strings of each test function there is, those of its parameters included."""
    for path in Path(__file__).parents[1].rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield {
                    part.value
                    for part in ast.walk(node)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                }


def test_unfinished_backfill_of_a_disabled_task_warns(db: Connection) -> None:
    db.execute("insert into recall.backfills (backfill, migration, table_name)"
               " values ('words', '0001_add_words', 'users')")  # fmt: skip
    status, detail, hint = finding(db, "backfills")
    assert (status, detail[:38], hint) == ("ok", "words of 0001_add_words: 0 of about 0 ", None)
    call(db, "configure_maintenance", p_task="run_backfills", p_changes={"enabled": False})
    status, _, hint = finding(db, "backfills")
    assert status == "warn"
    db.execute(hint)
    assert finding(db, "backfills")[0] == "ok"


def test_every_row_turns_red_somewhere(db: Connection) -> None:
    """A row that no test has seen red may never turn red."""
    red = set().union(*(words for words in strings_of_tests() if {"warn", "fail"} & words))
    rows_of_health = {row["name"] for row in call(db, "health")} | {"slow_statements"}
    assert rows_of_health - red <= {"version"}


def test_slow_statements_are_named_without_their_text(
    db: Connection, connect: Callable[..., Connection]
) -> None:
    preloaded = value(db, "select current_setting('shared_preload_libraries')")
    assert "slow_statements" not in {row["name"] for row in call(db, "health")}
    other = connect()
    other.execute("create extension pg_stat_statements")
    if "pg_stat_statements" not in preloaded:
        found = finding(other, "slow_statements")
        assert (found[0], found[2]) == ("ok", "It belongs into shared_preload_libraries.")
    else:
        assert finding(other, "slow_statements")[0] == "ok"
        for _ in range(5):
            other.execute("select pg_sleep(0.26), recall.version()")
        found = finding(other, "slow_statements")
        assert found[0] == "ok", "the owner may not see it"
        owner = our_role(other, "recall_owner")
        assert found[2] == f"grant pg_read_all_stats to {owner};"
        other.execute(found[2].encode())
        try:
            found = finding(other, "slow_statements")
        finally:
            other.execute(f"revoke pg_read_all_stats from {owner}".encode())
        assert found[0] == "warn"
        assert found[1].endswith("ms (5 calls): recall.version"), "no text of the statement"
    other.execute("drop extension pg_stat_statements")


def test_health_reads_nothing_that_grows_with_users(db: Connection) -> None:
    """As fast for a million memories as for none: it reads no table of theirs."""
    call(db, "health")
    read = rows(
        db,
        "select distinct c.relname from pg_locks as l join pg_class as c on c.oid = l.relation"
        " where l.pid = pg_backend_pid() and c.relnamespace = 'recall'::regnamespace"
        " and c.relkind in ('r', 'p') and not c.relispartition",
    )
    assert {row["relname"] for row in read} <= {
        "settings", "migrations", "maintenance_tasks", "models", "prompts", "jobs", "job_phases",
        "model_spending", "model_spending_totals",
        "memory_store",  # disputes, by an index of their own
        "recall_samples",  # those of the last week
        "backfills", "embedding_migrations",
    }  # fmt: skip
    db.rollback()
    db.execute("set local enable_seqscan = off")
    plan = value(db, "explain (format json) select from recall.memory_store as m"
                     " where m.disputes is not null limit 10000")  # fmt: skip
    assert "disputes_idx" in json.dumps(plan)
    assert "Seq Scan" not in json.dumps(plan)
