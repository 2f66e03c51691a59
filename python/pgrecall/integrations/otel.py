"""Spans and metrics by OpenTelemetry's conventions for generative AI.

::

    memory = instrument(AgentMemory.connect("postgresql://…"))

It needs `opentelemetry-api` only; without an SDK the application records nothing.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from opentelemetry import metrics, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from pgrecall import AgentMemory, AsyncAgentMemory
from pgrecall._sql import Call

__all__ = ["instrument"]

Memory = TypeVar("Memory", AgentMemory, AsyncAgentMemory)

_OPERATIONS = {
    "search": "search_memory",
    "remember": "upsert_memory",
    "ingest_memories": "upsert_memory",
    "supersede_memory": "update_memory",
    "validate_memory": "update_memory",
    "restore_memory": "update_memory",
    "retract_memory": "delete_memory",
    "forget_memory": "delete_memory",
    "compile_context": "pgrecall.compile_context",
    "append_messages": "pgrecall.append",
    "next_request": "pgrecall.job",
}


def instrument(
    memory: Memory,
    *,
    tracer_provider: trace.TracerProvider | None = None,
    meter_provider: metrics.MeterProvider | None = None,
    contents: bool = False,
    users: bool = False,
) -> Memory:
    """Make a client record spans and metrics of its calls, and return it.

    The call log gets the trace id of the current span in `metadata.trace_id`. A client made by
    `joining` is not instrumented.

    Args:
        memory: the client; a second call changes nothing.
        tracer_provider: instead of the global one.
        meter_provider: instead of the global one.
        contents: whether spans have the text of queries.
        users: whether spans have the ids of users.
    """
    core: Any = memory._core  # noqa: SLF001
    if getattr(core, "is_instrumented", False):
        return memory
    core.is_instrumented = True
    recorder = _Recorder(
        trace.get_tracer("pgrecall", tracer_provider=tracer_provider),
        metrics.get_meter("pgrecall", meter_provider=meter_provider),
        contents,
        users,
    )
    databases: list[Any] = []
    for database in (core.write, core.history, core.memory, core.work):
        if database not in databases:  # several names of one database
            databases.append(database)
            database.fetch = recorder.over(database.fetch, recorder.call)
    if core._given_embedder is not False:  # noqa: SLF001
        core.embedded = recorder.over(core.embedded, recorder.embeddings)
    log: Any = core.call_log
    log.recording = _with_trace(log.recording)
    return memory


def _with_trace(recording: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method that adds the current trace id to the metadata of recorded calls."""

    @wraps(recording)
    def call(user: Any, session: Any, job: Any, level: Any, metadata: Any, *more: Any) -> Any:
        context = trace.get_current_span().get_span_context()
        if context.is_valid:
            metadata = {"trace_id": trace.format_trace_id(context.trace_id), **metadata}
        return recording(user, session, job, level, metadata, *more)

    return call


class _Recorder:
    """Makes spans and measures durations."""

    def __init__(
        self, tracer: trace.Tracer, meter: metrics.Meter, contents: bool, users: bool
    ) -> None:
        self._tracer = tracer
        self._contents = contents
        self._users = users
        self._durations = meter.create_histogram(
            "gen_ai.client.operation.duration", "s", "Duration of operations."
        )
        self._tokens = meter.create_histogram(
            "pgrecall.context.tokens", "{token}", "Tokens of compiled contexts."
        )

    def over(self, method: Callable[..., Any], around: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method within `around`, which gives what takes its result, or None."""
        if inspect.iscoroutinefunction(method):

            @wraps(method)
            async def call(*arguments: Any, **named: Any) -> Any:
                with around(*arguments) as take:
                    result = await method(*arguments, **named)
                    if take is not None:
                        take(result)
                    return result

            return call

        @wraps(method)
        def call_blocking(*arguments: Any, **named: Any) -> Any:
            with around(*arguments) as take:
                result = method(*arguments, **named)
                if take is not None:
                    take(result)
                return result

        return call_blocking

    @contextmanager
    def call(self, call: Call, *_: Any) -> Iterator[Callable[[Any], None] | None]:
        """Record a call of a function that has an operation."""
        operation = _OPERATIONS.get(call.function)
        if operation is None:
            yield None
            return
        attributes: dict[str, Any] = {"gen_ai.operation.name": operation}
        given = call.parameters
        for name, attribute in (
            ("memory_id", "gen_ai.memory.record.id"),
            ("session_id", "gen_ai.conversation.id"),
        ):
            if given.get(name) is not None:
                attributes[attribute] = str(given[name])
        if self._users and call.user_id is not None:
            attributes["user.id"] = str(call.user_id)
        if self._contents and isinstance(given.get("query"), str):
            attributes["gen_ai.memory.query.text"] = given["query"]
        with self._span(operation, operation, attributes) as span:

            def take(answer: Any) -> None:
                _, rows = answer
                if operation == "search_memory":
                    span.set_attribute("gen_ai.memory.record.count", len(rows))
                elif call.function == "compile_context":
                    total = rows[0][0]["budget"]["total"]
                    span.set_attribute("pgrecall.context.tokens", total)
                    self._tokens.record(total)

            yield take

    @contextmanager
    def embeddings(self, user: Any, texts: Any, *_: Any) -> Iterator[None]:  # noqa: ARG002
        """Record that vectors of texts are made."""
        attributes = {"gen_ai.operation.name": "embeddings", "pgrecall.texts": len(texts)}
        with self._span("embeddings", "embeddings", attributes):
            yield None

    @contextmanager
    def _span(self, name: str, operation: str, attributes: dict[str, Any]) -> Iterator[trace.Span]:
        """Record a span and its duration; of an error its type only, since texts may quote."""
        began = time.perf_counter()
        labels = {"gen_ai.operation.name": operation}
        with self._tracer.start_as_current_span(
            name,
            kind=SpanKind.CLIENT,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except BaseException as error:
                kind = getattr(error, "sqlstate", None) or type(error).__name__
                labels["error.type"] = kind
                span.set_attribute("error.type", kind)
                span.set_status(Status(StatusCode.ERROR))
                raise
            finally:
                self._durations.record(time.perf_counter() - began, labels)
