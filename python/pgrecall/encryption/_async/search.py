"""Searches of encrypted users: what the database found or listed is compared here by words.

`AgentMemory.search` and `AgentMemory.sessions` say what each function takes, returns and raises.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from pgrecall._messages import content_text
from pgrecall._sql import JSON, Unset, User, Vector
from pgrecall.encryption._dates import by_window, favored_window
from pgrecall.encryption._words import (
    as_moment,
    best_first,
    by_words,
    contains,
    either,
    shares_of_words,
)
from pgrecall.models._rerankers import at_least, first, least_match
from pgrecall.rows import Message, MessageHit, SearchHit, Session, SessionHit

if TYPE_CHECKING:
    from pgrecall._async.core import AsyncCore

__all__ = ["search", "search_messages", "search_sessions"]

# The most that a search decrypts, since the database cannot read it:
_OPENED_MEMORIES = 1000  # the nearest, or the weightiest
_OPENED_SESSIONS = 500  # of which titles and summaries are looked at
_OPENED_MESSAGES = 2000  # the latest of the sessions that were active last
_NEAR_MESSAGES = 100  # the nearest, where there are vectors


async def search(
    core: AsyncCore,
    user: User,
    query: str,
    embedding: Vector | Unset | None,
    limit: int | Unset,
    given: JSON,
    as_of: datetime | Unset,
) -> list[SearchHit]:
    """Return memories, best first: half by words, half as the database has it.

    That is by meaning where there are vectors, else by weight.
    """
    least, nearest = least_match(given), given.get("min_similarity")
    is_cosine = isinstance(nearest, int | float) and -1 <= nearest <= 1
    if isinstance(nearest, bool) or not is_cosine:
        nearest = None  # the database says what is wrong with another value
    judged_here = {"min_match"} if nearest is None else {"min_match", "min_similarity"}
    hits = await core.read_memory(
        SearchHit,
        user,
        "search",
        limit=at_least(limit, _OPENED_MEMORIES),
        filter={key: value for key, value in given.items() if key not in judged_here},
        as_of=as_of,
        query_embedding=await core.vector(user, query, embedding),
    )
    ranked = [
        replace(hit, match=either(hit.match, hit.lexical))
        for hit in by_words(hits, shares_of_words([hit.content for hit in hits], query))
    ]
    ranked = [hit for hit in ranked if least is None or (hit.match or 0) >= least]
    if nearest is not None:  # words count where there is no vector, as for any user
        ranked = [
            hit
            for hit in ranked
            if ((hit.lexical if hit.similarity is None else hit.similarity) or 0) >= nearest
        ]
    window = favored_window(query, given, None if isinstance(as_of, Unset) else as_of)
    return first(by_window(ranked, window, lambda hit: hit.observed_at), limit)


async def search_messages(
    core: AsyncCore,
    user: User,
    query: str,
    embedding: Vector | Unset | None,
    limit: int | Unset,
    given: JSON,
) -> list[MessageHit]:
    """Return messages that have words of a query, or are near it by meaning.

    Opened are the latest of the sessions that were active last.
    """
    near = await core.read_history(  # without a vector none, but filter and limit are judged
        MessageHit,
        user,
        "search_messages",
        query=query,
        query_embedding=await core.vector(user, query, embedding),
        limit=at_least(limit, _NEAR_MESSAGES),
        filter=given,
    )
    opened = await _opened_messages(core, user, given)
    known = {hit.message_id for hit in opened}
    hits = {hit.message_id: hit for hit in near
            if "metadata" not in given or hit.message_id in known}  # fmt: skip
    for hit in opened:
        hits.setdefault(hit.message_id, hit)
    shares = shares_of_words([hit.content or "" for hit in hits.values()], query)
    ranked = [
        hit
        for hit in by_words(list(hits.values()), shares)
        if hit.lexical or hit.similarity is not None
    ]
    window = favored_window(query or "", given, None)
    return first(by_window(ranked, window, lambda hit: hit.created_at), limit)


async def _opened_messages(core: AsyncCore, user: User, given: JSON) -> list[MessageHit]:
    """Return the latest messages that a filter lets through."""
    since, until = (as_moment(given.get(key)) for key in ("since", "until"))
    roles = given.get("roles") or ("user", "assistant", "tool", "function")
    listed = await core.read_history(SessionHit, user, "search_sessions", limit=_OPENED_SESSIONS)
    ids = [session.session_id for session in listed]
    if (one := given.get("session_id")) is not None:
        ids = [session_id for session_id in ids if str(session_id) == str(one)]
    if (agent := given.get("agent_id")) is not None:
        of_agent = {
            session.session_id
            for session in await core.read_history(
                Session, user, "list_sessions", limit=_OPENED_SESSIONS
            )
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
            for said in await core.read_history(
                Message, user, "get_messages", session_id=session_id, limit=left
            )
            if said.role in roles
            and (since is None or said.created_at >= since)
            and (until is None or said.created_at < until)
            and said.metadata.get("recalled") is not True
            and contains(said.metadata, noted)
        ]
    return hits


async def search_sessions(
    core: AsyncCore,
    user: User,
    query: str,
    embedding: Vector | Unset | None,
    limit: int | Unset,
) -> list[SessionHit]:
    """Return sessions by the words of title and summary, and by their best turn."""
    sessions = await core.read_history(
        SessionHit, user, "search_sessions", limit=at_least(limit, _OPENED_SESSIONS)
    )
    turns: dict[UUID, MessageHit] = {}
    said = await search_messages(
        core, user, query, embedding, _OPENED_MESSAGES + _NEAR_MESSAGES, {"dates": False}
    )
    for hit in said:
        turns.setdefault(hit.session_id, hit)
    topics = shares_of_words([f"{one.title or ''} {one.summary or ''}" for one in sessions], query)
    found = []
    for session, topic in zip(sessions, topics, strict=True):
        best = turns.get(session.session_id)
        part = 0.0 if best is None else best.score
        made = replace(session, lexical=topic, topic_part=topic / 2, turn_part=part / 2,
                       score=(topic + part) / 2)  # fmt: skip
        if best is not None:
            made = replace(made, turn_index=best.turn_index, role=best.role, content=best.content)
        found.append(made)
    return first(best_first(found), limit)
