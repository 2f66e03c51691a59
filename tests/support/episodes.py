"""Episodes of a user, with vectors at given angles."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from support import Connection, call
from support.memories import vector

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)

# three vectors whose cosines in pairs are 0.85, in planes of their own for each seed
CLOSE = (0.0, 20.0, 31.0)


def episode(
    db: Connection, user: uuid.UUID, text: str, embedding: str | None, *, days_ago: float = 1,
    **more: Any,
) -> uuid.UUID:  # fmt: skip
    candidate = {
        "content": text, "kind": "episode", "provenance": "system_inferred",
        "observed_at": (NOW - timedelta(days=days_ago)).isoformat(),
    } | more  # fmt: skip
    if embedding is not None:
        candidate["embedding"] = json.loads(embedding)
    (row,) = call(db, "ingest_memories", p_user_id=user, p_session_id=None,
                  p_candidates=[candidate])  # fmt: skip
    return row["memory_id"]


def episodes(
    db: Connection, user: uuid.UUID, degrees: Sequence[float], plane: int = 0, **more: Any
) -> list[uuid.UUID]:
    return [
        episode(db, user, f"User had problem {plane} at {angle}.", vector(angle, plane), **more)
        for angle in degrees
    ]
