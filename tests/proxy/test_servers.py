"""Shards on servers of their own, which ask each role for its password."""

from __future__ import annotations

import secrets
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
import pytest
from psycopg import conninfo, sql

from pgrecall import AgentMemory, schema
from pgrecall.cli._shards import init_shards, move_user, shard_states
from pgrecall.embedded import EmbeddedServer
from support import call, open_session, refused, rows, value
from support.proxies import require_plproxy
from support.servers import FAST, TestServer, new_home

pytestmark = pytest.mark.slow

# each has characters that a connection string must quote
SUPERUSER, WRITER, READER = r"it's \ 1", r"it's \ 2", r"it's \ 3"


@dataclass
class Servers:
    """A proxy, and shards on servers of their own.

    Attributes:
        dsn: a superuser's DSN of the proxy.
        shards: a superuser's DSN of each shard, by name.
        writer: a login that writes.
        reader: a login that reads.
    """

    dsn: str
    shards: dict[str, str]
    writer: str
    reader: str

    def proxy(self, user: str = "postgres") -> psycopg.Connection:
        return psycopg.connect(self.dsn, user=user, autocommit=True)

    def user_on(self, name: str) -> uuid.UUID:
        """Return a new user of a shard."""
        with self.proxy() as conn:
            while value(conn, "select recall_proxy.shard_of(%s)", [user := uuid.uuid4()]) != list(
                self.shards
            ).index(name):
                pass
        return user


def set_password(conn: psycopg.Connection, role: str, password: str) -> None:
    conn.execute(sql.SQL("alter role {} login password {}").format(
        sql.Identifier(role), sql.Literal(password)))  # fmt: skip


@contextmanager
def password_server(address: str, prefix: str) -> Iterator[str]:
    """Run a server that asks for passwords at an address of this machine; give a local DSN."""
    home = new_home()
    settings = {**FAST, "listen_addresses": address, "password_encryption": "scram-sha-256"}
    try:
        with EmbeddedServer(home, settings=settings) as embedded:
            (home / "data" / "pg_hba.conf").write_text(
                "local all all trust\nhost all all 127.0.0.0/8 scram-sha-256\n"
            )
            with psycopg.connect(embedded.dsn, autocommit=True) as conn:
                conn.execute("select pg_reload_conf()")
                schema.install(conn, embedding_dimensions=8, role_prefix=prefix)
                set_password(conn, "postgres", SUPERUSER)
                for role, password in (("writer", WRITER), ("reader", READER)):
                    login = f"{prefix}_app_{role}"
                    conn.execute(sql.SQL("create role {} login in role {}").format(
                        sql.Identifier(login), sql.Identifier(f"{prefix}_{role}")))  # fmt: skip
                    set_password(conn, login, password)
            yield embedded.dsn
    finally:
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def servers(server: TestServer) -> Iterator[Servers]:
    require_plproxy(server)
    prefix = f"far_{secrets.token_hex(4)}"
    # other runs on this machine use other addresses
    net = f"127.{secrets.randbelow(254) + 1}.{secrets.randbelow(254) + 1}"
    addresses = {"a": f"{net}.1", "b": f"{net}.2"}
    name = server.create_database("proxy_far")
    logins = [f"{prefix}_app_writer", f"{prefix}_app_reader"]
    with (
        password_server(addresses["a"], prefix) as a,
        password_server(addresses["b"], prefix) as b,
    ):
        try:
            # the proxy's server trusts its clients; the password is for the shards
            with psycopg.connect(server.dsn(name), password=SUPERUSER, autocommit=True) as conn:
                init_shards(conn, {
                    shard: f"host={address} port=5432 dbname=recall"
                    for shard, address in addresses.items()
                })  # fmt: skip
                for login in logins:
                    conn.execute(sql.SQL("create role {} login in role {}").format(
                        sql.Identifier(login),
                        sql.Identifier(login.replace("_app", ""))))  # fmt: skip
            yield Servers(server.dsn(name), {"a": a, "b": b}, *logins)
        finally:
            server.drop_database(name)
            with server.admin() as conn:
                for role in [*logins, *(f"{prefix}_{r}" for r in
                                        ("reader", "writer", "worker", "admin"))]:  # fmt: skip
                    conn.execute(sql.SQL("drop role if exists {}").format(sql.Identifier(role)))


