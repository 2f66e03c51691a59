"""Whether a message states anything: the driver's own `recall._is_statement`.

For what the database cannot read: the messages of encrypted users.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Phrases", "is_statement", "phrases_by_place"]

Phrases = Mapping[str, Mapping[str, str]]  # place → phrase → meaning

_LONGEST = 4000  # characters that are looked at
_FIRST_WORDS, _ANY_WORDS, _ENDINGS = 8, 3, (2, 3, 4, 5)
# Scripts that put no space between words: each character counts as a word.
_UNSPACED = re.compile(
    "([\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])"
)
_SEPARATORS = re.compile(
    "[\u0001-\u0026\u0028-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9"
    "\u00bb-\u00bf\u1680\u2000-\u2bff\u3000-\u3004\u3008-\u3020\ufe00-\ufe4f\U0001f000-\U0001faff]+"
)
_APOSTROPHES = re.compile("(?:^| )[ ']+|[ ']+(?= |$)")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(
    '^[ \t]*>[^\n]*$|"[^"\n]* [^"\n]*"|«[^»\n]* [^»\n]*»|“[^”“\n]* [^”“\n]*[”“]'
    "|„[^”“\n]* [^”“\n]*[”“]|「[^」\n]*」|『[^』\n]*』",
    re.MULTILINE,
)
_CODE = re.compile(
    r"^[ \t]*(?:[\[(]?[a-z_.]*(?:error|exception|traceback|fatal|panic|warn|warning)[\])]?"
    r"(?: [0-9(][^:\n]*)?(?::| \()|\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[t ][0-9]{2}:|[$] |>>> "
    r"|at [a-z_.$]+\(|"
    r"(?:select|insert into|update|delete from|create table|alter table|drop table) [^\n]*"
    r"(?: from | values| set | where |;$)|(?:[^\n{}()<>=;|\\$_\[\]]{0,12}[{}()<>=;|\\$_\[\]]){3}"
    r"[^\n]*$)[^\n]*",
    re.MULTILINE,
)
_SENTENCE_END = re.compile("[.]+(?: |\n|$)|[!。।]+|\n")
_COLON = re.compile(":(?![0-9/:])")
_CLAUSE_END = re.compile(
    r",(?![0-9]| *(?:что|чтобы|щоб|що|dass|daß|że|żeby|żebyś|hogy) )|[、;()\u0001]| [-–—] "
)


def phrases_by_place(lists: Mapping[str, Mapping[str, Sequence[str]]]) -> Phrases:
    """Return the phrases of a job's input, which lists them by place and meaning, for look-ups."""
    found: dict[str, dict[str, str]] = {"first": {}, "last": {}, "any": {}, "whole": {}}
    for place, meanings in lists.items():
        for meaning, phrases in meanings.items():
            found[place].update(dict.fromkeys(phrases, meaning))
    return found


def is_statement(text: str, min_words: int, phrases: Phrases) -> bool:
    """Return whether a clause of the text states something that is worth keeping."""
    plain = unicodedata.normalize("NFKC", text[:_LONGEST])
    plain = "".join(char.lower()[:1] for char in plain).replace("’", "'").replace("‘", "'")
    plain = _CODE.sub("\n", _QUOTED.sub(" ", _FENCED.sub(" ", plain)))
    plain = _COLON.sub(" :\u0001", re.sub("[?؟]+", " ?\n", plain))
    for sentence in _SENTENCE_END.split(plain):
        clauses = _CLAUSE_END.split(sentence)
        is_question = sentence.endswith(" ?")
        for number, clause in enumerate(clauses, start=1):
            kind = _kind(_words(clause), min_words, phrases)
            if kind == "statement" and not (is_question and number == len(clauses)):
                return True
            if kind == "request" and clause.endswith(" :"):
                return False
    return False


def _words(clause: str) -> list[str]:
    spaced = _UNSPACED.sub(r" \1 ", _SEPARATORS.sub(" ", clause))
    return _APOSTROPHES.sub(" ", spaced).split()


def _kind(words: Sequence[str], min_words: int, phrases: Phrases) -> str | None:
    """Return what a clause is by its first, last and other phrases."""
    others = set(_others(words, phrases))
    first, length = _longest(words, "first", phrases)
    while first == "filler":
        words = words[length:]
        first, length = _longest(words, "first", phrases)
    last, _ = _longest(words, "last", phrases)
    if len(words) < 2 or " ".join(words) in phrases["whole"]:
        return None
    if first in ("question", "statement"):
        return first
    is_own = {"personal", "self"} <= others
    if first in ("courtesy", "remark"):
        return "statement" if is_own and not others & {"material", "you"} else first
    if last == "statement":
        return last
    if first is None and last == "courtesy" and not others & {"personal", "always"}:
        return last
    if first is None and last == "remark" and not is_own and "always" not in others:
        return last
    if first == "request" or last == "request":
        return "statement" if "always" in others else "request"
    if last == "question" or "question" in others:
        return "question"
    if "always" in others:
        return "statement"
    if "material" in others and not is_own:
        return "remark"
    if others & {"self", "personal"}:
        return "statement"
    if "you" in others:
        return "remark"
    return "statement" if len(words) >= min_words else None


def _longest(words: Sequence[str], place: str, phrases: Phrases) -> tuple[str | None, int]:
    for length in range(min(_FIRST_WORDS, len(words)), 0, -1):
        part = words[:length] if place == "first" else words[-length:]
        if meaning := phrases[place].get(" ".join(part)):
            return meaning, length
    return None, 0


def _others(words: Sequence[str], phrases: Phrases) -> Iterator[str]:
    for at in range(len(words)):
        for length in range(1, _ANY_WORDS + 1):
            if meaning := phrases["any"].get(" ".join(words[at : at + length])):
                yield meaning
    for length in _ENDINGS if words else ():
        if len(words[-1]) > length and (meaning := phrases["any"].get("-" + words[-1][-length:])):
            yield meaning
