"""The logger of the package, which escapes its arguments: many are stored texts."""

from __future__ import annotations

import logging
from typing import Any

from pgrecall._plain import escaped_line

__all__ = ["logger"]


class _Shown:
    """An argument of a record whose text cannot fake a line or act on a terminal."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __str__(self) -> str:
        return escaped_line(str(self._value))

    def __repr__(self) -> str:
        return escaped_line(repr(self._value))


def _escape_arguments(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        record.args = tuple(
            one if isinstance(one, (int, float)) else _Shown(one) for one in record.args
        )
    return True


logger = logging.getLogger("pgrecall")
logger.addFilter(_escape_arguments)
