"""The ledger: bodies byte for byte, no credential anywhere, and a stream that can be replayed."""

from __future__ import annotations

import base64
import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from support import call, open_session, raise_errors, refused, rows, run, together, value
from support.secret_shapes import COMMON, SHAPES, Shape

Connection = psycopg.Connection[Any]

KEY = next(shape.secret for shape in SHAPES if shape.name == "openai")


@pytest.fixture
def known(db: Connection, user: uuid.UUID) -> uuid.UUID:
    db.execute("select recall.ensure_user(%s)", [str(user)])
    return user


def record(db: Connection, user: uuid.UUID, **fields: Any) -> uuid.UUID:
    [row] = call(db, "record_model_call", **{"p_user_id": user, "p_model": "gpt-4o"} | fields)
    return uuid.UUID(str(row["record_model_call"]))


def stored(db: Connection, user: uuid.UUID, call_id: uuid.UUID) -> dict[str, Any]:
    [row] = call(db, "list_model_calls", p_user_id=user, p_call_id=call_id)
    return row


def events(db: Connection, user: uuid.UUID, call_id: uuid.UUID) -> list[dict[str, Any]]:
    return call(db, "list_stream_events", p_user_id=user, p_call_id=call_id)


def id_at(at: datetime) -> uuid.UUID:
    """A UUIDv7 of this time."""
    number = int(at.timestamp() * 1000) << 80 | uuid.uuid4().int & ((1 << 80) - 1)
    return uuid.UUID(int=number & ~(0xF << 76) | 7 << 76 & ~(3 << 62) | 2 << 62)


# Bodies

