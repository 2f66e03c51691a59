"""The pages of the Python driver and of its command line, out of docstrings and click."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import click

import pgrecall
from pgrecall._sql import UNSET
from pgrecall.cli._main import cli

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises")


def pages() -> dict[Path, str]:
    """Return both pages."""
    return {REFERENCE / "python.md": driver(), REFERENCE / "cli.md": commands()}


# Python


def driver() -> str:
    """Return the page of the driver's public API."""
    lines = [
        "<!-- Written by `make generate`. -->",
        "# Python",
        "",
        "Modules and names without a leading underscore are public. Everything else is private.",
        "`AsyncAgentMemory`, `AsyncChatSession` and so on have the same methods as coroutines.",
        "A default of `…` is the default of the database's function.",
        "",
    ]
    seen: set[int] = set()
    for module in modules():
        members = list(public(module, seen))
        if members:
            lines += [f"## {module.__name__}", "", summary(module), ""]
        exceptions = [(name, item) for name, item in members if is_exception(item)]
        for name, item in members:
            if not is_exception(item):
                lines += described(name, item)
        if exceptions:
            lines += ["| exception | meaning |", "|---|---|"]
            lines += [f"| `{name}` | {summary(item)} |" for name, item in exceptions]
            lines.append("")
    return "\n".join(lines)


def modules() -> list[ModuleType]:
    """Return the package and its public modules, but for the optional ones."""
    names = sorted(
        info.name
        for info in pkgutil.iter_modules(pgrecall.__path__)
        if not info.name.startswith("_")
        and info.name not in ("cli", "data", "examples", "inspector", "integrations")
    )
    return [pgrecall, *(importlib.import_module(f"pgrecall.{name}") for name in names)]


def public(module: ModuleType, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Yield the names of `__all__` that no module before has, without asynchronous twins."""
    names = getattr(module, "__all__", [])
    for name in names:
        item = getattr(module, name)
        twin = name.replace("Async", "", 1)
        is_twin = twin != name and twin in names
        # errors are listed by their own module
        is_listed = is_exception(item) and module is pgrecall
        if (
            is_twin
            or is_listed
            or id(item) in seen
            or not (callable(item) or inspect.isclass(item))
        ):
            continue
        seen.add(id(item))
        yield name, item


def is_exception(item: Any) -> bool:
    """Say whether it is a class of errors."""
    return inspect.isclass(item) and issubclass(item, BaseException)


def summary(item: Any) -> str:
    """Return the first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(item) or "").split("\n\n")[0].split())


def described(name: str, item: Any) -> list[str]:
    """Return the section of a class or a function."""
    lines = [f"### {name}", ""]
    if not inspect.isclass(item):
        return [*lines, *signature(name, item), *docstring(item)]
    if not dataclasses.is_dataclass(item) and "__init__" in vars(item) and not is_made_for(item):
        lines += signature(name, item.__init__)
    lines += docstring(item)
    lines += methods(name, item)
    if item is pgrecall.AgentMemory:
        for attribute, part in parts(item).items():
            lines += [f"### memory.{attribute}", "", *docstring(part)]
            lines += methods(f"memory.{attribute}", part)
    return lines


def parts(client: type[pgrecall.AgentMemory | pgrecall.AsyncAgentMemory]) -> dict[str, type]:
    """Return the classes behind the attributes of a client, such as `memory.sessions`."""
    memory = client.connect("postgresql://", embedder=False)  # connects to nothing
    lazy = [name for name, item in vars(client).items() if isinstance(item, cached_property)]
    found = {name: type(getattr(memory, name)) for name in [*vars(memory), *lazy]}
    return {
        name: part
        for name, part in found.items()
        if not name.startswith("_") and re.search(r"\._a?sync\.", part.__module__)
    }


def is_made_for(cls: type) -> bool:
    """Say whether other objects make it, so that its constructor is no part of the API."""
    return "._sync." in cls.__module__ and cls.__name__ in pgrecall.__all__


def methods(prefix: str, cls: type) -> list[str]:
    """Return the sections of a class' public methods and properties."""
    lines: list[str] = []
    for name, item in inspect.getmembers_static(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), cls)
        if name.startswith("_") or not owner.__module__.startswith("pgrecall"):
            continue
        head = [f"#### {prefix}.{name}", ""]
        if isinstance(item, property):
            lines += [*head, *docstring(item)] if item.__doc__ else []
        elif callable(item) or isinstance(item, (classmethod, staticmethod)):
            function = inspect.unwrap(getattr(item, "__func__", item))
            if inspect.getdoc(function):
                code = signature(name, function)
                if code and isinstance(item, (classmethod, staticmethod)):
                    code.insert(1, f"@{type(item).__name__}")
                lines += [*head, *code, *docstring(function)]
    return lines


