"""Every public function with sensible arguments, on a user who has something of everything.

For tests that hold for all functions: locks, rights, strangers. A function that the contract gains
gets a line in CALLS; `test_every_function_is_called` sees to it.
"""

from __future__ import annotations

import json
import random
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from support import WORKER, answer_to, append, ask, call, do_job, open_session, rows
from support.scripted_model import fact
from support.servers import DIMENSIONS

Connection = psycopg.Connection[Any]
World = dict[str, Any]

VECTORS = {"embed_batch": 100}
NO_VECTORS = {"embedding_model": None}
"""What workers of the world's jobs offer besides a model."""


def vector(seed: int) -> str:
    chance = random.Random(seed)
    return str([round(chance.uniform(-1, 1), 3) for _ in range(DIMENSIONS)])


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a public function.

    Attributes:
        function: its name.
        query: the statement, its parameters named as in the world.
        of_user: whether its first parameter is the user.
        label: what tells it from other calls of the function.
    """

    function: str
    query: str
    of_user: bool = True
    label: str = ""

    def __str__(self) -> str:
        return f"{self.function} {self.label}".rstrip()


def _call(function: str, arguments: str = "", label: str = "") -> Call:
    listed = f"%(user)s{', ' * bool(arguments)}{arguments}"
    return Call(function, f"select * from recall.{function}({listed})", True, label)


def _global(function: str, arguments: str = "", label: str = "") -> Call:
    return Call(function, f"select * from recall.{function}({arguments})", False, label)


CALLS: list[Call] = [
    _global("version"),
    _global("uuidv7"),
    _global("user_id", "'ada'"),
    _global("message_hash", "%(message)s"),
    _global("new_messages_since", "null, %(messages)s"),
    _global("health"),
    _global("get_settings"),
    _global("list_models"),
    _global("list_prompts"),
    # jobs to their end, by answers to the requests that the world was furnished with
    _call("next_request", "%(embed_job)s, %(embed_token)s, %(offer)s, %(embedded)s", "embed end"),
    _call("next_request", "%(extract_job)s, %(extract_token)s, %(model)s", "extract end"),
    _call("next_request", "%(llm_job)s, %(llm_token)s, %(model)s, %(decided)s", "llm end"),
    _call("next_request", "%(merging_job)s, %(merging_token)s, %(model)s, %(merged)s", "merge end"),
    _call(
        "next_request",
        "%(noticing_job)s, %(noticing_token)s, %(model)s, %(noticed)s",
        "pattern end",
    ),
    _call(
        "next_request",
        "%(summarize_job)s, %(summarize_token)s, %(model)s, %(summarized)s",
        "summarize end",
    ),
    _call(
        "next_request",
        "%(compact_job)s, %(compact_token)s, %(model)s, %(compacted)s",
        "compact end",
    ),
    # sessions
    _global("ensure_user", "%(name)s"),
    _call("open_session", "'gpt-4o-mini', %(mark)s, p_parent_session_id => %(session)s"),
    _call("open_session", "'gpt-4o-mini', p_session_id => %(session)s", "existing"),
    _call("update_session", "%(session)s, %(changes)s"),
    _call("pause_session", "%(session)s"),
    _call("resume_session", "%(closed)s"),
    _call("close_session", "%(session)s"),
    _call("get_session", "%(session)s"),
    _call("list_sessions", "p_limit => 20"),
    _call("list_sessions", "'active', 20, %(session)s", "page"),
    # history
    _call("append_messages", "%(session)s, %(messages)s"),
    _call("append_messages", "%(session)s, %(messages)s, %(usage)s, gen_random_uuid()", "receipt"),
    _call("append_messages", "%(session)s, %(repeated)s, %(once)s, %(request)s", "repeated"),
    _call("append_messages", "%(session)s, %(tools)s", "with tools"),
    _call("get_messages", "%(session)s"),
    _call("get_messages", "%(session)s, 10, 20, false", "page"),
    _call("get_messages_by_id", "%(message_ids)s"),
    _call("retract_turns", "%(session)s, 30"),
    _call("pop_turns", "%(session)s, 2"),
    _call("annotate_message", "%(session)s, 3, %(changes)s"),
    _call("search_messages", "%(mark)s, %(vector)s"),
    _call("search_messages", "%(mark)s", "lexical"),
    _call("search_sessions"),
    _call("search_sessions", "%(mark)s, %(vector)s", "hybrid"),
    # memory
    _call("remember", "%(new_text)s"),
    _call("remember", "%(new_text)s, p_embedding => %(vector)s, p_slot => 'city'", "slot"),
    _call("remember", "%(text)s", "duplicate"),
    _call(
        "remember",
        "%(new_text)s, p_session_id => %(session)s, p_user_words => %(mark)s,"
        " p_current_message => %(text)s",
        "quoted",
    ),
    _call("ingest_memories", "%(session)s, %(candidates)s"),
    _call("apply_decisions", "%(session)s, %(decisions)s"),
    _call("neighbors", "%(vector)s"),
    _call("supersede_memory", "%(memory)s, %(new_text)s"),
    _call("retract_memory", "%(memory)s, 'because'"),
    _call("dispute_memory", "%(protected)s, %(session)s, 'likes', 'hello', 'because'"),
    _call("restore_memory", "%(retracted)s"),
    _call("validate_memory", "%(memory)s"),
    _call("achieve_goal", "%(goal)s"),
    _call("reinforce_memory", "%(memory)s, true"),
    _call("memories_to_review"),
    _call("list_disputes"),
    _call("resolve_dispute", "%(disputed)s, false"),
    _call("resolve_dispute", "%(disputed)s, true", "accepted"),
    _call("get_memory", "%(memory)s"),
    _call("get_memories"),
    _call("get_memories", "%(filter)s, now(), 10", "as of"),
    _call("list_memories"),
    _call("list_memories", "%(filter)s, 10, %(memory)s", "page"),
    _call("list_memory_events"),
    _call("list_memory_events", "10, 20", "page"),
    _call("get_profile"),
    _call("memory_chain", "%(memory)s"),
    _call("memory_history", "%(memory)s"),
    _call("add_embedding", "%(memory)s, %(vector)s, 'other-model'"),
    _call("record_access", "array[%(memory)s::uuid], '{0.5}', 0.9"),
    # working memory
    _call("put_working", "%(session)s, 'task', 'key', %(changes)s"),
    _call("get_working", "%(session)s, 'task'"),
    _call("clear_working", "%(session)s"),
    # items
    _call("put_items", "%(items)s, 'test:model'"),
    _call("get_items", "array[%(mark)s], array['key']"),
    _call("touch_items", "array[%(mark)s], array['key']"),
    _call("search_items", "array[%(mark)s]"),
    _call(
        "search_items",
        "p_filter => %(changes)s, p_query_embedding => %(numbers)s,"
        " p_embedding_model => 'test:model'",
        "vector",
    ),
    _call("list_namespaces"),
    # retrieval and context
    _call("search", "%(mark)s, %(vector)s"),
    _call("search", "%(mark)s", "lexical"),
    _call("search", "null, %(vector)s", "semantic"),
    _call("search", "", "neither"),
    _global("query_dates", "'what we said last week'"),
    _call("search", "%(mark)s, %(vector)s, 10, %(filter)s, now()", "as of"),
    _call("compile_context", "%(session)s"),
    _call("compile_context", "%(session)s, %(mark)s, %(vector)s, %(options)s", "everything"),
    _call("compile_context", "%(session)s, %(mark)s, %(vector)s, %(quoting)s", "split, recalled"),
    _call("compile_context", "%(session)s, %(mark)s, %(vector)s, %(fixed)s", "all"),
    _call("explain_context", "%(session)s, %(mark)s, %(vector)s"),
    _call("revoke_source", "%(session)s, p_reason => 'poison'"),
    # ledger
    _call("record_model_call", "'gpt-4o', p_request => %(changes)s"),
    _call("record_stream_events", "%(call)s, %(events)s"),
    _call("record_protocol_event", "'mcp', p_payload => %(changes)s"),
    _call("list_model_calls"),
    _call("list_model_calls", "p_call_id => %(call)s", "one"),
    _call("list_stream_events", "%(call)s"),
    _call("list_protocol_events"),
    _call("get_ledger_rules"),
    # privacy
    _call("get_user_keys"),
    _call("rewrap_user_key", "1, %(old_key)s, %(new_key)s, 'other'"),
    _call("add_user_key", "2, %(new_key)s, 'other'"),
    _call("list_sealed_rows", "1, true"),
    _call("reseal_rows", "'[]'"),
    # jobs
    _call("enqueue_job", "'extract', %(session)s, 'some key'"),
    _global("waiting_jobs"),
    _global("list_jobs"),
    _global("list_jobs", "'dead', 10, recall.uuidv7()", "page"),
    _call("get_job", "%(embed_job)s"),
    _call("list_job_phases"),
    _call("list_spending"),
    _global("list_total_spending"),
    _call("list_summaries", "%(session)s"),
    _call("list_job_phases", "%(embed_job)s, 10, recall.uuidv7()", "of one"),
    _global("claim_jobs", "'tester', p_limit => 5"),
    _call("next_request", "%(embed_job)s, %(embed_token)s, %(offer)s", "embed"),
    _call("next_request", "%(extract_job)s, %(extract_token)s, %(offer)s", "extract"),
    _call("next_request", "%(llm_job)s, %(llm_token)s, %(model)s", "llm"),
    _call("next_request", "%(summarize_job)s, %(summarize_token)s, %(model)s", "summarize"),
    _call("next_request", "%(compact_job)s, %(compact_token)s, %(model)s", "compact"),
    _call("next_request", "%(merging_job)s, %(merging_token)s, %(model)s", "merge"),
    _call("next_request", "%(noticing_job)s, %(noticing_token)s, %(model)s", "pattern"),
    _call("extend_lease", "%(embed_job)s, %(embed_token)s, '1 hour'"),
    _call("fail_job", "%(embed_job)s, %(embed_token)s, 'boom', true, %(phases)s"),
    _global("retry_dead_jobs"),
    # sweeps and configuration
    _global("release_expired_leases", "p_as_of => %(later)s"),
    _global("ensure_partitions"),
    _global("expire_working", "p_as_of => %(later)s"),
    _global("expire_items", "p_as_of => %(later)s"),
    _global("flush_access_log"),
    _global("promote_memories", "p_as_of => %(later)s"),
    _global("expire_memories", "p_as_of => %(later)s"),
    _global("expire_sessions", "p_as_of => %(later)s"),
    _global("enqueue_compactions"),
    _global("enqueue_missing_embeddings"),
    _global("purge_expired", "p_as_of => %(later)s"),
    _global("drop_expired_partitions"),
    _global("decay_memories", "p_as_of => %(later)s"),
    _global("sample_recall"),
    _global("run_backfills"),
    _global("get_embedding_migration"),
    _global("estimate_embedding_migration", "'hash:new'"),
    _global("migrate_embeddings"),
    _global("enqueue_merges"),
    _global("enqueue_patterns"),
    _global("run_maintenance", "'expire_working'"),
    _global("run_due_maintenance"),
    _global("list_maintenance"),
    _global("metrics"),
    _global("maintenance_commands"),
    _global("set_scheduler"),
    _global("configure", '\'{"extraction": "verbatim"}\''),
    _call("configure_user", '\'{"extraction": "verbatim"}\''),
    _global("configure_maintenance", "'expire_working', '{\"batch_size\": 100}'"),
    _global("register_model", "'mine', 1000"),
    _global("register_kind", "'mine', 'My own kind'"),
    _global("set_prompt", "'extract', 'Extract facts.', 'own-1'"),
    _global("reset_prompt", "'extract'"),
    # privacy
    _call("forget_memory", "%(memory)s"),
    _call("clear_session", "%(session)s"),
    _call("forget_session", "%(session)s"),
    _call("export_user"),
    _call("export_user_pieces"),
    _call("export_head"),
    _call("verify_integrity", "recall.export_head(%(user)s)"),
    _call("import_user", "recall.export_user(%(user)s)"),
    _call("forget_user"),
    _global("list_erasures"),
    _global("list_sealed_users"),
    _global("list_users"),
    _global("replay_erasures"),
]

NOT_HERE = {
    "maintain", "schedule_maintenance", "unschedule_maintenance", "seal_user",
    "calibrate_embeddings", "start_embedding_migration", "pause_embedding_migration",
    "resume_embedding_migration", "cancel_embedding_migration", "switch_embedding_model",
    "distribute",
}  # fmt: skip
"""Those commit, need pg_cron, a user without data, twenty users or a change of the embedding model:
tests/jobs/test_maintenance.py, test_scheduling.py, test_embedding_migration.py,
sealing/test_sealed.py, test_match.py and citus/test_citus.py call them."""


def public_functions(conn: Connection) -> set[str]:
    found = rows(
        conn,
        "select proname from pg_proc where pronamespace = 'recall'::regnamespace"
        r" and proname not like '\_%' and prorettype <> 'trigger'::regtype",
    )
    return {row["proname"] for row in found}


def furnish(conn: Connection, mark: str) -> World:
    """Make a user with something of everything, `mark` in every text; return what CALLS need.

    The session lies within two months, with 60 turns; 60 memories; jobs under a lease, one dead.
    """
    name = f"{mark}|{uuid.uuid4()}"
    user = conn.execute(
        "select recall.ensure_user(%s, %s)", [name, Jsonb({"mark": mark})]
    ).fetchone()[0]
    call(conn, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    session = open_session(
        conn, user, p_system_prompt=f"You know {mark}.", p_title=mark, p_metadata={"mark": mark},
        p_context_window_size=1200, p_max_response_tokens=500,
    )  # fmt: skip
    closed = open_session(conn, user, p_title=f"{mark} closed", p_agent_id=mark, p_model_id=mark)
    tool_call = {
        "id": mark,
        "type": "function",
        "function": {"name": mark, "arguments": json.dumps({"mark": mark})},
    }
    append(conn, user, closed, [
        {"role": "user", "name": mark, "content": [{"type": "text", "text": mark}],
         "metadata": {"mark": mark}},
        {"role": "assistant", "tool_calls": [tool_call], "model_id": mark, "finish_reason": mark},
        {"role": "tool", "tool_call_id": mark, "content": mark},
    ])  # fmt: skip
    call(conn, "close_session", p_user_id=user, p_session_id=closed)

    last_month = datetime.now(UTC).replace(day=1) - timedelta(days=3)
    old = [
        {"role": ("user", "assistant")[n % 2], "content": f"{mark} said number {n} last month",
         "created_at": (last_month + timedelta(minutes=n)).isoformat()}
        for n in range(30)
    ]  # fmt: skip
    append(conn, user, session, old)
    request = uuid.uuid4()
    repeated = [
        {"role": ("user", "assistant")[n % 2], "content": f"{mark} says that {n} is a number"}
        for n in range(30)
    ]
    append(conn, user, session, repeated, {"prompt_tokens": 5}, request)
    call(conn, "annotate_message", p_user_id=user, p_session_id=session, p_turn_index=2,
         p_patch={"mark": mark})  # fmt: skip

    def remember(text: str, **more: Any) -> uuid.UUID:
        conn.execute("select pg_sleep(0.002)")  # ids of one millisecond have no order
        (made,) = call(conn, "remember", p_user_id=user, p_content=f"{mark} {text}", **more)
        return made["memory_id"]

    memories = [
        remember(f"likes thing number {n}", p_embedding=vector(n), p_tags=[mark]) for n in range(60)
    ]
    retracted = remember("was wrong", p_embedding=vector(100))
    call(conn, "retract_memory", p_user_id=user, p_memory_id=retracted, p_reason=mark)
    remember("lives in Oslo", p_slot="home", p_embedding=vector(101))
    remember("lives in Rome", p_slot="home", p_embedding=vector(102))
    protected = remember("works at the harbour", p_slot="job", p_embedding=vector(103))
    (disputed,) = call(conn, "ingest_memories", p_user_id=user, p_session_id=session,
                       p_candidates=[{"content": f"{mark} works at the mill", "slot": "job",
                                      "provenance": "system_inferred"}])  # fmt: skip
    goal = remember("wants to run a marathon", p_kind="goal", p_slot=mark, p_agent_id=mark,
                    p_metadata={"mark": mark})  # fmt: skip
    episodes = [
        str(
            remember(
                f"asked about {n} bicycles",
                p_kind="episode",
                p_embedding=vector(300),
                p_expires_at=datetime.now(UTC) + timedelta(days=1000),
            )
        )
        for n in range(3)
    ]
    for task, key in (("task", "key"), (mark, mark)):
        call(conn, "put_working", p_user_id=user, p_session_id=session, p_task_id=task, p_key=key,
             p_value={"mark": mark})  # fmt: skip
    items = Jsonb(
        [
            {"namespace": [mark, "deep"], "key": "key", "value": {"title": mark}, "ttl": 5,
             "vectors": [{"path": "title", "embedding": json.loads(vector(3))}]},
            {"namespace": [mark], "key": mark, "value": {"title": mark},
             "vectors": [{"path": mark, "embedding": [0.5, 0.25]}]},
            {"namespace": [mark], "key": "gone", "value": None},
        ]
    )  # fmt: skip
    call(conn, "put_items", p_user_id=user, p_items=items, p_embedding_model="test:model")

    # a summary, two jobs under a lease, a dead one and a ready one
    conn.execute(
        "insert into recall.session_summaries (user_id, session_id, summary_id, kind, from_turn,"
        " to_turn, content, token_count, created_at)"
        " values (%s, %s, recall.uuidv7(), 'rolling', 1, 30, %s, 9, now())",
        [user, session, f"Summary of {mark}."],
    )
    conn.execute(
        "insert into recall.user_keys (user_id, key_no, wrapped_key, wrapping_key, created_at)"
        " values (%s, 1, %s, %s, now())",
        [user, bytes(60), mark],
    )
    conn.execute("delete from recall.jobs where user_id = %s", [user])
    keys: World = {}
    other = open_session(conn, user, p_title=mark)
    append(conn, user, other, repeated)
    conn.execute("delete from recall.jobs where user_id = %s", [user])
    for name_, kind, payload, where in (
        ("index", "embed", {}, other),
        ("embed", "embed", {}, session),
        ("extract", "extract", {"mode": "verbatim"}, session),
        ("llm", "extract", {"mode": "llm"}, other),
        ("summarize", "summarize", {}, session),
        ("compact", "compact", {}, session),
        ("merge", "merge", {}, session),
        (
            "merging",
            "merge",
            {
                "tag": mark,
                "kind": "fact",
                "memory_ids": [str(memory) for memory in memories[20:40]],
            },
            None,
        ),
        ("noticing", "pattern", {"memory_ids": episodes}, None),
    ):
        call(conn, "enqueue_job", p_user_id=user, p_kind=kind, p_session_id=where,
             p_dedupe_key=mark, p_payload={"mark": mark} | payload)  # fmt: skip
        (job,) = (
            job
            for job in call(conn, "claim_jobs", p_worker="worker", p_kinds=[kind], p_limit=100,
                            p_lease=timedelta(hours=1))
            if job["user_id"] == user
        )  # fmt: skip
        keys |= {f"{name_}_job": job["job_id"], f"{name_}_token": job["lease_token"]}
        conn.execute("select pg_sleep(0.002)")  # ids of one millisecond have no order
    call(conn, "fail_job", p_user_id=user, p_job_id=keys["merge_job"],
         p_lease_token=keys["merge_token"], p_error=f"{mark} failed", p_retry=False,
         p_phases=[{"phase": "merge", "duration_ms": 5, "prompt_tokens": 100,
                    "completion_tokens": 10, "model_id": "gpt-4o-mini",
                    "error": mark}])  # fmt: skip
    call(conn, "enqueue_job", p_user_id=user, p_kind="pattern", p_session_id=session,
         p_dedupe_key=mark, p_payload={"mark": mark})  # fmt: skip
    indexed = {"user_id": user, "job_id": keys.pop("index_job"),
               "lease_token": keys.pop("index_token"), "kind": "embed"}  # fmt: skip
    do_job(conn, indexed, {"embed": lambda text: vector(1) if "that 0 is" in text else None})
    # what a model has made for a job that died before it was done
    conn.execute("update recall.jobs set work = %s where job_id = %s",
                 [Jsonb({"made": {"candidates": [{"content": mark}]}}),
                  keys["merge_job"]])  # fmt: skip
    call(conn, "record_access", p_user_id=user, p_memory_ids=memories[:5],
         p_relevance="{0.1,0.2,0.3,0.4,0.5}", p_efficiency=0.9)  # fmt: skip

    message_ids = [
        row["message_id"]
        for row in call(conn, "get_messages", p_user_id=user, p_session_id=session, p_limit=100)
    ]
    body = json.dumps({"mark": mark})
    headers = {"x-request-id": mark}
    (recorded,) = call(conn, "record_model_call", p_user_id=user, p_model=mark, p_provider=mark,
                       p_endpoint=mark, p_request_body=body.encode(),
                       p_response_body=body.encode(), p_request_headers=headers,
                       p_response_headers=headers, p_error=f"{mark} failed", p_request_id=mark,
                       p_session_id=session, p_metadata={"mark": mark})  # fmt: skip
    call(conn, "record_stream_events", p_user_id=user, p_call_id=recorded["record_model_call"],
         p_events=[{"type": mark, "text_delta": mark, "payload": {"mark": mark},
                    "mime_type": mark}])  # fmt: skip
    call(conn, "record_protocol_event", p_user_id=user, p_event_type=mark, p_method=mark,
         p_rpc_id=mark, p_tool_name=mark, p_tool_call_id=mark, p_session_id=session,
         p_payload_body=body.encode(), p_metadata={"mark": mark})  # fmt: skip

    answered = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    world = keys | {
        "user": user,
        "later": datetime.now(UTC) + timedelta(days=400),
        "old_key": bytes(60),
        "new_key": bytes(range(60)),
        "name": name,
        "mark": mark,
        "session": session,
        "closed": closed,
        "call": recorded["record_model_call"],
        "events": Jsonb([{"index": 7, "text_delta": f"{mark} says", "payload": {"n": 1}}]),
        "memory": memories[7],
        "message_ids": message_ids,
        "used": memories[:2],
        "relevance": [0.5, 0.5],
        "protected": protected,
        "retracted": retracted,
        "disputed": disputed["memory_id"],
        "goal": goal,
        "part": memories[21],
        "episode": episodes[0],
        "request": request,
        "text": f"{mark} likes thing number 9",
        "items": items,
        "numbers": "{0.5,0.25}",
        "new_text": f"{mark} has a new bicycle",
        "vector": vector(7),
        "message": Jsonb(repeated[0]),
        "messages": Jsonb(repeated[:2]),
        "repeated": Jsonb(repeated),
        "tools": Jsonb(
            [
                {"role": "assistant", "tool_calls": [answered]},
                {"role": "tool", "tool_call_id": "c1", "content": mark},
            ]
        ),
        "once": Jsonb({"prompt_tokens": 5}),
        "usage": Jsonb({"prompt_tokens": 10, "completion_tokens": 2}),
        "changes": Jsonb({"title": mark}),
        "filter": Jsonb({"tags_any": [mark], "include_ended": True}),
        "options": Jsonb(
            {"current_message": mark, "include_working": "task", "selection": "hybrid"}
        ),
        "quoting": Jsonb({"selection": "split", "recalled": True, "format": "bullets"}),
        "fixed": Jsonb(
            {"selection": "all", "memories_as_of": "session_start", "placement": "system_prompt"}
        ),
        "offer": Jsonb(WORKER | VECTORS),
        "model": Jsonb(WORKER | NO_VECTORS),
        "candidates": Jsonb(
            [{"content": f"{mark} candidate {n}", "kind": "fact"} for n in range(5)]
        ),
        "decisions": Jsonb(
            [{"decision": "ADD", "content": f"{mark} decided"},
             {"decision": "UPDATE", "target_id": str(memories[8]), "content": f"{mark} updated"},
             {"decision": "DELETE", "target_id": str(memories[9])},
             {"decision": "NONE"}]
        ),
        "phases": Jsonb([{"phase": "embed", "duration_ms": 1}]),
    }  # fmt: skip
    learn(conn, world, [fact(f"{mark} learnt to like thing number {n}", turns=[2 * n - 1])
                        for n in range(1, 6)])  # fmt: skip
    return world | answers(conn, world)


def leased(world: World, name: str) -> dict[str, Any]:
    """Return a job of the world as claim_jobs names it."""
    return {"user_id": world["user"], "job_id": world[f"{name}_job"],
            "lease_token": world[f"{name}_token"]}  # fmt: skip


def in_flight(conn: Connection, world: World, name: str) -> dict[str, Any]:
    """Return the request in flight of a job of the world."""
    offer = VECTORS if name == "embed" else NO_VECTORS
    return ask(conn, leased(world, name), **offer)


DECISIONS = ("UPDATE", "DELETE", "NONE", "ADD", "ADD")


def learn(conn: Connection, world: World, facts: list[dict[str, Any]]) -> None:
    """Answer the first question of the world's extraction: facts, and an episode."""
    said = {
        "facts": facts,
        "episodes": [{"content": f"{world['mark']} counted to thirty", "turns": [1, 2]}],
    }
    answer = answer_to(in_flight(conn, world, "llm"), {"extract": said})
    ask(conn, leased(world, "llm"), answer, **NO_VECTORS)


