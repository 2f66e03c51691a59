"""`pgrecall context`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import click

from pgrecall import AgentMemory
from pgrecall._messages import content_text
from pgrecall._names import id_or_name
from pgrecall._sql import User
from pgrecall.cli._output import note, print_json, print_table, print_text, say
from pgrecall.cli._target import (
    check_user,
    json_option,
    no_embedding_option,
    opened,
    target_option,
    user_option,
)
from pgrecall.errors import NotFoundError
from pgrecall.rows import CompiledContext, ExplainedMemory

__all__ = ["budget_line", "context_command", "print_context", "print_explanation"]


@click.command("context")
@click.argument("query")
@user_option
@click.option(
    "--session", type=id_or_name, metavar="SESSION", help="Its name or id. Default: the newest."
)
@click.option(
    "--task", type=click.Choice(["continuation", "knowledge", "new_session", "tool_heavy"])
)
@click.option("--layout", type=click.Choice(["standard", "cache_stable"]))
@click.option(
    "--memory-budget",
    type=click.IntRange(0),
    metavar="N",
    help="Tokens of memories, at most.",
)
@click.option(
    "--explain", is_flag=True, help="Show every candidate, and why it was selected or not."
)
@no_embedding_option
@target_option
@json_option
def context_command(
    query: str,
    user: User,
    session: User | None,
    task: str | None,
    layout: str | None,
    memory_budget: int | None,
    explain: bool,
    no_embedding: bool,
    dsn: str | None,
    as_json: bool,
) -> None:
    """Show the messages that a model would get after the user's message QUERY.

    Nothing is written, and no memory counts as used.
    """
    chosen = {"task": task, "layout": layout, "memory_budget": memory_budget}
    options: dict[str, Any] = {key: value for key, value in chosen.items() if value is not None}
    with opened(dsn, no_embedding=no_embedding) as memory:
        check_user(memory, user)
        chat = memory.session(user=user, session_id=session or newest(memory, user))
        compiled = chat.compile(query, **options)
        rows = chat.explain(query, **options) if explain else []
        opened_session = chat.info
    if as_json:
        print_document(compiled, rows, explain=explain)
        return
    if session is None:
        note(f"session {opened_session.title or opened_session.session_id}")
    if explain:
        print_explanation(rows)
    print_context(compiled)


def newest(memory: AgentMemory, user: User) -> UUID:
    """Return the id of the user's newest session.

    Raises:
        NotFoundError: there is none.
    """
    sessions = memory.sessions.list(user, limit=1)
    if not sessions:
        raise NotFoundError(f"{user} has no session", hint="Import or open one first.")
    return sessions[0].session_id


def print_document(
    compiled: CompiledContext, rows: Sequence[ExplainedMemory], *, explain: bool
) -> None:
    """Print the whole as JSON."""
    document: dict[str, Any] = dict(compiled.raw)
    if explain:
        document["explain"] = rows
    print_json(document)


def print_explanation(rows: Sequence[ExplainedMemory]) -> None:
    """Print the candidates."""
    print_table(
        ("taken", "reason", "score", "similarity", "lexical", "tokens", "content"),
        (
            (row.taken, row.reason, row.score, row.similarity, row.lexical, row.token_count,
             row.content)
            for row in rows
        ),
        wide="content",
    )  # fmt: skip


def print_context(compiled: CompiledContext) -> None:
    """Print the messages as they would be sent, and the budget."""
    for message in compiled.messages:
        calls = message.get("tool_calls")
        say(f"── {message['role']}")
        if text := content_text(dict(message)):
            print_text(text)
        if calls:
            say(f"── calls {calls}")
    say(f"── task {compiled.task}; {budget_line(compiled)}")


def budget_line(compiled: CompiledContext) -> str:
    """Return the tokens of a context's parts, those that have any."""
    budget = compiled.budget
    order = ["window", "response", "tools", "system", "memory", "working", "summary", "history",
             "current", "overhead", "total"]  # fmt: skip
    parts = [f"{name} {budget[name]:,}" for name in order if budget.get(name)]
    return f"tokens: {', '.join(parts)}"
