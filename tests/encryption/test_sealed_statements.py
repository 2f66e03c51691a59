"""Proof by the user's own words for encrypted users: the driver's rule, and what stands on it."""

from __future__ import annotations

import json
import random
import uuid
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, ChatSession, NotFoundError
from pgrecall._sql import Call
from pgrecall.encryption._sealed import sealed_call
from pgrecall.encryption._statements import judge
from support import call, value
from support.proof_pairs import PAIRS
from support.sealed import MARK, readable

MIXTURES = 800
JUDGE = "select recall._judge_statement(%s, %s, %s)"

ODD = [
    ("I live in Lyon. " * 2000, "I live in Lyon", "Lives in Lyon"),
    ("I live in Lyon", "I live" * 400, "Lives in Lyon"),
    ("Note: I live in Lyon: really", "I live in Lyon", "Lives in Lyon"),
    ("Note\n: I live in Lyon", "I live in Lyon", "Lives in Lyon"),
    ("I can't eat nuts", "I can't eat nuts", "Cannot eat nuts"),
    ("I live in Lyon; not in Paris", "I live in Lyon", "Lives in Lyon"),
    ("I live in Lyon but I don't like it", "I live in Lyon", "Lives in Lyon"),
    ("나는 서울에 산다", "나는 서울에 산다", "사용자는 서울에 산다"),
    ("ich wohne in Köln  \t ｉch wohne", "ich wohne in Köln", "Wohnt in Köln"),
    ("  > I live in Lyon\nI live in Lyon", "I live in Lyon", "Lives in Lyon"),
    ("'I live in Lyon", "I live in Lyon", "Lives in Lyon"),
    ("I live in Lyon <b>I live in Lyon", "I live in Lyon", "Lives in Lyon"),
    ("", "", ""),
]


def test_driver_and_database_judge_alike(db: psycopg.Connection) -> None:
    asked = [(said, words, content) for said, words, content, _ in PAIRS] + ODD
    contents = [content for *_, content in asked]
    # each message beside the texts of its neighbors, too
    asked += [(said, words, other) for (said, words, _), other in
              zip(asked, contents[1:] + contents[:1], strict=True)]  # fmt: skip
    asked += [(said, said, content) for said, _, content in asked[: len(contents)]]
    for said, words, content in asked:
        expected = value(db, JUDGE, [words, content, said])
        assert judge(words, content, said) == expected, (said, words, content)


def test_driver_and_database_judge_mixtures_alike(db: psycopg.Connection) -> None:
    chance = random.Random(14)
    texts = [text for said, words, content, _ in PAIRS for text in (said, words, content)]
    pieces = [*{piece for text in texts for piece in text.split()}]
    joins = [" ", " ", " ", " but ", " no longer ", ". ", "; ", "\n", ": ", "\n> ", ' "', "’s ",
             ", ", "? ", " not ", " I ", " `", " — "]  # fmt: skip
    verdicts: list[str | None] = []
    for _ in range(MIXTURES):
        said, words, content, _ = chance.choice(PAIRS)
        parts = [said, *chance.choices(pieces, k=chance.randint(0, 3)), words]
        chance.shuffle(parts)
        mixed = "".join(part + chance.choice(joins) for part in parts)
        quote = chance.choice([words, words, said, " ".join(words.split()[1:])])
        about = chance.choice([content, content, f"{content} {chance.choice(pieces)}", quote])
        verdicts.append(value(db, JUDGE, [quote, about, mixed]))
        assert judge(quote, about, mixed) == verdicts[-1], (mixed, quote, about)
    assert min(verdicts.count(verdict) for verdict in ("states", "denies")) > MIXTURES / 50


WORDS = f"I am allergic to {MARK}"
DENIED = f"I am not allergic to {MARK}"
CONTENT = f"User is allergic to {MARK}."


@pytest.fixture
def chat(memory: AgentMemory, sealed: uuid.UUID) -> ChatSession:
    chat = memory.session(user=sealed, model="gpt-4o-mini")
    chat.open()
    return chat


def ask(chat: ChatSession, name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments, default=str)}
    asked = {"id": "call_1", "type": "function", "function": function}
    found: dict[str, Any] = json.loads(chat.memory_tools().dispatch(asked)["content"])
    return found


