"""A summary by a model; what the two steps that make one have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgrecall import prompts
from pgrecall.llm import ChatModel
from pgrecall.steps._questions import block, prompt, storable
from pgrecall.steps._vectors import Vectors
from pgrecall.steps._window import answer_tokens, leading_turns, room_for_data, shortened_to
from pgrecall.tokens import count_text_tokens, encoding_name

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
    """Return content, its tokens, vector and model; nothing when nothing was said since.

    What is longer than the model can read goes piece by piece: each summary is fed to the next.
    """
    before = job_input.get("summary") or ""
    messages = job_input.get("messages") or []
    if not messages:
        return {}
    while messages:
        before, taken = _summed_up(
            step, before, messages, vectors, model, target_tokens=target_tokens, longest=longest
        )
        messages = messages[taken:]
    result: dict[str, Any] = {"content": before.strip()}
    chat_model = job_input.get("chat_model")
    if chat_model and encoding_name(chat_model) is not None:
        result["token_count"] = count_text_tokens(result["content"], chat_model)
    made = vectors.of([result["content"]])
    if made is not None:
        result |= {"embedding": made[0], "embedding_model": vectors.model}
    return result


def _summed_up(
    step: str,
    before: str,
    messages: Sequence[Mapping[str, Any]],
    vectors: Vectors,
    model: ChatModel,
    *,
    target_tokens: int,
    longest: Mapping[str, int],
) -> tuple[str, int]:
    """Return the summary with the first messages, and how many they are."""
    max_tokens = answer_tokens(model, step, target_tokens * _SPARE + _FRAME_TOKENS)
    target_tokens = min(target_tokens, (max_tokens - _FRAME_TOKENS) // _SPARE)
    schema = prompts.schema(step)
    schema["properties"]["summary"]["maxLength"] = target_tokens * _CHARS_PER_TOKEN
    head = (
        f"At most {int(target_tokens * _WORDS_PER_TOKEN)} words.",
        block("summary", shortened_to(before, max_tokens, model, step)),
    )
    room = room_for_data(model, step, prompt(step, *head), schema, max_tokens)
    text, taken = leading_turns(messages, room, model, step, longest)
    answer = model.ask(
        step,
        prompt(step, *head, block("conversation", text)),
        prompts.Summary,
        schema=schema,
        max_tokens=max_tokens,
    )
    vectors.phases.append(answer.phase("summary", taken))
    return storable(answer.value.summary), taken
