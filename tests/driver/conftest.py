"""A configured database, a client of it and a session, for the tests of the driver."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest

from pgrecall import AgentMemory, ChatSession
from support import configure
from support.fakes import MODEL, WordEmbedder
from support.proxies import NOT_THROUGH_A_PROXY


@pytest.fixture(autouse=True)
def left_out_through_a_proxy(request: pytest.FixtureRequest) -> None:
    """Skip the tests that cannot work through a proxy, with the reason."""
    names = (request.node.name, getattr(request.node, "originalname", None))
    why = next((NOT_THROUGH_A_PROXY[name] for name in names if name in NOT_THROUGH_A_PROXY), None)
    if os.environ.get("PGRECALL_TEST_PROXY") and why is not None:
        pytest.skip(f"through a proxy: {why}")


@pytest.fixture(scope="module")
def configured(dsn: str, request: pytest.FixtureRequest) -> str:
    """The DSN, of a database whose extraction is a module's EXTRACTION (none without one)."""
    extraction = getattr(request.module, "EXTRACTION", "none")
    configure(dsn, embedding_model=MODEL, extraction=extraction)
    return dsn


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def memory(configured: str, embedder: WordEmbedder) -> Iterator[AgentMemory]:
    with AgentMemory.connect(configured, embedder=embedder) as memory:
        yield memory


@pytest.fixture
def chat(memory: AgentMemory, user: uuid.UUID) -> ChatSession:
    return memory.session(user=user, model="gpt-4o-mini", system_prompt="You help.")
