"""Measure how much of a context repeats the previous one, and how well its budget is used.

The benchmark runs a conversation of 200 turns through `compile_context` and `append_messages`, with
300 memories of the user and a new topic for every question. Providers bill a cached prefix at a
fraction of the price. So the first figure is the share of tokens that repeat the beginning of the
previous context byte for byte. The second is the efficiency of packing. It is the selected score,
divided by the best that fits the same budget (exact, by dynamic programming), times the share of
the budget that is filled.

    python benchmarks/context_economy.py [--dsn DSN] [--turns 200] [--json]
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import random
import statistics
import sys
import uuid
from typing import Any

import psycopg
from pgvector import HalfVector
from psycopg.types.json import Jsonb

from pgrecall.models import count_text_tokens
from target import database

DIMENSIONS = 64
MODEL = "gpt-4o-mini"
MEMORIES = 300
TOPICS = 40
WINDOWS = (8_192, 32_768, 128_000)
LAYOUTS = ("standard", "cache_stable")
MEMORY_BUDGETS = (300, 600, 1_200)
SYSTEM = (
    "You are a helpful assistant who knows the user for a long time. Answer briefly, ask when "
    "something is unclear, and never invent what you were not told. "
) * 3


class Conversation:
    """A user with memories and a conversation, all from one seed."""

    def __init__(self, db: psycopg.Connection[Any], seed: int = 1) -> None:
        self.db = db
        self.random = random.Random(seed)
        self.user = uuid.uuid4()
        self.centers = [self._direction() for _ in range(TOPICS)]
        self.words = [[self._word() for _ in range(8)] for _ in range(TOPICS)]

    def remember(self, count: int) -> None:
        """Store memories, one topic after the other."""
        texts, vectors = [], []
        for number in range(count):
            topic = number % TOPICS
            first, second, third = self.random.sample(self.words[topic], 3)
            length = self.random.randrange(2, 12)
            more = " ".join(self._word() for _ in range(length))
            texts.append(f"Prefers the {first} {second} for {third}, since {more}")
            vectors.append(self.vector(topic))
        self.db.execute(
            "select from recall.ingest_memories(p_user_id => %s, p_session_id => null,"
            " p_candidates => %s, p_embeddings => %b)",
            [self.user, Jsonb([{"content": text} for text in texts]), vectors],
        )

    def open(self, window: int) -> uuid.UUID:
        """Open a session of a model with this window."""
        row = self.db.execute(
            "select recall.open_session(p_user_id => %s, p_model_id => %s,"
            " p_context_window_size => %s, p_max_response_tokens => 500, p_system_prompt => %s)",
            [self.user, MODEL, window, SYSTEM],
        ).fetchone()
        assert row is not None
        return row[0]

    def turn(self) -> tuple[str, str, HalfVector]:
        """Return a question, its answer and the question's vector."""
        topic = self.random.randrange(TOPICS)
        first, second = self.random.sample(self.words[topic], 2)
        talk = " ".join(self._word() for _ in range(self.random.randrange(5, 40)))
        said = " ".join(self._word() for _ in range(self.random.randrange(30, 120)))
        return f"Which {first} is good for {second}? {talk}", said, self.vector(topic)

    def vector(self, topic: int) -> HalfVector:
        """Return a direction near a topic."""
        center = self.centers[topic]
        own = self._direction()
        return HalfVector([0.8 * c + 0.6 * o for c, o in zip(center, own, strict=True)])

    def _direction(self) -> list[float]:
        numbers = [self.random.gauss(0, 1) for _ in range(DIMENSIONS)]
        length = math.sqrt(sum(number * number for number in numbers))
        return [number / length for number in numbers]

    def _word(self) -> str:
        return "".join(
            self.random.choice("bdfgklmnprstv") + self.random.choice("aeiou") for _ in range(3)
        )


@functools.lru_cache(maxsize=100_000)
def tokens(text: str) -> int:
    """Count the tokens of a text."""
    return count_text_tokens(text, MODEL)


def repeated(before: list[str], now: list[str]) -> tuple[int, int]:
    """Return how many tokens repeat the beginning of the previous context, and the total."""
    same = 0
    for old, new in zip(before, now, strict=False):
        if old == new:
            same += tokens(new)
            continue
        length = next(
            (n for n, pair in enumerate(zip(old, new, strict=False)) if len(set(pair)) > 1), None
        )
        same += tokens(new[: min(len(old), len(new)) if length is None else length])
        break
    return same, sum(map(tokens, now))


