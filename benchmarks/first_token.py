"""Time from the user's message to the request that the model's endpoint receives.

    python benchmarks/first_token.py [--rounds 100] [--dsn DSN]

`chat.send` of the blocking client calls an endpoint on this machine, which answers at once. The
time until its request arrives is split: the embedding of the message, the context, and the rest
(tokens counted, request built and sent). The append follows the answer. One embedder is the local
model, the other an endpoint that answers after 50 ms.

The first call is measured on new connections of a warm process, and in a new process. The last
table has processor time and private memory of a new connection, step by step.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory, ModelSettings
from pgrecall.models import Embedder, LocalEmbedder, OpenAIEmbedder
from target import database, process_ms

DIMENSIONS = 384
MODEL = "gpt-4o-mini"
LATENCY = 0.05  # seconds of the remote embedder
MEMORIES, EXCHANGES = 200, 30  # of the user, before the clock starts
WARM_UP = 7  # sends until generic plans stand
FIRST = 10  # new connections
COLD = 3  # new processes
USER = uuid.uuid5(uuid.NAMESPACE_URL, "pgrecall/first_token")
SESSION = uuid.uuid5(USER, "session")
TOPICS = ("bread", "sailing", "chess", "opera", "granite", "bees", "tides", "maps")

Span = tuple[str, float, float]
Times = dict[str, float]


@dataclass
class Endpoint:
    """Answers chats at once and embeddings after a pause.

    Attributes:
        base_url: of the API.
        arrivals: when requests for a chat arrived, by the monotonic clock.
        used: processor seconds of this process at these moments.
    """

    base_url: str = ""
    arrivals: list[float] = field(default_factory=list)
    used: list[float] = field(default_factory=list)


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """Run an endpoint in threads of this process."""
    found = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            return

        def do_POST(self) -> None:
            arrived, used = time.monotonic(), time.process_time()
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/embeddings"):
                time.sleep(LATENCY)
                texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
                answer = {
                    "object": "list", "model": body["model"],
                    "data": [{"object": "embedding", "index": n, "embedding": vector(text)}
                             for n, text in enumerate(texts)],
                    "usage": {"prompt_tokens": 1, "total_tokens": 1},
                }  # fmt: skip
            else:
                found.arrivals.append(arrived)
                found.used.append(used)
                message = {"role": "assistant", "content": "You do it like that.", "refusal": None}
                answer = {
                    "id": "chatcmpl-1", "object": "chat.completion", "created": 0,
                    "model": body["model"],
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop",
                                 "logprobs": None}],
                    "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
                }  # fmt: skip
            data = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
    found.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


def vector(text: str) -> list[float]:
    """Return a vector of a text's topics."""
    numbers = [0.01] * DIMENSIONS
    for place, topic in enumerate(TOPICS):
        numbers[place] += topic in text
    return numbers


class Watched:
    """An embedder that records when it ran."""

    def __init__(self, embedder: Embedder, spans: list[Span]) -> None:
        self.model, self.dimensions = embedder.model, DIMENSIONS
        self._embed, self._spans = embedder.embed, spans

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        begin = time.monotonic()
        vectors = self._embed(texts)
        self._spans.append(("embedding", begin, time.monotonic()))
        return vectors


def connect(dsn: str, base_url: str, embedder: Embedder, spans: list[Span]) -> AgentMemory:
    """Return an open memory whose calls and vectors are recorded."""
    memory = AgentMemory.connect(
        dsn,
        embedder=Watched(embedder, spans),
        llm=ModelSettings(model=MODEL, base_url=base_url, api_key="none"),
    )
    transport: Any = memory._core.memory.transport  # noqa: SLF001
    send: Callable[..., Any] = transport.send

    def timed(call: Any, *arguments: Any, **named: Any) -> Any:
        begin = time.monotonic()
        answer = send(call, *arguments, **named)
        spans.append((call.function, begin, time.monotonic()))
        return answer

    transport.send = timed
    memory.open()
    return memory


def split(spans: Sequence[Span], begin: float, arrived: float) -> Times:
    """Return the milliseconds of a send, and of its parts, from its spans.

    `all` ends with the arrival of the request; `rest` is what no part has taken of it.
    """
    parts = {"embedding": 0.0, "context": 0.0, "append": 0.0}
    names = {"compile_context": "context", "append_messages": "append"}
    for name, start, end in spans:
        part = names.get(name, name)
        if part in parts and start >= begin:
            parts[part] += 1000 * (end - start)
    whole = 1000 * (arrived - begin)
    rest = whole - parts["embedding"] - parts["context"]
    return {"all": whole, **parts, "rest": rest}


