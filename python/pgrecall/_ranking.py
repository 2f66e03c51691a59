"""What the driver adds to the order of a search: a reranker, and words for encrypted users."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from pgrecall._calls import UNSET, Unset
from pgrecall.errors import InvalidInputError

__all__ = ["DEFAULT_LIMIT", "RERANKED", "Reranker", "as_moment", "best_first", "by_scores",
           "by_words", "contains", "first", "seen_rows", "shares_of_words"]  # fmt: skip

Reranker = Callable[[str, Sequence[str]], Sequence[float] | Awaitable[Sequence[float]]]
"""Query and texts to a score for each text, the higher the better."""

RERANKED = 30
"""Rows that a reranker sees, at most."""

DEFAULT_LIMIT = 10
"""That of the functions of the database."""


class _Scored(Protocol):
    @property
    def score(self) -> float: ...


Hit = TypeVar("Hit", bound=_Scored)
Row = TypeVar("Row")


def by_scores(hits: list[Row], scores: Sequence[float]) -> list[Row]:
    """Return the hits in order of a reranker's scores; what it did not see stays behind them.

    Raises:
        ValueError: not a score for each.
    """
    given = [float(score) for score in scores]
    if len(given) != min(len(hits), RERANKED):
        raise ValueError(f"{len(given)} scores for {min(len(hits), RERANKED)} texts")
    if any(math.isnan(score) for score in given):
        raise ValueError("a score is not a number")
    order = sorted(range(len(given)), key=lambda place: -given[place])
    return [hits[place] for place in order] + hits[len(given) :]


def by_words(hits: Sequence[Hit], shares: Sequence[float]) -> list[Hit]:
    """Return hits, best first: half by the share of the query's words, half by their scores so far.

    Both are min-max normalized over the hits, as the database does it; where the scores know
    nothing of the query (no hit has a similarity) they only break ties.
    """
    is_near = any(getattr(hit, "similarity", None) is not None for hit in hits)
    before = 0.5 if is_near else 0.1
    return best_first(
        replace(hit, lexical=share, score=(1 - before) * word + before * score)  # type: ignore[type-var]
        for hit, share, word, score in zip(
            hits, shares, _normalized(shares), _normalized([hit.score for hit in hits]), strict=True
        )
    )


def _normalized(numbers: Sequence[float]) -> list[float]:
    """Return numbers between the least (0) and the largest (1); equal ones are 1."""
    least, most = min(numbers, default=0.0), max(numbers, default=0.0)
    return [(number - least) / (most - least) if most > least else 1.0 for number in numbers]


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits in order of their scores."""
    return sorted(hits, key=lambda hit: -hit.score)


def first(rows: list[Row], limit: int | Unset) -> list[Row]:
    """Return at most so many, as the functions of the database do.

    Raises:
        InvalidInputError: a negative limit.
    """
    if limit is UNSET:
        return rows[:DEFAULT_LIMIT]
    if limit < 0:
        raise InvalidInputError(f"limit is {limit}", hint="Zero or more.")
    return rows[:limit]


def seen_rows(limit: int | Unset) -> int:
    """Return how many rows a search with a reranker asks for."""
    wanted = DEFAULT_LIMIT if isinstance(limit, Unset) else limit
    return max(wanted, RERANKED) if wanted > 0 else wanted


def as_moment(value: Any) -> datetime | None:
    """Return a time of a filter, which may be a text; without a zone it is UTC.

    Raises:
        InvalidInputError: it is no time.
    """
    if value is None:
        return None
    try:
        made = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise InvalidInputError(f"{value!r} in filter is no time", hint="ISO 8601.") from None
    return made if made.tzinfo else made.replace(tzinfo=UTC)


def contains(value: Any, wanted: Any) -> bool:
    """Return whether a JSON value contains another, as the operator `@>` has it."""
    if isinstance(wanted, Mapping):
        return isinstance(value, Mapping) and all(
            key in value and contains(value[key], item) for key, item in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(value, list) and all(
            any(contains(one, item) for one in value) for item in wanted
        )
    return bool(value == wanted)


def shares_of_words(texts: Sequence[str], query: str) -> list[float]:
    """Return for each text the share of a query's words that it has (0 to 1), weighted by rarity.

    For texts that the database cannot read.
    """
    asked = set(_words(query))
    known = [asked & set(_words(text)) for text in texts]
    weights = {
        word: math.log(1 + len(texts) / max(1, sum(word in words for words in known)))
        for word in asked
    }
    whole = sum(weights.values()) or 1.0
    return [sum(weights[word] for word in words) / whole for words in known]


def _words(text: str) -> list[str]:
    """Return the words of a text, each without the ending of an English plural or verb form."""
    return [
        re.sub(r"(?<=\w{3})(?:'s|ing|ed|es|s)$", "", word)
        for word in re.findall(r"[\w']*\w", text.casefold())
    ]
