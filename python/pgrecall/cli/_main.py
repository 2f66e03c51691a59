"""The group of commands, and how their errors come out."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module, metadata

import click
import psycopg

from pgrecall.cli._output import note, note_warnings, print_error, print_json, print_usage_error

__all__ = ["cli", "main"]

_COMMANDS = {
    "install": "install",
    "status": "status",
    "doctor": "status",
    "roles": "roles",
    "metrics": "metrics",
    "demo": "demo",
    "chat": "chat",
    "import": "import_",
    "import-user": "privacy",
    "export": "privacy",
    "forget": "privacy",
    "seal": "privacy",
    "rotate-key": "privacy",
    "verify": "privacy",
    "search": "search",
    "memories": "memories",
    "context": "context",
    "calls": "calls",
    "worker": "worker",
    "tick": "tick",
    "embeddings": "embeddings",
    "shards": "shards",
    "mcp": "mcp",
    "inspect": "inspect",
    "bench": "bench",
}


class _Commands(click.Group):
    """Loads a command's module when it is needed: `--help` and errors come at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"pgrecall.cli.{_COMMANDS[cmd_name]}")
        command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        assert isinstance(command, click.Command)  # noqa: S101
        return command


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Without --dsn, PGRECALL_DSN or the PG* variables the embedded server is used, in the "
    "folder PGRECALL_HOME.",
)
@click.version_option(metadata.version("pgrecall"), prog_name="pgrecall")
def cli() -> None:
    """Long-term memory for LLM agents, inside PostgreSQL."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: 0 fine, 1 refused or failed, 2 wrong usage."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    out = sys.stdout  # noqa: TID251
    if isinstance(out, io.TextIOWrapper):
        out.reconfigure(errors="replace")  # a character that a terminal has not is no error
    note_warnings()
    sys.exit(_run(given))


def _run(arguments: list[str]) -> int:
    try:
        code = cli.main(args=arguments, prog_name="pgrecall", standalone_mode=False)
        sys.stdout.flush()  # noqa: TID251
    except click.UsageError as error:
        print_usage_error(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print_error("stopped")
        return 1
    except BrokenPipeError:
        # the reader of our output has closed it; nothing may be flushed into the pipe at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # noqa: TID251
        return 1
    except Exception as error:
        if os.environ.get("PGRECALL_DEBUG"):
            note("".join(traceback.format_exception(error)))
            return 1
        message = _said(error)
        print_error(message)
        if "--json" in arguments:
            print_json({"error": {"message": message, "code": getattr(error, "sqlstate", None)}})
        return 1
    return code if isinstance(code, int) else 0


def _said(error: Exception) -> str:
    """Return the message of an error for the user of the command."""
    from pgrecall.embedded import EmbeddedServerError
    from pgrecall.models._embedders import EmbeddingError
    from pgrecall.schema import InstallError

    if isinstance(error, click.ClickException):
        return error.message
    text = str(error).strip()
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return f"{text.splitlines()[0]} (grant the user one of the roles recall_…)"
    openai = sys.modules.get("openai")  # nobody waits for its import to see an error
    if openai is not None and isinstance(error, openai.OpenAIError):
        return f"the endpoint of a model failed: {text or type(error).__name__}"
    known = (InstallError, EmbeddedServerError, EmbeddingError, psycopg.Error, OSError)
    if isinstance(error, known):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text} (PGRECALL_DEBUG=1 shows where)"
