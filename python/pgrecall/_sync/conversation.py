# Made from _async/conversation.py by `make generate`; change that file, not this.
"""One session of a user: opened once, then known by its id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pgrecall._names import new_uuid, session_uuid
from pgrecall._options import SessionOptions
from pgrecall._runtime import SyncRuntime
from pgrecall._sql import UNSET, Call, User
from pgrecall._sync.core import Core
from pgrecall._sync.users import Users
from pgrecall.errors import InvalidInputError, NotFoundError
from pgrecall.models._tokens import exact_tokens
from pgrecall.rows import Session

__all__ = ["Conversation"]


@dataclass(slots=True)
class Conversation:
    """A session, opened by the first call that needs it.

    `_wanted` is its id, or its name among the user's sessions, and None for a new one. `_model` is
    None for a session that exists.
    """

    _core: Core
    _users: Users
    _user: User
    _wanted: User | None
    _model: str | None
    _options: SessionOptions
    _lock: Any = field(default_factory=SyncRuntime.lock)
    _session: Session | None = None
    _user_id: UUID | None = None

    def open(self) -> Session:
        """Open the conversation, or find the one that exists, and return what is known of it.

        Raises:
            NotFoundError: without a model, a session that does not exist; an unknown parent.
            InvalidInputError: a value out of range.
        """
        with self._lock:
            if self._session is None:
                self._session = self._open()
            return self._session

    def _open(self) -> Session:
        model, arguments = self._model, self._options.copy()
        if model is None or isinstance(self._user, UUID):
            user_id = self._core.user_id(self._user)
        else:
            user_id = self._users.ensure(self._user)
        self._user_id = user_id
        session_id = None if self._wanted is None else session_uuid(user_id, self._wanted)
        if model is None:
            if session_id is None:
                raise InvalidInputError("a new session needs a model")
        else:
            if session_id is not None and str(session_id) != str(self._wanted):
                arguments.setdefault("title", str(self._wanted))
            tokens = exact_tokens(arguments.get("system_prompt"), model)
            call = Call.of(
                "open_session",
                user_id=user_id,
                # made here, so that opening may be sent again after a lost connection
                session_id=session_id or new_uuid(),
                model_id=model,
                system_prompt_tokens=UNSET if tokens is None else tokens,
                **arguments,
            )
            session_id = self._core.write.value(call, repeatable=True)
        return self._read(session_id)

    def _read(self, session_id: Any) -> Session:
        call = Call.of("get_session", user_id=self._user_id, session_id=session_id)
        rows = self._core.write.rows(Session, call, repeatable=True)
        if not rows:
            raise NotFoundError(
                f"this user has no session {self._wanted}", hint="With a model it is opened."
            )
        return rows[0]

    @property
    def info(self) -> Session:
        """The session's row as it was opened, or last refreshed."""
        if self._session is None:
            raise InvalidInputError(
                "the session is not open yet", hint="Use it in a with block, or call open()."
            )
        return self._session

    @property
    def session_id(self) -> UUID:
        """The session's id."""
        return self.info.session_id

    @property
    def user_id(self) -> UUID:
        """The user's id."""
        if self._user_id is None:
            raise InvalidInputError("the session is not open yet")
        return self._user_id

    @property
    def model(self) -> str:
        """The chat model."""
        return self.info.model_id

    @property
    def params(self) -> dict[str, Any]:
        """Arguments of `chat.completions.create`: model, temperature, top_p and max_tokens."""
        info = self.info
        return {
            "model": info.model_id,
            "temperature": info.temperature,
            "top_p": info.top_p,
            "max_tokens": info.max_response_tokens,
        }

    def refresh(self) -> Session:
        """Read the session again: counters, cost, status."""
        opened = self.open()
        self._session = self._read(opened.session_id)
        return self._session

    def change(self, function: str, **arguments: Any) -> Any:
        """Write by a function on this session, and return its value."""
        opened = self.open()
        call = Call.of(function, user_id=self.user_id, session_id=opened.session_id, **arguments)
        return self._core.write.value(call)