BODIES = {
    "nul in json": b'{"b": "a\\u0000b",  "a": 1, "a": 2}',
    "escaped backslash": b'{"a": "\\\\u0000 and \\\\\\u0000"}',
    "nul byte": b'{"a": "\x00"}',
    "no utf-8": b'\xff\xfe{"a": \x80}\\ \x00 "',
    "empty": b"",
    "no json": "naïve – plain\r\ntext".encode(),
    "half a surrogate": b'{"a": "\\ud800"}',
    "large": json.dumps({"a": "x" * 3_000_000}).encode(),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_comes_back_byte_for_byte(db: Connection, known: uuid.UUID, name: str) -> None:
    body = BODIES[name]
    made = record(db, known, p_request_body=body, p_response_body=body)
    row = stored(db, known, made)
    assert (row["request_body"], row["response_body"]) == (body, body)
    assert row["metadata"] == {}


def test_the_json_beside_it_is_for_queries(db: Connection, known: uuid.UUID) -> None:
    def projected(name: str) -> Any:
        return stored(db, known, record(db, known, p_request_body=BODIES[name]))["request"]

    assert projected("nul in json") == {"a": 2, "b": "a\ufffdb"}
    assert projected("escaped backslash") == {"a": "\\u0000 and \\\ufffd"}
    assert projected("no json") is None
    assert projected("no utf-8") is None
    assert projected("half a surrogate") is None


def test_record_model_call_accepts_json_without_bytes(db: Connection, known: uuid.UUID) -> None:
    row = stored(db, known, record(db, known, p_request={"n": 1}, p_response={"usage": {"x": 1}}))
    assert (row["request"], row["request_body"], row["usage"]) == ({"n": 1}, None, {"x": 1})


def test_a_body_that_is_too_large_is_cut_and_says_so(db: Connection, known: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=known, p_changes={"ledger_max_body": 1024})
    body = b'{"a": "' + b"x" * 1000 + f" {KEY} ".encode() + b"x" * 1000 + b'"}'
    row = stored(db, known, record(db, known, p_request_body=body, p_response={"b": "y" * 2000}))
    masked = body.replace(KEY.encode(), b"[secret: api key]")
    assert row["request_body"] == masked[:1024]  # masked before it was cut
    assert (row["request"], row["response"]) == (None, None)
    assert row["metadata"] == {"truncated": {"request_body": len(masked), "response_body": 2009}}


# Stored fields of a call


def test_record_model_call_stores_every_field(db: Connection, known: uuid.UUID) -> None:
    session = open_session(db, known)
    begun = datetime.now(UTC)
    usage = {"prompt_tokens": 12, "completion_tokens": 7,
             "prompt_tokens_details": {"cached_tokens": 5},
             "completion_tokens_details": {"reasoning_tokens": 3}}  # fmt: skip
    made = record(
        db, known, p_provider="openai", p_endpoint="https://api.openai.com/v1/chat/completions",
        p_usage=usage, p_error="boom", p_request_id="req_1", p_status_code=500,
        p_started_at=begun, p_completed_at=begun + timedelta(milliseconds=1500),
        p_is_stream=True, p_session_id=session, p_cost_microcents=9, p_metadata={"a": 1},
        p_job_id=uuid.UUID(int=7),
    )  # fmt: skip
    row = stored(db, known, made)
    assert (row["provider"], row["model"], row["error"], row["request_id"]) == (
        "openai", "gpt-4o", "boom", "req_1")  # fmt: skip
    assert (row["prompt_tokens"], row["completion_tokens"]) == (12, 7)
    assert (row["cached_tokens"], row["reasoning_tokens"]) == (5, 3)
    assert (row["status_code"], row["latency_ms"], row["is_stream"]) == (500, 1500, True)
    assert (row["session_id"], row["job_id"], row["cost_microcents"]) == (
        session, uuid.UUID(int=7), 9)  # fmt: skip
    assert row["metadata"] == {"a": 1}


def test_other_providers_names_of_tokens(db: Connection, known: uuid.UUID) -> None:
    usage = {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 1,
             "output_tokens_details": {"reasoning_tokens": "many"}}  # fmt: skip
    row = stored(db, known, record(db, known, p_usage=usage))
    assert (row["prompt_tokens"], row["completion_tokens"], row["cached_tokens"]) == (3, 4, 1)
    assert row["reasoning_tokens"] is None


def test_only_harmless_headers_are_stored(db: Connection, known: uuid.UUID) -> None:
    headers = {"Authorization": "Bearer x", "X-Api-Key": "k", "Cookie": "a=b", "X-Custom": "1",
               "X-Request-ID": "r", "Content-Type": "application/json",
               "x-ratelimit-limit-tokens": "5", "User-Agent": f"me {KEY}"}  # fmt: skip
    row = stored(db, known, record(db, known, p_request_headers=headers,
                                   p_response_headers={"Set-Cookie": "a=b"}))  # fmt: skip
    assert row["request_headers"] == {
        "x-request-id": "r",
        "content-type": "application/json",
        "x-ratelimit-limit-tokens": "5",
        "user-agent": "me [secret: api key]",
    }
    assert row["response_headers"] == {}


def test_record_model_call_with_same_id_stores_once(db: Connection, known: uuid.UUID) -> None:
    made = id_at(datetime.now(UTC) - timedelta(days=1))
    assert record(db, known, p_call_id=made, p_error="first") == made
    assert record(db, known, p_call_id=made, p_error="second") == made
    assert [row["error"] for row in call(db, "list_model_calls", p_user_id=known)] == ["first"]


def test_calls_are_listed_page_by_page(db: Connection, known: uuid.UUID) -> None:
    now = datetime.now(UTC)
    made = [record(db, known, p_call_id=id_at(now - timedelta(days=20 * n))) for n in range(6)]
    session = open_session(db, known)
    of_session = record(db, known, p_session_id=session, p_call_id=id_at(now))
    found: list[uuid.UUID] = []
    before = None
    while page := call(db, "list_model_calls", p_user_id=known, p_limit=3, p_before_id=before):
        found += [row["call_id"] for row in page]
        before = found[-1]
    assert found == sorted([*made, of_session], reverse=True)
    listed = call(db, "list_model_calls", p_user_id=known, p_session_id=session)
    assert [row["call_id"] for row in listed] == [of_session]
    assert call(db, "list_model_calls", p_user_id=known, p_limit=0) == []


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("p_model", {"p_model": ""}),
    ("p_model", {"p_model": None}),
    ("p_completed_at", {"p_started_at": "2026-01-02", "p_completed_at": "2026-01-01"}),
    ("infinite", {"p_started_at": "infinity"}),
    ("p_status_code", {"p_status_code": -1}),
    ("p_cost_microcents", {"p_cost_microcents": -1}),
    ("p_request_headers", {"p_request_headers": None}),
    ("metadata", {"p_metadata": None}),
    ("not a UUIDv7", {"p_call_id": uuid.uuid4()}),
    ("not a UUIDv7", {"p_call_id": id_at(datetime.now(UTC) + timedelta(days=1))}),
]


