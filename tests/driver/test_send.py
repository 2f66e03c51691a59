"""`chat.send`: the turn with its tool calls, streamed or not, over real HTTP."""

from __future__ import annotations

import asyncio
import gc
import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import openai as openai_package
import pytest

from pgrecall import (
    AgentMemory,
    AsyncAgentMemory,
    ChatSession,
    InvalidInputError,
    ModelAnswerError,
    ModelSettings,
)
from pgrecall.rows import Message
from support import raise_errors, together
from support.completions import WEATHER
from support.fakes import WordEmbedder
from support.scripted_openai import (
    NO_COMPLETIONS,
    NO_USAGES,
    Broken,
    Raw,
    Refusal,
    ScriptedOpenAI,
    Status,
    Unfinished,
    calls,
)
from support.scripted_openai import scripted_openai as running_openai
from support.transcripts import assert_valid, prompt_tokens


@pytest.fixture
def openai() -> Iterator[ScriptedOpenAI]:
    with running_openai() as running:
        yield running


def settings(openai: ScriptedOpenAI) -> ModelSettings:
    return ModelSettings(model="gpt-4o-mini", base_url=openai.base_url, api_key="x", max_retries=0)


@pytest.fixture
def memory(configured: str, openai: ScriptedOpenAI) -> Iterator[AgentMemory]:
    with AgentMemory.connect(configured, embedder=WordEmbedder(), llm=settings(openai)) as memory:
        yield memory


def stored(chat: ChatSession) -> list[Message]:
    return list(reversed(chat.messages()))


def said(chat: ChatSession) -> list[tuple[str, str | None, str | None]]:
    return [(m.role, m.content, m.finish_reason) for m in stored(chat)]


def assert_transcript(chat: ChatSession) -> None:
    """The stored messages are a valid transcript, and so is the context compiled from them."""
    assert_valid([message.to_openai() for message in stored(chat)])
    compiled = chat.context("And now?")
    assert_valid(compiled)
    asked = {"role": "user", "content": "And now?"}
    assert compiled[-1] == asked


Send = Callable[..., str]


@pytest.fixture(params=["whole", "streamed"])
def send(request: pytest.FixtureRequest, chat: ChatSession) -> Send:
    """Send a message and return the text that is answered."""

    def whole(text: Any, **more: Any) -> str:
        return chat.send(text, **more).choices[0].message.content or ""

    def streamed(text: Any, **more: Any) -> str:
        with chat.send(text, stream=True, **more) as reply:
            pieces = "".join(reply)
        assert pieces.endswith(reply.text)
        return reply.text

    return whole if request.param == "whole" else streamed


# A turn


