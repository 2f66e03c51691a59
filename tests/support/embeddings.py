"""Changes of the embedding model: fake models of any dimensions, and workers that offer both."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from support import Connection, ask, call, rows, value
from support.servers import DIMENSIONS

NEW = "hash:wide"
"""The name of the model that a change leads to."""


@cache
def _direction(word: str, dimensions: int) -> tuple[float, ...]:
    chance = random.Random(hashlib.sha256(word.encode()).digest())
    return tuple(chance.gauss(0, 1) for _ in range(dimensions))


def hashed(text: str, dimensions: int) -> list[float]:
    """Return a vector of the words of a text, a direction for each: deterministic."""
    words = [word.strip(".,!?:'\"") for word in text.lower().split()] or ["?"]
    made = [sum(column) for column in zip(*(_direction(w, dimensions) for w in words), strict=True)]
    length = math.sqrt(sum(number * number for number in made)) or 1.0
    return [round(number / length, 5) for number in made]


def current(conn: Connection) -> tuple[str, int]:
    """Return the model of the settings, and its dimensions."""
    (row,) = rows(conn, "select embedding_model, embedding_dimensions from recall.settings")
    return row["embedding_model"], row["embedding_dimensions"]


def dimensions_of(conn: Connection, model: str) -> int:
    return int(
        value(conn, "select recall._model_dimensions(%s, s) from recall.settings as s", [model])
    )


def vectors(conn: Connection, model: str, texts: Sequence[str]) -> list[list[float]]:
    """Return vectors of a model, in its dimensions."""
    dimensions = dimensions_of(conn, model)
    return [hashed(text, dimensions) for text in texts]


def as_literal(vector: Sequence[float]) -> str:
    return json.dumps(list(vector))


def work_embed(
    conn: Connection,
    models: Sequence[str],
    *,
    limit: int = 1000,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Do embed jobs with these models until none is due; return how many were done."""
    kinds = ["embed", *(f"embed:{model}" for model in models)]
    done = 0
    while done < limit and not stop():
        jobs = call(conn, "claim_jobs", p_worker="w", p_kinds=kinds)
        if not jobs:
            break
        offer: dict[str, Any] = {"embedding_model": models[0], "embedding_models": list(models)}
        request = ask(conn, jobs[0], **offer)
        while request["type"] == "embed":
            answer = {
                "request_id": request["request_id"],
                "vectors": vectors(conn, request["model"], request["inputs"]),
            }
            request = ask(conn, jobs[0], answer, **offer)
        assert request["type"] == "done", request
        done += 1
    return done


def advance(conn: Connection) -> str:
    """Run the maintenance of a change to the end of what is possible; return its state."""
    for _ in range(10_000):
        (batch,) = call(conn, "migrate_embeddings")
        if not batch["more"]:
            break
    (row,) = call(conn, "get_embedding_migration")
    return str(row["state"])


def migrate(conn: Connection, model: str, dimensions: int | None = None) -> None:
    """Change the embedding model, with a worker, to the end; the old vectors are deleted."""
    before, _ = current(conn)
    call(conn, "start_embedding_migration", p_model=model, p_dimensions=dimensions, p_keep="0")
    for _ in range(20):
        if advance(conn) == "done":
            break
        work_embed(conn, [before, model])
    assert advance(conn) == "done"


__all__ = [
    "DIMENSIONS", "NEW", "advance", "as_literal", "current", "dimensions_of", "hashed", "migrate",
    "vectors", "work_embed",
]  # fmt: skip
