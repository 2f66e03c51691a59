"""A process that forks: its child answers for nobody else, and harms nothing of the parent's."""

from __future__ import annotations

import asyncio
import gc
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import openai as openai_package
import psycopg
import pytest
from psycopg_pool import ConnectionPool

from pgrecall import AgentMemory, AsyncAgentMemory, ForkedError, ModelSettings, _json
from pgrecall._async import core as async_core
from pgrecall._sql import Call
from pgrecall._sync import core as sync_core
from pgrecall._sync import guard as sync_guard
from pgrecall.encryption import LocalWrappingKeys
from pgrecall.encryption._clock import DatabaseClock, elapsed
from pgrecall.models import LocalEmbedder, OpenAIEmbedder
from pgrecall.models import _tokens as tokens
from support import value, wait_for
from support.forks import Child, in_child
from support.scripted_openai import ScriptedOpenAI, scripted_openai

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

PID = b"select pg_catalog.pg_backend_pid()"


@pytest.fixture
def memory(dsn: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        yield memory


def backend(memory: Any) -> int:
    """Return the server's process of a blocking client's connection."""
    [(pid,)] = memory._core.write.query(PID)
    return int(pid)


def own_memories(memory: AgentMemory, names: list[str], times: int) -> list[str]:
    """Search for users in turns, and return the answers that are not theirs."""
    wrong = []
    for _ in range(times):
        for name in names:
            found = [hit.content for hit in memory.search(name, "What do I like?")]
            if found != [f"I like {name}."]:
                wrong.append(f"{name}: {found}")
    return wrong


def remembered(memory: AgentMemory, count: int) -> list[str]:
    """Return names of new users, who like their own names."""
    names = [f"user{uuid.uuid4().hex}" for _ in range(count)]
    for name in names:
        memory.users.ensure(name)
        memory.remember(name, f"I like {name}.")
    return names


# An idle blocking client


def test_children_and_parent_at_once_answer_users_with_their_own_memories(
    memory: AgentMemory,
) -> None:
    """Of 3,180 answers 985 held the other user's memories, and 1,589 were empty."""
    names = remembered(memory, 6)
    before = backend(memory)
    children = [
        Child(lambda pair=pair: own_memories(memory, pair, 60)) for pair in (names[0:2], names[2:4])
    ]
    assert own_memories(memory, names[4:6], 60) == []
    assert [child.result().get("value") for child in children] == [[], []]
    assert own_memories(memory, names, 1) == []
    assert backend(memory) == before


def test_child_has_connections_of_its_own_and_so_has_its_child(memory: AgentMemory) -> None:
    def two_generations() -> list[int]:
        return [backend(memory), in_child(lambda: backend(memory)), backend(memory)]

    parent = backend(memory)
    first, grandchild, again = in_child(two_generations)
    assert first == again
    assert len({parent, first, grandchild}) == 3
    assert backend(memory) == parent


def test_child_reads_an_encrypted_user(dsn: str) -> None:
    keys = LocalWrappingKeys({"one": os.urandom(32)})
    with AgentMemory.connect(dsn, embedder=False, wrapping_keys=keys) as memory:
        user = f"user{uuid.uuid4().hex}"
        memory.users.ensure(user)
        memory.encryption.seal_user(user)
        memory.remember(user, "I like salt.")

        def listed() -> list[str]:
            return [one.content for one in memory.pages.memories(user)]

        assert listed() == in_child(listed) == ["I like salt."]


def test_ids_of_encrypted_rows_differ_in_a_child() -> None:
    """While a corrected clock is behind, each id is the successor of the last."""
    clock = DatabaseClock()
    now = elapsed()
    clock.set(10_000, now, now)
    clock.new_id()
    clock.set(0, now, now)
    assert in_child(lambda: str(clock.new_id())) != str(clock.new_id())


@pytest.mark.parametrize(
    "end", ["memory.close()", "del memory; gc.collect()", "pass", "sys.exit()"]
)
def test_child_that_ends_leaves_the_parents_session_alone(dsn: str, end: str) -> None:
    """It ends by itself, by way of finalizers and atexit, without any call of its own."""
    ended = run_program(
        dsn,
        f"""
        with AgentMemory.connect(DSN, embedder=False) as memory:
            before = memory._core.write.query(PID)
            child = os.fork()
            if child == 0:
                {end}
            else:
                assert os.waitpid(child, 0)[1] == 0
                assert memory._core.write.query(PID) == before
                print("the same session")
        """,
    )
    assert ended == "the same session\n"


def test_killed_parents_transaction_ends_while_its_child_lives(
    dsn: str, db: psycopg.Connection
) -> None:
    """A child that held a copy of the socket would keep the transaction open."""
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM + textwrap.dedent("""
            memory = AgentMemory.connect(DSN, embedder=False)
            memory.open()
            with memory._core.write.transport.transaction() as same:
                [(pid,)] = same.send(Call("", PID, {}), False)[1]
                if os.fork() == 0:
                    time.sleep(60)
                    os._exit(0)
                print(pid, flush=True)
                time.sleep(60)
        """), dsn],
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert program.stdout is not None
        pid = int(program.stdout.readline())
        program.kill()
        alive = "select count(*) from pg_stat_activity where pid = %s"
        wait_for(lambda: value(db, alive, (pid,)) == 0)
    finally:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()


