"""Ids of sessions: new ones, and those that go by a name."""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from uuid import UUID, uuid5

from pgrecall.errors import InvalidInputError

__all__ = ["id_or_name", "new_uuid", "session_uuid"]


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


def id_or_name(text: str) -> str | UUID:
    """Return the text by which an operator names a user or session; as a UUID if we made the id.

    Applications pass such an id as a UUID: as a name it is refused.
    """
    with suppress(ValueError):
        found = UUID(text)
        if found.version in (5, 8) and str(found) == text.lower():
            return found
    return text


def session_uuid(user_id: UUID, name: str | UUID) -> UUID:
    """Return the id of a user's session that is called by a name.

    A text that is a UUID is that UUID; any other becomes the UUIDv5 of the user's id and the name,
    so that two users' sessions of one name stay two.

    Raises:
        InvalidInputError: the name is a UUIDv5, and would name the session of another name; or it
            has half a surrogate pair.
    """
    if isinstance(name, UUID):
        return name
    try:
        session_id = UUID(name)
    except ValueError:
        try:
            return uuid5(user_id, name)
        except UnicodeEncodeError:
            raise InvalidInputError(
                "the name of the session contains half a surrogate pair",
                hint="It is no valid Unicode text.",
            ) from None
    if session_id.version == 5:
        raise InvalidInputError(
            f"{name} is a UUID of version 5, which is no name of a session",
            hint="It may be the id of a session with a name: pass that name. "
            "Pass an id as uuid.UUID.",
        )
    return session_id
