"""Lists that a client holds, edits, cuts and summarizes: what is new is stored and read, once."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, AsyncAgentMemory, ChatSession
from pgrecall._messages import continued
from pgrecall.errors import ConnectionLostError, InvalidInputError, SessionNotActiveError
from support import dialog, session_row, together, value
from support.scripted_model import MODEL, TURN, Script, fact, step_of, work
from support.scripted_openai import ScriptedOpenAI

pytestmark = pytest.mark.usefixtures("empty_queue")


@pytest.fixture
def memory(scripted_memory: AgentMemory) -> AgentMemory:
    return scripted_memory


Messages = list[dict[str, Any]]


@pytest.fixture
def chat(memory: AgentMemory, user: uuid.UUID) -> ChatSession:
    return memory.session(user=user, model=MODEL, system_prompt="You are kind.")


def stored(chat: ChatSession) -> list[str]:
    return [str(message.content) for message in reversed(chat.messages(limit=1000))]


@pytest.mark.parametrize(
    ("before", "listed", "expected"),
    [
        ("", "", (0, 0)),
        ("", "ab", (0, 0)),
        ("ab", "ab", (2, 2)),
        ("ab", "abcd", (2, 2)),
        ("abcd", "cdef", (4, 2)),  # the beginning is cut off
        ("abcd", "Scdef", (4, 3)),  # it is a summary now
        ("abcd", "Sxy", (4, 0)),  # all of it is
        ("abcd", "", (4, 0)),
        ("ao", "aobo", (2, 2)),  # the same words again are new words
        ("aobo", "aobo", (4, 4)),
        ("aobo", "aoboo", (4, 4)),
        ("aobo", "Sco", (4, 0)),  # "o" alone says nothing
        ("aobc", "Sco", (4, 2)),
        ("oooo", "ooooo", (4, 4)),
        ("aobo", "obo", (4, 3)),
        ("abcd", "abce", (3, 3)),  # another last answer
        ("abcd", "axyz", (1, 1)),  # an early edit
        ("abco", "abxo", (2, 2)),  # an edit before words that stay
        ("abcdef", "cdxy", (4, 2)),  # an edit of a list that was cut
        ("abcd", "ab", (4, 2)),  # an older copy
        ("abcd", "bc", (4, 2)),
        ("abcd", "cxy", (4, 0)),  # one word that was said before is no stretch of it
        ("abcd", "aScdx", (4, 4)),  # the middle is a summary
    ],
)
def test_sync_finds_where_a_list_continues(
    before: str, listed: str, expected: tuple[int, int]
) -> None:
    def hashes(text: str) -> list[bytes]:
        return [letter.encode() for letter in text]

    assert continued(hashes(before), hashes(listed)) == expected
    if expected == (1, 1):  # what is stored may begin anywhere
        assert continued(hashes(before), hashes(listed), is_whole=False) == (len(before), 0)


def test_sync_of_a_growing_list_stores_only_new_messages(chat: ChatSession) -> None:
    messages: Messages = [{"role": "system", "content": "You are kind."}]
    assert chat.sync([]) == chat.sync(messages) == []
    for number in range(4):
        messages += dialog(f"Question {number}", "Yes.")  # the same answer each time
        added = chat.sync(messages)
        assert [item.inserted for item in added] == [True, True]
        assert chat.sync(messages) == []
    assert stored(chat) == [message["content"] for message in messages[1:]]
    # a copy of before changes nothing
    assert chat.sync(messages[:3]) == []
    assert len(stored(chat)) == 8


def test_an_edit_retracts_what_it_replaces(chat: ChatSession) -> None:
    chat.sync(dialog("Hi", "Hello", "Which editor?", "Emacs."))
    chat.sync(dialog("Hi", "Hello", "Which editor?", "Vim."))
    assert stored(chat) == ["Hi", "Hello", "Which editor?", "Vim."]
    chat.sync(dialog("Hi", "Hello", "Which shell?", "zsh.", "Why?", "It is kind."))
    assert stored(chat) == ["Hi", "Hello", "Which shell?", "zsh.", "Why?", "It is kind."]
    assert chat.refresh().turn_count == 9  # the record keeps all
    # back to the first answer: what was retracted is said anew
    chat.sync(dialog("Hi", "Hello", "Which editor?", "Emacs."))
    assert stored(chat) == ["Hi", "Hello", "Which editor?", "Emacs."]


def test_sync_of_a_list_without_its_beginning_stores_only_new_messages(chat: ChatSession) -> None:
    everything = dialog(*(f"Message {number}" for number in range(20)))
    for end in range(2, 21, 2):
        chat.sync(everything[max(0, end - 6) : end])
    assert stored(chat) == [message["content"] for message in everything]


def test_sync_stores_tool_calls_and_parts(chat: ChatSession) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages: Messages = [
        {"role": "user", "content": [{"type": "text", "text": "Look it up"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "It is blue."},
        {"role": "assistant", "content": "It is blue."},
    ]
    chat.sync(messages[:2])
    assert len(chat.sync(messages)) == 2
    assert chat.sync([dict(message) for message in messages]) == []
    assert [message.role for message in chat.messages()] == ["assistant", "tool", "assistant",
                                                            "user"]  # fmt: skip


def test_sync_of_a_malformed_list_stores_nothing(chat: ChatSession) -> None:
    chat.sync(dialog("Hi", "Hello"))
    with pytest.raises(InvalidInputError):
        chat.sync([*dialog("Hi", "Hello"), {"role": "user"}, "what?"])
    assert stored(chat) == ["Hi", "Hello"]
    chat.close()
    with pytest.raises(SessionNotActiveError):
        chat.sync(dialog("Hi", "Hello", "Still there?"))


@pytest.mark.concurrent
def test_concurrent_syncs_of_the_same_list_store_once(memory: AgentMemory, user: uuid.UUID) -> None:
    chat = memory.session(user=user, model=MODEL)
    chat.sync(dialog("Hi", "Hello"))
    for round_ in range(3):
        longer = [*dialog(*stored(chat)), *dialog(f"And {round_}?", "Yes.")]
        others = [memory.session(user=user, session_id=chat.session_id) for _ in range(4)]
        results = together([lambda other=other, list_=longer: other.sync(list_)  # type: ignore[misc]
                            for other in others])  # fmt: skip
        assert not [result for result in results if isinstance(result, Exception)]
        assert stored(chat) == [message["content"] for message in longer]


@pytest.mark.parametrize("at", range(7))
def test_sync_of_an_edit_beside_another_of_it_stores_it_once(
    model_dsn: str, chat: ChatSession, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other client syncs the same list before any call of the first one."""
    chat.sync(dialog("Hi", "Hello", "Which editor?", "Emacs."))
    edited = dialog("Hi", "Hello", "Which shell?", "zsh.")
    with AgentMemory.connect(model_dsn, embedder=False) as memory:
        other = memory.session(user=chat.user_id, session_id=chat.session_id)
        other.open()
        transport = memory._core.write.transport
        send, sent = transport.send, list[str]()

        def late(call: Any, *arguments: Any) -> Any:
            if len(sent) == at:
                chat.sync(edited)
            sent.append(call.function)
            return send(call, *arguments)

        monkeypatch.setattr(transport, "send", late)
        other.sync(edited)
        assert len(sent) > at
        assert other.sync(edited) == []
    assert stored(chat) == [message["content"] for message in edited]


