"""Messages in the forms that the OpenAI client gives them, as the database takes them.

Taken are message dictionaries, message objects, whole completions (`ChatCompletion`, or its
dictionary) and streams: any iterable of `ChatCompletionChunk` is put together first. Objects are
recognized by their shape, so the package `openai` is not needed here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pgrecall._json import dump, json_text
from pgrecall.errors import InvalidInputError
from pgrecall.models._tokens import (
    count_message_tokens,
    encoding_name,
    exact_tokens,
    shortened_text,
)

__all__ = [
    "RECALLED_PREFIX",
    "Batch",
    "content_text",
    "continued",
    "merge_chunks",
    "normalize",
    "shorten_task",
    "tool_tokens",
    "with_tokens",
]

RECALLED_PREFIX = '{"memory_tool":"'
"""How every answer of a memory tool begins (`ChatSession.memory_tools`).

Such a message is stored with `recalled` in its metadata: it repeats what is known, so nothing is
extracted from it and no search finds it."""

_USAGE = ("prompt_tokens", "completion_tokens", "cached_tokens", "latency_ms", "cost_microcents")


@dataclass(slots=True)
class Batch:
    """Messages to append, and what their calls used.

    Attributes:
        messages: dictionaries of the chat format, with our own fields: token_count, model_id,
            finish_reason, metadata.
        usage: prompt_tokens, completion_tokens, cached_tokens, summed over the completions among
            the messages; None when none said it.
    """

    messages: list[dict[str, Any]] = field(default_factory=list)
    usage: dict[str, int] | None = None

    def add_usage(self, usage: Mapping[str, Any] | None) -> None:
        """Add one call's usage, in OpenAI's form or in ours."""
        if not usage:
            return
        if not isinstance(usage, Mapping):
            raise InvalidInputError(f"usage: a {type(usage).__name__} is no mapping")
        counts = {key: usage[key] for key in _USAGE if usage.get(key) is not None}
        details = usage.get("prompt_tokens_details") or {}
        if "cached_tokens" not in counts and details.get("cached_tokens"):
            counts["cached_tokens"] = details["cached_tokens"]
        for key, count in counts.items():
            if not isinstance(count, (int, float)):
                raise InvalidInputError(f"usage: {key} is {count!r}", hint="It is a number.")
        if self.usage is None:
            self.usage = {}
        for key, count in counts.items():
            self.usage[key] = self.usage.get(key, 0) + count


def normalize(
    messages: Any = None, *, user: Any = None, reply: Any = None, model: str | None = None
) -> Batch:
    """Return messages in the database's form, in order: `messages`, the user's, the reply.

    Args:
        messages: one message or completion, or an iterable of them, or of chunks.
        user: the user's message: a text, a list of parts, or a message.
        reply: the model's: a text, a message, a completion, or a stream.
        model: the session's model. A dated snapshot of it (`gpt-4o-mini-2024-07-18`) counts as
            the model itself, whose price is known, and is kept in metadata (`response_model`).

    Raises:
        InvalidInputError: something is no message.
    """
    batch = Batch()
    for item in _items(messages):
        _add(batch, item, model, "messages")
    if user is not None:
        if isinstance(user, str) or _is_parts(user):
            user = {"role": "user", "content": user}
        _add(batch, user, model, "user")
    if reply is not None:
        if isinstance(reply, str):
            reply = {"role": "assistant", "content": reply}
        for item in _items(reply):
            _add(batch, item, model, "reply")
    if not batch.messages:
        raise InvalidInputError("there is no message to append")
    return batch


def with_tokens(messages: Sequence[dict[str, Any]], model: str) -> list[dict[str, Any]]:
    """Return the messages with `token_count` wherever it is missing and can be counted exactly.

    The others are left to the database, which estimates on the safe side and marks the estimate.
    """
    if encoding_name(model) is None:
        return list(messages)
    return [_with_tokens(message, model) for message in messages]


def _with_tokens(message: dict[str, Any], model: str) -> dict[str, Any]:
    if message.get("token_count") is not None:
        return message
    try:
        return {**message, "token_count": count_message_tokens(message, model)}
    except (AttributeError, TypeError):  # malformed; the database says in which way
        return message


def tool_tokens(tools: Sequence[Any], model: str) -> int | None:
    """Return the tokens of tool definitions as compact JSON; None when they cannot be counted."""
    return exact_tokens(json_text([dump(tool) for tool in tools]), model)


def shorten_task(messages: list[Any], tokens: int, model: str) -> None:
    """Leave out the middle of a context's first user message where it has more tokens."""
    place = next((n for n, one in enumerate(messages) if one["role"] == "user"), None)
    if place is None or count_message_tokens(messages[place], model) <= tokens:
        return
    text = shortened_text(content_text(messages[place]["content"]), tokens, model)
    messages[place] = {"role": "user", "content": text}


