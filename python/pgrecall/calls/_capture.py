"""Capture a call of a model over HTTP, and make the entry of the call log from it."""

from __future__ import annotations

import base64
import bisect
import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import unquote_plus
from uuid import UUID

from pgrecall._json import dump, json_text
from pgrecall._logs import logger
from pgrecall._names import new_uuid
from pgrecall._process import Origin, lock
from pgrecall.calls._redaction import Redactor
from pgrecall.calls._replay import loaded, parsed, replayed

if TYPE_CHECKING:
    import httpx2

__all__ = [
    "Capture",
    "CapturedCall",
    "Level",
    "Recording",
    "Rules",
    "current_recording",
    "entry_of",
]  # fmt: skip

Level = Literal["off", "calls", "streams"]


_MAX_BODY = 16 * 1024 * 1024  # bytes of a body, unless the database has another limit
_SPARE = 32 * 1024  # bytes beyond the limit, so that a key at the end is masked whole
_ERROR_CHARS = 2000
_MODEL_CHARS = 200
_PROVIDERS = {"openai.com": "openai", "anthropic.com": "anthropic", "openai.azure.com": "azure",
              "googleapis.com": "google", "mistral.ai": "mistral", "groq.com": "groq",
              "openrouter.ai": "openrouter"}  # fmt: skip

_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")  # as JSON writes it

_recording: ContextVar[Recording | None] = ContextVar("pgrecall_recording", default=None)


def current_recording() -> Recording | None:
    """Return the recording that calls of models go to just now."""
    return _recording.get()


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedCall:
    """A call as it went over the wire, bodies uncompressed, nothing masked yet.

    Attributes:
        call_id: made when it began.
        method: of HTTP.
        url: whole.
        request_headers: whole.
        request_body: byte for byte.
        started_at: when it was sent.
        completed_at: when the last of the answer was there, or the failure.
        status_code: None without an answer.
        response_headers: whole.
        response_body: what there was of it, byte for byte; None without an answer.
        truncated: how many bytes a body had of which not all were noted, by name.
        arrivals: how many bytes of the answer were there when.
        error: what went wrong on the way.
    """

    call_id: UUID
    method: str
    url: str
    request_headers: Mapping[str, str]
    request_body: bytes
    started_at: datetime
    completed_at: datetime
    status_code: int | None = None
    response_headers: Mapping[str, str] = field(default_factory=dict)
    response_body: bytes | None = None
    truncated: Mapping[str, int] = field(default_factory=dict)
    arrivals: Sequence[tuple[int, datetime]] = ()
    error: str | None = None


class Recording:
    """Calls of models within its `with` block are recorded; made by `AgentMemory.calls.recording`.

    It holds for the block's thread or task, and for what they start by `asyncio.to_thread`.

    Attributes:
        call_ids: of the calls so far, in their order.
    """

    def __init__(
        self, take: Callable[[CapturedCall], object], *, max_body: int = _MAX_BODY
    ) -> None:
        self._take = take
        self._tokens: list[Token[Recording | None]] = []
        self.max_body = max_body
        self.call_ids: list[UUID] = []

    def __enter__(self) -> Self:
        self._tokens.append(_recording.set(self))
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _recording.reset(self._tokens.pop())

    def taken(self, call: CapturedCall) -> None:
        """Hand a call over; nothing of it may reach who made the call."""
        try:
            self._take(call)
        except Exception as error:
            logger.warning("a call of a model was not recorded: %r", error)


