"""The names that callers may use are on one page, with docstrings; everything else is private."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import circles
import driver_pages
import pgrecall
from pgrecall import schema
from pgrecall._signatures import SIGNATURES

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "pgrecall"
PARTS = ("users", "sessions", "memories", "privacy", "admin", "encryption", "calls",
         "items", "pages")  # fmt: skip


def test_every_module_is_in_the_reference_or_private() -> None:
    names = {circles.name_of(path, PACKAGE) for path in PACKAGE.rglob("*.py")}
    public = {name for name in names if not any(part[0] == "_" for part in name.split("."))}
    optional = (["cli"], ["inspector"], ["integrations"])
    elsewhere = {name for name in public if name.split(".")[1:2] in optional}
    assert public - elsewhere == {module.__name__ for module in driver_pages.modules()}


def public_classes() -> Iterator[Any]:
    seen: set[int] = set()
    for module in driver_pages.modules():
        for name in module.__all__:
            if inspect.isclass(value := getattr(module, name)) and id(value) not in seen:
                seen.add(id(value))
                yield pytest.param(value, id=name)
    for name, part in driver_pages.parts(pgrecall.AgentMemory).items():
        yield pytest.param(part, id=name)


@pytest.mark.parametrize("cls", [*public_classes()])
def test_public_class_and_its_methods_have_docstrings(cls: type) -> None:
    assert cls.__doc__
    if getattr(cls, "_is_protocol", False):
        return
    for name, value in vars(cls).items():
        if not name.startswith("_") and (callable(value) or isinstance(value, property)):
            assert inspect.getdoc(getattr(cls, name)), name


def test_reference_has_a_section_for_every_part_of_the_client() -> None:
    page = (driver_pages.REFERENCE / "python.md").read_text(encoding="utf-8")
    for part in PARTS:
        assert f"### memory.{part}" in page


def test_verbs_of_the_client_are_those_of_its_memories() -> None:
    for client in (pgrecall.AgentMemory, pgrecall.AsyncAgentMemory):
        memory = client.connect("")
        for verb in ("search", "remember"):
            one, other = (getattr(part, verb) for part in (memory, memory.memories))
            assert inspect.signature(one) == inspect.signature(other)
            assert one.__doc__ == other.__doc__


def test_options_are_those_of_the_sql_functions() -> None:
    text = schema.read_file("functions/context/_context_options.sql")
    known = {*re.findall(r"'(\w+)'", text.partition("array[")[2].partition("]")[0])}
    of_driver = {"as_of", "embedding", "reranker"}
    assert {*pgrecall.ContextOptions.__annotations__} == known | of_driver
    counted = {"user_id", "session_id", "model_id", "system_prompt_tokens"}
    session = SIGNATURES["open_session"].keys() - counted
    assert {*pgrecall.SessionOptions.__annotations__} == session
    memory = SIGNATURES["remember"].keys() - {"user_id", "content"}
    assert {*pgrecall.MemoryFields.__annotations__} == memory


def test_parts_of_a_client_are_made_once() -> None:
    assert {*driver_pages.parts(pgrecall.AgentMemory)} == {*PARTS}
    memory = pgrecall.AgentMemory.connect("")
    for part in PARTS:
        assert getattr(memory, part) is getattr(memory, part)


def test_import_cycles_are_found(tmp_path: Path) -> None:
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "one.py").write_text("def f():\n    from house.two import g\n", encoding="utf-8")
    (package / "two.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house import three\n",
        encoding="utf-8",
    )
    (package / "three.py").write_text("import house.one\n", encoding="utf-8")
    [problem] = circles.circles(package)
    assert problem == "these modules import one another: house.one, house.three, house.two"
    (package / "three.py").write_text("import house\n", encoding="utf-8")
    assert not [*circles.circles(package)]
    done = subprocess.run([sys.executable, circles.__file__], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
