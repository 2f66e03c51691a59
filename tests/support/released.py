"""Frozen installations of each release in tests/releases: how they are made, restored and asked.

`make release` fills two installations and records what they answer. Tests restore them, upgrade
them to the present state, and compare the answers.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re
import uuid
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

from pgrecall import AgentMemory, schema
from support import append, call, dialog, open_session, rows, run, said, value
from support.everyfunction import furnish, vector
from support.fakes import WordEmbedder
from support.months import a_year_later, said_in
from support.releases import catalog
from support.sealed import KEYS, MARK, use_everything
from support.servers import TestServer

Connection = psycopg.Connection[Any]
Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "releases"
APPLICATION = "fixture_application"
"""A role of somebody else's, with grants on ours and objects of its own."""

INSTALLATIONS: dict[str, dict[str, Any]] = {
    "small": {"embedding_dimensions": 8, "hash_partitions": 1, "role_prefix": "recall"},
    "awkward": {"embedding_dimensions": 384, "hash_partitions": 8, "role_prefix": "fixture"},
}
"""The sizes of each installation. All share their roles with other databases of a cluster."""

OVERRIDDEN = ("session_ttl", "exact_search_limit", "language", "extraction", "role_prefix",
              "embedding_dimensions", "hash_partitions")  # fmt: skip
"""Settings that an upgrade keeps; it may change the defaults of others."""


# --- how an installation is filled


