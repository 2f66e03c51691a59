"""The client: the functions of the database as methods."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar
from uuid import UUID

import psycopg
from psycopg import AsyncConnection

from pgrecall._async.database import AsyncDatabase, Target
from pgrecall._async.ledger import AsyncLedger
from pgrecall._async.sealer import AsyncSealer, wrap_context
from pgrecall._async.session import AsyncChatSession
from pgrecall._async.worker import AsyncWorker
from pgrecall._calls import UNSET, Call, Unset, Vector, refuse_unstorable, to_halfvec
from pgrecall._info import DatabaseInfo, checked_embedder, default_embedder
from pgrecall._ledger import Level, Recording
from pgrecall._limits import Limits
from pgrecall._loop import EndpointHabits
from pgrecall._ranking import (
    DEFAULT_LIMIT,
    RERANKED,
    Reranker,
    as_moment,
    best_first,
    by_scores,
    by_window,
    by_words,
    contains,
    first,
    shares_of_words,
)
from pgrecall._runtime import AsyncBackground, AsyncRuntime
from pgrecall._sealed import Sealing, resealed
from pgrecall.dates import time_window
from pgrecall.embedding import Embedder, OpenAIEmbedder
from pgrecall.errors import ConfigurationError, InvalidInputError, NotAllowedError
from pgrecall.llm import ChatModel, ModelSettings
from pgrecall.messages import content_text
from pgrecall.rows import (
    Dispute,
    HealthCheck,
    IntegrityFinding,
    Memory,
    MemoryEvent,
    Message,
    MessageHit,
    Metric,
    ModelCall,
    ProtocolEvent,
    Remembered,
    SearchHit,
    Session,
    SessionHit,
    StreamEvent,
)
from pgrecall.sealing import NO_KEYS_HINT, UserKeys, WrappingKeys, new_data_key

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["AsyncAgentMemory"]

User = str | UUID
JSON = Mapping[str, Any]
Row = TypeVar("Row")

logger = logging.getLogger("pgrecall")

_MAX_CACHED_USERS = 10_000
_IMPORT_BATCH = 500
_LONG = 3600.0  # seconds for what touches everything of a user
_ROTATION_ATTEMPTS = 20  # while others write by the old key
_MOST_LATE_ROWS = 1_000_000
# What a search of a sealed user opens at most, since the database cannot read it:
_OPENED_FOR_SEARCH = 1000  # memories, the nearest, or the weightiest
_OPENED_SESSIONS = 500  # of which titles and summaries are looked at
_OPENED_MESSAGES = 2000  # the latest of the sessions that were active last
_NEAR_MESSAGES = 100  # the nearest, where there are vectors


class AsyncAgentMemory:
    """Long-term memory for agents, in one database.

    Make it by `connect` or `embedded`; nothing is opened before the first call. It may be shared:
    each call takes a connection of its own from a pool. A method is one call of the function of
    the same purpose; its keyword arguments are those of the function, and what is left out has the
    default that the function has.

    Attributes:
        limits: timeouts and pool sizes.
    """

    def __init__(
        self,
        write: Target,
        *,
        history: Target | None = None,
        memory: Target | None = None,
        worker: Target | None = None,
        embedder: Embedder | Literal[False] | None = None,
        llm: AsyncOpenAI | ModelSettings | None = None,
        reranker: Reranker | None = None,
        limits: Limits | None = None,
        wrapping_keys: WrappingKeys | None = None,
        on_close: Callable[[], object] | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._write = AsyncDatabase(write, self.limits)
        self._history = self._write if history is None else AsyncDatabase(history, self.limits)
        self._memory = self._write if memory is None else AsyncDatabase(memory, self.limits)
        self._work = self._write if worker is None else AsyncDatabase(worker, self.limits)
        self._sealer = AsyncSealer(self._write, wrapping_keys)
        for database in (self._write, self._history, self._memory, self._work):
            database.sealer = self._sealer
        self._given_embedder = embedder
        self._embedder: Embedder | None = None
        self._is_embedder_known = False
        self._llm = llm
        self._reranker = reranker
        self._has_rerank_failed = False
        self._chat_client: AsyncOpenAI | None = None
        self._habits = EndpointHabits()  # of the endpoint of `send`
        self._on_close = on_close
        self._info: DatabaseInfo | None = None
        self._users: dict[str, UUID] = {}
        self._lock = AsyncRuntime.lock()
        self._background = AsyncBackground()
        self._ledger = AsyncLedger(self)

    @classmethod
    def connect(
        cls,
        dsn: Target,
        *,
        history_dsn: Target | None = None,
        memory_dsn: Target | None = None,
        worker_dsn: Target | None = None,
        embedder: Embedder | Literal[False] | None = None,
        llm: AsyncOpenAI | ModelSettings | None = None,
        reranker: Reranker | None = None,
        limits: Limits | None = None,
        wrapping_keys: WrappingKeys | None = None,
    ) -> Self:
        """Return the memory in a database that has the schema installed.

        Args:
            dsn: where writes go, and everything that has no DSN of its own. Instead of a DSN a
                pool is taken, which stays the caller's, or one connection (see `joining`).
            history_dsn: for reading sessions and messages; may be a standby.
            memory_dsn: for searches, contexts and lists of memories; may be a standby.
            worker_dsn: for workers.
            embedder: makes vectors; None is the database's `settings.embedding_model`, False is
                none: searches go by words then, memories wait for a worker to embed them.
            llm: an endpoint and its models, for `ChatSession.send` and for workers; or a client,
                for `send` only. None makes one for `send` from the environment.
            reranker: puts the best of a search in order: a function of the query and at most 30
                texts that returns a score for each. None, the default, leaves the database's order.
            limits: timeouts and pool sizes.
            wrapping_keys: what opens the keys of sealed users; see `pgrecall.sealing`.
        """
        return cls(
            dsn,
            history=history_dsn,
            memory=memory_dsn,
            worker=worker_dsn,
            embedder=embedder,
            llm=llm,
            reranker=reranker,
            limits=limits,
            wrapping_keys=wrapping_keys,
        )

    @classmethod
    def embedded(
        cls,
        path: Path | str | None = None,
        *,
        embedder: Embedder | Literal[False] | None = None,
        llm: AsyncOpenAI | ModelSettings | None = None,
        reranker: Reranker | None = None,
        limits: Limits | None = None,
        wrapping_keys: WrappingKeys | None = None,
    ) -> Self:
        """Return the memory in an embedded server, which the first call starts.

        The schema is installed when it is missing, with the local embedding model and verbatim
        extraction, so that nothing needs a network or a key.

        Args:
            path: the server's folder; None is `PGRECALL_HOME`, or its default.
            embedder: as in `connect`.
            llm: as in `connect`.
            reranker: as in `connect`.
            limits: as in `connect`.
            wrapping_keys: as in `connect`.

        Raises:
            EmbeddedServerError: (at the first call) it is not installed, or does not start.
        """
        from pgrecall._setup import EmbeddedDatabase

        database = EmbeddedDatabase(path)
        return cls(
            database.start,
            embedder=embedder,
            llm=llm,
            reranker=reranker,
            limits=limits,
            wrapping_keys=wrapping_keys,
            on_close=database.stop,
        )

    @classmethod
    def from_environment(cls) -> Self:
        """Return the memory that the environment names; see `pgrecall.settings.Settings`."""
        from pgrecall.settings import Settings

        settings = Settings()
        if settings.dsn is None:
            return cls.embedded(
                settings.home, limits=settings.limits(), wrapping_keys=settings.keys()
            )
        return cls.connect(
            settings.dsn,
            history_dsn=settings.history_dsn,
            memory_dsn=settings.memory_dsn,
            worker_dsn=settings.worker_dsn,
            limits=settings.limits(),
            wrapping_keys=settings.keys(),
        )

    def joining(self, connection: AsyncConnection[Any]) -> Self:
        """Return a memory whose calls all go through one connection of the caller.

        When a transaction is open there, calls join it: each under a savepoint, so that a refused
        one leaves the transaction usable; it is never committed here. In autocommit mode each call
        is a transaction of its own. `recall.user_id` is set to the user of the last call until the
        transaction ends.
        """
        joined = type(self)(
            connection,
            embedder=self._given_embedder,
            llm=self._llm,
            reranker=self._reranker,
            limits=self.limits,
            wrapping_keys=self._sealer.wrapping,
        )
        joined._info = self._info
        joined._embedder = self._embedder
        joined._is_embedder_known = self._is_embedder_known
        joined._users = self._users
        joined._ledger = self._ledger  # over the pool: what a model was asked stays recorded
        return joined

    async def open(self) -> None:
        """Connect, and check that the schema is there and the embedder fits it.

        Calls do what they need of this themselves; this brings the errors forward.

        Raises:
            psycopg.OperationalError: the server cannot be reached.
            ConfigurationError: the schema is not installed, or its embedding model is another.
            InvalidEmbeddingError: the embedder's vectors are of another length.
        """
        await self.version()
        if self._given_embedder:
            await self.embedder()

    async def aclose(self) -> None:
        """Send what waits in the background and close the pools that this object opened."""
        await self._background.drain()
        for database in (self._write, self._history, self._memory, self._work):
            await database.aclose()
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            await AsyncRuntime.in_thread(on_close)

    async def __aenter__(self) -> Self:
        try:
            await self.open()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    # What is known of the database, and of users

    async def info(self) -> DatabaseInfo:
        """Return version, embedding model and dimensions of the database; asked once."""
        if self._info is None:
            try:
                rows = await self._write.query(DatabaseInfo.QUERY)
            except psycopg.errors.InsufficientPrivilege as error:
                raise ConfigurationError(
                    "this role may not read the settings of the schema recall",
                    hint="Pass embedder=…, or embedder=False to search by words.",
                ) from error
            self._info = DatabaseInfo(*rows[0])
        return self._info

    async def embedder(self) -> Embedder | None:
        """Return what makes vectors, None when there is none; made once.

        Raises:
            ConfigurationError: the model needs a key, or is not the database's.
            InvalidEmbeddingError: its vectors are of another length than the database's.
        """
        if self._is_embedder_known:
            return self._embedder
        given = self._given_embedder
        if given is not False:
            try:
                info = await self.info()
            except ConfigurationError:
                if given is None:
                    raise
                # an application's role: the database itself refuses what does not fit
                self._embedder = given
            else:
                self._embedder = await AsyncRuntime.in_thread(
                    checked_embedder, given or default_embedder(info), info
                )
        self._is_embedder_known = True
        return self._embedder

    async def embed(self, texts: Sequence[str]) -> list[list[float]] | None:
        """Return one vector per text, or None when there is no embedder."""
        refuse_unstorable(list(texts), "texts")
        embedder = await self.embedder()
        if embedder is None:
            return None
        return await AsyncRuntime.in_thread(embedder.embed, list(texts))

    async def user_id(self, user: User) -> UUID:
        """Return the id of a user named by a UUID or any text, as `recall.user_id` makes it."""
        if isinstance(user, UUID):
            return user
        if user not in self._users:
            if len(self._users) >= _MAX_CACHED_USERS:
                self._users.clear()
            self._users[user] = await self._memory.value(
                Call.of("user_id", external_id=user), repeatable=True
            )
        return self._users[user]

    async def ensure_user(self, user: User, *, metadata: JSON | Unset = UNSET) -> UUID:
        """Make a user known, with the text that names him, and return the id."""
        found: UUID = await self._write.value(
            Call.of("ensure_user", external_id=str(user), metadata=metadata), repeatable=True
        )
        return found

    # Sealed users

    async def seal_user(self, user: User, *, vectors: bool = False) -> bool:
        """Seal a user who has no data yet: from now on his texts reach the database encrypted.

        Nothing else changes for who reads and writes by a driver with the wrapping key. Words are
        compared here, over what was opened; `pgrecall.sealing` says what the database still learns.
        Returned is False when the user was sealed already.

        Args:
            user: who.
            vectors: whether vectors of his texts are stored, unencrypted, so that the database
                searches by meaning. From a vector one can tell what a text is about, and with some
                effort much of what it says.

        Raises:
            ConfigurationError: this driver has no wrapping key, or another than the user has.
            NotAllowedError: the user has data, which would stay readable, or was sealed with the
                other choice of `vectors`.
        """
        wrapping = self._sealer.wrapping
        if wrapping is None:
            raise ConfigurationError(
                "there is no wrapping key to seal a user with", hint=NO_KEYS_HINT
            )
        user_id, name = await self.user_id(user), wrapping.current
        wrapped = await AsyncRuntime.in_thread(
            wrapping.wrap, name, new_data_key(), wrap_context(user_id, 1)
        )
        is_new = await self._change_value(
            user_id, "seal_user", wrapped_key=wrapped, wrapping_key=name, with_vectors=vectors
        )
        self._sealer.forget(user_id)
        sealing = await self._sealer.sealing(user_id)
        if sealing is not None and sealing.has_vectors != vectors:
            stored = "with" if sealing.has_vectors else "without"
            raise NotAllowedError(
                f"user {user_id} was sealed {stored} vectors, and stays so",
                hint="That is chosen once, before the first text.",
            )
        return bool(is_new)

    async def rewrap_user(self, user: User) -> int:
        """Wrap a sealed user's data keys by the current wrapping key; return how many were not.

        To rotate: put the new key first, do this for every sealed user, then drop the old key.
        For a login with the rights of `recall_admin`.

        Raises:
            ConfigurationError: a key is missing, or another than the one that wrapped.
            InvalidInputError: the user is not sealed.
        """
        user_id, wrapping, count = await self.user_id(user), self._sealer.wrapping, 0
        if await self._sealer.sealing(user_id) is None or wrapping is None:
            raise _not_sealed(user_id)
        for number, wrapped, name in await self._sealer.wrapped(user_id):
            if name == wrapping.current:
                continue
            context = wrap_context(user_id, number)
            key = await AsyncRuntime.in_thread(wrapping.unwrap, name, wrapped, context)
            anew = await AsyncRuntime.in_thread(wrapping.wrap, wrapping.current, key, context)
            count += await self._change_value(
                user_id,
                "rewrap_user_key",
                key_no=number,
                previous=wrapped,
                wrapped_key=anew,
                wrapping_key=wrapping.current,
            )
        return count

    async def rotate_user(
        self,
        user: User,
        *,
        batch_size: int = 200,
        progress: Callable[[int], object] | None = None,
    ) -> int:
        """Give a sealed user a new data key, seal everything by it, and destroy the old one.

        It goes on meanwhile: who reads or writes asks for the keys again when they are others. A
        rotation that was interrupted is taken up by calling this again. What the database compares
        is exchanged at the end, at once; for that moment writers of this user's memories wait.
        Reasons in the audit, which is never rewritten, keep the old key: it opens them alone. For a
        login with the rights of `recall_admin`.

        Args:
            user: whose.
            batch_size: rows to a transaction, before the end.
            progress: called with the number of rows so far.

        Returns:
            How many rows were sealed anew.

        Raises:
            ConfigurationError: a key is missing, or a text does not open; what is done stays.
            InvalidInputError: the user is not sealed.
        """
        user_id = await self.user_id(user)
        self._sealer.forget(user_id)
        sealing, wrapping = await self._sealer.sealing(user_id), self._sealer.wrapping
        if sealing is None or wrapping is None:
            raise _not_sealed(user_id)
        if len(sealing.keys.numbers) == 1:
            number = 1 + max(row[0] for row in await self._sealer.wrapped(user_id))
            context = wrap_context(user_id, number)
            wrapped = await AsyncRuntime.in_thread(
                wrapping.wrap, wrapping.current, new_data_key(), context
            )
            await self._change_value(
                user_id,
                "add_user_key",
                key_no=number,
                wrapped_key=wrapped,
                wrapping_key=wrapping.current,
            )
        count = 0
        for _ in range(_ROTATION_ATTEMPTS):
            self._sealer.forget(user_id)
            sealing = await self._sealer.sealing(user_id)
            if sealing is None or len(sealing.keys.numbers) == 1:
                break
            try:
                count = await self._exchange_key(
                    user_id, sealing.keys, batch_size, count, progress or (lambda _: None)
                )
            except (ConfigurationError, InvalidInputError) as error:
                if error.diag.sqlstate is None:
                    raise  # a text that does not open, not one that was written meanwhile
                last = error
        else:
            raise last
        self._sealer.forget(user_id)
        return count

    async def _exchange_key(
        self,
        user_id: UUID,
        keys: UserKeys,
        batch_size: int,
        count: int,
        progress: Callable[[int], object],
    ) -> int:
        """Seal anew what the oldest key in use has sealed, and take it away."""
        oldest, newest = keys.numbers[0], keys.newest()

        async def exchange(
            database: AsyncDatabase, rows: list[Any], replaced_key: int | Unset = UNSET
        ) -> int:
            made = [
                {"row_table": table, "row_key": key, "texts": texts,
                 "new_texts": resealed(texts, keys, newest)}
                for table, key, texts in rows
            ]  # fmt: skip
            call = Call.of("reseal_rows", user_id=user_id, rows=made, replaced_key=replaced_key)
            _, done = await database.send(call, user_id, repeatable=False, timeout=_LONG)
            return int(done[0][0])

        async def listed(database: AsyncDatabase, **arguments: Any) -> list[Any]:
            call = Call.of("list_sealed_rows", user_id=user_id, key_no=oldest, **arguments)
            _, rows = await database.send(call, user_id, repeatable=False, timeout=_LONG)
            return rows

        after: Any = UNSET
        while rows := await listed(self._write, after=after, limit=batch_size):
            count += await exchange(self._write, rows)
            progress(count)
            after = {"row_table": rows[-1][0], "row_key": rows[-1][1]}
        async with self._write.transaction() as same:
            rows = await listed(same, with_late=True, limit=_MOST_LATE_ROWS)
            count += await exchange(same, rows, oldest)
        progress(count)
        return count

    # Conversations

    def session(
        self,
        *,
        user: User,
        model: str | None = None,
        system_prompt: str | Unset = UNSET,
        session_id: User | None = None,
        context_window_size: int | Unset = UNSET,
        max_response_tokens: int | Unset = UNSET,
        agent_id: str | Unset = UNSET,
        parent_session_id: UUID | Unset = UNSET,
        expires_in: timedelta | Unset = UNSET,
        temperature: float | Unset = UNSET,
        top_p: float | Unset = UNSET,
        cost_limit_microcents: int | Unset = UNSET,
        title: str | Unset = UNSET,
        metadata: JSON | Unset = UNSET,
        extraction: Literal["llm", "verbatim", "none"] | Unset = UNSET,
    ) -> AsyncChatSession:
        """Return a conversation; it is opened by `with`, or by the first call.

        Args:
            user: whose it is.
            model: the chat model; may be left out for a session that exists.
            system_prompt: what every context begins with.
            session_id: the session to go on with, made when it is missing; None is a new one. A
                text that is no UUID is its name among the user's sessions.
            context_window_size: tokens; default: what the database knows of the model.
            max_response_tokens: tokens kept free for the answer.
            agent_id: the agent, when several share a user.
            parent_session_id: the session that this one continues.
            expires_in: how long it lives unused.
            temperature: for `ChatSession.params`.
            top_p: for `ChatSession.params`.
            cost_limit_microcents: past it no context is compiled.
            title: for lists.
            metadata: anything.
            extraction: how memories are drawn from it: by a model, each message as it stands, or
                none; kept in metadata. Default: what the settings say.

        What exists already is returned unchanged; `ChatSession.update` changes it.
        """
        if extraction is not UNSET:
            metadata = {**({} if metadata is UNSET else metadata), "extraction": extraction}
        return AsyncChatSession(
            self,
            user,
            session_id,
            {
                "model_id": UNSET if model is None else model,
                "system_prompt": system_prompt,
                "context_window_size": context_window_size,
                "max_response_tokens": max_response_tokens,
                "agent_id": agent_id,
                "parent_session_id": parent_session_id,
                "expires_in": expires_in,
                "temperature": temperature,
                "top_p": top_p,
                "cost_limit_microcents": cost_limit_microcents,
                "title": title,
                "metadata": metadata,
            },
        )

    async def sessions(
        self,
        user: User,
        *,
        status: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
    ) -> list[Session]:
        """Return the user's sessions, newest first; a page goes on after `before_id`."""
        return await self._read_history(
            Session, user, "list_sessions", status=status, limit=limit, before_id=before_id
        )

    async def get_session(self, user: User, session_id: UUID) -> Session | None:
        """Return a session, None when the user has no such one."""
        rows = await self._read_history(Session, user, "get_session", session_id=session_id)
        return rows[0] if rows else None

    async def messages(
        self,
        user: User,
        session_id: UUID,
        *,
        limit: int | Unset = UNSET,
        before_turn: int | Unset = UNSET,
        include_compacted: bool | Unset = UNSET,
    ) -> list[Message]:
        """Return messages of a session, newest first; a page goes on before `before_turn`.

        Raises:
            NotFoundError: the user has no such session.
        """
        return await self._read_history(
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
    ) -> list[MessageHit]:
        """Return messages of all the user's sessions that answer a query, best first.

        Args:
            user: whose.
            query: words, or a question.
            embedding: the query's vector; None searches by words, left out it is made here.
            limit: how many at most.
            filter: session_id, agent_id, since, until, roles, metadata.
            asked_at: when the query was asked, for "last week" and its like; None is now.
            dates: whether such words in the query favor what was said in that time; with a filter
                by time they never do.
            reranker: another one than the client's; None for none.
        """
        given = {} if filter is UNSET else dict(filter)
        window = time_window(query, asked_at) if dates else None
        if await self._sealing(user):
            found = await self._search_sealed_messages(user, query, embedding, given)
            if window is not None and not {"since", "until"} & given.keys():
                found = by_window(found, window, lambda hit: hit.created_at)
            found = await self._reranked(query, found, self._chosen(reranker))
            return first(found, limit)
        hits, wanted = await self._favored(
            self._read_history,
            MessageHit,
            user,
            "search_messages",
            limit=limit,
            is_reranked=self._chosen(reranker) is not None,
            filter=given,
            inside=None
            if window is None or {"since", "until"} & given.keys()
            else {"since": window.since.isoformat(), "until": window.until.isoformat()},
            key=lambda hit: hit.message_id,
            order=lambda found: (
                found if window is None else by_window(found, window, lambda hit: hit.created_at)
            ),
            query=query,
            query_embedding=await self._vector(user, query, embedding),
        )
        return (await self._reranked(query, hits, self._chosen(reranker)))[:wanted]

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

    # Memories

    async def remember(
        self,
        user: User,
        content: str,
        *,
        kind: str | Unset = UNSET,
        slot: str | Unset | None = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        importance: float | Unset = UNSET,
        provenance: str | Unset = UNSET,
        embedding: Vector | Unset | None = UNSET,
        session_id: UUID | Unset = UNSET,
        agent_id: str | Unset = UNSET,
        observed_at: datetime | Unset = UNSET,
        expires_at: datetime | Unset = UNSET,
        token_count: int | Unset = UNSET,
        metadata: JSON | Unset = UNSET,
    ) -> Remembered:
        """Remember a sentence about the user; what is known already is not stored twice.

        Args:
            user: whose memory it becomes.
            content: one short, self-contained sentence.
            kind: fact, preference, goal, … (`memory_kinds`).
            slot: the attribute it fills, such as `employer`; it replaces what filled it.
            tags: for filters.
            importance: 0 to 1.
            provenance: user_stated, correction, … (how it is known).
            embedding: its vector; None stores none, left out it is made here.
            session_id: the session it belongs to; left out it is the user's.
            agent_id: the agent that remembers.
            observed_at: when it was said.
            expires_at: until when it is kept.
            token_count: its tokens; left out they are estimated.
            metadata: anything.

        Raises:
            InvalidInputError: an unknown kind, a value out of range.
            InvalidEmbeddingError: a vector of another length, or zero.
        """
        rows = await self._change(
            Remembered,
            user,
            "remember",
            content=content,
            kind=kind,
            slot=slot,
            tags=tags,
            importance=importance,
            provenance=provenance,
            embedding=await self._vector(user, content, embedding),
            session_id=session_id,
            agent_id=agent_id,
            observed_at=observed_at,
            expires_at=expires_at,
            token_count=token_count,
            metadata=metadata,
        )
        return rows[0]

    async def ingest(
        self,
        user: User,
        candidates: Sequence[JSON],
        *,
        session_id: UUID | None = None,
        embeddings: Sequence[Vector | None] | Unset | None = UNSET,
    ) -> list[Remembered]:
        """Remember many sentences of one user in one transaction; the results are in their order.

        Args:
            user: whose.
            candidates: each with content, and kind, slot, tags, importance, confidence,
                provenance, source, observed_at, valid_from, valid_to, metadata, … as it has them.
            session_id: the session they come from.
            embeddings: one vector per candidate; None stores none, left out they are made here.

        Raises:
            InvalidInputError: the message names the candidate and the field; nothing is stored.
        """
        candidates = list(candidates)
        if embeddings is UNSET and candidates and await self._has_vectors(user):
            texts = [candidate.get("content") for candidate in candidates]
            if all(isinstance(text, str) for text in texts):  # else the database says which is not
                embeddings = await self._embedded(user, [str(text) for text in texts])
        if embeddings is None or not candidates:
            embeddings = UNSET
        return await self._change(
            Remembered,
            user,
            "ingest_memories",
            session_id=session_id,
            candidates=candidates,
            embeddings=embeddings,
        )

    async def batch_import(
        self, memories: Iterable[JSON], *, user: User | None = None
    ) -> dict[str, int]:
        """Remember many sentences, of one or of many users; return how many had which outcome.

        They are stored in batches, each in a transaction: an import that was interrupted is
        simply run again, what is there counts as `duplicate`.

        Args:
            memories: candidates as `ingest` takes them, read as they come, each with its `user`
                unless all are of one.
            user: whose they all are.
        """
        outcomes: dict[str, int] = {}
        waiting: dict[User, list[JSON]] = {}
        for count, memory in enumerate(memories):
            candidate = dict(memory)
            owner = candidate.pop("user", None) if user is None else user
            if not isinstance(owner, (str, UUID)) or not owner:
                raise InvalidInputError(f"memories[{count}] names no user")
            waiting.setdefault(owner, []).append(candidate)
            if len(waiting[owner]) >= _IMPORT_BATCH:
                await self._import(owner, waiting.pop(owner), outcomes)
            elif sum(map(len, waiting.values())) >= 10 * _IMPORT_BATCH:
                largest = max(waiting, key=lambda key: len(waiting[key]))
                await self._import(largest, waiting.pop(largest), outcomes)
        for owner, candidates in waiting.items():
            await self._import(owner, candidates, outcomes)
        return outcomes

    async def _import(self, user: User, candidates: list[JSON], outcomes: dict[str, int]) -> None:
        await self.ensure_user(user)
        for remembered in await self.ingest(user, candidates):
            outcomes[remembered.outcome] = outcomes.get(remembered.outcome, 0) + 1

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
                now.
            dates: whether such words in the query favor what was observed in that time; with a
                filter by time they never do.
            reranker: another one than the client's; None for none.

        Raises:
            InvalidInputError: an unknown key of the filter, a negative limit.
        """
        given = {} if filter is UNSET else dict(filter)
        asked = asked_at if asked_at is not None or as_of is UNSET else as_of
        window = time_window(query, asked) if dates and query else None
        times = {"observed_after", "observed_before", "valid_at"}
        if query and await self._sealing(user):
            found = await self._search_sealed(user, query, embedding, given, as_of)
            if window is not None and not times & given.keys():
                found = by_window(found, window, lambda hit: hit.observed_at)
            found = await self._reranked(query, found, self._chosen(reranker))
            return first(found, limit)
        hits, wanted = await self._favored(
            self._read_memory,
            SearchHit,
            user,
            "search",
            limit=limit,
            is_reranked=bool(query) and self._chosen(reranker) is not None,
            filter=given,
            inside=None
            if window is None or times & given.keys()
            else {
                "observed_after": window.since.isoformat(),
                "observed_before": window.until.isoformat(),
            },
            key=lambda hit: hit.memory_id,
            order=lambda found: (
                found if window is None else by_window(found, window, lambda hit: hit.observed_at)
            ),
            query=UNSET if query is None else query,
            query_embedding=await self._vector(user, query, embedding),
            as_of=as_of,
        )
        return (await self._reranked(query or "", hits, self._chosen(reranker)))[:wanted]

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

    async def memories(
        self,
        user: User,
        *,
        filter: JSON | Unset = UNSET,  # noqa: A002
        as_of: datetime | Unset = UNSET,
        limit: int | Unset = UNSET,
        after_id: UUID | Unset = UNSET,
    ) -> list[Memory]:
        """Return the user's memories; a page goes on after `after_id`.

        Args:
            user: whose.
            filter: as in `search`.
            as_of: what was believed then.
            limit: how many at most.
            after_id: the last memory of the page before.
        """
        return await self._read_memory(
            Memory, user, "get_memories", filter=filter, as_of=as_of, limit=limit, after_id=after_id
        )

    async def get_memory(self, user: User, memory_id: UUID) -> Memory | None:
        """Return a memory, current or ended; None when the user has no such one."""
        rows = await self._read_memory(Memory, user, "get_memory", memory_id=memory_id)
        return rows[0] if rows else None

    async def edit(
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
            user: whose.
            memory_id: the memory; one that was superseded already is followed to its current form.
            content: the new text.
            changes: other fields to change, as in a candidate of `ingest`, expires_at, review_at.
            embedding: the text's vector; None stores none, left out it is made here.

        Raises:
            NotFoundError: the user has no such memory.
            InvalidInputError: it has ended, and nothing took its place.
        """
        fields = {} if changes is UNSET else dict(changes)
        vector = await self._vector(user, content, embedding)
        if vector is not UNSET:
            fields["embedding"] = to_halfvec(vector)
        found: UUID = await self._change_value(
            user,
            "supersede_memory",
            memory_id=memory_id,
            content=content,
            changes=fields or UNSET,
        )
        return found

    async def retract(
        self, user: User, memory_id: UUID, *, reason: str | Unset | None = UNSET
    ) -> bool:
        """End a memory; it stays readable. Return False when it was not active."""
        return bool(
            await self._change_value(user, "retract_memory", memory_id=memory_id, reason=reason)
        )

    async def restore(self, user: User, memory_id: UUID) -> UUID:
        """Undo a merge, a retraction or an expiry: return the id of a new, active row."""
        found: UUID = await self._change_value(user, "restore_memory", memory_id=memory_id)
        return found

    async def validate(self, user: User, memory_id: UUID) -> bool:
        """Confirm a memory, as a person does. Return False when it was not active."""
        return bool(await self._change_value(user, "validate_memory", memory_id=memory_id))

    async def achieve(self, user: User, memory_id: UUID) -> bool:
        """Mark a goal as achieved: it stays, with little importance. False: it was not active.

        Raises:
            InvalidInputError: it is no goal.
        """
        return bool(await self._change_value(user, "achieve_goal", memory_id=memory_id))

    async def reinforce(self, user: User, memory_id: UUID, *, useful: bool) -> bool:
        """Say whether a memory helped: importance and confidence move. False: it was not active."""
        return bool(
            await self._change_value(user, "reinforce_memory", memory_id=memory_id, useful=useful)
        )

    async def memories_to_review(self, user: User) -> list[Memory]:
        """Return the memories that should be asked about again."""
        return await self._read_memory(Memory, user, "memories_to_review")

    async def disputes(self, user: User) -> list[Dispute]:
        """Return what was inferred against the user's own word, and waits for a decision."""
        return await self._read_memory(Dispute, user, "list_disputes")

    async def resolve_dispute(self, user: User, memory_id: UUID, *, accept: bool) -> UUID:
        """Accept what was disputed, or refuse it; return the id of the memory that stands."""
        found: UUID = await self._change_value(
            user, "resolve_dispute", memory_id=memory_id, accept=accept
        )
        return found

    async def chain(self, user: User, memory_id: UUID) -> list[Memory]:
        """Return every version of a memory, oldest first."""
        return await self._read_memory(Memory, user, "memory_chain", memory_id=memory_id)

    async def history(self, user: User, memory_id: UUID) -> list[MemoryEvent]:
        """Return what happened to a memory, oldest first."""
        return await self._read_memory(MemoryEvent, user, "memory_history", memory_id=memory_id)

    async def verify_integrity(
        self, user: User, *, head: JSON | None = None
    ) -> list[IntegrityFinding]:
        """Return what was changed in a user's audit or memories behind the functions' back.

        Args:
            user: whose.
            head: what `export_head` returned, kept outside of the database since. It shows what the
                chain alone cannot: that it was made anew, or cut off at its end.

        Raises:
            NotFoundError: nobody knows this user.
            InvalidInputError: `head` is none of this user.
        """
        return await self._read_memory(IntegrityFinding, user, "verify_integrity", head=head)

    async def export_head(self, user: User) -> dict[str, Any]:
        """Return number and hash of the last event of a user's audit, to be kept elsewhere."""
        user_id = await self.user_id(user)
        head: dict[str, Any] = await self._memory.value(
            Call.of("export_head", user_id=user_id), user_id=user_id, repeatable=True
        )
        return head

    async def profile(self, user: User) -> dict[str, Any]:
        """Return the structured half of what is known: slot → content, since, confidence."""
        user_id = await self.user_id(user)
        return (
            await self._memory.value(
                Call.of("get_profile", user_id=user_id), user_id=user_id, repeatable=True
            )
            or {}
        )

    async def record_access(
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
            await self._change_value(
                user,
                "record_access",
                memory_ids=memory_ids,
                relevance=relevance,
                efficiency=efficiency,
            )
        )

    # The ledger

    def recording(
        self,
        user: User,
        *,
        session_id: UUID | None = None,
        level: Level = "streams",
        metadata: JSON | None = None,
    ) -> Recording:
        """Record the calls of models in a `with` block, made over a client of `pgrecall.ledger`.

        It is done in the background: a call is neither held up nor failed by it. What could not be
        recorded is logged, and counted by `unrecorded_calls`. The user must be known already, and
        committed. Of a sealed user only numbers and times are kept.

        Args:
            user: for whom they are.
            session_id: the session that they belong to.
            level: `streams` keeps the events of streams one by one, too; `calls` only bodies, which
                is enough for `replay`; `off` is as good as no block.
            metadata: anything, kept with each call.

        Raises:
            ConfigurationError: there is only one connection of the caller.
        """
        return self._ledger.recording(user, session_id, None, level, metadata or {})

    @property
    def unrecorded_calls(self) -> int:
        """How many calls of models should have been recorded by this object, and were not."""
        return self._ledger.lost

    async def record_model_call(self, user: User, *, model: str, **fields: Any) -> UUID:
        """Record a call of a model by hand, and return its id.

        Args:
            user: for whom it was.
            model: which.
            fields: provider, endpoint, request_body and response_body (bytes, uncompressed), or
                request and response (JSON), usage, error, request_id, status_code, started_at,
                completed_at, is_stream, request_headers, response_headers, session_id, job_id,
                cost_microcents, metadata; call_id (a UUIDv7) makes it repeatable.

        Raises:
            NotFoundError: nobody knows this user.
            InvalidInputError: a field out of range.
        """
        found: UUID = await self._change_value(user, "record_model_call", model=model, **fields)
        return found

    async def record_stream_events(self, user: User, call_id: UUID, events: Sequence[JSON]) -> int:
        """Record the events of a streamed call, best all at once; return how many were new.

        Args:
            user: for whom it was.
            call_id: of the call.
            events: each with type, text_delta, payload, binary_payload (base64), mime_type,
                occurred_at, and index when it is not the place in the list.

        Raises:
            InvalidInputError: the message names the event and the field.
        """
        return int(
            await self._change_value(
                user, "record_stream_events", call_id=call_id, events=list(events)
            )
        )

    async def record_protocol_event(self, user: User, *, event_type: str, **fields: Any) -> UUID:
        """Record a message to or from a tool (a call, MCP, JSON-RPC), and return its id.

        Args:
            user: for whom it was.
            event_type: such as tool_call, tool_result, mcp or json_rpc.
            fields: direction, method, rpc_id, tool_name, tool_call_id, payload (JSON) or
                payload_body (bytes), session_id, call_id, metadata; event_id (a UUIDv7) makes it
                repeatable.
        """
        found: UUID = await self._change_value(
            user, "record_protocol_event", event_type=event_type, **fields
        )
        return found

    async def model_calls(
        self,
        user: User,
        *,
        session_id: UUID | Unset = UNSET,
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
        include_bodies: bool | Unset = UNSET,
    ) -> list[ModelCall]:
        """Return calls of models, newest first; a page goes on before `before_id`.

        What this object still records is waited for.

        Args:
            user: whose.
            session_id: only of this session.
            limit: how many at most.
            before_id: the last call of the page before.
            include_bodies: False leaves requests and responses out.
        """
        await self._background.drain()
        return await self._read_history(
            ModelCall,
            user,
            "list_model_calls",
            session_id=session_id,
            limit=limit,
            before_id=before_id,
            include_bodies=include_bodies,
        )

    async def get_model_call(self, user: User, call_id: UUID) -> ModelCall | None:
        """Return a call with its bodies; None when the user has no such one."""
        await self._background.drain()
        rows = await self._read_history(ModelCall, user, "list_model_calls", call_id=call_id)
        return rows[0] if rows else None

    async def stream_events(
        self,
        user: User,
        call_id: UUID,
        *,
        limit: int = 1_000_000,
        after_index: int | Unset = UNSET,
    ) -> list[StreamEvent]:
        """Return the events of a streamed call in order; a page goes on after `after_index`."""
        await self._background.drain()
        return await self._read_history(
            StreamEvent,
            user,
            "list_stream_events",
            call_id=call_id,
            limit=limit,
            after_index=after_index,
        )

    async def protocol_events(
        self,
        user: User,
        *,
        session_id: UUID | Unset = UNSET,
        call_id: UUID | Unset = UNSET,
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
    ) -> list[ProtocolEvent]:
        """Return traffic with tools, newest first; a page goes on before `before_id`."""
        await self._background.drain()
        return await self._read_history(
            ProtocolEvent,
            user,
            "list_protocol_events",
            session_id=session_id,
            call_id=call_id,
            limit=limit,
            before_id=before_id,
        )

    # Privacy

    async def forget_user(self, user: User) -> dict[str, Any]:
        """Delete everything of a user for good; return the receipt, to be kept elsewhere.

        It has the rows deleted by table (`counts`) and what SQL cannot reach (`not_reached`).
        """
        receipt: dict[str, Any] = await self._long_call(self._write, user, "forget_user")
        self._sealer.forget(await self.user_id(user))
        return receipt

    async def forget_session(self, user: User, session_id: UUID) -> dict[str, int]:
        """Delete one conversation for good, and the memories that came from it alone.

        Returns:
            The rows deleted, by table.
        """
        done = await self._long_call(self._write, user, "forget_session", session_id=session_id)
        counts: dict[str, int] = done["counts"]
        return counts

    async def forget_memory(self, user: User, memory_id: UUID) -> dict[str, int]:
        """Delete one memory for good: every version, and what was made of it.

        `retract` ends it, and keeps it on record. The messages that it came from stay.

        Returns:
            The rows deleted, by table.
        """
        done = await self._long_call(self._write, user, "forget_memory", memory_id=memory_id)
        counts: dict[str, int] = done["counts"]
        return counts

    async def export_user(self, user: User, *, sealed: bool = False) -> dict[str, Any]:
        """Return everything of a user as one JSON document, as `import_user` takes it.

        Args:
            user: whose.
            sealed: leave the texts of a sealed user as they are, with the wrapped keys: so it is
                imported elsewhere, and no key is needed for it. Else they are readable, for the
                user to have; that is not imported.

        Raises:
            NotFoundError: nobody knows this user.
        """
        user_id = await self.user_id(user)
        call = Call.of("export_user", user_id=user_id)
        _, rows = await self._history.send(call, user_id, repeatable=False, timeout=_LONG)
        document: dict[str, Any] = rows[0][0]
        if sealed or not document["tables"].get("user_keys"):
            return document
        opened = await self._sealer.opened(call, ["export_user"], rows, user_id)
        document = {**opened[0][0], "is_opened": True}
        del document["tables"]["user_keys"]
        return document

    async def import_user(self, document: JSON) -> dict[str, int]:
        """Take a document of `export_user`; return the rows inserted, by table.

        The user it was made of must have nothing here yet, or nothing but this.

        Raises:
            InvalidInputError: it is no such document.
            NotAllowedError: the user has other data, or is sealed where the document is not.
        """
        user_id = await self.user_id(str(document.get("user_id", "")))
        counts: dict[str, int] = await self._long_call(
            self._write, user_id, "import_user", document=document
        )
        self._sealer.forget(user_id)  # it may have come with the document
        return counts

    # Operation

    async def configure(self, **changes: Any) -> None:
        """Change settings for everybody, named as the columns of `recall.settings`.

        Raises:
            InvalidInputError: an unknown setting, or a value out of range.
            ConfigurationError: a size that is fixed at installation.
        """
        await self._write.value(Call.of("configure", changes=changes))
        self._info = None
        self._ledger.forget()
        if self._given_embedder is None:
            self._is_embedder_known = False

    async def configure_user(self, user: User, **changes: Any) -> None:
        """Override settings for one user; None takes an override back."""
        await self._change_value(user, "configure_user", changes=changes)
        self._ledger.forget()

    async def register_model(
        self,
        model: str,
        *,
        context_window_size: int,
        tokenizer: str | Unset | None = UNSET,
        input_price: int | Unset = UNSET,
        cached_input_price: int | Unset = UNSET,
        output_price: int | Unset = UNSET,
    ) -> None:
        """Make a chat model known: window in tokens, micro-cents per million tokens."""
        await self._write.value(
            Call.of(
                "register_model",
                model_id=model,
                context_window_size=context_window_size,
                tokenizer=tokenizer,
                input_price=input_price,
                cached_input_price=cached_input_price,
                output_price=output_price,
            )
        )

    async def health(self) -> list[HealthCheck]:
        """Return what can go wrong, each with ok, warn or fail, and a remedy."""
        return await self._write.rows(HealthCheck, Call.of("health"), repeatable=True)

    async def metrics(self) -> list[Metric]:
        """Return gauges of all users together; for a login with the rights of `recall_worker`."""
        return await self._work.rows(Metric, Call.of("metrics"), repeatable=True)

    async def version(self) -> str:
        """Return the version of the installed schema."""
        return str(await self._write.value(Call.of("version"), repeatable=True))

    async def enqueue(
        self,
        user: User,
        kind: str,
        *,
        session_id: UUID | Unset = UNSET,
        dedupe_key: str | Unset = UNSET,
        payload: JSON | Unset = UNSET,
        run_at: datetime | Unset = UNSET,
    ) -> UUID | None:
        """Leave work for a worker; None when an equal job is ready already."""
        found: UUID | None = await self._change_value(
            user,
            "enqueue_job",
            kind=kind,
            session_id=session_id,
            dedupe_key=dedupe_key,
            payload=payload,
            run_at=run_at,
        )
        return found

    def worker(
        self,
        *,
        llm: ModelSettings | ChatModel | None = None,
        kinds: Sequence[str] | None = None,
        name: str | None = None,
        lease: timedelta = timedelta(minutes=5),
        poll_seconds: float = 1.0,
        concurrency: int = 1,
    ) -> AsyncWorker:
        """Return a worker for the jobs that appends leave behind.

        Args:
            llm: the language model of its steps; None is the one of `connect`, if it named one.
            kinds: what it takes (`extract`, `extract:verbatim`, `embed`, …); None is all it can do:
                verbatim extraction and embeddings, and with a language model all the others.
            name: how it is called in the queue; None is host and process.
            lease: after what time without a sign of life another takes the job.
            poll_seconds: how often it looks for work, on average.
            concurrency: how many jobs it does at the same time. A job waits for a model most of
                its time; it needs a connection of the pool only for moments.

        Raises:
            InvalidInputError: several jobs at the same time over one connection of the caller.
        """
        if llm is None and isinstance(self._llm, ModelSettings):
            llm = self._llm
        return AsyncWorker(
            self,
            self._work,
            llm=ChatModel(llm) if isinstance(llm, ModelSettings) else llm,
            kinds=kinds,
            name=name,
            lease=lease,
            poll_seconds=poll_seconds,
            concurrency=concurrency,
        )

    # How a method becomes a call

    def _client_of_model(self) -> AsyncOpenAI:
        """Return the client for `ChatSession.send`; made once."""
        if self._chat_client is None:
            if self._llm is None or isinstance(self._llm, ModelSettings):
                import openai

                from pgrecall._async.recording import AsyncRecordingClient

                arguments = {} if self._llm is None else self._llm.client_arguments()
                self._chat_client = openai.AsyncOpenAI(
                    http_client=AsyncRecordingClient(), **arguments
                )
            else:
                self._chat_client = self._llm
        return self._chat_client

    async def _sealing(self, user: User) -> Sealing | None:
        """Return how a user is sealed, as far as a driver with wrapping keys wants to know."""
        if self._sealer.wrapping is None:
            return None
        return await self._sealer.sealing(await self.user_id(user))

    async def _has_vectors(self, user: User) -> bool:
        sealing = await self._sealing(user)
        return sealing is None or sealing.has_vectors

    async def _vector(self, user: User, text: str | None, embedding: Vector | Unset | None) -> Any:
        """Return the vector to send: the one given, or the text's; none when none are stored."""
        if embedding is not UNSET:
            return UNSET if embedding is None else embedding
        if not text or not await self._has_vectors(user):
            return UNSET
        refuse_unstorable(text, "text")
        vectors = await self._embedded(user, [text])
        return UNSET if vectors is None else vectors[0]

    async def _embedded(self, user: User, texts: Sequence[str]) -> list[list[float]] | None:
        """Return vectors of a user's texts; what an endpoint is asked is recorded for him."""
        if not isinstance(await self.embedder(), OpenAIEmbedder):
            return await self.embed(texts)
        with await self._ledger.of_own(await self.user_id(user)):
            return await self.embed(texts)

    def _chosen(self, reranker: Reranker | Unset | None) -> Reranker | None:
        return self._reranker if reranker is UNSET else reranker

    async def _favored(
        self,
        read: Callable[..., Any],
        row: type[Row],
        user: User,
        function: str,
        *,
        limit: int | Unset,
        is_reranked: bool,
        filter: JSON,  # noqa: A002
        inside: JSON | None,
        key: Callable[[Row], UUID],
        order: Callable[[list[Row]], list[Row]],
        **arguments: Any,
    ) -> tuple[list[Row], int | None]:
        """Return hits, with those that a time in the query favors, and how many are wanted."""
        asked, wanted = limit, None
        if is_reranked:
            wanted = DEFAULT_LIMIT if isinstance(limit, Unset) else limit
            asked = max(wanted, RERANKED) if wanted > 0 else wanted
        found = await read(row, user, function, limit=asked, filter=filter, **arguments)
        if inside is None or not found:
            return found, wanted
        more = await read(
            row, user, function, limit=asked, filter={**filter, **inside}, **arguments
        )
        known = {key(hit) for hit in found}
        return order(found + [hit for hit in more if key(hit) not in known])[: len(found)], wanted

    async def _reranked(self, query: str, hits: list[Row], reranker: Reranker | None) -> list[Row]:
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

    async def _read_history(
        self, row: type[Row], user: User, function: str, **arguments: Any
    ) -> list[Row]:
        user_id = await self.user_id(user)
        call = Call.of(function, user_id=user_id, **arguments)
        return await self._history.rows(row, call, user_id=user_id, repeatable=True)

    async def _read_memory(
        self, row: type[Row], user: User, function: str, **arguments: Any
    ) -> list[Row]:
        user_id = await self.user_id(user)
        call = Call.of(function, user_id=user_id, **arguments)
        return await self._memory.rows(row, call, user_id=user_id, repeatable=True)

    async def _change(
        self, row: type[Row], user: User, function: str, **arguments: Any
    ) -> list[Row]:
        user_id = await self.user_id(user)
        call = Call.of(function, user_id=user_id, **arguments)
        return await self._write.rows(row, call, user_id=user_id)

    async def _long_call(
        self, database: AsyncDatabase, user: User, function: str, **arguments: Any
    ) -> Any:
        user_id = await self.user_id(user)
        call = Call.of(function, user_id=user_id, **arguments)
        return await database.value(call, user_id=user_id, timeout=_LONG)

    async def _change_value(self, user: User, function: str, **arguments: Any) -> Any:
        user_id = await self.user_id(user)
        call = Call.of(function, user_id=user_id, **arguments)
        return await self._write.value(call, user_id=user_id)


def _not_sealed(user_id: UUID) -> InvalidInputError:
    return InvalidInputError(f"user {user_id} is not sealed", hint="seal_user seals one.")
