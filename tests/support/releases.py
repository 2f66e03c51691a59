"""Later releases for tests of upgrades: copies of the SQL files that a test changes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg

import checksums
from pgrecall import schema
from support import run

ROOT = Path(__file__).resolve().parents[2]
SMALL = {
    "embedding_dimensions": 4, "hash_partitions": 2, "history_months_ahead": 3, "share_roles": "on",
}  # fmt: skip


class Release:
    """A copy of the SQL files in a folder of its own.

    A copy of the present files has no migrations, unless they are kept: a test adds its own.
    """

    def __init__(
        self, folder: Path, version: str, base: Path = ROOT, *, keeps_migrations: bool = False
    ) -> None:
        self.folder = folder / version
        for name in ("sql", "functions", "migrations"):
            shutil.copytree(base / name, self.folder / name)
        self.replace("functions/observability/version.sql", r"return '[^']*'",
                     f"return '{version}'")  # fmt: skip
        if base == ROOT and not keeps_migrations:
            for path in (self.folder / "migrations").glob("*.sql"):
                path.unlink()
            self.replace("sql/migrations.sql", r"(?s)\$list\$\n.*\$list\$", "$list$\n$list$")
            path = self.folder / "sql" / "install.sql"
            path.write_text(checksums.RUN.sub("", path.read_text(encoding="utf-8")))

    @classmethod
    def of(cls, folder: Path) -> Release:
        """Return the release whose files are in a folder."""
        release = cls.__new__(cls)
        release.folder = folder
        return release

    def replace(self, file: str, pattern: str, new: str) -> None:
        """Replace what a regular expression finds once in a file."""
        path = self.folder / file
        text, count = re.subn(pattern, lambda match: match.expand(new) if "\\g<" in new else new,
                              path.read_text(encoding="utf-8"))  # fmt: skip
        assert count == 1, f"{pattern} occurs {count} times in {file}"
        path.write_text(text, encoding="utf-8")

    def include(self, file: str, after: str) -> None:
        """List a file in sql/install.sql after another one."""
        self.replace("sql/install.sql", rf"(?m)^\\ir {re.escape(after)}$",
                     f"\\ir {after}\n\\ir {file}")  # fmt: skip

    def write(self, file: str, text: str) -> None:
        (self.folder / file).write_text(text, encoding="utf-8")

    def migrate(self, name: str, text: str) -> None:
        """Add a migration with its checksum and its lines in sql/install.sql."""
        self.write(f"migrations/{name}.sql", text)
        checksums.write(self.folder)
        self.replace(
            "sql/install.sql", r"\n\n+-- Types and tables\n",
            f"\nselect current_setting('recall.due_{name[:4]}') as is_due \\gset\n\\if :is_due\n"
            f"\\ir ../migrations/{name}.sql\n\\endif\n\n-- Types and tables\n",
        )  # fmt: skip
        assert list(checksums.check(self.folder)) == []

    def by_psql(self, dsn: str, **sizes: Any) -> None:
        options = " ".join(f"-c recall.{name}={size}" for name, size in sizes.items())
        done = run("psql", dsn, "-qX", "-f", str(self.folder / "sql" / "install.sql"),
                   env={**os.environ, "PGOPTIONS": options})  # fmt: skip
        if done.returncode:
            raise psycopg.Error(done.stderr)
        assert done.stdout + done.stderr == ""

    def by_driver(self, dsn: str, **sizes: Any) -> None:
        with (
            mock.patch.object(schema, "_root", return_value=self.folder),
            psycopg.connect(dsn, autocommit=True) as conn,
        ):
            schema.install(conn, **sizes)

    def by_one_file(self, dsn: str, **sizes: Any) -> None:
        with psycopg.connect(dsn) as conn:
            for name, size in sizes.items():
                conn.execute("select set_config(%s, %s, false)", [f"recall.{name}", str(size)])
            conn.execute(self.one_file().encode())

    def one_file(self) -> str:
        with mock.patch.object(schema, "_root", return_value=self.folder):
            return schema.one_file()

    def steps(self) -> list[str]:
        """Return what the driver sends one after the other."""
        with mock.patch.object(schema, "_root", return_value=self.folder):
            return [step.text for step in schema._steps("sql/install.sql")]


ROUTES: dict[str, Callable[..., None]] = {
    "psql": Release.by_psql,
    "driver": Release.by_driver,
    "one file": Release.by_one_file,
}


def catalog(dsn: str) -> str:
    """Return everything that pg_dump says of a database's objects, rights and comments included.

    Left out are what pg_dump says of itself, a random word against injection, and the version
    that PostgreSQL 17.12 keeps of a column.
    """
    done: subprocess.CompletedProcess[str] = run("pg_dump", dsn, "--schema-only")
    assert done.returncode == 0, done.stderr
    return re.sub(
        r"(?m)^(-- Dumped .*|\\(un)?restrict .*|ALTER TABLE .* SET \(pg_attver=\d+\);)\n", "",
        done.stdout,
    )  # fmt: skip
