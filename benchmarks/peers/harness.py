"""Time one contender, with the same code for all of them.

This module uses only the standard library and psycopg, since it runs in the environment of each
peer. It times the call that a user of the library makes. A table look-up replaces the embedding
model. The comparison with the exact answer happens outside of the clock.
"""

from __future__ import annotations

import argparse
import array
import contextlib
import gc
import importlib.metadata
import importlib.util
import json
import math
import mmap
import multiprocessing
import statistics
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg.adapt import Dumper
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format
from psycopg.types import TypeInfo

HERE = Path(__file__).resolve().parent
FEW, MANY = 10, 50  # memories that a search asks for
LAST = 50  # messages that a read returns
WARM_UP = 20

Result = dict[str, Any]


class Data:
    """The files of `data.py`, with the vector of each text."""

    def __init__(self, folder: Path) -> None:
        document = json.loads((folder / "data.json").read_text(encoding="utf-8"))
        self.folder = folder
        self.scale: dict[str, Any] = document["scale"]
        self.memories: list[list[str]] = document["memories"]
        self.queries: list[dict[str, Any]] = document["queries"]
        self.large_queries: list[dict[str, Any]] = document["large_queries"]
        self.writes: list[list[str]] = document["writes"]
        self.batches: list[list[Any]] = document["batches"]
        self.conversation: dict[str, Any] = document["conversation"]
        self.dimensions: int = self.scale["dimensions"]
        self._place = {text: place for place, text in enumerate(document["texts"])}
        for query in self.queries + self.large_queries:
            self._place[query["words"]] = self._place[query["text"]]
        with (folder / "vectors.f32").open("rb") as file:
            self._vectors = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def packed(self, text: str) -> array.array[float]:
        """Return the vector of a text as single-precision numbers."""
        size = 4 * self.dimensions
        start = size * self._place[text]
        return array.array("f", self._vectors[start : start + size])

    def embed(self, text: str) -> list[float]:
        """Return the vector of a text as an embedding model would."""
        return self.packed(text).tolist()

    def turn(self, number: int) -> tuple[str, str]:
        """Return question and answer of a turn, some 130 and 260 characters."""
        question = (
            f"Question {number}: how do I do this, what did we say about it the last time, and "
            "which of the two ways would you take in my place?"
        )
        answer = (
            f"Answer {number}: you do it like that, and you told me that you like the second way "
            "more. Take the first one when there is little time, the second one when the result "
            "has to last, and ask me again when neither of them seems to fit what you are at."
        )
        return question, answer


class Contender:
    """A store of memories or conversations, with a file in contenders/.

    Every process creates its own. `measures` lists the methods that it has.

    Attributes:
        title: the name in tables.
        packages: distributions with reported versions.
        measures: some of memory, conversation, context.
        loading: how the memories were loaded before the timed searches.
        note: a remark beside the figures.
    """

    title = ""
    packages: tuple[str, ...] = ()
    measures: frozenset[str] = frozenset()
    loading = ""
    note = ""

    def __init__(self, dsn: str, data: Data) -> None:
        self.dsn = dsn
        self.data = data

    def create(self) -> None:
        """Create tables and indexes, only in the first process, before `open`."""

    def open(self) -> None:
        """Connect."""

    def close(self) -> None:
        """Disconnect."""

    # memory

    def load(self, memories: Sequence[Sequence[str]]) -> None:
        """Store many pairs of user and text as fast as possible; untimed."""
        raise NotImplementedError

    def add(self, user: str, text: str) -> None:
        """Store one memory durably."""
        raise NotImplementedError

    def add_many(self, user: str, texts: Sequence[str]) -> None:
        """Store several memories of a user by the batch call of the library."""
        raise NotImplementedError

    def search(self, user: str, query: str, limit: int) -> list[str]:
        """Return the texts of the memories that are nearest to a question, best first."""
        raise NotImplementedError

    # A contender that also ranks by words has one more method, which is measured too:
    # def search_words(self, user: str, query: str, limit: int) -> list[str]

    # conversation

    def begin(self, user: str, session: str) -> None:
        """Create a conversation."""

    def append(self, user: str, session: str, question: str, answer: str) -> None:
        """Store a turn durably."""
        raise NotImplementedError

    def read(self, user: str, session: str) -> list[str]:
        """Return the texts of the last fifty messages, oldest first."""
        raise NotImplementedError

    # context

    def context(self, user: str, session: str, query: str) -> Any:
        """Return the messages for the next call of the model."""
        raise NotImplementedError


