"""Spans and metrics by OpenTelemetry's conventions for generative AI.

::

    memory = instrument(AgentMemory.connect("postgresql://…"))

It needs `opentelemetry-api` only; without an SDK the application records nothing.
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any, TypeVar

from opentelemetry import metrics, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from pgrecall import AgentMemory, AsyncAgentMemory, AsyncMemoryTools, MemoryTools
from pgrecall._async.turn import AsyncTurn
from pgrecall._json import dump
from pgrecall._process import Origin, lock
from pgrecall._sql import Call
from pgrecall._sync.turn import Turn
from pgrecall._tools import AskedCall
from pgrecall.models._chat import ChatModel
from pgrecall.rows import Job

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
}
_REQUEST = {"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_tokens",
            "max_completion_tokens": "max_tokens"}  # fmt: skip

# of the job that this context works on: its model belongs to no client
_recorder: ContextVar[_Recorder | None] = ContextVar("pgrecall_recorder", default=None)
_patching = lock()
_patched: set[type] = set()


def instrument(
    memory: Memory,
    *,
    tracer_provider: trace.TracerProvider | None = None,
    meter_provider: metrics.MeterProvider | None = None,
    contents: bool = False,
    users: bool = False,
) -> Memory:
    """Make a client record spans and metrics of its calls, and return it.

    Sessions and workers of the client are included, with their calls of models and tools. The call
    log gets the trace id of the current span in `metadata.trace_id`. A client made by
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
        is_global=tracer_provider is None and meter_provider is None,
    )
    databases: list[Any] = []
    for database in (core.write, core.history, core.memory, core.work):
        if database not in databases:  # several names of one database
            databases.append(database)
            database.fetch = recorder.over(database.fetch, recorder.call)
    if core._given_embedder is not False:  # noqa: SLF001
        core.embedded = recorder.over(core.embedded, recorder.embeddings)
    core.recorder = recorder
    endpoint: Any = memory._endpoint  # noqa: SLF001
    endpoint.recorder = recorder
    _patch()
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


def _patch() -> None:
    """Wrap methods of objects that clients make, once; without a recorder they do as before."""
    from pgrecall._async.worker import AsyncWorker
    from pgrecall._sync.worker import Worker

    with _patching:
        if ChatModel in _patched:
            return
        _patched.add(ChatModel)
        for turn in (Turn, AsyncTurn):
            _replace(turn, "_ask", _asking)
            _replace(turn, "_create", partial(_within, _turn_recorder, _Recorder.request))
            _replace(turn, "_called", partial(_within, _turn_recorder, _Recorder.tool))
        for tools in (MemoryTools, AsyncMemoryTools):
            _replace(tools, "dispatch", partial(_within, _tools_recorder, _Recorder.tool))
        for worker in (Worker, AsyncWorker):
            _replace(worker, "_do", partial(_within, _worker_recorder, _Recorder.job))
        _replace(ChatModel, "complete", partial(_within, lambda _: _recorder.get(), _Recorder.step))


def _replace(made: type, name: str, wrapper: Callable[[Any], Any]) -> None:
    setattr(made, name, wrapper(getattr(made, name)))


def _turn_recorder(turn: Any) -> _Recorder | None:
    return getattr(turn.endpoint, "recorder", None)


def _tools_recorder(tools: Any) -> _Recorder | None:
    return getattr(tools._memories._core, "recorder", None)  # noqa: SLF001


def _worker_recorder(worker: Any) -> _Recorder | None:
    return getattr(worker._core, "recorder", None)  # noqa: SLF001


def _within(
    recorder_of: Callable[[Any], _Recorder | None],
    around: Callable[..., Any],
    method: Callable[..., Any],
) -> Callable[..., Any]:
    """Return a method that runs within `around` of its object's recorder, if there is one."""
    if inspect.iscoroutinefunction(method):

        @wraps(method)
        async def call(self: Any, *arguments: Any, **named: Any) -> Any:
            recorder = recorder_of(self)
            if recorder is None:
                return await method(self, *arguments, **named)
            with around(recorder, self, *arguments) as take:
                result = await method(self, *arguments, **named)
                take(result)
                return result

        return call

    @wraps(method)
    def call_blocking(self: Any, *arguments: Any, **named: Any) -> Any:
        recorder = recorder_of(self)
        if recorder is None:
            return method(self, *arguments, **named)
        with around(recorder, self, *arguments) as take:
            result = method(self, *arguments, **named)
            take(result)
            return result

    return call_blocking


