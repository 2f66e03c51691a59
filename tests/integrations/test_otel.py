"""Spans and metrics of OpenTelemetry."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from pgrecall import AgentMemory, AsyncAgentMemory, NotFoundError
from pgrecall._sql import Call
from pgrecall.integrations.otel import _Recorder, _with_trace, instrument
from support import EMBEDDING_MODEL
from support.fakes import WordEmbedder


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracers(exporter: InMemorySpanExporter) -> TracerProvider:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider


@pytest.fixture
def reader() -> InMemoryMetricReader:
    return InMemoryMetricReader()


@pytest.fixture
def memory(
    dsn: str, tracers: TracerProvider, reader: InMemoryMetricReader
) -> Iterator[AgentMemory]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        meters = MeterProvider([reader])
        yield instrument(
            instrument(memory, tracer_provider=tracers, meter_provider=meters),
            tracer_provider=tracers,
        )


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_operations_have_spans_without_contents_and_users(
    memory: AgentMemory, exporter: InMemorySpanExporter, reader: InMemoryMetricReader
) -> None:
    user = f"ada-{uuid.uuid4()}"
    kept = memory.remember(user, "Ada likes the alphacanary").memory_id
    assert len(memory.search(user, "alphacanary")) == 1
    other = memory.memories.edit(user, kept, "Ada likes the alphacanary very much")
    memory.memories.retract(user, other)
    with memory.session(user=user, model="gpt-4o-mini", extraction="none") as chat:
        chat.append(user="alphacanary")
        chat.context("alphacanary?")
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == [
        "upsert_memory", "search_memory", "update_memory", "delete_memory", "pgrecall.append",
        "pgrecall.compile_context",
    ]  # fmt: skip
    assert {span.kind for span in spans} == {SpanKind.CLIENT}
    found = [attributes(span) for span in spans]
    assert [one["gen_ai.operation.name"] for one in found] == [span.name for span in spans]
    assert found[1]["gen_ai.memory.record.count"] == 1
    assert found[3]["gen_ai.memory.record.id"] == str(other)
    assert found[5]["gen_ai.conversation.id"] == str(chat.session_id)
    assert found[5]["pgrecall.context.tokens"] > 0
    assert "alphacanary" not in str(found)
    assert str(memory.users.id(user)) not in str(found)
    data = reader.get_metrics_data()
    assert data is not None
    measured = {
        metric.name: metric
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    assert {*measured} == {"gen_ai.client.operation.duration", "pgrecall.context.tokens"}
    durations = measured["gen_ai.client.operation.duration"].data.data_points
    assert {point.attributes["gen_ai.operation.name"] for point in durations if point.attributes} \
        == {span.name for span in spans}  # fmt: skip


def test_contents_and_users_are_recorded_on_request(
    dsn: str, tracers: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        instrument(memory, tracer_provider=tracers, contents=True, users=True)
        memory.search("ada", "Which tea?")
        [span] = exporter.get_finished_spans()
        found = attributes(span)
        assert found["gen_ai.memory.query.text"] == "Which tea?"
        assert found["user.id"] == str(memory.users.id("ada"))


def test_error_is_recorded_by_its_type_only(
    memory: AgentMemory, exporter: InMemorySpanExporter
) -> None:
    with pytest.raises(NotFoundError):
        memory.memories.edit("ada", uuid.uuid4(), "alphacanary")
    [span] = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert attributes(span)["error.type"] == "RC001"
    assert not span.events
    assert not span.status.description


def test_asynchronous_client_records_embeddings_within_the_callers_span(
    dsn: str, tracers: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    embedder = WordEmbedder(EMBEDDING_MODEL)

    async def main() -> None:
        async with AsyncAgentMemory.connect(dsn, embedder=embedder) as memory:
            instrument(memory, tracer_provider=tracers)
            with tracers.get_tracer("test").start_as_current_span("caller"):
                await memory.search("ada", "tea")

    asyncio.run(main())
    embeddings, search, caller = exporter.get_finished_spans()
    assert (search.name, embeddings.name, caller.name) == ("search_memory", "embeddings", "caller")
    assert search.parent is not None
    assert caller.context is not None
    assert search.parent.span_id == caller.context.span_id


def test_call_log_gets_the_trace_id_within_a_span_only(tracers: TracerProvider) -> None:
    metadata: list[Any] = []
    recording = _with_trace(lambda *given: metadata.append(given[4]))
    recording("ada", None, None, "full", {"a": 1})
    with tracers.get_tracer("test").start_as_current_span("caller") as span:
        recording("ada", None, None, "full", {"a": 1})
        trace_id = f"{span.get_span_context().trace_id:032x}"
    assert metadata == [{"a": 1}, {"trace_id": trace_id, "a": 1}]


def test_span_costs_little_without_an_sdk() -> None:
    recorder = _Recorder(trace.NoOpTracer(), metrics.NoOpMeterProvider().get_meter("x"), False,
                         False)  # fmt: skip
    call = Call("search", b"", {"user_id": uuid.uuid4(), "query": "tea"})
    traced = recorder.over(lambda _: ([], []), recorder.call)
    costs = []
    for _ in range(5):
        began = time.process_time()
        for _ in range(2000):
            traced(call)
        costs.append((time.process_time() - began) / 2000)
    assert min(costs) < 50e-6
