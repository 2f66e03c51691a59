"""An OpenAI-compatible server over real HTTP whose answers a test writes beforehand."""

from __future__ import annotations

import json
import re
import sys
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pgrecall.models import count_message_tokens
from support.fakes import WordEmbedder
from support.servers import DIMENSIONS


@dataclass(frozen=True)
class Refusal:
    """The model declines."""

    text: str = "I cannot help with that."


@dataclass(frozen=True)
class Cut:
    """The answer ends at max_tokens."""

    text: str


@dataclass(frozen=True)
class Filtered:
    """A content filter stops the answer."""

    text: str = ""


@dataclass(frozen=True)
class Status:
    """An HTTP error; the client is told to come back at once."""

    code: int
    message: str = "scripted"


@dataclass(frozen=True)
class Raw:
    """A body as it stands, with status 200."""

    body: str
    content_type: str = "application/json"


@dataclass(frozen=True)
class Hang:
    """No answer before the client has lost patience."""

    seconds: float = 30.0


@dataclass(frozen=True)
class Calls:
    """The model calls tools: a name and arguments each, which are JSON or a text as it stands."""

    calls: tuple[tuple[str, dict[str, Any] | str], ...]
    text: str | None = None
    ids: tuple[str, ...] | None = None

    def message(self) -> dict[str, Any]:
        ids = self.ids or tuple(f"call_{uuid.uuid4().hex[:12]}" for _ in self.calls)
        return {
            "content": self.text,
            "tool_calls": [
                {
                    "id": call_id,
                    "type": "function",
                    "function": {
                        "name": name,
                        "arguments": given if isinstance(given, str) else json.dumps(given),
                    },
                }
                for call_id, (name, given) in zip(ids, self.calls, strict=True)
            ],
        }


def calls(*named: tuple[str, dict[str, Any] | str], **more: Any) -> Calls:
    """Calls of tools: `calls(("remember", {"content": …}))`."""
    return Calls(named, **more)


@dataclass(frozen=True)
class Broken:
    """A stream whose connection breaks after this text."""

    text: str


@dataclass(frozen=True)
class Unfinished:
    """A stream that ends after this text, without a finish_reason."""

    text: str


Request = dict[str, Any]
# a dict is an answer in JSON, a str is the text itself
Scripted = (
    dict[str, Any]
    | str
    | Refusal
    | Cut
    | Filtered
    | Status
    | Raw
    | Hang
    | Calls
    | Broken
    | Unfinished
)
Responder = Callable[[Request], Scripted]


NO_COMPLETIONS = {
    "a page": Raw("<html>Welcome</html>", "text/html"),
    "an error": Raw('{"error": {"message": "Unexpected endpoint"}}'),
    "an empty object": Raw("{}"),
    "null": Raw("null"),
    "half of it": Raw('{"choices": [{"ind'),
    "no choice": Raw('{"object": "chat.completion", "choices": []}'),
    "no message": Raw('{"object": "chat.completion", "choices": [{"index": 0}]}'),
}
"""What endpoints answer with status 200, and is no completion."""


NO_USAGES: tuple[Any, ...] = (
    None, {}, [12], {"prompt_tokens": "12"}, {"prompt_tokens": -1, "completion_tokens": 2},
    {"prompt_tokens": 10**12},
)  # fmt: skip
"""What endpoints answer for usage, and is none."""


@dataclass
class ScriptedOpenAI:
    """The server's script and what it was asked.

    Attributes:
        base_url: of the API.
        respond: answers when nothing is scripted.
        formats: the response formats that it takes; others are answered by 400.
        window: tokens of prompt and answer together, beyond which it answers 400; None is no end.
        refused_parameters: those that are answered by 400.
        usage: tokens in every answer.
        watch: called with every request before it is answered; it may wait.
        dimensions: of the vectors.
        chats: the bodies of all requests for a chat completion, refused ones included.
        embeddings: the same for embeddings.
    """

    base_url: str = ""
    respond: Responder | None = None
    formats: tuple[str, ...] = ("json_schema", "json_object", "text")
    window: int | None = None
    refused_parameters: tuple[str, ...] = ()
    usage: Any = field(
        default_factory=lambda: {
            "prompt_tokens": 1000,
            "completion_tokens": 100,
            "total_tokens": 1100,
            "prompt_tokens_details": {"cached_tokens": 400},
        }
    )
    watch: Callable[[Request], object] | None = None
    dimensions: int = DIMENSIONS
    chats: list[Request] = field(default_factory=list)
    embeddings: list[Request] = field(default_factory=list)
    scripted: deque[Scripted | Responder] = field(default_factory=deque)
    stopped: threading.Event = field(default_factory=threading.Event)

    def then(self, *answers: Scripted | Responder) -> None:
        """Answer the next requests for a chat completion so."""
        self.scripted.extend(answers)

    def forget(self) -> None:
        """Forget what was asked."""
        self.chats.clear()
        self.embeddings.clear()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that went away
            super().handle_error(request, client_address)


