"""The queue: claims, leases, what a finished job does, and what nothing may change."""

from __future__ import annotations

import random
import re
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import (
    EMBEDDING_MODEL,
    answer_to,
    append,
    ask,
    call,
    do_job,
    job_rows,
    open_session,
    plan_nodes,
    raise_errors,
    refused,
    rows,
    said,
    session_row,
    together,
    value,
    wait_for_lock,
)
from support.queue import Job, claim, held, now
from support.scripted_model import fact
from support.servers import DIMENSIONS

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]


@pytest.fixture(autouse=True)
def queue(db: Connection) -> Iterator[None]:
    """An empty queue before each test: claims look at all users."""
    db.execute("delete from recall.jobs")
    return


@pytest.fixture
def verbatim(db: Connection, user: uuid.UUID) -> uuid.UUID:
    """A session of a user whose memories are drawn without a model."""
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    return open_session(db, user)


def enqueue(conn: Connection, user: uuid.UUID, kind: str = "extract", **more: Any) -> Any:
    return call(conn, "enqueue_job", p_user_id=user, p_kind=kind, **more)[0]["enqueue_job"]


def claim_one(conn: Connection, kind: str, **more: Any) -> Job:
    (job,) = claim(conn, p_kinds=[kind], **more)
    return job


def finish(conn: Connection, job: Job, answers: Any = None, **worker: Any) -> bool:
    """Do a job with scripted answers; return whether it came to its end."""
    return do_job(conn, job, answers, **worker)["type"] == "done"


def fail(conn: Connection, job: Job, error: str | None = "boom", **more: Any) -> bool:
    return call(conn, "fail_job", **held(job), p_error=error, **more)[0]["fail_job"]


def extend(conn: Connection, job: Job, lease: timedelta = timedelta(hours=1)) -> bool:
    return call(conn, "extend_lease", **held(job), p_lease=lease)[0]["extend_lease"]


def lapse(db: Connection, job: Job) -> None:
    db.execute(
        "update recall.jobs set lease_until = clock_timestamp() - interval '1 second'"
        " where job_id = %s",
        [job["job_id"]],
    )


def stored(db: Connection, job_id: uuid.UUID) -> Job:
    (row,) = rows(db, "select * from recall.jobs where job_id = %s", [job_id])
    return row


def vector(seed: int = 0) -> list[float]:
    chance = random.Random(seed)
    return [round(chance.uniform(-1, 1), 3) for _ in range(DIMENSIONS)]


# --- enqueueing


def test_equal_jobs_are_one_while_ready(db: Connection, user: uuid.UUID) -> None:
    later, soon = now() + timedelta(hours=2), now() + timedelta(hours=1)
    first = enqueue(db, user, p_dedupe_key="k", p_run_at=later, p_payload={"a": 1})
    assert enqueue(db, user, p_dedupe_key="k", p_run_at=later + timedelta(hours=5)) is None
    assert stored(db, first)["run_at"] == later, "never put off"
    assert enqueue(db, user, p_dedupe_key="k", p_run_at=soon, p_payload={"b": 2}) is None
    row = stored(db, first)
    assert (row["run_at"], row["payload"]) == (soon, {"a": 1}), "pulled forward, nothing else"
    for other in (
        enqueue(db, user, p_dedupe_key="other"),
        enqueue(db, user, "embed", p_dedupe_key="k"),
        enqueue(db, uuid.uuid4(), p_dedupe_key="k"),
        enqueue(db, user),
        enqueue(db, user),
    ):
        assert other is not None
    # one that runs is no obstacle: what arrives now must be done after it
    assert enqueue(db, user, p_dedupe_key="k", p_run_at=now()) is None
    assert first in {job["job_id"] for job in claim(db)}
    assert enqueue(db, user, p_dedupe_key="k") is not None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"p_kind": "dance"}, "unknown job kind 'dance'"),
        ({"p_kind": None}, "unknown job kind null"),
        ({"p_kind": "extract:verbatim"}, "unknown job kind"),
        ({"p_payload": Jsonb([])}, "p_payload"),
        ({"p_payload": None}, "p_payload"),
        ({"p_user_id": None}, "p_user_id is null"),
        ({"p_run_at": "infinity"}, "p_run_at is infinity"),
        ({"p_run_at": "-infinity"}, "p_run_at is -infinity"),
        ({"p_run_at": "10000-01-01"}, "p_run_at is 10000-01-01"),
        ({"p_run_at": "0044-03-15 BC"}, "p_run_at is 0044-03-15"),
        ({"p_dedupe_key": "k" * 2001}, "p_dedupe_key has 2001 bytes"),
        ({"p_dedupe_key": "家" * 667}, "p_dedupe_key has 2001 bytes"),
    ],
)
def test_enqueue_job_refuses_malformed_arguments(
    db: Connection, user: uuid.UUID, arguments: dict[str, Any], words: str
) -> None:
    with refused("RC003", words):
        call(db, "enqueue_job", **{"p_user_id": user, "p_kind": "extract"} | arguments)


def test_enqueue_job_accepts_the_longest_key_and_the_last_time(
    db: Connection, user: uuid.UUID
) -> None:
    key = "".join(random.Random(7).choices("0123456789abcdefghijklmnopqrstuv", k=2000))
    last = "9999-12-31T09:59:59Z"
    first = enqueue(db, user, p_dedupe_key=key, p_run_at=last)
    assert enqueue(db, user, p_dedupe_key=key, p_run_at=last) is None
    assert [row["job_id"] for row in call(db, "list_jobs")] == [first]


def test_fifty_appends_leave_two_jobs(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    for number in range(50):
        append(db, user, session, said(f"message {number}"))
    jobs = {job["kind"]: job for job in job_rows(db, user)}
    assert set(jobs) == {"embed", "extract"}
    assert jobs["extract"]["run_at"] <= now(), "ten user turns wait: due"
    assert jobs["extract"]["payload"] == {"mode": "llm"}


def test_an_extraction_that_no_pause_makes_due_has_a_time_that_clients_read(
    db: Connection, user: uuid.UUID
) -> None:
    changes = {"extraction": "llm", "extract_after_idle": "infinity"}
    call(db, "configure_user", p_user_id=user, p_changes=changes)
    session = open_session(db, user)
    append(db, user, session, said("I live in Oslo"))
    last = datetime(9999, 12, 31, tzinfo=UTC)
    assert [row["run_at"] for row in job_rows(db, user) if row["kind"] == "extract"] == [last]
    db.execute("update recall.jobs set run_at = now() where user_id = %s", [user])
    assert call(db, "claim_jobs", p_worker="w", p_kinds=["extract:llm"]) == []
    assert [row["run_at"] for row in job_rows(db, user) if row["kind"] == "extract"] == [last]


def test_an_extraction_waits_for_an_idle_pause(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said(*"abc"))
    (job,) = (job for job in job_rows(db, user) if job["kind"] == "extract")
    assert job["run_at"] > now() + timedelta(minutes=9)
    append(db, user, session, said(*"defghij"))
    assert stored(db, job["job_id"])["run_at"] <= now(), "the tenth user turn pulls it forward"


def test_assistant_turns_alone_are_nothing_to_extract(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said("hello", role="assistant"))
    assert [job["kind"] for job in job_rows(db, user)] == ["embed"]


def test_what_is_switched_off_leaves_no_job(db: Connection, user: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=user,
         p_changes={"extraction": "none", "embed_messages": False})  # fmt: skip
    append(db, user, open_session(db, user), said(*"abcdefghijkl"))
    assert job_rows(db, user) == []
    session = open_session(db, user, p_metadata={"extraction": "verbatim"})
    append(db, user, session, said("I live in Oslo now."))
    assert [job["payload"] for job in job_rows(db, user)] == [{"mode": "verbatim"}]


def test_a_rolled_back_turn_leaves_no_job(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    db.autocommit = False
    append(db, user, session, said("never said"))
    assert job_rows(db, user)
    db.rollback()
    assert job_rows(db, user) == []


def test_a_mode_that_was_changed_changes_what_waits(db: Connection, user: uuid.UUID) -> None:
    """Or the extraction would wait for a model for ever."""
    session = open_session(db, user)
    append(db, user, session, said("one"))
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    append(db, user, session, said("two"))
    (job,) = (job for job in job_rows(db, user) if job["kind"] == "extract")
    assert job["payload"] == {"mode": "verbatim"}
    assert job["run_at"] <= now()
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "llm"})
    append(db, user, session, said("three"))
    (job,) = (job for job in job_rows(db, user) if job["kind"] == "extract")
    assert job["payload"] == {"mode": "llm"}
    assert claim(db, p_kinds=["extract"]) == [], "it waits for the idle pause, as llm does"


