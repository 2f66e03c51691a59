"""Patterns: what keeps coming back in a user's episodes, and what helped."""

from __future__ import annotations

import json
import math
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, ChatSession
from support import answer_to, ask, call, do_job, job_rows, raise_errors, sweep, together, value
from support.episodes import CLOSE, NOW, episode, episodes
from support.memories import stored, vector
from support.scripted_model import MODEL, Script, asked, step_of, work
from support.scripted_openai import Refusal, Request, Scripted, ScriptedOpenAI
from support.servers import DIMENSIONS

Connection = psycopg.Connection[Any]
VPN = "User has recurring VPN connectivity issues."
NUMBERED = re.compile(r"^(\d+)\. (.*) \([\d-]+\)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def _quiet(db: Connection) -> Iterator[None]:
    """Sweeps run when a test says so."""
    db.execute("update recall.maintenance_tasks set last_run_at = now()")
    yield
    forget_work(db)


def forget_work(db: Connection) -> None:
    db.execute("delete from recall.jobs")
    db.execute("update recall.users set pattern_due = false where pattern_due")


def enqueue_patterns(db: Connection, **more: Any) -> tuple[int, bool]:
    (row,) = call(db, "enqueue_patterns", **{"p_as_of": NOW} | more)
    return row["done"], row["more"]


def proposed(db: Connection, user: uuid.UUID) -> list[list[str]]:
    return [job["payload"]["memory_ids"] for job in job_rows(db, user) if job["kind"] == "pattern"]


def look_again(db: Connection, user: uuid.UUID) -> None:
    db.execute("update recall.users set pattern_due = true where user_id = %s", [user])


def patterns(db: Connection, user: uuid.UUID) -> list[dict[str, Any]]:
    return [row for row in stored(db, user) if row["kind"] == "pattern"]


def leased(db: Connection) -> dict[str, Any]:
    [job] = call(db, "claim_jobs", p_worker="w", p_kinds=["pattern"])
    return job


def finish(db: Connection, job: dict[str, Any], content: str | None = VPN, **more: Any) -> None:
    """Do a job by a model that sees this pattern."""
    answers = {"pattern": {"pattern": content, "solutions": [], "tags": []} | more}
    assert do_job(db, job, answers)["type"] == "done"


def test_three_similar_episodes_are_proposed(db: Connection, user: uuid.UUID) -> None:
    other = uuid.uuid4()
    episodes(db, other, CLOSE[:2])
    first = episodes(db, user, CLOSE[:1], days_ago=14)
    first += episodes(db, user, CLOSE[1:2], days_ago=7)
    assert enqueue_patterns(db) == (0, False)
    first += episodes(db, user, CLOSE[2:], days_ago=1)
    episode(db, user, "User met something else.", vector(0, 5))
    assert enqueue_patterns(db) == (1, False)
    assert proposed(db, user) == [[*map(str, first)]]
    assert proposed(db, other) == []
    events = call(db, "memory_history", p_user_id=user, p_memory_id=first[0])
    assert [event["event"] for event in events][-1] == "proposed"


@pytest.mark.parametrize(
    ("degrees", "jobs"),
    [
        ((0, 36, 18), 1),  # the cosine of 36 degrees is 0.809
        ((0, 38, 19), 0),  # and that of 38 is 0.788: pairwise means each two
        ((0, 36.5, 18), 1),
        ((0, 37.5, 18), 0),
        ((0, 30, 60, 90), 0),  # a chain of neighbors is no set
        ((0, 30, 60, 90, 45), 1),
    ],
)
def test_pattern_needs_pairwise_similar_episodes(
    db: Connection, user: uuid.UUID, degrees: tuple[float, ...], jobs: int
) -> None:
    episodes(db, user, degrees)
    assert enqueue_patterns(db) == (jobs, False)


@pytest.mark.parametrize(("days_ago", "jobs"), [(29.9, 1), (30, 1), (30.1, 0), (-0.1, 0)])
def test_pattern_needs_episodes_within_thirty_days(
    db: Connection, user: uuid.UUID, days_ago: float, jobs: int
) -> None:
    episodes(db, user, CLOSE[:2])
    episodes(db, user, CLOSE[2:], days_ago=days_ago)
    assert enqueue_patterns(db) == (jobs, False)


def test_what_does_not_count(db: Connection, user: uuid.UUID) -> None:
    episodes(db, user, CLOSE[:2])
    episode(db, user, "User had a problem.", vector(CLOSE[2]), kind="fact")
    (ended,) = episodes(db, user, CLOSE[2:])
    call(db, "retract_memory", p_user_id=user, p_memory_id=ended)
    late = episode(db, user, "User had another problem.", None)
    assert enqueue_patterns(db) == (0, False)
    # when the vector comes, the user is looked at again
    call(db, "add_embedding", p_user_id=user, p_memory_id=late, p_embedding=vector(CLOSE[2]),
         p_model="")  # fmt: skip
    assert enqueue_patterns(db) == (1, False)


def test_patterns_follow_the_settings_of_the_user(db: Connection, user: uuid.UUID) -> None:
    changes = {"pattern_episodes": 4, "pattern_within": "10 days", "pattern_similarity": 0.99}
    call(db, "configure_user", p_user_id=user, p_changes=changes)
    episodes(db, user, (0, 1, 2), days_ago=9)
    assert enqueue_patterns(db) == (0, False)
    episodes(db, user, (3,), days_ago=9)
    assert enqueue_patterns(db) == (1, False)


def test_several_sets_and_several_users(db: Connection) -> None:
    users = sorted(uuid.uuid4() for _ in range(3))
    for user in users:
        for plane in range(2):
            episodes(db, user, (0, 5, 10, 15), plane)
    answers = []
    while not answers or answers[-1][1]:
        answers.append(enqueue_patterns(db, p_limit=2))
    assert sum(done for done, _ in answers) == 6
    assert max(done for done, _ in answers) <= 2
    for user in users:
        assert sorted(map(len, proposed(db, user))) == [4, 4]


def test_the_same_set_is_not_proposed_again(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    db.execute("update recall.settings set embedding_model = 'openai:words'")
    episodes(db, user, CLOSE)
    before = stored(db, user)
    openai.respond = lambda _: {"pattern": None, "solutions": [], "tags": []}
    assert enqueue_patterns(db) == (1, False)
    assert enqueue_patterns(db) == (0, False)
    work(memory, kinds=["pattern"])
    assert stored(db, user) == before
    for _ in range(3):
        look_again(db, user)
        assert enqueue_patterns(db) == (0, False)
    episodes(db, user, (15,))
    assert enqueue_patterns(db) == (1, False)
    assert len(proposed(db, user)[0]) == 4


@pytest.mark.parametrize(("typical", "jobs"), [(0.1, 1), (0.5, 1), (0.595, 0), (0.62, 0), (0.7, 0)])
def test_similar_is_what_exceeds_the_typical_cosine_of_the_user(
    db: Connection, user: uuid.UUID, typical: float, jobs: int
) -> None:
    """Three episodes at 0.65 are a set where other episodes stand at 0.1, not where at 0.62."""
    for number in range(12):
        numbers = [0.0] * DIMENSIONS
        numbers[0] = math.sqrt(typical)
        numbers[1] = math.sqrt(max(0.65 - typical, 0)) if number < 3 else 0.0
        numbers[2 + number] = math.sqrt(1 - numbers[0] ** 2 - numbers[1] ** 2)
        episode(db, user, f"User had problem {number}.", str(numbers))
    assert enqueue_patterns(db) == (jobs, False)
    assert [len(ids) for ids in proposed(db, user)] == [3] * jobs


DIFFERENT = ["User could not reach the {}.", "User's {} was slow at home.", "A new {} is there."]


@pytest.mark.parametrize(
    ("word", "jobs"),
    [
        ("Frobnicator", 1),
        ("Problem", 0),  # every other episode reports one
        ("Nutzer", 0),
        ("während", 0),  # a stop word of another language than the user's
        ("42", 0),
    ],
)
@pytest.mark.parametrize("has_vectors", [True, False])
def test_few_episodes_are_proposed_by_a_word_they_share(
    db: Connection, user: uuid.UUID, word: str, jobs: int, has_vectors: bool
) -> None:
    for number, text in enumerate(DIFFERENT):
        episode(db, user, text.format(word), vector(0, number) if has_vectors else None)
    assert enqueue_patterns(db) == (jobs, False)


def test_a_word_that_most_episodes_have_is_no_reason(db: Connection, user: uuid.UUID) -> None:
    names = "abcdefghij"
    for name in names:
        episode(db, user, f"User saw frobnicator {name * 5}.", None)
    assert enqueue_patterns(db) == (0, False)
    for name in names:
        episode(db, user, f"User sang {name * 6}.", None)
    episode(db, user, "User sang.", None)
    look_again(db, user)
    assert enqueue_patterns(db) == (0, False), "half of the episodes"


def test_rare_words_without_an_embedding_model(db: Connection, user: uuid.UUID) -> None:
    for number in range(20):
        episode(db, user, f"User saw {chr(97 + number) * 5}.", None)
    assert enqueue_patterns(db) == (0, False)
    ids = [episode(db, user, text.format("frobnicator"), None) for text in DIFFERENT]
    assert enqueue_patterns(db) == (1, False)
    assert sorted(proposed(db, user)[0]) == sorted(map(str, ids))


def test_an_episode_waits_for_its_vector(db: Connection, user: uuid.UUID) -> None:
    texts = [text.format("frobnicator") for text in DIFFERENT]
    for number, text in enumerate(texts[:2]):
        episode(db, user, text, vector(0, number))
    late = episode(db, user, texts[2], None)
    assert enqueue_patterns(db) == (0, False)
    call(db, "add_embedding", p_user_id=user, p_memory_id=late, p_embedding=vector(0, 2),
         p_model="")  # fmt: skip
    assert enqueue_patterns(db) == (1, False)


def test_shared_tags_are_words(db: Connection, user: uuid.UUID) -> None:
    for number in range(3):
        episode(db, user, f"User: {chr(97 + number) * 5}.", None, tags=["garden"])
    assert enqueue_patterns(db) == (1, False)


def test_a_user_gets_three_jobs_in_a_day(db: Connection, user: uuid.UUID) -> None:
    """The best ones; the others follow on the next days."""
    now = datetime.now(UTC)
    sizes = {"quux": 3, "grault": 3, "garply": 3, "waldo": 3, "plugh": 3}
    for number, (word, how_many) in enumerate(sizes.items()):
        for text in DIFFERENT[:how_many]:
            episode(db, user, text.format(word), vector(0, number), observed_at=now.isoformat())
    assert enqueue_patterns(db, p_as_of=None) == (3, False)
    look_again(db, user)
    assert enqueue_patterns(db, p_as_of=None) == (0, False)
    other = uuid.uuid4()
    episodes(db, other, CLOSE, observed_at=now.isoformat())
    assert enqueue_patterns(db, p_as_of=None) == (1, False)
    look_again(db, user)
    assert enqueue_patterns(db, p_as_of=now + timedelta(hours=25)) == (2, False)
    assert len(proposed(db, user)) == 5
    call(db, "configure_user", p_user_id=other, p_changes={"pattern_jobs_per_day": 1})
    episodes(db, other, CLOSE, plane=7, observed_at=now.isoformat())
    assert enqueue_patterns(db, p_as_of=None) == (0, False)


@pytest.mark.concurrent
def test_two_sweeps_at_once(db: Connection, connect: Any) -> None:
    users = [uuid.uuid4() for _ in range(6)]
    for user in users:
        episodes(db, user, CLOSE)
    connections = [connect() for _ in range(3)]
    raise_errors(together(partial(enqueue_patterns, conn) for conn in connections))
    enqueue_patterns(db)
    assert [len(proposed(db, user)) for user in users] == [1] * len(users)


# --- what comes of it

STORY = "User asked for help because the VPN at work did not connect;"
ASKED = {
    "My VPN does not connect": f"{STORY} certificate renewal fixed it.",
    "VPN is broken again": f"{STORY} flushing the DNS cache fixed it.",
    "VPN fails once more": f"{STORY} nothing fixed it.",
}
HELPED = {"certificate renewal": "certificate renewal", "DNS cache": "DNS cache flush"}


def notice(request: Request) -> Scripted:
    """A model that sees a pattern in anything, and what helped."""
    shown = NUMBERED.findall(request["messages"][1]["content"])
    return {
        "pattern": VPN,
        "solutions": [
            {"episode": int(number), "solution": solution}
            for number, text in shown
            for words, solution in HELPED.items()
            if words in text
        ],
        "tags": ["VPN", "vpn"],
    }


def tell(memory: AgentMemory, user: uuid.UUID, text: str, at: datetime) -> ChatSession:
    chat = memory.session(user=user, model=MODEL)
    chat.append(
        [{"role": "user", "content": text, "created_at": at.isoformat()},
         {"role": "assistant", "content": "I see.",
          "created_at": (at + timedelta(seconds=5)).isoformat()}]
    )  # fmt: skip
    chat.close()
    return chat


def test_vpn_three_times_in_a_month(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, script: Script, user: uuid.UUID
) -> None:
    """One pattern with its sources and what solved it; the fourth time the context has it."""
    script.episodes = ASKED
    openai.respond = lambda request: (
        notice(request) if step_of(request) == "pattern" else script(request)
    )
    today = datetime.now(UTC)
    days = [today - timedelta(days=days) for days in (14, 7, 1)]
    other = uuid.uuid4()
    for at, text in zip(days, ASKED, strict=True):
        assert enqueue_patterns(db, p_as_of=None) == (0, False)
        tell(memory, user, text, at)
        work(memory)
    tell(memory, other, next(iter(ASKED)), days[0])
    work(memory)
    assert enqueue_patterns(db, p_as_of=None) == (1, False)
    work(memory)

    (pattern,) = patterns(db, user)
    first, second, _ = (f"{at:%Y-%m-%d}" for at in days)
    assert pattern["content"] == (
        f"{VPN} Previous solutions: certificate renewal ({first}), DNS cache flush ({second})."
    )
    assert (pattern["tier"], pattern["scope"], pattern["provenance"], pattern["source"]) == (
        "procedural", "global", "system_inferred", "consolidation")  # fmt: skip
    assert (pattern["is_validated"], pattern["expires_at"], pattern["tags"]) == (
        True, None, ["vpn"])  # fmt: skip
    of_episodes = [row for row in stored(db, user) if row["kind"] == "episode"]
    assert len(of_episodes) == 3
    assert all(row["is_active"] for row in of_episodes)
    ids = {row["content"]: str(row["memory_id"]) for row in of_episodes}
    assert sorted(pattern["metadata"]["episodes"]) == sorted(ids.values())
    told = [*ASKED.values()]
    assert pattern["metadata"]["solutions"] == [
        {"memory_id": ids[told[0]], "solution": "certificate renewal", "date": first},
        {"memory_id": ids[told[1]], "solution": "DNS cache flush", "date": second},
    ]
    turns = {turn for row in of_episodes for turn in row["source_turn_ids"]}
    assert len(turns) == 6
    assert {*pattern["source_turn_ids"]} == turns
    assert value(db, "select count(*) from recall.memory_embedding where memory_id = %s",
                 [pattern["memory_id"]]) == 1  # fmt: skip

    # the fourth time
    chat = memory.session(user=user, model=MODEL)
    compiled = chat.compile("I cannot connect to the VPN, what shall I do?")
    assert "[PATTERN]" in str(compiled.messages)
    assert "DNS cache flush" in str(compiled.messages)
    chat.append(user="VPN is broken again", reply="I see.")
    stranger = memory.session(user=other, model=MODEL)
    assert VPN not in str(stranger.compile("I cannot connect to the VPN").messages)
    assert patterns(db, other) == []

    # again changes nothing
    before = stored(db, user)
    look_again(db, user)
    assert enqueue_patterns(db, p_as_of=None) == (0, False)
    assert stored(db, user) == before


def test_the_fourth_time_renews_the_pattern(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID
) -> None:
    db.execute("update recall.settings set embedding_model = 'openai:words'")
    openai.respond = notice
    told = [*ASKED.values()]
    ids = [episode(db, user, text, vector(angle), days_ago=days)
           for text, angle, days in zip(told, CLOSE, (20, 15, 10), strict=True)]  # fmt: skip
    enqueue_patterns(db)
    work(memory, kinds=["pattern"])
    (old,) = patterns(db, user)
    later = episode(db, user, "User asked about VPN; a new certificate renewal fixed it.",
                    vector(15), days_ago=2)  # fmt: skip
    enqueue_patterns(db)
    work(memory, kinds=["pattern"])
    (pattern,) = [row for row in patterns(db, user) if row["is_active"]]
    assert (old["memory_id"], "superseded", pattern["memory_id"]) in {
        (row["memory_id"], row["end_reason"], row["superseded_by"]) for row in patterns(db, user)
    }
    assert pattern["content"] == (
        f"{VPN} Previous solutions: certificate renewal (2026-02-23), "
        "DNS cache flush (2026-02-28), certificate renewal (2026-03-13)."
    )
    assert pattern["metadata"]["episodes"] == sorted(map(str, [*ids, later]))
    assert [item["memory_id"] for item in pattern["metadata"]["solutions"]] == [
        str(ids[0]), str(ids[1]), str(later)]  # fmt: skip
    (request,) = (r for r in openai.chats[1:] if step_of(r) == "pattern")
    assert f"<known>\n{VPN}\n</known>" in request["messages"][1]["content"]
    assert asked(openai) == ["pattern"] * 2


def time_passes(db: Connection, user: uuid.UUID, days: int) -> None:
    """Make all memories so much older, and run what runs every day."""
    db.execute(
        "update recall.memory_store set created_at = created_at - %(ago)s,"
        " updated_at = updated_at - %(ago)s, observed_at = observed_at - %(ago)s,"
        " last_accessed_at = last_accessed_at - %(ago)s, expires_at = expires_at - %(ago)s"
        " where user_id = %(user)s and ended_at is null",
        {"user": user, "ago": timedelta(days=days)},
    )
    for task in ("promote_memories", "expire_memories", "decay_memories", "expire_memories"):
        sweep(db, task)


@pytest.mark.parametrize("importance", [0.6, 0.2])
def test_the_same_trouble_in_the_next_quarter(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, script: Script, user: uuid.UUID,
    importance: float,
) -> None:  # fmt: skip
    """A pattern unused for months, with expired episodes, is renewed with the sources of both
    quarters. If it has decayed meanwhile, a new pattern rests on the new episodes."""
    script.episodes = ASKED
    openai.respond = lambda request: (
        notice(request) if step_of(request) == "pattern" else script(request)
    )

    def asked_three_times() -> list[str]:
        for days, text in zip((14, 7, 1), ASKED, strict=True):
            tell(memory, user, text, datetime.now(UTC) - timedelta(days=days))
            work(memory)
        found = [str(row["memory_id"]) for row in stored(db, user)
                 if row["kind"] == "episode" and row["is_active"]]  # fmt: skip
        assert len(found) == 3
        assert enqueue_patterns(db, p_as_of=None) == (1, False)
        work(memory)
        return found

    before = asked_three_times()
    (first,) = patterns(db, user)
    db.execute("update recall.memory_store set importance = %s where memory_id = %s",
               [importance, first["memory_id"]])  # fmt: skip
    for _ in range(7):
        time_passes(db, user, 25)
    faded = importance < 0.3
    rows = {str(row["memory_id"]): row for row in stored(db, user)}
    assert {rows[key]["end_reason"] for key in before} == {"expired"}
    assert rows[str(first["memory_id"])]["end_reason"] == ("expired" if faded else None)

    after = asked_three_times()
    (pattern,) = [row for row in patterns(db, user) if row["is_active"]]
    assert pattern["memory_id"] != first["memory_id"]
    sources = after if faded else before + after
    assert sorted(pattern["metadata"]["episodes"]) == sorted(sources)
    assert len(pattern["metadata"]["solutions"]) == (2 if faded else 4)
    (old,) = [row for row in patterns(db, user) if row["memory_id"] == first["memory_id"]]
    assert old["superseded_by"] == (None if faded else pattern["memory_id"])
    chat = memory.session(user=user, model=MODEL)
    assert "[PATTERN]" in str(chat.compile("I cannot connect to the VPN").messages)


def test_the_same_words_about_other_episodes_are_one_pattern(
    db: Connection, user: uuid.UUID
) -> None:
    """Its episodes have expired meanwhile; the memory is renewed, not doubled."""
    for plane in range(2):
        episodes(db, user, CLOSE, plane, days_ago=3 - plane)
        enqueue_patterns(db)
        job = leased(db)
        finish(db, job, tags=["vpn"])
        for memory in job["payload"]["memory_ids"]:
            call(db, "retract_memory", p_user_id=user, p_memory_id=memory)
    (pattern,) = [row for row in patterns(db, user) if row["is_active"]]
    assert len(pattern["metadata"]["episodes"]) == 6
    assert pattern["tags"] == ["vpn"]


def test_a_similar_pattern_is_shown(db: Connection, user: uuid.UUID) -> None:
    (row,) = call(db, "ingest_memories", p_user_id=user, p_session_id=None, p_candidates=[
        {"content": VPN, "kind": "pattern", "source": "consolidation", "provenance": "fact",
         "embedding": json.loads(vector(10))}])  # fmt: skip
    episodes(db, user, CLOSE)
    enqueue_patterns(db)
    job = leased(db)
    assert VPN in ask(db, job, embedding_model=None)["messages"][1]["content"]
    finish(db, job, "User cannot reach the VPN.")
    old, new = patterns(db, user)
    assert old["memory_id"] == row["memory_id"]
    assert (old["superseded_by"], new["is_active"]) == (new["memory_id"], True)
    assert [job["kind"] for job in job_rows(db, user)] == ["embed"]


@pytest.mark.parametrize(
    ("content", "tags", "is_known"),
    [
        ("User has recurring trouble with the frobnicator.", [], True),
        ("User has recurring trouble at work.", ["frobnicator"], True),
        ("User has recurring problems; restarting helped.", [], False),
        ("User has recurring trouble with the quux.", ["quux"], False),
    ],
)
def test_a_pattern_with_the_word_of_most_episodes_is_known(
    db: Connection, user: uuid.UUID, content: str, tags: list[str], is_known: bool
) -> None:
    call(db, "ingest_memories", p_user_id=user, p_session_id=None, p_candidates=[
        {"content": content, "kind": "pattern", "source": "consolidation", "provenance": "fact",
         "tags": tags, "embedding": json.loads(vector(0, 9))}])  # fmt: skip
    for number, text in enumerate(DIFFERENT):
        episode(db, user, text.format("frobnicator"), vector(0, number))
    episode(db, user, "User fed the quux.", vector(0, 5))
    enqueue_patterns(db)
    shown = ask(db, leased(db), embedding_model=None)["messages"][1]["content"]
    assert len(NUMBERED.findall(shown)) == 3
    assert (content.rstrip(".") in shown) is is_known


def test_what_the_user_corrected_stays(db: Connection, user: uuid.UUID) -> None:
    episodes(db, user, CLOSE)
    enqueue_patterns(db)
    finish(db, leased(db))
    (made,) = patterns(db, user)
    call(db, "supersede_memory", p_user_id=user, p_memory_id=made["memory_id"],
         p_content="User tests VPNs for a living.")  # fmt: skip
    episodes(db, user, (15,))
    enqueue_patterns(db)
    job = leased(db)
    shown = ask(db, job, embedding_model=None)["messages"][1]["content"]
    assert "User tests VPNs for a living." in shown
    finish(db, job, "User still has VPN issues.")
    (active,) = [row for row in patterns(db, user) if row["is_active"]]
    assert active["content"] == "User tests VPNs for a living."
    (dispute,) = call(db, "list_disputes", p_user_id=user)
    assert dispute["content"] == "User still has VPN issues."


def test_a_pattern_longer_than_a_memory_may_be_is_a_dead_letter(
    db: Connection, user: uuid.UUID
) -> None:
    episodes(db, user, CLOSE)
    before = stored(db, user)
    enqueue_patterns(db)
    call(db, "configure_user", p_user_id=user, p_changes={"memory_max_characters": 100})
    said = {"pattern": {"pattern": "The VPN fails. " * 10, "solutions": [], "tags": []}}
    end = do_job(db, leased(db), said)
    assert (end["type"], end["dead"]) == ("failed", True)
    assert end["error"].startswith("RC003 pattern[0].content is ")
    assert stored(db, user) == before


def test_no_pattern_is_an_answer(db: Connection, user: uuid.UUID) -> None:
    episodes(db, user, CLOSE)
    before = stored(db, user)
    enqueue_patterns(db)
    job = leased(db)
    finish(db, job, None)
    assert ask(db, job)["type"] == "gone", "once"
    assert stored(db, user) == before


def test_pattern_job_with_too_few_remaining_episodes_writes_nothing(
    db: Connection, user: uuid.UUID
) -> None:
    """Before the model is asked, or while it thinks."""
    ids = episodes(db, user, CLOSE)
    enqueue_patterns(db)
    job = leased(db)
    assert job["payload"]["memory_ids"] == [*map(str, ids)]
    request = ask(db, job, embedding_model=None)
    said = {"pattern": {"pattern": VPN, "solutions": [], "tags": []}}
    call(db, "retract_memory", p_user_id=user, p_memory_id=ids[0])
    assert ask(db, job, answer_to(request, said), embedding_model=None)["type"] == "done"
    call(db, "enqueue_job", p_user_id=user, p_kind="pattern", p_payload=job["payload"])
    assert do_job(db, leased(db)) == {"type": "done", "outcome": {"kind": "pattern", "items": 0}}
    assert patterns(db, user) == []


BAD: dict[str, tuple[list[Scripted], str]] = {
    "prose": (["The VPN, again."] * 2, "The VPN, again."),
    "an unknown episode": (
        [{"pattern": VPN, "solutions": [{"episode": 9, "solution": "x"}], "tags": []}] * 2,
        "no episode 9",
    ),
    "another shape": ([{"pattern": ["VPN"], "solutions": [], "tags": []}] * 2, '"pattern"'),
    "refusal": ([Refusal("I must not.")], "I must not."),
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_answers_make_the_job_a_dead_letter_and_write_nothing(
    memory: AgentMemory, db: Connection, openai: ScriptedOpenAI, user: uuid.UUID, name: str
) -> None:
    """Each is tried again, at last a dead letter, with nothing written."""
    db.execute("update recall.settings set embedding_model = 'openai:words'")
    episodes(db, user, CLOSE)
    before = stored(db, user)
    enqueue_patterns(db)
    answers, kept = BAD[name]
    for _ in range(value(db, "select job_max_attempts from recall.settings")):
        openai.then(*answers)
        db.execute("update recall.jobs set run_at = now()")
        assert memory.worker(kinds=["pattern"]).run_until_idle().failed == {"pattern": 1}
    (job,) = job_rows(db, user)
    assert job["state"] == "dead"
    assert kept in job["last_error"]
    assert stored(db, user) == before
    openai.respond = notice
    db.execute("select recall.retry_dead_jobs('pattern')")
    work(memory, kinds=["pattern"])
    assert [row["content"] for row in patterns(db, user)] == [VPN]


@pytest.mark.concurrent
def test_two_workers_at_once(db: Connection, connect: Any, user: uuid.UUID) -> None:
    """Two jobs about the same episodes make one pattern."""
    episodes(db, user, CLOSE)
    enqueue_patterns(db)
    (ids,) = proposed(db, user)
    jobs = [leased(db)]
    call(db, "enqueue_job", p_user_id=user, p_kind="pattern", p_payload={"memory_ids": ids})
    jobs.append(leased(db))
    works = []
    for number, job in enumerate(jobs):
        said = {"pattern": {"pattern": f"{VPN} {number}", "solutions": [], "tags": []}}
        answer = answer_to(ask(db, job, embedding_model=None), said)
        works.append(partial(ask, connect(), job, answer, embedding_model=None))
    results = together(works)
    raise_errors(results)
    assert [end["type"] for end in results] == ["done", "done"]
    assert len([row for row in patterns(db, user) if row["is_active"]]) == 1
