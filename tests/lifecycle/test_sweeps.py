"""Sweeps over all users: what they find, through which index, and beside each other."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

import sweeps
from pgrecall import AgentMemory
from support import (
    append,
    call,
    do_job,
    job_rows,
    open_session,
    raise_errors,
    refused,
    rows,
    said,
    session_row,
    together,
    value,
    wait_for_lock,
)
from support import sweep as sweep_all
from support.everyfunction import CALLS
from support.memories import remember, vector

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]
DAY = timedelta(days=1)

SWEEPS = [
    "promote_memories", "expire_memories", "decay_memories", "expire_sessions",
    "enqueue_compactions", "enqueue_missing_embeddings", "purge_expired",
    "drop_expired_partitions", "flush_access_log", "expire_working", "expire_items",
    "release_expired_leases",
    "ensure_partitions",
]  # fmt: skip


@pytest.fixture(autouse=True)
def alone(db: Connection) -> None:
    """A sweep is for all users: nothing is left of other tests."""
    db.execute("truncate recall.users, recall.sessions, recall.conversation_history, recall.jobs,"
               " recall.memory_store, recall.memory_embedding, recall.memory_embedding_ended,"
               " recall.memory_events, recall.message_search, recall.append_receipts,"
               " recall.memory_access_log, recall.working_memory")  # fmt: skip
    db.execute("update recall.maintenance_tasks set position = null")
    call(db, "enqueue_missing_embeddings")


def jobs(conn: Connection, user: uuid.UUID) -> list[tuple[str, uuid.UUID | None]]:
    return [(row["kind"], row["session_id"]) for row in job_rows(conn, user)]


@pytest.mark.parametrize("sweep", SWEEPS)
def test_every_sweep_takes_a_limit_and_a_clock(db: Connection, sweep: str) -> None:
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


def test_expire_sessions_expires_idle_sessions(db: Connection, user: uuid.UUID) -> None:
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
    assert call(db, "expire_sessions", p_as_of=at) == [{"done": 0, "more": True}]
    holder.commit()


def test_enqueue_compactions_enqueues_sessions_beyond_twice_their_window(
    db: Connection, user: uuid.UUID
) -> None:
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


def test_enqueue_compactions_works_in_batches(db: Connection) -> None:
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


def test_enqueue_missing_embeddings_enqueues_users_with_missing_vectors(
    db: Connection, user: uuid.UUID
) -> None:
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
    wanted = ["User likes tea", "User likes jazz"]
    done = do_job(db, job, {"embed": lambda text: vector(wanted.index(text))})
    assert done == {"type": "done", "outcome": {"kind": "embed", "items": 2}}
    remember(db, user, "User likes jazz")
    assert call(db, "enqueue_missing_embeddings") == [{"done": 0, "more": False}]


def test_enqueue_missing_embeddings_after_a_change_of_model_covers_all_users(
    db: Connection,
) -> None:
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
        db.execute("update recall.settings set embedding_model = 'new'")
        done, calls = 0, 0
        while True:
            (row,) = call(db, "enqueue_missing_embeddings", p_limit=3)
            done, calls = done + row["done"], calls + 1
            if not row["more"]:
                break
        assert (done, calls) == (8, 3)
        assert call(db, "enqueue_missing_embeddings") == [{"done": 0, "more": False}]
    finally:
        db.execute("update recall.settings set embedding_model = %s", [model["name"]])
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
def test_concurrent_callers_of_a_sweep_do_each_row_once(db: Connection, connect: Connect) -> None:
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


def due_memories(conn: Connection, users: int, each: int) -> list[uuid.UUID]:
    """Make users with memories that are all past their expiry."""
    made = [uuid.uuid4() for _ in range(users)]
    for user in made:
        remember(conn, user, "The first one", p_expires_at=datetime.now(UTC) + DAY)
        conn.execute(
            "insert into recall.memory_store (user_id, memory_id, tier, scope, kind, content,"
            " content_hash, token_count, search_vector, provenance, source, confidence,"
            " importance, observed_at, created_at, updated_at, expires_at)"
            " select %s, gen_random_uuid(), 'session', 'global', 'fact', 'memory ' || n,"
            " sha256(n::text::bytea), 3, '', 'fact', 'import', 0.5, 0.6, now(),"
            " now() - interval '2 days', now(), now() - interval '1 day'"
            " from generate_series(2, %s) as n",
            [user, each],
        )
    conn.execute("update recall.memory_store set expires_at = now() - interval '1 day'")
    conn.execute("update recall.users set active_memory_count = %s", [each])
    return made


def still_due(conn: Connection) -> int:
    return value(conn, "select count(*) from recall.memory_store where ended_at is null")


def test_a_sweep_says_more_until_nothing_is_due(db: Connection) -> None:
    """Also where a batch ends with a user: 4 users, 600 memories each, 1,000 a batch."""
    due_memories(db, 4, 600)
    done = 0
    while True:
        result = call(db, "run_maintenance", p_task="expire_memories")[0]["run_maintenance"]
        done += result["done"]
        if not result["more"]:
            break
    assert (done, still_due(db)) == (2400, 0)


@pytest.mark.slow
def test_a_worker_sweeps_to_the_end(db: Connection, dsn: str) -> None:
    due_memories(db, 5, 700)
    db.execute("update recall.maintenance_tasks set last_run_at = now()")
    db.execute("update recall.maintenance_tasks set last_run_at = null"
               " where task = 'expire_memories'")  # fmt: skip
    with AgentMemory.connect(dsn, embedder=False) as memory:
        memory.worker().maintain()
    assert still_due(db) == 0


@pytest.mark.parametrize("limit", [1, 3, 600, 601, 2400])
def test_a_batch_of_any_size_comes_to_the_end(db: Connection, limit: int) -> None:
    due_memories(db, 4, 6 if limit < 10 else 600)
    count = still_due(db)
    for _ in range(count + 1):
        (row,) = call(db, "expire_memories", p_limit=limit)
        assert row["done"] <= limit
        if not row["more"]:
            break
    assert still_due(db) == 0


HELD = {
    "expire_memories": "users",
    "decay_memories": "users",
    "promote_memories": "users",
    "flush_access_log": "users",
    "enqueue_missing_embeddings": "users",
    "enqueue_merges": "users",
    "enqueue_patterns": "users",
    "purge_expired": "users",
    "expire_sessions": "sessions",
    "enqueue_compactions": "sessions",
    "expire_working": "working_memory",
    "expire_items": "users",
    "release_expired_leases": "jobs",
}
"""By sweep: the table in which somebody holds a row."""

EVERYTHING_IS_DUE = """
update recall.memory_store set expires_at = now(), embedding_due = true;
update recall.memory_store
   set expires_at = null, importance = 0.1, created_at = now() - interval '90 days'
 where content = 'idle';