@pytest.mark.parametrize(
    ("lost", "arrives"),
    [
        ("retract_turns", "before"), ("retract_turns", "never"),
        ("append_messages", "before"), ("append_messages", "later"), ("append_messages", "never"),
    ],
)  # fmt: skip
def test_sync_of_an_edit_is_repeated_after_a_lost_answer(
    model_dsn: str, chat: ChatSession, lost: str, arrives: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the lost call reached the database before the repetition, after it, or never."""
    chat.sync(dialog("Hi", "Hello", "Which editor?", "Emacs."))
    edited = dialog("Hi", "Hello", "Which shell?", "zsh.")
    with AgentMemory.connect(model_dsn, embedder=False) as memory:
        other = memory.session(user=chat.user_id, session_id=chat.session_id)
        transport = memory._core.write.transport
        send, calls = transport.send, list[Any]()

        def losing(call: Any, *arguments: Any) -> Any:
            if call.function != lost:
                return send(call, *arguments)
            calls.append(call)
            if arrives == "before":
                send(call, *arguments)
            raise ConnectionLostError("the answer is lost")

        monkeypatch.setattr(transport, "send", losing)
        with pytest.raises(ConnectionLostError):
            other.sync(edited)
        monkeypatch.undo()
        other.sync(edited)
        if arrives == "later":
            _, again = send(calls[0], False)
            assert {inserted for _, _, inserted in again} == {False}
        assert other.sync(edited) == []
    assert stored(chat) == [message["content"] for message in edited]


def test_sync_finds_nothing_of_another_user(memory: AgentMemory, chat: ChatSession) -> None:
    chat.sync(dialog("Hi", "Hello"))
    other = memory.session(user=uuid.uuid4(), model=MODEL)
    assert len(other.sync(dialog("Hi", "Hello"))) == 2
    assert stored(other) == stored(chat)


def test_asynchronous_client_stores_a_list_once(model_dsn: str, user: uuid.UUID) -> None:
    async def run() -> None:
        async with AsyncAgentMemory.connect(model_dsn, embedder=False) as memory:
            chat = memory.session(user=user, model=MODEL)
            await chat.sync(dialog("Hi", "Hello"))
            assert len(await chat.sync(dialog("Hi", "Hello", "And now?"))) == 1

    asyncio.run(run())


def test_a_summarized_list_is_read_from_the_summary_on(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    db: psycopg.Connection,
) -> None:  # fmt: skip
    """None skipped, none twice, end to end, though the list is summarized twice."""
    summary = "So far: the user said many things about languages."
    texts = [f"I speak language {number}" for number in range(24)]
    script.facts = {
        text: [fact(f"User speaks language {number}.", slot=f"language_{number}")]
        for number, text in enumerate(texts)
    } | {summary: [fact("User said many things.")]}
    memory.admin.configure_user(user, extract_after_turns=2)
    chat = memory.session(user=user, model=MODEL)
    messages: Messages = []
    sent = 0
    for number, text in enumerate(texts):
        messages += [*dialog(text, "I see.")]
        if number in (7, 16):
            # the older part becomes one message: first with what was stored last, then without it
            kept = 4 if number == 7 else 2
            messages = [{"role": "user", "content": summary}, *messages[-kept:]]
        sent += len(chat.sync(messages))
        assert chat.sync(messages) == []
        work(memory, kinds=["extract"])
        row = session_row(db, user, chat.session_id)
        last = value(
            db,
            "select content_hash from recall.conversation_history"
            " where user_id = %s and session_id = %s and turn_index = %s",
            [user, chat.session_id, row["extracted_through_turn"]],
        ) if row["extracted_through_turn"] else None  # fmt: skip
        assert row["extraction_cursor"] == last
    chat.close()
    work(memory, kinds=["extract"])

    read = [
        (int(turn[1]), turn[3])
        for request in openai.chats
        if step_of(request) == "extract"
        for line in request["messages"][1]["content"].splitlines()
        if (turn := TURN.match(line))
    ]
    assert [turn for turn, _ in read] == [*range(1, sent + 1)]
    by_user = [text for _, text in read if text != "I see."]
    assert by_user == [*texts[:16], summary, *texts[16:]]
    assert sent == 2 * len(texts) + 1
    assert session_row(db, user, chat.session_id)["extracted_through_turn"] == sent
    contents = {item.content for item in memory.memories.list(user, limit=100)}
    assert contents >= {f"User speaks language {number}." for number in range(24)}
