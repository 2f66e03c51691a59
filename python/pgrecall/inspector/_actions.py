"""Changes, each a posted form; the database refuses them unless the inspector may write."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from pgrecall._sql import UNSET
from pgrecall.errors import InvalidInputError
from pgrecall.inspector._view import Inspector, Page, Pages, form, text_of, uuid_of

__all__ = ["PAGES"]

PAGES = Pages()


def _ids(request: Request) -> tuple[UUID, UUID]:
    """Return the user and the memory of an address."""
    path = request.path_params
    return uuid_of(path["user"], "user"), uuid_of(path["memory"], "memory")


def _with_line_feeds(text: str) -> str:
    """Return the text of a field without the carriage returns that a browser adds."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _to_memory(user_id: UUID, memory_id: Any) -> Response:
    return RedirectResponse(f"/users/{user_id}/memories/{memory_id}", 303)


@PAGES.at("/users/{user}/memories/{memory}/confirm", "POST")
async def confirm(inspector: Inspector, request: Request) -> Response:
    """Confirm a memory as a person does."""
    user_id, memory_id = _ids(request)
    await inspector.source.writer.memories.validate(user_id, memory_id)
    if text_of(await form(request), "from") == "reviews":
        return RedirectResponse(f"/users/{user_id}/reviews", 303)
    return _to_memory(user_id, memory_id)


@PAGES.at("/users/{user}/memories/{memory}/correct", "POST")
async def correct(inspector: Inspector, request: Request) -> Response:
    """Replace a memory by a corrected text."""
    user_id, memory_id = _ids(request)
    content = text_of(await form(request), "content")
    if content is None:
        raise InvalidInputError("the corrected text is empty", hint="Type what is right.")
    content = _with_line_feeds(content)
    found = await inspector.source.rows("get_memory", user_id=user_id, memory_id=memory_id)
    if found and _with_line_feeds(found[0]["content"]).strip() == content:
        content = found[0]["content"]  # nobody has touched it
    return _to_memory(
        user_id, await inspector.source.writer.memories.edit(user_id, memory_id, content)
    )


@PAGES.at("/users/{user}/memories/{memory}/retract", "POST")
async def retract(inspector: Inspector, request: Request) -> Response:
    """End a memory; it stays readable."""
    user_id, memory_id = _ids(request)
    reason = text_of(await form(request), "reason")
    await inspector.source.writer.memories.retract(user_id, memory_id, reason=reason)
    return _to_memory(user_id, memory_id)


@PAGES.at("/users/{user}/memories/{memory}/restore", "POST")
async def restore(inspector: Inspector, request: Request) -> Response:
    """Undo a merge, a supersession, a retraction or an expiry."""
    user_id, memory_id = _ids(request)
    return _to_memory(user_id, await inspector.source.writer.memories.restore(user_id, memory_id))


@PAGES.at("/users/{user}/memories/{memory}/settle", "POST")
async def settle(inspector: Inspector, request: Request) -> Response:
    """Accept or refuse a dispute."""
    user_id, memory_id = _ids(request)
    decision = text_of(await form(request), "decision")
    if decision not in ("accept", "refuse"):
        raise InvalidInputError("the decision is missing", hint="Accept or refuse the dispute.")
    await inspector.source.writer.memories.resolve_dispute(
        user_id, memory_id, accept=decision == "accept"
    )
    return RedirectResponse(f"/users/{user_id}/reviews", 303)


@PAGES.at("/users/{user}/erase", "POST")
async def erase(inspector: Inspector, request: Request) -> Page:
    """Erase all data of a user, whose name must be typed; show the receipt once."""
    owner = await inspector.user(request)
    typed = text_of(await form(request), "name")
    if typed not in (owner["name"], str(owner["user_id"])):
        raise HTTPException(
            400, f"The name {typed or ''!r} is not that of the user: nothing was erased."
        )
    receipt = await inspector.source.writer.privacy.forget_user(owner["user_id"])
    return Page("erased.html", {"user": owner, "receipt": receipt}, title="Erased")


@PAGES.at("/jobs/retry", "POST")
async def retry(inspector: Inspector, request: Request) -> Response:
    """Make dead jobs due again, of one kind or of all."""
    kind = text_of(await form(request), "kind")
    await inspector.source.change("retry_dead_jobs", kind=kind or UNSET)
    return RedirectResponse("/jobs", 303)
