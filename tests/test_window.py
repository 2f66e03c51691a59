"""Models that read little: every step's input fits, nothing is skipped, and work goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from pgrecall import steps
from pgrecall.errors import ConfigurationError
from pgrecall.llm import ChatModel, ContextWindowError, ModelSettings
from scripted_openai import Cut, Request, Scripted, ScriptedOpenAI, Status, scripted_openai

MODEL = "gpt-4o-mini"
WINDOW = 3000
TURN = re.compile(r"^\[(\d+)\] (\w+): (.*)$", re.MULTILINE)
FILLER = "The quick brown fox jumps over the lazy dog. "


@pytest.fixture
def endpoint() -> Iterator[ScriptedOpenAI]:
    with scripted_openai(respond=answer, window=WINDOW) as running:
        yield running


def answer(request: Request) -> Scripted:
    """A fact of each message of the user; an ADD of each candidate; a summary that counts."""
    system, data = (message["content"] for message in request["messages"][:2])
    if "numbered candidate" in system:
        numbers = re.findall(r"^(\d+)\. ", data, re.MULTILINE)
        return {"decisions": [{"candidate": int(number), "decision": "UPDATE", "target": 1}
                              for number in numbers]}  # fmt: skip
    if "facts" in system:
        said = [(int(turn[1]), turn[3]) for turn in TURN.finditer(data) if turn[2] == "user"]
        return {
            "facts": [
                {"content": f"User said {text[:40]}", "kind": "fact", "slot": None,
                 "importance": 0.5, "confidence": "high", "correction": False, "tags": [],
                 "turns": [turn]} for turn, text in said
            ],
            "episodes": [],
        }  # fmt: skip
    before = re.search(r"<summary>\n(\d+)", data)
    return {"summary": f"{int(before[1] if before else 0) + len(TURN.findall(data))} messages"}


def llm(endpoint: ScriptedOpenAI, window: int | None = WINDOW) -> ChatModel:
    return ChatModel(ModelSettings(model=MODEL, base_url=endpoint.base_url, context_window=window))


def message(turn: int, text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"turn_index": turn, "role": role, "text": text, **more}


def conversation(exchanges: int, words: int = 8) -> list[dict[str, Any]]:
    return [
        message(2 * number + place, f"{role} {number}. {FILLER * words}", role)
        for number in range(exchanges)
        for place, role in enumerate(("user", "assistant"), start=1)
    ]


def extract_input(messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    users = sum(item["role"] == "user" for item in messages)
    return {
        "kind": "extract", "mode": "llm", "observation_date": "2026-03-01", "summary": None,
        "messages": messages, "kinds": {"fact": "Anything"}, "profile": {},
        "max_facts": 3 * users, "from_turn": messages[0]["turn_index"] - 1,
        "through_turn": messages[-1]["turn_index"], **more,
    }  # fmt: skip


def extracted(
    messages: list[dict[str, Any]], model: ChatModel, **more: Any
) -> list[dict[str, Any]]:
    """Extract job after job, as the cursor moves; return the results."""
    results = []
    last = messages[-1]["turn_index"]
    while messages:
        job = extract_input(messages, **more)
        result = steps.run(job, None, model, lambda _: {"open": []}).result
        assert result["from_turn"] < result["through_turn"] <= last
        messages = [item for item in messages if item["turn_index"] > result["through_turn"]]
        results.append(result)
        assert len(results) < 100
    assert results[-1]["through_turn"] == last
    return results


def turns_of(results: list[dict[str, Any]]) -> list[int]:
    return [turn for result in results for fact in result["candidates"] for turn in fact["turns"]]


def test_extraction_reads_whole_exchanges_as_many_as_fit(endpoint: ScriptedOpenAI) -> None:
    results = extracted(conversation(40), llm(endpoint))
    assert 3 < len(results) < 20
    assert len(endpoint.chats) == len(results)  # none was refused
    assert turns_of(results) == [*range(1, 80, 2)]
    assert all(result["through_turn"] % 2 == 0 for result in results)
    # the facts asked for are those of the turns that are read
    asked = [
        (int(re.search(r"At most (\d+) facts", text)[1]), text.count("] user: "))  # type: ignore[index]
        for request in endpoint.chats
        for text in [request["messages"][1]["content"]]
    ]
    assert all(facts == 3 * users for facts, users in asked)


def test_profile_and_summary_take_their_share_only(endpoint: ScriptedOpenAI) -> None:
    profile = {f"slot_{number}": {"content": FILLER} for number in range(200)}
    results = extracted(conversation(10), llm(endpoint), profile=profile, summary=FILLER * 300)
    assert turns_of(results) == [*range(1, 20, 2)]
    assert len(endpoint.chats) == len(results)


def test_a_single_turn_longer_than_the_window(endpoint: ScriptedOpenAI) -> None:
    """Its middle is left out; the turns around it are read as ever."""
    messages = conversation(3)
    messages[2]["text"] = "It begins here. " + FILLER * 2000 + "It ends here."
    messages[3]["text"] = "漢字" * 5000
    results = extracted(messages, llm(endpoint))
    assert turns_of(results) == [1, 3, 5]
    shown = "\n".join(request["messages"][1]["content"] for request in endpoint.chats)
    assert "It begins here." in shown
    assert "It ends here." in shown
    assert len(endpoint.chats) == len(results)


def test_an_exchange_of_very_many_turns(endpoint: ScriptedOpenAI) -> None:
    """It is read in parts, rather than never; what is not the user's needs no question."""
    calls = [{"function": {"name": "look", "arguments": FILLER}}] * 50
    messages = [
        message(1, "Look it all up"),
        *(message(turn, FILLER * 20, "tool") for turn in range(2, 300)),
        message(300, "", "assistant", tool_calls=calls),
        message(301, "Thanks"),
        message(302, "You are welcome", "assistant"),
    ]
    results = extracted(messages, llm(endpoint))
    assert turns_of(results) == [1, 301]
    assert len(endpoint.chats) == 2


