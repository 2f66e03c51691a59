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

from pgrecall._async.client import AsyncAgentMemory
from pgrecall._async.session import AsyncChatSession
from pgrecall._async.tools import AsyncMemoryTools
from pgrecall._async.turn import AsyncReplyStream
from pgrecall._json import replaced_characters
from pgrecall._limits import Limits
from pgrecall._options import ContextOptions, MemoryFields, SessionOptions
from pgrecall._sync.client import AgentMemory
from pgrecall._sync.session import ChatSession
from pgrecall._sync.tools import MemoryTools
from pgrecall._sync.turn import ReplyStream
from pgrecall.errors import (
    CallTimeoutError,
    ConfigurationError,
    ConnectionLostError,
    ContextOverflowError,
    CostLimitError,
    ForkedError,
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
from pgrecall.models import ModelAnswerError, ModelSettings

if TYPE_CHECKING:
    from pgrecall._async.worker import AsyncWorker
    from pgrecall._sync.worker import Worker

    __version__: str

__all__ = [
    "AgentMemory",
    "AsyncAgentMemory",
    "AsyncChatSession",
    "AsyncMemoryTools",
    "AsyncReplyStream",
    "AsyncWorker",
    "CallTimeoutError",
    "ChatSession",
    "ConfigurationError",
    "ConnectionLostError",
    "ContextOptions",
    "ContextOverflowError",
    "CostLimitError",
    "ForkedError",
    "InterruptedCallError",
    "InvalidEmbeddingError",
    "InvalidInputError",
    "Limits",
    "MemoryFields",
    "MemoryTools",
    "ModelAnswerError",
    "ModelSettings",
    "NotAllowedError",
    "NotFoundError",
    "PgRecallError",
    "QuotaError",
    "ReplyStream",
    "RequestConflictError",
    "SessionNotActiveError",
    "SessionOptions",
    "Worker",
    "__version__",
    "replaced_characters",
]


def __getattr__(name: str) -> Any:
    """Load the worker at its first use; read the version then."""
    if name == "Worker":
        from pgrecall._sync.worker import Worker

        return Worker
    if name == "AsyncWorker":
        from pgrecall._async.worker import AsyncWorker

        return AsyncWorker
    if name == "__version__":
        from importlib import metadata

        return metadata.version("pgrecall")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
