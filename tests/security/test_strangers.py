"""Calls with the ids of another user reveal nothing, for every function and role.

A foreign id gets the same answer or error as an id that does not exist, which hides its existence.
Functions, parameters and ids come from the catalog, so that new functions are covered.
"""

from __future__ import annotations

import json
import re
import secrets
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import call, do_job, everything, open_session, our_role, refused, rows, value
from support.everyfunction import World, public_functions
from support.parameters import (
    COMMITTING,
    Parameter,
    adorned,
    at,
    call_with,
    leaves,
    public_parameters,
    replaced,
    sane_arguments,
)
from support.two_users import (
    BRAVO,
    FOR_ALL_USERS,
    MATRIX,
    Login,
    belongings,
    ids_of,
    least_role,
    tables_of_users,
    versions,
)

Connection = psycopg.Connection[Any]
Arguments = dict[str, Any]
Functions = dict[str, list[Parameter]]

UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
PASSING = re.compile(
    rf"{UUID}|\d{{4}}-\d\d-\d\d[ T][\d:.+]+|\d+:\d\d:[\d.]+|[0-9a-f]{{64}}|\d+\.\d+(?:e-?\d+)?"
)
"""Ids, times, hashes and scores: what differs from one call to the next."""

ID = "the id"
WITH_IDS: dict[tuple[str, str], list[Any]] = {
    ("search", "p_filter"): [{"session_id": ID}, {"source_session_id": ID}],
    ("get_memories", "p_filter"): [{"session_id": ID}, {"source_session_id": ID}],
    ("search_messages", "p_filter"): [{"session_id": ID}],
    ("compile_context", "p_options"): [{"memory_ids": [ID]}, {"filter": {"session_id": ID}}],
    ("explain_context", "p_options"): [{"memory_ids": [ID]}, {"filter": {"session_id": ID}}],
    ("append_messages", "p_messages"): [[{"role": "user", "content": "x", "model_call_id": ID}]],
    ("enqueue_job", "p_payload"): [{"memory_ids": [ID]}],
    ("list_sealed_rows", "p_after"): [{"row_table": "memory_store", "row_key": {"memory_id": ID}}],
    ("verify_integrity", "p_head"): [
        {"user_id": ID, "event_count": 1, "event_hash": "\\x" + 64 * "0"}
    ],
}
"""JSON that takes an id where the world's own values have none."""


@dataclass(frozen=True, slots=True)
class Question:
    """A call with an id at one place of its arguments, where `arguments(id)` puts it.

    Attributes:
        identity: the user who asks.
        is_wide: whether ids of all kinds are worth a try: for whole parameters, not for places in
            a JSON value, and for one of several calls of a function.
    """

    function: str
    place: str
    identity: uuid.UUID
    is_wide: bool
    arguments: Callable[[uuid.UUID], Arguments]


def places(
    function: str, parameter: Parameter, base: Any
) -> Iterator[tuple[str, Callable[[uuid.UUID], Any]]]:
    """Yield the places of a parameter that take an id, each with what puts one there."""
    name = parameter.name
    if parameter.kind == "uuid":
        yield name, lambda one: one
    elif parameter.kind == "uuid[]":
        yield name, lambda one: [one, *(base or [])[1:]]
    elif name == "p_external_id":
        yield name, str
    elif parameter.kind == "jsonb":
        item = base.obj if base is not None and name != "p_document" else None
        for path in leaves(item, breadth=3):
            if re.fullmatch(UUID, at(item, path)):
                yield f"{name} {path}", partial(_put, item, path)
        for shape in WITH_IDS.get((function, name), []):
            (path,) = (path for path in leaves(shape) if at(shape, path) == ID)
            yield f"{name} {path}", partial(_put, shape, path)


def _put(item: Any, path: tuple[Any, ...], one: uuid.UUID) -> Jsonb:
    return Jsonb(replaced(item, path, str(one)))


