"""The benchmark beside the peers: its harness on a tiny scale, and what is published of it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.servers import TestServer

PEERS = Path(__file__).resolve().parents[2] / "benchmarks" / "peers"
OURS = ("pgrecall_sql", "pgrecall_driver")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=PEERS,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def measured(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run the floor and pgrecall on a tiny scale; return the results and the printed tables."""
    out = tmp_path_factory.mktemp("peers") / "results.json"
    only = [part for name in ("floor", *OURS) for part in ("--only", name)]
    done = run("run.py", "--scale", "tiny", *only, "--dsn", server.admin_dsn, "--json", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    return {"tables": done.stdout, **json.loads(out.read_text(encoding="utf-8"))}


@pytest.mark.slow
def test_searches_find_what_the_exact_answer_says(measured: dict[str, Any]) -> None:
    for name in ("floor", *OURS):
        memory = measured["contenders"][name]["memory"]
        for what in ("search", "search_large"):
            figures = memory[what]
            assert figures["recall"] >= 0.98, (name, what)  # halves round: ties may turn
            assert (figures["rows"], figures["fewest_rows"], figures["empty"]) == (10, 10, 0)
            assert 0 < figures["p50_ms"] <= figures["p99_ms"]
        assert memory["search"]["calls"] == measured["scale"]["queries"]
        assert memory["memories"] == 4 * 12 + 40
        assert memory["bytes_per_memory"] > 0


@pytest.mark.slow
def test_writes_and_their_log_are_measured(measured: dict[str, Any]) -> None:
    for name in ("floor", *OURS):
        found = measured["contenders"][name]
        for part in (found["memory"]["write"], found["conversation"]["append"]):
            assert part["calls"] == 5
            assert part["p50_ms"] > 0
            assert part["wal_bytes_with_images"] > 0
        assert found["memory"]["write_batch"]["memories"] == 100
        assert found["memory"]["search_clients"]["per_second"] > 0
        assert found["conversation"]["clients"]["per_second"] > 0
        assert found["context"]["p50_ms"] > 0


@pytest.mark.slow
def test_the_tables_say_how_many_times_the_floor(measured: dict[str, Any]) -> None:
    lines = measured["tables"].splitlines()
    floor, sql, driver = (
        line.strip()
        for line in next(x for x in lines if x.startswith("| one durable write"))
        .strip("|")
        .split("|")[1:]
    )
    assert "×" not in floor
    assert sql.endswith("×)")
    assert driver.endswith("×)")


@pytest.mark.slow
def test_failing_system_is_reported(server: TestServer) -> None:
    done = run(
        "-c",
        "import sys, run, report\n"
        "run.CONTENDERS |= {'ghost': None, 'lost': 'nowhere'}\n"
        "found = run.measure(['ghost', 'lost'], 'tiny', 1, sys.argv[1])\n"
        "print(report.tables(found))",
        server.admin_dsn,
    )
    assert done.returncode == 0, done.stderr
    assert "ghost was not measured: failed: FileNotFoundError" in done.stdout
    assert "lost was not measured: cannot be installed" in done.stdout


@pytest.mark.slow
def test_run_stops_at_its_time_limit_and_names_the_rest(server: TestServer) -> None:
    """A system that exceeds the time limit is stopped; those that did not start are named, too."""
    started = time.monotonic()
    done = run("run.py", "--scale", "tiny", "--only", "floor", "--only", "pgrecall_sql",
               "--minutes", "0.01", "--dsn", server.admin_dsn)  # fmt: skip
    assert time.monotonic() - started < 30
    assert done.returncode == 1
    assert "pgrecall_sql was not measured: the time of the run was over" in done.stdout


def test_the_published_results_are_whole_and_shown() -> None:
    for scale, file, kinds in (
        ("default", "results.json", {"memory", "conversation"}),
        ("crowd", "results_crowd.json", {"memory"}),
    ):
        results = json.loads((PEERS / file).read_text(encoding="utf-8"))
        assert results["format"] == 1
        assert results["scale"]["name"] == scale
        assert results["server"]["settings"]["fsync"] == "on"
        assert set(results["contenders"]) == {path.stem for path in PEERS.glob("contenders/*.py")}
        measured = set()
        for name, found in results["contenders"].items():
            if "error" in found:
                continue
            assert found["title"], name
            assert all(found["versions"].values()), name
            measured |= {"memory", "conversation", "context"} & set(found)
        assert measured >= kinds
    fresh = run("report.py", "--check")
    assert fresh.returncode == 0, fresh.stdout + fresh.stderr
