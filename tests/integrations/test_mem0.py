"""mem0's API: its signatures, its README, and the shape of its results."""

from __future__ import annotations

import ast
import asyncio
import builtins
import inspect
import re
import subprocess
import sys
import tarfile
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import psycopg
import pytest

from pgrecall import AgentMemory
from pgrecall.integrations import mem0
from pgrecall.integrations.mem0 import AsyncMemory, Config, Memory
from support.scripted_model import Script, fact, model
from support.scripted_openai import Request, ScriptedOpenAI
from support.sealed import KEYS, connected

VERSION = "2.2.0"
ROOT = Path(__file__).resolve().parents[2]
RESULT_KEYS = {"id", "memory", "hash", "metadata", "score", "created_at", "updated_at"}


@pytest.fixture
def m(memory: AgentMemory, openai: ScriptedOpenAI) -> Memory:
    return Memory(Config(client=memory, llm=model(openai)))


@pytest.fixture
def ada() -> str:
    return f"ada-{uuid.uuid4()}"


@pytest.fixture(scope="session")
def source() -> Iterator[tarfile.TarFile]:
    """The source distribution of mem0ai, which nothing installs."""
    folder = ROOT / ".cache" / "mem0ai"
    archive = folder / f"mem0ai-{VERSION}.tar.gz"
    if not archive.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary",
                   ":all:", "--dest", str(folder), f"mem0ai=={VERSION}"]  # fmt: skip
        if subprocess.run(command, check=False).returncode:
            pytest.skip("mem0ai cannot be downloaded")
    with tarfile.open(archive) as opened:
        yield opened


def member(source: tarfile.TarFile, path: str) -> str:
    file = source.extractfile(f"mem0ai-{VERSION}/{path}")
    assert file is not None
    return file.read().decode()


def memories(found: dict[str, Any]) -> set[str]:
    return {item["memory"] for item in found["results"]}


def add(m: Memory, text: str, **more: Any) -> str:
    """Remember a text as it stands; return its id."""
    [result] = m.add(text, infer=False, **more)["results"]
    assert result["event"] == "ADD"
    found: str = result["id"]
    return found


# Signatures and README


@pytest.mark.slow
def test_methods_have_the_signatures_of_mem0(source: tarfile.TarFile) -> None:
    tree = ast.parse(member(source, "mem0/memory/main.py"))
    compared = 0
    for theirs in tree.body:
        if not isinstance(theirs, ast.ClassDef) or theirs.name not in ("Memory", "AsyncMemory"):
            continue
        for method in theirs.body:
            is_method = isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef))
            if not is_method or method.name.startswith("_"):
                continue
            if any(isinstance(d, ast.Name) and d.id == "property" for d in method.decorator_list):
                continue
            ours = inspect.getattr_static(getattr(mem0, theirs.name), method.name)
            ours = getattr(ours, "__func__", ours)
            assert inspect.iscoroutinefunction(ours) == isinstance(method, ast.AsyncFunctionDef)
            parameters = [
                (one.name, one.kind, default(one.default))
                for one in inspect.signature(ours).parameters.values()
            ]
            assert parameters == theirs_of(method), f"{theirs.name}.{method.name}"
            compared += 1
    assert compared >= 22


def default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return ""
    return "_UNSET" if value is mem0._UNSET else repr(value)


def theirs_of(method: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[str, Any, str]]:
    """Return names, kinds and defaults of a method's parameters."""
    given, kinds = method.args, inspect.Parameter
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    found = [(arg.arg, kinds.POSITIONAL_OR_KEYWORD, node)
             for arg, node in zip(plain, defaults, strict=True)]  # fmt: skip
    found += [(arg.arg, kinds.KEYWORD_ONLY, node)
              for arg, node in zip(given.kwonlyargs, given.kw_defaults, strict=True)]  # fmt: skip
    if given.kwarg:
        found.append((given.kwarg.arg, kinds.VAR_KEYWORD, None))
    return [(name, kind, "" if node is None else ast.unparse(node)) for name, kind, node in found]