update recall.memory_store set ended_at = now(), end_reason = 'retracted' where content = 'ended';
update recall.memory_store set check_at = now() where content = 'ended';
update recall.memory_store set promotion_due = true where content = 'due';
update recall.users set merge_due = true, pattern_due = true, active_memory_count = 2;
update recall.sessions set expires_at = now(), compaction_due = true;
update recall.working_memory set expires_at = now();
update recall.items set ttl = '1 minute', expires_at = now();
update recall.jobs
   set state = 'running', worker = 'w', lease_token = gen_random_uuid(), lease_until = now();
insert into recall.memory_access_log select user_id, memory_id, 0.5, now() from recall.memory_store;
"""


@pytest.mark.concurrent
@pytest.mark.parametrize("sweep", HELD)
def test_a_sweep_that_passes_somebody_by_says_more(
    db: Connection, connect: Connect, sweep: str
) -> None:
    users = [uuid.uuid4() for _ in range(3)]
    for user in users:
        session = open_session(db, user)
        for text in ("due", "idle", "ended"):
            remember(db, user, text)
        call(db, "put_working", p_user_id=user, p_session_id=session, p_task_id="t", p_key="k",
             p_value={})  # fmt: skip
        call(db, "put_items", p_user_id=user,
             p_items=[{"namespace": ["n"], "key": "k", "value": 1}])  # fmt: skip
    db.execute("delete from recall.jobs")
    for user in users:
        call(db, "enqueue_job", p_user_id=user, p_kind="embed")
    db.execute(EVERYTHING_IS_DUE.encode())
    holder = connect(autocommit=False)
    holder.execute(
        f"select from recall.{HELD[sweep]} where user_id = %s for update".encode(), [users[1]]
    )
    for _ in range(3):
        last = call(db, sweep)[0]
    assert last == {"done": 0, "more": True}, "the others had their turn"
    result = call(db, "run_maintenance", p_task=sweep)[0]["run_maintenance"]
    assert (result["done"], result["more"], result["waits"]) == (0, True, True)
    holder.rollback()
    sweep_all(db, sweep)
    assert call(db, sweep) == [{"done": 0, "more": False}]
    db.execute("truncate recall.memory_store, recall.memory_events, recall.users, recall.sessions,"
               " recall.memory_embedding, recall.working_memory, recall.jobs,"
               " recall.memory_access_log, recall.items, recall.item_vectors")  # fmt: skip


@pytest.mark.concurrent
def test_a_locked_user_does_not_fill_the_batch_of_accesses(
    db: Connection, connect: Connect
) -> None:
    users = [uuid.uuid4() for _ in range(2)]
    for user, count in zip(users, (30, 5), strict=True):
        memory = remember(db, user, "User likes tea")["memory_id"]
        db.execute(
            "insert into recall.memory_access_log (user_id, memory_id, relevance, accessed_at)"
            " select %s, %s, 1, now() from generate_series(1, %s)",
            [user, memory, count],
        )
    holder = connect(autocommit=False)
    holder.execute("select from recall.users where user_id = %s for update", [users[0]])
    assert call(db, "flush_access_log", p_limit=20) == [{"done": 5, "more": True}]
    assert call(db, "flush_access_log", p_limit=20) == [{"done": 0, "more": True}]
    holder.rollback()
    assert call(db, "flush_access_log", p_limit=20) == [{"done": 20, "more": True}]
    assert call(db, "flush_access_log", p_limit=20) == [{"done": 10, "more": False}]


def bounded(conn: Connection) -> list[str]:
    """The settings that are intervals, but for those with a lower bound than 1000 years."""
    found = rows(
        conn,
        "select a.attname as name from pg_attribute as a"
        " where a.attrelid = 'recall.settings'::regclass and a.atttypid = 'interval'::regtype",
    )
    return sorted({row["name"] for row in found}
                  - {"maintenance_lock_time", "pattern_within", "session_ttl",
                     "history_retention"})  # fmt: skip


LIFETIMES = ("session_memory_grace", "episode_lifetime", "verbatim_lifetime", "working_ttl",
             "decay_lifetime")  # fmt: skip
"""They end up in rows, whose times drivers read."""


@pytest.mark.parametrize("longest", ["1000 years", "infinity"])
def test_the_longest_intervals_break_no_call(db: Connection, user: uuid.UUID, longest: str) -> None:
    """Of all users, and as overrides of one."""
    changes = dict.fromkeys(
        (name for name in bounded(db) if longest != "infinity" or name not in LIFETIMES), longest
    )
    for function, arguments in (("configure", {}), ("configure_user", {"p_user_id": user})):
        with db.transaction(force_rollback=True):
            call(db, function, **arguments, p_changes=changes)
            session = open_session(db, user)
            append(db, user, session, said("hello"))
            remember(db, user, "User once mentioned rain", p_importance=0.1)
            call(db, "put_working", p_user_id=user, p_session_id=session, p_task_id="t",
                 p_key="k", p_value={})  # fmt: skip
            call(db, "compile_context", p_user_id=user, p_session_id=session)
            db.execute("update recall.sessions set search_purge_at = now()")
            for sweep in SWEEPS:
                call(db, sweep)


@pytest.mark.parametrize("length", ["1001 years", "10000 years", "100000000 years"])
def test_longer_intervals_are_refused(db: Connection, user: uuid.UUID, length: str) -> None:
    """Each would overflow in a sum with a time, of all users or as an override."""
    names = bounded(db)
    assert len(names) == 15
    for name in names:
        with refused("RC003", f'{name} is "{length}"'):
            call(db, "configure", p_changes={name: length})
        with refused("RC003", f'{name} is "{length}"'):
            call(db, "configure_user", p_user_id=user, p_changes={name: length})
    for name in LIFETIMES:
        with refused("RC003", f'{name} is "infinity"'):
            call(db, "configure", p_changes={name: "infinity"})


def outlives(conn: Connection, user: uuid.UUID) -> None:
    """Say the same again, for good now."""
    remember(conn, user, "User is in Oslo")


def takes_back(conn: Connection, user: uuid.UUID) -> None:
    (row,) = rows(conn, "select memory_id from recall.memory_store where user_id = %s", [user])
    call(conn, "retract_memory", p_user_id=user, p_memory_id=row["memory_id"])


def goes_on(conn: Connection, user: uuid.UUID) -> None:
    (row,) = rows(conn, "select session_id from recall.sessions where user_id = %s", [user])
    append(conn, user, row["session_id"], said("still here"))
    conn.execute("update recall.sessions set expires_at = expires_at + interval '9 days'"
                 " where user_id = %s", [user])  # fmt: skip


@pytest.mark.concurrent
@pytest.mark.parametrize(
    ("sweep", "held", "change", "count"),
    [
        ("expire_memories", "memory_store", outlives,
         "select count(*) from recall.memory_store where user_id = %s and end_reason = 'expired'"),
        ("decay_memories", "memory_store", takes_back,
         "select count(*) from recall.memory_events where user_id = %s and event = 'decayed'"),
        ("expire_sessions", "working_memory", goes_on,
         "select count(*) from recall.sessions where user_id = %s and status = 'expired'"),
    ],
)  # fmt: skip
def test_what_was_found_is_looked_at_again(
    db: Connection, connect: Connect, sweep: str, held: str,
    change: Callable[[Connection, uuid.UUID], None], count: str,
) -> None:  # fmt: skip
    """A batch waits for something of its first user; what is due of the second is not any more."""
    first, second = sorted(uuid.uuid4() for _ in range(2))
    at = datetime.now(UTC) + 45 * DAY
    for days, user in enumerate((first, second), 40):
        if sweep == "expire_sessions":
            session = open_session(db, user, p_expires_in=days * DAY)  # the first is due first
            call(db, "put_working", p_user_id=user, p_session_id=session, p_task_id="t",
                 p_key="k", p_value={})  # fmt: skip
        elif sweep == "expire_memories":
            remember(db, user, "User is in Oslo", p_expires_at=datetime.now(UTC) + DAY)
        else:
            remember(db, user, "User once mentioned rain", p_importance=0.1)
    holder, sweeper = connect(autocommit=False), connect()
    holder.execute(f"select from recall.{held} where user_id = %s for update".encode(), [first])
    result: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: result.extend(call(sweeper, sweep, p_as_of=at)))
    thread.start()
    wait_for_lock(db, sweeper.info.backend_pid)
    change(db, second)
    holder.rollback()
    thread.join(60)
    assert (result[0]["done"], value(db, count, [first]), value(db, count, [second])) == (1, 1, 0)


MEMORIES, DUE = 10_000, 20


@pytest.fixture
def filled(db: Connection) -> None:
    """A database in which few of many rows are due, for every sweep."""
    sweeps.fill(db, MEMORIES, DUE)


def scans(conn: Connection) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Return, by table, its sequential scans and the rows read in it; and the scans of indexes."""
    conn.execute("select pg_stat_force_next_flush()")
    conn.execute("select pg_stat_clear_snapshot()")
    tables = rows(
        conn,
        "select coalesce(pg_partition_root(t.relid), t.relid)::regclass::text as name,"
        " sum(t.seq_scan)::int as scans,"
        " sum(t.seq_tup_read + coalesce(i.tuples, 0))::int as tuples"
        " from pg_stat_user_tables as t"
        " left join (select relid, sum(idx_tup_read) as tuples from pg_stat_user_indexes"
        " group by relid) as i on i.relid = t.relid"
        " where t.schemaname = 'recall' group by 1",
    )
    indexes = rows(
        conn,
        "select coalesce(pg_partition_root(indexrelid), indexrelid)::regclass::text as name,"
        " sum(idx_scan)::int as n from pg_stat_user_indexes where schemaname = 'recall' group by 1",
    )
    return (
        {row["name"].removeprefix("recall."): row["scans"] for row in tables},
        {row["name"].removeprefix("recall."): row["tuples"] for row in tables},
        {row["name"].removeprefix("recall."): row["n"] for row in indexes},
    )


