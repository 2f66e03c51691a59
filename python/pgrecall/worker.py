"""The worker: `Worker`, and `AsyncWorker` with `await`."""

from pgrecall._async.worker import AsyncWorker
from pgrecall._sync.worker import Worker

__all__ = ["AsyncWorker", "Worker"]
