# Made from _async/privacy.py by `make generate`; change that file, not this.
"""`AgentMemory.privacy`: data of a user are erased, exported, imported and verified."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any
from uuid import UUID

from pgrecall._sql import JSON, UNSET, Call, Unset, User
from pgrecall._sync.core import LONG_TIMEOUT, Core
from pgrecall._sync.database import Database
from pgrecall._sync.guard import Guard
from pgrecall.errors import InvalidInputError, NotAllowedError
from pgrecall.rows import IntegrityFinding

__all__ = ["Privacy"]


class Privacy:
    """Everything of a user."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def forget_user(self, user: User) -> dict[str, Any]:
        """Erase all data of a user; return the receipt, for safekeeping elsewhere.

        It has the rows deleted by table (`counts`) and what SQL cannot reach (`not_reached`).
        """
        receipt: dict[str, Any] = self._core.long_call(user, "forget_user")
        self._core.guard.forget(self._core.user_id(user))
        return receipt

    def forget_session(self, user: User, session_id: UUID) -> dict[str, int]:
        """Erase one conversation, and the memories that came from it alone.

        Returns:
            The rows deleted, by table.
        """
        done = self._core.long_call(user, "forget_session", session_id=session_id)
        return dict(done["counts"])

    def forget_memory(self, user: User, memory_id: UUID) -> dict[str, int]:
        """Erase one memory: every version, and all data derived from it.

        `retract` ends it, and keeps it in the history. The messages that it came from stay.

        Returns:
            The rows deleted, by table.
        """
        done = self._core.long_call(user, "forget_memory", memory_id=memory_id)
        return dict(done["counts"])

    def export_user(self, user: User, *, sealed: bool = False) -> dict[str, Any]:
        """Return all data of a user as one JSON document for `import_user`.

        Args:
            user: the user.
            sealed: export ciphertexts and wrapped keys of an encrypted user, for import elsewhere;
                no key is needed. Otherwise the texts are decrypted, for the user to read; such a
                document cannot be imported.

        Raises:
            NotFoundError: the user does not exist.
            InvalidInputError: the user does not fit one document (256 MB).
            ConfigurationError: a text cannot be decrypted, or the user has no keys.
        """
        user_id = self._core.user_id(user)
        call = Call.of("export_user", user_id=user_id)
        _, rows = self._core.history.transport.send(call, repeatable=False, timeout=LONG_TIMEOUT)
        document: dict[str, Any] = rows[0][0]
        if sealed:
            _require_keys(self._core.guard, user_id)
            return document
        is_encrypted = bool(document["tables"].get("user_keys"))
        return _opened(self._core.guard, call, document, is_encrypted)

    def export_user_pieces(
        self, user: User, *, sealed: bool = False, piece_bytes: int | Unset | None = UNSET
    ) -> Generator[dict[str, Any], None]:
        """Yield all data of a user as documents of bounded size, for `import_user_pieces`.

        A user who fits one gets the document of `export_user`. The transaction stays open until
        the last one.

        Args:
            user: the user.
            sealed: as in `export_user`.
            piece_bytes: the most that a document holds, as jsonb in the database, unless one row is
                larger; 16 MiB by default, at most 128 MiB, None for one document.

        Raises:
            NotFoundError: the user does not exist.
            InvalidInputError: `piece_bytes` is out of range.
            ConfigurationError: a text cannot be decrypted, or the user has no keys.
        """
        user_id = self._core.user_id(user)
        call = Call.of("export_user_pieces", user_id=user_id, piece_bytes=piece_bytes)
        is_encrypted = False
        guard = self._core.guard
        if sealed:
            _require_keys(guard, user_id)
        else:
            self._core.sealing(user_id)  # now, since the rows occupy a connection
        for _, document in self._core.history.transport.stream(call, LONG_TIMEOUT):
            # the first one has the keys
            is_encrypted = is_encrypted or bool(document["tables"].get("user_keys"))
            yield document if sealed else _opened(guard, call, document, is_encrypted)

    def import_user(self, document: JSON, *, allow_weaker: bool | Unset = UNSET) -> dict[str, int]:
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
        return self._import(self._core.write, document, allow_weaker)

    def import_user_pieces(
        self, pieces: Iterable[JSON], *, allow_weaker: bool | Unset = UNSET
    ) -> dict[str, int]:
        """Import what `export_user_pieces` yields, in one transaction.

        Returns:
            The rows inserted, by table.

        Raises:
            InvalidInputError: there is no piece, one is missing, or as in `import_user`.
            NotAllowedError: as in `import_user`.
        """
        counts: dict[str, int] = {}
        with self._core.write.transport.transaction() as transport:
            database = Database(transport, self._core.guard.beside(transport))
            for piece in pieces:
                added = self._import(database, piece, allow_weaker)
                counts = {name: counts.get(name, 0) + number for name, number in added.items()}
        if not counts:
            raise InvalidInputError("there is no piece", hint="Pass all of export_user_pieces.")
        return counts

    def _import(
        self, database: Database, document: JSON, allow_weaker: bool | Unset
    ) -> dict[str, int]:
        try:
            user_id = UUID(str(document.get("user_id")))
        except ValueError:
            raise InvalidInputError(
                f"user_id of the document is {document.get('user_id')!r:.80}",
                hint="Pass a document of export_user.",
            ) from None
        is_first = document.get("version") != 2 or document.get("piece") == 1
        has_keys = bool((document.get("tables") or {}).get("user_keys"))
        if self._core.guard.required and is_first and not has_keys:
            raise NotAllowedError(
                "the document is of a user without keys, and this driver requires encrypted users",
                hint="Import a document of export_user(…, sealed=True) of an encrypted user.",
            )
        call = Call.of("import_user", user_id=user_id, document=document, allow_weaker=allow_weaker)
        counts: dict[str, int] = database.value(call, timeout=LONG_TIMEOUT)
        self._core.guard.forget(user_id)  # it may have come with the document
        return counts

    def verify_integrity(self, user: User, *, head: JSON | None = None) -> list[IntegrityFinding]:
        """Return changes of a user's audit or memories that the functions did not make.

        Args:
            user: the user.
            head: an answer of `export_head`, stored outside of the database since. Unlike the chain
                alone it shows that somebody rewrote the chain, or removed its last events.

        Raises:
            NotFoundError: the user does not exist.
            InvalidInputError: `head` is none of this user.
        """
        return self._core.read_memory(IntegrityFinding, user, "verify_integrity", head=head)

    def export_head(self, user: User) -> dict[str, Any]:
        """Return number and hash of the last event of a user's audit, for safekeeping elsewhere."""
        call = Call.of("export_head", user_id=self._core.user_id(user))
        return dict(self._core.memory.value(call, repeatable=True))


def _require_keys(guard: Guard, user_id: UUID) -> None:
    """Raise where a driver requires encrypted users, and this one is not."""
    if guard.required:
        guard.sealing(user_id)


def _opened(
    guard: Guard, call: Call, document: dict[str, Any], is_encrypted: bool
) -> dict[str, Any]:
    """Return a document with its texts readable, and of an encrypted user without the keys."""
    user_id = UUID(document["user_id"])
    opened = guard.opened(call, ["document"], [(document,)], user_id)
    if not is_encrypted:
        return document
    document = {**opened[0][0], "is_opened": True}
    document["tables"].pop("user_keys", None)
    return document
