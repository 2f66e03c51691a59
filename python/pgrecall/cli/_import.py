"""Storing what a file holds as sessions and memories; a second run continues after the first."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from pgrecall import AgentMemory, ChatSession
from pgrecall._json import storable, storable_text
from pgrecall._sql import UNSET, Unset
from pgrecall.cli._formats import ImportFailed, Line, Lines, MessageFile, read_time, shown
from pgrecall.errors import InvalidInputError, PgRecallError
from pgrecall.rows import Message

__all__ = ["FactImporter", "ImportFailed", "Imported", "MessageImporter"]

_BATCH = 500  # messages or facts in one call
_BATCH_CHARS = 2_000_000  # and their length
_WAITING = 20_000  # lines held back in all
_WAITING_CHARS = 32_000_000
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_OURS = ("user", "session")
_ELEMENT = re.compile(r"(?:messages|candidates)\[(\d+)\]")

JSON = dict[str, Any]


@dataclass(slots=True)
class Imported:
    """Counts of one import.

    Attributes:
        messages: stored now.
        facts: outcomes (added, duplicate, …) of facts.
        skipped: lines that had been stored before.
        left_out: messages that were not imported: hidden, of a tool, without text.
        users: seen.
        sessions: seen.
    """

    messages: int = 0
    skipped: int = 0
    left_out: int = 0
    facts: Counter[str] = field(default_factory=Counter)
    users: set[str] = field(default_factory=set)
    sessions: set[tuple[str, str]] = field(default_factory=set)

    def as_json(self) -> JSON:
        """Return the counts."""
        return {
            "messages": self.messages,
            "skipped": self.skipped,
            "left_out": self.left_out,
            "facts": dict(sorted(self.facts.items())),
            "users": len(self.users),
            "sessions": len(self.sessions),
        }


class _Stored:
    """The messages of a session, each to be matched with one line at most.

    A line without a time matches a stored message whatever its time.
    """

    def __init__(self) -> None:
        self._times: dict[str, list[datetime]] = {}

    def add(self, message: Message) -> None:
        content = message.content if message.content_parts is None else message.content_parts
        key = _identity(message.role, content, message.name, message.tool_calls,
                        message.tool_call_id)  # fmt: skip
        self._times.setdefault(key, []).append(message.created_at)

    def take(self, message: JSON, at: datetime | None) -> bool:
        """Return whether the message is there, and count it as found."""
        key = _identity(
            message["role"],
            message.get("content"),
            message.get("name"),
            message.get("tool_calls"),
            message.get("tool_call_id"),
        )
        times = self._times.get(key, [])
        if not times or (at is not None and at not in times):
            return False
        times.remove(times[0] if at is None else at)
        return True


@dataclass(slots=True)
class _Conversation:
    """One session of the file: what is held back, and what is stored."""

    user: str
    name: str
    title: str
    latest: datetime | None = None
    waiting: list[tuple[str, JSON]] = field(default_factory=list)
    chars: int = 0
    first: int = 0  # place in the conversation of the first message held back
    seen: int = 0  # messages of it in the file so far
    chat: ChatSession | None = None
    stored: _Stored | None = None


class MessageImporter:
    """Imports messages of a file in any of the known formats.

    A message counts as stored already when content and time agree. So a file can be imported
    again after an interruption, or when it has grown. A refused line stops the import: nothing of
    its batch is written, and earlier batches stay.

    Args:
        memory: where to.
        path: the file; `-` is standard input.
        model: the chat model that new sessions are opened with.
        extraction: verbatim, llm or none for the sessions; None leaves it to the settings.
        user: whose messages they are, where the file does not say.
        session: which session they belong to, where the file does not say.
        advance: called with the number of bytes read.
    """

    def __init__(
        self,
        memory: AgentMemory,
        path: Path,
        *,
        model: str,
        extraction: str | None,
        user: str | None = None,
        session: str | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> None:
        self._memory = memory
        self._lines = MessageFile(path, user=user, session=session, advance=advance)
        self._model = model
        self._extraction = extraction
        self._conversations: dict[tuple[str, str], _Conversation] = {}
        self._waiting = 0
        self._waiting_chars = 0
        self.imported = Imported()

    def run(self) -> Imported:
        """Import the file.

        Raises:
            ImportFailed: a line is refused.
        """
        try:
            for line in self._lines:
                self._take(line)
            for conversation in list(self._conversations.values()):
                self._flush(conversation)
        except ImportFailed as failure:
            raise self._with_progress(failure) from failure.__cause__
        self.imported.left_out = self._lines.left_out
        return self.imported

    def _take(self, line: Line) -> None:
        user, name = self._lines.text(line, "user"), self._lines.text(line, "session")
        message, at = self._message(line)
        key = (user, name)
        if key not in self._conversations:
            self._conversations[key] = _Conversation(user, name, line.title or name)
            self.imported.users.add(user)
            self.imported.sessions.add(key)
        conversation = self._conversations[key]
        conversation.seen += 1
        if at is not None:  # a conversation's times do not go back
            at = conversation.latest = max(at, conversation.latest or at)
            message["created_at"] = at.isoformat()
        if self._is_stored(conversation, message, at, line.place):
            self.imported.skipped += 1
            return
        if not conversation.waiting:
            conversation.first = conversation.seen
        conversation.waiting.append((line.place, message))
        conversation.chars += line.chars
        self._waiting += 1
        self._waiting_chars += line.chars
        if len(conversation.waiting) >= _BATCH or conversation.chars >= _BATCH_CHARS:
            self._flush(conversation)
        elif self._waiting >= _WAITING or self._waiting_chars >= _WAITING_CHARS:
            self._flush(max(self._conversations.values(), key=lambda c: c.chars))

    def _message(self, line: Line) -> tuple[JSON, datetime | None]:
        """Return the message of a line, and its time."""
        message = {k: v for k, v in line.data.items() if k not in _OURS and v is not None}
        # as it is stored, so that a repetition is known
        message = storable(message, f"line {line.place}")
        failed = self._lines.failed
        if message.get("role") not in _ROLES:
            raise failed(line.place, f"role is {shown(message, 'role')}")
        for key, kinds, wanted in (
            ("content", (str, list), "a text or a list of parts"),
            ("name", (str,), "a text"),
            ("created_at", (str, int, float), "a text such as 2024-03-01T10:00:00Z"),
            ("metadata", (dict,), "an object"),
        ):
            if key in message and not isinstance(message[key], kinds):
                raise failed(line.place, f"{key} is {shown(message, key)}, not {wanted}")
        at = None
        if "created_at" in message:
            try:
                at = read_time(message["created_at"])
            except ValueError:
                why = f"created_at is {shown(message, 'created_at')}, no time in ISO 8601"
                raise failed(line.place, why) from None
        return message, at

    def _is_stored(
        self, conversation: _Conversation, message: JSON, at: datetime | None, place: str
    ) -> bool:
        if conversation.stored is None:
            try:
                self._open(conversation)
            except PgRecallError as error:
                raise self._lines.failed(place, str(error)) from error
        assert conversation.stored is not None  # noqa: S101
        return conversation.stored.take(message, at)

    def _open(self, conversation: _Conversation) -> None:
        """Open the session, and read what it holds."""
        metadata = {} if self._extraction is None else {"extraction": self._extraction}
        chat = self._memory.session(
            user=conversation.user,
            session_id=conversation.name,
            model=self._model,
            title=conversation.title,
            metadata=metadata,
        )
        found = chat.open()
        if self._extraction is not None and found.metadata.get("extraction") != self._extraction:
            chat.update(metadata=metadata)
        conversation.chat = chat
        conversation.stored = _Stored()
        before = found.turn_count + 1
        while before > 1:
            page = chat.messages(limit=_BATCH, before_turn=before)
            for message in page:
                conversation.stored.add(message)
            before = page[-1].turn_index if page else 0

    def _flush(self, conversation: _Conversation) -> None:
        waiting, conversation.waiting = conversation.waiting, []
        self._waiting -= len(waiting)
        self._waiting_chars -= conversation.chars
        conversation.chars = 0
        if not waiting:
            return
        chat = conversation.chat
        assert chat is not None  # noqa: S101
        messages = [message for _, message in waiting]
        text = json.dumps([conversation.first, messages], sort_keys=True)
        request_id = uuid5(chat.session_id, hashlib.sha256(text.encode()).hexdigest())
        try:
            appended = chat.append(messages, request_id=request_id)
        except PgRecallError as error:
            raise self._lines.failed(_refused_line(error, waiting), str(error)) from error
        if appended and appended[0].inserted:
            self.imported.messages += len(appended)
        else:
            self.imported.skipped += len(appended)

    def _with_progress(self, failure: ImportFailed) -> ImportFailed:
        done = self.imported.messages
        if not done:
            return failure
        return ImportFailed(
            f"{failure.message}\n{done:,} messages before it are stored; run it again to go on"
        )


class FactImporter:
    """Imports memories, one a line: user, content, and kind, slot, tags, … as they have them.

    A fact whose very text the user has, current or ended, is passed over: a second run changes
    nothing, also where a later fact of the file took an earlier one's slot.
    """

    def __init__(
        self,
        memory: AgentMemory,
        path: Path,
        *,
        advance: Callable[[int], object] | None = None,
    ) -> None:
        self._memory = memory
        self._lines = Lines(path, advance)
        self._waiting: dict[str, list[Line]] = {}
        self._known: dict[str, set[str]] = {}
        self.imported = Imported()

    def run(self) -> Imported:
        """Import the file.

        Raises:
            ImportFailed: a line is refused.
        """
        for line in self._lines:
            user = self._lines.text(line, "user")
            content = storable_text(self._lines.text(line, "content"))
            self.imported.users.add(user)
            if user not in self._known:
                self._known[user] = self._contents(user)
            if content in self._known[user]:
                self.imported.skipped += 1
                continue
            self._known[user].add(content)
            lines = self._waiting.setdefault(user, [])
            lines.append(line)
            if len(lines) >= _BATCH or sum(item.chars for item in lines) >= _BATCH_CHARS:
                self._flush(user)
            elif sum(map(len, self._waiting.values())) >= _WAITING:
                self._flush(max(self._waiting, key=lambda key: len(self._waiting[key])))
        for user in list(self._waiting):
            self._flush(user)
        return self.imported

    def _contents(self, user: str) -> set[str]:
        contents: set[str] = set()
        after: UUID | Unset = UNSET
        while True:
            page = self._memory.memories.list(
                user, filter={"include_ended": True}, limit=_BATCH, after_id=after
            )
            contents.update(memory.content for memory in page)
            if len(page) < _BATCH:
                return contents
            after = page[-1].memory_id

    def _flush(self, user: str) -> None:
        lines = self._waiting.pop(user)
        candidates = [
            {
                "source": "import",
                **{k: v for k, v in line.data.items() if k != "user" and v is not None},
            }
            for line in lines
        ]
        self._memory.users.ensure(user)
        try:
            for remembered in self._memory.memories.ingest(user, candidates):
                self.imported.facts[remembered.outcome] += 1
        except PgRecallError as error:
            refused = _refused_line(error, [(line.place, line.data) for line in lines])
            raise self._lines.failed(refused, str(error)) from error


def _identity(role: str, content: Any, name: Any, tool_calls: Any, tool_call_id: Any) -> str:
    """Return the same text for the same message, stored or read from a line."""
    return json.dumps([role, content or "", name, tool_calls or None, tool_call_id], sort_keys=True)


def _refused_line(error: PgRecallError, lines: Sequence[tuple[str, JSON]]) -> str:
    """Return the place of the line that an error is about, or those of the whole batch."""
    if isinstance(error, InvalidInputError):
        found = _ELEMENT.search(error.message)
        if found and int(found[1]) < len(lines):
            return lines[int(found[1])][0]
        if "created_at" in error.message:  # it names the latest time
            latest = max(lines, key=lambda line: str(line[1].get("created_at", "")))
            return latest[0]
    first, last = lines[0][0], lines[-1][0]
    return first if first == last else f"{first}-{last}"
