"""The context X-ray: what a context holds, why, and how it differs from what was sent."""

from __future__ import annotations

import difflib
from dataclasses import fields
from datetime import timedelta
from typing import Any
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request

from pgrecall._json import json_text
from pgrecall._options import ContextOptions
from pgrecall._runtime import AsyncRuntime
from pgrecall.inspector._pictures import shares
from pgrecall.inspector._sessions import session_of
from pgrecall.inspector._source import Row
from pgrecall.inspector._view import Inspector, Page, Pages, number, text_of

__all__ = ["PAGES", "differences"]

PAGES = Pages()

_PARTS = ("similarity", "lexical", "freshness", "frequency", "authority", "importance")
_USED = ("system", "tools", "memory", "recalled", "working", "summary", "history", "current",
         "overhead")  # fmt: skip
_CALLS = 50  # newest calls of the session that may be that of a turn.
_CANDIDATES = 100  # on a page. Stale memories, which come last, may be thousands.
_MESSAGES = 60  # on a page, unless all are asked for.
_WITHIN = timedelta(minutes=10)  # from the end of a call to the append of its answer.
_SAME = 0.5  # messages less alike than this are two.
_COMPARED = 5_000  # words of a text; the time grows with the square.


@PAGES.at("/users/{user}/sessions/{session}/context")
async def context(inspector: Inspector, request: Request) -> Page:
    """Show the context of a question now, or of a turn as it was then."""
    owner = await inspector.user(request)
    session = await session_of(inspector, request, owner["user_id"])
    query = text_of(request.query_params, "q")
    turn = number(request.query_params, "turn", least=1, most=2**31 - 1)
    budget = number(request.query_params, "memory_budget", most=10**7)
    options: ContextOptions = {}
    if budget is not None:
        options["memory_budget"] = budget
    asked = await _asked(inspector, owner["user_id"], session["session_id"], turn)
    sent = None
    if asked is not None:
        sent = await _sent(inspector, owner["user_id"], session["session_id"], asked["answer"])
        question = asked["question"]
        query = query or (question and question["content"]) or None
        moment = (sent and sent["started_at"]) or asked["answer"]["created_at"]
        options["as_of"] = moment
        # The message that asks is the current one, unless calls of tools stand between.
        if question is not None and question["turn_index"] == asked["turn"] - 1:
            options["through_turn"] = question["turn_index"] - 1
        else:
            options["through_turn"] = asked["turn"] - 1
            options["current_message"] = None
    data: dict[str, Any] = {
        "user": owner, "session": session, "q": query, "turn": turn, "asked": asked,
        "memory_budget": budget, "sent": sent, "compiled": None, "candidates": None,
        "bar": [], "differences": None, "note": None, "cached_share": _cached_share(sent),
        "more_candidates": 0, "most_messages": _MESSAGES,
        "all_query": str(request.url.include_query_params(all=1).query),
    }  # fmt: skip
    if query is not None or turn is not None:
        chat = inspector.source.reader.session(
            user=owner["user_id"], session_id=session["session_id"]
        )
        if query is not None:
            options["embedding"], data["note"] = await inspector.vector(owner["user_id"], query)
        parts = await inspector.parts(
            compiled=chat.compile(query, **options), candidates=chat.explain(query, **options)
        )
        compiled = parts["compiled"]["rows"]
        parts["compiled"]["rows"] = compiled and compiled.raw | {"messages": compiled.messages}
        if (candidates := parts["candidates"]["rows"]) is not None:
            parts["candidates"]["rows"] = [_scored(one) for one in candidates[:_CANDIDATES]]
            data["more_candidates"] = max(0, len(candidates) - _CANDIDATES)
        data |= parts
        if compiled is not None:
            budget_of = compiled.budget
            used = {name: budget_of[name] for name in _USED if budget_of.get(name)}
            data["bar"] = shares(used, _whole(used, budget_of))
            if sent is not None and isinstance(sent["messages"], list):
                data["differences"] = await AsyncRuntime.in_thread(
                    differences, sent["messages"], compiled.messages
                )
    return Page("context.html", data, title="Context X-ray")


def _whole(used: Row, budget: Row) -> float:
    """Return the length of the bar: the window, or what is used where that is hardly to be seen."""
    total = float(sum(used.values()))
    window = float(budget.get("window") or total)
    return window if total > window / 20 else total


def _cached_share(sent: Row | None) -> float | None:
    """Return which share of the prompt came from the provider's cache."""
    if sent is None or not sent["prompt_tokens"] or sent["cached_tokens"] is None:
        return None
    return float(sent["cached_tokens"] / sent["prompt_tokens"])


def _scored(candidate: Any) -> Row:
    """Return a candidate with the parts of its score as a bar."""
    row = {one.name: getattr(candidate, one.name) for one in fields(candidate)}
    parts = {name: row.get(f"{name}_part") or 0.0 for name in _PARTS}
    row["bar"] = shares(parts, max(1.0, sum(parts.values())))
    row["spoken"] = ", ".join(f"{name} {value:.3f}" for name, value in parts.items())
    return row


