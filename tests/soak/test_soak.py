"""A short soak finds nothing, and a soak finds what is broken."""

from __future__ import annotations

import os
import random
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from soak.check import differences, fates
from soak.ledger import Entry, read_ledgers, token, tokens_in
from soak.record import record, table
from soak.run import Choices, Soak, is_debian_here, plan, running
from soak.servers import DATABASES

whole = pytest.mark.skipif(
    "SOAK" not in os.environ, reason="a whole soak kills servers under load: make repeat runs it"
)

SABOTAGE = """
    create or replace function public.lose() returns trigger language plpgsql as
        'begin return null; end';
    create or replace trigger lose before insert on recall.append_receipts
        for each row execute function public.lose();
    create or replace trigger lose before delete on recall.model_calls
        for each row execute function public.lose();
"""


@contextmanager
def short_soak(minutes: float, sabotage: str | None = None) -> Iterator[Soak]:
    """Yield a soak that has ended, whose servers still run."""
    is_debian = os.environ.get("PGRECALL_TEST_SERVER", "").startswith("postgres") and (
        is_debian_here()
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = min(free.getsockname()[1], 65000)
    folder = Path(tempfile.mkdtemp(prefix="pgrecall-soak-"))
    folder.chmod(0o755)  # root's server may pass
    choices = Choices(minutes, random.randrange(10**6), port, folder / "run", is_debian, sabotage)
    try:
        with running(choices) as soak:
            soak.load()
            soak.finish()
            yield soak
            soak.servers.remove()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@whole
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_short_soak_loses_nothing_and_its_check_finds_what_is_planted() -> None:
    with short_soak(0.5) as soak:
        assert [*soak.violations] == []
        entries, _ = read_ledgers(soak.choices.folder)
        made = record(entries, [], soak.outages, soak.samples, soak.counts, minutes=0.5, seed=1,
                      server="PostgreSQL")  # fmt: skip
        assert made["operations"] > 200
        assert made["erasures"] > 0
        assert made["disturbances"]["promote"] == 1
        assert "lost; doubled; torn | 0; 0; 0" in table(made)

        known = fates(entries, 0)
        due = next(name for name, fate in known.items() if fate.kind == "history" and fate.is_due)
        gone = next(name for name, fate in known.items() if fate.is_gone and fate.erasures)
        sealed = next(name for name, fate in known.items() if fate.kind == "sealed")
        foreign = token(0, int(due[3:6]) + 1, 0, 1)
        note = 'update recall.conversation_history set metadata = metadata || \'{{"n": "{}"}}\''
        note += f" where content like '%{due}%'"
        for damage, expected in {
            f"delete from recall.conversation_history where content like '%{due}%'": "lost",
            "insert into recall.conversation_history select h.* from"
            " recall.conversation_history as m, jsonb_populate_record(m, jsonb_build_object("
            "'message_id', gen_random_uuid(), 'turn_index', m.turn_index + 1000)) as h"
            f" where m.content like '%{due}%'": "doubled",
            note.format(gone): "left",
            note.format(sealed): "readable",
            note.format(foreign): "foreign",
            note.format(token(0, 0, 99, 1)): "unknown",
            "update recall.jobs set state = 'dead', lease_until = null, lease_token = null,"
            " worker = null, last_error = null": "job",
        }.items():  # fmt: skip
            with soak.servers.primary.connect(DATABASES[0]) as conn:
                with conn.transaction(force_rollback=True):
                    conn.execute("set local session_replication_role = replica")
                    changed = conn.execute(damage.encode()).rowcount
                    found = {text.partition(":")[0] for text in differences(conn, entries, 0)}
                assert expected in found or (expected == "job" and changed == 0), (damage, found)


@whole
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_soak_finds_lost_receipts_and_a_table_that_an_erasure_leaves_out() -> None:
    with short_soak(0.5, SABOTAGE) as soak:
        found = {text.partition(":")[0] for text in soak.violations}
        assert {"doubled", "left"} <= found, [*soak.violations][:20]


def test_plan_has_each_disturbance_and_repeats_with_its_seed() -> None:
    events = plan(1800, random.Random(7))
    assert events == plan(1800, random.Random(7))
    assert {what for _, what in events} >= {"upgrade", "promote", "kill worker", "kill all"}
    assert 0 < events[0][0] < events[-1][0] < 1800


def write(began: float, ended: float, outcome: str = "ok", **facts: object) -> Entry:
    return Entry(0, "op", began, ended, outcome, {"db": 0, "user": 1, **facts})


@pytest.mark.parametrize(
    ("others", "is_due", "is_gone"),
    [
        ([], True, False),
        ([write(3, 4, erased_user=True)], False, True),
        ([write(3, 4, "lost", erased_user=True)], False, False),
        ([write(1.5, 4, erased_user=True)], False, False),
        ([write(3, 4, erased_user=True), write(5, 6, other=["t"])], True, False),
        ([write(0.1, 0.2, erased_user=True)], True, False),
        ([write(3, 4, erased_session="s")], False, True),
        ([write(3, 4, erased_session="another")], True, False),
    ],
)
def test_fate_of_a_text_follows_from_the_times_of_its_requests(
    others: list[Entry], is_due: bool, is_gone: bool
) -> None:
    fate = fates([write(1, 2, history=["t"], session="s"), *others], 0)["t"]
    assert (fate.is_due, fate.is_gone) == (is_due, is_gone)


def test_tokens_are_found_in_any_text() -> None:
    one, other = token(0, 1, 2, 3), token(1, 10, 15, 999_999)
    assert tokens_in(f'{{"a": "{one}x", "{other}": 1}}') == {one, other}
