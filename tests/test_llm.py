"""The language model's class, over real HTTP: formats, bad answers, retries, usage."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from pgrecall.llm import (
    Answer,
    ChatModel,
    ContextWindowError,
    ModelAnswerError,
    ModelSettings,
    ModelUsage,
    Price,
)
from scripted_openai import (
    NO_COMPLETIONS,
    Cut,
    Filtered,
    Hang,
    Raw,
    Refusal,
    ScriptedOpenAI,
    Status,
    scripted_openai,
)

MODEL = "gpt-4o-mini"
PRICE = Price(input=15_000_000, cached_input=7_500_000, output=60_000_000)


class Fruit(BaseModel):
    name: str


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
PEAR = {"name": "pear"}


@pytest.fixture
def endpoint() -> Iterator[ScriptedOpenAI]:
    with scripted_openai() as running:
        yield running


def chat_model(endpoint: ScriptedOpenAI, **more: Any) -> ChatModel:
    return ChatModel(ModelSettings(model=MODEL, base_url=endpoint.base_url, **more))


def ask(model: ChatModel) -> Answer[Fruit]:
    messages = [
        {"role": "system", "content": "Name a fruit."},
        {"role": "user", "content": "A green one."},
    ]
    return model.ask("extract", messages, Fruit, schema=SCHEMA, max_tokens=50)


def test_strict_schema_first(endpoint: ScriptedOpenAI) -> None:
    endpoint.then(PEAR)
    assert ask(chat_model(endpoint)).value == Fruit(name="pear")
    (asked,) = endpoint.chats
    assert asked["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "extract", "strict": True, "schema": SCHEMA},
    }
    assert (asked["temperature"], asked["max_tokens"]) == (0, 50)
    assert asked["messages"][0]["content"] == "Name a fruit."


@pytest.mark.parametrize(
    ("formats", "requests"), [(("json_object", "text"), 2), (("text",), 3)]
)  # fmt: skip
def test_the_format_is_found_out_once(
    endpoint: ScriptedOpenAI, formats: tuple[str, ...], requests: int
) -> None:
    endpoint.formats = formats
    model = chat_model(endpoint)
    endpoint.then(PEAR, PEAR)
    ask(model)
    assert len(endpoint.chats) == requests
    ask(model)
    assert len(endpoint.chats) == requests + 1
    last = endpoint.chats[-1]
    assert last.get("response_format", {"type": "text"}) == {"type": formats[0]}
    assert '"properties":{"name"' in last["messages"][0]["content"]


def test_lengths_are_left_out_where_they_are_refused(endpoint: ScriptedOpenAI) -> None:
    bounded = {**SCHEMA, "properties": {"name": {"type": "string", "maxLength": 9}}}
    model = chat_model(endpoint)
    endpoint.then(Status(400, "'maxLength' is not permitted"), PEAR, PEAR)
    for _ in range(2):
        model.ask("extract", [{"role": "system", "content": "A fruit."}], Fruit, schema=bounded,
                  max_tokens=50)  # fmt: skip
    schemas = [asked["response_format"]["json_schema"]["schema"] for asked in endpoint.chats]
    assert schemas == [bounded, SCHEMA, SCHEMA]


def test_parameters_that_a_model_refuses(endpoint: ScriptedOpenAI) -> None:
    endpoint.refused_parameters = ("max_tokens", "temperature")
    model = chat_model(endpoint)
    endpoint.then(PEAR, PEAR)
    ask(model)
    ask(model)
    assert len(endpoint.chats) == 4
    last = endpoint.chats[-1]
    assert (last["max_completion_tokens"], "temperature" in last) == (50, False)
    assert last["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "pear"}\n```',
        'Sure!\n{"name": "pear"} Enjoy.',
        '\n{"name":"pear","x":1}',
        '<think>Not {"name": "apple"}.</think>{"name": "pear"}',
    ],
)
def test_wrapped_answers(endpoint: ScriptedOpenAI, text: str) -> None:
    endpoint.then(text)
    assert ask(chat_model(endpoint)).value == Fruit(name="pear")


@pytest.mark.parametrize("bad", ["", "a pear", '{"name": ', '{"name": 3}', "{}", "[1]"])
def test_a_bad_answer_is_asked_for_once_more(endpoint: ScriptedOpenAI, bad: str) -> None:
    endpoint.then(bad, PEAR)
    answer = ask(chat_model(endpoint, prices={MODEL: PRICE}))
    assert answer.value == Fruit(name="pear")
    assert answer.usage == ModelUsage(2, 2000, 800, 200)
    assert [message["role"] for message in endpoint.chats[1]["messages"]] == [
        "system", "user", "assistant", "user"
    ]  # fmt: skip


@pytest.mark.parametrize("bad", ["a pear, I would say", '{"name": ', '{"fruit": "pear"}'])
def test_twice_no_answer(endpoint: ScriptedOpenAI, bad: str) -> None:
    endpoint.then(bad, bad)
    with pytest.raises(ModelAnswerError) as caught:
        ask(chat_model(endpoint))
    assert bad in str(caught.value)
    assert caught.value.raw == bad
    assert len(endpoint.chats) == 2


@pytest.mark.parametrize("answer", NO_COMPLETIONS.values(), ids=NO_COMPLETIONS)
def test_no_completion_at_all(endpoint: ScriptedOpenAI, answer: Raw) -> None:
    """Status 200 with a page or an error: the address leads elsewhere."""
    endpoint.then(answer)
    with pytest.raises(ModelAnswerError, match=rf"{MODEL}: .* no completion.*URL") as caught:
        ask(chat_model(endpoint))
    assert caught.value.raw
    assert len(endpoint.chats) == 1


def test_only_the_beginning_of_a_raw_answer_is_kept(endpoint: ScriptedOpenAI) -> None:
    endpoint.then("x" * 100_000, "x" * 100_000)
    with pytest.raises(ModelAnswerError) as caught:
        ask(chat_model(endpoint))
    assert len(str(caught.value)) < 2000


def test_a_refusal_is_not_argued_with(endpoint: ScriptedOpenAI) -> None:
    endpoint.then(Refusal("That is private."))
    with pytest.raises(ModelAnswerError, match=r"refused.*That is private\."):
        ask(chat_model(endpoint))
    assert len(endpoint.chats) == 1
    endpoint.then(Filtered("half an ans"))
    with pytest.raises(ModelAnswerError, match=r"content filter.*half an ans"):
        ask(chat_model(endpoint))


def test_a_cut_answer_gets_more_room_once(endpoint: ScriptedOpenAI) -> None:
    endpoint.then(Cut('{"name": "pe'), PEAR)
    assert ask(chat_model(endpoint)).value == Fruit(name="pear")
    assert [asked["max_tokens"] for asked in endpoint.chats] == [50, 100]
    endpoint.then(Cut('{"name": "pe'), Cut('{"name": "pea'))
    with pytest.raises(ModelAnswerError, match=r'cut off.*\{"name": "pea'):
        ask(chat_model(endpoint))


def test_what_was_no_answer_has_its_price(endpoint: ScriptedOpenAI) -> None:
    model = chat_model(endpoint, prices={MODEL: PRICE}, max_retries=0)
    for answers, requests, said in (
        (("a pear", "an apple"), 2, "no JSON object"),
        ((Refusal("That is private."),), 1, "the model refused"),
        (("a pear", Status(500, "on fire")), 1, "when asked again: InternalServerError"),
    ):
        endpoint.then(*answers)
        with pytest.raises(ModelAnswerError, match=said) as caught:
            ask(model)
        span = caught.value.span
        assert span is not None
        assert said in span.pop("error")
        assert span.pop("duration_ms") > 0
        assert span == {
            "phase": "extract", "items": 0, "model_id": MODEL, "prompt_tokens": 1000 * requests,
            "completion_tokens": 100 * requests, "cost_microcents": 18000 * requests,
        }  # fmt: skip


def test_a_cut_answer_grows_within_the_window(endpoint: ScriptedOpenAI) -> None:
    model = chat_model(endpoint, context_window=300)
    endpoint.then(Cut('{"name": "pe'), PEAR)
    assert ask(model).value == Fruit(name="pear")
    first, second = (asked["max_tokens"] for asked in endpoint.chats)
    assert first == 50 < second < 100
    # roles alternate, as some models' templates demand
    assert [message["role"] for message in endpoint.chats[1]["messages"]] == ["system", "user"]
    assert "Answer shorter." in endpoint.chats[1]["messages"][1]["content"]


@pytest.mark.parametrize(
    ("said", "window"),
    [
        ("This model's maximum context length is 4096 tokens. However, …", 4096),
        ("request (5311 tokens) exceeds the available context size (3,072 tokens)", 3072),
        ("the prompt is too long", 6144),
        ("the context length of 100000 tokens was exceeded, somehow", 6144),
    ],
)
def test_a_window_that_the_endpoint_tells(endpoint: ScriptedOpenAI, said: str, window: int) -> None:
    model = chat_model(endpoint)
    model.windows = {MODEL: 8192}
    endpoint.then(Status(400, said), PEAR)
    with pytest.raises(ContextWindowError):
        ask(model)
    assert model.window("extract") == window
    ask(model)
    # it was no matter of the answer's format
    assert endpoint.chats[-1]["response_format"]["type"] == "json_schema"


def test_windows(endpoint: ScriptedOpenAI, caplog: pytest.LogCaptureFixture) -> None:
    model = chat_model(endpoint)
    assert [model.window(step) for step in ("extract", "compact")] == [8192, 8192]
    assert caplog.text.count("is not known: 8192 tokens are assumed") == 1
    model.windows = {MODEL: 128_000}
    assert model.window("extract") == 128_000
    assert chat_model(endpoint, context_window=4096).window("extract") == 4096


@pytest.mark.parametrize("code", [429, 500, 503])
def test_passing_errors_are_tried_again(endpoint: ScriptedOpenAI, code: int) -> None:
    endpoint.then(Status(code), Status(code), PEAR)
    assert ask(chat_model(endpoint)).value == Fruit(name="pear")
    endpoint.then(Status(code), Status(code), Status(code))
    with pytest.raises(openai.APIStatusError):
        ask(chat_model(endpoint))
    assert len(endpoint.chats) == 6


def test_a_hanging_endpoint(endpoint: ScriptedOpenAI) -> None:
    endpoint.then(Hang(), Hang())
    with pytest.raises(openai.APITimeoutError):
        ask(chat_model(endpoint, timeout=0.2, max_retries=1))
    assert len(endpoint.chats) == 2


def test_a_slow_model_has_time_for_its_answer() -> None:
    times: list[Any] = []

    class Completions:
        def create(self, **arguments: Any) -> Any:
            times.append(arguments.get("timeout"))
            raise openai.OpenAIError("enough")

    for timeout in (None, 5.0):
        client = SimpleNamespace(chat=SimpleNamespace(completions=Completions()))
        model = ChatModel(ModelSettings(model=MODEL, timeout=timeout), client)  # type: ignore[arg-type]
        with pytest.raises(openai.OpenAIError):
            ask(model)
    assert times == [65, None]  # a minute and 50 tokens; as the client has it


def test_errors_that_stay(endpoint: ScriptedOpenAI) -> None:
    endpoint.then(Status(401, "who are you?"))
    with pytest.raises(openai.AuthenticationError, match="who are you"):
        ask(chat_model(endpoint))
    assert len(endpoint.chats) == 1


def test_usage_and_cost(endpoint: ScriptedOpenAI) -> None:
    endpoint.then(PEAR)
    answer = ask(chat_model(endpoint, prices={MODEL: PRICE}))
    assert answer.usage == ModelUsage(1, 1000, 400, 100)
    # 600 at 0.15 $/M, 400 at 0.075 $/M, 100 at 0.60 $/M
    assert answer.cost_microcents == 9000 + 3000 + 6000
    phase = answer.phase("extract", 1)
    assert (phase["model_id"], phase["prompt_tokens"], phase["cost_microcents"]) == (
        MODEL, 1000, 18000
    )  # fmt: skip
    endpoint.then(PEAR)
    assert ask(chat_model(endpoint)).cost_microcents == 0


@pytest.mark.parametrize("usage", [None, {}, [12], {"prompt_tokens": "12"}])
def test_an_endpoint_without_usage(endpoint: ScriptedOpenAI, usage: Any) -> None:
    endpoint.usage = usage
    endpoint.then(PEAR)
    assert ask(chat_model(endpoint)).usage == ModelUsage(1)


def test_models_of_steps_and_secrets() -> None:
    settings = ModelSettings(model="a", models={"compact": "b"}, api_key="sk-secret")
    model = ChatModel(settings)
    assert (model.model_of("extract"), model.model_of("compact")) == ("a", "b")
    assert "secret" not in repr(settings)
