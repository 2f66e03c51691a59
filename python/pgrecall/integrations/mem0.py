"""The API of mem0's `Memory` over pgrecall.

::

    from pgrecall.integrations.mem0 import Memory

    memory = Memory()
    memory.add("I am vegetarian.", user_id="ada")
    memory.search("What does Ada eat?", filters={"user_id": "ada"})

It needs no mem0. A user of mem0 is a user here; `docs/guides/coming-from-mem0.md` has the rest.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final, Self
from uuid import UUID

from pgrecall import AgentMemory, ChatSession, ModelSettings, Worker
from pgrecall._logs import logger
from pgrecall._messages import content_text
from pgrecall._options import SessionOptions
from pgrecall._sql import UNSET
from pgrecall.errors import SessionNotActiveError
from pgrecall.models import OpenAIEmbedder
from pgrecall.rows import Memory as Row
from pgrecall.rows import SearchHit, Session

__all__ = ["AsyncMemory", "Config", "Memory"]

_UNSET: Final[Any] = object()
_SCOPE = ("user_id", "agent_id", "run_id")
_IDENTITY = {*_SCOPE, "actor_id"}
_PROMOTED = (*_SCOPE, "actor_id", "role", "expiration_date")
_OWN = "mem0"  # the key of metadata for what this module stores
_MODEL = "gpt-5-mini"
_PAGE = 200
_POLL_SECONDS = 0.2
_MAX_SESSIONS = 10_000  # whose metadata is cached
_MOST = 5000  # memories that one call with a filter reads
_EVENTS = {"added": "ADD", "merged": "UPDATE", "superseded": "UPDATE", "duplicate": "NONE"}
_SCORES = ("match", "similarity", "lexical", "freshness", "frequency", "authority", "decay")


@dataclass(frozen=True, kw_only=True)
class Config:
    """The configuration of `Memory`.

    Attributes:
        client: stays the caller's; None makes one of `PGRECALL_DSN`, or an embedded server.
        llm: extracts memories; None is the client's, else `gpt-5-mini` of OPENAI_BASE_URL or
            OPENAI_API_KEY, else the database's setting `extraction` decides.
        wait: whether `add` extracts before it returns. With False workers extract later, and
            `add` returns no results.
        timeout: seconds that `add` waits for another worker.
    """

    client: AgentMemory | None = None
    llm: ModelSettings | None = None
    wait: bool = True
    timeout: float = 60.0


@dataclass(frozen=True)
class _Scope:
    """The ids of a call: the user it concerns, and what memories of the scope carry."""

    user: str
    ids: Mapping[str, str]

    @classmethod
    def of(cls, given: Mapping[str, Any], where: str) -> _Scope:
        """Check ids. Without a user_id, the agent or the run is the user."""
        ids = {key: _entity(given[key], key) for key in _SCOPE if given.get(key) is not None}
        if not ids:
            raise ValueError(f"{where} needs a user_id, an agent_id or a run_id")
        if "user_id" in ids:
            return cls(ids["user_id"], ids)
        # ids have no whitespace, so that no user has this name
        kind = "agent" if "agent_id" in ids else "run"
        return cls(f"{kind} {ids[f'{kind}_id']}", ids)


class Memory:
    """Memories by mem0's API; threads may share it.

    Args:
        config: the configuration; None takes everything from the environment.
    """

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self._client = self.config.client or AgentMemory.from_environment()
        self._owns_client = self.config.client is None
        llm: Any = self.config.llm or self._client._endpoint.llm  # noqa: SLF001
        if not isinstance(llm, ModelSettings):
            has_endpoint = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_KEY")
            llm = ModelSettings(model=_MODEL) if has_endpoint else None
        self._llm: ModelSettings | None = llm
        self._sessions: dict[UUID, Mapping[str, Any]] = {}

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> Self:
        """Return the memory that a configuration of mem0 names.

        Understood are `vector_store` with provider pgvector, `llm` and `embedder` with provider
        openai, and `version`.

        Raises:
            ValueError: another key or provider; an embedder without a vector_store.
        """
        made = cls(_configured(config_dict))
        made._owns_client = True
        return made

    @property
    def client(self) -> AgentMemory:
        """The client, for what this API lacks: contexts, erasure, workers."""
        return self._client

    def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        timestamp: Any | None = None,
        expiration_date: Any | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Remember messages.

        Args:
            messages: a text of the user, a message, or a list of messages. System messages are
                left out: they often quote memories.
            user_id: whose memories they become.
            agent_id: the agent.
            run_id: the conversation.
            metadata: for filters; memories of this call carry it.
            timestamp: with `infer=False` the time of the messages, ISO 8601 or datetime.
            expiration_date: the last day on which `search` and `get_all` return the memories.
            infer: whether a model extracts memories; else each message is one.
            memory_type: must be None.
            prompt: must be None; `recall.set_prompt` changes the prompts of the extraction.

        Returns:
            `{"results": [{"id", "memory", "event"}]}`.

        Raises:
            ValueError: no id, a message of another form, an argument that is not supported.
        """
        if memory_type is not None or prompt is not None:
            name = "memory_type" if memory_type is not None else "prompt"
            raise ValueError(f"{name} is not supported: recall.set_prompt changes the prompts")
        if timestamp is not None and infer:
            raise ValueError("timestamp is supported with infer=False only")
        scope = _Scope.of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, "add()")
        said = _messages(messages)
        if not said:
            return {"results": []}
        carried: dict[str, Any] = {"ids": dict(scope.ids), "metadata": _free(metadata)}
        if expiration_date is not None:
            carried["expiration_date"] = _day(expiration_date)
        chat = self._session(scope, carried)
        if not infer:
            return {"results": self._remember(scope, chat, said, timestamp)}
        return {"results": self._extract(scope, chat, said)}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory; None when it is unknown or deleted."""
        found = self._find(memory_id)
        return None if found is None else self._item(*found)

    def get_all(
        self,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return memories, newest first.

        Args:
            filters: user_id, agent_id or run_id, and conditions as in `search`.
            top_k: how many at most.
            show_expired: whether to return memories after their expiration date.
            kwargs: none is known.
        """
        scope, wanted = _checked(filters, kwargs, "get_all()", top_k)
        found: list[dict[str, Any]] = []
        for row in self._rows(scope.user):
            item = self._item(scope.user, row)
            if len(found) >= top_k:
                break
            if _is_shown(item, wanted, show_expired=show_expired):
                found.append({key: value for key, value in item.items() if key != "score"})
        return {"results": found}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: dict[str, Any] | None = None,
        threshold: float | None = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any | None = None,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return the memories that answer a query, best first.

        Args:
            query: words, or a question.
            top_k: how many at most.
            filters: user_id, agent_id or run_id, and conditions on metadata: a value, a list,
                "*", or eq, ne, in, nin, gt, gte, lt, lte, contains, icontains; AND, OR, NOT.
            threshold: the least score, 0 to 1; the score is the `match` of `AgentMemory.search`.
            rerank: whether the client's reranker orders the results.
            explain: whether results have `score_details`.
            reference_date: the time of the query, for words such as "last week".
            show_expired: whether to return memories after their expiration date.
            kwargs: none is known.
        """
        given: Any = query
        if not isinstance(given, str) or not given.strip():
            raise ValueError(f"query is {given!r}: pass a text")
        threshold = 0.1 if threshold is None else threshold
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold is {threshold}: pass 0 to 1")
        scope, wanted = _checked(filters, kwargs, "search()", top_k)
        limit = top_k if wanted.keys() == {"user_id"} else max(4 * top_k, 60)
        while True:
            hits = self._client.search(
                scope.user,
                query.strip(),
                limit=limit,
                filter={"min_match": threshold},
                asked_at=_time(reference_date),
                reranker=UNSET if rerank else None,
            )
            found = list(self._shown(scope.user, hits, wanted, show_expired=show_expired))
            if len(found) >= top_k or len(hits) < limit or limit >= _MOST:
                break
            limit *= 4
        for item, hit in found[:top_k]:
            if explain:
                item["score_details"] = {name: getattr(hit, name) for name in _SCORES}
        return {"results": [item for item, _ in found[:top_k]]}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change a memory; its id stays. `data` is the old name of `text`."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise ValueError("update() needs text, metadata or expiration_date")
        if text is not None and not text.strip():
            raise ValueError("update() cannot make a memory empty: delete() ends it")
        user, row = self._found(memory_id)
        own = dict(row.metadata.get(_OWN) or {})
        own |= {"id": own.get("id", str(row.memory_id)),
                "created_at": own.get("created_at", row.created_at.isoformat())}  # fmt: skip
        if expiration_date is not _UNSET:
            day = None if expiration_date is None else _day(expiration_date)
            own["expiration_date"] = day
        changed = {**row.metadata, **_free(metadata), _OWN: own}
        self._client.memories.edit(
            user,
            row.memory_id,
            row.content if text is None else text,
            changes={"metadata": changed},
        )
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """End a memory; `history` still has it. `client.privacy` erases."""
        user, row = self._found(memory_id)
        self._client.memories.retract(user, row.memory_id)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """End all memories of a user, an agent or a run; `client.privacy` erases."""
        given = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        scope = _Scope.of(given, "delete_all()")
        # with one id the scope is all of the user, also what no session of this class carries
        is_whole = len(scope.ids) == 1
        ids = [
            row.memory_id
            for row in self._rows(scope.user)
            if is_whole or _is_shown(self._item(scope.user, row), scope.ids, show_expired=True)
        ]
        for memory_id in ids:
            self._client.memories.retract(scope.user, memory_id)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return the changes of a memory, oldest first."""
        if (parsed := _parsed(memory_id)) is None:
            return []
        user, known = parsed
        if self._client.memories.get(user, known) is None:
            return []
        chain = self._client.memories.chain(user, known)
        before = {row.superseded_by: row for row in chain if row.superseded_by}
        changes = []
        for row in chain:
            old = before.get(row.memory_id)
            event = "ADD" if old is None else "UPDATE"
            changes.append(self._change(memory_id, row, event, old, row))
        if chain[-1].ended_at is not None:
            changes.append(self._change(memory_id, chain[-1], "DELETE", chain[-1], None))
        return changes

    def reset(self) -> None:
        """Erase all users that this class has added to, with all their data.

        Raises:
            NotAllowedError: the login lacks the rights of `recall_admin`.
            ConfigurationError: an encrypted user's key encryption key is not among the client's.
        """
        after: Any = UNSET
        while page := self._client.pages.users(limit=_PAGE, after_id=after):
            for one in page:
                if _OWN in one.metadata or (one.is_sealed and self._has_session(one.user_id)):
                    self._client.privacy.forget_user(one.user_id)
            after = page[-1].user_id
        self._sessions.clear()

    def close(self) -> None:
        """Close the client, unless it is the caller's."""
        if self._owns_client:
            self._client.close()

    def chat(self, query: str) -> Any:
        """Raise NotImplementedError, as mem0 does; `client.session` has conversations."""
        raise NotImplementedError("use client.session(…).send(…)")

    def _has_session(self, user: UUID) -> bool:
        """Return whether an encrypted user has a session of this class; a client needs keys."""
        if self._client._core.sealing(user) is None:  # noqa: SLF001
            return False
        before: Any = UNSET
        while page := self._client.sessions.list(user, limit=_PAGE, before_id=before):
            if any(_OWN in one.metadata for one in page):
                return True
            before = page[-1].session_id
        return False

    # Writing

    def _session(self, scope: _Scope, carried: Mapping[str, Any]) -> ChatSession:
        """Return the session of a scope and metadata; memories of it carry both."""
        name = json.dumps(carried, sort_keys=True, default=str)
        options = SessionOptions(title="mem0", metadata={_OWN: carried})
        if "agent_id" in scope.ids:
            options["agent_id"] = scope.ids["agent_id"]
        chat = self._client.session(
            user=scope.user,
            model=self._llm.model if self._llm else _MODEL,
            session_id=f"mem0 {hashlib.sha256(name.encode()).hexdigest()[:32]}",
            extraction="llm" if self._llm else None,
            **options,
        )
        is_new = chat.open().session_id not in self._sessions
        # `reset` finds users by this mark; encrypted users have no readable metadata
        if is_new and self._client._core.sealing(scope.user) is None:  # noqa: SLF001
            self._client.users.ensure(scope.user, metadata={_OWN: True})
        self._sessions[chat.session_id] = carried
        return chat

    def _remember(
        self, scope: _Scope, chat: ChatSession, said: Sequence[Mapping[str, Any]], timestamp: Any
    ) -> list[dict[str, Any]]:
        """Remember each message as it stands."""
        observed = _time(timestamp)
        texts = [(content_text(message) or "", message) for message in said]
        texts = [(text, message) for text, message in texts if text.strip()]
        candidates = [
            {
                "content": text,
                "source": "manual",
                "confidence": 1.0,
                "provenance": "user_stated" if message["role"] == "user" else "fact",
                "metadata": {
                    _OWN: {"role": message["role"], "actor_id": message.get("name")},
                },
            }
            | ({} if observed is None else {"observed_at": observed.isoformat()})
            | ({"agent_id": scope.ids["agent_id"]} if "agent_id" in scope.ids else {})
            for text, message in texts
        ]
        stored = self._client.memories.ingest(scope.user, candidates, session_id=chat.session_id)
        return [
            {
                "id": self._id(chat.user_id, one.memory_id),
                "memory": text,
                "event": _EVENTS.get(one.outcome, "NONE"),
                "actor_id": message.get("name"),
                "role": message["role"],
            }
            for one, (text, message) in zip(stored, texts, strict=True)
        ]

    def _extract(
        self, scope: _Scope, chat: ChatSession, said: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Append the messages, extract memories, and return those that are new."""
        pages = self._client.pages
        last = max((one.event_no or 0 for one in pages.memory_events(scope.user, limit=1)),
                   default=0)  # fmt: skip
        try:
            appended = chat.append(list(said))
        except SessionNotActiveError:  # nobody used it for session_ttl
            chat.resume()
            appended = chat.append(list(said))
        if not self.config.wait or not self._work(chat, appended[-1].turn_index):
            return []
        return self._changes(chat, last)

    def _work(self, chat: ChatSession, turn: int) -> bool:
        """Work on the queue until the session's turns are extracted; return whether they are."""

        def is_done() -> bool:
            return (chat.refresh().extracted_through_turn or 0) >= turn

        until = time.monotonic() + self.config.timeout
        while time.monotonic() < until:
            worker = self._client.worker(llm=self._llm)

            def progress(_: object, worker: Worker = worker) -> None:
                if is_done():
                    worker.stop()

            report = worker.run_until_idle(flush=True, progress=progress)
            if is_done():
                return True
            if report.failed or report.without_model:
                logger.warning("the extraction is left to a worker: %s", report)
                return False
            time.sleep(_POLL_SECONDS)  # another worker has the job
        return False

    def _changes(self, chat: ChatSession, last: int) -> list[dict[str, Any]]:
        """Return what happened since event `last` to the memories of a session."""
        added: list[UUID] = []
        before: Any = UNSET
        while page := self._client.pages.memory_events(chat.user_id, limit=_PAGE, before_no=before):
            before = page[-1].event_no
            added += [
                one.memory_id for one in page if one.event == "added" and (one.event_no or 0) > last
            ]
            if before <= last:
                break
        changes: list[dict[str, Any]] = []
        for memory_id in reversed(added):
            row = self._client.memories.get(chat.user_id, memory_id)
            if row is None or row.source_session_id != chat.session_id or not row.is_active:
                continue
            change = {"id": self._id(chat.user_id, memory_id), "memory": row.content,
                      "event": "ADD"}  # fmt: skip
            replaced = [
                old for old in self._client.memories.chain(chat.user_id, memory_id)
                if old.superseded_by == memory_id
            ]  # fmt: skip
            if replaced:
                change |= {"event": "UPDATE", "previous_memory": replaced[-1].content}
            changes.append(change)
        return changes

    # Reading

    def _rows(self, user: str) -> Iterator[Row]:
        """Yield a user's memories, newest first."""
        before: Any = UNSET
        while page := self._client.pages.memories(user, limit=_PAGE, before_id=before):
            yield from page
            before = page[-1].memory_id

    def _shown(
        self,
        user: str,
        hits: Sequence[SearchHit],
        wanted: Mapping[str, Any],
        *,
        show_expired: bool,
    ) -> Iterator[tuple[dict[str, Any], SearchHit]]:
        for hit in hits:
            row = self._client.memories.get(user, hit.memory_id)
            if row is None:
                continue
            item = self._item(user, row) | {"score": hit.match}
            if _is_shown(item, wanted, show_expired=show_expired):
                yield item, hit

    def _find(self, memory_id: str) -> tuple[UUID, Row] | None:
        """Return the user of a memory and its current form."""
        if (parsed := _parsed(memory_id)) is None:
            return None
        user, known = parsed
        row = self._client.memories.get(user, known)
        while row is not None and row.superseded_by is not None:
            row = self._client.memories.get(user, row.superseded_by)
        return None if row is None or not row.is_active else (user, row)

    def _found(self, memory_id: str) -> tuple[UUID, Row]:
        found = self._find(memory_id)
        if found is None:
            raise ValueError(f"there is no memory {memory_id}")
        return found

    def _id(self, user: str | UUID, memory_id: UUID | str) -> str:
        """Return the id of a memory: without the user no function here finds one."""
        return f"{self._client.users.id(user)}:{memory_id}"

    def _carried(self, user: str | UUID, session_id: UUID | None) -> Mapping[str, Any]:
        """Return what memories of a session carry: ids, metadata and the expiration date."""
        if session_id is None:
            return {}
        if session_id not in self._sessions:
            if len(self._sessions) >= _MAX_SESSIONS:
                self._sessions.clear()
            session: Session | None = self._client.sessions.get(user, session_id)
            carried = None if session is None else session.metadata.get(_OWN)
            self._sessions[session_id] = carried if isinstance(carried, Mapping) else {}
        return self._sessions.get(session_id, {})

    def _item(self, user: str | UUID, row: Row) -> dict[str, Any]:
        """Return a memory in mem0's shape."""
        carried = self._carried(user, row.source_session_id)
        own = row.metadata.get(_OWN) or {}
        # a consolidation of several memories has no session, and thus carries no ids
        ids = dict(carried.get("ids") or {}) or _ids_of(str(user))
        if row.agent_id is not None:
            ids["agent_id"] = row.agent_id
        promoted = ids | {key: own[key] for key in ("actor_id", "role") if own.get(key)}
        expires = own.get("expiration_date", carried.get("expiration_date"))
        if expires is not None:
            promoted["expiration_date"] = expires
        metadata = {**(carried.get("metadata") or {}), **row.metadata}
        metadata.pop(_OWN, None)
        return {
            "id": self._id(user, own.get("id", row.memory_id)),
            "memory": row.content,
            "hash": hashlib.md5(row.content.encode(), usedforsecurity=False).hexdigest(),
            "metadata": metadata or None,
            "score": None,
            "created_at": own.get("created_at", row.created_at.isoformat()),
            "updated_at": (row.updated_at or row.created_at).isoformat(),
        } | {key: promoted[key] for key in _PROMOTED if key in promoted}

    @staticmethod
    def _change(
        memory_id: str, row: Row, event: str, old: Row | None, new: Row | None
    ) -> dict[str, Any]:
        own = row.metadata.get(_OWN) or {}
        changed_at = row.ended_at if event == "DELETE" and row.ended_at else row.created_at
        return {
            "id": f"{row.memory_id}:{event.lower()}",
            "memory_id": memory_id,
            "old_memory": None if old is None else old.content,
            "new_memory": None if new is None else new.content,
            "event": event,
            "created_at": own.get("created_at", row.created_at.isoformat()),
            "updated_at": changed_at.isoformat(),
            "is_deleted": event == "DELETE",
            "actor_id": own.get("actor_id"),
            "role": own.get("role"),
        }


class AsyncMemory:
    """`Memory` for event loops: each call runs in a thread.

    Args:
        config: as of `Memory`.
    """

    def __init__(self, config: Config | None = None) -> None:
        self._memory = Memory(config)
        self.config = self._memory.config

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> Self:
        """Return the memory that a configuration of mem0 names; as of `Memory`."""
        made = cls(_configured(config_dict))
        made._memory._owns_client = True  # noqa: SLF001
        return made

    @property
    def client(self) -> AgentMemory:
        """The client, which blocks."""
        return self._memory.client

    async def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        timestamp: Any | None = None,
        expiration_date: Any | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
        llm: Any = None,
    ) -> dict[str, Any]:
        """Remember messages; as `Memory.add`. `llm` must be None."""
        if llm is not None:
            raise ValueError("llm is not supported: pass Config(llm=…)")
        return await asyncio.to_thread(
            self._memory.add,
            messages,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            metadata=metadata,
            timestamp=timestamp,
            expiration_date=expiration_date,
            infer=infer,
            memory_type=memory_type,
            prompt=prompt,
        )

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory; None when it is unknown or deleted."""
        return await asyncio.to_thread(self._memory.get, memory_id)

    async def get_all(
        self,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return memories, newest first; as `Memory.get_all`."""
        return await asyncio.to_thread(
            self._memory.get_all, filters=filters, top_k=top_k, show_expired=show_expired, **kwargs
        )

    async def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: dict[str, Any] | None = None,
        threshold: float | None = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any | None = None,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return the memories that answer a query, best first; as `Memory.search`."""
        return await asyncio.to_thread(
            self._memory.search,
            query,
            top_k=top_k,
            filters=filters,
            threshold=threshold,
            rerank=rerank,
            explain=explain,
            reference_date=reference_date,
            show_expired=show_expired,
            **kwargs,
        )

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change a memory; its id stays."""
        return await asyncio.to_thread(
            self._memory.update, memory_id, text, metadata, expiration_date, data
        )

    async def delete(self, memory_id: str) -> dict[str, str]:
        """End a memory; `history` still has it."""
        return await asyncio.to_thread(self._memory.delete, memory_id)

    async def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """End all memories of a user, an agent or a run."""
        return await asyncio.to_thread(self._memory.delete_all, user_id, agent_id, run_id)

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return the changes of a memory, oldest first."""
        return await asyncio.to_thread(self._memory.history, memory_id)

    async def reset(self) -> None:
        """Erase all users that this class has added to, with all their data."""
        await asyncio.to_thread(self._memory.reset)

    def close(self) -> None:
        """Close the client, unless it is the caller's."""
        self._memory.close()

    async def chat(self, query: str) -> Any:
        """Raise NotImplementedError, as mem0 does."""
        return self._memory.chat(query)


