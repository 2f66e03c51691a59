"""The agents of examples/ remember across sessions, at the scripted server."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from pgrecall import AgentMemory
from support.scripted_model import Script, fact, work
from support.scripted_openai import ScriptedOpenAI

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name: str, dsn: str, openai: ScriptedOpenAI, *arguments: str) -> str:
    """Run an example in a process of its own, and return what it prints."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        env={**os.environ, "PGRECALL_DSN": dsn, "OPENAI_BASE_URL": openai.base_url,
             "OPENAI_API_KEY": "x"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["agents_sdk.py", "langgraph_agent.py"])
def test_agent_remembers_across_sessions(
    name: str, memory: AgentMemory, model_dsn: str, openai: ScriptedOpenAI, script: Script
) -> None:
    user = f"ada-{uuid.uuid4()}"
    said, known = "I am allergic to peanuts.", "User is allergic to peanuts."
    script.facts[said] = [fact(known)]

    def ask(session: str, question: str, answer: str) -> list[dict[str, Any]]:
        openai.forget()
        openai.then(answer)
        assert run(name, model_dsn, openai, user, session, question) == answer
        messages: list[dict[str, Any]] = openai.chats[0]["messages"]
        return messages

    first = ask("monday", said, "Noted.")
    assert known not in str(first)
    assert first[-1]["content"] == said
    # the same session has its messages
    assert [one["content"] for one in ask("monday", "Thanks.", "Welcome.")][-3:] == [
        said, "Noted.", "Thanks.",
    ]  # fmt: skip
    for session in memory.sessions.list(user):
        memory.session(user=user, session_id=session.session_id).close()
    work(memory)
    # another session has the memory, and none of the messages
    again = ask("friday", "Are peanuts fine?", "No, you are allergic.")
    assert known in str(again[0])
    assert len(again) == 2
    # another user has nothing
    user = f"bob-{uuid.uuid4()}"
    assert known not in str(ask("friday", "Are peanuts fine?", "Yes."))
