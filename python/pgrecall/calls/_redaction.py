"""Credentials are masked before a recorded call leaves this process, by the database's patterns.

The database does it again, for any client. This module reads the database's patterns, which are in
PostgreSQL's dialect, and finds a key that a stream sends in pieces.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Redactor"]

_CLASSES_OF_NUMBERS = ("card", "iban")
_CARD = re.compile(
    r"4(\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}"
    r"|6(011|5\d\d|4[4-9]\d)\d{12}|62\d{14,17}"
)
# The members of an event that bring a text in pieces, in the forms of OpenAI's and Anthropic's APIs
_PIECES = {"content", "refusal", "text", "reasoning", "reasoning_content", "arguments", "input",
           "delta", "thinking", "partial_json"}  # fmt: skip
_PLACES = ("index", "output_index", "content_index", "item_id")
_DATA = "data:"
_IGNORES_CASE = "(?i)"
_LONG = 20_000
_WORDS = re.compile(r"(?<=\(\?:)\w+(?:\|\w+){9,}(?=\))")
_Has = Callable[[str], bool]
_SEPARATORS = str.maketrans("", "", " -")
_DOUBLED = str.maketrans("123456789", "246813579")
"""The digits of a number times two, each the sum of its own digits."""
_VALUES = {ord(letter): str(10 + place) for place, letter in enumerate(string.ascii_uppercase)}
"""What the letters of an IBAN count for."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """Secrets of one look.

    A pattern that ignores case is compiled in lower case and matched in lower case. There `re`
    skips branches by their first character, which it does not with IGNORECASE (six times slower).
    """

    name: str
    mark: str
    needs: Sequence[str]
    pattern: str
    ignores_case: bool

    @classmethod
    def of(cls, secret: Mapping[str, Any]) -> _Kind:
        pattern = secret["pattern"]
        ignores_case = pattern.startswith(_IGNORES_CASE)
        if ignores_case:
            pattern = re.sub(r"\\.|[A-Z]+", _lower_unescaped, pattern[len(_IGNORES_CASE) :])
        kind = cls(secret["class"], secret["mark"], secret["needs"], _translated(pattern),
                   ignores_case)  # fmt: skip
        _compiled(kind.pattern)
        return kind

    def may_match(self, has: _Has) -> bool:
        """Return whether a lowered text of which `has` tells the words has what is needed."""
        return not self.needs or any(map(has, self.needs))

    def narrowed(self, has: _Has) -> _Kind:
        """Return the kind without those words of a long list that the text does not have.

        At each word that begins as one of 32 does, `re` tries them all.
        """
        return dataclasses.replace(
            self, pattern=_WORDS.sub(lambda words: _narrowed(words[0], has), self.pattern)
        )

    def masked(self, text: str, lowered: str, start: int = 0) -> str:
        """Return a text with the mark in the place of secrets, from a character on."""
        parts, last = [], 0
        for match in self.found(text, lowered, start):
            parts += [text[last : _start(match)], self.mark]
            last = match.end()
        return "".join([*parts, text[last:]]) if parts else text

    def masked_once(self, text: str, lowered: str) -> str:
        """Return a long text masked; where its first match is often repeated, each part once.

        As `recall._redact_repeated`, for the same reason: a match takes 2 to 4 us.
        """
        pattern = _compiled(self.pattern)
        first = pattern.search(lowered if self.ignores_case else text)
        if first is None:
            return text
        match, rest = text[first.start() : first.end()], text[first.end() :]
        # Each part begins with the sign before the match, which may decide whether it is one, and
        # is masked with the sign that follows.
        before = rest.find(match) - 1
        sign = rest[before] if before >= 0 else ""
        head, *parts = rest.split(sign + match)
        if not _are_few(parts) or sign == "]":  # as the mark ends
            return self.masked(text, lowered, first.start())
        cut = sign + match
        like_first = cut + parts[0] + sign
        found = pattern.search(_lowered(like_first) if self.ignores_case else like_first)
        if found is None or found.span() != (len(sign), len(cut)):
            return self.masked(text, lowered, first.start())

        def once(part: str) -> str:
            return self.masked(part + sign, _lowered(part + sign)).removesuffix(sign)

        masked = {part: once(cut + part) for part in set(parts)}
        whole = once(text[: first.end()] + head) + "".join(map(masked.__getitem__, parts))
        # A number is no part of a longer one; other secrets may go on in the next part.
        return whole if self.name in _CLASSES_OF_NUMBERS else self.masked(whole, _lowered(whole))

    def found(self, text: str, lowered: str, start: int = 0) -> Iterator[re.Match[str]]:
        source = lowered if self.ignores_case else text
        for match in _compiled(self.pattern).finditer(source, start):
            if _is_secret(self.name, match):
                yield match


@dataclass(frozen=True, slots=True)
class _Piece:
    holder: dict[str, Any]
    key: str
    event: int

    @property
    def text(self) -> str:
        return str(self.holder[self.key])


class Redactor:
    """Puts marks such as `[secret: api key]` in the place of credentials.

    Args:
        secrets: class, mark, needs and pattern of each kind, as `recall.get_ledger_rules` gives
            them.
        headers: the pattern of the names of headers that may be kept.
    """

    def __init__(self, secrets: Sequence[Mapping[str, Any]], headers: str) -> None:
        self._kinds = [_Kind.of(one) for one in secrets]
        self._headers = re.compile(headers)

    def text(self, text: str) -> str:
        """Return a text masked, and without what PostgreSQL cannot store in one."""
        masked = self._masked(text)
        return masked.replace("\0", "\ufffd").encode("utf-8", "replace").decode()

    def body(self, body: bytes) -> bytes:
        """Return a body masked; without a credential it is the same, byte for byte."""
        text = body.decode("utf-8", "surrogateescape")
        masked = self._masked(text)
        if masked.startswith(_DATA) or f"\n{_DATA}" in masked:
            masked = self._event_stream(masked)
        return body if masked == text else masked.encode("utf-8", "surrogateescape")

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers that may be kept, by their names in lower case."""
        return {
            name.lower(): self.text(value)
            for name, value in headers.items()
            if self._headers.search(name.lower())
        }

    def _masked(self, text: str) -> str:
        lowered = _lowered(text)
        # Decided once: the marks hold words such as "token", and no secrets.
        for kind in self._kinds_in(lowered):
            masked = (kind.masked_once if len(text) > _LONG else kind.masked)(text, lowered)
            if masked != text:
                text, lowered = masked, _lowered(masked)
        return text

    def _kinds_in(self, lowered: str) -> list[_Kind]:
        """Return the kinds of secrets that a text may hold."""
        if len(lowered) < _LONG:
            return [kind for kind in self._kinds if kind.may_match(lowered.__contains__)]
        signs = set(lowered)

        @functools.cache
        def has(word: str) -> bool:
            # To look for a word takes 0.5 ms per MB, and there are 250.
            return signs.issuperset(word) and word in lowered

        return [kind.narrowed(has) for kind in self._kinds if kind.may_match(has)]

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        """Return where secrets stand: first character, the one behind the last, and the mark."""
        lowered = _lowered(text)
        found = sorted(
            (_start(match), -match.end(), kind.mark)
            for kind in self._kinds_in(lowered)
            for match in kind.found(text, lowered)
        )
        spans: list[tuple[int, int, str]] = []
        last = 0
        for start, minus_end, mark in found:
            if -minus_end > last:
                spans.append((max(start, last), -minus_end, mark))
                last = -minus_end
        return spans

    def _event_stream(self, text: str) -> str:
        """Mask secrets in pieces; only lines with one of them are rewritten."""
        lines = text.split("\n")
        events: dict[int, Any] = {}
        channels: dict[tuple[Any, ...], list[_Piece]] = {}
        for place, line in enumerate(lines):
            if not line.startswith(_DATA):
                continue
            try:
                events[place] = json.loads(line[len(_DATA) :])
            except (ValueError, RecursionError):
                continue
            for channel, holder, key in _pieces(events[place], ()):
                channels.setdefault(channel, []).append(_Piece(holder, key, place))
        for pieces in channels.values():
            for place in self._mask_pieces(pieces):
                end = "\r" if lines[place].endswith("\r") else ""
                written = json.dumps(events[place], ensure_ascii=False, separators=(",", ":"))
                lines[place] = f"{_DATA} {written}{end}"
        return "\n".join(lines)

    def _mask_pieces(self, pieces: Sequence[_Piece]) -> set[int]:
        """Mask what the pieces make together; return the events that were changed."""
        changed: set[int] = set()
        spans = self._spans("".join(piece.text for piece in pieces))
        at = before = 0
        for piece in pieces:
            text, kept, parts = piece.text, 0, []
            while at < len(spans) and spans[at][0] < before + len(text):
                start, end, mark = spans[at]
                if start >= before:
                    parts += [text[kept : start - before], mark]
                kept = min(end - before, len(text))
                if end > before + len(text):
                    break
                at += 1
            if kept:
                piece.holder[piece.key] = "".join([*parts, text[kept:]])
                changed.add(piece.event)
            before += len(text)
        return changed


