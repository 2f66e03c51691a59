"""An imported document does not change what this database lets be stored."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from pgrecall.errors import InvalidInputError
from support import append, call, open_session, refused, rows, value

Connection = psycopg.Connection[Any]
Document = dict[str, Any]

KEY = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"

# a setting, a value of this database, a weaker one, and a stricter one
POLICY = [
    ("secrets", "mask", "keep", "refuse"),
    ("secret_classes", ["api_key", "token"], ["token"], ["api_key", "token", "card"]),
    ("protect_user_stated", True, False, True),
    ("source_memories_per_hour", 1000, 1001, 10),
    ("extraction", "verbatim", "llm", "none"),
    ("extracted_tier", "session", "semantic", "session"),
    ("embedding_model", "openai:text-embedding-3-small", "other:x",
     "openai:text-embedding-3-small"),
    ("embed_messages", False, True, False),
    ("ledger", "calls", "streams", "off"),
    ("history_retention", "12 months", "13 months", "12 months"),
    ("ledger_retention", "30 days", "1 year", "1 day"),
    ("message_search_retention", "30 days", "31 days", "1 day"),
    ("session_ttl", "30 days", "1 year", "1 day"),
    ("user_cost_limit_microcents", 1000, 1001, 10),
    ("future_skew", "5 minutes", "1 year", "1 minute"),
    ("durable_confidence", 0.7, 0.1, 0.9),
]  # fmt: skip


@pytest.fixture
def document(db: Connection, user: uuid.UUID) -> Iterator[Document]:
    """A document of a user who is then forgotten; what the test configures is taken back."""
    session = open_session(db, user)
    append(db, user, session, [{"role": "user", "content": f"My key is {KEY}"}])
    call(db, "remember", p_user_id=user, p_content=f"Has the key {KEY}")
    made = value(db, "select recall.export_user(%s)", [user])
    call(db, "forget_user", p_user_id=user)
    before = rows(db, "select * from recall.settings")[0]
    yield made
    names = [name for name, *_ in POLICY]
    for name in names:
        db.execute(f"update recall.settings set {name} = %s".encode(), [before[name]])


def with_overrides(document: Document, **overrides: Any) -> Document:
    copied: Document = json.loads(json.dumps(document))
    copied["tables"]["users"][0]["overrides"] = overrides
    return copied


@pytest.mark.parametrize(("name", "here", "weaker", "stricter"), POLICY, ids=lambda item: str(item))
def test_an_override_that_weakens_needs_consent(
    db: Connection, user: uuid.UUID, document: Document,
    name: str, here: Any, weaker: Any, stricter: Any,
) -> None:  # fmt: skip
    call(db, "configure", p_changes={name: here})
    with refused("RC003", f"{name} = "):
        call(db, "import_user", p_user_id=user,
             p_document=with_overrides(document, **{name: weaker}))  # fmt: skip
    assert value(db, "select count(*) from recall.users where user_id = %s", [user]) == 0
    if name != "secrets":
        call(db, "import_user", p_user_id=user,
             p_document=with_overrides(document, **{name: stricter}))  # fmt: skip
        call(db, "forget_user", p_user_id=user)
    allowed = with_overrides(document, **{name: weaker})
    call(db, "import_user", p_user_id=user, p_document=allowed, p_allow_weaker=True)
    call(db, "import_user", p_user_id=user, p_document=allowed)  # again: now they hold here


def test_settings_that_are_no_policy_are_taken_over(
    db: Connection, user: uuid.UUID, document: Document
) -> None:
    call(db, "import_user", p_user_id=user,
         p_document=with_overrides(document, recalled_turns=5, scoring="classic"))  # fmt: skip
    assert value(db, "select overrides from recall.users where user_id = %s", [user]) == {
        "recalled_turns": 5, "scoring": "classic",
    }  # fmt: skip


def test_settings_that_became_constants_are_left_out_with_a_notice(
    db: Connection, user: uuid.UUID, document: Document
) -> None:
    notices: list[str | None] = []

    def note(diagnostic: psycopg.errors.Diagnostic) -> None:
        notices.append(diagnostic.message_primary)

    db.add_notice_handler(note)
    try:
        call(db, "import_user", p_user_id=user, p_document=with_overrides(
            document, top_memories=5, split_facts=1, scoring="classic"))  # fmt: skip
    finally:
        db.remove_notice_handler(note)
    assert notices == [
        "p_document: overrides that are constants now are left out: split_facts, top_memories"
    ]
    assert value(db, "select overrides from recall.users where user_id = %s", [user]) == {
        "scoring": "classic"
    }


def test_the_settings_here_guard_the_texts(
    db: Connection, user: uuid.UUID, document: Document
) -> None:
    call(db, "configure", p_changes={"secrets": "mask"})
    call(db, "import_user", p_user_id=user, p_document=document)
    assert KEY not in str(rows(db, "select * from recall.conversation_history"
                                   " where user_id = %s", [user]))  # fmt: skip
    call(db, "forget_user", p_user_id=user)
    allowed = with_overrides(document, secrets="keep")
    with refused("RC003", 'secrets = "keep"'):
        call(db, "import_user", p_user_id=user, p_document=allowed)
    call(db, "import_user", p_user_id=user, p_document=allowed, p_allow_weaker=True)
    assert KEY in str(call(db, "get_memories", p_user_id=user))


def test_an_interval_that_an_earlier_release_took_is_bounded(
    db: Connection, user: uuid.UUID, document: Document
) -> None:
    """Release 0.1.0 took intervals that overflow; an upgrade bounds those of its users."""
    old = with_overrides(document, decay_idle="100000 years")
    call(db, "import_user", p_user_id=user, p_document=old, p_allow_weaker=True)
    found = value(db, "select overrides ->> 'decay_idle' from recall.users where user_id = %s",
                  [user])  # fmt: skip
    assert found == "1000 years"
    call(db, "forget_user", p_user_id=user)
    with refused("RC003", "soon"):
        call(db, "import_user", p_user_id=user, p_allow_weaker=True,
             p_document=with_overrides(document, decay_idle="soon"))  # fmt: skip


def relations(db: Connection) -> int:
    return int(value(db, "select count(*) from pg_class"))


def _conversation(document: Document, at: str) -> None:
    tables = document["tables"]
    tables["conversation_history"][0]["created_at"] = at
    tables["sessions"][0] |= {"last_message_at": at}


def _memory(document: Document, at: str) -> None:
    document["tables"]["memory_store"][0]["created_at"] = at


def _call(document: Document, at: str) -> None:
    document["tables"]["model_calls"] = [
        {"call_id": str(uuid.uuid4()), "created_at": at, "started_at": at, "model": "m",
         "is_stream": False, "request_headers": {}, "response_headers": {}, "metadata": {}}
    ]  # fmt: skip


@pytest.mark.parametrize("place", [_conversation, _memory, _call])
@pytest.mark.parametrize("later", [timedelta(hours=1), timedelta(days=240 * 31), None])
def test_a_date_in_the_future_is_refused(
    db: Connection, user: uuid.UUID, document: Document,
    place: Callable[[Document, str], None], later: timedelta | None,
) -> None:  # fmt: skip
    at = "infinity" if later is None else (datetime.now(UTC) + later).isoformat()
    place(document, at)
    before = relations(db)
    with refused("RC003", "in the future" if later else "is infinity, not a time between"):
        call(db, "import_user", p_user_id=user, p_document=document)
    assert relations(db) == before


def test_an_export_with_times_that_a_caller_gave_is_imported(
    db: Connection, user: uuid.UUID
) -> None:
    """A caller may say when they observed or called something, also later than now."""
    later = datetime.now(UTC) + timedelta(days=400)
    call(db, "remember", p_user_id=user, p_content="Moves to Oslo", p_observed_at=later)
    call(db, "record_model_call", p_user_id=user, p_provider="openai", p_endpoint="chat",
         p_model="m", p_request={}, p_started_at=later, p_completed_at=later)  # fmt: skip
    document = value(db, "select recall.export_user(%s)", [user])
    call(db, "forget_user", p_user_id=user)
    call(db, "import_user", p_user_id=user, p_document=document)
    [memory] = call(db, "get_memories", p_user_id=user)
    assert memory["observed_at"] == later
    [made] = rows(db, "select started_at from recall.model_calls where user_id = %s", [user])
    assert made["started_at"] == later


def test_a_little_skew_of_clocks_is_taken(
    db: Connection, user: uuid.UUID, document: Document
) -> None:
    _memory(document, (datetime.now(UTC) + timedelta(minutes=2)).isoformat())
    call(db, "import_user", p_user_id=user, p_document=document)


@pytest.mark.parametrize(
    ("source", "provenance"),
    [("tool", "instruction"), ("tool", "user_stated"), ("inference", "correction"),
     ("inference", "tool_output")],
)  # fmt: skip
def test_a_provenance_beyond_its_source_is_refused(
    db: Connection, user: uuid.UUID, document: Document, source: str, provenance: str
) -> None:
    document["tables"]["memory_store"][0] |= {"source": source, "provenance": provenance}
    with refused("RC003", f"source {source} claims provenance {provenance}"):
        call(db, "import_user", p_user_id=user, p_document=document)


def test_every_setting_is_classified(db: Connection) -> None:
    """No name in the lists that is none of a setting; a setting in none of them is policy."""
    body = value(
        db, "select prosrc from pg_proc where proname = '_weaker_settings'"
        " and pronamespace = 'recall'::regnamespace")  # fmt: skip
    settings = set(rows(db, "select * from recall.settings")[0])
    named = {word for word in body.replace('"', "'").split("'") if word.replace("_", "").isalpha()}
    values = {"refuse", "mask", "keep", "none", "verbatim", "llm", "session", "semantic", "off",
              "calls", "streams", "false"}  # fmt: skip
    assert named - settings - values <= {"summaries"}
    assert len(named & settings) > 80


def test_the_driver_asks_for_consent(memory: AgentMemory) -> None:
    user = memory.users.id(f"weak {uuid.uuid4()}")
    memory.admin.configure_user(user, secrets="mask", protect_user_stated=False)
    memory.remember(user, "Likes tea")
    document = memory.privacy.export_user(user)
    memory.privacy.forget_user(user)
    with pytest.raises(InvalidInputError, match="protect_user_stated = false"):
        memory.privacy.import_user(document)
    assert memory.privacy.import_user(document, allow_weaker=True)["memory_store"] == 1
