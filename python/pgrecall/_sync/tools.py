# Made from _async/tools.py by `make generate`; change that file, not this.
"""The memory tools of one conversation."""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import psycopg

from pgrecall import _tools
from pgrecall._logs import logger
from pgrecall._messages import content_text
from pgrecall._sql import UNSET
from pgrecall._sync.contexts import Contexts
from pgrecall._sync.conversation import Conversation
from pgrecall._sync.memories import Memories
from pgrecall._sync.sessions import Sessions
from pgrecall._tools import AskedCall, list_result, result, shown
from pgrecall.errors import InvalidInputError, PgRecallError, is_lost
from pgrecall.models._embedders import EmbeddingError

if TYPE_CHECKING:
    from pgrecall._tool_arguments import ForgetMemory, GetMessages, Remember, Search

__all__ = ["MemoryTools"]


_DEFAULT_LIMIT = 5
_SPOKEN = ("user", "assistant")


class MemoryTools:
    """Tools that let a model use the memory of one user: search, remember, forget, profile.

    It may also look back at the messages of all conversations.

    Made by `ChatSession.memory_tools`. Every call concerns the session's user: nothing that the
    model writes can name another, and another user's ids are unknown ids.

    The model gets errors as `{"error": …}`: malformed arguments, an unknown tool or id, a refusal
    of the database. Only a lost server raises.

    `remember` stores a memory like an extraction. When the conversation contains the user's own
    words as proof, the memory counts as stated by the user. Without proof it is an inference: it
    applies to this conversation, expires with it, and never supersedes the user's statements. So a
    prompt injection by a web page or a tool's result does not reach other conversations.

    `forget_memory` ends a memory that the user stated only with the user's own words as proof.
    Without proof it records a dispute (`memories.disputes`), and the memory stays. An ended memory
    is kept: `memories.restore` makes it active again.
    """

    def __init__(
        self,
        conversation: Conversation,
        contexts: Contexts,
        sessions: Sessions,
        memories: Memories,
        *,
        only: Collection[str] | None = None,
    ) -> None:
        names = [tool["function"]["name"] for tool in _tools.DEFINITIONS]
        if only is not None and (unknown := sorted({*only} - {*names})):
            raise InvalidInputError(
                f"{unknown[0]!r} is no memory tool", hint=f"One of {', '.join(names)}."
            )
        self._conversation = conversation
        self._contexts = contexts
        self._sessions = sessions
        self._memories = memories
        self._names = tuple(name for name in names if only is None or name in only)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools."""
        return self._names

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """The definitions, as `chat.completions.create(tools=…)` takes them."""
        return [
            copy.deepcopy(tool)
            for tool in _tools.DEFINITIONS
            if tool["function"]["name"] in self._names
        ]

    def dispatch(self, call: Any, *, max_chars: int = _tools.MAX_RESULT_CHARS) -> dict[str, Any]:
        """Do what a tool call asks, and return the tool message that answers it.

        Args:
            call: an element of the `tool_calls` of the model's message.
            max_chars: of the answer, about; it counts the items that do not fit.

        Raises:
            InvalidInputError: `call` is not a tool call.
            psycopg.OperationalError: the server is lost.
        """
        asked = AskedCall.of(call)
        try:
            content = self._run(asked, max_chars)
        except ValueError as error:
            content = self._error(asked, str(error))
        except PgRecallError as error:
            content = self._error(asked, error.message)
        except EmbeddingError as error:
            logger.warning("memory tool %s: %s", asked.name, error)
            content = self._error(asked, "the memory cannot be searched right now")
        except psycopg.Error as error:
            if is_lost(error):
                raise
            logger.warning("memory tool %s: %s", asked.name, error)
            content = self._error(asked, "the memory cannot do this right now")
        return _tools.tool_message(asked, content)

    @staticmethod
    def _error(asked: AskedCall, problem: str) -> str:
        return result(shown(asked.name)[:64], error=shown(problem))

    def _run(self, asked: AskedCall, max_chars: int) -> str:
        if asked.name not in self._names:
            raise ValueError(f"there is no memory tool {asked.name}; known: "
                             f"{', '.join(self._names)}")  # fmt: skip
        from pgrecall._tool_arguments import checked

        arguments = checked(asked)
        self._conversation.open()
        match asked.name:
            case "search_memories":
                return self._search_memories(arguments, max_chars)
            case "remember":
                return self._remember(arguments)
            case "forget_memory":
                return self._forget_memory(arguments)
            case "search_messages":
                return self._search_messages(arguments, max_chars)
            case "get_messages":
                return self._get_messages(arguments, max_chars)
            case _:
                return self._get_user_profile(max_chars)

    def _search_memories(self, asked: Search, max_chars: int) -> str:
        chat = self._conversation
        hits = self._memories.search(
            chat.user_id,
            asked.query,
            limit=asked.limit or _DEFAULT_LIMIT,
            filter={"session_id": chat.session_id},
        )
        self._contexts.record_use([(hit.memory_id, hit.relevance) for hit in hits])
        return list_result(
            "search_memories",
            "memories",
            [
                {
                    "id": hit.memory_id,
                    "content": shown(hit.content),
                    "kind": hit.kind,
                    "importance": round(hit.importance, 2),
                    "confidence": round(hit.confidence, 2),
                    "score": round(hit.score, 3),
                    "observed": f"{hit.observed_at or hit.created_at:%Y-%m-%d}",
                }
                for hit in hits
            ],
            max_chars,
        )

    def _remember(self, asked: Remember) -> str:
        chat = self._conversation
        stored = self._memories.remember(
            chat.user_id,
            asked.content,
            kind=asked.kind or "fact",
            slot=asked.slot,
            session_id=chat.session_id,
            metadata={"tool": "remember"},
            user_words=asked.user_words,
            current_message=self._contexts.last_asked,
        )
        fields: dict[str, Any] = {"outcome": stored.outcome, "id": stored.memory_id}
        if stored.outcome == "disputed":
            fields["why"] = "the user said otherwise; it waits for a person's decision"
        elif not stored.is_proven:
            fields["why"] = "not the user's own words: kept for this conversation only"
        return result("remember", **fields)

    def _forget_memory(self, asked: ForgetMemory) -> str:
        chat = self._conversation
        done = self._memories.dispute(
            chat.user_id,
            asked.memory_id,
            session_id=chat.session_id,
            user_words=asked.user_words,
            current_message=self._contexts.last_asked,
            reason=f"the assistant, in session {chat.session_id}: {shown(asked.reason) or '-'}",
        )
        if done.outcome == "disputed":
            why = "the user's own words do not take it back: it stays, and waits for a person"
            return result("forget_memory", outcome="disputed", why=why)
        return result(
            "forget_memory",
            outcome="forgotten" if done.outcome == "retracted" else "was not active",
        )

    def _search_messages(self, asked: Search, max_chars: int) -> str:
        chat = self._conversation
        hits = self._sessions.search_messages(
            chat.user_id,
            asked.query,
            limit=asked.limit or _DEFAULT_LIMIT,
            filter={"roles": list(_SPOKEN)},
        )
        return list_result(
            "search_messages",
            "messages",
            [
                {
                    "session_id": hit.session_id,
                    "turn": hit.turn_index,
                    "role": hit.role,
                    "said": f"{hit.created_at:%Y-%m-%d}",
                    "content": shown(hit.content),
                }
                for hit in hits
            ],
            max_chars,
        )

    def _get_messages(self, asked: GetMessages, max_chars: int) -> str:
        chat = self._conversation
        session_id = asked.session_id or chat.session_id
        messages = self._sessions.messages(
            chat.user_id,
            session_id,
            limit=asked.limit or _DEFAULT_LIMIT,
            before_turn=asked.before_turn or UNSET,
        )
        # newest first, so that it is the oldest that does not fit
        return list_result(
            "get_messages",
            "messages",
            [
                {
                    "turn": message.turn_index,
                    "role": message.role,
                    "said": f"{message.created_at:%Y-%m-%d}",
                    "content": shown(text),
                }
                for message in messages
                if message.role in _SPOKEN and (text := content_text(message.to_openai()))
            ],
            max_chars,
            session_id=session_id,
            order="newest first",
        )

    def _get_user_profile(self, max_chars: int) -> str:
        profile = self._memories.profile(self._conversation.user_id)
        return list_result(
            "get_user_profile",
            "attributes",
            [
                {
                    "attribute": shown(slot),
                    "id": known["memory_id"],
                    "content": shown(known["content"]),
                    "confidence": round(known["confidence"], 2),
                    "since": known["since"][:10],
                }
                for slot, known in sorted(profile.items())
            ],
            max_chars,
        )
