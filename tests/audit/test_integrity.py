"""`verify_integrity` reports every change made outside the functions, and nothing else."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from support import (
    append,
    call,
    open_session,
    raise_errors,
    refused,
    rows,
    run,
    said,
    together,
    value,
    wait_for_lock,
)
from support.everyfunction import furnish
from support.memories import remember, vector

Connection = psycopg.Connection[Any]
Row = dict[str, Any]


def findings(conn: Connection, user: uuid.UUID, head: Row | None = None) -> list[Row]:
    return call(conn, "verify_integrity", p_user_id=user, p_head=head)


def kinds(found: list[Row]) -> list[tuple[str, int | None]]:
    return [(row["finding"], row["event_no"]) for row in found]


def head_of(conn: Connection, user: uuid.UUID) -> Row:
    return value(conn, "select recall.export_head(%s)", [user])


@contextmanager
def tampering(conn: Connection) -> Iterator[None]:
    """Disable triggers, as a superuser can, and roll back at the end."""
    with conn.transaction(force_rollback=True):
        conn.execute("set local session_replication_role = 'replica'")
        yield


@pytest.fixture
def memories(db: Connection, user: uuid.UUID) -> list[uuid.UUID]:
    """Eight memories, with an event each."""
    return [remember(db, user, f"They keep {n} bees in box {n}")["memory_id"] for n in range(1, 9)]


def test_verify_integrity_accepts_all_that_functions_write(db: Connection) -> None:
    world = furnish(db, "marked")
    assert findings(db, world["user"]) == []
    head = head_of(db, world["user"])
    assert head["user_id"] == str(world["user"])
    assert head["event_count"] == value(
        db, "select count(*) from recall.memory_events where user_id = %s", [world["user"]]
    )
    assert findings(db, world["user"], head) == []
    remember(db, world["user"], "They moved to Graz")
    assert findings(db, world["user"], head) == []
    assert head_of(db, world["user"])["event_hash"] != head["event_hash"]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ("update recall.memory_events set detail = '{\"x\": 1}' where event_no = 3",
         [("event_changed", 3)]),
        ("update recall.memory_events set caller = 'nobody' where event_no = 3",
         [("event_changed", 3)]),
        ("update recall.memory_events set at = at - interval '1 microsecond' where event_no = 1",
         [("event_changed", 1)]),
        ("update recall.memory_events set event = 'restored' where event_no = 8",
         [("event_changed", 8)]),
        (("update recall.memory_events as e set detail = '{\"x\": 1}',"
         " event_hash = recall._event_hash("
         "(select b.event_hash from recall.memory_events as b"
                " where b.user_id = e.user_id and b.event_no = 2),"
         " jsonb_populate_record(e, '{\"detail\": {\"x\": 1}}')) where event_no = 3"),
         [("event_changed", 4)]),
        ("update recall.memory_events set event_hash = sha256('x') where event_no = 3",
         [("event_changed", 3), ("event_changed", 4)]),
        ("update recall.memory_events set memory_hash = sha256('x') where event_no = 3",
         [("event_changed", 3), ("memory_changed", 3)]),
        ("delete from recall.memory_events where event_no in (3, 4)",
         [("event_missing", 3), ("memory_inserted", None), ("memory_inserted", None)]),
        (("delete from recall.memory_events where event_no = 3;"
         "update recall.memory_events set event_no = event_no - 1 where event_no > 3"),
         [("event_changed", 3), ("event_missing", 8), ("memory_inserted", None)]),
        ("delete from recall.memory_events where event_no > 6",
         [("event_missing", 7), ("memory_inserted", None), ("memory_inserted", None)]),
        ("delete from recall.memory_events",
         [("event_missing", 1)] + [("memory_inserted", None)] * 8),
        ("update recall.memory_events set event_no = 7 - event_no where event_no in (3, 4)",
         [("event_moved", 3), ("event_moved", 4)]),
        ("update recall.memory_events set event_no = 10 - event_no where event_no in (3, 7)",
         [("event_moved", n) for n in (3, 4, 7, 8)]),
        (("update recall.memory_events set event_no = event_no + 1 where event_no > 3;"
         "insert into recall.memory_events select user_id, memory_id, 4, at, 'promoted', null,"
         " caller,"
         " '{}', memory_hash, sha256('x') from recall.memory_events where event_no = 3"),
         [("event_inserted", 4), ("event_inserted", 9)]),
        (("insert into recall.memory_events select user_id, gen_random_uuid(), 4, at, event, null,"
         " caller, '{}', null, sha256('x') from recall.memory_events where event_no = 4"),
         [("event_inserted", 4)]),
        (("insert into recall.memory_events select (recall._forged(e)).*"
         " from recall.memory_events as e"
         " where event_no = 8"), [("event_inserted", 9)]),
        (("update recall.memory_events set event = 'tombstone', detail = '{}', memory_hash = null"
         " where event_no = 3"), [("event_missing", 3), ("memory_inserted", None)]),
        ("update recall.users set event_hash = sha256('x')", [("head_changed", 8)]),
        ("update recall.users set event_count = 5", [("event_inserted", 6)]),
        ("delete from recall.users", [("event_inserted", 1)]),
    ],
)  # fmt: skip
def test_edit_of_a_chain_is_reported_where_it_was_made(
    db: Connection,
    user: uuid.UUID,
    memories: list[uuid.UUID],
    edit: str,
    expected: list[tuple[str, int | None]],
) -> None:
    """Of one user: each edit is confined to him, and to where it was made."""
    other = uuid.uuid4()
    remember(db, other, "They keep bees as well")
    with tampering(db):
        db.execute(
            "create function recall._forged(e recall.memory_events) returns recall.memory_events"
            " language sql return jsonb_populate_record(e, jsonb_build_object('event_no', 9,"
            " 'event_hash', recall._event_hash((e).event_hash, e)))"
        )
        for statement in edit.split(";"):
            place = "and" if " where " in statement else "where"
            db.execute(f"{statement} {place} user_id = '{user}'".encode())
        found = findings(db, user)
        assert sorted(map(str, kinds(found))) == sorted(map(str, expected)), found
        assert findings(db, other) == []
    assert findings(db, user) == []


def test_moved_keys_are_compared_by_what_they_say(
    db: Connection, user: uuid.UUID, memories: list[uuid.UUID]
) -> None:
    """An event of another user, copied, is none of this one's."""
    other = uuid.uuid4()
    remember(db, other, "They keep bees as well")
    with tampering(db):
        db.execute("delete from recall.memory_events where user_id = %s", [other])
        db.execute(
            "insert into recall.memory_events select %s, memory_id, event_no, at, event, job_id,"
            " caller,"
            " detail, memory_hash, event_hash from recall.memory_events"
            " where user_id = %s and event_no = 1", [other, user])  # fmt: skip
        assert ("event_changed", 1) in kinds(findings(db, other))


