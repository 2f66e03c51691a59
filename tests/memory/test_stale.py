"""Stale memories: found by a search, left out of contexts, back as soon as they are used."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from support import Connection, call, configure, open_session, refused, rows, sweep, value
from support.fakes import MODEL
from support.memories import remember, stored, vector
from support.sealed import with_words

SELECTIONS = ("hybrid", "split", "all", "top")
ALL = {"Uses Neovim", "Once used Emacs"}
FRESH = {"Uses Neovim"}


def age(db: Connection, user: uuid.UUID, **days: float) -> None:
    """Let the memories with these last words be written, or last used, so many days ago."""
    for word, ago in days.items():
        db.execute(
            "update recall.memory_store"
            "   set created_at = now() - %(ago)s * interval '1 day',"
            "       last_accessed_at = case when access_count > 0"
            "                               then now() - %(ago)s * interval '1 day' end"
            " where user_id = %(user)s and content like '%%' || %(word)s",
            {"user": user, "word": word, "ago": ago},
        )


def know(db: Connection, user: uuid.UUID) -> uuid.UUID:
    """Remember an editor in use and, 31 days ago, one of little importance; return the latter."""
    remember(db, user, "Uses Neovim", p_importance=0.1, p_embedding=vector(5))
    stale = remember(db, user, "Once used Emacs", p_importance=0.2, p_embedding=vector(2))
    age(db, user, Neovim=29.9, Emacs=31)
    return uuid.UUID(str(stale["memory_id"]))


def decay(db: Connection, user: uuid.UUID) -> None:
    """Let the sweep give an expiry to the one stale memory without."""
    sweep(db, "decay_memories")
    counted = "select count(*) from recall.memory_store where user_id = %s and is_decaying"
    assert value(db, counted, [user]) == 1


def explained(db: Connection, user: uuid.UUID, **options: Any) -> dict[str, dict[str, Any]]:
    found = call(
        db, "explain_context", p_user_id=user, p_session_id=open_session(db, user),
        p_query="Which editor?", p_query_embedding=vector(0), p_options=options,
    )  # fmt: skip
    assert len({row["memory_id"] for row in found}) == len(found), "no memory twice"
    return {row["content"]: row for row in found}


def packed(db: Connection, user: uuid.UUID, **options: Any) -> set[str]:
    """Return the texts of the memories in a context; explain_context has to say the same."""
    given = {"query": "Which editor?", "embedding": vector(0)}
    (row,) = call(
        db, "compile_context", p_user_id=user, p_session_id=open_session(db, user),
        p_query=given["query"], p_query_embedding=given["embedding"], p_options=options,
    )  # fmt: skip
    ids = {item["id"] for item in row["compile_context"]["memories"]}
    taken = {text: row for text, row in explained(db, user, **options).items() if row["taken"]}
    assert {str(row["memory_id"]) for row in taken.values()} == ids
    return set(taken)


def found(db: Connection, user: uuid.UUID, **keys: Any) -> set[str]:
    hits = call(db, "search", p_user_id=user, p_query="editor", p_query_embedding=vector(0),
                p_filter=keys)  # fmt: skip
    return {hit["content"] for hit in hits}


# Left out, and where not


@pytest.mark.parametrize("selection", SELECTIONS)
def test_context_leaves_stale_memory_out_and_search_finds_it(
    db: Connection, user: uuid.UUID, selection: str
) -> None:
    know(db, user)
    assert packed(db, user, selection=selection) == FRESH
    assert found(db, user) == ALL
    hits = call(db, "search", p_user_id=user, p_query_embedding=vector(0))
    assert hits[0]["content"] == "Once used Emacs", "it is the nearer one"
    row = explained(db, user, selection=selection)["Once used Emacs"]
    date = value(db, "select ((now() - interval '31 days') at time zone 'UTC')::date")
    assert (row["taken"], row["reason"]) == (
        False, f"stale: importance 0.2, untouched since {date}",
    )  # fmt: skip
    assert row["token_count"] > 0
    parts = [row[name] for name in row if name.endswith("_part")]
    assert row["score"] == pytest.approx(row["decay"] * sum(parts))


def test_stale_memory_gives_its_place_to_the_next(db: Connection, user: uuid.UUID) -> None:
    for number in range(30):
        remember(db, user, f"Number {number} is Emacs", p_importance=0.1, p_embedding=vector(1))
    remember(db, user, "Uses Neovim", p_importance=0.1, p_embedding=vector(30))
    age(db, user, Emacs=40)
    for selection in SELECTIONS:
        limits = {"max_facts": 1} if selection == "split" else {"max_memories": 1}
        assert packed(db, user, selection=selection, **limits) == FRESH


@pytest.mark.parametrize(
    ("change", "is_stale"),
    [
        ({}, True),
        ({"decay_importance": 0.2}, False),
        ({"decay_importance": 0}, False),
        ({"decay_idle": "32 days"}, False),
        ({"decay_idle": "30 days 23 hours"}, True),
    ],
)
def test_settings_of_decay_say_what_is_stale(
    db: Connection, user: uuid.UUID, change: dict[str, Any], is_stale: bool
) -> None:
    know(db, user)
    call(db, "configure_user", p_user_id=user, p_changes=change)
    for selection in SELECTIONS:
        assert packed(db, user, selection=selection) == (FRESH if is_stale else ALL)


def test_memory_with_an_expiry_or_swept_or_local_is_stale_too(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    call(db, "ingest_memories", p_user_id=user, p_session_id=session, p_candidates=[
        {"content": "Saw rain", "provenance": "tool_output", "importance": 0.1}])  # fmt: skip
    remember(db, user, "Saw hail", p_importance=0.1, p_expires_at="2999-01-01")
    remember(db, user, "Saw snow", p_importance=0.1)
    age(db, user, rain=0.1, hail=31, snow=31)
    decay(db, user)
    (row,) = call(db, "compile_context", p_user_id=user, p_session_id=session)
    assert "Saw rain" in str(row["compile_context"]["messages"])
    assert "hail" not in str(row)
    assert "snow" not in str(row)
    age(db, user, rain=31)
    (row,) = call(db, "compile_context", p_user_id=user, p_session_id=session)
    assert row["compile_context"]["memories"] == []


def test_context_keeps_stale_instructions_and_listed_memories(
    db: Connection, user: uuid.UUID
) -> None:
    stale = know(db, user)
    remember(db, user, "Answer in French", p_kind="instruction", p_importance=0.1)
    age(db, user, French=400)
    for selection in SELECTIONS:
        assert packed(db, user, selection=selection) == FRESH | {"Answer in French"}
    assert packed(db, user, memory_ids=[str(stale)]) == {"Once used Emacs"}
    assert set(explained(db, user, memory_ids=[str(stale)])) == {"Once used Emacs"}


@pytest.mark.parametrize("selection", SELECTIONS)
def test_filter_stale_chooses(db: Connection, user: uuid.UUID, selection: str) -> None:
    know(db, user)
    assert packed(db, user, selection=selection, filter={"stale": True}) == {"Once used Emacs"}
    assert packed(db, user, selection=selection, filter={"stale": False}) == FRESH
    assert packed(db, user, selection=selection, filter={"stale": None}) == FRESH
    assert packed(db, user, selection=selection, filter={"kinds": ["fact"]}) == FRESH
    assert explained(db, user, selection=selection, filter={"kinds": ["goal"]}) == {}
    with refused("RC003", 'filter.stale is "yes"'):
        packed(db, user, selection=selection, filter={"stale": "yes"})


def test_filter_stale_of_a_search(db: Connection, user: uuid.UUID) -> None:
    know(db, user)
    assert found(db, user, stale=True) == {"Once used Emacs"}
    assert found(db, user, stale=True, kinds=["goal"]) == set()
    assert found(db, user, stale=False) == FRESH
    assert found(db, user, stale=None) == ALL
    listed = call(db, "search", p_user_id=user, p_filter={"stale": True})
    assert [row["content"] for row in listed] == ["Once used Emacs"]
    with refused("RC003", "filter.stale"):
        found(db, user, stale=1)
    with refused("RC003", "stale"):
        call(db, "get_memories", p_user_id=user, p_filter={"stale": True})


def test_stale_memories_are_left_out_above_the_exact_search_limit(
    db: Connection, user: uuid.UUID
) -> None:
    """Above exact_search_limit candidates are looked for by other statements."""
    know(db, user)
    call(db, "configure_user", p_user_id=user, p_changes={"exact_search_limit": 1})
    for asked in ({}, {"asked_at": "2026-05-01T00:00:00Z"}):
        assert packed(db, user, **asked) == FRESH
    assert found(db, user) == ALL
    assert found(db, user, stale=True) == {"Once used Emacs"}


def test_as_of_a_time_when_it_was_fresh(db: Connection, user: uuid.UUID) -> None:
    know(db, user)
    for days, texts in ((0.5, FRESH), (1.5, ALL)):
        (row,) = rows(
            db, "select recall.compile_context(%s, %s, null, null, %s,"
                " now() - %s * interval '1 day') as context",
            [user, open_session(db, user), '{"selection": "top"}', days],
        )  # fmt: skip
        assert len(row["context"]["memories"]) == len(texts)


def test_stale_memories_of_two_users(db: Connection, user: uuid.UUID) -> None:
    """The settings and accesses of one user do not affect another."""
    other = uuid.uuid4()
    know(db, user)
    know(db, other)
    call(db, "configure_user", p_user_id=other, p_changes={"decay_idle": "1 year"})
    assert packed(db, user) == FRESH
    assert packed(db, other) == ALL


# Back again


@pytest.mark.parametrize("how", ["shown", "useful", "confirmed", "said again", "corrected"])
def test_stale_memory_that_is_used_comes_back(db: Connection, user: uuid.UUID, how: str) -> None:
    stale = know(db, user)
    decay(db, user)
    assert packed(db, user) == FRESH
    match how:
        case "shown":
            call(db, "record_access", p_user_id=user, p_memory_ids=[stale], p_relevance="{0.1}")
            call(db, "flush_access_log")
        case "useful":
            call(db, "reinforce_memory", p_user_id=user, p_memory_id=stale, p_useful=True)
        case "confirmed":
            call(db, "validate_memory", p_user_id=user, p_memory_id=stale)
        case "said again":
            remember(db, user, "Once used Emacs!", p_importance=0.2)
        case "corrected":
            call(db, "supersede_memory", p_user_id=user, p_memory_id=stale,
                 p_content="Now uses Emacs")  # fmt: skip
    assert len(packed(db, user)) == 2
    (row,) = rows(db, "select expires_at, is_decaying from recall.memory_store"
                      " where user_id = %s and is_active and content like '%%Emacs'",
                  [user])  # fmt: skip
    assert (row["expires_at"], row["is_decaying"]) == (None, False)


def test_confirmation_keeps_the_mean_relevance(db: Connection, user: uuid.UUID) -> None:
    memory = remember(db, user, "Uses Neovim")["memory_id"]

    def counted() -> list[Any]:
        (row,) = stored(db, user)
        return [row["access_count"], row["relevance_accumulator"]]

    call(db, "validate_memory", p_user_id=user, p_memory_id=memory)
    assert counted() == [1, 1.0]
    call(db, "record_access", p_user_id=user, p_memory_ids=[memory], p_relevance="{0.5}")
    call(db, "flush_access_log")
    call(db, "validate_memory", p_user_id=user, p_memory_id=memory)
    assert counted() == [3, 2.25]


# Through the driver


@pytest.fixture
def memory(dsn: str) -> Iterator[AgentMemory]:
    configure(dsn, extraction="none")
    with psycopg.connect(dsn, autocommit=True) as conn:
        # not by configure, which refuses it while there are vectors of other tests
        conn.execute("update recall.settings set embedding_model = %s", [MODEL])
    with with_words(dsn) as memory:
        yield memory


@pytest.mark.parametrize("is_sealed", [False, True], ids=["readable", "encrypted"])
@pytest.mark.parametrize("has_reranker", [False, True], ids=["", "reranker"])
def test_chat_context_leaves_stale_memory_out(
    memory: AgentMemory, db: Connection, user: uuid.UUID, is_sealed: bool, has_reranker: bool
) -> None:
    def by_length(query: str, texts: Sequence[str]) -> list[float]:
        return [float(len(text)) for text in texts]

    if is_sealed:
        memory.encryption.seal_user(user)
    memory.remember(user, "Uses the editor Neovim", importance=0.1)
    stale = memory.remember(user, "Used the editor Emacs", importance=0.1).memory_id
    db.execute("update recall.memory_store set created_at = now() - interval '31 days'"
               " where user_id = %s and memory_id = %s", [user, stale])  # fmt: skip
    chat = memory.session(user=user, model="gpt-4o-mini")
    more: Mapping[str, Any] = {"reranker": by_length} if has_reranker else {}

    def shown(**options: Any) -> str:
        return str(chat.context("Which editor?", **more, **options))

    choices: list[tuple[dict[str, Any], set[str]]] = [
        ({}, {"Neovim"}),
        ({"filter": {"stale": False}}, {"Neovim"}),
        ({"filter": {"stale": None}}, {"Neovim"}),
        ({"filter": {"stale": True}}, {"Emacs"}),
        ({"memory_ids": [stale]}, {"Emacs"}),
        ({"selection": "top"}, {"Neovim"}),
    ]
    for options, texts in choices:
        assert {word for word in ("Neovim", "Emacs") if word in shown(**options)} == texts, options
    reasons = {row.content: row.reason for row in chat.explain("Which editor?", **more)}
    assert reasons["Uses the editor Neovim"] == "packed"
    assert reasons["Used the editor Emacs"].startswith("stale: importance 0.1")
    assert {hit.content for hit in memory.search(user, "editor")} == set(reasons)
    memory.memories.validate(user, stale)
    assert "Emacs" in shown()
