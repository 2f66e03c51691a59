"""The differences between the asynchronous and the blocking client, beyond `await`.

The two classes of a pair have the same methods: `make generate` makes the blocking modules from the
asynchronous ones by replacing names.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import signal
import threading
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for_futures
from types import FrameType, TracebackType
from typing import Any, Literal, Self, TypeVar

from pgrecall import _process
from pgrecall._logs import logger

__all__ = ["AsyncBackground", "AsyncCrew", "AsyncHome", "AsyncRuntime", "AsyncStop",
           "SyncBackground", "SyncCrew", "SyncHome", "SyncRuntime", "SyncStop"]  # fmt: skip

Result = TypeVar("Result")


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_MAX_WAITING = 1000
_SIGNAL_SECONDS = 0.2  # until a blocking wait notices a signal


_OTHER_LOOP = (
    "this AsyncAgentMemory is in use in another event loop (make one for each loop, and await its "
    "aclose() before the loop ends; threads can share an AgentMemory)"
)


class _LoopLock(asyncio.Lock):
    """A mutex that raises where waiting would never end: its holder runs in another event loop."""

    _holder: asyncio.AbstractEventLoop | None = None

    async def acquire(self) -> Literal[True]:
        loop = asyncio.get_running_loop()
        if self.locked() and self._holder is not loop:
            raise RuntimeError(_OTHER_LOOP)
        await super().acquire()
        self._holder = loop
        return True


class AsyncHome:
    """The event loop in which connections live: a wait for them in another would never end."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._origin: _process.Origin | None = None

    @property
    def is_inherited(self) -> bool:
        """Whether the home is a loop of the process that forked this one."""
        return self._origin is not None and self._origin.is_elsewhere

    def enter(self) -> None:
        """Make the running loop the home, at the first call.

        Raises:
            ForkedError: the home is a loop of the parent.
            RuntimeError: the home is another loop.
        """
        if self._origin is not None:
            self._origin.check()
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._loop is not None:
                raise RuntimeError(_OTHER_LOOP)
            self._loop = loop
            self._origin = _process.Origin(
                "this AsyncAgentMemory", "Make one in each process, after the fork."
            )

    def leave(self) -> None:
        """Let the next call choose: the connections are closed."""
        self._loop = self._origin = None


class SyncHome:
    """The process: its threads may share blocking connections."""

    is_inherited = False

    def enter(self) -> None:
        """Start anew in a child."""
        _process.check()

    def leave(self) -> None:
        """Do nothing."""