ANSWERS = {"embedded": "embed", "decided": "llm", "summarized": "summarize",
           "compacted": "compact", "merged": "merging", "noticed": "noticing"}  # fmt: skip
"""The world's answers, and the jobs that they end."""


def answers(
    conn: Connection, world: World, keys: Iterable[str] = ANSWERS, text: str | None = None
) -> World:
    """Return answers to requests in flight of the world's jobs, which end them.

    `text` is what a summary says; by default it has the mark of the world.
    """
    mark = world["mark"]
    said = f"{text or mark} counted."

    def decided(request: dict[str, Any]) -> Any:
        shown = re.findall(r"^(\d+)\. ", request["messages"][1]["content"], re.MULTILINE)
        return {"decisions": [
            {"candidate": int(number), "decision": decision,
             "target": 1 if decision in ("UPDATE", "DELETE") else None}
            for number, decision in zip(shown, DECISIONS, strict=False)]}  # fmt: skip

    script = {
        "embed": lambda text: vector(len(text)),
        "consolidate": decided,
        "summarize": {"summary": said},
        "compact": {"summary": said},
        "merge": {"merges": [{"content": f"{mark} likes thing number 21. "
                                         f"{mark} likes thing number 22", "parts": [2, 3]}]},
        "pattern": {"pattern": f"{mark} keeps asking about bicycles", "tags": [],
                    "solutions": [{"episode": 1, "solution": "a shop"}]},
    }  # fmt: skip
    made = {}
    for key in keys:
        answer = answer_to(in_flight(conn, world, ANSWERS[key]), script)
        if "content" in answer:  # parsed, so that attacks reach each text in it
            answer["value"] = json.loads(answer.pop("content"))
        made[key] = Jsonb(answer)
    return made
