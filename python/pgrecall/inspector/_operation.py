"""Overview, jobs, health and metrics."""

from __future__ import annotations

from collections import Counter
from typing import Any

from starlette.requests import Request

from pgrecall._sql import UNSET
from pgrecall.inspector._source import Row
from pgrecall.inspector._view import (
    PAGE_SIZE,
    Inspector,
    Page,
    Pages,
    next_link,
    optional_uuid,
    text_of,
    uuid_of,
)

__all__ = ["PAGES"]

PAGES = Pages()

_DAYS = 30


@PAGES.at("/")
async def overview(inspector: Inspector, request: Request) -> Page:  # noqa: ARG001
    """Show what there is, what runs, what it costs, and what is wrong."""
    source = inspector.source
    parts = await inspector.parts(
        health=source.rows("health"),
        metrics=source.rows("metrics"),
        waiting=source.rows("waiting_jobs"),
        dead=source.rows("list_jobs", state="dead", limit=5),
        spending=source.rows("list_total_spending", days=_DAYS),
        models=source.rows("list_models"),
    )
    checks = parts["health"]["rows"] or []
    metrics = parts.pop("metrics")
    return Page(
        "overview.html",
        {
            "version": await source.value("version"),
            "checks": dict(Counter(check["status"] for check in checks)),
            "problems": [check for check in checks if check["status"] != "ok"],
            "gauges": {"rows": _gauges(metrics["rows"]), "error": metrics["error"]},
            **parts,
        },
        title="Overview",
    )


def _gauges(metrics: list[Row] | None) -> dict[str, Any]:
    """Return the gauges that the overview shows, by label."""
    found: dict[str, dict[str, float]] = {}
    wanted = {
        "pgrecall_memories_estimate": ("memories by tier", "tier"),
        "pgrecall_memory_kinds_estimate": ("memories by kind", "kind"),
        "pgrecall_sessions_estimate": ("sessions by status", "status"),
        "pgrecall_memory_events_last_day": ("events of memories, last day", "event"),
    }
    for row in metrics or ():
        if row["name"] in wanted:
            title, label = wanted[row["name"]]
            found.setdefault(title, {})[row["labels"][label]] = row["value"]
        elif row["name"] == "pgrecall_table_rows_estimate" and row["labels"]["table"] == "users":
            found.setdefault("users", {})["users"] = row["value"]
    return {
        title: dict(sorted(values.items(), key=lambda item: -item[1]))
        for title, values in found.items()
    }


@PAGES.at("/jobs")
async def jobs(inspector: Inspector, request: Request) -> Page:
    """Show the queue: due, deferred, running and dead jobs."""
    state = text_of(request.query_params, "state")
    parts = await inspector.parts(
        jobs=inspector.source.rows(
            "list_jobs",
            state=state or UNSET,
            limit=PAGE_SIZE,
            before_id=optional_uuid(request.query_params, "before"),
        ),
        waiting=inspector.source.rows("waiting_jobs"),
        maintenance=inspector.source.rows("list_maintenance"),
    )
    return Page(
        "jobs.html",
        {
            "state": state,
            **parts,
            "next": next_link(request, parts["jobs"]["rows"], PAGE_SIZE, before="job_id"),
        },
        title="Jobs",
    )


@PAGES.at("/users/{user}/jobs/{job}")
async def job(inspector: Inspector, request: Request) -> Page:
    """Show one job with its parameters, and the spans that it has left."""
    owner = await inspector.user(request)
    of_job = {
        "user_id": owner["user_id"],
        "job_id": uuid_of(request.path_params["job"], "job"),
    }
    parts = await inspector.parts(
        job=inspector.source.rows("get_job", **of_job),
        phases=inspector.source.rows("list_job_phases", **of_job),
    )
    return Page("job.html", {"user": owner, **of_job, **parts}, title="Job")


@PAGES.at("/health")
async def health(inspector: Inspector, request: Request) -> Page:  # noqa: ARG001
    """Show the health checks with their remedies, and the metrics."""
    parts = await inspector.parts(
        health=inspector.source.rows("health"), metrics=inspector.source.rows("metrics")
    )
    return Page("health.html", parts, title="Health")
