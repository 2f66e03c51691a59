"""`match`: how well a memory fits a query, and what a context leaves out as unrelated."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

import pgrecall.schema
from support import call, open_session, refused, rows, value
from support.memories import remember, search, unit, vector, vectors
from support.servers import DIMENSIONS

Connection = psycopg.Connection[Any]
Row = dict[str, Any]

UNRELATED, DEVIATION = 0.1, 0.1  # the settings' defaults


def ingest(
    db: Connection, user: uuid.UUID, *texts: str, at: list[float | None] | None = None, **more: Any
) -> list[uuid.UUID]:
    """Store texts as memories, with vectors at these degrees."""
    found = call(
        db, "ingest_memories", p_user_id=user, p_session_id=None,
        p_candidates=[{"content": text, "source": "import", **more} for text in texts],
        p_embeddings=None if at is None
        else vectors(*(None if degrees is None else vector(degrees) for degrees in at)),
    )  # fmt: skip
    assert [row["outcome"] for row in found] == ["added"] * len(texts)
    return [row["memory_id"] for row in found]


def explained(
    db: Connection,
    user: uuid.UUID,
    query: str | None = None,
    embedding: str | None = None,
    **options: Any,
) -> dict[str, Row]:
    """Every candidate of a context of a new session, by its text."""
    found = call(
        db, "explain_context", p_user_id=user, p_session_id=open_session(db, user), p_query=query,
        p_query_embedding=embedding, p_options=Jsonb(options),
    )  # fmt: skip
    return {row["content"]: row for row in found}


def taken(
    db: Connection,
    user: uuid.UUID,
    query: str | None = None,
    embedding: str | None = None,
    **options: Any,
) -> set[str]:
    """The texts that a context packs."""
    found = explained(db, user, query, embedding, **options)
    return {text for text, row in found.items() if row["taken"]}


def expected(cosine: float, others: list[float], words: float = 0.0) -> float:
    """The documented formula, of a user with at most ten vectors."""
    usual = (UNRELATED + sum(others)) / (1 + len(others))
    usual = min(max(usual, UNRELATED - DEVIATION / 2), UNRELATED + 4 * DEVIATION)
    return max(0.0, 1 - (1 - (cosine - usual) / (1 - usual)) * (1 - words))


# The score


def test_match_of_a_vector_is_the_share_above_the_usual_cosine(
    db: Connection, user: uuid.UUID
) -> None:
    degrees = [0.0, 40.0, 70.0, 85.0, 120.0]
    ingest(db, user, *(f"At {at:.0f} degrees" for at in degrees), at=[*degrees])
    cosines = [math.cos(math.radians(at)) for at in degrees]
    for query in (None, "zzz"):
        found = {row["content"]: row for row in search(db, user, query, query_embedding=vector(0))}
        for at, cosine in zip(degrees, cosines, strict=True):
            match = found[f"At {at:.0f} degrees"]["match"]
            assert match == pytest.approx(expected(cosine, cosines), abs=1e-3)
    assert found["At 0 degrees"]["match"] == pytest.approx(1, abs=1e-3)
    assert found["At 120 degrees"]["match"] == 0


def test_words_and_vector_each_suffice(db: Connection, user: uuid.UUID) -> None:
    ingest(db, user, "Keeps bees", "Plays the cello", "Owns a boat", at=[90.0, 20.0, None])
    found = {
        row["content"]: row for row in search(db, user, "bees boat", query_embedding=vector(0))
    }
    cosines = [0.0, math.cos(math.radians(20))]
    for text, cosine in (("Keeps bees", cosines[0]), ("Plays the cello", cosines[1])):
        row = found[text]
        assert row["match"] == pytest.approx(expected(cosine, cosines, row["lexical"]), abs=1e-3)
    assert 0 < found["Keeps bees"]["match"] < found["Keeps bees"]["lexical"]
    assert found["Owns a boat"]["match"] == found["Owns a boat"]["lexical"] > 0.3
    (alone, *_) = search(db, user, "bees boat")
    assert alone["match"] == alone["lexical"]


def test_match_does_not_depend_on_the_other_candidates(db: Connection, user: uuid.UUID) -> None:
    """The score is min-max normalized over the candidates: of unrelated ones the best has 1."""
    ingest(db, user, "Uses Neovim", "Lives in Oslo", at=[88.0, 92.0])
    first, _ = search(db, user, "quantum chromodynamics", query_embedding=vector(0))
    assert first["score"] >= 1
    assert first["match"] < 0.01
    (alone,) = search(db, user, "quantum chromodynamics", query_embedding=vector(0),
                      filter={"kinds": ["fact"]}, limit=1)  # fmt: skip
    assert alone["match"] == pytest.approx(first["match"])


def test_without_a_query_there_is_no_match(db: Connection, user: uuid.UUID) -> None:
    ingest(db, user, "Uses Neovim", at=[0.0])
    (row,) = search(db, user)
    assert row["match"] is None


def test_few_memories_of_one_subject_still_match(db: Connection, user: uuid.UUID) -> None:
    """Their own cosines do not raise the usual one beyond four standard deviations."""
    ingest(db, user, "Drinks espresso", at=[55.0])
    (row,) = search(db, user, query_embedding=vector(0))
    assert row["match"] > 0.1
    ingest(db, user, *(f"Drinks coffee number {n}" for n in range(12)),
           at=[55.0 + n / 10 for n in range(12)])  # fmt: skip
    assert min(row["match"] for row in search(db, user, query_embedding=vector(0), limit=20)) > 0.1


def test_match_at_a_past_time_and_in_a_named_time(db: Connection, user: uuid.UUID) -> None:
    ingest(db, user, "Uses Neovim", "Lives in Oslo", at=[0.0, 90.0])
    plain = {row["content"]: row["match"] for row in search(db, user, "editor today",
                                                            query_embedding=vector(0))}  # fmt: skip
    later = datetime.now(UTC) + timedelta(seconds=1)
    past = {row["content"]: row["match"] for row in search(db, user, "editor today",
                                                           query_embedding=vector(0),
                                                           as_of=later)}  # fmt: skip
    assert past == pytest.approx(plain)
    assert plain["Uses Neovim"] == pytest.approx(1, abs=1e-3)


# The filter of a search


@pytest.mark.parametrize("query", [None, "Neovim"])
def test_min_match_leaves_out_what_is_below(
    db: Connection, user: uuid.UUID, query: str | None
) -> None:
    ingest(db, user, "Uses Neovim", "Lives in Oslo", "Works in Bergen", at=[0.0, 50.0, 95.0])
    found = search(db, user, query, query_embedding=vector(0))
    middle = found[1]["match"]
    assert found[0]["match"] > middle > found[2]["match"] == 0
    for least, texts in ((0, 3), (middle - 0.01, 2), (middle + 0.01, 1), (0.9999, 1)):
        kept = search(db, user, query, query_embedding=vector(0), filter={"min_match": least})
        assert len(kept) == texts, least
        assert all(row["match"] >= least for row in kept)


def test_min_match_fills_the_limit(db: Connection, user: uuid.UUID) -> None:
    """A memory that ranks lower but matches takes the place of one that does not."""
    call(db, "configure_user", p_user_id=user, p_changes=Jsonb({"scoring": "classic"}))
    often, _ = ingest(db, user, "Far away", "Near by", at=[100.0, 72.0])
    db.execute("update recall.memory_store set access_count = 1000, last_accessed_at = now()"
               " where user_id = %s and memory_id = %s", [user, often])  # fmt: skip
    first, second = search(db, user, query_embedding=vector(0))
    assert (first["content"], second["content"]) == ("Far away", "Near by")
    (row,) = search(db, user, query_embedding=vector(0), limit=1, filter={"min_match": 0.1})
    assert row["content"] == "Near by"


@pytest.mark.parametrize("least", [-0.1, 1.1, "much", "NaN"])
def test_min_match_out_of_range_is_refused(db: Connection, user: uuid.UUID, least: Any) -> None:
    with refused("RC003", "min_match"):
        search(db, user, "editor", filter={"min_match": least})
    with refused("RC003", "min_match"):
        taken(db, user, "editor", min_match=least)


def test_min_match_without_a_query_is_refused(db: Connection, user: uuid.UUID) -> None:
    with refused("RC003", "min_match"):
        search(db, user, filter={"min_match": 0.5})


# Contexts


def test_context_leaves_out_what_is_unrelated_and_says_so(db: Connection, user: uuid.UUID) -> None:
    ingest(db, user, "Uses Neovim", "Lives in Oslo", at=[20.0, 95.0])
    found = explained(db, user, "Which editor?", vector(0))
    assert found["Uses Neovim"]["taken"]
    assert found["Uses Neovim"]["match"] > 0.5
    assert not found["Lives in Oslo"]["taken"]
    assert found["Lives in Oslo"]["reason"] == "match 0.000, at least 0.15 is asked"
    assert taken(db, user, "What is a quark?", unit(5)) == set()
    context = call(db, "compile_context", p_user_id=user, p_session_id=open_session(db, user),
                   p_query="Which editor?", p_query_embedding=vector(0))  # fmt: skip
    (used,) = context[0]["compile_context"]["memories"]
    assert used["match"] == pytest.approx(found["Uses Neovim"]["match"])


def test_context_min_match_by_option_and_by_setting(db: Connection, user: uuid.UUID) -> None:
    ingest(db, user, "Uses Neovim", "Lives in Oslo", at=[20.0, 95.0])
    everything = {"Uses Neovim", "Lives in Oslo"}
    assert taken(db, user, "Which editor?", vector(0), min_match=0) == everything
    assert taken(db, user, "Which editor?", vector(0), min_match=0.99) == set()
    call(db, "configure_user", p_user_id=user, p_changes=Jsonb({"context_min_match": 0}))
    assert taken(db, user, "Which editor?", vector(0)) == everything


@pytest.mark.parametrize(
    ("query", "spared"), [("Which editor?", 3), ("Which editor do I want?", 2)]
)
def test_context_leaves_out_what_matches_half_as_well_beyond_the_best(
    db: Connection, user: uuid.UUID, query: str, spared: int
) -> None:
    texts = ["Uses Neovim", "Writes Lua", "Likes tabs", "Owns a desk", "Has two screens"]
    ingest(db, user, *texts, at=[20.0, 52.0, 55.0, 56.0, 57.0])
    call(db, "configure_user", p_user_id=user, p_changes=Jsonb({"context_min_match": 0.01}))
    found = explained(db, user, query, vector(0))
    matches = [found[text]["match"] for text in texts]
    assert matches == sorted(matches, reverse=True)
    assert matches[0] > 2 * matches[1] > 2 * matches[4] > 0.02
    assert [found[text]["taken"] for text in texts] == [True] * spared + [False] * (5 - spared)
    assert found["Owns a desk"]["reason"] == (
        f"match {int(1000 * matches[3]) / 1000:.3f}, at least {matches[spared - 1]:.3f} is asked"
    )
    assert taken(db, user, query, vector(0), min_match=0.01) == {*texts}
    assert taken(db, user, query, vector(0), memory_budget=0) == set()
    call(db, "configure_user", p_user_id=user, p_changes=Jsonb({"context_min_match": 0}))
    assert taken(db, user, query, vector(0)) == {*texts}


@pytest.mark.parametrize(
    ("query", "share", "packed"),
    [
        ("Which editor do I want?", 0.3, 0), ("Which editor do I want?", 0.5, 1),
        ("Which editor do I want?", 1.4, 1), ("Which editor do I want?", 1.6, 2),
        ("Which editor?", 1.4, 0), ("Which editor?", 1.6, 1), ("Which editor?", 2.1, 2),
    ],
)  # fmt: skip
def test_context_needs_a_better_match_for_a_query_that_does_not_speak_of_the_user(
    db: Connection, user: uuid.UUID, query: str, share: float, packed: int
) -> None:
    """The share is the best match, divided by context_min_match."""
    texts = ["Writes Lua", "Uses Neovim"]
    ingest(db, user, *texts, at=[60.0, 61.0])
    found = explained(db, user, query, vector(0), min_match=0)
    best, other = (found[text]["match"] for text in texts)
    assert best > other > best / 1.3
    call(db, "configure_user", p_user_id=user,
         p_changes=Jsonb({"context_min_match": best / share}))  # fmt: skip
    assert taken(db, user, query, vector(0)) == {*texts[:packed]}


@pytest.mark.parametrize(
    ("query", "speaks"),
    [
        ("Which editor do I use?", True), ("What's MY rate?", True), ("Darf ich das essen?", True),
        ("¿Qué hora es donde vive mi hermana?", True), ("Que mange mon lapin ?", True),
        ("うちの犬の名前は何？", True), ("我的狗叫什么？", True), ("Hoe heet mijn kat?", True),
        ("Who painted The Night Watch?", False), ("Wie hoch ist die Zugspitze?", False),
        ("¿Cuál es la capital de Australia?", False), ("长城有多长？", False), ("", False),
        ("x " * 5000 + "my", False),
    ],
)  # fmt: skip
def test_word_for_the_author_is_found_in_any_language(
    db: Connection, query: str, speaks: bool
) -> None:
    assert value(db, "select recall._speaks_of_user(%s)", [query]) is speaks


def test_words_count_less_where_the_vector_contradicts(db: Connection, user: uuid.UUID) -> None:
    ingest(db, user, "Gets seasick", "Plays the cello", at=[120.0, 20.0])
    found = {row["content"]: row for row in search(db, user, "gets a lounge pass",
                                                      query_embedding=vector(0))}  # fmt: skip
    row = found["Gets seasick"]
    assert row["lexical"] > 0.2
    assert row["match"] < row["lexical"] - 0.1


def test_context_keeps_everything_that_matches_nearly_as_well(
    db: Connection, user: uuid.UUID
) -> None:
    texts = [f"Fact {number} of the editor" for number in range(6)]
    ingest(db, user, *texts, at=[20.0, 22.0, 24.0, 26.0, 28.0, 30.0])
    assert taken(db, user, "Which one?", vector(0)) == {*texts}


def test_context_keeps_instructions_and_listed_memories(db: Connection, user: uuid.UUID) -> None:
    remember(db, user, "Always answer in French", p_kind="instruction", p_embedding=vector(95))
    other = remember(db, user, "Lives in Oslo", p_embedding=vector(95))["memory_id"]
    assert taken(db, user, "Which editor?", vector(0)) == {"Always answer in French"}
    assert taken(db, user, "Which editor?", vector(0), memory_ids=[str(other)]) == {"Lives in Oslo"}
    for selection in ("all", "top"):
        assert len(taken(db, user, "Which editor?", vector(0), selection=selection)) == 2
    assert taken(db, user, "Which editor?", vector(0), selection="split") == {
        "Always answer in French"
    }


@pytest.mark.parametrize(
    "query",
    ["What do you know about me?", "Who am I?", "Was weißt du über mich?", "Que sais-tu de moi ?",
     "¿Qué sabes de mí?", "私について何を知っていますか？", "你了解我什么？",
     "Что ты знаешь обо мне?",
     "Hello!", "Guten Morgen", "And what about this?", "", None],
)  # fmt: skip
def test_context_of_a_query_about_nothing_holds_the_memories(
    db: Connection, user: uuid.UUID, query: str | None
) -> None:
    ingest(db, user, "Uses Neovim", "Lives in Oslo", at=[95.0, 100.0])
    embedding = vector(0) if query else None
    assert taken(db, user, query, embedding) == {"Uses Neovim", "Lives in Oslo"}
    if query:
        assert taken(db, user, query, embedding, min_match=0.5) == set(), "an option holds always"


@pytest.mark.parametrize(
    "query", ["Tell me about quarks", "Was ist ein Quark?", "Hello World in C"]
)
def test_context_of_a_question_is_not_taken_for_one_about_the_user(
    db: Connection, user: uuid.UUID, query: str
) -> None:
    ingest(db, user, "Uses Neovim", at=[95.0])
    assert taken(db, user, query, vector(0)) == set()


def test_context_without_a_vector_leaves_nothing_out(db: Connection, user: uuid.UUID) -> None:
    """An answer may have other words than its question; a new memory may have no vector yet."""
    ingest(db, user, "Uses Neovim", at=[None])
    ingest(db, user, "Lives in Oslo", at=[95.0])
    assert taken(db, user, "Which editor?") == {"Uses Neovim", "Lives in Oslo"}
    assert taken(db, user, "Which editor?", vector(0)) == {"Uses Neovim"}
    assert taken(db, user, "Which editor?", min_match=0.2) == set()
    assert taken(db, user, "Neovim", min_match=0.2) == {"Uses Neovim"}


def test_context_keeps_what_was_observed_in_the_time_asked_for(
    db: Connection, user: uuid.UUID
) -> None:
    asked = datetime(2026, 3, 11, 12, tzinfo=UTC)
    for text, at in (("Saw an opera", asked - timedelta(days=1)), ("Saw a play", asked)):
        ingest(db, user, text, at=[95.0], observed_at=at.isoformat())
    query = "What did I do yesterday evening?"
    at = asked.isoformat()
    assert taken(db, user, query, vector(0), asked_at=at) == {"Saw an opera"}
    assert taken(db, user, query, vector(0), asked_at=at, dates=False) == set()


def test_unrelated_memories_are_no_candidates_of_the_efficiency(
    db: Connection, user: uuid.UUID
) -> None:
    ingest(db, user, "Uses Neovim", "Lives in Oslo", at=[20.0, 95.0])
    context = value(
        db, "select recall.compile_context(%s, %s, 'Which editor?', %s, %s)",
        [user, open_session(db, user), vector(0), Jsonb({"efficiency": True})],
    )  # fmt: skip
    assert len(context["memories"]) == 1
    assert context["budget"]["efficiency"] is None, "all that was not unrelated fitted"


def test_two_users_have_each_their_usual_cosine(db: Connection) -> None:
    ada, bob = uuid.uuid4(), uuid.uuid4()
    ingest(db, ada, "Likes tea", at=[60.0])
    ingest(db, bob, "Likes tea", *(f"Lives at number {n}" for n in range(9)),
           at=[60.0, *(70.0 + n / 10 for n in range(9))])  # fmt: skip
    (of_ada,) = search(db, ada, query_embedding=vector(0))
    of_bob = search(db, bob, query_embedding=vector(0))[0]
    cosines = [math.cos(math.radians(at)) for at in (60.0, *(70.0 + n / 10 for n in range(9)))]
    assert of_ada["match"] == pytest.approx(expected(0.5, [0.5]), abs=1e-3)
    assert of_bob["match"] == pytest.approx(expected(0.5, cosines), abs=1e-3)
    assert of_ada["match"] > of_bob["match"] > 0


# Calibration


@pytest.fixture
def empty(empty_dsn: str) -> Iterator[Connection]:
    """A database of its own: the settings are everybody's, and so are the users' vectors."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        pgrecall.schema.install(conn, embedding_dimensions=DIMENSIONS, share_roles=True)
        conn.execute("select recall.configure(%s)", [Jsonb({"embedding_model": "test"})])
        yield conn


