"""The evaluation of extraction: its transcripts, its figures, and the command over real HTTP."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import extraction_quality
from extraction_scoring import (
    Fact,
    Outcome,
    Score,
    Standing,
    Transcript,
    by_category,
    is_supported,
    judge,
    read_transcripts,
)
from support.scripted_model import PROMPTS
from support.scripted_openai import Request, Scripted, Status, scripted_openai
from support.servers import TestServer

SET = read_transcripts()
CATEGORIES = {
    "preferences", "goals", "corrections", "contradictions", "small talk", "sarcasm",
    "assistant only", "third persons", "dates", "injected instructions", "multilingual",
    "tool outputs", "hypotheticals", "negations", "lists", "changing slots", "endings",
    "repetition", "texts",
}  # fmt: skip


# The set


def test_the_set_covers_every_category() -> None:
    sizes = Counter(item.category for item in SET)
    assert len(SET) >= 45
    assert set(sizes) == CATEGORIES
    assert min(sizes.values()) >= 3
    assert len({item.name for item in SET}) == len(SET), "each has a name of its own"


@pytest.mark.parametrize("transcript", SET, ids=lambda item: item.name.replace(" ", "_"))
def test_a_transcript_is_well_formed(transcript: Transcript) -> None:
    """Each fact is said by its own reference; none is forbidden, and none said by another's."""
    facts = (*transcript.expected, *transcript.kept, *transcript.allowed)
    assert facts or transcript.forbidden or transcript.ended
    for fact in (*facts, *transcript.forbidden):
        assert fact.is_said_by(fact.reference), fact.reference
    for fact in facts:
        wanted = (*transcript.expected, *transcript.kept)
        said = {other.reference for other in wanted if other.is_said_by(fact.reference)}
        assert fact in transcript.allowed or said == {fact.reference}
        for other in transcript.forbidden:
            assert not other.is_said_by(fact.reference), (other.reference, fact.reference)
    for memory in transcript.known:
        said = [fact for fact in transcript.expected if fact.is_said_by(memory["content"])]
        assert said == [], "what is known already is not expected"
    for fact in transcript.kept:
        assert any(fact.is_said_by(memory["content"]) for memory in transcript.known)
    assert any(message["role"] == "user" for message in transcript.messages)


