"""The session of the OpenAI Agents SDK: every item is kept, and texts become messages."""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.memory import OpenAIResponsesCompactionSession, SessionSettings
from agents.testing import ScriptedModel
from openai import AsyncOpenAI
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)

from pgrecall import AgentMemory
from pgrecall.encryption import LocalWrappingKeys
from pgrecall.errors import InvalidInputError, SessionNotActiveError
from pgrecall.integrations.openai_agents import PgRecallSession
from support.scripted_openai import Raw, ScriptedOpenAI

set_tracing_disabled(True)  # no test sends traces
KEYS = LocalWrappingKeys({"k1": bytes(range(32))})
ANSWER = {
    "id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
    "content": [
        {"type": "output_text", "text": "textcanary", "annotations": [
            {"type": "url_citation", "url": "https://example.com", "title": "t",
             "start_index": 0, "end_index": 4},
        ], "logprobs": []},
        {"type": "refusal", "refusal": "Not that."},
        {"type": "output_text", "text": "", "annotations": []},
        {"type": "output_text", "text": "more", "annotations": []},
    ],
}  # fmt: skip
ITEMS: list[Any] = [
    {"role": "user", "content": "I fly to Lyon."},
    {"role": "user", "content": "Typed.", "type": "message", "id": "msg_0"},
    {"role": "user", "content": [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": "data:image/png;base64,aW1n", "detail": "auto"},
    ]},
    {"role": "user", "content": [{"type": "input_file", "file_id": "file_1"}]},
    {"role": "user", "content": ""},
    {"role": "developer", "content": "Be brief."},
    {"type": "reasoning", "id": "rs_1", "encrypted_content": "hiddencanary",
     "summary": [{"type": "summary_text", "text": "hiddencanary"}]},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather",
     "arguments": '{"city": "hiddencanary"}', "status": "completed"},
    {"type": "function_call", "call_id": "c2", "name": "weather", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c2", "output": "hiddencanary"},
    {"type": "function_call_output", "call_id": "orphan", "output": [
        {"type": "input_text", "text": "hiddencanary"},
    ]},
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "hiddencanary"},
    {"type": "item_reference", "id": "x"},
    {"type": "mcp_approval_request", "id": "m", "name": "n", "arguments": "{}",
     "server_label": "s", "unknown": [1, 2.5, None, {"é": "日本"}]},
    ANSWER,
]  # fmt: skip