class Capture:
    """Notes one call while it runs."""

    def __init__(self, recording: Recording, request: httpx2.Request) -> None:
        self._recording = recording
        self._request = request
        self._body = b""
        self._call_id = new_uuid()
        self._started_at = datetime.now(UTC)
        self._response: httpx2.Response | None = None
        self._chunks: list[bytes] = []
        self._arrivals: list[tuple[int, datetime]] = []
        self._size = 0
        self._noted = 0
        self._lock = lock()
        self.origin = Origin("this call of a model", "The parent continues to read its answer.")
        self._is_done = False
        recording.call_ids.append(self._call_id)
        with contextlib.suppress(Exception):  # what is read only while it is sent is not noted
            self._body = request.content

    def answered(self, response: httpx2.Response) -> None:
        """Note the head of the answer."""
        self._response = response

    def received(self, chunk: bytes) -> None:
        """Note a piece of the answer's body."""
        self._size += len(chunk)
        self._arrivals.append((self._size, datetime.now(UTC)))
        if self._noted < self._recording.max_body + _SPARE:
            self._chunks.append(chunk)
            self._noted += len(chunk)

    def done(self, error: BaseException | None = None) -> None:
        """Hand the call over, once; what fails here does not fail the call."""
        with self._lock:
            if self._is_done or self.origin.is_elsewhere:
                return
            self._is_done = True
        try:
            self._recording.taken(self._call(error))
        except Exception as problem:
            logger.warning("a call of a model was not recorded: %r", problem)

    def _call(self, error: BaseException | None) -> CapturedCall:
        response = self._response
        limit = self._recording.max_body + _SPARE
        truncated = {}
        if len(self._body) > limit:
            truncated["request_body"] = len(self._body)
        if self._size > self._noted:
            truncated["response_body"] = self._size
        body, problem = None, None
        if response is not None:
            body, problem = _decoded(response, b"".join(self._chunks))
        is_encoded = response is not None and "content-encoding" in response.headers
        said = None if error is None else f"{type(error).__name__}: {error}".rstrip(": ")
        return CapturedCall(
            call_id=self._call_id,
            method=self._request.method,
            url=str(self._request.url),
            request_headers=dict(self._request.headers),
            request_body=self._body[:limit],
            started_at=self._started_at,
            completed_at=max(self._started_at, datetime.now(UTC)),
            status_code=None if response is None else response.status_code,
            response_headers={} if response is None else dict(response.headers),
            response_body=body,
            truncated=truncated,
            arrivals=() if is_encoded else tuple(self._arrivals),
            error=said or problem,
        )


def _decoded(response: httpx2.Response, body: bytes) -> tuple[bytes, str | None]:
    """Return an answer's body uncompressed, so that it can be looked through; or why it is not."""
    if "content-encoding" not in response.headers or not body:
        return body, None
    import httpx2

    headers = {"content-encoding": response.headers["content-encoding"]}
    try:
        return httpx2.Response(200, headers=headers, content=body).content, None
    except httpx2.DecodingError as error:
        return b"", f"the body is not what its content-encoding says: {error}"


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of `recall.get_ledger_rules` for the calls of a user.

    Attributes:
        level: how much is recorded of the driver's own calls.
        max_body: bytes that are kept of a body.
        is_sealed: whether the user's texts come encrypted only; then no body is kept.
        redactor: masks credentials.
    """

    level: Level
    max_body: int
    is_sealed: bool
    redactor: Redactor

    @classmethod
    def from_json(cls, rules: Mapping[str, Any]) -> Rules:
        """Read the answer of the function."""
        return cls(
            rules["ledger"],
            rules["max_body"],
            rules["is_sealed"],
            Redactor(rules["secrets"], rules["headers"]),
        )


def entry_of(
    call: CapturedCall, rules: Rules, level: Level, metadata: Mapping[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what `record_model_call` takes of a call, and its events; credentials are masked."""
    masked = rules.redactor
    truncated = dict(call.truncated)

    def kept(name: str, body: bytes | None) -> bytes | None:
        if body is None:
            return None
        body = masked.body(body)
        if len(body) > rules.max_body:
            truncated.setdefault(name, len(body))
        return body[: rules.max_body]

    request_body = kept("request_body", call.request_body)
    response_body = kept("response_body", call.response_body)
    request, response = _json(request_body), _json(response_body)
    content_type = call.response_headers.get("content-type", "")
    is_stream = content_type.startswith("text/event-stream")
    found = list(parsed(response_body)) if is_stream and response_body else []
    error = call.error
    if is_stream:
        replay = replayed(loaded(data) for _, _, data in found)
        response = None if replay.answer is None else dump(replay.answer)
        if error is None and replay.error is not None:
            error = _said(replay.error)
        elif error is None and not replay.is_complete:
            error = "the stream ended before its answer did"
    elif error is None:
        error = _problem(call.status_code, content_type, response_body, response)
    answered = response if isinstance(response, Mapping) else {}
    model = request.get("model") if isinstance(request, Mapping) else None
    url, _, query = call.url.partition("?")
    headers = call.response_headers
    request_id = headers.get("x-request-id") or headers.get("request-id")
    noted = json.loads(masked.body(json_text(dict(metadata)).encode()))
    entry = {
        "call_id": call.call_id,
        "model": masked.text(str(model or answered.get("model") or "unknown"))[:_MODEL_CHARS],
        "provider": _provider(url),
        "endpoint": _endpoint(url if rules.is_sealed or not query else call.url, masked),
        "usage": _storable(answered.get("usage")),
        "error": None if error is None else masked.text(error)[:_ERROR_CHARS],
        "request_id": None if request_id is None else masked.text(request_id),
        "status_code": call.status_code,
        "started_at": call.started_at,
        "completed_at": call.completed_at,
        "is_stream": is_stream,
        "metadata": {**noted, **({"truncated": truncated} if truncated else {})},
    }
    if not rules.is_sealed:
        entry |= {
            "request_body": request_body or None,
            "response_body": response_body,
            **({"response": _storable(response)} if is_stream else {}),
            "request_headers": masked.headers(call.request_headers),
            "response_headers": masked.headers(call.response_headers),
        }
    events = [_event(number, *one, call.arrivals) for number, one in enumerate(found)]
    return entry, events if level == "streams" and not rules.is_sealed else []


