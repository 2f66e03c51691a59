"""Client-side encryption: the methods that encrypt a user and exchange keys."""

from __future__ import annotations

from collections.abc import Callable

from pgrecall._async.base import User
from pgrecall._async.retrieval import AsyncRetrieval

__all__ = ["AsyncEncryption"]


class AsyncEncryption(AsyncRetrieval):
    """The methods for encrypted users; `pgrecall.encryption` does their work."""

    async def seal_user(self, user: User, *, vectors: bool = False) -> bool:
        """Encrypt a user who has no data yet: from now on their texts reach the database encrypted.

        Code that reads and writes with the wrapping key does not change. The driver compares words,
        over decrypted texts; `pgrecall.encryption` says what the database still learns.

        Args:
            user: who.
            vectors: whether the database stores vectors of the texts, unencrypted, so that it can
                search by meaning. A vector tells what a text is about, and with effort much of what
                it says.

        Returns:
            False when the user was encrypted already.

        Raises:
            ConfigurationError: this driver has no wrapping key, or another than the user has.
            NotAllowedError: the user has data, which would stay readable, or was encrypted with the
                other choice of `vectors`.
        """
        from pgrecall.encryption._async import users

        return await users.seal_user(self, user, vectors)

    async def rewrap_user(self, user: User) -> int:
        """Wrap an encrypted user's data keys by the current wrapping key; return how many were not.

        To rotate: put the new key first, do this for every encrypted user (`rewrap_users`), then
        drop the old key. For a login with the rights of `recall_admin`.

        Raises:
            ConfigurationError: a key is missing, or another than the one that wrapped.
            InvalidInputError: the user is not encrypted.
        """
        from pgrecall.encryption._async import users

        return await users.rewrap_user(self, user)

    async def rewrap_users(self, *, progress: Callable[[int], object] | None = None) -> int:
        """Wrap all data keys of all users by the current wrapping key; return how many were not.

        Afterwards the other wrapping keys may be dropped. Interrupted, call it again: it continues
        with those that are left. For a login with the rights of `recall_admin`.

        Args:
            progress: called with the number of keys so far.

        Raises:
            ConfigurationError: some keys do not open here; all others are wrapped again.
        """
        from pgrecall.encryption._async import users

        return await users.rewrap_users(self, progress)

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
            user: whose.
            batch_size: rows per transaction, before the end.
            progress: called with the number of rows so far.

        Returns:
            How many rows were encrypted again.

        Raises:
            ConfigurationError: a key is missing, or a text does not open; finished rows stay.
            InvalidInputError: the user is not encrypted.
        """
        from pgrecall.encryption._async import users

        return await users.rotate_user(self, user, batch_size, progress)
