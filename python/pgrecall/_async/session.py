"""One conversation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, overload
from uuid import UUID, uuid4, uuid5

from pgrecall._async.tools import AsyncMemoryTools
from pgrecall._async.turn import AsyncReplyStream, AsyncTurn, Functions
from pgrecall._messages import (
    content_text,
    continued,
    normalize,
    shorten_task,
    tool_tokens,
    with_tokens,
)
from pgrecall._names import new_uuid, session_uuid
from pgrecall._runtime import AsyncRuntime
from pgrecall._sql import UNSET, Call, Unset, Vector
from pgrecall.errors import InvalidInputError, NotFoundError
from pgrecall.models._rerankers import least_match
from pgrecall.models._tokens import count_text_tokens, encoding_name
from pgrecall.rows import (
    Appended,
    CompiledContext,
    ExplainedMemory,
    Message,
    NewMessage,
    Remembered,
    SearchHit,
    Session,
)

if TYPE_CHECKING:
    from openai.types.chat import (
        ChatCompletion,
        ChatCompletionMessageParam,
        ChatCompletionToolUnionParam,
    )

    from pgrecall._async.base import User
    from pgrecall._async.client import AsyncAgentMemory
    from pgrecall._async.database import AsyncDatabase
    from pgrecall.calls._capture import Level, Recording
    from pgrecall.models._rerankers import Reranker

__all__ = ["AsyncChatSession"]

_CHOSEN_MEMORIES = 90  # that an order of the driver's offers a context, as many as SQL considers
_MEASURED = 10  # of so many contexts of a conversation one is measured, the first one first
_SYNC_SPARE = 100  # stored messages looked at beyond the length of a caller's list


class AsyncChatSession:
    """One conversation of a user; made by `AgentMemory.session`.

    Leaving its `with` block closes nothing but this object; `close` closes the conversation.

    Attributes:
        last_context: the whole of what the last `context` compiled: budget, memories used, ….
    """

    def __init__(
        self,
        memory: AsyncAgentMemory,
        user: User,
        session_id: User | None,
        arguments: dict[str, Any],
    ) -> None:
        self._memory = memory
        self._user = user
        self._wanted = session_id
        self._arguments = arguments
        self._lock = AsyncRuntime.lock()
        self._sync_lock = AsyncRuntime.lock()
        self._session: Session | None = None
        self._user_id: UUID | None = None
        self.last_context: CompiledContext | None = None
        self._contexts = 0
        self._is_sealed = False
        self._last_asked = ""  # what the user said in the turn at hand, not stored yet

    async def open(self) -> Session:
        """Open the conversation, or find the one that exists, and return what is known of it.

        Raises:
            NotFoundError: without a model, a session that does not exist; an unknown parent.
            InvalidInputError: a value out of range.
        """
        async with self._lock:
            if self._session is None:
                self._session = await self._open()
            return self._session

    async def _open(self) -> Session:
        arguments = dict(self._arguments)
        is_reading = arguments["model_id"] is UNSET
        if is_reading or isinstance(self._user, UUID):
            user_id = await self._memory.user_id(self._user)
        else:
            user_id = await self._memory.ensure_user(self._user)
        self._user_id = user_id
        session_id = None if self._wanted is None else session_uuid(user_id, self._wanted)
        if is_reading:
            if session_id is None:
                raise InvalidInputError("a new session needs a model")
        else:
            named = session_id is not None and str(session_id) != str(self._wanted)
            if named and arguments["title"] is UNSET:
                arguments["title"] = str(self._wanted)
            # made here, so that opening may be sent again after a lost connection
            arguments["session_id"] = session_id or new_uuid()
            prompt, model = arguments["system_prompt"], arguments["model_id"]
            if prompt is not UNSET and encoding_name(model) is not None:
                arguments["system_prompt_tokens"] = count_text_tokens(prompt, model)
            session_id = await self._database.value(
                Call.of("open_session", user_id=user_id, **arguments),
                user_id=user_id,
                repeatable=True,
            )
        return await self._read(session_id)

    async def _read(self, session_id: Any) -> Session:
        rows = await self._database.rows(
            Session,
            Call.of("get_session", user_id=self._user_id, session_id=session_id),
            user_id=self._user_id,
            repeatable=True,
        )
        if not rows:
            raise NotFoundError(
                f"this user has no session {self._wanted}", hint="Name a model to open it."
            )
        return rows[0]

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return

    # What it is

    @property
    def info(self) -> Session:
        """The session's row as it was opened, or last refreshed."""
        if self._session is None:
            raise InvalidInputError(
                "the session is not open yet", hint="Use it in a with block, or call open()."
            )
        return self._session

    @property
    def session_id(self) -> UUID:
        """The session's id."""
        return self.info.session_id

    @property
    def user_id(self) -> UUID:
        """The user's id."""
        if self._user_id is None:
            raise InvalidInputError("the session is not open yet")
        return self._user_id

    @property
    def model(self) -> str:
        """The chat model."""
        return self.info.model_id

    @property
    def params(self) -> dict[str, Any]:
        """What `chat.completions.create` takes beside the messages.

        model, temperature, top_p and max_tokens.
        """
        info = self.info
        return {
            "model": info.model_id,
            "temperature": info.temperature,
            "top_p": info.top_p,
            "max_tokens": info.max_response_tokens,
        }

    async def refresh(self) -> Session:
        """Read the session again: counters, cost, status."""
        opened = await self.open()
        self._session = await self._read(opened.session_id)
        return self._session

    async def update(self, **changes: Any) -> Session:
        """Change model_id, system_prompt, temperature, title, metadata, … and return the result.

        Raises:
            InvalidInputError: an unknown key, a value out of range.
        """
        opened = await self.open()
        prompt = changes.get("system_prompt")
        model = changes.get("model_id") or opened.model_id
        if prompt is not None and encoding_name(model) is not None:
            changes.setdefault("system_prompt_tokens", count_text_tokens(prompt, model))
        await self._change("update_session", changes=changes)
        return await self.refresh()

    async def pause(self) -> None:
        """Pause the conversation: nothing can be appended."""
        await self._change("pause_session")

    async def resume(self) -> None:
        """Take a paused, closed or expired conversation back."""
        await self._change("resume_session")

    async def close(self) -> None:
        """Close the conversation: working memory goes, the last extraction is left to a worker."""
        await self._change("close_session")

    # A turn

    async def context(
        self,
        query: str | None = None,
        *,
        current_message: Any = UNSET,
        tools: Sequence[ChatCompletionToolUnionParam] | None = None,
        embedding: Vector | Unset | None = UNSET,
        as_of: datetime | Unset = UNSET,
        reranker: Reranker | Unset | None = UNSET,
        **options: Any,
    ) -> list[ChatCompletionMessageParam]:
        """Compile the messages of the next call, within the model's budget.

        What was compiled beside the messages is in `last_context`. That memories were used is
        recorded in the background. Stale memories (of little importance, unused for a month) are
        left out, but for instructions and `memory_ids`; a `filter` with "stale" chooses.

        With a reranker, memories are packed in its order: the 90 best of a search, of which it sees
        the first 30, go in as `memory_ids`. It does not touch the quoted turns of `recalled`. When
        it fails or takes longer than `Limits.rerank_timeout`, the context is the one without it.
        It is not asked for another `selection` than hybrid, beside `memory_ids`, `pack` density or
        `memories_as_of` session_start, and without a query.

        Args:
            query: steers what is remembered, and is the user's message that the context ends with.
            current_message: another message to end with: a text, a list of parts, or a message;
                None is no message, `query` only steers then. Without `query` its text steers.
            tools: the definitions that the call will carry, so that they are counted.
            embedding: the query's vector; None goes by words, left out it is made here.
            as_of: what was known then.
            reranker: another one than the client's; None for none.
            options: task, layout, selection, format, placement, heading, max_memories,
                memory_budget, history_budget, include_working, … of `recall.compile_context`.

        Raises:
            ContextOverflowError: the fixed parts alone exceed the window.
            CostLimitError: the session's cost limit is reached.
            InvalidInputError: an unknown option.
        """
        compiled = await self.compile(
            query,
            current_message=current_message,
            tools=tools,
            embedding=embedding,
            as_of=as_of,
            reranker=reranker,
            **self._measured() | options,
        )
        if as_of is UNSET:
            self._record_context(compiled)
        return compiled.messages

    def _measured(self) -> dict[str, Any]:
        """Return the option that measures a context, now and then: it costs a little."""
        self._contexts += 1
        return {"efficiency": True} if self._contexts % _MEASURED == 1 else {}

    def _record_context(self, compiled: CompiledContext) -> None:
        """Record in the background that a model was shown the memories of a context."""
        self._record_use(
            [(item.memory_id, item.relevance) for item in compiled.memories], compiled.efficiency
        )

    def _record_use(
        self, used: Sequence[tuple[UUID, float | None]], efficiency: float | None = None
    ) -> None:
        """Record in the background that a model was shown these memories, each by relevance."""
        memory, user_id = self._memory, self.user_id
        known = [(memory_id, part) for memory_id, part in used if part is not None]
        if not known:
            return

        async def record() -> None:
            await memory.record_access(
                user_id,
                [memory_id for memory_id, _ in known],
                [part for _, part in known],
                efficiency=UNSET if efficiency is None else efficiency,
            )

        memory._background.submit(record, "recording what a context used")

    async def compile(
        self,
        query: str | None = None,
        *,
        current_message: Any = UNSET,
        tools: Sequence[ChatCompletionToolUnionParam] | None = None,
        embedding: Vector | Unset | None = UNSET,
        as_of: datetime | Unset = UNSET,
        reranker: Reranker | Unset | None = UNSET,
        **options: Any,
    ) -> CompiledContext:
        """Compile as `context`, and return all of it. Nothing is written, no use is recorded."""
        call, relevance = await self._context_call(
            "compile_context", query, current_message, tools, embedding, as_of, reranker, options
        )
        raw = await self._memory._memory.value(call, user_id=self.user_id, repeatable=True)
        compiled = CompiledContext.from_json(raw)
        # The database compares no memory of `memory_ids` with the query; the search did.
        compiled = replace(
            compiled,
            memories=tuple(
                replace(used, relevance=relevance.get(used.memory_id, used.relevance))
                for used in compiled.memories
            ),
        )
        # The database cannot shorten a ciphertext.
        for part in compiled.left_out:
            if part.reason == "shortened":
                shorten_task(compiled.messages, part.tokens or 0, self.model)
        self.last_context = compiled
        return compiled

    async def explain(
        self,
        query: str | None = None,
        *,
        current_message: Any = UNSET,
        tools: Sequence[ChatCompletionToolUnionParam] | None = None,
        embedding: Vector | Unset | None = UNSET,
        as_of: datetime | Unset = UNSET,
        reranker: Reranker | Unset | None = UNSET,
        **options: Any,
    ) -> list[ExplainedMemory]:
        """Return every memory that `context` with the same arguments considers, and why."""
        call, _ = await self._context_call(
            "explain_context", query, current_message, tools, embedding, as_of, reranker, options
        )
        return await self._memory._memory.rows(
            ExplainedMemory, call, user_id=self.user_id, repeatable=True
        )

    async def _context_call(
        self,
        function: str,
        query: str | None,
        current_message: Any,
        tools: Sequence[Any] | None,
        embedding: Vector | Unset | None,
        as_of: datetime | Unset,
        reranker: Reranker | Unset | None,
        options: dict[str, Any],
    ) -> tuple[Call, dict[UUID, float]]:
        """Return the call, and the relevance of the memories that the driver chose for it."""
        opened = await self.open()
        if current_message is UNSET:
            current_message = query
        if current_message is not None:
            if not isinstance(current_message, Mapping):
                current_message = {"role": "user", "content": current_message}
            self._last_asked = content_text(current_message)
            query = query or self._last_asked or None
            options["current_message"] = with_tokens([dict(current_message)], opened.model_id)[0]
        if tools is not None:
            tokens = tool_tokens(tools, opened.model_id)
            options |= {"tools": tools} if tokens is None else {"tool_tokens": tokens}
        vector = await self._memory._vector(self.user_id, query, embedding)
        hits = await self._chosen_memories(
            options, query, None if vector is UNSET else vector, as_of, reranker
        )
        if hits is not None:
            options["memory_ids"] = [hit.memory_id for hit in hits]
            options["filter"] = {"stale": False, **(options.get("filter") or {})}
        call = Call.of(
            function,
            user_id=self.user_id,
            session_id=opened.session_id,
            query=UNSET if query is None else query,
            query_embedding=vector,
            options=options or UNSET,
            as_of=as_of,
        )
        return call, {hit.memory_id: hit.relevance for hit in hits or ()}

    async def _chosen_memories(
        self,
        options: Mapping[str, Any],
        query: str | None,
        vector: Vector | None,
        as_of: datetime | Unset,
        reranker: Reranker | Unset | None,
    ) -> list[SearchHit] | None:
        """Return memories in an order that the database cannot make, None where it makes its own.

        That is the order of a reranker, or, for an encrypted user, of a query.
        """
        chosen = (("selection", "hybrid"), ("memories_as_of", "now"), ("memory_ids", None))
        if not query or any(options.get(key) not in (value, None) for key, value in chosen):
            return None
        memory = self._memory
        ordered_by = None if options.get("pack") == "density" else memory._chosen(reranker)
        is_sealed = await memory._sealing(self.user_id) is not None
        if ordered_by is None and not is_sealed:
            return None
        given = {
            "session_id": str(self.session_id),
            "stale": False,
            **(options.get("filter") or {}),
        }
        given |= {key: options[key] for key in ("asked_at", "dates") if key in options}
        least = least_match(options) or 0
        hits = [
            hit
            for hit in await memory._found(
                self.user_id, query, vector, _CHOSEN_MEMORIES, given, as_of
            )
            if hit.kind == "instruction" or hit.match is None or hit.match >= least
        ]
        ordered = await memory._reranked(query, hits, ordered_by)
        return hits if ordered is None and is_sealed else ordered

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
        opened = await self.open()
        batch = normalize(
            await AsyncRuntime.collected(messages),
            user=user,
            reply=await AsyncRuntime.collected(reply),
            model=opened.model_id,
        )
        batch.add_usage(usage)
        call = Call.of(
            "append_messages",
            user_id=self.user_id,
            session_id=opened.session_id,
            messages=with_tokens(batch.messages, opened.model_id),
            usage=UNSET if batch.usage is None else batch.usage,
            request_id=request_id or uuid4(),
        )
        return await self._database.rows(Appended, call, user_id=self.user_id, repeatable=True)

    async def sync(self, messages: Any) -> list[Appended]:
        """Append what is new in a list of messages that the caller holds, and return that.

        The list is the caller's: it may have lost its beginning, or hold a summary in its place.
        What follows the last message stored here is appended; when the list does not hold that one,
        all of the list. When the list agrees with the conversation and then goes on differently (an
        edit, another answer), the turns that it left are retracted first. A list that only ends
        earlier changes nothing. The session's own system prompt at its head is passed over.

        Two calls at the same time with a list that has only grown append once.

        Args:
            messages: an iterable of messages, oldest first, as `append` takes them.

        Raises:
            InvalidInputError: something is no message; nothing is stored.
            SessionNotActiveError: the session is closed.
        """
        messages = await AsyncRuntime.collected(messages)
        if isinstance(messages, Sequence) and not messages:
            return []
        given = normalize(messages).messages
        async with self._sync_lock:
            session = await self.refresh()
            if given[0]["role"] == "system" and given[0].get("content") == session.system_prompt:
                given = given[1:]
            listed = await self._listed(given)
            limit = len(listed) + _SYNC_SPARE
            call = Call.of(
                "get_messages", user_id=self.user_id, session_id=session.session_id, limit=limit
            )
            stored = await self._database.rows(Message, call, user_id=self.user_id)
            stored.reverse()
            kept, known = continued(
                [self._hash_of(message) for message in stored],
                listed,
                is_whole=len(stored) < limit,
            )
            if known == len(given):
                return []
            if kept < len(stored):
                await self.retract(stored[kept].turn_index)
            # the same for the same list, unless something was appended in between
            said = b"".join(listed[known:]).hex()
            request_id = uuid5(session.session_id, f"{session.turn_count} {said}")
            return await self.append(given[known:], request_id=request_id)

    async def _listed(self, given: Sequence[Mapping[str, Any]]) -> list[bytes]:
        """Return a hash of each message; a sealed user's are not shown to the database."""
        self._is_sealed = await self._memory._sealing(self.user_id) is not None
        if self._is_sealed:
            from pgrecall.encryption._sealed import message_digest

            return [message_digest(message) for message in given]
        call = Call.of("new_messages_since", cursor=None, messages=given)
        return [one.cursor for one in await self._database.rows(NewMessage, call)]

    def _hash_of(self, stored: Message) -> bytes:
        if self._is_sealed:
            from pgrecall.encryption._sealed import message_digest

            return message_digest(dict(stored.to_openai()))
        return stored.content_hash or b""

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
        of its calls. So the transcript is valid at any moment, and when a later call fails what
        was paid for before it stands. When the first fails nothing is appended. A stream that
        breaks, or that its reader closes, leaves what was said until then, with finish_reason
        `interrupted`; before the first word that is nothing. A tool that is interrupted leaves the
        answer `{"error": "interrupted"}`.

        The turn stays within the window: results are cut, and when they need room the oldest
        messages of the history are left out, then the oldest rounds of the turn. When a worker
        compacts the session meanwhile, the next call begins with the summary. An endpoint that
        reports no usage is counted for, and
        `usage_estimated` in the message's metadata says so.

        Args:
            text: the user's message: a text, a list of parts, or a message.
            tools: definitions for the model, beside those of the memory tools.
            functions: who executes calls of `tools`: functions by name, called with the model's
                arguments by keyword, or one function of name and arguments (a plain function of
                the asynchronous client runs in a thread). What they return, a text or anything
                JSON can say, is the answer; what they raise is told to the model. Calls of tools
                without a function are returned, not executed; those of the same message that have
                one are answered already.
            memory_tools: whether the model gets the tools of `memory_tools()`, or which of them.
            max_tool_rounds: after so many rounds of calls the model is asked without tools.
            max_result_tokens: of the answer to one call.
            stream: return a stream of the text instead of the completion.
            parameters: others of `chat.completions.create`, before those of `params`.

        Raises:
            openai.OpenAIError: a call failed, or a stream broke.
            ModelAnswerError: the endpoint answered what is no completion.
            InvalidInputError: two tools of one name.
            ContextOverflowError: as `context`, as CostLimitError.
        """
        await self.open()
        chosen = None if isinstance(memory_tools, bool) else memory_tools
        turn = AsyncTurn(
            self,
            text,
            tools=tools,
            functions=functions,
            memory_tools=AsyncMemoryTools(self, only=chosen) if memory_tools else None,
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
        return AsyncMemoryTools(self, only=only)

    async def recording(
        self, *, level: Level = "streams", metadata: Mapping[str, Any] | None = None
    ) -> Recording:
        """Record calls of models in a `with` block for this session; `AgentMemory.recording`."""
        opened = await self.open()
        return self._memory.recording(
            self.user_id, session_id=opened.session_id, level=level, metadata=metadata
        )

    async def retract(self, from_turn: int) -> int:
        """Take the turns from there on back (regenerate, undo); return how many."""
        return int(await self._change("retract_turns", from_turn=from_turn))

    async def annotate(self, turn_index: int, patch: Mapping[str, Any]) -> None:
        """Add to a message's metadata; None removes a key."""
        await self._change("annotate_message", turn_index=turn_index, patch=patch)

    async def messages(
        self,
        *,
        limit: int | Unset = UNSET,
        before_turn: int | Unset = UNSET,
        include_compacted: bool | Unset = UNSET,
    ) -> list[Message]:
        """Return the messages, newest first; a page goes on before `before_turn`."""
        opened = await self.open()
        return await self._memory.messages(
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
        await self.open()
        return await self._memory.search(
            self.user_id, query, embedding=embedding, limit=limit, filter=filter, as_of=as_of
        )

    async def remember(self, content: str, **fields: Any) -> Remembered:
        """Remember a sentence, as `AgentMemory.remember`, with this session as its source."""
        opened = await self.open()
        fields.setdefault("session_id", opened.session_id)
        return await self._memory.remember(self.user_id, content, **fields)

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
        """Keep a value (anything JSON can say) for a task; writing it again renews its life."""
        await self._change(
            "put_working", task_id=task_id, key=key, value=value, ttl=ttl, token_count=token_count
        )

    async def get_working(self, task_id: str, key: str | Unset = UNSET) -> Any:
        """Return a task's value, or all of its values by key; None when there is none."""
        opened = await self.open()
        call = Call.of(
            "get_working",
            user_id=self.user_id,
            session_id=opened.session_id,
            task_id=task_id,
            key=key,
        )
        # never of a standby: there is no working memory on one
        return await self._database.value(call, user_id=self.user_id, repeatable=True)

    async def clear_working(self, task_id: str | Unset = UNSET) -> int:
        """Forget a task's values, or all of the session; return how many."""
        return int(await self._change("clear_working", task_id=task_id))

    @property
    def _database(self) -> AsyncDatabase:
        return self._memory._write

    async def _change(self, function: str, **arguments: Any) -> Any:
        opened = await self.open()
        call = Call.of(function, user_id=self.user_id, session_id=opened.session_id, **arguments)
        return await self._database.value(call, user_id=self.user_id)
