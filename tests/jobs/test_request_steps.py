"""Each step of recall.next_request to its end: what it asks and stores, and what a crash costs."""

from __future__ import annotations

import itertools
import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from support import (
    EMBEDDING_MODEL,
    append,
    ask,
    call,
    open_session,
    raise_errors,
    rows,
    together,
    value,
)
from support.requests import answered, claim
from support.steps import (
    BOXES,
    DECISIONS,
    STEPS,
    TALK,
    Request,
    Step,
    box,
    done,
    make_verbatim,
    stored,
    unasked,
    user_part,
)

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]


@pytest.fixture(autouse=True)
def alone(db: Connection) -> Iterator[None]:
    db.execute("delete from recall.jobs")
    yield
    db.execute("delete from recall.jobs")


# --- extract


# --- summaries


# --- merges and patterns


# --- vectors


EXPECTED: dict[str, Callable[[dict[str, Any]], None]] = {}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_to_its_end(db: Connection, user: uuid.UUID, name: str) -> None:
    step = STEPS[name]
    step.make(db, user)
    seen, end = done(db, step)
    assert [request["purpose"] for request in seen] == step.asked, end
    assert end["type"] == "done"
    found = stored(db, user)
    contents = {row["content"]: row for row in found["memories"]}
    if name == "extract":
        for number in range(BOXES):
            decision = DECISIONS[number % 4]
            before, after = contents[box(number, "box")], contents.get(box(number, "crate"))
            assert (after is not None) == (decision in ("UPDATE", "ADD")), number
            assert before["end_reason"] == {"UPDATE": "superseded", "DELETE": "retracted"}.get(
                decision
            ), number
        assert contents["Items were moved."]["kind"] == "episode"
        assert found["sessions"][0]["extracted_through_turn"] == 8
    elif name in ("summarize", "compact"):
        (summary,) = found["summaries"]
        assert summary["has_vector"]
        parts = [tuple(map(int, part)) for part in
                 re.findall(r"(\d+)-(\d+),", summary["content"])]  # fmt: skip
        assert parts[0][0] == 1
        assert parts[-1][1] == summary["to_turn"]
        assert all(one[1] + 1 == next_[0] for one, next_ in itertools.pairwise(parts))
        assert len(parts) == len(step.asked) - 1
    elif name == "merge":
        assert contents["User likes green tea."]["has_vector"]
        assert [row["end_reason"] for row in found["memories"]].count(None) == 2
    elif name == "pattern":
        (pattern,) = (row for row in found["memories"] if row["kind"] == "pattern")
        assert re.fullmatch(
            r"User has recurring printer issues. Previous solutions: restart"
            r" \(\d{4}-\d\d-\d\d\).", pattern["content"])  # fmt: skip
        assert (pattern["tags"], pattern["has_vector"]) == (["printer"], True)
    else:
        assert len(contents) == 5
        assert all(row["has_vector"] for row in found["memories"])


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.slow
def test_each_answer_twice_in_every_order(db: Connection, user: uuid.UUID, name: str) -> None:
    """A repeated call changes nothing and returns the request in flight."""
    step, other = STEPS[name], uuid.uuid4()
    step.make(db, other)
    done(db, step)
    db.execute("delete from recall.jobs where user_id = %s and state = 'running'", [other])
    left = stored(db, other)
    db.execute("delete from recall.jobs")

    step.make(db, user)
    job = claim(db, step.kind)
    answers: list[Request] = []
    request = ask(db, job, **step.worker)
    while request["type"] in ("chat", "embed"):
        for late in (*answers, None, *reversed(answers)):
            assert ask(db, job, late, **step.worker) == request
        answers.append(answered(request, step.script))
        request = ask(db, job, answers[-1], **step.worker)
    assert request["type"] == "done"
    for late in (*answers, None):
        assert ask(db, job, late, **step.worker) == {"type": "gone"}
    assert stored(db, user) == left


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.slow
def test_a_crash_between_any_two_requests(
    db: Connection, connect: Connect, user: uuid.UUID, name: str
) -> None:
    """The server's backend dies with an answer in a transaction, then the worker: the next worker
    repeats one request at most, and what is stored is the same."""
    step = STEPS[name]
    step.make(db, user)
    seen, _ = done(db, step)
    left = stored(db, user)
    for place in range(len(seen)):
        db.execute("delete from recall.jobs")
        unlucky = uuid.uuid4()
        step.make(db, unlucky)
        job, asked = claim(db, step.kind), []
        request = ask(db, job, **step.worker)
        while request["type"] in ("chat", "embed"):
            asked.append(request["messages"] if request["type"] == "chat" else request["inputs"])
            answer = answered(request, step.script)
            if len(asked) == place + 1:
                with psycopg.connect(connect().info.dsn) as victim:
                    ask(victim, job, answer, **step.worker)
                    db.execute("select pg_terminate_backend(%s, 5000)", [victim.info.backend_pid])
                    with pytest.raises(psycopg.OperationalError):
                        victim.commit()
                assert ask(db, job, **step.worker) == request
                db.execute("update recall.jobs set lease_until = now() where job_id = %s",
                           [job["job_id"]])  # fmt: skip
                call(db, "release_expired_leases")
                db.execute("update recall.jobs set run_at = now()")
                old, job = job, claim(db, step.kind)
                assert ask(db, old, answer, **step.worker) == {"type": "gone"}
                request = ask(db, job, **step.worker)
                asked.append(None)
                continue
            request = ask(db, job, answer, **step.worker)
        assert request["type"] == "done"
        texts = [item for item in asked if item is not None]
        assert len(texts) == len(seen) + 1, "one request was repeated"
        assert texts[place] == texts[place + 1]
        found = stored(db, unlucky)
        assert found["spans"] == left["spans"], place
        assert found == left, place