@pytest.mark.parametrize(("words", "fields"), WRONG)
def test_malformed_call_is_refused_and_not_stored(
    db: Connection, known: uuid.UUID, words: str, fields: dict[str, Any]
) -> None:
    with refused("RC003", words):
        record(db, known, **fields)
    assert call(db, "list_model_calls", p_user_id=known) == []


def test_record_model_call_creates_no_user(db: Connection, user: uuid.UUID) -> None:
    for function, more in (
        ("record_model_call", {"p_model": "m"}),
        ("record_stream_events", {"p_call_id": id_at(datetime.now(UTC)), "p_events": []}),
        ("record_protocol_event", {"p_event_type": "mcp"}),
    ):
        with refused("RC001", "is unknown"):
            call(db, function, p_user_id=user, **more)
    assert rows(db, "select * from recall.users where user_id = %s", [user]) == []


# Streams


def chunk(text: str | None = None, **delta: Any) -> dict[str, Any]:
    if text is not None:
        delta["content"] = text
    body = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
    return {"type": "chunk", "payload": body} | ({"text_delta": text} if text else {})


def test_events_come_back_in_order(db: Connection, known: uuid.UUID) -> None:
    made = record(db, known, p_is_stream=True)
    given = [chunk("One "), chunk("two"), {"type": "audio", "mime_type": "audio/pcm",
             "binary_payload": base64.b64encode(b"\x00\xff\x01").decode(),
             "occurred_at": "2026-01-01T00:00:00Z"}, chunk(None)]  # fmt: skip
    assert value(db, "select recall.record_stream_events(%s, %s, %s)",
                 [known, made, json.dumps(given)]) == 4  # fmt: skip
    found = events(db, known, made)
    assert [e["event_index"] for e in found] == [0, 1, 2, 3]
    assert [e["text_delta"] for e in found] == ["One ", "two", None, None]
    assert found[0]["payload"] == given[0]["payload"]
    assert (found[2]["binary_payload"], found[2]["mime_type"]) == (b"\x00\xff\x01", "audio/pcm")
    assert found[2]["occurred_at"] == datetime(2026, 1, 1, tzinfo=UTC)
    page = call(db, "list_stream_events", p_user_id=known, p_call_id=made, p_limit=2,
                p_after_index=1)  # fmt: skip
    assert [e["event_index"] for e in page] == [2, 3]
    again = [{"index": 3, "type": "other"}, {"index": 4, "type": "new"}]
    assert value(db, "select recall.record_stream_events(%s, %s, %s)",
                 [known, made, json.dumps(again)]) == 1  # fmt: skip
    assert [e["event_type"] for e in events(db, known, made)][3:] == ["chunk", "new"]


def test_event_with_a_nul_is_stored_as_bytes(db: Connection, known: uuid.UUID) -> None:
    made = record(db, known)
    body = b'{"choices": [{"delta": {"content": "a\\u0000"}}]}'
    event = {"binary_payload": base64.b64encode(body).decode(), "mime_type": "application/json"}
    call(db, "record_stream_events", p_user_id=known, p_call_id=made, p_events=[event])
    [found] = events(db, known, made)
    assert found["binary_payload"] == body
    assert found["payload"]["choices"][0]["delta"]["content"] == "a\ufffd"


