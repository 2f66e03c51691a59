"""Model a fleet of servers: how many a number of users needs, and what is the limit.

The model multiplies what a user does by what it costs: bytes, processor milliseconds, write-ahead
log. `fleet.json` has the measured costs. Prices, hardware and habits are options. A server is full
when its processors, disk, disk writes or network are used up to a share (`--busy`); the fleet has
as many servers as the scarcest of them needs, and standbys on top.

    python benchmarks/fleet.py [--turns 3] [--months 24] [--cores 16] [--price 900] …

`--measure` fills databases of 1,000 users and more with ten memories and twenty messages each. It
measures the costs in the smallest, and compares the larger ones with what the model says. `--write`
publishes costs and plot. A million users of 64 dimensions take 40 minutes and 31 GB.

    python benchmarks/fleet.py --measure [--sizes 1000 10000 100000 1000000]
                               [--measured-dimensions 384] [--write]
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector

import growth
import many_users
from many_users import MEMORIES, MESSAGES, SIZES

HERE = Path(__file__).resolve().parent
COSTS = HERE / "fleet.json"
FLEETS = (10**4, 10**5, 10**6, 10**7, 10**8, 8 * 10**8)
COLUMNS = (
    "users", "TB", "processors at peak", "log MB/s", "primaries", "limit", "with standbys",
    "cost a month", "… a user",
)  # fmt: skip
# of a number of a message's vector: a halfvec, and its sign bit
MESSAGE_NUMBER_BYTES = 2.125
SAMPLE = 300  # users that call
_CALLS = ("append_ms", "context_ms", "remember_ms", "append_wal", "append_images", "remember_wal",
          "remember_images")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of a thing on a server: bytes with indexes, milliseconds of one processor.

    Attributes:
        user_bytes: of a user with a session, without messages and memories.
        memory_bytes: of a memory without its vector.
        message_bytes: of a message that is searched by words, without its vector.
        number_bytes: of one number of a memory's vector.
        append_ms: of appending a turn.
        context_ms: of a context with a search by vector and words.
        remember_ms: of storing a memory with its vector.
        append_wal: bytes of log of a turn whose pages were written since the checkpoint.
        append_images: bytes of the pages that the first turn after a checkpoint logs in full.
        remember_wal: as append_wal, of a memory without its vector.
        remember_images: as append_images.
    """

    user_bytes: float
    memory_bytes: float
    message_bytes: float
    number_bytes: float
    append_ms: float
    context_ms: float
    remember_ms: float
    append_wal: float
    append_images: float
    remember_wal: float
    remember_images: float


@dataclass(frozen=True, slots=True)
class Habits:
    """The habits of the mean user."""

    turns: float  # a day
    memories: float  # new ones for each turn that stay
    months: float  # until messages are dropped
    kept: float  # memories of a user at most
    dimensions: int
    peak: float  # the busiest hour beside the mean one
    checkpoint: float  # minutes between two
    message_vectors: bool


@dataclass(frozen=True, slots=True)
class Server:
    """A server, and up to which share it is used."""

    cores: int
    disk_tb: float
    writes_mb: float  # a second, of the disk
    network_mb: float  # a second
    price: float  # a month
    standbys: int
    busy: float


def of_user(costs: Costs, habits: Habits) -> dict[str, float]:
    """Return what a user takes: bytes stored, and processor seconds and bytes a second at peak."""
    memories = min(habits.kept, habits.turns * habits.memories * 30.4 * habits.months)
    vector = costs.number_bytes * habits.dimensions
    a_second = habits.turns * habits.peak / 86_400
    message = costs.message_bytes
    if habits.message_vectors:
        message += habits.dimensions * MESSAGE_NUMBER_BYTES
    # Of k calls of a user between two checkpoints the first logs its pages in full: with k by the
    # Poisson distribution a share of (1 - exp(-k)) / k. Neighbors on a page make it less.
    between = a_second * habits.checkpoint * 60
    first = -math.expm1(-between) / between
    wal = costs.append_wal + first * costs.append_images + habits.memories * (
        costs.remember_wal + first * costs.remember_images + vector)  # fmt: skip
    return {
        "stored": costs.user_bytes
        + 2 * habits.turns * 30.4 * habits.months * message
        + memories * (costs.memory_bytes + vector),
        "processors": a_second / 1000
        * (costs.append_ms + costs.context_ms + habits.memories * costs.remember_ms),
        "log": a_second * wal,
    }  # fmt: skip


def servers(users: float, costs: Costs, habits: Habits, server: Server) -> dict[str, float]:
    """Return how many servers each resource asks for."""
    one = of_user(costs, habits)
    # the log is written, then the pages, about twice the log with full pages after a checkpoint
    needs = {
        "processors": one["processors"] / server.cores,
        "disk": one["stored"] / (server.disk_tb * 1e12),
        "disk writes": 3 * one["log"] / (server.writes_mb * 1e6),
        "network": (1 + server.standbys) * one["log"] / (server.network_mb * 1e6),
    }
    return {name: users * share / server.busy for name, share in needs.items()}


