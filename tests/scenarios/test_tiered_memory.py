"""A memory module with tiers, scopes and a prefill compiler: the specification this schema follows.

Sessions, a tiered store and an append-only history, all by user; each item with its tokens and
provenance; a context that is packed into the model's budget by score and by share of the task.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from pgrecall import AgentMemory
from support import append, call, open_session, refused, rows, said, session_row, sweep, value
from support.scripted_model import MODEL, Script, fact, talk, work
from support.transcripts import assert_valid, prompt_tokens

MESSAGES = TypeAdapter(list[ChatCompletionMessageParam])
HOUR = timedelta(hours=1)
AUTHORITY = {
    "user_stated": 1.0, "correction": 0.95, "instruction": 0.90, "preference": 0.85,
    "fact": 0.80, "tool_output": 0.70, "system_inferred": 0.60,
}  # fmt: skip


def memory_row(db: psycopg.Connection, user: uuid.UUID, content: str) -> dict[str, Any]:
    (row,) = rows(
        db,
        "select *, tier::text as tier, scope::text as scope from recall.memory_store"
        " where user_id = %s and content = %s order by created_at desc limit 1",
        [user, content],
    )
    return row


def use(db: psycopg.Connection, user: uuid.UUID, ids: Sequence[uuid.UUID], times: int,
        relevance: float) -> None:  # fmt: skip
    """Memories are packed into so many contexts, with this relevance each time."""
    for _ in range(times):
        call(db, "record_access", p_user_id=user, p_memory_ids=list(ids),
             p_relevance="{" + ",".join([str(relevance)] * len(ids)) + "}")  # fmt: skip
    sweep(db, "flush_access_log")


@pytest.fixture
def strict(memory: AgentMemory, user: uuid.UUID) -> uuid.UUID:
    """A user for whom everything starts at session tier with confidence 0.5, as specified."""
    memory.users.ensure(user)
    memory.admin.configure_user(user, extracted_tier="session")
    return user


# Writing


def test_a_turn_is_persisted(memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection) -> None:
    """Two inserts and one update; counters and cost only grow; work is left for later."""
    chat = memory.session(user=user, model=MODEL)
    chat.open()
    totals = []
    for number in range(3):
        chat.append(
            user=f"Question {number}", reply=f"Answer {number}",
            usage={"prompt_tokens": 100, "completion_tokens": 20, "latency_ms": 350},
        )  # fmt: skip
        row = session_row(db, user, chat.session_id)
        totals.append((row["turn_count"], row["total_prompt_tokens"],
                       row["total_completion_tokens"], row["total_cost_microcents"]))  # fmt: skip
    # 0.15 and 0.60 dollars per million tokens: 100 and 20 of them are 2,700 micro-cents
    assert totals == [(2 * n, 100 * n, 20 * n, 2700 * n) for n in (1, 2, 3)]
    stored = chat.messages()
    assert all(message.token_count > 0 for message in stored)
    assert stored[0].latency_ms == 350
    kinds = rows(db, "select kind from recall.jobs where user_id = %s", [user])
    assert {row["kind"] for row in kinds} == {"extract", "embed"}
    with pytest.raises(psycopg.Error):
        db.execute("update recall.conversation_history set content = 'x' where user_id = %s",
                   [user])  # fmt: skip


def test_extraction_starts_at_session_tier(
    memory: AgentMemory, script: Script, strict: uuid.UUID, db: psycopg.Connection
) -> None:
    """Local to its session, not validated, gone 24 hours after it; with the turn it came from."""
    script.facts = {"I use Vim": [fact("User uses Vim.")]}
    memory.admin.configure_user(strict, extracted_tier="session", extract_after_turns=1)
    chat = talk(memory, strict, ["I use Vim"], close=False)
    work(memory)
    row = memory_row(db, strict, "User uses Vim.")
    assert (row["tier"], row["scope"], row["session_id"]) == ("session", "local", chat.session_id)
    assert row["is_validated"] is False
    turns = {message.message_id: message.role for message in chat.messages()}
    assert turns[row["provenance_turn_id"]] == "user"
    session_ends = session_row(db, strict, chat.session_id)["expires_at"]
    assert row["expires_at"] == session_ends + 24 * HOUR


def test_duplicates_exact_and_near(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """The same text is counted; the more specific one takes over; nothing is overwritten."""
    first = memory.remember(user, "User lives in Oslo", kind="fact")
    again = memory.remember(user, "  user LIVES in oslo. ", kind="fact")
    assert (again.memory_id, again.outcome) == (first.memory_id, "duplicate")
    assert memory_row(db, user, "User lives in Oslo")["access_count"] == 1
    assert len(memory_row(db, user, "User lives in Oslo")["content_hash"]) == 32

    words = "User lives in the small red house beside the old boat harbour of Bergen"
    memory.remember(user, words)
    more = memory.remember(user, f"{words}, Norway")
    assert more.outcome == "merged"
    assert memory_row(db, user, words)["superseded_by"] == more.memory_id
    assert memory.remember(user, f"User never {words[5:]}").outcome == "added"


# Tiers


def test_promotion_from_tier_to_tier(
    memory: AgentMemory, script: Script, strict: uuid.UUID, db: psycopg.Connection
) -> None:
    """U = mean relevance · log2(1 + accesses) / (1 + λ · hours): above 0.3, then above 0.5."""
    script.facts = {
        "I use Vim": [fact("User uses Vim.")],
        "Short answers": [fact("User prefers short answers.", kind="preference")],
        "It rains": [fact("User mentioned rain.")],
    }
    talk(memory, strict, [*script.facts])
    work(memory)
    vim, short, rain = (
        memory_row(db, strict, text)["memory_id"]
        for text in ("User uses Vim.", "User prefers short answers.", "User mentioned rain.")
    )

    use(db, strict, [vim, short], 2, 0.9)
    use(db, strict, [rain], 3, 0.1)  # U = 0.1 · log2(4) = 0.2
    assert sweep(db, "promote_memories") == 0
    use(db, strict, [vim, short], 1, 0.9)
    assert sweep(db, "promote_memories") == 2
    row = memory_row(db, strict, "User uses Vim.")
    assert (row["tier"], row["scope"], row["is_validated"]) == ("episodic", "global", True)
    assert timedelta(days=89) < row["expires_at"] - datetime.now(UTC) <= timedelta(days=90)
    assert memory_row(db, strict, "User mentioned rain.")["tier"] == "session"

    use(db, strict, [vim, short], 7, 0.9)
    assert sweep(db, "promote_memories") == 2
    assert memory_row(db, strict, "User uses Vim.")["tier"] == "semantic"
    assert memory_row(db, strict, "User prefers short answers.")["tier"] == "procedural"
    assert memory_row(db, strict, "User uses Vim.")["expires_at"] is None


def test_once_needed_memories_expire_first_and_rows_are_kept(
    memory: AgentMemory, strict: uuid.UUID, db: psycopg.Connection
) -> None:
    """Memories no longer needed expire first, the rest after 90 days; the rows are kept."""
    memory.memories.ingest(strict, [
        {"content": f"User asked about topic {word}.", "kind": "episode",
         "provenance": "system_inferred"} for word in ("alpha", "bravo")])  # fmt: skip
    alpha, bravo = ("User asked about topic alpha.", "User asked about topic bravo.")
    use(db, strict, [memory_row(db, strict, alpha)["memory_id"]], 3, 0.5)
    now = datetime.now(UTC)
    # 3 accesses ÷ 600 hours = 0.005
    for days, left in ((24, {alpha, bravo}), (26, {bravo}), (89, {bravo}), (91, set())):
        sweep(db, "expire_memories", now + timedelta(days=days))
        assert {item.content for item in memory.memories.list(strict)} == left
    assert value(db, "select count(*) from recall.memory_store where user_id = %s and end_reason"
                     " = 'expired'", [strict]) == 2  # fmt: skip


def test_conflicts_go_by_recency_then_authority(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """The newer statement wins; what was merely inferred never replaces what the user said."""
    memory.remember(user, "User works at Initech", slot="employer")
    memory.remember(user, "User works at Hooli", slot="employer")
    guess = {"content": "User works at Pied Piper", "slot": "employer"}
    (inferred,) = memory.memories.ingest(user, [guess | {"provenance": "system_inferred"}])
    assert inferred.outcome == "disputed"
    assert memory.memories.profile(user)["employer"]["content"] == "User works at Hooli"
    chain = memory.memories.chain(user, memory_row(db, user, "User works at Initech")["memory_id"])
    assert [item.content for item in chain][:2] == ["User works at Initech", "User works at Hooli"]


# Reading


def test_score_weighs_similarity_freshness_frequency_and_authority(
    memory: AgentMemory, user: uuid.UUID
) -> None:
    """0.45 cosine + 0.20 freshness + 0.15 frequency + 0.20 confidence · authority."""
    memory.admin.configure_user(user, scoring="classic")
    memory.memories.ingest(user, [{"content": f"User's {kind} says tea", "provenance": kind}
                         for kind in AUTHORITY])  # fmt: skip
    hits = memory.search(user, "tea", limit=20)
    assert {hit.provenance for hit in hits} == {*AUTHORITY}
    for hit in hits:
        assert hit.authority == pytest.approx(AUTHORITY[str(hit.provenance)], rel=1e-5)
        assert hit.freshness == pytest.approx(1, abs=1e-3)
        expected = 0.45 * (hit.similarity or 0) + 0.20 * (hit.freshness or 0)
        expected += 0.15 * (hit.frequency or 0) + 0.20 * hit.confidence * (hit.authority or 0)
        assert hit.score == pytest.approx(expected, rel=1e-5)
        assert hit.relevance == pytest.approx(hit.score, rel=1e-5)
    later = datetime.now(UTC) + 100 * HOUR
    assert memory.search(user, "tea", as_of=later)[0].freshness == pytest.approx(
        math.exp(-0.005 * 100), rel=1e-3)  # fmt: skip


@pytest.mark.parametrize(
    ("task", "memory_share", "history_share"),
    [("continuation", 0.15, 0.85), ("knowledge", 0.40, 0.60), ("new_session", 0.50, 0.50),
     ("tool_heavy", 0.10, 0.70)],
)  # fmt: skip
def test_context_fills_its_budget_and_never_exceeds_it(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection,
    task: str, memory_share: float, history_share: float,
) -> None:  # fmt: skip
    """B = C − S − R − T, shared by task, never exceeded, at least 92 % full."""
    session = open_session(db, user, p_context_window_size=6000, p_max_response_tokens=1000,
                           p_system_prompt="You help.", p_system_prompt_tokens=3)  # fmt: skip
    for number in range(60):
        append(db, user, session, [
            {"role": "user", "content": f"Question {number}: " + "why so? " * 20},
            {"role": "assistant", "content": f"Answer {number}: " + "because. " * 20}])  # fmt: skip
    facts = [f"User knows fact {number} about " + "the matter " * 6 for number in range(90)]
    memory.memories.ingest(user, [{"content": f, "provenance": "user_stated"} for f in facts])
    compiled = value(
        db,
        "select recall.compile_context(%s, %s, 'What about the matter?', null, %s)",
        [user, session, psycopg.types.json.Jsonb({"task": task, "current_message": "And?",
                                                  "max_memories": 1000, "tool_tokens": 200})],
    )  # fmt: skip
    budget, messages = compiled["budget"], compiled["messages"]
    MESSAGES.validate_python(messages)
    assert_valid(messages)
    assert messages[0] == {"role": "system", "content": "You help."}
    assert budget["available"] == 6000 - 3 - 1000 - 200 - budget["current"] - budget["overhead"]
    assert budget["used"] <= budget["available"]
    assert budget["used"] >= 0.92 * budget["available"]
    assert prompt_tokens(messages) + 1000 + 200 <= 6000
    assert budget["history"] <= budget["available"]
    if task != "tool_heavy":  # what working memory leaves the others may use
        assert budget["memory"] <= memory_share * budget["available"] + 1
    assert budget["history"] >= (history_share - 0.08) * budget["available"]
    turns = compiled["history"]
    assert turns["last_turn"] == 120


def test_packing_by_score_per_token(memory: AgentMemory, user: uuid.UUID) -> None:
    """The knapsack by density is an option: short ones go first when room is scarce."""
    long = "User likes tea from the hills of Assam" + " and then some more of it" * 8
    for text in ("User likes tea", long, "User owns a bicycle"):
        memory.remember(user, text)
    chat = memory.session(user=user, model=MODEL)
    chat.open()
    for pack, expected in (("score", long), ("density", "User likes tea")):
        text = str(chat.context("tea from the hills of Assam", pack=pack, max_memories=1)[0])
        assert f"- [FACT] {expected} (" in text


# Compaction


def test_compaction_summarizes_the_oldest_turns_and_keeps_history(
    memory: AgentMemory, user: uuid.UUID, db: psycopg.Connection
) -> None:
    """The oldest turns become a summary at the head; the history keeps their messages."""
    chat = memory.session(user=user, model=MODEL, context_window_size=4000,
                          max_response_tokens=500)  # fmt: skip
    chat.open()
    for number in range(60):
        chat.append(user=f"Point {number}: " + "more of it " * 20, reply="Right. " * 10)
    work(memory)
    row = session_row(db, user, chat.session_id)
    assert 0 < row["compacted_through_turn"] < row["turn_count"] == 120
    messages = chat.context("And?")
    assert_valid(messages)
    system = [str(m["content"]) for m in messages if m["role"] == "system"]
    assert any("<summary>" in text for text in system)
    assert len(chat.messages(limit=200)) == 120
    (summary,) = rows(db, "select * from recall.session_summaries where user_id = %s and kind ="
                          " 'compaction' and ended_at is null", [user])  # fmt: skip
    compacted = value(
        db,
        "select sum(token_count) from recall.conversation_history where user_id = %s"
        " and turn_index <= %s",
        [user, row["compacted_through_turn"]],
    )
    assert compacted / summary["token_count"] >= 5


def test_the_sweep_finds_sessions_at_twice_their_window(
    user: uuid.UUID, db: psycopg.Connection
) -> None:
    session = open_session(db, user, p_context_window_size=1000, p_max_response_tokens=100)
    jobs = "select count(*) from recall.jobs where user_id = %s and kind = 'compact'"
    append(db, user, session, said(*("word " * 50 for _ in range(30)), token_count=60))
    db.execute("delete from recall.jobs where user_id = %s", [user])
    sweep(db, "enqueue_compactions")
    assert value(db, jobs, [user]) == 0
    append(db, user, session, said(*("word " * 50 for _ in range(10)), token_count=60))
    db.execute("delete from recall.jobs where user_id = %s", [user])
    sweep(db, "enqueue_compactions")
    assert value(db, jobs, [user]) == 1


# Scope


def test_one_user_never_sees_another(memory: AgentMemory, user: uuid.UUID,
                                     db: psycopg.Connection) -> None:  # fmt: skip
    memory.remember(user, "User's password hint is a whale")
    mine = open_session(db, user)
    stranger = uuid.uuid4()
    assert memory.search(stranger, "password hint whale") == []
    with refused("RC001"):
        db.execute("select recall.compile_context(%s, %s)", [stranger, mine])