def economy(conversation: Conversation, window: int, turns: int, layout: str) -> dict[str, float]:
    """Run a conversation and return the shares of repeated tokens."""
    db, session = conversation.db, conversation.open(window)
    before: list[str] = []
    same = total = used = 0
    shares, cuts = [], 0
    for number in range(turns):
        question, answer, vector = conversation.turn()
        row = db.execute(
            "select recall.compile_context(%s, %s, p_query_embedding => %s, p_options => %s)",
            [
                conversation.user,
                session,
                vector,
                Jsonb({"layout": layout, "current_message": question}),
            ],
        ).fetchone()
        assert row is not None
        # role and text of each message sent, in order
        now = [f"<{message['role']}>{message['content']}" for message in row[0]["messages"]]
        if number:
            kept, size = repeated(before, now)
            shares.append(kept / size)
            same, total = same + kept, total + size
        used += row[0]["budget"]["total"]
        cuts += row[0]["truncated"]
        before = now
        db.execute(
            "select from recall.append_messages(%s, %s, %s)",
            [
                conversation.user,
                session,
                Jsonb(
                    [
                        {"role": "user", "content": question, "token_count": tokens(question)},
                        {"role": "assistant", "content": answer, "token_count": tokens(answer)},
                    ]
                ),
            ],
        )
    return {
        "repeated": same / total,
        "median_turn": statistics.median(shares),
        "worst_turn": min(shares),
        "mean_tokens": total / len(shares),
        "cut_turns": cuts,
    }


def efficiency(conversation: Conversation, budget: int, turns: int) -> dict[str, float]:
    """Compare the packed memories with the best packing of the same budget."""
    db, session = conversation.db, conversation.open(WINDOWS[0])
    found, filled, best = [], [], []
    for _ in range(turns):
        question, _, vector = conversation.turn()
        options = Jsonb({"memory_budget": budget, "task": "knowledge", "min_match": 0})
        arguments = [conversation.user, session, question, vector, options]
        rows = db.execute(
            "select token_count, score, taken  from recall.explain_context(%s, %s, %s, %s, %s)",
            arguments,
        ).fetchall()
        row = db.execute(
            "select (recall.compile_context(%s, %s, %s, %s, %s) -> 'budget' -> 'memory')::int",
            arguments,
        ).fetchone()
        assert row is not None
        packed = sum(count for count, _, taken in rows if taken)
        room = budget - (row[0] - packed)  # less heading and delimiters
        if sum(count for count, _, _ in rows) < room:
            continue  # too few to fill the budget
        selected = sum(score for _, score, taken in rows if taken)
        best.append(selected / knapsack([(count, score) for count, score, _ in rows], room))
        filled.append(row[0] / budget)
        found.append(best[-1] * filled[-1])
    return {
        "contexts": len(found),
        "efficiency": statistics.fmean(found),
        "worst": min(found),
        "score": statistics.fmean(best),
        "filled": statistics.fmean(filled),
    }


def knapsack(items: list[tuple[int, float]], room: int) -> float:
    """Return the largest sum of scores whose tokens fit."""
    best = [0.0] * (room + 1)
    for size, score in items:
        for place in range(room, size - 1, -1):
            best[place] = max(best[place], best[place - size] + score)
    return best[room]


def measure(dsn: str | None, turns: int) -> dict[str, Any]:
    """Measure both."""
    with database(dsn, dimensions=DIMENSIONS) as db:
        conversation = Conversation(db)
        conversation.remember(MEMORIES)
        return {
            "turns": turns,
            "prefix": [
                {"layout": layout, "window": window} | economy(conversation, window, turns, layout)
                for window in WINDOWS
                for layout in LAYOUTS
            ],
            "packing": [
                {"budget": budget} | efficiency(conversation, budget, turns)
                for budget in MEMORY_BUDGETS
            ],
        }


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN of a server with pgvector")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="one JSON document")
    options = parser.parse_args()

    figures = measure(options.dsn, options.turns)
    if options.json:
        json.dump(figures, sys.stdout, indent=2)
        return
    print(
        "| window | layout | repeats the prefix | median turn | worst turn | tokens | cut turns |"
    )
    print("|---|---|---|---|---|---|---|")
    for row in figures["prefix"]:
        print(
            f"| {row['window']:,} | {row['layout']} | {row['repeated']:.1%} "
            f"| {row['median_turn']:.1%} | {row['worst_turn']:.1%} | {row['mean_tokens']:,.0f} "
            f"| {row['cut_turns']} |"
        )
    print("\n| memory budget | η | worst | score ÷ best | filled | contexts |")
    print("|---|---|---|---|---|---|")
    for row in figures["packing"]:
        print(
            f"| {row['budget']:,} | {row['efficiency']:.3f} | {row['worst']:.3f} "
            f"| {row['score']:.3f} | {row['filled']:.1%} | {row['contexts']} |"
        )


if __name__ == "__main__":
    main()
