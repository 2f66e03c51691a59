"""AgentMemory and ChatSession against a real server."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import pickle
import uuid
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import openai
import psycopg
import pytest
from openai.types.chat import ChatCompletion
from pgvector import HalfVector
from psycopg import errors as psycopg_errors
from psycopg.types.json import Jsonb

import pgrecall
from pgrecall import AgentMemory, AsyncAgentMemory, errors
from pgrecall._names import session_uuid
from pgrecall._sql import Call, to_halfvec
from pgrecall.rows import CompiledContext, LeftOut, Message
from support.completions import CALL, USAGE, chunk, completion
from support.fakes import MODEL, WordEmbedder
from support.servers import DIMENSIONS
from support.transcripts import assert_valid

EXTRACTION = "verbatim"
SAID = {"role": "user", "content": "x"}


# Names of users and sessions


ENTRIES: list[Callable[[AgentMemory, Any], Any]] = [
    lambda m, name: m.users.id(name),
    lambda m, name: m.users.ensure(name),
    lambda m, name: m.remember(name, "x"),
    lambda m, name: m.memories.list(name),
    lambda m, name: m.search(name, "x"),
    lambda m, name: m.session(user=name, model="m").open(),
    lambda m, name: m.session(user=name, session_id="s").open(),
    lambda m, name: m.session(user=name, model="m").append([SAID]),
    lambda m, name: m.memories.batch_import([{"user": name, "content": "x"}]),
    lambda m, name: m.privacy.export_user(name),
    lambda m, name: m.privacy.forget_user(name),
]
"""Calls that take the name of a user."""


@pytest.mark.parametrize("enter", ENTRIES)
def test_long_name_of_a_user_is_refused_by_each_call(
    memory: AgentMemory, enter: Callable[[AgentMemory, str], Any]
) -> None:
    """`session` stores it, and refused it alone; `remember` stores no name."""
    with pytest.raises(errors.InvalidInputError, match="has 1001 characters, more than 1000"):
        enter(memory, "x" * 1001)


@pytest.mark.parametrize("enter", ENTRIES)
@pytest.mark.parametrize("is_upper", [False, True])
def test_id_of_a_users_name_is_refused_as_a_name(
    memory: AgentMemory, enter: Callable[[AgentMemory, str], Any], is_upper: bool
) -> None:
    """Anybody can compute the id of ada, and sign up with it as a name of their own."""
    ada = f"ada {uuid.uuid4()}"
    memory.remember(ada, "Ada lives in Lyon.")
    user = memory.users.id(ada)
    name = str(user).upper() if is_upper else str(user)
    with pytest.raises(errors.InvalidInputError, match=f"{name} is a UUID of version 8") as caught:
        enter(memory, name)
    assert "pass it as a uuid" in str(caught.value.hint)
    assert [m.content for m in memory.memories.list(user)] == ["Ada lives in Lyon."]


def test_id_of_a_user_stays_an_id(memory: AgentMemory, db: psycopg.Connection) -> None:
    ada = f"ada {uuid.uuid4()}"
    user = memory.users.ensure(ada)
    nobody = memory.users.id(f"nobody {uuid.uuid4()}")
    for plan in ("free", "pro"):
        assert memory.users.ensure(user, metadata={"plan": plan}) == user
        assert memory.users.ensure(nobody, metadata={"plan": plan}) == nobody
    found = db.execute(
        "select external_id, metadata from recall.users where user_id = any (%s)"
        " order by external_id", [[user, nobody]]).fetchall()  # fmt: skip
    assert found == [(ada, {"plan": "pro"}), (None, {"plan": "pro"})]


def test_id_of_a_sessions_name_is_refused_as_a_name(memory: AgentMemory, user: uuid.UUID) -> None:
    chat = memory.session(user=user, model="m", session_id="diary")
    chat.append([SAID])
    name = str(chat.session_id)
    for spelling in (name, name.upper(), chat.session_id.hex, f"{{{name}}}", f"urn:uuid:{name}"):
        with pytest.raises(errors.InvalidInputError, match="a UUID of version 5") as caught:
            memory.session(user=user, model="m", session_id=spelling).open()
        assert caught.value.hint
    same = memory.session(user=user, model="m", session_id=chat.session_id)
    assert [one.content for one in same.messages()] == ["x"]
    theirs = str(uuid.uuid4())
    assert str(memory.session(user=user, model="m", session_id=theirs).open().session_id) == theirs


# Errors


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda m, user: m.search(user, "tea", limit=2**31), "out of range"),
        (lambda m, user: m.memories.get(user, "zz"), '"zz"'),
        (lambda m, user: m.search(user, "tea", as_of="some day"), '"some day"'),
        (lambda m, user: m.remember(user, "tea", provenance="bogus"), '"bogus"'),
        (lambda m, user: m.remember(user, "tea", importance="high"), '"high"'),
    ],
)
def test_a_value_of_another_type_is_named(
    memory: AgentMemory, user: uuid.UUID, wrong: Callable[[AgentMemory, uuid.UUID], Any], named: str
) -> None:
    with pytest.raises(errors.InvalidInputError, match=named) as error:
        wrong(memory, user)
    assert (error.value.sqlstate, bool(error.value.hint)) == ("RC003", True)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("RC001", errors.NotFoundError),
        ("RC002", errors.SessionNotActiveError),
        ("RC003", errors.InvalidInputError),
        ("RC004", errors.InvalidEmbeddingError),
        ("RC005", errors.CostLimitError),
        ("RC006", errors.NotAllowedError),
        ("RC007", errors.ConfigurationError),
        ("RC008", errors.RequestConflictError),
        ("RC009", errors.ContextOverflowError),
        ("RC010", errors.QuotaError),
    ],
)
def test_psycopg_raises_our_errors(
    db: psycopg.Connection, code: str, error: type[errors.PgRecallError]
) -> None:
    """A guard: psycopg finds classes by SQLSTATE, ours too, whoever runs the statement."""
    assert psycopg_errors.lookup(code) is error
    with pytest.raises(error) as caught:
        db.execute(
            "do $$begin raise exception using errcode = '"
            + code
            + "', message = 'what', hint = 'how'; end$$"
        )
    assert str(caught.value) == "what (how)"
    assert (caught.value.message, caught.value.hint) == ("what", "how")
    assert caught.value.sqlstate == code
    assert isinstance(caught.value, psycopg.DatabaseError)


def test_driver_raises_errors_of_its_own() -> None:
    error = errors.InvalidInputError("what", hint="how")
    assert (str(error), error.sqlstate) == ("what (how)", "RC003")
    assert str(errors.NotFoundError("what")) == "what"
    assert str(pickle.loads(pickle.dumps(errors.NotFoundError("what")))) == "what"


def test_missing_schema_error_names_the_install_command(empty_dsn: str) -> None:
    with (
        pytest.raises(errors.ConfigurationError, match="not installed") as caught,
        AgentMemory.connect(empty_dsn),
    ):
        pass
    assert "pgrecall install" in str(caught.value)


def test_open_raises_when_the_server_is_unreachable() -> None:
    with pytest.raises(psycopg.OperationalError, match=r"refused|does not exist|No such"):
        AgentMemory.connect("host=/nonexistent dbname=x connect_timeout=2").open()


# Calls as sent to the server


def test_every_call_names_an_existing_function_and_parameters(
    db: psycopg.Connection, memory: AgentMemory, user: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call of the driver is a public function, called with parameters that it has."""
    known: dict[str, set[str]] = dict(
        db.execute(
            "select proname, array_agg(a.name) from pg_proc, unnest(proargnames) as a(name)"
            " where pronamespace = 'recall'::regnamespace and a.name like 'p\\_%'"
            " group by proname"
        ).fetchall()
    )
    known |= {
        name: set()
        for name in (
            "calibrate_embeddings",
            "health",
            "metrics",
            "version",
            "waiting_jobs",
            "get_embedding_migration",
            "pause_embedding_migration",
            "resume_embedding_migration",
            "cancel_embedding_migration",
        )
    }
    made: dict[str, set[str]] = {}
    real = Call.of.__func__  # type: ignore[attr-defined]

    def record(cls: Any, function: str, **arguments: Any) -> Call:
        made.setdefault(function, set()).update(arguments)
        return real(cls, function, **arguments)  # type: ignore[no-any-return]

    monkeypatch.setattr(Call, "of", classmethod(record))
    anything: dict[str, Any] = {
        "user": user, "memory_id": uuid.uuid4(), "session_id": uuid.uuid4(), "query": "x",
        "content": "x", "useful": True, "accept": True, "memory_ids": [], "relevance": [],
        "candidates": [{"content": "x"}], "kind": "embed", "model": "m", "context_window_size": 10,
        "memories": [], "texts": [], "document": {}, "call_id": uuid.uuid4(), "events": [],
        "event_type": "mcp", "pieces": [{}],
    }  # fmt: skip
    skipped = {"close", "connect", "embedded", "from_environment", "joining", "worker", "session"}
    parts = [memory, memory.users, memory.sessions, memory.memories, memory.privacy, memory.admin,
             memory.encryption, memory.calls]  # fmt: skip
    for part in parts:
        for name in sorted(n for n in dir(part) if not n.startswith("_") and n not in skipped):
            method = getattr(part, name)
            if callable(method):
                call_with(method, anything)
    chat = memory.session(user=user, model="m")
    chat.open()
    anything |= {"query": "x", "from_turn": 1, "turn_index": 1, "patch": {}, "text": "x",
                 "task_id": "t", "key": "k", "value": 1,
                 "messages": [{"role": "user", "content": "x"}]}  # fmt: skip
    for name in sorted(n for n in dir(chat) if not n.startswith("_") and n != "send"):
        method = getattr(chat, name) if name not in ("info", "params") else None
        if callable(method):
            call_with(method, anything)
    for function, arguments in made.items():
        assert function in known, function
        if function == "ensure_user":
            arguments.discard("user_id")  # the user of the transaction, in the statement only
        assert {f"p_{name}" for name in arguments} <= set(known[function]), function
    assert len(made) > 40
    if (change := memory.admin.embedding_migration()) and change.state == "running":
        memory.admin.cancel_embedding_migration()
        memory.admin.advance_embedding_migration()


