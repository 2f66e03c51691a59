"""Retention of months of history and spans, receipts, old vectors and prompts."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import psycopg
import pytest

from support import (
    append,
    call,
    open_session,
    raise_errors,
    rows,
    said,
    session_row,
    sweep,
    together,
    value,
)
from support.invariants import check_invariants
from support.memories import remember, vector
from support.months import DAY, a_year_later, contents, leaves, month, said_in
from support.servers import TestServer

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]


@pytest.fixture
def own(server: TestServer) -> Iterator[str]:
    """The DSN of a database of the test's own: it drops what others would need."""
    name = server.cloned_database("retention")
    yield server.dsn(name)
    server.drop_database(name)


@pytest.fixture
def db(own: str) -> Iterator[Connection]:
    with psycopg.connect(own, autocommit=True) as conn:
        yield conn


@pytest.fixture
def small(server: TestServer) -> Iterator[str]:
    """The DSN of an installation with two hash partitions."""
    name = server.create_database("retention")
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        server.install(conn, embedding_dimensions=4, hash_partitions=2, history_months_ahead=1)
    yield server.dsn(name)
    server.drop_database(name)


def drop(conn: Connection, at: datetime | None = None) -> int:
    return sweep(conn, "drop_expired_partitions", at)


def make_searchable(conn: Connection) -> None:
    """Index the words of all messages, as embed jobs do."""
    conn.execute(
        "insert into recall.message_search select user_id, session_id, turn_index, message_id,"
        " role, created_at, to_tsvector('simple', content) from recall.conversation_history"
    )
    conn.execute(
        "select recall._write_word_blocks(user_id, session_id, 1, turn_count) from recall.sessions"
    )


def test_a_closed_session_loses_its_old_month(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said_in(14, "old question", "old answer"))
    append(db, user, session, said_in(2, "new question", "new answer"))
    call(db, "annotate_message", p_user_id=user, p_session_id=session, p_turn_index=1,
         p_patch={"liked": True})  # fmt: skip
    make_searchable(db)
    a_year_later(db)
    assert drop(db) == 0, "it goes on: nothing is lost"
    assert session_row(db, user, session)["first_retained_turn"] == 1
    call(db, "close_session", p_user_id=user, p_session_id=session)
    assert drop(db) == 0, "closed just now: an import of old talks is not thrown away"
    a_year_later(db)
    assert drop(db) == 1
    assert contents(db, user, session) == ["new question", "new answer"]
    row = session_row(db, user, session)
    assert (row["first_retained_turn"], row["turn_count"], row["active_tokens"]) == (3, 4, 20)
    for table in ("message_search", "message_annotations"):
        assert value(db, f"select count(*) from recall.{table} where turn_index < 3") == 0
    check_invariants(db)
    # taken up again it goes on where it was
    call(db, "resume_session", p_user_id=user, p_session_id=session)
    append(db, user, session, said("third question"))
    assert contents(db, user, session)[-1] == "third question"
    assert drop(db) == 0
    check_invariants(db)


def test_what_has_been_compacted_may_go(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said_in(15, "a", "b", "c", "d"))
    append(db, user, session, said_in(1, "e", "f"))
    db.execute("update recall.sessions set compacted_through_turn = 2, active_tokens = 40")
    db.execute(
        "insert into recall.session_summaries (user_id, session_id, summary_id, kind, from_turn,"
        " to_turn, content, token_count, created_at)"
        " values (%s, %s, recall.uuidv7(), 'compaction', 1, 2, 'a and b', 3, now())",
        [user, session],
    )
    a_year_later(db)
    assert drop(db) == 0, "two turns of the month are still told as they were"
    db.execute("update recall.sessions set compacted_through_turn = 4, active_tokens = 20")
    db.execute("update recall.session_summaries set to_turn = 4, created_at = now()")
    assert drop(db) == 0, "compacted just now"
    a_year_later(db)
    assert drop(db) == 1
    assert contents(db, user, session) == ["e", "f"]
    row = session_row(db, user, session)
    assert (row["first_retained_turn"], row["active_tokens"]) == (5, 20)
    check_invariants(db)
    answer = call(db, "compile_context", p_user_id=user, p_session_id=session)
    told = answer[0]["compile_context"]["messages"]
    assert [m["content"] for m in told if m["role"] != "system"] == ["e", "f"]


