"""`pgrecall import` of files that other programs wrote; tests/cli/imports has samples."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pgrecall import AgentMemory
from pgrecall.cli._main import _run
from pgrecall.rows import Message

SAMPLES = Path(__file__).resolve().parent / "imports"
CHATGPT = SAMPLES / "chatgpt_conversations.json"
OPENAI = SAMPLES / "openai_messages.json"


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Import = Callable[..., Done]


@pytest.fixture
def import_(
    dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Import:
    """Run `pgrecall import` on the module's database."""
    monkeypatch.setenv("PGRECALL_DSN", dsn)

    def run(*arguments: object) -> Done:
        code = _run(["import", "--no-embedding", *map(str, arguments)])
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


@pytest.fixture
def memory(dsn: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        yield memory


@pytest.fixture
def who() -> str:
    return f"user {uuid.uuid4()}"


def stored(memory: AgentMemory, user: str, session: str | None = None) -> list[Message]:
    """The messages of a user's only session, or of the one of this title, oldest first."""
    sessions = memory.sessions.list(user)
    (found,) = [one for one in sessions if session is None or one.title == session]
    return memory.sessions.messages(user, found.session_id)[::-1]


def as_lines(messages: list[Any]) -> str:
    return "".join(f"{json.dumps(message)}\n" for message in messages)


def conversations() -> Any:
    return json.loads(CHATGPT.read_text(encoding="utf-8"))


# --- OpenAI messages


@pytest.mark.parametrize("form", ["a list", "lines", "a list on one line"])
def test_openai_messages_become_a_session_of_the_user(
    import_: Import, memory: AgentMemory, who: str, tmp_path: Path, form: str
) -> None:
    messages = json.loads(OPENAI.read_text(encoding="utf-8"))
    path = tmp_path / "Porto.json"
    path.write_text({
        "a list": OPENAI.read_text(encoding="utf-8"),
        "lines": as_lines(messages),
        "a list on one line": json.dumps(messages),
    }[form], encoding="utf-8")  # fmt: skip
    done = import_(path, "--user", who, "--json")
    assert done.json == {
        "messages": 6, "skipped": 0, "left_out": 0, "users": 1, "sessions": 1
    }  # fmt: skip
    found = stored(memory, who, "Porto")
    assert [one.role for one in found] == [one["role"] for one in messages]
    assert found[1].content_parts == messages[1]["content"]
    assert found[2].tool_calls == messages[2]["tool_calls"]
    assert found[3].tool_call_id == "call_9pLxD3"
    assert (found[5].content, found[5].name) == (messages[5]["content"], "ada")
    again = import_(path, "--user", who, "--json").json
    assert (again["messages"], again["skipped"]) == (0, 6)


def test_openai_messages_go_to_the_named_session(
    import_: Import, memory: AgentMemory, who: str
) -> None:
    assert import_(OPENAI, "--user", who, "--session", "Moving").code == 0
    assert len(stored(memory, who, "Moving")) == 6


def test_times_in_seconds_are_kept_and_never_run_backwards(
    import_: Import, memory: AgentMemory, who: str, tmp_path: Path
) -> None:
    times = [1717225200, 1717225200.25, 1717225100]
    path = tmp_path / "m.jsonl"
    path.write_text(as_lines([{"role": "user", "content": f"number {number}", "created_at": time}
                              for number, time in enumerate(times)]))  # fmt: skip
    assert import_(path, "--user", who).code == 0
    assert [one.created_at.timestamp() for one in stored(memory, who)] == [
        1717225200, 1717225200.25, 1717225200.25
    ]  # fmt: skip
    assert import_(path, "--user", who, "--json").json["skipped"] == 3


def test_messages_of_others_need_a_user(import_: Import) -> None:
    for path in (OPENAI, CHATGPT):
        done = import_(path)
        assert (done.code, "--user" in done.err) == (2, True), done


def test_user_option_does_not_contradict_the_file(
    import_: Import, who: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.jsonl"
    line = {"user": "somebody else", "session": "s", "role": "user", "content": "hello"}
    path.write_text(as_lines([line]))
    done = import_(path, "--user", who)
    assert (done.code, f'{path}:1: user is "somebody else"' in done.err) == (1, True), done
    path.write_text(as_lines([{**line, "user": None}, {**line, "user": who}]))
    assert import_(path, "--user", who).code == 1
    del line["user"]
    path.write_text(as_lines([line, line]))
    assert import_(path, "--user", who, "--json").json["messages"] == 2


# --- ChatGPT


def test_chatgpt_export_keeps_what_was_said_and_when(
    import_: Import, memory: AgentMemory, who: str
) -> None:
    done = import_(CHATGPT, "--user", who, "--json")
    assert done.json == {
        "messages": 6, "skipped": 0, "left_out": 8, "users": 1, "sessions": 2
    }  # fmt: skip
    found = stored(memory, who, "Weekend in Lisbon")
    assert [(one.role, one.content, one.model_id) for one in found] == [
        ("user", ("My sister Marta and I want to spend a weekend in Lisbon in May. "
                  "I do not eat meat."), None),
        ("assistant", "Two vegetarian places near Alfama: Ao 26 and The Food Temple.", "gpt-4o"),
        ("user", "[image]\nIs this the tram we should take?", None),
        ("assistant", "Yes, that is line 28.\nIt stops at Graça.", "gpt-4o"),
    ]  # fmt: skip
    assert [round(one.created_at.timestamp(), 6) for one in found] == [
        1717225200.491, 1717225200.491, 1717225388.75, 1717225391.9
    ]  # fmt: skip
    assert found[0].metadata["chatgpt_message_id"].startswith("aaa1b2c3")
    ids = {str(one.session_id) for one in memory.sessions.list(who)}
    assert ids == {one["conversation_id"] for one in conversations()[:2]}
    voice = stored(memory, who, "66d44a70-11aa-8003-8c70-5f0a2b9d1e02")
    assert [one.content for one in voice] == [
        "I started learning the cello.", "Lovely. Who teaches you?"
    ]  # fmt: skip


def test_chatgpt_export_imported_again_adds_only_what_is_new(
    import_: Import, memory: AgentMemory, who: str, tmp_path: Path
) -> None:
    import_(CHATGPT, "--user", who)
    again = import_(CHATGPT, "--user", who, "--json").json
    assert (again["messages"], again["skipped"]) == (0, 6)

    grown = conversations()
    last = grown[0]["current_node"]
    new = json.loads(json.dumps(grown[0]["mapping"][last]))
    new["id"] = new["message"]["id"] = grown[0]["current_node"] = "new"
    new["parent"] = last
    new["message"]["content"]["parts"] = ["Anything else?"]
    new["message"]["create_time"] += 60
    grown[0]["mapping"]["new"] = new
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(grown))
    again = import_(path, "--user", who, "--json").json
    assert (again["messages"], again["skipped"]) == (1, 6)
    assert stored(memory, who, "Weekend in Lisbon")[-1].content == "Anything else?"


def test_two_users_import_the_same_export(import_: Import, memory: AgentMemory, who: str) -> None:
    other = f"user {uuid.uuid4()}"
    for user in (who, other):
        assert import_(CHATGPT, "--user", user, "--json").json["messages"] == 6
        assert len(memory.sessions.list(user)) == 2


def test_one_chatgpt_conversation_in_a_file_of_its_own(
    import_: Import, who: str, tmp_path: Path
) -> None:
    path = tmp_path / "one.json"
    for indent in (None, 2):
        path.write_text(json.dumps(conversations()[1], indent=indent))
        found = import_(path, "--user", who, "--json").json
        assert found["messages"] + found["skipped"] == 2


def test_chatgpt_conversations_keep_their_own_sessions(import_: Import, who: str) -> None:
    done = import_(CHATGPT, "--user", who, "--session", "s")
    assert (done.code, "--session" in done.err) == (2, True)


def _no_parent(one: Any) -> None:
    one["mapping"][one["current_node"]]["parent"] = "nowhere"


def _circle(one: Any) -> None:
    one["mapping"]["client-created-root"]["parent"] = one["current_node"]


def _time(one: Any) -> None:
    one["mapping"][one["current_node"]]["message"]["create_time"] = 1e300


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda one: one.update(current_node=None), "current_node is missing"),
        (lambda one: one.update(current_node="nowhere"), "node nowhere is missing"),
        (lambda one: one.update(conversation_id=7), "conversation_id is 7"),
        (_no_parent, "node nowhere is missing"),
        (_circle, "is its own ancestor"),
        (_time, "created_at is 1e+300"),
    ],
)
def test_broken_chatgpt_conversation_is_named(
    import_: Import, memory: AgentMemory, who: str, tmp_path: Path,
    spoil: Callable[[Any], object], why: str,
) -> None:  # fmt: skip
    broken = conversations()
    spoil(broken[0])
    path = tmp_path / "conversations.json"
    path.write_text("[\n" + ",\n".join(map(json.dumps, [broken[2], broken[0]])) + "\n]")
    done = import_(path, "--user", who)
    assert (done.code, done.out) == (1, "")
    assert f"{path}:3: " in done.err
    assert why in done.err
    assert "Traceback" not in done.err
    assert sum(one.turn_count for one in memory.sessions.list(who)) == 0


