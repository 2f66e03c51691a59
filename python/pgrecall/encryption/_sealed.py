"""Encrypt the texts of a call and decrypt those of its answer, for an encrypted user.

Each function has a rule. No plaintext of an encrypted user leaves this process: a function that
takes texts and has no rule is refused, and so is a text that a rule has not encrypted. The database
rejects plaintext, too.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeGuard
from uuid import NAMESPACE_OID, UUID, uuid5

from pgvector import HalfVector
from psycopg.types.json import Jsonb

from pgrecall._ciphertext import is_damaged, is_sealed, is_token
from pgrecall._json import json_text
from pgrecall._messages import content_text
from pgrecall._names import new_uuid
from pgrecall._plain import plain_text
from pgrecall._signatures import SIGNATURES
from pgrecall._sql import Call
from pgrecall.calls._redaction import Redactor
from pgrecall.encryption._clock import DatabaseClock
from pgrecall.encryption._keys import Opened, UserKeys
from pgrecall.errors import ConfigurationError, InvalidInputError, NotAllowedError
from pgrecall.models._tokens import count_message_tokens, count_text_tokens

__all__ = ["COUNTED_AS", "MovedError", "Opener", "Sealer", "Sealing", "message_digest", "numbers",
           "readable", "resealed", "sealed_call"]  # fmt: skip

COUNTED_AS = "o200k_base"  # tokens of what the database cannot count any more
_PLAIN_KEYS = {"extraction", "response_model"}  # of metadata: the database acts on them
_MESSAGE_KEYS = {"role", "content", "name", "tool_calls", "tool_call_id", "token_count",
                 "created_at", "model_id", "finish_reason", "latency_ms", "model_call_id",
                 "metadata", "refusal"}  # fmt: skip
_AS_IS = {"list_sessions", "configure_user", "seal_user", "rewrap_user_key", "resolve_dispute",
          "extend_lease", "retry_dead_jobs", "ensure_user", "user_id", "health",
          "import_user", "record_access", "verify_integrity", "get_messages_by_id",
          "next_request"}  # fmt: skip
# parameters that settings.secrets is about
_WITH_SECRETS = {
    "open_session": {"title", "system_prompt", "metadata"},
    "update_session": {"changes"},
    "append_messages": {"messages"},
    "annotate_message": {"patch"},
    "remember": {"content", "slot", "tags", "metadata"},
    "ingest_memories": {"candidates"},
    "supersede_memory": {"content", "changes"},
    "retract_memory": {"reason"},
    "dispute_memory": {"reason", "content"},
    "put_working": {"task_id", "key", "value"},
    "put_items": {"items"},
    "get_items": {"namespace", "keys"},
    "search_items": {"namespace"},
    "touch_items": {"namespace", "keys"},
    "list_namespaces": {"prefix", "suffix"},
    "get_working": {"task_id", "key"},
    "clear_working": {"task_id"},
    "enqueue_job": {"dedupe_key"},
    "fail_job": {"error"},
}
_OF_MODELS = {"fail_job"}
_NAME_CHARACTERS = 200  # of a slot, a task and a key
_NAME_HINT = "Names have 1 to 200 characters."
_MAX_TAGS = 100
_TITLE_CHARACTERS = 1000
_REASON_CHARACTERS = 10_000
_METADATA_CHARACTERS = 1_000_000
_SIZE_HINT = "Keep large values elsewhere, and a reference to them here."
_LIST_HINT = (
    "Tags are a list of at most 100 texts, metadata an object, each of at most 16 characters for "
    "each of settings.memory_max_characters."
)
_NO_SECRETS = {"embedding", "embeddings", "embedding_model", "source_turn_ids", "memory_ids",
               "token_count", "tool_call_id", "model_call_id", "created_at", "role",
               "target_id"}  # fmt: skip
# keys under which a text is sent as it is: ids, names, words of ours, times
_READABLE = {
    "agent_id", "asked_at", "confidence", "created_at", "decay_mode", "distance", "embedding_model",
    "endpoint", "expires_at", "extraction", "finish_reason", "format", "id", "key", "keys", "kind",
    "kinds", "kinds_none", "layout", "memories_as_of", "memory_ids", "mode", "model",
    "model_call_id", "model_id", "name", "namespace", "observed_after", "observed_at",
    "observed_before", "pack", "path", "phase", "placement", "prefix", "provenance", "provider",
    "request_id", "response_model", "review_at", "role", "roles", "scopes", "scoring", "selection",
    "session_id", "since", "source", "source_session_id", "source_turn_ids", "suffix", "target_id",
    "task", "tiers", "tool_call_id", "type", "until", "valid_at", "valid_from", "valid_to",
}  # fmt: skip
_OF_APPLICATION = {"options.heading", "options.tools"}  # of a context: its own words
_TEXT_TYPES = {"text", "text[]", "jsonb"}
_NOT_IN_LEDGER = "The call log of an encrypted user holds numbers and times only."
_NOT_POSSIBLE = {
    "record_stream_events": _NOT_IN_LEDGER,
    "record_protocol_event": _NOT_IN_LEDGER,
}


@dataclass(frozen=True, slots=True)
class Sealing:
    """Keys and rules by which a driver encrypts for a user.

    Attributes:
        keys: encrypt and decrypt the user's texts.
        has_vectors: whether vectors of the texts are stored.
        secrets: masks secrets; None where they are stored unchanged.
        is_refusing: whether a text that holds a secret is refused instead.
        memory_characters: the most that a memory may have; None where the database alone decides.
        message_characters: the most of a message's content, of its other fields and of a prompt.
        clock: makes the ids of new rows.
    """

    keys: UserKeys
    has_vectors: bool = False
    secrets: Redactor | None = None
    is_refusing: bool = False
    memory_characters: int | None = None
    message_characters: int | None = None
    clock: DatabaseClock = dataclasses.field(default_factory=DatabaseClock)


def sealed_call(call: Call, sealing: Sealing) -> Call:
    """Return the call with every text encrypted.

    Raises:
        NotAllowedError: the function is not possible for an encrypted user.
        InvalidInputError: a text under an unknown key, or a value where a text belongs.
    """
    rule = _RULES.get(call.function)
    given = _as_json({name: value.obj if isinstance(value, Jsonb) else value
                      for name, value in call.parameters.items()})  # fmt: skip
    if rule is None:
        has_texts = any(isinstance(value, (str, dict, list)) for value in given.values())
        if call.function in _AS_IS or not has_texts:
            return call
        hint = "This driver does not know which of its arguments to encrypt."
        raise _refused(call.function, _NOT_POSSIBLE.get(call.function, hint))
    given = _guarded(call.function, given, sealing)
    sealed = rule(Sealer(sealing, str(given.get("request_id") or "")), given)
    sealed = {name: value for name, value in sealed.items() if value is not _LEFT_OUT}
    _refuse_plaintext(call.function, sealed)
    made = call.having(sealed)
    return replace(made, keys=f"{sealing.keys.numbers[0]} {sealing.keys.numbers[-1]}")


def _as_json(value: Any, key: str = "") -> Any:
    """Return a value with dictionaries and lists for all that JSON writes as such.

    A rule then finds the texts in a tuple, a set or a view of a dictionary, too.
    """
    if isinstance(value, Mapping):
        return {name: _as_json(item, name) for name, item in value.items()}
    if (
        key in _OF_VECTORS
        or isinstance(value, (str, bytes, bytearray, memoryview, HalfVector))
        or not isinstance(value, Iterable)
    ):
        return value
    return [_as_json(item) for item in value]


def _refuse_plaintext(function: str, sealed: _Given) -> None:
    """Refuse a call with a text that its rule has not encrypted.

    Raises:
        InvalidInputError: it names the place of the text, not the text.
    """
    for name, value in sealed.items():
        if SIGNATURES[function][name] not in _TEXT_TYPES:
            continue
        if (place := _readable_place(value, name, name)) is not None:
            raise InvalidInputError(
                f"{place} of {function} would be sent as plaintext, and the user is encrypted",
                hint="Its key is unknown, or its value is not of the type that belongs there.",
            )


def _readable_place(value: Any, key: str, place: str) -> str | None:
    """Return the place of the first text that is readable and may not be, or None."""
    if isinstance(value, str):
        is_hidden = not value.strip() or is_token(value)
        return None if is_hidden or key in _READABLE or place in _OF_APPLICATION else place
    if place in _OF_APPLICATION or key in _OF_VECTORS:
        return None
    found: Iterable[str | None] = ()
    if isinstance(value, Mapping):
        found = (_readable_place(item, name, f"{place}.{name}") for name, item in value.items())
    elif isinstance(value, list):
        found = (_readable_place(item, key, f"{place}[{n}]") for n, item in enumerate(value))
    return next((one for one in found if one is not None), None)


def _guarded(function: str, given: _Given, sealing: Sealing) -> _Given:
    """Apply `settings.secrets` in the driver, since the database cannot read ciphertexts.

    Raises:
        InvalidInputError: a secret in a text of somebody who is to have none; what a model writes
            is masked instead.
    """
    names = _WITH_SECRETS.get(function)
    if sealing.secrets is None or names is None:
        return given
    made = dict(given)
    for name in names & given.keys():
        made[name] = _masked(given[name], sealing.secrets)
        if sealing.is_refusing and function not in _OF_MODELS and made[name] != given[name]:
            raise InvalidInputError(
                f"{name} of {function} holds a secret",
                hint="With settings.secrets = mask the secret is masked, with keep it is stored.",
            )
    return made


def _masked(value: Any, secrets: Redactor) -> Any:
    """Return a value with marks in the place of secrets; ids and vectors are left alone."""
    if isinstance(value, str):
        return secrets.text(value)
    if isinstance(value, (list, tuple)):
        return [_masked(item, secrets) for item in value]
    if not isinstance(value, Mapping):
        return value
    made = {}
    for key, item in value.items():
        if key in _NO_SECRETS:
            made[key] = item
            continue
        # as JSON, so that what stands under a key such as "password" is seen
        text = json_text({key: item})
        masked = secrets.text(text)
        made |= {key: item} if masked == text else json.loads(masked)
    return made


def resealed(value: Any, keys: UserKeys, newest: UserKeys) -> Any:
    """Return texts of a row, with each ciphertext encrypted again by the newest key.

    Raises:
        ConfigurationError: one cannot be decrypted.
    """
    if isinstance(value, Mapping):
        return {key: resealed(item, keys, newest) for key, item in value.items()}
    if isinstance(value, list):
        return [resealed(item, keys, newest) for item in value]
    if not isinstance(value, str) or not is_sealed(value):
        return value

    def anew(opened: Opened) -> str:
        return newest.seal(
            opened.text, opened.field, row=opened.row, with_hash=opened.field == "memory"
        )

    return keys.replaced(value, anew)


def _refused(function: str, hint: str) -> NotAllowedError:
    return NotAllowedError(f"{function} is not possible for an encrypted user", hint=hint)


def has_text(text: Any, what: str) -> TypeGuard[str]:
    """Return whether a value is a text to encrypt; None and an empty one are not.

    Raises:
        InvalidInputError: it is something else.
    """
    if text is not None and not isinstance(text, str):
        raise InvalidInputError(f"{what} is a {type(text).__name__}, not a text")
    return bool(text)


def refuse_long(text: Any, most: int, what: str, hint: str) -> None:
    """Refuse a text that is too long in the words of the database, which counts only bytes of it.

    Raises:
        InvalidInputError: it has more characters.
    """
    if isinstance(text, str) and len(text) > most:
        raise InvalidInputError(f"{what} is {json_text(text)[:80]}", hint=hint)


def refuse_beyond(value: Any, most: int | None, what: str) -> None:
    """Refuse a text, or a value whose JSON is too long, as `recall._check_text` does.

    Raises:
        InvalidInputError: it has more characters.
    """
    if most is None or not value:
        return
    if not isinstance(value, str):
        value = _as_jsonb(value)
    if len(value) > most:
        message = f"{what} has {len(value)} characters, more than {most}"
        raise InvalidInputError(message, hint=_SIZE_HINT)


def refuse_large(value: Any, most: int, items: int | None, what: str) -> None:
    """Refuse a list or an object that is too large, as `refuse_long` does.

    Raises:
        InvalidInputError: its JSON has more characters, or it has more items.
    """
    if value:
        text = _as_jsonb(value)
        if len(text) > most or (items is not None and len(value) > items):
            raise InvalidInputError(f"{what} is {text[:80]}", hint=_LIST_HINT)


def _as_jsonb(value: Any) -> str:
    """Return the JSON of a value as PostgreSQL writes jsonb."""
    return json.dumps(json.loads(json_text(value)), ensure_ascii=False)


_LEFT_OUT = object()
_OF_VECTORS = ("embedding", "embeddings", "embedding_model", "query_embedding")


class Sealer:
    """Encrypts the parts of one call."""

    def __init__(self, sealing: Sealing, context: str = "") -> None:
        self._keys = sealing.keys
        self._context = context
        self._clock = sealing.clock
        self._memory_characters = sealing.memory_characters
        self.message_characters = sealing.message_characters
        self.has_vectors = sealing.has_vectors

    def new_row(self) -> UUID:
        """Return an id for a row, later than those before."""
        return self._clock.new_id()

    def text(self, text: Any, field: str, row: UUID | None = None, what: str = "") -> Any:
        """Encrypt a text, which errors name `what`; None and an empty one stay.

        Raises:
            InvalidInputError: it is something else.
        """
        return self._keys.seal(text, field, row=row) if has_text(text, what or field) else text

    def texts(self, items: Any, field: str, what: str = "") -> Any:
        """Encrypt each text of a list, or a single one."""
        what = what or field
        if isinstance(items, list):
            return [self.text(one, field, what=f"{what}[{n}]") for n, one in enumerate(items)]
        return self.text(items, field, what=what)

    def value(self, value: Any, field: str = "note", row: UUID | None = None) -> str:
        return self._keys.seal(json_text(value), field, row=row)

    def metadata(self, metadata: Any, field: str = "note") -> Any:
        """Encrypt its values: notes; those of a memory, which filters compare, as field value."""
        if not isinstance(metadata, Mapping):
            return metadata
        if field == "note":
            refuse_beyond(metadata, _METADATA_CHARACTERS, "metadata")
        return {
            key: value if key in _PLAIN_KEYS or value is None or isinstance(value, bool)
            else self.value(value, field)
            for key, value in metadata.items()
        }  # fmt: skip

    def candidate(self, candidate: Any, where: str = "p_") -> Any:
        """Encrypt the texts of a candidate, which errors name with `where` in front.

        Raises:
            InvalidInputError: one is too long, or of another type.
        """
        if not isinstance(candidate, Mapping):
            return candidate
        sealed = {k: v for k, v in candidate.items()
                  if self.has_vectors or k not in _OF_VECTORS}  # fmt: skip
        if content := candidate.get("content"):
            if (most := self._memory_characters) is not None:
                hint = f"A text of at most {most} characters with words in it."
                refuse_long(content, most, f"{where}content", hint)
                for key, items in (("tags", _MAX_TAGS), ("metadata", None)):
                    refuse_large(candidate.get(key), 16 * most, items, f"{where}{key}")
            sealed["content"] = self.memory(content, f"{where}content")
            if sealed.get("token_count") is None:
                sealed["token_count"] = count_text_tokens(content, COUNTED_AS)
        refuse_long(sealed.get("slot"), _NAME_CHARACTERS, f"{where}slot", _NAME_HINT)
        if isinstance(sealed.get("tags"), str):
            raise InvalidInputError(f"{where}tags is a text", hint="Pass a list of texts.")
        if "slot" in sealed:
            sealed["slot"] = self.text(sealed["slot"], "slot", what=f"{where}slot")
        if "tags" in sealed:
            sealed["tags"] = self.texts(sealed["tags"], "tag", f"{where}tags")
        if "metadata" in sealed:
            sealed["metadata"] = self.metadata(sealed["metadata"], "value")
        return sealed

    def memory(self, content: Any, what: str = "content") -> Any:
        if not has_text(content, what) or not content.strip():
            return content
        return self._keys.seal(content, "memory", row=self.new_row(), with_hash=True)

    def item(self, item: Any) -> Any:
        if not isinstance(item, Mapping):
            return item
        sealed = {k: v for k, v in item.items() if self.has_vectors or k != "vectors"}
        if sealed.get("value") is not None:
            sealed["value"] = self.value(sealed["value"], "item", item_row(sealed))
        return sealed

    def message(self, message: Any, place: int, what: str = "") -> Any:
        """Encrypt the texts of a message, which errors name `what`, or by its place."""
        what = what or f"messages[{place}]"
        if not isinstance(message, Mapping):
            return message
        if (most := self.message_characters) is not None:
            others = {key: item for key, item in message.items() if key != "content"}
            refuse_beyond(message.get("content"), most, f"{what}.content")
            refuse_beyond(others, most, f"{what} beside its content")
        where = f"{self._context} {place}" if self._context else ""
        row = self._keys.row_of(where) if where else self.new_row()

        def seal(text: Any, field: str, part: str = "") -> Any:
            if not has_text(text, f"{what}.{part or 'content'}"):
                return text
            return self._keys.seal(text, field, row=row, context=f"{where} {part}")

        sealed = {
            key: value if key in _MESSAGE_KEYS or value is None else self.value(value)
            for key, value in message.items()
        }
        if sealed.get("token_count") is None:
            try:
                sealed["token_count"] = count_message_tokens(message, COUNTED_AS)
            except (AttributeError, TypeError):
                raise InvalidInputError(
                    f"{what} is malformed", hint="Its content is a text or a list of parts."
                ) from None
        content = message.get("content")
        if isinstance(content, list) and content:
            shown = [part for part in content if not is_item(part)]
            parts = [{"type": "text", "text": seal(json_text(shown), "parts")}] if shown else []
            sealed["content"] = parts + [
                {"type": "item", "item": seal(json_text(part["item"]), "kept", str(n))}
                for n, part in enumerate(content) if is_item(part)
            ]  # fmt: skip
        elif content not in (None, []):
            sealed["content"] = seal(content, "message")
        if "name" in sealed:
            refuse_beyond(sealed["name"], _NAME_CHARACTERS, f"{what}.name")
            sealed["name"] = self.text(sealed["name"], "name", what=f"{what}.name")
        if "refusal" in sealed:
            sealed["refusal"] = seal(sealed["refusal"], "message", "refusal")
            if sealed["refusal"] and content is not None:
                # the database stores it in metadata, where ciphertexts are notes
                sealed["refusal"] = self.value(message["refusal"])
        if "metadata" in sealed:
            sealed["metadata"] = self.metadata(sealed["metadata"])
        if isinstance(calls := message.get("tool_calls"), list):
            sealed["tool_calls"] = [self._tool_call(one, n, seal) for n, one in enumerate(calls)]
        return sealed

    @staticmethod
    def _tool_call(call: Any, place: int, seal: Callable[[Any, str, str], Any]) -> Any:
        if not isinstance(call, Mapping):
            return call

        def sealed(value: Any, names: Collection[str] = ()) -> Any:
            if isinstance(value, Mapping):
                return {key: item if key in names else sealed(item) for key, item in value.items()}
            if isinstance(value, list):
                return [sealed(item) for item in value]
            return seal(value, "arguments", str(place)) if isinstance(value, str) else value

        named = {key: sealed(call[key], {"name"}) for key in ("function", "custom") if key in call}
        return {**sealed(call, {"id", "type", *named}), **named}

    def filter(self, wanted: Any) -> Any:
        if not isinstance(wanted, Mapping):
            return wanted
        sealed = dict(wanted)
        for key, field in (("slots", "slot"), ("tags_any", "tag"), ("tags_all", "tag")):
            if key in sealed:
                sealed[key] = self.texts(sealed[key], field)
        if "metadata" in sealed:
            sealed["metadata"] = self.metadata(sealed["metadata"], "value")
        return sealed


_Given = dict[str, Any]


def is_item(part: Any) -> bool:
    """Return whether a part of a message is stored for a framework, and never shown."""
    return isinstance(part, Mapping) and part.get("type") == "item" and "item" in part


def item_row(item: Mapping[str, Any]) -> UUID:
    """Return the id that the ciphertext of an item is bound to: of its namespace and key."""
    name = json.dumps([item.get("namespace"), item.get("key")])
    return uuid5(NAMESPACE_OID, name)


def _open_session(sealer: Sealer, given: _Given) -> _Given:
    session_id = given.get("session_id") or new_uuid()
    return _session(sealer, given | {"session_id": session_id}, session_id)


def _session(sealer: Sealer, given: _Given, session_id: UUID) -> _Given:
    sealed = dict(given)
    refuse_beyond(given.get("title"), _TITLE_CHARACTERS, "title")
    if has_text(prompt := given.get("system_prompt"), "system_prompt"):
        refuse_beyond(prompt, sealer.message_characters, "system_prompt")
        if sealed.get("system_prompt_tokens") is None:
            sealed["system_prompt_tokens"] = count_text_tokens(prompt, COUNTED_AS)
        sealed["system_prompt"] = sealer.text(prompt, "prompt")
    if "title" in sealed:
        sealed["title"] = sealer.text(sealed["title"], "title", session_id)
    if "metadata" in sealed:
        sealed["metadata"] = sealer.metadata(sealed["metadata"])
    return sealed


def _update_session(sealer: Sealer, given: _Given) -> _Given:
    return given | {"changes": _session(sealer, given["changes"], given["session_id"])}


def _append(sealer: Sealer, given: _Given) -> _Given:
    messages = [sealer.message(one, place) for place, one in enumerate(given["messages"])]
    return given | {"messages": messages}


def _annotate(sealer: Sealer, given: _Given) -> _Given:
    return given | {"patch": sealer.metadata(given["patch"])}


def _remember(sealer: Sealer, given: _Given) -> _Given:
    """Send empty words instead of a model's quotation: the database can prove nothing by it."""
    if any(given.get(name) is not None for name in ("user_words", "current_message")):
        given = given | {"user_words": "", "current_message": _LEFT_OUT}
    vector = given.get("embedding", _LEFT_OUT) if sealer.has_vectors else _LEFT_OUT
    candidate: _Given = sealer.candidate(given)
    return given | candidate | {"embedding": vector}