def many_over(db: Connection, user: uuid.UUID, count: int) -> list[uuid.UUID]:
    """Sessions of one user that were over long ago, with a turn fourteen months ago each."""
    append(db, user, (first := open_session(db, user)), said_in(14, "x"))  # makes the month
    row = session_row(db, user, first)
    at = row["last_message_at"]
    db.execute("update recall.sessions set status = 'closed', updated_at = %s"
               " where session_id = %s", [at, first])  # fmt: skip
    sessions = sorted(uuid.uuid4() for _ in range(count - 1))
    db.execute(
        "insert into recall.sessions (user_id, session_id, status, model_id,"
        " context_window_size, system_prompt_hash, system_prompt_tokens, max_response_tokens,"
        " turn_count, user_turn_count, active_tokens, created_at, updated_at, last_message_at,"
        " expires_at) select %(user)s, s, 'closed', 'm', 1000, %(prompt)s, 0, 10, 1, 1, 1, %(at)s,"
        " %(at)s, %(at)s, %(at)s from unnest(%(sessions)s::uuid[]) as s",
        {"user": user, "sessions": sessions, "at": at, "prompt": row["system_prompt_hash"]},
    )
    db.execute(
        "insert into recall.conversation_history (user_id, session_id, turn_index, created_at,"
        " message_id, role, content, content_hash, token_count)"
        " select %(user)s, s, 1, %(at)s, gen_random_uuid(), 'user', 'x', '', 1"
        " from unnest(%(sessions)s::uuid[]) as s",
        {"user": user, "sessions": sessions, "at": at},
    )
    return sorted([first, *sessions])


def retained(db: Connection) -> int:
    return value(db, "select count(*) from recall.sessions where first_retained_turn = 1")


def test_sessions_forget_a_month_in_short_transactions(db: Connection, user: uuid.UUID) -> None:
    """Before it goes; an export taken meanwhile can be imported."""
    sessions = many_over(db, user, 120)
    call(db, "configure", p_changes={"maintenance_lock_time": "0 seconds"})
    steps = []
    while True:
        (row,) = call(db, "drop_expired_partitions")
        steps.append((row["done"], row["more"], retained(db)))
        check_invariants(db)
        if len(steps) == 1:
            taken = call(db, "export_user", p_user_id=user)[0]["export_user"]
        if not row["more"]:
            break
    assert steps == [(0, True, 70), (0, True, 20), (0, True, 0), (1, False, 0)]
    assert value(db, "select count(*) from recall.conversation_history") == 0
    assert value(db, "select position from recall.maintenance_tasks"
                     " where task = 'drop_expired_partitions'") is None  # fmt: skip
    call(db, "forget_user", p_user_id=user)
    call(db, "import_user", p_user_id=user, p_document=taken)
    assert contents(db, user, sessions[0]) == ["x"]


@pytest.mark.slow
def test_one_that_is_taken_up_again_meanwhile_keeps_the_month(
    db: Connection, connect: Connect, own: str, user: uuid.UUID
) -> None:
    sessions = many_over(db, user, 60)
    call(db, "configure", p_changes={"maintenance_lock_time": "0 seconds"})
    assert call(db, "drop_expired_partitions") == [{"done": 0, "more": True}]
    call(db, "resume_session", p_user_id=user, p_session_id=sessions[-1])
    assert drop(db) == 0
    assert contents(db, user, sessions[-1]) == ["x"]
    check_invariants(db)
    call(db, "close_session", p_user_id=user, p_session_id=sessions[-1])
    a_year_later(db)
    with psycopg.connect(own) as holder:
        holder.execute("select from recall.sessions where session_id = %s for update",
                       [sessions[-1]])  # fmt: skip
        assert drop(db) == 0, "who is held is not waited for"
    assert drop(db) == 1
    check_invariants(db)


def test_what_is_brought_into_a_month_meanwhile_keeps_it(db: Connection, user: uuid.UUID) -> None:
    """An import into a session that the walk has passed already."""
    many_over(db, user, 60)
    call(db, "configure", p_changes={"maintenance_lock_time": "0 seconds"})
    assert call(db, "drop_expired_partitions") == [{"done": 0, "more": True}]
    late = uuid.UUID(int=1)
    call(db, "open_session", p_user_id=user, p_model_id="m", p_session_id=late)
    append(db, user, late, said_in(14, "late"))
    assert drop(db) == 0
    assert contents(db, user, late) == ["late"]
    check_invariants(db)
    call(db, "close_session", p_user_id=user, p_session_id=late)
    a_year_later(db)
    assert drop(db) == 1
    assert retained(db) == 0


