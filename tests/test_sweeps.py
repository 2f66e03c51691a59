"""Sweeps over all users: what they find, through which index, and beside each other."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from everyfunction import CALLS
from memories import remember, vector
from support import (
    append,
    call,
    job_rows,
    open_session,
    raise_errors,
    refused,
    rows,
    said,
    session_row,
    together,
    value,
)

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]
DAY = timedelta(days=1)

SWEEPS = [
    "promote_memories", "expire_memories", "decay_memories", "expire_sessions",
    "enqueue_compactions", "enqueue_missing_embeddings", "purge_expired",
    "drop_expired_partitions", "flush_access_log", "expire_working", "release_expired_leases",
    "ensure_partitions",
]  # fmt: skip


@pytest.fixture(autouse=True)
def alone(db: Connection) -> None:
    """A sweep is for all users: nothing is left of other tests."""
    db.execute("truncate recall.users, recall.sessions, recall.conversation_history, recall.jobs,"
               " recall.memory_store, recall.memory_embedding, recall.memory_embedding_ended,"
               " recall.memory_events, recall.message_search, recall.append_receipts")  # fmt: skip
    db.execute("update recall.maintenance_tasks set position = null")
    call(db, "enqueue_missing_embeddings")


def jobs(conn: Connection, user: uuid.UUID) -> list[tuple[str, uuid.UUID | None]]:
    return [(row["kind"], row["session_id"]) for row in job_rows(conn, user)]


@pytest.mark.parametrize("sweep", SWEEPS)
def test_every_sweep(db: Connection, sweep: str) -> None:
    """The contract: a limit and a clock; nothing due is nothing done; a bad limit is refused."""
    assert call(db, sweep, p_limit=10) == [{"done": 0, "more": False}]
    assert call(db, sweep, p_limit=0, p_as_of=datetime.now(UTC))[0]["done"] == 0
    with refused("RC003", "p_limit"):
        call(db, sweep, p_limit=-1)
    assert sweep in {asked.function for asked in CALLS}
    (task,) = rows(db, "select * from recall.maintenance_tasks where task = %s", [sweep])
    assert task["enabled"]
    result = call(db, "run_maintenance", p_task=sweep)[0]["run_maintenance"]
    assert "error" not in result


def test_expired_sessions(db: Connection, user: uuid.UUID) -> None:
    used, idle, closed = (open_session(db, user) for _ in range(3))
    append(db, user, used, said("hello"))
    call(db, "close_session", p_user_id=user, p_session_id=closed)
    call(db, "put_working", p_user_id=user, p_session_id=used, p_task_id="t", p_key="k",
         p_value={"x": 1})  # fmt: skip
    db.execute("delete from recall.jobs")
    late = session_row(db, user, used)["expires_at"]
    db.execute("update recall.sessions set expires_at = now() where session_id = %s", [idle])
    assert call(db, "expire_sessions") == [{"done": 1, "more": False}]
    assert session_row(db, user, idle)["status"] == "expired"
    assert jobs(db, user) == [], "nothing was said in it"
    assert call(db, "expire_sessions", p_as_of=late - DAY) == [{"done": 0, "more": False}]
    assert call(db, "expire_sessions", p_as_of=late) == [{"done": 1, "more": False}]
    assert session_row(db, user, used)["status"] == "expired"
    assert session_row(db, user, closed)["status"] == "closed"
    assert jobs(db, user) == [("extract", used), ("summarize", used)]
    assert call(db, "get_working", p_user_id=user, p_session_id=used, p_task_id="t") == [
        {"get_working": {}}
    ]
    with refused("RC002"):
        append(db, user, used, said("still there?"))
    call(db, "resume_session", p_user_id=user, p_session_id=used)
    append(db, user, used, said("again"))


def test_what_is_summarized_is_not_again(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said("hello"))
    db.execute("delete from recall.jobs")
    db.execute("update recall.sessions set extracted_through_turn = 1")
    db.execute(
        "insert into recall.session_summaries (user_id, session_id, summary_id, kind, from_turn,"
        " to_turn, content, token_count, created_at)"
        " values (%s, %s, recall.uuidv7(), 'rolling', 1, 1, 'He said hello.', 4, now())",
        [user, session],
    )
    call(db, "expire_sessions", p_as_of=datetime.now(UTC) + 60 * DAY)
    assert jobs(db, user) == []


@pytest.mark.concurrent
def test_a_session_in_use_is_left_alone(db: Connection, connect: Connect, user: uuid.UUID) -> None:
    session = open_session(db, user, p_expires_in=timedelta(hours=1))
    at = datetime.now(UTC) + timedelta(minutes=61)
    holder = connect(autocommit=False)
    append(holder, user, session, said("still here"))
    assert call(db, "expire_sessions", p_as_of=at) == [{"done": 0, "more": False}]
    holder.commit()


def test_compactions(db: Connection, user: uuid.UUID) -> None:
    window = {"p_context_window_size": 1000, "p_max_response_tokens": 100}
    big, small, silent = (open_session(db, user, **window) for _ in range(3))
    append(db, user, big, said("long", token_count=2100))
    append(db, user, small, said("short", token_count=1900))
    db.execute("delete from recall.jobs")
    assert call(db, "enqueue_compactions") == [{"done": 1, "more": False}]
    assert jobs(db, user) == [("compact", big)]
    assert not session_row(db, user, big)["compaction_due"]
    append(db, user, big, said("more"))
    assert session_row(db, user, big)["compaction_due"], "the next append asks again"
    db.execute("update recall.jobs set state = 'dead' where kind = 'compact'")
    assert call(db, "enqueue_compactions")[0]["done"] == 0, "a dead one waits for a person"
    # nobody summarizes where no model reads
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    append(db, user, silent, said("long", token_count=2100))
    db.execute("delete from recall.jobs")
    assert call(db, "enqueue_compactions")[0]["done"] == 0
    assert jobs(db, user) == []


def test_compactions_in_batches(db: Connection) -> None:
    users = [uuid.uuid4() for _ in range(7)]
    for user in users:
        session = open_session(db, user, p_context_window_size=100, p_max_response_tokens=10)
        append(db, user, session, said("long", token_count=300))
    db.execute("delete from recall.jobs")
    steps = []
    while True:
        (row,) = call(db, "enqueue_compactions", p_limit=3)
        steps.append(row["done"])
        if not row["more"]:
            break
    assert steps == [3, 3, 1]


def test_memories_without_a_vector(db: Connection, user: uuid.UUID) -> None:
    other = uuid.uuid4()
    remember(db, other, "User likes rye", p_embedding=vector(1))
    remember(db, user, "User likes tea")
    remember(db, user, "User likes jazz")
    assert jobs(db, user) == [], "a write leaves no more than a flag"
    assert call(db, "enqueue_missing_embeddings") == [{"done": 1, "more": False}]
    assert jobs(db, user) == [("embed", None)]
    assert jobs(db, other) == []
    assert call(db, "enqueue_missing_embeddings") == [{"done": 0, "more": False}]
    (job,) = call(db, "claim_jobs", p_worker="w", p_kinds=["embed"])
    ids = {"p_user_id": user, "p_job_id": job["job_id"], "p_lease_token": job["lease_token"]}
    wanted = call(db, "job_input", **ids)[0]["job_input"]["memories"]
    assert sorted(m["text"] for m in wanted) == ["User likes jazz", "User likes tea"]
    result = {"memories": [
        {"memory_id": m["memory_id"], "embedding": [float(n == k) for k in range(384)]}
        for n, m in enumerate(wanted)]}  # fmt: skip
    assert call(db, "finish_job", **ids, p_result=result)[0]["finish_job"]
    remember(db, user, "User likes jazz")
    assert call(db, "enqueue_missing_embeddings") == [{"done": 0, "more": False}]


def test_another_model(db: Connection) -> None:
    """Everybody is walked through, in batches; messages get new vectors too."""
    users = [uuid.uuid4() for _ in range(7)]
    for user in users:
        remember(db, user, "User likes rye", p_embedding=vector(1))
    session = open_session(db, users[0])
    append(db, users[0], session, said("one", "two", "three"))
    db.execute(
        "insert into recall.message_search select user_id, session_id, turn_index, message_id,"
        " role, created_at, '', %s, 'old' from recall.conversation_history where turn_index > 1",
        [vector(1)],
    )
    db.execute("update recall.sessions set indexed_through_turn = 3")
    db.execute("delete from recall.jobs")
    (model,) = rows(db, "select embedding_model as name from recall.settings")
    try:
        call(db, "configure", p_changes={"embedding_model": "new"})
        done, calls = 0, 0
        while True:
            (row,) = call(db, "enqueue_missing_embeddings", p_limit=3)
            done, calls = done + row["done"], calls + 1
            if not row["more"]:
                break
        assert (done, calls) == (8, 3)
        assert call(db, "enqueue_missing_embeddings") == [{"done": 0, "more": False}]
    finally:
        call(db, "configure", p_changes={"embedding_model": model["name"]})
    assert all(("embed", None) in jobs(db, user) for user in users)
    assert ("embed", session) in jobs(db, users[0])
    assert session_row(db, users[0], session)["indexed_through_turn"] == 1
    # and one user's own
    db.execute("delete from recall.jobs")
    call(db, "enqueue_missing_embeddings")
    call(db, "configure_user", p_user_id=users[1], p_changes={"embedding_model": "his"})
    assert call(db, "enqueue_missing_embeddings") == [{"done": 1, "more": False}]
    assert jobs(db, users[1]) == [("embed", None)]


@pytest.mark.concurrent
def test_callers_at_once(db: Connection, connect: Connect) -> None:
    """Each sweep by two callers at the same time, over users that a writer writes to."""
    users = [uuid.uuid4() for _ in range(25)]
    for user in users:
        session = open_session(db, user, p_context_window_size=100, p_max_response_tokens=10,
                               p_expires_in=100 * DAY)  # fmt: skip
        append(db, user, session, said("long", token_count=300), None, uuid.uuid4())
        open_session(db, user)
        memory = remember(db, user, "User is in Oslo",
                          p_expires_at=datetime.now(UTC) + DAY)["memory_id"]  # fmt: skip
        remember(db, user, "User once mentioned rain", p_importance=0.1)
        call(db, "record_access", p_user_id=user, p_memory_ids=[memory], p_relevance="{1}")
    db.execute("delete from recall.jobs")
    at = datetime.now(UTC) + 45 * DAY
    works = []
    for sweep in [*SWEEPS[:6], "purge_expired", "flush_access_log"]:
        for _ in range(2):
            conn = connect()
            works.append(lambda c=conn, s=sweep: [call(c, s, p_as_of=at) for _ in range(3)])
    writer = connect()
    works.append(lambda: [remember(writer, user, "User likes tea") for user in users])
    raise_errors(together(works))
    for _ in range(2):
        for sweep in [*SWEEPS[:6], "purge_expired", "flush_access_log"]:
            call(db, sweep, p_as_of=at)
    counted = rows(db, "select event, count(*) as n from recall.memory_events"
                       " where event in ('expired', 'decayed')"
                       " group by event order by event")  # fmt: skip
    assert counted == [{"event": "decayed", "n": 25}, {"event": "expired", "n": 25}]
    assert value(db, "select count(*) from recall.jobs where kind = 'compact'") == 25
    assert value(db, "select count(*) from recall.append_receipts") == 0
    assert value(db, "select count(*) from recall.sessions where status = 'expired'") == 25


FILLED = """
insert into recall.users (user_id, created_at, active_memory_count)
select md5('u' || u)::uuid, now(), 100 from generate_series(1, 200) as u;
insert into recall.memory_store (
    user_id, memory_id, tier, scope, kind, content, content_hash, token_count, search_vector,
    provenance, source, confidence, importance, observed_at, created_at, updated_at, expires_at)