def test_the_references_are_a_perfect_answer() -> None:
    for transcript in SET:
        kept = [memory["content"] for memory in transcript.known
                if memory["content"] not in transcript.ended]  # fmt: skip
        said = [fact.reference for fact in transcript.expected]
        standings = {
            fact.reference: Standing((*fact.kinds, "fact")[0], fact.importance,
                                     (*fact.confidences, "high")[0])
            for fact in transcript.expected
        }  # fmt: skip
        judgment = judge(transcript, Outcome(tuple(kept), tuple(said), standings=standings))
        assert [verdict for _, verdict in judgment.memories] == ["right"] * len(said)
        assert judgment.misrated == ()
        assert judgment.missed == judgment.wrong_states == ()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"surprise": []}, "surprise"),
        ({"expected": [{"reference": "x", "words": "x"}]}, "words is a list"),
        ({"expected": [{"reference": "x", "words": []}]}, "words is a list"),
        ({"expected": [{"words": ["x"]}]}, "reference"),
        ({"expected": [{"reference": "x", "words": ["x"], "nott": []}]}, "nott"),
        ({"expected": [{"reference": "x", "words": ["x"], "importance": 2}]}, "importance is 2"),
        ({"expected": [{"reference": "x", "words": ["x"], "kinds": ["hobby"]}]}, "hobby"),
        ({"expected": [{"reference": "x", "words": ["x"], "confidences": ["0.9"]}]}, "0.9"),
        ({"ended": ["User likes tea."]}, "not known"),
        ({"at": "soon"}, "soon"),
    ],
)
def test_a_broken_transcript_is_named(
    tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    item = {"name": "broken", "at": "2025-01-01T00:00:00Z", "messages": []} | change
    content = {"category": "c", "transcripts": [item]}
    (tmp_path / "c.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"c\.json, broken: .*{complaint}"):
        read_transcripts(tmp_path)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no transcripts"):
        read_transcripts(tmp_path)


def test_messages_are_a_minute_apart() -> None:
    first = next(item for item in SET if item.name == "tomorrow")
    assert [message["created_at"] for message in first.messages[:2]] == [
        "2025-09-10T15:00:00+00:00", "2025-09-10T15:01:00+00:00",
    ]  # fmt: skip


# The matching


@pytest.mark.parametrize(
    ("words", "unless", "text", "is_said"),
    [
        (["dog", "brutus"], [], "The user's dog is called BRUTUS.", True),
        (["dog", "brutus"], [], "The user's dogs like Brutus.", False),
        (["dog*", "brutus"], [], "The user's dogs like Brutus.", True),
        (["prefer*|like*", "tea"], [], "User preferred tea.", True),
        (["nestle"], [], "User works at Nestlé", True),
        (["tea"], ["not"], "User doesn't like tea.", False),
        (["tea"], ["not"], "User can’t drink tea.", False),
        (["45"], [], "User was born in 1945.", False),
        (["doesn't"], [], "User does not smoke.", True),
        (["猫", "二|2"], [], "ユーザーは猫を2匹飼っている", True),
        (["green tea"], [], "User likes tea that is green.", False),
        (["fly.io"], [], "User hosts on flyzio.", False),
    ],
)
def test_how_a_fact_is_recognized(
    words: list[str], unless: list[str], text: str, is_said: bool
) -> None:
    assert Fact("", tuple(words), tuple(unless)).is_said_by(text) is is_said


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        ("User wants a second opinion on the roof.", True),
        ("User's roof leaks in 2 places.", True),
        ("User's roof leaks in 5 places.", False),
        ("User is a carpenter from Vienna.", False),
        ("User asked about the roof on 2025-03-04.", True),
        ("Ja.", False),
    ],
)
def test_what_the_user_may_have_said(text: str, is_it: bool) -> None:
    said = "I asked for a second opinion: my roof is leaking in 2 places."
    assert is_supported(text, said) is is_it


# The figures, counted by hand

TALK = Transcript(
    "talk",
    "tea and dogs",
    ({"role": "user", "content": "I like tea, my dog Rex barks, I left Rome, my flute is blue."},),
    known=({"content": "User lives in Rome."}, {"content": "User is a baker."}),
    expected=(Fact("User likes tea.", ("tea",), ("not",)), Fact("User has a dog.", ("dog|rex",))),
    kept=(Fact("User is a baker.", ("bak*",)),),
    allowed=(Fact("The dog barks.", ("barks",), ("has",)),),
    forbidden=(Fact("User likes cats.", ("cat*",)),),
    ended=("User lives in Rome.",),
)
KEPT = "User is a baker."
ROME = "User lives in Rome."


def figures(*new: str, known: tuple[str, ...] = (KEPT,)) -> list[float | None]:
    score = judge(TALK, Outcome(known, new)).score
    return [score.precision, score.recall, score.hallucination_rate, score.duplicate_rate,
            score.state]  # fmt: skip


def verdicts(*new: str, known: tuple[str, ...] = (KEPT,)) -> list[str]:
    return [verdict for _, verdict in judge(TALK, Outcome(known, new)).memories]


def test_expected_facts_score_full_recall_and_precision() -> None:
    assert figures("User likes tea.", "User has a dog.") == [1, 1, 0, 0, 1]


def test_paraphrases_count_as_the_expected_facts() -> None:
    assert figures("The user is fond of tea.", "A dog named Rex is the user's.") == [1, 1, 0, 0, 1]


def test_memory_with_two_facts_counts_for_both() -> None:
    assert figures("User likes tea and has a dog.") == [1, 1, 0, 0, 1]


def test_empty_result_misses_every_expected_fact() -> None:
    assert figures() == [None, 0, None, None, 1]
    assert judge(TALK, Outcome((KEPT,))).missed == ("User likes tea.", "User has a dog.")


