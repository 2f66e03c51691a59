"""A job of each kind, and what it asks and stores."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support import Connection, append, ask, call, open_session, rows
from support.memories import remember
from support.requests import answered, claim, word_vector

Request = dict[str, Any]


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


BOXES = 8

DECISIONS = ("UPDATE", "DELETE", "ADD", "NONE")

LONG = " behind the old house by the lake where we used to live" * 6


def box(number: int, what: str) -> str:
    return f"User keeps item{number} in {what}{number}{LONG}."


def make_extraction(conn: Connection, user: uuid.UUID) -> None:
    for number in range(BOXES):
        text = box(number, "box")
        remember(conn, user, text, p_kind="personal", p_embedding=str(word_vector(text)))
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
                                p_embedding=str(word_vector(text)))["memory_id"]))  # fmt: skip
    call(conn, "enqueue_job", p_user_id=user, p_kind="pattern", p_payload={"memory_ids": ids})


def pattern_script(request: Request) -> Any:
    assert user_part(request).count("printer") == 3
    return {"pattern": "User has recurring printer issues.", "tags": ["Printer"],
            "solutions": [{"episode": 2, "solution": "restart"}]}  # fmt: skip


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