@pytest.fixture
def memory(dsn: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(dsn, embedder=False, wrapping_keys=KEYS) as memory:
        yield memory


@pytest.fixture
def user() -> str:
    return f"ada-{uuid.uuid4()}"


def session(memory: AgentMemory, user: str, name: str = "trip", **more: Any) -> PgRecallSession:
    return PgRecallSession(name, memory, user=user, extraction="none", **more)


def test_items_are_given_back_as_they_were(memory: AgentMemory, user: str) -> None:
    async def main() -> None:
        kept = session(memory, user)
        await kept.add_items(ITEMS[:5])
        await kept.add_items([])
        await kept.add_items(ITEMS[5:])
        assert await session(memory, user).get_items() == ITEMS
        for limit in (0, 1, 4, len(ITEMS), 100):
            assert await kept.get_items(limit) == (ITEMS[-limit:] if limit else [])
        popped = [await kept.pop_item() for _ in range(len(ITEMS) + 1)]
        assert popped == [*reversed(ITEMS), None]

    asyncio.run(main())


def test_contexts_show_texts_only(memory: AgentMemory, user: str) -> None:
    asyncio.run(session(memory, user).add_items(ITEMS))
    chat = memory.session(user=user, session_id="trip")
    shown = str(chat.context("And now?"))
    assert "hiddencanary" not in shown
    assert "msg_1" not in shown
    for text in ("I fly to Lyon.", "Typed.", "What is this?", "textcanary", "more"):
        assert text in shown


def test_memories_are_extracted_from_texts_only(memory: AgentMemory, user: str) -> None:
    kept = PgRecallSession("trip", memory, user=user, extraction="verbatim")
    asyncio.run(kept.add_items(ITEMS))
    memory.session(user=user, session_id="trip").close()
    memory.worker(kinds=["extract:verbatim"]).run_until_idle()
    contents = [one.content for one in memory.memories.list(user)]
    assert any("I fly to Lyon" in content for content in contents)
    assert "hiddencanary" not in str(contents)


def test_long_session_is_read_page_by_page(memory: AgentMemory, user: str) -> None:
    items: list[Any] = [{"role": "user", "content": f"number {n}"} for n in range(1203)]

    async def main() -> None:
        kept = session(memory, user)
        await kept.add_items(items)
        assert await kept.get_items() == items
        assert await kept.get_items(700) == items[-700:]

    asyncio.run(main())


def test_settings_limit_what_a_run_reads(memory: AgentMemory, user: str) -> None:
    async def main() -> None:
        await session(memory, user).add_items(ITEMS)
        for settings in (SessionSettings(limit=2), {"limit": 2}):
            limited = session(memory, user, session_settings=settings)
            assert await limited.get_items() == ITEMS[-2:]
            assert await limited.get_items(3) == ITEMS[-3:]
        with pytest.raises(TypeError, match="unknown"):
            session(memory, user, session_settings={"unknown": 1})

    asyncio.run(main())


def test_sessions_of_users_are_apart_and_can_be_cleared(memory: AgentMemory) -> None:
    async def main() -> None:
        ada, bob = (session(memory, f"{name}-{uuid.uuid4()}") for name in ("ada", "bob"))
        await ada.add_items(ITEMS)
        assert await bob.get_items() == []
        assert await bob.pop_item() is None
        await bob.clear_session()
        assert await ada.get_items() == ITEMS
        await ada.clear_session()
        assert await ada.get_items() == []
        await ada.add_items(ITEMS[:1])
        assert await ada.get_items() == ITEMS[:1]

    asyncio.run(main())


def test_refused_item_stores_none_of_its_batch(memory: AgentMemory, user: str) -> None:
    async def main() -> None:
        kept = session(memory, user)
        not_json: Any = {"type": "reasoning", "score": float("nan")}
        with pytest.raises(InvalidInputError):
            await kept.add_items([ITEMS[0], not_json])
        assert await kept.get_items() == []

    asyncio.run(main())


def test_characters_that_cannot_be_stored_are_replaced(memory: AgentMemory, user: str) -> None:
    async def main() -> None:
        kept = session(memory, user)
        items: list[Any] = [
            {"role": "user", "content": "a\0b"},
            {"type": "function_call_output", "call_id": "c", "output": "half \ud83d, key",
             "k\0": [{"deep": "\udc00"}]},
        ]  # fmt: skip
        await kept.add_items(items)
        assert await kept.get_items() == [
            {"role": "user", "content": "a\ufffdb"},
            {"type": "function_call_output", "call_id": "c", "output": "half \ufffd, key",
             "k\ufffd": [{"deep": "\ufffd"}]},
        ]  # fmt: skip

    asyncio.run(main())


def test_expired_session_is_resumed_and_closed_one_is_not(
    memory: AgentMemory, user: str, db: psycopg.Connection
) -> None:
    async def main() -> None:
        kept = session(memory, user)
        await kept.add_items(ITEMS[:1])
        db.execute(
            "update recall.sessions set status = 'expired', expires_at = now() - interval '1 day'"
            " where user_id = recall.user_id(%s)", [user],
        )  # fmt: skip
        await kept.add_items(ITEMS[1:2])
        assert await kept.get_items() == ITEMS[:2]
        memory.session(user=user, session_id="trip").close()
        with pytest.raises(SessionNotActiveError, match="closed"):
            await kept.add_items(ITEMS[2:3])

    asyncio.run(main())


def compacting(openai: ScriptedOpenAI, kept: PgRecallSession) -> OpenAIResponsesCompactionSession:
    """Return the SDK's wrapper around a session, with the scripted server."""
    client = AsyncOpenAI(base_url=openai.base_url, api_key="x", max_retries=0)
    return OpenAIResponsesCompactionSession("trip", kept, client=client, compaction_mode="input")


def test_compaction_by_the_sdk_replaces_items_and_keeps_memories(
    memory: AgentMemory, openai: ScriptedOpenAI, user: str
) -> None:
    output: list[Any] = [
        {"type": "message", "role": "user", "content": "I fly to Lyon."},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "hiddencanary"},
    ]
    openai.respond = lambda _: Raw(
        json.dumps({"id": "r", "object": "response.compaction", "created_at": 1, "output": output})
    )

    async def main() -> None:
        kept = PgRecallSession("trip", memory, user=user, extraction="verbatim")
        await kept.add_items([ITEMS[0], ANSWER])
        chat = memory.session(user=user, session_id="trip")
        chat.close()
        memory.worker(kinds=["extract:verbatim"]).run_until_idle()
        chat.resume()
        before = {one.content for one in memory.memories.list(user)}
        assert any("I fly to Lyon" in one for one in before)
        await kept.add_items([{"role": "user", "content": "My cat is called Tom."}])

        wrapped = compacting(openai, kept)
        await wrapped.run_compaction({"force": True})
        compacted: list[Any] = await kept.get_items()
        assert [one["type"] for one in compacted] == ["message", "compaction"]
        assert await session(memory, user).get_items(1) == compacted[-1:]
        assert {one.content for one in memory.memories.list(user)} == before
        shown = chat.context("And now?")
        assert "hiddencanary" not in str(shown)
        turns = str([one for one in shown if one["role"] != "system"])
        assert turns.count("I fly to Lyon.") == 1

        # nothing was extracted from these turns before, and nothing is extracted twice
        chat.close()
        memory.worker(kinds=["extract:verbatim"]).run_until_idle()
        chat.resume()
        found = [one.content for one in memory.memories.list(user)]
        assert sum("I fly to Lyon" in one for one in found) == 1
        assert sum("cat is called Tom" in one for one in found) == 1

        await kept.add_items(ITEMS[:1])
        await wrapped.run_compaction({"force": True})
        assert await kept.get_items() == compacted
        popped = [await kept.pop_item() for _ in range(4)]
        assert popped == [*reversed(compacted), None, None]
        assert await kept.get_items() == []
        await kept.add_items(ITEMS[:1])
        assert await kept.get_items() == ITEMS[:1]

    asyncio.run(main())


