"""CrewAI with memory: the tools of `pgrecall mcp`.

Run it:

    pip install crewai
    pipx install 'pgrecall[mcp]'    # an environment of its own: CrewAI needs another openai
    export PGRECALL_DSN=postgresql://… OPENAI_API_KEY=…
    python crewai_agent.py ada "I am allergic to peanuts."
"""

import os
import sys

from crewai import Agent, Crew, Task
from crewai.mcp import MCPServerStdio


def main(user: str, message: str) -> None:
    # the user is from a login, never from a message; no tool can name another
    memory = MCPServerStdio(
        command="pgrecall", args=["mcp", "--user", user, "--trust", "user_stated"],
        env=dict(os.environ),
    )  # fmt: skip
    agent = Agent(
        role="Assistant",
        goal="Answer with what is known about the user.",
        backstory="You search the memory before you answer. You remember what matters later.",
        llm="openai/gpt-4o-mini",
        mcps=[memory],
    )
    task = Task(description=message, expected_output="A short answer.", agent=agent)
    print(Crew(agents=[agent], tasks=[task]).kickoff())


main(*sys.argv[1:])
