"""A turn of 200 tool calls in a window of 8,000 tokens, with a scripted model."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory, ChatSession, ModelSettings
from support import value
from support.fakes import MODEL as EMBEDDING_MODEL
from support.fakes import WordEmbedder
from support.scripted_model import PROMPTS
from support.scripted_openai import Request, Scripted, ScriptedOpenAI, calls, scripted_openai
from support.transcripts import MODEL, assert_valid, prompt_tokens

pytestmark = pytest.mark.slow

ROUNDS = 200
WINDOW, RESPONSE = 8000, 1000
TASK = "Count the red houses of the town, street by street. " + "Look closely. " * 20
RESULT = "There are seven houses, and some of them are red. " * 8
LOOK = {"type": "function", "function": {"name": "look", "parameters": {}}}


@pytest.fixture(scope="module")
def configured(dsn: str) -> str:
    with psycopg.connect(dsn, autocommit=True) as conn:
        settings = {"embedding_model": EMBEDDING_MODEL, "extraction": "none", "summaries": "llm",
                    "embed_messages": False}  # fmt: skip
        conn.execute("select recall.configure(%s)", [Jsonb(settings)])
    return dsn


class Agent:
    """A model that looks 200 times, and whose summaries say how many turns they were made of."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.is_compacted: list[bool] = []
        self.summaries = 0
        self.was_compacted = False

    def __call__(self, request: Request) -> Scripted:
        system = request["messages"][0]["content"] or ""
        if system.startswith((PROMPTS["compact"], PROMPTS["summarize"])):
            self.summaries += 1
            turns = len(re.findall(r"^\[\d+\]", request["messages"][1]["content"], re.MULTILINE))
            return {"summary": f"Summary {self.summaries} of {turns} turns"}
        self.requests.append(request)
        self.is_compacted.append(self.was_compacted)
        if len(self.requests) < ROUNDS:
            return calls(("look", {"street": len(self.requests)}))
        return "1,400 houses."


@pytest.fixture
def agent() -> Agent:
    return Agent()


@pytest.fixture
def openai(agent: Agent) -> Iterator[ScriptedOpenAI]:
    with scripted_openai(respond=agent) as running:
        yield running


@pytest.fixture
def memory(configured: str, openai: ScriptedOpenAI) -> Iterator[AgentMemory]:
    model = ModelSettings(model=MODEL, base_url=openai.base_url, api_key="x", max_retries=0)
    with AgentMemory.connect(configured, embedder=WordEmbedder(), llm=model) as memory:
        yield memory


@pytest.fixture
def chat(memory: AgentMemory, user: uuid.UUID) -> ChatSession:
    return memory.session(
        user=user, model=MODEL, system_prompt="You count.", context_window_size=WINDOW,
        max_response_tokens=RESPONSE,
    )  # fmt: skip


def compact(memory: AgentMemory, agent: Agent) -> None:
    report = memory.worker(kinds=["compact"]).run_until_idle()
    assert report.failed == {}, report.last_error
    agent.was_compacted = agent.was_compacted or report.done.get("compact", 0) > 0


def assert_requests(agent: Agent) -> None:
    """Each request holds the task, is valid, fits, and says what was summarized."""
    assert len(agent.requests) == ROUNDS
    assert agent.summaries > 2
    assert not agent.is_compacted[10]
    for number, (request, is_compacted) in enumerate(
        zip(agent.requests, agent.is_compacted, strict=True)
    ):
        messages = request["messages"]
        assert_valid(messages)
        assert prompt_tokens(messages) + RESPONSE <= WINDOW, number
        assert [m["content"] for m in messages if m["role"] == "user"] == [TASK], number
        if number:
            assert messages[-1]["role"] == "tool"
            assert json.loads(messages[-2]["tool_calls"][0]["function"]["arguments"]) == {
                "street": number
            }
        blocks = [m["content"] for m in messages if m["role"] == "system"]
        assert any("<summary>\nSummary" in block for block in blocks) == is_compacted, number


@pytest.mark.parametrize("layout", ["standard", "cache_stable"])
def test_a_loop_over_compiled_contexts_keeps_task_and_summary(
    memory: AgentMemory, chat: ChatSession, agent: Agent, layout: str
) -> None:
    chat.append(user=TASK)
    for _ in range(ROUNDS):
        messages: Any = chat.context(None, tools=[LOOK], layout=layout)  # type: ignore[list-item]
        completion = memory._endpoint.client().chat.completions.create(
            model=MODEL, messages=messages, tools=[LOOK]
        )
        chat.append(completion)
        for call in completion.choices[0].message.tool_calls or ():
            chat.append([{"role": "tool", "tool_call_id": call.id, "content": RESULT}])
        compact(memory, agent)
    assert_requests(agent)
    assert chat.context(None)[-1]["content"] == "1,400 houses."


def test_a_sent_turn_keeps_task_and_summary(
    memory: AgentMemory, chat: ChatSession, agent: Agent, db: psycopg.Connection, user: uuid.UUID
) -> None:
    chat.append(user="Hello.", reply="Hello.")

    def look(street: int) -> str:
        compact(memory, agent)
        return f"{street}: {RESULT}"

    completion = chat.send(TASK, tools=[LOOK], functions={"look": look}, max_tool_rounds=ROUNDS)
    assert completion.choices[0].message.content == "1,400 houses."
    for request in agent.requests:  # the conversation before is history, and goes first
        request["messages"] = [
            m for m in request["messages"] if m.get("content") != "Hello."
        ]  # fmt: skip
    agent.is_compacted = [False, *agent.is_compacted[1:]]
    assert_requests(agent)
    assert value(db, "select count(*) from recall.conversation_history where user_id = %s",
                 [user]) == 2 + 2 * ROUNDS  # fmt: skip


def test_rounds_are_counted_across_compactions(
    memory: AgentMemory, chat: ChatSession, agent: Agent
) -> None:
    def look(street: int) -> str:
        compact(memory, agent)
        return RESULT

    completion = chat.send(TASK, tools=[LOOK], functions={"look": look}, max_tool_rounds=60)
    assert completion.choices[0].message.tool_calls
    assert len(agent.requests) == 61
    assert "tools" not in agent.requests[-1]
