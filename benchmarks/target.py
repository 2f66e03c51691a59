"""The database that a benchmark runs in, fresh and dropped afterwards, and its server's work."""

from __future__ import annotations

import contextlib
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
from pgvector.psycopg import register_vector

import pgrecall.schema
from pgrecall.embedded import EmbeddedServer


@contextlib.contextmanager
def database(dsn: str | None, *, dimensions: int) -> Iterator[psycopg.Connection[Any]]:
    """Yield an autocommit connection to it.

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
    """Milliseconds that the connection's server process has worked; None where nobody says."""
    try:
        text = Path(f"/proc/{db.info.backend_pid}/schedstat").read_text(encoding="ascii")
    except OSError:
        return None
    return int(text.split()[0]) / 1e6
