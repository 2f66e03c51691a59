"""One SQL call: its text and its parameters, checked for what PostgreSQL cannot store."""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any, Final
from uuid import UUID

from pgvector import HalfVector
from psycopg import BaseConnection
from psycopg.types import TypeInfo
from psycopg.types.json import Jsonb

from pgrecall._signatures import SIGNATURES
from pgrecall.errors import InvalidEmbeddingError, InvalidInputError

__all__ = ["UNSET", "Call", "Unset", "Vector", "to_halfvec"]

Vector = Sequence[float] | HalfVector


class Unset(enum.Enum):
    """The type of `UNSET`: an argument that was not given, whose default stands in SQL."""

    UNSET = enum.auto()


UNSET: Final = Unset.UNSET

JSON_LEVELS = 64  # of lists and dictionaries; a document of export_user has four more around it
_BEYOND = 10**400
_BYTES = (bytes, bytearray, memoryview)
_VECTORS = {"halfvec", "halfvec[]"}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one function by named parameters.

    What is `UNSET` is left out, so that its default stands in SQL only. Strings with a NUL, times
    without a zone and numbers that JSON does not know are refused.

    Raises:
        InvalidInputError: such a value; the message names the element.
        InvalidEmbeddingError: a vector that is not finite.
    """

    function: str
    text: bytes
    parameters: dict[str, Any]
    keys: str = ""  # numbers of the oldest and the newest key by which it was sealed

    @classmethod
    def of(cls, function: str, **arguments: Any) -> Call:
        """Make the call of `recall.<function>`; the arguments are named without their `p_`."""
        given = {name: value for name, value in arguments.items() if value is not UNSET}
        text, types = _prepared(function, tuple(given))
        parameters = {name: _parameter(name, value, types[name]) for name, value in given.items()}
        return cls(function, text, parameters)

    def having(self, arguments: Mapping[str, Any]) -> Call:
        """Return the call of the same function with these arguments."""
        return Call.of(self.function, **arguments)


def to_halfvec(vector: Vector, what: str = "embedding") -> HalfVector:
    """Return a vector in the form that is sent, in binary.

    Raises:
        InvalidEmbeddingError: it is no sequence of finite numbers within ±65504.
    """
    if isinstance(vector, HalfVector):
        return vector
    try:
        numbers = list(map(float, vector))
        if math.isfinite(sum(numbers)):  # it is not when any of them is not
            return HalfVector(numbers)
    except (OverflowError, TypeError, ValueError):
        pass
    raise InvalidEmbeddingError(
        f"{what} is not a vector", hint="Pass finite numbers, each within ±65504."
    )


def register_vectors(connection: BaseConnection[Any], oid: int, array_oid: int) -> None:
    """Teach a connection the type halfvec, whose ids are these in its database."""
    from pgvector.psycopg.halfvec import register_halfvec_info

    register_halfvec_info(connection, TypeInfo("halfvec", oid, array_oid))


@cache
def _prepared(function: str, names: tuple[str, ...]) -> tuple[bytes, dict[str, str]]:
    """Return the text of a call, and the types of its parameters.

    PostgreSQL needs a cast where it converts by assignment only (numbers), and is spared guessing
    elsewhere. Vectors are sent in binary, which carries their type: the extension may live in any
    schema.
    """
    types = SIGNATURES.get(function)
    if types is None:
        raise TypeError(f"there is no function recall.{function}")
    if unknown := sorted({*names} - types.keys()):
        raise TypeError(f"recall.{function} takes no {unknown[0]}")
    arguments = ", ".join(
        f"p_{name} => %({name}){'b' if types[name] in _VECTORS else f's::{types[name]}'}"
        for name in names
    )
    # names of ours, never a value
    return f"select * from recall.{function}({arguments})".encode(), types  # noqa: S608


def _parameter(name: str, value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind == "jsonb":
        return to_jsonb(value, name)
    if kind in _VECTORS:
        if kind == "halfvec":
            return to_halfvec(value, name)
        return [
            None if vector is None else to_halfvec(vector, f"{name}[{index}]")
            for index, vector in enumerate(value)
        ]
    refuse_unstorable(value, name)
    if isinstance(value, (str, UUID, bytes)) or not isinstance(value, Iterable):
        return value
    return list(value)


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
