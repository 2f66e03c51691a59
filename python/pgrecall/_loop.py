"""A turn with tool calls: keeping it within the window, and in a form that can be stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from pgrecall._json import json_text, storable, storable_text
from pgrecall.errors import InvalidInputError
from pgrecall.models._tokens import truncate_text

__all__ = [
    "INTERRUPTED",
    "EndpointHabits",
    "bounded",
    "error_text",
    "repaired",
    "result_text",
    "trimmed",
    "usage_of",
]

INTERRUPTED = "interrupted"
"""The finish_reason of a reply that broke off."""

_CHARS_PER_TOKEN = 16  # more than any but a degenerate text has
_CUT = "\n[cut here: the result was longer]"
_MAX_ERROR_CHARS = 1000
_MAX_NAME_CHARS = 200  # of a tool, as the database has it
_MAX_TOKENS = 2**31 - 1  # that a message can have


# what an endpoint may refuse, and how it says so
_REFUSABLE = {
    "stream_options": ("stream_options", "include_usage"),
    "max_tokens": ("max_completion_tokens",),
    "temperature": ("temperature",),
    "top_p": ("top_p",),
}


class EndpointHabits:
    """Which of our own parameters an endpoint refuses for a model; learned by trying once."""

    def __init__(self) -> None:
        self._refused: set[tuple[Any, str]] = set()

    def adapted(self, request: Mapping[str, Any], keep: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request without what is refused; a limit of tokens by its other name.

        Parameters that the caller passed (`keep`) are never left out.
        """
        model = request.get("model")
        adapted = dict(request)
        for known, name in self._refused:
            if known != model or name not in request or name in keep:
                continue
            value = adapted.pop(name)
            if name == "max_tokens":
                adapted.setdefault("max_completion_tokens", value)
        return adapted

    def learn(self, request: Mapping[str, Any], keep: Mapping[str, Any], said: str) -> bool:
        """Learn from a refusal; return whether the request can be sent in another form."""
        said = said.lower()
        for name, words in _REFUSABLE.items():
            if name in request and name not in keep and any(word in said for word in words):
                self._refused.add((request.get("model"), name))
                return True
        return False


def trimmed(
    messages: Sequence[Mapping[str, Any]],
    rounds: Sequence[Sequence[Mapping[str, Any]]],
    excess: int,
    cost: Callable[[Mapping[str, Any]], int],
) -> list[Mapping[str, Any]]:
    """Return a context and the rounds after it, less what is too much, as a valid transcript.

    The oldest exchanges of the history go first, a call with its answers; then the oldest rounds.
    System messages, the user's message and the last round stay.

    Args:
        messages: the compiled context, which ends with the user's message.
        rounds: of the turn: each an assistant's message with its answers.
        excess: tokens that are too much.
        cost: of a message.
    """
    kept, waiting = list(messages[:-1]), list(rounds)
    place = 0
    while excess > 0 and place < len(kept):
        if kept[place]["role"] in ("system", "developer"):
            place += 1
            continue
        end = place + 1
        while end < len(kept) and kept[end]["role"] == "tool":
            end += 1
        excess -= sum(map(cost, kept[place:end]))
        del kept[place:end]
    while excess > 0 and len(waiting) > 1:
        excess -= sum(map(cost, waiting.pop(0)))
    return [*kept, messages[-1], *(message for part in waiting for message in part)]


def usage_of(completion: Mapping[str, Any]) -> dict[str, int] | None:
    """Return the token counts of a completion; None without any, or with other values."""
    usage = completion.get("usage")
    if not isinstance(usage, Mapping):
        return None
    details = usage.get("prompt_tokens_details")
    counts = {
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "cached_tokens": details.get("cached_tokens") if isinstance(details, Mapping) else None,
    }
    said = {key: count for key, count in counts.items() if count is not None}
    are_numbers = all(isinstance(n, int) and 0 <= n <= _MAX_TOKENS for n in said.values())
    return said if said and are_numbers else None


def repaired(completion: dict[str, Any]) -> dict[str, Any]:
    """Return the message of a completion, mended in place so that it can be stored.

    Some endpoints make mistakes: calls without an id or a type, arguments that are not text,
    characters that PostgreSQL cannot store. Some models invent endless names of tools. Repaired,
    the reply is not lost.

    Raises:
        InvalidInputError: there is no message.
    """
    choice = next(iter(completion.get("choices") or ()), None)
    if not choice or not choice.get("message"):
        raise InvalidInputError("the completion has no choice")
    message: dict[str, Any] = choice["message"]
    message["role"] = message.get("role") or "assistant"
    for key in ("content", "refusal"):
        if isinstance(message.get(key), str):
            message[key] = storable(message[key], "reply")
    seen: set[str] = set()
    for call in message.get("tool_calls") or ():
        call["type"] = call.get("type") or ("custom" if "custom" in call else "function")
        if not call.get("id") or call["id"] in seen:
            call["id"] = f"call_{uuid4().hex}"
        seen.add(call["id"])
        body = call.setdefault(call["type"], {})
        long = "input" if call["type"] == "custom" else "arguments"
        body["name"] = storable(str(body.get("name") or ""), "reply")[:_MAX_NAME_CHARS]
        if not isinstance(body.get(long), str):
            body[long] = "" if body.get(long) is None else json_text(body[long])
        body[long] = storable(body[long], "reply")
    if not message.get("tool_calls"):
        message.pop("tool_calls", None)
        if not message.get("refusal"):
            message["content"] = message.get("content") or ""
    return message


def result_text(value: Any) -> str:
    """Return what a function answered as the content of a tool message."""
    return str(storable(_as_text(value), "answer of a tool"))


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    from pydantic import BaseModel

    if isinstance(value, BaseModel):
        return value.model_dump_json()
    try:
        return json_text(value)
    except InvalidInputError:
        return str(value)


def error_text(problem: str) -> str:
    """Return the content of a tool message with an error."""
    return json.dumps({"error": storable_text(problem)[:_MAX_ERROR_CHARS]}, ensure_ascii=False)


def bounded(text: str, max_tokens: int, model: str) -> str:
    """Return a text of at most so many tokens, with a mark where it was cut."""
    short = text[: max_tokens * _CHARS_PER_TOKEN]
    cut = truncate_text(short, max_tokens, model)
    return text if len(cut) == len(text) else cut + _CUT
