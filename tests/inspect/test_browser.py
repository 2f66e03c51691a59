"""Pages in headless Chromium: widths, keyboard, accessibility, and texts that would act."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory
from pgrecall.cli.inspect import redirect_file
from support.browsing import browser, enter, overflow, served, tab_to, violations
from support.inspecting import HOSTILE, TOKEN, furnish_user, pages_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def memory(dsn: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        yield memory


@pytest.fixture(scope="module")
def hostile(memory: AgentMemory, dsn: str) -> dict[str, Any]:
    """A user whose texts would act, with a dispute, a review, a call and a dead job."""
    ids = furnish_user(memory, HOSTILE)
    user = ids["user_id"]
    memory.remember(user, f"{HOSTILE} lives in Bonn", slot="city", provenance="system_inferred")
    memory.remember(user, "a" * 300 + " is a long word")
    memory.calls.record(
        user, model="gpt-4o-mini", session_id=ids["session_id"],
        request={"messages": [{"role": "user", "content": HOSTILE}]},
        response={"choices": [{"message": {"content": "It is sunny."}}]},
        usage={"prompt_tokens": 9, "completion_tokens": 3},
    )  # fmt: skip
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("update recall.jobs set state = 'dead', last_error = %s", [HOSTILE[:90]])
        conn.execute("update recall.memory_store set review_at = now() where memory_id = %s",
                     [ids["goal"]])  # fmt: skip
        conn.execute("insert into recall.model_spending values (%s, current_date, 123456)", [user])
        conn.execute("insert into recall.model_spending_totals values (current_date, 0, 123456)")
        conn.execute("analyze recall.memory_store, recall.sessions")
    return ids


@pytest.fixture(scope="module")
def address(dsn: str, hostile: dict[str, Any]) -> Iterator[str]:
    with served(dsn, write=True) as address:
        yield address


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def window(chrome: Any, address: str) -> Iterator[Any]:
    """A page with the cookie; `problems` of it collects what the browser complains about."""
    context = chrome.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.problems = []
    page.on("console", lambda said: page.problems.append(said.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("dialog", lambda dialog: page.problems.append(dialog.message))
    page.goto(f"{address}/?token={TOKEN}")
    assert TOKEN not in page.url
    yield page
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (1440, "dark")])
def test_pages_fit_are_accessible_and_inert(
    window: Any, address: str, hostile: dict[str, Any], width: int, scheme: str
) -> None:
    """No page scrolls sideways, violates a rule of axe-core, or runs a stored text."""
    window.set_viewport_size({"width": width, "height": 800})
    window.emulate_media(color_scheme=scheme)
    user = f"/users/{hostile['user_id']}"
    for path in [*pages_of(hostile), f"{user}?q=lives", f"{user}/nothing", "/users/x"]:
        window.problems.clear()
        window.goto(address + path)
        assert overflow(window) == [], path
        assert violations(window) == [], path
        assert window.title().endswith("pgrecall inspect")
        assert [one for one in window.problems if "status of 4" not in one] == [], path
        assert window.evaluate("document.scripts.length") == 0
        assert window.evaluate("document.images.length") == 0


def test_policy_stops_a_script_that_would_be_there(window: Any, address: str) -> None:
    window.goto(address)
    window.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran=1\">')"
    )
    window.wait_for_timeout(200)
    assert window.evaluate("window.ran") is None
    assert any("Content Security Policy" in one for one in window.problems)


def test_page_of_another_server_can_not_act(chrome: Any, window: Any, address: str,
                                            hostile: dict[str, Any]) -> None:  # fmt: skip
    """A form of another origin is refused, though the browser knows the cookie."""
    window.route(
        "http://evil.example/",
        lambda route: route.fulfill(
            content_type="text/html",
            body=f'<form method="post" action="{address}/jobs/retry"><button>go</button></form>',
        ),
    )
    window.goto("http://evil.example/")
    window.click("button")
    window.wait_for_load_state()
    assert "needs its token" in window.content() or "another server" in window.content()


def test_file_of_the_command_opens_the_inspector(chrome: Any, address: str, tmp_path: Path) -> None:
    context = chrome.new_context()
    page = context.new_page()
    page.goto(redirect_file(tmp_path, f"{address}/?token={TOKEN}").as_uri())
    page.wait_for_url(f"{address}/")
    assert page.title().endswith("pgrecall inspect")
    assert page.locator("main h1").count() == 1
    context.close()


def test_first_tab_skips_to_the_content(window: Any, address: str) -> None:
    window.goto(f"{address}/users")
    window.keyboard.press("Tab")
    assert window.evaluate("document.activeElement.innerText") == "Skip to the content"
    window.keyboard.press("Enter")
    assert window.evaluate("document.activeElement.id") == "main"


def test_every_action_by_keyboard(window: Any, address: str, memory: AgentMemory,
                                  hostile: dict[str, Any]) -> None:  # fmt: skip
    ids = furnish_user(memory, "keys")
    window.goto(f"{address}/users")
    tab_to(window, "Open a user by name")
    window.keyboard.type("keys")
    enter(window)
    tab_to(window, "keys wants to learn Portuguese")
    enter(window)
    window.wait_for_url("**/memories/*")

    tab_to(window, "Confirm")
    enter(window)
    events = memory.memories.history("keys", ids["goal"])
    assert "validated" in [event.event for event in events]

    tab_to(window, "Correct")
    window.keyboard.press("Enter")
    tab_to(window, "The text that is right")
    window.keyboard.press("Control+A")
    window.keyboard.type("keys speaks Portuguese")
    tab_to(window, "Replace the text")
    enter(window)
    window.wait_for_selector("h1:has-text('keys speaks Portuguese')")

    tab_to(window, "Retract")
    window.keyboard.press("Enter")
    tab_to(window, "Reason")
    window.keyboard.type("not true")
    tab_to(window, "End this memory")
    enter(window)
    window.wait_for_selector("text=ended: retracted")

    tab_to(window, "Restore")
    enter(window)
    window.wait_for_selector("main >> text=active")

    doubt = memory.remember("keys", "keys lives in Bonn", slot="city", provenance="system_inferred")
    assert doubt.outcome == "disputed"
    tab_to(window, "Disputes and reviews")
    enter(window)
    window.wait_for_selector("text=keys lives in Bonn")
    tab_to(window, "Refuse")
    enter(window)
    window.wait_for_selector("text=Nothing is disputed")

    window.goto(f"{address}/jobs?state=dead")
    tab_to(window, "Retry dead jobs")
    enter(window)
    window.wait_for_url(f"{address}/jobs")
    window.goto(f"{address}/jobs?state=dead")
    window.wait_for_selector("text=There are no such jobs")

    window.goto(f"{address}/users/{ids['user_id']}/data")
    tab_to(window, "to confirm")
    window.keyboard.type("keys")
    tab_to(window, "Erase this user")
    enter(window)
    window.wait_for_selector("text=is erased")
    window.goto(f"{address}/users/{ids['user_id']}")
    assert "There is no user" in window.content()


def test_field_to_correct_a_text_is_safe_to_look_at_and_to_send(
    window: Any, address: str, memory: AgentMemory
) -> None:
    """The note names what hides in the field; an untouched field changes nothing."""
    content = "pays \u202e100\x1b[1m\tUSD\r\nmonthly\x9b\x0c and\rso on"
    made = memory.remember("ivo", content)
    path = f"{address}/users/{memory.users.ensure('ivo')}/memories/{made.memory_id}"
    window.goto(path)
    window.click("summary:has-text('Correct')")
    note = window.inner_text("#content-shown")
    for named in ("U+202E", "U+001B", "U+009B"):
        assert named in note
    assert "\u202e" not in note
    assert violations(window) == []
    window.click("text=Replace the text")
    window.wait_for_load_state()
    assert [row.content for row in memory.memories.chain("ivo", made.memory_id)] == [content]


def test_slider_shows_an_earlier_time_without_a_script(
    window: Any, address: str, hostile: dict[str, Any]
) -> None:
    window.goto(f"{address}/users/{hostile['user_id']}")
    tab_to(window, "As of")
    for _ in range(40):
        window.keyboard.press("ArrowLeft")
    tab_to(window, "Show")
    enter(window)
    window.wait_for_selector("text=What was known at")
    assert window.input_value("#position") == "60"
