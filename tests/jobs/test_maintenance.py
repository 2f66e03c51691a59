"""How maintenance runs: in short transactions, never beside itself, through errors and hangs."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory
from support import call, login_role, refused, rows, value

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

# A sweep over rows of a table; what it is told decides how it goes.
SWEEP = """
create table if not exists public.due (n bigint generated always as identity, xid xid8);
create table if not exists public.manner (says text);
grant all on public.due, public.manner to public;
create or replace function recall.{name}(
    p_limit integer default 5, p_as_of timestamptz default null, out done integer, out more boolean)
language plpgsql as $$
declare v_manner text := (select min(says) from public.manner);
begin
    perform p_as_of;
    if v_manner = 'hang' then perform pg_sleep(60); end if;
    update public.due set xid = pg_current_xact_id()
     where n in (select n from public.due where xid is null order by n limit p_limit);
    get diagnostics done = row_count;
    if v_manner = 'fail' then raise disk_full using message = 'the disk is full'; end if;
    if v_manner = 'slow' then perform pg_sleep(0.02); end if;
    more := exists (select from public.due where xid is null);
    if v_manner in ('look', 'walk') then done := 0; end if;
    if v_manner = 'walk' then
        update recall.maintenance_tasks as t set position = to_jsonb(clock_timestamp())
         where t.task = '{name}';
    end if;