def test_a_window_that_nobody_knows_is_learned(endpoint: ScriptedOpenAI) -> None:
    model = llm(endpoint, None)
    job = extract_input(conversation(60))
    done = steps.run(job, None, model, lambda _: {"open": []})
    assert model.window("extract") == WINDOW
    assert len(endpoint.chats) == 2
    refused, accepted = done.phases
    assert (refused["prompt_tokens"], "maximum context length" in refused["error"]) == (0, True)
    assert (accepted["phase"], "error" in accepted) == ("extract", False)
    # now it is known
    results = extracted(conversation(60), model)
    assert turns_of(results) == [*range(1, 120, 2)]
    assert len(endpoint.chats) == 2 + len(results)


def test_an_endpoint_that_never_has_room(endpoint: ScriptedOpenAI) -> None:
    endpoint.respond = lambda _: Status(400, "context_length_exceeded")
    running = steps.Running(extract_input(conversation(1)), None, llm(endpoint))
    with pytest.raises((ContextWindowError, ConfigurationError)):
        running.advance()
    assert len(endpoint.chats) < 12
    assert len([span for span in running.phases if "error" in span]) >= len(endpoint.chats)


def test_a_window_too_small_for_the_instructions(endpoint: ScriptedOpenAI) -> None:
    with pytest.raises(ConfigurationError, match="1000 tokens, is too small for the step extract"):
        steps.run(extract_input(conversation(1)), None, llm(endpoint, 1000))
    assert endpoint.chats == []


def test_what_fails_again_and_again_is_tried_with_fewer_turns(endpoint: ScriptedOpenAI) -> None:
    messages = conversation(9, 1)
    reached = [
        steps.run(
            extract_input(messages, attempts=attempt), None, llm(endpoint), lambda _: {"open": []}
        ).result["through_turn"]
        for attempt in range(1, 8)
    ]
    assert reached == [18, 18, 8, 4, 2, 2, 2]
    alone = extract_input(conversation(1), attempts=5)
    done = steps.run(alone, None, llm(endpoint), lambda _: {"open": []})
    assert done.result["through_turn"] == 2


def test_no_more_facts_than_the_answer_has_room_for(endpoint: ScriptedOpenAI) -> None:
    endpoint.then(Cut('{"facts": ['), answer)
    steps.run(extract_input(conversation(6, 1)), None, llm(endpoint), lambda _: {"open": []})
    most = [
        request["response_format"]["json_schema"]["schema"]["properties"]["facts"]["maxItems"]
        for request in endpoint.chats
    ]
    assert 0 < most[0] < 18
    assert most[1] == (most[0] + 1) // 2


@pytest.mark.parametrize(("candidates", "words", "questions"), [(3, 1, 1), (8, 3, 1), (24, 8, 3)])
def test_consolidation_leaves_out_neighbors_then_asks_in_parts(
    endpoint: ScriptedOpenAI, candidates: int, words: int, questions: int
) -> None:
    facts = [{"content": f"User said {number}.", "kind": "fact", "confidence": "high",
              "turns": [1]} for number in range(candidates)]  # fmt: skip
    opened = [
        {
            "ordinal": number + 1,
            "content": f"User said {number}.",
            "kind": "fact",
            "neighbors": [
                {"memory_id": f"{number}-{place}", "content": FILLER * words, "kind": "fact",
                 "observed_at": "2026-02-01"} for place in range(5)
            ],
        }
        for number in range(candidates)
    ]  # fmt: skip
    endpoint.then({"facts": facts, "episodes": []})
    job = extract_input([message(1, "Much")], max_facts=candidates)
    done = steps.run(job, None, llm(endpoint), lambda _: {"open": opened})
    # each candidate has one decision, and the nearest memory is the one that is meant
    assert done.result["decisions"] == [
        {"ordinal": number + 1, "decision": "UPDATE", "target_id": f"{number}-0"}
        for number in range(candidates)
    ]
    asked = len(endpoint.chats) - 1
    assert asked == 1 if questions == 1 else asked >= questions
    assert sum(span["items"] for span in done.phases if span["phase"] == "consolidate") == (
        candidates
    )


@pytest.mark.parametrize("kind", ["summarize", "compact"])
def test_summaries_go_piece_by_piece(endpoint: ScriptedOpenAI, kind: str) -> None:
    messages = conversation(40)
    job = {"kind": kind, "summary": "7 messages", "messages": messages, "from_turn": 1,
           "through_turn": 80, "retracted": "{}", "target_tokens": 5000}  # fmt: skip
    done = steps.run(job, None, llm(endpoint))
    assert done.result["content"] == "87 messages"
    assert done.result["through_turn"] == 80
    assert len(endpoint.chats) == len(done.phases) > 2
    assert sum(span["items"] for span in done.phases) == 80


def test_a_large_window_reads_all_at_once(endpoint: ScriptedOpenAI) -> None:
    endpoint.window = 128_000
    (result,) = extracted(conversation(60), llm(endpoint, 128_000))
    assert len(turns_of([result])) == 60
    assert len(endpoint.chats) == 1
