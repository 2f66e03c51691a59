"""Render tables and plots from the results: `python benchmarks/peers/report.py`."""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import sys
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import figures

HERE = Path(__file__).resolve().parent
RESULTS = {"default": HERE / "results.json", "crowd": HERE / "results_crowd.json"}  # by scale
LOAD = HERE / "results_load.json"
PLOTS = HERE / "plots"
ROOT = HERE.parents[1]
DETAILS = HERE.parent / "README.md"
SUMMARY = ROOT / "docs" / "benchmarks.md"
FRONT = ROOT / "README.md"

Results = dict[str, Any]
Cell = Callable[[Results, Results], str]  # values of a contender and of the floor


def middle(runs: Sequence[Results]) -> Results:
    """Return the median of each figure of several runs, and the values behind it.

    On a shared machine the spread of the runs shows how reliable a ratio is.
    """
    good = [run for run in runs if "error" not in run]
    if not good:
        return dict(runs[0])
    result: Results = _middle(good)
    return result | {
        "runs": {
            name: [_at(run, (*path, "p50_ms")) for run in good]
            for name, path in {
                "search": ("memory", "search"),
                "write": ("memory", "write"),
                "append": ("conversation", "append"),
                "read": ("conversation", "read"),
            }.items()
            if _at(result, path)
        }
    }


def _middle(values: Sequence[Any]) -> Any:
    if isinstance(values[0], dict):
        return {key: _middle([value[key] for value in values]) for key in values[0]}
    if isinstance(values[0], (int, float)):
        return statistics.median_low(values)
    return values[0]


def ratio(of: Results, to: Results) -> float:
    """Return the ratio of two medians."""
    return float(of["p50_ms"] / to["p50_ms"])


# Tables


def times(*path: str) -> Cell:
    """Format milliseconds and their multiple of the floor."""

    def cell(found: Results, floor: Results) -> str:
        figure, base = _at(found, path), _at(floor, path)
        if figure is None:
            return "–"
        text = number(figure["p50_ms"])
        if base is None or found is floor:
            return text
        return f"{text} ({number(ratio(figure, base))} ×)"

    return cell


def plain(*path: str, form: Callable[[Any], str] | None = None) -> Cell:
    """Format one figure alone."""

    def cell(found: Results, _: Results) -> str:
        figure = _at(found, path)
        return "–" if figure is None else (form or number)(figure)

    return cell


def _at(found: Results, path: Sequence[str]) -> Any:
    value: Any = found
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def number(value: float) -> str:
    """Format a number with three significant digits."""
    if value >= 100:
        return f"{value:,.0f}"
    digits = 2 if value < 10 else 1
    return f"{value:.{digits}f}"


def kilobytes(value: float) -> str:
    return f"{value / 1000:.1f} KB"


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def share(value: float) -> str:
    return f"{value:.2f}"


