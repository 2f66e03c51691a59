"""The protocol of a worker: recall.next_request, with answers made here."""

from __future__ import annotations

import json
import uuid
from typing import Any

import psycopg
import pytest

from support import WORKER, ask, call, refused, rows, value
from support.requests import answered, claim, scripted, told, work
from support.sealed import connected

Connection = psycopg.Connection[Any]


def test_an_extraction_is_two_requests(db: Connection, user: uuid.UUID) -> None:
    session = told(db, user)
    end, seen = work(db, claim(db, "extract"), scripted)
    assert end == {"type": "done", "outcome": {"kind": "extract", "items": 2}}
    assert [request["type"] for request in seen] == ["chat", "embed"]
    chat, embed = seen
    assert chat["messages"][1]["content"].endswith(
        "<conversation>\n[1] user: I live in Lyon and work as a nurse.\n[2] assistant: Noted.\n"
        "</conversation>"
    )
    schema = chat["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["facts"]["maxItems"] == 3
    assert "default" not in json.dumps(schema)
    assert embed["inputs"] == ["User lives in Lyon.", "Told where they live."]
    assert rows(db, "select content, kind from recall.memory_store where user_id = %s"
                    " order by content", [user]) == [
        {"content": "Told where they live.", "kind": "episode"},
        {"content": "User lives in Lyon.", "kind": "personal"},
    ]  # fmt: skip
    spans = rows(db, "select phase, items, prompt_tokens, completion_tokens, cost_microcents"
                     "  from recall.job_phases where user_id = %s order by phase",
                     [user])  # fmt: skip
    assert [tuple(span.values()) for span in spans] == [
        ("embed", 2, 7, 0, 14), ("extract", 2, 100, 20, 2700), ("persist", 2, 0, 0, 0),
    ]  # fmt: skip
    assert value(db, "select total_prompt_tokens from recall.sessions where session_id = %s",
                 [session]) == 107  # fmt: skip
    # a repeated call after the end
    assert ask(db, {"user_id": user, "job_id": uuid.uuid4(), "lease_token": uuid.uuid4()}) == {
        "type": "gone"
    }


def test_a_repeated_call_changes_nothing(db: Connection, user: uuid.UUID) -> None:
    told(db, user)
    job = claim(db, "extract")
    chat = ask(db, job)
    assert ask(db, job) == chat
    answer = answered(chat, scripted)
    embed = ask(db, job, answer)
    assert embed["type"] == "embed"
    assert ask(db, job, answer) == embed
    assert ask(db, job, {"request_id": str(uuid.uuid4()), "content": "{}"}) == embed
    assert len(rows(db, "select from recall.job_phases where user_id = %s", [user])) == 1


def test_an_answer_that_is_none_is_asked_for_once_more(db: Connection, user: uuid.UUID) -> None:
    told(db, user)
    job = claim(db, "extract")
    chat = ask(db, job)
    again = ask(db, job, answered(chat, lambda _: "I would rather not."))
    assert again["request_id"] != chat["request_id"]
    assert [message["role"] for message in again["messages"]] == [
        "system", "user", "assistant", "user"
    ]  # fmt: skip
    assert "not JSON" in again["messages"][3]["content"]
    failed = ask(db, job, answered(again, lambda _: '{"facts": "none"}'))
    assert failed == {
        "type": "failed", "dead": False,
        "error": 'facts is not of type array; the answer began: {"facts": "none"}',
    }  # fmt: skip
    left = rows(db, "select state::text, last_error, work from recall.jobs where user_id = %s"
                    " and kind = 'extract'", [user])  # fmt: skip
    assert left == [{"state": "ready", "last_error": failed["error"], "work": None}]
    spans = rows(db, "select error from recall.job_phases where user_id = %s", [user])
    assert {span["error"] for span in spans} == {"not JSON", "facts is not of type array"}


def test_what_was_made_outlives_a_lease(db: Connection, user: uuid.UUID) -> None:
    told(db, user)
    job = claim(db, "extract")
    embed = ask(db, job, answered(ask(db, job), scripted))
    assert embed["type"] == "embed"
    db.execute("update recall.jobs set lease_until = now() where job_id = %s", [job["job_id"]])
    call(db, "release_expired_leases")
    db.execute("update recall.jobs set run_at = now() where job_id = %s", [job["job_id"]])
    second = claim(db, "extract")
    assert ask(db, job, answered(embed, scripted)) == {"type": "gone"}
    resumed = ask(db, second)
    assert (resumed["type"], resumed["inputs"]) == ("embed", embed["inputs"])
    assert resumed["request_id"] != embed["request_id"]


@pytest.mark.parametrize(
    ("error", "window"),
    [
        ({"context_window": 4096, "message": "too long"}, 4096),
        ({"message": "maximum context length is 5000 tokens, you requested 9000"}, 5000),
        ({"message": "exceeds the available context size (4000 tokens)"}, 4000),
        ({"message": "n_ctx = 99999 is too small"}, 8192 * 3 // 4),
        ({"message": "the prompt is too long"}, 8192 * 3 // 4),
        ({}, 8192 * 3 // 4),
    ],
)
def test_window_is_what_the_error_names(
    db: Connection, user: uuid.UUID, error: dict[str, Any], window: int
) -> None:
    told(db, user)
    job = claim(db, "extract")
    chat = ask(db, job, context_window=8192)
    again = ask(db, job, {"request_id": chat["request_id"],
                          "error": {"code": "context_length"} | error},
                context_window=8192)  # fmt: skip
    assert again["request_id"] != chat["request_id"]
    windows = "select work -> 'windows' -> 'gpt-4o-mini' from recall.jobs where job_id = %s"
    assert value(db, windows, [job["job_id"]]) == window


def test_answer_that_is_null_is_no_answer(db: Connection, user: uuid.UUID) -> None:
    told(db, user)
    job = claim(db, "extract")
    chat = ask(db, job)
    call_with_null = "select recall.next_request(%s, %s, %s, %s::jsonb, 'null')"
    key = [job["user_id"], job["job_id"], job["lease_token"]]
    assert value(db, call_with_null, [*key, json.dumps(WORKER)]) == chat


def test_null_content_is_an_answer_that_is_none(db: Connection, user: uuid.UUID) -> None:
    """A model that reasons may spend all its tokens before it says anything."""
    told(db, user)
    job = claim(db, "extract")
    chat = ask(db, job)
    again = ask(db, job, {"request_id": chat["request_id"], "content": None, "refusal": None,
                          "finish_reason": "length"})  # fmt: skip
    assert again["max_tokens"] > chat["max_tokens"]
    spans = rows(db, "select error from recall.job_phases where user_id = %s", [user])
    assert spans == [{"error": "the answer was cut off"}]
    with refused("RC003", "p_answer is"):
        ask(db, job, {"request_id": again["request_id"], "content": None})


def test_worker_without_keys_leaves_encrypted_users_to_others(
    db: Connection, dsn: str, user: uuid.UUID
) -> None:
    with connected(dsn) as memory:
        memory.encryption.seal_user(user)
        memory.session(user=user, model="gpt-4o-mini").append(user="I live in Lyon.", reply="Oh.")
    job = claim(db, "extract")
    assert ask(db, job, encryption=True)["type"] == "chat"
    with refused("RC003", "encryption is"):
        ask(db, job, encryption="no")
    deferred = ask(db, job, encryption=False)
    assert (deferred["type"], deferred["reason"]) == (
        "deferred", "the worker opens no texts of encrypted users"
    )  # fmt: skip
    left = rows(db, "select state::text, attempts from recall.jobs where job_id = %s",
                [job["job_id"]])  # fmt: skip
    assert left == [{"state": "ready", "attempts": 0}]
