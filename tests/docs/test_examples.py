"""The programs of examples/ in Python, at the scripted server; test_example_node.py has Node's."""

from __future__ import annotations

import ast
import asyncio
import base64
import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import psycopg
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from pgrecall import AgentMemory
from support import rows
from support.scripted_model import Script, fact
from support.scripted_openai import Request, ScriptedOpenAI, calls

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RECIPES = sorted((EXAMPLES / "recipes").glob("*.py"))
TOLD, FOUND = "I switched to SQLite", "User uses SQLite."


@pytest.fixture
def user() -> str:
    return f"ada-{uuid.uuid4()}"


@pytest.fixture
def prompts(openai: ScriptedOpenAI, script: Script) -> list[str]:
    """Requests to the chat model; the worker's model answers by the script."""
    script.facts = {TOLD: [fact(FOUND)]}
    sent: list[str] = []

    def respond(request: Request) -> Any:
        if not request["messages"][0]["content"].startswith("You are a"):
            return script(request)
        sent.append(json.dumps(request["messages"]))
        return "SQLite." if FOUND in sent[-1] else "Noted."

    openai.respond = respond
    return sent


def run(
    program: str, *arguments: str, dsn: str, openai: ScriptedOpenAI, typed: str = "", **more: str
) -> str:
    """Run an example; return what it printed."""
    environment = {**os.environ, "PGRECALL_DSN": dsn, "OPENAI_BASE_URL": openai.base_url,
                   "OPENAI_API_KEY": "x", "COLUMNS": "100", **more}  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / program), *arguments], check=False, capture_output=True,
        text=True, input=typed, env=environment, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_chatbot_remembers_across_conversations(
    model_dsn: str, openai: ScriptedOpenAI, prompts: list[str], user: str
) -> None:
    first = run("chatbot.py", user, dsn=model_dsn, openai=openai, typed=f"{TOLD}\n\nAnd so on\n")
    assert first == "Noted.\nNoted.\n"
    second = run("chatbot.py", user, dsn=model_dsn, openai=openai, typed="What do I use?\n")
    assert second == "SQLite.\n"
    stranger = run("chatbot.py", f"{user}2", dsn=model_dsn, openai=openai, typed="What do I use?\n")
    assert stranger == "Noted.\n"
    assert len(prompts) == 4


@pytest.mark.slow
def test_support_agent_stores_ciphertext_and_erases(
    model_dsn: str, openai: ScriptedOpenAI, script: Script, user: str, tmp_path: Path,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    keys = tmp_path / "keys"
    keys.write_text(f"first:{base64.b64encode(os.urandom(32)).decode()}\n", encoding="utf-8")
    keys.chmod(0o600)
    sealed = {"PGRECALL_WRAPPING_KEY_FILE": str(keys), "PGRECALL_SEALED": "require"}
    script.facts = {TOLD: [fact(FOUND)]}

    def respond(request: Request) -> Any:
        messages = request["messages"]
        if not messages[0]["content"].startswith("You are a"):
            return script(request)
        if messages[-1]["role"] == "user" and "What" in messages[-1]["content"]:
            return calls(("search_memories", {"query": "SQLite"}))
        return "SQLite." if FOUND in json.dumps(messages) else "Noted."

    openai.respond = respond
    opened = run("support_agent.py", "open", user, TOLD, dsn=model_dsn, openai=openai, **sealed)
    assert opened == "Noted.\n"
    stored = rows(db, "select content from recall.memory_store where user_id = recall.user_id(%s)"
                      " union all select content from recall.conversation_history"
                      " where user_id = recall.user_id(%s)", [user, user])  # fmt: skip
    assert len(stored) >= 3
    assert "SQLite" not in str(stored)
    question = ("ask", user, "What do I use?")
    assert run("support_agent.py", *question, dsn=model_dsn, openai=openai, **sealed) == "SQLite.\n"
    assert "memory_store" in run("support_agent.py", "erase", user, dsn=model_dsn, openai=openai,
                                 **sealed)  # fmt: skip
    left = "select count(*) as n from recall.memory_store where user_id = recall.user_id(%s)"
    assert rows(db, left, [user]) == [{"n": 0}]


@pytest.mark.slow
def test_budget_draws_parts_that_fill_the_window(
    model_dsn: str, openai: ScriptedOpenAI, db: psycopg.Connection
) -> None:
    drawn = run("budget.py", dsn=model_dsn, openai=openai)
    windows = re.findall(r"window of ([\d,]+) tokens", drawn)
    assert windows == ["2,000", "4,000", "16,000"]
    for size, part in zip(windows, drawn.split("window of ")[1:], strict=True):
        parts = "system|memory|recalled|summary|history|response|free"
        found = re.findall(rf"^ *(?:{parts}) +([\d,]+)", part, re.MULTILINE)
        tokens = [int(number.replace(",", "")) for number in found]
        assert len(tokens) == 7
        assert sum(tokens) == pytest.approx(int(size.replace(",", "")), rel=0.05)
    shown = [int(number) for number in re.findall(r"(\d+) memories shown", drawn)]
    assert 0 < shown[0] <= shown[1] <= shown[2]
    query = "select count(*) as n from recall.users where external_id like 'budget-%%'"
    assert rows(db, query) == [{"n": 0}]


@pytest.mark.slow
def test_mcp_configuration_starts_a_server(
    model_dsn: str, openai: ScriptedOpenAI, user: str
) -> None:
    config = json.loads((EXAMPLES / "mcp" / "claude_desktop_config.json").read_text("utf-8"))
    server = config["mcpServers"]["memory"]
    assert server["args"] == ["mcp", "--user", "ada"]
    assert server["env"].keys() == {"PGRECALL_DSN"}
    with AgentMemory.connect(model_dsn, embedder=False) as memory:
        memory.remember(user, "User likes tea")
    started = StdioServerParameters(
        command=str(Path(sys.executable).parent / server["command"]),
        args=["mcp", "--user", user],
        env={"PGRECALL_DSN": model_dsn, "OPENAI_BASE_URL": openai.base_url,
             "OPENAI_API_KEY": "x"},
    )  # fmt: skip

    async def main() -> str:
        async with stdio_client(started) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return str(await session.call_tool("search_memories", {"query": "tea"}))

    assert "User likes tea" in asyncio.run(main())


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_recipe_is_short_and_names_its_packages(recipe: Path) -> None:
    """`make recipes` runs them: each framework has an environment of its own."""
    text = recipe.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    doc = ast.get_docstring(ast.parse(text)) or ""
    assert re.search(r"^ +pip install \S", doc, re.MULTILINE)
    assert f"python {recipe.name} ada" in doc
    assert len(RECIPES) == 5