def fill(dsn: str, name: str) -> None:
    """Fill an installation with data."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        _fill_small(conn, INSTALLATIONS[name]["embedding_dimensions"])
        if name == "awkward":
            drop_months(conn)
            _fill_every_table(conn)
            _encrypt_user(dsn)
            _configure(conn)
            _set_job_states(conn)
            _add_foreign_objects(conn)
        conn.execute("vacuum analyze")


def _fill_small(conn: Connection, dimensions: int) -> None:
    """Give one user a conversation, a chain of supersessions and verbatim work to do."""
    embedder = WordEmbedder(dimensions=dimensions)
    user = call(conn, "ensure_user", p_external_id="ada")[0]["ensure_user"]
    call(conn, "configure", p_changes={"extraction": "verbatim"})
    session = open_session(conn, user, p_title="Cities π", p_system_prompt="You are helpful.")
    messages = dialog("Where did I live in 2020?", "In Oslo.", "And now? 日本語 🎉")
    usage = {"prompt_tokens": 12, "completion_tokens": 3}
    append(conn, user, session, messages, usage, uuid.uuid4())
    for text in ("Ada lives in Oslo.", "Ada lives in Rome.", "Ada lives in Paris."):
        call(conn, "remember", p_user_id=user, p_content=text, p_slot="city", p_tags=["place"],
             p_embedding=str(embedder.embed([text])[0]))  # fmt: skip
    call(conn, "remember", p_user_id=user, p_content="Ada likes green tea.", p_kind="preference",
         p_session_id=session)  # fmt: skip
    call(conn, "put_working", p_user_id=user, p_session_id=session, p_task_id="trip", p_key="to",
         p_value={"city": "Lima"})  # fmt: skip


def drop_months(conn: Connection) -> None:
    """Let retention drop one month of history and detach another."""
    user = call(conn, "ensure_user", p_external_id="old")[0]["ensure_user"]
    for months, drops in ((15, True), (14, False)):
        call(conn, "configure", p_changes={"drop_expired_history": drops})
        session = open_session(conn, user, p_title=f"{months} months ago")
        append(conn, user, session, said_in(months, f"said {months} months ago", "noted"))
        call(conn, "close_session", p_user_id=user, p_session_id=session)
        a_year_later(conn)
        for _ in range(1000):
            (done,) = call(conn, "drop_expired_partitions")
            if not done["more"]:
                break
    assert len(_detached(conn)) == 1


def _detached(conn: Connection) -> list[str]:
    """Return the names of detached months of history."""
    found = rows(
        conn,
        "select c.oid::regclass::text as name from pg_class as c"
        " where c.relnamespace = 'recall'::regnamespace and c.relkind = 'r'"
        " and starts_with(c.relname, 'conversation_history') and not c.relispartition",
    )
    return [row["name"] for row in found]


def _fill_every_table(conn: Connection) -> None:
    """Give users something of everything; erase one of them, and end some jobs of another."""
    erased = furnish(conn, "erased")
    call(conn, "forget_user", p_user_id=erased["user"])
    world = furnish(conn, "marked")
    for job, token, answer in (
        ("merging_job", "merging_token", "merged"),
        ("llm_job", "llm_token", "decided"),
        ("summarize_job", "summarize_token", "summarized"),
    ):
        conn.execute(
            f"select recall.next_request(%(user)s, %({job})s, %({token})s, %(model)s,"
            f" %({answer})s)", world,
        )  # fmt: skip
    assert value(conn, "select count(*) from recall.memory_store where end_reason = 'merged'")
    assert call(conn, "list_disputes", p_user_id=world["user"])


def _encrypt_user(dsn: str) -> None:
    with AgentMemory.connect(dsn, embedder=False, wrapping_keys=KEYS) as memory:
        user = memory.users.ensure("sealed")
        assert memory.encryption.seal_user(user)
        use_everything(memory, user)


def _configure(conn: Connection) -> None:
    """Override settings, for all and for one user; add a prompt, a kind and a model."""
    call(conn, "configure", p_changes={"session_ttl": "9 days", "exact_search_limit": 40,
                                       "language": "simple", "extraction": "llm"})  # fmt: skip
    user = value(conn, "select recall.user_id('ada')")
    call(conn, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    call(conn, "register_kind", p_kind="recipe", p_description="How to cook something",
         p_lifetime=timedelta(days=400))  # fmt: skip
    call(conn, "register_model", p_model_id="own-model", p_context_window_size=4321)
    call(conn, "set_prompt", p_name="extract", p_content="Extract facts.", p_version="own-1")
    call(conn, "configure_maintenance", p_task="expire_memories", p_changes={"batch_size": 77})


def _set_job_states(conn: Connection) -> None:
    """Leave a job in each state: lapsed and live leases, deferred, dead, ready."""
    user = value(conn, "select recall.user_id('ada')")
    for number in range(3):
        session = open_session(conn, user)
        append(conn, user, session, said(f"Fact number {number}: I like tea."))
    conn.execute(
        """
        update recall.jobs as j
           set run_at = case when r.place = 1 then '2100-01-01' else j.run_at end,
               lease_until = case when j.state = 'running'
                                  then case when r.place = 1 then timestamptz '2100-01-01'
                                            else timestamptz '2026-01-01' end end
          from (select i.user_id, i.job_id, row_number() over (partition by i.state order by
                       i.job_id) as place
                  from recall.jobs as i) as r
         where (r.user_id, r.job_id) = (j.user_id, j.job_id) and j.state in ('ready', 'running')
        """
    )
    found = value(conn, """
        select array_agg(distinct concat(j.state, case when j.state = 'running'
                                                       then j.lease_until > now()
                                                       when j.state = 'ready'
                                                       then j.run_at > now() end))
          from recall.jobs as j""")  # fmt: skip
    assert found == ["dead", "readyf", "readyt", "runningf", "runningt"], found


def _add_foreign_objects(conn: Connection) -> None:
    conn.execute(
        f"""
        grant usage on schema recall to {APPLICATION};
        grant execute on function recall.list_models() to {APPLICATION} with grant option;
        grant execute on function recall.version() to {APPLICATION};
        grant select on recall.models to {APPLICATION};
        create function recall.fixture_function(p_number integer) returns integer
            return p_number + 1;
        grant execute on function recall.fixture_function(integer) to {APPLICATION};
        create table recall.fixture_table (id uuid default recall.uuidv7(), note text);
        insert into recall.fixture_table (note) values ('kept');
        create view public.fixture_view as
            select recall.user_id('ada') as id, recall.version() is not null as is_there;
        """.encode()
    )


def check_foreign_objects(conn: Connection) -> None:
    """Assert that grants and objects of others work."""
    assert value(conn, "select recall.fixture_function(1)") == 2
    assert value(conn, "select note from recall.fixture_table") == "kept"
    conn.execute("insert into recall.fixture_table default values")
    assert value(conn, "select is_there and id = recall.user_id('ada') from public.fixture_view")
    for privilege in (
        "recall.list_models()', 'execute with grant option",
        "recall.version()', 'execute",
        "recall.fixture_function(integer)', 'execute",
    ):
        assert value(conn, f"select has_function_privilege('{APPLICATION}', '{privilege}')")
    assert value(conn, f"select has_table_privilege('{APPLICATION}', 'recall.models', 'select')")
    assert not value(conn, f"select has_function_privilege('{APPLICATION}', 'recall.metrics()',"
                           " 'execute')")  # fmt: skip


def drop_what_is_not_ours(conn: Connection) -> None:
    """Drop what a new installation has not: objects of others and the detached month."""
    if value(conn, "select to_regclass('public.fixture_view') is not null"):
        conn.execute(
            f"""
            drop view public.fixture_view;
            drop table recall.fixture_table;
            drop function recall.fixture_function;
            revoke all on schema recall from {APPLICATION};
            revoke all on function recall.list_models(), recall.version() from {APPLICATION};
            revoke all on recall.models from {APPLICATION};
            """.encode()
        )
    for name in _detached(conn):
        conn.execute(f"drop table {name}".encode())


# --- what it answers


def record(dsn: str) -> Json:
    """Return what an installation answers now; times are given, so that it answers so for ever."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        as_of = value(conn, "select clock_timestamp()")
        return {"as_of": as_of.isoformat(), **answers(conn, as_of)}


