"""`pgrecall chat`: a conversation with memory, in the terminal or from a script."""

from __future__ import annotations

import contextlib
import re
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import click
import psycopg

from pgrecall import AgentMemory, ChatSession, ModelSettings, ReplyStream
from pgrecall._names import id_or_name
from pgrecall._report import WorkerReport
from pgrecall._sql import User
from pgrecall.cli._endpoint import Endpoint, endpoint_options, opened_with_models
from pgrecall.cli._output import (
    log_to_stderr,
    note,
    print_dim,
    print_error,
    print_piece,
    print_table,
    print_text,
)
from pgrecall.cli._target import no_embedding_option, target_option, user_option
from pgrecall.errors import is_lost
from pgrecall.models._chat import ChatModel, ModelAnswerError
from pgrecall.models._embedders import EmbeddingError
from pgrecall.models._tokens import TokenEstimateWarning

__all__ = ["chat_command"]

_HELP = """\
/memories  what is remembered of you
/help      this
/quit      end the conversation; so does the end of the input (Ctrl-D)
Ctrl-C stops a reply. Everything else is said to the model."""

_MAX_SHOWN = 10  # memories of one reply
_MAX_LISTED = 1000
_LEARNING_SECONDS = 120.0  # at the end; what is left then, any worker does


@click.command("chat")
@user_option
@endpoint_options(model_help="The chat model.", is_model_required=True)
@click.option(
    "--session",
    type=id_or_name,
    metavar="NAME",
    help="Continue this session, or open it. Default: a new one.",
)
@click.option("--system", metavar="TEXT", help="The system prompt.")
@click.option("--show-memory", is_flag=True, help="Show the memories that were used and learned.")
@click.option("--tools/--no-tools", default=True, show_default=True,
              help="Whether the model may search and change memories itself.")  # fmt: skip
@click.option("--learn/--no-learn", default=True, show_default=True,
              help="Whether to extract memories here; otherwise a worker does.")  # fmt: skip
@no_embedding_option
@target_option
def chat_command(
    user: User,
    endpoint: Endpoint,
    session: User | None,
    system: str | None,
    show_memory: bool,
    tools: bool,
    learn: bool,
    no_embedding: bool,
    dsn: str | None,
) -> int:
    """Talk with a model that remembers.

    Each line of the input is a message. At the end the command closes the conversation and learns
    from it, so that the next one has its memories. /help shows the commands.
    """
    llm = endpoint.chat_model()
    assert llm is not None  # noqa: S101  (required)
    log_to_stderr("%(message)s")
    warnings.simplefilter(
        "ignore", TokenEstimateWarning
    )  # a budget used less fully is no news here
    with opened_with_models(dsn, endpoint, no_embedding=no_embedding, llm=llm) as memory:
        memory.memories.embedder()  # its errors before the first message
        talk = _Talk(
            memory, llm, user=user, session=session, system=system, show_memory=show_memory,
            tools=tools, learner=_Learner(memory, llm) if learn else None,
        )  # fmt: skip
        try:
            talk.run()
        finally:
            talk.stop()
        is_learned = talk.finish()
    return 0 if is_learned and not talk.failures else 1


class _Learner:
    """A worker in the background, which extracts memories during the conversation."""

    def __init__(self, memory: AgentMemory, llm: ModelSettings) -> None:
        self._memory = memory
        self._model = ChatModel(llm)
        self._worker = memory.worker(llm=self._model)
        self._thread = threading.Thread(target=self._run, name="pgrecall-chat-worker", daemon=True)

    def start(self) -> None:
        """Begin, if it has not begun."""
        if self._thread.ident is None:
            self._thread.start()

    def _run(self) -> None:
        try:
            self._worker.run(handle_signals=False)
        except Exception as error:  # the conversation goes on; the end tries again
            note(f"(nothing is learned for now: {error})")

    def stop(self) -> None:
        """End after the job in progress."""
        self._worker.stop()
        if self._thread.ident is not None:
            self._thread.join()

    def learn(self, chat: ChatSession) -> str | None:
        """Do what waits of a closed conversation; return what went wrong, if anything did."""
        worker = self._memory.worker(llm=self._model)
        until = time.monotonic() + _LEARNING_SECONDS

        def look(_: WorkerReport) -> None:
            if _is_learned(chat) or time.monotonic() > until:
                worker.stop()

        if not _is_learned(chat):
            worker.run_until_idle(handle_signals=True, progress=look)
        if _is_learned(chat):
            return None
        return worker.report.last_error or self._worker.report.last_error or "it was stopped"


