"""The conformance suite of LangGraph's checkpointers, in a database with our schema."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest
from langgraph.checkpoint.conformance import validate
from langgraph.checkpoint.conformance.initializer import checkpointer_test
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from suite import use


@checkpointer_test(name="AsyncPostgresSaver")  # type: ignore[untyped-decorator]
async def saver() -> AsyncIterator[AsyncPostgresSaver]:
    """Yield the saver in the database of the suites."""
    async with AsyncPostgresSaver.from_conn_string(os.environ["SUITE_ADMIN_DSN"]) as made:
        await made.setup()
        yield made


CAPABILITIES = ("put", "put_writes", "get_tuple", "list", "delete_thread", "prune")


@pytest.mark.parametrize("capability", CAPABILITIES)
async def test_capability(capability: str) -> None:
    """The saver has the capability."""
    use()
    report = await validate(saver, capabilities={capability})
    result = report.results[capability]
    assert result.passed, result.failures
