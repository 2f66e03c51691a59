"""The examination of the whole: what it counts as stored, refused, out of reach and covered."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import memory_exam
import retrieval_quality
from support.servers import TestServer

TEXTS = [
    ("Ada", "I bought a cello."),
    ("Grace", "How lovely! I play the oboe."),
    ("Ada", "My sister moved to Oslo."),
    ("Grace", "Is it cold there?"),
]


def conversation() -> dict[str, object]:
    turns = [{"id": f"D1:{n}", "speaker": speaker, "text": text}
             for n, (speaker, text) in enumerate(TEXTS, start=1)]  # fmt: skip
    return {
        "id": "talk", "speakers": ["Ada", "Grace"],
        "sessions": [{"n": 1, "at": "2026-01-02T10:00:00+00:00", "turns": turns}],
        "facts": [
            {"speaker": "Ada", "text": "Ada bought a cello.", "evidence": ["D1:1"]},
            {"speaker": "Ada", "text": "Ada's sister lives in Oslo.", "evidence": ["D1:3"]},
            {"speaker": "Ada", "text": "Ada finds it cold in Oslo.", "evidence": ["D1:4"]},
            {"speaker": "Grace", "text": "Grace plays the oboe.", "evidence": ["D1:2"]},
        ],
        "questions": [
            {"question": "Did Ada buy a cello?", "category": "single_hop", "evidence": ["D1:1"]},
            {"question": "Who flew to the moon?", "category": "adversarial", "evidence": ["D1:4"]},
        ],
    }  # fmt: skip


@pytest.mark.slow
def test_exam_counts_stored_refused_and_unreachable_facts(
    server: TestServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A fact that only the assistant's turn says is refused; a doubtful one stays out of reach."""
    sure = {"Ada bought a cello.": "high", "Ada's sister lives in Oslo.": "low"}
    monkeypatch.setattr(memory_exam, "confidence_of", lambda text: sure.get(text, "medium"))
    data = tmp_path / "talk.json"
    data.write_text(json.dumps([conversation()]))
    monkeypatch.setattr(
        sys, "argv",
        ["memory_exam.py", "--data", str(data), "--dsn", server.admin_dsn, "--year"],
    )  # fmt: skip
    monkeypatch.setattr(retrieval_quality, "CACHE", tmp_path / "embeddings")
    assert memory_exam.main() == 1, "a quarter was refused"
    now, year = capsys.readouterr().out.split("After a year:")
    for table, lost in ((now, "| 0 | 0 | 1 | 1 | 25.0 % |"), (year, "| 0 | 1 | 1 | 2 | 50.0 % |")):
        assert "| stored | 1 | 1 | 1 | 3 | 75.0 % |" in table
        assert "| refused | 0 | 1 | 0 | 1 | 25.0 % |" in table
        assert f"| stored, but out of reach of the next session {lost}" in table
        assert "| single_hop | 1 | 100.0 | 100.0 |" in table
        assert "adversarial" not in table
    assert "8 turns; jobs: " in now, "each speaker is the user once"


@pytest.mark.parametrize("given", [[], ["--data", "nowhere.json"]])
def test_memory_exam_is_skipped_without_its_data(
    given: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["memory_exam.py", *given])
    assert memory_exam.main() == 0
    assert capsys.readouterr().out.startswith("left out: ")
