"""The benchmark of growth runs, and what it says of plans holds: locks do not grow with users."""

from __future__ import annotations

import pytest

import growth
from servers import TestServer


def test_locks_do_not_grow_with_the_users(
    server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "ROUNDS", 2)
    monkeypatch.setattr(growth, "WARM_UP", 1)
    figures = growth.measure(server.admin_dsn, 8, sizes=(100, 1_000), user_sizes=(50,))
    small, large = figures["database"]
    assert small["locks"] == large["locks"]
    assert all(time > 0 for point in figures["database"] for time in point["p50"].values())
    shown = growth.table("memories", figures["database"], "first")
    assert "| 1,000 |" in shown