def questions(functions: Functions, world: World) -> Iterator[Question]:
    """Yield a call for each place of each function's parameters that takes an id."""
    for function, parameters in functions.items():
        for number, sane in enumerate(sane_arguments(function, parameters, world)):
            identity = sane.get("p_user_id", world["user"])
            for parameter in parameters:
                name, is_wide = parameter.name, parameter.kind != "jsonb" and number == 0
                for place, put in places(function, parameter, sane.get(name)):
                    yield Question(function, place, identity, is_wide,
                                   partial(_with, sane, name, put))  # fmt: skip


def _with(sane: Arguments, name: str, put: Callable[[uuid.UUID], Any], one: uuid.UUID) -> Arguments:
    return sane | {name: put(one)}


def nobodys(one: uuid.UUID) -> uuid.UUID:
    """Return an id of the same kind and time that nobody has."""
    return uuid.UUID(bytes=one.bytes[:9] + secrets.token_bytes(7))


@pytest.fixture(scope="module")
def functions(dsn: str) -> Functions:
    with psycopg.connect(dsn) as conn:
        return public_parameters(conn)


@pytest.fixture(scope="module")
def theirs(dsn: str, worlds: tuple[World, World]) -> set[str]:
    """All that would give the other user away, besides his word: every id of his."""
    with psycopg.connect(dsn) as conn:
        return {str(one) for ids in ids_of(conn, worlds[1]["user"]).values() for one in ids}


@pytest.fixture(scope="module")
def samples(dsn: str, worlds: tuple[World, World]) -> dict[str, uuid.UUID]:
    """An id of the other user's of each kind, by the column that it stands in or its own name."""
    found = {"user_id": worlds[1]["user"]}
    with psycopg.connect(dsn) as conn:
        for column, ids in ids_of(conn, worlds[1]["user"]).items():
            kind = column.split(".")[-1]
            if kind.endswith(("_id", "_token")) and kind not in found and ids:
                found[kind] = ids[0]
    return found | {key: worlds[1][key] for key in ("retracted", "disputed", "goal", "closed")}


# --- the matrix


class Asker:
    """Asks as a role and for an identity, each time in a transaction that is undone."""

    def __init__(self, conn: Connection, login: Login, other: uuid.UUID) -> None:
        self.conn = conn
        self.login = login
        self.other = other
        self.before = versions(conn, other)
        self.notices: list[str] = []
        conn.add_notice_handler(
            lambda diag: self.notices.append(f"{diag.message_primary} {diag.message_detail}")
        )
        conn.execute("set client_min_messages = log")

    def ask(self, function: str, parameters: list[Parameter], arguments: Arguments,
            identity: uuid.UUID | None) -> tuple[bool, str]:  # fmt: skip
        """Return whether it worked, and all that the caller was told; see that nothing changed."""
        self.notices.clear()
        try:
            with self.conn.transaction(force_rollback=True):
                self.conn.execute(
                    "select set_config('session_authorization', %s, true),"
                    " set_config('recall.user_id', %s, true)",
                    [self.login["user"], str(identity or "")],
                )
                found = call_with(self.conn, function, parameters, arguments)
                self.conn.execute("reset session authorization")
                if value(self.conn, "select pg_current_xact_id_if_assigned()::text"):
                    assert versions(self.conn, self.other) == self.before, function
            worked, said = True, json.dumps(found, default=str)
        except psycopg.Error as error:
            worked, said = False, everything(error)
        return worked, "\n".join([said, *self.notices])


def unnamed(
    outcome: tuple[bool, str], ids: Iterable[uuid.UUID], theirs: set[str]
) -> tuple[bool, str]:
    """Return an outcome without the ids that were asked for; nothing of the other user's is left.

    Without what passes, too, so that it equals the outcome of another call.
    """
    worked, text = outcome
    for one in ids:
        text = text.replace(str(one), ID)
    assert BRAVO not in text
    assert not theirs.intersection(re.findall(UUID, text))
    return worked, PASSING.sub("#", text)