def call_with(method: Callable[..., Any], anything: dict[str, Any]) -> None:
    arguments = {}
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.default is parameter.empty:
            arguments[name] = anything[name]
    with contextlib.suppress(errors.PgRecallError, IndexError):
        answer = method(**arguments)
        if inspect.isgenerator(answer):
            next(answer)
            answer.close()


def test_omitted_arguments_keep_their_sql_defaults() -> None:
    call = Call.of("search", query="x", limit=pgrecall._sql.UNSET)
    assert call.text == b"select * from recall.search(p_query => %(query)s::text)"
    assert call.parameters == {"query": "x"}


def test_types_are_those_of_the_function() -> None:
    call = Call.of("record_model_call", user_id=uuid.uuid4(), request_id="req_1", request={"a": 1})
    assert b"p_request_id => %(request_id)s::text" in call.text
    assert isinstance(call.parameters["request"], Jsonb)
    call = Call.of("append_messages", request_id=uuid.uuid4())
    assert call.text.endswith(b"append_messages(p_request_id => %(request_id)s::uuid)")
    call = Call.of("compile_context", as_of=datetime.now(UTC))
    assert b"%(as_of)s::timestamp with time zone" in call.text


@pytest.mark.parametrize(
    ("function", "arguments"),
    [("search", {"words": "x"}), ("nothing", {}), ("_check_user", {"user_id": uuid.UUID(int=0)})],
)
def test_unknown_function_or_parameter_is_a_type_error(
    function: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(TypeError, match=f"recall.{function}"):
        Call.of(function, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metadata": {"a": float("nan")}}, "not JSON"),
        ({"metadata": {"a": object()}}, "no form in JSON"),
        ({"observed_at": datetime(2025, 1, 1)}, "without a time zone"),  # noqa: DTZ001
    ],
)
def test_values_that_postgresql_cannot_store_are_refused(
    memory: AgentMemory, user: uuid.UUID, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(errors.InvalidInputError, match=message):
        memory.remember(user, **{"content": "x", **arguments})
    assert memory.memories.list(user) == []


@pytest.mark.parametrize(
    "vector", [[float("nan")] * DIMENSIONS, [1e9] * DIMENSIONS, ["a"], 5, [float("inf")]]
)
def test_malformed_vectors_are_refused(vector: Any) -> None:
    with pytest.raises(errors.InvalidEmbeddingError):
        to_halfvec(vector)


def test_vectors_are_bound_in_binary(memory: AgentMemory, configured: str) -> None:
    """Not as a list of floats, which costs milliseconds."""
    call = Call.of("neighbors", user_id=uuid.uuid4(), embedding=[0.5] * DIMENSIONS)
    assert isinstance(call.parameters["embedding"], HalfVector)
    assert b"%(embedding)b" in call.text


def test_malformed_arguments_are_refused(memory: AgentMemory, chat: pgrecall.ChatSession) -> None:
    """Each is told in a sentence, and nothing is stored."""
    wrong: Any
    for wrong in ({}, {"user_id": None}):
        with pytest.raises(errors.InvalidInputError, match="user_id"):
            memory.privacy.import_user(wrong)
    wrong = "verbose"
    with pytest.raises(errors.InvalidInputError, match="extraction is verbose"):
        memory.session(user="ada", model="gpt-4o-mini", extraction=wrong)
    wrong = ["a text"]
    with pytest.raises(errors.InvalidInputError, match=r"candidates\[0\]"):
        memory.memories.ingest("ada", wrong)
    with pytest.raises(errors.InvalidInputError, match=r"memories\[0\]"):
        memory.memories.batch_import(wrong)
    for call in (chat.compile, chat.send):
        with pytest.raises(errors.InvalidInputError, match="content"):
            call(current_message=wrong) if call == chat.compile else call(wrong)
    for wrong in ({"prompt_tokens": "12"}, [12]):
        with pytest.raises(errors.InvalidInputError, match="usage: "):
            chat.append(user="hello", usage=wrong)
    assert chat.messages() == []


# Users and sessions


def test_user_id_of_a_name_is_that_of_the_database(
    memory: AgentMemory, db: psycopg.Connection
) -> None:
    name = f"auth0|{uuid.uuid4()}"
    [expected] = db.execute("select recall.user_id(%s)", (name,)).fetchone() or ()
    assert memory.users.id(name) == expected
    assert memory.users.id(expected) == expected
    memory.session(user=name, model="gpt-4o-mini").open()
    row = db.execute(
        "select external_id from recall.users where user_id = %s", (expected,)
    ).fetchone()
    assert row == (name,)
    with pytest.raises(errors.InvalidInputError):
        memory.users.id("")
    nobody: Any = None  # whoever has not logged in; no user of the name "None"
    for call in (
        lambda: memory.session(user=nobody, model="gpt-4o-mini").open(),
        lambda: memory.users.ensure(nobody),
        lambda: memory.remember(nobody, "x"),
        lambda: memory.memories.batch_import([{"content": "x"}], user=nobody),
    ):
        with pytest.raises(errors.InvalidInputError):
            call()
    assert memory.sessions.list("None") == []


def test_session_has_its_values_until_it_is_closed(memory: AgentMemory, user: uuid.UUID) -> None:
    chat = memory.session(
        user=user,
        model="gpt-4o-mini",
        system_prompt="You are a helpful assistant.",
        temperature=0.3,
        top_p=0.9,
        max_response_tokens=500,
        title="first",
        metadata={"a": 1},
        expires_in=timedelta(days=3),
        cost_limit_microcents=10**12,
    )
    with pytest.raises(errors.InvalidInputError, match="not open"):
        _ = chat.session_id
    with chat:
        assert chat.model == "gpt-4o-mini"
        assert chat.params == {
            "model": "gpt-4o-mini", "temperature": 0.3, "top_p": 0.9, "max_tokens": 500,
        }  # fmt: skip
        assert chat.info.system_prompt_tokens == 6  # counted, not estimated
        assert (chat.info.title, chat.info.metadata) == ("first", {"a": 1})
        assert chat.info.context_window_size == 128_000
    [listed] = memory.sessions.list(user)
    assert listed == chat.refresh()
    assert memory.sessions.get(user, chat.session_id) == listed
    assert memory.sessions.get(user, uuid.uuid4()) is None

    chat.update(title="second", temperature=1.0, system_prompt="Be brief.")
    assert chat.info.title == "second"
    assert chat.params["temperature"] == 1.0
    assert chat.info.system_prompt_tokens == 3

    chat.pause()
    with pytest.raises(errors.SessionNotActiveError, match="paused"):
        chat.append(user="hello")
    chat.resume()
    chat.append(user="hello")
    chat.close()
    assert chat.refresh().status == "closed"
    with pytest.raises(errors.SessionNotActiveError):
        chat.append(user="hello")


def test_session_with_the_same_id_continues(memory: AgentMemory, user: uuid.UUID) -> None:
    first = memory.session(user=user, model="gpt-4o-mini", session_id="2024-03-01")
    first.append(user="hello")
    assert first.session_id == session_uuid(user, "2024-03-01")
    assert first.info.title == "2024-03-01"
    again = memory.session(user=user, session_id="2024-03-01")
    assert again.open().turn_count == 1
    assert memory.session(user=user, session_id=first.session_id).open() == again.info
    other = memory.session(user=uuid.uuid4(), model="gpt-4o-mini", session_id="2024-03-01")
    assert other.open().session_id != first.session_id

    with pytest.raises(errors.NotFoundError, match="no session nowhere"):
        memory.session(user=user, session_id="nowhere").open()
    with pytest.raises(errors.InvalidInputError, match="needs a model"):
        memory.session(user=user).open()
    with pytest.raises(errors.NotFoundError):
        memory.session(user=user, model="m", parent_session_id=uuid.uuid4()).open()


def test_reading_a_session_makes_nobody_known(memory: AgentMemory, db: psycopg.Connection) -> None:
    with pytest.raises(errors.NotFoundError):
        memory.session(user="a stranger", session_id="x").open()
    assert memory.sessions.list("a stranger") == []
    found = db.execute(
        "select count(*) from recall.users where external_id = 'a stranger'"
    ).fetchone()
    assert found == (0,)


# Turns


def test_append_stores_question_and_reply_with_their_counts(chat: pgrecall.ChatSession) -> None:
    appended = chat.append(user="Which editor do I use?", reply=completion())
    assert [(a.turn_index, a.inserted) for a in appended] == [(1, True), (2, True)]
    reply, question = chat.messages()
    assert (question.role, question.content, question.token_count) == (
        "user", "Which editor do I use?", 6,
    )  # fmt: skip
    assert not question.tokens_estimated
    assert (reply.model_id, reply.finish_reason) == ("gpt-4o-mini", "stop")
    assert (reply.prompt_tokens, reply.completion_tokens) == (20, 5)
    # 12 fresh and 8 cached prompt tokens, 5 of the answer, at the prices of gpt-4o-mini
    assert reply.cost_microcents == round((12 * 15_000_000 + 8 * 7_500_000 + 5 * 60_000_000) / 1e6)
    session = chat.refresh()
    assert (session.turn_count, session.total_prompt_tokens) == (2, 20)
    assert question.to_openai() == {"role": "user", "content": "Which editor do I use?"}


def test_append_stores_a_whole_tool_loop(chat: pgrecall.ChatSession) -> None:
    asks = completion(message={"content": None, "tool_calls": [CALL]})
    chat.append(
        [
            {"role": "user", "content": "look"},
            asks,
            {"role": "tool", "tool_call_id": "call_1", "content": "2"},
            completion(),
        ]
    )
    messages = list(reversed(chat.messages()))
    assert [m.to_openai() for m in messages] == [
        {"role": "user", "content": "look"},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "2"},
        {"role": "assistant", "content": "Vim."},
    ]
    assert chat.refresh().total_prompt_tokens == 40


