"""Embed messages and memories that have no vector yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgrecall.errors import ConfigurationError
from pgrecall.steps._vectors import Vectors

__all__ = ["embed"]


def embed(job_input: Mapping[str, Any], vectors: Vectors) -> dict[str, Any]:
    """Return the vectors of the job's messages and memories, made in one go."""
    messages = job_input.get("messages") or []
    memories = job_input.get("memories") or []
    made = vectors.of([item["text"] for item in (*messages, *memories)])
    if made is None:
        raise ConfigurationError("an embed job needs an embedder")
    of_messages, of_memories = made[: len(messages)], made[len(messages) :]
    result: dict[str, Any] = {
        "embedding_model": vectors.model,
        "messages": [
            {"turn_index": item["turn_index"], "embedding": vector}
            for item, vector in zip(messages, of_messages, strict=True)
        ],
        "memories": [
            {"memory_id": item["memory_id"], "embedding": vector}
            for item, vector in zip(memories, of_memories, strict=True)
        ],
    }
    if job_input.get("through_turn") is not None:
        result["through_turn"] = job_input["through_turn"]
    return result
