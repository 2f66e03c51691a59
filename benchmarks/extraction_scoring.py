"""Read the transcripts and their labels, and score an extraction against them.

This module calls neither a model nor a database. benchmarks/README.md defines the figures.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

TRANSCRIPTS = Path(__file__).with_name("extraction")
KINDS = frozenset(
    [
        "fact", "preference", "goal", "decision", "context", "feedback", "personal", "instruction",
    ]
)  # fmt: skip
CONFIDENCES = frozenset(("high", "medium", "low"))
LETTER = r"[0-9a-z_\u00df-\u052f]"  # scripts with blanks between words
DATE = re.compile(r"\d{4}(-\d\d){1,2}")
COMMON = frozenset(
    [
        "user",
        "about",
        "after",
        "also",
        "been",
        "before",
        "being",
        "does",
        "during",
        "from",
        "have",
        "into",
        "more",
        "most",
        "other",
        "over",
        "since",
        "some",
        "than",
        "that",
        "their",
        "them",
        "then",
        "there",
        "they",
        "this",
        "very",
        "wants",
        "want",
        "were",
        "what",
        "when",
        "which",
        "while",
        "will",
        "with",
        "would",
    ]
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that a memory may state, in any wording.

    Attributes:
        reference: the fact as a person would write it.
        words: a text states the fact when it holds one alternative of each. `|` separates
            alternatives, and `*` stands for any ending.
        unless: words of which the text holds none.
        importance: the least importance of a memory that states it.
        kinds: the kinds that it may have; empty allows any.
        confidences: those it may have (high, medium, low); empty allows any.
    """

    reference: str
    words: tuple[str, ...]
    unless: tuple[str, ...] = ()
    importance: float = 0.0
    kinds: tuple[str, ...] = ()
    confidences: tuple[str, ...] = ()

    def is_said_by(self, text: str) -> bool:
        """Tell whether a text states the fact."""
        plain = normal(text)
        return all(pattern(word).search(plain) for word in self.words) and not any(
            pattern(word).search(plain) for word in self.unless
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """Kind, importance and confidence (as a word) of a stored memory."""

    kind: str
    importance: float
    confidence: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation, the facts known before it, and the facts that must be known after it.

    Attributes:
        category: the behavior that it tests.
        name: the name of this transcript.
        messages: OpenAI messages, each with created_at.
        known: earlier memories: content, and optionally kind and slot.
        expected: facts that must be stored.
        kept: facts that were known and must still hold.
        allowed: facts that may be stored but are not required.
        forbidden: facts that must not be stored.
        ended: contents of known memories that must not be active any more.
    """

    category: str
    name: str
    messages: tuple[Mapping[str, Any], ...]
    known: tuple[Mapping[str, Any], ...] = ()
    expected: tuple[Fact, ...] = ()
    kept: tuple[Fact, ...] = ()
    allowed: tuple[Fact, ...] = ()
    forbidden: tuple[Fact, ...] = ()
    ended: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """Join the user's messages and earlier memories."""
        own = (message["content"] for message in self.messages if message["role"] == "user")
        return "\n".join((*own, *(memory["content"] for memory in self.known)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run on a transcript.

    Attributes:
        known: active memories that were known before.
        new: the other active memories except episodes, oldest first.
        error: the reason of a failed extraction, or None.
        standings: standings of active memories by text; a text without one is not rated.
        prompt_tokens: tokens of all requests.
        completion_tokens: tokens of all responses.
        microcents: their cost.
    """

    known: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    error: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    microcents: int = 0
    standings: Mapping[str, Standing] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """Counts, which add up over transcripts, and the figures made of them."""

    transcripts: int = 0
    failed: int = 0
    stored: int = 0
    right: int = 0
    allowed: int = 0
    hallucinated: int = 0
    duplicates: int = 0
    expected: int = 0
    found: int = 0
    states: int = 0
    right_states: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    microcents: int = 0
    importances: int = 0
    right_importances: int = 0
    kinds: int = 0
    right_kinds: int = 0
    confidences: int = 0
    right_confidences: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(
            *(getattr(self, item.name) + getattr(other, item.name) for item in fields(Score))
        )

    @property
    def precision(self) -> float | None:
        """Return right memories as a share of the stored ones that are not merely allowed."""
        return ratio(self.right, self.stored - self.allowed)

    @property
    def recall(self) -> float | None:
        """Return the share of the expected facts that were stored."""
        return ratio(self.found, self.expected)

    @property
    def hallucination_rate(self) -> float | None:
        """Return the share of stored memories that are forbidden or unsupported."""
        return ratio(self.hallucinated, self.stored)

    @property
    def duplicate_rate(self) -> float | None:
        """Return the share of stored memories that repeat an older active memory."""
        return ratio(self.duplicates, self.stored)

    @property
    def state(self) -> float | None:
        """Return the share of the known facts that ended, or stayed, as labeled."""
        return ratio(self.right_states, self.states)

    @property
    def importance(self) -> float | None:
        """Return the share of found facts whose memory has the demanded importance."""
        return ratio(self.right_importances, self.importances)

    @property
    def kind(self) -> float | None:
        """Return the share of found facts whose memory has a demanded kind."""
        return ratio(self.right_kinds, self.kinds)

    @property
    def confidence(self) -> float | None:
        """Return the share of found facts whose memory has a demanded confidence."""
        return ratio(self.right_confidences, self.confidences)

    def figures(self) -> dict[str, float | int | None]:
        """Return counts and figures, for a file."""
        counts = {item.name: getattr(self, item.name) for item in fields(Score)}
        return counts | {
            "precision": self.precision,
            "recall": self.recall,
            "hallucination_rate": self.hallucination_rate,
            "duplicate_rate": self.duplicate_rate,
            "state": self.state,
            "importance": self.importance,
            "kind": self.kind,
            "confidence": self.confidence,
        }


@dataclass(frozen=True, slots=True)
class Judgment:
    """The score of one transcript, and the class of each stored memory.

    Attributes:
        score: the counts.
        memories: each new memory with right, allowed, duplicate, extra, forbidden or unsupported.
        missed: references of expected facts that no memory states.
        wrong_states: known contents that should have ended, and kept facts that were lost.
        misrated: found facts with a wrong kind, importance or confidence.
    """

    score: Score
    memories: tuple[tuple[str, str], ...]
    missed: tuple[str, ...]
    wrong_states: tuple[str, ...]
    misrated: tuple[str, ...] = ()


def judge(transcript: Transcript, outcome: Outcome) -> Judgment:
    """Compare the active memories after a transcript with its labels."""
    wanted = (*transcript.expected, *transcript.kept)
    covered = {
        fact for fact in (*wanted, *transcript.allowed) if any(map(fact.is_said_by, outcome.known))
    }
    memories = []
    found: set[Fact] = set()
    for text in outcome.new:
        said = {fact for fact in (*wanted, *transcript.allowed) if fact.is_said_by(text)}
        if any(fact.is_said_by(text) for fact in transcript.forbidden):
            verdict = "forbidden"
        elif said and said <= covered:
            verdict = "duplicate"
        elif said.intersection(wanted):
            verdict = "right"
        elif said:
            verdict = "allowed"
        else:
            verdict = "extra" if is_supported(text, transcript.said) else "unsupported"
        if verdict != "forbidden":
            covered |= said
            found |= said
        memories.append((text, verdict))

    missed = [fact.reference for fact in transcript.expected if fact not in found]
    stale = [text for text in transcript.ended if text in outcome.known]
    lost = [fact.reference for fact in transcript.kept if fact not in covered]
    rated, misrated = judge_standings(transcript, outcome, memories)
    verdicts = [verdict for _, verdict in memories]
    states = len(transcript.ended) + len(transcript.kept)
    # A repeated allowed fact counts as a duplicate, not as right.
    repeated = sum(
        verdict == "duplicate" and any(fact.is_said_by(text) for fact in wanted)
        for text, verdict in memories
    )
    return Judgment(
        Score(
            transcripts=1,
            failed=int(outcome.error is not None),
            stored=len(memories),
            right=verdicts.count("right") + repeated,
            allowed=verdicts.count("allowed") + verdicts.count("duplicate") - repeated,
            hallucinated=verdicts.count("forbidden") + verdicts.count("unsupported"),
            duplicates=verdicts.count("duplicate"),
            expected=len(transcript.expected),
            found=len(transcript.expected) - len(missed),
            states=states,
            right_states=states - len(stale) - len(lost),
            prompt_tokens=outcome.prompt_tokens,
            completion_tokens=outcome.completion_tokens,
            microcents=outcome.microcents,
        )
        + rated,
        tuple(memories),
        tuple(missed),
        tuple(stale + lost),
        misrated,
    )


def judge_standings(
    transcript: Transcript, outcome: Outcome, memories: Sequence[tuple[str, str]]
) -> tuple[Score, tuple[str, ...]]:
    """Rate kind, importance and confidence of the expected facts.

    One of several memories that state a fact suffices, and another may meet the next demand.
    """
    counts: dict[str, int] = {}
    misrated = []
    for fact in transcript.expected:
        stored = [
            outcome.standings[text]
            for text, verdict in memories
            if verdict != "forbidden" and text in outcome.standings and fact.is_said_by(text)
        ]
        if not stored:
            continue
        demands = (
            ("importance", fact.importance > 0, [item.importance for item in stored],
             lambda given, least=fact.importance: given >= least - 1e-6,
             f"at least {fact.importance}"),
            ("kind", bool(fact.kinds), [item.kind for item in stored],
             fact.kinds.__contains__, " or ".join(fact.kinds)),
            ("confidence", bool(fact.confidences), [item.confidence for item in stored],
             fact.confidences.__contains__, " or ".join(fact.confidences)),
        )  # fmt: skip
        for name, is_asked, given, is_met, asked in demands:
            if not is_asked:
                continue
            is_right = any(map(is_met, given))
            counts[f"{name}s"] = counts.get(f"{name}s", 0) + 1
            counts[f"right_{name}s"] = counts.get(f"right_{name}s", 0) + is_right
            if not is_right:
                found = ", ".join(map(str, given))
                misrated.append(f"{fact.reference}: {name} is {found}, not {asked}")
    return Score(**counts), tuple(misrated)


def by_category(judged: Iterable[tuple[Transcript, Judgment]]) -> dict[str, Score]:
    """Return the sum of each category."""
    scores: dict[str, Score] = {}
    for transcript, judgment in judged:
        before = scores.get(transcript.category, Score())
        scores[transcript.category] = before + judgment.score
    return scores


def is_supported(text: str, said: str) -> bool:
    """Tell whether the user's own words may support a text.

    Half of its longer words must begin like one of the user's, and the user must have written
    its numbers. Dates may be computed. A text in another script is not supported.
    """
    spoken = re.findall(r"\w+", normal(said))
    beginnings = {word[:4] for word in spoken}
    words = re.findall(r"\w+", DATE.sub(" ", normal(text)))
    numbers = [word for word in words if word.isdigit()]
    content = [word for word in words if len(word) >= 4 and not word.isdigit()]
    content = [word for word in content if word not in COMMON]
    behind = sum(word[:4] in beginnings for word in content)
    return bool(content) and 2 * behind >= len(content) and set(numbers) <= set(spoken)


def normal(text: str) -> str:
    """Normalize a text for comparison: no case, no accents, "not" written out."""
    plain = unicodedata.normalize("NFKD", text.replace("’", "'").casefold())
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return re.sub(r"\bcannot\b", "can not", re.sub(r"n't\b", " not", plain))


@cache
def pattern(word: str) -> re.Pattern[str]:
    """Return a regular expression that matches one alternative of a word."""
    found = []
    for alternative in word.split("|"):
        plain = re.escape(normal(alternative)).replace(r"\*", f"{LETTER}*")
        found.append(f"(?<!{LETTER}){plain}(?!{LETTER})")
    return re.compile("|".join(found))


def ratio(part: int, of: int) -> float | None:
    return part / of if of else None


def read_transcripts(folder: Path = TRANSCRIPTS) -> list[Transcript]:
    """Read all transcripts from one file for each category.

    Raises:
        ValueError: a file breaks the format in benchmarks/README.md; the message names the place.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        for item in content["transcripts"]:
            try:
                found.append(read_transcript(content["category"], item))
            except (KeyError, TypeError, ValueError) as error:
                name = item.get("name", "a transcript without a name")
                raise ValueError(f"{path.name}, {name}: {error!r}") from error
    if not found:
        raise ValueError(f"{folder} holds no transcripts")
    return found


def read_transcript(category: str, item: Mapping[str, Any]) -> Transcript:
    known_keys = {
        "name", "at", "known", "messages", "expected", "kept", "allowed", "forbidden", "ended"
    }  # fmt: skip
    if unknown := set(item) - known_keys:
        raise ValueError(f"unknown keys {sorted(unknown)}")
    start = datetime.fromisoformat(item["at"])
    contents = {memory["content"] for memory in item.get("known", ())}
    if strangers := set(item.get("ended", ())) - contents:
        raise ValueError(f"ended, but not known: {sorted(strangers)}")
    return Transcript(
        category,
        item["name"],
        tuple(
            {"created_at": (start + timedelta(minutes=minute)).isoformat()} | message
            for minute, message in enumerate(item["messages"])
        ),
        tuple(item.get("known", ())),
        **{key: read_facts(item.get(key, ())) for key in ("expected", "kept", "allowed")},
        forbidden=read_facts(item.get("forbidden", ())),
        ended=tuple(item.get("ended", ())),
    )


def read_facts(items: Sequence[Mapping[str, Any]]) -> tuple[Fact, ...]:
    facts = []
    for item in items:
        if unknown := set(item) - {
            "reference", "words", "not", "importance", "kinds", "confidences"
        }:  # fmt: skip
            raise ValueError(f"unknown keys {sorted(unknown)}")
        if isinstance(item["words"], str) or not item["words"]:
            raise ValueError(f"words is a list of at least one: {item['words']!r}")
        importance = item.get("importance", 0.0)
        if not 0 <= importance <= 1:
            raise ValueError(f"importance is {importance!r}, not from 0 to 1")
        for key, known in (("kinds", KINDS), ("confidences", CONFIDENCES)):
            if strangers := set(item.get(key, ())) - known:
                raise ValueError(f"{key}: unknown {sorted(strangers)}")
        facts.append(
            Fact(
                item["reference"],
                tuple(item["words"]),
                tuple(item.get("not", ())),
                importance,
                tuple(item.get("kinds", ())),
                tuple(item.get("confidences", ())),
            )
        )
    return tuple(facts)
