"""Which database a command works on."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator, Sized
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pgrecall import AgentMemory, AsyncAgentMemory, Limits, ModelSettings
from pgrecall._dsn import parameters_of
from pgrecall._names import id_or_name
from pgrecall._sql import User
from pgrecall.cli._output import note
from pgrecall.errors import NotFoundError
from pgrecall.models._embedders import Embedder

if TYPE_CHECKING:
    from pgrecall.settings import Settings

__all__ = ["described", "json_option", "named_dsn", "no_embedding_option", "note_unknown_user",
           "opened", "opened_async",
           "source_arguments", "target_option", "user_option"]  # fmt: skip

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
        "--user", required=True, type=id_or_name, metavar="USER", help="Whose: a UUID, or any name."
    )(function)


def no_embedding_option(function: Function) -> Function:
    """Add `--no-embedding`."""
    return click.option(
        "--no-embedding", is_flag=True, help="Make no vectors: search by words only."
    )(function)


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
    parts = parameters_of(dsn)
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
    arguments, target = _arguments(dsn, no_embedding=no_embedding, limits=limits)
    arguments |= {"llm": llm} | ({} if no_embedding or embedder is None else {"embedder": embedder})
    if target is None:
        memory = AgentMemory.embedded(**arguments)
    else:
        memory = AgentMemory.connect(target, **arguments)
    with memory:
        yield memory


@asynccontextmanager
async def opened_async(
    dsn: str | None, *, no_embedding: bool = False
) -> AsyncIterator[AsyncAgentMemory]:
    """Open the memory that an asynchronous command works on, and close it after."""
    arguments, target = _arguments(dsn, no_embedding=no_embedding)
    if target is None:
        memory = AsyncAgentMemory.embedded(**arguments)
    else:
        memory = AsyncAgentMemory.connect(target, **arguments)
    async with memory:
        yield memory


def source_arguments(
    dsn: str | None, *, no_embedding: bool = False
) -> tuple[str | Callable[[], str], dict[str, Any], Callable[[], object] | None]:
    """Return what `pgrecall.inspector.Source` takes: target, options, and what to do at the end."""
    arguments, target = _arguments(dsn, no_embedding=no_embedding)
    options = {key: arguments[key] for key in ("embedder", "limits", "wrapping_keys", "sealed")}
    if target is not None:
        return target, options, None
    from pgrecall._setup import EmbeddedDatabase

    database = EmbeddedDatabase()
    return database.start, options, database.stop


def _arguments(
    dsn: str | None, *, no_embedding: bool, limits: Limits | None = None
) -> tuple[dict[str, Any], str | None]:
    """Return the arguments of `connect` or `embedded`, and the target (None: embedded)."""
    settings = _environment()
    target = named_dsn(dsn)
    arguments: dict[str, Any] = {
        "embedder": False if no_embedding else None,
        "limits": limits or settings.limits(),
        "wrapping_keys": settings.keys(),
        "sealed": settings.sealed,
    }
    if target is not None and dsn is None and settings.dsn:  # the others belong to that one
        arguments |= settings.other_dsns()
    return arguments, target


def check_user(memory: AgentMemory, user: User) -> None:
    """Raise for a user whom the database does not know.

    Raises:
        NotFoundError: there is no such user.
    """
    try:
        memory.privacy.export_head(user)
    except NotFoundError:
        raise NotFoundError(
            f"there is no user {user}", hint="A first session or memory makes one."
        ) from None


def note_unknown_user(memory: AgentMemory, user: User, found: Sized) -> None:
    """Say beside an empty result that the database does not know the user."""
    if found:
        return
    try:
        memory.privacy.export_head(user)
    except NotFoundError:
        note(f"there is no user {user}")


def _environment() -> Settings:
    """Return what the environment says.

    Raises:
        click.UsageError: a variable has no sense.
    """
    from pydantic import ValidationError

    from pgrecall.settings import Settings

    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = f"PGRECALL_{first['loc'][0]}".upper()
        raise click.UsageError(f"{name} is {first['input']}: {first['msg']}") from None
