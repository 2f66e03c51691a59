"""Compaction: a summary in the place of a session's oldest turns, by a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgrecall.llm import ChatModel
from pgrecall.steps._summary import summary
from pgrecall.steps._vectors import Vectors

__all__ = ["compact"]

_LONGEST = {"user": 8000, "assistant": 4000, "tool": 2000}  # characters shown of a message


def compact(job_input: Mapping[str, Any], vectors: Vectors, model: ChatModel) -> dict[str, Any]:
    """Return the summary with the turns it was made of, which the database compares.

    Raises:
        ModelAnswerError: the model refused, or answered nonsense twice.
    """
    window = {key: job_input.get(key) for key in ("from_turn", "through_turn", "retracted")}
    if job_input["through_turn"] < job_input["from_turn"]:
        return window | {"content": ""}
    made = summary(
        "compact",
        job_input,
        vectors,
        model,
        target_tokens=int(job_input["target_tokens"]),
        longest=_LONGEST,
    )
    if not made:  # turns of which nobody said one: the summary before them stands for them, too
        made = {"content": job_input.get("summary") or "Nothing was said."}
    return window | made
