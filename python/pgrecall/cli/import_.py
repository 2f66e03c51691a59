"""`pgrecall import`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from pgrecall.cli._import import FactImporter, MessageImporter
from pgrecall.cli._output import note, print_bar, print_json, say
from pgrecall.cli._target import json_option, no_embedding_option, opened, target_option

__all__ = ["import_command"]

_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command("import")
@click.argument("file", required=False, type=_FILE)
@click.option("--user", metavar="USER", help="The user of the messages, if FILE names none.")
@click.option(
    "--session",
    metavar="SESSION",
    help="The session, if FILE names none. Default: the name of FILE.",
)
@target_option
@click.option(
    "--extraction",
    type=click.Choice(["verbatim", "llm", "none"]),
    help="How memories are extracted from these sessions. Default: the settings.",
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
    user: str | None,
    session: str | None,
    dsn: str | None,
    extraction: str | None,
    model: str,
    facts: Path | None,
    no_embedding: bool,
    as_json: bool,
) -> None:
    """Import the messages of FILE; after an interruption run it again.

    FILE has one of these formats, which its beginning shows:

    \b
    - JSON lines that name users and sessions, as they appear:
      {"user": "ada", "session": "2024-03-01", "role": "user", "name": null,
       "content": "…", "created_at": "2024-03-01T10:00:00Z", "metadata": {}}
    - a JSON list or JSON lines of OpenAI messages, of --user in --session:
      {"role": "user", "content": "…"}
    - conversations.json of a ChatGPT export, of --user: what the user and the
      assistant said in the current branch of each conversation

    A line of --facts has user and content, and optionally kind, slot, tags, importance, confidence,
    provenance, observed_at and metadata.
    """  # noqa: D301
    if file is None and facts is None:
        raise click.UsageError("name a FILE, or --facts FILE")
    document = {}
    with opened(dsn, no_embedding=no_embedding) as memory:
        if file is not None:
            with _progress(file) as advance:
                imported = MessageImporter(
                    memory,
                    file,
                    model=model,
                    extraction=extraction,
                    user=user,
                    session=session,
                    advance=advance,
                ).run()
            document = imported.as_json()
            del document["facts"]
        if facts is not None:
            with _progress(facts) as advance:
                counts = FactImporter(memory, facts, advance=advance).run()
            document["facts"] = {**counts.facts, "skipped": counts.skipped}
        mode = extraction or memory.admin.info().extraction
    if as_json:
        print_json(document)
        return
    if file is not None:
        left_out = document["left_out"]
        say(
            f"{document['messages']:,} messages stored, {document['skipped']:,} were there, "
            f"of {document['users']:,} users in {document['sessions']:,} sessions"
            + (f"; {left_out:,} hidden, of tools or without text left out" if left_out else "")
        )
    if facts is not None:
        outcomes = ", ".join(f"{count:,} {name}" for name, count in document["facts"].items())
        say(f"facts: {outcomes}")
    target = " --dsn …" if dsn else ""
    learn = f" --flush --model {model}" if mode == "llm" else ""
    note(f"next: pgrecall worker --until-idle{learn}{target}")
    whose = "…" if user is None else shlex.quote(user)
    note(f"then: pgrecall search 'a question' --user {whose}{target}")


@contextmanager
def _progress(path: Path) -> Iterator[Callable[[int], object]]:
    """Show how much of a file is read, on a terminal."""
    size = path.stat().st_size if path.is_file() else None
    read = 0

    def advance(count: int) -> None:
        nonlocal read
        read += count
        progress(read, path.name)

    with print_bar(path.name, size, of_bytes=True) as progress:
        yield advance