def question(number: int) -> str:
    """Return a question about a topic, which no other number has."""
    return f"What did I tell you about {TOPICS[number % len(TOPICS)]}, the {number}th time?"


def sent(chat: Any, number: int, spans: list[Span], model: Endpoint) -> Times:
    """Send a question, and return the times of its parts."""
    spans.clear()
    begin, used = time.monotonic(), time.process_time()
    chat.send(question(number))
    times = split(spans, begin, model.arrivals[-1])
    return times | {"processor": 1000 * (model.used[-1] - used)}


# Measurements


def fill(dsn: str, base_url: str, embedder: Embedder) -> None:
    """Give the user memories and a conversation."""
    with connect(dsn, base_url, embedder, []) as memory:
        texts = [f"Likes {TOPICS[n % len(TOPICS)]} of kind {n}." for n in range(MEMORIES)]
        memory.memories.ingest(USER, [{"content": text} for text in texts])
        with memory.session(user=USER, model=MODEL, session_id=SESSION,
                            system_prompt="You help.") as chat:  # fmt: skip
            for number in range(EXCHANGES):
                chat.append(user=question(number), reply="You said that you like it. " * 8)


def steady(dsn: str, model: Endpoint, embedder: Embedder, rounds: int) -> list[Times]:
    """Return the times of sends on warm connections."""
    spans: list[Span] = []
    with (
        connect(dsn, model.base_url, embedder, spans) as memory,
        memory.session(user=USER, session_id=SESSION) as chat,
    ):
        times = [sent(chat, n, spans, model) for n in range(WARM_UP + rounds)]
        chat.retract(2 * EXCHANGES + 1)
    return times[WARM_UP:]


def first(dsn: str, model: Endpoint, embedder: Embedder) -> dict[str, list[Times]]:
    """Return the times of the first and the second send after connecting."""
    found: dict[str, list[Times]] = {"first": [], "second": []}
    for _ in range(FIRST):
        spans: list[Span] = []
        begin = time.monotonic()
        with connect(dsn, model.base_url, embedder, spans) as memory:
            connected = time.monotonic()
            with memory.session(user=USER, session_id=SESSION) as chat:
                opened = time.monotonic()
                for number, name in enumerate(found):
                    found[name].append(sent(chat, number, spans, model))
                found["first"][-1] |= {
                    "connect": 1000 * (connected - begin), "open": 1000 * (opened - connected)
                }  # fmt: skip
                chat.retract(2 * EXCHANGES + 1)
    return found


def cold(dsn: str, base_url: str, kind: str) -> Times:
    """Return the times of the first send of a new process."""
    with subprocess.Popen(
        [sys.executable, __file__, "--dsn", dsn, "--cold", kind, base_url],
        stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError("the first call of a new process failed")
    times: Times = json.loads(out)
    return times


def first_of_process(dsn: str, embedder: Embedder, base_url: str) -> Times:
    """Send once with nothing loaded before; the parent knows when the request arrived."""
    spans: list[Span] = []
    begin = time.monotonic()
    with connect(dsn, base_url, embedder, spans) as memory:
        connected = time.monotonic()
        with memory.session(user=USER, session_id=SESSION) as chat:
            opened, used = time.monotonic(), time.process_time()
            chat.send(question(0))
            times = split(spans, opened, 0.0)
            times["processor"] = 1000 * (time.process_time() - used)
            chat.retract(2 * EXCHANGES + 1)
    return times | {
        "begin": opened, "connect": 1000 * (connected - begin),
        "open": 1000 * (opened - connected),
    }  # fmt: skip


def steps(dsn: str) -> dict[str, tuple[float, float]]:
    """Return processor milliseconds and private MB of a new connection after each step."""
    numbers = HalfVector(vector(question(1)))
    turn = Jsonb([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}])
    said = {"user": USER, "session": SESSION, "vector": numbers, "words": question(1), "turn": turn}
    context = "select recall.compile_context(%(user)s, %(session)s, %(words)s, %(vector)s)"
    append = "select count(*) from recall.append_messages(%(user)s, %(session)s, %(turn)s)"
    queries = {
        "connect": "select 1",
        "load pgvector": "select '[1]'::vector",
        "a search of no user, as by `open`":
            "select count(*) from recall.search(gen_random_uuid(), 'a', p_as_of => now())",
        "first context": context,
        "second context": context,
        "first append": append,
        "second append": append,
        "thirty turns": (context, append),
        "remember, search, search_messages": (
            "select recall.remember(%(user)s, gen_random_uuid()::text, p_embedding => %(vector)s)",
            "select count(*) from recall.search(%(user)s, %(words)s, %(vector)s)",
            "select count(*) from recall.search_messages(%(user)s, %(words)s, %(vector)s)",
        ),
    }  # fmt: skip
    found = {}
    with psycopg.connect(dsn, autocommit=True) as db:
        pid, before = db.info.backend_pid, 0.0
        for name, given in queries.items():
            many = isinstance(given, tuple)
            for query in (given if many else (given,)) * (30 if many else 1):
                db.execute(query.encode(), said, prepare=True).fetchall()
            if name == "connect":
                register_vector(db)
            after = process_ms(pid)
            found[name] = (after - before, private_mb(pid))
            before = after
        db.execute("select recall.retract_turns(%s, %s, %s)", [USER, SESSION, 2 * EXCHANGES + 1])
    return found


