"""The pipeline with a language model, end to end over real HTTP: appends, worker, memories."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, AsyncAgentMemory
from pgrecall.models import count_text_tokens
from pgrecall.rows import Job
from support import rows, session_row, value
from support.scripted_model import (
    MODEL,
    TURN,
    Script,
    asked,
    embedder,
    fact,
    model,
    step_of,
    talk,
    work,
)
from support.scripted_openai import (
    Cut,
    Filtered,
    Hang,
    Refusal,
    Request,
    Scripted,
    ScriptedOpenAI,
    Status,
    needed_tokens,
)
from support.transcripts import assert_valid, prompt_tokens

pytestmark = pytest.mark.usefixtures("empty_queue")


def contents(memory: AgentMemory, user: uuid.UUID, **more: Any) -> set[str]:
    return {item.content for item in memory.memories.list(user, **more)}


def everything(db: psycopg.Connection, user: uuid.UUID) -> list[Any]:
    """All that the pipeline writes for a user, but for the trace of its work."""
    return [
        db.execute(query.encode(), [user]).fetchall()
        for query in (
            "select m.*::text from recall.memory_store as m where user_id = %s order by memory_id",
            (
                "select s.*::text from recall.session_summaries as s where user_id = %s"
                " order by summary_id"
            ),
            (
                "select session_id, extracted_through_turn, compacted_through_turn, turn_count"
                " from recall.sessions where user_id = %s order by session_id"
            ),
        )
    ]


def memories_by_content(db: psycopg.Connection, user: uuid.UUID) -> dict[str, tuple[Any, ...]]:
    """Every memory of a user, ended ones too: kind, slot, tier, …, its successor's content."""
    found = rows(
        db,
        "select m.content, m.kind, m.slot, m.tier::text, m.scope::text, m.provenance::text,"
        "       m.end_reason::text, s.content as successor, m.source_session_id as session,"
        "       cardinality(m.source_turn_ids) as turns"
        "  from recall.memory_store as m"
        "  left join recall.memory_store as s"
        "    on s.user_id = m.user_id and s.memory_id = m.superseded_by"
        " where m.user_id = %s",
        [user],
    )
    by_content = {row.pop("content"): tuple(row.values()) for row in found}
    assert len(found) == len(by_content)
    return by_content


