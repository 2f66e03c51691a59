"""Names of users and sessions through the adapters: the id that a name gives is no name."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from pgrecall import AgentMemory
from pgrecall.errors import InvalidInputError
from pgrecall.integrations.langchain import PgRecallChatMessageHistory, PgRecallRetriever
from pgrecall.integrations.langgraph import PgRecallStore
from pgrecall.integrations.mem0 import Config, Memory
from pgrecall.integrations.openai_agents import PgRecallSession

SECRET = "Ada's dog is called Rex"


@pytest.fixture
def memory(dsn: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        yield memory


def agents_session(memory: AgentMemory, user: str, session: str) -> Any:
    chat = PgRecallSession(session, memory, user=user)
    return asyncio.run(chat.get_items())


USERS: dict[str, Callable[[AgentMemory, str], Any]] = {
    "mem0 add": lambda m, name: Memory(Config(client=m)).add("x", user_id=name, infer=False),
    "mem0 search": lambda m, name: Memory(Config(client=m)).search("x", filters={"user_id": name}),
    "mem0 get_all": lambda m, name: Memory(Config(client=m)).get_all(filters={"user_id": name}),
    "langchain history": lambda m, name: PgRecallChatMessageHistory("s", m, user=name).messages,
    "langchain retriever": lambda m, name: PgRecallRetriever(memory=m, user=name).invoke("dog"),
    "langgraph put": lambda m, name: PgRecallStore(m, user=name).put(("a",), "k", {"x": 1}),
    "langgraph get": lambda m, name: PgRecallStore(m, user=name).get(("a",), "k"),
    "openai agents": lambda m, name: agents_session(m, name, "s"),
}


@pytest.mark.parametrize("entry", USERS)
def test_adapter_refuses_the_id_of_a_users_name(memory: AgentMemory, entry: str) -> None:
    ada = f"ada-{uuid.uuid4()}"
    memory.remember(ada, SECRET)
    name = str(memory.users.id(ada))
    with pytest.raises(InvalidInputError, match=f"{name} is a UUID of version 8"):
        USERS[entry](memory, name)
    USERS[entry](memory, ada)


SESSIONS: dict[str, Callable[[AgentMemory, str, str], Any]] = {
    "langchain history": lambda m, u, s: PgRecallChatMessageHistory(s, m, user=u).messages,
    "openai agents": agents_session,
}


@pytest.mark.parametrize("entry", SESSIONS)
def test_adapter_refuses_the_id_of_a_sessions_name(memory: AgentMemory, entry: str) -> None:
    ada = f"ada-{uuid.uuid4()}"
    history = PgRecallChatMessageHistory("diary", memory, user=ada)
    history.add_message(HumanMessage(SECRET))
    name = str(memory.sessions.list(ada)[0].session_id)
    with pytest.raises(InvalidInputError, match=f"{name} is a UUID of version 5"):
        SESSIONS[entry](memory, ada, name)
    SESSIONS[entry](memory, ada, "diary")
