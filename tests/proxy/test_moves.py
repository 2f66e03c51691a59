"""Users move between shards while they are in use, and nothing is lost or doubled."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgrecall.cli._shards import add_shard, move_user, shard_states
from pgrecall.errors import ConfigurationError, InvalidInputError, NotFoundError
from pgrecall.schema import read_file
from support import append, call, open_session, refused, rows, said, value
from support.everyfunction import furnish
from support.invariants import check_invariants
from support.proxies import Fleet
from support.sealed import MARK, connected, readable
from support.servers import DIMENSIONS

# a trigger computes these anew; the rows count as used at another time
_COMPUTED = {"memory_store": ("check_at", "promotion_due")}


def content(fleet: Fleet, shard: str, user: uuid.UUID) -> dict[str, list[str]]:
    """Return all rows of a user on a shard, by table, as sorted texts."""
    found: dict[str, list[str]] = {}
    with fleet.shard(shard) as conn:
        for table in rows(conn, "select * from recall_shard.user_tables()"):
            name = table["name"].removeprefix("recall.")
            columns = [c for c in table["columns"] if c not in _COMPUTED.get(name, ())]
            query = sql.SQL("select row_to_json(t)::text from (select {} from {} "
                            "where user_id = {}) as t order by 1").format(
                sql.SQL(", ").join(map(sql.Identifier, columns)),
                sql.Identifier("recall", name), sql.Literal(user))  # fmt: skip
            found[name] = [row[0] for row in conn.execute(query).fetchall()]
    return found


def other(shard: str) -> str:
    return {"a": "b", "b": "a"}[shard]


@pytest.mark.slow
def test_move_brings_all_rows_and_leaves_none(fleet: Fleet) -> None:
    with fleet.shard("b") as shard:
        world = furnish(shard, "ada")
        user: uuid.UUID = world["user"]
        call(shard, "put_working", p_user_id=user, p_session_id=world["session"],
             p_task_id="t", p_key="k", p_value={"n": 1})  # fmt: skip
    with fleet.proxy() as conn:
        conn.execute("select recall_proxy.route_user(%s, 1)", [user])
        before = content(fleet, "b", user)
        assert sum(map(bool, before.values())) >= 15, "the user has something of everything"
        done = move_user(conn, user, "a")
        assert (done.source, done.target, done.was_resumed) == ("b", "a", False)
        assert done.rows["conversation_history"] == len(before["conversation_history"])
        assert content(fleet, "a", user) == before
        assert not any(content(fleet, "b", user).values())
        assert fleet.home(user) == "a"
        (row,) = call(conn, "get_session", p_user_id=user, p_session_id=world["session"])
        assert row["system_prompt"] == "You know ada."
        assert call(conn, "verify_integrity", p_user_id=user) == []
        with fleet.shard("b") as shard, refused("RCM01", "was moved to another shard"):
            shard.execute("select recall_shard.enter(%s, %s)", [version_of(conn), user])
        assert call(conn, "list_erasures") == []
        # back again: a replay of erasures erases nobody
        move_user(conn, user, "b")
        assert content(fleet, "b", user) == before
        assert call(conn, "replay_erasures")[0]["replay_erasures"] == 0
        assert content(fleet, "b", user) == before
    for name in "ab":
        with fleet.shard(name) as shard:
            check_invariants(shard)


def version_of(conn: psycopg.Connection) -> str:
    return str(value(conn, "select recall_proxy.settings()::text"))


def test_append_repeated_after_a_move_returns_same_turns(fleet: Fleet) -> None:
    user, request = fleet.user_on("a"), uuid.uuid4()
    with fleet.proxy() as conn:
        session = open_session(conn, user)
        first = append(conn, user, session, said("hello"), request_id=request)
        move_user(conn, user, "b")
        again = append(conn, user, session, said("hello"), request_id=request)
        assert [row[0] for row in again] == [row[0] for row in first]
        assert len(call(conn, "get_messages", p_user_id=user, p_session_id=session)) == 1


@pytest.mark.slow
def test_encrypted_user_moves_with_receipts_and_back(fleet: Fleet) -> None:
    user, request = fleet.user_on("a"), uuid.uuid4()
    hello: dict[str, Any] = {"user": f"I saw a {MARK}", "request_id": request}
    with connected(fleet.dsn) as memory, fleet.proxy() as conn:
        memory.encryption.seal_user(user)
        session = memory.session(user=user, model="m", system_prompt=f"You know the {MARK}.")
        session.open()
        first = session.append(**hello, reply="Where?")
        memory.remember(user, f"likes the {MARK}")
        before = content(fleet, "a", user)
        assert before["user_keys"]
        for source, target in ("ab", "ba"):
            assert move_user(conn, user, target).source == source
            assert content(fleet, target, user) == before
            assert not any(content(fleet, source, user).values())
            again = session.append(**hello, reply="Where?")
            assert [one.message_id for one in again] == [one.message_id for one in first]
            assert not any(one.inserted for one in again)
            assert [one.content for one in memory.memories.list(user)] == [f"likes the {MARK}"]
            assert [one.content for one in session.messages()] == ["Where?", f"I saw a {MARK}"]
            assert call(conn, "verify_integrity", p_user_id=user) == []
        with connected(fleet.dsn) as other_process:  # it knows no key yet
            assert len(other_process.memories.list(user)) == 1
    for name in "ab":
        with fleet.shard(name) as shard:
            assert readable(shard) == []
            assert value(shard, "select count(*) from recall.erasures") == 0


def register_backfill(conn: psycopg.Connection) -> None:
    """Begin to fill a column of all sessions, as a migration would."""
    conn.execute(
        "create or replace function recall._backfill_titles(p_user_id uuid, p_position jsonb,"
        " p_limit integer, out o_done integer, out o_position jsonb) language plpgsql as $$"
        " declare v_ids uuid[] := array(select s.session_id from recall.sessions as s"
        " where s.user_id = p_user_id and s.cost_limit_microcents is null"
        " order by 1 limit least(p_limit, 2)); begin"
        " update recall.sessions as s set cost_limit_microcents = 7 where s.user_id = p_user_id"
        " and s.session_id = any (v_ids); o_done := cardinality(v_ids);"
        " if o_done > 0 then o_position := '{}'; end if; end $$"
    )
    conn.execute("insert into recall.backfills (backfill, migration, table_name)"
                 " values ('titles', '0099_add_titles', 'sessions')")  # fmt: skip


@pytest.mark.parametrize("is_over", [False, True])
def test_user_who_moves_within_a_backfill_is_not_left_out(fleet: Fleet, is_over: bool) -> None:
    """The backfill of the receiving shard has passed the place of the user, or has ended."""
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.shard("a") as source, fleet.shard("b") as target:
        for _ in range(5):
            open_session(conn, user)
        for shard in (source, target):
            register_backfill(shard)
        try:
            while value(target, "select more from recall.run_backfills()"):
                pass
            if not is_over:
                target.execute("update recall.backfills set finished_at = null")
                target.execute("update recall.maintenance_tasks set last_user = %s, position ="
                               """ '{"backfill": "titles", "at": null}'"""
                               " where task = 'run_backfills'",
                               [uuid.UUID(int=2**128 - 1)])  # fmt: skip
            # the source is in the middle of this user
            source.execute("update recall.maintenance_tasks set last_user = %s, position ="
                           """ '{"backfill": "titles", "at": {}}' where task = 'run_backfills'""",
                           [user])  # fmt: skip
            value(source, "select done from recall.run_backfills(1)")
            filled = ("select count(*) from recall.sessions"
                      " where user_id = %s and cost_limit_microcents = 7")  # fmt: skip
            assert value(source, filled, [user]) == 1
            move_user(conn, user, "b")
            for shard in (source, target):
                while value(shard, "select more from recall.run_backfills()"):
                    pass
            assert value(target, filled, [user]) == 5
        finally:
            for shard in (source, target):
                shard.execute("drop function recall._backfill_titles")
                shard.execute("delete from recall.backfills where backfill = 'titles'")
                shard.execute("update recall.maintenance_tasks set last_user = null,"
                              " position = null where task = 'run_backfills'")  # fmt: skip


def test_jobs_that_a_walk_still_owes_a_user_are_made_before_the_move(fleet: Fleet) -> None:
    """The receiving shard has enqueued embed jobs for all of its users; the source has not."""
    user = fleet.user_on("a")
    position = ("update recall.maintenance_tasks set position = %s"
                " where task = 'enqueue_missing_embeddings'")  # fmt: skip
    with fleet.proxy() as conn, fleet.shard("a") as source, fleet.shard("b") as target:
        call(conn, "remember", p_user_id=user, p_content="likes tea")
        source.execute("delete from recall.jobs where user_id = %s", [user])
        target.execute(
            "update recall.maintenance_tasks as t set position = jsonb_build_object('model',"
            " s.embedding_model, 'messages', s.embed_messages, 'done', true)"
            " from recall.settings as s where t.task = 'enqueue_missing_embeddings'"
        )
        move_user(conn, user, "b")
        kinds = rows(target, "select kind::text from recall.jobs where user_id = %s", [user])
        assert kinds == [{"kind": "embed"}]
        target.execute(position, [None])


def test_users_stay_while_a_shard_changes_its_embedding_model(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.shard("b") as target:
        open_session(conn, user)
        call(target, "start_embedding_migration", p_model="other", p_dimensions=384)
        try:
            with pytest.raises(ConfigurationError, match="changes its embedding model"):
                move_user(conn, user, "b")
            assert rows(conn, "select * from recall_proxy.moves") == []
        finally:
            target.execute("delete from recall.embedding_migrations")
        with moving(fleet, user):
            call(conn, "get_profile", p_user_id=user)
        assert fleet.home(user) == "b"


def test_change_of_the_embedding_model_during_the_copy_ends_the_move(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.shard("b") as target:
        open_session(conn, user)
        try:
            with (
                pytest.raises(ConfigurationError, match="changes its embedding model"),
                moving(fleet, user),
            ):
                call(target, "start_embedding_migration", p_model="other", p_dimensions=384)
        finally:
            target.execute("delete from recall.embedding_migrations")
        assert rows(conn, "select * from recall_proxy.moves") == []
        open_session(conn, user)
        assert fleet.home(user) == "a"


def test_no_user_moves_between_releases(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.shard("b") as target:
        open_session(conn, user)
        original = value(target, "select pg_get_functiondef('recall.version'::regproc)")
        installed = value(target, "select recall.version()")
        target.execute(original.replace(installed, "9.9.9").encode())
        try:
            with pytest.raises(ConfigurationError, match=r"this shard is of release 9\.9\.9"):
                move_user(conn, user, "b")
        finally:
            target.execute(original.encode())
        assert rows(conn, "select * from recall_proxy.moves") == []


def test_sql_alone_sets_up_a_proxy_and_moves_a_user(fleet: Fleet) -> None:
    """An administrator without Python runs the files by psql."""
    database = fleet.server.create_database("sql_proxy")
    try:
        with psycopg.connect(fleet.server.dsn(database), autocommit=True) as conn:
            for name in "ab":
                with fleet.shard(name) as shard:
                    shard.execute(read_file("sql/proxy/shard.sql").encode())
            with conn.transaction():
                conn.execute(read_file("sql/proxy/proxy.sql").encode())
            for name in "ab":
                conn.execute("select recall_proxy.add_shard(%s, %s)",
                             [name, fleet.connection(name)])  # fmt: skip
            conn.execute("select recall_proxy.share_slots()")
            with fleet.shard("a") as shard:
                made = shard.execute(read_file("sql/proxy/generate.sql").encode())
                while made.nextset():
                    pass
                script = "".join(statement for (statement,) in made.fetchall())
            with conn.transaction():
                conn.execute("set local search_path = pg_catalog, public")
                conn.execute(script.encode())
            status = rows(conn, "select * from recall_proxy.status()")
            assert [(row["name"], row["slots"]) for row in status] == [("a", 512), ("b", 512)]
            # users of the other proxy, whose routes this one does not know
            assert all("live elsewhere" in problem for row in status for problem in row["problems"])
            user = fleet.user_on("a")
            open_session(conn, user)
            (done,) = rows(conn, "call recall_proxy.move_user(%s, 'b')", [user])
            outcome = done["p_outcome"]
            assert (outcome["source"], outcome["target"], outcome["rows"]["sessions"]) == (
                "a", "b", 1,
            )  # fmt: skip
            assert 0 < outcome["held_seconds"] < outcome["seconds"]
            with refused("2D000"), conn.transaction():
                conn.execute("call recall_proxy.move_user(%s, 'a')", [user])
            with refused("RC003", "p_user_id is null"):
                conn.execute("call recall_proxy.move_user(null, 'a')")
            assert rows(conn, "select * from recall_proxy.moves") == []
            remove(fleet, user, "b")
    finally:
        fleet.server.drop_database(database)


@pytest.mark.concurrent
@pytest.mark.slow
def test_nothing_is_lost_or_doubled_under_load(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    bystander = fleet.user_on("a")
    with fleet.proxy() as conn:
        session = open_session(conn, user)
        beside = open_session(conn, bystander)
    stop = threading.Event()
    written: list[str] = []
    errors: list[BaseException] = []

    def write(number: int) -> None:
        try:
            with fleet.proxy() as conn:
                count = 0
                while not stop.is_set():
                    text = f"writer {number} message {count}"
                    count += 1
                    append(conn, user, session, said(text), request_id=uuid.uuid4())
                    call(conn, "remember", p_user_id=user, p_content=f"{text} is known")
                    if count % 5 == 0:
                        call(conn, "put_working", p_user_id=user, p_session_id=session,
                             p_task_id="t", p_key=f"{number}", p_value={"n": count})  # fmt: skip
                    append(conn, bystander, beside, said(text))
                    written.append(text)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    moves: list[Any] = []
    try:
        with fleet.proxy() as conn:
            moves.extend(move_user(conn, user, target) for target in "bab")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not errors, errors
    assert len(written) > 5
    assert fleet.home(user) == "b"
    with fleet.proxy() as conn:
        found = call(conn, "get_messages", p_user_id=user, p_session_id=session, p_limit=10000)
        assert sorted(row["content"] for row in found) == sorted(written)
        known = {row["content"] for row in call(conn, "list_memories", p_user_id=user,
                                                p_limit=10000)}  # fmt: skip
        assert known == {f"{text} is known" for text in written}
        assert call(conn, "verify_integrity", p_user_id=user) == []
    assert not any(content(fleet, "a", user).values())
    for move in moves:
        assert move.held_seconds < move.seconds


@contextmanager
def broken(conn: psycopg.Connection, function: str) -> Iterator[None]:
    """Let a function raise an error."""
    original = str(value(conn, "select pg_get_functiondef(%s::regproc)", [function]))
    head = original.partition("AS $function$")[0]
    body = "begin raise exception 'broken' using errcode = 'ZZ999'; end"
    conn.execute(f"{head} AS $function$ {body} $function$".encode())
    try:
        yield
    finally:
        conn.execute(original.encode())


@contextmanager
def refused_commits(conn: psycopg.Connection) -> Iterator[None]:
    """Let transactions that make a session fail when they commit."""
    conn.execute("create function refuse() returns trigger language plpgsql as"
                 " $$ begin raise exception 'broken' using errcode = 'ZZ999'; end $$")  # fmt: skip
    leaves = rows(conn, "select l.relid::regclass::text as name from"
                        " pg_partition_tree('recall.sessions') as l where l.isleaf")  # fmt: skip
    for leaf in leaves:
        conn.execute(f"create constraint trigger refuse after insert on {leaf['name']} deferrable"
                     " initially deferred for each row execute function refuse()")  # fmt: skip
    try:
        yield
    finally:
        conn.execute("drop function refuse cascade")


def interrupt(fleet: Fleet, user: uuid.UUID, step: str) -> None:
    """End a move of a user from a to b before a step, by an error there."""
    function = {
        "receive": "recall_shard.receive_user", "copy": "recall_shard.hold_user",
        "depart": "recall_shard.depart", "route": "recall_proxy.route_user",
        "remove": "recall_shard.remove_departed",
    }  # fmt: skip
    with (
        fleet.shard("b" if step in ("receive", "commit") else "a") as shard,
        fleet.proxy() as conn,
        refused_commits(shard) if step == "commit"
        else broken(conn if step == "route" else shard, function[step]),
        refused("ZZ999", "broken"),
    ):  # fmt: skip
        move_user(conn, user, "b")


@contextmanager
def in_background(fleet: Fleet, user: uuid.UUID, target: str) -> Iterator[list[Any]]:
    """Move a user in a thread that the end waits for; give the list that gets the outcome."""
    result: list[Any] = []

    def move() -> None:
        with fleet.proxy() as conn:
            try:
                result.append(move_user(conn, user, target))
            except BaseException as error:
                result.append(error)

    thread = threading.Thread(target=move)
    thread.start()
    try:
        yield result
    finally:
        thread.join()


def await_lock(conn: psycopg.Connection, result: list[Any]) -> None:
    """Wait until a move waits for an advisory lock on this shard."""
    until = time.monotonic() + 60
    while not value(conn, "select exists (select from pg_locks where not granted"
                          " and locktype = 'advisory')"):  # fmt: skip
        assert not result, result
        assert time.monotonic() < until
        time.sleep(0.01)


@contextmanager
def moving(fleet: Fleet, user: uuid.UUID) -> Iterator[None]:
    """Move a user from a to b; within, all is copied, and the move waits for a call in progress."""
    with fleet.proxy() as conn, fleet.shard("a") as source, fleet.shard("a") as beside:
        source.execute("begin")
        source.execute("select recall_shard.enter(%s, %s)", [version_of(conn), user])
        with in_background(fleet, user, "b") as result:
            try:
                await_lock(beside, result)
                yield
            finally:
                source.execute("rollback")
    if isinstance(result[0], BaseException):
        raise result[0]


@pytest.mark.parametrize("step", ["receive", "copy", "commit", "depart", "route", "remove"])
def test_interrupted_move_resumes(fleet: Fleet, step: str) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        session = open_session(conn, user)
        append(conn, user, session, said("hello"))
    interrupt(fleet, user, step)
    if step != "route":  # between the last two commits nobody accepts writes
        with fleet.proxy() as conn:
            append(conn, user, session, said("between"))
    with fleet.proxy() as conn:
        (row,) = rows(conn, "select * from recall_proxy.moves")
        assert row["user_id"] == user
        with pytest.raises(ConfigurationError, match="is not finished"):
            move_user(conn, user, "a")
        done = move_user(conn, user, "b")
        assert done.was_resumed
        assert rows(conn, "select * from recall_proxy.moves") == []
        assert fleet.home(user) == "b"
        said_then = [row["content"] for row in call(conn, "get_messages", p_user_id=user,
                                                    p_session_id=session)]  # fmt: skip
        assert said_then == ["between"] * (step != "route") + ["hello"]  # the newest first
    assert not any(content(fleet, "a", user).values())


def test_rows_deleted_during_the_copy_do_not_arrive(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        session = open_session(conn, user)
        append(conn, user, session, said("hello"))
        gone = call(conn, "remember", p_user_id=user, p_content="likes tea")[0]["memory_id"]
        call(conn, "remember", p_user_id=user, p_content="owns a red bicycle")
        with moving(fleet, user):
            call(conn, "forget_memory", p_user_id=user, p_memory_id=gone)
            with refused("40001", "is not finished"):
                call(conn, "forget_user", p_user_id=user)
            append(conn, user, session, said("and more"))
            call(conn, "update_session", p_user_id=user, p_session_id=session,
                 p_changes={"title": "changed"})  # fmt: skip
        kept = call(conn, "list_memories", p_user_id=user)
        assert [row["content"] for row in kept] == ["owns a red bicycle"]
        (row,) = call(conn, "get_session", p_user_id=user, p_session_id=session)
        assert (row["title"], row["turn_count"]) == ("changed", 2)
        assert call(conn, "verify_integrity", p_user_id=user) == []


ERASURES = [
    ("forget_user", {}), ("forget_session", {"p_session_id": uuid.uuid4()}),
    ("clear_session", {"p_session_id": uuid.uuid4()}),
    ("forget_memory", {"p_memory_id": uuid.uuid4()}),
]  # fmt: skip


@pytest.mark.parametrize("step", ["depart", "remove"])
def test_erasure_waits_for_the_end_of_a_move(fleet: Fleet, step: str) -> None:
    """Both shards have rows of the user; an erasure would reach one of them."""
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        append(conn, user, open_session(conn, user), said("hello"))
        interrupt(fleet, user, step)
        assert all(any(content(fleet, shard, user).values()) for shard in "ab")
        for function, arguments in ERASURES:
            with refused("40001", f"the move of user {user} to another shard is not finished"):
                call(conn, function, p_user_id=user, **arguments)
        move_user(conn, user, "b")
        call(conn, "forget_user", p_user_id=user)
    assert not any(any(content(fleet, shard, user).values()) for shard in "ab")


def test_move_of_a_user_erased_on_the_source_deletes_the_copy(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.shard("a") as source:
        append(conn, user, open_session(conn, user), said("hello"))
        interrupt(fleet, user, "depart")
        call(source, "forget_user", p_user_id=user)
        assert any(content(fleet, "b", user).values())
        with pytest.raises(NotFoundError, match="was erased before the move was finished"):
            move_user(conn, user, "b")
        assert not any(content(fleet, "b", user).values())
        assert rows(conn, "select * from recall_proxy.moves") == []
        append(conn, user, open_session(conn, user), said("new"))  # the id serves a new user
        assert move_user(conn, user, "b").rows["conversation_history"] == 1


@pytest.mark.concurrent
def test_departure_that_is_not_visible_yet_keeps_the_copy(fleet: Fleet) -> None:
    """The commit of the source waits for a standby while the operator runs the move again."""
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.shard("a") as source, fleet.shard("a") as beside:
        session = open_session(conn, user)
        append(conn, user, session, said("hello"))
        interrupt(fleet, user, "depart")
        source.execute("begin")
        source.execute("select recall_shard.hold_user(%s)", [user])
        source.execute("select recall_shard.depart(%s)", [user])
        with in_background(fleet, user, "b") as result:
            try:
                await_lock(beside, result)
            finally:
                source.execute("commit")
        assert result[0].was_resumed
        assert fleet.home(user) == "b"
        assert len(call(conn, "get_messages", p_user_id=user, p_session_id=session)) == 1


def test_user_whose_route_is_lost_moves_only_to_where_they_are(fleet: Fleet) -> None:
    """The proxy has failed over to a standby that lacks the last commits."""
    user, elsewhere = fleet.user_on("a"), fleet.user_on("a")
    with fleet.proxy() as conn:
        for one in (user, elsewhere):
            open_session(conn, one)
            move_user(conn, one, "b")
            conn.execute("select recall_proxy.route_user(%s, 0)", [one])
        remove(fleet, elsewhere, "b")  # as if a third shard had this user
        with pytest.raises(ConfigurationError, match="has left shard a, and is not on shard b"):
            move_user(conn, elsewhere, "b")
        assert rows(conn, "select * from recall_proxy.moves") == []
        assert fleet.home(elsewhere) == "a"
        move_user(conn, user, "b")
        assert (fleet.home(user), len(call(conn, "list_sessions", p_user_id=user))) == ("b", 1)


def test_new_slots_leave_a_user_between_two_shards_where_they_were(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        open_session(conn, user)
        interrupt(fleet, user, "route")  # neither shard lists the user as its own now
        with conn.transaction(force_rollback=True):
            conn.execute("delete from recall_proxy.moved_users")
            assert value(conn, "select recall_proxy.assign_slots('b', 512)") == 512
            assert value(conn, "select recall_proxy.shard_of(%s)", [user]) == 0
        move_user(conn, user, "b")
        assert fleet.home(user) == "b"


def test_move_that_another_process_has_continued_stays_on_record(fleet: Fleet) -> None:
    """A trigger takes the part of the other process, between two transactions of the move."""
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        open_session(conn, user)
        conn.execute("create function continue() returns trigger language plpgsql as $$ begin"
                     " update recall_proxy.moves set attempts = attempts + 1;"
                     " return null; end $$")  # fmt: skip
        conn.execute(
            "create constraint trigger continue after insert on recall_proxy.moves"
            " deferrable initially deferred for each row execute function continue()"
        )
        try:
            with pytest.raises(ConfigurationError, match="another process has continued the move"):
                move_user(conn, user, "b")
        finally:
            conn.execute("drop function continue cascade")
        assert value(conn, "select user_id from recall_proxy.moves") == user
        assert move_user(conn, user, "b").was_resumed


def test_resumed_move_lets_others_write_on_the_target(fleet: Fleet) -> None:
    """Deleting the old copy locks the unlogged tables against writers."""
    user, other_user = fleet.user_on("a"), fleet.user_on("b")
    with fleet.proxy() as conn:
        open_session(conn, user)
        session = open_session(conn, other_user)
        interrupt(fleet, user, "depart")
        conn.execute("set statement_timeout = '10s'")
        with moving(fleet, user):
            call(conn, "put_working", p_user_id=other_user, p_session_id=session, p_task_id="t",
                 p_key="k", p_value={"n": 1})  # fmt: skip
        assert fleet.home(user) == "b"


@pytest.mark.parametrize("step", ["copy", "depart"])
def test_abandoned_move_leaves_the_user_and_deletes_the_copy(fleet: Fleet, step: str) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        append(conn, user, open_session(conn, user), said("hello"))
        interrupt(fleet, user, step)
        conn.execute("select recall_proxy.abandon_move(%s)", [user])
        assert rows(conn, "select * from recall_proxy.moves") == []
        assert fleet.home(user) == "a"
        assert not any(content(fleet, "b", user).values())
        assert move_user(conn, user, "b").rows["conversation_history"] == 1
        call(conn, "forget_user", p_user_id=user)


def test_moves_that_cannot_be_abandoned_are_refused(fleet: Fleet) -> None:
    user, abandon = fleet.user_on("a"), "select recall_proxy.abandon_move(%s)"
    with fleet.proxy() as conn, fleet.proxy() as beside:
        open_session(conn, user)
        with refused("RC003", "p_user_id is null"):
            conn.execute(abandon, [None])
        with refused("RC001", f"user {user} has no move that can be abandoned"):
            conn.execute(abandon, [user])
        interrupt(fleet, user, "route")
        with conn.transaction():
            conn.execute("select recall_proxy.lock_move(%s)", [user])
            with refused("RC007", "another process moves user"):
                beside.execute(abandon, [user])
        with refused("RC007", f"user {user} has left the source already"):
            conn.execute(abandon, [user])
        interrupt(fleet, user, "remove")
        with refused("RC001", "has no move that can be abandoned"):
            conn.execute(abandon, [user])
        move_user(conn, user, "b")
        assert fleet.home(user) == "b"


def test_move_to_a_lost_shard_is_abandoned_with_a_warning(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    warnings: list[str] = []
    with fleet.proxy() as conn:
        append(conn, user, open_session(conn, user), said("hello"))
        interrupt(fleet, user, "depart")
        conn.add_notice_handler(lambda said: warnings.append(str(said.message_primary)))
        with conn.transaction():
            conn.execute("update recall_proxy.shards set connection = 'host=127.0.0.1 port=1'"
                         " where name = 'b'")  # fmt: skip
            conn.execute("select recall_proxy.abandon_move(%s)", [user])
            conn.execute("update recall_proxy.shards set connection = %s where name = 'b'",
                         [fleet.connection("b")])  # fmt: skip
        assert warnings == [f"shard b cannot be reached, and may keep a copy of user {user}"]
        call(conn, "forget_user", p_user_id=user)
        assert value(conn, "select recall_proxy.list_strays(1)") == user
        remove(fleet, user, "b")


def test_values_of_deleted_rows_may_come_again_during_the_copy(fleet: Fleet) -> None:
    """Unique indexes hold on the target while it gets the changes."""
    user = fleet.user_on("a")
    job = {"p_user_id": user, "p_kind": "embed", "p_dedupe_key": "again"}
    with fleet.proxy() as conn:
        old = call(conn, "remember", p_user_id=user, p_content="likes tea")[0]["memory_id"]
        call(conn, "enqueue_job", **job)
        with moving(fleet, user), fleet.shard("a") as source:
            call(conn, "forget_memory", p_user_id=user, p_memory_id=old)
            call(conn, "remember", p_user_id=user, p_content="likes tea")
            source.execute("delete from recall.jobs where user_id = %s", [user])
            call(conn, "enqueue_job", **job)
        (memory,) = call(conn, "list_memories", p_user_id=user)
        assert (memory["content"], memory["memory_id"] != old) == ("likes tea", True)
    with fleet.shard("b") as target:
        keys = rows(target, "select dedupe_key from recall.jobs where user_id = %s"
                            " and dedupe_key = 'again'", [user])  # fmt: skip
        assert len(keys) == 1


def test_hold_is_tried_again_and_calls_go_on_meanwhile(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        open_session(conn, user)
        conn.execute("set statement_timeout = '10s'")
        with moving(fleet, user):
            open_session(conn, user)  # it queues for a second at most
        assert (fleet.home(user), value(conn, "show lock_timeout")) == ("b", "0")


def test_commits_of_a_move_are_durable(fleet: Fleet) -> None:
    """The server of the tests has synchronous_commit off."""
    with fleet.proxy() as conn:
        conn.execute("select recall_proxy.connect_shard('recall_source', 0)")
        asked = "select recall_proxy.ask('recall_source', 'show synchronous_commit')"
        assert value(conn, asked) == "on"


def test_timeouts_of_a_shard_do_not_end_a_move(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.shard("b") as target:
        open_session(conn, user)
        database = fleet.databases["b"]
        target.execute(f"alter database {database} set transaction_timeout = '500ms'")
        try:
            with moving(fleet, user):
                time.sleep(0.7)
        finally:
            target.execute(f"alter database {database} reset transaction_timeout")
        assert fleet.home(user) == "b"


def test_extension_in_another_schema_is_refused(fleet: Fleet) -> None:
    database = fleet.server.create_database("dblink_elsewhere")
    try:
        with psycopg.connect(fleet.server.dsn(database), autocommit=True) as conn:
            conn.execute("create extension dblink schema public")
            with refused("RC007", "extension dblink is in another schema"), conn.transaction():
                conn.execute(read_file("sql/proxy/proxy.sql").encode())
    finally:
        fleet.server.drop_database(database)


def test_move_ends_when_its_process_is_killed_and_calls_go_on(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.server.admin() as admin:
        session = open_session(conn, user)
        with pytest.raises(psycopg.OperationalError), moving(fleet, user):
            admin.execute("select pg_terminate_backend(pid, 5000) from pg_stat_activity"
                          " where query like 'call recall_proxy.move_user%%'"
                          " and pid <> pg_backend_pid()")  # fmt: skip
        append(conn, user, session, said("hello"))
        assert move_user(conn, user, "b").was_resumed
        assert len(call(conn, "get_messages", p_user_id=user, p_session_id=session)) == 1


def test_failed_move_lets_calls_go_on_while_its_session_stays(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.proxy() as beside, fleet.shard("b") as target:
        session = open_session(conn, user)
        with refused_commits(target), refused("ZZ999", "broken"):
            move_user(conn, user, "b")
        beside.execute("set statement_timeout = '10s'")
        append(beside, user, session, said("hello"))
        assert move_user(conn, user, "b").was_resumed


def test_canceled_move_lets_calls_go_on_and_resumes(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.server.admin() as admin:
        session = open_session(conn, user)
        with pytest.raises(psycopg.errors.QueryCanceled), moving(fleet, user):
            admin.execute("select pg_cancel_backend(pid) from pg_stat_activity"
                          " where query like 'call recall_proxy.move_user%%'"
                          " and pid <> pg_backend_pid()")  # fmt: skip
        append(conn, user, session, said("hello"))
        assert move_user(conn, user, "b").was_resumed
        assert len(call(conn, "get_messages", p_user_id=user, p_session_id=session)) == 1


@pytest.mark.concurrent
def test_calls_are_served_while_new_slots_wait(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    result: list[Any] = []

    def assign() -> None:
        with fleet.proxy() as conn:
            result.append(value(conn, "select recall_proxy.assign_slots('b', 0)"))

    with fleet.proxy() as conn, fleet.proxy() as long_call:
        long_call.execute("begin")
        long_call.execute("select recall_proxy.shard_of(%s)", [user])
        thread = threading.Thread(target=assign)
        thread.start()
        try:
            until = time.monotonic() + 30
            while time.monotonic() < until and not value(
                conn,
                "select exists (select from pg_locks where not granted"
                " and relation = 'recall_proxy.slots'::regclass)",
            ):
                time.sleep(0.01)
            conn.execute("set statement_timeout = '10s'")
            open_session(conn, user)  # it queues for a second at most
            assert not result
        finally:
            long_call.execute("rollback")
            thread.join()
    assert result == [0]


def remove(fleet: Fleet, user: uuid.UUID, name: str) -> None:
    """Delete the rows of a user from a shard where they do not live."""
    with fleet.shard(name) as shard:
        shard.execute("select recall_shard.depart(%s)", [user])
        shard.execute("select recall_shard.remove_departed(%s)", [user])


def test_refused_moves_change_nothing(fleet: Fleet) -> None:
    user, unknown = fleet.user_on("a"), fleet.user_on("a")
    with fleet.proxy() as conn:
        open_session(conn, user)
        with pytest.raises(NotFoundError, match="there is no shard z"):
            move_user(conn, user, "z")
        with pytest.raises(NotFoundError, match="this shard has no user"):
            move_user(conn, unknown, "b")
        assert move_user(conn, user, "a").rows == {}
        with fleet.shard("b") as shard:  # somebody has written past the proxy
            open_session(shard, user)
        with pytest.raises(ConfigurationError, match="has rows on the receiving shard already"):
            move_user(conn, user, "b")
        remove(fleet, user, "b")
        assert not any(content(fleet, "b", user).values())
        with fleet.proxy() as beside:
            beside.execute(
                "select pg_advisory_lock(hashtextextended('recall_proxy.move ' || %s, 0))",
                [str(user)],
            )
            with pytest.raises(ConfigurationError, match="another process moves user"):
                move_user(conn, user, "b")
        assert rows(conn, "select * from recall_proxy.moves") == []
        assert fleet.home(user) == "a"


def test_restored_shard_reports_strays_and_gets_erasures_of_other_shards(fleet: Fleet) -> None:
    moved, erased = fleet.user_on("a"), fleet.user_on("a")
    with fleet.proxy() as conn, fleet.shard("a") as restored:
        for user in (moved, erased):
            call(conn, "ensure_user", p_external_id=str(user))
            move_user(conn, user, "b")
        # the backup is older than the moves
        restored.execute("delete from recall_shard.departed_users where user_id = any (%s)",
                         [[moved, erased]])  # fmt: skip
        for user in (moved, erased):
            call(restored, "ensure_user", p_external_id=str(user))
        restored.execute("update recall.users set created_at = created_at - interval '1 day'"
                         " where user_id = any (%s)", [[moved, erased]])  # fmt: skip
        call(conn, "forget_user", p_user_id=erased)
        problems = {shard.name: shard.problems for shard in shard_states(conn)}
        assert "has rows of 2 users who live elsewhere" in str(problems["a"])
        assert problems["b"] == []

        assert call(conn, "replay_erasures")[0]["replay_erasures"] == 1
        assert value(conn, "select recall_proxy.list_strays(0)") == moved
        listed = [row["erasure_id"] for row in call(conn, "list_erasures")]
        assert len(listed) == len({*listed}), "both shards have each"
        with refused("RC003", "p_erasures is not a JSON array"):
            call(conn, "replay_erasures", p_erasures={})
        remove(fleet, moved, "a")
        assert all(not shard.problems for shard in shard_states(conn))
        assert [row["user_id"] for row in call(conn, "list_users")].count(moved) == 1


def test_user_with_rows_in_detached_months_stays(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.shard("a") as shard:
        open_session(conn, user)
        owner = value(shard, "select nspowner::regrole::text from pg_namespace"
                             " where nspname = 'recall'")  # fmt: skip
        shard.execute("create table recall.detached (user_id uuid)")
        shard.execute(f"alter table recall.detached owner to {owner}")
        try:
            shard.execute("insert into recall.detached values (%s)", [user])
            with pytest.raises(ConfigurationError, match="rows in the detached partition"):
                move_user(conn, user, "b")
        finally:
            shard.execute("drop table recall.detached")


@pytest.mark.slow
def test_new_shard_gets_new_users_and_moves_none(fleet: Fleet) -> None:
    names = [f"early {n}" for n in range(30)]
    with fleet.proxy() as conn:
        early = {call(conn, "ensure_user", p_external_id=name)[0]["ensure_user"] for name in names}
        homes = {user: fleet.home(user) for user in early}
        connection = fleet.add_database("c")
        with pytest.raises(InvalidInputError, match="names a user or a password"):
            add_shard(conn, "c", f"{connection} password=x")
        assert add_shard(conn, "c", connection).slots == 0
        assert {user: fleet.home(user) for user in early} == homes
        assert add_shard(conn, "c", connection, slots=340).slots == 340
        assert {user: fleet.home(user) for user in early} == homes
        assert [shard.slots for shard in shard_states(conn)] == [342, 342, 340]
        user = fleet.user_on("c")
        open_session(conn, user)
        with fleet.shard("c") as shard:
            assert value(shard, "select count(*) from recall.users") == 1
        move_user(conn, user, "a")
        move_user(conn, user, "c")
        assert not rows(conn, "select * from recall_proxy.moved_users where user_id = %s", [user])
        assert all(not shard.problems for shard in shard_states(conn))


@pytest.mark.slow
def test_user_moves_between_shards_with_other_hash_partitions(fleet: Fleet) -> None:
    server = fleet.server
    fleet.databases["flat"] = server.create_database("flat")
    try:
        with psycopg.connect(server.dsn(fleet.databases["flat"]), autocommit=True) as shard:
            server.install(shard, embedding_dimensions=DIMENSIONS, hash_partitions=0)
            call(shard, "configure", p_changes={"maintenance_lock_time": "1 minute"})  # as others
        with fleet.proxy() as conn:
            with fleet.shard("a") as source:
                # an earlier test has encrypted a user; furnish writes plaintext beside a key
                source.execute("update recall.settings set has_sealed_users = false")
                user: uuid.UUID = furnish(source, "bea")["user"]
            conn.execute("select recall_proxy.route_user(%s, 0)", [user])
            add_shard(conn, "flat", fleet.connection("flat"))
            before = content(fleet, "a", user)
            move_user(conn, user, "flat")
            assert content(fleet, "flat", user) == before
            move_user(conn, user, "a")
            assert content(fleet, "a", user) == before
    finally:
        server.drop_database(fleet.databases.pop("flat"))
