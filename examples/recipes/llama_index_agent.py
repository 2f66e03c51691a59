"""LlamaIndex with memory: a memory block over memories; what is put into it is a transcript.

Run it:

    pip install pgrecall llama-index-core
    export PGRECALL_DSN=postgresql://… OPENAI_API_KEY=…
    python llama_index_agent.py ada "I am allergic to peanuts."

A worker (`pgrecall worker`) extracts memories from the transcript.
"""

import asyncio
import sys
from typing import Any

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemoryBlock, Memory
from openai import AsyncOpenAI

from pgrecall import AsyncAgentMemory

MODEL = "gpt-4o-mini"


class PgRecallBlock(BaseMemoryBlock[str]):
    """The memories of one user, who is from a login, never from a message."""

    name: str = "known_about_the_user"
    memory: Any
    user: str
    accept_short_term_memory: bool = False  # the transcript has these messages already

    async def _aget(self, messages=None, **_):
        asked = messages[-1].content if messages else None
        hits = await self.memory.search(self.user, asked, limit=5)
        return "\n".join(f"- {hit.content}" for hit in hits)

    async def _aput(self, messages):
        said = [{"role": str(one.role.value), "content": one.content} for one in messages]
        await self.memory.session(user=self.user, model=MODEL).append(said)


async def main(user: str, message: str) -> None:
    async with AsyncAgentMemory.from_environment() as pgrecall:
        block = PgRecallBlock(memory=pgrecall, user=user)
        memory = Memory.from_defaults(session_id=user, memory_blocks=[block])
        asked = ChatMessage(role="user", content=message)
        await memory.aput(asked)
        history = [{"role": one.role.value, "content": one.content} for one in await memory.aget()]
        made = await AsyncOpenAI().chat.completions.create(model=MODEL, messages=history)
        reply = ChatMessage(role="assistant", content=made.choices[0].message.content)
        await memory.aput(reply)
        await block.aput([asked, reply])
        print(reply.content)


asyncio.run(main(*sys.argv[1:]))
