"""The gauges of metrics(), their text form, and the dashboard that shows them."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory
from pgrecall._plain import escaped
from pgrecall.cli.metrics import prometheus_text
from pgrecall.rows import Metric
from support import call, login_role, refused, rows, value
from support.everyfunction import furnish

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]

DASHBOARD = Path(__file__).resolve().parents[2] / "sql/grafana/pgrecall.json"
PANELS = json.loads(DASHBOARD.read_text())["panels"]


@pytest.fixture(scope="module")
def mark(dsn: str) -> str:
    """A user with something of everything."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        furnish(conn, "metrical")
        conn.execute("select pg_stat_force_next_flush()")
        conn.execute("analyze")
    return "metrical"


def gauges(conn: Connection, name: str) -> dict[str, float]:
    """Return the values of a gauge by their labels, joined."""
    return {
        " ".join(row["labels"][label] for label in sorted(row["labels"])): row["value"]
        for row in call(conn, "metrics")
        if row["name"] == name
    }


def test_names_are_prometheus_names(db: Connection, mark: str) -> None:
    found = call(db, "metrics")
    for row in found:
        assert re.fullmatch(r"pgrecall_[a-z0-9_]+", row["name"]), row
        assert all(re.fullmatch(r"[a-z_]+", label) for label in row["labels"]), row
        assert all(isinstance(said, str) for said in row["labels"].values()), row
        assert row["value"] is not None, row
    series = [(row["name"], json.dumps(row["labels"], sort_keys=True)) for row in found]
    assert len(series) == len(set(series)), "a series twice"


def test_nothing_of_a_user_is_in_it(db: Connection, mark: str) -> None:
    text = json.dumps(call(db, "metrics"))
    assert mark not in text
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-", text)


def test_queue_gauges_count_jobs_and_their_lag(db: Connection, mark: str) -> None:
    counted = rows(db, "select kind, state::text, count(*) from recall.jobs group by 1, 2")
    assert gauges(db, "pgrecall_jobs") == {
        f"{row['kind']} {row['state']}": row["count"] for row in counted
    }
    assert gauges(db, "pgrecall_dead_jobs") == {"": 1}
    with db.transaction(force_rollback=True):
        user = uuid.uuid4()
        db.execute("select recall.enqueue_job(%s, 'extract', p_run_at => now() - interval '5 min')",
                   [user])  # fmt: skip
        db.execute("update recall.jobs set created_at = now() - interval '10 min'"
                   " where user_id = %s", [user])  # fmt: skip
        assert gauges(db, "pgrecall_job_lag_seconds")["extract"] == pytest.approx(300, abs=30)
        assert gauges(db, "pgrecall_oldest_unextracted_seconds")[""] == pytest.approx(600, abs=30)


def test_work_and_its_cost(db: Connection) -> None:
    with db.transaction(force_rollback=True):
        span = ("insert into recall.job_phases (user_id, job_id, phase_id, kind, phase, created_at,"
                " duration_ms, prompt_tokens, completion_tokens, cost_microcents, model_id, error)"
                " values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'compact',"
                " 'summary', now() - %s::interval, 1500, 1000, 100, 200000000, 'm', %s)"
                )  # fmt: skip
        for ago, error in (("1 hour", None), ("2 hours", "boom"), ("25 hours", None)):
            db.execute(span.encode(), [ago, error])
        db.execute("delete from recall.model_spending_totals")
        db.execute("insert into recall.model_spending_totals values"
                   " ((now() at time zone 'UTC')::date, 0, 100000000),"
                   " ((now() at time zone 'UTC')::date, 1, 50000000)")  # fmt: skip
        labels = "compact m summary"
        assert gauges(db, "pgrecall_phases_last_day")[labels] == 2
        assert gauges(db, "pgrecall_phase_errors_last_day")[labels] == 1
        assert gauges(db, "pgrecall_phase_seconds_last_day")[labels] == 3
        assert gauges(db, "pgrecall_phase_cost_dollars_last_day")[labels] == 4
        tokens = gauges(db, "pgrecall_phase_tokens_last_day")
        assert tokens[f"prompt {labels}"] == 2000
        assert tokens[f"completion {labels}"] == 200
        assert gauges(db, "pgrecall_compactions_last_day") == {"": 1}
        assert gauges(db, "pgrecall_compaction_ratio_last_day") == {"": 10}
        cost = gauges(db, "pgrecall_cost_dollars")
        assert cost == {"today": pytest.approx(1.5, abs=0.01), "yesterday": 0}


def test_item_gauges_count_expired_items_until_they_are_deleted(
    db: Connection, user: uuid.UUID
) -> None:
    items = [{"namespace": ["a"], "key": f"k{n}", "value": n, "ttl": 60} for n in range(3)]
    call(db, "put_items", p_user_id=user, p_items=Jsonb(items))
    db.execute("update recall.items set expires_at = now() - interval '1 hour'"
               " where user_id = %s and key <> 'k0'", [user])  # fmt: skip
    db.execute("analyze recall.items")
    assert gauges(db, "pgrecall_expired_items") == {"": 2}
    stored = value(db, "select count(*) from recall.items")
    assert gauges(db, "pgrecall_items_estimate") == {"": stored}
    call(db, "expire_items")
    assert gauges(db, "pgrecall_expired_items") == {"": 0}


