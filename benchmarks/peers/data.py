"""Generate the data of every contender from a seed: memories, questions and conversations.

Vectors are unit vectors around 200 topics. The cosine is about 0.6 within a topic and 0.2 across
topics, much as for embeddings of short sentences. A user has some twenty topics, the large user has
all of them. A question is about a topic of its user. Memories arrive in runs of ten for a user, in
the same order for every contender. No vector occurs twice.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

TOPICS = 200
TOPICS_OF_A_USER = 20
NEAREST = 50  # memories in the exact answer to a question
RUN = 10  # consecutive memories of one user, as from one conversation
BATCH = 100

COMMON, TOPIC, OWN = 0.45, 0.63, 0.63  # parts of a vector; the squares sum to about 1

SYLLABLES = [consonant + vowel for consonant in "bdfghklmnprstvwz" for vowel in "aeiou"]


@dataclass(frozen=True)
class Scale:
    """Sizes of the data and of the measurements.

    Attributes:
        users: ordinary users.
        memories: memories of an ordinary user.
        large: memories of the one large user.
        dimensions: dimensions of a vector.
        queries: timed searches of ordinary users.
        large_queries: timed searches of the large user.
        writes: memories written one by one.
        batches: written batches of 100 memories, each for a user of its own.
        messages: messages in the conversation before the clock starts.
        turns: timed appends.
        clients: concurrent processes.
        seconds: duration of their work.
        measures: the measured parts of the contenders.
    """

    users: int = 300
    memories: int = 50
    large: int = 20_000
    dimensions: int = 1_536
    queries: int = 300
    large_queries: int = 100
    writes: int = 200
    batches: int = 4
    messages: int = 200
    turns: int = 100
    clients: int = 4
    seconds: float = 5.0
    measures: tuple[str, ...] = ("memory", "conversation", "context")


SCALES = {
    "default": Scale(),
    "crowd": Scale(
        users=1_000, memories=200, dimensions=384, writes=50, batches=1, clients=2,
        measures=("memory",),
    ),
    "small": Scale(
        users=20, memories=20, large=300, dimensions=384, queries=60, large_queries=30, writes=30,
        batches=1, messages=60, turns=30, clients=4, seconds=1.0,
    ),
    "tiny": Scale(
        users=4, memories=12, large=40, dimensions=16, queries=10, large_queries=5, writes=5,
        batches=1, messages=20, turns=5, clients=1, seconds=0.2,
    ),
}  # fmt: skip


def write_data(folder: Path, scale: Scale, seed: int) -> None:
    """Write data.json and vectors.f32 into a folder; the same seed gives the same bytes."""
    maker = _Maker(np.random.default_rng(seed), scale.dimensions)
    users = [maker.uuid() for _ in range(scale.users)]
    large = maker.uuid()

    runs: list[list[list[str]]] = []
    rows = {}
    for user in [*users, large]:
        topics = maker.topics(TOPICS if user == large else TOPICS_OF_A_USER)
        count = scale.large if user == large else scale.memories
        rows[user] = [maker.text(int(maker.random.choice(topics))) for _ in range(count)]
        runs += [
            [[user, maker.texts[row]] for row in rows[user][start : start + RUN]]
            for start in range(0, count, RUN)
        ]
    maker.random.shuffle(runs)
    memories = [memory for run in runs for memory in run]

    asked = [users[n % len(users)] for n in range(scale.queries)]
    queries = [maker.query(user, rows[user]) for user in asked]
    large_queries = [maker.query(large, rows[large]) for _ in range(scale.large_queries)]
    writes = [
        [users[n % len(users)], maker.new_text(rows[users[n % len(users)]])]
        for n in range(scale.writes)
    ]
    batches = [
        [maker.uuid(), [maker.texts[maker.text(n % TOPICS)] for n in range(BATCH)]]
        for _ in range(scale.batches)
    ]
    document = {
        "scale": asdict(scale),
        "texts": maker.texts,
        "memories": memories,
        "queries": queries,
        "large_queries": large_queries,
        "writes": writes,
        "batches": batches,
        "conversation": {
            "user": users[0],
            "session": maker.uuid(),
            "clients": [[maker.uuid(), maker.uuid()] for _ in range(scale.clients)],
        },
    }
    (folder / "data.json").write_text(json.dumps(document), encoding="utf-8")
    np.stack(maker.vectors).tofile(folder / "vectors.f32")


class _Maker:
    """Texts and their vectors; a text and its vector have the same index."""

    def __init__(self, random: np.random.Generator, dimensions: int) -> None:
        self.random = random
        self.dimensions = dimensions
        self.texts: list[str] = []
        self.vectors: list[np.ndarray] = []
        self._topic_of: list[int] = []
        self._common = self._direction()
        self._centers = [self._direction() for _ in range(TOPICS)]
        self._words = [[self._word() for _ in range(6)] for _ in range(TOPICS)]

    def uuid(self) -> str:
        return str(uuid.UUID(bytes=self.random.bytes(16), version=4))

    def topics(self, count: int) -> np.ndarray:
        return self.random.choice(TOPICS, size=count, replace=False)

    def text(self, topic: int) -> int:
        """Add a memory of a topic and return its index."""
        first, second, third = self.random.choice(self._words[topic], 3, replace=False)
        return self._add(
            f"Prefers the {first} {second} to any other when it comes to {third}, "
            f"and has said so {len(self.texts)} times.",
            topic,
        )

    def new_text(self, rows: list[int]) -> str:
        """Add a memory of a topic that these memories have, and return its text."""
        return self.texts[self.text(self._topic_of[int(self.random.choice(rows))])]

    def query(self, user: str, rows: list[int]) -> dict[str, object]:
        """Return a question about a topic of the user, with its exact answer.

        `text` shares no word with any memory, so that a contender that mixes in words still ranks
        by the vector. `words` is natural wording. Both have the same vector.
        """
        topic = self._topic_of[int(self.random.choice(rows))]
        place = self._add(f"q{len(self.texts):07d}", topic)
        similarity = np.stack([self.vectors[row] for row in rows]) @ self.vectors[place]
        nearest = np.argsort(-similarity, kind="stable")[:NEAREST]
        first, second = self.random.choice(self._words[topic], 2, replace=False)
        return {
            "user": user,
            "text": self.texts[place],
            "words": f"Which {first} do I prefer for {second} ({self.texts[place]})?",
            "truth": [self.texts[rows[n]] for n in nearest],
        }

    def _add(self, text: str, topic: int) -> int:
        vector = (
            COMMON * self._common + TOPIC * self._centers[topic] + OWN * self._direction()
        ).astype(np.float32)
        self.texts.append(text)
        self.vectors.append(vector / np.linalg.norm(vector))
        self._topic_of.append(topic)
        return len(self.texts) - 1

    def _direction(self) -> np.ndarray:
        vector = self.random.standard_normal(self.dimensions, dtype=np.float32)
        return vector / np.linalg.norm(vector)

    def _word(self) -> str:
        return "".join(self.random.choice(SYLLABLES, 3))
