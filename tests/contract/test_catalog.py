"""Rules that every object of the schema keeps; the queries are in catalog_lint.sql."""

from __future__ import annotations

import psycopg
import pytest

from pgrecall import schema
from support.installing import RULES, TEXT


def test_every_rule_of_the_catalog_is_read() -> None:
    assert len(RULES) == TEXT.count("-- rule: ") > 10


@pytest.mark.parametrize("rule", RULES)
def test_no_object_breaks_the_rule(db: psycopg.Connection, rule: str) -> None:
    broken = [row[0] for row in db.execute(RULES[rule].encode())]
    assert not broken, "\n".join([rule, *broken])


def test_function_bodies_pass_their_check(db: psycopg.Connection) -> None:
    """The installer creates functions with unchecked bodies, since they call each other; here
    every body is checked, with everything there.
    """
    errors = []
    with db.transaction(force_rollback=True):
        db.execute(schema.read_file("sql/extension_path.sql").encode())
        db.execute("set local check_function_bodies = on")
        for file in schema.install_files():
            if not file.name.startswith("functions/"):
                continue
            try:
                with db.transaction():
                    db.execute(file.text.encode())
            except psycopg.Error as error:
                errors.append(f"{file.name}: {error}")
    assert not errors, "\n".join(errors)


def test_every_partition_is_like_its_parent(db: psycopg.Connection) -> None:
    """Leaves are built aside and attached: nothing may have been forgotten on the way."""
    strange = db.execute(
        """
        select i.inhrelid::regclass::text
          from pg_inherits as i
          join pg_class as p on p.oid = i.inhparent
          join pg_class as c on c.oid = i.inhrelid
         where p.relnamespace = 'recall'::regnamespace
           and p.relkind = 'p'
           and (c.relowner <> p.relowner
                or (select count(*) from pg_index where indrelid = c.oid)
                   <> (select count(*) from pg_index where indrelid = p.oid)
                or (select count(*) from pg_trigger where tgrelid = c.oid)
                   <> (select count(*) from pg_trigger
                        where tgrelid = p.oid and tgnewtable is null))  -- else of the parent only
        """
    ).fetchall()
    assert strange == []
