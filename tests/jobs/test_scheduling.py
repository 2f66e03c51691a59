"""Maintenance under pg_cron: what is scheduled, fires, fails visibly, and is gone again.

A server without pg_cron shows how that is refused; the Debian server has it, in a database of its
own, into which the schema is installed for these tests, besides the module's database.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from pgrecall import schema
from support import call, health_row, login_role, our_role, refused, rows, together, value
from support.installing import AS_PG_CRON
from support.servers import TestServer

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

# A sweep that leaves a line each time it runs.
SWEEP = """
create table if not exists public.ran (at timestamptz default clock_timestamp());
grant all on public.ran to public;
create or replace function recall.test_sweep(
    p_limit integer default 5, p_as_of timestamptz default null, out done integer, out more boolean)
language plpgsql as $$
begin
    insert into public.ran default values;
    if (select count(*) from public.ran) > {works} then
        raise disk_full using message = 'the disk is full';
    end if;
    done := 1; more := false;
end $$;
insert into recall.maintenance_tasks (task, schedule, period, batch_size, budget)
values ('test_sweep', '1 seconds', '1 minute', {works}, '10 seconds');
"""


# --- without pg_cron


def test_schedule_maintenance_without_pg_cron_says_what_to_run_instead(
    db: Connection, server: TestServer
) -> None:
    """Not here: it says who runs maintenance then, and what to run where pg_cron lives."""
    lives = value(db, "select current_setting('cron.database_name', true)")
    with pytest.raises(psycopg.Error) as caught:
        call(db, "schedule_maintenance")
    error = caught.value
    assert error.sqlstate == "RC007"
    assert "pgrecall worker" in str(error.diag.message_hint)
    if lives is None:
        assert "pg_cron is not installed in this database" in str(error)
        assert "cron.schedule" not in str(error.diag.message_detail)
    else:
        assert f"pg_cron lives in database {lives}, not here" in str(error)
        assert "cron.schedule_in_database('recall_flush_access_log@" in str(
            error.diag.message_detail
        )
    with refused("RC007", "pg_cron is not installed in this database"):
        call(db, "unschedule_maintenance")


def test_maintenance_commands_lists_a_job_for_each_enabled_task(db: Connection) -> None:
    suffix = value(db, "select recall._cron_suffix()")
    found = {row["job_name"]: row for row in call(db, "maintenance_commands")}
    tasks = rows(db, "select task, schedule from recall.maintenance_tasks where enabled")
    assert {f"recall_{row['task']}{suffix}" for row in tasks} == set(found) - {
        f"recall_prune_run_details{suffix}"
    }
    for row in tasks:
        job = found[f"recall_{row['task']}{suffix}"]
        assert job["schedule"] == row["schedule"]
        delay = r"(, '\d+ seconds')" if row["schedule"] == "* * * * *" else ""
        assert re.fullmatch(rf"call recall\.maintain\('{row['task']}'{delay}\)", job["command"])
        assert job["statement"].count(";") == 1, "one statement a line"


def minutes(field: str, most: int) -> set[int]:
    """Return what a field of a cron expression stands for."""
    found = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = ("0", "", str(most)) if span == "*" else span.partition("-")
        found |= set(range(int(first), int(last or first) + 1, int(step or 1)))
    return found


def test_no_two_tasks_begin_in_the_same_second(db: Connection) -> None:
    """pg_cron starts all jobs of a minute at once; those of every minute wait by themselves."""
    begins: dict[tuple[int, int, str], str] = {}
    for row in call(db, "maintenance_commands"):
        minute, hour, *rest = row["schedule"].split()
        assert rest == ["*", "*", "*"]
        delay = re.search(r"'(\d+) seconds'", row["command"])
        if "prune" in row["job_name"]:
            continue  # it touches no table of ours
        for at in [(h, m) for h in minutes(hour, 23) for m in minutes(minute, 59)]:
            second = (*at, delay[1] if delay else "0")
            assert second not in begins, (row["job_name"], begins[second])
            begins[second] = row["job_name"]


def test_the_procedure_begins_after_its_delay(db: Connection) -> None:
    started = time.monotonic()
    db.execute(b"call recall.maintain('release_expired_leases', '1.2 seconds')")
    assert 1.2 <= time.monotonic() - started < 10
    (task,) = rows(db, "select last_run_by, last_result from recall.maintenance_tasks"
                       " where task = 'release_expired_leases'")  # fmt: skip
    assert (task["last_run_by"], task["last_result"]["done"]) == ("pg_cron", 0)


def test_note_of_the_scheduling_role(db: Connection, server: TestServer) -> None:
    """Any server: one role at a time, until it is gone, and not in a copy of the database."""
    with login_role(db) as other:
        with login_role(db) as login:
            call(db, "set_scheduler", p_role=login["user"])
            call(db, "set_scheduler", p_role=login["user"])
            with refused("RC007", f"jobs of {login['user']} run maintenance"):
                call(db, "set_scheduler", p_role=other["user"])
            with refused("RC003", "there is no role 'nobody at all'"):
                call(db, "set_scheduler", p_role="nobody at all")
            assert health_row(db, "schedule_owner")["status"] == "ok"
        found = health_row(db, "schedule_owner")
        assert found["status"] == "fail"
        assert f"role {login['user']}, which scheduled maintenance here, is gone" in found["detail"]
        assert f"j.username = '{login['user']}'" in found["hint"]
        with pytest.raises(psycopg.Error) as caught:
            call(db, "set_scheduler", p_role=other["user"])
        assert "The role is gone. A superuser runs:" in str(caught.value.diag.message_hint)
        with db.transaction(force_rollback=True):
            db.execute("update recall.settings set scheduled_in = 1")  # as in a copy
            assert health_row(db, "schedule_owner")["status"] == "ok"
            call(db, "set_scheduler", p_role=other["user"])
        call(db, "set_scheduler")
        assert health_row(db, "schedule_owner")["status"] == "ok"


def test_schedule_maintenance_is_refused_to_workers(db: Connection, connect: Connect) -> None:
    with login_role(db, member_of=["recall_worker"]) as worker, refused("42501"):
        call(connect(**worker), "schedule_maintenance")
    with login_role(db, member_of=["recall_admin"]) as admin, refused("RC007"):
        call(connect(**admin), "schedule_maintenance")


# --- with one as old as 1.4

# pg_cron 1.4 has five fields only, names of type name, and jobs unique by role and name.
OLD_CRON = """
create schema cron;
create table cron.job (
    jobid bigint generated always as identity primary key, schedule text not null,
    command text not null, nodename text not null default 'localhost',
    nodeport integer not null default 5432, database text not null default current_database(),
    username text not null default current_user, active boolean not null default true,
    jobname name, unique (jobname, username));
