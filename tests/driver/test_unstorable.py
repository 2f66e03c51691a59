"""NUL and half surrogates, which PostgreSQL stores nowhere: each becomes U+FFFD, and is counted."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pgrecall import AgentMemory, ChatSession, errors, replaced_characters
from support.sealed import connected

BAD = "tea\x00 \ud83d cup"
GOOD = "tea\ufffd \ufffd cup"


@contextmanager
def replacing(count: int, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Expect that so many characters are replaced, and that the log says so."""
    before = replaced_characters()
    caplog.clear()
    yield
    assert replaced_characters() - before == count
    assert "cannot store" in caplog.text


def test_messages_are_stored_with_replaced_characters(
    chat: ChatSession, caplog: pytest.LogCaptureFixture
) -> None:
    message = {"role": "user", "content": BAD, "metadata": {"a\x00": ["\udfff", {"b": BAD}]}}
    with replacing(6, caplog):
        chat.append([message])
    [stored] = chat.messages()
    assert stored.content == GOOD
    assert stored.metadata["a\ufffd"] == ["\ufffd", {"b": GOOD}]
    with replacing(2, caplog):
        chat.append(user=[{"type": "text", "text": BAD}])
    assert GOOD in str(chat.messages()[0].content_parts or chat.messages()[-1].content_parts)


def test_repeated_append_is_recognized(chat: ChatSession) -> None:
    request = uuid.uuid4()
    first = chat.append(user=BAD, request_id=request)
    again = chat.append(user=BAD, request_id=request)
    assert [m.inserted for m in (*first, *again)] == [True, False]


def test_memories_and_titles_are_stored_with_replaced_characters(
    memory: AgentMemory, chat: ChatSession, user: uuid.UUID, caplog: pytest.LogCaptureFixture
) -> None:
    with replacing(5, caplog):
        memory.remember(user, BAD, tags=["\x00"], metadata={"a": BAD})
    [stored] = memory.memories.list(user)
    assert (stored.content, stored.tags, stored.metadata["a"]) == (GOOD, ["\ufffd"], GOOD)
    memory.memories.ingest(user, [{"content": f"other {BAD}", "kind": "fact"}])
    assert f"other {GOOD}" in {one.content for one in memory.memories.list(user)}
    with memory.session(user=user, model="gpt-4o-mini", title=BAD, system_prompt=BAD) as titled:
        assert memory.sessions.get(user, titled.session_id).title == GOOD


def test_queries_with_such_characters_find_what_they_ask_for(
    memory: AgentMemory, chat: ChatSession, user: uuid.UUID, caplog: pytest.LogCaptureFixture
) -> None:
    memory.remember(user, "likes a cup of tea")
    with replacing(2, caplog):
        assert [hit.content for hit in memory.search(user, BAD)] == ["likes a cup of tea"]
    assert memory.sessions.search(user, BAD) == []
    assert chat.context(BAD)


def test_names_of_users_and_sessions_are_refused(memory: AgentMemory, user: uuid.UUID) -> None:
    """Replaced, two names could become one: another user."""
    for name in ("ada\x00", "ada\ud83d"):
        with pytest.raises(errors.InvalidInputError, match="half a surrogate pair"):
            memory.remember(name, "x")
    with pytest.raises(errors.InvalidInputError, match="half a surrogate pair"):
        memory.session(user=user, session_id="a\ud83d", model="gpt-4o-mini").append(user="x")


def test_texts_of_encrypted_users_are_replaced_likewise(dsn: str) -> None:
    with connected(dsn) as memory:
        user = uuid.uuid4()
        memory.encryption.seal_user(user)
        memory.remember(user, BAD, metadata={"a": BAD})
        [stored] = memory.memories.list(user)
        assert (stored.content, stored.metadata["a"]) == (GOOD, GOOD)
        with memory.session(user=user, model="gpt-4o-mini") as chat:
            chat.append(user=BAD)
            assert [message.content for message in chat.messages()] == [GOOD]
