"""An agent of LangChain that remembers the user across threads of LangGraph.

Install `pgrecall[langgraph]`, `langchain-openai` and `langgraph-checkpoint-postgres`. Set
PGRECALL_DSN and OPENAI_API_KEY, then:

    python examples/langgraph_agent.py ada monday "I am allergic to peanuts."
    python examples/langgraph_agent.py ada friday "Are peanuts fine?"

PostgresSaver keeps the threads, in the same database. A worker (`pgrecall worker`) extracts
memories, by which the agent knows what the user said in other threads.
"""

import os
import sys

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.postgres import PostgresSaver

from pgrecall import AgentMemory
from pgrecall.integrations.langgraph import PgRecallMiddleware

DSN = os.environ["PGRECALL_DSN"]
MODEL = os.environ.get("OPENAI_MODEL", "gpt-4o-mini")


def answer(user: str, thread: str, question: str) -> str:
    """Run one turn of the agent in a thread of the user."""
    with AgentMemory.connect(DSN) as memory, PostgresSaver.from_conn_string(DSN) as saver:
        saver.setup()
        agent = create_agent(
            ChatOpenAI(model=MODEL),
            system_prompt="Help the user.",
            checkpointer=saver,
            middleware=[PgRecallMiddleware(memory, user=user, session_id=thread, model=MODEL)],
        )
        # all users share the saver's threads, so their names begin with the user
        config = {"configurable": {"thread_id": f"{user}/{thread}"}}
        result = agent.invoke({"messages": [("user", question)]}, config)
        return result["messages"][-1].text


if __name__ == "__main__":
    print(answer(*sys.argv[1:4]))
