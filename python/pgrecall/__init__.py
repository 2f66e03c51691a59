"""Long-term memory for LLM agents, inside PostgreSQL.

::

    from pgrecall import AgentMemory, ModelSettings

    memory = AgentMemory.connect("postgresql://…")          # or AgentMemory.embedded("./data")
    with memory.session(user="ada", model="gpt-4o-mini") as chat:
        messages = chat.context("Which editor do I use?")
        reply = client.chat.completions.create(model=chat.model, messages=messages)
        chat.append(user="Which editor do I use?", reply=reply)
    memory.worker(llm=ModelSettings(model="gpt-4o-mini")).run_until_idle(flush=True)
"""

from importlib import metadata

from pgrecall.client import AgentMemory, AsyncAgentMemory, Limits
from pgrecall.errors import (
    CallTimeoutError,
    ConfigurationError,
    ConnectionLostError,
    ContextOverflowError,
    CostLimitError,
    InterruptedCallError,
    InvalidEmbeddingError,
    InvalidInputError,
    NotAllowedError,
    NotFoundError,
    PgRecallError,
    QuotaError,
    RequestConflictError,
    SessionNotActiveError,
)
from pgrecall.llm import ModelAnswerError, ModelSettings
from pgrecall.session import AsyncChatSession, ChatSession
from pgrecall.worker import AsyncWorker, Worker

__version__ = metadata.version("pgrecall")

__all__ = [
    "AgentMemory",
    "AsyncAgentMemory",
    "AsyncChatSession",
    "AsyncWorker",
    "CallTimeoutError",
    "ChatSession",
    "ConfigurationError",
    "ConnectionLostError",
    "ContextOverflowError",
    "CostLimitError",
    "InterruptedCallError",
    "InvalidEmbeddingError",
    "InvalidInputError",
    "Limits",
    "ModelAnswerError",
    "ModelSettings",
    "NotAllowedError",
    "NotFoundError",
    "PgRecallError",
    "QuotaError",
    "RequestConflictError",
    "SessionNotActiveError",
    "Worker",
    "__version__",
]
