"""Latency as the database grows, and as a user's memories do.

First one user with 200 memories and 200 messages while those of others grow, 50 memories and 250
messages a user; then users of 50 to 20,000 memories in the largest of these databases. The floor is
an exact scan of the same vectors in a table of their own, and is measured beside every point: on a
shared machine only the ratio to it says something. Where the server's processes are to be seen
(Linux, the same machine) times are those of its processor, without waiting. What a call holds and
plans is measured as well: the relation locks of a transaction, and the first call of a connection,
when all is planned. Rows of others are inserted directly, as import would leave them. `--full` is a
million memories and five million messages: half an hour and 10 GB.

    python benchmarks/growth.py [--dsn DSN] [--full] [--dimensions 128] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
import uuid
from collections.abc import Callable
from typing import Any

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb

from target import database, processor_ms

EACH = 50  # memories of another user
SAID = 250  # and messages
CHUNK = 1_000  # users that are filled in one transaction
SIZES = (1_000, 10_000, 100_000)
FULL = (*SIZES, 1_000_000)
USER_SIZES = (50, 200, 1_000, 5_000, 20_000)
ROUNDS, WARM_UP = 150, 20

# Sums of three random vectors out of 600: no two alike, and made in a moment.
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
# message is two phrases of six words; the n-th word is said 1 / n as often as the first, as in
# texts, so that some are in every other message and most in very few.
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
    """Milliseconds that the connection's server process has worked, else those of a clock."""
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
        """Give users so many memories each."""
        self.db.execute("select pg_temp.fill(%s, %s, %s)", [users, count, self.salt])
        self.salt += (len(users) + 1) * count + 100_003

    def grow(self, size: int) -> None:
        """Add other users until they have so many memories together."""
        while self.others < size:
            users = [uuid.uuid4() for _ in range(min(CHUNK, (size - self.others) // EACH))]
            self.fill(users, EACH)
            self.db.execute("select pg_temp.talk(%s, %s)", [users, SAID])
            self.others += len(users) * EACH
        self.db.execute("vacuum analyze")
        self.db.execute("checkpoint")

    def person(self, memories: int) -> tuple[uuid.UUID, uuid.UUID]:
        """Make a user with memories, in the floor too, and a conversation of 200 messages."""
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
        self.db.execute("analyze")
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
        """What is measured, by name."""
        words = "which statement on topic7 and topic11"
        statements = {
            "floor": "select memory_id from floor where user_id = %(user)s"
            " order by embedding <=> %(vector)s limit 10",
            "search": "select memory_id from recall.search(p_user_id => %(user)s,"
            " p_query_embedding => %(vector)s, p_limit => 10)",
            "hybrid": "select memory_id from recall.search(p_user_id => %(user)s,"
            " p_query => %(words)s, p_query_embedding => %(vector)s, p_limit => 10)",
            "messages": "select message_id from recall.search_messages(p_user_id => %(user)s,"
            " p_query => %(words)s, p_query_embedding => %(vector)s, p_limit => 10)",
            "compile": "select recall.compile_context(%(user)s, %(session)s, %(words)s,"
            " %(vector)s)",
        }
        values = {"user": user, "session": session, "words": words}
        spare = self.open(user)  # or the context would have more to read at every point
        return {
            name: lambda db, vector, query=query: self._run(db, query, values | {"vector": vector})
            for name, query in statements.items()
        } | {"append": lambda db, _: self.append(user, spare, db)}

    def point(self, user: uuid.UUID, session: uuid.UUID) -> dict[str, dict[str, float]]:
        """Measure everything for one user: medians and first calls in milliseconds, locks."""
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
        """Return one that was never asked for."""
        return HalfVector([self.random.gauss(0, 1) for _ in range(self.dimensions)])

    def timed(self, function: Callable[[psycopg.Connection[Any], HalfVector], None]) -> float:
        """Return the median of a call in milliseconds; each has a vector of its own."""
        times = []
        for _ in range(WARM_UP + ROUNDS):
            vector = self.vector()
            start = clock(self.db)
            function(self.db, vector)
            times.append(clock(self.db) - start)
        return statistics.median(times[WARM_UP:])

    def _run(self, db: psycopg.Connection[Any], query: str, values: dict[str, Any]) -> None:
        db.execute(query.encode(), values, prepare=True, binary=True).fetchall()


def measure(
    dsn: str | None,
    dimensions: int,
    sizes: tuple[int, ...] = SIZES,
    user_sizes: tuple[int, ...] = USER_SIZES,
) -> dict[str, Any]:
    """Measure one user as the database grows, and then users of several sizes."""
    by_database, by_user = [], []
    with database(dsn, dimensions=dimensions) as db:
        growth = Growth(db, dimensions)
        user, session = growth.person(200)
        for size in sizes:
            growth.grow(size)
            by_database.append({"size": size} | growth.point(user, session))
            print(json.dumps(by_database[-1]), file=sys.stderr, flush=True)
        for size in user_sizes:
            by_user.append({"size": size} | growth.point(*growth.person(size)))  # noqa: PERF401
    return {"dimensions": dimensions, "database": by_database, "user": by_user}


def table(title: str, points: list[dict[str, Any]], what: str = "p50") -> str:
    """Return a Markdown table of medians with their ratios to the floor, or of first calls."""
    names = [name for name in points[0][what] if what == "p50" or name != "floor"]
    lines = [f"| {title} | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for point in points:
        cells = [f"{point['size']:,}"]
        for name in names:
            figure, floor = point[what][name], point["p50"]["floor"]
            if what == "p50":
                cells.append(
                    f"{figure:.2f}" + (f" ({figure / floor:.1f} ×)" if name != "floor" else "")
                )
            else:
                cells.append(f"{figure:.0f} ms, {point['locks'][name]}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN of a server with pgvector")
    parser.add_argument(
        "--full", action="store_true", help="1,000,000 memories, 5,000,000 messages"
    )
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--json", action="store_true", help="one JSON document")
    options = parser.parse_args()

    figures = measure(options.dsn, options.dimensions, FULL if options.full else SIZES)
    if options.json:
        json.dump(figures, sys.stdout, indent=2)
        return
    print(table("memories in the database, median ms", figures["database"]))
    print()
    print(table("memories in the database: first call, locks", figures["database"], "first"))
    print()
    print(table("memories of the user, median ms", figures["user"]))


if __name__ == "__main__":
    main()
