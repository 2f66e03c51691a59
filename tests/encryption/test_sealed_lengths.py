"""Limits of texts are the same for encrypted users: characters of the plaintext."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory
from pgrecall.encryption._keys import UserKeys
from pgrecall.errors import InvalidInputError
from support import call, refused
from support.sealed import connected

Connection = psycopg.Connection[Any]
Write = Callable[[AgentMemory, uuid.UUID, str], Any]

LETTERS = ["x", "あ", "🎉"]


def edit(memory: AgentMemory, user: uuid.UUID, **changes: Any) -> None:
    made = memory.remember(user, "User has a boat.", embedding=None)
    memory.memories.edit(user, made.memory_id, changes.pop("content", "Sold."), changes=changes)


def say(memory: AgentMemory, user: uuid.UUID, **fields: Any) -> None:
    said = {"role": "assistant", "content": "Tea", **fields}
    memory.session(user=user, model="gpt-4o-mini").append([said])


def ask(memory: AgentMemory, user: uuid.UUID, call_id: str = "c", name: str = "f") -> None:
    function = {"name": name, "arguments": "{}"}
    say(memory, user, tool_calls=[{"id": call_id, "type": "function", "function": function}])


LIMITED: dict[str, tuple[int, Write]] = {
    "content": (4000, lambda m, u, text: m.remember(u, text, embedding=None)),
    "content of a candidate": (
        4000,
        lambda m, u, text: m.memories.ingest(u, [{"content": "Tea"}, {"content": text}]),
    ),
    "content of an edit": (4000, lambda m, u, text: edit(m, u, content=text)),
    "slot": (200, lambda m, u, text: m.remember(u, "Tea", slot=text)),
    "slot of a candidate": (
        200,
        lambda m, u, text: m.memories.ingest(u, [{"content": "Tea", "slot": text}]),
    ),
    "slot of an edit": (200, lambda m, u, text: edit(m, u, slot=text)),
    "tags": (6396, lambda m, u, text: m.remember(u, "Tea", tags=[text] * 10)),
    "metadata": (6391, lambda m, u, text: edit(m, u, metadata={str(n): text for n in range(10)})),
    "task": (
        200,
        lambda m, u, text: m.session(user=u, model="gpt-4o-mini").put_working(text, "k", 1),
    ),
    "key": (
        200,
        lambda m, u, text: m.session(user=u, model="gpt-4o-mini").put_working("t", text, 1),
    ),
    "author of a message": (200, lambda m, u, text: say(m, u, name=text)),
    "model of a message": (200, lambda m, u, text: say(m, u, model_id=text)),
    "finish reason": (200, lambda m, u, text: say(m, u, finish_reason=text)),
    "name of a tool": (200, lambda m, u, text: ask(m, u, name=text)),
    "id of a call": (100_000, lambda m, u, text: ask(m, u, call_id=text)),
}


@pytest.mark.parametrize("letter", LETTERS, ids=["ascii", "kana", "emoji"])
@pytest.mark.parametrize("name", LIMITED)
def test_limit_of_characters_is_that_of_other_users(
    configured: str, user: uuid.UUID, sealed: uuid.UUID, name: str, letter: str
) -> None:
    most, write = LIMITED[name]
    with connected(configured) as memory:
        said = []
        for owner in (uuid.uuid4(), sealed):
            write(memory, owner, "a" + letter * (most - 1))
            with pytest.raises(InvalidInputError) as caught:
                write(memory, owner, "a" + letter * most)
            said.append(str(caught.value).partition(" (")[0].replace("'", '"')[:60])
        assert said[0] == said[1]


def test_ciphertexts_of_metadata_may_be_longer_than_its_limit(
    memory: AgentMemory, db: Connection, sealed: uuid.UUID
) -> None:
    chat = memory.session(
        user=sealed, model="gpt-4o-mini", metadata={f"{n:x}": n for n in range(20_000)}
    )
    chat.append(user="Hello")
    assert chat.info.metadata["ff"] == 255
    stored = "select length(metadata::text) from recall.sessions where user_id = %s"
    assert db.execute(stored, [sealed]).fetchone() > (1_000_000,)
    with pytest.raises(InvalidInputError, match="more than 1000000"):
        chat.update(metadata={"x": "x" * 1_000_000})
    note = "sealed:v1:1:note::" + "x" * 10_000_000
    with refused("RC003", "characters, more than 1000000"):
        call(db, "update_session", p_user_id=sealed, p_session_id=chat.info.session_id,
             p_changes=Jsonb({"metadata": {"a": note, "b": note[:6_000_000]}}))  # fmt: skip


def test_limit_of_tags_and_small_values_is_that_of_other_users(
    memory: AgentMemory, sealed: uuid.UUID
) -> None:
    small = {str(n): 1 for n in range(5000)}
    for owner in (uuid.uuid4(), sealed):
        memory.remember(owner, "Tea", tags=["x"] * 100, metadata=small)
        with pytest.raises(InvalidInputError, match=r'p_tags is \["x", "x"'):
            memory.remember(owner, "Milk", tags=["x"] * 101)


def test_memory_max_characters_of_a_user_holds_for_an_encrypted_one(
    memory: AgentMemory, sealed: uuid.UUID, configured: str
) -> None:
    memory.admin.configure_user(sealed, memory_max_characters=100)
    with connected(configured) as other:
        other.remember(sealed, "🎉a" * 50)
        with pytest.raises(InvalidInputError, match="at most 100 characters"):
            other.remember(sealed, "x" * 101)


def test_raised_memory_max_characters_holds_at_the_next_call(
    memory: AgentMemory, sealed: uuid.UUID, configured: str
) -> None:
    with connected(configured) as other:
        for most in (100, 200):  # the second time the driver has cached the first
            memory.admin.configure_user(sealed, memory_max_characters=most)
            other.remember(sealed, "x" * most)
            with pytest.raises(InvalidInputError, match=f"at most {most} characters"):
                other.remember(sealed, "x" * (most + 1))


def test_database_bounds_the_bytes_of_a_ciphertext(sealed: uuid.UUID, db: Connection) -> None:
    """It cannot count characters: four bytes for each are allowed, and no more."""
    keys = UserKeys(sealed, {1: bytes(32)})

    def remember(characters: int, of_slot: int) -> None:
        content = keys.seal("x" * characters, "memory", with_hash=True)
        slot = keys.seal("x" * of_slot, "slot")
        call(db, "remember", p_user_id=sealed, p_content=content, p_slot=slot)

    remember(16_000, 800)
    with refused("RC003", "p_content is"):
        remember(16_004, 800)
    with refused("RC003", "p_slot is"):
        remember(16_000, 804)
    for text in ("x" * 201, "sealed:v1:" + "x" * 191):
        with refused("RC003", "p_slot is"):
            call(db, "remember", p_user_id=uuid.uuid4(), p_content="Tea", p_slot=text)


@pytest.mark.parametrize("letter", LETTERS)
def test_message_of_an_encrypted_user_is_bounded_by_its_plaintext(
    db: Connection, configured: str, sealed: uuid.UUID, letter: str
) -> None:
    """Content, parts, fields, prompts, titles and reasons, as of any user."""
    plain = uuid.uuid4()
    call_ = {"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}

    def fields(count: int) -> dict[str, Any]:
        return {"role": "user", "content": "x",
                "metadata": {str(n): letter * count for n in range(10)}}  # fmt: skip

    for user in (sealed, plain):
        call(db, "configure_user", p_user_id=user, p_changes={"message_max_characters": 1000})
    with connected(configured) as memory:
        for user in (sealed, plain):
            chat = memory.session(user=user, model="gpt-4o-mini", system_prompt=letter * 1000,
                                  title=letter * 1000)  # fmt: skip
            chat.append([
                {"role": "user", "content": letter * 1000},
                {"role": "user", "content": [{"type": "text", "text": letter * 970}]}, fields(85),
            ])  # fmt: skip
            for wrong in (
                {"role": "user", "content": letter * 1001},
                {"role": "user", "content": [{"type": "text", "text": letter * 971}]}, fields(100),
                {"role": "assistant", "content": None, "tool_calls": [
                    call_ | {"function": {"name": "f", "arguments": letter * 1000}}]},
            ):  # fmt: skip
                with pytest.raises(InvalidInputError, match=r"characters.*, more than 1000"):
                    chat.append([wrong])
            for change in ({"title": letter * 1001}, {"system_prompt": letter * 1001}):
                with pytest.raises(InvalidInputError, match="1001 characters, more than 1000"):
                    chat.update(**change)
            with pytest.raises(InvalidInputError, match="more than 1000000"):
                chat.update(metadata={"x": letter * 1_000_000})
            made = memory.remember(user, "User has a boat.", embedding=None)
            with pytest.raises(InvalidInputError, match="10001 characters, more than 10000"):
                memory.memories.retract(user, made.memory_id, reason=letter * 10_001)
            memory.memories.retract(user, made.memory_id, reason=letter * 10_000)
            assert len(chat.messages()) == 3
            memory.admin.configure_user(user, message_max_characters=2000)
            chat.append([{"role": "user", "content": letter * 1001}])
            memory.privacy.export_user(user)


def test_database_bounds_the_ciphertexts_of_another_driver(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    memory.admin.configure_user(sealed, message_max_characters=1000)
    chat = memory.session(user=sealed, model="gpt-4o-mini")
    chat.open()
    text = "sealed:v1:1:message::" + "A" * 10_000
    with refused("RC003", "messages[0].content has 10021 characters, more than 1000"):
        call(db, "append_messages", p_user_id=sealed, p_session_id=chat.session_id,
             p_messages=[{"role": "user", "content": text}])  # fmt: skip
