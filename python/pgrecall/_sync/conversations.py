# Made from _async/conversations.py by `make generate`; change that file, not this.
"""Conversations: a user's sessions and their messages."""

from __future__ import annotations

from uuid import UUID

from pgrecall._sql import UNSET, Unset
from pgrecall._sync.base import ClientBase, User
from pgrecall.rows import Message, Session

__all__ = ["Conversations"]


class Conversations(ClientBase):
    """The methods that read conversations."""

    def sessions(
        self,
        user: User,
        *,
        status: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
    ) -> list[Session]:
        """Return the user's sessions, newest first; a page goes on after `before_id`."""
        return self._read_history(
            Session, user, "list_sessions", status=status, limit=limit, before_id=before_id
        )

    def get_session(self, user: User, session_id: UUID) -> Session | None:
        """Return a session, None when the user has no such one."""
        rows = self._read_history(Session, user, "get_session", session_id=session_id)
        return rows[0] if rows else None

    def messages(
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
        return self._read_history(
            Message,
            user,
            "get_messages",
            session_id=session_id,
            limit=limit,
            before_turn=before_turn,
            include_compacted=include_compacted,
        )
