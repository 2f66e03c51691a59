"""Run the Agents SDK's tests of sessions and runners with our session; a plugin of pytest.

`SUITE_ADMIN_DSN` is the DSN of a database with the schema.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any
from uuid import uuid4

import pytest
from suite import use

from pgrecall import AgentMemory
from pgrecall.integrations.openai_agents import PgRecallSession, _to_message

memory = AgentMemory.connect(os.environ["SUITE_ADMIN_DSN"], embedder=False)


class OurSQLiteSession(PgRecallSession):
    """Takes what SQLiteSession takes; the path of its file is the user."""

    def __init__(
        self,
        session_id: str,
        db_path: object = ":memory:",
        *_: str,
        session_settings: Any = None,
    ) -> None:
        use()
        user = f"suite-{uuid4() if db_path == ':memory:' else db_path}"
        super().__init__(
            session_id, memory, user=user, session_settings=session_settings, extraction="none"
        )

    def close(self) -> None:
        """Do nothing: the connections are those of the memory."""


class OurListSession(PgRecallSession):
    """Takes what the list session of the SDK's tests takes; each has a user of its own."""

    def __init__(self, session_id: str = "test", history: list[Any] | None = None) -> None:
        use()
        super().__init__(session_id, memory, user=f"suite-{uuid4()}", extraction="none")
        self._ignore_ids_for_matching = False
        if history:
            self._chat.append([_to_message(item) for item in history])

    @property
    def saved_items(self) -> list[Any]:
        """The items, as the tests look at them."""
        return self._get_items(None)

    _items = saved_items


def pytest_configure(config: pytest.Config) -> None:
    """Put our session where the suite imports theirs from."""
    config.add_cleanup(memory.close)
    for module, name, ours in (
        ("agents", "SQLiteSession", OurSQLiteSession),
        ("agents.memory", "SQLiteSession", OurSQLiteSession),
        ("agents.memory.sqlite_session", "SQLiteSession", OurSQLiteSession),
        ("tests.utils.simple_session", "SimpleListSession", OurListSession),
    ):
        setattr(import_module(module), name, ours)
