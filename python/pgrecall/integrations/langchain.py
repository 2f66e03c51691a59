"""A chat history and a retriever for LangChain.

::

    memory = AgentMemory.connect("postgresql://…")
    chain = RunnableWithMessageHistory(
        prompt | model,
        lambda session_id: PgRecallChatMessageHistory(session_id, memory, user="ada"),
    )
    documents = PgRecallRetriever(memory=memory, user="ada").invoke("Which editor do I use?")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from pgrecall import AgentMemory, ChatSession
from pgrecall._sql import UNSET, User
from pgrecall.rows import Message

__all__ = ["PgRecallChatMessageHistory", "PgRecallRetriever"]

_PAGE = 500


class PgRecallChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session; appending them also queues the extraction of memories.

    Args:
        session_id: a UUID, or any name among the user's sessions; made when it is missing.
        memory: stays the caller's.
        user: whose session it is.
        model: of a new session.
        options: of `AgentMemory.session`.
    """

    def __init__(
        self,
        session_id: User,
        memory: AgentMemory,
        *,
        user: User,
        model: str = "gpt-4o-mini",
        **options: Any,
    ) -> None:
        self._memory = memory
        self._user = user
        self._chat: ChatSession = memory.session(
            user=user, model=model, session_id=session_id, **options
        )

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All messages of the session, oldest first."""
        session_id = self._chat.open().session_id
        found: list[Message] = []
        while page := self._memory.sessions.messages(
            self._user,
            session_id,
            limit=_PAGE,
            before_turn=found[-1].turn_index if found else UNSET,
        ):
            found += page
        return convert_to_messages([dict(message.to_openai()) for message in reversed(found)])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages in one transaction; none change nothing."""
        if not messages:
            return
        converted = convert_to_openai_messages(list(messages), include_id=False)
        self._chat.append(converted)

    def clear(self) -> None:
        """Erase the messages of the session, and the memories that rest on them alone."""
        self._chat.clear()


class PgRecallRetriever(BaseRetriever):
    """Memories of one user as documents, best first.

    Attributes:
        memory: stays the caller's.
        user: whose memories they are.
        k: how many at most.
        filter: as in `AgentMemory.search`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: AgentMemory
    user: str | UUID
    k: int = 5
    filter: dict[str, Any] | None = None

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
    ) -> list[Document]:
        hits = self.memory.search(
            self.user,
            query,
            limit=self.k if k is None else k,
            filter=UNSET if self.filter is None else self.filter,
        )
        return [
            Document(
                id=str(hit.memory_id),
                page_content=hit.content,
                metadata={
                    "kind": hit.kind,
                    "score": hit.score,
                    "match": hit.match,
                    "provenance": hit.provenance,
                    "tags": hit.tags,
                    "created_at": hit.created_at.isoformat(),
                },
            )
            for hit in hits
        ]
