# Made from _async/endpoint.py by `make generate`; change that file, not this.
"""The chat model that `ChatSession.send` calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall._loop import EndpointHabits
from pgrecall.models._chat import ModelSettings

if TYPE_CHECKING:
    from openai import OpenAI

__all__ = ["Endpoint"]


class Endpoint:
    """An endpoint of chat models.

    Args:
        llm: a client, or an endpoint to make one for; None makes one from the environment.

    Attributes:
        llm: the same.
        habits: which parameters the endpoint refuses.
    """

    def __init__(self, llm: OpenAI | ModelSettings | None) -> None:
        self.llm = llm
        self.habits = EndpointHabits()
        self._client: OpenAI | None = None

    def client(self) -> OpenAI:
        """Return the client; made once, at the first use."""
        if self._client is None:
            if self.llm is None or isinstance(self.llm, ModelSettings):
                import openai

                from pgrecall.calls._sync.recording import RecordingClient

                arguments = {} if self.llm is None else self.llm.client_arguments()
                self._client = openai.OpenAI(http_client=RecordingClient(), **arguments)
            else:
                self._client = self.llm
        return self._client
