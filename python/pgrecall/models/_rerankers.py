"""Rerankers: functions of the caller that put the best hits of a search in order."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from pgrecall._sql import Unset
from pgrecall.errors import InvalidInputError

__all__ = ["RERANKED", "Reranker", "at_least", "first", "in_order", "least_match"]

Reranker = Callable[[str, Sequence[str]], Sequence[float] | Awaitable[Sequence[float]]]
"""Query and texts to a score for each text, the higher the better."""

RERANKED = 30
"""Rows that a reranker sees, at most."""

_DEFAULT_LIMIT = 10  # that of recall.search and recall.search_messages

Row = TypeVar("Row")


def in_order(hits: Sequence[Row], scores: Sequence[float]) -> list[Row]:
    """Return hits in the order of a reranker's scores; what it did not see stays behind them.

    Raises:
        ValueError: not a score for each.
    """
    given = [float(score) for score in scores]
    if len(given) != min(len(hits), RERANKED):
        raise ValueError(f"{len(given)} scores for {min(len(hits), RERANKED)} texts")
    if any(math.isnan(score) for score in given):
        raise ValueError("a score is not a number")
    order = sorted(range(len(given)), key=lambda place: -given[place])
    return [hits[place] for place in order] + list(hits[len(given) :])


def at_least(limit: int | Unset, rows: int) -> int:
    """Return a limit that lets so many rows through; the database judges zero and less."""
    wanted = _DEFAULT_LIMIT if isinstance(limit, Unset) else limit
    return max(wanted, rows) if wanted > 0 else wanted


def least_match(given: Mapping[str, Any]) -> float | None:
    """Return the key `min_match` of a filter or of options, or None without one.

    Raises:
        InvalidInputError: no number from 0 to 1.
    """
    least = given.get("min_match")
    if least is None:
        return None
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1:
        raise InvalidInputError(f"min_match is {least!r}", hint="From 0 (all) to 1.")
    return least


def first(rows: list[Row], limit: int | Unset) -> list[Row]:
    """Return as many as a search with that limit does."""
    return rows[: _DEFAULT_LIMIT if isinstance(limit, Unset) else limit]
