"""Contexts of one session: compiled, explained, and recorded when a model has seen them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from pgrecall._async.conversation import AsyncConversation
from pgrecall._async.core import AsyncCore
from pgrecall._async.memories import AsyncMemories
from pgrecall._async.retrieval import AsyncRetrieval
from pgrecall._messages import content_text, shorten_task, tool_tokens, with_tokens
from pgrecall._sql import UNSET, Call, Unset, Vector
from pgrecall.models._rerankers import Reranker, least_match
from pgrecall.rows import CompiledContext, ExplainedMemory, SearchHit

__all__ = ["AsyncContexts", "Question"]

_CHOSEN_MEMORIES = 90  # that an order of the driver's offers a context, as many as SQL considers
_MEASURED = 10  # of so many contexts of a conversation one is measured, the first one first


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a context is compiled for; `ChatSession.context` describes each field."""

    query: str | None = None
    current_message: Any = UNSET
    tools: Sequence[Any] | None = None
    embedding: Vector | Unset | None = UNSET
    as_of: datetime | Unset = UNSET
    reranker: Reranker | Unset | None = UNSET
    options: Mapping[str, Any]


class AsyncContexts:
    """Compiles contexts of a session.

    Attributes:
        last: the last one.
        last_asked: what the user says in the turn at hand, which is not stored yet.
    """

    def __init__(
        self,
        core: AsyncCore,
        memories: AsyncMemories,
        retrieval: AsyncRetrieval,
        conversation: AsyncConversation,
    ) -> None:
        self._core = core
        self._memories = memories
        self._retrieval = retrieval
        self._conversation = conversation
        self._count = 0
        self.last: CompiledContext | None = None
        self.last_asked = ""

    async def compile(self, question: Question) -> CompiledContext:
        """Compile a context; see `ChatSession.compile`."""
        call, relevance = await self._call("compile_context", question)
        raw = await self._core.memory.value(
            call, user_id=self._conversation.user_id, repeatable=True
        )
        compiled = CompiledContext.from_json(raw)
        # The database compares no memory of `memory_ids` with the query; the search did.
        compiled = replace(
            compiled,
            memories=tuple(
                replace(used, relevance=relevance.get(used.memory_id, used.relevance))
                for used in compiled.memories
            ),
        )
        # The database cannot shorten a ciphertext.
        for part in compiled.left_out:
            if part.reason == "shortened":
                shorten_task(compiled.messages, part.tokens or 0, self._conversation.model)
        self.last = compiled
        return compiled

    async def explain(self, question: Question) -> list[ExplainedMemory]:
        """Return the memories that a context considers, and why; see `ChatSession.explain`."""
        call, _ = await self._call("explain_context", question)
        return await self._core.memory.rows(
            ExplainedMemory, call, user_id=self._conversation.user_id, repeatable=True
        )

    def measured(self) -> dict[str, Any]:
        """Return the option that measures a context, now and then: it costs a little."""
        self._count += 1
        return {"efficiency": True} if self._count % _MEASURED == 1 else {}

    def record(self, compiled: CompiledContext) -> None:
        """Record in the background that a model was shown the memories of a context."""
        self.record_use(
            [(item.memory_id, item.relevance) for item in compiled.memories], compiled.efficiency
        )

    def record_use(
        self, used: Sequence[tuple[UUID, float | None]], efficiency: float | None = None
    ) -> None:
        """Record in the background that a model was shown these memories, each by relevance."""
        user_id = self._conversation.user_id
        known = [(memory_id, part) for memory_id, part in used if part is not None]
        if not known:
            return

        async def record() -> None:
            await self._memories.record_access(
                user_id,
                [memory_id for memory_id, _ in known],
                [part for _, part in known],
                efficiency=UNSET if efficiency is None else efficiency,
            )

        self._core.background.submit(record, "recording what a context used")

    async def _call(self, function: str, question: Question) -> tuple[Call, dict[UUID, float]]:
        """Return the call, and the relevance of the memories that the driver chose for it."""
        opened = await self._conversation.open()
        options, query, message = {**question.options}, question.query, question.current_message
        if message is UNSET:
            message = query
        if message is not None:
            if not isinstance(message, Mapping):
                message = {"role": "user", "content": message}
            self.last_asked = content_text(message)
            query = query or self.last_asked or None
            options["current_message"] = with_tokens([dict(message)], opened.model_id)[0]
        if question.tools is not None:
            tokens = tool_tokens(question.tools, opened.model_id)
            options |= {"tools": question.tools} if tokens is None else {"tool_tokens": tokens}
        vector = await self._core.vector(self._conversation.user_id, query, question.embedding)
        hits = await self._chosen_memories(
            replace(question, query=query, embedding=None if vector is UNSET else vector)
        )
        if hits is not None:
            options["memory_ids"] = [hit.memory_id for hit in hits]
            options["filter"] = _context_filter(options)
        call = Call.of(
            function,
            user_id=self._conversation.user_id,
            session_id=opened.session_id,
            query=UNSET if query is None else query,
            query_embedding=vector,
            options=options or UNSET,
            as_of=question.as_of,
        )
        return call, {hit.memory_id: hit.relevance for hit in hits or ()}

    async def _chosen_memories(self, question: Question) -> list[SearchHit] | None:
        """Return memories in an order that the database cannot make, None where it makes its own.

        That is the order of a reranker, or, for an encrypted user, of a query.
        """
        chosen = (("selection", "hybrid"), ("memories_as_of", "now"), ("memory_ids", None))
        options, query = question.options, question.query
        if not query or any(options.get(key) not in (value, None) for key, value in chosen):
            return None
        is_dense = options.get("pack") == "density"
        ordered_by = None if is_dense else self._retrieval.chosen(question.reranker)
        is_sealed = await self._core.sealing(self._conversation.user_id) is not None
        if ordered_by is None and not is_sealed:
            return None
        given = {
            "session_id": str(self._conversation.session_id),
            **_context_filter(options),
        }
        given |= {key: options[key] for key in ("asked_at", "dates") if key in options}
        least = least_match(options) or 0
        hits = [
            hit
            for hit in await self._retrieval.found(
                self._conversation.user_id,
                query,
                question.embedding,
                _CHOSEN_MEMORIES,
                given,
                question.as_of,
            )
            if hit.kind == "instruction" or hit.match is None or hit.match >= least
        ]
        ordered = await self._retrieval.reranked(query, hits, ordered_by)
        return hits if ordered is None and is_sealed else ordered


def _context_filter(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filter of a context, which leaves stale memories out unless it chooses them."""
    given = {**(options.get("filter") or {})}
    return given | {"stale": False} if given.get("stale") is None else given
