"""The queue of jobs, as a worker sees it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from support import Connection, call

Job = dict[str, Any]


def claim(conn: Connection, **more: Any) -> list[Job]:
    return call(conn, "claim_jobs", **{"p_worker": "test", "p_limit": 100} | more)


def held(job: Job) -> dict[str, Any]:
    """Return the arguments by which a holder names a job."""
    return {
        "p_user_id": job["user_id"],
        "p_job_id": job["job_id"],
        "p_lease_token": job["lease_token"],
    }


def now() -> datetime:
    return datetime.now(UTC)
