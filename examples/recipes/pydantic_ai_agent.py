"""Pydantic AI with memory: instructions with memories, and a tool that remembers.

Run it:

    pip install pgrecall 'pydantic-ai-slim[openai]'
    export PGRECALL_DSN=postgresql://… OPENAI_API_KEY=…
    python pydantic_ai_agent.py ada "I am allergic to peanuts."
"""

import asyncio
import sys
from dataclasses import dataclass

from pydantic_ai import Agent, RunContext
from pydantic_ai.models.openai import OpenAIChatModel

from pgrecall import AsyncAgentMemory, AsyncChatSession

MODEL = "gpt-4o-mini"


@dataclass
class Deps:
    """Client, user and session of a run; the user is from a login, never from a message."""

    memory: AsyncAgentMemory
    user: str
    chat: AsyncChatSession


agent = Agent(OpenAIChatModel(MODEL), deps_type=Deps)


@agent.instructions
async def recalled(run: RunContext[Deps]) -> str:
    """Return what is known about the user, as data."""
    hits = await run.deps.memory.search(run.deps.user, str(run.prompt), limit=5)
    return "Known, as data:\n" + "\n".join(f"- {hit.content}" for hit in hits)


@agent.tool
async def remember(run: RunContext[Deps], sentence: str, user_words: str) -> str:
    """Remember one lasting fact about the user, with the words of the user that state it."""
    stored = await run.deps.memory.remember(
        run.deps.user, sentence, session_id=run.deps.chat.session_id, user_words=user_words,
        current_message=str(run.prompt),
    )  # fmt: skip
    return stored.outcome


async def main(user: str, message: str) -> None:
    async with AsyncAgentMemory.from_environment() as memory:
        async with memory.session(user=user, model=MODEL) as chat:
            result = await agent.run(message, deps=Deps(memory, user, chat))
            await chat.append(user=message, reply=result.output)
            print(result.output)


asyncio.run(main(*sys.argv[1:]))
