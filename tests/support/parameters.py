"""Every parameter of every public function, each with a sane value to begin an attack from.

The functions and their parameters are read from the catalog: a function that is added is attacked
without a line here, as long as its parameters are named as those of others are.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from support import rows
from support.everyfunction import World, public_functions, vector

Connection = psycopg.Connection[Any]

COMMITTING = {"maintain", "schedule_maintenance", "unschedule_maintenance"}
"""What cannot be taken back, or needs pg_cron."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: name, type, and whether a call needs it."""

    name: str
    kind: str
    is_needed: bool


SANE: dict[str, str] = {
    "p_user_id": "user", "p_session_id": "session", "p_source_session_id": "session",
    "p_memory_id": "memory", "p_job_id": "embed_job", "p_lease_token": "embed_token",
    "p_call_id": "call", "p_embedding": "vector", "p_query_embedding": "vector",
    "p_external_id": "name", "p_messages": "messages", "p_candidates": "candidates",
    "p_decisions": "decisions", "p_options": "options", "p_filter": "filter",
    "p_changes": "changes", "p_message": "message", "p_usage": "usage", "p_phases": "phases",
    "p_events": "events", "p_items": "items",
}  # fmt: skip
"""Parameters that the world has a value for."""

WORDS: dict[str, Any] = {
    "p_task": "expire_working", "p_source": "tool", "p_worker": "tester", "p_role": "user",
    "p_task_id": "task", "p_key": "key", "p_model_id": "gpt-4o-mini", "p_status": "active",
    "p_kinds": ["embed"], "p_cursor": None, "p_turn_index": 3, "p_from_turn": 30,
    "p_wrapped_key": bytes(60), "p_old_key": bytes(60), "p_new_key": bytes(range(60)),
    "p_time_zone": "UTC", "p_direction": "out", "p_event_type": "mcp", "p_model": "other",
    "p_distance": "cosine", "p_query": "what I said in March, last week and 3 days ago",
}  # fmt: skip
"""Parameters that want a certain word."""

SAMPLES: dict[str, Any] = {
    "uuid[]": [], "integer": 1, "bigint": 1, "smallint": 1, "real": "0.5", "boolean": True,
    "interval": "1 hour", "timestamp with time zone": "2030-01-01T00:00:00Z", "halfvec": vector(5),
    "halfvec[]": None, "real[]": [], "bytea": b"", "recall.provenance": "fact", "text": "x",
    "text[]": ["x"], "jsonb": Jsonb({}), "uuid": None, "double precision": 0.5, "numeric": 1,
}  # fmt: skip
"""What else: by type."""

BASES: dict[str, list[dict[str, str]]] = {
    "next_request": [
        {"p_job_id": f"{job}_job", "p_lease_token": f"{job}_token", "p_worker": offer,
         "p_answer": answer}
        for job, offer, answer in (
            ("embed", "offer", "embedded"), ("llm", "model", "decided"),
            ("summarize", "model", "summarized"), ("compact", "model", "compacted"),
            ("merging", "model", "merged"), ("noticing", "model", "noticed"),
        )
    ],
    "compile_context": [{"p_options": key} for key in ("options", "quoting", "fixed")],
    "explain_context": [{"p_options": key} for key in ("options", "quoting", "fixed")],
    "append_messages": [{"p_messages": key} for key in ("messages", "tools")],
    "search_items": [{"p_query_embedding": "numbers"}],
    "restore_memory": [{"p_memory_id": "retracted"}],
    "achieve_goal": [{"p_memory_id": "goal"}],
    "resolve_dispute": [{"p_memory_id": "disputed"}],
    "resume_session": [{"p_session_id": "closed"}],
    "record_access": [{"p_memory_ids": "used", "p_relevance": "relevance"}],
    "import_user": [{"p_user_id": "newcomer", "p_document": "document"}],
    "seal_user": [{"p_user_id": "newcomer"}],
}  # fmt: skip
"""Functions that want something of their own out of the world, once or in several ways."""

