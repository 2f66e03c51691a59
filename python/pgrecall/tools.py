"""Tools that let a chat model use the memory by itself, in OpenAI's form.

`ChatSession.send(memory_tools=True)` runs them. In a loop of one's own::

    tools = memory_tools(chat)
    reply = client.chat.completions.create(
        model=chat.model, messages=messages, tools=tools.definitions
    )
    answers = [tools.dispatch(call) for call in reply.choices[0].message.tool_calls or ()]
    chat.append([*question, reply, *answers])

With `AsyncChatSession` it is `await tools.dispatch(call)`. Pass the definitions to `chat.context`
too, so that they are counted.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import overload

from pgrecall._async.session import AsyncChatSession
from pgrecall._async.tools import AsyncMemoryTools
from pgrecall._sync.session import ChatSession
from pgrecall._sync.tools import MemoryTools

__all__ = ["AsyncMemoryTools", "MemoryTools", "memory_tools"]


@overload
def memory_tools(chat: ChatSession, *, only: Collection[str] | None = None) -> MemoryTools: ...
@overload
def memory_tools(
    chat: AsyncChatSession, *, only: Collection[str] | None = None
) -> AsyncMemoryTools: ...
def memory_tools(
    chat: ChatSession | AsyncChatSession, *, only: Collection[str] | None = None
) -> MemoryTools | AsyncMemoryTools:
    """Return the memory tools of a conversation, scoped to its user.

    Args:
        chat: the conversation.
        only: some of search_memories, remember, forget_memory, search_messages, get_messages,
            get_user_profile.

    Raises:
        InvalidInputError: `only` names another.
    """
    if isinstance(chat, AsyncChatSession):
        return AsyncMemoryTools(chat, only=only)
    return MemoryTools(chat, only=only)
