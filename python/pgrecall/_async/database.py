"""Where calls go: a pool of connections, or one connection of the caller."""

from __future__ import annotations

import logging
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from uuid import UUID
from weakref import WeakSet

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from pgrecall._async.sealer import AsyncSealer
from pgrecall._calls import Call, register_vectors
from pgrecall._limits import Limits
from pgrecall._runtime import AsyncRuntime
from pgrecall.errors import NotAllowedError, is_lost, translated
from pgrecall.rows import maker

__all__ = ["AsyncDatabase", "Target"]

Target = str | AsyncConnectionPool[Any] | AsyncConnection[Any] | Callable[[], str]
Row = TypeVar("Row")

logger = logging.getLogger("pgrecall")

_REPEATS = (0.05, 0.5)  # seconds before a repeatable call is sent again

# Local to the transaction: behind a pooler the connection is somebody else's a moment later.
_FRAME = b"""
select set_config('recall.user_id', %s, true),
       set_config('statement_timeout', %s, true),
       set_config('idle_in_transaction_session_timeout', %s, true),
       set_config('recall.user_key', %s, true)
"""
_FRAME_OF_CALLER = b"""
select set_config('recall.user_id', %s, true), set_config('recall.user_key', %s, true)
"""

# halfvec as the tables have it: the extension may live in a schema that is on nobody's path.
_HALFVEC = b"""
select t.oid, t.typarray
  from pg_catalog.pg_attribute as a
  join pg_catalog.pg_type as t on t.oid = a.atttypid
 where a.attrelid = pg_catalog.to_regclass('recall.memory_embedding')
   and a.attname = 'embedding'
"""


