"""Run PostgresSaver's own suite in a database with our schema; a plugin of pytest."""

from __future__ import annotations

import pytest
from langgraph_stores import pytest_collection
from suite import use

__all__ = ["pytest_collection"]


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup() -> None:
    """Count each test: all of them run in a database with our schema."""
    use()