@pytest.mark.parametrize(
    "edit",
    [
        "content = 'They keep wasps'",
        "content = 'They keep wasps', content_hash = recall._content_hash('They keep wasps')",
        "tier = 'procedural'",
        "provenance = 'correction'",
        "source = 'conversation'",
        "confidence = 0.9",
        "importance = 0.99",
        "kind = 'instruction'",
        "slot = 'hobby'",
        "tags = '{a}'",
        "metadata = '{\"a\": 1}'",
        "agent_id = 'other'",
        "valid_from = now(), valid_to = now()",
        "observed_at = observed_at - interval '1 year'",
        "created_at = created_at - interval '1 microsecond'",
        "expires_at = now()",
        "ended_at = now(), end_reason = 'retracted'",
        "source_session_id = gen_random_uuid()",
        "source_turn_ids = array[gen_random_uuid()]",
    ],
)
def test_edited_memory_is_reported(
    db: Connection, user: uuid.UUID, memories: list[uuid.UUID], edit: str
) -> None:
    with tampering(db):
        db.execute(
            f"update recall.memory_store set {edit} where memory_id = %s".encode(), [memories[2]]
        )
        (found,) = findings(db, user)
        assert (found["finding"], found["event_no"]) == ("memory_changed", 3)
        assert found["memory_id"] == memories[2]
    with tampering(db):
        db.execute("update recall.memory_store set access_count = 1, last_accessed_at = now()")
        assert findings(db, user) == []


