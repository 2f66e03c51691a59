"""How the integrations append messages that a framework hands them, which they cannot refuse."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pgrecall import ChatSession
from pgrecall._json import dump
from pgrecall.errors import SessionNotActiveError

__all__ = ["append_resuming", "storable"]

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


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


def storable(message: Any) -> Any:
    """Return a message with U+FFFD for NUL and lone surrogates, which PostgreSQL cannot store.

    Answers of tools contain them. A refused message would be refused at every later run, too.
    """
    return _storable(dump(message))  # dump bounds the depth


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable(item) for item in value]
    return value