create table cron.job_run_details (
    jobid bigint, runid bigint, job_pid integer, database text, username text, command text,
    status text, return_message text, start_time timestamptz, end_time timestamptz);
create function cron.schedule_in_database(
    job_name name, schedule text, command text, database text, username text default null,
    active boolean default true)
returns bigint language plpgsql as $$
#variable_conflict use_column
declare v_id bigint;
begin
    if $2 !~ '^([0-9*/,-]+ ){4}[0-9*/,-]+$' then
        raise invalid_parameter_value using message = 'invalid schedule: ' || schedule;
    end if;
    insert into cron.job as j (jobname, schedule, command, database, username, active)
    values ($1, $2, $3, $4, coalesce($5, current_user), $6)
    on conflict (jobname, username) do update
       set schedule = excluded.schedule, command = excluded.command,
           database = excluded.database, active = excluded.active
    returning j.jobid into v_id;
    return v_id;
end $$;
create function cron.schedule(job_name name, schedule text, command text)
returns bigint language sql as
$$ select cron.schedule_in_database($1, $2, $3, current_database()) $$;
create function cron.schedule(schedule text, command text)
returns bigint language sql as
$$ select cron.schedule_in_database(null, $1, $2, current_database()) $$;
create function cron.unschedule(job_id bigint) returns boolean language plpgsql as $$
begin
    delete from cron.job as j where j.jobid = $1 and j.username = current_user;
    if not found then raise exception 'could not find valid entry for job %', $1; end if;
    return true;
