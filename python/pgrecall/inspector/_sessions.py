"""Sessions of a user, one session with its conversation, and calls of models."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request

from pgrecall._sql import UNSET
from pgrecall.inspector._source import Row
from pgrecall.inspector._view import (
    PAGE_SIZE,
    Inspector,
    Page,
    Pages,
    next_link,
    number,
    optional_uuid,
    uuid_of,
)

__all__ = ["PAGES", "session_of"]

PAGES = Pages()

_DRAWN = 200  # memories of a session that its turns name
_SPANS = 500  # newest spans of the user among which those of a session are looked for


@PAGES.at("/users/{user}/sessions")
async def sessions(inspector: Inspector, request: Request) -> Page:
    """List the sessions of a user, newest first."""
    owner = await inspector.user(request)
    parts = await inspector.parts(
        sessions=inspector.source.rows(
            "list_sessions",
            user_id=owner["user_id"],
            limit=PAGE_SIZE,
            before_id=optional_uuid(request.query_params, "before"),
        )
    )
    parts["next"] = next_link(request, parts["sessions"]["rows"], PAGE_SIZE, before="session_id")
    return Page("sessions.html", {"user": owner, **parts}, title=f"Sessions of {owner['name']}")


async def session_of(inspector: Inspector, request: Request, user_id: UUID) -> Row:
    """Return the session of an address.

    Raises:
        HTTPException: the user has none of that id.
    """
    session_id = uuid_of(request.path_params["session"], "session")
    found = await inspector.source.rows("get_session", user_id=user_id, session_id=session_id)
    if not found:
        raise HTTPException(404, f"This user has no session {session_id}.")
    return found[0]


@PAGES.at("/users/{user}/sessions/{session}")
async def session(inspector: Inspector, request: Request) -> Page:
    """Show a conversation: messages, summaries, compactions, calls, jobs, and what was drawn."""
    owner = await inspector.user(request)
    source, user_id = inspector.source, owner["user_id"]
    row = await session_of(inspector, request, user_id)
    of_session = {"user_id": user_id, "session_id": row["session_id"]}
    before = number(request.query_params, "before", least=1, most=2**31 - 1)
    parts = await inspector.parts(
        messages=source.rows(
            "get_messages",
            limit=PAGE_SIZE,
            before_turn=UNSET if before is None else before,
            **of_session,
        ),
        summaries=source.rows("list_summaries", **of_session),
        phases=_phases(inspector, user_id, row["session_id"]),
        calls=source.rows("list_model_calls", include_bodies=False, **of_session),
        memories=source.rows(
            "list_memories",
            user_id=user_id,
            filter={"source_session_id": str(row["session_id"]), "include_ended": True},
            limit=_DRAWN,
        ),
    )
    parts["older"] = next_link(request, parts["messages"]["rows"], PAGE_SIZE, before="turn_index")
    drawn: dict[str, list[Row]] = {}
    for memory in parts["memories"]["rows"] or ():
        for message_id in memory["source_turn_ids"] or ():
            drawn.setdefault(str(message_id), []).append(memory)
    messages = parts["messages"]["rows"]
    if messages is not None:
        messages.reverse()
    return Page(
        "session.html",
        {"user": owner, "session": row, "drawn": drawn, "tool_names": _tool_names(messages or []),
         **parts},
        title=row["title"] or "Session",
    )  # fmt: skip


async def _phases(inspector: Inspector, user_id: UUID, session_id: UUID) -> list[Row]:
    """Return the newest spans of jobs that worked on a session."""
    found = await inspector.source.rows("list_job_phases", user_id=user_id, limit=_SPANS)
    return [span for span in found if span["session_id"] == session_id]


def _tool_names(messages: list[Row]) -> dict[str, str]:
    """Return the names of the called functions by the id of the call."""
    return {
        str(call.get("id")): str((call.get("function") or {}).get("name", ""))
        for message in messages
        for call in message["tool_calls"] or ()
        if isinstance(call, dict)
    }


@PAGES.at("/users/{user}/costs")
async def costs(inspector: Inspector, request: Request) -> Page:
    """List the calls of models, and the work of jobs, with tokens and cost."""
    owner = await inspector.user(request)
    source, user_id = inspector.source, owner["user_id"]
    parts = await inspector.parts(
        spending=source.rows("list_spending", user_id=user_id),
        calls=source.rows(
            "list_model_calls",
            user_id=user_id,
            limit=PAGE_SIZE,
            include_bodies=False,
            before_id=optional_uuid(request.query_params, "before_call"),
        ),
        phases=source.rows(
            "list_job_phases",
            user_id=user_id,
            limit=PAGE_SIZE,
            before_id=optional_uuid(request.query_params, "before_phase"),
        ),
    )
    return Page(
        "costs.html",
        {
            "user": owner,
            "more_calls": next_link(
                request, parts["calls"]["rows"], PAGE_SIZE, before_call="call_id"
            ),
            "more_phases": next_link(
                request, parts["phases"]["rows"], PAGE_SIZE, before_phase="phase_id"
            ),
            **parts,
        },
        title=f"Cost of {owner['name']}",
    )


@PAGES.at("/users/{user}/calls/{call}")
async def call(inspector: Inspector, request: Request) -> Page:
    """Show one call of a model as the call log has it."""
    owner = await inspector.user(request)
    call_id = uuid_of(request.path_params["call"], "call")
    found = await inspector.source.rows(
        "list_model_calls", user_id=owner["user_id"], call_id=call_id, limit=1
    )
    if not found:
        raise HTTPException(404, f"The call log has no call {call_id} of this user.")
    row: dict[str, Any] = found[0]
    return Page("call.html", {"user": owner, "call": row}, title=f"Call of {row['model']}")