def _endpoint(url: str, masked: Redactor) -> str:
    """Return a URL masked; one that hides a credential behind percent signs is stored without."""
    plain = unquote_plus(url)
    shown = masked.text(plain)
    return masked.text(url) if shown == plain else shown


def _json(body: bytes | None) -> Any:
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):
        return None


def _event(
    number: int,
    end: int,
    name: str | None,
    data: bytes,
    arrivals: Sequence[tuple[int, datetime]],
) -> dict[str, Any]:
    """Return an event as `record_stream_events` takes it; a NUL stays only in bytes."""
    event: dict[str, Any] = {"index": number}
    place = bisect.bisect_left(arrivals, end, key=lambda arrival: arrival[0])
    if place < len(arrivals):
        event["occurred_at"] = arrivals[place][1].isoformat()
    payload = loaded(data)
    if not isinstance(payload, Mapping):
        return event | {"type": _storable(name or str(payload)[:_MODEL_CHARS])}
    event["type"] = _storable(str(payload.get("type") or payload.get("object") or name or "event"))
    if text := _text_delta(payload):
        event["text_delta"] = _storable(text)
    if _storable(payload) == payload:
        return event | {"payload": payload}
    body = base64.b64encode(data).decode()
    return event | {"binary_payload": body, "mime_type": "application/json"}


def _storable(value: Any) -> Any:
    """Return a value as jsonb can hold it: without NUL, nor half a surrogate pair."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return json.loads(_NUL.sub(r"\1\\ufffd", text)) if value is not None else None


def _text_delta(payload: Mapping[str, Any]) -> str | None:
    """Return the piece of the answer's text in an event."""
    if payload.get("type") == "response.output_text.delta":
        piece = payload.get("delta")
    else:
        choices = payload.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else {}
        piece = ((first.get("delta") or {}) if isinstance(first, Mapping) else {}).get("content")
    return piece if isinstance(piece, str) else None


def _problem(
    status: int | None, content_type: str, body: bytes | None, response: Any
) -> str | None:
    """Return what is wrong with an answer that came."""
    if status is not None and status >= 400:
        error = response.get("error") if isinstance(response, Mapping) else None
        return f"HTTP {status}: {_said(error)}" if error else f"HTTP {status}"
    if "json" in content_type and response is None:
        return "the answer is no JSON" if body else "the answer is empty"
    return None


def _said(error: Any) -> str:
    message = error.get("message") if isinstance(error, Mapping) else None
    return str(message or error)


def _provider(url: str) -> str:
    """Return who is asked: a known name, else the host."""
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]
    for suffix, name in _PROVIDERS.items():
        if host == suffix or host.endswith(f".{suffix}"):
            return name
    return host