def _is_learned(chat: ChatSession) -> bool:
    session = chat.refresh()
    return (session.extracted_through_turn or 0) >= session.turn_count


class _Talk:
    """The conversation: reads lines, streams replies.

    Attributes:
        failures: messages that got no whole reply.
    """

    def __init__(
        self,
        memory: AgentMemory,
        llm: ModelSettings,
        *,
        user: User,
        session: User | None,
        system: str | None,
        show_memory: bool,
        tools: bool,
        learner: _Learner | None,
    ) -> None:
        self._memory = memory
        self._llm = llm
        self._user = user
        self._name = session
        self._system = system
        self._show_memory = show_memory
        self._tools = tools
        self._learner = learner
        self._chat: ChatSession | None = None
        self._learned: set[UUID] = set()
        self.failures = 0

    def run(self) -> None:
        """Talk until the input ends."""
        is_terminal = sys.stdin.isatty()
        if is_terminal:
            note(f"{self._llm.model}, talking with {self._user}; /help shows the commands")
        for line in _lines(is_terminal):
            match line.strip():
                case "":
                    continue
                case "/quit" | "/exit":
                    return
                case "/help":
                    print_text(_HELP, indent=0)
                case "/memories":
                    self._print_memories()
                case command if re.fullmatch("/[a-z]+", command):
                    note(f"{command} is no command; /help shows them")
                case _:
                    self._say(line, is_terminal=is_terminal)

    def stop(self) -> None:
        """Stop the worker in the background."""
        if self._learner is not None:
            self._learner.stop()

    def finish(self) -> bool:
        """Close the conversation and learn from it; return whether that went well."""
        if self._chat is None:
            return True
        self._chat.close()
        if self._learner is None:
            return True
        problem = self._learner.learn(self._chat)
        self._print_learned()
        if problem is not None:
            print_error(f"not all was learned yet; pgrecall worker goes on with it: {problem}")
        return problem is None

    def _opened(self) -> ChatSession:
        """Return the session, opened at the first message and brought up to what was asked for."""
        if self._chat is not None:
            return self._chat
        arguments: dict[str, Any] = {}
        if self._system is not None:
            arguments["system_prompt"] = self._system
        if self._llm.context_window is not None:
            arguments["context_window_size"] = self._llm.context_window
        if self._learner is not None:
            arguments["extraction"] = "llm"
        chat = self._memory.session(
            user=self._user, model=self._llm.model, session_id=self._name, **arguments
        )
        found = chat.open()
        if found.status != "active":
            chat.resume()
        changes: dict[str, Any] = {}
        if found.model_id != self._llm.model:
            changes["model_id"] = self._llm.model
        for key in ("system_prompt", "context_window_size"):
            if key in arguments and getattr(found, key) != arguments[key]:
                changes[key] = arguments[key]
        if "extraction" in arguments and found.metadata.get("extraction") != "llm":
            changes["metadata"] = {"extraction": "llm"}
        if changes:
            chat.update(**changes)
        self._learned = {item.memory_id for item in self._of_session(chat)}
        if self._learner is not None:
            self._learner.start()
        self._chat = chat
        return chat

    # A message

    def _say(self, text: str, *, is_terminal: bool) -> None:
        """Send a message, and print the reply as it arrives. An error is printed, not raised."""
        import openai

        try:
            chat = self._opened()
            if not self._heard(chat, text):
                self._tools = False
                note("(this model takes no tools: going on without)")
                self._heard(chat, text)
        except KeyboardInterrupt:
            if not is_terminal:
                raise
            print_piece()
            note("(stopped)")
            return
        except (openai.OpenAIError, ModelAnswerError, EmbeddingError, psycopg.Error) as error:
            if is_lost(error):
                raise
            self.failures += 1
            print_error(_problem(error))
        if self._show_memory:
            self._print_learned()

    def _heard(self, chat: ChatSession, text: str) -> bool:
        """Print the reply; return False when the model takes no tools, and nothing was said."""
        import openai

        is_first = True
        reply = chat.send(text, memory_tools=self._tools, stream=True)
        try:
            with reply:
                told = 0
                for piece in reply:
                    if is_first:
                        self._print_used(chat)
                    elif len(reply.messages) > told:
                        print_piece()  # of another call
                    is_first, told = False, len(reply.messages)
                    print_piece(piece)
        except openai.BadRequestError as error:
            if self._tools and not reply.messages and "tool" in str(error).lower():
                return False
            raise
        finally:
            if not is_first:
                print_piece()
        if is_first:
            self._print_used(chat)
        self._print_calls(reply)
        reason = (reply.message or {}).get("finish_reason")
        if reason in ("length", "content_filter", "interrupted"):
            note(f"(the reply ended early: {reason})")
        return True

    # Memories and budget

    def _print_used(self, chat: ChatSession) -> None:
        if not self._show_memory or chat.last_context is None:
            return
        used = chat.last_context.memories
        print_dim(f"memories used: {len(used)}")
        for item in used[:_MAX_SHOWN]:
            memory = self._memory.memories.get(chat.user_id, item.memory_id)
            if memory is not None:
                print_dim(f"  {item.score or 0:.2f}  {memory.content}")
        if len(used) > _MAX_SHOWN:
            print_dim(f"  … and {len(used) - _MAX_SHOWN} more")

    def _print_calls(self, reply: ReplyStream) -> None:
        if not self._show_memory:
            return
        for message in reply.messages:
            for call in message.get("tool_calls") or ():
                function = call.get("function") or {}
                print_dim(f"tool call: {function.get('name')} {function.get('arguments')}")

    def _print_learned(self) -> None:
        """Print the memories of this conversation that were not there before."""
        if not self._show_memory or self._chat is None:
            return
        new = [m for m in self._of_session(self._chat) if m.memory_id not in self._learned]
        for item in new:
            print_dim(f"learned: [{item.kind}] {item.content}")
        self._learned |= {item.memory_id for item in new}

    def _of_session(self, chat: ChatSession) -> list[Any]:
        return self._memory.memories.list(
            chat.user_id, filter={"source_session_id": chat.session_id}, limit=_MAX_LISTED
        )

    def _print_memories(self) -> None:
        found = self._memory.memories.list(self._user, limit=_MAX_LISTED)
        if not found:
            note("(nothing is remembered yet)")
            return
        print_table(
            ("observed", "kind", "content", "memory_id"),
            (
                (f"{item.observed_at or item.created_at:%Y-%m-%d}", item.kind, item.content,
                 item.memory_id)
                for item in found
            ),
            wide="content",
        )  # fmt: skip


def _lines(is_terminal: bool) -> Iterator[str]:
    """Yield the lines of the input, until it ends or Ctrl-C is pressed at the prompt."""
    if not is_terminal:
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")
        for line in sys.stdin:
            yield line.rstrip("\r\n")
        return
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  (input() edits lines with it)
    while True:
        try:
            yield input("> ")
        except (EOFError, KeyboardInterrupt):
            print_piece()
            return


def _problem(error: Exception) -> str:
    """Return what an error means for the conversation."""
    import openai

    if isinstance(error, (openai.OpenAIError, ModelAnswerError)):
        return f"the model did not answer: {str(error).strip() or type(error).__name__}"
    if isinstance(error, EmbeddingError):
        return f"{error} (--no-embedding goes by words)"
    return str(error).strip()
