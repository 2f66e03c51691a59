"""Ids of an encrypted user's memories go by the time of the database, not of the client."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from pgrecall._sql import UNSET
from pgrecall.encryption._clock import DatabaseClock
from support import value
from support.scripted_model import Script, embedder, fact, model, talk, work
from support.scripted_openai import ScriptedOpenAI
from support.sealed import KEYS, connected

Connection = psycopg.Connection[Any]


@pytest.fixture
def memory(model_dsn: str, openai: ScriptedOpenAI) -> Iterator[AgentMemory]:
    with AgentMemory.connect(
        model_dsn, embedder=embedder(openai), llm=model(openai), wrapping_keys=KEYS
    ) as memory:
        yield memory


def set_clock(monkeypatch: pytest.MonkeyPatch, days: float) -> None:
    """Let the clock of this machine be wrong."""
    skew = int(days * 86_400_000_000_000)
    monkeypatch.setattr("pgrecall._names.time",
                        SimpleNamespace(time_ns=lambda: time.time_ns() + skew))  # fmt: skip


def made_at(one: uuid.UUID) -> datetime:
    return datetime.fromtimestamp((one.int >> 80) / 1000, UTC)


def test_memories_are_listed_in_their_order_whatever_the_clocks_of_the_clients(
    memory: AgentMemory, model_dsn: str, user: uuid.UUID, db: Connection, script: Script,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    memory.encryption.seal_user(user)
    wanted = []
    for number, days in enumerate((400, 0, -400, 0.01, -0.01)):
        set_clock(monkeypatch, days)
        with connected(model_dsn) as other:
            made = other.remember(user, f"User saw number {number}.")
            wanted.append(f"User saw number {number}.")
            batch = [{"content": f"User saw {number} and {n}."} for n in range(3)]
            other.memories.ingest(user, batch)
            wanted += [one["content"] for one in batch]
            edited = other.memories.edit(user, made.memory_id, f"User saw no {number}.")
            wanted = [one for one in wanted if one != f"User saw number {number}."]
            wanted.append(f"User saw no {number}.")
            now = value(db, "select clock_timestamp()")
            assert abs(made_at(edited) - now) < timedelta(seconds=30)
        time.sleep(0.05)  # the times of two processes differ by half of a round trip
    set_clock(monkeypatch, 400)
    script.facts = {"I keep bees.": [fact("User keeps bees.")]}
    script.decisions = {"User keeps bees.": ("ADD", None)}
    talk(memory, user, ["I keep bees."])
    work(memory)
    time.sleep(0.05)
    with connected(model_dsn) as other:
        other.remember(user, "User is done.")
    listed = [one.content for one in memory.memories.list(user, limit=100)]
    assert listed == [*wanted, "User keeps bees.", "User is done."]
    pages: list[str] = []
    after: Any = UNSET
    while page := memory.memories.list(user, limit=4, after_id=after):
        pages += [one.content for one in page]
        after = page[-1].memory_id
    assert pages == listed


def test_ids_of_a_process_ascend_while_its_clock_is_corrected() -> None:
    clock = DatabaseClock()
    found = []
    for milliseconds in (1_000_000_000_000, 999_999_990_000, 1_000_000_000_001):
        clock.set(milliseconds, 0, 0)
        found += [clock.new_id() for _ in range(1000)]
    assert found == sorted(found)
    assert len({*found}) == len(found)
    assert {(one.version, one.variant) for one in found} == {(7, uuid.RFC_4122)}
    # a database whose clock was wrong does not bind the ids for ever
    clock.set(900_000_000_000, 0, 0)
    assert clock.new_id() < found[0]
