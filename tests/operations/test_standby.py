"""A hot standby that streams from the server: it answers every read, and refuses every write."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory
from pgrecall.cli._main import _run
from pgrecall.errors import ConfigurationError
from support import call, index_messages, login_role, our_role, refused, rows, value
from support.everyfunction import CALLS, Call, World, furnish
from support.sealed import KEYS
from support.servers import Standby, TestServer, streaming_standby

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]


@dataclass
class Pair:
    """A primary with two furnished users, and its standby, which knows of them."""

    world: World
    other: World
    primary: Connection
    standby: Connection
    server: Standby
    dsn: str
    volatile: set[str]


@pytest.fixture(scope="module")
def pair(server: TestServer, dsn: str) -> Iterator[Pair]:
    with psycopg.connect(dsn, autocommit=True) as primary:
        world, other = furnish(primary, "marked"), furnish(primary, "others")
        for session in call(primary, "list_sessions", p_user_id=world["user"]):
            if session["session_id"] not in (world["session"], world["closed"]):
                call(primary, "enqueue_job", p_user_id=world["user"], p_kind="embed",
                     p_session_id=session["session_id"])  # fmt: skip
        index_messages(primary)
        found = rows(primary, "select proname from pg_proc where provolatile = 'v'"
                              " and pronamespace = 'recall'::regnamespace")  # fmt: skip
        with streaming_standby(server) as standby:
            name = str(primary.info.dbname)
            standby.catch_up()
            with psycopg.connect(standby.dsn(name), autocommit=True) as conn:
                assert value(conn, "select pg_is_in_recovery()") is True
                yield Pair(world, other, primary, conn, standby, standby.dsn(name),
                           {row["proname"] for row in found})  # fmt: skip


def answer(conn: Connection, asked: Call, world: World) -> Any:
    """Return the rows, or the error."""
    try:
        return conn.execute(asked.query.encode(), world).fetchall()
    except psycopg.Error as error:
        return error


def alike(one: Any, other: Any) -> bool:
    """Return whether two answers are the same but for the moment at which they were given."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            key in ("at", "time_ms") or alike(item, other[key]) for key, item in one.items()
        )
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, abs=1e-3)
    return type(one) is type(other) and bool(one == other)


DIFFERENT = {"health", "metrics", "get_working", "export_user", "export_user_pieces",
             "compile_context everything"}  # fmt: skip
"""What says more, or less, on a standby; there is a test for each."""


def test_reads_answer_as_on_the_primary(pair: Pair) -> None:
    counts = []
    for asked in CALLS:
        if asked.function in pair.volatile or {asked.function, str(asked)} & DIFFERENT:
            continue
        expected, found = (answer(c, asked, pair.world) for c in (pair.primary, pair.standby))
        assert isinstance(found, list), (str(asked), found)
        assert alike(expected, found), (str(asked), expected, found)
        counts.append(bool(found))
    assert sum(counts) > 40


def test_writes_are_refused(pair: Pair) -> None:
    """Each says so; but for what has nothing to do."""
    refusals = 0
    for asked in CALLS:
        if asked.function not in pair.volatile or asked.function == "uuidv7":
            continue
        found = answer(pair.standby, asked, pair.world)
        if isinstance(found, psycopg.Error):
            words = found.diag.message_primary or ""
            assert (
                (found.sqlstate, "read-only transaction" in words) == ("25006", True)
                or (found.sqlstate, "during recovery" in words) == ("25006", True)
                or ((found.sqlstate, words) == ("RC007", "a standby has no working memory"))
                or (found.sqlstate, "during recovery" in words) == ("0A000", True)
            ), (asked, found)
            refusals += 1
        else:
            assert found in ([(0, False)], [(pair.world["session"],)]), (asked, found)
    assert refusals > 60


