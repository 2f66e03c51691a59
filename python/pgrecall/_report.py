"""What a worker has done."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["WorkerReport"]


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
