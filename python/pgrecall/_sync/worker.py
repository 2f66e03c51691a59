# Made from _async/worker.py by `make generate`; change that file, not this.
"""The worker: it claims jobs, answers their requests, and completes them."""

from __future__ import annotations

import os
import random
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg

from pgrecall import _process
from pgrecall._json import storable_text
from pgrecall._logs import logger
from pgrecall._report import Outcome, WorkerReport
from pgrecall._runtime import SyncCrew, SyncRuntime, SyncStop
from pgrecall._sql import UNSET, Call
from pgrecall._sync.core import Core
from pgrecall.errors import (
    CallTimeoutError,
    ConfigurationError,
    ForkedError,
    InvalidInputError,
    PgRecallError,
    is_lost,
)
from pgrecall.models._answers import vectors_answer
from pgrecall.models._chat import Asking, ChatModel
from pgrecall.models._embedders import Embedder
from pgrecall.rows import EmbeddingMigration, Job, MaintenanceRun, WaitingJobs

__all__ = ["Worker"]


_OF_MODEL = ("extract:llm", "summarize", "compact", "merge", "pattern")
# Seconds:
_MAX_PAUSE = 60.0  # between two attempts to reach a lost server.
_REPEATS = (0.5, 2.0)  # before a call that took too long is sent again.
_MAINTENANCE_SECONDS = 30.0  # between two checks for maintenance that is due.
_MAINTENANCE_TIMEOUT = 60.0  # of one call, whose tasks bound themselves.
_MAINTENANCE_TURN = 5.0  # of a backlog, before the next jobs.
_MAINTENANCE_RETRY = 1.1  # that the database lets a task wait for locked rows.


