"""Two shards behind a PL/Proxy database, on a server that has the extension."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
import pytest
from psycopg import conninfo, sql

from pgrecall.cli._shards import init_shards
from support import value
from support.servers import TestServer

# Tests that PGRECALL_TEST_PROXY leaves out. tests/proxy/test_transactions.py has the other side of
# the first reason.
_TRANSACTION = "a call through a proxy cannot be part of a transaction"
NOT_THROUGH_A_PROXY = {
    "test_joining_leaves_the_transaction_to_the_caller": _TRANSACTION,
    "test_joining_in_autocommit_commits_each_call": _TRANSACTION,
    "test_identity_of_the_caller_is_the_users": _TRANSACTION,
    "test_driver_names_the_user_of_each_call[transaction]": _TRANSACTION,
    "test_driver_names_the_user_of_each_call[joining]": _TRANSACTION,
    "test_statement_beside_the_driver_needs_an_identity": _TRANSACTION,
    "test_clearing_a_session_may_wait_longer_than_other_calls":
        "a writer's transaction ends on its shard at once",
    "test_erasure_names_the_process_that_it_has_waited_for":
        "a writer's transaction ends on its shard at once",
    "test_append_whose_connection_is_lost_is_stored_once":
        "it looks for a wait for a lock, and that is on the shard",
    "test_connections_with_a_plan_from_before_an_upgrade_are_replaced":
        "it replaces a function of the installation",
    "test_reads_on_a_standby_leave_plans_from_before_an_upgrade":
        "it replaces a function of the installation",
    "test_opening_plans_what_a_search_needs": "the plans are those of a connection to the shard",
    "test_tools_work_in_a_loop_of_the_application": "it calls an internal function",
    "test_worker_runs_due_maintenance":
        "it sets the tasks of one shard due, and its user may live on another",
    "test_idle_means_that_nothing_runs": "it sets a column of settings to its default",
}  # fmt: skip


@dataclass
class Fleet:
    """A proxy and its shards.

    Attributes:
        server: where all of them are.
        dsn: a superuser's DSN of the proxy.
        databases: the database of each shard, by name.
    """

    server: TestServer
    dsn: str
    databases: dict[str, str] = field(default_factory=dict)

    def proxy(self, **parameters: str) -> psycopg.Connection:
        """Connect to the proxy, in autocommit mode."""
        return psycopg.connect(self.dsn, autocommit=True, **parameters)

    def shard(self, name: str) -> psycopg.Connection:
        """Connect to a shard as a superuser, in autocommit mode."""
        return psycopg.connect(self.server.dsn(self.databases[name]), autocommit=True)

    def home(self, user: uuid.UUID) -> str:
        """Return the name of the shard on which a user lives."""
        with self.proxy() as conn:
            row = conn.execute(
                "select s.name from recall_proxy.shards as s"
                " where s.shard_no = recall_proxy.shard_of(%s)",
                [user],
            ).fetchone()
        assert row is not None
        return str(row[0])

    def user_on(self, name: str) -> uuid.UUID:
        """Return a new user of a shard."""
        while self.home(user := uuid.uuid4()) != name:
            pass
        return user

    def connection(self, name: str) -> str:
        """Return the connection of a shard as the proxy knows it: without a user."""
        parts = conninfo.conninfo_to_dict(self.server.dsn(self.databases[name]))
        return conninfo.make_conninfo(
            "", **{key: parts[key] for key in ("dbname", "host", "port") if key in parts}
        )

    def add_database(self, name: str) -> str:
        """Create the database of one more shard, which the proxy does not know; its connection."""
        self.databases[name] = self.server.cloned_database(f"shard_{name}")
        return self.connection(name)


def require_plproxy(server: TestServer) -> None:
    """Skip the test on a server without PL/Proxy."""
    with server.admin() as conn:
        found = conn.execute("select from pg_available_extensions where name = 'plproxy'")
        if found.fetchone() is None:
            pytest.skip("the server has no PL/Proxy")


@contextmanager
def running_fleet(server: TestServer, label: str, *names: str) -> Iterator[Fleet]:
    """Give a proxy before shards of these names; the test is skipped without PL/Proxy."""
    require_plproxy(server)
    name = server.create_database(f"proxy_{label}")
    fleet = Fleet(server, server.dsn(name))
    for shard in names:
        fleet.add_database(shard)
    with fleet.proxy() as conn:
        init_shards(conn, {shard: fleet.connection(shard) for shard in names})
    try:
        yield fleet
    finally:
        for database in (name, *fleet.databases.values()):
            server.drop_database(database)


# A row of a user is on one shard. Other tables are equal on all shards: they are read on the first,
# and changed on all, which only settings need.
_CHANGE = """
create function seen_change() returns trigger language plpgsql as $$
declare
    v_seen    text;
    v_changes text;
