"""One conversation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, overload
from uuid import UUID

from pgrecall._async.contexts import AsyncContexts
from pgrecall._async.conversation import AsyncConversation
from pgrecall._async.core import AsyncCore
from pgrecall._async.endpoint import AsyncEndpoint
from pgrecall._async.memories import AsyncMemories
from pgrecall._async.sessions import AsyncSessions
from pgrecall._async.tools import AsyncMemoryTools
from pgrecall._async.transcript import AsyncTranscript
from pgrecall._async.turn import AsyncReplyStream, AsyncTurn, Functions
from pgrecall._options import ContextOptions, MemoryFields
from pgrecall._sql import UNSET, Call, Unset, Vector
from pgrecall.models._tokens import exact_tokens
from pgrecall.rows import (
    Appended,
    CompiledContext,
    ExplainedMemory,
    Message,
    Remembered,
    SearchHit,
    Session,
)

if TYPE_CHECKING:
    from openai.types.chat import (
        ChatCompletion,
        ChatCompletionMessageParam,
    )

    from pgrecall.calls._capture import Level, Recording

__all__ = ["AsyncChatSession"]


class AsyncChatSession:
    """One conversation of a user; made by `AgentMemory.session`.

    Leaving its `with` block closes nothing but this object; `close` closes the conversation.
    """

    def __init__(
        self,
        core: AsyncCore,
        sessions: AsyncSessions,
        memories: AsyncMemories,
        endpoint: AsyncEndpoint,
        conversation: AsyncConversation,
        contexts: AsyncContexts,
    ) -> None:
        self._core = core
        self._sessions = sessions
        self._memories = memories
        self._endpoint = endpoint
        self._conversation = conversation
        self._contexts = contexts
        self._transcript = AsyncTranscript(core, conversation)

    async def open(self) -> Session:
        """Open the conversation, or find the one that exists, and return what is known of it.

        Raises:
            NotFoundError: without a model, a session that does not exist; an unknown parent.
            InvalidInputError: a value out of range.
        """
        return await self._conversation.open()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    # Identity and parameters

    @property
    def info(self) -> Session:
        """The session's row as it was opened, or last refreshed."""
        return self._conversation.info

    @property
    def session_id(self) -> UUID:
        """The session's id."""
        return self._conversation.session_id

    @property
    def user_id(self) -> UUID:
        """The user's id."""
        return self._conversation.user_id

    @property
    def model(self) -> str:
        """The chat model."""
        return self._conversation.model

    @property
    def params(self) -> dict[str, Any]:
        """Arguments of `chat.completions.create`: model, temperature, top_p and max_tokens."""
        return self._conversation.params

    @property
    def last_context(self) -> CompiledContext | None:
        """The last compiled context with its budget, memories and history."""
        return self._contexts.last

    async def refresh(self) -> Session:
        """Read the session again: counters, cost, status."""
        return await self._conversation.refresh()

    async def update(self, **changes: Any) -> Session:
        """Change model_id, system_prompt, temperature, title, metadata, … and return the result.

        Raises:
            InvalidInputError: an unknown key, a value out of range.
        """
        opened = await self._conversation.open()
        model = changes.get("model_id") or opened.model_id
        tokens = exact_tokens(changes.get("system_prompt"), model)
        if tokens is not None:
            changes.setdefault("system_prompt_tokens", tokens)
        await self._conversation.change("update_session", changes=changes)
        return await self.refresh()

    async def pause(self) -> None:
        """Pause the conversation: nothing can be appended."""
        await self._conversation.change("pause_session")

    async def resume(self) -> None:
        """Make a paused, closed or expired conversation active again."""
        await self._conversation.change("resume_session")

    async def close(self) -> None:
        """Close the conversation: delete its working memory, and enqueue the last extraction."""
        await self._conversation.change("close_session")

    # A turn

    async def context(
        self, query: str | None = None, **options: Unpack[ContextOptions]
    ) -> list[ChatCompletionMessageParam]:
        """Compile the messages of the next call, within the model's budget.

        `last_context` has the budget, the memories and the rest of the compiled context. The use
        of its memories is recorded in the background. Stale memories (of little importance, unused
        for a month) are left out, except instructions and `memory_ids`; a `filter` with "stale"
        overrides this.

        A reranker orders the first 30 of the 90 best memories of a search, and the context packs
        them in this order. It does not order the quoted turns of `recalled`. When it fails, or
        takes longer than `Limits.rerank_timeout`, the order of the database stays. It is not called
        without a query, or with `memory_ids`, `pack` density, `memories_as_of` session_start or a
        `selection` other than hybrid.

        Args:
            query: steers what is remembered, and is the user's message that the context ends with.
            options: `ContextOptions` describes each.

        Raises:
            ContextOverflowError: the fixed parts alone exceed the window.
            CostLimitError: the session's cost limit is reached.
            InvalidInputError: an unknown option.
        """
        compiled = await self._contexts.compile(query, self._contexts.measured() | options)
        if "as_of" not in options:
            self._contexts.record(compiled)
        return compiled.messages

    async def compile(
        self, query: str | None = None, **options: Unpack[ContextOptions]
    ) -> CompiledContext:
        """Compile as `context`, and return all of it. Nothing is written, no use is recorded."""
        return await self._contexts.compile(query, options)

    async def explain(
        self, query: str | None = None, **options: Unpack[ContextOptions]
    ) -> list[ExplainedMemory]:
        """Return every memory that `context` with the same arguments considers, and why."""
        return await self._contexts.explain(query, options)

    async def append(
        self,
        messages: Any = None,
        *,
        user: Any = None,
        reply: Any = None,
        usage: Mapping[str, Any] | None = None,
        request_id: UUID | None = None,
    ) -> list[Appended]:
        """Append a turn, or any messages, in one transaction.

        Appended are `messages`, then the user's message, then the reply. Each call carries a
        request id, so that it is sent again after a lost connection and still stored once.

        Args:
            messages: a message, a completion, or an iterable of them, in their order.
            user: the user's message: a text, a list of parts, or a message.
            reply: the model's answer: a text, a message, a `ChatCompletion`, or the stream of one.
            usage: tokens and cost of the call, when the reply does not say it itself:
                prompt_tokens, completion_tokens, cached_tokens, latency_ms, cost_microcents.
            request_id: of an append that may have been sent before.

        Raises:
            InvalidInputError: something is no message; nothing is stored.
            SessionNotActiveError: the session is closed.
            RequestConflictError: the request id came before with other messages.
        """
        return await self._transcript.append(
            messages, user=user, reply=reply, usage=usage, request_id=request_id
        )

    async def sync(self, messages: Any) -> list[Appended]:
        """Append the new messages of a list that the caller keeps, and return them.

        The caller's list may lack its beginning, or have a summary instead. Messages after the last
        stored message are appended; if the list does not contain that message, the whole list is.
        When the list agrees with the conversation and then differs (an edit, another answer), the
        stored turns that differ are retracted first. A list that only ends earlier changes nothing.
        A system prompt at its beginning that is the session's own is ignored.

        Two calls at the same time with the same list append once.

        Args:
            messages: an iterable of messages, oldest first, as `append` takes them.

        Raises:
            InvalidInputError: something is no message; nothing is stored.
            SessionNotActiveError: the session is closed.
        """
        return await self._transcript.sync(messages)

    @overload
    async def send(
        self,
        text: Any,
        *,
        tools: Sequence[Any] | None = None,
        functions: Functions | None = None,
        memory_tools: bool | Collection[str] = False,
        max_tool_rounds: int = 8,
        max_result_tokens: int = 8000,
        stream: Literal[False] = False,
        **parameters: Any,
    ) -> ChatCompletion: ...
    @overload
    async def send(
        self,
        text: Any,
        *,
        tools: Sequence[Any] | None = None,
        functions: Functions | None = None,
        memory_tools: bool | Collection[str] = False,
        max_tool_rounds: int = 8,
        max_result_tokens: int = 8000,
        stream: Literal[True],
        **parameters: Any,
    ) -> AsyncReplyStream: ...
    async def send(
        self,
        text: Any,
        *,
        tools: Sequence[Any] | None = None,
        functions: Functions | None = None,
        memory_tools: bool | Collection[str] = False,
        max_tool_rounds: int = 8,
        max_result_tokens: int = 8000,
        stream: bool = False,
        **parameters: Any,
    ) -> ChatCompletion | AsyncReplyStream:
        """Compile a context, call the model, run the tools it calls, and append all of it.

        Returned is the last completion; with `stream=True` the text as it arrives::

            with chat.send("Which editor?", stream=True) as reply:
                for piece in reply:
                    print(piece, end="", flush=True)

        Stored is one model call at a time, in one transaction: the user's message with the first,
        the assistant's message with its usage, latency and finish_reason, and the answers to all
        of its calls. So the transcript is valid at any moment, and a call that fails loses none of
        the calls before it. When the first call fails, nothing is appended. A stream that breaks,
        or that its reader closes, stores the text so far, with finish_reason `interrupted`; without
        any text it stores nothing. An interrupted tool is stored with the answer
        `{"error": "interrupted"}`.

        The turn stays within the window: results are cut, and when they need tokens, the oldest
        messages of the history are left out, then the oldest rounds of the turn. When a worker
        compacts the session meanwhile, the next call begins with the summary. When an endpoint
        reports no usage, the driver counts the tokens and sets `usage_estimated` in the message's
        metadata.

        Args:
            text: the user's message: a text, a list of parts, or a message.
            tools: definitions for the model, beside those of the memory tools.
            functions: the functions that execute calls of `tools`: functions by name, called with
                the model's arguments by keyword, or one function of name and arguments. In the
                asynchronous client a plain function runs in a thread. The answer is the result, a
                text or a JSON value; an exception becomes an error message to the model. Calls of
                tools without a function are returned, not executed; other calls of the same message
                are answered already.
            memory_tools: whether the model gets the tools of `memory_tools()`, or which of them.
            max_tool_rounds: after so many rounds of calls the model is asked without tools.
            max_result_tokens: of the answer to one call.
            stream: return a stream of the text instead of the completion.
            parameters: others of `chat.completions.create`, before those of `params`.

        Raises:
            openai.OpenAIError: a call failed, or a stream broke.
            ModelAnswerError: the answer of the endpoint is not a completion.
            InvalidInputError: two tools of one name.
            ContextOverflowError: as `context`, as CostLimitError.
        """
        await self._conversation.open()
        chosen = None if isinstance(memory_tools, bool) else memory_tools
        turn = AsyncTurn(
            conversation=self._conversation,
            contexts=self._contexts,
            transcript=self._transcript,
            endpoint=self._endpoint,
            call_log=self._core.call_log,
            text=text,
            tools=tools,
            functions=functions,
            memory_tools=self.memory_tools(only=chosen) if memory_tools else None,
            max_tool_rounds=max_tool_rounds,
            max_result_tokens=max_result_tokens,
            is_streamed=stream,
            parameters=parameters,
        )
        if stream:
            return AsyncReplyStream(turn)
        async for _ in turn.pieces():
            pass
        assert turn.completion is not None  # noqa: S101
        return turn.completion

    def memory_tools(self, *, only: Collection[str] | None = None) -> AsyncMemoryTools:
        """Return the tools that let a model use the memory of this user, in OpenAI's form.

        `send(memory_tools=True)` runs them. In a loop of your own::

            tools = chat.memory_tools()
            reply = client.chat.completions.create(
                model=chat.model, messages=messages, tools=tools.definitions
            )
            answers = [tools.dispatch(call) for call in reply.choices[0].message.tool_calls or ()]
            chat.append([*question, reply, *answers])

        With the asynchronous client `dispatch` is a coroutine. Pass the definitions to
        `context` too, so that they are counted.

        Args:
            only: some of search_memories, remember, forget_memory, search_messages, get_messages,
                get_user_profile.

        Raises:
            InvalidInputError: `only` names another tool.
        """
        return AsyncMemoryTools(
            self._conversation, self._contexts, self._sessions, self._memories, only=only
        )

    async def recording(
        self, *, level: Level = "streams", metadata: Mapping[str, Any] | None = None
    ) -> Recording:
        """Record calls of models in a `with` block for this session; `AgentMemory.calls`."""
        opened = await self._conversation.open()
        return self._core.call_log.recording(
            self.user_id, opened.session_id, None, level, metadata or {}
        )

    async def clear(self) -> Mapping[str, int]:
        """Erase what the session holds, and keep it; return the deleted rows by table."""
        opened = await self._conversation.open()
        receipt: Mapping[str, Mapping[str, int]] = await self._core.long_call(
            self.user_id, "clear_session", session_id=opened.session_id
        )
        return receipt["counts"]

    async def pop(self, limit: int = 1) -> list[Message]:
        """Retract the newest turns, and return their messages, newest first."""
        opened = await self._conversation.open()
        return await self._core.change(
            Message, self.user_id, "pop_turns", session_id=opened.session_id, limit=limit
        )

    async def retract(self, from_turn: int) -> int:
        """Retract the turns from this one on (regenerate, undo); return how many."""
        return await self._transcript.retract(from_turn)

    async def annotate(self, turn_index: int, patch: Mapping[str, Any]) -> None:
        """Add to a message's metadata; None removes a key."""
        await self._conversation.change("annotate_message", turn_index=turn_index, patch=patch)

    async def messages(
        self,
        *,
        limit: int | Unset = UNSET,
        before_turn: int | Unset = UNSET,
        include_compacted: bool | Unset = UNSET,
    ) -> list[Message]:
        """Return the messages, newest first; a page goes on before `before_turn`."""
        opened = await self._conversation.open()
        return await self._sessions.messages(
            self.user_id,
            opened.session_id,
            limit=limit,
            before_turn=before_turn,
            include_compacted=include_compacted,
        )

    # Memories

    async def search(
        self,
        query: str | None = None,
        *,
        embedding: Vector | Unset | None = UNSET,
        limit: int | Unset = UNSET,
        filter: Mapping[str, Any] | Unset = UNSET,  # noqa: A002
        as_of: datetime | Unset = UNSET,
    ) -> list[SearchHit]:
        """Return the user's memories that answer a query, best first, as `AgentMemory.search`."""
        await self._conversation.open()
        return await self._memories.search(
            self.user_id, query, embedding=embedding, limit=limit, filter=filter, as_of=as_of
        )

    async def remember(self, content: str, **fields: Unpack[MemoryFields]) -> Remembered:
        """Remember a sentence, as `AgentMemory.remember`, with this session as its source."""
        opened = await self._conversation.open()
        fields.setdefault("session_id", opened.session_id)
        return await self._memories.remember(self.user_id, content, **fields)

    # Working memory

    async def put_working(
        self,
        task_id: str,
        key: str,
        value: Any,
        *,
        ttl: timedelta | Unset = UNSET,
        token_count: int | Unset = UNSET,
    ) -> None:
        """Store a JSON value for a task; writing it again renews its time to live."""
        await self._conversation.change(
            "put_working", task_id=task_id, key=key, value=value, ttl=ttl, token_count=token_count
        )

    async def get_working(self, task_id: str, key: str | Unset = UNSET) -> Any:
        """Return a task's value, or all of its values by key; None when there is none."""
        opened = await self._conversation.open()
        call = Call.of(
            "get_working",
            user_id=self.user_id,
            session_id=opened.session_id,
            task_id=task_id,
            key=key,
        )
        # never of a standby: there is no working memory on one
        return await self._core.write.value(call, repeatable=True)

    async def clear_working(self, task_id: str | Unset = UNSET) -> int:
        """Delete a task's values, or all of the session; return how many."""
        return int(await self._conversation.change("clear_working", task_id=task_id))
