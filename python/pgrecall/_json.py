"""Values as JSON: written, taken from objects of the OpenAI client, refused without a form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from pgvector import HalfVector
from psycopg.types.json import Jsonb

from pgrecall._logs import logger
from pgrecall._process import lock
from pgrecall.errors import InvalidInputError

__all__ = [
    "JSON_LEVELS",
    "dump",
    "json_text",
    "refuse_depth",
    "refuse_unstorable",
    "replaced_characters",
    "storable",
    "storable_text",
    "to_jsonb",
    "with_texts",
]

JSON_LEVELS = 64  # of lists and dictionaries; a document of export_user has four more around it
_BEYOND = 10**400
_BYTES = (bytes, bytearray, memoryview)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACED = [0]
_COUNTING = lock()


def to_jsonb(value: Any, what: str) -> Jsonb:
    """Return a value as jsonb; ids, dates and times become text.

    Raises:
        InvalidInputError: it holds what JSON has no form for; the message names the element.
    """
    _refuse_unreadable(value, what, JSON_LEVELS + 4 * (what == "document"))
    return Jsonb(storable(value, what), dumps=json_text)


def json_text(value: Any) -> str:
    """Return compact JSON; ids, dates and times become text.

    Raises:
        InvalidInputError: the value has no form in JSON.
    """
    try:
        return json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_json_default
        )
    except (RecursionError, TypeError, ValueError) as error:
        raise InvalidInputError(f"not JSON: {error}") from error


def _json_default(value: object) -> object:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return f"{value.total_seconds()} seconds"
    if isinstance(value, HalfVector):
        return value.to_list()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable) and not isinstance(value, _BYTES):
        return list(value)
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def _refuse_unreadable(value: Any, what: str, levels: int) -> None:
    """Refuse what JSON has no form for, and what no client could read again, as the database does.

    A value that holds itself is too deep as well.
    """
    if isinstance(value, _BYTES):
        raise InvalidInputError(
            f"{what} is {type(value).__name__}, not JSON", hint="Decode it to text first."
        )
    if isinstance(value, int) and not -_BEYOND < value < _BEYOND:
        raise InvalidInputError(
            f"{what} is a number of more than 400 characters", hint="Pass it as text."
        )
    if isinstance(value, (Mapping, list, tuple, set, frozenset)):
        refuse_depth(levels, what[:200])
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, item in items:
            _refuse_unreadable(item, f"{what}.{key}" if isinstance(key, str) else what, levels - 1)


def refuse_depth(levels: int, what: str) -> None:
    """Refuse what would be nested deeper than the levels that are left.

    Raises:
        InvalidInputError: none are left.
    """
    if levels == 0:
        raise InvalidInputError(
            f"{what} is nested too deep, or holds itself",
            hint=f"At most {JSON_LEVELS} levels of lists and dictionaries.",
        )


def storable(value: Any, what: str) -> Any:
    """Return a value with U+FFFD for each NUL and lone surrogate, which PostgreSQL cannot store.

    They are counted, see `replaced_characters`. A value without any is returned itself.

    Raises:
        InvalidInputError: a time without a zone, however deep it lies; the message names it.
    """
    count = _count_unstorable(value, what)
    if not count:
        return value
    with _COUNTING:
        _REPLACED[0] += count
    logger.warning("%s: characters that PostgreSQL cannot store, replaced: %d", what[:200], count)
    return with_texts(value, storable_text)


def storable_text(text: str) -> str:
    """Return a text with U+FFFD for what PostgreSQL cannot store; it is not counted."""
    return text if _is_storable(text) else _UNSTORABLE.sub("\ufffd", text)


def replaced_characters() -> int:
    """Return how many characters this process has replaced by U+FFFD since it started.

    PostgreSQL stores neither NUL nor half a surrogate pair, so they are replaced in everything
    that is sent. The logger `pgrecall` has a warning for each call.
    """
    return _REPLACED[0]


def refuse_unstorable(name: str, what: str) -> None:
    """Refuse a name that PostgreSQL cannot store: with U+FFFD two names would become one.

    Raises:
        InvalidInputError: it has a NUL or half a surrogate pair.
    """
    if not _is_storable(name):
        raise InvalidInputError(
            f"{what} contains \\u0000 or half a surrogate pair",
            hint="PostgreSQL cannot store it in text.",
        )


def _is_storable(text: str) -> bool:
    return "\x00" not in text and (text.isascii() or _UNSTORABLE.search(text) is None)


def _count_unstorable(value: Any, what: str) -> int:
    if isinstance(value, str):
        return 0 if _is_storable(value) else len(_UNSTORABLE.findall(value))
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise InvalidInputError(
                f"{what} is a time without a time zone", hint="Such as datetime.now(UTC)."
            )
    elif isinstance(value, Mapping):
        return sum(
            _count_unstorable(key, what) + _count_unstorable(item, f"{what}.{key}")
            for key, item in value.items()
        )
    elif isinstance(value, (list, tuple, set, frozenset)):
        return sum(_count_unstorable(item, f"{what}[{n}]") for n, item in enumerate(value))
    return 0


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value with every text in it changed, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {with_texts(key, change): with_texts(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [with_texts(item, change) for item in value]
    return value


def dump(value: Any, levels: int = JSON_LEVELS) -> Any:
    """Return an object of the OpenAI client as a dictionary, a dictionary with its objects too.

    Raises:
        InvalidInputError: it is nested more than `levels` deep, or holds itself.
    """
    if hasattr(value, "model_dump"):
        # warnings: a parsed answer holds what its declared type does not know
        return value.model_dump(mode="json", exclude_none=True, warnings=False)
    if isinstance(value, Mapping):
        refuse_depth(levels, "a message")
        return {key: dump(item, levels - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        refuse_depth(levels, "a message")
        return [dump(item, levels - 1) for item in value]
    return value
