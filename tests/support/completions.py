"""Responses of the OpenAI client, as its own objects."""

from __future__ import annotations

from typing import Any

from openai.types.chat import ChatCompletion, ChatCompletionChunk

USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 5,
    "total_tokens": 25,
    "prompt_tokens_details": {"cached_tokens": 8},
}

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"x": 1}'},
}


def completion(**changes: Any) -> ChatCompletion:
    message = {"role": "assistant", "content": "Vim.", **changes.pop("message", {})}
    data: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-mini",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}],
        "usage": USAGE,
    }
    return ChatCompletion.model_validate({**data, **changes})


def chunk(delta: dict[str, Any] | None, **changes: Any) -> ChatCompletionChunk:
    choices = [] if delta is None else [
        {"index": 0, "delta": delta, "finish_reason": changes.pop("finish_reason", None)}
    ]  # fmt: skip
    data = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-4o-mini",
        "choices": choices,
    }
    return ChatCompletionChunk.model_validate({**data, **changes})


WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
