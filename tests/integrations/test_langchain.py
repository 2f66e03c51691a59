"""The chat history and the retriever of LangChain."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory

from pgrecall import AgentMemory
from pgrecall.integrations.langchain import PgRecallChatMessageHistory, PgRecallRetriever


@pytest.fixture
def memory(dsn: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        yield memory


def history(memory: AgentMemory, session: str, user: str) -> PgRecallChatMessageHistory:
    return PgRecallChatMessageHistory(session, memory, user=user, extraction="none")


def test_runnable_remembers_across_restarts(dsn: str) -> None:
    user = f"ada-{uuid.uuid4()}"
    prompt = ChatPromptTemplate.from_messages(
        [MessagesPlaceholder("history"), ("human", "{question}")]
    )
    seen: list[list[BaseMessage]] = []

    def asked(question: str, reply: str) -> None:
        with AgentMemory.connect(dsn, embedder=False) as memory:
            model = GenericFakeChatModel(messages=iter([AIMessage(reply)]))

            def watched(value: object) -> object:
                seen.append(value.to_messages())  # type: ignore[attr-defined]
                return value

            chain = RunnableWithMessageHistory(
                prompt | watched | model,
                lambda session_id: history(memory, session_id, user),
                input_messages_key="question",
                history_messages_key="history",
            )
            got = chain.invoke(
                {"question": question}, config={"configurable": {"session_id": "trip"}}
            )
            assert got.content == reply

    asked("I fly to Lyon.", "Have a good flight!")
    asked("Where do I fly?", "To Lyon.")
    assert [message.content for message in seen[1]] == [
        "I fly to Lyon.", "Have a good flight!", "Where do I fly?",
    ]  # fmt: skip


def test_history_keeps_tool_calls_and_pages_through_long_sessions(memory: AgentMemory) -> None:
    kept = history(memory, "long", f"ada-{uuid.uuid4()}")
    call = {"name": "weather", "args": {"city": "Lyon"}, "id": "c1", "type": "tool_call"}
    spoken: list[BaseMessage] = [HumanMessage("Weather?"), AIMessage("", tool_calls=[call]),
                                 ToolMessage("Sunny", tool_call_id="c1")]  # fmt: skip
    kept.add_messages(spoken)
    found = kept.messages
    assert [message.type for message in found] == ["human", "ai", "tool"]
    assert isinstance(found[1], AIMessage)
    assert found[1].tool_calls == [call]
    kept.add_messages([])
    kept.add_messages([HumanMessage(f"number {n}") for n in range(600)])
    contents = [message.content for message in kept.messages]
    assert contents[3:] == [f"number {n}" for n in range(600)]


def test_history_is_one_users_and_can_be_cleared(memory: AgentMemory) -> None:
    users = [f"{name}-{uuid.uuid4()}" for name in ("ada", "bob")]
    ada, bob = (history(memory, "same name", user) for user in users)
    ada.clear()
    ada.add_messages([HumanMessage("alphacanary")])
    assert bob.messages == []
    bob.clear()
    assert [message.content for message in ada.messages] == ["alphacanary"]
    ada.clear()
    assert ada.messages == []
    ada.add_messages([HumanMessage("again")])
    assert [message.content for message in ada.messages] == ["again"]


def test_retriever_returns_the_memories_of_its_user(memory: AgentMemory) -> None:
    ada, bob = (f"{name}-{uuid.uuid4()}" for name in ("ada", "bob"))
    for user in (ada, bob):
        for drink in ("tea", "coffee"):
            memory.remember(user, f"{user} drinks {drink}", tags=[drink])
    found = PgRecallRetriever(memory=memory, user=ada, k=1).invoke("drinks tea")
    assert [document.page_content for document in found] == [f"{ada} drinks tea"]
    assert found[0].metadata["tags"] == ["tea"]
    every = PgRecallRetriever(memory=memory, user=ada).invoke("drinks")
    assert {document.page_content for document in every} == {f"{ada} drinks tea",
                                                             f"{ada} drinks coffee"}  # fmt: skip
    only = PgRecallRetriever(memory=memory, user=ada, filter={"tags_any": ["coffee"]})
    assert [document.page_content for document in only.invoke("drinks")] == [f"{ada} drinks coffee"]
    assert len(PgRecallRetriever(memory=memory, user=ada).invoke("drinks", k=1)) == 1


def test_characters_that_postgresql_cannot_store_are_replaced(
    memory: AgentMemory,
) -> None:
    kept = history(memory, "odd", "ada")
    kept.add_messages([HumanMessage("tea\x00"), AIMessage("\ud83d cup")])
    assert [message.content for message in kept.messages] == ["tea\ufffd", "\ufffd cup"]
