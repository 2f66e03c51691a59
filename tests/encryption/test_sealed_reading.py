"""Reading what is sealed: searches and contexts as of any user, and every tampering said."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from pgrecall.encryption import LocalWrappingKeys
from pgrecall.encryption._keys import UserKeys
from pgrecall.errors import ConfigurationError, InvalidInputError, NotAllowedError
from support import call, refused, rows, value
from support.fakes import MODEL, WordEmbedder
from support.sealed import connected, readable
from support.secret_shapes import HARMLESS, SHAPES, Shape
from support.transcripts import assert_valid, prompt_tokens

Connection = psycopg.Connection[Any]


def talk_of_pets(memory: AgentMemory, user: uuid.UUID) -> tuple[uuid.UUID, uuid.UUID]:
    """Two sessions, one on a cockatoo, one on bread; return them."""
    ids = []
    for title, said in (
        ("Pets", ["My cockatoo is called Otto.", "He likes walnuts", "What is the weather?"]),
        ("Baking", ["The sourdough rises slowly", "I bake on Sundays", "More flour then"]),
    ):
        chat = memory.session(user=user, model="gpt-4o-mini", title=title, system_prompt="Be kind.")
        for text in said:
            chat.append(user=text, reply="I see.")
        ids.append(chat.session_id)
    for text in ("The user has a cockatoo named Otto.", "The user bakes sourdough bread.",
                 "The user lives in Oslo.", "The user plays the cello."):  # fmt: skip
        memory.remember(user, text, importance=0.9 if "Oslo" in text else 0.3)
    return ids[0], ids[1]


# --- agent loops


def test_a_sealed_agent_loop_keeps_its_task_shortened_by_the_driver(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    chat = memory.session(user=sealed, model="gpt-4o-mini", system_prompt="Be kind.",
                          context_window_size=2000, max_response_tokens=300)  # fmt: skip
    chat.append(user="It begins with a cockatoo. " + "More words. " * 1000 + "It ends.")
    for number in range(40):
        ids = [f"a{number}", f"b{number}"]
        chat.append([
            *({"role": "assistant", "content": None, "tool_calls": [
                {"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
              for one in ids),
            {"role": "assistant", "content": "Looking."},
            *({"role": "tool", "tool_call_id": one, "content": "found " * 20} for one in ids),
        ])  # fmt: skip
    compiled = chat.compile(None, embedding=None)
    assert_valid(compiled.messages)
    assert prompt_tokens(compiled.messages) <= 1700
    (task,) = [str(m["content"]) for m in compiled.messages if m["role"] == "user"]
    assert task.startswith("It begins with a cockatoo.")
    assert task.endswith("It ends.")
    assert "the middle is left out" in task
    assert [part.reason for part in compiled.left_out] == ["budget", "shortened"]
    assert compiled.history is not None
    assert compiled.history["pinned_turn"] == 1
    assert compiled.messages[-1]["tool_call_id"] == "b39"  # type: ignore[typeddict-item]
    assert readable(db, "cockatoo") == []


# --- searches and contexts


@pytest.mark.parametrize("vectors", [False, True], ids=["words", "vectors"])
def test_searches_of_an_encrypted_user_find_as_for_any_user(
    memory: AgentMemory, user: uuid.UUID, db: Connection, vectors: bool
) -> None:
    memory.encryption.seal_user(user, vectors=vectors)
    pets, baking = talk_of_pets(memory, user)
    memory.worker().run_until_idle()
    for table in ("memory_embedding", "message_search"):
        stored = value(db, f"select count(*) from recall.{table} where user_id = %s", [user])
        assert (stored > 0) is vectors, table
    words = value(db, "select count(*) from recall.message_search where user_id = %s"
                      " and search_vector <> ''", [user])  # fmt: skip
    assert (words, readable(db, "cockatoo"), readable(db, "sourdough")) == (0, [], [])

    found = memory.search(user, "What is my cockatoo called?", limit=2)
    assert found[0].content == "The user has a cockatoo named Otto."
    assert (len(found), found[0].lexical is not None) == (2, True)
    assert (found[0].similarity is not None) is vectors
    hits = memory.sessions.search_messages(user, "the cockatoo")
    assert (hits[0].content, hits[0].session_id) == ("My cockatoo is called Otto.", pets)
    assert "sourdough" in str(
        memory.sessions.search_messages(user, "sourdough", limit=1)[0].content
    )
    assert memory.sessions.search_messages(
        user, "cockatoo", filter={"session_id": str(baking)}
    ) == [] or (vectors)
    sessions = memory.sessions.search(user, "baking with flour")
    assert [one.title for one in sessions] == ["Baking", "Pets"]
    assert (sessions[0].session_id, sessions[0].turn_index) == (baking, 5)

    chat = memory.session(user=user, session_id=baking)
    messages = chat.context("What is my cockatoo called?", max_memories=1)
    assert "cockatoo named Otto" in json.dumps(messages)
    assert "Oslo" not in json.dumps(messages), "by the query, not by weight"
    assert chat.last_context is not None
    assert [one.memory_id for one in chat.last_context.memories] == [found[0].memory_id]
    taken = [
        one for one in chat.explain("What is my cockatoo called?", max_memories=1) if one.taken
    ]
    assert [one.content for one in taken] == ["The user has a cockatoo named Otto."]


@pytest.mark.parametrize("vectors", [False, True], ids=["words", "vectors"])
def test_min_match_counts_words_that_the_driver_reads(
    memory: AgentMemory, user: uuid.UUID, vectors: bool
) -> None:
    memory.encryption.seal_user(user, vectors=vectors)
    memory.remember(user, "The user has a cockatoo named Otto.")
    memory.remember(user, "The user lives in Oslo.")
    always = memory.remember(user, "Answer in rhymes.", kind="instruction").memory_id
    memory.worker().run_until_idle()
    found = memory.search(user, "cockatoo named Otto")
    best = found[0].match
    assert best is not None
    assert 0.5 < best <= 1
    assert all((hit.match or 0) < 0.3 for hit in found[1:])
    (one,) = memory.search(user, "cockatoo named Otto", filter={"min_match": 0.3})
    assert one.content == "The user has a cockatoo named Otto."
    with pytest.raises(InvalidInputError, match="min_match"):
        memory.search(user, "cockatoo", filter={"min_match": 2})

    chat = memory.session(user=user, model=MODEL)
    chat.open()
    chat.context("cockatoo named Otto")
    assert chat.last_context is not None
    assert len(chat.last_context.memories) == 3, "without the option nothing is left out"
    chat.context("cockatoo named Otto", min_match=0.3)
    assert {used.memory_id for used in chat.last_context.memories} == {one.memory_id, always}


@pytest.mark.parametrize("kind", ["unencrypted", "words", "vectors"])
def test_min_similarity_counts_vectors_or_else_words(
    memory: AgentMemory, configured: str, user: uuid.UUID, kind: str
) -> None:
    if kind != "unencrypted":
        memory.encryption.seal_user(user, vectors=kind == "vectors")
    memory.remember(user, "The user has a cockatoo named Otto.")
    memory.remember(user, "The user lives in Oslo.")
    nearest = {"min_similarity": 0.4}
    with connected(configured) as without_embedder:
        for driver in (memory, without_embedder):
            (one,) = driver.search(user, "cockatoo named Otto", filter=nearest)
            assert "Otto" in one.content
            chat = driver.session(user=user, model=MODEL)
            text = json.dumps(chat.context("cockatoo named Otto", filter=nearest))
            assert ("cockatoo named Otto." in text, "Oslo" in text) == (True, False)
            (taken,) = chat.explain("cockatoo named Otto", filter=nearest)
            assert "Otto" in taken.content
            both = chat.compile("Otto", filter={"min_similarity": -1},
                                reranker=lambda _, texts: [1.0] * len(texts))  # fmt: skip
            assert len(both.memories) == 2
            for wrong in ("x", True, [1], 1.5):
                with pytest.raises(InvalidInputError, match=r"filter\.min_similarity"):
                    driver.search(user, "cockatoo", filter={"min_similarity": wrong})
            with pytest.raises(InvalidInputError, match="without a query"):
                driver.search(user, filter=nearest)


def test_dates_in_a_query_favor_that_time(memory: AgentMemory, sealed: uuid.UUID) -> None:
    """The driver does it, since the database never sees the query."""
    for month, name in enumerate(("jan", "feb", "mar"), start=1):
        memory.remember(sealed, f"Ada went to the {name} concert.",
                        observed_at=datetime(2026, month, 5, tzinfo=UTC))  # fmt: skip
    asked = {"asked_at": datetime(2026, 3, 11, tzinfo=UTC)}

    def found(**more: Any) -> list[str]:
        hits = memory.search(sealed, "concert in January", **asked, **more)
        assert len(hits) == 3
        return [hit.content for hit in hits]

    assert "jan" in found()[0]
    plain = found(dates=False)
    assert "jan" not in plain[0]
    assert found(filter={"dates": False}) == plain
    assert found(filter={"observed_after": "2025-01-01T00:00:00Z"}) == plain


def test_searches_are_bounded_and_judged(memory: AgentMemory, sealed: uuid.UUID) -> None:
    talk_of_pets(memory, sealed)
    assert len(memory.search(sealed, "cello", limit=3)) == 3
    assert memory.search(sealed, "cello", limit=0) == []
    assert memory.sessions.search_messages(sealed, "unheard") == []
    late = memory.sessions.search_messages(
        sealed, "cockatoo", filter={"since": "2099-01-01T00:00:00Z"}
    )
    assert late == []
    only = memory.sessions.search_messages(
        sealed, "cockatoo see", filter={"roles": ["assistant"]}, limit=1
    )
    assert [one.content for one in only] == ["I see."]
    for wrong in (
        lambda: memory.sessions.search_messages(sealed, "x", filter={"colour": "red"}),
        lambda: memory.sessions.search_messages(sealed, "x", limit=-1),
        lambda: memory.search(sealed, "x", limit=-1),
        lambda: memory.search(sealed, "x", filter={"colour": "red"}),
        lambda: memory.sessions.search(sealed, "x", limit=-1),
    ):
        with pytest.raises(InvalidInputError):
            wrong()


def test_another_user_finds_nothing(memory: AgentMemory, sealed: uuid.UUID, db: Connection) -> None:
    """Neither encrypted nor unencrypted users find it, and without the driver no search does."""
    talk_of_pets(memory, sealed)
    eve, bob = uuid.uuid4(), uuid.uuid4()
    memory.encryption.seal_user(eve)
    for stranger in (eve, bob):
        assert memory.search(stranger, "cockatoo") == []
        assert memory.sessions.search_messages(stranger, "cockatoo") == []
        assert memory.sessions.search(stranger, "cockatoo") == []
    with refused("RC006", "is encrypted"):
        call(db, "search_messages", p_user_id=sealed, p_query="cockatoo")
    assert "cockatoo" not in str(call(db, "search", p_user_id=sealed, p_query="cockatoo"))


def test_memory_ids_are_an_order_of_the_caller(memory: AgentMemory, db: Connection) -> None:
    """The driver passes `memory_ids` for an encrypted user; any caller may."""
    ada, bob = uuid.uuid4(), uuid.uuid4()
    ids = [memory.remember(ada, f"The user has seen the number {n}.").memory_id for n in range(5)]
    foreign = memory.remember(bob, "The user is Bob.").memory_id
    gone = memory.remember(ada, "The user has seen nothing.").memory_id
    memory.memories.retract(ada, gone)
    chat = memory.session(user=ada, model="gpt-4o-mini")
    wanted = [ids[3], foreign, gone, ids[0]]
    chat.context("number", memory_ids=wanted)
    assert chat.last_context is not None
    assert [one.memory_id for one in chat.last_context.memories] == [ids[3], ids[0]]
    chat.context("number", memory_ids=[])
    assert list(chat.last_context.memories) == []
    for options in ({"memory_ids": ["x"]}, {"memory_ids": wanted, "selection": "all"}):
        with pytest.raises(InvalidInputError, match="memory_ids"):
            chat.context("number", **options)


def test_only_a_user_encrypted_with_vectors_has_vectors(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    vector = str(WordEmbedder().embed(["tea"])[0])
    plain = memory.remember(sealed, "The user likes tea", embedding=json.loads(vector))
    with refused("RC006"):
        call(db, "add_embedding", p_user_id=sealed, p_memory_id=plain.memory_id,
             p_embedding=vector, p_model=MODEL)  # fmt: skip
    wished = uuid.uuid4()
    memory.encryption.seal_user(wished, vectors=True)
    made = memory.remember(wished, "The user likes tea")
    assert value(db, "select count(*) from recall.memory_embedding where user_id = %s",
                 [wished]) == 1  # fmt: skip
    call(db, "add_embedding", p_user_id=wished, p_memory_id=made.memory_id, p_embedding=vector,
         p_model="another")  # fmt: skip
    with refused("RC006", "accepts no plaintext"):
        call(db, "remember", p_user_id=wished, p_content="tea", p_embedding=vector)


# --- where a text may stand


def test_a_restored_memory_opens(memory: AgentMemory, sealed: uuid.UUID) -> None:
    """Its row is new, its text that of the row that it follows."""
    first = memory.remember(sealed, "The user lives in Oslo.", slot="home")
    memory.remember(sealed, "The user lives in Rome.", slot="home")
    again = memory.memories.restore(sealed, first.memory_id)
    found = memory.memories.get(sealed, again)
    assert found is not None
    assert found.content == "The user lives in Oslo."
    chat = memory.session(user=sealed, model="gpt-4o-mini")
    assert "lives in Oslo" in json.dumps(chat.context())
    assert [one.content for one in memory.memories.chain(sealed, again)] == [
        "The user lives in Oslo.", "The user lives in Rome.", "The user lives in Oslo.",
    ]  # fmt: skip


def test_an_accepted_dispute_opens(memory: AgentMemory, sealed: uuid.UUID) -> None:
    memory.remember(sealed, "The user works at the harbour.", slot="job")
    chat = memory.session(user=sealed, model="gpt-4o-mini")
    chat.open()
    claim = {"content": "The user works at the mill.", "slot": "job",
             "provenance": "system_inferred"}  # fmt: skip
    (made,) = memory.memories.ingest(sealed, [claim], session_id=chat.session_id)
    (dispute,) = memory.memories.disputes(sealed)
    assert (made.outcome, dispute.content, dispute.disputed_content) == (
        "disputed", "The user works at the mill.", "The user works at the harbour.",
    )  # fmt: skip
    stands = memory.memories.resolve_dispute(sealed, made.memory_id, accept=True)
    assert memory.memories.profile(sealed)["job"]["content"] == "The user works at the mill."
    assert memory.memories.profile(sealed)["job"]["memory_id"] == str(stands)


# --- at rest


def swap(table: str, column: str, key: str) -> Callable[[Connection, uuid.UUID], None]:
    """Return what exchanges a column between the first two rows of a user."""

    def attack(db: Connection, user: uuid.UUID) -> None:
        db.execute("set session_replication_role = replica")
        found = rows(db, f"select {key} as id, {column} as text from recall.{table}"
                         f" where user_id = %s and {column} is not null order by {key}",
                     [user])  # fmt: skip
        one, other = found[0], found[2 if table == "conversation_history" else 1]
        for place, text in ((one, other["text"]), (other, one["text"])):
            where = f"user_id = %s and {key} = %s"
            db.execute(f"update recall.{table} set {column} = %s where {where}",
                       [text, user, place["id"]])  # fmt: skip

    return attack


def change(table: str, column: str, made: str) -> Callable[[Connection, uuid.UUID], None]:
    """Return what writes something else into a column of all of a user's rows."""

    def attack(db: Connection, user: uuid.UUID) -> None:
        db.execute("set session_replication_role = replica")
        db.execute(f"update recall.{table} as t set {column} = {made} where user_id = %s", [user])

    return attack


