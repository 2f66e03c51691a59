"""One memory or one conversation forgotten for good, and nothing else."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from support import append, ask, call, open_session, refused, rows, said, value
from support.everyfunction import NO_VECTORS, furnish, leased
from support.invariants import check_invariants
from support.memories import remembered
from support.traces import sums, traces

Connection = psycopg.Connection[Any]


def contents(conn: Connection, user: uuid.UUID) -> set[str]:
    return {row["content"] for row in call(conn, "get_memories", p_user_id=user)}


def test_forget_memory_erases_every_version(db: Connection, user: uuid.UUID) -> None:
    first = remembered(db, user, "I live in Oslo", p_slot="home")
    last = remembered(db, user, "I live in Rome", p_slot="home")
    remembered(db, user, "I like tea")
    call(db, "record_access", p_user_id=user, p_memory_ids=[last], p_relevance="{0.5}")
    (done,) = call(db, "forget_memory", p_user_id=user, p_memory_id=first)
    assert done["forget_memory"]["counts"]["memory_store"] == 2
    assert traces(db, user, "I live in") == []
    assert contents(db, user) == {"I like tea"}
    for memory in (first, last):
        with refused("RC001"):
            call(db, "forget_memory", p_user_id=user, p_memory_id=memory)
    check_invariants(db)


def test_what_was_made_of_it_goes(db: Connection) -> None:
    """A merge and its other parts, a pattern, a contradiction."""
    world = furnish(db, "marked")
    user = world["user"]
    done = ask(db, leased(world, "merging"), world["merged"].obj, **NO_VECTORS)
    assert done["type"] == "done"
    (part,) = rows(db, "select memory_id from recall.memory_store where user_id = %s"
                       " and content = 'marked likes thing number 21'", [user])  # fmt: skip
    call(db, "forget_memory", p_user_id=user, p_memory_id=part["memory_id"])
    assert traces(db, user, "thing number 21") == []
    assert traces(db, user, str(part["memory_id"])) == []

    call(db, "forget_memory", p_user_id=user, p_memory_id=world["protected"])
    assert "memory_store" not in traces(db, user, "works at the")
    check_invariants(db)


def test_forget_session_erases_that_session_only(db: Connection, user: uuid.UUID) -> None:
    gone = open_session(db, user, p_title="zebra", p_system_prompt="You are a zebra.")
    kept = open_session(db, user)
    turns = append(db, user, gone, said("I ride a zebra", "and I like tea"), None, uuid.uuid4())
    (other,) = append(db, user, kept, said("I like tea"))
    call(db, "annotate_message", p_user_id=user, p_session_id=gone, p_turn_index=1,
         p_patch={"zebra": 1})  # fmt: skip
    call(db, "put_working", p_user_id=user, p_session_id=gone, p_task_id="zebra", p_key="k",
         p_value={})  # fmt: skip
    for session, candidates in (
        (gone, [{"content": "I ride a zebra", "source_turn_ids": [str(turns[0][0])]},
                {"content": "I like tea", "source_turn_ids": [str(turns[1][0])]}]),
        (kept, [{"content": "I like tea", "source_turn_ids": [str(other[0])]}]),
    ):  # fmt: skip
        call(db, "ingest_memories", p_user_id=user, p_session_id=session, p_candidates=candidates)

    (done,) = call(db, "forget_session", p_user_id=user, p_session_id=gone)
    counted = done["forget_session"]["counts"]
    assert (counted["conversation_history"], counted["memory_store"]) == (2, 1)
    assert traces(db, user, "zebra") == []
    assert traces(db, user, str(gone)) == []
    assert not rows(db, "select from recall.system_prompts where content like '%%zebra%%'")
    (tea,) = rows(db, "select * from recall.memory_store where user_id = %s", [user])
    assert (tea["content"], tea["source_turn_ids"]) == ("I like tea", [other[0]])
    with refused("RC001"):
        append(db, user, gone, said("still here?"))
    check_invariants(db)


def test_a_fact_that_another_conversation_changed(db: Connection, user: uuid.UUID) -> None:
    """The younger or the older version stays, whichever was said elsewhere."""
    first, second, third = (open_session(db, user) for _ in range(3))
    for session, city in ((first, "Oslo"), (second, "Rome"), (third, "Paris")):
        append(db, user, session, said(f"I live in {city}"))
        remembered(db, user, f"I live in {city}", p_slot="home", p_session_id=session)
    call(db, "forget_session", p_user_id=user, p_session_id=second)
    assert traces(db, user, "Rome") == []
    chain = rows(
        db,
        "select content, end_reason, superseded_by is null as is_last"
        " from recall.memory_store where user_id = %s order by created_at",
        [user],
    )
    assert [tuple(row.values()) for row in chain] == [
        ("I live in Oslo", "superseded", False),
        ("I live in Paris", None, True),
    ]
    call(db, "forget_session", p_user_id=user, p_session_id=third)
    (left,) = rows(db, "select content, end_reason from recall.memory_store where user_id = %s",
                   [user])  # fmt: skip
    assert tuple(left.values()) == ("I live in Oslo", "retracted")
    check_invariants(db)


def test_forget_session_and_forget_memory_leave_other_users_alone(db: Connection) -> None:
    mine, theirs = furnish(db, "marked"), furnish(db, "others")
    before = sums(db, theirs["user"])
    call(db, "forget_session", p_user_id=mine["user"], p_session_id=mine["session"])
    call(db, "forget_memory", p_user_id=mine["user"], p_memory_id=mine["memory"])
    assert sums(db, theirs["user"]) == before
    for function, argument in (
        ("forget_session", "p_session_id"),
        ("forget_memory", "p_memory_id"),
    ):
        with refused("RC001"):
            call(db, function, p_user_id=mine["user"], **{argument: theirs[argument[2:-3]]})
    check_invariants(db)


def test_forget_session_erases_its_model_calls(db: Connection, user: uuid.UUID) -> None:
    """Calls to models and tools in the session and by its jobs are erased; other calls stay."""
    gone, kept = open_session(db, user), open_session(db, user)
    append(db, user, gone, said("I ride a zebra"))
    call(db, "close_session", p_user_id=user, p_session_id=gone)
    claimed = call(db, "claim_jobs", p_worker="w", p_kinds=["extract"], p_limit=50)
    (job,) = (c["job_id"] for c in claimed if c["session_id"] == gone)
    for where in ({"p_session_id": gone}, {"p_job_id": job}, {"p_session_id": kept}, {}):
        word = "zebra" if gone in where.values() or job in where.values() else "tiger"
        (recorded,) = call(db, "record_model_call", p_user_id=user, p_model="m",
                           p_request={"text": word}, **where)  # fmt: skip
        made = recorded["record_model_call"]
        call(db, "record_stream_events", p_user_id=user, p_call_id=made,
             p_events=[{"text_delta": word}])  # fmt: skip
        call(db, "record_protocol_event", p_user_id=user, p_event_type="mcp", p_call_id=made,
             p_payload={"text": word})  # fmt: skip
    call(db, "record_protocol_event", p_user_id=user, p_event_type="mcp", p_session_id=gone,
         p_payload={"text": "zebra"})  # fmt: skip
    (done,) = call(db, "forget_session", p_user_id=user, p_session_id=gone)
    counted = done["forget_session"]["counts"]
    assert [counted[t] for t in ("model_calls", "stream_events", "protocol_events")] == [2, 2, 3]
    assert traces(db, user, "zebra") == []
    assert {"model_calls", "stream_events", "protocol_events"} <= set(traces(db, user, "tiger"))


@pytest.mark.parametrize("how", ["detached", "dropped"])
def test_months_that_were_detached_or_dropped(db: Connection, user: uuid.UUID, how: str) -> None:
    """Their messages go where they still lie; what was learnt from them goes in any case."""
    gone, kept = open_session(db, user), open_session(db, user)
    old = (datetime.now(UTC) - timedelta(days=70)).isoformat()
    learnt = {}
    for session, word in ((gone, "zebra"), (kept, "tiger")):
        ((message, *_),) = append(db, user, session, said(f"I ride a {word}", created_at=old))
        append(db, user, session, said("and so on"))
        learnt[word] = call(db, "ingest_memories", p_user_id=user, p_session_id=session,
                            p_candidates=[{"content": f"Rides a {word}",
                                           "source_turn_ids": [str(message)]}])  # fmt: skip
    leaf = value(db, "select tableoid::regclass::text from recall.conversation_history"
                     " where user_id = %s and turn_index = 1 limit 1", [user])  # fmt: skip
    parent = value(db, f"select inhparent::regclass::text from pg_inherits"
                       f" where inhrelid = '{leaf}'::regclass")  # fmt: skip
    db.execute(f"alter table {parent} detach partition {leaf}".encode())
    if how == "dropped":
        db.execute(f"drop table {leaf}".encode())
    for session in (gone, kept):
        db.execute("update recall.sessions set first_retained_turn = 2 where user_id = %s"
                   " and session_id = %s", [user, session])  # fmt: skip
    (done,) = call(db, "forget_session", p_user_id=user, p_session_id=gone)
    counted = done["forget_session"]["counts"]
    assert counted["detached"] == (how == "detached")
    assert traces(db, user, "zebra") == []
    assert contents(db, user) == {"Rides a tiger"}
    if how == "detached":
        left = rows(db, f"select content from {leaf} where user_id = %s", [user])
        assert [row["content"] for row in left] == ["I ride a tiger"]
        db.execute(f"drop table {leaf}".encode())


def test_a_dispute_goes_with_what_it_contradicts_but_not_with_its_source(
    db: Connection, user: uuid.UUID
) -> None:
    """Erasure also takes repetitions of a memory; revoking a source only what derives from it."""
    session, other = open_session(db, user), open_session(db, user)
    call(db, "ingest_memories", p_user_id=user, p_session_id=session, p_candidates=[
        {"content": "Lives in Oslo", "slot": "home", "provenance": "user_stated",
         "source": "conversation"}])  # fmt: skip
    (row,) = call(db, "ingest_memories", p_user_id=user, p_session_id=other, p_candidates=[
        {"content": "Lives in Rome", "slot": "home", "source": "tool"}])  # fmt: skip
    assert row["outcome"] == "disputed"
    drawn = value(db, "select recall._drawn_memories(%s, %s, null)", [user, session])
    assert row["memory_id"] not in drawn
    call(db, "forget_session", p_user_id=user, p_session_id=session)
    assert traces(db, user, "Lives in") == []


def test_a_claim_that_was_refused_goes_too(db: Connection, user: uuid.UUID) -> None:
    """It says still what it contradicted; a claim against something else stays."""
    session = open_session(db, user)
    for slot, city in (("home", "Oslo"), ("birthplace", "Bonn")):
        stated, claim = (
            call(db, "ingest_memories", p_user_id=user, p_session_id=session, p_candidates=[
                {"content": text, "slot": slot} | more])[0]
            for text, more in (
                (f"Lives in {city}", {"provenance": "user_stated", "source": "conversation"}),
                (f"Lives not in {city}", {"source": "tool"}),
            )
        )  # fmt: skip
        assert claim["outcome"] == "disputed"
        call(db, "resolve_dispute", p_user_id=user, p_memory_id=claim["memory_id"], p_accept=False)
    call(db, "forget_memory", p_user_id=user, p_memory_id=stated["memory_id"])
    assert traces(db, user, "Bonn") == []
    assert len(rows(db, "select from recall.memory_store where user_id = %s", [user])) == 2


@pytest.mark.parametrize("is_accepted", [True, False])
def test_settled_request_to_retract_goes_with_the_memory_that_it_quotes(
    db: Connection, user: uuid.UUID, is_accepted: bool
) -> None:
    """Such a claim holds a copy of the text, and names the memory in the audit only."""
    session = open_session(db, user)
    kept, erased = (
        call(db, "remember", p_user_id=user, p_content=text)[0]["memory_id"]
        for text in ("Lives in Oslo", "Owns a tiger")
    )
    for memory in (kept, erased):
        (claim,) = call(db, "dispute_memory", p_user_id=user, p_memory_id=memory,
                        p_session_id=session)  # fmt: skip
        assert claim["outcome"] == "disputed"
        call(db, "resolve_dispute", p_user_id=user, p_memory_id=claim["memory_id"],
             p_accept=is_accepted)  # fmt: skip
    call(db, "forget_memory", p_user_id=user, p_memory_id=erased)
    assert traces(db, user, "tiger") == []
    assert len(rows(db, "select from recall.memory_store where user_id = %s", [user])) == 2


def test_restored_part_takes_its_consolidation_along(db: Connection) -> None:
    """A restored part no longer points to the consolidation, which still has its text."""
    world = furnish(db, "marked")
    user = world["user"]
    ask(db, leased(world, "merging"), world["merged"].obj, **NO_VECTORS)
    parts = rows(db, "select memory_id, content from recall.memory_store where user_id = %s"
                     " and end_reason = 'merged' and source <> 'consolidation'"
                     " and superseded_by in (select memory_id from recall.memory_store"
                     " where user_id = %s and source = 'consolidation')", [user, user])  # fmt: skip
    assert len(parts) == 2
    (back,) = call(db, "restore_memory", p_user_id=user, p_memory_id=parts[0]["memory_id"])
    text = parts[0]["content"]
    stated = "select count(*) from recall.memory_store where user_id = %s and content like %s"
    assert value(db, stated, [user, f"%{text}%"]) == 3
    call(db, "forget_memory", p_user_id=user, p_memory_id=back["restore_memory"])
    assert value(db, stated, [user, f"%{text}%"]) == 0
    assert traces(db, user, text) == []


def test_memory_goes_with_the_row_that_it_restores(db: Connection, user: uuid.UUID) -> None:
    """Another restoration has taken the old row over, so only the audit knows of the first."""
    first = remembered(db, user, "Owns a tiger")
    call(db, "retract_memory", p_user_id=user, p_memory_id=first)
    (second,) = call(db, "restore_memory", p_user_id=user, p_memory_id=first)
    (edited,) = call(db, "supersede_memory", p_user_id=user, p_memory_id=second["restore_memory"],
                     p_content="Owns a cat")  # fmt: skip
    (third,) = call(db, "restore_memory", p_user_id=user, p_memory_id=first)
    call(db, "forget_memory", p_user_id=user, p_memory_id=edited["supersede_memory"])
    left = rows(db, "select memory_id from recall.memory_store where user_id = %s", [user])
    assert [row["memory_id"] for row in left] == [third["restore_memory"]]


def test_driver_erases_a_memory_and_a_session(dsn: str, user: uuid.UUID) -> None:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        one = memory.remember(user, "I like tea").memory_id
        with memory.session(user=user, model="gpt-4o-mini") as chat:
            chat.append(user="hello")
        assert memory.privacy.forget_memory(user, one)["memory_store"] == 1
        assert memory.privacy.forget_session(user, chat.session_id)["conversation_history"] == 1
        document = memory.privacy.export_user(user)
        assert memory.privacy.forget_user(user)["counts"]["users"] == 1
        assert memory.privacy.import_user(document)["sessions"] == 0
