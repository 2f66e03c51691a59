"""`pgrecall status` and `pgrecall doctor`."""

from __future__ import annotations

import sys
from importlib import metadata
from typing import Any

import click

from pgrecall import AgentMemory
from pgrecall._limits import Limits
from pgrecall._report import sum_waiting, until
from pgrecall.cli._output import print_json, print_table, say
from pgrecall.cli._target import described, json_option, named_dsn, opened, target_option
from pgrecall.errors import NotAllowedError, PgRecallError
from pgrecall.rows import HealthCheck

__all__ = ["doctor_command", "status_command"]

# The counters that sessions and users carry; nothing of the history is read.
_NUMBERS = b"""
select jsonb_build_object(
    'server', current_setting('server_version'),
    'database', current_database(),
    'size_bytes', pg_database_size(current_database()),
    'users', (select count(*) from recall.users),
    'sessions', (select jsonb_build_object('total', coalesce(sum(s.count), 0))
                        || coalesce(jsonb_object_agg(s.status, s.count), '{}')
                   from (select status, count(*) from recall.sessions group by status) as s),
    'messages', (select coalesce(sum(turn_count), 0) from recall.sessions),
    'cost_microcents', (select coalesce(sum(total_cost_microcents), 0) from recall.sessions),
    'memories', (select jsonb_build_object('total', coalesce(sum(m.count), 0))
                        || coalesce(jsonb_object_agg(m.tier, m.count), '{}')
                   from (select tier, count(*) from recall.memory_store
                          where ended_at is null group by tier) as m),
    'jobs', (select jsonb_build_object('total', coalesce(sum(j.count), 0))
                    || coalesce(jsonb_object_agg(j.state, j.count), '{}')
               from (select state, count(*) from recall.jobs group by state) as j),
    'sessions_for_a_model', (select o_waiting from recall._long_sessions()),
    'sessions_without_summaries', (select o_unasked from recall._long_sessions()))
"""
_COUNT_SECONDS = 120.0

# Others see their own rows, or none: zeros for an answer.
_SEES_ALL = b"select not pg_catalog.row_security_active('recall.users')"


@click.command("status")
@target_option
@json_option
def status_command(dsn: str | None, as_json: bool) -> None:
    """Count stored rows and waiting jobs; for the owner of the schema."""
    with opened(dsn, limits=Limits(statement_timeout=_COUNT_SECONDS)) as memory:
        info = memory.admin.info()
        if not memory._core.write.query(_SEES_ALL)[0][0]:
            raise NotAllowedError(
                "only the owner of the schema recall, or a superuser, may count all rows",
                hint=f"pgrecall metrics shows part of it to a role with {info.role_prefix}_worker.",
            )
        numbers: dict[str, Any] = memory._core.write.query(_NUMBERS)[0][0]
        deferred, first, need_model = sum_waiting(memory.admin.waiting_jobs())
    numbers = {
        "version": info.version,
        "driver": metadata.version("pgrecall"),
        "embedding_model": info.embedding_model,
        "embedding_dimensions": info.embedding_dimensions,
        "extraction": info.extraction,
        **numbers,
        "deferred_jobs": deferred,
        "deferred_until": first,
        "jobs_that_need_a_model": need_model,
    }
    if as_json:
        print_json(numbers)
        return
    sessions, memories, jobs = numbers["sessions"], numbers["memories"], numbers["jobs"]
    rows = [
        ("schema", f"{info.version}, in {described(named_dsn(dsn))}"),
        ("server", f"PostgreSQL {numbers['server']}, {numbers['size_bytes'] / 2**20:,.0f} MB"),
        ("embedding", f"{info.embedding_model}, {info.embedding_dimensions} numbers"),
        ("extraction", info.extraction),
        ("users", f"{numbers['users']:,}"),
        ("sessions", _counts(sessions)),
        ("messages", f"{numbers['messages']:,}"),
        ("memories", _counts(memories)),
        ("jobs", _counts(jobs)),
        ("deferred", f"{deferred:,} {until(first)}" if first else "0"),
        ("for a model", f"{need_model:,} of these jobs need a language model"),
        ("long", _long(numbers["sessions_for_a_model"], numbers["sessions_without_summaries"])),
        ("cost", f"{numbers['cost_microcents'] / 1e8:,.4f} dollars"),
    ]
    for name, value in rows:
        say(f"{name:12}{value}")


def _long(waiting: int, unasked: int) -> str:
    said = f"{waiting:,} sessions wait for a model that summarizes them"
    return f"{said}; for {unasked:,} of them summaries is none" if unasked else said


def _counts(counts: dict[str, int]) -> str:
    parts = ", ".join(
        f"{count:,} {name}" for name, count in sorted(counts.items()) if name != "total"
    )
    return f"{counts['total']:,} ({parts})" if parts else "0"


@click.command("doctor")
@target_option
@json_option
def doctor_command(dsn: str | None, as_json: bool) -> int:
    """Check the health of the installation, with a remedy for each problem.

    Exits with 1 when a check fails.
    """
    with opened(dsn) as memory:
        checks = [*memory.admin.health(), _driver_check(memory), _embedder_check(memory)]
    worst = next(
        (level for level in ("fail", "warn") if any(c.status == level for c in checks)), "ok"
    )
    if as_json:
        print_json({"status": worst, "checks": checks})
    else:
        print_table(
            ("check", "status", "detail", "remedy"),
            ((check.name, check.status, check.detail, check.hint) for check in checks),
            wide="detail",
        )
    return 1 if worst == "fail" else 0


def _driver_check(memory: AgentMemory) -> HealthCheck:
    driver, schema = metadata.version("pgrecall"), memory.admin.version()
    if driver == schema:
        hint = None
    elif _order(driver) > _order(schema):
        hint = "pgrecall install upgrades the schema."
    else:
        hint = "Upgrade the driver: pip install --upgrade pgrecall"
    return HealthCheck(
        name="driver",
        status="ok" if hint is None else "warn",
        detail=f"pgrecall {driver} for Python, schema {schema}",
        hint=hint,
    )


def _order(version: str) -> tuple[list[int], int]:
    """Return the key that sorts 0.2.0.dev0 before 0.2.0, as the installer does."""
    release, _, development = version.partition(".dev")
    return [int(part) for part in release.split(".")], int(development or sys.maxsize)


def _embedder_check(memory: AgentMemory) -> HealthCheck:
    try:
        embedder = memory.memories.embedder()
        if embedder is not None:
            memory.memories.embed(["does it work?"])
    except Exception as error:
        is_ours = isinstance(error, PgRecallError)
        return HealthCheck(
            name="embedder",
            status="warn",
            detail=error.message if is_ours else str(error),  # type: ignore[attr-defined]
            hint=error.hint if is_ours else None,  # type: ignore[attr-defined]
        )
    detail = "none" if embedder is None else f"{embedder.model}, {embedder.dimensions} numbers"
    return HealthCheck(name="embedder", status="ok", detail=detail)
