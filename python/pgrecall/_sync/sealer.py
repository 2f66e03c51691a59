# Made from _async/sealer.py by `make generate`; change that file, not this.
"""The data keys of sealed users: fetched and unwrapped once, then used for every call."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pgrecall._calls import Call
from pgrecall._runtime import SyncRuntime
from pgrecall._sealed import has_sealed, opened_value, sealed_call
from pgrecall.errors import ConfigurationError
from pgrecall.sealing import UserKeys, WrappingKeys

if TYPE_CHECKING:
    from pgrecall._sync.database import SyncDatabase

__all__ = ["SyncSealer"]

_MAX_USERS = 10_000
_FRESH_SECONDS = 60.0  # a user may be sealed, or forgotten, by another process
_OF_KEYS = {"get_user_keys", "seal_user", "rewrap_user_key"}


@dataclass(frozen=True, slots=True)
class _Known:
    keys: UserKeys | None
    wrapped: list[tuple[int, bytes, str]]
    until: float


class SyncSealer:
    """Seals calls and opens answers; for users who are not sealed it leaves them as they are.

    Args:
        database: where the wrapped keys are.
        wrapping: what unwraps them; None is a driver that can only say that a user is sealed.
    """

    def __init__(self, database: SyncDatabase, wrapping: WrappingKeys | None) -> None:
        self._database = database
        self._known: dict[UUID, _Known] = {}
        self.wrapping = wrapping

    def keys(self, user_id: UUID) -> UserKeys | None:
        """Return the keys of a user, None when the user is not sealed.

        Raises:
            ConfigurationError: the wrapping key is missing, or another.
        """
        known = self._known.get(user_id)
        if known is not None and time.monotonic() < known.until:
            return known.keys
        wrapped = self.wrapped(user_id)
        if known is None or known.wrapped != wrapped:
            if wrapped and self.wrapping is None:
                raise ConfigurationError(
                    f"user {user_id} is sealed, and there is no wrapping key here",
                    hint="AgentMemory.connect(…, wrapping_keys=LocalWrappingKeys.from_file(…))",
                )
            keys = None
            if wrapped:
                keys = SyncRuntime.in_thread(self._unwrapped, user_id, wrapped)
        else:
            keys = known.keys
        if len(self._known) >= _MAX_USERS:
            self._known.clear()
        self._known[user_id] = _Known(keys, wrapped, time.monotonic() + _FRESH_SECONDS)
        return keys

    def wrapped(self, user_id: UUID) -> list[tuple[int, bytes, str]]:
        """Return number, wrapped key and name of its wrapping key of each data key of a user."""
        call = Call.of("get_user_keys", user_id=user_id)
        _, rows = self._database.send(call, user_id, repeatable=True)
        return [(number, bytes(key), name) for number, key, name in rows]

    def forget(self, user_id: UUID) -> bool:
        """Ask again for the user's keys at the next call; return whether there was an answer."""
        return self._known.pop(user_id, None) is not None

    def sealed(self, call: Call, user_id: UUID | None) -> Call:
        """Return a call as it may be sent."""
        if self.wrapping is None or user_id is None or call.function in _OF_KEYS:
            return call
        keys = self.keys(user_id)
        return call if keys is None else sealed_call(call, keys)

    def opened(
        self,
        function: str,
        columns: Sequence[str],
        rows: list[tuple[Any, ...]],
        user_id: UUID | None,
    ) -> list[tuple[Any, ...]]:
        """Return the rows of an answer with their texts readable."""
        if user_id is None or function in _OF_KEYS or not has_sealed(rows):
            return rows
        keys = self.keys(user_id)
        if keys is None:
            return rows  # somebody wrote what looks like one
        return [
            tuple(opened_value(function, name, value, keys)
                  for name, value in zip(columns, row, strict=True))
            for row in rows
        ]  # fmt: skip

    def _unwrapped(self, user_id: UUID, wrapped: Sequence[tuple[int, bytes, str]]) -> UserKeys:
        assert self.wrapping is not None  # noqa: S101
        opened = {
            number: self.wrapping.unwrap(name, key, wrap_context(user_id, number))
            for number, key, name in wrapped
        }
        return UserKeys(user_id, opened)


def wrap_context(user_id: UUID, number: int) -> bytes:
    """Return what a wrapped key is bound to: its user and number."""
    return b"pgrecall data key v1\0" + user_id.bytes + number.to_bytes(2)
