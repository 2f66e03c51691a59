"""The labeled merges and pairs: balanced, unique, no statements in both halves; their verdicts."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg
import pytest

from merge_faithfulness import judged, read_merges
from near_duplicates import Pair, consolidated, guarded, read_pairs

VERDICTS = Path(__file__).with_name("labeled_verdicts.tsv")
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FAITHFUL = {"join", "reorder", "redundancy", "paraphrase", "synonym", "pronoun", "tense", "style"}
UNFAITHFUL = {
    "lost", "added", "generalized", "negated", "weakened", "strengthened", "swapped", "person",
    "number", "name", "time", "cause",
}  # fmt: skip
LANGUAGES = {"en", "de", "fr", "es", "pt", "it", "ja", "ru"}


def read(name: str) -> list[dict[str, str]]:
    """Read one file of merges."""
    with (BENCHMARKS / f"merge_sets/{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))


@pytest.mark.parametrize(("name", "size"), [("tune", 400), ("held_out", 200)])
def test_each_file_is_balanced_in_every_language(name: str, size: int) -> None:
    rows = read(name)
    assert len(rows) == size
    count = Counter((row["language"], row["label"]) for row in rows)
    assert {language for language, _ in count} == LANGUAGES
    assert all(count[each, "faithful"] == count[each, "unfaithful"] for each in LANGUAGES)
    assert 0.36 <= count["en", "faithful"] / (size / 2) <= 0.44


@pytest.mark.parametrize("name", ["tune", "held_out"])
def test_each_class_belongs_to_its_label(name: str) -> None:
    rows = read(name)
    for label, classes in (("faithful", FAITHFUL), ("unfaithful", UNFAITHFUL)):
        assert {row["class"] for row in rows if row["label"] == label} == classes


def test_merges_are_unique_and_join_two_to_six_statements() -> None:
    rows = read("tune") + read("held_out")
    assert len({row["id"] for row in rows}) == len({row["merged"] for row in rows}) == len(rows)
    for row in rows:
        assert None not in row
        assert all(value == value.strip() != "" for value in row.values())
        statements = row["statements"].split(" | ")
        assert 2 <= len(set(statements)) == len(statements) <= 6
        assert row["merged"] not in statements


def test_files_share_no_group_of_statements() -> None:
    tune, held_out = ({frozenset(row["statements"].split(" | ")) for row in read(name)}
                      for name in ("tune", "held_out"))  # fmt: skip
    assert not tune & held_out


def test_halves_of_the_statement_pairs_are_balanced_and_unique() -> None:
    tune, held_out = (
        read_pairs(BENCHMARKS / f"statement_pairs/{name}.txt") for name in ("tune", "held_out")
    )
    for pairs in (tune, held_out):
        assert Counter(pair.label == "different" for pair in pairs) == {True: 50, False: 50}
    assert not any(pair.is_held_out for pair in tune)
    assert all(pair.is_held_out for pair in held_out)
    assert len({frozenset((pair.old, pair.new)) for pair in tune + held_out}) == 200


def verdicts(db: psycopg.Connection[Any]) -> dict[str, str]:
    """Return a letter a pair or merge of each file, in order: what the rules say of it."""
    found = {}
    for name in ("duplicate_pairs", "statement_pairs/tune", "statement_pairs/held_out"):
        pairs = guarded(db, read_pairs(BENCHMARKS / f"{name}.txt"))
        found[name] = "".join(verdict[0] if verdict else "-" for verdict in pairs.values())
    for name in ("merge_sets/tune", "merge_sets/held_out"):
        merges = judged(db, read_merges(BENCHMARKS / f"{name}.tsv"))
        found[name] = "".join(
            "?" if each.verdict == "unsure" else each.verdict[0] for each in merges.values()
        )
    return found


@pytest.mark.slow
def test_verdicts_on_labeled_sets_are_those_on_record(db: psycopg.Connection[Any]) -> None:
    """A change that should only be faster changes none; another one writes its verdicts down."""
    recorded = dict(line.split("\t") for line in VERDICTS.read_text("utf-8").splitlines())
    found = verdicts(db)
    assert found.keys() == recorded.keys()
    for name, letters in found.items():
        differing = [place for place, pair in enumerate(zip(letters, recorded[name], strict=True))
                     if pair[0] != pair[1]]  # fmt: skip
        assert not differing, f"{name}, counted from 0: {differing}; now {letters}"


def test_consolidation_is_shown_paraphrases_that_the_guard_leaves(
    db: psycopg.Connection[Any],
) -> None:
    """A model that decides by the label joins what it is shown; what is unlike stays two."""
    pairs = [
        Pair("words", "duplicate", "User gets migraines", "User suffers from bad headaches"),
        Pair("detail", "merged", "User works remotely", "User does remote work from Tbilisi"),
        Pair("name", "different", "User works in Lyon", "User works in Porto"),
        Pair("far", "duplicate", "User adores opera", "Quarterly invoices arrive on Mondays"),
    ]
    db.execute("update recall.settings set embedding_model = 'local'")
    assert list(guarded(db, pairs).values()) == [None] * 4
    verdicts, asked = consolidated(db, pairs)
    assert list(verdicts.values()) == ["duplicate", "merged", None, None]
    assert asked == 3
    db.execute("delete from recall.jobs")