@pytest.mark.parametrize("size", [1, 4, 11])
@pytest.mark.parametrize("shape", [s for s in COMMON if s.kind != "private_key"], ids=str)
def test_secret_split_across_events_is_masked(
    db: Connection, known: uuid.UUID, shape: Shape, size: int
) -> None:
    text = f"Well: {shape.text} – that is it."
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    arguments = json.dumps({"note": shape.text})
    called = [arguments[at : at + size] for at in range(0, len(arguments), size)]
    given = [chunk(piece) for piece in pieces] + [
        chunk(tool_calls=[{"index": 0, "function": {"arguments": piece}}]) for piece in called
    ]
    made = record(db, known)
    call(db, "record_stream_events", p_user_id=known, p_call_id=made, p_events=given)
    found = events(db, known, made)
    assert len(found) == len(given)
    deltas = [e["payload"]["choices"][0]["delta"] for e in found]
    whole = "".join(e["text_delta"] or "" for e in found)
    assert whole == "".join(delta.get("content", "") for delta in deltas)
    assert shape.secret not in whole
    assert whole.startswith("Well: ")
    assert whole.endswith(" – that is it.")
    made_arguments = "".join(
        delta["tool_calls"][0]["function"]["arguments"] for delta in deltas[len(pieces) :]
    )
    assert shape.secret not in json.loads(made_arguments)["note"]


@pytest.mark.parametrize(
    "wrong",
    [{}, ["x"], [{"index": -1}], [{"text_delta": 5}], [{"binary_payload": "%"}],
     [{"occurred_at": "soon"}], [{"payloads": 1}]],
)  # fmt: skip
def test_record_stream_events_refuses_malformed_events(
    db: Connection, known: uuid.UUID, wrong: Any
) -> None:
    made = record(db, known)
    with refused("RC003", "p_events"):
        db.execute("select recall.record_stream_events(%s, %s, %s)",
                   [known, made, json.dumps(wrong)])  # fmt: skip
    assert events(db, known, made) == []


# Tools


def test_protocol_events_are_recorded_masked_and_listed(db: Connection, known: uuid.UUID) -> None:
    session = open_session(db, known)
    made = record(db, known)
    body = b'{"jsonrpc": "2.0",  "id": 1, "params": {"a": "\\u0000"}}'
    [one] = call(db, "record_protocol_event", p_user_id=known, p_event_type="mcp",
                 p_direction="request", p_method="tools/call", p_rpc_id="1", p_tool_name="weather",
                 p_tool_call_id="c1", p_session_id=session, p_call_id=made,
                 p_payload_body=body)  # fmt: skip
    call(db, "record_protocol_event", p_user_id=known, p_event_type="tool_result",
         p_payload={"password": "hunter22"})  # fmt: skip
    latest, first = call(db, "list_protocol_events", p_user_id=known)
    assert latest["payload"] == {"password": "[secret: password]"}
    assert first["event_id"] == one["record_protocol_event"]
    assert (first["payload_body"], first["payload"]["id"]) == (body, 1)
    assert (first["direction"], first["method"], first["rpc_id"], first["tool_name"]) == (
        "request", "tools/call", "1", "weather")  # fmt: skip
    for narrowed in ({"p_session_id": session}, {"p_call_id": made}):
        assert call(db, "list_protocol_events", p_user_id=known, **narrowed) == [first]
    page = call(db, "list_protocol_events", p_user_id=known, p_before_id=latest["event_id"])
    assert page == [first]
    with refused("RC003", "p_event_type"):
        call(db, "record_protocol_event", p_user_id=known, p_event_type="")


# No credentials, others, months


