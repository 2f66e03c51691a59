"""A store for LangGraph, and a middleware for agents of LangChain.

::

    with PgRecallStore.from_conn_string("postgresql://…", user="ada") as store:
        store.put(("users", "ada"), "theme", {"dark": True})

    memory = AgentMemory.connect("postgresql://…")
    agent = create_agent(model, middleware=[PgRecallMiddleware(memory, user="ada")])
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal, Self
from uuid import UUID

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.embeddings import Embeddings
from langchain_core.messages import (
    BaseMessage,
    HumanMessage,
    SystemMessage,
    convert_to_openai_messages,
)
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore

from pgrecall import AgentMemory, AsyncAgentMemory, ChatSession, rows
from pgrecall._messages import content_text
from pgrecall._options import ContextOptions
from pgrecall._sql import UNSET, User
from pgrecall.errors import InvalidEmbeddingError, InvalidInputError
from pgrecall.integrations._appending import append_resuming, with_storable_text

__all__ = ["AsyncPgRecallStore", "PgRecallIndexConfig", "PgRecallMiddleware", "PgRecallStore"]

Namespace = tuple[str, ...]
Users = User | Callable[[Namespace], User]
Distance = Literal["cosine", "l2", "inner_product"]


class PgRecallIndexConfig(IndexConfig, total=False):
    """The keys `embed`, `dims` and `fields` of LangGraph, and two of ours."""

    distance_type: Distance
    """How vectors are compared; default: cosine."""

    model: str
    """Names the model of the vectors; default: the name that `embed` has. A search compares vectors
    of one model only."""


# A step is a call of `memory.items`, or texts to embed; its answer comes back into the generator.
_Call = tuple[str, User, tuple[Any, ...], dict[str, Any]]
_Steps = Generator[_Call | list[str], Any, Any]


class _Items:
    """Turn operations of LangGraph into calls of `memory.items`; both stores share this."""

    def __init__(
        self, user: Users, index: PgRecallIndexConfig | None, ttl: TTLConfig | None
    ) -> None:
        if not user:
            raise ValueError(f"user is {user!r}: pass a name, or a function of the namespace")
        if ttl is not None and ttl.get("omit_expired") is False:
            raise ValueError("ttl: omit_expired cannot be False: expired items are never returned")
        self.user = user
        self.index: PgRecallIndexConfig | None = None
        self.embeddings: Embeddings | None = None
        self.model = ""
        self._paths: list[tuple[str, Any]] = []
        if index is not None:
            self._read_index(index)

    def _read_index(self, index: PgRecallIndexConfig) -> None:
        distance = index.get("distance_type", "cosine")
        if distance not in ("cosine", "l2", "inner_product"):
            raise ValueError(f"distance_type is {distance!r}: pass cosine, l2 or inner_product")
        fields = index.get("fields") or ["$"]
        if not isinstance(fields, list):
            raise ValueError(f"fields is {fields!r}: pass a list of paths")
        self.index = index.copy()
        self.embeddings = ensure_embeddings(index.get("embed"))
        self.model = index.get("model") or _model_name(index.get("embed"))
        self._paths = [_tokenized(field) for field in fields]

    def user_of(self, namespace: Namespace) -> User:
        """Return whose items these are."""
        user: Any = self.user(namespace) if callable(self.user) else self.user
        if isinstance(user, (str, UUID)) and user:
            return user
        raise _no_user(f"the namespace {namespace}", user)

    def run(self, ops: Iterable[Op]) -> _Steps:
        """Carry out a batch: first what reads, in order, then all writes of a user at once."""
        ops = list(ops)
        for op in ops:
            validate_op_namespace(op)
        results: list[Result] = [None] * len(ops)
        gets: defaultdict[tuple[User, Namespace], list[int]] = defaultdict(list)
        puts: defaultdict[User, dict[tuple[Namespace, str], PutOp]] = defaultdict(dict)
        touched: defaultdict[User, set[tuple[Namespace, str]]] = defaultdict(set)
        for place, op in enumerate(ops):
            if isinstance(op, GetOp):
                gets[self.user_of(op.namespace), tuple(op.namespace)].append(place)
            elif isinstance(op, PutOp):
                labels = tuple(op.namespace)
                puts[self.user_of(labels)][labels, op.key] = op
            elif isinstance(op, SearchOp):
                user = self.user_of(tuple(op.namespace_prefix))
                found = yield from self._search(user, op)
                results[place] = [_search_item(one) for one in found]
                if op.refresh_ttl:
                    touched[user] |= _mortal(found)
            elif isinstance(op, ListNamespacesOp):
                results[place] = yield from self._list(op)
            else:
                raise ValueError(f"unknown operation {type(op).__name__}")
        for (user, namespace), places in gets.items():
            keys = sorted({ops[place].key for place in places})  # type: ignore[union-attr]
            found = yield "get", user, (namespace, keys), {}
            items = {one.key: one for one in found}
            for place in places:
                op = ops[place]
                one = items.get(op.key)  # type: ignore[union-attr]
                if one is not None:
                    results[place] = _item(one)
                    if op.refresh_ttl:  # type: ignore[union-attr]
                        touched[user] |= _mortal([one])
        for user, renewed in touched.items():
            if renewed:
                yield "touch", user, (sorted(renewed),), {}
        for user, writes in puts.items():
            yield from self._put(user, list(writes.values()))
        return results

    def _search(self, user: User, op: SearchOp) -> _Steps:
        options: dict[str, Any] = {"limit": op.limit, "offset": op.offset}
        if op.filter:
            options["filter"] = op.filter
        if op.query and self.index is not None:
            (vector,) = yield [op.query]
            options["embedding"] = self._checked(vector)
            options["embedding_model"] = self.model
            options["distance"] = self.index.get("distance_type", UNSET)
        return (yield "search", user, (tuple(op.namespace_prefix),), options)

    def _list(self, op: ListNamespacesOp) -> _Steps:
        paths: dict[str, Namespace] = {"prefix": (), "suffix": ()}
        for condition in op.match_conditions or ():
            if condition.match_type not in paths or paths[condition.match_type]:
                raise ValueError(f"namespaces are listed by one prefix and one suffix: {condition}")
            paths[condition.match_type] = tuple(condition.path)
        options = {"max_depth": op.max_depth, "limit": op.limit, "offset": op.offset}
        user = self.user_of(paths["prefix"])
        return (yield "namespaces", user, (), {**paths, **options})

    def _put(self, user: User, ops: Sequence[PutOp]) -> _Steps:
        items: list[dict[str, Any]] = []
        texts: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for op in ops:
            item: dict[str, Any] = {"namespace": list(op.namespace), "key": op.key, "value": None}
            if op.value is not None:
                item |= {"value": dict(op.value), "ttl": op.ttl}
                for path, text in self._texts(op):
                    texts[text].append((len(items), path))
            items.append(item)
        options: dict[str, Any] = {}
        if texts:
            vectors = yield list(texts)
            for places, vector in zip(texts.values(), vectors, strict=True):
                for place, path in places:
                    vector_of_path = {"path": path, "embedding": self._checked(vector)}
                    items[place].setdefault("vectors", []).append(vector_of_path)
            options["embedding_model"] = self.model
        yield "put", user, (items,), options

    def _texts(self, op: PutOp) -> Iterator[tuple[str, str]]:
        """Yield the texts of a value that are embedded, with the name of each."""
        if self.index is None or op.index is False:
            return
        paths = self._paths if op.index is None else [_tokenized(path) for path in op.index]
        for path, tokens in dict(paths).items():
            texts = get_text_at_path(op.value, tokens)
            for place, text in enumerate(texts):
                yield f"{path}.{place}" if len(texts) > 1 else path, text

    def _checked(self, vector: Sequence[float]) -> list[float]:
        wanted = (self.index or {}).get("dims")
        if wanted is not None and len(vector) != wanted:
            raise InvalidEmbeddingError(
                f"embed returned a vector of {len(vector)} numbers, but dims is {wanted}",
                hint="Set dims to the length of the model's vectors.",
            )
        return [float(number) for number in vector]


def _no_user(where: str, user: object) -> InvalidInputError:
    return InvalidInputError(
        f"the user of {where} is {user!r}",
        hint="Return the name or the id of one user; there is no default user.",
    )


def _tokenized(path: str) -> tuple[str, Any]:
    return path, path if path == "$" else tuple(tokenize_path(path))


def _model_name(embed: Any) -> str:
    """Return the name that an embedding model has, else that of its class or function."""
    if isinstance(embed, str):
        return embed
    owner = getattr(embed, "__self__", embed)  # of a method
    for attribute in ("model", "model_name"):
        if isinstance(name := getattr(owner, attribute, None), str) and name:
            return name
    named = owner if hasattr(owner, "__qualname__") else type(owner)
    return f"{named.__module__}.{named.__qualname__}"


def _item(row: rows.Item) -> Item:
    return Item(
        value=row.value,
        key=row.key,
        namespace=tuple(row.namespace),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _search_item(row: rows.Item) -> SearchItem:
    return SearchItem(
        tuple(row.namespace), row.key, row.value, row.created_at, row.updated_at, row.score
    )


def _mortal(found: Iterable[rows.Item]) -> set[tuple[Namespace, str]]:
    """Return the items that have a lifetime: the others need no write after a read."""
    return {(tuple(one.namespace), one.key) for one in found if one.expires_at is not None}


async def _driven(
    items: _Items, ops: Iterable[Op], call: Callable[[_Call], Awaitable[Any]]
) -> list[Result]:
    """Carry out the steps of a batch on an event loop."""
    steps = items.run(ops)
    answer: Any = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            return list(end.value)
        if isinstance(step, list):
            assert items.embeddings is not None  # noqa: S101
            answer = await items.embeddings.aembed_documents(step)
        else:
            answer = await call(step)


class PgRecallStore(BaseStore):
    """A key-value store with namespaces, vectors and lifetimes, over the items of users.

    Blocking and asynchronous methods may be mixed; asynchronous ones call the database in threads.
    Expired items are never returned, and maintenance deletes them. A batch reads before it writes;
    all writes for one user are one transaction.

    Args:
        memory: stays the caller's.
        user: whose items they are: a name, an id, or a function of the namespace, which gets the
            prefix of a search or of a list of namespaces. There is no default.
        index: what is embedded for searches by meaning; None is nothing.
        ttl: default lifetime in minutes, and whether reads renew it.

    Raises:
        ValueError: no user, or an option that is not available.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: AgentMemory,
        *,
        user: Users,
        index: PgRecallIndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self.memory = memory
        self.ttl_config = ttl
        self._items = _Items(user, index, ttl)
        self.index_config = self._items.index
        self.embeddings = self._items.embeddings

    @classmethod
    @contextmanager
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        user: Users,
        index: PgRecallIndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> Iterator[Self]:
        """Yield a store with connections of its own, which it closes; arguments as of the class."""
        with AgentMemory.connect(conn_string, embedder=False) as memory:
            yield cls(memory, user=user, index=index, ttl=ttl)

    def setup(self) -> None:
        """Check that the schema is installed; `pgrecall install` installs it.

        Raises:
            ConfigurationError: it is not.
        """
        self.memory.open()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: reads, then writes; results stand in the order of operations."""
        steps = self._items.run(ops)
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return list(end.value)
            if isinstance(step, list):
                assert self.embeddings is not None  # noqa: S101
                answer = self.embeddings.embed_documents(step)
            else:
                answer = self._call(step)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations as `batch`; the event loop stays free."""
        return await _driven(self._items, ops, lambda step: asyncio.to_thread(self._call, step))

    def _call(self, step: _Call) -> Any:
        method, user, arguments, options = step
        return getattr(self.memory.items, method)(user, *arguments, **options)


