"""The messages of one session, as they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4, uuid5

from pgrecall._async.conversation import AsyncConversation
from pgrecall._async.core import AsyncCore
from pgrecall._messages import continued, normalize, with_tokens
from pgrecall._runtime import AsyncRuntime
from pgrecall._sql import UNSET, Call
from pgrecall.rows import Appended, Message, NewMessage

__all__ = ["AsyncTranscript"]

_SYNC_SPARE = 100  # stored messages looked at beyond the length of a caller's list


class AsyncTranscript:
    """Appends messages to a session, and retracts turns."""

    def __init__(self, core: AsyncCore, conversation: AsyncConversation) -> None:
        self._core = core
        self._conversation = conversation
        self._sync_lock = AsyncRuntime.lock()
        self._is_sealed = False

    async def append(
        self,
        messages: Any = None,
        *,
        user: Any = None,
        reply: Any = None,
        usage: Mapping[str, Any] | None = None,
        request_id: UUID | None = None,
    ) -> list[Appended]:
        """Append messages, then the user's message, then the reply; see `ChatSession.append`."""
        opened = await self._conversation.open()
        batch = normalize(
            await AsyncRuntime.collected(messages),
            user=user,
            reply=await AsyncRuntime.collected(reply),
            model=opened.model_id,
        )
        batch.add_usage(usage)
        call = Call.of(
            "append_messages",
            user_id=self._conversation.user_id,
            session_id=opened.session_id,
            messages=with_tokens(batch.messages, opened.model_id),
            usage=UNSET if batch.usage is None else batch.usage,
            request_id=request_id or uuid4(),
        )
        return await self._core.write.rows(Appended, call, repeatable=True)

    async def sync(self, messages: Any) -> list[Appended]:
        """Append the new messages of a list that the caller keeps; see `ChatSession.sync`."""
        messages = await AsyncRuntime.collected(messages)
        if isinstance(messages, Sequence) and not messages:
            return []
        given = normalize(messages).messages
        async with self._sync_lock:
            session = await self._conversation.refresh()
            if given[0]["role"] == "system" and given[0].get("content") == session.system_prompt:
                given = given[1:]
            listed = await self._listed(given)
            limit = len(listed) + _SYNC_SPARE
            call = Call.of(
                "get_messages",
                user_id=self._conversation.user_id,
                session_id=session.session_id,
                limit=limit,
            )
            while True:
                stored = (await self._core.write.rows(Message, call))[::-1]
                hashes = [self._hash_of(message) for message in stored]
                kept, known = continued(hashes, listed, is_whole=len(stored) < limit)
                if known == len(given):
                    return []
                if kept == len(stored):
                    # the same for the same list, unless something was appended in between
                    said = b"".join(listed[known:]).hex()
                    request_id = uuid5(session.session_id, f"{session.turn_count} {said}")
                    return await self.append(given[known:], request_id=request_id)
                await self.retract(stored[kept].turn_index)
                # Another client may have appended the list: before, so that it is retracted
                # now, or after.
                session = await self._conversation.refresh()

    async def _listed(self, given: Sequence[Mapping[str, Any]]) -> list[bytes]:
        """Return a hash of each message, for an encrypted user without sending them."""
        self._is_sealed = await self._core.sealing(self._conversation.user_id) is not None
        if self._is_sealed:
            from pgrecall.encryption._sealed import message_digest

            return [message_digest(message) for message in given]
        call = Call.of("new_messages_since", cursor=None, messages=given)
        return [one.cursor for one in await self._core.write.rows(NewMessage, call)]

    def _hash_of(self, stored: Message) -> bytes:
        if self._is_sealed:
            from pgrecall.encryption._sealed import message_digest

            said = stored.content_parts or stored.content
            return message_digest({**stored.to_openai(), "content": said})
        return stored.content_hash or b""

    async def retract(self, from_turn: int) -> int:
        """Retract the turns from this one on; return how many."""
        return int(await self._conversation.change("retract_turns", from_turn=from_turn))
