"""The report of a worker: jobs done, failed and waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pgrecall.rows import WaitingJobs

__all__ = ["Outcome", "WorkerReport", "sum_waiting", "until"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one job.

    Attributes:
        kind: of the job.
        is_done: whether its effect is in the database.
        error: why it failed.
        is_deferred: whether it is due later. A job that is none of these lost its lease.
    """

    kind: str
    is_done: bool = False
    error: str | None = None
    is_deferred: bool = False


@dataclass(slots=True)
class WorkerReport:
    """Jobs that a worker has done so far, and jobs that waited when it ended.

    `str` makes a line of it.

    Attributes:
        done: finished jobs by kind.
        failed: jobs that failed, to be tried again or dead, by kind.
        lost: jobs whose result came too late; they are due again.
        last_error: why a job failed last, or None.
        deferred: jobs that are due later: an active conversation, a retry, a cost limit.
        deferred_until: when the first of these is due, or None.
        without_model: jobs, deferred ones included, that need a language model, which this worker
            does not have.
    """

    done: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    lost: int = 0
    last_error: str | None = None
    deferred: int = 0
    deferred_until: datetime | None = None
    without_model: int = 0

    @property
    def jobs(self) -> int:
        """How many jobs were finished."""
        return sum(self.done.values())

    def add(self, outcome: Outcome) -> None:
        """Count one more job."""
        if outcome.is_done:
            self.done[outcome.kind] = self.done.get(outcome.kind, 0) + 1
        elif outcome.error is not None:
            self.failed[outcome.kind] = self.failed.get(outcome.kind, 0) + 1
            self.last_error = outcome.error
        elif not outcome.is_deferred:
            self.lost += 1

    def count_waiting(self, waiting: Sequence[WaitingJobs], *, has_model: bool) -> None:
        """Set the counts of waiting jobs from `waiting_jobs`."""
        self.deferred, self.deferred_until, need_model = sum_waiting(waiting)
        self.without_model = 0 if has_model else need_model

    def __str__(self) -> str:
        done = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.done.items()))
        parts = [f"{_jobs(self.jobs)} done" + (f" ({done})" if done else "")]
        if self.failed:
            parts.append(f"{sum(self.failed.values()):,} failed: {self.last_error}")
        return "; ".join([*parts, *self.waiting])

    @property
    def waiting(self) -> list[str]:
        """The waiting jobs, in words."""
        parts = []
        if self.deferred_until is not None:
            parts.append(f"{_jobs(self.deferred)} deferred {until(self.deferred_until)}")
        if self.without_model:
            need = "needs" if self.without_model == 1 else "need"
            parts.append(
                f"{_jobs(self.without_model)} {need} a language model, which this worker lacks"
            )
        return parts


def sum_waiting(waiting: Sequence[WaitingJobs]) -> tuple[int, datetime | None, int]:
    """Return how many jobs are deferred, when the first is due, and how many need a model."""
    return (
        sum(jobs.deferred for jobs in waiting),
        min((jobs.deferred_until for jobs in waiting if jobs.deferred_until), default=None),
        sum(jobs.due + jobs.deferred for jobs in waiting if jobs.needs_model),
    )


def until(first: datetime) -> str:
    """Say until when jobs are deferred."""
    return f"until {first.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC or later"


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count:,} jobs"
