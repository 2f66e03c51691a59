"""`pgrecall embeddings`: change the embedding model while searches go on."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import click

from pgrecall import AgentMemory
from pgrecall._setup import known_dimensions
from pgrecall.cli._output import confirm, note, print_bar, print_rows, say
from pgrecall.cli._target import json_option, opened, target_option
from pgrecall.rows import EmbeddingEstimate, EmbeddingMigration

__all__ = ["embeddings_command"]

_POLL = 1.0  # seconds between two looks at the progress


@click.group("embeddings")
def embeddings_command() -> None:
    """Change the embedding model while searches go on."""


@embeddings_command.command("migrate")
@target_option
@click.option("--to", "model", metavar="MODEL", required=True, help="The new model.")
@click.option("--dimensions", metavar="N", type=click.IntRange(1, 16000),
              help="Dimensions of its vectors, if they are not known.")  # fmt: skip
@click.option("--keep-hours", metavar="H", type=click.FloatRange(0), default=24.0,
              show_default=True, help="Keep the old vectors so long after the switch.")  # fmt: skip
@click.option("--estimate", "is_estimate", is_flag=True, help="Print the estimate, start nothing.")
@click.option("--yes", is_flag=True, help="Do not ask. Needed without a terminal.")
@click.option("--work", is_flag=True, help="Make the vectors in this process, too.")
@click.option("--no-wait", is_flag=True, help="Start, and do not wait for the switch.")
@json_option
def migrate(
    dsn: str | None,
    model: str,
    dimensions: int | None,
    keep_hours: float,
    is_estimate: bool,
    yes: bool,
    work: bool,
    no_wait: bool,
    as_json: bool,
) -> None:
    """Embed all texts by another model, then switch to it.

    Workers make the new vectors beside the old ones. Ctrl-C ends this command, not the change.
    """
    try:
        size = 0 if is_estimate else dimensions or known_dimensions(model)
    except ValueError as error:
        raise click.BadParameter(f"{error}, or --dimensions", param_hint="--to") from None
    with opened(dsn) as memory:
        estimate = memory.admin.estimate_embedding_migration(model)
        if is_estimate and as_json:
            print_rows([estimate])
            return
        if not as_json:
            say(_estimated(estimate, model))
        if is_estimate:
            return
        confirm("Start? The old vectors are deleted after the switch.", yes=yes)
        memory.admin.start_embedding_migration(
            model,
            dimensions=size,
            keep=timedelta(hours=keep_hours),
        )
        if not no_wait:
            _wait(memory, work=work)
        if as_json:
            print_rows([memory.admin.embedding_migration()])


@embeddings_command.command("status")
@target_option
@json_option
def status(dsn: str | None, as_json: bool) -> None:
    """Print the embedding model, and the progress of a change."""
    with opened(dsn, no_embedding=True) as memory:
        change = memory.admin.embedding_migration()
        info = memory.admin.info()
    if as_json:
        print_rows([] if change is None else [change])
        return
    say(f"embedding model {info.embedding_model}, {info.embedding_dimensions} dimensions")
    if change is not None:
        say(_said(change))


@embeddings_command.command("pause")
@target_option
def pause(dsn: str | None) -> None:
    """Pause the change; jobs in progress finish, and vectors stay."""
    with opened(dsn, no_embedding=True) as memory:
        memory.admin.pause_embedding_migration()
    note("paused; pgrecall embeddings resume goes on")


@embeddings_command.command("resume")
@target_option
def resume(dsn: str | None) -> None:
    """Resume a paused change."""
    with opened(dsn, no_embedding=True) as memory:
        memory.admin.resume_embedding_migration()
    note("running")


@embeddings_command.command("cancel")
@click.option("--yes", is_flag=True, help="Do not ask. Needed without a terminal.")
@target_option
def cancel(yes: bool, dsn: str | None) -> None:
    """Cancel the change before its switch; maintenance deletes the new vectors."""
    confirm("Cancel the change, and delete the new vectors?", yes=yes)
    with opened(dsn, no_embedding=True) as memory:
        memory.admin.cancel_embedding_migration()
    note("cancelled; maintenance deletes the new vectors")


def _wait(memory: AgentMemory, *, work: bool) -> None:
    """Show the progress until the switch; with `work` make the vectors here."""
    with print_bar("embedding", 1.0) as progress:
        worker = memory.worker(kinds=["embed"]) if work else None
        while True:
            change = memory.admin.embedding_migration()
            if change is None or change.state not in ("running", "paused"):
                progress(1.0, "embedding")
                break
            progress(change.share, change.state)
            if worker is None or change.state == "paused":
                time.sleep(_POLL)
                continue
            memory.admin.advance_embedding_migration()
            worker.run_until_idle()
    if change is not None:
        say(_said(change))


def _estimated(estimate: EmbeddingEstimate, model: str) -> str:
    cost = estimate.cost_microcents
    priced = f"{model} has no price here" if cost is None else f"{cost / 1e8:.2f} dollars"
    return (
        f"{estimate.texts} texts ({estimate.memories} memories, {estimate.ended_memories} ended "
        f"ones, {estimate.messages} messages, {estimate.summaries} summaries), about "
        f"{estimate.tokens} tokens: {priced}"
    )


def _said(change: EmbeddingMigration) -> str:
    what = f"{change.from_model} to {change.to_model} ({change.to_dimensions} dimensions)"
    if change.state == "switched" and change.switched_at is not None:
        until = change.switched_at + change.keep_old
        if until <= datetime.now(UTC):
            return f"{what}: switched; maintenance deletes the old vectors"
        return f"{what}: switched; the old vectors are kept until {until:%Y-%m-%d %H:%M %Z}"
    if change.state == "cancelling":
        return f"{what}: cancelled; maintenance deletes the new vectors"
    if change.state in ("running", "paused"):
        return (
            f"{what}: {change.state}, {change.share:.0%} of {change.texts} texts, "
            f"{change.jobs_ready} jobs ready, {change.jobs_dead} failed for good"
        )
    return f"{what}: {change.state}"
