"""An inspector over HTTP, and the data that its pages show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from pgrecall import AgentMemory
from pgrecall.inspector import Source, inspector_app

TOKEN = "a-token-of-the-tests"
HOST = "127.0.0.1:8930"
JSON = {"accept": "application/json"}

HOSTILE = (
    "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
    " {{ 6841 * 7919 }} ' onfocus=1 autofocus \u202etxet esrever\u202c \u0007 end"
)
"""A text that would act where a page did not escape it."""


@contextmanager
def inspecting(dsn: str, *, write: bool = False, **options: Any) -> Iterator[TestClient]:
    """Yield a client of an inspector that has presented no token yet."""
    options.setdefault("embedder", False)
    app = inspector_app(Source(dsn, write=write, **options), token=TOKEN, hosts=[HOST])
    with TestClient(app, base_url=f"http://{HOST}", follow_redirects=False) as client:
        yield client


@contextmanager
def entered(dsn: str, *, write: bool = False, **options: Any) -> Iterator[TestClient]:
    """Yield a client of an inspector that has the cookie, as a browser after the first address."""
    with inspecting(dsn, write=write, **options) as client:
        assert client.get(f"/?token={TOKEN}").status_code == 303
        client.follow_redirects = True
        yield client


def csrf_of(client: TestClient, path: str) -> str:
    """Return the CSRF token in the forms of a page."""
    found = re.search(r'name="csrf" value="([0-9a-f]{64})"', client.get(path).text)
    assert found, f"{path} has no form"
    return found[1]


def furnish_user(memory: AgentMemory, user: str) -> dict[str, Any]:
    """Give a user one of everything that pages show; return ids."""
    user_id = memory.users.ensure(user)
    with memory.session(
        user=user, model="gpt-4o-mini", title=f"chat of {user}", extraction="none"
    ) as chat:
        chat.append(
            [
                {"role": "user", "content": f"I live in Lyon, says {user}."},
                {"role": "assistant", "content": "Noted."},
                {"role": "user", "content": "What is the weather?"},
                {"role": "assistant", "content": None, "tool_calls": [
                    {"id": "call_1", "type": "function",
                     "function": {"name": "weather", "arguments": '{"city": "Lyon"}'}}]},
                {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
                {"role": "assistant", "content": "It is sunny."},
            ]
        )  # fmt: skip
        session_id = chat.session_id
    first = memory.remember(user, f"{user} lives in Lyon", slot="city").memory_id
    second = memory.remember(user, f"{user} lives in Porto", slot="city").memory_id
    goal = memory.remember(user, f"{user} wants to learn Portuguese", kind="goal").memory_id
    return {"user_id": user_id, "session_id": session_id, "old": first, "new": second, "goal": goal}


def pages_of(ids: dict[str, Any]) -> list[str]:
    """Return the address of every page, with a user's data."""
    user, session = (
        f"/users/{ids['user_id']}",
        f"/users/{ids['user_id']}/sessions/{ids['session_id']}",
    )
    return [
        "/", "/users", "/jobs", "/jobs?state=dead", "/health",
        user, f"{user}?q=city", f"{user}?position=50", f"{user}/events", f"{user}/reviews",
        f"{user}/costs", f"{user}/jobs/{ids['goal']}",
        f"{user}/data?verify=1", f"{user}/search?q=where+last+week",
        f"{user}/sessions", session, f"{session}/context?q=weather", f"{session}/context?turn=6",
        f"{user}/memories/{ids['old']}", f"{user}/memories/{ids['goal']}",
    ]  # fmt: skip
