# Made from _async/recording.py by `make generate`; change that file, not this.
"""The HTTP client whose calls are recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx2
from openai import DefaultHttpxClient

from pgrecall._process import OF_CLIENT, Origin, keep, lock
from pgrecall.calls._capture import Capture, current_recording

if TYPE_CHECKING:
    from openai import OpenAI

__all__ = ["RecordingClient", "own_connections"]


class RecordingClient(DefaultHttpxClient):
    """An HTTP client for the `http_client` of an OpenAI client, which records what it sends.

    Within `AgentMemory.calls.recording` its calls go to the call log, bodies and streams byte for
    byte; elsewhere it adds nothing. It takes the arguments of `openai.DefaultHttpxClient`. In a
    child it opens connections of its own.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._arguments = arguments
        self._origin = Origin(*OF_CLIENT)
        self._beginning = lock()

    def _begin_in_child(self) -> None:
        """Initialize again: the connections stay the parent's.

        Raises:
            ForkedError: they belong to a `transport` of the caller.
        """
        with self._beginning:
            if self._origin.is_elsewhere:
                if not {"transport", "mounts"}.isdisjoint(self._arguments):
                    self._origin.check()
                keep(*vars(self).values())
                type(self).__init__(self, **self._arguments)

    def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send a request, noting it and its answer.

        Raises:
            ForkedError: the client has a `transport` of the parent.
        """
        if self._origin.is_elsewhere:
            self._begin_in_child()
        recording = current_recording()
        if recording is None:
            return super().send(request, stream=stream, **options)
        capture = Capture(recording, request)
        try:
            response = super().send(request, stream=True, **options)
        except BaseException as error:
            capture.done(error)
            raise
        capture.answered(response)
        response.stream = SyncNoted(response.stream, capture)
        if not stream:
            try:
                response.read()
            except BaseException:
                response.close()
                raise
        return response


class SyncNoted(httpx2.SyncByteStream):
    """The body of an answer, noted as it is read."""

    def __init__(self, stream: Any, capture: Capture) -> None:
        self._stream = stream
        self._capture = capture

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._stream:
                self._capture.received(chunk)
                yield chunk
                self._capture.origin.check()
        except GeneratorExit:  # its reader stops; `aclose` follows
            raise
        except BaseException as error:
            self._capture.done(error)
            raise
        self._capture.done()

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            self._capture.done()


def own_connections(client: OpenAI, origin: Origin) -> OpenAI:
    """Return a client that shares no connection with the parent, in a child.

    Args:
        client: of the caller, or our own.
        origin: of what the client was handed to.

    Raises:
        ForkedError: the client's `http_client` is the caller's.
    """
    http_client: Any = getattr(client, "_client", None)
    if http_client is None or isinstance(http_client, RecordingClient):
        return client
    if not type(http_client).__name__.endswith("HttpxClientWrapper"):  # openai makes that itself
        origin.check()
    keep(client)
    return client.copy(http_client=RecordingClient())
