"""What of a job's input a model can read at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgrecall.errors import ConfigurationError
from pgrecall.llm import ChatModel
from pgrecall.steps._questions import line

__all__ = ["answer_tokens", "leading_lines", "leading_turns", "room_for_data", "shortened_to"]

_ANSWER_SHARE = 4  # of the window at most a fourth is the answer
_LEAST_ROOM = 64  # tokens of data, below which a question makes no sense
_SHORTEST = 60  # characters left of a message before turns are left for the next time

Message = Mapping[str, Any]


def answer_tokens(model: ChatModel, step: str, wanted: int) -> int:
    """Return how long an answer may be: as long as wanted, within its share of the window."""
    return min(wanted, model.window(step) // _ANSWER_SHARE)


def room_for_data(
    model: ChatModel,
    step: str,
    prompt: Sequence[Mapping[str, str]],
    schema: Mapping[str, Any],
    max_tokens: int,
) -> int:
    """Return the tokens left for data beside a prompt without them.

    Raises:
        ConfigurationError: not even the instructions fit.
    """
    fixed = sum(model.count(step, message["content"]) for message in prompt)
    left = model.room(step, schema, max_tokens) - fixed
    if left < _LEAST_ROOM:
        raise ConfigurationError(
            f"the context window of {model.model_of(step)}, {model.window(step)} tokens, is too "
            f"small for the step {step}",
            hint="Some 3,000 tokens are the least; ModelSettings.models names another model for "
            "a step.",
        )
    return left


def shortened_to(text: str, tokens: int, model: ChatModel, step: str) -> str:
    """Return a text of at most so many tokens, its end left out."""
    return text if is_small(text, tokens) else model.truncated(step, text, tokens)


def leading_turns(
    messages: Sequence[Message],
    tokens: int,
    model: ChatModel,
    step: str,
    longest: Mapping[str, int],
) -> tuple[str, int]:
    """Return the first messages that fit as lines of a prompt, and how many they are.

    Exchanges are kept together, and an exchange begins with a message of the user. When the first
    one alone is too long, the middle of its messages is left out; when that is not enough, its
    first turns are taken: at least one message always is.
    """
    lines = [line(message, longest) for message in messages]
    if is_small("\n".join(lines), tokens):
        return "\n".join(lines), len(lines)
    taken = _that_fit(lines, tokens, model, step)
    if taken < len(lines):
        starts = [place for place in range(1, len(lines)) if messages[place]["role"] == "user"]
        whole = [place for place in starts if place <= taken]
        if not whole:
            return _squeezed(messages[: min([*starts, len(lines)])], tokens, model, step, longest)
        taken = whole[-1]
    return "\n".join(lines[:taken]), taken


def _squeezed(
    messages: Sequence[Message],
    tokens: int,
    model: ChatModel,
    step: str,
    longest: Mapping[str, int],
) -> tuple[str, int]:
    """Return the turns of one long exchange with the middle of each left out, as many as fit."""
    limit = max(longest.values())
    while limit > _SHORTEST:
        limit //= 2
        limits = {role: min(limit, usual) for role, usual in longest.items()}
        lines = [line(message, limits) for message in messages]
        taken = _that_fit(lines, tokens, model, step)
        if taken == len(lines):
            break
    taken = max(1, taken)
    return shortened_to("\n".join(lines[:taken]), tokens, model, step), taken


def _that_fit(lines: Sequence[str], tokens: int, model: ChatModel, step: str) -> int:
    for place, text in enumerate(lines):
        tokens -= model.count(step, text) + 1  # the end of the line
        if tokens < 0:
            return place
    return len(lines)


def leading_lines(
    lines: Sequence[str],
    head: Sequence[Mapping[str, str]],
    model: ChatModel,
    step: str,
    schema: Mapping[str, Any],
    max_tokens: int,
) -> list[str]:
    """Return the first lines that fit beside a prompt without them."""
    room = room_for_data(model, step, head, schema, max_tokens)
    return list(lines[: _that_fit(lines, room, model, step)])


def is_small(text: str, tokens: int) -> bool:
    """Return whether a text fits without counting: a token is one byte at least."""
    return len(text) <= tokens and len(text.encode("utf-8", "replace")) <= tokens
