"""Writing and reading memories: standing by writer, validation, filters, as_of, audit."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import call, open_session, refused, rows, value
from support.invariants import check_invariants
from support.memories import remember, unit
from support.servers import DIMENSIONS, TestServer

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]
Candidate = dict[str, Any]

DAY = timedelta(days=1)


def ingest(
    conn: Connection, user: uuid.UUID, session: uuid.UUID | None, *candidates: Candidate,
    **more: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    return call(
        conn, "ingest_memories", p_user_id=user, p_session_id=session,
        p_candidates=list(candidates), **more,
    )  # fmt: skip


def memory(conn: Connection, user: uuid.UUID, memory_id: uuid.UUID) -> dict[str, Any]:
    (row,) = call(conn, "get_memory", p_user_id=user, p_memory_id=memory_id)
    return row


def contents(conn: Connection, user: uuid.UUID, **more: Any) -> list[str]:
    return [row["content"] for row in call(conn, "get_memories", p_user_id=user, **more)]


def events(conn: Connection, user: uuid.UUID) -> list[tuple[str, Any]]:
    return conn.execute(
        "select event, memory_id from recall.memory_events where user_id = %s order by event_no",
        [user],
    ).fetchall()


# The provenance decides the tier, scope, validation and lifetime.
STANDING: list[tuple[str, Candidate, tuple[str, str, bool], str | None]] = [
    ("stated", {"provenance": "user_stated", "confidence": 0.9},
     ("semantic", "global", True), None),
    ("at the edge", {"provenance": "preference", "confidence": 0.7},
     ("semantic", "global", True), None),
    ("in words", {"provenance": "instruction", "confidence": "high"},
     ("semantic", "global", True), None),
    ("correction", {"provenance": "correction"}, ("semantic", "global", True), None),
    ("implied or confirmed", {"provenance": "user_stated", "confidence": "medium"},
     ("episodic", "global", True), "90 days"),
    ("not sure", {"provenance": "user_stated", "confidence": "low"},
     ("session", "local", False), "session"),
    ("a fact", {"confidence": 1}, ("session", "local", False), "session"),
    ("a tool", {"provenance": "tool_output", "confidence": 1},
     ("session", "local", False), "session"),
    ("a tool's claim", {"source": "tool", "provenance": "user_stated", "confidence": 1},
     ("session", "local", False), "session"),
    ("inferred", {"source": "inference", "provenance": "preference", "confidence": 1},
     ("session", "local", False), "session"),
    ("a passing thing", {"provenance": "user_stated", "kind": "context"},
     ("semantic", "global", True), "90 days"),
    ("episode", {"kind": "episode", "provenance": "system_inferred"},
     ("episodic", "global", True), "90 days"),
    ("a tool's episode", {"kind": "episode", "provenance": "tool_output"},
     ("session", "local", False), "session"),
    ("a tool's pattern", {"kind": "pattern", "source": "tool"},
     ("session", "local", False), "session"),
    ("verbatim", {"provenance": "user_stated", "metadata": {"verbatim": True}},
     ("session", "global", False), "90 days"),
    ("merge", {"source": "consolidation", "provenance": "fact"},
     ("semantic", "global", True), None),
    ("pattern", {"source": "consolidation", "provenance": "fact", "kind": "pattern"},
     ("procedural", "global", True), None),
    ("imported", {"source": "import"}, ("semantic", "global", True), None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("candidate", "standing", "life"),
    [pytest.param(*rest, id=name) for name, *rest in STANDING],
)
def test_provenance_decides_tier_scope_and_validation(
    db: Connection, user: uuid.UUID, candidate: Candidate, standing: tuple[str, str, bool],
    life: str | None,
) -> None:  # fmt: skip
    session = open_session(db, user)
    (row,) = ingest(db, user, session, {"content": "User likes tea"} | candidate)
    assert (row["ordinal"], row["outcome"]) == (1, "added")
    found = memory(db, user, row["memory_id"])
    assert (found["tier"], found["scope"], found["is_validated"]) == standing
    assert found["session_id"] == (session if standing[1] == "local" else None)
    assert found["source_session_id"] == session
    expected = {
        None: None,
        "90 days": found["created_at"] + 90 * DAY,
        "session": value(
            db, "select expires_at + interval '24 hours' from recall.sessions"
                " where user_id = %s and session_id = %s", [user, session]),
    }[life]  # fmt: skip
    assert found["expires_at"] == expected
    check_invariants(db)


def test_extracted_tier_setting_starts_memories_at_the_session_tier(
    db: Connection, user: uuid.UUID
) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"extracted_tier": "session"})
    session = open_session(db, user)
    stated, episode = ingest(
        db, user, session,
        {"content": "User likes tea", "provenance": "user_stated", "confidence": 1},
        {"content": "We talked about tea", "kind": "episode"},
    )  # fmt: skip
    found = memory(db, user, stated["memory_id"])
    assert (found["tier"], found["confidence"], found["is_validated"]) == ("session", 0.5, False)
    assert memory(db, user, episode["memory_id"])["tier"] == "episodic"
    told = remember(db, user, "User likes jazz")
    assert memory(db, user, told["memory_id"])["tier"] == "semantic"


def test_remember_returns_the_columns_of_the_contract(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    row = remember(
        db, user, "User wants to run a marathon", p_kind="goal", p_tags=["sport"],
        p_importance=0.9, p_session_id=session, p_agent_id="coach", p_token_count=7,
        p_observed_at="2024-03-01T10:00:00Z", p_expires_at="2999-01-01T00:00:00Z",
        p_metadata={"page": 3}, p_embedding=unit(0),
    )  # fmt: skip
    found = memory(db, user, row["memory_id"])
    expected = {
        "content": "User wants to run a marathon", "kind": "goal", "slot": None,
        "tier": "semantic", "scope": "global", "tags": ["sport"], "confidence": 1.0,
        "provenance": "user_stated", "source": "manual", "source_session_id": session,
        "observed_at": datetime(2024, 3, 1, 10, tzinfo=UTC), "valid_from": None,
        "valid_to": None, "expires_at": datetime(2999, 1, 1, tzinfo=UTC), "ended_at": None,
        "end_reason": None, "superseded_by": None, "is_active": True, "access_count": 0,
        "metadata": {"page": 3}, "session_id": None, "agent_id": "coach", "token_count": 7,
        "is_validated": True, "last_accessed_at": None,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert found["importance"] == pytest.approx(0.9)
    names = [
        "memory_id", "content", "kind", "slot", "tier", "scope", "tags", "importance",
        "confidence", "provenance", "source", "source_session_id", "observed_at", "valid_from",
        "valid_to", "created_at", "expires_at", "ended_at", "end_reason", "superseded_by",
        "is_active", "access_count", "metadata",
    ]  # fmt: skip
    assert list(found)[: len(names)] == names, "the contract's columns, first and in its order"
    assert events(db, user) == [("added", row["memory_id"])]


def test_an_unknown_user_is_made(db: Connection, user: uuid.UUID) -> None:
    remember(db, user, "User likes tea")
    assert value(
        db, "select active_memory_count from recall.users where user_id = %s", [user]
    ) == 1  # fmt: skip
    other = uuid.uuid4()
    ingest(db, other, None, {"content": "User likes tea"}, {"content": "User likes jazz"})
    assert value(
        db, "select active_memory_count from recall.users where user_id = %s", [other]
    ) == 2  # fmt: skip


def test_words_are_indexed_in_the_users_language(db: Connection, user: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"language": "pg_catalog.german"})
    row = remember(db, user, "Der Benutzer mag alte Häuser")
    vector = value(
        db, "select search_vector::text from recall.memory_store where memory_id = %s",
        [row["memory_id"]],
    )  # fmt: skip
    assert "'haus'" in vector
    assert "'der'" not in vector


@pytest.mark.parametrize(
    "content",
    ["quote ' and \" and $$ and % and \\", "emoji 👩‍🔬 and 漢字", "{\"json\": [1]}", "a" * 4000,
     "line\nbreak\ttab \x01 control", "' or 1=1; --"],
)  # fmt: skip
def test_a_text_comes_back_as_it_was(db: Connection, user: uuid.UUID, content: str) -> None:
    row = remember(db, user, content, p_tags=[content], p_metadata={content: content})
    found = memory(db, user, row["memory_id"])
    assert (found["content"], found["tags"]) == (content, [content])
    assert found["metadata"] == {content: content}
    assert contents(db, user, p_filter={"tags_all": [content]}) == [content]
    assert contents(db, user, p_filter={"metadata": {content: content}}) == [content]


BAD_ARGUMENTS: list[tuple[str, dict[str, Any], str]] = [
    ("no content", {"p_content": None}, "content"),
    ("empty", {"p_content": ""}, "p_content"),
    ("white space", {"p_content": " \n\t "}, "p_content"),
    ("no words", {"p_content": "?!..."}, "p_content"),
    ("too long", {"p_content": "a" * 4001}, "p_content"),
    ("unknown kind", {"p_kind": "hobby"}, 'p_kind is "hobby"'),
    ("empty slot", {"p_slot": ""}, "p_slot"),
    ("long slot", {"p_slot": "s" * 201}, "p_slot"),
    ("importance", {"p_importance": 1.5}, "p_importance is 1.5"),
    ("negative importance", {"p_importance": -0.1}, "p_importance"),
    ("NaN", {"p_importance": "NaN"}, "p_importance"),
    ("empty tag", {"p_tags": [""]}, "p_tags"),
    ("null tag", {"p_tags": [None, "a"]}, "p_tags"),
    ("tokens", {"p_token_count": -1}, "p_token_count"),
    ("infinite", {"p_observed_at": "infinity"}, "p_observed_at"),
    ("before our era", {"p_observed_at": "0044-03-15 BC"}, "p_observed_at"),
    ("no year of a calendar", {"p_expires_at": "10000-01-01"}, "p_expires_at"),
    ("metadata", {"p_metadata": Jsonb([])}, "p_metadata"),
]


@pytest.mark.parametrize(
    ("arguments", "words"), [pytest.param(*rest, id=name) for name, *rest in BAD_ARGUMENTS]
)
def test_bad_arguments_are_refused(
    db: Connection, user: uuid.UUID, arguments: dict[str, Any], words: str
) -> None:
    with refused("RC003", words):
        call(db, "remember", **{"p_user_id": user, "p_content": "User likes tea"} | arguments)
    assert rows(db, "select * from recall.users where user_id = %s", [user]) == []


def test_an_unknown_session_is_refused(db: Connection, user: uuid.UUID) -> None:
    for session in (uuid.uuid4(), open_session(db, uuid.uuid4())):
        with refused("RC001"):
            remember(db, user, "User likes tea", p_session_id=session)
        with refused("RC001"):
            ingest(db, user, session, {"content": "User likes tea"})
    assert rows(db, "select * from recall.users where user_id = %s", [user]) == []


BAD_CANDIDATES: list[tuple[str, Any, str]] = [
    ("no list", {"content": "a b"}, "candidates is not a list"),
    ("no object", ["a b"], "candidates[0] is not an object"),
    ("no content", [{"content": "a b"}, {"kind": "fact"}], "candidates[1].content is missing"),
    ("null content", [{"content": None}], "candidates[0].content is missing"),
    ("number", [{"content": 7}], "candidates[0].content is 7"),
    ("unknown key", [{"content": "a b", "text": "c"}], "candidates[0].text is no key"),
    ("kind", [{"content": "a b", "kind": "hobby"}], 'candidates[0].kind is "hobby"'),
    ("provenance", [{"content": "a b", "provenance": "rumor"}], ".provenance"),
    ("source", [{"content": "a b", "source": "web"}], ".source"),
    ("confidence", [{"content": "a b", "confidence": "sure"}], ".confidence"),
    ("confidence", [{"content": "a b", "confidence": 1.01}], ".confidence"),
    ("importance", [{"content": "a b", "importance": "high"}], ".importance"),
    ("tags", [{"content": "a b", "tags": "a"}], ".tags"),
    ("turns", [{"content": "a b", "source_turn_ids": ["1"]}], ".source_turn_ids"),
    ("turns", [{"content": "a b", "source_turn_ids": [None]}], ".source_turn_ids"),
    ("time", [{"content": "a b", "observed_at": "yesterday or so"}], ".observed_at"),
    ("before our era", [{"content": "a b", "valid_from": "0044-03-15 BC"}], ".valid_from"),
    ("no year of a calendar", [{"content": "a b", "valid_to": "294276-12-31"}], ".valid_to"),
    ("validity", [{"content": "a b", "valid_from": "2024-02-01", "valid_to": "2024-01-01"}],
     ".valid_to"),
    ("tokens", [{"content": "a b", "token_count": 1.5}], ".token_count"),
    ("metadata", [{"content": "a b", "metadata": "x"}], ".metadata"),
    ("agent", [{"content": "a b", "agent_id": ""}], ".agent_id"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("candidates", "words"), [pytest.param(*rest, id=name) for name, *rest in BAD_CANDIDATES]
)
def test_bad_candidates_are_refused(
    db: Connection, user: uuid.UUID, candidates: Any, words: str
) -> None:
    with refused("RC003", words):
        call(db, "ingest_memories", p_user_id=user, p_session_id=None,
             p_candidates=Jsonb(candidates))  # fmt: skip
    assert rows(db, "select * from recall.users where user_id = %s", [user]) == []


def test_embeddings_must_fit_the_candidates(db: Connection, user: uuid.UUID) -> None:
    with refused("RC003", "1 embeddings for 2 elements"):
        ingest(db, user, None, {"content": "a b"}, {"content": "c d"},
               p_embeddings=f'{{"{unit(0)}"}}')  # fmt: skip


def test_all_fields_of_a_candidate(db: Connection, user: uuid.UUID) -> None:
    session, turns = open_session(db, user), [uuid.uuid4(), uuid.uuid4()]
    inside = [1.0] + [0.0] * (DIMENSIONS - 1)
    (row,) = ingest(db, user, session, {
        "content": "User lives in Berlin", "kind": "personal", "slot": "city",
        "tags": ["home"], "importance": 0.7, "confidence": "low", "provenance": "correction",
        "source": "conversation", "observed_at": "2024-03-01T10:00:00+02:00",
        "valid_from": "2023-01-01", "valid_to": "2025-01-01",
        "source_turn_ids": [str(turn) for turn in turns], "embedding": inside,
        "embedding_model": "mine", "token_count": 5, "agent_id": "a", "metadata": {"x": None},
    })  # fmt: skip
    found = memory(db, user, row["memory_id"])
    assert (found["kind"], found["slot"], found["tags"]) == ("personal", "city", ["home"])
    assert found["importance"] == pytest.approx(0.7)
    assert found["confidence"] == pytest.approx(0.3)
    assert found["observed_at"] == datetime(2024, 3, 1, 8, tzinfo=UTC)
    assert found["valid_from"] == datetime(2023, 1, 1, tzinfo=UTC), "times without a zone are UTC"
    assert found["valid_to"] == datetime(2025, 1, 1, tzinfo=UTC)
    assert (found["source_turn_ids"], found["token_count"]) == (turns, 5)
    assert (found["agent_id"], found["metadata"]) == ("a", {"x": None})
    vectors = rows(
        db, "select embedding_model from recall.memory_embedding where user_id = %s", [user]
    )
    assert vectors == [{"embedding_model": "mine"}]


def test_ingest_memories_of_nothing_returns_no_row(db: Connection, user: uuid.UUID) -> None:
    assert ingest(db, user, None) == []


def test_a_batch_is_all_or_nothing(db: Connection, user: uuid.UUID) -> None:
    candidates: list[Candidate] = [{"content": f"Fact number {n}"} for n in range(600)]
    assert len(ingest(db, user, None, *candidates)) == 600
    with refused("RC003", "candidates[600]"):
        ingest(db, user, None, *candidates, {"content": ""})
    assert contents(db, user, p_limit=1000) == [c["content"] for c in candidates]
    check_invariants(db)


def test_nothing_of_another_user(db: Connection, user: uuid.UUID) -> None:
    """A canary in every function that reads or changes memories."""
    session = open_session(db, user)
    mine = remember(db, user, "canary", p_slot="bird", p_embedding=unit(0))["memory_id"]
    goal = remember(db, user, "canary goal", p_kind="goal")["memory_id"]
    remember(db, user, "canary dispute", p_slot="bird", p_provenance="tool_output")
    gone = remember(db, user, "canary gone", p_embedding=unit(1))["memory_id"]
    call(db, "retract_memory", p_user_id=user, p_memory_id=gone)
    dispute = call(db, "list_disputes", p_user_id=user)[0]["memory_id"]
    before = rows(db, "select * from recall.memory_store where user_id = %s order by memory_id",
                  [user])  # fmt: skip

    other = uuid.uuid4()
    own = open_session(db, other)
    ids = {"p_user_id": other, "p_memory_id": mine}
    for name, arguments in [
        ("supersede_memory", ids | {"p_content": "x y"}),
        ("retract_memory", ids),
        ("restore_memory", ids | {"p_memory_id": gone}),
        ("validate_memory", ids),
        ("achieve_goal", ids | {"p_memory_id": goal}),
        ("reinforce_memory", ids | {"p_useful": True}),
        ("resolve_dispute", ids | {"p_memory_id": dispute, "p_accept": True}),
        ("add_embedding", ids | {"p_embedding": unit(3), "p_model": None}),
        ("memory_chain", ids),
        ("memory_history", ids),
        ("get_memories", {"p_user_id": other, "p_after_id": mine}),
        ("apply_decisions", {"p_user_id": other, "p_session_id": own, "p_decisions": [
            {"decision": "UPDATE", "target_id": str(mine), "content": "x y"}]}),
        ("apply_decisions", {"p_user_id": other, "p_session_id": own, "p_decisions": [
            {"decision": "DELETE", "target_id": str(mine)}]}),
        ("apply_decisions", {"p_user_id": other, "p_session_id": session, "p_decisions": [
            {"decision": "ADD", "content": "x y"}]}),
    ]:  # fmt: skip
        with refused("RC001"):
            call(db, name, **arguments)

    assert call(db, "get_memory", **ids) == []
    assert contents(db, other, p_filter={"include_ended": True}) == []
    assert contents(db, other, p_filter={"source_session_id": str(session)}) == []
    assert call(db, "neighbors", p_user_id=other, p_embedding=unit(0)) == []
    assert call(db, "get_profile", p_user_id=other) == [{"get_profile": {}}]
    assert call(db, "list_disputes", p_user_id=other) == []
    assert call(db, "memories_to_review", p_user_id=other) == []
    assert value(db, "select recall.record_access(%s, %s, '{1}')", [other, [mine]]) == 0
    added = remember(db, other, "canary", p_slot="bird", p_embedding=unit(0))
    assert added["outcome"] == "added", "equal texts of two users do not meet"

    after = rows(db, "select * from recall.memory_store where user_id = %s order by memory_id",
                 [user])  # fmt: skip
    assert after == before
    check_invariants(db)


def test_functions_of_memories_refuse_a_missing_user_or_another_identity(
    db: Connection, user: uuid.UUID
) -> None:
    with refused("RC003", "p_user_id is null"):
        value(db, "select outcome from recall.remember(null, 'User likes tea')")
    with refused("RC003", "p_user_id is null"):
        call(db, "get_memories", p_user_id=None)
    with db.transaction():
        db.execute("select set_config('recall.user_id', %s, true)", [str(uuid.uuid4())])
        with refused("RC006"), db.transaction():
            remember(db, user, "User likes tea")


def test_filters_select_memories(db: Connection, user: uuid.UUID) -> None:
    one, two = open_session(db, user), open_session(db, user)
    ingest(
        db, user, one,
        {"content": "tea", "provenance": "preference", "kind": "preference", "slot": "drink",
         "tags": ["a", "b"], "agent_id": "x", "observed_at": "2024-01-01",
         "metadata": {"k": {"deep": 1}, "l": 2}},
        {"content": "local of one", "provenance": "tool_output", "source": "tool",
         "observed_at": "2024-02-01"},
    )  # fmt: skip
    ingest(db, user, two, {"content": "local of two", "observed_at": "2024-03-01", "tags": ["b"]})
    remember(db, user, "goal", p_kind="goal", p_observed_at="2024-04-01T00:00:00Z")
    everything = ["tea", "local of one", "local of two", "goal"]
    for filter_, expected in [
        ({}, everything),
        ({"kinds": None}, everything),
        ({"kinds": ["preference", "goal"]}, ["tea", "goal"]),
        ({"kinds": "goal"}, ["goal"]),
        ({"kinds": []}, []),
        ({"tiers": ["session"]}, ["local of one", "local of two"]),
        ({"scopes": ["global"]}, ["tea", "goal"]),
        ({"slots": ["drink", "x"]}, ["tea"]),
        ({"tags_any": ["a", "z"]}, ["tea"]),
        ({"tags_any": ["b"]}, ["tea", "local of two"]),
        ({"tags_all": ["a", "b"]}, ["tea"]),
        ({"tags_all": ["b", "z"]}, []),
        ({"provenance": ["tool_output"]}, ["local of one"]),
        ({"source": "manual"}, ["goal"]),
        ({"source_session_id": str(one)}, ["tea", "local of one"]),
        ({"session_id": str(one)}, ["tea", "local of one", "goal"]),
        ({"session_id": str(one), "scopes": "local"}, ["local of one"]),
        ({"agent_id": "x"}, ["tea"]),
        ({"metadata": {"k": {"deep": 1}}}, ["tea"]),
        ({"metadata": {"k": {"deep": 2}}}, []),
        ({"observed_after": "2024-03-01T00:00:00Z"}, ["local of two", "goal"]),
        ({"observed_before": "2024-02-01T00:00:00Z"}, ["tea"]),
        ({"kinds": ["fact"], "tags_any": ["b"]}, ["local of two"]),
    ]:  # fmt: skip
        assert contents(db, user, p_filter=filter_) == expected, filter_


@pytest.mark.parametrize(
    ("filter_", "words"),
    [
        ({"kind": "fact"}, "unknown key in filter: kind"),
        ({"min_similarity": 0.5}, "min_similarity"),
        ({"kinds": [1]}, "filter.kinds"),
        ({"kinds": {"a": 1}}, "filter.kinds"),
        ({"tiers": ["semantik"]}, "filter.tiers"),
        ({"scopes": "everywhere"}, "filter.scopes"),
        ({"provenance": ["rumor"]}, "filter.provenance"),
        ({"source": ["web"]}, "filter.source"),
        ({"session_id": "1"}, "filter.session_id"),
        ({"source_session_id": 1}, "filter.source_session_id"),
        ({"agent_id": 1}, "filter.agent_id"),
        ({"metadata": "a"}, "filter.metadata"),
        ({"observed_after": "soon"}, "filter.observed_after"),
        ({"observed_before": 7}, "filter.observed_before"),
        ({"valid_at": True}, "filter.valid_at"),
        ({"include_ended": "yes"}, "filter.include_ended"),
        ([], "filter is array"),
        (None, "filter is null"),
    ],
)
def test_bad_filters_are_refused(db: Connection, user: uuid.UUID, filter_: Any, words: str) -> None:
    with refused("RC003", words):
        call(db, "get_memories", p_user_id=user,
             p_filter=filter_ if filter_ is None else Jsonb(filter_))  # fmt: skip


def test_a_filter_reads_each_key_by_its_own_type(db: Connection, user: uuid.UUID) -> None:
    """One call after another in a transaction, with values of all types."""
    remember(db, user, "tea", p_observed_at="2024-01-01T00:00:00Z")
    with db.transaction():
        for _ in range(3):
            assert contents(db, user, p_filter={
                "observed_after": "2023-01-01", "session_id": str(uuid.uuid4()),
                "include_ended": True, "metadata": {}, "agent_id": None,
            }) == ["tea"]  # fmt: skip


def test_memories_are_read_page_by_page(db: Connection, user: uuid.UUID) -> None:
    ingest(db, user, None, *({"content": f"Fact number {n}"} for n in range(25)))
    seen: list[str] = []
    after = None
    while page := call(db, "get_memories", p_user_id=user, p_limit=10, p_after_id=after):
        seen += [row["content"] for row in page]
        after = page[-1]["memory_id"]
    assert seen == [f"Fact number {n}" for n in range(25)]
    assert contents(db, user, p_limit=0) == []
    with refused("RC003"):
        contents(db, user, p_limit=-1)


def test_as_of_gives_what_was_believed(db: Connection, user: uuid.UUID) -> None:
    def now() -> datetime:
        time.sleep(0.005)
        moment: datetime = value(db, "select clock_timestamp()")
        time.sleep(0.005)
        return moment

    start = now()
    acme = remember(db, user, "Works at Acme", p_slot="employer")["memory_id"]
    tea = remember(db, user, "User likes tea", p_expires_at=str(start + DAY))["memory_id"]
    first = now()
    remember(db, user, "Works at Beta", p_slot="employer")
    second = now()
    call(db, "retract_memory", p_user_id=user, p_memory_id=tea)

    assert contents(db, user) == ["Works at Beta"]
    assert contents(db, user, p_as_of=start) == []
    assert contents(db, user, p_as_of=first) == ["Works at Acme", "User likes tea"]
    assert contents(db, user, p_as_of=second) == ["User likes tea", "Works at Beta"]
    assert contents(db, user, p_as_of=second + 2 * DAY) == ["Works at Beta"]
    (then, _) = call(db, "get_memories", p_user_id=user, p_as_of=first)
    assert (then["memory_id"], then["is_active"]) == (acme, True)
    assert (then["ended_at"], then["end_reason"], then["superseded_by"]) == (None, None, None)
    assert contents(db, user, p_filter={"include_ended": True}) == [
        "Works at Acme", "User likes tea", "Works at Beta",
    ]  # fmt: skip


def test_what_has_expired_is_not_shown(db: Connection, user: uuid.UUID) -> None:
    remember(db, user, "User is on holiday", p_expires_at="2020-01-01T00:00:00Z", p_slot="state")
    assert contents(db, user) == []
    assert call(db, "get_profile", p_user_id=user) == [{"get_profile": {}}]
    assert contents(db, user, p_filter={"include_ended": True}) == ["User is on holiday"]


def test_valid_at_asks_what_was_true(db: Connection, user: uuid.UUID) -> None:
    for content, observed in [("Works at Acme", "2020-05-01"), ("Works at Beta", "2022-05-01"),
                              ("Works at Gamma", "2024-05-01")]:  # fmt: skip
        remember(db, user, content, p_slot="employer", p_observed_at=f"{observed}T00:00:00Z")
    remember(db, user, "Always true")
    wrong = remember(db, user, "Never true", p_observed_at="2020-01-01T00:00:00Z")
    call(db, "retract_memory", p_user_id=user, p_memory_id=wrong["memory_id"])
    for at, expected in [
        ("2019-01-01", "Works at Acme"),
        ("2022-04-30", "Works at Acme"),
        ("2022-05-01", "Works at Beta"),
        ("2024-06-01", "Works at Gamma"),
    ]:
        found = contents(db, user, p_filter={"valid_at": f"{at}T00:00:00Z"})
        assert found == [expected, "Always true"], at


def test_profile_has_the_latest_memory_of_each_slot(db: Connection, user: uuid.UUID) -> None:
    remember(db, user, "Works at Acme", p_slot="employer")
    beta = remember(db, user, "Works at Beta", p_slot="employer",
                    p_observed_at="2024-05-01T00:00:00Z")  # fmt: skip
    remember(db, user, "User likes tea")
    profile = value(db, "select recall.get_profile(%s)", [user])
    assert profile == {
        "employer": {
            "content": "Works at Beta", "since": "2024-05-01T00:00:00+00:00", "confidence": 1,
            "memory_id": str(beta["memory_id"]),
        }
    }  # fmt: skip


def test_neighbors_are_the_nearest_by_vector(db: Connection, user: uuid.UUID) -> None:
    for place in range(4):
        remember(db, user, f"Fact number {place}", p_embedding=unit(place))
    remember(db, user, "Fact without a vector")
    query = str([1.0, 0.5, 0.1] + [0.0] * (DIMENSIONS - 3))
    found = call(db, "neighbors", p_user_id=user, p_embedding=query, p_limit=3)
    assert [row["content"] for row in found] == [f"Fact number {n}" for n in range(3)]
    assert list(found[0])[:5] == ["memory_id", "content", "kind", "slot", "similarity"]
    assert found[0]["similarity"] == pytest.approx(1 / (1 + 0.25 + 0.01) ** 0.5, abs=1e-3)
    found = call(db, "neighbors", p_user_id=user, p_embedding=query, p_min_similarity=0.4)
    assert len(found) == 2
    with refused("RC003"):
        call(db, "neighbors", p_user_id=user, p_embedding=None)
    with refused("RC004"):
        call(db, "neighbors", p_user_id=user, p_embedding="[1,2]")


def test_accesses_are_counted_in_batches(db: Connection, user: uuid.UUID) -> None:
    db.execute("delete from recall.memory_access_log")
    tea = remember(db, user, "User likes tea")["memory_id"]
    jazz = remember(db, user, "User likes jazz")["memory_id"]
    gone = remember(db, user, "User likes rain")["memory_id"]
    call(db, "retract_memory", p_user_id=user, p_memory_id=gone)

    def record(ids: list[uuid.UUID], relevance: list[float]) -> int:
        noted: int = value(
            db, "select recall.record_access(%s, %s, %s::real[])", [user, ids, relevance]
        )
        return noted

    assert record([tea, jazz, gone, uuid.uuid4()], [0.5, 2.0, 0.5, 0.5]) == 2
    assert record([tea, tea], [0.25, -1.0]) == 2
    assert record([], []) == 0
    assert memory(db, user, tea)["access_count"] == 0, "counted later"
    assert call(db, "flush_access_log", p_limit=1) == [{"done": 1, "more": True}]
    assert call(db, "flush_access_log") == [{"done": 3, "more": False}]
    assert call(db, "flush_access_log") == [{"done": 0, "more": False}]
    found = rows(
        db, "select memory_id, access_count, relevance_accumulator, promotion_due"
            " from recall.memory_store where user_id = %s and is_active order by memory_id",
        [user],
    )  # fmt: skip
    assert [tuple(row.values())[1:] for row in found] == [(3, 0.75, False), (1, 1.0, False)]
    for bad in (([tea], []), ([tea], ["NaN"]), (None, []), ([tea], None), ([tea], [None])):
        with refused("RC003"):
            value(db, "select recall.record_access(%s, %s, %s::real[])", [user, *bad])


def test_a_border_of_promotion_is_flagged(db: Connection, user: uuid.UUID) -> None:
    tea = ingest(db, user, None, {"content": "User likes tea", "provenance": "fact"})
    jazz = remember(db, user, "User likes jazz")["memory_id"]
    ids = [tea[0]["memory_id"], jazz]

    def due() -> list[bool]:
        found = rows(
            db, "select promotion_due from recall.memory_store where user_id = %s"
                " order by memory_id", [user],
        )  # fmt: skip
        return [row["promotion_due"] for row in found]

    for times in range(1, 5):
        value(db, "select recall.record_access(%s, %s, '{1,1}')", [user, ids])
        call(db, "flush_access_log")
        assert due() == [times >= 3, False], "semantic is the end of it"


def test_a_flush_leaves_a_busy_user_alone(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    db.execute("delete from recall.memory_access_log")
    tea = remember(db, user, "User likes tea")["memory_id"]
    value(db, "select recall.record_access(%s, %s, '{1}')", [user, [tea]])
    writer = connect(autocommit=False)
    remember(writer, user, "User likes jazz")
    assert call(db, "flush_access_log") == [{"done": 0, "more": True}]
    writer.commit()
    assert call(db, "flush_access_log") == [{"done": 1, "more": False}]


def test_accesses_are_hot_updates(db: Connection, user: uuid.UUID) -> None:
    batch = ingest(db, user, None, *({"content": f"Fact number {n}"} for n in range(20)))
    ids = [row["memory_id"] for row in batch]
    leaf = value(
        db, "select tableoid::regclass::text from recall.memory_store where memory_id = %s",
        [ids[0]],
    )  # fmt: skip
    count = "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relid = %s::regclass"

    def updates() -> tuple[int, int]:
        db.execute("select pg_stat_force_next_flush()")
        row = db.execute(count.encode(), [leaf]).fetchone()
        assert row is not None
        return row[0], row[1]

    before = updates()
    for _ in range(10):
        value(db, "select recall.record_access(%s, %s, %s::real[])", [user, ids, [1] * len(ids)])
        call(db, "flush_access_log")
        remember(db, user, "Fact number 3")
        db.execute(f"vacuum {leaf}".encode())
    after = updates()
    assert after[0] - before[0] == 210
    assert after[1] - before[1] >= 0.9 * 210, "but for a few that met a full page"


@pytest.fixture
def fresh(server: TestServer) -> Iterator[Connection]:
    """A database that nobody has used, without statistics."""
    name = server.cloned_database("fresh")
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        yield conn
    server.drop_database(name)


def test_look_ups_use_their_own_index_without_statistics(
    fresh: Connection, user: uuid.UUID
) -> None:
    """A plan of an empty table is kept while the table grows; it must be the right one."""
    db = fresh
    remember(db, user, "User likes tea")
    with db.transaction(force_rollback=True):
        db.execute("set plan_cache_mode = force_generic_plan")
        for name, condition, index in [
            ("text", "m.content_hash = $2::bytea and m.is_active", "content_hash_idx"),
            ("slot", "m.slot = $2::text and m.is_active", "slot_idx"),
            ("id", "m.memory_id = $2::uuid", "pkey"),
            ("id2", "m.memory_id = $2::uuid and m.end_reason is null", "pkey"),
            ("followers", "m.superseded_by = $2::uuid", "superseded_by_idx"),
            ("disputes", "m.disputes = $2::uuid", "disputes_idx"),
        ]:
            db.execute(
                f"prepare look_up_{name} as select m.* from recall.memory_store as m"
                f" where m.user_id = $1 and {condition}".encode()
            )
            plan = "\n".join(
                row[0] for row in
                db.execute(f"explain execute look_up_{name}('{user}', null)".encode())
            )  # fmt: skip
            assert plan.count(index) == 1, plan


def test_locks_stay_few(db: Connection, connect: Connect, user: uuid.UUID) -> None:
    """With eight leaves, on the 7th call and later of a connection."""
    session = open_session(db, user)
    conn = connect(autocommit=False)
    old = remember(db, user, "Old fact", p_embedding=unit(0))["memory_id"]
    calls = {
        "remember": lambda n: remember(
            conn, user, f"Fact {n}", p_slot="s", p_embedding=unit(n), p_session_id=session),
        "ingest": lambda n: ingest(
            conn, user, session, {"content": f"Batch {n}", "embedding": unit(20 + n)},
            {"content": "Old fact"}, {"content": f"Slotted {n}", "slot": "t"}),
        "decide": lambda n: call(
            conn, "apply_decisions", p_user_id=user, p_session_id=session, p_decisions=[
                {"decision": "UPDATE", "target_id": str(old), "content": f"Decided {n}"}],
            p_job_id=uuid.uuid4()),
        "edit": lambda n: call(conn, "supersede_memory", p_user_id=user, p_memory_id=old,
                               p_content=f"Edited {n}"),
        "list": lambda _: call(conn, "get_memories", p_user_id=user),
        "neighbors": lambda _: call(conn, "neighbors", p_user_id=user, p_embedding=unit(1)),
    }  # fmt: skip
    for name, work in calls.items():
        for number in range(9):
            work(number)
            locks = value(
                conn, "select count(*) from pg_locks where pid = pg_backend_pid()"
                      " and locktype = 'relation' and relation <> 'pg_locks'::regclass",
            )  # fmt: skip
            conn.commit()
            assert number < 6 or locks <= 64, (name, locks)
    check_invariants(db)


def test_every_reader_works_read_only(db: Connection, user: uuid.UUID) -> None:
    tea = remember(db, user, "User likes tea", p_embedding=unit(0))["memory_id"]
    with db.transaction():
        db.execute("set transaction read only")
        call(db, "get_memory", p_user_id=user, p_memory_id=tea)
        call(db, "get_memories", p_user_id=user)
        call(db, "get_memories", p_user_id=user, p_as_of=datetime.now(UTC))
        call(db, "get_profile", p_user_id=user)
        call(db, "memory_chain", p_user_id=user, p_memory_id=tea)
        call(db, "memory_history", p_user_id=user, p_memory_id=tea)
        call(db, "neighbors", p_user_id=user, p_embedding=unit(0))
        call(db, "memories_to_review", p_user_id=user)
        call(db, "list_disputes", p_user_id=user)
