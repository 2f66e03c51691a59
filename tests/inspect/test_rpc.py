"""REST access to the functions, and its OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import conninfo
from starlette.testclient import TestClient

from pgrecall import AgentMemory
from pgrecall._signatures import SIGNATURES
from support import login_role
from support.inspecting import TOKEN, csrf_of, entered, furnish_user, inspecting

BEARER = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def ada(dsn: str) -> dict[str, Any]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        return furnish_user(memory, "ada")


@pytest.fixture(scope="module")
def client(dsn: str, ada: dict[str, Any]) -> Iterator[TestClient]:
    with inspecting(dsn) as client:
        client.headers.update(BEARER)
        yield client


@pytest.fixture(scope="module")
def editor(dsn: str, ada: dict[str, Any]) -> Iterator[TestClient]:
    with inspecting(dsn, write=True) as client:
        client.headers.update(BEARER)
        yield client


def test_function_returns_rows_or_a_value(client: TestClient, ada: dict[str, Any]) -> None:
    assert client.post("/rpc/user_id", json={"external_id": "ada"}).json() == str(ada["user_id"])
    found = client.post("/rpc/get_memories", json={"p_user_id": str(ada["user_id"]), "limit": 2})
    assert len(found.json()) == 2
    assert {"memory_id", "content", "kind"} <= found.json()[0].keys()
    assert client.post("/rpc/get_settings").status_code == 415
    assert isinstance(client.post("/rpc/get_settings", json={}).json(), dict)


def test_writes_need_write_and_the_database_says_so(
    client: TestClient, editor: TestClient, ada: dict[str, Any], db: psycopg.Connection
) -> None:
    body = {"user_id": str(ada["user_id"]), "content": "ada plays chess"}
    count = "select count(*) from recall.memory_store where content = 'ada plays chess'"
    refused = client.post("/rpc/remember", json=body)
    assert refused.status_code == 403
    assert "25006" in refused.text
    assert db.execute(count).fetchone() == (0,)
    done = editor.post("/rpc/remember", json=body)
    assert done.json()[0]["outcome"] == "added"
    assert db.execute(count).fetchone() == (1,)


def test_refused_write_is_sent_once(
    client: TestClient, ada: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """The driver takes a read-only server for one that a failover left, and repeats the call."""
    body = {"user_id": str(ada["user_id"]), "content": "ada plays go"}
    with caplog.at_level("INFO", logger="pgrecall"):
        assert client.post("/rpc/remember", json=body).status_code == 403
    assert "is sent again" not in caplog.text


def contents(db: psycopg.Connection) -> list[tuple[Any, ...]]:
    """Return a checksum of every table of the schema."""
    tables = db.execute(
        "select c.oid::regclass::text from pg_class as c where c.relkind in ('r', 'p')"
        " and c.relnamespace = 'recall'::regnamespace and not c.relispartition order by 1"
    ).fetchall()
    return [
        (table, *db.execute(
            f"select count(*), sum(hashtextextended(t::text, 0)::numeric) from {table} as t"
        ).fetchone())
        for (table,) in tables
    ]  # fmt: skip


def test_no_function_writes_without_write(
    client: TestClient, ada: dict[str, Any], db: psycopg.Connection
) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    samples = {"uuid": str(ada["user_id"]), "text": "x", "boolean": True, "integer": 1,
               "bigint": 1, "jsonb": {}, "interval": "1 minute", "bytea": "AA==", "real": 0.5,
               "timestamp with time zone": "2026-01-01T00:00:00Z", "halfvec": [0.1],
               "text[]": ["x"], "uuid[]": [str(ada["user_id"])], "real[]": [0.5],
               "recall.provenance": "tool_output"}  # fmt: skip
    before, codes = contents(db), []
    for path, item in paths.items():
        types = SIGNATURES[path.removeprefix("/rpc/")]
        body = item["post"]["requestBody"]["content"]["application/json"]["schema"]
        given = {name: samples[types[name]] for name in body["required"]}
        codes.append(client.post(path, json=given).status_code)
    assert 500 not in codes
    assert codes.count(403) > 40  # those whose arguments were good enough to write
    assert contents(db) == before


@pytest.mark.parametrize(
    ("function", "body", "status", "says"),
    [
        ("nothing", {}, 404, "no function nothing"),
        ("_settings", {}, 404, "no function _settings"),
        ("maintain", {"task": "x"}, 404, "no function maintain"),
        ("get_memories; drop", {}, 404, "no function"),
        ("get_memories", {}, 400, "user_id is missing"),
        ("get_memories", {"user_id": "ada"}, 400, "user_id is no uuid"),
        ("get_memories", {"user_id": 5}, 400, "user_id is no uuid"),
        ("get_memories", {"user_id": None, "wrong": 1}, 400, "no parameter wrong"),
        ("get_memories", {"user_id": None}, 400, "RC003"),
        ("get_memories", {"user_id": "{user}", "limit": "many"}, 400, "RC003"),
        ("get_memories", {"user_id": "{user}", "limit": {"a": 1}}, 400, "limit is no integer"),
        ("get_memories", {"user_id": "{user}", "filter": {"wrong": 1}}, 400, "RC003"),
        ("get_session", {"user_id": "{user}", "session_id": "{user}"}, 200, "[]"),
        ("get_user_keys", {"user_id": "{user}"}, 200, "[]"),
        ("new_messages_since", {"cursor": "%%", "messages": []}, 400, "cursor is no bytea"),
        ("get_memories", {"user_id": "{user}", "p_user_id": None}, 400, "with p_ and without"),
        (
            "search_items",
            {"user_id": "{user}", "namespace": {"a": 1}},
            400,
            "namespace is no text[]",
        ),
        ("search_items", {"user_id": "{user}", "namespace": "a"}, 400, "namespace is no text[]"),
        ("search_items", {"user_id": "{user}", "namespace": ["a", 1]}, 400, "mixed types"),
        (
            "search_items",
            {"user_id": "{user}", "namespace": [["a"]]},
            400,
            "namespace[0] is no text",
        ),
        (
            "get_messages_by_id",
            {"user_id": "{user}", "message_ids": ["x"]},
            400,
            "message_ids[0] is no uuid",
        ),
        (
            "search",
            {"user_id": "{user}", "query_embedding": 5},
            400,
            "query_embedding is no halfvec",
        ),
        (
            "ingest_memories",
            {"user_id": "{user}", "session_id": "{user}", "candidates": [], "embeddings": 5},
            400,
            "embeddings is no halfvec[]",
        ),
        (
            "ingest_memories",
            {"user_id": "{user}", "session_id": "{user}", "candidates": [], "embeddings": [5]},
            400,
            "embeddings[0] is no halfvec",
        ),
        (
            "record_access",
            {"user_id": "{user}", "memory_ids": [], "relevance": [1, 0.5]},
            400,
            "0 memories and 2 numbers",
        ),
    ],
)
def test_bad_calls_get_an_error_that_says_why(
    client: TestClient, ada: dict[str, Any], function: str, body: dict, status: int, says: str
) -> None:
    body = {name: str(ada["user_id"]) if value == "{user}" else value
            for name, value in body.items()}  # fmt: skip
    answer = client.post(f"/rpc/{function}", json=body)
    assert (answer.status_code, says in answer.text) == (status, True), answer.text


@pytest.mark.parametrize(
    "text",
    [
        '{"external_id": "\\ud800"}',
        '{"external_id": NaN}',
        '{"external_id": 1e999}',
        '{"external_id": {"a": 1}}',
        '{"external_id": ""}',
    ],
)
def test_unusual_values_are_refused_without_an_internal_error(
    client: TestClient, text: str
) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/rpc/user_id", content=text, headers=headers)
    assert answer.status_code in (200, 400), answer.text
    deep = '{"user_id": null, "filter": ' + "[" * 500 + "]" * 500 + "}"
    assert client.post("/rpc/get_memories", content=deep, headers=headers).status_code == 400


@pytest.mark.parametrize("body", ["", "x", "[]", "5", "[" * 100_000])
def test_body_must_be_an_object(client: TestClient, body: str) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/rpc/get_memories", content=body, headers=headers)
    assert answer.status_code == 400


def test_cookie_needs_the_csrf_header(dsn: str, ada: dict[str, Any]) -> None:
    with entered(dsn, write=True) as client:
        csrf = csrf_of(client, f"/users/{ada['user_id']}/memories/{ada['new']}")
        assert client.post("/rpc/version", json={}).status_code == 403
        assert client.post("/rpc/version", json={}, headers={"x-csrf-token": csrf}).json()


def test_document_lists_what_the_role_may_call(
    dsn: str, client: TestClient, db: psycopg.Connection
) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert {path.removeprefix("/rpc/") for path in document["paths"]} == SIGNATURES.keys() - {
        "maintain"
    }
    search = document["paths"]["/rpc/search"]["post"]
    schema = search["requestBody"]["content"]["application/json"]["schema"]
    assert schema["required"] == ["user_id"]
    assert schema["properties"]["query_embedding"] == {"type": "array", "items": {"type": "number"}}
    with (
        login_role(db, member_of=["recall_reader"]) as reader,
        inspecting(conninfo.make_conninfo(dsn, **reader)) as other,
    ):
        paths = other.get("/openapi.json", headers=BEARER).json()["paths"]
        assert "/rpc/search" in paths
        assert "/rpc/remember" not in paths
        assert other.post("/rpc/remember", json={}, headers=BEARER).status_code == 404
