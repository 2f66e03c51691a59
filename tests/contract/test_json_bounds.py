"""JSON is bounded in depth and in its numbers: whatever is stored can be read again."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory
from pgrecall.errors import InvalidInputError
from support import append, call, open_session, refused, value
from support.everyfunction import furnish
from support.parameters import (
    Parameter,
    adorned,
    call_with,
    leaves,
    public_parameters,
    sane_arguments,
)
from support.parameters import replaced as with_new

Connection = psycopg.Connection[Any]

HUGE = {"1e5000": "1e5000", "1e-5000": "1e-5000", "digits": "9" * 401}
"""Numbers that are longer than 400 characters when they are written out."""


def nested(levels: int, item: Any = 1) -> Any:
    for level in range(levels):
        item = [item] if level % 2 else {"x": item}
    return item


def with_number(document: Any, number: str) -> Jsonb:
    """Return JSON with a number in the place of the text "@"."""
    return Jsonb(document, dumps=lambda item: json.dumps(item).replace('"@"', number))


def too_much(base: Any, levels: int) -> Iterator[tuple[Jsonb, str]]:
    """Yield unreadable values of a parameter, one for each place of a sane value, and what is said.

    The first two stand for the parameter as a whole.
    """
    yield Jsonb(nested(levels + 1)), "nested"
    yield with_number({"x": ["@"]}, HUGE["1e5000"]), "number"
    for number, path in enumerate(leaves(base, inner=True)):
        yield Jsonb(with_new(base, path, nested(levels + 1))), "nested"
        digits = list(HUGE.values())[number % len(HUGE)]
        yield with_number(with_new(base, path, ["@"]), digits), "number"


def attempts(
    parameters: list[Parameter], sane: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield calls with one unreadable value, and how the error begins."""
    for parameter in parameters:
        if parameter.kind != "jsonb":
            continue
        base = sane.get(parameter.name)
        levels = 68 if parameter.name in ("p_document", "p_items") else 64
        for bad, why in too_much(base.obj if base is not None else {}, levels):
            word = "is nested" if why == "nested" else "holds a number"
            yield sane | {parameter.name: bad}, f"{parameter.name} {word}"


# Left out with words in last_error, since a failure must always be reportable.
REPORTED = {("fail_job", "p_phases")}


@pytest.mark.slow
def test_every_parameter_is_bounded(db: Connection) -> None:
    """Whichever JSON of whichever function: RC003 with the parameter's name."""
    world = adorned(db, furnish(db, "alpha"))
    asked: set[tuple[str, str]] = set()
    functions = public_parameters(db)
    for function, parameters in functions.items():
        for sane in sane_arguments(function, parameters, world):
            for arguments, words in attempts(parameters, sane):
                if (function, words.split(" ")[0]) in REPORTED:
                    continue
                with refused("RC003", words), db.transaction():
                    call_with(db, function, parameters, arguments)
                asked.add((function, words.split(" ")[0]))
    wanted = {
        (function, parameter.name)
        for function, parameters in functions.items()
        for parameter in parameters
        if parameter.kind == "jsonb"
    }
    assert asked == wanted - REPORTED
    assert len(wanted) > 30


def deepest(levels: int) -> dict[str, Any]:
    return {"x": nested(levels - 1)}


def test_json_within_the_bounds_is_stored_and_read_back(
    memory: AgentMemory, model_dsn: str
) -> None:
    """At the very bounds, in each part of a message, through every way to read it."""
    user = memory.users.id(f"deep {uuid.uuid4()}")
    long = int("9" * 400)
    part = {"type": "image_url", "image_url": {"url": "https://x.example/a.png", "y": deepest(59)}}
    called = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": [part], "metadata": deepest(62)},
        {"role": "assistant", "content": None, "tool_calls": [called], "extra": deepest(62)},
        {"role": "tool", "tool_call_id": "c1", "content": "x", "metadata": {"n": [long, -long]}},
    ]
    with psycopg.connect(model_dsn, autocommit=True) as db:
        session = open_session(db, user)
        append(db, user, session, messages)
        call(db, "remember", p_user_id=user, p_content="Likes tea", p_metadata=deepest(64))
        call(db, "put_working", p_user_id=user, p_session_id=session, p_task_id="t", p_key="k",
             p_value=deepest(64))  # fmt: skip
    assert len(memory.sessions.messages(user, session)) == 3
    assert memory.session(user=user, session_id=session).context()
    document = memory.privacy.export_user(user)
    memory.privacy.forget_user(user)
    memory.privacy.import_user(json.loads(json.dumps(document)))
    assert len(memory.sessions.messages(user, session)) == 3
    assert memory.memories.list(user)[0].metadata == deepest(64)


def test_a_body_that_cannot_be_read_is_kept_as_bytes(db: Connection, user: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"ledger": "calls"})
    for body in (b"[" * 20_000 + b"]" * 20_000, b'{"x": 1e5000}', b"[" * 65 + b"]" * 65):
        [row] = call(db, "record_model_call", p_user_id=user, p_model="m", p_request_body=body)
        stored = value(
            db, "select (request_body = %s, request is null)::text from recall.model_calls"
            " where call_id = %s", [body, row["record_model_call"]])  # fmt: skip
        assert stored == "(t,t)"


class Strange:
    """Nothing that JSON knows."""


def cycle() -> dict[str, Any]:
    one: dict[str, Any] = {}
    one["x"] = [one]
    return one


@pytest.mark.parametrize(
    "bad",
    [cycle(), nested(65), b"x", bytearray(b"x"), {"a": [b"x"]}, [memoryview(b"x")], 10**400,
     {"a": -(10**5000)}, Strange(), {"a": {b"x": 1}}, float("nan")],
    ids=lambda bad: type(bad).__name__,
)  # fmt: skip
def test_the_driver_refuses_before_it_sends(memory: AgentMemory, bad: Any) -> None:
    user = memory.users.id(f"bad {uuid.uuid4()}")
    session = memory.session(user=user, model="gpt-4o-mini")
    session.append([{"role": "user", "content": "Hello"}])
    with pytest.raises(InvalidInputError) as caught:
        session.append([{"role": "user", "content": "Hello", "metadata": {"bad": bad}}])
    assert caught.value.diag.message_primary is None  # it does not come from the database
    assert len(session.messages()) == 1
