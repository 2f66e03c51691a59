"""Suites that others wrote for memories of agents, run against ours through adapters."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory_guard.bench.adapter import MemorySystemAdapter, RememberOutcome
from agent_memory_guard.bench.harness import SystemReport, run_suite
from agent_memory_guard.bench.scenarios import default_corpus
from agent_memory_guard.bench.scoring import score_report

from support import append, call, open_session

Connection = psycopg.Connection[Any]


@pytest.mark.slow
def test_edits_at_rest_are_reported(dsn: str, tmp_path: Path) -> None:
    """`agmi-check`: nine edits behind the functions' back, none of which is taken for genuine."""
    program = shutil.which("agmi-check", path=Path(sys.executable).parent)
    assert program, "agent-memory-integrity is a dependency of the tests"
    written = tmp_path / "edits.json"
    done = subprocess.run(
        [program, "--adapter", "support.agmi_adapter:PgrecallAdapter", "--json", str(written)],
        env=os.environ | {"AGMI_POSTGRES_URI": dsn, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    edits = json.loads(written.read_text(encoding="utf-8"))["edits"]
    assert len(edits) == 9
    assert {edit["edit"]: edit["verdict"] for edit in edits} == {
        edit["edit"]: "REPORTED" for edit in edits
    }, edits


PROVENANCE = {
    "external_tool": "tool_output",
    "agent_authored": "system_inferred",
    "user_input": "user_stated",
    "system": "fact",
}
"""How we know what a writer of theirs says."""


def guarded(conn: Connection, forced: str | None = None) -> type[MemorySystemAdapter]:
    """Return an adapter class; `forced` says that all comes from that source."""

    class Pgrecall(MemorySystemAdapter):
        """Writes in one session, and reads what the context of the next one holds."""

        name = "pgrecall"

        def __init__(self) -> None:
            self._user = uuid.uuid4()
            self._session = open_session(conn, self._user)

        def remember(
            self, key: str, value: Any, *, source_class: str = "external_tool"
        ) -> RememberOutcome:
            answer = call(
                conn,
                "remember",
                p_user_id=self._user,
                p_content=str(value),
                p_provenance=PROVENANCE[forced or source_class],
                p_session_id=self._session,
                p_metadata={"key": key},
            )
            kept = call(conn, "get_memory", p_user_id=self._user,
                        p_memory_id=answer[0]["memory_id"])[0]["content"]  # fmt: skip
            return RememberOutcome.STORED if kept == value else RememberOutcome.REDACTED

        def context_reset(self) -> None:
            call(conn, "close_session", p_user_id=self._user, p_session_id=self._session)
            self._session = open_session(conn, self._user)

        def recall(self, key: str) -> Any | None:
            append(conn, self._user, self._session, [{"role": "user", "content": "Go on."}])
            (row,) = call(
                conn,
                "compile_context",
                p_user_id=self._user,
                p_session_id=self._session,
                p_query=key,
                p_options={"selection": "all"},
            )
            taken = {memory["id"] for memory in row["compile_context"]["memories"]}
            found = call(conn, "get_memories", p_user_id=self._user,
                         p_filter={"metadata": {"key": key}})  # fmt: skip
            texts = [m["content"] for m in found if str(m["memory_id"]) in taken]
            return texts[-1] if texts else None

    return Pgrecall


def breaches(report: SystemReport, severity: str) -> list[str]:
    return [run.scenario_id for run in report.runs if run.severity == severity and run.breached]


@pytest.fixture
def masking(db: Connection) -> Connection:
    """As the README says for who fears secrets in memories."""
    call(db, "configure", p_changes={"secrets": "mask"})
    return db


def test_poison_of_tools_stays_where_it_was_said(masking: Connection) -> None:
    """agent-memory-guard's suite: attacks come out of tools, honest notes from the user."""
    report = run_suite(guarded(masking))
    card = score_report(report)
    assert card.malicious_total >= 15
    assert card.critical_breaches == 0, breaches(report, "critical")
    assert card.defended_total == card.malicious_total
    assert card.false_positives <= 1, [r.scenario_id for r in report.runs if r.false_positive]
    assert not any(run.recall_error for run in report.runs)


def test_secrets_are_masked_whoever_says_them(masking: Connection) -> None:
    """The user's own word is believed, but the keys in it are not kept."""
    leaks = [s for s in default_corpus() if s.category == "sensitive_data"]
    report = run_suite(guarded(masking, "user_input"), leaks)
    assert len(report.runs) == 3
    assert [run.scenario_id for run in report.runs if run.breached] == []
    assert all(run.final_outcome == "redacted" for run in report.runs)


def test_the_adapter_gives_back_what_it_may(db: Connection) -> None:
    """Without the masking a key in the user's words comes back: the suite can fail."""
    call(db, "configure", p_changes={"secrets": "keep"})
    leaks = [s for s in default_corpus() if s.category == "sensitive_data"]
    report = run_suite(guarded(db, "user_input"), leaks)
    assert len([run for run in report.runs if run.breached]) == 3