select md5('u' || n % 200 + 1)::uuid, md5('m' || n)::uuid, 'session', 'global', 'fact',
       'memory ' || n, sha256(n::text::bytea), 3, '', 'fact', 'import', 0.5,
       case when n % 2 = 0 then 0.1 else 0.6 end, now(), now(), now(),
       case when n % 4 = 1 then now() + make_interval(days => 1 + n % 300) end
  from generate_series(1, 20000) as n;
insert into recall.sessions (
    user_id, session_id, model_id, context_window_size, system_prompt_hash, system_prompt_tokens,
    max_response_tokens, created_at, updated_at, expires_at)
select md5('u' || n % 200 + 1)::uuid, md5('s' || n)::uuid, 'gpt-4o-mini', 1000, '', 0, 100,
       now(), now(), now() + make_interval(days => 1 + n % 300)
  from generate_series(1, 20000) as n;
insert into recall.memory_embedding (user_id, memory_id, embedding_model, embedding)
select user_id, memory_id, (select embedding_model from recall.settings),
       array_fill(0.5::real, array[384])::halfvec
  from recall.memory_store where get_byte(content_hash, 0) = 1;
update recall.memory_store set access_count = 3, relevance_accumulator = 3, last_accessed_at = now()
 where get_byte(content_hash, 0) < 2 and provenance = 'fact';
