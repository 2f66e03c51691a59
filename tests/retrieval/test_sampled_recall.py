"""The recall of approximate searches, measured on stored vectors in maintenance."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator

import psycopg
import pytest

import pgrecall.schema
from support import Connection, call, health_row, open_session, refused, rows

pytestmark = pytest.mark.slow

WIDE = 256
"""From so many dimensions on, candidates are those with the nearest sign bits."""
MANY = 480


@pytest.fixture
def wide(empty_dsn: str) -> Iterator[Connection]:
    """A database in which a search of more than 100 vectors compares 160 candidates."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        pgrecall.schema.install(conn, embedding_dimensions=WIDE, share_roles=True)
        settings = {
            "embedding_model": "test", "exact_search_limit": 100, "rerank_candidates": 50,
            "recall_samples": 40, "source_memories_per_hour": None,
            "maintenance_lock_time": "1 minute",
        }  # fmt: skip
        conn.execute("select recall.configure(%s)", [json.dumps(settings)])
        yield conn


def vectors(seed: int, number: int, kind: str) -> list[str]:
    """Return vectors in clusters, or the same with all signs equal."""
    draw = random.Random(seed)
    centers = [[draw.gauss(0, 1) for _ in range(WIDE)] for _ in range(number // 11 + 1)]
    found = []
    for place in range(number):
        near = [center + draw.gauss(0, 0.4) for center in centers[place // 11]]
        found.append(str([abs(part) + 0.01 for part in near] if kind == "positive" else near))
    return found


def know(db: Connection, user: uuid.UUID, kind: str, number: int = MANY) -> None:
    texts = [{"content": f"User knows number {n} {user}"} for n in range(number)]
    given = "{" + ",".join(f'"{text}"' for text in vectors(1, number, kind)) + "}"
    db.execute("select count(*) from recall.ingest_memories(%s, null, %s, %s::halfvec[])",
               [user, json.dumps(texts), given])  # fmt: skip


def talk(db: Connection, user: uuid.UUID, kind: str, number: int = MANY) -> None:
    """Store turns as the embed job does."""
    session = open_session(db, user)
    db.execute("update recall.sessions set turn_count = %s, last_message_at = now()"
               " where session_id = %s", [number, session])  # fmt: skip
    with db.cursor() as cursor:
        cursor.executemany(
            "insert into recall.message_search values (%s, %s, %s, %s, 'user', now(), '', %s,"
            " 'test')",
            [(user, session, turn, uuid.uuid4(), vector)
             for turn, vector in enumerate(vectors(2, number, kind), start=1)],
        )  # fmt: skip


def samples(db: Connection) -> dict[str, tuple[int, float]]:
    """Return number and mean of the samples by kind."""
    found = rows(db, "select kind, count(*) as number, avg(share) as mean"
                     " from recall.recall_samples group by kind")  # fmt: skip
    return {row["kind"]: (row["number"], row["mean"]) for row in found}


def test_without_large_users_nothing_is_sampled(wide: Connection, user: uuid.UUID) -> None:
    know(wide, user, "clusters", 100)
    talk(wide, user, "clusters", 100)
    assert call(wide, "sample_recall") == [{"done": 0, "more": False}]
    assert samples(wide) == {}
    assert (health_row(wide, "recall")["status"], health_row(wide, "recall")["hint"]) == (
        "ok",
        None,
    )
    assert "no approximate search" in health_row(wide, "recall")["detail"]


def test_signs_that_tell_vectors_apart_are_well(wide: Connection, user: uuid.UUID) -> None:
    know(wide, user, "clusters")
    talk(wide, user, "clusters")
    assert call(wide, "sample_recall") == [{"done": 80, "more": False}]
    found = samples(wide)
    assert {kind: number for kind, (number, _) in found.items()} == {
        "memories": 40, "messages": 40,
    }  # fmt: skip
    assert all(mean > 0.97 for _, mean in found.values()), found
    said = health_row(wide, "recall")
    assert (said["status"], said["hint"]) == ("ok", None)
    mean = found["messages"][1]
    assert f"messages {100 * mean:.1f} % (40 samples)" in said["detail"]
    gauges = {(row["name"], row["labels"].get("kind")): row["value"]
              for row in call(wide, "metrics")}  # fmt: skip
    for kind, (number, mean) in found.items():
        assert gauges["pgrecall_search_recall", kind] == pytest.approx(mean)
        assert gauges["pgrecall_search_recall_samples", kind] == number


def test_equal_signs_warn_and_more_candidates_mend_it(wide: Connection, user: uuid.UUID) -> None:
    """Of 480 vectors with the same signs, 160 are as good as drawn by lot."""
    know(wide, user, "positive")
    call(wide, "configure", p_changes={"recall_samples": 200})
    assert call(wide, "sample_recall", p_limit=1000) == [{"done": 200, "more": False}]
    (mean,) = [mean for _, mean in samples(wide).values()]
    assert 0.2 < mean < 0.45
    said = health_row(wide, "recall")
    assert said["status"] == "warn"
    assert said["detail"].startswith("approximate searches find of the ten nearest: memories ")
    assert '{"rerank_candidates": 320}' in said["hint"]
    wide.execute("truncate recall.recall_samples")
    call(wide, "configure", p_changes={"rerank_candidates": 500})
    call(wide, "sample_recall", p_limit=1000)
    assert samples(wide)["memories"] == (200, 1.0)
    assert health_row(wide, "recall")["status"] == "ok"


def test_share_is_that_of_the_search(wide: Connection, user: uuid.UUID) -> None:
    """Of the nearest it returns as large a share as the samples say."""
    know(wide, user, "positive")
    call(wide, "configure", p_changes={"recall_samples": 480})
    call(wide, "sample_recall", p_limit=1000)
    share = 0.0
    stored = rows(wide, "select memory_id, embedding::text as v from recall.memory_embedding")
    for row in stored[::3]:
        exact = {item["memory_id"] for item in rows(
            wide, "select memory_id from recall.memory_embedding where memory_id <> %s"
                  " order by embedding <=> %s::halfvec limit 9", [row["memory_id"], row["v"]],
        )}  # fmt: skip
        found = {hit["memory_id"] for hit in call(
            wide, "search", p_user_id=user, p_query_embedding=row["v"], p_limit=10)}  # fmt: skip
        share += len(exact & found) / 9 / len(stored[::3])
    assert samples(wide)["memories"][1] == pytest.approx(share, abs=0.04)
    assert 0.2 < share < 0.5


def test_batches_and_the_share_of_a_day(wide: Connection, user: uuid.UUID) -> None:
    know(wide, user, "clusters")
    assert call(wide, "sample_recall", p_limit=15) == [{"done": 15, "more": True}]
    assert call(wide, "sample_recall", p_limit=15) == [{"done": 15, "more": True}]
    assert call(wide, "sample_recall", p_limit=15) == [{"done": 10, "more": False}]
    assert call(wide, "sample_recall") == [{"done": 0, "more": False}], "it is done for today"
    wide.execute("update recall.recall_samples set measured_at = now() - interval '21 hours'")
    assert call(wide, "sample_recall") == [{"done": 40, "more": False}]
    wide.execute("update recall.recall_samples set measured_at = measured_at - interval '7 days'"
                 " where measured_at < now() - interval '20 hours'")  # fmt: skip
    call(wide, "sample_recall")
    assert samples(wide)["memories"][0] == 40, "a week is kept"
    call(wide, "configure", p_changes={"maintenance_lock_time": "0 seconds"})
    wide.execute("truncate recall.recall_samples")
    assert call(wide, "sample_recall") == [{"done": 1, "more": True}]


def test_maintenance_runs_it_and_a_setting_ends_it(wide: Connection, user: uuid.UUID) -> None:
    know(wide, user, "clusters")
    call(wide, "configure", p_changes={"recall_samples": 0})
    call(wide, "run_maintenance", p_task="sample_recall")
    assert samples(wide) == {}
    call(wide, "configure", p_changes={"recall_samples": 3})
    (run,) = call(wide, "run_maintenance", p_task="sample_recall")
    assert (run["run_maintenance"]["done"], run["run_maintenance"]["more"]) == (3, False)
    with refused("RC003", "recall_floor"):
        call(wide, "configure", p_changes={"recall_floor": 1.1})


def test_settings_of_one_user_and_hidden_memories(wide: Connection, user: uuid.UUID) -> None:
    """A user whose searches compare everything is not sampled; another one beside is."""
    know(wide, user, "clusters")
    call(wide, "configure_user", p_user_id=user, p_changes={"exact_search_limit": 1000})
    assert call(wide, "sample_recall") == [{"done": 0, "more": False}]
    other = uuid.uuid4()
    know(wide, other, "clusters")
    wide.execute("update recall.memory_store set expires_at = now() where user_id = %s"
                 " and memory_id <> all (array(select memory_id from recall.memory_store"
                 " where user_id = %s limit 12))", [other, other])  # fmt: skip
    assert call(wide, "sample_recall") == [{"done": 40, "more": False}]


def test_nothing_of_a_user_is_kept(wide: Connection, user: uuid.UUID) -> None:
    columns = rows(
        wide, "select attname::text as name from pg_attribute where attnum > 0"
              " and attrelid = 'recall.recall_samples'::regclass order by attnum",
    )  # fmt: skip
    assert [row["name"] for row in columns] == ["measured_at", "kind", "share"]
    know(wide, user, "clusters")
    call(wide, "sample_recall")
    call(wide, "forget_user", p_user_id=user)
    assert call(wide, "sample_recall") == [{"done": 0, "more": False}]


def test_few_samples_do_not_warn(wide: Connection) -> None:
    wide.execute("insert into recall.recall_samples select now(), 'memories', 0"
                 " from generate_series(1, 19)")  # fmt: skip
    assert health_row(wide, "recall")["status"] == "ok"
    wide.execute("insert into recall.recall_samples values (now(), 'memories', 0)")
    assert health_row(wide, "recall")["status"] == "warn"
    call(wide, "configure", p_changes={"recall_floor": 0})
    assert health_row(wide, "recall")["status"] == "ok"
