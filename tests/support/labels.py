"""Messages labeled for verbatim extraction."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Message(NamedTuple):
    half: str
    label: str
    language: str
    text: str


@cache
def labeled(name: str = "verbatim_messages") -> list[Message]:
    path = Path(__file__).parents[1] / "jobs" / f"{name}.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(lines)
        return [Message(*line) for line in lines]
