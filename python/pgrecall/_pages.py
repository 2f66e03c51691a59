"""Rows of `AgentMemory.pages`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgrecall._sql import JSON

__all__ = ["JobPhase", "QueuedJob", "UserRow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedJob:
    """A job in the queue: due, deferred, running or dead, with the error of its last attempt."""

    job_id: UUID
    user_id: UUID
    session_id: UUID | None = None
    kind: str
    mode: str | None = None
    state: str
    attempts: int
    max_attempts: int
    run_at: datetime
    lease_until: datetime | None = None
    worker: str | None = None
    last_error: str | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPhase:
    """A span of a job: what a phase took, in milliseconds, tokens and micro-cents."""

    phase_id: UUID
    job_id: UUID
    session_id: UUID | None = None
    kind: str
    phase: str
    created_at: datetime
    duration_ms: float
    items: int
    prompt_tokens: int
    completion_tokens: int
    cost_microcents: int | None = None
    model_id: str | None = None
    error: str | None = None
    from_turn: int | None = None
    to_turn: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRow:
    """A user, with the number of active memories; `external_id` is the application's name."""

    user_id: UUID
    external_id: str | None = None
    active_memory_count: int
    is_sealed: bool
    overrides: JSON
    metadata: JSON
    created_at: datetime
