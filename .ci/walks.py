"""Keep the line numbers in the walks of docs/architecture.md: run it to write them, or --check.

A step is written "`module/file:line` → `function`": the first line of that file that calls the
function.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
_STEP = re.compile(r"`(?P<file>[a-z/_]+):(?P<line>\d+)` → `(?P<function>\w+)`")


def main() -> int:
    """Write or check the line of each step, and return the exit status."""
    is_check = "--check" in sys.argv[1:]
    problems: list[str] = []

    def numbered(step: re.Match[str]) -> str:
        line = line_of(step["file"], step["function"])
        if line is None:
            problems.append(f"functions/{step['file']}.sql does not call {step['function']}")
        elif is_check and line != int(step["line"]):
            problems.append(f"{step[0]}: the call is in line {line} (make generate)")
        return f"`{step['file']}:{line or 0}` → `{step['function']}`"

    text = PAGE.read_text(encoding="utf-8")
    new, count = _STEP.subn(numbered, text)
    if count == 0:
        problems.append("docs/architecture.md has no walk")
    if not is_check and new != text:
        PAGE.write_text(new, encoding="utf-8")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def line_of(file: str, function: str) -> int | None:
    """Return the first line of a file of functions/ that calls a function."""
    path = ROOT / "functions" / f"{file}.sql"
    if path.exists():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if f"recall.{function}(" in line and not line.startswith("create "):
                return number
    return None


if __name__ == "__main__":
    sys.exit(main())
