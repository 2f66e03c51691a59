r"""Install, upgrade and remove the schema `recall`.

`sql/install.sql` is the single list of files in their order. psql follows it by `\ir`; this module
reads the same list and sends the same texts, so both routes give the same catalog. No templating
happens on the way: install-time choices travel as custom settings (`recall.…`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

__all__ = [
    "InstallError",
    "SqlFile",
    "install",
    "install_files",
    "one_file",
    "read_file",
    "uninstall",
]

_INCLUDE = re.compile(r"\\ir\s+(?P<path>'[^']+'|\S+)\s*")
_META = re.compile(r"\\set\s+ON_ERROR_STOP\s+(on|1|true)\s*", re.IGNORECASE)
_BEGIN = re.compile(
    r"(begin|start\s+transaction)(\s+isolation\s+level\s+read\s+committed)?\s*;", re.IGNORECASE
)
_DUE = re.compile(r"select (?P<condition>.+) as is_due \\gset")
_COMMIT = re.compile(r"commit\s*;", re.IGNORECASE)  # not `end;`, which closes a PL/pgSQL block


# A column, table or type is missing: somebody dropped it, or the schema is that of a development
# version, which has no migrations. The schema has the data, so the hint says to keep it.
_HINTS = dict.fromkeys(
    ("42703", "42P01", "42704"),
    "Keep the schema, and restore a backup from before that was dropped. If a development version "
    "installed the schema, export its users first, then install anew.",
)


class InstallError(Exception):
    """An installation statement was refused.

    Attributes:
        file: the file at fault, relative to the folder that holds sql/ (`functions/…/x.sql`).
        line: the line in that file, counted from 1, or None when the server named no position.
        sqlstate: the server's code, such as `RC007` from the preflight checks, or None.
        hint: the server's hint, or None.
        detail: the server's detail, such as the objects of others that an uninstall would drop, or
            None.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str,
        line: int | None = None,
        sqlstate: str | None = None,
        hint: str | None = None,
        detail: str | None = None,
    ) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(
            f"{place}: {message}"
            + (f": {detail}" if detail else "")
            + (f" ({hint})" if hint else "")
        )
        self.file = file
        self.line = line
        self.sqlstate = sqlstate
        self.hint = hint
        self.detail = detail


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One file of the list.

    Attributes:
        name: its path relative to the folder that holds sql/, with forward slashes.
        text: its whole text, plain SQL.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class _Step:
    """A stretch of SQL to send at once; `first_line` is where it starts in `name`.

    A migration has a condition, an SQL expression: it is sent only where that is true.
    """

    name: str
    text: str
    first_line: int
    condition: str | None = None


@cache
def _root() -> Traversable:
    """Return the folder that holds sql/, functions/ and migrations/."""
    packaged = resources.files("pgrecall").joinpath("_database")
    checkout = Path(__file__).resolve().parents[2]
    for folder in (packaged, checkout):
        if folder.joinpath("sql", "install.sql").is_file():
            return folder
    raise FileNotFoundError("the SQL files of pgrecall are missing from this installation")


def read_file(name: str) -> str:
    """Return a file of the installation by its path relative to the folder that holds sql/."""
    return _root().joinpath(*PurePosixPath(name).parts).read_text(encoding="utf-8")


