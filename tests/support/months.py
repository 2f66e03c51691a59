"""Months of history: their bounds and partitions."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from support import Connection, call, rows


def month(at: datetime, ahead: int = 0) -> datetime:
    """Return the start of a month in UTC, so many months ahead."""
    number = at.year * 12 + at.month - 1 + ahead
    return datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)


def leaves(conn: Connection) -> dict[str, list[tuple[datetime | None, datetime]]]:
    """Return the bounds of the monthly leaves by parent, oldest first; None: all before."""
    found: dict[str, list[tuple[datetime | None, datetime]]] = {}
    # bounds print and are read back in one zone
    for row in rows(
        conn,
        """
        select i.inhparent::regclass::text as parent,
               substring(b.bound from 'FROM \\(''([^'']+)''\\)')::timestamptz at time zone 'UTC'
                   as first,
               substring(b.bound from 'TO \\(''([^'']+)''\\)')::timestamptz at time zone 'UTC'
                   as last
          from pg_inherits as i
          join pg_class as c on c.oid = i.inhrelid
          join pg_partitioned_table as p on p.partrelid = i.inhparent
         cross join lateral (select pg_get_expr(c.relpartbound, c.oid)) as b (bound)
         where c.relnamespace = 'recall'::regnamespace and p.partstrat = 'r'
         order by last
        """,
    ):
        found.setdefault(row["parent"], []).append(
            (row["first"] and row["first"].replace(tzinfo=UTC), row["last"].replace(tzinfo=UTC))
        )
    return found


DAY = timedelta(days=1)


def said_in(months_ago: int, *contents: str) -> list[dict[str, Any]]:
    at = month(datetime.now(UTC), -months_ago) + 3 * DAY
    return [
        {"role": ("user", "assistant")[n % 2], "content": text, "token_count": 10,
         "created_at": (at + timedelta(minutes=n)).isoformat()}
        for n, text in enumerate(contents)
    ]  # fmt: skip


def a_year_later(conn: Connection) -> None:
    """Make the state of the sessions thirteen months old."""
    conn.execute("update recall.sessions set updated_at = updated_at - interval '13 months'")
    conn.execute(
        "update recall.session_summaries set created_at = created_at - interval '13 months'"
    )


def contents(conn: Connection, user: uuid.UUID, session: uuid.UUID) -> list[str]:
    found = call(conn, "get_messages", p_user_id=user, p_session_id=session, p_limit=1000)
    return [row["content"] for row in reversed(found)]
