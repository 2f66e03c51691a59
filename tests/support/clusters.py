"""A database on each node of a Citus cluster, and one that is not distributed beside it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import conninfo, sql

from pgrecall import schema
from support.servers import DIMENSIONS

_OF_USER = re.compile(r'"?recall"?\."?\w+"?\((?:"?p_user_id"? => )?%(?:\((p_user_id|user)\))?s')


_PATIENT = 'select recall.configure(\'{"maintenance_lock_time": "1 minute"}\')'


class IdentityCursor(psycopg.Cursor[Any]):
    """A cursor that names the user of each call as Citus takes it to other nodes."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        """Execute a statement, in a transaction with the identity of its user, if it has one."""
        user = user_of(query, params, self.connection)
        if user is None:
            return super().execute(query, params, **options)
        with self.connection.transaction():
            act_as(self.connection, user)
            return super().execute(query, params, **options)


def user_of(query: Any, params: Any, conn: psycopg.Connection[Any]) -> uuid.UUID | None:
    """Return the user whose function a statement calls."""
    text = query.as_string(conn) if isinstance(query, sql.Composable) else query
    text = text.decode() if isinstance(text, bytes) else text
    found = _OF_USER.search(text)
    if found is None or not params:
        return None
    user = (
        params[found[1]] if isinstance(params, Mapping) else
        params[0] if isinstance(params, Sequence) else None
    )  # fmt: skip
    return user if isinstance(user, uuid.UUID) else None


def act_as(conn: psycopg.Connection[Any], user: uuid.UUID) -> None:
    """Limit the transaction to a user, on all nodes."""
    cursor = psycopg.Cursor(conn)
    cursor.execute("set local citus.propagate_set_commands = 'local'")
    cursor.execute(f"set local recall.user_id = '{user}'".encode())


@dataclass(frozen=True)
class Cluster:
    """A cluster with the schema distributed.

    Attributes:
        dsn: a superuser's DSN of the coordinator.
        single: that of a database on the same server that is not distributed.
        workers: the DSN of each worker.
        spare: host and port of the last worker, which does not belong to the cluster at first.
    """

    dsn: str
    single: str
    workers: list[str]
    spare: tuple[str, int]

    def connect(self, **parameters: Any) -> psycopg.Connection[Any]:
        """Connect to the coordinator; each call names its user."""
        conn = psycopg.connect(self.dsn, autocommit=True, **parameters)
        conn.cursor_factory = IdentityCursor
        return conn


@contextmanager
def running_cluster(admin: str) -> Iterator[Cluster]:
    """Give a cluster of a database of its own on the nodes that a coordinator knows.

    The last worker has the database, but does not belong to the cluster.
    """
    name = f"recall_citus_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(admin, autocommit=True) as conn:
        nodes = conn.execute(
            "select nodename, nodeport from pg_dist_node where groupid <> 0 order by groupid"
        ).fetchall()
    parts = conninfo.conninfo_to_dict(admin)
    workers = [conninfo.make_conninfo(admin, host=host, port=port) for host, port in nodes]
    with ExitStack() as stack:
        for server in [admin, *workers]:
            stack.callback(_drop, server, name)
            _create(server, name)
        stack.callback(_drop, admin, f"{name}_single")
        _create(admin, f"{name}_single", extensions=())
        cluster = Cluster(
            conninfo.make_conninfo(admin, dbname=name),
            conninfo.make_conninfo(admin, dbname=f"{name}_single"),
            [conninfo.make_conninfo(server, dbname=name) for server in workers],
            nodes[-1],
        )
        sizes: dict[str, Any] = {"embedding_dimensions": DIMENSIONS, "hash_partitions": 0,
                                 "share_roles": True}  # fmt: skip
        with psycopg.connect(cluster.single, autocommit=True) as conn:
            schema.install(conn, **sizes)
            conn.execute(_PATIENT)
        with psycopg.connect(cluster.dsn, autocommit=True) as conn:
            conn.execute("select citus_set_coordinator_host(%s, %s)",
                         [parts["host"], int(str(parts.get("port", 5432)))])  # fmt: skip
            for host, port in nodes[:-1]:
                conn.execute("select citus_add_node(%s, %s)", [host, port])
            schema.install(conn, **sizes)
            conn.execute("select recall.distribute(8)")
            conn.execute(_PATIENT)
        yield cluster


def _create(server: str, name: str, extensions: Sequence[str] = ("citus",)) -> None:
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute("set citus.enable_create_database_propagation = off")
        conn.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    with psycopg.connect(conninfo.make_conninfo(server, dbname=name), autocommit=True) as conn:
        for extension in extensions:
            conn.execute(sql.SQL("create extension {}").format(sql.Identifier(extension)))


def _drop(server: str, name: str) -> None:
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(
            sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
        )