# Checks


def _entity(value: Any, name: str) -> str:
    text = str(value).strip() if isinstance(value, (str, int)) else ""
    if not text or any(character.isspace() for character in text):
        raise ValueError(f"{name} is {value!r}: pass a text without whitespace")
    return text


def _ids_of(user: str) -> dict[str, str]:
    """Return the ids that a user's name says, the reverse of `_Scope.of`."""
    kind, _, name = user.partition(" ")
    return {f"{kind}_id": name} if name and kind in ("agent", "run") else {"user_id": user}


def _messages(given: Any) -> list[dict[str, Any]]:
    """Return the messages of the user and the assistant."""
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    elif isinstance(given, Mapping):
        given = [given]
    if not isinstance(given, list):
        raise ValueError(f"messages is {type(given).__name__}: pass a text, a dict or a list")
    for message in given:
        if not isinstance(message, Mapping) or not message.get("role"):
            raise ValueError(f"{str(message)[:80]!r} is no message: it has no role")
    return [dict(message) for message in given if message["role"] in ("user", "assistant")]


def _free(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return metadata without the keys of ids, which only arguments set."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise ValueError(f"metadata is {type(metadata).__name__}: pass a dict")
    return {key: value for key, value in metadata.items() if key not in _IDENTITY | {_OWN}}


def _day(value: Any) -> str:
    if isinstance(value, datetime):
        return value.date().isoformat()
    try:
        return (value if isinstance(value, date) else date.fromisoformat(value)).isoformat()
    except (TypeError, ValueError):
        raise ValueError(f"expiration_date is {value!r}: pass a date, or YYYY-MM-DD") from None


def _time(value: Any) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, (int, float)):
        return datetime.fromtimestamp(value, UTC)
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(f"{value!r} is no time: pass a datetime, or ISO 8601") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _checked(
    filters: Mapping[str, Any] | None, unknown: Mapping[str, Any], where: str, top_k: int
) -> tuple[_Scope, dict[str, Any]]:
    """Check the arguments of a read; return its scope and its conditions."""
    if unknown:
        name = min(unknown)
        hint = ': pass filters={"user_id": …}' if name in _SCOPE else ""
        raise ValueError(f"{where} takes no {name}{hint}")
    number: Any = top_k
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError(f"top_k is {number!r}: pass zero or more")
    given = dict(filters or {})
    scope = _Scope.of(given, f"filters of {where}")
    _check_conditions(given)
    return scope, {**given, **scope.ids}


