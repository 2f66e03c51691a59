"""A support agent whose customers are encrypted users: the database stores ciphertext only.

Run it, with `pgrecall[encryption]` installed:

    python examples/support_agent.py open ada "My router is a SN-1234."
    python examples/support_agent.py ask ada "Which router do I have?"

With `erase` it erases a customer. PGRECALL_DSN names the database. PGRECALL_WRAPPING_KEYS has a key
encryption key: `first:` and 32 random bytes in base64. PGRECALL_SEALED=require refuses customers
who are not encrypted.
"""

import sys

from pgrecall import AgentMemory, ModelSettings

MODEL = "gpt-4o-mini"
PROMPT = "You are a support agent. Use what is known about the customer."


def main(command: str, customer: str, message: str = "") -> None:
    with AgentMemory.from_environment() as memory:
        if command == "erase":  # destroys the key, too: backups stay unreadable
            print(memory.privacy.forget_user(customer))
            return
        if command == "open":
            memory.encryption.seal_user(customer)  # before the first session
        with memory.session(user=customer, model=MODEL, system_prompt=PROMPT) as chat:
            reply = chat.send(message, memory_tools=["search_memories"])
            print(reply.choices[0].message.content)
            chat.close()
        # in production `pgrecall worker` has the keys, and runs beside the agent
        memory.worker(llm=ModelSettings(model=MODEL)).run_until_idle(flush=True)


main(*sys.argv[1:])