MEMORY: dict[str, Cell] = {
    "search top 10, ordinary user, p50 ms": times("memory", "search"),
    "… p99 ms": plain("memory", "search", "p99_ms"),
    "… recall": plain("memory", "search", "recall", form=share),
    "… rows returned": plain("memory", "search", "rows"),
    "… empty answers": plain("memory", "search", "empty", form=percent),
    "search top 10, large user, p50 ms": times("memory", "search_large"),
    "… p99 ms ": plain("memory", "search_large", "p99_ms"),
    "… recall ": plain("memory", "search_large", "recall", form=share),
    "… top 50, p50 ms": times("memory", "search_large_many"),
    "… top 50, recall": plain("memory", "search_large_many", "recall", form=share),
    "search with words, p50 ms": plain("memory", "search_words", "p50_ms"),
    "… large user, p50 ms": plain("memory", "search_words_large", "p50_ms"),
    "searches/s, 4 clients": plain("memory", "search_clients", "per_second"),
    "one durable write, p50 ms": times("memory", "write"),
    "writes/s in batches": plain("memory", "write_batch", "per_second"),
    "WAL per memory": plain("memory", "write", "wal_bytes", form=kilobytes),
    "… with page images": plain("memory", "write", "wal_bytes_with_images", form=kilobytes),
    "stored per memory": plain("memory", "bytes_per_memory", form=kilobytes),
}
CONVERSATION: dict[str, Cell] = {
    "append a turn, p50 ms": times("conversation", "append"),
    "… p99 ms": plain("conversation", "append", "p99_ms"),
    "read the last 50, p50 ms": times("conversation", "read"),
    "… p99 ms ": plain("conversation", "read", "p99_ms"),
    "messages/s, 4 clients, append + read": plain("conversation", "clients", "per_second"),
    "WAL per message": plain("conversation", "append", "wal_bytes", form=kilobytes),
    "… with page images": plain("conversation", "append", "wal_bytes_with_images", form=kilobytes),
}
IN_SHORT = {
    "memory": (
        "search top 10, ordinary user, p50 ms", "… recall", "search top 10, large user, p50 ms",
        "… top 50, recall",
        "one durable write, p50 ms", "stored per memory",
    ),
    "conversation": ("append a turn, p50 ms", "read the last 50, p50 ms", "WAL per message"),
}  # fmt: skip
FOUND: dict[str, Cell] = {
    "ordinary user, top 10: recall": plain("memory", "search", "recall", form=share),
    "… rows returned": plain("memory", "search", "rows"),
    "… empty answers": plain("memory", "search", "empty", form=percent),
    "large user, top 10: recall": plain("memory", "search_large", "recall", form=share),
    "… top 50: recall": plain("memory", "search_large_many", "recall", form=share),
    "… top 50: rows returned": plain("memory", "search_large_many", "rows"),
}


def tables(results: Results) -> str:
    """Return all measurements in Markdown."""
    parts = [
        table(results, "memory", MEMORY),
        table(results, "conversation", CONVERSATION),
        context_table(results),
        failures(results),
    ]
    return "\n\n".join(part for part in parts if part)


def table(results: Results, what: str, rows: dict[str, Cell]) -> str:
    """Return a table with a column for each contender and a row for each figure."""
    contenders = results["contenders"]
    shown = [found for found in contenders.values() if what in found]
    if not shown:
        return ""
    floor = contenders.get("floor", {})
    lines = ["| | " + " | ".join(found["title"] for found in shown) + " |"]
    lines.append("|---" * (len(shown) + 1) + "|")
    for label, cell in rows.items():
        cells = " | ".join(cell(found, floor) for found in shown)
        lines.append(f"| {label.strip()} | {cells} |")
    return "\n".join(lines)


def context_table(results: Results) -> str:
    """Return the table of the next prompt: compiled, or assembled from two libraries."""
    contenders = results["contenders"]
    rows = [
        (found["title"], found["context"]["p50_ms"], found["context"]["p99_ms"])
        for found in contenders.values()
        if "context" in found
    ]
    search = _at(contenders, ("mem0_memory", "memory", "search_words"))
    read = _at(contenders, ("agents_session", "conversation", "read"))
    if search and read:
        rows.append(("mem0 search + Agents session read", search["p50_ms"] + read["p50_ms"], None))
    if not rows:
        return ""
    base = _at(contenders, ("floor", "context", "p50_ms"))
    lines = ["| the next prompt | p50 ms | p99 ms |", "|---|---|---|"]
    for title, p50, p99 in rows:
        beside = f" ({number(p50 / base)} ×)" if base and p50 != base else ""
        lines.append(f"| {title} | {number(p50)}{beside} | {number(p99) if p99 else '–'} |")
    return "\n".join(lines)


