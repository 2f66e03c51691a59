"""The roles belong to the cluster: one database's readers shall not read another's users."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql

from pgrecall import schema
from pgrecall.cli._main import _run
from pgrecall.schema import InstallError
from support import call, login_role, refused, rows, run, together, value
from support.installing import (
    ROLES,
    ROOT,
    SMALL,
    broken_rules,
    exists,
    health,
    install_by_driver,
    installer,
    our_roles,
    owned_database,
    psql,
    use,
)
from support.servers import TestServer

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]


@pytest.fixture
def owners(fresh: TestServer) -> Iterator[list[dict[str, str]]]:
    """Two roles that may create databases' contents and roles, and nothing else."""
    with ExitStack() as stack:
        yield [stack.enter_context(installer(fresh, "createrole")) for _ in range(2)]


def connected(dsn: str, **changes: str) -> Connection:
    return psycopg.connect(conninfo.make_conninfo(dsn, **changes), autocommit=True)


def as_superuser(server: TestServer, dsn: str) -> str:
    return server.dsn(str(conninfo.conninfo_to_dict(dsn)["dbname"]))


def remembered(dsn: str) -> uuid.UUID:
    """Remember something of a user ada, and return her id."""
    with connected(dsn) as conn:
        ada = value(conn, "select recall.user_id('ada')")
        call(conn, "remember", p_user_id=ada, p_content="Ada likes tea.")
    return ada


def reads(dsn: str, login: dict[str, str], user: uuid.UUID) -> bool:
    """Say whether a login may read the user's profile."""
    with connected(dsn, **login) as conn:
        try:
            return bool(call(conn, "get_profile", p_user_id=user))
        except psycopg.errors.InsufficientPrivilege:
            return False


def shared(dsn: str) -> tuple[str, str, str | None]:
    with connected(dsn) as conn:
        (row,) = rows(conn, "select status, detail, hint from recall.health()"
                            " where name = 'shared_roles'")  # fmt: skip
    return row["status"], row["detail"], row["hint"]


# --- a first installation


def test_reader_of_one_database_reads_no_other_by_default(
    fresh: TestServer, owners: list[dict[str, str]]
) -> None:
    ours, theirs = (owned_database(fresh, owner) for owner in owners)
    install_by_driver(ours, **SMALL)
    with fresh.admin() as admin, login_role(admin) as reader:
        admin.execute(f"grant recall_reader to {reader['user']}".encode())
        with pytest.raises(InstallError, match=r"the roles recall_\* are in use") as caught:
            install_by_driver(theirs, **SMALL)
        assert caught.value.sqlstate == "RC007"
        assert "set recall.role_prefix = " in str(caught.value.hint)
        assert "set recall.share_roles = on" in str(caught.value.hint)
        assert not exists(theirs)

        install_by_driver(theirs, **SMALL, role_prefix="theirs")
        assert reads(ours, reader, remembered(ours))
        assert not reads(theirs, reader, remembered(theirs))
        for dsn in (ours, theirs):
            assert shared(dsn)[0] == "ok"
            with connected(dsn) as conn:
                use(conn)
                assert broken_rules(conn) == []
                assert health(conn)["owner"] == health(conn)["roles"] == "ok"


def test_consent_shares_the_roles_and_health_says_so(
    fresh: TestServer, owners: list[dict[str, str]]
) -> None:
    ours, theirs = (owned_database(fresh, owner) for owner in owners)
    install_by_driver(ours, **SMALL)
    assert shared(ours) == ("ok", "no other database uses the roles", None)
    install_by_driver(theirs, **SMALL, share_roles=True)
    with fresh.admin() as admin, login_role(admin) as reader:
        admin.execute(f"grant recall_reader to {reader['user']}".encode())
        assert reads(theirs, reader, remembered(theirs))
    name = conninfo.conninfo_to_dict(theirs)["dbname"]
    status, detail, hint = shared(ours)
    assert status == "warn", "its owner has not consented"
    assert str(name) in detail
    assert "recall.role_prefix" in str(hint)
    assert "recall.share_roles" in str(hint)
    assert shared(theirs)[0] == "ok"
    assert shared(theirs)[1].startswith("1 other databases use the roles")


