"""The benchmark of growth runs, and what it says of plans holds: locks do not grow with users."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import growth
from support.servers import TestServer


@pytest.mark.slow
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


@pytest.mark.parametrize(
    "published", sorted(growth.HERE.glob("growth_*.json")), ids=lambda path: path.stem
)
def test_what_is_published_is_what_was_measured(published: Path) -> None:
    figures = json.loads(published.read_text(encoding="utf-8"))
    assert figures["versions"]["postgresql"]
    title = growth.TITLES[published.stem.removeprefix("growth_")]
    svg = growth.plot(f"ms of the server, by {title}", figures["points"])
    assert published.with_suffix(".svg").read_text(encoding="utf-8") == svg


def test_every_plot_has_its_results() -> None:
    drawn = {path.stem for path in growth.HERE.glob("growth_*.svg")}
    assert drawn == {path.stem for path in growth.HERE.glob("growth_*.json")} != set()