update recall.sessions set compaction_due = true where session_id = md5('s7')::uuid;
update recall.memory_store set embedding_due = true where memory_id = md5('m7')::uuid;
"""


@pytest.fixture
def filled(db: Connection) -> None:
    db.execute(FILLED.encode())
    db.execute("vacuum analyze recall.memory_store")
    db.execute("analyze")


def scans(conn: Connection) -> tuple[dict[str, int], dict[str, int]]:
    """Return sequential scans of the big tables' leaves, and scans of the …_due_idx indexes."""
    conn.execute("select pg_stat_force_next_flush()")
    conn.execute("select pg_stat_clear_snapshot()")
    tables = rows(
        conn, r"select regexp_replace(relname, '_p\d+$', '') as name, sum(seq_scan)::int as n"
              r" from pg_stat_user_tables where schemaname = 'recall' and relname ~ '_p\d+$'"
              r" group by 1",
    )  # fmt: skip
    indexes = rows(
        conn, "select parent.relname as name, sum(pg_stat_get_numscans(i.inhrelid))::int as n"
              " from pg_inherits as i join pg_class as parent on parent.oid = i.inhparent"
              " where parent.relname like %s group by 1", [r"%\_due\_idx"],
    )  # fmt: skip
    return {r["name"]: r["n"] for r in tables}, {r["name"]: r["n"] for r in indexes}


