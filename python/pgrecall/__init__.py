"""Long-term memory for LLM agents, inside PostgreSQL.

::

    from pgrecall import AgentMemory

    memory = AgentMemory.connect("postgresql://…")          # or AgentMemory.embedded("./data")
    with memory.session(user="ada", model="gpt-4o-mini") as chat:
        messages = chat.context("Which editor do I use?")
        reply = client.chat.completions.create(model=chat.model, messages=messages)
        chat.append(user="Which editor do I use?", reply=reply)
    memory.worker().run_until_idle()
"""

from importlib import metadata

from pgrecall.client import AgentMemory, AsyncAgentMemory, Limits
from pgrecall.errors import (
    ConfigurationError,
    ContextOverflowError,
    CostLimitError,
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
    "ChatSession",
    "ConfigurationError",
    "ContextOverflowError",
    "CostLimitError",
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