@pytest.mark.parametrize("has_identity", [True, False], ids=["identity", "no identity"])
@pytest.mark.parametrize("role", MATRIX)
def test_a_strangers_id_is_nobodys_id(
    db: Connection,
    worlds: tuple[World, World],
    logins: dict[str, Login],
    functions: Functions,
    theirs: set[str],
    samples: dict[str, uuid.UUID],
    role: str,
    has_identity: bool,
) -> None:
    """The same error or as much of an answer, with not a word of his; and his rows stay.

    With an identity, the least role that may call a function tries ids of every kind in each
    parameter; what others try fits the place.
    """
    asker = Asker(db, logins[role], worlds[1]["user"])
    asked = 0
    for question in questions(functions, adorned(db, worlds[0])):
        function, place = question.function, question.place
        if function not in MATRIX[role]:
            continue
        if not has_identity and (
            place in ("p_user_id", "p_external_id") or function in FOR_ALL_USERS
        ):
            continue  # whoever asks for nobody may ask for anybody
        kinds = [kind for kind in samples if kind in place] or ["memory_id"]
        if has_identity and role == least_role(function) and question.is_wide:
            kinds = list(samples)
        for kind in kinds:
            outcomes = []
            for one in (samples[kind], nobodys(samples[kind])):
                outcome = asker.ask(
                    function, functions[function], question.arguments(one),
                    question.identity if has_identity else None,
                )  # fmt: skip
                outcomes.append(unnamed(outcome, [one], theirs))
            assert outcomes[0] == outcomes[1], (function, place, kind)
            asked += 1
    assert asked > 25


@pytest.mark.parametrize("has_identity", [True, False], ids=["identity", "no identity"])
def test_ids_that_belong_together(
    db: Connection,
    worlds: tuple[World, World],
    logins: dict[str, Login],
    functions: Functions,
    theirs: set[str],
    has_identity: bool,
) -> None:
    """All ids of a call at once, a job with the token of its lease, open nothing either."""
    mine, other = (adorned(db, world) for world in worlds)
    asker = Asker(db, logins["recall_admin"], other["user"])
    asked = 0
    for function, parameters in functions.items():
        calls = (sane_arguments(function, parameters, world) for world in (mine, other))
        for own, strange in zip(*calls, strict=True):
            ids = {
                name: one
                for name, one in strange.items()
                if isinstance(one, uuid.UUID) and name != "p_user_id"
            }
            if len(ids) < 2:
                continue
            identity = own.get("p_user_id") if has_identity else None
            outcomes = []
            for given in (ids, {name: nobodys(one) for name, one in ids.items()}):
                outcome = asker.ask(function, parameters, own | given, identity)
                outcomes.append(unnamed(outcome, given.values(), theirs))
            assert outcomes[0] == outcomes[1], function
            asked += 1
    assert asked > 10


@pytest.mark.parametrize("role", [*MATRIX, "nobody"])
def test_who_may_not_call_is_told_no_more(
    db: Connection,
    worlds: tuple[World, World],
    logins: dict[str, Login],
    functions: Functions,
    role: str,
) -> None:
    mine, theirs = worlds
    asker = Asker(db, logins[role], theirs["user"])
    world = adorned(db, theirs)
    for function in MATRIX["recall_admin"] - MATRIX.get(role, set()) - COMMITTING:
        parameters = functions.get(function, [])
        for sane in sane_arguments(function, parameters, world):
            refusal = asker.ask(function, parameters, sane, mine["user"])
            what = "schema recall" if role == "nobody" else f"function {function}"
            assert refusal == (False, f"42501 | permission denied for {what}" + 6 * " | None")


def test_every_function_answers_for_ids_of_the_caller(
    db: Connection, worlds: tuple[World, World], functions: Functions
) -> None:
    """With ids of the caller's own: so it is a stranger's that it does not find."""
    world, refusals = adorned(db, worlds[0]), {}
    for function, parameters in functions.items():
        for sane in sane_arguments(function, parameters, world):
            try:
                with db.transaction(force_rollback=True):
                    call_with(db, function, parameters, sane)
            except psycopg.Error as error:
                refusals[function] = everything(error)
    # of encrypted users; while vectors are missing; without Citus
    assert refusals.keys() == {"reseal_rows", "switch_embedding_model", "distribute"}
    assert public_functions(db) - functions.keys() - COMMITTING == {
        "uuidv7", "version", "health", "metrics", "get_settings", "list_models",
        "list_prompts", "calibrate_embeddings",
        "get_embedding_migration", "pause_embedding_migration", "resume_embedding_migration",
        "cancel_embedding_migration", "list_maintenance", "maintenance_commands",
        "run_due_maintenance", "waiting_jobs",
    }, "functions that take nothing"  # fmt: skip


