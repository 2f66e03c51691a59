"""The language model of workers, over the official `openai` client.

The database plans the requests and checks the answers. This module sends them, and learns from
refusals which form an endpoint accepts: a strict schema, a JSON object or text, and parameters.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pgrecall._json import dump, json_text, storable
from pgrecall._logs import logger
from pgrecall._process import OF_CLIENT, Origin, lock
from pgrecall.models._answers import (
    answer_to,
    error_answer,
    is_overflow,
    is_refused,
    named_window,
)
from pgrecall.models._tokens import count_text_tokens

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletion

__all__ = ["Asking", "ChatModel", "ModelAnswerError", "ModelSettings", "completion_in",
           "no_completion"]  # fmt: skip


_PURPOSES = ("extract", "consolidate", "summarize", "compact", "merge", "pattern", "verify")
_SENT = ("model", "messages", "response_format", "temperature", "max_tokens",
         "max_completion_tokens")  # fmt: skip
_LENGTHS = re.compile(r'"(?:maxLength|maxItems)":')
_FORMATS = ("json_schema", "json_object", "text")
_RAW_CHARS = 1000  # of an answer, kept in an error
_SECONDS, _TOKENS_PER_SECOND = 60.0, 10.0  # of a request, and of a slow model's answer


class ModelAnswerError(RuntimeError):
    """The answer of an endpoint is not a completion.

    Attributes:
        raw: the beginning of what it said.
    """

    def __init__(self, problem: str, raw: str) -> None:
        self.raw = raw[:_RAW_CHARS]
        super().__init__(f"{problem}; the answer began: {self.raw}" if raw else problem)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """An OpenAI-compatible endpoint and the model of the worker's steps.

    Attributes:
        model: the endpoint's name of the model.
        base_url: the endpoint; None is `OPENAI_BASE_URL`, or OpenAI.
        api_key: the key; None is `OPENAI_API_KEY`; a local server wants any.
        models: other models for single steps: extract, consolidate, summarize, compact, merge,
            pattern, verify.
        timeout: seconds of one request; None is a minute, and in the worker's steps another second
            for every ten tokens that the answer may have: a model on a CPU is no faster.
        max_retries: of a request that met 408, 409, 429, 5xx, a timeout or no connection.
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
class _Dialect:
    """The form of requests that an endpoint accepts for a model."""

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

    def features(self) -> dict[str, Any]:
        """Return it as the `features` of `p_worker`."""
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
        """Return the members of `p_worker` for the endpoint, with the features of this model."""
        settings = self._model.settings
        models = {
            purpose: self._known(settings.models.get(purpose, settings.model))
            for purpose in _PURPOSES
        }
        return {
            "chat_model": settings.model,
            "models": models,
            "features": self._dialect(name or settings.model).features(),
        }

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """Send a request and return its answer; None when `offer` has changed."""
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
    """An endpoint and what is known of it; one object may be shared by threads.

    Args:
        settings: endpoint and models.
        client: a client to use instead of the one that the settings describe; stays the caller's.

    Attributes:
        settings: as given.
        learned: context windows by model, from errors of the endpoint.
    """

    def __init__(self, settings: ModelSettings, client: openai.OpenAI | None = None) -> None:
        self.settings = settings
        self.learned: dict[str, int] = {}
        self.dialects: dict[str, _Dialect] = {}
        self._client = client
        self._origin = Origin(*OF_CLIENT)
        self._lock = lock()

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

    def _connected(self) -> openai.OpenAI:
        with self._lock:
            if self._client is None:
                import openai

                from pgrecall.calls._sync.recording import RecordingClient

                arguments = self.settings.client_arguments()
                self._client = openai.OpenAI(http_client=RecordingClient(), **arguments)
            elif self._origin.is_elsewhere:
                from pgrecall.calls._sync.recording import own_connections

                self._client = own_connections(self._client, self._origin)
            return self._client


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
        "content": storable(choice.message.content or "", "reply"),
        "refusal": storable(refusal, "reply") if refusal else None,
        "finish_reason": choice.finish_reason,
        "usage": {
            "prompt_tokens": _count(usage, "prompt_tokens"),
            "completion_tokens": _count(usage, "completion_tokens"),
            "prompt_tokens_details": {"cached_tokens": _count(details, "cached_tokens")},
        },
    }