def _pieces(
    value: Any, path: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any], str]]:
    """Yield the pieces of texts in an event: which text each belongs to, and where it stands."""
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from _pieces(item, (*path, place))
    elif isinstance(value, dict):
        if any(name in value for name in _PLACES):
            where = tuple(value.get(name) for name in _PLACES)
            path = (*(step for step in path[:-1]), where) if path else (where,)
        for key, item in value.items():
            if isinstance(item, str):
                if key in _PIECES and item:
                    yield (*path, key), value, key
            else:
                yield from _pieces(item, (*path, key))


def _start(match: re.Match[str]) -> int:
    """Return where the secret of a match begins: it is the last group, often the only one."""
    return match.start(match.lastindex or 0)


def _are_few(parts: Sequence[str]) -> bool:
    """Return whether there are many parts, few of them different."""
    return len(parts) >= 1000 and 2 * len(set(parts)) <= len(parts)


def _lowered(text: str) -> str:
    """Return a text in lower case, each character at its place: of U+0130 `lower` makes two."""
    return text.replace("\u0130", "i").lower()


def _narrowed(words: str, has: _Has) -> str:
    """Return those of the words w|w|… that a text has; the first if it has none."""
    listed = words.split("|")
    return "|".join(list(filter(has, listed)) or listed[:1])


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _lower_unescaped(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith("\\") else match[0].lower()


def _translated(pattern: str) -> str:
    """Return a pattern of PostgreSQL in Python's dialect: only its ends of words differ.

    `re` skips what a match cannot begin with, unless the pattern begins with an empty group or a
    look behind. So the first is left out, and the digit of a card comes before the look behind it.
    """
    words = {"m": r"\b(?=\w)", "M": r"\b(?<=\w)"}
    pattern = re.sub(r"(\(\?<!\[[^]]*\])\)\\d", r"\\d\1\\d)", pattern.removeprefix("()"))
    return re.sub(r"\\(.)", lambda m: words.get(m[1], m[0]), pattern, flags=re.DOTALL)


def _is_secret(kind: str, match: re.Match[str]) -> bool:
    """Return whether a match is one: of a number, whether its check digits hold."""
    if kind not in _CLASSES_OF_NUMBERS:
        return True
    number = match[match.lastindex or 0].translate(_SEPARATORS)
    if kind == "card":
        if not number.isascii() or not _CARD.fullmatch(number):
            return False
        digits = number[-1::-2] + number[-2::-2].translate(_DOUBLED)
        return sum(map(int, digits)) % 10 == 0
    return int((number[4:] + number[:4]).translate(_VALUES)) % 97 == 1