def test_close_session_gives_ready_extraction_the_present_mode(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    append(db, user, session, said("I live in Oslo now."))
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    call(db, "close_session", p_user_id=user, p_session_id=session)
    assert finish(db, claim_one(db, "extract:verbatim"))
    assert [row["content"] for row in memories(db, user)] == ["I live in Oslo now."]


@pytest.mark.parametrize("end", ["append", "close_session"])
def test_changed_mode_drops_what_the_other_mode_has_made(
    db: Connection, user: uuid.UUID, end: str
) -> None:
    """Vectors of extracted facts would become those of the user's sentences."""
    session = open_session(db, user)
    append(db, user, session, said(*(f"My lucky number is {n} I think." for n in range(10))))
    job = claim_one(db, "extract")
    facts = {"facts": [fact("User likes 7."), fact("User likes 8.")], "episodes": []}
    request = ask(db, job, answer_to(ask(db, job), {"extract": facts}), embed_batch=1)
    request = ask(db, job, answer_to(request, {"embed": lambda _: vector(1)}), embed_batch=1)
    assert request["inputs"] == ["User likes 8."], "the first has a vector"
    db.execute("update recall.jobs set state = 'ready', worker = null, lease_token = null,"
               " lease_until = null where kind = 'extract'")  # fmt: skip
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    if end == "append":
        append(db, user, session, said("Thanks!"))
    else:
        call(db, "close_session", p_user_id=user, p_session_id=session)
    request = ask(db, claim_one(db, "extract:verbatim"))
    assert len(request["inputs"]) == 10


@pytest.mark.parametrize("is_lapsed", [False, True])
@pytest.mark.parametrize("modes", [("llm", "verbatim"), ("verbatim", "llm"), ("llm", "llm")])
def test_failed_extraction_hands_its_work_only_to_a_job_of_its_mode(
    db: Connection, user: uuid.UUID, modes: tuple[str, str], is_lapsed: bool
) -> None:
    old, new = modes
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": old})
    session = open_session(db, user)
    append(db, user, session, said(*(f"My lucky number is {n} I think." for n in range(10))))
    job = claim_one(db, f"extract:{old}", p_flush=True)
    request = ask(db, job, embed_batch=1)
    if old == "llm":
        facts = {"facts": [fact("User likes 7."), fact("User likes 8.")], "episodes": []}
        request = ask(db, job, answer_to(request, {"extract": facts}), embed_batch=1)
    ask(db, job, answer_to(request, {"embed": lambda _: vector(1)}), embed_batch=1)
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": new})
    append(db, user, session, said("Thanks!"))
    if is_lapsed:
        db.execute("update recall.jobs set lease_until = now() - interval '1 s'"
                   " where job_id = %s", [job["job_id"]])  # fmt: skip
        assert call(db, "release_expired_leases")
    else:
        assert fail(db, job)
    (row,) = (each for each in job_rows(db, user) if each["kind"] == "extract")
    assert row["payload"] == {"mode": new}
    assert row["attempts"] == 1
    assert (row["work"] is not None, row["vectors"] is not None) == (old == new, old == new)


def test_append_leaves_a_failed_extraction_its_backoff(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said(*"abcdefghij"))
    job = claim_one(db, "extract")
    assert fail(db, job)
    due = stored(db, job["job_id"])["run_at"]
    assert due > now()
    append(db, user, session, said("k"))
    call(db, "close_session", p_user_id=user, p_session_id=session)
    assert stored(db, job["job_id"])["run_at"] == due
    assert claim(db, p_kinds=["extract"]) == []


def test_append_gives_a_failed_extraction_the_present_mode(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said(*"abcdefghij"))
    job = claim_one(db, "extract")
    assert fail(db, job)
    due = stored(db, job["job_id"])["run_at"]
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    append(db, user, session, said("k"))
    row = stored(db, job["job_id"])
    assert (row["payload"], row["run_at"]) == ({"mode": "verbatim"}, due)


def test_enqueue_job_leaves_a_failed_job_its_backoff(db: Connection, user: uuid.UUID) -> None:
    enqueue(db, user, "embed", p_dedupe_key="k")
    (job,) = claim(db)
    assert fail(db, job)
    due = stored(db, job["job_id"])["run_at"]
    assert enqueue(db, user, "embed", p_dedupe_key="k") is None
    assert stored(db, job["job_id"])["run_at"] == due


def test_jobs_have_the_attempts_of_their_user(db: Connection, user: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"job_max_attempts": 2})
    session = open_session(db, user)
    append(db, user, session, said("a"))
    enqueue(db, user, "summarize", p_session_id=session)
    assert {job["kind"]: job["max_attempts"] for job in job_rows(db, user)} == {
        "embed": 2, "extract": 2, "summarize": 2}  # fmt: skip


# --- claiming


def test_claims_take_what_is_due_in_order(db: Connection, user: uuid.UUID) -> None:
    made = [
        enqueue(db, user, "embed", p_run_at=now() - timedelta(minutes=minutes))
        for minutes in (1, 3, 2)
    ]
    urgent = enqueue(db, user, "merge")
    db.execute("update recall.jobs set priority = 1 where job_id = %s", [urgent])
    enqueue(db, user, "embed", p_run_at=now() + timedelta(minutes=1))
    assert claim(db, p_limit=0) == []
    first = claim(db, p_limit=2, p_lease=timedelta(minutes=7))
    assert [job["job_id"] for job in first] == [urgent, made[1]]
    for job in first:
        row = stored(db, job["job_id"])
        assert (row["state"], row["worker"], row["attempts"]) == ("running", "test", 1)
        assert row["lease_token"] == job["lease_token"]
        assert row["lease_until"] == job["lease_until"]
        assert job["lease_until"] - now() == pytest.approx(
            timedelta(minutes=7), abs=timedelta(seconds=30)
        )
    assert [job["job_id"] for job in claim(db)] == [made[2], made[0]]
    assert claim(db) == []


def test_kinds_can_be_narrowed(db: Connection, user: uuid.UUID) -> None:
    by_model = enqueue(db, user, p_payload={"mode": "llm"})
    as_it_stands = enqueue(db, user, p_payload={"mode": "verbatim"})
    embedding = enqueue(db, user, "embed")
    assert claim(db, p_kinds=["merge"]) == []
    assert [j["job_id"] for j in claim(db, p_kinds=["extract:verbatim"])] == [as_it_stands]
    without_mode = enqueue(db, user)
    assert [j["job_id"] for j in claim(db, p_kinds=["extract:llm"], p_limit=2)] == [
        by_model, without_mode]  # fmt: skip
    by_model = enqueue(db, user, p_payload={"mode": "llm"})
    assert {j["job_id"] for j in claim(db, p_kinds=["embed", "extract"])} == {by_model, embedding}


@pytest.mark.parametrize(
    "arguments",
    [
        {"p_worker": ""},
        {"p_worker": None},
        {"p_limit": -1},
        {"p_limit": None},
        {"p_lease": timedelta(0)},
        {"p_lease": timedelta(days=-1)},
        {"p_lease": None},
        {"p_kinds": ["dance"]},
        {"p_kinds": [None]},
    ],
)
def test_claims_with_bad_arguments(
    db: Connection, user: uuid.UUID, arguments: dict[str, Any]
) -> None:
    enqueue(db, user)
    with refused("RC003"):
        claim(db, **arguments)
    assert [job["state"] for job in job_rows(db, user)] == ["ready"]


