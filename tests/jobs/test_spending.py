"""Costs of model work: spans, totals of a session, and daily limits."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg import conninfo
from psycopg.types.json import Jsonb

from support import (
    MODEL,
    append,
    ask,
    call,
    do_job,
    finding,
    job_rows,
    login_role,
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
from support.invariants import check_invariants
from support.queue import claim, held, now
from support.scripted_model import fact

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]
Job = dict[str, Any]

LIMIT = 1000
"""Micro-cents."""


@pytest.fixture(autouse=True)
def clean(db: Connection) -> Iterator[None]:
    """An empty queue, nothing spent, no limit: claims look at all users."""
    db.execute("delete from recall.jobs")
    db.execute("delete from recall.model_spending")
    db.execute("delete from recall.model_spending_totals")
    yield
    configure(db, daily_cost_limit_microcents=None, daily_user_cost_limit_microcents=None)


def configure(db: Connection, **changes: Any) -> None:
    db.execute("select recall.configure(%s)", [Jsonb(changes)])


def configure_user(db: Connection, user: uuid.UUID, limit: int | None) -> None:
    call(db, "configure_user", p_user_id=user,
         p_changes={"daily_user_cost_limit_microcents": limit})  # fmt: skip


def enqueue(conn: Connection, user: uuid.UUID, kind: str = "merge", **more: Any) -> uuid.UUID:
    return call(conn, "enqueue_job", p_user_id=user, p_kind=kind, **more)[0]["enqueue_job"]


def span(cost: int | None = 0, **more: Any) -> dict[str, Any]:
    return {"phase": "extract", "duration_ms": 1, "cost_microcents": cost} | more


def fail(conn: Connection, job: Job, *phases: dict[str, Any]) -> bool:
    (row,) = call(conn, "fail_job", **held(job), p_error="boom", p_phases=Jsonb(list(phases)))
    return row["fail_job"]


def spend(db: Connection, user: uuid.UUID, cost: int) -> None:
    """Spend as an attempt does that fails for good."""
    enqueue(db, user, "embed")
    (job,) = claim(db, p_kinds=["embed"])
    assert job["user_id"] == user
    assert fail(db, job, span(cost))
    db.execute("delete from recall.jobs where job_id = %s", [job["job_id"]])


def spent(db: Connection, user: uuid.UUID) -> int:
    return value(
        db,
        "select coalesce(sum(cost_microcents), 0)::bigint from recall.model_spending"
        " where user_id = %s and day = (now() at time zone 'UTC')::date",
        [user],
    )


def spans_of(db: Connection, user: uuid.UUID) -> list[dict[str, Any]]:
    return rows(
        db, "select * from recall.job_phases where user_id = %s order by created_at, phase", [user]
    )


def due(db: Connection) -> None:
    db.execute("update recall.jobs set run_at = now() where state = 'ready'")


# --- spans, and whose they are


@pytest.mark.concurrent
def test_every_finished_job_says_what_its_effect_took(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"summarize_after_turns": 100})
    session = open_session(db, user)
    append(db, user, session, said(*(f"number {n}" for n in range(10))))
    (extract,) = claim(db, p_kinds=["extract"])
    (embed,) = claim(db, p_kinds=["embed"])
    enqueue(db, user, "summarize", p_session_id=session)
    (summarize,) = claim(db, p_kinds=["summarize"])
    enqueue(db, user, "compact", p_session_id=session)
    (compact,) = claim(db, p_kinds=["compact"])
    answers = {
        "extract": {"facts": [fact(f"User counts to {n}.") for n in range(3)],
                    "episodes": [{"content": "Counted.", "turns": []}]},
        "summarize": {"summary": "Counting."},
    }  # fmt: skip
    for job in (extract, embed, summarize):
        assert do_job(db, job, answers)["type"] == "done"

    # another compaction comes between the step and its effect
    other, conn = connect(autocommit=False), connect()
    other.execute("update recall.sessions set compacted_through_turn = 2 where session_id = %s",
                  [session])  # fmt: skip
    ends: list[Any] = []
    thread = threading.Thread(target=lambda: ends.append(do_job(conn, compact)))
    thread.start()
    wait_for_lock(db, conn.info.backend_pid)
    other.commit()
    thread.join(60)
    assert [end["type"] for end in ends] == ["deferred"]
    db.execute("update recall.sessions set compacted_through_turn = 0 where session_id = %s",
               [session])  # fmt: skip

    found = {row["kind"]: row for row in spans_of(db, user) if row["phase"] == "persist"}
    assert {kind: (row["items"], row["error"]) for kind, row in found.items()} == {
        "extract": (4, None),
        "embed": (0, None),
        "summarize": (1, None),
        "compact": (0, "the session moved on"),
    }
    for row in found.values():
        assert 0 < row["duration_ms"] < 60_000
        assert (row["session_id"], row["cost_microcents"]) == (session, 0)


def test_usage_goes_into_the_session(db: Connection, user: uuid.UUID) -> None:
    """Of finished and failed attempts alike, beside that of the turns."""
    session = open_session(db, user)
    append(db, user, session, said("hello"), {"prompt_tokens": 7, "cost_microcents": 1})
    db.execute("delete from recall.jobs")
    enqueue(db, user, "summarize", p_session_id=session)
    (job,) = claim(db)
    assert fail(db, job, span(30, prompt_tokens=100, completion_tokens=10), span(None))
    due(db)
    (job,) = claim(db)
    request_id = ask(db, job, embedding_model=None)["request_id"]
    failed = {"request_id": request_id, "error": {"code": "busy"}, "usage": {"prompt_tokens": 50}}
    assert ask(db, job, failed, embedding_model=None)["type"] == "failed"
    due(db)
    (job,) = claim(db)
    request_id = ask(db, job, embedding_model=None)["request_id"]
    with refused("RC003"):
        ask(db, job, {"request_id": request_id, "text": "x", "usage": {"prompt_tokens": 9000}})
    end = do_job(db, job, {"summarize": {"summary": "x"},
                           "usage": {"prompt_tokens": 2, "completion_tokens": 1}})  # fmt: skip
    assert end["type"] == "done"
    row = session_row(db, user, session)
    assert (
        row["total_prompt_tokens"], row["total_completion_tokens"], row["total_cost_microcents"]
    ) == (159, 11, 871)  # fmt: skip
    assert spent(db, user) == 870, "the turns are the application's own"
    assert value(db, "select sum(cost_microcents)::int from recall.model_spending_totals") == 870
    check_invariants(db)


def test_spans_of_no_session_are_the_users(db: Connection, user: uuid.UUID) -> None:
    enqueue(db, user)
    enqueue(db, user, p_session_id=uuid.uuid4())
    for job in claim(db):
        assert fail(db, job, span(4))
    assert spent(db, user) == 8


def test_a_price_that_was_not_given(db: Connection, user: uuid.UUID) -> None:
    """Tokens are priced by `models`; of an unknown one they cost nothing, and health says so."""
    tokens = {"prompt_tokens": 1_000_000, "completion_tokens": 500_001}
    session = open_session(db, user)
    enqueue(db, user, p_session_id=session)
    (job,) = claim(db)
    assert finding(db, "prices")[0] == "ok"
    assert fail(
        db,
        job,
        span(None, phase="a", model_id=MODEL, **tokens),
        span(5, phase="b", model_id="unheard-of", **tokens),
        span(None, phase="c", model_id="openai:text-embedding-3-small", prompt_tokens=500_001),
        span(0, phase="d", model_id=MODEL, **tokens),
        span(0, phase="e", model_id="local"),
    )
    assert [row["cost_microcents"] for row in spans_of(db, user)] == [
        45_000_060,
        5,
        1_000_002,
        0,
        0,
    ]
    assert finding(db, "prices") == (
        "ok", "every model that was called in the last day has a price", None
    )  # fmt: skip
    due(db)
    (job,) = claim(db)
    before = spent(db, user)
    assert fail(db, job, span(0, model_id="my-own", **tokens),
                span(None, model_id="other", **tokens))  # fmt: skip
    assert [row["cost_microcents"] for row in spans_of(db, user)][-2:] == [None, None]
    assert spent(db, user) == before
    assert session_row(db, user, session)["total_cost_microcents"] == before
    status, detail, hint = finding(db, "prices")
    assert (status, detail.split(": ")[1]) == ("warn", "my-own, other")
    assert hint is not None
    check_invariants(db)
    db.execute("update recall.job_phases set cost_microcents = 0 where cost_microcents is null")


def test_purged_spans_break_nothing(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    enqueue(db, user, p_session_id=session)
    assert fail(db, claim(db)[0], span(9, prompt_tokens=3))
    with db.transaction(force_rollback=True):
        leaf = value(
            db,
            "select l.leaf::text from recall._month_leaves('recall.job_phases') as l"
            " where l.lower_bound <= now() and now() < l.upper_bound",
        )
        db.execute(f"drop table {leaf}".encode())
        db.execute("update recall.migrations set applied_at = now() - interval '90 days'")
        db.execute("update recall.sessions set created_at = now() - interval '80 days'")
        db.execute("select recall.ensure_partitions()")
        check_invariants(db)


# --- limits


def test_jobs_of_a_user_past_their_limit_are_deferred(db: Connection, user: uuid.UUID) -> None:
    """Only this user's jobs that need a model are deferred."""
    other = uuid.uuid4()
    configure(db, daily_user_cost_limit_microcents=LIMIT)
    spend(db, user, LIMIT - 1)
    enqueue(db, user)
    (job,) = claim(db)
    assert fail(db, job, span(1)), "the call that reaches it"
    db.execute("delete from recall.jobs")

    waiting = {
        enqueue(db, user, kind, p_payload=Jsonb(payload))
        for kind, payload in (
            ("extract", {"mode": "llm"}), ("extract", {}), ("summarize", {}), ("compact", {}),
            ("merge", {}), ("pattern", {}),
        )
    }  # fmt: skip
    going_on = {
        enqueue(db, user, "embed"),
        enqueue(db, user, "extract", p_payload=Jsonb({"mode": "verbatim"})),
        enqueue(db, other),
        enqueue(db, other, "extract", p_payload=Jsonb({"mode": "llm"})),
    }
    assert {job["job_id"] for job in claim(db)} == going_on
    put_off = [job for job in job_rows(db, user) if job["job_id"] in waiting]
    assert len(put_off) == len(waiting)
    midnight = (now() + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    for job in put_off:
        assert (job["state"], job["attempts"]) == ("ready", 0)
        assert job["last_error"].startswith("RC005 the jobs of this user have spent 1000 micro-")
        assert job["last_error"].endswith("the daily limit is 1000")
        assert now() < job["run_at"] <= midnight
        assert job["run_at"] == midnight or job["run_at"] > now() + timedelta(minutes=9)
    assert claim(db) == []


def test_limit_of_all_users_defers_jobs_of_every_user(db: Connection, user: uuid.UUID) -> None:
    other = uuid.uuid4()
    configure(db, daily_cost_limit_microcents=LIMIT)
    spend(db, other, LIMIT // 2)
    spend(db, uuid.uuid4(), LIMIT - LIMIT // 2)
    for someone in (user, other):
        enqueue(db, someone)
        enqueue(db, someone, "embed")
    assert Counter(job["kind"] for job in claim(db)) == {"embed": 2}
    errors = {job["last_error"] for job in job_rows(db, user) if job["kind"] == "merge"}
    said_so = (
        f"RC005 the jobs of all users have spent 1000 micro-cents on models on {now().date()}"
        " (UTC), the daily limit is 1000"
    )
    assert errors == {said_so}


def test_a_limit_that_is_raised(db: Connection, user: uuid.UUID) -> None:
    configure(db, daily_user_cost_limit_microcents=LIMIT)
    spend(db, user, LIMIT)
    job_id = enqueue(db, user)
    assert claim(db) == []
    due(db)
    configure_user(db, user, LIMIT + 1)
    (job,) = claim(db)
    assert (job["job_id"], job["attempts"]) == (job_id, 1)
    assert fail(db, job)
    due(db)
    configure_user(db, user, None)
    assert claim(db) == [], "what holds for everybody holds again"
    configure(db, daily_user_cost_limit_microcents=None)
    due(db)
    assert len(claim(db)) == 1


def test_limit_of_zero_defers_every_job_of_the_user(db: Connection, user: uuid.UUID) -> None:
    configure_user(db, user, 0)
    enqueue(db, user)
    enqueue(db, uuid.uuid4())
    assert len(claim(db)) == 1


def test_jobs_deferred_by_a_limit_run_after_midnight_utc(db: Connection, user: uuid.UUID) -> None:
    configure(db, daily_cost_limit_microcents=LIMIT, daily_user_cost_limit_microcents=LIMIT)
    spend(db, user, LIMIT)
    enqueue(db, user)
    db.execute("set timezone = 'Pacific/Kiritimati'")  # the day is UTC wherever one is
    assert claim(db) == []
    due(db)
    for table in ("model_spending", "model_spending_totals"):
        db.execute(f"update recall.{table} set day = day - 1".encode())
    (job,) = claim(db)
    assert fail(db, job, span(3))
    assert spent(db, user) == 3


def test_what_a_user_may_not_be_configured(db: Connection, user: uuid.UUID) -> None:
    with refused("RC003", "applies to all users together"):
        call(db, "configure_user", p_user_id=user, p_changes={"daily_cost_limit_microcents": 1})
    for bad in (-1, 1.5, "much", 1e30, [], True):
        for name in ("daily_cost_limit_microcents", "daily_user_cost_limit_microcents"):
            with refused("RC003", "a setting is out of range"):
                configure(db, **{name: bad})
        with refused("RC003", "a setting is out of range"):
            call(db, "configure_user", p_user_id=user,
                 p_changes={"daily_user_cost_limit_microcents": bad})  # fmt: skip
    configure(db, daily_cost_limit_microcents=5)
    assert value(db, "select recall.get_settings() ->> 'daily_cost_limit_microcents'") == "5"
    configure(db, daily_cost_limit_microcents=None)
    assert value(db, "select recall.get_settings() ->> 'daily_cost_limit_microcents'") is None


def test_a_limit_that_is_reached_is_seen(db: Connection, user: uuid.UUID) -> None:
    detail = (
        "jobs have spent 0 micro-cents on models today (UTC), the limit is none; "
        "0 jobs wait because of a limit"
    )
    assert finding(db, "spending") == ("ok", detail, None)
    configure_user(db, user, LIMIT)
    spend(db, user, LIMIT)
    enqueue(db, user)
    assert finding(db, "spending")[0] == "ok"
    claim(db)
    status, detail, hint = finding(db, "spending")
    assert status == "warn"
    assert "spent 1000 micro-cents" in detail
    assert "1 jobs wait" in detail
    assert hint is not None
    assert "configure_user(user_id, '{\"daily_user_cost_limit_microcents\": …}')" in hint
    configure(db, daily_cost_limit_microcents=LIMIT)
    status, detail, hint = finding(db, "spending")
    assert (status, "the limit is 1000" in detail) == ("warn", True)
    assert hint is not None
    assert "recall.configure('{\"daily_cost_limit_microcents\": …}')" in hint


# --- a long queue, many workers


@pytest.mark.parametrize("whose", ["one user", "users", "everybody"])
def test_claim_jobs_finds_jobs_behind_a_thousand_deferred_ones(db: Connection, whose: str) -> None:
    """The first claim finds the jobs of other users behind a thousand deferred ones."""
    blocked = [uuid.uuid4() for _ in range(1 if whose == "one user" else 1000)]
    if whose == "everybody":
        configure(db, daily_cost_limit_microcents=0)
    db.execute(
        "insert into recall.jobs (user_id, job_id, kind, run_at, max_attempts, created_at)"
        " select (%s::uuid[])[1 + n %% %s], gen_random_uuid(), 'merge', now() - interval '1 hour',"
        " 8, now() from generate_series(0, 999) as n",
        [blocked, len(blocked)],
    )
    if whose != "everybody":
        configure(db, daily_user_cost_limit_microcents=1)
        db.execute(
            "insert into recall.model_spending"
            " select u, (now() at time zone 'UTC')::date, 1 from unnest(%s::uuid[]) as u",
            [blocked],
        )
    free = uuid.uuid4()
    expected = {enqueue(db, free, "embed")}
    if whose != "everybody":
        expected.add(enqueue(db, free))
    assert {job["job_id"] for job in claim(db)} == expected
    put_off = value(db, "select count(*) from recall.jobs where last_error like 'RC005 %'")
    assert put_off == {"one user": 200, "users": 400, "everybody": 200}[whose]
    for _ in range(5):
        assert claim(db) == []
    put_off = value(db, "select count(*) from recall.jobs where last_error like 'RC005 %'")
    assert put_off == 1000
    assert value(db, "select count(*) from recall.jobs where attempts > 0") == len(expected)


@pytest.mark.concurrent
def test_two_claimers_at_a_limit(db: Connection, connect: Connect, user: uuid.UUID) -> None:
    """Every job waits or is taken, once, and nobody deadlocks."""
    other = uuid.uuid4()
    configure(db, daily_user_cost_limit_microcents=LIMIT)
    spend(db, user, LIMIT)
    for number in range(60):
        enqueue(db, (user, other)[number % 2], p_session_id=uuid.uuid4())
    results = together(partial(claim, connect(), p_limit=60) for _ in range(3))
    raise_errors(results)
    taken = [job["job_id"] for result in [*results, claim(db)] for job in result]
    assert len(taken) == len(set(taken)) == 30
    assert {job["user_id"] for result in results for job in result} == {other}
    assert {job["last_error"][:5] for job in job_rows(db, user)} == {"RC005"}


@pytest.mark.concurrent
def test_many_spend_at_once(db: Connection, connect: Connect) -> None:
    """Finishing, failing and appending to the same sessions: every micro-cent is counted once."""
    users = [uuid.uuid4() for _ in range(3)]
    sessions = [open_session(db, user) for user in users for _ in range(2)]
    owners = [user for user in users for _ in range(2)]
    for user, session in zip(owners, sessions, strict=True):
        append(db, user, session, said("hello"))
        for kind in ("summarize", "merge", "pattern"):
            enqueue(db, user, kind, p_session_id=session, p_dedupe_key=f"{session} {kind}")
    db.execute("delete from recall.jobs where kind in ('extract', 'embed')")

    def work() -> None:
        conn = connect()
        for job in claim(conn, p_limit=5):
            if job["kind"] == "summarize":
                end = do_job(conn, job, {"summarize": {"summary": "x"},
                                         "usage": {"prompt_tokens": 1}})  # fmt: skip
                assert end["type"] == "done"
            else:
                assert fail(conn, job, span(15))

    def talk() -> None:
        conn = connect()
        for user, session in zip(owners, sessions, strict=True):
            append(conn, user, session, said("more"), {"cost_microcents": 1})

    raise_errors(together([work] * 4 + [talk] * 2))
    attempts = value(db, "select count(*) from recall.job_phases where cost_microcents = 15"
                         " and user_id = any(%s)", [users])  # fmt: skip
    assert attempts > 10
    assert sum(spent(db, user) for user in users) == 15 * attempts
    total = value(db, "select sum(cost_microcents)::int from recall.model_spending_totals")
    assert total == 15 * attempts


# --- prices, and who may read what


def test_list_models_gives_prices_to_a_reader(db: Connection, dsn: str, user: uuid.UUID) -> None:
    call(db, "register_model", p_model_id="mine", p_context_window_size=1000, p_tokenizer="t",
         p_input_price=3, p_output_price=5)  # fmt: skip
    enqueue(db, user)
    fail(db, claim(db)[0], span(4))
    with login_role(db, member_of=["recall_reader"]) as login:
        with psycopg.connect(conninfo.make_conninfo(dsn, **login), autocommit=True) as conn:
            found = {row["model_id"]: row for row in call(conn, "list_models")}
            assert list(found) == sorted(found)
            assert tuple(found["mine"].values()) == ("mine", 1000, "t", 3, 3, 5)
            small = found["text-embedding-3-small"]
            assert tuple(small.values())[1:] == (8191, "cl100k_base", 2_000_000, 2_000_000, 0)
            assert found["text-embedding-3-large"]["input_price"] == 13_000_000
            # his own spending, nobody else's
            assert rows(conn, "select * from recall.model_spending") == []
            assert rows(conn, "select * from recall.model_spending_totals") == []
            conn.execute("select set_config('recall.user_id', %s, false)", [str(user)])
            assert [row["cost_microcents"] for row in
                    rows(conn, "select * from recall.model_spending")] == [4]  # fmt: skip
            with refused("42501"):
                conn.execute("update recall.model_spending set cost_microcents = 0")
        with psycopg.connect(conninfo.make_conninfo(dsn, **login)) as conn, refused("42501"):
            fail(conn, {"user_id": user, "job_id": user, "lease_token": user})
