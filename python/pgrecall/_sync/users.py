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
        """Return the id of a user named by a UUID or any text, as `recall.user_id` makes it."""
        return self._core.user_id(user)

    def ensure(self, user: User, *, metadata: JSON | Unset = UNSET) -> UUID:
        """Create a user, with the text that names them, and return the id.

        Raises:
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
        named = str(user) if isinstance(user, UUID) else user  # of None no user "None" is made
        found: UUID = self._core.write.value(
            Call.of("ensure_user", external_id=named, metadata=metadata), repeatable=True
        )
        return found
