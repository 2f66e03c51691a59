"""The whole life of an encrypted user: dumps hold no plaintext, and erasure leaves nothing."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from support import call, run, value
from support.scripted_model import MODEL, Script, embedder, fact, model, work
from support.scripted_openai import ScriptedOpenAI
from support.sealed import KEYS, MARK, connected, marks, readable, use_everything

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]


@pytest.fixture
def memory(model_dsn: str, openai: ScriptedOpenAI) -> Iterator[AgentMemory]:
    with AgentMemory.connect(
        model_dsn, embedder=embedder(openai), llm=model(openai), wrapping_keys=KEYS
    ) as memory:
        yield memory


def dumped(dsn: str) -> bytes:
    """Return a dump of the database, in lower case as the marks are."""
    made = run("pg_dump", dsn)
    assert made.returncode == 0, made.stderr
    return made.stdout.lower().encode()


def found_in(dump: bytes) -> list[bytes]:
    return [mark for mark in marks() if mark in dump]


def test_search_of_a_dump_finds_plaintext_in_every_encoding(
    memory: AgentMemory, model_dsn: str, db: Connection
) -> None:
    """A search that could find nothing would prove nothing."""
    user = uuid.uuid4()
    made = memory.remember(user, f"The user keeps a {MARK}.")
    assert MARK.encode() in found_in(dumped(model_dsn))
    coded = "encode(convert_to('a {0} swims', 'UTF8'), 'base64')"
    for text in (coded, "encode('a {0} swims', 'hex')", "upper('a {0} swims')"):
        db.execute(
            f"update recall.memory_store set content = {text.format(MARK)}, search_vector = ''"
            " where memory_id = %s", [made.memory_id],
        )  # fmt: skip
        assert found_in(dumped(model_dsn)), text
    db.execute("select recall.forget_user(%s)", [user])
    assert found_in(dumped(model_dsn)) == []


def test_encrypted_user_leaves_no_readable_text_in_a_whole_life(
    memory: AgentMemory, script: Script, openai: ScriptedOpenAI, user: uuid.UUID, db: Connection,
    model_dsn: str,
) -> None:  # fmt: skip
    """Chat, learning, search, context, profile, rotation, a move by export, and erasure."""
    assert memory.encryption.seal_user(user)
    script.facts = {
        f"I keep a {MARK}": [fact(f"User keeps a {MARK}.", slot="pet", tags=[MARK])],
        f"My {MARK} is called Bo": [fact(f"User's {MARK} is called Bo.")],
    }
    script.episodes = {f"My {MARK} is called Bo": f"User told of the {MARK}."}
    for facts in script.facts.values():
        script.decisions[facts[0]["content"]] = ("ADD", None)

    # a chat with the model, beside everything else that a driver can store
    def reply(request: Any) -> Any:
        system = request["messages"][0]["content"]
        if system == f"You like every {MARK}.":
            return f"I like your {MARK}."
        return script(request)

    openai.respond = reply
    with memory.session(
        user=user, model=MODEL, system_prompt=f"You like every {MARK}.", title=f"A {MARK}"
    ) as chat:
        for text in (*script.facts, "And so on"):
            answer = chat.send(text)
            assert answer.choices[0].message.content == f"I like your {MARK}."
        chat.close()
    work(memory)
    use_everything(memory, user)
    memory.admin.enqueue_job(user, "summarize", session_id=chat.session_id, dedupe_key=f"a {MARK}")
    assert (found_in(dumped(model_dsn)), readable(db)) == ([], [])

    # it is read as ever
    def look(driver: AgentMemory) -> None:
        assert driver.search(user, "What is it called?", limit=1)[0].content == (
            f"User's {MARK} is called Bo."
        )
        hits = driver.sessions.search_messages(user, f"{MARK} called Bo", limit=1)
        assert hits[0].content == f"My {MARK} is called Bo"
        assert driver.sessions.search(user, f"A {MARK}")[0].title in (f"A {MARK}", f"On {MARK}")
        assert driver.memories.profile(user)["pet"]["content"] == f"User keeps a {MARK}."
        session = driver.session(user=user, session_id=chat.session_id)
        told = json.dumps(session.context("What is it called?"))
        assert f"{MARK} is called Bo." in told
        assert told.count(f"I like your {MARK}.") >= 3
        assert "sealed:" not in told

    look(memory)
    # nobody else sees anything of it
    assert memory.search(uuid.uuid4(), MARK) == []
    with connected(model_dsn, None) as keyless, pytest.raises(Exception, match="is encrypted"):
        keyless.search(user, MARK)

    memory.encryption.rotate_user(user)
    look(memory)
    document = memory.privacy.export_user(user, sealed=True)
    opened = json.dumps(memory.privacy.export_user(user))
    assert (MARK in json.dumps(document), MARK in opened, "sealed:v1" in opened) == (
        False, True, False,
    )  # fmt: skip
    memory.privacy.forget_user(user)
    memory.privacy.import_user(document)
    with connected(model_dsn) as later:
        look(later)
    dump = dumped(model_dsn)
    assert (found_in(dump), str(user).encode() in dump) == ([], True)

    receipt = memory.privacy.forget_user(user)
    assert receipt["counts"]["user_keys"] == 2
    call(db, "purge_expired")
    dump = dumped(model_dsn)
    assert (re.findall(rb"sealed:v1:\d+:", dump), str(user).encode() in dump) == ([], False)
    assert value(db, "select count(*) from recall.user_keys where user_id = %s", [user]) == 0
    assert memory.memories.list(user) == []
