"""Compare the SQL time of a job through next_request with the functions that it replaced.

The SQL and the driver of the commit before next_request come out of git, into a second database of
the same server. The benchmark does each step's job both ways in turn, with the same scripted
answers of the models, in transactions that are rolled back. The new way sends one request after the
other. The former way calls job_input, consolidation_input and finish_job, with the steps of the
former driver in between (request_cost_before.py).

The table has median processor milliseconds of a job, of the server's process and of the driver's.
It has the ratio of a call, too, since a job needs more calls than before. It also has the most
relation locks of one call's transaction. Exit status 1 when the sum in SQL exceeds the goal.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from target import Request, database, do_job, processor_ms

DIMENSIONS = 256
GOAL = 1.2
EMBEDDER = "openai:text-embedding-3-small"
MODEL = "gpt-4o-mini"
WORKER = {"chat_model": MODEL, "embedding_model": EMBEDDER, "embed_batch": 64}
STEPS = ("extract", "verbatim", "summarize", "compact", "embed", "merge", "pattern")
USAGE = {"prompt_tokens": 900, "completion_tokens": 90}
WORDS = ["bridge", "river", "paint", "color", "house", "lake", "bicycle", "nurse", "Lyon", "garden",
         "piano", "train"]  # fmt: skip
# states the same as "User likes tea", but is no near duplicate of it
LONGER = "User likes tea from the old shop by the river on Sundays in winter"
HERE = Path(__file__).resolve().parent
FIRST = "functions/jobs/next_request.sql"

Connection = psycopg.Connection[Any]


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


def enqueue(conn: Connection, step: str) -> tuple[Any, ...]:
    """Create a user with memories and a session; lease the job of a step: user, job, token."""
    user = uuid.uuid5(uuid.NAMESPACE_OID, step)
    chance = random.Random(7)
    texts = [f"User keeps item{n} in {' '.join(chance.sample(WORDS, 4))}" for n in range(60)]
    for text in texts:
        remember(conn, user, text, "personal", [])
    food = [remember(conn, user, text, "preference", ["food"])
            for text in ("User likes tea", LONGER, "User likes jazz")]  # fmt: skip
    episodes = [remember(conn, user, f"Asked why printer {n} is offline; a restart helped.",
                         "episode", []) for n in range(4)]  # fmt: skip
    session = one(conn, "select recall.open_session(%s, 'gpt-4o-mini',"
                        " p_context_window_size => 6000, p_max_response_tokens => 500)",
                  user)  # fmt: skip
    # the most exchanges of one extraction by a model, or half of a window of 6000
    for n in range(10 if step == "extract" else 30):
        text = f"{n}: I keep item{n} by the {' '.join(chance.choices(WORDS, k=60))}."
        conn.execute(
            "select from recall.append_messages(%s, %s, %s::jsonb)",
            [user, session, json.dumps([{"role": "user", "content": text},
                                        {"role": "assistant", "content": f"Yes, {text}"}])],
        )  # fmt: skip
    conn.execute("delete from recall.jobs where user_id = %s", [user])
    kind, session, payload = {
        "extract": ("extract", session, {"mode": "llm"}),
        "verbatim": ("extract", session, {"mode": "verbatim"}),
        "merge": ("merge", None, {"tag": "food", "kind": "preference", "memory_ids": food}),
        "pattern": ("pattern", None, {"memory_ids": episodes}),
    }.get(step, (step, session, {}))
    conn.execute("select recall.enqueue_job(%s, %s, %s, p_payload => %s::jsonb)",
                 [user, kind, session, json.dumps(payload)])  # fmt: skip
    leased = conn.execute("select user_id, job_id, lease_token from recall.claim_jobs('bench',"
                          " p_flush => true, p_lease => '1 hour')").fetchone()  # fmt: skip
    assert leased is not None
    return leased


def said(purpose: str, asked: str) -> str:
    """Return the scripted answer of a model to a prompt."""
    if purpose == "extract":
        turns = [int(n) for n in re.findall(r"^\[(\d+)\] user", asked, re.MULTILINE)]
        value: Any = {
            "facts": [{"content": f"User keeps item{n} in the garden by the lake", "turns": [turn],
                       "kind": "personal", "confidence": "high"} for n, turn in enumerate(turns)],
            "episodes": [{"content": f"Item {turn} was put away.", "turns": [turn]}
                         for turn in turns],
        }  # fmt: skip
    elif purpose == "consolidate":
        value = {"decisions": [{"candidate": int(n), "decision": "ADD"}
                               for n in re.findall(r"^(\d+)\. ", asked, re.MULTILINE)]}  # fmt: skip
    elif purpose == "merge":
        value = {"merges": [{"content": LONGER, "parts": [1, 2]}]}
    elif purpose == "pattern":
        value = {"pattern": "User has recurring printer issues.", "tags": ["printer"],
                 "solutions": [{"episode": 2, "solution": "restart"}]}  # fmt: skip
    else:
        value = {"summary": "They talked about items and where they are."}
    return json.dumps(value)


class Clock:
    """Measures a job: processor time of server and driver, and the locks of each call.

    Attributes:
        calls: calls of the database.
        requests: requests to models.
        sql_ms: processor time of the server's process.
        driver_ms: processor time of this process, without the models.
        locks: the most relation locks of a call's transaction.
    """

    def __init__(self, conn: Connection, *, counts_locks: bool) -> None:
        self._conn = conn
        self._counts_locks = counts_locks
        self._started = time.process_time()
        self._aside = 0.0
        self.calls = 0
        self.requests = 0
        self.sql_ms = 0.0
        self.locks = 0

    def _server_ms(self) -> float:
        worked = processor_ms(self._conn)
        return time.perf_counter() * 1000 if worked is None else worked

    def call(self, query: str, *parameters: Any) -> Any:
        """Send a call in a transaction; one that counts locks is committed."""
        with self._conn.transaction():
            before = self._server_ms()
            found = one(self._conn, query, *parameters)
            self.sql_ms += self._server_ms() - before
            self.calls += 1
            if self._counts_locks:
                self.locks = max(self.locks, one(
                    self._conn, "select count(*) from pg_locks where pid = pg_backend_pid()"
                                " and locktype = 'relation'"))  # fmt: skip
        return found

    @contextlib.contextmanager
    def model(self) -> Iterator[None]:
        """Exclude the time of a model."""
        started = time.process_time()
        yield
        self._aside += time.process_time() - started
        self.requests += 1

    def taken(self) -> dict[str, Any]:
        """Return the cost so far."""
        worked = time.process_time() - self._started - self._aside
        return {"calls": self.calls, "requests": self.requests, "sql_ms": self.sql_ms,
                "driver_ms": worked * 1000, "locks": self.locks}  # fmt: skip


def by_requests(job: tuple[Any, ...], clock: Clock) -> None:
    """Do a job request by request."""
    query = "select recall.next_request(%s, %s, %s, %s::jsonb, %s::jsonb)"
    worker = json.dumps(WORKER)

    def ask(answer: Request | None) -> Any:
        return clock.call(query, *job, worker, json.dumps(answer))

    def respond(request: Request) -> Request:
        with clock.model():
            if request["type"] == "embed":
                made: Request = {"vectors": [vector(text) for text in request["inputs"]]}
            else:
                asked = request["messages"][1]["content"]
                made = {"content": said(request["purpose"], asked), "finish_reason": "stop"}
        return made | {"latency_ms": 5, "usage": USAGE}

    end = do_job(ask, respond)
    assert end["type"] == "done", end


def once(conn: Connection, do: Any, job: Any, *, is_last: bool) -> dict[str, Any]:
    """Do a job and roll it back; the last time commit each call, to count its locks."""
    with contextlib.nullcontext() if is_last else conn.transaction(force_rollback=True):
        clock = Clock(conn, counts_locks=is_last)
        do(job, clock)
        return clock.taken() | {"items": one(
            conn, "select items from recall.job_phases where user_id = %s and job_id = %s"
                  " and phase = 'persist'", *job[:2])}  # fmt: skip


@dataclass
class Before:
    """The process that runs the former functions and driver."""

    _process: subprocess.Popen[bytes]

    def tell(self, **line: Any) -> Any:
        """Send a line and return the answer."""
        given, taken = self._process.stdin, self._process.stdout
        assert given is not None
        assert taken is not None
        with contextlib.suppress(BrokenPipeError):
            given.write(json.dumps(line).encode() + b"\n")
        answer = taken.readline()
        if not answer:
            raise SystemExit("request_cost_before.py has ended; see above")
        return json.loads(answer)


def checkout(folder: Path) -> None:
    """Check out the commit before next_request into a folder."""

    def git(*arguments: str) -> bytes:
        return subprocess.run(["git", *arguments], cwd=HERE.parent, check=True,
                              capture_output=True).stdout  # fmt: skip

    try:
        found = git("log", "--diff-filter=A", "--format=%H", "--", FIRST).split()
        archive = git("archive", f"{found[-1].decode()}^")
    except (OSError, IndexError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"the commit before {FIRST} was added is not there: this benchmark needs a git"
            f" checkout with the whole history, such as by git fetch --unshallow ({error})"
        ) from None
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")


@contextlib.contextmanager
def before(dsn: str) -> Iterator[Before]:
    """Start the other process, which installs the former SQL in a database of its own."""
    with tempfile.TemporaryDirectory(prefix="pgrecall-before-") as folder:
        checkout(Path(folder))
        paths = os.pathsep.join([str(Path(folder, "python")), str(HERE)])
        with subprocess.Popen(
            [sys.executable, HERE / "request_cost_before.py", dsn],
            env=os.environ | {"PYTHONPATH": paths},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
        ) as process:  # fmt: skip
            yield Before(process)
            assert process.stdin is not None
            process.stdin.close()


def prepared(conn: Connection) -> dict[str, Any]:
    """Return a leased job of each step."""
    jobs = {step: enqueue(conn, step) for step in STEPS}
    conn.execute("vacuum analyze")
    return jobs


def measured(
    conn: Connection, other: Before, step: str, job: Any, rounds: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the former and the present cost of a step."""
    old, new = [], []
    for n in range(rounds + 1):
        old.append(other.tell(step=step, is_last=n == rounds))
        new.append(once(conn, by_requests, job, is_last=n == rounds))
        for name in ("requests", "items"):
            if old[-1][name] != new[-1][name]:
                raise SystemExit(f"{step}: {name} {old[-1][name]} before, {new[-1][name]} now")

    def middle(costs: list[dict[str, Any]]) -> dict[str, Any]:
        warm = costs[rounds // 4 : rounds]
        return costs[rounds] | {name: statistics.median(cost[name] for cost in warm)
                                for name in ("sql_ms", "driver_ms")}  # fmt: skip

    return middle(old), middle(new)


def row(name: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    ratio = new["sql_ms"] / old["sql_ms"]
    all_ratio = (new["sql_ms"] + new["driver_ms"]) / (old["sql_ms"] + old["driver_ms"])
    cells = [name, new["requests"], old["calls"], new["calls"],
             *(f"{cost['sql_ms']:.1f}" for cost in (old, new)), f"{ratio:.2f}",
             f"{ratio * old['calls'] / new['calls']:.2f}",
             *(f"{cost['driver_ms']:.1f}" for cost in (old, new)),
             f"{all_ratio:.2f}", old["locks"], new["locks"]]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", help="a superuser's DSN; an embedded server without it")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--only", choices=STEPS, action="append", help="a step; again for more")
    options = parser.parse_args()
    costs = []
    with (
        database(options.dsn, dimensions=DIMENSIONS) as conn,
        before(options.dsn or conn.info.dsn) as other,
    ):
        jobs = prepared(conn)
        print(
            "| step | requests | calls before | calls | SQL before, ms | SQL, ms | ratio"
            " | of a call | driver before, ms | driver, ms | ratio of both | locks before"
            " | locks |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
        for step in options.only or STEPS:
            costs.append(measured(conn, other, step, jobs[step], options.rounds))
            print(row(step, *costs[-1]), flush=True)
        total = [{"locks": max(cost["locks"] for cost in side)}
                 | {name: sum(cost[name] for cost in side)
                    for name in ("calls", "requests", "sql_ms", "driver_ms")}
                 for side in zip(*costs, strict=True)]  # fmt: skip
        print(row("all", *total))
    return int(total[1]["sql_ms"] > GOAL * total[0]["sql_ms"])


if __name__ == "__main__":
    sys.exit(main())
