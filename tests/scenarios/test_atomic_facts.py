"""Memory as atomic facts with supersession, for a chat application.

Each fact is one short sentence that is never overwritten. A worker writes facts asynchronously in
two passes. The system prompt of a session begins with the known facts and never changes.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, ChatSession
from pgrecall.rows import Memory
from support import refused, rows, session_row, value
from support.scripted_model import MODEL, Script, asked, fact, step_of, talk, work
from support.scripted_openai import Request, ScriptedOpenAI, Status

PROMPT = "You are RunaxAI."
HEADING = "Known facts about the user:"
KNOWN_FACTS: dict[str, Any] = {
    "selection": "all",
    "format": "bullets",
    "max_memory_chars": 100_000,
    "placement": "system_prompt",
    "heading": HEADING,
    "memories_as_of": "session_start",
}
FASTAPI, CONCISE = "Builds RunaxAI with FastAPI", "Prefers concise explanations"
POSTGRES, SQLITE = "User uses Postgres", "User switched from Postgres to SQLite"
BENGALURU, UV = "Lives in Bengaluru", "Uses uv for Python package management"


def open_chat(memory: AgentMemory, user: uuid.UUID) -> ChatSession:
    chat = memory.session(user=user, model=MODEL, system_prompt=PROMPT)
    chat.open()
    return chat


def system_prompt(chat: ChatSession) -> str:
    """The first message of the next call; memory is nowhere else."""
    first, *others = chat.context("Hello", **KNOWN_FACTS)
    assert [message["role"] for message in others if message["role"] == "system"] == []
    return str(first["content"])


def bullets(prompt: str) -> list[str]:
    return re.findall(r"^• (.*?)(?: \(\d{4}-\d\d-\d\d\))?$", prompt, re.MULTILINE)


def panel(memory: AgentMemory, user: uuid.UUID) -> dict[str, Memory]:
    """Return the contents of the application's memory panel."""
    return {item.content: item for item in memory.memories.list(user)}


def test_a_session_begins_with_all_known_facts(memory: AgentMemory, user: uuid.UUID) -> None:
    """By the time they were observed, whatever the order of writing; nobody else's."""
    day = datetime(2026, 1, 1, tzinfo=UTC)
    for number, text in ((2, CONCISE), (1, FASTAPI), (4, UV), (3, BENGALURU)):
        memory.remember(user, text, observed_at=day + timedelta(days=number))
    memory.remember(uuid.uuid4(), "Lives in Oslo")

    prompt = system_prompt(open_chat(memory, user))
    assert prompt.startswith(PROMPT)
    assert prompt.index(HEADING) > len(PROMPT)
    assert bullets(prompt) == [FASTAPI, CONCISE, BENGALURU, UV]


def test_the_prompt_is_the_same_for_the_life_of_a_session(
    memory: AgentMemory, script: Script, user: uuid.UUID
) -> None:
    """Facts of a session appear from the next session on."""
    script.facts = {"I live in Bengaluru": [fact(BENGALURU)]}
    memory.remember(user, FASTAPI)
    memory.admin.configure_user(user, extract_after_turns=1)
    chat = open_chat(memory, user)
    before = system_prompt(chat)

    chat.append(user="I live in Bengaluru", reply="Noted.")
    work(memory)
    assert BENGALURU in panel(memory, user)
    assert system_prompt(chat) == before
    assert bullets(system_prompt(open_chat(memory, user))) == [FASTAPI, BENGALURU]


