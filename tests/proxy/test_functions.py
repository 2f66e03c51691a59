"""The functions of a proxy: the same as on a shard, routed by user or combined."""

from __future__ import annotations

import uuid
from collections import Counter

import psycopg
import pytest
from psycopg import sql

from pgrecall import schema
from pgrecall.cli._shards import init_shards, shard_states
from pgrecall.errors import ConfigurationError, InvalidInputError
from support import append, call, open_session, refused, rows, said, value
from support.everyfunction import CALLS, furnish
from support.proxies import Fleet

ON_EACH_SHARD = {
    "run_maintenance", "maintain", "maintenance_commands", "schedule_maintenance",
    "unschedule_maintenance", "set_scheduler", "distribute",
}  # fmt: skip

_SIGNATURES = """
select p.proname, pg_get_function_arguments(p.oid) as arguments,
       case when p.prokind = 'f' then pg_get_function_result(p.oid) end as result,
       obj_description(p.oid, 'pg_proc') as comment,
       array(select pg_get_userbyid(a.grantee)::text from aclexplode(p.proacl) as a
              where a.grantee not in (0, p.proowner) order by 1) as roles
  from pg_proc as p where p.pronamespace = 'recall'::regnamespace and p.proname !~ '^_'
 order by 1
"""


def test_functions_have_the_signatures_and_rights_of_a_shard(fleet: Fleet) -> None:
    with fleet.proxy() as proxy, fleet.shard("a") as shard:
        assert rows(proxy, _SIGNATURES) == rows(shard, _SIGNATURES)


@pytest.mark.slow
def test_every_function_answers_as_on_the_shard(fleet: Fleet) -> None:
    """A call that fails since an earlier one has changed the user fails on the shard, too."""
    with fleet.proxy() as proxy, fleet.shard("b") as shard:
        world = furnish(shard, "ada")
        proxy.execute("select recall_proxy.route_user(%s, 1)", [world["user"]])
        failed = []
        for one in CALLS:
            if one.function in ON_EACH_SHARD:
                with refused("RC007", "is not available through a proxy"):
                    proxy.execute(one.query.encode(), world)
                continue
            try:
                proxy.execute(one.query.encode(), world).fetchall()
            except psycopg.Error as error:
                failed.append(str(one))
                with refused(str(error.sqlstate), str(error.diag.message_primary)):
                    shard.execute(one.query.encode(), world).fetchall()
        assert len(failed) < 10, failed


@pytest.mark.slow
def test_users_are_spread_over_shards_and_found(fleet: Fleet) -> None:
    names = [f"user {n}" for n in range(40)]
    with fleet.proxy() as conn:
        made = {name: call(conn, "ensure_user", p_external_id=name)[0]["ensure_user"]
                for name in names}  # fmt: skip
        homes = Counter(fleet.home(user) for user in made.values())
        assert min(homes["a"], homes["b"]) > 5
        for name in fleet.databases:
            with fleet.shard(name) as shard:
                stored = {row[0] for row in shard.execute("select user_id from recall.users")}
            assert {user for user in made.values() if fleet.home(user) == name} <= stored
        pages, after = [], None
        while page := call(conn, "list_users", p_after_id=after, p_limit=7):
            pages += [row["user_id"] for row in page]
            after = page[-1]["user_id"]
        assert pages == sorted(pages)
        assert {*made.values()} <= {*pages}


def test_slot_of_a_user_never_changes(fleet: Fleet) -> None:
    """The slots of stored users depend on it."""
    with fleet.proxy() as conn:
        users = [uuid.UUID(int=n) for n in range(3)]
        slots = [value(conn, "select recall_proxy.slot_of(%s)", [user]) for user in users]
        assert slots == [221, 496, 420]


