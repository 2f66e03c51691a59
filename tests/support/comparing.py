"""Compare what two databases answer to every public function."""

from __future__ import annotations

import json
import re
from typing import Any

import psycopg

from support.everyfunction import Call, World

Connection = psycopg.Connection[Any]

_PASSING = re.compile(
    r'(?P<lasted>(?<=ms": )[\d.]+)'
    r"|(?P<id>[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})"
    r"|(?P<time>\d{4}-\d\d-\d\d(?:[ T][\d:.]+(?:[+-][\d:]+|Z)?)?|\d+:\d\d:[\d.]+)"
    r"|(?P<hash>b'(?:[^'\\]|\\.)*'|\\\\x[0-9a-f]+|[0-9a-f]{32,})"
    r"|(?P<number>-?\d+\.\d+(?:e-?\d+)?)"
)

OF_THE_SERVER = {
    "health", "metrics", "estimate_embedding_migration", "get_settings", "run_due_maintenance",
    "list_maintenance", "maintenance_commands", "sample_recall", "uuidv7",
}  # fmt: skip
"""Their answers tell of servers, or of chance: only their columns are compared."""


def outcome(conn: Connection, asked: Call, world: World) -> str:
    """Return the answer to a call, or its error, without ids, times, hashes and fractions.

    An id is replaced by its number in the order of appearance. The transaction is rolled back.
    """
    try:
        with conn.transaction(force_rollback=True):
            cursor = conn.execute(asked.query.encode(), world)
            columns = [column.name for column in cursor.description or ()]
            found = (
                []
                if asked.function in OF_THE_SERVER
                else [dict(zip(columns, row, strict=True)) for row in cursor]
            )
    except psycopg.Error as error:
        return f"{error.sqlstate}: {error.diag.message_primary}"
    return lasting(json.dumps([columns, *found], default=str))


def lasting(text: str) -> str:
    """Return a text with marks for what differs from one run to the next."""
    ids: dict[str, int] = {}

    def mark(found: re.Match[str]) -> str:
        if found["id"]:
            return f"<{ids.setdefault(found['id'], len(ids))}>"
        if found["number"]:
            return f"{float(found['number']):.3g}"
        return "<time>" if found["time"] or found["lasted"] else "<hash>"

    return _PASSING.sub(mark, text)
