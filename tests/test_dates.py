"""Relative dates in queries: the same text and moment give the same window."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from pgrecall.dates import time_window

# A Wednesday.
NOW = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("What did I do yesterday?", "2026-03-10", "2026-03-11"),
        ("and the day before yesterday", "2026-03-09", "2026-03-10"),
        ("what did we say today", "2026-03-11", "2026-03-12"),
        ("Where was I last week?", "2026-03-02", "2026-03-09"),
        ("this week", "2026-03-09", "2026-03-16"),
        ("last weekend", "2026-03-07", "2026-03-09"),
        ("LAST MONTH", "2026-02-01", "2026-03-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("two months ago", "2026-01-01", "2026-02-01"),
        ("3 days ago", "2026-03-08", "2026-03-09"),
        ("a couple of weeks ago", "2026-02-23", "2026-03-02"),
        ("a year ago", "2025-01-01", "2026-01-01"),
        ("in the last two weeks", "2026-02-25", "2026-03-12"),
        ("in March", "2026-03-01", "2026-04-01"),
        ("in April", "2025-04-01", "2025-05-01"),
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("in Dec. 2024?", "2024-12-01", "2025-01-01"),
        ("in 2023", "2023-01-01", "2024-01-01"),
        ("since June", "2025-06-01", "2026-03-12"),
        ("since 2024", "2024-01-01", "2026-03-12"),
        ("since yesterday", "2026-03-10", "2026-03-12"),
        ("since last month", "2026-02-01", "2026-03-12"),
        ("on Monday", "2026-03-09", "2026-03-10"),
        ("last Wednesday", "2026-03-04", "2026-03-05"),
        ("on 7 May 2023", "2023-05-07", "2023-05-08"),
        ("on July 4th", "2025-07-04", "2025-07-05"),
        ("on March 3, 2026", "2026-03-03", "2026-03-04"),
        ("on the 3rd of March", "2026-03-03", "2026-03-04"),
        ("2024-02-29", "2024-02-29", "2024-03-01"),
    ],
)
def test_a_window(text: str, since: str, until: str) -> None:
    window = time_window(text, NOW)
    assert window is not None
    assert (window.since, window.until) == (
        datetime.fromisoformat(since).replace(tzinfo=UTC),
        datetime.fromisoformat(until).replace(tzinfo=UTC),
    )
    assert window == time_window(text, NOW)
    assert window.holds(window.since)
    assert not window.holds(window.until)


@pytest.mark.parametrize(
    "text",
    ["", "Where do I work?", "may I march in?", "the last straw", "on 31 June", "room 2023",
     "2024-13-45", "999 years ago and more", "who is April?", "weekly", "x" * 100_000],
)  # fmt: skip
def test_none(text: str) -> None:
    assert time_window(text, datetime(900, 3, 11, tzinfo=UTC)) is None
    if "years ago" not in text:
        assert time_window(text, NOW) is None


def test_days_of_the_time_zone_of_the_question() -> None:
    zone = timezone(timedelta(hours=9))
    window = time_window("today", datetime(2026, 3, 12, 1, 0, tzinfo=zone))
    assert window is not None
    assert window.since == datetime(2026, 3, 11, 15, 0, tzinfo=UTC)
    assert time_window("today", datetime(2026, 3, 12, 1, 0)) == time_window(  # noqa: DTZ001
        "today", datetime(2026, 3, 12, 1, 0, tzinfo=UTC)
    )
    assert time_window("today") is not None


def test_ends_of_months() -> None:
    window = time_window("a month ago", datetime(2026, 3, 31, tzinfo=UTC))
    assert window is not None
    assert window.since == datetime(2026, 2, 1, tzinfo=UTC)
