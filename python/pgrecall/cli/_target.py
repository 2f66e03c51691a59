"""Which database a command works on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import click
from psycopg.conninfo import conninfo_to_dict

from pgrecall import AgentMemory, Limits, ModelSettings
from pgrecall.embedding import Embedder

__all__ = ["described", "json_option", "named_dsn", "no_embedding_option", "opened",
           "target_option", "user_option"]  # fmt: skip

Function = TypeVar("Function", bound=Callable[..., Any])

# these say where a server is; PGUSER or PGPASSWORD alone do not
_PG_VARIABLES = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE")


def target_option(function: Function) -> Function:
    """Add `--dsn`."""
    return click.option(
        "--dsn",
        metavar="DSN",
        help="The server, such as postgresql://user@host/db. Default: PGRECALL_DSN, the PG* "
        "variables, else the embedded server in PGRECALL_HOME.",
    )(function)


def json_option(function: Function) -> Function:
    """Add `--json`."""
    option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    return option(function)


def user_option(function: Function) -> Function:
    """Add `--user`."""
    return click.option(
        "--user", required=True, metavar="USER", help="Whose: a UUID, or any name."
    )(function)


def no_embedding_option(function: Function) -> Function:
    """Add `--no-embedding`."""
    return click.option("--no-embedding", is_flag=True, help="Make no vectors: go by words only.")(
        function
    )


def named_dsn(dsn: str | None) -> str | None:
    """Return the DSN that is meant, `""` for the PG* variables, None for the embedded server."""
    if dsn is not None:
        return dsn
    if named := os.environ.get("PGRECALL_DSN"):
        return named
    if any(os.environ.get(variable) for variable in _PG_VARIABLES):
        return ""
    return None


def described(dsn: str | None) -> str:
    """Return where a DSN leads, without its password."""
    if dsn is None:
        from pgrecall.embedded import default_home

        return f"the embedded server in {default_home()}"
    parts = {**conninfo_to_dict(dsn)}
    host = parts.get("host") or os.environ.get("PGHOST") or "localhost"
    database = parts.get("dbname") or os.environ.get("PGDATABASE") or "the default database"
    return f"{database} on {host}"


@contextmanager
def opened(
    dsn: str | None,
    *,
    no_embedding: bool = False,
    embedder: Embedder | None = None,
    llm: ModelSettings | None = None,
    limits: Limits | None = None,
) -> Iterator[AgentMemory]:
    """Open the memory that a command works on, and close it after."""
    from pgrecall.settings import Settings

    chosen: Embedder | Literal[False] | None = False if no_embedding else embedder
    target, keys = named_dsn(dsn), Settings().keys()
    memory = (
        AgentMemory.embedded(embedder=chosen, llm=llm, limits=limits, wrapping_keys=keys)
        if target is None
        else AgentMemory.connect(
            target, embedder=chosen, llm=llm, limits=limits, wrapping_keys=keys
        )
    )
    with memory:
        yield memory