class AsyncPgRecallStore(AsyncBatchedBaseStore):
    """The store on one event loop; operations of one moment are carried out as one batch.

    Blocking methods are for other threads only, as in LangGraph's asynchronous stores. Arguments
    are those of `PgRecallStore`.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: AsyncAgentMemory,
        *,
        user: Users,
        index: PgRecallIndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        super().__init__()
        self.memory = memory
        self.ttl_config = ttl
        self._items = _Items(user, index, ttl)
        self.index_config = self._items.index
        self.embeddings = self._items.embeddings

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls,
        conn_string: str,
        *,
        user: Users,
        index: PgRecallIndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> AsyncIterator[Self]:
        """Yield a store with connections of its own, which it closes; arguments as of the class."""
        async with AsyncAgentMemory.connect(conn_string, embedder=False) as memory:
            yield cls(memory, user=user, index=index, ttl=ttl)

    async def setup(self) -> None:
        """Check that the schema is installed, as `PgRecallStore.setup`."""
        await self.memory.open()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: reads, then writes; results stand in the order of operations."""
        return await _driven(self._items, ops, self._call)

    async def _call(self, step: _Call) -> Any:
        method, user, arguments, options = step
        return await getattr(self.memory.items, method)(user, *arguments, **options)


class PgRecallMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Show an agent what is remembered about its user, and store its new messages.

    Before each call of the model, memories that the last message of the user calls for are added
    to the system message, as data. After each call, and at the end, new messages of the thread are
    appended to a session, from which memories are extracted. Reasoning and other parts without a
    text are stored with them, and never shown. The thread itself stays in LangGraph's state.

    Args:
        memory: stays the caller's; asynchronous agents call it in threads.
        user: whose agent it is: a name, an id, or a function of the runtime, whose `context` the
            application passes to the agent. There is no default.
        session_id: a name among the user's sessions, or a function of the runtime. Default: the
            `thread_id` of the run.
        model: of a new session.
        context: options of `ChatSession.context`, such as `memory_budget`, `recalled` or `filter`.
        options: of `AgentMemory.session`.

    Raises:
        ValueError: no user.
        InvalidInputError: (at a run) no user, or neither a session nor a `thread_id`.
    """

    def __init__(
        self,
        memory: AgentMemory,
        *,
        user: User | Callable[[Runtime[Any]], User],
        session_id: User | Callable[[Runtime[Any]], User] | None = None,
        model: str = "gpt-4o-mini",
        context: ContextOptions | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        if not user:
            raise ValueError(f"user is {user!r}: pass a name, or a function of the runtime")
        self.tools = []
        self._memory = memory
        self._user = user
        self._session_id = session_id
        self._model = model
        self._context: ContextOptions = {"memory_budget": 1000, **(context or {})}
        self._options = options

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Add the memories to the system message of a call."""
        return handler(self._with_memories(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Add the memories to the system message of a call."""
        return await handler(await asyncio.to_thread(self._with_memories, request))

    def after_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Store the new messages."""
        chat = self._session(runtime)
        append_resuming(chat, chat.sync, [*map(_to_message, state["messages"])])

    async def aafter_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Store the new messages."""
        await asyncio.to_thread(self.after_model, state, runtime)

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Store what came after the last call of the model, such as the answer of a tool."""
        if state["messages"] and state["messages"][-1].type != "ai":
            self.after_model(state, runtime)

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Store what came after the last call of the model, as `after_agent`."""
        await asyncio.to_thread(self.after_agent, state, runtime)

    def _session(self, runtime: Runtime[Any]) -> ChatSession:
        user: Any = self._user(runtime) if callable(self._user) else self._user
        if not isinstance(user, (str, UUID)) or not user:
            raise _no_user("this run", user)
        session_id = self._session_id(runtime) if callable(self._session_id) else self._session_id
        session_id = session_id or get_config().get("configurable", {}).get("thread_id")
        if not session_id:
            raise InvalidInputError(
                "the run has no thread_id",
                hint="Pass config={'configurable': {'thread_id': …}}, or session_id=….",
            )
        return self._memory.session(
            user=user, model=self._model, session_id=session_id, **self._options
        )

    def _with_memories(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        asked = next((one for one in reversed(request.messages) if one.type == "human"), None)
        query = content_text(_to_message(asked)) if asked is not None else ""
        chat = self._session(request.runtime)
        # the messages of the thread are in the request already
        options: Any = {**self._context, "current_message": None, "history_budget": 0}
        if asked is not None and asked is request.messages[-1]:
            shown = chat.context(query or None, **options)  # counts as use of the memories
        else:
            shown = chat.compile(query or None, **options).messages
        texts = [content_text(message) for message in shown]
        if not any(texts):
            return request
        given = request.system_message.content_blocks if request.system_message else []
        blocks: list[Any] = [*given, *({"type": "text", "text": text} for text in texts if text)]
        return request.override(system_message=SystemMessage(content=blocks))


# Types of parts that the database knows; a model sees others as little as it sees reasoning.
_SHOWN_PARTS = ("text", "image_url", "input_audio", "file")


def _to_message(message: BaseMessage) -> dict[str, Any]:
    """Return a message of LangChain in OpenAI's form; parts without a text become items."""
    content = [message.content] if isinstance(message.content, str) else message.content
    parts = [{"type": "text", "text": one} if isinstance(one, str) else one for one in content]
    is_user = message.type == "human"
    shown = [one for one in parts if _is_shown(one, _SHOWN_PARTS if is_user else ("text",))]
    hidden = [one for one in parts if one not in shown]
    if reasoning := message.additional_kwargs.get("reasoning_content"):
        hidden.insert(0, {"type": "reasoning", "reasoning_content": reasoning})
    plain = message.model_copy(update={"content": shown})
    converted = with_storable_text(convert_to_openai_messages(plain, text_format="block"))
    texts = converted.get("content") or []
    if not hidden and all(one.get("type") == "text" for one in texts):
        text = content_text(texts)
        return {**converted, "content": None if converted.get("tool_calls") and not text else text}
    if is_user and not texts:
        texts = [{"type": "text", "text": "[attachment]"}]
    items = [{"type": "item", "item": with_storable_text(one)} for one in hidden]
    return {**converted, "content": [*texts, *items]}


def _is_shown(part: Any, types: Sequence[str]) -> bool:
    """Return whether a part has one of these types, and a form in OpenAI's chat API."""
    if part.get("type") not in types:
        return False
    try:
        convert_to_openai_messages([HumanMessage([part])], text_format="block")
    except (KeyError, TypeError, ValueError):  # such as a file by its URL
        return False
    return True