def test_verify_integrity_reports_inserted_and_deleted_memories(
    db: Connection, user: uuid.UUID, memories: list[uuid.UUID]
) -> None:
    with tampering(db):
        db.execute("delete from recall.memory_store where memory_id = %s", [memories[0]])
        assert kinds(findings(db, user)) == [("memory_missing", 1)]
    with tampering(db):
        db.execute(
            "update recall.memory_store set memory_id = gen_random_uuid() where memory_id = %s",
            [memories[0]],
        )
        found = {row["finding"]: row["memory_id"] for row in findings(db, user)}
        assert found["memory_missing"] == memories[0]
        assert set(found) == {"memory_missing", "memory_inserted"}
    with tampering(db):  # an older version of the row, put back
        call(db, "reinforce_memory", p_user_id=user, p_memory_id=memories[0], p_useful=True)
        assert findings(db, user) == []
        db.execute(
            "update recall.memory_store as m"
            " set importance = o.importance, confidence = o.confidence"
            " from recall.memory_store as o where m.memory_id = %s and o.memory_id = %s",
            memories[:2],
        )
        assert kinds(findings(db, user)) == [("memory_changed", 9)]


def test_rewritten_chain_is_detected_only_by_an_exported_head(
    db: Connection, user: uuid.UUID, memories: list[uuid.UUID]
) -> None:
    """A superuser who knows the rules can make another chain, but not the same one."""
    head = head_of(db, user)
    with tampering(db):
        db.execute("update recall.memory_store set content = 'They keep no bees',"
                   " content_hash = recall._content_hash('They keep no bees')"
                   " where memory_id = %s", [memories[0]])  # fmt: skip
        db.execute("delete from recall.memory_events where user_id = %s", [user])
        db.execute("update recall.users set event_count = 0, event_hash = '' where user_id = %s",
                   [user])  # fmt: skip
        db.execute("select recall._log_events(%s, %s, 'added')", [user, memories])
        assert findings(db, user) == []
        assert kinds(findings(db, user, head)) == [("chain_rewritten", 8)]
    with tampering(db):  # cut, as an older copy of the database is
        db.execute("delete from recall.memory_events where user_id = %s and event_no > 5", [user])
        db.execute("delete from recall.memory_store where memory_id = any (%s)", [memories[5:]])
        db.execute("update recall.users as u set event_count = 5, event_hash = e.event_hash"
                   " from recall.memory_events as e where e.user_id = u.user_id and e.event_no = 5"
                   " and u.user_id = %s", [user])  # fmt: skip
        assert findings(db, user) == []
        (found,) = findings(db, user, head)
        assert found["finding"] == "chain_shortened"
        assert found["detail"].startswith("there were 8 events on ")