@pytest.mark.concurrent
def test_no_item_is_popped_twice_by_eight_threads(memory: AgentMemory, dsn: str, user: str) -> None:
    items: list[Any] = [
        {"type": "reasoning", "id": f"rs_{n}", "summary": []} if n % 2 else
        {"role": "user", "content": f"number {n}"} for n in range(40)
    ]  # fmt: skip
    asyncio.run(session(memory, user).add_items(items))
    together = threading.Barrier(8)

    def pop_all(_: int) -> list[Any]:
        async def main() -> list[Any]:
            kept = session(memory, user)
            together.wait()
            popped = []
            while (item := await kept.pop_item()) is not None:
                popped.append(item)
            return popped

        return asyncio.run(main())

    with ThreadPoolExecutor(8) as threads:
        popped = [item for found in threads.map(pop_all, range(8)) for item in found]
    listed = [sorted(json.dumps(one, sort_keys=True) for one in those) for those in (popped, items)]
    assert listed[0] == listed[1]


def test_cancelled_append_is_stored_before_the_next_one(
    memory: AgentMemory, user: str, db: psycopg.Connection
) -> None:
    async def main() -> None:
        kept = session(memory, user)
        await kept.add_items(ITEMS[:1])
        with db.transaction():  # the append waits for this lock
            db.execute(
                "select from recall.sessions where user_id = recall.user_id(%s) for update", [user]
            )
            task = asyncio.create_task(kept.add_items(ITEMS[1:2]))
            await asyncio.sleep(0.2)
            task.cancel()
            await asyncio.sleep(0.2)
            assert not task.done()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await kept.get_items() == ITEMS[:2]

    asyncio.run(main())


def test_messages_of_an_application_are_read_as_texts(memory: AgentMemory, user: str) -> None:
    chat = memory.session(user=user, model="gpt-4o-mini", session_id="trip", extraction="none")
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chat.append(
        [
            {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "Sunny"},
            {"role": "assistant", "content": "Sunny."},
        ]
    )

    async def main() -> None:
        kept = session(memory, user)
        texts = [
            {"role": "user", "content": "Weather?"}, {"role": "assistant", "content": "Sunny."},
        ]  # fmt: skip
        assert await kept.get_items() == texts
        assert [await kept.pop_item() for _ in range(3)] == [*reversed(texts), None]

    asyncio.run(main())


def test_items_of_an_encrypted_user_are_encrypted(
    memory: AgentMemory, user: str, db: psycopg.Connection
) -> None:
    memory.encryption.seal_user(user)
    asyncio.run(session(memory, user).add_items(ITEMS))
    assert asyncio.run(session(memory, user).get_items()) == ITEMS
    rows = db.execute(
        "select h::text from recall.conversation_history as h"
        " where h.user_id = recall.user_id(%s)", [user],
    ).fetchall()  # fmt: skip
    assert len(rows) == len(ITEMS)
    for word in ("canary", "rs_1", "example.com", "weather"):
        assert word not in str(rows)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_runner_goes_on_with_reasoning_and_calls_of_an_earlier_run(
    memory: AgentMemory, user: str, is_streamed: bool
) -> None:
    @function_tool
    def weather(city: str) -> str:
        """Return the weather."""
        return f"sunny in {city}"

    def said(text: str) -> ResponseOutputMessage:
        part = ResponseOutputText(type="output_text", text=text, annotations=[])
        return ResponseOutputMessage(
            id="msg", type="message", role="assistant", status="completed", content=[part]
        )

    async def main() -> None:
        model = ScriptedModel()
        agent = Agent(name="guide", model=model, tools=[weather])
        model.enqueue(
            [
                ResponseReasoningItem(id="rs", type="reasoning", summary=[]),
                ResponseFunctionToolCall(
                    call_id="c", type="function_call", name="weather", arguments='{"city": "Lyon"}'
                ),
            ]
        )
        model.enqueue([said("Sunny.")])
        model.enqueue([said("In Lyon.")])
        for question in ("Weather?", "Where?"):
            kept = session(memory, user)
            if is_streamed:
                run = Runner.run_streamed(agent, question, session=kept)
                async for _ in run.stream_events():
                    pass
            else:
                await Runner.run(agent, question, session=kept)
        kinds = [item.get("type", item.get("role")) for item in model.calls[-1].input]
        assert kinds == ["user", "reasoning", "function_call", "function_call_output", "message",
                         "user"]  # fmt: skip

    asyncio.run(main())
