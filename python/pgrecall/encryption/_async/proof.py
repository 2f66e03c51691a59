"""Compare the words of an encrypted user here: the database compares those of other users."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pgrecall._async.core import AsyncCore
from pgrecall._options import MemoryFields
from pgrecall._sql import JSON, User
from pgrecall.encryption._statements import prove
from pgrecall.rows import Memory, Message

__all__ = ["denies", "proven"]

_PROVING_MESSAGES = 200  # of the session, which are decrypted
_UNTRUSTED = ("tool_output", "system_inferred")
_OF_CALL = {"embedding", "session_id", "user_words", "current_message"}  # in no candidate


async def proven(core: AsyncCore, user: User, content: str, fields: MemoryFields) -> JSON | None:
    """Return a text as a candidate that the user stated, if their words prove it; None else."""
    words = fields.get("user_words")
    verdict, turn_ids = await _verdict(
        core, user, fields.get("session_id"), content, words, fields.get("current_message")
    )
    if verdict != "states" or fields.get("provenance") in _UNTRUSTED:
        return None
    own: dict[str, Any] = {key: value for key, value in fields.items() if key not in _OF_CALL}
    own["metadata"] = {**fields.get("metadata", {}), "user_words": words}
    return {
        "provenance": "user_stated",
        "content": content,
        **own,
        "source": "conversation",
        "source_turn_ids": turn_ids,
    }


async def denies(
    core: AsyncCore,
    user: User,
    memory: Memory,
    session_id: UUID,
    words: str | None,
    current_message: str | None,
) -> bool:
    """Return whether the user's words take back an active memory that the user stated."""
    if not memory.is_active or memory.provenance in _UNTRUSTED:
        return False
    verdict, _ = await _verdict(core, user, session_id, memory.content, words, current_message)
    return verdict == "denies"


async def _verdict(
    core: AsyncCore,
    user: User,
    session_id: UUID | None,
    content: str,
    words: str | None,
    current_message: str | None,
) -> tuple[str | None, list[UUID]]:
    """Return what the words prove of a text, and the message that has them."""
    if not words or session_id is None:
        return None, []
    messages = await core.read_history(
        Message, user, "get_messages", session_id=session_id, limit=_PROVING_MESSAGES
    )
    return prove(words, content, current_message, messages)
