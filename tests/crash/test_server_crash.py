"""The server is killed under load: what was acknowledged is there, what is unlogged is gone."""

from __future__ import annotations

import random
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgrecall import schema
from pgrecall.embedded import EmbeddedServer
from support import Connection, append, call, do_job, open_session, rows, said, value
from support.everyfunction import vector
from support.invariants import check_invariants
from support.servers import DIMENSIONS, kill_all

pytestmark = pytest.mark.slow

WRITERS = 4
ACKNOWLEDGED = 60
"""So many turns of each writer, at least, before the server is killed."""


@dataclass
class Writer:
    """Says turns and remembers facts until the server is gone, and notes what it was promised.

    Attributes:
        turns: what was acknowledged: request, text and place of each turn.
        facts: the memories that were acknowledged.
        asked: the request that had no answer.
    """

    conn: Connection
    user: uuid.UUID
    session: uuid.UUID
    turns: dict[uuid.UUID, tuple[str, list[Any]]] = field(default_factory=dict)
    facts: list[uuid.UUID] = field(default_factory=list)
    asked: tuple[uuid.UUID, str] | None = None
    name: str = field(default_factory=lambda: uuid.uuid4().hex)

    def run(self) -> None:
        here = {"p_user_id": self.user, "p_session_id": self.session}
        for number in range(1_000_000):
            text = f"{self.name} says {number}"
            self.asked = request, _ = uuid.uuid4(), text
            try:
                answer = append(self.conn, self.user, self.session, said(text),
                                {"prompt_tokens": 1}, request)  # fmt: skip
                self.turns[request] = (text, answer)
                self.asked = None
                (made,) = call(self.conn, "remember", p_user_id=self.user, p_content=text,
                               p_embedding=vector(random.randrange(10**9)))  # fmt: skip
                self.facts.append(made["memory_id"])
                call(self.conn, "record_access", p_user_id=self.user, p_relevance="{0.5}",
                     p_memory_ids=[made["memory_id"]])  # fmt: skip
                call(self.conn, "put_working", **here, p_task_id="t", p_key=str(number),
                     p_value={"n": number})  # fmt: skip
                for job in call(self.conn, "claim_jobs", p_worker="w", p_kinds=["embed"]):
                    do_job(self.conn, job)
            except psycopg.OperationalError:
                return


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds processes in /proc")
def test_server_killed_under_load_recovers_every_committed_turn(home: Path) -> None:
    """Two users, four writers, two of them in one session; then everything goes on."""
    users = [uuid.uuid4(), uuid.uuid4()]
    with EmbeddedServer(home, settings={"max_connections": "30"}) as server:
        with psycopg.connect(server.dsn, autocommit=True) as conn:
            assert value(conn, "show fsync") == "on"
            schema.install(conn, embedding_dimensions=DIMENSIONS, hash_partitions=2)
            shared = open_session(conn, users[0])
            sessions = [shared, shared, open_session(conn, users[0]), open_session(conn, users[1])]
        writers = [
            Writer(psycopg.connect(server.dsn, autocommit=True), users[session == sessions[3]],
                   session)
            for session in sessions
        ]  # fmt: skip
        threads = [threading.Thread(target=writer.run) for writer in writers]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 60
        while min(len(writer.turns) for writer in writers) < ACKNOWLEDGED:
            assert time.monotonic() < until
            time.sleep(0.01)
        kill_all(home)
        for thread in threads:
            thread.join(30)
        while server.is_running:
            time.sleep(0.01)

    with (
        EmbeddedServer(home, settings={"max_connections": "30"}) as server,
        psycopg.connect(server.dsn, autocommit=True) as conn,
    ):
        for writer in writers:
            found = {
                row["turn_index"]: row
                for row in rows(
                    conn,
                    "select turn_index, message_id, content from recall.conversation_history"
                    " where user_id = %s and session_id = %s",
                    [writer.user, writer.session],
                )
            }
            for text, [(message_id, turn, inserted)] in writer.turns.values():
                assert inserted
                assert (found[turn]["content"], found[turn]["message_id"]) == (text, message_id)
            kept = rows(conn, "select memory_id from recall.memory_store where user_id = %s",
                        [writer.user])  # fmt: skip
            assert {row["memory_id"] for row in kept} >= {*writer.facts}
        for table in ("working_memory", "memory_access_log"):
            assert value(conn, f"select count(*) from recall.{table}") == 0, table
        check_invariants(conn)

        # a repeat with the same request answers as before; what had no answer is there once
        for writer in writers:
            request, (text, answer) = list(writer.turns.items())[-1]
            again = append(conn, writer.user, writer.session, said(text), {"prompt_tokens": 1},
                           request)  # fmt: skip
            assert again == [(*answer[0][:2], False)]
            if writer.asked is not None:
                request, text = writer.asked
                for _ in range(2):
                    append(conn, writer.user, writer.session, said(text), {"prompt_tokens": 1},
                           request)  # fmt: skip
                assert value(conn, "select count(*) from recall.conversation_history"
                                   " where content = %s", [text]) == 1  # fmt: skip
        # who held a job is gone: it comes back with the end of its lease
        call(conn, "release_expired_leases", p_as_of="2100-01-01")
        assert value(conn, "select count(*) from recall.jobs where state = 'running'") == 0
        check_invariants(conn)
