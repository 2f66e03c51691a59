# Made from _async/database.py by `make generate`; change that file, not this.
"""Calls of functions and their rows, encrypted and decrypted on the way."""

from __future__ import annotations

from typing import Any, TypeVar

from pgrecall._sql import Call
from pgrecall._sync.guard import Guard
from pgrecall._sync.transport import Answer, Transport
from pgrecall.errors import NotAllowedError
from pgrecall.rows import maker

__all__ = ["Database"]

Row = TypeVar("Row")


class Database:
    """Calls functions over a transport; the texts of encrypted users pass a guard.

    Attributes:
        transport: sends calls as they are.
    """

    def __init__(self, transport: Transport, guard: Guard) -> None:
        self.transport = transport
        self._guard = guard

    def rows(
        self, row: type[Row], call: Call, *, repeatable: bool = False, timeout: float | None = None
    ) -> list[Row]:
        """Return what the function returns, one `row` each; `timeout` instead of the usual one."""
        columns, values = self.fetch(call, repeatable, timeout)
        make = maker(row, columns)
        return [make(value) for value in values]

    def value(self, call: Call, *, repeatable: bool = False, timeout: float | None = None) -> Any:
        """Return the first column of the first row, or None; `timeout` as in `rows`."""
        _, values = self.fetch(call, repeatable, timeout)
        return values[0][0] if values else None

    def query(self, text: bytes) -> list[Any]:
        """Return the rows of a query that is no function of ours, as tuples."""
        _, values = self.transport.send(Call("", text, {}), True)
        return values

    def fetch(self, call: Call, repeatable: bool, timeout: float | None) -> Answer:
        """Send it, encrypted and decrypted for an encrypted user."""
        guard, send, user_id = self._guard, self.transport.send, call.user_id
        if user_id is None:
            return send(call, repeatable, timeout)
        sealed = guard.sealed(call, user_id)
        try:
            columns, rows = send(sealed, repeatable, timeout)
        except NotAllowedError:
            # another process has encrypted the user, or replaced the keys, since we asked
            if guard.wrapping is None or not guard.forget(user_id):
                raise
            sealed = guard.sealed(call, user_id)
            if sealed is call:
                raise
            columns, rows = send(sealed, repeatable, timeout)
        return columns, guard.opened(call, columns, rows, user_id)
