"""Users, their memories, one memory, searches, and what awaits a person."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from pgrecall._sql import UNSET
from pgrecall.inspector._pictures import chain_picture
from pgrecall.inspector._shown import json_text
from pgrecall.inspector._source import Row
from pgrecall.inspector._view import (
    PAGE_SIZE,
    Inspector,
    Page,
    Pages,
    next_link,
    number,
    optional_uuid,
    text_of,
    time_of,
    uuid_of,
)

__all__ = ["PAGES"]

PAGES = Pages()

TIERS = ("working", "session", "episodic", "semantic", "procedural")
_STEPS = 100  # of the slider
_NEAREST = 5  # messages that are shown for a memory without sources


@PAGES.at("/users")
async def users(inspector: Inspector, request: Request) -> Page | Response:
    """List users, or go to the one that is named."""
    name = text_of(request.query_params, "name")
    if name is not None:
        return RedirectResponse(f"/users/{await inspector.source.user_id(name)}", 303)
    parts = await inspector.parts(
        users=inspector.source.rows(
            "list_users",
            after_id=optional_uuid(request.query_params, "after"),
            limit=PAGE_SIZE,
        )
    )
    parts["next"] = next_link(request, parts["users"]["rows"], PAGE_SIZE, after="user_id")
    return Page("users.html", parts, title="Users")


@PAGES.at("/users/{user}")
async def user(inspector: Inspector, request: Request) -> Page:
    """Show the profile of a user, and the memories that a filter and a time select."""
    owner = await inspector.user(request)
    user_id = owner["user_id"]
    start = await _start(inspector, owner)
    as_of, position = _moment(request, start)
    chosen = _filter(request)
    query = text_of(request.query_params, "q")
    note = None
    if query is not None:
        vector, note = await inspector.vector(user_id, query)
        listed = _found(
            inspector, user_id, query, vector, chosen=chosen, as_of=as_of, limit=PAGE_SIZE
        )
    elif as_of is not None:
        listed = inspector.source.rows(
            "get_memories",
            user_id=user_id,
            filter=chosen,
            as_of=as_of,
            limit=PAGE_SIZE,
            after_id=optional_uuid(request.query_params, "after"),
        )
    else:
        listed = inspector.source.rows(
            "list_memories",
            user_id=user_id,
            filter=chosen,
            limit=PAGE_SIZE,
            before_id=optional_uuid(request.query_params, "before"),
        )
    parts = await inspector.parts(
        memories=listed, profile=inspector.source.value("get_profile", user_id=user_id)
    )
    rows = parts["memories"]["rows"]
    following = None
    if query is None:
        cursor = "before" if as_of is None else "after"
        following = next_link(request, rows, PAGE_SIZE, **{cursor: "memory_id"})
    return Page(
        "user.html",
        {
            "user": owner,
            "filter": chosen,
            "note": note,
            "as_of": as_of,
            "position": position,
            "start": start,
            "tiers": TIERS,
            "next": following,
            **parts,
        },
        title=f"User {owner['name']}",
    )


async def _start(inspector: Inspector, owner: Row) -> datetime | None:
    """Return when a user's history begins, None for a user without memories."""
    if owner["row"] is not None:
        return owner["row"]["created_at"]  # type: ignore[no-any-return]
    first = await inspector.source.rows(
        "get_memories", user_id=owner["user_id"], filter={"include_ended": True}, limit=1
    )
    return first[0]["created_at"] if first else None


async def _found(
    inspector: Inspector,
    user_id: UUID,
    query: str,
    vector: Any,
    *,
    chosen: Row,
    as_of: datetime | None,
    limit: int,
) -> list[Row]:
    """Return what a search finds, for encrypted users, too."""
    hits = await inspector.source.reader.search(
        user_id,
        query,
        embedding=vector,
        limit=limit,
        filter=chosen or UNSET,
        as_of=UNSET if as_of is None else as_of,
    )
    return [{field.name: getattr(hit, field.name) for field in fields(hit)} for hit in hits]


def _moment(request: Request, start: datetime | None) -> tuple[datetime | None, int]:
    """Return the time that a page shows, and its position on the slider; None and the end: now."""
    given = time_of(request.query_params, "as_of")
    position = number(request.query_params, "position", most=_STEPS)
    now = datetime.now(UTC)
    if given is not None:
        span = (now - start) / timedelta(seconds=1) if start else 0
        part = ((given - start) / timedelta(seconds=1)) / span if start and span > 0 else 1
        return given, round(_STEPS * min(1, max(0, part)))
    if position is None or position == _STEPS or start is None:
        return None, _STEPS
    return start + (now - start) * position / _STEPS, position


def _filter(request: Request) -> Row:
    """Return the filter of the form."""
    values = request.query_params
    chosen: Row = {}
    for name, key in (("kind", "kinds"), ("tier", "tiers"), ("slot", "slots"), ("tag", "tags_any")):
        if (given := text_of(values, name)) is not None:
            chosen[key] = [part.strip() for part in given.split(",") if part.strip()]
    if text_of(values, "ended"):
        chosen["include_ended"] = True
    return chosen


