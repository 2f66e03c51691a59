# Made from _async/retrieval.py by `make generate`; change that file, not this.
"""Retrieval: searches of memories, messages and sessions, of sealed users as well."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

from pgrecall._runtime import SyncRuntime
from pgrecall._sql import UNSET, Unset, Vector
from pgrecall._sync.base import JSON, User
from pgrecall._sync.memories import Memories
from pgrecall.models._rerankers import RERANKED, Reranker, at_least, first, in_order
from pgrecall.rows import MessageHit, SearchHit, SessionHit

__all__ = ["Retrieval"]

logger = logging.getLogger("pgrecall")

Hit = TypeVar("Hit", SearchHit, MessageHit)


def _with_dates(filter: JSON | Unset, asked_at: datetime | None, dates: bool) -> JSON:  # noqa: A002
    """Return a filter that says when a query was asked, and whether its dates favor anything."""
    given = {} if isinstance(filter, Unset) else dict(filter)
    if asked_at is not None:
        moment = asked_at if asked_at.tzinfo else asked_at.replace(tzinfo=UTC)
        given["asked_at"] = moment.isoformat()
    if not dates:
        given["dates"] = False
    return given


class Retrieval(Memories):
    """The methods that search."""

    _reranker: Reranker | None = None
    _has_rerank_failed = False

    def search(
        self,
        user: User,
        query: str | None = None,
        *,
        embedding: Vector | Unset | None = UNSET,
        limit: int | Unset = UNSET,
        filter: JSON | Unset = UNSET,  # noqa: A002
        as_of: datetime | Unset = UNSET,
        asked_at: datetime | None = None,
        dates: bool = True,
        reranker: Reranker | Unset | None = UNSET,
    ) -> list[SearchHit]:
        """Return the memories that answer a query, best first.

        Args:
            user: whose.
            query: words, or a question; None gives the most important and recent.
            embedding: the query's vector; None searches by words, left out it is made here.
            limit: how many at most.
            filter: kinds, kinds_none, tiers, scopes, slots, tags_any, tags_all, provenance, source,
                source_session_id, agent_id, session_id, metadata, observed_after, observed_before,
                valid_at, min_similarity, min_match, include_ended, stale.
            as_of: search what was known then.
            asked_at: when the query was asked, for "last week" and its like; None is `as_of`, or
                now. Days are those of the user's setting time_zone (encrypted users: UTC).
            dates: whether such words in the query favor what was observed in that time; with a
                filter by time they never do.
            reranker: another one than the client's; None for none.

        Raises:
            InvalidInputError: an unknown key of the filter, a negative limit.
        """
        given = _with_dates(filter, asked_at, dates)
        chosen = self._chosen(reranker) if query else None
        wanted = limit if chosen is None else at_least(limit, RERANKED)
        hits = self._found(user, query, embedding, wanted, given, as_of)
        if chosen is None:
            return hits
        return first(self._reranked(query, hits, chosen) or hits, limit)

    def _found(
        self,
        user: User,
        query: str | None,
        embedding: Vector | Unset | None,
        limit: int | Unset,
        given: JSON,
        as_of: datetime | Unset,
    ) -> list[SearchHit]:
        """Return the memories that answer a query in the database's order."""
        if query and self._sealing(user):
            from pgrecall.encryption._sync import search as sealed

            return sealed.search(self, user, query, embedding, limit, given, as_of)
        return self._read_memory(
            SearchHit,
            user,
            "search",
            query=UNSET if query is None else query,
            query_embedding=self._vector(user, query, embedding),
            limit=limit,
            filter=given,
            as_of=as_of,
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
    ) -> list[MessageHit]:
        """Return messages of all the user's sessions that answer a query, best first.

        Args:
            user: whose.
            query: words, or a question.
            embedding: the query's vector; None searches by words, left out it is made here.
            limit: how many at most.
            filter: session_id, agent_id, since, until, roles, metadata.
            asked_at: when the query was asked, for "last week" and its like; None is now. Days are
                those of the user's setting time_zone (encrypted users: UTC).
            dates: whether such words in the query favor what was said in that time; with a filter
                by time they never do.
            reranker: another one than the client's; None for none.
        """
        given = _with_dates(filter, asked_at, dates)
        chosen = self._chosen(reranker)
        wanted = limit if chosen is None else at_least(limit, RERANKED)
        if self._sealing(user):
            from pgrecall.encryption._sync import search as sealed

            hits = sealed.search_messages(self, user, query, embedding, wanted, given)
        else:
            hits = self._read_history(
                MessageHit,
                user,
                "search_messages",
                query=query,
                query_embedding=self._vector(user, query, embedding),
                limit=wanted,
                filter=given,
            )
        if chosen is None:
            return hits
        return first(self._reranked(query, hits, chosen) or hits, limit)

    def search_sessions(
        self,
        user: User,
        query: str | None = None,
        *,
        embedding: Vector | Unset | None = UNSET,
        limit: int | Unset = UNSET,
    ) -> list[SessionHit]:
        """Return the user's sessions by title, summary and best turn, best first.

        Args:
            user: whose.
            query: words, or a question; None gives the last active first.
            embedding: the query's vector; None searches by words, left out it is made here.
            limit: how many at most.
        """
        if query and self._sealing(user):
            from pgrecall.encryption._sync import search as sealed

            return sealed.search_sessions(self, user, query, embedding, limit)
        return self._read_history(
            SessionHit,
            user,
            "search_sessions",
            query=query,
            query_embedding=self._vector(user, query, embedding),
            limit=limit,
        )

    # The order of a reranker

    def _chosen(self, reranker: Reranker | Unset | None) -> Reranker | None:
        """Return the reranker of a call: the one given, else the client's."""
        return self._reranker if reranker is UNSET else reranker

    def _reranked(
        self, query: str | None, hits: Sequence[Hit], reranker: Reranker | None
    ) -> list[Hit] | None:
        """Return the hits in the order of a reranker, None when it gives none.

        That it failed or was late is logged, the first time.
        """
        if reranker is None or not query or len(hits) < 2:
            return None
        texts = [hit.content or "" for hit in hits[:RERANKED]]
        try:
            scores = SyncRuntime.within(self.limits.rerank_timeout, reranker, query, texts)
            return in_order(hits, scores)
        except Exception as error:
            if not self._has_rerank_failed:
                self._has_rerank_failed = True
                logger.warning("the reranker failed, the order of the database stays: %r", error)
            return None