end $$;
create function cron.unschedule(job_name name) returns boolean language sql as
$$ select cron.unschedule(j.jobid) from cron.job as j where j.jobname = $1 $$;
"""


@pytest.fixture(params=["short", "a_name_of_a_database_that_is_as_long_as_may_be_" + 16 * "g"])
def old_cron(server: TestServer, request: pytest.FixtureRequest) -> Iterator[Connection]:
    """A database of its own, of such a name, with a stand-in for pg_cron 1.4."""
    name, new = server.cloned_database("old_cron"), request.param

    def rename(old: str, new: str) -> None:
        with server.admin() as conn:
            conn.execute(sql.SQL("alter database {} rename to {}").format(
                sql.Identifier(old), sql.Identifier(new)))  # fmt: skip

    rename(name, new)
    try:
        with psycopg.connect(server.dsn(new), autocommit=True) as conn:
            conn.execute("drop extension if exists pg_cron")
            conn.execute((OLD_CRON + AS_PG_CRON).encode())
            yield conn
    finally:
        rename(new, name)
        server.drop_database(name)


def test_pg_cron_1_4(old_cron: Connection) -> None:
    """Five fields in every schedule; twice is once; nothing is left behind."""
    call(old_cron, "configure_maintenance", p_task="expire_working", p_changes={"enabled": False})
    for _ in range(2):
        scheduled = call(old_cron, "schedule_maintenance")
    found = jobs(old_cron)
    assert {row["job_name"] for row in scheduled} == set(found), "no name was cut"
    assert len(found) == len(call(old_cron, "list_maintenance"))  # one less, and the pruning
    assert {row["command"] for row in found.values()} == {row["command"] for row in scheduled}
    assert all(len(row["schedule"].split()) == 5 for row in found.values())

    call(old_cron, "configure_maintenance", p_task="expire_working", p_changes={"enabled": True})
    call(old_cron, "configure_maintenance", p_task="flush_access_log",
         p_changes={"schedule": "*/2 * * * *"})  # fmt: skip
    old_cron.execute("update cron.job set active = false where command like '%merges%'")
    call(old_cron, "schedule_maintenance")
    again = jobs(old_cron)
    assert len(again) == len(found) + 1
    assert "*/2 * * * *" in {row["schedule"] for row in again.values()}
    assert all(row["active"] for row in again.values())

    call(old_cron, "configure_maintenance", p_task="flush_access_log",
         p_changes={"schedule": "30 seconds"})  # fmt: skip
    with refused("RC003", "pg_cron rejects the schedule '30 seconds'"):
        call(old_cron, "schedule_maintenance")
    call(old_cron, "configure_maintenance", p_task="flush_access_log",
         p_changes={"schedule": "* * * * *"})  # fmt: skip
    assert value(old_cron, "select recall.unschedule_maintenance()") == len(again)
    assert jobs(old_cron) == {}


def test_pg_cron_1_4_in_another_database(old_cron: Connection) -> None:
    """The statements that are to be run there, and that an uninstall leaves no job."""
    commands = call(old_cron, "maintenance_commands")
    for _ in range(2):
        for row in commands:
            old_cron.execute(row["statement"].encode())
    assert set(jobs(old_cron)) == {row["job_name"] for row in commands}
    # the pruning throws away what is noted of ours, and nothing else
    old_cron.execute(
        "insert into cron.job_run_details (jobid, runid, database, command, end_time)"
        " select n, n, current_database(), c, now() - interval '9 days'"
        " from unnest(array['call recall.maintain(''x'')', 'vacuum']) with ordinality as t (c, n)"
    )
    (prune,) = (row["command"] for row in commands if "prune" in row["job_name"])
    old_cron.execute(prune.encode())
    assert value(old_cron, "select array_agg(command) from cron.job_run_details") == ["vacuum"]
    schema.uninstall(old_cron)
    assert jobs(old_cron) == {}


# --- with it


@pytest.fixture(scope="module")
def cron_dsn(server: TestServer) -> Iterator[str]:
    """The database of pg_cron, with our schema installed as long as this module runs."""
    with server.admin() as conn:
        lives = value(conn, "select current_setting('cron.database_name', true)")
    if lives is None:
        pytest.skip("this server has no pg_cron; the Debian server in .ci/run has")
    dsn = server.dsn(lives)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("create extension if not exists pg_cron")
        schema.uninstall(conn, cascade=True)
        server.install(conn, embedding_dimensions=4, hash_partitions=1)
    yield dsn
    with psycopg.connect(dsn, autocommit=True) as conn:
        schema.uninstall(conn, cascade=True)
        conn.execute("drop table if exists public.ran")


@pytest.fixture
def cron(cron_dsn: str) -> Iterator[Connection]:
    with psycopg.connect(cron_dsn, autocommit=True) as conn:
        conn.execute("delete from recall.maintenance_tasks where task = 'test_sweep'")
        conn.execute("drop function if exists recall.test_sweep")
        conn.execute("drop table if exists public.ran")
        yield conn
        unschedule_all(conn)


def unschedule_all(conn: Connection) -> None:
    conn.execute("select cron.unschedule(jobid) from cron.job where jobname like 'recall%'")


def jobs(conn: Connection) -> dict[str, dict[str, Any]]:
    found = rows(conn, "select * from cron.job where jobname like 'recall%'")
    return {row["jobname"]: row for row in found}


def wait_until(conn: Connection, condition: str, seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not value(conn, f"select {condition}"):
        if time.monotonic() > until:
            details = rows(conn, "select * from cron.job_run_details order by runid desc limit 3")
            raise AssertionError(f"not so after {seconds} s: {condition}; {details}")
        time.sleep(0.2)


def test_jobs_fire_and_leave_results(cron: Connection) -> None:
    cron.execute(SWEEP.format(works=1000).encode())
    scheduled = call(cron, "schedule_maintenance")
    assert {row["job_name"] for row in scheduled} == set(jobs(cron))
    assert "recall_flush_access_log@recall_cron" in jobs(cron)
    wait_until(cron, "count(*) >= 2 from public.ran")
    wait_until(
        cron, "last_run_by = 'pg_cron' from recall.maintenance_tasks where task='test_sweep'"
    )
    (task,) = rows(cron, "select * from recall.maintenance_tasks where task = 'test_sweep'")
    assert (task["last_result"]["done"], task["failures"]) == (1, 0)
    assert "pg_cron" in health_row(cron, "scheduler")["detail"]


def test_a_sweep_of_ours_does_its_work(cron: Connection, user: uuid.UUID) -> None:
    """An access is counted, and a memory past its life ends, without anybody calling for it."""
    tasks = {"flush_access_log", "expire_memories"}
    before = [row for row in call(cron, "list_maintenance") if row["task"] in tasks]
    (made,) = call(cron, "remember", p_user_id=user, p_content="User likes tea")
    call(cron, "remember", p_user_id=user, p_content="User is in Oslo",
         p_expires_at=datetime.now(UTC) + timedelta(seconds=1))  # fmt: skip
    call(cron, "record_access", p_user_id=user, p_memory_ids=[made["memory_id"]],
         p_relevance="{0.5}")  # fmt: skip
    for task in tasks:
        call(cron, "configure_maintenance", p_task=task, p_changes={"schedule": "1 seconds"})
    call(cron, "schedule_maintenance")
    try:
        wait_until(cron, "count(*) filter (where access_count = 1) = 1"
                         " and count(*) filter (where end_reason = 'expired') = 1"
                         f" from recall.memory_store where user_id = '{user}'")  # fmt: skip
        wait_until(cron, "count(*) = 2 from recall.maintenance_tasks where last_run_by = 'pg_cron'"
                         " and task in ('flush_access_log', 'expire_memories')"
                         " and failures = 0 and not last_result ? 'error'")  # fmt: skip
    finally:
        for row in before:
            call(cron, "configure_maintenance", p_task=row["task"],
                 p_changes={"schedule": row["schedule"]})  # fmt: skip


def test_a_failing_task_is_visible(cron: Connection) -> None:
    cron.execute(SWEEP.format(works=1).encode())
    call(cron, "schedule_maintenance")
    wait_until(cron, "failures >= 2 from recall.maintenance_tasks where task = 'test_sweep'")
    found = health_row(cron, "maintenance")
    assert found["status"] == "fail"
    assert "test_sweep: the disk is full" in found["detail"]


def test_twice_scheduled_is_once_and_changes_are_taken(cron: Connection) -> None:
    call(cron, "schedule_maintenance")
    before = jobs(cron)
    call(cron, "schedule_maintenance")
    assert jobs(cron) == before
    with cron.transaction(force_rollback=True):
        cron.execute("update recall.maintenance_tasks set schedule = '9 9 * * *'"
                     " where task = 'ensure_partitions'")  # fmt: skip
        cron.execute("update recall.maintenance_tasks set enabled = false"
                     " where task = 'expire_working'")  # fmt: skip
        call(cron, "schedule_maintenance")
        after = jobs(cron)
        assert after["recall_ensure_partitions@recall_cron"]["schedule"] == "9 9 * * *"
        assert set(before) - set(after) == {"recall_expire_working@recall_cron"}
        cron.execute("update recall.maintenance_tasks set schedule = 'nonsense'"
                     " where task = 'ensure_partitions'")  # fmt: skip
        with refused("RC003", "pg_cron rejects the schedule 'nonsense'"), cron.transaction():
            call(cron, "schedule_maintenance")


def test_a_paused_job_is_scheduled_again(cron: Connection) -> None:
    call(cron, "schedule_maintenance")
    cron.execute("select cron.alter_job(jobid, active => false) from cron.job"
                 " where jobname like 'recall_flush%'")  # fmt: skip
    call(cron, "schedule_maintenance")
    assert all(job["active"] for job in jobs(cron).values())


def test_unschedule_leaves_no_job(cron: Connection) -> None:
    cron.execute("select cron.schedule('recall_report', '0 0 * * *', 'select 1')")
    scheduled = len(call(cron, "schedule_maintenance"))
    assert call(cron, "unschedule_maintenance") == [{"unschedule_maintenance": scheduled}]
    assert set(jobs(cron)) == {"recall_report"}, "which is not ours"
    assert call(cron, "unschedule_maintenance") == [{"unschedule_maintenance": 0}]


def test_uninstall_leaves_no_job(cron: Connection, server: TestServer) -> None:
    cron.execute("select cron.schedule('recall_report', '0 0 * * *', 'select 1')")
    call(cron, "schedule_maintenance")
    schema.uninstall(cron)
    assert set(jobs(cron)) == {"recall_report"}
    server.install(cron, embedding_dimensions=4, hash_partitions=1)


def test_a_plain_role_schedules_its_own_jobs(cron: Connection, cron_dsn: str) -> None:
    """They run as it; and nobody else may schedule the same."""
    cron.execute(SWEEP.format(works=1000).encode())
    with login_role(cron, member_of=["recall_admin"]) as login:
        with psycopg.connect(cron_dsn, autocommit=True, **login) as conn:
            with refused("RC007", "has no USAGE on schema cron"):
                call(conn, "schedule_maintenance")
            cron.execute(f"grant usage on schema cron to {login['user']}".encode())
            call(conn, "schedule_maintenance")
            assert {job["username"] for job in jobs(cron).values()} == {login["user"]}
            with refused("RC007", f"jobs of {login['user']} run maintenance in this database"):
                call(cron, "schedule_maintenance")
            cron.execute(f"set role {our_role(cron, 'recall_admin')}".encode())
            with refused("RC007", "may not log in"):
                call(cron, "schedule_maintenance")
            cron.execute("reset role")
            wait_until(cron, "count(*) >= 1 from public.ran")
            assert call(conn, "unschedule_maintenance")[0]["unschedule_maintenance"] > 0
        assert jobs(cron) == {}


@pytest.fixture
def admins(cron: Connection) -> Iterator[list[dict[str, str]]]:
    """Two logins of administrators that may use pg_cron."""
    with ExitStack() as stack:
        logins = [stack.enter_context(login_role(cron, member_of=["recall_admin"])) for _ in "ab"]
        for login in logins:
            cron.execute(f"grant usage on schema cron to {login['user']}".encode())
        yield logins
        unschedule_all(cron)
        call(cron, "set_scheduler")


def test_second_role_does_not_schedule_the_jobs_again(
    cron: Connection, cron_dsn: str, admins: list[dict[str, str]]
) -> None:
    """Though row-level security hides the first one's jobs from it."""
    first, second = (psycopg.connect(cron_dsn, autocommit=True, **login) for login in admins)
    with first, second:
        scheduled = call(first, "schedule_maintenance")
        with pytest.raises(psycopg.Error) as caught:
            call(second, "schedule_maintenance")
        name = admins[0]["user"]
        assert caught.value.sqlstate == "RC007"
        assert f"jobs of {name} run maintenance" in str(caught.value)
        assert f"First, as {name}: select recall.unschedule_maintenance();" in str(
            caught.value.diag.message_hint
        )
        assert value(cron, "select count(*) from cron.job where jobname like 'recall%'") == len(
            scheduled
        )
        call(first, "schedule_maintenance")
        assert call(second, "unschedule_maintenance") == [{"unschedule_maintenance": 0}]
        with refused("RC007", f"jobs of {name} run maintenance"):
            call(second, "schedule_maintenance")
        call(first, "unschedule_maintenance")
        assert len(call(second, "schedule_maintenance")) == len(scheduled)


