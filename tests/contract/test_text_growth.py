"""Ten times the text takes at most twelve times the processor time, whatever the text is."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall._json import to_jsonb
from pgrecall.calls._redaction import Redactor
from pgrecall.encryption import _dates, _requests, _statements, _words
from pgrecall.encryption._verbatim import is_statement
from pgrecall.models._tokens import count_text_tokens, shortened_text
from support import append, call, do_job, open_session, said
from support.servers import DIMENSIONS
from support.text_shapes import SHAPES

Connection = psycopg.Connection[Any]

SHORT = 3_000
TIMES = 10
ALLOWED = 12
FLOOR = 0.001  # seconds: a call that takes less is measured as this; caches cost short ones less
QUICK = ["snake", "dotted", "comments", "many words, snake", "sentences", "base64", "Chinese"]

wide = pytest.mark.skipif("SOAK" not in os.environ, reason="minutes long: SOAK=1, make repeat")

VECTOR = str([0.1] * DIMENSIONS)
LARGE = {"memory_max_characters": 100_000}


@dataclass
class World:
    conn: Connection
    user: uuid.UUID
    session: uuid.UUID

    def call(self, function: str, **arguments: Any) -> list[dict[str, Any]]:
        return call(self.conn, function, p_user_id=self.user, **arguments)

    def append(self, *contents: Any, **fields: Any) -> None:
        append(self.conn, self.user, self.session, said(*contents, **fields))

    def remember(self, text: str, **more: Any) -> uuid.UUID:
        (made,) = self.call("remember", p_content=text, **more)
        found: uuid.UUID = made["memory_id"]
        return found

    def work(self, kind: str, answers: dict[str, Any] | None = None, **worker: Any) -> None:
        """Do the ready job of a kind."""
        assert do_job(self.conn, self.claim(kind), answers, **worker)["type"] == "done"

    def claim(self, kind: str) -> dict[str, Any]:
        self.conn.execute("update recall.jobs set run_at = now() where user_id = %s", [self.user])
        (job, *_) = call(self.conn, "claim_jobs", p_worker="test", p_kinds=[kind])
        return job


@pytest.fixture(scope="module")
def world(dsn: str) -> Iterator[World]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        call(conn, "configure", p_changes=LARGE)
        conn.execute("set statement_timeout = '5s'")
        user = uuid.uuid4()
        found = World(conn, user, open_session(conn, user, p_title="talk"))
        found.append("The cat sat on the mat.", "Where did the cat sit?")
        found.remember("User has a cat.", p_embedding=VECTOR)
        yield found


def processor_time(conn: Connection) -> float:
    """Return the processor seconds of a server's process, or the clock where they are hidden."""
    try:
        text = Path(f"/proc/{conn.info.backend_pid}/schedstat").read_text(encoding="ascii")
    except OSError:
        return time.perf_counter()
    return int(text.split()[0]) / 1e9


def cost(world: World, use: Callable[[World, str], object], text: str) -> float:
    """Return the least of some measurements of a call, which leaves nothing behind."""
    least, begun = 60.0, time.perf_counter()
    for _ in range(3):
        with world.conn.transaction(force_rollback=True):
            before = processor_time(world.conn)
            try:
                use(world, text)
            except psycopg.Error as error:  # a text without words is no memory, and so forth
                if error.sqlstate != "RC003":
                    raise
            least = min(least, processor_time(world.conn) - before)
        if time.perf_counter() - begun > 0.3:
            break
    return least


def growing(world: World, use: Callable[[World, str], object], shapes: list[str]) -> list[str]:
    """Return the shapes for which a call takes more than twelve times as long."""
    found = []
    for shape in shapes:
        make = SHAPES[shape]
        short = max(FLOOR, cost(world, use, make(SHORT)))
        long = cost(world, use, make(SHORT * TIMES))
        if long > ALLOWED * short:  # once more: another process may have cost this one its caches
            short = max(short, cost(world, use, make(SHORT)))
            long = min(long, cost(world, use, make(SHORT * TIMES)))
        if long > ALLOWED * short:
            found.append(f"{shape}: {short * 1000:.1f} ms, {long * 1000:.1f} ms")
    return found


def _masked(world: World) -> World:
    world.call("configure_user", p_changes={"secrets": "mask"})
    return world


def _candidate(text: str) -> list[dict[str, Any]]:
    return [{"content": text, "kind": "fact", "provenance": "user_stated"}]


def _index(world: World, text: str) -> None:
    world.append(text)
    world.work("embed")


def _verbatim(world: World, text: str) -> None:
    world.call("configure_user", p_changes={"extraction": "verbatim"})
    world.append(text)
    world.work("extract")


def _import(world: World, text: str) -> None:
    world.append(text)
    world.remember(text)
    (document,) = world.call("export_user")
    world.call("forget_user")
    world.call("import_user", p_document=document["export_user"])


def _answered(world: World, text: str) -> None:
    """Read the answer of a model, which is no JSON or has this text."""
    for content in (text, f"{{{text}}}", json.dumps({"a": text}), f"<think>{text}</think>{{}}"):
        world.conn.execute(
            'select recall._said_value(%s, \'{"type": "object"}\')',
            [Jsonb({"content": content})],
        )


def _titles(world: World, text: str) -> None:
    world.call("update_session", p_session_id=world.session, p_changes={"title": text})
    world.call("search_sessions", p_query="where is the cat")


def _items(world: World, text: str) -> None:
    item = {"namespace": ["a"], "key": "k", "value": {"text": text}}
    world.call("put_items", p_items=[item])
    world.call("search_items", p_filter={"text": text})


