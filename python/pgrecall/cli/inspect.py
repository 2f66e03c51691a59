"""`pgrecall inspect`."""

from __future__ import annotations

import os
import secrets
import webbrowser
from typing import Any

import click

from pgrecall._packages import pip_install_extra
from pgrecall.cli._output import note
from pgrecall.cli._target import (
    described,
    named_dsn,
    no_embedding_option,
    source_arguments,
    target_option,
)

__all__ = ["inspect_command", "serve_inspector"]

_TOKEN = "PGRECALL_INSPECT_TOKEN"  # noqa: S105


@click.command("inspect")
@target_option
@click.option("--host", default="127.0.0.1", show_default=True,
              help="The address to listen on.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8930, show_default=True,
              help="Its port; 0 takes a free one.")  # fmt: skip
@click.option("--allow-host", "allowed_hosts", metavar="HOST", multiple=True,
              help="Another value of the header Host, such as that of a reverse proxy. May be "
              "repeated.")  # fmt: skip
@click.option("--write", is_flag=True,
              help="Allow changes. Without it every transaction is read only.")  # fmt: skip
@click.option("--open", "open_browser", is_flag=True, help="Open a browser.")
@no_embedding_option
def inspect_command(
    dsn: str | None,
    host: str,
    port: int,
    allowed_hosts: tuple[str, ...],
    write: bool,
    open_browser: bool,
    no_embedding: bool,
) -> None:
    """Show in a browser what the agent remembers, and why.

    It has the rights of the DSN's role. The printed address holds a token; who has it may use the
    inspector. PGRECALL_INSPECT_TOKEN names the token, otherwise each start makes a new one.
    """
    serve_inspector(
        dsn,
        host=host,
        port=port,
        allowed_hosts=allowed_hosts,
        write=write,
        open_browser=open_browser,
        no_embedding=no_embedding,
    )


def serve_inspector(
    dsn: str | None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    allowed_hosts: tuple[str, ...] = (),
    write: bool = False,
    open_browser: bool = False,
    no_embedding: bool = False,
    path: str = "/",
) -> None:
    """Serve an inspector until a signal ends it."""
    try:
        import jinja2  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise click.UsageError(
            f"the package {error.name} is missing: {pip_install_extra('web')}"
        ) from error
    from pgrecall.inspector import Source, inspector_app
    from pgrecall.integrations._http import LOOPBACK, host_names

    target, options, on_close = source_arguments(dsn, no_embedding=no_embedding)
    token = os.environ.get(_TOKEN, "").strip() or secrets.token_urlsafe(32)
    config = uvicorn.Config(app=_not_made, host=host, port=port, log_level="warning",
                            access_log=False, server_header=False)  # fmt: skip
    socket = config.bind_socket()
    port = socket.getsockname()[1]
    config.app = inspector_app(
        Source(target, write=write, on_close=on_close, **options),
        token=token,
        hosts=host_names(host, port, allowed_hosts),
        where=described(named_dsn(dsn)),
    )
    at = f"[{host}]" if ":" in host else host
    address = f"http://{at}:{port}{path}?token={token}"
    if host not in LOOPBACK and not host.startswith("127."):
        note(f"warning: {host} is reachable from other machines, and HTTP is not encrypted")
    note(f"{'reading and changing' if write else 'reading'} {described(named_dsn(dsn))}")
    note(f"open {address}")
    if open_browser:
        webbrowser.open(address)
    uvicorn.Server(config).run(sockets=[socket])


async def _not_made(*_: Any) -> None:
    """Stand for the application until the port is known."""
