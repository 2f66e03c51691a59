"""Provide a fresh database for a benchmark, the processor time of its server, and a worker."""

from __future__ import annotations

import contextlib
import json
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
from pgvector.psycopg import register_vector

import pgrecall.schema
from pgrecall.embedded import EmbeddedServer

Request = dict[str, Any]


@contextlib.contextmanager
def database(dsn: str | None, *, dimensions: int) -> Iterator[psycopg.Connection[Any]]:
    """Yield an autocommit connection to a fresh database, and drop the database afterwards.

    Args:
        dsn: a superuser's DSN of a server with pgvector, or None for a temporary embedded server.
        dimensions: numbers in an embedding.
    """
    with contextlib.ExitStack() as stack:
        if dsn is None:
            home = stack.enter_context(tempfile.TemporaryDirectory(prefix="pgrecall-bench-"))
            server = stack.enter_context(EmbeddedServer(home))
            dsn = server.start()
        name = f"bench_{uuid.uuid4().hex[:8]}"
        admin = stack.enter_context(psycopg.connect(dsn, autocommit=True))
        admin.execute(f"create database {name}")
        try:
            with psycopg.connect(dsn, dbname=name, autocommit=True) as db:
                pgrecall.schema.install(db, embedding_dimensions=dimensions, share_roles=True)
                register_vector(db)
                yield db
        finally:
            admin.execute(f"drop database {name} with (force)")


def processor_ms(db: psycopg.Connection[Any]) -> float | None:
    """Return the processor milliseconds of the server process, or None where unknown."""
    try:
        return process_ms(db.info.backend_pid)
    except OSError:
        return None


def process_ms(pid: int) -> float:
    """Return the processor milliseconds of a process with one thread."""
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e6


def do_job(
    ask: Callable[[Request | None], Request], respond: Callable[[Request], Request]
) -> Request:
    """Do a leased job, and return the result of its last call.

    Args:
        ask: calls next_request with an answer.
        respond: answers a chat or embed request, without its request_id.
    """
    request = ask(None)
    while request["type"] in ("chat", "embed"):
        request = ask(respond(request) | {"request_id": request["request_id"]})
    return request


def do_due_jobs(
    db: psycopg.Connection[Any],
    worker: Request,
    respond: Callable[[Request], Request],
    *,
    kinds: list[str] | None = None,
) -> Iterator[tuple[str, uuid.UUID | None]]:
    """Do all due jobs, and yield kind and session of each beforehand."""
    claim = ("select user_id, job_id, lease_token, kind, session_id"
             " from recall.claim_jobs('bench', %s, p_flush => true)")  # fmt: skip
    while found := db.execute(claim, [kinds]).fetchone():
        *job, kind, session = found

        def ask(answer: Request | None, job: list[Any] = job) -> Request:
            row = db.execute("select recall.next_request(%s, %s, %s, %s::jsonb, %s::jsonb)",
                             [*job, json.dumps(worker), json.dumps(answer)]).fetchone()  # fmt: skip
            assert row is not None
            request: Request = row[0]
            return request

        yield kind, session
        end = do_job(ask, respond)
        if end["type"] != "done":
            raise RuntimeError(f"a job ({kind}) ended as {end}")
