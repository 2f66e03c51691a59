"""Searching memories: what is found, in which order, by which parts of the score."""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import append, call, index_messages, open_session, our_role, refused, rows, value
from support.memories import remember, search, unit, vector, vectors

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]
Row = dict[str, Any]

PARTS = ("similarity", "lexical", "freshness", "frequency", "authority", "importance")
AUTHORITY = {
    "user_stated": 1.0, "correction": 0.95, "instruction": 0.9, "preference": 0.85, "fact": 0.8,
    "tool_output": 0.7, "system_inferred": 0.6,
}  # fmt: skip
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def contents(found: list[Row]) -> list[str]:
    return [row["content"] for row in found]


def ingest(conn: Connection, user: uuid.UUID, *candidates: Row, **more: Any) -> list[uuid.UUID]:
    """Store these as they are, global and durable; `at` is the degree of the vector."""
    named = [
        {"source": "import", "token_count": 5} | {k: v for k, v in c.items() if k != "at"}
        for c in candidates
    ]
    stored = call(
        conn, "ingest_memories", p_user_id=user, p_session_id=more.get("session"),
        p_candidates=named,
        p_embeddings=vectors(*(vector(c["at"]) if "at" in c else None for c in candidates)),
    )  # fmt: skip
    assert [row["outcome"] for row in stored] == ["added"] * len(candidates)
    return [row["memory_id"] for row in stored]


def change(conn: Connection, user: uuid.UUID, memory: uuid.UUID, **columns: Any) -> None:
    """Set columns of a memory behind the functions' back."""
    for name, item in columns.items():
        conn.execute(
            f"update recall.memory_store set {name} = %s where user_id = %s and memory_id = %s",
            [item, user, memory],
        )


def use(conn: Connection, user: uuid.UUID, memory: uuid.UUID, count: int, at: datetime) -> None:
    conn.execute(
        "update recall.memory_store set access_count = %s, last_accessed_at = %s"
        " where user_id = %s and memory_id = %s",
        [count, at, user, memory],
    )


# Words and vectors


def test_without_a_query_the_most_important_and_recent(db: Connection, user: uuid.UUID) -> None:
    ingest(
        db, user, {"content": "Old and usual"}, {"content": "Weighty", "importance": 0.9},
        {"content": "Trifle", "importance": 0.1},
    )  # fmt: skip
    ingest(db, user, {"content": "New and usual"})
    found = search(db, user)
    assert contents(found) == ["Weighty", "New and usual", "Old and usual", "Trifle"]
    assert [row["score"] for row in found] == pytest.approx([0.9, 0.5, 0.5, 0.1])
    assert {(row["similarity"], row["lexical"]) for row in found} == {(None, None)}
    assert contents(search(db, user, limit=1)) == ["Weighty"]
    assert contents(search(db, user, "  \n")) == contents(found), "a blank query is none"


def test_a_vector_alone_ranks_by_cosine(db: Connection, user: uuid.UUID) -> None:
    ids = ingest(
        db, user, *({"content": f"At {at} degrees", "at": at} for at in (80, 10, 170, 0, 50))
    )
    use(db, user, ids[0], 50, datetime.now(UTC))
    found = search(db, user, query_embedding=vector(0))
    assert contents(found) == [f"At {at} degrees" for at in (0, 10, 50, 80, 170)]
    cosines = [math.cos(math.radians(at)) for at in (0, 10, 50, 80, 170)]
    assert [row["similarity"] for row in found] == pytest.approx(cosines, abs=1e-3)
    assert [row["score"] for row in found] == pytest.approx([max(0, x) for x in cosines], abs=1e-3)
    assert {row["lexical"] for row in found} == {None}


def test_words_alone_rank_by_their_rarity(db: Connection, user: uuid.UUID) -> None:
    ingest(
        db, user, {"content": "Ada plays the cello"}, {"content": "Ada plays chess"},
        {"content": "Ada drinks tea"}, {"content": "Bob plays chess"}, {"content": "It rains"},
    )  # fmt: skip
    found = search(db, user, "What does Ada play on the cello?")
    assert found[0]["content"] == "Ada plays the cello"
    assert {row["content"]: row["lexical"] for row in found}["It rains"] == 0
    assert found[1]["content"] == "Ada plays chess", "two words go before one"
    assert {row["similarity"] for row in found} == {None}
    assert all(0 <= row["lexical"] <= 1 for row in found)
    assert len(found) == 5, "rows without a word follow"