def test_locks_that_another_thread_holds_are_open_in_a_child(dsn: str, tmp_path: Path) -> None:
    names: list[str] = []
    with AgentMemory.connect(dsn, embedder=False) as memory:
        names += remembered(memory, 1)
        core = memory._core
        chat = memory.session(user=names[0], model="gpt-4o-mini")
        chat.open()
        locks: list[Any] = [
            core.write.transport._lock, core.background._lock, core.call_log._lock,
            chat._conversation._lock, sync_core._MAKING, sync_guard._MAKING, async_core._MAKING,
            tokens._load_lock, _json._COUNTING,
        ]  # fmt: skip
        held, release = threading.Event(), threading.Event()

        def hold() -> None:
            for lock in locks:
                lock.acquire()
            held.set()
            release.wait()
            for lock in locks:
                lock.release()

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()

        def work() -> list[str]:
            chat.context("What do I like?")
            chat.append(user="Hello.\x00", reply="Hi.")
            core.background.drain()
            core.call_log._submit(lambda: None, 1, "nothing")
            core.guard.sealer()
            return own_memories(memory, names, 1)

        child = Child(work)
        try:
            assert child.result().get("value") == []
        finally:
            release.set()
            thread.join()


def test_background_of_a_child_does_not_wait_for_the_parents(memory: AgentMemory) -> None:
    done = threading.Event()
    memory._core.background.submit(done.wait, "a call")
    try:
        assert in_child(lambda: memory.close()) is None
    finally:
        done.set()


def test_child_of_a_fork_without_hooks_starts_anew(dsn: str) -> None:
    """As uWSGI forks, which calls no hook of Python unless it is told to."""
    said = run_program(
        dsn,
        """
        import ctypes
        with AgentMemory.connect(DSN, embedder=False) as memory:
            [(before,)] = memory._core.write.query(PID)
            child = ctypes.PyDLL(None).fork()
            [(pid,)] = memory._core.write.query(PID)
            if child == 0:
                os._exit(0 if pid != before else 1)
            print(os.waitpid(child, 0)[1], pid == before)
        """,
    )
    assert said == "0 True\n"


# Work in progress


@pytest.mark.parametrize("kind", ["own", "joined"])
def test_open_transaction_raises_in_a_child_and_commits_in_the_parent(
    memory: AgentMemory, dsn: str, kind: str
) -> None:
    [name] = remembered(memory, 1)
    add = Call.of("remember", user_id=memory._core.user_id(name), content="I like mint.")
    read, write = os.pipe()
    child = -1
    with psycopg.connect(dsn) as conn:
        core = (memory if kind == "own" else memory.joining(conn))._core
        try:
            with core.write.transport.transaction() as same:
                same.send(add, False)
                child = os.fork()
                if child == 0:
                    with pytest.raises(ForkedError, match="belongs to process"):
                        same.send(add, False)
        except ForkedError as error:
            os.write(write, str(error).encode())
        if child == 0:
            os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        assert not conn.broken
    said = os.read(read, 1000).decode()
    os.close(read)
    assert "this transaction belongs to process" in said
    assert "The parent continues" in said
    assert {hit.content for hit in memory.search(name, "like")} >= {"I like mint."}