def test_messages_in_the_form_of_the_api_have_no_items(chat: pgrecall.ChatSession) -> None:
    item = {"type": "item", "item": {"type": "reasoning", "id": "rs_1", "summary": []}}
    text = {"type": "text", "text": "Vim."}
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    chat.append(
        [
            {"role": "user", "content": [text, image, item]},
            {"role": "assistant", "content": [item], "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": [item]},
            {"role": "assistant", "content": [item, text]},
            {"role": "assistant", "content": [item]},
        ]
    )
    messages = list(reversed(chat.messages()))
    assert [len(m.content_parts or ()) for m in messages] == [3, 1, 1, 2, 1]
    plain = [m.to_openai() for m in messages]
    assert plain == [
        {"role": "user", "content": [text, image]},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": ""},
        {"role": "assistant", "content": [text]},
        {"role": "assistant", "content": ""},
    ]
    assert_valid(plain)


def test_append_stores_a_stream_as_one_reply(chat: pgrecall.ChatSession) -> None:
    stream = (
        chunk(delta, **fields)
        for delta, fields in [
            ({"role": "assistant", "content": "Vi"}, {}),
            ({"content": "m."}, {"finish_reason": "stop"}),
            (None, {"usage": USAGE}),
        ]
    )
    chat.append(user="Which editor?", reply=stream)
    reply = chat.messages(limit=1)[0]
    assert (reply.content, reply.prompt_tokens, reply.finish_reason) == ("Vim.", 20, "stop")


