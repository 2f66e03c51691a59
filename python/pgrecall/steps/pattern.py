"""Patterns: what keeps coming back in a user's episodes, and what helped, by a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgrecall import prompts
from pgrecall.llm import ChatModel
from pgrecall.steps._questions import block, clean, numbered, prompt, tags
from pgrecall.steps._vectors import Vectors
from pgrecall.steps._window import answer_tokens, leading_lines

__all__ = ["pattern"]

_SOLVED = " Previous solutions: "
_MAX_CONTENT = 500  # characters of the pattern, and of a solution
_MAX_SOLUTIONS = 5  # named in its text, the latest; all of them are kept beside it
_TOKENS_OF_SOLUTION = 60  # of the answer, for each episode
_MIN_TOKENS = 400


def pattern(job_input: Mapping[str, Any], vectors: Vectors, model: ChatModel) -> dict[str, Any]:
    """Return the pattern with what solved it, its content None when there is none.

    Raises:
        ModelAnswerError: the model refused, or answered nonsense twice.
        EmbeddingError: the embedder failed.
    """
    episodes = job_input.get("episodes") or []
    known = job_input.get("pattern") or {}
    if not episodes:
        return {"content": None}
    schema = prompts.schema("pattern")
    schema["properties"]["solutions"]["maxItems"] = len(episodes)
    max_tokens = answer_tokens(model, "pattern", _MIN_TOKENS + _TOKENS_OF_SOLUTION * len(episodes))
    told = block("known", known.get("content", "").partition(_SOLVED)[0])
    lines = leading_lines(
        numbered(episodes), prompt("pattern", told), model, "pattern", schema, max_tokens
    )
    answer = model.ask(
        "pattern",
        prompt("pattern", told, block("episodes", "\n".join(lines))),
        prompts.Pattern,
        schema=schema,
        max_tokens=max_tokens,
        context={"episodes": len(lines)},
    )
    said = clean(answer.value.pattern or "", _MAX_CONTENT)
    vectors.phases.append(answer.phase("pattern", int(bool(said))))
    if not any(map(str.isalnum, said)):
        return {"content": None}
    solutions = [
        {"memory_id": episodes[item.episode - 1]["memory_id"], "solution": solution}
        for item in answer.value.solutions
        if any(map(str.isalnum, solution := clean(item.solution, _MAX_CONTENT)))
    ]
    dates = {episode["memory_id"]: episode["observed_at"] for episode in episodes}
    dated = [{**item, "date": dates[item["memory_id"]]} for item in solutions]
    result: dict[str, Any] = {
        "content": _with_solutions(said, [*known.get("solutions", []), *dated]),
        "tags": tags(answer.value.tags),
        "solutions": solutions,
    }
    if known:
        result["pattern_id"] = known["memory_id"]
    made = vectors.of([result["content"]])
    if made is not None:
        result |= {"embedding": made[0], "embedding_model": vectors.model}
    return result


def _with_solutions(said: str, solutions: Sequence[Mapping[str, Any]]) -> str:
    """Return the sentence, and behind it what helped and when, the latest last."""
    of_episode = {item["memory_id"]: item for item in solutions}
    latest = sorted(of_episode.values(), key=lambda item: str(item["date"]))[-_MAX_SOLUTIONS:]
    listed = ", ".join(f"{item['solution'].rstrip('.')} ({item['date']})" for item in latest)
    return f"{said}{_SOLVED}{listed}." if listed else said
