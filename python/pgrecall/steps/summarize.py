"""The rolling summary of a session, by a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgrecall.llm import ChatModel
from pgrecall.steps._summary import summary
from pgrecall.steps._vectors import Vectors

__all__ = ["summarize"]

_TARGET_TOKENS = 200
_LONGEST = {"user": 2000, "assistant": 800, "tool": 200}  # characters shown of a message


def summarize(job_input: Mapping[str, Any], vectors: Vectors, model: ChatModel) -> dict[str, Any]:
    """Return the summary that takes the place of the one before.

    Raises:
        ModelAnswerError: the model refused, or answered nonsense twice.
    """
    made = summary(
        "summarize", job_input, vectors, model, target_tokens=_TARGET_TOKENS, longest=_LONGEST
    )
    return made | {"through_turn": job_input["through_turn"]}
