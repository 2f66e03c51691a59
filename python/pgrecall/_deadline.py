"""Deadlines of calls: past one, the socket that a call waits for is shut down.

A server's own timeouts end nothing when it, a pooler or the network stops to answer. Shutting the
socket down works on every connection, a caller's too, whatever its state: the waiting psycopg sees
the end of the stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection

from pgrecall import _process
from pgrecall.errors import CallTimeoutError

__all__ = ["AsyncDeadline", "SyncDeadline"]


class _Guard:
    """The socket of a connection, which the thread or loop that watches the time shuts down.

    It is a duplicate: psycopg may close its own meanwhile, and the number then be another's.
    """

    def __init__(self, connection: AsyncConnection[Any] | Connection[Any], end: float) -> None:
        # the family does not matter: no address is asked for
        self._socket = socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)
        self.end = end
        self.is_over = False
        _process.renewing(self)

    def _renew(self) -> None:
        """Close the duplicate in a child: shutting it down would end the parent's call."""
        self.release()

    def shut_down(self) -> None:
        self.is_over = True
        with contextlib.suppress(OSError):  # the server was faster
            self._socket.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        self._socket.close()


class _Deadline:
    """The time that a call has, from now on.

    Args:
        seconds: how long; None is no deadline.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self, most: float) -> float:
        """Return the seconds left, at most so many.

        Raises:
            CallTimeoutError: none are.
        """
        if self._end is None:
            return most
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.error()
        return min(most, left)

    def error(self) -> CallTimeoutError:
        return CallTimeoutError(
            f"no answer within {self._seconds:g} s",
            hint="The server, a pooler or the network does not answer. It is unknown whether "
            "the call ran. Limits.answer_timeout is what the driver adds to the server's timeout.",
        )


class AsyncDeadline(_Deadline):
    """A deadline that the event loop watches."""

    @contextlib.asynccontextmanager
    async def over(self, connection: AsyncConnection[Any]) -> AsyncIterator[None]:
        """End what the connection waits for inside the block when the time is up.

        Raises:
            CallTimeoutError: it was; the connection is closed.
        """
        if self._end is None:
            yield
            return
        guard = _Guard(connection, self._end)
        timer = asyncio.get_running_loop().call_later(self._end - time.monotonic(), guard.shut_down)
        try:
            yield
        except psycopg.Error as error:
            if guard.is_over:
                raise self.error() from error
            raise
        finally:
            timer.cancel()
            guard.release()
            if guard.is_over:
                await connection.close()


class SyncDeadline(_Deadline):
    """A deadline that a thread watches."""

    @contextlib.contextmanager
    def over(self, connection: Connection[Any]) -> Iterator[None]:
        """End what the connection waits for inside the block when the time is up.

        Raises:
            CallTimeoutError: it was; the connection is closed.
        """
        if self._end is None:
            yield
            return
        guard = _Guard(connection, self._end)
        _watch.add(guard)
        try:
            yield
        except psycopg.Error as error:
            if guard.is_over:
                raise self.error() from error
            raise
        finally:
            _watch.remove(guard)
            if guard.is_over:
                connection.close()


class _Watch:
    """One thread that shuts down what is past its end; it starts with the first deadline."""

    def __init__(self) -> None:
        self._renew()
        _process.renewing(self)

    def _renew(self) -> None:
        """Forget everything: the calls are the parent's, and so is the thread."""
        self._changed = threading.Condition()
        self._guards: set[_Guard] = set()
        self._thread: threading.Thread | None = None
        self._wakes_at = 0.0

    def add(self, guard: _Guard) -> None:
        with self._changed:
            self._guards.add(guard)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="pgrecall-deadlines", daemon=True
                )
                self._wakes_at = guard.end
                self._thread.start()
            elif guard.end < self._wakes_at:
                self._changed.notify()

    def remove(self, guard: _Guard) -> None:
        with self._changed:  # never while the thread shuts it down
            self._guards.discard(guard)
            guard.release()

    def _run(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for guard in [one for one in self._guards if one.end <= now]:
                    self._guards.discard(guard)
                    guard.shut_down()
                ends = [one.end for one in self._guards]
                self._wakes_at = min(ends, default=float("inf"))
                self._changed.wait(self._wakes_at - now if ends else None)


_watch = _Watch()
