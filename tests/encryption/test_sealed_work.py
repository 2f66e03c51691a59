"""A worker serves encrypted users: it reads and writes through the driver."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from support import call, rows, value
from support.scripted_model import MODEL, Script, asked, embedder, fact, model, talk, work
from support.scripted_openai import ScriptedOpenAI
from support.sealed import KEYS, MARK, readable

Connection = psycopg.Connection[Any]


@pytest.fixture
def memory(model_dsn: str, openai: ScriptedOpenAI, db: Connection) -> Iterator[AgentMemory]:
    db.execute("update recall.maintenance_tasks set last_run_at = now()")
    with AgentMemory.connect(
        model_dsn, embedder=embedder(openai), llm=model(openai), wrapping_keys=KEYS
    ) as memory:
        yield memory
    db.execute("delete from recall.jobs")


@pytest.fixture(params=[False, True], ids=["without vectors", "with vectors"])
def sealed(memory: AgentMemory, user: uuid.UUID, request: pytest.FixtureRequest) -> uuid.UUID:
    memory.encryption.seal_user(user, vectors=request.param)
    return user


def vectors_of(db: Connection, user: uuid.UUID) -> int:
    return int(value(db, "select count(*) from recall.memory_embedding where user_id = %s", [user]))


def test_worker_keeps_the_same_messages_of_an_encrypted_user(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    """The driver chooses what the database cannot: by the same rule as for a plain user."""
    plain = uuid.uuid4()
    told = [
        f"I keep a {MARK} in a tank at home", "Hi", "What is the weather like in Oslo today?",
        "My sister lives in Bergen. Where else?", "x" * 5000 + " and so on and on",
    ]  # fmt: skip
    for user in (sealed, plain):
        chat = memory.session(user=user, model=MODEL, extraction="verbatim")
        for text in told:
            chat.append(user=text, reply="I see what you mean by that.")
    work(memory)
    kept = [{one.content for one in memory.memories.list(user)} for user in (sealed, plain)]
    assert kept[0] == kept[1] == {told[0], told[3]}
    columns = ("kind", "tier", "scope", "provenance", "source", "confidence", "is_validated")
    for one, other in zip(memory.memories.list(sealed), memory.memories.list(plain), strict=True):
        assert [getattr(one, name) for name in columns] == [getattr(other, name)
                                                            for name in columns]  # fmt: skip
        assert one.metadata == other.metadata == {"verbatim": True}
        assert len(one.source_turn_ids or ()) == 1
        assert one.expires_at is not None
    assert vectors_of(db, sealed) in (0, 2)
    # said again it is known, in another session too
    chat = memory.session(user=sealed, model=MODEL, extraction="verbatim")
    chat.append(user=told[0].upper(), reply="I see.")
    work(memory)
    assert len(memory.memories.list(sealed)) == 2
    db.execute("select recall.forget_user(%s)", [plain])
    assert readable(db) == []


def test_worker_merges_memories_of_an_encrypted_user(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection, script: Script, openai: ScriptedOpenAI
) -> None:
    """Only what contradicts no part, and what the model supports; the rest stays."""
    texts = [
        f"User likes green {MARK} soup.", f"User likes cold {MARK} soup.",
        "User eats bread on Mondays.", "User eats bread on Fridays.",
        "User drinks no milk.", "User drinks tea.",
    ]  # fmt: skip
    for text in texts:
        memory.remember(sealed, text, tags=[f"food {MARK}"])
    script.merges = {
        f"User likes green and cold {MARK} soup.": texts[:2],
        "User eats bread on Sundays.": texts[2:4],  # lost both days, brought another
        "User drinks milk and tea.": texts[4:],  # lost a "no"
    }
    assert call(db, "enqueue_merges")[0]["done"] == 1
    work(memory)
    assert asked(openai) == ["merge", "verify"]
    kept = {one.content for one in memory.memories.list(sealed)}
    assert kept == {f"User likes green and cold {MARK} soup.", *texts[2:]}
    (merged,) = (one for one in memory.memories.list(sealed) if "green and" in one.content)
    assert (merged.tags, merged.token_count is not None) == ([f"food {MARK}"], True)
    assert merged.token_count is not None
    assert merged.token_count < 20
    assert {one.content for one in memory.memories.chain(sealed, merged.memory_id)} == {
        *texts[:2], merged.content,
    }  # fmt: skip
    part = next(
        one for one in memory.memories.chain(sealed, merged.memory_id) if one.content == texts[0]
    )
    memory.memories.restore(sealed, part.memory_id)
    assert texts[0] in {one.content for one in memory.memories.list(sealed)}
    assert readable(db) == []


def test_worker_summarizes_and_compacts_an_encrypted_session(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection, script: Script
) -> None:
    """A rolling summary, a compaction, and a session that goes on where another ended."""
    script.facts = {}
    first = talk(memory, sealed, [f"I keep a {MARK}", "And so on"])
    work(memory)
    next_one = memory.session(user=sealed, model=MODEL, parent_session_id=first.session_id)
    assert f"I keep a {MARK}" not in json.dumps(next_one.context())
    assert "the last: And so on" in json.dumps(next_one.context())
    assert memory.sessions.search(sealed, "messages of the user")[0].summary is not None

    chat = memory.session(
        user=sealed, model=MODEL, context_window_size=2000, max_response_tokens=300
    )
    filler = "The quick brown fox jumps over the lazy dog. " * 4
    for number in range(20):
        chat.append(user=f"{MARK} {number}. {filler}", reply=f"Answer {number}. {filler}")
    work(memory)
    assert chat.refresh().compacted_through_turn
    compiled = json.dumps(chat.context("What now?"))
    assert "messages of the user, the last: " in compiled
    assert "sealed:" not in compiled
    summaries = rows(db, "select content, embedding is null as bare from recall.session_summaries"
                         " where user_id = %s and ended_at is null", [sealed])  # fmt: skip
    assert {row["bare"] for row in summaries} == {vectors_of(db, sealed) == 0 and
                                                  not memory._core.has_vectors(sealed)}  # fmt: skip
    assert readable(db) == []
    assert readable(db, "messages of the user") == []


def test_worker_finds_patterns_of_an_encrypted_user_with_vectors(
    memory: AgentMemory, user: uuid.UUID, db: Connection, script: Script
) -> None:
    """They need vectors, to see what resembles what."""
    other = uuid.uuid4()
    memory.encryption.seal_user(user, vectors=True)
    memory.encryption.seal_user(other)
    told = [f"User asked why the old filter of the big {MARK} tank at home is broken; {what} did."
            for what in ("cleaning", "repair", "nothing")]  # fmt: skip
    script.pattern = (f"User's {MARK} filter keeps breaking.",
                      {told[0]: f"cleaning the {MARK} tank", told[1]: "a new pump"})  # fmt: skip
    for one in (user, other):
        for text in told:
            memory.remember(one, text, kind="episode")
    call(db, "enqueue_patterns")
    work(memory)
    (found,) = memory.memories.list(user, filter={"kinds": ["pattern"]})
    assert found.content.startswith(f"User's {MARK} filter keeps breaking. Previous solutions: ")
    assert found.tier == "procedural"
    assert [one["solution"] for one in found.metadata["solutions"]] == [
        f"cleaning the {MARK} tank", "a new pump",
    ]  # fmt: skip
    assert memory.memories.list(other, filter={"kinds": ["pattern"]}) == []
    assert "filter keeps breaking" in json.dumps(
        memory.session(user=user, model=MODEL).context("the filter is broken")
    )
    assert readable(db) == []


def test_a_new_memory_achieves_a_goal(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection, script: Script, openai: ScriptedOpenAI
) -> None:
    """With vectors the goal is found and shown to the model; without them both stand as told."""
    goal, reached = f"User wants to win a {MARK} race.", f"User did win a {MARK} race."
    script.facts = {
        "I want to win": [fact(goal, kind="goal", importance=0.9)],
        "I won": [fact(reached, slot=f"title of {MARK}")],
    }
    script.decisions = {reached: ("ACHIEVE", goal)}
    for said in ("I want to win", "I won"):
        talk(memory, sealed, [said])
        work(memory)
    found = {one.content: one for one in memory.memories.list(sealed)}
    assert {*found} == {goal, reached}
    has_vectors = bool(vectors_of(db, sealed))
    assert asked(openai).count("consolidate") == has_vectors
    assert found[goal].importance == pytest.approx(0.2 if has_vectors else 0.9)
    assert ("achieved_at" in found[goal].metadata) == has_vectors
    assert readable(db) == []


def test_patterns_of_a_shared_word_need_plaintext(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    """The database has no words of an encrypted user: only vectors tell what is similar."""
    for text in ("User could not reach the {}.", "User's {} was slow.", "A new {} is there."):
        memory.remember(sealed, text.format(MARK), kind="episode")
    assert call(db, "enqueue_patterns")[0]["done"] == 0
    for what in ("cleaning", "repair", "nothing"):
        text = f"User asked why the filter of the big {MARK} tank at home is broken; {what} did."
        memory.remember(sealed, text, kind="episode")
    assert call(db, "enqueue_patterns")[0]["done"] == bool(vectors_of(db, sealed))


def test_worker_adds_missing_vectors_of_an_encrypted_user(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection, model_dsn: str
) -> None:
    with AgentMemory.connect(model_dsn, embedder=False, wrapping_keys=KEYS) as mute:
        mute.remember(sealed, f"The user keeps a {MARK}.")
        mute.session(user=sealed, model=MODEL).append(user=f"My {MARK} sleeps", reply="Good.")
    assert vectors_of(db, sealed) == 0
    call(db, "enqueue_missing_embeddings")
    work(memory)
    wanted = int(memory._core.has_vectors(sealed))
    assert vectors_of(db, sealed) == wanted
    stored = value(db, "select count(*) from recall.message_search where user_id = %s", [sealed])
    assert stored == 2 * wanted
    assert readable(db) == []
