"""Merging what shares a tag and kind: what is proposed, what comes of it, what is refused."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from merge_faithfulness import SETS, count, judged, read_merges
from pgrecall import AgentMemory
from support import (
    answer_to,
    ask,
    call,
    do_job,
    job_rows,
    open_session,
    raise_errors,
    refused,
    together,
    value,
    verified,
)
from support.memories import remember, stored, unit
from support.scripted_model import asked, step_of, work
from support.scripted_openai import Cut, Refusal, Request, Scripted, ScriptedOpenAI

Connection = psycopg.Connection[Any]
NUMBERED = re.compile(r"^(\d+)\. (.*) \([\d-]+\)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def _quiet(db: Connection) -> Iterator[None]:
    """Sweeps run when a test says so."""
    db.execute("update recall.maintenance_tasks set last_run_at = now()")
    yield
    forget_work(db)


def forget_work(db: Connection) -> None:
    db.execute("delete from recall.jobs")
    db.execute("update recall.users set merge_due = false where merge_due")


def tagged(
    db: Connection, user: uuid.UUID, *texts: str, tag: str = "tone", **more: Any
) -> list[uuid.UUID]:
    return [
        remember(db, user, text, **{"p_tags": [tag], "p_kind": "preference"} | more)["memory_id"]
        for text in texts
    ]


def enqueue_merges(db: Connection, **more: Any) -> tuple[int, bool]:
    (row,) = call(db, "enqueue_merges", **more)
    return row["done"], row["more"]


def merges(db: Connection, user: uuid.UUID) -> list[dict[str, Any]]:
    return [job["payload"] for job in job_rows(db, user) if job["kind"] == "merge"]


def look_again(db: Connection, user: uuid.UUID) -> None:
    db.execute("update recall.users set merge_due = true where user_id = %s", [user])


def by_parts(*wanted: tuple[str, list[str]], unsupported: Collection[str] = ()) -> Any:
    """A model that answers these merges, their parts named by text, and supports the others."""

    def answer(request: Request) -> Scripted:
        if step_of(request) == "verify":
            return verified(request["messages"][1]["content"], unsupported)
        shown = {text: int(n) for n, text in NUMBERED.findall(request["messages"][1]["content"])}
        return {
            "merges": [
                {"content": content, "parts": [shown[part] for part in parts]}
                for content, parts in wanted
            ]
        }

    return answer


TONES = [
    "User prefers a casual tone.", "User does not like formal language.",
    "User prefers a conversational tone.", "User prefers short paragraphs.",
    "User likes emoji in moderation.", "User writes to 3 editors.",
]  # fmt: skip


def test_more_than_five_are_proposed(db: Connection, user: uuid.UUID) -> None:
    other = uuid.uuid4()
    ids = tagged(db, user, *TONES[:5])
    tagged(db, other, *TONES[:5])
    assert enqueue_merges(db) == (0, False)
    ids += tagged(db, user, TONES[5])
    assert enqueue_merges(db) == (1, False)
    (payload,) = merges(db, user)
    assert payload == {"tag": "tone", "kind": "preference", "memory_ids": [*map(str, ids)]}
    assert merges(db, other) == []
    (job,) = job_rows(db, user)
    assert (job["kind"], job["session_id"], job["state"]) == ("merge", None, "ready")
    events = call(db, "memory_history", p_user_id=user, p_memory_id=ids[0])
    assert [(event["event"], event["job_id"]) for event in events][-1] == (
        "proposed", job["job_id"]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("another kind", {"p_kind": "fact"}),
        ("another tag", {"p_tags": ["colour"]}),
        ("a slot", {"p_slot": "tone"}),
        ("an episode", {"p_kind": "episode"}),
        ("expired", {"p_expires_at": datetime.now(UTC) + timedelta(hours=1)}),
        ("ended", {}),
        ("local", {"p_provenance": "tool_output"}),
    ],
)
def test_memories_that_do_not_count_are_not_proposed(
    db: Connection, user: uuid.UUID, name: str, more: dict[str, Any]
) -> None:
    tagged(db, user, *TONES[:5])
    if name == "local":
        more |= {"p_session_id": open_session(db, user)}
    (sixth,) = tagged(db, user, TONES[5], **more)
    if name == "ended":
        call(db, "retract_memory", p_user_id=user, p_memory_id=sixth)
    assert enqueue_merges(db, p_as_of=datetime.now(UTC) + timedelta(hours=2)) == (0, False)
    assert merges(db, user) == []
    tagged(db, user, "User hates exclamation marks.")
    assert enqueue_merges(db) == (1, False)


def test_an_achieved_goal_does_not_count(db: Connection, user: uuid.UUID) -> None:
    goals = tagged(db, user, *(f"User wants to run race {n}." for n in range(6)), p_kind="goal")
    call(db, "achieve_goal", p_user_id=user, p_memory_id=goals[0])
    assert enqueue_merges(db) == (0, False)


def test_twenty_at_a_time_and_the_rest_later(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    ids = tagged(db, user, *(f"User likes colour number {n}." for n in range(47)))
    asked_about: list[uuid.UUID] = []
    openai.respond = lambda _: {"merges": []}
    for expected in (20, 20, 20):
        assert enqueue_merges(db) == (1, False)
        (payload,) = merges(db, user)
        assert len(payload["memory_ids"]) == expected
        asked_about += map(uuid.UUID, payload["memory_ids"])
        assert enqueue_merges(db) == (0, False), "one at a time"
        work(memory, kinds=["merge"])
    # the last seven with the latest of the others
    assert asked_about == [*ids[:40], *ids[40:], *reversed(ids[27:40])]
    assert enqueue_merges(db) == (0, False)
    assert len(asked(openai)) == 3


def test_the_same_set_is_not_proposed_again(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    """The model said no: it is asked again only when something new has come."""
    tagged(db, user, *TONES)
    before = stored(db, user)
    openai.respond = lambda _: {"merges": []}
    assert enqueue_merges(db) == (1, False)
    assert work(memory, kinds=["merge"]).done == {"merge": 1}
    assert stored(db, user) == before
    for _ in range(3):
        look_again(db, user)
        assert enqueue_merges(db) == (0, False)
    remember(db, user, "User lives in Lyon.", p_tags=["home"])
    assert enqueue_merges(db) == (0, False)
    tagged(db, user, "User dislikes slang.")
    assert enqueue_merges(db) == (1, False)
    assert len(merges(db, user)[0]["memory_ids"]) == 7


def test_one_question_for_two_tags_of_the_same_memories(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    tagged(db, user, *TONES, p_tags=["tone", "style", "style"])
    tagged(db, user, *(f"User likes font {n}." for n in range(4)), p_tags=["style"])
    openai.respond = lambda _: {"merges": []}
    assert enqueue_merges(db) == (1, False)
    assert merges(db, user)[0]["tag"] == "style"
    assert len(merges(db, user)[0]["memory_ids"]) == 10
    work(memory, kinds=["merge"])
    assert enqueue_merges(db) == (1, False)
    assert merges(db, user)[0]["tag"] == "tone"
    work(memory, kinds=["merge"])
    assert enqueue_merges(db) == (0, False)


def test_batches_go_on_where_they_stopped(db: Connection) -> None:
    users = sorted(uuid.uuid4() for _ in range(5))
    for user in users:
        tagged(db, user, *TONES)
    # it goes on behind the last user of the time before, and round
    db.execute("update recall.maintenance_tasks set last_user = %s where task = 'enqueue_merges'",
               [users[2]])  # fmt: skip
    assert enqueue_merges(db, p_limit=1) == (1, True)
    assert [len(merges(db, user)) for user in users] == [0, 0, 0, 1, 0]
    tagged(db, users[0], *(f"User likes {n} spoons." for n in range(6)), tag="tea")
    assert enqueue_merges(db, p_limit=0) == (0, True)
    answers = []
    while not answers or answers[-1][1]:
        answers.append(enqueue_merges(db, p_limit=2))
    assert sum(done for done, _ in answers) == 5
    assert max(done for done, _ in answers) == 2
    assert [len(merges(db, user)) for user in users] == [2, 1, 1, 1, 1]
    with refused("RC003", "p_limit is -1"):
        enqueue_merges(db, p_limit=-1)


def test_a_user_who_is_busy_is_left_for_later(
    db: Connection, connect: Any, user: uuid.UUID
) -> None:
    tagged(db, user, *TONES)
    writer = connect(autocommit=False)
    writer.execute("select recall._lock_user_and_bump_revision(%s)", [user])
    assert enqueue_merges(db) == (0, True), "somebody is held"
    writer.rollback()
    assert enqueue_merges(db) == (1, False)


def test_without_a_model_nothing_is_proposed(db: Connection, user: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    tagged(db, user, *TONES)
    assert enqueue_merges(db) == (0, False)


@pytest.mark.concurrent
def test_two_sweeps_at_once(db: Connection, connect: Any) -> None:
    users = [uuid.uuid4() for _ in range(8)]
    for user in users:
        tagged(db, user, *TONES)
    connections = [connect() for _ in range(3)]
    raise_errors(together(partial(enqueue_merges, conn) for conn in connections))
    enqueue_merges(db)
    assert [len(merges(db, user)) for user in users] == [1] * len(users)


def test_users_are_found_by_their_key(db: Connection, connect: Any, user: uuid.UUID) -> None:
    """The plan reads users in order, and the memories of one user by an index."""
    tagged(db, user, *TONES)
    plans = []
    watched = connect()
    watched.add_notice_handler(lambda said: plans.append(said.message_primary))
    watched.execute("load 'auto_explain'")
    for name, setting in (
        ("auto_explain.log_min_duration", "0"), ("auto_explain.log_nested_statements", "on"),
        ("auto_explain.log_level", "notice"), ("client_min_messages", "notice"),
    ):  # fmt: skip
        watched.execute(f"set {name} = '{setting}'".encode())
    assert enqueue_merges(watched) == (1, False)
    (users,) = [plan for plan in plans if "merge_due" in plan and "limit" in plan.lower()][:1]
    assert "user_id_idx" in users or "_pkey" in users, users
    (sets,) = [plan for plan in plans if "memory_store" in plan and "is_result" in plan]
    for plan in (users, sets):
        assert not re.search(r"(?<!Disabled: true)\bSeq Scan on (users|memory_\w+)_p", plan), plan


def test_merge_replaces_its_parts_by_one_memory(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    other = uuid.uuid4()
    tagged(db, other, *TONES)
    ids = tagged(db, user, *TONES[:3], p_embedding=None, p_importance=0.4)
    (strong,) = tagged(db, user, TONES[3], p_tags=["tone", "length"], p_importance=0.9)
    rest = tagged(db, user, *TONES[4:], p_provenance="fact")
    call(db, "record_access", p_user_id=user, p_memory_ids=[*ids, strong],
         p_relevance="{0.5,0.5,0.5,0.5}")  # fmt: skip
    db.execute("select recall.flush_access_log()")
    turns = [uuid.uuid4() for _ in range(3)]
    db.execute("update recall.memory_store set source_turn_ids = %s where memory_id = %s",
               [turns[:2], ids[0]])  # fmt: skip
    db.execute("update recall.memory_store set source_turn_ids = %s where memory_id = %s",
               [turns[1:], ids[1]])  # fmt: skip
    assert enqueue_merges(db)[0] == 2
    content = "User prefers a casual, conversational tone and does not like formal language."
    short = "User prefers short paragraphs and likes emoji in moderation."
    openai.respond = by_parts((content, TONES[:3]), (short, TONES[3:5]))
    db.execute("delete from recall.jobs where user_id = %s", [other])
    work(memory, kinds=["merge"])

    (made,) = [row for row in stored(db, user) if row["content"] == content]
    assert (made["tier"], made["scope"], made["provenance"], made["source"], made["kind"]) == (
        "semantic", "global", "user_stated", "consolidation", "preference")  # fmt: skip
    assert (made["is_active"], made["is_validated"], made["expires_at"]) == (True, True, None)
    assert (made["tags"], made["access_count"]) == (["tone"], 3)
    assert (made["importance"], made["confidence"]) == (pytest.approx(0.4), 1.0)
    assert sorted(made["source_turn_ids"]) == sorted(turns)
    (two,) = [row for row in stored(db, user) if row["content"] == short]
    assert (two["provenance"], two["tags"]) == ("fact", ["length", "tone"]), "lowest authority"
    assert two["importance"] == pytest.approx(0.9)
    ended = {row["memory_id"]: row for row in stored(db, user) if not row["is_active"]}
    assert {key: (row["end_reason"], row["superseded_by"]) for key, row in ended.items()} == {
        **dict.fromkeys(ids, ("merged", made["memory_id"])),
        **dict.fromkeys([strong, rest[0]], ("merged", two["memory_id"])),
    }
    assert value(db, "select count(*) from recall.memory_embedding where memory_id = any(%s)",
                 [[made["memory_id"], two["memory_id"]]]) == 2  # fmt: skip
    chain = call(db, "memory_chain", p_user_id=user, p_memory_id=made["memory_id"])
    assert {row["memory_id"] for row in chain} == {*ids, made["memory_id"]}
    (added,) = [
        event
        for event in call(db, "memory_history", p_user_id=user, p_memory_id=ids[0])
        if event["memory_id"] == made["memory_id"]
    ]
    assert (added["event"], {*added["detail"]["replaces"]}) == ("added", {*map(str, ids)})
    assert added["job_id"] is not None
    # ids of the same millisecond are in no order
    assert {row["content"] for row in stored(db, other)} == {*TONES}
    assert value(db, "select active_memory_count from recall.users where user_id = %s",
                 [user]) == 3  # fmt: skip

    # the sweep leaves the result alone
    look_again(db, user)
    assert enqueue_merges(db) == (0, False)


def test_a_part_can_be_restored(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    """And is not merged again: a person took it out."""
    ids = tagged(db, user, *TONES)
    enqueue_merges(db)
    content = "User prefers a casual, conversational tone."
    openai.respond = by_parts((content, [TONES[0], TONES[2]]))
    work(memory, kinds=["merge"])
    (restored,) = call(db, "restore_memory", p_user_id=user, p_memory_id=ids[0])
    again = call(db, "get_memory", p_user_id=user, p_memory_id=restored["restore_memory"])[0]
    assert (again["content"], again["is_active"]) == (TONES[0], True)
    assert content in {row["content"] for row in stored(db, user) if row["is_active"]}
    tagged(db, user, "User dislikes slang.")
    assert enqueue_merges(db) == (1, False)
    assert str(again["memory_id"]) not in merges(db, user)[0]["memory_ids"]


UNFAITHFUL = [
    ("User writes to editors.", ["User writes to 3 editors.", "User mails editors."], "-3"),
    ("User knows Ann.", ["User knows Ann and Bob.", "User knows Ann."], "-bob"),
    ("User uses SQLite.", ["User uses SQLite.", "User once used PostgreSQL."], "-postgres"),
    ("User likes formal words.", ["User does not like formal words.", "User likes words."], "-not"),
    ("User smokes.", ["User stopped smoking.", "User likes smokes."], "-not"),
    ("User reads 4 books.", ["User reads books.", "User buys books."], "+4"),
    ("User likes tea in Lyon.", ["User likes tea.", "User drinks tea."], "+lyon"),
    ("User lives in Lyon and works in Porto.", ["User lives in Porto.", "User works in Lyon."],
     "?lyon"),
    ("User runs because they sleep badly.", ["User runs.", "User sleeps badly."], "+cause"),
    ("Nutzer trinkt Tee und Kaffee.", ["Der Nutzer trinkt nie Kaffee.", "Der Nutzer trinkt Tee."],
     "-not"),
]  # fmt: skip
DOUBTFUL = [
    ("User likes no tea.", ["User likes tea.", "User drinks tea."]),
    ("User does not like tea and mate.", ["User likes tea.", "User does not like mate."]),
    ("User's dogs are big.", ["User's sister has dogs.", "User likes big dogs."]),
    ("User learns Go.", ["User wants to learn Go.", "User reads about Go."]),
]  # fmt: skip


@pytest.mark.parametrize(("content", "parts", "word"), UNFAITHFUL)
def test_words_refuse_a_text_that_says_something_else(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID, content: str,
    parts: list[str], word: str,
) -> None:  # fmt: skip
    """The other merge of the same answer is done; the audit of the parts says what was wrong."""
    bystanders = ["User likes short mails.", "User prefers short mails.", "User reads mails late.",
                  "User sorts mails by day."]  # fmt: skip
    ids = tagged(db, user, *parts, *bystanders)
    enqueue_merges(db)
    fine = "User likes and prefers short mails."
    openai.respond = by_parts((content, parts), (fine, bystanders[:2]))
    work(memory, kinds=["merge"])
    assert asked(openai) == ["merge"], "nothing was in doubt"
    active = {row["content"] for row in stored(db, user) if row["is_active"]}
    assert active == {*parts, *bystanders[2:], fine}
    for part in ids[:2]:
        last = call(db, "memory_history", p_user_id=user, p_memory_id=part)[-1]
        assert (last["event"], last["detail"]["content"]) == ("merge_refused", content)
        assert any(said.startswith(word) for said in last["detail"]["words"]), last
    look_again(db, user)
    assert enqueue_merges(db) == (0, False)


@pytest.mark.parametrize(("content", "parts"), DOUBTFUL)
@pytest.mark.parametrize("is_supported", [True, False])
def test_a_text_in_doubt_is_verified_by_the_model(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID, content: str,
    parts: list[str], is_supported: bool,
) -> None:  # fmt: skip
    others = [f"User sorts mails by {what}." for what in ("day", "week", "sender", "topic")]
    ids = tagged(db, user, *parts, *others)
    enqueue_merges(db)
    openai.respond = by_parts((content, parts), unsupported=[] if is_supported else [content])
    work(memory, kinds=["merge"])
    assert asked(openai) == ["merge", "verify"]
    shown = openai.chats[-1]["messages"][1]["content"]
    assert shown == f"<memories>\n1. {content}\n   1) {parts[0]}\n   2) {parts[1]}\n</memories>"
    active = {row["content"] for row in stored(db, user) if row["is_active"]}
    assert active == ({content} if is_supported else {*parts}) | {*others}
    last = call(db, "memory_history", p_user_id=user, p_memory_id=ids[0])[-1]
    if not is_supported:
        assert (last["event"], last["detail"]["content"]) == ("merge_refused", content)
        assert last["detail"]["check"] == {"lost": [1], "added": ""}
        assert [made["prompt"] for made in last["detail"]["made_by"]] == ["merge@1", "verify@1"]
        assert value(
            db,
            "select value from recall.metrics() where name = 'pgrecall_refused_merges_last_day'",
        )


def test_what_a_text_adds_refuses_it(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    """Small models write that there is nothing in words."""
    tagged(db, user, *TONES)
    enqueue_merges(db)
    texts = ["User is fond of a relaxed tone.", "User loves tiny paragraphs with emoji."]

    def answer(request: Request) -> Scripted:
        if step_of(request) == "merge":
            return by_parts((texts[0], [TONES[0], TONES[2]]), (texts[1], TONES[3:5]))(request)
        return {"checks": [{"text": 2, "lost": [], "added": "tiny"},
                           {"text": 1, "lost": [], "added": "None."}]}  # fmt: skip

    openai.respond = answer
    work(memory, kinds=["merge"])
    active = {row["content"] for row in stored(db, user) if row["is_active"]}
    assert active == {texts[0], TONES[1], *TONES[3:]}


def test_the_outcome_counts_refused_merges(
    db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    tagged(db, user, *TONES)
    enqueue_merges(db)
    (job,) = call(db, "claim_jobs", p_worker="w", p_kinds=["merge"])
    step = partial(
        call, db, "next_request", p_worker={"chat_model": "gpt-4o-mini"},
        **{f"p_{key}": job[key] for key in ("user_id", "job_id", "lease_token")},
    )  # fmt: skip
    request = step()[0]["next_request"]
    said = {"merges": [
        {"content": "User writes to 4 editors.", "parts": [5, 6]},
        {"content": "User prefers a casual, conversational tone.", "parts": [1, 3]},
    ]}  # fmt: skip
    answer = {"request_id": request["request_id"], "content": json.dumps(said)}
    done = step(p_answer=answer)[0]["next_request"]
    assert done == {"type": "done", "outcome": {"kind": "merge", "items": 1, "refused": 1}}


def test_checks_that_are_none_are_asked_for_again(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    """The merges of the first answer are kept meanwhile."""
    tagged(db, user, *TONES)
    enqueue_merges(db)
    text = "User is fond of a relaxed tone."
    first = by_parts((text, [TONES[0], TONES[2]]))
    bad: Scripted = {"checks": [{"text": 2, "lost": [], "added": ""}]}
    openai.respond = lambda request: first(request) if step_of(request) == "merge" else bad
    assert memory.worker(kinds=["merge"]).run_until_idle().failed == {"merge": 1}
    assert asked(openai) == ["merge", "verify", "verify"]
    (job,) = job_rows(db, user)
    assert "not one check for each of the 1 texts" in job["last_error"]
    openai.respond = first
    db.execute("update recall.jobs set run_at = now()")
    work(memory, kinds=["merge"])
    assert text in {row["content"] for row in stored(db, user) if row["is_active"]}


def test_more_doubts_than_the_model_reads_are_verified_in_turn(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    pad = " and " + " and ".join(f"w{n}ord" for n in range(90))
    parts = [f"User likes colour {name}{pad}." for name in "abcdefghijkl"]
    tagged(db, user, *parts)
    enqueue_merges(db)
    wanted = [(f"User is fond of {one[22:]}", [one, two])
              for one, two in zip(parts[::2], parts[1::2], strict=True)]  # fmt: skip
    openai.respond = by_parts(*wanted)
    worker = memory.worker(kinds=["merge"])
    worker.run_until_idle()
    active = {row["content"] for row in stored(db, user) if row["is_active"]}
    assert active == {text for text, _ in wanted}


def test_a_refused_group_is_asked_again_when_it_changes(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    tagged(db, user, *TONES)
    enqueue_merges(db)
    openai.respond = by_parts(("User writes to 4 editors.", TONES[4:]))
    work(memory, kinds=["merge"])
    for _ in range(2):
        look_again(db, user)
        assert enqueue_merges(db) == (0, False)
    tagged(db, user, "User dislikes slang.")
    assert enqueue_merges(db) == (1, False)


FAITHFUL = [
    ("User eats neither meat nor fish.", ["User does not eat meat.", "User never eats fish."]),
    ("User likes tea but not coffee.", ["User likes tea.", "User does not like coffee."]),
    ("User works in Lyon and lives in Porto.", ["User lives in Porto.", "User works in Lyon."]),
    ("User prefers a casual, conversational tone.", [TONES[0], TONES[2]]),
    ("User prefers short paragraphs and likes emoji in moderation.", TONES[3:5]),
    ("Der Nutzer wohnt in Köln und arbeitet bei Bosch.",
     ["Der Nutzer arbeitet bei Bosch.", "Der Nutzer wohnt in Köln."]),
    ("L'utilisateur habite à Lyon et a deux chats.",
     ["L'utilisateur habite à Lyon.", "L'utilisateur a 2 chats."]),
]  # fmt: skip


@pytest.mark.parametrize(("content", "parts"), FAITHFUL)
def test_words_accept_a_text_that_only_joins(
    db: Connection, content: str, parts: list[str]
) -> None:
    assert (
        value(db, "select (recall._judge_merge(%s, %s)).o_verdict", [parts, content]) == "faithful"
    )


def test_labeled_merges_are_rarely_judged_wrongly(db: Connection) -> None:
    """By words alone hardly any is accepted wrongly; with the label's answer few are refused."""
    verdicts = judged(db, read_merges(SETS / "tune.tsv"))
    alone, answered = (count(verdicts, is_answered=is_) for is_ in (False, True))
    assert alone["wrongly_accepted"] <= 0.02 * alone["unfaithful"]
    assert answered["wrongly_accepted"] == alone["wrongly_accepted"]
    assert answered["wrongly_refused"] <= 0.15 * answered["faithful"]
    assert alone["wrongly_refused"] < alone["faithful"]
    assert answered["questions"] < 0.85 * len(verdicts)