def _context_of(world: World, text: str) -> None:
    world.append(text)
    world.call("compile_context", p_session_id=world.session)


def _record(world: World, text: str) -> None:
    request = {"model": "m", "messages": said(text)}
    world.call("record_model_call", p_model="gpt-4o", p_request=request)


def _supersede(world: World, text: str) -> None:
    memory = world.remember("User lives in Oslo.", p_slot="home")
    world.call("supersede_memory", p_memory_id=memory, p_content=text)


def _alike(world: World, text: str) -> None:
    """Remember a text beside one that differs in its last word only."""
    world.remember(f"User likes {text} tea", p_embedding=VECTOR)
    world.remember(f"User likes {text} coffee", p_embedding=VECTOR)


def _quoted(world: World, text: str) -> None:
    world.append(text)
    world.remember("User has a dog.", p_session_id=world.session, p_user_words=text,
                   p_current_message=text)  # fmt: skip


USES: dict[str, Callable[[World, str], object]] = {
    "append_messages": lambda w, t: w.append(t),
    "append_messages, parts": lambda w, t: w.append([{"type": "text", "text": t}]),
    "append_messages, metadata": lambda w, t: w.append("a", metadata={"a": t}),
    "append_messages, secrets": lambda w, t: _masked(w).append(t),
    "append_messages, estimated": lambda w, t: w.append(t, token_count=None),
    "embed job": _index,
    "extract job, verbatim": _verbatim,
    "answer of a model": _answered,
    "remember": lambda w, t: w.remember(t),
    "remember, secrets": lambda w, t: _masked(w).remember(t),
    "remember, alike": _alike,
    "remember, quoted": _quoted,
    "ingest_memories": lambda w, t: w.call(
        "ingest_memories", p_session_id=w.session, p_candidates=_candidate(t)
    ),
    "supersede_memory": _supersede,
    "search": lambda w, t: w.call("search", p_query=t),
    "search_messages": lambda w, t: w.call("search_messages", p_query=t),
    "search_sessions": lambda w, t: w.call("search_sessions", p_query=t),
    "search_sessions, title": _titles,
    "compile_context": lambda w, t: w.call(
        "compile_context", p_session_id=w.session, p_query=t, p_query_embedding=VECTOR
    ),
    "compile_context, history": _context_of,
    "explain_context": lambda w, t: w.call("explain_context", p_session_id=w.session, p_query=t),
    "query_dates": lambda w, t: call(w.conn, "query_dates", p_query=t),
    "items": _items,
    "put_working": lambda w, t: w.call(
        "put_working", p_session_id=w.session, p_task_id="t", p_key="k", p_value={"a": t}
    ),
    "open_session": lambda w, t: open_session(w.conn, w.user, p_title=t, p_system_prompt=t),
    "record_model_call": _record,
    "import_user": _import,
}


def _took(use: Callable[[str], object], text: str) -> float:
    """Return the least processor time of some calls in this process."""
    least, begun = 60.0, time.perf_counter()
    while True:
        before = time.process_time()
        use(text)
        least = min(least, time.process_time() - before)
        if time.perf_counter() - begun > 0.02:
            return least


def _driver(world: World) -> dict[str, Callable[[str], object]]:
    """Return what the driver does with a text, without the database."""
    classes = ["private_key", "api_key", "token", "password", "card", "iban", "email", "phone"]
    (kinds,) = world.conn.execute("select recall._pattern_list(%s)", [classes]).fetchone() or ({},)
    redactor = Redactor(kinds, headers="")
    phrases = {"first": {}, "last": {}, "any": {}, "whole": {}}
    return {
        "count tokens": lambda t: count_text_tokens(t, "gpt-4o-mini"),
        "count tokens of an unknown model": lambda t: count_text_tokens(t, "unknown"),
        "shorten": lambda t: shortened_text(t, 50, "gpt-4o-mini"),
        "mask": redactor.text,
        "mask a body": lambda t: redactor.body(t.encode()),
        "to jsonb": lambda t: to_jsonb({"a": t}, "a").dumps({"a": t}),
        "date": _dates.time_window,
        "words": lambda t: _words.shares_of_words([t], t),
        "proof": lambda t: _statements.judge(t, t, t),
        "statement": lambda t: is_statement(t, 3, phrases),
        "answer": _requests._parsed,
        "merge": lambda t: _requests.contradicts([t, t], t, ["not"]),
    }


def _growing_in_driver(world: World, shapes: list[str]) -> list[str]:
    found = []
    for name, use in _driver(world).items():
        for shape in shapes:
            short = max(FLOOR, _took(use, SHAPES[shape](SHORT)))
            long = _took(use, SHAPES[shape](SHORT * TIMES))
            if long > ALLOWED * short:
                short = max(short, _took(use, SHAPES[shape](SHORT)))
                long = min(long, _took(use, SHAPES[shape](SHORT * TIMES)))
            if long > ALLOWED * short:
                found.append(f"{name}, {shape}: {short * 1000:.1f} ms, {long * 1000:.1f} ms")
    return found


def test_driver_takes_time_in_proportion(world: World) -> None:
    assert _growing_in_driver(world, QUICK) == []


@wide
def test_driver_takes_time_in_proportion_for_every_shape(world: World) -> None:
    assert _growing_in_driver(world, list(SHAPES)) == []


@pytest.mark.parametrize("use", USES)
def test_ten_times_the_text_takes_ten_times_the_time(world: World, use: str) -> None:
    assert growing(world, USES[use], QUICK) == []


@wide
@pytest.mark.parametrize("use", USES)
def test_every_shape_of_text_takes_time_in_proportion(world: World, use: str) -> None:
    assert growing(world, USES[use], list(SHAPES)) == []
