"""The errors of the database as exceptions, by SQLSTATE.

Importing this module registers the classes with psycopg, which then raises them itself, for
any statement. They stay psycopg errors: `sqlstate` and `diag` are there as on any other.
"""

from __future__ import annotations

from typing import Any, NoReturn

import psycopg
from psycopg import errors as psycopg_errors
from psycopg_pool import PoolTimeout

__all__ = [
    "CallTimeoutError",
    "ConfigurationError",
    "ConnectionLostError",
    "ContextOverflowError",
    "CostLimitError",
    "ForkedError",
    "InterruptedCallError",
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
        sqlstate: `RC001` to `RC010`; None for a `ForkedError`.
    """

    def __init__(self, *args: Any, hint: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._hint = hint

    @property
    def message(self) -> str:
        """The problem, in one sentence."""
        return self.diag.message_primary or (str(self.args[0]) if self.args else "")

    @property
    def hint(self) -> str | None:
        """The remedy, or None."""
        return self._hint or self.diag.message_hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class NotFoundError(PgRecallError, code="RC001"):
    """This user has no such session, memory or job; another user's is just as unknown."""


class SessionNotActiveError(PgRecallError, code="RC002"):
    """The session is paused, closed or expired."""


class InvalidInputError(PgRecallError, code="RC003"):
    """Malformed input; the message names the element and the field. Nothing was written."""


class InvalidEmbeddingError(PgRecallError, code="RC004"):
    """An embedding of the wrong length or model, zero, or not finite."""


class CostLimitError(PgRecallError, code="RC005"):
    """The cost limit of the session or the user is reached."""


class NotAllowedError(PgRecallError, code="RC006"):
    """Another user than the one of the transaction, or a protected target."""


class ConfigurationError(PgRecallError, code="RC007"):
    """Something about the configuration or the installation, or not possible on this server."""


class RequestConflictError(PgRecallError, code="RC008"):
    """The same request id was used before in another session, or with other messages or usage."""


class ContextOverflowError(PgRecallError, code="RC009"):
    """The fixed parts alone do not fit the model's window; the message has the numbers."""


class QuotaError(PgRecallError, code="RC010"):
    """A source that is not trusted has brought as much as it may in an hour."""


class ForkedError(PgRecallError):
    """A child uses what the process that forked it has begun; the error has no SQLSTATE."""


class InterruptedCallError(psycopg.OperationalError):
    """A call that did not come to its end, by no fault of its arguments; the subclasses say why.

    A call that may be repeated was, before this is raised. Its cause is psycopg's error, if any.

    Attributes:
        sqlstate: the server's, such as `57014`; None when it said nothing.
        message: what happened, in one sentence.
        hint: what to do about it, or None.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, sqlstate: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.sqlstate = sqlstate

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class ConnectionLostError(InterruptedCallError):
    """The server cannot be reached, or has ended the connection."""


class CallTimeoutError(InterruptedCallError):
    """A call took longer than a timeout of the server, or than the driver waits for an answer."""


_NOT_INSTALLED = (
    psycopg_errors.InvalidSchemaName,
    psycopg_errors.UndefinedFunction,
    psycopg_errors.UndefinedTable,
    psycopg_errors.UndefinedColumn,
)

# The server's timeouts by SQLSTATE. transaction_timeout ends the connection, too.
_TIMEOUTS = {
    "57014": "statement_timeout or a cancellation; Limits.statement_timeout sets the former.",
    "25P04": "transaction_timeout is a setting of the server, the database or the role.",
    "55P03": "Another transaction holds a lock longer than lock_timeout.",
}


_WRONG_VALUES = {"22003", "22007", "22008", "22P02"}  # out of range, or not of the type


def raise_translated(error: psycopg.Error) -> NoReturn:
    """Raise a clearer error for an interruption, a missing schema or wrong value, else the same."""
    ours = _translated(error)
    raise ours from (error.__cause__ if ours is error else error)


def _translated(error: psycopg.Error) -> psycopg.Error:
    if isinstance(error, InterruptedCallError):
        return error
    message = error.diag.message_primary or str(error)
    if isinstance(error, _NOT_INSTALLED):
        return ConfigurationError(
            f"the schema recall is not installed here, or older than this driver: {message}",
            hint="pgrecall install --dsn DSN installs and upgrades it.",
        )
    if isinstance(error, PoolTimeout):
        return CallTimeoutError(message, hint="All connections are in use, or the server is away.")
    if error.sqlstate in _TIMEOUTS:
        # an erasure names the process that it has waited for
        said = " ".join(filter(None, (error.diag.message_detail, error.diag.message_hint)))
        return CallTimeoutError(
            message, hint=said or _TIMEOUTS[error.sqlstate], sqlstate=error.sqlstate
        )
    if error.sqlstate in _WRONG_VALUES:
        return InvalidInputError(message, hint="It must be a value of the parameter's type.")
    if is_lost(error):
        return ConnectionLostError(message, sqlstate=error.sqlstate)
    return error


def is_lost(error: BaseException) -> bool:
    """Return whether the error is a lost or refused connection, or the server's word of its end."""
    if isinstance(error, (CallTimeoutError, psycopg_errors.QueryCanceled)):
        return False
    if isinstance(error, psycopg.Error) and error.sqlstate == "25P03":
        return True  # idle_in_transaction_session_timeout, which psycopg calls an internal error
    return isinstance(error, psycopg.OperationalError) and (
        error.sqlstate is None or error.sqlstate[:2] in ("08", "53") or error.sqlstate[:3] == "57P"
    )
