"""Workers that are killed between any two steps, and several at once: each effect happens once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from support import rows, session_row, value, wait_for
from support.scripted_model import MODEL, TURN, Script, asked, fact, step_of, talk, work
from support.scripted_openai import Request, ScriptedOpenAI

pytestmark = [pytest.mark.usefixtures("empty_queue"), pytest.mark.slow]

POSTGRES, SQLITE = "User uses Postgres.", "User switched from Postgres to SQLite."


@contextmanager
def worker_process(
    dsn: str, openai: ScriptedOpenAI, kinds: str, *options: str
) -> Iterator[subprocess.Popen[str]]:
    """A `pgrecall worker`, which is killed in the end."""
    with subprocess.Popen(
        [sys.executable, "-m", "pgrecall", "worker", "--dsn", dsn, "--poll", "0.05",
         "--base-url", openai.base_url, "--model", MODEL, "--kinds", kinds, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def waits_in(db: psycopg.Connection, function: str) -> bool:
    """Whether a connection of the driver waits for a lock within a function."""
    return bool(
        value(
            db,
            "select count(*) from pg_stat_activity where datname = current_database()"
            " and application_name = 'pgrecall' and wait_event_type = 'Lock' and query like %s",
            [f"%{function}%"],
        )
    )


def works_in(db: psycopg.Connection, function: str) -> bool:
    """Whether a connection of the driver is within a function."""
    return bool(
        value(
            db,
            "select count(*) from pg_stat_activity where datname = current_database()"
            " and application_name = 'pgrecall' and state <> 'idle' and query like %s",
            [f"%{function}%"],
        )
    )


def kind_of(request: Request) -> str:
    return "embed" if "input" in request else step_of(request)


# Where the worker is killed: the request to the model at which it stands still, or the function of
# the database, held up by a lock that is taken at that request.
POINTS = {
    "claimed, before its first request": (None, "next_request"),
    "the first question": ("extract", None),
    "its answer is handed in": ("extract", "next_request"),
    "the embedding": ("embed", None),
    "the vectors are handed in": ("embed", "next_request"),
    "the second question": ("consolidate", None),
    "its answer is handed in, and applied": ("consolidate", "next_request"),
    "the result is committed": ("summarize", None),
}
LOCK = "select from recall.users where user_id = '{}' for update"


@pytest.mark.parametrize("point", POINTS)
def test_worker_killed_at_any_point_repeats_one_step_only(
    model_dsn: str, memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection], point: str,
) -> None:  # fmt: skip
    request_at, function = POINTS[point]
    script.facts = {"I switched to SQLite": [fact(SQLITE)]}
    script.episodes = {"I switched to SQLite": "User told of the switch to SQLite."}
    script.decisions = {SQLITE: ("UPDATE", POSTGRES)}
    memory.remember(user, POSTGRES)
    session = talk(memory, user, ["I switched to SQLite"]).session_id
    openai.forget()

    holder = connect(autocommit=False)
    reached, killed = threading.Event(), threading.Event()

    def hold() -> None:
        assert function is not None
        holder.execute(LOCK.format(user).encode())

    def stand_still(request: Request) -> None:
        if killed.is_set() or kind_of(request) != request_at:
            return
        if function is not None:
            hold()
            reached.set()
        else:
            reached.set()
            killed.wait(30)

    openai.watch = stand_still
    if request_at is None:
        hold()
    kinds = "extract,summarize" if request_at == "summarize" else "extract"
    with worker_process(model_dsn, openai, kinds) as process:
        if request_at is not None:
            wait_for(reached.is_set, process)
        if function is not None:
            wait_for(lambda: waits_in(db, function), process)
        process.kill()
        process.wait()
    killed.set()
    holder.rollback()
    wait_for(lambda: not works_in(db, "next_request"))

    # the server may commit a call whose caller is gone, or undo it
    is_committed = session_row(db, user, session)["extracted_through_turn"] == 2
    is_summary = request_at == "summarize"
    assert is_committed == is_summary or point == "its answer is handed in, and applied"
    assert contents(memory, user) == (
        {SQLITE, "User told of the switch to SQLite."} if is_committed else {POSTGRES}
    )
    running = value(db, "select count(*) from recall.jobs where state = 'running'")
    assert running == int(is_summary or not is_committed)
    assert work(memory, kinds=[kinds.rpartition(",")[2]]).jobs == 0

    # its lease ends, and another does the job
    db.execute("select recall.release_expired_leases(p_as_of => now() + interval '6 minutes')")
    db.execute("update recall.jobs set run_at = now()")
    work(memory)
    assert value(db, "select count(*) from recall.jobs") == 0
    stored = rows(
        db,
        "select content, end_reason::text from recall.memory_store where user_id = %s",
        [user],
    )
    assert {tuple(item.values()) for item in stored} == {
        (POSTGRES, "superseded"), (SQLITE, None), ("User told of the switch to SQLite.", None)
    }  # fmt: skip
    assert len(stored) == 3
    summaries = rows(
        db, "select kind, to_turn, ended_at from recall.session_summaries where user_id = %s",
        [user],
    )  # fmt: skip
    assert [tuple(item.values()) for item in summaries] == [("rolling", 2, None)]
    row = session_row(db, user, session)
    assert (row["extracted_through_turn"], row["extracted_user_turns"]) == (2, 1)
    # at most the request in flight is repeated
    for step in ("extract", "consolidate", "summarize"):
        least = 2 if step == request_at and function is None else 1
        assert least <= asked(openai).count(step) <= (2 if step == request_at else 1)


def test_sigterm_finishes_the_jobs_at_hand_and_begins_no_other(
    model_dsn: str, memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """The jobs at hand are finished, and no other is begun."""
    said = {"I use Vim": "User uses Vim.", "I use zsh": "User uses zsh."}
    script.facts = {text: [fact(content)] for text, content in said.items()}
    script.decisions = dict.fromkeys(said.values(), ("ADD", None))  # of the job that ends last
    for text in ("I use Vim", "I use zsh", "I use Linux"):
        talk(memory, user, [text])
    openai.forget()
    asked_twice = threading.Barrier(3)
    told = threading.Event()

    def stand_still(request: Request) -> None:
        if kind_of(request) == "extract":
            asked_twice.wait(30)
            told.wait(30)

    openai.watch = stand_still
    with worker_process(model_dsn, openai, "extract", "--concurrency", "2") as process:
        asked_twice.wait(30)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert process.poll() is None
        told.set()
        assert process.wait(20) == 0
    assert asked(openai).count("extract") == 2
    states = "select state::text, count(*) from recall.jobs where kind = 'extract' group by 1"
    assert db.execute(states.encode()).fetchall() == [("ready", 1)]
    assert value(
        db, "select count(*) from recall.sessions"
        " where user_id = %s and extracted_through_turn = 2", [user]
    ) == 2  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_second_signal_ends_the_worker_at_once(
    model_dsn: str, memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID,
    db: psycopg.Connection, number: signal.Signals,
) -> None:  # fmt: skip
    """Not only when a model that does not answer has had its minutes; the lease brings it back."""
    talk(memory, user, ["I use Vim"])
    is_asked, is_over = threading.Event(), threading.Event()

    def stand_still(request: Request) -> None:
        is_asked.set()
        is_over.wait(30)

    openai.watch = stand_still
    try:
        with worker_process(model_dsn, openai, "extract") as process:
            assert is_asked.wait(30)
            process.send_signal(number)
            time.sleep(0.5)
            assert process.poll() is None
            process.send_signal(number)
            assert process.wait(5) == -number
    finally:
        is_over.set()
    states = "select state::text from recall.jobs where kind = 'extract'"
    assert db.execute(states.encode()).fetchall() == [("running",)]


def contents(memory: AgentMemory, user: uuid.UUID) -> set[str]:
    return {item.content for item in memory.memories.list(user)}


@pytest.mark.concurrent
def test_two_workers_on_an_active_session_extract_each_turn_once(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """Never two extractions of it at a time; every turn is read once, none is forgotten."""
    said = [f"I speak language {number}" for number in range(30)]
    script.facts = {
        text: [fact(f"User speaks language {number}.", slot=f"language_{number}")]
        for number, text in enumerate(said)
    }
    memory.admin.configure_user(user, extract_after_turns=1)
    running, most = 0, 0
    lock = threading.Lock()

    def slowly(request: Request) -> Any:
        nonlocal running, most
        if step_of(request) != "extract":
            return script(request)
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.03)
        with lock:
            running -= 1
        return script(request)

    openai.respond = slowly
    workers = [
        memory.worker(name=f"w{number}", concurrency=2, poll_seconds=0.01) for number in range(2)
    ]
    threads = [
        threading.Thread(target=worker.run, kwargs={"handle_signals": False}) for worker in workers
    ]
    for thread in threads:
        thread.start()
    try:
        chat = memory.session(user=user, model=MODEL)
        for text in said:
            chat.append(user=text, reply="I see.")
        chat.close()
        wait_for(lambda: value(db, "select count(*) from recall.jobs") == 0)
    finally:
        for worker in workers:
            worker.stop()
        for thread in threads:
            thread.join(20)
    assert [worker.report.failed for worker in workers] == [{}, {}]
    assert most == 1
    read = [
        int(turn[1])
        for request in openai.chats
        if step_of(request) == "extract"
        for text in request["messages"][1]["content"].splitlines()
        if (turn := TURN.match(text))
    ]
    assert read == [*range(1, 61)]
    assert contents(memory, user) == {f"User speaks language {number}." for number in range(30)}
    assert value(
        db, "select count(*) from recall.memory_store where user_id = %s", [user]
    ) == len(said)  # fmt: skip
