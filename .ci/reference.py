"""Write the README's tables of functions from the catalog: `reference.py [--check] DSN`.

Which role may call what, and the reference. The rooms and their order come from `sql/install.sql`,
everything else from the functions' own rights, signatures and comments, so that the README cannot
say what the database does not.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parent.parent
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


def rooms() -> dict[str, list[str]]:
    """Public functions by room, in the order of installation of the rooms and by name."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / "sql/install.sql").read_text().splitlines():
        match = re.fullmatch(r"\\ir \.\./functions/(\w+)/([a-z]\w*)\.sql", line)
        if match:
            found.setdefault(match[1], []).append(match[2])
    return {room: sorted(names) for room, names in found.items()}


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
    for room, names in rooms().items():
        lines += [f"#### {room}", "", "| function | returns | |", "|---|---|---|"]
        for name in names:
            arguments, result, comment = functions[name]
            cells = (f"`{name}({_short(arguments)})`", f"`{_columns(_short(result))}`", comment)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


def rights(dsn: str) -> str:
    """Return a table of rooms and roles: what each role may call that the one before may not."""
    with psycopg.connect(dsn) as connection:
        least: dict[str, int] = dict(connection.execute(RIGHTS, [list(ROLES)]).fetchall())
    heads = [f"`recall_{role}`" for role in ROLES]
    lines = [f"| room | {' | and '.join(heads)} |", "|---|---|---|---|---|"]
    for room, names in rooms().items():
        cells = [
            ", ".join(name for name in names if least[name] == place)
            for place in range(1, len(ROLES) + 1)
        ]
        lines.append(f"| {room} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def updated(readme: str, dsn: str) -> str:
    """Return the README with the tables of the database at `dsn`."""
    for mark, table in (("rights", rights(dsn)), ("reference", reference(dsn))):
        begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
        head, rest = readme.split(begin)
        _, tail = rest.split(end)
        readme = f"{head}{begin}\n{table}{end}{tail}"
    return readme


def main() -> int:
    """Write the README, or say by the exit status whether it is up to date."""
    *flags, dsn = sys.argv[1:]
    path = ROOT / "README.md"
    before = path.read_text()
    after = updated(before, dsn)
    if flags == ["--check"]:
        return int(before != after)
    path.write_text(after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
