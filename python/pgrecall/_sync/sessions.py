# Made from _async/sessions.py by `make generate`; change that file, not this.
"""`AgentMemory.sessions`: sessions and their messages are listed and searched."""

from __future__ import annotations

import builtins
from datetime import datetime
from uuid import UUID

from pgrecall._sql import JSON, UNSET, Unset, User, Vector
from pgrecall._sync.core import Core
from pgrecall._sync.retrieval import Retrieval, with_dates
from pgrecall.models._rerankers import RERANKED, Reranker, at_least, first
from pgrecall.rows import Message, MessageHit, Session, SessionHit

__all__ = ["Sessions"]


class Sessions:
    """Sessions of users, and the messages in them; `AgentMemory.session` opens one."""

    def __init__(self, core: Core, retrieval: Retrieval) -> None:
        self._core = core
        self._retrieval = retrieval

    def list(
        self,
        user: User,
        *,
        status: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
    ) -> builtins.list[Session]:
        """Return the user's sessions, newest first; a page goes on after `before_id`."""
        return self._core.read_history(
            Session, user, "list_sessions", status=status, limit=limit, before_id=before_id
        )

    def get(self, user: User, session_id: UUID) -> Session | None:
        """Return a session, None when the user has no such one."""
        rows = self._core.read_history(Session, user, "get_session", session_id=session_id)
        return rows[0] if rows else None

    def messages(
        self,
        user: User,
        session_id: UUID,
        *,
        limit: int | Unset = UNSET,
        before_turn: int | Unset = UNSET,
        include_compacted: bool | Unset = UNSET,
    ) -> builtins.list[Message]:
        """Return messages of a session, newest first; a page goes on before `before_turn`.

        Raises:
            NotFoundError: the user has no such session.
        """
        return self._core.read_history(
            Message,
            user,
            "get_messages",
            session_id=session_id,
            limit=limit,
            before_turn=before_turn,
            include_compacted=include_compacted,
        )

    def search_messages(
        self,
        user: User,
        query: str,
        *,
        embedding: Vector | Unset | None = UNSET,
        limit: int | Unset = UNSET,
        filter: JSON | Unset = UNSET,  # noqa: A002
        asked_at: datetime | None = None,
        dates: bool = True,
        reranker: Reranker | Unset | None = UNSET,
    ) -> builtins.list[MessageHit]:
        """Return messages of all the user's sessions that answer a query, best first.

        Args:
            user: the user.
            query: words, or a question.
            embedding: the query's vector; None searches by words; left out, the driver makes it.
            limit: how many at most.
            filter: session_id, agent_id, since, until, roles, metadata.
            asked_at: when the query was asked, for words such as "last week"; None is now. Days are
                those of the user's setting time_zone (encrypted users: UTC).
            dates: whether such words in the query favor messages of that time; with a filter by
                time they never do.
            reranker: a reranker instead of the client's; None for none.
        """
        given = with_dates(filter, asked_at, dates)
        chosen = self._retrieval.chosen(reranker)
        wanted = limit if chosen is None else at_least(limit, RERANKED)
        if self._core.sealing(user):
            from pgrecall.encryption._sync import search as sealed

            hits = sealed.search_messages(self._core, user, query, embedding, wanted, given)
        else:
            hits = self._core.read_history(
                MessageHit,
                user,
                "search_messages",
                query=query,
                query_embedding=self._core.vector(user, query, embedding),
                limit=wanted,
                filter=given,
            )
        if chosen is None:
            return hits
        return first(self._retrieval.reranked(query, hits, chosen) or hits, limit)

    def search(
        self,
        user: User,
        query: str | None = None,
        *,
        embedding: Vector | Unset | None = UNSET,
        limit: int | Unset = UNSET,
    ) -> builtins.list[SessionHit]:
        """Return the user's sessions by title, summary and best turn, best first.

        Args:
            user: the user.
            query: words, or a question; None gives the last active first.
            embedding: the query's vector; None searches by words; left out, the driver makes it.
            limit: how many at most.
        """
        if query and self._core.sealing(user):
            from pgrecall.encryption._sync import search as sealed

            return sealed.search_sessions(self._core, user, query, embedding, limit)
        return self._core.read_history(
            SessionHit,
            user,
            "search_sessions",
            query=query,
            query_embedding=self._core.vector(user, query, embedding),
            limit=limit,
        )
