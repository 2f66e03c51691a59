"""Time sweeps over many rows of which few are due, and the wait of a concurrent writer.

python benchmarks/sweeps.py [--memories 1000000] [--due 1000] [--busy 200000]
"""

from __future__ import annotations

import argparse
import hashlib
import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from target import database

PER_USER = 50
SWEEPS = (
    "flush_access_log", "release_expired_leases", "expire_working", "expire_items",
    "promote_memories", "enqueue_missing_embeddings", "enqueue_compactions", "expire_memories",
    "expire_sessions", "decay_memories", "enqueue_merges", "enqueue_patterns", "purge_expired",
    "drop_expired_partitions",
)  # fmt: skip

# The first few rows of each table are due; each user has a session and 50 memories.
FILL = (
    """
    insert into recall.users (user_id, created_at, active_memory_count, merge_due, pattern_due)
    select md5('u' || n)::uuid, now(), 50, n < %(due)s, n < %(due)s
      from generate_series(0, %(users)s - 1) as n
    """,
    # expired; long unused; to expire beside a writer; the rest
    """
    insert into recall.memory_store (
        user_id, memory_id, tier, scope, kind, content, content_hash, token_count, search_vector,
        provenance, source, confidence, importance, observed_at, created_at, updated_at,
        expires_at, tags)
    select md5('u' || n %% %(users)s)::uuid, md5('m' || n)::uuid, 'session', 'global', 'fact',
           'memory ' || n, sha256(n::text::bytea), 3, '', 'fact', 'import', 0.5,
           case when d.is_idle then 0.1 else 0.6 end, now(), d.at, d.at,
           case when n <= %(due)s then now() - interval '1 hour'
                when d.is_idle then null
                when n <= 2 * %(due)s + %(busy)s then now() + interval '10 days'
                else now() + interval '1 year' end,
           case when n %% %(users)s < %(due)s and n <= 10 * %(users)s then array['tea']
                else '{}' end
      from generate_series(1, %(memories)s) as n
     cross join lateral (
            select n > %(due)s and n <= 2 * %(due)s
           ) as i (is_idle)
     cross join lateral (
            select i.is_idle, now() - case when i.is_idle then interval '40 days' else '0' end
           ) as d (is_idle, at)
    """,
    """
    update recall.memory_store
       set access_count = 3, relevance_accumulator = 3, last_accessed_at = now()
     where (user_id, memory_id) in (
               select md5('u' || n %% %(users)s)::uuid, md5('m' || n)::uuid
                 from generate_series(%(memories)s - %(due)s + 1, %(memories)s) as n)
    """,
    """
    with due as (
        update recall.memory_store
           set embedding_due = true
         where (user_id, memory_id) in (
                   select md5('u' || n %% %(users)s)::uuid, md5('m' || n)::uuid
                     from generate_series(%(users)s, %(users)s + %(due)s - 1) as n)
        returning user_id
    )
    update recall.users as u set embedding_due = true from due as d where d.user_id = u.user_id
    """,
    # episodes of a few users that state the same
    """
    with episodes as (
        insert into recall.memory_store (
            user_id, memory_id, tier, scope, kind, content, content_hash, token_count,
            search_vector, provenance, source, confidence, importance, observed_at, created_at,
            updated_at, expires_at, is_validated)
        select md5('u' || u)::uuid, md5('e' || u || ' ' || n)::uuid, 'episodic', 'global',
               'episode', 'episode ' || n, sha256(('e' || n)::bytea), 3, '', 'system_inferred',
               'conversation', 0.5, 0.6, now(), now(), now(), now() + interval '90 days', true
          from generate_series(0, %(due)s - 1) as u, generate_series(1, 20) as n
        returning user_id, memory_id
    )
    insert into recall.memory_embedding (user_id, memory_id, embedding_model, embedding)
    select e.user_id, e.memory_id, s.embedding_model,
           array_fill(0.5::real, array[s.embedding_dimensions])::halfvec
      from episodes as e, recall.settings as s
    """,
    # ended memories with vectors: to keep, and to drop
    """
    with ended as (
        insert into recall.memory_store (
            user_id, memory_id, tier, scope, kind, content, content_hash, token_count,
            search_vector, provenance, source, confidence, importance, observed_at, created_at,
            updated_at, ended_at, end_reason, check_at)
        select md5('u' || n %% %(users)s)::uuid, md5('o' || n)::uuid, 'session', 'global', 'fact',
               'memory ' || n, sha256(n::text::bytea), 3, '', 'fact', 'import', 0.5, 0.6, now(),
               now(), now(), now(), 'retracted',
               now() + case when n <= %(due)s then interval '-1 day' else '20 days' end
          from generate_series(1, %(memories)s / 10) as n
        returning user_id, memory_id, ended_at
    )
    insert into recall.memory_embedding_ended (
        user_id, memory_id, embedding_model, embedding, ended_at)
    select e.user_id, e.memory_id, s.embedding_model,
           array_fill(0.5::real, array[s.embedding_dimensions])::halfvec, e.ended_at
      from ended as e, recall.settings as s
    """,
    # items: expired, and the rest
    """
    insert into recall.items (
        user_id, namespace, key, value, byte_count, ttl, created_at, updated_at, expires_at)
    select md5('u' || n %% %(users)s)::uuid, array['notes'], 'i' || n, '1', 1, interval '1 year',
           now(), now(), now() + case when n <= %(due)s then interval '-1 hour' else '1 year' end
      from generate_series(1, %(memories)s / 10) as n
    """,
    """
    update recall.users as u
       set item_count = i.items, item_bytes = i.items
      from (select i.user_id, count(*) as items from recall.items as i group by i.user_id) as i
     where i.user_id = u.user_id
    """,
    # sessions: long idle; above twice their window; with searchable compacted turns
    """
    insert into recall.sessions (
        user_id, session_id, model_id, context_window_size, system_prompt_hash,
        system_prompt_tokens, max_response_tokens, turn_count, user_turn_count, active_tokens,
        extracted_through_turn, created_at, updated_at, last_message_at, expires_at,
        compaction_due, compacted_through_turn, search_purge_at)
    select md5('u' || n %% %(users)s)::uuid, md5('s' || n)::uuid, 'gpt-4o-mini', 1000, '', 0, 100,
           1, 1, 1, 1, now(), now(), now(),
           now() + case when n <= %(due)s then interval '-1 hour' else '1 year' end,
           n > %(due)s and n <= 2 * %(due)s,
           case when n > 2 * %(due)s and n <= 3 * %(due)s then 1 else 0 end,
           case when n > 2 * %(due)s and n <= 3 * %(due)s then now() - interval '1 hour' end
      from generate_series(1, %(memories)s / 10) as n
    """,
    """
    insert into recall.session_summaries (
        user_id, session_id, summary_id, kind, from_turn, to_turn, content, token_count,
        created_at)
    select md5('u' || n %% %(users)s)::uuid, md5('s' || n)::uuid, md5('c' || n)::uuid,
           'compaction', 1, 1, 'so far', 1, now() - interval '31 days'
      from generate_series(2 * %(due)s + 1, 3 * %(due)s) as n
    """,
    """
    insert into recall.message_search (
        user_id, session_id, turn_index, message_id, role, created_at, search_vector)
    select md5('u' || n %% %(users)s)::uuid, md5('s' || n)::uuid, 1, md5('h' || n)::uuid, 'user',
           now() - interval '40 days', ''
      from generate_series(1, %(memories)s / 10) as n
    """,
    """
    insert into recall.append_receipts (
        user_id, request_id, session_id, payload_hash, from_turn, to_turn, created_at)
    select md5('u' || n %% %(users)s)::uuid, md5('r' || n)::uuid, md5('s' || n)::uuid, 0, 1, 1,
           now() - case when n <= %(due)s then interval '2 days' else '0' end
      from generate_series(1, %(memories)s / 10) as n
    """,
    """
    insert into recall.working_memory (
        user_id, session_id, task_id, key, value, token_count, updated_at, expires_at)
    select md5('u' || n %% %(users)s)::uuid, md5('s' || n)::uuid, 't', 'k', '1', 1, now(),
           now() + case when n <= %(due)s then interval '-1 minute' else '1 day' end
      from generate_series(1, %(memories)s / 10) as n
    """,
    """
    insert into recall.memory_access_log (user_id, memory_id, relevance, accessed_at)
    select md5('u' || n %% %(users)s)::uuid, md5('m' || n)::uuid, 0.5, now()
      from generate_series(%(memories)s / 2, %(memories)s / 2 + %(due)s - 1) as n
    """,
    # jobs due later, and jobs with an expired lease
    """
    insert into recall.jobs (
        user_id, job_id, kind, state, run_at, max_attempts, created_at, worker, lease_until,
        lease_token)
    select md5('u' || n %% %(users)s)::uuid, md5('j' || n)::uuid, 'embed',
           case when d.is_lost then 'running' else 'ready' end::recall.job_state,
           now() + interval '1 day', 8, now(), case when d.is_lost then 'w' end,
           case when d.is_lost then now() - interval '1 minute' end,
           case when d.is_lost then md5('j' || n)::uuid end
      from generate_series(1, %(memories)s / 10) as n
     cross join lateral (select n <= %(due)s) as d (is_lost)
    """,
)

