"""The command `pgrecall inspect`: its address, its errors, its end."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx2
import pytest

from pgrecall.cli._main import _run


@contextmanager
def command(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `pgrecall inspect`, and yield the process and the address that it prints."""
    run = [sys.executable, "-m", "pgrecall", "inspect", "--port", "0", "--no-embedding", *arguments]
    process = subprocess.Popen(run, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **environment})  # fmt: skip
    assert process.stderr is not None
    try:
        said = ""
        for line in process.stderr:
            said += line
            if found := re.match(r"open (http://\S+)", line):
                yield process, found[1]
                break
        else:
            raise AssertionError(said)
    finally:
        process.kill()
        process.wait()


def test_printed_address_opens_the_inspector(dsn: str) -> None:
    with command("--dsn", dsn) as (process, address):
        with httpx2.Client(follow_redirects=True) as client:
            first = client.get(address)
            assert first.status_code == 200
            assert "token" not in str(first.url)
            assert "read only" in first.text
            assert httpx2.get(re.sub(r"\?.*", "", address)).status_code == 401
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) in (0, -signal.SIGTERM)
        assert process.stderr is not None
        assert process.stderr.read() == ""  # no request is logged, and so no token


def test_token_of_the_environment(dsn: str) -> None:
    with command("--dsn", dsn, "--write", PGRECALL_INSPECT_TOKEN="chosen") as (_, address):
        assert address.endswith("?token=chosen")
        headers = {"authorization": "Bearer chosen"}
        assert "changes are allowed" in httpx2.get(address.partition("?")[0], headers=headers).text


def test_token_with_reserved_characters_is_quoted_in_the_address(dsn: str) -> None:
    with command("--dsn", dsn, PGRECALL_INSPECT_TOKEN="a&b +c/#%41") as (_, address):
        assert httpx2.get(address, follow_redirects=True).status_code == 200


def test_open_passes_the_browser_a_private_file_and_no_token(dsn: str, tmp_path: Path) -> None:
    browser, given = tmp_path / "browser", tmp_path / "given"
    browser.write_text(f'#!/bin/sh\nprintf %s "$*" > "{given}.new"\nmv "{given}.new" "{given}"\n')
    browser.chmod(0o700)
    with command("--dsn", dsn, "--open", BROWSER=f"{browser} %s") as (process, address):
        for _ in range(100):
            if given.exists():
                break
            time.sleep(0.1)
        argument = given.read_text()
        token = address.partition("token=")[2]
        assert argument.startswith("file://")
        assert token not in argument
        page = Path(unquote(urlsplit(argument).path))
        assert page.stat().st_mode & 0o777 == 0o600
        assert page.parent.stat().st_mode & 0o777 == 0o700
        assert f'content="0; url={address}"' in page.read_text()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert not page.parent.exists()


def test_used_port_is_an_error(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert _run(["inspect", "--dsn", dsn, "--port", port]) == 2
    assert "--port 0 takes a free one" in capsys.readouterr().err


def test_unknown_server_is_an_error_without_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    dsn = "host=127.0.0.1 port=1 dbname=x connect_timeout=2"
    assert _run(["inspect", "--dsn", dsn, "--port", "0"]) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert "port 1" in said


def test_missing_package_is_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import importlib.util

    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "jinja2" else find_spec(name)
    )
    assert _run(["inspect", "--port", "0"]) == 2
    assert "[web]" in capsys.readouterr().err
    assert _run(["demo", "--open"]) == 2
    assert "[web]" in capsys.readouterr().err


def test_core_never_imports_the_inspector() -> None:
    code = (
        "import sys, pgrecall, pgrecall.cli;"
        " print({'starlette', 'jinja2', 'pgrecall.inspector'} & sys.modules.keys())"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