@contextmanager
def scripted_openai(**script: Any) -> Iterator[ScriptedOpenAI]:
    """Run one on a port of its own."""
    openai = ScriptedOpenAI(**script)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:  # noqa: ARG002
            return

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if openai.watch is not None:
                openai.watch(body)
            try:
                if self.path.endswith("/embeddings"):
                    with lock:
                        openai.embeddings.append(body)
                    self._send(200, _vectors(body, openai.dimensions))
                else:
                    self._chat(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _chat(self, body: Request) -> None:
            with lock:
                openai.chats.append(body)
                problem = _refused(openai, body)
                answer: Any = None
                if problem is None:
                    answer = openai.scripted.popleft() if openai.scripted else openai.respond
            if problem is not None:
                answer = Status(400, problem)
            if callable(answer):
                answer = answer(body)
            if answer is None:
                answer = Status(500, "nothing is scripted")
            if isinstance(answer, Hang):
                openai.stopped.wait(answer.seconds)
                self.close_connection = True
                return
            if isinstance(answer, Status):
                self._send(answer.code, {"error": {"message": answer.message, "type": "scripted"}})
                return
            if isinstance(answer, Raw):
                self._send(200, answer.body, answer.content_type)
                return
            completion = _completion(openai, body["model"], answer)
            if body.get("stream"):
                self._stream(completion, body, answer)
            else:
                self._send(200, completion)

        def _stream(self, completion: dict[str, Any], body: Request, answer: Scripted) -> None:
            """Send it in pieces, as server-sent events in HTTP chunks."""
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for chunk in _chunks(completion, body, is_whole=not isinstance(answer, Unfinished)):
                if isinstance(answer, Broken) and chunk["choices"][0]["finish_reason"]:
                    self.wfile.flush()
                    self.close_connection = True  # in the middle of the body
                    return
                self._event(json.dumps(chunk))
            self._event("[DONE]")
            self.wfile.write(b"0\r\n\r\n")

        def _event(self, data: str) -> None:
            event = f"data: {data}\n\n".encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            self.wfile.flush()

        def _send(
            self, status: int, body: dict[str, Any] | str, content_type: str = "application/json"
        ) -> None:
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(data)))
            if status >= 400:
                self.send_header("retry-after-ms", "5")
            self.end_headers()
            self.wfile.write(data)

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    openai.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield openai
    finally:
        openai.stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()


def needed_tokens(body: Request) -> int:
    """Return what prompt and answer of a request need."""
    prompt = sum(4 + count_message_tokens(message, "o200k_base") for message in body["messages"])
    return prompt + int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)


def _refused(openai: ScriptedOpenAI, body: Request) -> str | None:
    for name in openai.refused_parameters:
        if name in body:
            instead = "; use 'max_completion_tokens' instead" if name == "max_tokens" else ""
            return f"Unsupported parameter: '{name}' is not supported with this model{instead}"
    if openai.window is not None and (wanted_tokens := needed_tokens(body)) > openai.window:
        return (
            f"This model's maximum context length is {openai.window} tokens. However, you "
            f"requested {wanted_tokens} tokens. Please reduce the length of the messages."
        )
    wanted = body.get("response_format", {"type": "text"})["type"]
    if wanted not in openai.formats:
        return f"response_format {wanted} is not available"
    return None


def _completion(openai: ScriptedOpenAI, model: str, answer: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    finish = "stop"
    if isinstance(answer, Refusal):
        message["refusal"] = answer.text
    elif isinstance(answer, Cut):
        message["content"], finish = answer.text, "length"
    elif isinstance(answer, Filtered):
        message["content"], finish = answer.text, "content_filter"
    elif isinstance(answer, Calls):
        message, finish = message | answer.message(), "tool_calls"
    elif isinstance(answer, (Broken, Unfinished)):
        message["content"] = answer.text
    else:
        message["content"] = answer if isinstance(answer, str) else json.dumps(answer)
    completion = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
    }
    return completion | ({} if openai.usage is None else {"usage": openai.usage})


def _chunks(
    completion: dict[str, Any], body: Request, *, is_whole: bool
) -> Iterator[dict[str, Any]]:
    """A completion as the chunks of its stream: words, calls in pieces, the end, usage."""
    choice = completion["choices"][0]
    message = choice["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for key in ("content", "refusal"):
        deltas += [{key: word} for word in re.findall(r"\S+\s*|\s+", message[key] or "")]
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        deltas.append({"tool_calls": [
            {**call, "index": index, "function": {**function, "arguments": ""}}
        ]})  # fmt: skip
        for place in range(0, len(function["arguments"]), 10):
            piece = {"arguments": function["arguments"][place : place + 10]}
            deltas.append({"tool_calls": [{"index": index, "function": piece}]})
    ends: list[str | None] = [None] * len(deltas)
    if is_whole:
        deltas.append({})
        ends.append(choice["finish_reason"])
    frame = {key: completion[key] for key in ("id", "created", "model")}
    frame["object"] = "chat.completion.chunk"
    for delta, end in zip(deltas, ends, strict=True):
        yield {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
    wants_usage = (body.get("stream_options") or {}).get("include_usage")
    if wants_usage and is_whole and "usage" in completion:
        yield {**frame, "choices": [], "usage": completion["usage"]}


def _vectors(body: Request, dimensions: int) -> dict[str, Any]:
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    return {
        "object": "list",
        "model": body["model"],
        "data": [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(WordEmbedder(dimensions=dimensions).embed(texts))
        ],
        "usage": {"prompt_tokens": len(texts), "total_tokens": len(texts)},
    }
