"""Worker processes that kill -9 ends between any two requests of a job."""

from __future__ import annotations

import os
import signal
import uuid
from typing import Any

import psycopg
import pytest

from support import ask, call
from support.requests import answered, claim
from support.steps import STEPS, Step, done, stored

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]


def killed(dsn: str, step: Step, place: int, *, answers: bool) -> None:
    """Run a client process that SIGKILL ends at its request of this place.

    With `answers` its transaction has handed in the answer, and is open.
    """
    pid = os.fork()
    if pid == 0:
        try:
            conn = psycopg.connect(dsn, autocommit=True)
            job = claim(conn, step.kind)
            request = ask(conn, job, **step.worker)
            for _ in range(place):
                request = ask(conn, job, answered(request, step.script), **step.worker)
            if answers:
                conn.autocommit = False
                ask(conn, job, answered(request, step.script), **step.worker)
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status), "the client failed before its end"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("answers", [False, True], ids=["before its answer", "in its answer"])
@pytest.mark.parametrize("name", STEPS)
def test_killed_client_repeats_one_request_and_changes_nothing(
    db: Connection, dsn: str, user: uuid.UUID, name: str, answers: bool
) -> None:
    step = STEPS[name]
    db.execute("delete from recall.jobs")
    step.make(db, user)
    seen, _ = done(db, step)
    left = stored(db, user)
    for place in range(len(seen)):
        db.execute("delete from recall.jobs")
        unlucky = uuid.uuid4()
        step.make(db, unlucky)
        killed(dsn, step, place, answers=answers)
        db.execute("update recall.jobs set lease_until = now() where state = 'running'")
        call(db, "release_expired_leases")
        db.execute("update recall.jobs set run_at = now()")
        again, end = done(db, step)
        assert [request["purpose"] for request in again] == step.asked[place:]
        assert end["type"] == "done"
        assert stored(db, unlucky) == left, place
