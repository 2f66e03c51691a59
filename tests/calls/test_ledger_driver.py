"""The driver's half of the ledger: calls over real HTTP are recorded whole, without credentials."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, quote_plus

import httpx2
import openai as openai_package
import psycopg
import pytest
from openai.types.chat import ChatCompletion

from pgrecall import AgentMemory, AsyncAgentMemory
from pgrecall._messages import merge_chunks
from pgrecall.calls import AsyncRecordingClient, RecordingClient, replay
from pgrecall.calls._redaction import Redactor
from pgrecall.cli._main import _run
from pgrecall.encryption import LocalWrappingKeys
from pgrecall.errors import ConfigurationError
from support import raise_errors, refused, rows, run, together, value
from support.scripted_model import MODEL, Script, embedder, fact, model, talk, work
from support.scripted_openai import (
    Broken,
    Calls,
    Cut,
    Hang,
    Refusal,
    ScriptedOpenAI,
    Status,
    Unfinished,
)
from support.secret_shapes import COMMON, HARMLESS, SHAPES

Connection = psycopg.Connection[Any]

ASKED = [{"role": "user", "content": "Which editor do I use?"}]


@contextmanager
def raw_server(*answers: Any) -> Iterator[str]:
    """An endpoint that answers each request with status, headers and pieces of a body."""
    waiting = list(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:  # noqa: ARG002
            return

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            status, headers, pieces = waiting.pop(0)
            self.send_response(status)
            for name, text in headers.items():
                self.send_header(name, text)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in pieces:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def known(memory: AgentMemory, user: uuid.UUID) -> uuid.UUID:
    memory.users.ensure(user)
    return user


def client(base_url: str, **more: Any) -> openai_package.OpenAI:
    settings: dict[str, Any] = {"api_key": "sk-" + "test4a5b6c7d8e9f0a1b2c3d", "max_retries": 0}
    return openai_package.OpenAI(
        base_url=base_url, http_client=RecordingClient(), **settings | more
    )


def only_call(memory: AgentMemory, user: uuid.UUID) -> Any:
    [call] = memory.calls.list(user)
    return call


def sse(*payloads: Any) -> bytes:
    return b"".join(f"data: {json.dumps(one)}\n\n".encode() for one in payloads)


def delta(**fields: Any) -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL,
            "choices": [{"index": 0, "delta": fields, "finish_reason": None}]}  # fmt: skip


JSON = {"Content-Type": "application/json"}
EVENTS = {"Content-Type": "text/event-stream"}


# A client of one's own


def test_a_call_is_recorded_whole(
    memory: AgentMemory, openai: ScriptedOpenAI, known: uuid.UUID
) -> None:
    openai.then("You use Vim.")
    asking = client(openai.base_url)
    with memory.calls.recording(known, metadata={"why": "a test"}) as recording:
        reply = asking.chat.completions.create(model=MODEL, messages=ASKED)  # type: ignore[arg-type]
    call = only_call(memory, known)
    assert [call.call_id] == recording.call_ids
    assert json.loads(call.request_body) == openai.chats[-1] == call.request
    assert ChatCompletion.model_validate_json(call.response_body) == reply
    assert call.response["choices"][0]["message"]["content"] == "You use Vim."
    assert (call.provider, call.model, call.status_code) == ("127.0.0.1", MODEL, 200)
    assert call.endpoint == f"{openai.base_url}/chat/completions"
    assert (call.prompt_tokens, call.completion_tokens, call.cached_tokens) == (1000, 100, 400)
    # 600 × 15, 400 × 7.5 and 100 × 60 micro-cents, by the prices in models
    assert call.cost_microcents == 18000
    assert call.request_headers["content-type"] == "application/json"
    assert "authorization" not in call.request_headers
    assert call.latency_ms >= 0
    assert (call.error, call.is_stream, call.metadata) == (None, False, {"why": "a test"})
    assert memory.calls.unrecorded == 0
    openai.then("Not recorded.")
    asking.chat.completions.create(model=MODEL, messages=ASKED)  # type: ignore[arg-type]
    assert only_call(memory, known).call_id == call.call_id


TOOLS = Calls(
    (("find", {"text": "editor", "limit": 3}), ("count", {"of": "é🎈"})), text="Let me see."
)


@pytest.mark.parametrize(
    ("answer", "is_complete"),
    [("You use Vim, I believe.", True), (TOOLS, True), (Refusal("No, never."), True),
     (Cut("It is"), True), (Unfinished("You use"), False)],
    ids=["text", "tools", "refusal", "length", "unfinished"],
)  # fmt: skip
def test_a_stream_is_replayed_as_it_was_live(
    memory: AgentMemory, openai: ScriptedOpenAI, known: uuid.UUID, answer: Any, is_complete: bool
) -> None:
    openai.then(answer)
    with (
        memory.calls.recording(known),
        client(openai.base_url).chat.completions.create(
            model=MODEL,
            messages=ASKED,
            stream=True,
            stream_options={"include_usage": True},  # type: ignore[arg-type]
        ) as stream,
    ):
        chunks = list(stream)
    live = merge_chunks(chunks)
    call = only_call(memory, known)
    events = memory.calls.stream_events(known, call.call_id)
    assert [event.payload for event in events[:-1]] == [
        json.loads(line[6:]) for line in call.response_body.decode().split("\n\n")[:-2]
    ]
    assert events[-1].event_type == "[DONE]"
    assert all(event.occurred_at is not None for event in events)
    for source in (call.response_body, events, chunks):
        again = replay(source)
        assert again.is_complete == is_complete
        message = merge_chunks([])["choices"][0]["message"]
        made = again.answer.model_dump(mode="json", exclude_none=True)  # type: ignore[union-attr]
        choice = made["choices"][0]
        expected = live["choices"][0]
        assert choice.get("finish_reason") == expected["finish_reason"]
        assert made.get("usage") == live["usage"]
        message = {key: item for key, item in choice["message"].items() if item != ""}
        assert message == {key: item for key, item in expected["message"].items() if item != ""}
    assert call.is_stream
    assert call.error == (None if is_complete else "the stream ended before its answer did")
    assert (call.prompt_tokens == 1000) == is_complete
    said = call.response["choices"][0]["message"].get("content") or None
    assert said == expected["message"].get("content")
    if answer is TOOLS:
        openai.then(Calls(answer.calls, text=answer.text, ids=("a", "b")),
                    Calls(answer.calls, text=answer.text, ids=("a", "b")))  # fmt: skip
        with memory.calls.recording(known) as recording:
            asking = client(openai.base_url)
            with asking.chat.completions.stream(model=MODEL, messages=ASKED) as state:  # type: ignore[arg-type]
                final = state.get_final_completion()
        recorded = memory.calls.get(known, recording.call_ids[0])
        assert recorded is not None
        message = replay(recorded.response_body).answer.choices[0].message  # type: ignore[union-attr]
        assert message.content == final.choices[0].message.content
        assert [call.function.arguments for call in message.tool_calls] == [
            call.function.arguments
            for call in final.choices[0].message.tool_calls or ()  # type: ignore[union-attr]
        ]


def test_bodies_are_stored_byte_for_byte(
    memory: AgentMemory, known: uuid.UUID, db: Connection
) -> None:
    plain = b'{"b": "a\\u0000b",  "a": 1, "a": "\\ud83d", "choices": []}'
    broken = b'\xff\xfe{"a": \x80}\\ \x00 "'
    stream = (
        b": a comment\r\nevent: x\r\ndata: "
        + json.dumps(delta(content="a\0b")).encode()
        + b"\r\n\r\ndata: [DONE]\n\n"
    )
    with (
        raw_server((200, JSON, [plain[:9], plain[9:]]), (200, JSON, [broken]),
                   (200, EVENTS, [stream[:40], stream[40:]]),
                   (200, JSON | {"Content-Encoding": "gzip"}, [gzip.compress(plain)])) as url,
        memory.calls.recording(known),
    ):  # fmt: skip
        asking = client(url)
        said = [{"role": "user", "content": "one \0"}]
        asking.chat.completions.create(model=MODEL, messages=said)  # type: ignore[call-overload]
        with pytest.raises(ValueError, match=r"codec|JSON|Expecting"):
            asking.chat.completions.create(model=MODEL, messages=ASKED)  # type: ignore[call-overload]
        list(asking.chat.completions.create(model=MODEL, messages=ASKED, stream=True))  # type: ignore[call-overload]
        asking.chat.completions.create(model=MODEL, messages=ASKED)  # type: ignore[arg-type]
    packed, streamed, second, first = memory.calls.list(known)
    assert (first.response_body, second.response_body) == (plain, broken)
    assert (packed.response_body, packed.error) == (plain, None)
    assert json.loads(first.request_body)["messages"][0]["content"] == "one \0"
    assert first.request["messages"][0]["content"] == "one \ufffd"
    assert second.error == "the answer is no JSON"
    assert streamed.response_body == stream
    events = memory.calls.stream_events(known, streamed.call_id)
    assert json.loads(events[0].binary_payload or b"") == delta(content="a\0b")
    assert events[0].payload["choices"][0]["delta"]["content"] == "a\ufffdb"
    for source in (streamed.response_body, events):
        assert replay(source).answer.choices[0].message.content == "a\0b"  # type: ignore[union-attr]
    assert memory.calls.unrecorded == 0


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [(Status(429, "slow down"), 429, "HTTP 429: slow down"), (Hang(), None, "ReadTimeout"),
     (Broken("You use "), 200, "RemoteProtocolError")],
    ids=["status", "time-out", "broken"],
)  # fmt: skip
def test_failures_are_recorded_and_raised(
    memory: AgentMemory,
    openai: ScriptedOpenAI,
    known: uuid.UUID,
    answer: Any,
    status: Any,
    words: str,
) -> None:
    openai.then(answer)
    with (
        memory.calls.recording(known),
        pytest.raises((openai_package.OpenAIError, httpx2.HTTPError)),
    ):
        list(client(openai.base_url, timeout=0.3).chat.completions.create(
            model=MODEL, messages=ASKED, stream=True))  # type: ignore[call-overload]  # fmt: skip
    call = only_call(memory, known)
    assert call.status_code == status
    assert words in call.error
    assert call.request["messages"] == ASKED
    if status == 200:
        again = replay(call.response_body)
        assert (again.is_complete, again.answer.choices[0].message.content) == (False, "You use ")  # type: ignore[union-attr]


def test_refused_connection_is_recorded_with_its_error(
    memory: AgentMemory, known: uuid.UUID
) -> None:
    with memory.calls.recording(known), pytest.raises(openai_package.APIConnectionError):
        client("http://127.0.0.1:9/v1").embeddings.create(model="m", input="x")
    call = only_call(memory, known)
    assert (call.status_code, call.response_body, call.model) == (None, None, "m")
    assert call.error.startswith("ConnectError")


def test_stream_that_the_reader_abandons_is_recorded(memory: AgentMemory, known: uuid.UUID) -> None:
    is_over = threading.Event()

    def pieces() -> Iterator[bytes]:
        yield sse(delta(content="One "))
        is_over.wait(30)

    with raw_server((200, EVENTS, pieces())) as url:
        with memory.calls.recording(known):
            asking = client(url)
            with asking.chat.completions.create(model=MODEL, messages=ASKED, stream=True) as stream:  # type: ignore[call-overload]
                next(iter(stream))
        is_over.set()
    call = only_call(memory, known)
    again = replay(call.response_body)
    assert (again.is_complete, again.answer.choices[0].message.content) == (False, "One ")  # type: ignore[union-attr]
    assert call.error == "the stream ended before its answer did"


def test_a_large_body_is_cut_and_says_so(
    memory: AgentMemory, openai: ScriptedOpenAI, known: uuid.UUID
) -> None:
    memory.admin.configure_user(known, ledger_max_body=2048)
    openai.then("x" * 5000)
    key = next(shape.secret for shape in SHAPES if shape.name == "openai")
    text = "y" * 2000 + f" {key} " + "y" * 2000
    with memory.calls.recording(known):
        client(openai.base_url).chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": text}])  # fmt: skip
    call = only_call(memory, known)
    assert (len(call.request_body), len(call.response_body)) == (2048, 2048)
    assert key[:12].encode() not in call.request_body
    assert call.metadata["truncated"]["response_body"] > 5000


def test_a_long_stream_is_recorded_whole(
    memory: AgentMemory, openai: ScriptedOpenAI, known: uuid.UUID
) -> None:
    """In several calls; a key in its middle is masked, wherever the cut is."""
    key = next(shape.secret for shape in SHAPES if shape.name == "github")
    said = [f"word{n:04} " for n in range(2495)] + [key[at : at + 4] for at in range(0, 40, 4)]
    said += [" and on"]
    chunks = [delta(content=piece) for piece in said]
    body = [sse(*chunks), b"data: [DONE]\n\n"]
    with raw_server((200, EVENTS, body)) as url, memory.calls.recording(known):
        list(client(url).chat.completions.create(model=MODEL, messages=ASKED, stream=True))  # type: ignore[call-overload]
    call = only_call(memory, known)
    events = memory.calls.stream_events(known, call.call_id)
    assert len(events) == len(said) + 1
    text = "".join(said).replace(key, "[secret: api key]")
    for source in (events, call.response_body):
        assert replay(source).answer.choices[0].message.content == text  # type: ignore[union-attr]
    assert "".join(event.text_delta or "" for event in events) == text


# Calls that the driver makes by itself


def test_driver_records_what_the_user_setting_asks_for(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    chat = memory.session(user=user, model=MODEL)
    openai.then("Nothing is recorded.")
    chat.send("Hello?", memory_tools=False)
    assert memory.calls.list(user) == []
    memory.admin.configure_user(user, ledger="calls")
    openai.then("A call is.")
    chat.send("And now?", memory_tools=False)
    calls = memory.calls.list(user, session_id=chat.session_id)
    [asked] = calls
    assert memory.calls.stream_events(user, asked.call_id) == []
    memory.admin.configure_user(user, ledger="streams")
    openai.then("So is a stream.")
    with chat.send("And a stream?", memory_tools=False, stream=True) as reply:
        assert "".join(reply) == "So is a stream."
    streamed = memory.calls.list(user, session_id=chat.session_id)[0]
    said = replay(memory.calls.stream_events(user, streamed.call_id)).answer
    assert said.choices[0].message.content == reply.text  # type: ignore[union-attr]
    # what is embedded for a context is asked of the endpoint, too
    embedded = [c for c in memory.calls.list(user) if c.endpoint.endswith("/embeddings")]
    assert [c.request["input"] for c in embedded] == [["And a stream?"], ["And now?"]]


def test_a_message_names_its_call(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID, db: Connection
) -> None:
    chat = memory.session(user=user, model=MODEL)
    chat.open()
    memory.admin.configure_user(user, ledger="calls")
    openai.then(Status(400, "max_tokens is no parameter; use max_completion_tokens"), "Yes.")
    chat.send("Do you?", memory_tools=False)
    answered, failed = memory.calls.list(user, session_id=chat.session_id)
    assert failed.error.startswith("HTTP 400: ")
    found = value(
        db, "select model_call_id from recall.conversation_history where user_id = %s and role ="
        " 'assistant'", [user])  # fmt: skip
    assert found == answered.call_id


def test_calls_of_a_worker_are_recorded(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID
) -> None:
    script.facts["I use Vim."] = [fact("The user uses Vim.")]
    memory.users.ensure(user)
    memory.admin.configure_user(user, ledger="calls")
    chat = talk(memory, user, ["I use Vim."])
    work(memory)
    calls = memory.calls.list(user)
    asked = {call.request.get("response_format", {}).get("json_schema", {}).get("name")
             for call in calls if call.endpoint.endswith("/chat/completions")}  # fmt: skip
    assert "extract" in asked
    assert any(call.endpoint.endswith("/embeddings") for call in calls)
    assert {call.session_id for call in calls} == {chat.session_id}
    assert all(call.job_id is not None and call.error is None for call in calls)


def test_asynchronous_driver_records_and_replays_a_stream(
    model_dsn: str, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    async def main() -> None:
        async with AsyncAgentMemory.connect(
            model_dsn, embedder=embedder(openai), llm=model(openai)
        ) as memory:
            await memory.users.ensure(user)
            await memory.admin.configure_user(user, ledger="streams")
            openai.then("One.", "Two.")
            chat = memory.session(user=user, model=MODEL)
            async with await chat.send("Hello?", memory_tools=False, stream=True) as reply:
                assert [piece async for piece in reply] == ["One."]
            own = openai_package.AsyncOpenAI(
                base_url=openai.base_url, api_key="none", http_client=AsyncRecordingClient()
            )
            with await chat.recording(level="calls"):
                await own.chat.completions.create(model=MODEL, messages=ASKED)  # type: ignore[call-overload]
            calls = await memory.calls.list(user, session_id=chat.session_id)
            assert [call.is_stream for call in calls] == [False, True]
            events = await memory.calls.stream_events(user, calls[1].call_id)
            assert replay(events).is_complete
            await chat.append(user="I use Vim.", reply="I see.")
            await chat.close()
            openai.respond = lambda _: {"facts": [], "episodes": [], "summary": "s", "content": "s"}
            await memory.worker().run_until_idle()
            recorded = await memory.calls.list(user)
            assert any(call.job_id is not None for call in recorded)
            assert memory.calls.unrecorded == 0

    asyncio.run(main())


def test_calls_of_tools_are_recorded(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    key = next(shape.secret for shape in SHAPES if shape.name == "github")
    chat = memory.session(user=user, model=MODEL)
    chat.open()
    asked = Calls((("look", {"at": f"a\0 {key}"}), ("look", {"at": "b"})), ids=("c1", "c2"))
    tool = {"type": "function", "function": {"name": "look", "parameters": {}}}
    for level in ("calls", "streams"):
        memory.admin.configure_user(user, ledger=level, secrets="mask")  # of the history
        openai.then(asked, "Seen.")
        chat.send("Look.", tools=[tool], functions={"look": lambda at: f"saw {at}"},
                  memory_tools=False)  # fmt: skip
        events = memory.calls.protocol_events(user, session_id=chat.session_id)
        assert len(events) == (4 if level == "streams" else 0)
    call = memory.calls.list(user, session_id=chat.session_id)[1]
    assert call.response["choices"][0]["finish_reason"] == "tool_calls"
    found = {(e.direction, e.tool_call_id): e for e in events}
    assert {(e.event_type, e.tool_name, e.call_id) for e in events} == {
        ("tool_call", "look", call.call_id), ("tool_result", "look", call.call_id)}  # fmt: skip
    assert found["request", "c2"].payload == {"at": "b"}
    body = found["request", "c1"].payload_body or b""
    assert json.loads(body) == {"at": "a\0 [secret: api key]"}
    assert found["response", "c2"].payload_body == b"saw b"


def test_calls_are_recorded_over_a_connection_of_the_caller(
    memory: AgentMemory, openai: ScriptedOpenAI, known: uuid.UUID, connect: Any
) -> None:
    """A memory that joins a transaction records over its pool: the call was made, whatever becomes
    of the transaction; one that has nothing else records nothing."""
    conn = connect(autocommit=False)
    joined = memory.joining(conn)
    openai.then("Yes.")
    with joined.calls.recording(known):
        client(openai.base_url).chat.completions.create(model=MODEL, messages=ASKED)  # type: ignore[call-overload]
    joined.remember(known, "The user likes tea.", embedding=None)
    assert len(memory.calls.list(known)) == 1
    conn.rollback()
    assert memory.memories.list(known) == []
    alone = AgentMemory.connect(conn, embedder=False)
    with pytest.raises(ConfigurationError, match="one connection"):
        alone.calls.recording(known)


def response_events() -> list[dict[str, Any]]:
    """A stream of the Responses API: a message in two parts, and a call of a function."""
    text = {"type": "output_text", "text": "", "annotations": []}
    message = {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "status": "in_progress",
        "content": [],
    }
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": ""}
    frame = {"id": "r", "object": "response", "created_at": 1.0, "model": MODEL, "output": [],
             "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}  # fmt: skip
    said = {"output_index": 0, "content_index": 0, "item_id": "m"}
    refused = said | {"content_index": 1}
    asked = {"output_index": 1, "item_id": "f"}
    whole = [
        message | {"status": "completed", "content": [
            text | {"text": "It is Vim."}, {"type": "refusal", "refusal": "No more."}]},
        call | {"arguments": '{"at": 1}'},
    ]  # fmt: skip
    return [
        {"type": "response.created", "response": frame},
        {"type": "response.output_item.added", "output_index": 0, "item": message},
        {"type": "response.content_part.added", **said, "part": text},
        {"type": "response.output_text.delta", **said, "delta": "It is "},
        {"type": "response.output_text.delta", **said, "delta": "Vim."},
        {"type": "response.content_part.added", **refused,
         "part": {"type": "refusal", "refusal": ""}},
        {"type": "response.refusal.delta", **refused, "delta": "No "},
        {"type": "response.refusal.delta", **refused, "delta": "more."},
        {"type": "response.output_item.added", "output_index": 1, "item": call},
        {"type": "response.function_call_arguments.delta", **asked, "delta": '{"at"'},
        {"type": "response.function_call_arguments.delta", **asked, "delta": ": 1}"},
        {"type": "response.completed", "response": frame | {
            "output": whole, "status": "completed",
            "usage": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}}},
    ]  # fmt: skip


@pytest.mark.parametrize("is_cut", [False, True])
def test_stream_of_the_responses_api_is_recorded(
    memory: AgentMemory, known: uuid.UUID, is_cut: bool
) -> None:
    events = response_events()[: -1 if is_cut else None]
    body = b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )
    with raw_server((200, EVENTS, [body])) as url, memory.calls.recording(known):
        live = list(client(url).responses.create(model=MODEL, input="?", stream=True))
    call = only_call(memory, known)
    stored = memory.calls.stream_events(known, call.call_id)
    assert [event.event_type for event in stored] == [event["type"] for event in events]
    assert "".join(event.text_delta or "" for event in stored) == "It is Vim."
    for source in (call.response_body, stored, live):
        again = replay(source)
        assert again.is_complete != is_cut
        assert again.answer is not None
        assert again.answer.output_text == "It is Vim."  # type: ignore[union-attr]
        message, asked = again.answer.output  # type: ignore[union-attr]
        assert message.content[1].refusal == "No more."
        assert (asked.name, json.loads(asked.arguments)) == ("look", {"at": 1})
    assert (call.prompt_tokens, call.completion_tokens) == ((None, None) if is_cut else (7, 3))
    assert call.error == ("the stream ended before its answer did" if is_cut else None)


def test_command_lists_shows_and_replays_calls(
    memory: AgentMemory, openai: ScriptedOpenAI, known: uuid.UUID, dsn: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def run(*arguments: str) -> tuple[int, str]:
        code = _run(["calls", *arguments, "--user", str(known), "--dsn", dsn])
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    chat = memory.session(user=known, model=MODEL, session_id="monday")
    chat.open()
    openai.then("You use [b]Vim[/b].")
    with chat.recording():
        list(client(openai.base_url).chat.completions.create(
            model=MODEL, messages=ASKED, stream=True))  # type: ignore[call-overload]  # fmt: skip
    with memory.calls.recording(known), pytest.raises(openai_package.APIConnectionError):
        client("http://127.0.0.1:9/v1").embeddings.create(model="m", input="x")
    failed, streamed = memory.calls.list(known)
    code, listed = run("list", "--session", "monday", "--json")
    assert (code, [one["call_id"] for one in json.loads(listed)]) == (0, [str(streamed.call_id)])
    code, listed = run("list")
    assert (code, "ConnectError" in listed, MODEL in listed) == (0, True, True)
    code, shown = run("show", str(streamed.call_id))
    assert (code, "Which editor do I use?" in shown, "[DONE]" in shown) == (0, True, True)
    code, shown = run("show", str(failed.call_id), "--json")
    assert (code, json.loads(shown)["model"]) == (0, "m")
    assert run("replay", str(streamed.call_id)) == (0, "You use [b]Vim[/b].\n")
    code, again = run("replay", str(streamed.call_id), "--json")
    assert json.loads(again)["is_complete"] is True
    code, said = run("replay", str(failed.call_id))
    assert (code, "was not streamed" in said) == (1, True)
    code, said = run("show", str(uuid.uuid4()))
    assert (code, "has no call" in said) == (1, True)


# When it cannot be recorded


def test_a_failure_to_record_is_counted_and_fails_nothing(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID, caplog: pytest.LogCaptureFixture
) -> None:
    openai.then("Yes.", "Yes again.")
    nobody = uuid.uuid4()
    with memory.calls.recording(nobody):
        reply = client(openai.base_url).chat.completions.create(model=MODEL, messages=ASKED)  # type: ignore[call-overload]
    assert reply.choices[0].message.content == "Yes."
    assert memory.calls.list(nobody) == []
    assert memory.calls.unrecorded == 1
    assert "recording a call of a model failed" in caplog.text


def test_recording_does_not_delay_a_call(
    memory: AgentMemory, openai: ScriptedOpenAI, known: uuid.UUID, connect: Any
) -> None:
    """Somebody holds the user; the call returns all the same, and is recorded in the end."""
    openai.then("At once.")
    holder = connect(autocommit=False)
    holder.execute("select from recall.users where user_id = %s for update", [known])
    started = time.monotonic()
    with memory.calls.recording(known):
        client(openai.base_url).chat.completions.create(model=MODEL, messages=ASKED)  # type: ignore[call-overload]
    took = time.monotonic() - started
    seen = value(holder, "select count(*) from recall.model_calls where user_id = %s", [known])
    holder.rollback()
    assert seen == 0
    assert took < 4.5  # the statement's own limit is five seconds
    assert len(memory.calls.list(known)) == 1


@pytest.mark.concurrent
def test_concurrent_threads_record_each_call_once_for_its_user(
    memory: AgentMemory, openai: ScriptedOpenAI, dsn: str
) -> None:
    """Two users, eight threads, one client: each call is its user's, and there once."""
    openai.respond = lambda body: body["messages"][0]["content"]
    users = [uuid.uuid4(), uuid.uuid4()]
    for user in users:
        memory.users.ensure(user)
    asking = client(openai.base_url)

    def ask(number: int) -> None:
        with memory.calls.recording(users[number % 2]):
            asking.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": f"{number % 2}"}]
            )

    raise_errors(together([lambda n=n: ask(n) for n in range(8)]))
    for place, user in enumerate(users):
        calls = memory.calls.list(user)
        assert [call.request["messages"][0]["content"] for call in calls] == [str(place)] * 4
        assert memory.calls.get(users[1 - place], calls[0].call_id) is None
        assert memory.calls.stream_events(users[1 - place], calls[0].call_id) == []