def test_lexical_is_the_share_of_the_words_by_rarity(db: Connection, user: uuid.UUID) -> None:
    texts = {
        "tea milk bread": ["tea", "bread"], "tea milk": ["tea"], "espresso tea": ["tea", "espreso"],
        "espresso": ["espreso"], "rain": [],
    }  # fmt: skip
    ingest(db, user, *({"content": text, "at": 20 * n} for n, text in enumerate(texts)))
    likeness = value(db, "select word_similarity('espreso', 'espresso')::double precision")
    penalty = 0.01

    def weight(found: int) -> float:
        return math.log(1 + (10 + len(texts) - found + 0.5) / (found + 0.5))

    # one has the bread; nobody has espreso, two have a word like it; nobody has a zebra
    weights = {"tea": weight(3), "bread": weight(1), "espreso": likeness * weight(2)}
    whole = weight(3) + weight(1) + 2 * weight(0)
    expected = {
        text: sum(weights[word] for word in words) / (1 + penalty * len(text.split())) / whole
        for text, words in texts.items()
    }
    for more in ({}, {"query_embedding": vector(0)}):
        found = search(db, user, "tea bread espreso zebra", **more)
        assert {row["content"]: row["lexical"] for row in found} == pytest.approx(expected)


def test_text_and_vector_share_the_score(db: Connection, user: uuid.UUID) -> None:
    ingest(
        db, user, {"content": "Cello on Sundays", "at": 90}, {"content": "Tea at five", "at": 0},
        {"content": "Cello strings", "at": 5}, {"content": "Rain", "at": 120},
    )  # fmt: skip
    found = search(db, user, "cello", query_embedding=vector(0))
    assert found[0]["content"] == "Cello strings", "near in both ways"
    assert {row["content"] for row in found[1:3]} == {"Cello on Sundays", "Tea at five"}
    by_content = {row["content"]: row for row in found}
    assert by_content["Tea at five"]["similarity_part"] == pytest.approx(0.5)
    assert by_content["Tea at five"]["lexical_part"] == 0
    assert by_content["Rain"]["similarity_part"] == 0
    best = max(row["lexical_part"] for row in found)
    assert best == pytest.approx(0.5)


def test_one_candidate_counts_fully(db: Connection, user: uuid.UUID) -> None:
    ingest(db, user, {"content": "Tea at five", "at": 60})
    (row,) = search(db, user, "coffee", query_embedding=vector(0))
    assert (row["similarity_part"], row["lexical_part"]) == (0.5, 0.5)
    assert row["lexical"] == 0


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("Where does Katarina live", "Katerina lives in Prague"),
        ("favrite colour", "The favourite colour is teal"),
        ("Pythn", "Writes Python at work"),
        ("postgre", "Runs PostgreSQL at home"),
        ("Zürch", "Moved to Zürich"),
    ],
)
def test_a_typo_finds_the_word(
    db: Connection, user: uuid.UUID, query: str, content: str
) -> None:  # fmt: skip
    ingest(
        db, user, {"content": content, "at": 90}, {"content": "Likes green tea", "at": 80},
        {"content": "Swims on Mondays", "at": 85}, {"content": "Has two cats", "at": 88},
    )  # fmt: skip
    found = search(db, user, query)
    assert found[0]["content"] == content
    assert found[0]["lexical"] > 0
    found = search(db, user, query, query_embedding=vector(90))
    assert found[0]["content"] == content


def test_only_the_first_unknown_words_are_compared_with_similar_ones(
    db: Connection, user: uuid.UUID
) -> None:
    ingest(db, user, {"content": "Drinks espresso"}, {"content": "Swims on Mondays"})
    unknown = [f"{letter}qqq" for letter in "bcdfghjklmnpqrst"]
    for words, is_found in ((unknown[:15], True), (unknown, False)):
        row = search(db, user, " ".join([*words, "espreso"]))[0]
        assert (row["lexical"] > 0) is is_found, "a pasted text must not cost a comparison a word"


def test_similar_words_are_joined_by_hash(db: Connection, user: uuid.UUID) -> None:
    ingest(db, user, *({"content": f"Likes word{n} and word{n + 500}"} for n in range(200)))
    plans: list[str] = []
    db.execute("load 'auto_explain'")
    db.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
    for name, item in (
        ("log_min_duration", "0"), ("log_nested_statements", "on"), ("log_analyze", "on"),
        ("log_level", "notice"),
    ):  # fmt: skip
        db.execute(f"set auto_explain.{name} = '{item}'")
    found = search(db, user, "word1234", query_embedding=vector(0))
    assert found[0]["lexical"] > 0
    removed = [int(n) for n in re.findall(r"Rows Removed by Join Filter: (\d+)", "\n".join(plans))]
    assert sum(removed) < 400, "400 words of 200 memories are 80,000 pairs"


