"""Compare a database with the ledger: nothing acknowledged is lost, doubled or out of order,
nothing erased is left, and nothing is where it does not belong."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg

from soak.actors import user_id
from soak.ledger import Entry
from support import rows
from support.invariants import broken_invariants

PATTERN = r"zq\d{12}"
HEX = r"7a71(?:3\d){12}"
KINDS = ("history", "memory", "call", "title", "working", "other", "sealed", "sealed_memory")
REQUIRED = {"history": "conversation_history", "memory": "memory_store", "call": "model_calls",
            "title": "sessions"}  # fmt: skip
"""The table in which a token of this kind must stand. Working memory is lost in a crash."""
STORED = {"added", "superseded", "merged", "disputed"}


@dataclass
class Fate:
    """The life of one token: requests that wrote it, and those that erased it."""

    kind: str
    writes: list[Entry] = field(default_factory=list)
    erasures: list[Entry] = field(default_factory=list)

    @property
    def is_due(self) -> bool:
        """Whether the token must be there: written for sure, and nothing may have erased it."""
        return any(
            write.outcome == "ok"
            and write.answer.get("result", "added") in STORED
            and all(gone.ended < write.began for gone in self.erasures)
            for write in self.writes
        )

    @property
    def is_gone(self) -> bool:
        """Whether it must not be there: erased for sure after each write."""
        last = max(write.ended for write in self.writes)
        return all(write.outcome == "failed" for write in self.writes) or any(
            gone.outcome == "ok" and gone.began > last for gone in self.erasures
        )


def fates(entries: Iterable[Entry], database: int) -> dict[str, Fate]:
    """Return what is known of each token of a database."""
    found: dict[str, Fate] = {}
    by_user: dict[int, list[tuple[str, Entry]]] = defaultdict(list)
    by_session: dict[str, list[str]] = defaultdict(list)
    mine = [entry for entry in entries if entry.facts.get("db") == database]
    for entry in mine:
        for kind in KINDS:
            for name in entry.facts.get(kind, ()):
                found.setdefault(name, Fate(kind)).writes.append(entry)
                by_user[entry.facts["user"]].append((name, entry))
                if "session" in entry.facts and kind not in ("memory", "other"):
                    by_session[entry.facts["session"]].append(name)
    for entry in mine:
        if entry.outcome == "failed":
            continue
        if entry.facts.get("erased_user"):
            for name, write in by_user[entry.facts["user"]]:
                erasures = found[name].erasures
                if write.began < entry.ended and not any(one is entry for one in erasures):
                    erasures.append(entry)
        for name in by_session.get(entry.facts.get("erased_session", ""), ()):
            found[name].erasures.append(entry)
        for name in entry.facts.get("erased", ()):
            found[name].erasures.append(entry)
    return found


def partial_erasures(entries: Iterable[Entry], database: int) -> dict[int, float]:
    """Return when each user was last erased in part: memories may have gone with others."""
    last: dict[int, float] = {}
    for entry in entries:
        if entry.facts.get("db") == database and entry.outcome != "failed" and (
            "erased" in entry.facts or "erased_session" in entry.facts
        ):  # fmt: skip
            last[entry.facts["user"]] = max(entry.ended, last.get(entry.facts["user"], 0))
    return last


@dataclass
class Stored:
    """All tokens of a database: how many rows of a table have them, and whose rows."""

    rows: dict[str, Counter[str]]
    owners: dict[str, set[Any]]


def stored(conn: psycopg.Connection[Any]) -> Stored:
    """Read every row of every table, also of tables that a later version adds."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    owners: dict[str, set[Any]] = defaultdict(set)
    tables = rows(
        conn,
        "select c.relname as name, exists (select from pg_attribute as a"
        "       where a.attrelid = c.oid and a.attname = 'user_id') as of_user"
        "  from pg_class as c where c.relnamespace = 'recall'::regnamespace"
        "   and c.relkind in ('r', 'p') and not c.relispartition",
    )
    for table in tables:
        owner = "t.user_id" if table["of_user"] else "null::uuid"
        for token, user, number in conn.execute(
            f"select m.found[1], {owner}, count(distinct (t.tableoid, t.ctid))"
            f"  from recall.{table['name']} as t,"
            f" lateral regexp_matches(t::text, '{PATTERN}|{HEX}', 'g') as m (found)"
            f" group by 1, 2".encode()
        ):  # fmt: skip
            text = token if token.startswith("zq") else bytes.fromhex(token).decode()
            found[text][table["name"]] += number
            if user is not None:
                owners[text].add(user)
    return Stored(dict(found), owners)


def check(conn: psycopg.Connection[Any], entries: list[Entry], database: int) -> list[str]:
    """Return all that is wrong in a database while no actor writes."""
    with conn.transaction():
        conn.execute("set transaction isolation level repeatable read, read only")
        return [*differences(conn, entries, database)]


