"""Output of commands: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import is_dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pgrecall.rows import as_json

__all__ = [
    "CONTROL",
    "note",
    "out",
    "print_error",
    "print_json",
    "print_rows",
    "print_table",
    "progress_console",
]

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # nothing a model says moves the cursor
_WIDTH = 160  # of tables that go into a file or a pipe


def out() -> Console:
    """Return the console of results; texts of users are never read as markup."""
    width = None if sys.stdout.isatty() else _WIDTH
    return Console(width=width, markup=False, highlight=False, emoji=False, soft_wrap=False)


def progress_console() -> Console:
    """Return the console of progress and notes."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False)


def note(text: str) -> None:
    """Say something beside the result."""
    print(text, file=sys.stderr, flush=True)


def print_error(text: str) -> None:
    """Say what went wrong."""
    print(f"pgrecall: {text}", file=sys.stderr, flush=True)


def print_json(document: Any) -> None:
    """Print one JSON document; rows of ours may stand anywhere in it."""
    is_unicode = "utf" in (sys.stdout.encoding or "utf").lower()
    print(json.dumps(document, ensure_ascii=not is_unicode, indent=2, default=_plain))


def _plain(value: object) -> Any:
    return as_json(value) if is_dataclass(value) else str(value)


def print_rows(rows: Sequence[object]) -> None:
    """Print rows as a JSON list."""
    print_json(list(rows))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    wide: str | None = None,
) -> None:
    """Print a table; the column `wide` takes what the others leave."""
    table = Table(title=title, title_justify="left", header_style="bold", pad_edge=False)
    for column in columns:
        number = column in ("score", "similarity", "lexical", "tokens", "count", "turn")
        table.add_column(
            column,
            justify="right" if number else "left",
            ratio=1 if column == wide else None,
            overflow="fold",
            no_wrap=column in ("memory_id", "session_id", "date", "observed", "tokens") or number,
        )
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    out().print(table)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)