@pytest.mark.slow
def test_example_of_the_readme_runs_with_another_import(
    source: tarfile.TarFile, model_dsn: str, openai: ScriptedOpenAI, script: Script,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    [example] = re.findall(r"```python\n(.*?)```", member(source, "README.md"), re.DOTALL)
    assert "from mem0 import Memory" in example
    example = example.replace("from mem0 import", "from pgrecall.integrations.mem0 import")
    monkeypatch.setenv("PGRECALL_DSN", model_dsn)
    monkeypatch.setenv("OPENAI_BASE_URL", openai.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    typed = iter(["I switched to SQLite", "What do I use?", "exit"])
    monkeypatch.setattr(builtins, "input", lambda _: next(typed))
    script.facts = {"I switched to SQLite": [fact("User uses SQLite.")]}
    prompts: list[str] = []

    def respond(request: Request) -> Any:
        if "helpful AI" in request["messages"][0]["content"]:
            prompts.append(request["messages"][0]["content"])
            return "Noted."
        return script(request)

    openai.respond = respond
    exec(compile(example, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.count("AI: Noted.") == 2
    assert "User uses SQLite." not in prompts[0]
    assert "- User uses SQLite." in prompts[1]


# add


def test_add_extracts_and_returns_the_new_memories(m: Memory, script: Script, ada: str) -> None:
    script.facts = {"I switched to SQLite": [fact("User uses SQLite.")],
                    "I live in Lyon": [fact("User lives in Lyon.")]}  # fmt: skip
    script.decisions = {"User lives in Lyon.": ("ADD", None)}
    said = [{"role": "system", "content": "alphacanary"},
            {"role": "user", "content": "I switched to SQLite"},
            {"role": "assistant", "content": "I see."}]  # fmt: skip
    [first] = m.add(said, user_id=ada, agent_id="bot", metadata={"topic": "db"})["results"]
    assert (first["memory"], first["event"]) == ("User uses SQLite.", "ADD")
    [second] = m.add("I live in Lyon", user_id=ada, run_id="trip")["results"]
    assert second["memory"] == "User lives in Lyon."
    assert m.add("Hm.", user_id=ada)["results"] == []

    found = m.get(first["id"])
    assert found is not None
    assert found["metadata"] == {"topic": "db"}
    assert (found["user_id"], found["agent_id"]) == (ada, "bot")
    assert "run_id" not in found
    assert memories(m.get_all(filters={"user_id": ada})) == {first["memory"], second["memory"]}
    assert memories(m.get_all(filters={"user_id": ada, "run_id": "trip"})) == {second["memory"]}
    assert "alphacanary" not in str(m.client.sessions.search_messages(ada, "alphacanary"))


def test_add_returns_an_update_with_the_previous_text(m: Memory, script: Script, ada: str) -> None:
    old, new = "User uses Postgres.", "User switched from Postgres to SQLite."
    kept = add(m, old, user_id=ada)
    script.facts = {"I switched to SQLite": [fact(new)]}
    script.decisions = {new: ("UPDATE", old)}
    [change] = m.add("I switched to SQLite", user_id=ada)["results"]
    assert (change["event"], change["memory"]) == ("UPDATE", new)
    assert change["previous_memory"] == old
    found = m.get(kept)
    assert found is not None
    assert found["memory"] == new
    assert [one["event"] for one in m.history(kept)] == ["ADD", "UPDATE"]


def test_failed_extraction_leaves_the_job_in_the_queue(
    m: Memory, openai: ScriptedOpenAI, script: Script, ada: str, db: psycopg.Connection
) -> None:
    openai.respond = lambda _: "I would rather not."
    assert m.add("I switched to SQLite", user_id=ada) == {"results": []}
    openai.respond = script
    script.facts = {"I switched to SQLite": [fact("User uses SQLite.")]}
    db.execute("update recall.jobs set run_at = now()")
    m.client.worker(llm=m._llm).run_until_idle(flush=True)
    assert memories(m.get_all(filters={"user_id": ada})) == {"User uses SQLite."}


def test_add_without_waiting_leaves_the_extraction_to_workers(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, ada: str
) -> None:
    script.facts = {"I switched to SQLite": [fact("User uses SQLite.")]}
    m = Memory(Config(client=memory, llm=model(openai), wait=False))
    assert m.add("I switched to SQLite", user_id=ada) == {"results": []}
    assert m.get_all(filters={"user_id": ada})["results"] == []
    memory.worker().run_until_idle(flush=True)
    assert memories(m.get_all(filters={"user_id": ada})) == {"User uses SQLite."}


def test_add_without_inference_keeps_each_message(m: Memory, ada: str) -> None:
    said = [{"role": "user", "content": "I like tea", "name": "Ada"},
            {"role": "assistant", "content": "Green tea it is"},
            {"role": "system", "content": "alphacanary"}]  # fmt: skip
    results = m.add(said, user_id=ada, infer=False)["results"]
    assert [(one["memory"], one["event"], one["role"], one["actor_id"]) for one in results] == [
        ("I like tea", "ADD", "user", "Ada"), ("Green tea it is", "ADD", "assistant", None),
    ]  # fmt: skip
    found = m.get(results[0]["id"])
    assert found is not None
    assert found.keys() >= RESULT_KEYS
    assert (found["role"], found["actor_id"], found["metadata"]) == ("user", "Ada", None)
    assert m.add("I like tea", user_id=ada, infer=False)["results"][0]["event"] == "NONE"
    old = datetime(2020, 1, 2, tzinfo=UTC)
    kept = m.add("I like jazz", user_id=ada, infer=False, timestamp="2020-01-02")["results"][0]
    row = m.client.memories.get(ada, uuid.UUID(kept["id"].partition(":")[2]))
    assert row is not None
    assert row.observed_at == old


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({}, "needs a user_id"),
        ({"user_id": " "}, "user_id is ' '"),
        ({"user_id": "a b"}, "without whitespace"),
        ({"user_id": "a", "memory_type": "procedural_memory"}, "memory_type is not supported"),
        ({"user_id": "a", "prompt": "x"}, "prompt is not supported"),
        ({"user_id": "a", "timestamp": 1}, "infer=False only"),
        ({"user_id": "a", "expiration_date": "soon"}, "'soon'"),
        ({"user_id": "a", "metadata": [1]}, "metadata is list"),
    ],
)
def test_add_refuses_what_it_does_not_support(
    m: Memory, named: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        m.add("I like tea", **named)
    for bad in (7, [7], [{"content": "x"}]):
        with pytest.raises(ValueError, match=r"messages is int|is no message"):
            m.add(bad, user_id="a")


# search and get_all


def test_search_returns_the_best_with_scores(m: Memory, ada: str) -> None:
    for text in ("Ada likes green tea", "Ada likes jazz", "Ada has a boat"):
        add(m, text, user_id=ada)
    found = m.search("green tea", filters={"user_id": ada}, top_k=1, explain=True)["results"]
    assert [one["memory"] for one in found] == ["Ada likes green tea"]
    assert 0 < found[0]["score"] <= 1
    assert found[0]["score_details"]["match"] == found[0]["score"]
    assert found[0].keys() >= RESULT_KEYS
    assert m.search("green tea", filters={"user_id": ada}, threshold=1.0)["results"] == []
    assert m.search("green tea", filters={"user_id": f"{ada}2"})["results"] == []
    listed = m.get_all(filters={"user_id": ada}, top_k=2)["results"]
    assert len(listed) == 2
    assert "score" not in listed[0]


def test_ids_scope_memories(m: Memory, ada: str) -> None:
    agent, run = f"bot-{uuid.uuid4()}", f"run-{uuid.uuid4()}"
    add(m, "Ada likes tea", user_id=ada)
    add(m, "Ada likes coffee in Lyon", user_id=ada, run_id=run)
    add(m, "The agent likes tea", agent_id=agent)
    add(m, "The run likes tea", run_id=run)
    by = {
        "user": {"user_id": ada}, "user and run": {"user_id": ada, "run_id": run},
        "agent": {"agent_id": agent}, "run": {"run_id": run},
    }  # fmt: skip
    found = {name: memories(m.get_all(filters=filters)) for name, filters in by.items()}
    assert found == {
        "user": {"Ada likes tea", "Ada likes coffee in Lyon"},
        "user and run": {"Ada likes coffee in Lyon"},
        "agent": {"The agent likes tea"},
        "run": {"The run likes tea"},
    }
    searched = m.search("likes", filters=by["user and run"], threshold=0.0)
    assert memories(searched) == {"Ada likes coffee in Lyon"}
    [only] = m.get_all(filters=by["agent"])["results"]
    assert (only["agent_id"], only.get("user_id")) == (agent, None)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"topic": "db"}, {"one"}),
        ({"topic": {"eq": "db"}}, {"one"}),
        ({"topic": {"ne": "db"}}, {"two", "three"}),
        ({"topic": ["db", "web"]}, {"one", "two"}),
        ({"topic": {"in": ["db", "web"]}}, {"one", "two"}),
        ({"topic": {"nin": ["db"]}}, {"two", "three"}),
        ({"topic": "*"}, {"one", "two"}),
        ({"size": {"gt": 1}}, {"two", "three"}),
        ({"size": {"gte": 1, "lt": 3}}, {"one", "two"}),
        ({"size": {"lte": 1}}, {"one"}),
        ({"topic": {"contains": "e"}}, {"two"}),
        ({"topic": {"icontains": "WE"}}, {"two"}),
        ({"topic": {"gt": 1}}, set()),
        ({"AND": [{"topic": "db"}, {"size": 1}]}, {"one"}),
        ({"OR": [{"topic": "db"}, {"size": 3}]}, {"one", "three"}),
        ({"NOT": [{"topic": "db"}, {"size": 3}]}, {"two"}),
        ({"user_id": "another"}, set()),
    ],
)
def test_filters_compare_metadata(
    m: Memory, ada: str, conditions: dict[str, Any], expected: set[str]
) -> None:
    texts = {"one": "Ada likes tea", "two": "Ada has a boat", "three": "Ada sings in a choir"}
    for text, metadata in (
        ("one", {"topic": "db", "size": 1}), ("two", {"topic": "web", "size": 2}),
        ("three", {"size": 3}),
    ):  # fmt: skip
        add(m, texts[text], user_id=ada, metadata={**metadata, "user_id": "mallory"})
    filters = {"user_id": ada, **conditions}
    if conditions.get("user_id"):
        filters["user_id"] = f"{ada}-another"
    found = memories(m.get_all(filters=filters))
    assert found == {texts[name] for name in expected}
    assert memories(m.search("Ada", filters=filters, threshold=0.0)) == found


