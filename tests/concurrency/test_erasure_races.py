"""A user, a conversation or a memory is forgotten while everything else happens.

Each call that can write begins before the erasure, which waits for it, and after, and waits itself.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from pgrecall.errors import NotFoundError
from support import call, do_job, raise_errors, rows, said, together, value, wait_for_lock
from support.everyfunction import ANSWERS, CALLS, Call, World, answers, furnish, learn
from support.scripted_model import fact
from support.traces import counts, furnished, traces, wait_for_all

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

OF_NOBODY = {
    "configure", "configure_maintenance", "register_model", "register_kind", "set_prompt",
    "reset_prompt", "uuidv7",
    "forget_user", "forget_memory", "forget_session", "clear_session", "replay_erasures",
}  # fmt: skip
"""What writes nothing of a user, or forgets itself."""

GROUPS = 4


def asking(function: str, arguments: str, label: str = "") -> Call:
    return Call(function, f"select * from recall.{function}(%(user)s, {arguments})", True, label)


FORGET_USER = Call("forget_user", "select recall.forget_user(%(user)s)")
FORGET_SESSION = asking("forget_session", "%(session)s")


def writing_calls(db: Connection) -> list[Call]:
    """Return the calls that can write something of a user, as the catalog has it."""
    volatile = {
        row["proname"]
        for row in rows(
            db,
            "select p.proname from pg_proc as p where p.pronamespace = 'recall'::regnamespace"
            " and p.provolatile = 'v'",
        )
    }
    return [asked for asked in CALLS if asked.function in volatile - OF_NOBODY]


def attempt(conn: Connection, asked: Call, world: World) -> Any:
    try:
        return conn.execute(asked.query.encode(), world).fetchall()
    except psycopg.Error as error:
        return error


def come_second(
    db: Connection, connect: Connect, erase: Call, calls: Iterable[Call], world: World
) -> tuple[dict[str, Any], set[str]]:
    """Begin the calls during an erasure; return what each came to, and which of them waited."""
    eraser = connect(autocommit=False)
    eraser.execute(erase.query.encode(), world)
    outcomes: dict[str, Any] = {}
    asked_of = {str(asked): asked for asked in calls}
    conns = {name: connect() for name in asked_of}

    def work(name: str) -> None:
        outcomes[name] = attempt(conns[name], asked_of[name], world)

    threads = [threading.Thread(target=work, args=(name,)) for name in conns]
    for thread in threads:
        thread.start()
    waited = wait_for_all(db, conns, outcomes)  # who only begins after it may make a new user
    eraser.commit()
    for thread in threads:
        thread.join(60)
    assert outcomes.keys() == conns.keys()
    for conn in conns.values():
        conn.close()
    return outcomes, waited


def come_first(
    db: Connection, connect: Connect, erase: Call, groups: Sequence[Iterable[Call]], world: World
) -> dict[str, Any]:
    """Let an erasure wait for calls, those of a group in one transaction; return what they did."""
    outcomes: dict[str, Any] = {}
    writers = [connect(autocommit=False) for _ in groups]
    for writer, calls in zip(writers, groups, strict=True):
        for asked in calls:
            writer.execute("savepoint before")
            outcomes[str(asked)] = outcome = attempt(writer, asked, world)
            if isinstance(outcome, psycopg.Error):
                assert (outcome.sqlstate or "").startswith("RC"), (asked, outcome)
                writer.execute("rollback to before")
    eraser, erased = connect(), []
    thread = threading.Thread(target=lambda: erased.append(attempt(eraser, erase, world)))
    thread.start()
    for writer in writers:
        wait_for_lock(db, eraser.info.backend_pid)
        writer.commit()
    thread.join(60)
    assert not thread.is_alive()
    assert not isinstance(erased[0], psycopg.Error), erased
    return outcomes


# --- a user


@pytest.fixture
def world(db: Connection) -> World:
    return furnished(db)


@pytest.mark.concurrent
@pytest.mark.parametrize("group", range(GROUPS))
def test_call_that_waited_for_forget_user_restores_no_row(
    db: Connection, connect: Connect, world: World, group: int
) -> None:
    """It finds nothing, or says that there is nothing; and no row of the user is there again."""
    calls = writing_calls(db)[group::GROUPS]
    assert len(calls) > 10
    outcomes, waited = come_second(db, connect, FORGET_USER, calls, world)
    assert len(waited) > 5
    for name, outcome in outcomes.items():
        if isinstance(outcome, psycopg.Error):
            assert outcome.sqlstate == "RC001", (name, outcome)
    assert not any(counts(db, world["user"]).values()), (waited, outcomes)


@pytest.mark.concurrent
def test_forget_user_erases_rows_of_a_call_that_just_committed(
    db: Connection, connect: Connect, world: World
) -> None:
    """All of them in one transaction, which the erasure waits for."""
    outcomes = come_first(db, connect, FORGET_USER, [writing_calls(db)], world)
    assert sum(not isinstance(outcome, psycopg.Error) for outcome in outcomes.values()) > 50
    assert not any(counts(db, world["user"]).values())
    left = rows(db, "select c.relname from pg_class as c where"
                    " c.relnamespace = 'recall'::regnamespace and c.relkind = 'r'"
                    " and not c.relispartition")  # fmt: skip
    for table in left:
        query = sql.SQL("select count(*) from {} as t where strpos(t::text, %s) > 0").format(
            sql.Identifier("recall", table["relname"])
        )
        (found,) = db.execute(query, [str(world["user"])]).fetchone() or (0,)
        assert found == 0, table


@pytest.mark.concurrent
@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
@pytest.mark.parametrize("group", range(GROUPS))
def test_a_snapshot_from_before_an_erasure_writes_nothing_of_the_user(
    db: Connection, connect: Connect, world: World, group: int, level: str
) -> None:
    """Every writer, in a transaction that still sees the user; it may be tried again."""
    calls = writing_calls(db)[group::GROUPS]
    conns = {}
    for asked in calls:
        conns[str(asked)] = conn = connect(autocommit=False)
        conn.execute(f"set transaction isolation level {level}".encode())
        seen = conn.execute("select from recall.users where user_id = %(user)s", world).fetchall()
        assert len(seen) == 1
    db.execute(FORGET_USER.query.encode(), world)
    outcomes = {}
    for asked in calls:
        conn = conns[str(asked)]
        outcomes[str(asked)] = attempt(conn, asked, world)
        try:
            conn.commit()
        except psycopg.Error as error:
            outcomes[str(asked)] = error
            conn.rollback()
    for asked in calls:
        outcome = outcomes[str(asked)]
        if (asked.of_user and str(asked) != "open_session existing") or isinstance(
            outcome, psycopg.Error
        ):
            assert isinstance(outcome, psycopg.Error), (asked, outcome)
            assert outcome.sqlstate in ("40001", "RC001"), (asked, outcome)
    assert not any(counts(db, world["user"]).values()), outcomes


@pytest.mark.concurrent
@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_snapshot_from_before_an_erasure_writes_nothing_of_the_session(
    db: Connection, connect: Connect, world: World, level: str
) -> None:
    conn = connect(autocommit=False)
    conn.execute(f"set transaction isolation level {level}".encode())
    conn.execute("select from recall.users")
    db.execute(FORGET_SESSION.query.encode(), world)
    outcome = attempt(conn, asking("put_working", "%(session)s, 't', 'k', %(changes)s"), world)
    assert isinstance(outcome, psycopg.Error)
    assert outcome.sqlstate == "40001"
    conn.rollback()


# --- a conversation

HERE = [
    asking("remember", "%(here)s, p_session_id => %(session)s", "here"),
    asking("remember", "%(here)s, p_slot => 'home', p_session_id => %(session)s", "slot, here"),
    asking("remember", "%(text)s, p_session_id => %(session)s", "duplicate, here"),
    asking("enqueue_job", "'summarize', %(session)s, %(word)s, %(said)s", "here"),
    asking("record_model_call", "'m', p_request => %(said)s, p_session_id => %(session)s", "here"),
    asking("record_model_call", "'m', p_request => %(said)s, p_job_id => %(extract_job)s", "job"),
    asking("record_protocol_event", "'mcp', p_payload => %(said)s, p_session_id => %(session)s",
           "here"),
    asking("record_protocol_event", "'mcp', p_payload => %(said)s, p_call_id => %(call)s", "call"),
]  # fmt: skip
"""Calls about the conversation that CALLS makes without one."""

NOT_HERE = {"record_model_call", "record_protocol_event", "import_user"}
"""Calls of CALLS that name none, and say what those above say; and an older document, which brings
back what it has, as it is asked to."""

LAST = {
    "pause_session", "close_session", "retract_turns", "pop_turns", "revoke_source",
    "clear_working", "release_expired_leases", "expire_sessions", "expire_working",
    "expire_items", "fail_job",
}  # fmt: skip
"""What ends something that the others write to."""

BY_ITSELF = {
    "append_messages", "open_session", "enqueue_job here", "record_model_call here",
    "record_model_call job", "record_stream_events", "record_protocol_event call", "put_working",
    "record_access", "extend_lease", "claim_jobs",
}  # fmt: skip
"""Calls that take neither the user's row nor the session's, so that they hold up nobody but who
forgets; what they write depends on no other lock."""


def talking(db: Connection) -> World:
    """Return a world with a conversation in which a word is said that stands nowhere else."""
    world = furnish(db, f"mark{uuid.uuid4().hex}")
    word = f"quagga{uuid.uuid4().hex}"
    db.execute("update recall.session_summaries set content = %s where session_id = %s",
               [word, world["session"]])  # fmt: skip
    tool = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return world | answers(db, world, ("summarized", "compacted"), word) | {
        "word": word,
        "here": f"has a {word}",
        "said": Jsonb({"text": word}),
        "messages": Jsonb(said(f"a {word}", f"the {word}")),
        "tools": Jsonb([{"role": "assistant", "tool_calls": [tool]},
                        {"role": "tool", "tool_call_id": "c1", "content": word}]),
        "candidates": Jsonb([{"content": f"{word} number {n}"} for n in range(3)]),
        "decisions": Jsonb([
            {"decision": "ADD", "content": f"{word} decided"},
            {"decision": "UPDATE", "target_id": str(world["memory"]), "content": f"{word} now"},
            {"decision": "DELETE", "target_id": str(world["goal"])}]),
    }  # fmt: skip


OF_NO_SESSION = ("llm", "merge", "pattern")
"""Jobs of the world that are about another session than the rest, or none."""

GONE = [({"type": "gone"},)]


def calls_here(db: Connection) -> list[Call]:
    calls = [asked for asked in writing_calls(db) if asked.function not in NOT_HERE]
    return sorted([*calls, *HERE], key=lambda asked: asked.function in LAST)


def left_of(db: Connection, world: World) -> dict[str, list[str]]:
    """Return where the conversation, its call or its word still stands."""
    words = [str(world["session"]), str(world["call"]), world["word"]]
    return {word: left for word in words if (left := traces(db, world["user"], word))}


@pytest.mark.concurrent
@pytest.mark.parametrize("group", range(GROUPS))
def test_call_that_waited_for_forget_session_restores_no_row(
    db: Connection, connect: Connect, group: int
) -> None:
    """A writer that waited for the erasure gets the error for an unknown session."""
    world, calls = talking(db), calls_here(db)[group::GROUPS]
    outcomes, waited = come_second(db, connect, FORGET_SESSION, calls, world)
    assert len(waited) > 10
    for asked in calls:
        outcome = outcomes[str(asked)]
        if isinstance(outcome, psycopg.Error):
            assert outcome.sqlstate == "RC001", (asked, outcome)
        elif asked in HERE:
            pytest.fail(f"{asked} answered {outcome}")
        elif asked.function == "next_request" and asked.label.split()[0] not in OF_NO_SESSION:
            assert outcome == GONE, asked
    assert left_of(db, world) == {}, (waited, outcomes)


@pytest.mark.concurrent
@pytest.mark.parametrize("by_itself", [True, False], ids=["each by itself", "one after another"])
def test_forget_session_erases_rows_of_a_call_that_just_committed(
    db: Connection, connect: Connect, by_itself: bool
) -> None:
    world = talking(db)
    db.execute("delete from recall.jobs where user_id <> %s", [world["user"]])  # else it is claimed
    db.execute("update recall.jobs set state = 'ready', lease_until = null, lease_token = null,"
               " worker = null where user_id = %s and job_id = %s and %s",
               [world["user"], world["summarize_job"], by_itself])  # fmt: skip
    calls = [a for a in calls_here(db) if (str(a) in BY_ITSELF) or not by_itself]
    groups = [[asked] for asked in calls] if by_itself else [calls]
    outcomes = come_first(db, connect, FORGET_SESSION, groups, world)
    worked = {name for name, done in outcomes.items() if not isinstance(done, psycopg.Error)}
    assert {str(asked) for asked in HERE if str(asked) in outcomes} <= worked
    if by_itself:
        assert worked == BY_ITSELF
        assert outcomes["claim_jobs"]
    else:
        assert len(worked) > 60
        ends = {name: end[0][0]["type"] for name, end in outcomes.items() if name.endswith(" end")}
        # the decision to delete a memory discards the state of the jobs that end after it
        assert [*ends.values()] == ["done"] * 3 + ["chat"] * 4, ends
    assert left_of(db, world) == {}, outcomes


@pytest.mark.concurrent
@pytest.mark.parametrize("comes_first", ["eraser", "writer"])
def test_forget_session_erases_memories_just_learnt_from_it(
    db: Connection, connect: Connect, comes_first: str
) -> None:
    """By the job of a language model: facts, an episode, and a change of an older memory."""
    world = talking(db)
    user, job = world["user"], world["llm_job"]
    world["session"] = value(db, "select session_id from recall.jobs where user_id = %s"
                                 " and job_id = %s", [user, job])  # fmt: skip
    finish = asking("next_request", "%(llm_job)s, %(llm_token)s, %(model)s, %(decided)s")
    if comes_first == "writer":
        outcomes = come_first(db, connect, FORGET_SESSION, [[finish]], world)
    else:
        outcomes, _ = come_second(db, connect, FORGET_SESSION, [finish], world)
    [(end,)] = outcomes["next_request"]
    assert end["type"] == {"writer": "done", "eraser": "gone"}[comes_first]
    for word in (str(world["session"]), "learnt", "counted to thirty"):
        assert traces(db, user, word) == [], word


@pytest.mark.concurrent
def test_writer_that_locked_the_user_first_ends_before_the_erasure(
    db: Connection, connect: Connect, world: World
) -> None:
    """The erasure waits for the writer without holding a lock that the writer needs."""
    writer, eraser, erased = connect(autocommit=False), connect(), []
    call(writer, "record_protocol_event", p_user_id=world["user"], p_event_type="mcp")
    thread = threading.Thread(target=lambda: erased.append(attempt(eraser, FORGET_SESSION, world)))
    thread.start()
    wait_for_lock(db, eraser.info.backend_pid)
    call(writer, "remember", p_user_id=world["user"], p_content="I like tea")
    writer.commit()
    thread.join(60)
    assert erased
    assert not isinstance(erased[0], psycopg.Error), erased


# --- a memory

ABOUT = {
    "supersede": asking("supersede_memory", "%(memory)s, %(new_text)s"),
    "reinforce": asking("reinforce_memory", "%(memory)s, true"),
    "validate": asking("validate_memory", "%(memory)s"),
    "retract": asking("retract_memory", "%(memory)s, %(text)s"),
    "embed": asking("add_embedding", "%(memory)s, %(vector)s, 'other-model'"),
    "update": asking("apply_decisions", "%(session)s, %(update)s", "update"),
    "delete": asking("apply_decisions", "%(session)s, %(delete)s", "delete"),
    "none": asking("apply_decisions", "%(session)s, %(none)s", "none"),
    "extract": asking(
        "next_request", "%(llm_job)s, %(llm_token)s, %(model)s, %(decided)s", "extract"
    ),
    "embed job": asking(
        "next_request", "%(embed_job)s, %(embed_token)s, %(offer)s, %(embedded)s", "embed"
    ),
    "repeat": asking("enqueue_job", "'merge', null, 'again', %(merge)s", "merge"),
    "access": asking("record_access", "array[%(memory)s::uuid], '{0.5}'"),
    "language": asking("configure_user", '\'{"language": "german"}\''),
    "flush": Call("flush_access_log", "select recall.flush_access_log()"),
    "promote": Call("promote_memories", "select recall.promote_memories()"),
    "expire": Call("expire_memories", "select recall.expire_memories()"),
    "decay": Call("decay_memories", "select recall.decay_memories(p_as_of => %(later)s)"),
    "claim": Call("claim_jobs", "select recall.claim_jobs('racer', p_limit => 100)"),
}
"""Who has something to do with a memory at this moment, and how it would bring it back."""

MERGE = asking("next_request", "%(merging_job)s, %(merging_token)s, %(model)s, %(merged)s", "merge")
RETURN = asking("fail_job", "%(merging_job)s, %(merging_token)s, 'boom'")
ACHIEVE = asking("achieve_goal", "%(memory)s")
RESTORE = asking("restore_memory", "%(memory)s")
ACCEPT = asking("resolve_dispute", "%(disputed)s, true", "accepted")
REFUSE = asking("resolve_dispute", "%(disputed)s, false", "refused")
NOTICE = asking(
    "next_request", "%(noticing_job)s, %(noticing_token)s, %(model)s, %(noticed)s", "pattern"
)

SECOND: list[tuple[str | int, list[Call], str]] = [
    ("part", [MERGE, RETURN], "thing number 21"),
    ("goal", [ACHIEVE, ABOUT["embed job"]], "marathon"),
    ("retracted", [RESTORE], "was wrong"),
    ("disputed", [ACCEPT, REFUSE], "works at the mill"),
    ("protected", [ACCEPT, REFUSE], "works at the"),
    ("episode", [NOTICE], "keeps asking"),
    (7, [ABOUT[name] for name in ABOUT if name != "repeat"], "thing number 7"),
]
"""Which memory is forgotten, what waits for it, and what stands nowhere after. Left out is who
gives a job its id: the job will not find it."""

FIRST: list[tuple[str | int, list[Call], str]] = [
    *(
        (number, [ABOUT[name] for name in names], f"thing number {number}")
        for number, names in (
            (11, ["supersede"]), (12, ["extract", "repeat"]), (13, ["embed job", "embed"]),
            (14, ["update", "flush"]), (15, ["none", "language", "claim", "reinforce"]))
    ),
    ("part", [MERGE], "thing number 21"),
    ("retracted", [RESTORE], "was wrong"),
    ("disputed", [ACCEPT], "works at the mill"),
    ("episode", [NOTICE], "keeps asking"),
]  # fmt: skip
"""The same, of what writes something new of it."""

ENDING: list[tuple[str | int, list[Call], str]] = [
    ("goal", [ACHIEVE, ABOUT["embed job"]], "marathon"),
    ("protected", [REFUSE], "works at the"),
    (11, [ABOUT["delete"], ABOUT["expire"]], "thing number 11"),
]
"""More of these, which would be in the way of those."""


def about(db: Connection, world: World, forgotten: str | int, calls: list[Call]) -> World:
    """Return the world with what these calls about one of its memories need."""
    word = f"thing number {forgotten}"
    if isinstance(forgotten, int):
        target = str(value(db, "select memory_id from recall.memory_store where user_id = %s"
                               " and content = %s and ended_at is null",
                           [world["user"], f"{world['mark']} likes {word}"]))  # fmt: skip
    else:
        target = str(world[forgotten])
    if ABOUT["extract"] in calls:
        db.execute("update recall.jobs set work = null where job_id = %s", [world["llm_job"]])
        learn(db, world, [fact(f"likes {word} even more", turns=[1])])
    if ABOUT["embed job"] in calls:
        db.execute("delete from recall.memory_embedding where memory_id = %s", [target])
    # an erasure before this one has discarded what the jobs had asked
    ended = [key for key in ANSWERS if any(f"%({key})s" in asked.query for asked in calls)]
    return world | answers(db, world, ended) | {
        "memory": uuid.UUID(target),
        "new_text": f"really likes {word}", "text": f"no longer likes {word}",
        "update": Jsonb([{"decision": "UPDATE", "target_id": target,
                          "content": f"likes {word} and more"}]),
        "delete": Jsonb([{"decision": "DELETE", "target_id": target}]),
        "none": Jsonb([{"decision": "NONE", "target_id": target, "content": f"likes {word} so"}]),
        "merge": Jsonb({"tag": "x", "kind": "fact", "memory_ids": [target]}),
    }  # fmt: skip


FORGET_MEMORY = asking("forget_memory", "%(memory)s")


def left_of_memory(
    db: Connection, world: World, forgotten: str | int, word: str
) -> dict[str, list[str]]:
    """Return where a memory still stands (the audit of what a claim contradicted names it)."""
    db.execute("select recall.flush_access_log()")
    words = [word] if forgotten == "disputed" else [word, str(world["memory"])]
    return {word: left for word in words if (left := traces(db, world["user"], word))}


@pytest.mark.concurrent
def test_call_that_waited_for_forget_memory_restores_no_row(
    db: Connection, connect: Connect
) -> None:
    """No row, vector, event or copy of it."""
    furnished_world = furnish(db, f"mark{uuid.uuid4().hex}")
    for forgotten, calls, word in SECOND:
        world = about(db, furnished_world, forgotten, calls)
        outcomes, waited = come_second(db, connect, FORGET_MEMORY, calls, world)
        assert waited, forgotten
        for name, outcome in outcomes.items():
            if isinstance(outcome, psycopg.Error):
                assert outcome.sqlstate == "RC001", (name, outcome)
        assert left_of_memory(db, world, forgotten, word) == {}, (forgotten, outcomes)


@pytest.mark.concurrent
@pytest.mark.parametrize("cases", [FIRST, ENDING], ids=["first", "ending"])
def test_forget_memory_erases_rows_of_a_call_that_just_committed(
    db: Connection, connect: Connect, cases: list[tuple[str | int, list[Call], str]]
) -> None:
    furnished_world = furnish(db, f"mark{uuid.uuid4().hex}")
    db.execute("update recall.memory_store set expires_at = now() - interval '1 hour'"
               " where user_id = %s and content like '%%number 11'",
               [furnished_world["user"]])  # fmt: skip
    for forgotten, calls, word in cases:
        world = about(db, furnished_world, forgotten, calls)
        outcomes = come_first(db, connect, FORGET_MEMORY, [calls], world)
        for name, outcome in outcomes.items():
            assert not isinstance(outcome, psycopg.Error), (name, outcome)
            assert outcome not in ([], [(False,)]), name
            assert not name.startswith("next_request") or outcome[0][0]["type"] == "done", outcome
        assert left_of_memory(db, world, forgotten, word) == {}, (forgotten, outcomes)


# --- everything at once


@pytest.mark.concurrent
def test_erasures_beside_writers_and_sweeps_end_without_a_deadlock(
    db: Connection, connect: Connect
) -> None:
    """Nobody waits for ever, nobody fails but for want of what is gone."""
    world = talking(db)
    user, session = world["user"], world["session"]
    memories = [row["memory_id"] for row in call(db, "get_memories", p_user_id=user)][:8]
    db.execute("delete from recall.jobs where user_id = %s and state = 'ready'", [user])
    conns = [connect() for _ in range(8)]

    def tried(conn: Connection, function: str, **arguments: Any) -> list[dict[str, Any]]:
        for _ in range(3):
            try:
                return call(conn, function, **arguments)
            except NotFoundError:
                return []
            except psycopg.errors.InternalError_ as error:
                # the server still counts an update that is being rolled back: docs/reference/errors
                if "more than one updating member" not in str(error):
                    raise
        return []

    def talks(conn: Connection) -> None:
        here = {"p_user_id": user, "p_session_id": session}
        for number in range(12):
            tried(conn, "append_messages", **here, p_messages=said(f"{world['word']} {number}"))
            tried(conn, "put_working", **here, p_task_id="t", p_key=str(number), p_value={})
            tried(conn, "remember", **here, p_content=f"{world['word']} {number}")
            tried(conn, "record_model_call", **here, p_model="m", p_request={"x": world["word"]})

    def works(conn: Connection) -> None:
        for _ in range(6):
            kinds = ["compact", "summarize", "embed"]
            for row in call(conn, "claim_jobs", p_worker="w", p_kinds=kinds, p_limit=3):
                said = {"summary": world["word"]}
                do_job(conn, row, {"compact": said, "summarize": said})

    def uses(conn: Connection) -> None:
        for memory in memories * 2:
            tried(conn, "supersede_memory", p_user_id=user, p_memory_id=memory,
                  p_content=f"once {memory}")  # fmt: skip
            tried(conn, "record_access", p_user_id=user, p_memory_ids=[memory], p_relevance="{1}")

    def sweeps(conn: Connection) -> None:
        for task in ("flush_access_log", "expire_memories", "promote_memories", "expire_sessions",
                     "enqueue_missing_embeddings", "enqueue_merges", "purge_expired"):  # fmt: skip
            call(conn, task)

    def forgets(conn: Connection, ids: list[uuid.UUID]) -> None:
        for memory in ids:
            tried(conn, "forget_memory", p_user_id=user, p_memory_id=memory)
        tried(conn, "forget_session", p_user_id=user, p_session_id=session)

    raise_errors(
        together(
            [
                lambda: talks(conns[0]),
                lambda: talks(conns[1]),
                lambda: works(conns[2]),
                lambda: works(conns[3]),
                lambda: uses(conns[4]),
                lambda: sweeps(conns[5]),
                lambda: forgets(conns[6], memories),
                lambda: forgets(conns[7], memories[::-1]),
            ]
        )
    )
    db.execute("select recall.flush_access_log()")
    assert left_of(db, world) == {}
    for memory in memories:
        assert traces(db, user, str(memory)) == []