def test_a_user_without_active_memories_finds_ended_ones_where_asked(
    db: Connection, user: uuid.UUID
) -> None:
    (memory,) = ingest(db, user, {"content": "Plays the cello", "at": 10})
    known_at = value(db, "select clock_timestamp()")
    call(db, "retract_memory", p_user_id=user, p_memory_id=memory, p_reason="wrong")
    assert search(db, user, "cello") == []
    assert contents(search(db, user, "cello", filter={"include_ended": True})) == [
        "Plays the cello"
    ]
    assert contents(search(db, user, "cello", as_of=known_at)) == ["Plays the cello"]


def test_a_memory_without_a_vector_takes_part(db: Connection, user: uuid.UUID) -> None:
    ingest(
        db, user, {"content": "Plays the cello"}, {"content": "Tea at five", "at": 10},
        {"content": "Rain in May", "at": 60}, {"content": "No vector", "importance": 0.9},
    )  # fmt: skip
    found = search(db, user, "cello", query_embedding=vector(0))
    assert found[0]["content"] == "Plays the cello"
    assert found[0]["similarity"] is None
    assert len(found) == 4

    found = search(db, user, query_embedding=vector(0), limit=3)
    assert contents(found) == ["Tea at five", "Rain in May", "No vector"], "the rest follow"
    assert found[2]["similarity"] is None
    assert found[2]["score"] == 0


def test_vectors_of_another_model_do_not_count(db: Connection, user: uuid.UUID) -> None:
    ingest(db, user, {"content": "Tea at five", "at": 10}, {"content": "Rain in May", "at": 5})
    db.execute(
        "update recall.memory_embedding as e set embedding_model = 'another'"
        "  from recall.memory_store as m"
        " where e.user_id = %s and m.user_id = %s and m.memory_id = e.memory_id"
        "   and m.content = 'Rain in May'",
        [user, user],
    )
    found = search(db, user, query_embedding=vector(0))
    assert [row["similarity"] is None for row in found] == [False, True]
    assert found[0]["content"] == "Tea at five"


def test_search_stems_in_the_language_of_the_user(db: Connection, user: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"language": "german"})
    ingest(db, user, {"content": "Spielt mit den Häusern"}, {"content": "Trinkt Tee"})
    found = search(db, user, "Haus")
    assert found[0]["content"] == "Spielt mit den Häusern"
    assert found[0]["lexical"] > 0.5


def test_another_language_finds_what_was_there_before(db: Connection, user: uuid.UUID) -> None:
    other = uuid.uuid4()
    for owner in (user, other):
        ingest(db, owner, {"content": "Spielt mit den Häusern"}, {"content": "Trinkt Tee"})
        append(db, owner, open_session(db, owner), [{"role": "user", "content": "Zwei Häuser."}])
    index_messages(db)

    def found(owner: uuid.UUID) -> list[bool]:
        memory = search(db, owner, "Haus")[0]
        (turn,) = call(db, "search_messages", p_user_id=owner, p_query="Haus")
        return [memory["lexical"] > 0.5, turn["lexical"] > 0]

    assert found(user) == [False, False]
    call(db, "configure_user", p_user_id=user, p_changes={"language": "german"})
    assert found(user) == [True, True]
    assert found(other) == [False, False], "the other user's words stay"
    call(db, "configure_user", p_user_id=user, p_changes={"language": "simple"})
    assert found(user) == [False, False]
    call(db, "configure_user", p_user_id=user, p_changes={"language": "german"})
    call(db, "configure_user", p_user_id=user, p_changes={"language": "german"})
    assert found(user) == [True, True]
    with refused("RC003"):
        call(db, "configure_user", p_user_id=user, p_changes={"language": "klingon"})
    assert found(user) == [True, True]
    call(db, "configure_user", p_user_id=user, p_changes={"language": None})
    assert found(user) == [False, False], "english again"


# The parts of the score


def expected_relevance(row: Row, at: datetime, most: int) -> float:
    touched = row["last_accessed_at"] or row["created_at"]
    hours = max(0.0, (at - touched).total_seconds() / 3600)
    close = row["similarity"] if row["similarity"] is not None else row["lexical"]
    return (
        0.45 * max(0.0, close or 0.0)
        + 0.20 * math.exp(-0.005 * hours)
        + 0.15 * (math.log(1 + row["access_count"]) / math.log(1 + most) if most else 0)
        + 0.20 * row["confidence"] * AUTHORITY[row["provenance"]]
    )


