"""Retrieval: searches of memories, messages and sessions, of sealed users as well."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from pgrecall._async.base import JSON, User
from pgrecall._async.memories import AsyncMemories
from pgrecall._calls import UNSET, Unset, Vector
from pgrecall._ranking import (
    RERANKED,
    Hit,
    Reranker,
    as_moment,
    best_first,
    by_scores,
    by_words,
    contains,
    first,
    seen_rows,
    shares_of_words,
)
from pgrecall._runtime import AsyncRuntime
from pgrecall.messages import content_text
from pgrecall.rows import MessageHit, SearchHit, SessionHit

__all__ = ["AsyncRetrieval"]

logger = logging.getLogger("pgrecall")

# What a search of a sealed user opens at most, since the database cannot read it:
_OPENED_FOR_SEARCH = 1000  # memories, the nearest, or the weightiest
_OPENED_SESSIONS = 500  # of which titles and summaries are looked at
_OPENED_MESSAGES = 2000  # the latest of the sessions that were active last
_NEAR_MESSAGES = 100  # the nearest, where there are vectors


def _with_dates(filter: JSON | Unset, asked_at: datetime | None, dates: bool) -> JSON:  # noqa: A002
    """Return a filter that says when a query was asked, and whether its dates favor anything."""
    given = {} if isinstance(filter, Unset) else dict(filter)
    if asked_at is not None:
        moment = asked_at if asked_at.tzinfo else asked_at.replace(tzinfo=UTC)
        given["asked_at"] = moment.isoformat()
    if not dates:
        given["dates"] = False
    return given


class AsyncRetrieval(AsyncMemories):
    """The methods that search."""

    _reranker: Reranker | None = None
    _has_rerank_failed = False

    async def search(
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
                valid_at, min_similarity, include_ended.
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
        if query and await self._sealing(user):
            from pgrecall.encryption._dates import by_window, favored_window

            found = await self._search_sealed(user, query, embedding, given, as_of)
            window = favored_window(query, given, None if isinstance(as_of, Unset) else as_of)
            found = by_window(found, window, lambda hit: hit.observed_at)
            return first(await self._reranked(query, found, chosen), limit)
        hits = await self._read_memory(
            SearchHit,
            user,
            "search",
            query=UNSET if query is None else query,
            query_embedding=await self._vector(user, query, embedding),
            limit=limit if chosen is None else seen_rows(limit),
            filter=given,
            as_of=as_of,
        )
        return hits if chosen is None else first(await self._reranked(query, hits, chosen), limit)

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
        if await self._sealing(user):
            from pgrecall.encryption._dates import by_window, favored_window

            found = await self._search_sealed_messages(user, query, embedding, given)
            found = by_window(
                found, favored_window(query or "", given, None), lambda hit: hit.created_at
            )
            return first(await self._reranked(query, found, chosen), limit)
        hits = await self._read_history(
            MessageHit,
            user,
            "search_messages",
            query=query,
            query_embedding=await self._vector(user, query, embedding),
            limit=limit if chosen is None else seen_rows(limit),
            filter=given,
        )
        return hits if chosen is None else first(await self._reranked(query, hits, chosen), limit)

    async def search_sessions(
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
        if query and await self._sealing(user):
            return await self._search_sealed_sessions(user, query, embedding, limit)
        return await self._read_history(
            SessionHit,
            user,
            "search_sessions",
            query=query,
            query_embedding=await self._vector(user, query, embedding),
            limit=limit,
        )

    # The order of a reranker

    async def _reranked(
        self, query: str | None, hits: list[Hit], reranker: Reranker | None
    ) -> list[Hit]:
        """Return the hits in the order of a reranker; in their own when it fails or is late."""
        if reranker is None or not query or len(hits) < 2:
            return hits
        texts = [getattr(hit, "content", None) or "" for hit in hits[:RERANKED]]
        try:
            scores = await AsyncRuntime.within(self.limits.rerank_timeout, reranker, query, texts)
            return by_scores(hits, scores)
        except Exception as error:
            if not self._has_rerank_failed:
                self._has_rerank_failed = True
                logger.warning("the reranker failed, the order of the database stays: %r", error)
            return hits

    def _chosen(self, reranker: Reranker | Unset | None) -> Reranker | None:
        return self._reranker if reranker is UNSET else reranker

    # Sealed users: what the database found or listed is compared here

    async def _search_sealed(
        self,
        user: User,
        query: str,
        embedding: Vector | Unset | None,
        given: JSON,
        as_of: datetime | Unset,
    ) -> list[SearchHit]:
        """Return a sealed user's memories, best first: half by words, half as the database has it.

        That is by meaning where there are vectors, else by weight.
        """
        hits = await self._read_memory(
            SearchHit,
            user,
            "search",
            limit=_OPENED_FOR_SEARCH,
            filter=given,
            as_of=as_of,
            query_embedding=await self._vector(user, query, embedding),
        )
        shares = shares_of_words([hit.content for hit in hits], query)
        return by_words(hits, shares)

    async def _search_sealed_messages(
        self, user: User, query: str, embedding: Vector | Unset | None, given: JSON
    ) -> list[MessageHit]:
        """Return a sealed user's messages that have words of a query, or are near it by meaning.

        Opened are the latest of the sessions that were active last.
        """
        near = await self._read_history(  # without a vector none, but the filter is judged
            MessageHit,
            user,
            "search_messages",
            query=query,
            query_embedding=await self._vector(user, query, embedding),
            limit=_NEAR_MESSAGES,
            filter=given,
        )
        opened = await self._opened_messages(user, given)
        known = {hit.message_id for hit in opened}
        hits = {hit.message_id: hit for hit in near
                if "metadata" not in given or hit.message_id in known}  # fmt: skip
        for hit in opened:
            hits.setdefault(hit.message_id, hit)
        shares = shares_of_words([hit.content or "" for hit in hits.values()], query)
        ranked = by_words(list(hits.values()), shares)
        return [hit for hit in ranked if hit.lexical or hit.similarity is not None]

    async def _opened_messages(self, user: User, given: JSON) -> list[MessageHit]:
        """Return the latest messages of a sealed user that a filter lets through."""
        since, until = (as_moment(given.get(key)) for key in ("since", "until"))
        roles = given.get("roles") or ("user", "assistant", "tool", "function")
        listed = await self._read_history(
            SessionHit, user, "search_sessions", limit=_OPENED_SESSIONS
        )
        ids = [session.session_id for session in listed]
        if (one := given.get("session_id")) is not None:
            ids = [session_id for session_id in ids if str(session_id) == str(one)]
        if (agent := given.get("agent_id")) is not None:
            of_agent = {
                session.session_id
                for session in await self.sessions(user, limit=_OPENED_SESSIONS)
                if session.agent_id == agent
            }
            ids = [session_id for session_id in ids if session_id in of_agent]
        noted = given.get("metadata") or {}
        hits: list[MessageHit] = []
        for session_id in ids:
            left = _OPENED_MESSAGES - len(hits)
            if left <= 0:
                break
            hits += [
                MessageHit(
                    message_id=said.message_id,
                    session_id=session_id,
                    turn_index=said.turn_index,
                    role=said.role,
                    content=content_text(said.to_openai()),
                    created_at=said.created_at,
                    score=0.0,
                    name=said.name,
                    token_count=said.token_count,
                )
                for said in await self.messages(user, session_id, limit=left)
                if said.role in roles
                and (since is None or said.created_at >= since)
                and (until is None or said.created_at < until)
                and said.metadata.get("recalled") is not True
                and contains(said.metadata, noted)
            ]
        return hits

    async def _search_sealed_sessions(
        self, user: User, query: str, embedding: Vector | Unset | None, limit: int | Unset
    ) -> list[SessionHit]:
        """Return a sealed user's sessions by the words of title and summary, and by best turn."""
        sessions = await self._read_history(
            SessionHit, user, "search_sessions", limit=_OPENED_SESSIONS
        )
        turns: dict[UUID, MessageHit] = {}
        for hit in await self._search_sealed_messages(user, query, embedding, {}):
            turns.setdefault(hit.session_id, hit)
        topics = shares_of_words([f"{one.title or ''} {one.summary or ''}" for one in sessions],
                                 query)  # fmt: skip
        found = []
        for session, topic in zip(sessions, topics, strict=True):
            best = turns.get(session.session_id)
            part = 0.0 if best is None else best.score
            made = replace(session, lexical=topic, topic_part=topic / 2, turn_part=part / 2,
                          score=(topic + part) / 2)  # fmt: skip
            if best is not None:
                made = replace(
                    made, turn_index=best.turn_index, role=best.role, content=best.content
                )
            found.append(made)
        return first(best_first(found), limit)
