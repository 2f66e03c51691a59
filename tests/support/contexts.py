"""Conversations with exact token counts, and their contexts."""

from __future__ import annotations

import uuid
from typing import Any

from psycopg.types.json import Jsonb

from pgrecall.models import count_message_tokens, count_text_tokens
from support import Connection, append, open_session
from support.memories import remembered
from support.transcripts import MODEL


def open_counted(db: Connection, user: uuid.UUID, **values: Any) -> uuid.UUID:
    """Open a session with a system prompt whose tokens are counted."""
    values = {"p_system_prompt": "You are a helpful assistant."} | values
    if values.get("p_system_prompt_tokens") is None:
        values["p_system_prompt_tokens"] = count_text_tokens(values["p_system_prompt"], MODEL)
    return open_session(db, user, **{"p_model_id": MODEL} | values)


def append_any(
    db: Connection, user: uuid.UUID, session: uuid.UUID, messages: list[dict[str, Any]]
) -> None:
    """Append messages, if there are any."""
    if messages:
        append(db, user, session, messages)


def remember_counted(db: Connection, user: uuid.UUID, content: str, **more: Any) -> uuid.UUID:
    """Remember a text with its count of tokens; `more` has parameters without their p_."""
    named = {f"p_{name}": item for name, item in more.items()}
    tokens = count_text_tokens(content, MODEL)
    return remembered(db, user, content, p_token_count=tokens, **named)


def compile_context(
    db: Connection, user: uuid.UUID, session: uuid.UUID, query: str | None = None, **options: Any
) -> dict[str, Any]:
    as_of = options.pop("as_of", None)
    row = db.execute(
        "select recall.compile_context(p_user_id => %s, p_session_id => %s, p_query => %s, "
        "p_options => %s, p_as_of => %s)",
        [user, session, query, Jsonb(options), as_of],
    ).fetchone()
    assert row is not None
    return row[0]


def talk(turns: int, words: int = 30) -> list[dict[str, Any]]:
    """A conversation of `turns` exchanges with exact counts."""
    messages = []
    for number in range(turns):
        for role in ("user", "assistant"):
            message = {"role": role, "content": f"{role} {number}: " + "some words more " * words}
            messages.append(message | {"token_count": count_message_tokens(message, MODEL)})
    return messages
