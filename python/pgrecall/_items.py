"""Rows of `AgentMemory.items`; `pgrecall.rows` has them, too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

__all__ = ["Item"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A JSON value under a namespace and a key; `score` is set by a search with a vector."""

    namespace: list[str]
    key: str
    value: Any
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    score: float | None = None
