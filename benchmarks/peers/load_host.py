"""Run a part of a system under load: `python load_host.py NAME fill|clients|background …`.

`load.py` starts it in the environment of the system, so it uses only the standard library and
psycopg. The parent writes one line to stdin: begin of the load, begin and end of the measurement,
as seconds of the monotonic clock.
"""

from __future__ import annotations

import argparse
import array
import contextlib
import importlib.metadata
import importlib.util
import itertools
import json
import random
import sys
import threading
import time
import uuid
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness import Data

HERE = Path(__file__).resolve().parent
TURNS = (20, 30)  # of a session
REMEMBERED = 0.10  # of turns
SEARCHED = 0.05
MEMORIES = 10  # that a peer searches for a turn
CHAT_MODEL = "gpt-4o-mini"


class AnyText(Data):
    """Data with a vector for every text: that of its question, else one made from its bytes."""

    def packed(self, text: str) -> array.array[float]:
        """Return the vector of a text; an unknown text gets a known vector, rotated."""
        question = text[: text.find("?") + 1]
        for known in (text, question):
            if known in self._place:
                return super().packed(known)
        seed = zlib.crc32(text.encode())
        vector = super().packed(self.memories[seed % len(self.memories)][1])
        start = seed // len(self.memories) % self.dimensions
        return vector[start:] + vector[:start]


