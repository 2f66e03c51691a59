"""Validate the arguments that a model writes for a memory tool.

Apart from `_tools`, so that pydantic is loaded only when a model calls a memory tool.
"""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from pgrecall._plain import shortened
from pgrecall._tools import MAX_ITEM_CHARS, MAX_LISTED, AskedCall, Kind

__all__ = ["ARGUMENTS", "checked"]

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
_Limit = Annotated[int, Field(ge=1, le=MAX_LISTED)]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Search(_Arguments):
    """Arguments of `search_memories` and `search_messages`."""

    query: _Text
    limit: _Limit | None = None


class Remember(_Arguments):
    """Arguments of `remember`."""

    content: _Text
    user_words: _Text | None = None
    kind: Kind | None = None
    slot: Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]{0,59}$")] | None = None


class ForgetMemory(_Arguments):
    """Arguments of `forget_memory`."""

    memory_id: UUID
    user_words: _Text | None = None
    reason: _Text | None = None


class GetMessages(_Arguments):
    """Arguments of `get_messages`."""

    session_id: UUID | None = None
    before_turn: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    limit: _Limit | None = None


class GetUserProfile(_Arguments):
    """Arguments of `get_user_profile`: none."""


ARGUMENTS: dict[str, type[_Arguments]] = {
    "search_memories": Search,
    "remember": Remember,
    "forget_memory": ForgetMemory,
    "search_messages": Search,
    "get_messages": GetMessages,
    "get_user_profile": GetUserProfile,
}
"""The arguments of each tool, which validate what a model writes."""


def checked(call: AskedCall) -> Any:
    """Return the arguments of a call of a memory tool.

    Raises:
        ValueError: they are malformed; the message is for the model.
    """
    try:
        return ARGUMENTS[call.name].model_validate(call.parsed())
    except ValidationError as error:
        raise ValueError(f"wrong arguments: {_problem_of(error)}") from None


def _problem_of(error: ValidationError) -> str:
    """Return what is wrong with arguments, for the model: each field once, without its value."""
    problems = [
        f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return shortened("; ".join(dict.fromkeys(problems)), MAX_ITEM_CHARS)
