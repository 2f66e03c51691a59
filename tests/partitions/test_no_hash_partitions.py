"""An installation without hash partitions, as Citus needs it, behaves like any other."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from pgrecall.schema import InstallError
from support import append, call, login_role, open_session, refused, rows, said, value
from support.comparing import outcome
from support.everyfunction import CALLS, Call, World, furnish
from support.installing import RULES
from support.invariants import check_invariants
from support.months import leaves, month
from support.servers import DIMENSIONS, TestServer

Connection = psycopg.Connection[Any]

# Tables, columns, constraints, indexes, triggers, policies and comments, but not partitions.
_CATALOG = """
    with tables as (
        select c.oid, c.relname
          from pg_class as c
         where c.relnamespace = 'recall'::regnamespace
           and c.relkind in ('r', 'p')
           and not c.relispartition
    )
    select t.relname, c.relpersistence::text, c.relrowsecurity, obj_description(t.oid, 'pg_class'),
           array(select (a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                         pg_get_expr(d.adbin, d.adrelid), a.attstorage, a.attgenerated,
                         col_description(t.oid, a.attnum))::text
                   from pg_attribute as a
                   left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
                  where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
                  order by a.attnum),
           array(select o.conname || ' ' || pg_get_constraintdef(o.oid)
                   from pg_constraint as o where o.conrelid = t.oid order by 1),
           array(select replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')
                        || coalesce(obj_description(i.indexrelid, 'pg_class'), '')
                   from pg_index as i where i.indrelid = t.oid order by 1),
           array(select pg_get_triggerdef(g.oid)
                        || coalesce(obj_description(g.oid, 'pg_trigger'), '')
                   from pg_trigger as g where g.tgrelid = t.oid and not g.tgisinternal order by 1),
           array(select (p.polname, pg_get_expr(p.polqual, p.polrelid))::text
                   from pg_policy as p where p.polrelid = t.oid order by 1)
      from tables as t
      join pg_class as c on c.oid = t.oid
     order by 1
