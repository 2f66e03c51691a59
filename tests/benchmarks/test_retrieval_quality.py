"""The benchmark of retrieval quality: how it counts, that it runs, and what without its data."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import retrieval_quality
from support.servers import TestServer

SCORER = """
import json, sys
questions = [q for c in json.load(open(sys.argv[1])) for q in c["questions"]]
ranked = [json.loads(line)["ranked"] for line in open(sys.argv[2])]
print(len(questions), sum(q["evidence"][0] in r[:3] for q, r in zip(questions, ranked)))
"""


def conversation() -> dict[str, object]:
    texts = [
        "I bought a cello.",
        "How lovely!",
        "My sister moved to Oslo.",
        "Is it cold there?",
        "The train was late again.",
        "As always.",
        "We had rye bread.",
        "I like bread.",
    ]
    turns = [
        {"id": f"D1:{n}", "speaker": ("Ada", "Grace")[n % 2], "text": text}
        for n, text in enumerate(texts, start=1)
    ]
    return {
        "id": "talk", "speakers": ["Grace", "Ada"],
        "sessions": [{"n": 1, "at": "2026-01-02T10:00:00Z", "turns": turns}],
        "facts": [{"text": "Her sister lives in Oslo.", "evidence": ["D1:3"]}],
        "questions": [
            {"question": "Which instrument, a cello?", "category": "single_hop",
             "evidence": ["D1:1"]},
            {"question": "Where did the sister move?", "category": "multi_hop",
             "evidence": ["D1:3"]},
            {"question": "Who flew to the moon?", "category": "adversarial",
             "evidence": ["D1:8"]},
        ],
    }  # fmt: skip


def test_a_budget_is_filled_in_rank_order() -> None:
    ranking = ([10, 50, 10, 5], [True, False, True, True])
    assert [retrieval_quality.held(ranking, 4, budget) for budget in (9, 10, 20, 75)] == [
        0.25, 0.25, 0.5, 0.75]  # fmt: skip
    questions = [(ranking, 4), (([100], [True]), 1)]
    assert retrieval_quality.budget_for(questions, 0.25, 1000) == 20
    assert retrieval_quality.budget_for(questions, 0.8, 1000) == 100
    assert retrieval_quality.budget_for(questions, 0.95, 1000) is None


@pytest.mark.parametrize("given", [[], ["--data", "nowhere.json"], ["--data", __file__]])
def test_retrieval_quality_is_skipped_without_its_data(
    given: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["retrieval_quality.py", *given])
    assert retrieval_quality.main() == 0
    assert capsys.readouterr().out.startswith("left out: ")


@pytest.fixture
def command(server: TestServer, tmp_path: Path) -> list[str]:
    """The benchmark on a short conversation."""
    data, scorer = tmp_path / "talk.json", tmp_path / "score.py"
    data.write_text(json.dumps([conversation()]))
    scorer.write_text(SCORER)
    return ["retrieval_quality.py", "--data", str(data), "--scorer", str(scorer),
            "--dsn", server.admin_dsn]  # fmt: skip


@pytest.mark.slow
def test_command_prints_a_row_for_each_way_to_fill_a_prompt(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [*command, "--facts"])
    assert retrieval_quality.main() == 0
    assert capsys.readouterr().out.split()[0] == "3"
    monkeypatch.setattr(sys, "argv", [*command, "--tokens"])
    assert retrieval_quality.main() == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert [line.split(" | ")[0].strip("| ") for line in lines[2:]] == [
        "the newest turns", *retrieval_quality.FOR_TOKENS]  # fmt: skip
    newest, ours = (
        [int(cell) for cell in lines[place].strip("| ").split(" | ")[1:]] for place in (2, 6)
    )
    assert all(0 < mine < theirs for mine, theirs in zip(ours, newest, strict=True))


@pytest.mark.slow
def test_command_with_recall_prints_the_recall_of_a_user(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [*command, "--recall", "30"])
    assert retrieval_quality.main() == 0
    lines = capsys.readouterr().out.strip().splitlines()
    found = [line for line in lines if line.startswith("| the nearest")]
    # of the turns, then of random vectors
    assert found == 2 * [
        "| the nearest 10 | 1.0000 | 1.00 |",
        "| the nearest 50 | 1.0000 | 1.00 |",
    ]


def test_cached_vectors_are_read_from_a_private_folder_without_pickle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "embeddings"
    monkeypatch.setattr(retrieval_quality, "CACHE", folder)
    texts = ["I bought a cello.", "\u202e \x00 Wie schön"]
    first = retrieval_quality.Embeddings("some")
    vectors = first(texts)
    assert folder.stat().st_mode & 0o077 == 0
    again = retrieval_quality.Embeddings("some")
    monkeypatch.setattr(again, "_embedder", None)  # every vector comes from the file
    assert again(texts) == vectors

    poisoned = np.array([{"a": 1}], dtype=object)
    np.savez(folder / "some.npz", texts=poisoned, vectors=poisoned)
    with pytest.raises(ValueError, match="allow_pickle"):
        retrieval_quality.Embeddings("some")
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="this account alone"):
        retrieval_quality.Embeddings("some")
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError, match="this account alone"):
        retrieval_quality.Embeddings("some")


def test_no_program_unpickles() -> None:
    root = Path(__file__).resolve().parents[2]
    words = re.compile(r"^\s*(?:import|from) (?:pickle|shelve|dill|marshal|joblib)\b", re.MULTILINE)
    found = [
        str(path)
        for folder in ("benchmarks", "python", "examples", ".ci")
        for path in (root / folder).rglob("*.py")
        if words.search(path.read_text("utf-8"))
    ]
    assert found == []
