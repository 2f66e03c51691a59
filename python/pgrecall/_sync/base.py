# Made from _async/base.py by `make generate`; change that file, not this.
"""What the methods of the client stand on: databases, an embedder, and how a call is made."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from uuid import UUID

import psycopg

from pgrecall._info import DatabaseInfo, checked_embedder, default_embedder
from pgrecall._json import refuse_unstorable
from pgrecall._limits import Limits
from pgrecall._runtime import SyncBackground, SyncHome, SyncRuntime
from pgrecall._sql import UNSET, Call, Unset, Vector
from pgrecall._sync.database import SyncDatabase, Target
from pgrecall._sync.guard import Guard
from pgrecall.errors import ConfigurationError, NotAllowedError
from pgrecall.models._embedders import Embedder, OpenAIEmbedder

if TYPE_CHECKING:
    from pgrecall.calls._sync.log import CallLog
    from pgrecall.encryption import WrappingKeys
    from pgrecall.encryption._sealed import Sealing

__all__ = ["JSON", "LONG_TIMEOUT", "ClientBase", "User"]

User = str | UUID
JSON = Mapping[str, Any]
Row = TypeVar("Row")

LONG_TIMEOUT = 3600.0  # seconds for what touches everything of a user

_MAX_CACHED_USERS = 10_000
_MAKING = threading.Lock()  # threads share one call log


class ClientBase:
    """The part of the client that every method needs."""

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
        self._home = SyncHome()
        self._write = self._database(write)
        self._history = self._write if history is None else self._database(history)
        self._memory = self._write if memory is None else self._database(memory)
        self._work = self._write if worker is None else self._database(worker)
        self._guard = Guard(self._write, wrapping_keys, sealed)
        for database in (self._write, self._history, self._memory, self._work):
            database.guard = self._guard
        self._given_embedder = embedder
        self._embedder: Embedder | None = None
        self._is_embedder_known = False
        self._info: DatabaseInfo | None = None
        self._users: dict[str, UUID] = {}
        self._background = SyncBackground()
        self._log: CallLog | None = None
        self._log_owner: ClientBase = self

    def _database(self, target: Target) -> SyncDatabase:
        return SyncDatabase(target, self.limits, self._home)

    # What is known of the database, and of users

    def info(self) -> DatabaseInfo:
        """Return version, embedding model and dimensions of the database; asked once."""
        if self._info is None:
            try:
                rows = self._write.query(DatabaseInfo.QUERY)
            except psycopg.errors.InsufficientPrivilege as error:
                raise ConfigurationError(
                    "this role may not read the settings of the schema recall",
                    hint="Pass embedder=…, or embedder=False to search by words.",
                ) from error
            self._info = DatabaseInfo(*rows[0])
        return self._info

    def embedder(self) -> Embedder | None:
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
                info = self.info()
            except ConfigurationError:
                if given is None:
                    raise
                # an application's role: the database itself refuses what does not fit
                self._embedder = given
            else:
                self._embedder = SyncRuntime.in_thread(
                    checked_embedder, given or default_embedder(info), info
                )
        self._is_embedder_known = True
        return self._embedder

    def embed(self, texts: Sequence[str]) -> list[list[float]] | None:
        """Return one vector per text, or None when there is no embedder."""
        refuse_unstorable(list(texts), "texts")
        embedder = self.embedder()
        if embedder is None:
            return None
        return SyncRuntime.in_thread(embedder.embed, list(texts))

    def user_id(self, user: User) -> UUID:
        """Return the id of a user named by a UUID or any text, as `recall.user_id` makes it."""
        if isinstance(user, UUID):
            return user
        if user not in self._users:
            if len(self._users) >= _MAX_CACHED_USERS:
                self._users.clear()
            self._users[user] = self._memory.value(
                Call.of("user_id", external_id=user), repeatable=True
            )
        return self._users[user]

    def ensure_user(self, user: User, *, metadata: JSON | Unset = UNSET) -> UUID:
        """Make a user known, with the text that names them, and return the id.

        Raises:
            ConfigurationError: this driver requires sealed users, and this one is not sealed.
            NotAllowedError: this driver requires sealed users; metadata would be stored readable.
        """
        if self._guard.required:
            self._guard.sealing(self.user_id(user))
            if metadata is not UNSET:
                raise NotAllowedError(
                    "the metadata of a user are stored readable, and this driver requires sealed "
                    "users", hint="Keep them in the metadata of a session or memory.",
                )  # fmt: skip
        named = str(user) if isinstance(user, UUID) else user  # of None no user "None" is made
        found: UUID = self._write.value(
            Call.of("ensure_user", external_id=named, metadata=metadata), repeatable=True
        )
        return found

    @property
    def _call_log(self) -> CallLog:
        """The recorder of calls of models; its first use loads `pgrecall.calls`."""
        owner = self._log_owner
        with _MAKING:
            if owner._log is None:
                from pgrecall.calls._sync.log import CallLog

                owner._log = CallLog(owner)
            return owner._log

    # How a method becomes a call

    def _read_history(
        self, row: type[Row], user: User, function: str, **arguments: Any
    ) -> list[Row]:
        user_id = self.user_id(user)
        call = Call.of(function, user_id=user_id, **arguments)
        return self._history.rows(row, call, user_id=user_id, repeatable=True)

    def _read_memory(
        self, row: type[Row], user: User, function: str, **arguments: Any
    ) -> list[Row]:
        user_id = self.user_id(user)
        call = Call.of(function, user_id=user_id, **arguments)
        return self._memory.rows(row, call, user_id=user_id, repeatable=True)

    def _change(self, row: type[Row], user: User, function: str, **arguments: Any) -> list[Row]:
        user_id = self.user_id(user)
        call = Call.of(function, user_id=user_id, **arguments)
        return self._write.rows(row, call, user_id=user_id)

    def _change_value(self, user: User, function: str, **arguments: Any) -> Any:
        user_id = self.user_id(user)
        call = Call.of(function, user_id=user_id, **arguments)
        return self._write.value(call, user_id=user_id)

    def _long_call(
        self, database: SyncDatabase, user: User, function: str, **arguments: Any
    ) -> Any:
        user_id = self.user_id(user)
        call = Call.of(function, user_id=user_id, **arguments)
        return database.value(call, user_id=user_id, timeout=LONG_TIMEOUT)

    def _vector(self, user: User, text: str | None, embedding: Vector | Unset | None) -> Any:
        """Return the vector to send: the one given, or the text's; none when none are stored."""
        if embedding is not UNSET:
            return UNSET if embedding is None else embedding
        if not text or not self._has_vectors(user):
            return UNSET
        refuse_unstorable(text, "text")
        vectors = self._embedded(user, [text])
        return UNSET if vectors is None else vectors[0]

    def _embedded(self, user: User, texts: Sequence[str]) -> list[list[float]] | None:
        """Return vectors of a user's texts; what an endpoint is asked is recorded for him."""
        if not isinstance(self.embedder(), OpenAIEmbedder):
            return self.embed(texts)
        with self._call_log.of_own(self.user_id(user)):
            return self.embed(texts)

    def _has_vectors(self, user: User) -> bool:
        sealing = self._sealing(user)
        return sealing is None or sealing.has_vectors

    def _sealing(self, user: User) -> Sealing | None:
        """Return how a user is sealed, as far as a driver with wrapping keys wants to know."""
        if self._guard.wrapping is None:
            return None
        return self._guard.sealing(self.user_id(user))