def test_append_stores_parts_and_unknown_fields(chat: pgrecall.ChatSession) -> None:
    parts = [{"type": "text", "text": "Grüße 👋"}]
    chat.append([{"role": "user", "content": parts, "metadata": {"k": 1}, "mood": "good"}])
    [message] = chat.messages()
    assert (message.content, message.content_parts) == (None, parts)
    assert message.metadata == {"k": 1, "extra": {"mood": "good"}}


def test_unknown_tokenizer_is_estimated(memory: AgentMemory, user: uuid.UUID) -> None:
    chat = memory.session(user=user, model="some-model", system_prompt="Hi")
    chat.append(user="hello world")
    assert chat.messages()[0].tokens_estimated
    assert chat.info.metadata == {"context_window_assumed": True}


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([{"role": "user", "content": "ok"}, {"role": "robot", "content": "x"}], r"messages\[1\]"),
        ([{"role": "tool", "tool_call_id": "nowhere", "content": "x"}], "answers no earlier call"),
        ([{"role": "user", "content": 5}], "content is number"),
        ([{"role": "user", "content": "x", "token_count": -1}], "token_count is -1"),
    ],
)
def test_refused_messages_leave_nothing(
    chat: pgrecall.ChatSession, messages: list[Any], message: str
) -> None:
    with pytest.raises(errors.InvalidInputError, match=message):
        chat.append(messages)
    assert chat.messages() == []


