"""Promotion by use, at the borders of its formula.

U = mean relevance · log2(1 + accesses) / (1 + λ · age in hours). Three accesses of relevance 1 make
U = 2 / (1 + 0.01 · h): above 0.3 until the hour 566 ⅔. Ten of relevance 0.2 make
U = 0.69189 / (1 + 0.001 · h): above 0.5 until the hour 383.77.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from support import (
    append,
    call,
    open_session,
    raise_errors,
    rows,
    said,
    together,
    value,
    wait_for_lock,
)
from support.memories import stored, vector

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

KINDS = {
    "fact": "semantic", "preference": "procedural", "goal": "semantic", "decision": "semantic",
    "context": "semantic", "feedback": "procedural", "personal": "semantic",
    "instruction": "procedural",
}  # fmt: skip
MINUTE = 1 / 60


def learn(
    conn: Connection, user: uuid.UUID, content: str = "User likes tea", **fields: Any
) -> uuid.UUID:
    """Make a memory of session tier, local to its session unless told otherwise."""
    session = open_session(conn, user)
    candidate = {"content": content, "provenance": "fact", "source": "conversation"} | fields
    (row,) = call(conn, "ingest_memories", p_user_id=user, p_session_id=session,
                  p_candidates=[candidate])  # fmt: skip
    memory: uuid.UUID = row["memory_id"]
    return memory


def access(
    conn: Connection, user: uuid.UUID, memory: uuid.UUID, times: int, relevance: float = 1.0
) -> None:
    call(conn, "record_access", p_user_id=user, p_memory_ids=[memory] * times,
         p_relevance=f"{{{','.join([str(relevance)] * times)}}}")  # fmt: skip
    call(conn, "flush_access_log")


def one(conn: Connection, user: uuid.UUID) -> dict[str, Any]:
    (row,) = stored(conn, user)
    return row


def promote(conn: Connection, user: uuid.UUID, hours: float = 0.0) -> str:
    """Run the sweep when the user's one memory is so old; return its tier then."""
    at = one(conn, user)["created_at"] + timedelta(hours=hours) if hours else None
    call(conn, "promote_memories", p_as_of=at)
    tier: str = one(conn, user)["tier"]
    return tier


def make_episodic(conn: Connection, user: uuid.UUID, **fields: Any) -> uuid.UUID:
    memory = learn(conn, user, **fields)
    access(conn, user, memory, 3, 0.2)
    assert promote(conn, user) == "episodic"
    return memory


def events(conn: Connection, user: uuid.UUID) -> list[tuple[str, dict[str, Any]]]:
    found = rows(conn, "select event, detail from recall.memory_events where user_id = %s"
                       " order by at, event_no", [user])  # fmt: skip
    return [(row["event"], row["detail"]) for row in found]


@pytest.mark.parametrize("kind", KINDS)
def test_from_session_to_episodic(db: Connection, user: uuid.UUID, kind: str) -> None:
    memory = learn(db, user, kind=kind)
    access(db, user, memory, 2)
    assert not one(db, user)["promotion_due"]
    assert promote(db, user) == "session", "two accesses are not enough"
    access(db, user, memory, 1)
    assert one(db, user)["promotion_due"]
    # the flag is no more than a hint: the sweep looks at its own moment
    assert promote(db, user, 566 + 41 * MINUTE) == "session", "U is just under"
    assert not one(db, user)["promotion_due"]
    access(db, user, memory, 1, 1.0)
    before = one(db, user)
    assert before["promotion_due"], "the next access may be the one"
    assert (before["scope"], before["is_validated"]) == ("local", False)
    assert promote(db, user) == "episodic"
    row = one(db, user)
    assert (row["scope"], row["session_id"], row["is_validated"]) == ("global", None, True)
    assert row["source_session_id"] == before["source_session_id"]
    assert timedelta(days=89) < row["expires_at"] - before["created_at"] < timedelta(days=91)
    assert not row["promotion_due"]
    assert events(db, user)[-1] == (
        "promoted",
        {"from": "session", "to": "episodic", "accesses": 4},
    )
    assert call(db, "promote_memories") == [{"done": 0, "more": False}]


def test_memory_just_over_the_utility_limit_is_promoted(db: Connection, user: uuid.UUID) -> None:
    memory = learn(db, user)
    access(db, user, memory, 3)
    assert promote(db, user, 566 + 39 * MINUTE) == "episodic"


