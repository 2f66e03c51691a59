"""Backfills: batches in the order of users, through locks, errors, erasures and killed servers."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from support import append, call, open_session, refused, rows, said, value

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

BACKFILL = """
alter table recall.append_receipts add column turns integer;
insert into recall.backfills (backfill, migration, table_name)
values ('turns', '0001_add_turns', 'append_receipts');
create function recall._backfill_turns(
    p_user_id uuid, p_position jsonb, p_limit integer, out o_done integer, out o_position jsonb)
language plpgsql set search_path to pg_catalog, recall, pg_temp as $$
begin
    with due as (
        select r.request_id from recall.append_receipts as r
         where r.user_id = p_user_id
           and r.request_id > coalesce((p_position ->> 'after')::uuid,
                                       '00000000-0000-0000-0000-000000000000')
         order by r.request_id
         limit p_limit
    ), changed as (
        update recall.append_receipts as r set turns = r.to_turn - r.from_turn + 1 / (select n from
               public.divisor)
          from due as d
         where r.user_id = p_user_id and r.request_id = d.request_id and r.turns is null
    )
    select count(*), case when count(*) = p_limit
                          then jsonb_build_object('after', max(d.request_id::text)) end
      into o_done, o_position
      from due as d;
end $$;
"""
TIDY = """
drop function recall._backfill_turns;
alter table recall.append_receipts drop column turns;
delete from recall.backfills;
update recall.maintenance_tasks as t
   set last_user = null, position = null, last_result = null, failures = 0
 where t.task = 'run_backfills';
