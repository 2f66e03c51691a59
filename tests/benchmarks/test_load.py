"""The benchmark of a chat product's load: its arithmetic, its table, and a run of a second."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support.servers import TestServer

PEERS = Path(__file__).resolve().parents[2] / "benchmarks" / "peers"


def load_module(name: str) -> ModuleType:
    """Load a module of benchmarks/peers, whose names others have, too."""
    spec = importlib.util.spec_from_file_location(f"peers_{name}", PEERS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


figures: Any = load_module("figures")


def test_quantile_is_the_nearest_rank() -> None:
    thousand = [float(n) for n in range(1, 1001)]
    assert [figures.quantile(thousand, share) for share in (0.5, 0.99, 0.999)] == [500, 990, 999]
    assert figures.quantile([7.0], 0.999) == 7


def test_longest_gap_counts_the_edges_of_the_period() -> None:
    assert figures.longest_gap([1.0, 2.0, 2.5], 0.0, 3.0) == 1.0
    assert figures.longest_gap([0.1, 9.9], 0.0, 10.0) == pytest.approx(9.8)
    assert figures.longest_gap([0.1], 0.0, 10.0) == pytest.approx(9.9)
    assert figures.longest_gap([], 2.0, 10.0) == 8.0
    assert figures.longest_gap([-5.0, 1.0, 50.0], 0.0, 2.0) == 1.0  # those outside count for none


def test_summary_has_the_calls_of_the_period_and_the_slowest_one() -> None:
    calls = {
        "turn": [(9.0, 9.9), (10.0, 10.2), (10.2, 10.3), (11.9, 12.4)],
        "context": [(9.0, 9.8), (10.0, 10.1), (11.9, 12.3)],
        "append": [(10.1, 10.2)],
    }
    found = figures.summary(calls, 10.0, 12.0)
    assert (found["turns"], found["turns_per_second"]) == (2, 1.0)
    assert found["calls"]["context"] == {
        "calls": 1, "p50_ms": 100.0, "p99_ms": 100.0, "p999_ms": 100.0,
    }  # fmt: skip
    assert found["longest_call_ms"] == 400.0  # begun in the period, ended after it
    assert found["long_calls"] == 1  # a turn is no call of its own
    assert found["longest_gap_ms"] == 1800.0  # from 10.2 to the end


def test_table_divides_by_turns_and_names_what_failed() -> None:
    span = {"calls": 200, "p50_ms": 1.234, "p99_ms": 22.22, "p999_ms": 333.3}
    results = {
        "systems": {
            "ours": {
                "title": "ours", "turns": 200, "turns_per_second": 100.0, "calls": {"turn": span},
                "server_ms": 900, "background_ms": 100, "client_ms": 300, "wal_bytes": 1_600_000,
                "longest_gap_ms": 12.0, "longest_call_ms": 400.0, "long_calls": 1, "failed": 0,
            },
            "theirs": {"title": "theirs", "turns": 0, "turns_per_second": 0.0, "calls": {},
                       "server_ms": None},
            "ghost": {"error": "cannot be installed"},
        }
    }  # fmt: skip
    lines = figures.table(results).splitlines()
    assert lines[0] == "| | ours | theirs |"
    assert "| turn, p50 / p99 / p99.9 ms | 1.23 / 22.2 / 333 | – |" in lines
    assert "| processor time of the server per turn, ms | 4.50 | – |" in lines
    assert "| WAL per turn, KB | 8.00 | – |" in lines
    assert "| calls above 250 ms | 1 | – |" in lines
    assert not any("search messages" in line for line in lines)  # nobody was asked
    assert lines[-1] == "- ghost was not measured: cannot be installed"


@pytest.mark.slow
def test_load_runs_all_calls_and_its_background(server: TestServer, tmp_path: Path) -> None:
    out = tmp_path / "load.json"
    done = subprocess.run(
        [sys.executable, "load.py", "--only", "pgrecall_python", "--minutes", "0.15", "--warm-up",
         "4", "--clients", "3", "--processes", "2", "--users", "12", "--memories", "10",
         "--dimensions", "16", "--dsn", server.admin_dsn, "--json", str(out)],
        cwd=PEERS, check=False, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text(encoding="utf-8"))["systems"]["pgrecall_python"]
    assert found["failures"] == []
    assert found["turns"] > 20
    assert found["calls"].keys() >= {"turn", "context", "append", "remember", "search messages"}
    assert found["calls"]["context"]["calls"] == pytest.approx(found["turns"], abs=3)
    assert 0 < found["background_ms"] < found["server_ms"]
    assert found["jobs"] > 0
    assert (found["failed"], found["jobs_failed"], found["last_error"]) == (0, {}, None)
    assert found["sweeps"] >= 10
    assert "| turns a second | " in done.stdout
