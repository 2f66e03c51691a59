"""Build hook: the database side travels inside the wheel, under pgrecall/_database.

Not by `force-include` in pyproject.toml, which would also copy it when the package is installed in
place; python/pgrecall/schema.py reads the checkout then, and a copy would only grow stale.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DatabaseFiles(BuildHookInterface[Any]):
    """Adds sql/, functions/ and migrations/ to an ordinary wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say what goes in, before the wheel is built."""
        if version == "standard":
            for folder in ("sql", "functions", "migrations"):
                build_data["force_include"][folder] = f"pgrecall/_database/{folder}"
