"""When a client last wrote for a user, for reads on a standby."""

from __future__ import annotations

import math
import time
from uuid import UUID

from pgrecall._process import lock

__all__ = ["Writes"]

_MAX_WRITERS = 10_000


class Writes:
    """The monotonic times of the last writes by a client; threads may share it."""

    def __init__(self) -> None:
        self._lock = lock()
        self._by_user: dict[UUID, float] = {}
        self._all_at = -math.inf

    def note(self, user_id: UUID | None) -> None:
        """Note a write of a user; None is one that may concern any."""
        with self._lock:
            now = time.monotonic()
            if user_id is None or len(self._by_user) >= _MAX_WRITERS:
                self._all_at = now
                self._by_user.clear()
            else:
                self._by_user[user_id] = now

    def last(self, user_id: UUID | None) -> float:
        """Return the time of the last write that a read for this user must see."""
        own = -math.inf if user_id is None else self._by_user.get(user_id, -math.inf)
        return max(own, self._all_at)

    def forget(self, until: float) -> None:
        """Forget the writes up to a time."""
        with self._lock:
            self._by_user = {user: at for user, at in self._by_user.items() if at > until}
