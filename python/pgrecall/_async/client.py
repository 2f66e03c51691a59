"""The client: it makes the parts that share a core, and hands them to sessions and workers.

- transport: sends calls over a pool or a connection.
- guard: encrypts and decrypts texts of encrypted users.
- database: calls functions over both.
- core: the databases of one client, its embedder, and ids of users.
- users, sessions, memories, privacy, admin: an attribute of the client each; they use the core.
- conversation: one session, which contexts, transcript, turn and tools use.
- session: the public class of a session.
- worker: works on the queue.

A module imports from those above it only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Self, TypeVar, Unpack

from psycopg import AsyncConnection

from pgrecall._async.admin import AsyncAdmin
from pgrecall._async.contexts import AsyncContexts
from pgrecall._async.conversation import AsyncConversation
from pgrecall._async.core import AsyncCore
from pgrecall._async.endpoint import AsyncEndpoint
from pgrecall._async.memories import AsyncMemories
from pgrecall._async.privacy import AsyncPrivacy
from pgrecall._async.retrieval import AsyncRetrieval
from pgrecall._async.session import AsyncChatSession
from pgrecall._async.sessions import AsyncSessions
from pgrecall._async.transport import Target
from pgrecall._async.users import AsyncUsers
from pgrecall._limits import Limits
from pgrecall._options import SessionOptions
from pgrecall._runtime import AsyncRuntime
from pgrecall._sql import User
from pgrecall.errors import InvalidInputError
from pgrecall.models._chat import ChatModel, ModelSettings
from pgrecall.models._embedders import Embedder
from pgrecall.models._rerankers import Reranker

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from pgrecall._async.items import AsyncItems
    from pgrecall._async.pages import AsyncPages
    from pgrecall._async.worker import AsyncWorker
    from pgrecall.calls._async.calls import AsyncCalls
    from pgrecall.encryption import WrappingKeys
    from pgrecall.encryption._async.users import AsyncEncryption

__all__ = ["AsyncAgentMemory"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _of_memories(
    method: Callable[Concatenate[AsyncMemories, Arguments], Result],
) -> Callable[Concatenate[AsyncAgentMemory, Arguments], Result]:
    """Return a method of the client that is one of its `memories`."""

    @wraps(method)
    def call(
        memory: AsyncAgentMemory, /, *arguments: Arguments.args, **named: Arguments.kwargs
    ) -> Result:
        return method(memory.memories, *arguments, **named)

    return call


class AsyncAgentMemory:
    """Long-term memory for agents, in one database.

    Make it by `connect` or `embedded`; nothing is opened before the first call. Threads may share
    it, or the tasks of one event loop: each call takes a connection of its own from a pool. From
    another event loop a call raises RuntimeError until the memory is closed. A method is one call
    of the function of the same purpose; its keyword arguments are those of the function, and have
    its defaults.

    `search` and `remember` are those of `memories`.

    Attributes:
        limits: timeouts and pool sizes.
        users: ids of users, and making them known.
        sessions: sessions and messages, listed and searched.
        memories: memories, listed, searched and changed.
        privacy: erasure, export, import, and checks of integrity.
        admin: settings, models, jobs, health and metrics.
        encryption: keys of encrypted users.
        items: JSON values under namespaces and keys.
        pages: lists for tools and user interfaces.
        calls: the call log.
    """

    def __init__(
        self,
        core: AsyncCore,
        *,
        llm: AsyncOpenAI | ModelSettings | None = None,
        reranker: Reranker | None = None,
        on_close: Callable[[], object] | None = None,
    ) -> None:
        self._core = core
        self._endpoint = AsyncEndpoint(llm)
        self._retrieval = AsyncRetrieval(core, reranker)
        self._on_close = on_close
        self.limits = core.limits
        self.users = AsyncUsers(core)
        self.sessions = AsyncSessions(core, self._retrieval)
        self.memories = AsyncMemories(core, self.users, self._retrieval)
        self.privacy = AsyncPrivacy(core)
        self.admin = AsyncAdmin(core)

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
        sealed: Literal["require"] | None = None,
    ) -> Self:
        """Return the memory in a database that has the schema installed.

        Args:
            dsn: where writes go, and everything that has no DSN of its own. Instead of a DSN a
                pool is taken, which stays the caller's, or one connection (see `joining`).
            history_dsn: for reading sessions and messages; may be a standby. Where it lacks a
                write of the user by this client, or lags by more than `Limits.max_lag`, or is
                away, the primary answers.
            memory_dsn: for searches, contexts and lists of memories; as `history_dsn`.
            worker_dsn: for workers.
            embedder: makes vectors; None is the database's `settings.embedding_model`, False is
                none: searches go by words then, memories wait for a worker to embed them.
            llm: an endpoint and its models, for `ChatSession.send` and for workers; or a client,
                for `send` only. None makes one for `send` from the environment.
            reranker: puts the best of a search in order, and the memories of a context: a function
                of the query and at most 30 texts that returns a score for each. None, the default,
                leaves the database's order.
            limits: timeouts and pool sizes.
            wrapping_keys: key encryption keys, which unwrap the data keys of encrypted users; see
                `pgrecall.encryption`.
            sealed: "require" refuses to read or write for a user who is not encrypted. It does not
                trust the database, where an attacker could delete the rows that hold the keys.
        """
        core = AsyncCore(
            dsn,
            history=history_dsn,
            memory=memory_dsn,
            worker=worker_dsn,
            embedder=embedder,
            limits=limits,
            wrapping_keys=wrapping_keys,
            sealed=sealed,
        )
        return cls(core, llm=llm, reranker=reranker)

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
        sealed: Literal["require"] | None = None,
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
            sealed: as in `connect`.

        Raises:
            EmbeddedServerError: (at the first call) it is not installed, or does not start.
        """
        from pgrecall._setup import EmbeddedDatabase

        database = EmbeddedDatabase(path)
        core = AsyncCore(
            database.start,
            embedder=embedder,
            limits=limits,
            wrapping_keys=wrapping_keys,
            sealed=sealed,
        )
        return cls(core, llm=llm, reranker=reranker, on_close=database.stop)

    @classmethod
    def from_environment(cls) -> Self:
        """Return the memory that the environment names; see `pgrecall.settings.Settings`."""
        from pgrecall.settings import Settings

        settings = Settings()
        shared: dict[str, Any] = {
            "limits": settings.limits(),
            "wrapping_keys": settings.keys(),
            "sealed": settings.sealed,
        }
        if settings.dsn is None:
            return cls.embedded(settings.home, **shared)
        return cls.connect(settings.dsn, **settings.other_dsns(), **shared)

    def joining(self, connection: AsyncConnection[Any]) -> Self:
        """Return a memory whose calls all go through one connection of the caller.

        When a transaction is open there, calls join it: each under a savepoint, so that a refused
        one leaves the transaction usable; it is never committed here. In autocommit mode each call
        is a transaction of its own. `recall.user_id` is set to the user of the last call until the
        transaction ends.
        """
        core = self._core.joining(connection)
        return type(self)(core, llm=self._endpoint.llm, reranker=self._retrieval.reranker)

    async def open(self) -> None:
        """Connect, check that the schema is there and the embedder fits it, and plan a search.

        Without it the first calls do this, and raise these errors. So open a memory when the
        application starts.

        Raises:
            ConnectionLostError: the server cannot be reached.
            ConfigurationError: the schema is not installed, or its embedding model is another.
            InvalidEmbeddingError: the embedder's vectors are of another length.
        """
        await self._core.open()

    async def aclose(self) -> None:
        """Send what waits in the background and close the pools that this object opened."""
        await self._core.aclose()
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

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @cached_property
    def encryption(self) -> AsyncEncryption:
        """Keys of encrypted users; the first use loads `pgrecall.encryption`."""
        from pgrecall.encryption._async.users import AsyncEncryption

        return AsyncEncryption(self._core)

    @cached_property
    def pages(self) -> AsyncPages:
        """Lists for tools and user interfaces; the first use loads them."""
        from pgrecall._async.pages import AsyncPages

        return AsyncPages(self._core)

    @cached_property
    def items(self) -> AsyncItems:
        """Items: JSON values under namespaces and keys; the first use loads the module."""
        from pgrecall._async.items import AsyncItems

        return AsyncItems(self._core)

    @cached_property
    def calls(self) -> AsyncCalls:
        """The call log; the first use loads `pgrecall.calls`."""
        from pgrecall.calls._async.calls import AsyncCalls

        return AsyncCalls(self._core)

    search = _of_memories(AsyncMemories.search)
    remember = _of_memories(AsyncMemories.remember)

    def session(
        self,
        *,
        user: User,
        model: str | None = None,
        session_id: User | None = None,
        extraction: Literal["llm", "verbatim", "none"] | None = None,
        **options: Unpack[SessionOptions],
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
            metadata: any JSON object.
            extraction: how memories are extracted: by a model (llm), each message unchanged
                (verbatim), or none; stored in metadata. Default: the settings.

        A session that exists is returned unchanged; `ChatSession.update` changes it.

        Raises:
            InvalidInputError: `extraction` has another value.
        """
        if unknown := options.keys() - SessionOptions.__annotations__.keys():
            raise TypeError(f"session() got an unexpected keyword argument '{min(unknown)}'")
        if extraction is not None:
            if extraction not in ("llm", "verbatim", "none"):
                raise InvalidInputError(
                    f"extraction is {extraction}", hint="Pass llm, verbatim or none."
                )
            options["metadata"] = {**options.get("metadata", {}), "extraction": extraction}
        conversation = AsyncConversation(self._core, self.users, user, session_id, model, options)
        return AsyncChatSession(
            self._core,
            self.sessions,
            self.memories,
            self._endpoint,
            conversation,
            AsyncContexts(self._core, self.memories, self._retrieval, conversation),
        )

    def worker(
        self,
        *,
        llm: ModelSettings | ChatModel | None = None,
        kinds: Sequence[str] | None = None,
        embedders: Sequence[Embedder] = (),
        name: str | None = None,
        lease: timedelta = timedelta(minutes=5),
        poll_seconds: float = 1.0,
        concurrency: int = 1,
    ) -> AsyncWorker:
        """Return a worker for queued jobs.

        Args:
            llm: the language model of its steps; None is the one of `connect`, if it named one.
            kinds: kinds of jobs (`extract`, `extract:verbatim`, `embed`, …); None is all it can
                do: verbatim extraction and embeddings, with a language model all others.
            embedders: further embedders, for a change to a model that has no name of ours.
            name: its name in the queue; None is host and process.
            lease: the time without a renewal after which another worker claims the job.
            poll_seconds: seconds between two checks for jobs, on average.
            concurrency: how many jobs it does at the same time. A job waits for a model most of
                its time; it needs a connection of the pool only for moments.

        Raises:
            InvalidInputError: several jobs at the same time over one connection of the caller.
        """
        from pgrecall._async.worker import AsyncWorker

        if llm is None and isinstance(self._endpoint.llm, ModelSettings):
            llm = self._endpoint.llm
        return AsyncWorker(
            self._core,
            llm=ChatModel(llm) if isinstance(llm, ModelSettings) else llm,
            kinds=kinds,
            embedders=embedders,
            name=name,
            lease=lease,
            poll_seconds=poll_seconds,
            concurrency=concurrency,
        )