select recall.forget_user(u.user_id) from recall.users as u;
drop table public.divisor;
"""


@pytest.fixture
def users(db: Connection) -> Iterator[list[uuid.UUID]]:
    """Users in key order, with seven receipts each, and a backfill of these."""
    found = sorted(uuid.uuid4() for _ in range(4))
    for user in found:
        session = open_session(db, user)
        for _ in range(7):
            append(db, user, session, said("one"), None, uuid.uuid4())
    db.execute("create table public.divisor as select 1 as n; grant select on divisor to public")
    db.execute("set search_path = pg_catalog, recall, pg_temp")
    db.execute(BACKFILL.encode())
    db.execute("reset search_path")
    yield found
    db.execute(TIDY.encode())


def left(db: Connection) -> dict[uuid.UUID, int]:
    found = rows(db, "select user_id, count(*) from recall.append_receipts where turns is null"
                     " group by 1")  # fmt: skip
    return {row["user_id"]: row["count"] for row in found}


def batch(db: Connection, limit: int = 5) -> tuple[int, bool]:
    (found,) = call(db, "run_backfills", p_limit=limit)
    return found["done"], found["more"]


def check(db: Connection) -> tuple[str, str]:
    (found,) = (row for row in call(db, "health") if row["name"] == "backfills")
    return found["status"], found["detail"]


def test_nothing_is_done_without_a_backfill(db: Connection) -> None:
    assert batch(db) == (0, False)
    assert check(db) == ("ok", "no upgrade left data to change")


def test_batches_follow_the_users_in_key_order(db: Connection, users: list[uuid.UUID]) -> None:
    assert batch(db) == (5, True)
    assert left(db) == {users[0]: 2} | dict.fromkeys(users[1:], 7)
    assert check(db)[0] == "ok"
    assert "turns of 0001_add_turns: 5 of about" in check(db)[1]
    assert batch(db) == (5, True)
    assert left(db) == {users[1]: 4} | dict.fromkeys(users[2:], 7)
    (done,) = call(db, "run_maintenance", p_task="run_backfills")
    assert done["run_maintenance"].items() >= {"done": 18, "more": False}.items()
    assert left(db) == {}
    (row,) = rows(db, "select rows_done, started_at < finished_at as ended from recall.backfills")
    assert row == {"rows_done": 28, "ended": True}
    assert value(db, "select (t.last_user, t.position) is null from recall.maintenance_tasks as t"
                     " where t.task = 'run_backfills'")  # fmt: skip
    assert check(db) == ("ok", "no upgrade left data to change")


def test_the_older_of_two_backfills_comes_first(db: Connection, users: list[uuid.UUID]) -> None:
    db.execute("insert into recall.backfills (backfill, migration, table_name)"
               " values ('second', '0002_again', 'users')")  # fmt: skip
    db.execute("create function recall._backfill_second(uuid, jsonb, integer, out o_done integer,"
               " out o_position jsonb) begin atomic select 1, null::jsonb; end")  # fmt: skip
    assert batch(db, 100) == (28, True)
    assert left(db) == {}
    assert batch(db, 100) == (4, False)
    db.execute("drop function recall._backfill_second")


def test_a_batch_ends_before_a_locked_user(
    db: Connection, connect: Connect, users: list[uuid.UUID]
) -> None:
    other = connect(autocommit=False)
    other.execute("select from recall.users where user_id = %s for update", [users[1]])
    assert batch(db, 100) == (7, True)
    (result,) = call(db, "run_maintenance", p_task="run_backfills")
    assert result["run_maintenance"].items() >= {"done": 0, "more": True, "waits": True}.items()
    other.rollback()
    assert batch(db, 100) == (21, False)


@pytest.mark.concurrent
def test_appends_go_on_while_a_batch_is_open(
    db: Connection, connect: Connect, users: list[uuid.UUID]
) -> None:
    other = connect(autocommit=False)
    batch(other, 100)
    db.execute("set lock_timeout = '1s'")
    for user in users:
        append(db, user, open_session(db, user), said("two"), None, uuid.uuid4())
    assert batch(db) == (0, False), "it runs elsewhere"
    other.commit()
    # a release writes the column in new rows itself; this one does not
    assert left(db) == dict.fromkeys(users, 1)


def test_an_error_undoes_its_batch_and_shows_in_health(
    db: Connection, users: list[uuid.UUID]
) -> None:
    batch(db)
    db.execute("update public.divisor set n = 0")
    call(db, "run_maintenance", p_task="run_backfills")
    status, detail = check(db)
    assert status == "fail"
    assert "turns of 0001_add_turns: 5 of about" in detail
    assert "error 22012" in detail
    db.execute("update public.divisor set n = 1")
    call(db, "run_maintenance", p_task="run_backfills")
    assert left(db) == {}
    assert value(db, "select rows_done from recall.backfills") == 28
    assert check(db)[0] == "ok"


def test_a_disabled_task_shows_in_health(db: Connection, users: list[uuid.UUID]) -> None:
    change = "select recall.configure_maintenance('run_backfills', %s)"
    db.execute(change, ['{"enabled": false}'])
    assert check(db)[0] == "warn"
    db.execute(change, ['{"enabled": true}'])
    assert check(db)[0] == "ok"


def test_an_erased_user_leaves_no_position(db: Connection, users: list[uuid.UUID]) -> None:
    """The backfill starts again, and changes each row once."""
    batch(db, 10)
    assert value(db, "select last_user from recall.maintenance_tasks"
                     " where task = 'run_backfills'") == users[1]  # fmt: skip
    call(db, "forget_user", p_user_id=users[1])
    found = value(db, "select string_agg(t::text, ' ') from recall.maintenance_tasks as t")
    assert str(users[1]) not in found
    assert batch(db, 100) == (21, False)
    assert left(db) == {}


def test_a_batch_of_a_killed_server_process_is_repeated(
    db: Connection, connect: Connect, users: list[uuid.UUID]
) -> None:
    batch(db)
    other = psycopg.connect(db.info.dsn, autocommit=False)
    batch(other, 100)
    db.execute("select pg_terminate_backend(%s, 5000)", [other.info.backend_pid])
    other.close()
    assert left(db) == {users[0]: 2} | dict.fromkeys(users[1:], 7)
    assert batch(db, 100) == (23, False)
    assert value(db, "select rows_done from recall.backfills") == 28


def test_a_migration_waits_for_its_backfill(db: Connection, users: list[uuid.UUID]) -> None:
    with refused("RC007", "backfill turns of migration 0001_add_turns has to finish"):
        db.execute("select recall._check_backfill('turns')")
    while batch(db, 100)[1]:
        pass
    db.execute("select recall._check_backfill('turns'), recall._check_backfill('other')")


def test_a_migration_and_its_backfill_in_one_upgrade_are_refused(
    db: Connection, users: list[uuid.UUID]
) -> None:
    db.autocommit = False
    db.execute("update recall.backfills set registered_at = now()")
    with pytest.raises(psycopg.Error) as caught:
        db.execute("select recall._check_backfill('turns')")
    assert "First install a release that has migration 0001_add_turns" in str(
        caught.value.diag.message_hint
    )
    db.rollback()
    db.autocommit = True