def test_only_what_is_due_is_read(db: Connection, filled: None) -> None:
    """Through its index, with 20,000 rows of which a few are due, cold or with cached plans."""
    at = datetime.now(UTC) + 2 * DAY
    expected = {
        "promote_memories": ("memory_store_promotion_due_idx", datetime.now(UTC)),
        "expire_memories": ("memory_store_check_at_due_idx", at),
        "decay_memories": ("memory_store_check_at_due_idx", at),
        "expire_sessions": ("sessions_expires_at_due_idx", at),
        "enqueue_compactions": ("sessions_compaction_due_idx", at),
        "enqueue_missing_embeddings": ("memory_store_promotion_due_idx", at),
        "purge_expired": ("sessions_compaction_due_idx", at),
    }
    done = {}
    for sweep, (index, moment) in expected.items():
        before = scans(db)
        (row,) = call(db, sweep, p_limit=50, p_as_of=moment)
        done[sweep] = row["done"]
        call(db, sweep, p_limit=50, p_as_of=moment)
        after = scans(db)
        read = {name for name in after[0] if after[0][name] > before[0][name]}
        assert not read & {"memory_store", "sessions", "memory_embedding", "memory_embedding_ended",
                           "message_search"}, (sweep, read)  # fmt: skip
        assert after[1].get(index, 0) > before[1].get(index, 0), (sweep, index)
    assert 0 < done["promote_memories"] <= 50
    assert 0 < done["expire_sessions"] <= 50
    assert done["enqueue_missing_embeddings"] == 1
    assert done["decay_memories"] == 0, "a month has to pass"
