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

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from pgrecall.worker import AsyncWorker, Worker

    __version__: str

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


def __getattr__(name: str) -> Any:
    """Load the worker at its first use; read the version then."""
    if name in ("AsyncWorker", "Worker"):
        from pgrecall import worker

        return getattr(worker, name)
    if name == "__version__":
        from importlib import metadata

        return metadata.version("pgrecall")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
