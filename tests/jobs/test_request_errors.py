"""Failures of a request: malformed answers, errors of an endpoint, windows, limits."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from pgrecall.models import count_text_tokens
from support import (
    EMBEDDING_MODEL,
    WORKER,
    append,
    ask,
    call,
    open_session,
    refused,
    rows,
    said,
    value,
)
from support.requests import answered, claim, scripted, told, word_vector, work
from support.servers import DIMENSIONS

Connection = psycopg.Connection[Any]
Answer = dict[str, Any]

FACT = {"content": "User lives in Lyon.", "kind": "personal", "confidence": "high", "turns": [1]}


@pytest.fixture(autouse=True)
def alone(db: Connection) -> Iterator[None]:
    db.execute("delete from recall.jobs")
    yield
    db.execute("delete from recall.model_spending")
    db.execute("delete from recall.model_spending_totals")
    db.execute(
        "select recall.configure('{"
        '"daily_cost_limit_microcents": null, "daily_user_cost_limit_microcents": null}\')'
    )


def reply(request: Answer, **more: Any) -> Answer:
    return {"request_id": request["request_id"], "finish_reason": "stop"} | more


def says(request: Answer, content: str, **more: Any) -> Answer:
    return reply(request, content=content, **more)


def extraction(conn: Connection, user: uuid.UUID) -> tuple[Answer, Answer]:
    """Return a claimed extraction and its first request."""
    told(conn, user)
    job = claim(conn, "extract")
    return job, ask(conn, job)


def remember_paris(conn: Connection, user: uuid.UUID) -> None:
    """Store a memory that only a model can compare with what `scripted` finds."""
    text = "User lives in Paris."
    call(conn, "remember", p_user_id=user, p_content=text, p_kind="personal",
         p_embedding=str(word_vector(text)))  # fmt: skip


def job_of(conn: Connection, job: Answer) -> dict[str, Any]:
    (row,) = rows(conn, "select *, state::text as state from recall.jobs where job_id = %s",
                  [job["job_id"]])  # fmt: skip
    return row


# --- answers that are read, whatever stands around them


READABLE = {
    "a fence": "```json\n{}\n```",
    "a sentence": "Here you are: {}. Anything else {{?",
    "thoughts": '<think>{{"facts": 1}} or so</think>{}',
    "thoughts that the prompt has opened": 'First {{"facts": 1}}.</think>\n```json\n{}```',
    "spaces": "\n\n   {}   \n",
}  # fmt: skip


@pytest.mark.parametrize("around", READABLE)
def test_answer_is_found_within_other_text(db: Connection, user: uuid.UUID, around: str) -> None:
    job, chat = extraction(db, user)
    content = READABLE[around].format(json.dumps({"facts": [FACT], "episodes": []}))
    embed = ask(db, job, says(chat, content))
    assert (embed["type"], embed["inputs"]) == ("embed", ["User lives in Lyon."])


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("in \\u0000Lyon", "in \ufffdLyon"),
        ("in \\ud83dLyon", "in \ufffdLyon"),
        ("in Lyon \\ud83d\\ude00 \\udc00!", "in Lyon 😀 \ufffd!"),
        ("in \\\\u0000 Lyon\\ud800", "in \\u0000 Lyon\ufffd"),
        ("in \\\\\\u0000Lyon", "in \\\ufffdLyon"),
        ("in\\n\\nLyon\\t ", "in Lyon"),
        ("in " + "x" * 600, "in " + "x" * 497),
    ],
)
def test_what_cannot_be_stored_is_replaced(
    db: Connection, user: uuid.UUID, written: str, stored: str
) -> None:
    job, chat = extraction(db, user)
    content = json.dumps({"facts": [FACT | {"content": "@"}]}).replace("@", written)
    assert ask(db, job, says(chat, content))["inputs"] == [stored]


def test_numbers_and_words_are_taken_as_they_are_meant(db: Connection, user: uuid.UUID) -> None:
    job, chat = extraction(db, user)
    fact = FACT | {"importance": "0.7", "correction": "False", "turns": ["1", 2.0],
                   "kind": "PERSONAL", "confidence": " Medium ", "slot": None}  # fmt: skip
    other = FACT | {"content": "User is a nurse.", "kind": "whatever", "importance": 7}
    ask(db, job, says(chat, json.dumps({"facts": [fact, other]})))
    first, second = job_of(db, job)["work"]["made"]["candidates"]
    assert (first["importance"], first["turns"], first["kind"], first["confidence"]) == (
        0.7, [1, 2], "personal", "medium"
    )  # fmt: skip
    assert (second["kind"], second["importance"]) == ("fact", 1), "a kind of its own is kept"


UNREADABLE = {
    "no JSON": ("I would rather not.", "not JSON"),
    "nothing": ("", "not JSON"),
    "null": (None, "not JSON"),
    "an array": ('[{"content": "x"}]', "facts is missing"),
    "an array in place of an object": ('{"facts": [["x"]]}', "facts.0 is not of type object"),
    "a text": ('{"facts": "none"}', "facts is not of type array"),
    "a number beyond all": ('{"facts": [{"content": "x", "importance": 1e400}]}', "importance"),
    "a turn beyond all": ('{"facts": [{"content": "x", "turns": [1e400]}]}', "more than 400"),
    "a long number": ('{"facts": [], "n": ' + "1" * 500 + "}", "more than 400"),
    "65 levels": ('{"facts": ' + "[" * 65 + "]" * 65 + "}", "more than 64 levels"),
    "a hundred thousand levels": ('{"facts": ' + "[" * 100_000 + "}", "nested"),
    "a cut": ('{"facts": [{"content": "User', "not JSON"),
    "5 MB": ('{"facts": [' + '{"content": "User lives."},' * 200_000 + "]}", "longer than"),
    "many ends": ("{" + "}" * 100_000, "not JSON"),
}


@pytest.mark.parametrize("wrong", UNREADABLE)
def test_an_answer_that_is_none_is_asked_for_once_more(
    db: Connection, user: uuid.UUID, wrong: str
) -> None:
    content, problem = UNREADABLE[wrong]
    job, chat = extraction(db, user)
    started = time.monotonic()
    again = ask(db, job, says(chat, content, refusal=None) | {"content": content or ""})
    assert (again["type"], again["purpose"]) == ("chat", "extract")
    assert again["request_id"] != chat["request_id"]
    failed = ask(db, job, says(again, content or ""))
    assert time.monotonic() - started < 10
    assert (failed["type"], failed["dead"]) == ("failed", False)
    assert problem in failed["error"]
    row = job_of(db, job)
    assert (row["state"], row["work"], row["last_error"]) == ("ready", None, failed["error"])
    assert len(failed["error"]) < 1200
    assert [span["error"] is None for span in spans(db, user)] == [False, False]


def spans(conn: Connection, user: uuid.UUID) -> list[dict[str, Any]]:
    return rows(conn, "select * from recall.job_phases where user_id = %s order by phase_id",
                [user])  # fmt: skip


def test_a_complaint_ends_with_the_answer(db: Connection, user: uuid.UUID) -> None:
    """The next step's question says nothing of it, and may be answered wrongly once, too."""
    told(db, user)
    remember_paris(db, user)
    job = claim(db, "extract")
    again = ask(db, job, says(ask(db, job), "no"))
    assert len(again["messages"]) == 4
    embed = ask(db, job, says(again, json.dumps({"facts": [FACT]})))
    asked = ask(db, job, answered(embed, scripted))
    assert asked["purpose"] == "consolidate"
    assert len(asked["messages"]) == 2
    assert "last answer" not in json.dumps(asked)
    once = ask(db, job, says(asked, "no"))
    assert once["purpose"] == "consolidate"
    assert len(once["messages"]) == 4
    done = ask(db, job, says(once, json.dumps({"decisions": [
        {"candidate": 1, "decision": "UPDATE", "target": 1}]})))  # fmt: skip
    assert done["type"] == "done"


