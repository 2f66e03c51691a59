"""A shard that is down: its users get a clear error, the others work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgrecall import AgentMemory, ConfigurationError
from pgrecall.cli._shards import move_user, shard_states
from support import append, call, open_session, refused, said, value
from support.proxies import Fleet


@pytest.fixture
def down(fleet: Fleet) -> Iterator[str]:
    """The shard b accepts no connection, and has lost those that it had."""
    name = fleet.databases["b"]
    with fleet.server.admin() as admin:
        admin.execute(sql.SQL("alter database {} allow_connections off").format(
            sql.Identifier(name)))  # fmt: skip
        admin.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = %s",
            [name],
        )
        yield "b"
        admin.execute(sql.SQL("alter database {} allow_connections on").format(
            sql.Identifier(name)))  # fmt: skip


def test_users_of_a_shard_that_is_down_get_a_clear_error(fleet: Fleet, down: str) -> None:
    lost, served = fleet.user_on("b"), fleet.user_on("a")
    with fleet.proxy() as conn:
        for function, arguments in (("open_session", {"p_model_id": "m"}), ("get_profile", {})):
            with pytest.raises(psycopg.OperationalError) as caught:
                call(conn, function, p_user_id=lost, **arguments)
            diag = caught.value.diag
            assert (diag.sqlstate, diag.message_primary) == ("58000", "shard b cannot be reached")
            assert "Users of other shards are served" in str(diag.message_hint)
            assert "not currently accepting connections" in str(diag.message_detail)
        open_session(conn, served)
        assert call(conn, "get_profile", p_user_id=served)


def test_driver_raises_the_error_and_serves_the_others(fleet: Fleet, down: str) -> None:
    lost, served = fleet.user_on("b"), fleet.user_on("a")
    with AgentMemory.connect(fleet.dsn, embedder=False) as memory:
        with pytest.raises(psycopg.OperationalError, match="shard b cannot be reached"):
            memory.remember(lost, "likes tea")
        memory.remember(served, "likes tea")
        assert [found.content for found in memory.search(served, "tea")] == ["likes tea"]


def test_workers_and_monitoring_go_on_without_the_shard(fleet: Fleet, down: str) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        call(conn, "enqueue_job", p_user_id=user, p_kind="embed")
        claimed = call(conn, "claim_jobs", p_worker="w", p_kinds=["embed"], p_limit=10)
        assert user in {job["user_id"] for job in claimed}
        call(conn, "run_due_maintenance")
        call(conn, "get_settings")
        (row,) = [row for row in call(conn, "health") if row["name"] == "shard"]
        assert (row["status"], row["detail"]) == ("error", "shard b cannot be reached")
        up = {row["labels"]["shard"]: row["value"] for row in call(conn, "metrics")
              if row["name"] == "shard_up"}  # fmt: skip
        assert up == {"a": 1.0, "b": 0.0}
        problems = {shard.name: shard.problems for shard in shard_states(conn)}
        assert problems["a"] == []
        assert "cannot be reached" in problems["b"][0]


def test_workers_get_jobs_beside_a_shard_that_does_not_answer_in_time(fleet: Fleet) -> None:
    users = {name: fleet.user_on(name) for name in "ab"}
    claim = {"p_worker": "w", "p_kinds": ["embed"], "p_limit": 100}
    with fleet.proxy() as conn, fleet.shard("b") as blocker:
        call(conn, "enqueue_job", p_user_id=users["b"], p_kind="embed")
        warnings: list[str] = []
        conn.add_notice_handler(lambda notice: warnings.append(str(notice.message_primary)))
        with blocker.transaction():
            blocker.execute("lock table recall.jobs in access exclusive mode")
            for setting in ("lock_timeout", "statement_timeout"):
                seen = set()
                for _ in range(8):  # either shard comes first
                    conn.execute(f"set {setting} = 0".encode())
                    call(conn, "enqueue_job", p_user_id=users["a"], p_kind="embed")
                    conn.execute(f"set {setting} = '300ms'".encode())
                    try:
                        claimed = {job["user_id"] for job in call(conn, "claim_jobs", **claim)}
                        seen.add(users["a"] in claimed)
                    except psycopg.errors.QueryCanceled:
                        assert setting == "statement_timeout", "nothing was leased yet"
                assert seen == {True}
                conn.execute(f"set {setting} = 0".encode())
            assert "shard b has given no jobs" in warnings
            call(conn, "enqueue_job", p_user_id=users["a"], p_kind="embed")
            claimed = {job["user_id"] for job in call(conn, "claim_jobs", **claim)}
            assert users["a"] in claimed, "a lock is waited for 2 seconds by default"
        claimed = {job["user_id"] for job in call(conn, "claim_jobs", **claim)}
        assert users["b"] in claimed


def test_statement_timeout_of_a_shard_does_not_count(fleet: Fleet) -> None:
    """PL/Proxy would wait forever after a shard's own cancellation."""
    user, name = fleet.user_on("b"), sql.Identifier(fleet.databases["b"])
    with fleet.server.admin() as admin:
        admin.execute(sql.SQL("alter database {} set statement_timeout = '1ms'").format(name))
        try:
            with fleet.proxy() as conn:
                conn.execute("set statement_timeout = '60s'")
                open_session(conn, user)
                append(conn, user, open_session(conn, user), said("hello"))
                call(conn, "verify_integrity", p_user_id=user)
        finally:
            admin.execute(sql.SQL("alter database {} reset statement_timeout").format(name))


