"""`pgrecall import`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from pgrecall.cli._import import FactImporter, MessageImporter
from pgrecall.cli._output import out, print_json, progress_console
from pgrecall.cli._target import json_option, no_embedding_option, opened, target_option

__all__ = ["import_command"]

_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command("import")
@click.argument("file", required=False, type=_FILE)
@target_option
@click.option(
    "--extraction",
    type=click.Choice(["verbatim", "llm", "none"]),
    help="How memories are drawn from these sessions. Default: as the settings say.",
)
@click.option(
    "--model",
    default="gpt-4o-mini",
    show_default=True,
    help="The chat model that new sessions are opened with.",
)
@click.option("--facts", type=_FILE, metavar="FILE", help="Memories of another system, one a line.")
@no_embedding_option
@json_option
def import_command(
    file: Path | None,
    dsn: str | None,
    extraction: str | None,
    model: str,
    facts: Path | None,
    no_embedding: bool,
    as_json: bool,
) -> None:
    """Import FILE, one message a line; running it again goes on where it stopped.

    \b
    {"user": "ada", "session": "2024-03-01", "role": "user", "name": null,
     "content": "…", "created_at": "2024-03-01T10:00:00Z", "metadata": {}}

    Users and sessions are made as they appear. Of --facts a line has user and content, and as it
    has them kind, slot, tags, importance, confidence, provenance, observed_at, metadata.
    """  # noqa: D301
    if file is None and facts is None:
        raise click.UsageError("name a FILE, or --facts FILE")
    document = {}
    with opened(dsn, no_embedding=no_embedding) as memory:
        if file is not None:
            with _progress(file) as advance:
                imported = MessageImporter(
                    memory, file, model=model, extraction=extraction, advance=advance
                ).run()
            document = imported.as_json()
            del document["facts"]
        if facts is not None:
            with _progress(facts) as advance:
                counts = FactImporter(memory, facts, advance=advance).run()
            document["facts"] = {**counts.facts, "skipped": counts.skipped}
    if as_json:
        print_json(document)
        return
    if file is not None:
        out().print(
            f"{document['messages']:,} messages stored, {document['skipped']:,} were there, "
            f"of {document['users']:,} users in {document['sessions']:,} sessions"
        )
    if facts is not None:
        outcomes = ", ".join(f"{count:,} {name}" for name, count in document["facts"].items())
        out().print(f"facts: {outcomes}")


@contextmanager
def _progress(path: Path) -> Iterator[Callable[[int], object]]:
    """Show how much of a file is read, on a terminal."""
    console = progress_console()
    size = path.stat().st_size if path.is_file() else None
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(),
               TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(path.name, total=size)
        yield lambda count: progress.advance(task, count)
