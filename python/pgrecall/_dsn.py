"""Read a DSN. Errors never quote a malformed one: any part of it may be the password."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from pgrecall.errors import ConfigurationError

__all__ = ["parameters_of"]


def parameters_of(dsn: str) -> dict[str, Any]:
    """Return the parameters that a DSN names.

    Raises:
        ConfigurationError: it is malformed.
    """
    try:
        found = conninfo_to_dict(dsn)
    except (psycopg.Error, ValueError):
        found = None
    # raised out here, so that libpq's error, which quotes the DSN, is not even its context
    if found is None or _is_torn(dsn) or not _is_port(str(found.get("port") or "")):
        raise ConfigurationError(
            "the DSN is malformed; it is not shown, because it may hold a password",
            hint="Such as postgresql://user:password@host:5432/database, with @, /, ?, : and % in "
            "a password written as %40, %2F, %3F, %3A and %25.",
        )
    return found


def _is_torn(dsn: str) -> bool:
    """Return whether libpq would take a part of the password for the host or the database.

    It ends the password of a URI at the first @, and looks for none after a slash.
    """
    scheme, separator, rest = dsn.partition("://")
    if not separator or scheme not in ("postgresql", "postgres"):
        return False
    credentials, at, address = rest.partition("@")
    if not at or "/" in credentials:
        address = rest
    return "@" in address.partition("?")[0]


def _is_port(port: str) -> bool:
    """Return whether it is a port, or a list of one for each host."""
    return all(not one or one.isdecimal() for one in port.split(","))
