"""Transcripts as frameworks store them, agent loops that outgrow their window, and compaction."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgrecall.errors import InvalidInputError
from pgrecall.models import count_message_tokens, count_text_tokens
from support import append, do_job, rows, session_row, together, value
from support.contexts import compile_context, open_counted
from support.transcripts import MODEL, assert_valid, prompt_tokens

Connection = psycopg.Connection[Any]
Message = dict[str, Any]


def user_says(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant_says(text: str) -> Message:
    return {"role": "assistant", "content": text}


def calls(*ids: str, text: str | None = None) -> Message:
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [
            {"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}}
            for one in ids
        ],
    }


def answers(one: str, text: str = "found") -> Message:
    return {"role": "tool", "tool_call_id": one, "content": text}


def counted(messages: list[Message]) -> list[Message]:
    return [m | {"token_count": count_message_tokens(m, MODEL)} for m in messages]


def outline(messages: list[Message]) -> list[str]:
    """Return what a transcript says, in short."""
    said = []
    for message in messages:
        if message["role"] == "tool":
            said.append(f"={message['tool_call_id']}")
        elif message.get("tool_calls"):
            ids = ",".join(call["id"] for call in message["tool_calls"])
            said.append(f"{message['content'] or ''}({ids})")
        else:
            said.append(message["content"])
    return said


def history(db: Connection, user: uuid.UUID, messages: list[Message]) -> dict[str, Any]:
    """Append to a session one message at a time and return its context."""
    session = open_counted(db, user, p_system_prompt="")
    for message in messages:
        append(db, user, session, [message])
    compiled = compile_context(db, user, session)
    assert_valid(compiled["messages"])
    return compiled


# Accepted transcripts


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (
            [user_says("q"), calls("a"), calls("b"), answers("a"), answers("b")],
            ["q", "(a,b)", "=a", "=b"],
        ),
        (
            [user_says("q"), calls("a"), calls("b"), answers("b"), answers("a")],
            ["q", "(a,b)", "=b", "=a"],
        ),
        (
            [user_says("q"), calls("a"), assistant_says("One moment."), answers("a")],
            ["q", "One moment.", "(a)", "=a"],
        ),
        (
            [calls("a"), user_says("And Rome?"), calls("b"), answers("a"), answers("b")],
            ["And Rome?", "(a,b)", "=a", "=b"],
        ),
        (
            [calls("a", text="First."), calls("b", text="Then."), answers("a"), answers("b")],
            ["First.", "Then.(a,b)", "=a", "=b"],
        ),
        (
            [calls("a", text="First."), calls("b"), answers("a"), answers("b")],
            ["First.", "(a,b)", "=a", "=b"],
        ),
        (
            [calls("a"), calls("b"), answers("b"), calls("c"), answers("c"), answers("a")],
            ["(c)", "=c", "(a,b)", "=b", "=a"],
        ),
        (
            [calls("a"), answers("a"), calls("a"), answers("a"), assistant_says("Done.")],
            ["(a)", "=a", "(a)", "=a", "Done."],
        ),
        (
            [calls("x"), calls("y"), answers("x"), calls("x"), answers("x"), answers("y")],
            ["(x)", "=x", "(x,y)", "=x", "=y"],
        ),
    ],
)
def test_stored_one_by_one_parallel_calls_compile_into_a_valid_transcript(
    db: Connection, user: uuid.UUID, messages: list[Message], expected: list[str]
) -> None:
    compiled = history(db, user, messages)
    assert outline(compiled["messages"]) == expected
    assert compiled["left_out"] == []
    assert not compiled["truncated"]
    assert compiled["history"] == {"first_turn": 1, "last_turn": len(messages)}


def test_a_call_without_an_answer_is_named_and_its_text_stays(
    db: Connection, user: uuid.UUID
) -> None:
    compiled = history(
        db, user, [user_says("q"), calls("a", "b", text="Both."), answers("b"), calls("c")]
    )
    assert outline(compiled["messages"]) == ["q", "Both.(b)", "=b"]
    assert compiled["left_out"] == [
        {"from_turn": 2, "to_turn": 2, "reason": "unanswered", "tool_call_ids": ["a"]},
        {"from_turn": 4, "to_turn": 4, "reason": "unanswered", "tool_call_ids": ["c"]},
    ]
    assert compiled["truncated"]


def test_an_answer_whose_call_was_dropped_is_named(db: Connection, user: uuid.UUID) -> None:
    session = open_counted(db, user, p_system_prompt="")
    append(db, user, session, [calls("a"), user_says("q"), answers("a"), assistant_says("Done.")])
    db.execute(
        "delete from recall.conversation_history where user_id = %s and turn_index = 1", [user]
    )
    db.execute("update recall.sessions set first_retained_turn = 2 where user_id = %s", [user])
    compiled = compile_context(db, user, session)
    assert outline(compiled["messages"]) == ["q", "Done."]
    assert compiled["left_out"] == [
        {"from_turn": 1, "to_turn": 1, "reason": "expired"},
        {"from_turn": 2, "to_turn": 3, "reason": "uncalled"},
    ]
    assert compiled["history"] == {"first_turn": 4, "last_turn": 4, "pinned_turn": 2}


# Refused messages


@pytest.mark.parametrize(
    ("batches", "problem"),
    [
        ([[answers("a")]], r"messages\[0\].tool_call_id 'a' answers no earlier call"),
        ([[answers("a"), calls("a")]], r"messages\[0\].tool_call_id 'a' answers no earlier call"),
        ([[calls("a"), answers("a"), answers("a")]], r"messages\[2\].* a call that has its answer"),
        ([[calls("a"), answers("a")], [answers("a")]], r"messages\[0\].* a call that has its"),
        ([[calls("a")], [answers("a"), answers("a")]], r"messages\[1\].* a call that has its"),
        ([[calls("a"), calls("a"), answers("a"), answers("a")]], r"messages\[3\].* a call that"),
    ],
)
def test_a_tool_message_that_no_transcript_could_hold_is_refused(
    db: Connection, user: uuid.UUID, batches: list[list[Message]], problem: str
) -> None:
    session = open_counted(db, user)
    *before, last = batches
    for batch in before:
        append(db, user, session, batch)
    turns = "select turn_count from recall.sessions where user_id = %s"
    count = value(db, turns, [user])
    with pytest.raises(psycopg.Error, match=problem) as refused:
        append(db, user, session, last)
    assert refused.value.sqlstate == "RC003"
    assert refused.value.diag.message_hint
    assert value(db, turns, [user]) == count


def test_a_late_answer_is_accepted_within_a_number_of_turns(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_counted(db, user)
    db.execute("select recall.configure_user(%s, '{\"answer_within_turns\": 5}')", [user])
    append(db, user, session, [calls("a", "b")])
    append(db, user, session, [user_says(str(n)) for n in range(4)])
    append(db, user, session, [answers("a")])
    compiled = compile_context(db, user, session)
    assert_valid(compiled["messages"])
    assert outline(compiled["messages"][1:]) == ["0", "1", "2", "3", "(a)", "=a"]
    with pytest.raises(psycopg.Error, match="answers no earlier call") as refused:
        append(db, user, session, [answers("b")])
    assert refused.value.sqlstate == "RC003"
    assert "5 turns" in (refused.value.diag.message_hint or "")


@pytest.mark.concurrent
def test_of_two_answers_at_the_same_time_one_is_stored(
    db: Connection, connect: Callable[..., Connection], user: uuid.UUID
) -> None:
    session = open_counted(db, user)
    for level in ("read committed", "repeatable read"):
        append(db, user, session, [calls("a")])
        connections = [connect() for _ in range(4)]
        for conn in connections:
            conn.execute(f"set default_transaction_isolation = '{level}'".encode())
        results = together(
            [partial(append, conn, user, session, [answers("a")]) for conn in connections]
        )
        errors = [result for result in results if isinstance(result, BaseException)]
        assert len(errors) == 3
        assert {getattr(error, "sqlstate", None) for error in errors} <= {"RC003", "40001"}
    turns = "select turn_count from recall.sessions where user_id = %s"
    assert value(db, turns, [user]) == 4


# Random transcripts

_ids = st.sampled_from([f"c{number}" for number in range(4)])
_texts = st.sampled_from(["I see.", "One moment.", "Please go on. " * 20])
_steps = st.one_of(
    st.builds(user_says, _texts),
    st.builds(assistant_says, _texts),
    st.builds(
        lambda ids, text: calls(*ids, text=text),
        st.lists(_ids, min_size=1, max_size=3, unique=True),
        st.one_of(st.none(), _texts),
    ),
    st.builds(answers, _ids, _texts),
    st.builds(answers, _ids, _texts),
)


def assert_nothing_is_missing(stored: list[Message], compiled: dict[str, Any]) -> None:
    """Each stored text and call is shown, or its turn or its call is named as left out."""
    shown = [m for m in compiled["messages"] if m["role"] != "system"]
    turns: set[int] = set()
    unanswered: list[tuple[int, str]] = []
    for part in compiled["left_out"]:
        if part["reason"] == "unanswered":
            unanswered += [(part["from_turn"], one) for one in part["tool_call_ids"]]
        else:
            turns |= {*range(part["from_turn"], part["to_turn"] + 1)}
    wanted: list[Any] = []
    for turn, message in enumerate(stored, start=1):
        if turn in turns:
            continue
        ids = [call["id"] for call in message.get("tool_calls") or ()]
        wanted += [("call", one) for one in ids if (turn, one) not in unanswered]
        if message["role"] == "tool":
            wanted.append(("answer", message["tool_call_id"], message["content"]))
        elif message["content"]:
            wanted.append((message["role"], message["content"]))
    found: list[Any] = []
    for message in shown:
        found += [("call", call["id"]) for call in message.get("tool_calls") or ()]
        if message["role"] == "tool":
            found.append(("answer", message["tool_call_id"], message["content"]))
        elif message["content"]:
            found.append((message["role"], message["content"]))
    assert sorted(found) == sorted(wanted)


@settings(max_examples=300)
@given(
    steps=st.lists(_steps, max_size=24),
    window=st.sampled_from([400, 800, 100_000]),
    layout=st.sampled_from(["standard", "cache_stable"]),
    compacted=st.booleans(),
)
@pytest.mark.slow
def test_a_random_transcript_is_refused_or_compiled_with_nothing_missing(
    db: Connection, steps: list[Message], window: int, layout: str, compacted: bool
) -> None:
    user = uuid.uuid4()
    session = open_counted(
        db, user, p_context_window_size=window, p_max_response_tokens=100, p_system_prompt=""
    )
    stored = []
    for place, message in enumerate(steps):
        try:
            append(db, user, session, counted([message]))
        except InvalidInputError:
            if message["role"] != "tool":
                raise
            continue
        stored.append(message)
        if compacted and place % 8 == 7:
            compact(db, user, session)
    compiled = compile_context(db, user, session, layout=layout)
    assert_valid(compiled["messages"])
    assert prompt_tokens(compiled["messages"]) <= window - 100
    shown = [part for part in compiled["left_out"] if part["reason"] == "shortened"]
    assert not shown, "these texts are short"
    assert_nothing_is_missing(stored, compiled)
    asked = [m["content"] for m in stored if m["role"] == "user"]
    if asked:
        assert asked[-1] in [m["content"] for m in compiled["messages"] if m["role"] == "user"]


def compact(db: Connection, user: uuid.UUID, session: uuid.UUID, text: str = "A summary.") -> int:
    """Compact a session as a worker does, if there is anything to compact; return its turn."""
    db.execute("delete from recall.jobs where user_id = %s", [user])
    db.execute("select recall._enqueue_job(%s, 'compact', %s, %s)", [user, session, str(session)])
    [job] = rows(db, "select * from recall.claim_jobs('test', '{compact}', 1000)"
                     " where user_id = %s", [user])  # fmt: skip
    assert do_job(db, job, {"compact": {"summary": text}})["type"] == "done"
    return int(session_row(db, user, session)["compacted_through_turn"])


# The task of the turn


def loop(exchanges: int, words: int = 20) -> list[Message]:
    """Return the calls of an agent and their answers, with exact counts."""
    messages = []
    for number in range(exchanges):
        messages += [
            calls(f"call_{number}"),
            answers(f"call_{number}", f"{number} " + "x " * words),
        ]
    return counted(messages)


@pytest.mark.parametrize("layout", ["standard", "cache_stable"])
def test_an_agent_loop_keeps_the_message_that_started_it(
    db: Connection, user: uuid.UUID, layout: str
) -> None:
    session = open_counted(db, user, p_context_window_size=2000, p_max_response_tokens=300)
    append(db, user, session, counted([user_says("Find the red house."), *loop(80)]))
    for _ in range(2):
        compiled = compile_context(db, user, session, layout=layout)
        messages = compiled["messages"]
        assert_valid(messages)
        assert prompt_tokens(messages) <= 1700
        (place,) = [n for n, m in enumerate(messages) if m["role"] == "user"]
        assert messages[place]["content"] == "Find the red house."
        assert messages[place + 1]["role"] == "assistant"
        assert messages[-1]["tool_call_id"] == "call_79"
        first = compiled["history"]["first_turn"]
        assert compiled["history"] == {"first_turn": first, "last_turn": 161, "pinned_turn": 1}
        summarized = [part for part in compiled["left_out"] if part["reason"] == "summarized"]
        if not summarized:
            assert compiled["truncated"]
            assert compiled["left_out"] == [
                {"from_turn": 2, "to_turn": first - 1, "reason": "budget"}
            ]
            assert compact(db, user, session, "They looked at houses.") > 1
    assert summarized[0]["from_turn"] == 2
    assert "They looked at houses." in json.dumps(messages[:place])


def test_three_turns_of_calls_are_compacted_although_all_of_them_should_stay(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_counted(db, user, p_context_window_size=2000, p_max_response_tokens=300)
    for number in range(3):
        append(db, user, session, counted([user_says(f"Task {number}")]) + loop(30))
    through = compact(db, user, session)
    assert through > 61
    compiled = compile_context(db, user, session)
    assert [m["content"] for m in compiled["messages"] if m["role"] == "user"] == ["Task 2"]
    assert compiled["history"]["first_turn"] == through + 1
    assert compiled["budget"]["history"] > 0.3 * compiled["budget"]["available"]
    assert {part["reason"] for part in compiled["left_out"]} == {"summarized"}
    assert not compiled["truncated"]


def test_a_task_longer_than_its_share_is_shortened_in_the_middle(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_counted(db, user, p_context_window_size=2000, p_max_response_tokens=300)
    text = "It begins here. " + "Some more words. " * 2000 + "It ends here."
    append(db, user, session, counted([user_says(text)]))
    for exchanges in (0, 5):
        if exchanges:
            append(db, user, session, loop(exchanges))
        compiled = compile_context(db, user, session)
        assert_valid(compiled["messages"])
        assert prompt_tokens(compiled["messages"]) <= 1700
        (task,) = [m["content"] for m in compiled["messages"] if m["role"] == "user"]
        assert task.startswith("It begins here.")
        assert task.endswith("It ends here.")
        (part,) = [p for p in compiled["left_out"] if p["reason"] == "shortened"]
        assert (part["from_turn"], part["to_turn"]) == (1, 1)
        assert count_text_tokens(task, MODEL) <= part["tokens"]
        assert count_text_tokens(task, MODEL) > 300
        assert compiled["truncated"]
    assert compiled["messages"][-1]["tool_call_id"] == "call_4"


def test_a_current_message_starts_the_turn_itself(db: Connection, user: uuid.UUID) -> None:
    session = open_counted(db, user, p_context_window_size=2000, p_max_response_tokens=300)
    append(db, user, session, counted([user_says("An old task."), *loop(80)]))
    compiled = compile_context(db, user, session, current_message="A new task.")
    assert [m["content"] for m in compiled["messages"] if m["role"] == "user"] == ["A new task."]
    assert "pinned_turn" not in compiled["history"]


def test_history_may_end_with_a_turn_of_choice(db: Connection, user: uuid.UUID) -> None:
    session = open_counted(db, user)
    append(db, user, session, [user_says("one"), assistant_says("two"), user_says("three")])
    compiled = compile_context(db, user, session, through_turn=2)
    assert [m["content"] for m in compiled["messages"][1:]] == ["one", "two"]
    assert compiled["left_out"] == []


# Compaction


def test_compaction_cuts_a_loop_between_two_exchanges(db: Connection, user: uuid.UUID) -> None:
    session = open_counted(db, user, p_context_window_size=2000, p_max_response_tokens=300)
    messages = [user_says("Find it.")]
    for n in range(60):
        messages += [calls(f"a{n}"), calls(f"b{n}"), assistant_says("Looking."),
                     answers(f"a{n}", "x " * 20), answers(f"b{n}", "y " * 20)]  # fmt: skip
    append(db, user, session, counted(messages))
    through = compact(db, user, session)
    assert through > 1
    assert (through - 1) % 5 == 0
    compiled = compile_context(db, user, session)
    assert_valid(compiled["messages"])
    assert compiled["history"]["first_turn"] == through + 1
    assert {part["reason"] for part in compiled["left_out"]} == {"summarized"}


def test_compaction_waits_for_the_answers_of_the_newest_calls(
    db: Connection, user: uuid.UUID
) -> None:
    session = open_counted(db, user, p_context_window_size=2000, p_max_response_tokens=300)
    long = {"content": "x " * 3000, "token_count": 3000}
    append(db, user, session, counted([user_says("Find it."), calls("lost"), *loop(20)]))
    append(db, user, session, [calls("a", "b") | {"token_count": 50}, answers("a") | long])
    assert compact(db, user, session) == 42, "an older call without an answer is given up"
    append(db, user, session, [answers("b")])
    with pytest.raises(psycopg.Error, match="'lost' answers no earlier call"):
        append(db, user, session, [answers("lost")])
    compiled = compile_context(db, user, session)
    assert compiled["left_out"][-1] == {"from_turn": 43, "to_turn": 45, "reason": "budget"}
    assert compact(db, user, session) == 45, "an exchange that never fits is summarized"


def test_huge_exchanges_are_summarized(db: Connection, user: uuid.UUID) -> None:
    session = open_counted(db, user, p_context_window_size=2000, p_max_response_tokens=300)
    for number in range(4):
        append(db, user, session,
               [user_says(f"Task {number}. " + "x " * 2500) | {"token_count": 2505},
                assistant_says("y " * 2500) | {"token_count": 2500}])  # fmt: skip
    assert compact(db, user, session, "Four tasks.") == 8
    compiled = compile_context(db, user, session)
    assert "Four tasks." in json.dumps(compiled["messages"])
    (task,) = [m["content"] for m in compiled["messages"] if m["role"] == "user"]
    assert task.startswith("Task 3.")
    assert [(p["from_turn"], p["to_turn"], p["reason"]) for p in compiled["left_out"]] == [
        (1, 6, "summarized"), (8, 8, "summarized"), (7, 7, "shortened"),
    ]  # fmt: skip


def test_user_turns_stay_while_they_fit(db: Connection, user: uuid.UUID) -> None:
    """Of 0.85 · 1700 = 1445 tokens four turns of 272 stay, although half would be 722."""
    session = open_counted(db, user, p_context_window_size=2000, p_max_response_tokens=300,
                           p_system_prompt="")  # fmt: skip
    for number in range(8):
        append(db, user, session, [user_says(f"Task {number}") | {"token_count": 128},
                                   assistant_says("Done") | {"token_count": 136}])  # fmt: skip
    assert compact(db, user, session) == 8
    assert compact(db, user, session) == 8, "what is left is below the threshold"


def test_a_cache_stable_agent_loop_repeats_its_prefix(db: Connection, user: uuid.UUID) -> None:
    """Most tokens repeat the context before, although the task stands alone before the window."""
    session = open_counted(db, user, p_context_window_size=4000, p_max_response_tokens=300)
    append(db, user, session, counted([user_says("Find the red house.")]))
    previous: list[Message] = []
    repeated = total = 0
    messages = loop(120)
    for place in range(0, len(messages), 2):
        append(db, user, session, messages[place : place + 2])
        compiled = compile_context(db, user, session, layout="cache_stable")["messages"]
        same = 0
        for before, now in zip(previous, compiled, strict=False):
            if before != now:
                break
            same += count_message_tokens(now, MODEL)
        repeated += same
        total += sum(count_message_tokens(m, MODEL) for m in previous)
        previous = compiled
    assert "Find the red house." in [m["content"] for m in previous]
    assert len(previous) < 200
    assert repeated / total >= 0.9
