"""One turn of a conversation: context, model, tool calls, model again, and what is stored of it."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast
from uuid import UUID

import psycopg

from pgrecall import _process, _tools
from pgrecall._async.contexts import AsyncContexts
from pgrecall._async.conversation import AsyncConversation
from pgrecall._async.endpoint import AsyncEndpoint
from pgrecall._async.tools import AsyncMemoryTools
from pgrecall._async.transcript import AsyncTranscript
from pgrecall._json import dump
from pgrecall._logs import logger
from pgrecall._loop import (
    INTERRUPTED,
    bounded,
    error_text,
    repaired,
    result_text,
    trimmed,
    usage_of,
)
from pgrecall._messages import content_text, merge_chunks
from pgrecall._options import ContextOptions
from pgrecall._runtime import AsyncRuntime
from pgrecall._tools import AskedCall, tool_message, tool_name
from pgrecall.errors import InvalidInputError
from pgrecall.models._chat import completion_in, no_completion
from pgrecall.models._tokens import count_message_tokens

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

    from pgrecall.calls._async.log import AsyncCallLog
    from pgrecall.rows import CompiledContext, Task

__all__ = ["AsyncReplyStream", "AsyncTurn"]

Functions = Mapping[str, Callable[..., Any]] | Callable[[str, dict[str, Any]], Any]


_PER_MESSAGE = 4  # tokens of a message's frame, as settings.tokens_per_message has it
_LEAST_ROOM = 64  # tokens; less is no room for an answer
_OF_TOOLS = ("tool_choice", "parallel_tool_calls")  # parameters that want tools beside them


@dataclass(kw_only=True)
class AsyncTurn:
    """A turn in the making; `ChatSession.send` says what it does, and what its arguments are.

    Attributes:
        completion: the last one of a turn that is not streamed.
        stored: the messages that were appended so far.
    """

    conversation: AsyncConversation
    contexts: AsyncContexts
    transcript: AsyncTranscript
    endpoint: AsyncEndpoint
    call_log: AsyncCallLog
    text: Any
    tools: Sequence[Any] | None
    functions: Functions | None
    memory_tools: AsyncMemoryTools | None
    max_tool_rounds: int
    max_result_tokens: int
    is_streamed: bool
    parameters: dict[str, Any]
    completion: ChatCompletion | None = None
    stored: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.max_tool_rounds < 0 or self.max_result_tokens < 1:
            raise InvalidInputError(
                f"max_tool_rounds is {self.max_tool_rounds}, max_result_tokens is "
                f"{self.max_result_tokens}",
                hint="At least 0, and at least 1.",
            )
        self._tools = [dump(tool) for tool in self.tools or ()]
        self._names = [tool_name(tool) for tool in self._tools]
        if self.memory_tools is not None:
            self._tools += self.memory_tools.definitions
            self._names += self.memory_tools.names
        if twice := sorted({name for name in self._names if self._names.count(name) > 1}):
            raise InvalidInputError(f"two tools are named {twice[0]}", hint="Rename one.")
        self._origin = _process.Origin("this turn", "The parent continues and stores it.")
        self._messages: list[Mapping[str, Any]] = []
        self._rounds: list[list[dict[str, Any]]] = []
        self._ends: list[int] = []  # the last turn of each round.
        self._asked = 0  # rounds so far, including those that the summary covers.
        self._first_turn = 0  # the first stored turn.
        self._compacted = 0  # the last turn that the summary covers.
        self._budget: dict[str, Any] = {}
        self._task: Task | None = None
        self._answered: dict[str, Any] = {}
        self._latency = 0
        self._call_id: UUID | None = None

    async def pieces(self) -> AsyncGenerator[str, None]:
        """Do the turn; yield the text as it arrives, nothing when it is not streamed."""
        contexts = self.contexts
        compiled = await contexts.compile(None, self._question() | contexts.measured())
        contexts.record(compiled)
        self._begin_with(compiled)
        is_going_on = True
        while is_going_on:
            await self._renew()
            async with aclosing(self._ask()) as pieces:
                async for piece in pieces:
                    yield piece
            is_going_on = await self._answer_calls()

    def _question(self) -> ContextOptions:
        return {"current_message": self.text, "tools": self._tools or None}

    def _begin_with(self, compiled: CompiledContext) -> None:
        self._messages = list(compiled.messages)
        self._budget = compiled.budget
        self._task = compiled.task
        covered = [part.to_turn for part in compiled.left_out if part.reason == "summarized"]
        self._compacted = max(covered, default=0)

    async def _renew(self) -> None:
        """Compile the context again when the session was compacted during the turn.

        The new summary replaces the rounds that it covers. History ends before this
        turn, whose other rounds follow the context as before.
        """
        if not self._rounds:
            return
        compacted = (await self.conversation.refresh()).compacted_through_turn or 0
        if compacted == self._compacted:
            return
        before: ContextOptions = {"through_turn": self._first_turn - 1, "task": self._task}
        compiled = await self.contexts.compile(None, self._question() | before)
        self._begin_with(compiled)
        self._compacted = compacted
        left = [place for place, end in enumerate(self._ends) if end > compacted]
        start = min([*left, len(self._rounds) - 1])
        self._rounds, self._ends = self._rounds[start:], self._ends[start:]

    # The model

    async def _ask(self) -> AsyncGenerator[str, None]:
        """Send one request to the model, with all messages and results so far."""
        self._origin.check()
        client: Any = self.endpoint.client()
        request = {**self.conversation.params, **self.parameters, "messages": self._fitted()}
        if self._tools and self._may_call():
            request["tools"] = self._tools
            if self._rounds and request.get("tool_choice") not in ("auto", "none"):
                request.pop("tool_choice", None)  # a choice that forces a call would never end
        else:
            for name in _OF_TOOLS:
                request.pop(name, None)
        started = time.monotonic()
        if not self.is_streamed:
            completion = completion_in(await self._create(client, request), request["model"])
            self._take(dump(completion), started)
            self.completion = completion
            calls = self._answered["choices"][0]["message"].get("tool_calls") or ()
            for call, mended in zip(completion.choices[0].message.tool_calls or (), calls,
                                    strict=False):  # fmt: skip
                call.id = mended["id"]  # as it is stored, for the caller that answers it
            return
        received: list[Any] = []
        try:
            async with await self._create(client, request) as chunks:
                async for chunk in chunks:
                    received.append(chunk)
                    if piece := _piece(chunk):
                        yield piece
        except json.JSONDecodeError as error:
            await self._keep(received, started)
            raise no_completion(request["model"], error.doc) from error
        except BaseException:
            await self._keep(received, started)
            raise
        if not any(chunk.choices for chunk in received):
            raise no_completion(request["model"])
        self._take(merge_chunks(received), started)

    async def _create(self, client: Any, request: dict[str, Any]) -> Any:
        """Send the request without the parameters that the endpoint refuses."""
        import openai

        habits = self.endpoint.habits
        if self.is_streamed:
            request["stream"] = True
            request.setdefault("stream_options", {"include_usage": True})
        chat, log = self.conversation, self.call_log
        with await log.of_own(chat.user_id, session_id=chat.session_id) as recording:
            while True:
                asked = habits.adapted(request, self.parameters)
                try:
                    answer = await client.chat.completions.create(**self.endpoint.arguments(asked))
                except json.JSONDecodeError as error:
                    raise no_completion(request["model"], error.doc) from error
                except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                    if not habits.learn(asked, self.parameters, str(error)):
                        raise
                    continue
                # of several attempts the last one was answered
                self._call_id = recording.call_ids[-1] if recording and recording.call_ids else None
                return answer

    def _take(self, completion: dict[str, Any], started: float) -> None:
        """Record a reply: repaired, with usage and finish_reason."""
        message = repaired(completion)
        choice = completion["choices"][0]
        self._latency = round((time.monotonic() - started) * 1000)
        if self.is_streamed and choice.get("finish_reason") is None:
            # the stream ended in the middle; what a call was going to be is not known
            choice["finish_reason"] = INTERRUPTED
            message.pop("tool_calls", None)
            message["content"] = message.get("content") or ""
        completion["usage"] = usage_of(completion)
        if completion["usage"] is None:
            completion["usage"] = {
                "prompt_tokens": self._prompt_tokens(),
                "completion_tokens": count_message_tokens(message, self.conversation.model),
            }
            message["metadata"] = {**(message.get("metadata") or {}), "usage_estimated": True}
        if self._call_id is not None:
            message["model_call_id"] = str(self._call_id)
        self._answered = completion

    async def _keep(self, received: list[Any], started: float) -> None:
        """Store the text of a reply that broke off; nothing when there is none."""
        completion = merge_chunks(received)
        choice = completion["choices"][0]
        choice["finish_reason"] = None
        if not (choice["message"].get("content") or choice["message"].get("refusal")):
            return
        self._take(completion, started)
        await self._append_at_best(self._answered)

    # The calls

    def _may_call(self) -> bool:
        return self._asked < self.max_tool_rounds and self._room() >= _LEAST_ROOM

    async def _answer_calls(self) -> bool:
        """Do what the reply asks, and append both; return whether the model shall go on."""
        completion = self._answered
        message = completion["choices"][0]["message"]
        asked = [AskedCall.of(call) for call in message.get("tool_calls") or ()]
        mine = [call for call in asked if self._is_mine(call)]
        if not mine:
            await self._append(completion)
            return False
        may_call = self._may_call()
        self._rounds.append([_for_model(message)])
        self._asked += 1
        answers: list[dict[str, Any]] = []
        try:
            limit = min(self.max_result_tokens, self._room() // 2 // len(mine))
            for call in mine:
                answers += [await self._answer(call, limit, may_call)]
        except BaseException:
            # whole or not at all: an endpoint refuses a call without all its answers
            rest = mine[len(answers) :]
            answers += [tool_message(call, error_text(INTERRUPTED)) for call in rest]
            await self._append_at_best(completion, *answers)
            raise
        self._rounds[-1] += answers
        self._ends.append(await self._append(completion, *answers))
        chat = self.conversation
        self.call_log.note_tools(chat.user_id, chat.session_id, self._call_id, mine, answers)
        return may_call and len(mine) == len(asked)

    def _is_mine(self, call: AskedCall) -> bool:
        """Return whether a call is executed here, and not by the caller of `send`."""
        if self.memory_tools is not None and call.name in self.memory_tools.names:
            return True
        if self.functions is None:
            return self.memory_tools is not None and call.name not in self._names
        return (
            callable(self.functions) or call.name in self.functions or call.name not in self._names
        )

    async def _answer(self, call: AskedCall, limit: int, may_call: bool) -> dict[str, Any]:
        """Return the tool message that answers a call, of at most so many tokens."""
        model = self.conversation.model
        if not may_call:
            return tool_message(call, error_text("no more tool calls in this turn"))
        if limit < _LEAST_ROOM // 2:
            return tool_message(call, error_text("no tokens are left for a result"))
        if self.memory_tools is not None and call.name in self.memory_tools.names:
            answer = await self.memory_tools.dispatch(
                {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}},
                max_chars=min(_tools.MAX_RESULT_CHARS, limit),
            )
            return answer | {"content": bounded(answer["content"], limit, model)}
        return tool_message(call, bounded(await self._called(call), limit, model))

    async def _called(self, call: AskedCall) -> str:
        """Call the function of the caller; its exception becomes an error message to the model."""
        functions = self.functions
        if call.name not in self._names:
            return error_text(f"there is no tool {call.name}; known: {', '.join(self._names)}")
        try:
            arguments = call.parsed()
        except ValueError as error:
            return error_text(str(error))
        try:
            if isinstance(functions, Mapping):
                value = await AsyncRuntime.call(functions[call.name], **arguments)
            else:
                assert functions is not None  # noqa: S101
                value = await AsyncRuntime.call(functions, call.name, arguments)
        except Exception as error:
            logger.warning("tool %s failed: %s: %s", call.name, type(error).__name__, error)
            return error_text(f"{type(error).__name__}: {error}")
        return result_text(value)

    # The window

    def _fitted(self) -> list[Mapping[str, Any]]:
        """Return the messages of the next call, without those that exceed the window."""
        excess = self._prompt_tokens() - self._limit()
        return trimmed(self._messages, self._rounds, excess, self._cost)

    def _limit(self) -> int:
        return int(self._budget["window"]) - int(self._budget["response"])

    def _prompt_tokens(self) -> int:
        """Return the tokens of the context and of the rounds after it."""
        said = sum(self._cost(message) for part in self._rounds for message in part)
        return int(self._budget["total"]) + said

    def _room(self) -> int:
        """Return the tokens that a round may still take; history and older rounds yield to it."""
        stays = int(self._budget["total"]) - int(self._budget["history"])
        last = self._rounds[-1] if self._rounds else ()
        return self._limit() - stays - sum(map(self._cost, last))

    def _cost(self, message: Mapping[str, Any]) -> int:
        return count_message_tokens(message, self.conversation.model) + _PER_MESSAGE

    # The record

    async def _append(self, *messages: dict[str, Any]) -> int:
        """Append a model's call, whole: its message, usage and answers; return the last turn."""
        self._origin.check()
        asked = [] if self.stored else [_user_message(self.text)]
        turns = await self.transcript.append(
            [*asked, *messages], usage={"latency_ms": self._latency}
        )
        self._first_turn = self._first_turn or turns[0].turn_index
        said = [{**m["choices"][0]["message"], "finish_reason": m["choices"][0]["finish_reason"]}
                if "choices" in m else m for m in messages]  # fmt: skip
        self.stored += [*asked, *said]
        return turns[-1].turn_index

    async def _append_at_best(self, *messages: dict[str, Any]) -> None:
        """Append while an error is on its way, which is the one to be raised."""
        try:
            await self._append(*messages)
        except psycopg.Error as error:
            logger.warning("an interrupted turn could not be stored: %s", error)


