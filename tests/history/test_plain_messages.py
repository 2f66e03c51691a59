"""A text with usual fields skips the checks of other messages, and gives the same row."""

from __future__ import annotations

import itertools
import json
import uuid
from typing import Any

import psycopg
import pytest

from support import append, open_session, rows, value

Connection = psycopg.Connection[Any]

PLAIN = [
    {"role": "user", "content": "tea"},
    {"role": "user", "content": ""},
    {"role": "system", "content": "null"},
    {"role": "developer", "content": "[]", "token_count": 0},
    {"role": "assistant", "content": '{"a": 1}', "token_count": 999_999_999},
    {
        "role": "assistant",
        "content": "tea",
        "token_count": 7,
        "finish_reason": "stop",
        "model_id": "gpt-4o-mini",
        "metadata": {"a": [1, None], "extra": {"b": 2}},
        "name": "ada",
        "created_at": "2026-11-20T10:00:00+02:00",
    },
    {"role": "tool", "content": "tea", "tool_call_id": "call_1"},
]

# of each field: values of every type, at the ends of what is allowed
VALUES: dict[str, list[Any]] = {
    "role": ["user", "tool", "function", "nobody", ["user"], {"user": 1}, 1, None],
    "content": ["tea", ["tea"], [], [{"type": "text", "text": "a"}], {"a": "tea"}, 1, True, None],
    "token_count": [7, -1, 1.0, 7.5, 1e3, 1_000_000_000, "7", [7], {"a": 7}, True, None],
    "finish_reason": ["stop", ["stop"], {"a": "stop"}, 1, False, None],
    "model_id": ["m", ["m"], {"a": "m"}, 1, False, None],
    "metadata": [{}, {"a": 1}, [{"a": 1}], [], "a", 1, None],
    "name": ["ada", ["ada"], {"a": "ada"}, 1, True, None],
    "tool_call_id": ["c", ["c"], {"a": "c"}, 1, None],
    "created_at": [
        "2026-11-20T10:00:00Z",
        "2026-02-30T10:00:00Z",
        "0001-01-01",
        "infinity",
        "tea",
        1,
        ["2026-11-20T10:00:00Z"],
        None,
    ],
    "user_id": [str(uuid.uuid4()), None],
    "tool_calls": [[], None, [{"id": "a"}]],
    "turn_index": [99],
    "cost_microcents": [5],
}
OTHERS = [
    *([{"role": "user", "content": "tea"}], [], "tea", 1, None, True),
    *(
        {"role": "assistant", "content": "tea"} | dict(zip(names, given, strict=True))
        for names in itertools.combinations(VALUES, 2)
        for given in itertools.product(*(VALUES[name] for name in names))
    ),
]


@pytest.mark.parametrize("message", PLAIN)
def test_a_plain_message_gives_the_row_of_the_general_way(db: Connection, message: Any) -> None:
    assert value(db, "select recall._is_plain_message(%s)", [json.dumps(message)]) is True
    assert value(
        db,
        "select jsonb_populate_record(e, m.message)"
        "       is not distinct from recall._parse_message(e, m.message)"
        "  from (values (%s::jsonb)) as m (message)"
        " cross join jsonb_populate_record(null::recall.conversation_history,"
        "                                  '{\"metadata\": {}}') as e",
        [json.dumps(message)],
    )


def test_a_message_that_is_called_plain_is_valid_and_gives_the_same_row(db: Connection) -> None:
    """The general way accepts each of a thousand random messages that are plain."""
    found = rows(
        db,
        "select m.message, recall._judge_message(m.message) as problem,"
        "       case when recall._judge_message(m.message) is null"
        "            then jsonb_populate_record(e, m.message)"
        "                 is not distinct from recall._parse_message(e, m.message) end as is_same"
        "  from jsonb_array_elements(%s) as m (message)"
        " cross join jsonb_populate_record(null::recall.conversation_history,"
        "                                  '{\"metadata\": {}}') as e"
        " where recall._is_plain_message(m.message)",
        [json.dumps(OTHERS)],
    )
    assert len(found) >= 30
    assert [row for row in found if row["problem"] is not None or not row["is_same"]] == []


def test_a_field_with_the_name_of_a_column_is_stored_as_extra(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    columns = {"user_id": str(uuid.uuid4()), "turn_index": 99, "cost_microcents": 5}
    append(db, user, session, [{"role": "user", "content": "tea", **columns}])
    [row] = rows(db, "select * from recall.conversation_history where user_id = %s", [user])
    assert (row["user_id"], row["turn_index"], row["cost_microcents"]) == (user, 1, None)
    assert row["metadata"] == {"extra": columns}
