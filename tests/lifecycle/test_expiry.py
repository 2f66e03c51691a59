"""Effects of time on memories: expiry, lifetimes bound to a session, demotion, decay."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from support import (
    append,
    call,
    open_session,
    raise_errors,
    rows,
    said,
    session_row,
    together,
    value,
)
from support import sweep as sweep_all
from support.memories import remember, stored, vector

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def alone(db: Connection) -> None:
    """A sweep is for all users: nothing is left of other tests."""
    db.execute("truncate recall.users, recall.sessions, recall.conversation_history, recall.jobs,"
               " recall.memory_store, recall.memory_embedding, recall.memory_embedding_ended,"
               " recall.memory_events")  # fmt: skip


def learn(conn: Connection, user: uuid.UUID, session: uuid.UUID, **fields: Any) -> uuid.UUID:
    candidate = {"content": "User likes tea", "provenance": "fact"} | fields
    (row,) = call(conn, "ingest_memories", p_user_id=user, p_session_id=session,
                  p_candidates=[candidate])  # fmt: skip
    memory: uuid.UUID = row["memory_id"]
    return memory


def sweep_once(conn: Connection, at: datetime, task: str = "expire_memories") -> int:
    (row,) = call(conn, task, p_as_of=at)
    assert row["more"] is False
    done: int = row["done"]
    return done


def now() -> datetime:
    return datetime.now(UTC)


def one(conn: Connection, user: uuid.UUID) -> dict[str, Any]:
    (row,) = stored(conn, user)
    return row


def last_event(conn: Connection, user: uuid.UUID) -> tuple[str, dict[str, Any]]:
    found = rows(conn, "select event, detail from recall.memory_events where user_id = %s"
                       " order by event_no desc limit 1", [user])  # fmt: skip
    return found[0]["event"], found[0]["detail"]


def test_past_its_expiry_it_ends(db: Connection, user: uuid.UUID) -> None:
    expiry = now() + DAY
    memory = remember(db, user, "User is in Oslo", p_expires_at=expiry, p_embedding=vector(3))
    remember(db, user, "User likes jazz")
    assert sweep_once(db, expiry - timedelta(seconds=1)) == 0
    assert sweep_once(db, expiry) == 1
    row, other = stored(db, user)
    assert row["memory_id"] == memory["memory_id"]
    assert (row["ended_at"], row["end_reason"]) == (expiry, "expired")
    assert other["ended_at"] is None
    assert last_event(db, user) == ("expired", {})
    counts = rows(
        db, "select (select count(*) from recall.memory_embedding where user_id = u.user_id) as a,"
            " (select count(*) from recall.memory_embedding_ended where user_id = u.user_id) as e,"
            " active_memory_count as n from recall.users as u where user_id = %s", [user],
    )  # fmt: skip
    assert counts == [{"a": 0, "e": 1, "n": 1}]
    assert sweep_once(db, expiry + 9 * DAY) == 0


def test_repetition_with_a_later_expiry_keeps_a_memory_alive(
    db: Connection, user: uuid.UUID
) -> None:
    """A repetition that lasts longer, or for ever, keeps it alive."""
    remember(db, user, "User is in Oslo", p_expires_at=now() + DAY)
    remember(db, user, "User is in Oslo", p_expires_at=now() + 3 * DAY)
    assert sweep_once(db, now() + 2 * DAY) == 0
    assert one(db, user)["ended_at"] is None
    remember(db, user, "User is in Oslo")
    assert sweep_once(db, now() + 9 * DAY) == 0
    db.execute("update recall.memory_store set expires_at = now() where user_id = %s", [user])
    assert sweep_once(db, now()) == 1, "whoever writes the column, it is seen"


@pytest.mark.parametrize(("kind", "days"), [("context", 90), ("episode", 90)])
def test_memories_of_a_kind_expire_after_its_lifetime(
    db: Connection, user: uuid.UUID, kind: str, days: int
) -> None:
    session = open_session(db, user, p_expires_in=timedelta(days=400))
    learn(db, user, session, kind=kind, provenance="user_stated", confidence=0.9)
    assert sweep_once(db, now() + days * DAY - timedelta(hours=1)) == 0
    assert sweep_once(db, now() + days * DAY + timedelta(hours=1)) == 1


def test_a_life_that_follows_its_session(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    learn(db, user, session)
    first_end = session_row(db, user, session)["expires_at"] + DAY
    assert one(db, user)["expires_at"] == first_end
    # used again later: its end slides, and the memory's with it
    later = session_row(db, user, session)["expires_at"] + 20 * DAY
    db.execute("update recall.sessions set expires_at = %s where session_id = %s", [later, session])
    assert sweep_once(db, first_end - timedelta(hours=13)) == 0
    assert one(db, user)["expires_at"] == first_end, "too early to look"
    assert sweep_once(db, first_end - timedelta(hours=11)) == 0
    assert one(db, user)["expires_at"] == later + DAY, "readers never miss it"
    assert last_event(db, user)[0] == "extended"
    # it expires itself: 24 hours are left
    assert sweep_once(db, later + timedelta(hours=13)) == 0
    call(db, "expire_sessions", p_as_of=later)
    assert sweep_once(db, later + timedelta(hours=23)) == 0
    assert sweep_once(db, later + DAY) == 1


def test_a_late_sweep_ends_nothing_that_goes_on(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    learn(db, user, session)
    later = now() + 100 * DAY
    db.execute("update recall.sessions set expires_at = %s where session_id = %s", [later, session])
    assert sweep_once(db, now() + 90 * DAY) == 0
    assert one(db, user)["expires_at"] == later + DAY


def test_a_kind_lives_no_longer_than_it_does(db: Connection, user: uuid.UUID) -> None:
    """However long its session goes on."""
    session = open_session(db, user)
    learn(db, user, session, kind="context")
    made, expires_at = (one(db, user)[key] for key in ("created_at", "expires_at"))
    db.execute("update recall.sessions set expires_at = %s where session_id = %s",
               [now() + 200 * DAY, session])  # fmt: skip
    assert sweep_once(db, expires_at - timedelta(hours=1)) == 0
    assert one(db, user)["expires_at"] == made + 90 * DAY
    assert sweep_once(db, made + 90 * DAY - timedelta(minutes=1)) == 0
    assert sweep_once(db, made + 90 * DAY) == 1


def test_an_expiry_of_its_own_stays(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    remember(db, user, "The build is red", p_provenance="tool_output", p_session_id=session,
             p_expires_at=now() + DAY)  # fmt: skip
    assert one(db, user)["scope"] == "local"
    assert sweep_once(db, now() + 2 * DAY) == 1


def test_close_session_settles_the_expiry_of_its_memories(db: Connection, user: uuid.UUID) -> None:
    session, other = open_session(db, user), open_session(db, user)
    learn(db, user, session)
    learn(db, user, session, content="User said he is tall", provenance="user_stated",
          confidence=0.9)  # fmt: skip
    learn(db, user, other, content="User likes rye")
    call(db, "close_session", p_user_id=user, p_session_id=session)
    tea, tall, rye = stored(db, user)
    assert timedelta(hours=23) < tea["expires_at"] - now() < timedelta(hours=25)
    assert tall["expires_at"] is None
    assert rye["expires_at"] > now() + 20 * DAY
    assert sweep_once(db, now() + timedelta(hours=25)) == 1
    assert stored(db, user)[0]["end_reason"] == "expired"


def test_a_session_taken_up_again(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    learn(db, user, session)
    call(db, "close_session", p_user_id=user, p_session_id=session)
    call(db, "resume_session", p_user_id=user, p_session_id=session)
    assert sweep_once(db, now() + timedelta(hours=25)) == 0
    assert one(db, user)["expires_at"] > now() + 29 * DAY


def test_episodic_memory_is_demoted_after_idle_time_by_its_accesses(
    db: Connection, user: uuid.UUID
) -> None:
    """3 accesses keep an episodic memory for 600 idle hours, 25 days; none: its life."""
    session = open_session(db, user)
    learn(db, user, session, kind="episode", provenance="system_inferred")
    assert sweep_once(db, now() + 89 * DAY) == 0, "never accessed: it lives its life"
    memory = one(db, user)["memory_id"]
    db.execute("update recall.memory_store set access_count = 3, relevance_accumulator = 1,"
               " last_accessed_at = created_at where user_id = %s", [user])  # fmt: skip
    start = one(db, user)["last_accessed_at"]
    assert sweep_once(db, start + 25 * DAY) == 0, "0.005 is not below 0.005"
    call(db, "record_access", p_user_id=user, p_memory_ids=[memory], p_relevance="{0.5}")
    call(db, "flush_access_log")
    assert sweep_once(db, start + 26 * DAY) == 0, "an access moves it on: 800 hours"
    assert sweep_once(db, start + 33 * DAY) == 0
    assert sweep_once(db, start + 34 * DAY) == 1
    assert last_event(db, user) == ("expired", {"because": "idle"})


def test_young_memories_are_not_demoted(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    learn(db, user, session, kind="episode", provenance="system_inferred")
    db.execute("update recall.memory_store set access_count = 1, relevance_accumulator = 1,"
               " last_accessed_at = created_at where user_id = %s", [user])  # fmt: skip
    start = one(db, user)["created_at"]
    assert sweep_once(db, start + 13 * DAY) == 0, "200 idle hours are past, but it is young"
    assert sweep_once(db, start + 14 * DAY + timedelta(seconds=1)) == 1


def test_unimportant_memory_decays_unless_it_is_used(db: Connection, user: uuid.UUID) -> None:
    weak = remember(db, user, "User once mentioned rain", p_importance=0.29)["memory_id"]
    edge = remember(db, user, "User once mentioned snow", p_importance=0.3)["memory_id"]
    touched = remember(db, user, "User once mentioned hail", p_importance=0.1)["memory_id"]
    db.execute("update recall.memory_store set access_count = 1, relevance_accumulator = 1,"
               " last_accessed_at = now() + interval '5 days'"
               " where memory_id = %s", [touched])  # fmt: skip
    start = now()
    assert sweep_once(db, start + 29 * DAY, "decay_memories") == 0
    at = start + 31 * DAY
    assert sweep_once(db, at, "decay_memories") == 1
    expiries = {row["memory_id"]: row["expires_at"] for row in stored(db, user)}
    assert expiries == {weak: at + 90 * DAY, edge: None, touched: None}
    assert sweep_once(db, start + 34 * DAY, "decay_memories") == 0
    assert sweep_once(db, start + 36 * DAY, "decay_memories") == 1
    assert last_event(db, user)[0] == "decayed"
    assert sweep_once(db, at + 89 * DAY) == 0
    assert sweep_once(db, at + 90 * DAY) == 1
    assert {row["memory_id"]: row["end_reason"] for row in stored(db, user)} == {
        weak: "expired", edge: None, touched: None}  # fmt: skip


def test_decay_after_months_ends_with_the_days_of_a_month(db: Connection, user: uuid.UUID) -> None:
    """A month after 31 January is 28 February, but a month before that is 28 January."""
    remember(db, user, "User once mentioned rain", p_importance=0.1)
    call(db, "configure_user", p_user_id=user, p_changes={"decay_idle": "1 month"})
    db.execute("update recall.memory_store set created_at = '2026-01-31 12:00+00'")
    before = value(db, "select memory_revision from recall.users where user_id = %s", [user])
    late = datetime(2026, 2, 28, 12, tzinfo=UTC)
    assert sweep_once(db, late - DAY, "decay_memories") == 0
    assert sweep_once(db, late, "decay_memories") == 1
    after = value(db, "select memory_revision from recall.users where user_id = %s", [user])
    assert after == before + 1, "it was looked at once"


def test_what_loses_importance_decays(db: Connection, user: uuid.UUID) -> None:
    memory = remember(db, user, "User wants to run a marathon", p_kind="goal")["memory_id"]
    assert sweep_once(db, now() + 31 * DAY, "decay_memories") == 0
    call(db, "achieve_goal", p_user_id=user, p_memory_id=memory)
    assert sweep_once(db, now() + 29 * DAY, "decay_memories") == 0
    assert sweep_once(db, now() + 31 * DAY, "decay_memories") == 1


def use(db: Connection, user: uuid.UUID, memory: uuid.UUID, how: str) -> None:
    """Use a memory: counted by the sweep, by feedback, by being said again."""
    match how:
        case "shown":
            call(db, "record_access", p_user_id=user, p_memory_ids=[memory], p_relevance="{0.4}")
            call(db, "flush_access_log")
        case "reinforced":
            call(db, "reinforce_memory", p_user_id=user, p_memory_id=memory, p_useful=True)
        case "said again":
            remember(db, user, "User once mentioned rain!", p_importance=0.1)
        case "learnt again, for a time":
            learn(db, user, open_session(db, user), content="User once mentioned rain",
                  importance=0.1, provenance="tool_output")  # fmt: skip


@pytest.mark.parametrize("how", ["shown", "reinforced", "said again", "learnt again, for a time"])
def test_what_decays_and_is_used_again_lives_on(db: Connection, user: uuid.UUID, how: str) -> None:
    memory = remember(db, user, "User once mentioned rain", p_importance=0.1)["memory_id"]
    other = remember(db, user, "User once mentioned hail", p_importance=0.1)["memory_id"]
    at = now() + 31 * DAY
    assert sweep_once(db, at, "decay_memories") == 2
    assert [row["expires_at"] for row in stored(db, user)] == [at + 90 * DAY] * 2
    use(db, user, memory, how)
    used, idle = stored(db, user)
    assert (used["expires_at"], used["is_decaying"]) == (None, False)
    assert (idle["expires_at"], idle["is_decaying"]) == (at + 90 * DAY, True)
    events = rows(db, "select memory_id from recall.memory_events where event = 'revived'")
    assert events == [{"memory_id": memory}]
    assert sweep_once(db, at + 90 * DAY) == 1
    assert [row["end_reason"] for row in stored(db, user)] == [None, "expired"]
    # it decays anew, a month after that use
    assert sweep_once(db, used["last_accessed_at"] + 29 * DAY, "decay_memories") == 0
    assert sweep_once(db, at + 90 * DAY, "decay_memories") == 1
    # what somebody restores was missed
    call(db, "restore_memory", p_user_id=user, p_memory_id=other)
    assert stored(db, user)[-1]["expires_at"] is None


def test_an_edit_or_a_successor_does_not_decay(db: Connection, user: uuid.UUID) -> None:
    edited = remember(db, user, "User once mentioned rain", p_importance=0.1)["memory_id"]
    remember(db, user, "User is at Acme", p_slot="employer", p_importance=0.1)
    assert sweep_once(db, now() + 31 * DAY, "decay_memories") == 2
    call(db, "supersede_memory", p_user_id=user, p_memory_id=edited,
         p_content="User often mentions rain")  # fmt: skip
    learn(db, user, open_session(db, user), content="User is at Initech", slot="employer",
          provenance="user_stated", confidence=0.5)  # fmt: skip
    assert [(row["expires_at"], row["is_decaying"]) for row in stored(db, user)
            if row["is_active"]] == [(None, False)] * 2  # fmt: skip


def test_an_expiry_that_is_no_decay_stays(db: Connection, user: uuid.UUID) -> None:
    at = now() + DAY
    memory = remember(db, user, "User once mentioned rain", p_importance=0.1,
                      p_expires_at=at)["memory_id"]  # fmt: skip
    use(db, user, memory, "reinforced")
    assert one(db, user)["expires_at"] == at
    with pytest.raises(psycopg.errors.CheckViolation):
        db.execute("update recall.memory_store set expires_at = null, is_decaying = true"
                   " where memory_id = %s", [memory])  # fmt: skip


def test_decay_follows_the_settings_of_the_user(db: Connection, user: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"decay_idle": "2 days"})
    remember(db, user, "User once mentioned rain", p_importance=0.1)
    other = uuid.uuid4()
    remember(db, other, "User once mentioned rain", p_importance=0.1)
    assert sweep_once(db, now() + 3 * DAY, "decay_memories") == 1
    assert one(db, other)["expires_at"] is None


@pytest.mark.slow
def test_three_months_without_maintenance(db: Connection) -> None:
    """It catches up in batches, and says so."""
    users = [uuid.uuid4() for _ in range(40)]
    for user in users:
        session = open_session(db, user)
        append(db, user, session, said("hello"))
        for n in range(5):
            learn(db, user, session, content=f"User said {n}")
        remember(db, user, "User once mentioned rain", p_importance=0.1)
    at = now() + 92 * DAY
    for task, expected in (("expire_memories", 200), ("decay_memories", 40),
                           ("expire_sessions", 40)):  # fmt: skip
        done, calls = 0, 0
        while True:
            (row,) = call(db, task, p_limit=30, p_as_of=at)
            assert row["done"] <= 30
            done, calls = done + row["done"], calls + 1
            if not row["more"]:
                break
        assert done >= expected
        assert calls >= expected // 30
    left = rows(db, "select count(*) as n from recall.memory_store where expires_at < %s"
                    " and ended_at is null", [at])  # fmt: skip
    assert left == [{"n": 0}]


@pytest.mark.concurrent
@pytest.mark.slow
def test_three_months_are_made_up_for_beside_writers(
    db: Connection, dsn: str, connect: Connect
) -> None:
    """Maintenance did not run for three months; a worker goes through the backlog in short
    transactions, while others read, write and append as ever."""
    users = [uuid.uuid4() for _ in range(40)]
    sessions = {}
    for user in users:
        sessions[user] = open_session(db, user)
        append(db, user, sessions[user], said("hello"), None, uuid.uuid4())
        for n in range(5):
            learn(db, user, sessions[user], content=f"User said {n}")
        memory = remember(db, user, "User once mentioned rain", p_importance=0.1)["memory_id"]
        call(db, "record_access", p_user_id=user, p_memory_ids=[memory], p_relevance="{0.5}")
        call(db, "put_working", p_user_id=user, p_session_id=sessions[user], p_task_id="t",
             p_key="k", p_value={"x": 1})  # fmt: skip
    quarter = timedelta(days=92)
    for table, columns in {
        "memory_store": ("created_at", "updated_at", "observed_at", "expires_at", "check_at"),
        "memory_access_log": ("accessed_at",), "working_memory": ("expires_at",),
        "append_receipts": ("created_at",), "sessions": ("expires_at",),
        "maintenance_tasks": ("last_run_at",),
    }.items():  # fmt: skip
        moved = ", ".join(f"{column} = {column} - %(ago)s" for column in columns)
        db.execute(f"update recall.{table} set {moved}".encode(), {"ago": quarter})
    call(db, "configure", p_changes={"maintenance_lock_time": "0 seconds"})
    waits: list[float] = []
    is_done = threading.Event()

    def live(conn: Connection) -> None:
        session = open_session(conn, users[0])
        while not is_done.is_set():
            for user in users[:10]:
                started = time.monotonic()
                remember(conn, user, f"User likes tea number {len(waits)}")
                append(conn, users[0], session, said("and on it goes"))
                call(conn, "search", p_user_id=user, p_query="tea")
                waits.append(time.monotonic() - started)

    def catch_up() -> list[Any]:
        try:
            with AgentMemory.connect(dsn, embedder=False) as agent:
                return agent.worker().maintain(seconds=60)
        finally:
            is_done.set()

    writers = [connect() for _ in range(2)]
    try:
        results = together([catch_up, *(lambda w=w: live(w) for w in writers)])
    finally:
        call(db, "configure", p_changes={"maintenance_lock_time": "1 minute"})
    raise_errors(results)
    runs = results[0]
    assert not [run for run in runs if "error" in run.result]
    assert len([run for run in runs if run.task == "expire_memories"]) > 3, "in many batches"
    left = rows(
        db,
        "select task from recall.maintenance_tasks"
        " where last_run_at < now() - interval '1 hour' or last_result ? 'error'"
        " or (last_result ->> 'more')::boolean"
        " and task <> 'enqueue_missing_embeddings'",
    )  # which the writers leave more to
    assert left == []
    decaying = value(db, "select count(*) from recall.memory_store where is_decaying")
    assert decaying > 30
    for task in ("flush_access_log", "expire_sessions", "expire_memories", "decay_memories"):
        sweep_all(db, task)  # whose row a writer held has his turn at the next run
    (found,) = rows(
        db,
        "select (select count(*) from recall.memory_store where ended_at is null"
        " and expires_at < now()) as memories,"
        " (select count(*) from recall.memory_store where is_decaying) as decaying,"
        " (select count(*) from recall.sessions where status = 'active' and expires_at < now())"
        " as sessions, (select count(*) from recall.working_memory) as working,"
        " (select count(*) from recall.memory_access_log) as accesses,"
        " (select count(*) from recall.append_receipts) as receipts",
    )
    assert found == {"memories": 0, "decaying": 40, "sessions": 0, "working": 0, "accesses": 0,
                     "receipts": 0}  # fmt: skip
    assert len(waits) > 20
    assert max(waits) < 2, "nobody is stalled"


@pytest.mark.concurrent
def test_sweeps_at_once_with_a_writer(db: Connection, connect: Connect) -> None:
    """Four sweeps, a writer who holds one user, and one who is refused nothing."""
    users = [uuid.uuid4() for _ in range(30)]
    expiry = now() + DAY
    for user in users:
        for n in range(3):
            remember(db, user, f"User is in room {n}", p_expires_at=expiry)
    holder = connect(autocommit=False)
    remember(holder, users[0], "User likes tea")
    sweeps = [connect() for _ in range(4)]
    writer = connect()
    results = together(
        [lambda w=w: call(w, "expire_memories", p_as_of=expiry) for w in sweeps]
        + [lambda: [remember(writer, user, "User likes rye") for user in users[1:]]]
    )
    raise_errors(results)
    (row,) = call(db, "expire_memories", p_as_of=expiry)
    assert row["more"] is True, "somebody is held"
    active = rows(db, "select count(*) as n from recall.memory_store where ended_at is null"
                      " and expires_at = %s", [expiry])  # fmt: skip
    assert active == [{"n": 3}]
    holder.commit()
    assert call(db, "expire_memories", p_as_of=expiry) == [{"done": 3, "more": False}]
    ended = rows(db, "select count(*) as n from recall.memory_events where event = 'expired'"
                     " and user_id = any (%s)", [users])  # fmt: skip
    assert ended == [{"n": 90}]
