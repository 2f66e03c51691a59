"""Measure how often different memories are merged, and how often one memory is kept twice.

The labeled pairs are in duplicate_pairs.txt, or in another file of that format. The guard alone
decides as if the vectors had nominated every pair. The whole rule remembers both texts with vectors
of the local model. --pipeline also extracts the second text; the label then answers its
consolidation.

    python benchmarks/near_duplicates.py [--dsn DSN] [--pairs FILE] [--pipeline] [--json] [--wrong]
"""

from __future__ import annotations

import argparse
import json
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from pgrecall.models import LocalEmbedder
from target import database, do_due_jobs

PAIRS = Path(__file__).with_name("duplicate_pairs.txt")
LABELS = ("duplicate", "merged", "different")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts and the expected outcome of the second.

    Attributes:
        group: the difference of the two.
        label: duplicate, merged or different.
        old: the known text.
        new: the new text.
        is_held_out: whether the rules were tuned without it.
    """

    group: str
    label: str
    old: str
    new: str
    is_held_out: bool = False


def read_pairs(path: Path = PAIRS) -> list[Pair]:
    """Read the labeled pairs.

    Raises:
        ValueError: a line is not `label | text | text [| held out]`; the message names it.
    """
    pairs = []
    group = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            group = line.strip("[]")
            continue
        label, *texts = (part.strip() for part in line.split(" | "))
        is_held_out = texts[2:] == ["held out"]
        if group is None or label not in LABELS or len(texts) != 2 + is_held_out:
            raise ValueError(f"{path.name}, line {number}: not a labeled pair: {line!r}")
        pairs.append(Pair(group, label, texts[0], texts[1], is_held_out))
    return pairs


def is_false_merge(pair: Pair, verdict: str | None) -> bool:
    """Tell whether a fact is lost: two become one, or the less specific text stays."""
    return verdict is not None and (
        pair.label == "different" or (pair.label, verdict) == ("merged", "duplicate")
    )


def is_false_split(pair: Pair, verdict: str | None) -> bool:
    """Tell whether one fact is kept twice."""
    return verdict is None and pair.label != "different"


def count(pairs: Sequence[Pair], verdicts: Mapping[Pair, str | None]) -> dict[str, int]:
    """Count the pairs of each label, and the wrong outcomes."""
    return {
        "pairs": len(pairs),
        "different": sum(pair.label == "different" for pair in pairs),
        "same": sum(pair.label != "different" for pair in pairs),
        "false_merges": sum(is_false_merge(pair, verdicts[pair]) for pair in pairs),
        "false_splits": sum(is_false_split(pair, verdicts[pair]) for pair in pairs),
    }


def guarded(db: psycopg.Connection[Any], pairs: Sequence[Pair]) -> dict[Pair, str | None]:
    """Return the verdict of the guard on each pair."""
    found = db.execute(
        """select recall._near_duplicate_guard(t.old, t.new)
             from unnest(%s::text[], %s::text[]) with ordinality as t (old, new, place)
            order by t.place""",
        [[pair.old for pair in pairs], [pair.new for pair in pairs]],
    )
    return dict(zip(pairs, (verdict for (verdict,) in found), strict=True))


def remembered(
    db: psycopg.Connection[Any], pairs: Sequence[Pair]
) -> tuple[dict[Pair, str | None], set[Pair]]:
    """Remember both texts of each pair for a new user; return outcomes and candidates."""
    embedder = LocalEmbedder()
    vectors = embedder.embed([text for pair in pairs for text in (pair.old, pair.new)])
    distance, model = db.execute(
        "select s.near_duplicate_distance, s.embedding_model from recall.settings as s"
    ).fetchone() or (None, None)
    assert model == embedder.model, f"the database expects vectors of {model}"
    verdicts: dict[Pair, str | None] = {}
    nominees = set()
    for place, pair in enumerate(pairs):
        old, new = vectors[2 * place : 2 * place + 2]
        if 1 - sum(map(float.__mul__, old, new)) <= distance:
            nominees.add(pair)
        user = uuid.uuid4()
        remember(db, user, pair.old, old)
        outcome = remember(db, user, pair.new, new)
        verdicts[pair] = outcome if outcome in ("duplicate", "merged") else None
    return verdicts, nominees


def consolidated(
    db: psycopg.Connection[Any], pairs: Sequence[Pair]
) -> tuple[dict[Pair, str | None], int]:
    """Extract the second text with a worker; return outcomes and how many pairs were asked.

    The label answers the consolidation, as a person would. This is the upper bound of the
    pipeline: a pair is kept twice only when the model does not see the first text.
    """
    embedder = LocalEmbedder()
    worker = {"chat_model": "labels", "context_window": 32_768, "embedding_model": embedder.model}
    verdicts: dict[Pair, str | None] = {}
    asked = 0
    db.execute("""select recall.configure('{"extraction": "llm", "summaries": "none"}')""")
    for pair in pairs:
        shown: list[bool] = []
        user = uuid.uuid4()
        remember(db, user, pair.old, embedder.embed([pair.old])[0])
        talk(db, user, pair.new)

        def respond(
            request: dict[str, Any], pair: Pair = pair, shown: list[bool] = shown
        ) -> dict[str, Any]:
            if request["type"] == "embed":
                return {"vectors": embedder.embed(request["inputs"])}
            if request["purpose"] == "extract":
                said: dict[str, Any] = {"episodes": [], "facts": [
                    {"content": pair.new, "kind": "fact", "slot": None, "importance": 0.5,
                     "confidence": "high", "correction": False, "tags": [], "turns": [1]},
                ]}  # fmt: skip
            else:
                shown.append(f"   1) {pair.old}" in request["messages"][1]["content"])
                decision = {"duplicate": "NONE", "merged": "UPDATE", "different": "ADD"}[pair.label]
                said = {"decisions": [{"candidate": 1, "decision": decision if shown[0] else "ADD",
                                       "target": 1 if decision == "UPDATE" else None}]}  # fmt: skip
            return {"content": json.dumps(said), "finish_reason": "stop"}

        for _ in do_due_jobs(db, worker, respond, kinds=["extract"]):
            pass
        asked += len(shown)
        [texts] = db.execute(
            """select array_agg(m.content) from recall.memory_store as m
                where m.user_id = %s and m.is_active""",
            [user],
        ).fetchone() or ([],)
        verdicts[pair] = (
            None if len(texts) == 2 else "duplicate" if texts == [pair.old] else "merged"
        )
    return verdicts, asked


def talk(db: psycopg.Connection[Any], user: uuid.UUID, text: str) -> None:
    """Append a text of the user to a session and close it."""
    (session,) = db.execute("select recall.open_session(%s, 'gpt-4o-mini')", [user]).fetchone() or (
        None,
    )
    db.execute(
        "select count(*) from recall.append_messages(%s, %s, %s)",
        [user, session, Jsonb([{"role": "user", "content": text}])],
    )
    db.execute("select recall.close_session(%s, %s)", [user, session])


def remember(
    db: psycopg.Connection[Any], user: uuid.UUID, text: str, vector: Sequence[float]
) -> str:
    row = db.execute(
        """select r.outcome
             from recall.remember(
                      p_user_id => %s, p_content => %s, p_embedding => %s::halfvec) as r""",
        [user, text, str(list(vector))],
    ).fetchone()
    assert row is not None
    return str(row[0])


def report(
    pairs: Sequence[Pair], rules: Mapping[str, Mapping[Pair, str | None]], nominees: set[Pair]
) -> dict[str, Any]:
    """Return all figures for `--json`."""
    sets = {
        "all": list(pairs),
        "held out": [pair for pair in pairs if pair.is_held_out],
    }
    groups = dict.fromkeys(pair.group for pair in pairs)
    return {
        "nominated": {
            name: {
                "same": sum(pair.label != "different" for pair in nominees.intersection(chosen)),
                "different": sum(
                    pair.label == "different" for pair in nominees.intersection(chosen)
                ),
            }
            for name, chosen in sets.items()
        },
        "rules": {
            rule: {name: count(chosen, verdicts) for name, chosen in sets.items()}
            for rule, verdicts in rules.items()
        },
        "groups": {
            group: {
                rule: count([pair for pair in pairs if pair.group == group], verdicts)
                for rule, verdicts in rules.items()
            }
            for group in groups
        },
        "wrong": {
            rule: [
                [pair.label, pair.old, pair.new, verdict, pair.is_held_out]
                for pair, verdict in verdicts.items()
                if is_false_merge(pair, verdict) or is_false_split(pair, verdict)
            ]
            for rule, verdicts in rules.items()
        },
    }


def table(figures: Mapping[str, Any], *, show_wrong: bool) -> Iterator[str]:
    yield f"{'':24}{'different':>10}{'taken for one':>16}{'same':>8}{'kept twice':>14}"
    for rule, sets in figures["rules"].items():
        for name, counts in sets.items():
            yield line(f"{rule}, {name}", counts)
    for name, counts in figures["nominated"].items():
        yield (f"nominated by vector, {name}: {counts['different']} different,"
               f" {counts['same']} same")  # fmt: skip
    yield ""
    for group, rules in figures["groups"].items():
        yield line(group, rules["guard"])
    if show_wrong:
        for label, old, new, verdict, is_held_out in figures["wrong"]["guard"]:
            held = "held out  " if is_held_out else ""
            yield f"{held}{label} but {verdict or 'different'}: {old} | {new}"


def line(name: str, counts: Mapping[str, int]) -> str:
    merges = rate(counts["false_merges"], counts["different"])
    splits = rate(counts["false_splits"], counts["same"])
    return f"{name:24}{counts['different']:10}{merges:>16}{counts['same']:8}{splits:>14}"


def rate(wrong: int, of: int) -> str:
    return f"{wrong} ({wrong / of:.1%})" if of else "-"


def main() -> int:
    """Print the table; exit status 1 when one pair in a hundred or more is merged falsely."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    parser.add_argument("--pairs", type=Path, default=PAIRS, help="the labeled pairs")
    parser.add_argument("--pipeline", action="store_true",
                        help="also let a worker extract each, and answer by the label")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--wrong", action="store_true", help="list the pairs that went wrong")
    options = parser.parse_args()

    pairs = read_pairs(options.pairs)
    with database(options.dsn, dimensions=384) as db:
        db.execute("update recall.settings set embedding_model = 'local'")
        verdicts, nominees = remembered(db, pairs)
        rules = {"guard": guarded(db, pairs), "whole rule": verdicts}
        if options.pipeline:
            rules["pipeline"], asked = consolidated(db, pairs)
            print(f"the consolidation was asked about {asked} of {len(pairs)} pairs")
    figures = report(pairs, rules, nominees)
    if options.json:
        print(json.dumps(figures, ensure_ascii=False))
    else:
        print("\n".join(table(figures, show_wrong=options.wrong)))
    counts = figures["rules"]["guard"]["all"]
    return 0 if counts["false_merges"] < 0.01 * counts["different"] else 1


if __name__ == "__main__":
    sys.exit(main())