def private_mb(pid: int) -> float:
    """Return the private memory of a process in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


# Tables

PARTS = ("all", "processor", "embedding", "context", "rest", "append")


def table(rows: dict[str, Sequence[Times]]) -> str:
    """Return a table with medians and, of the whole, the least and the 99th percentile."""
    heads = ("median ms", "until the request", "least", "p99", "processor", "embedding", "context",
             "rest", "append after")  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, times in rows.items():
        whole = sorted(one["all"] for one in times)
        cells = [statistics.median(whole), whole[0], whole[max(0, -(-99 * len(whole) // 100) - 1)]]
        cells += [statistics.median(one[part] for one in times) for part in PARTS[1:]]
        lines.append(f"| {name} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
    return "\n".join(lines)


def table_of_steps(found: Sequence[dict[str, tuple[float, float]]]) -> str:
    """Return a table with the medians of several connections."""
    lines = ["| a new connection | processor ms | private MB after it |", "|---|---|---|"]
    for name in found[0]:
        spent, held = (statistics.median(one[name][part] for one in found) for part in (0, 1))
        lines.append(f"| {name} | {spent:.1f} | {held:.1f} |")
    return "\n".join(lines)


def embedder_of(kind: str, base_url: str) -> Embedder:
    """Return the local or the remote embedder."""
    if kind == "local":
        return LocalEmbedder()
    return OpenAIEmbedder("bench", base_url=base_url, api_key="none", dimensions=DIMENSIONS)


def main() -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    parser.add_argument("--cold", nargs=2, help=argparse.SUPPRESS)  # the part of a new process
    options = parser.parse_args()
    if options.cold:
        kind, base_url = options.cold
        print(json.dumps(first_of_process(options.dsn, embedder_of(kind, base_url), base_url)))
        return 0
    rows: dict[str, Sequence[Times]] = {}
    for kind in ("local", "remote"):
        with endpoint() as model, database(options.dsn, dimensions=DIMENSIONS) as db:
            dsn = db.info.dsn
            embedder = embedder_of(kind, model.base_url)
            db.execute("select recall.configure(%s)", [Jsonb({"embedding_model": embedder.model})])
            fill(dsn, model.base_url, embedder)
            db.execute("vacuum analyze")
            rows[f"{kind} embedder"] = steady(dsn, model, embedder, options.rounds)
            begun = first(dsn, model, embedder)
            rows[f"{kind}, first after connecting"] = begun["first"]
            rows[f"{kind}, second"] = begun["second"]
            news = []
            for _ in range(COLD):
                times = cold(dsn, model.base_url, kind)
                whole = 1000 * (model.arrivals[-1] - times["begin"])
                rest = whole - times["embedding"] - times["context"]
                news.append(times | {"all": whole, "rest": rest})
            rows[f"{kind}, first of a process"] = news
            connections = [steps(dsn) for _ in range(5)]
    print(table(rows))
    print(f"\n{table_of_steps(connections)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