def answers(conn: Connection, as_of: datetime) -> Json:
    """Return what an installation answers, as JSON."""
    found: Json = {
        "users": {},
        "settings": {name: setting for name, setting
                     in value(conn, "select recall.get_settings()").items() if name in OVERRIDDEN},
        "kinds": rows(conn, "select k.kind, k.description, k.lifetime::text"
                            " from recall.memory_kinds as k where k.kind = 'recipe'"),
        "models": [row for row in call(conn, "list_models") if row["model_id"] == "own-model"],
        "prompts": rows(conn, "select p.name, p.version, p.is_current, p.content"
                              " from recall.list_prompts() as p where p.version like 'own%%'", []),
        "tasks": rows(conn, "select t.task, t.batch_size from recall.list_maintenance() as t"
                            " where t.task = 'expire_memories'"),
        "jobs": rows(conn, "select j.job_id, j.kind, j.state, j.payload, j.attempts, j.run_at,"
                           " j.lease_until, j.work from recall.jobs as j order by 1"),
        "erasures": value(conn, "select count(*) from recall.list_erasures()"),
    }  # fmt: skip
    for row in rows(conn, "select u.user_id from recall.users as u order by 1"):
        user = row["user_id"]
        found["users"][str(user)] = _answers_of(conn, user, as_of)
    return json.loads(json.dumps(found, default=str))