def test_forbidden_and_unsupported_facts_score_zero() -> None:
    """Forbidden, unsupported, and what is over is still believed while what holds is gone."""
    new = ("User likes cats.", "User is the mayor of Berlin.")
    assert verdicts(*new, known=(ROME,)) == ["forbidden", "unsupported"]
    assert figures(*new, known=(ROME,)) == [0, 0, 1, 0, 0]
    assert judge(TALK, Outcome((ROME,), new)).wrong_states == (ROME, KEPT)


def test_second_wording_of_a_fact_counts_as_a_duplicate() -> None:
    """Of three about tea two are too many: they are right, and they are duplicates."""
    new = ("User likes tea.", "User drinks tea.", "User has a dog.", "Tea is what the user likes.")
    assert verdicts(*new) == ["right", "duplicate", "right", "duplicate"]
    assert figures(*new) == [1, 1, 0, 0.5, 1]


def test_what_was_known_is_a_duplicate() -> None:
    assert verdicts("User works as a baker.") == ["duplicate"]
    assert figures("User works as a baker.", "User likes tea.") == [1, 0.5, 0, 0.5, 1]


def test_what_was_known_may_be_replaced() -> None:
    """The old words are gone, the new ones say it: nothing is lost and nothing is doubled."""
    assert verdicts("User works as a baker.", known=()) == ["right"]
    assert figures("User works as a baker.", known=()) == [1, 0, 0, 0, 1]


def test_a_memory_that_adds_something_is_no_duplicate() -> None:
    assert verdicts("User likes tea.", "User's dog gets tea.") == ["right", "right"]


def test_what_is_allowed_counts_neither_way() -> None:
    new = ("User likes tea.", "Rex barks at night.", "User's flute is blue.")
    assert verdicts(*new) == ["right", "right", "extra"]
    new = ("User likes tea.", "It barks at night.", "User's flute is blue.")
    assert verdicts(*new) == ["right", "allowed", "extra"]
    assert figures(*new) == [0.5, 0.5, 0, 0, 1]
    assert verdicts("It barks.", "It barks a lot.") == ["allowed", "duplicate"]
    assert figures("It barks.", "It barks a lot.") == [None, 0, 0, 0.5, 1]


def test_text_with_expected_and_forbidden_fact_counts_as_forbidden() -> None:
    """A text that says both is wrong, and what it says besides is not found by it."""
    assert figures("User likes tea and cats.") == [0, 0, 1, 0, 1]


def test_an_unmatched_negation_is_not_the_fact() -> None:
    assert figures("User does not like tea.") == [0, 0, 0, 0, 1]


def test_totals_are_sums_of_counts_and_failed_runs_store_nothing() -> None:
    """Sums of counts, not means of shares; a failed run has stored nothing."""
    good = judge(TALK, Outcome((KEPT,), ("User likes tea.", "User has a dog."), None, 100, 10, 7))
    bad = judge(TALK, Outcome((KEPT, ROME), (), "refused", 50, 5, 3))
    third = judge(TALK, Outcome((KEPT,), ("User likes cats.",)))
    (total,) = by_category([(TALK, good), (TALK, bad), (TALK, third)]).values()
    assert (total.transcripts, total.failed, total.stored) == (3, 1, 3)
    assert (total.precision, total.recall) == (pytest.approx(2 / 3), pytest.approx(2 / 6))
    assert total.hallucination_rate == pytest.approx(1 / 3)
    assert total.state == pytest.approx(5 / 6)
    assert (total.prompt_tokens, total.completion_tokens, total.microcents) == (150, 15, 10)
    assert total + Score() == total


# How it is stored

RATED = Transcript(
    "talk", "tea", ({"role": "user", "content": "I like tea and I am a baker."},),
    expected=(
        Fact("User likes tea.", ("tea",), (), 0.6, ("preference",), ("high",)),
        Fact("User is a baker.", ("baker",), (), 0.8),
        Fact("User has a dog.", ("dog",), (), 0.5),
    ),
    forbidden=(Fact("User likes black tea.", ("black",)),),
)  # fmt: skip
TEA, BAKER = "User likes tea.", "User is a baker."


