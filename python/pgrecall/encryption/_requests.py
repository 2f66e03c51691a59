"""Requests of `recall.next_request` for an encrypted user: opened for a model, answers encrypted.

For other users the database reads an answer and applies the rules of each step. Of an encrypted
user it sees ciphertexts only, so that the rules that need plaintext stand here once more: cutting
and neutralizing what goes into a prompt, cleaning what a model wrote, the choice of verbatim
messages, merges that contradict their parts, the solutions that stand in the text of a pattern.

A worker keeps the request as the database put it and passes it to both functions::

    request = ...  # of next_request
    answer = ask_the_model(opened_request(request, sealing))
    next_request(..., sealed_answer(request, answer, sealing))
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from pgrecall._ciphertext import PREFIX, is_damaged, is_sealed, is_token
from pgrecall._json import storable_text
from pgrecall._plain import one_line, prompt_text, shortened
from pgrecall.encryption._keys import Opened
from pgrecall.encryption._sealed import COUNTED_AS, MovedError, Sealer, Sealing, numbers, readable
from pgrecall.encryption._verbatim import is_statement, phrases_by_place
from pgrecall.errors import ConfigurationError
from pgrecall.models._tokens import count_text_tokens

__all__ = ["opened_request", "sealed_answer", "select_statements"]

Json = Mapping[str, Any]
Kin = Collection[tuple[str, str, str]]  # field, the row of a ciphertext, the row that it stands in

_SHOWN = {"message", "parts", "arguments", "name", "memory", "summary", "slot", "tag"}
_SAID = {"message", "parts"}
_LONGEST = {"memory": 500, "solution": 500, "tag": 40, "slot": 60}  # characters, by field
_MAX_SOLUTIONS = 5  # named in the text of a pattern, the latest
_MAX_ERROR = 2000
_LONGEST_ANSWER = 1_000_000  # characters
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)
_CLOSED_THOUGHTS = re.compile(r"^.*</think>(?=[ \n]*(?:```[a-z]*[ \n]*)?\{)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]{1,40}")
_NUMBER = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?")
_NOTHING = {"", "user", "the user"}
_NO_WORDS = {"", "none", "nothing", "null"}
_NUMBERS = re.compile(r"\d+(?:[.,:]\d+)*")
_NAMES = re.compile(r"(?<![.!?:;])(?<!^)\s([^\W\d_a-z]\w+)")  # capital letter inside a sentence
_STEM = 4  # letters that forms of a name have in common
_JOINING = {"and", "also", "as", "both", "or", "too", "well", "with"}


def opened_request(request: Json, sealing: Sealing, kin: Kin = ()) -> dict[str, Any]:
    """Return a request with its ciphertexts decrypted, as a model or an embedder takes it.

    A failed request has its error decrypted. A request of another type is returned unchanged.

    Args:
        request: from the database.
        sealing: keys of the user.
        kin: texts that may be in another row than the one they were encrypted for.

    Raises:
        MovedError: a text was encrypted for another row.
        ConfigurationError: a text does not open, is readable where a ciphertext belongs, or the
            request is one for a user who is not encrypted.
    """
    kind = request.get("type")
    if kind == "chat":
        if "seal" not in request:
            raise _downgraded(sealing, "does not say what of the answer to encrypt")
        return {**request, "messages": [_opened_message(one, sealing, kin)
                                        for one in request["messages"]]}  # fmt: skip
    if kind == "embed":
        if not sealing.has_vectors:
            raise _downgraded(sealing, "wants vectors, and this user has none")
        inputs = [_opened_input(one, sealing, kin) for one in request["inputs"]]
        return {**request, "inputs": inputs}
    if kind == "failed" and is_token(str(request.get("error"))):
        return {**request, "error": sealing.keys.open(request["error"], {"error"})}
    return dict(request)


def sealed_answer(request: Json, answer: Json, sealing: Sealing) -> dict[str, Any]:
    """Return an answer as the database takes it: parsed, and with every text in it encrypted.

    An answer that is not JSON has the value null, which the database complains about.

    Args:
        request: as the database put it.
        answer: as for any user: `content`, `vectors`, `error` or `refusal`.
        sealing: of the user.

    Raises:
        ConfigurationError: the request is one for a user who is not encrypted.
    """
    made = {key: answer[key] for key in ("request_id", "model", "latency_ms")
            if answer.get(key) is not None}  # fmt: skip
    if _WORD.fullmatch(str(answer.get("finish_reason"))) and answer.get("finish_reason"):
        made["finish_reason"] = answer["finish_reason"]
    if isinstance(answer.get("usage"), Mapping):
        made["usage"] = numbers(answer["usage"])
    if isinstance(error := answer.get("error"), Mapping):
        return made | {"error": _sealed_error(error, sealing)}
    if answer.get("refusal"):
        return made | {"refusal": _sealed_note(str(answer["refusal"]), sealing)}
    if request.get("type") == "embed":
        if not sealing.has_vectors:
            raise _downgraded(sealing, "wants vectors, and this user has none")
        return made | {"vectors": answer.get("vectors")}
    if "seal" not in request:
        raise _downgraded(sealing, "does not say what of the answer to encrypt")
    said = _parsed(answer.get("content"))
    return made | {"value": None if said is None else _Answer(request, sealing).value(said)}


def select_statements(request: Json, sealing: Sealing, kin: Kin = ()) -> dict[str, Any]:
    """Return the answer to a request of type select: the messages that state something.

    Or the summary that the database has words for, encrypted: of turns in which nobody spoke.

    Raises:
        ConfigurationError: a message does not open, or was encrypted for another row.
    """
    if "summary" in request:
        session_id = UUID(str(request["session_id"]))
        summary = Sealer(sealing).text(request["summary"], "summary", session_id)
        return {"request_id": request["request_id"], "value": {"summary": summary}}
    phrases = phrases_by_place(request["phrases"])
    sealer = Sealer(sealing)
    chosen = []
    for message in request["messages"]:
        text = _opened(message, _SAID, sealing, kin).strip()
        if len(text) > request["max_characters"]:
            continue
        if is_statement(text, request["min_words"], phrases):
            text = _masked(text, sealing)
            chosen.append({
                "turn": message["turn"], "content": sealer.memory(text),
                "token_count": count_text_tokens(text, COUNTED_AS),
            })  # fmt: skip
    return {"request_id": request["request_id"], "value": {"candidates": chosen}}


# Opening


def _opened_message(message: Json, sealing: Sealing, kin: Kin) -> dict[str, Any]:
    content = message.get("content")
    pieces = content if isinstance(content, list) else [{"text": content}]
    return {**message, "content": "".join(_opened_piece(one, sealing, kin) for one in pieces)}


def _opened_piece(piece: Json, sealing: Sealing, kin: Kin) -> str:
    if "ciphertext" not in piece:
        text = str(piece.get("text") or "")
        if PREFIX in text:
            raise _downgraded(sealing, "holds a ciphertext in the place of a text")
        return text
    text = _opened(piece, _SHOWN, sealing, kin)
    if until := piece.get("until"):
        text = text.partition(until)[0]
    text = prompt_text(shortened(text, int(piece["max_characters"])))
    return one_line(text) if piece.get("one_line") else text.replace("\n", "\n  ")


def _opened(piece: Json, fields: Collection[str], sealing: Sealing, kin: Kin = ()) -> str:
    token = piece.get("ciphertext")
    if not isinstance(token, str) or not is_token(token):
        raise ConfigurationError(
            f"a text in a request for the encrypted user {sealing.keys.user_id} is no ciphertext",
            hint="It was written in the database by somebody without the key.",
        )
    return _replaced(piece, fields, sealing, kin)


def _replaced(piece: Json, fields: Collection[str], sealing: Sealing, kin: Kin) -> str:
    """Return the text of a piece with its ciphertexts opened, if they belong to its row."""

    def shown(opened: Opened) -> str:
        pair = (opened.field, str(opened.row), str(piece.get("row") or opened.row))
        if opened.row is not None and pair[1] != pair[2] and pair not in kin:
            raise MovedError(
                f"a text of the encrypted user {sealing.keys.user_id} in a request about "
                f"{pair[2]} was encrypted for {pair[1]}", pair,
            )  # fmt: skip
        return readable(opened)

    return sealing.keys.replaced(piece["ciphertext"], shown, fields, " (next_request)")


def _opened_input(item: Any, sealing: Sealing, kin: Kin) -> str:
    text = item.get("ciphertext") if isinstance(item, Mapping) else None
    if not isinstance(text, str) or not is_sealed(text) or is_damaged(text):
        raise _downgraded(sealing, "wants a vector of what is no ciphertext")
    return _replaced(item, _SHOWN, sealing, kin)[: int(item["max_characters"])]


def _downgraded(sealing: Sealing, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"a request for the encrypted user {sealing.keys.user_id} {what}",
        hint="The signs that the user is encrypted were removed in the database: restore "
        "recall.users, recall.user_keys and recall.settings from a backup.",
    )


# Encrypting


def _sealed_error(error: Json, sealing: Sealing) -> dict[str, Any]:
    made = {key: error[key] for key in ("retryable", "context_window")
            if isinstance(error.get(key), (bool, int))}  # fmt: skip
    if _WORD.fullmatch(str(error.get("code"))):
        made["code"] = error.get("code")
    return made | {"message": _sealed_note(str(error.get("message")), sealing)}


def _sealed_note(text: str, sealing: Sealing) -> str:
    return sealing.keys.seal(_masked(storable_text(text)[:_MAX_ERROR], sealing), "error")


def _masked(text: str, sealing: Sealing) -> str:
    return text if sealing.secrets is None else sealing.secrets.text(text)


def _parsed(content: Any) -> dict[str, Any] | None:
    """Return the JSON object in what a model said; thoughts, a fence or words may stand around."""
    # Behind the last end tag, each start tag would cost a search through the rest.
    said, end, rest = (content if isinstance(content, str) else "").rpartition("</think>")
    text = _THOUGHTS.sub("", said + end) + rest
    text = _CLOSED_THOUGHTS.sub("", text)
    start = text.find("{")
    if start < 0 or len(text) - start > _LONGEST_ANSWER:
        return None
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class _Answer:
    """Encrypts what a model said: by the schema, since names and other words may be the user's."""

    def __init__(self, request: Json, sealing: Sealing) -> None:
        self._request = request
        self._sealing = sealing
        self._fields: Mapping[str, str] = request["seal"]
        session_id = request.get("session_id")
        self._session_id = None if session_id is None else UUID(str(session_id))
        self._sealer = Sealer(sealing)

    def value(self, said: dict[str, Any]) -> Any:
        """Return the value of an answer, its texts encrypted."""
        purpose = self._request.get("purpose")
        if purpose == "merge":
            said = self._without_contradictions(said)
        elif purpose == "pattern":
            said = self._with_solutions(said)
        return self._fitted(said, self._request.get("schema") or {}, "")

    def _fitted(self, value: Any, schema: Json, path: str) -> Any:
        """Return what the schema names of a value; null in the place of words of another kind."""
        if path in self._fields:
            return self._sealed(value, self._fields[path])
        if isinstance(value, Mapping):
            properties = schema.get("properties") or {}
            return {key: self._fitted(value[key], part, f"{path}.{key}".lstrip("."))
                    for key, part in properties.items() if key in value}  # fmt: skip
        if isinstance(value, list):
            items = schema.get("items") or {}
            return [self._fitted(item, items, f"{path}[]") for item in value]
        if isinstance(value, str):
            return _plain_word(value.strip(), schema)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        return value

    def _sealed(self, value: Any, field: str) -> Any:
        if not isinstance(value, str):
            return None
        text = _masked(storable_text(value), self._sealing)
        purpose = self._request.get("purpose")
        if field == "summary":
            return self._sealer.text(text.strip(), field, self._session_id)
        if field == "slot":
            text = re.sub(r"\W+", "_", _line(text, _LONGEST[field]).lower()).strip("_")
        elif field == "tag":
            text = _line(text.lower(), _LONGEST[field])
        elif purpose in ("merge", "pattern") and field == "memory":
            text = _line(text, len(text))
        else:
            text = _line(text, _LONGEST.get(field, 500))
        if purpose == "verify" and text.strip(" .-").lower() in _NO_WORDS:
            return ""
        if field == "memory":
            return self._sealer.memory(text) if _says_anything(text) else ""
        return self._sealer.text(text, field)

    def _without_contradictions(self, said: dict[str, Any]) -> dict[str, Any]:
        """Empty the merges that contradict their parts; the database refuses these.

        Whether the others are faithful is the second question to the model: the database cannot
        compare ciphertexts.
        """
        memories = self._source("memories")
        texts = [_opened({"ciphertext": one}, {"memory"}, self._sealing) for one in memories]
        negations = {word for word in self._source("negations") if isinstance(word, str)}
        merges = said.get("merges")
        if not isinstance(merges, list):
            return said
        kept = []
        for merge in merges:
            if isinstance(merge, Mapping) and isinstance(merge.get("content"), str):
                numbers = merge.get("parts")
                parts = [texts[number - 1] for number in (numbers or ())
                         if isinstance(number, int) and 1 <= number <= len(texts)]  # fmt: skip
                if contradicts(parts, merge["content"], negations):
                    merge = {**merge, "content": ""}
            kept.append(merge)
        return {**said, "merges": kept}

    def _with_solutions(self, said: dict[str, Any]) -> dict[str, Any]:
        """Put what helped, and when, behind the sentence of a pattern, the latest last."""
        sentence = said.get("pattern")
        sentence = _line(sentence, _LONGEST["memory"]) if isinstance(sentence, str) else ""
        if not any(map(str.isalnum, sentence)):
            return {**said, "pattern": None}
        sources = self._request.get("sources") or {}
        episodes = self._source("episodes")
        days = {one["memory_id"]: str(one.get("observed_at")) for one in episodes}
        of_episode: dict[str, tuple[str, str]] = {}
        for one in self._source("known"):
            text = _opened({"ciphertext": one.get("solution")}, {"solution"}, self._sealing)
            day = one.get("date") or days.get(one["memory_id"])
            of_episode[one["memory_id"]] = (str(day), text)
        for item in said.get("solutions") or ():
            number = item.get("episode") if isinstance(item, Mapping) else None
            if not isinstance(number, int) or not 1 <= number <= len(episodes):
                continue  # the database complains
            text = _line(str(item.get("solution") or ""), _LONGEST["solution"])
            if any(map(str.isalnum, text)):
                memory_id = episodes[number - 1]["memory_id"]
                of_episode.pop(memory_id, None)
                of_episode[memory_id] = (days[memory_id], text)
        latest = sorted(of_episode.values(), key=lambda one: one[0])[-_MAX_SOLUTIONS:]
        listed = ", ".join(f"{text.rstrip('.')} ({day})" for day, text in latest)
        return {**said, "pattern": f"{sentence}{sources['separator']}{listed}."
                                   if listed else sentence}  # fmt: skip

    def _source(self, name: str) -> Sequence[Any]:
        found = (self._request.get("sources") or {}).get(name)
        return found if isinstance(found, list) else []


