"""The middleware of LangChain's agents: memories before the model, new messages after it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver

from pgrecall import AgentMemory
from pgrecall.errors import InvalidInputError, SessionNotActiveError
from pgrecall.integrations.langgraph import PgRecallMiddleware, PgRecallStore

CALL = {"name": "weather", "args": {"city": "Lyon"}, "id": "c1", "type": "tool_call"}


class Watched(GenericFakeChatModel):
    """A model that keeps what it was asked."""

    asked: list[list[BaseMessage]] = []  # noqa: RUF012

    def _generate(self, messages: list[BaseMessage], *given: Any, **more: Any) -> Any:
        self.asked.append(messages)
        return super()._generate(messages, *given, **more)

    def bind_tools(self, *_: Any, **__: Any) -> Watched:
        return self


def model(*answers: AIMessage | str) -> Watched:
    return Watched(messages=iter(answers), asked=[])


@tool
def weather(city: str) -> str:
    """Return the weather."""
    return f"sunny in {city}"


@pytest.fixture
def memory(dsn: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        yield memory


@pytest.fixture
def user() -> str:
    return f"ada-{uuid.uuid4()}"


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def said(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def stored(memory: AgentMemory, user: str, name: str) -> list[Any]:
    found = memory.session(user=user, session_id=name).messages()
    return [
        {**message.to_openai(), "content": message.content_parts or message.content}
        for message in reversed(found)
    ]


@pytest.mark.parametrize("is_asynchronous", [False, True])
def test_agent_sees_memories_and_stores_each_message_once(
    memory: AgentMemory, user: str, is_asynchronous: bool
) -> None:
    memory.remember(user, "Ada flies to Lyon on Friday", kind="instruction")
    fake = model(AIMessage("", tool_calls=[CALL]), "Sunny.", "Bye.")
    agent = create_agent(
        fake, tools=[weather], system_prompt="Be brief.", checkpointer=InMemorySaver(),
        middleware=[PgRecallMiddleware(memory, user=user, extraction="none")],
    )  # fmt: skip

    def ask(text: str) -> Any:
        if is_asynchronous:
            return asyncio.run(agent.ainvoke(said(text), thread("trip")))
        return agent.invoke(said(text), thread("trip"))

    ask("Weather in Lyon?")
    got = ask("Thanks.")
    assert len(fake.asked) == 3
    for messages in fake.asked:
        assert messages[0].type == "system"
        assert messages[0].text.startswith("Be brief.")
        assert messages[0].text.count("Ada flies to Lyon on Friday") == 1
        assert "system" not in [message.type for message in messages[1:]]
    # LangGraph's own state has no memories
    assert [message.type for message in got["messages"]] == [
        "human", "ai", "tool", "ai", "human", "ai",
    ]  # fmt: skip
    kept = stored(memory, user, "trip")
    assert [(one["role"], one.get("content")) for one in kept] == [
        ("user", "Weather in Lyon?"), ("assistant", None), ("tool", "sunny in Lyon"),
        ("assistant", "Sunny."), ("user", "Thanks."), ("assistant", "Bye."),
    ]  # fmt: skip
    assert kept[1]["tool_calls"][0]["function"]["name"] == "weather"


def test_reasoning_is_stored_and_never_shown(memory: AgentMemory, user: str) -> None:
    answer = AIMessage(
        [
            {"type": "reasoning", "id": "rs", "summary": [{"text": "hiddencanary"}]},
            {"type": "text", "text": "Lyon.", "annotations": []},
            {"type": "unknown", "of": "hiddencanary"},
        ],
        additional_kwargs={"reasoning_content": "hiddencanary"},
    )
    asked = HumanMessage(
        [{"type": "text", "text": "Where?"}, {"type": "strange", "data": "hiddencanary"}]
    )
    agent = create_agent(
        model(answer), middleware=[PgRecallMiddleware(memory, user=user, extraction="none")]
    )
    agent.invoke({"messages": [asked]}, thread("trip"))
    kept = stored(memory, user, "trip")
    assert str(kept).count("hiddencanary") == 4
    assert [part["type"] for part in kept[1]["content"]] == ["text", "item", "item", "item"]
    shown = str(memory.session(user=user, session_id="trip").context("And?"))
    assert "Where?" in shown
    assert "Lyon." in shown
    assert "hiddencanary" not in shown


def test_user_and_session_come_from_the_runtime(memory: AgentMemory) -> None:
    ada, bob = (f"{name}-{uuid.uuid4()}" for name in ("ada", "bob"))
    memory.remember(ada, "Ada's canary is yellow", kind="instruction")
    fake = model("One.", "Two.")
    agent = create_agent(
        fake, context_schema=dict,
        middleware=[
            PgRecallMiddleware(
                memory, user=lambda runtime: runtime.context["user"],
                session_id=lambda runtime: runtime.context["session"], extraction="none",
            )
        ],
    )  # fmt: skip
    for user in (ada, bob):
        agent.invoke(said("My canary?"), context={"user": user, "session": "s"})
    shown = [str(messages) for messages in fake.asked]
    assert ["yellow" in one for one in shown] == [True, False]
    assert stored(memory, ada, "s")[1]["content"] == "One."
    assert stored(memory, bob, "s")[1]["content"] == "Two."


def test_run_without_user_or_thread_is_refused(memory: AgentMemory) -> None:
    with pytest.raises(ValueError, match="user is None"):
        PgRecallMiddleware(memory, user=None)  # type: ignore[arg-type]
    for middleware, config, words in (
        (PgRecallMiddleware(memory, user=lambda _: ""), thread("t"), "the user of this run is ''"),
        (PgRecallMiddleware(memory, user="ada"), {}, "no thread_id"),
    ):
        agent = create_agent(model("Never."), middleware=[middleware])
        with pytest.raises(InvalidInputError, match=words):
            agent.invoke(said("Hello."), config)


def test_answer_of_a_last_tool_is_stored(memory: AgentMemory, user: str) -> None:
    @tool(return_direct=True)
    def weather(city: str) -> str:
        """Return the weather."""
        return f"sunny in {city}"

    agent = create_agent(
        model(AIMessage("", tool_calls=[CALL])), tools=[weather],
        middleware=[PgRecallMiddleware(memory, user=user, extraction="none")],
    )  # fmt: skip
    agent.invoke(said("Weather?"), thread("trip"))
    assert [one["role"] for one in stored(memory, user, "trip")] == ["user", "assistant", "tool"]


def test_file_without_a_form_in_openai_is_stored_and_never_shown(
    memory: AgentMemory, user: str
) -> None:
    asked = HumanMessage(
        [
            {"type": "text", "text": "Read these."},
            {"type": "file", "url": "https://example.com/hiddencanary.pdf"},
            {"type": "image_url"},
            {"type": "file", "base64": "cGRm", "mime_type": "application/pdf", "filename": "a.pdf"},
        ]
    )
    agent = create_agent(
        model("Read."), middleware=[PgRecallMiddleware(memory, user=user, extraction="none")]
    )
    agent.invoke({"messages": [asked]}, thread("trip"))
    [parts, _] = [one["content"] for one in stored(memory, user, "trip")]
    assert [part["type"] for part in parts] == ["text", "file", "item", "item"]
    assert parts[2]["item"] == asked.content[1]
    shown = str(memory.session(user=user, session_id="trip").context("And?"))
    assert "hiddencanary" not in shown


def test_run_without_messages_calls_the_model(memory: AgentMemory, user: str) -> None:
    memory.remember(user, "Ada flies to Lyon on Friday", kind="instruction")
    fake = model("Hello.")
    agent = create_agent(
        fake, middleware=[PgRecallMiddleware(memory, user=user, extraction="none")]
    )
    agent.invoke({"messages": []}, thread("trip"))
    assert "Ada flies to Lyon on Friday" in str(fake.asked[0])
    assert [one["content"] for one in stored(memory, user, "trip")] == ["Hello."]


def test_expired_session_is_resumed_and_closed_one_is_not(
    memory: AgentMemory, user: str, db: psycopg.Connection
) -> None:
    agent = create_agent(
        model("One.", "Two.", "Three."), checkpointer=InMemorySaver(),
        middleware=[PgRecallMiddleware(memory, user=user, extraction="none")],
    )  # fmt: skip
    agent.invoke(said("Hello."), thread("trip"))
    db.execute(
        "update recall.sessions set status = 'expired', expires_at = now() - interval '1 day'"
        " where user_id = recall.user_id(%s)", [user],
    )  # fmt: skip
    agent.invoke(said("Again."), thread("trip"))
    assert [one["content"] for one in stored(memory, user, "trip")] == [
        "Hello.", "One.", "Again.", "Two.",
    ]  # fmt: skip
    memory.session(user=user, session_id="trip").close()
    with pytest.raises(SessionNotActiveError, match="closed"):
        agent.invoke(said("Else."), thread("trip"))


def test_characters_that_cannot_be_stored_are_replaced(memory: AgentMemory, user: str) -> None:
    @tool
    def weather(city: str) -> str:
        """Return the weather."""
        return f"sunny\0 in {city} \ud83d"

    call = {**CALL, "args": {"city": "Ly\0on"}}
    agent = create_agent(
        model(AIMessage([{"type": "reasoning", "k": "\udc00"}], tool_calls=[call]), "Sunny."),
        tools=[weather], checkpointer=InMemorySaver(),
        middleware=[PgRecallMiddleware(memory, user=user, extraction="none")],
    )  # fmt: skip
    agent.invoke(said("Weather\0?"), thread("trip"))
    kept = stored(memory, user, "trip")
    assert [one["role"] for one in kept] == ["user", "assistant", "tool", "assistant"]
    assert kept[0]["content"] == "Weather\ufffd?"
    assert kept[1]["content"] == [{"type": "item", "item": {"type": "reasoning", "k": "\ufffd"}}]
    assert kept[2]["content"] == "sunny\ufffd in Ly\ufffdon \ufffd"


def test_postgres_saver_works_in_the_same_database(
    dsn: str, memory: AgentMemory, user: str, db: psycopg.Connection
) -> None:
    fake = model("One.", "Two.", "Three.")

    def ask(text: str, name: str) -> list[str]:
        with PostgresSaver.from_conn_string(dsn) as saver:
            saver.setup()
            agent = create_agent(
                fake, checkpointer=saver, store=PgRecallStore(memory, user=user),
                middleware=[PgRecallMiddleware(memory, user=user, extraction="none")],
            )  # fmt: skip
            got = agent.invoke(said(text), thread(name))
        return [message.text for message in got["messages"]]

    monday, friday = f"monday-{user}", f"friday-{user}"
    ask("Hello.", monday)
    assert ask("Again.", monday) == ["Hello.", "One.", "Again.", "Two."]  # of another connection
    assert ask("Else.", friday) == ["Else.", "Three."]
    assert [one["content"] for one in stored(memory, user, monday)] == [
        "Hello.", "One.", "Again.", "Two.",
    ]  # fmt: skip
    assert db.execute("select count(*) > 0 from public.checkpoints").fetchone() == (True,)
    health = [check for check in memory.admin.health() if check.status == "fail"]
    assert health == []
