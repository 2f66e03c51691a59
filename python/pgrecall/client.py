"""The client: `AgentMemory`, and `AsyncAgentMemory` with `await`."""

from pgrecall._async.client import AsyncAgentMemory
from pgrecall._limits import Limits
from pgrecall._rerank import Reranker
from pgrecall._sync.client import AgentMemory

__all__ = ["AgentMemory", "AsyncAgentMemory", "Limits", "Reranker"]
