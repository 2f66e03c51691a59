"""`pgrecall bench`."""

from __future__ import annotations

import random
import statistics
import time
import uuid
from collections.abc import Callable
from typing import Any

import click
from pgvector import HalfVector

from pgrecall import AgentMemory
from pgrecall.cli._output import note, print_json, print_table
from pgrecall.cli._target import json_option, opened, target_option
from pgrecall.errors import NotAllowedError

__all__ = ["bench_command"]

_WARM = 6  # calls of a connection until its plans stand
_EXCHANGES = 30
_TOPICS = ("tea", "tulips", "trains", "violins", "chess", "rye bread", "sailing", "old maps")

# Asked before there is a user who would then stay.
_MAY_FORGET = b"select pg_catalog.has_function_privilege('recall.forget_user(uuid)', 'execute')"


@click.command("bench")
@click.option("--rounds", type=click.IntRange(1, 10_000), default=100, show_default=True,
              help="Repetitions of each call.")  # fmt: skip
@click.option("--memories", type=click.IntRange(1, 20_000), default=200, show_default=True,
              help="Memories of the user of the benchmark.")  # fmt: skip
@target_option
@json_option
def bench_command(rounds: int, memories: int, dsn: str | None, as_json: bool) -> None:
    """Time the calls of a turn on this server, as a client here sees them.

    It creates a user, for whom no job calls a model, and erases the user afterwards. That takes a
    role with the rights of recall_admin, whose name begins with the prefix of the installation.
    """
    with opened(dsn, no_embedding=True) as memory:
        if not memory._core.write.query(_MAY_FORGET)[0][0]:
            raise NotAllowedError(
                "this role may not erase the user of the benchmark",
                hint=f"Connect with a role that has {memory.admin.info().role_prefix}_admin.",
            )
        user = uuid.uuid4()
        memory.users.ensure(user)
        try:
            memory.admin.configure_user(user, extraction="none", embed_messages=False)
            figures = _measure(memory, user, rounds, memories)
        finally:
            memory.privacy.forget_user(user)
    if as_json:
        print_json({"rounds": rounds, "memories": memories, "calls": figures})
        return
    print_table(
        ("call", "median ms", "95 % ms", "99 % ms"),
        (
            (name, *(f"{row[part]:.2f}" for part in ("median_ms", "p95_ms", "p99_ms")))
            for name, row in figures.items()
        ),
    )
    note(
        f"{memories} memories, a session of {2 * _EXCHANGES} messages and what {rounds} rounds add"
    )


def _measure(
    memory: AgentMemory, user: uuid.UUID, rounds: int, memories: int
) -> dict[str, dict[str, float]]:
    """Return milliseconds by call: the median, and what 95 and 99 % stay below."""
    chance = random.Random(1)  # noqa: S311 - nothing secret
    dimensions = memory.admin.info().embedding_dimensions

    def vector() -> Any:
        return HalfVector([chance.gauss(0, 1) for _ in range(dimensions)])

    for first in range(0, memories, 500):
        some = range(first, min(first + 500, memories))
        memory.memories.ingest(
            user,
            [{"content": f"User likes {chance.choice(_TOPICS)} number {n}"} for n in some],
            embeddings=[vector() for _ in some],
        )
    chat = memory.session(user=user, model="gpt-4o-mini", system_prompt="You help.")
    for number in range(_EXCHANGES):
        chat.append(user=f"What of {chance.choice(_TOPICS)} {number}?", reply="It grows well. " * 9)

    calls: dict[str, Callable[[int], object]] = {
        "append a turn": lambda n: chat.append(user=f"And number {n}?", reply="It does, too."),
        "read the last 50 messages": lambda _: chat.messages(limit=50),
        "remember": lambda n: memory.remember(user, f"User once saw number {n}", embedding=None),
        "remember, with a vector": lambda n: memory.remember(
            user, f"User once heard number {n}", embedding=vector()
        ),
        "search by a vector": lambda _: memory.search(user, embedding=vector()),
        "search by words": lambda _: memory.search(user, "tea or tulips", embedding=None),
        "search by both": lambda _: memory.search(user, "tea or tulips", embedding=vector()),
        "compile a context": lambda _: chat.compile("tea or tulips?", embedding=vector()),
    }
    return {name: _timed(work, rounds) for name, work in calls.items()}


def _timed(work: Callable[[int], object], rounds: int) -> dict[str, float]:
    times = []
    for number in range(_WARM + rounds):
        started = time.perf_counter()
        work(number)
        times.append(1000 * (time.perf_counter() - started))
    times = sorted(times[_WARM:])
    return {"median_ms": statistics.median(times)} | {
        f"p{part}_ms": times[min(len(times) - 1, part * len(times) // 100)] for part in (95, 99)
    }
