"""`pgrecall mcp`."""

from __future__ import annotations

import asyncio
import os
import secrets

import click

from pgrecall._packages import pip_install_extra
from pgrecall._sql import User
from pgrecall.cli._output import log_to_stderr, note
from pgrecall.cli._target import (
    no_embedding_option,
    opened_async,
    target_option,
    user_option,
)

__all__ = ["mcp_command"]

_TOKEN = "PGRECALL_MCP_TOKEN"  # noqa: S105


@click.command("mcp")
@user_option
@click.option("--http", metavar="HOST:PORT",
              help="Serve streamable HTTP at /mcp instead of standard input and output. Clients "
              f"need the bearer token of {_TOKEN}; without one a token is made and "
              "printed.")  # fmt: skip
@click.option("--allow-host", "allowed_hosts", metavar="HOST", multiple=True,
              help="With --http: another value of the header Host, such as that of a reverse "
              "proxy. May be repeated.")  # fmt: skip
@click.option("--trust", type=click.Choice(["system_inferred", "user_stated"]),
              default="system_inferred", show_default=True,
              help="The provenance of what clients remember.")  # fmt: skip
@no_embedding_option
@target_option
def mcp_command(
    user: User,
    http: str | None,
    allowed_hosts: tuple[str, ...],
    trust: str,
    no_embedding: bool,
    dsn: str | None,
) -> None:
    """Serve the memory of one user to MCP clients.

    Clients cannot name another user.
    """
    try:
        import mcp  # noqa: F401
    except ImportError as error:
        raise click.UsageError(f"the package mcp is missing: {pip_install_extra('mcp')}") from error
    if allowed_hosts and http is None:
        raise click.UsageError("--allow-host needs --http")
    at = None if http is None else _address(http)
    log_to_stderr("%(message)s")  # uvicorn's and the server's records, too
    asyncio.run(_serve(user, at, allowed_hosts, trust, no_embedding, dsn))


def _address(text: str) -> tuple[str, int]:
    """Return host and port.

    Raises:
        click.UsageError: it is none.
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise click.UsageError(f"--http is {text}: pass HOST:PORT, such as 127.0.0.1:8931")
    return host, int(port)


async def _serve(
    user: User,
    at: tuple[str, int] | None,
    allowed_hosts: tuple[str, ...],
    trust: str,
    no_embedding: bool,
    dsn: str | None,
) -> None:
    """Serve until the client, or a signal, ends it."""
    from pgrecall.integrations.mcp import http_app, memory_server

    async with opened_async(dsn, no_embedding=no_embedding) as memory:
        if at is None:
            await memory_server(memory, user=user, trust=trust).run_stdio_async()  # type: ignore[arg-type]
            return
        import uvicorn

        host, port = at
        token = os.environ.get(_TOKEN, "").strip()
        if not token:
            token = secrets.token_urlsafe(32)
            note(f"bearer token: {token}")
        server = memory_server(memory, user=user, trust=trust, token=token)  # type: ignore[arg-type]
        app = http_app(server, host=host, port=port, allowed_hosts=allowed_hosts)
        note(f"serving the memory of {user} at http://{host}:{port}/mcp")
        config = uvicorn.Config(app, host=host, port=port, log_level="warning", log_config=None)
        await uvicorn.Server(config).serve()
