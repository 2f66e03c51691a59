"""A year of 200 users, day by day: traffic, a worker, and the sweeps as of each day.

For three months of it nobody runs the sweeps; then they catch up, batch by batch.

The functions take timestamps from the clock, so the year lies in the past. At the end of each day
the rows stamped today move to that day. Every invariant must hold every day.
"""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import append, call, do_job, open_session, rows, sweep, value
from support.fakes import WordEmbedder
from support.invariants import broken_invariants
from support.scripted_model import CANDIDATE, NUMBERED, TURN, fact
from support.servers import HASH_PARTITIONS

DAY = timedelta(days=1)
DAYS = 365
pytestmark = [pytest.mark.timeout(1800), pytest.mark.slow]
"""Each question of a job is a call: ten minutes where the cores are busy."""

USERS = 200
BUSY = 10
"""So many of them talk thirty times as often as the others."""
SESSIONS_A_DAY = 3
UNATTENDED = range(200, 290)
"""Days on which nobody runs maintenance."""
LIFE_AHEAD = 120 * DAY
"""Longer than anything that is stamped with a time to come lives."""
STAMPED = {
    "users": ("created_at",),
    "sessions": ("created_at", "updated_at", "expires_at"),
    "session_summaries": ("created_at", "ended_at"),
    "memory_store": ("created_at", "updated_at", "expires_at", "ended_at", "last_accessed_at",
                     "check_at", "review_at", "valid_from", "valid_to"),
    "memory_embedding_ended": ("ended_at",),
    "memory_events": ("at",),
    "memory_access_log": ("accessed_at",),
    "append_receipts": ("created_at",),
    "job_phases": ("created_at",),
}  # fmt: skip
SWEEPS = (
    "flush_access_log", "promote_memories", "expire_memories", "decay_memories",
    "expire_sessions", "expire_working", "expire_items", "enqueue_compactions",
    "enqueue_merges", "enqueue_patterns", "enqueue_missing_embeddings", "release_expired_leases",
)  # fmt: skip
DAILY = ("drop_expired_partitions", "purge_expired")

TOPICS = ("garden", "database", "kitchen", "football", "violin", "taxes", "holiday", "bicycle")
CITIES = ("Oslo", "Lyon", "Porto", "Turin", "Ghent", "Cork")
TROUBLE = "User could not connect to the network of the company over the VPN from home, and"


def turns_of(shown: str) -> list[tuple[int, str, str]]:
    """Return number, role and text of the turns that a prompt shows."""
    found = [TURN.match(line) for line in shown.splitlines()]
    return [(int(turn[1]), turn[2], turn[3]) for turn in found if turn]


