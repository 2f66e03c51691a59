"""The data encryption key of a user is rotated while others read and write."""

from __future__ import annotations

import threading
import uuid
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory
from pgrecall.errors import ConfigurationError, InvalidInputError
from support import call, refused, rows, said, value
from support.sealed import KEYS, MARK, connected, readable, use_everything

Connection = psycopg.Connection[Any]


def by_key(db: Connection, user: uuid.UUID, key: int) -> list[str]:
    """Return the tables with texts of a user that a data encryption key has encrypted."""
    tables = readable(db, f"sealed:v1:{key}:")
    return [
        name
        for name in tables
        if name == "recall.system_prompts"
        or value(db, f"select count(*) from {name} as t where user_id = %s and t::text like %s",
                 [user, f"%sealed:v1:{key}:%"])
    ]  # fmt: skip


def keys_of(db: Connection, user: uuid.UUID) -> list[tuple[int, bool]]:
    return [(row["key_no"], row["is_retired"]) for row in call(db, "get_user_keys", p_user_id=user)]


def seen(memory: AgentMemory, user: uuid.UUID, session: uuid.UUID) -> list[Any]:
    """Return what a user of the driver sees."""
    chat = memory.session(user=user, session_id=session)
    chat.open()
    return [
        [(one.content, one.slot, one.tags, one.metadata)
         for one in memory.memories.list(user, filter={"include_ended": True})],
        [(one.content, one.content_parts, one.name, one.tool_calls, one.metadata)
         for one in chat.messages()],
        (chat.info.title, chat.info.system_prompt, chat.info.metadata),
        chat.get_working(f"task {MARK}"), memory.memories.profile(user).keys(),
        [one.content for one in memory.memories.list(user, filter={"tags_any": [MARK]})],
    ]  # fmt: skip


def test_rotate_user_encrypts_every_text_by_the_new_key(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection, configured: str
) -> None:
    session = use_everything(memory, sealed)
    memory.admin.enqueue_job(sealed, "summarize", session_id=session, dedupe_key=f"{MARK} key")
    before = seen(memory, sealed, session)
    reported: list[int] = []
    count = memory.encryption.rotate_user(sealed, batch_size=3, progress=reported.append)
    assert reported[-1] == count >= 15
    # the reason of a retraction stands in the audit, which nothing rewrites
    assert keys_of(db, sealed) == [(1, True), (2, False)]
    left = by_key(db, sealed, 1)
    assert set(left) <= {"recall.memory_events", "recall.system_prompts"}
    db.execute("select recall._collect_system_prompts('{}')")
    assert "recall.system_prompts" not in by_key(db, sealed, 1)
    assert seen(memory, sealed, session) == before
    with connected(configured) as later:
        assert seen(later, sealed, session) == before
        gone = [one for one in later.memories.list(sealed, filter={"include_ended": True})
                if one.end_reason == "retracted"]  # fmt: skip
        reasons = [
            one.detail.get("reason") for one in later.memories.history(sealed, gone[0].memory_id)
        ]
        assert f"{MARK} says no" in reasons
    assert call(db, "verify_integrity", p_user_id=sealed) == []
    # what is compared still is: texts, slots, tags, tasks
    again = memory.remember(sealed, f"the user keeps TWO {MARK}")
    assert again.outcome == "duplicate"
    moved = memory.remember(sealed, "The user keeps a newt.", slot=f"pet {MARK}")
    assert moved.outcome == "superseded"
    assert readable(db) == []