@pytest.mark.parametrize("is_stored", [True, False])
def test_model_remembers_what_an_encrypted_user_said(
    memory: AgentMemory, chat: ChatSession, db: psycopg.Connection, is_stored: bool
) -> None:
    if is_stored:
        chat.append(user=f"By the way, {WORDS}.", reply="Good to know.")
    else:
        chat.context(f"By the way, {WORDS}.")
    for outcome in ("added", "duplicate"):
        done = ask(chat, "remember", content=CONTENT, user_words=WORDS)
        assert (done["outcome"], "why" in done) == (outcome, False)
    [stored] = memory.memories.list(chat.user_id)
    assert (stored.content, stored.provenance, stored.source, stored.tier, stored.scope) == (
        CONTENT, "user_stated", "conversation", "semantic", "global",
    )  # fmt: skip
    said = [one.message_id for one in chat.messages() if one.role == "user"]
    assert stored.source_turn_ids == said
    assert stored.metadata == {"tool": "remember", "user_words": WORDS}
    assert readable(db) == []


def test_what_an_encrypted_user_did_not_say_stays_in_the_session(
    memory: AgentMemory, chat: ChatSession
) -> None:
    # The other user's are stored readable.
    words, content = (text.replace(MARK, "nuts") for text in (WORDS, CONTENT))
    other, elsewhere = (memory.session(user=one, model="gpt-4o-mini")
                        for one in (uuid.uuid4(), chat.user_id))  # fmt: skip
    for session in (other, elsewhere):
        session.append(user=f"{words}.", reply="Good to know.")
    chat.append(user="What is new?", reply=f"{words}.")
    chat.append(user=f"{words}.", reply="Good to know.")
    chat.retract(from_turn=3)
    done = ask(chat, "remember", content=content, user_words=words)
    assert done["why"] == "not the user's own words: kept for this conversation only"
    [stored] = memory.memories.list(chat.user_id)
    assert (stored.provenance, stored.source, stored.tier, stored.scope) == (
        "system_inferred", "inference", "session", "local",
    )  # fmt: skip
    made = memory.remember(
        chat.user_id, content, provenance="tool_output", session_id=elsewhere.session_id,
        user_words=words,
    )  # fmt: skip
    assert made.is_proven is False
    chat.context(f"{DENIED}.")
    done = ask(chat, "remember", content=CONTENT, user_words=DENIED)
    assert done["why"] == "not the user's own words: kept for this conversation only"


@pytest.mark.parametrize(
    ("said", "quote", "outcome"),
    [
        (f"{DENIED}.", DENIED, "forgotten"),
        (f"{WORDS}.", WORDS, "disputed"),
        ("What is new?", DENIED, "disputed"),
        (f"{DENIED}.", None, "disputed"),
    ],
)
@pytest.mark.parametrize("is_stored", [True, False])
def test_model_forgets_what_an_encrypted_user_takes_back(
    memory: AgentMemory, chat: ChatSession, db: psycopg.Connection, said: str, quote: str | None,
    outcome: str, is_stored: bool,
) -> None:  # fmt: skip
    kept = memory.remember(chat.user_id, CONTENT)
    if is_stored:
        chat.append(user=said, reply=f"{DENIED}.")
    else:
        chat.context(said)
    done = ask(chat, "forget_memory", memory_id=kept.memory_id, user_words=quote, reason=MARK)
    assert done["outcome"] == outcome
    current = memory.memories.get(chat.user_id, kept.memory_id)
    assert current is not None
    assert current.is_active is (outcome == "disputed")
    assert readable(db) == []


def test_words_of_an_unknown_session_end_no_memory(memory: AgentMemory, sealed: uuid.UUID) -> None:
    kept = memory.remember(sealed, CONTENT)
    quoted = {"user_words": DENIED, "current_message": f"{DENIED}."}
    with pytest.raises(NotFoundError):
        memory.memories.dispute(sealed, kept.memory_id, session_id=uuid.uuid4(), **quoted)
    assert len(memory.memories.list(sealed)) == 1


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
    sealing = memory._core.sealing(sealed)
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
