"""A chatbot that remembers its user across conversations, with the OpenAI SDK.

    export PGRECALL_DSN=postgresql://… OPENAI_API_KEY=…
    python examples/chatbot.py ada

A line is a message; the end of the input ends the conversation. Without PGRECALL_DSN an embedded
server starts. The worker runs in a thread here; a server runs `pgrecall worker` beside it.
"""

import sys
import threading

from openai import OpenAI

from pgrecall import AgentMemory, ModelSettings

MODEL = "gpt-4o-mini"
PROMPT = "You are a helpful assistant."


def main(user: str) -> None:
    client = OpenAI()
    with AgentMemory.from_environment() as memory:
        worker = memory.worker(llm=ModelSettings(model=MODEL))
        thread = threading.Thread(target=worker.run, kwargs={"handle_signals": False})
        thread.start()
        try:
            with memory.session(
                user=user, model=MODEL, system_prompt=PROMPT, extraction="llm"
            ) as chat:
                for line in sys.stdin:
                    if message := line.strip():
                        print(answer(client, chat, message), flush=True)
                chat.close()  # the rest of the conversation is extracted now
        finally:
            worker.stop()
            thread.join()
        worker = memory.worker(llm=ModelSettings(model=MODEL))
        worker.run_until_idle(flush=True)


def answer(client, chat, message: str) -> str:
    """Return the reply to a message; both are appended together."""
    messages = chat.context(message)
    reply = client.chat.completions.create(model=chat.model, messages=messages)
    chat.append(user=message, reply=reply)
    return reply.choices[0].message.content or ""


main(*sys.argv[1:])