def test_claim_jobs_and_extend_lease_refuse_a_malformed_lease(
    db: Connection, user: uuid.UUID
) -> None:
    enqueue(db, user)
    with refused("RC003", "p_lease is infinity"):
        db.execute("select * from recall.claim_jobs('w', p_lease => 'infinity')")
    (job,) = claim(db)
    for lease in ("infinity", "0", "-1 minute", None):
        with refused("RC003", "p_lease"):
            db.execute(
                "select recall.extend_lease(%s, %s, %s, %s::interval)", [*held(job).values(), lease]
            )


def test_an_extraction_of_a_conversation_that_goes_on_is_put_off(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    append(db, user, session, said("a"))

    def due() -> None:
        db.execute("update recall.jobs set run_at = now() where kind = 'extract'")

    def claimed() -> int:
        return len(claim(db, p_kinds=["extract"]))

    due()
    assert claimed() == 0
    (job,) = (job for job in job_rows(db, user) if job["kind"] == "extract")
    last = session_row(db, user, session)["last_message_at"]
    assert job["run_at"] == last + timedelta(minutes=10)
    assert (job["state"], job["attempts"]) == ("ready", 0)

    # a conversation that has paused or ended is not waited for
    call(db, "pause_session", p_user_id=user, p_session_id=session)
    due()
    assert claimed() == 1
    db.execute("update recall.jobs set state = 'ready', worker = null, lease_token = null,"
               " lease_until = null where kind = 'extract'")  # fmt: skip
    call(db, "resume_session", p_user_id=user, p_session_id=session)
    append(db, user, session, said(*"bcdefghij"))
    assert claimed() == 1, "enough turns"


def test_claim_with_flush_leases_only_what_waits_for_its_idle_time(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    append(db, user, session, said("a"))
    assert claim(db, p_kinds=["extract"]) == []
    assert claim(db, p_kinds=["extract"], p_flush=None) == []
    for reason in ("attempts = 1, last_error = 'boom'", "last_error = 'RC005'"):
        db.execute(f"update recall.jobs set {reason} where kind = 'extract'")  # type: ignore[arg-type]
        assert claim(db, p_kinds=["extract"], p_flush=True) == [], reason
        db.execute("update recall.jobs set attempts = 0, last_error = null")
    enqueue(db, user, "merge", p_run_at=datetime.now(UTC) + timedelta(hours=1))
    (job,) = claim(db, p_kinds=["extract", "merge"], p_flush=True)
    assert (job["kind"], job["session_id"]) == ("extract", session)


def test_claim_with_flush_respects_the_daily_cost_limit(db: Connection, user: uuid.UUID) -> None:
    append(db, user, open_session(db, user), said("a"))
    call(db, "configure_user", p_user_id=user,
         p_changes={"daily_user_cost_limit_microcents": 0})  # fmt: skip
    assert claim(db, p_kinds=["extract"], p_flush=True) == []
    assert claim(db, p_kinds=["extract"], p_flush=True) == []
    (job,) = (job for job in job_rows(db, user) if job["kind"] == "extract")
    assert job["last_error"].startswith("RC005")


@pytest.mark.parametrize("reason", ["failure", "cost limit"])
def test_claim_with_flush_leases_an_extraction_deferred_after_an_error(
    db: Connection, user: uuid.UUID, reason: str
) -> None:
    """Once its backoff or limit has ended, it waits for its idle time only."""
    append(db, user, open_session(db, user), said("a"))
    if reason == "failure":
        (job,) = claim(db, p_kinds=["extract"], p_flush=True)
        assert fail(db, job)
    else:
        limit = {"daily_user_cost_limit_microcents": 0}
        call(db, "configure_user", p_user_id=user, p_changes=limit)
        assert claim(db, p_kinds=["extract"], p_flush=True) == []
        limit = {"daily_user_cost_limit_microcents": None}
        call(db, "configure_user", p_user_id=user, p_changes=limit)
    assert claim(db, p_kinds=["extract"], p_flush=True) == [], "its time has not come"
    db.execute("update recall.jobs set run_at = now() where kind = 'extract'")
    assert claim(db, p_kinds=["extract"]) == [], "it waits for the idle pause again"
    (job,) = claim(db, p_kinds=["extract"], p_flush=True)
    assert job["attempts"] == (2 if reason == "failure" else 1)


def test_extraction_of_a_session_without_messages_stops_no_claim(
    db: Connection, user: uuid.UUID
) -> None:
    empty = enqueue(db, user, p_session_id=open_session(db, user))
    other = enqueue(db, user, "embed")
    jobs = claim(db)
    assert {job["job_id"] for job in jobs} == {empty, other}
    (job,) = (job for job in jobs if job["job_id"] == empty)
    assert finish(db, job)


def test_claim_reads_due_jobs_by_their_index(db: Connection, user: uuid.UUID) -> None:
    """Jobs that are due later are not read, with p_flush or without."""
    later = datetime.now(UTC) + timedelta(hours=1)
    db.execute(
        "insert into recall.jobs (user_id, job_id, kind, run_at, max_attempts, created_at)"
        " select %s, gen_random_uuid(), 'embed', %s, 1, now() from generate_series(1, 2000)",
        [user, later],
    )
    db.execute("analyze recall.jobs")
    for flush in (False, True):
        nodes = plan_nodes(db, partial(claim, db, p_flush=flush))
        assert "Index Scan jobs_ready_due_idx" in nodes, nodes


def test_waiting_jobs_tells_due_deferred_and_what_needs_a_model(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    append(db, user, session, said("a"))
    other = uuid.uuid4()
    call(db, "configure_user", p_user_id=other, p_changes={"extraction": "verbatim"})
    append(db, other, open_session(db, other), said("b"))
    running = enqueue(db, user, "merge")
    (job,) = claim(db, p_kinds=["merge"])
    assert job["job_id"] == running
    idle = session_row(db, user, session)["last_message_at"] + timedelta(minutes=10)
    shown = ("kind", "mode", "needs_model", "due", "deferred", "deferred_until")

    def waiting(conn: Connection) -> list[tuple[Any, ...]]:
        return [tuple(row[name] for name in shown) for row in call(conn, "waiting_jobs")]

    assert waiting(db) == [
        ("embed", None, False, 2, 0, None),
        ("extract", "llm", True, 0, 1, idle),
        ("extract", "verbatim", False, 1, 0, None),
    ]
    conn = connect(options=f"-c recall.user_id={other}")
    assert waiting(conn) == [
        ("embed", None, False, 1, 0, None),
        ("extract", "verbatim", False, 1, 0, None),
    ]


# --- many claimers at once

PLANS = {
    "default": [],
    "nested loops": ["enable_hashjoin = off", "enable_mergejoin = off", "enable_seqscan = off"],
    "no index": ["enable_indexscan = off", "enable_bitmapscan = off"],
}


@pytest.mark.concurrent
@pytest.mark.parametrize("plan", PLANS)
def test_four_concurrent_claimers_never_get_the_same_job(
    db: Connection, connect: Connect, plan: str
) -> None:
    """No job twice, the limit holds, and nothing is left behind."""
    users = [uuid.uuid4() for _ in range(5)]
    jobs = {enqueue(db, users[n % 5], p_session_id=uuid.uuid4()) for n in range(120)}

    def run() -> list[Job]:
        conn, mine = connect(), []
        for setting in PLANS[plan]:
            conn.execute(f"set {setting}".encode())
        while taken := claim(conn, p_limit=3):
            assert len(taken) <= 3
            mine += taken
        return mine

    results = together([run] * 4)
    raise_errors(results)
    taken = [job["job_id"] for result in results for job in result]
    # a claimer that met only locked rows saw an empty queue
    taken += [job["job_id"] for job in claim(db, p_limit=200)]
    assert Counter(taken) == Counter(jobs)


@pytest.mark.concurrent
def test_never_two_running_jobs_of_a_session_and_kind(db: Connection, connect: Connect) -> None:
    """Even when several are ready: the claims race, the unique index decides, nobody deadlocks."""
    user = uuid.uuid4()
    sessions = [uuid.uuid4() for _ in range(6)]
    for number in range(60):
        enqueue(db, user, ("extract", "embed")[number % 2], p_session_id=sessions[number % 6])
    for _ in range(10):
        results = together(partial(claim, connect(), p_limit=8) for _ in range(4))
        raise_errors(results)
        running = [
            (job["session_id"], job["kind"])
            for job in rows(db, "select * from recall.jobs where state = 'running'")
        ]
        assert len(running) == len(set(running)) == 6
        db.execute("delete from recall.jobs where state = 'running'")
    assert job_rows(db, user) == []


@pytest.mark.concurrent
def test_a_finishing_and_a_stale_holder_at_once(
    db: Connection, connect: Connect, user: uuid.UUID, verbatim: uuid.UUID
) -> None:
    """Two finishes, a failure and a heartbeat with the same token: one effect."""
    connections = [connect() for _ in range(4)]
    for number in range(5):
        append(db, user, verbatim, said(f"I have been to {number} countries so far."))
        job = claim_one(db, "extract")
        done = together(
            [
                partial(finish, connections[0], job),
                partial(finish, connections[1], job),
                partial(fail, connections[2], job),
                partial(extend, connections[3], job),
            ]
        )
        raise_errors(done)
        assert sum(done[:3]) == 1, done
        if done[2]:
            db.execute("update recall.jobs set run_at = now() where kind = 'extract'")
            assert finish(db, claim_one(db, "extract"))
        assert session_row(db, user, verbatim)["extracted_through_turn"] == number + 1


# --- leases


def test_a_lapsed_lease_is_nobodys(db: Connection, user: uuid.UUID, verbatim: uuid.UUID) -> None:
    append(db, user, verbatim, said("I moved to Bergen last week."))
    job = claim_one(db, "extract")
    lapse(db, job)
    before = stored(db, job["job_id"])

    def nothing_happens() -> None:
        assert do_job(db, job) == {"type": "gone"}
        assert not extend(db, job)
        assert not fail(db, job)

    nothing_happens()
    assert stored(db, job["job_id"]) == before

    assert call(db, "release_expired_leases") == [{"done": 1, "more": False}]
    returned = stored(db, job["job_id"])
    assert (returned["state"], returned["attempts"], returned["worker"]) == ("ready", 1, None)
    assert returned["run_at"] > now() + timedelta(seconds=5), "after the backoff"
    assert "lease of worker test expired" in returned["last_error"]
    nothing_happens()

    db.execute("update recall.jobs set run_at = now() where kind = 'extract'")
    again = claim_one(db, "extract")
    assert again["attempts"] == 2
    assert again["lease_token"] != job["lease_token"]
    nothing_happens()
    assert rows(db, "select * from recall.memory_store where user_id = %s", [user]) == []
    assert extend(db, again)
    assert finish(db, again)
    assert len(rows(db, "select * from recall.memory_store where user_id = %s", [user])) == 1
    assert do_job(db, again) == {"type": "gone"}, "done is done"


def test_only_the_holder_touches_a_job(db: Connection, user: uuid.UUID) -> None:
    enqueue(db, user, "embed")
    (job,) = claim(db)
    before = stored(db, job["job_id"])
    for wrong in (
        job | {"lease_token": uuid.uuid4()},
        job | {"lease_token": None},
        job | {"user_id": uuid.uuid4()},
        job | {"job_id": uuid.uuid4()},
    ):
        assert ask(db, wrong) == {"type": "gone"}
        assert not fail(db, wrong)
        assert not extend(db, wrong)
    assert stored(db, job["job_id"]) == before


def test_extend_lease_prolongs_the_lease_of_a_job(db: Connection, user: uuid.UUID) -> None:
    enqueue(db, user, "embed")
    (job,) = claim(db, p_lease=timedelta(seconds=30))
    assert extend(db, job, timedelta(minutes=20))
    assert stored(db, job["job_id"])["lease_until"] - now() > timedelta(minutes=19)


def test_leases_are_released_in_batches(db: Connection, user: uuid.UUID) -> None:
    for _ in range(5):
        enqueue(db, user, "embed")
    claim(db, p_lease=timedelta(minutes=1))
    assert call(db, "release_expired_leases") == [{"done": 0, "more": False}]
    later = now() + timedelta(minutes=2)
    assert call(db, "release_expired_leases", p_limit=2, p_as_of=later) == [
        {"done": 2, "more": True}
    ]
    assert call(db, "release_expired_leases", p_limit=10, p_as_of=later) == [
        {"done": 3, "more": False}
    ]
    with refused("RC003", "p_limit"):
        call(db, "release_expired_leases", p_limit=-1)


# --- failing


def test_backoff_doubles_to_a_dead_letter(db: Connection, user: uuid.UUID) -> None:
    job_id = enqueue(db, user, "embed")
    db.execute("update recall.jobs set max_attempts = 12")
    for attempt in range(1, 13):
        (job,) = claim(db)
        assert job["attempts"] == attempt
        assert fail(db, job, f"error {attempt}")
        row = stored(db, job_id)
        assert row["last_error"] == f"error {attempt}"
        if attempt < 12:
            seconds = min(3600, 10 * 2 ** (attempt - 1))
            wait = (row["run_at"] - now()).total_seconds()
            assert seconds * 0.8 - 5 <= wait <= seconds * 1.2 + 1
            assert row["state"] == "ready"
            assert claim(db) == [], "not before the backoff"
            db.execute("update recall.jobs set run_at = now()")
    assert row["state"] == "dead"
    assert claim(db) == []


def test_a_failure_without_retry_is_final(db: Connection, user: uuid.UUID) -> None:
    job_id = enqueue(db, user, "embed")
    (job,) = claim(db)
    assert fail(db, job, None, p_retry=False)
    row = stored(db, job_id)
    assert (row["state"], row["last_error"]) == ("dead", "no reason given")


def test_a_failing_job_joins_its_ready_twin(db: Connection, user: uuid.UUID) -> None:
    """With its attempts: a poisonous job must not live for ever."""
    session = uuid.uuid4()
    first = enqueue(db, user, p_session_id=session, p_dedupe_key="k")
    (job,) = claim(db)
    db.execute("update recall.jobs set attempts = 5")
    twin = enqueue(db, user, p_session_id=session, p_dedupe_key="k")
    assert claim(db) == [], "one of the session and kind is running"
    assert fail(db, job)
    assert [j["job_id"] for j in job_rows(db, user)] == [twin] != [first]
    row = stored(db, twin)
    assert (row["attempts"], row["last_error"]) == (5, "boom")
    assert row["run_at"] > now() + timedelta(minutes=1)


@pytest.mark.concurrent
@pytest.mark.parametrize("way", ["fail_job", "release_expired_leases"])
def test_a_failing_job_meets_a_twin_that_is_just_committed(
    db: Connection, connect: Connect, user: uuid.UUID, way: str
) -> None:
    enqueue(db, user, p_dedupe_key="k")
    (job,) = claim(db)
    if way != "fail_job":
        lapse(db, job)
    other = connect(autocommit=False)
    twin = enqueue(other, user, p_dedupe_key="k")
    results: list[Any] = []

    def give_back() -> None:
        conn = connect()
        results.append(fail(conn, job) if way == "fail_job" else call(conn, way)[0]["done"])

    thread = threading.Thread(target=give_back)
    thread.start()
    time.sleep(0.3)
    other.commit()
    thread.join()
    assert results in ([True], [1])
    assert [(j["job_id"], j["state"]) for j in job_rows(db, user)] == [(twin, "ready")]


def test_dead_jobs_can_be_tried_again(db: Connection, user: uuid.UUID) -> None:
    for kind, key in (("embed", "a"), ("embed", "b"), ("merge", "c"), ("embed", "a")):
        job_id = enqueue(db, user, kind, p_dedupe_key=key)
        (job,) = claim(db)
        assert job["job_id"] == job_id
        fail(db, job, "poison", p_retry=False)
    assert call(db, "retry_dead_jobs", p_kind="embed", p_limit=1) == [{"retry_dead_jobs": 1}]
    assert Counter(job["state"] for job in job_rows(db, user)) == {"ready": 1, "dead": 3}
    assert call(db, "retry_dead_jobs") == [{"retry_dead_jobs": 3}]
    after = sorted(job_rows(db, user), key=lambda job: job["dedupe_key"])
    assert [(j["kind"], j["dedupe_key"], j["state"], j["attempts"]) for j in after] == [
        ("embed", "a", "ready", 0),
        ("embed", "b", "ready", 0),
        ("merge", "c", "ready", 0),
    ], "one whose equal is ready goes away"
    assert len(claim(db)) == 3
    with refused("RC003"):
        call(db, "retry_dead_jobs", p_kind="dance")
    with refused("RC003"):
        call(db, "retry_dead_jobs", p_limit=-1)


# --- verbatim extraction


def memories(db: Connection, user: uuid.UUID) -> list[dict[str, Any]]:
    return rows(
        db, "select * from recall.memory_store where user_id = %s order by observed_at", [user]
    )


def test_verbatim_extraction_keeps_statements_of_the_user(
    db: Connection, user: uuid.UUID, verbatim: uuid.UUID
) -> None:
    append(
        db,
        user,
        verbatim,
        [
            *said("I work at the harbour office.", created_at="2024-05-01T10:00:00Z"),
            *said("Nice! Which harbour is it?", role="assistant"),
            *said("ok", "Where should I eat tonight?", "My sister Eva lives in Turku. Right?"),
            *said("x" * 5000 + " and three more words"),
        ],
    )
    job = claim_one(db, "extract:verbatim")
    request = ask(db, job)
    assert request["inputs"] == [
        "I work at the harbour office.",
        "My sister Eva lives in Turku. Right?",
    ], "no small talk, no mere question, nothing longer than a memory may be"
    answer = {"request_id": request["request_id"], "vectors": [vector(1), vector(2)],
              "usage": {"prompt_tokens": 15}, "latency_ms": 12.5}  # fmt: skip
    assert ask(db, job, answer)["type"] == "done"

    first, second = memories(db, user)
    assert first["content"] == "I work at the harbour office."
    assert first["observed_at"] == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert (first["tier"], first["scope"], first["is_validated"]) == ("session", "global", False)
    assert second["expires_at"] - now() > timedelta(days=89)
    assert len(rows(db, "select * from recall.memory_embedding where user_id = %s", [user])) == 2
    row = session_row(db, user, verbatim)
    assert (row["extracted_through_turn"], row["extracted_user_turns"]) == (6, 5)
    assert [j["kind"] for j in job_rows(db, user)] == ["embed"], "the extraction is gone"
    spans = rows(db, "select * from recall.job_phases where job_id = %s order by phase",
                 [job["job_id"]])  # fmt: skip
    assert [(s["phase"], s["items"], s["cost_microcents"], s["kind"]) for s in spans] == [
        ("embed", 2, 30, "extract"),
        ("persist", 2, 0, "extract"),
    ]
    assert {s["session_id"] for s in spans} == {verbatim}


def test_verbatim_extraction_without_an_embedder(
    db: Connection, user: uuid.UUID, verbatim: uuid.UUID
) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"embed_messages": False})
    append(db, user, verbatim, said("I work at the harbour office."))
    assert finish(db, claim_one(db, "extract"))
    assert len(memories(db, user)) == 1
    assert [job["kind"] for job in job_rows(db, user)] == ["embed"], "the vector comes later"


def test_a_turn_in_between_is_extracted_again(
    db: Connection, user: uuid.UUID, verbatim: uuid.UUID
) -> None:
    append(db, user, verbatim, said("I work at the harbour office."))
    job = claim_one(db, "extract")
    request = ask(db, job)
    append(db, user, verbatim, said("I moved to Bergen last week."))
    db.execute("delete from recall.jobs where kind = 'extract' and state = 'ready'")  # even so
    assert ask(db, job, answer_to(request, {}))["type"] == "done"
    assert len(memories(db, user)) == 1
    again = claim_one(db, "extract")
    assert ask(db, again)["inputs"] == ["I moved to Bergen last week."]
    assert finish(db, again)
    assert len(memories(db, user)) == 2


def test_extraction_works_in_batches(db: Connection, user: uuid.UUID, verbatim: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"extract_batch": 3})
    append(db, user, verbatim, said(*(f"My lucky number is {n} I think." for n in range(7))))
    reached = []
    while taken := claim(db, p_kinds=["extract"]):
        assert finish(db, taken[0])
        reached.append(session_row(db, user, verbatim)["extracted_through_turn"])
    assert reached == [3, 6, 7]
    assert len(memories(db, user)) == 7


