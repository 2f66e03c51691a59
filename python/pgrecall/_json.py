"""Values as JSON: written, taken from objects of the OpenAI client, refused without a form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from pgvector import HalfVector
from psycopg.types.json import Jsonb

from pgrecall.errors import InvalidInputError

__all__ = ["JSON_LEVELS", "dump", "json_text", "refuse_depth", "refuse_unstorable", "to_jsonb"]

JSON_LEVELS = 64  # of lists and dictionaries; a document of export_user has four more around it
_BEYOND = 10**400
_BYTES = (bytes, bytearray, memoryview)


def to_jsonb(value: Any, what: str) -> Jsonb:
    """Return a value as jsonb; ids, dates and times become text.

    Raises:
        InvalidInputError: it holds what PostgreSQL cannot store; the message names the element.
    """
    _refuse_unreadable(value, what, JSON_LEVELS + 4 * (what == "document"))
    refuse_unstorable(value, what)
    return Jsonb(value, dumps=json_text)


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


def refuse_unstorable(value: Any, what: str) -> None:
    """Refuse text that PostgreSQL cannot store, and times without a zone, however deep they lie.

    Raises:
        InvalidInputError: the message names the element.
    """
    if isinstance(value, str):
        if "\x00" in value:
            raise InvalidInputError(
                f"{what} contains the character \\u0000", hint="PostgreSQL cannot store it in text."
            )
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise InvalidInputError(
                    f"{what} contains half a surrogate pair at character {error.start}",
                    hint="It is no valid Unicode text.",
                ) from None
    elif isinstance(value, datetime):
        if value.tzinfo is None:
            raise InvalidInputError(
                f"{what} is a time without a time zone", hint="Such as datetime.now(UTC)."
            )
    elif isinstance(value, Mapping):
        for key, item in value.items():
            refuse_unstorable(key, f"a key of {what}")
            refuse_unstorable(item, f"{what}.{key}")
    elif isinstance(value, (list, tuple, set, frozenset)):
        for index, item in enumerate(value):
            refuse_unstorable(item, f"{what}[{index}]")


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