def _answers_of(conn: Connection, user: uuid.UUID, as_of: datetime) -> Json:
    dimensions = value(conn, "select embedding_dimensions from recall.settings")
    query = str(WordEmbedder(dimensions=dimensions).embed(["Where does Ada live?"])[0])
    if dimensions == 384:
        query = vector(7)
    export = value(conn, "select recall.export_user(%s)", [user])
    sessions = rows(conn, "select s.session_id, s.turn_count, s.status, s.title from"
                          " recall.sessions as s where s.user_id = %s order by 1",
                    [user])  # fmt: skip
    memories = call(conn, "get_memories", p_user_id=user, p_as_of=as_of)
    both = {"p_query": "Where does Ada live? number", "p_query_embedding": query}
    # what an upgrade must answer alike; shipped rows and defaults may change
    return {
        "search": call(conn, "search", p_user_id=user, p_as_of=as_of, p_limit=20, **both),
        "lexical": call(conn, "search", p_user_id=user, p_query="tea thing number 9",
                        p_as_of=as_of),
        "get_memories": memories,
        "memory_chain": {
            str(memory["memory_id"]): call(
                conn, "memory_chain", p_user_id=user, p_memory_id=memory["memory_id"])
            for memory in memories[-10:]
        },
        "turn_counts": sessions,
        "get_messages": {
            str(session["session_id"]): call(conn, "get_messages", p_user_id=user,
                                             p_session_id=session["session_id"], p_limit=1000)
            for session in sessions
        },
        "compile_context": [
            call(conn, "compile_context", p_user_id=user, p_session_id=session["session_id"],
                 p_as_of=as_of, p_query=both["p_query"], p_query_embedding=query)
            for session in sessions[:4]
            if session["turn_count"]
        ],
        "working": rows(conn, "select w.task_id, w.key, w.value from recall.working_memory as w"
                              " where w.user_id = %s order by 1, 2", [user]),
        "calls": rows(conn, "select c.model, c.error from recall.list_model_calls(%s) as c",
                      [user]),
        "verify_integrity": call(conn, "verify_integrity", p_user_id=user),
        "export": digests(export, {name: sorted(found[0]) for name, found
                                   in export["tables"].items() if found}),
    }  # fmt: skip


def digests(export: Json, columns: dict[str, list[str]]) -> Json:
    """Return a digest of these columns of each table of an export."""
    return {
        name: {
            "columns": names,
            "rows": len(export["tables"][name]),
            "sha256": hashlib.sha256(
                "\n".join(
                    sorted(
                        json.dumps({key: row.get(key) for key in names}, sort_keys=True)
                        for row in export["tables"][name]
                    )
                ).encode()
            ).hexdigest(),
        }
        for name, names in columns.items()
    }


def check_answers(conn: Connection, recorded: Json, *, without: tuple[str, ...] = ()) -> None:
    """Assert that an installation answers as recorded; it may add fields."""
    present = answers(conn, datetime.fromisoformat(recorded["as_of"]))
    for user, expected in recorded["users"].items():
        export = value(conn, "select recall.export_user(%s)", [user])
        columns = {name: table["columns"] for name, table in expected["export"].items()}
        present["users"][user]["export"] = digests(export, columns)
    problems = [
        problem
        for problem in differences(present, {k: v for k, v in recorded.items() if k != "as_of"})
        if not any(part in problem for part in without)
    ]
    assert not problems, "\n".join(problems[:20])


def differences(present: Any, recorded: Any, place: str = "") -> Iterator[str]:
    """Yield where an answer differs from the recorded one; more fields are no difference.

    Similarities differ in the last digits between builds of pgvector.
    """
    if isinstance(recorded, dict) and isinstance(present, dict):
        for key, expected in recorded.items():
            if key not in present:
                yield f"{place}/{key} is missing"
            else:
                yield from differences(present[key], expected, f"{place}/{key}")
    elif isinstance(recorded, list) and isinstance(present, list):
        if len(present) != len(recorded):
            yield f"{place}: {len(present)} items, not {len(recorded)}"
        for number, (one, other) in enumerate(zip(present, recorded, strict=False)):
            yield from differences(one, other, f"{place}/{number}")
    elif isinstance(recorded, float) and isinstance(present, (int, float)):
        if not math.isclose(present, recorded, rel_tol=1e-4, abs_tol=1e-5):
            yield f"{place}: {present}, not {recorded}"
    elif present != recorded:
        yield f"{place}: {str(present)[:200]}, not {str(recorded)[:200]}"


def check_sealed_user(dsn: str) -> None:
    """Assert that the driver decrypts what it encrypted before."""
    with AgentMemory.connect(dsn, embedder=False, wrapping_keys=KEYS) as memory:
        texts = " ".join(item.content for item in memory.memories.list("sealed"))
        assert f"two {MARK}" in texts