def signature(name: str, function: Any) -> list[str]:
    """Return a signature as lines of code."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    parameters = [p for p in found.parameters.values() if p.name not in ("self", "cls")]
    texts: list[str] = []
    is_keyword = False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not is_keyword:
            is_keyword = True
            texts.append("*")
        is_keyword = is_keyword or parameter.kind is parameter.VAR_POSITIONAL
        if options := re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation)):
            if not is_keyword:
                texts.append("*")
            shared = getattr(pgrecall, options[1]).__annotations__
            texts += [f"{key}: {kind.__forward_arg__} = …" for key, kind in shared.items()]
        else:
            texts.append(parameter_text(parameter))
    result = "" if found.return_annotation is found.empty else f" -> {found.return_annotation}"
    result = "" if result == " -> None" else result
    line = f"{name}({', '.join(texts)}){result}"
    if len(line) <= 96:
        return ["```py", line, "```", ""]
    return ["```py", f"{name}(", *(f"    {text}," for text in texts), f"){result}", "```", ""]


def parameter_text(parameter: inspect.Parameter) -> str:
    """Return a parameter with its type and default; … is the default of the database."""
    text = parameter.name
    if parameter.kind is parameter.VAR_POSITIONAL:
        text = f"*{text}"
    elif parameter.kind is parameter.VAR_KEYWORD:
        text = f"**{text}"
    if parameter.annotation is not parameter.empty:
        text += f": {parameter.annotation}".replace(" | Unset", "")
    if parameter.default is not parameter.empty:
        default = repr(parameter.default)
        if default.startswith("<"):  # an object shows its type
            default = "…" if parameter.default is UNSET else type(parameter.default).__name__
        text += f" = {default}"
    return text


def docstring(item: Any) -> list[str]:
    """Return a docstring as Markdown: its sections become lists."""
    text = inspect.getdoc(item) or ""
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        head, _, body = paragraph.partition("\n")
        if head.rstrip(":") in SECTIONS and head.endswith(":"):
            lines += [f"{head.rstrip(':')}:", "", *items(textwrap.dedent(body)), ""]
        elif paragraph.startswith("    ") or "::" in paragraph:
            continue  # code
        elif paragraph:
            lines += [" ".join(paragraph.split()), ""]
    return lines


def items(body: str) -> list[str]:
    """Return the entries of a section of a docstring as a list."""
    entries: list[str] = []
    for line in body.splitlines():
        if line.startswith(" ") and entries:
            entries[-1] += " " + line.strip()
        else:
            entries.append(line.strip())
    return [re.sub(r"^(\*{0,2}[\w.]+):", r"- `\1`:", entry) for entry in entries if entry]


# The command line


def commands() -> str:
    """Return the page of the command line."""
    lines = [
        "<!-- Written by `make generate`. -->",
        "# Command line",
        "",
        "Exit status 0 is success, 1 a refusal or a failure, 2 wrong usage.",
        "`--json` prints one document.",
        "Texts are printed with control, invisible and bidirectional characters as escapes such as",
        "`\\x1b`, in a pipe as on a terminal. A cell of a table shows a line feed as `\\n`.",
        "JSON and `export` lose nothing: they have `\\u001b`.",
        "A command that erases asks at a terminal, and needs `--yes` elsewhere.",
        "Without `--dsn`, `PGRECALL_DSN` and the `PG*` variables, commands use the embedded server",
        "in the folder `PGRECALL_HOME`.",
        "",
    ]
    context = click.Context(cli, info_name="pgrecall")
    for name in cli.list_commands(context):
        lines += command_section(cli, context, name)
    return "\n".join(lines)


def command_section(group: click.Group, parent: click.Context, name: str) -> list[str]:
    """Return the section of a command of a group, and of those below it."""
    command = group.get_command(parent, name)
    if command is None:
        raise KeyError(name)
    context = click.Context(command, parent=parent, info_name=name)
    depth = 2 if parent.parent is None else 3
    lines = [f"{'#' * depth} {context.command_path}", ""]
    for paragraph in (command.help or "").split("\n\n"):
        lines += [" ".join(paragraph.replace("\b", "").split()), ""]
    usage = " ".join(command.collect_usage_pieces(context))
    lines += ["```text", f"{context.command_path} {usage}", "```", ""]
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            lines += command_section(command, context, below)
        return lines
    records = [
        parameter.get_help_record(context)
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts
    ]
    shown = [record for record in records if record]
    if shown:
        lines += ["| option | meaning |", "|---|---|"]
        lines += [f"| `{_cell(option)}` | {_cell(meaning)} |" for option, meaning in shown]
        lines.append("")
    return lines


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
