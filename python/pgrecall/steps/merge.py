"""Merging: one memory in the place of several that share a tag and kind, by a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pgrecall import prompts
from pgrecall.llm import ChatModel
from pgrecall.steps._questions import block, clean, numbered, prompt
from pgrecall.steps._vectors import Vectors
from pgrecall.steps._window import answer_tokens, leading_lines

__all__ = ["drop_unfaithful", "merge"]

_TOKENS_OF_PART = 80  # of the answer, for each memory
_MIN_TOKENS = 400
_JOINING = {"and", "also", "as", "both", "or", "too", "well", "with"}


def merge(job_input: Mapping[str, Any], vectors: Vectors, model: ChatModel) -> dict[str, Any]:
    """Return the merges; memories that none of them names stay as they are.

    Of what is longer than the model can read only the first memories are shown.

    Raises:
        ModelAnswerError: the model refused, or answered nonsense twice.
        EmbeddingError: the embedder failed.
    """
    memories = job_input.get("memories") or []
    if len(memories) < 2:
        return {"merges": []}
    schema = prompts.schema("merge")
    schema["properties"]["merges"]["maxItems"] = len(memories) // 2
    max_tokens = answer_tokens(model, "merge", _MIN_TOKENS + _TOKENS_OF_PART * len(memories))
    topic = f"Topic: {clean(str(job_input.get('tag')), 100)}."
    lines = leading_lines(
        numbered(memories), prompt("merge", topic), model, "merge", schema, max_tokens
    )
    answer = model.ask(
        "merge",
        prompt("merge", topic, block("memories", "\n".join(lines))),
        prompts.Merging,
        schema=schema,
        max_tokens=max_tokens,
        context={"memories": len(lines)},
    )
    longest = sum(len(memory["content"]) for memory in memories)
    merges: list[dict[str, Any]] = [
        {
            "content": content,
            "memory_ids": [memories[number - 1]["memory_id"] for number in sorted({*said.parts})],
        }
        for said in answer.value.merges
        if any(map(str.isalnum, content := clean(said.content, longest)))
    ]
    vectors.phases.append(answer.phase("merge", len(merges)))
    result: dict[str, Any] = {"merges": merges}
    made = vectors.of([item["content"] for item in merges]) if merges else None
    if made is not None:
        result |= {"embeddings": made, "embedding_model": vectors.model}
    return result


def drop_unfaithful(result: dict[str, Any], job_input: Mapping[str, Any]) -> None:
    """Take out of a result the merges that say anything else than their parts, each word for word.

    For a sealed user, whose texts the database cannot compare: stricter than it, without any list
    of words that turn a fact. What is left out only stays as it is.
    """
    content = {memory["memory_id"]: memory["content"] for memory in job_input.get("memories") or ()}
    kept = [
        place
        for place, merge in enumerate(result["merges"])
        if _says_the_same([content[part] for part in merge["memory_ids"]], merge["content"])
    ]
    for key in ("merges", "embeddings"):
        if key in result:
            result[key] = [result[key][place] for place in kept]


def _says_the_same(parts: Sequence[str], merged: str) -> bool:
    """Return whether each part's words stand in a text in their order, and no others but joins."""
    said, words = [_words(part) for part in parts], _words(merged)
    if not {*words} <= _JOINING.union(*said):
        return False
    for part in said:
        left = iter(words)
        if not all(word in left for word in part):
            return False
    return True


def _words(text: str) -> list[str]:
    return re.findall(r"[\w'’.-]*\w", text.casefold())
