"""Order by words what only the driver can read: decrypted rows of a search."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from pgrecall.errors import InvalidInputError

__all__ = ["Hit", "as_moment", "best_first", "by_words", "contains", "either",
           "shares_of_words"]  # fmt: skip


class _Scored(Protocol):
    @property
    def score(self) -> float: ...


Hit = TypeVar("Hit", bound=_Scored)


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


def either(match: float | None, share: float | None) -> float | None:
    """Return the match of a memory by its vector and its words, as `recall._match` does."""
    if match is None or share is None:
        return share if match is None else match
    return 1 - (1 - match) * (1 - share)


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits in order of their scores."""
    return sorted(hits, key=lambda hit: -hit.score)


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
    """Return the share of a query's words that each text has (0 to 1), weighted by rarity."""
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
    # `[\w']*\w` would take quadratic time for a run of apostrophes.
    return [
        re.sub(r"(?<=\w{3})(?:'s|ing|ed|es|s)$", "", word)
        for run in re.findall(r"[\w']+", text.casefold())
        if (word := run.rstrip("'"))
    ]
