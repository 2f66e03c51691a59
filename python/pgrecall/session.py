"""One conversation: `ChatSession`, and `AsyncChatSession` with `await`."""

from pgrecall._async.session import AsyncChatSession
from pgrecall._async.turn import AsyncReplyStream
from pgrecall._sync.session import ChatSession
from pgrecall._sync.turn import ReplyStream

__all__ = ["AsyncChatSession", "AsyncReplyStream", "ChatSession", "ReplyStream"]
