"""Words of texts: those of PostgreSQL's parser, at a cost that is in proportion to the text."""

from __future__ import annotations

import re
import uuid
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import append, call, index_messages, open_session, said, session_row, value

Connection = psycopg.Connection
ROOT = Path(__file__).resolve().parents[2]
RUN = re.compile(r"(?:[A-Za-z0-9]*[-_./~]){32}")
PIECES = ["a", "é", "1", "_", "-", ".", "/", "~", "@", ":", " ", "<", ">", "!", "<!--", "-->", "'",
          '"', "&", ";", "日", "\u0301", "http://", "the ", "\n"]  # fmt: skip


def words(db: Connection, text: str, language: str = "english") -> str:
    return str(value(db, "select recall._text_words(%s::regconfig, %s)::text", [language, text]))


def parsed(db: Connection, text: str, language: str = "english") -> str:
    return str(value(db, "select to_tsvector(%s::regconfig, %s)::text", [language, text]))


@pytest.mark.parametrize("language", ["english", "simple", "german"])
def test_ordinary_text_has_the_words_of_the_parser(db: Connection, language: str) -> None:
    """So vectors that were stored before still match."""
    count = 0
    for file in sorted(ROOT.glob("docs/**/*.md")) + sorted(ROOT.glob("functions/*/*.sql")):
        text = file.read_text(encoding="utf-8")[:32_000]
        assert RUN.search(text) is None
        assert words(db, text, language) == parsed(db, text, language), file
        count += 1
    assert count > 500


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_short_text_has_the_words_of_the_parser(db: Connection, text: str) -> None:
    assert words(db, text, "simple") == parsed(db, text, "simple")


def test_words_around_a_long_run_are_kept(db: Connection) -> None:
    found = words(db, f"A cat {'a_' * 40_000} sleeps")
    assert re.sub(r":\d+", "", found) == "'cat' 'sleep'"
    assert words(db, "one <!-- a cat --> two " + "<!-- three " * 5_000) == parsed(
        db, "one  two " + "three " * 5_000
    )


def test_message_of_one_long_run_does_not_stop_the_index(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said("The cat sleeps.", "a_" * 40_000, "The dog barks."))
    with db.transaction():
        db.execute("set local statement_timeout = '5s'")
        index_messages(db)
    assert session_row(db, user, session)["indexed_through_turn"] == 3
    for word, turn in (("cat", 1), ("dog", 3)):
        found = call(db, "search_messages", p_user_id=user, p_query=word)
        assert (found[0]["turn_index"], found[0]["lexical"] > 0) == (turn, True)


def test_query_of_one_long_run_is_as_quick_as_its_words(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said("The cat sleeps."))
    with db.transaction():
        db.execute("set local statement_timeout = '1s'")
        for _ in range(3):
            call(db, "compile_context", p_user_id=user, p_session_id=session,
                 p_query="do I remember " + "a_" * 8_000)  # fmt: skip
