"""The caller's role and settings take effect on the shard, for one call."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgrecall import AgentMemory
from support import call, refused, rows, said, value
from support.proxies import Fleet


@pytest.fixture(scope="module")
def prefix(fleet: Fleet) -> str:
    with fleet.shard("a") as conn:
        return str(value(conn, "select role_prefix from recall.settings"))


@pytest.fixture
def login(fleet: Fleet, prefix: str) -> Iterator[str]:
    """A login that has no right yet; it exists on all shards, for they share a cluster."""
    name = f"app_{secrets.token_hex(4)}"
    with fleet.proxy() as conn:
        conn.execute(sql.SQL("create role {} login").format(sql.Identifier(name)))
        yield name
        conn.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


def grant(fleet: Fleet, role: str, login: str) -> None:
    with fleet.proxy() as conn:
        conn.execute(sql.SQL("grant {} to {}").format(sql.Identifier(role), sql.Identifier(login)))


def test_reader_may_read_and_not_write(fleet: Fleet, prefix: str, login: str) -> None:
    grant(fleet, f"{prefix}_reader", login)
    user = uuid.uuid4()
    with fleet.proxy() as conn:
        call(conn, "remember", p_user_id=user, p_content="Ada likes tea")
    with fleet.proxy(user=login) as conn:
        assert len(call(conn, "search", p_user_id=user, p_query="tea")) == 1
        with refused("42501", "permission denied for function remember"):
            call(conn, "remember", p_user_id=user, p_content="Ada likes milk")


def test_shard_refuses_reader_whom_only_the_proxy_lets_write(
    fleet: Fleet, prefix: str, login: str
) -> None:
    """The proxy connects as the caller: a right on the proxy alone is worth nothing."""
    grant(fleet, f"{prefix}_reader", login)
    with fleet.proxy() as conn:
        conn.execute(
            sql.SQL("grant execute on all functions in schema recall, recall_proxy to {}").format(
                sql.Identifier(login)
            )
        )
        try:
            with fleet.proxy(user=login) as reader:
                for function, arguments in (
                    ("remember", {"p_content": "Ada likes milk"}),
                    ("open_session", {"p_model_id": "gpt-4o-mini"}),
                    ("forget_user", {}),
                ):
                    with refused("42501", f"permission denied for function {function}"):
                        call(reader, function, p_user_id=uuid.uuid4(), **arguments)
        finally:
            conn.execute(sql.SQL("drop owned by {}").format(sql.Identifier(login)))


def test_writer_cannot_choose_the_shard_of_a_user(fleet: Fleet, prefix: str, login: str) -> None:
    """No function that a writer may call takes both a user and a shard."""
    grant(fleet, f"{prefix}_writer", login)
    with fleet.proxy() as conn:
        takes_shard = rows(
            conn,
            "select p.proname from pg_proc as p join pg_language as l on l.oid = p.prolang"
            " where p.pronamespace = 'recall_proxy'::regnamespace and l.lanname = 'plproxy'"
            " and p.proargtypes[0] = 'int'::regtype"
            " and has_function_privilege(%s, p.oid, 'execute') order by 1",
            [login],
        )
        assert [row["proname"] for row in takes_shard] == [
            "get_settings", "health", "list_models", "list_prompts", "message_hash",
            "new_messages_since", "ping", "query_dates",
        ]  # fmt: skip
        user = fleet.user_on("a")
    with fleet.proxy(user=login) as conn:
        call(conn, "remember", p_user_id=user, p_content="Ada likes tea")
        for function in ("route_user(%s, 1)", "assign_slots('a', 1)", "users_in_slots(0, '{1}')",
                         "state_of(0)", "connect_shard('s', 0)",
                         "dblink_connect('s', 'dbname=postgres')"):  # fmt: skip
            with refused("42501", "permission denied for function"):
                conn.execute(f"select recall_proxy.{function}".encode(),
                             [user] if "%s" in function else None)  # fmt: skip
        with refused("42501", "permission denied for procedure move_user"):
            conn.execute("call recall_proxy.move_user(%s, 'b')", [user])
        for table in ("shards", "slots", "moved_users", "moves", "release"):
            with refused("42501", f"permission denied for table {table}"):
                conn.execute(f"select * from recall_proxy.{table}".encode())


def test_only_superusers_change_user_mappings(fleet: Fleet, prefix: str, login: str) -> None:
    """A role that names another one in its own mapping would become it on the shards."""
    grant(fleet, f"{prefix}_writer", login)
    with fleet.proxy() as conn:
        conn.execute(sql.SQL("create user mapping for {} server recall options (user {})").format(
            sql.Identifier(login), sql.Literal(login)))  # fmt: skip
        try:
            with fleet.proxy(user=login) as writer:
                for command in (
                    "alter user mapping for current_user server recall options (set user 'x')",
                    "drop user mapping for current_user server recall",
                    "create user mapping for current_user server recall options (user 'postgres')",
                ):
                    with refused("42501", "user mapping"):
                        writer.execute(command.encode())
        finally:
            conn.execute(sql.SQL("drop user mapping if exists for {} server recall").format(
                sql.Identifier(login)))  # fmt: skip


def test_role_without_rights_reaches_no_shard(fleet: Fleet, login: str) -> None:
    with fleet.proxy(user=login) as conn, refused("42501", "permission denied for schema recall"):
        call(conn, "search", p_user_id=uuid.uuid4(), p_query="tea")


def test_id_of_a_name_names_nobody_through_a_proxy(fleet: Fleet) -> None:
    with fleet.proxy() as conn:
        for name in (f"ada {n}" for n in range(4)):  # on both shards
            ada = call(conn, "ensure_user", p_external_id=name)[0]["ensure_user"]
            for function in ("user_id", "ensure_user"):
                with refused("RC003", f"{ada} is a UUID of version 8"):
                    call(conn, function, p_external_id=str(ada))
            with conn.transaction():
                conn.execute("select set_config('recall.user_id', %s, true)", [str(ada)])
                found = call(conn, "ensure_user", p_external_id=str(ada))
                assert found[0]["ensure_user"] == ada


def test_required_identity_reaches_the_shard(fleet: Fleet, prefix: str, login: str) -> None:
    grant(fleet, f"{prefix}_writer", login)
    users = [fleet.user_on("a"), fleet.user_on("b")]
    with fleet.proxy() as admin:
        call(admin, "configure", p_changes={"require_identity": True})
        try:
            with fleet.proxy(user=login) as conn:
                for user in users:
                    with refused("RC006", "this transaction has no user"):
                        call(conn, "remember", p_user_id=user, p_content="likes tea")
                with refused("RC006", "this transaction has no user"):
                    call(conn, "ensure_user", p_external_id="carla")
            with AgentMemory.connect(
                make_conninfo(fleet.dsn, user=login), embedder=False
            ) as memory:
                for name in [*users, "carla", "david"]:
                    user = memory.users.ensure(name)
                    memory.session(user=name, model="m").append(user="hello")
                    memory.remember(name, "likes tea")
                    assert [one.content for one in memory.search(user, "tea")] == ["likes tea"]
            call(admin, "get_profile", p_user_id=users[0])
        finally:
            call(admin, "configure", p_changes={"require_identity": False})


def test_identity_limits_calls_on_the_shard(fleet: Fleet) -> None:
    ada, bob = fleet.user_on("a"), fleet.user_on("a")
    with fleet.proxy() as conn:
        for user in (ada, bob):
            call(conn, "remember", p_user_id=user, p_content="likes tea")
        conn.execute("select set_config('recall.user_id', %s, false)", [str(ada)])
        assert len(call(conn, "search", p_user_id=ada, p_query="tea")) == 1
        for function, arguments in (
            ("search", {"p_query": "tea"}),
            ("remember", {"p_content": "likes milk"}),
            ("export_user", {}),
        ):
            with refused("RC006", f"user {bob} is not the user of this transaction"):
                call(conn, function, p_user_id=bob, **arguments)
        with refused("RC006"):
            call(conn, "ensure_user", p_external_id=str(bob))


def test_users_in_turns_on_one_backend_keep_their_identities(fleet: Fleet) -> None:
    """Both use the same connection from the proxy to the shard."""
    users = [fleet.user_on("b") for _ in range(2)]
    with fleet.proxy() as conn:
        for turn in range(6):
            mine, others = users[turn % 2], users[1 - turn % 2]
            with conn.transaction():
                conn.execute("select set_config('recall.user_id', %s, true)", [str(mine)])
                call(conn, "remember", p_user_id=mine, p_content=f"likes thing number {turn}")
            with conn.transaction(), refused("RC006"), conn.transaction():
                conn.execute("select set_config('recall.user_id', %s, true)", [str(mine)])
                call(conn, "get_profile", p_user_id=others)
        for place, user in enumerate(users):
            found = {row["content"] for row in call(conn, "list_memories", p_user_id=user)}
            assert found == {f"likes thing number {turn}" for turn in range(place, 6, 2)}


def test_identity_does_not_stay_on_the_connection_of_the_shard(fleet: Fleet) -> None:
    ada, bob = fleet.user_on("a"), fleet.user_on("a")
    with fleet.proxy() as conn:
        with conn.transaction():
            conn.execute("select set_config('recall.user_id', %s, true)", [str(ada)])
            conn.execute("select set_config('recall.embedding_model', 'other', true)")
            call(conn, "remember", p_user_id=ada, p_content="likes tea")
        # no identity: any user may be named, as on a single server
        call(conn, "remember", p_user_id=bob, p_content="likes milk")
        conn.execute(
            "create function pg_temp.setting(integer, text) returns text language plproxy as"
            " $$ cluster 'recall'; run on $1; select current_setting($2, true)::text as found; $$"
        )
        for name in ("recall.user_id", "recall.user_key", "recall.embedding_model"):
            assert not value(conn, "select pg_temp.setting(0, %s)", [name])


def test_keys_of_an_encrypted_user_are_checked(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        call(conn, "seal_user", p_user_id=user, p_wrapped_key=b"x" * 60, p_wrapping_key="k1")
        conn.execute("select set_config('recall.user_key', '7 7', false)")
        with refused("RC006", "have been replaced"):
            call(conn, "get_profile", p_user_id=user)
        conn.execute("select set_config('recall.user_key', '1 1', false)")
        call(conn, "get_profile", p_user_id=user)


def test_read_only_transaction_writes_nothing_on_a_shard(fleet: Fleet) -> None:
    user = uuid.uuid4()
    with fleet.proxy() as conn:
        conn.execute("set default_transaction_read_only = on")
        with refused("25006"):
            call(conn, "remember", p_user_id=user, p_content="likes tea")
        conn.execute("set default_transaction_read_only = off")
        assert call(conn, "list_memories", p_user_id=user) == []


def test_errors_of_a_shard_arrive_as_they_were(fleet: Fleet) -> None:
    user = fleet.user_on("b")
    session = uuid.uuid4()
    answers = []
    with fleet.proxy() as proxy, fleet.shard("b") as shard:
        for conn in (proxy, shard):
            with pytest.raises(psycopg.Error) as caught:
                call(conn, "append_messages", p_user_id=user, p_session_id=session,
                     p_messages=said("hello"))  # fmt: skip
            diag = caught.value.diag
            answers.append((diag.sqlstate, diag.message_primary, diag.message_hint))
    assert answers[0] == answers[1]


def test_repeatable_read_is_refused(fleet: Fleet) -> None:
    with fleet.proxy() as conn:
        conn.execute("set default_transaction_isolation = 'repeatable read'")
        with refused("RC007", "isolation level repeatable read"):
            call(conn, "get_profile", p_user_id=uuid.uuid4())


def test_time_zone_and_lock_timeout_of_the_caller_count(fleet: Fleet) -> None:
    with fleet.proxy() as conn:
        conn.execute(
            "create function pg_temp.in_call(integer, jsonb, text) returns text language plproxy"
            " as $$ cluster 'recall'; run on $1;"
            " select current_setting($3)::text as found from recall_shard.enter($2, null) as e; $$"
        )
        for name, given in (("TimeZone", "Asia/Tokyo"), ("lock_timeout", "1234ms")):
            conn.execute("select set_config(%s, %s, false)", [name, given])
            in_call = "select pg_temp.in_call(0, recall_proxy.settings(), %s)"
            assert value(conn, in_call, [name]) == given
