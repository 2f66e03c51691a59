"""What a worker has done."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Outcome", "WorkerReport"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one job.

    Attributes:
        kind: of the job.
        is_done: whether its effect is in the database.
        error: why it failed; without one, a job that is not done came too late.
    """

    kind: str
    is_done: bool = False
    error: str | None = None


@dataclass(slots=True)
class WorkerReport:
    """What a worker has done so far.

    Attributes:
        done: finished jobs by kind.
        failed: jobs that failed, to be tried again or dead, by kind.
        lost: jobs whose result came too late, or whose session moved on; they are due again.
        last_error: why a job failed last, or None.
    """

    done: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    lost: int = 0
    last_error: str | None = None

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
        else:
            self.lost += 1
