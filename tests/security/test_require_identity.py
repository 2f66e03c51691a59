"""require_identity: a call for a user needs the user of its transaction."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from support import call, login_role, our_role, refused, rows, value
from support.everyfunction import CALLS, Call, World
from support.two_users import (
    BRAVO,
    MATRIX,
    Login,
    answer,
    as_role,
    least_role,
    tables_of_users,
)

Connection = psycopg.Connection[Any]

ROLES = list(MATRIX)
OF_USER = [asked for asked in CALLS if asked.of_user or asked.function == "ensure_user"]
NO_USER = "this transaction has no user"


def may(role: str, asked: Call) -> bool:
    return ROLES.index(least_role(asked.function)) <= ROLES.index(role)


@pytest.fixture(scope="module", autouse=True)
def required(dsn: str, worlds: tuple[World, World]) -> Iterator[None]:
    """Turn it on when the worlds are furnished."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        call(conn, "configure", p_changes={"require_identity": True})
        yield
        call(conn, "configure", p_changes={"require_identity": False})


@pytest.mark.parametrize("role", ["recall_reader", "recall_writer"])
def test_call_needs_the_user_of_its_transaction(
    dsn: str, worlds: tuple[World, World], logins: dict[str, Login], role: str
) -> None:
    """Every function for a user, also with a user of the session's own choice."""
    mine, theirs = worlds
    asked_of = [asked for asked in OF_USER if may(role, asked)]
    assert len({asked.function for asked in asked_of}) > (30 if role == "recall_reader" else 60)
    with as_role(dsn, logins[role]) as conn:
        for asked in asked_of:
            for identity in (None, ""):
                with refused("RC006", NO_USER), conn.transaction():
                    if identity is not None:
                        conn.execute("select set_config('recall.user_id', %s, true)", [identity])
                    answer(conn, asked, mine)
            with refused("RC006", "is not the user of this transaction"), conn.transaction():
                conn.execute("select set_config('recall.user_id', %s, true)", [str(theirs["user"])])
                answer(conn, asked, mine)
            with conn.transaction(force_rollback=True):
                conn.execute("select set_config('recall.user_id', %s, true)", [str(mine["user"])])
                assert BRAVO not in answer(conn, asked, mine)


@pytest.mark.parametrize("role", ["recall_worker", "recall_admin"])
def test_workers_and_admins_need_no_identity(
    dsn: str, worlds: tuple[World, World], logins: dict[str, Login], role: str
) -> None:
    with as_role(dsn, logins[role]) as conn:
        for asked in CALLS:
            if may(role, asked):
                with conn.transaction(force_rollback=True):
                    answer(conn, asked, worlds[0])


@pytest.mark.parametrize("role", ["recall_reader", "recall_writer"])
def test_call_without_a_user_shows_nobody(
    dsn: str, worlds: tuple[World, World], logins: dict[str, Login], role: str
) -> None:
    mine, theirs = worlds
    with as_role(dsn, logins[role]) as conn:
        for asked in CALLS:
            if asked not in OF_USER and may(role, asked):
                with conn.transaction(force_rollback=True):
                    shown = answer(conn, asked, mine)
                assert BRAVO not in shown
                assert str(theirs["user"]) not in shown


def test_tables_show_nobody_without_an_identity(
    db: Connection, dsn: str, logins: dict[str, Login]
) -> None:
    with as_role(dsn, logins["recall_reader"]) as reader:
        for table in tables_of_users(db):
            assert value(db, f"select count(*) from {table}") >= 0
            assert value(reader, f"select count(*) from {table}") == 0, table


def test_a_renamed_role_gets_no_rights_of_a_role_with_its_old_name(
    db: Connection, dsn: str, worlds: tuple[World, World]
) -> None:
    """PostgreSQL tells the role that SET ROLE has set by the name that it had then."""
    user = worlds[0]["user"]
    writer, worker = our_role(db, "recall_writer"), our_role(db, "recall_worker")
    with login_role(db, options="noinherit") as login:
        app = f"{login['user']}_app"
        db.execute(f"create role {app}; grant {writer} to {app}".encode())
        db.execute(f"grant {app} to {login['user']}".encode())
        try:
            with as_role(dsn, login) as conn:
                conn.execute(f"set role {app}".encode())
                for change in (
                    "select",
                    f"alter role {app} rename to {app}_old",
                    f"create role {app}; grant {worker} to {app}",
                ):
                    db.execute(change.encode())
                    with refused("RC006", NO_USER):
                        call(conn, "get_profile", p_user_id=user)
        finally:
            db.execute(f"drop role if exists {app}, {app}_old".encode())


