# Made from _async/log.py by `make generate`; change that file, not this.
"""Mask captured calls of models and record them in the background."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pgrecall._logs import logger
from pgrecall._names import new_uuid
from pgrecall._process import lock, renewing
from pgrecall._runtime import SyncRuntime
from pgrecall._sql import UNSET, Call
from pgrecall.calls._capture import CapturedCall, Level, Recording, Rules, entry_of
from pgrecall.errors import ConfigurationError

if TYPE_CHECKING:
    from pgrecall._runtime import SyncBackground
    from pgrecall._sql import User
    from pgrecall._sync.database import Database
    from pgrecall._tools import AskedCall

__all__ = ["CallLog"]


_FRESH_SECONDS = 60.0  # of what is known of the settings
_MAX_USERS = 10_000
_MAX_WAITING_BYTES = 128 * 1024 * 1024  # of bodies that wait to be recorded
_MAX_EVENTS = 2000  # of a stream in one call; a secret in pieces is masked before
_SECONDS = 60.0  # of one call: nobody waits for it, and a body may be long


@dataclass(frozen=True, slots=True)
class _Known:
    rules: Rules
    until: float


class CallLog:
    """Records calls of models.

    Args:
        database: where they are written.
        background: sends them.
        user_id: returns the id of a user who is named.

    Attributes:
        lost: how many calls, of models or tools, could not be recorded.
    """

    def __init__(
        self, database: Database, background: SyncBackground, user_id: Callable[[User], Any]
    ) -> None:
        self._database = database
        self._background = background
        self._user_id = user_id
        self._known: dict[UUID, _Known] = {}
        self._lock = lock()
        self._waiting = 0
        self.lost = 0
        renewing(self)

    def _renew(self) -> None:
        """Leave what waits to the parent."""
        self._waiting = 0

    def of_own(
        self, user_id: UUID, *, session_id: UUID | None = None, job_id: UUID | None = None
    ) -> AbstractContextManager[Recording | None]:
        """Return the block within which the driver asks a model by itself.

        It records as `settings.ledger` says. When that cannot be found out, nothing is recorded,
        nor over one connection of the caller, whose transaction is not for the background.
        """
        if not self._database.transport.is_pooled:
            return nullcontext()
        try:
            rules = self.rules(user_id)
        except Exception as error:
            self.lost += 1
            logger.warning("a call of a model will not be recorded: %s", error)
            return nullcontext()
        if rules.level == "off":
            return nullcontext()
        return self.recording(user_id, session_id, job_id, rules.level, {}, rules.max_body)

    def recording(
        self,
        user: User,
        session_id: UUID | None,
        job_id: UUID | None,
        level: Level,
        metadata: Mapping[str, Any],
        max_body: int | None = None,
    ) -> Recording:
        """Return the block whose calls are recorded for a user."""
        if not self._database.transport.is_pooled:
            raise ConfigurationError(
                "calls cannot be recorded in the background over one connection",
                hint="Connect by a DSN or a pool; joining() then records over that.",
            )
        self._background.attach()

        def take(captured: CapturedCall) -> None:  # from whatever thread it was made in
            record = partial(self._record, user, session_id, job_id, level, metadata, captured)
            size = len(captured.request_body) + len(captured.response_body or b"")
            self._submit(record, size, "recording a call of a model")

        return Recording(take) if max_body is None else Recording(take, max_body=max_body)

    def rules(self, user_id: UUID) -> Rules:
        """Return what the database says of recording this user's calls."""
        known = self._known.get(user_id)
        if known is not None and time.monotonic() < known.until:
            return known.rules
        call = Call.of("get_ledger_rules", user_id=user_id)
        found = self._database.value(call, repeatable=True)
        rules = Rules.from_json(found)
        if len(self._known) >= _MAX_USERS:
            self._known.clear()
        self._known[user_id] = _Known(rules, time.monotonic() + _FRESH_SECONDS)
        return rules

    def forget(self) -> None:
        """Ask for the settings again."""
        self._known.clear()

    def note_tools(
        self,
        user_id: UUID,
        session_id: UUID,
        call_id: UUID | None,
        asked: Sequence[AskedCall],
        answers: Sequence[Mapping[str, Any]],
    ) -> None:
        """Record what tools were asked by a recorded call, and what they answered."""

        def record() -> None:
            rules = self.rules(user_id)
            if rules.level != "streams" or rules.is_sealed:
                return
            for call, answer in zip(asked, answers, strict=True):
                for direction, kind, text in (
                    ("request", "tool_call", call.arguments),
                    ("response", "tool_result", str(answer["content"])),
                ):
                    event = Call.of(
                        "record_protocol_event",
                        user_id=user_id,
                        event_id=new_uuid(),
                        event_type=kind,
                        direction=direction,
                        tool_name=rules.redactor.text(call.name),
                        tool_call_id=rules.redactor.text(call.id),
                        session_id=session_id,
                        call_id=call_id,
                        payload_body=rules.redactor.body(text.encode("utf-8", "replace")),
                    )
                    self._send(event)

        if call_id is not None:
            size = sum(len(call.arguments) for call in asked)
            self._submit(record, size, "recording calls of tools")

    def _submit(self, record: Callable[[], Any], size: int, what: str) -> None:
        """Do it in the background, unless too many bytes wait there already; count what is lost."""
        with self._lock:
            is_full = self._waiting > 0 and self._waiting + size > _MAX_WAITING_BYTES
            self._waiting += 0 if is_full else size

        def counted() -> None:
            try:
                record()
            except BaseException:
                self.lost += 1
                raise
            finally:
                with self._lock:
                    self._waiting -= size

        if is_full:
            self.lost += 1
            logger.warning("%s was dropped: too many bytes are waiting", what)
        elif not self._background.submit(counted, what):
            self.lost += 1
            with self._lock:
                self._waiting -= size

    def _record(
        self,
        user: User,
        session_id: UUID | None,
        job_id: UUID | None,
        level: Level,
        metadata: Mapping[str, Any],
        captured: CapturedCall,
    ) -> None:
        user_id = self._user_id(user)
        rules = self.rules(user_id)
        entry, events = SyncRuntime.in_thread(entry_of, captured, rules, level, metadata)
        entry |= {
            "session_id": UNSET if session_id is None else session_id,
            "job_id": UNSET if job_id is None else job_id,
        }
        call = Call.of("record_model_call", user_id=user_id, **entry)
        self._send(call)
        for start in range(0, len(events), _MAX_EVENTS):
            call = Call.of(
                "record_stream_events",
                user_id=user_id,
                call_id=captured.call_id,
                events=events[start : start + _MAX_EVENTS],
            )
            self._send(call)

    def _send(self, call: Call) -> None:
        """Send what may be sent again: each has an id."""
        self._database.value(call, repeatable=True, timeout=_SECONDS)
