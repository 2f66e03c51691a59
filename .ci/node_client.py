"""Make `examples/node/recall.ts`: one typed method for each public function of the catalog.

`catalog.py` calls it. examples/node/client.ts, which sends the calls, is written by hand.
"""

from __future__ import annotations

import textwrap
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import psycopg

from pgrecall import _pages, rows
from pgrecall.calls import _rows as call_rows

MAX_COLUMNS = 100
CLIENT = Path(__file__).resolve().parent.parent / "examples" / "node" / "recall.ts"

HEAD = """\
// Typed functions of the schema recall, over pg.
//
// Made from the catalog by `make generate`; change the functions, not this. Parameters have no p_.
// A parameter that is undefined is left out, so that its default applies; null is SQL's NULL.

import { Client, type Json } from './client.ts';

"""

FUNCTIONS = r"""
select p.proname,
       obj_description(p.oid, 'pg_proc'),
       p.proretset,
       regexp_replace(format_type(p.prorettype, null), '^\w+\.', ''),
       coalesce(
           jsonb_agg(jsonb_build_object(
               'name', regexp_replace(a.name, '^p_', ''), 'mode', a.mode,
               'type', regexp_replace(format_type(a.type, null), '^\w+\.', ''),
               'is_optional', a.mode <> 't' and a.place > p.pronargs - p.pronargdefaults)
               order by a.place)
           filter (where a.name is not null),
           '[]')
       || coalesce((
              select jsonb_agg(jsonb_build_object(
                         'name', k.attname, 'mode', 't', 'is_optional', false,
                         'type', format_type(k.atttypid, null)) order by k.attnum)
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
   and p.prokind = 'f'
   and p.proname !~ '^_'
 group by p.oid
 order by p.proname collate "C"
"""

# The catalog does not tell whether a column of a result may be NULL. The driver's rows do; for a
# result without one, a column may be NULL where a table allows it in a column of that name.
NULLABLE = """
select distinct a.attname
  from pg_attribute as a
  join pg_class as c on c.oid = a.attrelid
 where c.relnamespace = 'recall'::regnamespace
   and c.relkind in ('r', 'p')
   and a.attnum > 0
   and not a.attisdropped
   and not a.attnotnull
"""

ENUMS = """
select t.typname, array_agg(e.enumlabel::text order by e.enumsortorder)
  from pg_type as t
  join pg_enum as e on e.enumtypid = t.oid
 where t.typnamespace = 'recall'::regnamespace
 group by t.typname
"""

RESULTS = {
    "bigint": "bigint", "boolean": "boolean", "bytea": "Buffer", "date": "string",
    "double precision": "number",
    "integer": "number", "interval": "string", "jsonb": "Json", "real": "number",
    "text": "string", "timestamp with time zone": "Date", "uuid": "string",
}  # fmt: skip
ARGUMENTS = RESULTS | {
    "bigint": "bigint | number", "halfvec": "number[]", "timestamp with time zone": "Date | string",
}  # fmt: skip


NULL_RESULTS = {"get_working", "resolve_dispute"}


def client(dsn: str) -> str:
    """Return the module of the functions in the database at `dsn`."""
    with psycopg.connect(dsn, options="-c search_path=pg_catalog") as connection:
        functions = connection.execute(FUNCTIONS).fetchall()
        nullable = {name for (name,) in connection.execute(NULLABLE)}
        enums = {
            name: " | ".join(f"'{label}'" for label in labels)
            for name, labels in connection.execute(ENUMS)
        }
    interfaces: dict[str, str] = {}
    methods = []
    for name, comment, is_set, returned, columns in functions:
        given = [one for one in columns if one["mode"] == "i"]
        made = [one for one in columns if one["mode"] == "t"]
        is_composite = returned not in RESULTS and returned not in ("record", "text[]", "void")
        row = _camel(returned) if is_composite else f"{_camel(name)}Row"
        if made:
            interfaces[row] = _interface(row, made, nullable)
        row = row if made else ""
        methods.append(_method(name, comment, given, is_set, returned, row, enums))
    listed, body = "\n".join(interfaces.values()), "\n\n".join(methods)
    return f"{HEAD}{listed}\nexport class Recall extends Client {{\n{body}\n}}\n"


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _typed(kind: str, types: dict[str, str], enums: dict[str, str]) -> str:
    if kind.endswith("[]"):
        item = _typed(kind[:-2], types, enums)
        return f"({item} | null)[]" if kind == "halfvec[]" else f"{item}[]"
    return enums[kind] if kind in enums else types[kind]


def _nullable(names: set[str], nullable: set[str]) -> set[str]:
    """Return the columns of a result that may be NULL."""
    classes = [
        {field.name: "None" in str(field.type) for field in fields(row)}
        for module in (rows, _pages, call_rows)
        for row in vars(module).values()
        if isinstance(row, type) and is_dataclass(row)
    ]
    fitting = [row for row in classes if names <= row.keys()]
    if not fitting:
        return names & nullable
    best = min(fitting, key=len)
    return {name for name in names if best[name]}


def _interface(row: str, columns: list[dict[str, Any]], nullable: set[str]) -> str:
    empty = _nullable({one["name"] for one in columns}, nullable)
    lines = [
        f"  {one['name']}: {_typed(one['type'], RESULTS, {})}"
        + (" | null" if one["name"] in empty else "")
        + ";"
        for one in columns
    ]
    return "\n".join([f"export interface {row} {{", *lines, "}", ""])


def _object(items: list[str], start: str, end: str, separator: str) -> list[str]:
    """Return an object on one line, or else each of its items on a line."""
    inside = f"{separator} ".join(items)
    if len(line := f"    {start}{{ {inside} }}{end}") <= MAX_COLUMNS:
        return [line]
    return [f"    {start}{{", *(f"      {item}{separator}" for item in items), f"    }}{end}"]


def _method(
    name: str, comment: str, given: list[dict[str, Any]], is_set: bool, returned: str, row: str,
    enums: dict[str, str],
) -> str:  # fmt: skip
    """Return a method; each parameter's SQL type decides how its value is sent."""
    said = textwrap.wrap(comment.replace("*/", "* /"), 94, break_long_words=False)
    lines = ["  /**", *(f"   * {line}" for line in said), "   */"]
    is_optional = all(one["is_optional"] for one in given)
    if row:
        result, how = f"{row}[]", "rows"
    elif returned == "void":
        result, how = "void", "none"
    else:
        result, how = _typed(returned, RESULTS, {}), "value"
        if name in NULL_RESULTS:
            result += " | null"
        assert not is_set, name  # noqa: S101
    if given:
        typed = [
            f"{one['name']}{'?' if one['is_optional'] else ''}: "
            + _typed(one["type"], ARGUMENTS, enums)
            + (" | null" if one["is_optional"] else "")
            for one in given
        ]
        sent = [f"{one['name']}: '{one['type']}'" for one in given]
        lines.append(f"  {name}(")
        lines += _object(typed, "given: ", f"{' = {}' if is_optional else ''},", ";")
        lines.append(f"  ): Promise<{result}> {{")
        lines += _object(sent, f"return this.{how}('{name}', given, ", ");", ",")
    else:
        lines.append(f"  {name}(): Promise<{result}> {{")
        lines.append(f"    return this.{how}('{name}', {{}}, {{}});")
    return "\n".join([*lines, "  }"])
