"""`pgrecall shards`."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable

import psycopg
import pytest

from pgrecall.cli import main
from pgrecall.cli._shards import init_shards, shard_states
from pgrecall.errors import ConfigurationError
from support import call, login_role, open_session
from support.proxies import Fleet

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(fleet: Fleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command on the proxy; return its exit code, output and messages."""
    monkeypatch.setenv("PGRECALL_DSN", fleet.dsn)

    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["shards", *words])
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


def test_status_lists_shards_and_fails_when_they_differ(fleet: Fleet, run: Run) -> None:
    code, out, _ = run("status", "--json")
    shards = json.loads(out)["shards"]
    assert (code, [(s["name"], s["slots"], s["problems"]) for s in shards]) == (
        0, [("a", 512, []), ("b", 512, [])],
    )  # fmt: skip
    with fleet.shard("b") as shard:
        call(shard, "register_model", p_model_id="other", p_context_window_size=4096)
        code, out, _ = run("status")
        assert (code, "models differ from shard a" in out) == (1, True)
        shard.execute("delete from recall.models where model_id = 'other'")
    assert run("status")[0] == 0


def test_move_says_how_long_calls_waited(fleet: Fleet, run: Run) -> None:
    name = f"user {uuid.uuid4()}"
    with fleet.proxy() as conn:
        user = call(conn, "ensure_user", p_external_id=name)[0]["ensure_user"]
        open_session(conn, user)
    target = "b" if fleet.home(user) == "a" else "a"
    code, out, err = run("move", name, "--to", target)
    assert (code, fleet.home(user)) == (0, target)
    assert "calls waited at most" in out
    assert "copying what has changed" in err
    assert "lives on" in run("move", name, "--to", target)[1]
    done = json.loads(run("move", str(user), "--to", "a" if target == "b" else "b", "--json")[1])
    assert (done["rows"]["sessions"], done["was_resumed"]) == (1, False)


def test_move_is_abandoned(fleet: Fleet, run: Run) -> None:
    user = fleet.user_on("a")
    with fleet.proxy() as conn:
        open_session(conn, user)
        conn.execute("insert into recall_proxy.moves (user_id, from_shard, to_shard)"
                     " values (%s, 0, 1)", [user])  # fmt: skip
        assert run("move", str(user), "--to", "a")[0] == 1
        code, _, err = run("move", str(user), "--abandon")
        assert (code, "is abandoned" in err) == (0, True)
        assert conn.execute("select from recall_proxy.moves").fetchall() == []
    assert fleet.home(user) == "a"


def test_init_again_keeps_the_shards(run: Run) -> None:
    code, out, _ = run("init", "--json")
    assert (code, [shard["slots"] for shard in json.loads(out)]) == (0, [512, 512])


def test_init_again_keeps_objects_of_others(fleet: Fleet, run: Run) -> None:
    with fleet.proxy() as conn:
        conn.execute("create view public.release as select recall.version()")
        conn.execute("create table public.orders (p recall.provenance)")
        conn.execute("update recall_proxy.release set checksum = 'older'")
        code, _, err = run("init")
        assert (code != 0, "use functions or types of schema recall" in err) == (True, True)
        conn.execute("drop view public.release")
        assert run("init")[0] != 0
        conn.execute("drop table public.orders")
        assert run("init")[0] == 0
        assert call(conn, "version")


def test_a_schema_of_another_role_makes_no_proxy(fleet: Fleet, empty_dsn: str) -> None:
    """A superuser would run what is in it."""
    trap = (
        "create schema recall_proxy; create function recall_proxy.own() returns text"
        " language plpgsql as 'begin alter role {eve} superuser; return null; end';"
        " create view recall_proxy.release as select recall_proxy.own() as version;"
        " create function recall_proxy.status() returns text language sql as"
        " 'select recall_proxy.own()'"
    )
    with psycopg.connect(empty_dsn, autocommit=True) as conn, login_role(conn) as eve:
        name = eve["user"]
        conn.execute(f'grant create on database "{conn.info.dbname}" to {name}'.encode())
        with psycopg.connect(empty_dsn, autocommit=True, **eve) as trapper:
            trapper.execute(trap.format(eve=name).encode())
        with pytest.raises(psycopg.Error, match=f"recall_proxy belongs to {name}"):
            init_shards(conn, {"a": fleet.connection("a")})
        with pytest.raises(ConfigurationError, match="is no proxy"):
            shard_states(conn)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["init", "--shard", "a"], 2, "not NAME='host=… dbname=…'"),
        (["init", "--shard", "a=dbname=x", "--shard", "a=dbname=y"], 2, "shard a is given twice"),
        (["init", "--shard", "z=dbname=x"], 1, "shard z is new to this proxy"),
        (["add", "z", "dbname=x user=y"], 1, "names a user or a password"),
        (["add", "z", "dbname=nothing_here host=127.0.0.1 port=1"], 1, "127.0.0.1"),
        (["move", "nobody", "--to", "z"], 1, "there is no shard z"),
        (["move", "nobody", "--to", "a", "--abandon"], 2, "either --to or --abandon"),
        (["move", "nobody"], 2, "either --to or --abandon"),
        (["move", "nobody", "--abandon"], 1, "has no move that can be abandoned"),
    ],
)
def test_wrong_use_is_an_error(run: Run, words: list[str], code: int, message: str) -> None:
    found, _, err = run(*words)
    assert (found, message in err) == (code, True), err


def test_embedded_server_is_no_proxy(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGRECALL_DSN", "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    code, _, err = run("status")
    assert (code, "name the proxy by --dsn" in err) == (2, True)
