"""The arithmetic of the time to first token."""

from __future__ import annotations

import pytest

import first_token


def test_split_leaves_the_rest_of_a_send_and_ignores_earlier_spans() -> None:
    spans = [
        ("compile_context", 8.0, 9.0),
        ("embedding", 10.01, 10.06),
        ("compile_context", 10.06, 10.07),
        ("record_access", 10.07, 10.5),
        ("append_messages", 10.1, 10.102),
    ]
    assert first_token.split(spans, 10.0, 10.08) == pytest.approx(
        {"all": 80, "embedding": 50, "context": 10, "rest": 20, "append": 2}
    )


def test_table_has_medians_and_the_least() -> None:
    base = {"processor": 1.0, "embedding": 2.0, "context": 3.0, "rest": 4.0, "append": 5.0}
    times = [base | {"all": whole} for whole in (30.0, 10.0, 20.0)]
    row = first_token.table({"local": times}).splitlines()[-1]
    assert row == "| local | 20.0 | 10.0 | 30.0 | 1.0 | 2.0 | 3.0 | 4.0 | 5.0 |"