@pytest.mark.concurrent
def test_two_workers_of_one_job(db: Connection, connect: Connect, user: uuid.UUID) -> None:
    """Both have the token, and answer the same request at the same moment: one answer counts."""
    step = STEPS["summarize"]
    step.make(db, user)
    job = claim(db, step.kind)
    conns = [connect() for _ in range(3)]
    request = ask(db, job, **step.worker)
    while request["type"] in ("chat", "embed"):
        answer = answered(request, step.script)
        found = together([lambda c=c, a=answer: ask(c, job, a, **step.worker) for c in conns])
        raise_errors(found)
        kinds = {next_["type"] for next_ in found}
        assert kinds in ({"chat"}, {"embed"}, {"done", "gone"})
        request = next(next_ for next_ in found if next_["type"] != "gone")
        if request["type"] != "done":
            assert found == [request] * 3
    assert len(rows(db, "select from recall.job_phases where user_id = %s", [user])) == 5


@pytest.mark.concurrent
def test_two_users_at_once(db: Connection, connect: Connect) -> None:
    users = [uuid.uuid4() for _ in range(2)]
    for name in ("extract", "merge"):
        step = STEPS[name]
        for user in users:
            step.make(db, user)
        conns = [connect() for _ in users]
        lock = threading.Lock()

        def go(conn: Connection, step: Step = step, lock: Any = lock) -> None:
            with lock:
                job = claim(conn, step.kind)
            request = ask(conn, job, **step.worker)
            while request["type"] in ("chat", "embed"):
                request = ask(conn, job, answered(request, step.script), **step.worker)
            assert request["type"] == "done"

        raise_errors(together([lambda c=c: go(c) for c in conns]))
        first, second = (stored(db, user) for user in users)
        assert first == second