def test_a_broken_line_of_merges_is_named(tmp_path: Path) -> None:
    path = tmp_path / "merges.tsv"
    path.write_text("en-1\ten\ttrue\tjoin\ttext\tone | two\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"merges\.tsv, line 1"):
        read_merges(path)


PLAIN = "Well, they all look nice."
BAD: dict[str, tuple[list[Scripted], str]] = {
    "malformed": ([PLAIN, PLAIN], PLAIN),
    "one part": ([{"merges": [{"content": "x", "parts": [1]}]}] * 2, "fewer than two"),
    "the same part twice": ([{"merges": [{"content": "x", "parts": [2, 2]}]}] * 2, "fewer than"),
    "a part that is none": ([{"merges": [{"content": "x", "parts": [1, 7]}]}] * 2, "1 to 6"),
    "an id": ([{"merges": [{"content": "x", "parts": [str(uuid.uuid4()), 1]}]}] * 2, "parts"),
    "no text": ([{"merges": [{"content": " ", "parts": [1, 2]}]}] * 2, "content"),
    "overlapping": (
        [{"merges": [{"content": "x", "parts": [1, 2]}, {"content": "y", "parts": [2, 3]}]}] * 2,
        "two merges",
    ),
    "refusal": ([Refusal("I must not.")], "I must not."),
    "cut off": ([Cut('{"merges": [{"con')] * 2, "cut off"),
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_answer_fails_the_job_and_writes_nothing(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID, name: str
) -> None:
    """Each is tried again, with what the model said kept and nothing written."""
    answers, kept = BAD[name]
    tagged(db, user, *TONES)
    before = stored(db, user)
    enqueue_merges(db)
    openai.then(*answers)
    assert memory.worker(kinds=["merge"]).run_until_idle().failed == {"merge": 1}
    assert stored(db, user) == before
    (job,) = job_rows(db, user)
    assert (job["state"], job["attempts"]) == ("ready", 1)
    assert kept in job["last_error"]
    openai.respond = by_parts(("User prefers a casual, conversational tone.",
                               [TONES[0], TONES[2]]))  # fmt: skip
    db.execute("update recall.jobs set run_at = now()")
    work(memory, kinds=["merge"])
    assert len([row for row in stored(db, user) if row["is_active"]]) == 5


def test_nonsense_for_ever_is_a_dead_letter(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    tagged(db, user, *TONES)
    before = stored(db, user)
    enqueue_merges(db)
    openai.respond = lambda _: PLAIN
    for _ in range(value(db, "select job_max_attempts from recall.settings")):
        db.execute("update recall.jobs set run_at = now()")
        memory.worker(kinds=["merge"]).run_until_idle()
    (job,) = job_rows(db, user)
    assert job["state"] == "dead"
    assert PLAIN in job["last_error"]
    assert stored(db, user) == before


# --- the protocol, as a worker in another language speaks it


def leased(db: Connection) -> dict[str, Any]:
    [job] = call(db, "claim_jobs", p_worker="w", p_kinds=["merge"])
    return job


def merged(db: Connection, job: dict[str, Any], *wanted: tuple[str, list[str]]) -> None:
    """Do a job without vectors, by a model that answers these merges."""
    assert do_job(db, job, {"merge": by_parts(*wanted)})["type"] == "done"


CASUAL = "User prefers a casual, conversational tone."


def test_a_merge_longer_than_a_memory_may_be_is_a_dead_letter(
    db: Connection, user: uuid.UUID
) -> None:
    tagged(db, user, *TONES)
    before = stored(db, user)
    enqueue_merges(db)
    call(db, "configure_user", p_user_id=user, p_changes={"memory_max_characters": 100})
    end = do_job(db, leased(db), {"merge": by_parts((" ".join(TONES), TONES))})
    assert (end["type"], end["dead"]) == ("failed", True)
    assert end["error"].startswith("RC003 merges[0].content is ")
    assert stored(db, user) == before


@pytest.mark.parametrize("token", ["<System>", "[TOOL_CALLS]"])
def test_merge_of_neutralized_texts_is_judged_by_the_texts_that_the_model_saw(
    db: Connection, user: uuid.UUID, token: str
) -> None:
    """A model repeats a token as the prompt shows it; the stored texts would lose a name by it."""
    tagged(db, user, f"User reads the {token} logs.", f"User reads {token} logs.", *TONES)
    enqueue_merges(db)
    shown = f"({token[1:]}"
    answers = {"merge": by_parts((f"User reads the {shown} logs.",
                                  [f"User reads the {shown} logs.", f"User reads {shown} logs."])),
               "verify": refuse}  # fmt: skip
    end = do_job(db, leased(db), answers)
    assert end == {"type": "done", "outcome": {"kind": "merge", "items": 1}}


def refuse(request: Request) -> Any:
    raise AssertionError(request)


def test_without_vectors_an_embed_job_follows(db: Connection, user: uuid.UUID) -> None:
    tagged(db, user, *TONES)
    enqueue_merges(db)
    job = leased(db)
    request = ask(db, job, embedding_model=None)
    shown = request["messages"][1]["content"]
    assert shown.startswith("Topic: tone.\n")
    assert [text for _, text in NUMBERED.findall(shown)] == TONES
    answer = answer_to(request, {"merge": by_parts((CASUAL, [TONES[2], TONES[0]]))})
    assert ask(db, job, answer, embedding_model=None)["type"] == "done"
    assert [item["kind"] for item in job_rows(db, user)] == ["embed"]
    after = stored(db, user)
    assert ask(db, job, answer, embedding_model=None)["type"] == "gone", "once"
    assert stored(db, user) == after


def test_a_text_that_is_known_takes_the_parts(db: Connection, user: uuid.UUID) -> None:
    known = remember(db, user, CASUAL)["memory_id"]
    ids = tagged(db, user, *TONES)
    enqueue_merges(db)
    merged(db, leased(db), (CASUAL.rstrip("."), [TONES[0], TONES[2]]))
    rows_ = {row["memory_id"]: row for row in stored(db, user)}
    assert rows_[ids[0]]["superseded_by"] == rows_[ids[2]]["superseded_by"] == known
    assert rows_[known]["tags"] == ["tone"]


@pytest.mark.parametrize("how", ["retract_memory", "supersede_memory"])
def test_a_part_that_ended_meanwhile_drops_its_merge(
    db: Connection, user: uuid.UUID, how: str
) -> None:
    ids = tagged(db, user, *TONES)
    enqueue_merges(db)
    job = leased(db)
    request = ask(db, job, embedding_model=None)
    more = {"p_content": "User prefers a dry tone."} if how == "supersede_memory" else {}
    call(db, how, p_user_id=user, p_memory_id=ids[0], **more)
    before = {row["content"] for row in stored(db, user) if row["is_active"]}
    short = "User prefers short paragraphs and likes emoji in moderation."
    both = [(CASUAL, [TONES[0], TONES[2]]), (short, [TONES[3], TONES[4]])]
    end = ask(db, job, answer_to(request, {"merge": by_parts(*both)}), embedding_model=None)
    if how == "retract_memory":  # what it was asked about is shown to nobody any more
        assert TONES[0] not in end["messages"][1]["content"]
        end = ask(db, job, answer_to(end, {"merge": by_parts(both[1])}), embedding_model=None)
    assert end["type"] == "done"
    after = {row["content"] for row in stored(db, user) if row["is_active"]}
    assert after == before - {TONES[3], TONES[4]} | {short}


def test_input_when_most_have_ended(db: Connection, user: uuid.UUID) -> None:
    ids = tagged(db, user, *TONES)
    enqueue_merges(db)
    for part in ids[1:]:
        call(db, "retract_memory", p_user_id=user, p_memory_id=part)
    end = do_job(db, leased(db))
    assert end == {"type": "done", "outcome": {"kind": "merge", "items": 0}}


def test_malformed_payload_of_a_merge_job_is_refused(db: Connection, user: uuid.UUID) -> None:
    for payload in ({}, {"memory_ids": "all"}, {"memory_ids": ["1"]}):
        call(db, "enqueue_job", p_user_id=user, p_kind="merge", p_payload=payload)
        end = do_job(db, leased(db))
        assert (end["type"], end["dead"]) == ("failed", True)
        assert "RC003 memory_ids in the job's payload" in end["error"]


@pytest.mark.concurrent
def test_two_merges_and_a_writer_at_once(db: Connection, connect: Any) -> None:
    """Two jobs over the same memories, and a person who edits one of them: one of each effect."""
    connections = [connect() for _ in range(3)]
    for user in (uuid.uuid4() for _ in range(4)):
        ids = tagged(db, user, *TONES)
        enqueue_merges(db)
        jobs = [leased(db)]
        (payload,) = merges(db, user)
        call(db, "enqueue_job", p_user_id=user, p_kind="merge", p_payload=payload)
        jobs.append(leased(db))
        works: list[Any] = []
        for conn, job, style in zip(
            connections, jobs, ("a casual, conversational tone", "a conversational, casual tone"),
            strict=False,
        ):  # fmt: skip
            wanted = by_parts((f"User prefers {style}.", [TONES[0], TONES[2]]))
            answer = answer_to(ask(db, job, embedding_model=None), {"merge": wanted})
            works.append(partial(ask, conn, job, answer, embedding_model=None))
        works.append(partial(call, connections[2], "supersede_memory", p_user_id=user,
                             p_memory_id=ids[0], p_content="User prefers a dry tone."))  # fmt: skip
        results = together(works)
        raise_errors(results)
        assert [end["type"] for end in results[:2]] == ["done", "done"]
        left = {row["content"] for row in stored(db, user) if row["is_active"]} - {*TONES}
        assert len(left) == 1, left
        forget_work(db)


def test_vectors_come_with_the_result(db: Connection, user: uuid.UUID) -> None:
    tagged(db, user, *TONES)
    enqueue_merges(db)
    answers = {"merge": by_parts((CASUAL, [TONES[0], TONES[2]])), "embed": lambda _: unit(3)}
    offered = value(db, "select embedding_model from recall.settings")
    assert do_job(db, leased(db), answers, embedding_model=offered)["type"] == "done"
    assert value(db, "select count(*) from recall.memory_embedding where user_id = %s",
                 [user]) == 1  # fmt: skip
