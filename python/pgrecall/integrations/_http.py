"""Checks that every HTTP server of the package makes: the header Host, and a token."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

__all__ = ["LOOPBACK", "host_names", "same_token"]

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def host_names(host: str, port: int, allowed: Sequence[str] = ()) -> list[str]:
    """Return the values of the header Host that mean a server; any other is a DNS rebinding.

    Args:
        host: the address that it listens on.
        port: its port.
        allowed: further values, such as the name of a reverse proxy.
    """
    at = f"[{host}]" if ":" in host else host
    names = [f"{at}:{port}", *allowed]
    if host in LOOPBACK:
        names += [f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"]
    return names


def same_token(given: str, token: str) -> bool:
    """Compare tokens in constant time."""
    return hmac.compare_digest(given.encode(), token.encode())