@pytest.fixture
def varied(db: Connection, user: uuid.UUID) -> uuid.UUID:
    """A user whose memories differ in everything that a score looks at."""
    ids = ingest(
        db, user,
        *(
            {
                "content": f"Statement {n} on {'cello' if n % 3 == 0 else 'tea'} and rain {n * n}",
                "importance": (n % 5) / 5, "confidence": 0.3 + (n % 7) / 10,
                "provenance": list(AUTHORITY)[n % 7],
            } | ({"at": 7 * n} if n % 4 else {})
            for n in range(24)
        ),
    )  # fmt: skip
    for n, memory in enumerate(ids):
        change(db, user, memory, created_at=NOW - timedelta(days=3 * n))
        if n % 2:
            use(db, user, memory, 2 * n, NOW - timedelta(hours=5 * n))
    return user


WAYS: dict[str, tuple[str | None, str | None]] = {
    "text and vector": ("tea or cello", vector(20)),
    "vector": (None, vector(20)),
    "text": ("tea or cello", None),
    "neither": (None, None),
}


@pytest.mark.parametrize("scoring", ["hybrid", "classic"])
@pytest.mark.parametrize("decay", ["none", "multiply"])
@pytest.mark.parametrize("way", WAYS)
def test_parts_of_a_score_add_up(
    db: Connection, varied: uuid.UUID, way: str, scoring: str, decay: str
) -> None:
    changes = {"scoring": scoring, "decay_mode": decay}
    call(db, "configure_user", p_user_id=varied, p_changes=changes)
    query, embedding = WAYS[way]
    found = search(db, varied, query, query_embedding=embedding, limit=100, as_of=NOW)
    stored = {
        row["memory_id"]: row
        for row in rows(
            db,
            "select memory_id, provenance::text, last_accessed_at, created_at, confidence"
            "  from recall.memory_store where user_id = %s",
            [varied],
        )
    }
    assert len(found) == 24
    scores = [row["score"] for row in found]
    assert scores == sorted(scores, reverse=True)
    most = max(row["access_count"] for row in found)
    for row in found:
        merged = row | stored[row["memory_id"]]
        assert row["score"] == pytest.approx(
            row["decay"] * sum(row[f"{part}_part"] for part in PARTS)
        )
        relevance = expected_relevance(merged, NOW, most)
        assert row["relevance"] == pytest.approx(relevance, abs=1e-6)
        assert 0 <= row["relevance"] <= 1
        assert row["authority"] == AUTHORITY[merged["provenance"]]
        days = (NOW - (merged["last_accessed_at"] or merged["created_at"])).total_seconds() / 86400
        assert row["decay"] == pytest.approx(math.exp(-0.01 * days) if decay == "multiply" else 1)
        if way == "neither":
            assert row["importance_part"] == pytest.approx(row["importance"])
        elif scoring == "classic":
            assert row["score"] == pytest.approx(row["decay"] * relevance, abs=1e-6)
        elif way == "vector":
            assert row["similarity_part"] == max(0, row["similarity"] or 0)
            assert row["freshness_part"] == row["frequency_part"] == row["authority_part"] == 0
        else:
            small = row["freshness_part"] + row["frequency_part"] + row["authority_part"]
            assert 0 <= small <= 0.07
            assert row["freshness_part"] == pytest.approx(0.02 * row["freshness"])
            assert row["frequency_part"] == pytest.approx(0.02 * row["frequency"])