def continued(
    stored: Sequence[bytes], listed: Sequence[bytes], *, is_whole: bool = True
) -> tuple[int, int]:
    """Return how many stored messages a list continues, and how many of its own are stored.

    Both are hashes, oldest first; `is_whole` says that `stored` has the first message, too.
    The list continues after the last stored message. If it contains that message more than once,
    the place counts with the longest agreement before it, and of two equals the later one. The part
    that agrees must occur only once in `stored`, unless the list begins with it: "I see." alone
    proves nothing.
    A list without that message, or with other messages before it, may be an edit: it begins like
    the conversation, or like two or more messages in a row of it, and then differs. Any other list
    is new from its first message on: the caller has summarized the conversation.
    """
    if is_whole and listed[: len(stored)] == stored:
        return len(stored), len(stored)
    agreed, end = max(
        ((_agree_before(stored, listed[: place + 1]), place + 1)
         for place, one in enumerate(listed) if stored and one == stored[-1]), default=(0, 0),
    )  # fmt: skip
    if agreed and agreed == min(end, len(stored)):
        return len(stored), end
    if _times(stored, listed[end - agreed : end]) > 1:
        agreed, end = 0, 0
    begun, start = max(
        ((_agree_after(stored[place:], listed), place)
         for place, one in enumerate(stored) if listed and one == listed[0]), default=(0, 0),
    )  # fmt: skip
    if begun >= max(agreed, 1) and (begun > 1 or (is_whole and start == 0)):
        return (len(stored), begun) if begun == len(listed) else (start + begun, begun)
    return len(stored), end


def _times(stored: Sequence[bytes], part: Sequence[bytes]) -> int:
    """Return how often a list contains another."""
    return sum(stored[place : place + len(part)] == part for place in range(len(stored)))