@pytest.mark.parametrize(("kind", "tier"), KINDS.items())
def test_episodic_memory_is_promoted_at_ten_accesses(
    db: Connection, user: uuid.UUID, kind: str, tier: str
) -> None:
    memory = make_episodic(db, user, kind=kind)
    access(db, user, memory, 6, 0.2)
    assert one(db, user)["access_count"] == 9
    assert promote(db, user) == "episodic", "nine accesses are not enough"
    access(db, user, memory, 1, 0.2)
    assert promote(db, user, 383 + 47 * MINUTE) == "episodic", "U is just under"
    access(db, user, memory, 1, 0.2)
    assert promote(db, user) == tier
    row = one(db, user)
    assert (row["is_validated"], row["scope"]) == (True, "global")
    # what the kind itself says will pass does so, however much it is used
    ends = row["created_at"] + timedelta(days=90) if kind == "context" else None
    assert row["expires_at"] == ends
    assert events(db, user)[-1][1] == {"from": "episodic", "to": tier, "accesses": 11}


def test_an_episode_that_is_used_stays(db: Connection, user: uuid.UUID) -> None:
    (row,) = call(db, "remember", p_user_id=user, p_content="They fixed the build by hand",
                  p_kind="episode")  # fmt: skip
    assert one(db, user)["expires_at"] is not None
    access(db, user, row["memory_id"], 10)
    assert promote(db, user) == "semantic"
    assert one(db, user)["expires_at"] is None


def test_utility_just_over_for_good(db: Connection, user: uuid.UUID) -> None:
    memory = make_episodic(db, user)
    access(db, user, memory, 7, 0.2)
    assert promote(db, user, 383 + 45 * MINUTE) == "semantic"


def test_one_step_at_a_time(db: Connection, user: uuid.UUID) -> None:
    memory = learn(db, user, kind="preference")
    access(db, user, memory, 10)
    assert promote(db, user) == "episodic"
    assert one(db, user)["promotion_due"], "it has earned the next step too"
    assert promote(db, user) == "procedural"
    access(db, user, memory, 50)
    assert not one(db, user)["promotion_due"], "the end of it"


def test_accesses_of_little_relevance_do_not_promote(db: Connection, user: uuid.UUID) -> None:
    """Accesses of little relevance do not promote; a later, relevant one can."""
    memory = learn(db, user)
    access(db, user, memory, 5, 0.1)
    assert (promote(db, user), one(db, user)["promotion_due"]) == ("session", False)
    access(db, user, memory, 1, 1.0)
    # (0.5 + 1) / 6 · log2(7) = 0.70
    assert promote(db, user) == "episodic"


@pytest.mark.parametrize("provenance", ["tool_output", "system_inferred"])
def test_tools_and_inferences_stay(db: Connection, user: uuid.UUID, provenance: str) -> None:
    memory = learn(db, user, provenance=provenance)
    access(db, user, memory, 30)
    assert (promote(db, user), one(db, user)["promotion_due"]) == ("session", False)
    # a flag that somebody else has set changes nothing
    db.execute("update recall.memory_store set promotion_due = true where user_id = %s", [user])
    assert (promote(db, user), one(db, user)["promotion_due"]) == ("session", False)


def test_an_episode_lives_its_life(db: Connection, user: uuid.UUID) -> None:
    memory = learn(db, user, kind="episode", provenance="system_inferred")
    access(db, user, memory, 20)
    assert promote(db, user) == "episodic"
    assert call(db, "promote_memories") == [{"done": 0, "more": False}]


def test_what_the_user_confirms_is_his(db: Connection, user: uuid.UUID) -> None:
    """Said by the user in the same words, a tool's memory may rise: his word makes it durable."""
    learn(db, user, provenance="tool_output")
    call(db, "remember", p_user_id=user, p_content="User likes tea")
    assert (one(db, user)["tier"], one(db, user)["provenance"]) == ("semantic", "user_stated")


def test_repetition_and_feedback_promote(db: Connection, user: uuid.UUID) -> None:
    memory = learn(db, user)
    session = open_session(db, user)
    for _ in range(2):
        call(db, "ingest_memories", p_user_id=user, p_session_id=session, p_candidates=[
            {"content": "User likes tea", "provenance": "fact"}])  # fmt: skip
    call(db, "reinforce_memory", p_user_id=user, p_memory_id=memory, p_useful=True)
    assert one(db, user)["access_count"] == 3
    assert promote(db, user) == "episodic"


def test_what_has_expired_stays_down(db: Connection, user: uuid.UUID) -> None:
    memory = learn(db, user)
    access(db, user, memory, 3)
    db.execute("update recall.memory_store set expires_at = now() where user_id = %s", [user])
    assert promote(db, user) == "session"


def test_promotion_follows_the_settings_of_the_user(db: Connection, user: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"episodic_promotion_accesses": 1})
    access(db, user, learn(db, user), 1)
    assert promote(db, user) == "episodic"
    other = uuid.uuid4()
    access(db, other, learn(db, other), 1)
    assert promote(db, other) == "session"


