"""Searches while vectors of two models stand side by side: the plans stay, and what they find."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from growth import FILL, TALK
from support import call, plan_nodes, value
from support.servers import DIMENSIONS, TestServer

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]

NEW, WIDE = "hash:new", 768
LARGE, SMALL, OTHERS, EACH, TALKED = 3_000, 200, 60, 200, 300


@pytest.fixture(scope="module")
def crowd(server: TestServer) -> Iterator[tuple[str, dict[str, uuid.UUID]]]:
    """A database with a large and an ordinary user among others, with memories and messages."""
    dsn = server.dsn(server.cloned_database("two_models"))
    users = {"large": uuid.uuid4(), "small": uuid.uuid4()}
    with psycopg.connect(dsn, autocommit=True) as conn:
        call(conn, "configure", p_changes={"exact_search_limit": 1_000})
        conn.execute(FILL.format(dimensions=DIMENSIONS).encode())
        conn.execute(TALK)
        others = [uuid.uuid4() for _ in range(OTHERS)]
        for salt, (owners, count) in enumerate(
            [([users["large"]], LARGE), ([users["small"]], SMALL), (others, EACH)]
        ):
            conn.execute("select pg_temp.fill(%s, %s, %s)", [owners, count, salt * 100_003])
            conn.execute("select pg_temp.talk(%s, %s)", [owners, TALKED])
        conn.execute("vacuum analyze")
    yield dsn, users
    server.drop_database(psycopg.conninfo.conninfo_to_dict(dsn)["dbname"])


STATEMENTS = {
    "semantic": "select memory_id from recall.search(%(user)s, null, %(vector)s::halfvec)",
    "hybrid": "select memory_id from recall.search(%(user)s, 'topic7 statement',"
    " %(vector)s::halfvec)",
    "messages": "select message_id from recall.search_messages(%(user)s, 'word3 word40',"
    " %(vector)s::halfvec)",
    "sessions": "select session_id from recall.search_sessions(%(user)s, 'word3 word40',"
    " %(vector)s::halfvec)",
    "near": "select memory_id from recall.neighbors(%(user)s, %(vector)s::halfvec)",
}


def observed(dsn: str, user: uuid.UUID, statement: str, vector: str) -> tuple[list[str], list[Any]]:
    """Return the scans in the plans of a warm connection, and the rows.

    A Memoize node may come and go: it follows the estimate of repeated keys, and reads no table.
    """
    values = {"user": user, "vector": vector}
    with psycopg.connect(dsn, autocommit=True) as conn:
        for _ in range(7):
            found = conn.execute(statement.encode(), values).fetchall()
        nodes = plan_nodes(conn, lambda: conn.execute(statement.encode(), values))
        return [node for node in nodes if "_" in node], found


def test_plans_and_results_stay_while_vectors_of_two_models_are_stored(
    crowd: tuple[str, dict[str, uuid.UUID]],
) -> None:
    dsn, users = crowd
    chance = random.Random(3)
    vector = str([chance.gauss(0, 1) for _ in range(DIMENSIONS)])
    cases = [(who, name) for who in users for name in STATEMENTS]

    def look() -> dict[tuple[str, str], tuple[list[str], list[Any]]]:
        return {(who, name): observed(dsn, users[who], STATEMENTS[name], vector)
                for who, name in cases}  # fmt: skip

    before = look()
    assert any("memory_embedding" in node for node in before["large", "semantic"][0])
    with psycopg.connect(dsn, autocommit=True) as conn:
        call(conn, "start_embedding_migration", p_model=NEW, p_dimensions=WIDE)
        for table, columns in (
            ("memory_embedding", "user_id, memory_id"),
            ("message_search",
             ("user_id, session_id, turn_index, message_id, role, created_at, search_vector")),
        ):  # fmt: skip
            conn.execute(
                f"insert into recall.{table} ({columns}, embedding_model, embedding)"
                f" select {columns}, %s, embedding || embedding from recall.{table}".encode(),
                [NEW],
            )
        conn.execute("vacuum analyze")
        both = value(conn, "select count(distinct embedding_model) from recall.memory_embedding")
        assert both == 2
    during = look()
    for case in cases:
        assert during[case][1] == before[case][1], case
        assert during[case][0] == before[case][0], case
    assert not [node for nodes, _ in during.values() for node in nodes if "Seq Scan" in node
                and ("embedding" in node or "message_search" in node)]  # fmt: skip
