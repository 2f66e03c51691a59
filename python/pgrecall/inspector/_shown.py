"""Values as a page shows them, and as JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from markupsafe import Markup, escape
from starlette.responses import Response

from pgrecall._plain import HIDDEN, escaped, escaped_json
from pgrecall.rows import as_json

__all__ = [
    "cost",
    "duration",
    "hides",
    "inert",
    "json_response",
    "json_text",
    "moment",
    "origin",
    "plain_json",
    "pretty",
    "visible",
]


_ORIGINS = {
    "conversation": "extracted from a conversation by a model or an application",
    "manual": "stated through remember, an edit or a settled dispute",
    "inference": "inferred by a model or an application",
    "tool": "taken from the output of a tool",
    "consolidation": "made of other memories by a model",
    "import": "imported",
}


def visible(text: object) -> Markup:
    """Return a text as HTML in which nothing acts: characters that hide or reorder are named.

    The element isolates its direction, so that a text from right to left leaves its neighbors
    alone.
    """
    if text is None:
        return Markup("")
    parts, at = [], 0
    value = str(text)
    for found in HIDDEN.finditer(value):
        parts += [escape(value[at : found.start()]), _named(found[0])]
        at = found.end()
    parts.append(escape(value[at:]))
    return Markup('<bdi class="text">{}</bdi>').format(Markup("").join(parts))


def hides(text: object) -> bool:
    """Return whether a text has characters that hide or reorder it."""
    return HIDDEN.search(str(text)) is not None


def inert(value: object) -> object:
    """Escape the hidden characters of a text that a template prints without a filter."""
    return escaped(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def json_text(value: object) -> str:
    """Return a value as JSON in which hidden characters are escaped."""
    return escaped_json(json.dumps(plain_json(value), ensure_ascii=False, allow_nan=False))


def json_response(value: object, status: int = 200) -> Response:
    """Return a value as a JSON document in which hidden characters are escaped."""
    return Response(json_text(value), status, media_type="application/json")


def _named(character: str) -> Markup:
    return Markup('<span class="hidden-character">U+{:04X}</span>').format(ord(character))


def moment(value: datetime | None) -> Markup:
    """Return a time to the second, in UTC as the server stores it."""
    if value is None:
        return Markup("–")
    return Markup('<time datetime="{}">{:%Y-%m-%d %H:%M:%S}</time>').format(
        value.isoformat(), value
    )


def origin(memory: Mapping[str, Any]) -> str:
    """Say how a memory came to be stored; nothing more is known of who stated it."""
    source = str(memory["source"])
    if source == "conversation" and (memory.get("metadata") or {}).get("verbatim") is True:
        return "copied from a message, word for word"
    return _ORIGINS.get(source, source)


def cost(microcents: int | None) -> str:
    """Return micro-cents as dollars."""
    if microcents is None:
        return "unknown"
    dollars = microcents / 1e8
    return f"${dollars:,.2f}" if dollars >= 1 or not dollars else f"${dollars:.6f}"


def duration(milliseconds: float | None) -> str:
    """Return milliseconds in a readable unit."""
    if milliseconds is None:
        return "–"
    return f"{milliseconds / 1000:,.1f} s" if milliseconds >= 1000 else f"{milliseconds:,.0f} ms"


def pretty(value: object) -> str:
    """Return a value as indented JSON."""
    return json.dumps(plain_json(value), ensure_ascii=False, indent=2)


def plain_json(value: Any) -> Any:
    """Return a value as JSON has it: ids, times and intervals are texts, bytes are base64."""
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain_json(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return plain_json(as_json(value))
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (bytes, memoryview)):
        return base64.b64encode(value).decode()
    if isinstance(value, UUID):
        return str(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    return str(value)
