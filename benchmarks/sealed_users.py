"""Compare the calls of an encrypted user with those of an unencrypted one, on one server.

    python benchmarks/sealed_users.py DSN

Calls of both alternate, so that a busy machine slows both. The program prints medians and their
ratio. The database must have the schema. The benchmark creates its own users and erases them at the
end.
"""

from __future__ import annotations

import statistics
import sys
import time
import uuid
from collections.abc import Callable

from pgrecall import AgentMemory
from pgrecall.encryption import LocalWrappingKeys

MEMORIES = 200
TURNS = 50
ROUNDS = 60
TEXT = "The user told at length about item number {} of the list, which is kept in the garage."


def measured(calls: dict[str, Callable[[int], object]]) -> dict[str, float]:
    """Return the median milliseconds of each call; the calls take turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(ROUNDS):
        for name, one in calls.items():
            started = time.perf_counter()
            one(number)
            times[name].append((time.perf_counter() - started) * 1000)
    return {name: statistics.median(took[5:]) for name, took in times.items()}


def main(dsn: str) -> None:
    """Measure and print."""
    keys = LocalWrappingKeys({"bench": bytes(32)})
    users = {"plain": uuid.uuid4(), "sealed": uuid.uuid4()}
    with AgentMemory.connect(dsn, embedder=False, wrapping_keys=keys) as memory:
        memory.encryption.seal_user(users["sealed"])
        chats = {}
        for name, user in users.items():
            memory.memories.ingest(user, [{"content": TEXT.format(n)} for n in range(MEMORIES)])
            chats[name] = memory.session(user=user, model="gpt-4o-mini", extraction="none")
            for n in range(TURNS):
                chats[name].append(user=TEXT.format(n), reply="I see.")
        calls: dict[str, Callable[[str, int], object]] = {
            "append": lambda name, n: chats[name].append(user=TEXT.format(n), reply="I see."),
            "remember": lambda name, n: memory.remember(users[name], TEXT.format(1000 + n)),
            "messages (50)": lambda name, _: chats[name].messages(limit=50),
            "search (10 of 200)": lambda name, n: memory.search(users[name], f"item number {n}"),
            "search messages": lambda name, n: memory.sessions.search_messages(
                users[name], f"number {n}"
            ),
            "context": lambda name, n: chats[name].compile(f"Where is item {n}?"),
        }
        print(f"{'call':20} {'plain ms':>9} {'sealed ms':>9} {'ratio':>6}")
        for label, one in calls.items():
            took = measured({name: lambda n, name=name, one=one: one(name, n) for name in users})
            ratio = took["sealed"] / took["plain"]
            print(f"{label:20} {took['plain']:9.2f} {took['sealed']:9.2f} {ratio:6.1f}")
        started = time.perf_counter()
        rows = memory.encryption.rotate_user(users["sealed"])
        print(f"rotation of {rows} rows: {time.perf_counter() - started:.2f} s")
        for user in users.values():
            memory.privacy.forget_user(user)


if __name__ == "__main__":
    main(sys.argv[1])