def _resolve(including: str, path: str) -> str:
    """Return the name of an included file, `path` being relative to the including one."""
    parts: list[str] = []
    for part in (PurePosixPath(including).parent / path.strip("'")).parts:
        if part == "..":
            if not parts:
                raise InstallError(f"{path} leaves the folder of the SQL files", file=including)
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _steps(name: str) -> list[_Step]:
    r"""Split a list file into what is sent one after the other.

    A line is a psql command (`\ir FILE`, `\set ON_ERROR_STOP on`, the four lines of a migration),
    a transaction command, or belongs to a stretch of plain SQL. Any other psql command is refused:
    psql and this module would part ways silently.
    """
    steps: list[_Step] = []
    pending: list[str] = []
    first_line = 1
    condition: str | None = None
    is_within = False

    def flush() -> None:
        if any(line.strip() and not line.lstrip().startswith("--") for line in pending):
            steps.append(_Step(name, "\n".join(pending) + "\n", first_line))
        pending.clear()

    for number, line in enumerate(read_file(name).splitlines(), start=1):
        if due := _DUE.fullmatch(line):
            flush()
            condition = due["condition"]
        elif line == "\\if :is_due" and condition and not is_within:
            is_within = True
        elif line == "\\endif" and is_within:
            condition, is_within = None, False
        elif (condition is not None) is not is_within:
            raise InstallError("expected \\if :is_due", file=name, line=number)
        elif include := _INCLUDE.fullmatch(line.strip()):
            flush()
            included = _resolve(name, include["path"])
            steps.extend(
                _steps(included)
                if re.search(r"(?m)^\s*\\ir\s", read_file(included))
                else [_Step(included, read_file(included), 1, condition)]
            )
        elif is_within:
            raise InstallError("expected \\ir or \\endif", file=name, line=number)
        elif _META.fullmatch(line.strip()):
            flush()
        elif line.startswith("\\"):
            raise InstallError(f"unexpected psql command {line!r}", file=name, line=number)
        elif _BEGIN.fullmatch(line.strip()) or _COMMIT.fullmatch(line.strip()):
            flush()
            steps.append(_Step(name, line.strip() + "\n", number))
        else:
            if not pending:
                first_line = number
            pending.append(line)
    flush()
    if condition is not None:
        raise InstallError("expected \\endif at the end", file=name)
    return steps


def install_files() -> list[SqlFile]:
    """Return the included files of `sql/install.sql`, in its order."""
    return [
        SqlFile(step.name, step.text)
        for step in _steps("sql/install.sql")
        if step.name != "sql/install.sql"
    ]


def one_file() -> str:
    """Return the whole installation as one plain SQL text, without psql commands.

    The caller opens and commits the transaction, so that a migration tool can run the text within
    its own. It holds two statements: the first notes the transaction, and the second does the work,
    or stops with RC007 in a transaction of its own. So a client that goes on after an error, as
    psql does, creates nothing either.
    """
    noted, *files = [step for step in _steps("sql/install.sql") if not _is_transaction(step)]
    parts = [
        f"-- pgrecall {metadata.version('pgrecall')}: the whole installation as one file.\n",
        "-- Run it in one transaction: psql -q -1 -v ON_ERROR_STOP=1 -f FILE\n",
        "-- Made by `make dist` from sql/install.sql; change the files it names, not this one.\n",
        f"\n-- {noted.name}\n{noted.text}",
        "\ndo $pgrecall$\nbegin\n",
    ]
    for number, step in enumerate(files):
        text = step.text if step.text.endswith("\n") else step.text + "\n"
        run = f"execute $file_{number}$\n{text}$file_{number}$;\n"
        if step.condition is not None:
            run = f"if {step.condition} then\n{run}end if;\n"
        parts.append(f"\n-- {step.name}\n{run}")
    return "".join(parts) + "\nend;\n$pgrecall$;\n"


def install(
    conn: psycopg.Connection[Any],
    *,
    embedding_dimensions: int | None = None,
    hash_partitions: int | None = None,
    history_months_ahead: int | None = None,
    role_prefix: str | None = None,
    share_roles: bool | None = None,
    owner: str | None = None,
) -> None:
    """Install or upgrade the schema on this connection; repeatable.

    An argument overrides the session's own `recall.…` setting, for the installation only. None
    means "as installed", or the default of a new installation (1536 numbers per embedding,
    8 hash partitions, 3 months of history ahead, roles named `recall_…` that no other database of
    the cluster uses, the first of them the owner). An `owner` takes over an installed schema.

    The transaction that `sql/install.sql` opens and commits is run as written. On a connection that
    is inside a transaction already, that one is joined instead and left to the caller.

    Raises:
        InstallError: the server refused a statement; nothing of the installation stays, unless
            the caller had opened the transaction (it is aborted then).
    """
    _run(
        conn,
        "sql/install.sql",
        {
            "recall.embedding_dimensions": embedding_dimensions,
            "recall.hash_partitions": hash_partitions,
            "recall.history_months_ahead": history_months_ahead,
            "recall.role_prefix": role_prefix,
            "recall.share_roles": None if share_roles is None else "on" if share_roles else "off",
            "recall.owner": owner,
        },
    )