# One user with very many rows for consolidations and patterns.
LARGE = """
with added as (
    insert into recall.users (user_id, created_at, active_memory_count, merge_due, pattern_due)
    values (%(user)s, now(), %(count)s, true, true)
), stored as (
    insert into recall.memory_store (
        user_id, memory_id, tier, scope, kind, content, content_hash, token_count, search_vector,
        provenance, source, confidence, importance, observed_at, created_at, updated_at, tags,
        is_validated)
    select %(user)s, md5('l' || n)::uuid, 'semantic', 'global',
           case when n <= 200 then 'episode' else 'fact' end, 'memory ' || n,
           sha256(n::text::bytea), 3, '', 'fact', 'import', 0.5, 0.6, now(), now(), now(),
           array['tea'], true
      from generate_series(1, %(count)s) as n
    returning memory_id, kind
)
insert into recall.memory_embedding (user_id, memory_id, embedding_model, embedding)
select %(user)s, t.memory_id, s.embedding_model,
       array_fill(0.5::real, array[s.embedding_dimensions])::halfvec
  from stored as t, recall.settings as s
 where t.kind = 'episode'
"""

# Conversations that ended long ago, in the partition of old rows.
OLD_HISTORY = (
    """
    insert into recall.sessions (
        user_id, session_id, status, model_id, context_window_size, system_prompt_hash,
        system_prompt_tokens, max_response_tokens, turn_count, user_turn_count, active_tokens,
        created_at, updated_at, last_message_at, expires_at)
    select md5('u' || n %% %(users)s)::uuid, md5('a' || n)::uuid, 'closed', 'gpt-4o-mini', 1000,
           '', 0, 100, 1, 1, 1, %(at)s, %(at)s, %(at)s, %(at)s
      from generate_series(%(first)s::int, %(last)s::int) as n
    """,
    """
    insert into recall.conversation_history (
        user_id, session_id, turn_index, created_at, message_id, role, content, content_hash,
        token_count)
    select md5('u' || n %% %(users)s)::uuid, md5('a' || n)::uuid, 1, %(at)s, md5('h' || n)::uuid,
           'user', 'hello', '', 1
      from generate_series(%(first)s::int, %(last)s::int) as n
    """,
)


