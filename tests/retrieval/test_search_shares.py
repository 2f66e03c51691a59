"""A user's recall and plans do not depend on how much of the tables is his."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from support import call, plan_nodes, rows, value
from support.servers import DIMENSIONS

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

MODEL = "of the tests"
TOPICS = 60
WORDS = "statement on topic7 and topic11"
large = pytest.mark.skipif("SOAK" not in os.environ, reason="minutes long: SOAK=1, make repeat")

# As real texts lie: around topics (cosine two thirds within one, none across), no two alike.
FILL = f"""
drop table if exists topic, noise;
create temp table topic as
select n, (array_agg(1.4 * (random() - 0.5)))::halfvec as v
  from generate_series(0, {TOPICS - 1}) as n cross join generate_series(1, {DIMENSIONS}) group by n;
create temp table noise as
select n, (array_agg(0.7 * (random() - 0.5)))::halfvec as v
  from generate_series(0, 599) as n cross join generate_series(1, {DIMENSIONS}) group by n;

create or replace function pg_temp.fill(p_users uuid[], p_count integer) returns void
language plpgsql as $$
begin
    insert into recall.users (user_id, active_memory_count, created_at)
    select u, p_count, now() from unnest(p_users) as u;
    create temp table made as
    select u as user_id, gen_random_uuid() as memory_id, n, random() as luck
      from unnest(p_users) as u cross join generate_series(1, p_count) as n;
    insert into recall.memory_store (
        user_id, memory_id, tier, scope, kind, content, content_hash, token_count, search_vector,
        provenance, source, confidence, importance, observed_at, created_at, updated_at,
        is_validated, tags)
    select m.user_id, m.memory_id, 'semantic', 'global', 'fact', 'Statement ' || m.n,
           uuid_send(m.memory_id), 8,
           array_to_tsvector(array['statement', m.n::text, 'topic' || m.n % {TOPICS},
                                   'topic' || m.n % 41]),
           'user_stated', 'import', 0.9, m.luck, now(), now() - m.luck * interval '300 days', now(),
           true, case when m.n % 50 = 0 then '{{rare}}'::text[] else '{{}}' end
      from made as m;
    insert into recall.memory_embedding (user_id, memory_id, embedding_model, embedding)
    select m.user_id, m.memory_id, '{MODEL}', t.v + a.v + b.v
      from made as m
      join topic as t on t.n = m.n % {TOPICS}
      join noise as a on a.n = get_byte(uuid_send(m.memory_id), 0)
      join noise as b on b.n = 256 + get_byte(uuid_send(m.memory_id), 1);
    drop table made;
end $$
"""


class Crowd:
    """Users by the number of their memories, among others who become more."""

    def __init__(self, conn: Connection, sizes: tuple[int, ...]) -> None:
        self.conn = conn
        self.users = {size: uuid.uuid4() for size in sizes}
        self.total = 0
        call(conn, "configure", p_changes={"embedding_model": MODEL})
        conn.execute(FILL.encode())
        for size, user in self.users.items():
            self.fill([user], size)

    def fill(self, users: list[uuid.UUID], count: int) -> None:
        self.conn.execute("select pg_temp.fill(%s, %s)", [users, count])
        self.total += len(users) * count

    def until(self, user: uuid.UUID, share: float) -> None:
        """Add others until the user owns no more than this share of the tables."""
        (owned,) = (size for size, known in self.users.items() if known == user)
        missing = round(owned / share) - self.total
        if missing > 0:
            self.fill([uuid.uuid4() for _ in range(max(1, missing // 200))], min(200, missing))
        self.conn.execute("vacuum analyze recall.memory_store, recall.memory_embedding")
        self.conn.execute("analyze recall.users")

    def nearby(self, user: uuid.UUID) -> str:
        """A vector near one of the user's own, as a question is to what it asks for."""
        found = value(
            self.conn,
            "select (e.embedding + (select v from noise where n > 511 order by random() limit 1)"
            ")::text from recall.memory_embedding as e"
            " where e.user_id = %s order by random() limit 1",
            [user],
        )
        return str(found)

    def recall(self, reader: Connection, user: uuid.UUID, queries: int, limit: int = 10) -> float:
        """The share of the truly nearest that a search finds; of equally near ones any will do."""
        right = wanted = 0
        for _ in range(queries):
            query = self.nearby(user)
            exact = rows(
                self.conn,
                "select embedding <=> %s::halfvec as distance from recall.memory_embedding"
                " where user_id = %s order by distance limit %s",
                [query, user, limit],
            )
            found = search(reader, user, p_query_embedding=query, p_limit=limit)
            assert len(set(found)) == len(exact)
            right += value(
                self.conn,
                "select count(*) from recall.memory_embedding where user_id = %s"
                " and memory_id = any (%s) and embedding <=> %s::halfvec <= %s",
                [user, found, query, exact[-1]["distance"]],
            )
            wanted += len(exact)
        return right / wanted