def uninstall(conn: psycopg.Connection[Any], *, cascade: bool | None = None) -> None:
    """Remove the schema with all its data, as `sql/uninstall.sql` says.

    `cascade` also drops columns, views and other objects of others that depend on the schema or
    are in it. None means the session's own setting `recall.uninstall_cascade`, which is off by
    default.

    Raises:
        InstallError: the server refused a statement, or objects of others would be dropped, which
            `detail` lists; nothing was removed.
    """
    _run(
        conn,
        "sql/uninstall.sql",
        {"recall.uninstall_cascade": None if cascade is None else "on" if cascade else "off"},
    )


def _run(conn: psycopg.Connection[Any], name: str, settings: dict[str, int | str | None]) -> None:
    steps = _steps(name)
    if any(settings.values()) and not any(_is_begin(step) for step in steps):
        raise InstallError("opens no transaction that could hold the settings", file=name)
    if conn.info.transaction_status != TransactionStatus.IDLE:
        _send(conn, [step for step in steps if not _is_transaction(step)], settings, ready=True)
        return
    autocommit = conn.autocommit
    conn.autocommit = True  # so that begin and commit are the file's own
    try:
        _send(conn, steps, settings, ready=False)
    except BaseException:
        if not conn.closed and conn.info.transaction_status != TransactionStatus.IDLE:
            conn.execute("rollback")
        raise
    finally:
        if not conn.closed:
            conn.autocommit = autocommit


def _is_begin(step: _Step) -> bool:
    return _BEGIN.fullmatch(step.text.strip()) is not None


def _is_transaction(step: _Step) -> bool:
    return _is_begin(step) or _COMMIT.fullmatch(step.text.strip()) is not None


def _send(
    conn: psycopg.Connection[Any],
    steps: list[_Step],
    settings: dict[str, int | str | None],
    *,
    ready: bool,
) -> None:
    """Send the steps; the settings are made as soon as a transaction holds them."""
    if ready:
        _set(conn, settings)
    for step in steps:
        if step.condition is not None and not _holds(conn, step.condition):
            continue
        try:
            # bytes, no parameters: the simple protocol, which takes many statements at once
            conn.execute(step.text.encode(), prepare=False)
        except psycopg.Error as error:
            raise _located(error, step) from error
        if not ready and _is_begin(step):
            ready = True
            _set(conn, settings)


def _holds(conn: psycopg.Connection[Any], condition: str) -> bool:
    with conn.cursor(row_factory=tuple_row) as cursor:
        row = cursor.execute(f"select ({condition})::boolean".encode()).fetchone()
    return row is not None and bool(row[0])


def _set(conn: psycopg.Connection[Any], settings: dict[str, int | str | None]) -> None:
    for key, value in settings.items():
        if value is not None:
            conn.execute("select pg_catalog.set_config(%s, %s, true)", (key, str(value)))


def _located(error: psycopg.Error, step: _Step) -> InstallError:
    diag = error.diag
    line = None
    if diag.statement_position is not None:
        # counted in characters of the text that was sent, from 1
        before = step.text[: int(diag.statement_position) - 1]
        line = step.first_line + before.count("\n")
    return InstallError(
        diag.message_primary or str(error).strip(),
        file=step.name,
        line=line,
        sqlstate=diag.sqlstate,
        hint=diag.message_hint or _HINTS.get(diag.sqlstate or ""),
        detail=diag.message_detail,
    )


if __name__ == "__main__":  # `make dist`
    print(one_file(), end="")  # noqa: T201
