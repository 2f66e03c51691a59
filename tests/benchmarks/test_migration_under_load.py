"""The benchmark of a change of the embedding model runs, and no search under its load fails."""

from __future__ import annotations

import os

import pytest
from psycopg.types.json import Jsonb

import embedding_migration
from embedding_migration import PHASES, Migration
from support.servers import TestServer


def compare_sign_bits(migration: Migration) -> None:
    """Have the search of the large user compare sign bits first, as one of very many does."""
    migration.db.execute("select recall.configure_user(%s, %s)",
                         [migration.large, Jsonb({"exact_search_limit": 200})])  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif("SOAK" not in os.environ, reason="minutes long: SOAK=1, make repeat")
def test_no_search_fails_and_recall_stays_during_the_change(server: TestServer) -> None:
    figures = embedding_migration.measure(
        server.admin_dsn,
        memories=2_400,
        before=384,
        after=768,
        seconds=3,
        prepare=compare_sign_bits,
    )
    assert (figures["failed"], figures["errors"]) == ([], [])
    assert figures["old_vectors"] == 0
    assert figures["new_vectors"] >= 2_300
    assert figures["writes"] > 0
    for name in PHASES:
        phase = figures["phases"][name]
        assert phase["searches"] > 20, name
        assert phase["recall"] >= 0.98, name
    shown = embedding_migration.table(figures)
    assert all(f"| {name} |" in shown for name in PHASES)
