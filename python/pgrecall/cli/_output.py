"""Output of commands: results on stdout, everything else on stderr.

No other module of the commands writes there: a lint rule forbids it. Here every text passes
`escaped` or `escaped_line`, on a terminal as in a file or pipe, which may end on a terminal later.
`--json` and `export` lose nothing.
"""

from __future__ import annotations

import io
import json
import logging
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from typing import Any

import click
from rich.console import Console
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from pgrecall._plain import HIDDEN, escaped, escaped_json, escaped_line
from pgrecall.rows import as_json

__all__ = [
    "Lines",
    "confirm",
    "heading",
    "log_to_stderr",
    "note",
    "note_warnings",
    "print_bar",
    "print_dim",
    "print_error",
    "print_json",
    "print_piece",
    "print_rows",
    "print_sql",
    "print_status",
    "print_table",
    "print_text",
    "print_usage_error",
    "say",
]

_WIDTH = 160  # of tables that go into a file or a pipe


class Lines(tuple[str, ...]):
    """A cell of several lines."""

    __slots__ = ()


def _console(*, stderr: bool = False) -> Console:
    width = None if (sys.stderr if stderr else sys.stdout).isatty() else _WIDTH
    return Console(width=width, markup=False, highlight=False, emoji=False, stderr=stderr)


def _block(text: str) -> str:
    """Return a text whose further lines are indented, so that they pass for nothing else."""
    return escaped(text).replace("\n", "\n  ")


def say(text: str = "") -> None:
    """Print a result."""
    print(_block(text))


def print_text(text: str, *, indent: int = 2) -> None:
    """Print a text of several lines, each of them indented."""
    console = _console()
    if indent and console.is_terminal:  # which would continue a long line at its left edge
        console.print(Padding(Text(escaped(text)), (0, 0, 0, indent), expand=False))
    else:
        print(textwrap.indent(escaped(text), " " * indent))


def print_piece(piece: str = "\n") -> None:
    """Print a piece of a streamed text, or end its line."""
    print(escaped(piece), end="", flush=True)


def print_dim(text: str) -> None:
    """Print a line beside a conversation."""
    click.secho(escaped_line(text), dim=True)


def heading(text: str) -> None:
    """Print the heading of what follows."""
    _console().print(Text(f"\n━━ {escaped_line(text)}", style="bold"))


def note(text: str) -> None:
    """Say something beside the result."""
    print(_block(text), file=sys.stderr, flush=True)


def print_error(text: str) -> None:
    """Say what went wrong."""
    note(f"pgrecall: {text}")


def print_usage_error(error: click.UsageError) -> None:
    """Say which usage was wrong, as click does."""
    shown = io.StringIO()
    error.show(shown)
    usage, mark, message = shown.getvalue().rstrip("\n").partition("Error: ")
    print(f"{escaped(usage)}{mark}{_block(message)}", file=sys.stderr, flush=True)


def confirm(question: str, *, yes: bool, flag: str = "--yes") -> None:
    """Return when `yes`, or a person at a terminal, agrees.

    Raises:
        click.UsageError: nobody sees the question.
        click.Abort: the answer is no.
    """
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(f"without a terminal this needs {flag}: {question}")
    click.confirm(escaped_line(question), abort=True, err=True)


def print_json(document: Any, *, indent: int | None = 2) -> None:
    """Print one JSON document; rows of ours may stand anywhere in it."""
    is_unicode = "utf" in (sys.stdout.encoding or "utf").lower()
    text = json.dumps(document, ensure_ascii=not is_unicode, indent=indent, default=_plain)
    print(escaped_json(text))


def _plain(value: object) -> Any:
    return as_json(value) if is_dataclass(value) else str(value)


def print_rows(rows: Sequence[object]) -> None:
    """Print rows as a JSON list."""
    print_json(list(rows))


def print_sql(statements: Iterable[str]) -> None:
    """Print statements.

    Raises:
        click.ClickException: an escape would change what a statement names.
    """
    lines = list(statements)
    if any(HIDDEN.search(line) for line in lines):
        raise click.ClickException("a name has characters that do not print; --json has them")
    print("\n".join(lines))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    wide: str | None = None,
) -> None:
    """Print a table; the column `wide` takes what the others leave.

    A cell is one line, wrapped at need, unless it is of `Lines`.
    """
    table = Table(
        title=None if title is None else Text(escaped_line(title)),
        title_justify="left",
        header_style="bold",
        pad_edge=False,
    )
    for column in columns:
        number = column in ("score", "similarity", "lexical", "tokens", "count", "turn")
        table.add_column(
            Text(column),
            justify="right" if number else "left",
            ratio=1 if column == wide else None,
            overflow="fold",
            no_wrap=column in ("memory_id", "session_id", "date", "observed", "tokens") or number,
        )
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    _console().print(table)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Lines):
        return "\n".join(map(escaped_line, value))
    if isinstance(value, (list, tuple)):
        return escaped_line(", ".join(map(str, value)))
    return escaped_line(str(value))


@contextmanager
def print_status(text: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done; yield what replaces the text."""
    console = _console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status(Text(escaped_line(text))) as status:
        yield lambda said: status.update(Text(escaped_line(said)))


@contextmanager
def print_bar(
    text: str, total: float | None, *, of_bytes: bool = False
) -> Iterator[Callable[[float, str], None]]:
    """Show a bar on a terminal; yield what sets how much is done, and its text."""
    console = _console(stderr=True)
    parts = (
        (DownloadColumn(), TimeRemainingColumn())
        if of_bytes
        else (TextColumn("{task.percentage:.0f} %"), TimeElapsedColumn())
    )
    described = TextColumn("{task.description}", markup=False)
    bar = Progress(described, BarColumn(), *parts, console=console, disable=not console.is_terminal)
    with bar:
        task = bar.add_task(escaped_line(text), total=total)
        yield lambda done, said: bar.update(task, completed=done, description=escaped_line(said))


class _Formatter(logging.Formatter):
    """Makes lines of log records, and of the tracebacks in them."""

    def format(self, record: logging.LogRecord) -> str:
        return _block(super().format(record))


def log_to_stderr(form: str) -> None:
    """Print log records of every library from warnings on."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter(form))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


def note_warnings() -> None:
    """Print Python's warnings as notes."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        note(f"{category.__name__}: {message}")

    warnings.showwarning = show