def rated(**standings: Standing) -> tuple[list[float | None], tuple[str, ...]]:
    names = {"tea": TEA, "baker": BAKER, "leaves": "User likes tea leaves.",
             "black": "User likes black tea."}  # fmt: skip
    stored = {names[name]: standing for name, standing in standings.items()}
    judgment = judge(RATED, Outcome((), tuple(stored), standings=stored))
    score = judgment.score
    return [score.importance, score.kind, score.confidence], judgment.misrated


def test_importance_kind_and_confidence_as_asked() -> None:
    tea = Standing("preference", 0.6, "high")
    assert rated(tea=tea, baker=Standing("goal", 0.9, "low")) == ([1, 1, 1], ())
    assert rated(tea=tea) == ([1, 1, 1], ()), "what was not found is missed, not misrated"


def test_importance_below_the_minimum_is_a_miss() -> None:
    figures, misrated = rated(
        tea=Standing("fact", 0.59, "medium"), baker=Standing("fact", 0.8, "low")
    )
    assert figures == [0.5, 0, 0]
    assert misrated == (
        "User likes tea.: importance is 0.59, not at least 0.6",
        "User likes tea.: kind is fact, not preference",
        "User likes tea.: confidence is medium, not high",
    )


def test_one_of_several_memories_suffices_but_no_forbidden_one() -> None:
    low, high = Standing("fact", 0.1, "high"), Standing("preference", 0.7, "low")
    assert rated(tea=low, leaves=high) == ([1, 1, 1], ())
    assert rated(tea=low, black=high)[0] == [0, 0, 1]


def test_without_a_standing_nothing_is_judged() -> None:
    judgment = judge(RATED, Outcome((), (TEA, BAKER)))
    assert (judgment.score.found, judgment.score.importances, judgment.misrated) == (2, 0, ())
    assert judgment.score.importance is None


def test_the_texts_ask_for_importance_kind_and_confidence() -> None:
    """Every expected fact of the texts' own cases says how it must be stored."""
    texts = [item for item in SET if item.category == "texts"]
    assert len(texts) >= 12
    facts = [fact for item in texts for fact in item.expected]
    assert all(fact.importance > 0 and fact.kinds and fact.confidences for fact in facts)
    assert {kind for fact in facts for kind in fact.kinds} >= {
        "fact", "preference", "goal", "decision", "context", "feedback", "personal", "instruction",
    }  # fmt: skip
    by_name = {item.name: item.expected[0].importance for item in texts if item.expected}
    assert (by_name["authentic resume"], by_name["CTO role"]) == (0.6, 0.8)


# The command


def fact(content: str, *turns: int, slot: str | None = None) -> dict[str, Any]:
    return {
        "content": content, "kind": "fact", "slot": slot, "importance": 0.6, "confidence": "high",
        "correction": False, "tags": [], "turns": list(turns),
    }  # fmt: skip


ANSWERS = {
    "moved my side project": [fact("User switched the side project from Postgres to SQLite.", 1)],
    "sister Ines": [fact("User's sister Ines is allergic to shellfish.", 1),
                    fact("User owns a yacht in Monaco.", 1)],
    "left Siemens": [fact("User works at Voltaro.", 1, slot="employer")],
    "stopped using Notion": [fact("User stopped using Notion.", 1)],
    "That worked": [],
    "CTO role": [fact("User wants a CTO role at an early-stage fintech startup.", 1)],
}  # fmt: skip
DECISIONS = {"User switched the side": ("UPDATE", 1), "User stopped using": ("DELETE", 1)}
SAID = ("database", "sister's allergy", "new employer", "stopped using", "thanks", "CTO role")


def answer(request: Request) -> Scripted:
    instructions, data = (message["content"] for message in request["messages"])
    if instructions.startswith(PROMPTS["extract"]):
        facts = next(facts for said, facts in ANSWERS.items() if said in data)
        return {"facts": facts, "episodes": [{"content": "User talked.", "turns": [1, 2]}]}
    decisions = []
    for number, content in re.findall(r"(?m)^(\d+)\. (.*)", data):
        verb, target = next(
            (said for start, said in DECISIONS.items() if content.startswith(start)), ("ADD", None)
        )
        decisions.append({"candidate": int(number), "decision": verb, "target": target})
    return {"decisions": decisions}


