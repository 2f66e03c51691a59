"""Run pgspot over what sql/install.sql installs, and sql/uninstall.sql; `make lint` calls it.

pgspot reads neither includes of psql, nor the standard's function bodies (which bind their names
when they are created), nor types without a server. So it is fed statement by statement. An internal
SQL function with a text body has no path of its own, so that it can be inlined: no role may call
it, and each function that does pins the path. It is read with that path.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from argparse import Namespace
from pathlib import Path

from pglast import ast
from pglast.parser import ParseError
from pgspot.state import Counter, State
from pgspot.visitors import visit_sql

from lint import statements, without_our_types

ROOT = Path(__file__).resolve().parents[1]
PATH = "pg_catalog, recall, pg_temp"

WITHOUT_PATH = {
    "recall.maintain(p_task text,p_delay interval)": "it commits, which PostgreSQL"
    " refuses with a SET clause; it pins the path itself, in each transaction",
}
"""Functions and procedures that may stand without a search path, and why."""


def scripts() -> str:
    """Return what the two scripts run; the preflight makes the schema and sets the path."""
    folder = ROOT / "sql"
    parts = [(folder / "uninstall.sql").read_text(encoding="utf-8"), "create schema recall;"]
    for line in (folder / "install.sql").read_text(encoding="utf-8").splitlines():
        if line == "\\ir extension_path.sql":
            continue  # own_path.sql checks what is defined under that path
        if line.startswith("\\ir "):
            parts.append((folder / line.split()[1]).read_text(encoding="utf-8"))
            if line.endswith("preflight.sql"):
                parts.append(f"set local search_path to {PATH};")
        else:
            parts.append(line)
    text = re.sub(r"(?m)^\\.*$", "", "\n".join(parts)).replace(" \\gset\n", ";\n")
    return re.sub(
        r"(create or replace function recall\._\w+\((?:(?!create or replace)[\s\S])*?"
        r"\nlanguage sql\n)((?:(?!\nas |\nset |create or replace)[\s\S])*\nas \$function\$)",
        rf"\1set search_path to {PATH}\n\2",
        text,
    )


def with_simple_types(source: str) -> str:
    """Return a statement that names none of our types, and still creates what it created."""
    return re.sub(r"^((?:.*\n)*?.*(?:function|procedure)) ", r"\1 recall.",
                  without_our_types(source), count=1)  # fmt: skip


def main() -> int:
    """Print what pgspot says, and return whether it said anything."""
    options = Namespace(
        plpgsql=True, summary_only=False, ignore=[], ignore_lang=[], sql_fn=[],
        proc_without_search_path=list(WITHOUT_PATH),
    )  # fmt: skip
    state = State(Counter(options))
    said = io.StringIO()
    unread = bodies = 0
    with contextlib.redirect_stdout(said):
        for node, source in statements(scripts()):
            if isinstance(node, ast.CreateFunctionStmt) and node.sql_body is not None:
                continue
            bodies += isinstance(node, ast.CreateFunctionStmt | ast.DoStmt)
            for text, options.plpgsql in (
                (source, True), (with_simple_types(source), True), (source, False),
            ):  # fmt: skip
                with contextlib.suppress(ParseError):
                    visit_sql(state, text, toplevel=True)
                    break
            unread += not options.plpgsql
    problems = [line for line in said.getvalue().splitlines() if line.strip()]
    print("\n".join(problems))
    print(f"pgspot: {state.counter}; {unread} of {bodies} bodies not read")
    return 1 if problems or unread > bodies // 10 else 0


if __name__ == "__main__":
    sys.exit(main())
