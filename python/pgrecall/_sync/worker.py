# Made from _async/worker.py by `make generate`; change that file, not this.
"""The worker: it takes jobs, does their step, and hands the result in."""

from __future__ import annotations

import logging
import os
import random
import socket
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg

from pgrecall import steps
from pgrecall._calls import UNSET, Call
from pgrecall._info import PRICES
from pgrecall._report import WorkerReport
from pgrecall._runtime import SyncRuntime, SyncStop
from pgrecall.errors import NotFoundError, PgRecallError, is_lost
from pgrecall.llm import ChatModel, Price
from pgrecall.rows import Job, MaintenanceRun

if TYPE_CHECKING:
    from pgrecall._sync.client import AgentMemory
    from pgrecall._sync.database import SyncDatabase

__all__ = ["Worker"]

logger = logging.getLogger("pgrecall")

_MAX_PAUSE = 60.0  # seconds between two attempts to reach a lost server
_MAINTENANCE_SECONDS = 30.0  # between two looks for maintenance that is due
_MAINTENANCE_TIMEOUT = 600.0  # its tasks bound themselves


class Worker:
    """Works on the queue; made by `AgentMemory.worker`.

    A job is claimed under a lease and worked on without a connection or a transaction; a sign of
    life extends the lease meanwhile. A worker that dies loses nothing: its lease ends. Besides jobs
    it runs the maintenance that is due.

    Attributes:
        name: how it is called in the queue.
        report: what it has done so far.
    """

    def __init__(
        self,
        memory: AgentMemory,
        database: SyncDatabase,
        *,
        llm: ChatModel | None,
        kinds: Sequence[str] | None,
        name: str | None,
        lease: timedelta,
        poll_seconds: float,
    ) -> None:
        self._memory = memory
        self._database = database
        self._llm = llm
        self._are_prices_known = llm is None or llm.settings.prices is not None
        self._kinds = None if kinds is None else list(kinds)
        self._lease = lease
        self._poll_seconds = poll_seconds
        self._stop = SyncStop()
        self._maintained: float | None = None
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self.report = WorkerReport()

    def stop(self) -> None:
        """Ask it to stop after the job at hand; may be called from any thread."""
        self._stop.set()

    def run_until_idle(
        self,
        *,
        handle_signals: bool = False,
        progress: Callable[[WorkerReport], object] | None = None,
    ) -> WorkerReport:
        """Work until no job is due, and return what was done.

        Jobs that are due later (a conversation that still goes on, a failure to be tried again)
        are not waited for.

        Args:
            handle_signals: whether SIGTERM and SIGINT ask to stop (only in the main thread).
            progress: called after each job.

        Raises:
            psycopg.OperationalError: the server is lost.
            ConfigurationError: the embedder is not the database's, or needs a key.
        """
        if handle_signals:
            with self._stop.on_signals():
                return self.run_until_idle(progress=progress)
        self._maintain()
        while not self._stop.is_set() and self.run_once():
            if progress is not None:
                progress(self.report)
        return self.report

    def run(
        self,
        *,
        handle_signals: bool = True,
        progress: Callable[[WorkerReport], object] | None = None,
    ) -> WorkerReport:
        """Work until `stop`, SIGTERM or SIGINT, and return what was done.

        A lost server is waited for, with growing pauses.

        Args:
            handle_signals: whether the signals ask to stop (only in the main thread).
            progress: called after each job.

        Raises:
            ConfigurationError: the embedder is not the database's, or needs a key.
        """
        if not handle_signals:
            self._work_on(progress)
            return self.report
        with self._stop.on_signals():
            self._work_on(progress)
        return self.report

    def _work_on(self, progress: Callable[[WorkerReport], object] | None) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                self._maintain()
                worked = self.run_once()
                failures = 0
            except psycopg.Error as error:
                if not is_lost(error):
                    raise
                failures += 1
                pause = min(_MAX_PAUSE, 0.5 * 2 ** min(failures, 10))
                logger.warning("the server is not there, waiting %.0f s: %s", pause, error)
                self._stop.wait(pause * _jitter())
                continue
            if worked:
                if progress is not None:
                    progress(self.report)
            else:
                self._stop.wait(self._poll_seconds * _jitter())

    def run_once(self) -> bool:
        """Take one job and do it; return False when none was due."""
        embedder = self._memory.embedder()
        kinds = self._kinds or steps.kinds(embedder, self._llm)
        claimed = self._database.rows(
            Job,
            Call.of("claim_jobs", worker=self.name, kinds=kinds, limit=1, lease=self._lease),
        )
        for job in claimed:
            self._learn_prices()
            self._do(job)
        return bool(claimed)

    def _learn_prices(self) -> None:
        """Ask once what models cost."""
        if self._llm is None or self._are_prices_known:
            return
        self._are_prices_known = True
        found = self._database.query(PRICES)
        self._llm.prices = {name: Price(*numbers) for name, *numbers in found}

    def _maintain(self) -> None:
        """Run the maintenance that is due; where pg_cron does it in time, nothing is."""
        now = time.monotonic()
        if self._maintained is not None and now < self._maintained + _MAINTENANCE_SECONDS:
            return
        self._maintained = now
        try:
            runs = self._database.rows(
                MaintenanceRun, Call.of("run_due_maintenance"), timeout=_MAINTENANCE_TIMEOUT
            )
        except psycopg.Error as error:
            if is_lost(error):
                raise
            logger.warning("maintenance failed: %s", error)
            return
        for run in runs:
            if "error" in run.result:
                logger.warning("maintenance %s failed: %s", run.task, run.result["error"])

    def _do(self, job: Job) -> None:
        try:
            job_input = self._call(job, "job_input")
        except NotFoundError:
            self._lose(job)
            return
        except PgRecallError as error:
            self._fail(job, error)
            return
        embedder = self._memory.embedder()

        def beat() -> None:
            try:
                self._call(job, "extend_lease", lease=self._lease)
            except psycopg.Error as error:  # the next one may come through
                logger.warning("job %s: no sign of life: %s", job.job_id, error)

        try:
            done = self._step(job, steps.Running(job_input, embedder, self._llm), beat)
            is_finished = self._call(
                job, "finish_job", result=done.result, phases=list(done.phases)
            )
        except psycopg.OperationalError:
            raise  # of the server, not of the job: its lease ends, or is found again
        except Exception as error:
            self._fail(job, error)
            return
        if is_finished:
            self.report.done[job.kind] = self.report.done.get(job.kind, 0) + 1
        else:
            self._lose(job)

    def _step(self, job: Job, running: steps.Running, beat: Callable[[], Any]) -> steps.StepResult:
        """Do a step; its questions are answered in between, each in a transaction of its own."""
        answer: Any = None
        while True:
            reached = SyncRuntime.with_heartbeat(
                partial(running.advance, answer), beat, self._lease.total_seconds() / 3
            )
            if isinstance(reached, steps.StepResult):
                return reached
            answer = self._call(job, reached.function, **reached.arguments)

    def _call(self, job: Job, function: str, **arguments: Any) -> Any:
        """Call a function on the job; the lease token makes each of them repeatable."""
        call = Call.of(
            function,
            user_id=job.user_id,
            job_id=job.job_id,
            lease_token=job.lease_token,
            **arguments,
        )
        return self._database.value(call, user_id=job.user_id, repeatable=True)

    def _fail(self, job: Job, error: Exception) -> None:
        """Hand the job back; what the database has refused by its rules it would refuse again."""
        is_final = isinstance(error, PgRecallError) and error.diag.sqlstate is not None
        said = f"{type(error).__name__}: {error}"
        logger.warning("job %s (%s) failed: %s", job.job_id, job.kind, said)
        self.report.failed[job.kind] = self.report.failed.get(job.kind, 0) + 1
        self.report.last_error = said
        self._call(
            job,
            "fail_job",
            error=said.replace("\x00", ""),
            retry=False if is_final else UNSET,
        )

    def _lose(self, job: Job) -> None:
        logger.info("job %s (%s) is due again: too late, or the session moved on", job.job_id,
                    job.kind)  # fmt: skip
        self.report.lost += 1


def _jitter() -> float:
    return random.uniform(0.5, 1.5)  # noqa: S311
