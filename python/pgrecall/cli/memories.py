"""`pgrecall memories`: the list that a user can read and correct."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import click

from pgrecall._sql import UNSET, User
from pgrecall.cli._output import print_json, print_rows, print_table, say
from pgrecall.cli._target import (
    json_option,
    no_embedding_option,
    note_unknown_user,
    opened,
    target_option,
    user_option,
)
from pgrecall.errors import NotFoundError

__all__ = ["memories_command"]


def _decided(_: click.Context, option: click.Parameter, given: bool | None) -> bool:
    """Ask for one of two flags; click itself lets a flag without a default be left out."""
    if given is None:
        raise click.UsageError(f"say {' or '.join((*option.opts, *option.secondary_opts))}")
    return given


@click.group("memories")
def memories_command() -> None:
    """List, add and correct the memories of a user."""


@memories_command.command("list")
@user_option
@click.option("--kind", "kinds", multiple=True, help="Only of this kind; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag; may be repeated.")
@click.option("--all", "with_ended", is_flag=True, help="Include ended memories.")
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    help="Memories at this time (UTC).",
)
@click.option("-k", "--limit", type=click.IntRange(0, 100_000), default=100, show_default=True)
@target_option
@json_option
def list_command(
    user: User,
    kinds: tuple[str, ...],
    tags: tuple[str, ...],
    with_ended: bool,
    as_of: datetime | None,
    limit: int,
    dsn: str | None,
    as_json: bool,
) -> None:
    """List memories."""
    filter_: dict[str, object] = {}
    if kinds:
        filter_["kinds"] = list(kinds)
    if tags:
        filter_["tags_all"] = list(tags)
    if with_ended:
        filter_["include_ended"] = True
    at = UNSET if as_of is None else as_of.replace(tzinfo=UTC)
    with opened(dsn, no_embedding=True) as memory:
        found = memory.memories.list(user, filter=filter_, limit=limit, as_of=at)
        note_unknown_user(memory, user, found)
    if as_json:
        print_rows(found)
        return
    columns = ["observed", "kind", "slot", "tier", "content", "memory_id"]
    if with_ended:
        columns.insert(4, "ended")
    print_table(
        columns,
        (
            [
                f"{item.observed_at or item.created_at:%Y-%m-%d}",
                item.kind,
                item.slot,
                item.tier,
                *([item.end_reason] if with_ended else []),
                item.content,
                item.memory_id,
            ]
            for item in found
        ),
        wide="content",
    )


@memories_command.command("add")
@click.argument("content")
@user_option
@click.option("--kind", default="fact", show_default=True)
@click.option("--slot", help="The attribute it fills, such as employer.")
@click.option("--tag", "tags", multiple=True, help="May be repeated.")
@click.option("--importance", type=click.FloatRange(0, 1), default=0.5, show_default=True)
@no_embedding_option
@target_option
@json_option
def add_command(
    content: str,
    user: User,
    kind: str,
    slot: str | None,
    tags: tuple[str, ...],
    importance: float,
    no_embedding: bool,
    dsn: str | None,
    as_json: bool,
) -> None:
    """Remember a sentence."""
    with opened(dsn, no_embedding=no_embedding) as memory:
        memory.users.ensure(user)
        added = memory.remember(
            user, content, kind=kind, slot=slot, tags=tags, importance=importance
        )
    _say(as_json, {"memory_id": added.memory_id, "outcome": added.outcome})


@memories_command.command("edit")
@click.argument("memory_id", type=UUID)
@click.argument("content")
@user_option
@no_embedding_option
@target_option
@json_option
def edit_command(
    memory_id: UUID, content: str, user: User, no_embedding: bool, dsn: str | None, as_json: bool
) -> None:
    """Replace a memory's text; the old one stays in its history."""
    with opened(dsn, no_embedding=no_embedding) as memory:
        new_id = memory.memories.edit(user, memory_id, content)
    _say(as_json, {"memory_id": new_id, "outcome": "superseded", "supersedes": memory_id})


@memories_command.command("retract")
@click.argument("memory_id", type=UUID)
@user_option
@click.option("--reason", help="Why; it stays in the memory's history.")
@target_option
@json_option
def retract_command(
    memory_id: UUID, user: User, reason: str | None, dsn: str | None, as_json: bool
) -> None:
    """End a memory; it can be restored."""
    with opened(dsn, no_embedding=True) as memory:
        was_active = memory.memories.retract(user, memory_id, reason=reason)
    _say_changed(as_json, memory_id, "retracted", was_active)


@memories_command.command("restore")
@click.argument("memory_id", type=UUID)
@user_option
@target_option
@json_option
def restore_command(memory_id: UUID, user: User, dsn: str | None, as_json: bool) -> None:
    """Restore a memory that was merged or retracted, or has expired."""
    with opened(dsn, no_embedding=True) as memory:
        new_id = memory.memories.restore(user, memory_id)
    _say(as_json, {"memory_id": new_id, "outcome": "restored"})


