"""Every operation of an encrypted user leaves a user whom the driver can export and move."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from pgrecall.errors import ConfigurationError
from support import call, rows, sweep, value
from support.completions import CALL
from support.scripted_model import MODEL, Script, embedder, fact, model, talk, work
from support.scripted_openai import ScriptedOpenAI
from support.sealed import KEYS, connected, use_everything
from support.servers import TestServer

Connection = psycopg.Connection[Any]

# `content` of memories that an event quotes is bound to a row that is not stored
FOREIGN = "select count(*) from recall.memory_events where detail ->> 'content' like 'sealed:%'"


@pytest.fixture
def memory(model_dsn: str, openai: ScriptedOpenAI, db: Connection) -> Iterator[AgentMemory]:
    db.execute("update recall.maintenance_tasks set last_run_at = now()")
    with AgentMemory.connect(
        model_dsn, embedder=embedder(openai), llm=model(openai), wrapping_keys=KEYS
    ) as memory:
        yield memory
    db.execute("delete from recall.jobs")


@pytest.fixture(params=[False, True], ids=["without vectors", "with vectors"])
def sealed(memory: AgentMemory, user: uuid.UUID, request: pytest.FixtureRequest) -> uuid.UUID:
    memory.encryption.seal_user(user, vectors=request.param)
    return user


@pytest.fixture
def elsewhere(server: TestServer, db: Connection) -> Iterator[AgentMemory]:
    """A driver of another database."""
    name = server.cloned_database("sealed_elsewhere")
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        conn.execute("update recall.settings set embedding_model = 'openai:words'")
    with connected(server.dsn(name)) as memory:
        yield memory
    server.drop_database(name)


def shown(memory: AgentMemory, user: uuid.UUID) -> dict[str, Any]:
    """Return the opened export, without what another database says differently."""
    document = memory.privacy.export_user(user)
    assert "sealed:v1:" not in json.dumps(document, default=str)
    tables = document["tables"]
    for table in ("users", "jobs", "memory_embedding", "memory_embedding_ended", "item_vectors",
                  "session_summaries"):  # fmt: skip
        tables.pop(table)
    return dict(tables)


def check_whole(memory: AgentMemory, elsewhere: AgentMemory, user: uuid.UUID) -> None:
    """Assert that a user can be exported, shown and moved."""
    before = shown(memory, user)
    for one in memory.memories.list(user, filter={"include_ended": True}):
        events = memory.memories.history(user, one.memory_id)
        assert one.memory_id in {event.memory_id for event in events}
        memory.memories.chain(user, one.memory_id)
    elsewhere.privacy.forget_user(user)
    pieces = memory.privacy.export_user_pieces(user, sealed=True, piece_bytes=20_000)
    elsewhere.privacy.import_user_pieces(pieces)
    assert shown(elsewhere, user) == before
    readable = list(memory.privacy.export_user_pieces(user, piece_bytes=20_000))
    assert "sealed:v1:" not in json.dumps(readable, default=str)
    assert all("is_opened" in piece for piece in readable)
    assert elsewhere.privacy.verify_integrity(user) == []
    assert memory.privacy.verify_integrity(user) == []
    for one in elsewhere.memories.list(user, filter={"include_ended": True}):
        elsewhere.memories.history(user, one.memory_id)


Step = Callable[[], object]


@pytest.mark.slow
def test_user_is_exported_and_moved_after_every_operation(
    memory: AgentMemory, elsewhere: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    user, made = sealed, dict[str, Any]()
    chat = memory.session(user=user, model=MODEL, title="First", system_prompt="You know it.")
    chat.open()
    turn = {"role": "user", "content": "Bo likes rain."}

    def keep(name: str, found: Any) -> None:
        made[name] = found.memory_id

    steps: list[tuple[str, Step]] = [
        ("everything", lambda: use_everything(memory, user)),
        ("remember", lambda: keep("tea", memory.remember(user, "I like tea.", tags=["a"]))),
        ("say it again", lambda: memory.remember(user, "I like tea.", tags=["b"])),
        ("in other letters", lambda: memory.remember(user, "i LIKE tea", metadata={"n": "x"})),
        ("in a session", lambda: chat.remember("I like tea!")),
        ("a batch", lambda: memory.memories.ingest(
            user, [{"content": "I like tea."}, {"content": "I ski."}, {"content": "I ski!"}])),
        ("an edit", lambda: made.update(
            edited=memory.memories.edit(user, made["tea"], "I like green tea."))),
        ("an edit of tags", lambda: made.update(edited=memory.memories.edit(
            user, made["edited"], "I like green tea.", changes={"tags": ["c"]}))),
        ("an edit to a known text", lambda: memory.memories.edit(user, made["edited"], "I ski.")),
        ("a restored edit", lambda: memory.memories.restore(user, made["tea"])),
        ("a slot", lambda: keep("home", memory.remember(user, "I live in Oslo.", slot="home"))),
        ("the slot again", lambda: memory.remember(user, "I live in Rome.", slot="home")),
        ("a dispute", lambda: memory.memories.ingest(
            user, [{"content": "User lives in Bonn.", "slot": "home",
                    "provenance": "system_inferred"}])),
        ("the dispute again", lambda: memory.memories.ingest(
            user, [{"content": "User lives in Bonn.", "slot": "home",
                    "provenance": "system_inferred"}])),
        ("accepted", lambda: [memory.memories.resolve_dispute(user, one.memory_id, accept=True)
                              for one in memory.memories.disputes(user)]),
        ("asked to forget", lambda: memory.memories.dispute(
            user, memory.remember(user, "I own a boat.").memory_id, session_id=chat.session_id,
            user_words="no boat", reason="They said so")),
        ("refused", lambda: [memory.memories.resolve_dispute(user, one.memory_id, accept=False)
                             for one in memory.memories.disputes(user)]),
        ("a goal", lambda: keep("goal", memory.remember(user, "I want to run.", kind="goal"))),
        ("achieved", lambda: memory.memories.achieve(user, made["goal"])),
        ("validated", lambda: memory.memories.validate(user, memory.remember(
            user, "I may swim.", provenance="system_inferred").memory_id)),
        ("reinforced", lambda: memory.memories.reinforce(
            user, memory.remember(user, "I knit.").memory_id, useful=True)),
        ("retracted", lambda: keep("gone", memory.remember(user, "I smoke."))
         or memory.memories.retract(user, made["gone"], reason="I stopped")),
        ("retracted, said again", lambda: memory.remember(user, "I smoke.")),
        ("retracted once more", lambda: [
            memory.memories.retract(user, one.memory_id, reason="again")
            for one in memory.memories.list(user) if one.content == "I smoke."]),
        ("restored", lambda: memory.memories.restore(user, made["gone"])),
        ("messages", lambda: chat.append(user="Bo likes rain.", reply="Does he?")),
        ("the same messages", lambda: chat.append(user="Bo likes rain.", reply="Does he?")),
        ("tool calls", lambda: chat.append([
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": CALL["id"], "content": "42"}])),
        ("sync", lambda: chat.sync([turn, {"role": "assistant", "content": "Again?"}])),
        ("annotated", lambda: chat.annotate(1, {"stars": "five"})),
        ("popped", lambda: chat.pop(1)),
        ("retracted turns", lambda: chat.retract(3)),
        ("working memory", lambda: chat.put_working("task", "key", {"is": "state"})),
        ("working memory cleared", lambda: chat.clear_working("task")),
        ("items", lambda: memory.items.put(user, [
            {"namespace": ["n"], "key": "k", "value": {"t": "one"}},
            {"namespace": ["m"], "key": "k", "value": {"t": "one"}}])),
        ("an item again", lambda: memory.items.put(
            user, [{"namespace": ["n"], "key": "k", "value": {"t": "one"}}])),
        ("an updated session", lambda: chat.update(title="Second", metadata={"a": "b"})),
        ("a session of the same title", lambda: memory.session(
            user=user, model=MODEL, title="Second", system_prompt="You know it.").open()),
        ("a job", lambda: memory.admin.enqueue_job(user, "summarize", dedupe_key="a key",
                                                   session_id=chat.session_id)),
        ("closed", chat.close),
        ("a key rotated", lambda: memory.encryption.rotate_user(user)),
        ("said again after it", lambda: memory.remember(user, "I like tea")),
        ("promoted", lambda: sweep(db, "promote_memories")),
        ("expired", lambda: sweep(db, "expire_memories")),
        ("cleared", lambda: chat.resume() or chat.clear()),
        ("a memory erased", lambda: memory.privacy.forget_memory(user, made["gone"])),
        ("a session erased", lambda: memory.privacy.forget_session(user, chat.session_id)),
    ]  # fmt: skip
    for name, step in steps:
        step()
        try:
            check_whole(memory, elsewhere, user)
        except Exception as error:
            error.add_note(f"after {name}")
            raise
    assert value(db, FOREIGN) == 0
    assert "duplicate" in {row["event"] for row in call(db, "list_memory_events", p_user_id=user,
                                                        p_limit=200)}  # fmt: skip


@pytest.mark.slow
def test_user_is_exported_and_moved_after_every_job(
    memory: AgentMemory, elsewhere: AgentMemory, sealed: uuid.UUID, db: Connection, script: Script
) -> None:
    """Extraction, summaries, a session that continues another, merges and those refused."""
    call(db, "configure_user", p_user_id=sealed, p_changes={"summarize_after_turns": 4})
    told = [f"Message {n} says little." for n in range(4)] + ["I keep bees."]
    script.facts = {"I keep bees.": [fact("User keeps bees.", slot="pet", tags=["bees"])]}
    script.episodes = {"I keep bees.": "User told of the bees."}
    script.decisions = {"User keeps bees.": ("ADD", None)}
    for _ in range(2):  # the second time the fact is known
        chat = talk(memory, sealed, told)
        work(memory)
        check_whole(memory, elsewhere, sealed)
    child = memory.session(user=sealed, model=MODEL, parent_session_id=chat.session_id)
    child.append(user="Where were we?", reply="At the bees.")
    check_whole(memory, elsewhere, sealed)
    grandchild = memory.session(user=sealed, model=MODEL, parent_session_id=child.session_id)
    grandchild.append(user="And now?", reply="Still there.")
    check_whole(memory, elsewhere, sealed)

    texts = [
        "User likes green soup.", "User likes cold soup.", "User eats bread at noon.",
        "User eats bread at night.", "User has a cat.", "User has a dog.",
    ]  # fmt: skip
    for text in texts:
        memory.remember(sealed, text, tags=["food"])
    script.merges = {
        "User likes green and cold soup.": texts[:2],
        "User eats bread at noon and at night.": texts[2:4],
    }
    script.unsupported = {"User eats bread at noon and at night."}
    assert call(db, "enqueue_merges")[0]["done"] == 1
    work(memory)
    check_whole(memory, elsewhere, sealed)
    events = {row["event"] for row in rows(db, "select event from recall.memory_events"
                                               " where user_id = %s", [sealed])}  # fmt: skip
    assert events >= {"merged", "merge_refused"}
    part = next(one for one in memory.memories.list(sealed, filter={"include_ended": True})
                if one.content == texts[0])  # fmt: skip
    memory.memories.restore(sealed, part.memory_id)
    check_whole(memory, elsewhere, sealed)
    memory.privacy.forget_session(sealed, chat.session_id)
    check_whole(memory, elsewhere, sealed)
    assert value(db, FOREIGN) == 0


@pytest.mark.parametrize("event", ["duplicate", "merge_refused"])
def test_event_of_an_earlier_release_with_the_ciphertext_of_another_row_opens(
    memory: AgentMemory, elsewhere: AgentMemory, sealed: uuid.UUID, db: Connection, event: str
) -> None:
    """Release 0.1.0 kept the ciphertext of a repetition; the audit is never rewritten."""
    kept = memory.remember(sealed, "I ski.").memory_id
    other = memory.remember(sealed, "I knit.").memory_id
    db.execute(
        """
        select recall._append_events(m.user_id, array[
                   (m.user_id, %s, 0, clock_timestamp(), %s, null, session_user,
                    jsonb_build_object('content', m.content), null, null)::recall.memory_events])
          from recall.memory_store as m
         where m.user_id = %s and m.memory_id = %s
        """,
        [kept, event, sealed, other],
    )

    def told() -> Any:
        return [one.detail["content"] for one in memory.memories.history(sealed, kept)
                if one.event == event]  # fmt: skip

    assert told() == ["I knit."]
    check_whole(memory, elsewhere, sealed)
    memory.encryption.rotate_user(sealed)
    memory.privacy.forget_memory(sealed, other)
    assert told() == ["I knit."]
    check_whole(memory, elsewhere, sealed)
    # a ciphertext that was moved elsewhere in the audit does not open
    with db.transaction():
        db.execute("alter table recall.memory_events disable trigger user")
        db.execute("update recall.memory_events set event = 'reinforced' where event = %s"
                   " and user_id = %s and detail ? 'content'", [event, sealed])  # fmt: skip
        db.execute("alter table recall.memory_events enable trigger user")
    with pytest.raises(ConfigurationError, match="was sealed for"):
        memory.memories.history(sealed, kept)
