"""Write the generated pages of docs/: `reference.py [--check] DSN`.

One page for each module of functions, their index, the table of roles, and the settings.
Signatures, comments and rights come from the catalog, errors from the headers of the function
files. Other descriptions come from .ci/glossary.toml and .ci/settings.toml, examples from
.ci/examples.sql. A name without a description is an error. .ci/driver_pages.py has the pages of
the driver.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

import driver_pages

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FUNCTIONS = DOCS / "reference" / "functions"
ROLES = ("reader", "writer", "worker", "admin")
GENERATED = "<!-- Written by `make generate`. -->\n"

CATALOG = """
select p.proname,
       p.prokind::text,
       p.provolatile::text,
       obj_description(p.oid, 'pg_proc'),
       coalesce(pg_get_function_result(p.oid), ''),
       coalesce(
           jsonb_agg(jsonb_build_object(
               'name', a.name, 'type', format_type(a.type, null), 'mode', a.mode,
               'default', pg_get_function_arg_default(p.oid, a.place::integer)) order by a.place)
           filter (where a.name is not null),
           '[]')
       || coalesce((
              select jsonb_agg(jsonb_build_object(
                         'name', k.attname, 'type', format_type(k.atttypid, null), 'mode', 't',
                         'default', null) order by k.attnum)
                from pg_type as t
                join pg_class as c on c.oid = t.typrelid and c.relkind = 'c'
                join pg_attribute as k on k.attrelid = c.oid and not k.attisdropped
               where t.oid = p.prorettype), '[]')
  from pg_proc as p
  left join unnest(
           p.proargnames,
           coalesce(p.proallargtypes, p.proargtypes::oid[]),
           coalesce(p.proargmodes, array_fill('i'::"char", array[p.pronargs])))
       with ordinality as a (name, type, mode, place) on true
 where p.pronamespace = 'recall'::regnamespace
   and p.proname !~ '^_'
 group by p.oid
"""

COLUMNS = """
select c.relname, a.attname, col_description(c.oid, a.attnum)
  from pg_class as c
  join pg_attribute as a on a.attrelid = c.oid
 where c.relnamespace = 'recall'::regnamespace
   and c.relkind in ('r', 'p')
   and not c.relispartition
   and a.attnum > 0
   and not a.attisdropped
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

SETTINGS = """
select a.attname,
       format_type(a.atttypid, null),
       not a.attnotnull,
       pg_get_expr(d.adbin, d.adrelid),
       col_description(a.attrelid, a.attnum)
  from pg_attribute as a
  left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
 where a.attrelid = 'recall.settings'::regclass
   and a.attnum > 0
   and not a.attisdropped
 order by a.attnum
"""

REMOVED = """
select r.name, r.value, r.place
  from recall._removed_settings() as r
 order by r.name
"""

CHECKS = """
select pg_get_constraintdef(c.oid)
  from pg_constraint as c
 where c.conrelid = 'recall.settings'::regclass
   and c.contype = 'c'
"""

# The tables whose comments describe a column of a result or a parameter, in this order. A function
# that is named looks into its own tables first.
TABLES = (
    "memory_store", "sessions", "conversation_history", "jobs", "models", "memory_kinds", "prompts",
    "maintenance_tasks", "model_calls", "protocol_events", "stream_events", "memory_events",
    "erasures", "user_keys", "settings",
)  # fmt: skip
OWN_TABLES = {
    "get_messages": ("conversation_history",),
    "get_session": ("sessions",),
    "list_model_calls": ("model_calls",),
    "list_models": ("models",),
    "list_prompts": ("prompts",),
    "list_protocol_events": ("protocol_events",),
    "list_sessions": ("sessions",),
    "list_summaries": ("session_summaries",),
    "list_stream_events": ("stream_events",),
    "list_maintenance": ("maintenance_tasks",),
    "memory_history": ("memory_events",),
    "open_session": ("sessions",),
    "record_model_call": ("model_calls",),
    "record_protocol_event": ("protocol_events",),
    "record_stream_events": ("stream_events",),
    "register_kind": ("memory_kinds",),
    "register_model": ("models",),
    "search_messages": ("conversation_history",),
    "search_sessions": ("sessions", "conversation_history"),
}


