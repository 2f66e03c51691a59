"""Dates in the queries of encrypted users, which the database never sees.

The same expressions as in `recall.query_dates`; a test compares the two. Only English is
understood; a query that says nothing about time gives no window, never an error.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pgrecall.encryption._words import Hit, as_moment, best_first

__all__ = ["TimeWindow", "by_window", "favored_window", "time_window"]

_WEIGHT = 0.25  # the default of the setting date_weight
_FILTERS = {"observed_after", "observed_before", "valid_at", "since", "until"}

_NUMBERS = {
    word: number
    for number, words in enumerate(
        ("", "a|an|one", "two|a couple of", "three|a few", "four", "five", "six", "seven", "eight",
         "nine", "ten", "eleven", "twelve")
    )
    for word in words.split("|")
    if word
}  # fmt: skip
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_SHORT = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}

_COUNT = "|".join(sorted(_NUMBERS, key=len, reverse=True)) + r"|\d{1,3}"
_MONTH = (
    "|".join(_MONTHS) + r"|(?:" + "|".join(n for n in _SHORT if n not in _MONTHS) + r"|sept)\b\.?"
)
_UNIT = "day|week|month|year"
_WEEKDAY = "|".join(_WEEKDAYS)
_YEAR = r"(?:19|20)\d\d"
_DAY = r"([0-3]?\d)(?:st|nd|rd|th)?"

_NOT_WITHIN = rf"(?!\s+(?:of|in)\s+(?:{_MONTH}|{_YEAR}))"

# Words before an expression that relate to it.
_RELATION = "since|after|before|until|till|up to|as of|by"
_PART = r"early|mid|late|(?:beginning|start|middle|end)\s+of"
_ORDINALS = ("first", "second", "third", "fourth")
_SPAN = (
    rf"(?:(?:{_COUNT}|{'|'.join(_ORDINALS)}|last)\s+)?(?!years?\s+in\b)"
    rf"(?:{_UNIT}|weekend|{_WEEKDAY})s?\s+(?:before|after|of|in)"
)
_WORDS = re.compile(
    rf"(?:the )?(?:(?:({_COUNT}|{'|'.join(_ORDINALS)}|last) )?({_UNIT}|weekend|{_WEEKDAY})s? )?"
    rf"({_RELATION}|early|mid|late|(?:beginning|start|middle|end) of|of|in) (?:the )?"
)

# A year that dates the months of its sentence: it begins the sentence, or follows another month.
_NAMED_YEAR = re.compile(
    rf"(\blast year\b)|(?:^\s*(?:in|during)|\b(?:{'|'.join(_SHORT)})[a-z]*\.?(?:\s+\d{{1,2}}"
    rf"(?:st|nd|rd|th)?(?:\s*(?:-|to|and)\s*\d{{1,2}}(?:st|nd|rd|th)?)?)?),?\s+"
    rf"({_YEAR})\b(?!\s*:)",
    re.IGNORECASE,
)

# The first that is found in the text counts; more exact ones come first.
_PERIODS = (
    ("iso", _SPAN, rf"?\b({_YEAR})-(\d\d)-(\d\d)\b"),
    ("month_day", _SPAN, rf"?\b({_MONTH})\s+{_DAY}\b(?:,?\s+({_YEAR}))?(?!\s*:)"),
    ("day_month", _SPAN, rf"?\b{_DAY}\s+(?:of\s+)?({_MONTH})(?:,?\s+({_YEAR}))?\b"),
    ("before_yesterday", "", r"?\bthe day before yesterday\b"),
    ("yesterday", "", r"?\byesterday\b"),
    ("today", "", r"?\b(?:today|this (?:morning|afternoon|evening))\b"),
    ("ago", "", rf"?\b({_COUNT})\s+({_UNIT})s?\s+ago\b"),
    ("past", "", rf"?\b(?:last|past|previous)\s+({_COUNT})\s+({_UNIT})s\b"),
    ("weekend", "", rf"?\blast weekend\b{_NOT_WITHIN}"),
    ("last", "", rf"?\b(last|this|past|previous)\s+({_UNIT})\b{_NOT_WITHIN}"),
    ("weekday", "on|last", rf"({_WEEKDAY})\b"),
    ("month", rf"in|during|of|last|this|{_PART}|{_SPAN}",
     rf"({_MONTH})(?:,?\s+(?:of\s+)?({_YEAR}))?\b"),
    ("year", rf"in|during|{_PART}|{_SPAN}", rf"({_YEAR})\b"),
)  # fmt: skip
_EXPRESSIONS = tuple(
    (
        name,
        re.compile(
            rf"(\b(?:{_RELATION}{'|' if before else ''}{before})\s+(?:the\s+)?){pattern}",
            re.IGNORECASE,
        ),
    )
    for name, before, pattern in _PERIODS
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWindow:
    """From `since` on and before `until`.

    Attributes:
        since: its first moment; None when it has no beginning.
        until: the first moment after it.
    """

    since: datetime | None
    until: datetime

    def share(self, moment: datetime | None) -> float:
        """Return how far a moment shares in it, as `recall._date_share` does; 0 for None."""
        if moment is None or (self.since is not None and moment < self.since):
            return 0.0
        return min(1.0, max(0.0, 1 - (moment - self.until) / timedelta(days=7)))


def by_window(
    hits: Iterable[Hit], window: TimeWindow | None, moment: Callable[[Hit], datetime | None]
) -> list[Hit]:
    """Return hits in order of their scores, which gain by their share in the window."""
    if window is None:
        return best_first(hits)
    return sorted(hits, key=lambda hit: -hit.score * (1 + _WEIGHT * window.share(moment(hit))))


def favored_window(
    query: str, keys: Mapping[str, Any], as_of: datetime | None
) -> TimeWindow | None:
    """Return the window that a query names, as `recall._favored_time` does; days are UTC's.

    Args:
        query: the query.
        keys: the filter of the search, with asked_at and dates.
        as_of: the time that is searched, if not now.
    """
    given = {key for key, value in keys.items() if value is not None}
    if keys.get("dates") is False or _FILTERS & given:
        return None
    asked = as_moment(keys.get("asked_at")) or as_of
    return time_window(query, asked and asked.astimezone(UTC))


def time_window(text: str, as_of: datetime | None = None) -> TimeWindow | None:
    """Return the time that a query asks about; None when it names none.

    Days are those of the time zone of `as_of`. A month without a year is of the only year that
    dates months of its sentence. Else a month or weekday is the last one that has begun. After
    "since" the window ends at the end of the day of `as_of`; after "before" and "until" it has no
    beginning.

    Args:
        text: the query.
        as_of: when it is asked; None is now, in UTC.
    """
    moment = as_of or datetime.now(UTC)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    today = moment.date()
    for name, expression in _EXPRESSIONS:
        for match in expression.finditer(text):
            words, *groups = (group or "" for group in match.groups())
            year = _named_year(text, match[0], today)
            try:
                since, until = _related(words, *_days(name, groups, today, year), today)
            except (ValueError, OverflowError):  # 31 June; three hundred years ago and more
                continue
            if since is not None and since >= until:
                continue
            return TimeWindow(
                since=None if since is None else _midnight(since, moment),
                until=_midnight(until, moment),
            )
    return None


def _midnight(day: date, moment: datetime) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=moment.tzinfo)


def _named_year(text: str, expression: str, today: date) -> str:
    """Return the only year that dates the months of the expression's sentence; else nothing."""
    sentence = next((one for one in re.split(r"[.?!\n]\s", text) if expression in one), "")
    found = {year or str(today.year - 1) for _, year in _NAMED_YEAR.findall(sentence)}
    years = [year for year in found if int(year) <= today.year]
    return years[0] if len(years) == 1 else ""


