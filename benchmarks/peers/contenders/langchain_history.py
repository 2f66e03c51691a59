"""LangChain's PostgresChatMessageHistory, which can only read whole conversations."""

from __future__ import annotations

import psycopg
from langchain_core.messages import AIMessage, HumanMessage
from langchain_postgres import PostgresChatMessageHistory

from harness import LAST, Contender

TABLE = "chat_history"


class LangChainHistory(Contender):
    title = "LangChain chat history"
    packages = ("langchain-postgres", "langchain-core", "psycopg")
    measures = frozenset({"conversation"})
    note = "reads the whole conversation"

    def create(self) -> None:
        with psycopg.connect(self.dsn) as db:
            PostgresChatMessageHistory.create_tables(db, TABLE)

    def open(self) -> None:
        self.db = psycopg.connect(self.dsn)

    def close(self) -> None:
        self.db.close()

    def append(self, user: str, session: str, question: str, answer: str) -> None:
        self._history(session).add_messages([HumanMessage(question), AIMessage(answer)])

    def read(self, user: str, session: str) -> list[str]:
        return [str(message.content) for message in self._history(session).get_messages()[-LAST:]]

    def _history(self, session: str) -> PostgresChatMessageHistory:
        return PostgresChatMessageHistory(TABLE, session, sync_connection=self.db)