def test_memory_gauges_count_tiers_and_accesses(db: Connection, mark: str) -> None:
    tiers = rows(db, "select tier::text, count(*) from recall.memory_store group by 1")
    estimated = gauges(db, "pgrecall_memories_estimate")
    common = max(tiers, key=lambda row: row["count"])
    assert estimated[common["tier"]] == pytest.approx(common["count"], rel=0.1)
    [fact] = rows(db, "select count(*) from recall.memory_store where kind = 'fact'")
    kinds = gauges(db, "pgrecall_memory_kinds_estimate")
    assert kinds["fact"] == pytest.approx(fact["count"], rel=0.1)
    events = rows(db, "select event, count(*) from recall.memory_events group by 1")
    assert gauges(db, "pgrecall_memory_events_last_day") == {
        row["event"]: row["count"] for row in events
    }
    assert gauges(db, "pgrecall_uncounted_accesses") == {"": 5}
    assert gauges(db, "pgrecall_context_relevance")[""] == pytest.approx(0.3)


def test_ratios_count_the_events_of_the_last_day(db: Connection) -> None:
    with db.transaction(force_rollback=True):
        db.execute("truncate recall.memory_events")
        for event, count, ago in (("added", 4, "1 hour"), ("duplicate", 3, "2 hours"),
                                  ("merged", 1, "1 hour"), ("superseded", 2, "3 hours"),
                                  ("promoted", 1, "1 hour"), ("added", 9, "25 hours")):  # fmt: skip
            db.execute("insert into recall.memory_events"
                       " (user_id, memory_id, event_no, at, event, caller, event_hash)"
                       " select gen_random_uuid(), gen_random_uuid(), 1, now() - %s::interval, %s,"
                       " 'x', '' from generate_series(1, %s)", [ago, event, count])  # fmt: skip
        assert gauges(db, "pgrecall_duplicate_ratio_last_day") == {"": 0.4}
        assert gauges(db, "pgrecall_supersession_ratio_last_day") == {"": 0.2}
        assert gauges(db, "pgrecall_promotion_ratio_last_day") == {"": 0.25}


def test_how_well_contexts_use_their_budget(db: Connection) -> None:
    """The median of the last day, and nothing when nothing was measured."""
    user = uuid.uuid4()
    with db.transaction(force_rollback=True):
        db.execute("truncate recall.context_efficiency")
        assert gauges(db, "pgrecall_context_efficiency_median_last_day") == {}
        for efficiency in (0.5, 0.9, 0.95, None):
            call(db, "record_access", p_user_id=user, p_memory_ids="{}", p_relevance="{}",
                 p_efficiency=efficiency)  # fmt: skip
        db.execute("insert into recall.context_efficiency"
                   " select now() - interval '25 hours', 0 from generate_series(1, 9)")  # fmt: skip
        found = gauges(db, "pgrecall_context_efficiency_median_last_day")
        assert found == {"": pytest.approx(0.9)}
        assert call(db, "purge_expired")[0]["done"] >= 9
        assert value(db, "select count(*) from recall.context_efficiency") == 3
    for bad in (-0.1, 1.1, float("nan")):
        with refused("RC003", "p_efficiency is"):
            db.execute("select recall.record_access(%s, '{}', '{}', %s::real)", [user, bad])


def test_metrics_report_sizes_of_tables_and_runs_of_tasks(db: Connection, mark: str) -> None:
    tables = {row["relname"] for row in rows(
        db, "select relname from pg_class where relnamespace = 'recall'::regnamespace"
        " and relkind in ('r', 'p') and not relispartition")}  # fmt: skip
    sizes = gauges(db, "pgrecall_table_bytes")
    assert set(sizes) == tables
    assert sizes["conversation_history"] > 100_000
    assert all(0 <= ratio <= 1 for ratio in gauges(db, "pgrecall_table_hot_update_ratio").values())
    call(db, "run_maintenance", p_task="expire_working")
    assert gauges(db, "pgrecall_maintenance_age_seconds")["expire_working"] < 60
    assert gauges(db, "pgrecall_maintenance_failures")["expire_working"] == 0
    assert sum(gauges(db, "pgrecall_health_checks").values()) == len(call(db, "health"))


def test_share_of_connections_grows_with_each(db: Connection, connect: Connect, mark: str) -> None:
    """The share in use grows by what a connection takes."""
    most = value(db, "select current_setting('max_connections')::int"
                     " - current_setting('superuser_reserved_connections')::int"
                     " - current_setting('reserved_connections')::int")  # fmt: skip
    before = gauges(db, "pgrecall_connection_saturation")[""]
    opened = [connect() for _ in range(5)]
    assert len(opened) == 5
    after = gauges(db, "pgrecall_connection_saturation")[""]
    assert 0 < before < after <= 1
    assert after - before >= 3 / most, "somebody else's may have ended meanwhile"


