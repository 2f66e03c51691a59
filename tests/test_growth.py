"""The benchmark of growth runs, and what it says of plans holds: locks do not grow with users."""

from __future__ import annotations

import json

import pytest

import growth
from servers import TestServer


def test_locks_do_not_grow_with_the_users(
    server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "ROUNDS", 2)
    monkeypatch.setattr(growth, "WARM_UP", 1)
    monkeypatch.setattr(growth, "MESSAGE_ROUNDS", 2)
    figures = growth.measure(
        server.admin_dsn, 8, sizes=(100, 1_000), user_sizes=(50,), message_sizes=(50, 300)
    )
    small, large = figures["database"]
    assert small["locks"] == large["locks"]
    assert all(time > 0 for point in figures["database"] for time in point["p50"].values())
    shown = growth.table("memories", figures["database"], "first")
    assert "| 1,000 |" in shown
    assert "| 300 |" in growth.table("messages", figures["messages"])


def test_what_is_published_is_what_was_measured() -> None:
    figures = json.loads((growth.HERE / "growth.json").read_text(encoding="utf-8"))
    assert figures["versions"]["postgresql"]
    for sweep, title in growth.TITLES.items():
        drawn = growth.HERE / f"growth_{sweep}.svg"
        assert drawn.exists() == bool(figures[sweep])
        if figures[sweep]:
            svg = growth.plot(f"ms of the server, by {title}", figures[sweep])
            assert drawn.read_text(encoding="utf-8") == svg
