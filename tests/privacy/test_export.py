"""A user's document: everything in it, and back again, into this database or another one."""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import append, call, open_session, refused, rows, said, value
from support.everyfunction import World, furnish
from support.invariants import check_invariants
from support.servers import TestServer
from support.traces import counts, forget, leave_traces, sums

Connection = psycopg.Connection[Any]
Document = dict[str, Any]

MADE_AGAIN = {"append_receipts", "message_search", "message_words", "user_locks"}
"""Tables whose rows are not exported."""


@pytest.fixture(scope="module")
def world(dsn: str) -> World:
    with psycopg.connect(dsn, autocommit=True) as conn:
        made = furnish(conn, "exported")
        leave_traces(conn, made)
        return made


@pytest.fixture
def elsewhere(server: TestServer) -> Iterator[Connection]:
    """Another database with the schema and no users."""
    name = server.cloned_database("elsewhere")
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        yield conn
    server.drop_database(name)


def created(conn: Connection, user: uuid.UUID) -> datetime:
    at: datetime = value(conn, "select created_at from recall.users where user_id = %s", [user])
    return at


def export(conn: Connection, user: uuid.UUID) -> Document:
    return value(conn, "select recall.export_user(%s)", [user])


def import_(conn: Connection, user: Any, document: Any) -> dict[str, int]:
    return value(conn, "select recall.import_user(%s, %s)", [user, Jsonb(document)])


def comparable(document: Document) -> Document:
    """Leave out what a new database has to say differently: when, and which jobs it needs."""
    document = copy.deepcopy(document)
    del document["exported_at"]
    del document["tables"]["jobs"]
    return document


def test_export_has_every_table_of_the_user(db: Connection, world: World) -> None:
    document = export(db, world["user"])
    held = counts(db, world["user"])
    assert {name: len(found) for name, found in document["tables"].items()} == {
        name: number for name, number in held.items() if name not in MADE_AGAIN
    }
    assert document["format"] == "pgrecall-user"
    assert (document["version"], document["user_id"]) == (1, str(world["user"]))
    assert world["mark"] in json.dumps(document["system_prompts"])
    assert "lease_token" not in json.dumps(document)


def test_export_and_import_move_every_row(
    db: Connection, elsewhere: Connection, world: World
) -> None:
    user = world["user"]
    document = export(db, user)
    inserted = import_(elsewhere, user, document)
    expected = {name: len(found) for name, found in document["tables"].items() if name != "users"}
    jobs = expected.pop("jobs")
    assert 0 < inserted.pop("jobs") <= jobs, "of equal ones that are ready one is enough"
    assert inserted == expected
    again, given = comparable(export(elsewhere, user)), comparable(document)
    for name, found in again["tables"].items():
        assert found == given["tables"][name], name
    assert again == given

    check_invariants(elsewhere)
    for query in (
        "select content from recall.get_memories(%s) order by memory_id",
        "select recall.get_profile(%s)",
        "select content from recall.list_disputes(%s)",
        "select session_id, title, turn_count from recall.list_sessions(%s)",
    ):
        assert rows(elsewhere, query, [user]) == rows(db, query, [user])
    (context,) = rows(elsewhere, "select recall.compile_context(%s, %s) as c",
                      [user, world["session"]])  # fmt: skip
    assert "You know exported." in json.dumps(context["c"])
    append(elsewhere, user, world["session"], said("and on it goes"))
    assert value(elsewhere, "select count(*) from recall.jobs where user_id = %s"
                            " and kind = 'embed'", [user])  # fmt: skip


def test_second_import_changes_nothing(db: Connection, elsewhere: Connection, world: World) -> None:
    user = world["user"]
    document = export(db, user)
    import_(elsewhere, user, document)
    before = sums(elsewhere, user)
    assert not any(import_(elsewhere, user, document).values())
    after = sums(elsewhere, user)
    assert {name for name in before if before[name] != after[name]} <= {"users"}
    import_(db, user, document)


def test_import_restores_an_erased_user(db: Connection, user: uuid.UUID) -> None:
    """The document is the way back; an erasure before it does not take him again."""
    session = open_session(db, user)
    append(db, user, session, said("hello", created_at="2020-01-01T00:00:00Z"))
    call(db, "remember", p_user_id=user, p_content="I like tea")
    document = export(db, user)
    forget(db, user)
    import_(db, user, document)
    assert call(db, "replay_erasures") == [{"replay_erasures": 0}]
    assert [row["content"] for row in call(db, "get_memories", p_user_id=user)] == ["I like tea"]
    assert counts(db, user)["conversation_history"] == 1


def test_vectors_of_another_length(db: Connection, elsewhere: Connection, world: World) -> None:
    """They are left out, and a worker makes them again."""
    document = export(db, world["user"]) | {"embedding_dimensions": 3}
    for table in ("memory_embedding", "memory_embedding_ended"):
        for entry in document["tables"][table]:
            entry["embedding"] = "[1,2,3]"
    inserted = import_(elsewhere, world["user"], document)
    assert (inserted["memory_embedding"], inserted["memory_embedding_ended"]) == (0, 0)
    assert inserted["memory_store"] == len(document["tables"]["memory_store"])
    assert value(elsewhere, "select count(*) from recall.jobs where user_id = %s and kind ="
                            " 'embed' and session_id is null", [world["user"]])  # fmt: skip


