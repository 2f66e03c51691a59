"""Extraction: memories out of turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgrecall.steps._vectors import Vectors

__all__ = ["verbatim"]


def verbatim(job_input: Mapping[str, Any], vectors: Vectors) -> dict[str, Any]:
    """Lend vectors to the user's messages of substance, which the database takes as they stand."""
    candidates = job_input.get("candidates") or []
    result: dict[str, Any] = {
        key: job_input[key]
        for key in ("from_turn", "through_turn")
        if job_input.get(key) is not None
    }
    made = vectors.of([candidate["content"] for candidate in candidates])
    if made is not None:
        result |= {"embeddings": made, "embedding_model": vectors.model}
    return result
