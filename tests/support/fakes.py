"""Fake models for tests of the driver."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from support.servers import DIMENSIONS

MODEL = "test"


class WordEmbedder:
    """Vectors of the words in a text: texts that share words are similar.

    Attributes:
        texts: all that was embedded, in order.
    """

    def __init__(self, model: str = MODEL, dimensions: int = DIMENSIONS) -> None:
        self.model = model
        self.dimensions = dimensions
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts.extend(texts)
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in text.lower().split():
            digest = hashlib.sha256(word.strip(".,!?'\"").encode()).digest()
            vector[int.from_bytes(digest[:4], "big") % self.dimensions] += 1.0
        vector[0] += 0.01
        length = math.sqrt(sum(number * number for number in vector))
        return [number / length for number in vector]
