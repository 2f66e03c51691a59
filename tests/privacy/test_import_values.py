"""A document with one value that does not fit is refused whole, whichever column it stands in."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import call, rows, value
from support.everyfunction import World, furnish
from support.traces import counts, leave_traces

Connection = psycopg.Connection[Any]
Document = dict[str, Any]

DEEP: Any = "bottom"
for _ in range(80):
    DEEP = {"a": DEEP}
LONG = 10**400

# By type: what no column of it can hold. A list and an object fit none but jsonb.
BAD: dict[str, list[Any]] = {
    "uuid": ["", "not-a-uuid", "018f4e2a-7c1b-7d3e-9a4b-5c6d7e8f9a0", 7, True],
    "timestamp with time zone": ["infinity", "-infinity", "99999-01-01T00:00:00Z",
                                 "0044-03-15 BC", "2026-02-30", "now and then", 7, True],
    "date": ["2026-02-30", "infinity", "0044-03-15 BC", 7],
    "interval": ["three", 7],
    "boolean": ["maybe", 7, "true"],
    "smallint": [32768, -32769, 1.5, "x", True, 10**40],
    "integer": [2**31, -(2**31) - 1, 1.5, "x", True, 10**40],
    "bigint": [2**63, -(2**63) - 1, 1.5, "x", True, 10**40],
    "real": ["x", True, 10**60],
    "double precision": ["x", True, LONG],
    "numeric": ["x", True],
    "text": [7, True],
    "bytea": ["\\xzz", 7],
    "jsonb": [DEEP, LONG],
    "vector": ["[1,2", "[x]", 7],
    "halfvec": ["[1,2", "[x]", 7],
    "tsvector": ["'", 7],
    "int4multirange": ["[1,2)", "{[9,1)}", 7],
    "enum": ["no such value", 7],
    "list": ["x", 7, True, {"a": 1}, [["x"], "x"]],
}  # fmt: skip


@pytest.fixture(scope="module")
def world(dsn: str) -> World:
    with psycopg.connect(dsn, autocommit=True) as conn:
        made = furnish(conn, "valued")
        leave_traces(conn, made)
        return made


@pytest.fixture(scope="module")
def document(dsn: str, world: World) -> Iterator[Document]:
    """Export a user with rows in each table, and erase the user."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        made: Document = value(conn, "select recall.export_user(%s)", [world["user"]])
        call(conn, "forget_user", p_user_id=world["user"])
        assert all(made["tables"].values()), made["tables"].keys()
        yield made


def first(document: Document) -> Document:
    """Leave the first row of each table."""
    return document | {"tables": {name: items[:1] for name, items in document["tables"].items()}}


def columns(conn: Connection) -> list[dict[str, Any]]:
    """Each column that a document may have: table, name, type, and whether it may be null."""
    return rows(
        conn,
        "select c.relname as table, a.attname as name, a.attnotnull as needed,"
        "       case when t.typtype = 'e' then 'enum' when t.typcategory = 'A' then 'list'"
        "            when t.typtype = 'b' and t.typname in ('vector', 'halfvec') then t.typname"
        "            else format_type(a.atttypid, null) end as type"
        "  from recall._user_tables() as u"
        "  join pg_class as c on c.oid = u.name"
        "  join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped"
        "                        and a.attgenerated = ''"
        "  join pg_type as t on t.oid = a.atttypid"
        " where u.is_exported and a.attname <> all (recall._left_out(c.oid))"
        "   and a.attname <> 'user_id'"
        " order by u.place, a.attnum",
    )


def attempt_all(
    conn: Connection, user: uuid.UUID, document: Document, cases: list[tuple[list[str], Any]]
) -> list[tuple[list[str], Any, str, str, str]]:
    """Import the document once for each case, with one value replaced; return the errors.

    An import that is accepted is taken back, and shown as PT000.
    """
    conn.execute(
        "create or replace function pg_temp.attempt(p_user uuid, p_document jsonb)"
        " returns text[] language plpgsql as $$"
        " declare v_hint text;"
        " begin perform recall.import_user(p_user, p_document);"
        " raise exception 'accepted' using errcode = 'PT000';"
        " exception when others then get stacked diagnostics v_hint = pg_exception_hint;"
        " return array[sqlstate, sqlerrm, v_hint]; end $$"
    )
    done = []
    for start in range(0, len(cases), 100):
        part = cases[start : start + 100]
        found = conn.execute(
            "select pg_temp.attempt(%s, jsonb_set(d.document, c.path, c.value))"
            "  from (select %s::jsonb) as d (document)"
            " cross join jsonb_array_elements(%s) with ordinality as e (item, place)"
            " cross join lateral (select array(select jsonb_array_elements_text("
            "       e.item -> 'path')), e.item -> 'value') as c (path, value)"
            " order by e.place",
            [user, Jsonb(document),
             Jsonb([{"path": path, "value": bad} for path, bad in part])],
        ).fetchall()  # fmt: skip
        for (path, bad), (error,) in zip(part, found, strict=True):
            done.append((path, bad, *error))
    return done


