"""Tasks of a newcomer on the example data, by clicks; and the pictures of the documentation.

`PGRECALL_SCREENSHOTS=1` writes the pictures into docs/images.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from pgrecall.cli.demo import fill
from support.browsing import browser, overflow, served, violations
from support.inspecting import TOKEN

pytestmark = pytest.mark.slow

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
MOST_BYTES = 150_000


@pytest.fixture(scope="module")
def address(dsn: str) -> Iterator[str]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("update recall.settings set embedding_model = 'local'")
    with AgentMemory.connect(dsn) as memory:
        fill(memory)
    with served(dsn, write=True, embedder=None) as address:
        yield address


@pytest.fixture(scope="module")
def window(address: str) -> Iterator[Any]:
    with browser() as started:
        context = started.new_context(viewport={"width": 1100, "height": 800})
        yield context.new_page()


class Visitor:
    """Clicks through pages from the overview on, and counts."""

    def __init__(self, window: Any, address: str) -> None:
        self.window = window
        self.clicks = 0
        window.goto(f"{address}/?token={TOKEN}")

    def click(self, name: str, role: str = "link") -> None:
        self.clicks += 1
        self.window.get_by_role(role, name=name).first.click()
        self.window.wait_for_load_state()

    def sees(self, text: str) -> bool:
        return text in self.window.inner_text("main")

    def picture(self, name: str, **clip: Any) -> None:
        """Check the page, and write its picture when asked."""
        assert overflow(self.window) == []
        assert violations(self.window) == []
        if not os.environ.get("PGRECALL_SCREENSHOTS"):
            return
        path = IMAGES / f"{name}.png"
        self.window.screenshot(path=path, **clip)
        assert path.stat().st_size < MOST_BYTES, path


def test_why_does_it_think_ada_lives_in_porto(window: Any, address: str) -> None:
    visitor = Visitor(window, address)
    visitor.click("Users")
    visitor.click("ada")
    visitor.click("Ada lives in Porto.")
    assert visitor.sees("Everything works. I live by the river in Porto now")
    assert visitor.sees("superseded")
    assert visitor.sees("Ada lives in Lyon.")
    assert visitor.clicks == 3
    visitor.picture("inspect-memory")


def test_what_did_the_model_see_when_it_answered_about_the_editor(
    window: Any, address: str
) -> None:
    visitor = Visitor(window, address)
    visitor.click("Users")
    visitor.click("ada")
    visitor.click("Sessions")
    visitor.click("which editor")
    visitor.click("What the model saw for turn 2")
    assert visitor.sees("What was really sent")
    assert visitor.sees("found in the call log by its answer")
    assert visitor.sees("You use Vim. I format Python with four spaces, not tabs.")
    assert visitor.clicks == 5
    clip = {"x": 0, "y": 0, "width": 1100, "height": 1200}
    visitor.picture("inspect-context", full_page=True, clip=clip)


def test_undo_the_wrong_merge(window: Any, address: str, dsn: str) -> None:
    visitor = Visitor(window, address)
    visitor.click("Users")
    visitor.click("mei")
    visitor.click("Mei writes her thesis in the library in Kiel.")
    visitor.click("Mei writes her thesis in the library. 2025-04-01 user_stated")
    visitor.click("Undo the merge", "button")
    assert visitor.sees("active")
    assert visitor.clicks == 5
    with AgentMemory.connect(dsn, embedder=False) as memory:
        assert "Mei writes her thesis in the library." in {
            one.content for one in memory.memories.list("mei")
        }
