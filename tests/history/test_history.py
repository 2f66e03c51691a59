"""History: what is taken, what is refused, what is counted, what is read back."""

from __future__ import annotations

import hashlib
import itertools
import json
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgrecall.models import count_text_tokens
from support import (
    MODEL,
    append,
    call,
    job_rows,
    open_session,
    refused,
    rows,
    said,
    session_row,
    value,
)
from support.transcripts import histories

Connection = psycopg.Connection[Any]


@pytest.fixture
def session(db: Connection, user: uuid.UUID) -> uuid.UUID:
    return open_session(db, user)


def messages(db: Connection, user: uuid.UUID, session: uuid.UUID, **more: Any) -> list[Any]:
    return call(db, "get_messages", p_user_id=user, p_session_id=session, **more)


def function_call(identity: str = "call_1", name: str = "look") -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": "{}"}}


CALL = {"role": "assistant", "content": None, "tool_calls": [function_call()]}
ANSWER = {"role": "tool", "tool_call_id": "call_1", "content": "found"}


# --- what is taken


def test_append_stores_every_field_of_a_message(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    ]
    answered = append(
        db,
        user,
        session,
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": parts, "name": "ada", "metadata": {"k": {"n": None}}},
            CALL | {"content": "let me see", "model_id": "o3", "finish_reason": "tool_calls"},
            ANSWER | {"latency_ms": 12},
            {"role": "assistant", "content": "Done.", "token_count": 3, "audio": {"id": "a1"}},
        ],
    )
    assert [turn for _, turn, _ in answered] == [1, 2, 3, 4, 5]
    assert all(inserted for _, _, inserted in answered)
    found = messages(db, user, session)
    assert [row["turn_index"] for row in found] == [5, 4, 3, 2, 1], "newest first"
    assert [row["message_id"] for row in found] == [m for m, _, _ in reversed(answered)]
    done, answer, calling, question, system = found
    assert (system["role"], system["content"], system["model_id"]) == ("system", "Be brief.", None)
    assert (question["content"], question["content_parts"]) == (None, parts)
    assert (question["name"], question["metadata"]) == ("ada", {"k": {"n": None}})
    assert (calling["content"], calling["tool_calls"]) == ("let me see", [function_call()])
    assert (calling["model_id"], calling["finish_reason"]) == ("o3", "tool_calls")
    assert (answer["tool_call_id"], answer["content"], answer["latency_ms"]) == (
        "call_1", "found", 12,
    )  # fmt: skip
    assert (done["token_count"], done["tokens_estimated"]) == (3, False)
    assert done["model_id"] == MODEL, "the session's, when none was given"
    assert done["metadata"] == {"extra": {"audio": {"id": "a1"}}}, "what a provider sent stays"
    assert system["tokens_estimated"]


@pytest.mark.parametrize(
    ("message", "content", "parts"),
    [
        ({"role": "user", "content": ""}, "", None),
        ({"role": "user", "content": []}, "", None),
        ({"role": "assistant", "content": None}, None, None),
        ({"role": "assistant"}, None, None),
        ({"role": "assistant", "content": []}, "", None),
        ({"role": "assistant", "content": None, "tool_calls": []}, None, None),
        ({"role": "assistant", "content": "x", "tool_calls": None}, "x", None),
        (
            {"role": "assistant", "content": None, "refusal": "no"},
            None,
            [{"type": "refusal", "refusal": "no"}],
        ),
        (
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
            None,
            [{"type": "refusal", "refusal": "no"}],
        ),
        ({"role": "function", "name": "f", "content": "x"}, "x", None),
        ({"role": "developer", "content": "x"}, "x", None),
        ({"role": "user", "content": "👩‍👩‍👧 \u202e ‏ \t\n"}, "👩‍👩‍👧 \u202e ‏ \t\n", None),
        (
            {"role": "user", "content": [{"type": "something_new", "x": 1}]},
            None,
            [{"type": "something_new", "x": 1}],
        ),
    ],
)
def test_append_stores_unusual_messages_unchanged(
    db: Connection,
    user: uuid.UUID,
    session: uuid.UUID,
    message: dict[str, Any],
    content: str | None,
    parts: Any,
) -> None:
    append(db, user, session, [message])
    (row,) = messages(db, user, session)
    assert (row["content"], row["content_parts"]) == (content, parts)
    assert row["tool_calls"] is None
    assert row["content_hash"] == value(db, "select recall.message_hash(%s)", [json.dumps(message)])


# --- what is refused

