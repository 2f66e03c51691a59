"""Discrete memories of a career agent's users, distilled by a model from conversations.

Seven types with a life each; the top 20 in the system prompt, a search as a tool; more than five of
a tag are merged; what is unimportant and stale, or situational and old, is archived, never deleted.
"""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from pgrecall.rows import Memory
from support import rows, sweep, value
from support.scripted_model import MODEL, Script, asked, fact, talk, work
from support.scripted_openai import ScriptedOpenAI

USER = "auth0|xxx"
HEADING = "--- WHAT YOU KNOW ABOUT THIS USER ---"
EXAMPLES = {
    "preference": "User dislikes corporate buzzwords.",
    "goal": "User is targeting VP of Engineering roles at Series B companies (50-200 people).",
    "fact": "User previously worked at Stripe as a Director of Engineering from 2019-2023.",
    "decision": "User chose the 'executive' card template over 'detailed' on 2026-03-15.",
    "context": "User is actively interviewing and has 3 pending offers.",
    "feedback": "User said the last card draft was 'too formal'.",
    "personal": "User has a dog named Max.",
}
DAY = timedelta(days=1)


@pytest.fixture
def person(memory: AgentMemory) -> uuid.UUID:
    return memory.users.ensure(f"{USER}|{uuid.uuid4()}")


def by_content(memory: AgentMemory, user: uuid.UUID, **more: Any) -> dict[str, Memory]:
    return {item.content: item for item in memory.memories.list(user, **more)}


def later(days: float) -> datetime:
    return datetime.now(UTC) + days * DAY


def test_extraction_stores_seven_types_with_turns_and_importance(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, person: uuid.UUID
) -> None:
    """Extraction after the conversation; each memory knows its turns, importance and confidence."""
    said = {kind: f"Let me tell you a {kind}" for kind in EXAMPLES}
    script.facts = {
        said[kind]: [fact(text, kind=kind, importance=0.8, tags=[kind])]
        for kind, text in EXAMPLES.items()
    }
    chat = talk(memory, person, [*said.values()])
    work(memory)
    prompt = openai.chats[0]["messages"][1]["content"]
    assert all(f"{kind}: " in prompt for kind in EXAMPLES)

    stored = by_content(memory, person)
    assert {item.kind: text for text, item in stored.items()} == EXAMPLES
    turns = {message.message_id: message.turn_index for message in chat.messages()}
    for number, kind in enumerate(EXAMPLES):
        item = stored[EXAMPLES[kind]]
        assert [turns[turn] for turn in item.source_turn_ids or ()] == [2 * number + 1]
        assert (item.importance, item.tags, item.source) == (
            pytest.approx(0.8), [kind], "conversation")  # fmt: skip
        assert item.confidence == pytest.approx(0.9)
        assert (item.expires_at is not None) == (kind == "context")
    lasts = stored[EXAMPLES["context"]]
    assert lasts.expires_at is not None
    assert lasts.expires_at - lasts.created_at == 90 * DAY


def test_the_top_twenty_in_the_system_prompt(memory: AgentMemory, person: uuid.UUID) -> None:
    """By importance, as lines of their type."""
    for number in range(25):
        memory.remember(person, f"User likes thing number {number}", kind="preference",
                        importance=round(0.04 * number, 2))  # fmt: skip
    chat = memory.session(user=person, model=MODEL, system_prompt="You are a career agent.")
    chat.open()
    (prompt,) = chat.context(None, selection="top", placement="system_prompt", heading=HEADING)
    text = str(prompt["content"])
    assert text.startswith("You are a career agent.")
    assert HEADING in text
    shown = re.findall(r"^- \[PREFERENCE\] User likes thing number (\d+)", text, re.MULTILINE)
    assert [int(number) for number in shown] == [*range(24, 4, -1)]


