"""Requests of jobs in databases of many partitions, and by a plain worker role in two databases."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from typing import Any

import psycopg
import pytest
from psycopg import conninfo

from support import NODE, ask, login_role
from support.requests import answered, claim
from support.servers import DIMENSIONS, TestServer
from support.steps import STEPS, done, stored

Connection = psycopg.Connection[Any]
PARTITIONS = 8


LEAF = re.compile(r"(\w+)_p(\d+)(?:_\w+)?")


def widest(plans: list[str]) -> tuple[int, str]:
    """Return how many hash partitions of one table a plan reads at most, and that plan."""
    found = (0, "")
    for plan in plans:
        leaves = {leaf.group(1, 2) for _, _, table in NODE.findall(plan)
                  if (leaf := LEAF.fullmatch(table))}  # fmt: skip
        counts = Counter(table for table, _ in leaves)
        found = max(found, (max(counts.values(), default=0), plan))
    return found


@pytest.mark.slow
def test_no_request_reads_all_partitions(server: TestServer) -> None:
    """From the sixth call on plans are generic; each statement reads the leaf of its user."""
    name = server.create_database("requests")
    try:
        with psycopg.connect(server.dsn(name), autocommit=True) as conn:
            server.install(conn, embedding_dimensions=DIMENSIONS, hash_partitions=PARTITIONS)
            plans: list[str] = []
            for step_name, step in STEPS.items():
                for number in range(6):
                    conn.execute("delete from recall.jobs")
                    step.make(conn, uuid.uuid4())
                    if number == 5:
                        conn.execute("load 'auto_explain'")
                        conn.execute("set auto_explain.log_min_duration = 0")
                        conn.execute("set auto_explain.log_nested_statements = on")
                        conn.execute("set auto_explain.log_level = 'notice'")
                        conn.add_notice_handler(
                            lambda notice: plans.append(notice.message_primary or "")
                        )
                    job = claim(conn, step.kind)
                    plans.clear()
                    request = ask(conn, job, **step.worker)
                    while request["type"] in ("chat", "embed"):
                        request = ask(conn, job, answered(request, step.script), **step.worker)
                    assert request["type"] == "done"
                assert len(plans) > 10
                most, plan = widest(plans)
                assert most == 1, (step_name, plan)
                plans.clear()
                conn.execute("select count(*) from recall.memory_store")
                assert widest(plans)[0] == PARTITIONS
                conn.execute("set auto_explain.log_min_duration = -1")
    finally:
        server.drop_database(name)


@pytest.mark.parametrize("name", STEPS)
def test_worker_role_does_the_jobs_of_one_user_in_two_databases(
    db: Connection, dsn: str, server: TestServer, user: uuid.UUID, name: str
) -> None:
    """One login, the same user's id in both; transactions of that user, no rights on tables."""
    step = STEPS[name]
    other_dsn = server.dsn(server.cloned_database("requests_two"))
    with (
        psycopg.connect(other_dsn, autocommit=True) as other,
        login_role(db, member_of=["recall_worker"]) as login,
    ):
        for conn in (db, other):
            conn.execute("delete from recall.jobs")
            step.make(conn, user)
        found = []
        for conn, where in ((db, dsn), (other, other_dsn)):
            identity = conninfo.make_conninfo(where, **login, options=f"-c recall.user_id={user}")
            with psycopg.connect(identity, autocommit=True) as worker:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    worker.execute("select from recall.jobs")
                seen, end = done(worker, step)
                assert [request["purpose"] for request in seen] == step.asked
                assert end["type"] == "done"
            found.append(stored(conn, user))
        assert found[0] == found[1]
