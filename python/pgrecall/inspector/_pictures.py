"""Pictures as inline SVG: how far down each version of a memory stands, and shares of a bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pgrecall._plain import plain_text

__all__ = ["Chain", "Node", "Share", "chain_picture", "shares"]

_WIDTH, _HEIGHT, _GAP, _LETTERS = 300, 76, 48, 38
_DRAWN = 100  # versions; the time grows with the square


@dataclass(frozen=True)
class Node:
    """One version of a memory, as a box.

    Attributes:
        memory: its row.
        x: left edge.
        y: upper edge.
        lines: its text, cut to two lines.
    """

    memory: Mapping[str, Any]
    x: int
    y: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Edge:
    """An arrow from a version to the one that took its place, with the reason."""

    x1: int
    y1: int
    x2: int
    y2: int
    reason: str


@dataclass(frozen=True)
class Chain:
    """A chain of versions: the oldest at the top, the current one at the bottom.

    Attributes:
        width: of the picture.
        height: of the picture.
        nodes: its boxes.
        edges: its arrows.
        left_out: how many versions are older than those of the picture.
    """

    width: int
    height: int
    nodes: list[Node]
    edges: list[Edge]
    left_out: int


@dataclass(frozen=True)
class Share:
    """A part of a bar, from 0 to 100."""

    name: str
    value: float
    start: float
    width: float


def chain_picture(memories: Sequence[Mapping[str, Any]]) -> Chain:
    """Arrange the versions of a memory, oldest first: each stands below all that it replaced."""
    left_out = max(0, len(memories) - _DRAWN)
    memories = memories[left_out:]
    by_id = {memory["memory_id"]: memory for memory in memories}
    levels: dict[UUID, int] = {}
    for memory in memories:
        levels[memory["memory_id"]] = 0
    for _ in memories:  # the longest way from a version without a predecessor, at most n steps
        for memory in memories:
            successor = memory["superseded_by"]
            if successor in by_id:
                below = levels[memory["memory_id"]] + 1
                levels[successor] = max(levels[successor], min(below, len(memories)))
    seen: dict[int, int] = {}
    nodes: dict[UUID, Node] = {}
    for memory in memories:
        level = levels[memory["memory_id"]]
        column = seen[level] = seen.get(level, -1) + 1
        nodes[memory["memory_id"]] = Node(
            memory, column * (_WIDTH + 20) + 2, level * (_HEIGHT + _GAP) + 2,
            _lines(memory["content"]),
        )  # fmt: skip
    edges = [
        Edge(
            node.x + _WIDTH // 2, node.y + _HEIGHT,
            nodes[node.memory["superseded_by"]].x + _WIDTH // 2,
            nodes[node.memory["superseded_by"]].y, node.memory["end_reason"] or "",
        )
        for node in nodes.values()
        if node.memory["superseded_by"] in nodes
    ]  # fmt: skip
    width = (max(seen.values(), default=0) + 1) * (_WIDTH + 20) - 16
    height = (max(seen, default=0) + 1) * (_HEIGHT + _GAP) - _GAP + 4
    return Chain(width, height, list(nodes.values()), edges, left_out)


def _lines(text: str) -> tuple[str, ...]:
    """Return a text as at most two lines of a box."""
    lines = [""]
    for word in plain_text(text).split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > _LETTERS:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    cut = [line if len(line) <= _LETTERS else line[: _LETTERS - 1] + "…" for line in lines[:2]]
    if len(lines) > 2:
        cut[1] = cut[1][: _LETTERS - 1] + "…"
    return tuple(cut)


def shares(values: Mapping[str, float], whole: float | None = None) -> list[Share]:
    """Return the parts of a bar, in their order; a part of nothing is left out."""
    total = whole if whole is not None else sum(values.values())
    found, start = [], 0.0
    for name, value in values.items():
        if value > 0 and total > 0:
            width = 100 * value / total
            found.append(Share(name, value, start, width))
            start += width
    return found