def test_erasures_leave_tombstones_in_a_valid_chain(
    db: Connection, user: uuid.UUID, memories: list[uuid.UUID]
) -> None:
    head = head_of(db, user)
    session = open_session(db, user)
    append(db, user, session, said("My bees are called Ada and Bea"))
    call(db, "retract_memory", p_user_id=user, p_memory_id=memories[1], p_reason="swarmed")
    remember(db, user, "Their bees are called Ada", p_session_id=session)
    remember(db, user, "They keep 3 bees in box 3", p_session_id=session)
    call(db, "forget_memory", p_user_id=user, p_memory_id=memories[1])
    assert findings(db, user, head) == []
    call(db, "forget_session", p_user_id=user, p_session_id=session)
    assert findings(db, user, head) == []
    left = rows(db, "select * from recall.memory_events where user_id = %s"
                    " and event in ('tombstone', 'forgotten') order by event_no",
                [user])  # fmt: skip
    assert {row["memory_id"].int for row in left} == {0}
    tombstones = [row for row in left if row["event"] == "tombstone"]
    assert len(tombstones) == 4
    assert all(row["detail"] == {} and row["memory_hash"] is None for row in tombstones)
    with tampering(db):
        db.execute("update recall.memory_events set detail = '{}' where user_id = %s"
                   " and event = 'forgotten'", [user])  # fmt: skip
        assert {"event_changed", "event_missing"} == {k for k, _ in kinds(findings(db, user))}
    with tampering(db):
        db.execute("update recall.memory_events set detail = '{\"events\": \"no range\"}'"
                   " where user_id = %s and event = 'forgotten'", [user])  # fmt: skip
        assert "event_missing" in {k for k, _ in kinds(findings(db, user))}
    call(db, "forget_user", p_user_id=user)
    with refused("RC001", str(user)):
        findings(db, user)
    (found,) = findings(db, user, head)
    assert found["finding"] == "chain_shortened"
    assert "was forgotten on" in found["detail"]


def test_versions_merges_disputes_and_sweeps_keep_the_chain_valid(
    db: Connection, user: uuid.UUID
) -> None:
    """Every function that changes a memory adds to the chain, so the chain stays valid."""
    session = open_session(db, user)
    remember(db, user, "I live in Oslo", p_slot="home")
    rome = remember(db, user, "I live in Rome", p_slot="home")["memory_id"]
    remember(db, user, "I live in Rome.", p_tags=["home"], p_importance=0.9)
    dispute = remember(db, user, "They live in Bern", p_slot="home", p_provenance="tool_output")
    assert dispute["outcome"] == "disputed"
    remember(db, user, "They have a dog", p_embedding=vector(10))
    remember(db, user, "They have a big dog", p_embedding=vector(11))
    call(db, "reinforce_memory", p_user_id=user, p_memory_id=rome, p_useful=True)
    call(db, "resolve_dispute", p_user_id=user, p_memory_id=dispute["memory_id"], p_accept=True)
    goal = remember(db, user, "Learn Norwegian", p_kind="goal")["memory_id"]
    call(db, "achieve_goal", p_user_id=user, p_memory_id=goal)
    call(db, "retract_memory", p_user_id=user, p_memory_id=goal)
    call(db, "restore_memory", p_user_id=user, p_memory_id=goal)
    local = remember(db, user, "The build is red", p_provenance="tool_output",
                     p_session_id=session)["memory_id"]  # fmt: skip
    assert findings(db, user) == []
    call(db, "record_access", p_user_id=user, p_memory_ids=[local] * 4, p_relevance="{1,1,1,1}")
    remember(db, user, "They tried an espresso machine", p_importance=0.1)
    for task in ("flush_access_log", "promote_memories", "decay_memories", "expire_memories"):
        for days in (0, 40, 200):
            db.execute(
                f"select recall.{task}(p_as_of => now() + make_interval(days => %s))".encode(),
                [days],
            )
    assert findings(db, user) == []
    call(db, "close_session", p_user_id=user, p_session_id=session)
    assert findings(db, user) == []
    seen = {row["event"] for row in rows(
        db, "select distinct event from recall.memory_events where user_id = %s",
        [user])}  # fmt: skip
    assert {"added", "superseded", "duplicate", "disputed", "dispute_accepted", "merged",
            "reinforced", "achieved", "retracted", "restored", "decayed",
            "expired"} <= seen  # fmt: skip
    call(db, "revoke_source", p_user_id=user, p_source="tool")
    assert findings(db, user) == []