class Year:
    """The traffic, the worker and the clock of the simulation."""

    def __init__(self, conn: psycopg.Connection[Any], started: datetime) -> None:
        self.conn = conn
        self.started = started
        self.today = started - LIFE_AHEAD - DAYS * DAY
        self.random = random.Random(2026)
        self.embedder = WordEmbedder()
        self.users = [uuid.UUID(int=self.random.getrandbits(128), version=4) for _ in range(USERS)]
        self.sessions: dict[uuid.UUID, tuple[uuid.UUID, datetime]] = {}
        self.swept: Counter[str] = Counter()
        self.worked: Counter[str] = Counter()
        self.accessed: Counter[tuple[uuid.UUID, bool]] = Counter()
        """Accesses of a memory: by the session that it comes from (True) or by another."""
        self.said = 0

    def live_a_day(self, *, maintained: bool = True) -> None:
        if maintained and self.today.day % 7 == 0:
            self.sweep(("ensure_partitions",))
        for user in self.users:
            rate = SESSIONS_A_DAY / (USERS + 29 * BUSY)
            if self.random.random() < rate * (30 if user in self.users[:BUSY] else 1):
                self.talk(user)
        for user in self.users[1:4]:  # three of them have the same trouble every ten days
            if self.today.toordinal() % 10 == 0:
                self.talk(user, trouble=True)
        self.work()
        self.move_to_today()
        if maintained:  # what the sweeps leave to a worker is done tomorrow
            self.sweep(SWEEPS + DAILY)
        self.move_to_today()
        self.today += DAY

    # The traffic

    def talk(self, user: uuid.UUID, *, trouble: bool = False) -> None:
        session, last = self.sessions.get(user, (None, self.today))
        status = value(
            self.conn,
            "select (select s.status::text from recall.get_session(%s, %s) as s)",
            [user, session],
        )
        pause = (10 if user in self.users[:BUSY] else 3) * DAY
        if status != "active" or self.today - last > pause:
            if status == "active" and self.random.random() < 0.5:
                call(self.conn, "close_session", p_user_id=user, p_session_id=session)
            session = open_session(self.conn, user, p_context_window_size=1500,
                                   p_max_response_tokens=200)  # fmt: skip
        self.sessions[user] = (session, self.today)
        compiled = value(
            self.conn,
            "select recall.compile_context(%s, %s, %s, p_as_of => %s)",
            [user, session, f"What do you know of my {self.random.choice(TOPICS)}?", self.today],
        )
        used = compiled["memories"]
        messages = []
        for number in range(self.random.randint(1, 4)):
            at = (self.today + timedelta(minutes=2 * number)).isoformat()
            messages += [
                {"role": "user", "content": self.statement(trouble), "created_at": at},
                {"role": "assistant", "content": "I see. " * 12, "created_at": at},
            ]
            if used:
                call(self.conn, "record_access", p_user_id=user,
                     p_memory_ids=[uuid.UUID(item["id"]) for item in used],
                     p_relevance=[Decimal(str(item["relevance"])) for item in used])  # fmt: skip
                self.count_accesses(user, session, [item["id"] for item in used])
        append(self.conn, user, session, messages,
               {"prompt_tokens": 900, "completion_tokens": 60}, uuid.uuid4())  # fmt: skip

    def count_accesses(self, user: uuid.UUID, session: uuid.UUID, memories: list[str]) -> None:
        self.accessed.update(
            (row["memory_id"], row["is_own"])
            for row in rows(
                self.conn,
                "select memory_id, source_session_id is not distinct from %s as is_own"
                "  from recall.memory_store where user_id = %s and memory_id = any (%s::uuid[])",
                [session, user, memories],
            )
        )

    def statement(self, trouble: bool) -> str:
        self.said += 1
        if trouble:
            return f"vpn {self.said}"
        topic, kind = self.random.choice(TOPICS), self.random.random()
        if kind < 0.2:
            return f"city {self.random.choice(CITIES)}"
        if kind < 0.35:
            return f"likes {TOPICS[self.said % 2]} {self.random.randint(1, 9)}"
        if kind < 0.45:
            return f"deadline {topic} {self.said}"
        if kind < 0.6:
            return f"detail {topic} {self.said}"
        if kind < 0.65:
            return f"guess {topic} {self.said}"
        if kind < 0.75:
            return f"hint {topic} {self.said}"
        return f"chat {self.said}"

    # The worker

    def work(self) -> None:
        while True:
            jobs = call(self.conn, "claim_jobs", p_worker="simulation", p_limit=50)
            if not jobs:
                return
            for job in jobs:
                end = do_job(self.conn, job, self.script, embedding_model="words", embed_batch=200)
                assert end["type"] == "done", end
                self.worked[job["kind"]] += 1

    @property
    def script(self) -> dict[str, Any]:
        """Return the answers of the model and the embedder."""
        purposes = ("extract", "consolidate", "summarize", "compact", "merge", "pattern")
        said = {
            purpose: lambda request, purpose=purpose: getattr(self, f"_{purpose}")(
                request["messages"][1]["content"]
            )
            for purpose in purposes
        }
        return said | {"embed": lambda text: self.embedder.embed([text])[0]}

    def _extract(self, shown: str) -> dict[str, Any]:
        facts, episodes = [], []
        for number, role, text in turns_of(shown):
            if role != "user":
                continue
            what, _, rest = text.partition(" ")
            made: dict[str, Any] | None = {
                "city": {"content": f"User lives in {rest}.", "slot": "home_city"},
                "likes": {"content": f"User likes {rest} in the {rest.split()[0]}.",
                          "kind": "preference", "tags": [rest.split()[0]], "importance": 0.6},
                "deadline": {"content": f"User has the deadline {rest}.", "kind": "context"},
                "detail": {"content": f"User mentioned {rest}.", "importance": 0.2},
                "guess": {"content": f"User may care for {rest}.", "confidence": "low"},
                "hint": {"content": f"User knows about {rest}.", "confidence": "medium"},
            }.get(what)  # fmt: skip
            if made is not None:
                facts.append(fact(**{"importance": 0.5} | made, turns=[number]))
            if what == "vpn":
                cure = ("renewing the certificate", "flushing the cache")[int(rest) % 2]
                episodes.append({"content": f"{TROUBLE} {cure} solved it, case {rest}.",
                                 "turns": [number]})  # fmt: skip
            elif what != "city":
                episodes.append({"content": f"User spoke of {text} at length.",
                                 "turns": [number]})  # fmt: skip
        return {"facts": facts, "episodes": episodes}

    def _consolidate(self, shown: str) -> dict[str, Any]:
        found = [CANDIDATE.match(line) for line in shown.splitlines()]
        return {"decisions": [{"candidate": int(line[1]), "decision": "ADD", "target": None}
                              for line in found if line]}  # fmt: skip

    def _summarize(self, shown: str) -> dict[str, Any]:
        return {"summary": f"{turns_of(shown)[-1][0]} turns were exchanged."}

    def _compact(self, shown: str) -> dict[str, Any]:
        return {"summary": f"Up to turn {turns_of(shown)[-1][0]} they talked."}

    def _merge(self, shown: str) -> dict[str, Any]:
        parts = [text for _, text in NUMBERED.findall(shown)][:3]
        merge = {"content": " ".join(parts), "parts": [1, 2, 3]}
        return {"merges": [merge] if len(parts) == 3 else []}

    def _pattern(self, shown: str) -> dict[str, Any]:
        episodes = [text for _, text in NUMBERED.findall(shown)]
        if not all("VPN" in text for text in episodes):
            return {"pattern": None, "solutions": [], "tags": []}
        said = "User has recurring VPN trouble; new certificates and an empty cache helped."
        return {"pattern": f"{said} Seen {len(episodes)} times.", "solutions": [],
                "tags": ["vpn"]}  # fmt: skip

    # The clock

    def sweep(self, tasks: tuple[str, ...]) -> None:
        for task in tasks:
            at = self.today + timedelta(hours=20)
            self.swept[task] += sweep(self.conn, task, at, batches=50)

    def move_to_today(self) -> None:
        """Move what the clock has stamped since the start to the simulated day."""
        back = datetime.now(UTC) - self.today - timedelta(hours=12)
        with self.conn.transaction():
            self.conn.execute("set local session_replication_role = replica")
            for table, columns in STAMPED.items():
                moved = ", ".join(
                    f"{column} = case when {column} >= %(started)s then {column} - %(back)s"
                    f" else {column} end"
                    for column in columns
                )
                late = " or ".join(f"{column} >= %(started)s" for column in columns)
                self.conn.execute(
                    f"update recall.{table} set {moved} where {late}".encode(),
                    {"started": self.started, "back": back},
                )


