"""Users move between shards while they are in use, and nothing is lost or doubled."""

from __future__ import annotations

import threading
import time
import uuid
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgrecall.cli import _shards
from pgrecall.cli._shards import add_shard, move_user, shard_states
from pgrecall.errors import ConfigurationError, InvalidInputError, NotFoundError
from support import append, call, open_session, refused, rows, said, value
from support.everyfunction import furnish
from support.invariants import check_invariants
from support.proxies import Fleet

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


class KilledError(Exception):
    """Stands for the end of the process that moves."""


def interrupt(fleet: Fleet, user: uuid.UUID, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """End a move of a user from a to b before a step."""
    real = psycopg.Connection.execute
    words = {
        "receive": "select recall_shard.receive_user", "copy": "select recall_shard.hold_user",
        "commit": "commit", "depart": "select recall_shard.depart",
        "route": "select recall_proxy.route_user",
        "remove": "select recall_shard.remove_departed",
    }[step]  # fmt: skip

    def execute(self: psycopg.Connection, query: Any, *arguments: Any, **options: Any) -> Any:
        text = query.decode() if isinstance(query, bytes) else str(query)
        if text.startswith(words):
            raise KilledError
        return real(self, query, *arguments, **options)

    with monkeypatch.context() as patch, fleet.proxy() as conn:
        patch.setattr(psycopg.Connection, "execute", execute)
        with pytest.raises(KilledError):
            move_user(conn, user, "b")


@pytest.mark.parametrize("step", ["receive", "copy", "commit", "depart", "route", "remove"])
def test_interrupted_move_resumes(fleet: Fleet, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        session = open_session(conn, user)
        append(conn, user, session, said("hello"))
    interrupt(fleet, user, step, monkeypatch)
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


def test_rows_deleted_during_the_copy_do_not_arrive(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        session = open_session(conn, user)
        append(conn, user, session, said("hello"))
        gone = call(conn, "remember", p_user_id=user, p_content="likes tea")[0]["memory_id"]
        call(conn, "remember", p_user_id=user, p_content="owns a red bicycle")
        real = _shards._held

        def held(*arguments: Any) -> Any:
            with fleet.proxy() as beside:
                call(beside, "forget_memory", p_user_id=user, p_memory_id=gone)
                with refused("40001", "is not finished"):
                    call(beside, "forget_user", p_user_id=user)
                append(beside, user, session, said("and more"))
                call(beside, "update_session", p_user_id=user, p_session_id=session,
                     p_changes={"title": "changed"})  # fmt: skip
            return real(*arguments)

        monkeypatch.setattr(_shards, "_held", held)
        move_user(conn, user, "b")
        kept = call(conn, "list_memories", p_user_id=user)
        assert [row["content"] for row in kept] == ["owns a red bicycle"]
        (row,) = call(conn, "get_session", p_user_id=user, p_session_id=session)
        assert (row["title"], row["turn_count"]) == ("changed", 2)
        assert call(conn, "verify_integrity", p_user_id=user) == []


ERASURES = [
    ("forget_user", {}), ("forget_session", {"p_session_id": uuid.uuid4()}),
    ("forget_memory", {"p_memory_id": uuid.uuid4()}),
]  # fmt: skip


@pytest.mark.parametrize("step", ["depart", "remove"])
def test_erasure_waits_for_the_end_of_a_move(
    fleet: Fleet, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both shards have rows of the user; an erasure would reach one of them."""
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        append(conn, user, open_session(conn, user), said("hello"))
        interrupt(fleet, user, step, monkeypatch)
        assert all(any(content(fleet, shard, user).values()) for shard in "ab")
        for function, arguments in ERASURES:
            with refused("40001", f"the move of user {user} to another shard is not finished"):
                call(conn, function, p_user_id=user, **arguments)
        move_user(conn, user, "b")
        call(conn, "forget_user", p_user_id=user)
    assert not any(any(content(fleet, shard, user).values()) for shard in "ab")


def test_move_of_a_user_erased_on_the_source_deletes_the_copy(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.shard("a") as source:
        append(conn, user, open_session(conn, user), said("hello"))
        interrupt(fleet, user, "depart", monkeypatch)
        call(source, "forget_user", p_user_id=user)
        assert any(content(fleet, "b", user).values())
        with pytest.raises(NotFoundError, match="was erased on a before the move was finished"):
            move_user(conn, user, "b")
        assert not any(content(fleet, "b", user).values())
        assert rows(conn, "select * from recall_proxy.moves") == []
        append(conn, user, open_session(conn, user), said("new"))  # the id serves a new user
        assert move_user(conn, user, "b").rows["conversation_history"] == 1


def test_values_of_deleted_rows_may_come_again_during_the_copy(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unique indexes hold on the target while it gets the changes."""
    user = fleet.user_on("a")
    job = {"p_user_id": user, "p_kind": "embed", "p_dedupe_key": "again"}
    with fleet.proxy() as conn:
        old = call(conn, "remember", p_user_id=user, p_content="likes tea")[0]["memory_id"]
        call(conn, "enqueue_job", **job)
        real = _shards._held

        def held(*arguments: Any) -> Any:
            with fleet.proxy() as beside, fleet.shard("a") as source:
                call(beside, "forget_memory", p_user_id=user, p_memory_id=old)
                call(beside, "remember", p_user_id=user, p_content="likes tea")
                source.execute("delete from recall.jobs where user_id = %s", [user])
                call(beside, "enqueue_job", **job)
            return real(*arguments)

        monkeypatch.setattr(_shards, "_held", held)
        move_user(conn, user, "b")
        (memory,) = call(conn, "list_memories", p_user_id=user)
        assert (memory["content"], memory["memory_id"] != old) == ("likes tea", True)
    with fleet.shard("b") as target:
        keys = rows(target, "select dedupe_key from recall.jobs where user_id = %s"
                            " and dedupe_key = 'again'", [user])  # fmt: skip
        assert len(keys) == 1


def test_hold_is_tried_again_and_ends_its_lock_timeout(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = fleet.user_on("a")
    monkeypatch.setattr(_shards, "_HOLD_TIMEOUT", "100ms")
    with fleet.proxy() as conn, fleet.shard("a") as giving, fleet.shard("a") as call_in_progress:
        open_session(conn, user)
        call_in_progress.execute("begin")
        call_in_progress.execute("select recall_shard.enter(%s, %s)", [version_of(conn), user])
        waits: list[float] = []

        def sleep(seconds: float) -> None:
            waits.append(seconds)
            if len(waits) == 2:
                call_in_progress.execute("rollback")

        monkeypatch.setattr(_shards.time, "sleep", sleep)
        with _shards._held(giving, user):
            assert len(waits) == 2
            assert value(giving, "show lock_timeout") == "0"


def test_lock_timeout_after_the_hold_is_raised_as_it_is(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = fleet.user_on("a")

    def timeout(*_: Any) -> None:
        raise psycopg.errors.LockNotAvailable

    with fleet.proxy() as conn:
        open_session(conn, user)
        with monkeypatch.context() as patch:
            patch.setattr(_shards, "_send_prompts", timeout)
            with pytest.raises(psycopg.errors.LockNotAvailable):
                move_user(conn, user, "b")
        assert move_user(conn, user, "b").was_resumed


def test_commits_of_a_move_are_durable(fleet: Fleet) -> None:
    """The server of the tests has synchronous_commit off."""
    with fleet.proxy() as conn, _shards._as_owner(conn, fleet.connection("a")) as giving:
        assert value(giving, "show synchronous_commit") == "on"


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
