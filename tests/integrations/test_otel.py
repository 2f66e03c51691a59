"""Spans and metrics of OpenTelemetry."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from typing import Any

import openai as openai_client
import psycopg
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
from support.scripted_model import Script, embedder, fact, model, talk
from support.scripted_openai import ScriptedOpenAI, Status, calls


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


@pytest.fixture
def traced(
    scripted_memory: AgentMemory, tracers: TracerProvider, reader: InMemoryMetricReader
) -> AgentMemory:
    """A client at the scripted model."""
    return instrument(
        scripted_memory, tracer_provider=tracers, meter_provider=MeterProvider([reader])
    )


def named(exporter: InMemorySpanExporter, start: str) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.name.startswith(start)]


def points(reader: InMemoryMetricReader, name: str) -> list[Any]:
    data = reader.get_metrics_data()
    assert data is not None
    return [
        point
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
        for point in metric.data.data_points
    ]


def weather(city: str) -> str:
    if city != "Lyon":
        raise ValueError("alphacanary")
    return "sunny"


WEATHER = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
}


def test_turn_has_spans_of_model_and_tools(
    traced: AgentMemory, tracers: TracerProvider, exporter: InMemorySpanExporter,
    reader: InMemoryMetricReader, openai: ScriptedOpenAI,
) -> None:  # fmt: skip
    openai.then(
        calls(("weather", {"city": "Lyon"}), ("weather", {"city": "Paris"}),
              ("search_memories", {"query": "tea"}), ("remember", {})),
        "It is sunny.",
    )  # fmt: skip
    chat = traced.session(user=f"ada-{uuid.uuid4()}", model="gpt-4o-mini", extraction="none")
    with tracers.get_tracer("test").start_as_current_span("caller") as caller:
        chat.send("Weather?", tools=[WEATHER], functions={"weather": weather},
                  memory_tools=True, temperature=0.25)  # fmt: skip
    first, second = named(exporter, "chat ")
    assert first.name == "chat gpt-4o-mini"
    found = attributes(first)
    assert found["gen_ai.request.model"] == found["gen_ai.response.model"] == "gpt-4o-mini"
    assert (found["gen_ai.usage.input_tokens"], found["gen_ai.usage.output_tokens"]) == (1000, 100)
    assert found["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert found["gen_ai.request.temperature"] == 0.25
    assert found["gen_ai.conversation.id"] == str(chat.session_id)
    assert attributes(second)["gen_ai.response.finish_reasons"] == ("stop",)
    tools = named(exporter, "execute_tool ")
    assert [span.name for span in tools] == [
        "execute_tool weather", "execute_tool weather", "execute_tool search_memories",
        "execute_tool remember",
    ]  # fmt: skip
    assert [attributes(span).get("error.type") for span in tools] == [
        None, "tool_error", None, "tool_error",
    ]  # fmt: skip
    assert {span.kind for span in tools} == {SpanKind.INTERNAL}
    [search] = named(exporter, "search_memory")
    assert search.parent is not None
    assert tools[2].context is not None
    assert search.parent.span_id == tools[2].context.span_id
    trace_id = caller.get_span_context().trace_id
    assert {span.context.trace_id for span in (first, second, *tools) if span.context} == {trace_id}
    assert "alphacanary" not in str([attributes(span) for span in exporter.get_finished_spans()])
    used = points(reader, "gen_ai.client.token.usage")
    assert {(point.attributes["gen_ai.token.type"], point.sum) for point in used} == {
        ("input", 2000), ("output", 200),
    }  # fmt: skip


def test_stream_has_a_span_until_its_end(
    traced: AgentMemory, exporter: InMemorySpanExporter, openai: ScriptedOpenAI
) -> None:
    openai.then("It is sunny.", "It is sunny.", Status(400, "no"))
    with traced.session(user=f"ada-{uuid.uuid4()}", model="gpt-4o-mini", extraction="none") as chat:
        with chat.send("Weather?", stream=True) as reply:
            assert next(reply)
            assert not trace.get_current_span().get_span_context().is_valid
            assert named(exporter, "chat ") == []
            assert "".join(reply).endswith("sunny.")
        [whole] = named(exporter, "chat ")
        assert attributes(whole)["gen_ai.request.stream"] is True
        assert attributes(whole)["gen_ai.usage.output_tokens"] == 100
        with chat.send("Weather?", stream=True) as reply:
            assert next(reply)
        with pytest.raises(openai_client.BadRequestError):
            chat.send("Weather?")
    closed, refused = named(exporter, "chat ")[1:]
    assert attributes(closed)["error.type"] == "GeneratorExit"
    assert attributes(refused)["error.type"] == "BadRequestError"
    with chat.send("Weather?", stream=True) as reply:  # the interrupted text was stored
        pass
    stored = traced.sessions.messages(chat.user_id, chat.session_id)
    assert "interrupted" in {message.finish_reason for message in stored}


def test_job_has_a_span_with_its_models_and_steps(
    traced: AgentMemory, exporter: InMemorySpanExporter, reader: InMemoryMetricReader,
    script: Script, db: psycopg.Connection,
) -> None:  # fmt: skip
    script.facts = {"I switched to SQLite": [fact("User uses SQLite.")]}
    user = traced.users.id(f"ada-{uuid.uuid4()}")
    db.execute('select recall.configure(\'{"ledger": "calls"}\')')
    chat = talk(traced, user, ["I switched to SQLite"])
    exporter.clear()
    traced.worker(kinds=["extract"]).run_until_idle()
    [job] = named(exporter, "pgrecall.job")
    found = attributes(job)
    assert (found["pgrecall.job.kind"], found["pgrecall.job.outcome"]) == ("extract", "done")
    assert found["gen_ai.conversation.id"] == str(chat.session_id)
    assert "user.id" not in found
    assert job.kind is SpanKind.CONSUMER
    children = [
        span.name
        for span in exporter.get_finished_spans()
        if span.parent and job.context and span.parent.span_id == job.context.span_id
    ]
    assert children == ["chat gpt-4o-mini"]
    [chatted] = named(exporter, "chat ")
    assert attributes(chatted)["pgrecall.purpose"] == "extract"
    assert attributes(chatted)["gen_ai.usage.input_tokens"] == 1000
    [lag] = points(reader, "pgrecall.queue.lag")
    assert lag.attributes == {"pgrecall.job.kind": "extract"}
    assert 0 < lag.sum < 600
    query = "select metadata ->> 'trace_id' from recall.model_calls where job_id is not null"
    traced._core.background.drain()
    assert job.context is not None
    assert {row[0] for row in db.execute(query)} == {f"{job.context.trace_id:032x}"}


def test_failed_job_has_an_error(
    traced: AgentMemory,
    exporter: InMemorySpanExporter,
    openai: ScriptedOpenAI,
    db: psycopg.Connection,
) -> None:
    openai.respond = lambda _: "I would rather not: alphacanary"
    talk(traced, traced.users.id(f"ada-{uuid.uuid4()}"), ["I use Vim"])
    traced.worker(kinds=["extract"]).run_until_idle()
    [job] = named(exporter, "pgrecall.job")
    assert attributes(job)["pgrecall.job.outcome"] == "failed"
    assert job.status.status_code is StatusCode.ERROR
    assert "alphacanary" not in str([attributes(span) for span in exporter.get_finished_spans()])
    db.execute("delete from recall.jobs")


def test_asynchronous_client_has_the_same_spans(
    model_dsn: str, tracers: TracerProvider, exporter: InMemorySpanExporter,
    openai: ScriptedOpenAI, script: Script,
) -> None:  # fmt: skip
    user = f"ada-{uuid.uuid4()}"
    script.facts = {"I switched to SQLite": [fact("User uses SQLite.")]}
    openai.then(calls(("search_memories", {"query": "tea"})), "It is sunny.", "It is sunny.")

    async def main() -> None:
        async with AsyncAgentMemory.connect(
            model_dsn, embedder=embedder(openai), llm=model(openai)
        ) as memory:
            instrument(memory, tracer_provider=tracers, contents=True, users=True)
            async with memory.session(user=user, model="gpt-4o-mini") as chat:
                await chat.send("I switched to SQLite", memory_tools=True)
                async with await chat.send("Weather?", stream=True) as reply:
                    async for _ in reply:
                        break
                await chat.close()
            await memory.worker(kinds=["extract"]).run_until_idle()

    asyncio.run(main())
    asked = named(exporter, "chat ")
    assert len(asked) == 4
    assert attributes(asked[2])["error.type"] == "GeneratorExit"
    [tool] = named(exporter, "execute_tool ")
    assert attributes(tool)["gen_ai.tool.call.arguments"] == '{"query": "tea"}'
    assert "memories" in attributes(tool)["gen_ai.tool.call.result"]
    [job] = named(exporter, "pgrecall.job")
    assert "user.id" in attributes(job)
    assert job.context is not None
    assert asked[3].parent is not None
    assert asked[3].parent.span_id == job.context.span_id


def test_other_clients_have_no_spans(
    traced: AgentMemory, model_dsn: str, exporter: InMemorySpanExporter, openai: ScriptedOpenAI
) -> None:
    openai.then("It is sunny.", "It is sunny.")
    with AgentMemory.connect(model_dsn, embedder=False, llm=model(openai)) as other:
        chat = other.session(user="bob", model="gpt-4o-mini", extraction="none")
        chat.send("Weather?")
        with chat.send("Weather?", stream=True) as reply:
            assert "".join(reply) == "It is sunny."
    assert exporter.get_finished_spans() == ()


def test_span_costs_little_without_an_sdk() -> None:
    recorder = _Recorder(trace.NoOpTracer(), metrics.NoOpMeterProvider().get_meter("x"), False,
                         False)  # fmt: skip
    off = _Recorder(trace.get_tracer("x"), metrics.get_meter("x"), False, False, is_global=True)
    assert off._is_off()
    assert not recorder._is_off()
    call = Call("search", b"", {"user_id": uuid.uuid4(), "query": "tea"})
    for one in (recorder, off):
        traced = one.over(lambda _: ([], []), one.call)
        costs = []
        for _ in range(5):
            began = time.process_time()
            for _ in range(2000):
                traced(call)
            costs.append((time.process_time() - began) / 2000)
        assert min(costs) < 50e-6


def test_sdk_that_comes_later_records(dsn: str) -> None:
    program = f"""
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pgrecall import AgentMemory
from pgrecall.integrations.otel import instrument
exporter = InMemorySpanExporter()
with instrument(AgentMemory.connect({dsn!r}, embedder=False)) as memory:
    memory.search("ada", "tea")
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    memory.search("ada", "tea")
print([span.name for span in exporter.get_finished_spans()])
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True,
                          text=True)  # fmt: skip
    assert done.stdout == "['search_memory']\n", done.stderr