def test_working_memory_is_on_the_primary(pair: Pair) -> None:
    where = {"p_user_id": pair.world["user"], "p_session_id": pair.world["session"]}
    for function, more in (
        ("get_working", {"p_task_id": "task"}),
        ("clear_working", {}),
        ("put_working", {"p_task_id": "task", "p_key": "k", "p_value": {}}),
    ):
        with refused("RC007", "a standby has no working memory"):
            call(pair.standby, function, **where, **more)
    options = {"include_working": "task", "task": "tool_heavy"}
    texts = [
        json.dumps(call(conn, "compile_context", **where, p_options=options), default=str)
        for conn in (pair.primary, pair.standby)
    ]
    assert ["<working_memory>" in text for text in texts] == [True, False]
    assert ["left out on a standby" in text for text in texts] == [False, True]


def test_an_export_has_what_there_is(pair: Pair) -> None:
    """All but the unlogged tables, and it is a document that an import takes."""
    whole, found = (
        value(conn, "select recall.export_user(%s)", [pair.world["user"]])
        for conn in (pair.primary, pair.standby)
    )
    for table in ("working_memory", "memory_access_log"):
        assert whole["tables"].pop(table)
    assert found["tables"] == whole["tables"]
    counts = value(pair.primary, "select recall.import_user(%s, %s)",
                   [pair.world["user"], Jsonb(found)])  # fmt: skip
    assert not any(counts.values()), "the same again"


def test_health_and_metrics_work_on_the_standby(pair: Pair) -> None:
    before, after = (
        {row["name"]: row for row in call(conn, "health")} for conn in (pair.primary, pair.standby)
    )
    assert before.keys() == after.keys()
    assert after["writes"]["detail"] == "a standby: reads only"
    assert {name: row["status"] for name, row in before.items()} == {
        name: row["status"] for name, row in after.items()
    }
    before, after = (
        {(row["name"], json.dumps(row["labels"], sort_keys=True)) for row in call(conn, "metrics")}
        for conn in (pair.primary, pair.standby)
    )
    own_lag = ("pgrecall_replication_lag_seconds", "{}")
    assert after - before == {own_lag}
    assert len(after) > 100


def test_metrics_report_the_lag_of_a_standby(pair: Pair) -> None:
    """The primary names the standby, which says its own; caught up, neither lags."""

    def lags(conn: Connection, unit: str = "seconds") -> list[tuple[set[str], float]]:
        return [({*row["labels"]}, row["value"]) for row in call(conn, "metrics")
                if row["name"] == f"pgrecall_replication_lag_{unit}"]  # fmt: skip

    owner = sql.Identifier(our_role(pair.primary, "recall_owner"))
    assert lags(pair.primary) == [], "the server does not tell everybody"
    pair.primary.execute(sql.SQL("grant pg_monitor to {}").format(owner))
    try:
        pair.server.catch_up()
        ((named, seconds),) = lags(pair.primary)
        ((_, behind),) = lags(pair.primary, "bytes")
    finally:
        pair.primary.execute(sql.SQL("revoke pg_monitor from {}").format(owner))
    assert named == {"standby"}
    assert 0 <= seconds < 60
    assert behind >= 0
    pair.server.catch_up()
    ((unnamed, own),) = lags(pair.standby)
    assert unnamed == set()
    assert 0 <= own < 60


def test_metrics_report_the_lag_of_a_slot(db: Connection) -> None:
    db.execute("select pg_create_physical_replication_slot('lagging', true)")
    try:
        db.execute("create table grown as select n from generate_series(1, 10000) as n")
        (found,) = [row for row in call(db, "metrics")
                    if row["name"] == "pgrecall_replication_slot_lag_bytes"]  # fmt: skip
    finally:
        db.execute("select pg_drop_replication_slot('lagging')")
    assert found["labels"] == {"slot": "lagging"}
    assert found["value"] > 100_000


def test_verify_integrity_on_the_standby_reports_a_change_at_rest(pair: Pair) -> None:
    """A change at rest is seen there, too, and the head that it exports holds for both."""
    user = uuid.uuid4()
    (made,) = call(pair.primary, "remember", p_user_id=user, p_content="I like tea")
    pair.server.catch_up()
    head = value(pair.standby, "select recall.export_head(%s)", [user])
    for conn in (pair.primary, pair.standby):
        assert call(conn, "verify_integrity", p_user_id=user, p_head=head) == []
    pair.primary.execute("update recall.memory_store set content = 'I like milk'"
                         " where user_id = %s", [user])  # fmt: skip
    pair.server.catch_up()
    (finding,) = call(pair.standby, "verify_integrity", p_user_id=user, p_head=head)
    assert (finding["finding"], finding["memory_id"]) == ("memory_changed", made["memory_id"])