class Clock:
    """The times of the calls of one client."""

    def __init__(self) -> None:
        self.calls: dict[str, list[tuple[float, float]]] = {}
        self.failures: list[tuple[float, str]] = []

    @contextlib.contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time a call that does not fail."""
        begin = time.monotonic()
        yield
        self.note(name, begin, time.monotonic())

    def note(self, name: str, begin: float, end: float) -> None:
        """Record a call."""
        self.calls.setdefault(name, []).append((begin, end))


class Client:
    """One client of a system; the methods do what its users do."""

    def begin(self, clock: Clock, user: str, session: str) -> None:
        """Begin a session, and time it where it is a call."""

    def end(self, session: str) -> None:
        """Drop what the client holds of a session."""

    def turn(self, clock: Clock, user: str, session: str, question: str, answer: str) -> None:
        """Make the context of the next prompt, and append the turn; time both and the sum."""
        raise NotImplementedError

    def remember(self, user: str, text: str) -> None:
        """Store one memory."""
        raise NotImplementedError

    # A system that can search messages has one more method:
    # def search_messages(self, user: str, query: str) -> Any

    def close(self) -> None:
        """Disconnect."""


class System:
    """A system under load, with a file in systems/.

    Attributes:
        title: the name in tables.
        packages: distributions with reported versions.
        has_background: whether it has work beside the clients, in a process of its own.
    """

    title = ""
    packages: tuple[str, ...] = ()
    has_background = False

    def __init__(self, dsn: str, data: Data) -> None:
        self.dsn = dsn
        self.data = data

    def create(self) -> None:
        """Create tables and indexes."""
        raise NotImplementedError

    def load(self, memories: Sequence[Sequence[str]], seconds: float) -> None:
        """Store the memories of all users before a load of so many seconds."""
        raise NotImplementedError

    def open(self) -> None:
        """Make what the clients of a process share."""

    def client(self) -> Client:
        """Return a client, for a thread of its own."""
        raise NotImplementedError

    def close(self) -> None:
        """Close what the clients share."""

    def work(self, until: float) -> dict[str, Any]:
        """Do the background work until a time of the monotonic clock; return what was done."""
        raise NotImplementedError


def converse(
    client: Client, clock: Clock, data: AnyText, number: int, clients: int, rate: float,
    begin: float, until: float,
) -> None:  # fmt: skip
    """Hold conversations of one client, with one user after the other, until a time."""
    chance = random.Random(number)
    asked: dict[str, list[str]] = {}
    for query in data.queries:
        asked.setdefault(query["user"], []).append(query["words"])
    told: dict[str, list[str]] = {}
    for user, text in data.memories:
        told.setdefault(user, []).append(text)
    users = list(asked)[number::clients]
    pause = clients / rate if rate else 0.0
    due = begin + chance.random() * (pause or 1.0)
    for count in itertools.count():
        user, session = users[count % len(users)], str(uuid.UUID(int=chance.getrandbits(128)))
        turns = chance.randint(*TURNS)
        if not count:  # so that sessions do not end at the same time
            turns = chance.randint(1, TURNS[1])
        _wait(due)
        with _failing(clock):
            client.begin(clock, user, session)
        for turn in range(turns):
            _wait(due)
            if time.monotonic() >= until:
                return
            query = chance.choice(asked[user])
            question, answer = data.turn(turn)
            with _failing(clock):
                client.turn(clock, user, session, f"{query} {question}", answer)
            if chance.random() < REMEMBERED:
                text = f"{chance.choice(told[user])} Noted {chance.getrandbits(32)}."
                with _failing(clock), clock.timed("remember"):
                    client.remember(user, text)
            if chance.random() < SEARCHED and hasattr(client, "search_messages"):
                with _failing(clock), clock.timed("search messages"):
                    client.search_messages(user, query)
            due += pause
        client.end(session)


@contextlib.contextmanager
def _failing(clock: Clock) -> Iterator[None]:
    """Record the error of a call instead of ending the client."""
    try:
        yield
    except Exception as error:
        clock.failures.append((time.monotonic(), f"{type(error).__name__}: {error}"))


def _wait(until: float) -> None:
    if (left := until - time.monotonic()) > 0:
        time.sleep(left)


# The parts


def fill(system: System, options: argparse.Namespace) -> dict[str, Any]:
    """Create the tables and load the memories."""
    system.create()
    system.load(system.data.memories, options.seconds)
    return {
        "title": system.title,
        "versions": {name: importlib.metadata.version(name) for name in system.packages},
        "has_background": system.has_background,
    }


def clients(system: System, options: argparse.Namespace) -> dict[str, Any]:
    """Run the clients of one process, a thread each; return their calls."""
    assert isinstance(system.data, AnyText)
    system.open()
    mine = range(options.number, options.clients, options.processes)
    pairs = [(system.client(), Clock()) for _ in mine]
    begin, measured, until = _times()
    threads = [
        threading.Thread(
            target=converse,
            args=(client, clock, system.data, number, options.clients, options.rate, begin, until),
        )
        for number, (client, clock) in zip(mine, pairs, strict=True)
    ]
    for thread in threads:
        thread.start()
    _wait(measured)
    before = time.process_time()
    _wait(until)
    used = time.process_time() - before
    for thread in threads:
        thread.join()
    for client, _ in pairs:
        client.close()
    system.close()
    calls: dict[str, list[tuple[float, float]]] = {}
    failures: list[str] = []
    for _, clock in pairs:
        for name, spans in clock.calls.items():
            calls.setdefault(name, []).extend(span for span in spans if span[1] >= measured)
        failures += [text for at, text in clock.failures if at >= measured]
    return {"calls": calls, "failures": failures, "client_ms": 1000 * used}


def background(system: System, _: argparse.Namespace) -> dict[str, Any]:
    """Do the background work of a system."""
    *_, until = _times()
    return system.work(until)


def _times() -> list[float]:
    print("ready", flush=True)
    return [float(part) for part in sys.stdin.readline().split()]


def load_system(name: str) -> type[System]:
    """Load the class of systems/NAME.py under a name that no package has."""
    sys.modules.setdefault("load_host", sys.modules[__name__])
    path = HERE / "systems" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"system_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    (found,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == spec.name and issubclass(value, System)
    )
    return found


def main() -> None:
    """Run one part and write its result."""
    parts = {"fill": fill, "clients": clients, "background": background}
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("part", choices=parts)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--number", type=int, default=0)
    parser.add_argument("--rate", type=float, default=0.0)
    options = parser.parse_args()
    system = load_system(options.name)(options.dsn, AnyText(options.data))
    result = parts[options.part](system, options)
    options.out.write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
