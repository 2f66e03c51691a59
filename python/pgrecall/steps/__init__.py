"""What a worker does with a job between claiming and finishing it; one module a step.

A step takes the job's input, the embedder and the model, and returns the result. It holds no
connection: it may take minutes. What it has to ask of the database in between it hands to the
worker as a `Question`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pgrecall.embedding import Embedder
from pgrecall.errors import ConfigurationError
from pgrecall.llm import ChatModel, ContextWindowError, ModelAnswerError, Price
from pgrecall.steps import compact, embed, extract, merge, pattern, summarize
from pgrecall.steps._questions import Question, storable
from pgrecall.steps._vectors import Phase, Vectors

__all__ = ["KINDS", "OF_MODEL", "WITHOUT_EMBEDDER", "Phase", "Question", "Running", "StepResult",
           "kinds", "run", "storable"]  # fmt: skip

KINDS = ("extract:verbatim", "embed")
"""What a worker without a language model can do."""

WITHOUT_EMBEDDER = ("extract:verbatim",)
"""What it can do without an embedder."""

OF_MODEL = ("extract:llm", "summarize", "compact", "merge", "pattern")
"""What a language model is needed for."""

_STEPS: Mapping[str, Callable[[Mapping[str, Any], Vectors], dict[str, Any]]] = {
    "extract:verbatim": extract.verbatim,
    "embed": embed.embed,
}
_MODEL_STEPS: Mapping[str, Callable[[Mapping[str, Any], Vectors, ChatModel], Any]] = {
    "extract:llm": extract.llm,
    "summarize": summarize.summarize,
    "compact": compact.compact,
    "merge": merge.merge,
    "pattern": pattern.pattern,
}


def kinds(embedder: Embedder | None, llm: ChatModel | None) -> list[str]:
    """Return the kinds of job that a worker with these can do."""
    return [*(KINDS if embedder else WITHOUT_EMBEDDER), *(OF_MODEL if llm else ())]


@dataclass(frozen=True, slots=True)
class StepResult:
    """What `finish_job` takes.

    Attributes:
        result: the effect.
        phases: spans: phase, duration_ms, items, model_id; tokens and cost of a language model.
    """

    result: dict[str, Any]
    phases: Sequence[Phase]


_SPANS = {"summarize": "summary", "compact": "summary"}
_ERROR_CHARS = 2000  # of a failure, kept in its span
_MAX_SHRINKS = 8  # until the prompt is a tenth of what it was


class Running:
    """A job's step, which may stop at a question to the database.

    Attributes:
        phases: the spans so far, those of a failure included.

    Raises:
        ConfigurationError: there is no step of this kind, or it needs a model.
    """

    def __init__(
        self,
        job_input: Mapping[str, Any],
        embedder: Embedder | None,
        llm: ChatModel | None = None,
        prices: Mapping[str, Price] | None = None,
    ) -> None:
        kind = job_input["kind"]
        name = f"{kind}:{job_input['mode']}" if "mode" in job_input else kind
        if name not in _STEPS and (llm is None or name not in _MODEL_STEPS):
            raise ConfigurationError(
                f"this worker has no step for jobs of kind {name}",
                hint="Give it a language model." if name in _MODEL_STEPS else "Upgrade pgrecall.",
            )
        self._name = name
        self._kind = kind
        self._input = job_input
        self._llm = llm
        self._vectors = Vectors(embedder, prices)
        self.phases = self._vectors.phases
        self._shrinks = 0
        self._dialog: Generator[Question, Any, dict[str, Any]] | None = None
        self._started = time.monotonic()

    def advance(self, answer: Any = None) -> StepResult | Question:
        """Work until the end, or the next question; `answer` is that to the last one.

        A prompt that was longer than the model can read is made anew, shorter; then what was asked
        before is asked again.

        Raises:
            ModelAnswerError: the language model answered nonsense.
            EmbeddingError: the embedder failed.
        """
        started = time.monotonic()
        try:
            return self._advance(answer)
        except ContextWindowError as error:
            self._record(error, started)
            self._shrinks += 1
            if self._shrinks > _MAX_SHRINKS:
                raise
            self._dialog = None
            return self.advance()
        except Exception as error:
            self._record(error, started)
            raise

    def _advance(self, answer: Any) -> StepResult | Question:
        if self._dialog is not None:
            return self._go_on(self._dialog, answer)
        if self._name in _STEPS:
            return self._done(_STEPS[self._name](self._input, self._vectors))
        assert self._llm is not None  # noqa: S101
        made = _MODEL_STEPS[self._name](self._input, self._vectors, self._llm)
        if not isinstance(made, Generator):
            return self._done(made)
        self._dialog = made
        return self._go_on(made, None)

    def _record(self, error: Exception, started: float) -> None:
        """Add the span of what failed, unless it is there: what it cost is spent all the same."""
        if isinstance(error, ModelAnswerError) and error.span is not None:
            span = dict(error.span)
            self.phases.append(span | {"phase": _SPANS.get(span["phase"], span["phase"])})
        elif not (self.phases and "error" in self.phases[-1]):
            took = (time.monotonic() - started) * 1000
            span = {"phase": self._kind, "duration_ms": took}
            self.phases.append(span | {"error": f"{type(error).__name__}: {error}"})
        self.phases[-1]["error"] = storable(self.phases[-1]["error"])[:_ERROR_CHARS]

    def _go_on(
        self, dialog: Generator[Question, Any, dict[str, Any]], answer: Any
    ) -> StepResult | Question:
        try:
            return dialog.send(answer)
        except StopIteration as end:
            return self._done(end.value)

    def _done(self, result: dict[str, Any]) -> StepResult:
        phases = list(self._vectors.phases)
        if not phases:
            took = (time.monotonic() - self._started) * 1000
            phases.append({"phase": self._kind, "duration_ms": took, "items": 0})
        return StepResult(result, phases)


def run(
    job_input: Mapping[str, Any],
    embedder: Embedder | None,
    llm: ChatModel | None = None,
    ask: Callable[[Question], Any] | None = None,
) -> StepResult:
    """Do the step of a job to its end; `ask` answers its questions.

    Raises:
        ConfigurationError: there is no step of this kind, or it needs a model.
        ModelAnswerError: the language model answered nonsense.
        EmbeddingError: the embedder failed.
    """
    running = Running(job_input, embedder, llm)
    reached = running.advance()
    while isinstance(reached, Question):
        if ask is None:
            raise TypeError(f"nobody answers the step's question {reached.function}")
        reached = running.advance(ask(reached))
    return reached
