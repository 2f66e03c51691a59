"""Embedding within a step: vectors as the database takes them in JSON, and the span."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pgrecall.embedding import Embedder, EmbeddingError, EmbeddingUsage, MeasuredEmbedder
from pgrecall.llm import ModelUsage, Price

__all__ = ["Phase", "Vectors"]

Phase = dict[str, Any]


class Vectors:
    """Makes vectors and remembers how long it took.

    Attributes:
        phases: the spans so far.
    """

    def __init__(
        self, embedder: Embedder | None, prices: Mapping[str, Price] | None = None
    ) -> None:
        self._embedder = embedder
        self._prices = prices or {}
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
        span: Phase = {"phase": "embed", "items": len(texts), "model_id": self._embedder.model}
        started = time.monotonic()
        try:
            vectors, usage = self._made(self._embedder, texts)
        except Exception as error:
            span["error"] = f"{type(error).__name__}: {error}"
            raise
        else:
            span |= self._spent(self._embedder.model, usage)
        finally:
            self.phases.append(span | {"duration_ms": (time.monotonic() - started) * 1000})
        if len(vectors) != len(texts):
            raise EmbeddingError(f"{self.model} made {len(vectors)} vectors of {len(texts)} texts")
        return [self._as_text(vector) for vector in vectors]

    @staticmethod
    def _made(embedder: Embedder, texts: Sequence[str]) -> tuple[list[list[float]], EmbeddingUsage]:
        if isinstance(embedder, MeasuredEmbedder):
            return embedder.embed_with_usage(texts)
        return embedder.embed(texts), EmbeddingUsage()

    def _spent(self, model: str, usage: EmbeddingUsage) -> Phase:
        """Return tokens and cost; the endpoint knows the model without the kind of embedder."""
        price = self._prices.get(model) or self._prices.get(model.partition(":")[2])
        cost = ModelUsage(prompt_tokens=usage.tokens).cost(price)
        return {"prompt_tokens": usage.tokens, "cost_microcents": cost}

    def _as_text(self, vector: Sequence[float]) -> str:
        if not all(map(math.isfinite, vector)):
            raise EmbeddingError(f"{self.model} made a vector that is not finite")
        # halfvec has 11 bits of mantissa
        return f"[{','.join(f'{number:.6g}' for number in vector)}]"