def test_extraction_of_three_sessions_stores_exactly_the_expected_rows(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """Memories, chains, episodes and summaries are exactly those expected; again is the same."""
    script.facts = {
        "I moved to Lyon last week": [
            fact("User moved to Lyon in 2026.", slot="home_city", tags=["home"], importance=0.9)],
        "I use Postgres for everything": [fact("User uses Postgres.")],
        "Call me Ada, always": [fact("User wants to be called Ada.", kind="instruction")],
        "Maybe I like tea": [fact("User may like tea.", confidence="low")],
        "I moved on to Nice": [fact("User moved to Nice.", slot="home_city", importance=0.9)],
        "I switched to SQLite": [fact("User switched from Postgres to SQLite.")],
        "I use Postgres, as I said": [fact("User uses Postgres.")],
        "My sister Ann has 2 dogs": [fact("User's sister Ann has 2 dogs.")],
        "Ann has 3 dogs now": [fact("User's sister Ann has 3 dogs.")],
    }  # fmt: skip
    script.episodes = {"I moved to Lyon last week": "User told of the move to Lyon."}
    script.decisions = {
        "User switched from Postgres to SQLite.": ("UPDATE", "User uses Postgres."),
        "User's sister Ann has 3 dogs.": ("UPDATE", "User's sister Ann has 2 dogs."),
    }
    first = talk(memory, user, ["I moved to Lyon last week", "I use Postgres for everything",
                                "Call me Ada, always", "Maybe I like tea"])  # fmt: skip
    work(memory)
    assert asked(openai).count("extract") == 1
    second = talk(memory, user, ["I use Postgres, as I said", "My sister Ann has 2 dogs"])
    work(memory)
    third = talk(memory, user, ["I moved on to Nice", "I switched to SQLite",
                                "Ann has 3 dogs now"])  # fmt: skip
    work(memory)

    by_content = memories_by_content(db, user)
    one, two, three = first.session_id, second.session_id, third.session_id
    lyon, nice = "User moved to Lyon in 2026.", "User moved to Nice."
    postgres, sqlite = "User uses Postgres.", "User switched from Postgres to SQLite."
    dogs = "User's sister Ann has {} dogs."
    stated = ("semantic", "global", "user_stated")
    assert by_content == {
        lyon: ("fact", "home_city", *stated, "superseded", nice, one, 1),
        nice: ("fact", "home_city", *stated, None, None, three, 1),
        postgres: ("fact", None, *stated, "superseded", sqlite, one, 2),
        sqlite: ("fact", None, *stated, None, None, three, 1),
        "User wants to be called Ada.": (
            "instruction", None, "semantic", "global", "instruction", None, None, one, 1),
        "User may like tea.": ("fact", None, "session", "local", "user_stated", None, None, one, 1),
        dogs.format(2): ("fact", None, *stated, "superseded", dogs.format(3), two, 1),
        dogs.format(3): ("fact", None, *stated, None, None, three, 1),
        "User told of the move to Lyon.": (
            "episode", None, "episodic", "global", "system_inferred", None, None, one, 2),
    }  # fmt: skip
    summaries = db.execute(
        "select session_id, kind::text, from_turn, to_turn, content"
        " from recall.session_summaries where user_id = %s and ended_at is null",
        [user],
    ).fetchall()
    assert sorted(summaries, key=lambda row: row[4]) == [
        (two, "rolling", 1, 4, "2 messages of the user, the last: My sister Ann has 2 dogs"),
        (three, "rolling", 1, 6, "3 messages of the user, the last: Ann has 3 dogs now"),
        (one, "rolling", 1, 8, "4 messages of the user, the last: Maybe I like tea"),
    ]
    assert asked(openai) == ["extract", "summarize"] * 2 + ["extract", "consolidate", "summarize"]

    before = everything(db, user)
    assert work(memory).jobs == 0
    assert everything(db, user) == before

    # the last session from its first turn again: SQL knows all of it, no second question is asked
    openai.forget()
    db.execute(
        "update recall.sessions set extracted_through_turn = 0, extracted_user_turns = 0"
        " where user_id = %s and session_id = %s",
        [user, three],
    )
    memory.admin.enqueue_job(user, "extract", session_id=three, payload={"mode": "llm"})
    work(memory)
    assert asked(openai) == ["extract"]
    assert memories_by_content(db, user) == by_content


def test_postgres_then_sqlite_then_nothing(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    postgres, sqlite = "User uses Postgres.", "User switched from Postgres to SQLite."
    script.facts = {
        "I use Postgres": [fact(postgres)],
        "I work with Postgres": [fact("User works with Postgres.")],
        "I use postgres!": [fact("User uses postgres")],
        "I switched to SQLite": [fact(sqlite)],
        "I stopped using SQLite": [fact("User stopped using SQLite.")],
    }
    script.decisions = {
        "User works with Postgres.": ("NONE", None),
        sqlite: ("UPDATE", postgres),
        "User stopped using SQLite.": ("DELETE", sqlite),
    }
    talk(memory, user, ["I use Postgres"])
    work(memory)
    assert asked(openai) == ["extract", "summarize"]
    at_first = value(db, "select clock_timestamp()")
    before = memory.memories.list(user)

    # a paraphrase changes nothing; the same words need no second question
    talk(memory, user, ["I work with Postgres"])
    work(memory)
    assert asked(openai)[2:] == ["extract", "consolidate", "summarize"]
    talk(memory, user, ["I use postgres!"])
    work(memory)
    assert asked(openai)[5:] == ["extract", "summarize"]
    assert [item.memory_id for item in memory.memories.list(user)] == [before[0].memory_id]

    talk(memory, user, ["I switched to SQLite"])
    work(memory)
    (active,) = memory.memories.list(user)
    assert active.content == sqlite
    assert [item.content for item in memory.memories.chain(user, active.memory_id)] == [
        postgres,
        sqlite,
    ]
    assert contents(memory, user, as_of=at_first) == {postgres}

    between = value(db, "select clock_timestamp()")
    talk(memory, user, ["I stopped using SQLite"])
    work(memory)
    assert memory.memories.list(user) == []
    assert contents(memory, user, as_of=between) == {sqlite}
    assert contents(memory, user, as_of=at_first) == {postgres}
    ended = memory.memories.get(user, active.memory_id)
    assert ended is not None
    assert (ended.end_reason, ended.superseded_by) == ("retracted", None)


PLAIN = "Well, I would rather talk about the weather."
BAD = {
    "malformed": ([PLAIN, PLAIN], PLAIN),
    "half of it": (['{"facts": [{"content"'] * 2, '{"facts": [{"content"'),
    "another shape": (['{"facts": "none"}'] * 2, '{"facts": "none"}'),
    "empty": (["", ""], "not JSON"),
    "refusal": ([Refusal("I must not profile people.")], "I must not profile people."),
    "filtered": ([Filtered("The user")], "content filter"),
    "cut off": ([Cut('{"facts": [{"con')] * 2, 'cut off; the answer began: {"facts": [{"con'),
    "429": ([Status(429, "slow down")], "RateLimitError: Error code: 429"),
    "500": ([Status(500, "on fire")], "InternalServerError: Error code: 500"),
    "401": ([Status(401, "who?")], "AuthenticationError"),
    "hanging": ([Hang()], "APITimeoutError"),
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_answers_are_retried_and_write_nothing(
    model_dsn: str, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection, name: str,
) -> None:  # fmt: skip
    """Each is tried again later, with what the model said kept and nothing written."""
    answers, kept = BAD[name]
    script.facts = {"I use Vim": [fact("User uses Vim.")]}
    settings = model(openai, timeout=0.3 if name == "hanging" else 60)
    with AgentMemory.connect(model_dsn, embedder=embedder(openai), llm=settings) as memory:
        chat = talk(memory, user, ["I use Vim"])
        before = everything(db, user)
        openai.then(*answers)
        report = memory.worker(kinds=["extract:llm"]).run_until_idle()
        assert report.failed == {"extract": 1}
        assert everything(db, user) == before
        assert session_row(db, user, chat.session_id)["extracted_through_turn"] == 0
        (job,) = extractions(db, user)
        assert (job["state"], job["attempts"]) == ("ready", 1)
        assert kept in job["last_error"]

        make_due(db)
        work(memory)
        assert contents(memory, user) == {"User uses Vim."}
        assert session_row(db, user, chat.session_id)["extracted_through_turn"] == 2


def test_retried_dead_letter_extracts_every_turn(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """Nonsense for ever ends in a dead letter; a new try picks up, and misses no turn."""
    script.facts = {"I use Vim": [fact("User uses Vim.")], "I use zsh": [fact("User uses zsh.")]}
    memory.admin.configure_user(user, extract_after_idle="0 seconds")
    chat = talk(memory, user, ["I use Vim"], close=False)
    attempts = value(db, "select job_max_attempts from recall.settings")
    openai.respond = lambda _: PLAIN
    for _ in range(attempts):
        db.execute("update recall.jobs set run_at = now()")
        memory.worker(kinds=["extract:llm"]).run_until_idle()
    (job,) = extractions(db, user)
    assert (job["state"], job["attempts"]) == ("dead", attempts)
    assert PLAIN in job["last_error"]
    assert memory.memories.list(user) == []

    openai.respond = script
    chat.append(user="I use zsh", reply="I see.")
    chat.close()
    db.execute("select recall.retry_dead_jobs()")
    make_due(db)
    work(memory)
    assert contents(memory, user) == {"User uses Vim.", "User uses zsh."}
    assert session_row(db, user, chat.session_id)["extracted_through_turn"] == 4


def test_a_bad_second_answer_writes_nothing(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """Not even another user's memory can be meant: the model names numbers that it was shown."""
    other = uuid.uuid4()
    added = memory.remember(other, "User uses Postgres.")
    script.facts = {
        "I use Postgres": [fact("User uses Postgres.")],
        "I switched to SQLite": [fact("User switched from Postgres to SQLite."),
                                 fact("User runs marathons.")],
    }  # fmt: skip
    talk(memory, user, ["I use Postgres"])
    work(memory)
    before = contents(memory, user)
    talk(memory, user, ["I switched to SQLite"])
    for target in (str(added.memory_id), 2, 0, None):
        added_too = {"candidate": 2, "decision": "ADD", "target": None}
        retracted = {"candidate": 1, "decision": "DELETE", "target": target}
        bad = {"decisions": [retracted, added_too]}
        openai.then(script, bad, bad)
        report = memory.worker(kinds=["extract:llm"]).run_until_idle()
        assert report.failed == {"extract": 1}
        assert report.last_error is not None
        assert '"DELETE"' in report.last_error
        assert contents(memory, user) == before
        make_due(db)
    assert contents(memory, other) == {"User uses Postgres."}
    script.decisions = {
        "User switched from Postgres to SQLite.": ("UPDATE", "User uses Postgres."),
        "User runs marathons.": ("ADD", None),
    }
    work(memory)
    assert contents(memory, user) == {
        "User switched from Postgres to SQLite.", "User runs marathons."
    }  # fmt: skip


@pytest.mark.slow
def test_a_burst_of_fifty_turns(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """One job after the other, each of as many turns as an answer has room for all facts of."""
    memory.remember(user, "User speaks language number 1.", embedding=None)
    said = [f"I speak language {number}" for number in range(50)]
    script.facts = {
        text: [fact(f"User speaks language number {number} well.")]
        for number, text in enumerate(said)
    }
    script.decisions = {
        f"User speaks language number {number} well.": ("ADD", None) for number in range(50)
    }
    talk(memory, user, said, close=False)
    assert len(extractions(db, user)) == 1
    openai.forget()
    report = memory.worker(kinds=["extract:llm"]).run_until_idle()
    assert report.done == {"extract": 5}
    assert asked(openai).count("extract") == len(openai.embeddings) == 5
    assert asked(openai).count("consolidate") <= 5
    assert extractions(db, user) == []
    assert len(memory.memories.list(user, limit=100)) >= 50

    # at chat pace: nothing before ten more turns of the user, or a pause
    talk_on = memory.session(user=user, session_id=memory.sessions.list(user)[0].session_id)
    openai.forget()
    for number in range(10):
        assert memory.worker(kinds=["extract:llm"]).run_until_idle().jobs == 0
        talk_on.append(user=f"Hm {number}", reply="I see.")
    assert memory.worker(kinds=["extract:llm"]).run_until_idle().done == {"extract": 1}
    assert asked(openai) == ["extract"]


def test_spans_carry_tokens_and_cost(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    script.facts = {"I use Vim": [fact("User uses Vim.")]}
    talk(memory, user, ["I use Vim"])
    work(memory)
    spans = rows(
        db,
        "select kind, phase, items, prompt_tokens, completion_tokens, cost_microcents, model_id"
        "  from recall.job_phases where user_id = %s and kind <> 'embed'",
        [user],
    )
    # 600 tokens at 0.15 $/M, 400 cached at half of it, 100 at 0.60 $/M; prices of recall.models
    spent = (1000, 100, 18000, MODEL)
    free = (1, 0, None, "openai:words")  # a token, as the endpoint says, of a model without a price
    assert {tuple(span.values()) for span in spans} == {
        ("extract", "extract", 1, *spent), ("extract", "embed", 1, *free),
        ("summarize", "summary", 2, *spent), ("summarize", "embed", 1, *free),
        ("extract", "persist", 1, 0, 0, 0, None), ("summarize", "persist", 1, 0, 0, 0, None),
    }  # fmt: skip
    (session,) = memory.sessions.list(user)
    # four tokens of embeddings among them
    assert (session.total_prompt_tokens, session.total_completion_tokens) == (2004, 200)
    assert session.total_cost_microcents == 36000


@pytest.mark.parametrize("mode", ["llm", "verbatim"])
def test_span_of_an_extraction_has_the_turns_that_it_read(
    memory: AgentMemory, script: Script, user: uuid.UUID, mode: str
) -> None:
    script.facts = {"I use Vim": [fact("User uses Vim.")]}
    chat = memory.session(user=user, model=MODEL, extraction=mode)
    for number in range(2):
        chat.append(user=f"I use Vim on machine {number}.", reply="Noted.")
        chat.append(user=f"I like tea number {number}.", reply="So do I.")
        chat.close()
        work(memory)
        chat.resume()
    spans = memory.pages.job_phases(user)[::-1]
    effects = [one for one in spans if (one.kind, one.phase) == ("extract", "persist")]
    assert [(one.from_turn, one.to_turn) for one in effects] == [(1, 4), (5, 8)]
    assert {(one.from_turn, one.to_turn) for one in spans if one not in effects} == {(None, None)}


def test_a_failed_attempt_has_its_price(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """The cost of a failed attempt is recorded, including that of a malformed answer."""
    memory.remember(user, "User uses Postgres.")
    script.facts = {"I use Postgres too": [fact("User uses Postgres too.")]}
    talk(memory, user, ["I use Postgres too"])
    openai.then(script, PLAIN, PLAIN)
    assert memory.worker(kinds=["extract:llm"]).run_until_idle().failed == {"extract": 1}
    spans = rows(
        db,
        "select phase, items, prompt_tokens, completion_tokens, cost_microcents, model_id, error"
        "  from recall.job_phases where user_id = %s",
        [user],
    )
    assert sorted(tuple(span.values()) for span in spans) == [
        ("consolidate", 0, 1000, 100, 18000, MODEL, "not JSON"),
        ("consolidate", 0, 1000, 100, 18000, MODEL, "not JSON"),
        ("embed", 1, 1, 0, None, "openai:words", None),
        ("extract", 1, 1000, 100, 18000, MODEL, None),
    ]

    # an endpoint that is not there costs nothing, and says so
    make_due(db)
    openai.then(Status(500, "on fire"))
    memory.worker(kinds=["extract:llm"]).run_until_idle()
    (span,) = rows(
        db,
        "select phase, prompt_tokens, error from recall.job_phases"
        " where user_id = %s and error like '%%on fire%%'",
        [user],
    )
    assert (span["phase"], span["prompt_tokens"]) == ("extract", 0)


def test_embeddings_have_their_price(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    db.execute(
        "select recall.register_model(p_model_id => 'words', p_context_window_size => 8191,"
        "                             p_input_price => 2000000)"
    )
    talk(memory, user, ["I use Vim", "I use zsh"])
    work(memory, kinds=["embed"])
    spans = rows(
        db,
        "select phase, items, prompt_tokens, cost_microcents from recall.job_phases"
        " where user_id = %s and phase <> 'persist'",
        [user],
    )
    db.execute("delete from recall.models where model_id = 'words'")
    assert [tuple(span.values()) for span in spans] == [("embed", 4, 4, 8)]


def test_a_model_that_reads_little(
    model_dsn: str, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """Job after job until the end: each turn is read once, none is skipped."""
    openai.window = 3000
    said = [f"I speak language number {number}{' and so on' * 80}" for number in range(20)]
    script.facts = {
        text: [fact(f"User speaks language number {number}.", slot=f"language_{number}")]
        for number, text in enumerate(said)
    }
    settings = model(openai, context_window=3000)
    with AgentMemory.connect(model_dsn, embedder=embedder(openai), llm=settings) as memory:
        chat = talk(memory, user, said)
        report = work(memory)
        assert report.done["extract"] > 3
        assert contents(memory, user) == {
            f"User speaks language number {number}." for number in range(20)
        }
    assert session_row(db, user, chat.session_id)["extracted_through_turn"] == 40
    read = [
        int(turn[1])
        for request in openai.chats
        if step_of(request) == "extract"
        for text in request["messages"][1]["content"].splitlines()
        if (turn := TURN.match(text))
    ]
    assert read == [*range(1, 41)]
    assert all(needed_tokens(request) <= 3000 for request in openai.chats)


@pytest.mark.concurrent
def test_two_workers_on_the_same_sessions(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, db: psycopg.Connection
) -> None:
    """Each effect happens exactly once, whoever works."""
    script.facts = {"I use Vim": [fact("User uses Vim.")]}
    users = [uuid.uuid4() for _ in range(6)]
    for user in users:
        talk(memory, user, ["I use Vim"])
    workers = [memory.worker(name=f"w{number}") for number in range(3)]
    threads = [threading.Thread(target=worker.run_until_idle) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [worker.report.failed for worker in workers] == [{}] * 3
    work(memory)
    assert asked(openai).count("extract") == len(users)
    for user in users:
        assert contents(memory, user) == {"User uses Vim."}
    assert value(db, "select count(*) from recall.jobs") == 0


def test_a_session_in_which_nothing_was_said(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection
) -> None:
    for messages in ([], [{"role": "system", "content": "You are kind."}]):
        chat = memory.session(user=user, model=MODEL)
        if messages:
            chat.append(messages)
        else:
            chat.open()
        chat.close()
    work(memory)
    assert openai.chats == []
    count = "select count(*) from recall.session_summaries where user_id = %s"
    assert value(db, count, [user]) == 0
    assert value(db, "select count(*) from recall.jobs") == 0


def test_extraction_runs_every_ten_turns_at_the_pause_and_at_the_close(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """One extraction per ten turns of the user, one at the idle pause, and one at the close."""
    chat = memory.session(user=user, model=MODEL)
    worker = memory.worker(kinds=["extract"])

    def done() -> int:
        before = worker.report.jobs
        worker.run_until_idle()
        return worker.report.jobs - before

    at_turn = []
    for turn in range(1, 26):
        chat.append(user=f"Hm {turn}", reply="I see.")
        assert len(extractions(db, user)) == 1
        at_turn += [turn] * done()
    assert at_turn == [10, 20]

    # ten minutes later
    memory.admin.configure_user(user, extract_after_idle="0 seconds")
    make_due(db)
    assert [done(), done()] == [1, 0]
    memory.admin.configure_user(user, extract_after_idle="10 minutes")

    for turn in range(3):
        chat.append(user=f"Hm {turn}", reply="I see.")
        assert done() == 0
    chat.close()
    assert [done(), done()] == [1, 0]
    assert asked(openai) == ["extract"] * 4
    assert session_row(db, user, chat.session_id)["extracted_through_turn"] == 56


@pytest.mark.parametrize("dies_at", [1, 2, 3])
def test_job_of_a_worker_that_dies_is_done_once_by_another(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection, monkeypatch: pytest.MonkeyPatch, dies_at: int,
) -> None:  # fmt: skip
    """Between any two requests: its lease ends, and another does the job once."""
    script.facts = {"I use Vim": [fact("User uses Vim.")]}
    talk(memory, user, ["I use Vim"])

    class Killed(BaseException):
        pass

    dying = memory.worker(kinds=["extract:llm"])
    ask = dying._call
    requests = 0

    def die(job: Job, function: str, **arguments: Any) -> Any:
        nonlocal requests
        requests += function == "next_request"
        if requests == dies_at:
            raise Killed
        return ask(job, function, **arguments)

    monkeypatch.setattr(dying, "_call", die)
    with pytest.raises(Killed):
        dying.run_until_idle()
    (job,) = extractions(db, user)
    assert (job["state"], job["attempts"]) == ("running", 1)
    db.execute("update recall.jobs set lease_until = now() - interval '1 second'"
               " where state = 'running'")  # fmt: skip
    db.execute("select recall.release_expired_leases()")
    make_due(db)
    work(memory)
    assert contents(memory, user) == {"User uses Vim."}
    # at most one request is repeated, that whose answer was not handed in
    again = {2: "extract", 3: "embed"}.get(dies_at)
    assert asked(openai).count("extract") == 1 + (again == "extract")
    inputs = [request["input"] for request in openai.embeddings]
    assert inputs.count(["User uses Vim."]) == 1 + (again == "embed")


@pytest.mark.slow
def test_compaction_of_a_long_session_with_tools(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """The context is valid and within its window before, during and after."""
    window = 4000
    chat = memory.session(
        user=user, model=MODEL, context_window_size=window, max_response_tokens=500
    )
    filler = "The quick brown fox jumps over the lazy dog. " * 4

    def check() -> Mapping[str, Any]:
        compiled = chat.compile("What now?", embedding=None)
        assert_valid(compiled.messages)
        assert prompt_tokens(compiled.messages) <= window - 500
        return compiled.budget

    def turn(number: int) -> None:
        calls = [{"id": f"c{number}", "type": "function",
                  "function": {"name": "look", "arguments": '{"at": 1}'}}]  # fmt: skip
        chat.append(
            [
                {"role": "user", "content": f"Question {number}. {filler}"},
                {"role": "assistant", "content": None, "tool_calls": calls},
                {"role": "tool", "tool_call_id": f"c{number}", "content": filler},
                {"role": "assistant", "content": f"Answer {number}. {filler}"},
            ]
        )

    for number in range(30):
        turn(number)
        if number % 5 == 0:
            check()
    compactions = "select count(*) from recall.jobs where user_id = %s and kind = 'compact'"
    assert value(db, compactions, [user]) == 1
    tokens = session_row(db, user, chat.session_id)["active_tokens"]
    inside: list[Any] = []

    def meanwhile(request: Request) -> Scripted:
        if not inside:
            turn(30)  # an append does not wait for the model
            inside.append(check())
        return Script()(request)

    openai.respond = meanwhile
    assert set(work(memory, kinds=["compact"]).done) == {"compact"}
    openai.respond = Script()
    row = session_row(db, user, chat.session_id)
    assert row["compacted_through_turn"] > 0
    assert row["search_purge_at"] > datetime.now(UTC) + timedelta(days=29)
    assert (row["turn_count"], len(inside)) == (31 * 4, 1)
    assert row["active_tokens"] < tokens
    assert check()["summary"] > 0
    summary = live_compaction(db, user)
    assert summary["to_turn"] == row["compacted_through_turn"]
    exactly = count_text_tokens(summary["content"], MODEL)
    assert exactly <= summary["token_count"] <= 2 * exactly  # an estimate, on the safe side
    # what it saves: the window's tokens to the summary's
    assert summary["source_tokens"] == summary["turn_tokens"]
    assert summary["source_tokens"] >= 5 * summary["token_count"]

    # the next one swallows the first
    for number in range(31, 60):
        turn(number)
    work(memory, kinds=["compact"])
    check()
    later = live_compaction(db, user)
    assert later["to_turn"] > summary["to_turn"]
    assert later["source_tokens"] == later["turn_tokens"] - summary["turn_tokens"]
    assert later["content"].startswith(summary["content"])
    assert set(asked(openai)) == {"compact"}
    work(memory)
    check()


def live_compaction(db: psycopg.Connection, user: uuid.UUID) -> dict[str, Any]:
    (found,) = rows(
        db,
        "select s.to_turn, s.token_count, s.source_tokens, s.content,"
        "       (select sum(h.token_count) from recall.conversation_history as h"
        "         where h.user_id = s.user_id and h.session_id = s.session_id"
        "           and h.turn_index <= s.to_turn) as turn_tokens"
        "  from recall.session_summaries as s"
        " where s.user_id = %s and s.kind = 'compaction' and s.ended_at is null",
        [user],
    )
    return found


def test_nothing_is_held_while_a_model_works(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    seen: list[Any] = []

    def watched(request: Request) -> Scripted:
        seen.extend(
            db.execute(
                "select state, xact_start from pg_stat_activity"
                " where application_name = 'pgrecall' and datname = current_database()"
            ).fetchall()
        )
        return script(request)

    openai.respond = watched
    talk(memory, user, ["I use Vim"])
    work(memory)
    assert seen
    assert set(seen) == {("idle", None)}


async def _asynchronously(model_dsn: str, openai: ScriptedOpenAI, user: uuid.UUID) -> set[str]:
    async with AsyncAgentMemory.connect(
        model_dsn, embedder=embedder(openai), llm=model(openai)
    ) as memory:
        chat = memory.session(user=user, model=MODEL)
        for text in ("I use Postgres", "I switched to SQLite"):
            await chat.append(user=text, reply="I see.")
            await chat.close()
            report = await memory.worker().run_until_idle()
            assert report.failed == {}, report.last_error
            await chat.resume()
        return {item.content for item in await memory.memories.list(user)}


def test_asynchronous_worker_extracts_and_consolidates(
    model_dsn: str, openai: ScriptedOpenAI, script: Script, user: uuid.UUID
) -> None:
    import asyncio

    script.facts = {
        "I use Postgres": [fact("User uses Postgres.")],
        "I switched to SQLite": [fact("User switched from Postgres to SQLite.")],
    }
    script.decisions = {"User switched from Postgres to SQLite.": ("UPDATE", "User uses Postgres.")}
    found = asyncio.run(_asynchronously(model_dsn, openai, user))
    assert found == {"User switched from Postgres to SQLite."}
    assert asked(openai).count("consolidate") == 1


def test_worker_reports_deferred_jobs_and_flush_extracts_them(
    model_dsn: str, openai: ScriptedOpenAI, script: Script, user: uuid.UUID, db: psycopg.Connection
) -> None:
    script.facts = {"I use Vim": [fact("User uses Vim.")]}
    with AgentMemory.connect(model_dsn, embedder=embedder(openai)) as memory:
        talk(memory, user, ["I use Vim", "Good", "Bye"], close=False)
        idle = extractions(db, user)[0]["run_at"]

        report = memory.worker(llm=model(openai)).run_until_idle()
        assert (report.done, report.deferred, report.deferred_until) == ({"embed": 1}, 1, idle)
        assert report.without_model == 0
        report = memory.worker().run_until_idle(flush=True)
        assert (report.jobs, report.deferred, report.without_model) == (0, 1, 1)
        assert str(report) == (
            f"0 jobs done; 1 job deferred until {idle.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC or"
            " later; 1 job needs a language model, which this worker lacks"
        )
        report = memory.worker(llm=model(openai)).run_until_idle(flush=True)
        assert report.done == {"extract": 1}
        assert (report.deferred, report.deferred_until, report.waiting) == (0, None, [])
        assert contents(memory, user) == {"User uses Vim."}


def test_a_limit_that_is_reached_within_a_job_defers_it(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """The report counts it as deferred; what was made is kept for the next day."""
    script.facts = {"I use Vim too": [fact("User uses Vim too.")]}
    script.decisions = {"User uses Vim too.": ("ADD", None)}
    memory.remember(user, "User uses Vim.")
    talk(memory, user, ["I use Vim too"])
    memory.admin.configure_user(user, daily_user_cost_limit_microcents=18000)  # of one question
    report = memory.worker(kinds=["extract:llm"]).run_until_idle()
    assert (report.done, report.failed, report.lost) == ({}, {}, 0)
    assert asked(openai) == ["extract"]
    (job,) = extractions(db, user)
    assert (job["state"], job["attempts"]) == ("ready", 0)
    assert (report.deferred >= 1, report.deferred_until is not None) == (True, True)

    memory.admin.configure_user(user, daily_user_cost_limit_microcents=None)
    make_due(db)
    work(memory, kinds=["extract:llm"])
    assert asked(openai) == ["extract", "consolidate"]
    assert contents(memory, user) == {"User uses Vim.", "User uses Vim too."}


def test_asynchronous_worker_flushes_and_reports(
    model_dsn: str, openai: ScriptedOpenAI, script: Script, user: uuid.UUID
) -> None:
    import asyncio

    script.facts = {"I use Vim": [fact("User uses Vim.")]}

    async def run() -> None:
        async with AsyncAgentMemory.connect(model_dsn, embedder=embedder(openai)) as memory:
            await memory.session(user=user, model=MODEL).append(user="I use Vim", reply="I see.")
            report = await memory.worker().run_until_idle()
            assert (report.deferred, report.without_model) == (1, 1)
            report = await memory.worker(llm=model(openai)).run_until_idle(flush=True)
            assert (report.done, report.deferred) == ({"extract": 1}, 0)
            assert [item.content for item in await memory.memories.list(user)] == ["User uses Vim."]

    asyncio.run(run())


def test_worker_and_status_commands_say_what_waits(
    model_dsn: str, memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    script.facts = {"I use Vim": [fact("User uses Vim.")]}
    talk(memory, user, ["I use Vim"], close=False)
    worker = ("worker", "--dsn", model_dsn, "--until-idle", "--no-embedding")
    endpoint = ("--base-url", openai.base_url, "--model", MODEL)

    assert command(*worker) == 0
    said = capsys.readouterr()
    assert "1 job needs a language model" in said.out
    assert "--model" in said.err
    assert command(*worker, *endpoint) == 0
    said = capsys.readouterr()
    assert "1 job deferred until 20" in said.out
    assert "--flush" in said.err
    assert command("status", "--dsn", model_dsn) == 0
    said = capsys.readouterr()
    assert re.search(r"^deferred +1 until 20", said.out, re.MULTILINE)
    assert re.search(r"^for a model +1 of", said.out, re.MULTILINE)
    assert command("status", "--dsn", model_dsn, "--json") == 0
    numbers = json.loads(capsys.readouterr().out)
    assert (numbers["deferred_jobs"], numbers["jobs_that_need_a_model"]) == (1, 1)

    assert command("worker", "--dsn", model_dsn, "--flush") == 2
    capsys.readouterr()
    assert command(*worker, *endpoint, "--flush", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["done"]["extract"], found["deferred"], found["without_model"]) == (1, 0, 0)
    assert contents(memory, user) == {"User uses Vim."}


@pytest.mark.slow
def test_worker_without_a_model_says_at_its_start_what_needs_one(
    model_dsn: str, memory: AgentMemory, user: uuid.UUID
) -> None:
    talk(memory, user, ["I use Vim"], close=False)
    worker = subprocess.Popen(
        [sys.executable, "-m", "pgrecall", "worker", "--dsn", model_dsn, "--no-embedding"],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert worker.stderr is not None
    said = [worker.stderr.readline() for _ in range(3)]
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=60)
    assert "1 job deferred until" in said[1]
    assert "1 job needs a language model" in said[2]


def test_chat_goes_to_the_same_endpoint(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    chat = memory.session(user=user, model=MODEL)
    openai.then("Vim, of course.")
    assert chat.send("Which editor?").choices[0].message.content == "Vim, of course."
    (request,) = openai.chats
    assert request["messages"][-1] == {"role": "user", "content": "Which editor?"}


def test_worker_command_needs_an_endpoint_and_extracts_with_it(
    model_dsn: str, memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    script.facts = {"I use Vim": [fact("User uses Vim.")]}
    talk(memory, user, ["I use Vim"])
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    assert command("worker", "--dsn", model_dsn, "--until-idle", "--model", MODEL) == 2
    assert "--base-url" in capsys.readouterr().err
    endpoint = ("--base-url", openai.base_url, "--model", "another")
    assert command("worker", "--dsn", model_dsn, "--until-idle", "--json", *endpoint) == 0
    assert json.loads(capsys.readouterr().out)["done"]["extract"] == 1
    assert contents(memory, user) == {"User uses Vim."}
    assert {request["model"] for request in openai.chats} == {"another"}


def command(*arguments: str) -> Any:
    from pgrecall.cli import main

    try:
        return main(list(arguments))
    except SystemExit as end:
        return end.code


def extractions(db: psycopg.Connection, user: uuid.UUID) -> list[dict[str, Any]]:
    return rows(db, "select * from recall.jobs where user_id = %s and kind = 'extract'", [user])


def make_due(db: psycopg.Connection) -> None:
    db.execute("update recall.jobs set run_at = now() where state = 'ready'")
