"""The core that the parts of a client share: databases, keys, an embedder, and ways to call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from uuid import UUID

import psycopg
from psycopg import AsyncConnection

from pgrecall._async.database import AsyncDatabase
from pgrecall._async.guard import AsyncGuard
from pgrecall._async.replica import AsyncPrimary, AsyncReplica
from pgrecall._async.transport import AsyncTransport, Target
from pgrecall._info import DatabaseInfo, checked_embedder, default_embedder
from pgrecall._json import storable_text
from pgrecall._limits import Limits
from pgrecall._process import lock
from pgrecall._runtime import AsyncBackground, AsyncHome, AsyncRuntime
from pgrecall._sql import UNSET, Call, Made, Unset, User, Vector
from pgrecall.errors import ConfigurationError, InvalidEmbeddingError
from pgrecall.models._embedders import Embedder, OpenAIEmbedder

if TYPE_CHECKING:
    from pgrecall.calls._async.log import AsyncCallLog
    from pgrecall.encryption import WrappingKeys
    from pgrecall.encryption._sealed import Sealing

__all__ = ["LONG_TIMEOUT", "AsyncCore"]

Row = TypeVar("Row")

LONG_TIMEOUT = 3600.0  # seconds for what touches everything of a user

_MAX_CACHED_USERS = 10_000

# Without p_as_of, the search of a user who has no memories would end before it plans anything.
_PLANS = b"select count(*) from recall.search(gen_random_uuid(), 'a', p_as_of => now())"

_MAKING = lock()  # threads share one call log


class AsyncCore:
    """The databases of one client, with cached facts about them and about users.

    Attributes:
        limits: timeouts and pool sizes.
        write: where writes go.
        history: where sessions and messages are read.
        memory: where memories are searched and listed, and contexts compiled.
        work: where workers claim jobs.
        guard: encrypts and decrypts the texts of encrypted users.
        background: does what no caller waits for.
    """

    def __init__(
        self,
        write: Target,
        *,
        history: Target | None = None,
        memory: Target | None = None,
        worker: Target | None = None,
        embedder: Embedder | Literal[False] | None = None,
        limits: Limits | None = None,
        wrapping_keys: WrappingKeys | None = None,
        sealed: Literal["require"] | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._home = AsyncHome()
        self._transports: list[AsyncTransport] = []
        has_standbys = history is not None or memory is not None
        own = (AsyncPrimary if has_standbys else AsyncTransport)(write, self.limits, self._home)
        self.guard = AsyncGuard(own, wrapping_keys, sealed)
        self.write = self._database(own)
        self.history = self._reads(history)
        self.memory = self.history if memory == history else self._reads(memory)
        self.work = self.write if worker is None else self._database(own.beside(worker))
        self.background = AsyncBackground()
        self._given_embedder = embedder
        self._embedder: Embedder | Unset | None = UNSET
        self._info: DatabaseInfo | None = None
        self._users: dict[str, UUID] = {}
        self._own_models: dict[UUID, str] = {}
        self._other_embedders: dict[str, Embedder] = {}
        self._log: AsyncCallLog | None = None
        self._joined_from: AsyncCore | None = None

    def _database(self, transport: AsyncTransport) -> AsyncDatabase:
        self._transports.append(transport)
        return AsyncDatabase(transport, self.guard)

    def _reads(self, target: Target | None) -> AsyncDatabase:
        """Return the database of a standby, or the one that writes go to."""
        primary = self.write.transport
        if target is None or not isinstance(primary, AsyncPrimary):
            return self.write
        return self._database(AsyncReplica(target, primary, self.limits, self._home))

    def joining(self, connection: AsyncConnection[Any]) -> AsyncCore:
        """Return a core whose calls all go through one connection of the caller."""
        joined = AsyncCore(
            connection,
            embedder=self._given_embedder,
            limits=self.limits,
            wrapping_keys=self.guard.wrapping,
            sealed=self.guard.required,
        )
        joined._info = self._info
        joined._embedder = self._embedder
        joined._users = self._users
        joined._joined_from = self
        return joined

    async def open(self) -> None:
        """Connect; check the schema, and an embedder that was given; plan what a search needs."""
        await self.write.value(Call.of("version"), repeatable=True)
        if self._given_embedder:
            await self.embedder()
        # It is half of the first context of a connection: 15 of 30 ms. Not every role may search.
        with suppress(psycopg.Error):
            await self.memory.query(_PLANS)

    async def aclose(self) -> None:
        """Send what waits in the background, and close the pools that were opened here.

        In a child the parent's pools stay open, and the next call begins anew.
        """
        if not self._home.is_inherited:
            self._home.enter()
            await self.background.drain()
            for transport in self._transports:
                await transport.aclose()
        self._home.leave()

    def __reduce__(self) -> Any:
        """Refuse to be pickled, which is how `multiprocessing` passes arguments on.

        Raises:
            TypeError: always.
        """
        raise TypeError(
            "a client of pgrecall cannot be pickled, nor its sessions and workers: make one in the "
            "other process, by AgentMemory.connect or AgentMemory.from_environment"
        )

    def forget_settings(self) -> None:
        """Ask for the settings of the database again."""
        self._info = None
        self.call_log.forget()
        if self._given_embedder is None:
            self._embedder = UNSET
            self._other_embedders = {}

    # Facts about the database, and about users

    async def info(self) -> DatabaseInfo:
        """Return version, embedding model and dimensions of the database; asked once."""
        if self._info is None:
            try:
                rows = await self.write.query(DatabaseInfo.QUERY)
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
        if self._embedder is UNSET:
            self._embedder = await self._find_embedder()
        return self._embedder

    async def _find_embedder(self) -> Embedder | None:
        given = self._given_embedder
        if given is False:
            return None
        try:
            info = await self.info()
        except ConfigurationError:
            if given is None:
                raise
            # an application's role: the database itself refuses what does not fit
            return given
        return await AsyncRuntime.in_thread(checked_embedder, given or default_embedder(info), info)

    async def embed(self, texts: Sequence[str]) -> list[list[float]] | None:
        """Return one vector per text, or None when there is no embedder."""
        texts = list(map(storable_text, texts))
        embedder = await self.embedder()
        if embedder is None:
            return None
        return await AsyncRuntime.in_thread(embedder.embed, texts)

    async def user_id(self, user: User) -> UUID:
        """Return the UUID of a user as it is, or the one that `recall.user_id` makes of a text."""
        if isinstance(user, UUID):
            return user
        if user not in self._users:
            if len(self._users) >= _MAX_CACHED_USERS:
                self._users.clear()
            self._users[user] = await self.memory.value(
                Call.of("user_id", external_id=user), repeatable=True
            )
        return self._users[user]

    @property
    def call_log(self) -> AsyncCallLog:
        """The recorder of calls of models; its first use loads `pgrecall.calls`."""
        if self._joined_from is not None:  # the log is written over the pool, and committed
            return self._joined_from.call_log
        with _MAKING:
            if self._log is None:
                from pgrecall.calls._async.log import AsyncCallLog

                self._log = AsyncCallLog(self.write, self.background, self.user_id)
            return self._log

    # How a method becomes a call

    async def _sent(
        self, send: Callable[[Call], Any], user: User, function: str, arguments: dict[str, Any]
    ) -> Any:
        """Send a call; after a change of the embedding model, once more with new vectors."""
        user_id = await self.user_id(user)
        try:
            return await send(Call.of(function, user_id=user_id, **arguments))
        except InvalidEmbeddingError as error:
            renewed = await self.renewed(error, user_id, arguments)
            if renewed is None:
                raise
        return await send(Call.of(function, user_id=user_id, **renewed))

    async def renewed(
        self, error: InvalidEmbeddingError, user_id: UUID, arguments: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Return arguments with vectors of the model that an error names; None if it names none."""
        model = error.diag.message_detail
        embedder = await self.embedder_of(model) if model else None
        if embedder is None:
            return None
        if len(self._own_models) >= _MAX_CACHED_USERS:
            self._own_models.clear()
        self._own_models.pop(user_id, None)
        if embedder is not self._embedder:  # a user with a model of their own
            self._own_models[user_id] = embedder.model
        texts: list[str] = []
        _replaced(arguments, lambda made: texts.append(made.text))
        vectors = iter(await AsyncRuntime.in_thread(embedder.embed, texts) if texts else ())
        changed = _replaced(arguments, lambda made: Made(next(vectors), made.text, embedder.model))
        return dict(changed)

    async def embedder_of(self, model: str, dimensions: int | None = None) -> Embedder | None:
        """Return the embedder of a model, which may have become the current one; None: unknown."""
        given = self._given_embedder
        if given is not None:
            return given if given and given.model == model else None
        if model in self._other_embedders:
            return self._other_embedders[model]
        self.forget_settings()
        info = await self.info()
        if info.embedding_model == model:
            return await self.embedder()
        other = replace(info, embedding_model=model, embedding_dimensions=dimensions or 0)
        try:
            self._other_embedders[model] = default_embedder(other)
        except ConfigurationError:
            return None
        return self._other_embedders[model]

    async def read_history(
        self, row: type[Row], user: User, function: str, **arguments: Any
    ) -> list[Row]:
        """Return rows of a user's sessions and messages."""
        send = partial(self.history.rows, row, repeatable=True)
        return list(await self._sent(send, user, function, arguments))

    async def read_memory(
        self, row: type[Row], user: User, function: str, **arguments: Any
    ) -> list[Row]:
        """Return rows of a user's memories."""
        send = partial(self.memory.rows, row, repeatable=True)
        return list(await self._sent(send, user, function, arguments))

    async def change(
        self, row: type[Row], user: User, function: str, **arguments: Any
    ) -> list[Row]:
        """Write, and return rows. The call is not repeated after a lost connection."""
        send = partial(self.write.rows, row)
        return list(await self._sent(send, user, function, arguments))

    async def change_value(self, user: User, function: str, **arguments: Any) -> Any:
        """Write, and return one value. The call is not repeated after a lost connection."""
        return await self._sent(self.write.value, user, function, arguments)

    async def long_call(self, user: User, function: str, **arguments: Any) -> Any:
        """Write what touches everything of a user, and return one value."""
        call = Call.of(function, user_id=await self.user_id(user), **arguments)
        return await self.write.value(call, timeout=LONG_TIMEOUT)

    async def vector(self, user: User, text: str | None, embedding: Vector | Unset | None) -> Any:
        """Return the vector to send: the one given, or the text's; none when none are stored."""
        if embedding is not UNSET:
            return UNSET if embedding is None else embedding
        if not text or not await self.has_vectors(user):
            return UNSET
        vectors = await self.embedded(user, [text])
        return UNSET if vectors is None else vectors[0]

    async def embedded(self, user: User, texts: Sequence[str]) -> list[Made] | None:
        """Return vectors of a user's texts; calls of an endpoint are recorded for the user."""
        user_id = await self.user_id(user)
        model = self._own_models.get(user_id)
        embedder = (await self.embedder_of(model) if model else None) or await self.embedder()
        if embedder is None:
            return None
        texts = list(map(storable_text, texts))
        is_logged = isinstance(embedder, OpenAIEmbedder)
        with await self.call_log.of_own(user_id) if is_logged else nullcontext():
            vectors = await AsyncRuntime.in_thread(embedder.embed, texts)
        return [
            Made(vector, text, embedder.model) for vector, text in zip(vectors, texts, strict=True)
        ]

    async def has_vectors(self, user: User) -> bool:
        """Return whether vectors of a user's texts may be stored."""
        sealing = await self.sealing(user)
        return sealing is None or sealing.has_vectors

    async def sealing(self, user: User) -> Sealing | None:
        """Return how a user is encrypted; None without key encryption keys."""
        if self.guard.wrapping is None:
            return None
        return await self.guard.sealing(await self.user_id(user))


def _replaced(value: Any, change: Callable[[Made], Any]) -> Any:
    """Return a value with the vectors that the driver made in it, in lists and objects, changed."""
    if isinstance(value, Made):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _replaced(item, change) for key, item in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], Made):
        return [_replaced(item, change) for item in value]
    return value