def test_of_equal_importance_the_last_used(
    memory: AgentMemory, person: uuid.UUID, db: psycopg.Connection
) -> None:
    """Being shown counts as a use, which the next session's choice goes by."""
    for number in range(25):
        memory.remember(person, f"User likes thing number {number}", kind="preference")
    oldest = by_content(memory, person)["User likes thing number 0"]

    def shown() -> list[int]:
        chat = memory.session(user=person, model=MODEL)
        chat.open()
        prompt = chat.context("Hello", selection="top", placement="system_prompt")[0]
        chat.append(user="Hello", reply="Hello.")
        sweep(db, "flush_access_log")
        return [
            int(n) for n in re.findall(r"User likes thing number (\d+)", str(prompt["content"]))
        ]

    assert shown() == [*range(24, 4, -1)], "the last created, since none was used"
    counts = {item.content: item.access_count for item in memory.memories.list(person)}
    assert [counts[f"User likes thing number {n}"] for n in (24, 5, 4, 0)] == [1, 1, 0, 0]
    memory.memories.record_access(person, [oldest.memory_id], [0.5])
    sweep(db, "flush_access_log")
    assert shown()[0] == 0


def test_contradictions_stay_for_the_audit(
    memory: AgentMemory, script: Script, person: uuid.UUID
) -> None:
    long, short = "User likes long cover letters.", "User likes short cover letters."
    script.facts = {
        "Long letters": [fact(long, kind="preference")],
        "No, short ones": [fact(short, kind="preference", correction=True)],
    }
    script.decisions = {short: ("UPDATE", long)}
    for said in script.facts:
        talk(memory, person, [said])
        work(memory)
    assert {*by_content(memory, person)} == {short}
    everything = by_content(memory, person, filter={"include_ended": True})
    assert everything[long].superseded_by == everything[short].memory_id
    assert everything[short].provenance == "correction"


def test_a_similar_memory_is_no_second_one(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, person: uuid.UUID
) -> None:
    """Known before it is stored again, and without a second question to the model."""
    text = EXAMPLES["preference"]
    script.facts = {"No buzzwords": [fact(text, kind="preference")],
                    "I said no buzzwords": [fact(text.upper(), kind="preference")]}  # fmt: skip
    for said in script.facts:
        talk(memory, person, [said])
        work(memory)
    (only,) = memory.memories.list(person)
    assert only.content == text
    assert only.access_count == 1
    assert "consolidate" not in asked(openai)


def test_six_of_a_tag_become_one(
    memory: AgentMemory, script: Script, person: uuid.UUID, db: psycopg.Connection
) -> None:
    """The parts are superseded and kept; the merged one keeps the tag."""
    texts = [f"User likes a {word} tone in letters." for word in
             ("casual", "relaxed", "friendly", "loose", "warm", "light")]  # fmt: skip
    merged = "User likes a casual, relaxed, friendly, loose, warm and light tone in letters."
    for text in texts[:5]:
        memory.remember(person, text, kind="preference", tags=["tone"])
    assert sweep(db, "enqueue_merges", later(0)) == 0
    memory.remember(person, texts[5], kind="preference", tags=["tone"])
    assert sweep(db, "enqueue_merges", later(0)) == 1
    script.merges = {merged: texts}
    work(memory)
    assert {*by_content(memory, person)} == {merged}
    kept = by_content(memory, person, filter={"include_ended": True})
    assert {kept[text].superseded_by for text in texts} == {kept[merged].memory_id}
    assert (kept[merged].tags, kept[merged].source) == (["tone"], "consolidation")


def test_unimportant_untouched_memories_are_archived(
    memory: AgentMemory, person: uuid.UUID, db: psycopg.Connection
) -> None:
    """Importance below 0.3 and 30 days untouched: archived 90 days later; nothing is deleted."""
    memory.remember(person, "User once liked green", importance=0.2)
    memory.remember(person, "User likes blue", importance=0.3)
    sweep(db, "decay_memories", later(29))
    assert all(item.expires_at is None for item in memory.memories.list(person))
    sweep(db, "decay_memories", later(31))
    fading = by_content(memory, person)["User once liked green"]
    assert fading.expires_at is not None
    assert timedelta(days=120) < fading.expires_at - fading.created_at < timedelta(days=122)
    sweep(db, "expire_memories", later(122))
    assert {*by_content(memory, person)} == {"User likes blue"}
    assert value(db, "select count(*) from recall.memory_store where user_id = %s",
                 [person]) == 2  # fmt: skip


