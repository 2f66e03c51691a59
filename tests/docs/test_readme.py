"""The examples of the README and the quickstart run literally."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import run
from support.installing import install_by_psql
from support.scripted_model import Script, fact
from support.scripted_openai import Request, Scripted, scripted_openai

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/quickstart.md")


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of a language on a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_readme_has_at_most_250_lines() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 250


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.slow
def test_sql_of_the_page_runs_and_finds_its_memory(
    page: str, empty_dsn: str, tmp_path: Path
) -> None:
    install_by_psql(empty_dsn)
    (tmp_path / "readme.sql").write_text("\n".join(blocks(page, "sql")), encoding="utf-8")
    done: subprocess.CompletedProcess[str] = run(
        "psql", empty_dsn, "-qXAt", "-v", "ON_ERROR_STOP=1", "-f", str(tmp_path / "readme.sql")
    )
    assert done.returncode == 0, done.stderr
    assert "Prefers tabs over spaces" in done.stdout


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("where", ["embedded", "dsn"])
@pytest.mark.slow
def test_first_python_example_tells_learns_and_recalls_as_printed(
    where: str, page: str, empty_dsn: str, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "example.py").write_text(blocks(page, "python")[0], encoding="utf-8")
    script = Script({"I use Vim for everything I write.": [fact("The user uses Vim.")]})

    def answer(request: Request) -> Scripted:
        asked = request["messages"][-1]["content"]
        return "I see." if asked.startswith(("I use", "Which")) else script(request)

    with scripted_openai(respond=answer, dimensions=1536) as openai:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PG", "OPENAI"))
        } | {"OPENAI_BASE_URL": openai.base_url, "OPENAI_API_KEY": "x"}  # fmt: skip
        if where == "dsn":
            install = [sys.executable, "-m", "pgrecall", "install", "--dsn", empty_dsn]
            subprocess.run(install, check=True, env=environment, capture_output=True)
            environment["PGRECALL_DSN"] = empty_dsn
        else:
            environment["PGRECALL_HOME"] = str(home)
        done = subprocess.run(
            [sys.executable, tmp_path / "example.py"],
            env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        said = "The user uses Vim." if where == "dsn" else "I use Vim for everything I write."
        assert (done.returncode, done.stderr) == (0, "")
        report, *found = done.stdout.splitlines()
        assert re.match(r"[23] jobs done \(.*1 extract\)$", report), report
        assert found == [said]
        last = json.dumps(openai.chats[-1]["messages"])
        assert (said in last, "Which editor do I use?" in last) == (True, True)
