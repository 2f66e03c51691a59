# Made from _async/endpoint.py by `make generate`; change that file, not this.
"""The chat model that `ChatSession.send` calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgrecall._loop import EndpointHabits
from pgrecall._process import OF_CLIENT, Origin
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
        self._client = None if isinstance(llm, ModelSettings | None) else llm
        self._origin = Origin(*OF_CLIENT)

    def client(self) -> OpenAI:
        """Return the client; made once, at the first use.

        Raises:
            ForkedError: this is a child, and the client's `http_client` is the caller's.
        """
        if self._client is None:
            import openai

            from pgrecall.calls._sync.recording import RecordingClient

            arguments = self.llm.client_arguments() if isinstance(self.llm, ModelSettings) else {}
            self._client = openai.OpenAI(http_client=RecordingClient(), **arguments)
        elif self._origin.is_elsewhere:
            from pgrecall.calls._sync.recording import own_connections

            self._client = own_connections(self._client, self._origin)
        return self._client

    def arguments(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of `create` for a request.

        A client of our own gets the messages in `extra_body`. As an argument it would compare each
        with the types of the API, which takes most of the time of a long request.
        """
        if self._client is self.llm:
            return request
        body = {"messages": request["messages"], **(request.get("extra_body") or {})}
        return {**request, "messages": [], "extra_body": body}
