"""Notice forks: the process that this is, and the objects that a child renews or refuses.

A fork copies the parent's connections and locks. Two processes on one socket read each other's
answers, and nobody releases a lock that another thread of the parent held. So in a child

- a `lock` is open,
- an object that has called `renewing` starts anew,
- connections that were passed to `owning` lead nowhere,
- work that has an `Origin` raises ForkedError.
"""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, Protocol
from weakref import WeakSet

from pgrecall.errors import ForkedError

__all__ = [
    "OF_CALLER",
    "OF_CLIENT",
    "Origin",
    "check",
    "keep",
    "lock",
    "owning",
    "refuse_pool",
    "renewing",
]


class _Renewed(Protocol):
    def _renew(self) -> None: ...


OF_CALLER = (
    "this pool or connection",
    "Open one in each process, after the fork, or connect by a DSN.",
)
OF_CLIENT = (
    "this OpenAI client",
    "Make one in each process, after the fork, or make it without http_client.",
)
"""The arguments of an `Origin` of what a caller has handed over."""

_pid = os.getpid()
_forks = 0  # between the first process and this one: a process number may come again
_beginning = threading.RLock()
_is_beginning = False
_locks: WeakSet[Any] = WeakSet()
_connections: WeakSet[Any] = WeakSet()
_renewed: WeakSet[_Renewed] = WeakSet()


def lock() -> threading.Lock:
    """Return a mutex that is open in a child, whoever holds it at the fork."""
    made = threading.Lock()
    _locks.add(made)
    return made


def renewing(one: _Renewed) -> None:
    """Call `one._renew()` at the start of each child, as long as the object exists."""
    _renewed.add(one)


def owning(connection: Any) -> None:
    """Let a connection lead nowhere in a child: neither it nor libpq can reach the server there.

    The child's copy of the socket is closed, too. Otherwise the server would not notice the end of
    a parent that is killed, and would keep its transactions open.
    """
    _connections.add(connection)


def keep(*inherited: object) -> None:
    """Never finalize objects of the parent: their ends take locks, or store what the parent will.

    A list would be emptied at the end of the interpreter, which finalizes its items.
    """
    for one in inherited:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(one))


def refuse_pool(pool: Any) -> None:
    """Refuse a caller's pool that the parent opened: a fork leaves its threads behind.

    Raises:
        ForkedError: it is such a pool.
    """
    runner = getattr(pool, "_sched_runner", None)
    if isinstance(runner, threading.Thread) and not (runner.is_alive() or pool.closed):
        what, hint = OF_CALLER
        raise ForkedError(f"{what} belongs to the process that forked this one", hint=hint)


def check() -> None:
    """Notice a fork that ran no hooks of Python, such as uWSGI's."""
    if os.getpid() != _pid:
        with _beginning:
            if os.getpid() != _pid and not _is_beginning:
                _begin_child()


def _begin_child() -> None:
    global _pid, _forks, _is_beginning
    _is_beginning = True  # a `_renew` may call `check`
    try:
        _forks += 1
        _renew_all()
        _pid = os.getpid()  # last: until then other threads wait
    finally:
        _is_beginning = False


def _renew_all() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for connection in list(_connections):
        if not connection.closed:
            os.dup2(nowhere, connection.fileno(), inheritable=False)
        keep(connection)
    os.close(nowhere)
    _connections.clear()
    for held in list(_locks):
        held._at_fork_reinit()  # noqa: SLF001  (as the modules of Python's library do)
    for one in list(_renewed):
        one._renew()  # noqa: SLF001


class Origin:
    """The process in which something began; only that process may continue it.

    Args:
        what: the subject of the error.
        hint: its remedy.
    """

    def __init__(self, what: str, hint: str) -> None:
        check()
        self._what = what
        self._hint = hint
        self._pid = os.getpid()
        self._forks = _forks

    @property
    def is_elsewhere(self) -> bool:
        """Whether this is a child of that process."""
        check()
        return self._forks != _forks

    def check(self) -> None:
        """Raise in a child.

        Raises:
            ForkedError: this process was forked since.
        """
        if self.is_elsewhere:
            raise ForkedError(
                f"{self._what} belongs to process {self._pid}, which forked this one",
                hint=self._hint,
            )


if hasattr(os, "register_at_fork"):

    def _after_fork() -> None:
        _beginning._at_fork_reinit()  # type: ignore[attr-defined]  # noqa: SLF001
        _begin_child()

    os.register_at_fork(after_in_child=_after_fork)
