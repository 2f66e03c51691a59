"""Embed messages, memories and summaries that have no vector yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgrecall.errors import ConfigurationError
from pgrecall.steps._vectors import Vectors

__all__ = ["embed"]


_IDS = {"messages": "turn_index", "memories": "memory_id", "summaries": "summary_id"}


def embed(job_input: Mapping[str, Any], vectors: Vectors) -> dict[str, Any]:
    """Return the vectors of the job's messages, memories and summaries, made in one go."""
    texts = [item["text"] for kind in _IDS for item in job_input.get(kind) or ()]
    made = vectors.of(texts)
    if made is None:
        raise ConfigurationError("an embed job needs an embedder")
    each = iter(made)
    result: dict[str, Any] = {"embedding_model": vectors.model} | {
        kind: [{key: item[key], "embedding": next(each)} for item in job_input.get(kind) or ()]
        for kind, key in _IDS.items()
    }
    if job_input.get("through_turn") is not None:
        result["through_turn"] = job_input["through_turn"]
    return result
