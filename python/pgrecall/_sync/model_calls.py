# Made from _async/model_calls.py by `make generate`; change that file, not this.
"""The call log: calls of models, the events of their streams, and traffic with tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pgrecall._sql import UNSET, Unset
from pgrecall._sync.base import JSON, User
from pgrecall._sync.privacy import Privacy
from pgrecall.rows import ModelCall, ProtocolEvent, StreamEvent

if TYPE_CHECKING:
    from pgrecall.calls._capture import Level, Recording

__all__ = ["ModelCalls"]


class ModelCalls(Privacy):
    """The methods that record calls of models, and list them."""

    def recording(
        self,
        user: User,
        *,
        session_id: UUID | None = None,
        level: Level = "streams",
        metadata: JSON | None = None,
    ) -> Recording:
        """Record the calls of models in a `with` block, made over a client of `pgrecall.calls`.

        It is done in the background: a call is neither held up nor failed by it. What could not be
        recorded is logged, and counted by `unrecorded_calls`. The user must be known already, and
        committed. Of a sealed user only numbers and times are kept.

        Args:
            user: for whom they are.
            session_id: the session that they belong to.
            level: `streams` keeps the events of streams one by one, too; `calls` only bodies, which
                is enough for `replay`; `off` is as good as no block.
            metadata: anything, kept with each call.

        Raises:
            ConfigurationError: there is only one connection of the caller.
        """
        return self._call_log.recording(user, session_id, None, level, metadata or {})

    @property
    def unrecorded_calls(self) -> int:
        """How many calls of models should have been recorded by this object, and were not."""
        return self._call_log.lost

    def record_model_call(self, user: User, *, model: str, **fields: Any) -> UUID:
        """Record a call of a model by hand, and return its id.

        Args:
            user: for whom it was.
            model: which.
            fields: provider, endpoint, request_body and response_body (bytes, uncompressed), or
                request and response (JSON), usage, error, request_id, status_code, started_at,
                completed_at, is_stream, request_headers, response_headers, session_id, job_id,
                cost_microcents, metadata; call_id (a UUIDv7) makes it repeatable.

        Raises:
            NotFoundError: nobody knows this user.
            InvalidInputError: a field out of range.
        """
        found: UUID = self._change_value(user, "record_model_call", model=model, **fields)
        return found

    def record_stream_events(self, user: User, call_id: UUID, events: Sequence[JSON]) -> int:
        """Record the events of a streamed call, best all at once; return how many were new.

        Args:
            user: for whom it was.
            call_id: of the call.
            events: each with type, text_delta, payload, binary_payload (base64), mime_type,
                occurred_at, and index when it is not the place in the list.

        Raises:
            InvalidInputError: the message names the event and the field.
        """
        return int(
            self._change_value(user, "record_stream_events", call_id=call_id, events=list(events))
        )

    def record_protocol_event(self, user: User, *, event_type: str, **fields: Any) -> UUID:
        """Record a message to or from a tool (a call, MCP, JSON-RPC), and return its id.

        Args:
            user: for whom it was.
            event_type: such as tool_call, tool_result, mcp or json_rpc.
            fields: direction, method, rpc_id, tool_name, tool_call_id, payload (JSON) or
                payload_body (bytes), session_id, call_id, metadata; event_id (a UUIDv7) makes it
                repeatable.
        """
        found: UUID = self._change_value(
            user, "record_protocol_event", event_type=event_type, **fields
        )
        return found

    def model_calls(
        self,
        user: User,
        *,
        session_id: UUID | Unset = UNSET,
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
        include_bodies: bool | Unset = UNSET,
    ) -> list[ModelCall]:
        """Return calls of models, newest first; a page goes on before `before_id`.

        What this object still records is waited for.

        Args:
            user: whose.
            session_id: only of this session.
            limit: how many at most.
            before_id: the last call of the page before.
            include_bodies: False leaves requests and responses out.
        """
        self._background.drain()
        return self._read_history(
            ModelCall,
            user,
            "list_model_calls",
            session_id=session_id,
            limit=limit,
            before_id=before_id,
            include_bodies=include_bodies,
        )

    def get_model_call(self, user: User, call_id: UUID) -> ModelCall | None:
        """Return a call with its bodies; None when the user has no such one."""
        self._background.drain()
        rows = self._read_history(ModelCall, user, "list_model_calls", call_id=call_id)
        return rows[0] if rows else None

    def stream_events(
        self,
        user: User,
        call_id: UUID,
        *,
        limit: int = 1_000_000,
        after_index: int | Unset = UNSET,
    ) -> list[StreamEvent]:
        """Return the events of a streamed call in order; a page goes on after `after_index`."""
        self._background.drain()
        return self._read_history(
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
    ) -> list[ProtocolEvent]:
        """Return traffic with tools, newest first; a page goes on before `before_id`."""
        self._background.drain()
        return self._read_history(
            ProtocolEvent,
            user,
            "list_protocol_events",
            session_id=session_id,
            call_id=call_id,
            limit=limit,
            before_id=before_id,
        )
