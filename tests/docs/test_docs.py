"""The pages of docs/: their examples run, their links lead somewhere.

A page stands alone. psql runs its SQL blocks in their order, and its Python blocks are one program.
Both use a database in which the user ada has a session and a memory. An example in the reference of
functions is rolled back. A block after a comment `<!-- not run: reason -->` is not executed.
"""

from __future__ import annotations

import base64
import copy
import itertools
import re
import shlex
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest

from pgrecall import AgentMemory
from pgrecall.cli._main import cli
from support import our_role, run
from support.completions import WEATHER
from support.scripted_openai import scripted_openai
from support.servers import DIMENSIONS, TestServer

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
LINKED = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "README.md"]
# by a walk of CONTRIBUTING.md, variables, and a setting of the installer
MADE_UP = {"count_sessions", "user_id", "user_key", "uninstall_cascade"}
OWN_TEST = {"README.md", "docs/quickstart.md", "docs/reference/job-protocol.md"}

PRELUDE = r"""
\o /dev/null
select recall.ensure_user('ada');
select recall.open_session(p_user_id => recall.user_id('ada'), p_model_id => 'gpt-4o-mini')
    as session_id \gset
select memory_id from recall.remember(recall.user_id('ada'), 'Prefers tabs over spaces') \gset
select * from recall.append_messages(
    recall.user_id('ada'), :'session_id', '[{"role": "user", "content": "I indent with tabs."}]');
\o
"""


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a language that run, in order."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(
        rf"^(<!-- not run: .+ -->\n)?```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL
    )
    return [block for mark, block in found if not mark]


def with_blocks(language: str) -> list[Any]:
    """Return the pages that have such blocks and no test of their own."""
    return [
        pytest.param(page, id=name(page))
        for page in PAGES
        if name(page) not in OWN_TEST and blocks(page, language)
    ]


@pytest.fixture
def page_dsn(server: TestServer) -> Iterator[str]:
    """The DSN of a database with the schema, for one page."""
    database = server.cloned_database("page")
    yield server.dsn(database)
    server.drop_database(database)