def _ingest(sealer: Sealer, given: _Given) -> _Given:
    candidates = [sealer.candidate(one, f"candidates[{place}].")
                  for place, one in enumerate(given["candidates"])]  # fmt: skip
    vectors = given.get("embeddings", _LEFT_OUT) if sealer.has_vectors else _LEFT_OUT
    return given | {"candidates": candidates, "embeddings": vectors}


def _supersede(sealer: Sealer, given: _Given) -> _Given:
    changes = sealer.candidate({**(given.get("changes") or {}), "content": given["content"]})
    return given | {"content": changes.pop("content"), "changes": changes}


def _retract(sealer: Sealer, given: _Given) -> _Given:
    refuse_beyond(given.get("reason"), _REASON_CHARACTERS, "reason")
    return given | {"reason": sealer.text(given.get("reason"), "reason")}


def _dispute(sealer: Sealer, given: _Given) -> _Given:
    """Leave out the user's words: the database cannot compare them with ciphertexts."""
    return _retract(sealer, given) | {
        "content": sealer.memory(given["content"]) if "content" in given else _LEFT_OUT,
        "words": _LEFT_OUT,
        "current_message": _LEFT_OUT,
    }


def _search(sealer: Sealer, given: _Given) -> _Given:
    sealed = _without_query(sealer, given)
    return sealed | {"filter": sealer.filter(given.get("filter", {}))}


