"""Measure how often consolidation accepts an unfaithful merge or refuses a faithful one.

The labeled merges are in merge_sets/. The rule judges by words: accepted, refused or in doubt. A
job shows doubtful merges to the model again. Here `by words` refuses them all. `with a second
question` lets the label answer, as a person would, which is the upper bound of a model.

    python benchmarks/merge_faithfulness.py [FILE …] [--dsn DSN] [--json] [--wrong]
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from target import database

SETS = Path(__file__).with_name("merge_sets")
COLUMNS = ["id", "language", "label", "class", "merged", "statements"]
MAX_WRONG_ACCEPTED = 0.02
MAX_WRONG_REFUSED = 0.15


@dataclass(frozen=True, slots=True)
class Merge:
    """A text that replaces several statements, and whether it is faithful to them."""

    id: str
    language: str
    is_faithful: bool
    change: str
    text: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of the rule: faithful, unfaithful or unsure, and the words it names."""

    verdict: str
    words: tuple[str, ...]


def read_merges(path: Path) -> list[Merge]:
    """Read labeled merges.

    Raises:
        ValueError: a line has other columns or another label; the message names the line.
    """
    merges = []
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        for number, fields in enumerate(lines, start=1):
            if number == 1 and fields == COLUMNS:
                continue
            if len(fields) != len(COLUMNS) or fields[2] not in ("faithful", "unfaithful"):
                raise ValueError(f"{path.name}, line {number}: not a labeled merge: {fields!r}")
            name, language, label, change, text, statements = fields
            merges.append(Merge(name, language, label == "faithful", change, text,
                                tuple(statements.split(" | "))))  # fmt: skip
    return merges


def judged(db: psycopg.Connection[Any], merges: Sequence[Merge]) -> dict[Merge, Verdict]:
    """Return the verdict on each merge."""
    found = {}
    for merge in merges:
        row = db.execute(
            "select j.o_verdict, j.o_words from recall._judge_merge(%s, %s) as j",
            [list(merge.statements), merge.text],
        ).fetchone()
        assert row is not None
        found[merge] = Verdict(row[0], tuple(row[1]))
    return found


def count(verdicts: Mapping[Merge, Verdict], *, is_answered: bool) -> dict[str, int]:
    """Count the merges of each label, and the wrong verdicts.

    Args:
        verdicts: the verdicts of the rule.
        is_answered: whether the label answers the second question; otherwise the answer is no.
    """
    accepted = {
        merge: verdict.verdict == "faithful"
        or (is_answered and verdict.verdict == "unsure" and merge.is_faithful)
        for merge, verdict in verdicts.items()
    }
    return {
        "unfaithful": sum(not merge.is_faithful for merge in accepted),
        "wrongly_accepted": sum(is_ and not merge.is_faithful for merge, is_ in accepted.items()),
        "faithful": sum(merge.is_faithful for merge in accepted),
        "wrongly_refused": sum(merge.is_faithful and not is_ for merge, is_ in accepted.items()),
        "questions": sum(verdict.verdict == "unsure" for verdict in verdicts.values()),
    }


def report(verdicts: Mapping[Merge, Verdict]) -> dict[str, Any]:
    """Return all figures for `--json`."""
    rules = {"by words": False, "with a second question": True}
    chosen: dict[str, Mapping[Merge, Verdict]] = {"all": verdicts}
    for name in dict.fromkeys(merge.language for merge in verdicts):
        chosen[name] = {m: v for m, v in verdicts.items() if m.language == name}
    for name in sorted({merge.change for merge in verdicts}):
        chosen[name] = {m: v for m, v in verdicts.items() if m.change == name}
    return {
        name: {rule: count(part, is_answered=is_) for rule, is_ in rules.items()}
        for name, part in chosen.items()
    }


def table(figures: Mapping[str, Any]) -> Iterator[str]:
    yield f"{'':24}{'unfaithful':>11}{'accepted':>12}{'faithful':>10}{'refused':>14}{'asked':>7}"
    for rule in ("by words", "with a second question"):
        for name, rules in figures.items():
            counts = rules[rule]
            yield (
                f"{(rule if name == 'all' else '  ' + name):24}{counts['unfaithful']:11}"
                f"{rate(counts['wrongly_accepted'], counts['unfaithful']):>12}"
                f"{counts['faithful']:10}{rate(counts['wrongly_refused'], counts['faithful']):>14}"
                f"{counts['questions'] if rule != 'by words' else '':>7}"
            )


def wrong(verdicts: Mapping[Merge, Verdict]) -> Iterator[str]:
    for merge, verdict in verdicts.items():
        if merge.is_faithful != (verdict.verdict == "faithful"):
            yield (f"{merge.id} {merge.change} {verdict.verdict} {' '.join(verdict.words)}\n"
                   f"    {merge.text}\n    = {' | '.join(merge.statements)}")  # fmt: skip


def rate(wrong: int, of: int) -> str:
    return f"{wrong} ({wrong / of:.1%})" if of else "-"


def main() -> int:
    """Print the table; exit status 1 when the goal is missed with the second question answered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, default=[SETS / "tune.tsv"])
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--wrong", action="store_true", help="list what words alone judge wrong")
    options = parser.parse_args()

    merges = [merge for path in options.files for merge in read_merges(path)]
    with database(options.dsn, dimensions=384) as db:
        verdicts = judged(db, merges)
    figures = report(verdicts)
    print(json.dumps(figures) if options.json else "\n".join(table(figures)))
    if options.wrong:
        print("\n".join(wrong(verdicts)))
    counts = figures["all"]["with a second question"]
    return int(
        counts["wrongly_accepted"] > MAX_WRONG_ACCEPTED * counts["unfaithful"]
        or counts["wrongly_refused"] > MAX_WRONG_REFUSED * counts["faithful"]
    )


if __name__ == "__main__":
    sys.exit(main())
