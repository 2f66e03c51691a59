"""plpgsql_check over every PL/pgSQL function, where the server has it."""

from __future__ import annotations

import psycopg
import pytest

# False warnings of the checker: (function, words of its message).
EXPECTED: list[tuple[str, str]] = [
    # a list of columns of settings, each put in by format's %I
    ("recall._write_settings", "text type variable is not sanitized"),
    ("recall._import_rows", "text type variable is not sanitized"),
    ("recall.list_sealed_rows", "text type variable is not sanitized"),
    ("recall.list_sealed_rows", "is maybe unmodified"),  # it returns a query of its own making
    # the next request and a span are two results
    ("recall._complete_job", 'composite OUT variable "o_span" is not single argument'),
    # a user has one row, so the parameters of every backfill say nothing here
    ("recall._backfill_overrides", 'unmodified OUT variable "o_position"'),
    ("recall._backfill_overrides", 'unused parameter "p_position"'),
    ("recall._backfill_overrides", 'unused parameter "p_limit"'),
    # pg_cron, which is in another database
    ("recall.schedule_maintenance", '"cron" does not exist'),
    ("recall.schedule_maintenance", '"cron.job" does not exist'),
    ("recall.unschedule_maintenance", '"cron.job" does not exist'),
    # Citus, which no server of the tests has
    ("recall._distribute_functions", "function create_distributed_function("),
    ("recall._distribute_functions", "not SQL injection safe"),  # names of types of the catalog
    ("recall._distribute_tables", '"pg_catalog.pg_dist_partition" does not exist'),
    ("recall._distribute_tables", 'unused variable "v_table"'),  # the checker stops before its use
    ("recall._distribute_tables", 'unused parameter "p_shard_count"'),
    ("recall._health_nodes", "function pg_catalog.citus_check_cluster_node_health()"),
    ("recall._health_nodes", "function pg_catalog.run_command_on_workers(unknown)"),
    ("recall._detached_tables", "function pg_catalog.relation_is_a_known_shard("),
]


@pytest.fixture
def checker(db: psycopg.Connection) -> psycopg.Connection:
    there = db.execute(
        "select 1 from pg_available_extensions where name = 'plpgsql_check'"
    ).fetchone()
    if there is None:
        pytest.skip("this server has no plpgsql_check; the Debian server in .ci/run has")
    db.execute("create extension if not exists plpgsql_check")
    return db


def test_plpgsql_check_accepts_every_function(checker: psycopg.Connection) -> None:
    found = checker.execute(
        """
        with functions as (
            select p.oid, p.oid::regprocedure::text as name, 0::oid as relation,
                   null::name as new_rows
              from pg_proc as p
              join pg_language as l on l.oid = p.prolang
             where p.pronamespace = 'recall'::regnamespace
               and l.lanname = 'plpgsql'
               and p.prorettype <> 'trigger'::regtype
            union
            select p.oid, p.oid::regprocedure::text, min(t.tgrelid),
                   min(t.tgnewtable::text)::name
              from pg_trigger as t
              join pg_proc as p on p.oid = t.tgfoid
             where p.pronamespace = 'recall'::regnamespace
             group by p.oid
        )
        select f.name, c.lineno, c.level, c.message, c.hint
          from functions as f
         cross join lateral plpgsql_check_function_tb(
                funcoid              => f.oid,
                relid                => f.relation,
                newtable             => f.new_rows,
                fatal_errors         => false,
                other_warnings       => true,
                extra_warnings       => true,
                security_warnings    => true,
                performance_warnings => false
               ) as c
         order by f.name, c.lineno
        """
    ).fetchall()
    problems = [
        f"{name}:{line}: {level}: {message} {hint or ''}"
        for name, line, level, message, hint in found
        if not any(name.startswith(f"{f}(") and words in message for f, words in EXPECTED)
    ]
    assert not problems, "\n".join(problems)


def test_no_trigger_function_escapes_the_check(checker: psycopg.Connection) -> None:
    """A trigger function that no trigger uses would have been passed over."""
    unused = checker.execute(
        """
        select p.oid::regprocedure::text
          from pg_proc as p
         where p.pronamespace = 'recall'::regnamespace
           and p.prorettype = 'trigger'::regtype
           and not exists (select from pg_trigger as t where t.tgfoid = p.oid)
        """
    ).fetchall()
    assert unused == []
