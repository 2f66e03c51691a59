"""How calls reach the database: over a pool of connections, or one connection of the caller."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from pgrecall import _process
from pgrecall._async.citus import AsyncClusters
from pgrecall._deadline import AsyncDeadline
from pgrecall._limits import Limits
from pgrecall._logs import logger
from pgrecall._runtime import AsyncHome, AsyncRuntime
from pgrecall._sql import Call, register_vectors
from pgrecall.errors import InterruptedCallError, is_lost, raise_translated

__all__ = ["ROLLED_BACK", "STALE", "Answer", "AsyncTransport", "Target"]

Target = str | AsyncConnectionPool[Any] | AsyncConnection[Any] | Callable[[], str]

Answer = tuple[list[str], list[tuple[Any, ...]]]
"""Columns and rows."""


_REPEATS = (0.05, 0.5)  # seconds before a call is sent again

# The database has rolled the call back, so that any call may be sent again. Besides conflicts these
# are replaced functions after an upgrade: XX000 "cache lookup failed", and 0A000 "cached plan must
# not change result type" of a connection. XX000 "new multixact has more than one updating member"
# passes, too: an aborted update is still counted. A server that is read-only has become a standby.
STALE = (psycopg.errors.FeatureNotSupported, psycopg.errors.ReadOnlySqlTransaction)
ROLLED_BACK = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.InternalError_,
    *STALE,
)

# Local to the transaction: behind a pooler the connection is somebody else's a moment later. On the
# database's own search path a statement might find types and operators that others have made.
_FRAME = b"""
select pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
       pg_catalog.set_config('recall.user_id', %s, true),
       pg_catalog.set_config('statement_timeout', %s, true),
       pg_catalog.set_config('idle_in_transaction_session_timeout', %s, true),
       pg_catalog.set_config('recall.user_key', %s, true),
       pg_catalog.set_config('recall.embedding_model', %s, true)
"""
# The caller's transaction keeps its timeouts. Before shards a call commits at once, so the proxy
# refuses one within such a transaction.
_FRAME_OF_CALLER = b"""
select pg_catalog.set_config('recall.user_id', %s, true),
       pg_catalog.set_config('recall.user_key', %s, true),
       pg_catalog.set_config('recall.embedding_model', %s, true),
       pg_catalog.set_config('recall.in_transaction', 'on', true)
"""
# A transaction has no timeouts but its deadline; calls leave theirs on connections of our own pool.
_NO_TIMEOUTS = (b"set local statement_timeout to default;"
                b" set local idle_in_transaction_session_timeout to default;"
                b" set local search_path to pg_catalog, pg_temp")  # fmt: skip
# For a connection of our own pool; the user is in each call (`_sql._prepared`).
_FRAME_OF_CONNECTION = _FRAME.replace(b"true", b"false")

# The backend's own process number, and halfvec as the tables have it: the extension may live in a
# schema that is on nobody's path.
_ABOUT = b"""
select pg_catalog.pg_backend_pid(), t.oid, t.typarray,
       pg_catalog.to_regclass('pg_catalog.pg_dist_partition') is not null
  from (select pg_catalog.to_regclass('recall.memory_embedding')) as r (table_id)
  left join pg_catalog.pg_attribute as a
    on a.attrelid operator(pg_catalog.=) r.table_id
   and a.attname operator(pg_catalog.=) 'embedding'
  left join pg_catalog.pg_type as t on t.oid operator(pg_catalog.=) a.atttypid
