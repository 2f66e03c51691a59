# Made from _async/users.py by `make generate`; change that file, not this.
"""Users: their ids, and making them known."""

from __future__ import annotations

from uuid import UUID

from pgrecall._sql import JSON, UNSET, Call, Unset, User
from pgrecall._sync.core import Core
from pgrecall.errors import NotAllowedError

__all__ = ["Users"]


class Users:
    """Users by the names that an application gives them; `AgentMemory.users`."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def id(self, user: User) -> UUID:
        """Return the UUID of a user as it is, or the one that `recall.user_id` makes of a text.

        Raises:
            InvalidInputError: the text is empty, longer than 1000 characters, or a UUID of version
                8: pass an id as `uuid.UUID`.
        """
        return self._core.user_id(user)

    def ensure(self, user: User, *, metadata: JSON | Unset = UNSET) -> UUID:
        """Create a user, with the text that names them, and return the id.

        Raises:
            InvalidInputError: the text is empty, longer than 1000 characters, or a UUID of version
                8: pass an id as `uuid.UUID`.
            ConfigurationError: this driver requires encrypted users, and this user is not one.
            NotAllowedError: the user is encrypted, and the metadata is not.
        """
        if self._core.guard.required or metadata not in (UNSET, {}):
            sealing = self._core.sealing(user)
            if sealing is not None and metadata is not UNSET:
                raise NotAllowedError(
                    "the metadata of a user is not encrypted, and this user is",
                    hint="Put it into the metadata of a session or memory.",
                )
        user_id = user if isinstance(user, UUID) else None
        named = user if user_id is None else str(user)  # of None no user "None" is made
        call = Call.of("ensure_user", user_id=user_id, external_id=named, metadata=metadata)
        found: UUID = self._core.write.value(call, repeatable=True)
        return found
