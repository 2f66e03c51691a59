"""Measure the bytes written for each byte given, and the storage that follows.

Five operations: a message of a turn, a new memory with its vector, an access to a memory (logged,
then flushed in batches), a value of working memory, a change of a session. Logical bytes are those
that the caller sends: texts, ids, two bytes for each number of a vector. Written bytes are the log
records plus the growth of tables and indexes before a vacuum. Page images are excluded, since they
depend on checkpoints. The log is the whole server's, which should have no other load.

The comparison uses ordinary tables with indexes on the updated columns: a sorted list of sessions,
the memories last used, the vector in the row.

    python benchmarks/write_amplification.py [--dsn DSN] [--json]     (a superuser's DSN)
"""

from __future__ import annotations

import argparse
import json
import sys
import uuid
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from floor import DIMENSIONS, Bench, vector
from target import database
from writes import Log, stored_bytes

TURNS, MEMORIES, ACCESSES, VALUES, CHANGES = 1_000, 500, 2_000, 1_000, 500
MIX = {"message": 0.70, "memory": 0.15, "access": 0.10, "session": 0.05}
USER = {"message": 5_000, "memory": 200, "session": 50}  # rows of a user
DAILY_MESSAGES, USERS = 15_000_000, 800_000_000

ORDINARY = f"""
create schema ordinary;
create table ordinary.session (
    session_id uuid primary key, user_id uuid not null, title text,
    message_count integer not null default 0, updated_at timestamptz not null);
create index on ordinary.session (user_id, updated_at desc);
create table ordinary.message (
    message_id uuid primary key, session_id uuid not null, created_at timestamptz not null,
    role text not null, content text);
create index on ordinary.message (session_id, created_at);
create table ordinary.memory (
    memory_id uuid primary key, user_id uuid not null, content text not null,
    embedding vector({DIMENSIONS}), access_count integer not null default 0,
    last_accessed_at timestamptz not null default now());
create index on ordinary.memory (user_id, last_accessed_at desc);
create index on ordinary.memory (user_id, access_count desc);
create table ordinary.value (
    session_id uuid, key text, value jsonb, expires_at timestamptz, primary key (session_id, key));
create index on ordinary.value (expires_at);
"""

Figures = dict[str, float]
Operation = tuple[Callable[[int], int], int, str]
"""What runs, returning the logical bytes of one row; how often; and its tables."""


def ours(bench: Bench) -> dict[str, Operation]:
    """Return the operations through the public functions."""
    known = [
        bench.one("select memory_id from recall.remember(%s, %s)", bench.user, f"Knows {n}")
        for n in range(200)
    ]

    def message(_: int) -> int:
        bench.append()
        return sum(map(len, bench.turn_texts())) // 2

    def memory(number: int) -> int:
        text = f"Statement {number} about {uuid.uuid4().hex} and what comes of it"
        bench.one(
            "select outcome from recall.remember(p_user_id => %s, p_content => %s, "
            "p_embedding => %s)",
            bench.user,
            text,
            vector(),
        )
        return len(text) + 2 * DIMENSIONS

    def access(number: int) -> int:
        first = 10 * number % len(known)
        bench.one(
            "select recall.record_access(%s, %s, %s::real[])",
            bench.user,
            known[first : first + 10],
            [0.5] * 10,
        )
        if number % 20 == 19:
            bench.one("select done from recall.flush_access_log()")
        return 20

    def value(number: int) -> int:
        bench.one(
            "select recall.put_working(%s, %s, 'task', %s, %s)",
            bench.user,
            bench.session,
            f"key {number % 50}",
            Jsonb({"result": "x" * 200}),
        )
        return 220

    def session(number: int) -> int:
        title = f"What number {number} is about"
        bench.one(
            "select recall.update_session(%s, %s, %s)",
            bench.user,
            bench.session,
            Jsonb({"title": title}),
        )
        return len(title)

    return {
        "message": (message, 2 * TURNS, "^(conversation_history|append_receipts|sessions|jobs)"),
        "memory": (memory, MEMORIES, "^(memory_(store|embedding|events)|users)"),
        "access": (access, ACCESSES, "^memory_(store|access_log)"),
        "value": (value, VALUES, "^working_memory"),
        "session": (session, CHANGES, "^sessions"),
    }