def test_search_reads_on_until_a_filter_has_enough(m: Memory, ada: str) -> None:
    add(m, "Ada likes needle", user_id=ada, metadata={"rare": True})
    said = [{"role": "user", "content": f"Ada likes number {n} of hay{n}"} for n in range(90)]
    m.add(said, user_id=ada, infer=False)
    found = m.search("Ada likes number hay5", filters={"user_id": ada, "rare": True}, top_k=1,
                     threshold=0.0)  # fmt: skip
    assert memories(found) == {"Ada likes needle"}


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({}, "needs a user_id"),
        ({"user_id": "a"}, "pass filters="),
        ({"filters": {"user_id": "a"}, "top_k": -1}, "top_k is -1"),
        ({"filters": {"user_id": "a"}, "top_k": True}, "top_k is True"),
        ({"filters": {"user_id": "a", "AND": []}}, "AND needs a list"),
        ({"filters": {"user_id": "a", "size": {"like": 1}}}, "'like' is no operator"),
        ({"filters": {"user_id": {"in": ["a", "b"]}}}, "without whitespace"),
        ({"filters": {"user_id": "a"}, "page": 1}, "takes no page"),
    ],
)
def test_reads_refuse_bad_arguments(m: Memory, named: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        m.get_all(**named)
    with pytest.raises(ValueError, match=message):
        m.search("tea", **named)


def test_search_refuses_bad_queries_and_thresholds(m: Memory) -> None:
    for query in ("", "  ", None):
        with pytest.raises(ValueError, match="query is"):
            m.search(query, filters={"user_id": "a"})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"threshold is 1\.5"):
        m.search("tea", filters={"user_id": "a"}, threshold=1.5)
    with pytest.raises(ValueError, match="'soon' is no time"):
        m.search("tea", filters={"user_id": "a"}, reference_date="soon")