@pytest.mark.slow
def test_each_bad_value_of_each_column_is_refused_and_writes_nothing(
    db: Connection, world: World, document: Document
) -> None:
    """Each column of the catalog with each value that its type cannot hold."""
    small = first(document)
    cases: list[tuple[list[str], Any]] = []
    for column in columns(db):
        path = ["tables", column["table"], "0", column["name"]]
        bad = BAD[column["type"]] + [["a"]] * (column["type"] not in ("jsonb", "list"))
        bad += [{"a": 1}] * (column["type"] != "jsonb")
        bad += [None] * (column["needed"] and column["table"] != "users")
        cases += [(path, one) for one in bad]
    assert len(cases) > 1000
    before = counts(db, world["user"])
    wrong = []
    for path, bad, code, message, hint in attempt_all(db, world["user"], small, cases):
        place = f"tables.{path[1]}[0].{path[3]} is "
        shown = json.dumps(bad)[:20].strip('"').replace("\\\\", "\\")
        named = place in message and (shown[:9] in message or len(shown) > 15)
        if code != "RC003" or not hint or not (named or bad in (DEEP, LONG)):
            wrong.append((path, str(bad)[:60], code, message, hint))
    assert wrong == [], wrong[:40]
    assert counts(db, world["user"]) == before


def test_missing_and_unknown_members_are_refused(
    db: Connection, world: World, document: Document
) -> None:
    small = first(document)
    cases: list[tuple[list[str], Any]] = []
    for column in columns(db):
        name = column["table"]
        if column["needed"] and name != "users":
            row = {k: v for k, v in small["tables"][name][0].items() if k != column["name"]}
            cases.append((["tables", name, "0"], row))
    for name, [row] in small["tables"].items():
        cases.append((["tables", name, "0"], row | {"no_such_column": 1}))
    for path, bad, code, message, hint in attempt_all(db, world["user"], small, cases):
        missing = small["tables"][path[1]][0].keys() - bad.keys()
        name = missing.pop() if missing else "no_such_column"
        assert (code, name in message, bool(hint)) == ("RC003", True, True), message


# Values of the right type, which a constraint, a trigger or a later check may refuse

DOUBTFUL: dict[str, list[Any]] = {
    "smallint": [-1, 32767],
    "integer": [-1, 2**31 - 1],
    "bigint": [-1, 2**63 - 1],
    "real": ["NaN", 1e30],
    "double precision": ["NaN", -1],
    "numeric": ["NaN", -1],
    "text": ["", "x" * 9000],
    "bytea": ["\\x"],
    "uuid": ["00000000-0000-0000-0000-000000000000"],
    "timestamp with time zone": ["0001-01-01T00:00:00Z"],
    "date": ["0001-01-01"],
    "interval": ["-1 day", "100000 years"],
    "list": [[], [None]],
    "jsonb": [[], 7, {}],
    "tsvector": [""],
    "vector": ["[1,2,3]"],
    "halfvec": ["[1,2,3]"],
}


@pytest.mark.slow
def test_no_doubtful_value_ends_in_an_error_of_another_kind(
    db: Connection, world: World, document: Document
) -> None:
    """It is refused as every bad value, naming row and value, or the user stands as it says."""
    cases = [
        (["tables", column["table"], "0", column["name"]], one)
        for column in columns(db)
        for one in DOUBTFUL.get(column["type"], [])
    ]
    assert len(cases) > 200
    before = counts(db, world["user"])
    wrong = [
        (path, str(bad)[:60], code, message)
        for path, bad, code, message, hint in attempt_all(db, world["user"], first(document), cases)
        if code != "PT000" and (code[:2] != "RC" or not hint)
    ]
    assert wrong == [], wrong[:40]
    assert counts(db, world["user"]) == before


def test_a_broken_constraint_names_the_row_and_the_values(
    db: Connection, world: World, document: Document
) -> None:
    """The second row of two; and members outside of the tables."""
    memories = document["tables"]["memory_store"]
    assert len(memories) > 1
    cases: list[tuple[list[str], Any]] = [
        (["tables", "memory_store", "1", "importance"], 1.5),
        (["embedding_dimensions"], "wide"),
        (["system_prompts", "0", "content"], 7),
        (["system_prompts", "0", "token_count"], 1.5),
    ]
    done = attempt_all(db, world["user"], document, cases)
    shown = ["tables.memory_store[1]: ", "embedding_dimensions is wide",
             "system_prompts[0] has content 7", "token_count 1.5"]  # fmt: skip
    for (_, _, code, message, hint), words in zip(done, shown, strict=True):
        assert (code, words in message, bool(hint)) == ("RC003", True, True), message
    assert "(importance 1.5)" in done[0][3]
