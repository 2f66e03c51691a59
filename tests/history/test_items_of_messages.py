"""Parts of the type item: stored for a framework, never shown to a model."""

from __future__ import annotations

import json
import uuid
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall.models._tokens import count_message_tokens
from support import append, call, index_messages, open_session, refused, rows, session_row, value

Connection = psycopg.Connection[Any]

SECRET = "hidden thoughts about marzipan"
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"text": SECRET}]}


def part(item: Any = REASONING) -> dict[str, Any]:
    return {"type": "item", "item": item}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": [text("I live in Lyon and like tea."), part()]},
    {"role": "assistant", "content": [part()]},
    {"role": "assistant", "content": [part()], "tool_calls": [CALL]},
    {"role": "assistant", "content": [part({"type": "reasoning", "id": "rs_2"})]},
    {"role": "tool", "tool_call_id": "c1", "content": [text("sunny"), part()]},
    {"role": "assistant", "content": [part({"type": "function_call_output", "call_id": "none",
                                            "output": SECRET})]},
    {"role": "assistant", "content": "It is sunny."},
]  # fmt: skip


@pytest.fixture
def session(db: Connection, user: uuid.UUID) -> uuid.UUID:
    return open_session(db, user)


def test_items_are_returned_in_order(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    append(db, user, session, MESSAGES)
    found = call(db, "get_messages", p_user_id=user, p_session_id=session)[::-1]
    assert [row["content_parts"] or row["content"] for row in found] == [
        message["content"] for message in MESSAGES
    ]
    assert [row["token_count"] for row in found if row["turn_index"] in (2, 4, 6)] == [0, 0, 0]


def test_items_enter_no_context(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    append(db, user, session, MESSAGES)
    context = value(db, "select recall.compile_context(%s, %s)", [user, session])
    assert context["messages"] == [
        {"role": "user", "content": [text("I live in Lyon and like tea.")]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": [text("sunny")]},
        {"role": "assistant", "content": "It is sunny."},
    ]
    assert "left_out" not in context or context["left_out"] == []
    explained = call(db, "explain_context", p_user_id=user, p_session_id=session)
    assert "marzipan" not in str(explained)


def test_items_are_no_words_of_searches_and_prompts(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    append(db, user, session, MESSAGES)
    index_messages(db)
    found = call(db, "search_messages", p_user_id=user, p_query="marzipan")
    assert [row for row in found if row["lexical"] or "marzipan" in row["content"]] == []
    assert rows(
        db,
        "select turn_index from recall.message_search where user_id = %s order by 1",
        [user],
    ) == [{"turn_index": 1}, {"turn_index": 5}, {"turn_index": 7}]
    turns = value(
        db, "select recall._turns_json(s, 1, 9) from recall.sessions as s"
        " where s.user_id = %s and s.session_id = %s", [user, session],
    )  # fmt: skip
    assert "marzipan" not in json.dumps(turns)
    assert [turn["turn_index"] for turn in turns] == [1, 3, 5, 7]


def test_items_count_no_tokens(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    append(db, user, session, [{"role": "assistant", "content": [part()], "token_count": 500}])
    assert session_row(db, user, session)["active_tokens"] == 0
    assert count_message_tokens({"role": "assistant", "content": [part()]}, "gpt-4o-mini") == 0


def test_items_do_not_hold_an_exchange_open(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    append(db, user, session, MESSAGES)
    borders = rows(
        db, "select b.turn_index, b.is_border from recall.sessions as s,"
        " recall._exchange_borders(s, recall._settings(s.user_id)) as b"
        " where s.user_id = %s and s.session_id = %s order by 1", [user, session],
    )  # fmt: skip
    assert [(row["turn_index"], row["is_border"]) for row in borders] == [
        (1, True), (3, False), (5, True), (7, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [part()]},
        {"role": "system", "content": [part()]},
        {"role": "assistant", "content": [{"type": "item"}]},
        {"role": "assistant", "content": [part(7)]},
        {"role": "user", "content": [1]},
    ],
)
def test_malformed_items_are_refused(
    db: Connection, user: uuid.UUID, session: uuid.UUID, message: dict[str, Any]
) -> None:
    with refused("RC003", "messages[0].content"):
        append(db, user, session, [message])


def test_items_survive_export_and_leave_with_an_erasure(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    append(db, user, session, MESSAGES)
    document = value(db, "select recall.export_user(%s)", [user])
    call(db, "forget_user", p_user_id=user)
    call(db, "import_user", p_user_id=user, p_document=Jsonb(document))
    found = call(db, "get_messages", p_user_id=user, p_session_id=session)
    assert SECRET in json.dumps([row["content_parts"] for row in found])
    call(db, "clear_session", p_user_id=user, p_session_id=session)
    document = value(db, "select recall.export_user(%s)::text", [user])
    assert SECRET not in document
