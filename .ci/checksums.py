"""Write the SHA-256 of each migration into sql/migrations.sql; psql cannot compute it.

`make generate` adds the lines of new files. A line that stands there never changes, because
databases have recorded it.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = "sql/migrations.sql"
NAME = re.compile(r"\d{4}_[a-z][a-z0-9_]{0,29}")
LINE = re.compile(r"(?m)^(\d{4}_\w+) ([0-9a-f]{64})$")
RUN = re.compile(
    r"(?m)^select current_setting\('recall\.due_(\d{4})'\) as is_due \\gset\n"
    r"\\if :is_due\n\\ir \.\./migrations/((\d{4})_\w+)\.sql\n\\endif$"
)


def main() -> int:
    """Add the missing lines, print what is wrong, and return the exit status."""
    write(ROOT)
    problems = list(check(ROOT))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def checksums(root: Path) -> dict[str, str]:
    """Return the SHA-256 of each migration by its name, in order."""
    return {
        path.stem: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((root / "migrations").glob("*.sql"))
    }


def listed(root: Path) -> dict[str, str]:
    """Return the lines of sql/migrations.sql."""
    return dict(LINE.findall((root / LIST).read_text(encoding="utf-8")))


def write(root: Path) -> None:
    """Add a line for each migration that has none."""
    lines = "".join(f"{n} {c}\n" for n, c in (checksums(root) | listed(root)).items())
    text = (root / LIST).read_text(encoding="utf-8")
    text = re.sub(r"(?s)(\$list\$\n).*(\$list\$)", rf"\g<1>{lines}\g<2>", text)
    (root / LIST).write_text(text, encoding="utf-8")


def check(root: Path) -> Iterator[str]:
    """Compare the files with their list and with sql/install.sql, which runs them in order."""
    files, lines = checksums(root), listed(root)
    for number, name in enumerate(files, start=1):
        if not NAME.fullmatch(name) or not name.startswith(f"{number:04}_"):
            yield f"migrations/{name}.sql: expected {number:04}_ and a short name"
        if name not in lines:
            yield f"migrations/{name}.sql: not in {LIST}; run `make generate`"
        elif lines[name] != files[name]:
            yield (
                f"migrations/{name}.sql: changed since its line in {LIST}; databases refuse that."
                " Delete the line of a file that no release has, and run `make generate`"
            )
    for name in sorted(lines.keys() - files.keys()):
        yield f"{LIST} names {name}, which does not exist"
    text = (root / "sql" / "install.sql").read_text(encoding="utf-8")
    runs = RUN.findall(text)
    if [name for _, name, _ in runs] != list(files) or any(due != own for due, _, own in runs):
        yield "sql/install.sql: expected the four lines of each migration, in order"
    if text.count("\n\\ir ../migrations/") != len(runs):
        yield "sql/install.sql: a migration runs without its condition"


if __name__ == "__main__":
    sys.exit(main())