@pytest.fixture(scope="module")
def year(dsn: str) -> Iterator[Year]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        settings = {
            "embedding_model": "words", "extraction": "llm", "embed_messages": False,
            "extract_after_turns": 1, "history_retention": "6 months",
        }  # fmt: skip
        conn.execute("select recall.configure(%s)", [Jsonb(settings)])
        simulated = Year(conn, value(conn, "select now()"))
        simulated.sweep(("ensure_partitions",))
        for user in simulated.users[5:BUSY]:  # whose memories all have to earn their place
            call(conn, "ensure_user", p_external_id=str(user))
            call(conn, "configure_user", p_user_id=user, p_changes={"extracted_tier": "session"})
        for number in range(DAYS):
            simulated.live_a_day(maintained=number not in UNATTENDED)
            # the days are moved in the rows themselves, which the chain of events rightly reports
            broken = broken_invariants(conn, without=("I12",))
            assert not broken, f"day {number}: {broken}"
        yield simulated


def states(year: Year) -> Counter[tuple[str, str, str]]:
    found = rows(
        year.conn,
        "select kind, tier::text, coalesce(end_reason::text, 'active') as state"
        " from recall.memory_store",
    )
    return Counter((row["kind"], row["tier"], row["state"]) for row in found)


def test_memories_of_a_year_rise_fade_and_expire_by_kind_and_use(year: Year) -> None:
    """Memories rise, fade, are replaced, merged and expire, each as its kind and use have it."""
    found = states(year)
    of_state = Counter({key[2]: 0 for key in found})
    for key, count in found.items():
        of_state[key[2]] += count
    assert min(of_state[state] for state in
               ("active", "superseded", "merged", "expired")) > 0, of_state  # fmt: skip
    kinds = ("extract", "summarize", "compact", "merge", "pattern")
    assert min(year.worked[kind] for kind in kinds) > 0, year.worked
    assert min(year.swept[task] for task in
               ("flush_access_log", "promote_memories", "expire_memories", "decay_memories",
                "expire_sessions", "enqueue_merges", "enqueue_patterns", "ensure_partitions",
                "drop_expired_partitions", "purge_expired")) > 0, year.swept  # fmt: skip
    dead = rows(year.conn, "select kind, last_error from recall.jobs where state = 'dead'")
    assert dead == []
    # what was guessed stays at session tier and goes with its session
    guesses = rows(year.conn, "select tier::text, scope::text from recall.memory_store"
                              " where provenance >= 'tool_output' and kind not in"
                              " ('episode', 'pattern')")  # fmt: skip
    assert {row["tier"] for row in guesses} <= {"session"}


