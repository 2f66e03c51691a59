"""Texts and JSON are bounded: a value that is too large is refused before work begins."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import append, call, open_session, refused, rows, said, value
from support.everyfunction import World, furnish
from support.parameters import (
    Parameter,
    adorned,
    call_with,
    leaves,
    public_parameters,
    replaced,
    sane_arguments,
)

Connection = psycopg.Connection[Any]

NAME = "word " * 600_000  # 3 MB
TEXT = "word " * 12_000_000  # 60 MB
PART = "word " * 3_600_000  # 18 MB

READS = "is compared or searched for, and not stored"
CUT = "is cut to settings.ledger_max_body"
PURE = "is not stored"
ACCEPTED = {
    ("clear_working", "p_task_id"): READS,
    ("compile_context", "p_query"): READS,
    ("dispute_memory", "p_current_message"): READS,
    ("explain_context", "p_query"): READS,
    ("fail_job", "p_error"): "is cut, since a failure must be reportable",
    ("fail_job", "p_phases"): "is left out, since a failure must be reportable",
    ("get_items", "p_namespace"): READS, ("get_items", "p_keys"): READS,
    ("get_working", "p_task_id"): READS,
    ("get_working", "p_key"): READS,
    ("list_namespaces", "p_prefix"): READS, ("list_namespaces", "p_suffix"): READS,
    ("list_sealed_users", "p_other_than"): READS,
    ("message_hash", "p_message"): PURE, ("new_messages_since", "p_messages"): PURE,
    ("next_request", "p_answer"): "is of no request in flight, or its vectors are malformed",
    ("query_dates", "p_query"): READS, ("record_model_call", "p_request"): CUT,
    ("record_model_call", "p_response"): CUT, ("record_protocol_event", "p_payload"): CUT,
    ("remember", "p_current_message"): READS, ("search", "p_query"): READS,
    ("search_items", "p_namespace"): READS,
    ("search_items", "p_embedding_model"): READS, ("search_messages", "p_query"): READS,
    ("search_sessions", "p_query"): READS, ("touch_items", "p_namespace"): READS,
    ("touch_items", "p_keys"): READS,
}  # fmt: skip
"""Parameters that take a text of any size, and why."""


def too_large(parameter: Parameter, base: Any) -> Iterator[tuple[str, Any]]:
    """Yield values of a parameter that are too large: as a whole, and in each text of its JSON."""
    if parameter.kind == "text":
        yield "", NAME
    elif parameter.kind == "text[]":
        yield "", [NAME]
    elif parameter.kind == "jsonb":
        yield "", Jsonb({"x": TEXT})
        if parameter.name == "p_document":
            return  # an export of an upgraded database may hold larger rows
        for path in leaves(base.obj if base is not None else {}, breadth=1):
            yield str(path), Jsonb(replaced(base.obj, path, PART))


@pytest.mark.slow
def test_every_parameter_refuses_what_is_too_large_or_says_why_not(db: Connection) -> None:
    world: World = adorned(db, furnish(db, "alpha"))
    db.execute("set statement_timeout = '20s'")
    failed: list[tuple[str, str, str, str]] = []
    taken: dict[tuple[str, str], list[str]] = {}
    for function, parameters in public_parameters(db).items():
        sane = next(iter(sane_arguments(function, parameters, world)))
        if function == "open_session":
            sane["p_session_id"] = None  # an open session is returned as it is
        for parameter in parameters:
            for label, large in too_large(parameter, sane.get(parameter.name)):
                arguments = sane | {parameter.name: large}
                try:
                    with db.transaction(force_rollback=True):
                        call_with(db, function, parameters, arguments)
                except psycopg.Error as error:
                    if not str(error.sqlstate).startswith("RC"):
                        failed.append((function, parameter.name, label, str(error)[:300]))
                else:
                    taken.setdefault((function, parameter.name), []).append(label)
    assert failed == []
    assert taken.keys() == ACCEPTED.keys()


def stored(db: Connection, user: uuid.UUID, session: uuid.UUID) -> list[int]:
    found = call(db, "get_messages", p_user_id=user, p_session_id=session)
    return [len(one["content"] or str(one["content_parts"])) for one in found]


def test_message_is_bounded_by_its_characters(db: Connection, user: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"message_max_characters": 1000})
    session = open_session(db, user)
    parts = [{"type": "text", "text": "x" * 970}]  # 1000 characters of JSON
    append(db, user, session, [
        {"role": "user", "content": "ä" * 1000}, {"role": "user", "content": "\n" * 1000},
        {"role": "user", "content": parts},
        {"role": "user", "content": "x", "metadata": {"a": "x" * 950}},
    ])  # fmt: skip
    call_ = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "x" * 1000}}
    for message, words in (
        ({"role": "user", "content": "ä" * 1001},
         "messages[1].content has 1001 characters, more than 1000"),
        ({"role": "user", "content": [{"type": "text", "text": "x" * 971}]},
         "content has 1001 characters"),
        ({"role": "user", "content": "x", "metadata": {"a": "x" * 1000}}, "beside its content"),
        ({"role": "user", "content": "x", "odd": "x" * 1000}, "beside its content"),
        ({"role": "assistant", "content": "", "tool_calls": [call_]}, "beside its content"),
    ):  # fmt: skip
        with refused("RC003", words):
            append(db, user, session, [{"role": "user", "content": "Hello"}, message])
    assert len(stored(db, user, session)) == 4
    for changes in ({"p_system_prompt": "x" * 1001}, {"p_title": "x" * 1001}):
        with refused("RC003", "has 1001 characters, more than 1000"):
            open_session(db, user, **changes)
    with refused("RC003", "p_changes.system_prompt has 1001 characters"):
        call(db, "update_session", p_user_id=user, p_session_id=session,
             p_changes={"system_prompt": "x" * 1001})  # fmt: skip
    for wrong in (999, 10_000_001):
        with refused("RC003", "message_max_characters"):
            call(db, "configure_user", p_user_id=user, p_changes={"message_max_characters": wrong})


def tool_turn(call_id: str = "c", name: str = "f", kind: str = "function") -> list[dict[str, Any]]:
    body = {"name": name, "arguments" if kind == "function" else "input": "{}"}
    return [
        {"role": "assistant", "tool_calls": [{"id": call_id, "type": kind, kind: body}]},
        {"role": "tool", "tool_call_id": call_id, "content": "found"},
    ]


def test_names_and_ids_of_messages_are_bounded(db: Connection, user: uuid.UUID) -> None:
    """An id of a call may carry a thought signature, and the limit of a message is far above."""
    session = open_session(db, user)

    def message(**more: Any) -> list[dict[str, Any]]:
        return [{"role": "assistant", "content": "x", **more}]

    for field in ("model_id", "finish_reason", "name"):
        append(db, user, session, message(**{field: "ä" * 200}))
        append(db, user, session, message(**{field: "ä" * 200}, odd=1))
        for size in (201, 400_000):
            for more in ({}, {"odd": 1}):
                with refused("RC003", f"messages[1].{field} has {size} characters, more than 200"):
                    append(db, user, session, message() + message(**{field: "ä" * size}, **more))
    with refused("RC003", "messages[0].model_id is empty"):
        append(db, user, session, message(model_id=""))
    for kind in ("function", "custom"):
        append(db, user, session, tool_turn(f"{kind}__thought__" + "x" * 90_000, "f" * 200, kind))
        with refused("RC003", "messages[0].tool_calls[0].id has 100001 characters, more than 1"):
            append(db, user, session, tool_turn("x" * 100_001, kind=kind))
        with refused("RC003", f"tool_calls[0].{kind}.name has 201 characters, more than 200"):
            append(db, user, session, tool_turn(name="f" * 201, kind=kind))
    with refused("RC003", "messages[0].tool_call_id has 100001 characters, more than 100000"):
        append(db, user, session, tool_turn("x" * 100_001)[1:])
    call(db, "record_protocol_event", p_user_id=user, p_event_type="tool_call",
         p_tool_call_id="x" * 90_000)  # fmt: skip


def test_message_is_bounded_by_its_characters_where_it_has_fewer_bytes(
    db: Connection, user: uuid.UUID
) -> None:
    """A line feed is two characters in JSON, a byte in jsonb; TOAST compresses repeated text."""
    call(db, "configure_user", p_user_id=user, p_changes={"message_max_characters": 1000})
    session = open_session(db, user)
    for message, words in (
        ({"role": "user", "content": [{"type": "text", "text": "\n" * 900}]},
         "content has 1830 characters, more than 1000"),
        ({"role": "user", "content": [{"type": "text", "text": "x", "odd": [10**399] * 3}]},
         "content has 1246 characters"),
        ({"role": "user", "content": "x", "metadata": {"a": "\n" * 900}}, "beside its content"),
    ):  # fmt: skip
        with refused("RC003", words):
            append(db, user, session, [message])
    db.execute("create temporary table messages (list jsonb)")
    db.execute("insert into messages select jsonb_build_array(jsonb_build_object("
               "'role', 'user', 'content', repeat('x', 20000)))")  # fmt: skip
    with refused("RC003", "content has 20000 characters, more than 1000"):
        db.execute("select recall.append_messages(%s, %s, m.list) from messages as m",
                   [user, session])  # fmt: skip
    assert stored(db, user, session) == []


def test_json_is_bounded_by_its_size_before_compression(db: Connection, user: uuid.UUID) -> None:
    db.execute("create temporary table stored (value jsonb)")
    for text, words in (
        ("repeat('x', 1200000)", "metadata has 1200009 characters, more than 1000000"),
        (r"repeat(E'\n', 600000)", "metadata has 1200009 characters, more than 1000000"),
        ("repeat('x', 20000000)", "p_metadata has 200000"),
    ):
        db.execute("truncate stored")
        db.execute(f"insert into stored select jsonb_build_object('x', {text})")
        with refused("RC003", words):
            db.execute("select recall.open_session(%s, 'gpt-test', p_metadata => s.value)"
                       "  from stored as s", [user])  # fmt: skip


def test_a_text_that_looks_encrypted_waives_no_limit(db: Connection, user: uuid.UUID) -> None:
    """A ciphertext is longer than its text; only an encrypted user has any."""
    session = open_session(db, user)
    append(db, user, session, said("Hello"))
    large = Jsonb({"note": f"sealed:v1:1:note::{'x' * 100}", "more": "x" * 1_000_000})
    calls: dict[str, dict[str, Any]] = {
        "open_session": {"p_model_id": "gpt-test", "p_metadata": large},
        "update_session": {"p_session_id": session, "p_changes": Jsonb({"metadata": large.obj})},
        "annotate_message": {"p_session_id": session, "p_turn_index": 1, "p_patch": large},
        "record_protocol_event": {"p_event_type": "mcp", "p_metadata": large},
        "record_model_call": {"p_model": "m", "p_endpoint": "e", "p_started_at": "now",
                              "p_completed_at": "now", "p_metadata": large},
    }  # fmt: skip
    for function, arguments in calls.items():
        with refused("RC003", "characters, more than 1000000"):
            call(db, function, p_user_id=user, **arguments)
    with refused("RC003", "characters, more than 1000000"):
        call(db, "ensure_user", p_external_id=f"ada {user}", p_metadata=large)


def test_larger_rows_of_an_earlier_release_are_read_exported_and_imported(
    db: Connection, user: uuid.UUID
) -> None:
    """Limits hold for what is written; stored rows and their exports stay."""
    session = open_session(db, user)
    with db.transaction():
        db.execute("update recall.settings set message_max_characters = null")
        append(db, user, session, said("x" * 3_000_000))
        call(db, "update_session", p_user_id=user, p_session_id=session,
             p_changes={"system_prompt": "y" * 3_000_000})  # fmt: skip
        db.execute("update recall.settings set message_max_characters = 1000000")
    db.execute("update recall.users set metadata = %s where user_id = %s",
               [Jsonb({"x": "z" * 3_000_000}), user])  # fmt: skip
    assert stored(db, user, session) == [3_000_000]
    document = value(db, "select recall.export_user(%s)", [user])
    call(db, "forget_user", p_user_id=user)
    call(db, "import_user", p_user_id=user, p_document=document)
    again = value(db, "select recall.export_user(%s)", [user])
    for name in ("sessions", "conversation_history"):
        assert again["tables"][name] == document["tables"][name]
    for one in (again, document):
        assert len(one["tables"]["users"][0]["metadata"]["x"]) == 3_000_000
    append(db, user, session, said("And so on"))
    with refused("RC003", "3000000 characters, more than 1000000"):
        append(db, user, session, said("x" * 3_000_000))
    assert rows(db, "select message_max_characters as most from recall.settings") == [
        {"most": 1_000_000}
    ]