# Credentials


@pytest.fixture
def redactor(memory: AgentMemory, known: uuid.UUID) -> Redactor:
    return memory._core.call_log.rules(known).redactor


@pytest.mark.parametrize("text", [shape.text for shape in SHAPES] + HARMLESS)
def test_the_driver_masks_as_the_database_does(
    redactor: Redactor, db: Connection, text: str
) -> None:
    masked = value(
        db, "select recall._redact(%s, recall._ledger_classes(s)) from recall.settings as s", [text]
    )
    assert redactor.text(text) == masked
    for wrapped in (json.dumps({"a": text}), json.dumps({"x": json.dumps({"a": text})})):
        expected = value(
            db, "select convert_from(recall._redact_bytes(convert_to(%s, 'UTF8'),"
            " recall._ledger_classes(s)), 'UTF8') from recall.settings as s",
            [wrapped])  # fmt: skip
        assert redactor.body(wrapped.encode()).decode() == expected


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("shape", [s for s in COMMON if s.kind != "private_key"], ids=str)
def test_secret_split_across_a_stream_is_masked(
    redactor: Redactor, db: Connection, shape: Any, size: int
) -> None:
    text = f"Well: {shape.text} – that is it."
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    chat = sse(*(delta(content=piece) for piece in pieces))
    called = sse(*(delta(tool_calls=[{"index": n % 2, "function": {"arguments": piece}}])
                   for piece in pieces for n in (0, 1)))  # fmt: skip
    responses = sse(*({"type": "response.output_text.delta", "output_index": 1, "delta": piece}
                      for piece in pieces))  # fmt: skip
    for body in (chat, called, responses):
        by_database = value(
            db, "select recall._redact_bytes(%s, recall._ledger_classes(s))"
            " from recall.settings as s", [body])  # fmt: skip
        for masked in (redactor.body(body), by_database):
            lines = masked.decode().split("\n")
            assert len(lines) == len(body.decode().split("\n"))
            events = [json.loads(line[5:]) for line in lines if line]
            said: dict[int, str] = {}
            for event in events:
                where = 0
                piece = event.get("delta")
                if piece is None:
                    fields = event["choices"][0]["delta"]
                    calls = fields.get("tool_calls")
                    where = calls[0]["index"] if calls else 0
                    piece = calls[0]["function"]["arguments"] if calls else fields["content"]
                said[where] = said.get(where, "") + piece
            for whole in said.values():
                assert shape.secret not in whole
                assert whole.startswith("Well: ")
                assert whole.endswith(" – that is it.")