def test_append_with_same_request_id_stores_once(chat: pgrecall.ChatSession) -> None:
    request_id = uuid.uuid4()
    first = chat.append(user="once", request_id=request_id)
    again = chat.append(user="once", request_id=request_id)
    assert [a.inserted for a in again] == [False]
    assert again[0].message_id == first[0].message_id
    with pytest.raises(errors.RequestConflictError):
        chat.append(user="another", request_id=request_id)
    assert chat.refresh().turn_count == 1


def test_retract_hides_turns_and_annotate_adds_metadata(chat: pgrecall.ChatSession) -> None:
    chat.append(user="one", reply="two")
    chat.append(user="three", reply="four")
    chat.annotate(1, {"liked": True})
    assert chat.retract(3) == 2
    assert [(m.content, m.metadata) for m in chat.messages()] == [
        ("two", {}), ("one", {"liked": True}),
    ]  # fmt: skip


def test_messages_are_read_page_by_page(chat: pgrecall.ChatSession) -> None:
    chat.append([{"role": "user", "content": str(number)} for number in range(25)])
    pages: list[Message] = []
    before = 26
    while page := chat.messages(limit=10, before_turn=before):
        pages += page
        before = page[-1].turn_index
    assert [m.content for m in pages] == [str(number) for number in reversed(range(25))]


def test_append_stores_a_long_message_and_many_messages(chat: pgrecall.ChatSession) -> None:
    chat.append(user="long " * 200_000)
    for start in range(0, 10_000, 500):
        chat.append([{"role": "user", "content": f"m{start + i}"} for i in range(500)])
    session = chat.refresh()
    assert session.turn_count == 10_001
    assert len(chat.messages(limit=1, before_turn=2)[0].content or "") == 1_000_000


# Memories


