"""`pgrecall search`."""

from __future__ import annotations

import click

from pgrecall.cli._output import print_rows, print_table
from pgrecall.cli._target import (
    json_option,
    no_embedding_option,
    opened,
    target_option,
    user_option,
)

__all__ = ["search_command"]


@click.command("search")
@click.argument("query")
@user_option
@click.option("-k", "--limit", type=click.IntRange(0, 1000), default=10, show_default=True)
@click.option("--messages", is_flag=True, help="Search what was said, not what is remembered.")
@click.option("--explain", is_flag=True, help="Show the terms of each score.")
@no_embedding_option
@target_option
@json_option
def search_command(
    query: str,
    user: str,
    limit: int,
    messages: bool,
    explain: bool,
    no_embedding: bool,
    dsn: str | None,
    as_json: bool,
) -> None:
    """Search a user's memories, or messages, best first."""
    with opened(dsn, no_embedding=no_embedding) as memory:
        hits = (
            memory.search_messages(user, query, limit=limit)
            if messages
            else memory.search(user, query, limit=limit)
        )
    if as_json:
        print_rows(hits)
        return
    terms = ["similarity", "lexical"]
    if messages:
        terms += ["own_part", "neighbor_part", "session_part", "memory_part"]
        columns = ["score", "date", "role", "content", "session_id", "turn"]
        fields = ["score", "created_at", "role", "content", "session_id", "turn_index"]
    else:
        terms += ["freshness", "frequency", "authority"]
        columns = ["score", "kind", "tier", "content", "memory_id"]
        fields = columns.copy()
    if explain:
        columns[1:1] = fields[1:1] = terms
    print_table(
        columns,
        (
            [f"{value:%Y-%m-%d}" if name == "created_at" else value for name, value in pairs]
            for hit in hits
            for pairs in [[(name, getattr(hit, name)) for name in fields]]
        ),
        wide="content",
    )