@PAGES.at("/users/{user}/memories/{memory}")
async def memory(inspector: Inspector, request: Request) -> Page:
    """Show where a memory comes from, what became of it, and how it is used."""
    owner = await inspector.user(request)
    source, user_id = inspector.source, owner["user_id"]
    memory_id = uuid_of(request.path_params["memory"], "memory")
    found = await source.rows("get_memory", user_id=user_id, memory_id=memory_id)
    if not found:
        raise HTTPException(404, f"This user has no memory {memory_id}.")
    row = found[0]
    of_one = {"user_id": user_id, "memory_id": memory_id}
    parts = await inspector.parts(
        chain=source.rows("memory_chain", **of_one),
        events=source.rows("memory_history", **of_one),
        sources=_sources(inspector, user_id, row),
    )
    nearest = note = None
    if not parts["sources"]["rows"] and not parts["sources"]["error"]:
        made = await inspector.parts(vector=inspector.vector(user_id, row["content"]))
        vector, note = made["vector"]["rows"] or (None, None)
        near = await inspector.parts(nearest=_nearest(inspector, user_id, row, vector))
        nearest = near["nearest"]
    return Page(
        "memory.html",
        {"user": owner, "memory": row, "nearest": nearest, "note": note, **parts,
         "picture": chain_picture(parts["chain"]["rows"] or [row])},
        title=f"Memory of {owner['name']}",
    )  # fmt: skip


async def _sources(inspector: Inspector, user_id: UUID, row: Row) -> list[Row]:
    """Return the messages that a memory was drawn from, each with the message before it."""
    ids = row["source_turn_ids"] or []
    if not ids:
        return []
    return await inspector.source.rows("get_messages_by_id", user_id=user_id, message_ids=ids)


async def _nearest(inspector: Inspector, user_id: UUID, row: Row, vector: Any) -> list[Row]:
    """Return the messages that say most nearly what a memory says."""
    hits = await inspector.source.reader.sessions.search_messages(
        user_id, row["content"], embedding=vector, limit=_NEAREST
    )
    return [{field.name: getattr(hit, field.name) for field in fields(hit)} for hit in hits]


@PAGES.at("/users/{user}/events")
async def events(inspector: Inspector, request: Request) -> Page:
    """List what happened to all memories of a user, newest first."""
    owner = await inspector.user(request)
    before = number(request.query_params, "before")
    parts = await inspector.parts(
        events=inspector.source.rows(
            "list_memory_events",
            user_id=owner["user_id"],
            limit=PAGE_SIZE,
            before_no=UNSET if before is None else before,
        )
    )
    parts["next"] = next_link(request, parts["events"]["rows"], PAGE_SIZE, before="event_no")
    return Page("events.html", {"user": owner, **parts}, title=f"Events of {owner['name']}")


@PAGES.at("/users/{user}/reviews")
async def reviews(inspector: Inspector, request: Request) -> Page:
    """List disputes, and memories that the user should confirm again."""
    owner = await inspector.user(request)
    parts = await inspector.parts(
        disputes=inspector.source.rows("list_disputes", user_id=owner["user_id"]),
        reviews=inspector.source.rows("memories_to_review", user_id=owner["user_id"]),
    )
    return Page(
        "reviews.html", {"user": owner, **parts}, title=f"Disputes and reviews of {owner['name']}"
    )


@PAGES.at("/users/{user}/search")
async def search(inspector: Inspector, request: Request) -> Page:
    """Compare what a query finds by its vector, by its words, and by both."""
    owner = await inspector.user(request)
    source, user_id = inspector.source, owner["user_id"]
    query = text_of(request.query_params, "q")
    limit = number(request.query_params, "limit", least=1, most=100) or 10
    as_of = time_of(request.query_params, "as_of")
    chosen = _filter(request)
    data: dict[str, Any] = {
        "user": owner, "filter": chosen, "as_of": as_of, "limit": limit, "note": None,
        "tiers": TIERS, "dates": None, "together": None, "by_vector": None, "by_words": None,
    }  # fmt: skip
    if query is not None:
        vector, data["note"] = await inspector.vector(user_id, query)
        shared = {"user_id": user_id, "limit": limit, "filter": chosen,
                  "as_of": UNSET if as_of is None else as_of}  # fmt: skip
        asked = {
            "together": _found(inspector, user_id, query, vector, chosen=chosen, as_of=as_of,
                               limit=limit),
            "dates": source.rows("query_dates", query=query),
        }  # fmt: skip
        if vector is not None:
            asked["by_words"] = source.rows("search", query=query, **shared)
            asked["by_vector"] = source.rows("search", query_embedding=vector, **shared)
        data |= await inspector.parts(**asked)
    return Page("search.html", data, title=f"Search lab of {owner['name']}")


@PAGES.at("/users/{user}/data")
async def data(inspector: Inspector, request: Request) -> Page:
    """Offer export, verification of the audit, and erasure."""
    owner = await inspector.user(request)
    findings = None
    if text_of(request.query_params, "verify"):
        found = await inspector.parts(
            findings=inspector.source.rows("verify_integrity", user_id=owner["user_id"])
        )
        findings = found["findings"]
    return Page(
        "data.html", {"user": owner, "findings": findings}, title=f"Data of {owner['name']}"
    )


@PAGES.at("/users/{user}/export")
async def export(inspector: Inspector, request: Request) -> Response:
    """Return all data of a user as a file: a line of JSON, or several for a large user."""
    owner = await inspector.user(request)
    pieces = inspector.source.reader.privacy.export_user_pieces(owner["user_id"])
    first = await anext(pieces)  # its error as a page

    async def lines() -> AsyncIterator[str]:
        async with aclosing(pieces):
            yield json_text(first) + "\n"
            async for piece in pieces:
                yield json_text(piece) + "\n"

    ending = "jsonl" if "piece" in first else "json"
    headers = {"content-disposition": f'attachment; filename="{owner["user_id"]}.{ending}"'}
    return StreamingResponse(lines(), headers=headers, media_type="application/json")
