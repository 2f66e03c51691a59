"""The environment that each test of the command line runs in."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove what the shell of the tests says about servers and endpoints."""
    for name in ("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE", "PGRECALL_DSN",
                 "OPENAI_API_KEY", "OPENAI_BASE_URL"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command keeps its embedded server."""
    monkeypatch.setenv("PGRECALL_HOME", str(home))
    return home