def test_a_retracted_turn_is_not_extracted(
    db: Connection, user: uuid.UUID, verbatim: uuid.UUID
) -> None:
    append(db, user, verbatim, said("I work at the harbour office.", "My password is 1234 now."))
    job = claim_one(db, "extract")
    request = ask(db, job)
    assert len(request["inputs"]) == 2
    call(db, "retract_turns", p_user_id=user, p_session_id=verbatim, p_from_turn=2)
    again = ask(db, job, answer_to(request, {}))
    assert again["inputs"] == ["I work at the harbour office."], "vectors of other texts"
    assert ask(db, job, answer_to(again, {}))["type"] == "done"
    assert [m["content"] for m in memories(db, user)] == ["I work at the harbour office."]


@pytest.mark.concurrent
def test_an_extraction_moves_on_between_the_step_and_its_effect(
    db: Connection, connect: Connect, user: uuid.UUID, verbatim: uuid.UUID
) -> None:
    append(db, user, verbatim, said("I work at the harbour office."))
    job = claim_one(db, "extract")
    other, conn = connect(autocommit=False), connect()
    other.execute("update recall.sessions set extracted_through_turn = 1 where session_id = %s",
                  [verbatim])  # fmt: skip
    ends: list[Any] = []
    thread = threading.Thread(target=lambda: ends.append(do_job(conn, job)))
    thread.start()
    wait_for_lock(db, conn.info.backend_pid)
    other.commit()
    thread.join(60)
    assert [(end["type"], end["reason"]) for end in ends] == [("deferred", "the session moved on")]
    row = stored(db, job["job_id"])
    assert (row["state"], row["last_error"]) == ("ready", "the session moved on")
    assert row["run_at"] <= now()
    assert memories(db, user) == []


