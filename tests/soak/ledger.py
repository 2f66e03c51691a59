"""The ledger: what actors sent and what was acknowledged, in files outside of the database.

A line is written and synced before a request is sent, and another when its answer has come. An
operation without the second line has an unknown outcome, like one whose connection was lost.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOKEN = re.compile(r"zq(\d)(\d{3})(\d{2})(\d{6})")
"""Marks each text: the database, the user, the actor, a number. A word of digits is not stemmed."""


def token(database: int, user: int, actor: int, number: int) -> str:
    return f"zq{database}{user:03}{actor:02}{number:06}"


def tokens_in(text: str) -> set[str]:
    return {found[0] for found in TOKEN.finditer(text)}


class Ledger:
    """The file of one actor."""

    def __init__(self, folder: Path, actor: int) -> None:
        self._file = (folder / f"actor-{actor:02}.jsonl").open("a", encoding="utf-8")
        self._number = 0

    def sent(self, op: str, **facts: Any) -> int:
        """Note a request before it is sent, and return its number."""
        self._number += 1
        self._write({"n": self._number, "op": op, "t": time.monotonic(), **facts})
        return self._number

    def ended(self, number: int, outcome: str, **facts: Any) -> None:
        """Note how a request ended: ok, failed (surely undone) or lost (nobody knows)."""
        self._write({"n": number, "end": outcome, "t": time.monotonic(), **facts})

    def read(self, op: str, started: float, outcome: str, **facts: Any) -> None:
        """Note a request that changes nothing, after its answer."""
        self._number += 1
        line = {"n": self._number, "op": op, "t": started, "end": outcome,
                "t1": time.monotonic(), **facts}  # fmt: skip
        self._file.write(json.dumps(line) + "\n")

    def violation(self, text: str) -> None:
        self._write({"violation": text})

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


@dataclass
class Entry:
    """One request.

    Attributes:
        began, ended: on the machine's monotonic clock; `ended` is infinite without an answer.
        outcome: ok, failed or lost.
        facts: what the actor noted of it; `answer` has what it noted of the result.
    """

    actor: int
    op: str
    began: float
    ended: float = float("inf")
    outcome: str = "lost"
    facts: dict[str, Any] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)


def read_ledgers(folder: Path) -> tuple[list[Entry], list[str]]:
    """Return all requests in the order of their beginnings, and the violations that actors saw."""
    entries: list[Entry] = []
    violations: list[str] = []
    for path in sorted(folder.glob("actor-*.jsonl")):
        actor, of_actor = int(path.stem[-2:]), {}
        for line in _lines(path):
            if "violation" in line:
                violations.append(f"actor {actor}: {line['violation']}")
                continue
            number, began = line.pop("n"), line.pop("t")
            outcome = line.pop("end", None)
            if outcome is None:
                of_actor[number] = Entry(actor, line.pop("op"), began, facts=line)
            elif "op" in line:
                op, end = line.pop("op"), line.pop("t1")
                of_actor[number] = Entry(actor, op, began, end, outcome, line)
            else:
                entry = of_actor[number]
                entry.ended, entry.outcome, entry.answer = began, outcome, line
        entries += of_actor.values()
    return sorted(entries, key=lambda entry: entry.began), violations


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for text in file:
            if text.endswith("\n"):  # the last line may be cut
                yield json.loads(text)
