"""Everything `make lint` checks, in seconds and without a server.

Checks that need a catalog (comments, rights, search paths) are in tests/contract/catalog_lint.sql.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pglast
from pglast import ast

import checksums
import release
from lines import totals

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
MAX_COLUMNS = 100
MAX_BODY_LINES = 100  # "under about 80"; comments do not count
MAX_CORE_LINES = 7000  # of the driver, as .ci/lines.py counts them


def main() -> int:
    """Run all checks, say what each found, and return the exit status."""
    checks: dict[str, Callable[[], Iterator[str]]] = {
        "ruff check": lambda: tool("ruff", "check", "--quiet", "."),
        "ruff format": lambda: tool("ruff", "format", "--quiet", "--check", "--diff", "."),
        "mypy": lambda: tool("mypy", "--no-error-summary"),
        "sqlfluff": lambda: tool("sqlfluff", "lint", "--disable-progress-bar", *SQL),
        "pglast": parsed,
        "squawk": migrations,
        "migrations": lambda: checksums.check(ROOT),
        "release": release.check,
        "function files": function_files,
        "constraints": constraints,
        "install list": install_list,
        "layout": layout,
        "names of tests": names_of_tests,
        "driver size": driver_size,
        "locks": locks,
        "pgspot": lambda: tool("python", ".ci/spot.py"),
        "prose": lambda: tool("python", ".ci/prose.py"),
        "distributed rules": lambda: tool("python", ".ci/distributed.py"),
        "walks": lambda: tool("python", ".ci/walks.py", "--check"),
        "import circles": lambda: tool("python", ".ci/circles.py"),
        "generated client": lambda: tool("python", ".ci/generate.py", "--check"),
    }
    failed = []
    for name, check in checks.items():
        started = time.monotonic()
        problems = list(check())
        print(f"{name:18}{'failed' if problems else 'ok':8}{time.monotonic() - started:5.1f} s")
        for problem in problems:
            print(f"    {problem}")
        if problems:
            failed.append(name)
    print(f"lint: {', '.join(failed)} failed" if failed else "lint: all fine")
    return 1 if failed else 0


SQL = ("sql", "functions", "migrations")


def tool(name: str, *arguments: str) -> Iterator[str]:
    """Run a program of the environment and yield its output if it failed."""
    done = subprocess.run(
        [str(BIN / name), *arguments],
        cwd=ROOT,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        yield from done.stdout.splitlines()


def sql_files(*folders: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every SQL file, psql commands blanked."""
    for folder in folders or SQL:
        for path in sorted((ROOT / folder).rglob("*.sql")):
            text = re.sub(r"(?m)^\\.*$", "", path.read_text(encoding="utf-8"))
            text = text.replace(" \\gset\n", ";\n")
            yield path.relative_to(ROOT).as_posix(), text


def statements(text: str) -> Iterator[tuple[Any, str]]:
    """Parse a text and yield each statement with its source."""
    for raw in pglast.parse_sql(text):
        start = raw.stmt_location or 0
        yield raw.stmt, text[start : start + raw.stmt_len if raw.stmt_len else len(text)]


def option(function: ast.CreateFunctionStmt, name: str) -> Any:
    """Return one option of a function, such as its language."""
    return next((o.arg for o in function.options or () if o.defname == name), None)


def parsed() -> Iterator[str]:
    """Parse every file, PL/pgSQL functions and DO blocks included, by PostgreSQL's own parser."""
    for name, text in sql_files():
        try:
            for node, source in statements(text):
                if isinstance(node, ast.CreateFunctionStmt):
                    language = option(node, "language")
                    if language is not None and language.sval == "plpgsql":
                        pglast.parse_plpgsql(without_our_types(source))
                elif isinstance(node, ast.DoStmt):
                    body = next(o.arg.sval for o in node.args or () if o.defname == "as")
                    pglast.parse_plpgsql(
                        "create function f() returns void language plpgsql as $lint_body$"
                        f"{without_our_types(body)}$lint_body$"
                    )
        except pglast.Error as error:
            yield f"{name}: {error}"


def without_our_types(source: str) -> str:
    """Replace what the parser cannot look up without a server: our types and pgvector's."""
    source = re.sub(r"\brecall\.\w+\.\w+%type", "text", source)
    source = re.sub(r"\b(recall\.\w+|halfvec|vector)\[\]", "text[]", source)
    return re.sub(r"\brecall\.", "", source)


def migrations() -> Iterator[str]:
    """Look for unsafe statements in migrations."""
    files = sorted(str(path) for path in (ROOT / "migrations").glob("*.sql"))
    if files:
        # the installer holds all locks by then; turns and counts are integers everywhere
        left_out = "require-lock-timeout,require-statement-timeout,prefer-bigint-over-int"
        yield from tool("squawk", "--assume-in-transaction", f"--exclude={left_out}", *files)


