"""One call of a SQL function: its text and its parameters, checked before they are sent."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final
from uuid import UUID

from pgvector import HalfVector
from psycopg import BaseConnection
from psycopg.types import TypeInfo

from pgrecall._json import refuse_unstorable, storable, to_jsonb
from pgrecall._signatures import SIGNATURES
from pgrecall.errors import InvalidEmbeddingError

__all__ = [
    "JSON",
    "UNSET",
    "Call",
    "Made",
    "Unset",
    "User",
    "Vector",
    "register_vectors",
    "to_halfvec",
]

JSON = Mapping[str, Any]
User = str | UUID  # an id, or the name that an application has for a user
Vector = Sequence[float] | HalfVector


class Unset(enum.Enum):
    """The type of `UNSET`: an argument that was not given; SQL has its default."""

    UNSET = enum.auto()


UNSET: Final = Unset.UNSET

_VECTORS = {"halfvec", "halfvec[]"}
USER = "nullif(pg_catalog.set_config('recall.user_id', %(user_id)s::uuid::text, true), '')::uuid"
# the user of `ensure_user`, by id or by the name, becomes that of the transaction
_NAMED_USER = (
    "%(external_id)s::text || pg_catalog.left(pg_catalog.set_config('recall.user_id', coalesce("
    "%(user_id)s::uuid, recall.user_id(%(external_id)s::text))::text, true), 0)"
)
# sets the model, too, and appends nothing to the user
_MODEL = (
    "::text || pg_catalog.left("
    "pg_catalog.set_config('recall.embedding_model', %(its_model)s, true), 0)"
)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one function by named parameters.

    An argument that is `UNSET` is left out, so that it has the default of the SQL function.
    NUL and lone surrogates become U+FFFD. Times without a zone and numbers that JSON does not have
    are refused.

    Raises:
        InvalidInputError: such a value; the message names the element.
        InvalidEmbeddingError: a vector that is not finite.
    """

    function: str
    text: bytes
    parameters: dict[str, Any]
    keys: str = ""  # numbers of the oldest and the newest key that encrypted it
    model: str = ""  # of the vectors that the driver made for it

    @property
    def user_id(self) -> UUID | None:
        """The user of the call; None for a function that takes no user."""
        found: UUID | None = self.parameters.get("user_id")
        return found

    @classmethod
    def of(cls, function: str, **arguments: Any) -> Call:
        """Make the call of `recall.<function>`; the arguments are named without their `p_`."""
        if function == "ensure_user":  # names the user of the transaction by name or id
            arguments.setdefault("user_id", None)
        given = {name: value for name, value in arguments.items() if value is not UNSET}
        text, types = _prepared(function, tuple(given))
        parameters = {name: _parameter(name, value, types[name]) for name, value in given.items()}
        return cls(function, text, parameters, model=next(_models(given.values()), ""))

    def naming_model(self) -> tuple[bytes, dict[str, Any]]:
        """Return text and parameters that also name the model of the vectors to the database."""
        if not self.model:
            return self.text, self.parameters
        text = self.text.replace(USER.encode(), USER.replace("::text", _MODEL).encode())
        return text, {**self.parameters, "its_model": self.model}

    def having(self, arguments: Mapping[str, Any]) -> Call:
        """Return the call of the same function with these arguments."""
        return replace(Call.of(self.function, **arguments), model=self.model)


class Made(list[float]):
    """A vector that the driver has made, with its text and its model."""

    def __init__(self, vector: Sequence[float], text: str, model: str) -> None:
        super().__init__(vector)
        self.text = text
        self.model = model


def _models(values: Iterable[Any]) -> Iterator[str]:
    """Yield the models of the vectors in arguments, also in a list or an object."""
    for value in values:
        if isinstance(value, Made):
            yield value.model
        elif isinstance(value, Mapping):
            yield from _models(value.values())
        elif isinstance(value, list) and value and isinstance(value[0], Made):
            yield value[0].model


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
    schema. The user becomes that of the transaction, too, before the function is called.
    """
    taken = SIGNATURES.get(function)
    if taken is None:
        raise TypeError(f"there is no function recall.{function}")
    types = {"user_id": "uuid", **taken} if function == "ensure_user" else taken
    if unknown := sorted({*names} - types.keys()):
        raise TypeError(f"recall.{function} takes no {unknown[0]}")
    arguments = ", ".join(
        f"p_{name} => {_placeholder(function, name, taken[name])}"
        for name in names
        if name in taken
    )
    # names of ours, never a value
    return f"select * from recall.{function}({arguments})".encode(), types  # noqa: S608


def _placeholder(function: str, name: str, kind: str) -> str:
    if name == "user_id":
        return USER
    if function == "ensure_user" and name == "external_id":
        return _NAMED_USER
    return f"%({name})b" if kind in _VECTORS else f"%({name})s::{kind}"


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
    if name == "external_id" and isinstance(value, str):
        refuse_unstorable(value, name)
    value = storable(value, name)
    if isinstance(value, (str, UUID, bytes)) or not isinstance(value, Iterable):
        return value
    return list(value)