@pytest.mark.concurrent
@pytest.mark.slow
def test_a_writer_beside_it_does_not_wait(db: Connection, own: str, user: uuid.UUID) -> None:
    """He says something in a session of which the month is long compacted."""
    session = open_session(db, user)
    append(db, user, session, said_in(14, "a", "b"))
    append(db, user, session, said("c"))
    db.execute("update recall.sessions set compacted_through_turn = 2, active_tokens = 1")
    db.execute(
        "insert into recall.session_summaries (user_id, session_id, summary_id, kind, from_turn,"
        " to_turn, content, token_count, created_at)"
        " values (%s, %s, recall.uuidv7(), 'compaction', 1, 2, 'a and b', 3, now())",
        [user, session],
    )
    a_year_later(db)
    many_over(db, user, 1000)
    call(db, "configure", p_changes={"maintenance_lock_time": "0 seconds"})  # fifty a transaction
    waits: list[float] = []
    with psycopg.connect(own, autocommit=True) as writer:

        def write() -> None:
            while retained(writer) > 0:
                started = time.monotonic()
                append(writer, user, session, said("x"))
                waits.append(time.monotonic() - started)

        def sweep_on() -> None:
            while drop(db) == 0:
                pass  # the writer's session was just in use

        raise_errors(together([write, sweep_on]))
    assert session_row(db, user, session)["first_retained_turn"] == 3
    assert len(waits) > 5
    assert max(waits) < 2, "many short transactions, none of them long"
    check_invariants(db)


def test_old_turns_after_new_ones_stay(db: Connection, user: uuid.UUID) -> None:
    """An import may bring an old turn after a new one; a hole in the middle is no prefix."""
    session = open_session(db, user)
    append(db, user, session, said_in(3, "new"))
    db.execute(
        "insert into recall.conversation_history (user_id, session_id, turn_index, created_at,"
        " message_id, role, content, content_hash, token_count)"
        " select user_id, session_id, 2, created_at - interval '2 years', gen_random_uuid(),"
        " role, 'older', content_hash, 10 from recall.conversation_history"
    )
    db.execute("update recall.sessions set turn_count = 2, active_tokens = 20, status = 'closed',"
               " created_at = created_at - interval '2 years'")  # fmt: skip
    a_year_later(db)
    assert drop(db) == 0
    assert len(contents(db, user, session)) == 2


def test_a_user_who_keeps_longer(db: Connection, user: uuid.UUID) -> None:
    """The month is kept for all who share the leaf; a shorter wish does not drop it earlier."""
    call(db, "configure_user", p_user_id=user, p_changes={"history_retention": "24 months"})
    session = open_session(db, user)
    append(db, user, session, said_in(14, "x"))
    call(db, "close_session", p_user_id=user, p_session_id=session)
    a_year_later(db)
    assert drop(db) == 0
    call(db, "configure_user", p_user_id=user, p_changes={"history_retention": "1 month"})
    assert drop(db, datetime.now(UTC) - 60 * DAY) == 0, "for all it is 12 months"
    assert drop(db) == 1


def keeps_a_month(conn: Connection, user: uuid.UUID) -> uuid.UUID:
    """Return a session of a user who keeps history for a month, with turns old and new."""
    session = open_session(conn, user)
    append(conn, user, session, said_in(4, "a", "b", "c", "d"))
    append(conn, user, session, said("e", "f"))
    call(conn, "annotate_message", p_user_id=user, p_session_id=session, p_turn_index=2,
         p_patch={"liked": True})  # fmt: skip
    make_searchable(conn)
    conn.execute("delete from recall.jobs where user_id = %s", [user])
    call(conn, "configure_user", p_user_id=user, p_changes={"history_retention": "1 month"})
    return session


def test_a_user_who_keeps_history_for_less_time_loses_the_rows_past_it(
    db: Connection, user: uuid.UUID
) -> None:
    session = keeps_a_month(db, user)
    other = uuid.uuid4()
    theirs = open_session(db, other)
    append(db, other, theirs, said_in(4, "kept"))
    call(db, "close_session", p_user_id=other, p_session_id=theirs)
    now = datetime.now(UTC)
    a_year_later(db)
    assert purge(db, now) == 0, "the session goes on"
    call(db, "close_session", p_user_id=user, p_session_id=session)
    assert purge(db, now) == 0, "closed just now"
    db.execute("delete from recall.jobs")
    a_year_later(db)
    assert purge(db, now) == 4
    assert contents(db, user, session) == ["e", "f"]
    assert contents(db, other, theirs) == ["kept"]
    row = session_row(db, user, session)
    assert (row["first_retained_turn"], row["turn_count"], row["active_tokens"]) == (5, 6, 2)
    for table in ("message_search", "message_annotations"):
        assert value(db, f"select count(*) from recall.{table} where turn_index < 5"
                         " and user_id = %s", [user]) == 0  # fmt: skip
    check_invariants(db)
    assert purge(db, now) == 0
    assert rows(db, "select * from recall.verify_integrity(%s)", [user]) == []
    # taken up again it goes on where it was
    call(db, "resume_session", p_user_id=user, p_session_id=session)
    append(db, user, session, said("g"))
    assert contents(db, user, session) == ["e", "f", "g"]
    told = call(db, "compile_context", p_user_id=user, p_session_id=session)
    messages = told[0]["compile_context"]["messages"]
    assert [m["content"] for m in messages if m["role"] != "system"] == ["e", "f", "g"]
    document = call(db, "export_user", p_user_id=user)[0]["export_user"]
    call(db, "forget_user", p_user_id=user)
    call(db, "import_user", p_user_id=user, p_document=document)
    assert contents(db, user, session) == ["e", "f", "g"]
    check_invariants(db)


