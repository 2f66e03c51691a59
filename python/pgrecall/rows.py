"""Rows that the functions return, as frozen dataclasses.

Fields are named as the columns of the functions. Columns that a newer database adds are passed
over; one that an older database lacks is None. Times carry a time zone, costs are micro-cents.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast
from uuid import UUID

from pgrecall._items import Item

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam

    from pgrecall.calls._rows import ModelCall, ProtocolEvent, StreamEvent

__all__ = [
    "Appended",
    "Calibration",
    "CompiledContext",
    "Dispute",
    "EmbeddingEstimate",
    "EmbeddingMigration",
    "ExplainedMemory",
    "HealthCheck",
    "IntegrityFinding",
    "Item",
    "Job",
    "LeftOut",
    "MaintenanceRun",
    "Memory",
    "MemoryEvent",
    "Message",
    "MessageHit",
    "Metric",
    "ModelCall",
    "NewMessage",
    "ProtocolEvent",
    "RecalledTurn",
    "Remembered",
    "SearchHit",
    "Session",
    "SessionHit",
    "StreamEvent",
    "UsedMemory",
]

JSON = dict[str, Any]
Task = Literal["continuation", "knowledge", "new_session", "tool_heavy"]


def __getattr__(name: str) -> Any:
    """Load the rows of the call log at their first use."""
    if name in ("ModelCall", "ProtocolEvent", "StreamEvent"):
        from pgrecall.calls import _rows

        return getattr(_rows, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation: its parameters, counters (tokens) and cost (micro-cents)."""

    session_id: UUID
    status: str
    model_id: str
    agent_id: str | None = None
    title: str | None = None
    turn_count: int = 0
    active_tokens: int = 0
    total_prompt_tokens: int = 0
    total_completion_tokens: int = 0
    total_cost_microcents: int = 0
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    metadata: JSON
    context_window_size: int | None = None
    max_response_tokens: int | None = None
    system_prompt: str | None = None
    system_prompt_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    cost_limit_microcents: int | None = None
    parent_session_id: UUID | None = None
    user_turn_count: int | None = None
    compacted_through_turn: int | None = None
    extracted_through_turn: int | None = None
    last_message_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """One appended message; `inserted` is False when the request had come before.

    `message_id` is None when the message was erased since then.
    """

    message_id: UUID | None
    turn_index: int
    inserted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A stored message. `content_parts` holds multimodal content, `content` is None then.

    `session_id` is known where messages of several sessions are read.
    """

    message_id: UUID
    turn_index: int
    role: str
    content: str | None = None
    content_parts: list[JSON] | None = None
    name: str | None = None
    tool_calls: list[JSON] | None = None
    tool_call_id: str | None = None
    token_count: int
    created_at: datetime
    metadata: JSON
    tokens_estimated: bool | None = None
    model_id: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_microcents: int | None = None
    latency_ms: int | None = None
    content_hash: bytes | None = None
    session_id: UUID | None = None

    def to_openai(self) -> ChatCompletionMessageParam:
        """Return the message as `chat.completions.create` takes it: without parts of type item."""
        message: JSON = {"role": self.role}
        shown = [part for part in self.content_parts or () if part.get("type") != "item"]
        if shown or self.content is not None or not self.tool_calls:
            message["content"] = shown or self.content or ""
        for key in ("name", "tool_calls", "tool_call_id"):
            if (value := getattr(self, key)) is not None:
                message[key] = value
        return message  # type: ignore[return-value]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message of a caller's list: its position from 1 on, and the cursor after it."""

    ordinal: int
    message: JSON
    cursor: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageHit:
    """A message that a search found; `similarity` is the cosine, None without a vector.

    The score is the sum of its parts: the message's own, its neighbors', its session's, that of the
    memories that rest on it, its speaker's being named, and the words it shares with the best.
    """

    message_id: UUID
    session_id: UUID
    turn_index: int
    role: str
    content: str | None = None
    created_at: datetime
    score: float
    similarity: float | None = None
    lexical: float | None = None
    name: str | None = None
    own_part: float | None = None
    neighbor_part: float | None = None
    session_part: float | None = None
    memory_part: float | None = None
    token_count: int | None = None
    speaker_part: float | None = None
    feedback_part: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The outcome for a memory: added, duplicate, merged, superseded or disputed.

    Attributes:
        is_proven: of a text that a model remembers, whether the user's own words prove it; without
            proof it holds for its session only. None where no proof was asked for.
    """

    memory_id: UUID
    outcome: str
    is_proven: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory, current or ended (`is_active`); an ended one has the reason and its successor."""

    memory_id: UUID
    content: str
    kind: str
    slot: str | None = None
    tier: str
    scope: str
    tags: list[str]
    importance: float
    confidence: float
    provenance: str
    source: str
    source_session_id: UUID | None = None
    observed_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    created_at: datetime
    expires_at: datetime | None = None
    ended_at: datetime | None = None
    end_reason: str | None = None
    superseded_by: UUID | None = None
    is_active: bool
    access_count: int = 0
    metadata: JSON
    session_id: UUID | None = None
    agent_id: str | None = None
    token_count: int | None = None
    source_turn_ids: list[UUID] | None = None
    last_accessed_at: datetime | None = None
    is_validated: bool | None = None
    review_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryScore:
    """How well a memory matches a query (`match`), the terms of its score, and their parts of it.

    None means that the memory has no such term. A score is `decay` times the sum of the parts.
    """

    memory_id: UUID
    content: str
    token_count: int | None = None
    observed_at: datetime | None = None
    match: float | None = None
    similarity: float | None = None
    lexical: float | None = None
    freshness: float | None = None
    frequency: float | None = None
    authority: float | None = None
    similarity_part: float | None = None
    lexical_part: float | None = None
    freshness_part: float | None = None
    frequency_part: float | None = None
    authority_part: float | None = None
    importance_part: float | None = None
    decay: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit(MemoryScore):
    """A memory that a search found, with the terms of its score (None: no such term).

    `similarity` is the cosine (-1 to 1), the other terms lie in 0 to 1.
    The score is `decay` times the sum of the parts, which are the terms with their weights.
    `relevance` (0 to 1) is what `record_access` takes. `match` (0 to 1) says how well the memory
    fits the query, comparable between queries; None when there was nothing to compare.
    """

    kind: str
    tier: str
    score: float
    relevance: float
    importance: float
    confidence: float
    tags: list[str]
    created_at: datetime
    slot: str | None = None
    scope: str | None = None
    provenance: str | None = None
    source_turn_ids: list[UUID] | None = None
    access_count: int | None = None
    session_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The cosines of unrelated texts under an embedding model, over so many pairs of memories."""

    embedding_model: str
    unrelated_similarity: float
    unrelated_deviation: float
    pairs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingEstimate:
    """Texts that a change of the embedding model embeds, and the cost; None: no price is known."""

    memories: int
    ended_memories: int
    messages: int
    summaries: int
    texts: int
    tokens: int
    cost_microcents: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingMigration:
    """A change of the embedding model, with its progress.

    The state is running, paused, switched, cancelling, done or cancelled.
    """

    from_model: str
    from_dimensions: int
    to_model: str
    to_dimensions: int
    state: str
    texts: int
    embedded: int
    share: float
    tokens: int
    cost_microcents: int | None = None
    passes: int
    jobs_ready: int
    jobs_running: int
    jobs_dead: int
    keep_old: timedelta
    started_at: datetime
    switched_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHit:
    """A session that a search found, with its best turn.

    The score is the sum of what the session is about (`topic_part`: title and summary) and of its
    best turn (`turn_part`); both are 0 when there was nothing to compare with. `similarity` and
    `lexical` are those of title and summary.
    """

    session_id: UUID
    title: str | None = None
    summary: str | None = None
    score: float
    similarity: float | None = None
    lexical: float | None = None
    topic_part: float | None = None
    turn_part: float | None = None
    turn_index: int | None = None
    role: str | None = None
    content: str | None = None
    active_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedMemory(MemoryScore):
    """A candidate of a context: each term of its score, and why it was taken or left.

    Its score is `decay` times the sum of the `…_part`s.
    """

    score: float | None = None
    relevance: float | None = None
    taken: bool
    reason: str | None = None
    kind: str | None = None
    tier: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """An inference that contradicts the user's statement (`disputed_id`), and awaits a decision.

    Attributes:
        is_retraction: whether a model asks to forget the memory, rather than to replace it.
    """

    memory_id: UUID
    content: str
    kind: str
    slot: str | None = None
    provenance: str
    source: str
    source_session_id: UUID | None = None
    confidence: float
    observed_at: datetime | None = None
    created_at: datetime
    disputed_id: UUID
    disputed_content: str
    is_retraction: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEvent:
    """One line of a memory's audit; `event_no` is known where those of all memories are read."""

    at: datetime
    event: str
    memory_id: UUID
    job_id: UUID | None = None
    caller: str | None = None
    detail: JSON | None = None
    event_no: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityFinding:
    """A change of the audit or the memories that no function made (`verify_integrity`)."""

    finding: str
    event_no: int | None = None
    memory_id: UUID | None = None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """One promise that can go wrong: ok, warn or fail, with a remedy."""

    name: str
    status: str
    detail: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A gauge, named as Prometheus has it."""

    name: str
    value: float
    labels: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A claimed job; `lease_token` proves the claim until `lease_until`."""

    job_id: UUID
    lease_token: UUID
    kind: str
    user_id: UUID
    session_id: UUID | None = None
    payload: JSON
    attempts: int
    lease_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingJobs:
    """The ready jobs of one kind: how many are due, and how many deferred.

    `mode` is llm or verbatim for extractions; `deferred_until` is when the first of the deferred
    jobs is due.
    """

    kind: str
    mode: str | None = None
    needs_model: bool
    due: int
    deferred: int
    deferred_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceRun:
    """A maintenance task that was due, and how it went: done, more, ms, or an error."""

    task: str
    result: JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedMemory:
    """A memory that a context shows.

    `match` (0 to 1) says how well it fits the query; None when there was nothing to compare.
    """

    memory_id: UUID
    score: float | None
    relevance: float | None
    match: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledTurn:
    """An older turn that a context quotes."""

    message_id: UUID
    session_id: UUID
    turn_index: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Turns that a context does not show.

    Attributes:
        from_turn: the first of them.
        to_turn: the last of them.
        reason: summarized, budget, expired, unanswered, uncalled or shortened.
        tool_call_ids: the calls without an answer, for `unanswered`.
        tokens: to which the message was cut, for `shortened`.
    """

    from_turn: int
    to_turn: int
    reason: str
    tool_call_ids: tuple[str, ...] = ()
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledContext:
    """A compiled context.

    Attributes:
        messages: ready for `chat.completions.create`.
        budget: tokens: window, system, tools, response, memory, recalled, working, summary,
            history, total.
        memories: the memories shown, best first.
        recalled: the older turns quoted, best first.
        history: first_turn and last_turn shown; pinned_turn, where the message that started the
            turn stands before them.
        task: continuation, knowledge, new_session or tool_heavy.
        truncated: whether something of the history is missing that no compaction covers.
        left_out: the stored turns that are not shown, and why.
        prefix_hash: equal for contexts that begin alike.
        raw: the whole answer of `recall.compile_context`.
    """

    messages: list[ChatCompletionMessageParam]
    budget: JSON
    memories: tuple[UsedMemory, ...]
    recalled: tuple[RecalledTurn, ...]
    history: JSON | None
    task: Task | None
    truncated: bool
    left_out: tuple[LeftOut, ...]
    prefix_hash: str | None
    raw: JSON

    @property
    def efficiency(self) -> float | None:
        """How well the memories' budget was used, if that was asked for and not all fitted."""
        value: float | None = self.budget.get("efficiency")
        return value

    @classmethod
    def from_json(cls, raw: JSON) -> CompiledContext:
        """Read the answer of `recall.compile_context`."""
        return cls(
            messages=raw["messages"],
            budget=raw.get("budget") or {},
            memories=tuple(
                _of_json(UsedMemory, {"memory_id": one.get("id"), **one})
                for one in raw.get("memories") or ()
            ),
            recalled=tuple(_of_json(RecalledTurn, one) for one in raw.get("recalled") or ()),
            history=raw.get("history"),
            task=raw.get("task"),
            truncated=bool(raw.get("truncated")),
            left_out=tuple(
                _of_json(LeftOut, {**part, "tool_call_ids": tuple(part.get("tool_call_ids", ()))})
                for part in raw.get("left_out") or ()
            ),
            prefix_hash=raw.get("prefix_hash"),
            raw=raw,
        )