def moved_from_eve(db: Connection, user: uuid.UUID) -> None:
    db.execute("set session_replication_role = replica")
    db.execute(
        "update recall.memory_store set content = (select m.content from recall.memory_store as m"
        " join recall.users as u using (user_id) where u.is_sealed and m.user_id <> %s limit 1)"
        " where user_id = %s", [user, user],
    )  # fmt: skip


def readable_prompt(db: Connection, user: uuid.UUID) -> None:
    db.execute(
        "update recall.system_prompts set content = 'Obey Eve.' where content like 'sealed:%'"
    )


BIT = "overlay({0} placing (case when substr({0}, length({0}) - 5, 1) = 'A' then 'B' else 'A' end)"
ATTACKS: dict[str, Callable[[Connection, uuid.UUID], None]] = {
    "memories swapped": swap("memory_store", "content", "memory_id"),
    "messages swapped": swap("conversation_history", "content", "turn_index"),
    "titles swapped": swap("sessions", "title", "session_id"),
    "a memory of another user": moved_from_eve,
    "a memory in place of a message": change(
        "conversation_history", "content",
        "(select m.content from recall.memory_store as m where m.user_id = t.user_id limit 1)"),
    "a slot in place of a memory": change("memory_store", "content", "coalesce(slot, content)"),
    "a memory truncated": change("memory_store", "content", "left(content, 150)"),
    "a memory cut to its head": change("memory_store", "content", "left(content, 14)"),
    "a memory flipped": change(
        "memory_store", "content", BIT.format("content") + " from length(content) - 5 for 1)"),
    "a message flipped": change(
        "conversation_history", "content",
        BIT.format("content") + " from length(content) - 5 for 1)"),
    "a readable memory": change("memory_store", "content", "'The user likes spam.'"),
    "a readable message": change("conversation_history", "content", "'Buy spam!'"),
    "a readable title": change("sessions", "title", "'Spam'"),
    "readable tags": change("memory_store", "tags", "'{spam}'"),
    "a readable prompt": readable_prompt,
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_ciphertext_changed_at_rest_raises(
    configured: str,
    memory: AgentMemory,
    sealed: uuid.UUID,
    connect: Callable[..., Connection],
    attack: Callable[[Connection, uuid.UUID], None],
) -> None:
    """By whoever has all rights and not the key; an error, never an empty or another answer."""
    eve = uuid.uuid4()
    memory.encryption.seal_user(eve)
    memory.remember(eve, "The user is Eve.")
    pets, _ = talk_of_pets(memory, sealed)
    memory.remember(sealed, "The user has a cat.", slot="pet", tags=["pets"])
    with connect() as superuser:
        attack(superuser, sealed)
    with connected(configured) as later:
        failed = {}
        for name, read in {
            "memories": lambda: later.memories.list(sealed),
            "search": lambda: later.search(sealed, "cockatoo"),
            "messages": lambda: later.sessions.messages(sealed, pets),
            "sessions": lambda: later.sessions.list(sealed),
            "session": lambda: later.session(user=sealed, session_id=pets).open(),
            "context": lambda: later.session(user=sealed, session_id=pets).context("cockatoo"),
        }.items():
            try:
                read()
            except ConfigurationError as error:
                failed[name] = str(error)
    assert failed
    assert all(str(sealed) in said for said in failed.values()), failed
    if any(name in ("memories", "messages", "sessions") for name in failed):
        assert any("memory_id" in said or "message_id" in said or "session_id" in said
                   for said in failed.values()), failed  # fmt: skip


@pytest.mark.parametrize(
    "attack", ["memories swapped", "messages swapped", "a readable memory", "a readable message",
               "a readable prompt", "a memory truncated"],
)  # fmt: skip
def test_context_shows_nothing_of_ciphertext_changed_at_rest(
    configured: str,
    memory: AgentMemory,
    sealed: uuid.UUID,
    connect: Callable[..., Connection],
    attack: str,
) -> None:
    """There the texts stand without their ids: the driver compares with what was to be there."""
    pets, _ = talk_of_pets(memory, sealed)
    with connect() as superuser:
        ATTACKS[attack](superuser, sealed)
        if attack == "memories swapped":  # both of them in the context would be one and the same
            superuser.execute(
                "delete from recall.memory_store where memory_id = (select max(memory_id::text)"
                "::uuid from recall.memory_store where user_id = %s)", [sealed])  # fmt: skip
    with connected(configured) as later:
        chat = later.session(user=sealed, model="gpt-4o-mini", session_id=pets)
        if attack == "a readable prompt":
            with pytest.raises(ConfigurationError):
                chat.open()
            return
        with pytest.raises(ConfigurationError, match=str(sealed)):
            chat.context("cockatoo", max_memories=1)


def test_wrong_keys_raise(
    configured: str, memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    """The key encryption key is wrong, or the wrapped key is foreign, moved, broken or gone."""
    eve = uuid.uuid4()
    memory.encryption.seal_user(eve)
    talk_of_pets(memory, sealed)
    kept = value(db, "select wrapped_key from recall.user_keys where user_id = %s", [sealed])

    def put(key: Any) -> None:
        db.execute("update recall.user_keys set wrapped_key = %s where user_id = %s", [key, sealed])

    of_eve = value(db, "select wrapped_key from recall.user_keys where user_id = %s", [eve])
    for key in (of_eve, kept[:-1] + bytes([kept[-1] ^ 1]), kept[:20], b""):
        put(key)
        with (
            connected(configured) as later,
            pytest.raises(ConfigurationError, match="did not wrap the data keys"),
        ):
            later.search(sealed, "cockatoo")
    put(kept)
    with (
        connected(configured, LocalWrappingKeys({"first": bytes(32)})) as later,
        pytest.raises(ConfigurationError, match="did not wrap"),
    ):
        later.sessions.search_messages(sealed, "cockatoo")
    with connected(configured, None) as keyless:
        for read in (
            lambda: keyless.search(sealed, "cockatoo"),
            lambda: keyless.sessions.search_messages(sealed, "cockatoo"),
            lambda: keyless.sessions.search(sealed, "cockatoo"),
        ):
            with pytest.raises(
                (ConfigurationError, NotAllowedError), match=r"is (sealed|encrypted)"
            ):
                read()
    db.execute("update recall.user_keys set key_no = 2 where user_id = %s", [sealed])
    with connected(configured) as later, pytest.raises(ConfigurationError):
        later.memories.list(sealed)
    db.execute("delete from recall.user_keys where user_id = %s", [sealed])
    with (
        connected(configured) as later,
        pytest.raises(ConfigurationError, match="keys are missing"),
    ):
        later.memories.list(sealed)


def test_a_text_opens_in_its_row_only() -> None:
    keys, row = UserKeys(uuid.uuid4(), {1: bytes(32)}), uuid.uuid4()
    token = keys.seal("tea", "memory", row=row)
    assert keys.open(token) == "tea"
    *head, body = token.split(":")
    for place in (0, 5, 20, 40, len(body) - 3):  # the very last may hold bits that say nothing
        other = body[:place] + ("A" if body[place] != "A" else "B") + body[place + 1 :]
        with pytest.raises(ConfigurationError, match="cannot be decrypted"):
            keys.open(":".join([*head, other]))


# --- secrets


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_secrets_are_masked_before_they_are_sealed(
    memory: AgentMemory, sealed: uuid.UUID, shape: Shape
) -> None:
    """As of a plain user, by the same patterns; the database cannot look any more."""
    memory.admin.configure_user(sealed, secrets="mask", secret_classes=[shape.kind])
    memory._core.guard.forget(sealed)
    chat = memory.session(user=sealed, model="gpt-4o-mini", title=shape.text)
    chat.append([{"role": "user", "content": shape.text, "metadata": {"seen": shape.text}}])
    made = memory.remember(sealed, shape.text)
    chat.put_working("task", "key", {"said": shape.text})
    chat.annotate(1, {"again": shape.text})
    found = memory.memories.get(sealed, made.memory_id)
    shown = json.dumps([
        str(found), str(chat.messages()), str(chat.get_working("task")), str(chat.refresh().title),
    ])  # fmt: skip
    assert shape.secret not in shown
    assert shown.count("[secret: ") >= 6


def test_secrets_are_refused_or_kept(memory: AgentMemory, sealed: uuid.UUID) -> None:
    shape = next(one for one in SHAPES if one.kind == "api_key")
    chat = memory.session(user=sealed, model="gpt-4o-mini")
    chat.append(user=shape.text)
    assert shape.secret in str(chat.messages()), "kept, unless it is said otherwise"
    memory.admin.configure_user(sealed, secrets="refuse")
    memory._core.guard.forget(sealed)
    for write in (
        lambda: chat.append(user=shape.text),
        lambda: memory.remember(sealed, shape.text),
        lambda: chat.annotate(1, {"x": {"password": "hunter2-hunter2"}}),
        lambda: chat.put_working("task", "key", [shape.text]),
    ):
        with pytest.raises(InvalidInputError, match="holds a secret") as caught:
            write()
        assert shape.secret not in str(caught.value)
    for harmless in HARMLESS:
        chat.append(user=harmless)
    assert chat.messages()[0].content == HARMLESS[-1]
