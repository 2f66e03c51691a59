"""Answers to the requests of a job, made without a model."""

from __future__ import annotations

import json
import uuid
import zlib
from collections.abc import Callable
from typing import Any

from support import Connection, append, ask, call, open_session, said
from support.servers import DIMENSIONS

Answer = dict[str, Any]


def word_vector(text: str) -> list[float]:
    """Return a vector that depends on the words of a text."""
    made = [0.0] * DIMENSIONS
    for word in text.lower().split():
        made[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    return made if any(made) else [1.0] * DIMENSIONS


def claim(conn: Connection, kind: str | None = None) -> dict[str, Any]:
    [job] = call(conn, "claim_jobs", p_worker="w", p_limit=1, p_flush=True,
                 p_kinds=None if kind is None else [kind])  # fmt: skip
    return job


def answered(request: dict[str, Any], script: Callable[[dict[str, Any]], Any]) -> Answer:
    """Return the answer to a request: vectors, or what the script says as JSON."""
    if request["type"] == "embed":
        return {"request_id": request["request_id"],
                "vectors": [word_vector(text) for text in request["inputs"]],
                "usage": {"prompt_tokens": 7}, "latency_ms": 3}  # fmt: skip
    made = script(request)
    return {"request_id": request["request_id"], "finish_reason": "stop",
            "content": made if isinstance(made, str) else json.dumps(made),
            "usage": {"prompt_tokens": 100, "completion_tokens": 20},
            "latency_ms": 12.5}  # fmt: skip


def work(
    conn: Connection, job: dict[str, Any], script: Callable[[dict[str, Any]], Any], **worker: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Do a job to its end; return how it ended, and all requests."""
    request = ask(conn, job, **worker)
    seen = []
    while request["type"] in ("chat", "embed"):
        seen.append(request)
        request = ask(conn, job, answered(request, script), **worker)
    return request, seen


SCRIPT = {
    "extract": {
        "facts": [{"content": "User  lives in\nLyon.", "kind": "personal", "confidence": "High",
                   "turns": [1, 99]}],
        "episodes": [{"content": "Told where they live.", "turns": [1, 2]}],
    },
    "summarize": {"summary": "They met."},
    "compact": {"summary": "A long story, told short."},
}  # fmt: skip


def scripted(request: dict[str, Any]) -> Any:
    return SCRIPT[request["purpose"]]


def told(conn: Connection, user: uuid.UUID) -> uuid.UUID:
    """Return a session of the user in which an exchange has taken place."""
    session = open_session(conn, user)
    append(conn, user, session,
           [*said("I live in Lyon and work as a nurse."),
            {"role": "assistant", "content": "Noted."}])  # fmt: skip
    return session
