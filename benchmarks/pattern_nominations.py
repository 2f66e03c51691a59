"""Measure which sets of episodes maintenance shows to a model as a possible pattern.

Each labeled set in pattern_sets.txt becomes the episodes of a new user through `ingest_memories`,
with vectors of the local model. The maintenance task enqueues pattern jobs, and a worker's claim
reads the episodes that they name. A recurring set counts as nominated when one job names three of
its episodes, an unrelated one when there is any job. There are four runs: the set alone and among
the ordinary episodes of the same user, with vectors and without.

    python benchmarks/pattern_nominations.py [--dsn DSN] [--json] [--show]
"""

from __future__ import annotations

import argparse
import json
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from pgrecall.models import Embedder, LocalEmbedder
from target import database

SETS = Path(__file__).with_name("pattern_sets.txt")
LABELS = ("recurring", "unrelated", "background")
LANGUAGES = {"german", "spanish", "french"}
"""Backgrounds that are named for their language; the others are English."""
LAST_DAY = 29


@dataclass(frozen=True, slots=True)
class EpisodeSet:
    """Episodes of one user.

    Attributes:
        name: their subject.
        label: recurring, unrelated or background.
        background: the name of the ordinary episodes of the same user.
        is_held_out: whether the rule was tuned without it.
        episodes: days of a month, and texts.
    """

    name: str
    label: str
    background: str
    is_held_out: bool
    episodes: tuple[tuple[int, str], ...]

    @property
    def language(self) -> str:
        """Return the text search configuration of the user."""
        return self.background if self.background in LANGUAGES else "english"


@dataclass(frozen=True, slots=True)
class Result:
    """The jobs for a set.

    Attributes:
        jobs: the texts that each pattern job names.
        is_nominated: whether a job names the set; for an unrelated set, whether any job exists.
    """

    jobs: tuple[tuple[str, ...], ...]
    is_nominated: bool