def test_no_constraint_spans_users(db: Connection) -> None:
    """So no "already exists" tells of another user's row, and no row hangs on another user's."""
    found = rows(
        db,
        "select i.indexrelid::regclass::text as name from pg_index as i"
        " join pg_attribute as a on a.attrelid = i.indrelid and a.attname = 'user_id'"
        " where i.indrelid = any (%s::regclass[]) and (i.indisunique or i.indisexclusion)"
        " and i.indkey[0] <> a.attnum"
        " union all select c.conname from pg_constraint as c where c.contype = 'f'"
        " and c.connamespace = 'recall'::regnamespace",
        [tables_of_users(db)],
    )
    assert found == []


# --- what the other user has

CHOSEN = {
    "caller", "direction", "embedding_model", "end_reason", "event", "kind", "made_by", "overrides",
    "phase", "source", "usage", "job_phases.model_id", "jobs.worker",
}  # fmt: skip
"""Columns that hold one of a few words, a number, or names of prompts, models and workers."""


def test_word_of_the_other_user_stands_in_each_of_their_texts(
    db: Connection, worlds: tuple[World, World]
) -> None:
    """A column that is added is watched, or is named above."""
    columns = rows(
        db,
        "select a.attrelid::regclass::text as table, a.attname as column from pg_attribute as a"
        " where a.attrelid = any (%s::regclass[]) and not a.attisdropped and a.attnum > 0"
        " and a.atttypid = any ('{text,text[],jsonb}'::regtype[]) order by 1, 2",
        [tables_of_users(db)],
    )
    lacking = {
        f"{row['table']}.{row['column']}"
        for row in columns
        if not value(
            db,
            f"select count(*) from {row['table']} as t where t.user_id = %s"
            f" and strpos(t.{row['column']}::text, %s) > 0",
            [worlds[1]["user"], BRAVO],
        )
    }
    assert {name for name in lacking if not name.endswith(tuple(CHOSEN))} == set()


# --- ids that come in by another way


@pytest.mark.parametrize("kind", ["merge", "pattern"])
def test_a_planted_id_finds_nothing(db: Connection, worlds: tuple[World, World], kind: str) -> None:
    """A job of one's own that names a stranger's memories is read as if they were not there."""
    user = worlds[0]["user"]
    ids = [str(one) for one in ids_of(db, worlds[1]["user"])["recall.memory_store.memory_id"]]
    with db.transaction(force_rollback=True):
        db.execute("select set_config('recall.user_id', %s, true)", [str(user)])
        call(db, "enqueue_job", p_user_id=user, p_kind=kind, p_dedupe_key="planted",
             p_payload={"memory_ids": ids, "tag": "any", "kind": "fact"})  # fmt: skip
        jobs = call(db, "claim_jobs", p_worker="tester", p_kinds=[kind], p_limit=100)
        (job,) = (job for job in jobs if job["payload"].get("memory_ids") == ids)
        assert do_job(db, job) == {"type": "done", "outcome": {"kind": kind, "items": 0}}


def test_claim_within_the_transaction_of_a_user_takes_only_their_jobs(
    db: Connection, worlds: tuple[World, World]
) -> None:
    users = [world["user"] for world in worlds]
    with db.transaction(force_rollback=True):
        for user in users:
            call(db, "enqueue_job", p_user_id=user, p_kind="merge", p_dedupe_key="one of each")
        for identity, whose in ((str(users[0]), {users[0]}), ("nonsense", set()), ("", {users[1]})):
            db.execute("select set_config('recall.user_id', %s, true)", [identity])
            jobs = call(db, "claim_jobs", p_worker="tester", p_limit=100, p_kinds=["merge"])
            assert {job["user_id"] for job in jobs} == whose