def test_send_stores_question_and_reply_with_usage(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    openai.then("You use Vim, I think.")
    assert send("Which editor do I use?", seed=7) == "You use Vim, I think."
    [request] = openai.chats
    assert (request["seed"], request["model"]) == (7, "gpt-4o-mini")
    assert "tools" not in request
    question, reply = stored(chat)
    assert (question.role, question.content) == ("user", "Which editor do I use?")
    assert (reply.content, reply.finish_reason, reply.model_id) == (
        "You use Vim, I think.", "stop", "gpt-4o-mini",
    )  # fmt: skip
    assert (reply.prompt_tokens, reply.completion_tokens) == (1000, 100)
    assert reply.cost_microcents == 600 * 15 + 400 * 7.5 + 100 * 60
    assert reply.latency_ms is not None
    assert reply.metadata == {}
    assert chat.refresh().total_prompt_tokens == 1000


@pytest.mark.parametrize("usage", NO_USAGES)
def test_send_estimates_missing_usage_and_marks_it(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI, usage: Any
) -> None:
    """An endpoint that does not say what it used is counted for, and that is said."""
    openai.usage = usage
    openai.then("You use Vim, I think.")
    send("Which editor do I use?")
    reply = stored(chat)[-1]
    assert reply.metadata == {"usage_estimated": True}
    # one more message of overhead is reserved for what may come
    assert reply.prompt_tokens == prompt_tokens(openai.chats[0]["messages"]) + 4
    assert reply.completion_tokens == 7
    assert (reply.cost_microcents or 0) > 0


def test_a_failed_call_stores_nothing(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    openai.then(Status(500, "out of order"))
    with pytest.raises(openai_package.InternalServerError, match="out of order"):
        send("Which editor?")
    assert said(chat) == []


def test_send_stores_parts_and_a_refusal(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    parts = [{"type": "text", "text": "What is this?"}]
    openai.then(Refusal("I would rather not."))
    assert send(parts) == ""
    question, reply = stored(chat)
    assert question.content_parts == parts
    assert reply.content_parts == [{"type": "refusal", "refusal": "I would rather not."}]
    assert_transcript(chat)


def test_send_omits_parameters_that_an_endpoint_refuses(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    openai.refused_parameters = ("max_tokens", "temperature", "stream_options", "top_p")
    openai.then("one", "two")
    assert send("1") == "one"
    assert "max_completion_tokens" in openai.chats[-1]
    asked = len(openai.chats)
    assert asked > 3
    assert send("2") == "two"
    assert len(openai.chats) == asked + 1  # remembered
    with pytest.raises(openai_package.BadRequestError, match="temperature"):
        send("3", temperature=0.2)  # not behind the caller's back


# Tools


def test_send_executes_memory_tools(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI, memory: AgentMemory
) -> None:
    chat.open()
    memory.remember(chat.user_id, "User plays the cello.")
    memory.remember(chat.user_id, "User lives in Lyon.", slot="home_city")
    openai.then(
        calls(("search_memories", {"query": "instrument cello", "limit": None})),
        calls(
            ("remember", {"content": "User has a concert in May.",
                          "user_words": "I have a concert in May", "kind": "fact", "slot": None}),
            ("get_messages", {"session_id": None, "before_turn": None, "limit": 2}),
            ("get_user_profile", {}),
            text="Let me note that.",
        ),
        "You play the cello; good luck in May!",
    )  # fmt: skip
    text = send("I have a concert in May. Which instrument?", memory_tools=True)
    assert text == "You play the cello; good luck in May!"
    assert {m.content for m in memory.memories.list(chat.user_id)} == {
        "User plays the cello.", "User lives in Lyon.", "User has a concert in May.",
    }  # fmt: skip
    assert all(item.scope == "global" for item in memory.memories.list(chat.user_id))

    first, second, third = openai.chats
    for request in (first, second, third):
        assert_valid(request["messages"])
        assert [t["function"]["name"] for t in request["tools"]][:2] == [
            "search_memories", "remember",
        ]  # fmt: skip
    assert third["messages"][: len(first["messages"])] == first["messages"]
    assert "cello" in second["messages"][-1]["content"]
    assert set(second["messages"][-1]) == {"role", "tool_call_id", "content"}

    assert [(m.role, bool(m.tool_calls), m.finish_reason) for m in stored(chat)] == [
        ("user", False, None),
        ("assistant", True, "tool_calls"),
        ("tool", False, None),
        ("assistant", True, "tool_calls"),
        ("tool", False, None),
        ("tool", False, None),
        ("tool", False, None),
        ("assistant", False, "stop"),
    ]
    profile = json.loads(third["messages"][-1]["content"])
    assert [(one["attribute"], one["content"]) for one in profile["attributes"]] == [
        ("home_city", "User lives in Lyon."),
    ]  # fmt: skip
    replies = [m for m in stored(chat) if m.role == "assistant"]
    assert [(m.prompt_tokens, m.completion_tokens) for m in replies] == [(1000, 100)] * 3
    assert all(m.latency_ms is not None for m in replies)
    assert chat.refresh().total_prompt_tokens == 3000
    assert [m.metadata for m in stored(chat) if m.role == "tool"] == [{"recalled": True}] * 4
    assert_transcript(chat)


def test_send_executes_functions_and_answers_bad_calls(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    asked = []

    def weather(city: str) -> dict[str, Any]:
        asked.append(city)
        return {"city": city, "degrees": 21}

    openai.then(
        calls(("weather", {"city": "Lyon"}), ("weather", {"city": "Köln"})),
        calls(("weather", {"town": "Lyon"}), ("weather", "{"), ("no_such", {})),
        "21 degrees.",
    )
    assert send("Weather?", tools=[WEATHER], functions={"weather": weather}) == "21 degrees."
    assert asked == ["Lyon", "Köln"]
    answers = [json.loads(m.content or "") for m in stored(chat) if m.role == "tool"]
    assert answers[:2] == [{"city": "Lyon", "degrees": 21}, {"city": "Köln", "degrees": 21}]
    wrong, malformed, unknown = (answer["error"] for answer in answers[2:])
    assert "TypeError" in wrong
    assert "town" in wrong
    assert "not JSON" in malformed
    assert "no tool no_such; known: weather" in unknown
    assert all("Traceback" not in error for error in (wrong, malformed, unknown))
    assert_transcript(chat)


def test_send_passes_all_calls_to_one_function(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    seen = []

    def run(name: str, arguments: dict[str, Any]) -> str:
        seen.append((name, arguments))
        return "sunny\x00"

    openai.then(
        calls(("weather", {"city": "Lyon"}), ("search_memories", {"query": "Lyon"})), "Sunny."
    )
    assert send("Weather?", tools=[WEATHER], functions=run, memory_tools=True) == "Sunny."
    assert seen == [("weather", {"city": "Lyon"})]
    assert [m.content for m in stored(chat)][2] == "sunny\ufffd"


def test_calls_that_nobody_executes_are_returned(chat: ChatSession, openai: ScriptedOpenAI) -> None:
    openai.then(calls(("weather", {"city": "Lyon"})))
    completion = chat.send("Weather?", tools=[WEATHER])
    [call] = completion.choices[0].message.tool_calls or ()
    assert len(openai.chats) == 1
    assert [m.role for m in stored(chat)] == ["user", "assistant"]
    chat.append([{"role": "tool", "tool_call_id": call.id, "content": "21"}])
    assert_transcript(chat)

    openai.then(calls(("weather", {"city": "Lyon"}), ids=("",)))  # an endpoint without ids
    [call] = chat.send("Weather?", tools=[WEATHER]).choices[0].message.tool_calls or ()
    chat.append([{"role": "tool", "tool_call_id": call.id, "content": "20"}])
    assert_transcript(chat)

    # the memory tools' calls beside them are answered already
    openai.then(calls(("search_memories", {"query": "x"}), ("weather", {"city": "Lyon"})))
    with chat.send("Again?", tools=[WEATHER], memory_tools=True, stream=True) as reply:
        assert list(reply) == []
    [left] = reply.tool_calls
    assert left["function"]["name"] == "weather"
    assert [m["role"] for m in reply.messages] == ["user", "assistant", "tool"]
    chat.append([{"role": "tool", "tool_call_id": left["id"], "content": "22"}])
    assert_transcript(chat)


def test_send_asks_without_tools_after_the_last_round(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    """A model that never stops calling is asked without tools at last, and then is done."""
    openai.respond = lambda request: (
        calls(("search_memories", {"query": "again"})) if "tools" in request else "Enough."
    )
    assert send("Go!", memory_tools=True, max_tool_rounds=3, tool_choice="required") == "Enough."
    assert ["tools" in request for request in openai.chats] == [True, True, True, False]
    assert [request.get("tool_choice") for request in openai.chats] == ["required"] + [None] * 3
    assert len(stored(chat)) == 1 + 3 * 2 + 1

    openai.respond = lambda _: calls(("search_memories", {"query": "again"}))
    send("Go on!", memory_tools=["search_memories"], max_tool_rounds=1)
    assert "no more tool calls" in (stored(chat)[-1].content or "")
    assert_transcript(chat)


def test_send_refuses_tools_with_the_same_name(chat: ChatSession, openai: ScriptedOpenAI) -> None:
    mine = {"type": "function", "function": {"name": "remember", "parameters": {}}}
    with pytest.raises(InvalidInputError, match="two tools are named remember"):
        chat.send("x", tools=[mine], memory_tools=True)
    with pytest.raises(InvalidInputError, match="a tool has no name"):
        chat.send("x", tools=[{"type": "function"}])
    assert openai.chats == []


def test_what_was_paid_for_stands_when_a_later_call_fails(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    openai.then(calls(("search_memories", {"query": "x"})), Status(500, "out of order"))
    with pytest.raises(openai_package.InternalServerError):
        send("Look!", memory_tools=True)
    assert [m.role for m in stored(chat)] == ["user", "assistant", "tool"]
    assert chat.refresh().total_prompt_tokens == 1000
    assert_transcript(chat)


def test_send_answers_an_interrupted_tool_call(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    """Its call is answered all the same; an answered one before it keeps its answer."""
    done = []

    def pay(amount: int) -> str:
        if done:
            raise KeyboardInterrupt
        done.append(amount)
        return "paid"

    tool = {"type": "function", "function": {"name": "pay", "parameters": {}}}
    openai.then(calls(("pay", {"amount": 1}), ("pay", {"amount": 2}), ("pay", {"amount": 3})))
    with pytest.raises(KeyboardInterrupt):
        send("Pay!", tools=[tool], functions={"pay": pay})
    answers = [m.content for m in stored(chat) if m.role == "tool"]
    assert answers == ["paid", '{"error": "interrupted"}', '{"error": "interrupted"}']
    assert_transcript(chat)


@pytest.mark.concurrent
def test_concurrent_sends_store_whole_turns(chat: ChatSession, openai: ScriptedOpenAI) -> None:
    """In one conversation: each call stands with its answers, whoever was faster."""
    chat.open()
    openai.respond = lambda request: (
        calls(("search_memories", {"query": "x"}), ("search_memories", {"query": "y"}))
        if request["messages"][-1]["role"] == "user"
        else f"Answer to {next(m for m in reversed(request['messages']) if m['role'] == 'user')}"
    )
    raise_errors(
        together(
            (lambda number=number: chat.send(f"question {number}", memory_tools=True))
            for number in range(6)
        )
    )
    messages = stored(chat)
    assert [m.turn_index for m in messages] == list(range(1, 31))
    assert sorted(m.content or "" for m in messages if m.role == "user") == [
        f"question {number}" for number in range(6)
    ]
    for number in range(6):
        assert any(f"question {number}'" in (m.content or "") for m in messages
                   if m.role == "assistant")  # fmt: skip
    assert_transcript(chat)


def test_send_repairs_irregular_tool_calls(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    """Without ids, or one id for all: the reply is stored all the same."""
    for ids in (("", ""), ("call_0", "call_0")):
        openai.then(
            calls(("search_memories", {"query": "a"}), ("search_memories", {"query": "b"}),
                  ids=ids),
            "Nothing.",
        )  # fmt: skip
        assert send("Look!", memory_tools=True) == "Nothing."
    assert len(stored(chat)) == 10
    assert_transcript(chat)


def test_send_cuts_an_endless_name_of_a_tool(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    """The database refuses it, and the reply would be lost."""
    openai.then(calls(("search" * 1000, {})), "I see.")
    assert send("Look!", memory_tools=True) == "I see."
    (asked,) = (m for m in stored(chat) if m.tool_calls)
    assert asked.tool_calls is not None
    assert len(asked.tool_calls[0]["function"]["name"]) == 200
    assert_transcript(chat)


# The window


def test_the_turn_stays_within_the_window(
    memory: AgentMemory, user: uuid.UUID, openai: ScriptedOpenAI, send: Send, chat: ChatSession
) -> None:
    chat._conversation._options |= {"context_window_size": 3000, "max_response_tokens": 300}
    for number in range(40):
        chat.append(user=f"Question {number} " + "word " * 40, reply="Answer. " * 20)
    tool = {"type": "function", "function": {"name": "read", "parameters": {}}}
    openai.respond = lambda request: (
        calls(("read", {"page": len(request["messages"])}), text="Next page.")
        if "tools" in request
        else "Read."
    )
    assert send("Read!", tools=[tool], functions=lambda *_: "page " * 5000) == "Read."
    # the rounds end when no room is left for another
    assert 2 <= len(openai.chats) <= 9
    assert len(openai.chats[0]["messages"]) > 10
    for request in openai.chats:
        assert_valid(request["messages"])
        assert request["messages"][0] == {"role": "system", "content": "You help."}
        assert {"role": "user", "content": "Read!"} in request["messages"]
        assert prompt_tokens(request["messages"]) + 300 <= 3000
    answers = [m for m in stored(chat) if m.role == "tool"]
    assert all((m.content or "").endswith("[cut here: the result was longer]")
               or "no room" in (m.content or "") for m in answers)  # fmt: skip
    assert (answers[0].content or "").startswith("page page")
    assert_transcript(chat)


def test_send_truncates_long_results_of_tools(
    send: Send, chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    tool = {"type": "function", "function": {"name": "read", "parameters": {}}}
    openai.then(calls(("read", {})), "Done.")
    send("Read!", tools=[tool], functions={"read": lambda: "x " * 10**6}, max_result_tokens=50)
    [answer] = [m for m in stored(chat) if m.role == "tool"]
    assert answer.token_count <= 60


# Streams


def test_pieces_arrive_one_by_one(chat: ChatSession, openai: ScriptedOpenAI) -> None:
    openai.then("You use Vim.")
    reply = chat.send("Which editor?", stream=True)
    assert openai.chats == []  # nothing is sent before somebody listens
    assert list(reply) == ["You ", "use ", "Vim."]
    assert openai.chats[0]["stream_options"] == {"include_usage": True}
    assert (reply.text, reply.tool_calls) == ("You use Vim.", [])
    assert reply.message == {
        "role": "assistant", "content": "You use Vim.", "finish_reason": "stop",
    }  # fmt: skip
    assert list(reply) == []


@pytest.mark.parametrize("how", ["close", "with", "dropped"])
def test_abandoned_stream_stores_the_pieces_that_were_read(
    chat: ChatSession, openai: ScriptedOpenAI, how: str
) -> None:
    openai.then("You use Vim for everything.")
    if how == "dropped":
        for piece in chat.send("Which editor?", stream=True):
            assert piece == "You "
            break
        gc.collect()
    else:
        reply = chat.send("Which editor?", stream=True)
        assert [next(reply), next(reply)] == ["You ", "use "]
        if how == "close":
            reply.close()
        else:
            with reply:
                pass
        assert reply.message is not None
        assert reply.message["finish_reason"] == "interrupted"
    heard = "You " if how == "dropped" else "You use "
    assert said(chat) == [
        ("user", "Which editor?", None), ("assistant", heard, "interrupted"),
    ]  # fmt: skip
    reply_row = stored(chat)[-1]
    assert reply_row.metadata == {"usage_estimated": True}
    assert (reply_row.prompt_tokens or 0) > 0
    assert_transcript(chat)


def test_stream_closed_before_reading_asks_no_model(
    chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    chat.send("Which editor?", stream=True).close()
    assert (openai.chats, said(chat)) == ([], [])


def test_broken_stream_raises_and_stores_what_was_read(
    chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    openai.then(Broken("You use Vi"))
    heard: list[str] = []
    with pytest.raises(openai_package.APIConnectionError):
        heard.extend(chat.send("Which editor?", stream=True))
    assert "".join(heard) == "You use Vi"
    assert said(chat) == [
        ("user", "Which editor?", None), ("assistant", "You use Vi", "interrupted"),
    ]  # fmt: skip
    assert_transcript(chat)

    openai.then(Broken(""))  # before the first word: as a call that failed
    with pytest.raises(openai_package.APIConnectionError):
        list(chat.send("Which editor?", stream=True))
    assert len(said(chat)) == 2


def test_stream_without_a_finish_reason_is_stored_as_interrupted(
    chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    openai.then(Unfinished("You use"))
    reply = chat.send("Which editor?", stream=True)
    assert "".join(reply) == "You use"
    assert reply.message is not None
    assert reply.message["finish_reason"] == "interrupted"
    assert said(chat)[-1] == ("assistant", "You use", "interrupted")


@pytest.mark.parametrize("answer", NO_COMPLETIONS.values(), ids=NO_COMPLETIONS)
@pytest.mark.parametrize("is_streamed", [False, True])
def test_send_raises_for_an_answer_without_a_completion(
    chat: ChatSession, openai: ScriptedOpenAI, answer: Raw, is_streamed: bool
) -> None:
    """As a call that failed: a page with status 200 is no reply, and nothing was said."""
    openai.then(answer)
    with pytest.raises(ModelAnswerError, match="no completion"):
        list(chat.send("Which editor?", stream=is_streamed))
    assert said(chat) == []


def test_stream_with_a_malformed_chunk_raises(chat: ChatSession, openai: ScriptedOpenAI) -> None:
    delta = '{"choices": [{"index": 0, "delta": {"content": "You use"}}]}'
    openai.then(Raw(f"data: {delta}\n\ndata: {{not JSON\n\n", "text/event-stream"))
    with pytest.raises(ModelAnswerError, match=r"no completion.*not JSON"):
        list(chat.send("Which editor?", stream=True))
    assert said(chat)[-1] == ("assistant", "You use", "interrupted")

    openai.then(Raw('data: {"choices": null}\n\n', "text/event-stream"))
    with pytest.raises(ModelAnswerError, match="no completion"):
        list(chat.send("Which editor?", stream=True))
    assert len(said(chat)) == 2


def test_stream_broken_in_a_later_round_keeps_earlier_rounds(
    chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    openai.then(calls(("search_memories", {"query": "x"}), text="I look."), Broken("You use"))
    heard: list[str] = []
    with pytest.raises(openai_package.APIConnectionError):
        heard.extend(chat.send("Look!", memory_tools=True, stream=True))
    assert "".join(heard) == "I look.You use"
    assert [(role, reason) for role, _, reason in said(chat)] == [
        ("user", None), ("assistant", "tool_calls"), ("tool", None), ("assistant", "interrupted"),
    ]  # fmt: skip
    assert_transcript(chat)


# The asynchronous client


def test_asynchronous_send_awaits_coroutine_functions(
    configured: str, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    async def weather(city: str) -> str:
        await asyncio.sleep(0)
        return f"sunny in {city}"

    def plain(city: str) -> str:
        return f"rain in {city}"

    async def run() -> None:
        async with AsyncAgentMemory.connect(
            configured, embedder=WordEmbedder(), llm=settings(openai)
        ) as memory:
            chat = memory.session(user=user, model="gpt-4o-mini")
            for function, word in ((weather, "sunny"), (plain, "rain")):
                openai.then(calls(("weather", {"city": "Lyon"})), "Done.")
                completion = await chat.send(
                    "Weather?", tools=[WEATHER], functions={"weather": function}
                )
                assert completion.choices[0].message.content == "Done."
                [_, answer, *_] = await chat.messages()
                assert answer.content == f"{word} in Lyon"

            openai.then(calls(("search_memories", {"query": "x"})), "You use Vim.")
            async with await chat.send("Editor?", memory_tools=True, stream=True) as reply:
                assert [piece async for piece in reply] == ["You ", "use ", "Vim."]

            openai.then("You use Vim for all.")
            async with await chat.send("Editor?", stream=True) as reply:
                async for piece in reply:
                    assert piece == "You "
                    break
            [last, *_] = await chat.messages()
            assert (last.content, last.finish_reason) == ("You ", "interrupted")

            # a task that is cancelled while its tool runs
            started = asyncio.Event()

            async def slow(city: str) -> str:
                started.set()
                await asyncio.sleep(60)
                return city

            openai.then(calls(("weather", {"city": "Lyon"})))
            task = asyncio.create_task(
                chat.send("Weather?", tools=[WEATHER], functions={"weather": slow})
            )
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            [last, *_] = await chat.messages()
            assert (last.role, last.content) == ("tool", '{"error": "interrupted"}')
            assert_valid(await chat.context("And now?"))

    asyncio.run(run())


def test_blocking_send_answers_a_call_of_a_coroutine_with_an_error(
    chat: ChatSession, openai: ScriptedOpenAI
) -> None:
    async def weather(city: str) -> str:
        return city

    openai.then(calls(("weather", {"city": "Lyon"})), "Hm.")
    chat.send("Weather?", tools=[WEATHER], functions={"weather": weather})
    [answer] = [m.content for m in stored(chat) if m.role == "tool"]
    assert "AsyncAgentMemory" in (answer or "")


@pytest.mark.parametrize("is_own", [True, False], ids=["own client", "caller's client"])
def test_messages_are_an_argument_for_the_callers_client_only(
    configured: str, openai: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch, *, is_own: bool
) -> None:
    """A wrapper may read the argument; in a client of our own it would be checked at length."""
    create = openai_package.resources.chat.Completions.create
    given: list[dict[str, Any]] = []

    def watched(*arguments: Any, **named: Any) -> Any:
        given.append(named)
        return create(*arguments, **named)

    monkeypatch.setattr(openai_package.resources.chat.Completions, "create", watched)
    client = openai_package.OpenAI(base_url=openai.base_url, api_key="x", max_retries=0)
    llm = settings(openai) if is_own else client
    with AgentMemory.connect(configured, embedder=WordEmbedder(), llm=llm) as memory:
        chat = memory.session(user="ada", model="gpt-4o-mini", system_prompt="Be kind.")
        openai.then("Hello.", "Again.")
        chat.send("Hi", extra_body={"top_k": 3})
        chat.send("Hi again")
    sent = [[message["content"] for message in body["messages"]] for body in openai.chats]
    assert sent == [["Be kind.", "Hi"], ["Be kind.", "Hi", "Hello.", "Hi again"]]
    assert openai.chats[0]["top_k"] == 3
    assert [len(named["messages"]) for named in given] == ([0, 0] if is_own else [2, 4])