def ordinary(bench: Bench) -> dict[str, Operation]:
    """Return the same operations on ordinary tables that update in place."""
    session_id, known = uuid.uuid4(), [uuid.uuid4() for _ in range(200)]
    bench.one("insert into ordinary.session values (%s, %s, '', 0, now())", session_id, bench.user)
    for number, memory_id in enumerate(known):
        bench.one(
            "insert into ordinary.memory (memory_id, user_id, content, embedding) "
            "values (%s, %s, %s, %s::halfvec::vector)",
            memory_id,
            bench.user,
            f"Knows {number}",
            vector(),
        )

    def message(_: int) -> int:
        question, answer = bench.turn_texts()
        with bench.db.transaction():
            for role, text in (("user", question), ("assistant", answer)):
                bench.one(
                    "insert into ordinary.message values (%s, %s, now(), %s, %s)",
                    uuid.uuid4(),
                    session_id,
                    role,
                    text,
                )
            bench.one(
                "update ordinary.session set message_count = message_count + 2, "
                "updated_at = clock_timestamp() where session_id = %s",
                session_id,
            )
        return (len(question) + len(answer)) // 2

    def memory(number: int) -> int:
        text = f"Statement {number} about {uuid.uuid4().hex} and what comes of it"
        bench.one(
            "insert into ordinary.memory (memory_id, user_id, content, embedding) "
            "values (%s, %s, %s, %s::halfvec::vector)",
            uuid.uuid4(),
            bench.user,
            text,
            vector(),
        )
        return len(text) + 2 * DIMENSIONS

    def access(number: int) -> int:
        first = 10 * number % len(known)
        bench.one(
            "update ordinary.memory set access_count = access_count + 1, "
            "last_accessed_at = clock_timestamp() where memory_id = any (%s)",
            known[first : first + 10],
        )
        return 20

    def value(number: int) -> int:
        bench.one(
            "insert into ordinary.value values (%s, %s, %s, clock_timestamp() + interval '1 hour') "
            "on conflict (session_id, key) do update "
            "set value = excluded.value, expires_at = excluded.expires_at",
            session_id,
            f"key {number % 50}",
            Jsonb({"result": "x" * 200}),
        )
        return 220

    def session(number: int) -> int:
        title = f"What number {number} is about"
        bench.one(
            "update ordinary.session set title = %s, updated_at = clock_timestamp() "
            "where session_id = %s",
            title,
            session_id,
        )
        return len(title)

    return {
        "message": (message, 2 * TURNS, "^(message|session)"),
        "memory": (memory, MEMORIES, "^memory"),
        "access": (access, ACCESSES, "^memory"),
        "value": (value, VALUES, "^value"),
        "session": (session, CHANGES, "^session"),
    }


ROWS_A_CALL = {"message": 2, "access": 10}


def measured(
    db: psycopg.Connection[Any], operations: dict[str, Operation], schema: str
) -> dict[str, Figures]:
    """Run each operation; return logical, log and stored bytes of a row, and their ratio."""
    log = Log(db)
    figures: dict[str, Figures] = {}
    for name, (run, rows, pattern) in operations.items():
        logical: list[int] = []

        def work(run: Any = run, calls: int = rows // ROWS_A_CALL.get(name, 1)) -> None:
            logical.extend(run(number) for number in range(calls))  # noqa: B023

        before = stored_bytes(db, pattern, schema)
        size = log.bytes(work)
        grown = stored_bytes(db, pattern, schema) - before
        given = sum(logical) / len(logical)
        figures[name] = {
            "logical": given,
            "log": size / rows,
            "stored": grown / rows,
            "ratio": (size + grown) / rows / given,
        }
    weighted = {
        key: sum(share * figures[name][key] for name, share in MIX.items())
        for key in ("logical", "log", "stored")
    }
    figures["mix"] = weighted | {
        "ratio": (weighted["log"] + weighted["stored"]) / weighted["logical"]
    }
    return figures


def measure(dsn: str | None) -> dict[str, Any]:
    """Measure the functions, ordinary tables, and a searchable message."""
    with database(dsn, dimensions=DIMENSIONS) as db:
        db.execute(ORDINARY)
        bench = Bench(db)
        before = stored_bytes(db, "^conversation_history")
        figures: dict[str, Any] = {
            "ours": measured(db, ours(bench), "recall"),
            "ordinary": measured(db, ordinary(bench), "ordinary"),
        }
        kept = stored_bytes(db, "^conversation_history") - before  # receipts live for a day
        figures["message_row"] = kept / (2 * TURNS)
        before = stored_bytes(db, "^message_search")
        bench.index()
        (indexed,) = db.execute("select count(*) from recall.message_search").fetchone() or (0,)
        figures["search_row"] = (stored_bytes(db, "^message_search") - before) / max(indexed, 1)
        pattern = "^(sessions|session_summaries|system_prompts)"
        before = stored_bytes(db, pattern)
        for _ in range(500):
            bench.one("select recall.open_session(%s, 'gpt-4o-mini')", uuid.uuid4())
        figures["session_row"] = (stored_bytes(db, pattern) - before) / 500
    return figures


def sizing(figures: dict[str, Any]) -> list[tuple[str, float]]:
    """Return the storage of a user, of a day and of all users."""
    ours = figures["ours"]
    rows = {
        "message": figures["message_row"],
        "memory": ours["memory"]["stored"],
        "session": figures["session_row"],
    }
    user = sum(USER[name] * size for name, size in rows.items())
    searchable = USER["message"] * figures["search_row"]
    return [
        ("a user: 50 sessions, 5,000 messages, 200 memories with vectors", user),
        ("… and every message searchable by vector", user + searchable),
        ("a day of 15 million messages: tables", DAILY_MESSAGES * rows["message"]),
        ("a day of 15 million messages: log", DAILY_MESSAGES * ours["message"]["log"]),
        ("800 million such users", USERS * user),
        ("… and every message searchable by vector", USERS * (user + searchable)),
    ]


def readable(size: float) -> str:
    """Return bytes with a unit."""
    for unit in ("bytes", "KB", "MB", "GB", "TB"):
        if size < 1000:
            return f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} PB"


def main() -> None:
    """Measure and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN of a server with pgvector")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    options = parser.parse_args()

    figures = measure(options.dsn)
    if options.json:
        json.dump(figures, sys.stdout, indent=2)
        return
    print(
        "| bytes a row | logical | log | stored | ratio | ordinary tables |\n"
        "|---|---|---|---|---|---|"
    )
    for name, row in figures["ours"].items():
        cells = " | ".join(f"{row[key]:.0f}" for key in ("logical", "log", "stored"))
        other = figures["ordinary"][name]["ratio"]
        print(f"| {name} | {cells} | {row['ratio']:.2f} | {other:.2f} |")
    print("\n| | |\n|---|---|")
    for name, size in sizing(figures):
        print(f"| {name} | {readable(size)} |")


if __name__ == "__main__":
    main()
