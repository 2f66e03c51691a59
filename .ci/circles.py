"""Check that no modules of the driver import one another.

An import counts wherever it stands: in a function, or for the type checker only. Packages that a
module imports by being in them do not count.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "pgrecall"


def main() -> int:
    """Print each circle, and return the exit status."""
    problems = [*circles(PACKAGE)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def circles(package: Path) -> Iterator[str]:
    """Yield each set of modules that import one another."""
    modules = {name_of(path, package): path for path in sorted(package.rglob("*.py"))}
    imports = {name: set(imported(path, modules)) - {name} for name, path in modules.items()}
    reached = {name: reachable(name, imports) for name in imports}
    seen: set[str] = set()
    for name in sorted(imports):
        together = {other for other in reached[name] if name in reached[other]}
        if together and name not in seen:
            seen |= together
            yield f"these modules import one another: {', '.join(sorted(together))}"


def name_of(path: Path, package: Path) -> str:
    """Return the dotted name of a module."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """Yield the modules of the package that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            inner = names & modules.keys()
            yield from inner
            if inner != names:  # names of the module itself
                yield node.module


def reachable(start: str, imports: dict[str, set[str]]) -> set[str]:
    """Return the modules that are imported from there on."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for name in imports[waiting.pop()] - found:
            found.add(name)
            waiting.append(name)
    return found


if __name__ == "__main__":
    sys.exit(main())