# The index by which each sweep finds what is due, and how much it does. Flags of users stand in no
# index, which would cost each writer a lock: a walk in the order of their key finds them.
FOUND_BY = {
    "flush_access_log": (None, DUE),
    "release_expired_leases": ("jobs_lease_until_due_idx", DUE),
    "expire_working": ("working_memory_expires_at_due_idx", DUE),
    "expire_items": ("items_expires_at_due_idx", DUE),
    "promote_memories": ("memory_store_promotion_due_idx", DUE),
    "enqueue_missing_embeddings": ("memory_store_promotion_due_idx", DUE),
    "enqueue_compactions": ("sessions_compaction_due_idx", DUE),
    "expire_memories": ("memory_store_is_active_due_idx", DUE),
    "expire_sessions": ("sessions_expires_at_due_idx", DUE),
    "decay_memories": ("memory_store_is_active_due_idx", DUE),
    "enqueue_merges": ("users_pkey", DUE),
    "enqueue_patterns": ("users_pkey", DUE),
    "purge_expired": ("sessions_compaction_due_idx", 3 * DUE),
    "drop_expired_partitions": ("sessions_pkey", None),
    "ensure_partitions": (None, 0),
}
BIG = ["memory_store", "memory_embedding_ended", "sessions", "jobs",
       "message_search", "working_memory", "append_receipts"]  # fmt: skip


