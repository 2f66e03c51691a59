"""The endpoint of the models that a command uses."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import click

from pgrecall import AgentMemory, ModelSettings
from pgrecall._info import checked_embedder, default_embedder
from pgrecall.cli._target import opened

__all__ = ["Endpoint", "endpoint_options", "opened_with_models"]

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint of chat models, as the options name it.

    Attributes:
        base_url: where it is; None is `OPENAI_BASE_URL`, or OpenAI.
        api_key: its key; None is `OPENAI_API_KEY`.
        model: the chat model; None is none.
        context_window: of the model, when it is named.
        timeout: seconds of one request; None is the default.
    """

    base_url: str | None
    api_key: str | None
    model: str | None
    context_window: int | None
    timeout: float | None

    def chat_model(self) -> ModelSettings | None:
        """Return the chat model, None when none is named.

        Raises:
            click.UsageError: nothing says where it is.
        """
        if self.model is None:
            return None
        named = ("OPENAI_API_KEY", "OPENAI_BASE_URL")
        if not (self.base_url or self.api_key or any(os.environ.get(name) for name in named)):
            raise click.UsageError("a model needs --base-url, --api-key-env, or OPENAI_API_KEY")
        return ModelSettings(
            model=self.model,
            base_url=self.base_url or os.environ.get("OPENAI_BASE_URL"),
            api_key=self.api_key,
            context_window=self.context_window,
            timeout=self.timeout,
        )


def endpoint_options(*, model_help: str, is_model_required: bool) -> Callable[[Function], Function]:
    """Add the options of an endpoint, which the command gets as one `endpoint`."""

    def decorated(function: Function) -> Function:
        @wraps(function)
        def command(
            *,
            base_url: str | None,
            api_key_env: str | None,
            model: str | None,
            context_window: int | None,
            timeout: float | None,
            **others: Any,
        ) -> Any:
            endpoint = Endpoint(base_url, _key(api_key_env), model, context_window, timeout)
            return function(endpoint=endpoint, **others)

        for option in (
            click.option("--timeout", metavar="S", type=click.FloatRange(1, 3600),
                         help="Seconds of one request to the model."),
            click.option("--context-window", metavar="N", type=click.IntRange(512),
                         help="Tokens of the model's prompt and answer together."),
            click.option("--model", metavar="M", required=is_model_required, help=model_help),
            click.option("--api-key-env", metavar="VAR", help="The variable that holds its key."),
            click.option("--base-url", metavar="URL", help="The OpenAI-compatible endpoint."),
        ):  # fmt: skip
            command = option(command)
        return command  # type: ignore[return-value]

    return decorated


def _key(variable: str | None) -> str | None:
    """Return the key that a variable holds."""
    if variable is None:
        return None
    key = os.environ.get(variable)
    if not key:
        raise click.UsageError(f"the variable {variable} is not set")
    return key


@contextmanager
def opened_with_models(
    dsn: str | None, endpoint: Endpoint, *, no_embedding: bool, llm: ModelSettings | None = None
) -> Iterator[AgentMemory]:
    """Open the memory as `opened`; vectors come from the endpoint too, when it is named."""
    is_named = bool(endpoint.base_url or endpoint.api_key)
    if no_embedding or not is_named:
        with opened(dsn, no_embedding=no_embedding, llm=llm) as memory:
            yield memory
        return
    with opened(dsn, no_embedding=True) as memory:
        info = memory.admin.info()
        embedder = default_embedder(info, base_url=endpoint.base_url, api_key=endpoint.api_key)
        with opened(dsn, embedder=checked_embedder(embedder, info), llm=llm) as other:
            yield other
