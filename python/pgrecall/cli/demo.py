"""`pgrecall demo`: the whole way, from messages to a context."""

from __future__ import annotations

import time
from importlib import resources
from pathlib import Path

import click

from pgrecall import AgentMemory
from pgrecall.cli._import import FactImporter, MessageImporter
from pgrecall.cli._output import note, out, print_json, print_table
from pgrecall.cli._target import described, named_dsn, opened, target_option
from pgrecall.cli.context import budget_line, print_explanation
from pgrecall.rows import SearchHit

__all__ = ["demo_command"]

_USER = "ada"
_SESSION = "editor"
_SEARCH = "where does she live now"
_QUESTION = "Which editor do I use these days, and how should you format the code?"

_BUDGET = 320  # tokens: small, so that something has to be left out


@click.command("demo")
@target_option
def demo_command(dsn: str | None) -> None:
    """Import example conversations, remember, search, and compile a context.

    It needs no key and no network. Running it again changes nothing.
    """
    started = time.monotonic()
    with opened(dsn) as memory:
        memory.memories.embed([_SEARCH])  # a missing model is said before anything is stored
        _heading(f"Importing conversations into {described(named_dsn(dsn))}")
        _import(memory)
        users = ("ada", "bruno", "mei")
        for user in users:
            _heading(f"What is remembered of {user}")
            print_table(
                ("observed", "kind", "slot", "tier", "content"),
                (
                    (f"{item.observed_at or item.created_at:%Y-%m-%d}", item.kind, item.slot,
                     item.tier, item.content)
                    for item in sorted(
                        memory.memories.list(user),
                        key=lambda item: item.observed_at or item.created_at,
                    )
                ),
                wide="content",
            )  # fmt: skip
        _heading(f'pgrecall search "{_SEARCH}" --user {_USER}')
        _print_hits(memory.search(_USER, _SEARCH, limit=5))
        _heading(
            f'pgrecall context "{_QUESTION}" --user {_USER} --session {_SESSION}'
            f" --memory-budget {_BUDGET} --explain"
        )
        chat = memory.session(user=_USER, session_id=_SESSION)
        print_explanation(chat.explain(_QUESTION, memory_budget=_BUDGET))
        compiled = chat.compile(_QUESTION, memory_budget=_BUDGET)
        out().print(budget_line(compiled))
        _heading("The messages, ready for chat.completions.create")
        print_json(compiled.messages)
    note(f"\ndone in {time.monotonic() - started:.1f} s; next: pgrecall --help")


def _import(memory: AgentMemory) -> None:
    with resources.as_file(resources.files("pgrecall") / "examples") as folder:
        messages = MessageImporter(
            memory,
            Path(folder) / "conversations.jsonl",
            model="gpt-4o-mini",
            extraction="verbatim",
        ).run()
        facts = FactImporter(memory, Path(folder) / "facts.jsonl").run()
    report = memory.worker().run_until_idle()
    out().print(
        f"{messages.messages} messages stored, {messages.skipped} were there; "
        f"{facts.facts.total()} facts stored, {facts.skipped} were there; "
        f"{report.jobs} jobs done"
    )
    if report.failed:
        raise click.ClickException(f"a job failed: {report.last_error}")


def _print_hits(hits: list[SearchHit]) -> None:
    print_table(
        ("score", "similarity", "lexical", "kind", "content"),
        ((hit.score, hit.similarity, hit.lexical, hit.kind, hit.content) for hit in hits),
        wide="content",
    )


def _heading(text: str) -> None:
    out().print(f"\n━━ {text}", style="bold")