@pytest.mark.slow
def test_only_what_is_due_is_read(
    db: Connection, filled: None, idle: list[psycopg.Connection[Any]]
) -> None:
    """By its index, of 10,000 memories and 1,000 of all else, cold or with cached plans."""
    for conn in idle:  # an idle connection tells what it has read ten seconds later
        conn.execute("select pg_stat_force_next_flush()")
    tasks = {row["task"] for row in rows(db, "select task from recall.maintenance_tasks")}
    # sample_recall reads some random pages; the others read nothing without a backfill or a change
    tasks -= {"sample_recall", "run_backfills", "migrate_embeddings"}
    assert tasks == set(FOUND_BY) == {*sweeps.SWEEPS, "ensure_partitions"}
    sizes = {table: value(db, f"select count(*) from recall.{table}") for table in BIG}
    leaves = value(db, "select count(*) from recall._expired_months(now(), null)")
    assert leaves > 0
    assert min(sizes.values()) >= 20 * DUE, sizes
    for sweep, (index, due) in FOUND_BY.items():
        before = scans(db)
        done = sweep_all(db, sweep) + sweep_all(db, sweep)
        after = scans(db)
        assert done == (leaves if due is None else due), sweep
        whole = {name for name in BIG if after[0][name] > before[0][name]}
        assert not whole, (sweep, "reads whole", whole)
        if index is not None:
            assert after[2][index] > before[2][index], (sweep, index)
        for table, size in sizes.items():
            read = after[1][table] - before[1][table]
            assert read < size / 2, (sweep, table, read)
