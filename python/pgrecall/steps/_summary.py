"""A summary by a model; what the two steps that make one have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgrecall import prompts
from pgrecall.llm import ChatModel
from pgrecall.steps._questions import block, prompt, turns
from pgrecall.steps._vectors import Vectors

__all__ = ["summary"]

_WORDS_PER_TOKEN = 0.6
_SPARE = 2  # what a model may exceed the words that it is given by, before it is cut off
_FRAME_TOKENS = 64
_CHARS_PER_TOKEN = 6


def summary(
    step: str,
    job_input: Mapping[str, Any],
    vectors: Vectors,
    model: ChatModel,
    *,
    target_tokens: int,
    longest: Mapping[str, int],
) -> dict[str, Any]:
    """Return content, and vector and model of it; the old summary when nothing was said since."""
    before = job_input.get("summary") or ""
    messages = job_input.get("messages") or []
    if messages:
        schema = prompts.schema(step)
        schema["properties"]["summary"]["maxLength"] = target_tokens * _CHARS_PER_TOKEN
        answer = model.ask(
            step,
            prompt(
                step,
                f"At most {int(target_tokens * _WORDS_PER_TOKEN)} words.",
                block("summary", before),
                block("conversation", turns(messages, longest=longest)),
            ),
            prompts.Summary,
            schema=schema,
            max_tokens=target_tokens * _SPARE + _FRAME_TOKENS,
        )
        vectors.phases.append(answer.phase("summary", len(messages)))
        before = answer.value.summary.replace("\x00", "").encode("utf-8", "ignore").decode()
    result: dict[str, Any] = {"content": before.strip() or "Nothing was said."}
    made = vectors.of([result["content"]])
    if made is not None:
        result |= {"embedding": made[0], "embedding_model": vectors.model}
    return result
