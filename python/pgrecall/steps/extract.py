"""Extraction: memories out of turns, as they stand or by a model."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from pgrecall import prompts
from pgrecall._statement import is_statement, phrases_by_place
from pgrecall.llm import ChatModel
from pgrecall.steps._questions import LONGEST, Question, block, clean, prompt, said_by_user, tags
from pgrecall.steps._vectors import Vectors
from pgrecall.steps._window import (
    answer_tokens,
    is_small,
    leading_turns,
    room_for_data,
    shortened_to,
)

__all__ = ["llm", "verbatim"]

_MAX_CONTENT = 500  # characters of a fact or an episode
_TOKENS_OF_FACT = 90  # of the answer, JSON included
_TOKENS_OF_EPISODE = 50
_SPARE = 1.4  # what an answer may take beyond that, white space and long sentences
_TOKENS_OF_DECISION = 25
_MIN_TOKENS, _MAX_TOKENS = 400, 4096
_FRAME_TOKENS = 16  # of the tags around the conversation
_KNOWN_SHARE = 8  # of the window at most an eighth is the profile, and another the summary
_FEWEST_NEIGHBORS = 2  # that a candidate keeps before the question is split


def verbatim(job_input: Mapping[str, Any], vectors: Vectors) -> dict[str, Any]:
    """Lend vectors to the user's statements, which the database takes as they stand.

    Of a sealed user it cannot tell which these are: they are chosen here, by the same rule.
    """
    result = _cursor(job_input)
    if "messages" in job_input:
        candidates = result["candidates"] = _of_substance(job_input)
    else:
        candidates = job_input.get("candidates") or []
    made = vectors.of([candidate["content"] for candidate in candidates])
    if made is not None:
        result |= {"embeddings": made, "embedding_model": vectors.model}
    return result


def _of_substance(job_input: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the user's messages that state something, as candidates."""
    phrases = phrases_by_place(job_input["phrases"])
    chosen = []
    for message in job_input["messages"]:
        text = str(message.get("text") or "").strip()
        if (
            message["role"] == "user"
            and len(text) <= job_input["max_characters"]
            and is_statement(text, job_input["min_words"], phrases)
        ):
            chosen.append(
                {"content": text, "kind": "fact", "confidence": 0.9, "metadata": {"verbatim": True},
                 "turns": [message["turn_index"]]}
            )  # fmt: skip
    return chosen


def llm(
    job_input: Mapping[str, Any], vectors: Vectors, model: ChatModel
) -> Generator[Question, Any, dict[str, Any]]:
    """Extract by a model: at most two questions to it, and one call of the embedder.

    Between the two the database is asked which candidates it cannot settle itself. When the model
    cannot read all the turns, the result reaches as far as it can; the rest is another job's.

    Raises:
        ModelAnswerError: the model refused, or answered nonsense twice.
        EmbeddingError: the embedder failed.
    """
    result = _cursor(job_input) | {"candidates": [], "episodes": [], "decisions": []}
    if not said_by_user(job_input.get("messages") or []):
        return result
    job_input, text = _readable(job_input, model)
    result |= _cursor(job_input)
    if not said_by_user(job_input["messages"]):
        return result
    candidates, episodes = _extracted(job_input, text, vectors, model)
    result |= {"candidates": candidates, "episodes": episodes}
    made = vectors.of([item["content"] for item in (*candidates, *episodes)])
    if made is not None:
        result |= {"embeddings": made, "embedding_model": vectors.model}
    if not candidates:
        return result

    arguments: dict[str, Any] = {"candidates": candidates}
    if made is not None:
        arguments["embeddings"] = [json.loads(vector) for vector in made[: len(candidates)]]
    answer = yield Question("consolidation_input", arguments)
    if answer["open"]:
        result["decisions"] = _decided(answer["open"], vectors, model)
    return result


def _cursor(job_input: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: job_input[key]
        for key in ("from_turn", "through_turn")
        if job_input.get(key) is not None
    }