def test_expired_memories_are_shown_on_request(m: Memory, ada: str) -> None:
    today = datetime.now(UTC).date()
    add(m, "Ada likes tea", user_id=ada, expiration_date=today)
    old = add(m, "Ada likes coffee", user_id=ada, expiration_date=today - timedelta(days=1))
    by = {"user_id": ada}
    assert memories(m.get_all(filters=by)) == {"Ada likes tea"}
    assert memories(m.search("Ada likes", filters=by)) == {"Ada likes tea"}
    assert len(m.get_all(filters=by, show_expired=True)["results"]) == 2
    assert len(m.search("Ada likes", filters=by, show_expired=True)["results"]) == 2
    m.update(old, expiration_date=None)
    assert len(m.get_all(filters=by)["results"]) == 2


# One memory


def test_update_keeps_the_id_and_merges_metadata(m: Memory, ada: str) -> None:
    kept = add(m, "Ada likes tea", user_id=ada, run_id="r", metadata={"a": 1, "b": 1})
    before = m.get(kept)
    assert m.update(kept, "Ada likes coffee", metadata={"b": 2, "user_id": "mallory"})["message"]
    m.update(kept, data="Ada likes cocoa")
    after = m.get(kept)
    assert before is not None
    assert after is not None
    assert (after["id"], after["memory"]) == (kept, "Ada likes cocoa")
    assert after["metadata"] == {"a": 1, "b": 2}
    assert (after["user_id"], after["run_id"]) == (ada, "r")
    assert after["created_at"] == before["created_at"]
    assert after["updated_at"] > before["updated_at"]
    assert after["hash"] != before["hash"]
    assert [one["id"] for one in m.get_all(filters={"user_id": ada})["results"]] == [kept]
    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in m.history(kept)] == [
        ("ADD", None, "Ada likes tea"),
        ("UPDATE", "Ada likes tea", "Ada likes coffee"),
        ("UPDATE", "Ada likes coffee", "Ada likes cocoa"),
    ]
    with pytest.raises(ValueError, match="needs text"):
        m.update(kept)
    with pytest.raises(ValueError, match="cannot make a memory empty"):
        m.update(kept, " ")


