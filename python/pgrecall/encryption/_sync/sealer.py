# Made from _async/sealer.py by `make generate`; change that file, not this.
"""The data keys of encrypted users: fetched and unwrapped once, then used for every call."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from pgrecall._ciphertext import has_ciphertext, refuse_ciphertext
from pgrecall._runtime import SyncRuntime
from pgrecall._sql import Call
from pgrecall.calls._redaction import Redactor
from pgrecall.encryption._clock import DatabaseClock, elapsed
from pgrecall.encryption._keys import (
    NO_KEYS_HINT,
    UnknownKeyError,
    UserKeys,
    WrappingKeys,
    aes_gcm,
)
from pgrecall.encryption._requests import opened_request, sealed_answer, select_statements
from pgrecall.encryption._sealed import MovedError, Opener, Sealing, sealed_call
from pgrecall.errors import ConfigurationError, InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from pgrecall._sync.transport import Transport

__all__ = ["SyncSealer"]

_MAX_USERS = 10_000
_FRESH_SECONDS = 60.0  # another process may encrypt or erase a user
_OF_KEYS = {"get_user_keys", "seal_user", "rewrap_user_key", "add_user_key", "list_sealed_rows",
            "reseal_rows"}  # fmt: skip
_OF_DOCUMENTS = {"import_user"}  # the document brings its keys
_OF_WORKERS = {"next_request"}  # a worker opens the request by `opened_request`
_WITHOUT_TEXTS = {"forget_user", "forget_session", "forget_memory"}  # for these no key is needed
_MAX_ANCESTORS = 50

Wrapped = list[tuple[int, bytes, str]]


@dataclass(frozen=True, slots=True)
class _Known:
    sealing: Sealing | None
    wrapped: Wrapped
    rest: list[tuple[Any, ...]]
    until: float
    kin: set[tuple[str, str, str]] = field(default_factory=set)


class SyncSealer:
    """Encrypts calls and decrypts answers of encrypted users; others pass through unchanged.

    Args:
        transport: leads to the wrapped keys.
        wrapping: unwraps them; a driver with None can only say that a user is encrypted.
        sealed: "require" refuses every user without data keys.

    Raises:
        ConfigurationError: `sealed` is not "require", a key encryption key is missing, or the
            package cryptography is not installed.
    """

    def __init__(
        self,
        transport: Transport,
        wrapping: WrappingKeys | None,
        sealed: Literal["require"] | None = None,
    ) -> None:
        if sealed not in (None, "require"):
            raise ConfigurationError(f"sealed is {sealed!r}", hint='Pass "require", or nothing.')
        if sealed is not None and wrapping is None:
            raise ConfigurationError(
                "this driver requires encrypted users and has no key encryption key",
                hint=NO_KEYS_HINT,
            )
        if wrapping is not None:
            aes_gcm()  # its error now, not at the first call
        self._transport = transport
        self._known: dict[UUID, _Known] = {}
        self._clock = DatabaseClock()
        self.wrapping = wrapping
        self.required = sealed

    def sealing(self, user_id: UUID) -> Sealing | None:
        """Return how to encrypt for a user, None when the user is not encrypted.

        Raises:
            ConfigurationError: the key encryption key is missing or did not wrap the data keys;
                the data keys are missing, or this driver requires data keys and there are none.
        """
        sealing = self._found(user_id)
        if sealing is None and self.required:
            raise ConfigurationError(
                f"user {user_id} has no data key, and this driver requires one",
                hint="seal_user makes one for a user without data. If there was one, somebody "
                "removed it: restore recall.user_keys from a backup.",
            )
        return sealing

    def _found(self, user_id: UUID) -> Sealing | None:
        known = self._known.get(user_id)
        if known is not None and time.monotonic() < known.until:
            return known.sealing
        wrapped, rest = self._fetched(user_id)
        if known is None or (known.wrapped, known.rest) != (wrapped, rest):
            if wrapped and self.wrapping is None:
                raise ConfigurationError(
                    f"user {user_id} is encrypted, and this driver has no key encryption key",
                    hint=NO_KEYS_HINT,
                )
            sealing = None
            if wrapped:
                retired = [row[0] for row, more in zip(wrapped, rest, strict=True) if more[-1]]
                keys = SyncRuntime.in_thread(self._unwrapped, user_id, wrapped, retired)
                has_vectors, secrets, patterns, _ = rest[0]
                redactor = None if patterns is None else Redactor(patterns, headers="")
                sealing = Sealing(
                    keys, has_vectors, redactor, secrets == "refuse", clock=self._clock
                )
        else:
            sealing = known.sealing
        if sealing is not None:
            sealing = self._limited(sealing, user_id)
        if len(self._known) >= _MAX_USERS:
            self._known.clear()
        until = time.monotonic() + _FRESH_SECONDS
        self._known[user_id] = _Known(sealing, wrapped, rest, until)
        return sealing

    def wrapped(self, user_id: UUID) -> Wrapped:
        """Return number, wrapped key and KEK of each data key of a user."""
        wrapped, _ = self._fetched(user_id)
        return wrapped

    def _fetched(self, user_id: UUID) -> tuple[Wrapped, list[tuple[Any, ...]]]:
        call = Call.of("get_user_keys", user_id=user_id)
        _, rows = self._transport.send(call, repeatable=True)
        wrapped = [(row[0], bytes(row[1]), row[2]) for row in rows]
        return wrapped, [tuple(row[3:]) for row in rows]

    def _limited(self, sealing: Sealing, user_id: UUID) -> Sealing:
        """Return the rules with the limits of the user's texts; None before an upgrade.

        The answer sets the clock, too.
        """
        call = Call.of("get_ledger_rules", user_id=user_id)
        asked = elapsed()
        _, [[rules]] = self._transport.send(call, repeatable=True)
        if "time_ms" in rules:
            self._clock.set(rules["time_ms"], asked, elapsed())
        return replace(
            sealing,
            memory_characters=rules.get("memory_max_characters"),
            message_characters=rules.get("message_max_characters"),
        )

    def forget(self, user_id: UUID) -> bool:
        """Ask again for the user's keys at the next call; return whether there was an answer."""
        return self._known.pop(user_id, None) is not None

    def sealed(self, call: Call, user_id: UUID) -> Call:
        """Return a call as it may be sent.

        Raises:
            InvalidInputError: it holds a ciphertext, and the user is not encrypted; or a text that
                cannot be encrypted, or is too long.
        """
        if call.function in _OF_KEYS | _WITHOUT_TEXTS | _OF_DOCUMENTS:
            return call
        sealing = self.sealing(user_id)
        if sealing is None:
            refuse_ciphertext(call)
            return call
        try:
            return sealed_call(call, sealing)
        except InvalidInputError:
            # a limit may have been raised since it was cached
            current = self._limited(sealing, user_id)
            if current == sealing:
                raise
            self.forget(user_id)
            return sealed_call(call, current)

    def opened(
        self, call: Call, columns: Sequence[str], rows: list[tuple[Any, ...]], user_id: UUID
    ) -> list[tuple[Any, ...]]:
        """Return the rows of an answer with their texts readable.

        Raises:
            ConfigurationError: a text does not open, or is a ciphertext of a user without keys.
        """
        if call.function in _OF_KEYS | _WITHOUT_TEXTS:
            return rows
        sealing = self.sealing(user_id)
        if sealing is None:
            if has_ciphertext(rows):
                raise ConfigurationError(
                    f"{call.function} returned a ciphertext, and user {user_id} has no data key",
                    hint="The rows of recall.user_keys were deleted, or another client wrote the "
                    "text: restore them from a backup.",
                )
            return rows
        if call.function in _OF_WORKERS:
            return rows
        has_asked = False
        while True:
            try:
                return self._readable(call, columns, rows, user_id, sealing)
            except UnknownKeyError:
                # the keys are being replaced
                if has_asked or not self.forget(user_id):
                    raise
                has_asked, sealing = True, self.sealing(user_id) or sealing
            except MovedError as error:
                found = self._kin(user_id, *error.pair)
                if not found:
                    raise
                self._known[user_id].kin.update(found)

    def opened_request(self, request: Mapping[str, Any], user_id: UUID) -> dict[str, Any]:
        """Return a request of `next_request` with its texts readable, for a model or an embedder.

        Raises:
            ConfigurationError: a text does not open, or the signs of encryption were removed.
        """
        sealing = self.sealing(user_id)
        if sealing is None:
            return dict(request)  # `opened` has refused what holds a ciphertext
        return self._opened_by(opened_request, request, user_id, sealing)

    def select_statements(self, request: Mapping[str, Any], user_id: UUID) -> dict[str, Any]:
        """Return the answer to a request of type select.

        Raises:
            ConfigurationError: a message does not open, or the user has no data key.
        """
        sealing = self.sealing(user_id)
        if sealing is None:
            raise ConfigurationError(
                f"a request asks to choose among ciphertexts, and user {user_id} has no data key",
                hint="The rows of recall.user_keys were deleted: restore them from a backup.",
            )
        return self._opened_by(select_statements, request, user_id, sealing)

    def _opened_by(
        self,
        opener: Callable[[Mapping[str, Any], Sealing, set[tuple[str, str, str]]], dict[str, Any]],
        request: Mapping[str, Any],
        user_id: UUID,
        sealing: Sealing,
    ) -> dict[str, Any]:
        """Open a request; ask for keys that are new, and whether texts may have been moved."""
        has_asked, kin = False, set[tuple[str, str, str]]()
        while True:
            try:
                return opener(request, sealing, kin)
            except UnknownKeyError:
                # the keys are being replaced
                if has_asked or not self.forget(user_id):
                    raise
                has_asked, sealing = True, self.sealing(user_id) or sealing
            except MovedError as error:
                found = self._kin(user_id, *error.pair)
                if not found:
                    raise
                kin |= found

    def sealed_answer(
        self, request: Mapping[str, Any], answer: Mapping[str, Any], user_id: UUID
    ) -> dict[str, Any]:
        """Return the answer to a request of `next_request` with its texts encrypted.

        Raises:
            ConfigurationError: the signs of encryption were removed.
        """
        sealing = self.sealing(user_id)
        return dict(answer) if sealing is None else sealed_answer(request, answer, sealing)

    def _readable(
        self,
        call: Call,
        columns: Sequence[str],
        rows: list[tuple[Any, ...]],
        user_id: UUID,
        sealing: Sealing,
    ) -> list[tuple[Any, ...]]:
        known = self._known.get(user_id)
        opener = Opener(
            sealing.keys, call.function, call.parameters, () if known is None else known.kin
        )
        return [opener.row(columns, row) for row in rows]

    def _kin(
        self, user_id: UUID, field: str, found: str, expected: str
    ) -> set[tuple[str, str, str]]:
        """Return the expected rows that may hold a text that was encrypted for another row.

        A restored memory has the text of its predecessor. A session that continues another begins
        with its summary.
        """
        row = UUID(found)
        if field == "memory":
            call = Call.of("memory_chain", user_id=user_id, memory_id=row)
            try:
                columns, rows = self._transport.send(call, repeatable=True)
            except NotFoundError:
                return set()
            ids = {str(one[columns.index("memory_id")]) for one in rows}
            return {(field, found, place) for place in expected.split(",") if place in ids}
        if field != "summary":
            return set()
        ancestor: Any = UUID(expected)
        for _ in range(_MAX_ANCESTORS):
            call = Call.of("get_session", user_id=user_id, session_id=ancestor)
            columns, rows = self._transport.send(call, repeatable=True)
            if not rows:
                break
            ancestor = rows[0][columns.index("parent_session_id")]
            if ancestor == row:
                return {(field, found, expected)}
            if ancestor is None:
                break
        return set()

    def _unwrapped(
        self, user_id: UUID, wrapped: Sequence[tuple[int, bytes, str]], retired: Sequence[int]
    ) -> UserKeys:
        assert self.wrapping is not None  # noqa: S101
        opened = {
            number: self.wrapping.unwrap(name, key, wrap_context(user_id, number))
            for number, key, name in wrapped
        }
        return UserKeys(user_id, opened, retired)


def wrap_context(user_id: UUID, number: int) -> bytes:
    """Return what a wrapped key is bound to: its user and number."""
    return b"pgrecall data key v1\0" + user_id.bytes + number.to_bytes(2)