def front(results: Results, among_many: Results) -> str:
    """Return one table of the main figures, for the README."""
    found, many = results["contenders"], among_many["contenders"]
    columns = {
        "pgrecall (SQL)": ("pgrecall_sql", "pgrecall_sql"),
        "LangChain": ("langchain_store", "langchain_history"),
        "LangGraph": ("langgraph_store", "langgraph_checkpointer"),
        "mem0": ("mem0_memory", None),
        "OpenAI Agents SDK": (None, "agents_session"),
    }
    rows: list[tuple[str, Results, int, tuple[str, ...], Callable[[float], str]]] = [
        ("search the ten nearest, ms", found, 0, ("memory", "search", "p50_ms"), number),
        ("… recall among 1,000 users", many, 0, ("memory", "search", "recall"), share),
        ("one durable memory, ms", found, 0, ("memory", "write", "p50_ms"), number),
        ("bytes stored per memory", found, 0, ("memory", "bytes_per_memory"), kilobytes),
        ("append a turn, ms", found, 1, ("conversation", "append", "p50_ms"), number),
        ("read the last 50 messages, ms", found, 1, ("conversation", "read", "p50_ms"), number),
        ("compile the next prompt, ms", found, 0, ("context", "p50_ms"), number),
    ]
    lines = [f"| median | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for label, contenders, part, path, form in rows:
        cells = []
        for names in columns.values():
            figure = _at(contenders, (names[part], *path)) if names[part] else None
            cells.append("–" if figure is None else form(figure))
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines)


def failures(results: Results) -> str:
    """Return a sentence for each contender that was not measured."""
    return "\n".join(
        f"- {name} was not measured: {found['error']}"
        for name, found in results["contenders"].items()
        if "error" in found
    )


def conditions(results: Results) -> str:
    """Return the conditions of the measurement."""
    scale, server = results["scale"], results["server"]
    settings = ", ".join(f"{name} {value}" for name, value in server["settings"].items())
    runs = _at(results, ("contenders", "floor", "runs")) or {}
    spread = ", ".join(f"{name} {' / '.join(map(number, p50))}" for name, p50 in runs.items())
    return (
        f"{figures.host(results)}; "
        f"{scale['users']:,} users × {scale['memories']} memories and one with "
        f"{scale['large']:,}, {scale['dimensions']:,} dimensions; {scale['messages']} messages in "
        f"the conversation; {results['seconds'] // 60} minutes in all. The floor ran before, "
        f"between and after the others; its medians were (ms): {spread}.\n\nServer: {settings}."
        f"\n\nVersions: {figures.versions(results['contenders'])}."
    )


def crowd(results: Results) -> str:
    """Return the recall of one user's memories among very many of others."""
    scale = results["scale"]
    total = scale["users"] * scale["memories"] + scale["large"]
    return (
        f"{results['measured_at'][:10]}: {total:,} memories, {scale['memories']} of each of "
        f"{scale['users']:,} users and {scale['large']:,} of the large one, "
        f"{scale['dimensions']:,} dimensions.\n\n{table(results, 'memory', FOUND)}"
    )


def caution(results: Results) -> str:
    """Return a warning when the floor's own runs differ much."""
    runs = _at(results, ("contenders", "floor", "runs")) or {}
    apart = max((max(p50) / min(p50) for p50 in runs.values()), default=1.0)
    if apart < 1.5:
        return ""
    return (
        f"**The machine was busy with other work**: the floor's own medians lie {apart:.1f} × "
        "apart, so smaller differences of times mean nothing here. Recall, bytes and WAL do not "
        "depend on that.\n\n"
    )


# Plots