@dataclass(frozen=True, slots=True)
class Function:
    """A public function as the catalog and its file describe it."""

    name: str
    is_procedure: bool
    is_read_only: bool
    comment: str
    result: str
    arguments: list[dict[str, Any]]
    raises: str
    role: str


def files() -> dict[str, list[Path]]:
    """Return the files of public functions by module, in the order of the sections of install.sql.

    A function that the installer needs early stands before its section.
    """
    text = (ROOT / "sql" / "install.sql").read_text(encoding="utf-8")
    sections = re.findall(r"(?m)^-- functions/(\w+)$", text)
    found: dict[str, list[Path]] = {module: [] for module in sections}
    for line in text.splitlines():
        match = re.fullmatch(r"\\ir \.\./(functions/(\w+)/(?:\w+/)?[a-z]\w*\.sql)", line)
        if match:
            found[match[2]].append(ROOT / match[1])
    return {
        module: sorted(paths, key=lambda path: path.stem)
        for module, paths in found.items()
        if paths
    }


def raised(path: Path) -> str:
    """Return what the header of a function's file says of its errors."""
    header = re.match(r"(?:--.*\n)+", path.read_text(encoding="utf-8"))
    found = header and re.search(r"(?m)^-- Raises +((?:.*\n)(?:--    +.*\n)*)", header[0])
    return " ".join(re.sub(r"(?m)^-- +", "", found[1]).split()).rstrip(".") if found else ""


class Catalog:
    """Everything that the pages show of the database at `dsn`."""

    def __init__(self, dsn: str) -> None:
        with psycopg.connect(dsn) as connection:
            rows = {row[0]: row[1:] for row in connection.execute(CATALOG)}
            least: dict[str, int] = dict(connection.execute(RIGHTS, [list(ROLES)]).fetchall())
            self.comments = {
                (table, column): comment for table, column, comment in connection.execute(COLUMNS)
            }
            self.settings = connection.execute(SETTINGS).fetchall()
            self.removed = connection.execute(REMOVED).fetchall()
            self.checks = [check for (check,) in connection.execute(CHECKS)]
        self.modules: dict[str, list[Function]] = {}
        for module, paths in files().items():
            for path in paths:
                kind, volatility, comment, result, arguments = rows[path.stem]
                function = Function(
                    name=path.stem,
                    is_procedure=kind == "p",
                    is_read_only=volatility != "v",
                    comment=comment,
                    result=shortened(result),
                    arguments=arguments,
                    raises=raised(path),
                    role=ROLES[least[path.stem] - 1],
                )
                self.modules.setdefault(module, []).append(function)


def shortened(text: str) -> str:
    """Return types and defaults as people write them."""
    text = text.replace("timestamp with time zone", "timestamptz")
    text = text.replace("double precision", "float8").replace("NULL::", "null::")
    text = re.sub(r"\b\w+\.(halfvec)\b", r"\1", text)
    return re.sub(
        r"null::[\w ]+(\[\])?|'(.*?)'::[\w. ]+(\[\])?",
        lambda match: "null" if match[2] is None else f"'{match[2]}'",
        text,
    )


def cell(text: str) -> str:
    """Return a text as a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a table as lines."""
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return [*lines, *(f"| {' | '.join(map(cell, row))} |" for row in rows), ""]


# Functions


class Glossary:
    """The meanings of parameters and columns."""

    def __init__(self, catalog: Catalog) -> None:
        path = ROOT / ".ci" / "glossary.toml"
        self.entries: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        self.comments = catalog.comments

    def meaning(self, what: str, function: Function, name: str) -> str:
        """Return what a parameter or column means; what: parameters or results."""
        entries = self.entries[what]
        own = entries.get(function.name, {})
        if name in own:
            return str(own[name])
        is_sweep = [a["name"] for a in function.arguments if a["mode"] == "t"] == ["done", "more"]
        if is_sweep and name in self.entries["sweeps"]:
            return str(self.entries["sweeps"][name])
        for place in OWN_TABLES.get(function.name, ()):
            if (place, name) in self.comments and name not in ("user_id", "session_id"):
                return str(self.comments[place, name])
        if isinstance(entries.get(name), str):
            return str(entries[name])
        for place in TABLES:
            if (place, name) in self.comments:
                return str(self.comments[place, name])
        raise KeyError(f".ci/glossary.toml does not say what {what} {name} of {function.name} is")


