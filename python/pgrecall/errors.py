"""The errors of the database as exceptions, by SQLSTATE.

Importing this module registers the classes with psycopg, which then raises them itself, whoever
runs the statement. They stay psycopg errors: `sqlstate` and `diag` are there as on any other.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import errors as psycopg_errors

__all__ = [
    "ConfigurationError",
    "ContextOverflowError",
    "CostLimitError",
    "InvalidEmbeddingError",
    "InvalidInputError",
    "NotAllowedError",
    "NotFoundError",
    "PgRecallError",
    "QuotaError",
    "RequestConflictError",
    "SessionNotActiveError",
]


class PgRecallError(psycopg.DatabaseError):
    """An operation that pgrecall refused; the subclasses say why.

    The driver raises some of them itself, before anything is sent; they look the same.

    Attributes:
        sqlstate: `RC001` to `RC010`.
        message: what went wrong, in one sentence.
        hint: what to do about it, or None.
    """

    __module__ = "pgrecall.errors"

    def __init__(self, *args: Any, hint: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._hint = hint

    @property
    def message(self) -> str:  # noqa: D102
        return self.diag.message_primary or (str(self.args[0]) if self.args else "")

    @property
    def hint(self) -> str | None:  # noqa: D102
        return self._hint or self.diag.message_hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class NotFoundError(PgRecallError, code="RC001"):
    """This user has no such session, memory or job; another user's is just as unknown."""

    __module__ = "pgrecall.errors"


class SessionNotActiveError(PgRecallError, code="RC002"):
    """The session is paused, closed or expired."""

    __module__ = "pgrecall.errors"


class InvalidInputError(PgRecallError, code="RC003"):
    """Malformed input; the message names the element and the field. Nothing was written."""

    __module__ = "pgrecall.errors"


class InvalidEmbeddingError(PgRecallError, code="RC004"):
    """An embedding of the wrong length or model, zero, or not finite."""

    __module__ = "pgrecall.errors"


class CostLimitError(PgRecallError, code="RC005"):
    """The cost limit of the session or the user is reached."""

    __module__ = "pgrecall.errors"


class NotAllowedError(PgRecallError, code="RC006"):
    """Another user than the one of the transaction, or a protected target."""

    __module__ = "pgrecall.errors"


class ConfigurationError(PgRecallError, code="RC007"):
    """Something about the configuration or the installation, or not possible on this server."""

    __module__ = "pgrecall.errors"


class RequestConflictError(PgRecallError, code="RC008"):
    """The same request id came before with a different payload."""

    __module__ = "pgrecall.errors"


class ContextOverflowError(PgRecallError, code="RC009"):
    """The fixed parts alone do not fit the model's window; the message has the numbers."""

    __module__ = "pgrecall.errors"


class QuotaError(PgRecallError, code="RC010"):
    """A source that is not trusted has brought as much as it may in an hour."""

    __module__ = "pgrecall.errors"


_NOT_INSTALLED = (
    psycopg_errors.InvalidSchemaName,
    psycopg_errors.UndefinedFunction,
    psycopg_errors.UndefinedTable,
    psycopg_errors.UndefinedColumn,
)


def translated(error: psycopg.Error) -> psycopg.Error:
    """Return a clearer error for a missing or outdated schema, any other as it is."""
    if isinstance(error, _NOT_INSTALLED):
        message = error.diag.message_primary or str(error)
        return ConfigurationError(
            f"the schema recall is not installed here, or older than this driver: {message}",
            hint="pgrecall install --dsn DSN installs and upgrades it.",
        )
    return error


def is_lost(error: BaseException) -> bool:
    """Return whether the error is a lost or refused connection, or the server's word of its end."""
    return (
        isinstance(error, psycopg.OperationalError)
        and not isinstance(error, psycopg_errors.QueryCanceled)
        and (
            error.sqlstate is None
            or error.sqlstate[:2] in ("08", "53")
            or error.sqlstate[:3] == "57P"
        )
    )