@pytest.mark.concurrent
def test_of_two_roles_at_once_one_schedules(
    cron: Connection, cron_dsn: str, admins: list[dict[str, str]]
) -> None:
    def schedule(login: dict[str, str]) -> None:
        with psycopg.connect(cron_dsn, autocommit=True, **login) as conn:
            call(conn, "schedule_maintenance")

    results = together(partial(schedule, login) for login in admins)
    (error,) = [result for result in results if isinstance(result, BaseException)]
    assert isinstance(error, psycopg.Error)
    assert error.sqlstate == "RC007"
    assert value(cron, "select count(distinct username) from cron.job"
                       " where jobname like 'recall%'") == 1  # fmt: skip


def test_superuser_schedules_where_the_noted_role_has_no_jobs_left(
    cron: Connection, cron_dsn: str, admins: list[dict[str, str]]
) -> None:
    first, second = (psycopg.connect(cron_dsn, autocommit=True, **login) for login in admins)
    with first, second:
        call(first, "schedule_maintenance")
        unschedule_all(cron)
        with pytest.raises(psycopg.Error) as caught:
            call(second, "schedule_maintenance")
        assert "removed otherwise: select recall.set_scheduler();" in str(
            caught.value.diag.message_hint
        )
        call(cron, "schedule_maintenance")
        with refused("RC007", "jobs of postgres run maintenance"):
            call(first, "schedule_maintenance")


