"""Parts of messages that are stored and never shown, of an encrypted user."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg

from pgrecall import AgentMemory
from support import rows

Connection = psycopg.Connection[Any]


def test_parts_that_are_never_shown_are_encrypted(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    reasoning = {"type": "item", "item": {"type": "reasoning", "text": "hidden thoughts"}}
    said = {"type": "text", "text": "Hello."}
    call_ = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages: list[Any] = [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": [reasoning]},
        {"role": "assistant", "content": [said, reasoning, reasoning]},
        {"role": "assistant", "content": [reasoning], "tool_calls": [call_]},
        {"role": "tool", "tool_call_id": "c", "content": [reasoning]},
    ]
    with memory.session(user=sealed, model="gpt-4o-mini") as chat:
        chat.append(messages)
        assert [one.content_parts for one in chat.messages()[::-1]] == [
            None, *(message["content"] for message in messages[1:])
        ]  # fmt: skip
        shown = chat.context()
        assert "hidden" not in str(shown)
        assert [message.get("content") for message in shown] == ["Hi.", [said], None, ""]
        assert [one.content_parts for one in chat.pop(2)] == [[reasoning], [reasoning]]
        stored = rows(db, "select content_parts::text from recall.conversation_history"
                          " where user_id = %s", [sealed])  # fmt: skip
        assert "hidden" not in str(stored)
        assert chat.clear()["conversation_history"] == 5
        chat.append([{"role": "user", "content": "Again."}])
        assert [one.turn_index for one in chat.messages()] == [6]
