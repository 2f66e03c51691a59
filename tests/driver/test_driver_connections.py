"""Where the driver's calls go: identity, timeouts, lost connections, connections of the caller."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool

from pgrecall import (
    AgentMemory,
    CallTimeoutError,
    ChatSession,
    Limits,
    NotAllowedError,
    NotFoundError,
)
from pgrecall._signatures import SIGNATURES
from pgrecall._sql import Call
from pgrecall._sync.transport import Transport
from pgrecall.settings import Settings
from support import login_role, open_session, our_role
from support.fakes import WordEmbedder

FUNCTIONS = Path(__file__).parents[2] / "functions"


@pytest.fixture
def memory(dsn: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        yield memory


@pytest.fixture
def chat(memory: AgentMemory, user: uuid.UUID) -> ChatSession:
    chat = memory.session(user=user, model="gpt-4o-mini")
    chat.open()
    return chat


SHOW = b"""
select current_setting('recall.user_id', true), current_setting('statement_timeout'),
       current_setting('idle_in_transaction_session_timeout'), pg_backend_pid()
"""


def test_identity_and_timeouts_end_with_the_transaction_of_a_call(
    dsn: str, user: uuid.UUID
) -> None:
    """Identity and timeouts hold for the transaction, and are gone after it (PgBouncer)."""
    with ConnectionPool(dsn, min_size=1, max_size=1, open=True) as pool:
        transport = Transport(pool, Limits(statement_timeout=1.5, idle_timeout=7))
        show = Call("", SHOW, {"user_id": user})
        _, [row] = transport.send(show, False)
        assert row[:3] == (str(user), "1500ms", "7s")
        with pool.connection() as conn:
            row = conn.execute(SHOW).fetchone()
            assert row is not None
            assert (row[0] or "", row[1]) == ("", "0")


def test_a_connection_of_our_own_keeps_its_timeouts_and_no_user(dsn: str, user: uuid.UUID) -> None:
    transport = Transport(dsn, Limits(statement_timeout=1.5, idle_timeout=7, max_connections=1))
    try:
        transport.send(Call.of("open_session", user_id=user, model_id="m"), False)
        call = Call.of("list_sessions", user_id=user)
        seen = b"select current_setting('recall.user_id', true)"
        call = replace(call, text=call.text.replace(b"select *", seen))
        for _ in range(3):
            assert transport.send(call, False)[1] == [(str(user),)]
            assert not transport.send(Call("", SHOW, {}), False)[1][0][0]
        shown = [transport.send(Call("", SHOW, {}), False, seconds)[1][0][:3]
                 for seconds in (None, None, 9.0, None)]  # fmt: skip
        assert [row[1:] for row in shown] == [
            (t, "7s") for t in ("1500ms", "1500ms", "9s", "1500ms")
        ]
        with pytest.raises(psycopg.errors.DivisionByZero):
            transport.send(Call("", b"select 1 / 0", {}), False, 3.0)
        assert transport.send(Call("", SHOW, {}), False)[1][0][1] == "1500ms"
        show_key = Call("", b"select coalesce(current_setting('recall.user_key', true), '')", {})
        assert transport.send(replace(show_key, keys="3 4"), False)[1] == [("3 4",)]
        assert transport.send(show_key, False)[1] == [("",)]
        transport.send(replace(show_key, keys="3 4"), False)
        with transport._pool().connection() as conn:
            assert conn.execute(show_key.text).fetchone() == ("",)
    finally:
        transport.close()


def test_the_model_of_a_vector_is_named_for_its_call_alone(
    dsn: str, user: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls with and without a vector alternate, each in one statement."""
    transport = Transport(dsn, Limits(max_connections=1))
    seen = b"select current_setting('recall.user_id', true), current_setting('"
    statements: list[bytes] = []
    execute = psycopg.Cursor.execute

    def spied(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        statements.append(query)
        return execute(self, query, *arguments, **options)

    try:
        transport.send(Call.of("open_session", user_id=user, model_id="m"), False)
        plain = Call.of("list_sessions", user_id=user)
        text = plain.text.replace(b"select *", seen + b"recall.embedding_model', true)")
        plain = replace(plain, text=text)
        monkeypatch.setattr(psycopg.Cursor, "execute", spied)
        for _ in range(3):
            assert transport.send(replace(plain, model="mö's"), False)[1] == [(str(user), "mö's")]
            ((found_user, model),) = transport.send(plain, False)[1]
            assert (found_user, model or "") == (str(user), "")
        assert len(statements) == 6
    finally:
        transport.close()


def test_opening_plans_what_a_search_needs(dsn: str, user: uuid.UUID) -> None:
    """The statements that compare and rank memories have their plans before the first search."""
    plans = b"""
        select left(ident, 100) from pg_catalog.pg_backend_memory_contexts
         where name = 'CachedPlan' and length(ident) > 100
    """
    limits = Limits(min_connections=1, max_connections=1)
    with AgentMemory.connect(dsn, embedder=False, limits=limits) as memory:
        memory.remember(user, "Likes green tea.")
        before = {text for (text,) in memory._core.memory.query(plans)}
        assert [hit.content for hit in memory.search(user, "green tea")] == ["Likes green tea."]
        after = {text for (text,) in memory._core.memory.query(plans)}
    for function in ("_match_words", "_find_memories", "_rank_memories"):
        source = next(FUNCTIONS.rglob(f"{function}.sql")).read_text(encoding="utf-8")
        planned = {text for text in after if text in source}
        assert planned, function
        assert planned <= before


def test_a_role_that_may_not_search_opens_a_memory(dsn: str, db: psycopg.Connection) -> None:
    with login_role(db) as login:
        role = sql.Identifier(login["user"])
        db.execute(sql.SQL("grant usage on schema recall to {}").format(role))
        db.execute(sql.SQL("grant execute on function recall.version() to {}").format(role))
        with (
            AgentMemory.connect(make_conninfo(dsn, **login), embedder=False) as memory,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            memory.search(uuid.uuid4(), "tea")


def test_every_function_of_vectors_takes_a_user() -> None:
    """The model of a vector is named beside the user, so that such a call needs one."""
    with_vectors = {name for name, types in SIGNATURES.items()
                    if any(kind.startswith("halfvec") for kind in types.values())}  # fmt: skip
    assert len(with_vectors) >= 8
    assert {next(iter(SIGNATURES[name])) for name in with_vectors} == {"user_id"}


def test_transaction_has_no_timeout_of_an_earlier_call(dsn: str) -> None:
    transport = Transport(dsn, Limits(statement_timeout=1.5, idle_timeout=7, max_connections=1))
    try:
        transport.send(Call("", SHOW, {}), False)
        with transport.transaction() as same:
            assert same.send(Call("", SHOW, {}), False)[1][0][1:3] == ("0", "0")
    finally:
        transport.close()


def test_fewer_free_connections_than_wanted_are_enough(dsn: str, db: psycopg.Connection) -> None:
    with login_role(db, member_of=["recall_reader"]) as login:
        db.execute(f"alter role {login['user']} connection limit 2".encode())
        with AgentMemory.connect(
            make_conninfo(dsn, **login), embedder=False,
            limits=Limits(min_connections=4, max_connections=4, connect_timeout=3),
        ) as memory:  # fmt: skip
            assert memory.admin.health()


def test_calls_of_two_users_on_one_connection_stay_apart(dsn: str) -> None:
    with ConnectionPool(dsn, min_size=1, max_size=1, open=True) as pool:
        memory = AgentMemory.connect(pool, embedder=False)
        chats = [memory.session(user=uuid.uuid4(), model="m") for _ in range(2)]
        for round_ in range(10):
            for number, chat in enumerate(chats):
                chat.append(user=f"{number} {round_}")
        for number, chat in enumerate(chats):
            assert {(m.content or "")[0] for m in chat.messages()} == {str(number)}
            assert memory.sessions.get(chat.user_id, chats[1 - number].session_id) is None
            with pytest.raises(NotFoundError):
                memory.sessions.messages(chat.user_id, chats[1 - number].session_id)


@pytest.mark.parametrize("pooler", [None, False, True])
def test_nothing_is_prepared_through_a_pooler(
    dsn: str, user: uuid.UUID, pooler: bool | None
) -> None:
    """A pooler gives each transaction another backend, where the statements are not known."""
    limits = Limits(pooler=pooler, max_connections=1)
    with AgentMemory.connect(dsn, embedder=False, limits=limits) as memory:
        for number in range(8):
            memory.remember(user, f"User likes tea number {number}")
            assert len(memory.search(user, "tea")) == number + 1
        ((count,),) = memory._core.write.query(b"select count(*) from pg_prepared_statements")
        assert (count > 0) == (pooler is not True)


def test_statement_timeout_ends_a_call_and_the_client_goes_on(dsn: str) -> None:
    limits = Limits(statement_timeout=0.2)
    with AgentMemory.connect(dsn, embedder=False, limits=limits) as memory:
        with pytest.raises(CallTimeoutError) as caught:
            memory._core.write.query(b"select pg_sleep(5)")
        assert caught.value.sqlstate == "57014"
        assert memory.admin.version()


def test_erasure_names_the_process_that_it_has_waited_for(
    dsn: str, db: psycopg.Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    write = "select recall.put_working(%s, %s, 't', 'k', to_jsonb(%s))"
    db.execute(write, [user, session, 1])
    impatient = make_conninfo(dsn, options="-c lock_timeout=200ms")
    with psycopg.connect(dsn) as writer, AgentMemory.connect(impatient, embedder=False) as memory:
        writer.execute(write, [user, session, 2])
        with pytest.raises(CallTimeoutError, match="is still open") as caught:
            memory.privacy.forget_user(user)
        assert caught.value.sqlstate == "55P03"
        assert f"Process {writer.info.backend_pid}." in (caught.value.hint or "")
        assert "pg_terminate_backend" in (caught.value.hint or "")
        writer.rollback()
        memory.privacy.forget_user(user)


def test_clearing_a_session_may_wait_longer_than_other_calls(
    dsn: str, db: psycopg.Connection, user: uuid.UUID
) -> None:
    """Like every erasure it names the process, rather than statement_timeout."""
    session = open_session(db, user)
    impatient = make_conninfo(dsn, options="-c lock_timeout=1500ms")
    limits = Limits(statement_timeout=1)
    with (
        psycopg.connect(dsn) as writer,
        AgentMemory.connect(impatient, embedder=False, limits=limits) as memory,
        memory.session(user=user, session_id=session) as chat,
    ):
        writer.execute("select recall.remember(%s, 'Ada likes tea.')", [user])
        with pytest.raises(CallTimeoutError, match="is still open") as caught:
            chat.clear()
        assert caught.value.sqlstate == "55P03"
        writer.rollback()
        assert "sessions" not in chat.clear()


def kill(db: psycopg.Connection, application: str = "pgrecall") -> int:
    """End all connections of the driver to the module's database."""
    cursor = db.execute(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
        " where application_name = %s and datname = current_database()",
        (application,),
    )
    return cursor.rowcount


@pytest.mark.slow
def test_appends_are_stored_once_when_connections_are_lost(
    chat: ChatSession, db: psycopg.Connection
) -> None:
    """Every append is stored once, every read comes through, whenever connections are lost."""
    chat.append(user="first")
    for number in range(5):
        assert kill(db) >= 1
        chat.append(user=f"m{number}")
        assert kill(db) >= 1
        assert len(chat.messages()) == number + 2
    assert [m.turn_index for m in chat.messages()] == [6, 5, 4, 3, 2, 1]


def test_append_whose_connection_is_lost_is_stored_once(
    chat: ChatSession, db: psycopg.Connection, dsn: str, connect: Callable[..., Any]
) -> None:
    """The server ends the connection in the middle of an append: sent again, stored once."""
    blocker = connect(autocommit=False)
    blocker.execute(
        "select from recall.sessions where session_id = %s for update", (chat.session_id,)
    )
    appended: list[Any] = []
    thread = threading.Thread(target=lambda: appended.extend(chat.append(user="once")))
    thread.start()
    while kill_waiting(db) == 0:
        pass
    blocker.rollback()
    thread.join(20)
    assert [a.inserted for a in appended] == [True]
    assert chat.refresh().turn_count == 1


def kill_waiting(db: psycopg.Connection) -> int:
    return db.execute(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
        " where application_name = 'pgrecall' and datname = current_database()"
        " and wait_event_type = 'Lock'"
    ).rowcount


def test_changes_without_a_request_id_are_not_sent_again(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    memory.admin.version()
    kill(db)
    with pytest.raises(psycopg.OperationalError):
        memory.admin.configure_user(user, default_context_window=5000)


@pytest.mark.parametrize(
    "error",
    [
        psycopg.errors.SerializationFailure,
        psycopg.errors.DeadlockDetected,
        psycopg.errors.InternalError_,
        psycopg.errors.FeatureNotSupported,
    ],
)
def test_calls_are_sent_again_after_an_error_that_rolled_them_back(
    chat: ChatSession,
    memory: AgentMemory,
    user: uuid.UUID,
    error: type[psycopg.Error],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twice, also a call without a request id; a third error is raised."""
    memory.users.id(user)
    real = memory._core.write.transport._pooled
    failures: list[int] = []

    most = 2

    def conflicting(*arguments: Any) -> Any:
        if len(failures) < most:
            failures.append(1)
            raise error
        return real(*arguments)

    monkeypatch.setattr(memory._core.write.transport, "_pooled", conflicting)
    assert len(chat.append(user="hello")) == 1
    failures.clear()
    assert memory.remember(user, "Ada uses Vim.").outcome == "added"
    failures.clear()
    most = 3
    with pytest.raises(error):
        memory.remember(user, "Ada uses Emacs.")
    assert len(failures) == 3


@contextmanager
def upgraded(db: psycopg.Connection, function: str) -> Iterator[None]:
    """Let a function return one more column, as after an upgrade."""
    name, signature, arguments, result = db.execute(
        "select p.proname, p.oid::regprocedure::text, pg_get_function_arguments(p.oid),"
        " pg_get_function_result(p.oid) from pg_proc as p where p.oid = %s::regproc",
        [function],
    ).fetchone()  # type: ignore[misc]
    places = ", ".join(f"${place}" for place, one in enumerate(arguments.split(","), 1) if one)
    more = result.replace("TABLE(", "TABLE(mood text, ")
    types = signature.removeprefix(function)
    with db.transaction():
        db.execute(f"alter function {signature} rename to {name}_before")
        db.execute(
            f"create function {function}({arguments}) returns {more} language sql"
            f" as $$ select 'calm', f.* from {function}_before({places}) as f $$"
        )
    try:
        yield
    finally:
        with db.transaction():
            db.execute(f"drop function {signature}")
            db.execute(f"alter function {function}_before{types} rename to {name}")


def test_connections_with_a_plan_from_before_an_upgrade_are_replaced(
    memory: AgentMemory, db: psycopg.Connection
) -> None:
    """An upgrade that adds a column to a result leaves 0A000 in connections that prepared it."""
    for _ in range(60):
        memory.admin.embedding_migration()
    with upgraded(db, "recall.get_embedding_migration"):
        for _ in range(8):
            assert memory.admin.embedding_migration() is None


def test_reads_on_a_standby_leave_plans_from_before_an_upgrade(
    dsn: str, chat: ChatSession, db: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    """The primary answers once, then new connections to the standby do."""
    chat.append(user="hello")
    with AgentMemory.connect(
        dsn, history_dsn=make_conninfo(dsn, application_name="standby"), embedder=False,
        limits=Limits(max_connections=1),
    ) as memory:  # fmt: skip

        def said() -> list[str | None]:
            return [one.content for one in memory.sessions.messages(chat.user_id, chat.session_id)]

        for _ in range(10):
            assert said() == ["hello"]
        caplog.set_level(logging.INFO, "pgrecall")
        with upgraded(db, "recall.get_messages"):
            for _ in range(10):
                assert said() == ["hello"]
    assert caplog.text.count("is sent to the primary") == 1


def test_refused_call_logs_no_warning(
    memory: AgentMemory, user: uuid.UUID, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(50):
            with pytest.raises(NotFoundError):
                memory.sessions.messages(user, uuid.uuid4())
    assert caplog.text == ""


# The caller's own


def test_joining_leaves_the_transaction_to_the_caller(
    memory: AgentMemory, user: uuid.UUID, connect: Callable[..., Any]
) -> None:
    conn = connect(autocommit=False)
    joined = memory.joining(conn)
    chat = joined.session(user=user, model="m")
    chat.append(user="hello")
    assert conn.info.transaction_status == TransactionStatus.INTRANS
    assert memory.sessions.list(user) == []  # not committed
    with pytest.raises(NotFoundError):  # a refusal leaves the transaction usable
        joined.sessions.messages(user, uuid.uuid4())
    chat.append(user="more")
    conn.rollback()
    assert memory.sessions.list(user) == []

    chat = joined.session(user=user, model="m")
    chat.append(user="hello")
    conn.commit()
    assert [session.turn_count for session in memory.sessions.list(user)] == [1]
    joined.close()
    assert not conn.closed


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_transaction_of_the_caller_keeps_its_timeouts(
    user: uuid.UUID, connect: Callable[..., Any], autocommit: bool
) -> None:
    """Without autocommit a call begins it; then each later one does, too."""
    conn = connect(autocommit=autocommit)
    transport = Transport(conn, Limits(statement_timeout=1.5, idle_timeout=7))
    for own in ("0", "9s"):
        conn.execute(f"set statement_timeout = '{own}'")
        for _ in range(3):
            if not autocommit:
                conn.commit()
            _, [during] = transport.send(Call("", SHOW, {"user_id": user}), False)
            assert during[:3] == (str(user), *(("1500ms", "7s") if autocommit else (own, "0")))
            with pytest.raises(psycopg.errors.DivisionByZero):
                transport.send(Call("", b"select 1 / 0", {"user_id": user}), False)
            after = conn.execute(SHOW).fetchone()
            assert after[1:3] == (own, "0")


def test_joining_in_autocommit_commits_each_call(
    memory: AgentMemory, user: uuid.UUID, connect: Callable[..., Any]
) -> None:
    conn = connect()
    joined = memory.joining(conn)
    joined.session(user=user, model="m").append(user="hello")
    assert conn.info.transaction_status == TransactionStatus.IDLE
    assert len(memory.sessions.list(user)) == 1
    with conn.transaction(force_rollback=True):
        joined.session(user=user, model="m").append(user="hello")
    assert len(memory.sessions.list(user)) == 1


def test_identity_of_the_caller_is_the_users(
    memory: AgentMemory, user: uuid.UUID, connect: Callable[..., Any]
) -> None:
    conn = connect(autocommit=False)
    joined = memory.joining(conn)
    joined.sessions.list(user)
    with pytest.raises(NotAllowedError):
        conn.execute("select * from recall.list_sessions(%s)", (uuid.uuid4(),))


@pytest.mark.parametrize("autocommit", [True, False])
def test_pool_of_the_caller_is_used_and_left_open(
    dsn: str, user: uuid.UUID, autocommit: bool
) -> None:
    with ConnectionPool(
        dsn,
        open=True,
        min_size=1,
        kwargs={"autocommit": autocommit, "row_factory": psycopg.rows.dict_row},
    ) as pool:
        with AgentMemory.connect(pool, embedder=False) as memory:
            memory.session(user=user, model="m").append(user="hello")
            assert [s.turn_count for s in memory.sessions.list(user)] == [1]
        assert not pool.closed


def test_calls_go_to_the_server_of_their_kind(
    dsn: str, user: uuid.UUID, db: psycopg.Connection
) -> None:
    names = {
        kind: make_conninfo(dsn, application_name=f"test_{kind}")
        for kind in ("write", "history", "memory", "worker")
    }
    with AgentMemory.connect(
        names["write"],
        history_dsn=names["history"],
        memory_dsn=names["memory"],
        worker_dsn=names["worker"],
        embedder=False,
    ) as memory:
        chat = memory.session(user=user, model="m")
        chat.append(user="hello there, this is me")
        chat.messages()
        memory.memories.list(user)
        chat.context("hello")
        memory.worker().run_until_idle()
        found = db.execute(
            "select distinct application_name from pg_stat_activity"
            " where application_name like 'test\\_%' and datname = current_database()"
        ).fetchall()
    assert {name for (name,) in found} >= {f"test_{kind}" for kind in names}


def test_reads_work_read_only(
    dsn: str, chat: ChatSession, memory: AgentMemory, user: uuid.UUID
) -> None:
    """As on a standby: every read of the driver in a read-only transaction."""
    chat.append(user="hello")
    read_only = make_conninfo(dsn, options="-c default_transaction_read_only=on")
    with AgentMemory.connect(read_only, embedder=False) as reader:
        assert len(reader.sessions.messages(user, chat.session_id)) == 1
        reader.sessions.list(user)
        reader.search(user, "hello")
        reader.memories.list(user)
        reader.sessions.search_messages(user, "hello")
        reader.admin.health()
        opened = reader.session(user=user, session_id=chat.session_id)
        opened.compile("hello")
        opened.explain("hello")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            reader.remember(user, "x")


def test_from_environment_reads_its_variables(
    dsn: str, user: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGRECALL_DSN", dsn)
    monkeypatch.setenv("PGRECALL_STATEMENT_TIMEOUT", "2.5")
    with AgentMemory.from_environment() as memory:
        assert memory.limits == Limits(statement_timeout=2.5)
        assert memory.sessions.list(user) == []
    for word, pooler in (("auto", None), ("on", True), ("off", False)):
        monkeypatch.setenv("PGRECALL_POOLER", word)
        assert Settings().limits().pooler is pooler
    monkeypatch.setenv("PGRECALL_DSN", "")
    assert Settings().dsn is None


def test_client_that_was_not_closed_does_not_block_the_exit(dsn: str) -> None:
    """A script that closes nothing ends."""
    program = (
        "import sys; from pgrecall import AgentMemory\n"
        "memory = AgentMemory.connect(sys.argv[1], embedder=False)\n"
        "print(memory.admin.version())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, dsn],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_reader_and_writer_roles_suffice_for_the_driver(
    dsn: str, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """A member of recall_writer calls functions only; a member of recall_reader only reads."""
    names = {role: f"app_{uuid.uuid4().hex[:12]}_{role}" for role in ("writer", "reader")}
    for role, name in names.items():
        group = our_role(db, f"recall_{role}")
        db.execute(f"create role {name} login in role {group}".encode())
    try:
        writer = make_conninfo(dsn, user=names["writer"])
        with AgentMemory.connect(
            writer, embedder=WordEmbedder("openai:text-embedding-3-small", 384)
        ) as memory:
            chat = memory.session(user=user, model="m")
            chat.append(user="hello")
            memory.remember(user, "Ada uses Vim.", embedding=None)
            assert len(memory.memories.list(user)) == 1
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                memory.admin.configure(default_context_window=5000)
        reader = make_conninfo(dsn, user=names["reader"])
        with AgentMemory.connect(reader, embedder=False) as memory:
            assert len(memory.memories.list(user)) == 1
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                memory.remember(user, "no")
    finally:
        for name in names.values():
            db.execute(f"drop role {name}")
