"""The database behind the drivers: no function stores plaintext of an encrypted user.

Driven by the list of all public functions, so that one that is added later is tried as well.
"""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import rows, value
from support.everyfunction import CALLS, World, furnish
from support.servers import DIMENSIONS

Connection = psycopg.Connection[Any]

BEFORE, AFTER = "zebrafish", "axolotl"
LITERALS = ("because", "poison", "boom", "some key")
"""Words that CALLS give as reason, error or key."""


def with_texts(value: Any) -> Any:
    """Return arguments whose texts are others than those that are stored already."""
    if isinstance(value, Jsonb):
        return Jsonb(with_texts(value.obj))
    if isinstance(value, str):
        return value.replace(BEFORE, AFTER)
    if isinstance(value, dict):
        return {key: with_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_texts(item) for item in value]
    return value


@pytest.fixture(scope="module")
def world(dsn: str) -> World:
    """A user with rows in every table, encrypted afterwards, and the arguments of all calls."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        made = furnish(conn, BEFORE)
        conn.execute(
            "update recall.users set is_sealed = true, has_vectors = false where user_id = %s",
            [made["user"]],
        )
    changed = {key: with_texts(item) for key, item in made.items()}
    # the same key as the session's has: another would be another request
    return changed | {"name": made["name"], "repeated": made["repeated"]}


@pytest.fixture(scope="module")
def scan(dsn: str) -> str:
    """A statement that says in which tables one of some words stands."""
    with psycopg.connect(dsn) as conn:
        tables = [
            row[0]
            for row in conn.execute(
                "select c.oid::regclass::text from pg_class as c"
                " where c.relnamespace = 'recall'::regnamespace and c.relkind in ('r', 'p')"
                " and not c.relispartition"
            )
        ]
    parts = [
        f"select '{table}' as name where exists (select from {table} as t"
        " where t::text ilike any (%(words)s))"
        for table in tables
    ]
    return " union all ".join(parts)


OF_USER = [one for one in CALLS
           if one.of_user and one.function not in ("close_session", "pause_session")]  # fmt: skip


def test_no_function_stores_plaintext_of_an_encrypted_user(
    db: Connection, world: World, scan: str
) -> None:
    """Each function of the list is refused by an error of ours, or stores nothing readable."""
    words = {"words": [f"%{word}%" for word in (AFTER, *LITERALS)]}
    before = {row["name"] for row in rows(db, scan, words)}
    states: dict[str, str] = {}
    since: list[str] = []
    with db.transaction(force_rollback=True):
        for place, one in enumerate(OF_USER):
            since.append(str(one))
            try:
                with db.transaction():
                    db.execute(one.query, world)
            except psycopg.Error as error:
                states[str(one)] = f"{error.sqlstate} {error}"
            if place % 12 == 11 or one.function.startswith("forget"):
                assert {row["name"] for row in rows(db, scan, words)} <= before, since
                since.clear()
    assert [state for state in states.values() if not state.startswith("RC")] == []
    refused = {name.split()[0] for name, state in states.items()
               if "plaintext" in state or "is encrypted" in state}  # fmt: skip
    assert refused >= {
        "open_session", "update_session", "append_messages", "annotate_message", "remember",
        "ingest_memories", "supersede_memory", "retract_memory", "put_working",
        "add_embedding", "search_messages", "enqueue_job", "revoke_source", "import_user",
        "apply_decisions", "next_request",
    }  # fmt: skip


TEXTS = [
    ("open_session", "p_model_id => 'gpt-4o-mini', p_title => {0}"),
    ("open_session", "p_model_id => 'gpt-4o-mini', p_system_prompt => {0}"),
    ("open_session", "p_model_id => 'gpt-4o-mini', p_metadata => jsonb_build_object('x', {0})"),
    ("open_session",
     "p_model_id => 'gpt-4o-mini', p_metadata => jsonb_build_object('x', jsonb_build_array({0}))"),
    ("ensure_user", "p_external_id => %(user)s::text, p_metadata => jsonb_build_object('x', {0})"),
    ("remember", "p_content => {0}"),
    ("remember", "p_content => %(token)s, p_slot => {0}"),
    ("remember", "p_content => %(token)s, p_tags => array[{0}]"),
    ("remember", "p_content => %(token)s, p_metadata => jsonb_build_object('x', {0})"),
    ("remember", "p_content => %(token)s, p_embedding => %(vector)s"),
    ("ingest_memories",
     "p_session_id => null, p_candidates => jsonb_build_array(jsonb_build_object('content', {0}))"),
    ("enqueue_job", "p_kind => 'extract', p_payload => jsonb_build_object('x', {0})"),
    ("enqueue_job", "p_kind => 'extract', p_dedupe_key => {0}"),
    ("search_messages", "p_query => {0}"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments"), TEXTS)
@pytest.mark.parametrize("text", ["An axolotl", "sealed:v1:1:memory::axolotl", "sealed:v1:axolotl"])
def test_no_function_stores_plaintext_of_a_new_encrypted_user(
    db: Connection, user: uuid.UUID, function: str, arguments: str, text: str
) -> None:
    """One readable text beside ciphertexts is enough; what only looks like one is none."""
    token = "sealed:v1:1:memory:" + "m" * 43 + ":" + "A" * 80
    key = {"user": user, "text": text, "token": token, "key": bytes(60),
           "vector": str([0.1] * DIMENSIONS)}  # fmt: skip
    db.execute("select recall.seal_user(%(user)s, %(key)s, 'first')", key)
    given = arguments.format("%(text)s::text")
    first = "" if function == "ensure_user" else "p_user_id => %(user)s, "
    with pytest.raises(psycopg.Error) as caught:
        db.execute(f"select recall.{function}({first}{given})", key)
    assert caught.value.sqlstate == "RC006", caught.value
    assert value(db, "select count(*) from recall.memory_store where user_id = %s", [user]) == 0