def test_uninstall_names_jobs_that_it_cannot_see(
    cron: Connection, cron_dsn: str, server: TestServer, admins: list[dict[str, str]]
) -> None:
    """The owner of the schema is not the role that scheduled."""
    said: list[str] = []
    with psycopg.connect(cron_dsn, autocommit=True, **admins[0]) as conn:
        call(conn, "schedule_maintenance")
    owner = our_role(cron, "recall_owner")
    cron.execute(f"grant {owner} to {admins[1]['user']}".encode())
    with psycopg.connect(cron_dsn, autocommit=True, **admins[1]) as conn:
        conn.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        schema.uninstall(conn)
    assert jobs(cron)
    (words,) = [text for text in said if "pg_cron jobs of" in text]
    cron.execute(words[words.index("select cron.unschedule") :].encode())
    assert jobs(cron) == {}
    server.install(cron, embedding_dimensions=4, hash_partitions=1)


def test_health_names_a_schedule_whose_role_is_gone(cron: Connection, cron_dsn: str) -> None:
    """pg_cron runs no job of anybody while it is there; health says how it goes."""
    cron.execute(SWEEP.format(works=1000).encode())
    with login_role(cron, member_of=["recall_admin"]) as login:
        cron.execute(f"grant usage on schema cron to {login['user']}".encode())
        with psycopg.connect(cron_dsn, autocommit=True, **login) as conn:
            call(conn, "schedule_maintenance")
        assert health_row(cron, "schedule_owner")["status"] == "ok"
    found = health_row(cron, "schedule_owner")
    assert found["status"] == "fail"
    assert login["user"] in found["detail"]
    with pytest.raises(psycopg.Error) as caught:
        call(cron, "schedule_maintenance")
    assert "The role is gone" in str(caught.value.diag.message_hint)
    cron.execute(found["hint"].removeprefix("A superuser runs: ").encode())
    assert jobs(cron) == {}
    assert health_row(cron, "schedule_owner")["status"] == "ok"
    call(cron, "schedule_maintenance")
    wait_until(cron, "count(*) >= 1 from public.ran")