class AsyncDatabase:
    """Sends calls, each in a transaction that carries the user's identity and the timeouts.

    Args:
        target: a DSN, for a pool of its own, opened at the first call; a function that returns
            one; a pool, which stays the caller's; or a connection: its open transaction is joined
            and never ended, without one each call has its own.
        limits: timeouts and pool sizes.

    Attributes:
        sealer: encrypts and opens the texts of sealed users.
    """

    sealer: AsyncSealer | None = None

    def __init__(self, target: Target, limits: Limits) -> None:
        self._target = target
        self._limits = limits
        self._lock = AsyncRuntime.lock()
        self._own_pool: AsyncConnectionPool[AsyncConnection[Any]] | None = None
        self._prepared: WeakSet[AsyncConnection[Any]] = WeakSet()

    @property
    def is_pooled(self) -> bool:
        """Whether calls may be sent at the same time: not over one connection of the caller."""
        return not isinstance(self._target, AsyncConnection)

    async def rows(
        self,
        row: type[Row],
        call: Call,
        *,
        user_id: UUID | None = None,
        repeatable: bool = False,
        timeout: float | None = None,
    ) -> list[Row]:
        """Return what the function returns, one `row` each; `timeout` instead of the usual one."""
        columns, values = await self._fetch(call, user_id, repeatable, timeout)
        make = maker(row, columns)
        return [make(value) for value in values]

    async def value(
        self,
        call: Call,
        *,
        user_id: UUID | None = None,
        repeatable: bool = False,
        timeout: float | None = None,
    ) -> Any:
        """Return the first column of the first row, or None; `timeout` as in `rows`."""
        _, values = await self._fetch(call, user_id, repeatable, timeout)
        return values[0][0] if values else None

    async def query(self, text: bytes, parameters: dict[str, Any] | None = None) -> list[Any]:
        """Return the rows of a query that is no function of ours, as tuples."""
        _, values = await self._fetch(Call("", text, parameters or {}), None, True)
        return values

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncDatabase]:
        """Give a database whose calls are one transaction, committed at the end."""
        if isinstance(self._target, AsyncConnection):
            async with self._target.transaction():
                yield self
            return
        pool = await self._pool()
        async with pool.connection() as connection, connection.transaction():
            yield AsyncDatabase(connection, self._limits)

    async def aclose(self) -> None:
        """Close the pool, if it is our own."""
        pool, self._own_pool = self._own_pool, None
        if pool is not None:
            await pool.close()

    async def _fetch(
        self,
        call: Call,
        user_id: UUID | None,
        repeatable: bool,
        timeout: float | None = None,
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Send it, sealed and opened for a sealed user."""
        sealer = self.sealer
        if sealer is None or user_id is None:
            return await self.send(call, user_id, repeatable, timeout)
        sealed = await sealer.sealed(call, user_id)
        try:
            columns, rows = await self.send(sealed, user_id, repeatable, timeout)
        except NotAllowedError:
            # sealed, or its keys replaced, by somebody else since we asked
            if sealer.wrapping is None or not sealer.forget(user_id):
                raise
            sealed = await sealer.sealed(call, user_id)
            if sealed is call:
                raise
            columns, rows = await self.send(sealed, user_id, repeatable, timeout)
        return columns, await sealer.opened(call, columns, rows, user_id)

    async def send(
        self,
        call: Call,
        user_id: UUID | None,
        repeatable: bool,
        timeout: float | None = None,
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Send a call as it is; return its columns and rows."""
        if isinstance(self._target, AsyncConnection):
            return await self._joined(self._target, call, self._frame(call, user_id, timeout))
        pauses = list(_REPEATS) if repeatable else []
        while True:
            pool = await self._pool()
            try:
                return await self._pooled(pool, call, self._frame(call, user_id, timeout))
            except psycopg.Error as error:
                if not pauses or not _may_pass(error):
                    raise translated(error) from error.__cause__
                logger.info("recall.%s is sent again after: %s", call.function, error)
                await AsyncRuntime.sleep(pauses.pop(0) * random.uniform(0.5, 1.5))  # noqa: S311
                if is_lost(error):
                    await pool.check()  # the others may have been lost with it

    async def _pooled(
        self, pool: AsyncConnectionPool[Any], call: Call, frame: tuple[str, ...]
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Send it in a transaction of its own."""
        async with pool.connection() as connection:
            if connection not in self._prepared:
                await self._prepare(connection)
                await connection.commit()
            cursor = connection.cursor(row_factory=tuple_row)
            # What stands in one pipeline is one transaction: with autocommit a call is one round
            # trip, else (a pool of the caller) the commit is another, since an error of the call
            # must be the last thing in the pipeline.
            async with connection.pipeline():
                await connection.execute(_FRAME, frame)
                await cursor.execute(call.text, call.parameters)
            if not connection.autocommit:
                await connection.commit()
            return _columns(cursor), await cursor.fetchall()

    async def _joined(
        self, connection: AsyncConnection[Any], call: Call, frame: tuple[str, ...]
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Send it within the caller's transaction, under a savepoint of its own."""
        try:
            if connection not in self._prepared:
                await self._prepare(connection)
            is_idle = connection.info.transaction_status == TransactionStatus.IDLE
            if is_idle and not connection.autocommit:
                await connection.execute(b"select")  # begins the transaction that is the caller's
            async with connection.transaction():
                if is_idle:
                    await connection.execute(_FRAME, frame)
                else:
                    await connection.execute(_FRAME_OF_CALLER, (frame[0], frame[-1]))
                cursor = connection.cursor(row_factory=tuple_row)
                await cursor.execute(call.text, call.parameters)
                return _columns(cursor), await cursor.fetchall()
        except psycopg.Error as error:
            raise translated(error) from error.__cause__

    def _frame(self, call: Call, user_id: UUID | None, timeout: float | None) -> tuple[str, ...]:
        seconds = self._limits.statement_timeout if timeout is None else timeout
        return (
            "" if user_id is None else str(user_id),
            f"{round(seconds * 1000)}ms",
            f"{round(self._limits.idle_timeout * 1000)}ms",
            call.keys,
        )

    async def _prepare(self, connection: AsyncConnection[Any]) -> None:
        cursor = connection.cursor(row_factory=tuple_row)
        found = await (await cursor.execute(_HALFVEC)).fetchone()
        if found is not None:  # else the call itself will say that the schema is missing
            register_vectors(connection, *found)
            self._prepared.add(connection)

    async def _pool(self) -> AsyncConnectionPool[Any]:
        if isinstance(self._target, AsyncConnectionPool):
            return self._target
        if self._own_pool is not None:
            return self._own_pool
        async with self._lock:
            if self._own_pool is None:
                dsn = await self._dsn()
                # one connection first: its error says what is wrong, a pool's only that it waited
                async with await AsyncConnection.connect(dsn, **self._limits.connection(dsn)):
                    pass
                pool = AsyncConnectionPool(
                    dsn,
                    min_size=self._limits.min_connections,
                    max_size=self._limits.max_connections,
                    timeout=self._limits.connect_timeout,
                    kwargs={**self._limits.connection(dsn), "autocommit": True},
                    open=False,
                    name="pgrecall",
                )
                await pool.open()
                self._own_pool = pool
            return self._own_pool

    async def _dsn(self) -> str:
        if isinstance(self._target, str):
            return self._target
        if isinstance(self._target, AsyncConnection) or not callable(self._target):
            raise TypeError(f"a {type(self._target).__name__} is no DSN, pool or connection")
        return await AsyncRuntime.in_thread(self._target)


def _columns(cursor: Any) -> list[str]:
    return [column.name for column in cursor.description or ()]


def _may_pass(error: psycopg.Error) -> bool:
    """Return whether the same call may succeed when it is sent again."""
    if isinstance(error, (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)):
        return True
    if isinstance(error, (PoolTimeout, TooManyRequests)):
        return False
    return is_lost(error)
