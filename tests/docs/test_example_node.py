"""The typed client and the chat of examples/node, at the scripted server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from support import call, login_role, rows
from support.scripted_model import Script, fact
from support.scripted_openai import Request, ScriptedOpenAI
from support.servers import url

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed"),
]

NODE = Path(__file__).resolve().parents[2] / "examples" / "node"
FOUND = "User switched to SQLite."
NO_WORKER = "append|search|bigint|vectors|SQLSTATE|join"


@pytest.fixture(scope="module")
def built() -> None:
    """The examples, checked for types and compiled."""
    assert (NODE / "node_modules").is_dir(), "run make setup"
    done = subprocess.run(["npm", "run", "--silent", "build"], cwd=NODE, check=False,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(autouse=True)
def _answers(script: Script, db: psycopg.Connection) -> None:
    db.execute("update recall.maintenance_tasks set last_run_at = now()")
    script.facts = {"I switched to SQLite": [fact(FOUND)]}


def environment(dsn: str, openai: ScriptedOpenAI) -> dict[str, str]:
    worker = {"chat_model": "gpt-4o-mini", "embedding_model": "openai:words"}
    return {**os.environ, "PGRECALL_DSN": url(dsn), "OPENAI_BASE_URL": openai.base_url,
            "OPENAI_API_KEY": "x", "PGRECALL_WORKER": json.dumps(worker),
            "EMBEDDING_MODEL": "words", "EXPECTED_MEMORY": FOUND}  # fmt: skip


@pytest.mark.usefixtures("built")
def test_suite_of_the_typed_client_passes(model_dsn: str, openai: ScriptedOpenAI) -> None:
    done = subprocess.run(
        ["node", "--test", "build/recall.test.js"], cwd=NODE, check=False, capture_output=True,
        text=True, env=environment(model_dsn, openai), timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 8\n" in done.stdout


@pytest.mark.usefixtures("built")
def test_typed_client_names_the_user_of_each_call(
    model_dsn: str, openai: ScriptedOpenAI, db: psycopg.Connection
) -> None:
    """The login of an application, where require_identity is on."""
    call(db, "configure", p_changes={"require_identity": True})
    try:
        with login_role(db, member_of=["recall_writer"]) as login:
            done = subprocess.run(
                ["node", "--test", "--test-name-pattern", NO_WORKER,
                 "build/recall.test.js"],
                cwd=NODE, check=False, capture_output=True, text=True, timeout=120,
                env=environment(make_conninfo(model_dsn, **login), openai),
            )  # fmt: skip
    finally:
        call(db, "configure", p_changes={"require_identity": False})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 6\n" in done.stdout


@pytest.mark.usefixtures("built")
def test_chat_remembers_across_sessions_by_its_worker(
    model_dsn: str, openai: ScriptedOpenAI, script: Script, db: psycopg.Connection
) -> None:
    name = f"ada-{uuid.uuid4()}"
    contexts: list[str] = []

    def respond(request: Request) -> Any:
        if request["messages"][0]["content"].startswith("You are a helpful assistant."):
            contexts.append(json.dumps(request["messages"]))
            return f"Answer {len(contexts)}"
        return script(request)

    openai.respond = respond
    db.execute('select recall.configure(\'{"extract_after_idle": "1 ms"}\')')

    def chat(*lines: str, until_extracted: bool = False) -> tuple[str, str]:
        process = subprocess.Popen(
            ["node", "build/chat.js", name], cwd=NODE, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(model_dsn, openai),
        )  # fmt: skip
        assert process.stdin is not None
        for line in lines:
            process.stdin.write(f"{line}\n")
        process.stdin.flush()
        until = time.monotonic() + 30
        while until_extracted and time.monotonic() < until and not memories():
            time.sleep(0.2)
        printed, problems = process.communicate(timeout=60)
        assert process.returncode == 0, problems
        return printed, problems

    def memories() -> list[Any]:
        query = "select content from recall.memory_store where user_id = recall.user_id(%s)"
        return rows(db, query, [name])

    printed, _ = chat("I switched to SQLite", "", "And so on", until_extracted=True)
    assert printed == "Answer 1\nAnswer 2\n"
    assert memories() == [{"content": FOUND}]
    chat("What do I use?")
    assert FOUND not in contexts[0]
    assert FOUND in contexts[-1]
    sessions = call(db, "list_sessions", p_user_id=str(rows(
        db, "select recall.user_id(%s) as id", [name])[0]["id"]))  # fmt: skip
    assert [one["status"] for one in sessions] == ["closed", "closed"]
    assert [one["turn_count"] for one in sessions] == [2, 4]