async def _asked(
    inspector: Inspector, user_id: UUID, session_id: UUID, turn: int | None
) -> Row | None:
    """Return the answer of a turn, and the user's message that it answers.

    Raises:
        HTTPException: the session has no such turn.
    """
    if turn is None:
        return None
    before = await inspector.source.rows(
        "get_messages", user_id=user_id, session_id=session_id, limit=200, before_turn=turn + 1
    )
    if not before or before[0]["turn_index"] != turn:
        raise HTTPException(404, f"The session has no turn {turn}.")
    question = next((one for one in before[1:] if one["role"] == "user"), None)
    return {"turn": turn, "answer": before[0], "question": question}


async def _sent(
    inspector: Inspector, user_id: UUID, session_id: UUID, answer: Row
) -> dict[str, Any] | None:
    """Return the call of the call log that gave an answer; None when the log has none.

    A call belongs to an answer when its response has the same text, or else when it ended shortly
    before the answer was stored.
    """
    of_session = {"user_id": user_id, "session_id": session_id}
    calls = await inspector.source.rows(
        "list_model_calls", limit=_CALLS, include_bodies=False, **of_session
    )
    at = answer["created_at"]
    near = [
        call for call in calls
        if call["job_id"] is None and call["started_at"] <= at + timedelta(seconds=1)
        and (call["completed_at"] or call["started_at"]) >= at - _WITHIN
    ]  # fmt: skip
    closest: dict[str, Any] | None = None
    for call in near[:5]:
        rows = await inspector.source.rows(
            "list_model_calls", call_id=call["call_id"], limit=1, **of_session
        )
        if not rows:  # erased since
            continue
        row = rows[0]
        found = {**call, "messages": _messages(row["request"]), "is_same_text": False,
                 "tools": _tools(row["request"])}  # fmt: skip
        if answer["content"] and answer["content"] == _answer_text(row["response"]):
            return found | {"is_same_text": True}
        closest = closest or found
    return closest


def _messages(request: Any) -> Any:
    return request.get("messages") if isinstance(request, dict) else None


def _tools(request: Any) -> list[str]:
    """Return the names of the tools that a request offered."""
    listed = request.get("tools") if isinstance(request, dict) else None
    return [
        str((tool.get("function") or {}).get("name") or tool.get("type"))
        for tool in listed or ()
        if isinstance(tool, dict)
    ]


def _answer_text(response: Any) -> str | None:
    """Return the text of a chat completion, None for anything else."""
    try:
        text = response["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        return None
    return text if isinstance(text, str) else None


def differences(sent: list[Any], replayed: list[Any]) -> list[Row]:
    """Return both lists of messages side by side: same, changed, or in one of them only.

    The texts of a changed message are cut into words that both have, or one of them.
    """
    texts = [[_text(message) for message in side] for side in (sent, replayed)]
    matcher = difflib.SequenceMatcher(a=texts[0], b=texts[1], autojunk=False)
    found: list[Row] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            found += [{"kind": "same", "role": _role(sent[i]), "text": texts[0][i]}
                      for i in range(a, b)]  # fmt: skip
            continue
        left, right = [*range(a, b)], [*range(c, d)]
        while left and right and _alike(texts[0][left[0]], texts[1][right[0]]):
            i, j = left.pop(0), right.pop(0)
            found.append({"kind": "changed", "role": _role(sent[i]),
                          "words": _words(texts[0][i], texts[1][j])})  # fmt: skip
        found += [{"kind": "sent", "role": _role(sent[i]), "text": texts[0][i]} for i in left]
        found += [{"kind": "replayed", "role": _role(replayed[j]), "text": texts[1][j]}
                  for j in right]  # fmt: skip
    return found


def _alike(one: str, other: str) -> bool:
    return difflib.SequenceMatcher(a=one, b=other, autojunk=False).quick_ratio() >= _SAME


def _role(message: Any) -> str:
    return str(message.get("role", "")) if isinstance(message, dict) else ""


def _text(message: Any) -> str:
    """Return what a message says, other fields as JSON."""
    if not isinstance(message, dict):
        return json_text(message)
    content = message.get("content")
    rest = {key: value for key, value in message.items() if key not in ("role", "content")}
    said = content if isinstance(content, str) else "" if content is None else json_text(content)
    return said + (f"\n{json_text(rest)}" if rest else "")


def _words(one: str, other: str) -> list[Row]:
    """Return the words of both texts in order, each as same, sent or replayed.

    Long texts are shown whole, one after the other.
    """
    left, right = one.split(" "), other.split(" ")
    if max(len(left), len(right)) > _COMPARED:
        return [{"kind": "sent", "text": one}, {"kind": "replayed", "text": other}]
    found: list[Row] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(a=left, b=right, autojunk=False).get_opcodes():
        if kind == "equal":
            found.append({"kind": "same", "text": " ".join(left[a:b])})
            continue
        if b > a:
            found.append({"kind": "sent", "text": " ".join(left[a:b])})
        if d > c:
            found.append({"kind": "replayed", "text": " ".join(right[c:d])})
    return found