class AsyncRuntime:
    """Ways to wait, with asyncio."""

    @staticmethod
    def lock() -> asyncio.Lock:
        """Return a mutex."""
        return _LoopLock()

    @staticmethod
    async def sleep(seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    @staticmethod
    async def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
        """Run a function that computes or blocks, in a thread."""
        return await asyncio.to_thread(function, *arguments)

    @staticmethod
    async def call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Run a function of the caller: a coroutine here, anything else in a thread."""
        if inspect.iscoroutinefunction(function):
            return await function(*arguments, **named)
        result = await asyncio.to_thread(function, *arguments, **named)
        return await result if inspect.isawaitable(result) else result

    @staticmethod
    async def within(seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a function of the caller, as `call` does; `TimeoutError` when it takes longer."""
        return await asyncio.wait_for(AsyncRuntime.call(function, *arguments), seconds)

    @staticmethod
    async def with_heartbeat(
        function: Callable[[], Result], beat: Callable[[], Awaitable[Any]], seconds: float
    ) -> Result:
        """Run a function that computes or blocks, and call `beat` every so many seconds."""
        task = asyncio.create_task(asyncio.to_thread(function))
        while not (await asyncio.wait({task}, timeout=seconds))[0]:
            await beat()
        return await task

    @staticmethod
    async def collected(value: Any) -> Any:
        """Return what a stream yields as a list, anything else as it is."""
        if isinstance(value, AsyncIterable):
            return [item async for item in value]
        return value


class SyncRuntime:
    """Ways to wait, by blocking the thread."""

    @staticmethod
    def lock() -> threading.Lock:
        """Return a mutex."""
        return _process.lock()

    @staticmethod
    def sleep(seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    @staticmethod
    def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
        """Run a function that computes or blocks."""
        return function(*arguments)

    @staticmethod
    def call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Run a function of the caller."""
        if inspect.iscoroutinefunction(function):
            raise TypeError(f"{function.__qualname__} is a coroutine function; only "
                            "AsyncAgentMemory can wait for it")  # fmt: skip
        return function(*arguments, **named)

    @staticmethod
    def within(seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a function of the caller, as `call` does; `TimeoutError` when it takes longer.

        It cannot be stopped then, and continues in a daemon thread.
        """
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(SyncRuntime.call(function, *arguments))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, name="pgrecall-rerank", daemon=True).start()
        return future.result(seconds)

    @staticmethod
    def with_heartbeat(
        function: Callable[[], Result], beat: Callable[[], Any], seconds: float
    ) -> Result:
        """Run a function that computes or blocks, and call `beat` every so many seconds."""
        with ThreadPoolExecutor(1, thread_name_prefix="pgrecall-step") as executor:
            future = executor.submit(contextvars.copy_context().run, function)
            while not wait_for_futures([future], timeout=seconds).done:
                beat()
            return future.result()

    @staticmethod
    def collected(value: Any) -> Any:
        """Return the value: an ordinary iterator is read where it is needed."""
        return value


class AsyncBackground:
    """Short calls in the background; their errors are logged, not raised."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        _process.renewing(self)

    def _renew(self) -> None:
        """Leave the calls to the parent, whose loop they wait for."""
        _process.keep(*self._tasks)
        self._tasks, self._loop = set(), None

    def attach(self) -> None:
        """Accept calls from threads, too, from now on: they run in the loop that runs here."""
        self._loop = asyncio.get_running_loop()

    def submit(self, function: Callable[[], Awaitable[Any]], what: str) -> bool:
        """Start it; when too many wait already, drop it with a warning and return False."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            if self._loop is None or self._loop.is_closed():
                raise
            self._loop.call_soon_threadsafe(self.submit, function, what)
            return True
        if len(self._tasks) >= _MAX_WAITING:
            logger.warning("%s was dropped: %d tasks are waiting", what, len(self._tasks))
            return False
        task = loop.create_task(self._run(function, what))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    @staticmethod
    async def _run(function: Callable[[], Awaitable[Any]], what: str) -> None:
        try:
            await function()
        except Exception as error:
            logger.warning("%s failed: %s", what, error)

    async def drain(self) -> None:
        """Wait until nothing is left."""
        while self._tasks:
            await asyncio.gather(*self._tasks)


class SyncBackground:
    """Short calls in the background; their errors are logged, not raised."""

    def __init__(self) -> None:
        self._lock = _process.lock()
        self._executor: ThreadPoolExecutor | None = None
        self._tasks: set[Future[None]] = set()
        _process.renewing(self)

    def _renew(self) -> None:
        """Leave the calls to the parent, which has their thread."""
        self._executor, self._tasks = None, set()

    def attach(self) -> None:
        """Do nothing: threads may always submit."""

    def submit(self, function: Callable[[], Any], what: str) -> bool:
        """Start it; when too many wait already, drop it with a warning and return False."""
        with self._lock:
            if len(self._tasks) >= _MAX_WAITING:
                logger.warning("%s was dropped: %d tasks are waiting", what, len(self._tasks))
                return False
            if self._executor is None:
                self._executor = ThreadPoolExecutor(1, thread_name_prefix="pgrecall-background")
            task = self._executor.submit(self._run, function, what)
            self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    @staticmethod
    def _run(function: Callable[[], Any], what: str) -> None:
        try:
            function()
        except Exception as error:
            logger.warning("%s failed: %s", what, error)

    def drain(self) -> None:
        """Wait until nothing is left, and end the thread."""
        with self._lock:
            executor, self._executor = self._executor, None
            tasks = set(self._tasks)
        wait_for_futures(tasks)
        if executor is not None:
            executor.shutdown()


class _Crew:
    """Calls that run at the same time.

    Attributes:
        size: how many may run.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._tasks: set[Any] = set()

    @property
    def free(self) -> int:
        """How many more may be started."""
        return self.size - len(self._tasks)


class AsyncCrew(_Crew):
    """Tasks; leaving the `with` block waits for them."""

    def start(self, work: Callable[[], Awaitable[Any]]) -> None:
        """Start one."""

        async def run() -> Any:
            return await work()

        self._tasks.add(asyncio.create_task(run()))

    async def ended(self, seconds: float | None = None) -> list[asyncio.Task[Any]]:
        """Wait until one has ended, at most so long, and return those that have."""
        if not self._tasks:
            return []
        done, self._tasks = await asyncio.wait(
            self._tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
        return [*done]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(exc, asyncio.CancelledError):
            for task in self._tasks:
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class SyncCrew(_Crew):
    """Threads; leaving the `with` block waits for them."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._executor = ThreadPoolExecutor(size, thread_name_prefix="pgrecall-job")

    def start(self, work: Callable[[], Any]) -> None:
        """Start one."""
        self._tasks.add(self._executor.submit(work))

    def ended(self, seconds: float | None = None) -> list[Future[Any]]:
        """Wait until one has ended, at most so long, and return those that have."""
        if not self._tasks:
            return []
        done, self._tasks = wait_for_futures(
            self._tasks, timeout=seconds, return_when=FIRST_COMPLETED
        )
        return [*done]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()


class AsyncStop:
    """A request to stop: made by a signal, or by `set` from any thread."""

    def __init__(self) -> None:
        self._wish = threading.Event()
        self._wakers: list[Callable[[], object]] = []
        self._taken: list[signal.Signals] = []
        _process.renewing(self)

    def _renew(self) -> None:
        """Let a signal to a child end it: the parent's loop would take it for its own."""
        for taken in self._taken:
            is_sigint = taken == signal.SIGINT
            signal.signal(taken, signal.default_int_handler if is_sigint else signal.SIG_DFL)
        self._taken = []

    def set(self) -> None:
        """Request a stop."""
        self._wish.set()
        for wake in list(self._wakers):
            wake()

    def is_set(self) -> bool:
        """Return whether a stop was requested."""
        return self._wish.is_set()

    async def wait(self, seconds: float) -> bool:
        """Wait so long, or until a stop is requested; return whether it was."""
        loop = asyncio.get_running_loop()
        woken = asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(woken.set)

        self._wakers.append(wake)
        try:
            if not self._wish.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), seconds)
        finally:
            self._wakers.remove(wake)
        return self._wish.is_set()

    @contextlib.asynccontextmanager
    async def on_signals(self) -> AsyncIterator[None]:
        """Let SIGINT and SIGTERM ask, where signals can be handled; the same again ends at once."""
        loop = asyncio.get_running_loop()

        def ask(number: int) -> None:
            self.set()
            loop.remove_signal_handler(number)

        for number in _SIGNALS:
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, ask, number)
                self._taken.append(number)
        try:
            yield
        finally:
            taken, self._taken = self._taken, []
            for number in taken:
                loop.remove_signal_handler(number)


