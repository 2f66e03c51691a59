"""The HTTP client whose calls are recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
from openai import DefaultAsyncHttpxClient

from pgrecall.calls._capture import Capture, current_recording

__all__ = ["AsyncRecordingClient"]


class AsyncRecordingClient(DefaultAsyncHttpxClient):
    """An HTTP client for the `http_client` of an OpenAI client, which records what it sends.

    Within `AgentMemory.calls.recording` its calls go to the call log, bodies and streams byte for
    byte; elsewhere it adds nothing. It takes the arguments of `openai.DefaultHttpxClient`.
    """

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send a request, noting it and its answer."""
        recording = current_recording()
        if recording is None:
            return await super().send(request, stream=stream, **options)
        capture = Capture(recording, request)
        try:
            response = await super().send(request, stream=True, **options)
        except BaseException as error:
            capture.done(error)
            raise
        capture.answered(response)
        response.stream = AsyncNoted(response.stream, capture)
        if not stream:
            try:
                await response.aread()
            except BaseException:
                await response.aclose()
                raise
        return response


class AsyncNoted(httpx2.AsyncByteStream):
    """The body of an answer, noted as it is read."""

    def __init__(self, stream: Any, capture: Capture) -> None:
        self._stream = stream
        self._capture = capture

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                self._capture.received(chunk)
                yield chunk
        except GeneratorExit:  # its reader stops; `aclose` follows
            raise
        except BaseException as error:
            self._capture.done(error)
            raise
        self._capture.done()

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            self._capture.done()
