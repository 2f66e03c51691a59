"""Two users, a login for each role, and which role may call what: for tests of the walls between.

The fixtures are a plugin of conftest.py.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from psycopg import conninfo

from support import login_role, rows, value
from support.everyfunction import Call, World, furnish

Connection = psycopg.Connection[Any]
Login = dict[str, str]

READER = {
    "user_id", "uuidv7", "version", "health", "get_settings", "list_models", "list_prompts",
    "message_hash",
    "new_messages_since", "get_session", "list_sessions", "get_messages", "search_messages",
    "search_sessions", "get_messages_by_id", "list_memories", "list_memory_events",
    "list_job_phases", "list_spending", "list_summaries", "neighbors",
    "memories_to_review", "list_disputes", "get_memory",
    "get_memories",
    "get_profile", "memory_chain", "memory_history", "get_working", "get_items", "search_items",
    "list_namespaces", "search", "query_dates",
    "compile_context", "explain_context", "export_user", "export_user_pieces", "list_model_calls",
    "list_stream_events",
    "list_protocol_events", "get_ledger_rules", "get_user_keys",
    "export_head", "verify_integrity",
}  # fmt: skip
WRITER = {
    "ensure_user", "open_session", "update_session", "pause_session", "resume_session",
    "close_session", "clear_session", "append_messages", "retract_turns", "pop_turns",
    "annotate_message", "remember",
    "ingest_memories", "supersede_memory", "retract_memory", "restore_memory", "validate_memory",
    "dispute_memory",
    "achieve_goal", "reinforce_memory", "resolve_dispute", "record_access", "put_working",
    "clear_working", "put_items", "touch_items", "forget_memory", "forget_session",
    "record_model_call", "record_stream_events", "record_protocol_event", "revoke_source",
    "seal_user",
}  # fmt: skip
WORKER = {
    "enqueue_job", "claim_jobs", "waiting_jobs", "next_request", "extend_lease", "fail_job",
    "apply_decisions", "add_embedding", "ensure_partitions", "flush_access_log", "enqueue_merges",
    "enqueue_patterns",
    "release_expired_leases", "expire_working", "expire_items", "run_maintenance",
    "run_due_maintenance", "maintain", "list_maintenance", "get_job", "list_jobs",
    "list_total_spending", "metrics",
    "promote_memories", "expire_memories", "decay_memories", "expire_sessions",
    "enqueue_compactions", "enqueue_missing_embeddings", "purge_expired",
    "drop_expired_partitions", "sample_recall", "run_backfills",
    "migrate_embeddings", "get_embedding_migration",
}  # fmt: skip
ADMIN = {
    "estimate_embedding_migration",
    "start_embedding_migration",
    "pause_embedding_migration",
    "resume_embedding_migration",
    "cancel_embedding_migration",
    "switch_embedding_model",
    "configure",
    "configure_user",
    "calibrate_embeddings",
    "register_model",
    "register_kind",
    "set_prompt",
    "reset_prompt",
    "retry_dead_jobs",
    "configure_maintenance",
    "maintenance_commands",
    "schedule_maintenance",
    "unschedule_maintenance",
    "set_scheduler",
    "distribute",
    "list_users",
    "forget_user",
    "list_erasures",
    "replay_erasures",
    "import_user",
    "rewrap_user_key",
    "add_user_key",
    "list_sealed_rows",
    "list_sealed_users",
    "reseal_rows",
}

MATRIX = {
    "recall_reader": READER,
    "recall_writer": READER | WRITER,
    "recall_worker": READER | WRITER | WORKER,
    "recall_admin": READER | WRITER | WORKER | ADMIN,
}
"""Which role may call what: each what the one before it may, and more."""

FOR_ALL_USERS = {"claim_jobs", "list_jobs", "list_sealed_users", "list_users"}
"""A worker's and an admin's: ids of whoever has work, or is sealed."""

ALPHA, BRAVO = "alphacanary", "bravocanary"


@pytest.fixture(scope="module")
def worlds(dsn: str) -> tuple[World, World]:
    """Two users, each with a word of his own in everything he has."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        return furnish(conn, ALPHA), furnish(conn, BRAVO)


@pytest.fixture(scope="module")
def logins(dsn: str) -> Iterator[dict[str, Login]]:
    """A login role for each of our roles, member of that one only; and one of none."""
    with psycopg.connect(dsn, autocommit=True) as conn, ExitStack() as stack:
        yield {
            role: stack.enter_context(login_role(conn, member_of=[role] if role in MATRIX else []))
            for role in (*MATRIX, "nobody")
        }


def as_role(dsn: str, login: Login) -> Connection:
    return psycopg.connect(conninfo.make_conninfo(dsn, **login), autocommit=True)


def least_role(function: str) -> str:
    return next(role for role, functions in MATRIX.items() if function in functions)


def answer(conn: Connection, asked: Call, world: World) -> str:
    """Return what a call gives, as text."""
    return json.dumps(conn.execute(asked.query.encode(), world).fetchall(), default=str)


def tables_of_users(conn: Connection) -> list[str]:
    found = rows(
        conn,
        "select c.oid::regclass::text as name from pg_class as c"
        " join pg_attribute as a on a.attrelid = c.oid and a.attname = 'user_id'"
        " where c.relnamespace = 'recall'::regnamespace and c.relkind in ('r', 'p')"
        " and not c.relispartition order by 1",
    )
    return [row["name"] for row in found]


def belongings(conn: Connection, user: uuid.UUID, of_row: str = "md5(t::text)") -> str:
    """Return a checksum of everything a user has, of each row by an expression."""
    sums = " union all ".join(
        f"select '{table}' || coalesce(string_agg({of_row}, ',' order by {of_row}), '')"
        f" from {table} as t where t.user_id = '{user}'"
        for table in tables_of_users(conn)
    )
    return value(conn, f"select md5(string_agg(s.sum, '|')) from ({sums}) as s (sum)")


def versions(conn: Connection, user: uuid.UUID) -> str:
    """Return a checksum that another transaction's or this one's write to a user's rows changes.

    In a fifth of the time: it reads which versions the rows have, not what they hold.
    """
    return belongings(conn, user, "t.ctid::text || t.xmin::text")


def ids_of(conn: Connection, user: uuid.UUID) -> dict[str, list[uuid.UUID]]:
    """Return the ids in a user's rows, by the column that they stand in."""
    columns = rows(
        conn,
        "select a.attrelid::regclass::text as table, a.attname as column, a.atttypid = 'uuid[]'"
        "::regtype as is_list from pg_attribute as a where a.attrelid = any (%s::regclass[])"
        " and a.atttypid = any ('{uuid,uuid[]}'::regtype[]) and not a.attisdropped order by 1, 2",
        [tables_of_users(conn)],
    )
    ids: dict[str, list[uuid.UUID]] = {}
    for row in columns:
        item = f"unnest(t.{row['column']})" if row["is_list"] else f"t.{row['column']}"
        found = rows(conn, f"select distinct i.id from {row['table']} as t cross join lateral"
                           f" (select {item}) as i (id) where t.user_id = %s and i.id is not null"
                           " order by 1", [user])  # fmt: skip
        ids[f"{row['table']}.{row['column']}"] = [one["id"] for one in found]
    return ids
