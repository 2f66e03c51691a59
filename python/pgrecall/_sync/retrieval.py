# Made from _async/retrieval.py by `make generate`; change that file, not this.
"""Retrieval of memories for searches and contexts, in the order of the database or a reranker."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

from pgrecall._logs import logger
from pgrecall._runtime import SyncRuntime
from pgrecall._sql import JSON, UNSET, Unset, User, Vector
from pgrecall._sync.core import Core
from pgrecall.models._rerankers import RERANKED, Reranker, in_order
from pgrecall.rows import MessageHit, SearchHit

__all__ = ["Retrieval", "with_dates"]


Hit = TypeVar("Hit", SearchHit, MessageHit)


def with_dates(filter: JSON | Unset, asked_at: datetime | None, dates: bool) -> JSON:  # noqa: A002
    """Return a filter that says when a query was asked, and whether its dates favor anything."""
    given = {} if isinstance(filter, Unset) else dict(filter)
    if asked_at is not None:
        moment = asked_at if asked_at.tzinfo else asked_at.replace(tzinfo=UTC)
        given["asked_at"] = moment.isoformat()
    if not dates:
        given["dates"] = False
    return given


class Retrieval:
    """Finds memories, of encrypted users too, and asks a reranker for another order.

    Args:
        core: of the client.
        reranker: of calls that name none; None leaves the database's order.

    Attributes:
        reranker: the same.
    """

    def __init__(self, core: Core, reranker: Reranker | None) -> None:
        self._core = core
        self.reranker = reranker
        self._has_rerank_failed = False

    def found(
        self,
        user: User,
        query: str | None,
        embedding: Vector | Unset | None,
        limit: int | Unset,
        given: JSON,
        as_of: datetime | Unset,
    ) -> list[SearchHit]:
        """Return the memories that answer a query in the database's order."""
        if query and self._core.sealing(user):
            from pgrecall.encryption._sync import search as sealed

            return sealed.search(self._core, user, query, embedding, limit, given, as_of)
        return self._core.read_memory(
            SearchHit,
            user,
            "search",
            query=UNSET if query is None else query,
            query_embedding=self._core.vector(user, query, embedding),
            limit=limit,
            filter=given,
            as_of=as_of,
        )

    def chosen(self, reranker: Reranker | Unset | None) -> Reranker | None:
        """Return the reranker of a call: the one given, else the client's."""
        return self.reranker if reranker is UNSET else reranker

    def reranked(
        self, query: str | None, hits: Sequence[Hit], reranker: Reranker | None
    ) -> list[Hit] | None:
        """Return the hits in the order of a reranker, None when it gives none.

        That it failed or was late is logged, the first time.
        """
        if reranker is None or not query or len(hits) < 2:
            return None
        texts = [hit.content or "" for hit in hits[:RERANKED]]
        try:
            scores = SyncRuntime.within(self._core.limits.rerank_timeout, reranker, query, texts)
            return in_order(hits, scores)
        except Exception as error:
            if not self._has_rerank_failed:
                self._has_rerank_failed = True
                logger.warning("the reranker failed, the order of the database stays: %r", error)
            return None
