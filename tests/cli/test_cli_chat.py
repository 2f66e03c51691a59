"""`pgrecall chat` against a scripted endpoint: lines in, replies out, memories in between."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pgrecall import AgentMemory
from pgrecall.cli._main import _run
from support.scripted_model import MODEL, Script, embedder, fact
from support.scripted_openai import Broken, Raw, Request, Scripted, ScriptedOpenAI, Status, calls
from support.transcripts import assert_valid

pytestmark = pytest.mark.usefixtures("empty_queue")


@dataclass
class Done:
    code: int
    out: str
    err: str


Chat = Callable[..., Done]


@pytest.fixture
def openai(openai: ScriptedOpenAI, script: Script) -> ScriptedOpenAI:
    """The scripted model, which also chats: what is scripted first, else an echo.

    The steps of the worker come in between, whenever they like; they are answered by the script.
    """
    chat_answers = openai.scripted
    openai.scripted = type(chat_answers)()

    def respond(request: Request) -> Scripted:
        if "response_format" in request:
            return script(request)
        answer: Any = chat_answers.popleft() if chat_answers else _echo(request)
        return answer  # type: ignore[no-any-return]

    openai.respond = respond
    openai.then = lambda *answers: chat_answers.extend(answers)  # type: ignore[method-assign]
    return openai


def _echo(request: Request) -> str:
    return f"You said: {request['messages'][-1]['content']}"


def chat_requests(openai: ScriptedOpenAI) -> list[Request]:
    return [request for request in openai.chats if "response_format" not in request]


@pytest.fixture
def who() -> str:
    return f"user {uuid.uuid4()}"


@pytest.fixture
def chat(
    model_dsn: str, openai: ScriptedOpenAI, who: str,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> Chat:  # fmt: skip
    """Run the command with these lines as its input."""

    def run(*lines: str, options: tuple[str, ...] = (), user: str = who) -> Done:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        capsys.readouterr()
        code = _run(
            ["chat", "--user", user, "--model", MODEL, "--base-url", openai.base_url,
             "--dsn", model_dsn, *options]
        )  # fmt: skip
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return Done(code, said.out, said.err)

    return run


@pytest.fixture
def memory(model_dsn: str, openai: ScriptedOpenAI) -> Any:
    with AgentMemory.connect(model_dsn, embedder=embedder(openai)) as memory:
        yield memory


def test_chat_recalls_facts_of_the_previous_conversation(
    chat: Chat, openai: ScriptedOpenAI, script: Script, who: str, memory: AgentMemory
) -> None:
    script.facts = {"I play the cello": [fact("User plays the cello.", kind="preference")]}
    first = chat("I play the cello", "", "What else?", options=("--show-memory",))
    assert (first.code, first.err) == (0, "")
    assert first.out.splitlines()[:2] == ["memories used: 0", "You said: I play the cello"]
    assert "learned: [preference] User plays the cello." in first.out
    [session] = memory.sessions.list(who)
    assert (session.status, session.turn_count, session.extracted_through_turn) == ("closed", 4, 4)

    second = chat("Which instrument, the cello?", options=("--show-memory",))
    assert second.code == 0
    used, memory_line, reply = second.out.splitlines()[:3]
    assert used == "memories used: 1"
    assert memory_line.endswith("User plays the cello.")
    assert float(memory_line.split()[0]) > 0
    assert reply == "You said: Which instrument, the cello?"
    assert "User plays the cello." in json.dumps(chat_requests(openai)[-1]["messages"])
    # another user knows nothing of it
    stranger = chat("The cello?", options=("--show-memory",), user=f"{who} not")
    assert "memories used: 0" in stranger.out
    assert "plays the cello" not in stranger.out


def test_model_may_call_the_memory_tools(
    chat: Chat, openai: ScriptedOpenAI, who: str, memory: AgentMemory
) -> None:
    openai.then(
        calls(("remember", {"content": "User is allergic to nuts.", "kind": "fact", "slot": None,
                            "user_words": "I am allergic to nuts"}), text="Noting it."),
        "Noted.",
    )  # fmt: skip
    done = chat("Please note: I am allergic to nuts", options=("--show-memory",))
    assert done.code == 0
    assert "Noting it.\nNoted.\n" in done.out
    assert "tool call: remember {" in done.out
    assert "learned: [fact] User is allergic to nuts." in done.out
    assert [m.content for m in memory.memories.list(who)] == ["User is allergic to nuts."]
    assert "tools" in chat_requests(openai)[0]

    openai.forget()
    assert chat("Hello", options=("--no-tools", "--no-learn")).out == "You said: Hello\n"
    [request] = openai.chats
    assert "tools" not in request


def test_chat_goes_on_with_a_model_without_tools(chat: Chat, openai: ScriptedOpenAI) -> None:
    openai.refused_parameters = ("tools",)
    done = chat("Hello", "Again", options=("--no-learn",))
    assert (done.code, done.out) == (0, "You said: Hello\nYou said: Again\n")
    assert "takes no tools" in done.err


def test_chat_goes_on_after_errors_and_exits_with_1(
    chat: Chat, openai: ScriptedOpenAI, who: str, memory: AgentMemory
) -> None:
    """It is told, the conversation goes on, and the exit status says so."""
    page = Raw("<html>Welcome</html>", "text/html")
    openai.then(Status(400, "out of order"), page, Broken("You use Vi"), "Better now.")
    done = chat("one", "nobody?", "two", "three", options=("--no-learn",))
    assert done.code == 1
    assert done.out == "You use Vi\nBetter now.\n"
    assert done.err.count("pgrecall: the model did not answer: ") == 3
    assert "out of order" in done.err
    [session] = memory.sessions.list(who)
    messages = list(reversed(memory.sessions.messages(who, session.session_id)))
    assert [(m.role, m.content) for m in messages] == [
        ("user", "two"), ("assistant", "You use Vi"), ("user", "three"),
        ("assistant", "Better now."),
    ]  # fmt: skip
    assert_valid([m.to_openai() for m in messages])


def test_chat_reports_failed_learning(
    chat: Chat, openai: ScriptedOpenAI, script: Script, who: str, memory: AgentMemory
) -> None:
    respond = openai.respond
    assert respond is not None
    openai.respond = lambda request: (
        Status(400, "no extraction today") if "response_format" in request else respond(request)
    )
    done = chat("I play the cello")
    assert (done.code, done.out) == (1, "You said: I play the cello\n")
    assert "pgrecall worker goes on with it" in done.err
    assert memory.memories.list(who) == []


def test_chat_continues_a_named_session(
    chat: Chat, openai: ScriptedOpenAI, who: str, memory: AgentMemory
) -> None:
    options = ("--session", "garden", "--no-learn")
    chat("The roses are red", options=options)
    done = chat("And the tulips?", options=(*options, "--system", "You are a gardener."))
    assert done.code == 0
    messages = chat_requests(openai)[-1]["messages"]
    assert messages[0] == {"role": "system", "content": "You are a gardener."}
    assert {"role": "user", "content": "The roses are red"} in messages
    [session] = memory.sessions.list(who)
    assert (session.title, session.turn_count) == ("garden", 4)


def test_lines_that_begin_with_a_slash_are_commands(
    chat: Chat, openai: ScriptedOpenAI, who: str, memory: AgentMemory
) -> None:
    assert "nothing is remembered" in chat("/memories").err
    memory.users.ensure(who)
    memory.remember(who, "User plays the cello.")
    done = chat("/help", "/memories", "/nonsense", "/etc/hosts is a file", "/quit", "unheard",
                options=("--no-learn",))  # fmt: skip
    assert done.code == 0
    assert "/quit" in done.out
    assert "User plays the cello." in done.out
    assert "/nonsense is no command" in done.err
    assert done.out.endswith("You said: /etc/hosts is a file\n")
    assert len(chat_requests(openai)) == 1


def test_chat_without_messages_stores_nothing(chat: Chat, who: str, memory: AgentMemory) -> None:
    assert chat("", "/quit").code == 0
    assert memory.sessions.list(who) == []


def test_what_a_model_says_moves_no_cursor(chat: Chat, openai: ScriptedOpenAI) -> None:
    openai.then("one \x1b[2J\x1b]0;title\x07two\tthree\nfour")
    assert chat("x", options=("--no-learn",)).out == (
        "one \\x1b[2J\\x1b]0;title\\x07two\tthree\nfour\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["chat"],
        ["chat", "--user", "ada"],
        ["chat", "--model", "m"],
        ["chat", "--user", "ada", "--model", "m"],  # nothing says where it is
        ["chat", "--user", "ada", "--model", "m", "--api-key-env", "NO_SUCH_VARIABLE"],
    ],
)
def test_wrong_usage_exits_with_2_and_no_traceback(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run([*arguments, "--dsn", "host=/nonexistent"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_unreachable_server_exits_with_1_and_no_traceback(chat: Chat) -> None:
    done = chat("x", options=("--dsn", "host=/nonexistent dbname=x connect_timeout=2"))
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("pgrecall: ")


def command(model_dsn: str, openai: ScriptedOpenAI, who: str) -> list[str]:
    return [sys.executable, "-m", "pgrecall", "chat", "--user", who, "--model", MODEL,
            "--base-url", openai.base_url, "--dsn", model_dsn, "--no-learn"]  # fmt: skip


@pytest.mark.slow
def test_chat_reads_and_writes_undecodable_input_as_a_process(
    model_dsn: str, openai: ScriptedOpenAI, who: str
) -> None:
    done = subprocess.run(
        command(model_dsn, openai, who), input="Grüße\n\xff".encode("latin-1") + b"\n",
        check=False, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().startswith("You said: Gr")


@pytest.mark.skipif(not Path("/dev/ptmx").exists(), reason="no pseudo-terminal here")
def test_chat_in_a_terminal_prompts_and_ends_at_ctrl_d(
    model_dsn: str, openai: ScriptedOpenAI, who: str, memory: AgentMemory
) -> None:
    """A prompt, and Ctrl-D ends the conversation."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        command(model_dsn, openai, who), stdin=terminal, stdout=terminal, stderr=terminal,
        start_new_session=True, preexec_fn=_own_terminal,
    )  # fmt: skip
    os.close(terminal)
    heard = _until(main, "> ")
    assert f"talking with {who}" in heard
    os.write(main, b"Hello\n")
    assert "You said: Hello" in _until(main, "> ")
    os.write(main, b"\x04")
    assert process.wait(timeout=30) == 0
    os.close(main)
    [session] = memory.sessions.list(who)
    assert (session.status, session.turn_count) == ("closed", 2)


def _own_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _until(terminal: int, words: str) -> str:
    heard = ""
    while not heard.endswith(words):
        heard += os.read(terminal, 1024).decode()
    return heard