def _parsed(memory_id: Any) -> tuple[UUID, UUID] | None:
    try:
        user, _, memory = str(memory_id).partition(":")
        return UUID(user), UUID(memory)
    except ValueError:
        return None


# Filters

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, wanted: bool(value == wanted),
    "ne": lambda value, wanted: bool(value != wanted),
    "in": lambda value, wanted: value in wanted,
    "nin": lambda value, wanted: value not in wanted,
    "gt": lambda value, wanted: bool(value > wanted),
    "gte": lambda value, wanted: bool(value >= wanted),
    "lt": lambda value, wanted: bool(value < wanted),
    "lte": lambda value, wanted: bool(value <= wanted),
    "contains": lambda value, wanted: wanted in value,
    "icontains": lambda value, wanted: str(wanted).casefold() in str(value).casefold(),
}


def _check_conditions(filters: Any) -> None:
    if not isinstance(filters, Mapping):
        raise ValueError(f"{filters!r} is no filter: pass a dict")
    for key, wanted in filters.items():
        if key in ("AND", "OR", "NOT"):
            if not isinstance(wanted, list) or not wanted:
                raise ValueError(f"{key} needs a list of filters")
            for part in wanted:
                _check_conditions(part)
        elif isinstance(wanted, Mapping) and (other := sorted(wanted.keys() - _OPERATORS.keys())):
            raise ValueError(f"{other[0]!r} is no operator: one of {', '.join(_OPERATORS)}")