def test_a_key_without_a_use_is_destroyed(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    """And the next rotation has the next number: none is used twice."""
    memory.remember(sealed, "The user likes tea.", slot="drink")
    for number in (2, 3):
        assert memory.encryption.rotate_user(sealed) == 1
        assert keys_of(db, sealed) == [(number, False)]
    assert [one.content for one in memory.memories.list(sealed)] == ["The user likes tea."]
    (tea,) = memory.memories.list(sealed)
    (event,) = [one for one in memory.memories.history(sealed, tea.memory_id)
                if one.event == "resealed"][-1:]  # fmt: skip
    assert event.detail == {}


def test_an_interrupted_rotation_goes_on(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection, configured: str
) -> None:
    session = use_everything(memory, sealed)
    before = seen(memory, sealed, session)

    class KilledError(Exception):
        pass

    def kill(_: int) -> None:
        raise KilledError

    with connected(configured) as dying, pytest.raises(KilledError):
        dying.encryption.rotate_user(sealed, batch_size=2, progress=kill)
    assert keys_of(db, sealed) == [(1, False), (2, False)]
    # everybody goes on meanwhile: who knows both keys, and who does not
    with connected(configured) as later:
        assert seen(later, sealed, session) == before
        assert later.remember(sealed, f"The user keeps two {MARK}.").outcome == "duplicate"
        later.session(user=sealed, session_id=session).append(user="Still here")
    assert seen(memory, sealed, session)[0] == before[0]
    assert memory.encryption.rotate_user(sealed, batch_size=1000) > 0
    assert keys_of(db, sealed) == [(1, True), (2, False)]
    assert memory.session(user=sealed, session_id=session).messages()[0].content == "Still here"
    assert seen(memory, sealed, session)[0] == before[0]


def test_driver_with_an_old_key_retries_with_the_new_one(
    memory: AgentMemory, sealed: uuid.UUID, configured: str, db: Connection
) -> None:
    """A filter by the old key would find nothing, and a write by it could not be read."""
    with connected(configured) as late:
        late.remember(sealed, "The user likes tea.", slot="drink", tags=["hot"])
        chat = late.session(user=sealed, model="gpt-4o-mini")
        chat.put_working("task", "key", 1)
        memory.encryption.rotate_user(sealed)
        found = late.memories.list(sealed, filter={"tags_any": ["hot"]})
        assert [one.content for one in found] == ["The user likes tea."]
        memory.encryption.rotate_user(sealed)
        assert chat.get_working("task") == {"key": 1}
        memory.encryption.rotate_user(sealed)
        assert late.remember(sealed, "The user likes milk.", slot="drink").outcome == "superseded"
        memory.encryption.rotate_user(sealed)
        chat.append(user="Good morning")
        assert late.search(sealed, "milk", limit=1)[0].content == "The user likes milk."
    assert [one.content for one in chat_of(memory, sealed)] == ["Good morning"]
    assert keys_of(db, sealed) == [(5, False)]


def chat_of(memory: AgentMemory, user: uuid.UUID) -> list[Any]:
    (session,) = memory.sessions.list(user)
    return memory.sessions.messages(user, session.session_id)


def test_concurrent_writers_and_two_rotations_lose_no_text(
    memory: AgentMemory, sealed: uuid.UUID, configured: str, db: Connection
) -> None:
    """No text is lost, doubled, or encrypted by a destroyed key."""
    use_everything(memory, sealed)
    done, errors = threading.Event(), []

    def write(number: int) -> None:
        try:
            with connected(configured) as own:
                chat = own.session(user=sealed, model="gpt-4o-mini", session_id=f"writer {number}")
                for n in range(1000):
                    chat.append(user=f"{number} says {n}")
                    own.remember(sealed, f"The user said {n} to {number}.", tags=["said"],
                                 slot=f"last of {number}")  # fmt: skip
                    if done.is_set() and n > 5:
                        break
        except BaseException as error:
            errors.append(error)

    def rotate() -> None:
        try:
            with connected(configured) as own:
                own.encryption.rotate_user(sealed, batch_size=5)
        except BaseException as error:
            errors.append(error)

    writers = [threading.Thread(target=write, args=[number]) for number in range(2)]
    rotators = [threading.Thread(target=rotate) for _ in range(2)]
    for thread in (*writers, *rotators):
        thread.start()
    for thread in rotators:
        thread.join()
    done.set()
    for thread in writers:
        thread.join()
    assert errors == []
    # one of them may have come when the other was done: then there were two rotations
    assert {number for number, retired in keys_of(db, sealed) if not retired} in ({2}, {3})
    with connected(configured) as later:
        for number in range(2):
            chat = later.session(user=sealed, session_id=f"writer {number}")
            told = [one.content for one in reversed(chat.messages(limit=1000))]
            assert told == [f"{number} says {n}" for n in range(len(told))]
            assert len(told) > 5
            last = later.memories.profile(sealed)[f"last of {number}"]["content"]
            assert last == f"The user said {len(told) - 1} to {number}."
        assert len(later.memories.list(sealed, filter={"tags_any": ["said"]})) == 2
    assert readable(db) == []


def test_rewrap_user_covers_two_data_keys(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    gone = memory.remember(sealed, "The user likes tea.")
    memory.memories.retract(sealed, gone.memory_id, reason="No more")
    memory.encryption.rotate_user(sealed)
    assert keys_of(db, sealed) == [(1, True), (2, False)]
    assert memory.encryption.rewrap_user(sealed) == 0


def test_list_sealed_users_pages_through_encrypted_users(
    memory: AgentMemory, db: Connection
) -> None:
    """In pages, by the wrapping keys of their data keys; under an identity only that user."""
    users = sorted(uuid.uuid4() for _ in range(3))
    for one in users:
        memory.encryption.seal_user(one)
    listed, after = [], None
    while page := call(db, "list_sealed_users", p_after_id=after, p_limit=2):
        listed += [row["user_id"] for row in page]
        after = listed[-1]
    assert listed == sorted({*listed})
    assert {*users} <= {*listed}
    assert call(db, "list_sealed_users", p_other_than="first") == []
    memory.encryption.rotate_user(users[1])
    db.execute("update recall.user_keys set wrapping_key = 'else' where user_id = %s"
               " and key_no = 2", [users[1]])  # fmt: skip
    assert call(db, "list_sealed_users", p_other_than="first") == [{"user_id": users[1]}]
    with db.transaction():
        db.execute("select set_config('recall.user_id', %s, true)", [str(users[0])])
        assert call(db, "list_sealed_users") == [{"user_id": users[0]}]
        assert call(db, "list_sealed_users", p_other_than="first") == []
    with refused("RC003"):
        call(db, "list_sealed_users", p_limit=-1)


def test_rotation_without_a_key_or_of_damaged_texts_is_refused(
    memory: AgentMemory, sealed: uuid.UUID, configured: str, db: Connection
) -> None:
    made = memory.remember(sealed, "The user likes tea.")
    stranger = uuid.uuid4()
    memory.remember(stranger, "The user likes coffee.")
    with pytest.raises(InvalidInputError, match="not encrypted"):
        memory.encryption.rotate_user(stranger)
    with connected(configured, None) as keyless, pytest.raises(ConfigurationError):
        keyless.encryption.rotate_user(sealed)
    # damage stops it, and says where; what is damaged keeps its key
    db.execute("set session_replication_role = replica")
    db.execute("update recall.memory_store set content = left(content, -4) || 'AAAA'"
               " where memory_id = %s", [made.memory_id])  # fmt: skip
    db.execute("set session_replication_role = origin")
    with pytest.raises(ConfigurationError, match="cannot be decrypted"):
        memory.encryption.rotate_user(sealed)
    assert keys_of(db, sealed) == [(1, False), (2, False)]


def test_functions_of_a_rotation_list_and_replace_rows(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    made = memory.remember(sealed, "The user likes tea.")
    chat = memory.session(user=sealed, model="gpt-4o-mini")
    chat.append(user="Hello")
    listed = call(db, "list_sealed_rows", p_user_id=sealed, p_key_no=1, p_with_late=True)
    assert {row["row_table"] for row in listed} == {"conversation_history", "memory_store"}
    early = call(db, "list_sealed_rows", p_user_id=sealed, p_key_no=1)
    assert [row["row_table"] for row in early] == ["conversation_history"]
    assert call(db, "list_sealed_rows", p_user_id=uuid.uuid4(), p_key_no=1) == []
    (row,) = [row for row in listed if row["row_table"] == "memory_store"]
    plain = row | {"new_texts": row["texts"] | {"content": "The user likes tea."}}
    with refused("RC006", "accepts no plaintext"):
        call(db, "reseal_rows", p_user_id=sealed, p_rows=Jsonb([plain]))
    message = early[0] | {"new_texts": early[0]["texts"] | {"content": MARK}}
    with refused("RC006", "accepts no plaintext"):
        call(db, "reseal_rows", p_user_id=sealed, p_rows=Jsonb([message]))
    for wrong in (
        [row | {"new_texts": {"tier": "session"}}],
        [row | {"row_table": "users", "new_texts": row["texts"]}],
        [{}],
        {},
    ):
        with refused("RC003"):
            call(db, "reseal_rows", p_user_id=sealed, p_rows=Jsonb(wrong))
    same = row | {"new_texts": row["texts"]}
    with refused("RC003", "has no successor"):
        call(db, "reseal_rows", p_user_id=sealed, p_rows=Jsonb([same]), p_replaced_key=1)
    stale = row | {"texts": row["texts"] | {"slot": "x"}, "new_texts": row["texts"]}
    assert call(db, "reseal_rows", p_user_id=sealed, p_rows=Jsonb([stale])) == [{"reseal_rows": 0}]
    key = {"p_wrapped_key": KEYS.wrap("first", bytes(32), b""), "p_wrapping_key": "first"}
    assert value(db, "select recall.add_user_key(%s, 3, %s, 'first')",
                 [sealed, key["p_wrapped_key"]]) is False  # fmt: skip
    with refused("RC003", "is not encrypted"):
        call(db, "add_user_key", p_user_id=uuid.uuid4(), p_key_no=2, **key)
    call(db, "add_user_key", p_user_id=sealed, p_key_no=2, **key)
    with refused("RC007", "data key 1 encrypts"):
        call(db, "reseal_rows", p_user_id=sealed, p_rows=Jsonb([]), p_replaced_key=1)
    # history is append-only for everybody else
    for setting in ("", str(uuid.uuid4()), str(sealed)):
        db.execute("select set_config('recall.resealed_user', %s, false)", [setting])
        with refused("RC006"):
            db.execute("update recall.conversation_history set token_count = 999"
                       " where user_id = %s", [sealed])  # fmt: skip
        with refused("RC006"):
            db.execute("update recall.conversation_history set content = 'x' where user_id = %s",
                       [sealed])  # fmt: skip
    db.execute("select set_config('recall.resealed_user', '', false)")
    with refused("RC006", "accepts no plaintext"):
        call(db, "append_messages", p_user_id=sealed, p_session_id=chat.session_id,
             p_messages=said("sealed:v1:9:message::" + "A" * 80))  # fmt: skip
    assert memory.memories.get(sealed, made.memory_id) is not None
    assert rows(db, "select * from recall.user_keys where user_id = %s and retired_at is not null",
                [sealed]) == []  # fmt: skip
