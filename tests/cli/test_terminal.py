"""Stored texts do not act on a terminal, whichever command prints them; erasures ask."""

from __future__ import annotations

import io
import json
import logging
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest
from psycopg import sql

from pgrecall import AgentMemory
from pgrecall._logs import logger
from pgrecall._plain import HIDDEN, escaped, escaped_json, escaped_line
from pgrecall.cli._main import _run, cli
from pgrecall.cli._output import log_to_stderr, note_warnings
from support import our_role

# Characters that move a cursor, reorder or hide text
ACTING = [
    *map(chr, [*range(1, 9), *range(11, 32), *range(0x7F, 0xA0)]),
    "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069",
    "\u200e", "\u200f", "\u061c", "\u2028", "\u2029", "\u200b", "\u200c", "\u200d", "\u2060",
    "\ufeff", "\u00ad", "\u034f", "\u180e", "\ufe01", "\U000e0001", "\U000e0041", "\U000e007f",
]  # fmt: skip
UNSTORABLE = ["\x00", "\ud83d", "\udc00"]
# Each of them stands before a Z, so that it is told from what a styled table contains.
POISON = "MARK\x1b]52;c;QQ==\x07\x1b[2J" + "".join(f"{one}Z" for one in ACTING) + "\nFAKE row\tcell"
SHORT = "MARK\x1bZ\x9bZ\u202eZ\u200bZ\U000e0041Z\nFAKE"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@dataclass
class Stored:
    user: str
    memory_id: uuid.UUID
    goal: uuid.UUID
    disputed: uuid.UUID
    call: uuid.UUID
    ended: uuid.UUID
    session: str


Run = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def local(dsn: str) -> str:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("update recall.settings set embedding_model = 'local'")
    return dsn