def _days(name: str, groups: list[str], today: date, year: str) -> tuple[date, date]:
    """Return the first day of a period, and the first after it; `year` dates a month without."""
    match name:
        case "iso":
            return _unit("day", date(*map(int, groups)))
        case "month_day":
            return _unit(
                "day", _latest(_month(groups[0]), int(groups[1]), groups[2] or year, today)
            )
        case "day_month":
            return _unit(
                "day", _latest(_month(groups[1]), int(groups[0]), groups[2] or year, today)
            )
        case "before_yesterday":
            return _unit("day", today - timedelta(days=2))
        case "yesterday":
            return _unit("day", today - timedelta(days=1))
        case "today":
            return _unit("day", today)
        case "ago":
            return _unit(groups[1].lower(), _back(today, _number(groups[0]), groups[1].lower()))
        case "past":
            first = _back(today, _number(groups[0]), groups[1].lower())
            return first, today + timedelta(days=1)
        case "weekend":
            monday = today - timedelta(days=today.weekday())
            return monday - timedelta(days=2), monday
        case "last":
            unit = groups[1].lower()
            return _unit(unit, _back(today, groups[0].lower() != "this", unit))
        case "weekday":
            since = (today.weekday() - _WEEKDAYS[groups[0].lower()] - 1) % 7 + 1
            return _unit("day", today - timedelta(days=since))
        case "month":
            return _unit("month", _latest(_month(groups[0]), 1, groups[1] or year, today))
        case _:
            return _unit("year", date(int(groups[0]), 1, 1))