# --- what is none of them


@pytest.mark.parametrize(
    "text",
    ["role,content\nuser,hello\n", '{"prompt": "hello"}\n', '{\n  "messages": []\n}\n', "[[1]]",
     '["hello"]', "<html>", "null"],
)  # fmt: skip
def test_unknown_format_names_those_that_are_known(
    import_: Import, who: str, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    done = import_(path, "--user", who)
    assert done.code == 1
    for known in (f"{path}:1: unknown format", "JSON lines", "OpenAI messages", "ChatGPT"):
        assert known in done.err


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('[{"role": "user", "content": "a"},\n {"role": "user" "content": "b"}]', 2, "not JSON"),
        ('[{"role": "user", "content": "a"}\n\n,\n {"role": "robot"}]', 4, 'role is "robot"'),
        ('[{"role": "user", "content": "a"},\n 5]', 2, "not a JSON object"),
        ('[{"role": "user", "content": "a"}\n {}]', 2, "not JSON"),
        ('[{"role": "user", "content": "a"}]\nmore', 2, "not JSON"),
        ('[{"role": "user", "content": "a"},\n', 1, "not JSON"),
        (('\n\n[\n{"role": "user", "content": "a"},\n{"role": "tool", "tool_call_id": "y",\n'
         '"content": "x"}]'), 5, "answers no earlier call"),
        ('{"role": "user", "content": "a"}\n{"role": "user"', 2, "not JSON"),
        ("[" * 100_000, 1, "not JSON"),
    ],
)  # fmt: skip
def test_bad_row_of_a_list_is_named_by_its_line(
    import_: Import, memory: AgentMemory, who: str, tmp_path: Path, text: str, line: int, why: str
) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    done = import_(path, "--user", who)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"pgrecall: {path}:{line}: "), done.err
    assert why in done.err
    assert sum(one.turn_count for one in memory.sessions.list(who)) == 0


def test_empty_files_hold_no_message(import_: Import, who: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    for text in ("", " \n", "[]", "[ ]\n"):
        path.write_text(text)
        assert import_(path, "--user", who, "--json").json["messages"] == 0


def test_import_says_what_to_run_next(import_: Import, who: str) -> None:
    done = import_(OPENAI, "--user", who, "--extraction", "llm")
    assert "6 messages stored" in done.out
    assert "pgrecall worker --until-idle --flush --model" in done.err
    done = import_(CHATGPT, "--user", who, "--extraction", "verbatim")
    assert "8 hidden, of tools or without text left out" in done.out
    assert "pgrecall worker --until-idle\n" in done.err
    assert f"pgrecall search 'a question' --user '{who}'" in done.err