def _without_query(sealer: Sealer, given: _Given) -> _Given:
    """Ask by the vector, where there is one: words are compared here."""
    vector = given.get("query_embedding", _LEFT_OUT) if sealer.has_vectors else _LEFT_OUT
    return given | {"query": _LEFT_OUT, "query_embedding": vector}


def _context(sealer: Sealer, given: _Given) -> _Given:
    sealed = _without_query(sealer, given)
    options = given.get("options")
    if isinstance(options, Mapping):
        options = dict(options)
        if "current_message" in options:
            message = options["current_message"]
            if not isinstance(message, Mapping):
                message = {"role": "user", "content": message}
            options["current_message"] = sealer.message(message, 0, "options.current_message")
        if "include_working" in options:
            options["include_working"] = sealer.text(options["include_working"], "task")
        if "filter" in options:
            options["filter"] = sealer.filter(options["filter"])
        sealed["options"] = options
    return sealed


def _working(sealer: Sealer, given: _Given) -> _Given:
    sealed = dict(given)
    for name, field in (("task_id", "task"), ("key", "key")):
        if name in sealed:
            sealed[name] = sealer.text(sealed[name], field)
    if "value" in sealed:
        for name in ("task_id", "key"):
            refuse_long(given.get(name), _NAME_CHARACTERS, f"p_{name}", _NAME_HINT)
        if sealed.get("token_count") is None:
            text = f"{given.get('key')}: {json_text(given['value'])}"
            sealed["token_count"] = count_text_tokens(text, COUNTED_AS)
        sealed["value"] = sealer.value(given["value"], "state", given["session_id"])
    return sealed