def test_search_finds_a_remembered_memory_with_its_fields(
    memory: AgentMemory, user: uuid.UUID, embedder: WordEmbedder, db: psycopg.Connection
) -> None:
    added = memory.remember(
        user,
        "Ada uses Vim as her editor.",
        kind="preference",
        tags=["tools", "editor"],
        importance=0.8,
        observed_at=datetime(2025, 3, 1, tzinfo=UTC),
        metadata={"from": "test"},
    )
    assert added.outcome == "added"
    memory.remember(user, "Ada lives in Lyon.", kind="personal", slot="home_city")
    assert memory.remember(user, "ada uses VIM as her editor").outcome == "duplicate"
    assert embedder.texts.count("Ada uses Vim as her editor.") == 1

    best = memory.search(user, "Which editor does Ada use?")[0]
    assert (best.memory_id, best.kind, best.tags) == (
        added.memory_id, "preference", ["tools", "editor"],
    )  # fmt: skip
    assert best.similarity is not None
    assert 0 < best.similarity < 1
    assert 0 <= best.relevance <= 1
    assert best.match is not None
    assert 0.5 < best.match <= 1
    beside = memory.search(user, "Which editor does Ada use?")[1]
    assert beside.match is not None
    assert beside.match < best.match
    assert memory.search(user, "quarks", filter={"min_match": 0.2}) == []
    assert len(memory.search(user, "Ada", limit=1)) == 1
    assert len(memory.search(user)) == 2
    assert memory.search(user, "Ada", filter={"kinds": ["goal"]}) == []
    lexical = memory.search(user, "editor", embedding=None)[0]
    assert (lexical.memory_id, lexical.similarity) == (added.memory_id, None)

    one = memory.memories.get(user, added.memory_id)
    assert one is not None
    assert one.importance == pytest.approx(0.8)
    assert one.metadata == {"from": "test"}
    assert one.observed_at == datetime(2025, 3, 1, tzinfo=UTC)
    assert memory.memories.get(user, uuid.uuid4()) is None
    assert memory.memories.get(uuid.uuid4(), added.memory_id) is None
    assert {m.content for m in memory.memories.list(user)} == {
        "Ada uses Vim as her editor.", "Ada lives in Lyon.",
    }  # fmt: skip
    assert memory.memories.profile(user)["home_city"]["content"] == "Ada lives in Lyon."


def test_remember_with_a_slot_supersedes_and_restore_reverts(
    memory: AgentMemory, user: uuid.UUID
) -> None:
    lyon = memory.remember(user, "Ada lives in Lyon.", kind="personal", slot="home_city")
    porto = memory.remember(user, "Ada lives in Porto.", kind="personal", slot="home_city")
    assert porto.outcome == "superseded"
    assert [m.content for m in memory.memories.list(user)] == ["Ada lives in Porto."]
    assert [m.content for m in memory.memories.chain(user, porto.memory_id)] == [
        "Ada lives in Lyon.", "Ada lives in Porto.",
    ]  # fmt: skip
    old = memory.memories.get(user, lyon.memory_id)
    assert old is not None
    assert (old.is_active, old.end_reason, old.superseded_by) == (
        False, "superseded", porto.memory_id,
    )  # fmt: skip

    edited = memory.memories.edit(user, porto.memory_id, "Ada lives in Porto, by the river.")
    assert [m.memory_id for m in memory.memories.list(user)] == [edited]
    assert memory.memories.retract(user, edited, reason="she moved")
    assert not memory.memories.retract(user, edited)
    assert memory.memories.list(user) == []
    back = memory.memories.restore(user, edited)
    assert [m.memory_id for m in memory.memories.list(user)] == [back]
    events = memory.memories.history(user, edited)
    assert "retracted" in [event.event for event in events]
    with pytest.raises(errors.NotFoundError):
        memory.memories.retract(user, uuid.uuid4())


def test_edit_embeds_the_new_text(
    memory: AgentMemory, user: uuid.UUID, embedder: WordEmbedder
) -> None:
    added = memory.remember(user, "Ada plays the cello.")
    memory.memories.edit(user, added.memory_id, "Ada plays the oboe.")
    [hit] = memory.search(user, "oboe")
    assert hit.similarity is not None


def test_ingest_stores_a_batch(memory: AgentMemory, user: uuid.UUID) -> None:
    outcomes = memory.memories.ingest(
        user,
        [{"content": "Ada plays the cello.", "tags": ["music"]}, {"content": "Ada ran 10 km."}],
    )
    assert [o.outcome for o in outcomes] == ["added", "added"]
    others = [f"somebody {uuid.uuid4()}" for _ in range(3)]
    facts = [{"user": other, "content": f"Fact {n}."} for n in range(400) for other in others]
    assert memory.memories.batch_import(iter(facts)) == {"added": 1200}
    assert memory.memories.batch_import(facts[:30]) == {"duplicate": 30}
    assert memory.memories.batch_import([{"content": "Ada ran 10 km."}], user=user) == {
        "duplicate": 1
    }
    with pytest.raises(errors.InvalidInputError, match=r"memories\[0\] names no user"):
        memory.memories.batch_import([{"content": "x"}])
    with pytest.raises(errors.InvalidInputError, match="importance"):
        memory.memories.ingest(user, [{"content": "ok then"}, {"content": "x", "importance": 7}])
    assert len(memory.memories.list(user)) == 2


def test_search_messages_finds_only_the_users_own(
    memory: AgentMemory, chat: pgrecall.ChatSession
) -> None:
    chat.append(user="I set up pyright with coc.nvim last night", reply="Good choice.")
    memory.worker().run_until_idle()
    hit = memory.sessions.search_messages(chat.user_id, "pyright")[0]
    assert (hit.turn_index, hit.role, hit.session_id) == (1, "user", chat.session_id)
    assert hit.content == "I set up pyright with coc.nvim last night"
    assert memory.sessions.search_messages(uuid.uuid4(), "pyright") == []


