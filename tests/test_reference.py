"""The README's function reference is what the catalog says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_reference_in_the_readme_is_up_to_date(dsn: str) -> None:
    spec = importlib.util.spec_from_file_location("reference", ROOT / ".ci/reference.py")
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)

    readme = (ROOT / "README.md").read_text()
    assert readme == reference.updated(readme, dsn), "run .ci/reference.py DSN"