def examples() -> dict[str, str]:
    """Return the example of each function."""
    text = (ROOT / ".ci" / "examples.sql").read_text(encoding="utf-8")
    parts = re.split(r"(?m)^-- example: (\w+)\n", text)[1:]
    return {name: part.strip() for name, part in zip(parts[::2], parts[1::2], strict=True)}


def signature(function: Function) -> list[str]:
    """Return a signature as lines of code."""
    inputs = [a for a in function.arguments if a["mode"] in "ib"]
    width = max((len(a["name"]) for a in inputs), default=0)
    lines = []
    for number, argument in enumerate(inputs, start=1):
        default = argument["default"]
        after = "" if default is None else f" default {shortened(default).replace('NULL', 'null')}"
        comma = "," if number < len(inputs) else ""
        lines.append(f"    {argument['name']:{width}} {shortened(argument['type'])}{after}{comma}")
    head = f"recall.{function.name}("
    body = [head, *lines, ")"] if lines else [f"{head})"]
    if function.is_procedure:
        return ["call " + body[0], *body[1:]]
    result = "table" if function.result.startswith("TABLE") else function.result
    result = result.replace("SETOF", "setof")
    return [*body[:-1], f"{body[-1]} returns {result}"]


def section(function: Function, glossary: Glossary, example: str) -> list[str]:
    """Return the section of a function."""
    access = "Reads only, also on a hot standby." if function.is_read_only else "Writes."
    lines = [f"## {function.name}", "", function.comment, ""]
    lines += ["```plpgsql", *signature(function), "```", ""]
    lines += [f"{access} Role: `recall_{function.role}`.", ""]
    inputs = [a for a in function.arguments if a["mode"] in "ib"]
    columns = [a for a in function.arguments if a["mode"] == "t"]
    if inputs:
        meanings = [
            (f"`{a['name']}`", glossary.meaning("parameters", function, a["name"][2:]))
            for a in inputs
        ]
        lines += table(("parameter", "meaning"), meanings)
    if columns:
        lines += table(
            ("column", "type", "meaning"),
            [
                (
                    f"`{a['name']}`",
                    f"`{shortened(a['type'])}`",
                    glossary.meaning("results", function, a["name"]),
                )
                for a in columns
            ],
        )
    if function.raises:
        codes = re.sub(r"\b(RC0\d\d)\b", r"[\1](../errors.md)", function.raises)
        codes = re.sub(r"\bas (\w+)$", r"as [\1](#\1)", codes)
        lines += [f"Raises {codes}.", ""]
    note = re.match(r"-- (not run: .*)\n", example)
    if note:
        lines.append(f"<!-- {note[1]} -->")
        example = example[note.end() :]
    return [*lines, "```sql", example, "```", ""]


def function_pages(catalog: Catalog) -> dict[Path, str]:
    """Return the page of each module."""
    glossary, shown = Glossary(catalog), examples()
    names = {function.name for functions in catalog.modules.values() for function in functions}
    if names != shown.keys():
        raise KeyError(f".ci/examples.sql: {sorted(names ^ shown.keys())}")
    found = {}
    for module, functions in catalog.modules.items():
        lines = [
            f"# {module}",
            "",
            f"Functions of the module `{module}`. Pass parameters by name.",
            "",
        ]
        for function in functions:
            lines += section(function, glossary, shown[function.name])
        found[FUNCTIONS / f"{module}.md"] = GENERATED + "\n".join(lines)
    return found


def index(catalog: Catalog) -> str:
    """Return the table of all functions."""
    lines = []
    for module, functions in catalog.modules.items():
        lines += [f"## [{module}](functions/{module}.md)", ""]
        lines += table(
            ("function", "what it does"),
            [(f"[`{f.name}`](functions/{module}.md#{f.name})", f.comment) for f in functions],
        )
    return "\n".join(lines)


def rights(catalog: Catalog) -> str:
    """Return a table of modules and roles: what each role may call that the one before may not."""
    rows = [
        (module, *(", ".join(f.name for f in functions if f.role == role) for role in ROLES))
        for module, functions in catalog.modules.items()
    ]
    head, *heads = [f"`recall_{role}`" for role in ROLES]
    return "\n".join(table(("module", head, *(f"and {name}" for name in heads)), rows)[:-1]) + "\n"