@memories_command.command("review")
@user_option
@target_option
@json_option
def review_command(user: User, dsn: str | None, as_json: bool) -> None:
    """List memories that the user should confirm again."""
    with opened(dsn, no_embedding=True) as memory:
        due = memory.memories.to_review(user)
        note_unknown_user(memory, user, due)
    if as_json:
        print_rows(due)
        return
    print_table(
        ("due", "kind", "slot", "confidence", "content", "memory_id"),
        (
            [f"{item.review_at:%Y-%m-%d}", item.kind, item.slot, item.confidence, item.content,
             item.memory_id]
            for item in due
        ),
        wide="content",
    )  # fmt: skip


@memories_command.command("validate")
@click.argument("memory_id", type=UUID)
@user_option
@target_option
@json_option
def validate_command(memory_id: UUID, user: User, dsn: str | None, as_json: bool) -> None:
    """Confirm a memory."""
    with opened(dsn, no_embedding=True) as memory:
        was_active = memory.memories.validate(user, memory_id)
    _say_changed(as_json, memory_id, "validated", was_active)


@memories_command.command("achieve")
@click.argument("memory_id", type=UUID)
@user_option
@target_option
@json_option
def achieve_command(memory_id: UUID, user: User, dsn: str | None, as_json: bool) -> None:
    """Mark a goal as achieved; it stays, with low importance."""
    with opened(dsn, no_embedding=True) as memory:
        was_active = memory.memories.achieve(user, memory_id)
    _say_changed(as_json, memory_id, "achieved", was_active)


@memories_command.command("reinforce")
@click.argument("memory_id", type=UUID)
@click.option("--useful/--not-useful", default=None, callback=_decided, help="Whether it helped.")
@user_option
@target_option
@json_option
def reinforce_command(
    memory_id: UUID, useful: bool, user: User, dsn: str | None, as_json: bool
) -> None:
    """Say whether a memory helped."""
    with opened(dsn, no_embedding=True) as memory:
        was_active = memory.memories.reinforce(user, memory_id, useful=useful)
    _say_changed(as_json, memory_id, "reinforced" if useful else "weakened", was_active)


@memories_command.command("disputes")
@user_option
@target_option
@json_option
def disputes_command(user: User, dsn: str | None, as_json: bool) -> None:
    """List inferences that contradict the user's statements, for a decision."""
    with opened(dsn, no_embedding=True) as memory:
        disputes = memory.memories.disputes(user)
        note_unknown_user(memory, user, disputes)
    if as_json:
        print_rows(disputes)
        return
    print_table(
        ("said", "by", "content", "against", "memory_id"),
        (
            [f"{item.created_at:%Y-%m-%d}", item.source, item.content, item.disputed_content,
             item.memory_id]
            for item in disputes
        ),
        wide="content",
    )  # fmt: skip


@memories_command.command("resolve")
@click.argument("memory_id", type=UUID)
@click.option(
    "--accept/--refuse", default=None, callback=_decided, help="Accept the inference, or refuse it."
)
@user_option
@target_option
@json_option
def resolve_command(
    memory_id: UUID, accept: bool, user: User, dsn: str | None, as_json: bool
) -> None:
    """Decide a dispute, and print the memory that remains."""
    with opened(dsn, no_embedding=True) as memory:
        stands = memory.memories.resolve_dispute(user, memory_id, accept=accept)
    _say(as_json, {"memory_id": stands, "outcome": "accepted" if accept else "refused"})


@memories_command.command("history")
@click.argument("memory_id", type=UUID)
@user_option
@target_option
@json_option
def history_command(memory_id: UUID, user: User, dsn: str | None, as_json: bool) -> None:
    """Show what happened to a memory."""
    with opened(dsn, no_embedding=True) as memory:
        events = memory.memories.history(user, memory_id)
        if not events and memory.memories.get(user, memory_id) is None:
            raise NotFoundError(f"{user} has no memory {memory_id}")
    if as_json:
        print_rows(events)
        return
    print_table(
        ("at", "event", "by", "detail", "memory_id"),
        (
            (f"{event.at:%Y-%m-%d %H:%M:%S}", event.event, event.caller, event.detail,
             event.memory_id)
            for event in events
        ),
        wide="detail",
    )  # fmt: skip


def _say(as_json: bool, result: dict[str, object]) -> None:
    if as_json:
        print_json(result)
    else:
        say(f"{result['outcome']}: {result['memory_id']}")


def _say_changed(as_json: bool, memory_id: UUID, outcome: str, was_active: bool) -> None:
    _say(as_json, {"memory_id": memory_id, "outcome": outcome if was_active else "was not active"})
