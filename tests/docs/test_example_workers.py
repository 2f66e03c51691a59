"""The workers of examples/ at the scripted server: the protocol without the driver."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo

from support import append, call, login_role, open_session, rows, session_row, tool, value
from support.memories import remember
from support.scripted_model import Script, asked, fact, step_of
from support.scripted_openai import Request, ScriptedOpenAI
from support.servers import url

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COMMANDS = {
    "python": (sys.executable, str(EXAMPLES / "worker.py")),
    "node": ("node", str(EXAMPLES / "node" / "worker.js")),
    "shell": ("bash", str(EXAMPLES / "worker.sh")),
}
WORKER = {"chat_model": "gpt-4o-mini", "embedding_model": "openai:words", "embed_batch": 4}
POSTGRES, SQLITE = "User uses Postgres.", "User switched from Postgres to SQLite."
TONES = [
    "User prefers a casual tone.", "User does not like formal language.",
    "User prefers a conversational tone.", "User prefers short paragraphs.",
    "User likes emoji in moderation.", "User writes to 3 editors.",
]  # fmt: skip

OWNED = {
    f"I have a {thing}": f"User {verb} a {thing}."
    for thing, verb in (("cello", "plays"), ("boat", "sails"), ("snail", "breeds"),
                        ("kiln", "fires"), ("loom", "repaired"), ("still", "built"))
}  # fmt: skip


@pytest.fixture(autouse=True)
def _empty_queue(db: Connection) -> Iterator[None]:
    db.execute("update recall.maintenance_tasks set last_run_at = now()")
    yield
    db.execute("delete from recall.jobs")


@pytest.fixture(params=[*COMMANDS])
def name(request: pytest.FixtureRequest) -> str:
    """A worker; `make setup` installs what that in Node needs, where there is a Node."""
    return available(request.param)


def available(name: str) -> str:
    """Return the name of a worker; skip the test when the machine cannot run it."""
    if shutil.which(COMMANDS[name][0]) is None:
        pytest.skip(f"{COMMANDS[name][0]} is not installed")
    if name == "node":
        assert (EXAMPLES / "node" / "node_modules").is_dir(), "run make setup"
    if name == "shell" and shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    return name


def started(
    name: str, dsn: str, openai: ScriptedOpenAI, *options: str, **worker: Any
) -> subprocess.Popen[str]:
    """Start a worker. That in shell gets no DSN, which it could only pass on as an argument."""
    address = libpq(dsn) if name == "shell" else {"PGRECALL_DSN": url(dsn)}
    return subprocess.Popen(
        [*COMMANDS[name], *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PATH": f"{os.environ['PATH']}:{Path(tool('psql')).parent}",
             "OPENAI_BASE_URL": openai.base_url, "OPENAI_API_KEY": "x",
             "PGRECALL_WORKER": json.dumps(WORKER | worker), **address},
    )  # fmt: skip


def run(name: str, dsn: str, openai: ScriptedOpenAI, **worker: Any) -> str:
    """Run a worker until nothing is due; return what it printed."""
    process = started(name, dsn, openai, "--until-idle", **worker)
    printed, problems = process.communicate(timeout=60)
    assert process.returncode == 0, problems
    return printed


def libpq(dsn: str) -> dict[str, str]:
    """Return a DSN as the environment variables of libpq."""
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD",
             "dbname": "PGDATABASE"}  # fmt: skip
    parts = conninfo.conninfo_to_dict(dsn)
    return {variable: str(parts[name]) for name, variable in names.items() if name in parts}


def told(db: Connection, user: uuid.UUID, *texts: str) -> uuid.UUID:
    """Return a closed session in which the user has said this."""
    session = open_session(db, user)
    for text in texts:
        append(db, user, session, [{"role": "user", "content": text},
                                   {"role": "assistant", "content": "I see."}])  # fmt: skip
    call(db, "close_session", p_user_id=user, p_session_id=session)
    return session


def memories(db: Connection, user: uuid.UUID) -> set[tuple[str, str | None]]:
    """Return the memories of a user with the reason for which each ended."""
    query = "select content, end_reason::text from recall.memory_store where user_id = %s"
    return {tuple(row.values()) for row in rows(db, query, [user])}


def left(db: Connection) -> list[dict[str, Any]]:
    return rows(db, "select kind, state::text, attempts, last_error from recall.jobs order by kind")


def test_worker_of_a_plain_role_does_every_step(
    model_dsn: str, db: Connection, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    name: str,
) -> None:  # fmt: skip
    """Extraction in two passes, summary, vectors and a merge, by a member of recall_worker."""
    script.facts = {"I switched to SQLite": [fact(SQLITE)]}
    script.episodes = {"I switched to SQLite": "User told of the switch to SQLite."}
    script.decisions = {SQLITE: ("UPDATE", POSTGRES)}
    script.merges = {"User likes a casual, conversational tone.": [TONES[0], TONES[2]]}
    remember(db, user, POSTGRES)
    for tone in TONES:
        remember(db, user, tone, p_tags=["tone"], p_kind="preference")
    assert call(db, "enqueue_merges")[0]["done"] == 1
    session = told(db, user, "I switched to SQLite", "And that is it")
    with login_role(db, member_of=["recall_worker"]) as login:
        dsn = conninfo.make_conninfo(model_dsn, **login)
        printed = run(name, dsn, openai)

    assert left(db) == []
    assert printed.count('"done"') + printed.count("'done'") >= 3
    assert memories(db, user) == {
        (POSTGRES, "superseded"), (SQLITE, None), ("User told of the switch to SQLite.", None),
        ("User likes a casual, conversational tone.", None),
        *((tone, "merged" if tone in (TONES[0], TONES[2]) else None) for tone in TONES),
    }  # fmt: skip
    assert sorted(asked(openai)) == ["consolidate", "extract", "merge", "summarize"]
    assert {body["model"] for body in openai.embeddings} == {"words"}
    assert max(len(body["input"]) for body in openai.embeddings) <= WORKER["embed_batch"]
    summaries = "select kind::text, to_turn from recall.session_summaries where user_id = %s"
    assert rows(db, summaries, [user]) == [{"kind": "rolling", "to_turn": 4}]
    unembedded = (
        "select count(*) from recall.memory_store as m where m.user_id = %s and m.ended_at is null"
        " and not exists (select from recall.memory_embedding as e"
        "                  where e.user_id = m.user_id and e.memory_id = m.memory_id)"
    )
    assert value(db, unembedded, [user]) == 0
    assert session_row(db, user, session)["extracted_through_turn"] == 4
    spans = rows(db, "select sum(prompt_tokens) as prompt, min(duration_ms) > 0 as took"
                     "  from recall.job_phases where user_id = %s and phase = 'extract'",
                     [user])  # fmt: skip
    assert spans == [{"prompt": 1000, "took": True}]


def test_worker_learns_what_its_endpoint_refuses(
    model_dsn: str, db: Connection, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    name: str,
) -> None:  # fmt: skip
    """Refused parameters, a window that is smaller than told, and an answer that is none."""
    script.facts = {text: [fact(found)] for text, found in OWNED.items()}
    script.decisions = dict.fromkeys(OWNED.values(), ("ADD", None))
    openai.formats = ("text",)
    openai.refused_parameters = ("max_tokens", "temperature")
    openai.window = 3000
    openai.then("I would rather not.")
    texts = [*OWNED][:3]
    told(db, user, *(part for text in texts for part in (text, "And so on. " * 200)))
    run(name, model_dsn, openai)
    assert left(db) == []
    assert memories(db, user) == {(OWNED[text], None) for text in texts}
    last = openai.chats[-1]
    assert "max_completion_tokens" in last
    assert not {"response_format", "temperature", "max_tokens"} & last.keys()
    # each refusal was met once, not once a job: two parameters, the window, lengths, the format
    assert sum("response_format" in body for body in openai.chats) == 5


def test_killed_worker_loses_the_request_in_flight_only(
    model_dsn: str, db: Connection, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    name: str,
) -> None:  # fmt: skip
    script.facts = {"I switched to SQLite": [fact(SQLITE)]}
    session = told(db, user, "I switched to SQLite")
    reached, killed = threading.Event(), threading.Event()

    def stand_still(request: Request) -> None:
        if "input" in request and not killed.is_set():
            reached.set()
            killed.wait(30)

    openai.watch = stand_still
    process = started(name, model_dsn, openai, "--until-idle")
    assert reached.wait(30)
    process.kill()
    process.wait()
    killed.set()
    process.communicate()
    assert memories(db, user) == set()

    db.execute("select recall.release_expired_leases(p_as_of => now() + interval '20 minutes')")
    db.execute("update recall.jobs set run_at = now()")
    run(name, model_dsn, openai)
    assert left(db) == []
    assert memories(db, user) == {(SQLITE, None)}
    assert asked(openai).count("extract") == 1
    assert session_row(db, user, session)["extracted_through_turn"] == 2


def test_two_workers_share_a_session(
    model_dsn: str, db: Connection, openai: ScriptedOpenAI, script: Script, user: uuid.UUID
) -> None:
    names = [available("python"), available("node")]
    texts = [*OWNED]
    script.facts = {text: [fact(found)] for text, found in OWNED.items()}
    script.decisions = dict.fromkeys(OWNED.values(), ("ADD", None))
    session = open_session(db, user)
    for text in texts[:3]:
        append(db, user, session, [{"role": "user", "content": text},
                                   {"role": "assistant", "content": "I see."}])  # fmt: skip
    call(db, "close_session", p_user_id=user, p_session_id=session)
    other = told(db, user, *texts[3:])
    both_wait = threading.Barrier(2, timeout=30)
    waited: list[str] = []

    def meet(request: Request) -> None:
        if "messages" in request and len(waited) < 2:
            waited.append(step_of(request))
            both_wait.wait()

    openai.watch = meet
    processes = [started(name, model_dsn, openai, "--until-idle") for name in names]
    for process in processes:
        _, problems = process.communicate(timeout=60)
        assert process.returncode == 0, problems
    for name in names[:1]:  # what became due when the first had looked
        run(name, model_dsn, openai)
    assert left(db) == []
    assert memories(db, user) == {(found, None) for found in OWNED.values()}
    assert asked(openai).count("extract") == 2
    assert asked(openai).count("summarize") == 2
    for one in (session, other):
        assert session_row(db, user, one)["extracted_through_turn"] == 6


def test_sigterm_ends_a_worker_after_the_job_at_hand(
    model_dsn: str, db: Connection, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    name: str,
) -> None:  # fmt: skip
    told(db, user, "I switched to SQLite")
    told(db, user, "I use Vim")
    reached, told_to_stop = threading.Event(), threading.Event()

    def stand_still(request: Request) -> None:
        reached.set()
        told_to_stop.wait(30)

    openai.watch = stand_still
    process = started(name, model_dsn, openai)
    assert reached.wait(30)
    process.send_signal(signal.SIGTERM)
    told_to_stop.set()
    printed, problems = process.communicate(timeout=30)
    assert process.returncode == 0, problems
    assert len(printed.splitlines()) == 1
    assert "running" not in {job["state"] for job in left(db)}
