"""Every value that a setting or a registry accepts works in every function that reads it."""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import append, call, open_session, rows, said, session_row
from support.everyfunction import CALLS, World, furnish

Connection = psycopg.Connection[Any]

pytestmark = pytest.mark.slow

LONG = "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=4000))
"""It does not fit an index."""
CANDIDATES: dict[str, list[Any]] = {
    "boolean": [False, True],
    "integer": [-(2**31), -1, 0, 1, 2, 2**31 - 1],
    "bigint": [-(2**63), -1, 0, 1, 2**63 - 1],
    "real": ["-Infinity", -1, 0, 1e-37, 1, 1e37, "Infinity", "NaN"],
    "double precision": ["-Infinity", -1, 0, 1e-300, 1, 1e300, "Infinity", "NaN"],
    "text": ["", "x", LONG],
    "text[]": [[], [None], [LONG]],
    "interval": [
        "-infinity", "-178000000 years", "-1 day", "0", "1 microsecond", "1 minute", "1 hour",
        "1 day", "2 days", "10 years", "999 years 11 months 30 days 23:59:59", "1000 years",
        "1000 years 1 microsecond", "12000 months", "365000 days", "106751991 days",
        "178000000 years", "infinity",
    ],
}  # fmt: skip
TASKS = """select task from recall.maintenance_tasks order by task"""
SPECIAL = {"embedding_model", "language", "time_zone", "prompt_language"}
"""Texts that other rules than a CHECK bound."""


@pytest.fixture(scope="module")
def world(dsn: str) -> World:
    with psycopg.connect(dsn, autocommit=True) as conn:
        return furnish(conn, "extreme")