def events(year: Year, event: str) -> list[dict[str, Any]]:
    return rows(
        year.conn,
        "select e.detail, m.kind, k.is_behavioral from recall.memory_events as e"
        " join recall.memory_store as m using (user_id, memory_id)"
        " join recall.memory_kinds as k using (kind) where e.event = %s",
        [event],
    )


def test_what_rises_has_earned_it(year: Year) -> None:
    """Three uses lead to episodic, ten for good, to procedural where the kind is behavioral."""
    seen = Counter[tuple[str, str]]()
    for row in events(year, "promoted"):
        step = (row["detail"]["from"], row["detail"]["to"])
        seen[step] += 1
        assert row["detail"]["accesses"] >= (3 if step[0] == "session" else 10)
        assert step[0] == "session" or (step[1] == "procedural") == row["is_behavioral"]
    assert {*seen} == {("session", "episodic"), ("episodic", "semantic"),
                       ("episodic", "procedural")}  # fmt: skip


def test_what_rises_was_used_by_other_sessions(year: Year) -> None:
    """Confirmed facts have a real input to rise by: the sessions after their own."""
    confirmed = rows(
        year.conn,
        "select m.memory_id, exists (select from recall.memory_events as e"
        "         where e.user_id = m.user_id and e.memory_id = m.memory_id"
        "           and e.event = 'promoted' and e.detail ->> 'from' = 'episodic') as has_risen"
        "  from recall.memory_store as m"
        " where m.content like 'User knows about %%' and m.confidence > 0.5",
    )
    risen = {row["memory_id"] for row in confirmed if row["has_risen"]}
    used_later = {memory for memory in risen if year.accessed[memory, False]}
    assert 0.05 < len(risen) / len(confirmed) < 0.9, (len(risen), len(confirmed))
    assert len(used_later) > 0.2 * len(risen), (len(used_later), len(risen))


