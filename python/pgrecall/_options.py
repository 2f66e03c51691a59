"""Keyword arguments that several methods share, typed one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypedDict
from uuid import UUID

from pgrecall._sql import JSON, Vector
from pgrecall.rows import Task

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionToolUnionParam

    from pgrecall.models._rerankers import Reranker

__all__ = ["ContextOptions", "MemoryFields", "SessionOptions"]


class ContextOptions(TypedDict, total=False):
    """Keyword arguments of `ChatSession.context`, `compile` and `explain`.

    An option that is left out has the default of `recall.compile_context`.

    Attributes:
        current_message: another message to end with: a text, a list of parts, or a message;
            None is no message, `query` only steers then. Without `query` its text steers.
        tools: the definitions that the call will carry, so that they are counted.
        tool_tokens: tokens of the definitions, if the caller has counted them.
        embedding: the vector of the query; None searches by words. Left out, the driver makes it.
        as_of: compile what was known at this time.
        reranker: a reranker instead of the client's; None for none.
        task: continuation, knowledge, new_session or tool_heavy; shares the budget out.
        layout: standard, or cache_stable, whose beginning stays the same from turn to turn.
        selection: how memories are selected: hybrid, all, top or split.
        format: typed (with kind and date) or bullets.
        placement: memories in a message of their own, or in the system prompt.
        heading: the line above the memories.
        max_memories: memories at most.
        max_facts: facts at most, for the selection split.
        max_episodes: episodes at most, for the selection split.
        max_memory_chars: characters of one memory at most.
        memory_budget: tokens of the memories at most.
        history_budget: tokens of the history at most.
        include_working: the task whose working memory is shown.
        recalled: whether older turns that match the query are quoted.
        memories_as_of: memories of now, or of the start of the session.
        memory_ids: the candidates, best first, instead of a search.
        pack: fill the budget by score, or by score for each token (density).
        scoring: hybrid or classic.
        decay_mode: whether age multiplies the score.
        efficiency: whether to measure how well the memories use their budget.
        filter: as in `AgentMemory.search`.
        through_turn: the last turn of the history.
        asked_at: when the query was asked, for "last week" and similar words.
        dates: whether such words favor memories of that time.
        min_match: leave out memories that match the query less, from 0 to 1.
    """

    current_message: Any
    tools: Sequence[ChatCompletionToolUnionParam] | None
    tool_tokens: int | None
    embedding: Vector | None
    as_of: datetime | None
    reranker: Reranker | None
    task: Task | None
    layout: Literal["standard", "cache_stable"] | None
    selection: Literal["hybrid", "all", "top", "split"] | None
    format: Literal["typed", "bullets"] | None
    placement: Literal["message", "system_prompt"] | None
    heading: str | None
    max_memories: int | None
    max_facts: int | None
    max_episodes: int | None
    max_memory_chars: int | None
    memory_budget: int | None
    history_budget: int | None
    include_working: str | None
    recalled: bool | None
    memories_as_of: Literal["now", "session_start"] | None
    memory_ids: Sequence[UUID] | None
    pack: Literal["score", "density"] | None
    scoring: Literal["hybrid", "classic"] | None
    decay_mode: Literal["none", "multiply"] | None
    efficiency: bool | None
    filter: Mapping[str, Any] | None
    through_turn: int | None
    asked_at: datetime | None
    dates: bool | None
    min_match: float | None


class SessionOptions(TypedDict, total=False):
    """Keyword arguments of `AgentMemory.session` that go to `recall.open_session`.

    `AgentMemory.session` describes each.
    """

    system_prompt: str
    context_window_size: int
    max_response_tokens: int
    agent_id: str
    parent_session_id: UUID
    expires_in: timedelta
    temperature: float
    top_p: float
    cost_limit_microcents: int
    title: str
    metadata: JSON


class MemoryFields(TypedDict, total=False):
    """Keyword arguments of `AgentMemory.remember` and `ChatSession.remember`.

    `AgentMemory.remember` describes each.
    """

    kind: str
    slot: str | None
    tags: Sequence[str]
    importance: float
    provenance: str
    embedding: Vector | None
    session_id: UUID
    agent_id: str
    observed_at: datetime
    expires_at: datetime
    token_count: int
    metadata: JSON
    user_words: str | None
    current_message: str | None
