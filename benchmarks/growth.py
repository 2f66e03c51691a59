"""Measure latency as the database grows, and as one user's memories and messages grow.

The first sweep measures a user with 200 memories and 200 messages while other users fill the
database, with 50 memories and 250 messages each. The next two measure users of 50 to 20,000
memories, and of 500 to 50,000 messages, in the largest of these databases. Rows of other users are
inserted directly, as an import would leave them.

The floor is an exact scan of the same vectors in a table of their own. It is measured beside each
point of the first two sweeps: on a shared machine only the ratio is meaningful. On Linux and the
same machine, times are processor times of the server process, without waiting. The benchmark also
counts the relation locks of a transaction, and times the first call of a connection, which plans
everything. `--full` uses a million memories and five million messages (half an hour, 10 GB).

    python benchmarks/growth.py [--dsn DSN] [--full] [--dimensions 128] [--json]

`--only messages` measures users by their messages alone; `--user-sizes` and `--message-sizes` name
other sizes. `--write` publishes the results and a plot of each measured sweep.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import statistics
import sys
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb

import pgrecall
from target import database, processor_ms

EACH = 50  # memories of each other user
SAID = 250  # messages of each other user
CHUNK = 1_000  # users filled in one transaction
SIZES = (1_000, 10_000, 100_000)
FULL = (*SIZES, 1_000_000)
USER_SIZES = (50, 200, 1_000, 5_000, 20_000)
MESSAGE_SIZES = (500, 5_000, 50_000)
SWEEPS = ("database", "user", "messages")
ROUNDS, WARM_UP = 150, 20
MESSAGE_ROUNDS = 60
SETTINGS = [
    "shared_buffers", "work_mem", "fsync", "synchronous_commit", "jit", "autovacuum",
]  # fmt: skip
HERE = Path(__file__).resolve().parent

# Sums of three random vectors out of 600: all different, and fast to generate.
FILL = """
create temp table base as
select n, (array_agg(random() - 0.5))::halfvec as v
  from generate_series(0, 599) as n cross join generate_series(1, {dimensions})
 group by n;

create function pg_temp.fill(p_users uuid[], p_count integer, p_salt bigint) returns void
language plpgsql as $$
begin
    insert into recall.users (user_id, active_memory_count, created_at)
    select u, p_count, now() from unnest(p_users) as u;

    create temp table made as
    select u.user_id, recall.uuidv7() as memory_id, n, random() as luck,
           p_salt + u.place * p_count + n as number
      from unnest(p_users) with ordinality as u (user_id, place)
     cross join generate_series(1, p_count) as n;

    insert into recall.memory_store (
        user_id, memory_id, tier, scope, kind, content, content_hash, token_count, search_vector,
        provenance, source, confidence, importance, observed_at, created_at, updated_at,
        is_validated)
    select m.user_id, m.memory_id, 'semantic', 'global', 'fact',
           format('Statement %s on topic%s and topic%s', m.n, m.n % 97, m.number % 89),
           uuid_send(m.memory_id), 8,
           array_to_tsvector(array['statement', m.n::text, 'topic' || m.n % 97,
                                   'topic' || m.number % 89]),
           'user_stated', 'import', 0.9, m.luck, now(), now() - m.luck * interval '300 days', now(),
           true
      from made as m;

    insert into recall.memory_embedding (user_id, memory_id, embedding_model, embedding)
    select m.user_id, m.memory_id, (select recall.get_settings() ->> 'embedding_model'),
           a.v + b.v + c.v
      from made as m
      join base as a on a.n = m.number * 7 % 600
      join base as b on b.n = (m.number / 600 + m.number * 11) % 600
      join base as c on c.n = (m.number / 7919 + m.number * 13 + 5) % 600;
    drop table made;
end $$
"""

# Conversations of each user, in the current month, indexed; sessions of at most 250 messages. A
# message is two phrases of six words. The n-th word is 1 / n as frequent as the first, as in texts:
# some words are in every other message, most in very few.
TALK = """
create temp table phrase as
select n, string_agg('word' || floor(exp(random() * ln(5000))), ' ') as content
  from generate_series(0, 4999) as n cross join generate_series(1, 6)
 group by n;
alter table phrase add words tsvector;
update phrase set words = to_tsvector('simple', content);