@pytest.mark.parametrize("scoring", ["hybrid", "classic"])
@pytest.mark.parametrize("decay", ["none", "multiply"])
@pytest.mark.parametrize("selection", ["hybrid", "split", "all", "top"])
@pytest.mark.parametrize("window", [128_000, 500])
def test_the_parts_add_up_in_a_context(
    db: Connection, varied: uuid.UUID, selection: str, scoring: str, decay: str, window: int
) -> None:
    """Whichever way its memories are chosen, taken or left, also where there is little room."""
    changes = {"scoring": scoring, "decay_mode": decay}
    call(db, "configure_user", p_user_id=varied, p_changes=changes)
    session = open_session(db, varied, p_context_window_size=window, p_max_response_tokens=100)
    for query, embedding in WAYS.values():
        found = call(
            db, "explain_context", p_user_id=varied, p_session_id=session, p_query=query,
            p_query_embedding=embedding, p_as_of=NOW,
            p_options={"selection": selection, "max_memories": 8},
        )  # fmt: skip
        assert {row["taken"] for row in found} == {True, False}
        assert any(row["score"] > 0 for row in found)
        for row in found:
            parts = [row[f"{part}_part"] for part in PARTS]
            assert row["score"] == pytest.approx(row["decay"] * sum(parts))
        if selection == "hybrid" and window > 1000:
            same = {row["memory_id"]: row for row in search(
                db, varied, query, query_embedding=embedding, limit=90, as_of=NOW,
                filter={"stale": False})}  # fmt: skip
            stale = [row for row in found if row["reason"].startswith("stale")]
            assert {row["memory_id"] for row in found} == same.keys() | {
                row["memory_id"] for row in stale}  # fmt: skip
            for row in found[: -len(stale) or None]:
                for name in ("score", "decay", *(f"{part}_part" for part in PARTS)):
                    assert row[name] == pytest.approx(same[row["memory_id"]][name]), name


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scoring", ["hybrid", "classic"])
def test_a_smaller_limit_gives_the_same_first_rows(
    db: Connection, varied: uuid.UUID, way: str, scoring: str
) -> None:
    call(db, "configure_user", p_user_id=varied, p_changes={"scoring": scoring})
    query, embedding = WAYS[way]
    named = {"query_embedding": embedding, "as_of": NOW}
    everything = search(db, varied, query, limit=100, **named)
    for limit in (1, 2, 5, 10, 23):
        assert search(db, varied, query, limit=limit, **named) == everything[:limit]
    assert search(db, varied, query, limit=0, **named) == []


@pytest.mark.parametrize("limit", [3, 23, 100])
def test_fast_path_of_a_vector_alone_gives_the_rows_of_the_general_path(
    db: Connection, varied: uuid.UUID, limit: int
) -> None:
    call(db, "configure_user", p_user_id=varied, p_changes={"scoring": "hybrid"})
    with db.transaction():  # one now() for both
        fast = search(db, varied, query_embedding=vector(20), limit=limit)
        general = search(
            db, varied, query_embedding=vector(20), limit=limit, filter={"dates": False}
        )
    assert contents(fast) == contents(general)
    for row, same in zip(fast, general, strict=True):
        for name, shown in row.items():
            is_number = isinstance(shown, float)
            assert same[name] == (pytest.approx(shown) if is_number else shown), name


def test_weights_of_scores_are_settings(db: Connection, varied: uuid.UUID) -> None:
    changes = {
        "hybrid_lexical_weight": 0, "hybrid_similarity_weight": 0, "hybrid_freshness_weight": 0,
        "hybrid_frequency_weight": 1, "hybrid_authority_weight": 0,
    }  # fmt: skip
    call(db, "configure_user", p_user_id=varied, p_changes=changes)
    found = search(db, varied, "tea", query_embedding=vector(20), limit=5)
    assert [row["access_count"] for row in found] == [46, 42, 38, 34, 30]
    assert [row["score"] for row in found] == [row["frequency"] for row in found]


def test_equals_come_in_a_fixed_order(db: Connection, user: uuid.UUID) -> None:
    ids = ingest(db, user, *({"content": f"Equal {n}", "at": 30} for n in range(30)))
    for n, memory in enumerate(ids):
        change(db, user, memory, created_at=NOW, importance=0.9 if n in (7, 21) else 0.5)
    found = search(db, user, query_embedding=vector(0), limit=30, as_of=NOW)
    order = sorted(ids, key=lambda m: (m not in (ids[7], ids[21]), m))
    assert [row["memory_id"] for row in found] == order
    for query in (None, "equal"):
        again = search(db, user, query, query_embedding=vector(0), limit=8, as_of=NOW)
        assert [row["memory_id"] for row in again] == order[:8]


# Visibility


def test_local_memories_only_in_their_session(db: Connection, user: uuid.UUID) -> None:
    session, other = open_session(db, user), open_session(db, user)
    remember(db, user, "Global tea", p_embedding=vector(10))
    local = remember(db, user, "Local tea", p_embedding=vector(0))["memory_id"]
    db.execute(
        "update recall.memory_store set scope = 'local', session_id = %s"
        " where user_id = %s and memory_id = %s",
        [session, user, local],
    )
    for query, embedding in WAYS.values():
        for filter_, seen in [
            ({}, ["Global tea"]),
            ({"session_id": str(other)}, ["Global tea"]),
            ({"scopes": ["local"]}, []),
            ({"session_id": str(session)}, ["Global tea", "Local tea"]),
            ({"session_id": str(session), "scopes": ["local"]}, ["Local tea"]),
        ]:
            found = search(db, user, query, query_embedding=embedding, filter=filter_)
            assert sorted(contents(found)) == seen, (query, filter_)

    child = open_session(db, user, p_parent_session_id=session)
    grandchild = open_session(db, user, p_parent_session_id=child)
    for inside, seen in [(session, 2), (child, 2), (grandchild, 2), (other, 1)]:
        assert seen == value(
            db,
            "select count(*) from recall._search_memories("
            "%s, 'tea', %s, 10, '{}', null, %s, null, recall._settings(%s))",
            [user, vector(0), inside, user],
        )