def _readable(job_input: Mapping[str, Any], model: ChatModel) -> tuple[dict[str, Any], str]:
    """Return the input with the turns that the model can read at once, and these as lines.

    What has failed twice is tried with fewer turns each time, so that one bad turn does not hold up
    those before it.
    """
    messages = job_input["messages"]
    share = _beginning(messages, job_input.get("attempts") or 1)
    most = model.window("extract") // _KNOWN_SHARE
    profile = shortened_to(_profile(job_input), most, model, "extract")
    summary = shortened_to(job_input.get("summary") or "", most, model, "extract")
    readable = {**job_input, "profile": profile, "summary": summary}
    room = room_for_data(
        model,
        "extract",
        extraction_prompt(readable, ""),
        prompts.schema("extract"),
        answer_tokens(model, "extract", _MAX_TOKENS) + _FRAME_TOKENS,
    )
    text, taken = leading_turns(share, room, model, "extract", LONGEST)
    if taken < len(messages):
        left = messages[:taken]
        per_turn = int(job_input["max_facts"]) // len(said_by_user(messages))
        readable |= {
            "messages": left,
            "max_facts": per_turn * len(said_by_user(left)),
            "through_turn": messages[taken]["turn_index"] - 1,
        }
    return readable, text


def _beginning(messages: Sequence[Mapping[str, Any]], attempt: int) -> Sequence[Mapping[str, Any]]:
    """Return all exchanges; half of them at the third attempt, a quarter at the fourth, …."""
    starts = [place for place, item in enumerate(messages) if item["role"] == "user"]
    kept = max(1, len(starts) >> max(0, attempt - 2))
    return messages if kept == len(starts) else messages[: starts[kept]]


def _profile(job_input: Mapping[str, Any]) -> str:
    known = job_input.get("profile") or {}
    return "\n".join(f"{slot}: {value['content']}" for slot, value in known.items())