def search(conn: Connection, user: uuid.UUID, **more: Any) -> list[uuid.UUID]:
    return [row["memory_id"] for row in call(conn, "search", p_user_id=user, **more)]


def plans(connect: Connect, user: uuid.UUID, **asked: Any) -> list[str]:
    """The nodes of every plan behind a search, on a connection that knows the functions well.

    Two indexes lead to all memories of a user at the same cost, and statistics toss the coin.
    """
    reader = connect()
    for _ in range(7):
        search(reader, user, **asked)
    return [
        node.replace("memory_store_p_user_id_importance_idx", "memory_store_p_pkey")
        for node in plan_nodes(reader, lambda: search(reader, user, **asked))
    ]


@pytest.fixture(scope="module")
def crowd(dsn: str) -> Iterator[Crowd]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        yield Crowd(conn, (10, 200, 5_000))


PLANS: dict[tuple[int, str], list[str]] = {}
"""What was planned at the first share, by user and way of asking."""


@pytest.mark.parametrize("share", [0.9, 0.1])
@pytest.mark.slow
def test_neither_recall_nor_plans_depend_on_the_share(
    crowd: Crowd, connect: Connect, share: float
) -> None:
    crowd.until(crowd.users[5_000], share)
    reader = connect()
    for size, user in crowd.users.items():
        assert crowd.recall(reader, user, 10) == 1
        query = crowd.nearby(user)
        for limit in (1, 10, 300, 6_000):
            expected = min(limit, size)
            for text in (None, WORDS):
                assert len(search(reader, user, p_query=text, p_limit=limit)) == expected
                found = search(reader, user, p_query=text, p_query_embedding=query, p_limit=limit)
                assert len(set(found)) == len(found) == expected
        ways: dict[str, dict[str, Any]] = {
            "by vector": {"p_query_embedding": query},
            "by both": {"p_query": WORDS, "p_query_embedding": query},
            "filtered": {"p_query_embedding": query, "p_filter": {"tags_any": ["rare"]}},
        }
        for way, asked in ways.items():
            nodes = plans(connect, user, **asked)
            assert any("memory_embedding" in node for node in nodes)
            assert not [node for node in nodes if "Seq Scan" in node and "memory" in node]
            assert nodes == PLANS.setdefault((size, way), nodes)


@pytest.mark.invariants
@pytest.mark.slow
@large
@pytest.mark.parametrize(("size", "share", "least"), [
    (20_000, 0.9, 0.99), (20_000, 0.1, 0.99), (200_000, 1.0, 0.98),
])  # fmt: skip
def test_recall_of_very_large_users(
    db: Connection, connect: Connect, size: int, share: float, least: float
) -> None:
    crowd = Crowd(db, (size,))
    user = crowd.users[size]
    crowd.until(user, share)
    reader = connect()
    assert crowd.recall(reader, user, 50) >= least
    for asked in ({}, {"p_query": WORDS}, {"p_query_embedding": crowd.nearby(user)}):
        assert len(search(reader, user, p_limit=size + 1, **asked)) == size
        rare = {"p_filter": {"tags_any": ["rare"]}, "p_limit": size}
        assert len(search(reader, user, **rare, **asked)) == size // 50
