"""The inverted index of messages: which turns its blocks hold, and what a search finds by it."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from support import append, call, dialog, open_session, rows, said, value
from support.invariants import check_invariants

Connection = psycopg.Connection[Any]


def blocks(conn: Connection, session: uuid.UUID) -> list[tuple[int, int]]:
    """Return the turns of each block of a session: the one before it, and its last."""
    found = rows(
        conn,
        "select before_turn, through_turn from recall.message_words where session_id = %s"
        " order by through_turn",
        [session],
    )
    return [(row["before_turn"], row["through_turn"]) for row in found]


def count(conn: Connection, session: uuid.UUID, word: str) -> int:
    """Return how many blocks of a session hold a word."""
    found: int = value(
        conn,
        "select count(*) from recall.message_words where session_id = %s and words @@ %s::tsquery",
        [session, word],
    )
    return found


def index(conn: Connection, session: uuid.UUID) -> None:
    """Make the messages of a session searchable by words, as an embed job does."""
    conn.execute(
        "select recall._index_messages(s, s.turn_count, '[]', '{}', recall._settings(s.user_id))"
        "  from recall.sessions as s where s.session_id = %s",
        [session],
    )


def through(conn: Connection, session: uuid.UUID, *turns: int) -> None:
    """Make the messages searchable up to one turn after the other."""
    for turn in turns:
        conn.execute(
            "select recall._index_messages(s, %s, '[]', '{}', recall._settings(s.user_id))"
            "  from recall.sessions as s where s.session_id = %s",
            [turn, session],
        )


def talk(conn: Connection, user: uuid.UUID, session: uuid.UUID, first: int, last: int) -> None:
    """Append and index messages; the n-th one has the words `hello` and `thing<n>`."""
    append(conn, user, session, dialog(*(f"hello thing{n}" for n in range(first, last + 1))))
    index(conn, session)


def compare_few(conn: Connection, user: uuid.UUID) -> None:
    """Let searches of a user choose candidates by words."""
    call(conn, "configure_user", p_user_id=user, p_changes={"exact_search_limit": 1})


def with_words(
    conn: Connection, user: uuid.UUID, *words: str, message_filter: str | None = None
) -> list[tuple[uuid.UUID, int]]:
    """Return the candidates by words, best first; a search also finds turns by other ways."""
    return conn.execute(
        "select u.* from recall._turns_with_words(%s, %s, 1000,"
        " recall._read_message_filter(%s, %s::jsonb), recall._settings(%s)) as t,"
        " unnest(t.session_ids, t.turn_indexes) as u",
        [user, list(words), user, message_filter or "{}", user],
    ).fetchall()


def found(conn: Connection, user: uuid.UUID, query: str, **asked: Any) -> list[int]:
    """Return the turns that a search finds by a word of their own."""
    answer = call(conn, "search_messages", p_user_id=user, p_query=query, **asked)
    return [row["turn_index"] for row in answer if row["lexical"] > 0]


def test_block_is_written_when_it_grows_by_half_or_by_50(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    expected = {
        3: [], 4: [(0, 4)], 7: [(0, 4)], 8: [(0, 8)], 40: [(0, 40)], 59: [(0, 40)],
        60: [(0, 60)], 180: [(0, 180)], 229: [(0, 180)], 230: [(0, 230)], 279: [(0, 230)],
        280: [(0, 250), (250, 280)], 300: [(0, 250), (250, 300)], 324: [(0, 250), (250, 300)],
    }  # fmt: skip
    last = 0
    for turn, found in expected.items():
        talk(db, user, session, last + 1, turn)
        assert blocks(db, session) == found, turn
        last = turn
    check_invariants(db)


def test_words_are_found_in_blocks_and_after_them(db: Connection, user: uuid.UUID) -> None:
    session, other = open_session(db, user), open_session(db, user)
    talk(db, user, session, 1, 300)
    talk(db, user, session, 301, 320)
    talk(db, user, other, 1, 3)
    talk(db, user, other, 4, 7)
    assert blocks(db, session) == [(0, 250), (250, 300)]
    assert blocks(db, other) == [(0, 7)]
    talk(db, user, other, 8, 9)
    assert blocks(db, other) == [(0, 7)]
    compare_few(db, user)
    for turn in (1, 250, 251, 300, 301, 320):
        found_at = [(other, turn)] if turn == 1 else []
        assert with_words(db, user, f"thing{turn}") == [*found_at, (session, turn)]
        assert found(db, user, f"thing{turn}")[0] == turn
    assert with_words(db, user, "thing9", "thing8", "none")[:2] == [(other, 9), (other, 8)]
    assert with_words(db, user, "thing320", "hello") == [(session, 320)]
    both = call(db, "search_messages", p_user_id=user, p_query="thing7")
    assert {row["session_id"] for row in both[:2]} == {session, other}
    assert found(db, user, "thing8", p_filter={"session_id": str(other)}) == [8]
    assert found(db, user, "thing7", p_filter={"session_id": str(other)}) == [7]


def test_filter_of_roles_and_times_holds_for_words_of_blocks(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_session(db, user)
    talk(db, user, session, 1, 100)
    compare_few(db, user)
    for words in (["thing8", "thing9"], ["thing9", "thing8"]):
        assert with_words(db, user, *words, message_filter='{"roles": ["user"]}') == [(session, 9)]
    assert found(db, user, "thing8 thing9", p_filter={"roles": ["user"]}) == [9]
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    assert found(db, user, "thing8", p_filter={"since": soon}) == []
    assert found(db, user, "thing8", p_filter={"until": soon}) == [8]


def test_retracted_turns_leave_no_word(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    talk(db, user, session, 1, 120)
    call(db, "retract_turns", p_user_id=user, p_session_id=session, p_from_turn=60)
    compare_few(db, user)
    assert found(db, user, "thing59") == [59]
    assert found(db, user, "thing60") == []
    assert count(db, session, "thing60") == 0
    check_invariants(db)
    talk(db, user, session, 121, 180)
    assert found(db, user, "thing121") == [121]
    check_invariants(db)


def test_cleared_session_leaves_no_word(db: Connection, user: uuid.UUID) -> None:
    session, other = open_session(db, user), open_session(db, user)
    talk(db, user, session, 1, 60)
    talk(db, user, other, 1, 60)
    counts = call(db, "clear_session", p_user_id=user, p_session_id=session)[0]["clear_session"]
    assert counts["counts"]["message_words"] == 1
    assert (blocks(db, session), blocks(db, other)) == ([], [(0, 60)])
    check_invariants(db)


def test_another_language_changes_the_words_of_blocks(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said(*("dancing houses" for _ in range(60))))
    index(db, session)
    assert [count(db, session, word) for word in ("danc", "dancing")] == [1, 0]
    call(db, "configure_user", p_user_id=user, p_changes={"language": "simple"})
    assert [count(db, session, word) for word in ("danc", "dancing")] == [0, 1]
    check_invariants(db)


def test_turns_that_are_indexed_again_keep_their_words(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    talk(db, user, session, 1, 60)
    for change in (
        "message_search set search_vector = 'former:1'", "sessions set indexed_through_turn = 20"
    ):  # fmt: skip
        db.execute(f"update recall.{change} where session_id = %s".encode(), [session])
    db.execute("select recall._rewrite_word_blocks(%s, %s, 1, 60)", [user, session])
    index(db, session)
    assert blocks(db, session) == [(0, 60)]
    check_invariants(db)


def test_blocks_cut_in_other_places_keep_all_turns(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said(*(
        " ".join(f"w{n:04}{word:05}x" for word in range(120)) for n in range(1, 257)
    )))  # fmt: skip
    through(db, session, *range(2, 251, 2))
    for turn in range(0, 256, 64):
        db.execute("update recall.sessions set indexed_through_turn = %s where session_id = %s",
                   [turn, session])  # fmt: skip
        through(db, session, turn + 64)
        held = blocks(db, session)
        assert held[0][0] == 0
        assert [before for before, _ in held[1:]] == [last for _, last in held[:-1]]
    check_invariants(db)


def test_a_call_packs_at_most_a_thousand_turns(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    talk(db, user, session, 1, 2_600)
    db.execute("delete from recall.message_words where user_id = %s", [user])
    db.execute(
        "delete from recall.message_search where user_id = %s and turn_index <= 1100", [user]
    )
    position, batches = None, []
    while not batches or position is not None:
        (row,) = rows(
            db, "select * from recall._backfill_words(%s, %s::jsonb, 500)", [user, position]
        )
        position = None if row["o_position"] is None else Jsonb(row["o_position"])
        batches.append(blocks(db, session)[-1][1])
    assert batches == [2_100, 2_600, 2_600]
    check_invariants(db)


def test_turns_without_words_get_a_block(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    talk(db, user, session, 1, 60)
    db.execute("delete from recall.message_words where session_id = %s", [session])
    db.execute(
        "update recall.message_search set search_vector = '' where session_id = %s", [session]
    )
    db.execute("select recall._pack_words(%s, %s, 60, 60, true)", [user, session])
    assert blocks(db, session) == [(0, 60)]
    check_invariants(db)


def test_texts_of_long_words_get_a_block_each(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    texts = [" ".join(f"{n}a{word}{'x' * 1_500}" for word in range(20)) for n in range(1, 61)]
    append(db, user, session, said(*texts, "short"))
    index(db, session)
    assert blocks(db, session) == [(n, n + 1) for n in range(61)]
    compare_few(db, user)
    assert found(db, user, texts[30].split()[4]) == [31]
    check_invariants(db)


def test_backfill_continues_with_the_next_session(db: Connection, user: uuid.UUID) -> None:
    sessions = sorted(open_session(db, user) for _ in range(3))
    for session in sessions:
        talk(db, user, session, 1, 20)
    db.execute("delete from recall.message_words where user_id = %s", [user])
    position = None
    for n, session in enumerate(sessions):
        assert [bool(blocks(db, each)) for each in sessions] == [
            place < n for place in range(3)
        ]  # fmt: skip
        (row,) = rows(
            db, "select * from recall._backfill_words(%s, %s::jsonb, 20)", [user, position]
        )
        assert (row["o_done"], row["o_position"]) == (20, {"session": str(session), "turn": 0})
        position = Jsonb(row["o_position"])
    (row,) = rows(db, "select * from recall._backfill_words(%s, %s::jsonb, 20)", [user, position])
    assert (row["o_done"], row["o_position"]) == (0, None)
    assert [blocks(db, session) for session in sessions] == [[(0, 20)]] * 3
    check_invariants(db)