def test_two_databases_do_not_take_each_others_jobs(
    cron: Connection, db: Connection, dsn: str
) -> None:
    """The module's database has no pg_cron: its statements are run where it lives."""
    name = conninfo_to_dict(dsn)["dbname"]
    suffix = value(db, "select recall._cron_suffix()")
    db.execute(SWEEP.format(works=1000).encode())
    call(cron, "schedule_maintenance")
    ours = jobs(cron)
    for row in call(db, "maintenance_commands"):
        cron.execute(row["statement"].encode())
        cron.execute(row["statement"].encode())
    found = jobs(cron)
    assert {k: v for k, v in found.items() if not k.endswith(suffix)} == ours
    theirs = {k: v for k, v in found.items() if k.endswith(suffix)}
    assert len(theirs) == len(call(db, "maintenance_commands"))
    assert {job["database"] for job in theirs.values()} == {name, "recall_cron"}
    wait_until(db, "count(*) >= 1 from public.ran")

    assert call(cron, "unschedule_maintenance") == [{"unschedule_maintenance": len(ours)}]
    assert set(jobs(cron)) == set(theirs)
    db.execute("update recall.maintenance_tasks set enabled = false")
    for row in call(db, "maintenance_commands"):
        cron.execute(row["statement"].encode())
    assert set(jobs(cron)) == {f"recall_prune_run_details{suffix}"}
    db.execute("update recall.maintenance_tasks set enabled = true")

    with pytest.raises(psycopg.Error) as caught:
        call(db, "unschedule_maintenance")
    said = str(caught.value.diag.message_hint)
    cron.execute(said[said.index("select cron.unschedule") :].encode())
    assert jobs(cron) == {}