# Settings


def limits(name: str, kind: str, checks: list[str]) -> str:
    """Return the values that the constraints of the table allow."""
    if kind == "boolean":
        return "true, false"
    most = ""
    for check in checks:
        bound = re.search(rf"GREATEST\(.*NULLIF\({name}, .*<= '([\w ]+)'", check)
        if bound:
            most = f", at most {bound[1]} or infinity"
    cast = r"(?:::[\w ]+(?:\[\])?)?"
    number = rf"\(?'?(-?[\w. :]+?)'?{cast}\)?{cast}"
    for check in checks:
        listed = re.search(rf"\b{name} = ANY \(ARRAY\[(.*?)\]", check)
        if listed:
            return ", ".join(f"`{value}`" for value in re.findall(r"'(\w+)'", listed[1]))
        within = re.search(rf"\({name} >= {number}\) AND \({name} <= {number}\)", check)
        if within:
            return f"{within[1]} to {within[2]}"
        above = re.search(rf"\({name} (>=?) {number}\)", check)
        if above:
            least = "0" if set(above[2]) <= set("0:") else above[2]
            return f"{'at least' if above[1] == '>=' else 'more than'} {least}{most}"
    return ""


def settings(catalog: Catalog) -> str:
    """Return the settings by group, with unit, range, default and effect."""
    path = ROOT / ".ci" / "settings.toml"
    groups: dict[str, dict[str, list[str]]] = tomllib.loads(path.read_text(encoding="utf-8"))
    columns = {row[0]: row[1:] for row in catalog.settings}
    known = {name for group in groups.values() for name in group}
    if known != columns.keys():
        raise KeyError(f".ci/settings.toml: {sorted(known ^ columns.keys())}")
    lines = []
    for title, group in groups.items():
        lines += [f"## {title}", ""]
        rows = []
        for name, (unit, effect) in group.items():
            kind, is_nullable, default, comment = columns[name]
            value = "" if default is None else shortened(default)
            value = value.replace("pg_catalog.", "").strip("'")
            value = value or ("null" if is_nullable else "at installation")
            allowed = limits(name, kind, catalog.checks)
            text = f"{comment} {effect}".replace(f" ({allowed})", "").strip()
            rows.append((f"`{name}`", unit, allowed, f"`{value}`", text))
        lines += table(("setting", "unit", "range", "default", "effect"), rows)
    lines += [
        "## Constants that were settings",
        "",
        "`configure` refuses these. An upgrade drops their values, `import_user` leaves them out.",
        "",
    ]
    constants = [
        (f"`{name}`", f"`{value}`", f"`recall.{place}`") for name, value, place in catalog.removed
    ]
    lines += table(("former setting", "constant", "function"), constants)
    return "\n".join(lines)


# Pages


def pages(dsn: str) -> dict[Path, str]:
    """Return every page that is generated, or has a generated part, from the database at `dsn`."""
    catalog = Catalog(dsn)
    return (
        {
            path: replaced(path.read_text(encoding="utf-8"), mark, text)
            for path, mark, text in (
                (DOCS / "security" / "roles.md", "rights", rights(catalog)),
                (DOCS / "reference" / "sql.md", "reference", index(catalog)),
                (DOCS / "reference" / "settings.md", "settings", settings(catalog)),
            )
        }
        | function_pages(catalog)
        | driver_pages.pages()
    )


def replaced(page: str, mark: str, text: str) -> str:
    """Return a page with `text` between the comments of a mark."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    head, rest = page.split(begin)
    _, tail = rest.split(end)
    return f"{head}{begin}\n{text}{end}{tail}"


def leftover(wanted: dict[Path, str]) -> list[Path]:
    """Return the pages of modules that are no more."""
    return [path for path in sorted(FUNCTIONS.glob("*.md")) if path not in wanted]


def stale(dsn: str) -> list[str]:
    """Return the names of the pages that are not what the database at `dsn` says."""
    wanted = pages(dsn)
    old = [
        path
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    return [str(path.relative_to(ROOT)) for path in [*old, *leftover(wanted)]]


def write(dsn: str) -> None:
    """Write the pages."""
    wanted = pages(dsn)
    FUNCTIONS.mkdir(exist_ok=True)
    for path in leftover(wanted):
        path.unlink()
    for path, text in wanted.items():
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
