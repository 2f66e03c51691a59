"""Logical replication into a database: health() says when it stops or skips what is sent."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from pgrecall import schema
from support import append, call, open_session, said, value
from support.servers import TestServer, running_server

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def cluster() -> Iterator[TestServer]:
    """A cluster of this module's own, whose log of writes can be decoded."""
    settings = {"wal_level": "logical", "wal_retrieve_retry_interval": "200ms"}
    with running_server("embedded", settings) as server:
        yield server


class Pair:
    """A publisher and a subscriber, two databases of one cluster."""

    def __init__(self, server: TestServer, *, as_root: bool) -> None:
        names = [server.create_database(label) for label in ("publisher", "subscriber")]
        self.publisher, self.subscriber = (
            psycopg.connect(server.dsn(name), autocommit=True) for name in names
        )
        for conn in (self.publisher, self.subscriber):
            prefix = "publisher" if conn is self.publisher else "subscriber"
            schema.install(conn, embedding_dimensions=4, hash_partitions=1, role_prefix=prefix,
                           share_roles=True, history_months_ahead=1)  # fmt: skip
        via_root = f"with (publish_via_partition_root = {str(as_root).lower()})"
        self.slot = f"sub_{uuid.uuid4().hex[:8]}"
        self.publisher.execute(
            f"create publication pub for tables in schema recall {via_root}".encode()
        )
        value(self.publisher, "select pg_create_logical_replication_slot(%s, 'pgoutput')::text",
              [self.slot])  # fmt: skip
        self.subscriber.execute(
            f"create subscription {self.slot} connection '{server.dsn(names[0])}' publication pub"
            " with (create_slot = false, copy_data = false)".encode()
        )

    def close(self) -> None:
        # a copy that begins would wait for the drop, and the drop for it: they share a cluster
        until(lambda: value(self.subscriber, "select bool_and(srsubstate = 'r') from"
                            " pg_subscription_rel"), "the tables are not copied")  # fmt: skip
        self.subscriber.execute(f"drop subscription {self.slot}".encode())
        self.publisher.close()
        self.subscriber.close()

    def health(self, name: str, conn: Connection | None = None) -> tuple[str, str, str | None]:
        (row,) = (row for row in call(conn or self.subscriber, "health") if row["name"] == name)
        return row["status"], row["detail"], row["hint"]

    def write(self, months: int = 0) -> uuid.UUID:
        """Write a turn on the publisher, as so many months from now; return its user."""
        user = uuid.uuid4()
        append(self.publisher, user, open_session(self.publisher, user), said("hello"))
        if months:
            self.publisher.execute(
                "insert into recall.conversation_history select (jsonb_populate_record(h,"
                " jsonb_build_object('created_at', h.created_at + make_interval(months => %s),"
                " 'turn_index', 2, 'message_id', gen_random_uuid()))).*"
                " from recall.conversation_history as h where h.user_id = %s",
                [months, user],
            )
        return user

    def has(self, user: uuid.UUID, turns: int) -> bool:
        return turns == value(
            self.subscriber,
            "select count(*) from recall.conversation_history where user_id = %s", [user],
        )  # fmt: skip


@pytest.fixture
def pair(cluster: TestServer, request: pytest.FixtureRequest) -> Iterator[Pair]:
    made = Pair(cluster, as_root=request.param == "by parents")
    yield made
    made.close()


def until(condition: Any, what: str) -> None:
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(what)


def drop_next_month(conn: Connection) -> None:
    for name in value(
        conn,
        "select array_agg(c.oid::regclass::text) from pg_class as c where c.relispartition"
        " and c.relnamespace = 'recall'::regnamespace and c.relkind = 'r' and c.relname like"
        " '%_y' || to_char(date_trunc('month', now() at time zone 'UTC') + interval '1 month',"
        " 'YYYY\"m\"MM')",
    ):
        conn.execute(f"drop table {name}".encode())


