"""One conversation: `ChatSession`, and `AsyncChatSession` with `await`."""

from pgrecall._async.session import AsyncChatSession
from pgrecall._sync.session import ChatSession

__all__ = ["AsyncChatSession", "ChatSession"]