# --- extraction in a mode that has changed


@pytest.fixture
def leased(db: Connection, user: uuid.UUID) -> Job:
    """An extraction by a model, leased, of a session of ten messages."""
    append(db, user, open_session(db, user), said(*(f"I own {n} red boats." for n in range(10))))
    return claim_one(db, "extract:llm")


def test_an_extraction_sends_nothing_after_its_session_opts_out(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    append(db, user, session, said("I live in Oslo now."))
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "none"})
    append(db, user, session, said("SECRET AFTER OPT OUT"))
    job = claim_one(db, "extract:llm", p_flush=True)
    assert ask(db, job) == {"type": "done", "outcome": {"kind": "extract", "items": 0}}
    assert "extract" not in {row["kind"] for row in job_rows(db, user)}
    # the turns still wait for a mode that takes them
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    append(db, user, session, said("I moved to Bergen last week."))
    assert "I live in Oslo now." in ask(db, claim_one(db, "extract:verbatim"))["inputs"]


def test_metadata_of_a_session_stops_its_extraction(
    db: Connection, user: uuid.UUID, leased: Job
) -> None:
    assert ask(db, leased)["type"] == "chat"
    call(db, "update_session", p_user_id=user, p_session_id=leased["session_id"],
         p_changes={"metadata": {"extraction": "none"}})  # fmt: skip
    assert ask(db, leased)["type"] == "done"


