"""`AgentMemory.admin`: settings, models, jobs, health and metrics."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pgrecall._async.core import LONG_TIMEOUT, AsyncCore
from pgrecall._info import DatabaseInfo
from pgrecall._sql import JSON, UNSET, Call, Unset, User
from pgrecall.rows import (
    Calibration,
    EmbeddingEstimate,
    EmbeddingMigration,
    HealthCheck,
    Metric,
    WaitingJobs,
)

__all__ = ["AsyncAdmin"]


class AsyncAdmin:
    """Settings, models, jobs, health and metrics of a database."""

    def __init__(self, core: AsyncCore) -> None:
        self._core = core

    async def configure(self, **changes: Any) -> None:
        """Change settings of all users, named as the columns of `recall.settings`.

        Raises:
            InvalidInputError: an unknown setting, or a value out of range.
            ConfigurationError: a size that is fixed at installation.
        """
        await self._core.write.value(Call.of("configure", changes=changes))
        self._core.forget_settings()

    async def configure_user(self, user: User, **changes: Any) -> None:
        """Override settings for one user; None removes an override."""
        await self._core.change_value(user, "configure_user", changes=changes)
        self._core.call_log.forget()

    async def calibrate_embeddings(self) -> Calibration:
        """Measure the cosines of unrelated texts under the embedding model, and store them.

        `match` and the filter of unrelated memories in a context depend on them.

        Raises:
            ConfigurationError: fewer than twenty users have vectors of the model.
        """
        (measured,) = await self._core.write.rows(Calibration, Call.of("calibrate_embeddings"))
        return measured

    async def estimate_embedding_migration(self, model: str) -> EmbeddingEstimate:
        """Estimate what embedding all texts by another model costs."""
        call = Call.of("estimate_embedding_migration", model=model)
        (found,) = await self._core.write.rows(EmbeddingEstimate, call, timeout=LONG_TIMEOUT)
        return found

    async def start_embedding_migration(
        self, model: str, *, dimensions: int | Unset = UNSET, keep: timedelta | Unset = UNSET
    ) -> None:
        """Start to embed all texts by another model; searches use the current one meanwhile.

        Args:
            model: its name; a worker must offer it.
            dimensions: of its vectors; left out, as many as now.
            keep: how long the old vectors are kept after the switch, for a way back.

        Raises:
            ConfigurationError: another change has not ended, or the model is the current one.
        """
        call = Call.of("start_embedding_migration", model=model, dimensions=dimensions, keep=keep)
        await self._core.write.value(call, timeout=LONG_TIMEOUT)

    async def embedding_migration(self) -> EmbeddingMigration | None:
        """Return the latest change of the embedding model, None before the first."""
        call = Call.of("get_embedding_migration")
        found = await self._core.work.rows(EmbeddingMigration, call, repeatable=True)
        return found[0] if found else None

    async def pause_embedding_migration(self) -> None:
        """Pause the change of the embedding model; jobs in progress finish."""
        await self._core.write.value(Call.of("pause_embedding_migration"))

    async def resume_embedding_migration(self) -> None:
        """Resume the paused change of the embedding model."""
        await self._core.write.value(Call.of("resume_embedding_migration"))

    async def cancel_embedding_migration(self) -> None:
        """Cancel the change of the embedding model before its switch."""
        await self._core.write.value(Call.of("cancel_embedding_migration"))

    async def advance_embedding_migration(self) -> None:
        """Run a batch of the maintenance task `migrate_embeddings` now."""
        await self._core.work.value(Call.of("migrate_embeddings"), timeout=LONG_TIMEOUT)

    async def register_model(
        self,
        model: str,
        *,
        context_window_size: int,
        tokenizer: str | Unset | None = UNSET,
        input_price: int | Unset = UNSET,
        cached_input_price: int | Unset = UNSET,
        output_price: int | Unset = UNSET,
    ) -> None:
        """Register a chat model: window in tokens, micro-cents per million tokens."""
        await self._core.write.value(
            Call.of(
                "register_model",
                model_id=model,
                context_window_size=context_window_size,
                tokenizer=tokenizer,
                input_price=input_price,
                cached_input_price=cached_input_price,
                output_price=output_price,
            )
        )

    async def health(self) -> list[HealthCheck]:
        """Return the health checks, each with ok, warn or fail, and a remedy."""
        return await self._core.write.rows(HealthCheck, Call.of("health"), repeatable=True)

    async def metrics(self) -> list[Metric]:
        """Return gauges of all users together; for a login with the rights of `recall_worker`."""
        return await self._core.work.rows(Metric, Call.of("metrics"), repeatable=True)

    async def version(self) -> str:
        """Return the version of the installed schema."""
        return str(await self._core.write.value(Call.of("version"), repeatable=True))

    async def info(self) -> DatabaseInfo:
        """Return version, embedding model and dimensions of the database; asked once."""
        return await self._core.info()

    async def waiting_jobs(self) -> list[WaitingJobs]:
        """Return the ready jobs by kind; for a login with the rights of `recall_worker`."""
        return await self._core.work.rows(WaitingJobs, Call.of("waiting_jobs"), repeatable=True)

    async def enqueue_job(
        self,
        user: User,
        kind: str,
        *,
        session_id: UUID | Unset = UNSET,
        dedupe_key: str | Unset = UNSET,
        payload: JSON | Unset = UNSET,
        run_at: datetime | Unset = UNSET,
    ) -> UUID | None:
        """Enqueue a job; None when an equal job is ready already."""
        found: UUID | None = await self._core.change_value(
            user,
            "enqueue_job",
            kind=kind,
            session_id=session_id,
            dedupe_key=dedupe_key,
            payload=payload,
            run_at=run_at,
        )
        return found
