"""The clock of the database, by which the ids of encrypted rows are ordered.

A text is bound to its row before the row exists, so the driver makes the id. The database makes all
other ids, and lists go by them: the clock of this machine must not decide.
"""

from __future__ import annotations

import time
from uuid import UUID

from pgrecall._names import new_uuid
from pgrecall._process import lock, renewing

__all__ = ["DatabaseClock", "elapsed"]

_STEP = 60_000  # milliseconds by which a corrected clock may go back without leaving the order


def elapsed() -> float:
    """Return seconds that no change of this machine's time affects; on Linux also while it sleeps.

    `time.monotonic` stands still while Linux is suspended.
    """
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class DatabaseClock:
    """Makes ids by the database's time; within a process they ascend."""

    def __init__(self) -> None:
        self._lock = lock()
        self._offset: float | None = None  # milliseconds
        self._last = UUID(int=0)
        renewing(self)

    def _renew(self) -> None:
        """Forget the last id in a child: its successor is the parent's next one, too."""
        self._last = UUID(int=0)

    def set(self, milliseconds: int, asked: float, answered: float) -> None:
        """Set the clock by the time that the database told between two times of `elapsed`."""
        self._offset = milliseconds - (asked + answered) / 2 * 1000

    def new_id(self) -> UUID:
        """Return a new UUIDv7; of this machine's time before the clock is set."""
        with self._lock:
            now = None if self._offset is None else int(elapsed() * 1000 + self._offset)
            made = new_uuid(now)
            behind = (self._last.int >> 80) - (made.int >> 80)
            if 0 <= behind < _STEP and made <= self._last:
                made = UUID(int=self._last.int + 1)  # increments the 62 random bits
            self._last = made
            return made
