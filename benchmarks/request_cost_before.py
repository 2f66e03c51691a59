"""Run the former functions and driver for request_cost.py, which starts this program.

The package of the commit before next_request precedes the present one on the path. Each line of
standard input names a step. The program answers with a line that holds the cost of its job.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from openai.types.chat import ChatCompletion
from pgrecall.llm import ChatModel, ModelSettings, Price

from pgrecall import steps
from request_cost import (
    DIMENSIONS,
    EMBEDDER,
    MODEL,
    USAGE,
    Clock,
    once,
    prepared,
    said,
    vector,
)  # fmt: skip
from target import database


class Embedder:
    """Makes vectors from words."""

    model = EMBEDDER
    dimensions = DIMENSIONS

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def embed(self, texts: Any) -> list[list[float]]:
        with self._clock.model():
            return [vector(text) for text in texts]


class Client:
    """An OpenAI client with scripted answers."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.chat = self
        self.completions = self

    def create(self, **request: Any) -> ChatCompletion:
        with self._clock.model():
            purpose = request["response_format"]["json_schema"]["name"]
            content = said(purpose, request["messages"][1]["content"])
            return ChatCompletion.model_validate({
                "id": "1", "created": 1, "model": MODEL, "object": "chat.completion",
                "usage": USAGE | {"total_tokens": sum(USAGE.values())},
                "choices": [{"index": 0, "finish_reason": "stop",
                             "message": {"role": "assistant", "content": content}}],
            })  # fmt: skip


def by_input(job: tuple[Any, ...], clock: Clock) -> None:
    """Do a job with job_input, a step of the driver, consolidation_input and finish_job."""
    given = clock.call("select recall.job_input(%s, %s, %s)", *job)
    llm = ChatModel(ModelSettings(model=MODEL), client=Client(clock))
    llm.prices, llm.windows = PRICES, WINDOWS
    running = steps.Running(given, Embedder(clock), llm, PRICES)
    reached = running.advance()
    while isinstance(reached, steps.Question):
        assert reached.function == "consolidation_input"
        vectors = [json.dumps(numbers) for numbers in reached.arguments["embeddings"]]
        reached = running.advance(clock.call(
            "select recall.consolidation_input(%s, %s, %s, %s::jsonb, %s::halfvec[])", *job,
            json.dumps(reached.arguments["candidates"]), vectors))  # fmt: skip
    assert clock.call("select recall.finish_job(%s, %s, %s, %s::jsonb, %s::jsonb)", *job,
                      json.dumps(reached.result), json.dumps(reached.phases))  # fmt: skip


PRICES: dict[str, Price] = {}
WINDOWS: dict[str, int] = {}

with database(sys.argv[1], dimensions=DIMENSIONS) as db:
    for name, window, *numbers in db.execute(
        "select model_id, context_window_size, input_price, output_price from recall.models"
    ).fetchall():
        PRICES[name], WINDOWS[name] = Price(*numbers), window
    jobs = prepared(db)
    for asked in map(json.loads, sys.stdin):
        cost = once(db, by_input, jobs[asked["step"]], is_last=asked["is_last"])
        print(json.dumps(cost), flush=True)
