"""Judge whether a message proves a memory, as `recall._judge_statement` does in the database.

The word lists come from the SQL functions. The tests judge the same labelled pairs with both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from uuid import UUID

from pgrecall._messages import content_text
from pgrecall.rows import Message
from pgrecall.schema import read_file

__all__ = ["judge", "prove"]

_PROVING_MESSAGES = 50

_CONSTANT = re.compile(
    r"(v_\w+)\s+constant text(?:\[\])?\s*:=\s*(?:string_to_array\(\s*)?"
    r"('(?:[^']|'')*'(?:\s+'(?:[^']|'')*')*)"
)
_PASSED_ON = [re.compile(pattern, re.DOTALL) for pattern in (
    r"```.*?(?:```|\Z)", r"`[^`]*(?:`|\Z)", r'"[^"]*(?:"|\Z)', "[“”„‟][^“”]*(?:[“”]|\\Z)",
    "[«»‹›][^«»‹›]*(?:[«»‹›]|\\Z)", "[「『《〈][^」』》〉]*(?:[」』》〉]|\\Z)",
    r"(?:\A|(?<=\n))[ \t]*[>|][^\n]*", r"(?:\A|(?<=[\W_]))['‘‚][^\W_].*", r"<(?:[^\W\d_]|[/!?]).*",
)]  # fmt: skip


@cache
def _lists(function: str) -> dict[str, str]:
    """Return the text constants of a function, as patterns of Python."""
    return {
        name: re.sub(r"\\[mM]", r"\\b", re.sub(
            r"\$\Z", r"\\Z", "".join(re.findall(r"'((?:[^']|'')*)'", literals)).replace("''", "'")
        ))
        for name, literals in _CONSTANT.findall(read_file(f"functions/memory/{function}.sql"))
    }  # fmt: skip


def _words(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).translate(dict.fromkeys(map(ord, "’‘ʼ"), "'"))
    for pattern, made in ((r"\bcan('|no)t\b", "can not"), (r"\bwon't\b", "will not"),
                          (r"n't\b", " not")):  # fmt: skip
        text = re.sub(pattern, made, text, flags=re.IGNORECASE)
    return re.sub(r"[\W_]+", " ", re.sub("([一-鿿぀-ヿ])", r" \1 ", text)).strip(" ")


def _unquoted(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).replace("ʼ", "'")
    for pattern in _PASSED_ON:
        text = pattern.sub(" . ", text)
    while found := re.search(r":(?![0-9/])", text):
        before = text[: found.start()]
        if not re.search(_lists("_unquoted_text")["v_intro"], before, re.IGNORECASE):
            return f"{before} ."
        text = f"{before}.{text[found.end() :]}"
    return text


def _polarity(words: str) -> int:
    lists = _lists("_statement_polarity")
    words = re.sub(lists["v_affirms"], " ", f" {words} ").replace(" no longer ", " no ")
    words = re.sub(" (any ?more|mehr|больше|más|mais) ", " ", words)
    count = sum(len(re.findall(lists[name], words)) for name in ("v_negates", "v_signs"))
    return {0: 1, 1: -1}.get(count, 0)


def _is_inflected(word: str, other: str, is_name: bool) -> bool:
    same = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b),
                min(len(word), len(other)))  # fmt: skip
    ends = word[same:], other[same:]
    has_digit = re.search(r"\d", word) is not None
    if is_name or has_digit:
        return same > 2 and not has_digit and {*ends} <= {"", "s"}
    longest = max(map(len, ends))
    return (
        (same > 2 and {*ends} <= {"", "s", "es", "e", "o", "a", "i"})
        or (same > 3 and longest < 4)
        or (same > 1 and "가" <= word[0] <= "힣" and longest < 3)
    )


def _covers(content: str, words: str) -> bool:
    empty = {*_lists("_covers_content")["v_empty"].split(" ")}
    user = "ユーザー|用户|用戶|使用者|사용자[는가은의]?"
    left, missing, count = words.split(" "), 0, 0
    for index, word in enumerate(_words(re.sub(user, " ", content)).split(" ")):
        low = word.lower()
        if low in empty or not low or re.fullmatch("[ぁ-ゖー]", low):
            continue
        count += 1
        is_exact = re.search(r"\d", word) is not None or word != low
        is_name = is_exact and (index > 0 or word == low)
        found = [place for place, one in enumerate(left) if one == low] or [
            place for place, one in enumerate(left)
            if one[:1] == low[0] and _is_inflected(low, one, is_name)
        ]  # fmt: skip
        if found:
            left[found[0]] = ""
        elif is_exact:
            return False
        else:
            missing += 1
    return count > 0 and missing <= (count > 3)


def judge(words: str, content: str, said: str) -> str | None:
    """Return what a message of the user proves of a memory's text, by the words quoted of it."""
    if max(map(len, (words, content))) > 100_000 or len(said) > 20_000:
        return None
    quoted, text = _words(words).lower(), f" {_words(content).lower()} "
    if len(quoted) < 4 or max(len(quoted), len(text)) > 1000:
        return None
    of = _lists("_judge_statement")
    ends = r"([.!?]+)(?:\s+|\Z)|([。！？])|[;\n]"
    for sentence in re.sub(ends, "\\1\\2\1", _unquoted(said)).split("\1"):
        sentence = re.sub(of["v_answers"], "", sentence, count=1, flags=re.IGNORECASE)
        whole = f" {_words(sentence).lower()} "
        if f" {quoted} " not in whole:
            continue
        clauses = re.split(of["v_but"], whole)[::2]
        held = [made for one in clauses if f" {quoted} " in (made := f" {one.strip(' ')} ")]
        clause = held[-1] if held else whole
        about = [*re.finditer(of["v_reports"], whole), *re.finditer(of["v_others"], clause)]
        if (
            re.search("[?？¿]", sentence)
            or not re.search(of["v_self"], clause)
            or re.search(of["v_doubtful"], whole)
            or any(one[1] is None or f" {one[1]} " not in text for one in about)
            or not _covers(content, quoted)
        ):
            return None
        sign = _polarity(clause.strip(" ")) * _polarity(text.strip(" "))
        return {1: "states", -1: "denies"}.get(sign)
    return None


def prove(
    words: str, content: str, current_message: str | None, messages: Sequence[Message]
) -> tuple[str | None, list[UUID]]:
    """Return the verdict, and the stored message that has the words: recall._prove_statement."""
    said = [(content_text(one.to_openai()), [one.message_id]) for one in messages
            if one.role == "user"]  # fmt: skip
    for text, ids in [(current_message or "", []), *said[:_PROVING_MESSAGES]]:
        if verdict := judge(words, content, text):
            return verdict, ids
    return None, []
