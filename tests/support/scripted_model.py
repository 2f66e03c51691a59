"""A language model that answers by the book, for tests of the pipeline over real HTTP.

A plugin of tests/conftest.py: its fixtures are there for every module.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory, ChatSession, ModelSettings
from pgrecall._report import WorkerReport
from pgrecall.models import OpenAIEmbedder
from support import verified
from support.scripted_openai import Request, Scripted, ScriptedOpenAI, scripted_openai
from support.servers import DIMENSIONS

PROMPTS = {
    path.stem: path.read_text(encoding="utf-8").partition("$prompt$\n")[2].partition("\n")[0]
    for path in (Path(__file__).parents[2] / "sql" / "prompts").glob("*.sql")
}
"""The first line of each step's prompt."""

MODEL = "gpt-4o-mini"
CANDIDATE = re.compile(r"^(\d+)\. (.*) \(\w+\)$")
NEIGHBOR = re.compile(r"^   (\d+)\) (.*) \(\w+, [\d-]+\)$")
NUMBERED = re.compile(r"^(\d+)\. (.*) \([\d-]+\)$", re.MULTILINE)
TURN = re.compile(r"^\[(\d+)\] (\w+): (.*)$")


@dataclass
class Script:
    """A model that answers by the book.

    Attributes:
        facts: what it finds in a text of the user.
        episodes: what it says of the exchange that begins with a text.
        decisions: what it decides of a candidate, and the memory that it means.
        merges: what it writes in the place of some memories.
        unsupported: merged texts that it finds unfaithful when it is asked to verify them.
        pattern: what it sees in episodes of which one is named here, and what solved that.
    """

    facts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    episodes: dict[str, str] = field(default_factory=dict)
    decisions: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    merges: dict[str, list[str]] = field(default_factory=dict)
    unsupported: set[str] = field(default_factory=set)
    pattern: tuple[str, dict[str, str]] | None = None

    def __call__(self, request: Request) -> Scripted:
        data = request["messages"][1]["content"]
        return {
            "extract": self._extract,
            "consolidate": self._consolidate,
            "summarize": self._summarize,
            "compact": self._summarize,
            "merge": self._merge,
            "pattern": self._pattern,
            "verify": self._verify,
        }[step_of(request)](data)

    def _extract(self, data: str) -> Scripted:
        found: dict[str, list[Any]] = {"facts": [], "episodes": []}
        for line in data.splitlines():
            turn = TURN.match(line)
            if turn is None or turn[2] != "user":
                continue
            number, said = int(turn[1]), turn[3]
            found["facts"] += [{**item, "turns": [number]} for item in self.facts.get(said, ())]
            if said in self.episodes:
                found["episodes"].append(
                    {"content": self.episodes[said], "turns": [number, number + 1]}
                )
        return found

    def _consolidate(self, data: str) -> Scripted:
        decisions: list[dict[str, Any]] = []
        wanted: str | None = None
        for line in data.splitlines():
            if candidate := CANDIDATE.match(line):
                verb, wanted = self.decisions[candidate[2]]
                decisions.append({"candidate": int(candidate[1]), "decision": verb, "target": None})
            elif (neighbor := NEIGHBOR.match(line)) and neighbor[2] == wanted:
                decisions[-1]["target"] = int(neighbor[1])
        return {"decisions": decisions}

    def _merge(self, data: str) -> Scripted:
        shown = {text: int(number) for number, text in NUMBERED.findall(data)}
        merges = [
            {"content": content, "parts": [shown[part] for part in parts]}
            for content, parts in self.merges.items()
            if shown.keys() >= {*parts}
        ]
        return {"merges": merges}

    def _verify(self, data: str) -> Scripted:
        return verified(data, self.unsupported)

    def _pattern(self, data: str) -> Scripted:
        said, solved = self.pattern or (None, {})
        solutions = [
            {"episode": int(number), "solution": solved[text]}
            for number, text in NUMBERED.findall(data)
            if text in solved
        ]
        return {"pattern": said if solutions else None, "solutions": solutions, "tags": []}

    def _summarize(self, data: str) -> Scripted:
        before = re.search(r"<summary>\n(.*)\n</summary>", data, re.DOTALL)
        said = [turn[3] for line in data.splitlines() if (turn := TURN.match(line))
                and turn[2] == "user"]  # fmt: skip
        text = f"{len(said)} messages of the user, the last: {said[-1][:40]}"
        return {"summary": f"{before[1]}; {text}" if before else text}


def step_of(request: Request) -> str:
    """Return the step whose prompt a request carries."""
    instructions = request["messages"][0]["content"]
    return next(step for step, line in PROMPTS.items() if instructions.startswith(line))


def asked(openai: ScriptedOpenAI) -> list[str]:
    """Return the steps that asked, in order."""
    return [step_of(request) for request in openai.chats]


def fact(content: str, **more: Any) -> dict[str, Any]:
    """Return a fact as the first pass answers it."""
    return {
        "content": content, "kind": "fact", "slot": None, "importance": 0.6, "confidence": "high",
        "correction": False, "tags": [],
    } | more  # fmt: skip


def embedder(openai: ScriptedOpenAI) -> OpenAIEmbedder:
    """Return an embedder at the scripted server: texts that share words are similar."""
    return OpenAIEmbedder(
        "words", base_url=openai.base_url, api_key="x", dimensions=DIMENSIONS
    )  # fmt: skip


def model(openai: ScriptedOpenAI, **more: Any) -> ModelSettings:
    """Return the settings of a model at the scripted server."""
    settings: dict[str, Any] = {"model": MODEL, "base_url": openai.base_url, "max_retries": 0}
    return ModelSettings(**settings | more)


def talk(
    memory: AgentMemory, user: uuid.UUID, said: Sequence[str], *, close: bool = True
) -> ChatSession:
    """A session of these messages, which ends unless told otherwise."""
    chat = memory.session(user=user, model=MODEL)
    for text in said:
        chat.append(user=text, reply="I see.")
    if close:
        chat.close()
    return chat


def work(memory: AgentMemory, **more: Any) -> WorkerReport:
    """Work until nothing is due; nothing may fail."""
    report = memory.worker(**more).run_until_idle()
    assert (report.failed, report.lost) == ({}, 0), report.last_error
    return report


@pytest.fixture(scope="module")
def model_dsn(dsn: str) -> str:
    """The module's database, set up for a model and for vectors of words."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("select recall.configure(%s)", [Jsonb({"extraction": "llm"})])
        conn.execute("update recall.settings set embedding_model = 'openai:words'")
    return dsn


@pytest.fixture
def script() -> Script:
    """The answers of the scripted model."""
    return Script()


@pytest.fixture
def openai(script: Script) -> Iterator[ScriptedOpenAI]:
    """The server of the scripted model."""
    with scripted_openai(respond=script) as running:
        yield running


@pytest.fixture
def scripted_memory(model_dsn: str, openai: ScriptedOpenAI) -> Iterator[AgentMemory]:
    """A client whose workers and sessions use the scripted model."""
    with AgentMemory.connect(model_dsn, embedder=embedder(openai), llm=model(openai)) as memory:
        yield memory


@pytest.fixture
def memory(scripted_memory: AgentMemory) -> AgentMemory:
    return scripted_memory
