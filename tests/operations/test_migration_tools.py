"""The scripts of docs/operations/migration-tools.md install pgrecall by the tools themselves."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo

from pgrecall import __version__, schema
from support import value
from support.servers import TestServer

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operations" / "migration-tools.md").read_text(encoding="utf-8")
NODE_TOOLS = ROOT / ".cache" / "migration-tools"
"""Where .ci/run installs tools from npm."""

pytestmark = pytest.mark.slow

# The table of each tool, and the program or package that it needs.
TOOLS = {
    "Alembic": ("public.alembic_version", "alembic"),
    "yoyo": ("public._yoyo_migration", "yoyo"),
    "node-pg-migrate": ("public.pgmigrations", "node-pg-migrate"),
    "Postgrator": ("public.schemaversion where version > 0", "postgrator"),
    "db-migrate": ("public.migrations", "db-migrate"),
    "dbmate": ("public.schema_migrations", "dbmate"),
    "sql-migrate": ("public.gorp_migrations", "sql-migrate"),
    "Sqitch": ("sqitch.changes", "sqitch"),
}


def script(heading: str) -> str:
    (section,) = re.findall(rf"(?ms)^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE)
    (found,) = re.findall(r"(?ms)^```sh\n(.*?)^```", section)
    return str(found)


def url(dsn: str) -> str:
    """Return a connection string as a URL without a password's special characters."""
    parts = conninfo.conninfo_to_dict(dsn)
    user = f"{parts['user']}:{parts['password']}" if "password" in parts else parts["user"]
    return (f"postgres://{user}@{parts['host']}:{parts['port']}/{parts['dbname']}"
            "?sslmode=disable")  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS)
def test_migration_tool_installs_and_records_the_file(
    server: TestServer, tmp_path: Path, tool: str
) -> None:
    table, needed = TOOLS[tool]
    if server.kind == "embedded":
        pytest.skip("the tools connect by TCP, the embedded server listens on a socket only")
    path = os.pathsep.join(
        [
            str(Path(sys.executable).parent),
            str(NODE_TOOLS / "node_modules/.bin"),
            os.environ["PATH"],
        ]
    )
    if not (shutil.which(needed, path=path) or (NODE_TOOLS / "node_modules" / needed).is_dir()):
        pytest.skip(f"{needed} is not installed: .ci/run does")
    if (NODE_TOOLS / "node_modules").is_dir():
        (tmp_path / "node_modules").symlink_to(NODE_TOOLS / "node_modules")
    (tmp_path / "pgrecall-0.1.0.sql").write_text(schema.one_file(), encoding="utf-8")
    dsn = server.dsn(server.create_database("tool"))
    done = subprocess.run(
        ["bash", "-ec", script(tool)], cwd=tmp_path, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
        env={
            **os.environ, "PATH": path, "DATABASE_URL": url(dsn), "HOME": str(tmp_path),
            "SQITCH_FULLNAME": "Ada", "SQITCH_EMAIL": "ada@example.org",
            "PGOPTIONS": f"-c recall.role_prefix=run_{server._run} -c recall.share_roles=on"
                         " -c recall.hash_partitions=1",
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert value(conn, "select recall.version()") == __version__
        assert value(conn, "select hash_partitions from recall.settings") == 1
        assert value(conn, f"select count(*) from {table}") == 1
        health: Any = dict(conn.execute("select name, status from recall.health()").fetchall())
        assert "fail" not in health.values()
    server.drop_database(str(conninfo.conninfo_to_dict(dsn)["dbname"]))


def test_one_query_in_autocommit_is_one_transaction(empty_dsn: str) -> None:
    """As golang-migrate sends a file."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(schema.one_file().encode())
        assert value(conn, "select recall.version()") == __version__