class SyncStop:
    """A request to stop: made by a signal, or by `set` from any thread."""

    def __init__(self) -> None:
        self._wish = threading.Event()
        # of a signal's handler: it may run while its own thread holds the lock of the event
        self._signaled = False
        self._before: dict[int, Any] = {}
        _process.renewing(self)

    def _renew(self) -> None:
        """Let a signal to a child do what it did before the parent's worker ran."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def set(self) -> None:
        """Request a stop."""
        self._wish.set()

    def is_set(self) -> bool:
        """Return whether a stop was requested."""
        return self._signaled or self._wish.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until a stop is requested; return whether it was."""
        end = time.monotonic() + seconds
        while not self.is_set() and (left := end - time.monotonic()) > 0:
            self._wish.wait(min(left, _SIGNAL_SECONDS))
        return self.is_set()

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Let SIGINT and SIGTERM ask, where signals can be handled; the same again ends at once."""

        def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
            self._signaled = True
            # Python's own answer to SIGINT, an exception, would wait for the threads of the jobs;
            # a shell has what it starts in the background ignore it
            handler = self._before[number]
            is_own = handler is signal.default_int_handler or not callable(handler)
            signal.signal(number, signal.SIG_DFL if is_own else handler)

        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._before[number] = signal.getsignal(number)
                signal.signal(number, ask)
        try:
            yield
        finally:
            for taken, handler in self._before.items():
                signal.signal(taken, handler)
            self._before = {}  # last: until then a signal may still call `ask`
