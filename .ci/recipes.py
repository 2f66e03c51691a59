"""Run the recipes of examples/recipes against their frameworks: `recipes.py [NAME …]`.

Each framework is installed into a virtual environment of its own in .cache/recipes, as the recipe's
first lines say. A scripted model plays two users: one tells an allergy, and both ask about it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg

from catalog import installed
from pgrecall import AgentMemory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.scripted_openai import (  # type: ignore[import-not-found]  # noqa: E402
    Request,
    calls,
    scripted_openai,
)

RECIPES = ROOT / "examples" / "recipes"
CACHE = ROOT / ".cache" / "recipes"
TOLD, ASKED = "I am allergic to peanuts.", "What must I not eat?"
DIMENSIONS = 1536  # of the default embedding model


def main(names: list[str]) -> int:
    """Run the recipes, say of each whether it passed, and return the number of failures."""
    failures = 0
    for path in sorted(RECIPES.glob("*.py")):
        if names and path.stem not in names:
            continue
        problem = tried(path)
        failures += problem is not None
        print(f"{path.stem:20} {problem or 'passed'}", flush=True)
    return failures


def python_of(path: Path) -> Path:
    """Return the interpreter that has a recipe's packages, installed at the first run."""
    said = path.read_text(encoding="utf-8")
    packages = re.findall(r"^    pip install (.*)$", said, re.MULTILINE)[0].replace("'", "").split()
    folder = CACHE / path.stem
    stamp = folder / "installed"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != " ".join(packages):
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        editable = [str(ROOT) if name == "pgrecall" else name for name in packages]
        pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        if "pgrecall" in packages:
            pip.append("--editable")  # the first package, which is ours
        subprocess.run([*pip, *editable], check=True)
        stamp.write_text(" ".join(packages), encoding="utf-8")
    return folder / "bin" / "python"


def tried(path: Path) -> str | None:
    """Return what was wrong with a recipe, None if nothing was."""
    python = python_of(path)
    with installed() as dsn, scripted_openai(respond=answer, dimensions=DIMENSIONS) as openai:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute('select recall.configure(\'{"extraction": "verbatim"}\')')
        environment = {
            **os.environ,
            "PGRECALL_DSN": dsn,
            "OPENAI_BASE_URL": openai.base_url,
            "OPENAI_API_KEY": "x",
            "CREWAI_DISABLE_TELEMETRY": "true",
            "CREWAI_STORAGE_DIR": str(CACHE / "storage"),
            "OTEL_SDK_DISABLED": "true",
            # `pgrecall mcp` is that of this environment
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }

        def said(user: str, message: str) -> str:
            done = subprocess.run(
                [str(python), str(path), user, message], check=False, capture_output=True,
                text=True, env=environment, timeout=180,
            )  # fmt: skip
            return done.stdout.strip() if done.returncode == 0 else done.stderr[-2000:]

        os.environ |= {"OPENAI_BASE_URL": openai.base_url, "OPENAI_API_KEY": "x"}
        with AgentMemory.connect(dsn) as memory:
            first = said("ada", TOLD)
            memory.worker().run_until_idle(flush=True)
            second, stranger = said("ada", ASKED), said("bob", ASKED)
            kept = [one.content for one in memory.memories.list("ada")]
    if "Noted." not in first:
        return f"answered {first!r}"
    if not any("peanuts" in content for content in kept):
        return f"remembers {kept}"
    if "Peanuts." not in second:
        return f"answered {second!r} to the same user"
    if "I do not know." not in stranger or "peanuts" in stranger.lower():
        return f"answered {stranger!r} to another user"
    return None


def answer(request: Request) -> Any:
    """Answer as a model: with tools it remembers and searches first."""
    messages = request["messages"]
    tools = {tool["function"]["name"] for tool in request.get("tools") or ()}
    is_answered = any(message["role"] == "tool" for message in messages)
    spoken = [message for message in messages if message["role"] == "user"][-1]
    question = spoken["content"] if isinstance(spoken["content"], str) else str(spoken["content"])
    for name in sorted(tools):
        if is_answered:
            break
        if name.endswith("remember") and TOLD in question:
            properties = next(
                tool["function"]["parameters"]["properties"]
                for tool in request["tools"]
                if tool["function"]["name"] == name
            )
            given = {"content": "User is allergic to peanuts.", "user_words": TOLD}
            given["sentence"] = given["content"]
            return calls((name, {key: given[key] for key in properties if key in given}))
        if name.endswith("search_memories") and ASKED in question:
            return calls((name, {"query": "What is the user allergic to?"}))
    if TOLD in question:
        return "Noted."
    return "Peanuts." if "peanuts" in json.dumps(messages[:-1] if tools and not is_answered
                                                else messages) else "I do not know."  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