def test_promote_memories_processes_at_most_its_limit(db: Connection) -> None:
    users = [uuid.uuid4() for _ in range(5)]
    for user in users:
        for n in range(2):
            access(db, user, learn(db, user, f"fact {n}"), 3)
    steps = []
    while True:
        (row,) = call(db, "promote_memories", p_limit=3)
        steps.append(row["done"])
        if not row["more"]:
            break
    assert (sum(steps), max(steps)) == (10, 3)
    assert call(db, "promote_memories", p_limit=0) == [{"done": 0, "more": False}]


@pytest.mark.concurrent
@pytest.mark.parametrize("locked", [0, 1])
def test_a_locked_user_does_not_fill_the_batch_of_promotions(
    db: Connection, connect: Connect, locked: int
) -> None:
    users = sorted(uuid.uuid4() for _ in range(2))
    for user in users:
        for n in range(5):
            access(db, user, learn(db, user, f"fact {n}"), 3)
    holder = connect(autocommit=False)
    holder.execute("select from recall.users where user_id = %s for update", [users[locked]])
    assert call(db, "promote_memories", p_limit=3) == [{"done": 3, "more": True}]
    assert call(db, "promote_memories", p_limit=3) == [{"done": 2, "more": True}]
    holder.rollback()
    assert call(db, "promote_memories") == [{"done": 5, "more": False}]


@pytest.mark.concurrent
def test_superseded_while_the_sweep_waits(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    """The sweep has seen the flag; when it gets the user's row, the memory is another one."""
    memory = learn(db, user)
    access(db, user, memory, 3)
    other = uuid.uuid4()
    access(db, other, learn(db, other), 3)
    writer = connect(autocommit=False)
    call(writer, "supersede_memory", p_user_id=user, p_memory_id=memory, p_content="He likes rye")
    (row,) = call(db, "promote_memories")
    assert row["done"] == 1, "the other user does not wait"
    writer.commit()
    call(db, "promote_memories")
    old, new = stored(db, user)
    assert (old["tier"], old["end_reason"]) == ("session", "superseded")
    assert new["promotion_due"] is False
    assert "promoted" not in [event for event, _ in events(db, user)]


@pytest.mark.concurrent
def test_superseded_after_the_sweep_has_read_who_is_due(db: Connection, connect: Connect) -> None:
    """It waits amid its batch, for a memory of the first user; the second's ends meanwhile."""
    first, second = sorted(uuid.uuid4() for _ in range(2))
    memories = {}
    for user in (first, second):
        memories[user] = learn(db, user)
        access(db, user, memories[user], 3)
    holder, sweeper = connect(autocommit=False), connect()
    holder.execute("select from recall.memory_store where user_id = %s for update", [first])
    done: list[dict[str, Any]] = []
    sweep = threading.Thread(target=lambda: done.extend(call(sweeper, "promote_memories")))
    sweep.start()
    wait_for_lock(db, sweeper.info.backend_pid)
    call(db, "supersede_memory", p_user_id=second, p_memory_id=memories[second],
         p_content="He likes rye")  # fmt: skip
    holder.rollback()
    sweep.join(60)
    assert done[0]["done"] == 1, "the first user's, which the sweep had waited for"
    assert one(db, first)["tier"] == "episodic"
    (old,) = (row for row in stored(db, second) if row["memory_id"] == memories[second])
    assert (old["tier"], old["end_reason"]) == ("session", "superseded")
    assert "promoted" not in [event for event, _ in events(db, second)]


@pytest.mark.concurrent
def test_two_sweeps_at_once(db: Connection, connect: Connect) -> None:
    users = [uuid.uuid4() for _ in range(30)]
    for user in users:
        access(db, user, learn(db, user), 4)
    workers = [connect() for _ in range(4)]
    results = together([lambda w=w: call(w, "promote_memories", p_limit=20) for w in workers])
    raise_errors(results)
    while call(db, "promote_memories")[0]["done"]:
        pass
    assert value(
        db, "select count(*) from recall.memory_events where event = 'promoted'"
            " and user_id = any (%s)", [users]
    ) == len(users)  # fmt: skip


def test_it_finds_by_words_and_vector_as_before(db: Connection, user: uuid.UUID) -> None:
    """A promoted memory keeps its vector, and is found from every session then."""
    session = open_session(db, user)
    append(db, user, session, said("tea, please"))
    call(db, "ingest_memories", p_user_id=user, p_session_id=session, p_candidates=[
        {"content": "User likes tea", "provenance": "fact", "embedding": vector(1)}])  # fmt: skip
    found = {"p_user_id": user, "p_query_embedding": vector(1)}
    assert call(db, "search", **found) == []
    access(db, user, one(db, user)["memory_id"], 3)
    assert promote(db, user) == "episodic"
    assert [row["content"] for row in call(db, "search", **found)] == ["User likes tea"]
