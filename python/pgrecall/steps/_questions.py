"""What a step asks: of the database about its job, and of a model with the conversation quoted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pgrecall import prompts
from pgrecall._plain import one_line, shortened

__all__ = ["LONGEST", "Question", "block", "clean", "line", "numbered", "prompt", "storable",
           "tags", "turns"]  # fmt: skip

LONGEST = {"user": 8000, "assistant": 1200, "tool": 500}  # characters shown of a message
_MAX_TAGS = 5
_TAGS = "conversation|summary|profile|candidates|memories|episodes|known"
_TAG = re.compile(rf"<(?=\s*/?\s*(?:{_TAGS})\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A function of the database that a step wants called for its job.

    Attributes:
        function: its name.
        arguments: beside user, job and lease token, without their `p_`.
    """

    function: str
    arguments: Mapping[str, Any]


def prompt(step: str, *parts: str) -> list[dict[str, str]]:
    """Return the messages of a step: its instructions, and the data of this job."""
    return [
        {"role": "system", "content": prompts.text(step)},
        {"role": "user", "content": "\n".join(part for part in parts if part)},
    ]


def block(tag: str, text: str) -> str:
    """Return a text between tags that it cannot close itself; nothing for an empty one."""
    return f"<{tag}>\n{_TAG.sub('‹', text)}\n</{tag}>" if text else ""


def turns(messages: Iterable[Mapping[str, Any]], *, longest: Mapping[str, int] = LONGEST) -> str:
    """Return messages as numbered lines; a line that a text brings along is indented."""
    return "\n".join(line(message, longest) for message in messages)


def line(message: Mapping[str, Any], longest: Mapping[str, int]) -> str:
    """Return a message as a numbered line, each part of it at most so many characters."""
    role = message["role"]
    limit = longest.get(role, 1200)
    speaker = f"{role} {one_line(message['name'])}" if message.get("name") else role
    text = shortened(str(message.get("text") or ""), limit).replace("\n", "\n  ")
    calls = "; ".join(_call(call, limit) for call in message.get("tool_calls") or ())
    if calls:
        text = f"{text} (calls {calls})".strip()
    return f"[{message['turn_index']}] {speaker}: {text}"


def _call(call: Mapping[str, Any], limit: int) -> str:
    function = call.get("function") or {}
    arguments = function.get("arguments") or ""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return f"{function.get('name', '?')} {one_line(shortened(arguments, limit))}"


def numbered(memories: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return memories as numbered lines, each with the day it was said."""
    return [
        f"{place}. {one_line(memory['content'])} ({memory['observed_at']})"
        for place, memory in enumerate(memories, start=1)
    ]


def tags(words: Iterable[str]) -> list[str]:
    """Return what a model gave as tags, each once, the first few."""
    found = (clean(word.lower(), 40) for word in words)
    return list(dict.fromkeys(word for word in found if word))[:_MAX_TAGS]


def clean(text: str, limit: int) -> str:
    """Return what a model wrote as one line that PostgreSQL can store."""
    return one_line(storable(text))[:limit].rstrip()


def storable(text: str) -> str:
    """Return a text without what PostgreSQL cannot store: NUL and halves of surrogate pairs."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode()


def said_by_user(messages: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the turns of the user."""
    return {message["turn_index"] for message in messages if message["role"] == "user"}
