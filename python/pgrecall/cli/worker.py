"""`pgrecall worker`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from pgrecall import AgentMemory
from pgrecall._report import WorkerReport
from pgrecall.cli._endpoint import Endpoint, endpoint_options, opened_with_models
from pgrecall.cli._output import log_to_stderr, note, print_json, print_status, say
from pgrecall.cli._target import (
    described,
    json_option,
    named_dsn,
    no_embedding_option,
    target_option,
)

__all__ = ["worker_command"]


@click.command("worker")
@target_option
@click.option("--until-idle", is_flag=True, help="Stop when no job is due.")
@click.option(
    "--flush",
    is_flag=True,
    help="With --until-idle: extract at once, without waiting for the idle time.",
)
@click.option("--poll", type=click.FloatRange(0.01, 3600), default=1.0, show_default=True,
              help="Seconds between two checks for jobs.")  # fmt: skip
@endpoint_options(model_help="The chat model of extraction and summaries.", is_model_required=False)
@click.option("--kinds", metavar="K,K", help="Only these kinds of job, such as extract,embed.")
@click.option("--concurrency", metavar="N", type=click.IntRange(1, 256), default=1,
              show_default=True, help="How many jobs at the same time.")  # fmt: skip
@no_embedding_option
@json_option
def worker_command(
    dsn: str | None,
    until_idle: bool,
    flush: bool,
    poll: float,
    endpoint: Endpoint,
    kinds: str | None,
    concurrency: int,
    no_embedding: bool,
    as_json: bool,
) -> int:
    """Run the queued jobs until SIGTERM or Ctrl-C.

    Without --model it makes embeddings and verbatim memories, and skips jobs that need a model.
    """
    if flush and not until_idle:
        raise click.UsageError("--flush needs --until-idle")
    options: dict[str, Any] = {
        "llm": endpoint.chat_model(),
        "kinds": None if kinds is None else _kinds(kinds),
        "poll_seconds": poll,
        "concurrency": concurrency,
    }
    log_to_stderr("%(asctime)s %(message)s")
    with opened_with_models(dsn, endpoint, no_embedding=no_embedding) as memory:
        report = _work(memory, dsn, options, until_idle=until_idle, flush=flush)
    if as_json:
        print_json(
            {
                "jobs": report.jobs,
                "done": report.done,
                "failed": report.failed,
                "lost": report.lost,
                "last_error": report.last_error,
                "deferred": report.deferred,
                "deferred_until": report.deferred_until,
                "without_model": report.without_model,
            }
        )
    else:
        say(str(report))
        if report.without_model:
            note("--model names a language model")
        elif report.deferred and until_idle and not flush:
            note("--flush extracts at once, without waiting for the idle time")
    return 1 if until_idle and report.failed else 0


def _kinds(text: str) -> list[str]:
    kinds = [kind.strip() for kind in text.split(",") if kind.strip()]
    if not kinds:
        raise click.UsageError("--kinds names no kind of job")
    return kinds


def _work(
    memory: AgentMemory,
    dsn: str | None,
    options: Mapping[str, Any],
    *,
    until_idle: bool,
    flush: bool,
) -> WorkerReport:
    worker = memory.worker(**options)
    if not until_idle:
        memory.memories.embedder()  # its errors before the first job
        at_once = "one job at a time" if worker.concurrency == 1 else f"{worker.concurrency} jobs"

        def announce() -> None:
            note(
                f"worker {worker.name} on {described(named_dsn(dsn))}, {at_once}; "
                "SIGTERM or Ctrl-C stops it, the second one at once"
            )
            for waiting in worker.count_waiting().waiting:
                note(waiting)

        return worker.run(on_start=announce)
    with print_status("working") as update:
        return worker.run_until_idle(
            flush=flush,
            handle_signals=True,
            progress=lambda report: update(str(report)),
        )
