"""Answers to the requests of `recall.next_request`: vectors, and errors of an endpoint."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pgrecall._json import storable_text
from pgrecall.models._embedders import Embedder, EmbeddingError, EmbeddingUsage, MeasuredEmbedder
from pgrecall.models._tokens import count_for_any_model

__all__ = ["answer_to", "error_answer", "is_overflow", "is_refused", "named_window",
           "vectors_answer"]  # fmt: skip

_REFUSED = (400, 413, 422)
_LEAST_WINDOW = 512
_ERROR_CHARS = 10_000  # as the database keeps them
_OVERFLOW = re.compile(
    r"context[_ ](?:length|size|window)|maximum context|n_ctx|(?:prompt|input) is too long"
    r"|reduce the length|too many (?:input |prompt )?tokens",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:context|n_ctx)[^\d.]{0,40}(\d[\d,]*)", re.IGNORECASE)


def vectors_answer(request: Mapping[str, Any], embedder: Embedder) -> dict[str, Any]:
    """Embed and count the inputs of a request; an embedder that fails makes an error of it."""
    started = time.monotonic()
    try:
        vectors, usage = _made(embedder, request["inputs"])
        made: dict[str, Any] = {
            "vectors": [_as_text(vector, embedder) for vector in vectors],
            "usage": {"prompt_tokens": usage.tokens},
        }
        if counts := count_for_any_model(request["inputs"]):
            made["token_counts"] = counts
    except Exception as error:
        made = error_answer(error)
    return answer_to(request, made, started)


def answer_to(
    request: Mapping[str, Any], made: Mapping[str, Any], started: float
) -> dict[str, Any]:
    """Return an answer with the id of its request and the time it took."""
    took = round((time.monotonic() - started) * 1000, 3)
    return {"request_id": request["request_id"], "latency_ms": took, **made}


def error_answer(error: Exception) -> dict[str, Any]:
    """Return what an endpoint or an embedder has raised, as an answer has it."""
    said: dict[str, Any] = {
        "code": type(error).__name__, "message": storable_text(str(error))[:_ERROR_CHARS],
        "retryable": True,
    }  # fmt: skip
    if is_overflow(error):
        said |= {"code": "context_length", "context_window": named_window(error)}
    return {"error": said}


def is_refused(error: Exception) -> bool:
    """Return whether an endpoint has refused a request because of its content."""
    return getattr(error, "status_code", None) in _REFUSED


def is_overflow(error: Exception) -> bool:
    """Return whether an endpoint says that a request is longer than its model reads."""
    code = getattr(error, "code", None)
    return is_refused(error) and (
        code == "context_length_exceeded" or _OVERFLOW.search(str(error)) is not None
    )


def named_window(error: Exception) -> int | None:
    """Return the context window that a refusal names."""
    numbers = (int(found.replace(",", "")) for found in _NUMBER.findall(str(error)))
    return next((number for number in numbers if number >= _LEAST_WINDOW), None)


def _made(embedder: Embedder, texts: Sequence[str]) -> tuple[list[list[float]], EmbeddingUsage]:
    if isinstance(embedder, MeasuredEmbedder):
        return embedder.embed_with_usage(texts)
    return embedder.embed(texts), EmbeddingUsage()


def _as_text(vector: Sequence[float], embedder: Embedder) -> str:
    if not all(map(math.isfinite, vector)):
        raise EmbeddingError(f"{embedder.model} made a vector that is not finite")
    # halfvec has 11 bits of mantissa
    return f"[{','.join(f'{number:.6g}' for number in vector)}]"
