"""LangGraph's PostgresSaver under a graph of one node, which answers without a model."""

from __future__ import annotations

import contextlib
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from harness import LAST, Contender


class LangGraphCheckpointer(Contender):
    title = "LangGraph checkpointer"
    packages = ("langgraph", "langgraph-checkpoint-postgres", "psycopg")
    measures = frozenset({"conversation"})
    note = "runs the graph; every step stores the state, the whole list of messages with it"

    def create(self) -> None:
        with PostgresSaver.from_conn_string(self.dsn) as saver:
            saver.setup()

    def open(self) -> None:
        self.stack = contextlib.ExitStack()
        saver = self.stack.enter_context(PostgresSaver.from_conn_string(self.dsn))
        graph = StateGraph(MessagesState)
        graph.add_node("answer", lambda _: {"messages": [AIMessage(self.answer)]})
        graph.add_edge(START, "answer")
        graph.add_edge("answer", END)
        self.graph = graph.compile(checkpointer=saver)

    def close(self) -> None:
        self.stack.close()

    def append(self, user: str, session: str, question: str, answer: str) -> None:
        self.answer = answer
        self.graph.invoke({"messages": [HumanMessage(question)]}, self._config(session))

    def read(self, user: str, session: str) -> list[str]:
        messages = self.graph.get_state(self._config(session)).values["messages"]
        return [message.content for message in messages[-LAST:]]

    def _config(self, session: str) -> Any:
        return {"configurable": {"thread_id": session}}