class AsyncReplyStream(AsyncIterator[str]):
    """A reply as it arrives: pieces of text; made by `send(stream=True)`.

    The request is sent when the first piece is read. A reader that stops early closes the stream,
    best by a `with` block: the text so far is stored, with finish_reason `interrupted`.
    """

    def __init__(self, turn: AsyncTurn) -> None:
        self._turn = turn
        self._pieces = turn.pieces()
        self._origin = _process.Origin("this reply", "The parent continues to read it.")
        _process.renewing(self)

    def _renew(self) -> None:
        """Leave the connection that is read to the parent."""
        _process.keep(self._pieces)

    async def __anext__(self) -> str:
        self._origin.check()
        return await self._pieces.__anext__()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop reading, and store the text so far; in a child do nothing."""
        if not self._origin.is_elsewhere:
            await self._pieces.aclose()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the turn that are stored, in the chat format; it grows."""
        return list(self._turn.stored)

    @property
    def message(self) -> dict[str, Any] | None:
        """The last of them that is the model's, with its finish_reason."""
        return next((m for m in reversed(self._turn.stored) if m["role"] == "assistant"), None)

    @property
    def text(self) -> str:
        """The text of that message."""
        return content_text(self.message or {})

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The calls without an answer: those of tools without a function."""
        answered = {m["tool_call_id"] for m in self._turn.stored if m["role"] == "tool"}
        calls = cast("list[dict[str, Any]]", (self.message or {}).get("tool_calls") or [])
        return [call for call in calls if call["id"] not in answered]


def _user_message(text: Any) -> dict[str, Any]:
    if isinstance(text, Mapping):
        return {**text, "role": "user"}
    return {"role": "user", "content": text}


def _for_model(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return an assistant's message in the form that an endpoint accepts."""
    said = {key: message[key] for key in ("role", "content", "tool_calls") if message.get(key)}
    return {"content": None, **said}


def _piece(chunk: Any) -> str:
    """Return the text of a chunk's first choice."""
    choice = next((c for c in chunk.choices or () if not c.index), None)
    delta = choice and choice.delta
    return (delta and (delta.content or getattr(delta, "refusal", None))) or ""
