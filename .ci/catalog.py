"""Write what is generated from the catalog: signatures, contract, reference, client for Node.

    catalog.py [DSN]

Without the DSN of a database with the schema it installs one on an embedded server for the moment.
"""

from __future__ import annotations

import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

import node_client
import reference
from pgrecall import schema
from pgrecall.embedded import EmbeddedServer

ROOT = Path(__file__).resolve().parent.parent
SIGNATURES = ROOT / "python" / "pgrecall" / "_signatures.py"
CONTRACT = ROOT / "tests" / "contract" / "public_contract.txt"

HEAD = '''\
"""The SQL type of each parameter of each public function, parameters without their p_.

Made from the catalog by `make generate`; change the functions, not this.
"""

from __future__ import annotations

from typing import Final

__all__ = ["SIGNATURES"]

# fmt: off
SIGNATURES: Final[dict[str, dict[str, str]]] = {
'''

# A column of a table of results is an argument, too, of mode t. Types of the schema keep its name;
# halfvec loses the name of the schema that the extension happens to live in.
PARAMETERS = r"""
select p.proname,
       coalesce(
           array_agg(array[
               regexp_replace(a.name, '^p_', ''),
               regexp_replace(format_type(a.type, null), '^.*\.(halfvec)', '\1')] order by a.place)
           filter (where a.mode in ('i', 'b', 'v')),
           '{}')
  from pg_proc as p
  left join unnest(
           p.proargnames,
           coalesce(p.proallargtypes, p.proargtypes::oid[]),
           coalesce(p.proargmodes, array_fill('i'::"char", array[p.pronargs])))
       with ordinality as a (name, type, mode, place) on true
 where p.pronamespace = 'recall'::regnamespace
   and p.prokind = 'f'
   and p.proname !~ '^_'
 group by p.proname
 order by p.proname collate "C"
"""


# halfvec loses the name of the schema that the extension happens to live in. The contract has the
# columns of a result, whether the function lists them or returns rows of a type.
FUNCTIONS = r"""
select format(
           e'%s(%s)\n    %s%s',
           p.proname,
           regexp_replace(pg_get_function_arguments(p.oid), '\w+\.halfvec', 'halfvec', 'g'),
           coalesce('returns ' || coalesce(c.columns, pg_get_function_result(p.oid)),
                    'procedure'),
           case when p.prosecdef then ', security definer' end)
  from pg_proc as p
  left join lateral (
        select format('TABLE(%s)', string_agg(
                   concat_ws(' ', a.attname, format_type(a.atttypid, null)), ', '
                   order by a.attnum))
          from pg_type as t
          join pg_class as k on k.oid = t.typrelid and k.relkind = 'c'
          join pg_attribute as a on a.attrelid = k.oid and not a.attisdropped
         where t.oid = p.prorettype
        having count(*) > 0
       ) as c (columns) on true
 where p.pronamespace = 'recall'::regnamespace
   and p.proname !~ '^_'
 order by p.proname collate "C"
"""


def contract(dsn: str) -> str:
    """Return the signatures of the public functions in the database at `dsn`."""
    with psycopg.connect(dsn, options="-c search_path=pg_catalog") as connection:
        rows = connection.execute(FUNCTIONS).fetchall()
    return "".join(f"{function}\n" for (function,) in rows)


def signatures(dsn: str) -> str:
    """Return the module of the signatures in the database at `dsn`."""
    with psycopg.connect(dsn, options="-c search_path=pg_catalog") as connection:
        rows = connection.execute(PARAMETERS).fetchall()
    entries = []
    for name, parameters in rows:
        pairs = ", ".join(
            f'"{parameter}":\xa0"{kind.replace(" ", chr(0xA0))}"' for parameter, kind in parameters
        )
        filled = textwrap.fill(
            f'    "{name}": {{{pairs}}},', 100, subsequent_indent=" " * 8, break_long_words=False
        )
        entries.append(filled.replace("\xa0", " "))
    return HEAD + "\n".join(entries) + "\n}\n# fmt: on\n"


@contextmanager
def installed() -> Iterator[str]:
    """Install the schema on an embedded server of its own; yield the DSN."""
    with tempfile.TemporaryDirectory(prefix="pgrecall-catalog-") as home:
        server = EmbeddedServer(home, settings={"fsync": "off", "full_page_writes": "off"})
        dsn = server.start()
        try:
            with psycopg.connect(dsn, autocommit=True) as connection:
                schema.install(connection)
            yield dsn
        finally:
            server.stop()


def write(dsn: str) -> None:
    """Write all of them from the database at `dsn`."""
    SIGNATURES.write_text(signatures(dsn), encoding="utf-8")
    CONTRACT.write_text(contract(dsn), encoding="utf-8")
    node_client.CLIENT.write_text(node_client.client(dsn), encoding="utf-8")
    reference.write(dsn)


def main() -> int:
    """Write, and return the exit status."""
    if len(sys.argv) > 1:
        write(sys.argv[1])
    else:
        with installed() as dsn:
            write(dsn)
    return 0


if __name__ == "__main__":
    sys.exit(main())
