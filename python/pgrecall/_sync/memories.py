# Made from _async/memories.py by `make generate`; change that file, not this.
"""`AgentMemory.memories`: memories are searched, written, read, corrected and confirmed."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack
from uuid import UUID

from pgrecall._options import MemoryFields
from pgrecall._sql import JSON, UNSET, Call, Made, Unset, User, Vector, to_halfvec
from pgrecall._sync.core import Core
from pgrecall._sync.retrieval import Retrieval, with_dates
from pgrecall._sync.users import Users
from pgrecall.errors import InvalidInputError
from pgrecall.models._embedders import Embedder
from pgrecall.models._rerankers import RERANKED, Reranker, at_least, first
from pgrecall.rows import Dispute, Memory, MemoryEvent, Remembered, SearchHit

__all__ = ["Memories"]

_IMPORT_BATCH = 500


class Memories:
    """Memories of users."""

    def __init__(self, core: Core, users: Users, retrieval: Retrieval) -> None:
        self._core = core
        self._users = users
        self._retrieval = retrieval

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
    ) -> builtins.list[SearchHit]:
        """Return the memories that answer a query, best first.

        Args:
            user: the user.
            query: words, or a question; None gives the most important and recent.
            embedding: the query's vector; None searches by words; left out, the driver makes it.
            limit: how many at most.
            filter: kinds, kinds_none, tiers, scopes, slots, tags_any, tags_all, provenance, source,
                source_session_id, agent_id, session_id, metadata, observed_after, observed_before,
                valid_at, min_similarity, min_match, include_ended, stale.
            as_of: search as of this time.
            asked_at: when the query was asked, for words such as "last week"; None is `as_of`, or
                now. Days are those of the user's setting time_zone (encrypted users: UTC).
            dates: whether such words in the query favor what was observed in that time; with a
                filter by time they never do.
            reranker: a reranker instead of the client's; None for none.

        Raises:
            InvalidInputError: an unknown key of the filter, a negative limit.
        """
        given = with_dates(filter, asked_at, dates)
        chosen = self._retrieval.chosen(reranker) if query else None
        wanted = limit if chosen is None else at_least(limit, RERANKED)
        hits = self._retrieval.found(user, query, embedding, wanted, given, as_of)
        if chosen is None:
            return hits
        return first(self._retrieval.reranked(query, hits, chosen) or hits, limit)

    def remember(
        self,
        user: User,
        content: str,
        **fields: Unpack[MemoryFields],
    ) -> Remembered:
        """Remember a sentence about the user; a known sentence is not stored twice.

        With `user_words` or `current_message` the caller is a model: the sentence counts as the
        user's own only if the user's words prove it, else as an inference of its session.

        Args:
            user: whose memory it becomes.
            content: one short, self-contained sentence.
            kind: fact, preference, goal, … (`memory_kinds`).
            slot: the attribute it fills, such as `employer`; it replaces what filled it.
            tags: for filters.
            importance: 0 to 1.
            provenance: user_stated, correction, … (how it is known).
            embedding: its vector; None stores none; left out, the driver makes it.
            session_id: the session it belongs to; left out, it holds for all sessions.
            agent_id: the agent that remembers.
            observed_at: when the user said it.
            expires_at: the time at which it expires.
            token_count: its tokens; left out they are estimated.
            metadata: any JSON object.
            user_words: what the model quotes of the user; empty if nothing.
            current_message: the user's message of the current turn, which is not stored yet.

        Raises:
            InvalidInputError: an unknown kind, a value out of range, words without a session.
            InvalidEmbeddingError: a vector of another length, or zero.
        """
        if fields.get("user_words") and self._core.sealing(user):
            from pgrecall.encryption._sync import proof

            proven = proof.proven(self._core, user, content, fields)
            if proven is not None:
                given = [fields["embedding"]] if "embedding" in fields else UNSET
                session_id = fields.get("session_id")
                stored = self.ingest(user, [proven], session_id=session_id, embeddings=given)
                return replace(stored[0], is_proven=True)
        vector = self._core.vector(user, content, fields.get("embedding", UNSET))
        rows = self._core.change(
            Remembered, user, "remember", content=content, **fields | {"embedding": vector}
        )
        return rows[0]

    def ingest(
        self,
        user: User,
        candidates: Sequence[JSON],
        *,
        session_id: UUID | None = None,
        embeddings: Sequence[Vector | None] | Unset | None = UNSET,
    ) -> builtins.list[Remembered]:
        """Remember many sentences of one user in one transaction; the results are in their order.

        Args:
            user: the user.
            candidates: each with content, and kind, slot, tags, importance, confidence,
                provenance, source, observed_at, valid_from, valid_to, metadata, …: all optional.
            session_id: the session they come from.
            embeddings: one vector per candidate; None stores none; left out, the driver makes them.

        Raises:
            InvalidInputError: the message names the candidate and the field; nothing is stored.
        """
        given: builtins.list[Any] = builtins.list(candidates)
        if embeddings is UNSET and given and self._core.has_vectors(user):
            texts = [isinstance(one, Mapping) and one.get("content") for one in given]
            if all(isinstance(text, str) for text in texts):  # else the database says which is not
                embeddings = self._core.embedded(user, [str(text) for text in texts])
        if embeddings is None or not given:
            embeddings = UNSET
        return self._core.change(
            Remembered,
            user,
            "ingest_memories",
            session_id=session_id,
            candidates=given,
            embeddings=embeddings,
        )

    def batch_import(self, memories: Iterable[JSON], *, user: User | None = None) -> dict[str, int]:
        """Remember many sentences, of one or of many users; return how many had which outcome.

        They are stored in batches, each in a transaction: an import that was interrupted is
        simply run again, what is there counts as `duplicate`.

        Args:
            memories: candidates as `ingest` takes them, read as they come, each with its `user`
                unless all are of one.
            user: whose they all are.
        """
        outcomes: dict[str, int] = {}
        waiting: dict[User, builtins.list[JSON]] = {}
        for count, memory in enumerate(memories):
            if not isinstance(memory, Mapping):
                raise InvalidInputError(f"memories[{count}] is no object")
            candidate = dict(memory)
            owner = candidate.pop("user", None) if user is None else user
            if not isinstance(owner, (str, UUID)) or not owner:
                raise InvalidInputError(f"memories[{count}] names no user")
            waiting.setdefault(owner, []).append(candidate)
            if len(waiting[owner]) >= _IMPORT_BATCH:
                self._import(owner, waiting.pop(owner), outcomes)
            elif sum(map(len, waiting.values())) >= 10 * _IMPORT_BATCH:
                largest = max(waiting, key=lambda key: len(waiting[key]))
                self._import(largest, waiting.pop(largest), outcomes)
        for owner, candidates in waiting.items():
            self._import(owner, candidates, outcomes)
        return outcomes

    def _import(
        self, user: User, candidates: builtins.list[JSON], outcomes: dict[str, int]
    ) -> None:
        self._users.ensure(user)
        for remembered in self.ingest(user, candidates):
            outcomes[remembered.outcome] = outcomes.get(remembered.outcome, 0) + 1

    def list(
        self,
        user: User,
        *,
        filter: JSON | Unset = UNSET,  # noqa: A002
        as_of: datetime | Unset = UNSET,
        limit: int | Unset = UNSET,
        after_id: UUID | Unset = UNSET,
    ) -> builtins.list[Memory]:
        """Return the user's memories; a page goes on after `after_id`.

        Args:
            user: the user.
            filter: as in `search`.
            as_of: the memories of this time.
            limit: how many at most.
            after_id: the last memory of the page before.
        """
        return self._core.read_memory(
            Memory, user, "get_memories", filter=filter, as_of=as_of, limit=limit, after_id=after_id
        )

    def get(self, user: User, memory_id: UUID) -> Memory | None:
        """Return a memory, current or ended; None when the user has no such one."""
        rows = self._core.read_memory(Memory, user, "get_memory", memory_id=memory_id)
        return rows[0] if rows else None

    def embedder(self) -> Embedder | None:
        """Return what makes vectors, None when there is none; made once.

        Raises:
            ConfigurationError: the model needs a key, or is not the database's.
            InvalidEmbeddingError: its vectors are of another length than the database's.
        """
        return self._core.embedder()

    def embed(self, texts: Sequence[str]) -> builtins.list[builtins.list[float]] | None:
        """Return one vector per text, or None when there is no embedder."""
        return self._core.embed(texts)

    def edit(
        self,
        user: User,
        memory_id: UUID,
        content: str,
        *,
        changes: JSON | Unset = UNSET,
        embedding: Vector | Unset | None = UNSET,
    ) -> UUID:
        """Replace a memory's text: a new row supersedes it, whose id is returned.

        Args:
            user: the user.
            memory_id: the memory; one that was superseded already is followed to its current form.
            content: the new text.
            changes: other fields to change, as in a candidate of `ingest`, expires_at, review_at.
            embedding: the text's vector; None stores none; left out, the driver makes it.

        Raises:
            NotFoundError: the user has no such memory.
            InvalidInputError: it has ended, and nothing took its place.
        """
        fields = {} if changes is UNSET else dict(changes)
        vector = self._core.vector(user, content, embedding)
        if vector is not UNSET:
            fields["embedding"] = vector if isinstance(vector, Made) else to_halfvec(vector)
        found: UUID = self._core.change_value(
            user,
            "supersede_memory",
            memory_id=memory_id,
            content=content,
            changes=fields or UNSET,
        )
        return found

    def retract(self, user: User, memory_id: UUID, *, reason: str | Unset | None = UNSET) -> bool:
        """End a memory; it stays readable. Return False when it was not active."""
        return bool(
            self._core.change_value(user, "retract_memory", memory_id=memory_id, reason=reason)
        )

    def restore(self, user: User, memory_id: UUID) -> UUID:
        """Undo a merge, a retraction or an expiry, and return the id of the new, active row."""
        found: UUID = self._core.change_value(user, "restore_memory", memory_id=memory_id)
        return found

    def validate(self, user: User, memory_id: UUID) -> bool:
        """Confirm a memory, as a person does. Return False when it was not active."""
        return bool(self._core.change_value(user, "validate_memory", memory_id=memory_id))

    def achieve(self, user: User, memory_id: UUID) -> bool:
        """Mark a goal as achieved: it stays, with low importance. False: it was not active.

        Raises:
            InvalidInputError: it is no goal.
        """
        return bool(self._core.change_value(user, "achieve_goal", memory_id=memory_id))

    def reinforce(self, user: User, memory_id: UUID, *, useful: bool) -> bool:
        """Record whether a memory helped, by importance and confidence. False: it is not active."""
        return bool(
            self._core.change_value(user, "reinforce_memory", memory_id=memory_id, useful=useful)
        )

    def to_review(self, user: User) -> builtins.list[Memory]:
        """Return the memories that the user should confirm again."""
        return self._core.read_memory(Memory, user, "memories_to_review")

    def disputes(self, user: User) -> builtins.list[Dispute]:
        """Return inferences that contradict the user's statements, for a decision."""
        return self._core.read_memory(Dispute, user, "list_disputes")

    def dispute(
        self,
        user: User,
        memory_id: UUID,
        *,
        session_id: UUID,
        user_words: str | None = None,
        current_message: str | None = None,
        reason: str | None = None,
    ) -> Remembered:
        """End a memory on a model's word, as far as the user's own words prove it.

        Without proof, what the user said stays active, and a dispute waits for a person. The words
        of an encrypted user are compared here, in the session's last 200 messages.

        Args:
            user: the user.
            memory_id: the memory that a model asks to forget.
            session_id: the conversation in which the user's words are looked for.
            user_words: what the model quotes of the user.
            current_message: the user's message of the current turn, which is not stored yet.
            reason: recorded in the audit.

        Returns:
            Outcome `retracted`, `disputed` (with the dispute's id) or `ended` (it was not active).

        Raises:
            NotFoundError: the user has no such memory or session.
        """
        content: str | Unset = UNSET
        if self._core.sealing(user) is not None:
            from pgrecall.encryption._sync import proof

            target = self.get(user, memory_id)
            content = UNSET if target is None else f"Forget: {target.content}"
            if (
                target is not None
                and proof.denies(self._core, user, target, session_id, user_words, current_message)
                and self.retract(user, memory_id, reason=reason)
            ):
                return Remembered(memory_id=memory_id, outcome="retracted")
        [found] = self._core.change(
            Remembered,
            user,
            "dispute_memory",
            memory_id=memory_id,
            session_id=session_id,
            words=user_words,
            current_message=current_message,
            reason=reason,
            content=content,
        )
        return found

    def resolve_dispute(self, user: User, memory_id: UUID, *, accept: bool) -> UUID | None:
        """Accept a dispute, or refuse it; return the id of the memory that remains.

        None remains when an accepted dispute asked to forget the memory.
        """
        found: UUID | None = self._core.change_value(
            user, "resolve_dispute", memory_id=memory_id, accept=accept
        )
        return found

    def chain(self, user: User, memory_id: UUID) -> builtins.list[Memory]:
        """Return every version of a memory, oldest first."""
        return self._core.read_memory(Memory, user, "memory_chain", memory_id=memory_id)

    def history(self, user: User, memory_id: UUID) -> builtins.list[MemoryEvent]:
        """Return what happened to a memory, oldest first."""
        return self._core.read_memory(MemoryEvent, user, "memory_history", memory_id=memory_id)

    def profile(self, user: User) -> dict[str, Any]:
        """Return the profile of a user: slot → content, since, confidence."""
        user_id = self._core.user_id(user)
        call = Call.of("get_profile", user_id=user_id)
        return self._core.memory.value(call, repeatable=True) or {}

    def record_access(
        self,
        user: User,
        memory_ids: Sequence[UUID],
        relevance: Sequence[float],
        *,
        efficiency: float | Unset | None = UNSET,
    ) -> int:
        """Count that memories were used, each with its relevance (0 to 1); return how many.

        Args:
            user: whose they are.
            memory_ids: what a context showed.
            relevance: of each.
            efficiency: how well the context used the budget of its memories, for `metrics`.
        """
        return int(
            self._core.change_value(
                user,
                "record_access",
                memory_ids=memory_ids,
                relevance=relevance,
                efficiency=efficiency,
            )
        )
