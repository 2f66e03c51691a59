# Made from _async/replica.py by `make generate`; change that file, not this.
"""Reads on a standby that is recent enough, and else on the primary."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import psycopg
from psycopg import Connection

from pgrecall._limits import Limits
from pgrecall._logs import logger
from pgrecall._runtime import SyncHome
from pgrecall._sql import Call
from pgrecall._sync.transport import ROLLED_BACK, STALE, Answer, Target, Transport
from pgrecall._writes import Writes
from pgrecall.errors import CallTimeoutError, is_lost

__all__ = ["Primary", "Replica"]


_CONNECT_SECONDS = 2.0  # a standby takes a connection by then, or the primary answers
_CHECKS = 4  # within the permitted lag

_CHECK_SECONDS = 1.0  # between checks, at most

_AWAY_SECONDS = 5.0  # until a standby that did not answer is asked again

# The insert position, since a commit that does not wait for the disk is ahead of the written one.
_WRITTEN = Call("", b"select pg_catalog.pg_current_wal_insert_lsn() - '0/0'", {})
_REPLAYED = b"""
select case when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_replay_lsn()
            else pg_catalog.pg_current_wal_insert_lsn() end - '0/0'
"""


class Primary(Transport):
    """The transport of a primary that has standbys: it notes who wrote when.

    Args:
        target: the primary.
        limits: timeouts and sizes.
        home: the event loop that several transports share.
        writes: where writes are noted; shared by all ways to the primary.
    """

    def __init__(
        self,
        target: Target,
        limits: Limits,
        home: SyncHome | None = None,
        writes: Writes | None = None,
    ) -> None:
        super().__init__(target, limits, home)
        self.writes = writes or Writes()

    def send(self, call: Call, repeatable: bool, timeout: float | None = None) -> Answer:
        """Send a call; it counts as a write of its user."""
        try:
            return self.read(call, repeatable, timeout)
        finally:  # a lost connection may have lost only the answer
            if call.user_id is not None or call.function == "ensure_user":
                self.writes.note(call.user_id)

    def beside(self, target: Target) -> Transport:
        """Return a transport of another way to the primary; its writes are noted, too."""
        return Primary(target, self._limits, self._home, self.writes)

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
            self.writes.note(None)


class Replica(Transport):
    """The transport of standbys, for reads: the primary answers where they lag.

    A read on a standby sees every earlier write of its user by this client, and everything that
    was committed more than `Limits.max_lag` seconds ago. The client knows by positions in the
    write-ahead log: about once a second it asks the primary for its present one, then the standby
    whether it has replayed that far. No clocks are compared, and any role may ask. The connections
    of a pool may lead to several servers, so each server is asked for itself.

    Args:
        target: the standby, or several.
        primary: answers where they lag or cannot be reached.
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
        self._as_of: dict[object, float] = {}  # by server
        self._next_checks: dict[object, float] = {}
        self._away_until = -math.inf

    def send(self, call: Call, repeatable: bool, timeout: float | None = None) -> Answer:
        """Send a call that writes nothing to a standby or to the primary."""
        began = time.monotonic()
        if began >= self._away_until:
            try:
                return super().send(call, False, timeout)
            except _BehindError:
                pass
            except psycopg.Error as error:
                # also 40001: the replay needs to remove rows that the read still sees
                if not isinstance(error, ROLLED_BACK) and not _is_away(error):
                    raise
                logger.info("recall.%s is sent to the primary after: %s", call.function, error)
                if isinstance(error, STALE) and self.is_pooled:
                    self._drain(began)
                if _is_away(error):
                    self._away_until = time.monotonic() + _AWAY_SECONDS
                    self._as_of, self._next_checks = {}, {}
        return self._primary.read(call, repeatable, timeout)

    def _accept(self, connection: Connection[Any], call: Call) -> None:
        """Refuse a connection to a server that lacks what the call must see."""
        server = (connection.info.hostaddr or connection.info.host, connection.info.port)
        now = time.monotonic()
        if now >= self._next_checks.get(server, -math.inf):
            # set first: others need not wait for this check
            self._next_checks[server] = now + min(self._limits.max_lag / _CHECKS, _CHECK_SECONDS)
            self._check(connection, server, now)
        oldest = time.monotonic() - self._limits.max_lag
        oldest = max(oldest, self._primary.writes.last(call.user_id))
        if self._as_of.get(server, -math.inf) < oldest:
            raise _BehindError

    def _check(self, connection: Connection[Any], server: object, now: float) -> None:
        """Find the latest moment whose commits the server has replayed."""
        try:
            _, [(written,)] = self._primary.read(_WRITTEN, False, _CONNECT_SECONDS)
        except psycopg.Error as error:
            logger.info("the lag of a standby is unknown, for the primary says: %s", error)
            return
        row = (connection.execute(_REPLAYED, prepare=False)).fetchone()
        if not connection.autocommit:
            connection.commit()
        if row is None or row[0] is None:
            return
        oldest = now - self._limits.max_lag
        self._positions = [
            *(known for known in self._positions if known[0] >= oldest), (now, int(written))
        ]  # fmt: skip
        replayed = [at for at, position in self._positions if position <= int(row[0])]
        self._as_of[server] = max(replayed, default=-math.inf)
        self._primary.writes.forget(oldest)


class _BehindError(Exception):
    """The server lacks what the call must see."""


def _is_away(error: psycopg.Error) -> bool:
    """Return whether the server did not answer; the end of a statement's time is an answer."""
    return is_lost(error) or (isinstance(error, CallTimeoutError) and error.sqlstate is None)
