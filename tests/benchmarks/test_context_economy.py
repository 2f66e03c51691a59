"""The benchmark of a context's economy: how it counts, and that a short conversation works."""

from __future__ import annotations

import itertools
import random

import pytest

import context_economy
from support.servers import TestServer


def test_knapsack_finds_the_best_packing() -> None:
    rng = random.Random(7)
    for _ in range(30):
        items = [(rng.randrange(1, 12), rng.random()) for _ in range(8)]
        best = max(
            sum(score for _, score in chosen)
            for count in range(len(items) + 1)
            for chosen in itertools.combinations(items, count)
            if sum(size for size, _ in chosen) <= 20
        )
        assert abs(context_economy.knapsack(items, 20) - best) < 1e-9


def test_only_the_same_beginning_counts() -> None:
    same = ["<system>You are helpful.", "<user>Hello there, my old friend"]
    kept, total = context_economy.repeated(same, [*same, "<assistant>Good day to you"])
    assert 0 < kept < total
    assert kept == sum(map(context_economy.tokens, same))
    assert context_economy.repeated(same, ["<user>Hello there", *same])[0] <= 2
    changed = ["<system>You are helpful.", "<user>Hello there, everybody"]
    assert kept > context_economy.repeated(same, changed)[0] > context_economy.tokens(same[0])


@pytest.mark.slow
def test_measure_reports_a_stabler_prefix_for_cache_stable_contexts(server: TestServer) -> None:
    figures = context_economy.measure(server.admin_dsn, turns=6)
    for row in figures["prefix"]:
        assert 0 < row["worst_turn"] <= row["median_turn"] <= 1
    standard, stable = figures["prefix"][:2]
    assert stable["repeated"] > standard["repeated"]
    for row in figures["packing"]:
        assert row["contexts"] == 6
        assert 0.5 < row["worst"] <= row["efficiency"] <= 1
