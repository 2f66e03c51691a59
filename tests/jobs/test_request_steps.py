"""Each step of recall.next_request to its end: what it asks and stores, and what a crash costs."""

from __future__ import annotations

import itertools
import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from test_next_request import answered, claim, vector

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
from support.memories import remember

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]
Request = dict[str, Any]


@pytest.fixture(autouse=True)
def alone(db: Connection) -> Iterator[None]:
    db.execute("delete from recall.jobs")
    yield
    db.execute("delete from recall.jobs")


@dataclass(frozen=True, slots=True)
class Step:
    """A job of a kind, and how it goes.

    Attributes:
        make: makes what the job needs, and the job.
        script: what the model says.
        worker: what the worker offers beside the usual.
        asked: purposes of the requests, in order.
        kind: of the job.
    """

    make: Callable[[Connection, uuid.UUID], None]
    script: Callable[[Request], Any]
    asked: list[str]
    kind: str
    worker: dict[str, Any] = field(default_factory=dict)


def user_part(request: Request) -> str:
    return str(request["messages"][1]["content"])


# --- extract

BOXES = 8
DECISIONS = ("UPDATE", "DELETE", "ADD", "NONE")
LONG = " behind the old house by the lake where we used to live" * 6


def box(number: int, what: str) -> str:
    return f"User keeps item{number} in {what}{number}{LONG}."


def make_extraction(conn: Connection, user: uuid.UUID) -> None:
    for number in range(BOXES):
        text = box(number, "box")
        remember(conn, user, text, p_kind="personal", p_embedding=str(vector(text)))
    session = open_session(conn, user)
    for number in range(4):
        append(conn, user, session, [
            {"role": "user", "content": f"Items {number} and {number + 4} went into a crate."},
            {"role": "assistant", "content": "Noted."}])  # fmt: skip


def extract_script(request: Request) -> Any:
    asked = user_part(request)
    if request["purpose"] == "extract":
        facts = [{"content": box(number, "crate"), "kind": "personal", "confidence": "high",
                  "turns": [2 * (number % 4) + 1]} for number in range(BOXES)]  # fmt: skip
        return {"facts": facts,
                "episodes": [{"content": "Items were moved.", "turns": [1, 8]}]}  # fmt: skip
    decisions = []
    for number, item in re.findall(r"^(\d+)\. User keeps item(\d+) ", asked, re.MULTILINE):
        decision = DECISIONS[int(item) % 4]
        below = asked.split(f"\n{number}. ")[-1] if f"\n{number}. " in asked else asked
        (target, *_) = re.findall(rf"^   (\d+)\) User keeps item{item} ", below, re.MULTILINE)
        target = int(target) if decision in ("UPDATE", "DELETE") else None
        decisions.append({"candidate": int(number), "decision": decision, "target": target})
    return {"decisions": decisions}


# --- summaries

TALK = "We talked about the bridge over the river and who is to paint it in which color. " * 12


def make_talk(conn: Connection, user: uuid.UUID) -> uuid.UUID:
    session = open_session(conn, user, p_context_window_size=6000, p_max_response_tokens=500)
    for number in range(12):
        append(conn, user, session, [{"role": "user", "content": f"{number}: {TALK}"},
                                     {"role": "assistant", "content": f"Yes, {TALK}"}])  # fmt: skip
    conn.execute("delete from recall.jobs where user_id = %s", [user])
    return session


def make_summary(conn: Connection, user: uuid.UUID) -> None:
    session = make_talk(conn, user)
    call(conn, "enqueue_job", p_user_id=user, p_kind="summarize", p_session_id=session)


def make_compaction(conn: Connection, user: uuid.UUID) -> None:
    session = make_talk(conn, user)
    call(conn, "enqueue_job", p_user_id=user, p_kind="compact", p_session_id=session)


def summary_script(request: Request) -> Any:
    asked = user_part(request)
    before = re.search(r"<summary>\n(.*)\n</summary>", asked)
    turns = [int(turn) for turn in re.findall(r"^\[(\d+)\]", asked, re.MULTILINE)]
    return {"summary": f"{before[1] if before else 'Turns'} {min(turns)}-{max(turns)},"}


# --- merges and patterns


def make_merge(conn: Connection, user: uuid.UUID) -> None:
    ids = [str(remember(conn, user, text, p_kind="preference", p_tags=["food"])["memory_id"])
           for text in ("User likes tea", "User likes green tea", "User likes jazz")]  # fmt: skip
    call(conn, "enqueue_job", p_user_id=user, p_kind="merge",
         p_payload={"tag": "food", "kind": "preference", "memory_ids": ids})  # fmt: skip