@pytest.mark.parametrize("has_embedder", [True, False])
def test_an_answer_after_an_opt_out_is_paid_for_but_not_stored(
    db: Connection, user: uuid.UUID, leased: Job, has_embedder: bool
) -> None:
    request = ask(db, leased)
    db.execute("update recall.jobs set attempts = max_attempts where job_id = %s",
               [leased["job_id"]])  # fmt: skip
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "none"})
    answer = answer_to(request, {
        "extract": {"facts": [fact("User owns boats.")], "episodes": []},
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100}})  # fmt: skip
    embedding_model = EMBEDDING_MODEL if has_embedder else None
    end = ask(db, leased, answer, embedding_model=embedding_model)
    assert end == {"type": "done", "outcome": {"kind": "extract", "items": 0}}
    assert "extract" not in {row["kind"] for row in job_rows(db, user)}, "not dead"
    assert memories(db, user) == []
    span = rows(db, "select * from recall.job_phases where user_id = %s order by phase_id", [user])[
        0
    ]
    assert (span["phase"], span["prompt_tokens"]) == ("extract", 1000)


def test_an_extraction_goes_to_a_worker_of_the_present_mode(
    db: Connection, user: uuid.UUID, leased: Job
) -> None:
    assert ask(db, leased)["type"] == "chat"
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    end = ask(db, leased)
    assert (end["type"], end["reason"]) == ("deferred", "the extraction is verbatim now")
    job = claim_one(db, "extract:verbatim")
    assert (job["job_id"], job["attempts"]) == (leased["job_id"], 1)
    assert len(ask(db, job)["inputs"]) == 10


def test_a_verbatim_extraction_stores_nothing_after_its_session_opts_out(
    db: Connection, user: uuid.UUID, verbatim: uuid.UUID
) -> None:
    append(db, user, verbatim, said("I work at the harbour office."))
    job = claim_one(db, "extract:verbatim")
    request = ask(db, job)
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "none"})
    assert ask(db, job, answer_to(request, {})) == {
        "type": "done", "outcome": {"kind": "extract", "items": 0}}  # fmt: skip
    assert memories(db, user) == []


def test_a_verbatim_extraction_goes_to_a_model_where_the_mode_is_llm_now(
    db: Connection, user: uuid.UUID, verbatim: uuid.UUID
) -> None:
    append(db, user, verbatim, said("I work at the harbour office."))
    job = claim_one(db, "extract:verbatim")
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "llm"})
    end = do_job(db, job)
    assert (end["type"], end["reason"]) == ("deferred", "the extraction is llm now")
    assert claim(db, p_kinds=["extract:llm"]) == [], "the conversation goes on"
    assert ask(db, claim_one(db, "extract:llm", p_flush=True))["purpose"] == "extract"


@pytest.mark.parametrize(
    ("extraction", "mode", "end"),
    [
        ("llm", "verbatim", "embed"),
        ("verbatim", "llm", "chat"),
        ("verbatim", None, "deferred"),
        ("none", "llm", "done"),
        ("none", "verbatim", "done"),
    ],
)
def test_an_extraction_that_a_caller_asked_for_keeps_its_mode_unless_this_is_none_now(
    db: Connection, user: uuid.UUID, extraction: str, mode: str | None, end: str
) -> None:
    session = open_session(db, user)
    append(db, user, session, said("I work at the harbour office."))
    db.execute("delete from recall.jobs")
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": extraction})
    enqueue(db, user, p_session_id=session, p_payload={} if mode is None else {"mode": mode})
    assert ask(db, claim_one(db, "extract", p_flush=True))["type"] == end


@pytest.mark.parametrize("kind", ["summarize", "compact"])
@pytest.mark.parametrize("changes", [{"extraction": "none"}, {"extraction": "verbatim"},
                                     {"summaries": "none"}], ids=str)  # fmt: skip
def test_a_summary_sends_nothing_where_no_model_may_summarize_now(
    db: Connection, user: uuid.UUID, kind: str, changes: dict[str, str]
) -> None:
    session = open_session(db, user)
    append(db, user, session, said(*"abcdefghij"))
    enqueue(db, user, kind, p_session_id=session, p_dedupe_key=str(session))
    call(db, "configure_user", p_user_id=user, p_changes=changes)
    assert ask(db, claim_one(db, kind)) == {
        "type": "done", "outcome": {"kind": kind, "items": 0}}  # fmt: skip
    assert kind not in {row["kind"] for row in job_rows(db, user)}


@pytest.mark.parametrize(
    ("changes", "end"),
    [({"extraction": "none"}, "done"), ({"extraction": "verbatim"}, "chat"),
     ({"extraction": "none", "summaries": "llm"}, "chat"), ({"summaries": "none"}, "done")],
    ids=str,
)  # fmt: skip
def test_a_summary_that_a_caller_asked_for_is_made_unless_the_mode_is_none(
    db: Connection, user: uuid.UUID, changes: dict[str, str], end: str
) -> None:
    session = open_session(db, user)
    append(db, user, session, said(*"abcdefghij"))
    call(db, "configure_user", p_user_id=user, p_changes=changes)
    enqueue(db, user, "summarize", p_session_id=session)
    assert ask(db, claim_one(db, "summarize"))["type"] == end


NO_PHASES = [
    {},
    "x",
    [1],
    [{}],
    [{"phase": "a"}],
    [{"phase": 1, "duration_ms": 1}],
    [{"phase": "a", "duration_ms": "long"}],
    [{"phase": "a", "duration_ms": -1}],
    [{"phase": "a", "duration_ms": 1e300}],
    [{"phase": "a", "duration_ms": 1, "items": -1}],
    [{"phase": "a", "duration_ms": 1, "prompt_tokens": "x"}],
    [{"phase": "a", "duration_ms": 1, "cost_microcents": 1.5}],
    [{"phase": "a", "duration_ms": 1}, {"phase": "b"}],
]
"""What is no list of spans."""


def test_a_failure_with_spans_that_no_client_could_read_is_still_one(
    db: Connection, user: uuid.UUID
) -> None:
    enqueue(db, user, "embed")
    (job,) = claim(db)
    spans = '[{"phase": "a", "duration_ms": 1e400}]'
    assert value(db, "select recall.fail_job(%s, %s, %s, 'boom', p_phases => %s::jsonb)",
                 [*held(job).values(), spans])  # fmt: skip
    assert stored(db, job["job_id"])["last_error"].startswith(
        "boom (its spans are not recorded: p_phases")  # fmt: skip


@pytest.mark.parametrize("phases", NO_PHASES)
def test_a_failure_with_garbage_phases_is_still_one(
    db: Connection, user: uuid.UUID, phases: Any
) -> None:
    enqueue(db, user, "embed")
    (job,) = claim(db)
    assert fail(db, job, p_phases=Jsonb(phases))
    row = stored(db, job["job_id"])
    assert (row["state"], row["attempts"]) == ("ready", 1)
    assert row["last_error"].startswith("boom (its spans are not recorded: p_phases is not a list")
    assert rows(db, "select * from recall.job_phases where user_id = %s", [user]) == []


def test_what_a_failed_attempt_did_is_recorded(db: Connection, user: uuid.UUID) -> None:
    enqueue(db, user, "embed")
    (job,) = claim(db)
    span = {"phase": "embed", "duration_ms": 3.5, "prompt_tokens": 7, "error": "timeout"}
    assert not fail(db, job | {"lease_token": uuid.uuid4()}, p_phases=Jsonb([span]))
    assert fail(db, job, p_phases=Jsonb([span]))
    assert not fail(db, job, p_phases=Jsonb([span])), "once"
    (row,) = rows(db, "select * from recall.job_phases where user_id = %s", [user])
    assert {key: row[key] for key in span} == span
    assert row["job_id"] == job["job_id"]
    assert stored(db, job["job_id"])["last_error"] == "boom"
    db.execute("update recall.jobs set run_at = now()")
    assert fail(db, claim(db)[0], p_phases=None)
    assert stored(db, job["job_id"])["last_error"] == "boom"