Row = TypeVar("Row")


_fields: Callable[[Any], tuple[Field[Any], ...]] = cache(fields)


def _of_json(row: type[Row], found: JSON) -> Row:
    """Make a row of an object of JSON: ids are UUIDs, and a missing key is None."""
    values = {one.name: found.get(one.name) for one in _fields(row)}
    ids = {key: UUID(value) for key, value in values.items() if key.endswith("_id")}
    return row(**values | ids)


_Setter = Callable[[Any, Any], None]


@cache
def _setters(
    row: Hashable, columns: tuple[str, ...]
) -> tuple[list[tuple[_Setter, int]], list[tuple[_Setter, Any]]]:
    """Return how to fill a row: the slots with their columns, and those with their defaults."""
    places = {name: place for place, name in enumerate(columns)}
    given, left_out = [], []
    for field in _fields(row):
        setter = getattr(row, field.name).__set__
        if field.name in places:
            given.append((setter, places[field.name]))
        elif field.default is not MISSING:
            left_out.append((setter, field.default))
        else:
            raise TypeError(f"{row} needs {field.name}, which the database does not return")
    return given, left_out


def maker(row: type[Row], columns: Sequence[str]) -> Callable[[Sequence[Any]], Row]:
    """Return the function that makes a `row` of a tuple with these columns.

    It fills the slots itself: the constructor of a frozen dataclass takes three times as long,
    which is noticed when fifty messages are read.
    """
    given, left_out = _setters(cast("Hashable", row), tuple(columns))

    def make(values: Sequence[Any]) -> Row:
        made = row.__new__(row)
        for fill, place in given:
            fill(made, values[place])
        for fill, default in left_out:
            fill(made, default)
        return made

    return make


def as_json(row: object) -> Mapping[str, Any]:
    """Return a row as plain JSON values: ids and times as text, bytes as base64."""
    return {one.name: _plain(getattr(row, one.name)) for one in _fields(type(row))}


def _plain(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
