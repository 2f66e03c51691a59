"""A user is forgotten while everything else happens: each call that can write, before and after."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import sql

from everyfunction import CALLS, Call, World
from support import rows, value
from test_forget import counts, forget, furnished, wait_for_lock

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

OF_NOBODY = {
    "configure", "configure_maintenance", "register_model", "register_kind", "uuidv7",
    "forget_user", "forget_memory", "forget_session", "replay_erasures",
}  # fmt: skip
"""What writes nothing of a user, or forgets itself."""

GROUPS = 4


def writing_calls(db: Connection) -> list[Call]:
    """Return the calls that can write something of a user, as the catalog has it."""
    volatile = {
        row["proname"]
        for row in rows(
            db,
            "select p.proname from pg_proc as p where p.pronamespace = 'recall'::regnamespace"
            " and p.provolatile = 'v'",
        )
    }
    return [asked for asked in CALLS if asked.function in volatile - OF_NOBODY]


def attempt(conn: Connection, asked: Call, world: World) -> Any:
    try:
        return conn.execute(asked.query.encode(), world).fetchall()
    except psycopg.Error as error:
        return error


@pytest.fixture
def world(db: Connection) -> World:
    return furnished(db)


@pytest.mark.concurrent
@pytest.mark.parametrize("group", range(GROUPS))
def test_a_call_that_waits_brings_nobody_back(
    db: Connection, connect: Connect, world: World, group: int
) -> None:
    """It finds nothing, or says that there is nothing; and no row of the user is there again."""
    calls = writing_calls(db)[group::GROUPS]
    assert len(calls) > 10
    eraser = connect(autocommit=False)
    forget(eraser, world["user"])
    outcomes: dict[str, Any] = {}
    conns = {str(asked): connect() for asked in calls}

    def work(asked: Call) -> None:
        outcomes[str(asked)] = attempt(conns[str(asked)], asked, world)

    threads = [threading.Thread(target=work, args=(asked,)) for asked in calls]
    for thread in threads:
        thread.start()
    # who only begins after the erasure may make a new user: each has come through, or waits
    while waiting := [name for name in conns if name not in outcomes]:
        pids = [conns[name].info.backend_pid for name in waiting]
        if value(db, "select count(distinct pid) from pg_locks where not granted"
                     " and pid = any (%s)", [pids]) == len(pids):  # fmt: skip
            break
        threading.Event().wait(0.01)
    waited = set(waiting)
    eraser.commit()
    for thread in threads:
        thread.join(60)
    assert outcomes.keys() == conns.keys()
    assert len(waited) > 5
    for name, outcome in outcomes.items():
        if isinstance(outcome, psycopg.Error):
            assert outcome.sqlstate == "RC001", (name, outcome)
    assert not any(counts(db, world["user"]).values()), (waited, outcomes)


@pytest.mark.concurrent
def test_what_a_call_has_just_written_goes_too(
    db: Connection, connect: Connect, world: World
) -> None:
    """All of them in one transaction, which the erasure waits for."""
    writer, eraser = connect(autocommit=False), connect()
    worked = 0
    for asked in writing_calls(db):
        writer.execute("savepoint before")
        outcome = attempt(writer, asked, world)
        if isinstance(outcome, psycopg.Error):
            assert (outcome.sqlstate or "").startswith("RC"), (asked, outcome)
            writer.execute("rollback to before")
        worked += not isinstance(outcome, psycopg.Error)
    assert worked > 50
    thread = threading.Thread(target=forget, args=(eraser, world["user"]))
    thread.start()
    wait_for_lock(db, eraser.info.backend_pid)
    writer.commit()
    thread.join(60)
    assert not thread.is_alive()
    assert not any(counts(db, world["user"]).values())
    left = rows(db, "select c.relname from pg_class as c where"
                    " c.relnamespace = 'recall'::regnamespace and c.relkind = 'r'"
                    " and not c.relispartition")  # fmt: skip
    for table in left:
        query = sql.SQL("select count(*) from {} as t where strpos(t::text, %s) > 0").format(
            sql.Identifier("recall", table["relname"])
        )
        (found,) = db.execute(query, [str(world["user"])]).fetchone() or (0,)
        assert found == 0, table
