"""`pgrecall tick`."""

from __future__ import annotations

from typing import Any

import click

from pgrecall.cli._output import note, print_json, print_table
from pgrecall.cli._target import json_option, opened, target_option
from pgrecall.rows import MaintenanceRun

__all__ = ["tick_command"]


@click.command("tick")
@target_option
@click.option("--seconds", type=click.FloatRange(min=0), default=600.0, show_default=True,
              help="Stop after this time; the rest runs the next time.")  # fmt: skip
@json_option
def tick_command(dsn: str | None, seconds: float, as_json: bool) -> int:
    """Run the maintenance that is due, once: for a scheduler other than pg_cron.

    Fails when a task has failed.
    """
    with opened(dsn, no_embedding=True) as memory:
        tasks = _by_task(memory.worker().maintain(seconds=seconds))
    if as_json:
        print_json({"tasks": tasks})
    elif not tasks:
        note("nothing is due")
    else:
        print_table(
            ("task", "done", "ms", "result"),
            ((task["task"], task["done"], task["ms"], _said(task)) for task in tasks),
            wide="result",
        )
    return 1 if any("error" in task for task in tasks) else 0


def _by_task(runs: list[MaintenanceRun]) -> list[dict[str, Any]]:
    """Sum up the runs of each task; what the last one said holds."""
    tasks: dict[str, dict[str, Any]] = {}
    for run in runs:
        task = tasks.setdefault(run.task, {"task": run.task, "done": 0, "ms": 0, "more": False})
        said = dict(run.result)
        task["done"] += said.pop("done", 0)
        task["ms"] += said.pop("ms", 0)
        task |= said
    return list(tasks.values())


def _said(task: dict[str, Any]) -> str:
    if "error" in task:
        return f"failed: {task['error']}"
    if "skipped" in task:
        return str(task["skipped"])
    return "more is due" if task["more"] else "done"