@pytest.mark.parametrize(
    "answer",
    [
        {"content": "", "refusal": "I cannot help with that."},
        {"refusal": "I cannot help with that."},
        {"content": '{"facts": [', "finish_reason": "content_filter"},
    ],
)
def test_a_refusal_is_not_asked_again(db: Connection, user: uuid.UUID, answer: Answer) -> None:
    job, chat = extraction(db, user)
    failed = ask(db, job, reply(chat) | answer)
    assert (failed["type"], failed["dead"]) == ("failed", False)
    assert "refused: I cannot" in failed["error"] or "content filter" in failed["error"]
    assert job_of(db, job)["state"] == "ready"


def test_an_answer_that_is_cut_off_gets_more_room(db: Connection, user: uuid.UUID) -> None:
    job, chat = extraction(db, user)
    again = ask(db, job, says(chat, '{"facts": [{"content": "User', finish_reason="length"))
    assert again["max_tokens"] == 2 * chat["max_tokens"]
    most = [request["response_format"]["json_schema"]["schema"]["properties"]["facts"]["maxItems"]
            for request in (chat, again)]  # fmt: skip
    assert most == [3, 2]
    assert again["messages"][1]["content"].endswith("cut off. Answer shorter.")
    done = ask(db, job, says(again, '{"facts": []}', finish_reason="length"))
    assert done["type"] == "done", "what is whole is taken"


