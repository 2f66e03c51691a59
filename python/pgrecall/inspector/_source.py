"""Calls of the public functions, in read-only transactions unless a write is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self
from uuid import UUID

import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from pgrecall import AsyncAgentMemory, _process
from pgrecall._async.core import AsyncCore
from pgrecall._ciphertext import TOKEN, has_sealed
from pgrecall._limits import Limits
from pgrecall._names import id_or_name
from pgrecall._runtime import AsyncRuntime
from pgrecall._sql import UNSET, Call
from pgrecall.errors import ConfigurationError, raise_translated

__all__ = ["ENCRYPTED", "Row", "Source"]

Row = dict[str, Any]

ENCRYPTED = "[encrypted]"
"""Pages show this for a text whose key is missing."""

_PARTS = 4  # connections that wait for the parts of a page, which are read at the same time


class Source:
    """The database of an inspector.

    Every transaction of `reader` begins with BEGIN READ ONLY, which also holds behind a pooler.

    Args:
        dsn: the DSN, or a function that returns it, such as one that starts a server.
        write: whether changes are allowed; without it there is no connection that may write.
        on_close: what to do after the connections are closed.
        options: `embedder`, `limits`, `wrapping_keys` and `sealed` of `AsyncAgentMemory.connect`.

    Attributes:
        can_write: whether changes are allowed.
        reader: the memory that reads.
        writer: the memory that writes; without `write` the server refuses what it sends.
    """

    def __init__(
        self,
        dsn: str | Callable[[], str],
        *,
        write: bool = False,
        on_close: Callable[[], object] | None = None,
        **options: Any,
    ) -> None:
        self._dsn = dsn
        self._options = options
        self._on_close = on_close
        self._pools: list[AsyncConnectionPool[Any]] = []
        self.can_write = write
        self.reading: AsyncCore
        self.reader: AsyncAgentMemory
        self._writing: AsyncCore
        self.writer: AsyncAgentMemory

    async def open(self) -> None:
        """Connect, and check that the schema is installed."""
        dsn = self._dsn if isinstance(self._dsn, str) else await AsyncRuntime.in_thread(self._dsn)
        limits: Limits = self._options.get("limits") or Limits()
        # one connection first: its error says what is wrong, a pool's only that it waited
        try:
            async with await AsyncConnection.connect(dsn, **limits.connection(dsn)):
                pass
        except psycopg.Error as error:
            raise_translated(error)
        self.reading = await self._core(dsn, read_only=True)
        self.reader = AsyncAgentMemory(self.reading)
        await self.reader.open()
        if self.can_write:
            self._writing = await self._core(dsn, read_only=False)
        else:
            self._writing = AsyncCore(self._pools[0], **self._options)
            # The driver takes 25006 for a failover, sends the call again, and replaces connections.
            self._writing.write.transport._repeats = ()  # noqa: SLF001
        self.writer = AsyncAgentMemory(self._writing)

    async def _core(self, dsn: str, *, read_only: bool) -> AsyncCore:
        limits: Limits = self._options.get("limits") or Limits()

        async def configure(connection: AsyncConnection[Any]) -> None:
            _process.owning(connection)
            await connection.set_read_only(read_only)

        pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
            dsn,
            min_size=min(_PARTS, limits.max_connections) if read_only else 1,
            max_size=limits.max_connections,
            timeout=limits.connect_timeout,
            kwargs=limits.connection(dsn),
            configure=configure,
            open=False,
            name=f"pgrecall-inspect-{'reads' if read_only else 'writes'}",
        )
        await pool.open()
        self._pools.append(pool)
        return AsyncCore(pool, **self._options)

    async def __aenter__(self) -> Self:
        try:
            await self.open()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        pools, self._pools = self._pools, []
        for pool in pools:
            await pool.close()
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            await AsyncRuntime.in_thread(on_close)

    async def rows(self, function: str, **arguments: Any) -> list[Row]:
        """Return the rows of a function that reads; texts of encrypted users are decrypted."""
        call = Call.of(function, **arguments)
        try:
            return await _rows(self.reading, call, repeatable=True)
        except ConfigurationError:
            # without the key encryption key everything but the texts can be shown
            columns, values = await self.reading.write.transport.send(call, True)
            if not has_sealed(values):
                raise
            return [dict(zip(columns, map(_masked, row), strict=True)) for row in values]

    async def value(self, function: str, **arguments: Any) -> Any:
        """Return the one value of a function that reads."""
        return await self.reading.write.value(Call.of(function, **arguments), repeatable=True)

    async def call(self, function: str, arguments: Mapping[str, Any], *, write: bool) -> list[Row]:
        """Return the rows of a function; a write without `can_write` gets SQLSTATE 25006."""
        core = self._writing if write else self.reading
        return await _rows(core, Call.of(function, **arguments), repeatable=False)

    async def change(self, function: str, **arguments: Any) -> Any:
        """Write, and return the first value."""
        rows = await self.call(function, arguments, write=True)
        return next(iter(rows[0].values()), None) if rows else None

    async def query(self, text: bytes) -> list[Any]:
        """Return the rows of a query of the catalog."""
        return await self.reading.write.query(text)

    async def user_id(self, name: str) -> UUID:
        """Return the id of a user, named by a UUID or any text."""
        return await self.reading.user_id(id_or_name(name))

    async def user(self, user_id: UUID) -> Row | None:
        """Return the row of a user, None when there is none; for the rights of `recall_admin`."""
        before = UUID(int=user_id.int - 1) if user_id.int else None
        found = await self.rows("list_users", after_id=before or UNSET, limit=1)
        return found[0] if found and found[0]["user_id"] == user_id else None


def _masked(value: Any) -> Any:
    """Return a value with a mark in place of each ciphertext."""
    if isinstance(value, str):
        return TOKEN.sub(ENCRYPTED, value)
    if isinstance(value, list):
        return [_masked(item) for item in value]
    if isinstance(value, dict):
        return {key: _masked(item) for key, item in value.items()}
    return value


async def _rows(core: AsyncCore, call: Call, *, repeatable: bool) -> list[Row]:
    columns, values = await core.write.fetch(call, repeatable, None)
    return [dict(zip(columns, row, strict=True)) for row in values]