MALFORMED: list[tuple[Any, str]] = [
    (None, "messages is not a list"),
    ({}, "messages is not a list"),
    ("text", "messages is not a list"),
    (1, "messages is not a list"),
    ([], "messages is empty"),
    ([None], "messages[0] is not an object"),
    (["hi"], "messages[0] is not an object"),
    ([[]], "messages[0] is not an object"),
    ([{}], "messages[0].role is missing"),
    ([{"role": None, "content": "x"}], "messages[0].role is missing"),
    ([{"role": "robot", "content": "x"}], "messages[0].role is robot"),
    ([{"role": "User", "content": "x"}], "messages[0].role is User"),
    ([{"role": ["user"], "content": "x"}], "messages[0].role is"),
    ([{"role": "user"}], "messages[0].content is missing"),
    ([{"role": "user", "content": None}], "messages[0].content is missing"),
    ([{"role": "user", "content": 5}], "messages[0].content is number"),
    ([{"role": "user", "content": {"text": "x"}}], "messages[0].content is object"),
    ([{"role": "user", "content": True}], "messages[0].content is boolean"),
    ([{"role": "user", "content": ["x"]}], "messages[0].content[0] is not an object"),
    ([{"role": "user", "content": [{}]}], "messages[0].content[0].type is missing"),
    ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text is missing"),
    (
        [{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url"}]}],
        "messages[0].content[1].image_url.url is missing",
    ),
    (
        [{"role": "user", "content": [{"type": "image_url", "image_url": "http://x"}]}],
        "messages[0].content[0].image_url.url is missing",
    ),
    (
        [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "x"}}]}],
        "messages[0].content[0].input_audio",
    ),
    ([{"role": "user", "content": [{"type": "file"}]}], "messages[0].content[0].file is missing"),
    (
        [{"role": "user", "content": [{"type": "refusal", "refusal": "x"}], "tool_calls": 1}],
        "messages[0].tool_calls in a message of role user",
    ),
    (
        [{"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
        "messages[0].content[0].type is image_url in a message of role assistant",
    ),
    (
        [{"role": "assistant", "content": [{"type": "refusal"}]}],
        "messages[0].content[0].refusal is missing",
    ),
    (
        [{"role": "function", "name": "f", "content": [{"type": "text", "text": "x"}]}],
        "messages[0].content is array, not text",
    ),
    ([{"role": "function", "content": "x"}], "messages[0].name is missing"),
    (
        [{"role": "user", "content": "x", "tool_calls": [function_call()]}],
        "messages[0].tool_calls in a message of role user",
    ),
    ([{"role": "assistant", "tool_calls": {}}], "messages[0].tool_calls is not a list"),
    ([{"role": "assistant", "tool_calls": "x"}], "messages[0].tool_calls is not a list"),
    (
        [{"role": "assistant", "content": [{"type": "text", "text": "x"}], "tool_calls": "x"}],
        "messages[0].tool_calls is not a list",
    ),
    ([{"role": "assistant", "tool_calls": [1]}], "messages[0].tool_calls[0] is not an object"),
    (
        [{"role": "assistant", "tool_calls": [function_call() | {"id": None}]}],
        "messages[0].tool_calls[0].id is missing",
    ),
    (
        [{"role": "assistant", "tool_calls": [function_call() | {"id": ""}]}],
        "messages[0].tool_calls[0].id is missing",
    ),
    (
        [{"role": "assistant", "tool_calls": [function_call(), function_call()]}],
        "messages[0].tool_calls[1].id call_1 stands twice",
    ),
    (
        [{"role": "assistant", "tool_calls": [function_call() | {"type": "magic"}]}],
        "messages[0].tool_calls[0].type is magic",
    ),
    (
        [{"role": "assistant", "tool_calls": [{"id": "a", "type": "function"}]}],
        "messages[0].tool_calls[0].function.name is missing",
    ),
    (
        [
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}}
                ],
            }
        ],
        "messages[0].tool_calls[0].function.arguments is not a text",
    ),
    (
        [{"role": "assistant", "tool_calls": [{"id": "a", "type": "custom", "custom": {}}]}],
        "messages[0].tool_calls[0].custom needs name and input",
    ),
    ([{"role": "tool", "content": "x"}], "messages[0].tool_call_id is missing"),
    ([{"role": "tool", "content": "x", "tool_call_id": 5}], "messages[0].tool_call_id is missing"),
    (
        [{"role": "tool", "content": [{"type": "text", "text": "x"}]}],
        "messages[0].tool_call_id is missing",
    ),
    ([{"role": "tool", "tool_call_id": "call_1"}], "messages[0].content is missing"),
    ([{"role": "user", "content": "x", "name": 5}], "messages[0].name is 5"),
    ([{"role": "user", "content": "x", "metadata": []}], "messages[0].metadata is []"),
    ([{"role": "user", "content": "x", "metadata": "m"}], 'messages[0].metadata is "m"'),
    ([{"role": "user", "content": "x", "token_count": -1}], "messages[0].token_count is -1"),
    ([{"role": "user", "content": "x", "token_count": "3"}], 'messages[0].token_count is "3"'),
    ([{"role": "user", "content": "x", "token_count": 1.5}], "messages[0].token_count is 1.5"),
    ([{"role": "user", "content": "x", "token_count": 10**10}], "messages[0].token_count is"),
    ([{"role": "user", "content": "x", "latency_ms": "fast"}], "messages[0].latency_ms is"),
    ([{"role": "user", "content": "x", "model_id": {}}], "messages[0].model_id is {}"),
    ([{"role": "user", "content": "x", "finish_reason": 1}], "messages[0].finish_reason is 1"),
    ([{"role": "user", "content": "x", "refusal": 1}], "messages[0].refusal is 1"),
    ([{"role": "user", "content": "x", "model_call_id": "m"}], "messages[0].model_call_id is"),
    ([{"role": "user", "content": "x", "created_at": "never"}], "messages[0].created_at is"),
    ([{"role": "user", "content": "x", "created_at": 1700000000}], "messages[0].created_at is"),
    ([{"role": "user", "content": "x", "created_at": "infinity"}], "messages[0].created_at is"),
    ([{"role": "user", "content": "x", "created_at": " -Infinity"}], "messages[0].created_at is"),
    (
        [{"role": "user", "content": "x", "created_at": "0044-03-15 BC"}],
        "messages[0].created_at is",
    ),
    ([{"role": "user", "content": "x", "created_at": "2024-13-01"}], "messages[0].created_at is"),
]


