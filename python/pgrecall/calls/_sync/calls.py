# Made from _async/calls.py by `make generate`; change that file, not this.
"""`AgentMemory.calls`: the call log, recorded and read."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pgrecall._sql import JSON, UNSET, Unset, User
from pgrecall._sync.core import Core
from pgrecall.calls._capture import Level, Recording
from pgrecall.calls._rows import ModelCall, ProtocolEvent, StreamEvent

__all__ = ["Calls"]


class Calls:
    """Calls of models, the events of their streams, and traffic with tools."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def recording(
        self,
        user: User,
        *,
        session_id: UUID | None = None,
        level: Level = "streams",
        metadata: JSON | None = None,
    ) -> Recording:
        """Record the calls of models in a `with` block, made over a client of `pgrecall.calls`.

        Recording runs in the background: it neither delays a call nor makes it fail. A call that
        cannot be recorded is logged, and counted by `unrecorded`. The user must exist, and be
        committed. For an encrypted user only numbers and times are recorded.

        Args:
            user: whose calls they are.
            session_id: the session that they belong to.
            level: `streams` keeps the events of streams one by one, too; `calls` only bodies, which
                is enough for `replay`; `off` records nothing.
            metadata: anything, kept with each call.

        Raises:
            ConfigurationError: there is only one connection of the caller.
        """
        return self._core.call_log.recording(user, session_id, None, level, metadata or {})

    @property
    def unrecorded(self) -> int:
        """How many calls of models should have been recorded by this object, and were not."""
        return self._core.call_log.lost

    def record(self, user: User, *, model: str, **fields: Any) -> UUID:
        """Record a call of a model by hand, and return its id.

        Args:
            user: the user of the call.
            model: which.
            fields: provider, endpoint, request_body and response_body (bytes, uncompressed), or
                request and response (JSON), usage, error, request_id, status_code, started_at,
                completed_at, is_stream, request_headers, response_headers, session_id, job_id,
                cost_microcents, metadata; call_id (a UUIDv7) makes it repeatable.

        Raises:
            NotFoundError: nobody knows this user.
            InvalidInputError: a field out of range.
        """
        found: UUID = self._core.change_value(user, "record_model_call", model=model, **fields)
        return found

    def record_stream_events(self, user: User, call_id: UUID, events: Sequence[JSON]) -> int:
        """Record the events of a streamed call, best all at once; return how many were new.

        Args:
            user: the user of the call.
            call_id: of the call.
            events: each with type, text_delta, payload, binary_payload (base64), mime_type,
                occurred_at, and index when it is not the place in the list.

        Raises:
            InvalidInputError: the message names the event and the field.
        """
        return int(
            self._core.change_value(
                user, "record_stream_events", call_id=call_id, events=list(events)
            )
        )

    def record_protocol_event(self, user: User, *, event_type: str, **fields: Any) -> UUID:
        """Record a message to or from a tool (a call, MCP, JSON-RPC), and return its id.

        Args:
            user: the user of the call.
            event_type: such as tool_call, tool_result, mcp or json_rpc.
            fields: direction, method, rpc_id, tool_name, tool_call_id, payload (JSON) or
                payload_body (bytes), session_id, call_id, metadata; event_id (a UUIDv7) makes it
                repeatable.
        """
        found: UUID = self._core.change_value(
            user, "record_protocol_event", event_type=event_type, **fields
        )
        return found

    def list(
        self,
        user: User,
        *,
        session_id: UUID | Unset = UNSET,
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
        include_bodies: bool | Unset = UNSET,
    ) -> builtins.list[ModelCall]:
        """Return calls of models, newest first; a page goes on before `before_id`.

        Waits until the calls of this object are recorded.

        Args:
            user: the user.
            session_id: only of this session.
            limit: how many at most.
            before_id: the last call of the page before.
            include_bodies: False leaves requests and responses out.
        """
        self._core.background.drain()
        return self._core.read_history(
            ModelCall,
            user,
            "list_model_calls",
            session_id=session_id,
            limit=limit,
            before_id=before_id,
            include_bodies=include_bodies,
        )

    def get(self, user: User, call_id: UUID) -> ModelCall | None:
        """Return a call with its bodies; None when the user has no such one."""
        self._core.background.drain()
        rows = self._core.read_history(ModelCall, user, "list_model_calls", call_id=call_id)
        return rows[0] if rows else None

    def stream_events(
        self,
        user: User,
        call_id: UUID,
        *,
        limit: int = 1_000_000,
        after_index: int | Unset = UNSET,
    ) -> builtins.list[StreamEvent]:
        """Return the events of a streamed call in order; a page goes on after `after_index`."""
        self._core.background.drain()
        return self._core.read_history(
            StreamEvent,
            user,
            "list_stream_events",
            call_id=call_id,
            limit=limit,
            after_index=after_index,
        )

    def protocol_events(
        self,
        user: User,
        *,
        session_id: UUID | Unset = UNSET,
        call_id: UUID | Unset = UNSET,
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
    ) -> builtins.list[ProtocolEvent]:
        """Return traffic with tools, newest first; a page goes on before `before_id`."""
        self._core.background.drain()
        return self._core.read_history(
            ProtocolEvent,
            user,
            "list_protocol_events",
            session_id=session_id,
            call_id=call_id,
            limit=limit,
            before_id=before_id,
        )