create function pg_temp.talk(p_users uuid[], p_count integer) returns void
language plpgsql as $$
begin
    create temp table talk as
    select u as user_id, recall.open_session(u, 'gpt-4o-mini') as session_id,
           least(250, p_count - done) as messages
      from unnest(p_users) as u cross join generate_series(0, p_count - 1, 250) as done;
    update recall.sessions as s
       set turn_count = t.messages, user_turn_count = (t.messages + 1) / 2,
           active_tokens = 24 * t.messages, indexed_through_turn = t.messages,
           last_message_at = s.created_at
      from talk as t
     where s.user_id = t.user_id and s.session_id = t.session_id;

    create temp table spoken as
    select s.user_id, s.session_id, i as turn_index, s.created_at, gen_random_uuid() as message_id,
           (array['assistant', 'user'])[1 + i % 2]::recall.message_role as role,
           floor(random() * 5000) as n, floor(random() * 5000) as more,
           60 + floor(random() * 250) as near, 310 + floor(random() * 250) as nearer
      from talk as t
      join recall.sessions as s using (user_id, session_id)
     cross join lateral generate_series(1, t.messages) as g (i);
    insert into recall.conversation_history (user_id, session_id, turn_index, created_at,
        message_id, role, content, content_hash, token_count)
    select p.user_id, p.session_id, p.turn_index, p.created_at, p.message_id, p.role,
           a.content || ' ' || b.content, uuid_send(p.message_id), 24
      from spoken as p
      join phrase as a on a.n = p.n
      join phrase as b on b.n = p.more;
    insert into recall.message_search (user_id, session_id, turn_index, message_id, role,
        created_at, search_vector, embedding, embedding_model)
    select p.user_id, p.session_id, p.turn_index, p.message_id, p.role, p.created_at,
           a.words || b.words, u.v + v.v + w.v, recall.get_settings() ->> 'embedding_model'
      from spoken as p
      join phrase as a on a.n = p.n
      join phrase as b on b.n = p.more
      join base as u on u.n = p.n::integer % 60
      join base as v on v.n = p.near
      join base as w on w.n = p.nearer;
    perform recall._write_word_blocks(t.user_id, t.session_id, 1, t.messages) from talk as t;
    drop table talk, spoken;
end $$;

-- Near one of the user's messages, and some of the words of one.
create function pg_temp.questions(
    p_user uuid, p_count integer, out o_vector halfvec, out o_words text) returns setof record
language sql as $$
    select subvector(m.embedding + b.v, 1, vector_dims(b.v)),
           array_to_string((array(
               select w from unnest(tsvector_to_array(m.search_vector)) as w order by random()
           ))[:5], ' ')
      from (
            select * from recall.message_search as s
             where s.user_id = p_user order by random() limit p_count
           ) as m
      join base as b on b.n = 570 + m.turn_index % 30
