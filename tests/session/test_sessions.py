"""Users, sessions and configuration: functions/session."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import append, call, job_rows, open_session, refused, rows, said, session_row, value

Connection = psycopg.Connection[Any]
NOBODY = uuid.UUID(int=1)


# --- users


def test_user_id_of_a_text_is_known(db: Connection) -> None:
    """The namespace stands in the README: other languages compute the same ids."""
    namespace = uuid.UUID("5ba7c0de-7e11-4d2a-9c3b-70677265636c")
    for text in ("auth0|42", "ada", "Ada", " ", "日本語", "ä" * 1000):
        digest = bytearray(hashlib.sha256(namespace.bytes + text.encode()).digest()[:16])
        digest[6] = digest[6] & 0x0F | 0x80
        digest[8] = digest[8] & 0x3F | 0x80
        assert value(db, "select recall.user_id(%s)", [text]) == uuid.UUID(bytes=bytes(digest))
    assert value(db, "select recall.user_id('auth0|42')") == uuid.UUID(
        "0c37e472-2941-8f5e-810f-5b8c4647e5f6"
    )


def test_user_id_of_a_uuid_is_itself(db: Connection, user: uuid.UUID) -> None:
    assert value(db, "select recall.user_id(%s)", [str(user)]) == user
    assert value(db, "select recall.user_id(%s)", [str(user).upper()]) == user
    braced = value(db, "select recall.user_id(%s)", [f"{{{user}}}"])
    assert braced != user, "only the plain form is a UUID"


def test_name_of_a_user_has_at_most_a_thousand_characters(db: Connection) -> None:
    for function in ("user_id", "ensure_user"):
        with refused("RC003", "external id has 1001 characters, more than 1000"):
            db.execute(f"select recall.{function}(%s)", ["ä" * 1001])
        assert value(db, f"select recall.{function}(%s)", ["ä" * 1000])


def spellings(user: uuid.UUID) -> list[str]:
    """Return texts that PostgreSQL or Python read as this UUID, its usual forms first."""
    plain = str(user)
    mixed = plain[:18] + plain[18:].upper()
    groups = "-".join(user.hex[n : n + 4] for n in range(0, 32, 4))
    return [plain, plain.upper(), mixed, user.hex, f"{{{plain}}}", f"urn:uuid:{plain}", groups,
            f" {plain}", f"{plain}\n"]  # fmt: skip


@pytest.mark.parametrize("function", ["user_id", "ensure_user"])
@pytest.mark.parametrize("is_known", [True, False])
def test_id_of_a_name_names_nobody_else(db: Connection, function: str, is_known: bool) -> None:
    """Anybody can compute the id of ada, and sign up with it as their own name."""
    ada = f"ada {uuid.uuid4()}"
    user = value(db, "select recall.user_id(%s)", [ada])
    if is_known:
        assert value(db, "select recall.ensure_user(%s)", [ada]) == user
    usual, others = spellings(user)[:3], spellings(user)[3:]
    ask = f"select recall.{function}(p_external_id => %s)"
    for name in usual:
        with refused("RC003", f"{name} is a UUID of version 8"):
            db.execute(ask, [name])
    for name in others:
        assert value(db, ask, [name]) != user
    assert not is_known or value(db, "select recall.ensure_user(%s)", [ada]) == user


def test_id_of_an_encrypted_user_names_nobody(db: Connection) -> None:
    """The name of an encrypted user is not stored."""
    with db.transaction(force_rollback=True):
        user = value(db, "select recall.ensure_user(%s)", [f"sealed {uuid.uuid4()}"])
        call(db, "seal_user", p_user_id=user, p_wrapped_key=b"x" * 60, p_wrapping_key="k")
        assert value(db, "select external_id from recall.users where user_id = %s", [user]) is None
        with refused("RC003", str(user)), db.transaction():
            db.execute("select recall.ensure_user(%s)", [str(user)])


def test_id_of_a_user_whom_a_call_created_names_nobody(db: Connection) -> None:
    """`remember(user_id('ada'), …)` stores no name."""
    user = value(db, "select recall.user_id(%s)", [f"ada {uuid.uuid4()}"])
    open_session(db, user)
    with refused("RC003", str(user)):
        db.execute("select recall.ensure_user(%s)", [str(user)])


def test_ensure_user_takes_the_id_of_the_transaction(db: Connection) -> None:
    """The driver passes a UUID so."""
    name = f"ada {uuid.uuid4()}"
    user = value(db, "select recall.ensure_user(%s)", [name])
    with db.transaction():
        db.execute("select set_config('recall.user_id', %s, true)", [str(user)])
        assert value(db, "select recall.ensure_user(%s)", [str(user).upper()]) == user
    assert value(db, "select external_id from recall.users where user_id = %s", [user]) == name
    stranger = uuid.uuid4()
    with db.transaction():
        db.execute("select set_config('recall.user_id', %s, true)", [str(stranger)])
        with refused("RC003", str(user)), db.transaction():
            db.execute("select recall.ensure_user(%s)", [str(user)])


@pytest.mark.parametrize("text", [None, ""])
def test_user_id_needs_a_text(db: Connection, text: str | None) -> None:
    with refused("RC003", "external id"):
        db.execute("select recall.user_id(%s::text)", [text])


def test_ensure_user_is_idempotent(db: Connection) -> None:
    name = f"auth0|{uuid.uuid4()}"
    first = value(db, 'select recall.ensure_user(%s, \'{"plan": "free"}\')', [name])
    assert value(db, "select recall.ensure_user(%s)", [name]) == first
    value(db, 'select recall.ensure_user(%s, \'{"plan": "pro", "since": 2024}\')', [name])
    (row,) = rows(db, "select * from recall.users where user_id = %s", [first])
    assert row["external_id"] == name
    assert row["metadata"] == {"plan": "pro", "since": 2024}


def test_a_user_made_by_a_session_gets_the_name_later(db: Connection) -> None:
    name = f"later {uuid.uuid4()}"
    user = value(db, "select recall.user_id(%s)", [name])
    open_session(db, user)
    assert value(db, "select external_id from recall.users where user_id = %s", [user]) is None
    value(db, "select recall.ensure_user(%s)", [name])
    assert value(db, "select external_id from recall.users where user_id = %s", [user]) == name


@pytest.mark.parametrize("metadata", ["null", "[]", '"x"', "1"])
def test_ensure_user_refuses_metadata_that_is_no_object(db: Connection, metadata: str) -> None:
    with refused("RC003", "metadata"):
        db.execute("select recall.ensure_user('someone', %s::jsonb)", [metadata])


# --- opening


def test_open_session_takes_the_window_of_the_model(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user, p_model_id="gpt-4o", p_title="T", p_agent_id="a")
    row = session_row(db, user, session)
    assert row["context_window_size"] == 128000
    assert row["max_response_tokens"] == 4096
    assert (row["temperature"], row["top_p"]) == (pytest.approx(0.7), 1.0)
    assert (row["title"], row["agent_id"], row["status"]) == ("T", "a", "active")
    assert row["metadata"] == {}
    assert row["session_id"].version == 7


def test_an_unknown_model_gets_an_assumed_window(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user, p_model_id="made-up", p_metadata={"a": 1})
    row = session_row(db, user, session)
    assert row["context_window_size"] == 8192
    assert row["max_response_tokens"] == 2048, "a quarter of the window"
    assert row["metadata"] == {"a": 1, "context_window_assumed": True}


def test_a_window_that_was_given_is_not_assumed(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user, p_model_id="made-up", p_context_window_size=1000)
    row = session_row(db, user, session)
    assert (row["context_window_size"], row["max_response_tokens"]) == (1000, 250)
    assert row["metadata"] == {}


def test_opening_an_existing_session_changes_nothing(db: Connection, user: uuid.UUID) -> None:
    wanted = uuid.uuid4()
    assert open_session(db, user, p_session_id=wanted, p_title="one") == wanted
    before = session_row(db, user, wanted)
    assert open_session(db, user, p_session_id=wanted, p_title="two", p_model_id="o3") == wanted
    assert session_row(db, user, wanted) == before


def test_two_users_may_choose_the_same_session_id(db: Connection, user: uuid.UUID) -> None:
    wanted, other = uuid.uuid4(), uuid.uuid4()
    open_session(db, user, p_session_id=wanted, p_title="mine")
    open_session(db, other, p_session_id=wanted, p_title="theirs")
    append(db, user, wanted, said("only mine"))
    assert session_row(db, user, wanted)["turn_count"] == 1
    assert session_row(db, other, wanted)["turn_count"] == 0
    assert call(db, "get_messages", p_user_id=other, p_session_id=wanted) == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"p_model_id": None}, "p_model_id"),
        ({"p_model_id": ""}, "p_model_id"),
        ({"p_context_window_size": 0}, "context_window_size is 0"),
        ({"p_context_window_size": -5}, "context_window_size is -5"),
        ({"p_max_response_tokens": -1}, "max_response_tokens is -1"),
        ({"p_max_response_tokens": 128000}, "leaves nothing of the window"),
        ({"p_temperature": -0.1}, "temperature is -0.1"),
        ({"p_temperature": 2.1}, "temperature is 2.1"),
        ({"p_temperature": float("nan")}, "temperature is NaN"),
        ({"p_top_p": 0}, "top_p is 0"),
        ({"p_top_p": 1.5}, "top_p is 1.5"),
        ({"p_cost_limit_microcents": -1}, "cost_limit_microcents is -1"),
        ({"p_expires_in": timedelta(0)}, "expires_in is 00:00:00"),
        ({"p_expires_in": timedelta(days=-1)}, "expires_in is -1 days"),
        ({"p_expires_in": "2000 years"}, "expires_in is 2000 years"),
        ({"p_expires_in": "infinity"}, "expires_in is infinity"),
        ({"p_system_prompt_tokens": -1}, "system_prompt_tokens is -1"),
        ({"p_metadata": Jsonb([])}, "metadata is array"),
        ({"p_metadata": None}, "metadata is null"),
    ],
)
def test_open_session_refuses_malformed_values_and_writes_nothing(
    db: Connection, user: uuid.UUID, values: dict[str, Any], words: str
) -> None:
    with refused("RC003", words):
        open_session(db, user, **values)
    assert rows(db, "select * from recall.sessions where user_id = %s", [user]) == []
    assert rows(db, "select * from recall.users where user_id = %s", [user]) == []


def test_a_parent_must_be_the_users_own(db: Connection, user: uuid.UUID) -> None:
    theirs = open_session(db, uuid.uuid4())
    for parent in (theirs, NOBODY):
        with refused("RC001", str(parent)):
            open_session(db, user, p_parent_session_id=parent)
    assert rows(db, "select * from recall.sessions where user_id = %s", [user]) == []


def test_expiry_slides_in_days(db: Connection, user: uuid.UUID) -> None:
    """In steps of a day, so that an index on it leaves appends HOT; short lives are exact."""
    now = value(db, "select clock_timestamp()")
    long = session_row(db, user, open_session(db, user))["expires_at"]
    assert now + timedelta(days=30) <= long <= now + timedelta(days=31, seconds=60)
    assert long.astimezone(UTC).time().isoformat() == "00:00:00"
    short = open_session(db, user, p_expires_in=timedelta(hours=1))
    first = session_row(db, user, short)["expires_at"]
    assert first == pytest.approx(now + timedelta(hours=1), abs=timedelta(minutes=1))
    append(db, user, short, said("later"))
    assert session_row(db, user, short)["expires_at"] > first


def test_a_system_prompt_is_stored_once(db: Connection, user: uuid.UUID) -> None:
    prompt = f"You are number {uuid.uuid4()}."
    one = open_session(db, user, p_system_prompt=prompt)
    two = open_session(db, uuid.uuid4(), p_system_prompt=prompt, p_system_prompt_tokens=5)
    stored = rows(db, "select * from recall.system_prompts where content = %s", [prompt])
    assert len(stored) == 1
    assert stored[0]["prompt_hash"] == hashlib.sha256(prompt.encode()).digest()
    assert session_row(db, user, one)["system_prompt_tokens"] > 5, "estimated, on the safe side"
    (shown,) = call(db, "get_session", p_user_id=user, p_session_id=one)
    assert shown["system_prompt"] == prompt
    assert two != one


# --- changing


@pytest.mark.parametrize(
    ("changes", "column", "expected"),
    [
        ({"model_id": "gpt-4.1"}, "model_id", "gpt-4.1"),
        ({"model_id": "gpt-4.1"}, "context_window_size", 1047576),
        ({"model_id": "made-up"}, "context_window_size", 128000),
        ({"model_id": "gpt-4.1", "context_window_size": 9000}, "context_window_size", 9000),
        ({"context_window_size": 5000}, "context_window_size", 5000),
        ({"agent_id": "b"}, "agent_id", "b"),
        ({"agent_id": None}, "agent_id", None),
        ({"temperature": 0}, "temperature", 0.0),
        ({"top_p": 0.5}, "top_p", 0.5),
        ({"max_response_tokens": 0}, "max_response_tokens", 0),
        ({"cost_limit_microcents": 10**12}, "cost_limit_microcents", 10**12),
        ({"cost_limit_microcents": None}, "cost_limit_microcents", None),
        ({"title": "new"}, "title", "new"),
        ({"title": None}, "title", None),
        ({"metadata": {"b": {"c": None}}}, "metadata", {"a": {"x": None}, "b": {"c": None}}),
        ({"metadata": {"a": None, "b": 2}}, "metadata", {"b": 2}),
        ({"system_prompt": "hi", "system_prompt_tokens": 77}, "system_prompt_tokens", 77),
        ({"system_prompt_tokens": 78}, "system_prompt_tokens", 78),
        ({}, "title", "old"),
    ],
)
def test_update_session_changes_only_the_given_values(
    db: Connection, user: uuid.UUID, changes: dict[str, Any], column: str, expected: Any
) -> None:
    session = open_session(
        db, user, p_title="old", p_agent_id="a", p_metadata={"a": {"x": None}},
        p_cost_limit_microcents=5,
    )  # fmt: skip
    before = session_row(db, user, session)
    call(db, "update_session", p_user_id=user, p_session_id=session, p_changes=changes)
    after = session_row(db, user, session)
    assert after[column] == expected
    touched = {*changes, column, "updated_at", "context_window_size"}
    if "system_prompt" in changes:
        touched |= {"system_prompt_hash", "system_prompt_tokens"}
    assert {k: v for k, v in after.items() if k not in touched} == {
        k: v for k, v in before.items() if k not in touched
    }


def test_a_new_prompt_is_counted(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user, p_system_prompt="one", p_system_prompt_tokens=1000)
    for changes in ({"system_prompt": "two words"}, {"system_prompt_tokens": None}):
        call(db, "update_session", p_user_id=user, p_session_id=session, p_changes=changes)
        (shown,) = call(db, "get_session", p_user_id=user, p_session_id=session)
        assert shown["system_prompt"] == "two words"
        assert 2 <= shown["system_prompt_tokens"] < 20


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"colour": 1}, "unknown key in p_changes: colour"),
        ({"status": "closed"}, "unknown key"),
        ({"turn_count": 0}, "unknown key"),
        ({"context_window_size": "many"}, 'context_window_size is "many"'),
        ({"context_window_size": 10**12}, "context_window_size is 1000000000000"),
        ({"context_window_size": 0}, "context_window_size is 0"),
        ({"context_window_size": 100}, "leaves nothing of the window"),
        ({"context_window_size": None}, "context_window_size is null"),
        ({"model_id": None, "system_prompt": None}, "no text: model_id is null ("),
        ({"model_id": ""}, 'model_id is ""'),
        ({"temperature": "hot"}, 'temperature is "hot"'),
        ({"temperature": 3}, "temperature is 3"),
        ({"top_p": None}, "top_p is null"),
        ({"max_response_tokens": -1}, "max_response_tokens is -1"),
        ({"system_prompt_tokens": "x"}, 'system_prompt_tokens is "x"'),
        ({"system_prompt_tokens": -1}, "system_prompt_tokens is -1"),
        ({"system_prompt": {"a": 1}}, 'no text: system_prompt is {"a": 1}'),
        ({"metadata": []}, "metadata is array"),
        ({"metadata": None}, "metadata is null"),
    ],
)
def test_update_session_refuses_malformed_changes_and_writes_nothing(
    db: Connection, user: uuid.UUID, changes: dict[str, Any], words: str
) -> None:
    session = open_session(db, user, p_title="old")
    before = session_row(db, user, session)
    with refused("RC003", words):
        call(db, "update_session", p_user_id=user, p_session_id=session, p_changes=changes)
    assert session_row(db, user, session) == before


@pytest.mark.parametrize("changes", [None, "[]", "1", "null"])
def test_update_session_needs_an_object(
    db: Connection, user: uuid.UUID, changes: str | None
) -> None:
    session = open_session(db, user)
    with refused("RC003", "p_changes"):
        db.execute("select recall.update_session(%s, %s, %s::jsonb)", [user, session, changes])


def test_a_session_that_is_not_there(db: Connection, user: uuid.UUID) -> None:
    """Another user's session is just as unknown, in the same words."""
    theirs = open_session(db, uuid.uuid4())
    open_session(db, user)
    for session in (theirs, NOBODY):
        for function, more in (
            ("update_session", {"p_changes": {}}),
            ("pause_session", {}),
            ("resume_session", {}),
            ("close_session", {}),
        ):
            with refused("RC001", f"this user has no session {session}"):
                call(db, function, p_user_id=user, p_session_id=session, **more)
        assert call(db, "get_session", p_user_id=user, p_session_id=session) == []