# Loading by COPY


class PackedVector:
    """A vector for COPY in binary form, without any library of pgvector."""

    def __init__(self, numbers: array.array[float]) -> None:
        self.numbers = numbers

    def binary(self) -> bytes:
        """Return the binary input of type vector."""
        swapped = array.array("f", self.numbers)
        if sys.byteorder == "little":
            swapped.byteswap()
        return struct.pack(">HH", len(swapped), 0) + swapped.tobytes()


class _PackedVectorDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: PackedVector) -> bytes:
        return obj.binary()


@contextlib.contextmanager
def loading(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection for COPY; drop HNSW indexes before and rebuild them at the end.

    That is their best case: an index built at once is better than one that grew.
    """
    with psycopg.connect(dsn, autocommit=True) as db:
        info = TypeInfo.fetch(db, "vector")
        if info is not None:
            info.register(db)
            dumper = type("Dumper", (_PackedVectorDumper,), {"oid": info.oid})
            db.adapters.register_dumper(PackedVector, dumper)
        indexes = db.execute(
            "select format('%I.%I', schemaname, indexname), indexdef from pg_indexes"
            " where indexdef like '%USING hnsw%'"
        ).fetchall()
        for name, _ in indexes:
            db.execute(f"drop index {name}")
        yield db
        for _, definition in indexes:
            db.execute(definition)


def copy(
    db: psycopg.Connection[Any], target: str, types: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Write rows into `table (columns)` by binary COPY."""
    with db.cursor().copy(f"copy {target} from stdin with (format binary)") as stream:
        stream.set_types(types)
        for row in rows:
            stream.write_row(row)


def sqlalchemy_url(dsn: str) -> str:
    """Convert a DSN for SQLAlchemy with asyncpg."""
    parts = {key: quote(str(value), safe="") for key, value in conninfo_to_dict(dsn).items()}
    password = f":{parts['password']}" if "password" in parts else ""
    return (
        f"postgresql+asyncpg://{parts['user']}{password}@/{parts['dbname']}"
        f"?host={parts.get('host', 'localhost')}&port={parts.get('port', '5432')}"
    )


# The clock


def timed(
    function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], warm_up: int = 0
) -> tuple[Result, list[Any]]:
    """Call a function with each argument; return milliseconds and result of each call."""
    for given in arguments[:warm_up]:
        function(*given)
    times, results = [], []
    gc.collect()
    gc.disable()
    try:
        for given in arguments[warm_up:]:
            start = time.perf_counter()
            result = function(*given)
            times.append(1000 * (time.perf_counter() - start))
            results.append(result)
    finally:
        gc.enable()
    return summary(times), results


def summary(times: Sequence[float]) -> Result:
    """Return median, 99th percentile (nearest rank) and mean of milliseconds."""
    ordered = sorted(times)
    return {
        "p50_ms": round(statistics.median(ordered), 4),
        "p99_ms": round(ordered[math.ceil(0.99 * len(ordered)) - 1], 4),
        "mean_ms": round(statistics.fmean(ordered), 4),
        "calls": len(ordered),
    }