def merge_script(request: Request) -> Any:
    lines = user_part(request)
    parts = [int(n) for n in re.findall(r"^(\d+)\. User likes (?:green )?tea", lines, re.MULTILINE)]
    return {"merges": [{"content": "User likes green tea.", "parts": parts}]}


def make_pattern(conn: Connection, user: uuid.UUID) -> None:
    ids = []
    for number in range(3):
        text = f"Asked why the printer {number} is offline; a restart helped."
        ids.append(str(remember(conn, user, text, p_kind="episode",
                                p_embedding=str(vector(text)))["memory_id"]))  # fmt: skip
    call(conn, "enqueue_job", p_user_id=user, p_kind="pattern", p_payload={"memory_ids": ids})


def pattern_script(request: Request) -> Any:
    assert user_part(request).count("printer") == 3
    return {"pattern": "User has recurring printer issues.", "tags": ["Printer"],
            "solutions": [{"episode": 2, "solution": "restart"}]}  # fmt: skip


# --- vectors


def make_vectors(conn: Connection, user: uuid.UUID) -> None:
    for number in range(5):
        remember(conn, user, f"User owns bicycle number {number}")
    conn.execute("delete from recall.jobs where user_id = %s", [user])
    call(conn, "enqueue_job", p_user_id=user, p_kind="embed")


def make_verbatim(
    conn: Connection, user: uuid.UUID, text: str = "I bought my bicycle number {} in Lyon last May."
) -> None:
    session = open_session(conn, user)
    append(conn, user, session, [{"role": "user", "content": text.format(number)}
                                 for number in range(5)])  # fmt: skip
    conn.execute("delete from recall.jobs where user_id = %s", [user])
    call(conn, "enqueue_job", p_user_id=user, p_kind="extract", p_session_id=session,
         p_payload={"mode": "verbatim"})  # fmt: skip


def unasked(request: Request) -> Any:
    raise AssertionError(request)


STEPS = {
    "extract": Step(
        make_extraction, extract_script,
        ["extract", "embed", "embed", "consolidate", "consolidate"],
        "extract",
        {"embed_batch": 6,
         "models": {"consolidate": {"model": "small", "context_window": 3100}}}),
    "summarize": Step(make_summary, summary_script, ["summarize"] * 3 + ["embed"], "summarize",
                      {"context_window": 4096}),
    "compact": Step(make_compaction, summary_script, ["compact"] * 3 + ["embed"], "compact",
                    {"context_window": 4096}),
    "merge": Step(make_merge, merge_script, ["merge", "embed"], "merge"),
    "pattern": Step(make_pattern, pattern_script, ["pattern", "embed"], "pattern"),
    "embed": Step(make_vectors, unasked, ["embed"] * 3, "embed", {"embed_batch": 2}),
    "verbatim": Step(make_verbatim, unasked, ["embed"] * 3, "extract", {"embed_batch": 2}),
}  # fmt: skip


def stored(conn: Connection, user: uuid.UUID) -> dict[str, Any]:
    """Return what a step may have stored, without ids and times."""
    return {
        "memories": rows(
            conn,
            "select m.content, m.kind, m.tags, m.end_reason, m.importance, m.confidence,"
            "  m.superseded_by is not null as is_replaced, cardinality(m.source_turn_ids) as turns,"
            " exists (select from recall.memory_embedding as e where e.user_id = m.user_id"
            " and e.memory_id = m.memory_id) as has_vector"
            " from recall.memory_store as m where m.user_id = %s order by m.content, m.kind",
            [user],
        ),
        "summaries": rows(
            conn,
            "select kind, from_turn, to_turn, content, embedding is not null as has_vector"
            " from recall.session_summaries where user_id = %s order by 1, 2",
            [user],
        ),
        "sessions": rows(
            conn,
            "select extracted_through_turn, compacted_through_turn, total_prompt_tokens"
            " from recall.sessions where user_id = %s",
            [user],
        ),
        "jobs": rows(
            conn, "select kind, state::text from recall.jobs where user_id = %s order by 1", [user]
        ),
        "spans": rows(
            conn,
            "select phase, count(*), sum(items), sum(prompt_tokens) from recall.job_phases"
            " where user_id = %s group by phase order by phase",
            [user],
        ),
    }


def done(conn: Connection, step: Step) -> tuple[list[Request], Request]:
    """Do a step to its end; return its requests, and the end."""
    job = claim(conn, step.kind)
    request, seen = ask(conn, job, **step.worker), []
    while request["type"] in ("chat", "embed"):
        seen.append(request)
        request = ask(conn, job, answered(request, step.script), **step.worker)
    return seen, request


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
