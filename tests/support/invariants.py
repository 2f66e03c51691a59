"""The invariants of invariants.sql, checked on a connection that sees everything."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg

_TEXT = Path(__file__).with_name("invariants.sql").read_text(encoding="utf-8")

INVARIANTS: dict[str, str] = dict(re.findall(r"(?ms)^-- (I\d+): [^\n]+\n(.*?;)$", _TEXT))
"""Query by name, I1 to I12."""


def broken_invariants(conn: psycopg.Connection[Any], *, without: tuple[str, ...] = ()) -> list[str]:
    """Return what breaks an invariant, each with the invariant's name."""
    conn.execute("set jit = off")  # compiling a query takes longer than the data of a test
    return [
        f"{name}: {row[0]}"
        for name, query in INVARIANTS.items()
        if name not in without
        for row in conn.execute(query.encode())
    ]


def check_invariants(conn: psycopg.Connection[Any]) -> None:
    """Assert that every invariant holds; for a superuser or the schema's owner."""
    broken = broken_invariants(conn)
    assert not broken, "\n".join(broken)