def _is_shown(item: Mapping[str, Any], wanted: Mapping[str, Any], *, show_expired: bool) -> bool:
    expires = item.get("expiration_date")
    if expires is not None and not show_expired and expires < f"{datetime.now(UTC):%Y-%m-%d}":
        return False
    return _matches({**item, **(item.get("metadata") or {})}, wanted)


def _matches(values: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    for key, wanted in filters.items():
        if key == "AND":
            is_met = all(_matches(values, part) for part in wanted)
        elif key == "OR":
            is_met = any(_matches(values, part) for part in wanted)
        elif key == "NOT":
            is_met = not any(_matches(values, part) for part in wanted)
        else:
            is_met = _meets(values.get(key), wanted)
        if not is_met:
            return False
    return True


def _meets(value: Any, wanted: Any) -> bool:
    """Return whether a value meets a condition; values that do not compare do not."""
    if wanted == "*":
        return value is not None
    if isinstance(wanted, list):
        return value in wanted
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    try:
        return all(_OPERATORS[name](value, operand) for name, operand in wanted.items())
    except TypeError:
        return False


# mem0's configuration


def _configured(given: Mapping[str, Any]) -> Config:
    known = {"vector_store", "llm", "embedder", "version", "history_db_path"}
    if other := sorted(given.keys() - known):
        raise ValueError(f"the configuration {other[0]} is not supported: {', '.join(known)} are")
    store = _provider(given, "vector_store", "pgvector")
    llm = _provider(given, "llm", "openai")
    embedder = _provider(given, "embedder", "openai")
    settings = None
    if llm is not None:
        settings = ModelSettings(
            model=llm.get("model") or _MODEL,
            base_url=llm.get("openai_base_url"),
            api_key=llm.get("api_key"),
        )
    made = None
    if embedder is not None:
        made = OpenAIEmbedder(
            embedder.get("model") or "text-embedding-3-small",
            base_url=embedder.get("openai_base_url"),
            api_key=embedder.get("api_key"),
            dimensions=embedder.get("embedding_dims"),
        )
    if store is None:
        if made is not None:
            raise ValueError(
                "embedder needs vector_store: name the database there, or pass Config(client="
                "AgentMemory.connect(…, embedder=…))"
            )
        client = AgentMemory.from_environment()
    else:
        client = AgentMemory.connect(_dsn(store), embedder=made)
    return Config(client=client, llm=settings)


def _provider(given: Mapping[str, Any], part: str, provider: str) -> Mapping[str, Any] | None:
    if part not in given:
        return None
    named = given[part].get("provider", provider)
    if named != provider:
        raise ValueError(f"{part} {named} is not supported: {provider} is")
    found: Mapping[str, Any] = given[part].get("config") or {}
    return found


def _dsn(store: Mapping[str, Any]) -> str:
    if (dsn := store.get("connection_string")) is not None:
        return str(dsn)
    from psycopg.conninfo import make_conninfo

    parts = {key: store[key] for key in ("host", "port", "user", "password", "dbname", "sslmode")
             if store.get(key) is not None}  # fmt: skip
    return make_conninfo(**parts)