def test_connection_and_pool_of_the_caller_raise_in_a_child(dsn: str) -> None:
    with psycopg.connect(dsn) as conn, ConnectionPool(dsn, min_size=1, open=True) as pool:
        memories = [
            AgentMemory.connect(dsn, embedder=False).joining(conn),
            AgentMemory.connect(conn, embedder=False),
            AgentMemory.connect(pool, embedder=False),
        ]
        before = [backend(memory) for memory in memories]
        for memory in memories:
            said = Child(lambda memory=memory: backend(memory)).result()
            assert said["error"] == "ForkedError"
            assert "after the fork, or connect by a DSN" in said["text"]
        # a client that is made in the child, over the parent's pool
        said = Child(lambda: backend(AgentMemory.connect(pool, embedder=False))).result()
        assert said["error"] == "ForkedError"
        assert [backend(memory) for memory in memories] == before


def test_pool_of_the_caller_that_is_opened_in_the_child_works(dsn: str) -> None:
    pool = ConnectionPool(dsn, min_size=1, open=False)
    memory = AgentMemory.connect(pool, embedder=False)

    def opened() -> int:
        with pool:
            return backend(memory)

    pids = {in_child(opened), in_child(opened)}
    with pool:
        pids.add(backend(memory))
    assert len(pids) == 3


@contextmanager
def streaming(dsn: str) -> Iterator[tuple[AgentMemory, ScriptedOpenAI]]:
    with scripted_openai() as openai:
        llm = ModelSettings(model="gpt-4o-mini", base_url=openai.base_url, api_key="none")
        with AgentMemory.connect(dsn, embedder=False, llm=llm) as memory:
            yield memory, openai


def test_stream_raises_in_a_child_and_is_stored_once(dsn: str, user: uuid.UUID) -> None:
    with streaming(dsn) as (memory, openai):
        memory.users.ensure(user)
        openai.then("One two three four five six.")
        chat = memory.session(user=user, model="gpt-4o-mini")
        reply: Any = chat.send("Count.", stream=True)
        first = next(reply)

        def read() -> None:
            try:
                next(reply)
            finally:
                reply.close()

        said = Child(read).result()
        assert said["error"] == "ForkedError"
        assert "this reply belongs to process" in said["text"]

        def drop() -> int:
            nonlocal reply
            del reply
            return gc.collect() and 0

        assert in_child(drop) == 0
        assert len(chat.messages()) == 0
        assert first + "".join(reply) == "One two three four five six."
        assert [one.content for one in reversed(chat.messages())] == [
            "Count.", "One two three four five six.",
        ]  # fmt: skip


def test_tool_that_forks_lets_only_the_parent_store_the_turn(dsn: str, user: uuid.UUID) -> None:
    from support.scripted_openai import calls

    read, write = os.pipe()
    with streaming(dsn) as (memory, openai):
        memory.users.ensure(user)
        openai.then(calls(("look", {})), "Done.")
        chat = memory.session(user=user, model="gpt-4o-mini")
        tool = {"type": "function", "function": {"name": "look", "parameters": {}}}
        children: list[int] = []

        def look() -> str:
            children.append(os.fork())
            return "found"

        try:
            chat.send("Look.", tools=[tool], functions={"look": look})
        except ForkedError as error:
            os.write(write, str(error).encode())
        if children == [0]:
            os._exit(0)
        os.close(write)
        os.waitpid(children[0], 0)
        assert "this turn belongs to process" in os.read(read, 1000).decode()
        os.close(read)
        assert [one.role for one in reversed(chat.messages())] == [
            "user", "assistant", "tool", "assistant",
        ]  # fmt: skip


def test_running_worker_raises_in_a_child_and_ends_its_jobs_in_the_parent(
    dsn: str, db: psycopg.Connection, user: uuid.UUID, empty_queue: None
) -> None:
    from support import configure

    configure(dsn, extraction="verbatim")
    read, write = os.pipe()
    with AgentMemory.connect(dsn, embedder=False) as memory:
        memory.users.ensure(user)
        chat = memory.session(user=user, model="gpt-4o-mini")
        chat.append(user="I am vegetarian.", reply="Noted.")
        worker = memory.worker(concurrency=2)
        children: list[int] = []

        def progress(_: object) -> None:
            if not children:
                children.append(os.fork())

        try:
            report = worker.run_until_idle(flush=True, progress=progress)
        except ForkedError as error:
            os.write(write, str(error).encode())
        if children == [0]:
            os._exit(0)
        os.close(write)
        os.waitpid(children[0], 0)
        assert "this running worker belongs to process" in os.read(read, 1000).decode()
        os.close(read)
        assert sum(report.done.values()) >= 1
        # it is idle now
        names = {worker.name, in_child(lambda: worker.run_until_idle() and worker.name)}
        assert len(names) == 2
    assert value(db, "select count(*) from recall.jobs where attempts > 1") == 0


