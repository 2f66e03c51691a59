"""`pgrecall worker`."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

import click

from pgrecall import AgentMemory, ModelSettings
from pgrecall._info import checked_embedder, default_embedder
from pgrecall._report import WorkerReport
from pgrecall.cli._output import note, out, print_json, progress_console
from pgrecall.cli._target import (
    described,
    json_option,
    named_dsn,
    no_embedding_option,
    opened,
    target_option,
)
from pgrecall.embedding import Embedder

__all__ = ["worker_command"]


@click.command("worker")
@target_option
@click.option("--until-idle", is_flag=True, help="Stop when no job is due.")
@click.option("--poll", type=click.FloatRange(0.01, 3600), default=1.0, show_default=True,
              help="Seconds between looks for work.")  # fmt: skip
@click.option("--base-url", metavar="URL", help="The OpenAI-compatible endpoint.")
@click.option("--api-key-env", metavar="VAR", help="The variable that holds its key.")
@click.option("--model", metavar="M", help="The chat model of extraction and summaries.")
@click.option("--context-window", metavar="N", type=click.IntRange(512),
              help="Tokens of the model's prompt and answer together.")  # fmt: skip
@click.option("--timeout", metavar="S", type=click.FloatRange(1, 3600),
              help="Seconds of one request to the model.")  # fmt: skip
@click.option("--kinds", metavar="K,K", help="Only these kinds of job, such as extract,embed.")
@click.option("--concurrency", metavar="N", type=click.IntRange(1, 256), default=1,
              show_default=True, help="How many jobs at the same time.")  # fmt: skip
@no_embedding_option
@json_option
def worker_command(
    dsn: str | None,
    until_idle: bool,
    poll: float,
    base_url: str | None,
    api_key_env: str | None,
    model: str | None,
    context_window: int | None,
    timeout: float | None,
    kinds: str | None,
    concurrency: int,
    no_embedding: bool,
    as_json: bool,
) -> int:
    """Do the jobs that conversations leave behind, until SIGTERM or Ctrl-C.

    Without --model it makes embeddings and verbatim memories, and leaves jobs that need a model.
    """
    api_key = None
    if api_key_env is not None:
        api_key = os.environ.get(api_key_env)
        if not api_key:
            raise click.UsageError(f"the variable {api_key_env} is not set")
    llm = None if model is None else _model(model, base_url, api_key, context_window, timeout)
    options: dict[str, Any] = {
        "llm": llm,
        "kinds": None if kinds is None else _kinds(kinds),
        "poll_seconds": poll,
        "concurrency": concurrency,
    }
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    with opened(dsn, no_embedding=no_embedding or bool(base_url or api_key)) as memory:
        if (base_url or api_key) and not no_embedding:
            embedder = _embedder(memory, base_url, api_key)
            with opened(dsn, embedder=embedder) as other:
                report = _work(other, dsn, until_idle, options)
        else:
            report = _work(memory, dsn, until_idle, options)
    if as_json:
        print_json(
            {
                "jobs": report.jobs,
                "done": report.done,
                "failed": report.failed,
                "lost": report.lost,
                "last_error": report.last_error,
            }
        )
    else:
        out().print(_summary(report))
    return 1 if until_idle and report.failed else 0


def _embedder(memory: AgentMemory, base_url: str | None, api_key: str | None) -> Embedder:
    """Return the database's embedder at an endpoint of its own."""
    info = memory.info()
    return checked_embedder(default_embedder(info, base_url=base_url, api_key=api_key), info)


def _kinds(text: str) -> list[str]:
    kinds = [kind.strip() for kind in text.split(",") if kind.strip()]
    if not kinds:
        raise click.UsageError("--kinds names no kind of job")
    return kinds


def _model(
    name: str,
    base_url: str | None,
    api_key: str | None,
    context_window: int | None,
    timeout: float | None,
) -> ModelSettings:
    """Return the chat model, whose endpoint may stand in the variables that openai reads."""
    named = ("OPENAI_API_KEY", "OPENAI_BASE_URL")
    if not (base_url or api_key or any(os.environ.get(variable) for variable in named)):
        raise click.UsageError("a model needs --base-url, --api-key-env, or OPENAI_API_KEY")
    return ModelSettings(
        model=name,
        base_url=base_url or os.environ.get("OPENAI_BASE_URL"),
        api_key=api_key,
        context_window=context_window,
        timeout=timeout,
    )


def _work(
    memory: AgentMemory, dsn: str | None, until_idle: bool, options: Mapping[str, Any]
) -> WorkerReport:
    console = progress_console()
    worker = memory.worker(**options)
    if not until_idle:
        memory.embedder()  # its errors before the first job
        at_once = "one job at a time" if worker.concurrency == 1 else f"{worker.concurrency} jobs"
        note(
            f"worker {worker.name} on {described(named_dsn(dsn))}, {at_once}; "
            "SIGTERM or Ctrl-C stops it"
        )
        return worker.run()
    if not console.is_terminal:
        return worker.run_until_idle(handle_signals=True)
    with console.status("working") as status:
        return worker.run_until_idle(
            handle_signals=True, progress=lambda report: status.update(_summary(report))
        )


def _summary(report: WorkerReport) -> str:
    parts = [f"{count:,} {kind}" for kind, count in sorted(report.done.items())]
    text = f"{report.jobs:,} jobs done" + (f" ({', '.join(parts)})" if parts else "")
    if report.failed:
        text += f", {sum(report.failed.values()):,} failed: {report.last_error}"
    return text
