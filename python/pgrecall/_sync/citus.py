# Made from _async/citus.py by `make generate`; change that file, not this.
"""Calls to the coordinator of a Citus cluster."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from psycopg import Connection, sql

from pgrecall._sql import USER, Call

__all__ = ["SyncClusters"]

_SETTINGS = ("recall.user_id", "recall.user_key", "recall.embedding_model")


class SyncClusters:
    """The connections that lead to a coordinator.

    Citus sends a call to the node of its user. `set_config` does not reach that node, a literal
    `SET LOCAL` in the transaction does. Without it the node refuses the call (RC006).
    """

    def __init__(self) -> None:
        self._connections: WeakSet[Connection[Any]] = WeakSet()

    def note(self, connection: Connection[Any], is_cluster: bool) -> bool:
        """Remember whether a new connection leads to a coordinator, and return it.

        The driver then sends each statement alone, in a transaction, as behind a pooler.
        """
        if is_cluster:
            self._connections.add(connection)
        return is_cluster

    def text(self, connection: Connection[Any], call: Call, frame: tuple[str, ...]) -> bytes:
        """Name the user of the transaction to all nodes; return the text of the call."""
        if connection not in self._connections:
            return call.text
        connection.execute(b"set local citus.propagate_set_commands = 'local'", prepare=False)
        for name, value in zip(_SETTINGS, (frame[0], *frame[-2:]), strict=True):
            if value:
                named = sql.SQL("set local {} = {}").format(
                    sql.Identifier(*name.split(".")), sql.Literal(value)
                )
                connection.execute(named, prepare=False)
        # Citus finds the node by a value, not by an expression.
        return call.text.replace(USER.encode(), b"%(user_id)s::uuid")