def test_worker_that_runs_in_a_thread_raises_in_a_child(memory: AgentMemory) -> None:
    worker = memory.worker()
    started = threading.Event()
    thread = threading.Thread(target=lambda: worker.run(handle_signals=False, on_start=started.set))
    thread.start()
    started.wait()
    try:
        for method in (worker.stop, worker.run_until_idle, worker.run_once):
            said = Child(lambda method=method: method() and None).result()
            assert said.get("error") == "ForkedError", method
        assert not worker._stop.is_set()
    finally:
        worker.stop()
        thread.join()


@pytest.mark.parametrize("kind", ["blocking", "async"])
def test_signal_to_a_child_of_a_worker_ends_the_child_only(dsn: str, kind: str) -> None:
    said = run_program(
        dsn,
        """
        import signal
        found = []
        def started():
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(1)
            time.sleep(0.2)
            os.kill(child, signal.SIGTERM)
            found.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
        + {
            "blocking": """
        with AgentMemory.connect(DSN, embedder=False) as memory:
            worker = memory.worker()
            threading.Timer(2, worker.stop).start()
            began = time.monotonic()
            worker.run(on_start=started)
        """,
            "async": """
        async def main():
            global began
            async with AsyncAgentMemory.connect(DSN, embedder=False) as memory:
                worker = memory.worker()
                threading.Timer(2, worker.stop).start()
                began = time.monotonic()
                await worker.run(on_start=started)
        asyncio.run(main())
        """,
        }[kind]
        + """
        print(found, time.monotonic() - began > 1.5)
        """,
    )
    assert said == f"[{-signal.SIGTERM}] True\n"


# The asynchronous client


def test_parents_asynchronous_client_raises_in_a_child(dsn: str) -> None:
    async def main() -> dict[str, Any]:
        async with AsyncAgentMemory.connect(dsn, embedder=False) as memory:
            [(before,)] = await memory._core.write.query(PID)

            async def ask() -> None:
                await memory._core.write.query(PID)

            async def close_and_ask() -> int:
                await memory.aclose()
                [(pid,)] = await memory._core.write.query(PID)
                return int(pid)

            said = await asyncio.to_thread(lambda: Child(lambda: asyncio.run(ask())).result())
            anew = await asyncio.to_thread(in_child, lambda: asyncio.run(close_and_ask()))
            assert await memory._core.write.query(PID) == [(before,)]
            assert anew != before
            return said

    said = asyncio.run(main())
    assert said["error"] == "ForkedError"
    assert "this AsyncAgentMemory belongs to process" in said["text"]
    assert "Make one in each process" in said["text"]


def test_unopened_asynchronous_client_works_in_each_child(dsn: str) -> None:
    memory = AsyncAgentMemory.connect(dsn, embedder=False)

    async def main() -> int:
        async with memory:
            [(pid,)] = await memory._core.write.query(PID)
            return int(pid)

    def run() -> int:
        return asyncio.run(main())

    assert len({in_child(run), in_child(run), run()}) == 3


def test_deadline_in_a_child_does_not_shut_the_parents_connection_down(
    db: psycopg.Connection,
) -> None:
    from pgrecall._deadline import _Guard

    guard = _Guard(db, time.monotonic())
    assert in_child(guard.shut_down) is None
    assert value(db, "select 1") == 1
    guard.release()


# Endpoints and models


class _Endpoint(BaseHTTPRequestHandler):
    """Vectors over connections that stay open; the model's name is the port of the client."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({
            "object": "list", "model": str(self.client_address[1]),
            "data": [{"object": "embedding", "index": 0, "embedding": [1.0, 0.0]}],
            "usage": {"prompt_tokens": self.client_address[1], "total_tokens": 1},
        }).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@pytest.mark.parametrize("client", ["own", "of the caller", "recording"])
def test_child_opens_connections_of_its_own_to_an_endpoint(endpoint: str, client: str) -> None:
    from pgrecall.calls import RecordingClient

    http_client = RecordingClient() if client == "recording" else None
    given = openai_package.OpenAI(base_url=endpoint, api_key="x", http_client=http_client)
    embedder = OpenAIEmbedder(
        "m", base_url=endpoint, api_key="x", client=None if client == "own" else given
    )

    def port() -> int:
        return embedder.embed_with_usage(["a"])[1].tokens

    parent = port()
    assert port() == parent  # the connection is kept
    children = {in_child(port), in_child(port)}
    assert len(children) == 2
    assert parent not in children
    assert port() == parent


