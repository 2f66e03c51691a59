"""The command line, against a real server; its forms are relied on by scripts."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import AgentMemory
from pgrecall.cli._main import _run
from pgrecall.cli.status import _driver_check
from pgrecall.embedded import EmbeddedServer
from support import login_role, our_role
from support.fakes import WordEmbedder

VERSION = version("pgrecall")


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Done]


@pytest.fixture(scope="module")
def local(dsn: str) -> str:
    """The module's database, with the local model."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("update recall.settings set embedding_model = 'local'")
    return dsn


@pytest.fixture
def cli(local: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command on the module's database."""
    monkeypatch.setenv("PGRECALL_DSN", local)

    def run(*arguments: object) -> Done:
        capsys.readouterr()
        code = _run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


def lines(path: Path, *objects: Any) -> Path:
    text = "".join(f"{json.dumps(o) if not isinstance(o, str) else o}\n" for o in objects)
    path.write_text(text, encoding="utf-8")
    return path


def message(user: str, content: str, **more: Any) -> dict[str, Any]:
    return {"user": user, "session": "s1", "role": "user", "content": content, **more}


@pytest.fixture
def who() -> str:
    """The name of a user whom nobody has used before."""
    return f"user {uuid.uuid4()}"


# Usage


def test_commands_read_the_settings_of_the_environment(
    cli: Cli, local: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands heed what `pgrecall.settings.Settings` names; --dsn leaves the other DSNs out."""
    monkeypatch.setenv("PGRECALL_WORKER_DSN", "host=/no/such/folder")
    done = cli("worker", "--until-idle", "--no-embedding")
    assert (done.code, "/no/such/folder" in done.err) == (1, True), done
    assert cli("worker", "--until-idle", "--no-embedding", "--dsn", local).code == 0
    monkeypatch.setenv("PGRECALL_STATEMENT_TIMEOUT", "0.001")
    assert "statement timeout" in cli("metrics", "--dsn", local).err
    monkeypatch.setenv("PGRECALL_STATEMENT_TIMEOUT", "soon")
    done = cli("metrics")
    assert (done.code, "PGRECALL_STATEMENT_TIMEOUT is soon" in done.err) == (2, True), done


def test_search_with_an_unreachable_endpoint_exits_with_1(
    cli: Cli, db: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    db.execute("update recall.settings set embedding_model = 'openai:some'")
    try:
        done = cli("search", "x", "--user", "ada")
    finally:
        db.execute("update recall.settings set embedding_model = 'local'")
    assert (done.code, done.out) == (1, "")
    assert done.err == "pgrecall: the endpoint of a model failed: Connection error.\n"


@pytest.mark.slow
def test_texts_are_printed_to_an_output_without_unicode(cli: Cli, who: str) -> None:
    """As where the terminal is of ISO 8859-1: JSON stays JSON, else a mark stands in its place."""
    assert cli("memories", "add", "Möchte Käse", "--user", who).code == 0

    def listed(*options: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pgrecall", "memories", "list", "--user", who, *options],
            capture_output=True,
            encoding="ascii",
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "M?chte K?se" in listed()
    assert json.loads(listed("--json"))[0]["content"] == "Möchte Käse"


def test_every_command_has_a_help_page(cli: Cli) -> None:
    done = cli("--help")
    assert done.code == 0
    for command in ("install", "status", "doctor", "demo", "chat", "import", "export", "search",
                    "memories", "context", "worker", "forget", "bench"):  # fmt: skip
        assert command in done.out
        assert cli(command, "--help").code == 0
    assert VERSION in cli("--version").out


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-command"],
        ["search"],
        ["search", "x"],
        ["search", "x", "--user", "ada", "-k", "-1"],
        ["search", "x", "--user", "ada", "--no-such-option"],
        ["import"],
        ["import", "/no/such/file"],
        ["install", "--embedding", "no-such-model"],
        ["install", "--dimensions", "0"],
        ["bench", "--rounds", "0"],
        ["memories", "retract", "not-a-uuid", "--user", "ada"],
        ["worker", "--api-key-env", "NO_SUCH_VARIABLE"],
    ],
)
def test_wrong_usage_exits_with_2_and_no_traceback(cli: Cli, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err


def test_errors_have_no_traceback(cli: Cli) -> None:
    done = cli("status", "--dsn", "host=/nonexistent dbname=x connect_timeout=2")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("pgrecall: ")
    assert "Traceback" not in done.err

    done = cli("status", "--json", "--dsn", "nonsense")
    assert done.code == 1
    assert "malformed" in done.json["error"]["message"]

    done = cli("context", "x", "--user", f"stranger {uuid.uuid4()}", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "RC001")
    for more in ((), ("--session", "s1")):
        done = cli("context", "x", "--user", "nobody yet", *more, "--json")
        assert done.json["error"]["message"].startswith("there is no user nobody yet")


@pytest.mark.slow
def test_process_has_exit_codes_and_survives_a_closed_pipe(local: str) -> None:
    for arguments, code in ((["--version"], 0), (["nonsense"], 2), (["status", "--dsn", "x"], 1)):
        done = subprocess.run(
            [sys.executable, "-m", "pgrecall", *arguments],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
    # a reader that has enough is no error worth a traceback
    command = f"{sys.executable} -m pgrecall doctor --dsn '{local}' | true"
    done = subprocess.run(["sh", "-c", command], check=False, capture_output=True, text=True)
    assert "Traceback" not in done.stderr


# Installation


@pytest.mark.slow
def test_install_reports_the_schema_and_may_run_again(cli: Cli, empty_dsn: str) -> None:
    assert cli("status", "--dsn", empty_dsn).code == 1
    done = cli("install", "--dsn", empty_dsn, "--json")
    assert done.code == 0
    assert done.json == {
        "was_new": True,
        "version": VERSION,
        "embedding_model": "openai:text-embedding-3-small",
        "embedding_dimensions": 1536,
        "extraction": "llm",
        "hash_partitions": 8,
        "role_prefix": "recall",
    }
    again = cli("install", "--dsn", empty_dsn, "--json").json
    assert again == {**done.json, "was_new": False}
    assert cli("install", "--dsn", empty_dsn, "--extraction", "verbatim").code == 0
    assert cli("status", "--dsn", empty_dsn, "--json").json["extraction"] == "verbatim"
    # another size is refused, and nothing changed
    refused = cli("install", "--dsn", empty_dsn, "--embedding", "local")
    assert refused.code == 1
    assert "1536" in refused.err
    assert cli("install", "--dsn", empty_dsn, "--hash-partitions", "3").code == 1
    assert cli("status", "--dsn", empty_dsn, "--json").json["embedding_dimensions"] == 1536


@pytest.mark.slow
def test_install_stores_the_chosen_embedding_and_sizes(cli: Cli, empty_dsn: str) -> None:
    done = cli(
        "install", "--dsn", empty_dsn, "--embedding", "local", "--hash-partitions", "1", "--json"
    )
    assert done.json["embedding_model"] == "local"
    assert done.json["embedding_dimensions"] == 384
    assert done.json["hash_partitions"] == 1


@pytest.mark.slow
def test_install_refuses_another_model_for_stored_vectors(cli: Cli, empty_dsn: str) -> None:
    """Searches would find none of them. Without a vector the model is free to choose."""
    install = ("install", "--dsn", empty_dsn, "--dimensions", 3)
    assert cli(*install, "--embedding", "openai:first").code == 0
    assert cli(*install, "--embedding", "openai:mine").code == 0
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        for content in ("Ada likes tea.", "Ada lives in Oslo."):
            conn.execute(
                "select recall.remember(p_user_id => recall.user_id('ada'), p_content => %s,"
                " p_embedding => '[1,2,3]')", [content],
            )  # fmt: skip
        conn.execute(
            "select recall.retract_memory(recall.user_id('ada'), m.memory_id)"
            " from recall.memory_store as m limit 1"
        )
    done = cli(*install, "--embedding", "openai:first")
    assert (done.code, done.out) == (1, "")
    assert "embedding model openai:mine, not openai:first: 2 vectors" in done.err
    assert "pgrecall embeddings migrate --to" in done.err
    status = cli("status", "--dsn", empty_dsn, "--json").json
    assert status["embedding_model"] == "openai:mine"
    again = cli(*install, "--embedding", "openai:mine")
    assert (again.code, "up to date" in again.out) == (0, True)


@pytest.mark.slow
def test_install_asks_for_dimensions_of_an_unknown_model(cli: Cli, empty_dsn: str) -> None:
    done = cli("install", "--dsn", empty_dsn, "--embedding", "openai:mine")
    assert done.code == 1
    assert "--dimensions" in done.err
    done = cli("install", "--dsn", empty_dsn, "--embedding", "openai:mine", "--dimensions", "64")
    assert done.code == 0


def test_status_prints_counts_and_doctor_finds_no_problem(cli: Cli) -> None:
    numbers = cli("status", "--json").json
    assert numbers["version"] == numbers["driver"] == VERSION
    assert numbers["embedding_model"] == "local"
    assert {"users", "messages", "sessions", "memories", "jobs"} <= set(numbers)
    assert numbers["sessions_for_a_model"] == numbers["sessions_without_summaries"] == 0
    assert "0 sessions wait for a model" in cli("status").out
    assert "messages" in cli("status").out
    done = cli("doctor", "--json")
    assert done.code == 0
    assert done.json["status"] in ("ok", "warn")
    checks = {check["name"]: check["status"] for check in done.json["checks"]}
    assert checks["embedder"] == checks["driver"] == "ok"
    assert "embedder" in cli("doctor").out


@pytest.mark.parametrize(
    ("driver", "schema", "hint"),
    [
        ("0.2.0.dev0", "0.1.0", "pgrecall install upgrades the schema."),
        ("0.2.0", "0.2.0.dev0", "pgrecall install upgrades the schema."),
        ("0.2.0.dev0", "0.2.0", "Upgrade the driver: pip install --upgrade pgrecall"),
        ("0.9.0", "0.10.0", "Upgrade the driver: pip install --upgrade pgrecall"),
        ("0.2.0", "0.2.0", None),
    ],
)
def test_doctor_names_the_older_of_driver_and_schema(
    monkeypatch: pytest.MonkeyPatch, driver: str, schema: str, hint: str | None
) -> None:
    monkeypatch.setattr("pgrecall.cli.status.metadata.version", lambda _: driver)
    found = _driver_check(cast(Any, SimpleNamespace(admin=SimpleNamespace(version=lambda: schema))))
    assert (found.status, found.hint) == ("warn" if hint else "ok", hint)
    assert found.detail == f"pgrecall {driver} for Python, schema {schema}"


@pytest.mark.parametrize("role", ["recall_reader", "recall_admin"])
def test_status_is_refused_to_other_roles_than_the_owner(
    cli: Cli, db: psycopg.Connection, local: str, role: str
) -> None:
    """Row-level security would let a reader count zeros."""
    with login_role(db, member_of=[role]) as login:
        done = cli("status", "--dsn", make_conninfo(local, **login))
    assert (done.code, done.out) == (1, "")
    assert "only the owner of the schema recall" in done.err


def test_bench_times_every_call_and_leaves_no_user(
    cli: Cli, db: psycopg.Connection, local: str
) -> None:
    """It times every call, and leaves nobody behind, whoever asks."""
    counted = "select count(*) from recall.users"
    before = db.execute(counted).fetchone()
    done = cli("bench", "--rounds", 2, "--memories", 12, "--json")
    assert done.code == 0, done.err
    assert (done.json["rounds"], done.json["memories"]) == (2, 12)
    assert {"append a turn", "search by both", "compile a context"} <= set(done.json["calls"])
    for times in done.json["calls"].values():
        assert 0 < times["median_ms"] <= times["p95_ms"] <= times["p99_ms"]
    assert "compile a context" in cli("bench", "--rounds", 1, "--memories", 1).out
    with login_role(db, member_of=["recall_worker"]) as login:
        refused = cli("bench", "--dsn", make_conninfo(local, **login))
    assert (refused.code, refused.out) == (1, "")
    assert our_role(db, "recall_admin") in refused.err
    assert db.execute(counted).fetchone() == before


def test_doctor_fails_when_something_is_broken(
    cli: Cli, db: psycopg.Connection, who: str, tmp_path: Path
) -> None:
    cli("import", lines(tmp_path / "m.jsonl", message(who, "hello")))
    db.execute("update recall.jobs set state = 'dead'")
    try:
        done = cli("doctor")
        assert done.code == 1
        assert "retry_dead_jobs" in done.out
    finally:
        db.execute("delete from recall.jobs")


# Import


def test_import_stores_sessions_of_a_file(cli: Cli, who: str, tmp_path: Path) -> None:
    path = lines(
        tmp_path / "m.jsonl",
        message(who, "My name is Ada and I live in Lyon", created_at="2024-03-01T10:00:00Z",
                name="Ada", metadata={"dia_id": "D1:1"}),
        message(who, "Hello Ada", role="assistant", name=None, created_at="2024-03-01T10:00:05Z"),
        "",
        message(who, "Another session, another day altogether", session="s2"),
    )  # fmt: skip
    done = cli("import", path, "--extraction", "verbatim", "--json")
    assert done.code == 0, done.err
    assert done.json == {"messages": 3, "skipped": 0, "left_out": 0, "users": 1, "sessions": 2}
    with AgentMemory.connect(os.environ["PGRECALL_DSN"], embedder=False) as memory:
        sessions = {session.title: session for session in memory.sessions.list(who)}
        assert set(sessions) == {"s1", "s2"}
        assert sessions["s1"].metadata == {"extraction": "verbatim"}
        _, first = memory.sessions.messages(who, sessions["s1"].session_id)
        assert (first.name, first.metadata) == ("Ada", {"dia_id": "D1:1"})
        assert f"{first.created_at:%Y-%m-%dT%H:%M:%SZ}" == "2024-03-01T10:00:00Z"
        assert (first.token_count, first.tokens_estimated) == (10, False)
        assert sessions["s1"].created_at == first.created_at

    worked = cli("worker", "--until-idle", "--json")
    assert worked.code == 0, worked.err
    assert worked.json["failed"] == {}
    found = cli("search", "Where do I live?", "--user", who, "--json").json
    assert found[0]["content"] == "My name is Ada and I live in Lyon"
    hit = cli("search", "Lyon", "--user", who, "--messages", "--json").json[0]
    assert (hit["content"], hit["turn_index"]) == ("My name is Ada and I live in Lyon", 1)
    where = cli("search", "Lyon", "--user", who, "--sessions", "--json").json[0]
    assert where["session_id"] == hit["session_id"]
    shown = cli("search", "Lyon", "--user", who, "--sessions", "--explain")
    assert "turn_part" in shown.out
    explained = cli("search", "Lyon", "--user", who, "--messages", "--explain").out
    for part in ("I live in Lyon", "feedback_part", hit["session_id"]):
        assert part in explained  # no column is squeezed away
    assert cli("search", "x", "--user", who, "--sessions", "--messages").code == 2


def test_second_import_stores_only_new_messages(cli: Cli, who: str, tmp_path: Path) -> None:
    """A second run stores nothing, a file that has grown only what is new."""
    said = [message(who, "ok", created_at=f"2024-03-01T10:00:{second:02}Z") for second in range(10)]
    said += [message(who, "ok") for _ in range(5)]
    path = lines(tmp_path / "m.jsonl", *said)
    assert cli("import", path, "--json").json["messages"] == 15
    again = cli("import", path, "--json").json
    assert (again["messages"], again["skipped"]) == (0, 15)
    grown = lines(tmp_path / "renamed.jsonl", *said, message(who, "ok"), message(who, "new"))
    third = cli("import", grown, "--json").json
    assert (third["messages"], third["skipped"]) == (2, 15)


def test_second_import_of_a_file_older_than_the_session_adds_nothing(
    cli: Cli, who: str, tmp_path: Path
) -> None:
    """The times stay as the file has them, so a second run recognizes each message."""
    now = lines(tmp_path / "now.jsonl", message(who, "today", created_at="2025-01-01T00:00:00Z"))
    assert cli("import", now, "--json").json["messages"] == 1
    said = [message(who, text, created_at=f"2024-03-01T10:00:0{at}Z")
            for at, text in enumerate(["ok", "yes", "ok"])]  # fmt: skip
    old = lines(tmp_path / "old.jsonl", *said)
    assert cli("import", old, "--json").json["messages"] == 3
    for _ in range(2):
        again = cli("import", old, "--json").json
        assert (again["messages"], again["skipped"]) == (0, 3)
    grown = lines(tmp_path / "grown.jsonl", *said,
                  message(who, "ok", created_at="2024-03-01T10:00:05Z"))  # fmt: skip
    third = cli("import", grown, "--json").json
    assert (third["messages"], third["skipped"]) == (1, 3)


def test_import_replaces_characters_that_postgresql_cannot_store(
    cli: Cli, who: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """And knows the messages again."""
    path = lines(tmp_path / "m.jsonl", message(who, "tea\x00"), message(who, "a \ud83d cup"))
    done = cli("import", path, "--json")
    assert (done.code, done.json["messages"]) == (0, 2)
    assert "cannot store, replaced: 1" in caplog.text
    with AgentMemory.connect(os.environ["PGRECALL_DSN"], embedder=False) as memory:
        [session] = memory.sessions.list(who)
        messages = memory.sessions.messages(who, session.session_id)
        assert [m.content for m in reversed(messages)] == ["tea\ufffd", "a \ufffd cup"]
    again = cli("import", path, "--json").json
    assert (again["messages"], again["skipped"]) == (0, 2)


def test_import_goes_on_after_a_bad_line(cli: Cli, who: str, tmp_path: Path) -> None:
    good = [message(who, f"message {number}") for number in range(1200)]
    bad = lines(tmp_path / "m.jsonl", *good[:1100], '{"user": "ada", "session', *good[1100:])
    done = cli("import", bad)
    assert (done.code, done.out) == (1, "")
    assert f"{bad}:1101: not JSON" in done.err
    assert "1,000 messages before it are stored" in done.err
    assert "Traceback" not in done.err

    fixed = lines(tmp_path / "m.jsonl", *good)
    done = cli("import", fixed, "--json")
    assert (done.json["messages"], done.json["skipped"]) == (200, 1000)
    with AgentMemory.connect(os.environ["PGRECALL_DSN"], embedder=False) as memory:
        [session] = memory.sessions.list(who)
        messages = memory.sessions.messages(who, session.session_id, limit=2000)
        assert [m.content for m in reversed(messages)] == [m["content"] for m in good]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"role": "robot"}, 'role is "robot"'),
        ({"role": None}, "role is missing"),
        ({"user": ""}, 'user is ""'),
        ({"user": 5}, "user is 5"),
        ({"session": None}, "session is missing"),
        ({"content": 5}, "content is 5, not a text"),
        ({"created_at": "yesterday"}, "no time in ISO 8601"),
        ({"created_at": "2999-01-01T00:00:00Z"}, "in the future"),
        ({"metadata": []}, "metadata is [], not an object"),
        ({"role": "tool", "tool_call_id": "nowhere"}, "answers no earlier call"),
        ({"content": [{"type": "text"}]}, "text is missing"),
        ({"token_count": -5}, "token_count is -5"),
    ],
)
def test_import_names_a_malformed_line_and_stores_nothing_of_its_batch(
    cli: Cli, who: str, tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    """The line is named, and nothing of its batch is stored."""
    path = lines(
        tmp_path / "m.jsonl", message(who, "fine"), {**message(who, "x"), **change},
        message(who, "fine too"),
    )  # fmt: skip
    done = cli("import", path)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"pgrecall: {path}:2: ")
    assert why in done.err
    assert why in cli("import", path, "--json").json["error"]["message"]
    with AgentMemory.connect(os.environ["PGRECALL_DSN"], embedder=False) as memory:
        assert sum(session.turn_count for session in memory.sessions.list(who)) == 0


@pytest.mark.parametrize(("text", "why"), [(b"[1]\n", "unknown format"), (b"\xff\n", "UTF-8")])
def test_import_refuses_a_malformed_line(cli: Cli, tmp_path: Path, text: bytes, why: str) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(text)
    done = cli("import", path)
    assert done.code == 1
    assert f"{path}:1: " in done.err
    assert why in done.err


def test_import_stores_tool_calls(cli: Cli, who: str, tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = [
        message(who, "go"),
        {**message(who, ""), "role": "assistant", "content": None, "tool_calls": [call]},
        {**message(who, "done"), "role": "tool", "tool_call_id": "c1"},
    ]
    path = lines(tmp_path / "m.jsonl", *said)
    assert cli("import", path, "--json").json["messages"] == 3
    assert cli("import", path, "--json").json["skipped"] == 3


def test_import_reads_standard_input(local: str, who: str) -> None:
    text = json.dumps(message(who, "hello"))
    done = subprocess.run(
        [sys.executable, "-m", "pgrecall", "import", "-", "--dsn", local, "--json"],
        check=True, capture_output=True, text=True, input=text,
    )  # fmt: skip
    assert json.loads(done.stdout)["messages"] == 1


def test_import_stores_interleaved_sessions_of_many_users(cli: Cli, tmp_path: Path) -> None:
    users = [f"user {uuid.uuid4()}" for _ in range(5)]
    said = [
        {**message(user, f"line {number}"), "session": f"s{number % 7}"}
        for number in range(300) for user in users
    ]  # fmt: skip
    done = cli("import", lines(tmp_path / "m.jsonl", *said), "--json")
    assert done.json == {"messages": 1500, "skipped": 0, "left_out": 0, "users": 5, "sessions": 35}
    with AgentMemory.connect(os.environ["PGRECALL_DSN"], embedder=False) as memory:
        for session in memory.sessions.list(users[0]):
            messages = memory.sessions.messages(users[0], session.session_id)
            numbers = [int((m.content or "").split()[1]) for m in reversed(messages)]
            assert numbers == sorted(numbers)


def test_import_stores_facts_of_a_file(cli: Cli, who: str, tmp_path: Path) -> None:
    facts = [
        {"user": who, "content": "Ada lives in Lyon.", "kind": "personal", "slot": "home_city"},
        {"user": who, "content": "Ada plays the cello.", "tags": ["music"], "importance": 0.9},
        {"user": who, "content": "Ada lives in Porto.", "kind": "personal", "slot": "home_city"},
    ]
    path = lines(tmp_path / "f.jsonl", *facts)
    done = cli("import", "--facts", path, "--json")
    assert done.code == 0, done.err
    assert done.json == {"facts": {"added": 2, "superseded": 1, "skipped": 0}}
    assert cli("import", "--facts", path, "--json").json == {"facts": {"skipped": 3}}
    found = cli("memories", "list", "--user", who, "--json").json
    assert {m["content"] for m in found} == {"Ada lives in Porto.", "Ada plays the cello."}
    assert {memory["source"] for memory in found} == {"import"}

    bad = lines(tmp_path / "g.jsonl", {"user": who, "content": "Fine."},
                {"user": who, "content": "x", "importance": 7})  # fmt: skip
    done = cli("import", "--facts", bad)
    assert done.code == 1
    assert f"{bad}:2: " in done.err
    assert len(cli("memories", "list", "--user", who, "--json").json) == 2


# Memories


def test_memories_are_added_edited_and_listed(cli: Cli, who: str) -> None:
    added = cli("memories", "add", "Ada uses Vim.", "--user", who, "--kind", "preference",
                "--tag", "tools", "--json").json  # fmt: skip
    assert added["outcome"] == "added"
    [listed] = cli("memories", "list", "--user", who, "--json").json
    assert (listed["content"], listed["kind"], listed["tags"]) == (
        "Ada uses Vim.", "preference", ["tools"],
    )  # fmt: skip
    assert cli("memories", "list", "--user", who, "--kind", "goal", "--json").json == []
    assert "Ada uses Vim." in cli("memories", "list", "--user", who).out

    edited = cli("memories", "edit", added["memory_id"], "Ada uses Neovim.", "--user", who,
                 "--json").json  # fmt: skip
    [listed] = cli("memories", "list", "--user", who, "--json").json
    assert (listed["content"], listed["memory_id"]) == ("Ada uses Neovim.", edited["memory_id"])
    everything = cli("memories", "list", "--user", who, "--all", "--json").json
    assert {m["content"] for m in everything} == {"Ada uses Vim.", "Ada uses Neovim."}

    args = (edited["memory_id"], "--user", who, "--json")
    assert cli("memories", "retract", *args, "--reason", "no").json["outcome"] == "retracted"
    assert cli("memories", "retract", *args).json["outcome"] == "was not active"
    assert cli("memories", "list", "--user", who, "--json").json == []
    assert cli("memories", "restore", *args).json["outcome"] == "restored"
    assert len(cli("memories", "list", "--user", who, "--json").json) == 1
    events = [event["event"] for event in cli("memories", "history", *args).json]
    assert "retracted" in events
    assert "retracted" in cli("memories", "history", edited["memory_id"], "--user", who).out

    unknown = cli("memories", "history", uuid.uuid4(), "--user", who)
    assert unknown.code == 1
    refused = cli("memories", "add", "x", "--user", who, "--kind", "no-such-kind")
    assert (refused.code, refused.out) == (1, "")


def test_commands_review_and_judge_memories_and_settle_disputes(cli: Cli, who: str) -> None:
    goal = cli("memories", "add", "Wants to run", "--kind", "goal", "--user", who, "--json").json
    cli("memories", "add", "Lives in Lyon", "--slot", "city", "--user", who)
    with AgentMemory.connect(os.environ["PGRECALL_DSN"], embedder=False) as memory:
        memory.memories.ingest(who, [
            {"content": "Lives in Paris", "slot": "city", "provenance": "tool_output",
             "source": "tool"},
            {"content": "Is on leave", "review_at": "2020-01-01T00:00:00Z", "source": "import"},
        ])  # fmt: skip
    (due,) = cli("memories", "review", "--user", who, "--json").json
    assert due["content"] == "Is on leave"
    assert "Is on leave" in cli("memories", "review", "--user", who).out
    for command, memory_id, outcome in (
        (["validate"], due["memory_id"], "validated"),
        (["reinforce", "--not-useful"], due["memory_id"], "weakened"),
        (["reinforce", "--useful"], due["memory_id"], "reinforced"),
        (["achieve"], goal["memory_id"], "achieved"),
    ):
        done = cli("memories", *command, memory_id, "--user", who, "--json")
        assert done.json == {"memory_id": memory_id, "outcome": outcome}
    assert cli("memories", "review", "--user", who, "--json").json == []
    assert cli("memories", "achieve", due["memory_id"], "--user", who).code == 1
    assert cli("memories", "reinforce", due["memory_id"], "--user", who).code == 2

    (dispute,) = cli("memories", "disputes", "--user", who, "--json").json
    assert (dispute["content"], dispute["disputed_content"]) == ("Lives in Paris", "Lives in Lyon")
    assert "Lives in Paris" in cli("memories", "disputes", "--user", who).out
    resolved = cli("memories", "resolve", dispute["memory_id"], "--refuse", "--user", who, "--json")
    assert resolved.json == {"memory_id": dispute["disputed_id"], "outcome": "refused"}
    assert cli("memories", "disputes", "--user", who, "--json").json == []


def test_printed_texts_are_not_read_as_markup(cli: Cli, who: str) -> None:
    text = "[bold]not bold[/bold] [/x] :smile: [link=x]"
    cli("memories", "add", text, "--user", who)
    for command in (("memories", "list"), ("search", "bold")):
        done = cli(*command, "--user", who)
        assert done.code == 0
        assert text in done.out


# Search and context


def test_search_finds_memories_by_words(cli: Cli, who: str) -> None:
    for text in ("Ada lives in Porto.", "Ada uses Vim.", "Ada plays the cello."):
        cli("memories", "add", text, "--user", who)
    hits = cli("search", "music and instruments", "--user", who, "-k", "2", "--json").json
    assert len(hits) == 2
    assert hits[0]["content"] == "Ada plays the cello."
    assert {"score", "similarity", "lexical", "memory_id"} <= set(hits[0])
    done = cli("search", "cello", "--user", who, "--explain")
    assert done.code == 0
    assert "similarity" in done.out
    assert cli("search", "x", "--user", f"stranger {uuid.uuid4()}", "--json").json == []
    words = cli("search", "cello", "--user", who, "--no-embedding", "--json").json
    assert words[0]["similarity"] is None


def test_search_without_a_key_names_the_variable_to_set(
    cli: Cli, who: str, db: psycopg.Connection
) -> None:
    # not by configure, which refuses it while there are vectors of other tests
    db.execute("update recall.settings set embedding_model = 'openai:text-embedding-3-small'")
    try:
        done = cli("search", "x", "--user", who)
        assert done.code == 1
        assert "OPENAI_API_KEY" in done.err
        assert cli("search", "x", "--user", who, "--no-embedding").code == 0
        assert cli("worker", "--until-idle").code == 1
        assert cli("worker", "--until-idle", "--no-embedding").code == 0
        assert cli("doctor", "--json").json["status"] == "warn"
    finally:
        db.execute("update recall.settings set embedding_model = 'local'")


def test_context_prints_messages_and_explains_memories(
    cli: Cli, who: str, tmp_path: Path, db: psycopg.Connection
) -> None:
    cli("import", lines(tmp_path / "m.jsonl", message(who, "Hello, it is me again")))
    cli("memories", "add", "Ada uses Vim as her editor.", "--user", who)
    done = cli("context", "Which editor do I use?", "--user", who, "--session", "s1", "--json")
    assert done.code == 0, done.err
    assert done.json["messages"][-1] == {"role": "user", "content": "Which editor do I use?"}
    assert "Vim" in json.dumps(done.json["messages"])
    assert done.json["budget"]["total"] <= done.json["budget"]["window"]
    assert "explain" not in done.json

    explained = cli("context", "Which editor?", "--user", who, "--explain", "--json").json
    assert [row["taken"] for row in explained["explain"]] == [True]
    done = cli("context", "Which editor?", "--user", who, "--explain")
    assert "Vim" in done.out
    assert "reason" in done.out
    none = cli("context", "Which editor?", "--user", who, "--memory-budget", "0", "--json").json
    assert none["memories"] == []
    # it only looks: nothing counts as used
    used = db.execute(
        "select count(*) from recall.memory_access_log where user_id = recall.user_id(%s)", (who,)
    ).fetchone()
    assert used == (0,)
    assert cli("context", "x", "--user", who, "--session", "no such").code == 1


# The worker


class Embeddings(BaseHTTPRequestHandler):
    """As much of an OpenAI-compatible server as an embedder needs."""

    keys: ClassVar[set[str | None]] = set()

    def do_POST(self) -> None:
        self.keys.add(self.headers["authorization"])
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        vectors = WordEmbedder().embed(request["input"])
        data = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        body = json.dumps({"object": "list", "model": "m", "data": data, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


def test_worker_command_embeds_with_the_endpoint_and_key_given(
    cli: Cli, who: str, tmp_path: Path, db: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-mine")
    endpoint = ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    db.execute("delete from recall.jobs")
    db.execute("update recall.settings set embedding_model = 'openai:mine'")
    try:
        said = message(who, "I live in Lyon and like it there")
        cli("import", lines(tmp_path / "m.jsonl", said), "--extraction", "verbatim")
        url = f"http://127.0.0.1:{endpoint.server_port}/v1"
        done = cli("worker", "--until-idle", "--base-url", url, "--api-key-env", "MY_KEY", "--json")
        assert done.code == 0, done.err
        assert done.json["done"] == {"extract": 1, "embed": 1}
        assert Embeddings.keys == {"Bearer sk-mine"}
    finally:
        endpoint.shutdown()
        endpoint.server_close()
        db.execute("update recall.settings set embedding_model = 'local'")


# The embedded server


@pytest.mark.invariants
@pytest.mark.slow
def test_demo_runs_twice_and_doubles_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From nothing to a context; a second time quickly, and nothing doubled."""
    assert _run(["demo"]) == 0
    first = capsys.readouterr().out
    for text in ("75 messages stored", "Ada lives in Porto.", '"role": "user"', "taken"):
        assert text in first
    started = time.monotonic()
    assert _run(["demo"]) == 0
    assert time.monotonic() - started < 15
    second = capsys.readouterr().out
    assert "0 messages stored, 75 were there" in second
    after = second.index("What is remembered")
    assert second[after:] == first[first.index("What is remembered") :]

    assert _run(["status", "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert (numbers["users"], numbers["messages"], numbers["extraction"]) == (3, 77, "verbatim")
    assert numbers["jobs"]["total"] == 0
    assert not EmbeddedServer(home).is_running


def test_demo_without_its_model_stores_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else find_spec(name)
    )
    users = cli("status", "--json").json["users"]
    done = cli("demo")
    assert done.code == 1
    assert "-m pip install" in done.err
    assert "[local]" in done.err
    assert cli("status", "--json").json["users"] == users


@pytest.mark.slow
def test_embedded_client_keeps_its_data_between_starts(home: Path) -> None:
    with AgentMemory.embedded(home, embedder=False) as memory:
        info = memory.admin.info()
        assert (info.embedding_model, info.embedding_dimensions) == ("local", 384)
        assert info.extraction == "verbatim"
        memory.session(user="ada", model="gpt-4o-mini").append(user="hello")
    assert not EmbeddedServer(home).is_running
    with AgentMemory.embedded(home, embedder=False) as memory:
        assert [s.turn_count for s in memory.sessions.list("ada")] == [1]


@pytest.mark.slow
def test_install_without_a_dsn_uses_the_embedded_server(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(["install", "--json"]) == 0
    installed = json.loads(capsys.readouterr().out)
    assert installed["embedding_model"] == "local"
    assert installed["extraction"] == "verbatim"


def test_tick_runs_due_maintenance_and_names_failed_tasks(cli: Cli, local: str) -> None:
    with psycopg.connect(local, autocommit=True) as conn:
        conn.execute("update recall.maintenance_tasks set last_run_at = null")
        done = cli("tick", "--json")
        assert done.code == 0
        tasks = {task["task"]: task for task in done.json["tasks"]}
        assert {"flush_access_log", "ensure_partitions"} <= set(tasks)
        assert tasks["flush_access_log"] | {"ms": 0} == {
            "task": "flush_access_log", "done": 0, "ms": 0, "more": False,
        }  # fmt: skip
        again = cli("tick")
        assert (again.code, again.out, again.err.strip()) == (0, "", "nothing is due")
        conn.execute(
            "insert into recall.maintenance_tasks (task, schedule, period, batch_size, budget)"
            " values ('nonsense', '* * * * *', '1 minute', 1, '1 s')"
        )
        failed = cli("tick")
        assert failed.code == 1
        assert "failed: function recall.nonsense(p_limit => integer) does not exist" in failed.out
        conn.execute("delete from recall.maintenance_tasks where task = 'nonsense'")


def test_export_and_import_user_move_a_user(cli: Cli, who: str, tmp_path: Path) -> None:
    cli("memories", "add", "I like tea", "--user", who, "--no-embedding")
    file = tmp_path / "user.json"
    exported = cli("export", "--user", who, "--output", str(file), "--json").json
    assert exported["counts"]["memory_store"] == 1
    assert file.stat().st_mode & 0o077 == 0
    assert cli("export", "--user", who).json["format"] == "pgrecall-user"

    receipt = cli("forget", "--user", who, "--yes", "--json").json
    assert receipt["counts"]["memory_store"] == 1
    assert cli("memories", "list", "--user", who, "--json").json == []

    assert cli("import-user", str(file), "--json").json["counts"]["memory_store"] == 1
    (found,) = cli("memories", "list", "--user", who, "--json").json
    assert found["content"] == "I like tea"
    assert cli("import-user", str(file)).code == 0


def test_large_user_is_a_file_of_several_lines(
    cli: Cli, local: str, who: str, tmp_path: Path
) -> None:
    memory = AgentMemory.connect(local, embedder=False)
    with memory, memory.session(user=who, model="gpt-4o-mini") as session:
        for _ in range(20):
            session.append(user="long " * 190_000)
    file, indented = tmp_path / "big.json", tmp_path / "indented.json"
    exported = cli("export", "--user", who, "--output", str(file), "--json").json
    assert exported["counts"]["conversation_history"] == 20
    pieces = [json.loads(line) for line in file.read_bytes().splitlines()]
    assert [piece["piece"] for piece in pieces] == [1, 2]

    cli("forget", "--user", who, "--yes")
    file.write_text(json.dumps(pieces[0]))
    assert "the last piece of the import" in cli("import-user", str(file)).err
    assert cli("export", "--user", who).code == 1
    file.write_text("\n".join(map(json.dumps, pieces)))
    imported = cli("import-user", str(file), "--json").json
    assert imported["counts"]["conversation_history"] == 20

    with memory:
        indented.write_text(json.dumps(memory.privacy.export_user(who), indent=2))
    assert cli("import-user", str(indented)).code == 0, "as release 0.1.0 wrote it to a pipe"


def test_commands_say_that_a_user_is_unknown(cli: Cli, who: str, db: psycopg.Connection) -> None:
    said = f"there is no user {who}"
    for command in (
        ["search", "x"], ["search", "x", "--messages"], ["search", "x", "--sessions"],
        ["memories", "list"], ["memories", "review"], ["memories", "disputes"], ["calls", "list"],
    ):  # fmt: skip
        done = cli(*command, "--user", who, "--json")
        assert (done.code, done.json, done.err.strip()) == (0, [], said), command
    for command in (["export"], ["verify"]):
        done = cli(*command, "--user", who)
        assert (done.code, "there is no user" in done.err) == (1, True), command

    db.execute("insert into recall.system_prompts"
               " values (sha256('x'), 'unused', 1, now(), now() - interval '1 year')")  # fmt: skip
    done = cli("forget", "--user", who, "--yes")
    assert (done.code, done.out) == (1, "")
    assert said in done.err
    done = cli("forget", "--user", who, "--yes", "--json")
    assert (done.code, done.json["counts"]["users"]) == (1, 0)

    cli("memories", "add", "I like tea", "--user", who, "--no-embedding")
    assert cli("search", "xyzzy", "--user", who, "--sessions").err == ""
    done = cli("forget", "--user", who, "--yes")
    assert (done.code, "forgotten" in done.out) == (0, True)


def test_verify_reports_a_changed_memory(cli: Cli, local: str, who: str, tmp_path: Path) -> None:
    cli("memories", "add", "I like tea", "--user", who, "--no-embedding")
    head = tmp_path / "head.json"
    intact = cli("verify", "--user", who, "--save-head", str(head))
    assert (intact.code, intact.out, intact.err.strip()) == (0, "", f"intact: {who}")
    kept = cli("verify", "--user", who, "--head", str(head), "--json")
    assert (kept.code, kept.json["findings"], kept.json["head"]) == (0, [], None)

    with psycopg.connect(local, autocommit=True) as conn:
        conn.execute(
            "update recall.memory_store set content = 'I like coffee' where user_id ="
            " recall.user_id(%s)",
            [who],
        )
    changed = cli("verify", "--user", who, "--head", str(head), "--save-head", str(head), "--json")
    assert changed.code == 1
    assert [row["finding"] for row in changed.json["findings"]] == ["memory_changed"]
    assert "memory_changed" in cli("verify", "--user", who).out
    head.write_text("[]")
    assert "is no head of an audit" in cli("verify", "--user", who, "--head", str(head)).err


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"user_id": "x", "format": "y"}'])
def test_import_user_refuses_a_malformed_document(cli: Cli, tmp_path: Path, text: str) -> None:
    file = tmp_path / "user.json"
    file.write_text(text)
    done = cli("import-user", str(file))
    assert done.code == 1
    assert "Traceback" not in done.err


def test_export_of_an_unknown_user_exits_with_1(cli: Cli, who: str) -> None:
    done = cli("export", "--user", who)
    assert (done.code, "there is no user" in done.err) == (1, True)


# Encrypted users


def key_file(path: Path, **keys: int) -> str:
    """Write key encryption keys, each of one byte repeated; return the file's name."""
    path.touch(mode=0o600)
    path.write_text(
        "".join(
            f"{name}:{base64.b64encode(bytes([n]) * 32).decode()}\n" for name, n in keys.items()
        )
    )
    return str(path)


@pytest.fixture
def with_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Say which wrapping keys the commands have from now on, the current one first."""

    def say(**keys: int) -> None:
        monkeypatch.setenv("PGRECALL_WRAPPING_KEY_FILE", key_file(tmp_path / "keys", **keys))

    return say


def stored(db: psycopg.Connection, who: str) -> str:
    """Return what the database has of a user, whatever it is."""
    query = "select recall.export_user(recall.user_id(%s)) -> 'tables'"
    return json.dumps(db.execute(query, [who]).fetchone())


def test_commands_serve_an_encrypted_user(
    cli: Cli, with_keys: Callable[..., None], who: str, tmp_path: Path, db: psycopg.Connection
) -> None:
    """From the first command to the last, and another user as before."""
    other = f"other {who}"
    with_keys(first=1)
    cli("memories", "add", "I like my zebrafish", "--user", other, "--no-embedding")
    made = cli("seal", "--user", who)
    assert (made.code, made.out, made.err.strip()) == (0, "", f"encrypted: {who}")
    again = cli("seal", "--user", who)
    assert (again.code, again.err.strip()) == (0, f"encrypted already: {who}")
    assert cli("seal", "--user", who, "--json").json["is_new"] is False

    said = lines(tmp_path / "said.jsonl", message(who, "I keep a zebrafish"))
    assert cli("import", said).code == 0
    facts = lines(tmp_path / "facts.jsonl", {"user": who, "content": "Keeps a zebrafish"})
    assert cli("import", "--facts", facts).code == 0
    assert "zebrafish" not in stored(db, who)
    assert "sealed:v1:1:" in stored(db, who)
    assert "zebrafish" in stored(db, other)
    (hit,) = cli("search", "zebrafish", "--user", who, "--no-embedding", "--json").json
    assert hit["content"] == "Keeps a zebrafish"

    rotated = cli("rotate-key", "--user", who, "--json").json
    assert rotated["rows"] > 2
    assert rotated["rewrapped_keys"] == 0
    assert "sealed:v1:1:" not in stored(db, who)
    with_keys(second=2, first=1)
    rewrapped = cli("rotate-key", "--user", who, "--wrapping-only")
    assert (rewrapped.code, rewrapped.err.strip()) == (
        0, "0 rows encrypted again, 1 keys rewrapped",
    )  # fmt: skip
    with_keys(second=2)
    (found,) = cli("memories", "list", "--user", who, "--json").json
    assert found["content"] == "Keeps a zebrafish"
    (kept,) = cli("memories", "list", "--user", other, "--json").json
    assert kept["content"] == "I like my zebrafish"
    assert cli("forget", "--user", who, "--yes", "--json").json["counts"]["user_keys"] == 1


def test_seal_with_another_choice_of_vectors_is_refused(
    cli: Cli, with_keys: Callable[..., None], who: str
) -> None:
    """That is chosen once; a repeat that wishes it otherwise is told."""
    with_keys(first=1)
    assert cli("seal", "--user", who, "--vectors").code == 0
    assert cli("seal", "--user", who, "--vectors", "--json").json["is_new"] is False
    done = cli("seal", "--user", who)
    assert (done.code, "was encrypted with vectors" in done.err) == (1, True)
    cli("seal", "--user", f"other {who}")
    done = cli("seal", "--user", f"other {who}", "--vectors", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "RC006")
    assert "was encrypted without vectors" in done.err


def test_missing_or_wrong_keys_are_reported_and_change_nothing(
    cli: Cli,
    with_keys: Callable[..., None],
    who: str,
    monkeypatch: pytest.MonkeyPatch,
    db: psycopg.Connection,
) -> None:
    """None, of another name, another of the same name, of no use: each is said, nothing changes."""
    with_keys(first=1)
    cli("seal", "--user", who)
    cli("memories", "add", "I like tea", "--user", who, "--no-embedding")
    before = stored(db, who)
    calls = (
        ["seal", "--user", who],
        ["rotate-key", "--user", who],
        ["rotate-key", "--user", who, "--wrapping-only"],
        ["memories", "list", "--user", who],
        ["memories", "add", "I like milk", "--user", who, "--no-embedding"],
    )
    for keys, words in (
        ({"second": 2}, "this driver has no key encryption key 'first'"),
        ({"first": 2}, "key encryption key 'first' did not wrap the data keys of this user"),
    ):
        with_keys(**keys)
        for arguments in calls:
            done = cli(*arguments)
            assert (done.code, done.out, words in done.err) == (1, "", True), (arguments, done)
    for text, words in (("first:nonsense", "is not 32 bytes long"), ("first:!", "is not base64")):
        Path(os.environ["PGRECALL_WRAPPING_KEY_FILE"]).write_text(text)
        done = cli("seal", "--user", who)
        assert (done.code, words in done.err, "openssl rand" in done.err) == (1, True, True), done
    monkeypatch.setenv("PGRECALL_WRAPPING_KEY_FILE", "/no/such/file")
    assert "the file of key encryption keys cannot be read" in cli("seal", "--user", who).err
    monkeypatch.delenv("PGRECALL_WRAPPING_KEY_FILE")
    for arguments in (*calls[:4], ["seal", "--user", f"new {who}"]):
        done = cli(*arguments)
        assert (done.code, "PGRECALL_WRAPPING_KEY_FILE" in done.err) == (1, True), (arguments, done)
    assert "accepts no plaintext" in cli(*calls[4]).err
    assert stored(db, who) == before
    assert db.execute(
        "select from recall.users where user_id = recall.user_id(%s)", [f"new {who}"]
    ).fetchall() == []  # fmt: skip


def test_rotate_key_of_all_users_rewraps_all_but_unknown_keys(
    cli: Cli, with_keys: Callable[..., None], who: str, db: psycopg.Connection
) -> None:
    """A user under an unknown key keeps it and is named; all others are rewrapped."""
    db.execute("delete from recall.user_keys")  # of other tests
    arguments = ("rotate-key", "--all", "--wrapping-only")
    for name, keys in (("a", {"first": 1}), ("b", {"first": 1}), ("c", {"lost": 3})):
        with_keys(**keys)
        cli("seal", "--user", f"{name} {who}")
    with_keys(first=1)
    cli("memories", "add", "I like tea", "--user", f"a {who}", "--no-embedding")
    left = "select recall.list_sealed_users('second')::text = recall.user_id(%s)::text"
    with_keys(second=2, first=1)
    failed = cli(*arguments)
    assert (failed.code, "keys of 1 users stay" in failed.err) == (1, True), failed
    assert "this driver has no key encryption key 'lost'" in failed.err
    assert db.execute(left, [f"c {who}"]).fetchall() == [(True,)]
    with_keys(second=2, lost=3)
    assert cli(*arguments, "--json").json == {"rows": 0, "rewrapped_keys": 1}
    assert cli(*arguments, "--json").json == {"rows": 0, "rewrapped_keys": 0}
    assert db.execute(left, [f"c {who}"]).fetchall() == []
    with_keys(second=2)
    (found,) = cli("memories", "list", "--user", f"a {who}", "--json").json
    assert found["content"] == "I like tea"
    for wrong in (["--all"], ["--wrapping-only"], ["--user", who, "--all", "--wrapping-only"]):
        assert cli("rotate-key", *wrong).code == 2


def test_seal_refuses_a_user_with_data(
    cli: Cli, with_keys: Callable[..., None], who: str, db: psycopg.Connection
) -> None:
    with_keys(first=1)
    cli("memories", "add", "I like tea", "--user", who, "--no-embedding")
    before = stored(db, who)
    done = cli("seal", "--user", who, "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "RC006")
    assert "already has data, which would stay plaintext" in done.err
    for arguments in (["rotate-key"], ["rotate-key", "--wrapping-only"]):
        done = cli(*arguments, "--user", who)
        assert (done.code, "is not encrypted" in done.err) == (1, True)
    assert stored(db, who) == before


# --- roles


def test_roles_lists_the_members_of_each_role(cli: Cli, db: psycopg.Connection) -> None:
    reader = our_role(db, "recall_reader")
    with login_role(db, member_of=["recall_reader"]) as login:
        done = cli("roles", "--json")
        assert done.code == 0, done.out
        found = {role["role"]: role for role in done.json}
        assert found[reader]["members"] == [login["user"]]
        assert not found[reader]["owns_schema"]
        assert [role for role in found if found[role]["owns_schema"]] == [
            our_role(db, "recall_owner")
        ]
        statements = cli("roles", "--sql").out
        assert f"create role {reader} nologin" in statements
        assert f"grant {reader} to {login['user']} with admin false" in statements


def test_id_of_a_name_is_an_id_for_the_operator(cli: Cli, tmp_path: Path) -> None:
    """The commands print ids; a name in a file is no id."""
    ada = f"ada-{uuid.uuid4()}"
    line = {"session": "diary", "role": "user", "content": "I like tea very much indeed."}
    messages = tmp_path / "messages.jsonl"
    messages.write_text(json.dumps({"user": ada, **line}))
    assert cli("import", messages, "--no-embedding").code == 0
    assert cli("memories", "add", "Likes tea", "--user", ada, "--no-embedding").code == 0
    with AgentMemory.connect(os.environ["PGRECALL_DSN"], embedder=False) as memory:
        user = memory.users.id(ada)
        session = memory.sessions.list(ada)[0].session_id
    for name in (ada, user, str(user).upper()):
        [found] = cli("memories", "list", "--user", name, "--json").json
        assert found["content"] == "Likes tea"
        for chosen in ("diary", session):
            done = cli("context", "tea?", "--user", name, "--session", chosen, "--no-embedding")
            assert (done.code, "very much indeed" in done.out) == (0, True), done.err
    messages.write_text(json.dumps({"user": str(user), **line}))
    done = cli("import", messages, "--no-embedding")
    assert (done.code != 0, f"{user} is a UUID of version 8" in done.err) == (True, True)
    messages.write_text(json.dumps({"user": ada, **line, "session": str(session)}))
    done = cli("import", messages, "--no-embedding")
    assert (done.code != 0, f"{session} is a UUID of version 5" in done.err) == (True, True)
