"""Ids of sessions: new ones, and those that go by a name."""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from uuid import UUID, uuid5

__all__ = ["new_uuid", "session_uuid"]


def new_uuid(milliseconds: int | None = None) -> UUID:
    """Return a new UUIDv7 (RFC 9562), as `recall.uuidv7` does: milliseconds, then random bits.

    Args:
        milliseconds: since 1970; by default those of this machine's clock.
    """
    if milliseconds is None:
        milliseconds = time.time_ns() // 1_000_000
    number = milliseconds << 80 | secrets.randbits(80)
    number = number & ~(0xF << 76) | 0x7 << 76  # the version
    return UUID(int=number & ~(0x3 << 62) | 0x2 << 62)  # the variant


def session_uuid(user_id: UUID, name: str | UUID) -> UUID:
    """Return the id of a user's session that is called by a name.

    A text that is a UUID is that UUID; any other becomes the UUIDv5 of the user's id and the name,
    so that two users' sessions of one name stay two.
    """
    if isinstance(name, UUID):
        return name
    with suppress(ValueError):
        return UUID(name)
    return uuid5(user_id, name)