class Server:
    """The superuser's view of the contender's database: sizes and the write-ahead log."""

    def __init__(self, dsn: str) -> None:
        self.db = psycopg.connect(dsn, autocommit=True)
        try:
            self.db.execute("create extension if not exists pg_walinspect schema pg_catalog")
            self.can_read_wal = True
        except psycopg.Error:
            self.can_read_wal = False

    def value(self, query: str, *values: Any) -> Any:
        """Return the first column of the first row."""
        row = self.db.execute(query, values).fetchone()
        return None if row is None else row[0]

    def bytes(self) -> int:
        """Return the size of all tables, with TOAST and indexes."""
        return int(
            self.value(
                "select coalesce(sum(pg_total_relation_size(c.oid)), 0)"
                "  from pg_class as c join pg_namespace as n on n.oid = c.relnamespace"
                " where c.relkind in ('r', 'm')"
                "   and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')"
            )
        )

    def settle(self) -> None:
        """Vacuum, analyze and checkpoint, so that earlier work does not disturb later calls."""
        self.db.execute("vacuum analyze")
        self.db.execute("checkpoint")

    @contextlib.contextmanager
    def wal(self, result: Result, rows: int) -> Iterator[None]:
        """Add the log bytes per row to a result: records, and records with page images."""
        self.db.execute("checkpoint")
        start = self.value("select pg_current_wal_insert_lsn()::text")
        yield
        end = self.value("select pg_current_wal_insert_lsn()::text")
        both = self.value("select (%s::pg_lsn - %s::pg_lsn)::bigint", end, start)
        result["wal_bytes_with_images"] = round(int(both) / rows)
        if self.can_read_wal:
            self.value("select pg_switch_wal()::text")  # flush the log, so that it can be read
            records = self.value(
                "select sum(record_size)::bigint from pg_get_wal_stats(%s::pg_lsn, %s::pg_lsn)",
                start,
                end,
            )
            result["wal_bytes"] = round(int(records) / rows)


# Measurements


def measure_memory(contender: Contender, server: Server) -> Result:
    """Load, search, then write, since writes would change the exact answers."""
    data = contender.data
    empty = server.bytes()
    started = time.perf_counter()
    contender.load(data.memories)
    load_seconds = time.perf_counter() - started
    server.settle()
    result: Result = {
        "memories": len(data.memories),
        "load_seconds": round(load_seconds, 1),
        "bytes_per_memory": round((server.bytes() - empty) / len(data.memories)),
    }

    result["search"] = searched(contender.search, data.queries, "text", FEW)
    result["search_large"] = searched(contender.search, data.large_queries, "text", FEW)
    result["search_large_many"] = searched(contender.search, data.large_queries, "text", MANY)
    if words := getattr(contender, "search_words", None):
        result["search_words"] = searched(words, data.queries, "words", FEW)
        result["search_words_large"] = searched(words, data.large_queries, "words", FEW)
    result["search_clients"] = together(contender, "search")

    result["write"] = {}
    with server.wal(result["write"], len(data.writes)):
        times, _ = timed(contender.add, [tuple(write) for write in data.writes])
    result["write"] |= times
    started = time.perf_counter()
    for user, texts in data.batches:
        contender.add_many(user, texts)
    seconds = time.perf_counter() - started
    written = sum(len(texts) for _, texts in data.batches)
    result["write_batch"] = {"per_second": round(written / seconds), "memories": written}
    check_written(contender)
    return result


def searched(
    function: Callable[[str, str, int], list[str]],
    queries: list[dict[str, Any]],
    field: str,
    limit: int,
) -> Result:
    """Time a search, and compare its results with the exact answer.

    All searches run once before the clock starts. A new connection first maps the pages of a
    user's rows, which takes longer than a search.
    """
    arguments = [(query["user"], query[field], limit) for query in queries]
    result, found = timed(function, arguments * 2, warm_up=len(arguments))
    exact = [query["truth"][:limit] for query in queries]
    shares = [
        len(set(texts) & set(truth)) / len(truth) for texts, truth in zip(found, exact, strict=True)
    ]
    if any(len(texts) != len(set(texts)) for texts in found):
        raise AssertionError("a memory was returned twice")
    return result | {
        "recall": round(statistics.fmean(shares), 4),
        "rows": round(statistics.fmean(map(len, found)), 2),
        "fewest_rows": min(map(len, found)),
        "empty": round(sum(not texts for texts in found) / len(found), 4),
    }


def check_written(contender: Contender) -> None:
    """Fail if the last written memory is missing."""
    user, texts = contender.data.batches[-1]
    if not contender.search(user, texts[-1], FEW):
        raise AssertionError("the memories that were written in batches are not found")