def _plain_word(word: str, schema: Json) -> Any:
    """Return a word that the schema lists, or the number or truth value that it is; else None."""
    for known in schema.get("enum") or ():
        if isinstance(known, str) and known.lower() == word.lower():
            return known
    if _NUMBER.fullmatch(word):
        return float(word) if "." in word else int(word)
    return {"true": True, "false": False}.get(word.lower())


def _line(text: str, limit: int) -> str:
    return one_line(text)[:limit].rstrip()


def _says_anything(text: str) -> bool:
    """Return whether a text says anything: small models like to begin with "User", and to stop."""
    return re.sub(r"[\W_]+", " ", text).strip().lower() not in _NOTHING


def contradicts(parts: Sequence[str], merged: str, negations: Collection[str]) -> bool:
    """Return whether a text has other numbers or names than its parts, or turns their words.

    It turns them when it has the same words but a negation.
    """
    said, says = _words(" . ".join(parts)), _words(merged)
    if _kept(_NUMBERS, parts) != _kept(_NUMBERS, [merged]):
        return True
    names = _kept(_NAMES, parts), _kept(_NAMES, [merged])
    for name, words in (*((name, says) for name in names[0]), *((name, said) for name in names[1])):
        if not any(word[:_STEM] == name.casefold()[:_STEM] for word in words):
            return True
    known = _JOINING.union(negations)
    is_same = {*said} - known == {*says} - known
    return is_same and {*said}.isdisjoint(negations) != {*says}.isdisjoint(negations)


def _kept(pattern: re.Pattern[str], texts: Sequence[str]) -> set[str]:
    return {found for text in texts for found in pattern.findall(text)}


def _words(text: str) -> list[str]:
    # `[\w'’.-]*\w` would take quadratic time for a run without letters.
    runs = re.findall(r"[\w'’.-]+", text.casefold())
    return [word for run in runs if (word := run.rstrip("'’.-"))]
