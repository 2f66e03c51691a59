"""An endpoint of a language model, over real HTTP: what it takes, its answers, errors, retries."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import openai as client
import psycopg
import pytest

from pgrecall import AgentMemory
from pgrecall.models import ChatModel, ModelSettings
from pgrecall.models._chat import Asking
from support import rows, value
from support.scripted_model import Script, fact, step_of, talk
from support.scripted_openai import (
    NO_COMPLETIONS,
    NO_USAGES,
    Cut,
    Filtered,
    Hang,
    Raw,
    Refusal,
    ScriptedOpenAI,
    Status,
    scripted_openai,
)

pytestmark = pytest.mark.usefixtures("empty_queue")


@pytest.fixture
def memory(scripted_memory: AgentMemory) -> AgentMemory:
    return scripted_memory


MODEL = "gpt-4o-mini"
SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}}
REQUEST = {
    "type": "chat", "request_id": "one", "purpose": "extract", "model": MODEL,
    "messages": [{"role": "system", "content": "Name a fruit."},
                 {"role": "user", "content": "A green one."}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}},
    "max_tokens": 50, "temperature": 0,
}  # fmt: skip
FRUIT = {"name": "pear"}


@pytest.fixture
def endpoint() -> Iterator[ScriptedOpenAI]:
    with scripted_openai() as running:
        yield running


def chat_model(endpoint: ScriptedOpenAI, **more: Any) -> ChatModel:
    return ChatModel(ModelSettings(model=MODEL, base_url=endpoint.base_url, **more))


def answered(endpoint: ScriptedOpenAI, **more: Any) -> dict[str, Any]:
    found = Asking(chat_model(endpoint, **more)).answer(REQUEST)
    assert found is not None
    return found


# Requests and answers


def test_answer_has_what_the_endpoint_said(endpoint: ScriptedOpenAI) -> None:
    endpoint.then(FRUIT)
    found = answered(endpoint)
    assert found.pop("latency_ms") > 0
    assert found == {
        "request_id": "one", "content": json.dumps(FRUIT), "refusal": None,
        "finish_reason": "stop",
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100,
                  "prompt_tokens_details": {"cached_tokens": 400}},
    }  # fmt: skip
    assert endpoint.chats == [
        {key: REQUEST[key] for key in
         ("model", "messages", "response_format", "max_tokens", "temperature")}
    ]  # fmt: skip


def test_answer_without_what_postgresql_cannot_store(endpoint: ScriptedOpenAI) -> None:
    endpoint.then("a\x00b", Refusal("no\x00"))
    assert answered(endpoint)["content"] == "a\ufffdb"
    assert answered(endpoint)["refusal"] == "no\ufffd"


@pytest.mark.parametrize("usage", NO_USAGES)
def test_missing_or_wrong_usage_is_estimated(endpoint: ScriptedOpenAI, usage: Any) -> None:
    endpoint.usage = usage
    endpoint.then(FRUIT)
    found = answered(endpoint)["usage"]
    assert all(isinstance(found[key], int) for key in ("prompt_tokens", "completion_tokens"))
    assert usage == {"prompt_tokens": 10**12} or found["prompt_tokens"] == 0


def test_reasoning_effort_is_sent(endpoint: ScriptedOpenAI) -> None:
    endpoint.then(FRUIT)
    answered(endpoint, reasoning_effort="low")
    assert endpoint.chats[0]["reasoning_effort"] == "low"


@pytest.mark.parametrize("answer", NO_COMPLETIONS.values(), ids=NO_COMPLETIONS)
def test_answer_without_a_completion_is_an_error(endpoint: ScriptedOpenAI, answer: Raw) -> None:
    """Status 200 with a page or an error: the address leads elsewhere."""
    endpoint.then(answer)
    error = answered(endpoint)["error"]
    assert error["code"] == "ModelAnswerError"
    assert f"{MODEL}: the endpoint answered no completion; is its URL right" in error["message"]
    assert "the answer began: " in error["message"]
    assert len(endpoint.chats) == 1


@pytest.mark.parametrize("code", [429, 500, 503])
def test_transient_errors_are_retried(endpoint: ScriptedOpenAI, code: int) -> None:
    endpoint.then(Status(code), Status(code), FRUIT)
    assert answered(endpoint)["content"] == json.dumps(FRUIT)
    endpoint.then(Status(code), Status(code), Status(code))
    error = answered(endpoint)["error"]
    assert (f"Error code: {code}" in error["message"], error["retryable"]) == (True, True)
    assert len(endpoint.chats) == 6


def test_hanging_endpoint_is_an_error_after_the_timeout(endpoint: ScriptedOpenAI) -> None:
    endpoint.then(Hang(), Hang())
    assert answered(endpoint, timeout=0.2, max_retries=1)["error"]["code"] == "APITimeoutError"
    assert len(endpoint.chats) == 2


def test_permanent_error_is_not_retried(endpoint: ScriptedOpenAI) -> None:
    endpoint.then(Status(401, "who are you?\x00"))
    error = answered(endpoint)["error"]
    assert error["code"] == "AuthenticationError"
    assert "who are you?" in error["message"]
    assert "\x00" not in error["message"]
    assert len(endpoint.chats) == 1


def test_a_long_error_is_cut(endpoint: ScriptedOpenAI) -> None:
    endpoint.then(Status(401, "x" * 100_000))
    assert len(answered(endpoint)["error"]["message"]) == 10_000


def test_a_slow_model_has_time_for_its_answer() -> None:
    times: list[Any] = []

    class Completions:
        def create(self, **arguments: Any) -> Any:
            times.append(arguments.get("timeout"))
            raise client.OpenAIError("enough")

    for timeout in (None, 5.0):
        made = SimpleNamespace(chat=SimpleNamespace(completions=Completions()))
        model = ChatModel(ModelSettings(model=MODEL, timeout=timeout), made)  # type: ignore[arg-type]
        assert Asking(model).answer(REQUEST) is not None
    assert times == [65, None]  # a minute and 50 tokens; as the client has it


@pytest.mark.parametrize(
    ("said", "told", "learned"),
    [
        ("This model's maximum context length is 600 tokens. However, …", 600, 600),
        ("request (911 tokens) exceeds the available context size (6,00 tokens)", 600, 600),
        ("the prompt is too long", None, None),
        ("the context length of 100000 tokens was exceeded, somehow", 100_000, None),
    ],
)
def test_window_named_by_an_endpoint_is_reported(
    endpoint: ScriptedOpenAI, said: str, told: int | None, learned: int | None
) -> None:
    """It is told on, and remembered where the request was longer than that."""
    endpoint.then(Status(400, said))
    model = chat_model(endpoint)
    messages = [{"role": "user", "content": "word " * 800}]
    found = Asking(model).answer({**REQUEST, "messages": messages})
    assert found is not None
    assert (found["error"]["code"], found["error"]["context_window"]) == ("context_length", told)
    offered = Asking(model).offer()["models"]["extract"]
    assert offered == {"model": MODEL} | ({} if learned is None else {"context_window": learned})
    # it was no matter of the answer's format
    assert Asking(model).offer()["features"]["response_format"] == "json_schema"


def test_models_of_steps_windows_and_secrets() -> None:
    settings = ModelSettings(
        model="a", models={"compact": "b"}, api_key="sk-secret", context_window=4096
    )
    offer = Asking(ChatModel(settings)).offer()
    assert offer["chat_model"] == "a"
    assert offer["models"]["extract"] == {"model": "a", "context_window": 4096}
    assert offer["models"]["compact"] == {"model": "b", "context_window": 4096}
    assert "secret" not in repr(settings)


# The database learns which parameters an endpoint rejects, and changes its requests


def learned(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID
) -> list[int]:
    """Extract twice with one worker, and return how many requests each took."""
    script.facts = {"I use Vim": [fact("User uses Vim.")], "I am Ada": [fact("User is Ada.")]}
    script.decisions = {"User is Ada.": ("ADD", None)}
    worker = memory.worker(kinds=["extract:llm"])
    counts = []
    for text in script.facts:
        talk(memory, user, [text])
        before = len([one for one in openai.chats if step_of(one) == "extract"])
        report = worker.run_until_idle()
        assert report.failed == {}, report.last_error
        counts.append(len([one for one in openai.chats if step_of(one) == "extract"]) - before)
    assert {item.content for item in memory.memories.list(user)} == {
        "User uses Vim.",
        "User is Ada.",
    }
    return counts


@pytest.mark.parametrize(("formats", "requests"), [(("json_object", "text"), 3), (("text",), 4)])
def test_the_format_is_found_out_once(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    formats: tuple[str, ...], requests: int,
) -> None:  # fmt: skip
    openai.formats = formats
    assert learned(memory, openai, script, user) == [requests, 1]
    last = openai.chats[-1]
    assert last.get("response_format", {"type": "text"}) == {"type": formats[0]}
    assert "Answer with one JSON object of this schema" in last["messages"][0]["content"]


def test_lengths_are_left_out_where_they_are_refused(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID
) -> None:
    openai.then(Status(400, "'maxLength' is not permitted"))
    assert learned(memory, openai, script, user) == [2, 1]
    bounded = ['"maxItems"' in json.dumps(one["response_format"]) for one in openai.chats]
    assert (bounded[0], any(bounded[1:])) == (True, False)


def test_parameters_that_a_model_refuses(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID
) -> None:
    openai.refused_parameters = ("max_tokens", "temperature")
    assert learned(memory, openai, script, user) == [3, 1]
    last = openai.chats[-1]
    assert (last["max_completion_tokens"] > 0, "temperature" in last) == (True, False)
    assert last["response_format"]["type"] == "json_schema"


def test_features_are_those_of_each_model(
    model_dsn: str, openai: ScriptedOpenAI, script: Script, user: uuid.UUID
) -> None:
    """A model that takes no schema does not keep another of the same endpoint from getting one."""

    def choosy(request: Any) -> Any:
        kind = request.get("response_format", {}).get("type")
        if request["model"] == "plain" and kind == "json_schema":
            return Status(400, "response_format is not available")
        return script(request)

    openai.respond = choosy
    script.facts = {"I use Vim": [fact("User uses Vim.")]}
    settings = ModelSettings(model=MODEL, models={"summarize": "plain"}, base_url=openai.base_url)
    with AgentMemory.connect(model_dsn, embedder=False, llm=settings) as memory:
        worker = memory.worker(kinds=["extract:llm", "summarize"])
        for _ in range(2):
            talk(memory, user, ["I use Vim"])
            assert worker.run_until_idle().failed == {}
    asked = [(one["model"], one["response_format"]["type"]) for one in openai.chats]
    assert asked == [
        (MODEL, "json_schema"), *[("plain", "json_schema")] * 2, ("plain", "json_object"),
        (MODEL, "json_schema"), ("plain", "json_object"),
    ]  # fmt: skip


def test_an_endpoint_that_refuses_everything_is_asked_in_each_way_once(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """It is no matter of the format then: the next job is asked in the best way again."""
    openai.respond = lambda _: Status(400, "I do not like this text")
    talk(memory, user, ["I use Vim"])
    worker = memory.worker(kinds=["extract:llm"])
    for _ in range(2):
        report = worker.run_until_idle()
        assert "I do not like this text" in (report.last_error or "")
        db.execute("update recall.jobs set run_at = now() where state = 'ready'")
    assert worker.report.failed == {"extract": 2}
    formats = [one.get("response_format", {"type": "text"})["type"] for one in openai.chats]
    assert formats == ["json_schema", "json_schema", "json_object", "text"] * 2


# How the database reads answers


@pytest.mark.parametrize(
    "shape",
    ["```json\n{}\n```", "Sure!\n{} Enjoy.", "\n{}", '<think>Not {{"facts": []}}.</think>{}'],
)
def test_answer_wrapped_in_other_text_is_read(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID, shape: str
) -> None:
    said = {"facts": [fact("User uses Vim.", turns=[1])], "episodes": []}
    openai.then(shape.replace("{{", "{").replace("}}", "}").replace("{}", json.dumps(said)))
    talk(memory, user, ["I use Vim"])
    assert memory.worker(kinds=["extract:llm"]).run_until_idle().failed == {}
    assert [item.content for item in memory.memories.list(user)] == ["User uses Vim."]
    assert len(openai.chats) == 1


BAD = ["", "a pear", '{"facts": ', '{"facts": 3}', "{}", "[1]"]


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_answer_is_asked_for_once_more(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID, bad: str
) -> None:
    script.facts = {"I use Vim": [fact("User uses Vim.")]}
    talk(memory, user, ["I use Vim"])
    openai.then(bad)
    assert memory.worker(kinds=["extract:llm"]).run_until_idle().failed == {}
    assert [item.content for item in memory.memories.list(user)] == ["User uses Vim."]
    again = [message["role"] for message in openai.chats[1]["messages"]]
    assert again == ["system", "user", "assistant", "user"][: 4 if bad else 2]
    assert (memory.sessions.list(user)[0].total_prompt_tokens, len(openai.chats)) == (2001, 2)


def test_only_the_beginning_of_a_raw_answer_is_kept(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    talk(memory, user, ["I use Vim"])
    openai.then("x" * 100_000, "x" * 100_000)
    report = memory.worker(kinds=["extract:llm"]).run_until_idle()
    assert report.last_error is not None
    assert 1000 <= len(report.last_error) < 2000


@pytest.mark.parametrize(
    ("answer", "said"),
    [(Refusal("That is private."), "refused: That is private."),
     (Filtered("half an ans"), "content filter")],
)  # fmt: skip
def test_a_refusal_is_not_argued_with(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID, answer: Any, said: str,
) -> None:  # fmt: skip
    talk(memory, user, ["I use Vim"])
    openai.then(answer)
    report = memory.worker(kinds=["extract:llm"]).run_until_idle()
    assert said in (report.last_error or "")
    assert len(openai.chats) == 1


def test_a_cut_answer_gets_more_room_once(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID
) -> None:
    script.facts = {"I use Vim": [fact("User uses Vim.")]}
    talk(memory, user, ["I use Vim"])
    openai.then(Cut('{"facts": [{"con'))
    assert memory.worker(kinds=["extract:llm"]).run_until_idle().failed == {}
    first, second = openai.chats
    assert second["max_tokens"] == 2 * first["max_tokens"]
    # roles alternate, as some models' templates demand
    assert [message["role"] for message in second["messages"]] == ["system", "user"]
    assert "Answer shorter." in second["messages"][1]["content"]


def test_malformed_answer_has_its_cost_recorded(
    memory: AgentMemory, openai: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection
) -> None:
    for answers, requests, said in (
        (("a pear", "an apple"), 2, "not JSON"),
        ((Refusal("That is private."),), 1, "the model refused"),
        (("a pear", Status(500, "on fire")), 1, "InternalServerError"),
    ):
        talk(memory, user, ["I use Vim"])
        openai.then(*answers)
        report = memory.worker(kinds=["extract:llm"]).run_until_idle()
        assert said in (report.last_error or "")
        spans = rows(
            db,
            "select prompt_tokens, completion_tokens, cost_microcents, model_id, error"
            "  from recall.job_phases where user_id = %s and phase = 'extract'",
            [user],
        )
        assert said in spans[-1]["error"] or said in spans[0]["error"]
        assert sum(span["prompt_tokens"] for span in spans) == 1000 * requests
        assert sum(span["cost_microcents"] or 0 for span in spans) == 18000 * requests
        assert {span["model_id"] for span in spans} == {MODEL}
        db.execute("delete from recall.job_phases where user_id = %s", [user])
        db.execute("delete from recall.jobs where user_id = %s", [user])
    assert value(db, "select count(*) from recall.memory_store where user_id = %s", [user]) == 0