def test_calibration_measures_the_memories_of_different_users(empty: Connection) -> None:
    db = empty
    for n in range(24):
        ingest(db, uuid.uuid4(), f"Thing number {n}", at=[40.0 * (n % 2)])
    (measured,) = call(db, "calibrate_embeddings")
    cosines = [math.cos(math.radians(40 * ((a + b) % 2))) for a in range(24) for b in range(a)]
    mean = sum(cosines) / len(cosines)
    assert measured["pairs"] == len(cosines)
    assert measured["unrelated_similarity"] == pytest.approx(mean, abs=1e-3)
    assert measured["unrelated_deviation"] == pytest.approx(
        math.sqrt(sum((c - mean) ** 2 for c in cosines) / len(cosines)), abs=1e-3
    )
    (kept,) = rows(db, "select * from recall.settings")
    for name in ("unrelated_similarity", "unrelated_deviation"):
        assert kept[name] == pytest.approx(measured[name])

    reader = uuid.uuid4()
    ingest(db, reader, "Likes tea", at=[30.0])
    (row,) = search(db, reader, query_embedding=vector(0))
    assert row["match"] < 0.2, "for such a model a cosine of 0.87 is usual"


def test_calibration_with_few_users_is_refused_and_changes_nothing(empty: Connection) -> None:
    db = empty
    for n in range(19):
        ingest(db, uuid.uuid4(), f"Thing number {n}", at=[0.0])
    with refused("RC007", "19 users"):
        call(db, "calibrate_embeddings")
    (kept,) = rows(db, "select * from recall.settings")
    assert (kept["unrelated_similarity"], kept["unrelated_deviation"]) == pytest.approx((0.1, 0.1))
