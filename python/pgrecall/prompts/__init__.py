"""The prompts of the worker's steps, each a text with the JSON schema of its answer.

The schemas are made from the models below by `python -m pgrecall.prompts`, and stand beside the
texts so that they can be read, and used from other languages.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, model_validator

__all__ = ["STEPS", "Consolidation", "Decision", "Episode", "Extraction", "Fact", "Merge",
           "Merging", "Pattern", "Solution", "Summary", "made_schema", "schema",
           "text"]  # fmt: skip


def _word(value: Any) -> Any:
    return value.replace("\x00", "").strip() if isinstance(value, str) else value


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _upper(value: Any) -> Any:
    return value.strip().upper() if isinstance(value, str) else value


_Line = Annotated[str, BeforeValidator(_word), Field(json_schema_extra={"maxLength": 300})]
_Tag = Annotated[str, Field(json_schema_extra={"maxLength": 30})]
# The schema requires turns. An answer without them is accepted: the database credits it to the
# least trusted role, and no page can stop an extraction by talking the model out of citations.
_Turns = Annotated[list[int], Field(json_schema_extra={"minItems": 1, "maxItems": 8})]


class Fact(BaseModel):
    """One thing to remember of the user."""

    content: _Line
    kind: Annotated[str, BeforeValidator(_lower)]
    slot: str | None = None
    importance: Annotated[float, Field(allow_inf_nan=False)] = 0.5
    confidence: Annotated[Literal["high", "medium", "low"], BeforeValidator(_lower)]
    correction: bool = False
    tags: Annotated[list[_Tag], Field(json_schema_extra={"maxItems": 2})] = Field(
        default_factory=list
    )
    turns: _Turns = Field(default_factory=list)


class Episode(BaseModel):
    """One line on an exchange."""

    content: _Line
    turns: _Turns = Field(default_factory=list)


class Extraction(BaseModel):
    """The answer of the first pass."""

    facts: list[Fact]
    episodes: list[Episode] = Field(default_factory=list)


class Decision(BaseModel):
    """What becomes of one candidate; the numbers are those of the prompt."""

    candidate: int
    decision: Annotated[Literal["ADD", "UPDATE", "DELETE", "NONE"], BeforeValidator(_upper)]
    target: int | None = None

    @model_validator(mode="after")
    def _has_target(self) -> Decision:
        if self.decision in ("UPDATE", "DELETE") and self.target is None:
            raise ValueError(f"{self.decision} without a target")
        return self


class Consolidation(BaseModel):
    """The answer of the second pass.

    Validated in the context `{"neighbors": [n, …]}`, the number of memories below each candidate:
    every candidate has one decision, and a target stands below it.
    """

    decisions: list[Decision]

    @model_validator(mode="after")
    def _fits(self, info: Any) -> Consolidation:
        neighbors = (info.context or {}).get("neighbors")
        if neighbors is None:
            return self
        if sorted(item.candidate for item in self.decisions) != [*range(1, len(neighbors) + 1)]:
            raise ValueError(f"not one decision for each of the {len(neighbors)} candidates")
        for item in self.decisions:
            if item.decision in ("ADD", "NONE"):
                item.target = None
            elif not 1 <= (item.target or 0) <= neighbors[item.candidate - 1]:
                raise ValueError(f"candidate {item.candidate} has no memory {item.target}")
        return self


class Summary(BaseModel):
    """The answer of the summaries."""

    summary: Annotated[str, BeforeValidator(_word), Field(min_length=1)]


class Merge(BaseModel):
    """One statement in the place of several; the numbers are those of the prompt."""

    content: Annotated[str, BeforeValidator(_word), Field(min_length=1)]
    parts: list[int]


class Merging(BaseModel):
    """The answer of a merge.

    Validated in the context `{"memories": n}`, the number of memories in the prompt: a merge has
    two of them or more, and none is in two merges.
    """

    merges: list[Merge]

    @model_validator(mode="after")
    def _fits(self, info: Any) -> Merging:
        known = (info.context or {}).get("memories")
        if known is None:
            return self
        named: set[int] = set()
        for merge in self.merges:
            parts = set(merge.parts)
            if len(parts) < 2:
                raise ValueError("a merge of fewer than two memories")
            if not parts <= {*range(1, known + 1)}:
                raise ValueError(f"there are no memories but 1 to {known}")
            if parts & named:
                raise ValueError("a memory in two merges")
            named |= parts
        return self


class Solution(BaseModel):
    """What helped in one episode."""

    episode: int
    solution: _Line


class Pattern(BaseModel):
    """The answer of a pattern; null when the episodes are not about one thing that recurs.

    Validated in the context `{"episodes": n}`, the number of episodes in the prompt.
    """

    pattern: Annotated[str | None, BeforeValidator(_word)]
    solutions: list[Solution] = Field(default_factory=list)
    tags: Annotated[list[_Tag], Field(json_schema_extra={"maxItems": 2})] = Field(
        default_factory=list
    )

    @model_validator(mode="after")
    def _fits(self, info: Any) -> Pattern:
        known = (info.context or {}).get("episodes")
        for item in self.solutions:
            if known is not None and not 1 <= item.episode <= known:
                raise ValueError(f"there is no episode {item.episode}")
        return self


STEPS: dict[str, type[BaseModel]] = {
    "extract": Extraction,
    "consolidate": Consolidation,
    "summarize": Summary,
    "compact": Summary,
    "merge": Merging,
    "pattern": Pattern,
}
"""The shape of each step's answer."""


_KEPT = ("type", "enum", "minItems", "maxItems", "maxLength")


@cache
def text(step: str) -> str:
    """Return the instructions of a step."""
    return _file(f"{step}.md").strip()


@cache
def _stored_schema(step: str) -> str:
    return _file(f"{step}.schema.json")


def schema(step: str) -> dict[str, Any]:
    """Return the JSON schema of a step's answer, a copy of its own."""
    stored: dict[str, Any] = json.loads(_stored_schema(step))
    return stored


def made_schema(step: str) -> dict[str, Any]:
    """Return the schema as the strict mode of OpenAI's endpoint wants it.

    Every property is required, no other is allowed, definitions stand where they are used, and what
    only some endpoints check (defaults, ranges) is left out: pydantic checks the answer. Lengths
    keep small models from going on for ever; what is longer is no error.
    """
    raw = STEPS[step].model_json_schema()
    return _strict(raw, raw.get("$defs", {}))


def _strict(node: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        node = definitions[node["$ref"].rpartition("/")[2]]
    if "anyOf" in node:  # X | None
        return {"type": [option["type"] for option in node["anyOf"]]}
    made: dict[str, Any] = {key: node[key] for key in _KEPT if key in node}
    if "items" in node:
        made["items"] = _strict(node["items"], definitions)
    if "properties" in node:
        made["properties"] = {
            name: _strict(value, definitions) for name, value in node["properties"].items()
        }
        made["required"] = list(node["properties"])
        made["additionalProperties"] = False
    return made


def _file(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