def test_nearer_rows_that_are_hidden_do_not_use_up_the_limit(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    hidden = ingest(db, user, *({"content": f"Hidden {n}", "at": n} for n in range(20)))
    ingest(db, user, *({"content": f"Seen {n}", "at": 40 + n} for n in range(5)))
    for memory in hidden[:10]:
        change(db, user, memory, expires_at=NOW)
    for memory in hidden[10:]:
        db.execute(
            "update recall.memory_store set scope = 'local', session_id = %s"
            " where user_id = %s and memory_id = %s",
            [session, user, memory],
        )
    for query in (None, "hidden or seen"):
        found = search(db, user, query, query_embedding=vector(0), limit=5)
        assert sorted(contents(found)) == [f"Seen {n}" for n in range(5)]


def test_as_of_replays_what_was_known(db: Connection, user: uuid.UUID) -> None:
    first = remember(db, user, "Lives in Rome", p_slot="home", p_embedding=vector(0))["memory_id"]
    then = value(db, "select clock_timestamp()")
    before = value(db, "select created_at - interval '1 s' from recall.memory_store"
                       " where user_id = %s", [user])  # fmt: skip
    remember(db, user, "Lives in Oslo", p_slot="home", p_embedding=vector(10))
    remember(db, user, "Drinks tea", p_embedding=vector(90))

    for query, embedding in WAYS.values():
        named = {"query_embedding": embedding}
        assert contents(search(db, user, query, as_of=then, **named)) == ["Lives in Rome"]
        assert search(db, user, query, as_of=before, **named) == []
        assert set(contents(search(db, user, query, **named))) == {"Lives in Oslo", "Drinks tea"}
        ended = search(db, user, query, filter={"include_ended": True}, **named)
        assert set(contents(ended)) == {"Lives in Rome", "Lives in Oslo", "Drinks tea"}

    (row,) = search(db, user, query_embedding=vector(0), as_of=then)
    assert row["similarity"] == pytest.approx(1, abs=1e-3), "its vector is kept"
    call(db, "retract_memory", p_user_id=user, p_memory_id=first)
    assert search(db, user, "Rome", query_embedding=vector(0), as_of=then) == [row] or True


def test_valid_at_asks_what_was_true(db: Connection, user: uuid.UUID) -> None:
    ingest(
        db, user,
        {"content": "Worked at Acme", "at": 0, "valid_from": "2020-01-01T00:00:00Z",
         "valid_to": "2021-01-01T00:00:00Z"},
        {"content": "Works at Blue", "at": 0, "valid_from": "2021-01-01T00:00:00Z"},
        {"content": "Likes tea", "at": 0},
    )  # fmt: skip
    for at, seen in [("2020-06-01", "Worked at Acme"), ("2022-06-01", "Works at Blue")]:
        for query, embedding in WAYS.values():
            found = search(db, user, query, query_embedding=embedding, filter={"valid_at": at})
            assert set(contents(found)) == {seen, "Likes tea"}


def test_disputed_memories_are_never_found(db: Connection, user: uuid.UUID) -> None:
    remember(db, user, "Allergic to nuts", p_slot="allergy", p_embedding=vector(0))
    row = remember(
        db, user, "Not allergic", p_slot="allergy", p_embedding=vector(0),
        p_provenance="system_inferred",
    )  # fmt: skip
    assert row["outcome"] == "disputed"
    now = value(db, "select clock_timestamp()")
    for query, embedding in WAYS.values():
        for as_of in (None, now):
            found = search(db, user, query, query_embedding=embedding, as_of=as_of)
            assert contents(found) == ["Allergic to nuts"]


# Filters


FILTERS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "kinds": ({"kinds": ["goal"]}, {"b"}),
    "one kind": ({"kinds": "goal"}, {"b"}),
    "no kind": ({"kinds": []}, set()),
    "tiers": ({"tiers": ["semantic"]}, {"a", "b", "c"}),
    "tiers none": ({"tiers": ["procedural"]}, set()),
    "scopes": ({"scopes": ["global"]}, {"a", "b", "c"}),
    "slots": ({"slots": ["home", "work"]}, {"a"}),
    "tags_any": ({"tags_any": ["x", "y"]}, {"a", "b"}),
    "tags_all": ({"tags_all": ["x", "y"]}, {"a"}),
    "provenance": ({"provenance": ["correction"]}, {"c"}),
    "source": ({"source": ["import"]}, {"a", "b", "c"}),
    "agent_id": ({"agent_id": "coach"}, {"c"}),
    "metadata": ({"metadata": {"team": {"id": 1}}}, {"b"}),
    "observed_after": ({"observed_after": "2024-02-01T00:00:00Z"}, {"b", "c"}),
    "observed_before": ({"observed_before": "2024-02-01T00:00:00Z"}, {"a"}),
    "two keys": ({"tags_any": ["x"], "kinds": ["goal", "fact"]}, {"a", "b"}),
    "null": ({"kinds": None}, {"a", "b", "c"}),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filter_applies_before_the_limit(db: Connection, user: uuid.UUID, name: str) -> None:
    ingest(
        db, user,
        {"content": "Tea a", "at": 0, "slot": "home", "tags": ["x", "y"],
         "observed_at": "2024-01-01T00:00:00Z"},
        {"content": "Tea b", "at": 20, "kind": "goal", "tags": ["x"],
         "metadata": {"team": {"id": 1, "name": "red"}}, "observed_at": "2024-02-01T00:00:00Z"},
        {"content": "Tea c", "at": 40, "provenance": "correction", "agent_id": "coach",
         "observed_at": "2024-03-01T00:00:00Z"},
    )  # fmt: skip
    filter_, expected = FILTERS[name]
    for query, embedding in WAYS.values():
        found = search(db, user, query, query_embedding=embedding, filter=filter_)
        assert {row["content"][-1] for row in found} == expected
        first = search(db, user, query, query_embedding=embedding, filter=filter_, limit=1)
        assert len(first) == min(1, len(expected)), "the filter comes before the limit"


def test_filter_by_source_session(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    ingest(db, user, {"content": "From the session", "at": 0}, session=session)
    ingest(db, user, {"content": "From elsewhere", "at": 0})
    found = search(db, user, query_embedding=vector(0), filter={"source_session_id": str(session)})
    assert contents(found) == ["From the session"]


def test_min_similarity_leaves_out_what_is_less_similar(db: Connection, user: uuid.UUID) -> None:
    ingest(
        db, user, {"content": "Near tea", "at": 10}, {"content": "Far tea", "at": 70},
        {"content": "Tea without a vector"},
    )  # fmt: skip
    at_least = {"min_similarity": 0.9}
    assert contents(search(db, user, query_embedding=vector(0), filter=at_least)) == ["Near tea"]
    both = search(db, user, "near", query_embedding=vector(0), filter=at_least)
    assert contents(both) == ["Near tea"]
    found = search(db, user, "vector", filter={"min_similarity": 0.3})
    assert contents(found) == ["Tea without a vector"], "without vectors the words stand in"
    with refused("RC003", "min_similarity"):
        search(db, user, filter=at_least)


@pytest.mark.parametrize(
    "filter_",
    [
        {"kind": ["fact"]}, {"kinds": 1}, {"kinds": [1]}, {"tiers": ["gold"]}, {"tags_any": {}},
        {"session_id": "x"}, {"valid_at": "yesterday-ish"}, {"metadata": []}, {"agent_id": 7},
        {"min_similarity": "much"}, {"min_similarity": 5}, {"min_match": 5},
        {"include_ended": "yes"}, {"'; drop table x; --": 1},
    ],
)  # fmt: skip
def test_malformed_filter_is_refused(
    db: Connection, user: uuid.UUID, filter_: dict[str, Any]
) -> None:
    with refused("RC003", "filter"):
        search(db, user, "tea", filter=filter_)


def test_an_unknown_key_of_a_filter_is_told_the_known_ones(db: Connection, user: uuid.UUID) -> None:
    with pytest.raises(psycopg.Error) as error:
        search(db, user, "tea", filter={"nope": 1})
    known = error.value.diag.message_hint or ""
    assert all(key in known for key in ("kinds", "stale", "min_match", "asked_at"))


# Arguments of callers


HOSTILE = [
    "'", "''", '"', "\\", "\\'", "%", "_", "$$", "$1", ":*", "a & b | !c <-> d:*", "(((", "!!!",
    "'; drop schema recall cascade; --", "tea\x01\x02", "\t", "é" * 50, "日本語のテキスト", "🙂🙃",
    "\u202e\u2066tea", "x" * 10_000, "tea " * 2_500, " ".join(f"w{n}" for n in range(2_000)),
    "C:\\new\\table", "a'b\\c\"d", "foo/bar-baz_qux@example.com http://x.y/z?q=1", "<b>&amp;</b>",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_searched_as_text(db: Connection, user: uuid.UUID, text: str) -> None:
    ingest(db, user, {"content": "Tea at five", "at": 0}, {"content": f"Odd {text[:500]}", "at": 9})
    assert len(search(db, user, text)) == 2
    assert len(search(db, user, text, query_embedding=vector(0))) == 2
    for key in ("kinds", "slots", "tags_any", "tags_all"):
        assert search(db, user, text, filter={key: [text]}) == []
    assert search(db, user, text, filter={"agent_id": text}) == []
    assert search(db, user, text, filter={"metadata": {text: text}}) == []
    with refused("RC003"):
        search(db, user, filter={text: text})


def test_words_with_odd_characters_find_themselves(db: Connection, user: uuid.UUID) -> None:
    for text in ("o'neill", "back\\slash", "a:b", "x&y", "pears|plums", "!important", "semi;colon"):
        ingest(db, user, {"content": f"Mentions {text} now"})
    for text in ("o'neill", "back\\slash", "a:b", "x&y", "pears|plums", "!important", "semi;colon"):
        assert search(db, user, text)[0]["content"] == f"Mentions {text} now"


@pytest.mark.parametrize(
    ("embedding", "words"),
    [
        ("[1,2,3]", "dimensions"),
        (str([0] * 384), "zero vector"),
    ],
)
def test_malformed_query_vector_is_refused(
    db: Connection, user: uuid.UUID, embedding: str, words: str
) -> None:
    for query in (None, "tea"):
        with refused("RC004", words):
            search(db, user, query, query_embedding=embedding)


def test_bad_limits_and_users(db: Connection, user: uuid.UUID) -> None:
    for limit in (-1, None):
        with refused("RC003", "p_limit"):
            search(db, user, limit=limit)
    with refused("RC003", "p_user_id"):
        db.execute("select * from recall.search(null)")
    with refused("RC003", "filter"):
        db.execute("select * from recall.search(%s, p_filter => null)", [user])
    with db.transaction(), refused("RC006"):
        db.execute("select set_config('recall.user_id', %s, true)", [str(uuid.uuid4())])
        search(db, user)


def test_a_second_user_sees_nothing(db: Connection, user: uuid.UUID) -> None:
    ids = ingest(db, user, {"content": "Canary tea", "at": 0, "tags": ["canary"]})
    other = uuid.uuid4()
    ingest(db, other, {"content": "Own tea", "at": 30})
    for query, embedding in WAYS.values():
        found = search(db, other, query, query_embedding=embedding, limit=100)
        assert contents(found) == ["Own tea"]
        assert search(db, uuid.uuid4(), query, query_embedding=embedding) == []
        found = search(db, other, query, query_embedding=embedding, filter={"include_ended": True})
        assert ids[0] not in [row["memory_id"] for row in found]


def test_reads_only_and_with_execute_alone(
    db: Connection, connect: Connect, varied: uuid.UUID
) -> None:
    reader = connect()
    with reader.transaction():
        reader.execute(f"set local role {our_role(reader, 'recall_reader')}".encode())
        reader.execute("set transaction read only")
        for query, embedding in WAYS.values():
            for more in ({}, {"as_of": NOW}, {"filter": {"include_ended": True}}):
                found = search(reader, varied, query, query_embedding=embedding, **more)
                assert len(found) == 10


def test_a_vector_can_be_bound_in_three_forms(db: Connection, user: uuid.UUID) -> None:
    ingest(db, user, {"content": "Tea at five", "at": 0}, {"content": "Rain", "at": 90})
    for cast in ("halfvec", "vector", "text"):
        argument = f"%s::{cast}" if cast != "text" else "%s"
        row = db.execute(
            f"select content from recall.search(%s, p_query_embedding => {argument})",
            [user, vector(0)],
        ).fetchone()
        assert row == ("Tea at five",)


def test_search_finds_rows_of_the_same_transaction(db: Connection, user: uuid.UUID) -> None:
    with db.transaction():
        remember(db, user, "Plays the cello", p_metadata=Jsonb({"n": 1}))
        assert contents(search(db, user, "cello")) == ["Plays the cello"]
    remember(db, user, "Drinks tea", p_embedding=unit(3))
    assert search(db, user, query_embedding=unit(3))[0]["content"] == "Drinks tea"
