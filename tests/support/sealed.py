"""Helpers for tests of encrypted users."""

from __future__ import annotations

import base64
import json
import uuid
from typing import Any

import psycopg

from pgrecall import AgentMemory
from pgrecall.encryption import LocalWrappingKeys
from support import rows, value
from support.completions import CALL, completion
from support.fakes import WordEmbedder

Connection = psycopg.Connection[Any]

MARK = "zebrafish"
"""A word that stands in everything the sealed user has."""

KEYS = LocalWrappingKeys({"first": bytes(range(32))})


def connected(dsn: str, keys: LocalWrappingKeys | None = KEYS) -> AgentMemory:
    """Return another driver, without an embedder."""
    return AgentMemory.connect(dsn, embedder=False, wrapping_keys=keys)


def with_words(dsn: str, **more: Any) -> AgentMemory:
    """Return a driver with an embedder of words."""
    return AgentMemory.connect(dsn, embedder=WordEmbedder(), wrapping_keys=KEYS, **more)


def marks(mark: str = MARK) -> list[bytes]:
    """Return the forms in which a text could be read in a dump: as it is, in hex, in base64, ….

    In lower case, as what is searched must be; a stem is found as the beginning of its word.
    """
    data = mark.encode()
    forms = [data, mark.upper().encode(), mark.encode("utf-16-le"), mark.encode("utf-16-be")]
    found = set(forms) | {form.hex().encode() for form in forms}
    for form in (*forms, mark.capitalize().encode()):
        for shift in range(3):  # what of it does not depend on the bytes around
            coded = base64.b64encode(b"\0" * shift + form)[4 if shift else 0 :]
            found.add(coded[: len(coded) - 4])
            found.add(coded[: len(coded) - 4].translate(bytes.maketrans(b"+/", b"-_")))
    return sorted({form.lower() for form in found})


def readable(db: Connection, mark: str = MARK) -> list[str]:
    """Return the tables in which the mark stands, in any column of any row."""
    return [
        row["name"]
        for row in rows(
            db,
            "select c.oid::regclass::text as name from pg_class as c"
            " where c.relnamespace = 'recall'::regnamespace and c.relkind in ('r', 'p')"
            " and not c.relispartition",
        )
        if value(
            db, f"select count(*) from {row['name']} as t where t::text ilike %s", [f"%{mark}%"]
        )
    ]


def use_everything(memory: AgentMemory, user: uuid.UUID) -> uuid.UUID:
    """Put the mark everywhere; return the session."""
    with memory.session(
        user=user, model="gpt-4o-mini", system_prompt=f"You know {MARK}.", title=f"On {MARK}",
        metadata={"about": MARK, "n": {"deep": [MARK]}},
    ) as chat:  # fmt: skip
        chat.append(
            user=f"I keep a {MARK}.", reply=completion(message={"content": f"A {MARK}? How nice."})
        )
        chat.append(
            user=[{"type": "text", "text": f"Look, a {MARK}"},
                  {"type": "image_url", "image_url": {"url": f"https://{MARK}.example/x.png"}}]
        )  # fmt: skip
        call = json.loads(json.dumps(CALL))
        call["function"]["arguments"] = json.dumps({"of": MARK})
        chat.append(
            [{"role": "assistant", "tool_calls": [call], "metadata": {"seen": MARK}},
             {"role": "tool", "tool_call_id": call["id"], "content": f"{MARK}: 3 cm"},
             {"role": "assistant", "content": None, "refusal": f"Not about {MARK}."},
             {"role": "user", "name": MARK, "content": "Why?", "odd": {MARK: MARK}}]
        )  # fmt: skip
        chat.annotate(1, {"stars": MARK})
        chat.put_working(f"task {MARK}", f"key {MARK}", {"found": [MARK]})
        first = chat.remember(f"The user keeps a {MARK}.", slot=f"pet {MARK}", tags=[MARK],
                              metadata={"from": MARK})  # fmt: skip
        memory.remember(user, f"The user likes {MARK} soup")
        memory.memories.edit(user, first.memory_id, f"The user keeps two {MARK}.")
        gone = memory.remember(user, f"The user hates every {MARK}")
        memory.memories.retract(user, gone.memory_id, reason=f"{MARK} says no")
        return chat.session_id
