"""The final message of a stream, put together of its events as the client does it live."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgrecall._json import dump
from pgrecall.errors import InvalidInputError

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response

__all__ = ["Replay", "event_payloads", "loaded", "parsed", "replay", "replayed"]

_WHOLE = ("index", "id", "type", "role", "object")  # members that a piece repeats, not continues
_ENDS = ("response.completed", "response.incomplete", "response.failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The answer that a recorded stream adds up to.

    Attributes:
        answer: a `ChatCompletion`, or a `Response` of the Responses API; None of a stream that
            brought none.
        is_complete: whether the stream came to its end; else `answer` is what had arrived.
        error: the endpoint's error in place of an end.
        events: how many there were.
    """

    answer: ChatCompletion | Response | None
    is_complete: bool
    error: Any = None
    events: int = 0


def replay(stream: Any) -> Replay:
    """Put the answer of a recorded stream together again.

    Args:
        stream: the body of a streamed call (`ModelCall.response_body`, server-sent events), its
            events as `AgentMemory.calls.stream_events` returns them, or their payloads
            (dictionaries or objects of the client), in order.

    Raises:
        InvalidInputError: it is none of these.
    """
    return replayed(event_payloads(stream))


def event_payloads(stream: Any) -> list[Any]:
    """Return the payloads of a stream's events; the end mark of a chat is `[DONE]`."""
    if isinstance(stream, str):
        stream = stream.encode("utf-8", "surrogateescape")
    if isinstance(stream, (bytes, bytearray, memoryview)):
        return [loaded(data) for _, _, data in parsed(bytes(stream))]
    if isinstance(stream, Mapping) or not isinstance(stream, Iterable):
        raise InvalidInputError(f"a {type(stream).__name__} is no stream")
    return [_payload(event) for event in stream]


def parsed(body: bytes) -> Iterator[tuple[int, str | None, bytes]]:
    """Yield the server-sent events of a body: where each ends, its name, and its data.

    Text after the last line break is incomplete, and left out.
    """
    name: str | None = None
    data: list[bytes] = []
    place = 0
    for line in body.splitlines(keepends=True):
        place += len(line)
        if not line.endswith((b"\n", b"\r")):
            break
        line = line.rstrip(b"\r\n")
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            name = value.decode("utf-8", "replace")
        elif field == b"data":
            data.append(value)
        elif not line:
            if data:
                yield place, name, b"\n".join(data)
            name, data = None, []
    if data:
        yield place, name, b"\n".join(data)


