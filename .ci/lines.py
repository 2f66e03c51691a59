"""Count the hand-written lines of the driver by purpose: `lines.py [FOLDER]`.

The first column counts lines with code, the second those with docstrings, too. Neither counts blank
lines, comments, or what is generated (`_sync`, `_signatures.py`). FOLDER is another copy of
python/pgrecall, to compare.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "pgrecall"
GENERATED = ("_sync", "_signatures.py")
# the first that matches a part of the path; what matches none is the core
PURPOSES = {
    "steps and prompts": ("steps", "prompts"),
    "command line": ("cli", "__main__.py"),
    "encryption": ("encryption", "guard.py", "_ciphertext.py"),
    "call log": ("calls",),
    "inspector": ("inspector",),
    "items, pages, integrations": (
        "items.py",
        "_items.py",
        "pages.py",
        "_pages.py",
        "integrations",
    ),
    "reads on standbys": ("replica.py", "_writes.py"),
    "calls to Citus": ("citus.py",),
}
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


def counted(text: str) -> tuple[int, int]:
    """Return the number of lines with code, and with code or docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    lines -= {number for number, line in enumerate(text.splitlines(), 1) if not line.strip()}
    documented = len(lines)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines), documented


def purpose(path: Path) -> str:
    """Return what a file is for."""
    for name, parts in PURPOSES.items():
        if not {*parts}.isdisjoint(path.parts):
            return name
    return "core"


def totals(package: Path = PACKAGE) -> tuple[Counter[str], Counter[str]]:
    """Return both columns, by purpose and in all."""
    code: Counter[str] = Counter()
    documented: Counter[str] = Counter()
    for path in sorted(package.rglob("*.py")):
        inner = path.relative_to(package)
        if {*GENERATED}.isdisjoint(inner.parts):
            lines = counted(path.read_text(encoding="utf-8"))
            for name in (purpose(inner), "all"):
                code[name] += lines[0]
                documented[name] += lines[1]
    return code, documented


def main() -> int:
    """Print the lines by purpose."""
    code, documented = totals(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE)
    for name in ("core", *PURPOSES, "all"):
        print(f"{name:28}{code[name]:6}{documented[name]:8}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
