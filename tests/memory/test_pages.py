"""Lists for tools and pages: users, jobs, spans, events, newest memories, messages by id."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from support import append, call, dialog, open_session, plan_nodes, refused, rows, said, value
from support.sealed import KEYS

Connection = psycopg.Connection[Any]


def pages(conn: Connection, function: str, key: str, cursor: str, **arguments: Any) -> list[Any]:
    """Return the keys of all rows, read in pages of three."""
    found: list[Any] = []
    while True:
        more = {cursor: found[-1]} if found else {}
        page = [row[key] for row in call(conn, function, p_limit=3, **more, **arguments)]
        found += page
        if len(page) < 3:
            return found


def remember(conn: Connection, user: uuid.UUID, content: str, **fields: Any) -> uuid.UUID:
    (made,) = call(conn, "remember", p_user_id=user, p_content=content, **fields)
    return made["memory_id"]


def test_list_users_pages_by_id_with_the_number_of_memories(db: Connection) -> None:
    users = {value(db, "select recall.ensure_user(%s)", [f"page|{n}"]) for n in range(8)}
    remember(db, min(users), "Likes tea")
    found = pages(db, "list_users", "user_id", "p_after_id")
    assert found == sorted(found)
    assert users <= {*found}
    (first,) = [row for row in call(db, "list_users") if row["user_id"] == min(users)]
    assert (first["active_memory_count"], first["external_id"][:5]) == (1, "page|")


@pytest.mark.usefixtures("empty_queue")
def test_list_users_and_jobs_of_a_transaction_with_a_user_are_that_users_only(
    db: Connection,
) -> None:
    one, other = (value(db, "select recall.ensure_user(%s)", [f"id|{n}"]) for n in range(2))
    for user in (one, other):
        call(db, "enqueue_job", p_user_id=user, p_kind="merge", p_dedupe_key="x")
    with db.transaction():
        db.execute("select set_config('recall.user_id', %s, true)", [str(one)])
        assert {row["user_id"] for row in call(db, "list_users")} == {one}
        assert {row["user_id"] for row in call(db, "list_jobs")} == {one}
    with db.transaction():
        db.execute("select set_config('recall.user_id', 'nobody', true)")
        assert call(db, "list_users") == call(db, "list_jobs") == []


@pytest.mark.usefixtures("empty_queue")
def test_list_jobs_tells_due_deferred_running_and_dead_with_the_error(
    db: Connection, user: uuid.UUID
) -> None:
    call(db, "ensure_user", p_external_id=str(user))
    for name in ("due", "running", "dead", "deferred"):
        later = datetime.now(UTC) + timedelta(hours=1)
        call(db, "enqueue_job", p_user_id=user, p_kind="merge", p_dedupe_key=name,
             p_run_at=later if name == "deferred" else None)  # fmt: skip
    claimed = call(db, "claim_jobs", p_worker="w", p_limit=2)
    call(db, "fail_job", p_user_id=user, p_job_id=claimed[0]["job_id"],
         p_lease_token=claimed[0]["lease_token"], p_error="boom", p_retry=False)  # fmt: skip
    for state in ("due", "running", "dead", "deferred"):
        [job] = call(db, "list_jobs", p_state=state)
        assert (job["state"], job["user_id"]) == (state, user)
        assert (job["last_error"], job["worker"]) == (
            "boom" if state == "dead" else None,
            "w" if state == "running" else None,
        )
    ids = pages(db, "list_jobs", "job_id", "p_before_id")
    assert ids == sorted(ids, reverse=True)
    assert len({*ids}) == 4
    with refused("RC003", "p_state is 'ready'"):
        call(db, "list_jobs", p_state="ready")
    with refused("RC003", "p_limit is -1"):
        call(db, "list_jobs", p_limit=-1)


@pytest.mark.usefixtures("empty_queue")
def test_list_job_phases_pages_through_the_spans_of_one_job_or_all(
    db: Connection, user: uuid.UUID
) -> None:
    call(db, "ensure_user", p_external_id=str(user))
    for number in range(3):
        call(db, "enqueue_job", p_user_id=user, p_kind="merge", p_dedupe_key=str(number))
        [job] = call(db, "claim_jobs", p_worker="w")
        phases = [{"phase": "merge", "duration_ms": n, "items": number, "from_turn": "no turn"}
                  for n in range(3)]  # fmt: skip
        call(db, "fail_job", p_user_id=user, p_job_id=job["job_id"], p_phases=phases,
             p_lease_token=job["lease_token"], p_error="boom", p_retry=False)  # fmt: skip
    found = pages(db, "list_job_phases", "phase_id", "p_before_id", p_user_id=user)
    assert (len({*found}), found) == (9, sorted(found, reverse=True))
    of_one = call(db, "list_job_phases", p_user_id=user, p_job_id=job["job_id"])
    assert sorted((row["duration_ms"], row["items"]) for row in of_one) == [(0, 2), (1, 2), (2, 2)]
    assert call(db, "list_job_phases", p_user_id=uuid.uuid4(), p_job_id=job["job_id"]) == []


def test_list_memories_pages_newest_first_while_memories_come_and_go(
    db: Connection, user: uuid.UUID
) -> None:
    ids = [remember(db, user, f"Likes thing number {n}", p_tags=["even", "odd"][n % 2 :][:1])
           for n in range(9)]  # fmt: skip
    ended = remember(db, user, "Was wrong")
    call(db, "retract_memory", p_user_id=user, p_memory_id=ended)
    assert {*pages(db, "list_memories", "memory_id", "p_before_id", p_user_id=user)} == {*ids}
    even = pages(db, "list_memories", "memory_id", "p_before_id", p_user_id=user,
                 p_filter={"tags_any": ["even"]})  # fmt: skip
    assert even == sorted(ids[::2], reverse=True)
    last = call(db, "list_memories", p_user_id=user, p_limit=4)[-1]["memory_id"]
    call(db, "forget_memory", p_user_id=user, p_memory_id=last)
    remember(db, user, "Likes the newest thing")
    rest = call(db, "list_memories", p_user_id=user, p_before_id=last)
    assert [row["memory_id"] for row in rest] == sorted(ids, reverse=True)[4:]
    with_ended = call(db, "list_memories", p_user_id=user, p_filter={"include_ended": True})
    assert ended in {row["memory_id"] for row in with_ended}
    with refused("RC003", "unknown"):
        call(db, "list_memories", p_user_id=user, p_filter={"colour": "red"})


def test_list_memory_events_is_the_audit_newest_first(db: Connection, user: uuid.UUID) -> None:
    first = remember(db, user, "Likes tea")
    second = remember(db, user, "Likes coffee")
    call(db, "retract_memory", p_user_id=user, p_memory_id=first, p_reason="no more")
    newest, *_ = found = call(db, "list_memory_events", p_user_id=user)
    assert (newest["event"], newest["memory_id"]) == ("retracted", first)
    assert newest["detail"]["reason"] == "no more"
    assert second in {row["memory_id"] for row in found}
    numbers = pages(db, "list_memory_events", "event_no", "p_before_no", p_user_id=user)
    assert numbers == [*range(len(found), 0, -1)]


def test_get_messages_by_id_finds_messages_of_any_session_in_the_order_asked(
    db: Connection, user: uuid.UUID
) -> None:
    one, other = open_session(db, user), open_session(db, user)
    old = datetime.now(UTC) - timedelta(days=400)
    ids = [row[0] for row in append(db, user, one, dialog("Hello", "Good day"))]
    imported = append(db, user, other, said("Long ago", created_at=old.isoformat()))[0][0]
    asked = [imported, uuid.uuid4(), ids[1], ids[0], ids[1]]
    found = call(db, "get_messages_by_id", p_user_id=user, p_message_ids=asked)
    assert [row["content"] for row in found] == ["Long ago", "Good day", "Hello"]
    assert [row["session_id"] for row in found] == [other, one, one]
    call(db, "annotate_message", p_user_id=user, p_session_id=one, p_turn_index=1,
         p_patch={"rating": 5})  # fmt: skip
    call(db, "retract_turns", p_user_id=user, p_session_id=one, p_from_turn=2)
    [left] = call(db, "get_messages_by_id", p_user_id=user, p_message_ids=ids)
    assert (left["content"], left["metadata"]) == ("Hello", {"rating": 5})
    stranger = value(db, "select recall.ensure_user('stranger')")
    assert call(db, "get_messages_by_id", p_user_id=stranger, p_message_ids=ids) == []
    assert call(db, "get_messages_by_id", p_user_id=user, p_message_ids="{}") == []
    with refused("RC003", "p_message_ids has 1001 ids"):
        call(db, "get_messages_by_id", p_user_id=user, p_message_ids=[uuid.uuid4()] * 1001)


def test_driver_reads_every_page(dsn: str, empty_queue: None) -> None:
    with AgentMemory.connect(dsn, embedder=False, wrapping_keys=KEYS) as memory:
        memory.encryption.seal_user("sealed")
        for user in ("plain", "sealed"):
            with memory.session(user=user, model="gpt-4o-mini", extraction="none") as chat:
                chat.append(user="Hello there")
                [message] = memory.sessions.messages(user, chat.session_id)
            kept = memory.remember(user, "Likes tea", tags=["drink"]).memory_id
            [found] = memory.pages.messages(user, [message.message_id])
            assert (found.content, found.session_id) == ("Hello there", chat.session_id)
            [newest] = memory.pages.memories(user, filter={"tags_any": ["drink"]}, limit=1)
            assert (newest.memory_id, newest.content) == (kept, "Likes tea")
            event = memory.pages.memory_events(user)[0]
            assert (event.event, event.memory_id, event.event_no) == ("added", kept, 1)
        memory.admin.enqueue_job("plain", "merge", dedupe_key="x")
        assert [job.kind for job in memory.pages.jobs(state="due")].count("merge") == 1
        assert memory.pages.job_phases("plain") == []
        names = {row.user_id for row in memory.pages.users(limit=1000)}
        assert {memory.users.id("plain"), memory.users.id("sealed")} <= names


@pytest.fixture(scope="module")
def crowd(dsn: str) -> Iterator[tuple[Connection, uuid.UUID]]:
    """10,000 users, one of whom has 100,000 memories, events, messages, spans."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("insert into recall.users (user_id, created_at)"
                     " select gen_random_uuid(), now() from generate_series(1, 10000)")  # fmt: skip
        user = value(conn, "select recall.ensure_user('crowded')")
        remember(conn, user, "Likes tea")
        session = open_session(conn, user)
        append(conn, user, session, said("Hello"))
        copies = {
            "memory_store": ("memory_id = recall.uuidv7()",
                             "content_hash = sha256(n::text::bytea)"),
            "memory_events": ("memory_id = recall.uuidv7()", "event_no = n + 1"),
            "conversation_history": ("message_id = recall.uuidv7()", "turn_index = n + 1"),
        }  # fmt: skip
        conn.execute("set session_replication_role = replica")
        for table, changes in copies.items():
            new = dict(change.split(" = ") for change in changes)
            columns = [
                row["attname"]
                for row in rows(
                    conn,
                    "select attname from pg_attribute where attrelid ="
                    " %s::regclass and attnum > 0 and not attisdropped"
                    " and attgenerated = ''",
                    [f"recall.{table}"],
                )
            ]
            conn.execute(
                f"insert into recall.{table} ({', '.join(columns)})"
                f" select {', '.join(new.get(name, f't.{name}') for name in columns)}"
                f" from (select * from recall.{table} where user_id = '{user}' limit 1) as t"
                " cross join generate_series(1, 100000) as n".encode()
            )
        conn.execute(
            "insert into recall.job_phases (user_id, job_id, phase_id, kind, phase, created_at,"
            " duration_ms) select %s, recall.uuidv7(), recall.uuidv7(), 'merge', 'merge',"
            " clock_timestamp(), 1 from generate_series(1, 100000)",
            [user],
        )
        conn.execute("reset session_replication_role")
        conn.execute("vacuum analyze")
        yield conn, user


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("list_users", {"p_after_id": uuid.UUID(int=0)}),
        ("list_memories", {"p_before_id": uuid.UUID(int=2**128 - 1)}),
        ("list_memory_events", {"p_before_no": 50_000}),
        ("list_job_phases", {}),
        ("get_messages_by_id", {}),
    ],
)
def test_pages_of_large_data_use_indexes(
    crowd: tuple[Connection, uuid.UUID], function: str, arguments: dict[str, Any]
) -> None:
    conn, user = crowd
    asked = dict(arguments)
    if function != "list_users":
        asked["p_user_id"] = user
    if function == "get_messages_by_id":
        asked["p_message_ids"] = [
            row["message_id"]
            for row in rows(
                conn,
                "select message_id from recall.conversation_history where turn_index % 20000 = 1",
            )
        ]
    else:
        asked["p_limit"] = 20
    nodes = plan_nodes(conn, lambda: call(conn, function, **asked))
    assert [node for node in nodes if "Index" in node]
    assert not [node for node in nodes if "Seq Scan" in node and node != "Seq Scan settings"]
    if function in ("list_users", "list_memories"):
        assert not [node for node in nodes if "Sort" in node], "a page reads more than its rows"