def test_what_fades_is_unimportant(year: Year) -> None:
    faded = events(year, "decayed")
    assert faded
    assert all(row["detail"]["importance"] < 0.3 for row in faded)


def test_no_session_outgrows_its_window(year: Year) -> None:
    """Compactions keep up: nothing is left that only the sweep would find."""
    assert value(year.conn, "select count(*) from recall.sessions"
                            " where compacted_through_turn > 0") > 0  # fmt: skip
    assert value(year.conn, "select count(*) from recall.sessions"
                            " where active_tokens > 2 * context_window_size") == 0  # fmt: skip


def test_nothing_outlives_its_time(year: Year) -> None:
    late = year.today - DAY
    assert value(year.conn, "select count(*) from recall.memory_store where ended_at is null"
                            " and expires_at < %s", [late]) == 0  # fmt: skip
    assert value(year.conn, "select count(*) from recall.sessions where status = 'active'"
                            " and expires_at < %s", [late]) == 0  # fmt: skip
    old_context = rows(
        year.conn,
        "select memory_id from recall.memory_store where kind = 'context' and ended_at is null"
        " and observed_at < %s", [year.today - 91 * DAY],
    )  # fmt: skip
    assert old_context == []


def test_the_city_is_one_at_a_time(year: Year) -> None:
    """A slot has one active value; its chain tells all that came before, in order of time."""
    cities = rows(
        year.conn,
        "select user_id, count(*) filter (where ended_at is null) as active, count(*) as ever"
        "  from recall.memory_store where slot = 'home_city' group by user_id",
    )
    assert {row["active"] for row in cities} <= {0, 1}, "one that was never used may have expired"
    known = [row for row in cities if row["active"]]
    assert max(row["ever"] for row in known) > 3
    user = max(known, key=lambda row: row["ever"])["user_id"]
    (active,) = rows(year.conn, "select memory_id from recall.memory_store where user_id = %s"
                                " and slot = 'home_city' and ended_at is null", [user])  # fmt: skip
    chain = call(year.conn, "memory_chain", p_user_id=user, p_memory_id=active["memory_id"])
    assert [row["created_at"] for row in chain] == sorted(row["created_at"] for row in chain)


def test_recurring_trouble_is_a_pattern(year: Year) -> None:
    for user in year.users[1:4]:
        found = call(year.conn, "get_memories", p_user_id=user, p_filter={"kinds": ["pattern"]})
        # after the quarter without maintenance all its episodes are gone: it is seen anew
        assert 1 <= len(found) <= 2
        assert {row["tier"] for row in found} == {"procedural"}
    others = value(
        year.conn,
        "select count(*) from recall.memory_store where kind = 'pattern' and user_id <> all (%s)",
        [year.users[1:4]],
    )
    assert others == 0


def test_history_is_kept_for_half_a_year_after_its_sessions(year: Year) -> None:
    """History stays for half a year after its sessions; months never overlap; counters know it."""
    oldest: date = value(
        year.conn, "select min(created_at at time zone 'UTC')::date"
                   " from recall.conversation_history",
    )  # fmt: skip
    assert (year.today.date() - oldest).days < 10 * 31
    overlaps = rows(
        year.conn,
        "select n.leaf, n.lower_bound"
        "  from (select l.leaf, m.lower_bound,"
        "               lag(m.upper_bound) over (partition by l.leaf order by m.lower_bound) as end"
        "          from (select format('recall.conversation_history_p%%s', n)::regclass as leaf"
        "                  from generate_series(0, %s - 1) as n) as l"
        "         cross join lateral recall._month_leaves(l.leaf) as m) as n"
        " where n.lower_bound < n.end",
        [HASH_PARTITIONS],
    )
    assert overlaps == []
    assert value(year.conn, "select max(first_retained_turn) from recall.sessions") > 1