def test_set_role_decides_for_a_login_of_several_roles(
    db: Connection, dsn: str, worlds: tuple[World, World]
) -> None:
    """A login of PostgREST has no rights but by SET ROLE."""
    user = worlds[0]["user"]
    writer, worker = our_role(db, "recall_writer"), our_role(db, "recall_worker")
    with login_role(db, options="noinherit") as login:
        db.execute(f"grant {writer}, {worker} to {login['user']}".encode())
        with as_role(dsn, login) as conn:
            for role, exempt in ((writer, False), (worker, True), (writer, False)):
                conn.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
                if exempt:
                    call(conn, "get_profile", p_user_id=user)
                else:
                    with refused("RC006", NO_USER):
                        call(conn, "get_profile", p_user_id=user)
    # a superuser who acts as the application is the application
    db.execute(sql.SQL("set role {}").format(sql.Identifier(writer)))
    with refused("RC006", NO_USER):
        call(db, "get_profile", p_user_id=user)
    db.execute("reset role")
    call(db, "get_profile", p_user_id=user)


def test_function_of_an_admin_does_not_lend_its_rights(
    db: Connection, dsn: str, worlds: tuple[World, World], logins: dict[str, Login]
) -> None:
    """The identity is that of the login, also within a function of somebody else."""
    login = logins["recall_writer"]
    db.execute("create schema lent")
    try:
        db.execute(
            "create function lent.profile(uuid) returns jsonb language sql security definer"
            " as 'select recall.get_profile($1)'"
        )
        db.execute(f"grant usage on schema lent to {login['user']}".encode())
        with as_role(dsn, login) as conn, refused("RC006", NO_USER):
            conn.execute("select lent.profile(%s)", [worlds[0]["user"]])
    finally:
        db.execute("drop schema lent cascade")


def test_alter_role_gives_a_login_its_user(
    db: Connection, dsn: str, worlds: tuple[World, World]
) -> None:
    mine, theirs = worlds
    with login_role(db, member_of=["recall_writer"]) as login:
        db.execute(sql.SQL("alter role {} set recall.user_id = {}").format(
            sql.Identifier(login["user"]), sql.Literal(str(mine["user"]))))  # fmt: skip
        with as_role(dsn, login) as conn:
            call(conn, "get_profile", p_user_id=mine["user"])
            with refused("RC006", "is not the user of this transaction"):
                call(conn, "get_profile", p_user_id=theirs["user"])


def test_only_an_admin_changes_the_setting(
    db: Connection, dsn: str, worlds: tuple[World, World], logins: dict[str, Login]
) -> None:
    off = {"require_identity": False}
    for role in ("recall_reader", "recall_writer", "recall_worker"):
        with as_role(dsn, logins[role]) as conn:
            for statement in ("set recall.require_identity = off", "set row_security = on"):
                conn.execute(statement.encode())
            with refused("42501"):
                call(conn, "configure", p_changes=off)
    with as_role(dsn, logins["recall_admin"]) as conn:
        with refused("RC003", "require_identity applies to all users together"):
            call(conn, "configure_user", p_user_id=worlds[0]["user"], p_changes=off)
        call(conn, "configure", p_changes=off)
        with as_role(dsn, logins["recall_reader"]) as reader:
            call(reader, "get_profile", p_user_id=worlds[0]["user"])
        with refused("RC003", "require_identity"):
            call(conn, "configure", p_changes={"require_identity": None})
        call(conn, "configure", p_changes={"require_identity": True})
    (found,) = rows(db, "select require_identity from recall.settings")
    assert found == {"require_identity": True}


def test_name_needs_its_own_identity(dsn: str, logins: dict[str, Login]) -> None:
    """ensure_user takes a name: the identity must be the id that it gives."""
    name = f"ada {uuid.uuid4()}"
    with as_role(dsn, logins["recall_writer"]) as conn:
        for identity in ("", str(uuid.uuid4())):
            with refused("RC006"), conn.transaction():
                conn.execute("select set_config('recall.user_id', %s, true)", [identity])
                call(conn, "ensure_user", p_external_id=name)
        with conn.transaction():
            conn.execute(
                "select set_config('recall.user_id', recall.user_id(%s)::text, true)", [name]
            )
            [made] = call(conn, "ensure_user", p_external_id=name)
            assert made["ensure_user"] == value(conn, "select recall.user_id(%s)", [name])


def test_setting_needs_the_roles(db: Connection) -> None:
    """Without roles each login is the owner, who is exempt: the setting would promise too much."""
    with db.transaction(force_rollback=True):
        db.execute("alter table recall.settings disable trigger user")
        db.execute("update recall.settings set role_prefix = 'no_such_roles'")
        with refused("RC007", "require_identity needs the roles"), db.transaction():
            call(db, "configure", p_changes={"require_identity": True})
        call(db, "configure", p_changes={"require_identity": False})