@pytest.mark.slow
def test_command_prints_a_table_and_writes_a_file(
    server: TestServer, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Six transcripts through worker and database: the table, the file, and what went wrong."""
    path = tmp_path / "eval.json"
    monkeypatch.setenv("EVAL_MODEL", "gpt-4o-mini")
    with scripted_openai(respond=answer) as openai:
        monkeypatch.setenv("EVAL_BASE_URL", openai.base_url)
        only = [part for name in SAID for part in ("--only", name)]
        status = extraction_quality.main(
            ["--dsn", server.admin_dsn, "--json", str(path), "--wrong", *only]
        )
        asked = len(openai.chats)
    output = capsys.readouterr().out
    document = json.loads(path.read_text(encoding="utf-8"))
    found = {item["name"]: item for item in document["transcripts"]}
    assert status == 0
    assert set(found) == set(SAID)
    assert [item["error"] for item in found.values()] == [None] * 6
    assert [memory["verdict"] for memory in found["sister's allergy"]["memories"]] == [
        "right", "unsupported",
    ]  # fmt: skip
    assert found["database"]["memories"][0]["verdict"] == "right"
    every = document["all"]
    assert (every["stored"], every["right"], every["expected"], every["found"]) == (5, 4, 4, 4)
    assert (every["precision"], every["recall"]) == (0.8, 1.0)
    assert (every["hallucination_rate"], every["duplicate_rate"]) == (0.2, 0.0)
    assert (every["states"], every["right_states"]) == (3, 3)
    assert every["prompt_tokens"] == 1000 * asked
    assert every["completion_tokens"] == 100 * asked
    assert every["microcents"] > 0
    assert "sister's allergy: unsupported: User owns a yacht in Monaco." in output
    assert re.search(
        r"(?m)^third persons +1 +0 +2 +50\.0 % +100\.0 % +50\.0 % +0\.0 %( +-){4}$", output
    )
    assert re.search(r"(?m)^all +6 +0 +5 +80\.0 % +100\.0 % +20\.0 % +0\.0 % +100\.0 %"
                     r" +0\.0 % +0\.0 % +100\.0 %$", output)  # fmt: skip
    goal = "CTO role: misrated: User looks for a CTO role at an early-stage fintech startup (seed"
    assert f"{goal} or Series A, under 30 people).: importance is 0.6, not at least 0.8" in output
    assert "kind is fact, not goal" in output
    assert found["CTO role"]["importance"] == 0
    assert found["CTO role"]["confidence"] == 1
    assert "dollars" in output


@pytest.mark.slow
def test_command_reports_a_failed_extraction(
    server: TestServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "x")
    with scripted_openai(respond=lambda _: Status(401, "wrong key")) as openai:
        status = extraction_quality.main(
            ["--dsn", server.admin_dsn, "--base-url", openai.base_url, "--model", "gpt-4-of-nobody",
             "--api-key-env", "SOME_KEY", "--only", "database", "--wrong"]
        )  # fmt: skip
    output = capsys.readouterr().out
    assert status == 1
    assert re.search(r"(?m)^database: failed: .*wrong key", output)
    assert re.search(r"(?m)^contradictions +1 +1 +0 +- +0\.0 % +- +- +0\.0 %( +-){3}$", output)
    assert "the price is not known" in output


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "no endpoint is configured"),
        (["--model", "m"], "EVAL_BASE_URL"),
        (["--base-url", "http://localhost:1/v1"], "EVAL_MODEL"),
        (["--model", "m", "--api-key-env", "NO_SUCH_KEY"], "NO_SUCH_KEY is not set"),
        (["--model", "m", "--base-url", "http://localhost:1/v1", "--only", "nonsense"], "nonsense"),
        (["--model", "m", "--base-url", "http://localhost:1/v1", "--embedding", "x"], "unknown"),
    ],
)
def test_without_an_endpoint_it_says_what_to_set(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for name in ("EVAL_BASE_URL", "EVAL_MODEL", "EVAL_API_KEY_ENV", "NO_SUCH_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SystemExit) as stop:
        extraction_quality.main(arguments)
    assert stop.value.code == 2
    assert complaint in capsys.readouterr().err
