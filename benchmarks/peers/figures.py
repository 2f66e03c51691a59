"""Compute the figures of a load from the calls of all clients, and render them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

Result = dict[str, Any]
Span = Sequence[float]
"""Begin and end of a call in seconds of one monotonic clock."""

LONG_MS = 250.0  # a call above it counts as long
QUANTILES = {"p50_ms": 0.5, "p99_ms": 0.99, "p999_ms": 0.999}
CALLS = ("turn", "context", "append", "remember", "search messages", "open session")


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the value of ascending values that this share of them does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def longest_gap(ends: Sequence[float], begin: float, until: float) -> float:
    """Return the length of the longest part of a period in which no call ends."""
    inside = sorted(end for end in ends if begin <= end <= until)
    return max(after - before for before, after in pairwise([begin, *inside, until]))


def summary(calls: Mapping[str, Sequence[Span]], begin: float, until: float) -> Result:
    """Return rate, quantiles and stalls of the calls of a period.

    Rate and quantiles are of calls that end within the period. The slowest call may end after it.
    A turn contains a context and an append, so stalls are counted for these calls only.
    """
    result: Result = {"seconds": round(until - begin, 3), "calls": {}}
    single = [span for name, spans in calls.items() if name != "turn" for span in spans]
    for name, spans in calls.items():
        took = sorted(1000 * (end - start) for start, end in spans if begin <= end <= until)
        if took:
            result["calls"][name] = {
                "calls": len(took),
                **{key: round(quantile(took, share), 3) for key, share in QUANTILES.items()},
            }
    slow = [1000 * (end - start) for start, end in single if end >= begin]
    turns = result["calls"].get("turn", {}).get("calls", 0)
    return result | {
        "turns": turns,
        "turns_per_second": round(turns / (until - begin), 2),
        "longest_call_ms": round(max(slow, default=0.0), 1),
        "long_calls": sum(took > LONG_MS for took in slow),
        "longest_gap_ms": round(1000 * longest_gap([end for _, end in single], begin, until), 1),
    }


def number(value: float) -> str:
    """Format a number with three significant digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{2 if value < 10 else 1}f}"


def _of_call(name: str) -> Callable[[Result], str]:
    def cell(found: Result) -> str:
        times = found["calls"].get(name)
        return " / ".join(number(times[key]) for key in QUANTILES) if times else "–"

    return cell


def _per_turn(key: str, unit: float = 1.0) -> Callable[[Result], str]:
    def cell(found: Result) -> str:
        value = found.get(key)
        return "–" if value is None or not found["turns"] else number(value / unit / found["turns"])

    return cell


def _plain(key: str) -> Callable[[Result], str]:
    return lambda found: "–" if found.get(key) is None else number(found[key])


def _count(key: str) -> Callable[[Result], str]:
    return lambda found: "–" if found.get(key) is None else f"{found[key]:,}"


ROWS: dict[str, Callable[[Result], str]] = {
    "turns a second": _plain("turns_per_second"),
    **{f"{name}, p50 / p99 / p99.9 ms": _of_call(name) for name in CALLS},
    "longest time without the end of a call, ms": _plain("longest_gap_ms"),
    "slowest call, ms": _plain("longest_call_ms"),
    f"calls above {LONG_MS:.0f} ms": _count("long_calls"),
    "failed turns": _count("failed"),
    "processor time of the server per turn, ms": _per_turn("server_ms"),
    "… of it background: workers, sweeps, ms": _per_turn("background_ms"),
    "processor time of the clients per turn, ms": _per_turn("client_ms"),
    "WAL per turn, KB": _per_turn("wal_bytes", 1000.0),
    "checkpoints": _count("checkpoints"),
    "vacuums and analyzes by autovacuum": _count("autovacuums"),
    "jobs done by workers": _count("jobs"),
    "jobs that wait at the end": _count("jobs_waiting"),
    "maintenance tasks that ran": _count("sweeps"),
}


def table(results: Result) -> str:
    """Return the figures in Markdown, a column for each system."""
    systems = results["systems"]
    shown = [found for found in systems.values() if "error" not in found]
    lines = []
    if shown:
        lines = ["| | " + " | ".join(found["title"] for found in shown) + " |"]
        lines.append("|---" * (len(shown) + 1) + "|")
        for label, cell in ROWS.items():
            cells = [cell(found) for found in shown]
            if {*cells} != {"–"}:
                lines.append(f"| {label} | {' | '.join(cells)} |")
    lines += [
        f"- {name} was not measured: {found['error']}"
        for name, found in systems.items()
        if "error" in found
    ]
    return "\n".join(lines)


def host(results: Result) -> str:
    """Return the day of a run, its machine and its server."""
    server, machine = results["server"], results["machine"]
    return (
        f"{results['measured_at'][:10]}, {machine['cpus']} shared cores, Python "
        f"{machine['python']}, PostgreSQL {server['postgresql']}, pgvector {server['pgvector']}"
    )


def versions(measured: Mapping[str, Result]) -> str:
    """Return the versions of all packages that were measured, by name."""
    known = {
        name: version
        for found in measured.values()
        for name, version in found.get("versions", {}).items()
    }
    return ", ".join(f"{name} {version}" for name, version in sorted(known.items()))


def conditions(results: Result) -> str:
    """Return the conditions of a load in a paragraph."""
    load, server, machine = results["load"], results["server"], results["machine"]
    pace = f"{load['rate']:g} turns a second asked for" if load["rate"] else "no pauses"
    settings = ", ".join(f"{name} {value}" for name, value in server["settings"].items())
    return (
        f"{host(results)}; "
        f"load average of the machine before the run: {machine['load_average']:g}; "
        f"{load['clients']} clients in {load['processes']} processes on the server's cores, "
        f"{load['seconds'] / 60:g} minutes after {load['warm_up']:g} seconds of warm-up, {pace}; "
        f"{load['users']:,} users × {load['memories']} memories, {load['dimensions']:,} "
        f"dimensions.\n\nServer: {settings}.\n\nVersions: {versions(results['systems'])}."
    )
