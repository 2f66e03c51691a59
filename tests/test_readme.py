"""What the README shows runs as it stands there, but for addresses, keys and names."""

from __future__ import annotations

import base64
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from scripted_openai import scripted_openai
from test_install import install_by_psql, run
from test_send import WEATHER

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def shown(language: str) -> str:
    """Return the README's blocks of a language, one after the other."""
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL))


def test_sql(empty_dsn: str, tmp_path: Path) -> None:
    install_by_psql(empty_dsn)
    (tmp_path / "readme.sql").write_text(shown("sql"), encoding="utf-8")
    done: subprocess.CompletedProcess[str] = run(
        "psql", empty_dsn, "-qXAt", "-v", "ON_ERROR_STOP=1", "-f", str(tmp_path / "readme.sql")
    )
    assert done.returncode == 0, done.stderr
    assert "Prefers tabs over spaces" in done.stdout


def test_python(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = base64.b64encode(bytes(32)).decode()
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
        exec(compile(program, "README.md", "exec"), names)
        names["memory"].close()
        said = names["replay"](names["call"].response_body).answer
    assert said.choices[0].message.content == "You use Vim."