def test_what_is_red_can_be_alerted_on(db: Connection, mark: str) -> None:
    """Each row of health() by its name, and months that are missing."""
    with db.transaction(force_rollback=True):
        checks = {row["name"]: row["status"] for row in call(db, "health")}
        levels = {"ok": 0, "warn": 1, "fail": 2}
        assert gauges(db, "pgrecall_health") == {
            name: levels[status] for name, status in checks.items()
        }
        assert gauges(db, "pgrecall_missing_months") == {"this": 0, "next": 0}
        leaf = value(
            db, "select l.leaf::text from recall._month_leaves('recall.conversation_history_p3')"
                " as l where l.lower_bound = date_trunc('month', now(), 'UTC')")  # fmt: skip
        db.execute(f"drop table {leaf}".encode())
        assert gauges(db, "pgrecall_missing_months") == {"this": 1, "next": 0}
        assert gauges(db, "pgrecall_health")["partitions"] == 2


def test_large_tables_are_not_read_whole(db: Connection, mark: str) -> None:
    db.execute("set enable_seqscan = off")
    for table, column in (("memory_events", "at"), ("job_phases", "created_at")):
        plan = value(db, f"explain (format json) select * from recall.{table} as t"
                         f" where t.{column} > now() - interval '1 day'")  # fmt: skip
        assert "Index Cond" in json.dumps(plan)
        assert "Seq Scan" not in json.dumps(plan)


def test_metrics_are_refused_to_writers(db: Connection, connect: Connect) -> None:
    with login_role(db, member_of=["recall_writer"]) as writer, refused("42501"):
        call(connect(**writer), "metrics")


def test_metrics_work_in_a_read_only_transaction(db: Connection) -> None:
    with db.transaction(force_rollback=True):
        db.execute("set transaction read only")
        assert call(db, "metrics")


def test_driver_returns_metrics_with_labels(dsn: str, mark: str) -> None:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        found = memory.admin.metrics()
    assert Metric(name="pgrecall_dead_jobs", value=1.0, labels={}) in found


# --- the text form


@given(st.dictionaries(st.sampled_from("abc"), st.text(max_size=8), max_size=3),
       st.floats(allow_nan=False))  # fmt: skip
def test_a_line_can_be_read_back(labels: dict[str, str], number: float) -> None:
    text = "".join(prometheus_text([Metric(name="pgrecall_x", value=number, labels=labels)]))
    head, line = text.rstrip("\n").split("\n")
    assert head == "# TYPE pgrecall_x gauge"
    match = re.fullmatch(r"pgrecall_x(?:\{(.*)\})? (\S+)", line, re.DOTALL)
    assert match is not None
    assert float(match[2]) == number
    unescaped = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
    read = {
        label: re.sub(r'\\\\|\\"|\\n', lambda m: unescaped[m[0]], said)
        for label, said in re.findall(r'(\w)="((?:[^"\\]|\\.)*)"', match[1] or "", re.DOTALL)
    }
    assert read == {label: escaped(said) for label, said in labels.items()}


def test_lines_of_a_name_stand_together() -> None:
    made = [Metric(name=name, value=1.0, labels={}) for name in ("b", "a", "b")]
    assert "".join(prometheus_text(made)) == (
        "# TYPE a gauge\na 1.0\n# TYPE b gauge\nb 1.0\nb 1.0\n"
    )


# --- the dashboard


@pytest.mark.parametrize("panel", PANELS, ids=[panel["title"] for panel in PANELS])
def test_every_panel_runs_with_the_rights_of_an_operator(
    db: Connection, connect: Connect, mark: str, panel: dict[str, Any]
) -> None:
    """Its statements run with an operator's rights, read only, and find what they name."""
    known = {row["name"] for row in call(db, "metrics")} | {
        # only when something was worked on
        "pgrecall_phases_last_day", "pgrecall_phase_errors_last_day",
        "pgrecall_phase_seconds_last_day", "pgrecall_phase_tokens_last_day",
        "pgrecall_phase_cost_dollars_last_day",
    }  # fmt: skip
    with login_role(db, member_of=["recall_worker"]) as operator:
        conn = connect(autocommit=False, **operator)
        conn.execute("set transaction read only")
        for target in panel["targets"]:
            assert set(re.findall(r"pgrecall_\w+", target["rawSql"])) <= known
            cursor = conn.execute(target["rawSql"].encode())
            found = cursor.fetchall()
            columns = [column.name for column in cursor.description or ()]
            if panel["type"] == "stat":
                assert "value" in columns
                assert found, "a number is always shown"
        conn.rollback()
        conn.close()


def test_panels_do_not_overlap() -> None:
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in PANELS)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