def test_own_retention_takes_what_was_compacted_and_spares_the_rest(
    db: Connection, user: uuid.UUID
) -> None:
    session = keeps_a_month(db, user)
    db.execute("update recall.sessions set compacted_through_turn = 3, active_tokens = 12")
    db.execute(
        "insert into recall.session_summaries (user_id, session_id, summary_id, kind, from_turn,"
        " to_turn, content, token_count, created_at)"
        " values (%s, %s, recall.uuidv7(), 'compaction', 1, 3, 'a to c', 3, now())",
        [user, session],
    )
    now = datetime.now(UTC)
    assert purge(db, now) == 0, "compacted just now"
    a_year_later(db)
    assert purge(db, now, 2) == 3
    assert contents(db, user, session) == ["d", "e", "f"]
    row = session_row(db, user, session)
    assert (row["first_retained_turn"], row["active_tokens"]) == (4, 12)
    assert value(db, "select count(*) from recall.session_summaries") == 1
    check_invariants(db)
    assert drop(db) == 0


def test_own_retention_waits_for_an_extraction(db: Connection, user: uuid.UUID) -> None:
    session = keeps_a_month(db, user)
    call(db, "close_session", p_user_id=user, p_session_id=session)
    a_year_later(db)
    db.execute("update recall.sessions set extracted_through_turn = 2")
    db.execute("delete from recall.jobs")
    call(db, "enqueue_job", p_user_id=user, p_kind="extract", p_session_id=session)
    assert purge(db, datetime.now(UTC)) == 2
    assert contents(db, user, session) == ["c", "d", "e", "f"]
    db.execute("delete from recall.jobs")
    assert purge(db, datetime.now(UTC)) == 2
    check_invariants(db)


def test_own_retention_keeps_a_call_with_its_answers(db: Connection, user: uuid.UUID) -> None:
    """One of which is young."""
    session = open_session(db, user)
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
             for n in range(2)]  # fmt: skip
    old = said_in(4, "a", "b", "c")
    old[1] |= {"content": None, "tool_calls": calls}
    old[2] |= {"role": "tool", "tool_call_id": "c0"}
    append(db, user, session, [*old, {"role": "tool", "tool_call_id": "c1", "content": "d"}])
    append(db, user, session, said("e"))
    call(db, "configure_user", p_user_id=user, p_changes={"history_retention": "1 month"})
    call(db, "close_session", p_user_id=user, p_session_id=session)
    a_year_later(db)
    db.execute("delete from recall.jobs")
    assert purge(db, datetime.now(UTC)) == 1
    assert contents(db, user, session) == [None, "c", "d", "e"]
    assert purge(db, datetime.now(UTC)) == 0
    assert purge(db, datetime.now(UTC) + 60 * DAY, 1) == 4, "all of them then, turn by turn"
    assert contents(db, user, session) == []
    check_invariants(db)


@pytest.mark.concurrent
def test_own_retention_goes_round_the_users_in_short_batches(
    db: Connection, own: str, user: uuid.UUID
) -> None:
    """A session that somebody holds is passed by, and the sweep says that there is more."""
    users = sorted(uuid.uuid4() for _ in range(5))
    for each in users:
        many_over(db, each, 5)
        call(db, "configure_user", p_user_id=each, p_changes={"history_retention": "1 month"})
    db.execute("delete from recall.jobs")
    assert purge(db, datetime.now(UTC), 3) == 25
    for each in users:
        many_over(db, each, 5)
    db.execute("delete from recall.jobs")
    with psycopg.connect(own) as holder:
        (held,) = holder.execute(
            "select session_id from recall.sessions where user_id = %s and first_retained_turn = 1"
            " limit 1 for update", [users[2]],
        ).fetchone() or (None,)  # fmt: skip
        done = [row["done"] for _ in range(8)
                for row in call(db, "purge_expired", p_limit=7)]  # fmt: skip
        assert sum(done) == 24
        assert call(db, "purge_expired", p_limit=7) == [{"done": 0, "more": True}]
        assert contents(db, users[2], held) == ["x"]
    assert purge(db, datetime.now(UTC)) == 1
    assert value(db, "select last_user from recall.maintenance_tasks"
                     " where task = 'purge_expired'") is None  # fmt: skip
    check_invariants(db)


