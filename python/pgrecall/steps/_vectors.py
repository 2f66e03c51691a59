"""Embedding within a step: vectors as the database takes them in JSON, and the span."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from pgrecall.embedding import Embedder, EmbeddingError

__all__ = ["Phase", "Vectors"]

Phase = dict[str, Any]


class Vectors:
    """Makes vectors and remembers how long it took.

    Attributes:
        phases: the spans so far.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self.phases: list[Phase] = []

    @property
    def model(self) -> str | None:
        """The embedder's name, None without one."""
        return None if self._embedder is None else self._embedder.model

    def of(self, texts: Sequence[str]) -> list[str] | None:
        """Return one vector per text as `[…]`, None without an embedder.

        Raises:
            EmbeddingError: the embedder failed, or a number is not finite.
        """
        if self._embedder is None:
            return None
        if not texts:
            return []
        started = time.monotonic()
        vectors = self._embedder.embed(texts)
        self.phases.append(
            {
                "phase": "embed",
                "duration_ms": (time.monotonic() - started) * 1000,
                "items": len(texts),
                "model_id": self._embedder.model,
            }
        )
        if len(vectors) != len(texts):
            raise EmbeddingError(f"{self.model} made {len(vectors)} vectors of {len(texts)} texts")
        return [self._as_text(vector) for vector in vectors]

    def _as_text(self, vector: Sequence[float]) -> str:
        if not all(map(math.isfinite, vector)):
            raise EmbeddingError(f"{self.model} made a vector that is not finite")
        # halfvec has 11 bits of mantissa
        return f"[{','.join(f'{number:.6g}' for number in vector)}]"