@pytest.mark.parametrize("pair", ["by parents", "by partitions"], indirect=True)
def test_subscriber_without_next_months_partition(pair: Pair) -> None:
    """It stops; health() counts the errors and says what mends it; then nothing is missing."""
    assert pair.health("subscriptions", pair.publisher) == (
        "ok",
        "no subscription writes into schema recall",
        None,
    )
    first = pair.write()
    until(lambda: pair.has(first, 1), "the subscription does not apply")
    assert pair.health("subscriptions") == ("ok", f"{pair.slot} is running", None)

    drop_next_month(pair.subscriber)
    second = pair.write(months=1)
    until(lambda: " errors" in pair.health("subscriptions")[1], "no error was counted")
    status, detail, hint = pair.health("subscriptions")
    assert status in ("warn", "fail"), detail
    assert "select recall.ensure_partitions();" in str(hint)
    assert not pair.has(second, 2)

    call(pair.subscriber, "ensure_partitions")
    if "refresh publication" in str(pair.health("subscriptions")[2]):
        assert pair.health("subscriptions")[0] == "fail"
        assert "partitions are skipped" in pair.health("subscriptions")[1]
        pair.subscriber.execute(f"alter subscription {pair.slot} refresh publication".encode())
    until(lambda: pair.has(second, 2), "the turn of next month did not come")
    until(lambda: "is running" in pair.health("subscriptions")[1], "the worker does not run")
    assert pair.health("subscriptions")[0] == "warn", "errors were counted"
    reset = str(pair.health("subscriptions")[2])
    pair.subscriber.execute(reset[reset.index("select pg_stat_reset") :].encode())
    assert pair.health("subscriptions") == ("ok", f"{pair.slot} is running", None)


@pytest.mark.parametrize("pair", ["by partitions"], indirect=True)
def test_partition_that_is_no_part_of_the_subscription(pair: Pair) -> None:
    """Its changes are skipped without an error, until the subscription is refreshed."""
    for conn in (pair.publisher, pair.subscriber):
        call(conn, "configure", p_changes={"history_months_ahead": 2})
        call(conn, "ensure_partitions")
    user = pair.write(months=2)
    until(lambda: pair.has(user, 1), "the subscription does not apply")
    time.sleep(1)
    assert pair.has(user, 1), "the other turn is skipped"
    status, detail, hint = pair.health("subscriptions")
    assert status == "fail"
    assert "partitions are skipped" in detail
    assert hint == f"alter subscription {pair.slot} refresh publication;"
    pair.subscriber.execute(hint.encode())
    until(lambda: pair.has(user, 2), "the copy does not come")
    until(lambda: pair.health("subscriptions")[0] == "ok", "not well after the remedy")


@pytest.mark.parametrize("pair", ["by parents"], indirect=True)
def test_disabled_subscription_turns_red_and_its_hint_enables_it(pair: Pair) -> None:
    pair.subscriber.execute(f"alter subscription {pair.slot} disable".encode())
    assert pair.health("subscriptions") == (
        "warn", f"{pair.slot} is disabled", f"alter subscription {pair.slot} enable;"
    )  # fmt: skip
    pair.subscriber.execute(str(pair.health("subscriptions")[2]).encode())
    until(lambda: pair.health("subscriptions")[0] == "ok", "it does not run")


@pytest.mark.parametrize("pair", ["by parents"], indirect=True)
def test_subscriber_keeps_its_own_roles(pair: Pair) -> None:
    """Though the publisher sends its whole row of settings; and the next upgrade finds them."""
    call(pair.publisher, "configure", p_changes={"session_ttl": "9 days"})
    query = "select session_ttl = '9 days', role_prefix from recall.settings"
    until(lambda: value(pair.subscriber, query), "the setting does not come")
    schema.install(pair.subscriber)
    (found,) = pair.subscriber.execute(query.encode()).fetchall()
    assert found == (True, "subscriber")
    assert value(pair.subscriber, "select nspowner::regrole::text from pg_namespace"
                                  " where nspname = 'recall'") == "subscriber_owner"  # fmt: skip
    assert not value(pair.subscriber, "select has_schema_privilege('publisher_reader', 'recall',"
                                      " 'usage')")  # fmt: skip