@pytest.mark.slow
@pytest.mark.parametrize("is_json", [True, False], ids=["json", "bytes"])
def test_dump_of_recorded_calls_holds_no_credential(
    db: Connection, known: uuid.UUID, dsn: str, is_json: bool
) -> None:
    for shape in COMMON:
        document = {"messages": [{"role": "user", "content": shape.text}], shape.text: 1,
                    "arguments": json.dumps({"x": shape.text})}  # fmt: skip
        body = json.dumps(document).encode()
        raw = f"\x00{shape.text}".encode() + b"\xff"
        given: dict[str, Any] = (
            {"p_request": document, "p_response": document}
            if is_json
            else {"p_request_body": body, "p_response_body": raw}
        )
        made = record(
            db, known, p_endpoint=f"https://x.example/?q={shape.text}", p_error=shape.text,
            p_request_headers={"Authorization": shape.text, "User-Agent": shape.text},
            p_response_headers={"Set-Cookie": shape.text, "x-request-id": shape.text},
            p_usage={"x": shape.text}, p_metadata={"x": shape.text}, p_provider=shape.text[:200],
            p_request_id=shape.text[:200], **given,
        )  # fmt: skip
        call(db, "record_stream_events", p_user_id=known, p_call_id=made, p_events=[
            chunk(shape.text), {"type": "text", "mime_type": "text/plain",
                                "binary_payload": base64.b64encode(raw).decode()}])  # fmt: skip
        call(db, "record_protocol_event", p_user_id=known, p_event_type="mcp",
             p_payload=document, p_payload_body=body, p_metadata={"x": shape.text},
             p_method=shape.text, p_tool_name=shape.text, p_rpc_id=shape.text,
             p_tool_call_id=shape.text)  # fmt: skip
    done = run("pg_dump", dsn, "--data-only")
    assert done.returncode == 0, done.stderr
    dump = done.stdout
    assert "[secret: api key]" in dump
    for shape in COMMON:
        for form in (shape.secret, json.dumps(shape.secret)[1:-1], shape.secret.encode().hex()):
            assert form not in dump, shape


def test_a_second_user_sees_nothing(db: Connection, known: uuid.UUID) -> None:
    made = record(db, known)
    call(db, "record_stream_events", p_user_id=known, p_call_id=made, p_events=[chunk("x")])
    call(db, "record_protocol_event", p_user_id=known, p_event_type="mcp", p_call_id=made)
    other = uuid.uuid4()
    db.execute("select recall.ensure_user(%s)", [str(other)])
    assert call(db, "list_model_calls", p_user_id=other) == []
    assert call(db, "list_model_calls", p_user_id=other, p_call_id=made) == []
    assert events(db, other, made) == []
    assert call(db, "list_protocol_events", p_user_id=other, p_call_id=made) == []
    # the same id is his own call, not the other's
    record(db, other, p_call_id=made, p_error="his")
    assert stored(db, known, made)["error"] is None


@pytest.mark.concurrent
def test_one_call_recorded_by_many_connections_is_stored_once(
    db: Connection, known: uuid.UUID, connect: Any
) -> None:
    made = id_at(datetime.now(UTC) - timedelta(days=200))  # a month that is not there yet
    connections = [connect() for _ in range(6)]
    raise_errors(together([lambda c=c: record(c, known, p_call_id=made) for c in connections]))
    assert len(call(db, "list_model_calls", p_user_id=known)) == 1


def test_months_of_calls_are_dropped_after_their_retention(
    db: Connection, known: uuid.UUID
) -> None:
    old = record(db, known, p_call_id=id_at(datetime.now(UTC) - timedelta(days=75)))
    new = record(db, known)
    for made in (old, new):
        call(db, "record_stream_events", p_user_id=known, p_call_id=made, p_events=[chunk("x")])
    call(db, "drop_expired_partitions", p_limit=1000)
    assert [row["call_id"] for row in call(db, "list_model_calls", p_user_id=known)] == [new]
    assert (events(db, known, old), len(events(db, known, new))) == ([], 1)