def test_revived_memories_keep_the_chain_valid(db: Connection, user: uuid.UUID) -> None:
    """The trigger that takes a decay back accounts for it, of several rows of one statement."""
    ids = [remember(db, user, f"They saw film {n}", p_importance=0.1)["memory_id"] for n in (1, 2)]
    db.execute("select recall.decay_memories(p_as_of => now() + interval '40 days')")
    call(db, "record_access", p_user_id=user, p_memory_ids=ids, p_relevance="{1,1}")
    db.execute("select recall.flush_access_log()")
    assert value(db, "select count(*) from recall.memory_events where user_id = %s"
                     " and event = 'revived'", [user]) == 2  # fmt: skip
    assert findings(db, user) == []


def test_export_and_import_keep_the_chain(
    db: Connection, user: uuid.UUID, memories: list[uuid.UUID]
) -> None:
    call(db, "forget_memory", p_user_id=user, p_memory_id=memories[2])
    remember(db, user, "They keep 4 bees in box 4")
    head = head_of(db, user)
    document = value(db, "select recall.export_user(%s)", [user])
    call(db, "forget_user", p_user_id=user)
    call(db, "import_user", p_user_id=user, p_document=document)
    assert findings(db, user, head) == []
    assert head_of(db, user)["event_hash"] == head["event_hash"]
    call(db, "import_user", p_user_id=user, p_document=document)
    assert head_of(db, user)["event_count"] == head["event_count"]

    for memory in document["tables"]["memory_store"]:
        memory["importance"] = 0.75
    call(db, "forget_user", p_user_id=user)
    call(db, "import_user", p_user_id=user, p_document=document)
    assert findings(db, user, head) == []
    assert value(db, "select count(*) from recall.memory_events where user_id = %s"
                     " and event = 'imported'", [user]) == 7  # fmt: skip


def test_import_after_other_events_keeps_the_chain_valid(db: Connection, user: uuid.UUID) -> None:
    """A user who has none of it any more, but tombstones, gets it at the end of the chain."""
    for n in range(3):
        remember(db, user, f"They keep {n} bees")
    (gone,) = rows(db, "select min(memory_id::text)::uuid as id from recall.memory_store"
                       " where user_id = %s", [user])  # fmt: skip
    call(db, "forget_memory", p_user_id=user, p_memory_id=gone["id"])
    document = value(db, "select recall.export_user(%s)", [user])
    for row in call(db, "get_memories", p_user_id=user):
        call(db, "forget_memory", p_user_id=user, p_memory_id=row["memory_id"])
    head = head_of(db, user)
    call(db, "import_user", p_user_id=user, p_document=document)
    assert len(call(db, "get_memories", p_user_id=user)) == 2
    assert findings(db, user, head) == []


@pytest.mark.slow
def test_dump_and_restore_keep_the_chain_valid(
    db: Connection, dsn: str, empty_dsn: str, user: uuid.UUID, memories: list[uuid.UUID],
    tmp_path: Any,
) -> None:  # fmt: skip
    """And in a session with other settings: the bytes that are hashed depend on none."""
    head = head_of(db, user)
    dump = tmp_path / "dump.sql"
    assert run("pg_dump", dsn, "-f", str(dump)).returncode == 0
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("drop schema if exists recall cascade")
    done = run("psql", empty_dsn, "-q", "-f", str(dump))
    assert done.returncode == 0, done.stderr
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("set timezone = 'Asia/Tokyo'; set datestyle = 'SQL, DMY';"
                     " set extra_float_digits = -3; set bytea_output = 'escape';"
                     " set intervalstyle = 'iso_8601'; set client_encoding = 'LATIN1'")  # fmt: skip
        assert findings(conn, user, head) == []
        remember(conn, user, "They keep Bienen in Köln")
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert findings(conn, user, head) == []