def test_every_route_refuses_and_takes_both_settings(
    fresh: TestServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, third = (fresh.dsn(fresh.create_database("route")) for _ in range(3))
    install_by_driver(first, **SMALL)
    done = psql(second, ROOT / "sql" / "install.sql", **SMALL)
    assert done.returncode != 0
    assert "the roles recall_* are in use in database" in done.stderr
    assert "set recall.share_roles = on;" in done.stderr
    done = psql(second, ROOT / "sql" / "install.sql", **SMALL, role_prefix="second")
    assert (done.returncode, done.stderr) == (0, "")
    whole = tmp_path / "whole.sql"
    whole.write_text(f"set recall.share_roles = on;\n{schema.one_file()}")
    done = run("psql", third, "-qX1", "-v", "ON_ERROR_STOP=1", "-f", str(whole))
    assert (done.returncode, done.stderr) == (0, "")
    with connected(third) as conn:
        assert rows(conn, "select role_prefix, share_roles from recall.settings") == [
            {"role_prefix": "recall", "share_roles": True}
        ]

    fourth = fresh.dsn(fresh.create_database("route"))
    command = ["install", "--dsn", fourth, "--embedding", "local"]
    assert _run(command) == 1
    assert "recall.share_roles" in capsys.readouterr().err
    assert _run([*command, "--role-prefix", "second", "--share-roles"]) == 0
    said = capsys.readouterr()
    assert ("second_*" in said.out, said.err) == (True, "")
    assert _run(["install", "--dsn", fourth, "--no-share-roles"]) == 0
    assert "the roles second_* are in use" in capsys.readouterr().err


def test_database_that_only_grants_connect_to_our_roles_uses_them(fresh: TestServer) -> None:
    first, second = (fresh.dsn(fresh.create_database("grant")) for _ in range(2))
    with fresh.admin() as admin:
        admin.execute("create role recall_reader")
        name = str(conninfo.conninfo_to_dict(first)["dbname"])
        admin.execute(
            sql.SQL("grant connect on database {} to recall_reader").format(sql.Identifier(name))
        )
        with pytest.raises(InstallError, match=f"in use in database {name}"):
            install_by_driver(second, **SMALL)
        install_by_driver(first, **SMALL)
        # the rights go with the databases
        fresh.drop_database(name)
        install_by_driver(second, **SMALL)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("role_prefix", "pg_x"),
        ("role_prefix", "Recall"),
        ("role_prefix", "1st"),
        ("role_prefix", 'a"; drop role x'),
        ("role_prefix", "a" * 57),
        ("share_roles", "perhaps"),
    ],
)
def test_bad_choice_is_refused(empty_dsn: str, name: str, bad: str) -> None:
    with connected(empty_dsn) as conn:
        conn.execute("select set_config(%s, %s, false)", [f"recall.{name}", bad])
        with pytest.raises(InstallError, match=f"recall.{name} is '") as caught:
            schema.install(conn)
        assert (caught.value.sqlstate, bool(caught.value.hint)) == ("RC007", True)
    assert not exists(empty_dsn)


def test_longest_role_prefix_is_accepted(fresh: TestServer) -> None:
    dsn, prefix = fresh.dsn(fresh.create_database("long")), "p" * 56
    install_by_driver(dsn, **SMALL, role_prefix=prefix)
    with connected(dsn) as conn:
        assert health(conn)["roles"] == health(conn)["owner"] == "ok"
        assert broken_rules(conn) == []
        schema.uninstall(conn)
        for suffix in ("owner", "reader", "writer", "worker", "admin"):
            conn.execute(f"drop role {prefix}_{suffix}".encode())


