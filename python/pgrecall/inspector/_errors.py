"""Errors of the database for people and programs: message, SQLSTATE, hint, and HTTP status."""

from __future__ import annotations

import sys

import psycopg

from pgrecall.errors import InterruptedCallError, PgRecallError
from pgrecall.models._embedders import EmbeddingError

__all__ = ["describe", "embedding_failures", "status_of"]

_STATUS = {
    "RC001": 404, "RC002": 409, "RC003": 400, "RC004": 400, "RC005": 409, "RC006": 403,
    "RC007": 409, "RC008": 409, "RC009": 409, "RC010": 409, "42501": 403, "25006": 403,
    "57014": 504,
}  # fmt: skip
_HINTS = {
    "42501": "The role of the DSN lacks this right; docs/security/roles.md lists the rights.",
    "25006": "Start pgrecall inspect with --write to allow changes.",
}


def status_of(error: psycopg.Error) -> int:
    """Return the HTTP status of an error."""
    if (code := error.sqlstate) in _STATUS:
        return _STATUS[code]
    # a value that does not convert, in the server (class 22) or in psycopg (without a code)
    if (code or "")[:2] == "22" or (code is None and isinstance(error, psycopg.DataError)):
        return 400
    return 503 if isinstance(error, InterruptedCallError) else 500


def embedding_failures() -> tuple[type[Exception], ...]:
    """Return the errors of embedders; an error of openai needs its module to be loaded already."""
    openai = sys.modules.get("openai")
    return (EmbeddingError,) if openai is None else (EmbeddingError, openai.OpenAIError)


def describe(error: psycopg.Error) -> dict[str, str | None]:
    """Return message, SQLSTATE and hint of an error; never its query or its context."""
    if isinstance(error, (PgRecallError, InterruptedCallError)):
        message, hint = error.message, error.hint
    else:
        message, hint = error.diag.message_primary or str(error), error.diag.message_hint
    return {
        "message": message,
        "code": error.sqlstate,
        "hint": _HINTS.get(error.sqlstate or "", hint),
    }