def test_http_client_of_the_caller_raises_in_a_child(endpoint: str) -> None:
    with httpx2.Client() as http_client:
        client = openai_package.OpenAI(base_url=endpoint, api_key="x", http_client=http_client)
        embedder = OpenAIEmbedder("m", client=client)
        assert embedder.embed(["a"])
        said = Child(lambda: embedder.embed(["a"])).result()
        assert said["error"] == "ForkedError"
        assert "this OpenAI client belongs to process" in said["text"]
        assert embedder.embed(["a"])


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_local_model_embeds_in_a_child_with_threads_of_its_own() -> None:
    embedder = LocalEmbedder(threads=2)
    texts = ["tabs", "spaces " * 50]
    made = embedder.embed(texts)

    def embed() -> tuple[list[list[float]], int]:
        return embedder.embed(texts), len([*Path("/proc/self/task").iterdir()])

    in_there, threads = in_child(embed)
    assert in_there == made
    assert threads > 1


def test_span_of_the_parent_is_not_ended_in_a_child() -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from pgrecall.integrations.otel import instrument

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    memory = instrument(
        AgentMemory.connect("host=nowhere", embedder=False), tracer_provider=provider
    )
    recorder: Any = memory._core
    with recorder.recorder._span("a span", "search_memory", {}):
        child = os.fork()
    if child == 0:
        os._exit(len(exporter.get_finished_spans()))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(exporter.get_finished_spans()) == 1


# The embedded server


@pytest.mark.slow
def test_embedded_server_outlives_a_child_and_a_parent(home: Path) -> None:
    program = """
    from pgrecall.embedded import EmbeddedServer
    server = EmbeddedServer(sys.argv[1])
    server.start()
    child = os.fork()
    if child == 0:
        sys.exit()  # with atexit and finalizers
    assert os.waitpid(child, 0)[1] == 0
    assert server.is_running
    ready, wake = os.pipe()
    go, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        server.start()
        os.write(wake, b"1")
        os.read(go, 1)  # until the parent has left
        import psycopg
        with psycopg.connect(server.dsn) as conn:
            conn.execute("select 1")
        server.stop()
        os._exit(0 if not server.is_running else 1)
    os.close(go)
    os.read(ready, 1)
    server.stop()
    assert server.is_running  # for the child's sake
    os.close(end)
    assert os.waitpid(child, 0)[1] == 0
    assert not server.is_running
    # a child that holds the parent's open file does not keep the server
    server.start()
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    server.stop()
    print("stopped" if not server.is_running else "runs")
    os.kill(child, 9)
    """
    assert run_program(str(home), program) == "stopped\n"


@pytest.mark.slow
def test_embedded_memory_starts_anew_in_a_child(home: Path) -> None:
    program = """
    with AgentMemory.embedded(sys.argv[1], embedder=False) as memory:
        memory.users.ensure("ada")
        memory.remember("ada", "I like mint.")
        child = os.fork()
        if child == 0:
            found = [one.content for one in memory.search("ada", "like")]
            memory.close()
            sys.exit(found != ["I like mint."])
        assert os.waitpid(child, 0)[1] == 0
        print([one.content for one in memory.search("ada", "like")])
    """
    assert run_program(str(home), program) == "['I like mint.']\n"


# Programs that fork for a living


def test_client_cannot_be_pickled(memory: AgentMemory, user: uuid.UUID) -> None:
    for one in (memory, memory.memories, memory.session(user=user, model="m"), memory.worker()):
        with pytest.raises(TypeError, match=r"cannot be pickled.*AgentMemory.connect"):
            pickle.dumps(one)


def _asked(dsn: str, names: list[str]) -> list[str]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        return own_memories(memory, names, 3)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(memory: AgentMemory, dsn: str, method: str) -> None:
    names = remembered(memory, 2)
    before = backend(memory)
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        assert pool.starmap(_asked, [(dsn, names)] * 4) == [[]] * 4
    if method == "fork":
        read, write = context.Pipe(duplex=False)
        process = context.Process(target=lambda: write.send(own_memories(memory, names, 20)))
        process.start()
        assert own_memories(memory, names, 20) == []
        assert read.recv() == []
        process.join()
        assert process.exitcode == 0
    else:
        process = context.Process(target=own_memories, args=(memory, names, 1))
        with pytest.raises(TypeError, match="cannot be pickled"):
            process.start()
    assert backend(memory) == before


