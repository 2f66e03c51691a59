"""search_messages: turns by words and meaning, with what the turns around them lend."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import append, call, dialog, index_messages, login_role, open_session

PARTS = ("own", "neighbor", "session", "memory", "speaker", "feedback")

Connection = psycopg.Connection[Any]
Row = dict[str, Any]


def find(db: Connection, user: uuid.UUID, query: str, **filters: Any) -> list[Row]:
    limit = filters.pop("limit", 10)
    with db.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        return cursor.execute(
            "select * from recall.search_messages(p_user_id => %s, p_query => %s, "
            "p_limit => %s, p_filter => %s)",
            [user, query, limit, Jsonb(filters)],
        ).fetchall()


@pytest.fixture
def session(db: Connection, user: uuid.UUID) -> uuid.UUID:
    found = open_session(db, user)
    append(
        db,
        user,
        found,
        dialog("Where shall we eat?", "The harbor has a good restaurant.", "Which one?",
               "The Gull.", "I bought a violin.", "How nice.", "It is from Cremona.", "Lovely."),
    )  # fmt: skip
    index_messages(db)
    return found


def test_a_turn_is_found_by_its_words(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    rows = find(db, user, "violin")
    assert (rows[0]["content"], rows[0]["role"]) == ("I bought a violin.", "user")
    assert rows[0]["session_id"] == session
    assert rows[0]["turn_index"] == 5
    assert rows[0]["lexical"] > 0
    assert len(rows) == 8, "as many as match, up to the limit"
    assert len(find(db, user, "violin", limit=3)) == 3
    assert find(db, user, "violin", limit=0) == []


def test_parts_of_a_message_score_add_up(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    rows = find(db, user, "restaurant harbor")
    assert [row["score"] for row in rows] == sorted((r["score"] for r in rows), reverse=True)
    for row in rows:
        parts = sum(row[f"{part}_part"] for part in PARTS)
        assert row["score"] == pytest.approx(parts)
    by_turn = {row["turn_index"]: row for row in rows}
    assert by_turn[1]["neighbor_part"] > by_turn[8]["neighbor_part"], "the turn before the answer"


def test_each_word_counts_once_and_by_its_rarity(db: Connection, user: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"message_length_penalty": 0})
    texts = ("A cello, a cello and a violin.", "My violin.", "Nice.", "The cello's bow.", "A bow.")
    append(db, user, open_session(db, user), dialog(*texts))
    index_messages(db)
    found = {r["turn_index"]: r["lexical"] for r in find(db, user, "cello violin user lute")}
    weight = {n: math.log(1 + (5 - n + 0.5) / (n + 0.5)) for n in (2, 3)}
    expected = [2 * weight[2] + weight[3], weight[2], weight[3], weight[2], weight[3]]
    assert [found[n] for n in range(1, 6)] == pytest.approx(expected)


@pytest.mark.parametrize("cited", [7, 8])
def test_a_memory_leads_to_the_turns_it_rests_on(
    db: Connection, user: uuid.UUID, session: uuid.UUID, cited: int
) -> None:
    row = db.execute(
        "select message_id from recall.get_messages(%s, %s) where turn_index = %s",
        [user, session, cited],
    ).fetchone()
    assert row is not None
    call(
        db,
        "ingest_memories",
        p_user_id=user,
        p_session_id=None,
        p_candidates=[{"content": "Owns an old instrument", "source": "import",
                       "source_turn_ids": [str(row[0])]}],
    )  # fmt: skip
    rows = {r["turn_index"]: r for r in find(db, user, "instrument")}
    assert rows[cited]["memory_part"] > 0, "of the user's turns and of the assistant's"
    assert all(r["memory_part"] == 0 for turn, r in rows.items() if turn != cited)


def test_filters_select_turns_by_session_and_time(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    other = open_session(db, user)
    append(db, user, other, [{"role": "user", "content": "My violin is out of tune.",
                              "created_at": "2025-03-01T10:00:00Z"}])  # fmt: skip
    index_messages(db)
    assert {r["session_id"] for r in find(db, user, "violin")} == {session, other}
    assert {r["session_id"] for r in find(db, user, "violin", session_id=str(other))} == {other}
    assert {r["role"] for r in find(db, user, "violin", roles=["assistant"])} == {"assistant"}
    assert {r["session_id"] for r in find(db, user, "violin", until="2025-04-01")} == {other}
    assert {r["session_id"] for r in find(db, user, "violin", since="2025-04-01")} == {session}


def test_an_agents_turns_are_those_of_its_sessions(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    other = open_session(db, user, p_agent_id="coach")
    append(db, user, other, dialog("My violin is out of tune.", "Tune it.", "How?"))
    index_messages(db)
    assert {r["session_id"] for r in find(db, user, "violin", agent_id="coach")} == {other}
    assert find(db, user, "violin", agent_id="nobody") == []
    assert find(db, user, "violin", agent_id="coach", session_id=str(session)) == []
    assert len(find(db, user, "violin", agent_id="coach", roles="user")) == 2
    assert {r["session_id"] for r in find(db, user, "violin", agent_id=None)} == {session, other}


@pytest.mark.parametrize("limit", [None, 1], ids=["exact", "likely"])
def test_metadata_as_readers_see_them(
    db: Connection, user: uuid.UUID, session: uuid.UUID, limit: int | None
) -> None:
    other = open_session(db, user)
    append(
        db, user, other,
        [{"role": "user", "content": f"My violin, {n}.", "metadata": {"tags": ["music", str(n)]}}
         for n in range(6)],
    )  # fmt: skip
    index_messages(db)
    call(db, "configure_user", p_user_id=user, p_changes={"exact_search_limit": limit})
    assert len(find(db, user, "violin", metadata={"tags": ["music"]})) == 6
    assert [r["content"] for r in find(db, user, "violin", metadata={"tags": ["3"]})] == [
        "My violin, 3."
    ]
    annotated = {"p_user_id": user, "p_session_id": other, "p_turn_index": 4}
    call(db, "annotate_message", **annotated, p_patch={"liked": True, "tags": None})
    assert [r["turn_index"] for r in find(db, user, "violin", metadata={"liked": True})] == [4]
    assert len(find(db, user, "violin", metadata={"tags": ["music"]})) == 5
    assert len(find(db, user, "violin", limit=2, metadata={"tags": ["music"]})) == 2
    assert find(db, user, "violin", metadata={"liked": True}, session_id=str(session)) == []
    assert find(db, user, "violin", metadata={"liked": True}, until="2000-01-01") == []
    assert len(find(db, user, "violin", metadata={})) == 10, "an empty object asks for nothing"


def test_a_turn_gains_when_its_speaker_is_named(db: Connection, user: uuid.UUID) -> None:
    talk = open_session(db, user)
    for name, text in (("Ada", "Grace, the cello sounds well."), ("Grace", "The cello is mine.")):
        append(db, user, talk, [{"role": "user", "name": name, "content": text}])
    index_messages(db)
    parts = {r["name"]: r["speaker_part"] for r in find(db, user, "What did Grace say?")}
    assert parts["Grace"] > parts["Ada"] == 0
    parts = {r["name"]: r["speaker_part"] for r in find(db, user, "Who has a cello?")}
    assert set(parts.values()) == {0}
    call(db, "configure_user", p_user_id=user, p_changes={"language": "simple"})
    parts = {r["name"]: r["speaker_part"] for r in find(db, user, "What did Grace say?")}
    assert parts["Grace"] > parts["Ada"] == 0, "another language keeps who spoke"


def test_words_that_the_best_turns_share_lead_on(db: Connection, user: uuid.UUID) -> None:
    for texts in (
        ("My hobby is pottery.", "Nice."),
        ("A hobby such as pottery calms.", "It does."),
        ("The pottery class was full.", "A pity."),
        ("The train was full.", "A pity."),
    ):
        append(db, user, open_session(db, user), dialog(*texts))
    index_messages(db)
    rows = {r["content"]: r for r in find(db, user, "Which hobby?")}
    led = rows["The pottery class was full."]
    assert led["lexical"] == 0 < led["feedback_part"]
    assert rows["The train was full."]["feedback_part"] == 0
    assert led["score"] > rows["The train was full."]["score"]
    call(db, "configure_user", p_user_id=user, p_changes={"message_feedback_weight": 0})
    rows = {r["content"]: r for r in find(db, user, "Which hobby?")}
    assert {r["feedback_part"] for r in rows.values()} == {0}


def test_words_of_the_turns_that_a_memory_cites_lead_on(db: Connection, user: uuid.UUID) -> None:
    cited: list[str] = []
    for text in (
        "The kiln was hot.",
        "Bowls came out of the kiln.",
        "A new kiln arrived.",
        "Rain.",
    ):
        talk = open_session(db, user)
        append(db, user, talk, dialog(text, "Good."))
        (*_, first) = call(db, "get_messages", p_user_id=user, p_session_id=talk)
        cited.append(str(first["message_id"]))
    index_messages(db)
    assert {r["feedback_part"] for r in find(db, user, "pottery")} == {0}
    call(
        db, "ingest_memories", p_user_id=user, p_session_id=None,
        p_candidates=[{"content": "Enjoys pottery", "source": "import",
                       "source_turn_ids": cited[:2]}],
    )  # fmt: skip
    rows = {r["content"]: r for r in find(db, user, "pottery")}
    assert rows["A new kiln arrived."]["lexical"] == 0
    assert 0 < rows["A new kiln arrived."]["feedback_part"] < 0.21, "never more than its weight"
    assert rows["Rain."]["feedback_part"] == 0


def test_what_was_retracted_is_not_found(
    db: Connection, user: uuid.UUID, session: uuid.UUID
) -> None:
    call(db, "retract_turns", p_user_id=user, p_session_id=session, p_from_turn=5)
    assert {r["turn_index"] for r in find(db, user, "violin")} == {1, 2, 3, 4}


def test_nobody_finds_anothers_turns(db: Connection, user: uuid.UUID, session: uuid.UUID) -> None:
    assert find(db, uuid.uuid4(), "violin") == []
    stranger = uuid.uuid4()
    append(db, stranger, open_session(db, stranger), dialog("I play the cello."))
    index_messages(db)
    assert [r["content"] for r in find(db, stranger, "violin")] == ["I play the cello."]


@pytest.mark.parametrize(
    "filters",
    [
        {"nonsense": 1},
        {"session_id": "no uuid"},
        {"since": "someday"},
        {"until": 5},
        {"roles": 1},
        {"roles": "nobody"},
        {"roles": ["user", None]},
        {"agent_id": 7},
        {"metadata": ["a"]},
        {"metadata": "a"},
        {"limit": -1},
    ],
)
def test_bad_filters_are_refused(db: Connection, user: uuid.UUID, filters: dict[str, Any]) -> None:
    with pytest.raises(psycopg.Error) as refused:
        find(db, user, "violin", **filters)
    assert refused.value.sqlstate == "RC003"


@pytest.mark.parametrize(
    "query", ["", "   ", "'; drop table x; --", "a & | ! ( :*", "\\ % _ $$", "é🎻"]
)
def test_any_query_is_answered(
    db: Connection, user: uuid.UUID, session: uuid.UUID, query: str
) -> None:
    assert len(find(db, user, query)) == 8


@pytest.mark.parametrize(
    "text", ["'", "'; drop table x; --", "\\", "$$", "%_", "{}", "\u202e", "é🎻"]
)
def test_hostile_filter_is_data_or_refused(
    db: Connection, user: uuid.UUID, session: uuid.UUID, text: str
) -> None:
    assert find(db, user, text, agent_id=text) == []
    assert find(db, user, text, metadata={text: text}) == []
    for refused in ({text: text}, {"session_id": text}, {"since": text}, {"roles": [text]}):
        with pytest.raises(psycopg.Error) as error:
            find(db, user, "violin", **refused)
        assert error.value.sqlstate == "RC003"


def test_reads_only_and_with_execute_alone(
    db: Connection, connect: Callable[..., Connection], user: uuid.UUID, session: uuid.UUID
) -> None:
    with login_role(db, member_of=["recall_reader"]) as login:
        reader = connect(**login)
        with reader.transaction():
            reader.execute("set transaction read only")
            filters = {"roles": ["user"], "metadata": {}, "since": "2020-01-01"}
            assert find(reader, user, "violin", **filters)[0]["content"] == "I bought a violin."
            assert find(reader, user, "violin", agent_id="'; drop table x; --") == []


def test_a_wrong_vector_is_refused(db: Connection, user: uuid.UUID) -> None:
    with pytest.raises(psycopg.Error) as refused:
        db.execute("select * from recall.search_messages(%s, 'x', '[1,2,3]')", [user])
    assert refused.value.sqlstate == "RC004"


def test_of_very_many_turns_the_likely_ones(db: Connection, user: uuid.UUID) -> None:
    topics = ("harbor", "violin", "garden", "engine", "novel", "glacier", "market", "lantern")
    for part in range(3):
        append(
            db, user, open_session(db, user),
            dialog(*(f"About the {topics[n // 6]} number {n} of part {part}." for n in range(48))),
        )  # fmt: skip
    index_messages(db)
    exact = find(db, user, "violin", limit=5)
    vector = str([1.0] * 384)
    by_vector = call(
        db, "search_messages", p_user_id=user, p_query="violin", p_query_embedding=vector, p_limit=5
    )
    call(db, "configure_user", p_user_id=user, p_changes={"exact_search_limit": 20})
    likely = find(db, user, "violin", limit=5)
    assert all("violin" in row["content"] for row in exact + likely)
    assert likely[0]["lexical"] == pytest.approx(exact[0]["lexical"], rel=0.01), "same rarity"
    assert len(find(db, user, "violin", limit=500)) == 144
    assert len(find(db, user, "nothing of it", limit=500)) == 144
    assert len(find(db, user, "nothing of it", limit=7)) == 7
    assert {row["role"] for row in find(db, user, "violin", limit=30, roles=["user"])} == {"user"}
    assert len(find(db, user, "violin", limit=500, roles=["user"])) == 72
    assert find(db, user, "violin", until="2000-01-01T00:00:00Z") == []
    session = likely[0]["session_id"]
    found = find(db, user, "violin", limit=500, session_id=str(session))
    assert len(found) == 48
    assert {row["session_id"] for row in found} == {session}
    found = call(
        db, "search_messages", p_user_id=user, p_query="violin", p_query_embedding=vector, p_limit=5
    )
    assert {row["message_id"] for row in found} == {row["message_id"] for row in by_vector}
    assert find(db, uuid.uuid4(), "violin") == []