def revision(conn: Connection, user: uuid.UUID) -> int:
    return value(conn, "select memory_revision from recall.users where user_id = %s", [user])


def test_own_retention_locks_no_user_whose_sessions_stay(
    db: Connection, own: str, user: uuid.UUID
) -> None:
    """They are old, but were closed or compacted only lately."""
    closed, compact = many_over(db, user, 2)
    call(db, "configure_user", p_user_id=user, p_changes={"history_retention": "1 month"})
    db.execute("delete from recall.jobs")
    db.execute("update recall.sessions set updated_at = now() - interval '3 days'")
    db.execute("update recall.sessions set status = 'active' where session_id = %s", [compact])
    compacted(db, user, compact, 1, datetime.now(UTC))
    call(db, "purge_expired")
    before = revision(db, user)
    with psycopg.connect(own) as sweeper:
        assert call(sweeper, "purge_expired") == [{"done": 0, "more": False}]
        assert len(rows(db, "select from recall.users for update skip locked")) == 1
    assert revision(db, user) == before
    assert purge(db, datetime.now(UTC) + 60 * DAY) == 2
    assert contents(db, user, closed) == contents(db, user, compact) == []


@pytest.mark.parametrize(("lock_time", "limit"), [("0 seconds", 5000), ("1 minute", 1)])
def test_own_retention_passes_sessions_that_keep_their_turns(
    db: Connection, own: str, lock_time: str, limit: int
) -> None:
    """A call looks at one session, and the next call goes on behind it, also within a user.

    The walk says more until its end, and there, too, when it has met a lock."""
    users = sorted(uuid.uuid4() for _ in range(2))
    waiting = {each: many_over(db, each, 4) for each in users}
    for each in users:
        call(db, "configure_user", p_user_id=each, p_changes={"history_retention": "1 month"})
    db.execute("delete from recall.jobs")
    for each in users:
        for session in waiting[each][:3]:
            call(db, "enqueue_job", p_user_id=each, p_kind="extract", p_session_id=session)
    call(db, "configure", p_changes={"maintenance_lock_time": lock_time})
    with psycopg.connect(own) as holder:
        holder.execute("select from recall.sessions where session_id = %s for update",
                       [waiting[users[0]][1]])  # fmt: skip
        steps = []
        while (not steps or steps[-1][2]) and len(steps) < 20:
            (row,) = call(db, "purge_expired", p_limit=limit)
            last = value(db, "select last_user is not null from recall.maintenance_tasks"
                             " where task = 'purge_expired'")  # fmt: skip
            steps.append((row["done"], row["more"], last))
        assert sum(done for done, _, _ in steps) == 2
        assert [more for _, more, _ in steps] == [True] * len(steps), "a session is locked"
        assert 8 <= len(steps) <= 11
    db.execute("delete from recall.jobs")
    assert sweep(db, "purge_expired") == 6
    assert value(db, "select count(*) from recall.conversation_history") == 0
    assert value(db, "select position is null and last_user is null"
                     " from recall.maintenance_tasks where task = 'purge_expired'")  # fmt: skip
    check_invariants(db)


def test_purge_expired_pauses_at_the_end_of_a_walk_that_met_a_lock(
    db: Connection, own: str, user: uuid.UUID
) -> None:
    """Each batch moves the position, and the last one resets it."""
    sessions = many_over(db, user, 6)
    call(db, "configure_user", p_user_id=user, p_changes={"history_retention": "10 days"})
    db.execute("delete from recall.jobs")
    for session in sessions[:5]:
        call(db, "enqueue_job", p_user_id=user, p_kind="extract", p_session_id=session)
    db.execute("update recall.maintenance_tasks set batch_size = 2 where task = 'purge_expired'")
    with psycopg.connect(own) as holder:
        holder.execute("select from recall.sessions where session_id = %s for update",
                       [sessions[5]])  # fmt: skip
        (row,) = call(db, "run_maintenance", p_task="purge_expired")
        assert row["run_maintenance"] | {"ms": 0} == {
            "done": 0, "more": True, "waits": True, "ms": 0}  # fmt: skip
    (row,) = call(db, "run_maintenance", p_task="purge_expired")
    assert row["run_maintenance"] | {"ms": 0} == {"done": 1, "more": False, "ms": 0}


