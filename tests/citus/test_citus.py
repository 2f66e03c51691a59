"""The contract on a Citus cluster: `make test-citus DSN=…` names its coordinator.

docs/operations/scale-out.md has the results.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from pgrecall.errors import NotFoundError
from support import append, call, open_session, raise_errors, refused, rows, said, together, value
from support.clusters import Cluster, act_as
from support.comparing import outcome
from support.everyfunction import CALLS, Call, World, furnish
from support.installing import install_by_psql
from support.two_users import ALPHA, BRAVO

Connection = psycopg.Connection[Any]

NOT_ON_CITUS = {
    "import_user": "RC007: import_user does not run on Citus",
}
"""Functions that fail, and how."""

OTHERWISE = {
    "drop_expired_partitions": "distribute makes months that are past their retention",
    "enqueue_missing_embeddings": "it counts one more",
    "forget_user": "purge_expired deletes the system prompts",
}
"""Functions that answer differently, and why."""


@pytest.fixture(scope="module")
def both(cluster: Cluster) -> Iterator[list[tuple[Connection, World]]]:
    """The same user on one node and on the cluster."""
    with psycopg.connect(cluster.single, autocommit=True) as one, cluster.connect() as other:
        yield [(conn, furnish(conn, "marked")) for conn in (one, other)]


@pytest.mark.parametrize("asked", CALLS, ids=str)
def test_every_function_answers_as_on_one_node(
    both: list[tuple[Connection, World]], asked: Call
) -> None:
    expected, found = (outcome(conn, asked, world) for conn, world in both)
    if asked.function in OTHERWISE:
        assert found.startswith("["), OTHERWISE[asked.function]
    else:
        assert found == NOT_ON_CITUS.get(asked.function, expected)


def test_health_says_whether_the_nodes_answer_each_other(conn: Connection) -> None:
    asked = "select concat(status, ': ', detail) from recall.health() where name = 'nodes'"
    nodes = value(conn, "select count(*) from pg_dist_node")
    assert value(conn, asked) == f"ok: {nodes} nodes answer each other"
    with conn.transaction(force_rollback=True):
        conn.execute("update pg_dist_node set nodeport = 1 where groupid = 1")
        found = value(conn, asked)
    assert found.startswith("fail: no connection to ")
    assert ":1 from " in found
    with conn.transaction(force_rollback=True):
        conn.execute(
            "create or replace function recall.version() returns text language sql"
            " stable parallel safe return '9.9.9'"
        )
        assert ", this node 9.9.9" in value(conn, asked)


def test_distribute_is_repeatable(conn: Connection) -> None:
    (done,) = call(conn, "distribute")
    assert done["table_count"] == 0
    assert done["function_count"] > 500


def test_no_function_is_open_to_all_on_a_worker(cluster: Cluster) -> None:
    for worker in cluster.workers[:-1]:
        with psycopg.connect(worker, autocommit=True) as conn:
            opened = conn.execute(
                "select has_function_privilege('public', p.oid, 'execute') from pg_proc as p"
                " where p.pronamespace = 'recall'::regnamespace"
            ).fetchall()
        assert len(opened) > 500
        assert (True,) not in opened


def test_no_call_is_answered_without_an_identity(cluster: Cluster, conn: Connection) -> None:
    """set_config does not travel, so the other node cannot know the user of the transaction."""
    mine, others = furnish(conn, ALPHA), furnish(conn, BRAVO)
    ask = "select * from recall.search(%s, 'likes')"
    with psycopg.connect(cluster.dsn, autocommit=True) as plain:
        with refused("RC006", "came from another node"):
            plain.execute(ask, [others["user"]])
        with plain.transaction(force_rollback=True):
            plain.execute("select set_config('recall.user_id', %s, true)", [str(mine["user"])])
            with refused("RC006", "came from another node"):
                plain.execute(ask, [others["user"]])
        with plain.transaction(force_rollback=True):
            act_as(plain, mine["user"])
            found = plain.execute(ask, [mine["user"]]).fetchall()
            assert ALPHA in str(found)
            assert BRAVO not in str(found)
        with plain.transaction(force_rollback=True):
            act_as(plain, mine["user"])
            with refused("RC006", "is not the user of this transaction"):
                plain.execute(ask, [others["user"]])
        # the identity does not stay on the connections between the nodes
        with refused("RC006", "came from another node"):
            plain.execute(ask, [mine["user"]])


@pytest.fixture(scope="module")
def worlds_here(cluster: Cluster) -> tuple[World, World]:
    with cluster.connect() as conn:
        return furnish(conn, ALPHA), furnish(conn, BRAVO)


@pytest.mark.parametrize("asked", [one for one in CALLS if one.of_user], ids=str)
def test_no_call_shows_rows_of_another_user(
    cluster: Cluster, worlds_here: tuple[World, World], asked: Call
) -> None:
    mine, others = worlds_here
    with psycopg.connect(cluster.dsn, autocommit=True) as plain:
        with plain.transaction(force_rollback=True):
            act_as(plain, mine["user"])
            with pytest.raises(psycopg.Error) as by_statement:
                plain.execute(asked.query.encode(), others).fetchall()
        with plain.transaction(force_rollback=True):
            plain.execute("select set_config('recall.user_id', %s, true)", [str(mine["user"])])
            with pytest.raises(psycopg.Error) as by_function:
                plain.execute(asked.query.encode(), others).fetchall()
    assert [by_statement.value.sqlstate, by_function.value.sqlstate] == ["RC006", "RC006"]


def test_no_job_is_claimed_twice(cluster: Cluster, conn: Connection) -> None:
    users = [uuid.uuid4() for _ in range(20)]
    for user in users:
        session = open_session(conn, user)
        append(conn, user, session, said("hello"))
        call(conn, "enqueue_job", p_user_id=user, p_kind="merge", p_session_id=session,
             p_dedupe_key="race")  # fmt: skip

    def claim() -> list[uuid.UUID]:
        with psycopg.connect(cluster.dsn, autocommit=True) as worker:
            return [
                job["job_id"]
                for _ in range(20)
                for job in call(worker, "claim_jobs", p_worker=str(uuid.uuid4()),
                                p_kinds=["merge"], p_limit=2)
            ]  # fmt: skip

    claimed = together([claim, claim])
    raise_errors(claimed)
    both_ids = [*claimed[0], *claimed[1]]
    assert len(both_ids) == len(set(both_ids)) >= len(users)


def test_erasure_leaves_nothing_while_the_user_writes(cluster: Cluster, conn: Connection) -> None:
    user = furnish(conn, "leaving")["user"]
    is_over = threading.Event()

    def write() -> int:
        count = 0
        with (
            cluster.connect() as own,
            suppress(NotFoundError, psycopg.errors.SerializationFailure),
        ):
            session = open_session(own, user)
            while not is_over.is_set():
                append(own, user, session, said("hello"))
                count += 1
        return count

    def erase() -> None:
        call(conn, "forget_user", p_user_id=user)
        is_over.set()

    raise_errors(together([write, erase]))
    assert left(conn, user) == {}


def left(conn: Connection, user: uuid.UUID) -> dict[str, int]:
    """Return how many rows of a user are left, by table."""
    found = {
        row["name"]: value(conn, f"select count(*) from {row['name']} where user_id = %s", [user])
        for row in rows(conn, "select t.name::text from recall._user_tables() as t")
    }
    return {name: count for name, count in found.items() if count}


def test_upgrade_of_a_distributed_schema(cluster: Cluster, conn: Connection) -> None:
    user = uuid.uuid4()
    session = open_session(conn, user)
    append(conn, user, session, said("before"))
    with psycopg.connect(cluster.dsn, autocommit=True) as plain:
        assert value(plain, "select count(*) from pg_dist_partition") > 0
    install_by_psql(cluster.dsn)
    call(conn, "distribute")
    append(conn, user, session, said("after"))
    found = call(conn, "get_messages", p_user_id=user, p_session_id=session)
    assert {row["content"] for row in found} == {"before", "after"}
    with (
        psycopg.connect(cluster.dsn, autocommit=True) as plain,
        refused("RC006", "came from another node"),
    ):
        call(plain, "search", p_user_id=user, p_query="before")


def test_a_node_is_added_and_shards_move_under_load(cluster: Cluster, conn: Connection) -> None:
    """Appends go on; each that was answered is there afterwards."""
    user = uuid.uuid4()
    session = open_session(conn, user)
    is_over = threading.Event()

    def write() -> int:
        count = 0
        with cluster.connect() as own:
            while not is_over.is_set():
                append(own, user, session, said(f"message {count}"))
                count += 1
        return count

    def grow() -> None:
        try:
            with psycopg.connect(cluster.dsn, autocommit=True) as plain:
                plain.execute("select citus_add_node(%s, %s)", cluster.spare)
                plain.execute(
                    "select rebalance_table_shards(shard_transfer_mode => 'block_writes')"
                )
        finally:
            is_over.set()

    results = together([write, grow])
    raise_errors(results)
    kept = value(conn, "select count(*) from recall.conversation_history where user_id = %s",
                 [user])  # fmt: skip
    assert kept == results[0] > 0
    shards = rows(conn, "select nodeport, count(*) from citus_shards where table_name ="
                        " 'recall.users'::regclass group by 1")  # fmt: skip
    assert len(shards) == len(cluster.workers)
