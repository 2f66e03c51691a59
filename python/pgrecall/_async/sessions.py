"""`AgentMemory.sessions`: sessions and their messages are listed and searched."""

from __future__ import annotations

import builtins
from datetime import datetime
from uuid import UUID

from pgrecall._async.core import AsyncCore
from pgrecall._async.retrieval import AsyncRetrieval, with_dates
from pgrecall._sql import JSON, UNSET, Unset, User, Vector
from pgrecall.models._rerankers import RERANKED, Reranker, at_least, first
from pgrecall.rows import Message, MessageHit, Session, SessionHit

__all__ = ["AsyncSessions"]


class AsyncSessions:
    """Sessions of users, and the messages in them; `AgentMemory.session` opens one."""

    def __init__(self, core: AsyncCore, retrieval: AsyncRetrieval) -> None:
        self._core = core
        self._retrieval = retrieval

    async def list(
        self,
        user: User,
        *,
        status: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
    ) -> builtins.list[Session]:
        """Return the user's sessions, newest first; a page goes on after `before_id`."""
        return await self._core.read_history(
            Session, user, "list_sessions", status=status, limit=limit, before_id=before_id
        )

    async def get(self, user: User, session_id: UUID) -> Session | None:
        """Return a session, None when the user has no such one."""
        rows = await self._core.read_history(Session, user, "get_session", session_id=session_id)
        return rows[0] if rows else None

    async def messages(
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
        return await self._core.read_history(
            Message,
            user,
            "get_messages",
            session_id=session_id,
            limit=limit,
            before_turn=before_turn,
            include_compacted=include_compacted,
        )

    async def search_messages(
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
        if await self._core.sealing(user):
            from pgrecall.encryption._async import search as sealed

            hits = await sealed.search_messages(self._core, user, query, embedding, wanted, given)
        else:
            hits = await self._core.read_history(
                MessageHit,
                user,
                "search_messages",
                query=query,
                query_embedding=await self._core.vector(user, query, embedding),
                limit=wanted,
                filter=given,
            )
        if chosen is None:
            return hits
        return first(await self._retrieval.reranked(query, hits, chosen) or hits, limit)

    async def search(
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
        if query and await self._core.sealing(user):
            from pgrecall.encryption._async import search as sealed

            return await sealed.search_sessions(self._core, user, query, embedding, limit)
        return await self._core.read_history(
            SessionHit,
            user,
            "search_sessions",
            query=query,
            query_embedding=await self._core.vector(user, query, embedding),
            limit=limit,
        )
