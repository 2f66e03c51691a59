"""Leave tests out, and count those that use a class of ours; a plugin of pytest in each suite.

`SUITE` is the name of the suite, and `SUITE_REPORT` the file for what was counted.
"""

from __future__ import annotations

import json
import os
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

_SUITE = os.environ["SUITE"]
_EXCLUDED = Path(__file__).with_name("excluded.toml")
_used: set[str] = set()  # not empty while a test runs that has made an object of ours
_counts = {"ours": 0, "others": 0, "passed": 0, "excluded": 0}
_passed: set[str] = set()


def use() -> None:
    """Note that the running test has made an object of ours."""
    _used.add("ours")


def reasons() -> dict[str, str]:
    """Return the tests that this suite leaves out, each with its reason."""
    found: dict[str, str] = tomllib.loads(_EXCLUDED.read_text(encoding="utf-8")).get(_SUITE, {})
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what excluded.toml names; a line that names no test is an error."""
    names = {item: item.nodeid.removeprefix("tests/") for item in items}
    out: set[pytest.Item] = set()
    for pattern in reasons():
        found = {item for item, name in names.items() if fnmatchcase(name, pattern)}
        if not found:
            raise pytest.UsageError(f"excluded.toml: {_SUITE} has no test {pattern}")
        out |= found
    config.hook.pytest_deselected(items=[*out])
    items[:] = [item for item in items if item not in out]
    _counts["excluded"] = len(out)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Begin to note."""
    _used.clear()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Report whether the test has used a class of ours."""
    item.user_properties.append(("ours", bool(_used)))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count the tests; in the process that reads the reports of all."""
    if report.when == "call" and report.passed:
        _passed.add(report.nodeid)
    elif report.when == "teardown":
        uses_ours = ("ours", True) in [tuple(one) for one in report.user_properties]
        _counts["ours" if uses_ours else "others"] += 1
        _counts["passed"] += uses_ours and report.nodeid in _passed and report.passed


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of pytest-xdist has left out."""
    _counts["excluded"] = node.workeroutput["excluded"]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what was counted."""
    output = getattr(session.config, "workeroutput", None)
    if output is None:
        Path(os.environ["SUITE_REPORT"]).write_text(json.dumps(_counts), encoding="utf-8")
    else:
        output["excluded"] = _counts["excluded"]