def read_sets(path: Path = SETS) -> list[EpisodeSet]:
    """Read the labeled sets.

    Raises:
        ValueError: a line is neither a head nor `day | text`; the message names the line.
    """
    heads: list[list[str]] = []
    episodes: list[list[tuple[int, str]]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            head = [part.strip() for part in line.strip("[]").split(" | ")]
            if len(head) < 3 or head[1] not in LABELS or head[3:] not in ([], ["held out"]):
                raise ValueError(f"{path.name}, line {number}: not the head of a set: {line!r}")
            heads.append(head)
            episodes.append([])
            continue
        day, separator, text = line.partition(" | ")
        if not episodes or not separator or not day.isdigit():
            raise ValueError(f"{path.name}, line {number}: not an episode: {line!r}")
        episodes[-1].append((int(day), text))
    return [
        EpisodeSet(head[0], head[1], head[2], len(head) > 3, tuple(listed))
        for head, listed in zip(heads, episodes, strict=True)
    ]


def with_background(chosen: EpisodeSet, sets: Sequence[EpisodeSet]) -> list[tuple[int, str]]:
    (background,) = (s for s in sets if s.label == "background" and s.name == chosen.background)
    return [*chosen.episodes, *background.episodes]


def nominated(
    db: psycopg.Connection[Any], chosen: EpisodeSet, episodes: Sequence[tuple[int, str]],
    embedder: Embedder | None,
) -> Result:  # fmt: skip
    """Ingest the episodes for a new user; return the jobs that maintenance enqueues."""
    vectors: Sequence[list[float] | None] = (
        embedder.embed([text for _, text in episodes]) if embedder else [None] * len(episodes)
    )
    now = datetime.now(UTC)
    candidates = [
        {
            "content": text, "kind": "episode", "provenance": "system_inferred",
            "observed_at": (now - timedelta(days=LAST_DAY - day)).isoformat(),
        } | ({"embedding": vector} if vector else {})
        for (day, text), vector in zip(episodes, vectors, strict=True)
    ]  # fmt: skip
    (user,) = db.execute("select recall.ensure_user(%s)", [uuid.uuid4().hex]).fetchone() or ()
    db.execute("select recall.configure_user(%s, %s)", [user, Jsonb({"language": chosen.language})])
    stored = db.execute(
        "select i.memory_id from recall.ingest_memories(%s, null, %s) as i order by i.ordinal",
        [user, Jsonb(candidates)],
    ).fetchall()
    texts = {row[0]: text for row, (_, text) in zip(stored, episodes, strict=True)}
    db.execute("select recall.run_maintenance('enqueue_patterns')")
    jobs = []
    while row := db.execute(
        "select j.payload from recall.claim_jobs('benchmark', '{pattern}') as j"
    ).fetchone():
        jobs.append(tuple(texts[uuid.UUID(id_)] for id_ in row[0]["memory_ids"]))
    own = {text for _, text in chosen.episodes}
    is_nominated = (
        any(len(own.intersection(job)) >= 3 for job in jobs)
        if chosen.label == "recurring"
        else bool(jobs)
    )
    return Result(tuple(jobs), is_nominated)


def count(results: Mapping[EpisodeSet, Result]) -> dict[str, dict[str, list[int]]]:
    """Count nominated and all sets by label, tuned and held out."""
    return {
        part: {
            label: [
                sum(results[s].is_nominated for s in results if matches(s, label, held_out)),
                sum(matches(s, label, held_out) for s in results),
            ]
            for label in ("vpn", "recurring", "unrelated")
        }
        for part, held_out in (("tuned", False), ("held out", True))
    }


def matches(chosen: EpisodeSet, label: str, held_out: bool) -> bool:
    if chosen.is_held_out != held_out:
        return False
    if label == "vpn":
        return chosen.name.startswith("vpn")
    return chosen.label == label and not chosen.name.startswith("vpn")


def table(runs: Mapping[str, Mapping[EpisodeSet, Result]], *, show: bool) -> Iterator[str]:
    yield f"{'':34}{'VPN wordings':>16}{'other recurring':>18}{'unrelated':>14}"
    for run, results in runs.items():
        for part, labels in count(results).items():
            figures = [f"{hits} of {of}" for hits, of in labels.values()]
            yield f"{f'{run}, {part}':34}{figures[0]:>16}{figures[1]:>18}{figures[2]:>14}"
    if show:
        for run, results in runs.items():
            for chosen, result in results.items():
                if result.is_nominated == (chosen.label == "recurring") and not result.jobs:
                    continue
                yield f"{run}: {chosen.name} ({chosen.label})"
                for job in result.jobs or (("no job",),):
                    yield from (f"    {'- ' if n == 0 else '  '}{text}"
                                for n, text in enumerate(job))  # fmt: skip


def main() -> int:
    """Print the table; exit status 1 when a VPN wording is missed or three unrelated sets are not.

    Both are judged on users with vectors and a background.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--show", action="store_true", help="list what the jobs name")
    options = parser.parse_args()

    sets = read_sets()
    tried = [s for s in sets if s.label != "background"]
    embedder = LocalEmbedder()
    runs = {}
    with database(options.dsn, dimensions=384) as db:
        db.execute("update recall.settings set embedding_model = 'local'")
        for run, has_vectors, has_background in (
            ("among others", True, True),
            ("alone", True, False),
            ("among others, no vectors", False, True),
            ("alone, no vectors", False, False),
        ):
            runs[run] = {
                s: nominated(
                    db, s, with_background(s, sets) if has_background else s.episodes,
                    embedder if has_vectors else None,
                )
                for s in tried
            }  # fmt: skip
    if options.json:
        print(json.dumps({run: count(results) for run, results in runs.items()}))
    else:
        print("\n".join(table(runs, show=options.show)))
    figures = count(runs["among others"]).values()
    missed = sum(of - hits for part in figures for hits, of in [part["vpn"]])
    return int(missed > 0 or sum(part["unrelated"][0] for part in figures) > 2)


if __name__ == "__main__":
    sys.exit(main())