@pytest.mark.concurrent
def test_an_answer_in_a_snapshot_of_before(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    """Repeatable read: what another has answered since is a serialization failure, not an echo."""
    step = STEPS["summarize"]
    step.make(db, user)
    job = claim(db, step.kind)
    request = ask(db, job, **step.worker)
    late = connect(autocommit=False)
    late.execute("set transaction isolation level repeatable read")
    late.execute("select from recall.settings")
    answer = answered(request, step.script)
    after = ask(db, job, answer, **step.worker)
    with pytest.raises(psycopg.errors.SerializationFailure):
        ask(late, job, answer, **step.worker)
    late.rollback()
    late.execute("set transaction isolation level repeatable read")
    assert ask(late, job, answer, **step.worker) == after
    late.commit()


def test_a_transaction_of_one_user_reaches_no_others_job(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    step = STEPS["merge"]
    step.make(db, user)
    job = claim(db, step.kind)
    request = ask(db, job)
    worker = connect(autocommit=False)
    worker.execute("select set_config('recall.user_id', %s, true)", [str(uuid.uuid4())])
    with pytest.raises(psycopg.Error) as found:
        ask(worker, job, answered(request, step.script))
    assert (found.value.sqlstate or "").startswith("RC"), found.value
    worker.rollback()
    worker.execute("select set_config('recall.user_id', %s, true)", [str(user)])
    assert ask(worker, job, answered(request, step.script))["type"] == "embed"
    worker.commit()
    assert value(db, "select count(*) from recall.job_phases where user_id = %s", [user]) == 1


# --- what changes while a model works


def turns_read(request: Request) -> int:
    """Return the last turn that a prompt shows."""
    return max(map(int, re.findall(r"^\[(\d+)\]", user_part(request), re.MULTILINE)))


def test_turns_appended_to_a_compaction_do_not_start_it_anew(
    db: Connection, user: uuid.UUID
) -> None:
    step = STEPS["compact"]
    step.make(db, user)
    job = claim(db, step.kind)
    request, seen = ask(db, job), []
    while request["type"] in ("chat", "embed"):
        seen.append(request)
        append(db, user, job["session_id"], [{"role": "user", "content": TALK},
                                             {"role": "assistant", "content": TALK}])  # fmt: skip
        request = ask(db, job, answered(request, step.script))
    assert request["type"] == "done"
    assert [one["purpose"] for one in seen] == ["compact", "embed"]
    assert stored(db, user)["sessions"][0]["compacted_through_turn"] == turns_read(seen[0])


def test_a_compaction_of_other_turns_is_not_stored(db: Connection, user: uuid.UUID) -> None:
    """The window moves before the vector comes, or before the second part of the turns."""
    for worker in ({}, STEPS["compact"].worker):
        step = STEPS["compact"]
        step.make(db, user)
        job = claim(db, step.kind)
        request = ask(db, job, **worker)
        if not worker:
            request = ask(db, job, answered(request, step.script))
        db.execute("update recall.sessions set compacted_through_turn = 2 where session_id = %s",
                   [job["session_id"]])  # fmt: skip
        moved = ask(db, job, answered(request, step.script), **worker)
        assert (moved["type"], moved["reason"]) == ("deferred", "the session moved on")
        assert stored(db, user)["summaries"] == []
        db.execute("delete from recall.jobs")


def test_messages_appended_to_an_embed_job_are_anothers(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, [{"role": "user", "content": "I play the cello."}])
    job = claim(db, "embed")
    request = ask(db, job)
    assert request["inputs"] == ["user: I play the cello."]
    append(db, user, session, [{"role": "user", "content": "And the piano."}])
    assert ask(db, job, answered(request, unasked))["outcome"] == {"kind": "embed", "items": 1}
    rest = ask(db, claim(db, "embed"))
    assert rest["inputs"] == ["user: And the piano."]


def test_an_embed_job_asks_a_new_model_for_the_last_batch(db: Connection, user: uuid.UUID) -> None:
    """The answer of the old model ends nothing: none of its vectors is of use."""
    step = STEPS["embed"]
    step.make(db, user)
    job = claim(db, "embed")
    request = ask(db, job)
    other = {"embedding_model": "openai:another"}
    try:
        db.execute("update recall.settings set embedding_model = 'openai:another'")
        anew = ask(db, job, answered(request, unasked), **other)
        assert (anew["inputs"], anew["model"]) == (request["inputs"], "openai:another")
        assert ask(db, job, answered(anew, unasked), **other)["outcome"]["items"] == 5
    finally:
        db.execute("update recall.settings set embedding_model = %s", [EMBEDDING_MODEL])


@pytest.mark.parametrize(
    ("setting", "items"), [("verbatim_min_words", 5), ("memory_max_characters", 0)]
)
def test_statements_are_chosen_once(
    db: Connection, user: uuid.UUID, setting: str, items: int
) -> None:
    """A setting that would choose others later changes nothing; one that forbids them does."""
    make_verbatim(db, user, f"Bicycle {{}} stands in the garden{' by the old wall' * 12}.")
    job = claim(db, "extract")
    request = ask(db, job, embed_batch=2)
    db.execute("select recall.configure_user(%s, %s::jsonb)", [user, json.dumps({setting: 100})])
    while request["type"] == "embed":
        request = ask(db, job, answered(request, unasked), embed_batch=2)
    if not items:
        assert request["reason"] == "the session moved on"
        request = ask(db, claim(db, "extract"))
    assert request == {"type": "done", "outcome": {"kind": "extract", "items": items}}