def test_two_concurrent_writers_extend_one_chain(
    connect: Callable[[], Connection], user: uuid.UUID
) -> None:
    """Writers, an export of the head and a check at the same time."""
    stop = threading.Event()
    heads: list[Row] = []

    def write(name: str) -> None:
        conn = connect()
        for n in range(15):
            remember(conn, user, f"{name} has {n} hens", p_slot=f"hens {n % 4}")

    def watch() -> None:
        conn = connect()
        while not stop.is_set():
            if rows(conn, "select from recall.users where user_id = %s", [user]):
                heads.append(head_of(conn, user))
                assert findings(conn, user, heads[-1]) == []

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        raise_errors(together([lambda name=name: write(name) for name in ("Ada", "Bea", "Cleo")]))
    finally:
        stop.set()
        watcher.join()
    conn = connect()
    assert heads
    assert all(findings(conn, user, head) == [] for head in heads)
    numbers = rows(conn, "select event_no from recall.memory_events where user_id = %s"
                         " order by event_no", [user])  # fmt: skip
    assert [row["event_no"] for row in numbers] == list(range(1, len(numbers) + 1))


def test_a_writer_who_does_not_hold_the_user_is_refused(
    db: Connection, connect: Callable[[], Connection], user: uuid.UUID, memories: list[uuid.UUID]
) -> None:
    """Two events that follow the same one would be a fork."""
    other = connect()
    with other.transaction():
        remember(other, user, "They keep hens")
        late = threading.Thread(
            target=lambda: results.append(_error(
                db, "select recall._log_event(%s, %s, 'promoted')",
                [user, memories[0]])))  # fmt: skip
        results: list[str | None] = []
        late.start()
        wait_for_lock(connect(), db.info.backend_pid)
    late.join()
    assert results == ["RC007"]
    assert findings(db, user) == []


def _error(conn: Connection, query: str, parameters: list[Any]) -> str | None:
    try:
        conn.execute(query.encode(), parameters)
    except psycopg.Error as error:
        return error.sqlstate
    return None


@pytest.mark.parametrize(
    ("head", "state"),
    [
        ("[]", "RC003"),
        ("{}", "RC003"),
        ('{"event_count": "1", "event_hash": ""}', "RC003"),
        ('{"event_count": -1, "event_hash": ""}', "RC003"),
        ('{"event_count": 1.5, "event_hash": "00"}', "RC003"),
        ('{"event_count": 1, "event_hash": ""}', "RC003"),
        ('{"event_count": 1, "event_hash": "zz"}', "RC003"),
        ('{"event_count": 1, "hash": "00"}', "RC003"),
        ('{"event_count": 0, "event_hash": ""}', "RC006"),
        (f'{{"event_count": 0, "event_hash": "", "user_id": "{uuid.UUID(int=1)}"}}', "RC006"),
    ],
)
def test_verify_integrity_refuses_a_malformed_head(
    db: Connection, user: uuid.UUID, head: str, state: str
) -> None:
    remember(db, user, "They keep bees")
    with refused(state):
        db.execute("select recall.verify_integrity(%s, %s::jsonb)", [user, head])


def test_audit_of_another_user_is_refused(
    db: Connection, user: uuid.UUID, memories: list[uuid.UUID]
) -> None:
    stranger = uuid.uuid4()
    for function in ("export_head", "verify_integrity"):
        with refused("RC001"):
            call(db, function, p_user_id=stranger)
        with db.transaction():
            db.execute("select set_config('recall.user_id', %s, true)", [str(stranger)])
            with refused("RC006"), db.transaction():
                call(db, function, p_user_id=user)
    with refused("RC006"):
        findings(db, stranger, head_of(db, user))


def test_verify_integrity_only_reads(
    db: Connection, user: uuid.UUID, memories: list[uuid.UUID]
) -> None:
    """As on a standby."""
    head = head_of(db, user)
    with db.transaction():
        db.execute("set transaction read only")
        assert findings(db, user, head) == []
        assert head_of(db, user)["event_hash"] == head["event_hash"]
