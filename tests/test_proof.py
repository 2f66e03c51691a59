"""The user's own words in proof of a memory: recall.prove_statement, and what stands on it."""

from __future__ import annotations

import psycopg
import pytest

from proof_pairs import HELD_OUT, OPEN, PAIRS
from support import value

JUDGE = "select recall._judge_statement(%s, %s, %s)"
Pair = tuple[str, str, str, str | None]


def verdict(db: psycopg.Connection, pair: Pair) -> str | None:
    said, quote, content, _ = pair
    found: str | None = value(db, JUDGE, [quote, content, said])
    return found


@pytest.mark.parametrize("pairs", [OPEN, HELD_OUT], ids=["open", "held out"])
def test_no_pair_is_accepted_falsely_and_most_are_accepted(
    db: psycopg.Connection, pairs: list[Pair]
) -> None:
    found = [(pair, verdict(db, pair)) for pair in pairs]
    assert [(pair, said) for pair, said in found if said not in (None, pair[3])] == []
    wanted = [said == pair[3] for pair, said in found if pair[3] is not None]
    assert sum(wanted) >= 0.9 * len(wanted), [
        pair for pair, said in found if said != pair[3]
    ]  # fmt: skip


def test_there_are_enough_pairs() -> None:
    assert len(PAIRS) >= 60
    assert len(HELD_OUT) * 3 >= len(PAIRS) - 2


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("I live in Lyon. " + "And so on. " * 2000, "I live in Lyon"),
        ("I live in Lyon" + " he said" * 12_000, "I live in Lyon" + " he said" * 12_000),
    ],
    ids=["message", "quotation"],
)
def test_long_text_proves_nothing_and_takes_no_time(
    db: psycopg.Connection, said: str, quote: str
) -> None:
    with db.transaction():
        db.execute("set local statement_timeout = '20s'")
        assert verdict(db, (said, quote, quote, None)) is None
        assert verdict(db, ("I live in Lyon", "I live in Lyon", "Lives in Lyon", None)) == "states"


@pytest.mark.parametrize("missing", range(3))
def test_missing_text_proves_nothing(db: psycopg.Connection, missing: int) -> None:
    given: list[str | None] = ["I live in Lyon", "Lives in Lyon", "I live in Lyon"]
    given[missing] = None
    with db.transaction():
        db.execute("set local statement_timeout = '20s'")
        assert value(db, JUDGE, given) is None