# --- errors of an endpoint


def error(request: Answer, code: str, **more: Any) -> Answer:
    return {"request_id": request["request_id"], "error": {"code": code, "message": "so"} | more}


def test_a_prompt_too_long_is_asked_for_shorter_eight_times(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    for n in range(40):
        append(db, user, session, [*said(f"On day {n} I walked to {'the sea and back ' * 60}."),
                                   {"role": "assistant", "content": "Fine."}])  # fmt: skip
    job = claim(db, "extract")
    request = ask(db, job, context_window=32000)
    lengths = [len(request["messages"][1]["content"])]
    for _ in range(8):
        request = ask(db, job, error(request, "context_length"), context_window=32000)
        if request["type"] != "chat":
            break
        lengths.append(len(request["messages"][1]["content"]))
    assert len(lengths) == 9
    assert sorted(set(lengths), reverse=True) == lengths or lengths[-1] < lengths[0] / 3
    failed = ask(db, job, error(request, "context_length"), context_window=32000)
    assert failed == {"type": "failed", "error": "context_length: so", "dead": False}
    assert len(spans(db, user)) == 9


def test_an_endpoint_tells_its_window(db: Connection, user: uuid.UUID) -> None:
    job, chat = extraction(db, user)
    window = {"context_window": 128000}
    small = ask(db, job, error(chat, "context_length", context_window=2600), **window)
    assert job_of(db, job)["work"]["windows"] == {WORKER["chat_model"]: 2600}
    assert small["max_tokens"] <= 2600 // 4
    dead = ask(db, job, error(small, "context_length", context_window=900), **window)
    assert (dead["type"], dead["dead"]) == ("failed", True)
    assert dead["error"].startswith("RC007 the context window of gpt-4o-mini, 900 tokens")


@pytest.mark.parametrize("retryable", [True, False, None])
def test_failed_request_is_retried_unless_it_is_not_retryable(
    db: Connection, user: uuid.UUID, retryable: bool | None
) -> None:
    """Earlier results are kept; an error that is not retryable makes the job a dead letter."""
    job, chat = extraction(db, user)
    embed = ask(db, job, answered(chat, scripted))
    more = {} if retryable is None else {"retryable": retryable}
    failed = ask(db, job, error(embed, "rate_limit", **more))
    dead = retryable is False
    assert failed == {"type": "failed", "error": "rate_limit: so", "dead": dead}
    row = job_of(db, job)
    assert (row["state"], row["attempts"]) == ("dead" if dead else "ready", 1)
    assert (row["work"] is None) == dead
    assert dead or value(db, "select run_at > now() + interval '5 seconds' from recall.jobs"
                             " where job_id = %s", [job["job_id"]])  # fmt: skip
    assert ask(db, job, answered(embed, scripted)) == {"type": "gone"}
    if not dead:
        db.execute("update recall.jobs set run_at = now() where job_id = %s", [job["job_id"]])
        assert ask(db, claim(db, "extract"))["type"] == "embed", "facts are not paid for again"


def test_the_last_attempt_is_a_dead_letter(db: Connection, user: uuid.UUID) -> None:
    job, chat = extraction(db, user)
    db.execute("update recall.jobs set attempts = max_attempts where job_id = %s", [job["job_id"]])
    assert ask(db, job, error(chat, "overloaded", retryable=True))["dead"] is True
    assert job_of(db, job)["state"] == "dead"


VECTORS: dict[str, tuple[Callable[[int], Any], str, bool]] = {
    "too few": (lambda n: [[1.0] * DIMENSIONS] * (n - 1), "1 vectors of 2 texts", False),
    "too many": (lambda n: [[1.0] * DIMENSIONS] * (n + 1), "3 vectors of 2 texts", False),
    "none": (lambda _: None, "0 vectors of 2 texts", False),
    "of other dimensions": (lambda n: [[1.0] * (DIMENSIONS + 1)] * n, "RC004", True),
    "not finite": (lambda n: [["NaN"] * DIMENSIONS] * n, "RC004", True),
    "beyond halfvec": (lambda n: [[1e30] * DIMENSIONS] * n, "RC004", True),
    "texts": (lambda n: ["no"] * n, "RC004", True),
    "objects": (lambda n: [{"a": 1}] * n, "RC004", True),
}


@pytest.mark.parametrize("wrong", VECTORS)
def test_malformed_vectors_are_refused(db: Connection, user: uuid.UUID, wrong: str) -> None:
    make, problem, dead = VECTORS[wrong]
    job, chat = extraction(db, user)
    embed = ask(db, job, answered(chat, scripted))
    made = make(len(embed["inputs"]))
    answer = reply(embed, content="") if made is None else reply(embed, vectors=made)
    failed = ask(db, job, answer)
    assert (failed["type"], failed["dead"]) == ("failed", dead)
    assert problem in failed["error"]
    assert rows(db, "select from recall.memory_store where user_id = %s", [user]) == []


def test_a_text_may_have_no_vector(db: Connection, user: uuid.UUID) -> None:
    job, chat = extraction(db, user)
    embed = ask(db, job, answered(chat, scripted))
    done = ask(db, job, reply(embed, vectors=[None, [1.0] + [0.0] * (DIMENSIONS - 1)]))
    assert done["type"] == "done"
    assert value(db, "select count(*) from recall.memory_embedding where user_id = %s", [user]) == 1


def test_vectors_of_another_model_are_made_anew(db: Connection, user: uuid.UUID) -> None:
    """Settings name a new model in the middle of a job: none of the old one's is stored as its."""
    told(db, user)
    job = claim(db, "extract")
    one = {"embed_batch": 1}
    first = ask(db, job, answered(ask(db, job, **one), scripted), **one)
    second = ask(db, job, answered(first, scripted), **one)
    assert (first["inputs"], second["inputs"]) == (
        ["User lives in Lyon."], ["Told where they live."]
    )  # fmt: skip
    try:
        db.execute("update recall.settings set embedding_model = 'openai:another'")
        other = one | {"embedding_model": "openai:another"}
        anew = ask(db, job, answered(second, scripted), **other)
        assert (anew["inputs"], anew["model"]) == (["User lives in Lyon."], "openai:another")
        end = ask(db, job, answered(ask(db, job, answered(anew, scripted), **other), scripted),
                  **other)  # fmt: skip
        assert end["type"] == "done"
        models = rows(db, "select distinct embedding_model from recall.memory_embedding"
                          " where user_id = %s", [user])  # fmt: skip
        assert models == [{"embedding_model": "openai:another"}]
    finally:
        db.execute("update recall.settings set embedding_model = %s", [EMBEDDING_MODEL])


def test_a_worker_with_another_embedder_leaves_vectors_to_others(
    db: Connection, user: uuid.UUID
) -> None:
    told(db, user)
    end, seen = work(db, claim(db, "extract"), scripted, embedding_model="openai:another")
    assert (end["type"], [request["type"] for request in seen]) == ("done", ["chat"])
    assert value(db, "select count(*) from recall.jobs where user_id = %s and kind = 'embed'",
                 [user]) == 1  # fmt: skip


# --- what the caller says


@pytest.mark.parametrize(
    "worker",
    [
        [], "x", {"chat_models": "m"}, {"chat_model": ""}, {"chat_model": 1},
        {"context_window": 0}, {"context_window": "x"}, {"context_window": 1e12},
        {"embed_batch": -1}, {"models": []}, {"models": {"embed": {}}},
        {"models": {"extract": "m"}}, {"models": {"extract": {"model": ""}}},
        {"models": {"extract": {"window": 1}}}, {"models": {"extract": {"context_window": 0.5}}},
        {"features": []}, {"features": {"temperature": "no"}},
        {"features": {"response_format": "xml"}}, {"features": {"limit": "tokens"}},
    ],
    ids=json.dumps,
)  # fmt: skip
def test_a_worker_that_is_none_is_refused(db: Connection, user: uuid.UUID, worker: Any) -> None:
    job, chat = extraction(db, user)
    with refused("RC003"):
        db.execute("select recall.next_request(%s, %s, %s, %s::jsonb)",
                   [user, job["job_id"], job["lease_token"], json.dumps(worker)])  # fmt: skip
    assert ask(db, job) == chat


@pytest.mark.parametrize(
    "answer",
    [
        [], "x", {}, {"request_id": 1, "content": ""}, {"request_id": "x"},
        {"request_id": "x", "content": 1}, {"request_id": "x", "content": []},
        {"request_id": "x", "vectors": {}}, {"request_id": "x", "error": "no"},
        {"request_id": "x", "content": "", "usage": []},
        {"request_id": "x", "content": "", "latency_ms": -1},
        {"request_id": "x", "content": "", "latency_ms": 1e15},
        {"request_id": "x", "content": "", "latency_ms": "long"},
        {"request_id": "x", "text": "none"},
    ],
    ids=json.dumps,
)  # fmt: skip
def test_an_answer_of_no_form_is_refused(db: Connection, user: uuid.UUID, answer: Any) -> None:
    job, chat = extraction(db, user)
    with refused("RC003"):
        ask(db, job, answer)
    assert ask(db, job) == chat


def test_nonsense_beside_an_answer_does_no_harm(db: Connection, user: uuid.UUID) -> None:
    job, chat = extraction(db, user)
    done = ask(db, job, says(chat, '{"facts": []}', model=["m"], latency_ms=99999999999,
                             usage={"prompt_tokens": -5, "completion_tokens": 1e30,
                                    "prompt_tokens_details": "none"}))  # fmt: skip
    assert done["type"] == "done"
    assert [span["prompt_tokens"] for span in spans(db, user)] == [0, 0]


def test_the_job_keeps_what_the_worker_offers(db: Connection, user: uuid.UUID) -> None:
    job, chat = extraction(db, user)
    again = value(db, "select recall.next_request(%s, %s, %s, null)",
                  [user, job["job_id"], job["lease_token"]])  # fmt: skip
    assert again == chat


def test_features_may_change_in_the_middle(db: Connection, user: uuid.UUID) -> None:
    """The same request, in the dialect that the endpoint takes."""
    job, chat = extraction(db, user)
    plain = ask(db, job, features={"response_format": "json_object", "temperature": False,
                                   "limit": "max_completion_tokens"})  # fmt: skip
    assert plain["request_id"] == chat["request_id"]
    assert plain["response_format"] == {"type": "json_object"}
    assert "temperature" not in plain
    assert plain["max_completion_tokens"] == chat["max_tokens"]
    assert '"facts"' in plain["messages"][0]["content"]
    assert ask(db, job, answered(chat, scripted))["type"] == "embed"


# --- deferred, gone


def test_a_limit_is_reached_in_the_middle(db: Connection, user: uuid.UUID) -> None:
    """The state is kept, the attempt is not counted, and nothing is paid for twice."""
    told(db, user)
    remember_paris(db, user)
    for setting in ("daily_cost_limit_microcents", "daily_user_cost_limit_microcents"):
        db.execute("select recall.configure(%s::jsonb)", [json.dumps({setting: 1})])
        db.execute("delete from recall.model_spending")
        db.execute("delete from recall.model_spending_totals")
        db.execute("update recall.jobs set run_at = now(), work = null, attempts = 0")
        job = claim(db, "extract")
        embed = ask(db, job, answered(ask(db, job), scripted))
        assert embed["type"] == "embed", "vectors do not wait"
        put_off = ask(db, job, answered(embed, scripted))
        assert (put_off["type"], put_off["reason"][:5]) == ("deferred", "RC005")
        row = job_of(db, job)
        assert (row["state"], row["attempts"]) == ("ready", 0)
        assert row["last_error"] == put_off["reason"]
        assert set(row["work"]) == {"made", "embedder"}
        assert call(db, "claim_jobs", p_worker="w", p_flush=True, p_kinds=["extract"]) == []
        db.execute("select recall.configure(%s::jsonb)", [json.dumps({setting: None})])
        db.execute("update recall.jobs set run_at = now()")
        resumed = ask(db, claim(db, "extract"))
        assert resumed["purpose"] == "consolidate", "facts and vectors are there"
        db.execute("update recall.jobs set state = 'ready', worker = null, lease_until = null,"
                   " lease_token = null")  # fmt: skip


def test_a_worker_without_a_model_does_not_spin(db: Connection, user: uuid.UUID) -> None:
    told(db, user)
    job = claim(db, "extract")
    put_off = ask(db, job, chat_model=None)
    assert put_off["type"] == "deferred"
    assert put_off["reason"] == "the worker offers no model for extract"
    row = job_of(db, job)
    assert (row["state"], row["attempts"]) == ("ready", 0)
    assert call(db, "claim_jobs", p_worker="w", p_flush=True, p_kinds=["extract"]) == []
    assert value(db, "select run_at > now() + interval '30 seconds' from recall.jobs"
                     " where job_id = %s", [job["job_id"]])  # fmt: skip


def test_job_whose_session_moved_on_is_due_at_once_and_counts_an_attempt(
    db: Connection, user: uuid.UUID
) -> None:
    """It is due again at once, and each time counts: not for ever."""
    job, chat = extraction(db, user)
    embed = ask(db, job, answered(chat, scripted))
    db.execute("update recall.sessions set extracted_through_turn = 2 where user_id = %s", [user])
    moved = ask(db, job, answered(embed, scripted))
    assert (moved["type"], moved["reason"]) == ("deferred", "the session moved on")
    row = job_of(db, job)
    assert (row["state"], row["attempts"], row["work"]) == ("ready", 1, None)
    last = claim(db, "extract")
    assert ask(db, last)["type"] == "done", "nothing is left to read"


def test_a_session_that_always_moves_on_is_a_dead_letter(db: Connection, user: uuid.UUID) -> None:
    job, chat = extraction(db, user)
    db.execute("update recall.sessions set extracted_through_turn = 2 where user_id = %s", [user])
    db.execute("update recall.jobs set attempts = max_attempts where job_id = %s", [job["job_id"]])
    assert ask(db, job, answered(chat, scripted)) == {
        "type": "failed", "error": "the session moved on", "dead": True
    }  # fmt: skip
    assert job_of(db, job)["state"] == "dead"


def test_a_twin_takes_over_what_was_made(db: Connection, user: uuid.UUID) -> None:
    job, chat = extraction(db, user)
    embed = ask(db, job, answered(chat, scripted))
    append(db, user, job["session_id"], said("And I play the cello."))
    twins = rows(db, "select job_id from recall.jobs where user_id = %s and kind = 'extract'"
                     " and state = 'ready'", [user])  # fmt: skip
    assert len(twins) == 1
    assert ask(db, job, error(embed, "overloaded"))["type"] == "failed"
    db.execute("update recall.jobs set run_at = now()")
    twin = claim(db, "extract")
    assert twin["job_id"] == twins[0]["job_id"]
    assert ask(db, twin)["inputs"] == embed["inputs"]


def test_anothers_job_is_gone(db: Connection, user: uuid.UUID) -> None:
    job, chat = extraction(db, user)
    stranger = uuid.uuid4()
    told(db, stranger)
    answer = answered(chat, scripted)
    for changes in (
        {"user_id": stranger}, {"job_id": uuid.uuid4()}, {"lease_token": uuid.uuid4()},
    ):  # fmt: skip
        assert ask(db, job | changes, answer) == {"type": "gone"}
    db.execute("update recall.jobs set lease_until = now() where job_id = %s", [job["job_id"]])
    assert ask(db, job, answer) == {"type": "gone"}
    assert rows(db, "select from recall.job_phases where user_id = %s", [user]) == []


# --- windows


def request_tokens(request: Answer) -> int:
    """Return the tokens of a request as OpenAI counts them: texts, frames, the schema."""
    told_ = sum(count_text_tokens(m["content"], "gpt-4o-mini") + 4 for m in request["messages"])
    return told_ + 3 + count_text_tokens(json.dumps(request.get("response_format") or ""),
                                         "gpt-4o-mini")  # fmt: skip


TEXTS = {
    "prose": "We walked to the harbor, ate fish and talked about the house by the lake. ",
    "code": "if x > 0:\n\tf(x)\n}\n",
    "Chinese": "我住在里昂，是一名护士，喜欢骑自行车。",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈",
    "hex": "9f86d081884c7d659a2feaa0c55ad015",
}
WINDOWS = (3000, 4096, 8192, 131072)


@pytest.mark.parametrize("text", TEXTS)
def test_a_request_fits_its_window(db: Connection, user: uuid.UUID, text: str) -> None:
    session = open_session(db, user)
    for n in range(30):
        append(db, user, session,
               [{"role": "user", "content": f"{n}: " + TEXTS[text] * (1 + 7 * (n % 5)) },
                {"role": "assistant", "content": TEXTS[text] * 20}])  # fmt: skip
    db.execute("delete from recall.jobs")
    fullest = 0.0
    for kind in ("extract", "summarize", "compact"):
        call(db, "enqueue_job", p_user_id=user, p_kind=kind, p_session_id=session,
             p_payload={"mode": "llm"} if kind == "extract" else {})  # fmt: skip
        job = claim(db, kind)
        for window in WINDOWS:
            for features in ({}, {"response_format": "text"}):
                request = ask(db, job, context_window=window, features=features)
                if request["type"] != "chat":
                    continue
                asked = request_tokens(request) + request["max_tokens"]
                assert asked <= window, (kind, window, features)
                fullest = max(fullest, asked / window)
                again = ask(db, job, says(request, "家" * 3000), context_window=window,
                            features=features)  # fmt: skip
                assert request_tokens(again) + again["max_tokens"] <= window
                db.execute("update recall.jobs set work = null where job_id = %s",
                           [job["job_id"]])  # fmt: skip
    assert fullest > 0.3


@pytest.mark.parametrize("kind", ["extract", "summarize"])
def test_a_window_too_small_is_a_clear_failure(db: Connection, user: uuid.UUID, kind: str) -> None:
    session = told(db, user)
    db.execute("delete from recall.jobs")
    call(db, "enqueue_job", p_user_id=user, p_kind=kind, p_session_id=session,
         p_payload={"mode": "llm"} if kind == "extract" else {})  # fmt: skip
    job = claim(db, kind)
    failed = ask(db, job, context_window=1024 if kind == "extract" else 512)
    assert (failed["type"], failed["dead"]) == ("failed", True)
    assert failed["error"].startswith("RC007 the context window of gpt-4o-mini")


@pytest.mark.parametrize(("most", "window"), [(3, 8192), (30, 4096), (60, 8192), (2, 3000)])
def test_prompt_and_schema_state_the_same_cap(
    db: Connection, user: uuid.UUID, most: int, window: int
) -> None:
    session = open_session(db, user)
    for n in range(12):
        append(db, user, session, [*said(f"On day {n} I bought a bicycle."),
                                   {"role": "assistant", "content": "Fine."}])  # fmt: skip
    call(db, "configure_user", p_user_id=user, p_changes={"max_facts_per_turn": most})
    chat = ask(db, claim(db, "extract"), context_window=window)
    facts = chat["response_format"]["json_schema"]["schema"]["properties"]["facts"]["maxItems"]
    assert f"At most {facts} facts." in chat["messages"][1]["content"]
    turns = chat["messages"][1]["content"].count("] user:")
    assert facts <= most * turns
    assert (90 * facts + 50 * turns) * 1.28 <= chat["max_tokens"] + turns
    assert turns == 1 or facts == most * turns, "fewer turns before fewer facts of each"