@pytest.mark.parametrize(("malformed", "words"), MALFORMED, ids=[words for _, words in MALFORMED])
def test_append_names_the_malformed_field_and_writes_nothing(
    db: Connection, user: uuid.UUID, session: uuid.UUID, malformed: Any, words: str
) -> None:
    """The element and the field are named, and nothing is written."""
    with refused("RC003", words):
        append(db, user, session, malformed)
    if isinstance(malformed, list) and malformed:
        # one bad message takes the whole batch with it
        with refused("RC003", words.replace("messages[0]", "messages[1]", 1)):
            append(db, user, session, [*said("good"), *malformed], request_id=uuid.uuid4())
    assert messages(db, user, session) == []
    assert session_row(db, user, session)["turn_count"] == 0
    assert rows(db, "select * from recall.append_receipts where user_id = %s", [user]) == []
    assert job_rows(db, user) == []


ESTIMATES: list[tuple[str, int]] = [
    ("", 0),
    ("a plain word", 6),
    ("tea  and   a", 6),
    ("no" + " " * 20 + "more", 6),
    ("strengths", 9),  # four consonants in a row
    ("Strengths", 4),
    ("rhythm", 3),
    ("abcdefghijklmn", 14),
    ("ababababababab", 6),
    ("abababababababa", 15),  # more than fourteen letters
    ("attended", 4),
    ("attended a support group with her", 14),
    ("assistant aux heures de la semaine", 14),
    ("don't", 4),
    ("a1 b", 3),
    ("naïve 日本", 13),
    ("\x01\x02 be", 4),
]


