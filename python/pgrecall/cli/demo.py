"""`pgrecall demo`: the whole way, from messages to a context."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path

import click

from pgrecall import AgentMemory
from pgrecall.cli._import import FactImporter, MessageImporter
from pgrecall.cli._output import heading, note, print_json, print_table, say
from pgrecall.cli._target import described, named_dsn, opened, target_option
from pgrecall.cli.context import budget_line, print_explanation
from pgrecall.cli.inspect import check_web, serve_inspector
from pgrecall.rows import SearchHit

__all__ = ["demo_command", "fill"]

_USER = "ada"
_SESSION = "editor"
_SEARCH = "where does she live now"
_QUESTION = "Which editor do I use these days, and how should you format the code?"

_ANSWERED = "which editor"  # a session whose call the inspector shows
_ANSWER = "You use Vim. I format Python with four spaces, not tabs."

_BUDGET = 320  # tokens: small, so that something has to be left out


@click.command("demo")
@target_option
@click.option("--open", "open_inspector", is_flag=True,
              help="End with pgrecall inspect on these data, in a browser.")  # fmt: skip
def demo_command(dsn: str | None, open_inspector: bool) -> None:
    """Import example conversations, remember, search, and compile a context.

    It needs no key and no network. Running it again changes nothing.
    """
    if open_inspector:
        check_web()  # a missing package is said before anything is stored
    started = time.monotonic()
    with opened(dsn) as memory:
        memory.memories.embed([_SEARCH])  # a missing model is said before anything is stored
        heading(f"Importing conversations into {described(named_dsn(dsn))}")
        fill(memory)
        users = ("ada", "bruno", "mei")
        for user in users:
            heading(f"What is remembered of {user}")
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
        heading(f'pgrecall search "{_SEARCH}" --user {_USER}')
        _print_hits(memory.search(_USER, _SEARCH, limit=5))
        heading(
            f'pgrecall context "{_QUESTION}" --user {_USER} --session {_SESSION}'
            f" --memory-budget {_BUDGET} --explain"
        )
        chat = memory.session(user=_USER, session_id=_SESSION)
        print_explanation(chat.explain(_QUESTION, memory_budget=_BUDGET))
        compiled = chat.compile(_QUESTION, memory_budget=_BUDGET)
        say(budget_line(compiled))
        heading("The messages, ready for chat.completions.create")
        print_json(compiled.messages)
    note("")
    note(f"done in {time.monotonic() - started:.1f} s; next: pgrecall inspect")
    if open_inspector:
        serve_inspector(dsn, write=True, open_browser=True)


def fill(memory: AgentMemory) -> None:
    """Store the example data: conversations, facts, and an answered question."""
    _import(memory)
    _answer(memory)


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
    say(
        f"{messages.messages} messages stored, {messages.skipped} were there; "
        f"{facts.facts.total()} facts stored, {facts.skipped} were there; "
        f"{report.jobs} jobs done"
    )
    if report.failed:
        raise click.ClickException(f"a job failed: {report.last_error}")


def _answer(memory: AgentMemory) -> None:
    """Store an answered question and its call, as an application does, so that both can be seen.

    The answer is an example: no model is asked. It names the wrong editor, and the inspector shows
    why: the context left out the memory that names the right one.
    """
    with memory.session(
        user=_USER, model="gpt-4o-mini", session_id=_ANSWERED, extraction="none"
    ) as chat:
        if chat.info.turn_count:
            return
        compiled = chat.compile(_QUESTION, memory_budget=_BUDGET)
        started = datetime.now(UTC)
        answer = {"role": "assistant", "content": _ANSWER}
        usage = {"prompt_tokens": compiled.budget["total"], "completion_tokens": 16,
                 "prompt_tokens_details": {"cached_tokens": 0}}  # fmt: skip
        call_id = memory.calls.record(
            _USER,
            model="gpt-4o-mini",
            provider="example",
            request={"model": "gpt-4o-mini", "messages": compiled.messages},
            response={"choices": [{"index": 0, "message": answer}], "usage": usage},
            started_at=started,
            completed_at=started,
            session_id=chat.session_id,
            metadata={"example": True},
        )
        chat.append(
            [
                {"role": "user", "content": _QUESTION},
                {**answer, "model_call_id": str(call_id)},
            ]
        )
        memory.memories.record_access(
            _USER,
            [used.memory_id for used in compiled.memories],
            [used.relevance or 0.0 for used in compiled.memories],
        )
    memory.worker().run_until_idle()


def _print_hits(hits: list[SearchHit]) -> None:
    print_table(
        ("score", "similarity", "lexical", "kind", "content"),
        ((hit.score, hit.similarity, hit.lexical, hit.kind, hit.content) for hit in hits),
        wide="content",
    )
