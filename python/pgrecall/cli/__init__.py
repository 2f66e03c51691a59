"""The command line: `pgrecall COMMAND`. Each command is a module beside this one."""

from pgrecall.cli._main import main

__all__ = ["main"]