def plot(title: str, figures: dict[str, float]) -> str:
    """Return horizontal bars on a logarithmic scale as SVG."""
    left, width, row = 250, 380, 24
    low = 10 ** math.floor(math.log10(min(figures.values())))
    high = 10 ** math.ceil(math.log10(max(figures.values())))
    scale = width / math.log10(high / low)
    height = 44 + row * len(figures) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 90}" height="{height}">',
        "<style>text { font: 13px sans-serif }</style>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="12" y="22" font-weight="bold">{escape(title)}</text>',
    ]
    for decade in range(round(math.log10(low)), round(math.log10(high)) + 1):
        x = left + scale * (decade - math.log10(low))
        parts.append(
            f'<line x1="{x:.0f}" y1="34" x2="{x:.0f}" y2="{height - 22}" stroke="#ddd"/>'
            f'<text x="{x:.0f}" y="{height - 8}" text-anchor="middle" fill="#666">'
            f"{10**decade:g}</text>"
        )
    for place, (name, value) in enumerate(figures.items()):
        y = 40 + row * place
        length = max(2.0, scale * math.log10(value / low))
        color = "#2f6f9f" if "pgrecall" in name else "#9a9a9a" if "floor" in name else "#c98a3a"
        parts.append(
            f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="{left}" y="{y + 2}" width="{length:.1f}" height="16" fill="{color}"/>'
            f'<text x="{left + length + 5:.0f}" y="{y + 14}">{number(value)}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


def plots(results: Results) -> dict[str, str]:
    """Return name → SVG."""
    wanted = {
        "search": ("Search top 10, ordinary user, p50 ms", ("memory", "search", "p50_ms")),
        "write": ("One durable write, p50 ms", ("memory", "write", "p50_ms")),
        "append": ("Append a turn, p50 ms", ("conversation", "append", "p50_ms")),
    }
    drawn = {}
    for name, (title, path) in wanted.items():
        figures = {
            found["title"]: value
            for found in results["contenders"].values()
            if (value := _at(found, path)) is not None
        }
        drawn[name] = plot(title, figures)
    return drawn


# Publishing


def published() -> dict[Path, str]:
    """Return every file that shows the results, with its new text."""
    read = {scale: json.loads(path.read_text(encoding="utf-8")) for scale, path in RESULTS.items()}
    results = read["default"]
    details = f"{caution(results)}{conditions(results)}\n\n{tables(results)}\n\n" + "\n".join(
        f"![{name}](peers/plots/{name}.svg)" for name in plots(results)
    )
    short = caution(results) + "\n\n".join(
        table(results, what, {label: rows[label] for label in IN_SHORT[what]})
        for what, rows in (("memory", MEMORY), ("conversation", CONVERSATION))
    )
    short += f"\n\n{context_table(results)}"
    files = {PLOTS / f"{name}.svg": svg for name, svg in plots(results).items()}
    for path, text in ((DETAILS, details), (SUMMARY, short)):
        document = replaced(path.read_text(encoding="utf-8"), "peers", text)
        files[path] = replaced(document, "crowd", crowd(read["crowd"]))
    if LOAD.exists():
        load = json.loads(LOAD.read_text(encoding="utf-8"))
        text = f"{figures.conditions(load)}\n\n{figures.table(load)}"
        files[DETAILS] = replaced(files[DETAILS], "load", text)
    readme = FRONT.read_text(encoding="utf-8")
    files[FRONT] = replaced(readme, "peers", front(results, read["crowd"]))
    return files


def replaced(document: str, name: str, text: str) -> str:
    """Replace the text between the marks of a name in a document."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(document):
        raise ValueError(f"{begin} … {end} is missing")
    return pattern.sub(lambda _: f"{begin}\n{text}\n{end}", document)


def publish() -> None:
    """Write all tables and plots."""
    PLOTS.mkdir(exist_ok=True)
    for path, text in published().items():
        path.write_text(text, encoding="utf-8")


def main() -> int:
    """Render the files, or with --check print those that differ from the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if anything is old")
    options = parser.parse_args()
    if not options.check:
        publish()
        return 0
    old = [
        str(path)
        for path, text in published().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    print("\n".join(f"{path} is not what the results say: run report.py" for path in old))
    return int(bool(old))


if __name__ == "__main__":
    sys.exit(main())