def table(costs: Costs, habits: Habits, server: Server) -> str:
    """Return the fleets as a Markdown table."""
    lines = [
        "| " + " | ".join(COLUMNS) + " |",
        "|---" * len(COLUMNS) + "|",
    ]
    for users in FLEETS:
        one = of_user(costs, habits)
        needs = servers(users, costs, habits, server)
        limit = max(needs, key=lambda name: needs[name])
        primaries = math.ceil(needs[limit])
        machines = primaries * (1 + server.standbys)
        price = machines * server.price
        lines.append(
            f"| {users:,} | {users * one['stored'] / 1e12:,.2f} | {users * one['processors']:,.1f}"
            f" | {users * one['log'] / 1e6:,.1f} | {primaries:,} | {limit} | {machines:,}"
            f" | {price:,.0f} | {price / users:.4f} |"
        )
    return "\n".join(lines)


def plot(costs: Costs, habits: Habits, server: Server) -> str:
    """Return the servers that each resource asks for, by users, both logarithmic, as SVG."""
    return growth.plot("servers by users", [
        {"size": users, "p50": servers(users, costs, habits, server)} for users in FLEETS
    ])  # fmt: skip


class Measurement:
    """A database of sparse users, and what they cost."""

    def __init__(self, db: psycopg.Connection[Any], dimensions: int, users: int) -> None:
        self.db = db
        self.dimensions = dimensions
        self.users = users
        register_vector(db)

    def stored(self) -> dict[str, int]:
        """Return the bytes of all tables with their indexes, by what they are for."""
        rows = self.db.execute("""
            select case when r.relname like 'memory\\_embedding%' then 'vectors'
                        when r.relname like 'memory\\_%' then 'memories'
                        when r.relname ~ '^(conversation_history|message_(search|words))'
                            then 'messages'
                        else 'users' end,
                   sum(pg_total_relation_size(r.oid))
              from pg_class as r
             where r.relnamespace = 'recall'::regnamespace and r.relkind = 'r'
             group by 1
        """).fetchall()
        return {name: int(size) for name, size in rows}

    def calls(self) -> dict[str, float]:
        """Return the median milliseconds and bytes of log of each call, by the names of `Costs`.

        Each call is of another user, whose pages are as cold as the cache makes them. It is made
        twice: the first logs pages in full, since they are new after the checkpoint.
        """
        self.db.execute("checkpoint")
        found: dict[str, list[float]] = {}
        for number in random.sample(range(self.users), min(SAMPLE, self.users)):
            user = many_users.user_of(number)
            row = self.db.execute(
                "select session_id from recall.sessions where user_id = %s limit 1", [user]
            ).fetchone()
            assert row is not None
            calls: dict[str, Callable[[], object]] = {
                "context": partial(self._context, user, row[0]),
                "append": partial(self._append, user, row[0]),
                "remember": partial(self._remember, user),
            }
            for name, call in calls.items():
                (ms, cold), (_, warm) = self._costs(call), self._costs(call)
                for what, figure in (("ms", ms), ("wal", warm), ("images", cold - warm)):
                    found.setdefault(f"{name}_{what}", []).append(figure)
        # the first calls of the connection plan
        return {name: statistics.median(figures[20:]) for name, figures in found.items()}

    def _append(self, user: uuid.UUID, session: uuid.UUID) -> None:
        query = b"select count(*) from recall.append_messages(%s, %s, %s)"
        self.db.execute(query, [user, session, growth.TURN]).fetchall()

    def _context(self, user: uuid.UUID, session: uuid.UUID) -> None:
        query = b"select recall.compile_context(%s, %s, 'statement on topic7', %s)"
        self.db.execute(query, [user, session, self._vector()]).fetchall()

    def _remember(self, user: uuid.UUID) -> None:
        query = b"select * from recall.remember(%s, %s, p_embedding => %s)"
        text = f"I know {random.random()} of topic9"
        self.db.execute(query, [user, text, self._vector()]).fetchall()

    def _vector(self) -> HalfVector:
        return HalfVector([random.gauss(0, 1) for _ in range(self.dimensions)])

    def _costs(self, call: Callable[[], object]) -> tuple[float, float]:
        """Return the processor milliseconds and the bytes of log of a call."""
        before, at = growth.clock(self.db), self._position()
        call()
        return growth.clock(self.db) - before, self._position() - at

    def _position(self) -> int:
        row = self.db.execute("select pg_current_wal_insert_lsn() - '0/0'").fetchone()
        assert row is not None
        return int(row[0])


