"""Keep ciphertexts out of calls and answers, and load the encryption when a call needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from pgrecall._ciphertext import has_sealed, refuse_ciphertext
from pgrecall._process import lock
from pgrecall._sql import Call

if TYPE_CHECKING:
    from pgrecall._async.transport import AsyncTransport
    from pgrecall.encryption import WrappingKeys
    from pgrecall.encryption._async.sealer import AsyncSealer
    from pgrecall.encryption._sealed import Sealing

__all__ = ["AsyncGuard"]

_MAKING = lock()  # threads share one sealer, which keeps the keys


class AsyncGuard:
    """Stand between the methods and the database.

    Without key encryption keys, a call must hold no ciphertext, and an answer is passed on
    unchanged. With them, or when an answer holds a ciphertext, `pgrecall.encryption` decides.

    Args:
        transport: leads to the wrapped keys.
        wrapping: unwraps them; None for a driver that cannot read encrypted users.
        required: "require" refuses every user without data keys.

    Raises:
        ConfigurationError: `required` is not "require", a key encryption key is missing, or the
            package cryptography is not installed.
    """

    def __init__(
        self,
        transport: AsyncTransport,
        wrapping: WrappingKeys | None,
        required: Literal["require"] | None,
    ) -> None:
        self._transport = transport
        self._sealer: AsyncSealer | None = None
        self.wrapping = wrapping
        self.required = required
        if wrapping is not None or required is not None:
            self.sealer()

    def sealer(self) -> AsyncSealer:
        """Return what encrypts and decrypts; made once."""
        with _MAKING:
            if self._sealer is None:
                from pgrecall.encryption._async.sealer import AsyncSealer

                self._sealer = AsyncSealer(self._transport, self.wrapping, self.required)
            return self._sealer

    def beside(self, transport: AsyncTransport) -> AsyncGuard:
        """Return a guard that asks over another transport, as a transaction needs."""
        return AsyncGuard(transport, self.wrapping, self.required)

    async def sealing(self, user_id: UUID) -> Sealing | None:
        """Return how a user is encrypted, None for a user who is not."""
        return await self.sealer().sealing(user_id)

    def forget(self, user_id: UUID) -> bool:
        """Ask for the user's keys again at the next call; return whether any were known."""
        return self._sealer is not None and self._sealer.forget(user_id)

    async def sealed(self, call: Call, user_id: UUID) -> Call:
        """Return the call as it may be sent.

        Raises:
            InvalidInputError: it holds a ciphertext, and the user is not encrypted.
        """
        if self.wrapping is not None:
            return await self.sealer().sealed(call, user_id)
        if call.function != "import_user":  # the database checks the texts of a document
            refuse_ciphertext(call)
        return call

    async def opened(
        self, call: Call, columns: Sequence[str], rows: list[tuple[Any, ...]], user_id: UUID
    ) -> list[tuple[Any, ...]]:
        """Return the rows of an answer with their texts readable.

        Raises:
            ConfigurationError: a text does not open, or is a ciphertext of a user without keys.
        """
        if self.wrapping is None and not has_sealed(rows):
            return rows
        return await self.sealer().opened(call, columns, rows, user_id)