def test_deleted_memory_is_found_by_history_only(m: Memory, ada: str) -> None:
    kept = add(m, "Ada likes tea", user_id=ada)
    m.delete(kept)
    assert m.get(kept) is None
    assert m.get_all(filters={"user_id": ada})["results"] == []
    assert m.search("tea", filters={"user_id": ada})["results"] == []
    assert [(one["event"], one["is_deleted"]) for one in m.history(kept)] == [
        ("ADD", False), ("DELETE", True),
    ]  # fmt: skip
    for change in (lambda: m.delete(kept), lambda: m.update(kept, "x")):
        with pytest.raises(ValueError, match="there is no memory"):
            change()


def test_unknown_ids_find_nothing(m: Memory) -> None:
    for unknown in ("", "x", str(uuid.uuid4()), f"{uuid.uuid4()}:{uuid.uuid4()}"):
        assert m.get(unknown) is None
        assert m.history(unknown) == []
        with pytest.raises(ValueError, match="there is no memory"):
            m.delete(unknown)


def test_delete_all_ends_the_memories_of_a_scope(m: Memory, ada: str) -> None:
    add(m, "Ada likes tea", user_id=ada)
    add(m, "Ada has a boat", user_id=ada, run_id="r", expiration_date="2020-01-01")
    m.delete_all(user_id=ada, run_id="r")
    assert memories(m.get_all(filters={"user_id": ada}, show_expired=True)) == {"Ada likes tea"}
    m.delete_all(user_id=ada)
    assert m.get_all(filters={"user_id": ada})["results"] == []
    with pytest.raises(ValueError, match="needs a user_id"):
        m.delete_all()


