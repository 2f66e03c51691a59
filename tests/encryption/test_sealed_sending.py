"""The driver sends no plaintext of an encrypted user, whatever type a value has."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from pgrecall import AgentMemory
from pgrecall._sync.transport import Transport
from pgrecall.errors import InvalidInputError, PgRecallError
from support.sealed import MARK

Write = Callable[[AgentMemory, uuid.UUID, uuid.UUID], Any]


@pytest.fixture
def sent(memory: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The parameters of all calls that the driver sends from now on."""
    calls: list[str] = []
    send = Transport.send

    def recording(self: Transport, call: Any, *more: Any, **options: Any) -> Any:
        shown = {name: getattr(value, "obj", value) for name, value in call.parameters.items()}
        calls.append(f"{call.function} {shown}")
        return send(self, call, *more, **options)

    monkeypatch.setattr(Transport, "send", recording)
    return calls


@pytest.mark.parametrize(
    "make",
    [str, lambda text: [text], lambda text: (text,), lambda text: {text},
     lambda text: {text: 1}.keys()],
    ids=["text", "list", "tuple", "set", "view"],
)  # fmt: skip
def test_filter_of_an_encrypted_user_takes_a_text_or_any_collection(
    memory: AgentMemory, sealed: uuid.UUID, sent: list[str], make: Callable[[str], Any]
) -> None:
    memory.remember(sealed, "Lives in Porto", slot=f"city {MARK}", tags=[f"home {MARK}"])
    memory.remember(sealed, "Has a boat", slot="boat", tags=["water"])
    for wanted in (
        {"slots": make(f"city {MARK}")},
        {"tags_any": make(f"home {MARK}")},
        {"tags_all": make(f"home {MARK}")},
    ):
        for found in (
            memory.search(sealed, "live", filter=wanted),
            memory.memories.list(sealed, filter=wanted),
        ):
            assert [one.content for one in found] == ["Lives in Porto"], wanted
    assert MARK not in str(sent)


def of_call(memory: AgentMemory, user: uuid.UUID, session: uuid.UUID, **more: Any) -> Any:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    if "arguments" in more:
        call["function"] = {"name": "f", "arguments": more.pop("arguments")}
    return memory.session(user=user, session_id=session).append(
        [{"role": "assistant", "tool_calls": [{**call, **more}]}]
    )


ODD: dict[str, Write] = {
    "slot": lambda m, u, _: m.remember(u, "Tea", slot=[MARK]),  # type: ignore[arg-type]
    "slot, mapping": lambda m, u, _: m.remember(u, "Tea", slot={"a": MARK}),  # type: ignore[arg-type]
    "tags, text": lambda m, u, _: m.remember(u, "Tea", tags=MARK),
    "tags, nested": lambda m, u, _: m.remember(u, "Tea", tags=[[MARK]]),  # type: ignore[list-item]
    "metadata": lambda m, u, _: m.remember(u, "Tea", metadata=[MARK]),  # type: ignore[arg-type]
    "content": lambda m, u, _: m.remember(u, [MARK], embedding=None),  # type: ignore[arg-type]
    "candidate": lambda m, u, _: m.memories.ingest(u, [MARK]),  # type: ignore[list-item]
    "key of a candidate": lambda m, u, _: m.memories.ingest(u, [{"content": "Tea", "note": MARK}]),
    "key of changes": lambda m, u, _: m.memories.edit(
        u, m.remember(u, "Tea").memory_id, "Milk", changes={"note": MARK}
    ),
    "tags of changes": lambda m, u, _: m.memories.edit(
        u, m.remember(u, "Tea").memory_id, "Milk", changes={"tags": {"a": MARK}}
    ),
    "reason": lambda m, u, _: m.memories.retract(
        u,
        m.remember(u, "Tea").memory_id,
        reason=[MARK],  # type: ignore[arg-type]
    ),
    "key of a filter": lambda m, u, _: m.search(u, "tea", filter={"slot": MARK}),
    "value of a filter": lambda m, u, _: m.search(u, "tea", filter={"slots": {"a": MARK}}),
    "metadata of a filter": lambda m, u, _: m.memories.list(u, filter={"metadata": [MARK]}),
    "filter of messages": lambda m, u, _: m.sessions.search_messages(
        u, "tea", filter={"tags_any": [MARK]}
    ),
    "title": lambda m, u, _: m.session(user=u, model="m", title=(MARK,)).open(),  # type: ignore[arg-type]
    "prompt": lambda m, u, _: m.session(user=u, model="m", system_prompt=[MARK]).open(),  # type: ignore[arg-type]
    "notes": lambda m, u, _: m.session(user=u, model="m", metadata=(MARK,)).open(),  # type: ignore[arg-type]
    "message": lambda m, u, s: m.session(user=u, session_id=s).append(
        [{"role": "user", "content": {"type": "text", "text": MARK}}]
    ),
    "name": lambda m, u, s: m.session(user=u, session_id=s).append(
        [{"role": "user", "content": "Hi", "name": [MARK]}]
    ),
    "refusal": lambda m, u, s: m.session(user=u, session_id=s).append(
        [{"role": "assistant", "refusal": [MARK]}]
    ),
    "metadata of a message": lambda m, u, s: m.session(user=u, session_id=s).append(
        [{"role": "user", "content": "Hi", "metadata": [MARK]}]
    ),
    "tool calls": lambda m, u, s: m.session(user=u, session_id=s).append(
        [{"role": "assistant", "tool_calls": {"a": MARK}}]
    ),
    "tool call": lambda m, u, s: m.session(user=u, session_id=s).append(
        [{"role": "assistant", "tool_calls": [MARK]}]
    ),
    "arguments": lambda m, u, s: of_call(m, u, s, arguments={"a": [MARK]}),
    "function": lambda m, u, s: of_call(m, u, s, function=MARK),
    "annotation": lambda m, u, s: m.session(user=u, session_id=s).annotate(1, [MARK]),  # type: ignore[arg-type]
    "working": lambda m, u, s: m.session(user=u, session_id=s).put_working([MARK], (MARK,), 1),  # type: ignore[arg-type]
    "task": lambda m, u, s: m.session(user=u, session_id=s).context(
        "tea",
        include_working=[MARK],  # type: ignore[arg-type]
    ),
    "key of options": lambda m, u, s: m.session(user=u, session_id=s).context("tea", note=MARK),  # type: ignore[call-arg]
    "filter of a context": lambda m, u, s: m.session(user=u, session_id=s).context(
        "tea", filter={"slot": MARK}
    ),
    "key of an item": lambda m, u, _: m.items.put(
        u, [{"namespace": ["a"], "key": "k", "value": 1, "note": MARK}]
    ),
    "item": lambda m, u, _: m.items.put(u, [(MARK,)]),  # type: ignore[list-item]
    "filter of items": lambda m, u, _: m.items.search(u, ["a"], filter={"kind": MARK}),
    "metadata of a user": lambda m, u, _: m.users.ensure(u, metadata={"a": MARK}),
}


