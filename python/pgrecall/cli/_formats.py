"""Files of messages in the formats that `pgrecall import` knows, as one stream of lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import click

__all__ = ["FORMATS", "ImportFailed", "Line", "Lines", "MessageFile", "read_time", "shown"]

JSON = dict[str, Any]

FORMATS = (
    'JSON lines of messages: {"user": …, "session": …, "role": …, "content": …}',
    'a JSON list or JSON lines of OpenAI messages: {"role": …, "content": …}',
    "conversations.json of a ChatGPT export",
)
_BLANK = re.compile(r"[ \t\r\n]*")
_MESSAGE_KEYS = {"user", "session", "role", "content"}


class ImportFailed(click.ClickException):
    """A row that is refused; the message begins with `file:line`."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a file.

    Attributes:
        place: its line number, and what else tells where it stands.
        data: its fields.
        chars: its length.
        title: of the conversation that it belongs to, when the file names it.
    """

    place: str
    data: JSON
    chars: int
    title: str | None = None


class Lines:
    """The objects of a file of JSON lines, each with its line number.

    Args:
        path: the file; `-` is standard input.
        advance: called with the number of bytes read.
    """

    def __init__(self, path: Path, advance: Callable[[int], object] | None = None) -> None:
        self.path = path
        self._advance = advance

    def __iter__(self) -> Iterator[Line]:
        for number, text in self._texts():
            yield Line(str(number), self._object(number, self._parsed(number, text)), len(text))

    def failed(self, place: int | str, why: str) -> ImportFailed:
        """Return the error of a row."""
        return ImportFailed(f"{self.path}:{place}: {why}")

    def text(self, line: Line, key: str) -> str:
        """Return a field that must be a text and not empty."""
        value = line.data.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.failed(line.place, f"{key} is {shown(line.data, key)}")
        return value

    def _texts(self) -> Iterator[tuple[int, str]]:
        """Yield the lines that are not blank."""
        with click.open_file(str(self.path), "rb") as file:
            for number, raw in enumerate(file, start=1):
                try:
                    text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                except UnicodeDecodeError as error:
                    raise self.failed(number, f"not UTF-8 at byte {error.start}") from None
                if text:
                    yield number, text
                if self._advance is not None:
                    self._advance(len(raw))

    def _parsed(self, number: int, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.failed(number, f"not JSON: {error}") from None

    def _object(self, number: int, value: Any) -> JSON:
        if not isinstance(value, dict):
            raise self.failed(number, "not a JSON object")
        return value


class MessageFile(Lines):
    """The messages of a file in any format of `FORMATS`, which its beginning tells.

    Each has `user` and `session`, which a file of other programs does not name.

    Args:
        path: the file; `-` is standard input.
        user: whose messages they are, where the file does not say.
        session: which session they belong to, where the file does not say; None is the file's name.
        advance: called with the number of bytes read.

    Attributes:
        left_out: messages of a ChatGPT export that are hidden, of a tool, or without text.
    """

    def __init__(
        self,
        path: Path,
        *,
        user: str | None = None,
        session: str | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> None:
        super().__init__(path, advance)
        self._user = user
        self._session = session
        self.left_out = 0

    def __iter__(self) -> Iterator[Line]:
        """Yield the messages.

        Raises:
            ImportFailed: a row is refused, or the format is unknown.
            click.UsageError: the options do not fit the format.
        """
        read: Callable[[int, JSON, int], Iterator[Line]] | None = None
        for number, value, chars in self._values():
            if read is None:
                read = self._reader_of(number, value)
            yield from read(number, self._object(number, value), chars)

    def _values(self) -> Iterator[tuple[int, Any, int]]:
        """Yield the values of JSON lines, of a list, or the only one, with line and length."""
        texts = self._texts()
        first = next(texts, None)
        if first is None:
            return
        number, text = first
        if not text.startswith(("{", "[")):
            raise self._unknown(number)
        if text.startswith("{") and _is_json(text):
            for line in chain([first], texts):
                yield line[0], self._parsed(*line), len(line[1])
            return
        yield from self._document(chain([first], texts))

    def _document(self, texts: Iterator[tuple[int, str]]) -> Iterator[tuple[int, Any, int]]:
        """Yield the elements of a file that is one list, or its only object."""
        numbers, lines = zip(*texts, strict=True)
        text = "\n".join(lines)
        if text.startswith("{"):
            try:
                value = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise self._no_json(numbers, error) from None
            yield numbers[0], value, len(text)
            return
        decoder, at, row, start = json.JSONDecoder(), _after_blank(text, 1), 0, 0
        if text[at : at + 1] == "]":
            return
        while True:
            row += text.count("\n", start, at)
            start = at
            try:
                value, at = decoder.raw_decode(text, at)
                at = _after_blank(text, at)
                if text[at : at + 1] not in ("]", ","):
                    raise json.JSONDecodeError("Expecting ',' or ']'", text, at)
            except (ValueError, RecursionError) as error:
                raise self._no_json(numbers, error) from None
            yield numbers[row], value, at - start
            if text[at] == "]":
                break
            at = _after_blank(text, at + 1)
        if (rest := _after_blank(text, at + 1)) < len(text):
            raise self._no_json(numbers, json.JSONDecodeError("Extra data", text, rest))

    def _no_json(self, numbers: tuple[int, ...], error: Exception) -> ImportFailed:
        row = error.lineno - 1 if isinstance(error, json.JSONDecodeError) else 0
        why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        return self.failed(numbers[min(row, len(numbers) - 1)], f"not JSON: {why}")

    def _reader_of(self, number: int, value: Any) -> Callable[[int, JSON, int], Iterator[Line]]:
        """Return what reads objects like the first one."""
        if not isinstance(value, dict):
            raise self._unknown(number)
        if isinstance(value.get("mapping"), dict):
            if self._session is not None:
                raise click.UsageError(f"{self.path} names its sessions: leave --session out")
            self._needs_user("conversations of ChatGPT")
            return self._conversation
        if not _MESSAGE_KEYS & value.keys():
            raise self._unknown(number)
        if not {"user", "session"} & value.keys():
            self._needs_user("messages without a user")
        return self._message

    def _needs_user(self, what: str) -> None:
        if self._user is None:
            raise click.UsageError(f"{self.path} holds {what}: say whose they are with --user")

    def _unknown(self, number: int) -> ImportFailed:
        known = "\n".join(f"- {known}" for known in FORMATS)
        return self.failed(number, f"unknown format; known are:\n{known}")

    def _message(self, number: int, value: JSON, chars: int) -> Iterator[Line]:
        """Yield a message of JSON lines or of a list."""
        data = {**value}
        if self._user is not None and data.setdefault("user", self._user) != self._user:
            raise self.failed(number, f"user is {shown(data, 'user')}, and --user is another")
        if data.get("session") is None and (self._session or "user" not in value):
            data["session"] = self._session or self.path.stem
        yield Line(str(number), data, chars)

    def _conversation(self, number: int, value: JSON, chars: int) -> Iterator[Line]:  # noqa: ARG002
        """Yield the visible messages of a conversation of ChatGPT: those of its current branch."""
        title = value.get("title")
        title = title if isinstance(title, str) and title.strip() else None
        name = value.get("conversation_id") or value.get("id")
        if not isinstance(name, str):
            raise self.failed(number, f"conversation_id is {shown(value, 'conversation_id')}")
        place = f"{number}: conversation {name}"
        created_at = value.get("create_time")
        for message in self._branch(place, value):
            content = _visible_text(message)
            if content is None:
                self.left_out += 1
                continue
            created_at = message.get("create_time") or created_at
            slug = _object_in(message, "metadata").get("model_slug")
            data = {
                "user": self._user,
                "session": name,
                "role": message["author"]["role"],
                "content": content,
                "created_at": created_at,
                "model_id": slug if isinstance(slug, str) and slug else None,
                "metadata": {"chatgpt_message_id": message.get("id")},
            }
            yield Line(f"{place}, message {message.get('id')}", data, len(content), title)

    def _branch(self, place: str, value: JSON) -> list[JSON]:
        """Return the messages from the root to the current node."""
        nodes = _object_in(value, "mapping")
        key = value.get("current_node")
        if not isinstance(key, str):
            raise self.failed(place, f"current_node is {shown(value, 'current_node')}")
        branch: list[JSON] = []
        seen: set[str | None] = set()
        while key is not None:
            if not isinstance(nodes.get(key), dict):
                raise self.failed(place, f"node {key} is missing in mapping")
            if key in seen:
                raise self.failed(place, f"node {key} is its own ancestor")
            seen.add(key)
            if message := _object_in(nodes[key], "message"):
                branch.append(message)
            parent = nodes[key].get("parent")
            key = parent if isinstance(parent, str) else None
        return branch[::-1]


def shown(data: Mapping[str, Any], key: str) -> str:
    """Return a field as an error shows it."""
    if data.get(key) is None:
        return "missing"
    text = json.dumps(data[key], ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"


def read_time(value: str | float) -> datetime:
    """Return a time in ISO 8601, or in seconds since 1970; without a zone it is UTC.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, str):
        at = datetime.fromisoformat(value)
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, OSError) as error:
        raise ValueError(str(error)) from None