def fill(db: psycopg.Connection[Any], memories: int, due: int, busy: int = 0) -> int:
    """Fill a fresh database; return how many users it has."""
    users = max(memories // PER_USER, due)
    db.execute("select recall.enqueue_missing_embeddings()")  # there are no users to scan yet
    for statement in FILL:
        db.execute(
            statement.encode(),
            {"users": users, "memories": memories, "due": due, "busy": busy},
        )
    fill_history(db, users, 1, due)
    db.execute("vacuum analyze")
    return users


def fill_history(db: psycopg.Connection[Any], users: int, first: int, last: int) -> None:
    """Fill history past its retention, of conversations with these numbers."""
    at = datetime.now(UTC) - timedelta(days=460)
    for statement in OLD_HISTORY:
        db.execute(statement.encode(), {"users": users, "first": first, "last": last, "at": at})


def batches(db: psycopg.Connection[Any], sweep: str, at: datetime | None = None) -> int:
    """Run a sweep until nothing is left, and print the seconds of its batches."""
    row = db.execute(
        "select t.batch_size from recall.maintenance_tasks as t where t.task = %s", [sweep]
    ).fetchone()
    size = row[0] if row else 1000
    seconds, done = [], 0
    while True:
        started = time.perf_counter()
        query = f"select done, more from recall.{sweep}(p_limit => %s, p_as_of => %s)"
        count, more = db.execute(query.encode(), [size, at]).fetchone() or (0, False)
        seconds.append(time.perf_counter() - started)
        done += count
        if not more:
            break
        if not count:
            time.sleep(0.1)  # another transaction locks the due rows
    print(f"| {sweep} | {done} | {len(seconds)} | {max(seconds):.2f} | {sum(seconds):.2f} |")
    return done


def waits(dsn: str, users: int, memories: int, due: int, work: Callable[[], object]) -> None:
    """Do some work beside a writer, and print how long the writer waits."""
    seconds: list[float] = []
    stop = threading.Event()
    hello = Jsonb([{"role": "user", "content": "hello"}])
    idle = 3 * due  # sessions that a sweep changes

    def write() -> None:
        with psycopg.connect(dsn, autocommit=True) as conn:
            number = 0
            while not stop.is_set():
                number += 1
                place = idle + 1 + number * 7919 % max(memories // 10 - idle, 1)
                user, session = (
                    uuid.UUID(hashlib.md5(name.encode()).hexdigest())
                    for name in (f"u{place % users}", f"s{place}")
                )
                started = time.perf_counter()
                if number % 2:
                    conn.execute("select recall.remember(%s, %s)", [user, f"told {number}"])
                else:
                    conn.execute("select recall.append_messages(%s, %s, %s)",
                                 [user, session, hello])  # fmt: skip
                seconds.append(time.perf_counter() - started)

    writer = threading.Thread(target=write)
    writer.start()
    time.sleep(3)
    alone = len(seconds)
    work()
    stop.set()
    writer.join()
    print("\n| a writer, ms | median | 99 % | worst |\n|---|---|---|---|")
    for name, times in (("alone", seconds[:alone]), ("beside it", seconds[alone:])):
        times.sort()
        middle, high = times[len(times) // 2], times[int(len(times) * 0.99)]
        print(f"| {name} | {middle * 1e3:.1f} | {high * 1e3:.1f} | {times[-1] * 1e3:.0f} |")


def main() -> None:
    """Fill, sweep the due rows, then sweep many rows beside a writer."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    parser.add_argument("--memories", type=int, default=1_000_000)
    parser.add_argument("--due", type=int, default=1000)
    parser.add_argument("--busy", type=int, default=200_000)
    asked = parser.parse_args()
    with database(asked.dsn, dimensions=384) as db:
        users = fill(db, asked.memories, asked.due, asked.busy)
        print(f"{asked.memories} memories of {users} users, {asked.due} due of everything\n")
        print("| sweep | done | batches | slowest, s | in all, s |\n|---|---|---|---|---|")
        for sweep in SWEEPS:
            batches(db, sweep)
        soon = datetime.now(UTC) + timedelta(days=90)
        batches(db, "ensure_partitions", soon)

        late = datetime.now(UTC) + timedelta(days=11)
        print(f"\n{asked.busy} due, beside a writer")
        rest = [db.info.dsn, users, asked.memories, asked.due]
        waits(*rest, work=lambda: batches(db, "expire_memories", late))
        fill_history(db, users, asked.due + 1, asked.due + asked.busy // 10)
        waits(*rest, work=lambda: batches(db, "drop_expired_partitions"))

        large = uuid.uuid4()
        db.execute(LARGE, {"user": large, "count": 10_000})
        print("\na user with 10,000 memories of one tag, and 200 similar episodes")
        for sweep in ("enqueue_merges", "enqueue_patterns"):
            batches(db, sweep)


if __name__ == "__main__":
    main()