@pytest.mark.parametrize("kind", ["agent", "run"])
def test_memory_without_a_session_belongs_to_its_agent_or_run(
    m: Memory, memory: AgentMemory, kind: str
) -> None:
    name = f"{kind}-{uuid.uuid4()}"
    ids = {f"{kind}_id": name}
    add(m, "Tea is served at five", **ids)
    add(m, "The boat is red", **ids)
    # as a consolidation stores what it writes: without the session of one of its parts
    memory.remember(f"{kind} {name}", "Tea and cake are served at five")
    found = {one["memory"]: one for one in m.get_all(filters=ids)["results"]}
    assert len(found) == 3
    for item in found.values():
        assert item[f"{kind}_id"] == name
        assert "user_id" not in item
    assert "Tea and cake are served at five" in memories(m.search("cake", filters=ids))
    m.delete_all(**ids)
    assert memory.memories.list(f"{kind} {name}") == []


def test_delete_all_of_an_agent_and_a_run_ends_no_other_run(m: Memory) -> None:
    agent = f"bot-{uuid.uuid4()}"
    add(m, "Tea is served at five", agent_id=agent, run_id="r")
    add(m, "The boat is red", agent_id=agent, run_id="s")
    m.delete_all(agent_id=agent, run_id="r")
    assert memories(m.get_all(filters={"agent_id": agent})) == {"The boat is red"}


def test_reset_erases_the_users_of_this_class_only(m: Memory, ada: str) -> None:
    other = f"bob-{uuid.uuid4()}"
    m.client.remember(other, "Bob likes tea")
    kept = add(m, "Ada likes tea", user_id=ada)
    m.reset()
    assert m.history(kept) == []
    assert [one.content for one in m.client.memories.list(other)] == ["Bob likes tea"]
    add(m, "Ada likes tea", user_id=ada)


@pytest.mark.parametrize("required", [None, "require"])
def test_encrypted_user_is_added_to_and_erased_by_reset(
    dsn: str, ada: str, required: Literal["require"] | None
) -> None:
    other = f"bob-{uuid.uuid4()}"
    with AgentMemory.connect(
        dsn, embedder=False, wrapping_keys=KEYS, sealed=required
    ) as client, psycopg.connect(dsn) as db:  # fmt: skip
        users = [client.users.id(name) for name in (ada, other)]
        assert all(client.encryption.seal_user(user) for user in users)
        client.remember(other, "Bob likes tea")
        client.session(user=other, model="gpt-5-mini").open()
        m = Memory(Config(client=client))
        kept = add(m, "Ada likes tea", user_id=ada)
        add(m, "Ada has a boat", user_id=ada, run_id="r")
        assert (m.get(kept) or {})["memory"] == "Ada likes tea"
        m.reset()
        found = db.execute("select user_id from recall.users where user_id = any(%s)", [users])
        assert found.fetchall() == [(users[1],)]


def test_client_without_keys_resets_beside_encrypted_users(m: Memory, dsn: str, ada: str) -> None:
    with connected(dsn) as client:
        bob = f"bob-{uuid.uuid4()}"
        assert client.encryption.seal_user(client.users.id(bob))
        client.session(user=bob, model="gpt-5-mini").open()
    kept = add(m, "Ada likes tea", user_id=ada)
    m.reset()
    assert m.history(kept) == []