def test_a_document_of_anothers_ids(
    db: Connection, worlds: tuple[World, World], theirs: set[str]
) -> None:
    """Ids are a user's own, so it is imported beside them; a hash alone brings no prompt."""
    other = worlds[1]
    before = belongings(db, other["user"])
    newcomer = uuid.uuid4()
    (row,) = call(db, "export_user", p_user_id=other["user"])
    document = json.loads(
        json.dumps(row["export_user"])
        .replace(str(other["user"]), str(newcomer))
        .replace(BRAVO, "charlie")
    )
    for owner in document["tables"]["users"]:
        owner["external_id"] = None  # a name gives one id
    with db.transaction(force_rollback=True):
        with refused("RC003", "the system prompt of session"), db.transaction():
            call(db, "import_user", p_user_id=newcomer, p_document=document)
        for session in document["tables"]["sessions"]:
            prompt = f"You know {'charlie'}." if session["title"] == "charlie" else ""
            session["system_prompt_hash"] = "\\x" + sha256(prompt.encode()).hexdigest()
        call(db, "import_user", p_user_id=newcomer, p_document=document)
        (found,) = call(db, "export_user", p_user_id=newcomer)
        assert BRAVO not in json.dumps(found)
        assert belongings(db, other["user"]) == before


def test_a_prompt_is_counted_by_its_user(db: Connection) -> None:
    """An export has the user's own token count of a shared prompt, not that of another user."""
    for tokens in (12_345, 7):
        user = uuid.uuid4()
        open_session(db, user, p_system_prompt="Be brief.", p_system_prompt_tokens=tokens)
    (row,) = call(db, "export_user", p_user_id=user)
    assert row["export_user"]["system_prompts"] == [{"content": "Be brief.", "token_count": 7}]


# --- what is told of all users

SPOIL = """
create function public.spoil() returns trigger language plpgsql as
    'begin {} return new; end';
create trigger spoil before update on recall.memory_store
    for each row execute function public.spoil();
"""


SPOILS = {
    "raised": (SPOIL.format("raise exception using message = new.content, hint = new.content;"),
               "error P0001 at public.spoil() line 1"),
    "a value": (SPOIL.format("perform new.content::uuid;"), "error 22P02 at public.spoil() line 1"),
    "a constraint": (
        "alter table recall.memory_store add constraint spoil check (ended_at is null) not valid",
        'new row for relation "memory_store_p'),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "said"), SPOILS.values(), ids=SPOILS)
def test_a_failed_sweep_quotes_nobody(
    db: Connection, worlds: tuple[World, World], spoil: str, said: str
) -> None:
    """Neither its result nor what health() says of it holds a text of the row where it failed."""
    with db.transaction(force_rollback=True):
        db.execute("update recall.memory_store set expires_at = created_at where user_id = %s"
                   " and expires_at is not null", [worlds[1]["user"]])  # fmt: skip
        db.execute(spoil.encode())
        (row,) = call(db, "run_maintenance", p_task="expire_memories")
        assert row["run_maintenance"]["error"].startswith(said)
        for function in (
            "run_due_maintenance",
            "list_maintenance",
            "health",
            "metrics",
            "waiting_jobs",
        ):
            assert BRAVO not in json.dumps(call(db, function), default=str), function
        (found,) = (one for one in call(db, "health") if one["name"] == "maintenance")
        assert f"expire_memories: {said}" in found["detail"]


# --- the page of roles


def test_page_of_roles_lists_the_functions_of_each_role(db: Connection) -> None:
    """Each role includes the roles to its left."""
    page = (Path(__file__).parents[2] / "docs" / "security" / "roles.md").read_text()
    table = page.split("<!-- rights: begin -->")[1].split("<!-- rights: end -->")[0]
    head, _, *lines = ([cell.strip() for cell in line.split("|")[2:-1]]
                       for line in table.strip().splitlines())  # fmt: skip
    roles = [cell.removeprefix("and ").strip("`") for cell in head]
    assert roles == list(MATRIX)
    written: set[str] = set()
    for place, name in enumerate(roles):
        written |= {name for line in lines for name in line[place].split(", ") if name}
        granted = rows(
            db,
            "select p.proname as name from pg_proc as p where p.proname !~ '^_'"
            " and p.pronamespace = 'recall'::regnamespace"
            " and has_function_privilege(%s, p.oid, 'execute')",
            [our_role(db, name)],
        )
        assert written == {row["name"] for row in granted}, name