def test_prefix_names_every_role_and_uninstall_says_how_they_go(fresh: TestServer) -> None:
    dsn = fresh.dsn(fresh.create_database("named"))
    install_by_driver(dsn, **SMALL, role_prefix="acme")
    assert our_roles(fresh) == ()
    said: list[str] = []
    with connected(dsn) as conn, login_role(conn) as login:
        assert value(conn, "select array_agg(a.role order by a.role) from (select distinct"
                           " x.grantee::regrole::text as role from pg_proc as p"
                           " cross join aclexplode(p.proacl) as x"
                           " where p.pronamespace = 'recall'::regnamespace) as a (role)") == [
            "acme_admin", "acme_owner", "acme_reader", "acme_worker", "acme_writer"
        ]  # fmt: skip
        for health_row in call(conn, "health"):
            assert "recall_" not in f"{health_row['detail']} {health_row['hint']}"
        conn.execute(f"grant acme_reader to {login['user']}".encode())
        ada = remembered(dsn)
        with connected(dsn, **login) as reader:
            for identity, count in ((ada, 1), (uuid.uuid4(), 0)):
                reader.execute("select set_config('recall.user_id', %s, false)", [str(identity)])
                assert value(reader, "select count(*) from recall.memory_store") == count
        conn.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        schema.uninstall(conn)
        (words,) = [text for text in said if "drop role" in text]
        conn.execute(words[words.index("drop role") :].encode())
        assert value(conn, "select count(*) from pg_roles where rolname like 'acme%'") == 0


def test_installer_without_createrole_takes_no_roles_of_another_database(
    fresh: TestServer,
) -> None:
    """As on a managed server: with a prefix of its own it owns everything."""
    with installer(fresh) as login:
        first = fresh.dsn(fresh.create_database("first"))
        install_by_driver(first, **SMALL)
        dsn = owned_database(fresh, login)
        with pytest.raises(InstallError, match="are in use in database"):
            install_by_driver(dsn, **SMALL)
        install_by_driver(dsn, **SMALL, role_prefix="mine")
        with connected(dsn) as conn:
            use(conn)
            assert broken_rules(conn) == []
            found = health(conn)
            assert (found["owner"], found["roles"], found["shared_roles"]) == ("warn", "warn", "ok")


# --- upgrades, copies, restored databases


def test_upgrade_reads_back_prefix_and_consent(fresh: TestServer) -> None:
    dsn = fresh.dsn(fresh.create_database("upgraded"))
    install_by_driver(dsn, **SMALL, role_prefix="acme", share_roles=True)
    query = "select role_prefix, share_roles from recall.settings"
    with connected(dsn) as conn:
        for choices, after in (
            ({}, ("acme", True)),
            ({"share_roles": False}, ("acme", False)),
            ({}, ("acme", False)),
        ):
            install_by_driver(dsn, **choices)
            assert conn.execute(query.encode()).fetchone() == after
        with refused("RC007", "fixed at installation"):
            call(conn, "configure", p_changes={"share_roles": True})
        assert our_roles(fresh) == ()
        schema.uninstall(conn)
        conn.execute("drop role acme_owner, acme_reader, acme_writer, acme_worker, acme_admin")


def copy_of(server: TestServer, dsn: str) -> str:
    source = str(conninfo.conninfo_to_dict(dsn)["dbname"])
    return server.dsn(server.create_database("copy", template=source))