def _put_items(sealer: Sealer, given: _Given) -> _Given:
    """Encrypt values; namespaces and keys stay readable, since the database searches by them."""
    return given | {"items": [sealer.item(one) for one in given["items"]]}


def _search_items(sealer: Sealer, given: _Given) -> _Given:
    """Search by namespace only, unless the user was encrypted with vectors."""
    if given.get("filter"):
        raise _refused("a filter over items", "Search by namespace, and filter in the application.")
    if sealer.has_vectors:
        return given
    return {name: value for name, value in given.items() if name not in _OF_VECTORS}


def _enqueue(sealer: Sealer, given: _Given) -> _Given:
    if (given.get("payload") or {}).keys() - {"mode"}:
        raise _refused("a job with a payload of your own", "Keep it in the session's metadata.")
    return given | {"dedupe_key": sealer.text(given.get("dedupe_key"), "key")}


def _phases(given: _Given) -> list[Any]:
    return [{k: v for k, v in span.items() if k != "error"} for span in given.get("phases") or ()]


def _fail(sealer: Sealer, given: _Given) -> _Given:
    error = sealer.text(str(given.get("error"))[:2000], "error")
    return given | {"error": error, "phases": _phases(given)}


def _model_call(sealer: Sealer, given: _Given) -> _Given:
    """Keep numbers and times: bodies and headers say what the user said."""
    bodies = ("request", "response", "request_body", "response_body", "request_headers",
              "response_headers")  # fmt: skip
    sealed: _Given = {key: value for key, value in given.items() if key not in bodies}
    if "error" in sealed:
        sealed["error"] = sealer.text(sealed["error"], "error")
    if "metadata" in sealed:
        sealed["metadata"] = sealer.metadata(sealed["metadata"])
    if isinstance(endpoint := sealed.get("endpoint"), str):
        sealed["endpoint"] = endpoint.partition("?")[0]
    if "usage" in sealed:
        sealed["usage"] = numbers(sealed["usage"])
    return sealed


