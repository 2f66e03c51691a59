"""The chat model that `ChatSession.send` calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall._loop import EndpointHabits
from pgrecall.models._chat import ModelSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["AsyncEndpoint"]


class AsyncEndpoint:
    """An endpoint of chat models.

    Args:
        llm: a client, or an endpoint to make one for; None makes one from the environment.

    Attributes:
        llm: the same.
        habits: which parameters the endpoint refuses.
    """

    def __init__(self, llm: AsyncOpenAI | ModelSettings | None) -> None:
        self.llm = llm
        self.habits = EndpointHabits()
        self._client: AsyncOpenAI | None = None

    def client(self) -> AsyncOpenAI:
        """Return the client; made once, at the first use."""
        if self._client is None:
            if self.llm is None or isinstance(self.llm, ModelSettings):
                import openai

                from pgrecall.calls._async.recording import AsyncRecordingClient

                arguments = {} if self.llm is None else self.llm.client_arguments()
                self._client = openai.AsyncOpenAI(http_client=AsyncRecordingClient(), **arguments)
            else:
                self._client = self.llm
        return self._client
