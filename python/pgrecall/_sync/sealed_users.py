# Made from _async/sealed_users.py by `make generate`; change that file, not this.
"""Sealed users: their data keys are made, wrapped anew and exchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from pgrecall._calls import UNSET, Call, Unset
from pgrecall._runtime import SyncRuntime
from pgrecall._sealed import resealed
from pgrecall._sync.base import LONG_TIMEOUT, User
from pgrecall._sync.database import SyncDatabase
from pgrecall._sync.retrieval import Retrieval
from pgrecall._sync.sealer import wrap_context
from pgrecall.errors import ConfigurationError, InvalidInputError, NotAllowedError
from pgrecall.sealing import NO_KEYS_HINT, UserKeys, new_data_key

__all__ = ["SealedUsers"]

_ROTATION_ATTEMPTS = 20  # while others write by the old key
_MOST_LATE_ROWS = 1_000_000


class SealedUsers(Retrieval):
    """The methods that seal users."""

    def seal_user(self, user: User, *, vectors: bool = False) -> bool:
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
        user_id, name = self.user_id(user), wrapping.current
        wrapped = SyncRuntime.in_thread(
            wrapping.wrap, name, new_data_key(), wrap_context(user_id, 1)
        )
        is_new = self._change_value(
            user_id, "seal_user", wrapped_key=wrapped, wrapping_key=name, with_vectors=vectors
        )
        self._sealer.forget(user_id)
        sealing = self._sealer.sealing(user_id)
        if sealing is not None and sealing.has_vectors != vectors:
            stored = "with" if sealing.has_vectors else "without"
            raise NotAllowedError(
                f"user {user_id} was sealed {stored} vectors, and stays so",
                hint="That is chosen once, before the first text.",
            )
        return bool(is_new)

    def rewrap_user(self, user: User) -> int:
        """Wrap a sealed user's data keys by the current wrapping key; return how many were not.

        To rotate: put the new key first, do this for every sealed user (`rewrap_users`), then drop
        the old key.
        For a login with the rights of `recall_admin`.

        Raises:
            ConfigurationError: a key is missing, or another than the one that wrapped.
            InvalidInputError: the user is not sealed.
        """
        user_id, wrapping, count = self.user_id(user), self._sealer.wrapping, 0
        if self._sealer.sealing(user_id) is None or wrapping is None:
            raise _not_sealed(user_id)
        for number, wrapped, name in self._sealer.wrapped(user_id):
            if name == wrapping.current:
                continue
            context = wrap_context(user_id, number)
            key = SyncRuntime.in_thread(wrapping.unwrap, name, wrapped, context)
            anew = SyncRuntime.in_thread(wrapping.wrap, wrapping.current, key, context)
            count += self._change_value(
                user_id,
                "rewrap_user_key",
                key_no=number,
                previous=wrapped,
                wrapped_key=anew,
                wrapping_key=wrapping.current,
            )
        return count

    def rewrap_users(self, *, progress: Callable[[int], object] | None = None) -> int:
        """Wrap all data keys of all users by the current wrapping key; return how many were not.

        Afterwards the other wrapping keys may be dropped. Interrupted, call it again: it goes on
        with those that are left. For a login with the rights of `recall_admin`.

        Args:
            progress: called with the number of keys so far.

        Raises:
            ConfigurationError: some keys do not open here; all others are wrapped anew.
        """
        if self._sealer.wrapping is None:
            raise ConfigurationError("there is no wrapping key to wrap by", hint=NO_KEYS_HINT)
        count, current = 0, self._sealer.wrapping.current
        failed: dict[UUID, ConfigurationError] = {}
        after: UUID | Unset = UNSET
        while True:
            call = Call.of("list_sealed_users", other_than=current, after_id=after)
            _, rows = self._write.send(call, None, repeatable=True)
            if not rows:
                break
            for (user_id,) in rows:
                after = user_id
                try:
                    count += self.rewrap_user(user_id)
                except ConfigurationError as error:
                    failed[user_id] = error
                except InvalidInputError:  # forgotten meanwhile
                    continue
                if progress is not None:
                    progress(count)
        if failed:
            user_id, first = next(iter(failed.items()))
            raise ConfigurationError(
                f"the data keys of {len(failed)} users stay as they are, such as of {user_id}: "
                f"{first.message}",
                hint=first.hint,
            )
        return count

    def rotate_user(
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
        user_id = self.user_id(user)
        self._sealer.forget(user_id)
        sealing, wrapping = self._sealer.sealing(user_id), self._sealer.wrapping
        if sealing is None or wrapping is None:
            raise _not_sealed(user_id)
        if len(sealing.keys.numbers) == 1:
            number = 1 + max(row[0] for row in self._sealer.wrapped(user_id))
            context = wrap_context(user_id, number)
            wrapped = SyncRuntime.in_thread(
                wrapping.wrap, wrapping.current, new_data_key(), context
            )
            self._change_value(
                user_id,
                "add_user_key",
                key_no=number,
                wrapped_key=wrapped,
                wrapping_key=wrapping.current,
            )
        count = 0
        for _ in range(_ROTATION_ATTEMPTS):
            self._sealer.forget(user_id)
            sealing = self._sealer.sealing(user_id)
            if sealing is None or len(sealing.keys.numbers) == 1:
                break
            try:
                count = self._exchange_key(
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

    def _exchange_key(
        self,
        user_id: UUID,
        keys: UserKeys,
        batch_size: int,
        count: int,
        progress: Callable[[int], object],
    ) -> int:
        """Seal anew what the oldest key in use has sealed, and take it away."""
        oldest, newest = keys.numbers[0], keys.newest()

        def exchange(
            database: SyncDatabase, rows: list[Any], replaced_key: int | Unset = UNSET
        ) -> int:
            made = [
                {"row_table": table, "row_key": key, "texts": texts,
                 "new_texts": resealed(texts, keys, newest)}
                for table, key, texts in rows
            ]  # fmt: skip
            call = Call.of("reseal_rows", user_id=user_id, rows=made, replaced_key=replaced_key)
            _, done = database.send(call, user_id, repeatable=False, timeout=LONG_TIMEOUT)
            return int(done[0][0])

        def listed(database: SyncDatabase, **arguments: Any) -> list[Any]:
            call = Call.of("list_sealed_rows", user_id=user_id, key_no=oldest, **arguments)
            _, rows = database.send(call, user_id, repeatable=False, timeout=LONG_TIMEOUT)
            return rows

        after: Any = UNSET
        while rows := listed(self._write, after=after, limit=batch_size):
            count += exchange(self._write, rows)
            progress(count)
            after = {"row_table": rows[-1][0], "row_key": rows[-1][1]}
        with self._write.transaction() as same:
            rows = listed(same, with_late=True, limit=_MOST_LATE_ROWS)
            count += exchange(same, rows, oldest)
        progress(count)
        return count


def _not_sealed(user_id: UUID) -> InvalidInputError:
    return InvalidInputError(f"user {user_id} is not sealed", hint="seal_user seals one.")
