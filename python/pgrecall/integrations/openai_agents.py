"""A session for the OpenAI Agents SDK.

::

    memory = AgentMemory.connect("postgresql://…")
    session = PgRecallSession("trip", memory, user="ada")
    result = await Runner.run(agent, "I fly to Lyon.", session=session)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from agents.memory.session import SessionABC
from agents.memory.session_settings import (
    SessionSettings,
    coerce_session_settings,
    resolve_session_limit,
)

from pgrecall import AgentMemory, ChatSession
from pgrecall._messages import content_text
from pgrecall._sql import UNSET, User
from pgrecall.integrations._appending import append_resuming, with_storable_text
from pgrecall.rows import Message

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

__all__ = ["PgRecallSession"]

Result = TypeVar("Result")

_PAGE = 500
_ROLES = ("user", "assistant", "system", "developer")
_TEXTS = ("input_text", "output_text", "text")
# The history of the SDK begins after the newest message that holds this item.
_START: dict[str, Any] = {"type": "pgrecall_history_start"}


class PgRecallSession(SessionABC):
    """The items of one session, which every run reads and appends to, in the database.

    Texts of messages become messages of the session: memories are extracted from them, and contexts
    show them. All other items (calls of tools, their outputs, reasoning, compaction) are kept in
    order and given back as they were, and no context shows them.

    The database is called in threads, so that the event loop stays free. A call that is cancelled
    ends first, so that its outcome is known.

    Args:
        session_id: a name among the user's sessions, or a UUID; made when it is missing.
        memory: stays the caller's.
        user: whose session it is.
        model: of a new session.
        session_settings: the `limit` of items that a run reads.
        options: of `AgentMemory.session`.
    """

    def __init__(
        self,
        session_id: str,
        memory: AgentMemory,
        *,
        user: User,
        model: str = "gpt-4o-mini",
        session_settings: SessionSettings | dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or {})
        self._chat: ChatSession = memory.session(
            user=user, model=model, session_id=session_id, **options
        )

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items, oldest first; with a limit the newest ones.

        Args:
            limit: at most so many; None is the limit of the settings, or all.
        """
        limit = resolve_session_limit(limit, self.session_settings)
        return await _finished(self._get_items, limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items in one transaction."""
        if items:
            await _finished(self._append, [_to_message(item) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the newest item and return it; None when there is none.

        Calls at the same time return different items.
        """
        return await _finished(self._pop_item)

    async def clear_session(self) -> None:
        """Erase all items, and the memories that rest on them alone."""
        await _finished(self._chat.clear)

    async def _atomic_replace_items(self, items: list[TResponseInputItem]) -> bool:
        """Let `get_items` return other items; `OpenAIResponsesCompactionSession` calls this.

        Without it the SDK would call `clear_session`, which erases memories. It is one append:
        messages stay, so that memories are extracted from all of them. The given items repeat
        messages, so they are kept as items that no context shows.

        Returns:
            False for a subclass that stores items in another form.
        """
        kind = type(self)
        if (kind.add_items, kind.get_items) != (
            PgRecallSession.add_items, PgRecallSession.get_items,
        ):  # fmt: skip
            return False
        await _finished(
            self._append, [_hidden(with_storable_text(item)) for item in (_START, *items)]
        )
        return True

    def _append(self, messages: list[dict[str, Any]]) -> None:
        append_resuming(self._chat, self._chat.append, messages)

    def _get_items(self, limit: int | None) -> list[TResponseInputItem]:
        newest: list[TResponseInputItem] = []
        before: int | None = None
        while limit is None or len(newest) < limit:
            page = self._chat.messages(
                limit=_PAGE if limit is None else min(limit - len(newest), _PAGE),
                before_turn=UNSET if before is None else before,
            )
            if not page:
                break
            before = page[-1].turn_index
            start = next((n for n, message in enumerate(page) if _is_start(message)), None)
            newest += _to_items(page[:start])
            if start is not None:
                break
        return newest[::-1]

    def _pop_item(self) -> TResponseInputItem | None:
        while popped := self._chat.pop():
            if _is_start(popped[0]):
                self._append([_hidden(_START)])  # messages before it stay hidden
                return None
            for item in _to_items(popped):
                return item
        return None


async def _finished(call: Callable[..., Result], *arguments: Any) -> Result:
    """Run a call in a thread; when the caller is cancelled, wait for its end first."""
    task = asyncio.ensure_future(asyncio.to_thread(call, *arguments))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled is not None:
        task.exception()  # so that it does not count as unseen
        raise cancelled
    return task.result()


# A message whose content is one part of the type `item` holds an item that no model sees. Beside
# texts the item is that of the message without these texts, so that it is given back as it was.


def _to_message(item: Any) -> dict[str, Any]:
    """Return an item as a message of the database."""
    item = with_storable_text(item)
    role = item.get("role")
    if role in _ROLES and item.get("type", "message") == "message":
        content = item.get("content")
        if isinstance(content, str) and content:
            if item.keys() == {"role", "content"}:
                return {"role": role, "content": content}
            frame = {key: value for key, value in item.items() if key != "content"}
            return _message(role, [content], frame)
        if isinstance(content, list) and (texts := [*filter(None, map(_text, content))]):
            parts = [{**part, "text": None} if _text(part) else part for part in content]
            return _message(role, texts, {**item, "content": parts})
    return _hidden(item)


def _hidden(item: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "item", "item": item}]}


def _is_start(message: Message) -> bool:
    return any(part.get("item") == _START for part in message.content_parts or ())


def _message(role: str, texts: Iterable[str], frame: Mapping[str, Any]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    return {"role": role, "content": [*parts, {"type": "item", "item": frame}]}


def _text(part: Any) -> str:
    """Return the text of a part; empty when it is no text."""
    is_text = isinstance(part, Mapping) and part.get("type") in _TEXTS
    return str(part.get("text") or "") if is_text else ""


def _to_items(messages: Iterable[Message]) -> Iterable[TResponseInputItem]:
    """Yield the items of messages; none for a message of another application without a text."""
    for message in messages:
        parts = message.content_parts or ()
        frames = [part["item"] for part in parts if part.get("type") == "item"]
        texts = [str(part["text"]) for part in parts if part.get("type") == "text"]
        if frames:
            yield _refilled(frames[-1], texts)
        elif message.role in _ROLES and (text := message.content or content_text(parts)):
            yield {"role": message.role, "content": text}  # type: ignore[misc]


def _refilled(frame: Any, texts: list[str]) -> Any:
    """Return an item with its texts."""
    if not texts:
        return frame
    if "content" not in frame:
        return {**frame, "content": texts[0]}
    rest = iter(texts)
    parts = [
        {**part, "text": next(rest)} if part.get("text", "") is None else part
        for part in frame["content"]
    ]
    return {**frame, "content": parts}