def test_changes_for_all_shards_are_repeated_when_the_shard_is_back(
    fleet: Fleet, down: str
) -> None:
    changes: dict[str, dict[str, Any]] = {
        "configure": {"p_changes": {"recalled_turns": 13}},
        "register_kind": {"p_kind": "hope", "p_description": "What they hope for."},
        "register_model": {"p_model_id": "later", "p_context_window_size": 4096},
        "set_prompt": {"p_name": "extract", "p_content": "Extract.", "p_version": "later-1"},
    }
    with fleet.proxy() as conn:
        for function, arguments in changes.items():
            with pytest.raises(ConfigurationError) as caught:
                call(conn, function, **arguments)
            diag = caught.value.diag
            assert diag.message_primary == "1 of 2 shards have not made this change"
            assert str(diag.message_detail).startswith("b: ")
            assert "Repeat the call" in str(diag.message_hint)
        with fleet.server.admin() as admin:
            admin.execute(sql.SQL("alter database {} allow_connections on").format(
                sql.Identifier(fleet.databases["b"])))  # fmt: skip
        (lacking,) = [shard.problems for shard in shard_states(conn) if shard.name == "b"]
        assert lacking == ["kinds, models, prompts, settings differ from shard a"]
        for function, arguments in changes.items():
            call(conn, function, **arguments)
        assert all(not shard.problems for shard in shard_states(conn))


def test_incomplete_lists_and_changes_are_refused(fleet: Fleet, down: str) -> None:
    """An administrator shall not take half of the users for all of them."""
    with fleet.proxy() as conn:
        with refused("58000", "a shard cannot be reached"):
            call(conn, "list_users")
        with refused("RC007", "1 of 2 shards have not made this change"):
            call(conn, "configure", p_changes={"recalled_turns": 11})


def test_call_after_a_restart_of_the_shard_ends_as_on_one_server(fleet: Fleet) -> None:
    """The first call meets the lost connection; the driver repeats it where it may."""
    user = fleet.user_on("b")

    def restart() -> None:
        with fleet.server.admin() as admin:
            admin.execute(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = %s",
                [fleet.databases["b"]],
            )

    with fleet.proxy() as conn:
        open_session(conn, user)
        restart()
        with refused("57P01", "shard b cannot be reached"):
            open_session(conn, user)
        open_session(conn, user)
        assert value(conn, "select count(*) from recall.list_sessions(%s)", [user]) == 2
    with AgentMemory.connect(fleet.dsn, embedder=False) as memory:
        assert len(memory.sessions.list(user)) == 2
        restart()
        assert len(memory.sessions.list(user)) == 2


def test_move_to_a_shard_that_is_down_leaves_the_user_where_they_are(
    fleet: Fleet, down: str
) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        open_session(conn, user)
        with pytest.raises(psycopg.OperationalError):
            move_user(conn, user, "b")
        open_session(conn, user)
        assert fleet.home(user) == "a"
        call(conn, "forget_user", p_user_id=user)  # no move has begun that an erasure waits for


def test_timeout_on_the_proxy_cancels_the_call_on_the_shard(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn, fleet.shard("a") as blocker:
        session = open_session(conn, user)
        with blocker.transaction():
            blocker.execute("select 1 from recall.sessions where user_id = %s for update", [user])
            conn.execute("set statement_timeout = '300ms'")
            with refused("57014"):
                append(conn, user, session, said("hello"))
            waiting = (
                "select count(*) from pg_stat_activity"
                " where datname = current_database() and wait_event_type = 'Lock'"
            )
            with fleet.shard("a") as beside:
                until = time.monotonic() + 10
                while value(beside, waiting) and time.monotonic() < until:
                    time.sleep(0.05)
                assert value(beside, waiting) == 0
        conn.execute("reset statement_timeout")
        assert call(conn, "get_messages", p_user_id=user, p_session_id=session) == []