def measure_conversation(contender: Contender, server: Server) -> Result:
    """Append turns to one conversation and read its end."""
    data = contender.data
    place = data.conversation
    user, session = place["user"], place["session"]
    contender.begin(user, session)
    before = data.scale["messages"] // 2
    for number in range(before):
        contender.append(user, session, *data.turn(number))
    server.settle()

    turns = range(before, before + data.scale["turns"])
    result: Result = {"messages_before": 2 * before, "append": {}}
    with server.wal(result["append"], 2 * len(turns)):
        times, _ = timed(
            contender.append, [(user, session, *data.turn(number)) for number in turns]
        )
    result["append"] |= times
    result["read"], read = timed(
        contender.read, [(user, session)] * (WARM_UP + len(turns)), warm_up=WARM_UP
    )
    said = [text for number in range(turns.stop) for text in data.turn(number)]
    if read[-1] != said[-LAST:]:
        raise AssertionError("the last messages are not those that were appended")
    result["clients"] = together(contender, "converse")
    return result


def measure_context(contender: Contender, server: Server) -> Result:
    """Compile the next prompt from memories and a conversation."""
    data = contender.data
    user, session = data.conversation["user"], data.conversation["session"]
    server.settle()
    arguments = [(user, session, query["words"]) for query in data.queries]
    result, contexts = timed(contender.context, arguments, min(WARM_UP, len(arguments) // 3))
    if not all(contexts):
        raise AssertionError("a context is empty")
    return result


# Several clients at once, a process each


def together(contender: Contender, work: str) -> Result:
    """Run several clients for some seconds; return their rate per second."""
    data = contender.data
    clients, seconds = data.scale["clients"], data.scale["seconds"]
    context = multiprocessing.get_context("spawn")
    start, done = context.Barrier(clients), context.Queue()
    name = Path(sys.modules[type(contender).__module__].__file__ or "").stem
    processes = [
        context.Process(
            target=_client, args=(name, contender.dsn, data.folder, work, number, start, done)
        )
        for number in range(clients)
    ]
    for process in processes:
        process.start()
    counts = [done.get(timeout=120 + seconds) for _ in processes]
    for process in processes:
        process.join(timeout=30)
    if problems := [count for count in counts if isinstance(count, str)]:
        raise RuntimeError(f"a client failed: {problems[0]}")
    return {"clients": clients, "per_second": round(sum(counts), 1)}


def _client(
    name: str, dsn: str, folder: Path, work: str, number: int, start: Any, done: Any
) -> None:
    try:
        done.put(_work(name, dsn, folder, work, number, start))
    except Exception as error:
        start.abort()
        done.put(f"{type(error).__name__}: {error}")


def _work(name: str, dsn: str, folder: Path, work: str, number: int, start: Any) -> float:
    data = Data(folder)
    contender = load_contender(name)(dsn, data)
    contender.open()
    user, session = data.conversation["clients"][number]
    if work == "converse":
        contender.begin(user, session)
        for turn in range(LAST // 2):
            contender.append(user, session, *data.turn(turn))
    else:
        for query in data.queries[number :: data.scale["clients"]]:
            contender.search(query["user"], query["text"], FEW)
    start.wait(timeout=120)
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < data.scale["seconds"]:
        if work == "converse":
            contender.append(user, session, *data.turn(LAST + count))
            contender.read(user, session)
            count += 2
        else:
            query = data.queries[(number + count * data.scale["clients"]) % len(data.queries)]
            contender.search(query["user"], query["text"], FEW)
            count += 1
    took = time.perf_counter() - began
    contender.close()
    return count / took


# A contender in this interpreter


def load_contender(name: str) -> type[Contender]:
    """Load the class of contenders/NAME.py under a name that no package has."""
    path = HERE / "contenders" / f"{name}.py"
    module_name = f"contender_{name}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    (found,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Contender) and value is not Contender
    )
    return found


def main() -> None:
    """Measure one contender and write the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()

    contender = load_contender(options.name)(options.dsn, Data(options.data))
    result: Result = {
        "title": contender.title,
        "versions": {name: importlib.metadata.version(name) for name in contender.packages},
        "loading": contender.loading,
        "note": contender.note,
    }
    server = Server(options.dsn)
    contender.create()
    contender.open()
    for what, measure in (
        ("memory", measure_memory),
        ("conversation", measure_conversation),
        ("context", measure_context),
    ):
        if what in contender.measures and what in contender.data.scale["measures"]:
            result[what] = measure(contender, server)
    contender.close()
    options.out.write_text(json.dumps(result), encoding="utf-8")