def test_results_of_another_process_have_the_same_scope(
    m: Memory, memory: AgentMemory, openai: ScriptedOpenAI, ada: str
) -> None:
    kept = add(m, "Ada likes tea", user_id=ada, run_id="r", metadata={"a": 1})
    other = Memory(Config(client=memory, llm=model(openai)))
    assert other.get(kept) == m.get(kept)
    memory.remember(ada, "Ada has a boat")  # by the API of pgrecall
    found = {one["memory"]: one for one in other.get_all(filters={"user_id": ada})["results"]}
    assert found["Ada has a boat"]["user_id"] == ada


def test_asynchronous_memory_does_the_same(
    memory: AgentMemory, openai: ScriptedOpenAI, script: Script, ada: str
) -> None:
    script.facts = {"I switched to SQLite": [fact("User uses SQLite.")]}

    async def main() -> None:
        m = AsyncMemory(Config(client=memory, llm=model(openai)))
        [kept] = (await m.add("I switched to SQLite", user_id=ada))["results"]
        assert memories(await m.search("SQLite", filters={"user_id": ada})) == {kept["memory"]}
        await m.update(kept["id"], "User uses DuckDB.")
        found = await m.get(kept["id"])
        assert found is not None
        assert found["memory"] == "User uses DuckDB."
        assert len(await m.history(kept["id"])) == 2
        await m.delete(kept["id"])
        await m.delete_all(user_id=ada)
        assert (await m.get_all(filters={"user_id": ada}))["results"] == []
        with pytest.raises(ValueError, match="llm is not supported"):
            await m.add("x", user_id=ada, llm=object())

    asyncio.run(main())


def test_configuration_of_mem0_is_read(model_dsn: str, openai: ScriptedOpenAI, ada: str) -> None:
    endpoint = {"openai_base_url": openai.base_url, "api_key": "x"}
    m = Memory.from_config(
        {
            "vector_store": {"provider": "pgvector", "config": {"connection_string": model_dsn}},
            "llm": {"provider": "openai", "config": {"model": "gpt-4o-mini", **endpoint}},
            "embedder": {
                "provider": "openai",
                "config": {"model": "words", "embedding_dims": openai.dimensions, **endpoint},
            },
        }
    )
    assert m._llm is not None
    assert m._llm.model == "gpt-4o-mini"
    add(m, "Ada likes tea", user_id=ada)
    assert openai.embeddings
    m.close()
    for bad, message in (
        ({"vector_store": {"provider": "qdrant"}}, "vector_store qdrant"),
        ({"llm": {"provider": "ollama"}}, "llm ollama"),
        ({"custom_instructions": "x"}, "custom_instructions is not supported"),
        ({"embedder": {"provider": "openai", "config": endpoint}}, "embedder needs vector_store"),
    ):
        with pytest.raises(ValueError, match=message):
            Memory.from_config(bad)


def test_close_leaves_the_client_of_the_caller_open(m: Memory, ada: str) -> None:
    m.close()
    add(m, "Ada likes tea", user_id=ada)


@pytest.mark.parametrize("kind", [Memory, AsyncMemory])
def test_close_closes_the_client_that_a_configuration_made(
    kind: type[Memory] | type[AsyncMemory], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[AgentMemory] = []

    def close(self: AgentMemory) -> None:
        closed.append(self)

    monkeypatch.setattr(AgentMemory, "close", close)
    m = kind.from_config({"vector_store": {"config": {"connection_string": "host=/nowhere"}}})
    m.close()
    assert closed == [m.client]


def test_characters_that_postgresql_cannot_store_are_replaced(m: Memory, ada: str) -> None:
    add(m, "Likes tea\x00 \ud83d", user_id=ada, metadata={"a": "\x00"})
    [found] = m.search("tea\x00", filters={"user_id": ada})["results"]
    assert found["memory"] == "Likes tea\ufffd \ufffd"
