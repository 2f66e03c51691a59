"""Conversations: a user's sessions and their messages."""

from __future__ import annotations

from uuid import UUID

from pgrecall._async.base import AsyncClientBase, User
from pgrecall._sql import UNSET, Unset
from pgrecall.rows import Message, Session

__all__ = ["AsyncConversations"]


class AsyncConversations(AsyncClientBase):
    """The methods that read conversations."""

    async def sessions(
        self,
        user: User,
        *,
        status: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
    ) -> list[Session]:
        """Return the user's sessions, newest first; a page goes on after `before_id`."""
        return await self._read_history(
            Session, user, "list_sessions", status=status, limit=limit, before_id=before_id
        )

    async def get_session(self, user: User, session_id: UUID) -> Session | None:
        """Return a session, None when the user has no such one."""
        rows = await self._read_history(Session, user, "get_session", session_id=session_id)
        return rows[0] if rows else None

    async def messages(
        self,
        user: User,
        session_id: UUID,
        *,
        limit: int | Unset = UNSET,
        before_turn: int | Unset = UNSET,
        include_compacted: bool | Unset = UNSET,
    ) -> list[Message]:
        """Return messages of a session, newest first; a page goes on before `before_turn`.

        Raises:
            NotFoundError: the user has no such session.
        """
        return await self._read_history(
            Message,
            user,
            "get_messages",
            session_id=session_id,
            limit=limit,
            before_turn=before_turn,
            include_compacted=include_compacted,
        )