end $$;
insert into recall.maintenance_tasks (task, schedule, period, batch_size, budget)
values ('{name}', '* * * * *', '1 minute', 5, '10 seconds') on conflict do nothing;
"""


@pytest.fixture(autouse=True)
def sweep(db: Connection) -> Iterator[str]:
    """A task of ours; no other is due, and a transaction ends as early as it is shipped to."""
    db.execute('select recall.configure(\'{"maintenance_lock_time": "100 ms"}\')')
    db.execute("update recall.maintenance_tasks set last_run_at = now()")
    db.execute(SWEEP.format(name="test_sweep").encode())
    yield "test_sweep"
    db.execute("set lock_timeout = '10s'")  # a test that failed may hold locks
    db.execute("delete from recall.maintenance_tasks where task like 'test%'")
    db.execute("drop function recall.test_sweep; drop table public.due, public.manner")


def leave(db: Connection, count: int, manner: str | None = None) -> None:
    db.execute("delete from public.manner")
    db.execute("insert into public.manner values (%s)", [manner])
    db.execute("insert into public.due (xid) select null from generate_series(1, %s)", [count])


def left(db: Connection) -> int:
    return value(db, "select count(*) from public.due where xid is null")


def transactions(db: Connection) -> int:
    return value(db, "select count(distinct xid) from public.due where xid is not null")


def run(db: Connection, task: str) -> dict[str, Any]:
    return call(db, "run_maintenance", p_task=task)[0]["run_maintenance"]


def noted(db: Connection, task: str) -> dict[str, Any]:
    (row,) = (row for row in call(db, "list_maintenance") if row["task"] == task)
    return row


def test_batch_after_batch_until_nothing_is_due(db: Connection, sweep: str) -> None:
    leave(db, 12)
    result = run(db, sweep)
    assert result == {"done": 12, "more": False, "ms": result["ms"]}
    row = noted(db, sweep)
    assert (row["last_result"], row["last_run_by"], row["failures"]) == (result, "call", 0)


def test_run_maintenance_ends_its_transaction_after_a_short_time(
    db: Connection, sweep: str
) -> None:
    """A batch keeps its locks until it ends, so it must be short."""
    leave(db, 1000, "slow")  # 4 s of batches
    before = time.monotonic()
    result = run(db, sweep)
    assert time.monotonic() - before < 2
    assert result["more"] is True
    assert 10 <= result["done"] < 200
    assert left(db) == 1000 - result["done"]


def test_the_lock_time_is_a_setting(db: Connection, sweep: str) -> None:
    leave(db, 20, "slow")
    db.execute('select recall.configure(\'{"maintenance_lock_time": "0"}\')')
    assert run(db, sweep) | {"ms": 0} == {"done": 5, "more": True, "ms": 0}
    db.execute('select recall.configure(\'{"maintenance_lock_time": "1 minute"}\')')
    assert run(db, sweep) | {"ms": 0} == {"done": 15, "more": False, "ms": 0}
    with refused("RC003", "maintenance_lock_time"):
        db.execute('select recall.configure(\'{"maintenance_lock_time": "1 hour"}\')')
    db.execute('select recall.configure(\'{"maintenance_lock_time": "100 ms"}\')')


def test_a_budget_below_the_lock_time(db: Connection, sweep: str) -> None:
    leave(db, 20, "slow")
    db.execute("update recall.maintenance_tasks set budget = '1 ms' where task = %s", [sweep])
    assert run(db, sweep)["done"] == 5


def test_the_procedure_commits_and_goes_on(db: Connection, sweep: str) -> None:
    leave(db, 100, "slow")
    db.execute(b"call recall.maintain('test_sweep')")
    assert left(db) == 0
    assert transactions(db) > 1
    assert noted(db, sweep)["last_run_by"] == "pg_cron"
    assert value(db, "show search_path") != "pg_catalog, pg_temp"
    assert value(db, "show transaction_timeout") == "0"


def test_the_procedure_ends_with_the_budget(db: Connection, sweep: str) -> None:
    leave(db, 2000, "slow")  # 8 s
    db.execute("update recall.maintenance_tasks set budget = '0.5 s' where task = %s", [sweep])
    db.execute(b"call recall.maintain('test_sweep')")
    assert 0 < left(db) < 2000
    assert noted(db, sweep)["last_result"]["more"] is True


def test_the_procedure_needs_the_role_of_workers(
    db: Connection, connect: Connect, sweep: str
) -> None:
    leave(db, 7)
    with login_role(db, member_of=["recall_worker"]) as worker:
        connect(**worker).execute(b"call recall.maintain('test_sweep')")
    assert left(db) == 0
    with login_role(db, member_of=["recall_writer"]) as writer, refused("42501"):
        connect(**writer).execute(b"call recall.maintain('test_sweep')")


def test_the_procedure_knows_its_tasks(db: Connection) -> None:
    with refused("RC003", "unknown maintenance task 'nonsense'"):
        db.execute(b"call recall.maintain('nonsense')")
    with refused("RC003", "unknown maintenance task null"):
        db.execute(b"call recall.maintain(null)")


def test_a_failure_is_noted_and_undone(db: Connection, sweep: str) -> None:
    leave(db, 12, "fail")
    for failures in (1, 2):
        result = run(db, sweep)
        assert (result["error"], result["sqlstate"]) == ("the disk is full", "53100")
        assert (result["done"], result["more"]) == (0, False)
        assert noted(db, sweep)["failures"] == failures
    assert left(db) == 12
    db.execute("update public.manner set says = null")
    run(db, sweep)
    row = noted(db, sweep)
    assert (row["failures"], "error" in row["last_result"], left(db)) == (0, False, 0)


def test_a_failure_keeps_the_batches_before_it(db: Connection, sweep: str) -> None:
    leave(db, 12)
    db.execute("alter table public.due add constraint due_n_check check (xid is null or n < 11)")
    result = run(db, sweep)
    assert result["done"] == 10
    assert "due_n_check" in result["error"]
    assert left(db) == 2


def test_it_never_runs_beside_itself(db: Connection, connect: Connect, sweep: str) -> None:
    leave(db, 5)
    other = connect(autocommit=False)
    assert run(other, sweep)["done"] == 5
    assert run(db, sweep) == {"skipped": "it runs elsewhere"}
    assert call(db, "run_due_maintenance") == [], "nor is it due meanwhile"
    other.rollback()
    assert run(db, sweep)["done"] == 5


def test_a_batch_that_could_do_nothing_is_tried_again_after_a_pause(
    db: Connection, sweep: str
) -> None:
    """Somebody holds what is due: the transaction ends, and the next one is a second later."""
    leave(db, 20, "look")
    assert run(db, sweep) | {"ms": 0} == {"done": 0, "more": True, "waits": True, "ms": 0}
    assert left(db) == 15
    assert call(db, "run_due_maintenance") == []
    db.execute("update recall.maintenance_tasks set last_run_at = last_run_at - interval '1 s'"
               " where task = %s", [sweep])  # fmt: skip
    assert [row["task"] for row in call(db, "run_due_maintenance")] == [sweep]
    started = time.monotonic()
    db.execute(b"call recall.maintain('test_sweep')")
    assert time.monotonic() - started > 0.9
    assert left(db) == 0


def test_a_batch_that_moved_on_is_followed_by_the_next(db: Connection, sweep: str) -> None:
    """A walk over all users that found nothing to do yet does not wait."""
    leave(db, 20, "walk")
    assert run(db, sweep) | {"ms": 0} == {"done": 0, "more": False, "ms": 0}
    assert left(db) == 0


def test_a_hang_is_ended_and_noted(db: Connection, sweep: str) -> None:
    """And what is due after it has its turn at the next call."""
    db.execute(SWEEP.format(name="test_zweep").encode())
    leave(db, 5, "hang")
    db.execute("set statement_timeout = '200ms'")
    (found,) = call(db, "run_due_maintenance")
    assert (found["task"], found["result"]["sqlstate"]) == (sweep, "57014")
    assert noted(db, sweep)["failures"] == 1
    db.execute("update public.manner set says = null")
    assert [row["task"] for row in call(db, "run_due_maintenance")] == ["test_zweep"]
    db.execute("drop function recall.test_zweep")


def test_a_hang_under_the_procedure_ends_its_connection(
    db: Connection, connect: Connect, sweep: str
) -> None:
    leave(db, 5, "hang")
    text = value(db, "select pg_get_functiondef('recall.maintain'::regproc)")
    quick = text.replace("10000 + 2000 *", "200 + 0 *")
    assert quick != text
    db.execute(quick.encode())
    with pytest.raises(psycopg.errors.TransactionTimeout):
        connect().execute(b"call recall.maintain('test_sweep')")
    db.execute(text.encode())
    assert noted(db, sweep)["last_run_at"] is None, "so it is late"
    db.execute("update public.manner set says = null")
    assert run(db, sweep)["done"] == 5, "its lock went with it"


def test_run_due_maintenance_runs_only_due_tasks(db: Connection, sweep: str) -> None:
    assert [row["task"] for row in call(db, "run_due_maintenance")] == [sweep]
    assert call(db, "run_due_maintenance") == []
    db.execute("update recall.maintenance_tasks set last_run_at = now() - interval '59 seconds'"
               " where task = %s", [sweep])  # fmt: skip
    assert call(db, "run_due_maintenance") == []
    db.execute("update recall.maintenance_tasks set last_run_at = now() - interval '61 seconds',"
               " enabled = false where task = %s", [sweep])  # fmt: skip
    assert call(db, "run_due_maintenance") == []
    db.execute("update recall.maintenance_tasks set enabled = true where task = %s", [sweep])
    assert [row["task"] for row in call(db, "run_due_maintenance")] == [sweep]
    assert noted(db, sweep)["last_run_by"] == "worker"


def test_a_clock_that_was_set_back_stops_nothing(db: Connection, sweep: str) -> None:
    """A task that ran in what is the future now is late, says health(), and due."""
    db.execute("update recall.maintenance_tasks set last_run_at = now() + interval '10 years'"
               " where task = %s", [sweep])  # fmt: skip
    [told] = [row for row in call(db, "health") if row["name"] == "maintenance"]
    assert (told["status"], f"{sweep}: late" in told["detail"]) == ("warn", True)
    assert [row["task"] for row in call(db, "run_due_maintenance")] == [sweep]
    assert call(db, "run_due_maintenance") == []


def test_a_backlog_keeps_nothing_else_waiting(db: Connection, sweep: str) -> None:
    db.execute(SWEEP.format(name="test_zweep").encode())
    leave(db, 200, "slow")
    db.execute('select recall.configure(\'{"maintenance_lock_time": "0"}\')')
    ran: list[str] = []
    while found := call(db, "run_due_maintenance"):
        ran += [row["task"] for row in found]
    assert ran[:4] == [sweep, "test_zweep"] * 2
    assert left(db) == 0
    assert transactions(db) == 40
    db.execute('select recall.configure(\'{"maintenance_lock_time": "100 ms"}\')')
    db.execute("drop function recall.test_zweep")


def test_worker_repeats_batches_until_nothing_is_due(db: Connection, dsn: str, sweep: str) -> None:
    leave(db, 100, "slow")
    with AgentMemory.connect(dsn, embedder=False) as memory:
        runs = memory.worker().maintain()
        assert {run.task for run in runs} == {sweep}
        assert left(db) == 0
        assert transactions(db) > 1
        assert memory.worker().maintain() == []


def test_a_worker_leaves_jobs_their_turn(db: Connection, dsn: str, sweep: str) -> None:
    leave(db, 1000, "slow")
    with AgentMemory.connect(dsn, embedder=False) as memory:
        memory.worker().maintain(seconds=0)
        assert 0 < left(db) < 1000


def test_a_worker_does_not_wait_for_what_runs_elsewhere(
    db: Connection, dsn: str, connect: Connect, sweep: str
) -> None:
    other = connect(autocommit=False)
    run(other, sweep)
    started = time.monotonic()
    with AgentMemory.connect(dsn, embedder=False) as memory:
        assert memory.worker().maintain() == []
    other.rollback()
    assert time.monotonic() - started < 5


def test_a_worker_pauses_before_what_somebody_holds(db: Connection, dsn: str, sweep: str) -> None:
    leave(db, 10, "look")
    with AgentMemory.connect(dsn, embedder=False) as memory:
        started = time.monotonic()
        runs = memory.worker().maintain()
        assert [run.result.get("waits") for run in runs] == [True, None]
        assert 1 < time.monotonic() - started < 10
        assert left(db) == 0
        leave(db, 10, "look")
        db.execute("update recall.maintenance_tasks set last_run_at = null where task = %s",
                   [sweep])  # fmt: skip
        assert len(memory.worker().maintain(patience=0)) == 1, "its loop has jobs to do"
    assert left(db) == 5


def test_a_walk_forgets_a_user_who_was_erased_while_it_ran(
    db: Connection, connect: Connect, sweep: str
) -> None:
    """forget_user does not wait for a task that runs; its next run forgets the place."""
    user = uuid.uuid4()
    call(db, "remember", p_user_id=user, p_content="I like tea")
    for column, place in (("last_user", user), ("position", Jsonb({"after": str(user)}))):
        db.execute(f"update recall.maintenance_tasks set {column} = %s where task = %s".encode(),
                   [place, sweep])  # fmt: skip
    runs = connect(autocommit=False)
    run(runs, sweep)
    call(db, "forget_user", p_user_id=user)
    runs.commit()
    place = "select last_user, position from recall.maintenance_tasks where task = %s"
    assert rows(db, place, [sweep]) == [{"last_user": user, "position": {"after": str(user)}}]
    run(db, sweep)
    assert rows(db, place, [sweep]) == [{"last_user": None, "position": None}]


def test_a_login_without_rights_stops_no_task(db: Connection, connect: Connect, sweep: str) -> None:
    """It takes every advisory lock that a task has ever been guarded by."""
    leave(db, 5)
    with login_role(db) as login:
        stranger = connect(**login)
        stranger.execute(
            "select pg_advisory_lock(hashtextextended('pgrecall.' || name, 0)), pg_advisory_lock("
            "hashtextextended(name, 0)) from unnest(%s::text[]) as n (name)", [[sweep, "test"]],
        )  # fmt: skip
        assert run(db, sweep)["done"] == 5
        leave(db, 5)
        db.execute(
            "update recall.maintenance_tasks set last_run_at = null where task = %s", [sweep]
        )
        assert [row["result"]["done"] for row in call(db, "run_due_maintenance")] == [5]
        for statement in ("do $$ begin lock table recall.maintenance_tasks; end $$",
                          "select from recall.maintenance_tasks for update"):  # fmt: skip
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                stranger.execute(statement.encode())
        stranger.close()


def test_a_user_is_not_part_of_it(db: Connection, sweep: str) -> None:
    """Sweeps are for all users, whoever the transaction says it is."""
    leave(db, 5)
    with db.transaction():
        db.execute("select set_config('recall.user_id', %s, true)", [str(uuid.uuid4())])
        assert run(db, sweep)["done"] == 5
    assert rows(db, "select 1 from public.due where xid is null") == []


def test_configure_maintenance_changes_a_task(db: Connection, sweep: str) -> None:
    changes = {"schedule": "1 2 * * *", "period": "2 days", "batch_size": 7, "budget": "3 s",
               "enabled": False}  # fmt: skip
    db.execute("select recall.configure_maintenance(%s, %s)", [sweep, Jsonb(changes)])
    row = noted(db, sweep)
    assert row | {
        "schedule": "1 2 * * *", "period": timedelta(days=2), "batch_size": 7,
        "budget": timedelta(seconds=3), "enabled": False,
    } == row  # fmt: skip
    call(db, "configure_maintenance", p_task=sweep, p_changes={"enabled": True})
    assert noted(db, sweep) == row | {"enabled": True}


@pytest.mark.parametrize(
    "changes",
    [{"batch_size": 0}, {"batch_size": "many"}, {"period": "0"}, {"period": "soon"},
     {"budget": "2 days"}, {"enabled": None}, {"schedule": None}, {"last_result": {}},
     {"nonsense": 1}],
    ids=str,
)  # fmt: skip
def test_configure_maintenance_refuses_malformed_changes(
    db: Connection, sweep: str, changes: dict[str, Any]
) -> None:
    before = noted(db, sweep)
    with refused("RC003"):
        db.execute("select recall.configure_maintenance(%s, %s)", [sweep, Jsonb(changes)])
    assert noted(db, sweep) == before
    with refused("RC003", "unknown maintenance task 'nonsense'"):
        call(db, "configure_maintenance", p_task="nonsense", p_changes={"enabled": True})
