"""Token counts that a worker returns beside vectors: memories take them in place of estimates."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall.models import count_text_tokens
from pgrecall.models._tokens import count_for_any_model
from support import ask, call, open_session, refused, rows, value
from support.memories import remember
from support.requests import answered, claim, scripted, told, work

Connection = psycopg.Connection[Any]

TEXTS = [
    "User prefers restaurants that offer vegetarian dishes without additional charges.",
    "User trug gestern Wanderschuhe, deren Sohlen sich während der Bergtour ablösten.",
    "El usuario trabaja como desarrollador independiente para empresas internacionales.",
    "Пользователь каждое утро бегает вдоль реки и пьёт зелёный чай.",
    "用户住在上海，每个周末都和朋友一起打羽毛球。",
    "User takes atorvastatin, hydrochlorothiazide and levothyroxine before breakfast.",
    "User's router has the address 192.168.178.1 and the password policy CORP-7/b.",
    "User tinggal di Yogyakarta dan menyukai pertunjukan wayang kulit tradisional.",
]


@pytest.fixture(autouse=True)
def alone(db: Connection) -> Iterator[None]:
    db.execute("delete from recall.jobs")
    yield
    db.execute("delete from recall.jobs")


def worked(conn: Connection, kind: str, counts: Callable[[list[str]], Any], **worker: Any) -> None:
    """Do a job of a kind; the worker counts as told."""
    job = claim(conn, kind)
    request = ask(conn, job, **worker)
    while request["type"] in ("chat", "embed"):
        answer = answered(request, scripted)
        if request["type"] == "embed":
            answer["token_counts"] = counts(request["inputs"])
        request = ask(conn, job, answer, **worker)
    assert request["type"] == "done"


def counted(conn: Connection, user: uuid.UUID) -> dict[str, int]:
    return {
        row["content"]: row["token_count"]
        for row in rows(conn, "select content, token_count from recall.memory_store"
                              " where user_id = %s", [user])
    }  # fmt: skip


def estimate(conn: Connection, text: str) -> int:
    return int(value(conn, "select recall._estimate_tokens(%s)", [text]))


def late_vectors(conn: Connection, user: uuid.UUID, *texts: str, **more: Any) -> None:
    for text in texts:
        remember(conn, user, text, **more)
    conn.execute("delete from recall.jobs where user_id = %s", [user])
    call(conn, "enqueue_job", p_user_id=user, p_kind="embed")


def test_extracted_memory_has_count_of_worker_and_a_third(db: Connection, user: uuid.UUID) -> None:
    told(db, user)
    worked(db, "extract", lambda _: [6, None])
    told_where = "Told where they live."
    assert counted(db, user) == {"User lives in Lyon.": 8, told_where: estimate(db, told_where)}


def test_count_replaces_estimate_of_memory_with_late_vector(
    db: Connection, user: uuid.UUID
) -> None:
    late_vectors(db, user, *TEXTS)
    worked(db, "embed", count_for_any_model)
    counts = count_for_any_model(TEXTS) or []
    assert counted(db, user) == {
        text: min(math.ceil(count * 4 / 3), estimate(db, text))
        for text, count in zip(TEXTS, counts, strict=True)
    }
    assert sum(counted(db, user).values()) < 0.7 * sum(estimate(db, text) for text in TEXTS)
    assert call(db, "verify_integrity", p_user_id=user) == []


def test_count_that_a_caller_gave_stays(db: Connection, user: uuid.UUID) -> None:
    late_vectors(db, user, TEXTS[0], p_token_count=40)
    worked(db, "embed", lambda _: [5])
    assert counted(db, user) == {TEXTS[0]: 40}


@pytest.mark.parametrize(
    ("counts", "share"), [([1], 1 / 8), ([100_000], 1), ([None], 1), ([5, 5], 1), ([], 1)]
)
def test_count_stays_within_bounds_of_estimate(
    db: Connection, user: uuid.UUID, counts: list[Any], share: float
) -> None:
    late_vectors(db, user, TEXTS[0])
    worked(db, "embed", lambda _: counts)
    least = math.ceil(share * estimate(db, TEXTS[0]))
    assert counted(db, user) == {TEXTS[0]: max(least, len(TEXTS[0].split()))}


@pytest.mark.parametrize("counts", ["8", {"a": 1}, [0], [-3], ["8"], [[8]], [True]])
def test_malformed_counts_are_rejected(db: Connection, user: uuid.UUID, counts: Any) -> None:
    late_vectors(db, user, TEXTS[0])
    job = claim(db, "embed")
    request = ask(db, job)
    with refused("RC003", "token_counts"):
        ask(db, job, answered(request, scripted) | {"token_counts": counts})


def test_count_of_text_that_was_cut_is_ignored(db: Connection, user: uuid.UUID) -> None:
    late_vectors(db, user, TEXTS[0])
    worked(db, "embed", lambda _: [5], embed_tokens=20)
    assert counted(db, user) == {TEXTS[0]: estimate(db, TEXTS[0])}


def test_counts_of_one_batch_alone_are_ignored(db: Connection, user: uuid.UUID) -> None:
    late_vectors(db, user, *TEXTS)
    batches: list[list[str]] = []

    def first_not(texts: list[str]) -> list[int] | None:
        batches.append(texts)
        return None if len(batches) == 1 else count_for_any_model(texts)

    worked(db, "embed", first_not, embed_batch=5)
    assert len(batches) == 2
    assert counted(db, user) == {text: estimate(db, text) for text in TEXTS}


@pytest.mark.parametrize("model", ["o200k_base", "cl100k_base"])
def test_budget_of_counted_memories_holds_their_real_tokens(
    db: Connection, user: uuid.UUID, model: str
) -> None:
    late_vectors(db, user, *TEXTS)
    worked(db, "embed", count_for_any_model)
    context = value(
        db, "select recall.compile_context(%s, %s, p_options => %s)",
        [user, open_session(db, user), Jsonb({"selection": "all", "memory_budget": 330})],
    )  # fmt: skip
    [block] = context["messages"]
    assert len(context["memories"]) > 5, "estimates alone leave room for fewer"
    assert count_text_tokens(block["content"], model) <= context["budget"]["memory"] <= 330


@pytest.mark.parametrize("model", ["o200k_base", "cl100k_base"])
def test_line_that_quotes_a_turn_costs_no_more_than_counted(db: Connection, model: str) -> None:
    quotes = [
        "I see.",
        "Really?",
        '"Yes," she said',
        "¡Hola!",
        "42",
        "好的。",
        "(no answer",
        *TEXTS,
    ]
    for name in ("Caroline", "user", "María José", "李雷", "O'Neill", "x_1", "B2-bot"):
        for quoted in quotes:
            line = f'- {name}: "{quoted}"'
            tokens = value(db, "select recall._quote_tokens(%s, %s, %s, %s)",
                           [line, quoted, quoted, count_text_tokens(quoted, model)])  # fmt: skip
            assert count_text_tokens(line + "\n", model) <= tokens, (line, tokens)


def test_counts_survive_a_lost_lease(db: Connection, user: uuid.UUID) -> None:
    late_vectors(db, user, *TEXTS[:3])
    job = claim(db, "embed")
    request = ask(db, job, embed_batch=2)
    ask(db, job, answered(request, scripted) | {"token_counts": [20, 20]}, embed_batch=2)
    db.execute("update recall.jobs set lease_until = now() - interval '1 second'")
    call(db, "release_expired_leases")
    db.execute("update recall.jobs set run_at = now()")
    job = claim(db, "embed")
    request = ask(db, job, embed_batch=2)
    assert len(request["inputs"]) == 1
    done = ask(db, job, answered(request, scripted) | {"token_counts": [20]}, embed_batch=2)
    assert done["type"] == "done"
    assert [*counted(db, user).values()] == [27] * 3


def test_user_with_another_model_gets_no_vectors_of_the_workers(
    db: Connection, user: uuid.UUID
) -> None:
    """They would stand there under the name of the user's model."""
    call(db, "configure_user", p_user_id=user, p_changes={"embedding_model": "other:model"})
    late_vectors(db, user, TEXTS[0])
    job = claim(db, "embed")
    assert ask(db, job)["type"] == "deferred"
    db.execute("update recall.jobs set run_at = now()")
    end, requests = work(db, claim(db, "embed"), scripted, embedding_model="other:model")
    assert (end["type"], [request["model"] for request in requests]) == ("done", ["other:model"])
    assert value(db, "select array_agg(embedding_model) from recall.memory_embedding"
                     " where user_id = %s", [user]) == ["other:model"]  # fmt: skip