# --- life


def status(db: Connection, user: uuid.UUID, session: uuid.UUID) -> str:
    return session_row(db, user, session)["status"]


def test_paused_session_refuses_messages_until_resumed(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    for _ in range(2):
        call(db, "pause_session", p_user_id=user, p_session_id=session)
        assert status(db, user, session) == "paused"
    with refused("RC002", "is paused"):
        append(db, user, session, said("no"))
    for _ in range(2):
        call(db, "resume_session", p_user_id=user, p_session_id=session)
        assert status(db, user, session) == "active"
    assert append(db, user, session, said("yes"))[0][1] == 1


def test_closing_leaves_the_last_work_behind(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    append(db, user, session, said("My name is Ada."))
    db.execute(
        "insert into recall.working_memory values (%s, %s, 't', 'k', '1', 1, now(), 'infinity')",
        [user, session],
    )
    (waiting,) = (job for job in job_rows(db, user) if job["kind"] == "extract")
    assert waiting["run_at"] > datetime.now(UTC) + timedelta(minutes=5), "an idle pause away"

    call(db, "close_session", p_user_id=user, p_session_id=session)
    assert status(db, user, session) == "closed"
    assert rows(db, "select * from recall.working_memory where user_id = %s", [user]) == []
    jobs = {job["kind"]: job for job in job_rows(db, user)}
    assert set(jobs) == {"embed", "extract", "summarize"}
    assert jobs["extract"]["run_at"] <= datetime.now(UTC) + timedelta(minutes=1), "pulled forward"

    with refused("RC002", "is closed"):
        append(db, user, session, said("no"))
    with refused("RC002", "cannot become paused"):
        call(db, "pause_session", p_user_id=user, p_session_id=session)
    call(db, "close_session", p_user_id=user, p_session_id=session)
    assert len(job_rows(db, user)) == 3, "closing twice leaves no second job"

    call(db, "resume_session", p_user_id=user, p_session_id=session)
    assert append(db, user, session, said("yes"))[0][1] == 2


def test_closing_an_empty_session_leaves_no_work(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    call(db, "close_session", p_user_id=user, p_session_id=session)
    assert job_rows(db, user) == []


def test_an_expired_session_can_be_taken_back(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    db.execute(
        "update recall.sessions set status = 'expired', expires_at = now() - interval '1 day'"
        " where user_id = %s",
        [user],
    )
    with refused("RC002", "is expired"):
        append(db, user, session, said("no"))
    call(db, "resume_session", p_user_id=user, p_session_id=session)
    row = session_row(db, user, session)
    assert row["status"] == "active"
    assert row["expires_at"] > datetime.now(UTC) + timedelta(days=29)


def test_a_resumed_session_lives_as_long_as_its_user_wants(db: Connection, user: uuid.UUID) -> None:
    session = open_session(db, user)
    call(db, "configure_user", p_user_id=user, p_changes={"session_ttl": "1 year"})
    call(db, "close_session", p_user_id=user, p_session_id=session)
    call(db, "resume_session", p_user_id=user, p_session_id=session)
    late = datetime.now(UTC) + timedelta(days=364)
    assert session_row(db, user, session)["expires_at"] > late


# --- listing


def test_sessions_are_listed_in_pages(db: Connection, user: uuid.UUID) -> None:
    made = [open_session(db, user, p_title=str(n)) for n in range(23)]
    # several of the same moment: the id decides
    db.execute(
        "update recall.sessions set created_at = date_trunc('hour', created_at)"
        " where user_id = %s and title::int %% 2 = 0",
        [user],
    )
    seen: list[dict[str, Any]] = []
    before = None
    while page := call(db, "list_sessions", p_user_id=user, p_limit=4, p_before_id=before):
        assert len(page) <= 4
        seen += page
        before = page[-1]["session_id"]
    assert {row["session_id"] for row in seen} == set(made)
    assert len(seen) == len(made)
    order = [(row["created_at"], row["session_id"]) for row in seen]
    assert order == sorted(order, reverse=True)
    (one,) = call(db, "get_session", p_user_id=user, p_session_id=seen[0]["session_id"])
    assert one == seen[0]


def test_list_sessions_filters_by_status(db: Connection, user: uuid.UUID) -> None:
    kept, closed = open_session(db, user), open_session(db, user)
    call(db, "close_session", p_user_id=user, p_session_id=closed)
    for status_name, expected in (("active", [kept]), ("closed", [closed]), ("expired", [])):
        found = call(db, "list_sessions", p_user_id=user, p_status=status_name)
        assert [row["session_id"] for row in found] == expected
    with refused("RC003", "p_status is 'Active'"):
        call(db, "list_sessions", p_user_id=user, p_status="Active")


def test_lists_with_bad_bounds(db: Connection, user: uuid.UUID) -> None:
    theirs = open_session(db, uuid.uuid4())
    open_session(db, user)
    assert call(db, "list_sessions", p_user_id=user, p_limit=0) == []
    with refused("RC003", "p_limit is -1"):
        call(db, "list_sessions", p_user_id=user, p_limit=-1)
    with refused("RC003", "p_limit is null"):
        call(db, "list_sessions", p_user_id=user, p_limit=None)
    with refused("RC001", str(theirs)):
        call(db, "list_sessions", p_user_id=user, p_before_id=theirs)


# --- continuing another session


def summarize(db: Connection, user: uuid.UUID, session: uuid.UUID, kind: str, text: str) -> None:
    db.execute(
        "insert into recall.session_summaries (user_id, session_id, summary_id, kind, from_turn,"
        " to_turn, content, token_count, created_at)"
        " values (%s, %s, recall.uuidv7(), %s, 1, 1, %s, 7, now())",
        [user, session, kind, text],
    )


def test_a_child_starts_from_the_parents_summary(db: Connection, user: uuid.UUID) -> None:
    parent = open_session(db, user)
    append(db, user, parent, said("hello"))
    summarize(db, user, parent, "rolling", "They said hello.")
    child = open_session(db, user, p_parent_session_id=parent)
    # opening it again copies nothing twice
    assert open_session(db, user, p_session_id=child, p_parent_session_id=parent) == child
    (summary,) = rows(
        db, "select * from recall.session_summaries where user_id = %s and session_id = %s",
        [user, child],
    )  # fmt: skip
    assert (summary["kind"], summary["from_turn"], summary["to_turn"]) == ("compaction", 0, 0)
    assert (summary["content"], summary["token_count"]) == ("They said hello.", 7)
    assert session_row(db, user, child)["parent_session_id"] == parent
    grandchild = open_session(db, user, p_parent_session_id=child)
    assert rows(
        db, "select content from recall.session_summaries where session_id = %s", [grandchild]
    ) == [{"content": "They said hello."}]


def test_child_of_a_parent_without_a_summary_has_none(db: Connection, user: uuid.UUID) -> None:
    child = open_session(db, user, p_parent_session_id=open_session(db, user))
    assert rows(db, "select * from recall.session_summaries where session_id = %s", [child]) == []


# --- configuration


@pytest.fixture
def configurable(db: Connection) -> Connection:
    """A connection in a transaction that is rolled back: settings hold for everybody."""
    db.autocommit = False
    return db


@pytest.mark.parametrize(
    ("changes", "column", "expected"),
    [
        ({"extraction": "verbatim"}, "extraction", "verbatim"),
        ({"session_ttl": "7 days"}, "session_ttl", timedelta(days=7)),
        ({"language": "german"}, "language", "german"),
        ({"embed_messages": False}, "embed_messages", False),
        ({"hybrid_lexical_weight": 0.25}, "hybrid_lexical_weight", 0.25),
        ({"history_months_ahead": 6}, "history_months_ahead", 6),
        ({}, "extraction", "llm"),
    ],
)
def test_configured_setting_holds_for_all_users(
    configurable: Connection, user: uuid.UUID, changes: dict[str, Any], column: str, expected: Any
) -> None:
    call(configurable, "configure", p_changes=changes)
    assert rows(configurable, f"select {column} from recall.settings") == [{column: expected}]
    (row,) = rows(configurable, f"select {column} from recall._settings(%s)", [user])
    assert row[column] == expected


LANGUAGES = [
    "1", 1, "-", "0", "", " ", "klingon", "3748", "a.b", "a.b.c", "a.b.c.d", '"', "x" * 9999,
    "pg_catalog.", ["english"], {"a": 1}, True, "english; drop table x", "\ud7ff",
]  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: ascii(language)[:20])
def test_language_that_does_not_exist_is_refused(
    configurable: Connection, user: uuid.UUID, language: Any
) -> None:
    configurable.execute("savepoint before")
    for function, arguments in (("configure", {}), ("configure_user", {"p_user_id": user})):
        with refused("RC003", "language is "):
            call(configurable, function, **arguments, p_changes={"language": language})
        configurable.execute("rollback to savepoint before")
    call(configurable, "remember", p_user_id=user, p_content="Likes tea")


@pytest.mark.parametrize("language", ["english", "pg_catalog.german", '"simple"', "English"])
def test_language_is_a_text_search_configuration(
    configurable: Connection, user: uuid.UUID, language: str
) -> None:
    call(configurable, "configure_user", p_user_id=user, p_changes={"language": language})
    call(configurable, "configure", p_changes={"language": language})
    call(configurable, "remember", p_user_id=user, p_content="Likes tea")


@pytest.mark.parametrize(
    ("changes", "sqlstate", "words"),
    [
        ({"no_such": 1}, "RC003", "no_such"),
        ({"extraction": "magic"}, "RC003", 'extraction is "magic" (settings_extraction_check)'),
        ({"extraction": None}, "RC003", "extraction is null"),
        ({"embed_batch": "many", "embed_messages": True}, "RC003", ': embed_batch is "many" ('),
        ({"embed_batch": 1e100}, "RC003", "embed_batch is 1000"),
        ({"embed_batch": [1]}, "RC003", "embed_batch is [1]"),
        ({"embed_batch": 0}, "RC003", "embed_batch is 0 (settings_embed_batch_check)"),
        (
            {"secret_classes": ["token", "voice"], "embed_batch": 5},
            "RC003",
            ': secret_classes is ["token", "voice"] (',
        ),
        ({"session_ttl": "soon"}, "RC003", 'session_ttl is "soon"'),
        ({"session_ttl": "0"}, "RC003", "settings_session_ttl_check"),
        ({"session_ttl": "200000 years"}, "RC003", "settings_session_ttl_check"),
        ({"language": "klingon"}, "RC003", 'language is "klingon"'),
        ({"hybrid_lexical_weight": "NaN"}, "RC003", "settings_hybrid_weights_check"),
        (
            {"merge_batch": 3, "scoring": "classic"},
            "RC003",
            ": merge_batch is 3 (settings_merge_check)",
        ),
        (
            {"top_memories": 5, "scoring": "classic", "feedback_words": 2},
            "RC003",
            "p_changes names a setting that is a constant now: feedback_words, top_memories",
        ),
        ({"cache_stable_step": None}, "RC003", "is a constant now: cache_stable_step"),
        ({"embedding_dimensions": 3}, "RC007", "fixed"),
        ({"hash_partitions": 1, "extraction": "none"}, "RC007", "fixed"),
        ({"history_until": "2030-01-01"}, "RC007", "fixed"),
        ({"has_sealed_users": False}, "RC007", "fixed"),
        ({"has_overrides": False}, "RC007", "fixed"),
        ({"configured": []}, "RC007", "fixed"),
        ({"singleton": False}, "RC007", "fixed"),
    ],
)
def test_configure_refuses_and_changes_nothing(
    db: Connection, user: uuid.UUID, changes: dict[str, Any], sqlstate: str, words: str
) -> None:
    before = rows(db, "select * from recall.settings")
    with refused(sqlstate, words):
        call(db, "configure", p_changes=changes)
    if changes.get("extraction", "") is not None:  # a null takes an override back
        with refused(sqlstate, words):
            call(db, "configure_user", p_user_id=user, p_changes=changes)
    assert rows(db, "select * from recall.settings") == before
    assert rows(db, "select * from recall.users where user_id = %s", [user]) == []


def test_configure_names_the_constant_that_a_setting_became(db: Connection) -> None:
    with pytest.raises(psycopg.Error) as caught:
        call(db, "configure", p_changes={"split_facts": 9, "job_backoff_cap": "1 day"})
    assert caught.value.diag.message_hint == (
        "Leave it out: job_backoff_cap is 01:00:00 in recall._backoff,"
        " split_facts is 4 in recall._context_limits."
    )


def test_removed_settings_stand_in_functions_that_exist(db: Connection) -> None:
    assert rows(
        db,
        "select r.name from recall._removed_settings() as r"
        " where to_regproc('recall.' || r.place) is null or exists ("
        "    select from pg_attribute as a where a.attrelid = 'recall.settings'::regclass"
        "       and a.attname = r.name)",
    ) == []  # fmt: skip


@pytest.mark.parametrize("changes", [None, "null", "[]", "3"])
def test_configure_refuses_changes_that_are_no_object(
    db: Connection, user: uuid.UUID, changes: str | None
) -> None:
    with refused("RC003", "p_changes"):
        db.execute("select recall.configure(%s::jsonb)", [changes])
    with refused("RC003", "p_changes"):
        db.execute("select recall.configure_user(%s, %s::jsonb)", [user, changes])


def test_configure_user_changes_that_user_only(db: Connection, user: uuid.UUID) -> None:
    other = uuid.uuid4()
    before = rows(db, "select * from recall.settings")
    call(db, "configure_user", p_user_id=user,
         p_changes={"extraction": "none", "extract_after_turns": 3})  # fmt: skip

    def settings_of(who: uuid.UUID) -> tuple[str, int]:
        (row,) = rows(db, "select * from recall._settings(%s)", [who])
        return row["extraction"], row["extract_after_turns"]

    assert settings_of(user) == ("none", 3)
    assert settings_of(other) == ("llm", 10)
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": None})
    assert settings_of(user) == ("llm", 3)
    (after,) = rows(db, "select * from recall.settings")
    assert [after | {"has_overrides": before[0]["has_overrides"]}] == before, "only a trial"


def test_register_model_replaces_what_is_given(configurable: Connection, user: uuid.UUID) -> None:
    call(configurable, "register_model", p_model_id="mine", p_context_window_size=4000,
         p_tokenizer="o200k_base", p_input_price=10, p_output_price=20)  # fmt: skip
    session = open_session(configurable, user, p_model_id="mine")
    assert session_row(configurable, user, session)["context_window_size"] == 4000
    call(configurable, "register_model", p_model_id="mine", p_context_window_size=5000)
    (model,) = rows(configurable, "select * from recall.models where model_id = 'mine'")
    assert (model["context_window_size"], model["tokenizer"]) == (5000, "o200k_base")
    assert (model["input_price"], model["cached_input_price"], model["output_price"]) == (0, 0, 0)


@pytest.mark.parametrize(
    "values",
    [
        {"p_model_id": ""},
        {"p_model_id": None},
        {"p_context_window_size": 0},
        {"p_context_window_size": None},
        {"p_input_price": -1},
        {"p_cached_input_price": -1},
        {"p_output_price": None},
    ],
)
def test_register_model_refuses_malformed_values(db: Connection, values: dict[str, Any]) -> None:
    with refused("RC003", "model"):
        call(db, "register_model", **{"p_model_id": "m", "p_context_window_size": 1} | values)


def test_register_kind_adds_a_kind_with_a_lifetime(configurable: Connection) -> None:
    call(configurable, "register_kind", p_kind="recipe", p_description="What was cooked",
         p_lifetime=timedelta(days=7))  # fmt: skip
    call(configurable, "register_kind", p_kind="recipe", p_description="A dish",
         p_review_after=timedelta(days=30), p_is_behavioral=True)  # fmt: skip
    assert rows(configurable, "select * from recall.memory_kinds where kind = 'recipe'") == [
        {
            "kind": "recipe",
            "description": "A dish",
            "lifetime": None,
            "is_behavioral": True,
            "review_after": timedelta(days=30),
        }
    ]


@pytest.mark.parametrize(
    "values",
    [
        {"p_kind": "Upper"},
        {"p_kind": "with space"},
        {"p_kind": "x" * 64},
        {"p_kind": None},
        {"p_description": ""},
        {"p_description": None},
        {"p_lifetime": timedelta(0)},
        {"p_is_behavioral": None},
    ],
)
def test_register_kind_refuses_malformed_values(db: Connection, values: dict[str, Any]) -> None:
    with refused("RC003", "kind"):
        call(db, "register_kind", **{"p_kind": "k", "p_description": "d"} | values)


@pytest.mark.parametrize(
    "statement",
    [
        "insert into recall.users (user_id, created_at, is_sealed) values (%s, now(), true)",
        "update recall.users set is_sealed = true where user_id = %s",
    ],
)
def test_readable_texts_are_looked_for_from_the_first_sealed_user_on(
    db: Connection, user: uuid.UUID, statement: str
) -> None:
    """Whichever way the user came to be sealed: an import and a restored row, too."""
    with db.transaction(force_rollback=True):
        if statement.startswith("update"):
            call(db, "ensure_user", p_external_id=str(user))
        assert not value(db, "select has_sealed_users from recall.settings")
        db.execute(statement.encode(), [user])
        assert value(db, "select has_sealed_users from recall.settings")
        with refused("RC006", "accepts no plaintext"), db.transaction():
            open_session(db, user, p_title="Readable")
        open_session(db, uuid.uuid4(), p_title="Another user's")


@pytest.mark.parametrize(
    "statement",
    [
        (
            "insert into recall.users (user_id, created_at, overrides)"
            " values (%s, now(), '{\"embed_batch\": 5}')"
        ),
        "update recall.users set overrides = '{\"embed_batch\": 5}' where user_id = %s",
        "select from recall.configure_user(%s, '{\"embed_batch\": 5}')",
    ],
)
def test_overrides_are_looked_for_from_the_first_one_on(
    db: Connection, user: uuid.UUID, statement: str
) -> None:
    with db.transaction(force_rollback=True):
        db.execute("update recall.settings set has_overrides = false")
        if statement.startswith("update"):
            call(db, "ensure_user", p_external_id=str(user))
        db.execute(statement.encode(), [user])
        assert value(db, "select has_overrides from recall.settings")
        assert value(db, "select (recall._settings(%s)).embed_batch", [user]) == 5
        assert value(db, "select (recall._settings(%s)).embed_batch", [uuid.uuid4()]) != 5
