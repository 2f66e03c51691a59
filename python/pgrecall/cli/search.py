"""`pgrecall search`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import click

from pgrecall._sql import User
from pgrecall.cli._output import Lines, print_rows, print_table
from pgrecall.cli._target import (
    json_option,
    no_embedding_option,
    note_unknown_user,
    opened,
    target_option,
    user_option,
)
from pgrecall.rows import MessageHit, SearchHit, SessionHit

__all__ = ["search_command"]


@click.command("search")
@click.argument("query")
@user_option
@click.option("-k", "--limit", type=click.IntRange(0, 1000), default=10, show_default=True)
@click.option("--messages", is_flag=True, help="Search messages instead of memories.")
@click.option("--sessions", is_flag=True, help="Search conversations, by title, summary and turns.")
@click.option("--explain", is_flag=True, help="Show the terms of each score.")
@no_embedding_option
@target_option
@json_option
def search_command(
    query: str,
    user: User,
    limit: int,
    messages: bool,
    sessions: bool,
    explain: bool,
    no_embedding: bool,
    dsn: str | None,
    as_json: bool,
) -> None:
    """Search a user's memories, messages or sessions, best first."""
    if messages and sessions:
        raise click.UsageError("--messages and --sessions exclude each other")
    hits: Sequence[SearchHit | MessageHit | SessionHit]
    with opened(dsn, no_embedding=no_embedding) as memory:
        if messages:
            hits = memory.sessions.search_messages(user, query, limit=limit)
        elif sessions:
            hits = memory.sessions.search(user, query, limit=limit)
        else:
            hits = memory.search(user, query, limit=limit)
        note_unknown_user(memory, user, hits)
    if as_json:
        print_rows(hits)
        return
    terms = ["similarity", "lexical"]
    if messages:
        terms += ["own_part", "neighbor_part", "session_part", "memory_part", "speaker_part",
                  "feedback_part"]  # fmt: skip
        columns = ["score", "date", "role", "content", "session_id", "turn"]
        fields = ["score", "created_at", "role", "content", "session_id", "turn_index"]
    elif sessions:
        terms += ["topic_part", "turn_part"]
        columns = ["score", "active", "title", "summary", "content", "session_id"]
        fields = ["score", "active_at", "title", "summary", "content", "session_id"]
    else:
        terms += ["freshness", "frequency", "authority"]
        columns = ["score", "kind", "tier", "content", "memory_id"]
        fields = columns
    shown = terms if explain else []
    print_table(columns, ([_cell(hit, name, shown) for name in fields] for hit in hits),
                wide="content")  # fmt: skip


def _cell(hit: object, name: str, terms: Sequence[str]) -> object:
    """Return what a column shows; the terms stand below the content: no line holds so many."""
    value = getattr(hit, name)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d}"
    if name == "content" and terms:
        values = [(term, getattr(hit, term)) for term in terms]
        said = ", ".join(f"{term} {one:.3f}" for term, one in values if one is not None)
        return Lines((value or "", said))
    return value
