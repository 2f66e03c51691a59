"""Measurements of a soak run, and its record: a JSON document and a table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from soak.ledger import Entry
from soak.servers import DATABASES, Cluster

READS = {"search", "search_messages", "search_sessions", "get_messages", "compile_context", "look",
         "look_at_standby", "repeatable_read", "health", "metrics", "verify_integrity",
         "export_user", "get_memory", "get_working", "list_disputes", "list_sessions",
         "sealed_messages", "sealed_search", "sealed_context"}  # fmt: skip
KINDS = ("lost", "doubled", "torn", "left", "readable", "foreign")


@dataclass(frozen=True)
class Outage:
    """A time in which calls may fail or wait: a kill, a promotion, an upgrade."""

    what: str
    began: float
    ended: float


@dataclass(frozen=True)
class Sample:
    """Memory and sizes of the primary at a moment.

    Attributes:
        at: on the monotonic clock.
        backend_mb: private memory of the largest backend.
        database_mb: of both databases.
        tables_mb: the five largest tables of the first one, with their indexes.
        dead_rows: of both.
    """

    at: float
    backend_mb: float
    database_mb: float
    tables_mb: dict[str, float]
    dead_rows: int


def sample(primary: Cluster) -> Sample:
    largest, size, dead, tables = 0.0, 0.0, 0, {}
    for pid in primary.children():
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    largest = max(largest, int(line.split()[1]) / 1024)
    for name in DATABASES:
        with primary.connect(name) as conn:
            row = conn.execute(
                "select pg_database_size(current_database()) / 1048576.0,"
                "       (select coalesce(sum(n_dead_tup), 0) from pg_stat_user_tables)"
            ).fetchone()
            size += float(row[0]) if row else 0
            dead += int(row[1]) if row else 0
            tables = tables or {found: round(float(mb), 1) for found, mb in conn.execute(
                "select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text,"
                "       sum(pg_total_relation_size(c.oid)) / 1048576.0"
                "  from pg_class as c where c.relnamespace = 'recall'::regnamespace"
                "   and c.relkind = 'r' group by 1 order by 2 desc limit 5")}  # fmt: skip
    return Sample(time.monotonic(), round(largest, 1), round(size, 1), tables, dead)


def overlaps(entry: Entry, windows: Iterable[Outage]) -> bool:
    return any(entry.began < one.ended and entry.ended > one.began for one in windows)


def longest(entries: Iterable[Entry]) -> dict[str, Any]:
    """Return the slowest of some requests."""
    slowest = max(entries, key=lambda entry: entry.ended - entry.began, default=None)
    if slowest is None:
        return {"seconds": 0.0, "op": None}
    return {"seconds": round(slowest.ended - slowest.began, 3), "op": slowest.op,
            "actor": slowest.actor, "at": round(slowest.began, 1)}  # fmt: skip


def record(
    entries: Sequence[Entry], violations: Sequence[str], outages: Sequence[Outage],
    samples: Sequence[Sample], counts: dict[str, int], **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """Return the record of a run."""
    done = [entry for entry in entries if entry.outcome == "ok"]
    writes = [entry for entry in done if entry.op not in READS
              and entry.op != "run_due_maintenance"]  # fmt: skip
    # after an outage, a pool waits up to as long again before it connects
    shaken = [Outage(one.what, one.began, 2 * one.ended - one.began + 2) for one in outages]
    calm = [entry for entry in writes if not overlaps(entry, shaken)]
    upgrades = [one for one in outages if one.what == "upgrade"]
    maintenance = [Outage("maintenance", entry.began, entry.ended) for entry in done
                   if entry.op == "run_due_maintenance"]  # fmt: skip
    found = Counter(text.partition(":")[0] for text in violations)
    return {
        **more,
        "operations": len(done),
        "by_kind": dict(sorted(Counter(entry.op for entry in done).items())),
        "unanswered": sum(entry.outcome == "lost" for entry in entries),
        "refused": sum(entry.outcome == "failed" for entry in entries),
        "by_sqlstate": dict(sorted(Counter(
            str((entry.answer or entry.facts).get("code")) for entry in entries
            if entry.outcome != "ok").items())),
        "disturbances": dict(sorted(counts.items())),
        "erasures": sum("erased_user" in entry.facts or "erased_session" in entry.facts
                        or "erased" in entry.facts for entry in done),
        "violations": len(violations),
        **{kind: found[kind] for kind in KINDS},
        "violation_texts": list(violations)[:100],
        "longest_outage": max(((round(one.ended - one.began, 1), one.what) for one in outages
                               if one.what != "upgrade"), default=(0.0, "")),
        "longest_write": longest(calm),
        "longest_write_in_maintenance": longest(e for e in calm if overlaps(e, maintenance)),
        "longest_write_in_upgrade": longest(e for e in writes if overlaps(e, upgrades)),
        "backend_mb": [one.backend_mb for one in samples],
        "database_mb": [one.database_mb for one in samples],
        "dead_rows": [one.dead_rows for one in samples],
        "largest_tables_mb": samples[-1].tables_mb if samples else {},
    }  # fmt: skip


def table(made: dict[str, Any]) -> str:
    """Return the record as a Markdown table."""
    kills = {key: n for key, n in made["disturbances"].items() if key.startswith("kill")}
    rows = {
        "server": made["server"],
        "hours of load; seed": f"{made['minutes'] / 60:.2f}; {made['seed']}",
        "acknowledged operations": f"{made['operations']:,}, of them "
        f"{sum(n for op, n in made['by_kind'].items() if op not in READS):,} writes",
        "without an answer; refused": f"{made['unanswered']}; {made['refused']}",
        "kills of the server; of workers": f"{sum(kills.values()) - kills.get('kill worker', 0)};"
        f" {kills.get('kill worker', 0)}",
        "promotions; upgrades": f"{made['disturbances'].get('promote', 0)};"
        f" {made['disturbances'].get('upgrade', 0)}",
        "acknowledged erasures": made["erasures"],
        "lost; doubled; torn": f"{made['lost']}; {made['doubled']}; {made['torn']}",
        "left after an erasure; readable; foreign": f"{made['left']}; {made['readable']};"
        f" {made['foreign']}",
        "all violations": made["violations"],
        "longest acknowledged write; in maintenance; in an upgrade": "; ".join(
            f"{made[key]['seconds']} s ({made[key]['op']})" for key in (
                "longest_write", "longest_write_in_maintenance", "longest_write_in_upgrade")),
        "longest outage": f"{made['longest_outage'][0]} s ({made['longest_outage'][1]})",
        "largest backend, first and last": _ends(made["backend_mb"]),
        "databases, first and last": _ends(made["database_mb"]),
        "errors by SQLSTATE": ", ".join(f"{key} {n}" for key, n in made["by_sqlstate"].items()),
    }  # fmt: skip
    return "\n".join(["| | |", "|---|---|", *(f"| {key} | {item} |" for key, item in rows.items())])


def _ends(numbers: list[float]) -> str:
    return f"{numbers[0]} MB, {numbers[-1]} MB (most {max(numbers)} MB)" if numbers else "–"
