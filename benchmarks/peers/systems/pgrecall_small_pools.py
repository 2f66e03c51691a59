"""pgrecall as in pgrecall_python, with pools of two connections instead of eight.

The pools of four processes then have four connections for each core of the server.
"""

from __future__ import annotations

from typing import Any

from load_host import load_system
from pgrecall import Limits

_Python: Any = load_system("pgrecall_python")


class PgrecallSmallPools(_Python):
    title = "pgrecall, Python, pools of 2"
    limits = Limits(max_connections=2)