def test_workers_claim_jobs_of_all_shards(fleet: Fleet) -> None:
    users = [fleet.user_on(name) for name in "ab" for _ in range(3)]
    with fleet.proxy() as conn:
        for user in users:
            call(conn, "enqueue_job", p_user_id=user, p_kind="embed")
        claimed = call(conn, "claim_jobs", p_worker="w", p_kinds=["embed"], p_limit=100)
        assert {*users} <= {job["user_id"] for job in claimed}
        assert call(conn, "claim_jobs", p_worker="w", p_kinds=["embed"], p_limit=100) == []
        call(conn, "enqueue_job", p_user_id=users[0], p_kind="embed")
        call(conn, "enqueue_job", p_user_id=users[-1], p_kind="embed")
        one = call(conn, "claim_jobs", p_worker="w", p_kinds=["embed"], p_limit=1)
        assert len(one) == 1


def test_configuration_reaches_all_shards(fleet: Fleet) -> None:
    with fleet.proxy() as conn:
        call(conn, "configure", p_changes={"recalled_turns": 7})
        call(conn, "register_kind", p_kind="wish", p_description="What they wish for.")
        call(conn, "register_model", p_model_id="own", p_context_window_size=4096)
        version = call(conn, "set_prompt", p_name="extract", p_content="Extract.",
                       p_version="mine-1")[0]["set_prompt"]  # fmt: skip
        assert version
        assert all(not shard.problems for shard in shard_states(conn))
    for name in fleet.databases:
        with fleet.shard(name) as shard:
            assert value(shard, "select recalled_turns from recall.settings") == 7
            assert value(shard, "select count(*) from recall.memory_kinds where kind = 'wish'") == 1


def test_wrong_configuration_gets_the_error_of_one_server(fleet: Fleet) -> None:
    with fleet.proxy() as conn, refused("RC003", "unknown key in p_changes: colour"):
        call(conn, "configure", p_changes={"colour": "red"})


def test_configuration_names_the_shards_that_failed_and_can_be_repeated(fleet: Fleet) -> None:
    with fleet.proxy() as conn, fleet.shard("b") as shard:
        with shard.transaction():
            shard.execute("lock table recall.settings in access exclusive mode")
            conn.execute("set lock_timeout = '100ms'")
            with refused("RC007", "1 of 2 shards have not made this change"):
                call(conn, "configure", p_changes={"recalled_turns": 9})
        assert {s.name: s.problems for s in shard_states(conn)} == {
            "a": [], "b": ["settings differ from shard a"],
        }  # fmt: skip
        call(conn, "configure", p_changes={"recalled_turns": 9})
        assert all(not s.problems for s in shard_states(conn))


def test_health_and_metrics_name_the_shard(fleet: Fleet) -> None:
    with fleet.proxy() as conn:
        details = [row["detail"] for row in call(conn, "health") if row["name"] == "version"]
        assert {detail.partition(":")[0] for detail in details} == {"a", "b"}
        up = [row for row in call(conn, "metrics") if row["name"] == "shard_up"]
        assert {(row["labels"]["shard"], row["value"]) for row in up} == {("a", 1.0), ("b", 1.0)}


def test_append_with_same_request_id_returns_same_turns(fleet: Fleet) -> None:
    user, request = uuid.uuid4(), uuid.uuid4()
    with fleet.proxy() as conn:
        session = open_session(conn, user)
        first = append(conn, user, session, said("hello"), request_id=request)
        again = append(conn, user, session, said("hello"), request_id=request)
    assert [row[:2] for row in first] == [row[:2] for row in again]
    assert not again[0][2]


def test_shard_of_another_release_is_refused(fleet: Fleet) -> None:
    user = fleet.user_on("b")
    definition = "select pg_get_functiondef('recall.version'::regproc)"
    with fleet.proxy() as conn, fleet.shard("b") as shard:
        original = value(shard, definition)
        installed = value(shard, "select recall.version()")
        try:
            shard.execute(original.replace(installed, "9.9.9").encode())
            with refused("RC007", "this shard is of release 9.9.9"):
                call(conn, "get_profile", p_user_id=user)
            call(conn, "get_profile", p_user_id=fleet.user_on("a"))
            with pytest.raises(ConfigurationError, match=r"differ in version: .* and 9\.9\.9"):
                init_shards(conn, {})
            assert "is of release 9.9.9" in str(shard_states(conn)[1].problems)
        finally:
            shard.execute(original.encode())
        call(conn, "get_profile", p_user_id=user)


