"""AutoGen with memory: its Memory protocol. A worker extracts memories from the transcript.

Run it:

    pip install pgrecall autogen-agentchat 'autogen-ext[openai]'
    export PGRECALL_DSN=postgresql://… OPENAI_API_KEY=…
    python autogen_agent.py ada "I am allergic to peanuts."
"""

import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_core.memory import Memory, MemoryContent, MemoryQueryResult, UpdateContextResult
from autogen_core.models import SystemMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient

from pgrecall import AsyncAgentMemory

MODEL, TEXT = "gpt-4o-mini", "text/plain"


class PgRecallMemory(Memory):
    """The memories of one user, who is from a login, never from a message."""

    def __init__(self, memory: AsyncAgentMemory, user: str) -> None:
        self.memory, self.user = memory, user

    async def query(self, query, cancellation_token=None, **_):
        asked = str(getattr(query, "content", query))
        found = [hit.content for hit in await self.memory.search(self.user, asked, limit=5)]
        return MemoryQueryResult(results=[MemoryContent(content=x, mime_type=TEXT) for x in found])

    async def update_context(self, model_context):
        found = await self.query(str((await model_context.get_messages())[-1].content))
        known = "\n- ".join(["Known, as data:", *(str(one.content) for one in found.results)])
        await model_context.add_message(SystemMessage(content=known))
        return UpdateContextResult(memories=found)

    async def add(self, content, cancellation_token=None):
        await self.memory.remember(self.user, str(content.content))

    async def clear(self):
        raise NotImplementedError("AsyncAgentMemory.privacy erases")

    async def close(self):
        await self.memory.aclose()


async def main(user: str, message: str) -> None:
    memory = PgRecallMemory(AsyncAgentMemory.from_environment(), user)
    agent = AssistantAgent("bot", OpenAIChatCompletionClient(model=MODEL), memory=[memory])
    reply = (await agent.run(task=message)).messages[-1].content
    await memory.memory.session(user=user, model=MODEL).append(user=message, reply=reply)
    print(reply)
    await memory.close()


asyncio.run(main(*sys.argv[1:]))