# Contexts


def test_context_has_memories_question_and_budget(
    memory: AgentMemory, chat: pgrecall.ChatSession, db: psycopg.Connection
) -> None:
    added = memory.remember(chat.open() and chat.user_id, "Ada uses Vim as her editor.")
    chat.append(user="Hello", reply="Hi, Ada.")
    messages = chat.context("Which editor do I use?")
    assert messages[0]["role"] == "system"
    assert messages[-1] == {"role": "user", "content": "Which editor do I use?"}
    assert "Vim" in json.dumps(messages)
    compiled = chat.last_context
    assert compiled is not None
    assert [m.memory_id for m in compiled.memories] == [added.memory_id]
    assert compiled.budget["total"] <= compiled.budget["window"]
    assert compiled.messages == messages
    assert compiled.prefix_hash

    memory._core.background.drain()
    row = db.execute(
        "select count(*) from recall.memory_access_log where user_id = %s", (chat.user_id,)
    ).fetchone()
    assert row == (1,)

    # to steer only; another message; none at all
    assert chat.context("Which editor?", current_message=None)[-1]["role"] == "assistant"
    assert chat.context("editor", current_message="What now?")[-1]["content"] == "What now?"
    assert chat.context()[-1]["role"] == "assistant"
    [row_] = chat.explain("Which editor do I use?")
    assert (row_.memory_id, row_.taken) == (added.memory_id, True)
    with pytest.raises(errors.InvalidInputError, match="no_such_option"):
        chat.context("x", no_such_option=1)


def test_context_of_a_later_release_is_read() -> None:
    """Keys that this driver does not know are left out, and missing ones have their defaults."""
    turns = {"from_turn": 1, "to_turn": 2, "reason": "budget"}
    unanswered = {**turns, "reason": "unanswered", "tool_call_ids": ["c1"], "mood": "calm"}
    memory = {"id": str(uuid.uuid4()), "mood": "calm"}
    raw = {"messages": [], "left_out": [turns, unanswered], "memories": [memory], "mood": "calm"}
    compiled = CompiledContext.from_json(raw)
    assert compiled.left_out == (
        LeftOut(from_turn=1, to_turn=2, reason="budget"),
        LeftOut(from_turn=1, to_turn=2, reason="unanswered", tool_call_ids=("c1",)),
    )
    assert [str(one.memory_id) for one in compiled.memories] == [memory["id"]]


def test_context_counts_tools_exactly(chat: pgrecall.ChatSession) -> None:
    tool: Any = {"type": "function", "function": {"name": "look_up", "parameters": {}}}
    assert chat.compile("x").budget["tools"] == 0
    assert chat.compile("x", tools=[tool]).budget["tools"] == 18


def test_context_that_exceeds_its_window_raises(memory: AgentMemory, user: uuid.UUID) -> None:
    chat = memory.session(
        user=user, model="gpt-4o-mini", context_window_size=100, max_response_tokens=50
    )
    with pytest.raises(errors.ContextOverflowError, match="100"):
        chat.context("word " * 200)


def test_context_raises_after_the_cost_limit(memory: AgentMemory, user: uuid.UUID) -> None:
    chat = memory.session(user=user, model="gpt-4o-mini", cost_limit_microcents=1)
    chat.append(user="a", reply="b", usage={"cost_microcents": 5})
    with pytest.raises(errors.CostLimitError):
        chat.context("c")