def test_workers_get_jobs_beside_a_shard_that_refuses(fleet: Fleet) -> None:
    user = fleet.user_on("a")
    definition = "select pg_get_functiondef('recall.version'::regproc)"
    claim = {"p_worker": "w", "p_kinds": ["embed"], "p_limit": 100}
    with fleet.proxy() as conn, fleet.shard("b") as shard:
        original = value(shard, definition)
        installed = value(shard, "select recall.version()")
        warnings: list[str] = []
        conn.add_notice_handler(lambda notice: warnings.append(str(notice.message_primary)))
        try:
            shard.execute(original.replace(installed, "9.9.9").encode())
            for _ in range(8):  # either shard comes first
                call(conn, "enqueue_job", p_user_id=user, p_kind="embed")
                assert user in {job["user_id"] for job in call(conn, "claim_jobs", **claim)}
            assert "shard b has given no jobs" in warnings
        finally:
            shard.execute(original.encode())
        with refused("RC003"):
            call(conn, "claim_jobs", p_worker="w", p_limit=-1)


def test_init_is_repeatable_and_refuses_what_cannot_be(fleet: Fleet) -> None:
    with fleet.proxy() as conn:
        before = value(conn, "select 'recall.search'::regproc::oid")
        assert [shard.slots for shard in init_shards(conn, {})] == [512, 512]
        assert value(conn, "select 'recall.search'::regproc::oid") == before
        with pytest.raises(ConfigurationError, match="shard c is new to this proxy"):
            init_shards(conn, {"c": fleet.connection("a")})
        with pytest.raises(InvalidInputError, match="names a user or a password"):
            init_shards(conn, {"a": fleet.connection("a") + " user=postgres"})
    with fleet.shard("a") as conn:
        with pytest.raises(psycopg.Error, match="has an installation of pgrecall"):
            init_shards(conn, {"a": fleet.connection("a")})
        with pytest.raises(ConfigurationError, match="is no proxy"):
            shard_states(conn)
        # by psql, on the shard instead of on the proxy
        made = conn.execute(schema.read_file("sql/proxy/generate.sql").encode())
        while made.nextset():
            pass
        script = "".join(statement for (statement,) in made.fetchall())
        with pytest.raises(psycopg.Error, match="database has an installation"):
            conn.execute(script.encode())
        assert value(conn, "select to_regclass('recall.settings')") is not None


@pytest.mark.slow
def test_init_refuses_shards_of_different_sizes(fleet: Fleet) -> None:
    server = fleet.server
    with server.dropping_databases():
        other, proxy = server.create_database("other_size"), server.create_database("no_proxy")
        with psycopg.connect(server.dsn(other), autocommit=True) as conn:
            server.install(conn, embedding_dimensions=7)
        fleet.databases["other"] = other
        connection = fleet.connection("other")
        del fleet.databases["other"]
        with psycopg.connect(server.dsn(proxy), autocommit=True) as conn:
            with pytest.raises(ConfigurationError, match="shards a and other differ in settings"):
                init_shards(conn, {"a": fleet.connection("a"), "other": connection})
            assert value(conn, "select to_regclass('recall_proxy.shards')") is None


def test_only_functions_of_the_interface_are_callable(fleet: Fleet) -> None:
    with fleet.proxy() as conn:
        public = rows(conn, """
            select p.oid::regprocedure::text from pg_proc as p
             cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
             where p.pronamespace in ('recall'::regnamespace, 'recall_proxy'::regnamespace)
               and a.grantee = 0""")  # fmt: skip
        assert public == []
    for name in fleet.databases:
        with fleet.shard(name) as conn:
            public = rows(conn, sql.SQL("""
                select p.oid::regprocedure::text from pg_proc as p
                 cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
                 where p.pronamespace = 'recall_shard'::regnamespace and a.grantee = 0
                """).as_string(conn))  # fmt: skip
            assert public == []
