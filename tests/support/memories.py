"""Helpers for tests of memories: vectors of known angles, short calls."""

from __future__ import annotations

import math
import uuid
from typing import Any

from support import Connection, call, rows
from support.servers import DIMENSIONS


def vector(degrees: float = 0.0, plane: int = 0) -> str:
    """Return a unit vector; the cosine of two in a plane is that of their angles' difference."""
    numbers = [0.0] * DIMENSIONS
    numbers[2 * plane] = math.cos(math.radians(degrees))
    numbers[2 * plane + 1] = math.sin(math.radians(degrees))
    return str(numbers)


def unit(place: int) -> str:
    """Return the unit vector of a dimension."""
    return vector(90 * (place % 2), place // 2)


def vectors(*texts: str | None) -> str:
    """Return these as a literal of halfvec[]."""
    return "{" + ",".join("NULL" if text is None else f'"{text}"' for text in texts) + "}"


def remember(conn: Connection, user: uuid.UUID, content: str, **more: Any) -> dict[str, Any]:
    (row,) = call(conn, "remember", p_user_id=user, p_content=content, **more)
    return row


def remembered(conn: Connection, user: uuid.UUID, content: str, **more: Any) -> uuid.UUID:
    """Remember a text, and return its id."""
    memory_id: uuid.UUID = remember(conn, user, content, **more)["memory_id"]
    return memory_id


def search(
    conn: Connection, user: uuid.UUID, query: str | None = None, **more: Any
) -> list[dict[str, Any]]:
    """Search the memories of a user; `more` has parameters without their p_."""
    named = {f"p_{name}": item for name, item in more.items()}
    return call(conn, "search", p_user_id=user, p_query=query, **named)


def stored(conn: Connection, user: uuid.UUID) -> list[dict[str, Any]]:
    """Return all memories of a user as the table has them, in order of their ids."""
    return rows(
        conn, "select * from recall.memory_store where user_id = %s order by memory_id", [user]
    )