def _agree_after(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """Return in how many places two lists agree from their first on."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _agree_before(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """Return in how many places two lists agree from their last back."""
    return _agree_after(one[::-1], other[::-1])


def content_text(content: Any) -> str:
    """Return the text of a message's content: the text itself, or of its text parts."""
    if isinstance(content, Mapping):
        content = content.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, Sequence):  # malformed; the database says in which way
        return ""
    texts = (part.get("text") for part in content if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def merge_chunks(chunks: Iterable[Any]) -> dict[str, Any]:
    """Put the chunks of a streamed completion together: the dictionary of a completion.

    Only the first choice is read, as everywhere. Usage is there when the request asked for it
    (`stream_options={"include_usage": True}`).
    """
    texts: dict[str, list[str]] = {"content": [], "refusal": []}
    calls: dict[int, dict[str, Any]] = {}
    merged: dict[str, Any] = {"object": "chat.completion", "choices": []}
    finish_reason = None
    role = "assistant"
    for chunk in map(dump, chunks):
        merged["model"] = chunk.get("model") or merged.get("model")
        merged["usage"] = chunk.get("usage") or merged.get("usage")
        choice = next((c for c in chunk.get("choices") or () if not c.get("index")), None)
        if choice is None:
            continue
        finish_reason = choice.get("finish_reason") or finish_reason
        delta = choice.get("delta") or {}
        role = delta.get("role") or role
        for key, text in texts.items():
            if delta.get(key):
                text.append(delta[key])
        for call in delta.get("tool_calls") or ():
            _merge_call(calls.setdefault(call.get("index", len(calls)), {}), call)
    message: dict[str, Any] = {
        "role": role,
        **{key: "".join(text) for key, text in texts.items() if text},
    }
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    merged["choices"] = [{"index": 0, "finish_reason": finish_reason, "message": message}]
    return merged


def _merge_call(call: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add a piece of a tool call: ids and names come whole, arguments in pieces."""
    for key in ("id", "type"):
        if delta.get(key):
            call[key] = delta[key]
    for kind, long in (("function", "arguments"), ("custom", "input")):
        if piece := delta.get(kind):
            call.setdefault("type", kind)
            body = call.setdefault(kind, {"name": "", long: ""})
            body["name"] += piece.get("name") or ""
            body[long] += piece.get(long) or ""


def _items(value: Any) -> Iterable[Any]:
    """Yield messages and completions; chunks are put together."""
    if value is None:
        return
    if isinstance(value, Mapping) or hasattr(value, "model_dump"):
        if _kind(value) == "chunk":
            raise InvalidInputError("a single chunk is no reply", hint="Pass the whole stream.")
        yield value
        return
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInputError(f"a {type(value).__name__} is no message")
    iterator = iter(value)
    for first in iterator:
        if _kind(first) == "chunk":
            chunks = [first]
            for item in iterator:
                if _kind(item) != "chunk":
                    yield merge_chunks(chunks)
                    yield item
                    break
                chunks.append(item)
            else:
                yield merge_chunks(chunks)
        else:
            yield first


def _add(batch: Batch, item: Any, model: str | None, what: str) -> None:
    """Add one message, or a completion's."""
    if not isinstance(item, Mapping) and not hasattr(item, "model_dump"):
        raise InvalidInputError(f"{what}: a {type(item).__name__} is no message")
    data = dump(item)
    if _kind(data) == "completion":
        batch.add_usage(data.get("usage"))
        choice = next(iter(data.get("choices") or ()), None)
        if choice is None or not choice.get("message"):
            raise InvalidInputError(f"{what}: the completion has no choice")
        message = _clean(choice["message"])
        message["finish_reason"] = choice.get("finish_reason")
        _name_model(message, data.get("model"), model)
    else:
        message = _clean(data)
        content = message.get("content")
        is_recalled = message.get("role") == "tool" and isinstance(content, str)
        if is_recalled and str(content).startswith(RECALLED_PREFIX):
            message["metadata"] = {**(message.get("metadata") or {}), "recalled": True}
    batch.messages.append({key: value for key, value in message.items() if value is not None})


def _name_model(message: dict[str, Any], answered: str | None, model: str | None) -> None:
    """Say which model answered, when it is not the session's."""
    if not answered or answered == model:
        return
    if model and answered.startswith(f"{model}-") and answered[len(model) + 1 :][:1].isdigit():
        message["metadata"] = {**(message.get("metadata") or {}), "response_model": answered}
    else:
        message["model_id"] = answered


def _clean(message: Mapping[str, Any]) -> dict[str, Any]:
    """Drop what a parsed message adds, and what is empty."""
    cleaned = {
        key: value for key, value in message.items() if key != "parsed" and value not in (None, [])
    }
    if "content" in message and message["content"] == []:
        cleaned["content"] = []
    if calls := cleaned.get("tool_calls"):
        if not isinstance(calls, (list, tuple)):
            return cleaned  # the database says what is wrong with it
        cleaned["tool_calls"] = [_clean_call(call) for call in calls]
    return cleaned


def _clean_call(call: Any) -> Any:
    if not isinstance(call, Mapping):
        return call
    cleaned = {key: value for key, value in call.items() if key != "index"}
    if isinstance(function := cleaned.get("function"), Mapping):
        cleaned["function"] = {k: v for k, v in function.items() if k != "parsed_arguments"}
    return cleaned


def _kind(value: Any) -> str:
    """Return completion, chunk or message."""
    choices = _field(value, "choices")
    if choices is None:
        return "message"
    kind = _field(value, "object")
    first = next(iter(choices), None)
    if kind == "chat.completion.chunk" or _field(first, "delta") is not None:
        return "chunk"
    # the last chunk of a stream has usage and no choice
    return "completion" if first is not None or kind == "chat.completion" else "chunk"


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _is_parts(value: Any) -> bool:
    """Return whether a list is the parts of one message."""
    return isinstance(value, (list, tuple)) and all(
        isinstance(part, Mapping) and "type" in part and "role" not in part
        for part in itertools.islice(value, 100)
    )
