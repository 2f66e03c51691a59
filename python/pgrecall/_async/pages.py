"""`AgentMemory.pages`: lists for tools and user interfaces, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from pgrecall._async.core import AsyncCore
from pgrecall._pages import JobPhase, QueuedJob, UserRow
from pgrecall._sql import JSON, UNSET, Call, Unset, User
from pgrecall.rows import Memory, MemoryEvent, Message

__all__ = ["AsyncPages"]


class AsyncPages:
    """Lists for tools and user interfaces, most of them newest first.

    A page goes on after the last row of the page before, which need not exist any more.
    """

    def __init__(self, core: AsyncCore) -> None:
        self._core = core

    async def users(
        self, *, limit: int | Unset = UNSET, after_id: UUID | Unset = UNSET
    ) -> list[UserRow]:
        """Return users by id; for a login with the rights of `recall_admin`."""
        call = Call.of("list_users", limit=limit, after_id=after_id)
        return await self._core.write.rows(UserRow, call, repeatable=True)

    async def jobs(
        self,
        *,
        state: Literal["due", "deferred", "running", "dead"] | Unset = UNSET,
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
    ) -> list[QueuedJob]:
        """Return jobs of all users; for a login with the rights of `recall_worker`."""
        call = Call.of("list_jobs", state=state, limit=limit, before_id=before_id)
        return await self._core.work.rows(QueuedJob, call, repeatable=True)

    async def job_phases(
        self,
        user: User,
        *,
        job_id: UUID | Unset = UNSET,
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
    ) -> list[JobPhase]:
        """Return the spans of a user's jobs, of one job or of all."""
        return await self._core.read_history(
            JobPhase, user, "list_job_phases", job_id=job_id, limit=limit, before_id=before_id
        )

    async def memories(
        self,
        user: User,
        *,
        filter: JSON | Unset = UNSET,  # noqa: A002
        limit: int | Unset = UNSET,
        before_id: UUID | Unset = UNSET,
    ) -> list[Memory]:
        """Return the user's current memories; the filter is that of `AgentMemory.search`."""
        return await self._core.read_memory(
            Memory, user, "list_memories", filter=filter, limit=limit, before_id=before_id
        )

    async def memory_events(
        self, user: User, *, limit: int | Unset = UNSET, before_no: int | Unset = UNSET
    ) -> list[MemoryEvent]:
        """Return what happened to all memories of a user."""
        return await self._core.read_memory(
            MemoryEvent, user, "list_memory_events", limit=limit, before_no=before_no
        )

    async def messages(self, user: User, message_ids: Sequence[UUID]) -> list[Message]:
        """Return messages of any session by their ids, such as `source_turn_ids` of a memory.

        They are in the order of the ids. An id that the user does not have gives no message.
        """
        return await self._core.read_history(
            Message, user, "get_messages_by_id", message_ids=list(message_ids)
        )