begin
    if tg_op = 'UPDATE' then
        select string_agg(format('%I = ($2).%I', n.key, n.key), ', ')
          into v_changes
          from jsonb_each(to_jsonb(new)) as n
         where n.value is distinct from to_jsonb(old) -> n.key;
        if v_changes is null then
            return new;
        end if;
    end if;
    foreach v_seen in array tg_argv loop
        execute format(
            case tg_op when 'DELETE' then 'delete from %I.%I as t'
                       else 'update %I.%I as t set ' || v_changes end
            || case when tg_table_name = 'settings' then '' else ' where t::text = ($1)::text' end,
            v_seen, tg_table_name) using old, new;
    end loop;
    return coalesce(new, old);
end;
$$
"""


def show_tables(fleet: Fleet) -> None:
    """Show the tables of all shards in the proxy, for tests that look into tables.

    Each is a view in the schema recall over both shards. Rows can be read, changed and deleted.
    """
    with fleet.shard(next(iter(fleet.databases))) as shard:
        enums = shard.execute(
            "select t.typname, string_agg(quote_literal(e.enumlabel), ', ' order by"
            " e.enumsortorder) from pg_type as t join pg_enum as e on e.enumtypid = t.oid"
            " where t.typnamespace = 'recall'::regnamespace group by 1"
        ).fetchall()
        tables = shard.execute(
            "select c.relname, exists (select from pg_attribute as a where a.attrelid = c.oid"
            " and a.attname = 'user_id') from pg_class as c"
            " where c.relnamespace = 'recall'::regnamespace and c.relkind in ('r', 'p')"
            " and not c.relispartition and c.relname <> 'memory_embedding'"  # a type of the proxy
        ).fetchall()
    with fleet.proxy() as conn:
        conn.execute("create extension if not exists postgres_fdw")
        conn.execute(_CHANGE)
        for enum, labels in enums:  # a proxy has those of its functions only
            if not value(conn, "select to_regtype(%s) is not null", [f"recall.{enum}"]):
                conn.execute(f"create type recall.{enum} as enum ({labels})")
        for name, database in fleet.databases.items():
            parts = conninfo.conninfo_to_dict(fleet.server.dsn(database))
            seen, server = sql.Identifier(f"seen_{name}"), sql.Identifier(f"seen_server_{name}")
            conn.execute(
                sql.SQL(
                    "create server {} foreign data wrapper postgres_fdw"
                    " options (host {}, port {}, dbname {})"
                ).format(server, *(sql.Literal(str(parts[k])) for k in ("host", "port", "dbname")))
            )
            conn.execute(
                sql.SQL("create user mapping for current_user server {} options (user {})").format(
                    server, sql.Literal(parts["user"])
                )
            )
            conn.execute(sql.SQL("create schema {}").format(seen))
            conn.execute(
                sql.SQL("import foreign schema recall limit to ({}) from server {} into {}").format(
                    sql.SQL(", ").join(sql.Identifier(table) for table, _ in tables), server, seen
                )
            )
        every = [f"seen_{name}" for name in fleet.databases]
        for table, has_user in tables:
            view = sql.Identifier("recall", table)
            conn.execute(
                sql.SQL("create view {} as {}").format(
                    view,
                    sql.SQL(" union all ").join(
                        sql.SQL("select * from {}").format(sql.Identifier(schema, table))
                        for schema in (every if has_user else every[:1])
                    ),
                )
            )
            conn.execute(
                sql.SQL(
                    "create trigger seen_change instead of update or delete on {}"
                    " for each row execute function seen_change({})"
                ).format(view, sql.SQL(", ").join(map(sql.Literal, every)))
            )
