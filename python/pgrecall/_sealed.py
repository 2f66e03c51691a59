"""What is encrypted of a call, and opened of its answer, for a sealed user.

One rule a function: a function that takes texts and has none is refused, so that nothing of a
sealed user leaves this process readable by oversight. The database refuses readable texts, too.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from psycopg.types.json import Jsonb

from pgrecall._calls import Call, json_text
from pgrecall.errors import NotAllowedError
from pgrecall.messages import content_text
from pgrecall.rows import SearchHit
from pgrecall.sealing import UserKeys, is_sealed
from pgrecall.tokens import count_message_tokens, count_text_tokens

__all__ = ["has_sealed", "message_digest", "opened_value", "ranked_by_words",
           "sealed_call"]  # fmt: skip

_COUNTED_AS = "o200k_base"  # tokens of what the database cannot count any more
_PLAIN_KEYS = {"extraction", "response_model"}  # of metadata: the database acts on them
_MESSAGE_KEYS = {"role", "content", "name", "tool_calls", "tool_call_id", "token_count",
                 "created_at", "model_id", "finish_reason", "latency_ms", "model_call_id",
                 "metadata", "refusal"}  # fmt: skip
_AS_IS = {"list_sessions", "configure_user", "seal_user", "rewrap_user_key", "resolve_dispute",
          "extend_lease", "retry_dead_jobs", "ensure_user", "user_id", "health"}  # fmt: skip
_NOT_IN_LEDGER = "Of a sealed user the ledger keeps numbers and times of calls only."
_NOT_POSSIBLE = {
    "record_stream_events": _NOT_IN_LEDGER,
    "record_protocol_event": _NOT_IN_LEDGER,
    "search_messages": "Read them by messages(), which opens them.",
    "search_sessions": "Without a query it lists the last active ones.",
}


def sealed_call(call: Call, keys: UserKeys) -> Call:
    """Return the call with every text encrypted.

    Raises:
        NotAllowedError: this cannot be done for a sealed user.
    """
    rule = _RULES.get(call.function)
    given = {name: value.obj if isinstance(value, Jsonb) else value
             for name, value in call.parameters.items()}  # fmt: skip
    if rule is None:
        has_texts = any(isinstance(value, (str, dict, list)) for value in given.values())
        if call.function in _AS_IS or not has_texts:
            return call
        hint = "This driver does not know what of it is to be encrypted."
        raise _refused(call.function, _NOT_POSSIBLE.get(call.function, hint))
    sealed = rule(_Sealer(keys, str(given.get("request_id") or "")), given)
    return call.having({name: value for name, value in sealed.items() if value is not _LEFT_OUT})


def _refused(function: str, hint: str) -> NotAllowedError:
    return NotAllowedError(f"{function} is not possible for a sealed user", hint=hint)


_LEFT_OUT = object()


class _Sealer:
    """Encrypts the parts of one call."""

    def __init__(self, keys: UserKeys, context: str) -> None:
        self._keys = keys
        self._context = context

    def text(self, text: Any, field: str) -> Any:
        """Encrypt a text; anything else is left for the database to judge."""
        return self._keys.seal(text, field) if isinstance(text, str) and text else text

    def texts(self, items: Any, field: str) -> Any:
        if not isinstance(items, (list, tuple)):
            return items
        return [self.text(item, field) for item in items]

    def value(self, value: Any) -> str:
        return self._keys.seal(json_text(value), "value")

    def metadata(self, metadata: Any) -> Any:
        if not isinstance(metadata, Mapping):
            return metadata
        return {
            key: value if key in _PLAIN_KEYS or value is None or isinstance(value, bool)
            else self.value(value)
            for key, value in metadata.items()
        }  # fmt: skip

    def candidate(self, candidate: Any) -> Any:
        if not isinstance(candidate, Mapping):
            return candidate
        content = candidate.get("content")
        sealed = {k: v for k, v in candidate.items() if k not in ("embedding", "embedding_model")}
        if isinstance(content, str) and content:
            if sealed.get("token_count") is None:
                sealed["token_count"] = count_text_tokens(content, _COUNTED_AS)
            sealed["content"] = self.memory(content)
        for key, made in (("slot", self.text), ("tags", self.texts)):
            if key in sealed:
                sealed[key] = made(sealed[key], key.removesuffix("s"))
        if "metadata" in sealed:
            sealed["metadata"] = self.metadata(sealed["metadata"])
        return sealed

    def memory(self, content: Any) -> Any:
        if not isinstance(content, str) or not content.strip():
            return content
        return self._keys.seal(content, "memory", with_hash=True)

    def message(self, message: Any, place: int) -> Any:
        if not isinstance(message, Mapping):
            return message
        where = f"{self._context} {place}" if self._context else ""

        def seal(text: Any, field: str, part: str = "") -> Any:
            if not isinstance(text, str) or not text:
                return text
            return self._keys.seal(text, field, context=where and f"{where} {part}")

        sealed = {
            key: value if key in _MESSAGE_KEYS or value is None else self.value(value)
            for key, value in message.items()
        }
        if sealed.get("token_count") is None:
            sealed["token_count"] = count_message_tokens(message, _COUNTED_AS)
        content = message.get("content")
        if isinstance(content, (list, tuple)) and content:
            parts = seal(json_text(content), "parts")
            sealed["content"] = [{"type": "text", "text": parts}]
        elif isinstance(content, str):
            sealed["content"] = seal(content, "message")
        if "name" in sealed:
            sealed["name"] = self.text(sealed["name"], "name")
        if "refusal" in sealed:
            sealed["refusal"] = seal(sealed["refusal"], "message", "refusal")
        if "metadata" in sealed:
            sealed["metadata"] = self.metadata(sealed["metadata"])
        if isinstance(calls := message.get("tool_calls"), (list, tuple)):
            sealed["tool_calls"] = [self._tool_call(one, n, seal) for n, one in enumerate(calls)]
        return sealed

    @staticmethod
    def _tool_call(call: Any, place: int, seal: Callable[[Any, str, str], Any]) -> Any:
        if not isinstance(call, Mapping):
            return call
        sealed = dict(call)
        for kind, long in (("function", "arguments"), ("custom", "input")):
            if isinstance(body := call.get(kind), Mapping):
                sealed[kind] = {**body, long: seal(body.get(long), "arguments", str(place))}
        return sealed

    def filter(self, wanted: Any) -> Any:
        if not isinstance(wanted, Mapping):
            return wanted
        sealed = dict(wanted)
        for key, field in (("slots", "slot"), ("tags_any", "tag"), ("tags_all", "tag")):
            if key in sealed:
                sealed[key] = self.texts(sealed[key], field)
        if "metadata" in sealed:
            sealed["metadata"] = self.metadata(sealed["metadata"])
        return sealed


_Given = dict[str, Any]


def _open_session(sealer: _Sealer, given: _Given) -> _Given:
    metadata = given.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("extraction") == "verbatim":
        raise _refused("verbatim extraction", "The database cannot read: llm, or none.")
    return _session(sealer, given)


def _session(sealer: _Sealer, given: _Given) -> _Given:
    sealed = dict(given)
    prompt = given.get("system_prompt")
    if isinstance(prompt, str) and prompt:
        if sealed.get("system_prompt_tokens") is None:
            sealed["system_prompt_tokens"] = count_text_tokens(prompt, _COUNTED_AS)
        sealed["system_prompt"] = sealer.text(prompt, "prompt")
    if "title" in sealed:
        sealed["title"] = sealer.text(sealed["title"], "title")
    if "metadata" in sealed:
        sealed["metadata"] = sealer.metadata(sealed["metadata"])
    return sealed


def _update_session(sealer: _Sealer, given: _Given) -> _Given:
    return given | {"changes": _open_session(sealer, given["changes"])}


def _append(sealer: _Sealer, given: _Given) -> _Given:
    messages = [sealer.message(one, place) for place, one in enumerate(given["messages"])]
    return given | {"messages": messages}


def _annotate(sealer: _Sealer, given: _Given) -> _Given:
    return given | {"patch": sealer.metadata(given["patch"])}


def _remember(sealer: _Sealer, given: _Given) -> _Given:
    candidate: _Given = sealer.candidate(given)
    return given | candidate | {"embedding": _LEFT_OUT}


def _ingest(sealer: _Sealer, given: _Given) -> _Given:
    candidates = [sealer.candidate(one) for one in given["candidates"]]
    return given | {"candidates": candidates, "embeddings": _LEFT_OUT}


def _supersede(sealer: _Sealer, given: _Given) -> _Given:
    changes = sealer.candidate({**(given.get("changes") or {}), "content": given["content"]})
    return given | {"content": changes.pop("content"), "changes": changes}


def _retract(sealer: _Sealer, given: _Given) -> _Given:
    return given | {"reason": sealer.text(given.get("reason"), "reason")}


def _search(sealer: _Sealer, given: _Given) -> _Given:
    sealed = given | {"query": _LEFT_OUT, "query_embedding": _LEFT_OUT}
    return sealed | {"filter": sealer.filter(given.get("filter", {}))}


def _context(sealer: _Sealer, given: _Given) -> _Given:
    sealed = given | {"query": _LEFT_OUT, "query_embedding": _LEFT_OUT}
    options = given.get("options")
    if isinstance(options, Mapping):
        options = dict(options)
        if "current_message" in options:
            message = options["current_message"]
            if not isinstance(message, Mapping):
                message = {"role": "user", "content": message}
            options["current_message"] = sealer.message(message, 0)
        if "include_working" in options:
            options["include_working"] = sealer.text(options["include_working"], "task")
        if "filter" in options:
            options["filter"] = sealer.filter(options["filter"])
        sealed["options"] = options
    return sealed


def _working(sealer: _Sealer, given: _Given) -> _Given:
    sealed = dict(given)
    for name, field in (("task_id", "task"), ("key", "key")):
        if name in sealed:
            sealed[name] = sealer.text(sealed[name], field)
    if "value" in sealed:
        if sealed.get("token_count") is None:
            text = f"{given.get('key')}: {json_text(given['value'])}"
            sealed["token_count"] = count_text_tokens(text, _COUNTED_AS)
        sealed["value"] = sealer.value(given["value"])
    return sealed


def _enqueue(sealer: _Sealer, given: _Given) -> _Given:
    if (given.get("payload") or {}).keys() - {"mode"}:
        raise _refused("a job with a payload of your own", "Keep it in the session's metadata.")
    return given | {"dedupe_key": sealer.text(given.get("dedupe_key"), "key")}


def _phases(given: _Given) -> list[Any]:
    return [{k: v for k, v in span.items() if k != "error"} for span in given.get("phases") or ()]


def _fail(sealer: _Sealer, given: _Given) -> _Given:
    error = sealer.text(str(given.get("error"))[:2000], "error")
    return given | {"error": error, "phases": _phases(given)}


def _finish(sealer: _Sealer, given: _Given) -> _Given:
    result = {k: v for k, v in (given.get("result") or {}).items()
              if k not in ("embedding", "embeddings", "embedding_model")}  # fmt: skip
    for key in ("messages", "memories", "summaries"):  # of an embed job
        if key in result:
            result[key] = []
    for key in ("candidates", "episodes", "merges"):
        if key in result:
            result[key] = [sealer.candidate(one) for one in result[key]]
    for one in result.get("merges", ()):
        one.pop("token_count", None)
    if "solutions" in result:
        raise _refused("a pattern", "Patterns need vectors.")
    content = result.get("content")
    if isinstance(content, str) and content:
        if result.get("token_count") is None:
            result["token_count"] = count_text_tokens(content, _COUNTED_AS)
        result["content"] = sealer.text(content, "summary")
    return given | {"result": result, "phases": _phases(given)}


def _model_call(sealer: _Sealer, given: _Given) -> _Given:
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
        sealed["usage"] = _numbers(sealed["usage"])
    return sealed


def _numbers(value: Any) -> Any:
    """Return what of a value are numbers, however deep."""
    if isinstance(value, Mapping):
        found = {key: _numbers(item) for key, item in value.items()}
        return {key: item for key, item in found.items() if item is not None}
    return value if isinstance(value, (int, float)) else None


def _only_without_query(function: str) -> Callable[[_Sealer, _Given], _Given]:
    def rule(_: _Sealer, given: _Given) -> _Given:
        if given.get("query"):
            raise _refused(f"{function} by a query", _NOT_POSSIBLE[function])
        return given | {"query_embedding": _LEFT_OUT}

    return rule


_RULES: dict[str, Callable[[_Sealer, _Given], _Given]] = {
    "open_session": _open_session,
    "update_session": _update_session,
    "append_messages": _append,
    "annotate_message": _annotate,
    "remember": _remember,
    "ingest_memories": _ingest,
    "supersede_memory": _supersede,
    "retract_memory": _retract,
    "search": _search,
    "get_memories": lambda sealer, given: given | {"filter": sealer.filter(given.get("filter"))}
    if given.get("filter") else given,
    "compile_context": _context,
    "explain_context": _context,
    "put_working": _working,
    "get_working": _working,
    "clear_working": _working,
    "enqueue_job": _enqueue,
    "fail_job": _fail,
    "finish_job": _finish,
    "consolidation_input": _ingest,
    "record_model_call": _model_call,
    "search_messages": _only_without_query("search_messages"),
    "search_sessions": _only_without_query("search_sessions"),
}  # fmt: skip

# Opening

_MEMORIES = {"search", "get_memories", "get_memory", "memory_chain", "memories_to_review",
             "list_disputes", "explain_context"}  # fmt: skip
_COLUMNS = {
    "title": {"title"}, "system_prompt": {"prompt"}, "slot": {"slot"}, "tags": {"tag"},
    "metadata": {"value"}, "name": {"name"}, "tool_calls": {"arguments"},
    "content_parts": {"parts", "message"}, "summary": {"summary"},
}  # fmt: skip
_QUOTED = re.compile(r'"(sealed:v1:value:[A-Za-z0-9_:-]+)"')
_ODD = re.compile("[\u0001-\u001f\u007f-\u009f\u2028\u2029]+")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_DELIMITER = re.compile(r"<(\s*/?\s*(memories|working_memory|summary|recalled))", re.IGNORECASE)


def has_sealed(value: Any) -> bool:
    """Return whether there is a ciphertext anywhere in a value.

    Every answer of the database passes here, so it is a loop: a call for each value took a third
    of the time of reading fifty messages.
    """
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if is_sealed(value):
                return True
        elif isinstance(value, dict):
            waiting.extend(value)
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple)):
            waiting.extend(value)
    return False


def opened_value(function: str, column: str, value: Any, keys: UserKeys) -> Any:
    """Return a column of a function's answer with its ciphertexts opened, each as what it is.

    Raises:
        ConfigurationError: one does not open here.
    """
    if function == "compile_context" and isinstance(value, Mapping):
        messages = [_context_message(message, keys) for message in value.get("messages") or ()]
        return {**value, "messages": messages}
    fields: Collection[str] | None = _COLUMNS.get(column)
    if column == "content" and function in _MEMORIES:
        fields = {"memory"}
    elif column == "content" and function == "get_messages":
        fields = {"message"}
    return _opened(value, keys, fields)


def _opened(value: Any, keys: UserKeys, fields: Collection[str] | None) -> Any:
    if isinstance(value, str):
        return _opened_text(value, keys, fields) if is_sealed(value) else value
    if isinstance(value, Mapping):
        return {
            _opened(key, keys, fields): _opened(item, keys, fields) for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        if len(value) == 1 and isinstance(value[0], Mapping) and value[0].get("type") == "text":
            text = value[0].get("text")
            if isinstance(text, str) and text.startswith("sealed:v1:parts:"):
                return json.loads(keys.open(text, fields))
        return [_opened(item, keys, fields) for item in value]
    return value


def _opened_text(text: str, keys: UserKeys, fields: Collection[str] | None) -> Any:
    if re.fullmatch(r"sealed:v1:value:[A-Za-z0-9_:-]+", text):
        return json.loads(keys.open(text, fields))

    def shown(field: str, opened: str) -> str:
        return content_text(json.loads(opened)) if field == "parts" else opened

    return keys.replaced(text, shown, fields)


def _context_message(message: Mapping[str, Any], keys: UserKeys) -> Mapping[str, Any]:
    content = message.get("content")
    if message.get("role") != "system" or not isinstance(content, str):
        return dict(_opened(message, keys, {"message", "parts", "name", "arguments"}))
    if content.startswith("sealed:v1:message:") and "\n" not in content:
        return {**message, "content": keys.open(content, {"message"})}
    # blocks of ours: what is opened in them is data, on one line, with nothing that could act
    unquoted = _QUOTED.sub(r"\1", content)
    return {**message, "content": keys.replaced(unquoted, _harmless)}


def _harmless(field: str, text: str) -> str:
    """Return a text as `recall._plain_text` makes it; the system prompt is the application's."""
    if field == "prompt":
        return text
    return _DELIMITER.sub(r"&lt;\1", _INVISIBLE.sub("", _ODD.sub(" ", text)))


def message_digest(message: Mapping[str, Any]) -> bytes:
    """Return a hash of what a message says, to compare opened ones with a caller's."""
    said: Sequence[Any] = [
        message.get("role"), message.get("content"), message.get("tool_calls") or None,
        message.get("tool_call_id"),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).digest()


def ranked_by_words(hits: Sequence[SearchHit], query: str) -> list[SearchHit]:
    """Return the hits that share the most words with a query first, the rarer the word the better.

    `lexical` becomes that share (0 to 1), and half of the score.
    """
    asked = set(_words(query))
    known = [set(_words(hit.content)) for hit in hits]
    weights = {
        word: math.log(1 + len(hits) / sum(word in words for words in known))
        for word in asked
        if any(word in words for words in known)
    }
    whole = sum(weights.values()) + sum(math.log(1 + len(hits)) for _ in asked - weights.keys())
    made = [
        replace(hit, lexical=share, score=0.5 * share + 0.5 * hit.score)
        for hit, words in zip(hits, known, strict=True)
        for share in [sum(weights[word] for word in asked & words) / (whole or 1.0)]
    ]
    return sorted(made, key=lambda hit: -hit.score)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