def function_files() -> Iterator[str]:
    """One function a file, named as the file, commented, with its markers stated."""
    seen: dict[str, str] = {}
    for name, text in sql_files("functions"):
        found = list(statements(text))
        functions = [node for node, _ in found if isinstance(node, ast.CreateFunctionStmt)]
        comments: list[Any] = [node for node, _ in found if isinstance(node, ast.CommentStmt)]
        if len(functions) != 1 or len(comments) != 1 or len(found) != 2:
            yield f"{name}: not just one function and its comment"
            continue
        function = functions[0]
        identity = [part.sval for part in function.funcname or ()]
        if identity != ["recall", Path(name).stem]:
            yield f"{name}: creates {'.'.join(identity)}"
        if identity[-1] in seen:
            yield f"{name}: so does {seen[identity[-1]]}"
        seen[identity[-1]] = name
        if not function.replace:
            yield f"{name}: says create, not create or replace"
        if [part.sval for part in comments[0].object.objname] != identity:
            yield f"{name}: the comment is on another function"
        if not text.startswith("-- "):
            yield f"{name}: the first line does not say what recall.{identity[-1]} does"
        wanted = ["language", "volatility", "parallel"]
        language = option(function, "language")
        if function.is_procedure:
            wanted = ["language"]  # it has no volatility; one that commits may not SET
        elif language is not None and language.sval == "plpgsql":
            wanted.append("set")
        for marker in wanted:
            if option(function, marker) is None:
                yield f"{name}: {marker} is not stated"
        for parameter in function.parameters or ():
            is_input = parameter.mode.name not in ("FUNC_PARAM_TABLE", "FUNC_PARAM_OUT")
            if is_input and not (parameter.name or "").startswith("p_"):
                yield f"{name}: parameter {parameter.name} lacks its p_"
            if parameter.mode.name == "FUNC_PARAM_OUT" and parameter.name[:2] != "o_":
                yield f"{name}: result {parameter.name} lacks its o_"
        body = re.search(r"(?s)\$(?:function|procedure)\$(.*)\$(?:function|procedure)\$", text)
        lines = len(re.findall(r"\n(?! *--)", body[1])) if body else 0
        if lines > MAX_BODY_LINES:
            yield f"{name}: {lines} lines of body, more than {MAX_BODY_LINES}"


def constraints() -> Iterator[str]:
    """Every constraint has a name of ours: errors are mapped by it."""
    for name, text in sql_files("sql", "migrations"):
        for node, _ in statements(text):
            elements: list[Any]
            if isinstance(node, ast.CreateStmt):
                elements = list(node.tableElts or ())
            elif isinstance(node, ast.AlterTableStmt):
                elements = [getattr(command, "def_", None) for command in node.cmds or ()]
            else:
                continue
            found = [c for e in elements for c in [e, *(getattr(e, "constraints", None) or ())]]
            for constraint in found:
                if (
                    isinstance(constraint, ast.Constraint)
                    and constraint.conname is None
                    and getattr(constraint.contype, "name", "") in NAMED
                ):
                    yield f"{name}: a constraint of {node.relation.relname} has no name"


NAMED = {"CONSTR_CHECK", "CONSTR_PRIMARY", "CONSTR_UNIQUE", "CONSTR_FOREIGN", "CONSTR_EXCLUSION"}


def install_list() -> Iterator[str]:
    """Compare sql/install.sql with the files: each stands there, once."""
    path = ROOT / "sql" / "install.sql"
    if not path.exists():
        yield "sql/install.sql does not exist"
        return
    included = [
        (path.parent / line.split()[1]).resolve()
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("\\ir")
    ]
    wanted = {path for folder in SQL for path in (ROOT / folder).rglob("*.sql")}
    wanted -= {path, path.with_name("uninstall.sql"), *path.parent.glob("proxy/*.sql")}
    for file in sorted(wanted - set(included)):
        yield f"{file.relative_to(ROOT)} is not in sql/install.sql"
    for file in sorted(set(included)):
        if included.count(file) > 1 and file.name not in ("extension_path.sql", "own_path.sql"):
            yield f"{file.relative_to(ROOT)} is in sql/install.sql more than once"
        if not file.exists():
            yield f"sql/install.sql names {file.relative_to(ROOT)}, which does not exist"


def driver_size() -> Iterator[str]:
    """Bound the driver's core, so that rules stay in the database."""
    code, _ = totals()
    if code["core"] > MAX_CORE_LINES:
        yield f"the driver's core: {code['core']} lines of code, more than {MAX_CORE_LINES}"


def locks() -> Iterator[str]:
    """Locks of the driver are made by _process.lock(): in a child, nobody releases another one."""
    for path in sorted((ROOT / "python" / "pgrecall").rglob("*.py")):
        if path.name == "_process.py":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if re.search(r"threading\.R?Lock\(|from threading import .*Lock", line):
                yield f"{path.relative_to(ROOT)}:{number}: use lock() of pgrecall._process"


def layout() -> Iterator[str]:
    """Columns, white space and the last line of what no other tool looks at."""
    for pattern in ("sql/**/*.sql", "functions/**/*.sql", "migrations/*.sql", "tests/**/*.sql",
                    ".ci/*", "Makefile"):  # fmt: skip
        for path in sorted(ROOT.glob(pattern)):
            if not path.is_file():
                continue
            name = path.relative_to(ROOT)
            text = path.read_text(encoding="utf-8")
            for number, line in enumerate(text.splitlines(), start=1):
                if len(line) > MAX_COLUMNS:
                    yield f"{name}:{number}: {len(line)} columns, more than {MAX_COLUMNS}"
                if line != line.rstrip():
                    yield f"{name}:{number}: white space at the end"
                if "\t" in line and path.name != "Makefile":
                    yield f"{name}:{number}: a tab"
            if not text.endswith("\n") or text.endswith("\n\n"):
                yield f"{name}: ends in no line break, or in empty lines"


def names_of_tests() -> Iterator[str]:
    """Files of tests have different names: pytest imports them without their folders."""
    known: dict[str, Path] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        other = known.setdefault(path.name, path)
        if other is not path:
            yield f"{path.relative_to(ROOT)} is named like {other.relative_to(ROOT)}"


if __name__ == "__main__":
    sys.exit(main())
