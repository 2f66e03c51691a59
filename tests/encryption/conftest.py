"""Fixtures for tests of encrypted users."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from pgrecall import AgentMemory
from support import configure
from support.fakes import MODEL
from support.sealed import with_words


@pytest.fixture(scope="module")
def configured(dsn: str, request: pytest.FixtureRequest) -> str:
    """The DSN, of a database whose extraction is a module's EXTRACTION (none without one)."""
    extraction = getattr(request.module, "EXTRACTION", "none")
    configure(dsn, embedding_model=MODEL, extraction=extraction)
    return dsn


@pytest.fixture
def memory(configured: str) -> Iterator[AgentMemory]:
    """A driver with an embedder of words, and the keys."""
    with with_words(configured) as memory:
        yield memory


@pytest.fixture
def sealed(memory: AgentMemory, user: uuid.UUID) -> uuid.UUID:
    """An encrypted user without vectors."""
    assert memory.encryption.seal_user(user)
    return user
