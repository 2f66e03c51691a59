"""Models that read little: every question fits, no turn is skipped, and work goes on."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, ChatSession
from support import requests as protocol
from support import rows, session_row
from support.scripted_model import MODEL, TURN, embedder, fact, model, step_of
from support.scripted_openai import Cut, Request, Scripted, ScriptedOpenAI, Status, needed_tokens

WINDOW = 3000
FILLER = "The quick brown fox jumps over the lazy dog. "


@pytest.fixture
def endpoint(openai: ScriptedOpenAI, db: psycopg.Connection) -> Iterator[ScriptedOpenAI]:
    """An endpoint that reads little, in the place of the scripted one that reads all."""
    openai.respond, openai.window = answer, WINDOW
    db.execute("delete from recall.jobs")
    yield openai
    db.execute("delete from recall.jobs")


@pytest.fixture
def memory(model_dsn: str, endpoint: ScriptedOpenAI) -> Iterator[AgentMemory]:
    settings = model(endpoint, context_window=WINDOW)
    with AgentMemory.connect(model_dsn, embedder=embedder(endpoint), llm=settings) as memory:
        yield memory


def answer(request: Request) -> Scripted:
    """A fact of each message of the user; an UPDATE of each candidate; a summary that counts."""
    data = request["messages"][1]["content"]
    if step_of(request) == "consolidate":
        numbers = re.findall(r"^(\d+)\. ", data, re.MULTILINE)
        return {"decisions": [{"candidate": int(number), "decision": "ADD", "target": None}
                              for number in numbers]}  # fmt: skip
    turns = [turn for line in data.splitlines() if (turn := TURN.match(line))]
    if step_of(request) == "extract":
        return {
            "facts": [
                {"content": f"User said {turn[3][:40]}", "kind": "fact", "slot": None,
                 "importance": 0.5, "confidence": "high", "correction": False, "tags": [],
                 "turns": [int(turn[1])]} for turn in turns if turn[2] == "user"
            ],
            "episodes": [],
        }  # fmt: skip
    before = re.search(r"<summary>\n(\d+)", data)
    return {"summary": f"{int(before[1] if before else 0) + len(turns)} messages"}


def talk(
    memory: AgentMemory, user: uuid.UUID, messages: list[dict[str, Any]], **more: Any
) -> ChatSession:
    chat = memory.session(user=user, model=MODEL, **more)
    chat.append(messages)
    chat.close()
    return chat


def conversation(exchanges: int, words: int = 8) -> list[dict[str, Any]]:
    return [
        {"role": role, "content": f"{role} {number}. {FILLER * words}"}
        for number in range(exchanges)
        for role in ("user", "assistant")
    ]


def extract(memory: AgentMemory) -> int:
    """Extract until nothing is due; return how many jobs it took."""
    report = memory.worker(kinds=["extract:llm"]).run_until_idle()
    assert (report.failed, report.lost) == ({}, 0), report.last_error
    return report.done.get("extract", 0)


def extractions(endpoint: ScriptedOpenAI) -> list[Request]:
    return [request for request in endpoint.chats if step_of(request) == "extract"]


def turns_read(endpoint: ScriptedOpenAI) -> list[int]:
    return [
        int(turn[1])
        for request in extractions(endpoint)
        for line in request["messages"][1]["content"].splitlines()
        if (turn := TURN.match(line))
    ]


def most_facts(request: Request) -> int:
    schema = request["response_format"]["json_schema"]["schema"]
    return int(schema["properties"]["facts"]["maxItems"])


@pytest.mark.slow
def test_extraction_reads_whole_exchanges_as_many_as_fit(
    memory: AgentMemory, endpoint: ScriptedOpenAI, user: uuid.UUID
) -> None:
    talk(memory, user, conversation(40))
    jobs = extract(memory)
    assert 3 < jobs <= 40
    assert len(extractions(endpoint)) == jobs
    assert all(needed_tokens(request) <= WINDOW for request in endpoint.chats)
    assert turns_read(endpoint) == [*range(1, 81)]
    # prompt and schema say the same number of facts, three for each message of the user
    for request in extractions(endpoint):
        text = request["messages"][1]["content"]
        (asked,) = re.findall(r"At most (\d+) facts", text)
        assert int(asked) == most_facts(request) == 3 * text.count("] user: ")


def test_profile_and_summary_take_their_share_only(
    memory: AgentMemory, endpoint: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection
) -> None:
    for number in range(60):
        memory.remember(user, f"{number} {FILLER * 3}", slot=f"slot_{number}", embedding=None)
    chat = talk(memory, user, conversation(10))
    db.execute(
        "insert into recall.session_summaries (user_id, session_id, summary_id, kind, from_turn,"
        " to_turn, content, token_count, created_at)"
        " values (%s, %s, gen_random_uuid(), 'rolling', 1, 2, %s, 9, now())",
        [user, chat.session_id, FILLER * 200],
    )
    extract(memory)
    assert turns_read(endpoint) == [*range(1, 21)]
    assert all(needed_tokens(request) <= WINDOW for request in endpoint.chats)
    shown = extractions(endpoint)[0]["messages"][1]["content"]
    assert "<profile>" in shown
    assert "<summary>" in shown


def test_a_single_turn_longer_than_the_window(
    memory: AgentMemory, endpoint: ScriptedOpenAI, user: uuid.UUID
) -> None:
    """Its middle is left out; the turns around it are read as ever."""
    messages = conversation(3)
    messages[2]["content"] = "It begins here. " + FILLER * 2000 + "It ends here."
    messages[3]["content"] = "漢字" * 5000
    talk(memory, user, messages)
    extract(memory)
    assert turns_read(endpoint) == [*range(1, 7)]
    shown = "\n".join(request["messages"][1]["content"] for request in extractions(endpoint))
    assert "It begins here." in shown
    assert "It ends here." in shown
    assert all(needed_tokens(request) <= WINDOW for request in endpoint.chats)


def test_an_exchange_of_very_many_turns(
    memory: AgentMemory, endpoint: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """It is read in parts, rather than never; what is not the user's needs no question."""
    calls = [{"id": f"c{number}", "type": "function",
              "function": {"name": "look", "arguments": '{"at": "here"}'}}
             for number in range(297)]  # fmt: skip
    chat = talk(memory, user, [
        {"role": "user", "content": "Look it all up"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": call["id"], "content": FILLER * 20} for call in calls),
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks"},
        {"role": "assistant", "content": "You are welcome"},
    ])  # fmt: skip
    extract(memory)
    assert session_row(db, user, chat.session_id)["extracted_through_turn"] == 302
    assert {1, 301} <= {*turns_read(endpoint)}
    assert len(extractions(endpoint)) == 2


@pytest.mark.slow
def test_a_window_that_nobody_knows_is_learned(
    model_dsn: str, endpoint: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection
) -> None:
    settings = model(endpoint)  # the database knows 128,000 tokens of it
    with AgentMemory.connect(model_dsn, embedder=embedder(endpoint), llm=settings) as memory:
        talk(memory, user, conversation(30, 20))
        extract(memory)
    refused = [needed_tokens(request) > WINDOW for request in endpoint.chats]
    assert refused == [True] + [False] * (len(refused) - 1)
    assert {*turns_read(endpoint)} == {*range(1, 61)}
    spans = rows(db, "select prompt_tokens, error from recall.job_phases"
                     " where user_id = %s and phase = 'extract' and error is not null",
                     [user])  # fmt: skip
    assert [span["prompt_tokens"] for span in spans] == [0]
    assert "maximum context length" in spans[0]["error"]


def test_an_endpoint_that_never_has_room(
    memory: AgentMemory, endpoint: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection
) -> None:
    endpoint.respond = lambda _: Status(400, "context_length_exceeded")
    talk(memory, user, conversation(1))
    report = memory.worker(kinds=["extract:llm"]).run_until_idle()
    assert report.failed == {"extract": 1}
    assert 1 < len(endpoint.chats) < 12
    spans = rows(db, "select from recall.job_phases where user_id = %s and error is not null",
                 [user])  # fmt: skip
    assert len(spans) == len(endpoint.chats)


def test_a_window_too_small_for_the_instructions(
    model_dsn: str, endpoint: ScriptedOpenAI, user: uuid.UUID
) -> None:
    settings = model(endpoint, context_window=1000)
    with AgentMemory.connect(model_dsn, embedder=embedder(endpoint), llm=settings) as memory:
        talk(memory, user, conversation(1))
        report = memory.worker(kinds=["extract:llm"]).run_until_idle()
    assert report.failed == {"extract": 1}
    assert "1000 tokens" in (report.last_error or "")
    assert "too small" in (report.last_error or "")
    assert endpoint.chats == []


def test_what_fails_again_and_again_is_tried_with_fewer_turns(
    model_dsn: str, endpoint: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection
) -> None:
    endpoint.window = None
    endpoint.respond = lambda _: Status(500, "on fire")
    with AgentMemory.connect(model_dsn, embedder=embedder(endpoint), llm=model(endpoint)) as memory:
        talk(memory, user, conversation(9, 1))
        worker = memory.worker(kinds=["extract:llm"])
        db.execute("update recall.jobs set max_attempts = 20")
        for _ in range(7):
            worker.run_until_idle()
            db.execute("update recall.jobs set run_at = now() where state = 'ready'")
    read = [request["messages"][1]["content"].count("] user: ") for request in endpoint.chats]
    assert read == [9, 9, 4, 2, 1, 1, 1]


def test_a_cut_answer_is_asked_for_with_fewer_facts(
    memory: AgentMemory, endpoint: ScriptedOpenAI, user: uuid.UUID
) -> None:
    endpoint.then(Cut('{"facts": ['))
    talk(memory, user, conversation(1, 1))
    extract(memory)
    first, second = map(most_facts, endpoint.chats)
    assert (first, second) == (3, 2)


@pytest.mark.slow
def test_consolidation_leaves_out_neighbors_then_asks_in_parts(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """Each candidate is decided on once, however many questions it takes."""
    sold = [f"User sold instrument number {number}." for number in range(24)]
    for number in range(24):
        known = f"User plays instrument number {number}"
        made = protocol.word_vector(known)
        memory.remember(user, f"{known} {'since long ' * 30}", embedding=made)
    talk(memory, user, conversation(8, 1))
    facts = [fact(content, turns=[2 * (place // 3) + 1]) for place, content in enumerate(sold)]

    def scripted(request: Request) -> Scripted:
        if request["purpose"] == "extract":
            return {"facts": facts, "episodes": []}
        return answer(request)

    end, seen = protocol.work(
        db, protocol.claim(db, "extract"), scripted, embedding_model="openai:words",
        models={"consolidate": {"model": "small", "context_window": WINDOW}},
    )  # fmt: skip
    assert end["type"] == "done"
    asked = [request for request in seen if request.get("purpose") == "consolidate"]
    assert len(asked) >= 3
    assert all(needed_tokens(request) <= WINDOW for request in asked)
    shown = "\n".join(request["messages"][1]["content"] for request in asked)
    assert re.findall(r"^\d+\. (.*) \(fact\)$", shown, re.MULTILINE) == sold
    assert min(shown.count("\n   1) "), shown.count("\n   2) ")) >= 24 - len(asked)
    (span,) = rows(db, "select sum(items) as items from recall.job_phases"
                       " where user_id = %s and phase = 'consolidate'", [user])  # fmt: skip
    assert span["items"] == 24


@pytest.mark.parametrize("kind", ["summarize", "compact"])
def test_summaries_go_piece_by_piece(
    memory: AgentMemory, endpoint: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection,
    kind: str,
) -> None:  # fmt: skip
    chat = talk(memory, user, conversation(40), context_window_size=4000, max_response_tokens=500)
    db.execute("delete from recall.jobs where kind <> %s", [kind])
    assert memory.worker(kinds=[kind]).run_until_idle().done == {kind: 1}
    (made,) = rows(db, "select content, from_turn, to_turn from recall.session_summaries"
                       " where user_id = %s and session_id = %s and ended_at is null",
                   [user, chat.session_id])  # fmt: skip
    turns = made["to_turn"] - made["from_turn"] + 1
    assert made["content"] == f"{turns} messages"
    assert turns == 80 or kind == "compact"
    assert len(endpoint.chats) > 2
    (span,) = rows(db, "select sum(items) as items, count(*) as spans from recall.job_phases"
                       " where user_id = %s and phase = 'summary'", [user])  # fmt: skip
    assert (span["items"], span["spans"]) == (turns, len(endpoint.chats))
    assert all(needed_tokens(request) <= WINDOW for request in endpoint.chats)


def test_a_large_window_reads_as_many_turns_as_an_answer_has_room_for(
    model_dsn: str, endpoint: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection
) -> None:
    endpoint.window = 128_000
    settings = model(endpoint, context_window=128_000)
    with AgentMemory.connect(model_dsn, embedder=embedder(endpoint), llm=settings) as memory:
        memory.admin.configure_user(user, max_facts_per_turn=1)
        talk(memory, user, conversation(22))
        assert extract(memory) == 1
    assert turns_read(endpoint) == [*range(1, 45)]
    assert [most_facts(request) for request in extractions(endpoint)] == [22]