def test_send_returns_before_facts_are_written(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """The turn is stored and answered; the model is asked later, and may be down by then."""
    script.facts = {"I build RunaxAI with FastAPI": [fact(FASTAPI)]}
    talk(memory, user, ["I build RunaxAI with FastAPI"])
    assert openai.chats == []
    assert len(rows(db, "select from recall.jobs where user_id = %s and kind = 'extract'",
                    [user])) == 1  # fmt: skip

    openai.then(Status(500))
    assert memory.worker(kinds=["extract:llm"]).run_until_idle().failed == {"extract": 1}
    assert panel(memory, user) == {}
    db.execute("update recall.jobs set run_at = now() where user_id = %s", [user])
    work(memory)
    assert FASTAPI in panel(memory, user)


def test_the_cursor_is_a_content_hash(memory: AgentMemory, db: psycopg.Connection) -> None:
    """No cursor: all of it. Found: what comes after. Found nowhere: from the summary on."""

    def since(cursor: bytes | None, messages: list[dict[str, str]]) -> list[int]:
        found = db.execute(
            "select ordinal from recall.new_messages_since(%s, %s)",
            [cursor, psycopg.types.json.Jsonb(messages)],
        )
        return [ordinal for (ordinal,) in found]

    said = [
        {"role": ("user", "assistant")[number % 2], "content": f"Message {number}"}
        for number in range(1, 31)
    ]
    assert since(None, said) == [*range(1, 31)]
    cursor = value(db, "select recall.message_hash(%s)", [psycopg.types.json.Jsonb(said[19])])
    assert since(cursor, said) == [*range(21, 31)]

    recent = said[24:]
    summarised = [{"role": "system", "content": "[Previous conversation summary]"}, *recent]
    assert since(cursor, summarised) == [*range(1, 8)]
    assert len(cursor) == hashlib.sha256().digest_size


def test_extraction_in_two_passes_adds_updates_and_deletes(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """Facts of the user only, then one decision each: ADD, UPDATE, DELETE, NONE."""
    script.facts = {
        "I use Postgres": [fact(POSTGRES)],
        "I keep bees": [fact("User keeps bees")],
        "I switched to SQLite, and the bees are gone": [
            fact(SQLITE), fact("User no longer keeps bees")],
        "I live in Bengaluru, and yes, SQLite": [
            fact(BENGALURU), fact("User works with SQLite since the switch from Postgres")],
    }  # fmt: skip
    script.decisions = {
        SQLITE: ("UPDATE", POSTGRES),
        "User no longer keeps bees": ("DELETE", "User keeps bees"),
        "User works with SQLite since the switch from Postgres": ("NONE", None),
        BENGALURU: ("ADD", None),
    }
    monday = talk(memory, user, ["I use Postgres", "I keep bees"])
    work(memory)
    openai.forget()
    friday = talk(memory, user, ["I switched to SQLite, and the bees are gone"])
    work(memory)
    assert asked(openai)[:2] == ["extract", "consolidate"]
    assert len(openai.embeddings) >= 1
    talk(memory, user, ["I live in Bengaluru, and yes, SQLite"])
    work(memory)
    assert {*panel(memory, user)} == {SQLITE, BENGALURU}

    old, new = memory.memories.chain(user, panel(memory, user)[SQLITE].memory_id)
    assert (old.content, old.source_session_id) == (POSTGRES, monday.session_id)
    assert (new.content, new.source_session_id) == (SQLITE, friday.session_id)
    assert old.superseded_by == new.memory_id
    assert old.ended_at is not None
    # a transaction a batch: what it wrote bears one time of the job
    ended = rows(
        db,
        "select end_reason, job_id from recall.memory_store as m"
        " join recall.memory_events as e using (user_id, memory_id)"
        " where m.user_id = %s and m.ended_at is not null and e.event = m.end_reason",
        [user],
    )
    assert {row["end_reason"] for row in ended} == {"superseded", "retracted"}
    assert len({row["job_id"] for row in ended}) == 1


TARGET = "User is targeting VP of Engineering roles at Series B companies"
PROMOTED = "User became VP of Engineering at a Series B company"


@pytest.mark.parametrize("slot", [None, "job_title"])
def test_a_new_memory_achieves_a_goal(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection, slot: str | None,
) -> None:  # fmt: skip
    """A value of a slot, too, which SQL settles where no goal is similar."""
    script.facts = {
        "I want to be VP of Engineering": [fact(TARGET, kind="goal", importance=0.9)],
        "They made me VP of Engineering!": [fact(PROMOTED, slot=slot)],
    }
    script.decisions = {PROMOTED: ("ACHIEVE", TARGET)}
    talk(memory, user, ["I want to be VP of Engineering"])
    work(memory)
    talk(memory, user, ["They made me VP of Engineering!"])
    work(memory)
    assert asked(openai).count("consolidate") == 1
    found = panel(memory, user)
    assert {*found} == {TARGET, PROMOTED}
    assert found[TARGET].importance == pytest.approx(0.2)
    assert found[TARGET].metadata["achieved_at"]
    assert found[PROMOTED].slot == slot
    events = rows(
        db, "select e.event, e.job_id is not null as of_job from recall.memory_events as e"
            " where e.user_id = %s and e.memory_id = %s", [user, found[TARGET].memory_id],
    )  # fmt: skip
    assert {"event": "achieved", "of_job": True} in events

    # An achieved goal is no reason to ask about the next value.
    script.facts["I left"] = [fact("User left as VP of Engineering at a Series B company",
                                   slot="job_title")]  # fmt: skip
    openai.forget()
    if slot:
        talk(memory, user, ["I left"])
        work(memory)
        assert "consolidate" not in asked(openai)


def test_a_slot_beside_a_goal_is_stored_whatever_is_decided(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID
) -> None:
    script.facts = {
        "I want to be VP": [fact(TARGET, kind="goal")],
        "I am a director": [fact("User is director of Engineering at a Series B company",
                                 slot="job_title")],
    }  # fmt: skip
    script.decisions = {"User is director of Engineering at a Series B company": ("NONE", None)}
    other = "User trusts the head of Engineering at a Series B company"
    talk(memory, user, ["I want to be VP"])
    work(memory)
    memory.remember(user, other)
    talk(memory, user, ["I am a director"])
    work(memory)
    (question,) = (r for r in openai.chats if step_of(r) == "consolidate")
    assert TARGET in str(question)
    assert other not in str(question)
    assert memory.memories.profile(user)["job_title"]["content"].startswith("User is director")
    assert "achieved_at" not in panel(memory, user)[TARGET].metadata


def test_the_rolling_summary_resolves_references(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """Renewed every ten user turns and at the end; it is part of the prompt, and no memory."""
    chat = talk(memory, user, [f"Option {number} is nice" for number in range(10)], close=False)
    work(memory)
    assert "summarize" in asked(openai)
    assert session_row(db, user, chat.session_id)["extracted_through_turn"] == 20

    openai.forget()
    chat.append(user="Yes, that one. Use the earlier option.", reply="Sure.")
    chat.close()
    work(memory)
    extraction = next(request for request in openai.chats if "earlier option" in str(request))
    assert "<summary>\n10 messages of the user, the last: Option 9 is nice\n</summary>" in (
        extraction["messages"][1]["content"])  # fmt: skip
    assert value(
        db,
        "select count(*) from recall.session_summaries"
        " where user_id = %s and kind = 'rolling' and ended_at is null",
        [user],
    ) == 1  # fmt: skip
    assert panel(memory, user) == {}


def test_every_phase_has_a_span(
    memory: AgentMemory, script: Script, user: uuid.UUID, db: psycopg.Connection
) -> None:
    script.facts = {"I use Postgres": [fact(POSTGRES)],
                    "I switched to SQLite": [fact(SQLITE)]}  # fmt: skip
    script.decisions = {SQLITE: ("UPDATE", POSTGRES)}
    for said in script.facts:
        talk(memory, user, [said])
        work(memory)
    spans = rows(db, "select distinct phase from recall.job_phases where user_id = %s", [user])
    assert {row["phase"] for row in spans} >= {
        "extract", "embed", "consolidate", "persist", "summary"}  # fmt: skip


def test_facts_are_added_edited_and_removed_in_a_panel(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """A person adds, edits and removes facts; a removal keeps the row."""
    added = memory.remember(user, UV)
    assert (added.outcome, panel(memory, user)[UV].source) == ("added", "manual")
    edited = memory.memories.edit(user, added.memory_id, "Uses uv for everything in Python")
    assert {*panel(memory, user)} == {"Uses uv for everything in Python"}

    assert memory.memories.retract(user, edited, reason="removed in the panel")
    assert panel(memory, user) == {}
    kept = memory.memories.list(user, filter={"include_ended": True})
    assert {item.end_reason for item in kept} == {"superseded", "retracted"}
    assert [event.event for event in memory.memories.history(user, edited)][-1] == "retracted"
    with refused("RC001"):
        db.execute("select recall.retract_memory(%s, %s)", [uuid.uuid4(), edited])


def test_facts_of_an_earlier_design_are_brought_along(memory: AgentMemory, user: uuid.UUID) -> None:
    """The backfill runs once; again it adds nothing."""
    blobs = [{"content": text, "source": "import", "provenance": "user_stated"}
             for text in (FASTAPI, CONCISE)]  # fmt: skip
    for outcome in ("added", "duplicate"):
        assert {item.outcome for item in memory.memories.ingest(user, blobs)} == {outcome}
    assert {item.source for item in memory.memories.list(user)} == {"import"}


@pytest.mark.slow
def test_a_few_hundred_facts_call_for_retrieval(memory: AgentMemory, user: uuid.UUID) -> None:
    """The switch from all facts to the fitting ones is one option."""
    books = [f"User owns book number {number}" for number in range(300)]
    memory.memories.ingest(user, [{"content": b, "provenance": "user_stated"} for b in books])
    memory.remember(user, "User lives in Bengaluru with two parrots")
    chat = open_chat(memory, user)
    few = chat.context("Where do my parrots live?", placement="system_prompt", max_memories=5)
    assert "two parrots" in str(few[0]["content"])
    assert str(few[0]["content"]).count("\n- ") <= 5


def test_the_extractor_is_told_what_counts(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    """It sees the assistant's turns, and the rule that only the user's words count."""
    talk(memory, user, ["Which framework do you suggest?"])
    work(memory)
    request: Request = openai.chats[0]
    instructions, data = (message["content"] for message in request["messages"])
    assert "Only what the user said or clearly confirmed" in instructions
    assert "[2] assistant: I see." in data
    assert f"Date: {datetime.now(UTC):%Y-%m-%d}" in data


def test_stated_or_confirmed_facts_begin_the_next_session(
    memory: AgentMemory, script: Script, user: uuid.UUID
) -> None:
    """A hint stays in its session until the user repeats it."""
    script.facts = {
        "I moved to Bengaluru": [fact(BENGALURU)],
        "Yes, uv it is": [fact(UV, confidence="medium")],
        "Perhaps I like it short": [fact(CONCISE, confidence="low")],
        "Short, as ever": [fact(CONCISE, confidence="low")],
    }
    *first, again = script.facts
    talk(memory, user, first)
    work(memory)
    assert {*bullets(system_prompt(open_chat(memory, user)))} == {BENGALURU, UV}
    assert CONCISE not in {hit.content for hit in memory.search(user, "concise explanations")}

    talk(memory, user, [again])
    work(memory)
    assert {*bullets(system_prompt(open_chat(memory, user)))} == {BENGALURU, UV, CONCISE}
