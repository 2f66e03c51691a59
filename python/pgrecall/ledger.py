"""The ledger: what was sent to models and what came back, recorded and put together again.

A client of the package `openai` is recorded when it goes over one of these HTTP clients::

    client = openai.OpenAI(http_client=RecordingClient())
    with memory.recording("ada", session_id=chat.session_id):
        client.chat.completions.create(…)

Recording is done in the background and never fails or holds up a call. Credentials are masked here
before anything is sent, and in the database again; only harmless headers are kept. What the driver
asks by itself (`ChatSession.send`, workers, embeddings) it records as `settings.ledger` says.
`AgentMemory.model_calls` and `stream_events` read it back, and `replay` makes the answer of a
stream again.
"""

from pgrecall._async.recording import AsyncRecordingClient
from pgrecall._ledger import CapturedCall, Recording
from pgrecall._replay import Replay, replay
from pgrecall._sync.recording import RecordingClient

__all__ = ["AsyncRecordingClient", "CapturedCall", "Recording", "RecordingClient", "Replay",
           "replay"]  # fmt: skip