$$
"""


TURN = Jsonb(
    [
        {"role": "user", "content": "How do I do this? " * 8, "token_count": 48},
        {"role": "assistant", "content": "Like that. " * 20, "token_count": 72},
    ]
)


def clock(db: psycopg.Connection[Any]) -> float:
    """Return the processor milliseconds of the server process, else those of a clock."""
    worked = processor_ms(db)
    return 1000 * time.perf_counter() if worked is None else worked


class Growth:
    """One database that grows."""

    def __init__(self, db: psycopg.Connection[Any], dimensions: int) -> None:
        self.db = db
        self.dimensions = dimensions
        self.random = random.Random(1)
        self.salt = 0
        self.others = 0
        db.execute("set max_parallel_workers_per_gather = 0")
        db.execute(FILL.format(dimensions=dimensions).encode())
        db.execute(TALK)
        db.execute(
            "create table floor (user_id uuid not null, memory_id uuid not null,"
            f" embedding halfvec({dimensions}) not null, primary key (user_id, memory_id))"
        )
        db.execute("alter table floor alter column embedding set storage plain")

    def fill(self, users: list[uuid.UUID], count: int) -> None:
        """Fill each user with this many memories."""
        self.db.execute("select pg_temp.fill(%s, %s, %s)", [users, count, self.salt])
        self.salt += (len(users) + 1) * count + 100_003

    def grow(self, size: int) -> None:
        """Add other users until they have this many memories together."""
        while self.others < size:
            users = [uuid.uuid4() for _ in range(min(CHUNK, (size - self.others) // EACH))]
            self.fill(users, EACH)
            self.db.execute("select pg_temp.talk(%s, %s)", [users, SAID])
            self.others += len(users) * EACH
        self.db.execute("vacuum analyze")
        self.db.execute("checkpoint")

    def person(self, memories: int) -> tuple[uuid.UUID, uuid.UUID]:
        """Create a user with memories, also in the floor, and a conversation of 200 messages."""
        user = uuid.uuid4()
        self.fill([user], memories)
        self.db.execute(
            "insert into floor select user_id, memory_id, embedding"
            "  from recall.memory_embedding where user_id = %s",
            [user],
        )
        session = self.open(user)
        self.db.execute("select pg_temp.talk(%s, 100)", [[user]])
        for _ in range(100):
            self.append(user, session)
        self.db.execute("vacuum analyze")
        return user, session

    def open(self, user: uuid.UUID) -> uuid.UUID:
        """Open a session."""
        row = self.db.execute(
            "select recall.open_session(p_user_id => %s, p_model_id => 'gpt-4o-mini')", [user]
        ).fetchone()
        assert row is not None
        return uuid.UUID(str(row[0]))

    def append(
        self, user: uuid.UUID, session: uuid.UUID, db: psycopg.Connection[Any] | None = None
    ) -> None:
        """Append a turn of two messages."""
        self._run(
            db or self.db,
            "select count(*) from recall.append_messages(%(user)s, %(session)s, %(messages)s)",
            {"user": user, "session": session, "messages": TURN},
        )

    def calls(
        self, user: uuid.UUID, session: uuid.UUID
    ) -> dict[str, Callable[[psycopg.Connection[Any], HalfVector], None]]:
        """Return the measured calls by name."""
        words = "which statement on topic7 and topic11"
        said = "word2 word30 word300"
        statements = {
            "floor": "select memory_id from floor where user_id = %(user)s"
            " order by embedding <=> %(vector)s limit 10",
            "search": "select memory_id from recall.search(p_user_id => %(user)s,"
            " p_query_embedding => %(vector)s, p_limit => 10)",
            "hybrid": "select memory_id from recall.search(p_user_id => %(user)s,"
            " p_query => %(words)s, p_query_embedding => %(vector)s, p_limit => 10)",
            "messages": "select message_id from recall.search_messages(p_user_id => %(user)s,"
            " p_query => %(said)s, p_query_embedding => %(vector)s, p_limit => 10)",
            "compile": "select recall.compile_context(%(user)s, %(session)s, %(words)s,"
            " %(vector)s)",
        }
        values = {"user": user, "session": session, "words": words, "said": said}
        spare = self.open(user)  # otherwise the context would read more at every point
        return {
            name: lambda db, vector, query=query: self._run(db, query, values | {"vector": vector})
            for name, query in statements.items()
        } | {"append": lambda db, _: self.append(user, spare, db)}

    def point(self, user: uuid.UUID, session: uuid.UUID) -> dict[str, dict[str, float]]:
        """Measure one user: medians and first calls in milliseconds, and locks."""
        calls = self.calls(user, session)
        found: dict[str, dict[str, float]] = {"p50": {}, "first": {}, "locks": {}}
        for name, function in calls.items():
            found["p50"][name] = self.timed(function)
            first, found["locks"][name] = [], 0
            for _ in range(5):
                with psycopg.connect(self.db.info.dsn) as db:
                    register_vector(db)
                    start = clock(db)
                    function(db, self.vector())
                    first.append(clock(db) - start)
                    held = db.execute(
                        "select count(*) from pg_locks"
                        " where pid = pg_backend_pid() and locktype = 'relation'"
                    ).fetchone()
                    found["locks"][name] = held[0] if held else 0
            found["first"][name] = statistics.median(first)
        return found

    def vector(self) -> HalfVector:
        """Return a vector that no search has used."""
        return HalfVector([self.random.gauss(0, 1) for _ in range(self.dimensions)])

    def timed(self, function: Callable[[psycopg.Connection[Any], HalfVector], None]) -> float:
        """Return the median milliseconds of a call; each call has a vector of its own."""
        times = []
        for _ in range(WARM_UP + ROUNDS):
            vector = self.vector()
            start = clock(self.db)
            function(self.db, vector)
            times.append(clock(self.db) - start)
        return statistics.median(times[WARM_UP:])

    def talker(self, messages: int) -> dict[str, dict[str, float]]:
        """Measure a user with these messages and 200 memories: medians and 95th percentiles."""
        user = uuid.uuid4()
        self.fill([user], 200)
        self.db.execute("select pg_temp.talk(%s, %s)", [[user], messages])
        self.db.execute("vacuum analyze recall.message_search, recall.conversation_history")
        row = self.db.execute(
            "select session_id from recall.sessions where user_id = %s limit 1", [user]
        ).fetchone()
        asked = self.db.execute(
            "select o_vector, o_words from pg_temp.questions(%s, %s)", [user, MESSAGE_ROUNDS]
        ).fetchall()
        assert row is not None
        search = "select message_id from recall.search_messages(p_user_id => %(user)s, p_query => "
        statements = {
            "by vector": search + "null, p_query_embedding => %(vector)s)",
            "by words": search + "%(words)s)",
            "by both": search + "%(words)s, p_query_embedding => %(vector)s)",
            "read 50": "select message_id from recall.get_messages(%(user)s, %(session)s,"
            " p_limit => 50)",
            "context, recalled": "select recall.compile_context(%(user)s, %(session)s, %(words)s,"
            """ %(vector)s, p_options => '{"recalled": true}')""",
            "append": "select count(*) from recall.append_messages(%(user)s, %(spare)s,"
            " %(messages)s)",
        }
        known = {"user": user, "session": row[0], "spare": self.open(user), "messages": TURN}
        found: dict[str, dict[str, float]] = {"p50": {}, "p95": {}}
        for name, statement in statements.items():
            times = []
            for vector, words in asked[:WARM_UP] + asked:
                start = clock(self.db)
                self._run(self.db, statement, known | {"vector": vector, "words": words})
                times.append(clock(self.db) - start)
            times = sorted(times[min(WARM_UP, len(asked)) :])
            found["p50"][name] = statistics.median(times)
            found["p95"][name] = times[math.ceil(0.95 * len(times)) - 1]
        return found

    def _run(self, db: psycopg.Connection[Any], query: str, values: dict[str, Any]) -> None:
        db.execute(query.encode(), values, prepare=True, binary=True).fetchall()


def measure(
    dsn: str | None,
    dimensions: int,
    sizes: tuple[int, ...] = SIZES,
    user_sizes: tuple[int, ...] = USER_SIZES,
    message_sizes: tuple[int, ...] = MESSAGE_SIZES,
) -> dict[str, Any]:
    """Measure one user as the database grows, then users of several sizes; () skips a sweep."""
    points: dict[str, list[dict[str, Any]]] = {sweep: [] for sweep in SWEEPS}

    def note(sweep: str, size: int, point: dict[str, Any]) -> None:
        points[sweep].append({"size": size} | point)
        print(sweep, json.dumps(points[sweep][-1]), file=sys.stderr, flush=True)

    with database(dsn, dimensions=dimensions) as db:
        growth = Growth(db, dimensions)
        user, session = growth.person(200)
        for size in sizes:
            growth.grow(size)
            note("database", size, growth.point(user, session))
        for size in user_sizes:
            note("user", size, growth.point(*growth.person(size)))
        for size in message_sizes:
            note("messages", size, growth.talker(size))
        return {
            "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {
                "python": platform.python_version(),
                "pgrecall": pgrecall.__version__,
                **dict(
                    db.execute(
                        "select 'postgresql', current_setting('server_version')"
                        " union all select extname, extversion from pg_extension"
                        " where extname in ('vector', 'pg_trgm')"
                    ).fetchall()
                ),
            },
            "cpus": os.cpu_count(),
            "server": dict(
                db.execute(
                    "select name, setting from pg_settings where name = any (%s)", [SETTINGS]
                ).fetchall()
            ),
            "dimensions": dimensions,
            **points,
        }


def table(title: str, points: list[dict[str, Any]], what: str = "p50") -> str:
    """Return a Markdown table of medians with their ratios to the floor, or of first calls."""
    names = [name for name in points[0][what] if what == "p50" or name != "floor"]
    lines = [f"| {title} | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for point in points:
        cells = [f"{point['size']:,}"]
        for name in names:
            figure, floor = point[what][name], point["p50"].get("floor")
            if what != "p50":
                cells.append(f"{figure:.0f} ms, {point['locks'][name]}")
            elif floor is None:
                cells.append(f"{figure:.1f} / {point['p95'][name]:.1f}")
            else:
                cells.append(
                    f"{figure:.2f}" + (f" ({figure / floor:.1f} ×)" if name != "floor" else "")
                )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


COLORS = ("#2f6f9f", "#c98a3a", "#4f8f4f", "#9a4f7f", "#6f6f6f", "#b04a3a")


def plot(title: str, points: list[dict[str, Any]]) -> str:
    """Return the medians as curves over the size, both logarithmic, as SVG."""
    left, top, width, height = 60, 40, 420, 220
    sizes = [math.log10(point["size"]) for point in points]
    times = [math.log10(time) for point in points for time in point["p50"].values()]
    low, high = math.floor(min(times)), math.ceil(max(times))
    across = width / max(sizes[-1] - sizes[0], 1)
    up = height / max(high - low, 1)

    def place(size: float, time: float) -> tuple[float, float]:
        return left + across * (math.log10(size) - sizes[0]), (
            top + height - up * (math.log10(time) - low)
        )

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg"',
        f' width="{left + width + 160}" height="{top + height + 34}">',
        "<style>text { font: 13px sans-serif }</style>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="12" y="22" font-weight="bold">{escape(title)}</text>',
    ]
    for decade in range(low, high + 1):
        _, y = place(points[0]["size"], 10**decade)
        parts.append(
            f'<line x1="{left}" y1="{y:.0f}" x2="{left + width}" y2="{y:.0f}" stroke="#ddd"/>'
            f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end" fill="#666">'
            f"{10**decade:g}</text>"
        )
    for point in points:
        x, _ = place(point["size"], 10**low)
        parts.append(
            f'<text x="{x:.0f}" y="{top + height + 20}" text-anchor="middle" fill="#666">'
            f"{point['size']:,}</text>"
        )
    bottom = math.inf
    last = points[-1]["p50"]
    for color, name in zip(COLORS, sorted(last, key=lambda n: last[n]), strict=False):
        dots = [place(point["size"], point["p50"][name]) for point in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
        x, y = dots[-1]
        bottom = min(y, bottom - 15)  # keep labels apart
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>'
            f'<text x="{x + 8:.0f}" y="{bottom + 4:.0f}" fill="{color}">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


TITLES = {
    "database": "memories in the database",
    "user": "memories of the user",
    "messages": "messages of the user",
}


def publish(figures: dict[str, Any]) -> None:
    """Write results and a plot of each measured sweep; keep those of the others."""
    about = {name: value for name, value in figures.items() if name not in SWEEPS}
    for sweep, title in TITLES.items():
        if not figures[sweep]:
            continue
        found = json.dumps(about | {"points": figures[sweep]}, indent=2)
        (HERE / f"growth_{sweep}.json").write_text(found + "\n", encoding="utf-8")
        svg = plot(f"ms of the server, by {title}", figures[sweep])
        (HERE / f"growth_{sweep}.svg").write_text(svg, encoding="utf-8")


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN of a server with pgvector")
    parser.add_argument(
        "--full", action="store_true", help="1,000,000 memories, 5,000,000 messages"
    )
    parser.add_argument("--only", action="append", choices=SWEEPS, help="a sweep (default: all)")
    parser.add_argument("--user-sizes", type=int, nargs="+", default=list(USER_SIZES))
    parser.add_argument("--message-sizes", type=int, nargs="+", default=list(MESSAGE_SIZES))
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--write", action="store_true", help="publish: results and plots")
    options = parser.parse_args()

    wanted = options.only or SWEEPS
    figures = measure(
        options.dsn,
        options.dimensions,
        () if "database" not in wanted else FULL if options.full else SIZES,
        tuple(options.user_sizes) if "user" in wanted else (),
        tuple(options.message_sizes) if "messages" in wanted else (),
    )
    if options.write:
        publish(figures)
    if options.json:
        json.dump(figures, sys.stdout, indent=2)
        return
    for sweep, title in TITLES.items():
        if points := figures[sweep]:
            shown = "median / 95 %, ms" if sweep == "messages" else "median ms"
            print(table(f"{title}, {shown}", points), end="\n\n")
    if figures["database"]:
        print(table("memories in the database: first call, locks", figures["database"], "first"))


if __name__ == "__main__":
    main()