def numbers(value: Any) -> Any:
    """Return what of a value are numbers, however deep."""
    if isinstance(value, Mapping):
        found = {key: numbers(item) for key, item in value.items()}
        return {key: item for key, item in found.items() if item is not None}
    return value if isinstance(value, (int, float)) else None


def _messages(sealer: Sealer, given: _Given) -> _Given:
    """Ask by the vector; what messages are noted with is compared here, too."""
    wanted = given.get("filter")
    if isinstance(wanted, Mapping):
        given = given | {"filter": {k: v for k, v in wanted.items() if k != "metadata"}}
    return _without_query(sealer, given) | {"query": ""}


def _filtered(sealer: Sealer, given: _Given) -> _Given:
    return given | {"filter": sealer.filter(given["filter"])} if given.get("filter") else given


_RULES: dict[str, Callable[[Sealer, _Given], _Given]] = {
    "open_session": _open_session,
    "update_session": _update_session,
    "append_messages": _append,
    "annotate_message": _annotate,
    "remember": _remember,
    "ingest_memories": _ingest,
    "supersede_memory": _supersede,
    "retract_memory": _retract,
    "dispute_memory": _dispute,
    "search": _search,
    "get_memories": _filtered,
    "list_memories": _filtered,
    "compile_context": _context,
    "explain_context": _context,
    "put_working": _working,
    "get_working": _working,
    "clear_working": _working,
    "put_items": _put_items,
    "get_items": lambda _, given: given,
    "touch_items": lambda _, given: given,
    "list_namespaces": lambda _, given: given,
    "search_items": _search_items,
    "enqueue_job": _enqueue,
    "fail_job": _fail,
    "record_model_call": _model_call,
    "search_messages": _messages,
    "search_sessions": _without_query,
}  # fmt: skip

