"""The page functions/jobs/README.md against what the functions give and take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import psycopg
import pytest

from everyfunction import World, furnish
from support import call, value

PAGE = Path(__file__).resolve().parents[1] / "functions" / "jobs" / "README.md"
# the jobs of `furnish`, and their results there
JOBS = {
    "extract, verbatim": ("extract", "extracted"),
    "extract, llm": ("llm", "decided"),
    "embed": ("embed", "embedded"),
    "summarize": ("summarize", "summarized"),
    "compact": ("compact", "compacted"),
    "merge": ("merging", "merged"),
    "pattern": ("noticing", "noticed"),
}


def sections() -> dict[str, list[Any]]:
    """The JSON blocks of each section of the page, in order."""
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    blocks = [re.findall(r"```json\n(.*?)```", part, re.DOTALL) for part in parts[1::2]]
    return dict(zip(parts[::2], [[*map(json.loads, block)] for block in blocks], strict=True))


PARTS = sections()
SHARED = PARTS["Shared"][0]


def validator(schema: Any) -> jsonschema.Draft202012Validator:
    whole = {**schema, **SHARED}
    jsonschema.Draft202012Validator.check_schema(whole)
    return jsonschema.Draft202012Validator(whole)


def of_kind(name: str) -> tuple[Any, Any]:
    """Input and result schema of a kind."""
    return PARTS[name][0], PARTS[name][-2]


@pytest.fixture(scope="module")
def world(dsn: str) -> Iterator[World]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        yield furnish(conn, "marked")


def leased(world: World, name: str) -> dict[str, Any]:
    job = JOBS[name][0]
    return {
        "p_user_id": world["user"],
        "p_job_id": world[f"{job}_job"],
        "p_lease_token": world[f"{job}_token"],
    }


def test_every_kind_has_its_section(db: psycopg.Connection) -> None:
    assert {*PARTS} == {"The protocol", *JOBS, "Shared"}
    known = value(
        db,
        r"select regexp_matches(pg_get_constraintdef(oid), '^.*$')"
        "  from pg_constraint where conname = 'jobs_kind_check'",
    )[0]
    assert {*re.findall(r"'(\w+)'::text", known)} == {name.split(",")[0] for name in JOBS}


@pytest.mark.parametrize("name", [*JOBS])
def test_examples_are_what_they_explain(name: str) -> None:
    blocks = PARTS[name]
    for schema, example in zip(blocks[::2], blocks[1::2], strict=True):
        validator(schema).validate(example)


@pytest.mark.parametrize("name", [*JOBS])
def test_inputs_and_accepted_results(db: psycopg.Connection, world: World, name: str) -> None:
    """What comes is as the page says; what the page allows is taken, and what it forbids is not."""
    of_input, of_result = map(validator, of_kind(name))
    job = leased(world, name)
    of_input.validate(call(db, "job_input", **job)[0]["job_input"])

    result = world[JOBS[name][1]].obj
    of_result.validate(result)
    phases = [{"phase": name, "duration_ms": 1.5, "items": 1, "model_id": "gpt-4o-mini",
               "prompt_tokens": 10, "completion_tokens": 5}]  # fmt: skip
    validator(PARTS["The protocol"][0]).validate(phases)
    with db.transaction(force_rollback=True):
        (done,) = call(db, "finish_job", **job, p_result=result, p_phases=phases)
        assert done["finish_job"]

    odd = result | {"unknown": 1}
    assert not of_result.is_valid(odd)
    with pytest.raises(psycopg.Error) as caught:
        call(db, "finish_job", **job, p_result=odd)
    assert caught.value.sqlstate == "RC003"


# the session is too short for a compaction: its result is taken whatever it says
@pytest.mark.parametrize("name", sorted({*JOBS} - {"compact"}))
def test_what_must_be_there(db: psycopg.Connection, world: World, name: str) -> None:
    """A result without a key that the page requires is refused, or does nothing."""
    schema = of_kind(name)[1]
    result = world[JOBS[name][1]].obj
    for key in schema["required"]:
        less = {other: item for other, item in result.items() if other != key}
        assert not validator(schema).is_valid(less)
        with db.transaction(force_rollback=True):
            assert outcome(db, p_result=less, **leased(world, name)) in ("RC003", "RC004", False)


def outcome(db: psycopg.Connection, **arguments: Any) -> Any:
    try:
        return call(db, "finish_job", **arguments)[0]["finish_job"]
    except psycopg.Error as error:
        return error.sqlstate


def test_the_question_in_between(db: psycopg.Connection, world: World) -> None:
    (answer,) = call(db, "consolidation_input", **leased(world, "extract, llm"),
                     p_candidates=world["candidates"].obj)  # fmt: skip
    assert answer["consolidation_input"]["open"]
    validator(PARTS["extract, llm"][2]).validate(answer["consolidation_input"])


def test_both_forms_of_a_vector(db: psycopg.Connection, world: World) -> None:
    merged = world["merged"].obj
    numbers = merged | {"embeddings": [json.loads(text) for text in merged["embeddings"]]}
    for result in (merged, numbers, merged | {"embeddings": [None]}):
        validator(of_kind("merge")[1]).validate(result)
        with db.transaction(force_rollback=True):
            (done,) = call(db, "finish_job", **leased(world, "merge"), p_result=result)
            assert done["finish_job"]