_MONTHS = re.compile(
    r"(conversation_history|job_phases|model_calls|stream_events|protocol_events)\w*"
    r"_(old|y\d{4}m\d\d)"
)


def lasting_catalog(dsn: str) -> str:
    """Return the catalog without the months, which depend on the day of an installation.

    Parentheses are left out, since PostgreSQL prints fewer around the nested conditions of a
    restored expression. Grants are sorted, since a restored list has another order.
    """
    first, *blocks = re.split(r"(?m)^--\n-- (?=Name: )", catalog(dsn))
    kept = [
        "\n".join(sorted(block.splitlines())) if "; Type: ACL;" in block else block
        for block in blocks
        if not _MONTHS.search(block.split(";", 1)[0])
    ]
    assert len(kept) < len(blocks)
    return re.sub(r"[()]", "", "".join([first, *kept]))


# --- the files of a release


class Released:
    """The files of one release."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.version = folder.name

    def __repr__(self) -> str:
        return self.version

    @property
    def wheel(self) -> Path:
        (found,) = self.folder.glob("*.whl")
        return found

    def answers(self, name: str) -> Json:
        return json.loads(gzip.decompress((self.folder / f"{name}.json.gz").read_bytes()))

    def restore(self, server: TestServer, name: str, database: str) -> None:
        """Restore an installation into an empty database."""
        with server.admin() as conn:
            conn.execute((self.folder / "roles.sql").read_bytes())
        text = gzip.decompress((self.folder / f"{name}.sql.gz").read_bytes()).decode()
        done = run("psql", server.dsn(database), "-qX", "-v", "ON_ERROR_STOP=1", input=text)
        assert done.returncode == 0, done.stderr

    def sql_files(self, folder: Path) -> Path:
        """Unpack the wheel's SQL files, and return the folder of sql, functions, migrations."""
        with zipfile.ZipFile(self.wheel) as archive:
            archive.extractall(
                folder, [n for n in archive.namelist() if n.startswith("pgrecall/_database/")]
            )
        return folder / "pgrecall" / "_database"


def releases() -> list[Released]:
    """Return the releases that have a folder, oldest first."""
    found = [path for path in FOLDER.glob("*") if re.fullmatch(r"\d+\.\d+\.\d+", path.name)]
    return [Released(path) for path in sorted(found, key=lambda path: _key(path.name))]


def _key(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def write(server: TestServer, folder: Path) -> None:
    """Make both installations on a server, and write their dumps, roles and answers."""
    folder.mkdir(parents=True, exist_ok=True)
    roles: list[str] = []
    with server.admin() as admin:
        admin.execute(f"create role {APPLICATION}".encode())
    for name, sizes in INSTALLATIONS.items():
        dsn = server.dsn(server.create_database(name))
        with psycopg.connect(dsn, autocommit=True) as conn:
            schema.install(conn, share_roles=True, history_months_ahead=3, **sizes)
        fill(dsn, name)
        _write_gz(folder / f"{name}.json.gz", json.dumps(record(dsn), sort_keys=True, indent=0))
        _write_gz(folder / f"{name}.sql.gz", dumped(dsn))
        roles += [f"{sizes['role_prefix']}_{suffix}"
                  for suffix in ("owner", "reader", "writer", "worker", "admin")]  # fmt: skip
    statements = [
        f"do 'begin create role {role} nologin; exception when duplicate_object then null; end';\n"
        for role in [*roles, APPLICATION]
    ]
    (folder / "roles.sql").write_text("".join(statements), encoding="utf-8")


def dumped(dsn: str) -> str:
    """Return a dump that PostgreSQL 17 and 18 load, in whichever minor release."""
    done = run("pg_dump", dsn, "--no-statistics")
    assert done.returncode == 0, done.stderr
    return re.sub(r"(?m)^(-- Dumped .*|\\(un)?restrict .*)\n", "", done.stdout)


def _write_gz(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
