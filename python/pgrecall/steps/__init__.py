"""What a worker does with a job between claiming and finishing it; one module a step.

A step takes the job's input and the embedder and returns the result. It holds no connection: it
may take minutes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pgrecall.embedding import Embedder
from pgrecall.errors import ConfigurationError
from pgrecall.steps import embed, extract
from pgrecall.steps._vectors import Phase, Vectors

__all__ = ["KINDS", "WITHOUT_EMBEDDER", "StepResult", "run"]

KINDS = ("extract:verbatim", "embed")
"""What a worker without a language model can do."""

WITHOUT_EMBEDDER = ("extract:verbatim",)
"""What it can do without an embedder."""

_STEPS: Mapping[str, Callable[[Mapping[str, Any], Vectors], dict[str, Any]]] = {
    "extract:verbatim": extract.verbatim,
    "embed": embed.embed,
}


@dataclass(frozen=True, slots=True)
class StepResult:
    """What `finish_job` takes.

    Attributes:
        result: the effect.
        phases: spans: phase, duration_ms, items, model_id.
    """

    result: dict[str, Any]
    phases: Sequence[Phase]


def run(job_input: Mapping[str, Any], embedder: Embedder | None) -> StepResult:
    """Do the step of a job.

    Raises:
        ConfigurationError: there is no step of this kind.
        EmbeddingError: the embedder failed.
    """
    kind = job_input["kind"]
    name = f"{kind}:{job_input['mode']}" if "mode" in job_input else kind
    if name not in _STEPS:
        raise ConfigurationError(
            f"this worker has no step for jobs of kind {name}", hint="Upgrade pgrecall."
        )
    started = time.monotonic()
    vectors = Vectors(embedder)
    result = _STEPS[name](job_input, vectors)
    phases = list(vectors.phases)
    if not phases:
        phases.append(
            {"phase": kind, "duration_ms": (time.monotonic() - started) * 1000, "items": 0}
        )
    return StepResult(result, phases)