def test_standby_shows_nothing_of_another_user(pair: Pair) -> None:
    """Neither through a function, as somebody else, nor with a reader's rights on the tables."""
    mine, other = pair.world, pair.other
    with login_role(pair.primary, member_of=["recall_reader"]) as login:
        pair.server.catch_up()
        with psycopg.connect(pair.server.dsn(str(pair.primary.info.dbname), **login)) as reader:
            assert value(reader, "select count(*) from recall.memory_store") == 0
            reader.execute("select set_config('recall.user_id', %s, true)", [str(mine["user"])])
            assert value(reader, "select count(*) from recall.memory_store where user_id = %s",
                         [other["user"]]) == 0  # fmt: skip
            texts = json.dumps(
                call(reader, "search", p_user_id=mine["user"], p_query="others likes"), default=str
            )
            assert ("marked" in texts, "others" in texts) == (True, False)
            for function in ("verify_integrity", "export_head", "export_user", "get_memories"):
                with refused("RC006"), reader.transaction():
                    call(reader, function, p_user_id=other["user"])
    with refused("RC001"):
        call(pair.standby, "get_messages", p_user_id=mine["user"], p_session_id=other["session"])


def test_driver_reads_on_the_standby_and_writes_on_the_primary(pair: Pair, dsn: str) -> None:
    """It writes on the primary and reads on the standby, also for an encrypted user."""
    for user in (uuid.uuid4(), sealed := uuid.uuid4()):
        with AgentMemory.connect(
            dsn, history_dsn=pair.dsn, memory_dsn=pair.dsn, embedder=False, wrapping_keys=KEYS
        ) as memory:
            if user == sealed:
                memory.encryption.seal_user(user)
            chat = memory.session(user=user, model="gpt-4o-mini")
            chat.append(user="Is there any green tea?")
            memory.remember(user, "The user likes green tea.")
            pair.server.catch_up()
            assert [one.content for one in chat.messages()] == ["Is there any green tea?"]
            (hit,) = memory.search(user, "green tea")
            assert hit.content == "The user likes green tea."
            assert "likes green tea" in json.dumps(chat.context("green tea"))
        noted = "select count(*) from recall.memory_access_log where user_id = %s"
        assert value(pair.primary, noted, [user]) == 1, "the context's use, on the primary"
    with AgentMemory.connect(pair.dsn, embedder=False, wrapping_keys=KEYS) as memory:
        assert memory.privacy.verify_integrity(sealed) == []
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            memory.remember(user, "The user likes milk.")
        with pytest.raises(ConfigurationError, match="no working memory"):
            memory.session(user=user, session_id=chat.session_id).get_working("task")
    with (
        AgentMemory.connect(pair.dsn, embedder=False) as keyless,
        pytest.raises(ConfigurationError, match="is encrypted"),
    ):
        keyless.memories.list(sealed)


def test_commands_that_write_say_that_a_standby_is_read_only(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PGRECALL_DSN", pair.dsn)
    user, head = str(pair.world["user"]), str(tmp_path / "head.json")

    def done(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = _run([*arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    for arguments in (
        ["search", "thing number 9", "--user", user, "--no-embedding"],
        ["context", "thing number 9", "--user", user, "--no-embedding"],
        ["memories", "list", "--user", user],
        ["export", "--user", user],
        ["metrics"],
        ["verify", "--user", user, "--save-head", head],
    ):
        code, _, err = done(*arguments)
        assert code == 0, (arguments, err)
    assert json.loads(Path(head).read_text())["user_id"] == user
    assert "a standby: reads only" in done("doctor", "--json")[1]
    for arguments in (
        ["forget", "--user", user, "--yes"],
        ["memories", "add", "I like tea", "--user", user, "--no-embedding"],
        ["tick"],
        ["install"],
    ):
        code, _, err = done(*arguments)
        assert code == 1, arguments
        assert "read-only transaction" in err or "standby" in err, (arguments, err)
        assert "Traceback" not in err
