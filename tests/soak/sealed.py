"""An actor whose user is encrypted by the driver: no text of it may ever be readable."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg_pool import PoolTimeout

from pgrecall import AgentMemory, ChatSession, Limits
from pgrecall.errors import InterruptedCallError, PgRecallError
from soak.actors import Actor, Lost
from support.sealed import KEYS


@dataclass
class SealedActor(Actor):
    """Uses the driver, which encrypts; the user returns as a new one after each erasure."""

    def begin(self) -> None:
        super().begin()
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # servers come and go
        self.memory: AgentMemory | None = None
        self.place = ""
        self.chats: dict[uuid.UUID, list[str]] = {}

    def run(self) -> None:
        super().run()
        if self.memory is not None:
            self.memory.close()

    def driver(self) -> AgentMemory:
        place = self.dsn()
        if self.memory is None or place != self.place:
            if self.memory is not None:
                self.memory.close()
            self.place = place
            self.memory = AgentMemory.connect(
                place, embedder=False, wrapping_keys=KEYS, sealed="require",
                limits=Limits(statement_timeout=30, max_connections=2))  # fmt: skip
        return self.memory

    def drive(self, op: str, work: Callable[[AgentMemory], Any], **facts: Any) -> Any:
        """Do what the driver does, noted like any other request."""
        number = self.ledger.sent(op, db=self.database, user=self.user, **facts)
        try:
            result = work(self.driver())
        except (InterruptedCallError, PoolTimeout, psycopg.OperationalError) as error:
            self.ledger.ended(number, "lost", code=getattr(error, "sqlstate", None))
            time.sleep(0.5)
            raise Lost from error
        except (PgRecallError, psycopg.Error) as error:
            if error.sqlstate != "RC007":  # not encrypted again since the erasure
                self.failed(op, error)
            self.ledger.ended(number, "failed", code=error.sqlstate)
            return None
        self.ledger.ended(number, "ok")
        return result

    def choices(self) -> dict[str, float]:
        return {"open": 3, "say": 20, "remember": 8, "messages": 8, "search": 8, "context": 4,
                "work": 3, "forget_session": 0.5, "forget_user": 0.3}  # fmt: skip

    def chat(self, memory: AgentMemory, session: uuid.UUID) -> ChatSession:
        return memory.session(user=self.uid, model="gpt-4o-mini", session_id=session)

    def one(self) -> uuid.UUID | None:
        return self.chance.choice(list(self.chats)) if self.chats else None

    def open(self) -> None:
        session = uuid.uuid4()

        def work(memory: AgentMemory) -> bool:
            memory.encryption.seal_user(self.uid)
            memory.session(user=self.uid, model="gpt-4o-mini", session_id=session).open()
            return True

        if self.drive("sealed_open", work):
            self.chats[session] = []

    def say(self, *, tools: bool = False) -> None:  # noqa: ARG002
        session = self.one()
        if session is None:
            self.open()
            return
        mark, request = self.token(), uuid.uuid4()
        while True:
            try:
                made = self.drive("sealed_append", lambda memory: self.chat(memory, session).append(
                    user=f"{mark} is a secret of mine", reply="I see.", request_id=request),
                    session=str(session), sealed=[mark])  # fmt: skip
                break
            except Lost:
                if (self.folder / "stop").exists():
                    raise
        if made is None:
            del self.chats[session]  # erased by a request without an answer
        else:
            self.chats[session].append(mark)

    def remember(self, **_: Any) -> None:
        mark = self.token()
        self.drive("sealed_remember", lambda memory: memory.remember(
            self.uid, f"{mark} is what I like most"), sealed_memory=[mark])  # fmt: skip

    def messages(self) -> None:
        session = self.one()
        if session is None:
            return
        found = self.drive("sealed_messages", lambda memory: [
            (one.content or "").split()[0] for one in self.chat(memory, session).messages(
                limit=1000) if one.role == "user"])  # fmt: skip
        if found is not None and sorted(found) != sorted(self.chats[session]):
            self.ledger.violation(f"encrypted messages of {session}: {len(found)} of "
                                  f"{len(self.chats[session])}")  # fmt: skip

    def search(self) -> None:
        found = self.drive("sealed_search", lambda memory: [
            hit.content for hit in memory.search(self.uid, "what I like")])  # fmt: skip
        self.shown("sealed_search", found)

    def context(self) -> None:
        session = self.one()
        if session is not None:
            found = self.drive("sealed_context", lambda memory: self.chat(
                memory, session).context("what do I like?"))  # fmt: skip
            self.shown("sealed_context", found)

    def work(self) -> None:
        session, mark = self.one(), self.token()
        if session is not None:
            self.drive("sealed_working", lambda memory: self.chat(memory, session).put_working(
                "task", "key", {"note": mark}) or True, sealed_memory=[mark])  # fmt: skip

    def forget_session(self) -> None:
        session = self.one()
        if session is None:
            return
        del_ok = self.drive("sealed_forget_session", lambda memory: memory.privacy.forget_session(
            self.uid, session))  # fmt: skip
        if del_ok is not None:
            self.gone(set(self.chats.pop(session)))

    def forget_user(self) -> bool:
        made = self.drive("forget_user", lambda memory: memory.privacy.forget_user(self.uid),
                          erased_user=True)  # fmt: skip
        self.chats = {}
        return bool(made)
