"""Strands with memory: the tools of `pgrecall mcp`.

Run it:

    pip install 'strands-agents[openai]'
    pipx install 'pgrecall[mcp]'    # an environment of its own: Strands needs another openai
    export PGRECALL_DSN=postgresql://… OPENAI_API_KEY=…
    python strands_agent.py ada "I am allergic to peanuts."
"""

import os
import sys

from mcp import StdioServerParameters, stdio_client
from strands import Agent
from strands.models.openai import OpenAIModel
from strands.tools.mcp import MCPClient

PROMPT = "Search the memory before you answer. Remember what matters in later conversations."


def main(user: str, message: str) -> None:
    # the user is from a login, never from a message; no tool can name another
    server = StdioServerParameters(
        command="pgrecall", args=["mcp", "--user", user, "--trust", "user_stated"],
        env=dict(os.environ),
    )  # fmt: skip
    with MCPClient(lambda: stdio_client(server)) as memory:
        agent = Agent(
            OpenAIModel(model_id="gpt-4o-mini"),
            system_prompt=PROMPT,
            tools=memory.list_tools_sync(),
            callback_handler=None,
        )
        print(agent(message))


main(*sys.argv[1:])