OWN_WORDS: dict[str, dict[str, Any]] = {
    "configure_maintenance": {"p_changes": Jsonb({"batch_size": 100})},
    "configure": {"p_changes": Jsonb({"extraction": "verbatim"})},
    "configure_user": {"p_changes": Jsonb({"extraction": "verbatim"})},
    "enqueue_job": {"p_kind": "extract"},
    "record_model_call": {"p_call_id": None},
    "reset_prompt": {"p_name": "extract"},
    "set_prompt": {"p_name": "extract", "p_version": "own"},
    "supersede_memory": {"p_changes": Jsonb({"tags": ["x"], "metadata": {"a": "b"}})},
    "search_messages": {"p_filter": Jsonb({"roles": ["user"], "since": "2020-01-01"})},
}
"""Functions whose parameters mean something else than those of others."""


def adorned(db: Connection, world: World) -> World:
    """Return the world with a user who is not there yet, and the document to import him from."""
    newcomer = uuid.uuid4()
    (row,) = rows(db, "select recall.export_user(%s) as document", [world["user"]])
    document = row["document"] | {"user_id": str(newcomer)}
    for user in document["tables"]["users"]:
        user["external_id"] = None  # a name gives one id
    return world | {"newcomer": newcomer, "document": Jsonb(document)}


def public_parameters(db: Connection) -> dict[str, list[Parameter]]:
    """Return the parameters of every public function that can be called in a transaction."""
    found: dict[str, list[Parameter]] = {}
    public = public_functions(db) - COMMITTING
    for row in rows(
        db,
        "select p.proname, a.name, format_type(a.type, null) as kind,"
        " a.place <= p.pronargs - p.pronargdefaults as is_needed"
        " from pg_proc as p cross join lateral unnest(p.proargnames[: p.pronargs],"
        " p.proargtypes::oid[]) with ordinality as a (name, type, place)"
        " where p.pronamespace = 'recall'::regnamespace order by p.proname, a.place",
    ):
        if row["proname"] in public:
            found.setdefault(row["proname"], []).append(
                Parameter(row["name"], row["kind"], row["is_needed"])
            )
    return found


def sane_arguments(
    function: str, parameters: list[Parameter], world: World
) -> Iterator[dict[str, Any]]:
    """Yield calls of a function that should work: what it needs, and what the world has for it."""
    for base in BASES.get(function, [{}]):
        own = SANE | base
        arguments: dict[str, Any] = {}
        for parameter in parameters:
            name = parameter.name
            if name in OWN_WORDS.get(function, {}):
                arguments[name] = OWN_WORDS[function][name]
            elif name in own:
                arguments[name] = world[own[name]]
            elif parameter.is_needed:
                arguments[name] = WORDS[name] if name in WORDS else SAMPLES[parameter.kind]
        yield arguments


def call_with(
    db: Connection, function: str, parameters: list[Parameter], arguments: dict[str, Any]
) -> list[Any]:
    """Call a function with its arguments cast to the types that it declares."""
    kinds = {parameter.name: parameter.kind for parameter in parameters}
    named = sql.SQL(", ").join(
        sql.SQL("{} => {}::" + kinds[name]).format(sql.Identifier(name), sql.Placeholder(name))
        for name in arguments
    )
    query = sql.SQL("select * from {}({})").format(sql.Identifier("recall", function), named)
    return db.execute(query, arguments).fetchall()


def leaves(
    item: Any, path: tuple[Any, ...] = (), *, breadth: int = 2, inner: bool = False
) -> Iterator[tuple[Any, ...]]:
    """Yield the paths to a JSON value's texts (inner: to all values), of lists the first ones."""
    if inner or isinstance(item, str):
        yield path
    if isinstance(item, dict):
        for key, part in item.items():
            yield from leaves(part, (*path, key), breadth=breadth, inner=inner)
    elif isinstance(item, list):
        for place, part in enumerate(item[:breadth]):
            yield from leaves(part, (*path, place), breadth=breadth, inner=inner)


def replaced(item: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a JSON value with what stands at a path replaced."""
    if not path:
        return new
    if isinstance(item, dict):
        return item | {path[0]: replaced(item[path[0]], path[1:], new)}
    return [
        replaced(part, path[1:], new) if place == path[0] else part
        for place, part in enumerate(item)
    ]


def at(item: Any, path: tuple[Any, ...]) -> Any:
    """Return what stands at a path of a JSON value."""
    for step in path:
        item = item[step]
    return item