# Opening

_FIELDS: dict[str, set[str]] = {
    "title": {"title"}, "system_prompt": {"prompt"}, "slot": {"slot"}, "tags": {"tag"},
    "metadata": {"note", "value", "solution"}, "name": {"name"}, "tool_calls": {"arguments"},
    "content_parts": {"parts", "message", "kept"}, "summary": {"summary"},
    "disputed_content": {"memory"},
}  # fmt: skip
_MESSAGE = {"message", "parts", "arguments", "kept"}
_ID_OF = {
    "memory": "memory_id", "title": "session_id", "summary": "session_id", "state": "session_id",
    "item": "item_id",
} | dict.fromkeys(_MESSAGE, "message_id")  # fmt: skip
_IDS = {"memory_id", "message_id", "session_id", "disputed_id"}
# events whose detail may hold the text of a memory that was not stored (release 0.1.0)
_QUOTING = {"duplicate", "merge_refused"}
_JSON = {"note", "value", "state", "item", "kept"}
_ALWAYS_SEALED = {
    "content",
    "disputed_content",
    "title",
    "system_prompt",
    "slot",
    "tags",
    "summary",
}
_QUOTED = re.compile(r'"(sealed:v1:\d+:(?:value|note|state):[A-Za-z0-9_:-]+)"')


