"""Work in a child of the test's process."""

from __future__ import annotations

import json
import os
import select
import signal
import traceback
from collections.abc import Callable
from typing import Any

__all__ = ["Child", "in_child"]

_SECONDS = 30.0


class Child:
    """A fork of this process: it does some work, and ends without any cleaning up.

    Args:
        work: returns something that JSON can say.
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        self._result, end = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(end)
            return
        said: dict[str, Any]
        try:
            said = {"value": work()}
        except BaseException as error:
            said = {"error": type(error).__name__, "text": str(error), "at": traceback.format_exc()}
        os.write(end, json.dumps(said).encode())
        os._exit(0)

    def result(self) -> dict[str, Any]:
        """Wait for the child, and return what it says; a child that hangs is killed."""
        said = b""
        try:
            while select.select([self._result], [], [], _SECONDS)[0]:
                piece = os.read(self._result, 65536)
                said += piece
                if not piece:
                    break
        finally:
            os.kill(self.pid, signal.SIGKILL)
            os.close(self._result)
            os.waitpid(self.pid, 0)
        assert said, "the child hangs"
        found: dict[str, Any] = json.loads(said)
        return found


def in_child(work: Callable[[], Any]) -> Any:
    """Return what some work returns in a child."""
    said = Child(work).result()
    assert "value" in said, said["at"]
    return said["value"]
