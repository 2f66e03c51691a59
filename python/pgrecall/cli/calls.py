"""`pgrecall calls`: the ledger of a user's calls of models."""

from __future__ import annotations

from uuid import UUID

import click

from pgrecall import AgentMemory
from pgrecall._json import dump
from pgrecall._messages import content_text
from pgrecall._names import id_or_name, session_uuid
from pgrecall._sql import UNSET, User
from pgrecall.calls import replay
from pgrecall.calls._rows import ModelCall
from pgrecall.cli._output import (
    note,
    print_json,
    print_rows,
    print_table,
    print_text,
    say,
)
from pgrecall.cli._target import (
    json_option,
    note_unknown_user,
    opened,
    target_option,
    user_option,
)
from pgrecall.errors import InvalidInputError, NotFoundError
from pgrecall.rows import as_json as plain

__all__ = ["calls_command"]


@click.group("calls")
def calls_command() -> None:
    """List and show recorded calls of models."""


@calls_command.command("list")
@user_option
@click.option(
    "--session", type=id_or_name, metavar="S", help="Only of this session: its id, or its name."
)
@click.option("-k", "--limit", type=click.IntRange(0, 100_000), default=20, show_default=True)
@target_option
@json_option
def list_command(
    user: User, session: User | None, limit: int, dsn: str | None, as_json: bool
) -> None:
    """List calls, newest first, without their bodies."""
    with opened(dsn, no_embedding=True) as memory:
        of = UNSET if session is None else session_uuid(memory.users.id(user), session)
        calls = memory.calls.list(user, session_id=of, limit=limit, include_bodies=False)
        note_unknown_user(memory, user, calls)
    if as_json:
        print_rows(calls)
        return
    print_table(
        ("at", "model", "status", "ms", "tokens", "error", "call_id"),
        (
            (f"{call.started_at:%Y-%m-%d %H:%M:%S}", call.model, call.status_code,
             call.latency_ms, _tokens(call), call.error, call.call_id)
            for call in calls
        ),
        wide="error",
    )  # fmt: skip


@calls_command.command("show")
@click.argument("call_id", type=UUID)
@user_option
@target_option
@json_option
def show_command(call_id: UUID, user: User, dsn: str | None, as_json: bool) -> None:
    """Show a call with its bodies."""
    with opened(dsn, no_embedding=True) as memory:
        call = _found(memory, user, call_id)
    row = plain(call)
    if as_json:
        print_json(row)
        return
    bodies = {"request": call.request_body, "response": call.response_body}
    for name, value in row.items():
        if value not in (None, {}) and name.removesuffix("_body") not in bodies:
            say(f"{name}: {value}")
    for name, body in bodies.items():
        text = getattr(call, name) if body is None else body.decode("utf-8", "backslashreplace")
        say()
        say(f"{name}:")
        print_text(text or "")


@calls_command.command("replay")
@click.argument("call_id", type=UUID)
@user_option
@target_option
@json_option
def replay_command(call_id: UUID, user: User, dsn: str | None, as_json: bool) -> None:
    """Reassemble the answer of a streamed call."""
    with opened(dsn, no_embedding=True) as memory:
        call = _found(memory, user, call_id)
        if not call.is_stream:
            raise InvalidInputError(
                f"call {call_id} was not streamed", hint="pgrecall calls show prints its answer."
            )
        again = replay(call.response_body or memory.calls.stream_events(user, call_id))
    answer = dump(again.answer)
    if as_json:
        print_json({"is_complete": again.is_complete, "error": again.error, "answer": answer})
        return
    for choice in (answer or {}).get("choices", ()):
        message = choice["message"]
        print_text(content_text(message) or message.get("refusal") or "", indent=0)
        for asked in message.get("tool_calls") or ():
            body = asked.get("function") or asked.get("custom") or {}
            say(f"{body.get('name')} {body.get('arguments', body.get('input'))}")
    for item in (answer or {}).get("output", ()):
        print_text(content_text(item) or str(item), indent=0)
    if not again.is_complete:
        note(f"(the stream ended early{f': {again.error}' if again.error else ''})")


def _found(memory: AgentMemory, user: User, call_id: UUID) -> ModelCall:
    call = memory.calls.get(user, call_id)
    if call is None:
        raise NotFoundError(f"{user} has no call {call_id}", hint="pgrecall calls list shows them.")
    return call


def _tokens(call: ModelCall) -> str | None:
    if call.prompt_tokens is None and call.completion_tokens is None:
        return None
    return f"{call.prompt_tokens or 0} + {call.completion_tokens or 0}"
