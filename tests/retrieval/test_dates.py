"""Dates in queries: what an expression means, and which hits it favors."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from pgrecall.encryption._dates import TimeWindow, time_window
from support import append, call, index_messages, open_session, refused, rows
from support.memories import remember, vector

Connection = psycopg.Connection[Any]
Row = dict[str, Any]

# A Wednesday.
NOW = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)
ASKED = NOW.isoformat()
MEMORY_PARTS = ("similarity", "lexical", "freshness", "frequency", "authority", "importance")
TURN_PARTS = ("own", "neighbor", "session", "memory", "speaker", "feedback")

EXPRESSIONS = [
    ("What did I do yesterday?", "yesterday", "2026-03-10", "2026-03-11"),
    ("and the day before yesterday", "the day before yesterday", "2026-03-09", "2026-03-10"),
    ("what did we say today", "today", "2026-03-11", "2026-03-12"),
    ("what was it this morning?", "this morning", "2026-03-11", "2026-03-12"),
    ("Where was I last week?", "last week", "2026-03-02", "2026-03-09"),
    ("this week", "this week", "2026-03-09", "2026-03-16"),
    ("last weekend", "last weekend", "2026-03-07", "2026-03-09"),
    ("LAST MONTH", "LAST MONTH", "2026-02-01", "2026-03-01"),
    ("last year", "last year", "2025-01-01", "2026-01-01"),
    ("two months ago", "two months ago", "2026-01-01", "2026-02-01"),
    ("3 days ago", "3 days ago", "2026-03-08", "2026-03-09"),
    ("a couple of weeks ago", "a couple of weeks ago", "2026-02-23", "2026-03-02"),
    ("a year ago", "a year ago", "2025-01-01", "2026-01-01"),
    ("in the last two weeks", "last two weeks", "2026-02-25", "2026-03-12"),
    ("in March", "in March", "2026-03-01", "2026-04-01"),
    ("in April", "in April", "2025-04-01", "2025-05-01"),
    ("DURING APRIL", "DURING APRIL", "2025-04-01", "2025-05-01"),
    ("in May 2023", "in May 2023", "2023-05-01", "2023-06-01"),
    ("in Dec. 2024?", "in Dec. 2024", "2024-12-01", "2025-01-01"),
    ("in 2023", "in 2023", "2023-01-01", "2024-01-01"),
    ("since June", "since June", "2025-06-01", "2026-03-12"),
    ("since 2024", "since 2024", "2024-01-01", "2026-03-12"),
    ("since yesterday", "since yesterday", "2026-03-10", "2026-03-12"),
    ("since last month", "since last month", "2026-02-01", "2026-03-12"),
    ("on Monday", "on Monday", "2026-03-09", "2026-03-10"),
    ("last Wednesday", "last Wednesday", "2026-03-04", "2026-03-05"),
    ("on 7 May 2023", "7 May 2023", "2023-05-07", "2023-05-08"),
    ("on July 4th", "July 4th", "2025-07-04", "2025-07-05"),
    ("on March 3, 2026", "March 3, 2026", "2026-03-03", "2026-03-04"),
    ("on the 3rd of March", "3rd of March", "2026-03-03", "2026-03-04"),
    ("2024-02-29", "2024-02-29", "2024-02-29", "2024-03-01"),
    ("31 June, or in May 2023", "in May 2023", "2023-05-01", "2023-06-01"),
    ("last year, on 7 May", "7 May", "2025-05-07", "2025-05-08"),
    ("May 7 2023: noon", "May 7", "2025-05-07", "2025-05-08"),
    ("since Monday", "since Monday", "2026-03-09", "2026-03-12"),
    ("after 2 March", "after 2 March", "2026-03-03", "2026-03-12"),
    ("before last month", "before last month", None, "2026-02-01"),
    ("before 2023", "before 2023", None, "2023-01-01"),
    ("as of December 2025", "as of December 2025", None, "2026-01-01"),
    ("until the 3rd of March", "until the 3rd of March", None, "2026-03-04"),
    ("by yesterday", "by yesterday", None, "2026-03-11"),
    ("in early May 2023", "early May 2023", "2023-05-01", "2023-05-11"),
    ("mid June 2025", "mid June 2025", "2025-06-11", "2025-06-21"),
    ("the end of 2024", "end of 2024", "2024-09-01", "2025-01-01"),
    ("in the week before 9 June 2023", "week before 9 June 2023", "2023-06-02", "2023-06-09"),
    ("two weeks after 2023-05-09", "two weeks after 2023-05-09", "2023-05-10", "2023-05-24"),
    ("a few days before Nov 22", "a few days before Nov 22", "2025-11-19", "2025-11-22"),
    ("a month before 31 March 2024", "a month before 31 March 2024", "2024-02-29", "2024-03-31"),
    ("The Sunday before 25 May 2023", "Sunday before 25 May 2023", "2023-05-21", "2023-05-22"),
    ("the  Monday\nafter May 22, 2023", "Monday\nafter May 22, 2023", "2023-05-29", "2023-05-30"),
    ("two weekends before 17 July 2023", "two weekends before 17 July 2023",
     "2023-07-08", "2023-07-10"),
    ("the weekend after 8 July 2023", "weekend after 8 July 2023", "2023-07-15", "2023-07-17"),
    ("the week of April 5th", "week of April 5th", "2025-03-31", "2025-04-07"),
    ("the weekend of 7 May 2023", "weekend of 7 May 2023", "2023-05-06", "2023-05-08"),
    ("first week of May 2023", "first week of May 2023", "2023-05-01", "2023-05-08"),
    ("the first weekend in May", "first weekend in May", "2025-05-03", "2025-05-05"),
    ("the last weekend of May 2023", "last weekend of May 2023", "2023-05-27", "2023-05-29"),
    ("the third Friday of May 2023", "third Friday of May 2023", "2023-05-19", "2023-05-20"),
    ("the last day of 2024", "last day of 2024", "2024-12-31", "2025-01-01"),
    ("two days of June 2023", "two days of June 2023", "2023-06-01", "2023-07-01"),
    ("after 31 June, in May 2023", "in May 2023", "2023-05-01", "2023-06-01"),
    ("since 2030 or before 2020", "before 2020", None, "2020-01-01"),
    ("Last year in April, or May", "in April", "2025-04-01", "2025-05-01"),
    ("last year in January", "in January", "2025-01-01", "2025-02-01"),
    ("In 2024, what did I do in March?", "in March", "2024-03-01", "2024-04-01"),
    ("in March and April 2024", "in March", "2024-03-01", "2024-04-01"),
    ("between 3 March and 5 March 2024", "3 March", "2024-03-03", "2024-03-04"),
    ("March 3-5, 2024", "March 3", "2024-03-03", "2024-03-04"),
    ("from May 2022 to June 2023, on 7 March", "7 March", "2026-03-07", "2026-03-08"),
    ("in the year of 2020", "year of 2020", "2020-01-01", "2021-01-01"),
    ("Who came on May 5? I was born in 1990.", "May 5", "2025-05-05", "2025-05-06"),
    ("Since I moved in 2019, what did I do in March?", "in March", "2026-03-01", "2026-04-01"),
    ("In 2031, as planned in May?", "in May", "2025-05-01", "2025-06-01"),
    ("room 12 2024 in March", "in March", "2026-03-01", "2026-04-01"),
    ("in January, room 2023", "in January", "2026-01-01", "2026-02-01"),
]  # fmt: skip
SAY_NOTHING = [
    "", "Where do I work?", "may I march in?", "the last straw", "on 31 June", "room 2023",
    "2024-13-45", "who is April?", "weekly", "x" * 100_000, "one day", "29 February",
    "Marchand 3", "in the last 3 weekdays", "31 June " * 100, "since 2030", "after 31 June",
    "before long", "the week before", "by the way", "until then", "first Monday", "the end of it",
]  # fmt: skip


def window(db: Connection, query: str | None, now: Any = NOW, zone: str | None = "UTC") -> Any:
    """Return since, until and the expression; None where the query says nothing."""
    found = call(db, "query_dates", p_query=query, p_now=now, p_time_zone=zone)
    assert len(found) <= 1
    return tuple(found[0].values()) if found else None


def day(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


# Meaning of an expression


@pytest.mark.parametrize(("query", "expression", "since", "until"), EXPRESSIONS)
def test_expression_of_time_gives_its_window(
    db: Connection, query: str, expression: str, since: str | None, until: str
) -> None:
    begin = None if since is None else day(since)
    assert window(db, query) == (begin, day(until), expression)
    sealed = time_window(query, NOW)
    assert sealed is not None, "encrypted users have the same expressions"
    assert (sealed.since, sealed.until) == (begin, day(until))


@pytest.mark.parametrize("since", ["2026-03-01T00:00:00Z", None])
def test_share_of_a_moment_falls_in_the_week_after(db: Connection, since: str | None) -> None:
    begin = None if since is None else datetime.fromisoformat(since)
    until = datetime(2026, 3, 3, tzinfo=UTC)
    sealed = TimeWindow(since=begin, until=until)
    for at, share in (
        ("2026-02-28T23:59:59Z", 0 if since else 1), ("2026-03-01T00:00:00Z", 1),
        ("2026-03-02T23:59:59Z", 1), ("2026-03-03T00:00:00Z", 1), ("2026-03-06T12:00:00Z", 0.5),
        ("2026-03-10T00:00:00Z", 0), ("2027-01-01T00:00:00Z", 0), (None, 0),
    ):  # fmt: skip
        (row,) = rows(db, "select recall._date_share(%s, tstzrange(%s, %s)) as share",
                      [at, since, until])  # fmt: skip
        assert row["share"] == pytest.approx(share), at
        moment = None if at is None else datetime.fromisoformat(at)
        assert sealed.share(moment) == pytest.approx(share), at


@pytest.mark.parametrize("query", SAY_NOTHING)
def test_query_without_time_gives_no_row(db: Connection, query: str) -> None:
    assert window(db, query) is None
    assert time_window(query, NOW) is None


def test_moments_at_the_ends_of_the_calendar(db: Connection) -> None:
    assert window(db, None) is None
    for now in ("infinity", "-infinity", "4000-01-01 BC", "12000-01-01", "9999-12-31"):
        assert window(db, "in the last two weeks", now) is None
    early = datetime(900, 3, 11, tzinfo=UTC)
    assert window(db, "999 years ago", early) is None is time_window("999 years ago", early)
    end_of_march = datetime(2026, 3, 31, tzinfo=UTC)
    (since, *_) = window(db, "a month ago", end_of_march)
    assert since == day("2026-02-01"), "February has no 31st"
    assert window(db, "today", None, None)[0].date() == datetime.now(UTC).date()


def test_days_are_those_of_the_time_zone(db: Connection) -> None:
    at = datetime(2026, 3, 11, 16, 0, tzinfo=UTC)  # the 12th in Tokyo
    assert window(db, "today", at, "Asia/Tokyo")[0] == datetime(2026, 3, 11, 15, 0, tzinfo=UTC)
    summer = window(db, "since 28 March 2026", datetime(2026, 3, 30, tzinfo=UTC), "Europe/Berlin")
    assert summer[:2] == (day("2026-03-28", "Europe/Berlin"), day("2026-03-31", "Europe/Berlin"))
    db.execute("set time zone 'America/New_York'")
    assert window(db, "today", at, "UTC")[0] == day("2026-03-11"), "not those of the connection"


@pytest.mark.parametrize(
    "zone", ["Europe/Nowhere", "BC", "Monday", "now", "05:00", "", " UTC", "UTC\n", "x" * 500]
)
def test_unknown_time_zone_is_refused(db: Connection, user: uuid.UUID, zone: str) -> None:
    with refused("RC003", zone[:80]):
        window(db, "what we said", NOW, zone)
    changes = {"time_zone": zone}
    for function, named in (("configure", {}), ("configure_user", {"p_user_id": user})):
        with refused("RC003", f"time_zone is {zone[:80]}"):
            call(db, function, **named, p_changes=changes)


def test_every_time_zone_of_the_server_is_known(db: Connection) -> None:
    names = [row["name"] for row in rows(db, "select name from pg_timezone_names")]
    for name in [*names, "CET", "utc"]:
        assert window(db, "today", NOW, name) is not None


# Which hits it favors


@pytest.fixture
def known(db: Connection, user: uuid.UUID) -> uuid.UUID:
    """A user who went to a concert in each month, and said so then."""
    for month, name in enumerate(("jan", "feb", "mar"), start=1):
        text = f"Ada went to the {name} concert."
        at = f"2026-0{month}-05T10:00:00Z"
        remember(db, user, text, p_observed_at=at, p_embedding=vector(10.0 * month))
        said = [{"role": "user", "content": text, "created_at": at}]
        append(db, user, open_session(db, user), said)
    index_messages(db)
    return user


def search(db: Connection, user: uuid.UUID, query: str, **keys: Any) -> list[Row]:
    keys = {"asked_at": ASKED} | keys
    return call(db, "search", p_user_id=user, p_query=query, p_filter=keys)


def search_messages(db: Connection, user: uuid.UUID, query: str, **keys: Any) -> list[Row]:
    keys = {"asked_at": ASKED} | keys
    return call(db, "search_messages", p_user_id=user, p_query=query, p_filter=keys)


def explain_context(db: Connection, user: uuid.UUID, query: str, **keys: Any) -> list[Row]:
    return call(db, "explain_context", p_user_id=user, p_session_id=open_session(db, user),
                p_query=query, p_options={"asked_at": ASKED} | keys)  # fmt: skip


def recalled(db: Connection, user: uuid.UUID, query: str, **keys: Any) -> list[Row]:
    """Return the turns that a context quotes, best first."""
    session = open_session(db, user)
    append(db, user, session, [{"role": "user", "content": "Hello."}])
    index_messages(db)
    (row,) = call(db, "compile_context", p_user_id=user, p_session_id=session, p_query=query,
                  p_options={"asked_at": ASKED, "recalled": True} | keys)  # fmt: skip
    context = row["compile_context"]
    quoted = sorted(context["recalled"], key=lambda turn: -turn["score"])
    text = {str(r["message_id"]): r["content"] for r in search_messages(db, user, "concert")}
    return [turn | {"content": text[turn["message_id"]]} for turn in quoted]


READERS = [search, search_messages, explain_context, recalled]
Reader = Callable[..., list[Row]]


@pytest.mark.parametrize("read", READERS)
def test_hits_of_the_time_that_the_query_names_come_first(
    db: Connection, known: uuid.UUID, read: Reader
) -> None:
    for query, month in (
        ("concert last month", "feb"), ("concert in January", "jan"),
        ("concert last week", "mar"), ("concert two months ago", "jan"),
        ("concert since March", "mar"),
    ):  # fmt: skip
        found = read(db, known, query)
        assert f"the {month} concert" in found[0]["content"], query
        assert len(found) == 3, "nothing is lost"


@pytest.mark.parametrize("read", READERS)
def test_a_quarter_more_of_each_part_and_less_in_the_week_after(
    db: Connection, known: uuid.UUID, read: Reader
) -> None:
    plain = {row["content"]: row for row in read(db, known, "concert in January", dates=False)}
    found = {row["content"]: row for row in read(db, known, "concert in January")}
    names = ["score", *(name for name in found[next(iter(found))] if name.endswith("_part"))]
    assert len(names) == {search: 7, search_messages: 7, explain_context: 7, recalled: 1}[read]
    for content, row in found.items():
        # February's was told 4 days and 10 hours after January's end.
        share = 1 if "jan" in content else 1 - (4 + 10 / 24) / 7 if "feb" in content else 0
        favor = 1 + 0.25 * share
        for name in names:
            assert row[name] == pytest.approx(favor * plain[content][name], rel=1e-6), name
        if read is not recalled:
            parts = sum(row[name] for name in names[1:])
            assert row["score"] == pytest.approx(row.get("decay", 1) * parts)


@pytest.mark.parametrize("scoring", ["hybrid", "classic"])
@pytest.mark.parametrize("selection", ["hybrid", "split"])
def test_explain_context_agrees_with_search(
    db: Connection, known: uuid.UUID, scoring: str, selection: str
) -> None:
    changes = {"scoring": scoring, "decay_mode": "multiply"}
    call(db, "configure_user", p_user_id=known, p_changes=changes)
    same = {row["memory_id"]: row for row in search(db, known, "concert in January")}
    found = explain_context(db, known, "concert in January", selection=selection)
    assert len(found) == 3
    for row in found:
        parts = sum(row[f"{part}_part"] for part in MEMORY_PARTS)
        assert row["score"] == pytest.approx(row["decay"] * parts)
        assert row["score"] == pytest.approx(same[row["memory_id"]]["score"])
        assert row["relevance"] == pytest.approx(same[row["memory_id"]]["relevance"])


@pytest.mark.parametrize("read", READERS)
def test_dates_and_date_weight_turn_it_off(db: Connection, known: uuid.UUID, read: Reader) -> None:
    def scores(query: str, **keys: Any) -> list[tuple[str, float]]:
        return [(r["content"], pytest.approx(r["score"])) for r in read(db, known, query, **keys)]

    favored, plain = scores("concert in January"), scores("concert in January", dates=False)
    assert favored != plain
    assert scores("concert in January", dates=None, asked_at=None) == favored
    call(db, "configure_user", p_user_id=known, p_changes={"date_weight": 0})
    assert scores("concert in January") == plain
    call(db, "configure_user", p_user_id=known, p_changes={"date_weight": None})
    assert scores("concert in January") == favored


def test_the_limit_is_of_the_favored_order(db: Connection, user: uuid.UUID) -> None:
    for angle, month in ((0, 3), (45, 1), (90, 3)):
        remember(db, user, f"A concert at {angle} degrees.", p_embedding=vector(angle),
                 p_observed_at=f"2026-0{month}-05T10:00:00Z")  # fmt: skip
    asked: Row = {"p_user_id": user, "p_query": "concert in January", "p_limit": 1,
                  "p_query_embedding": vector(0)}  # fmt: skip
    (found,) = call(db, "search", **asked, p_filter={"asked_at": ASKED})
    assert "45" in found["content"]
    (found,) = call(db, "search", **asked, p_filter={"dates": False})
    assert " 0 " in found["content"]


def test_beside_a_filter_by_time_nothing_is_favored(db: Connection, known: uuid.UUID) -> None:
    for keys in ({"observed_after": "2025-01-01T00:00:00Z"},
                 {"observed_before": "2027-01-01T00:00:00Z"},
                 {"valid_at": "2027-01-01T00:00:00Z"}):  # fmt: skip
        scores = [row["score"] for row in search(db, known, "concert in January", **keys)]
        assert scores == pytest.approx(
            [row["score"] for row in search(db, known, "concert in January", dates=False, **keys)]
        )
    for keys in ({"since": "2025-01-01T00:00:00Z"}, {"until": "2027-01-01T00:00:00Z"}):
        found = search_messages(db, known, "concert in January", **keys)
        assert found == search_messages(db, known, "concert in January", dates=False, **keys)
    favored = search(db, known, "concert in January", observed_after=None)
    assert "jan" in favored[0]["content"], "null is no filter"


def test_as_of_is_when_the_query_was_asked(db: Connection, user: uuid.UUID) -> None:
    """asked_at comes first, then p_as_of, then now."""
    session = open_session(db, user)
    now = datetime.now(UTC)
    remember(db, user, "The concert.", p_observed_at=(now - timedelta(days=1)).isoformat())
    asked: Row = {"p_user_id": user, "p_query": "concert yesterday"}
    (plain,) = call(db, "search", **asked, p_filter={"dates": False})
    (found,) = call(db, "search", **asked)
    assert found["score"] == pytest.approx(1.25 * plain["score"])

    asked["p_as_of"] = now + timedelta(days=9)
    (plain,) = call(db, "search", **asked, p_filter={"dates": False})
    for keys, favor in (({}, 1), ({"asked_at": now.isoformat()}, 1.25)):
        (found,) = call(db, "search", **asked, p_filter=keys)
        assert found["score"] == pytest.approx(favor * plain["score"])
        (found,) = call(db, "explain_context", **asked, p_session_id=session, p_options=keys)
        assert found["score"] == pytest.approx(favor * plain["score"])


def test_days_are_those_of_the_user(db: Connection, user: uuid.UUID) -> None:
    remember(db, user, "The concert.", p_observed_at="2026-03-10T16:00:00Z")
    (plain,) = search(db, user, "concert today")
    call(db, "configure_user", p_user_id=user, p_changes={"time_zone": "Asia/Tokyo"})
    (found,) = search(db, user, "concert today", asked_at="2026-03-10T23:00:00Z")
    assert found["score"] == pytest.approx(1.25 * plain["score"])


def test_malformed_keys_are_refused(db: Connection, user: uuid.UUID) -> None:
    for read in (search, search_messages, explain_context):
        for keys in ({"asked_at": "soon"}, {"asked_at": 5}, {"dates": "no"}, {"dates": 0}):
            with refused("RC003", next(iter(keys))):
                read(db, user, "concert", **keys)
    with refused("RC003", "asked_at"):
        call(db, "get_memories", p_user_id=user, p_filter={"asked_at": ASKED})


@pytest.mark.parametrize("at", ["2026-01-05T10:00:00Z", "2026-02-02T10:00:00Z"])
def test_of_very_many_those_of_the_time_are_looked_at(
    db: Connection, user: uuid.UUID, at: str
) -> None:
    """A memory of the named time is compared even when it is not a candidate otherwise."""
    changes = {"exact_search_limit": 50, "lexical_candidates": 1, "semantic_candidates": 1,
               "message_feedback_weight": 0}  # fmt: skip
    call(db, "configure_user", p_user_id=user, p_changes=changes)
    told = "Of the concert we spoke."
    said = [{"content": told, "created_at": at}]
    for n in range(99):
        later = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(minutes=n)
        said.append({"content": f"A concert, number {n}, is a concert.", "created_at": str(later)})
    for one in said:
        remember(db, user, one["content"], p_observed_at=one["created_at"],
                 p_importance=0.1 if one["content"] == told else 0.5)  # fmt: skip
    append(db, user, open_session(db, user), [{"role": "user"} | one for one in said])
    index_messages(db)
    for read in (search, search_messages):
        found = {row["content"]: row["score"] for row in read(db, user, "concert in January")}
        assert max(found, key=found.__getitem__) == told
        assert len(found) == 10
        plain = read(db, user, "concert in January", dates=False)
        assert told not in [row["content"] for row in plain]
