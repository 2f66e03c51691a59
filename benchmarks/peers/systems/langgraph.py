"""LangGraph: a graph of one node that searches PostgresStore, under PostgresSaver.

The node gets the history with the state, so a context is the search alone, and an append is the
rest of the run. Each thread has a store, a saver and their connections.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from harness import Data, load_contender
from load_host import MEMORIES, Client, Clock, System


class _Client(Client):
    def __init__(self, dsn: str, store: Any) -> None:
        self._store = store
        store.open()
        self._stack = contextlib.ExitStack()
        saver = self._stack.enter_context(PostgresSaver.from_conn_string(dsn))
        graph = StateGraph(MessagesState)
        graph.add_node("answer", self._answer)
        graph.add_edge(START, "answer")
        graph.add_edge("answer", END)
        self._graph = graph.compile(checkpointer=saver)

    def turn(self, clock: Clock, user: str, session: str, question: str, answer: str) -> None:
        self._user, self._question, self._said = user, question, answer
        config: Any = {"configurable": {"thread_id": session}}
        begin = time.monotonic()
        self._graph.invoke({"messages": [HumanMessage(question)]}, config)
        end = time.monotonic()
        clock.note("turn", begin, end)
        clock.note("context", *self._searched)
        took = self._searched[1] - self._searched[0]
        clock.note("append", begin + took, end)

    def _answer(self, _: MessagesState) -> dict[str, Any]:
        begin = time.monotonic()
        self._store.search(self._user, self._question, MEMORIES)
        self._searched = (begin, time.monotonic())
        return {"messages": [AIMessage(self._said)]}

    def remember(self, user: str, text: str) -> None:
        self._store.add(user, text)

    def close(self) -> None:
        self._store.close()
        self._stack.close()


class LangGraph(System):
    title = "LangGraph PostgresStore and checkpointer"
    packages = ("langgraph", "langgraph-checkpoint-postgres", "psycopg")

    def __init__(self, dsn: str, data: Data) -> None:
        super().__init__(dsn, data)
        self._store = load_contender("langgraph_store")

    def create(self) -> None:
        self._store(self.dsn, self.data).create()
        with PostgresSaver.from_conn_string(self.dsn) as saver:
            saver.setup()

    def load(self, memories: Sequence[Sequence[str]], seconds: float) -> None:
        self._store(self.dsn, self.data).load(memories)

    def client(self) -> Client:
        return _Client(self.dsn, self._store(self.dsn, self.data))
