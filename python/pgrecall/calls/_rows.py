"""Rows of `AgentMemory.calls`; `pgrecall.rows` has them, too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pgrecall._sql import JSON

__all__ = ["ModelCall", "ProtocolEvent", "StreamEvent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A call of a model in the call log: bodies byte for byte, credentials masked.

    `request` and `response` are for queries: JSON, of a stream what it came to. `latency_ms` is the
    time to the last of the answer. `metadata.truncated` has the length of a body that was cut.
    """

    call_id: UUID
    session_id: UUID | None = None
    job_id: UUID | None = None
    created_at: datetime
    provider: str | None = None
    endpoint: str | None = None
    model: str
    request: Any = None
    response: Any = None
    usage: Any = None
    error: str | None = None
    request_id: str | None = None
    status_code: int | None = None
    started_at: datetime
    completed_at: datetime | None = None
    latency_ms: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_microcents: int | None = None
    is_stream: bool = False
    request_body: bytes | None = None
    response_body: bytes | None = None
    request_headers: JSON
    response_headers: JSON
    metadata: JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEvent:
    """An event of a streamed call, from index 0; in bytes where JSON would lose something."""

    event_index: int
    event_type: str | None = None
    text_delta: str | None = None
    payload: Any = None
    binary_payload: bytes | None = None
    mime_type: str | None = None
    occurred_at: datetime | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolEvent:
    """A message to or from a tool; `payload_body` is it byte for byte, if it came so."""

    event_id: UUID
    session_id: UUID | None = None
    call_id: UUID | None = None
    created_at: datetime
    event_type: str
    direction: str | None = None
    method: str | None = None
    rpc_id: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    payload: Any = None
    payload_body: bytes | None = None
    metadata: JSON
