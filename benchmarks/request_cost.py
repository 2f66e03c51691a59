"""What a job costs in SQL through next_request, beside the functions that it takes the place of.

The same job is done both ways in transactions that are rolled back: by a request after the other
with scripted answers, and by job_input, consolidation_input and finish_job with the same result.
Printed are the medians of the milliseconds that a job's calls take, and the most relation locks
that a call's transaction holds. Exit status 1 when the sum of all steps is above the goal.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import time
import uuid
from typing import Any

import psycopg

from target import database

DIMENSIONS = 256
GOAL = 1.2
EMBEDDER = "openai:text-embedding-3-small"
WORKER = {"chat_model": "gpt-4o-mini", "embedding_model": EMBEDDER, "embed_batch": 64}
WORDS = ["bridge", "river", "paint", "color", "house", "lake", "bicycle", "nurse", "Lyon", "garden",
         "piano", "train"]  # fmt: skip

Connection = psycopg.Connection[Any]
Request = dict[str, Any]


def vector(text: str) -> list[float]:
    """Return a vector that depends on the words of a text."""
    made = [0.01] * DIMENSIONS
    for word in text.lower().split():
        made[random.Random(word).randrange(DIMENSIONS)] += 1.0
    return made


def one(conn: Connection, query: str, *parameters: Any) -> Any:
    row = conn.execute(query.encode(), parameters).fetchone()
    assert row is not None
    return row[0]


def remember(conn: Connection, user: uuid.UUID, text: str, kind: str, tags: list[str]) -> str:
    return str(one(
        conn,
        "select memory_id from recall.remember(%s, %s, p_kind => %s, p_tags => %s,"
        " p_embedding => %s::halfvec)",
        user, text, kind, tags, str(vector(text)),
    ))  # fmt: skip


def furnish(conn: Connection, user: uuid.UUID) -> dict[str, Any]:
    """Make a user with memories and a session; return the payloads of jobs, by step."""
    chance = random.Random(7)
    texts = [f"User keeps item{n} in {' '.join(chance.sample(WORDS, 4))}" for n in range(60)]
    for text in texts:
        remember(conn, user, text, "personal", [])
    food = [remember(conn, user, text, "preference", ["food"])
            for text in ("User likes tea", "User likes green tea", "User likes jazz")]  # fmt: skip
    episodes = [remember(conn, user, f"Asked why printer {n} is offline; a restart helped.",
                         "episode", []) for n in range(4)]  # fmt: skip
    session = one(conn, "select recall.open_session(%s, 'gpt-4o-mini',"
                        " p_context_window_size => 6000, p_max_response_tokens => 500)",
                  user)  # fmt: skip
    for n in range(30):
        text = f"{n}: I keep item{n} by the {' '.join(chance.choices(WORDS, k=60))}."
        conn.execute(
            "select from recall.append_messages(%s, %s, %s::jsonb)",
            [user, session, json.dumps([{"role": "user", "content": text},
                                        {"role": "assistant", "content": f"Yes, {text}"}])],
        )  # fmt: skip
    conn.execute("delete from recall.jobs")
    return {
        "extract": ("extract", session, {"mode": "llm"}),
        "verbatim": ("extract", session, {"mode": "verbatim"}),
        "summarize": ("summarize", session, {}),
        "compact": ("compact", session, {}),
        "embed": ("embed", session, {}),
        "merge": ("merge", None, {"tag": "food", "kind": "preference", "memory_ids": food}),
        "pattern": ("pattern", None, {"memory_ids": episodes}),
    }


def answer(request: Request) -> Request:
    """Return what a worker answers, the model's part by the book."""
    made: Request = {"request_id": request["request_id"], "latency_ms": 5,
                     "usage": {"prompt_tokens": 900, "completion_tokens": 90}}  # fmt: skip
    if request["type"] == "embed":
        return made | {"vectors": [vector(text) for text in request["inputs"]]}
    asked = request["messages"][1]["content"]
    purpose = request["purpose"]
    if purpose == "extract":
        turns = [int(n) for n in re.findall(r"^\[(\d+)\] user", asked, re.MULTILINE)]
        said: Any = {
            "facts": [{"content": f"User keeps item{n} in the garden by the lake", "turns": [turn],
                       "kind": "personal", "confidence": "high"} for n, turn in enumerate(turns)],
            "episodes": [{"content": f"Item {turn} was put away.", "turns": [turn]}
                         for turn in turns],
        }  # fmt: skip
    elif purpose == "consolidate":
        said = {"decisions": [{"candidate": int(n), "decision": "ADD"}
                              for n in re.findall(r"^(\d+)\. ", asked, re.MULTILINE)]}  # fmt: skip
    elif purpose == "merge":
        said = {"merges": [{"content": "User likes green tea", "parts": [1, 2]}]}
    elif purpose == "pattern":
        said = {"pattern": "User has recurring printer issues.", "tags": ["printer"],
                "solutions": [{"episode": 2, "solution": "restart"}]}  # fmt: skip
    else:
        said = {"summary": "They talked about items and where they are."}
    return made | {"content": json.dumps(said), "finish_reason": "stop"}