def test_masking_takes_no_longer_than_a_long_body_deserves(
    memory: AgentMemory, known: uuid.UUID
) -> None:
    """About linear in the length, whatever a user writes."""
    memory.admin.configure_user(known, secret_classes=["email", "phone", "iban"])
    redactor = memory._core.call_log.rules(known).redactor
    parts = ("a", "a.", "sk-", "eyJaaaaaaaa-", "SG.", "-----BEGIN PRIVATE KEY-----", "x://a:b", "4",
             "4 ", "key", "password", '"', '"a.', "cookie=", "bearer ", "@", "a@")  # fmt: skip
    for part in parts:
        times = []
        for size in (2_000, 16_000):
            text = (part * (size // len(part))).encode()
            started = time.thread_time()
            redactor.body(text)
            times.append(time.thread_time() - started)
        assert times[1] < 32 * max(times[0], 0.01), (part, times)  # 64 times if it were quadratic


@pytest.mark.slow
def test_dump_of_the_drivers_calls_holds_no_credential(
    memory: AgentMemory, openai: ScriptedOpenAI, known: uuid.UUID, dsn: str
) -> None:
    for shape in COMMON:
        asking = client(f"{openai.base_url}/{'x'}", default_query={"q": shape.text},
                        default_headers={"X-Custom": shape.secret.split("\n")[0],
                                         "User-Agent": " ".join(shape.text.split())})  # fmt: skip
        openai.then(shape.text, Status(400, shape.text), shape.text)
        said = [{"role": "user", "content": shape.text}]
        with memory.calls.recording(known, metadata={"said": {"by": shape.text}}):
            asking.chat.completions.create(model=MODEL, messages=said)  # type: ignore[call-overload]
            with pytest.raises(openai_package.BadRequestError):
                asking.chat.completions.create(model=MODEL, messages=said)  # type: ignore[call-overload]
            list(asking.chat.completions.create(model=MODEL, messages=said, stream=True))  # type: ignore[call-overload]
    calls = memory.calls.list(known, limit=1000)
    assert len(calls) == 3 * len(COMMON)
    assert all("[secret: " in call.endpoint for call in calls)
    assert memory.calls.unrecorded == 0
    done = run("pg_dump", dsn, "--data-only")
    assert done.returncode == 0, done.stderr
    scanned = [done.stdout]
    with psycopg.connect(dsn) as conn:
        for table in ("model_calls", "stream_events", "protocol_events"):
            for row in rows(conn, f"select * from recall.{table}"):
                scanned += [
                    str(item.decode("utf-8", "replace") if isinstance(item, bytes) else item)
                    for item in row.values()
                ]
    dump = "\n".join(scanned)
    for shape in COMMON:
        for form in (
            shape.secret,
            json.dumps(shape.secret)[1:-1],
            shape.secret.encode().hex(),
            quote(shape.secret),
            quote_plus(shape.secret),
        ):
            assert form not in dump, shape


# Encrypted users, export and import


def test_call_of_an_encrypted_user_is_recorded_without_its_texts(
    model_dsn: str, openai: ScriptedOpenAI, user: uuid.UUID, db: Connection
) -> None:
    keys = LocalWrappingKeys({"first": bytes(range(32))})
    with AgentMemory.connect(
        model_dsn, embedder=embedder(openai), llm=model(openai), wrapping_keys=keys
    ) as memory:
        memory.encryption.seal_user(user)
        memory.admin.configure_user(user, ledger="streams")
        openai.then("A zebrafish.", Status(400, "no zebrafish here"))
        chat = memory.session(user=user, model=MODEL)
        with chat.send("Which fish? A zebrafish?", memory_tools=False, stream=True) as reply:
            assert "".join(reply) == "A zebrafish."
        with pytest.raises(openai_package.BadRequestError):
            chat.send("Again?", memory_tools=False)
        failed, streamed = memory.calls.list(user)
        assert memory.calls.unrecorded == 0
        assert failed.error == "HTTP 400: no zebrafish here"  # opened by who has the key
        for call in (failed, streamed):
            assert (call.request, call.response, call.request_body, call.response_body) == (
                None, None, None, None)  # fmt: skip
        assert (streamed.prompt_tokens, streamed.status_code) == (1000, 200)
        assert memory.calls.stream_events(user, streamed.call_id) == []
    stored = str(rows(db, "select * from recall.model_calls where user_id = %s", [user]))
    assert "zebrafish" not in stored
    for column in ("request_body", "response_body"):
        with refused("RC006", "is encrypted"):
            db.execute(
                f"select recall.record_model_call(%s, 'm', p_{column} => %s)".encode(),
                [user, b"zebrafish"])  # fmt: skip
    with refused("RC006", "is encrypted"):
        db.execute("select recall.record_model_call(%s, 'm', p_request => %s)",
                   [user, '{"a": "zebrafish"}'])  # fmt: skip


def test_a_ledger_travels_with_its_user(
    memory: AgentMemory, openai: ScriptedOpenAI, known: uuid.UUID, connect: Any
) -> None:
    openai.then("Yes.")
    with memory.calls.recording(known):
        list(client(openai.base_url).chat.completions.create(
            model=MODEL, messages=ASKED, stream=True))  # type: ignore[call-overload]  # fmt: skip
    before = only_call(memory, known)
    events = memory.calls.stream_events(known, before.call_id)
    conn = connect()
    conn.execute("set bytea_output = 'escape'")
    document = value(conn, "select recall.export_user(%s)", [known])
    [row] = document["tables"]["model_calls"]
    assert bytes.fromhex(row["response_body"].removeprefix("\\x")) == before.response_body
    receipt = memory.privacy.forget_user(known)
    assert (receipt["counts"]["model_calls"], receipt["counts"]["stream_events"]) == (
        1,
        len(events),
    )
    assert memory.calls.list(known) == []
    memory.privacy.import_user(document)
    assert memory.calls.list(known) == [before]
    assert memory.calls.stream_events(known, before.call_id) == events