@contextmanager
def mapped(servers: Servers, role: str, password: str) -> Iterator[None]:
    """Give the proxy the password of a role."""
    with servers.proxy() as conn:
        conn.execute(sql.SQL("create user mapping for {} server recall"
                             " options (user {}, password {})").format(
            sql.Identifier(role), sql.Literal(role), sql.Literal(password)))  # fmt: skip
        try:
            yield
        finally:
            conn.execute(sql.SQL("drop user mapping for {} server recall").format(
                sql.Identifier(role)))  # fmt: skip


def test_role_without_a_password_reaches_no_shard(servers: Servers) -> None:
    with servers.proxy(servers.writer) as conn:
        with pytest.raises(psycopg.OperationalError, match="shard b cannot be reached") as caught:
            call(conn, "get_profile", p_user_id=servers.user_on("b"))
        assert "no password supplied" in str(caught.value.diag.message_detail)
    with mapped(servers, servers.writer, "wrong"), servers.proxy(servers.writer) as conn:
        with pytest.raises(psycopg.OperationalError, match="shard a cannot be reached") as caught:
            call(conn, "get_profile", p_user_id=servers.user_on("a"))
        assert "password authentication failed" in str(caught.value.diag.message_detail)


def test_each_role_works_with_its_own_password(servers: Servers) -> None:
    users = [servers.user_on(name) for name in "ab"]
    with mapped(servers, servers.writer, WRITER), mapped(servers, servers.reader, READER):
        dsn = conninfo.make_conninfo(servers.dsn, user=servers.writer)
        with AgentMemory.connect(dsn, embedder=False) as memory:
            for user in users:
                memory.remember(user, "likes tea")
        with servers.proxy(servers.reader) as conn:
            for user in users:
                assert len(call(conn, "search", p_user_id=user, p_query="tea")) == 1
                with refused("42501", "permission denied for function remember"):
                    call(conn, "remember", p_user_id=user, p_content="likes milk")
    for user, dsn in zip(users, servers.shards.values(), strict=True):
        with psycopg.connect(dsn) as shard:
            assert [
                row["user_id"]
                for row in rows(shard, "select * from recall.users where user_id = %s", [user])
            ] == [user]


def test_role_cannot_become_another_by_its_user_mapping(servers: Servers) -> None:
    with mapped(servers, servers.writer, WRITER), mapped(servers, "postgres", SUPERUSER):
        with servers.proxy(servers.writer) as conn:
            for command in (
                "alter user mapping for current_user server recall options (set user 'postgres')",
                "alter user mapping for current_user server recall options (drop password)",
                "drop user mapping for current_user server recall",
            ):
                with refused("42501", "user mapping"):
                    conn.execute(command.encode())
            seen = "select umoptions from pg_user_mappings where usename = 'postgres'"
            assert rows(conn, seen) == [{"umoptions": None}]
        with servers.proxy(servers.reader) as conn, refused("42501", "create user mapping"):
            conn.execute("create user mapping for current_user server recall"
                         " options (user 'postgres')")  # fmt: skip


def test_user_moves_between_servers(servers: Servers) -> None:
    user = servers.user_on("a")
    with mapped(servers, "postgres", SUPERUSER), servers.proxy() as conn:
        assert [shard.problems for shard in shard_states(conn)] == [[], []]
        session = open_session(conn, user)
        call(conn, "remember", p_user_id=user, p_session_id=session, p_content="likes tea")
        assert move_user(conn, user, "b").rows["memory_store"] == 1
        assert len(call(conn, "search", p_user_id=user, p_query="tea")) == 1
    with psycopg.connect(servers.shards["a"]) as shard:
        assert rows(shard, "select * from recall.users where user_id = %s", [user]) == []


def test_move_without_a_password_begins_nothing(servers: Servers) -> None:
    user = servers.user_on("a")
    with servers.proxy() as conn:
        with pytest.raises(psycopg.OperationalError, match="shard a cannot be reached") as caught:
            move_user(conn, user, "b")
        assert "no password supplied" in str(caught.value.diag.message_detail)
        assert rows(conn, "select * from recall_proxy.moves") == []
        assert ["no password supplied" in str(s.problems) for s in shard_states(conn)] == [True] * 2
