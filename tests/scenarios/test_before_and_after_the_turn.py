"""Retrieve before the turn, write after it, for a chat on a graph of agents.

Up to four facts and four episodes in one short system message of at most 900 characters before the
model thinks; after it, at most three new facts and one line on the exchange, which never delay a
turn.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import psycopg
import pytest

from pgrecall import AgentMemory, ChatSession
from support import rows, value
from support.scripted_model import MODEL, Script, embedder, fact, model, talk, work
from support.scripted_openai import ScriptedOpenAI, Status
from support.transcripts import assert_valid

MAX_CHARACTERS = 900


@pytest.fixture(scope="module", autouse=True)
def _every_turn(model_dsn: str) -> None:
    with AgentMemory.connect(model_dsn, embedder=False) as memory:
        memory.admin.configure(extract_after_turns=1)


@pytest.fixture
def helper(model_dsn: str, openai: ScriptedOpenAI) -> Iterator[AgentMemory]:
    """The client with the small helper model: low effort, temperature 0, no streaming."""
    settings = model(openai, reasoning_effort="low")
    with AgentMemory.connect(model_dsn, embedder=embedder(openai), llm=settings) as memory:
        yield memory


def tip(chat: ChatSession, said: str) -> str:
    """The system message of remembered things that precedes the conversation; empty for none."""
    messages = chat.context(said, selection="split", format="bullets")
    assert_valid(messages)
    *before, current = messages
    assert current == {"role": "user", "content": said}
    remembered = [str(message["content"]) for message in before if message["role"] == "system"]
    assert len(remembered) <= 1
    return remembered[0] if remembered else ""


def lines(text: str, bullet: str) -> list[str]:
    return [line[len(bullet) :] for line in text.splitlines() if line.startswith(bullet)]


def test_four_facts_and_four_episodes(memory: AgentMemory, user: uuid.UUID) -> None:
    """Those that fit the message best, facts with •, episodes with –."""
    chat = memory.session(user=user, model=MODEL)
    chat.open()
    assert tip(chat, "What about my garden?") == ""
    garden = [f"User grows plant {number} in the garden" for number in range(6)]
    memory.memories.ingest(user, [{"content": text, "provenance": "user_stated"}
                         for text in (*garden, "User speaks Tamil")])  # fmt: skip
    memory.memories.ingest(user, [
        {"content": text, "kind": "episode", "provenance": "system_inferred"}
        for text in ("User asked about taxes", *(f"User asked about the garden in week {number}"
                                                 for number in range(6)))])  # fmt: skip

    remembered = tip(chat, "What about my garden?")
    facts, episodes = lines(remembered, "• "), lines(remembered, "– ")
    assert (len(facts), len(episodes)) == (4, 4)
    assert all("garden" in line for line in (*facts, *episodes))


def test_block_of_memories_holds_at_most_nine_hundred_characters(
    memory: AgentMemory, user: uuid.UUID
) -> None:
    """The whole message, its heading included."""
    long = " and a great deal more that nobody needs" * 6
    memory.memories.ingest(user, [{"content": f"User owns boat number {number}{long}",
                          "provenance": "user_stated"} for number in range(4)])  # fmt: skip
    memory.remember(user, "User sails a boat")
    chat = memory.session(user=user, model=MODEL)
    chat.open()
    remembered = tip(chat, "Tell me of my boat")
    assert 1 <= len(lines(remembered, "• ")) < 4
    assert len(remembered) <= MAX_CHARACTERS
    shorter = str(chat.context("Tell me of my boat", selection="split", format="bullets",
                               max_memory_chars=250)[0]["content"])  # fmt: skip
    assert [line.partition(" (")[0] for line in lines(shorter, "• ")] == ["User sails a boat"]


def test_three_facts_and_one_line_are_written(
    helper: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """The model offers five facts of one turn; three are stored, each with its thread and time."""
    said = "I work in IST, I like terse answers and I am vegetarian"
    script.facts = {said: [fact(f"User said thing {word}") for word in
                           ("alpha", "bravo", "charlie", "delta", "echo")]}  # fmt: skip
    script.episodes = {said: "User introduced himself."}
    chat = talk(helper, user, [said], close=False)
    assert value(db, "select count(*) from recall.jobs where user_id = %s and kind = 'extract'"
                     " and run_at <= now()", [user]) == 1  # fmt: skip
    work(helper)

    stored = rows(
        db,
        "select kind, tier::text, source_session_id, content from recall.memory_store"
        " where user_id = %s and ended_at is null order by kind, content",
        [user],
    )
    assert [row["content"] for row in stored] == [
        "User introduced himself.", *(f"User said thing {word}" for word in
                                      ("alpha", "bravo", "charlie"))]  # fmt: skip
    assert {row["source_session_id"] for row in stored} == {chat.session_id}
    assert stored[0]["kind"] == "episode"

    request = openai.chats[0]
    assert (request["temperature"], request["reasoning_effort"]) == (0, "low")
    assert not request.get("stream")
    schema = request["response_format"]["json_schema"]
    assert (schema["strict"], schema["schema"]["additionalProperties"]) == (True, False)


def test_memories_go_from_thread_to_thread_and_not_from_user_to_user(
    memory: AgentMemory, script: Script, user: uuid.UUID
) -> None:
    script.facts = {"I am vegetarian": [fact("User is vegetarian")]}
    talk(memory, user, ["I am vegetarian"], close=False)
    work(memory)
    for somebody, expected in ((user, ["User is vegetarian"]), (uuid.uuid4(), [])):
        chat = memory.session(user=somebody, model=MODEL)
        chat.open()
        found = lines(tip(chat, "Is a vegetarian dinner fine?"), "• ")
        assert [line.partition(" (")[0] for line in found] == expected


def test_a_failed_write_stalls_no_turn(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    """And is not lost: the job says why, and waits for its next try."""
    chat = talk(memory, user, ["I am vegetarian"], close=False)
    openai.then(Status(503))
    report = memory.worker(kinds=["extract:llm"]).run_until_idle()
    assert report.failed == {"extract": 1}
    chat.append(user="Anything else?", reply="No.")
    assert len(chat.messages()) == 4
    assert_valid(chat.context("Go on", selection="split", format="bullets"))
