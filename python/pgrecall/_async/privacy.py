"""`AgentMemory.privacy`: data of a user are erased, exported, imported and verified."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pgrecall._async.core import LONG_TIMEOUT, AsyncCore
from pgrecall._sql import JSON, UNSET, Call, Unset, User
from pgrecall.errors import InvalidInputError, NotAllowedError
from pgrecall.rows import IntegrityFinding

__all__ = ["AsyncPrivacy"]


class AsyncPrivacy:
    """Everything of a user."""

    def __init__(self, core: AsyncCore) -> None:
        self._core = core

    async def forget_user(self, user: User) -> dict[str, Any]:
        """Delete everything of a user for good; return the receipt, to be kept elsewhere.

        It has the rows deleted by table (`counts`) and what SQL cannot reach (`not_reached`).
        """
        receipt: dict[str, Any] = await self._core.long_call(user, "forget_user")
        self._core.guard.forget(await self._core.user_id(user))
        return receipt

    async def forget_session(self, user: User, session_id: UUID) -> dict[str, int]:
        """Delete one conversation for good, and the memories that came from it alone.

        Returns:
            The rows deleted, by table.
        """
        done = await self._core.long_call(user, "forget_session", session_id=session_id)
        return dict(done["counts"])

    async def forget_memory(self, user: User, memory_id: UUID) -> dict[str, int]:
        """Delete one memory for good: every version, and what was made of it.

        `retract` ends it, and keeps it on record. The messages that it came from stay.

        Returns:
            The rows deleted, by table.
        """
        done = await self._core.long_call(user, "forget_memory", memory_id=memory_id)
        return dict(done["counts"])

    async def export_user(self, user: User, *, sealed: bool = False) -> dict[str, Any]:
        """Return everything of a user as one JSON document, as `import_user` takes it.

        Args:
            user: whose.
            sealed: leave the texts of a sealed user as they are, with the wrapped keys: so it is
                imported elsewhere, and no key is needed for it. Else they are readable, for the
                user to have; that is not imported.

        Raises:
            NotFoundError: nobody knows this user.
            ConfigurationError: a text does not open, or is a ciphertext of a user without keys.
        """
        user_id = await self._core.user_id(user)
        call = Call.of("export_user", user_id=user_id)
        _, rows = await self._core.history.transport.send(
            call, repeatable=False, timeout=LONG_TIMEOUT
        )
        document: dict[str, Any] = rows[0][0]
        if sealed:
            if self._core.guard.required:
                await self._core.guard.sealing(user_id)
            return document
        opened = await self._core.guard.opened(call, ["export_user"], rows, user_id)
        if not document["tables"].get("user_keys"):
            return document
        document = {**opened[0][0], "is_opened": True}
        del document["tables"]["user_keys"]
        return document

    async def import_user(
        self, document: JSON, *, allow_weaker: bool | Unset = UNSET
    ) -> dict[str, int]:
        """Take a document of `export_user`; return the rows inserted, by table.

        The user it was made of must have nothing here yet, or nothing but this.

        Args:
            document: what `export_user` has returned.
            allow_weaker: take over settings of the user that are weaker than those here, such as
                `secrets: keep`; by default such a document is refused.

        Raises:
            InvalidInputError: it is no such document, or weakens the settings here.
            NotAllowedError: the user has other data, or is sealed where the document is not; or
                this driver requires sealed users and the document has no keys.
        """
        if not document.get("user_id"):
            raise InvalidInputError(
                "the document names no user_id", hint="It is what export_user has returned."
            )
        if self._core.guard.required and not (document.get("tables") or {}).get("user_keys"):
            raise NotAllowedError(
                "the document is of a user without keys, and this driver requires sealed users",
                hint="Take export_user(…, sealed=True) of a sealed user.",
            )
        user_id = await self._core.user_id(str(document["user_id"]))
        counts: dict[str, int] = await self._core.long_call(
            user_id, "import_user", document=document, allow_weaker=allow_weaker
        )
        self._core.guard.forget(user_id)  # it may have come with the document
        return counts

    async def verify_integrity(
        self, user: User, *, head: JSON | None = None
    ) -> list[IntegrityFinding]:
        """Return what was changed in a user's audit or memories behind the functions' back.

        Args:
            user: whose.
            head: what `export_head` returned, kept outside of the database since. It shows what the
                chain alone cannot: that it was made anew, or cut off at its end.

        Raises:
            NotFoundError: nobody knows this user.
            InvalidInputError: `head` is none of this user.
        """
        return await self._core.read_memory(IntegrityFinding, user, "verify_integrity", head=head)

    async def export_head(self, user: User) -> dict[str, Any]:
        """Return number and hash of the last event of a user's audit, to be kept elsewhere."""
        call = Call.of("export_head", user_id=await self._core.user_id(user))
        return dict(await self._core.memory.value(call, repeatable=True))
