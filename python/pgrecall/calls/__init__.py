"""The call log: requests to models and their responses, recorded and replayed.

A client of the package `openai` is recorded when it uses one of these HTTP clients::

    client = openai.OpenAI(http_client=RecordingClient())
    with memory.calls.recording("ada", session_id=chat.session_id):
        client.chat.completions.create(…)

Recording runs in the background and never fails or delays a call. Credentials are masked here
before anything is sent, and in the database again; only harmless headers are kept. Calls that the
driver makes itself (`ChatSession.send`, workers, embeddings) are recorded as `settings.ledger`
says. `AgentMemory.calls` reads the log, and `replay` rebuilds the response of a stream. Nothing
here is loaded before a call of a model, or a use of these names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgrecall.calls._capture import CapturedCall, Recording
from pgrecall.calls._replay import Replay, replay

if TYPE_CHECKING:
    from pgrecall.calls._async.recording import AsyncRecordingClient
    from pgrecall.calls._sync.recording import RecordingClient

__all__ = ["AsyncRecordingClient", "CapturedCall", "Recording", "RecordingClient", "Replay",
           "replay"]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load the HTTP clients at their first use: their base class is the OpenAI client's."""
    if name == "RecordingClient":
        from pgrecall.calls._sync.recording import RecordingClient

        return RecordingClient
    if name == "AsyncRecordingClient":
        from pgrecall.calls._async.recording import AsyncRecordingClient

        return AsyncRecordingClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
