"""The language model of the worker's steps: one class over the official `openai` client.

It asks for JSON and validates it. How an endpoint can be asked (a strict schema, a JSON object, or
plain text), and which parameters it refuses, is found out by trying once, and remembered.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pgrecall._answers import (
    answer_to,
    error_answer,
    is_overflow,
    is_refused,
    named_window,
    storable,
)
from pgrecall._calls import json_text
from pgrecall.messages import dump
from pgrecall.tokens import count_text_tokens, truncate_text

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletion
    from pydantic import BaseModel

__all__ = ["Answer", "ChatModel", "ContextWindowError", "ModelAnswerError", "ModelSettings",
           "ModelUsage", "Price", "completion_in", "no_completion"]  # fmt: skip

logger = logging.getLogger("pgrecall")

Shape = TypeVar("Shape", bound="BaseModel")
Message = Mapping[str, str]

PURPOSES = ("extract", "consolidate", "summarize", "compact", "merge", "pattern")
"""What a language model is asked for by jobs."""

_SENT = ("model", "messages", "response_format", "temperature", "max_tokens",
         "max_completion_tokens")  # fmt: skip
_LENGTHS = re.compile(r'"(?:maxLength|maxItems)":')
_FORMATS = ("json_schema", "json_object", "text")
_RAW_CHARS = 1000  # of an answer, kept in an error
_MAX_ASKED = 2  # answers per question: the first, and one more when it was none
_PER_MILLION = 1_000_000
_ASSUMED_WINDOW = 8192  # of a model that nobody knows, as settings.default_context_window
_SECONDS, _TOKENS_PER_SECOND = 60.0, 10.0  # of a request, and of a slow model's answer
_MARGIN = 160  # tokens: the frame of the messages, and what is said after an answer that was none
_REFUSED = (400, 413, 422)
_LEAST_WINDOW = 512
_OVERFLOW = re.compile(
    r"context[_ ](?:length|size|window)|maximum context|n_ctx|(?:prompt|input) is too long"
    r"|reduce the length|too many (?:input |prompt )?tokens",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:context|n_ctx)[^\d.]{0,40}(\d[\d,]*)", re.IGNORECASE)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)  # of models that reason aloud


class ModelAnswerError(RuntimeError):
    """A model refused, was cut off, or answered what is no answer, also when asked again.

    Attributes:
        raw: the beginning of what it said.
        span: what the question has cost all the same, as `fail_job` takes it.
    """

    def __init__(self, problem: str, raw: str, span: Mapping[str, Any] | None = None) -> None:
        self.raw = raw[:_RAW_CHARS]
        self.span = span
        super().__init__(f"{problem}; the answer began: {self.raw}" if raw else problem)


class ContextWindowError(ModelAnswerError):
    """The endpoint says that a prompt is longer than its model can read; less may fit now."""


def completion_in(answer: Any, model: str) -> ChatCompletion:
    """Return the completion that an endpoint answered with.

    Status 200 does not say that it is one: a page of HTML and an error come with it, too.

    Raises:
        ModelAnswerError: it is none.
    """
    first = next(iter(getattr(answer, "choices", None) or ()), None)
    if first is None or first.message is None:
        raise no_completion(model, answer)
    completion: ChatCompletion = answer
    return completion


def no_completion(model: str, answer: Any = "") -> ModelAnswerError:
    """Return the error of an answer that is no completion."""
    problem = f"{model}: the endpoint answered no completion; is its URL right, such as …/v1?"
    return ModelAnswerError(problem, answer if isinstance(answer, str) else json_text(dump(answer)))


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in micro-cents per million tokens, as `register_model` takes it.

    Attributes:
        input: of the prompt.
        cached_input: of what the endpoint had in its cache; None is the price of input.
        output: of the answer.
    """

    input: int
    output: int
    cached_input: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """An OpenAI-compatible endpoint and the model of the worker's steps.

    Attributes:
        model: the endpoint's name of the model.
        base_url: the endpoint; None is `OPENAI_BASE_URL`, or OpenAI.
        api_key: the key; None is `OPENAI_API_KEY`; a local server wants any.
        models: other models for single steps: extract, consolidate, summarize, compact, merge,
            pattern.
        timeout: seconds of one request; None is a minute, and in the worker's steps another second
            for every ten tokens that the answer may have: a model on a CPU is no faster.
        max_retries: of a request that met 408, 409, 429, 5xx, a timeout or no connection.
        prices: by model; None is what the database knows of it.
        reasoning_effort: sent when it is not None, such as `low`.
        context_window: tokens of prompt and answer together, of every model named here; None is
            what the database knows of each, else 8192.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    models: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    max_retries: int = 2
    prices: Mapping[str, Price] | None = None
    reasoning_effort: str | None = None
    context_window: int | None = None

    def client_arguments(self) -> dict[str, Any]:
        """Return what the constructors of the `openai` clients take."""
        key = self.api_key
        if key is None and self.base_url:
            key = os.environ.get("OPENAI_API_KEY") or "none"
        return {
            "base_url": self.base_url,
            "api_key": key,
            "timeout": _SECONDS if self.timeout is None else self.timeout,
            "max_retries": self.max_retries,
        }


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What one question has consumed, with the answers that were none.

    Attributes:
        requests: answered requests.
        prompt_tokens: cached ones included.
        cached_tokens: of these.
        completion_tokens: of the answers.
    """

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0

    def plus(self, completion: ChatCompletion) -> ModelUsage:
        """Return the sum with one more completion; endpoints may leave numbers out."""
        usage = completion.usage
        details = getattr(usage, "prompt_tokens_details", None)
        return ModelUsage(
            self.requests + 1,
            self.prompt_tokens + _count(usage, "prompt_tokens"),
            self.cached_tokens + _count(details, "cached_tokens"),
            self.completion_tokens + _count(usage, "completion_tokens"),
        )

    def cost(self, price: Price | None) -> int:
        """Return micro-cents, rounded up; a model without a price costs nothing."""
        if price is None:
            return 0
        cached = min(self.cached_tokens, self.prompt_tokens)
        cached_price = price.input if price.cached_input is None else price.cached_input
        total = (
            (self.prompt_tokens - cached) * price.input
            + cached * cached_price
            + self.completion_tokens * price.output
        )
        return -(-total // _PER_MILLION)


@dataclass(frozen=True, slots=True)
class Answer(Generic[Shape]):
    """A validated answer.

    Attributes:
        value: what the model said.
        model: which model.
        usage: tokens, with those of an answer that was none.
        cost_microcents: what that cost, 0 for a model without a price.
        duration_ms: how long it took, retries included.
    """

    value: Shape
    model: str
    usage: ModelUsage
    cost_microcents: int
    duration_ms: float

    def phase(self, name: str, items: int) -> dict[str, Any]:
        """Return the span that `finish_job` takes."""
        return {
            "phase": name,
            "duration_ms": self.duration_ms,
            "items": items,
            "model_id": self.model,
            "prompt_tokens": self.usage.prompt_tokens,
            "completion_tokens": self.usage.completion_tokens,
            "cost_microcents": self.cost_microcents,
        }


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How an endpoint wants to be asked for a model."""

    format: str = _FORMATS[0]
    has_lengths: bool = True
    has_temperature: bool = True
    limit_key: str = "max_tokens"

    def simplified(self, said: str, request: Mapping[str, Any]) -> _Dialect | None:
        """Return what to try after a refused request, None when nothing is left."""
        said = said.lower()
        if self.limit_key == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit_key="max_completion_tokens")
        if self.has_temperature and "temperature" in said:
            return replace(self, has_temperature=False)
        lengths = _LENGTHS.search(json_text(request.get("response_format")))
        if self.format == "json_schema" and self.has_lengths and lengths:
            return replace(self, has_lengths=False)
        place = _FORMATS.index(self.format) + 1
        return replace(self, format=_FORMATS[place]) if place < len(_FORMATS) else None

    def simpler(self, error: openai.APIStatusError, schema: Mapping[str, Any]) -> _Dialect | None:
        """Return what to try after a refused request, None when nothing is left."""
        said = str(error).lower()
        if self.limit_key == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit_key="max_completion_tokens")
        if self.has_temperature and "temperature" in said:
            return replace(self, has_temperature=False)
        if self.format == "json_schema" and self.has_lengths and without_lengths(schema) != schema:
            return replace(self, has_lengths=False)
        place = _FORMATS.index(self.format) + 1
        return replace(self, format=_FORMATS[place]) if place < len(_FORMATS) else None

    def features(self) -> dict[str, Any]:
        """Return it as `p_worker` says it."""
        return {
            "response_format": self.format,
            "schema_lengths": self.has_lengths,
            "temperature": self.has_temperature,
            "limit": self.limit_key,
        }


class Asking:
    """The chat requests of one job.

    A parameter that the endpoint refuses is left out of the job's next request, and of all later
    ones once the endpoint has answered.

    Args:
        model: the endpoint, which all jobs of a worker share.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._dialects: dict[str, _Dialect] = {}

    def offer(self, name: str | None = None) -> dict[str, Any]:
        """Return what `p_worker` says of the endpoint, with the features of this model."""
        settings = self._model.settings
        models = {
            purpose: self._known(settings.models.get(purpose, settings.model))
            for purpose in PURPOSES
        }
        return {
            "chat_model": settings.model,
            "models": models,
            "features": self._dialect(name or settings.model).features(),
        }

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """Send a request and return its answer; None: `offer` has changed, have it made anew."""
        name = request["model"]
        started = time.monotonic()
        try:
            completion = self._model.complete(request)
            made = _content(completion)
        except Exception as error:
            if is_overflow(error):
                self._model.learn_window(request, named_window(error))
            elif is_refused(error):
                simpler = self._dialect(name).simplified(str(error), request)
                if simpler is not None:
                    self._dialects[name] = simpler
                    return None
            made = error_answer(error)
        else:
            self._model.dialects[name] = self._dialect(name)
        return answer_to(request, made, started)

    def _dialect(self, name: str) -> _Dialect:
        return self._dialects.get(name) or self._model.dialects.get(name, _Dialect())

    def _known(self, name: str) -> dict[str, Any]:
        window = self._model.learned.get(name) or self._model.settings.context_window
        return {"model": name} | ({} if window is None else {"context_window": window})


class ChatModel:
    """Asks a model for JSON; one object may be shared by threads.

    Args:
        settings: endpoint and models.
        client: a client to use instead of the one that the settings describe; stays the caller's.

    Attributes:
        settings: as given.
        prices: by model.
        windows: context windows by model, which `settings.context_window` goes before.
    """

    def __init__(self, settings: ModelSettings, client: openai.OpenAI | None = None) -> None:
        self.settings = settings
        self.prices: Mapping[str, Price] = settings.prices or {}
        self.windows: Mapping[str, int] = {}
        self._learned: dict[str, int] = {}
        self.learned: dict[str, int] = {}
        self.dialects: dict[str, _Dialect] = {}
        self._assumed: set[str] = set()
        self._client = client
        self._dialects: dict[tuple[str | None, str], _Dialect] = {}
        self._lock = threading.Lock()

    def complete(self, request: Mapping[str, Any]) -> ChatCompletion:
        """Send a request of `recall.next_request`.

        Raises:
            ModelAnswerError: the endpoint answers no completion.
            openai.OpenAIError: the endpoint failed, after the client's own retries.
        """
        arguments = {key: request[key] for key in _SENT if key in request}
        if self.settings.timeout is None:
            limit = request.get("max_tokens") or request.get("max_completion_tokens") or 0
            arguments["timeout"] = _SECONDS + limit / _TOKENS_PER_SECOND
        if self.settings.reasoning_effort is not None:
            arguments["reasoning_effort"] = self.settings.reasoning_effort
        client: Any = self._connected()
        try:
            return completion_in(client.chat.completions.create(**arguments), request["model"])
        except json.JSONDecodeError as error:
            raise no_completion(request["model"], error.doc) from error

    def learn_window(self, request: Mapping[str, Any], named: int | None) -> None:
        """Remember the window that a refusal named, if the request was longer than that."""
        name = request["model"]
        sent = json_text([request["messages"], request.get("response_format")])
        limit = request.get("max_tokens") or request.get("max_completion_tokens") or 0
        if named is not None and named < count_text_tokens(sent, name) + limit:
            self.learned[name] = named
            logger.warning("the context window of %s is %d tokens, says its endpoint", name, named)

    def model_of(self, step: str) -> str:
        """Return the model of a step."""
        return self.settings.models.get(step, self.settings.model)

    def window(self, step: str) -> int:
        """Return the context window of a step's model: known, learned of the endpoint, assumed."""
        model = self.model_of(step)
        known = self._learned.get(model) or self.settings.context_window or self.windows.get(model)
        if known is None:
            if model not in self._assumed:
                self._assumed.add(model)
                logger.warning(
                    "the context window of %s is not known: %d tokens are assumed; "
                    "ModelSettings.context_window or recall.register_model says it",
                    model,
                    _ASSUMED_WINDOW,
                )
            return _ASSUMED_WINDOW
        return known

    def room(self, step: str, schema: Mapping[str, Any], max_tokens: int) -> int:
        """Return the tokens that a prompt may have beside an answer so long.

        An endpoint that knows no schemas is told it in words.
        """
        told = self.count(step, _schema_text(schema))
        return self.window(step) - max_tokens - told - _MARGIN

    def count(self, step: str, text: str) -> int:
        """Return the tokens of a text for a step's model, as `count_text_tokens`."""
        return count_text_tokens(text, self.model_of(step))

    def truncated(self, step: str, text: str, tokens: int) -> str:
        """Return the beginning of a text, of at most so many tokens."""
        return truncate_text(text, tokens, self.model_of(step))

    def ask(
        self,
        step: str,
        messages: Sequence[Message],
        shape: type[Shape],
        *,
        schema: Mapping[str, Any],
        max_tokens: int,
        shorter: Mapping[str, Any] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Answer[Shape]:
        """Return the model's answer, validated; one that is none is asked for once more.

        Args:
            step: names the model and the schema.
            messages: the prompt.
            shape: what the answer is validated by.
            schema: the JSON schema that the endpoint is given, strict.
            max_tokens: of the answer; doubled when it was cut off, as far as the window allows.
            shorter: the schema instead, when an answer was cut off.
            context: for the validators of `shape`.

        Raises:
            ModelAnswerError: a refusal, twice no answer, or an endpoint that answers no completion.
            ContextWindowError: the prompt is too long; `window` has become smaller.
            openai.OpenAIError: the endpoint failed, after the client's own retries.
        """
        model = self.model_of(step)
        started = time.monotonic()
        usage = ModelUsage()
        asked = list(messages)
        raw = problem = ""

        def span() -> Answer[Any]:
            took = (time.monotonic() - started) * 1000
            return Answer(None, model, usage, usage.cost(self.prices.get(model)), took)

        def failure(problem: str, raw: str, kind: type[ModelAnswerError]) -> ModelAnswerError:
            failed = span().phase(step, 0) | {"error": problem}
            return kind(f"{model}: {problem}", raw, failed)

        for attempt in range(1, _MAX_ASKED + 1):
            try:
                completion = self._complete(model, step, asked, schema, max_tokens)
            except _OverflowError as error:
                raise failure(str(error), raw, ContextWindowError) from error.__cause__
            except Exception as error:
                if attempt == 1:
                    raise
                said = f"{problem}, and when asked again: {type(error).__name__}: {error}"
                raise failure(said, raw, ModelAnswerError) from error
            usage = usage.plus(completion)
            raw, is_cut, refusal = _said(completion)
            if refusal is not None:
                raise failure(refusal, raw, ModelAnswerError)
            try:
                value = shape.model_validate(_json_in(raw), context=dict(context or {}))
            except ValueError as error:  # a ValidationError of pydantic is one
                problem = "the answer was cut off" if is_cut else _problem(error)
                if attempt == _MAX_ASKED:
                    raise failure(problem, raw, ModelAnswerError) from error
                if is_cut:
                    schema = schema if shorter is None else shorter
                    max_tokens = self._longer(step, messages, schema, max_tokens)
                asked = self._asked_again(step, messages, raw, problem, schema, max_tokens, is_cut)
                continue
            return replace(span(), value=value)
        raise AssertionError("unreachable")

    def _longer(
        self, step: str, messages: Sequence[Message], schema: Mapping[str, Any], max_tokens: int
    ) -> int:
        """Return twice the length of an answer, as far as the window has room for it."""
        used = sum(self.count(step, message["content"]) for message in messages)
        return max(max_tokens, min(2 * max_tokens, self.room(step, schema, 0) - used))

    def _asked_again(
        self,
        step: str,
        messages: Sequence[Message],
        raw: str,
        problem: str,
        schema: Mapping[str, Any],
        max_tokens: int,
        is_cut: bool,
    ) -> list[Message]:
        """Return the prompt with what is said after an answer that was none.

        The answer is quoted where there is room for it. Roles alternate: some models' templates
        refuse two messages of the user in a row.
        """
        if not is_cut:
            quoted = [*messages, *_objection(raw, problem, schema)]
            used = sum(self.count(step, message["content"]) for message in quoted)
            if used + max_tokens + _MARGIN <= self.window(step):
                return quoted
        *before, last = messages
        short = "cut off. Answer shorter." if is_cut else "not the JSON asked for."
        return [
            *before,
            {**last, "content": f"{last['content']}\n\nYour last answer was {short}"},
        ]

    def _complete(
        self,
        model: str,
        step: str,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        max_tokens: int,
    ) -> ChatCompletion:
        """Send it in the way that the endpoint takes, which is found out by trying."""
        import openai

        client: Any = self._connected()
        key = (self.settings.base_url, model)
        dialect = self._dialects.get(key, _Dialect())
        while True:
            arguments = self._arguments(dialect, step, messages, schema, max_tokens)
            try:
                answer = client.chat.completions.create(model=model, **arguments)
            except json.JSONDecodeError as error:
                raise no_completion(model, error.doc) from error
            except openai.APIStatusError as error:
                if error.status_code not in _REFUSED:
                    raise
                if _is_overflow(error):
                    self._learn_window(step, str(error))
                    raise _OverflowError(str(error)) from error
                simpler = dialect.simpler(error, schema)
                if simpler is None:
                    raise
                dialect = simpler
                continue
            completion = completion_in(answer, model)
            self._dialects[key] = dialect
            return completion

    def _learn_window(self, step: str, said: str) -> None:
        """Take the window that the endpoint names; else, or when that was respected, a smaller."""
        now = self.window(step)
        named = [int(number.replace(",", "")) for number in _NUMBER.findall(said)]
        smaller = [number for number in named if _LEAST_WINDOW <= number < now]
        window = smaller[0] if smaller else max(_LEAST_WINDOW, now * 3 // 4)
        self._learned[self.model_of(step)] = window
        logger.warning(
            "the endpoint reads less of %s than %d tokens: %d from now on; it said: %s",
            self.model_of(step), now, window, said,
        )  # fmt: skip

    def _arguments(
        self,
        dialect: _Dialect,
        step: str,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        max_tokens: int,
    ) -> dict[str, Any]:
        arguments: dict[str, Any] = {"messages": list(messages), dialect.limit_key: max_tokens}
        if self.settings.timeout is None:
            arguments["timeout"] = _SECONDS + max_tokens / _TOKENS_PER_SECOND
        if dialect.has_temperature:
            arguments["temperature"] = 0
        if self.settings.reasoning_effort is not None:
            arguments["reasoning_effort"] = self.settings.reasoning_effort
        if dialect.format == "json_schema":
            if not dialect.has_lengths:
                schema = without_lengths(schema)
            arguments["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": step, "strict": True, "schema": schema},
            }
            return arguments
        if dialect.format == "json_object":
            arguments["response_format"] = {"type": "json_object"}
        first, *others = messages
        arguments["messages"] = [
            {**first, "content": f"{first['content']}\n\n{_schema_text(schema)}"},
            *others,
        ]
        return arguments

    def _connected(self) -> openai.OpenAI:
        with self._lock:
            if self._client is None:
                import openai

                from pgrecall.calls._sync.recording import RecordingClient

                arguments = self.settings.client_arguments()
                self._client = openai.OpenAI(http_client=RecordingClient(), **arguments)
            return self._client


def without_lengths(schema: Any) -> Any:
    """Return a schema without what not every strict mode knows: the lengths of texts and lists."""
    if isinstance(schema, Mapping):
        return {
            key: without_lengths(value)
            for key, value in schema.items()
            if key not in ("maxLength", "maxItems")
        }
    if isinstance(schema, list):
        return [without_lengths(item) for item in schema]
    return schema


def _count(usage: object, name: str) -> int:
    """Return a number of tokens, 0 when an endpoint said none."""
    count = getattr(usage, name, None)
    return count if isinstance(count, int) and count > 0 else 0


def _content(completion: ChatCompletion) -> dict[str, Any]:
    """Return what a completion says, as an answer has it; endpoints may leave numbers out."""
    choice = completion.choices[0]
    usage = completion.usage
    details = getattr(usage, "prompt_tokens_details", None)
    refusal = getattr(choice.message, "refusal", None)
    return {
        "content": storable(choice.message.content or ""),
        "refusal": storable(refusal) if refusal else None,
        "finish_reason": choice.finish_reason,
        "usage": {
            "prompt_tokens": _count(usage, "prompt_tokens"),
            "completion_tokens": _count(usage, "completion_tokens"),
            "prompt_tokens_details": {"cached_tokens": _count(details, "cached_tokens")},
        },
    }


class _OverflowError(Exception):
    """A prompt is too long."""


def _is_overflow(error: openai.APIStatusError) -> bool:
    return error.code == "context_length_exceeded" or _OVERFLOW.search(str(error)) is not None


def _said(completion: ChatCompletion) -> tuple[str, bool, str | None]:
    """Return the text of an answer, whether it was cut off, and why there is none."""
    choice = completion.choices[0]
    text = choice.message.content or ""
    refusal = getattr(choice.message, "refusal", None)
    if refusal:
        return refusal, False, "the model refused"
    if choice.finish_reason == "content_filter":
        return text, False, "a content filter stopped the answer"
    return text, choice.finish_reason == "length", None


def _json_in(text: str) -> Any:
    """Return the JSON object of an answer; thoughts, a fence or a sentence may stand around it.

    Raises:
        ValueError: there is none.
    """
    text = _THOUGHT.sub("", text)
    start = text.find("{")
    if start < 0:
        raise ValueError("no JSON object")
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    return value


def _problem(error: ValueError) -> str:
    """Return what is wrong with an answer, in one line."""
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"not the JSON asked for: {place + ': ' if place else ''}{first['msg']}"
    return f"not JSON: {error}"


def _objection(raw: str, problem: str, schema: Mapping[str, Any]) -> tuple[Message, ...]:
    """Return what is said after an answer that was none."""
    return (
        {"role": "assistant", "content": raw[:_RAW_CHARS] or "(nothing)"},
        {
            "role": "user",
            "content": f"That was {problem}.\nAnswer again. {_schema_text(schema)}",
        },
    )


def _schema_text(schema: Mapping[str, Any]) -> str:
    compact = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object of this schema, nothing else:\n{compact}"