"""

_TRANSACTION_SECONDS = 7200.0  # of a transaction of several calls, the long ones included


class AsyncTransport:
    """Sends calls, each in a transaction that carries the user's identity and the timeouts.

    Args:
        target: a DSN, for a pool of its own, opened at the first call; a function that returns
            one; a pool, which stays the caller's; or a connection: its open transaction is joined
            and never ended, without one each call has its own.
        limits: timeouts and pool sizes.
        home: the event loop that several transports share.
    """

    _repeats: tuple[float, ...] = _REPEATS

    def __init__(self, target: Target, limits: Limits, home: AsyncHome | None = None) -> None:
        self._target = target
        self._limits = limits
        self._home = home or AsyncHome()
        self._origin = _process.Origin(*_process.OF_CALLER)
        self._begin()
        _process.renewing(self)

    def _begin(self) -> None:
        self._lock = AsyncRuntime.lock()
        self._own_pool: AsyncConnectionPool[AsyncConnection[Any]] | None = None
        self._known: WeakKeyDictionary[AsyncConnection[Any], bool] = WeakKeyDictionary()
        self._frames: WeakKeyDictionary[AsyncConnection[Any], tuple[str, ...]] = WeakKeyDictionary()
        self._drained_at = 0.0
        self._clusters = AsyncClusters()

    def _renew(self) -> None:
        """Begin anew in a child: the parent keeps its pools, except a closed one of the caller."""
        _process.keep(self._own_pool)
        self._begin()
        if isinstance(self._target, AsyncConnectionPool) and self._target.closed:
            self._origin = _process.Origin(*_process.OF_CALLER)

    @property
    def is_pooled(self) -> bool:
        """Whether calls may be sent at the same time: not over one connection of the caller."""
        return not isinstance(self._target, AsyncConnection)

    def beside(self, target: Target) -> AsyncTransport:
        """Return a transport of another way to the same server."""
        return AsyncTransport(target, self._limits, self._home)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncTransport]:
        """Give a transport whose calls are one transaction, committed at the end."""
        self._home.enter()
        origin = _process.Origin("this transaction", "The parent continues and ends it.")
        try:
            async with AsyncExitStack() as stack:
                if isinstance(self._target, AsyncConnection):
                    self._origin.check()
                    await stack.enter_async_context(self._target.transaction())
                    same = self
                else:
                    pool = await self._pool()
                    connection = await stack.enter_async_context(pool.connection())
                    deadline = AsyncDeadline(_TRANSACTION_SECONDS)
                    await stack.enter_async_context(deadline.over(connection))
                    await stack.enter_async_context(connection.transaction())
                    if pool is self._own_pool:
                        await connection.execute(_NO_TIMEOUTS)
                    same = AsyncTransport(connection, self._limits, self._home)
                try:
                    yield same
                finally:
                    if origin.is_elsewhere:
                        _process.keep(stack.pop_all())
                origin.check()
        except psycopg.Error as error:
            raise_translated(error)

    async def stream(self, call: Call, timeout: float) -> AsyncGenerator[tuple[Any, ...], None]:
        """Send a call that only reads; yield its rows one by one, and hold no more of them.

        A proxy takes it, too: it refuses a call within a transaction that could be rolled back.
        """
        async with self.transaction() as same:
            connection = same._target  # noqa: SLF001
            assert isinstance(connection, AsyncConnection)  # noqa: S101
            if isinstance(self._target, AsyncConnection):
                frame = self._frame(call, timeout)
                await connection.execute(_FRAME_OF_CALLER, (frame[0], *frame[-2:]), prepare=False)
            else:
                await connection.execute(_FRAME, self._frame(call, timeout), prepare=False)
            async with connection.cursor("pgrecall_stream", row_factory=tuple_row) as cursor:
                cursor.itersize = 1
                await cursor.execute(call.text, call.parameters)
                async for row in cursor:
                    yield row

    async def aclose(self) -> None:
        """Close the pool, if it is our own."""
        self._home.enter()
        pool, self._own_pool = self._own_pool, None
        if pool is not None:
            await pool.close()
        self._lock = AsyncRuntime.lock()

    async def send(self, call: Call, repeatable: bool, timeout: float | None = None) -> Answer:
        """Send a call as it is; return its columns and rows.

        In a transaction of its own it is sent again, twice at most, after an error that rolled it
        back. A repeatable call is sent again after a lost connection, too.

        Raises:
            CallTimeoutError: it took too long for the server, or for `Limits`.
            ConnectionLostError: the server is away; a repeatable call was sent again before.
        """
        self._home.enter()
        seconds = self._limits.statement_timeout if timeout is None else timeout
        frame = self._frame(call, seconds)
        deadline = AsyncDeadline(self._limits.deadline(seconds))
        pauses = list(self._repeats) if self.is_pooled else []
        while True:
            began = time.monotonic()
            try:
                if isinstance(self._target, AsyncConnection):
                    self._origin.check()
                    return await self._joined(self._target, call, frame, deadline)
                return await self._pooled(await self._pool(), call, frame, deadline)
            except psycopg.Error as error:
                if not pauses or not _may_pass(error, repeatable):
                    raise_translated(error)
                logger.info("recall.%s is sent again after: %s", call.function, error)
                await AsyncRuntime.sleep(pauses.pop(0) * random.uniform(0.5, 1.5))  # noqa: S311
                if is_lost(error) or isinstance(error, STALE):
                    await self._drain(began)

    async def _drain(self, began: float) -> None:
        """Make the pool replace its connections: the others may be lost, too.

        Not checked one by one, since a check of one that does not answer would wait for ever; and
        once for all who lost theirs at the same time.
        """
        if began > self._drained_at:
            self._drained_at = time.monotonic()
            await (await self._pool()).drain()

    async def _pooled(
        self,
        pool: AsyncConnectionPool[Any],
        call: Call,
        frame: tuple[str, ...],
        deadline: AsyncDeadline,
    ) -> Answer:
        """Send it in a transaction of its own."""
        async with (
            pool.connection(deadline.left(pool.timeout)) as connection,
            deadline.over(connection),
        ):
            is_known = connection in self._known
            is_behind_pooler = await self._is_behind_pooler(connection)
            if not is_known:
                await connection.commit()
            await self._accept(connection, call)
            cursor = connection.cursor(row_factory=tuple_row)
            if is_behind_pooler:
                async with connection.transaction():
                    await connection.execute(_FRAME, frame, prepare=False)
                    text = await self._clusters.text(connection, call, frame)
                    await cursor.execute(text, call.parameters, prepare=False)
            elif self._frames.get(connection) == frame[1:4]:
                await cursor.execute(*call.naming_model())
            else:
                # One pipeline is one transaction. With autocommit a call is one round trip instead
                # of four, 12 % of an append on the loopback interface. In a pool of the caller the
                # commit is another round trip, since an error ends the pipeline. A connection of
                # our own keeps its timeouts (12 % of the server's time), nothing about a user or
                # the model of a vector: contexts and appends alternate.
                is_own = pool is self._own_pool and not frame[3]
                self._frames.pop(connection, None)
                async with connection.pipeline():
                    text, user = (_FRAME_OF_CONNECTION, "") if is_own else (_FRAME, frame[0])
                    await connection.execute(text, (user, *frame[1:4], ""))
                    await cursor.execute(*call.naming_model())
                if is_own:
                    self._frames[connection] = frame[1:4]
                elif not connection.autocommit:
                    await connection.commit()
            return _columns(cursor), await cursor.fetchall()

    async def _accept(self, connection: AsyncConnection[Any], call: Call) -> None:
        """Raise where a call must not be sent on a connection; here any call may."""

    async def _joined(
        self,
        connection: AsyncConnection[Any],
        call: Call,
        frame: tuple[str, ...],
        deadline: AsyncDeadline,
    ) -> Answer:
        """Send it within the caller's transaction, under a savepoint of its own."""
        async with deadline.over(connection):
            prepare = False if await self._is_behind_pooler(connection) else None
            is_idle = connection.info.transaction_status == TransactionStatus.IDLE
            if is_idle and not connection.autocommit:
                await connection.execute(b"select", prepare=False)  # begins the caller's
            async with connection.transaction():
                if is_idle and connection.autocommit:
                    await connection.execute(_FRAME, frame, prepare=prepare)
                else:
                    identity = (frame[0], *frame[-2:])
                    await connection.execute(_FRAME_OF_CALLER, identity, prepare=prepare)
                cursor = connection.cursor(row_factory=tuple_row)
                text = await self._clusters.text(connection, call, frame)
                await cursor.execute(text, call.parameters, prepare=prepare)
                return _columns(cursor), await cursor.fetchall()

    def _frame(self, call: Call, seconds: float) -> tuple[str, ...]:
        idle = f"{round(self._limits.idle_timeout * 1000)}ms"
        return str(call.user_id or ""), f"{round(seconds * 1000)}ms", idle, call.keys, call.model

    async def _is_behind_pooler(self, connection: AsyncConnection[Any]) -> bool:
        """Return whether a connection leads through a pooler; ask a new one, and teach it halfvec.

        Through a transaction pooler neither pipelines nor prepared statements are safe: PgBouncer
        1.24 leaves clients of pipelines waiting for ever. A pooler makes up the process number and
        key that cancel a query, since the backend changes; so the number differs from the
        backend's own. In session mode it does, too, which costs the pipeline only.
        """
        is_pooled = self._known.get(connection)
        if is_pooled is None:
            cursor = connection.cursor(row_factory=tuple_row)
            found = await (await cursor.execute(_ABOUT, prepare=False)).fetchone()
            pid, oid, array_oid, is_cluster = found or (None, None, None, False)
            is_pooled = self._limits.pooler
            if self._clusters.note(connection, is_cluster) or is_pooled is None:
                is_pooled = is_cluster or pid != connection.info.backend_pid
            if oid is not None:  # else the call itself will say that the schema is missing
                register_vectors(connection, oid, array_oid)
                self._known[connection] = is_pooled
        return is_pooled

    async def _pool(self) -> AsyncConnectionPool[Any]:
        if isinstance(self._target, AsyncConnectionPool):
            self._origin.check()
            _process.refuse_pool(self._target)
            return self._target
        if self._own_pool is not None:
            return self._own_pool
        async with self._lock:
            if self._own_pool is None:
                dsn = await self._dsn()
                # one connection first: its error says what is wrong, a pool's only that it waited
                try:
                    async with await AsyncConnection.connect(dsn, **self._limits.connection(dsn)):
                        pass
                except psycopg.Error as error:
                    raise_translated(error)
                pool = AsyncConnectionPool(
                    dsn, min_size=min(1, self._limits.min_connections), open=False, name="pgrecall",
                    max_size=self._limits.max_connections, timeout=self._limits.connect_timeout,
                    configure=_own, kwargs={**self._limits.connection(dsn), "autocommit": True},
                )  # fmt: skip
                # Else the first call finds none, and the pool opens a second, which has no plans.
                # One only: the server may have no more to give.
                await pool.open(wait=True, timeout=self._limits.connect_timeout)
                await pool.resize(self._limits.min_connections, self._limits.max_connections)
                self._own_pool = pool
            return self._own_pool

    async def _dsn(self) -> str:
        if isinstance(self._target, str):
            return self._target
        if isinstance(self._target, AsyncConnection) or not callable(self._target):
            raise TypeError(f"a {type(self._target).__name__} is no DSN, pool or connection")
        return await AsyncRuntime.in_thread(self._target)


async def _own(connection: AsyncConnection[Any]) -> None:
    _process.owning(connection)


def _columns(cursor: Any) -> list[str]:
    return [column.name for column in cursor.description or ()]


def _may_pass(error: psycopg.Error, repeatable: bool) -> bool:
    """Return whether a call may be sent again, and may succeed then."""
    is_final = isinstance(error, (InterruptedCallError, PoolTimeout, TooManyRequests))
    return isinstance(error, ROLLED_BACK) or (repeatable and not is_final and is_lost(error))
