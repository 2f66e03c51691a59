"""What the README shows runs as it stands there, but for addresses, keys and names."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from scripted_model import Script, fact
from scripted_openai import Request, Scripted, scripted_openai
from test_install import install_by_psql, run
from test_send import WEATHER

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the README's blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def shown(language: str) -> str:
    """Return the README's blocks of a language, one after the other."""
    return "\n".join(blocks(language))


def test_sql(empty_dsn: str, tmp_path: Path) -> None:
    install_by_psql(empty_dsn)
    (tmp_path / "readme.sql").write_text(shown("sql"), encoding="utf-8")
    done: subprocess.CompletedProcess[str] = run(
        "psql", empty_dsn, "-qXAt", "-v", "ON_ERROR_STOP=1", "-f", str(tmp_path / "readme.sql")
    )
    assert done.returncode == 0, done.stderr
    assert "Prefers tabs over spaces" in done.stdout


def test_readme_names_the_functions_that_are_not_security_definer(db: psycopg.Connection) -> None:
    named = re.search(
        r"The functions above are SECURITY DEFINER(.*?)\. Internal", README, re.DOTALL
    )
    assert named is not None
    invokers = db.execute(
        "select proname from pg_proc where pronamespace = 'recall'::regnamespace"
        " and not prosecdef and proname !~ '^_'"
    ).fetchall()
    assert {*re.findall(r"`(\w+)`", named[1])} == {name for (name,) in invokers}
    others = db.execute(
        "select proname from pg_proc where pronamespace = 'recall'::regnamespace"
        " and (proname ~ '^_' and prosecdef or prosecdef"
        " and coalesce(array_to_string(proconfig, ','), '') !~ 'search_path'"
        " or has_function_privilege('public', oid, 'execute'))"
    ).fetchall()
    assert others == []


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder for an embedded server; not tmp_path, since the path of a socket is bounded."""
    path = Path(tempfile.mkdtemp(prefix="pgrecall-readme-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.mark.parametrize("where", ["embedded", "dsn"])
def test_first_python_example_tells_learns_and_recalls_as_printed(
    where: str, empty_dsn: str, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "example.py").write_text(blocks("python")[0], encoding="utf-8")
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


def test_python(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = base64.b64encode(bytes(32)).decode()
    (tmp_path / "keys").touch(mode=0o600)
    (tmp_path / "keys").write_text(f"first:{key}\n", encoding="utf-8")
    program = shown("python")
    for printed, meant in (
        ("postgresql://…", dsn),
        ("/etc/pgrecall/keys", str(tmp_path / "keys")),
        ('seal_user("ada")', 'seal_user("grace")'),  # of whom nothing is there
        ("# a moment later:", "memory._background.drain()"),
    ):
        assert printed in program
        program = program.replace(printed, meant)
    names: dict[str, Any] = {"WEATHER": WEATHER, "weather": lambda **_: "sunny"}
    with scripted_openai(respond=lambda _: "You use Vim.") as openai:
        monkeypatch.setenv("OPENAI_BASE_URL", openai.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        monkeypatch.setenv("PGRECALL_DSN", dsn)
        exec(compile(program, "README.md", "exec"), names)
        names["memory"].close()
        said = names["replay"](names["call"].response_body).answer
    assert said.choices[0].message.content == "You use Vim."
