"""`AgentMemory.encryption`: data keys of users are made, wrapped and exchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pgrecall._async.core import LONG_TIMEOUT, AsyncCore
from pgrecall._runtime import AsyncRuntime
from pgrecall._sql import UNSET, Call, Unset, User
from pgrecall.encryption._async.sealer import wrap_context
from pgrecall.encryption._keys import NO_KEYS_HINT, UserKeys, new_data_key
from pgrecall.encryption._sealed import resealed
from pgrecall.errors import ConfigurationError, InvalidInputError, NotAllowedError

if TYPE_CHECKING:
    from pgrecall._async.transport import AsyncTransport

__all__ = ["AsyncEncryption"]

_ROTATION_ATTEMPTS = 20  # while others write by the old key
_MOST_LATE_ROWS = 1_000_000


class AsyncEncryption:
    """Encryption of users; `pgrecall.encryption` says what the database still learns."""

    def __init__(self, core: AsyncCore) -> None:
        self._core = core

    async def seal_user(self, user: User, *, vectors: bool = False) -> bool:
        """Encrypt a user who has no data yet: from now on their texts reach the database encrypted.

        Code that reads and writes does not change, if the driver has the key encryption key.
        The driver compares words of decrypted texts; `pgrecall.encryption` says what the database
        still learns.

        Args:
            user: who.
            vectors: whether the database stores vectors of the texts, unencrypted, so that it can
                search by meaning. A vector tells what a text is about, and with effort much of what
                it says.

        Returns:
            False when the user was encrypted already.

        Raises:
            ConfigurationError: this driver has no key encryption key, or not that of the user.
            NotAllowedError: the user has data, which would stay readable, or was encrypted with the
                other choice of `vectors`.
        """
        sealer, wrapping = self._core.guard.sealer(), self._core.guard.wrapping
        if wrapping is None:
            raise ConfigurationError(
                "this driver has no key encryption key to encrypt a user with", hint=NO_KEYS_HINT
            )
        user_id, name = await self._core.user_id(user), wrapping.current
        wrapped = await AsyncRuntime.in_thread(
            wrapping.wrap, name, new_data_key(), wrap_context(user_id, 1)
        )
        is_new = await self._core.change_value(
            user_id, "seal_user", wrapped_key=wrapped, wrapping_key=name, with_vectors=vectors
        )
        sealer.forget(user_id)
        sealing = await sealer.sealing(user_id)
        if sealing is not None and sealing.has_vectors != vectors:
            stored = "with" if sealing.has_vectors else "without"
            raise NotAllowedError(
                f"user {user_id} was encrypted {stored} vectors, which cannot change",
                hint="That is chosen once, before the first text.",
            )
        return bool(is_new)

    async def rewrap_user(self, user: User) -> int:
        """Rewrap a user's data keys by the current key encryption key, and return how many.

        To rotate: put the new key first, do this for every encrypted user (`rewrap_users`), then
        drop the old key. For a login with the rights of `recall_admin`.

        Raises:
            ConfigurationError: a key is missing, or another than the one that wrapped.
            InvalidInputError: the user is not encrypted.
        """
        sealer, wrapping = self._core.guard.sealer(), self._core.guard.wrapping
        user_id, count = await self._core.user_id(user), 0
        if await sealer.sealing(user_id) is None or wrapping is None:
            raise _not_sealed(user_id)
        for number, wrapped, name in await sealer.wrapped(user_id):
            if name == wrapping.current:
                continue
            context = wrap_context(user_id, number)
            key = await AsyncRuntime.in_thread(wrapping.unwrap, name, wrapped, context)
            rewrapped = await AsyncRuntime.in_thread(wrapping.wrap, wrapping.current, key, context)
            count += await self._core.change_value(
                user_id,
                "rewrap_user_key",
                key_no=number,
                previous=wrapped,
                wrapped_key=rewrapped,
                wrapping_key=wrapping.current,
            )
        return count

    async def rewrap_users(self, *, progress: Callable[[int], object] | None = None) -> int:
        """Rewrap all data keys by the current key encryption key, and return how many.

        Afterwards the other key encryption keys can be dropped. After an interruption, call it
        again: it continues with the rest. For a login with the rights of `recall_admin`.

        Args:
            progress: called with the number of keys so far.

        Raises:
            ConfigurationError: some keys do not open here; all others are wrapped again.
        """
        wrapping = self._core.guard.wrapping
        if wrapping is None:
            raise ConfigurationError("this driver has no key encryption key", hint=NO_KEYS_HINT)
        count, current = 0, wrapping.current
        failed: dict[UUID, ConfigurationError] = {}
        after: UUID | Unset = UNSET
        while True:
            call = Call.of("list_sealed_users", other_than=current, after_id=after)
            _, rows = await self._core.write.transport.send(call, repeatable=True)
            if not rows:
                break
            for (user_id,) in rows:
                after = user_id
                try:
                    count += await self.rewrap_user(user_id)
                except ConfigurationError as error:
                    failed[user_id] = error
                except InvalidInputError:  # erased meanwhile
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

    async def rotate_user(
        self,
        user: User,
        *,
        batch_size: int = 200,
        progress: Callable[[int], object] | None = None,
    ) -> int:
        """Give an encrypted user a new data key, encrypt everything by it, destroy the old one.

        The user stays readable and writable meanwhile: other drivers ask for the keys again when
        they have changed. Interrupted, call it again. Texts that the database compares are
        exchanged at the end in one transaction, for which writers of this user's memories wait.
        Reasons in the audit, which is never rewritten, keep the old key: it opens them alone. For a
        login with the rights of `recall_admin`.

        Args:
            user: the user.
            batch_size: rows per transaction, before the end.
            progress: called with the number of rows so far.

        Returns:
            How many rows were encrypted again.

        Raises:
            ConfigurationError: a key is missing, or a text does not open; finished rows stay.
            InvalidInputError: the user is not encrypted.
        """
        user_id, sealer = await self._core.user_id(user), self._core.guard.sealer()
        sealer.forget(user_id)
        sealing, wrapping = await sealer.sealing(user_id), sealer.wrapping
        if sealing is None or wrapping is None:
            raise _not_sealed(user_id)
        if len(sealing.keys.numbers) == 1:
            number = 1 + max(row[0] for row in await sealer.wrapped(user_id))
            context = wrap_context(user_id, number)
            wrapped = await AsyncRuntime.in_thread(
                wrapping.wrap, wrapping.current, new_data_key(), context
            )
            await self._core.change_value(
                user_id,
                "add_user_key",
                key_no=number,
                wrapped_key=wrapped,
                wrapping_key=wrapping.current,
            )
        count = 0
        for _ in range(_ROTATION_ATTEMPTS):
            sealer.forget(user_id)
            sealing = await sealer.sealing(user_id)
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
        sealer.forget(user_id)
        return count

    async def _exchange_key(
        self,
        user_id: UUID,
        keys: UserKeys,
        batch_size: int,
        count: int,
        progress: Callable[[int], object],
    ) -> int:
        """Encrypt again what the oldest key in use has encrypted, and remove that key."""
        oldest, newest = keys.numbers[0], keys.newest()

        async def exchange(
            transport: AsyncTransport, rows: list[Any], replaced_key: int | Unset = UNSET
        ) -> int:
            made = [
                {"row_table": table, "row_key": key, "texts": texts,
                 "new_texts": resealed(texts, keys, newest)}
                for table, key, texts in rows
            ]  # fmt: skip
            call = Call.of("reseal_rows", user_id=user_id, rows=made, replaced_key=replaced_key)
            _, done = await transport.send(call, repeatable=False, timeout=LONG_TIMEOUT)
            return int(done[0][0])

        async def listed(transport: AsyncTransport, **arguments: Any) -> list[Any]:
            call = Call.of("list_sealed_rows", user_id=user_id, key_no=oldest, **arguments)
            _, rows = await transport.send(call, repeatable=False, timeout=LONG_TIMEOUT)
            return rows

        after: Any = UNSET
        while rows := await listed(self._core.write.transport, after=after, limit=batch_size):
            count += await exchange(self._core.write.transport, rows)
            progress(count)
            after = {"row_table": rows[-1][0], "row_key": rows[-1][1]}
        async with self._core.write.transport.transaction() as same:
            rows = await listed(same, with_late=True, limit=_MOST_LATE_ROWS)
            count += await exchange(same, rows, oldest)
        progress(count)
        return count


def _not_sealed(user_id: UUID) -> InvalidInputError:
    return InvalidInputError(
        f"user {user_id} is not encrypted", hint="seal_user encrypts a user without data."
    )