def test_expired_month_is_detached_when_dropping_is_off(db: Connection, user: uuid.UUID) -> None:
    call(db, "configure", p_changes={"drop_expired_history": False})
    session = open_session(db, user)
    append(db, user, session, said_in(14, "kept aside"))
    call(db, "close_session", p_user_id=user, p_session_id=session)
    a_year_later(db)
    assert drop(db) == 1
    assert contents(db, user, session) == []
    (left,) = rows(
        db, "select c.oid::regclass::text as name, c.relrowsecurity as closed from pg_class as c"
            " where c.relnamespace = 'recall'::regnamespace and c.relkind = 'r'"
            " and c.relname like 'conversation_history%%' and not c.relispartition", [],
    )  # fmt: skip
    assert left["closed"]
    assert value(db, f"select content from {left['name']}") == "kept aside"
    # the month can come back, and go again
    other = open_session(db, user)
    append(db, user, other, said_in(14, "late import"))
    assert contents(db, user, other) == ["late import"]
    check_invariants(db)


def test_partition_of_old_imports_is_emptied_and_kept(db: Connection, user: uuid.UUID) -> None:
    """The leaf for old imports is emptied, and stays there for the next one."""
    before = leaves(db)
    session = open_session(db, user)
    append(db, user, session, said_in(30, "long ago"))
    call(db, "close_session", p_user_id=user, p_session_id=session)
    a_year_later(db)
    at = datetime.now(UTC) + 31 * DAY
    assert drop(db, at) == 1
    assert leaves(db) == before
    other = open_session(db, user)
    append(db, user, other, said_in(31, "even longer ago"))
    assert contents(db, user, other) == ["even longer ago"]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Pacific/Apia", "Asia/Kathmandu"])
@pytest.mark.slow
def test_three_years_with_six_months_of_retention(small: str, user: uuid.UUID, zone: str) -> None:
    """No gap, no overlap, no insert that fails; the messages never pile up."""
    db = psycopg.connect(small, autocommit=True)
    db.execute(f"set timezone = '{zone}'".encode())
    call(
        db, "configure", p_changes={"history_retention": "6 months", "ledger_retention": "27 days"}
    )
    start = datetime.now(UTC)
    for ahead in range(37):
        now = month(start, ahead) + timedelta(hours=1)
        call(db, "ensure_partitions", p_as_of=now)
        drop(db, now)
        session = uuid.uuid4()
        # the clock of an append is the server's: a message of that month as a row
        db.execute(
            "insert into recall.sessions (user_id, session_id, status, model_id,"
            " context_window_size, system_prompt_hash, system_prompt_tokens,"
            " max_response_tokens, turn_count, user_turn_count, active_tokens, created_at,"
            " updated_at, last_message_at, expires_at) values (%(user)s, %(session)s, 'closed',"
            " 'm', 1000, '', 0, 10, 1, 1, 1, %(now)s, %(now)s, %(now)s, %(now)s)",
            {"user": user, "session": session, "now": now},
        )
        db.execute(
            "insert into recall.users (user_id, created_at) values (%s, now())"
            " on conflict do nothing", [user],
        )  # fmt: skip
        db.execute(
            "insert into recall.conversation_history (user_id, session_id, turn_index, created_at,"
            " message_id, role, content, content_hash, token_count)"
            " values (%s, %s, 1, %s, gen_random_uuid(), 'user', 'x', '', 1)",
            [user, session, now],
        )
    for parent, bounds in leaves(db).items():
        monthly = [b for b in bounds if b[0] is not None]
        for (_, end), (first, _) in pairwise(monthly):
            assert first == end, f"{parent}: no gap, no overlap"
        kept = 6 if "conversation_history" in parent else 3 if "job_phases" in parent else 1
        assert len(monthly) == kept + 2, parent
        assert monthly[-1] == (month(start, 37), month(start, 38))
    # the month that is half a year old, up to the present one
    assert value(db, "select count(*) from recall.conversation_history") == 7
    db.close()


@pytest.mark.concurrent
@pytest.mark.slow
def test_a_long_reader_only_delays_it(db: Connection, own: str, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said_in(14, "old"))
    append(db, user, session, said("new"))
    call(db, "close_session", p_user_id=user, p_session_id=session)
    a_year_later(db)
    with psycopg.connect(own) as reader, psycopg.connect(own, autocommit=True) as writer:
        reader.execute("select count(*) from recall.conversation_history")
        worst = 0.0

        def write() -> None:
            nonlocal worst
            other = open_session(writer, user)
            end = time.monotonic() + 1
            while time.monotonic() < end:
                started = time.monotonic()
                append(writer, user, other, said("x"))
                worst = max(worst, time.monotonic() - started)

        results = together([write, lambda: drop(db)])
        raise_errors(results)
        assert results[1] == 0
        assert worst < 2, "the wait for a lock is bounded"
        for _ in range(3):  # the turns are retired by then, and only the reader is in the way
            assert call(db, "drop_expired_partitions") == [{"done": 0, "more": True}]
        assert session_row(db, user, session)["first_retained_turn"] == 2
        assert value(db, "select count(*) from recall.conversation_history"
                         " where session_id = %s", [session]) == 2  # fmt: skip
        check_invariants(db)
    assert drop(db) == 1
    check_invariants(db)


