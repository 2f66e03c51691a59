"""The rows that a user has in each table."""

from __future__ import annotations

import threading
import uuid
from typing import Any

from support import Connection, call, rows, value
from support.everyfunction import World, furnish


def tables_with_users(conn: Connection) -> set[str]:
    """Return every table whose rows say whose they are, as the catalog has it."""
    found = rows(
        conn,
        "select c.relname from pg_class as c"
        " join pg_attribute as a on a.attrelid = c.oid and a.attname = 'user_id'"
        " where c.relnamespace = 'recall'::regnamespace and c.relkind in ('r', 'p')"
        " and not c.relispartition and not a.attisdropped",
    )
    return {row["relname"] for row in found}


def counts(conn: Connection, user: uuid.UUID) -> dict[str, int]:
    """Return how many rows a user has, by table; `imports` is empty after each commit."""
    return {
        table: value(conn, f"select count(*) from recall.{table} where user_id = %s", [user])
        for table in sorted(tables_with_users(conn) - {"imports"})
    }


def sums(conn: Connection, user: uuid.UUID) -> dict[str, str]:
    """Return a checksum of what a user has, by table."""
    return {
        table: value(
            conn,
            "select md5(coalesce(string_agg(md5(t::text), ',' order by md5(t::text)), ''))"
            f" from recall.{table} as t where t.user_id = %s",
            [user],
        )
        for table in sorted(tables_with_users(conn))
    }


def forget(conn: Connection, user: uuid.UUID) -> dict[str, Any]:
    (row,) = call(conn, "forget_user", p_user_id=user)
    return row["forget_user"]


def leave_traces(conn: Connection, world: World) -> None:
    """Add what `furnish` leaves out, so that no table is empty."""
    user, session = world["user"], world["session"]
    call(conn, "record_access", p_user_id=user, p_memory_ids=[world["memory"]], p_relevance="{0.5}")
    conn.execute(
        "insert into recall.message_search (user_id, session_id, turn_index, message_id, role,"
        " created_at, search_vector) values (%s, %s, 3, recall.uuidv7(), 'user', now(),"
        " to_tsvector(%s))",
        [user, session, world["mark"]],
    )
    conn.execute("select recall._write_word_blocks(%s, %s, 3, 3)", [user, session])
    conn.execute(
        "select recall.fail_job(%(user)s, %(summarize_job)s, %(summarize_token)s, %(mark)s, true,"
        """ '[{"phase": "summary", "duration_ms": 1, "cost_microcents": 5}]')""",
        world,
    )
    conn.execute(
        "insert into recall.model_spending values (%s, current_date, 5) on conflict do nothing",
        [user],
    )


def furnished(conn: Connection) -> World:
    world = furnish(conn, f"mark{uuid.uuid4().hex}")
    leave_traces(conn, world)
    conn.execute("delete from recall.jobs where state = 'ready'")  # or the next one claims them
    return world


def wait_for_all(
    db: Connection, conns: dict[str, Connection], outcomes: dict[str, Any]
) -> set[str]:
    """Wait until each call has come through or waits for a lock; return those that wait.

    So none of them begins after what they wait for.
    """
    while waiting := {name for name in conns if name not in outcomes}:
        pids = [conns[name].info.backend_pid for name in waiting]
        if value(db, "select count(distinct pid) from pg_locks where not granted"
                     " and pid = any (%s)", [pids]) == len(pids):  # fmt: skip
            return waiting
        threading.Event().wait(0.01)
    return set()


def traces(conn: Connection, user: uuid.UUID, word: str) -> list[str]:
    """Return the tables in which a word still stands among a user's rows."""
    return [
        table
        for table in sorted(tables_with_users(conn))
        if value(
            conn,
            f"select count(*) from recall.{table} as t where t.user_id = %s"
            " and strpos(lower(t::text), lower(%s)) > 0",
            [user, word],
        )
    ]
