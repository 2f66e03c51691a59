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
        """Erase all data of a user; return the receipt, for safekeeping elsewhere.

        It has the rows deleted by table (`counts`) and what SQL cannot reach (`not_reached`).
        """
        receipt: dict[str, Any] = await self._core.long_call(user, "forget_user")
        self._core.guard.forget(await self._core.user_id(user))
        return receipt

    async def forget_session(self, user: User, session_id: UUID) -> dict[str, int]:
        """Erase one conversation, and the memories that came from it alone.

        Returns:
            The rows deleted, by table.
        """
        done = await self._core.long_call(user, "forget_session", session_id=session_id)
        return dict(done["counts"])

    async def forget_memory(self, user: User, memory_id: UUID) -> dict[str, int]:
        """Erase one memory: every version, and all data derived from it.

        `retract` ends it, and keeps it in the history. The messages that it came from stay.

        Returns:
            The rows deleted, by table.
        """
        done = await self._core.long_call(user, "forget_memory", memory_id=memory_id)
        return dict(done["counts"])

    async def export_user(self, user: User, *, sealed: bool = False) -> dict[str, Any]:
        """Return all data of a user as one JSON document for `import_user`.

        Args:
            user: the user.
            sealed: export ciphertexts and wrapped keys of an encrypted user, for import elsewhere;
                no key is needed. Otherwise the texts are decrypted, for the user to read; such a
                document cannot be imported.

        Raises:
            NotFoundError: the user does not exist.
            ConfigurationError: a text cannot be decrypted, or the user has no keys.
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
        """Import a document of `export_user`; return the rows inserted, by table.

        The user must have no data in this database, except the data of this document.

        Args:
            document: what `export_user` has returned.
            allow_weaker: import settings that are weaker than those of this database, such as
                `secrets: keep`; by default such a document is refused.

        Raises:
            InvalidInputError: it is no such document, or weakens the settings here.
            NotAllowedError: the user has other data, or is encrypted and the document is not, or
                this driver requires encrypted users and the document has no keys.
        """
        try:
            user_id = UUID(str(document.get("user_id")))
        except ValueError:
            raise InvalidInputError(
                f"user_id of the document is {document.get('user_id')!r:.80}",
                hint="Pass a document of export_user.",
            ) from None
        if self._core.guard.required and not (document.get("tables") or {}).get("user_keys"):
            raise NotAllowedError(
                "the document is of a user without keys, and this driver requires encrypted users",
                hint="Import a document of export_user(…, sealed=True) of an encrypted user.",
            )
        counts: dict[str, int] = await self._core.long_call(
            user_id, "import_user", document=document, allow_weaker=allow_weaker
        )
        self._core.guard.forget(user_id)  # it may have come with the document
        return counts

    async def verify_integrity(
        self, user: User, *, head: JSON | None = None
    ) -> list[IntegrityFinding]:
        """Return changes of a user's audit or memories that the functions did not make.

        Args:
            user: the user.
            head: an answer of `export_head`, stored outside of the database since. Unlike the chain
                alone it shows that somebody rewrote the chain, or removed its last events.

        Raises:
            NotFoundError: the user does not exist.
            InvalidInputError: `head` is none of this user.
        """
        return await self._core.read_memory(IntegrityFinding, user, "verify_integrity", head=head)

    async def export_head(self, user: User) -> dict[str, Any]:
        """Return number and hash of the last event of a user's audit, for safekeeping elsewhere."""
        call = Call.of("export_head", user_id=await self._core.user_id(user))
        return dict(await self._core.memory.value(call, repeatable=True))