def test_append_estimates_missing_token_counts(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    append(db, user, session, [{"role": "user", "content": text} for text, _ in ESTIMATES])
    found = messages(db, user, session)
    assert [(row["content"], row["token_count"]) for row in reversed(found)] == ESTIMATES
    assert all(row["tokens_estimated"] for row in found)


STRANGERS = {
    "The user takes apixaban, ramipril, bisoprolol, torasemide, sitagliptin and rosuvastatin",
    "The invited: Agnieszka, Malgorzata, Wojciech, Katarzyna, Zbigniew, Bozena and Kazimierz",
    "My cousins and aunts: Oluwaseun, Adebayo, Temitope, Chukwuemeka, Ngozi, Ifeoma, Olamide",
    "Wrote to the boss: mohon maaf saya terlambat mengirimkan laporan keuangan bulan kemarin",
    "Wrote to the clerk: szeretnek holnap reggel kilenckor idopontot foglalni fogorvoshoz",
    "Sent to the group: dobry den prosim vas kdy bude hotova oprava meho automobilu",
    "rename the vars: getuserid and setuserid to fetchuid, mkdirp, chmodx, unlinkat, fstatat",
}
"""Words of other languages and of pharmacists within English sentences."""


def test_estimates_are_not_below_the_real_count_in_eight_languages(db: Connection) -> None:
    texts: dict[str, set[str]] = {"strangers": STRANGERS}
    for path in (Path(__file__).parents[2] / "benchmarks" / "merge_sets").glob("*.tsv"):
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            _, language, _, _, merged, statements = line.split("\t")
            texts.setdefault(language, set()).update([merged, *statements.split(" | ")])
    for language, some in texts.items():
        found = db.execute(
            "select text, recall._estimate_tokens(text) from unnest(%s::text[]) as text",
            [sorted(some)],
        ).fetchall()
        for model in ("gpt-4o", "gpt-4"):
            exactly = [count_text_tokens(text, model) for text, _ in found]
            below = [row for row, tokens in zip(found, exactly, strict=True) if row[1] < tokens]
            assert below == []
            if language == "en":
                assert sum(row[1] for row in found) < 2.3 * sum(exactly)


def test_a_null_character_is_refused(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    with pytest.raises(psycopg.errors.UntranslatableCharacter, match=r"\\u0000 cannot be"):
        db.execute(
            "select * from recall.append_messages(%s, %s, %s::jsonb)",
            [user, session, r'[{"role": "user", "content": "a\u0000b"}]'],
        )
    assert messages(db, user, session) == []


def test_a_tool_message_answers_an_earlier_call(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    orphan = ANSWER | {"tool_call_id": "nobody's"}
    for batch, place in (
        ([ANSWER], 0),
        ([ANSWER, CALL], 0),
        ([CALL, orphan], 1),
        ([CALL, *said("x"), ANSWER, orphan], 3),
    ):
        with refused("RC003", f"messages[{place}].tool_call_id"):
            append(db, user, session, batch)
    assert session_row(db, user, session)["turn_count"] == 0

    append(db, user, session, [CALL])
    with refused("RC003", "messages[1].tool_call_id 'nobody''s' answers no earlier call"):
        append(db, user, session, [ANSWER, orphan])
    append(db, user, session, [ANSWER])

    # neither another session's call, nor one that was taken back
    other = open_session(db, user)
    with refused("RC003", "answers no earlier call"):
        append(db, user, other, [ANSWER])
    call(db, "retract_turns", p_user_id=user, p_session_id=session, p_from_turn=1)
    with refused("RC003", "answers no earlier call"):
        append(db, user, session, [ANSWER])


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        ({"prompt_tokens": -1}, "p_usage.prompt_tokens is -1"),
        ({"completion_tokens": "many"}, "p_usage.completion_tokens is many"),
        ({"cached_tokens": 1.5}, "p_usage.cached_tokens is 1.5"),
        ({"latency_ms": {}}, "p_usage.latency_ms is {}"),
        ({"cost_microcents": -5}, "p_usage.cost_microcents is -5"),
        ({"prompt_tokens": 10**10}, "p_usage.prompt_tokens is 10000000000"),
        ({"prompt_tokens_details": {"cached_tokens": "x"}}, "p_usage.cached_tokens is x"),
        ({"price": 5}, "unknown key in p_usage: price"),
        ([], "p_usage is array"),
        (5, "p_usage is number"),
    ],
)
def test_append_refuses_malformed_usage(
    db: Connection, user: uuid.UUID, session: uuid.UUID, usage: Any, words: str
) -> None:
    with refused("RC003", words):
        append(db, user, session, said("x"), usage)
    assert session_row(db, user, session)["turn_count"] == 0


def test_append_refuses_an_unknown_session(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    theirs = open_session(db, uuid.uuid4())
    request = uuid.uuid4()
    for wrong in (theirs, uuid.uuid4()):
        with refused("RC001", f"this user has no session {wrong}"):
            append(db, user, wrong, said("x"), request_id=request)
    with refused("RC001", "this user has no session null"):
        db.execute("select * from recall.append_messages(%s, null, '[{\"role\": \"user\","
                   " \"content\": \"x\"}]')", [user])  # fmt: skip
    assert append(db, user, session, said("x"), request_id=request)[0][2], "no receipt was left"


# --- time


def test_created_at_never_runs_backwards(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    for number in range(5):
        append(db, user, session, said(f"a{number}", f"b{number}"))
    # the clock of a server that was set back
    db.execute(
        "update recall.sessions set last_message_at = last_message_at + interval '1 minute'"
        " where user_id = %s",
        [user],
    )
    last = session_row(db, user, session)["last_message_at"]
    append(db, user, session, said("after"))
    times = [row["created_at"] for row in messages(db, user, session)]
    assert times[0] == last
    assert times == sorted(times, reverse=True)


def test_append_accepts_messages_of_any_past_month(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    """Any month, also long before installation; the session begins with its first message."""
    opened = session_row(db, user, session)["created_at"]
    moments = [
        "1999-12-31T23:59:59.999999Z",
        "2000-01-01T00:00:00+00:00",
        (opened - timedelta(days=200)).isoformat(),
        "2024-02-29 23:30:00-02",
        "2024-02-29T12:00:00",  # without a zone: UTC, whatever the connection says
    ]
    db.execute("set timezone = 'Asia/Tokyo'")
    for moment in moments:
        append(db, user, session, said(moment, created_at=moment))
    append(db, user, session, said("now"))
    found = messages(db, user, session)
    assert [row["content"] for row in found] == ["now", *reversed(moments)], "by turn, not by time"
    assert found[1]["created_at"] == datetime(2024, 2, 29, 12, tzinfo=UTC)
    assert found[2]["created_at"] == datetime(2024, 3, 1, 1, 30, tzinfo=UTC)
    row = session_row(db, user, session)
    assert row["created_at"] == datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    assert row["last_message_at"] == found[0]["created_at"]
    assert row["turn_count"] == 6


@pytest.mark.concurrent
def test_a_repeatable_read_appends_to_a_month_that_it_does_not_see(
    db: Connection, connect: Callable[..., Connection], user: uuid.UUID
) -> None:
    """The snapshot is older than the month, which another transaction has created."""
    mine, theirs = open_session(db, user), open_session(db, user)
    other = connect(autocommit=False)
    other.execute("set transaction isolation level repeatable read")
    assert messages(other, user, mine) == []
    append(db, user, theirs, said("theirs", created_at="1987-06-05T00:00:00Z"))
    append(other, user, mine, said("mine", created_at="1987-06-06T00:00:00Z"))
    other.commit()
    assert [row["content"] for row in messages(db, user, mine)] == ["mine"]


def test_append_clamps_five_minutes_of_clock_skew_and_refuses_more(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    """Five minutes of skew are clamped to now, more is refused."""
    ahead = datetime.now(UTC) + timedelta(minutes=4)
    append(db, user, session, said("a little", created_at=ahead.isoformat()))
    (row,) = messages(db, user, session)
    assert row["created_at"] < ahead - timedelta(minutes=3)
    far = datetime.now(UTC) + timedelta(minutes=6)
    with refused("RC003", "lies in the future"):
        append(db, user, session, said("too much", created_at=far.isoformat()))
    with refused("RC003", "lies in the future"):
        append(db, user, session, [*said("x"), *said("y", created_at="9999-01-01")])
    assert len(messages(db, user, session)) == 1


# --- counters and costs


def test_append_updates_counters_and_costs_of_the_session(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    append(db, user, session, [*said("q"), *said("a", role="assistant")],
           {"prompt_tokens": 1000, "completion_tokens": 100, "cached_tokens": 400,
            "latency_ms": 700})  # fmt: skip
    append(db, user, session, said("a2", role="assistant", latency_ms=5),
           {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 10},
            "completion_tokens_details": {"reasoning_tokens": 3}, "latency_ms": 9})  # fmt: skip
    append(db, user, session, said("a3", role="assistant"), {"cost_microcents": 5_000_000_000})
    append(db, user, session, said("q2", "q3"), {})
    append(db, user, session, said("q4"), None)

    # gpt-4o-mini: 15, 7.5 and 60 cents a million
    first = round((600 * 15_000_000 + 400 * 7_500_000 + 100 * 60_000_000) / 1_000_000)
    second = round(10 * 7_500_000 / 1_000_000)
    row = session_row(db, user, session)
    assert row["total_prompt_tokens"] == 1010
    assert row["total_completion_tokens"] == 100
    assert row["total_cost_microcents"] == first + second + 5_000_000_000
    assert (row["turn_count"], row["user_turn_count"], row["active_tokens"]) == (7, 4, 7)

    found = {row["turn_index"]: row for row in messages(db, user, session)}
    assert found[1]["prompt_tokens"] is None, "usage belongs to the assistant's message"
    assert (found[2]["prompt_tokens"], found[2]["completion_tokens"]) == (1000, 100)
    assert (found[2]["cost_microcents"], found[2]["latency_ms"]) == (first, 700)
    assert (found[3]["cost_microcents"], found[3]["latency_ms"]) == (second, 5)
    assert found[4]["cost_microcents"] == 5_000_000_000, "more than a number of nine digits"
    assert (found[6]["prompt_tokens"], found[6]["cost_microcents"]) == (0, 0)
    assert found[7]["prompt_tokens"] is None


def test_an_unknown_model_costs_nothing_and_says_so(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user, p_model_id="made-up")
    append(db, user, session, [*said("q"), *said("a", role="assistant", metadata={"m": 1})],
           {"prompt_tokens": 1000, "completion_tokens": 100})  # fmt: skip
    row = session_row(db, user, session)
    assert (row["total_prompt_tokens"], row["total_cost_microcents"]) == (1000, 0)
    answer, question = messages(db, user, session)
    assert answer["metadata"] == {"m": 1, "unpriced_model": True}
    assert question["metadata"] == {}
    # the model that wrote the message decides, not the session's
    append(db, user, session, said("a", role="assistant", model_id="gpt-4o"),
           {"completion_tokens": 1})  # fmt: skip
    assert session_row(db, user, session)["total_cost_microcents"] == 1000


def test_a_cost_limit_never_refuses_a_paid_reply(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user, p_cost_limit_microcents=10)
    for _ in range(2):
        append(db, user, session, said("a", role="assistant"), {"cost_microcents": 1000})
    assert session_row(db, user, session)["total_cost_microcents"] == 2000


def test_append_marks_a_session_due_for_compaction(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user, p_context_window_size=1000)
    append(db, user, session, said("x", token_count=2000))
    assert not session_row(db, user, session)["compaction_due"]
    append(db, user, session, said("x"))
    assert session_row(db, user, session)["compaction_due"], "above twice the window"


def test_compaction_is_asked_for_past_four_fifths_of_the_history_budget(
    db: Connection, user: uuid.UUID
) -> None:
    """0.85 · (1000 - 200) = 680, and 0.8 · 680 = 544."""
    session = open_session(db, user, p_context_window_size=1000, p_max_response_tokens=200)
    asked = "select count(*) from recall.jobs where user_id = %s and kind = 'compact'"
    append(db, user, session, said("x", token_count=544))
    assert value(db, asked, [user]) == 0
    append(db, user, session, said("x", token_count=1))
    assert value(db, asked, [user]) == 1


# --- repeating a request


def test_append_with_same_request_id_returns_same_turns(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    request = uuid.uuid4()
    batch = [*said("q"), *said("a", role="assistant", created_at="2024-01-31T23:59:59Z")]
    usage = {"prompt_tokens": 5}
    first = append(db, user, session, batch, usage, request)
    append(db, user, session, said("between"))
    again = append(db, user, session, batch, usage, request)
    assert again == [(message, turn, False) for message, turn, _ in first]
    row = session_row(db, user, session)
    assert (row["turn_count"], row["total_prompt_tokens"]) == (3, 5)

    # usage that is null is none
    nothing, request_ = said("nothing used"), uuid.uuid4()
    one = append(db, user, session, nothing, None, request_)
    (same,) = rows(
        db,
        "select * from recall.append_messages(%s, %s, %s, 'null', %s)",
        [user, session, json.dumps(nothing), request_],
    )
    assert (same["message_id"], same["inserted"]) == (one[0][0], False)

    # the answer stays the same when the session cannot take messages any more
    call(db, "close_session", p_user_id=user, p_session_id=session)
    assert append(db, user, session, batch, usage, request) == again


def test_append_with_same_request_id_and_another_payload_is_refused(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    request = uuid.uuid4()
    append(db, user, session, said("one"), {"prompt_tokens": 5}, request)
    other = open_session(db, user)
    payload, elsewhere = "with other messages or another usage", f"in another session, {session}"
    for where, batch, usage, said_of_it in (
        (session, said("two"), {"prompt_tokens": 5}, payload),
        (session, said("one", "one"), {"prompt_tokens": 5}, payload),
        (session, said("one"), {"prompt_tokens": 6}, payload),
        (session, said("one"), None, payload),
        (other, said("one"), {"prompt_tokens": 5}, elsewhere),
        (other, said("two"), None, elsewhere),
    ):
        with refused("RC008", f"request {request} was used before {said_of_it}"):
            append(db, user, where, batch, usage, request)
    assert session_row(db, user, session)["turn_count"] == 1
    assert session_row(db, user, other)["turn_count"] == 0
    # another user's request ids are another user's
    stranger = uuid.uuid4()
    theirs = open_session(db, stranger)
    assert append(db, stranger, theirs, said("two"), None, request)[0][1:] == (1, True)


def test_payload_in_another_order_is_another_payload(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    """Each two of 40 turns change places; a hash that rotates meets itself after some turns."""
    request = uuid.uuid4()
    batch = said(*(f"{number} approved" for number in range(40)))
    append(db, user, session, batch, None, request)
    for one, other in itertools.combinations(range(40), 2):
        moved = [*batch]
        moved[one], moved[other] = moved[other], moved[one]
        with refused("RC008", str(request)):
            append(db, user, session, moved, None, request)
    assert append(db, user, session, batch, None, request)[0][2] is False
    assert session_row(db, user, session)["turn_count"] == 40


SHAPES: list[Any] = [
    {"a": {"b": 1}}, {"a": {}, "b": 1}, {"b": {"a": 1}}, {"a": [1], "b": []}, {"a": [], "b": [1]},
    {"a": [[1], 2]}, {"a": [1, [2]]}, {"a": [[1, 2]]}, {"a": [1, 2]}, {"a": [2, 1]},
    {"a": [[], 1, 2]}, {"a": [1, 2, []]}, {"a": {"b": {}}}, {"a": [{}], "b": 1}, {"a": "1"},
    {"a": 1}, {"a": True}, {"a": "true"}, {"a": None}, {"a": "null"}, {"a": ""}, {"a": "[1,2]"},
    {"a": [1, 1]}, {"a": [1, 1, 2, 2]}, {"a": [2, 2, 1, 1]}, {"a": "x\",\"b"}, {"a": "x", "b": ""},
    {"a": ["x", "y"] * 33}, {"a": ["y", "x"] * 33}, {"a": [["x"] * 32, "y"]}, {},
]  # fmt: skip
"""Metadata whose values are the same, in another nesting, order or type."""


def test_payload_of_another_shape_is_another_payload(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    requests = [uuid.uuid4() for _ in SHAPES]
    batches = [[{**said("x")[0], "metadata": shape}] for shape in SHAPES]
    for request, batch in zip(requests, batches, strict=True):
        append(db, user, session, batch, None, request)
    for (one, request), (two, batch) in itertools.product(enumerate(requests), enumerate(batches)):
        if one == two:
            assert append(db, user, session, batch, None, request)[0][2] is False
        else:
            with refused("RC008", str(request)):
                append(db, user, session, batch, None, request)
    # the order of keys is none of the payload
    given = [{"role": "user", "content": "x", "metadata": {"a": 1, "b": 2}}]
    same = [{"metadata": {"b": 2, "a": 1}, "content": "x", "role": "user"}]
    request = uuid.uuid4()
    append(db, user, session, given, {"prompt_tokens": 5, "latency_ms": 6}, request)
    assert not append(db, user, session, same, {"latency_ms": 6, "prompt_tokens": 5}, request)[0][2]
    with refused("RC008", str(request)):
        append(db, user, session, given, {"prompt_tokens": 6, "latency_ms": 5}, request)


@pytest.mark.concurrent
def test_a_repeatable_read_must_be_repeated_where_it_does_not_see_a_receipt(
    db: Connection, connect: Callable[..., Connection], user: uuid.UUID
) -> None:
    """Its snapshot is older than the receipt, so it cannot compare the payloads."""
    mine, theirs, request = open_session(db, user), open_session(db, user), uuid.uuid4()
    other = connect(autocommit=False)
    other.execute("set transaction isolation level repeatable read")
    assert messages(other, user, mine) == []
    append(db, user, theirs, said("theirs"), request_id=request)
    with refused("40001", f"request {request} was used by another transaction meanwhile"):
        append(other, user, mine, said("mine"), request_id=request)
    other.rollback()
    with refused("RC008"):
        append(other, user, mine, said("mine"), request_id=request)
    assert messages(db, user, mine) == []


def test_a_refused_request_leaves_no_receipt(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    request = uuid.uuid4()
    with refused("RC003"):
        append(db, user, session, [ANSWER], request_id=request)
    db.autocommit = False
    append(db, user, session, said("rolled back"), request_id=request)
    db.rollback()
    db.autocommit = True
    assert append(db, user, session, said("kept"), request_id=request)[0][1:] == (1, True)


# --- big


def test_append_estimates_a_megabyte_in_seconds(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    """With estimated tokens, whatever it is made of, in seconds."""
    call(db, "configure_user", p_user_id=user, p_changes={"message_max_characters": 2_000_000})
    texts = {
        "words": "the quick brown fox " * 52_500,
        "hex": "0123456789abcdef" * 65_536,
        "han": "漢字仮名交じり文" * 43_691,
        "blank": " \n" * 524_288,
        "one word": "a" * 1_048_576,
    }
    started = time.monotonic()
    for text in texts.values():
        append(db, user, session, [{"role": "user", "content": text}])
    assert time.monotonic() - started < 30
    found = messages(db, user, session)
    assert [row["content"] for row in found] == list(reversed(texts.values()))
    for row in found:
        assert row["token_count"] > 0
        assert row["content_hash"] == value(
            db, "select recall.message_hash(%s)", [json.dumps(said(row["content"])[0])]
        )


def test_append_stores_ten_thousand_messages_in_one_call(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    start = datetime(2021, 1, 1, tzinfo=UTC)
    batch = [
        {
            "role": ("user", "assistant")[n % 2],
            "content": f"message {n}",
            "created_at": (start + timedelta(hours=n)).isoformat(),
        }
        for n in range(10_000)
    ]
    request = uuid.uuid4()
    started = time.monotonic()
    answered = append(db, user, session, batch, None, request)
    assert time.monotonic() - started < 20
    assert [turn for _, turn, _ in answered] == list(range(1, 10_001))
    assert session_row(db, user, session)["user_turn_count"] == 5000
    repeated = append(db, user, session, batch, None, request)
    assert repeated == [(message, turn, False) for message, turn, _ in answered]
    page = messages(db, user, session, p_limit=3, p_before_turn=5001)
    assert [row["content"] for row in page] == ["message 4999", "message 4998", "message 4997"]


# --- reading


def test_messages_are_read_in_pages(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    append(db, user, session, said(*map(str, range(1, 24))))
    seen: list[int] = []
    before = None
    while page := messages(db, user, session, p_limit=5, p_before_turn=before):
        seen += [row["turn_index"] for row in page]
        before = seen[-1]
    assert seen == list(range(23, 0, -1))
    assert messages(db, user, session, p_limit=0) == []
    assert messages(db, user, session, p_before_turn=-3) == []
    assert len(messages(db, user, session, p_before_turn=10**6)) == 23
    for limit in (-1, None):
        with refused("RC003", "p_limit"):
            messages(db, user, session, p_limit=limit)
    with refused("RC001"):
        messages(db, user, uuid.uuid4())
    assert messages(db, user, open_session(db, user)) == []


def test_compacted_turns_can_be_left_out(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    append(db, user, session, said("1", "2", "3"))
    db.execute(
        "update recall.sessions set compacted_through_turn = 2, active_tokens = 1"
        " where user_id = %s",
        [user],
    )
    db.execute(
        "insert into recall.session_summaries (user_id, session_id, summary_id, kind, from_turn,"
        " to_turn, content, token_count, created_at)"
        " values (%s, %s, gen_random_uuid(), 'compaction', 1, 2, 'They counted.', 3, now())",
        [user, session],
    )
    assert len(messages(db, user, session)) == 3
    assert [row["content"] for row in messages(db, user, session, p_include_compacted=False)] == [
        "3"
    ]
    with refused("RC006", "turn 2 is compacted"):
        call(db, "retract_turns", p_user_id=user, p_session_id=session, p_from_turn=2)


def test_history_is_append_only(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    append(db, user, session, said("x"))
    with refused("RC006", "append-only"):
        db.execute(
            "update recall.conversation_history set content = 'y' where user_id = %s", [user]
        )


# --- taking back


def test_retract_turns_hides_turns_and_lowers_active_tokens(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    append(db, user, session, said(*"abcdef"))

    def retract(turn: int | None) -> int:
        return call(db, "retract_turns", p_user_id=user, p_session_id=session, p_from_turn=turn)[0][
            "retract_turns"
        ]

    assert retract(5) == 2
    assert [row["content"] for row in messages(db, user, session)] == ["d", "c", "b", "a"]
    assert session_row(db, user, session)["active_tokens"] == 4
    append(db, user, session, said("g"))
    assert [row["turn_index"] for row in messages(db, user, session)] == [7, 4, 3, 2, 1]
    assert retract(4) == 2, "d and g; e and f were taken back before"
    row = session_row(db, user, session)
    assert (row["turn_count"], row["active_tokens"]) == (7, 3)
    assert retract(4) == 0
    kept = rows(db, "select content from recall.conversation_history where user_id = %s", [user])
    assert len(kept) == 7, "the record stays"
    for turn in (0, -1, 8, None):
        with refused("RC003", "p_from_turn"):
            retract(turn)
    with refused("RC001"):
        call(db, "retract_turns", p_user_id=user, p_session_id=uuid.uuid4(), p_from_turn=1)


# --- annotating


def test_annotations_are_merged_latest_wins(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    append(db, user, session, said("x", metadata={"a": 1, "deep": {"x": None}, "gone": 1}))

    def annotate(patch: dict[str, Any], turn: int | None = 1) -> None:
        call(db, "annotate_message", p_user_id=user, p_session_id=session, p_turn_index=turn,
             p_patch=patch)  # fmt: skip

    for patch in ({"a": 2, "b": 1}, {"gone": None}, {"b": {"y": None}}, {"c": None}, {"d": None}):
        annotate(patch)
    annotate({"d": "back"})
    (row,) = messages(db, user, session)
    assert row["metadata"] == {"a": 2, "b": {"y": None}, "deep": {"x": None}, "d": "back"}
    for turn in (0, 2, None):
        with refused("RC003", "p_turn_index"):
            annotate({}, turn)
    with refused("RC003", "metadata is array"):
        annotate([])  # type: ignore[arg-type]
    with refused("RC001"):
        call(db, "annotate_message", p_user_id=user, p_session_id=uuid.uuid4(), p_turn_index=1,
             p_patch={})  # fmt: skip


def test_annotation_of_a_deleted_turn_is_refused(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    """Retention has deleted the turn, or clear_session all of them."""
    target = {"p_user_id": user, "p_session_id": session, "p_patch": {"liked": True}}
    with refused("RC003", "The session has no turns"):
        call(db, "annotate_message", **target, p_turn_index=1)
    append(db, user, session, said("one", "two", "three"))
    db.execute("update recall.sessions set first_retained_turn = 3 where user_id = %s", [user])
    for turn in (1, 2, 4):
        with refused("RC003", "The session has turns 3 to 3"):
            call(db, "annotate_message", **target, p_turn_index=turn)
    call(db, "annotate_message", **target, p_turn_index=3)
    call(db, "clear_session", p_user_id=user, p_session_id=session)
    with refused("RC003", "The session has no turns"):
        call(db, "annotate_message", **target, p_turn_index=3)


# --- the cursor over a list that the caller holds


def since(db: Connection, cursor: bytes | None, held: Any) -> list[dict[str, Any]]:
    return call(db, "new_messages_since", p_cursor=cursor, p_messages=held)


def test_new_messages_returns_messages_after_the_cursor(db: Connection) -> None:
    held = said("a", "b", "c")
    everything = since(db, None, held)
    assert [row["ordinal"] for row in everything] == [1, 2, 3]
    assert [row["message"] for row in everything] == held
    cursor = everything[-1]["cursor"]
    assert since(db, cursor, held) == []
    (new,) = since(db, cursor, [*held, *said("d")])
    assert (new["ordinal"], new["message"]["content"]) == (4, "d")

    # repeated texts: the last occurrence counts
    twice = [*said("a", "yes", "b", "yes", "c")]
    assert [
        row["ordinal"] for row in since(db, since(db, None, said("yes"))[0]["cursor"], twice)
    ] == [5]
    # cut at the front: the cursor is still found
    assert [row["ordinal"] for row in since(db, cursor, said("c", "d"))] == [2]
    # summarized: it is gone, so all is new
    assert [row["ordinal"] for row in since(db, cursor, said("a summary", "d"))] == [1, 2]
    assert since(db, cursor, []) == []
    for wrong in (None, {}, "text"):
        with refused("RC003", "p_messages is not a JSON array"):
            db.execute("select recall.new_messages_since(null, %s::jsonb)", [json.dumps(wrong)])
    with refused("RC003", "p_messages is not a JSON array"):
        db.execute("select recall.new_messages_since(null, null)")
    with refused("RC003", 'p_messages[1] is "yes", not an object'):
        db.execute("select * from recall.new_messages_since(null, %s::jsonb)",
                   [json.dumps([*said("a"), "yes"])])  # fmt: skip


def test_message_hash_depends_on_role_content_and_calls_only(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    def digest(message: dict[str, Any]) -> bytes:
        return call(db, "message_hash", p_message=message)[0]["message_hash"]

    base = {"role": "user", "content": "x"}
    assert digest(base) == hashlib.sha256(b'["user", "x", null, null]').digest()
    # neither the order of the keys nor what is told about a message is part of it
    for same in (
        {"content": "x", "role": "user"},
        base | {"name": "ada", "token_count": 5, "metadata": {}, "created_at": "2024-01-01"},
        base | {"tool_calls": [], "tool_call_id": None},
        base | {"tool_calls": None},
    ):
        assert digest(same) == digest(base)
    for other in (
        base | {"content": "y"},
        base | {"role": "assistant"},
        base | {"content": [{"type": "text", "text": "x"}]},
        base | {"tool_calls": [function_call()]},
        base | {"tool_call_id": "c"},
    ):
        assert digest(other) != digest(base)
    # the stored hash is this one, so that a cursor fits both
    append(db, user, session, [base, CALL, ANSWER])
    assert [row["content_hash"] for row in messages(db, user, session)] == [
        digest(ANSWER), digest(CALL), digest(base),
    ]  # fmt: skip


# --- messages whose fields only look right


PLAIN = {"role": "user", "content": "x", "token_count": 3}


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("token_count", 5.0), ("token_count", "5"), ("name", 5), ("metadata", []),
        ("latency_ms", -1), ("refusal", {}), ("model_call_id", "c"), ("role", ["user"]),
    ],
)  # fmt: skip
def test_append_refuses_malformed_field(
    db: Connection, user: uuid.UUID, session: uuid.UUID, field: str, wrong: Any
) -> None:
    with refused("RC003", f"messages[1].{field} is "):
        append(db, user, session, [PLAIN, PLAIN | {field: wrong}])


def test_append_refuses_list_within_list(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    for wrong in ([[PLAIN]], [[]], [PLAIN, [PLAIN]]):
        with refused("RC003", "is not an object"):
            append(db, user, session, wrong)


def test_ids_that_are_made_together(db: Connection) -> None:
    made = value(db, "select recall._uuids(300)")
    assert len(set(made)) == 300
    assert made == sorted(made)
    assert {(one.version, one.variant) for one in made} == {(7, uuid.RFC_4122)}
    assert value(db, "select recall._uuids(0)") == []


# --- any history, in any pieces


@settings(max_examples=30)
@given(history=histories, data=st.data())
def test_get_messages_returns_the_appended_messages(
    dsn: str, history: list[Any], data: st.DataObject
) -> None:
    """Batches, retractions and rollbacks in between do not change the messages that are read."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        user = uuid.uuid4()
        session = open_session(conn, user)
        kept: list[Any] = []
        rest = history
        while rest:
            size = data.draw(st.integers(1, len(rest)), label="size")
            batch, rest = rest[:size], rest[size:]
            fate = data.draw(st.sampled_from(["keep", "keep", "keep", "roll back", "repeat"]))
            if fate == "roll back":
                with conn.transaction(force_rollback=True):
                    append(conn, user, session, batch)
            request = uuid.uuid4() if fate == "repeat" else None
            for _ in range(2 if fate == "repeat" else 1):
                append(conn, user, session, batch, {"completion_tokens": 1}, request)
            kept += batch
        found = call(conn, "get_messages", p_user_id=user, p_session_id=session, p_limit=10_000)
        found.reverse()
        assert [row["turn_index"] for row in found] == list(range(1, len(kept) + 1))
        for row, message in zip(found, kept, strict=True):
            content = message["content"]
            is_list = isinstance(content, list)
            assert row["role"] == message["role"]
            assert row["content"] == (None if is_list else content)
            assert row["content_parts"] == (content if is_list else None)
            assert row["tool_calls"] == message.get("tool_calls")
            assert row["tool_call_id"] == message.get("tool_call_id")
        # taking back from somewhere leaves what was before
        if kept:
            turn = data.draw(st.integers(1, len(kept)), label="turn")
            call(conn, "retract_turns", p_user_id=user, p_session_id=session, p_from_turn=turn)
            left = messages(conn, user, session, p_limit=10_000)
            assert len(left) == turn - 1
            assert session_row(conn, user, session)["active_tokens"] == sum(
                row["token_count"] for row in left
            )