@pytest.mark.parametrize("field", ["phase", "model_id", "error"])
def test_a_span_holds_no_secret(db: Connection, user: uuid.UUID, field: str) -> None:
    """A model of the price list is no secret, whatever its name looks like."""
    secret = "sk-proj-a1B2c3D4e5F6g7H8i9J0klmn"
    call(db, "configure_user", p_user_id=user, p_changes={"secrets": "mask"})
    db.execute(
        "insert into recall.models (model_id, context_window_size, input_price, output_price)"
        " values ('org/key/gpt', 8000, 1, 1) on conflict do nothing"
    )
    enqueue(db, user, "embed")
    (job,) = claim(db)
    spans = [{"phase": "embed", "duration_ms": 1, "model_id": "openai:org/key/gpt"},
             {"phase": "embed", "duration_ms": 1} | {field: f"x {secret}"}]  # fmt: skip
    assert fail(db, job, p_phases=Jsonb(spans))
    found = rows(db, "select * from recall.job_phases where user_id = %s", [user])
    assert "openai:org/key/gpt" in {row["model_id"] for row in found}
    (masked,) = (str(row[field]) for row in found if str(row[field]).startswith("x "))
    assert secret not in masked


def test_a_missing_month_of_spans_heals(
    db: Connection, user: uuid.UUID, verbatim: uuid.UUID
) -> None:
    append(db, user, verbatim, said("I work at the harbour office."))
    job = claim_one(db, "extract")
    with db.transaction(force_rollback=True):
        leaf = value(
            db,
            "select l.leaf::text from recall._month_leaves('recall.job_phases') as l"
            " where l.lower_bound <= now() and now() < l.upper_bound",
        )
        db.execute(f"drop table {leaf}".encode())
        assert finish(db, job, {"embed": lambda _: vector()})
        spans = rows(db, "select * from recall.job_phases where job_id = %s", [job["job_id"]])
        assert {span["phase"] for span in spans} == {"embed", "persist"}


# --- embedding


def embedded(db: Connection, user: uuid.UUID) -> list[dict[str, Any]]:
    return rows(
        db, "select * from recall.message_search where user_id = %s order by turn_index", [user]
    )


