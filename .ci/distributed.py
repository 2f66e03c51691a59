"""Check the rules that let Citus distribute the tables; `make lint` calls it.

One server runs the refused statements, too. A worker of a distributed engine knows a table by the
name of its shard, evaluates functions apart from the coordinator, and refuses some plans:

- a whole row (`f(m)`, `select m`) has the type of the shard: write `row(m.*)::recall.memory_store`
- `set x = a[f()]` crashes a worker: assign the index to a variable first
- UPDATE and ON CONFLICT take no function that depends on a column or on the moment, unless it is
  immutable: assign its result to a variable first. So is a time plus an interval, unless the time
  is `at time zone 'UTC'`
- `exists (select from t)` over several users has no column to send: write `select 1`
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pglast
from pglast import ast

from lint import option, sql_files, statements, without_our_types

# Functions of PostgreSQL that are not immutable, of those that our statements use.
CHANGING = {
    "age", "clock_timestamp", "current_setting", "currval", "date_trunc", "gen_random_uuid",
    "nextval", "now", "pg_backend_pid", "pg_current_xact_id", "random", "set_config",
    "statement_timestamp", "to_char", "to_timestamp", "transaction_timestamp", "uuidv7",
}  # fmt: skip

# Functions whose whole row of settings, a table copied to each node, may have any type.
EXEMPT = {
    "_settings": "an assignment to a variable converts the row",
    "get_settings": "to_jsonb takes a row of any type, and row(s.*) takes 10 % longer",
}


def main() -> int:
    """Print each statement that breaks a rule, and return the exit status."""
    problems = [*broken()]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def broken() -> Iterator[str]:
    """Yield the statements of functions that break a rule."""
    functions = [
        (name, node, source)
        for name, text in sql_files("functions")
        for node, source in statements(text)
        if is_a(node, ast.CreateFunctionStmt)
    ]
    changing = CHANGING | {
        node.funcname[-1].sval
        for _, node, _ in functions
        if getattr(option(node, "volatility"), "sval", "volatile") != "immutable"
    }
    tables = has_users()
    for name, node, source in functions:
        if node.funcname[-1].sval in EXEMPT:
            continue
        problems = {
            problem
            for text in queries(node, source)
            for statement in parsed(text)
            for problem in problems_of(statement, tables, changing)
        }
        yield from (f"{name}: {problem}" for problem in sorted(problems))


def has_users() -> dict[str, bool]:
    """Return the name of each table, and whether its rows belong to users."""
    return {
        node.relation.relname: any(
            getattr(column, "colname", None) == "user_id" for column in node.tableElts or ()
        )
        for _, text in sql_files("sql")
        for node, _ in statements(text)
        if is_a(node, ast.CreateStmt)
    }


def queries(node: Any, source: str) -> Iterator[str]:
    """Yield the SQL statements and expressions of a function."""
    language = option(node, "language")
    if language is not None and language.sval == "plpgsql":
        yield from texts(pglast.parse_plpgsql(without_our_types(source)))
    elif node.sql_body is None:
        body = option(node, "as")
        yield from (part.sval for part in body)


def texts(tree: Any) -> Iterator[str]:
    """Yield the query of each expression in a parsed PL/pgSQL function, and those in strings."""
    if isinstance(tree, dict):
        if "PLpgSQL_expr" in tree:
            query = tree["PLpgSQL_expr"]["query"]
            yield query
            for dynamic in re.findall(r"(?s)\$query\$(.*?)\$query\$", query):
                yield re.sub(r"%(?:\d+\$)?[sIL]", "x", dynamic)
        for part in tree.values():
            yield from texts(part)
    elif isinstance(tree, list):
        for part in tree:
            yield from texts(part)


def parsed(text: str) -> Iterator[Any]:
    """Parse a statement, or an expression or assignment of PL/pgSQL."""
    try:
        yield from (raw.stmt for raw in pglast.parse_sql(text))
    except pglast.parser.ParseError:
        expression = re.sub(r"^[\w.\[\]\" ]+?\s*:?=(?!>)", "", text, count=1)
        for attempt in (f"select {expression}", f"select {text}"):
            try:
                yield from (raw.stmt for raw in pglast.parse_sql(attempt))
            except pglast.parser.ParseError:
                continue
            return
        raise


def problems_of(statement: Any, tables: dict[str, bool], changing: set[str]) -> Iterator[str]:
    """Yield the rules that a statement breaks."""
    rows = aliases(statement, tables)
    for node in walk(statement):
        if is_a(node, ast.ColumnRef) and len(node.fields) == 1 and first(node) in rows:
            yield f"whole row {first(node)} of {rows[first(node)]}"
        elif is_a(node, ast.SelectStmt) and node.fromClause and not node.targetList:
            read = aliases(node.fromClause, tables)
            columns = [n for n in walk(node) if is_a(n, ast.ColumnRef)]
            if any(tables[table] for table in read.values()) and not any(
                getattr(column.fields[-1], "sval", None) == "user_id" for column in columns
            ):
                yield "select without columns over several users"
        elif is_a(node, ast.UpdateStmt) and tables.get(node.relation.relname):
            name = next(iter(aliases(node.relation, tables)))
            yield from calls((node.targetList, node.whereClause), {name}, changing)
        elif is_a(node, ast.InsertStmt) and node.onConflictClause is not None:
            name = next(iter(aliases(node.relation, tables)), "")
            yield from calls(node.onConflictClause, {name, "excluded"}, changing)


def calls(tree: Any, relations: set[str], changing: set[str]) -> Iterator[str]:
    """Yield the calls in the assignments of an UPDATE that a worker may not evaluate."""
    for node in walk(tree, skip=ast.SubLink):
        if is_a(node, ast.A_Indices) and any(is_a(n, ast.FuncCall) for n in walk(node)):
            yield "an index that calls a function in an UPDATE"
        elif is_a(node, ast.CaseExpr, ast.CoalesceExpr) and (
            called := [n for n in walk(node) if is_call(n, changing)]
        ):
            yield f"{called[0].funcname[-1].sval}() inside CASE or COALESCE of an UPDATE"
        elif is_a(node, ast.A_Expr) and moves_time(node, relations):
            yield "a time plus an interval of a column in an UPDATE"
        elif is_call(node, changing) and any(
            is_a(n, ast.ColumnRef) and first(n) in relations for n in walk(node)
        ):
            yield f"{node.funcname[-1].sval}() of a column in an UPDATE"


def moves_time(node: Any, relations: set[str]) -> bool:
    """Say whether an expression adds an interval to a time, with a column that has one of both."""
    sides = (node.lexpr, node.rexpr)
    return (
        node.name[-1].sval in ("+", "-")
        and any(
            is_a(side, ast.ColumnRef)
            and first(side) in relations
            and getattr(side.fields[-1], "sval", None) in of_time()
            for side in sides
        )
        and not any(is_call(side, {"timezone"}) for side in sides)
    )


@cache
def of_time() -> set[str]:
    """Return the names of columns of the type timestamptz or interval."""
    return {
        column.colname
        for _, text in sql_files("sql")
        for node, _ in statements(text)
        if is_a(node, ast.CreateStmt)
        for column in node.tableElts or ()
        if is_a(column, ast.ColumnDef)
        and column.typeName.names[-1].sval in ("timestamptz", "interval")
    }


def is_call(node: Any, names: set[str]) -> bool:
    """Say whether a node calls one of these functions."""
    return is_a(node, ast.FuncCall) and node.funcname[-1].sval in names


def is_a(node: Any, *kinds: type) -> bool:
    """Say whether a node has one of these types; mypy then keeps it Any."""
    return isinstance(node, kinds)


def first(column: Any) -> str:
    """Return the first name of a column reference."""
    return getattr(column.fields[0], "sval", "")


def aliases(tree: Any, tables: dict[str, bool]) -> dict[str, str]:
    """Return the tables that a statement names, by their aliases."""
    return {
        node.alias.aliasname if node.alias else node.relname: node.relname
        for node in walk(tree)
        if is_a(node, ast.RangeVar) and node.relname in tables
    }


def walk(tree: Any, skip: type | None = None) -> Iterator[Any]:
    """Yield each node of a tree, except those below one of the type to skip."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from walk(part, skip)
    elif isinstance(tree, ast.Node) and not (skip and isinstance(tree, skip)):
        yield tree
        for name in tree:
            yield from walk(getattr(tree, name), skip)


if __name__ == "__main__":
    sys.exit(main())