class MovedError(ConfigurationError):
    """A text is in another row than the one that it was encrypted for.

    Attributes:
        pair: field, the row that it was encrypted for, the row that holds it.
    """

    def __init__(self, message: str, pair: tuple[str, str, str]) -> None:
        super().__init__(message, hint="It was moved in the database; restore it from a backup.")
        self.pair = pair


class Opener:
    """Opens the texts in the answer of a function, each as what it is and where it belongs.

    Args:
        keys: of the user.
        function: which answered.
        given: its arguments.
        kin: texts that may be in another row than the one they were encrypted for, such as that of
            a restored memory.

    Raises:
        ConfigurationError: a text does not open here, was moved, or is readable.
    """

    def __init__(
        self,
        keys: UserKeys,
        function: str,
        given: Mapping[str, Any],
        kin: Collection[tuple[str, str, str]] = (),
    ) -> None:
        self._keys = keys
        self._function = function
        self._kin = kin
        session_id = given.get("session_id")
        self._ids = {} if session_id is None else {"session_id": str(session_id)}
        self._seen: list[Opened] = []  # all that was opened, in order

    def row(self, columns: Sequence[str], row: Sequence[Any]) -> tuple[Any, ...]:
        """Return a row of the answer with its texts readable."""
        if self._function == "compile_context" and isinstance(row[0], Mapping):
            return (self._context(row[0]),)
        named = dict(zip(columns, row, strict=True))
        if self._function in ("get_items", "search_items"):
            opened = named | {"value": self._item(named)}
        else:
            opened = self._mapping(named, None, self._ids)
        return tuple(opened[name] for name in columns)

    def _item(self, item: Mapping[str, Any]) -> Any:
        value, ids = item["value"], {"item_id": str(item_row(item))}
        if not (isinstance(value, str) and is_token(value)):
            raise ConfigurationError(
                f"the item {item['key']} of the encrypted user {self._keys.user_id} is no "
                "ciphertext",
                hint="It was written in the database by somebody without the key.",
            )
        return json.loads(self._open(value, {"item"}, "value", ids))

    def _value(self, value: Any, name: str | None, ids: Mapping[str, str]) -> Any:
        if isinstance(value, str):
            return self._text(value, name, ids)
        if isinstance(value, Mapping):
            return self._mapping(value, name, ids)
        if isinstance(value, (list, tuple)):
            if any(map(is_item, value[-1:])):  # items stand behind the text
                *first, last = value
                return [*self._value(first, name, ids), self._mapping(last, name, ids)]
            if len(value) == 1 and isinstance(value[0], Mapping) and value[0].get("type") == "text":
                text = value[0].get("text")
                if isinstance(text, str) and ":parts:" in text and is_token(text):
                    return json.loads(
                        self._open(text, {"parts"}, "content_parts", ids, lambda one: one.text)
                    )
            return [self._value(item, name, ids) for item in value]
        return value

    def _mapping(
        self, value: Mapping[str, Any], name: str | None, ids: Mapping[str, str]
    ) -> dict[str, Any]:
        own = {key: str(value[key]) for key in _IDS & value.keys() if value[key] is not None}
        within = {**ids, **own} if own else ids
        quoted = within
        if value.get("event") in _QUOTING:
            quoted = {key: one for key, one in within.items() if key != "memory_id"}
        nested = name if name in _FIELDS else None
        return {
            self._text(key, None, within): self._value(
                item, key if key in _FIELDS or key == "content" else nested,
                quoted if key == "detail" else within,
            )
            for key, item in value.items()
        }  # fmt: skip

    def _text(self, text: str, name: str | None, ids: Mapping[str, str]) -> Any:
        if not text:
            return text
        if is_token(text):
            fields = _content_fields(ids) if name == "content" else _FIELDS.get(name or "")
            opened = self._open(text, fields, name, ids)
            return json.loads(opened) if text.split(":", 4)[3] in _JSON else opened
        if is_damaged(text) or name in _ALWAYS_SEALED:
            raise ConfigurationError(
                f"a text of the encrypted user {self._keys.user_id}{self._where(name, ids)} is "
                "damaged, or was written by somebody without the key",
                hint="Something was changed in the database; restore it from a backup.",
            )
        return self._open(text, None, name, ids) if is_sealed(text) else text

    def _open(
        self,
        text: str,
        fields: Collection[str] | None,
        name: str | None,
        ids: Mapping[str, str],
        made: Callable[[Opened], str] | None = None,
    ) -> str:
        id_name = "disputed_id" if name == "disputed_content" else None

        def shown(opened: Opened) -> str:
            self._seen.append(opened)
            expected = ids.get(id_name or _ID_OF.get(opened.field, ""))
            if expected is not None and opened.row is not None and str(opened.row) != expected:
                pair = (opened.field, str(opened.row), expected)
                if pair not in self._kin:
                    raise MovedError(
                        f"a ciphertext of user {self._keys.user_id}{self._where(name, ids)} was "
                        f"sealed for {opened.row}", pair,
                    )  # fmt: skip
            return readable(opened) if made is None else made(opened)

        return self._keys.replaced(text, shown, fields, self._where(name, ids))

    def _where(self, name: str | None, ids: Mapping[str, str]) -> str:
        place = ", ".join(f"{key} {ids[key]}" for key in sorted(ids))
        return f" ({self._function}: {name or 'a text'}{', ' if place else ''}{place})"

    def _context(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Open a compiled context; what it says that it holds must be there, in its order."""
        history: list[str] = []
        messages = []
        for message in value.get("messages") or ():
            before = len(self._seen)
            messages.append(self._context_message(message))
            said = [one for one in self._seen[before:] if one.field in _MESSAGE]
            history += [str(one.row) for one in said[:1]]
        self._check_memories([str(one["id"]) for one in value.get("memories") or ()])
        has_prompt = (value.get("budget") or {}).get("system", 0) > 0
        if has_prompt and not any(one.field == "prompt" for one in self._seen):
            raise self._foreign("the system prompt")
        reach = dict(value.get("history") or {})
        order = {str(row): place for place, row in enumerate(reach.pop("message_ids", None) or ())}
        places = [order[row] for row in history if row in order]
        if any(later <= place for place, later in pairwise(places)):
            raise ConfigurationError(
                f"the messages in a context of the encrypted user {self._keys.user_id} (session_id "
                f"{self._ids.get('session_id')}) are not in the order in which they were said",
                hint="Some were moved in the database; restore them from a backup.",
            )
        return {**value, "messages": messages, "history": reach}

    def _check_memories(self, wanted: Sequence[str]) -> None:
        """Refuse memories that are not those which the context names."""
        shown = {str(one.row) for one in self._seen if one.field == "memory"}
        for row in shown - {*wanted}:
            follow = {place for field, found, place in self._kin
                      if (field, found) == ("memory", row)}  # fmt: skip
            if follow.isdisjoint(wanted):
                raise MovedError(
                    f"a memory in a context of the encrypted user {self._keys.user_id} was "
                    f"encrypted as memory_id {row}", ("memory", row, ",".join(wanted)),
                )  # fmt: skip
            shown |= follow
        if missing := {*wanted} - shown:
            raise self._foreign(f"memory_id {min(missing)}")

    def _foreign(self, what: str) -> ConfigurationError:
        return ConfigurationError(
            f"{what} in a context of the encrypted user {self._keys.user_id} is no ciphertext",
            hint="It was written in the database by somebody without the key.",
        )

    def _context_message(self, message: Mapping[str, Any]) -> dict[str, Any]:
        content = message.get("content")
        if (
            message.get("role") != "system"
            or not isinstance(content, str)
            or (":message:" in content and is_token(content))
        ):
            return self._mapping(message, None, self._ids)
        # blocks of ours: what is opened in them is data, on one line, with nothing that could act
        if is_damaged(content):
            self._text(content, "a block", self._ids)
        unquoted = _QUOTED.sub(r"\1", content)
        return {**message, "content": self._open(unquoted, None, "a block", self._ids, _harmless)}


def _content_fields(ids: Mapping[str, str]) -> Collection[str]:
    """Return what a content may be: of a message, a memory, or what has no id of its own."""
    if "message_id" in ids:
        return ("message", "parts")
    return (
        ("memory",) if "memory_id" in ids else ("message", "parts", "memory", "summary", "prompt")
    )


def readable(opened: Opened) -> str:
    """Return an opened text as people read it: of a list of parts, the texts."""
    return content_text(json.loads(opened.text)) if opened.field == "parts" else opened.text


def _harmless(opened: Opened) -> str:
    """Return a text as it may stand in a prompt; the system prompt is the application's."""
    return opened.text if opened.field == "prompt" else plain_text(readable(opened))


def message_digest(message: Mapping[str, Any]) -> bytes:
    """Return a hash of a message's content, to compare decrypted messages with a caller's."""
    content = message.get("content")
    if content is None and message.get("refusal") is not None:
        content = [{"type": "refusal", "refusal": message["refusal"]}]  # as the database stores it
    said: Sequence[Any] = [
        message.get("role"), content or None, message.get("tool_calls") or None,
        message.get("tool_call_id"),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).digest()