@pytest.fixture(params=["terminal", "pipe"])
def run(request: pytest.FixtureRequest, local: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command at a terminal or in a pipe; return its exit status and all that it printed."""
    monkeypatch.setenv("PGRECALL_DSN", local)
    stream = Terminal if request.param == "terminal" else io.StringIO

    def run(*arguments: object, stdin: str = "") -> tuple[int, str]:
        out, err = stream(), stream()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setattr(sys, "stdin", io.StringIO(stdin))
            code = _run([str(argument) for argument in arguments])
        return code, out.getvalue() + err.getvalue()

    return run


def leaves(group: click.Group = cli, *path: str) -> Iterator[tuple[str, ...]]:
    """Yield the names of every command."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from leaves(command, *path, name)
        else:
            yield (*path, name)


def store(memory: AgentMemory, db: psycopg.Connection[Any], user: str) -> Stored:
    """Store the text wherever a user or an application may put one."""
    with memory.session(
        user=user, model="gpt-4o-mini", session_id=f"{user} {SHORT}", title=POISON,
        system_prompt=POISON, extraction="none", metadata={SHORT: POISON},
    ) as chat:  # fmt: skip
        chat.append(
            [
                {"role": "user", "content": POISON, "name": "ada"},
                {"role": "assistant", "content": None, "tool_calls": [
                    {"id": "c", "type": "function",
                     "function": {"name": "tool", "arguments": json.dumps({SHORT: POISON})}}]},
                {"role": "tool", "tool_call_id": "c", "content": POISON},
                {"role": "assistant", "content": POISON},
            ]
        )  # fmt: skip
    kept = memory.remember(
        user, f"Ada likes tea {POISON}", slot="drink", tags=[SHORT], metadata={SHORT: POISON}
    )
    goal = memory.remember(user, f"Ada wants to sail {POISON}", kind="goal")
    doubt = memory.remember(
        user, f"Ada likes coffee {POISON}", slot="drink", provenance="system_inferred"
    )
    assert doubt.outcome == "disputed"
    ended = memory.remember(user, "Ada likes rain").memory_id
    memory.memories.retract(user, ended, reason=POISON)
    db.execute("update recall.memory_store set review_at = '2020-01-01' where memory_id = %s",
               [goal.memory_id])  # fmt: skip
    now = datetime.now(UTC)
    asked = {"id": "c", "type": "function", "function": {"name": SHORT, "arguments": POISON}}
    answer = {"role": "assistant", "content": POISON, "tool_calls": [asked]}
    call = memory.calls.record(
        user, model="gpt-4o-mini", provider=SHORT, error=POISON, is_stream=False,
        request={"messages": [{"role": "user", "content": POISON}]},
        response={"choices": [{"index": 0, "message": answer}]},
        started_at=now, completed_at=now, metadata={SHORT: POISON},
    )  # fmt: skip
    return Stored(
        user, kept.memory_id, goal.memory_id, doubt.memory_id, call, ended, f"{user} {SHORT}"
    )


# How each command is run: lists of arguments. {} are fields of Stored, and files.
U = ["--user", "{user}"]
PLANS: dict[tuple[str, ...], list[list[Any]]] = {
    ("install",): [[], ["--role-prefix", SHORT]],
    ("status",): [[]],
    ("doctor",): [[]],
    ("roles",): [[], ["--sql"]],
    ("metrics",): [[]],
    ("demo",): [["--dsn", f"host={SHORT}"]],
    ("chat",): [[*U, "--model", SHORT, "--base-url", "http://127.0.0.1:9/v1", "--no-learn",
                 "--show-memory", "--session", "{session}"]],
    ("import",): [["{file}"], ["--facts", "{file}"], [f"/nowhere/{SHORT}"]],
    ("import-user",): [["{file}"], [f"/nowhere/{SHORT}"]],
    ("export",): [U],
    ("forget",): [U, [*U, "--yes"], ["--user", f"nobody {SHORT}", "--yes"]],
    ("seal",): [U],
    ("rotate-key",): [U],
    ("verify",): [U, ["--user", f"nobody {SHORT}"]],
    ("search",): [["tea", *U], ["tea", "--explain", *U], ["sail row", "--messages", *U],
                  ["row", "--messages", "--explain", *U], ["row", "--sessions", *U],
                  ["x", "--user", f"nobody {SHORT}"]],
    ("memories", "list"): [U, [*U, "--all"]],
    ("memories", "review"): [U],
    ("memories", "disputes"): [U],
    ("memories", "resolve"): [["{disputed}", "--accept", *U]],
    ("memories", "add"): [[POISON, *U], ["x", *U, "--kind", SHORT]],
    ("memories", "edit"): [["{goal}", f"Ada sails {POISON}", *U]],
    ("memories", "retract"): [["{memory_id}", *U, "--reason", POISON], [SHORT, *U]],
    ("memories", "restore"): [["{memory_id}", *U]],
    ("memories", "validate"): [["{memory_id}", *U]],
    ("memories", "achieve"): [["{memory_id}", *U]],
    ("memories", "reinforce"): [["{memory_id}", "--useful", *U]],
    ("memories", "history"): [["{goal}", *U], ["{ended}", *U]],
    ("context",): [["tea", *U, "--session", "{session}"],
                   ["tea", *U, "--session", "{session}", "--explain"], ["tea", *U]],
    ("calls", "list"): [U],
    ("calls", "show"): [["{call}", *U]],
    ("calls", "replay"): [["{call}", *U]],
    ("worker",): [["--until-idle"], ["--until-idle", "--kinds", SHORT]],
    ("tick",): [[]],
    ("embeddings", "migrate"): [["--to", SHORT, "--estimate"], ["--to", SHORT, "--yes"]],
    ("embeddings", "status"): [[]],
    ("embeddings", "pause"): [[]],
    ("embeddings", "resume"): [[]],
    ("embeddings", "cancel"): [["--yes"]],
    ("shards", "init"): [["--shard", f"a{SHORT}"]],
    ("shards", "add"): [["a", SHORT]],
    ("shards", "move"): [[SHORT, "--to", SHORT]],
    ("shards", "status"): [[]],
    ("mcp",): [[*U, "--http", SHORT]],
    ("inspect",): [["--host", SHORT.replace("\n", "")]],
    ("bench",): [["--rounds", "1", "--memories", "1"]],
}  # fmt: skip
# These print stored text; what they are given otherwise stands in their errors.
MUST_SHOW = (
    {("memories", name) for name in ("list", "review", "disputes", "history", "add")}
    | {(name,) for name in ("search", "context", "export", "verify", "forget", "roles", "import")}
    | {("calls", name) for name in ("list", "show")}
)


def test_every_command_has_a_plan() -> None:
    assert set(leaves()) == set(PLANS)


def check(said: str, *, where: object) -> None:
    raw = {f"U+{ord(one):04X}" for one in ACTING if f"{one}Z" in said}
    assert not raw, where
    assert "\x1b]52" not in said, where
    assert "\x1b[2JZ" not in said, where
    assert not [line for line in said.splitlines() if line.startswith("FAKE")], where


def test_no_command_prints_what_acts_on_a_terminal(
    run: Run, db: psycopg.Connection[Any], dsn: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    file = tmp_path / f"{SHORT}.jsonl"
    file.write_text(json.dumps({"user": POISON, "role": POISON, "content": POISON}) + "\n")
    role = f"r{uuid.uuid4().hex[:8]} {SHORT}"
    db.execute(
        sql.SQL("create role {} in role {}").format(
            sql.Identifier(role), sql.Identifier(our_role(db, "recall_reader"))
        )
    )
    is_pipe = "pipe" in request.node.name
    try:
        with AgentMemory.connect(dsn, embedder=False) as memory:
            both = [store(memory, db, f"{n} {uuid.uuid4()} {SHORT}") for n in ("ada", "ben")]
        fields = [vars(one) for one in both]
        last = [("forget",)]
        for command in [*(c for c in PLANS if c not in last), *last]:
            printed = ""
            for plan in PLANS[command]:
                for one in fields if "{user}" in plan else fields[:1]:
                    given = [a.format(**one, file=file) if a.startswith("{") else a for a in plan]
                    _, said = run(*command, *given, stdin=POISON)
                    check(said, where=(command, plan))
                    if is_pipe:
                        found = HIDDEN.search(said.replace("\t", ""))
                        assert not found, (command, plan, found)
                    printed += said
            if command in MUST_SHOW:
                assert "MARK" in printed, command
    finally:
        db.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


def test_json_and_export_are_lossless(
    run: Run, db: psycopg.Connection[Any], dsn: str, tmp_path: Path
) -> None:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        stored = store(memory, db, f"ada {uuid.uuid4()} {SHORT}")
        [known] = [m for m in memory.memories.list(stored.user) if m.slot == "drink"]
    user = ["--user", stored.user]
    _, said = run("memories", "list", *user, "--json")
    assert not HIDDEN.search(said)
    assert known.content in [one["content"] for one in json.loads(said)]
    assert POISON in known.content
    for arguments in (
        ["search", "tea"], ["search", "row", "--messages"], ["search", "row", "--sessions"],
        ["context", "tea", "--explain"], ["calls", "list"], ["calls", "show", stored.call],
        ["memories", "history", stored.memory_id], ["memories", "disputes"], ["export"],
    ):  # fmt: skip
        _, said = run(*arguments, *user, *([] if arguments == ["export"] else ["--json"]))
        assert not HIDDEN.search(said), arguments
        json.loads(said[said.index("[" if said.startswith("[") else "{") :])
    file = tmp_path / "ada.json"
    run("export", *user, "--output", file)
    text = file.read_text("utf-8")
    assert not HIDDEN.search(text)
    assert POISON in [row["content"] for row in json.loads(text)["tables"]["conversation_history"]]


def test_roles_as_sql_are_refused_where_an_escape_would_change_a_name(
    run: Run, db: psycopg.Connection[Any]
) -> None:
    role = f"r{uuid.uuid4().hex[:8]} {SHORT}"
    create = sql.SQL("create role {} in role {}")
    db.execute(create.format(sql.Identifier(role), sql.Identifier(our_role(db, "recall_reader"))))
    try:
        code, said = run("roles", "--sql")
        assert code == 1
        assert "--json" in said
        _, said = run("roles", "--json")
        assert role in [name for one in json.loads(said) for name in one["members"]]
    finally:
        db.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))
    assert run("roles", "--sql")[0] == 0