APPLICATION = """
import os
from pgrecall import AgentMemory

memory = AgentMemory.connect(os.environ["TEST_DSN"], embedder=False)
memory.open()

def app(environ, start_response):
    name = environ["PATH_INFO"].strip("/")
    found = ";".join(one.content for one in memory.search(name, "What do I like?"))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{os.getpid()} {found}".encode()]
"""

ASYNC_APPLICATION = """
import os
from pgrecall import AsyncAgentMemory

memory = AsyncAgentMemory.connect(os.environ["TEST_DSN"], embedder=False)

async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    name = scope["path"].strip("/")
    found = ";".join(one.content for one in await memory.search(name, "What do I like?"))
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": f"{os.getpid()} {found}".encode()})
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sync", "gthread", "asgi"])
def test_gunicorn_with_preload(memory: AgentMemory, dsn: str, tmp_path: Path, kind: str) -> None:
    names = remembered(memory, 2)
    (tmp_path / "application.py").write_text(ASYNC_APPLICATION if kind == "asgi" else APPLICATION)
    address = tmp_path / "socket"
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "--preload", "-w", "2", "-k", kind,
         "--threads", "2" if kind == "gthread" else "1",
         "-b", f"unix:{address}", "--no-control-socket", "application:app"],
        cwd=tmp_path, env={**os.environ, "TEST_DSN": dsn},
    )  # fmt: skip
    try:
        wait_for(address.exists, server, 60)

        def ask(number: int) -> tuple[str, bool]:
            name = names[number % 2]
            # a connection of its own, so that both workers get some
            answer = client.get(f"http://gunicorn/{name}", headers={"connection": "close"})
            process, _, found = answer.text.partition(" ")
            return process, found == f"I like {name}."

        transport = httpx2.HTTPTransport(uds=str(address))
        with httpx2.Client(transport=transport, timeout=60) as client, ThreadPoolExecutor(6) as six:
            answers = list(six.map(ask, range(600)))
    finally:
        server.terminate()
        assert server.wait(60) == 0
    assert all(is_right for _, is_right in answers)
    assert len({process for process, _ in answers}) == 2


TASKS = """
import os
from celery import Celery
from pgrecall import AgentMemory

folder = os.environ["TEST_FOLDER"]
app = Celery("tasks", broker="filesystem://", backend=f"file://{folder}/results")
app.conf.broker_transport_options = {
    "data_folder_in": f"{folder}/queue", "data_folder_out": f"{folder}/queue",
    "control_folder": f"{folder}/control",
}
memory = AgentMemory.connect(os.environ["TEST_DSN"], embedder=False)
memory.open()

@app.task(name="ask")
def ask(name):
    return os.getpid(), [one.content for one in memory.search(name, "What do I like?")]
"""


@pytest.mark.slow
def test_celery_with_prefork(
    memory: AgentMemory, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = remembered(memory, 2)
    for name in ("queue", "control", "results"):
        (tmp_path / name).mkdir()
    (tmp_path / "tasks.py").write_text(TASKS)
    monkeypatch.setenv("TEST_DSN", dsn)
    monkeypatch.setenv("TEST_FOLDER", str(tmp_path))
    monkeypatch.setenv("C_FORCE_ROOT", "1")
    monkeypatch.syspath_prepend(tmp_path)
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "tasks", "worker", "-P", "prefork", "-c", "2",
         "--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "warning"],
        cwd=tmp_path,
    )  # fmt: skip
    try:
        import tasks  # type: ignore[import-not-found]

        asked = [(names[i % 2], tasks.ask.delay(names[i % 2])) for i in range(100)]
        answers = [(name, result.get(timeout=120)) for name, result in asked]
        tasks.memory.close()
    finally:
        worker.terminate()
        assert worker.wait(60) == 0
    assert all(found == [f"I like {name}."] for name, (_, found) in answers)
    assert len({process for _, (process, _) in answers}) == 2


PROGRAM = """
import asyncio, gc, os, sys, threading, time
from pgrecall import AgentMemory, AsyncAgentMemory
from pgrecall._sql import Call
DSN = sys.argv[1]
PID = b"select pg_catalog.pg_backend_pid()"
"""


def run_program(argument: str, *parts: str) -> str:
    """Return what a program of its own says."""
    text = PROGRAM + "".join(textwrap.dedent(part) for part in parts)
    done = subprocess.run(
        [sys.executable, "-c", text, argument], capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout
