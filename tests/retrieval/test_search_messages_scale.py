"""Searching the messages of a user who has very many: what is found, and by which plans."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from growth import FILL, TALK
from support import call, plan_nodes, rows
from support.servers import DIMENSIONS

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

LENT = (
    "message_neighbor_weight", "message_second_neighbor_weight", "message_session_weight",
    "message_speaker_weight", "message_feedback_weight",
)  # fmt: skip
large = pytest.mark.skipif("SOAK" not in os.environ, reason="minutes long: SOAK=1, make repeat")


class Talker:
    """A user with very many messages."""

    def __init__(self, conn: Connection, messages: int) -> None:
        self.conn = conn
        self.user = uuid.uuid4()
        call(conn, "configure", p_changes={"embedding_model": "of the tests"})
        conn.execute("select setseed(0.5)")
        conn.execute(FILL.format(dimensions=DIMENSIONS).encode())
        conn.execute(TALK)
        self.talk(self.user, messages)

    def talk(self, user: uuid.UUID, messages: int) -> None:
        self.talk_all([user], messages)

    def talk_all(self, users: list[uuid.UUID], messages: int) -> None:
        self.conn.execute("select pg_temp.talk(%s, %s)", [users, messages])
        self.conn.execute("vacuum analyze recall.message_search, recall.sessions")

    def questions(self, count: int) -> list[tuple[str, str]]:
        """Vectors and words that ask for messages of the user."""
        found = rows(
            self.conn,
            "select o_vector::text, o_words from pg_temp.questions(%s, %s)",
            [self.user, count],
        )
        return [(row["o_vector"], row["o_words"]) for row in found]

    def find(self, *, exact: bool = False, **asked: Any) -> list[uuid.UUID]:
        """Search by an exact scan or among the candidates."""
        self.configure(exact_search_limit=10_000_000 if exact else 500)
        found = call(self.conn, "search_messages", p_user_id=self.user, **asked)
        return [row["message_id"] for row in found]

    def nearest(self, vector: str, limit: int = 10) -> list[uuid.UUID]:
        """The truly nearest messages."""
        found = rows(
            self.conn,
            "select message_id from recall.message_search where user_id = %s"
            " order by embedding <=> %s::halfvec limit %s",
            [self.user, vector, limit],
        )
        return [row["message_id"] for row in found]

    def configure(self, **changes: float | None) -> None:
        call(self.conn, "configure_user", p_user_id=self.user, p_changes=changes)

    def recall(self, questions: int) -> dict[str, float]:
        """Return the recall at ten of a search among the candidates, against an exact scan."""
        asked = self.questions(questions)
        self.configure(**dict.fromkeys(LENT, 0))
        right = {
            "brute force": sum(
                len({*self.nearest(vector)} & {*self.find(p_query=None, p_query_embedding=vector)})
                for vector, _ in asked
            )
        }
        self.configure(**dict.fromkeys(LENT))
        for way in ("vector", "words", "both"):
            right[way] = 0
            for vector, words in asked:
                question = {
                    "p_query": None if way == "vector" else words,
                    "p_query_embedding": None if way == "words" else vector,
                }
                best = self.find(exact=True, **question)
                found = self.find(**question)
                assert len(best) == len(found) == 10
                assert found[0] in best[:2]
                right[way] += len({*best} & {*found})
        return {way: found / (10 * len(asked)) for way, found in right.items()}


@pytest.fixture(scope="module")
def talker(dsn: str) -> Iterator[Talker]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        yield Talker(conn, 3_000)


def test_the_likely_turns_are_the_best_of_all(talker: Talker) -> None:
    found = talker.recall(15)
    assert found["brute force"] >= 0.98
    assert min(found.values()) >= 0.9


def test_words_that_few_have_come_before_words_that_many_have(talker: Talker) -> None:
    rare, common = "word4999x", "word1"
    talker.conn.execute(
        "update recall.message_search"
        "   set search_vector = search_vector || to_tsvector('simple', %s)"
        " where user_id = %s and turn_index = 77",
        [rare, talker.user],
    )
    talker.conn.execute(
        "select recall._rewrite_word_blocks(user_id, session_id, 77, 77)"
        "  from recall.sessions where user_id = %s",
        [talker.user],
    )
    found = call(
        talker.conn, "search_messages", p_user_id=talker.user, p_query=f"{rare} {common}",
        p_limit=400,
    )  # fmt: skip
    assert {row["turn_index"] for row in found[:12]} == {77}
    with_words = [row for row in found if row["lexical"] > 0]
    assert len(with_words) > 300, "the limit is filled with turns that have the common word"


def plans(connect: Connect, user: uuid.UUID, **asked: Any) -> list[str]:
    """The nodes that compare turns or memories, of every plan behind a search of one who knows it.

    Of sessions there are a dozen, and ten messages are read of a few thousand: two ways to them
    cost the same, and an autovacuum in between tosses the coin.
    """
    reader = connect()
    asked["p_user_id"] = user
    for _ in range(7):
        assert len(call(reader, "search_messages", **asked)) == 10
    nodes = plan_nodes(reader, lambda: call(reader, "search_messages", **asked))
    return [node for node in nodes if re.search("message_search|memory", node)]


@pytest.mark.slow
def test_no_plan_depends_on_the_share_of_the_table(talker: Talker, connect: Connect) -> None:
    """Of one who owns nearly all of it, then a tenth; and of one who owns little, then less."""
    small = uuid.uuid4()
    talker.talk(small, 200)
    ((vector, words), *_) = talker.questions(1)
    ways: dict[str, dict[str, Any]] = {
        "by both": {"p_query": words, "p_query_embedding": vector},
        "by words": {"p_query": words},
        "by vector": {"p_query": None, "p_query_embedding": vector},
    }
    asked = [(user, way) for user in (small, talker.user) for way in ways]
    before = {one: plans(connect, one[0], **ways[one[1]]) for one in asked}
    for nodes in before.values():
        assert any("message_search" in node for node in nodes)
        assert not [node for node in nodes if "Seq Scan" in node]
    talker.talk_all([uuid.uuid4() for _ in range(18)], 1_500)
    for one, nodes in before.items():
        assert plans(connect, one[0], **ways[one[1]]) == nodes, one[1]


@pytest.mark.invariants
@pytest.mark.slow
@large
def test_recall_of_fifty_thousand_messages(db: Connection) -> None:
    found = Talker(db, 50_000).recall(20)
    assert found["brute force"] >= 0.98
    assert min(found.values()) >= 0.95