def test_embed_job_embeds_messages(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(
        db,
        user,
        session,
        [
            {"role": "system", "content": "Be brief."},
            *said("hello there", name="Ada"),
            {"role": "assistant", "content": None},
            *said("good day", role="assistant"),
        ],
    )
    job = claim_one(db, "embed")
    request = ask(db, job)
    assert request["inputs"] == ["Ada: hello there", "assistant: good day"]
    assert request["model"] == EMBEDDING_MODEL
    answer = {"request_id": request["request_id"], "vectors": [vector(2), None]}
    assert ask(db, job, answer)["type"] == "done"
    first, second = embedded(db, user)
    assert (first["embedding"] is not None, first["embedding_model"]) == (True, EMBEDDING_MODEL)
    found_by_words = (second["embedding"], second["embedding_model"])
    assert found_by_words == (None, EMBEDDING_MODEL)
    assert session_row(db, user, session)["indexed_through_turn"] == 4
    assert [job["kind"] for job in job_rows(db, user)] == ["extract"]


def test_a_turn_in_between_is_embedded_again(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said("one", "two"))
    job = claim_one(db, "embed")
    request = ask(db, job, embed_batch=2)
    call(db, "configure_user", p_user_id=user, p_changes={"embed_batch": 2})
    append(db, user, session, said("three"))
    db.execute("delete from recall.jobs where kind = 'embed' and state = 'ready'")
    assert ask(db, job, answer_to(request, {}))["type"] == "done"
    assert [row["turn_index"] for row in embedded(db, user)] == [1, 2]
    assert finish(db, claim_one(db, "embed"))
    assert [row["turn_index"] for row in embedded(db, user)] == [1, 2, 3]


def test_a_turn_that_was_taken_back_is_not_found(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said("one", "two"))
    job = claim_one(db, "embed")
    request = ask(db, job)
    call(db, "retract_turns", p_user_id=user, p_session_id=session, p_from_turn=2)
    again = ask(db, job, answer_to(request, {}))
    assert again["inputs"] == ["user: one"]
    assert ask(db, job, answer_to(again, {}))["type"] == "done"
    assert [row["turn_index"] for row in embedded(db, user)] == [1]


def test_embed_job_embeds_memories_without_vectors(db: Connection, user: uuid.UUID) -> None:
    (made,) = call(db, "remember", p_user_id=user, p_content="Ada likes tea.")
    enqueue(db, user, "embed", p_dedupe_key="later")
    db.execute("delete from recall.jobs where dedupe_key is distinct from 'later'")
    job = claim_one(db, "embed")
    request = ask(db, job)
    assert request["inputs"] == ["Ada likes tea."]
    assert ask(db, job, answer_to(request, {"embed": lambda _: vector(3)}))["type"] == "done"
    (row,) = rows(db, "select * from recall.memory_embedding where user_id = %s", [user])
    assert row["memory_id"] == made["memory_id"]
    assert job_rows(db, user) == []


def test_embed_job_embeds_the_latest_summary(db: Connection, user: uuid.UUID) -> None:
    """A summary that came without a vector asks for it; one that was replaced is passed by."""
    session = open_session(db, user)
    append(db, user, session, said("one", "two"))
    call(db, "configure_user", p_user_id=user, p_changes={"embed_messages": False})

    def summarize(text: str) -> None:
        enqueue(db, user, "summarize", p_session_id=session)
        assert finish(db, claim_one(db, "summarize"), {"summarize": {"summary": text}})

    db.execute("delete from recall.jobs")
    summarize("They said one.")
    job = claim_one(db, "embed")
    assert job["session_id"] == session
    request = ask(db, job)
    assert request["inputs"] == ["They said one."]
    append(db, user, session, said("three"))
    summarize("They said two.")
    answer = answer_to(request, {"embed": lambda _: vector(1)})
    assert ask(db, job, answer)["type"] == "done"
    second = claim_one(db, "embed")
    request = ask(db, second)
    assert request["inputs"] == ["They said two."]
    answer = answer_to(request, {"embed": lambda _: vector(2)})
    assert ask(db, second, answer)["type"] == "done"
    found = rows(
        db,
        "select content, embedding is not null as has_vector from recall.session_summaries"
        " where user_id = %s", [user],
    )  # fmt: skip
    assert {row["content"]: row["has_vector"] for row in found} == {
        "They said one.": False, "They said two.": True}  # fmt: skip
    assert "embed" not in {row["kind"] for row in job_rows(db, user)}


def test_summaries_of_another_model_are_embedded_anew(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said("one", "two"))
    db.execute("delete from recall.jobs")
    enqueue(db, user, "summarize", p_session_id=session)
    answers = {"summarize": {"summary": "They said one."}, "embed": lambda _: vector(1)}
    assert finish(db, claim_one(db, "summarize"), answers)
    assert "embed" not in {row["kind"] for row in job_rows(db, user)}
    db.execute("update recall.session_summaries set embedding_model = 'old' where user_id = %s",
               [user])  # fmt: skip
    db.execute("update recall.maintenance_tasks set position = null"
               " where task = 'enqueue_missing_embeddings'")  # fmt: skip
    while call(db, "enqueue_missing_embeddings")[0]["more"]:
        pass
    db.execute("delete from recall.jobs where user_id <> %s or session_id is not null", [user])
    job = claim_one(db, "embed")
    assert ask(db, job)["inputs"] == ["They said one."]


def test_what_cannot_be_embedded_does_not_keep_a_worker_busy(
    db: Connection, user: uuid.UUID
) -> None:
    call(db, "remember", p_user_id=user, p_content="Ada likes tea.")
    db.execute("delete from recall.jobs")
    enqueue(db, user, "embed")
    assert finish(db, claim_one(db, "embed"))
    assert job_rows(db, user) == [], "a sweep looks again later"


# --- summaries and compaction


def test_compaction_summarizes_whole_exchanges_of_old_turns(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user, p_context_window_size=1000, p_max_response_tokens=100)
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    for n in range(12):
        append(db, user, session, said(f"question {n}", token_count=30))
        append(db, user, session, [{"role": "assistant", "tool_calls": [call], "token_count": 20}])
        append(db, user, session, [{"role": "tool", "tool_call_id": "c", "content": "found",
                                    "token_count": 50}])  # fmt: skip
    enqueue(db, user, "compact", p_session_id=session)
    job = claim_one(db, "compact")
    request = ask(db, job, embedding_model=None)
    answer = answer_to(request, {"compact": {"summary": "They talked."}})
    assert ask(db, job, answer, embedding_model=None)["type"] == "done"
    row = session_row(db, user, session)
    through = row["compacted_through_turn"]
    assert 3 <= through <= 24, "the last four user turns stay"
    assert through % 3 == 0, "whole user turns, where they fit"
    shown = re.findall(r"^\[(\d+)\]", request["messages"][1]["content"], re.MULTILINE)
    assert [int(turn) for turn in shown] == list(range(1, through + 1))
    assert row["active_tokens"] == 1200 - 100 * through // 3


def summaries(db: Connection, user: uuid.UUID) -> list[tuple[int, str]]:
    return [
        (row["to_turn"], row["content"])
        for row in rows(
            db,
            "select * from recall.session_summaries where user_id = %s and ended_at is null",
            [user],
        )
    ]


def test_summarize_job_without_new_turns_asks_no_model(db: Connection, user: uuid.UUID) -> None:
    """No model is asked about turns that were summarized, taken back or never said."""
    session = open_session(db, user)

    def summarize(answers: Any = None) -> Any:
        db.execute("delete from recall.jobs")
        enqueue(db, user, "summarize", p_session_id=session)
        return do_job(db, claim_one(db, "summarize"), answers)

    nothing = {"type": "done", "outcome": {"kind": "summarize", "items": 0}}
    assert summarize() == nothing, "not a word yet"

    append(db, user, session, [{"role": "system", "content": "Be brief."}, *said("hello", "you")])
    call(db, "retract_turns", p_user_id=user, p_session_id=session, p_from_turn=2)
    assert summarize() == nothing, "what was said was taken back"
    assert summaries(db, user) == []

    append(db, user, session, said("hello again"))
    assert summarize({"summarize": {"summary": "A greeting."}})["type"] == "done"
    assert summarize() == nothing, "nothing since then"
    assert summaries(db, user) == [(4, "A greeting.")]
    append(db, user, session, said("Are you there?"))
    for empty in ("", " "):
        failed = summarize({"summarize": {"summary": empty}})
        assert failed["type"] == "failed"
        assert failed["error"].startswith("summary is empty")
    assert summaries(db, user) == [(4, "A greeting.")]


@pytest.mark.concurrent
def test_compaction_races_appends_and_another_compaction(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    session = open_session(db, user, p_context_window_size=1000, p_max_response_tokens=100)
    tool_call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    exchange = [
        *said("question", token_count=20),
        {"role": "assistant", "tool_calls": [tool_call], "token_count": 20},
        {"role": "tool", "tool_call_id": "c", "content": "found", "token_count": 20},
        *said("answer", role="assistant", token_count=20),
    ]
    connections = [connect() for _ in range(3)]
    for number in range(6):
        append(db, user, session, exchange * 10)
        db.execute("delete from recall.jobs")  # among them the compaction that this append left
        first = enqueue(db, user, "compact", p_session_id=session)
        job = claim_one(db, "compact")
        assert job["job_id"] == first
        request = ask(db, job, embedding_model=None)
        assert request["purpose"] == "compact", number
        answers = [answer_to(request, {"compact": {"summary": text}}) for text in ("one", "two")]
        # a second worker that believes the lease is still its own, with the same request
        results = together(
            [
                partial(ask, connections[0], job, answers[0], embedding_model=None),
                partial(ask, connections[1], job, answers[1], embedding_model=None),
                partial(append, connections[2], user, session, exchange * 3),
            ]
        )
        raise_errors(results)
        assert sorted(end["type"] for end in results[:2]) == ["done", "gone"]
        # what was asked before a retraction is asked anew
        append(db, user, session, exchange * 10)
        db.execute("delete from recall.jobs")
        enqueue(db, user, "compact", p_session_id=session)
        stale = claim_one(db, "compact")
        request = ask(db, stale, embedding_model=None)
        assert request["purpose"] == "compact"
        if number % 2:
            shown = re.findall(r"^\[(\d+)\]", request["messages"][1]["content"], re.MULTILINE)
            call(db, "retract_turns", p_user_id=user, p_session_id=session,
                 p_from_turn=int(shown[-1]))  # fmt: skip
        before = session_row(db, user, session)["compacted_through_turn"]
        answer = answer_to(request, {"compact": {"summary": "again"}})
        end = ask(db, stale, answer, embedding_model=None)
        is_done = session_row(db, user, session)["compacted_through_turn"] > before
        assert (end["type"] == "done") == is_done == (number % 2 == 0)
        db.execute("delete from recall.jobs")


# --- extraction by a model


@pytest.fixture
def by_model(db: Connection, user: uuid.UUID) -> tuple[uuid.UUID, Job]:
    """A session with three turns, and its extraction under a lease."""
    session = open_session(db, user)
    append(db, user, session, said("I moved to Bergen."))
    append(db, user, session, said("Lovely!", role="assistant"))
    append(db, user, session, said("And call me Ada."))
    db.execute('update recall.jobs set run_at = now(), payload = \'{"mode": "llm"}\'')
    db.execute("update recall.sessions set status = 'paused' where user_id = %s", [user])
    return session, claim_one(db, "extract")


def test_extraction_by_a_model(
    db: Connection, user: uuid.UUID, by_model: tuple[uuid.UUID, Job]
) -> None:
    session, job = by_model
    call(db, "remember", p_user_id=user, p_content="The user lives in Oslo.")
    request = ask(db, job, embedding_model=None)
    assert request["messages"][1]["content"].endswith(
        "<conversation>\n[1] user: I moved to Bergen.\n[2] assistant: Lovely!\n"
        "[3] user: And call me Ada.\n</conversation>"
    )
    assert " At most 6 facts." in request["messages"][1]["content"]
    facts = [
        fact("The user lives in Oslo or Bergen.", turns=[1]),
        fact("The user wants to be called Ada.", kind="preference", turns=[3, 99]),
    ]
    answers = {
        "extract": {"facts": facts,
                    "episodes": [{"content": "They talked about a move.", "turns": [1, 2]}]},
        "consolidate": {"decisions": [{"candidate": 1, "decision": "UPDATE", "target": 1}]},
    }  # fmt: skip
    assert finish(db, job, answers)
    stored_ = {m["content"]: m for m in memories(db, user)}
    assert stored_["The user lives in Oslo."]["end_reason"] == "superseded"
    bergen = stored_["The user lives in Oslo or Bergen."]
    assert (bergen["is_active"], bergen["provenance"]) == (True, "user_stated")
    (first,) = rows(db, "select message_id from recall.conversation_history"
                        " where user_id = %s and turn_index = 1", [user])  # fmt: skip
    assert bergen["source_turn_ids"] == [first["message_id"]]
    assert stored_["The user wants to be called Ada."]["provenance"] == "preference"
    episode = stored_["They talked about a move."]
    assert (episode["kind"], episode["tier"]) == ("episode", "episodic")
    assert session_row(db, user, session)["extracted_through_turn"] == 3
    assert do_job(db, job, answers) == {"type": "gone"}
