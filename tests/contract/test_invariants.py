"""Each invariant finds what breaks it: a query that can return nothing would prove nothing."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
import pytest

from support.everyfunction import World, furnish
from support.invariants import INVARIANTS, broken_invariants, check_invariants

Connection = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def world(dsn: str) -> World:
    with psycopg.connect(dsn, autocommit=True) as conn:
        return furnish(conn, "marked")


def test_furnished_user_breaks_no_invariant(db: Connection, world: World) -> None:
    assert list(INVARIANTS) == [f"I{n}" for n in range(1, 14)]
    check_invariants(db)


BREACHES = {
    "I1 text": "drop index recall.memory_store_content_hash_idx;"
    " update recall.memory_store set content_hash = '\\x00' where user_id = %(user)s and is_active",
    "I1 slot": "drop index recall.memory_store_slot_idx;"
    " update recall.memory_store set slot = 's' where user_id = %(user)s and is_active",
    "I2 successor": "alter table recall.memory_store drop constraint memory_store_superseded_check;"
    " update recall.memory_store set superseded_by = null"
    " where user_id = %(user)s and end_reason = 'superseded'",
    "I2 stranger": "update recall.memory_store set superseded_by = gen_random_uuid()"
    " where user_id = %(user)s and end_reason = 'superseded'",
    "I2 vector": "insert into recall.memory_embedding_ended"
    " select e.user_id, e.memory_id, e.embedding_model, e.embedding, now()"
    " from recall.memory_embedding as e where e.user_id = %(user)s limit 1",
    "I3": "alter table recall.memory_store drop constraint memory_store_superseded_check;"
    " update recall.memory_store as m set superseded_by = p.memory_id"
    " from recall.memory_store as p where p.user_id = m.user_id and p.superseded_by = m.memory_id"
    " and m.user_id = %(user)s",
    "I4 gap": "delete from recall.conversation_history where user_id = %(user)s and turn_index = 5",
    "I4 end": "update recall.sessions set turn_count = turn_count + 1"
    " where user_id = %(user)s and session_id = %(session)s",
    "I4 orphan": "delete from recall.sessions where user_id = %(user)s",
    "I5 tokens": "update recall.sessions set active_tokens = active_tokens + 1"
    " where user_id = %(user)s and session_id = %(session)s",
    "I5 cost": "update recall.sessions set total_cost_microcents = 1"
    " where user_id = %(user)s and session_id = %(session)s",
    "I5 spans": "update recall.job_phases set prompt_tokens = prompt_tokens + 1"
    " where user_id = %(user)s and session_id = %(session)s",
    "I5 span lost": "update recall.sessions set total_prompt_tokens = total_prompt_tokens + 1"
    " where user_id = %(user)s and session_id = %(session)s",
    "I6 lease": "update recall.jobs set lease_until = now() - interval '6 minutes'"
    " where user_id = %(user)s and state = 'running'",
    "I6 twins": "drop index recall.jobs_running_idx;"
    " update recall.jobs set kind = 'embed' where user_id = %(user)s and state = 'running'",
    "I6 effect": "insert into recall.memory_events (user_id, memory_id, event_no, at, event,"
    " job_id, caller, event_hash) select %(user)s, %(memory)s, 1000 + n, now(), 'added',"
    " %(embed_job)s, 'x', '' from generate_series(1, 2) as g (n)",
    "I7 summary": "update recall.sessions set compacted_through_turn = 10"
    " where user_id = %(user)s and session_id = %(session)s",
    "I8 validated": "alter table recall.memory_store drop constraint memory_store_validated_check;"
    " update recall.memory_store set is_validated = false where user_id = %(user)s",
    "I8 provenance": "update recall.memory_store set provenance = 'tool_output'"
    " where user_id = %(user)s",
    "I9": "insert into recall.erasures values (gen_random_uuid(), '\\x01',"
    " sha256('\\x01'::bytea || uuid_send(%(user)s)), now(), '{}')",
    "I11": "update recall.users set active_memory_count = 1 where user_id = %(user)s",
    "I12": "delete from recall.memory_events where user_id = %(user)s and event_no = 2",
    "I13 search": "insert into recall.message_words values (%(user)s, %(session)s, 0, 9,"
    " 'nobody:1')",
    "I12 head": "update recall.users set event_count = event_count - 1 where user_id = %(user)s",
}


@pytest.mark.parametrize("breach", BREACHES)
def test_invariants_report_each_breach(db: Connection, world: World, breach: str) -> None:
    with db.transaction(force_rollback=True):
        for statement in BREACHES[breach].split(";"):
            db.execute(statement.encode(), world)
        found = broken_invariants(db)
    assert any(line.startswith(f"{breach.split()[0]}:") for line in found), found


def test_invariants_report_a_tool_group_cut_by_a_compaction(db: Connection, world: World) -> None:
    with db.transaction(force_rollback=True):
        db.execute(
            "select * from recall.append_messages(%s, %s, %s)",
            [world["user"], world["session"], world["tools"]],
        )
        db.execute(
            "update recall.sessions set compacted_through_turn = 61 where session_id = %s",
            [world["session"]],
        )
        db.execute(
            "insert into recall.session_summaries (user_id, session_id, summary_id, kind,"
            " from_turn, to_turn, content, token_count, created_at)"
            " values (%s, %s, %s, 'compaction', 1, 61, 'x', 1, now())",
            [world["user"], world["session"], uuid.uuid4()],
        )
        assert any("turn 62 is a tool message" in line for line in broken_invariants(db))


@pytest.mark.parametrize("ahead", [0, 3])
def test_invariants_report_a_dropped_month(db: Connection, ahead: int) -> None:
    with db.transaction(force_rollback=True):
        row = db.execute(
            "select l.leaf::text from recall._month_leaves('recall.job_phases') as l"
            " where l.lower_bound <= now() + make_interval(months => %s)"
            " and now() + make_interval(months => %s) < l.upper_bound",
            [ahead, ahead],
        ).fetchone()
        assert row is not None
        db.execute(f"drop table {row[0]}".encode())
        assert any(
            line.startswith("I10: recall.job_phases lacks") for line in broken_invariants(db)
        )