def _related(words: str, since: date, until: date, today: date) -> tuple[date | None, date]:
    """Return the days that words before an expression make of its days."""
    found = _WORDS.fullmatch(re.sub(r"\s+", " ", words.lower()))
    if found is None:  # only introduces it, or nothing
        return since, until
    count, unit, relation = found.groups()
    if unit:
        return _counted(count or "", unit, relation, since, until)
    third = timedelta(days=(until - since).days // 3)
    match relation:
        case "since":
            return since, today + timedelta(days=1)
        case "after":
            return until, today + timedelta(days=1)
        case "before":
            return None, since
        case "until" | "till" | "up to" | "as of" | "by":
            return None, until
        case "early" | "beginning of" | "start of":
            return since, since + third
        case "mid" | "middle of":
            return since + third, until - third
        case "late" | "end of":
            return until - third, until
        case _:
            return since, until


def _counted(count: str, unit: str, relation: str, since: date, until: date) -> tuple[date, date]:
    """Return "two weeks before", "the weekend after", "the first Monday of" some days."""
    weekday = 5 if unit == "weekend" else _WEEKDAYS.get(unit)
    is_within = relation in ("of", "in")
    if is_within and (until - since).days == 1 and unit != "day":
        if weekday is None:
            return _unit(unit, since)
        saturday = _unit("week", since)[0] + timedelta(days=5)
        return (saturday, saturday + timedelta(days=2)) if unit == "weekend" else (since, until)
    if is_within and count not in (*_ORDINALS, "last"):
        return since, until

    # From the first such weekday at or after where to count from, or right from there.
    start = until if relation == "after" or (is_within and count == "last") else since
    if weekday is not None:
        start += timedelta(days=(weekday - start.weekday()) % 7)
    if count == "last":
        number = 1
    else:
        number = _ORDINALS.index(count) + 1 if count in _ORDINALS else _number(count or "one")
    step = unit if weekday is None else "week"
    if relation == "before" or (is_within and count == "last"):
        first = _back(start, number, step)
    elif is_within or weekday is not None:
        first = _back(start, 1 - number, step)
    else:
        first = start
    if weekday is not None:
        return first, first + timedelta(days=2 if unit == "weekend" else 1)
    if relation == "before":
        return first, since
    return first, _back(first, -number if relation == "after" else -1, step)


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word.lower()]


def _month(name: str) -> int:
    return _MONTHS.get(name.lower()) or _SHORT[name.lower()[:3]]


def _latest(month: int, day: int, year: str, today: date) -> date:
    """Return that day of the year, or of the last one in which it has come."""
    if year:
        return date(int(year), month, day)
    this = date(today.year, month, day)
    return this if this <= today else date(today.year - 1, month, day)


def _back(today: date, count: int, unit: str) -> date:
    if unit == "day":
        return today - timedelta(days=count)
    if unit == "week":
        return today - timedelta(weeks=count)
    months = today.year * 12 + today.month - 1 - count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    return date(year, month + 1, min(today.day, calendar.monthrange(year, month + 1)[1]))


def _unit(unit: str, day: date) -> tuple[date, date]:
    """Return the day, week (from Monday), month or year that holds a day."""
    if unit == "day":
        return day, day + timedelta(days=1)
    if unit == "week":
        monday = day - timedelta(days=day.weekday())
        return monday, monday + timedelta(weeks=1)
    if unit == "month":
        first = day.replace(day=1)
        return first, (first + timedelta(days=31)).replace(day=1)
    return date(day.year, 1, 1), date(day.year + 1, 1, 1)