@pytest.mark.parametrize("page", with_blocks("sql"))
def test_sql_of_a_page_runs(page: Path, page_dsn: str, tmp_path: Path) -> None:
    found = blocks(page, "sql")
    if page.parent.name == "functions":  # an example of a function must not disturb the next
        found = [f"begin;\n{block}rollback;" for block in found]
    script = "\n".join(found)
    # roles belong to the server, which other tests share
    with psycopg.connect(page_dsn) as db:
        for role in set(re.findall(r"\brecall_(?:reader|writer|worker|admin)\b", script)):
            script = script.replace(role, our_role(db, role))
    created = re.findall(r"(?m)^create role (\w+)", script)
    script += "".join(f"\ndrop role {role};" for role in created)
    (tmp_path / "page.sql").write_text(PRELUDE + script, encoding="utf-8")
    done = run("psql", page_dsn, "-qXAt", "-v", "ON_ERROR_STOP=1", "-f", "page.sql", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", with_blocks("python"))
def test_python_of_a_page_runs(
    page: Path, page_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = base64.b64encode(bytes(32)).decode()
    (tmp_path / "keys").touch(mode=0o600)
    (tmp_path / "keys").write_text(f"first:{key}\n", encoding="utf-8")
    program = "\n".join(blocks(page, "python"))
    assert "postgresql://…" in program
    for printed, meant in (
        ("postgresql://…", page_dsn),
        ("/etc/pgrecall/keys", str(tmp_path / "keys")),
        ("# a moment later:", "memory._core.background.drain()"),
    ):
        program = program.replace(printed, meant)
    names: dict[str, Any] = {"WEATHER": WEATHER, "weather": lambda **_: "sunny"}
    with scripted_openai(respond=lambda _: "You use Vim.", dimensions=DIMENSIONS) as openai:
        monkeypatch.setenv("OPENAI_BASE_URL", openai.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        exec(compile(program, str(page), "exec"), names)
        if isinstance(memory := names["memory"], AgentMemory):  # an asynchronous one is not open
            memory.close()
    if "replay" in names:
        said = names["replay"](names["call"].response_body).answer
        assert said.choices[0].message.content == "You use Vim."


def shell_lines() -> Iterator[Any]:
    """Yield the commands of shell blocks, once each."""
    seen = set()
    for page in PAGES:
        for block in blocks(page, "sh"):
            for line in block.splitlines():
                words = tuple(shlex.split(line, comments=True))
                if words and words not in seen and words[0] != "export":
                    seen.add(words)
                    yield pytest.param(words, id=" ".join(words))


@pytest.mark.parametrize("words", [*shell_lines()])
def test_shell_command_exists(words: tuple[str, ...]) -> None:
    if words[0] == "pgrecall":
        parses([*itertools.takewhile(lambda word: word not in (">", "|"), words[1:])])
    elif words[0] == "make":
        targets = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert re.search(rf"(?m)^{words[1]}:", targets)
    # files of the clone
    for word in words:
        if re.match(r"(sql|functions|benchmarks|examples|tests|\.ci)/", word):
            assert (ROOT / word).exists(), word


def parses(words: list[str]) -> None:
    """Parse a command line of pgrecall, without running it; a UsageError says what is wrong."""
    command: click.Command = cli
    context = click.Context(command, info_name="pgrecall")
    while isinstance(command, click.Group):
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command, context = found, click.Context(found, parent=context, info_name=found.name)
    # files that the page speaks of are not there
    command = copy.copy(command)
    command.params = [copy.copy(parameter) for parameter in command.params]
    for parameter in command.params:
        if isinstance(parameter.type, click.File | click.Path):
            parameter.type = click.STRING
    command.make_context(command.name, words)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and Python-Markdown make them."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    found: set[str] = set()
    for heading in re.findall(r"(?m)^#{1,6} (.+)$", text):
        plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
        plain = re.sub(r"[^\w\s-]", "", plain).strip().lower()
        found.add(re.sub(r"[-\s]+", "-", plain))
    return found


def links(page: Path) -> list[str]:
    """Return the targets of a page's links and pictures."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    text = re.sub(r"`[^`]*`", "", text)
    return re.findall(r"\]\(([^()\s]+)\)", text)


@pytest.mark.parametrize("page", [pytest.param(page, id=name(page)) for page in LINKED])
def test_links_of_a_page_have_a_target(page: Path) -> None:
    for link in links(page):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target), link


def test_functions_that_pages_name_exist(db: psycopg.Connection) -> None:
    known = {
        name
        for (name,) in db.execute(
            "select proname from pg_proc where pronamespace = 'recall'::regnamespace"
            " union select relname from pg_class where relnamespace = 'recall'::regnamespace"
            " union select attname from pg_attribute where attrelid = 'recall.settings'::regclass"
        )
    }
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = {*re.findall(r"`recall\.(?!ts`)([a-z]\w+)[`(]", text)}  # recall.ts is a file
        assert named <= known | MADE_UP, name(page)


def test_every_page_is_reachable_from_the_index() -> None:
    seen, waiting = set(), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        waiting += [(page.parent / link.partition("#")[0]).resolve()
                    for link in links(page) if not link.startswith(("http", "#"))]  # fmt: skip
    assert set(DOCS.rglob("*.md")) <= seen


def test_no_page_is_loaded_from_elsewhere() -> None:
    """Pictures are files of the project."""
    for page in PAGES:
        assert not re.search(r"!\[[^]]*\]\(http", page.read_text(encoding="utf-8")), name(page)


def test_page_of_roles_names_the_functions_that_are_not_security_definer(
    db: psycopg.Connection,
) -> None:
    page = (DOCS / "security" / "roles.md").read_text(encoding="utf-8")
    named = re.search(r"The functions above are SECURITY DEFINER(.*?)\. Internal", page, re.DOTALL)
    assert named is not None
    invokers = db.execute(
        "select proname from pg_proc where pronamespace = 'recall'::regnamespace"
        " and not prosecdef and proname !~ '^_'"
    ).fetchall()
    assert {*re.findall(r"`(\w+)`", named[1])} == {name for (name,) in invokers}
    others = db.execute(
        "select proname from pg_proc where pronamespace = 'recall'::regnamespace"
        " and (proname ~ '^_' and prosecdef and prorettype <> 'trigger'::regtype or prosecdef"
        " and coalesce(array_to_string(proconfig, ','), '') !~ 'search_path'"
        " or has_function_privilege('public', oid, 'execute'))"
    ).fetchall()
    assert others == []


def test_tests_that_the_threat_model_names_exist() -> None:
    page = (ROOT / "docs" / "security" / "threat-model.md").read_text(encoding="utf-8")
    rows = page.partition("## Guarantees")[2].partition("\n## ")[0].split("\n")
    sentences = [row for row in rows if row.startswith("| ") and not row.startswith("| sentence")]
    assert len(sentences) > 20
    for row in sentences:
        (named,) = re.findall(r"`(\S+)::(\w+)`", row)
        text = (ROOT / "tests" / named[0]).read_text(encoding="utf-8")
        assert f"\ndef {named[1]}(" in text, named
