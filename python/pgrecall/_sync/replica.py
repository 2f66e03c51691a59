# Made from _async/replica.py by `make generate`; change that file, not this.
"""Reads on a standby that is recent enough, and else on the primary."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg

from pgrecall._limits import Limits
from pgrecall._runtime import SyncHome
from pgrecall._sql import Call
from pgrecall._sync.transport import Answer, Target, Transport
from pgrecall.errors import CallTimeoutError, is_lost

__all__ = ["Primary", "Replica"]

logger = logging.getLogger("pgrecall")

_CONNECT_SECONDS = 2.0  # a standby takes a connection by then, or the primary answers
_CHECKS = 4  # within the permitted lag

_CHECK_SECONDS = 1.0  # between checks, at most

_AWAY_SECONDS = 5.0  # until a standby that did not answer is asked again
_MAX_WRITERS = 10_000

# The insert position, since a commit that does not wait for the disk is ahead of the written one.
_WRITTEN = Call("", b"select pg_catalog.pg_current_wal_insert_lsn() - '0/0'", {})
_REPLAYED = Call("", b"""
select case when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_replay_lsn()
            else pg_catalog.pg_current_wal_insert_lsn() end - '0/0'
""", {})  # fmt: skip


class Primary(Transport):
    """The transport of a primary that has standbys: it remembers who wrote when."""

    def __init__(self, target: Target, limits: Limits, home: SyncHome | None = None) -> None:
        super().__init__(target, limits, home)
        self._writes: dict[UUID | None, float] = {}
        self._all_written_at = -math.inf

    def send(self, call: Call, repeatable: bool, timeout: float | None = None) -> Answer:
        """Send a call; it counts as a write of its user."""
        try:
            return self.read(call, repeatable, timeout)
        finally:  # a lost connection may have lost only the answer
            self._writes[call.user_id] = time.monotonic()

    def read(self, call: Call, repeatable: bool, timeout: float | None = None) -> Answer:
        """Send a call that writes nothing."""
        return super().send(call, repeatable, timeout)

    @contextmanager
    def transaction(self) -> Iterator[Transport]:
        """Give a transport whose calls are one transaction; it counts as a write of all users."""
        try:
            with super().transaction() as same:
                yield same
        finally:
            self._all_written_at = time.monotonic()

    def written_at(self, user_id: UUID | None) -> float:
        """Return the monotonic time of the last write that a read for this user must see."""
        return max(self._writes.get(user_id, -math.inf), self._all_written_at)

    def forget(self, until: float) -> None:
        """Forget the writes that standbys have replayed."""
        if len(self._writes) > _MAX_WRITERS:
            self._all_written_at, until = max(self._writes.values()), math.inf
        for user_id, at in list(self._writes.items()):
            if at <= until:
                self._writes.pop(user_id, None)


class Replica(Transport):
    """The transport of a standby, for reads: the primary answers where the standby lags.

    A read on the standby sees every earlier write of its user by this client, and everything that
    was committed more than `Limits.max_lag` seconds ago. The client knows by positions in the
    write-ahead log: about once a second it asks the primary for its present one, then the standby
    whether it has replayed that far. No clocks are compared, and any role may ask.

    Args:
        target: the standby.
        primary: answers where the standby lags or cannot be reached.
        limits: timeouts, sizes and the permitted lag.
        home: the event loop that several transports share.
    """

    _repeats: tuple[float, ...] = ()  # the primary is asked instead

    def __init__(
        self, target: Target, primary: Primary, limits: Limits, home: SyncHome | None = None
    ) -> None:
        quick = replace(limits, connect_timeout=min(_CONNECT_SECONDS, limits.connect_timeout))
        super().__init__(target, quick, home)
        self._primary = primary
        self._positions: list[tuple[float, int]] = []
        self._as_of = -math.inf
        self._next_check = -math.inf

    def send(self, call: Call, repeatable: bool, timeout: float | None = None) -> Answer:
        """Send a call that writes nothing to the standby or to the primary."""
        if self._is_recent(call.user_id):
            try:
                return super().send(call, False, timeout)
            except psycopg.Error as error:
                # 40001: the replay needs to remove rows that the read still sees
                if error.sqlstate != "40001" and not _is_away(error):
                    raise
                logger.info("recall.%s is sent to the primary after: %s", call.function, error)
                if _is_away(error):
                    self._leave()
        return self._primary.read(call, repeatable, timeout)

    def _is_recent(self, user_id: UUID | None) -> bool:
        now = time.monotonic()
        if now >= self._next_check:
            # set first: others need not wait for this check
            self._next_check = now + min(self._limits.max_lag / _CHECKS, _CHECK_SECONDS)
            self._check(now)
        oldest = max(time.monotonic() - self._limits.max_lag, self._primary.written_at(user_id))
        return self._as_of >= oldest

    def _check(self, now: float) -> None:
        """Find the latest moment whose commits the standby has replayed."""
        try:
            written = self._position(self._primary.read, _WRITTEN)
        except psycopg.Error as error:
            logger.info("the lag of a standby is unknown, for the primary says: %s", error)
            return
        try:
            replayed = self._position(super().send, _REPLAYED)
        except psycopg.Error as error:
            logger.info("reads go to the primary, for the standby says: %s", error)
            self._leave()
            return
        known = [*self._positions, (now, written)]
        self._as_of = max((at for at, position in known if position <= replayed),
                          default=self._as_of)  # fmt: skip
        self._positions = [(at, position) for at, position in known
                           if position > replayed and at >= now - self._limits.max_lag]  # fmt: skip
        self._primary.forget(self._as_of)

    def _position(self, send: Any, call: Call) -> int:
        _, rows = send(call, False, _CONNECT_SECONDS)
        return int(rows[0][0])

    def _leave(self) -> None:
        self._as_of = -math.inf
        self._next_check = time.monotonic() + _AWAY_SECONDS


def _is_away(error: psycopg.Error) -> bool:
    """Return whether the server did not answer; the end of a statement's time is an answer."""
    return is_lost(error) or (isinstance(error, CallTimeoutError) and error.sqlstate is None)
