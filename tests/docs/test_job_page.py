"""The examples of docs/reference/job-protocol.md, run against the database in their order."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from support import value
from support.servers import DIMENSIONS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "job-protocol.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = ("A batch of vectors", "An extraction", "A prompt that is too long")


def sections() -> dict[str, str]:
    """The sections of the page by title."""
    parts = re.split(r"^## (.+)$", TEXT, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def agrees(shown: Any, found: Any, place: str = "") -> None:
    """Compare what the page shows with what came.

    … stands for any value, within a text for the rest of a line, and at its end for all the rest.
    """
    if shown == "…":
        return
    if isinstance(shown, str) and "…" in shown:
        pattern = ".*".join(re.escape(part) for part in shown.removesuffix("…").split("…"))
        pattern += r"[\s\S]*" if shown.endswith("…") else ""
        assert isinstance(found, str), place
        assert re.fullmatch(pattern, found), f"{place}: {found}"
    elif isinstance(shown, dict):
        assert isinstance(found, dict), f"{place}: {found}"
        assert shown.keys() == found.keys(), f"{place}: {found}"
        for key in shown:
            agrees(shown[key], found[key], f"{place}.{key}")
    elif isinstance(shown, list):
        assert isinstance(found, list), f"{place}: {found}"
        assert len(shown) == len(found), f"{place}: {found}"
        for number, (one, other) in enumerate(zip(shown, found, strict=True)):
            agrees(one, other, f"{place}[{number}]")
    else:
        assert shown == found, f"{place}: {found}"


def without_id(request: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in request.items() if key != "request_id"}


def test_examples_of_the_job_page_match_the_database(db: psycopg.Connection) -> None:
    parts = sections()
    assert [*parts] == ["The protocol", *EXAMPLES]
    (worker,) = blocks(parts["The protocol"], "json")
    call = "select recall.next_request(%s, %s, %s, %s::jsonb, %s::jsonb)"
    for title in EXAMPLES:
        job: dict[str, Any] = {}
        for script in blocks(parts[title], "sql"):
            for statement in filter(str.strip, script.split(";\n")):
                job = db.cursor(row_factory=dict_row).execute(statement).fetchone() or {}
        key = [job["user_id"], job["job_id"], job["lease_token"], worker]
        request = value(db, call, [*key, None])
        for shown in map(json.loads, blocks(parts[title], "json")):
            if "type" in shown:
                agrees(without_id(shown), without_id(request))
                continue
            answer = shown | {"request_id": request["request_id"]}
            if "vectors" in shown:
                answer["vectors"] = [
                    [*vector, *[0.0] * (DIMENSIONS - len(vector))] for vector in shown["vectors"]
                ]
            request = value(db, call, [*key, json.dumps(answer)])
    superseded = (
        "select old.content, new.content from recall.memory_store as old"
        "  join recall.memory_store as new on new.memory_id = old.superseded_by"
    )
    assert db.execute(superseded).fetchall() == [
        ("User uses Postgres.", "User switched from Postgres to SQLite.")
    ]