@pytest.fixture(scope="module")
def columns(dsn: str) -> dict[str, tuple[str, list[Any]]]:
    """Return type and candidates of each setting: those of its type, and numbers of its CHECKs."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        found = rows(
            conn,
            "select a.attname as name, format_type(a.atttypid, null) as kind, a.attnotnull,"
            " coalesce(string_agg(pg_get_constraintdef(c.oid), ' '), '') as checks"
            " from pg_attribute as a left join pg_constraint as c on c.conrelid = a.attrelid"
            " and a.attnum = any (c.conkey)"
            " where a.attrelid = 'recall.settings'::regclass and a.attnum > 0"
            " and not a.attisdropped group by a.attnum, 1, 2, 3 order by a.attnum",
        )
    known: dict[str, tuple[str, list[Any]]] = {}
    for row in found:
        candidates = list(CANDIDATES.get(row["kind"], []))
        if row["kind"] in ("integer", "bigint", "real", "double precision"):
            candidates += [
                float(number) if "." in number or row["kind"] in ("real", "double precision")
                else int(number)
                for number in re.findall(r"-?\d+(?:\.\d+)?", row["checks"])
                if abs(float(number)) < 2**31
            ]  # fmt: skip
        if row["kind"] == "text":
            candidates += re.findall(r"'([^']+)'::text", row["checks"])
        if not row["attnotnull"]:
            candidates.append(None)
        known[row["name"]] = row["kind"], candidates
    return known


def tried(conn: Connection, query: str, parameters: Any) -> str | None:
    """Run a statement; return its SQLSTATE unless it works."""
    try:
        with conn.transaction():
            conn.execute(query.encode(), parameters).fetchall()
    except psycopg.Error as error:
        return error.sqlstate or "?"
    return None


def accepted(
    conn: Connection, columns: dict[str, tuple[str, list[Any]]], function: str, *first: Any
) -> Iterator[tuple[str, Any]]:
    """Yield what a function that configures takes; it refuses the rest with codes of ours."""
    holders = ", ".join(["%s"] * (len(first) + 1))
    for name, (_, candidates) in columns.items():
        for item in candidates:
            with conn.transaction(force_rollback=True):
                state = tried(conn, f"select recall.{function}({holders})",
                              [*first, Jsonb({name: item})])  # fmt: skip
            if state is None:
                yield name, item
            else:
                assert state.startswith("RC"), (name, item, state)


LIFETIMES = ("session_memory_grace", "episode_lifetime", "verbatim_lifetime", "working_ttl",
             "decay_lifetime")  # fmt: skip


def extremes(
    columns: dict[str, tuple[str, list[Any]]], taken: list[tuple[str, Any]], which: Any
) -> dict[str, Any]:
    """Return the least, or greatest, accepted value of each setting."""
    found: dict[str, Any] = {}
    for name, (kind, candidates) in columns.items():
        values = [item for known, item in taken if known == name and item is not None]
        if values and kind == "interval":
            found[name] = which(values, key=candidates.index)
        elif values and kind in ("integer", "bigint", "real", "double precision"):
            found[name] = which(values, key=float)
        elif values and kind == "text[]":
            found[name] = which(values, key=len)
    return found


def failures(conn: Connection, world: World) -> Iterator[str]:
    """Make every call and every task of maintenance; yield those that raise no code of ours."""
    for asked in CALLS:
        with conn.transaction(force_rollback=True):
            try:
                conn.execute(asked.query.encode(), world).fetchall()
            except psycopg.Error as error:
                if not (error.sqlstate or "").startswith("RC"):
                    yield f"{asked}: {error.sqlstate} {str(error)[:400]}"
    for row in rows(conn, TASKS):
        with conn.transaction(force_rollback=True):
            [done] = call(conn, "run_maintenance", p_task=row["task"])
            result = done["run_maintenance"]
            if not result.get("sqlstate", "RC").startswith("RC"):
                yield f"run_maintenance {row['task']}: {result}"


def test_extremes_of_all_settings_at_once(
    db: Connection, world: World, columns: dict[str, tuple[str, list[Any]]]
) -> None:
    """The least values that are accepted, and the greatest; for the installation and a user."""
    taken = [pair for pair in accepted(db, columns, "configure") if pair[0] not in SPECIAL]
    assert len(taken) > 200
    found: list[str] = []
    for which in (min, max):
        for of_user in (False, True):
            with db.transaction(force_rollback=True):
                for name, item in extremes(columns, taken, which).items():
                    if of_user:
                        tried(db, "select recall.configure_user(%s, %s)",
                              [world["user"], Jsonb({name: item})])  # fmt: skip
                    else:
                        tried(db, "select recall.configure(%s)", [Jsonb({name: item})])
                found += [f"{which.__name__}: {line}" for line in failures(db, world)]
    assert found == []


def test_infinite_and_longest_times(
    db: Connection, world: World, columns: dict[str, tuple[str, list[Any]]]
) -> None:
    intervals = {name: pair for name, pair in columns.items() if pair[0] == "interval"}
    taken = list(accepted(db, intervals, "configure"))
    assert len(intervals) > 15
    found: list[str] = []
    for name in intervals:
        longest = [item for known, item in taken if known == name][-1]
        with db.transaction(force_rollback=True):
            db.execute("select recall.configure(%s)", [Jsonb({name: longest})])
            found += [f"{name} = {longest}: {line}" for line in failures(db, world)]
    assert found == []


REGISTRIES = {
    "kinds": (
        "select recall.register_kind(kind, 'x', {item}, false, {item}) from recall.memory_kinds",
        ["'1 microsecond'", "'1000 years'", "null"],
        ["'0'", "'1000 years 1 microsecond'", "'infinity'", "'-infinity'", "'178000000 years'"],
    ),
    "models": (
        ("select recall.register_model(m, 2147483647, null, {item}, {item}, {item})"
        " from unnest(array['gpt-4o-mini', 'extreme', 'gpt-4o', 'test-model']) as u (m)"),
        ["0", "1000000000000"],
        ["-1", "1000000000001", "9223372036854775807"],
    ),
    "periods": (
        ("select recall.configure_maintenance(task, jsonb_build_object('period', {item}::text))"
        " from recall.maintenance_tasks"),
        ["'1 microsecond'", "'1000 years'"],
        ["'0'", "'infinity'", "'178000000 years'", "'1000 years 1 day'"],
    ),
    "batches": (
        ("select recall.configure_maintenance(task, jsonb_build_object('batch_size', {item}))"
        " from recall.maintenance_tasks"),
        ["1", "2147483647"],
        ["0", "-1", "2147483648"],
    ),
    "windows": (
        ("select recall.update_session(user_id, session_id, jsonb_build_object("
        "'context_window_size', {item}, 'max_response_tokens', {item} - 1,"
        " 'cost_limit_microcents', 9223372036854775807)) from recall.sessions"
        " where user_id = %(user)s"),
        ["1", "2147483647"],
        ["0", "-1", "2147483648"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("registry", REGISTRIES)
def test_extremes_of_registries_and_sessions(db: Connection, world: World, registry: str) -> None:
    query, accepts, refuses = REGISTRIES[registry]
    found: list[str] = []
    for item in accepts:
        with db.transaction(force_rollback=True):
            db.execute(query.replace("{item}", item).encode(), world)
            found += [f"{item}: {line}" for line in failures(db, world)]
    assert found == []
    for item in refuses:
        with db.transaction(force_rollback=True):
            state = tried(db, query.replace("{item}", item), world)
        assert state is not None, item
        assert state.startswith("RC"), (item, state)


def test_rows_of_the_longest_lifetimes_can_be_read(db: Connection, world: World) -> None:
    """A driver reads no infinite time, so no expiry is one."""
    user, session = world["user"], world["session"]
    longest = dict.fromkeys(LIFETIMES, "1000 years")
    for name in LIFETIMES:
        with db.transaction(force_rollback=True):
            assert tried(db, "select recall.configure(%s)", [Jsonb({name: "infinity"})]) == "RC003"
    with db.transaction(force_rollback=True):
        call(db, "configure", p_changes=longest)
        call(db, "ingest_memories", p_user_id=user, p_session_id=session, p_candidates=[
            {"content": "lasts with its session", "kind": "fact", "confidence": 0.4},
            {"content": "lasts for an episode", "kind": "fact", "confidence": 0.6}])  # fmt: skip
        call(db, "put_working", p_user_id=user, p_session_id=session, p_task_id="t", p_key="k",
             p_value=Jsonb(1))  # fmt: skip
        for query in (
            "select expires_at from recall.memory_store where user_id = %s",
            "select expires_at from recall.working_memory where user_id = %s",
        ):
            times = [row["expires_at"] for row in rows(db, query, [user])]
            assert any(time is not None and time.year > 3000 for time in times)


def test_costs_at_the_highest_price_are_added(db: Connection, world: World) -> None:
    dear = {"p_model_id": "dear", "p_context_window_size": 1000, "p_input_price": 10**12,
            "p_output_price": 10**12}  # fmt: skip
    with db.transaction(force_rollback=True):
        call(db, "register_model", **dear)
        session = open_session(db, world["user"], p_model_id="dear")
        for _ in range(3):
            append(db, world["user"], session, said("hello"),
                   {"prompt_tokens": 999_999_999, "completion_tokens": 999_999_999})  # fmt: skip
        assert session_row(db, world["user"], session)["total_cost_microcents"] == 3 * (
            2 * 999_999_999 * 10**6
        )


TIMES = (
    "0001-01-01 12:00+00", "0001-03-05 00:00+00", "0002-01-01 00:00+00", "4714-11-24 00:00+00 BC",
    "9999-12-30 00:00+00", "294276-12-31 23:59:59+00", "infinity", "-infinity",
)  # fmt: skip
QUERIES = (
    "in March", "in December", "last year in March", "3 days ago", "999 years ago", "until May",
    "since June", "last weekend", "on Monday", "in the last 90 months", "31 December",
    "before 9 June", "in 0001", "0000-01-01", "9999-12-31", "yesterday", "last year",
)  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_dates_at_the_ends_of_the_calendar(db: Connection, world: World, query: str) -> None:
    for time in TIMES:
        for found in rows(db, "select * from recall.query_dates(%s, %s)", [query, time]):
            assert found["since"] is None or 1 <= found["since"].year <= 9999
        state = tried(db, "select * from recall.compile_context(%s, %s, %s, p_as_of => %s)",
                      [world["user"], world["session"], query, time])  # fmt: skip
        assert state is None or state.startswith("RC"), (query, time, state)
        state = tried(db, "select * from recall.search(%s, %s, p_as_of => %s)",
                      [world["user"], query, time])  # fmt: skip
        assert state is None or state.startswith("RC"), (query, time, state)


def test_names_at_their_bounds_fit_the_indexes(db: Connection, world: World) -> None:
    """The longest namespace, key, model and path that are taken, of incompressible characters."""
    chance = random.Random(5)

    def noise(count: int) -> str:
        return "".join(chance.choices(string.ascii_letters + string.digits, k=count))

    for labels in ([noise(900), noise(200)], list(noise(200)), ["é" * 400]):
        room = 2000 - len(json.dumps(labels, ensure_ascii=False).encode())
        item = {"namespace": labels, "key": noise(room), "value": {"x": 1},
                "vectors": [{"path": noise(300), "embedding": [0.5, 0.25]}]}  # fmt: skip
        assert tried(db, "select recall.put_items(%s, %s, %s)",
                     [world["user"], Jsonb([item]), noise(200)]) is None  # fmt: skip
    for function, parameters in (
        ("register_model(%s, 1000)", [noise(200)]),
        ("add_embedding(%s, %s, %s, %s)",
         [world["user"], world["memory"], world["vector"], noise(200)]),
        ("configure(%s)", [Jsonb({"embedding_model": noise(201)})]),
    ):  # fmt: skip
        state = tried(db, f"select recall.{function}", parameters)
        assert state is None or state.startswith("RC"), (function, state)