@pytest.mark.parametrize("vectors", [False, True], ids=["words", "vectors"])
def test_value_of_another_type_is_encrypted_or_refused(
    memory: AgentMemory, user: uuid.UUID, sent: list[str], vectors: bool
) -> None:
    memory.encryption.seal_user(user, vectors=vectors)
    chat = memory.session(user=user, model="gpt-4o-mini")
    chat.append(user="Hello")
    for name, write in ODD.items():
        sent.clear()
        with pytest.raises(PgRecallError) as caught:
            write(memory, user, chat.session_id)
        assert MARK not in str(sent), name
        assert "sealed:v1" not in str(caught.value) or name == "function", name


def test_extra_fields_of_a_tool_call_are_encrypted(
    memory: AgentMemory, sealed: uuid.UUID, sent: list[str]
) -> None:
    chat = memory.session(user=sealed, model="gpt-4o-mini")
    chat.append(user="Hello")
    extra = {"google": {"thought_signature": MARK, "parts": [MARK, 3, None]}}
    of_call(memory, sealed, chat.session_id, extra_content=extra)
    [call] = chat.messages()[0].tool_calls or []
    assert call["extra_content"] == extra
    assert (call["id"], call["function"]) == ("c", {"name": "f", "arguments": "{}"})
    assert MARK not in str(sent)


def append(memory: AgentMemory, user: uuid.UUID, **change: Any) -> Any:
    said: list[dict[str, Any]] = [{"role": "user", "content": "Hi"} for _ in range(5)]
    said[3].update(change)
    return memory.session(user=user, model="gpt-4o-mini").append(said)


def ingest(memory: AgentMemory, user: uuid.UUID, **change: Any) -> Any:
    candidates: list[dict[str, Any]] = [{"content": f"Tea {n}"} for n in range(5)]
    candidates[3].update(change)
    return memory.memories.ingest(user, candidates)


@pytest.mark.parametrize(
    ("write", "change", "place"),
    [
        (ingest, {"source_session": MARK}, "candidates[3].source_session of"),
        (ingest, {"content": {"a": MARK}}, "candidates[3].content is a dict"),
        (ingest, {"slot": {"a": MARK}}, "candidates[3].slot is a dict"),
        (ingest, {"tags": [{"a": MARK}]}, "candidates[3].tags[0] is a dict"),
        (append, {"content": {"a": MARK}}, "messages[3] is malformed"),
        (append, {"content": {"a": MARK}, "token_count": 1}, "messages[3].content is a dict"),
        (append, {"name": {"a": MARK}, "token_count": 1}, "messages[3].name is a dict"),
        (append, {"refusal": {"a": MARK}}, "messages[3].refusal is a dict"),
    ],
)
def test_refusal_names_the_index_of_the_element(
    memory: AgentMemory, sealed: uuid.UUID, write: Any, change: dict[str, Any], place: str
) -> None:
    """`pgrecall import` finds the line by it."""
    with pytest.raises(InvalidInputError) as caught:
        write(memory, sealed, **change)
    assert caught.value.message.startswith(place)
