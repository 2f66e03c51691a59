"""`pgrecall inspect`."""

from __future__ import annotations

import asyncio
import html
import importlib.util
import os
import secrets
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import click

from pgrecall._packages import pip_install_extra
from pgrecall.cli._output import log_to_stderr, note
from pgrecall.cli._target import (
    described,
    named_dsn,
    no_embedding_option,
    source_arguments,
    target_option,
)

__all__ = ["check_web", "inspect_command", "redirect_file", "serve_inspector"]

_TOKEN = "PGRECALL_INSPECT_TOKEN"  # noqa: S105
_REDIRECT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">
<title>pgrecall inspect</title></head><body><a href="{address}">Open the inspector</a></body></html>
"""


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


def check_web() -> None:
    """Refuse to start without the packages of the extra `web`.

    Raises:
        click.UsageError: one is missing; the message has the command that installs it.
    """
    for name in ("jinja2", "starlette", "uvicorn"):
        if importlib.util.find_spec(name) is None:
            raise click.UsageError(f"the package {name} is missing: {pip_install_extra('web')}")


def serve_inspector(
    dsn: str | None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    allowed_hosts: tuple[str, ...] = (),
    write: bool = False,
    open_browser: bool = False,
    no_embedding: bool = False,
) -> None:
    """Serve an inspector until a signal ends it."""
    check_web()
    log_to_stderr("%(message)s")  # uvicorn's records, too
    import uvicorn

    from pgrecall.inspector import Source, inspector_app
    from pgrecall.integrations._http import LOOPBACK, host_names

    target, options, on_close = source_arguments(dsn, no_embedding=no_embedding)
    source = Source(target, write=write, on_close=on_close, **options)
    token = os.environ.get(_TOKEN, "").strip() or secrets.token_urlsafe(32)
    where = described(named_dsn(dsn))
    at = f"[{host}]" if ":" in host else host

    async def serve() -> None:
        with _bound(host, port) as listener:
            own = listener.getsockname()[1]
            app = inspector_app(
                source,
                token=token,
                hosts=host_names(host, own, allowed_hosts),
                where=where,
            )
            config = uvicorn.Config(app, log_level="warning", log_config=None, access_log=False,
                                    lifespan="off", server_header=False)  # fmt: skip
            listener.listen()
            async with source:
                address = f"http://{at}:{own}/?token={quote(token, safe='')}"
                note(f"{'reading and changing' if write else 'reading'} {where}")
                note(f"open {address}")
                if open_browser:
                    webbrowser.open(redirect_file(Path(folder), address).as_uri())
                await uvicorn.Server(config).serve(sockets=[listener])

    if host not in LOOPBACK and not host.startswith("127."):
        note(f"warning: {host} is reachable from other machines, and HTTP is not encrypted")
    with _cleaning_up_at_sigterm(), tempfile.TemporaryDirectory(prefix="pgrecall-") as folder:
        asyncio.run(serve())


def redirect_file(folder: Path, address: str) -> Path:
    """Write a page that leads to an address, readable by this account only.

    A browser gets the page as its argument: other accounts can read the arguments of a process.
    """
    path = folder / "inspect.html"
    path.touch(mode=0o600)
    path.write_text(_REDIRECT.format(address=html.escape(address)), encoding="utf-8")
    return path


@contextmanager
def _cleaning_up_at_sigterm() -> Iterator[None]:
    """Let SIGTERM end the block by SystemExit, since the default action cleans nothing up."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to an address.

    Raises:
        click.UsageError: the address is in use, or none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise click.UsageError(
            f"cannot listen on {host} port {port}: {error.strerror or error} "
            "(--port 0 takes a free one)"
        ) from error
    return listener
