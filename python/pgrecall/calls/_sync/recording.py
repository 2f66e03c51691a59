# Made from _async/recording.py by `make generate`; change that file, not this.
"""The HTTP client whose calls are recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
from openai import DefaultHttpxClient

from pgrecall.calls._capture import Capture, current_recording

__all__ = ["RecordingClient"]


class RecordingClient(DefaultHttpxClient):
    """An HTTP client for the `http_client` of an OpenAI client, which records what it sends.

    Within `AgentMemory.calls.recording` its calls go to the call log, bodies and streams byte for
    byte; elsewhere it adds nothing. It takes the arguments of `openai.DefaultHttpxClient`.
    """

    def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send a request, noting it and its answer."""
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
