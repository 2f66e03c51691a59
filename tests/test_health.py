"""What health says when something is wrong, and what it says to do."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from support import call, open_session, rows, value

Connection = psycopg.Connection[Any]


@pytest.fixture(autouse=True)
def rolled_back(db: Connection) -> Iterator[None]:
    db.autocommit = False
    yield
    db.rollback()


def health(db: Connection, name: str) -> tuple[str, str, str | None]:
    (row,) = (row for row in call(db, "health") if row["name"] == name)
    return row["status"], row["detail"], row["hint"]


def enqueue(db: Connection, user: uuid.UUID, ago: str) -> uuid.UUID:
    return value(
        db,
        "select recall.enqueue_job(%s, 'embed', p_run_at => now() - %s::interval)",
        [user, ago],
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
def test_a_month_is_missing(db: Connection, month: str, status: str) -> None:
    (leaf,) = rows(
        db,
        "select l.leaf::text as name from recall._month_leaves('recall.conversation_history_p3')"
        f" as l where l.lower_bound <= date_trunc('month', {month}, 'UTC')"
        f" and date_trunc('month', {month}, 'UTC') < l.upper_bound",
    )
    db.execute(f"drop table {leaf['name']}".encode())
    found = health(db, "partitions")
    assert found[0] == status
    assert "1 parents lack this month" in found[1] or "1 the next one" in found[1]
    assert found[2] == "select * from recall.ensure_partitions();"
    db.execute(found[2].encode())
    assert health(db, "partitions")[0] == "ok"


def test_months_run_out(db: Connection) -> None:
    db.execute("select recall.configure('{\"history_months_ahead\": 1}')")
    assert health(db, "partitions")[0] == "ok"


@pytest.mark.parametrize(
    ("ago", "status"), [("1 minute", "ok"), ("11 minutes", "warn"), ("61 minutes", "fail")]
)
def test_work_waits(db: Connection, user: uuid.UUID, ago: str, status: str) -> None:
    enqueue(db, user, ago)
    found = health(db, "queue")
    assert found[0] == status
    assert found[1].startswith("1 jobs due, the oldest since")
    assert (found[2] is None) == (status == "ok")


def test_a_worker_died(db: Connection, user: uuid.UUID) -> None:
    enqueue(db, user, "1 minute")
    call(db, "claim_jobs", p_worker="w")
    assert health(db, "leases")[0] == "ok"
    db.execute("update recall.jobs set lease_until = now() - interval '6 minutes'")
    found = health(db, "leases")
    assert found[0] == "warn"
    assert found[2] is not None
    db.execute(found[2].encode())
    assert health(db, "leases")[0] == "ok"


def test_a_job_is_dead(db: Connection, user: uuid.UUID) -> None:
    enqueue(db, user, "1 minute")
    (job,) = call(db, "claim_jobs", p_worker="w")
    call(db, "fail_job", p_user_id=user, p_job_id=job["job_id"],
         p_lease_token=job["lease_token"], p_error="poison", p_retry=False)  # fmt: skip
    found = health(db, "dead_jobs")
    assert (found[0], found[1]) == ("fail", "1 jobs failed for good")
    call(db, "retry_dead_jobs")
    assert health(db, "dead_jobs")[0] == "ok"


def test_anybody_may_create_where_the_functions_look(db: Connection) -> None:
    home = value(
        db,
        "select n.nspname from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace"
        " where e.extname = 'vector'",
    )
    db.execute(f"grant create on schema {home} to public".encode())
    found = health(db, "search_path")
    assert found[0] == "warn"
    assert found[2] == f"Its owner runs: revoke create on schema {home} from public;"


def test_a_task_fails_or_is_late(db: Connection) -> None:
    call(db, "run_due_maintenance")
    assert health(db, "maintenance")[0] == "ok"
    db.execute("update recall.maintenance_tasks set last_run_at = now() - interval '9 days'"
               " where task = 'ensure_partitions'")  # fmt: skip
    found = health(db, "maintenance")
    assert found[0] == "warn"
    assert found[1].startswith("ensure_partitions: late, last run 20")
    assert "pgrecall worker" in str(found[2])
    db.execute("update recall.maintenance_tasks set last_run_at = now() - interval '11 days'"
               " where task = 'ensure_partitions'")  # fmt: skip
    assert health(db, "maintenance")[0] == "fail"
    call(db, "run_maintenance", p_task="ensure_partitions")
    assert health(db, "maintenance")[0] == "ok"
    db.execute("update recall.maintenance_tasks set last_result = '{\"error\": \"disk full\"}'"
               " where task = 'ensure_partitions'")  # fmt: skip
    found = health(db, "maintenance")
    assert (found[0], found[1]) == ("fail", "ensure_partitions: disk full")
    assert "run_maintenance" in str(found[2])


@pytest.mark.parametrize(("failures", "status"), [(1, "warn"), (2, "warn"), (3, "fail")])
def test_a_lock_that_was_not_free(db: Connection, failures: int, status: str) -> None:
    """The next run tries again; only when that goes on something is wrong."""
    call(db, "run_due_maintenance")
    db.execute("update recall.maintenance_tasks set failures = %s,"
               " last_result = '{\"error\": \"lock timeout\", \"sqlstate\": \"55P03\"}'"
               " where task = 'ensure_partitions'", [failures])  # fmt: skip
    found = health(db, "maintenance")
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
def test_who_runs_maintenance(
    db: Connection, by: str, ago: str, status: str, words: str, hint: str | None
) -> None:
    db.execute("update recall.maintenance_tasks set last_run_by = %s,"
               " last_run_at = now() - %s::interval", [by, ago])  # fmt: skip
    found = health(db, "scheduler")
    assert found[0] == status
    assert words in found[1]
    assert hint in str(found[2]) if hint else found[2] is None


def test_nobody_runs_maintenance(db: Connection) -> None:
    assert health(db, "scheduler")[:2] == ("ok", "nobody has run maintenance yet")
    db.execute("update recall.migrations set applied_at = now() - interval '11 minutes'")
    assert health(db, "scheduler")[0] == "warn"
    call(db, "run_maintenance", p_task="ensure_partitions")
    assert health(db, "scheduler")[0] == "warn", "a call by hand is nobody's duty"
    call(db, "run_due_maintenance")
    assert health(db, "scheduler")[0] == "ok"


def test_health_reads_only(db: Connection, user: uuid.UUID) -> None:
    open_session(db, user)
    db.commit()
    db.execute("set transaction read only")
    assert call(db, "health")
