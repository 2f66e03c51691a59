"""Timeouts and sizes of the connections that the driver opens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg.conninfo import conninfo_to_dict

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What every connection of the driver is bound to; times in seconds.

    Attributes:
        statement_timeout: of one statement; 0 is none.
        idle_timeout: of a transaction that does nothing; 0 is none.
        connect_timeout: of opening a connection, and of waiting for one of the pool.
        min_connections: what a pool keeps.
        max_connections: what a pool may have.
        prepare_threshold: executions after which a statement is prepared; None is never, as some
            transaction poolers need it.
        rerank_timeout: what a reranker may take; after it the database's order stays.
    """

    statement_timeout: float = 5.0
    idle_timeout: float = 30.0
    connect_timeout: float = 10.0
    min_connections: int = 1
    max_connections: int = 8
    prepare_threshold: int | None = 5
    rerank_timeout: float = 1.0

    def connection(self, dsn: str) -> dict[str, Any]:
        """Return the parameters of a new connection that the DSN does not name itself."""
        named = conninfo_to_dict(dsn)
        parameters: dict[str, Any] = {"prepare_threshold": self.prepare_threshold}
        if "connect_timeout" not in named:
            parameters["connect_timeout"] = max(2, round(self.connect_timeout))
        if "application_name" not in named:
            parameters["application_name"] = "pgrecall"
        return parameters
