"""Headless Chromium on a served inspector, with axe-core; for tests that need a browser."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from pgrecall.inspector import Source, inspector_app
from support.inspecting import TOKEN

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / ".cache" / "axe" / "node_modules" / "axe-core" / "axe.min.js"


@cache
def chromium() -> str | None:
    """Return the path of Chromium, None where there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


@contextmanager
def browser() -> Iterator[Any]:
    """Yield a browser; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if chromium() is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield started
        started.close()


@contextmanager
def served(dsn: str, *, write: bool = False, **options: Any) -> Iterator[str]:
    """Serve an inspector on a free port, and yield its address."""
    options.setdefault("embedder", False)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        app = inspector_app(
            Source(dsn, write=write, **options), token=TOKEN, hosts=[f"127.0.0.1:{port}"]
        )
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join()


def violations(page: Any) -> list[str]:
    """Return what axe-core finds wrong on a page."""
    if not AXE.exists():
        pytest.skip("there is no axe-core: npm install --prefix .cache/axe axe-core@4")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]}"
        for one in found["violations"]
        for node in one["nodes"][:3]
    ]


def overflow(page: Any) -> list[str]:
    """Return the elements that are wider than the window, if it can be scrolled sideways."""
    found: list[str] = page.evaluate(
        """() => {
            const root = document.documentElement
            if (root.scrollWidth <= root.clientWidth) return []
            return [...document.querySelectorAll('body *')]
                .filter(e => e.getBoundingClientRect().right > root.clientWidth + 1)
                .slice(0, 5).map(e => e.outerHTML.slice(0, 200))
        }"""
    )
    return found


def tab_to(page: Any, text: str, *, at_most: int = 80) -> None:
    """Press Tab until the focused element has a text, a label or a name.

    Raises:
        AssertionError: none has it.
    """
    for _ in range(at_most):
        page.keyboard.press("Tab")
        found = page.evaluate(
            """() => {
                const e = document.activeElement
                const label = e.labels && e.labels[0] ? e.labels[0].innerText : ''
                return [e.innerText || '', label, e.getAttribute('aria-label') || '']
            }"""
        )
        if any(text in one for one in found):
            return
    raise AssertionError(
        f"no element of {page.url} is named {text}: {page.inner_text('main')[:300]}"
    )


def enter(page: Any) -> None:
    """Press Enter, which leads to another page, and wait for it."""
    with page.expect_navigation():
        page.keyboard.press("Enter")
