"""Timeouts and sizes of the connections that the driver opens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pgrecall._dsn import parameters_of

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Timeouts and sizes of every connection of the driver; times in seconds.

    Attributes:
        statement_timeout: of one statement; 0 is none, and then no call has a deadline.
        idle_timeout: of a transaction that does nothing; 0 is none.
        connect_timeout: of opening a connection, and of waiting for one of the pool.
        answer_timeout: of an answer, in addition to these two; a call that is not answered by
            then ends with `CallTimeoutError`, and its connection is closed.
        min_connections: connections that a pool keeps open.
        max_connections: connections that a pool may open.
        pooler: whether connections lead through a transaction pooler such as PgBouncer, where
            nothing is pipelined or prepared; None finds out, connection by connection.
        rerank_timeout: of a reranker; after it the order of the database stays.
        max_lag: of a standby; beyond it reads go to the primary. See `AgentMemory.connect`.
    """

    statement_timeout: float = 5.0
    idle_timeout: float = 30.0
    connect_timeout: float = 10.0
    answer_timeout: float = 5.0
    min_connections: int = 1
    max_connections: int = 8
    pooler: bool | None = None
    rerank_timeout: float = 1.0
    max_lag: float = 10.0

    def connection(self, dsn: str) -> dict[str, Any]:
        """Return the parameters of a new connection that the DSN does not name itself.

        Raises:
            ConfigurationError: the DSN is malformed.
        """
        named = parameters_of(dsn)
        parameters: dict[str, Any] = {}
        if "connect_timeout" not in named:
            parameters["connect_timeout"] = max(2, round(self.connect_timeout))
        if "application_name" not in named:
            parameters["application_name"] = "pgrecall"
        return parameters

    def deadline(self, statement_timeout: float) -> float | None:
        """Return the seconds within which a call of this timeout has its answer, None for any."""
        if statement_timeout == 0:
            return None
        return self.connect_timeout + statement_timeout + self.answer_timeout