class Clock:
    """Times calls, and counts the relation locks of their transaction."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self.ms = 0.0
        self.locks = 0

    def call(self, query: str, *parameters: Any) -> Any:
        started = time.perf_counter()
        found = one(self._conn, query, *parameters)
        self.ms += (time.perf_counter() - started) * 1000
        self.locks = max(self.locks, one(
            self._conn, "select count(*) from pg_locks where pid = pg_backend_pid()"
                        " and locktype = 'relation'"))  # fmt: skip
        return found


def by_requests(conn: Connection, job: tuple[Any, ...]) -> tuple[Clock, list[Request], Any]:
    """Do a job request by request; return what it cost, its requests, and its result."""
    clock, seen, result = Clock(conn), [], None
    query = "select recall.next_request(%s, %s, %s, %s::jsonb, %s::jsonb)"
    request = clock.call(query, *job, json.dumps(WORKER), None)
    while request["type"] in ("chat", "embed"):
        seen.append(request)
        given = json.dumps(answer(request))
        # what the step would hand to finish_job
        result = one(
            conn,
            "select recall._run_step(j, recall._take_answer(j.work, %s::jsonb)) -> 'result'"
            " from recall.jobs as j where j.job_id = %s",
            given, job[1],
        ) or result  # fmt: skip
        request = clock.call(query, *job, json.dumps(WORKER), given)
    assert request["type"] == "done", request
    return clock, seen, result


def by_input(conn: Connection, job: tuple[Any, ...], seen: list[Request], result: Any) -> Clock:
    """Do the same by the functions of before."""
    clock = Clock(conn)
    clock.call("select recall.job_input(%s, %s, %s)", *job)
    if result.get("candidates") and "decisions" in result:
        vectors = result["embeddings"][: len(result["candidates"])]
        clock.call("select recall.consolidation_input(%s, %s, %s, %s::jsonb, %s::halfvec[])", *job,
                   json.dumps(result["candidates"]),
                   "{" + ",".join(f'"{item}"' for item in vectors) + "}")  # fmt: skip
    phases = [{"phase": request["purpose"], "duration_ms": 5, "items": 1, "prompt_tokens": 900,
               "completion_tokens": 90, "model_id": request["model"]}
              for request in seen]  # fmt: skip
    assert clock.call("select recall.finish_job(%s, %s, %s, %s::jsonb, %s::jsonb)", *job,
                      json.dumps(result), json.dumps(phases))  # fmt: skip
    return clock


def measured(conn: Connection, user: uuid.UUID, job: Any, rounds: int) -> dict[str, Any]:
    """Return the medians of a step: requests, milliseconds and locks, new and old."""
    kind, session, payload = job
    conn.execute("select recall.enqueue_job(%s, %s, %s, p_payload => %s::jsonb)",
                 [user, kind, session, json.dumps(payload)])  # fmt: skip
    leased = conn.execute("select user_id, job_id, lease_token from recall.claim_jobs('bench',"
                          " p_flush => true, p_lease => '1 hour')").fetchone()  # fmt: skip
    assert leased is not None
    new, old, seen = [], [], []
    for _ in range(rounds):
        with conn.transaction(force_rollback=True):
            clock, seen, result = by_requests(conn, leased)
            new.append(clock)
        with conn.transaction(force_rollback=True):
            old.append(by_input(conn, leased, seen, result))
    conn.execute("delete from recall.jobs")

    def middle(clocks: list[Clock]) -> float:
        return statistics.median(clock.ms for clock in clocks[rounds // 4 :])

    return {"requests": len(seen), "old_ms": middle(old), "new_ms": middle(new),
            "old_locks": old[-1].locks, "new_locks": new[-1].locks}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", help="a superuser's DSN; an embedded server without it")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    with database(options.dsn, dimensions=DIMENSIONS) as conn:
        user = uuid.uuid4()
        jobs = furnish(conn, user)
        conn.execute("vacuum analyze")
        total_new = total_old = 0.0
        print("| step | requests | before, ms | next_request, ms | ratio | locks before | locks |")
        print("|---|---|---|---|---|---|---|")
        for name, job in jobs.items():
            found = measured(conn, user, job, options.rounds)
            total_old += found["old_ms"]
            total_new += found["new_ms"]
            print(f"| {name} | {found['requests']} | {found['old_ms']:.1f} | {found['new_ms']:.1f}"
                  f" | {found['new_ms'] / found['old_ms']:.2f} | {found['old_locks']}"
                  f" | {found['new_locks']} |")  # fmt: skip
        print(f"| all | | {total_old:.1f} | {total_new:.1f} | {total_new / total_old:.2f} | | |")
    return int(total_new > GOAL * total_old)


if __name__ == "__main__":
    sys.exit(main())
