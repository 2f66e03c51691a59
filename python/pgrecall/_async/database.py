"""Calls of functions and their rows, encrypted and decrypted on the way."""

from __future__ import annotations

from typing import Any, TypeVar

from pgrecall._async.guard import AsyncGuard
from pgrecall._async.transport import Answer, AsyncTransport
from pgrecall._sql import Call
from pgrecall.errors import NotAllowedError
from pgrecall.rows import maker

__all__ = ["AsyncDatabase"]

Row = TypeVar("Row")


class AsyncDatabase:
    """Calls functions over a transport; the texts of encrypted users pass a guard.

    Attributes:
        transport: sends calls as they are.
    """

    def __init__(self, transport: AsyncTransport, guard: AsyncGuard) -> None:
        self.transport = transport
        self._guard = guard

    async def rows(
        self, row: type[Row], call: Call, *, repeatable: bool = False, timeout: float | None = None
    ) -> list[Row]:
        """Return what the function returns, one `row` each; `timeout` instead of the usual one."""
        columns, values = await self.fetch(call, repeatable, timeout)
        make = maker(row, columns)
        return [make(value) for value in values]

    async def value(
        self, call: Call, *, repeatable: bool = False, timeout: float | None = None
    ) -> Any:
        """Return the first column of the first row, or None; `timeout` as in `rows`."""
        _, values = await self.fetch(call, repeatable, timeout)
        return values[0][0] if values else None

    async def query(self, text: bytes) -> list[Any]:
        """Return the rows of a query that is no function of ours, as tuples."""
        _, values = await self.transport.send(Call("", text, {}), True)
        return values

    async def fetch(self, call: Call, repeatable: bool, timeout: float | None) -> Answer:
        """Send it, encrypted and decrypted for an encrypted user."""
        guard, send, user_id = self._guard, self.transport.send, call.user_id
        if user_id is None:
            return await send(call, repeatable, timeout)
        sealed = await guard.sealed(call, user_id)
        try:
            columns, rows = await send(sealed, repeatable, timeout)
        except NotAllowedError:
            # another process has encrypted the user, or replaced the keys, since we asked
            if guard.wrapping is None or not guard.forget(user_id):
                raise
            sealed = await guard.sealed(call, user_id)
            if sealed is call:
                raise
            columns, rows = await send(sealed, repeatable, timeout)
        return columns, await guard.opened(call, columns, rows, user_id)