class Worker:
    """Works on the queue; made by `AgentMemory.worker`.

    A job is claimed under a lease and worked on without a connection or a transaction; a sign of
    life extends the lease meanwhile. A worker that dies loses nothing: its lease ends. Besides jobs
    it runs the maintenance that is due.

    Attributes:
        concurrency: how many jobs it does at the same time.
        report: what it has done so far.
    """

    def __init__(
        self,
        core: Core,
        *,
        llm: ChatModel | None,
        kinds: Sequence[str] | None,
        embedders: Sequence[Embedder],
        name: str | None,
        lease: timedelta,
        poll_seconds: float,
        concurrency: int,
    ) -> None:
        if concurrency < 1:
            raise InvalidInputError(f"concurrency is {concurrency}", hint="Pass 1 or more.")
        if concurrency > 1 and not core.work.transport.is_pooled:
            raise InvalidInputError(
                f"one connection cannot serve {concurrency} jobs at the same time",
                hint="Connect by a DSN or a pool.",
            )
        self._core = core
        self._database = core.work
        self._llm = llm
        self._given = {one.model: one for one in embedders}
        self._embedders: dict[str, Embedder] = {}
        self._looked: float | None = None
        self._kinds = None if kinds is None else {kinds} if isinstance(kinds, str) else set(kinds)
        self._lease = lease
        self._poll_seconds = poll_seconds
        self._stop = SyncStop()
        self._maintained: float | None = None
        self._name = name
        self._origin: _process.Origin | None = None  # of the work in progress
        self.concurrency = concurrency
        self.report = WorkerReport()

    @property
    def name(self) -> str:
        """The name of this worker in the queue."""
        return self._name or f"{socket.gethostname()}:{os.getpid()}"

    def stop(self) -> None:
        """Stop after the jobs in progress; may be called from any thread.

        Raises:
            ForkedError: it runs in the process that forked this one.
        """
        self._check_process()
        self._stop.set()

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Mark the worker as running in this process, which alone may continue its jobs."""
        self._check_process()
        before = self._origin
        self._origin = _process.Origin(
            "this running worker", "Make a worker in each process, after the fork."
        )
        try:
            yield
        finally:
            if not self._origin.is_elsewhere:
                self._origin = before

    def _check_process(self) -> None:
        if self._origin is not None:
            self._origin.check()

    def run_until_idle(
        self,
        *,
        flush: bool = False,
        handle_signals: bool = False,
        progress: Callable[[WorkerReport], object] | None = None,
    ) -> WorkerReport:
        """Work until no job is due and none runs, and return what was done.

        It does not wait for jobs that are due later (an active conversation, a retry); the
        report counts them.

        Args:
            flush: whether to extract at once what waits for its idle time.
            handle_signals: whether SIGTERM and SIGINT ask to stop (only in the main thread).
            progress: called after each job.

        Raises:
            ConnectionLostError: the server is lost. Jobs in progress come back when their
                leases end.
            CallTimeoutError: a call took too long, three times.
            ConfigurationError: the embedder is not the database's, or needs a key; `kinds` has a
                kind that it cannot do.
        """
        if handle_signals:
            with self._stop.on_signals():
                return self.run_until_idle(flush=flush, progress=progress)
        with self._running():
            return self._run_until_idle(flush, progress)

    def _run_until_idle(
        self, flush: bool, progress: Callable[[WorkerReport], object] | None
    ) -> WorkerReport:
        with SyncCrew(self.concurrency) as crew:
            while not self._stop.is_set():
                self._maintain()
                self._start_due(crew, flush=flush)
                if crew.free == crew.size:
                    break
                self._count(crew.ended(self._pause()), progress)
            self._finish(crew, progress)
        return self.count_waiting()

    def run(
        self,
        *,
        handle_signals: bool = True,
        progress: Callable[[WorkerReport], object] | None = None,
        on_start: Callable[[], object] | None = None,
    ) -> WorkerReport:
        """Work until `stop`, SIGTERM or SIGINT, and return what was done.

        It waits for a lost server, with growing pauses. It finishes the jobs in progress before it
        stops; a second signal of the same kind does not wait for them.

        Args:
            handle_signals: whether the signals ask to stop (only in the main thread).
            progress: called after each job.
            on_start: called once, when a signal already stops the worker in order.

        Raises:
            ConfigurationError: the embedder is not the database's, or needs a key; `kinds` has a
                kind that it cannot do.
        """
        if handle_signals:
            with self._stop.on_signals():
                return self.run(handle_signals=False, progress=progress, on_start=on_start)
        with self._running():
            if on_start is not None:
                on_start()
            return self._run(progress)

    def _run(self, progress: Callable[[WorkerReport], object] | None) -> WorkerReport:
        with SyncCrew(self.concurrency) as crew:
            failures = 0
            while not self._stop.is_set():
                try:
                    self._maintain()
                    self._start_due(crew)
                    failures = 0
                    if crew.free == crew.size:
                        self._stop.wait(self._pause())
                    else:
                        self._count(crew.ended(self._pause()), progress)
                except psycopg.OperationalError as error:  # a timeout or deadlock passes, too
                    failures += 1
                    pause = min(_MAX_PAUSE, 0.5 * 2 ** min(failures, 10))
                    what = "cannot be reached" if is_lost(error) else "is busy"
                    logger.warning("the server %s, waiting %.0f s: %s", what, pause, error)
                    self._stop.wait(pause * _jitter())
            try:
                self._finish(crew, progress)
            except psycopg.Error as error:
                if not is_lost(error):
                    raise
                logger.warning("a job in progress comes back when its lease ends: %s", error)
        try:
            return self.count_waiting()
        except psycopg.OperationalError as error:
            logger.warning("the waiting jobs could not be counted: %s", error)
            return self.report

    def run_once(self) -> bool:
        """Take one job and do it; return False when none was due."""
        with self._running():
            jobs = self._claim(1)
            for job in jobs:
                self.report.add(self._do(job))
            return bool(jobs)

    def count_waiting(self) -> WorkerReport:
        """Return the report with what waits now: deferred jobs, and those that need a model."""
        waiting = self._patiently(
            partial(self._database.rows, WaitingJobs, Call.of("waiting_jobs"), repeatable=True)
        )
        self.report.count_waiting(waiting, has_model=self._llm is not None)
        return self.report

    def _start_due(self, crew: SyncCrew, *, flush: bool = False) -> None:
        """Claim as many jobs as may run, and start them."""
        if crew.free:
            for job in self._claim(crew.free, flush=flush):
                crew.start(partial(self._do, job))

    def _finish(self, crew: SyncCrew, progress: Callable[[WorkerReport], object] | None) -> None:
        """Wait for the jobs in progress."""
        while crew.free < crew.size:
            self._count(crew.ended(), progress)

    def _count(
        self, ended: Iterable[Any], progress: Callable[[WorkerReport], object] | None
    ) -> None:
        """Count what became of jobs; what one has raised is raised after the others are counted."""
        errors: list[BaseException] = []
        for task in ended:
            if (error := task.exception()) is not None:
                errors.append(error)
                continue
            self.report.add(task.result())
            if progress is not None:
                progress(self.report)
        if errors:
            raise errors[0]

    def _pause(self) -> float:
        return self._poll_seconds * _jitter()

    def _claim(self, limit: int, *, flush: bool = False) -> list[Job]:
        """Claim jobs. After a lost answer the jobs of a claim come back when their lease ends."""
        jobs: list[Job] = self._patiently(partial(self._claim_once, limit, flush))
        return jobs

    def _claim_once(self, limit: int, flush: bool) -> list[Job]:
        kinds = self._kinds_of(self._find_embedders())
        return self._database.rows(
            Job,
            Call.of(
                "claim_jobs",
                worker=self.name,
                kinds=kinds,
                limit=limit,
                lease=self._lease,
                flush=flush or UNSET,
            ),
            repeatable=True,
        )

    def _patiently(self, send: Callable[[], Any]) -> Any:
        """Send a call that may be repeated, again when a timeout has ended it.

        A model's answer is paid for: it is not thrown away because a lock took 5 seconds.
        """
        self._check_process()
        for pause in _REPEATS:
            try:
                return send()
            except CallTimeoutError as error:
                logger.warning("a call of the worker is sent again: %s", error)
                self._stop.wait(pause * _jitter())
        return send()

    def _find_embedders(self) -> dict[str, Embedder]:
        """Return the embedders by model, the current first; while it changes, the new one, too."""
        now = time.monotonic()
        if self._looked is not None and now < self._looked + _MAINTENANCE_SECONDS:
            return self._embedders
        found = self._database.rows(
            EmbeddingMigration, Call.of("get_embedding_migration"), repeatable=True
        )
        current = self._core.embedder()
        target = None
        if current is not None and found and found[0].ended_at is None:
            change = found[0]
            if change.switched_at is not None and current.model != change.to_model:
                current = self._core.embedder_of(change.to_model) or current
            elif change.switched_at is None:
                target = self._core.embedder_of(change.to_model, change.to_dimensions)
        offered = [one for one in (current, target) if one is not None]
        self._embedders = {one.model: one for one in offered} | self._given
        self._looked = now
        return self._embedders

    def _kinds_of(self, embedders: Mapping[str, Embedder]) -> list[str]:
        """Return the kinds to claim: those of `kinds`, or all that it can do."""
        able = [*(("extract:verbatim", "embed") if embedders else ("extract:verbatim",)),
                *(f"embed:{model}" for model in embedders),
                *(_OF_MODEL if self._llm else ())]  # fmt: skip
        if self._kinds is None:
            return able
        for kind in self._kinds:
            if not any(kind in (one, one.partition(":")[0]) for one in able):
                raise ConfigurationError(
                    f"this worker cannot do jobs of kind {kind}",
                    hint=f"It can do {', '.join(able)}; more with an embedder or a language model.",
                )
        return [one for one in able if not self._kinds.isdisjoint((one, one.partition(":")[0]))]

    def _maintain(self) -> None:
        """Run the maintenance that is due; where pg_cron does it in time, nothing is.

        A backlog is worked on in turns with jobs.
        """
        self._check_process()
        now = time.monotonic()
        if self._maintained is not None and now < self._maintained + _MAINTENANCE_SECONDS:
            return
        self._maintained = now
        try:
            runs = self.maintain(seconds=_MAINTENANCE_TURN, patience=0.0)
        except psycopg.Error as error:
            if is_lost(error):
                raise
            logger.warning("maintenance failed: %s", error)
            return
        if time.monotonic() > now + _MAINTENANCE_TURN:
            self._maintained = None
        elif any(_is_held(run) for run in runs):
            self._maintained = time.monotonic() - _MAINTENANCE_SECONDS + _MAINTENANCE_RETRY
        for run in runs:
            if "error" in run.result:
                logger.warning("maintenance %s failed: %s", run.task, run.result["error"])

    def maintain(self, *, seconds: float = 600.0, patience: float = 10.0) -> list[MaintenanceRun]:
        """Run the maintenance tasks that are due, in short transactions, and return how each went.

        Args:
            seconds: after which what is still due is left for the next time.
            patience: how long to wait for locked rows, with a pause between two tries.
        """
        until = time.monotonic() + seconds
        patient = time.monotonic() + patience
        runs: list[MaintenanceRun] = []
        while not runs or not (self._stop.is_set() or time.monotonic() > until):
            found = self._database.rows(
                MaintenanceRun,
                Call.of("run_due_maintenance"),
                repeatable=True,  # what was done is not due any more
                timeout=_MAINTENANCE_TIMEOUT,
            )
            runs += found
            if any(run.result.get("done") for run in found):
                patient = time.monotonic() + patience
            elif not found:
                last = {run.task: run for run in runs}
                if time.monotonic() > patient or not any(map(_is_held, last.values())):
                    break
                self._stop.wait(_MAINTENANCE_RETRY)
        return runs

    def _do(self, job: Job) -> Outcome:
        try:
            with self._core.call_log.of_own(
                job.user_id, session_id=job.session_id, job_id=job.job_id
            ):
                end = self._work(job)
        except Exception as error:
            if is_lost(error) or isinstance(error, ForkedError):
                raise  # the job is not at fault: its lease ends or resumes, or the parent continues
            return self._failed(job, error)
        match end["type"]:
            case "done":
                return Outcome(job.kind, is_done=True)
            case "failed":
                logger.warning("job %s (%s) failed: %s", job.job_id, job.kind, end["error"])
                return Outcome(job.kind, error=end["error"])
            case "deferred":
                logger.warning("job %s (%s) is deferred: %s", job.job_id, job.kind, end["reason"])
                return Outcome(job.kind, is_deferred=True)
        logger.info("job %s (%s): its lease has ended", job.job_id, job.kind)
        return Outcome(job.kind)

    def _work(self, job: Job) -> dict[str, Any]:
        """Answer the requests of a job until there is none, and return how it ended.

        A missing answer asks for the same request in another form.
        """
        embedders = self._find_embedders()
        guard = self._core.guard
        sealer = None if guard.wrapping is None else guard.sealer()
        asking = None if self._llm is None else Asking(self._llm)
        offer = _offer(embedders, asking, None, sealer is not None)
        answer: Mapping[str, Any] | None = None
        while True:
            request: dict[str, Any] = self._call(
                job, "next_request", worker=offer, answer=UNSET if answer is None else answer
            )
            if request["type"] == "select":
                answer = guard.sealer().select_statements(request, job.user_id)
                continue
            opened = request
            if sealer is not None:
                opened = sealer.opened_request(request, job.user_id)
            if request["type"] not in ("chat", "embed"):
                return opened
            made_for, answer = offer, None
            if request["type"] == "chat":
                offer = _offer(embedders, asking, request["model"], sealer is not None)
            if offer != made_for:
                continue
            answer = SyncRuntime.with_heartbeat(
                partial(_answered, opened, embedders, asking),
                partial(self._beat, job),
                self._lease.total_seconds() / 3,
            )
            if answer is None:
                offer = _offer(embedders, asking, request["model"], sealer is not None)
            elif sealer is not None:
                answer = sealer.sealed_answer(request, answer, job.user_id)

    def _beat(self, job: Job) -> None:
        """Extend the lease while a model works."""
        try:
            self._call(job, "extend_lease", lease=self._lease)
        except psycopg.Error as error:  # the next one may come through
            logger.warning("job %s: the lease could not be extended: %s", job.job_id, error)

    def _call(self, job: Job, function: str, **arguments: Any) -> Any:
        """Call a function on the job; the lease token makes each of them repeatable."""
        call = Call.of(
            function,
            user_id=job.user_id,
            job_id=job.job_id,
            lease_token=job.lease_token,
            **arguments,
        )
        send = partial(self._database.value, call, repeatable=True)
        return self._patiently(send)

    def _failed(self, job: Job, error: Exception) -> Outcome:
        """Hand the job back; what the database has refused by its rules it would refuse again."""
        is_final = isinstance(error, PgRecallError) and error.diag.sqlstate is not None
        said = f"{type(error).__name__}: {error}"
        logger.warning("job %s (%s) failed: %s", job.job_id, job.kind, said)
        try:
            self._call(
                job,
                "fail_job",
                error=storable_text(said),
                retry=False if is_final else UNSET,
            )
        except psycopg.Error as failure:  # such as a user that stays locked
            if is_lost(failure):
                raise
            logger.warning("job %s comes back when its lease ends: %s", job.job_id, failure)
        return Outcome(job.kind, error=said)


def _offer(
    embedders: Mapping[str, Embedder], asking: Asking | None, model: str | None, has_keys: bool
) -> dict[str, Any]:
    """Return `p_worker`: the models and their endpoint's features, the embedders, the keys."""
    offer = {"encryption": has_keys} | ({} if asking is None else asking.offer(model))
    return {**offer, "embedding_models": [*embedders]} if embedders else offer


def _answered(
    request: Mapping[str, Any], embedders: Mapping[str, Embedder], asking: Asking | None
) -> dict[str, Any] | None:
    """Answer a request by a model; None when the offer has changed, so that it is repeated."""
    if request["type"] == "chat":
        assert asking is not None  # noqa: S101  (it was offered)
        return asking.answer(request)
    return vectors_answer(request, embedders[request["model"]])


def _is_held(run: MaintenanceRun) -> bool:
    """Return whether a task left work because rows were locked."""
    return bool(run.result.get("waits"))


def _jitter() -> float:
    return random.uniform(0.5, 1.5)  # noqa: S311