def differences(
    conn: psycopg.Connection[Any], entries: list[Entry], database: int
) -> Iterator[str]:  # fmt: skip
    """Yield all that is wrong, in the transaction of the connection."""
    known, there = fates(entries, database), stored(conn)
    partial = partial_erasures(entries, database)
    yield from _check_tokens(known, there, partial)
    for name, owners in there.owners.items():
        if int(name[2]) != database:
            yield f"foreign: {name} of another database stands in {dict(there.rows[name])}"
        if owners != {user_id(int(name[3:6]))}:
            yield f"foreign: {name} stands in rows of {owners}"
    yield from _check_batches(known, there, entries, database)
    yield from _check_turns(conn, entries, database)
    yield from (f"invariant {broken}" for broken in broken_invariants(conn))
    yield from _check_jobs(conn)
    erased = [entry for entry in entries
              if entry.facts.get("erased_user") and entry.facts["db"] == database]  # fmt: skip
    surely = sum(entry.outcome == "ok" for entry in erased)
    (count,) = conn.execute("select count(*) from recall.erasures").fetchone() or (0,)
    if not surely <= count <= sum(entry.outcome != "failed" for entry in erased):
        yield f"lost: {count} erasures are recorded, {surely} were acknowledged"


def _check_tokens(
    known: dict[str, Fate], there: Stored, partial: dict[int, float]
) -> Iterator[str]:
    for name, fate in known.items():
        tables = there.rows.get(name, Counter())
        if fate.kind.startswith("sealed"):
            if tables:
                yield f"readable: {name} of an encrypted user stands in {dict(tables)}"
            continue
        where = REQUIRED.get(fate.kind)
        number = tables[where] if where else 0
        begun = max(write.began for write in fate.writes)
        is_strict = fate.kind != "memory" or begun > partial.get(int(name[3:6]), 0)
        if where and fate.is_due and is_strict and number == 0:
            yield f"lost: {name} ({fate.writes[-1].op}) is not in {where}"
        if where in ("conversation_history", "model_calls") and number > 1:
            yield f"doubled: {name} stands {number} times in {where}"
        if fate.is_gone and tables:
            ops = [(one.op, one.outcome) for one in (*fate.writes, *fate.erasures)]
            yield f"left: {name} stands in {dict(tables)} after {ops}"
    for name in there.rows.keys() - known.keys():
        yield f"unknown: {name} was never sent"


def _check_batches(
    known: dict[str, Fate], there: Stored, entries: list[Entry], database: int
) -> Iterator[str]:  # fmt: skip
    """Yield the requests of several texts of which some are there and others are not."""
    for entry in entries:
        parts = [(kind, name) for kind in ("history", "memory")
                 for name in entry.facts.get(kind, ())]  # fmt: skip
        if entry.facts.get("db") != database or len(parts) < 2 or any(
            known[name].erasures for _, name in parts
        ):  # fmt: skip
            continue
        found = [bool(there.rows.get(name, Counter())[REQUIRED[kind]]) for kind, name in parts]
        if any(found) and not all(found):
            yield f"torn: of {entry.op} {entry.outcome} only {sum(found)} of {len(found)}"


def _check_turns(
    conn: psycopg.Connection[Any], entries: list[Entry], database: int
) -> Iterator[str]:  # fmt: skip
    """Yield sessions with missing or doubled turns, and turns that are not where they were put."""
    at: dict[tuple[str, int], str] = {}
    turns: dict[str, list[int]] = defaultdict(list)
    for session, turn, content in conn.execute(
        "select session_id::text, turn_index, content from recall.conversation_history"
        " order by 1, 2"
    ):
        turns[session].append(turn)
        at[session, turn] = content or ""
    for session, numbers in turns.items():
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"doubled: the turns of {session} are {numbers[:50]}"
    for entry in entries:
        if entry.op == "append" and entry.facts["db"] == database and "turns" in entry.answer:
            session = entry.facts["session"]
            if session not in turns:
                continue  # erased: the tokens are checked
            texts = " ".join(at.get((session, turn), "") for turn in entry.answer["turns"])
            shown = re.findall(PATTERN, texts)
            if set(shown) != set(entry.facts["history"]):
                yield f"lost: turns {entry.answer['turns']} of {session} have {shown}"


def _check_jobs(conn: psycopg.Connection[Any]) -> Iterator[str]:
    for row in rows(
        conn,
        "select job_id, kind, state::text, lease_until, last_error from recall.jobs"
        " where state = 'dead' and last_error is null"
        "    or state = 'running' and lease_until < clock_timestamp() - interval '5 minutes'",
    ):
        yield f"job: {row}"
