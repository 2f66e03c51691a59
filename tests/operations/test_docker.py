"""The steps of examples/docker work: there is no container engine, so a chroot runs them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from support import append, call, open_session, refused, said

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "examples" / "docker"
CHROOT = Path(os.environ.get("PGRECALL_CHROOT", "/var/tmp/pgrecall-debian"))
BIN = "/usr/lib/postgresql/17/bin"
COMPOSE: Any = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))["services"]
PASSWORDS = {
    "POSTGRES_PASSWORD": "first",
    "PGRECALL_APP_PASSWORD": "it's $ecret",
    "PGRECALL_WORKER_PASSWORD": "third",
}

pytestmark = pytest.mark.slow


def instructions(target: str) -> list[tuple[str, list[str]]]:
    """Return the instructions of a stage of the Dockerfile."""
    text = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
    (stage,) = re.findall(rf"(?ms)^FROM \S+ AS {target}\n(.*?)(?=^FROM |\Z)", text)
    lines = [line.split(maxsplit=1) for line in stage.splitlines() if line.strip()]
    return [
        (word, yaml.safe_load(rest) if rest.startswith("[") else shlex.split(rest))
        for word, rest in lines
    ]


def environment(service: str) -> dict[str, str]:
    """Return the environment of a service, as compose would fill it in."""
    return {
        name: re.sub(
            r"\$\{(\w+)(?::[-?](.*?))?\}", lambda m: PASSWORDS.get(m[1], m[2] or ""), str(text)
        )
        for name, text in COMPOSE[service]["environment"].items()
    }


@dataclass
class Machine:
    """A folder of the chroot, which stands for the image."""

    folder: Path
    port: int

    @property
    def inside(self) -> str:
        return f"/{self.folder.relative_to(CHROOT)}"

    def run(self, words: list[str], user: str = "root", **names: str) -> str:
        """Run a program in the chroot, the programs of the image first."""
        names = {
            "PATH": f"{self.inside}/usr/local/bin:{BIN}:/usr/sbin:/usr/bin:/sbin:/bin",
            "PGHOST": f"{self.inside}/run", "PGPORT": str(self.port),
            "PGRECALL_FILES": f"{self.inside}/usr/local/share/pgrecall", **names,
        }  # fmt: skip
        done = subprocess.run(
            ["chroot", str(CHROOT), "/usr/sbin/runuser", "-u", user, "--", *words],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, env=names,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def build(self, target: str) -> None:
        """Do what the stage of the Dockerfile says."""
        for word, rest in instructions(target):
            if word == "COPY":
                source, place = ROOT / rest[0], self.folder / rest[1].lstrip("/")
                place.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if source.is_dir() else shutil.copy)(source, place)
            else:
                assert word == "RUN", word
                self.run(rest)
        self.run(["chown", "-R", "postgres", self.inside])

    def control(self, *action: str, listen: str = "") -> None:
        options = (f"-p {self.port} -k {self.inside}/run -c listen_addresses={listen} "
                   + " ".join(shlex.split(COMPOSE["db"]["command"])[1:]))  # fmt: skip
        self.run([f"{BIN}/pg_ctl", "-D", f"{self.inside}/data", "-w", "-l",
                  f"{self.inside}/log", "-o", options, *action], "postgres")  # fmt: skip

    def first_start(self) -> None:
        """Do what the entry point of the official image does with an empty data folder."""
        names = environment("db")
        user, name = names.setdefault("POSTGRES_USER", "postgres"), names["POSTGRES_DB"]
        self.run([f"{BIN}/initdb", "-D", f"{self.inside}/data", "-U", user, "--auth-local=trust",
                  "--auth-host=scram-sha-256", "--locale=C.UTF-8", "--no-sync"],
                 "postgres")  # fmt: skip
        self.control("start")
        self.run(["psql", "-qU", user, "-d", "postgres", "-c", f"create database {name}"],
                 "postgres")  # fmt: skip
        for script in sorted((self.folder / "docker-entrypoint-initdb.d").iterdir()):
            self.run(["bash", f"{self.inside}/docker-entrypoint-initdb.d/{script.name}"],
                     "postgres", **names)  # fmt: skip
        self.control("stop")
        self.control("start", listen="127.0.0.1")


@pytest.fixture
def machine() -> Iterator[Machine]:
    if os.getuid() != 0 or not (CHROOT / BIN.lstrip("/") / "postgres").exists():
        pytest.skip("PostgreSQL 17 is in a chroot that .ci/run sets up")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    made = Machine(CHROOT / "srv" / f"docker-{uuid.uuid4().hex[:8]}", port)
    (made.folder / "run").mkdir(parents=True)
    try:
        yield made
    finally:
        if (made.folder / "data" / "postmaster.pid").exists():
            made.control("-m", "immediate", "stop")
        shutil.rmtree(made.folder, ignore_errors=True)


def test_server_and_worker_of_the_compose_file_remember(machine: Machine, tmp_path: Path) -> None:
    machine.build("db")
    machine.first_start()
    check = COMPOSE["db"]["healthcheck"]["test"]
    assert "accepting connections" in machine.run(shlex.split(check), "postgres")

    # the worker's image, in an empty environment
    (copied, installed, ran, user, entry) = instructions("worker")
    assert (copied[0], installed[0], user) == ("COPY", "COPY", ("USER", ["nobody"]))
    assert Path(installed[1][1]).name == ran[1][0]
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    done = subprocess.run(
        ["bash", ROOT / installed[1][0]], capture_output=True, text=True, check=False,
        env={**os.environ, "PIP": str(tmp_path / "venv/bin/pip"), "PGRECALL_SOURCES": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    names = environment("worker")
    dsn = names["PGRECALL_DSN"].replace("@db/", f"@127.0.0.1:{machine.port}/")
    app = dsn.replace("worker@", "app@")
    user_id = uuid.uuid4()
    with psycopg.connect(app, password=PASSWORDS["PGRECALL_APP_PASSWORD"], autocommit=True) as conn:
        with refused("RC006", "this transaction has no user"):
            open_session(conn, user_id)
        conn.execute("select set_config('recall.user_id', %s, false)", [str(user_id)])
        session = open_session(conn, user_id, p_metadata={"extraction": "verbatim"})
        append(conn, user_id, session, said("My sister Berta lives in Turku with two cats."))
    done = subprocess.run(
        [tmp_path / "venv/bin" / entry[1][0], *entry[1][1:], "--until-idle", "--flush",
         "--no-embedding"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={"PATH": os.environ["PATH"], **names, "PGRECALL_DSN": dsn},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    with psycopg.connect(app, password=PASSWORDS["PGRECALL_APP_PASSWORD"], autocommit=True) as conn:
        conn.execute("select set_config('recall.user_id', %s, false)", [str(user_id)])
        found = call(conn, "search", p_user_id=user_id, p_query="Berta")
        assert "Turku" in found[0]["content"]
        status = dict(conn.execute("select name, status from recall.health()").fetchall())
        assert "fail" not in status.values()
        assert status["scheduler"] == status["owner"] == status["locks"] == "ok"
    assert "ensure_partitions" in machine.run(
        ["psql", "-AtU", "postgres", "-d", "app", "-c", "select jobname from cron.job"], "postgres"
    )