def test_export_holds_only_the_user_and_refuses_unknown_ones(
    db: Connection, world: World, user: uuid.UUID
) -> None:
    call(db, "remember", p_user_id=user, p_content="I am somebody else")
    document = export(db, user)
    assert "exported" not in json.dumps(document["tables"])
    with refused("RC006", "the document is of user"):
        import_(db, user, export(db, world["user"]))
    foreign = copy.deepcopy(document)
    foreign["tables"]["memory_store"][0]["user_id"] = str(world["user"])
    before = sums(db, world["user"])
    import_(db, user, foreign)
    assert sums(db, world["user"]) == before
    with refused("RC006", "the document does not have"):
        import_(db, world["user"], document | {"user_id": str(world["user"])})
    with refused("RC001", "there is no user"):
        export(db, uuid.uuid4())


def _in_a_circle(document: Document) -> Document:
    """Let the two first versions of a fact follow each other."""
    first, second, *_ = document["tables"]["memory_store"]
    first["superseded_by"], second["superseded_by"] = second["memory_id"], first["memory_id"]
    return document


BROKEN = {
    "no document": (lambda _: [], "not an export of version 1"),
    "another format": (lambda d: d | {"format": "mem0"}, "not an export of version 1"),
    "a later version": (lambda d: d | {"version": 2}, "not an export of version 1"),
    "no tables": (lambda d: d | {"tables": []}, "not an export of version 1"),
    "an unknown table": (lambda d: d["tables"].update(settings=[{}]) or d, "tables.settings"),
    "rows that are none": (lambda d: d["tables"].update(memory_store=[3]) or d,
                           "tables.memory_store"),
    "a bad time": (lambda d: d["tables"]["sessions"][0].update(created_at="soon") or d, "soon"),
    "a missing column": (lambda d: d["tables"]["sessions"][0].pop("model_id") and d, "model_id"),
    "a value out of range": (lambda d: d["tables"]["memory_store"][0].update(confidence=7) or d,
                             "confidence"),
    "a missing message": (lambda d: d["tables"]["conversation_history"].pop() and d,
                          "has 1 messages, not 2"),
    "a session less": (lambda d: d["tables"].update(sessions=[]) or d, "messages"),
    "a broken chain": (lambda d: d["tables"]["memory_store"].pop() and d, "is not there"),
    "a circle of successors": (lambda d: _in_a_circle(d), "in a circle"),
    "a message before its session": (
        lambda d: d["tables"]["conversation_history"][0].update(created_at="1999-01-01") or d,
        "messages before it began"),
    "a message after the last one": (
        lambda d: d["tables"]["conversation_history"][0].update(created_at="2999-01-01") or d,
        "in the future"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_malformed_documents_are_refused(db: Connection, user: uuid.UUID, name: str) -> None:
    """Refused with words, and nothing is written."""
    append(db, user, open_session(db, user), said("one", "two"))
    for text in ("I live in Oslo", "I live in Rome", "I live in Bonn"):
        call(db, "remember", p_user_id=user, p_content=text, p_slot="home")
    document = export(db, user)
    document["tables"]["memory_store"].sort(key=lambda entry: entry["ended_at"] is None)
    forget(db, user)
    change, words = BROKEN[name]
    with refused("RC003", words):
        import_(db, user, change(document))
    assert not any(counts(db, user).values())


def test_an_import_keeps_when_the_user_was_first_seen(
    db: Connection, elsewhere: Connection
) -> None:
    user = uuid.uuid4()
    append(db, user, open_session(db, user), said("hello"))
    db.execute("update recall.users set created_at = '2020-02-02' where user_id = %s", [user])
    document = export(db, user)
    for _ in range(2):
        import_(elsewhere, user, document)
        assert created(elsewhere, user) == created(db, user)
    for at in ("infinity", "-infinity"):
        document["tables"]["users"][0]["created_at"] = at
        with refused("RC003", at):
            import_(elsewhere, user, document)
    document["tables"]["users"][0]["created_at"] = str(datetime.now(UTC) + timedelta(days=9))
    import_(elsewhere, user, document)
    assert created(elsewhere, user) == created(db, user), "nobody is seen in the future"


def test_document_names_no_other_user(db: Connection, elsewhere: Connection) -> None:
    user = value(db, "select recall.ensure_user('ada of a document')")
    append(db, user, open_session(db, user), said("hello"))
    document = export(db, user)
    (row,) = document["tables"]["users"]
    bob = str(value(db, "select recall.user_id('bob')"))
    for name in (bob, bob.upper()):
        row["external_id"] = name
        with refused("RC003", f"{name} is a UUID of version 8"):
            import_(elsewhere, user, document)
    assert not any(counts(elsewhere, user).values())
    # release 0.1.0 stored an id in place of a name
    for given, stored in ((str(user).upper(), None), ("ada of a document", "ada of a document")):
        row["external_id"] = given
        import_(elsewhere, user, document)
        ask = "select external_id from recall.users where user_id = %s"
        assert value(elsewhere, ask, [user]) == stored


def test_an_import_after_an_erasure_is_younger_than_it(db: Connection) -> None:
    """Else the replay after a restore would erase what was imported."""
    user = uuid.uuid4()
    append(db, user, open_session(db, user), said("hello"))
    db.execute("update recall.users set created_at = '2020-02-02' where user_id = %s", [user])
    document = export(db, user)
    forget(db, user)
    import_(db, user, document)
    assert created(db, user) > datetime.now(UTC) - timedelta(minutes=5)
    check_invariants(db)
    assert value(db, "select recall.replay_erasures()") == 0
    assert counts(db, user)["conversation_history"] == 1