def test_log_records_and_warnings_are_harmless(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    err = io.StringIO()
    monkeypatch.setattr(sys, "stderr", err)
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    log_to_stderr("%(message)s")
    try:
        raise ValueError(POISON)
    except ValueError as error:
        logging.getLogger("another.library").exception("it failed: %s", error)
        logger.warning("job %s (%d) failed: %s %r", POISON, 3, error, error)
    import warnings

    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    note_warnings()
    with warnings.catch_warnings():
        note_warnings()
        warnings.simplefilter("always")
        warnings.warn(POISON, stacklevel=1)
    check(err.getvalue(), where="log")
    assert not HIDDEN.search(err.getvalue())
    assert err.getvalue().count("MARK") >= 4


def test_records_of_the_package_are_harmless_in_any_handler(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger.warning("job %s (%d) failed: %s", POISON, 3, ValueError(POISON))
    [record] = caplog.records
    assert record.msg == "job %s (%d) failed: %s"
    assert not HIDDEN.search(record.getMessage())
    assert "\n" not in record.getMessage()


def test_debugging_prints_no_raw_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGRECALL_DEBUG", "1")
    code, said = run("metrics", "--dsn", f"host=/nowhere/{SHORT}")
    assert code == 1
    assert "Traceback" in said
    check(said, where="debug")


@pytest.mark.parametrize("one", [*ACTING, *UNSTORABLE, "\x1b"])
def test_escapes_name_the_character(one: str) -> None:
    for made in (escaped(f"a{one}b"), escaped_line(f"a{one}b")):
        assert made.isprintable()
        assert made.encode().decode("unicode_escape") == f"a{one}b"
    document = json.dumps({one: [one]}, ensure_ascii=False)
    assert escaped_json(document).isprintable()
    assert json.loads(escaped_json(document)) == {one: [one]}


def test_ordinary_texts_stay_as_they_are() -> None:
    for text in ("Grüße, Ada", "日本語", "I ❤️ tea ☕", "a\tb\nc", "שלום", "1️⃣", "back\\slash"):
        assert escaped(text) == text
    assert escaped_line("a\tb\nc\r\nd") == "a\\tb\\nc\\nd"


# Erasures

ERASING = {
    ("forget",): ["--user", "{user}"],
    ("embeddings", "cancel"): [],
    ("embeddings", "migrate"): ["--to", "a-model", "--dimensions", "8", "--no-wait"],
}
# These end nothing that cannot be restored, or erase only what they have made themselves.
KEEPING = {
    ("install",), ("status",), ("doctor",), ("roles",), ("metrics",), ("demo",), ("chat",),
    ("import",), ("import-user",), ("export",), ("seal",), ("rotate-key",), ("verify",),
    ("search",), ("context",), ("worker",), ("tick",), ("mcp",), ("inspect",), ("bench",),
    ("embeddings", "status"), ("embeddings", "pause"), ("embeddings", "resume"),
    *(("memories", name) for name in (
        "list", "add", "edit", "retract", "restore", "review", "validate", "achieve",
        "reinforce", "disputes", "resolve", "history")),
    *(("calls", name) for name in ("list", "show", "replay")),
    *(("shards", name) for name in ("init", "add", "move", "status")),
}  # fmt: skip


def test_every_command_is_known_to_erase_or_to_keep() -> None:
    assert set(leaves()) == ERASING.keys() | KEEPING
    for command in leaves():
        found: click.Command = cli
        for name in command:
            assert isinstance(found, click.Group)
            inner = found.get_command(click.Context(found), name)
            assert inner is not None
            found = inner
        has_yes = any("--yes" in option.opts for option in found.params)
        assert has_yes == (command in ERASING), command


@pytest.mark.parametrize("command", ERASING, ids=" ".join)
@pytest.mark.parametrize("as_json", [False, True])
def test_erasing_commands_refuse_without_a_terminal(
    command: tuple[str, ...], as_json: bool, run: Run, dsn: str, db: psycopg.Connection[Any]
) -> None:
    user = str(uuid.uuid4())
    with AgentMemory.connect(dsn, embedder=False) as memory:
        memory.remember(user, "Ada likes tea")
    given = [argument.format(user=user) for argument in ERASING[command]]
    if as_json and command != ("embeddings", "cancel"):
        given.append("--json")
    code, said = run(*command, *given, stdin="y\ny\n")
    assert code == 2, said
    assert "--yes" in said
    with AgentMemory.connect(dsn, embedder=False) as memory:
        assert len(memory.memories.list(user)) == 1
        assert memory.admin.embedding_migration() is None


@pytest.mark.parametrize(("answer", "erased"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_forget_asks_a_person(
    answer: str, erased: bool, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = f"{uuid.uuid4()} {SHORT}"
    with AgentMemory.connect(dsn, embedder=False) as memory:
        memory.users.ensure(user)
        memory.remember(user, "Ada likes tea")
        err = Terminal()
        monkeypatch.setattr(sys, "stdin", Terminal(answer))
        monkeypatch.setattr(sys, "stderr", err)
        code = _run(["forget", "--user", user, "--dsn", dsn])
        assert code == (0 if erased else 1)
        assert len(memory.memories.list(user)) == (0 if erased else 1)
    check(err.getvalue(), where="question")
    assert "MARK" in err.getvalue()


def test_forget_does_not_ask_where_nobody_sees_the_question(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = str(uuid.uuid4())
    with AgentMemory.connect(dsn, embedder=False) as memory:
        memory.remember(user, "Ada likes tea")
        monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        assert _run(["forget", "--user", user, "--dsn", dsn]) == 2
        assert len(memory.memories.list(user)) == 1