def _extracted(
    job_input: Mapping[str, Any],
    text: str,
    vectors: Vectors,
    model: ChatModel,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Ask the first question and return candidates and episodes as `finish_job` takes them."""
    kinds: Mapping[str, str] = job_input["kinds"]
    messages = job_input["messages"]
    max_facts = int(job_input["max_facts"])
    user_turns = said_by_user(messages)
    max_tokens = _answer_room(
        model, "extract", _TOKENS_OF_FACT * max_facts + _TOKENS_OF_EPISODE * len(user_turns)
    )
    most = max_facts if max_tokens >= _MAX_TOKENS else _facts_within(max_tokens, user_turns)
    answer = model.ask(
        "extract",
        extraction_prompt(job_input, text),
        prompts.Extraction,
        schema=_schema(kinds, min(max_facts, most), len(user_turns)),
        max_tokens=max_tokens,
        shorter=_schema(kinds, (min(max_facts, most) + 1) // 2, (len(user_turns) + 1) // 2),
    )
    known = {message["turn_index"] for message in messages}
    candidates = [
        candidate
        for fact in answer.value.facts
        if (candidate := _candidate(fact, kinds, known, user_turns)) is not None
    ][:max_facts]
    episodes = [
        {"content": content, "turns": _turns(episode.turns, known)}
        for episode in answer.value.episodes
        if _has_words(content := clean(episode.content, _MAX_CONTENT))
    ][: len(user_turns)]
    vectors.phases.append(answer.phase("extract", len(candidates) + len(episodes)))
    return candidates, episodes


def extraction_prompt(job_input: Mapping[str, Any], conversation: str) -> list[dict[str, str]]:
    """Return the messages of the first question; profile and summary are texts here."""
    kinds = "; ".join(f"{kind}: {text}" for kind, text in job_input["kinds"].items())
    return prompt(
        "extract",
        f"Date: {job_input['observation_date']}. At most {job_input['max_facts']} facts.",
        f"Kinds: {kinds}.",
        block("profile", job_input["profile"]),
        block("summary", job_input["summary"]),
        block("conversation", conversation),
    )


def _schema(kinds: Mapping[str, str], max_facts: int, max_episodes: int) -> dict[str, Any]:
    schema = prompts.schema("extract")
    schema["properties"]["facts"]["items"]["properties"]["kind"]["enum"] = list(kinds)
    schema["properties"]["facts"]["maxItems"] = max_facts
    schema["properties"]["episodes"]["maxItems"] = max_episodes
    return schema


def _facts_within(max_tokens: int, user_turns: set[int]) -> int:
    """Return how many facts fit: small models fill whatever list they may fill."""
    left = max_tokens / _SPARE - _TOKENS_OF_EPISODE * len(user_turns)
    return max(1, int(left / _TOKENS_OF_FACT))


def _candidate(
    fact: prompts.Fact, kinds: Mapping[str, str], known: set[int], user_turns: set[int]
) -> dict[str, Any] | None:
    """Return a fact as the database takes it; None when it says nothing, or the user did not."""
    content = clean(fact.content, _MAX_CONTENT)
    said_in = _turns(fact.turns, known)
    if not _has_words(content) or (said_in and not user_turns.intersection(said_in)):
        return None
    candidate: dict[str, Any] = {
        "content": content,
        "kind": fact.kind if fact.kind in kinds else next(iter({"fact"} & {*kinds}), min(kinds)),
        "importance": min(1.0, max(0.0, fact.importance)),
        "confidence": fact.confidence,
        "tags": tags(fact.tags),
        "turns": said_in,
    }
    if slot := re.sub(r"\W+", "_", clean(fact.slot or "", 60).lower()).strip("_"):
        candidate["slot"] = slot
    if fact.correction:
        candidate["correction"] = True
    return candidate


def _turns(numbers: Sequence[int], known: set[int]) -> list[int]:
    return sorted(known.intersection(numbers))


def _has_words(text: str) -> bool:
    """Return whether a text says anything: small models like to begin with "User", and to stop."""
    return re.sub(r"[\W_]+", " ", text).strip().lower() not in ("", "user", "the user")


def _decided(
    open_candidates: Sequence[Mapping[str, Any]], vectors: Vectors, model: ChatModel
) -> list[dict[str, Any]]:
    """Ask the second question. Memories are numbers in it: only one that was shown can be meant.

    When it is longer than the model can read, the memories that are the least similar are left out;
    then it is asked in parts.
    """
    schema = prompts.schema("consolidate")
    schema["properties"]["decisions"]["maxItems"] = len(open_candidates)
    max_tokens = _answer_room(model, "consolidate", _TOKENS_OF_DECISION * len(open_candidates))
    room = room_for_data(
        model, "consolidate", consolidation_prompt([]), schema, max_tokens + _FRAME_TOKENS
    )
    fewest = _FEWEST_NEIGHBORS if len(open_candidates) > 1 else 1
    while not _fits(open_candidates, room, model):
        most = max(len(item["neighbors"]) for item in open_candidates)
        if most > fewest:
            open_candidates = [
                {**item, "neighbors": item["neighbors"][: most - 1]} for item in open_candidates
            ]
        elif len(open_candidates) > 1:
            half = len(open_candidates) // 2
            return [
                *_decided(open_candidates[:half], vectors, model),
                *_decided(open_candidates[half:], vectors, model),
            ]
        else:
            break  # one of each, some 300 tokens: the endpoint is to say whether it is too long
    answer = model.ask(
        "consolidate",
        consolidation_prompt(open_candidates),
        prompts.Consolidation,
        schema=schema,
        max_tokens=max_tokens,
        context={"neighbors": [len(item["neighbors"]) for item in open_candidates]},
    )
    vectors.phases.append(answer.phase("consolidate", len(open_candidates)))
    decisions = []
    for said in sorted(answer.value.decisions, key=lambda item: item.candidate):
        item = open_candidates[said.candidate - 1]
        decision = {"ordinal": item["ordinal"], "decision": said.decision}
        if said.target is not None:
            decision["target_id"] = item["neighbors"][said.target - 1]["memory_id"]
        decisions.append(decision)
    return decisions


def _fits(open_candidates: Sequence[Mapping[str, Any]], room: int, model: ChatModel) -> bool:
    text = _listed(open_candidates)
    return is_small(text, room) or model.count("consolidate", text) <= room


def consolidation_prompt(open_candidates: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the messages of the second question."""
    return prompt("consolidate", block("candidates", _listed(open_candidates)))


def _listed(open_candidates: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for number, item in enumerate(open_candidates, start=1):
        lines.append(f"{number}. {item['content']} ({item['kind']})")
        lines.extend(
            f"   {place}) {clean(memory['content'], _MAX_CONTENT)}"
            f" ({memory['kind']}, {str(memory['observed_at'])[:10]})"
            for place, memory in enumerate(item["neighbors"], start=1)
        )
    return "\n".join(lines)


def _answer_room(model: ChatModel, step: str, tokens: int) -> int:
    return answer_tokens(model, step, min(_MAX_TOKENS, max(_MIN_TOKENS, tokens)))
