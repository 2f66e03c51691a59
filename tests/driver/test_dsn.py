"""A malformed DSN is refused without a word of it, since any part may be the password."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator

import pytest

from pgrecall import AgentMemory, AsyncAgentMemory, ConfigurationError
from pgrecall._dsn import parameters_of
from pgrecall.settings import Settings

# Their passwords are hush, or hush and then tush.
MALFORMED = [
    "postgres:/ada:hush@localhost/db",
    "mysql://ada:hush@localhost/db",
    "postgresql+psycopg://ada:hush@localhost/db",
    "ada:hush@localhost",
    "postgresql://ada:hush%@localhost/db",
    "postgresql://ada:hush%zz@localhost/db",
    "postgresql://ada:hush@tush@localhost/db",
    "postgresql://ada:hush/tush@localhost/db",
    "postgresql://ada:hush@tush/x@localhost/db",
    "postgresql://ada:hush?tush/x@localhost/db",
    "postgresql://ada:hush@localhost/db?tush",
    "postgresql://ada:hush@localhost:54x32/db",
    "postgresql://ada:hush/tush",
    "postgresql://ada:hush@[::1/db",
    "host=localhost user=ada password=hush tush",
    "host=localhost user=ada password='hush",
    "host=localhost user=ada pasword=hush",
    "host=localhost user=ada password=hush\udcff",
]


@pytest.mark.parametrize("dsn", MALFORMED)
def test_malformed_dsn_is_not_quoted(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    async def use() -> None:
        async with AsyncAgentMemory.connect(dsn, embedder=False):
            pass

    for connect in (
        lambda: AgentMemory.connect(dsn, embedder=False).admin.version(),
        lambda: asyncio.run(use()),
    ):
        with pytest.raises(ConfigurationError, match="malformed") as caught:
            connect()
        for error in errors(caught.value):
            said = "".join(traceback.format_exception(error, chain=False)) + repr(error)
            assert "hush" not in repr(error.args) + str(error)
            assert "tush" not in repr(error.args) + str(error)
            assert "hush" not in said.replace(dsn, "")
    shown = capsys.readouterr()
    assert "ush" not in shown.out + shown.err


def errors(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, what it is raised from, and in whose handling."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.slow
@pytest.mark.parametrize("debug", ["", "1"])
@pytest.mark.parametrize("command", [["status"], ["install"], ["worker"], ["status", "--json"]])
def test_commands_do_not_print_a_malformed_dsn(command: list[str], debug: str) -> None:
    for given in (["--dsn", MALFORMED[7]], []):
        done = subprocess.run(
            [sys.executable, "-m", "pgrecall", *command, *given],
            env={**os.environ, "PGRECALL_DSN": MALFORMED[7], "PGRECALL_DEBUG": debug},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert "malformed" in done.stderr
        assert "ush" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("dsn", "password"),
    [
        ("postgresql://ada:hu%40s%2Fh@localhost:5432/db?connect_timeout=2", "hu@s/h"),
        ("postgresql://ada:h:u?sh@a:1,b:2/db", "h:u?sh"),
        ("postgresql:///db?host=/tmp/a@b", None),
        ("host=localhost password='hu sh' dbname=a@b", "hu sh"),
        ("", None),
    ],
)
def test_wellformed_dsn_is_taken(dsn: str, password: str | None) -> None:
    assert parameters_of(dsn).get("password") == password


def test_settings_do_not_show_a_dsn(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DSN", "HISTORY_DSN", "MEMORY_DSN", "WORKER_DSN"):
        monkeypatch.setenv(f"PGRECALL_{name}", "postgresql://ada:hush@localhost/db")
    assert "hush" not in repr(Settings()) + str(Settings())
