"""Contexts of one session: compiled, explained, and recorded when a model has seen them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from pgrecall._async.conversation import AsyncConversation
from pgrecall._async.core import AsyncCore
from pgrecall._async.memories import AsyncMemories
from pgrecall._async.retrieval import AsyncRetrieval
from pgrecall._messages import content_text, shorten_task, tool_tokens, with_tokens
from pgrecall._options import ContextOptions
from pgrecall._sql import UNSET, Call, Unset, Vector
from pgrecall.errors import InvalidEmbeddingError
from pgrecall.models._rerankers import Reranker, least_match
from pgrecall.rows import CompiledContext, ExplainedMemory, SearchHit

__all__ = ["AsyncContexts"]

# candidates that the driver offers a context, as many as the database considers
_CHOSEN_MEMORIES = 90

_OF_QUERY = {"min_similarity", "min_match", "asked_at", "dates"}  # of a filter: for searches only

_MEASURED = 10  # one context of ten is measured, beginning with the first


@dataclass(slots=True)
class AsyncContexts:
    """Compiles contexts of a session.

    Attributes:
        last: the last one.
        last_asked: the user's message of the current turn, which is not stored yet.
    """

    _core: AsyncCore
    _memories: AsyncMemories
    _retrieval: AsyncRetrieval
    _conversation: AsyncConversation
    _count: int = 0
    last: CompiledContext | None = None
    last_asked: str = ""

    async def compile(self, query: str | None, options: ContextOptions) -> CompiledContext:
        """Compile a context; see `ChatSession.compile`."""
        send = partial(self._core.memory.value, repeatable=True)
        raw, relevance = await self._sent(send, "compile_context", query, options)
        compiled = CompiledContext.from_json(raw)
        if relevance:  # the database compares no memory of `memory_ids` with the query
            found = (replace(used, relevance=relevance.get(used.memory_id, used.relevance))
                     for used in compiled.memories)  # fmt: skip
            compiled = replace(compiled, memories=tuple(found))
        # The database cannot shorten a ciphertext.
        for part in compiled.left_out:
            if part.reason == "shortened":
                shorten_task(compiled.messages, part.tokens or 0, self._conversation.model)
        self.last = compiled
        return compiled

    async def explain(self, query: str | None, options: ContextOptions) -> list[ExplainedMemory]:
        """Return the memories that a context considers, and why; see `ChatSession.explain`."""
        send = partial(self._core.memory.rows, ExplainedMemory, repeatable=True)
        found, _ = await self._sent(send, "explain_context", query, options)
        return list(found)

    def measured(self) -> ContextOptions:
        """Return the option that measures a context, for one context of ten: it costs a little."""
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

    async def _sent(
        self, send: Callable[[Call], Any], function: str, query: str | None, given: ContextOptions
    ) -> tuple[Any, dict[UUID, float]]:
        """Send a call; after a change of the embedding model, once more with a new vector."""
        call, relevance = await self._call(function, query, given)
        try:
            return await send(call), relevance
        except InvalidEmbeddingError as error:
            user_id = await self._core.user_id(self._conversation.user_id)
            if not call.model or await self._core.renewed(error, user_id, {}) is None:
                raise
        call, relevance = await self._call(function, query, given)
        return await send(call), relevance

    async def _call(
        self, function: str, query: str | None, given: ContextOptions
    ) -> tuple[Call, dict[UUID, float]]:
        """Return the call, and the relevance of the memories that the driver chose for it."""
        opened = await self._conversation.open()
        options: dict[str, Any] = {**given}
        embedding, as_of = options.pop("embedding", UNSET), options.pop("as_of", UNSET)
        reranker = options.pop("reranker", UNSET)
        message = options.pop("current_message", query)
        if message is not None:
            if not isinstance(message, Mapping):
                message = {"role": "user", "content": message}
            self.last_asked = content_text(message)
            query = query or self.last_asked or None
            options["current_message"] = with_tokens([dict(message)], opened.model_id)[0]
        if (tools := options.pop("tools", None)) is not None:
            tokens = tool_tokens(tools, opened.model_id)
            options |= {"tools": tools} if tokens is None else {"tool_tokens": tokens}
        vector = await self._core.vector(self._conversation.user_id, query, embedding)
        hits = None
        if query and _leaves_order(options):
            hits = await self._chosen_memories(query, vector, options, as_of, reranker)
        if hits is not None:
            options["memory_ids"] = [hit.memory_id for hit in hits]
            options["filter"] = {key: value for key, value in _context_filter(options).items()
                                 if key not in _OF_QUERY}  # fmt: skip
        call = Call.of(
            function,
            user_id=self._conversation.user_id,
            session_id=opened.session_id,
            query=UNSET if query is None else query,
            query_embedding=vector,
            options=options or UNSET,
            as_of=as_of,
        )
        return call, {hit.memory_id: hit.relevance for hit in hits or ()}

    async def _chosen_memories(
        self,
        query: str,
        vector: Vector | Unset,
        options: Mapping[str, Any],
        as_of: datetime | Unset,
        reranker: Reranker | Unset | None,
    ) -> list[SearchHit] | None:
        """Return memories in an order that the database cannot make, None where it makes its own.

        That is the order of a reranker, or, for an encrypted user, of a query.
        """
        user_id = self._conversation.user_id
        is_dense = options.get("pack") == "density"
        ordered_by = None if is_dense else self._retrieval.chosen(reranker)
        is_sealed = await self._core.sealing(user_id) is not None
        if ordered_by is None and not is_sealed:
            return None
        given = {"session_id": str(self._conversation.session_id), **_context_filter(options)}
        given |= {key: options[key] for key in ("asked_at", "dates") if key in options}
        embedding = None if vector is UNSET else vector
        found = await self._retrieval.found(
            user_id, query, embedding, _CHOSEN_MEMORIES, given, as_of
        )
        least = least_match(options) or 0
        hits = [
            hit
            for hit in found
            if hit.kind == "instruction" or hit.match is None or hit.match >= least
        ]
        ordered = await self._retrieval.reranked(query, hits, ordered_by)
        return hits if ordered is None and is_sealed else ordered


def _leaves_order(options: Mapping[str, Any]) -> bool:
    """Return whether the options leave the order of memories to a search of now."""
    fixed = (("selection", "hybrid"), ("memories_as_of", "now"), ("memory_ids", None))
    return all(options.get(key) in (value, None) for key, value in fixed)


def _context_filter(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filter of a context, which leaves stale memories out unless it chooses them."""
    given = {**(options.get("filter") or {})}
    return given | {"stale": False} if given.get("stale") is None else given
