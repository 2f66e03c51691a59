"""A model's remember and forget for encrypted users: the database can prove nothing of them."""

from __future__ import annotations

import json
import uuid
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, ChatSession
from pgrecall._calls import Call
from pgrecall.encryption._sealed import sealed_call
from pgrecall.tools import memory_tools
from sealed import MARK, readable
from support import call

WORDS = f"I am allergic to {MARK}"
CONTENT = f"User is allergic to {MARK}."


@pytest.fixture
def chat(memory: AgentMemory, sealed: uuid.UUID) -> ChatSession:
    chat = memory.session(user=sealed, model="gpt-4o-mini")
    chat.append(user=f"By the way, {WORDS}.", reply="Good to know.")
    chat.context(f"Please note: {WORDS}.")
    return chat


def ask(chat: ChatSession, name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments, default=str)}
    asked = {"id": "call_1", "type": "function", "function": function}
    found: dict[str, Any] = json.loads(memory_tools(chat).dispatch(asked)["content"])
    return found


def test_what_a_model_remembers_of_an_encrypted_user_stays_in_the_session(
    memory: AgentMemory, chat: ChatSession, db: psycopg.Connection
) -> None:
    done = ask(chat, "remember", content=CONTENT, user_words=WORDS)
    assert done["why"] == "not the user's own words: kept for this conversation only"
    [stored] = memory.memories(chat.user_id)
    assert (stored.content, stored.provenance, stored.source, stored.tier, stored.scope) == (
        CONTENT, "system_inferred", "inference", "session", "local",
    )  # fmt: skip
    assert readable(db) == []


def test_what_a_model_forgets_of_an_encrypted_user_is_disputed(
    memory: AgentMemory, chat: ChatSession, db: psycopg.Connection
) -> None:
    kept = memory.remember(chat.user_id, CONTENT)
    denied = f"I am not allergic to {MARK}"
    chat.context(f"{denied}.")
    done = ask(chat, "forget_memory", memory_id=kept.memory_id, user_words=denied, reason=MARK)
    assert done["outcome"] == "disputed"
    assert kept.memory_id in [one.memory_id for one in memory.memories(chat.user_id)]
    assert readable(db) == []


@pytest.mark.parametrize(
    "given",
    [
        Call.of("remember", content=CONTENT, user_words=WORDS, current_message=WORDS),
        Call.of("remember", content=CONTENT, current_message=WORDS),
        Call.of("dispute_memory", words=WORDS, current_message=WORDS, reason=WORDS),
    ],
    ids=["words", "message", "dispute"],
)
def test_no_words_of_an_encrypted_user_are_sent(
    memory: AgentMemory, sealed: uuid.UUID, given: Call
) -> None:
    sealing = memory._sealing(sealed)
    assert sealing is not None
    sent = sealed_call(given, sealing)
    assert MARK not in f"{sent.text!r} {sent.parameters}"
    if given.function == "remember":  # it stays a model's call, which proves nothing
        assert sent.parameters["user_words"] == ""


def test_database_takes_no_words_of_an_encrypted_user_for_proof(
    memory: AgentMemory, chat: ChatSession, db: psycopg.Connection
) -> None:
    memory.remember(chat.user_id, CONTENT)
    [token] = [row["content"] for row in call(db, "get_memories", p_user_id=chat.user_id)]
    for words in (WORDS, token):
        done = call(db, "remember", p_user_id=chat.user_id, p_content=token,
                    p_session_id=chat.session_id, p_user_words=words,
                    p_current_message=words)[0]  # fmt: skip
        assert done["is_proven"] is False
