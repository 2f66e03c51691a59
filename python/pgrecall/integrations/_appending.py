"""How the integrations append messages that a framework hands them, which they cannot refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pgrecall import ChatSession
from pgrecall._json import dump, storable
from pgrecall.errors import SessionNotActiveError

__all__ = ["append_resuming", "with_storable_text"]


def append_resuming(chat: ChatSession, append: Callable[[Any], object], messages: Any) -> None:
    """Append messages, and resume the session first when nobody has used it for `session_ttl`.

    Raises:
        SessionNotActiveError: the application has closed or paused the session.
    """
    try:
        append(messages)
    except SessionNotActiveError:
        if chat.refresh().status in ("closed", "paused"):
            raise
        chat.resume()
        append(messages)


def with_storable_text(message: Any) -> Any:
    """Return a message with U+FFFD for NUL and lone surrogates, which PostgreSQL cannot store."""
    return storable(dump(message), "message")  # dump bounds the depth
