"""Measure a transaction pooler with many clients, of which few are in a call at a time.

All clients connect through PgBouncer and stay. Then they append a turn each, in random order, with
as many calls at a time as the pool has server connections. The table has the memory and processor
time of PgBouncer, and the calls that waited. It needs Debian's server of .ci/debian_pg.sh.

    python benchmarks/pooler.py [--clients 10000] [--pool 8] [--calls 5000]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import socket
import subprocess
import time
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from target import database, process_ms

SCRIPT = Path(__file__).resolve().parents[1] / ".ci" / "debian_pg.sh"
TURN = '[{"role": "user", "content": "hello"}, {"role": "assistant", "content": "good day"}]'
APPEND = "select 1 from recall.append_messages(%s, %s, %s::jsonb)"


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def connected(dsn: str, count: int) -> list[psycopg.AsyncConnection]:
    """Open so many connections, fifty at a time."""
    gate = asyncio.Semaphore(50)

    async def one() -> psycopg.AsyncConnection:
        async with gate:
            return await psycopg.AsyncConnection.connect(
                dsn, autocommit=True, prepare_threshold=None
            )

    return await asyncio.gather(*(one() for _ in range(count)))


async def appended(
    clients: list[psycopg.AsyncConnection], calls: int, at_once: int, sessions: list[tuple]
) -> list[float]:
    """Append turns through random clients; return the milliseconds of each, sorted."""
    gate = asyncio.Semaphore(at_once)
    times: list[float] = []

    async def one(client: psycopg.AsyncConnection, session: tuple) -> None:
        async with gate:
            began = time.perf_counter()
            await client.execute(APPEND, (*session, TURN))
            times.append((time.perf_counter() - began) * 1000)

    chosen = [random.choice(clients) for _ in range(calls)]
    await asyncio.gather(
        *(one(client, sessions[number % len(sessions)]) for number, client in enumerate(chosen))
    )
    return sorted(times)


async def measured(dsn: str, direct: str, pid: int, given: argparse.Namespace,
                   sessions: list[tuple]) -> None:  # fmt: skip
    """Print the table."""
    print("| | direct | through the pooler |\n|---|---|---|")
    own = await connected(direct, given.pool)
    await appended(own, 50 * given.pool, given.pool, sessions)  # the first calls plan
    before = await appended(own, given.calls, given.pool, sessions)
    empty = memory_mb(pid)
    clients = await connected(dsn, given.clients)
    full, spent = memory_mb(pid), process_ms(pid)
    after = await appended(clients, given.calls, given.pool, sessions)
    spent = process_ms(pid) - spent
    print(f"| clients, server connections | {given.pool}, {given.pool} "
          f"| {given.clients}, {given.pool} |")  # fmt: skip
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        one, two = (times[int(len(times) * share)] for times in (before, after))
        print(f"| append, {name} ms | {one:.2f} | {two:.2f} ({two / one:.2f} ×) |")
    each = (full - empty) * 1024 / len(clients)
    print(f"| PgBouncer: MB, KB a client | | {full:.0f}, {each:.1f} |")
    print(f"| PgBouncer: processor ms a call | | {spent / given.calls:.3f} |")
    for client in (*own, *clients):
        await client.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=10_000)
    parser.add_argument("--pool", type=int, default=8)
    parser.add_argument("--calls", type=int, default=5_000)
    given = parser.parse_args()
    dsn = subprocess.check_output([SCRIPT, "dsn"], text=True).strip()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with database(dsn, dimensions=384) as db:
        made = "select u.id, recall.open_session(u.id, p_model_id => 'm')"
        made += " from (select recall.ensure_user(%s) as id) as u"
        sessions = [db.execute(made, [f"user {number}"]).fetchone() for number in range(200)]
        direct = make_conninfo(dsn, dbname=db.info.dbname)
        settings = [f"max_client_conn={given.clients + 100}", f"default_pool_size={given.pool}"]
        process = subprocess.Popen([SCRIPT, "pgbouncer", str(port), *settings])
        try:
            pooled = make_conninfo(direct, port=port)
            for _ in range(200):
                try:
                    psycopg.connect(pooled).close()
                    break
                except psycopg.OperationalError:
                    time.sleep(0.05)
            asyncio.run(measured(pooled, direct, process.pid, given, sessions))
        finally:
            process.kill()


if __name__ == "__main__":
    main()