def _visible_text(message: JSON) -> str | None:
    """Return what user and assistant see of a message of ChatGPT; None when that is nothing."""
    role = _object_in(message, "author").get("role")
    is_hidden = _object_in(message, "metadata").get("is_visually_hidden_from_conversation")
    is_called = message.get("recipient") not in (None, "all")  # a call of a tool
    if role not in ("user", "assistant") or is_hidden or is_called or message.get("weight") == 0:
        return None
    content = _object_in(message, "content")
    if content.get("content_type") not in ("text", "multimodal_text", "code"):
        return None  # thoughts, custom instructions, errors
    parts = content.get("parts")
    texts = parts if isinstance(parts, list) else [content.get("text")]
    text = "\n".join(filter(None, map(_part_text, texts)))
    return text if text.strip() else None


def _part_text(part: Any) -> str | None:
    """Return the text of a part; an image leaves a mark, since its bytes are not in the file."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    if part.get("content_type") == "image_asset_pointer":
        return "[image]"
    text = part.get("text")
    return text if isinstance(text, str) else None


def _object_in(data: Mapping[str, Any], key: str) -> JSON:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _after_blank(text: str, at: int) -> int:
    """Return where the next character stands that is not blank."""
    found = _BLANK.match(text, at)
    assert found is not None  # noqa: S101
    return found.end()
