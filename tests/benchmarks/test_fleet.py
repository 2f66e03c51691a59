"""The model of a fleet: its arithmetic, its published plot, and a measurement of few users."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import fleet

HABITS = fleet.Habits(turns=3, memories=0.2, months=24, kept=1_000, dimensions=1_536, peak=3,
                      checkpoint=15, message_vectors=False)  # fmt: skip
SERVER = fleet.Server(cores=16, disk_tb=4, writes_mb=500, network_mb=1_000, price=900, standbys=1,
                      busy=0.6)  # fmt: skip


def published() -> fleet.Costs:
    return fleet.Costs(**json.loads(fleet.COSTS.read_text(encoding="utf-8"))["costs"])


def test_published_plot_is_that_of_the_published_costs() -> None:
    svg = (fleet.HERE / "fleet.svg").read_text(encoding="utf-8")
    assert svg == fleet.plot(published(), HABITS, SERVER)


def test_servers_grow_with_users_and_shrink_with_what_a_server_has() -> None:
    costs = published()
    one = fleet.servers(10**6, costs, HABITS, SERVER)
    assert fleet.servers(2 * 10**6, costs, HABITS, SERVER) == {
        name: pytest.approx(2 * count) for name, count in one.items()
    }
    half = fleet.servers(10**6, costs, HABITS, replace(SERVER, cores=32, disk_tb=8))
    assert half["processors"] == pytest.approx(one["processors"] / 2)
    assert half["disk"] == pytest.approx(one["disk"] / 2)
    # 10^6 users × 3 turns × 3 at peak / 86,400 s: 104 turns a second
    expected = costs.append_ms + costs.context_ms + 0.2 * costs.remember_ms
    assert one["processors"] == pytest.approx(104.17 * expected / 1000 / 16 / 0.6, rel=1e-3)


def test_frequent_calls_log_fewer_pages_in_full() -> None:
    costs = published()
    rare, often = (
        fleet.of_user(costs, replace(HABITS, turns=turns))["log"] / turns for turns in (0.01, 500)
    )
    images = costs.append_images + 0.2 * costs.remember_images
    assert rare - often == pytest.approx(3 / 86_400 * images, rel=0.1)


@pytest.mark.slow
def test_measurement_compares_each_size_with_the_model(dsn: str) -> None:
    costs, rows = fleet.measure(dsn, [40, 80], 16)
    assert costs.append_wal > 500
    assert costs.context_ms > 0
    assert [row[0] for row in rows] == ["40", "80"]
    assert rows[0][2] == "1.00"
    assert 0.7 < float(rows[1][2]) < 1.3
