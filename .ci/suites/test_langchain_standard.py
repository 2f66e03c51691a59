"""The standard suite of LangChain for retrievers."""

from __future__ import annotations

import os
from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests
from suite import use

from pgrecall import AgentMemory
from pgrecall.integrations.langchain import PgRecallRetriever


class TestPgRecallRetriever(RetrieversIntegrationTests):  # type: ignore[misc]
    """Our retriever, over a user with some memories."""

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _memories(cls) -> Any:
        with AgentMemory.connect(os.environ["SUITE_ADMIN_DSN"], embedder=False) as memory:
            for number in range(5):
                memory.remember("suite", f"The user owns boat number {number}.")
            cls.memory = memory
            yield

    @pytest.fixture(autouse=True)
    def _counted(self) -> None:
        use()

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        """Return the class under test."""
        return PgRecallRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        """Return its arguments."""
        return {"memory": self.memory, "user": "suite"}

    @property
    def retriever_query_example(self) -> str:
        """Return a query with at least three answers."""
        return "Which boat does the user own?"