"""


@pytest.fixture(scope="module")
def flat(server: TestServer) -> Iterator[str]:
    """The DSN of an installation without hash partitions."""
    name = server.create_database("flat")
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        server.install(conn, embedding_dimensions=DIMENSIONS, hash_partitions=0)
        conn.execute('select recall.configure(\'{"maintenance_lock_time": "1 minute"}\')')
    yield server.dsn(name)
    server.drop_database(name)


@pytest.fixture
def conn(flat: str) -> Iterator[Connection]:
    with psycopg.connect(flat, autocommit=True) as conn:
        yield conn


@pytest.fixture(scope="module")
def both(flat: str, dsn: str) -> Iterator[list[tuple[Connection, World]]]:
    """The same user in this installation and in one with hash partitions."""
    with (
        psycopg.connect(flat, autocommit=True) as one,
        psycopg.connect(dsn, autocommit=True) as other,
    ):
        yield [(conn, furnish(conn, "marked")) for conn in (other, one)]


@pytest.mark.parametrize("asked", CALLS, ids=str)
def test_every_function_answers_as_with_partitions(
    both: list[tuple[Connection, World]], asked: Call
) -> None:
    expected, found = (outcome(conn, asked, world) for conn, world in both)
    assert found == expected


def test_installation_has_the_same_tables_without_the_level(
    conn: Connection, db: Connection
) -> None:
    assert conn.execute(_CATALOG).fetchall() == db.execute(_CATALOG).fetchall()
    assert rows(conn, "select c.oid::regclass::text as name from pg_class as c"
                      " join pg_partitioned_table as p on p.partrelid = c.oid"
                      " where p.partstrat = 'h'") == []  # fmt: skip
    assert value(conn, "select hash_partitions from recall.settings") == 0
    assert rows(conn, "select relname::text, reloptions from pg_class where relname in"
                      " ('sessions', 'users', 'memory_store') order by 1") == [
        {"relname": "memory_store", "reloptions": ["fillfactor=85"]},
        {"relname": "sessions", "reloptions": ["fillfactor=80"]},
        {"relname": "users", "reloptions": ["fillfactor=70"]},
    ]  # fmt: skip


def test_the_rules_of_the_catalog_hold(conn: Connection) -> None:
    broken = [rule for rule, query in RULES.items() if conn.execute(query.encode()).fetchall()]
    assert broken == []


def test_months_are_partitions_of_history_itself(conn: Connection) -> None:
    now = datetime.now(UTC)
    assert {(month(now, n), month(now, n + 1)) for n in range(4)} <= {
        *leaves(conn)["recall.conversation_history"]
    }


def test_an_old_message_gets_its_month(conn: Connection) -> None:
    user = uuid.uuid4()
    session = open_session(conn, user)
    old = datetime.now(UTC) - timedelta(days=300)
    append(conn, user, session, said("hello", created_at=old.isoformat()))
    assert (month(old), month(old, 1)) in leaves(conn)["recall.conversation_history"]
    assert len(call(conn, "get_messages", p_user_id=user, p_session_id=session)) == 1


def test_a_user_moves_between_installations_with_and_without(
    conn: Connection, db: Connection
) -> None:
    for source, target in ((conn, db), (db, conn)):
        user = furnish(source, "moving")["user"]
        documents = [row["export_user"] for row in call(source, "export_user", p_user_id=user)]
        for document in documents:
            call(target, "import_user", p_user_id=user, p_document=document)
        kept = [value(conn, "select count(*) from recall.conversation_history where user_id = %s",
                      [user]) for conn in (source, target)]  # fmt: skip
        assert kept[0] == kept[1] > 0


def test_upgrade_keeps_the_number(server: TestServer, conn: Connection) -> None:
    before = conn.execute(_CATALOG).fetchall()
    server.install(conn)
    assert conn.execute(_CATALOG).fetchall() == before
    with pytest.raises(InstallError, match="0 hash partitions, not 384 and 2"):
        server.install(conn, hash_partitions=2)


def test_health_finds_nothing_wrong(conn: Connection) -> None:
    failed = {row["name"] for row in call(conn, "health") if row["status"] == "fail"}
    assert failed <= {"dead_jobs"}, "the world of the calls has one"


def test_estimates_count_the_rows_of_tables_without_partitions(
    conn: Connection, both: list[tuple[Connection, World]]
) -> None:
    call(conn, "put_items", p_user_id=both[1][1]["user"],
         p_items=[{"namespace": ["n"], "key": "k", "value": {"a": 1}}])  # fmt: skip
    conn.execute("analyze")
    found = {row["name"]: row["value"] for row in call(conn, "metrics")}
    assert found["pgrecall_items_estimate"] > 0
    assert found["pgrecall_memories_estimate"] > 0
    vectors = "recall.memory_embedding"
    leaves = "select l.relid::text as name from recall._leaf_tables(%s) as l order by 1"
    assert rows(conn, leaves, [vectors]) == [{"name": vectors}]
    count = value(both[0][0], "select hash_partitions from recall.settings")
    assert rows(both[0][0], leaves, [vectors]) == [
        {"name": f"{vectors}_p{number}"} for number in range(count)
    ]


def test_the_invariants_hold(conn: Connection) -> None:
    check_invariants(conn)


@pytest.mark.parametrize("bad", [None, 0, -1, 1025])
def test_distribute_refuses_a_bad_number_of_shards(conn: Connection, bad: int | None) -> None:
    with refused("RC003", f"p_shard_count is {'null' if bad is None else bad}"):
        conn.execute("select recall.distribute(%s::integer)", [bad])


def test_distribute_needs_citus(conn: Connection) -> None:
    with refused("RC007", "extension citus is not installed"):
        call(conn, "distribute")


def test_distribute_needs_a_superuser(conn: Connection, flat: str) -> None:
    with (
        login_role(conn, member_of=["recall_admin"]) as login,
        psycopg.connect(flat, autocommit=True, **login) as admin,
        refused("RC007", "may not distribute"),
    ):
        call(admin, "distribute")


def test_a_call_from_another_node_needs_an_identity(conn: Connection) -> None:
    ask = "select recall._delegated_identity()"
    assert value(conn, ask) is None
    with conn.transaction(force_rollback=True):
        conn.execute("set local application_name = 'citus_internal gpid=10000000001'")
        conn.execute("set local recall.user_id = 'somebody'")
        assert value(conn, ask) == "somebody"
        conn.execute("set local recall.user_id = ''")
        with refused("RC006", "came from another node"):
            conn.execute(ask)