@pytest.mark.parametrize("way", ["create database", "dump"])
def test_copy_is_upgraded_with_a_warning_and_parts_by_a_new_prefix(
    fresh: TestServer, tmp_path: Path, owners: list[dict[str, str]], way: str
) -> None:
    ours = owned_database(fresh, owners[0])
    install_by_driver(ours, **SMALL)
    ada = remembered(ours)
    if way == "create database":
        copy = copy_of(fresh, ours)
    else:
        copy = fresh.dsn(fresh.create_database("restored"))
        dump = tmp_path / "dump.sql"
        done = run("pg_dump", as_superuser(fresh, ours), "-f", str(dump))
        assert (done.returncode, done.stderr) == (0, "")
        done = run("psql", copy, "-qX", "-v", "ON_ERROR_STOP=1", "-1", "-f", str(dump))
        assert (done.returncode, done.stderr) == (0, "")
    assert shared(copy)[0] == shared(ours)[0] == "warn"

    said: list[str] = []
    with connected(copy) as conn, login_role(conn, member_of=["recall_reader"]) as reader:
        conn.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        schema.install(conn)
        assert [words for words in said if "recall_* are in use in database" in words] == said
        assert len(said) == 1
        assert reads(copy, reader, ada)

        said.clear()
        schema.install(conn, role_prefix="copied")
        assert said == []
        assert not reads(copy, reader, ada)
        assert reads(ours, reader, ada)
        assert broken_rules(conn) == []
        assert health(conn)["owner"] == health(conn)["roles"] == "ok"
        use(conn)
    assert shared(copy)[0] == shared(ours)[0] == "ok"
    with connected(copy) as conn:
        schema.uninstall(conn)
        conn.execute(
            "drop role copied_owner, copied_reader, copied_writer, copied_worker, copied_admin"
        )


# --- several at once


@pytest.mark.concurrent
@pytest.mark.parametrize("roles", ["new", "left by an uninstall", "made by a DBA"])
def test_of_two_installers_at_once_exactly_one_gets_the_roles(
    fresh: TestServer, owners: list[dict[str, str]], roles: str
) -> None:
    """Also where they wait for nothing of each other, since the roles exist already."""
    with ExitStack() as stack:
        plain = [stack.enter_context(installer(fresh)) for _ in owners]
        who = plain if roles == "made by a DBA" else owners
        targets = [owned_database(fresh, login) for login in who]
        if roles == "left by an uninstall":
            install_by_driver(targets[0], **SMALL)
            with connected(targets[0]) as conn:
                schema.uninstall(conn)
        elif roles == "made by a DBA":
            with fresh.admin() as admin:
                for role in ROLES:
                    admin.execute(f"create role {role}".encode())
        for _ in range(3):
            results = together(partial(install_by_driver, dsn, **SMALL) for dsn in targets)
            (refusal,) = [one for one in results if isinstance(one, BaseException)]
            assert isinstance(refusal, InstallError)
            assert refusal.sqlstate == "RC007"
            installed = [dsn for dsn in targets if exists(dsn)]
            assert len(installed) == 1
            with connected(installed[0]) as conn:
                assert health(conn)["shared_roles"] == "ok"
                schema.uninstall(conn)


def test_first_installer_waits_for_another_only_so_long(fresh: TestServer) -> None:
    """One that does not end is named; one of other roles is not waited for."""
    first, second = (fresh.create_database("waiting") for _ in range(2))
    with fresh.admin() as admin:
        for name in ROLES:
            admin.execute(f"create role {name}".encode())
    with psycopg.connect(fresh.dsn(first)) as busy, connected(fresh.dsn(second)) as conn:
        busy.execute("select 1")  # its transaction is the caller's
        schema.install(busy, **SMALL)
        conn.execute("set lock_timeout = '300ms'")
        with pytest.raises(InstallError, match=f"installer in database {first} holds") as caught:
            schema.install(conn, **SMALL)
        assert caught.value.sqlstate == "RC007"
        assert "recall.role_prefix" in str(caught.value.hint)
        schema.install(conn, **SMALL, role_prefix="other")
        busy.rollback()
        schema.uninstall(conn)
        conn.execute("drop role other_owner, other_reader, other_writer, other_worker, other_admin")
        schema.install(conn, **SMALL)


@pytest.mark.parametrize("level", ["serializable", "repeatable read"])
def test_isolation_that_would_hide_another_installer(empty_dsn: str, level: str) -> None:
    with psycopg.connect(empty_dsn) as conn:
        conn.execute(f"set transaction isolation level {level}".encode())
        with pytest.raises(InstallError, match=f"at isolation level {level}") as caught:
            schema.install(conn, **SMALL)
        assert caught.value.sqlstate == "RC007"
    with connected(empty_dsn) as conn:
        conn.execute(f"set default_transaction_isolation = '{level}'".encode())
        schema.install(conn, **SMALL)