def test_failed_recording_of_accesses_raises_nothing(
    chat: pgrecall.ChatSession,
    memory: AgentMemory,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    chat.open()
    memory.remember(chat.user_id, "Ada uses Vim.")

    def fail(*arguments: Any, **more: Any) -> None:
        raise psycopg.OperationalError("the primary is away")

    monkeypatch.setattr(memory.memories, "record_access", fail)
    assert chat.context("Vim")
    memory._core.background.drain()
    assert "the primary is away" in caplog.text


def test_one_context_in_ten_is_measured(
    chat: pgrecall.ChatSession, memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the figure goes with the access, when not all memories fitted."""
    chat.open()
    for number in range(30):
        memory.remember(chat.user_id, f"Ada uses Vim for number {number}, and likes it.")
    seen: list[float | None] = []
    record = memory.memories.record_access

    def note(*arguments: Any, **more: Any) -> int:
        seen.append(more["efficiency"] if isinstance(more["efficiency"], int | float) else None)
        return record(*arguments, **more)

    monkeypatch.setattr(memory.memories, "record_access", note)
    for _ in range(11):
        chat.context("Vim", memory_budget=200)
        memory._core.background.drain()
    assert [place for place, one in enumerate(seen) if one is not None] == [0, 10]
    assert all(0.5 < one <= 1 for one in seen if one is not None)
    names = {metric.name for metric in memory.admin.metrics()}
    assert "pgrecall_context_efficiency_median_last_day" in names


class FakeClient:
    """As much of an OpenAI client as `send` uses."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.chat = self
        self.completions = self

    def create(self, **request: Any) -> ChatCompletion:
        self.requests.append(request)
        return completion()


def test_send_stores_question_and_reply(configured: str, user: uuid.UUID) -> None:
    client: Any = FakeClient()
    with AgentMemory.connect(configured, embedder=False, llm=client) as memory:
        chat = memory.session(user=user, model="gpt-4o-mini")
        assert chat.send("Which editor?", seed=1).choices[0].message.content == "Vim."
        [request] = client.requests
        assert request["messages"][-1] == {"role": "user", "content": "Which editor?"}
        assert (request["model"], request["seed"]) == ("gpt-4o-mini", 1)
        assert [m.content for m in chat.messages()] == ["Vim.", "Which editor?"]
        assert chat.messages()[0].latency_ms is not None


def test_working_memory_is_put_read_and_cleared_by_task(chat: pgrecall.ChatSession) -> None:
    chat.put_working("task", "plan", {"steps": [1, 2]}, ttl=timedelta(minutes=5))
    chat.put_working("task", "note", "x")
    assert chat.get_working("task", "plan") == {"steps": [1, 2]}
    assert chat.get_working("task") == {"plan": {"steps": [1, 2]}, "note": "x"}
    assert chat.get_working("other", "plan") is None
    assert chat.clear_working("task") == 2


# Settings


def test_configure_refuses_unknown_settings(memory: AgentMemory, user: uuid.UUID) -> None:
    memory.admin.configure(default_context_window=9000)
    with pytest.raises(errors.InvalidInputError, match="no_such"):
        memory.admin.configure(no_such=1)
    with pytest.raises(errors.InvalidInputError):
        memory.admin.configure(default_context_window=-1)
    with pytest.raises(errors.ConfigurationError):
        memory.admin.configure(embedding_dimensions=5)
    memory.admin.configure_user(user, default_context_window=7000)
    chat = memory.session(user=user, model="no-such-model")
    assert chat.open().context_window_size == 7000
    memory.admin.register_model("mine", context_window_size=5000, input_price=1, output_price=2)
    assert memory.session(user=user, model="mine").open().context_window_size == 5000
    assert {check.status for check in memory.admin.health()} <= {"ok", "warn"}
    assert memory.admin.version() == pgrecall.__version__


def test_embedder_of_another_model_or_length_is_refused(configured: str) -> None:
    for embedder, error in (
        (WordEmbedder(model="another"), errors.ConfigurationError),
        (WordEmbedder(dimensions=4), errors.InvalidEmbeddingError),
    ):
        with pytest.raises(error), AgentMemory.connect(configured, embedder=embedder):
            pass


def test_search_by_meaning_without_a_key_says_what_to_set(
    empty_dsn: str, server: Any, dsn: str, monkeypatch: pytest.MonkeyPatch, user: uuid.UUID
) -> None:
    """Without a key a search by meaning says what to do; by words it works."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("update recall.settings set embedding_model = 'openai:text-embedding-3-small'")
        try:
            with AgentMemory.connect(dsn) as memory:
                with pytest.raises(errors.ConfigurationError, match="needs a key"):
                    memory.search(user, "x")
                assert memory.search(user, "x", embedding=None) == []
            with AgentMemory.connect(dsn, embedder=False) as memory:
                assert memory.search(user, "x") == []
            monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")  # wants no key
            with (
                AgentMemory.connect(dsn) as memory,
                pytest.raises(openai.APIConnectionError),
            ):
                memory.search(user, "x")
            monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
            with AgentMemory.connect(dsn) as memory:
                embedder = memory.memories.embedder()
                assert embedder is not None
                assert embedder.dimensions == DIMENSIONS
        finally:
            conn.execute("update recall.settings set embedding_model = %s", [MODEL])


# The asynchronous client


def test_asynchronous_client_does_what_the_blocking_one_does(
    configured: str, user: uuid.UUID
) -> None:
    async def stream() -> AsyncIterator[Any]:
        yield chunk({"role": "assistant", "content": "Vi"})
        yield chunk({"content": "m."}, finish_reason="stop")
        yield chunk(None, usage=USAGE)

    async def run() -> None:
        async with AsyncAgentMemory.connect(configured, embedder=WordEmbedder()) as memory:
            async with memory.session(user=user, model="gpt-4o-mini") as chat:
                await chat.append(user="I use Vim for everything I write", reply=stream())
                messages = await chat.messages()
                assert [m.content for m in messages] == ["Vim.", "I use Vim for everything I write"]
                assert messages[0].prompt_tokens == 20
            report = await memory.worker().run_until_idle()
            assert set(report.done) == {"extract", "embed"}
            assert "Vim" in json.dumps(await chat.context("Which editor?"))
            hits = await asyncio.gather(*(memory.search(user, "Vim") for _ in range(20)))
            assert {hit.content for [hit] in hits} == {"I use Vim for everything I write"}
            with pytest.raises(errors.NotFoundError):
                await memory.sessions.messages(user, uuid.uuid4())
            await memory._core.background.drain()

    asyncio.run(run())


@pytest.mark.parametrize("keyword", ["foo", "model_id", "system_prompt_tokens"])
def test_session_refuses_an_unknown_keyword(memory: AgentMemory, keyword: str) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{keyword}'"):
        memory.session(user="ada", **{keyword: 3})  # type: ignore[arg-type]
