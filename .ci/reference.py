"""Write the generated parts of docs/ from the catalog: `reference.py [--check] DSN`.

The modules and their order come from `sql/install.sql`. Everything else comes from the rights,
signatures and comments of the functions, so that the pages always say what the database does.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
ROLES = ("reader", "writer", "worker", "admin")

SIGNATURES = """
select p.proname,
       pg_get_function_arguments(p.oid),
       coalesce(pg_get_function_result(p.oid), 'procedure'),
       obj_description(p.oid, 'pg_proc')
  from pg_proc as p
 where p.pronamespace = 'recall'::regnamespace
   and p.proname !~ '^_'
"""

RIGHTS = """
select p.proname,
       min(r.place) filter (
           where has_function_privilege(s.role_prefix || '_' || r.name, p.oid, 'execute'))
  from pg_proc as p
 cross join recall.settings as s
 cross join unnest(%s::text[]) with ordinality as r (name, place)
 where p.pronamespace = 'recall'::regnamespace
   and p.proname !~ '^_'
 group by p.proname
"""


def modules() -> dict[str, list[str]]:
    """Return the public functions by module: modules as installed, functions by name."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / "sql/install.sql").read_text().splitlines():
        match = re.fullmatch(r"\\ir \.\./functions/(\w+)/([a-z]\w*)\.sql", line)
        if match:
            found.setdefault(match[1], []).append(match[2])
    return {module: sorted(names) for module, names in found.items()}


def _short(arguments: str) -> str:
    for old, new in {
        "timestamp with time zone": "timestamptz",
        "double precision": "float8",
        " DEFAULT ": " = ",
        "NULL::": "null::",
    }.items():
        arguments = arguments.replace(old, new)
    return re.sub(r"null::(\w+)(\[\])?|'(.*?)'::[\w.]+(\[\])?", _default, arguments)


def _columns(result: str) -> str:
    """Name the columns of a table; their types are in the catalog."""
    match = re.fullmatch(r"TABLE\((.*)\)", result)
    if match is None:
        return result
    return f"table({', '.join(column.split()[0] for column in match[1].split(', '))})"


def _default(match: re.Match[str]) -> str:
    return "null" if match[3] is None else f"'{match[3]}'"


def reference(dsn: str) -> str:
    """Return the reference as Markdown."""
    with psycopg.connect(dsn) as connection:
        functions = {row[0]: row[1:] for row in connection.execute(SIGNATURES)}
    lines: list[str] = []
    for module, names in modules().items():
        lines += [f"## {module}", "", "| function | returns | |", "|---|---|---|"]
        for name in names:
            arguments, result, comment = functions[name]
            cells = (f"`{name}({_short(arguments)})`", f"`{_columns(_short(result))}`", comment)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


def rights(dsn: str) -> str:
    """Return a table of modules and roles: what each role may call that the one before may not."""
    with psycopg.connect(dsn) as connection:
        least: dict[str, int] = dict(connection.execute(RIGHTS, [list(ROLES)]).fetchall())
    heads = [f"`recall_{role}`" for role in ROLES]
    lines = [f"| module | {' | and '.join(heads)} |", "|---|---|---|---|---|"]
    for module, names in modules().items():
        cells = [
            ", ".join(name for name in names if least[name] == place)
            for place in range(1, len(ROLES) + 1)
        ]
        lines.append(f"| {module} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def pages(dsn: str) -> dict[Path, str]:
    """Return each page with a generated part, with that part of the database at `dsn`."""
    return {
        path: replaced(path.read_text(encoding="utf-8"), mark, table)
        for path, mark, table in (
            (DOCS / "security" / "roles.md", "rights", rights(dsn)),
            (DOCS / "reference" / "sql.md", "reference", reference(dsn)),
        )
    }


def replaced(page: str, mark: str, text: str) -> str:
    """Return a page with `text` between the comments of a mark."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    head, rest = page.split(begin)
    _, tail = rest.split(end)
    return f"{head}{begin}\n{text}{end}{tail}"


def stale(dsn: str) -> list[str]:
    """Return the names of the pages that are not what the database at `dsn` says."""
    return [
        str(path.relative_to(ROOT))
        for path, text in pages(dsn).items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def write(dsn: str) -> None:
    """Write the pages."""
    for path, text in pages(dsn).items():
        path.write_text(text, encoding="utf-8")


def main() -> int:
    """Write the pages, or say by the exit status whether they are up to date."""
    *flags, dsn = sys.argv[1:]
    if flags == ["--check"]:
        return int(bool(stale(dsn)))
    write(dsn)
    return 0


if __name__ == "__main__":
    sys.exit(main())
