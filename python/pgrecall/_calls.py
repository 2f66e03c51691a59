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

from pgrecall.errors import InvalidEmbeddingError, InvalidInputError

__all__ = ["UNSET", "Call", "Unset", "Vector", "to_halfvec"]

Vector = Sequence[float] | HalfVector


class Unset(enum.Enum):
    """The type of `UNSET`: an argument that was not given, whose default stands in SQL."""

    UNSET = enum.auto()


UNSET: Final = Unset.UNSET

# The type of each parameter of the public functions, without its p_. A cast is needed where
# PostgreSQL converts by assignment only (numbers), and spares it guessing everywhere else. Vectors
# carry their type themselves, wherever the extension lives.
_TYPES = {
    **dict.fromkeys(("efficiency", "importance", "min_similarity", "temperature", "top_p"), "real"),
    **dict.fromkeys(
        ("after_index", "before_turn", "context_window_size", "from_turn", "key_no", "limit",
         "max_response_tokens", "status_code", "system_prompt_tokens", "token_count",
         "replaced_key", "turn_index"), "integer",
    ),
    **dict.fromkeys(
        ("cached_input_price", "cost_limit_microcents", "cost_microcents", "input_price",
         "output_price"), "bigint",
    ),
    **dict.fromkeys(
        ("after", "candidates", "changes", "document", "events", "filter", "head", "messages",
         "metadata", "options", "patch", "payload", "phases", "request", "request_headers",
         "response", "response_headers", "result", "rows", "usage", "value"), "jsonb",
    ),
    **dict.fromkeys(
        ("after_id", "before_id", "call_id", "event_id", "job_id", "lease_token", "memory_id",
         "parent_session_id", "request_id", "session_id", "user_id"), "uuid",
    ),
    **dict.fromkeys(
        ("accept", "allow_weaker", "flush", "include_bodies", "include_compacted", "is_behavioral",
         "is_stream", "retry", "useful", "with_late", "with_vectors"), "boolean",
    ),
    **dict.fromkeys(("expires_in", "lease", "lifetime", "ttl"), "interval"),
    **dict.fromkeys(
        ("as_of", "completed_at", "expires_at", "observed_at", "run_at", "started_at"),
        "timestamptz",
    ),
    **dict.fromkeys(
        ("agent_id", "content", "dedupe_key", "description", "direction", "endpoint", "error",
         "event_type", "external_id", "key", "kind", "method", "model", "model_id", "other_than",
         "current_message", "provider", "query", "reason", "rpc_id", "slot", "status",
         "system_prompt", "task", "user_words", "words",
         "task_id", "title", "tokenizer", "tool_call_id", "tool_name", "worker", "wrapping_key"),
        "text",
    ),
    **dict.fromkeys(
        ("cursor", "payload_body", "previous", "request_body", "response_body", "wrapped_key"),
        "bytea",
    ),
    "provenance": "recall.provenance",
    "kinds": "text[]",
    "memory_ids": "uuid[]",
    "relevance": "real[]",
    "tags": "text[]",
}  # fmt: skip
_TYPES_OF = {("record_model_call", "request_id"): "text"}  # where a name means something else
JSON_LEVELS = 64  # of lists and dictionaries; a document of export_user has four more around it
_BEYOND = 10**400
_BYTES = (bytes, bytearray, memoryview)
_VECTORS = {"embedding", "embeddings", "query_embedding"}


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
    session_id: UUID | None = None  # of what it writes, where no parameter says so
    keys: str = ""  # numbers of the oldest and the newest key by which it was sealed

    @classmethod
    def of(cls, function: str, **arguments: Any) -> Call:
        """Make the call of `recall.<function>`; the arguments are named without their `p_`."""
        given = {name: value for name, value in arguments.items() if value is not UNSET}
        text = _text(function, tuple(given))
        parameters = {name: _parameter(name, value) for name, value in given.items()}
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
def _text(function: str, names: tuple[str, ...]) -> bytes:
    arguments = ", ".join(f"p_{name} => {_placeholder(function, name)}" for name in names)
    # names of ours, never a value
    return f"select * from recall.{function}({arguments})".encode()  # noqa: S608


def _placeholder(function: str, name: str) -> str:
    if name in _VECTORS:
        return f"%({name})b"
    if name not in _TYPES:
        raise TypeError(f"recall.{function} takes no {name}")
    return f"%({name})s::{_TYPES_OF.get((function, name), _TYPES[name])}"


def _parameter(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _VECTORS:
        if name == "embeddings":
            return [
                None if vector is None else to_halfvec(vector, f"embeddings[{index}]")
                for index, vector in enumerate(value)
            ]
        return to_halfvec(value, name)
    if _TYPES[name] == "jsonb":
        return to_jsonb(value, name)
    refuse_unstorable(value, name)
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return list(value)
    return value


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
