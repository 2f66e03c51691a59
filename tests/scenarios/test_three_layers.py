"""A help desk's agent with three layers: short-term, working and long-term memory.

The conversation for a day, the steps of a task for an hour, preferences and patterns for good; the
context is system, long-term, working, conversation, current message, in this order.
"""

from __future__ import annotations

import math
import uuid
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from pgrecall import AgentMemory
from pgrecall.encryption import LocalWrappingKeys
from support import rows, session_row, sweep, value
from support.scripted_model import MODEL, Script, embedder, fact, model, talk, work
from support.scripted_openai import ScriptedOpenAI
from support.transcripts import assert_valid, prompt_tokens

DAY = timedelta(days=1)
TASK = "task-001"


def later(after: timedelta) -> datetime:
    return datetime.now(UTC) + after


# Short-term


def test_a_conversation_lives_for_a_day(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """Messages in order, the last ten, and the end a day after the last of them."""
    chat = memory.session(user=user, model=MODEL, expires_in=DAY)
    chat.open()
    for number in range(8):
        chat.append(user=f"Question {number}", reply=f"Answer {number}")
    assert [message.turn_index for message in chat.messages(limit=10)] == [*range(16, 6, -1)]

    sweep(db, "expire_sessions", later(timedelta(hours=23)))
    assert session_row(db, user, chat.session_id)["status"] == "active"
    # a sliding expiry moves in steps of a day
    sweep(db, "expire_sessions", later(timedelta(hours=49)))
    assert session_row(db, user, chat.session_id)["status"] == "expired"
    chat.resume()
    chat.append(user="I am back", reply="Welcome.")


def test_what_exceeds_eighty_percent_is_summarised(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    chat = memory.session(user=user, model=MODEL, context_window_size=3000,
                          max_response_tokens=500)  # fmt: skip
    chat.open()
    budget = value(
        db,
        "select recall._history_budget(s, recall._settings(s.user_id)) from recall.sessions as s"
        " where s.user_id = %s and s.session_id = %s",
        [user, chat.session_id],
    )
    compactions = "select count(*) from recall.jobs where user_id = %s and kind = 'compact'"
    number = 0
    while session_row(db, user, chat.session_id)["active_tokens"] <= 0.8 * budget:
        assert value(db, compactions, [user]) == 0
        number += 1
        chat.append(user=f"Step {number} of the installation " * 5, reply="It worked. " * 20)
    assert value(db, compactions, [user]) == 1
    work(memory)
    assert session_row(db, user, chat.session_id)["compacted_through_turn"] > 0
    messages = chat.context("What was step 1?")
    assert_valid(messages)
    assert any("<summary>" in str(message["content"]) for message in messages)
    assert prompt_tokens(messages) <= 3000 - 500


# Working


def test_working_memory_holds_the_steps_of_a_task(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """Who is my manager, and does she have an approval for me? Two look-ups and a plan."""
    chat = memory.session(user=user, model=MODEL)
    chat.open()
    plan = {"steps": ["lookup_manager", "check_approvals", "compose_answer"], "current_step": 1}
    manager = {"manager": "Sarah Chen", "manager_id": "SC-4521", "source": "workday_api"}
    approvals = {"pending_approvals": [{"id": "APR-892", "type": "VPN Access"}]}
    chat.put_working(TASK, "plan", plan | {"status": "in_progress"})
    chat.put_working(TASK, "step_1_result", manager)
    assert chat.get_working(TASK, "step_1_result")["manager_id"] == "SC-4521"
    chat.put_working(TASK, "step_2_result", approvals)
    # a step failed: the agent replans and keeps the results
    chat.put_working(TASK, "plan", plan | {"current_step": 2, "status": "replanned"})

    assert chat.get_working(TASK) == {
        "plan": plan | {"current_step": 2, "status": "replanned"},
        "step_1_result": manager,
        "step_2_result": approvals,
    }
    text = " ".join(str(m["content"]) for m in chat.context("And?", include_working=TASK))
    assert "Sarah Chen" in text
    assert "APR-892" in text
    other = memory.session(user=uuid.uuid4(), model=MODEL)
    other.open()
    assert other.get_working(TASK) in (None, {})


def test_working_memory_lives_for_an_hour(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """Renewed by a write, and gone with the session."""
    chat = memory.session(user=user, model=MODEL)
    chat.open()
    chat.put_working(TASK, "plan", {"step": 1})
    kept = "select count(*) from recall.working_memory where user_id = %s"
    (expires_at,) = (row["expires_at"] for row in rows(
        db, "select expires_at from recall.working_memory where user_id = %s", [user]))  # fmt: skip
    left = expires_at - datetime.now(UTC)
    assert timedelta(minutes=59) < left <= timedelta(hours=1)
    sweep(db, "expire_working", later(timedelta(minutes=58)))
    assert value(db, kept, [user]) == 1
    sweep(db, "expire_working", later(timedelta(minutes=61)))
    assert value(db, kept, [user]) == 0
    chat.put_working(TASK, "plan", {"step": 2})
    chat.close()
    assert value(db, kept, [user]) == 0


# Long-term


def test_attributes_are_looked_up_and_preferences_searched(
    memory: AgentMemory, user: uuid.UUID
) -> None:
    memory.remember(user, "User's office is Berlin", slot="office")
    memory.remember(user, "User prefers answers in steps", kind="preference")
    assert memory.memories.profile(user)["office"]["content"] == "User's office is Berlin"
    assert memory.search(user, "answers in steps")[0].content == "User prefers answers in steps"


def test_score_of_a_memory_decays_by_day(memory: AgentMemory, user: uuid.UUID) -> None:
    """score · exp(-λ · days), for users or applications that want it."""
    memory.admin.configure_user(user, decay_mode="multiply", decay_per_day=0.02)
    memory.remember(user, "User's printer is jammed")
    scores = []
    for days in (0, 50, 100):
        (hit,) = memory.search(user, "printer jammed", as_of=datetime.now(UTC) + days * DAY)
        assert hit.decay == pytest.approx(math.exp(-0.02 * days), rel=1e-3)
        scores.append(hit.score)
    assert scores == sorted(scores, reverse=True)


TROUBLE = "User could not connect to the network of the company over the VPN from home"
VPN = {
    "My VPN does not connect, certificate error": (
        f"{TROUBLE}, and renewing the certificate solved it.", "certificate renewal"),
    "My VPN does not connect, DNS error": (
        f"{TROUBLE}, and flushing the cache solved it.", "DNS cache flush"),
    "My VPN does not connect again, DNS error": (
        f"{TROUBLE} again, and flushing the cache solved it.", "DNS cache flush"),
}  # fmt: skip


def test_three_similar_episodes_become_a_pattern(
    memory: AgentMemory, script: Script, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """The fourth time the agent knows what helped."""
    script.episodes = {said: episode for said, (episode, _) in VPN.items()}
    script.pattern = ("User has recurring VPN connectivity issues.", dict(VPN.values()))
    for said in VPN:
        assert sweep(db, "enqueue_patterns", later(timedelta())) == 0
        talk(memory, user, [said])
        work(memory)
    assert sweep(db, "enqueue_patterns", later(timedelta())) == 1
    work(memory)

    today = f"{datetime.now(UTC):%Y-%m-%d}"
    (pattern,) = memory.memories.list(user, filter={"kinds": ["pattern"]})
    assert (pattern.tier, pattern.expires_at) == ("procedural", None)
    assert pattern.content.startswith("User has recurring VPN connectivity issues. Previous")
    assert f"certificate renewal ({today})" in pattern.content
    assert f"DNS cache flush ({today})" in pattern.content
    episodes = {
        item.memory_id for item in memory.memories.list(user, filter={"kinds": ["episode"]})
    }
    assert {uuid.UUID(one) for one in pattern.metadata["episodes"]} == episodes
    assert len(pattern.source_turn_ids or ()) >= 3

    fourth = memory.session(user=user, model=MODEL)
    fourth.open()
    remembered = " ".join(str(m["content"]) for m in fourth.context("VPN trouble once more"))
    assert "[PATTERN] User has recurring VPN" in remembered
    assert "DNS cache flush" in remembered
    stranger = memory.session(user=uuid.uuid4(), model=MODEL)
    stranger.open()
    assert "DNS" not in str(stranger.context("VPN trouble once more"))


# Privacy


def test_each_user_has_their_own_key(
    model_dsn: str, openai: ScriptedOpenAI, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """The same code reads data encrypted per user; erasure deletes the key."""
    keys = LocalWrappingKeys({"first": bytes(range(32))})
    with AgentMemory.connect(
        model_dsn, embedder=embedder(openai), llm=model(openai), wrapping_keys=keys
    ) as memory:
        memory.encryption.seal_user(user)
        memory.remember(user, "User's office is Berlin", slot="office")
        chat = memory.session(user=user, model=MODEL)
        chat.open()
        chat.append(user="I need VPN access in Berlin", reply="Which office?")
        assert memory.memories.profile(user)["office"]["content"] == "User's office is Berlin"
        assert chat.messages(limit=1)[0].content == "Which office?"
        for table in ("memory_store", "conversation_history"):
            texts = rows(db, f"select content from recall.{table} where user_id = %s", [user])
            assert texts
            assert "Berlin" not in str(texts)
        assert memory.privacy.forget_user(user)["counts"]["user_keys"] == 1


def test_forget_user_erases_all_three_layers(
    memory: AgentMemory, script: Script, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """Of all three layers nothing is left, with the receipt to show for it."""
    script.facts = {"I sit in Berlin": [fact("User's office is Berlin", slot="office")]}
    other = uuid.uuid4()
    for one in (user, other):
        memory.users.ensure(one)
        memory.admin.configure_user(one, extract_after_turns=1)
        chat = talk(memory, one, ["I sit in Berlin"], close=False)
        chat.put_working(TASK, "plan", {"current_step": 2})
    work(memory)
    counts = memory.privacy.forget_user(user)["counts"]
    layers = ("conversation_history", "working_memory", "memory_store", "memory_events", "sessions")
    assert min(counts[table] for table in layers) > 0
    for table in layers:
        assert value(db, f"select count(*) from recall.{table} where user_id = %s", [user]) == 0
    assert memory.search(user, "Where is my office?") == []
    assert memory.memories.profile(other)["office"]["content"] == "User's office is Berlin"


def test_lifetime_of_episodes_is_a_setting_of_the_user(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """Ninety days for what was seen in passing, as long as wished for one user; or for good."""
    memory.users.ensure(user)
    memory.admin.configure_user(user, episode_lifetime="10 days")
    for one in (user, other := uuid.uuid4()):
        memory.memories.ingest(one, [{"content": "User asked about the VPN", "kind": "episode",
                             "provenance": "system_inferred"}])  # fmt: skip
        memory.remember(one, "User prefers answers in steps", kind="preference")
    for days, left in ((9, (2, 2)), (11, (1, 2)), (91, (1, 1)), (400, (1, 1))):
        sweep(db, "expire_memories", later(days * DAY))
        assert (len(memory.memories.list(user)), len(memory.memories.list(other))) == left, days


# The whole


def test_context_orders_its_blocks(memory: AgentMemory, script: Script, user: uuid.UUID) -> None:
    """System prompt, long-term, working, conversation, current message."""
    script.facts = {"I sit in Berlin": [fact("User's office is Berlin", slot="office")]}
    talk(memory, user, ["I sit in Berlin"])
    work(memory)
    chat = memory.session(user=user, model=MODEL, system_prompt="You are the help desk.")
    chat.open()
    chat.append(user="I need VPN access", reply="Which office?")
    chat.put_working(TASK, "plan", {"current_step": 2})
    messages = chat.context("The one in Berlin", include_working=TASK)
    assert_valid(messages)
    assert [(message["role"], sign in str(message["content"])) for message, sign in zip(
        messages,
        ("You are the help desk.", "User's office is Berlin", "current_step", "I need VPN access",
         "Which office?", "The one in Berlin"),
        strict=True,
    )] == [("system", True), ("system", True), ("system", True), ("user", True),
           ("assistant", True), ("user", True)]  # fmt: skip