def loaded(data: bytes) -> Any:
    """Return the JSON in an event's data; what is none is the text itself."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def _payload(event: Any) -> Any:
    """Return what an event says: of a row of the call log its bytes, which are exact."""
    body = getattr(event, "binary_payload", None)
    if body is not None and "json" in (event.mime_type or ""):
        return loaded(bytes(body))
    if hasattr(event, "event_index"):
        return event.event_type if event.payload is None else event.payload
    if isinstance(event, Mapping) and "event_index" in event:
        if event.get("payload") is None and isinstance(event.get("binary_payload"), str):
            return loaded(base64.b64decode(event["binary_payload"]))
        return event.get("payload")
    return dump(event)


def replayed(payloads: Iterable[Any]) -> Replay:
    """Put an answer together of the payloads of its events."""
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response

    chat: dict[str, Any] = {}
    response: dict[str, Any] = {}
    error: Any = None
    count = 0
    is_ended = False
    for payload in payloads:
        count += 1
        if payload == "[DONE]":
            continue
        if not isinstance(payload, Mapping):
            continue
        kind = payload.get("type")
        if payload.get("error") or kind == "error":
            error = payload.get("error") or payload.get("message")
        elif isinstance(kind, str) and kind.startswith("response."):
            is_ended = _add_event(response, kind, payload) or is_ended
        elif "choices" in payload:
            _add_chunk(chat, payload)
    if response:
        answer = Response.construct(**response)
        return Replay(answer=answer, is_complete=is_ended, error=error, events=count)
    if chat:
        choices = chat["choices"]
        is_ended = bool(choices) and all(choice.get("finish_reason") for choice in choices)
        completion = ChatCompletion.construct(**{**chat, "choices": [*map(_finished, choices)]})
        return Replay(answer=completion, is_complete=is_ended, error=error, events=count)
    return Replay(answer=None, is_complete=False, error=error, events=count)


# Chat completions


def _add_chunk(chat: dict[str, Any], chunk: Mapping[str, Any]) -> None:
    """Add a chunk of a streamed chat completion."""
    chat.setdefault("object", "chat.completion")
    choices: list[dict[str, Any]] = chat.setdefault("choices", [])
    for key, value in chunk.items():
        if key not in ("choices", "object") and (value is not None or key not in chat):
            chat[key] = value
    for piece in chunk.get("choices") or ():
        number = piece.get("index") or 0
        choice = next((one for one in choices if one["index"] == number), None)
        if choice is None:
            message = {"role": "assistant", "content": None}
            choice = {"index": number, "finish_reason": None, "message": message}
            choices.append(choice)
            choices.sort(key=lambda one: int(one["index"]))
        _merge(choice["message"], piece.get("delta") or {})
        rest = {key: value for key, value in piece.items() if key not in ("delta", "finish_reason")}
        _merge(choice, rest)
        choice["finish_reason"] = piece.get("finish_reason") or choice["finish_reason"]


def _finished(choice: dict[str, Any]) -> dict[str, Any]:
    """Return a choice as an answer that was not streamed has it."""
    message = dict(choice["message"])
    if message.get("tool_calls"):
        message["tool_calls"] = [
            {"type": "custom" if "custom" in call else "function"}
            | {key: value for key, value in call.items() if key != "index"}
            for call in message["tool_calls"]
        ]
    return {**choice, "message": message}


def _merge(whole: dict[str, Any], piece: Mapping[str, Any]) -> None:
    """Add a piece to what is there: texts go on, lists grow, by their members' index if any."""
    for key, value in piece.items():
        known = whole.get(key)
        if value is None:
            whole.setdefault(key, None)
        elif isinstance(value, Mapping):
            if not isinstance(known, dict):
                known = whole[key] = {}
            _merge(known, value)
        elif isinstance(value, list):
            if not isinstance(known, list):
                known = whole[key] = []
            _merge_list(known, value)
        elif isinstance(value, str) and isinstance(known, str) and key not in _WHOLE:
            whole[key] = known + value
        else:
            whole[key] = value


def _merge_list(whole: list[Any], pieces: Iterable[Any]) -> None:
    for piece in pieces:
        number = piece.get("index") if isinstance(piece, Mapping) else None
        if number is None:
            whole.append(piece)
            continue
        item = next((one for one in whole if one.get("index") == number), None)
        if item is None:
            item = {}
            whole.append(item)
        _merge(item, piece)


# The Responses API


def _add_event(response: dict[str, Any], kind: str, event: Mapping[str, Any]) -> bool:
    """Add an event of a streamed response; return whether it ends the stream."""
    if isinstance(event.get("response"), Mapping):
        output = response.get("output") or []
        response.update(event["response"])
        if kind in _ENDS:
            return True
        response["output"] = response.get("output") or output
        return False
    output = response.setdefault("output", [])
    place = event.get("output_index")
    if not isinstance(place, int):
        return False
    while len(output) <= place:
        output.append({})
    if kind in ("response.output_item.added", "response.output_item.done"):
        output[place] = dict(event.get("item") or {})
        return False
    item = output[place]
    part = _part(item, event)
    if kind in ("response.content_part.added", "response.content_part.done"):
        part.update(event.get("part") or {})
        return False
    for member, names in (
        ("text", ("output_text", "reasoning_text", "reasoning_summary_text")),
        ("refusal", ("refusal",)),
        ("arguments", ("function_call_arguments", "mcp_call_arguments")),
        ("input", ("custom_tool_call_input",)),
        ("code", ("code_interpreter_call_code",)),
    ):
        for name in names:
            if kind == f"response.{name}.delta":
                part[member] = (part.get(member) or "") + str(event.get("delta") or "")
            elif kind == f"response.{name}.done" and member in event:
                part[member] = event[member]
    return False


def _part(item: dict[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of an item that an event is about: of its content, its summary, or itself."""
    for member, index in (("content", "content_index"), ("summary", "summary_index")):
        if isinstance(place := event.get(index), int):
            parts: list[dict[str, Any]] = item.get(member) or []
            item[member] = parts
            while len(parts) <= place:
                parts.append({})
            return parts[place]
    return item
