"""Messages in the forms of the OpenAI client, put into the database's form."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessage
from pydantic import BaseModel

from pgrecall import InvalidInputError
from pgrecall._messages import content_text, merge_chunks, normalize, tool_tokens, with_tokens
from support.completions import CALL, USAGE, chunk, completion


def test_normalize_joins_user_message_and_completion() -> None:
    batch = normalize(user="Which editor?", reply=completion(), model="gpt-4o-mini")
    assert batch.messages == [
        {"role": "user", "content": "Which editor?"},
        {"role": "assistant", "content": "Vim.", "finish_reason": "stop"},
    ]
    assert batch.usage == {"prompt_tokens": 20, "completion_tokens": 5, "cached_tokens": 8}


def test_order_is_messages_user_reply() -> None:
    batch = normalize(
        [{"role": "system", "content": "a"}], user={"role": "user", "content": "b"}, reply="c"
    )
    assert [message["content"] for message in batch.messages] == ["a", "b", "c"]
    assert batch.usage is None


@pytest.mark.parametrize(
    "reply",
    [
        completion().choices[0].message,
        completion().choices[0].message.model_dump(),
        {"role": "assistant", "content": "Vim."},
        "Vim.",
        [{"role": "assistant", "content": "Vim."}],
    ],
    ids=["object", "dump", "dictionary", "text", "list"],
)
def test_forms_of_one_reply(reply: Any) -> None:
    assert normalize(reply=reply).messages == [{"role": "assistant", "content": "Vim."}]


def test_normalize_accepts_a_dumped_completion() -> None:
    batch = normalize(completion().model_dump())
    assert batch.messages[0]["content"] == "Vim."
    assert batch.usage == {"prompt_tokens": 20, "completion_tokens": 5, "cached_tokens": 8}


def test_normalize_keeps_tool_calls_of_a_whole_loop() -> None:
    asks = completion(message={"content": None, "tool_calls": [CALL]})
    batch = normalize(
        [
            {"role": "user", "content": "look"},
            asks,
            {"role": "tool", "tool_call_id": "call_1", "content": "2"},
            completion(),
        ]
    )
    assert [message["role"] for message in batch.messages] == [
        "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert batch.messages[1]["tool_calls"] == [CALL]
    assert "content" not in batch.messages[1]
    # two calls were paid for
    assert batch.usage == {"prompt_tokens": 40, "completion_tokens": 10, "cached_tokens": 16}


def test_normalize_joins_a_stream() -> None:
    chunks = [
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "Vi"}),
        chunk({"content": "m."}),
        chunk({}, finish_reason="stop"),
        chunk(None, usage=USAGE),
    ]
    for stream in (
        chunks,
        iter(chunks),
        (item for item in chunks),
        [c.model_dump() for c in chunks],
    ):
        batch = normalize(reply=stream, model="gpt-4o-mini")
        assert batch.messages == [{"role": "assistant", "content": "Vim.", "finish_reason": "stop"}]
        assert batch.usage == {"prompt_tokens": 20, "completion_tokens": 5, "cached_tokens": 8}


def test_normalize_joins_parallel_tool_calls_of_a_stream() -> None:
    def piece(index: int, **fields: Any) -> dict[str, Any]:
        return {"tool_calls": [{"index": index, **fields}]}

    merged = merge_chunks(
        [
            chunk({"role": "assistant", "content": None}),
            chunk(piece(0, id="call_1", type="function",
                        function={"name": "look_up", "arguments": ""})),
            chunk(piece(0, function={"arguments": '{"x"'})),
            chunk(piece(1, id="call_2", type="function",
                        function={"name": "count", "arguments": "{}"})),
            chunk(piece(0, function={"arguments": ": 1}"})),
            chunk({}, finish_reason="tool_calls"),
        ]
    )  # fmt: skip
    [choice] = merged["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["tool_calls"] == [
        CALL,
        {"id": "call_2", "type": "function", "function": {"name": "count", "arguments": "{}"}},
    ]
    ChatCompletionMessage.model_validate(choice["message"])


def test_normalize_joins_a_streamed_refusal() -> None:
    chunks = [chunk({"refusal": "I can"}), chunk({"refusal": "not."})]
    batch = normalize(reply=chunks, model="gpt-4o-mini")
    assert batch.messages == [{"role": "assistant", "refusal": "I cannot."}]


def test_parsed_answers_are_not_stored_twice() -> None:
    class Answer(BaseModel):
        editor: str

    data = completion().choices[0].message.model_dump()
    data |= {"parsed": Answer(editor="Vim"), "annotations": []}
    call = {**CALL, "index": 0, "function": {**CALL["function"], "parsed_arguments": {"x": 1}}}
    data["tool_calls"] = [call]
    [message] = normalize(data).messages
    assert message == {"role": "assistant", "content": "Vim.", "tool_calls": [CALL]}


def test_normalize_keeps_the_model_that_answered() -> None:
    [dated] = normalize(completion(model="gpt-4o-mini-2024-07-18"), model="gpt-4o-mini").messages
    assert dated["metadata"] == {"response_model": "gpt-4o-mini-2024-07-18"}
    assert "model_id" not in dated
    [other] = normalize(completion(model="gpt-4o-mini-audio"), model="gpt-4o-mini").messages
    assert other["model_id"] == "gpt-4o-mini-audio"


def test_parts_are_one_user_message() -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    ]
    [message] = normalize(user=parts).messages
    assert message == {"role": "user", "content": parts}
    assert content_text(message) == "What is this?"
    assert content_text("a") == "a"
    assert content_text({"role": "user"}) == ""


@pytest.mark.parametrize(
    "messages", [None, [], 5, "hello", [5], {"choices": []}, completion(choices=[])]
)
def test_normalize_refuses_malformed_messages(messages: Any) -> None:
    with pytest.raises(InvalidInputError):
        normalize(messages)


def test_normalize_refuses_a_single_chunk() -> None:
    with pytest.raises(InvalidInputError, match="whole stream"):
        normalize(reply=chunk({"content": "a"}))


def test_tokens_are_counted_where_they_can_be() -> None:
    messages = [{"role": "user", "content": "hello world"}, {"role": "user", "token_count": 7}]
    assert [m["token_count"] for m in with_tokens(messages, "gpt-4o-mini")] == [2, 7]
    # an unknown tokenizer: the database estimates, and marks it
    assert with_tokens(messages, "some-model") == messages
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]
    assert tool_tokens(tools, "gpt-4o-mini") == 18
    assert tool_tokens(tools, "some-model") is None