def test_expired_months_of_job_spans_are_dropped(db: Connection) -> None:
    at = month(datetime.now(UTC), 7)
    call(db, "ensure_partitions", p_as_of=at)
    db.execute("insert into recall.job_phases (user_id, job_id, phase_id, kind, phase, created_at,"
               " duration_ms) values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),"
               " 'embed', 'embed', now(), 1)")  # fmt: skip
    old = datetime.now(UTC) + 80 * DAY
    drop(db, old)
    assert value(db, "select count(*) from recall.job_phases") == 1
    drop(db, datetime.now(UTC) + 125 * DAY)
    assert value(db, "select count(*) from recall.job_phases") == 0


def purge(conn: Connection, at: datetime, limit: int = 5000) -> int:
    done = 0
    while True:
        (row,) = call(conn, "purge_expired", p_limit=limit, p_as_of=at)
        assert row["done"] <= limit
        assert row["done"] > 0 or not row["more"], "somebody holds what is due"
        done += row["done"]
        if not row["more"]:
            return done


def test_purge_expired_deletes_receipts_after_a_day(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    for n in range(7):
        append(db, user, session, said(f"{n}"), None, uuid.uuid4())
    assert purge(db, datetime.now(UTC) + timedelta(hours=23)) == 0
    assert purge(db, datetime.now(UTC) + timedelta(hours=25), 3) == 7
    assert value(db, "select count(*) from recall.append_receipts") == 0


def test_purge_expired_deletes_old_daily_spending(db: Connection, user: uuid.UUID) -> None:
    """The user's days, and those of all together."""
    db.execute("insert into recall.model_spending select %s, d.day, 5"
               " from (select (now() at time zone 'UTC')::date - n as day"
               " from unnest('{0,89,91,400}'::integer[]) as n) as d", [user])  # fmt: skip
    db.execute("insert into recall.model_spending_totals select m.day, 7, 5"
               " from recall.model_spending as m")  # fmt: skip
    assert sweep(db, "purge_expired") == 4
    for table in ("model_spending", "model_spending_totals"):
        assert value(db, f"select count(*) from recall.{table}") == 2


def test_vectors_of_ended_memories(db: Connection, user: uuid.UUID) -> None:
    memories = [remember(db, user, f"fact {n}", p_embedding=vector(n))["memory_id"]
                for n in (0, 40, 80)]  # fmt: skip
    for memory in memories[:2]:
        call(db, "retract_memory", p_user_id=user, p_memory_id=memory)
    assert purge(db, datetime.now(UTC) + 29 * DAY) == 0
    assert purge(db, datetime.now(UTC) + 31 * DAY, 1) == 2
    assert value(db, "select count(*) from recall.memory_embedding") == 1
    assert len(rows(db, "select from recall.memory_store where user_id = %s", [user])) == 3


def compacted(
    conn: Connection, user: uuid.UUID, session: uuid.UUID, through: int, at: datetime
) -> None:
    """Compact a session through a turn, as of a time; purge_expired checks it at the next call."""
    conn.execute(
        "insert into recall.session_summaries (user_id, session_id, summary_id, kind, from_turn,"
        " to_turn, content, token_count, created_at, ended_at)"
        " values (%s, %s, recall.uuidv7(), 'compaction', 1, %s, 'so far', 3, %s, now())",
        [user, session, through, at],
    )
    conn.execute(
        "update recall.sessions set compacted_through_turn = %s, search_purge_at = now()"
        " where user_id = %s and session_id = %s",
        [through, user, session],
    )


def searchable(conn: Connection, user: uuid.UUID, session: uuid.UUID) -> list[int]:
    found = rows(
        conn,
        "select turn_index from recall.message_search where user_id = %s and session_id = %s"
        " order by turn_index",
        [user, session],
    )
    return [row["turn_index"] for row in found]


def test_compacted_turns_are_found_for_a_month(db: Connection, user: uuid.UUID) -> None:
    session, other = open_session(db, user), open_session(db, user)
    for each in (session, other):
        append(db, user, each, said("one", "two", "three", "four"))
    make_searchable(db)
    compacted(db, user, session, 2, datetime.now(UTC))
    assert purge(db, datetime.now(UTC) + DAY) == 0
    assert session_row(db, user, session)["search_purge_at"] > datetime.now(UTC) + 29 * DAY
    assert purge(db, datetime.now(UTC) + 31 * DAY) == 2
    assert session_row(db, user, session)["search_purge_at"] is None
    assert value(db, "select count(*) from recall.message_search") == 6
    assert value(db, "select count(*) from recall.message_words where words @@ 'one'") == 1


def test_retention_of_search_rows_starts_at_the_compaction(db: Connection, user: uuid.UUID) -> None:
    """Not at the message: an old turn that was compacted today is found for a month."""
    session = open_session(db, user)
    append(db, user, session, said_in(3, *(f"turn {n}" for n in range(1, 7))))
    make_searchable(db)
    now = datetime.now(UTC)
    for through, days in ((2, 40), (4, 20), (5, 0)):
        compacted(db, user, session, through, now - days * DAY)
    now = datetime.now(UTC)
    assert purge(db, now, 1) == 2, "one row a batch"
    assert searchable(db, user, session) == [3, 4, 5, 6]
    assert abs(session_row(db, user, session)["search_purge_at"] - (now + 10 * DAY)) < DAY
    assert purge(db, now + 9 * DAY) == 0
    assert purge(db, now + 11 * DAY) == 2
    assert purge(db, now + 31 * DAY) == 1
    assert searchable(db, user, session) == [6]
    assert session_row(db, user, session)["search_purge_at"] is None


def due_checks(conn: Connection) -> int:
    return value(conn, "select count(*) from recall.sessions where search_purge_at <= now()")


@pytest.mark.parametrize(
    ("lock_time", "limit", "steps"),
    [("0 seconds", 5000, [5, 4, 3, 2, 1, 0]), ("1 minute", 4, [2, 0])],
)
def test_a_check_that_deletes_nothing_ends_with_its_batch(
    db: Connection, own: str, user: uuid.UUID, lock_time: str, limit: int, steps: list[int]
) -> None:
    """The limit and the lock time hold for sessions that are checked too early, too."""
    for _ in range(6):
        session = open_session(db, user)
        append(db, user, session, said("one"))
        compacted(db, user, session, 1, datetime.now(UTC))
    call(db, "configure", p_changes={"maintenance_lock_time": lock_time})
    with psycopg.connect(own) as sweeper:
        left = 6
        for step in steps:
            assert call(sweeper, "purge_expired", p_limit=limit) == [{"done": 0, "more": step > 0}]
            free = rows(db, "select from recall.sessions for update skip locked")
            assert len(free) == 6 - (left - step), "other sessions can be used meanwhile"
            sweeper.commit()
            assert due_checks(db) == step
            left = step
    assert call(db, "purge_expired") == [{"done": 0, "more": False}]


def test_prompts_that_nobody_uses(db: Connection, user: uuid.UUID) -> None:
    first = open_session(db, user, p_system_prompt="You are shared.")
    second = open_session(db, user, p_system_prompt="You are shared.")
    for n in range(2):
        call(db, "update_session", p_user_id=user, p_session_id=first,
             p_changes={"system_prompt": f"You are number {n}."})  # fmt: skip
    later = datetime.now(UTC) + 2 * DAY
    assert purge(db, datetime.now(UTC)) == 0
    assert purge(db, later) == 1
    prompts = rows(db, "select content from recall.system_prompts order by content")
    assert [row["content"] for row in prompts] == ["You are number 1.", "You are shared."]
    call(db, "update_session", p_user_id=user, p_session_id=second,
         p_changes={"system_prompt": "You are number 1."})  # fmt: skip
    # somebody takes it up again before it goes
    third = open_session(db, user, p_system_prompt="You are shared.")
    assert purge(db, later) == 0
    (row,) = call(db, "get_session", p_user_id=user, p_session_id=third)
    assert row["system_prompt"] == "You are shared."


def test_a_purge_reads_no_active_memory_whose_decay_is_overdue(
    db: Connection, user: uuid.UUID
) -> None:
    db.execute(
        "insert into recall.users (user_id, active_memory_count, created_at)"
        " values (%s, 2000, now())",
        [user],
    )
    db.execute(
        "insert into recall.memory_store (user_id, memory_id, tier, scope, kind, content,"
        " content_hash, token_count, search_vector, provenance, source, confidence, importance,"
        " observed_at, created_at, updated_at, is_validated)"
        " select %s, gen_random_uuid(), 'semantic', 'global', 'fact', 'tea ' || n,"
        " uuid_send(gen_random_uuid()), 2, '', 'fact', 'import', 0.5, 0.1, t.at, t.at, t.at, true"
        " from generate_series(1, 2000) as n, (select now() - interval '1 year') as t (at)",
        [user],
    )
    overdue = value(
        db,
        "select count(*) from recall.memory_store where user_id = %s and check_at < now()",
        [user],
    )
    assert overdue == 2000
    read = (
        "select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))"
        "  from pg_catalog.pg_stat_xact_all_tables"
        " where schemaname = 'recall' and relname like 'memory\\_store%%'"
    )
    with db.transaction():
        before = value(db, read)
        call(db, "purge_expired")
        assert value(db, read) - before < 500