def _asking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the generator that asks a model, with a span until its last piece."""
    if inspect.isasyncgenfunction(method):

        @wraps(method)
        async def ask(self: Any) -> Any:
            recorder = _turn_recorder(self)
            if recorder is None:
                async with aclosing(method(self)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            with recorder.chat(self):
                async with aclosing(method(self)) as pieces:
                    async for piece in pieces:
                        yield piece

        return ask

    @wraps(method)
    def ask_blocking(self: Any) -> Any:
        recorder = _turn_recorder(self)
        if recorder is None:
            yield from method(self)
            return
        with recorder.chat(self):
            yield from method(self)

    return ask_blocking


class _Recorder:
    """Makes spans and measures durations."""

    def __init__(
        self,
        tracer: trace.Tracer,
        meter: metrics.Meter,
        contents: bool,
        users: bool,
        is_global: bool = False,
    ) -> None:
        self._tracer = tracer
        self._is_global = is_global
        self._contents = contents
        self._users = users
        self._durations = meter.create_histogram(
            "gen_ai.client.operation.duration", "s", "Duration of operations."
        )
        self._tokens = meter.create_histogram(
            "pgrecall.context.tokens", "{token}", "Tokens of compiled contexts."
        )
        self._usage = meter.create_histogram(
            "gen_ai.client.token.usage", "{token}", "Tokens that calls of models used."
        )
        self._waits = meter.create_histogram(
            "pgrecall.queue.lag", "s", "Time from enqueueing a job to its start."
        )

    def over(self, method: Callable[..., Any], around: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method within `around`, which gives what takes its result, or None."""
        if inspect.iscoroutinefunction(method):

            @wraps(method)
            async def call(*arguments: Any, **named: Any) -> Any:
                if self._is_off():
                    return await method(*arguments, **named)
                with around(*arguments) as take:
                    result = await method(*arguments, **named)
                    if take is not None:
                        take(result)
                    return result

            return call

        @wraps(method)
        def call_blocking(*arguments: Any, **named: Any) -> Any:
            if self._is_off():
                return method(*arguments, **named)
            with around(*arguments) as take:
                result = method(*arguments, **named)
                if take is not None:
                    take(result)
                return result

        return call_blocking

    def _is_off(self) -> bool:
        """Return whether nothing records: a search saves 0.05 ms then. An SDK may come later."""
        return (
            self._is_global
            and isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
            and type(metrics.get_meter_provider()).__name__ == "_ProxyMeterProvider"
        )

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
    def chat(self, turn: Any) -> Iterator[None]:
        """Record a call of `send`; for a stream until its end, which a reader may delay.

        Between two pieces the reader's code runs, so the span is the current one in `request` only.
        """
        asked: dict[str, Any] = {**turn.conversation.params, **turn.parameters}
        attributes = {
            **_request(asked),
            "gen_ai.conversation.id": str(turn.conversation.session_id),
            "gen_ai.request.stream": turn.is_streamed,
        }
        answered, turn._answered = turn._answered, {}  # noqa: SLF001
        name = f"chat {asked['model']}"
        with self._span(name, "chat", self._of_user(attributes, turn.conversation.user_id),
                        is_current=False) as span:  # fmt: skip
            turn._span = span  # noqa: SLF001
            try:
                yield
            finally:
                self._take_completion(span, turn._answered, asked["model"])  # noqa: SLF001
                turn._answered = turn._answered or answered  # noqa: SLF001

    @contextmanager
    def request(self, turn: Any, *_: Any) -> Iterator[Callable[[Any], None]]:
        """Make the span of a turn the current one while its request is sent."""
        with trace.use_span(turn._span, record_exception=False,  # noqa: SLF001
                            set_status_on_exception=False):  # fmt: skip
            yield lambda _: None

    @contextmanager
    def step(self, _: Any, request: Mapping[str, Any]) -> Iterator[Callable[[Any], None]]:
        """Record a call of a model in a worker."""
        attributes = {**_request(request), "pgrecall.purpose": str(request.get("purpose"))}
        with self._span(f"chat {request['model']}", "chat", attributes) as span:
            yield lambda answer: self._take_completion(span, dump(answer), request["model"])

    @contextmanager
    def tool(self, _: Any, call: Any) -> Iterator[Callable[[Any], None]]:
        """Record a call of a tool; one that answers with an error has the error.type tool_error."""
        asked = call if isinstance(call, AskedCall) else AskedCall.of(call)
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": asked.name,
            "gen_ai.tool.call.id": asked.id,
            "gen_ai.tool.type": "function",
        }
        if self._contents:
            attributes["gen_ai.tool.call.arguments"] = asked.arguments
        with self._span(f"execute_tool {asked.name}", "execute_tool", attributes,
                        kind=SpanKind.INTERNAL) as span:  # fmt: skip

            def take(answer: Any) -> None:
                text = answer["content"] if isinstance(answer, Mapping) else answer
                if self._contents:
                    span.set_attribute("gen_ai.tool.call.result", text)
                if _is_error(text):
                    span.set_attribute("error.type", "tool_error")
                    span.set_status(Status(StatusCode.ERROR))

            yield take

    @contextmanager
    def job(self, _: Any, job: Job) -> Iterator[Callable[[Any], None]]:
        """Record a whole job, from its claim to its end, and how long it had waited."""
        # the ids of jobs are of version 7, with their time
        waited = max(0.0, time.time() - (job.job_id.int >> 80) / 1000)
        self._waits.record(waited, {"pgrecall.job.kind": job.kind})
        attributes = {
            "pgrecall.job.kind": job.kind,
            "pgrecall.job.id": str(job.job_id),
            "pgrecall.job.attempt": job.attempts,
        }
        if job.session_id is not None:
            attributes["gen_ai.conversation.id"] = str(job.session_id)
        token = _recorder.set(self)
        try:
            with self._span("pgrecall.job", "pgrecall.job", self._of_user(attributes, job.user_id),
                            kind=SpanKind.CONSUMER) as span:  # fmt: skip

                def take(outcome: Any) -> None:
                    state = "done" if outcome.is_done else "failed" if outcome.error else (
                        "deferred" if outcome.is_deferred else "lost")  # fmt: skip
                    span.set_attribute("pgrecall.job.outcome", state)
                    if state == "failed":
                        span.set_attribute("error.type", "job_failed")
                        span.set_status(Status(StatusCode.ERROR))

                yield take
        finally:
            _recorder.reset(token)

    def _of_user(self, attributes: dict[str, Any], user_id: Any) -> dict[str, Any]:
        return {**attributes, "user.id": str(user_id)} if self._users else attributes

    def _take_completion(self, span: trace.Span, completion: Mapping[str, Any], model: str) -> None:
        """Record what a model answered: its name, its reasons to stop, and the tokens."""
        if not completion:
            return
        usage = completion.get("usage") or {}
        reasons = [choice.get("finish_reason") for choice in completion.get("choices") or ()]
        span.set_attribute("gen_ai.response.finish_reasons", [one for one in reasons if one])
        for name in ("id", "model"):
            if completion.get(name):
                span.set_attribute(f"gen_ai.response.{name}", completion[name])
        for name, kind in (("prompt_tokens", "input"), ("completion_tokens", "output")):
            if isinstance(count := usage.get(name), int):
                span.set_attribute(f"gen_ai.usage.{kind}_tokens", count)
                self._usage.record(
                    count,
                    {
                        "gen_ai.operation.name": "chat",
                        "gen_ai.provider.name": "openai",
                        "gen_ai.request.model": model,
                        "gen_ai.token.type": kind,
                    },
                )

    @contextmanager
    def _span(
        self,
        name: str,
        operation: str,
        attributes: dict[str, Any],
        *,
        kind: SpanKind = SpanKind.CLIENT,
        is_current: bool = True,
    ) -> Iterator[trace.Span]:
        """Record a span and its duration; of an error its type only, since texts may quote."""
        began = time.perf_counter()
        labels = {"gen_ai.operation.name": operation}
        span = self._tracer.start_span(name, kind=kind, attributes=attributes)
        origin = Origin("this span", "The parent ends it.")
        try:
            if is_current:
                with trace.use_span(span, record_exception=False, set_status_on_exception=False):
                    yield span
            else:
                yield span
        except BaseException as error:
            kind_of_error = getattr(error, "sqlstate", None) or type(error).__name__
            labels["error.type"] = kind_of_error
            span.set_attribute("error.type", kind_of_error)
            span.set_status(Status(StatusCode.ERROR))
            raise
        finally:
            if not origin.is_elsewhere:
                span.end()
                self._durations.record(time.perf_counter() - began, labels)


def _request(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a request for a chat completion."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",  # the protocol; which endpoint answers is not known here
        "gen_ai.request.model": request["model"],
    }
    for name, attribute in _REQUEST.items():
        if request.get(name) is not None:
            attributes[f"gen_ai.request.{attribute}"] = request[name]
    return attributes


def _is_error(text: Any) -> bool:
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        return False
    return isinstance(found, Mapping) and {"error"} <= set(found) <= {"error", "memory_tool"}