def test_run_details_of_ours_are_thrown_away(cron: Connection) -> None:
    call(cron, "schedule_maintenance")
    prune = jobs(cron)["recall_prune_run_details@recall_cron"]
    cron.execute("delete from cron.job_run_details")
    cron.execute(
        "insert into cron.job_run_details"
        " (jobid, runid, database, username, command, status, start_time, end_time)"
        " select n, -n, d, 'postgres', c, 'succeeded', now() - a::interval, now() - a::interval"
        "   from (values (1, 'recall_cron', 'call recall.maintain(''x'')', '4 days'),"
        "                (2, 'recall_cron', 'call recall.maintain(''x'')', '2 days'),"
        "                (3, 'other', 'call recall.maintain(''x'')', '4 days'),"
        "                (4, 'recall_cron', 'select 1', '4 days')) as v (n, d, c, a)"
    )
    cron.execute(
        "insert into cron.job_run_details (jobid, runid, database, username, command, end_time)"
        " values (%s, -5, 'recall_cron', 'postgres', 'old text', now() - interval '4 days')",
        [prune["jobid"]],
    )
    cron.execute(prune["command"].encode())
    assert [row["runid"] for row in rows(
        cron, "select runid from cron.job_run_details where runid < 0 order by runid desc"
    )] == [-2, -3, -4]  # fmt: skip
    cron.execute("delete from cron.job_run_details where runid < 0")


def test_uninstall_says_how_jobs_elsewhere_go(
    cron: Connection, server: TestServer, empty_dsn: str
) -> None:
    """It cannot reach another database, so it names the statement to run there."""
    said: list[str] = []
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        server.install(conn, embedding_dimensions=4, hash_partitions=1)
        for row in call(conn, "maintenance_commands"):
            cron.execute(row["statement"].encode())
        assert jobs(cron)
        conn.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        schema.uninstall(conn)
    (words,) = [text for text in said if "pg_cron" in text]
    cron.execute(words[words.index("select cron.unschedule") :].encode())
    assert jobs(cron) == {}