def costs_of(
    stored: dict[str, int], empty: dict[str, int], users: int, calls: dict[str, float],
    dimensions: int,
) -> Costs:  # fmt: skip
    """Return the costs that a measured database shows."""
    grown = {name: (size - empty.get(name, 0)) / users for name, size in stored.items()}
    number = grown["vectors"] / MEMORIES / dimensions
    calls = {name: figure for name, figure in calls.items() if name in _CALLS}
    calls["remember_wal"] -= number * dimensions
    return Costs(
        user_bytes=grown["users"],
        memory_bytes=grown["memories"] / MEMORIES,
        message_bytes=grown["messages"] / MESSAGES - dimensions * MESSAGE_NUMBER_BYTES,
        number_bytes=number,
        **calls,
    )


def measure(
    dsn: str | None, sizes: list[int], dimensions: int, *, keep: bool = False
) -> tuple[Costs, list[list[str]]]:
    """Return the costs at the smallest size, and rows that compare the others with the model.

    The bytes of pages logged in full are those of the largest.
    """
    rows = []
    first: Costs | None = None
    with many_users.databases(dsn, sizes, dimensions, keep=keep) as dsns:
        for size, of_size in dsns.items():
            with psycopg.connect(of_size, autocommit=True) as db:
                made = Measurement(db, dimensions, size)
                if not size:
                    empty = made.stored()
                    continue
                stored, calls = made.stored(), made.calls()
            found = costs_of(stored, empty, size, calls, dimensions)
            first = first or found
            expected = sum(empty.values()) + size * (
                first.user_bytes
                + MESSAGES * (first.message_bytes + dimensions * MESSAGE_NUMBER_BYTES)
                + MEMORIES * (first.memory_bytes + dimensions * first.number_bytes)
            )  # fmt: skip
            actual = sum(stored.values())
            cells = [f"{size:,}", f"{actual / 1e9:.3f}", f"{actual / expected:.2f}"]
            for name in _CALLS:
                one, base = getattr(found, name), getattr(first, name)
                digits = 2 if name.endswith("ms") else 0
                ratio = f" ({one / base:.2f} ×)" if base else ""
                cells.append(f"{one:,.{digits}f}{ratio}")
            rows.append(cells)
            print("| " + " | ".join(cells) + " |", flush=True)
    assert first is not None
    # with few users a page holds several who call, and is logged once for all of them
    images = {name: getattr(found, name) for name in _CALLS if name.endswith("images")}
    return replace(first, **images), rows


def main() -> None:
    """Print the fleets, or measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN of a server with pgvector")
    parser.add_argument("--measure", action="store_true", help="measure costs, check the model")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="users")
    parser.add_argument("--measured-dimensions", type=int, default=384)
    parser.add_argument("--keep", action="store_true", help="leave the databases on the server")
    parser.add_argument("--write", action="store_true", help="publish costs and plot")
    parser.add_argument("--turns", type=float, default=3, help="of a user, a day")
    parser.add_argument("--memories", type=float, default=0.2, help="new ones for each turn")
    parser.add_argument("--kept", type=float, default=1_000, help="memories of a user at most")
    parser.add_argument("--months", type=float, default=24, help="until messages are dropped")
    parser.add_argument("--dimensions", type=int, default=1_536)
    parser.add_argument("--message-vectors", action="store_true", help="search messages by them")
    parser.add_argument("--peak", type=float, default=3, help="the busiest hour beside the mean")
    parser.add_argument("--checkpoint", type=float, default=15, help="minutes between two")
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--disk-tb", type=float, default=4)
    parser.add_argument("--writes-mb", type=float, default=500, help="a second")
    parser.add_argument("--network-mb", type=float, default=1_000, help="a second")
    parser.add_argument("--price", type=float, default=900, help="of a server, a month")
    parser.add_argument("--standbys", type=int, default=1, help="for each primary")
    parser.add_argument("--busy", type=float, default=0.6, help="share of a resource to use")
    given = vars(parser.parse_args())
    habits = Habits(**{field.name: given[field.name] for field in fields(Habits)})
    server = Server(**{field.name: given[field.name] for field in fields(Server)})
    if given["measure"]:
        print("| users | GB | ÷ model | " + " | ".join(name.replace("_", " ") for name in _CALLS)
              + " |\n" + "|---" * (3 + len(_CALLS)) + "|")  # fmt: skip
        costs, rows = measure(
            given["dsn"], given["sizes"], given["measured_dimensions"], keep=given["keep"]
        )
        if given["write"]:
            published = {"costs": asdict(costs), "checked": rows}
            COSTS.write_text(
                json.dumps(published, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
            )
    costs = Costs(**json.loads(COSTS.read_text(encoding="utf-8"))["costs"])
    print(table(costs, habits, server))
    if given["write"]:
        (HERE / "fleet.svg").write_text(plot(costs, habits, server), encoding="utf-8")


if __name__ == "__main__":
    main()