def test_context_is_short_lived(
    memory: AgentMemory, script: Script, person: uuid.UUID, db: psycopg.Connection
) -> None:
    text = EXAMPLES["context"]
    script.facts = {"I have three offers": [fact(text, kind="context")]}
    talk(memory, person, ["I have three offers"])
    work(memory)
    sweep(db, "expire_memories", later(89))
    assert text in by_content(memory, person)
    sweep(db, "expire_memories", later(91))
    assert text not in by_content(memory, person)
    assert text in by_content(memory, person, filter={"include_ended": True})


def test_achieved_goal_keeps_its_row_and_ranks_last(memory: AgentMemory, person: uuid.UUID) -> None:
    """It keeps its row, with little importance, and ranks behind what is still wanted."""
    goal = memory.remember(person, EXAMPLES["goal"], kind="goal", importance=0.9)
    memory.remember(person, "User wants to learn Go.", kind="goal", importance=0.5)
    assert memory.memories.achieve(person, goal.memory_id)
    chat = memory.session(user=person, model=MODEL)
    chat.open()
    (prompt,) = chat.context(None, selection="top")
    text = str(prompt["content"])
    assert text.index("learn Go") < text.index("VP of Engineering")
    assert by_content(memory, person)[EXAMPLES["goal"]].importance == pytest.approx(0.2)


def test_search_tool_gives_at_most_ten_memories_of_this_user(
    memory: AgentMemory, person: uuid.UUID
) -> None:
    """The model asks; it gets distilled memories of this user, at most ten, no transcripts."""

    memory.memories.ingest(person, [{"content": f"User prefers writing style number {number}",
                            "kind": "preference", "provenance": "user_stated"}
                           for number in range(15)])  # fmt: skip
    memory.remember(uuid.uuid4(), "User prefers writing style secret")
    chat = memory.session(user=person, model=MODEL)
    chat.open()
    tools = chat.memory_tools()
    search = next(item["function"]["name"] for item in tools.definitions
                  if "search" in item["function"]["name"]
                  and "memor" in item["function"]["name"])  # fmt: skip
    arguments = json.dumps({"query": "writing style"})
    answer = tools.dispatch({"id": "call_1", "type": "function",
                             "function": {"name": search, "arguments": arguments}})  # fmt: skip
    assert (answer["role"], answer["tool_call_id"]) == ("tool", "call_1")
    found = re.findall(r"writing style (\w+)", answer["content"])
    assert 1 <= len(set(found)) <= 10
    assert "secret" not in found


def test_profile_gives_the_latest_value_of_an_attribute(
    memory: AgentMemory, person: uuid.UUID
) -> None:
    """Single-valued attributes are looked up by name, beside the search by meaning."""
    memory.remember(person, "User is a Staff Engineer", slot="job_title")
    memory.remember(person, "User is VP of Engineering", slot="job_title")
    assert memory.memories.profile(person)["job_title"]["content"] == "User is VP of Engineering"


def test_thousand_conversations_cost_a_few_dollars(
    memory: AgentMemory, script: Script, person: uuid.UUID, db: psycopg.Connection
) -> None:
    """A thousand such conversations cost a few dollars, and the sum can be read per day."""
    script.facts = {"No buzzwords": [fact(EXAMPLES["preference"], kind="preference")]}
    talk(memory, person, ["No buzzwords"])
    work(memory)
    spans = rows(db, "select kind, sum(cost_microcents) as cost from recall.job_phases"
                     " where user_id = %s group by kind", [person])  # fmt: skip
    dollars = float(sum(row["cost"] for row in spans)) / 100_000_000
    assert 0 < 1000 * dollars < 5


def test_another_type_of_an_application(
    memory: AgentMemory, script: Script, openai: ScriptedOpenAI, person: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """Registered once, it is explained to the model and taken from it."""
    db.execute("select recall.register_kind('skill', 'What the user can do well')")
    script.facts = {"I write Rust": [fact("User writes Rust.", kind="skill")]}
    talk(memory, person, ["I write Rust"])
    work(memory)
    assert "skill: What the user can do well" in openai.chats[0]["messages"][1]["content"]
    assert by_content(memory, person)["User writes Rust."].kind == "skill"
