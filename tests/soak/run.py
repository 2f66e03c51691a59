"""Run a soak: start everything, disturb it by a plan, check it, and make a record."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql

from pgrecall import schema
from soak.actors import DIMENSIONS, MOST_SECONDS, USERS, Actor
from soak.check import check
from soak.ledger import read_ledgers
from soak.model import RandomModel
from soak.record import Outage, Sample, overlaps, sample
from soak.sealed import SealedActor
from soak.servers import DATABASES, LOGINS, Cluster, Servers, is_debian_here
from support import call
from support.scripted_model import MODEL
from support.scripted_openai import ScriptedOpenAI, scripted_openai

REPOSITORY = Path(__file__).resolve().parents[2]
SETTINGS = {
    "embedding_model": "openai:words", "extraction": "llm", "extract_after_turns": 2,
    "extract_after_idle": "5 seconds", "summarize_after_turns": 3, "working_ttl": "2 minutes",
    "receipt_ttl": "10 minutes", "ended_vector_retention": "2 minutes", "merge_above": 5,
    "phase_retention": "1 day",
}  # fmt: skip
EVERY_MINUTE = {"schedule": "* * * * *", "period": "20 seconds"}


@dataclass(frozen=True)
class Choices:
    """How a soak is run.

    Attributes:
        minutes: of load, checks not counted.
        seed: of all random choices; processes still interleave as they like.
        port: of the first server; the second has it plus 10, PgBouncer plus 5.
        folder: of ledgers, logs and the embedded server.
        sabotage: SQL that breaks the schema after the installation, to see the soak fail.
    """

    minutes: float
    seed: int
    port: int
    folder: Path
    is_debian: bool
    sabotage: str | None = None


def plan(seconds: float, chance: random.Random) -> list[tuple[float, str]]:
    """Return what happens when: kills every few minutes, promotions and upgrades now and then."""

    def spread(number: int, first: float, name: Callable[[], str]) -> None:
        for place in range(number):
            at = (place + first + chance.uniform(-0.12, 0.12)) / number
            events.append((at * seconds, name()))

    events: list[tuple[float, str]] = []
    minutes = seconds / 60
    ways = ["all", "all", "postmaster", "backend"]
    spread(max(1, round(minutes / 4)), 0.2, lambda: f"kill {chance.choice(ways)}")
    spread(max(1, round(minutes / 15)), 0.45, lambda: "upgrade")
    spread(max(1, round(minutes / 15)), 0.7, lambda: "promote")
    spread(max(2, round(minutes * 2)), 0.5, lambda: "kill worker")
    return sorted(events)


@dataclass
class Soak:
    """A run in progress."""

    choices: Choices
    servers: Servers
    openai: ScriptedOpenAI
    chance: random.Random
    actors: list[multiprocessing.Process] = field(default_factory=list)
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    violations: dict[str, float] = field(default_factory=dict)
    outages: list[Outage] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    checked: list[float] = field(default_factory=list)
    began: float = 0.0

    # set-up

    def install(self) -> None:
        """Make both databases, the logins of the actors, and the jobs of pg_cron."""
        with self.servers.primary.connect() as conn:
            for name in DATABASES:
                conn.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        for name in DATABASES:
            with self.servers.primary.connect(name) as conn:
                schema.install(conn, embedding_dimensions=DIMENSIONS, hash_partitions=4,
                               share_roles=True)  # fmt: skip
                call(conn, "configure", p_changes=SETTINGS)
                for row in call(conn, "list_maintenance"):
                    call(conn, "configure_maintenance", p_task=row["task"],
                         p_changes=EVERY_MINUTE)  # fmt: skip
                if self.choices.sabotage:
                    conn.execute(self.choices.sabotage.encode())
        with self.servers.primary.connect(DATABASES[0]) as conn:
            for login, role in LOGINS.items():
                conn.execute(f"create role {login} login in role {role}".encode())
                if login != "soak_worker":
                    conn.execute(
                        f"alter role {login} set statement_timeout = '{MOST_SECONDS}s'".encode()
                    )
        if self.choices.is_debian:
            with self.servers.primary.connect(DATABASES[0]) as conn:
                conn.execute("create extension pg_cron")
                conn.execute("grant usage on schema cron to soak_admin")
                conn.execute("set role soak_admin")
            with psycopg.connect(self.servers.primary.dsn(DATABASES[0], "soak_admin"),
                                 autocommit=True) as conn:  # fmt: skip
                call(conn, "schedule_maintenance")

    def announce(self) -> None:
        """Tell the actors where the servers are."""
        standby = self.servers.standby
        place = {
            "primary": self.servers.primary.port,
            "standby": standby.port if standby.children() else None,
            "pooler": self.servers.pooler_port if self.choices.is_debian
            else self.servers.primary.port,
        }  # fmt: skip
        path = self.choices.folder / "place.new"
        path.write_text(json.dumps(place))
        path.replace(self.choices.folder / "place.json")

    def start_actors(self) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["soak.sealed"])  # imports take a second of each process
        number = 0
        for database in range(2):
            roles: list[tuple[str, int, str]] = [
                *(("owner", user, "soak_admin") for user in USERS["owner"]),
                ("crowd", 3, "soak_writer"), ("crowd", 3, "soak_admin"),
                ("sealed", 4, "soak_admin"), ("reader", 0, "soak_reader"),
                ("admin", 0, "soak_admin"),
            ]  # fmt: skip
            for kind, user, login in roles:
                made = (SealedActor if kind == "sealed" else Actor)(
                    self.choices.folder, self.choices.seed, number, kind, database, user, login,
                    is_pooled=number % 2 == 0, keeps=user == 0)  # fmt: skip
                process = context.Process(target=made.run, name=f"actor {number}", daemon=True)
                process.start()
                self.actors.append(process)
                number += 1
        while len([*self.choices.folder.glob("actor-*.jsonl")]) < number:
            time.sleep(0.05)
        self.began = time.monotonic()

    def start_worker(self, name: str) -> None:
        """Start a worker of this name; a former one has ended."""
        database = DATABASES[0 if name in ("python", "shell") else 1]
        dsn = self.servers.primary.dsn(database, "soak_worker")
        offer = {"chat_model": MODEL, "embedding_model": "openai:words"}
        env = {
            **os.environ, "OPENAI_BASE_URL": self.openai.base_url, "OPENAI_API_KEY": "x",
            "PGRECALL_DSN": dsn, "PGRECALL_WORKER": json.dumps(offer), "PGHOST": "127.0.0.1",
            "PGPORT": str(self.servers.primary.port), "PGUSER": "soak_worker",
            "PGDATABASE": database,
        }  # fmt: skip
        commands = {
            "python": [sys.executable, "-m", "pgrecall", "worker", "--dsn", dsn, "--poll", "0.2",
                       "--base-url", self.openai.base_url, "--model", MODEL,
                       "--concurrency", "2"],
            "shell": [str(REPOSITORY / "examples/worker.sh")],
            "node": ["node", str(REPOSITORY / "examples/node/worker.js")],
        }  # fmt: skip
        commands["python b"] = commands["python"]
        with (self.choices.folder / f"worker-{name}.log").open("ab") as log:
            self.workers[name] = subprocess.Popen(
                commands[name], env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True)  # fmt: skip

    def worker_names(self) -> list[str]:
        names = ["python", "python b"]
        names += ["shell"] if shutil.which("psql") and shutil.which("curl") else []
        there = (REPOSITORY / "examples/node/node_modules").is_dir() and shutil.which("node")
        return names + (["node"] if there else [])

    # disturbances

    def disturb(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1
        kind, _, how = what.partition(" ")
        if what == "kill worker":
            self.kill_worker()
        elif kind == "kill":
            with self.outage(what):
                self.servers.primary.kill(how, self.chance)
                if how != "backend":
                    self.servers.primary.start()
                self.wait_for_server()
            self.check_all()
        elif kind == "upgrade":
            with self.outage(what):
                self.upgrade()
        elif kind == "promote":
            self.promote()

    @contextmanager
    def outage(self, what: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.outages.append(Outage(what, began, time.monotonic()))
        self.say(f"{what}: {time.monotonic() - began:.1f} s")

    def wait_for_server(self) -> None:
        while True:
            with suppress(psycopg.OperationalError), self.servers.primary.connect(DATABASES[0]):
                return
            time.sleep(0.1)

    def kill_worker(self) -> None:
        name = self.chance.choice(list(self.workers))
        with suppress(ProcessLookupError):
            os.killpg(self.workers[name].pid, signal.SIGKILL)
        self.workers[name].wait()

    def upgrade(self) -> None:
        """Install once more over the running installation, as an upgrade does."""
        for name in DATABASES:
            for _ in range(20):
                try:
                    with self.servers.primary.connect(name) as conn:
                        schema.install(conn, share_roles=True)
                        if self.choices.sabotage:
                            conn.execute(self.choices.sabotage.encode())
                    break
                except schema.InstallError as error:
                    self.counts["upgrade repeated"] = self.counts.get("upgrade repeated", 0) + 1
                    self.say(f"upgrade of {name}: {error}")
                    time.sleep(1)
            else:
                self.violations["an upgrade does not get through"] = time.monotonic()

    def promote(self) -> None:
        """Let the standby confirm each commit for a while, kill the primary, and promote."""
        self.servers.demand_standby()
        self.run_for(self.chance.uniform(2, 6))
        with self.outage("promote"):
            self.servers.promote(self.chance)
            if self.choices.is_debian:
                self.servers.start_pooler()
            for name in self.worker_names():  # their DSN names the former primary
                with suppress(ProcessLookupError):
                    os.killpg(self.workers[name].pid, signal.SIGKILL)
            self.announce()
            self.wait_for_server()
        self.check_all()
        self.servers.rebuild_standby()
        self.announce()
        self.say("a new standby follows")

    # the loop

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self.began:7.1f} s  {text}", flush=True)

    def tick(self) -> None:
        """Start again what has ended, and measure now and then."""
        for name in self.worker_names():
            if name not in self.workers or self.workers[name].poll() is not None:
                self.start_worker(name)
        self.openai.forget()
        for process in self.actors:
            if not process.is_alive():
                self.violations[f"{process.name} has ended"] = time.monotonic()
        if not self.samples or time.monotonic() - self.samples[-1].at > 15:
            with suppress(psycopg.OperationalError):
                self.samples.append(sample(self.servers.primary))

    def run_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.tick()
            time.sleep(min(0.5, max(0, end - time.monotonic())))

    def check_all(self) -> None:
        """Let the actors pause, and compare both databases with the ledgers."""
        folder, began = self.choices.folder, time.monotonic()
        (folder / "pause").touch()
        self.wait_for_actors(120)
        entries, seen = read_ledgers(folder)
        upgrades = [one for one in self.outages if one.what == "upgrade"]
        found = seen + [
            f"{entry.op}: XX000 outside of an upgrade" for entry in entries
            if "XX000" in (entry.answer.get("code"), entry.facts.get("code"))
            and not overlaps(entry, upgrades)
        ]  # fmt: skip
        for number, name in enumerate(DATABASES):
            with self.servers.primary.connect(name) as conn:
                found += check(conn, entries, number)
        for text in found:
            if text not in self.violations:
                self.violations[text] = time.monotonic()
                self.say(f"VIOLATION {text}"[:500])
        (folder / "pause").unlink()
        self.checked.append(time.monotonic() - began)
        self.say(f"checked {len(entries)} requests in {self.checked[-1]:.1f} s")

    def wait_for_actors(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        files = [self.choices.folder / f"idle-{number}" for number in range(len(self.actors))]
        while waiting := [path.name for path in files if not path.exists()]:
            if time.monotonic() > end:
                self.violations[f"hangs: {waiting}"] = time.monotonic()
                return
            time.sleep(0.05)

    def load(self) -> None:
        """Disturb everything by the plan, pausing the plan's clock while it is checked."""
        events = plan(self.choices.minutes * 60, self.chance)
        worked = 0.0
        for at, what in [*events, (self.choices.minutes * 60, "end")]:
            self.run_for(max(0.0, at - worked))
            worked = max(worked, at)
            if what != "end":
                self.disturb(what)

    def finish(self) -> None:
        """Stop the actors, let the workers do what is due, and check once more, with pg_amcheck."""
        (self.choices.folder / "stop").touch()
        for process in self.actors:
            process.join(90)
            if process.is_alive():
                self.violations[f"{process.name} does not stop"] = time.monotonic()
                process.kill()
        self.actors.clear()
        self.say("the actors have ended")
        self.drain(30)
        for worker in self.workers.values():
            with suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGTERM)
        self.check_all()
        self.say("pg_amcheck")
        for name in DATABASES:
            done = self.servers.primary.run(
                "pg_amcheck", "-h", "127.0.0.1", "-p", str(self.servers.primary.port), "-U",
                "postgres", "-d", name, "--install-missing", "--heapallindexed")  # fmt: skip
            if done.returncode:
                self.violations[f"pg_amcheck {name}: {done.stdout[:2000]}"] = time.monotonic()
            with self.servers.primary.connect(name) as conn:
                for row in conn.execute(
                    "select v.* from recall.users as u, recall.verify_integrity(u.user_id) as v"
                ):
                    self.violations[f"verify_integrity {name}: {row}"] = time.monotonic()
                for row in call(conn, "health"):
                    if row["status"] == "fail":
                        self.violations[f"health {name}: {row}"] = time.monotonic()
                    if row["status"] != "ok":
                        self.say(f"health of {name}: {row['name']}: {row['detail']}")

    def drain(self, seconds: float) -> None:
        """Give the workers time for what is due."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.tick()
            due = 0
            for name in DATABASES:
                with self.servers.primary.connect(name) as conn:
                    row = conn.execute(
                        "select count(*) from recall.jobs where state = 'running'"
                        " or state = 'ready' and run_at <= now()"
                    ).fetchone()
                    due += row[0] if row else 0
            if due == 0:
                return
            time.sleep(0.5)


@contextmanager
def running(choices: Choices) -> Iterator[Soak]:
    """Yield a soak whose servers, actors and workers run; end them afterwards."""
    shutil.rmtree(choices.folder, ignore_errors=True)
    choices.folder.mkdir(parents=True, exist_ok=True)
    first, second = (Cluster(choices.port + more, choices.is_debian, choices.folder)
                     for more in (0, 10))  # fmt: skip
    servers = Servers(first, second, choices.port + 5)
    chance = random.Random(choices.seed)
    model = RandomModel(choices.seed)
    with scripted_openai(respond=model, dimensions=DIMENSIONS) as openai:
        soak = Soak(choices, servers, openai, chance)
        try:
            first.create()
            first.start()
            soak.install()
            servers.rebuild_standby()
            if choices.is_debian:
                servers.start_pooler()
            soak.announce()
            soak.start_actors()
            yield soak
        finally:
            for process in soak.actors:
                process.kill()
            for worker in soak.workers.values():
                with suppress(ProcessLookupError):
                    os.killpg(worker.pid, signal.SIGKILL)
            servers.stop()


__all__ = ["Choices", "Soak", "is_debian_here", "plan", "running"]
