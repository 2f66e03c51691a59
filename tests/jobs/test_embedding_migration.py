"""Change of the embedding model while searches go on."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall.errors import InvalidEmbeddingError
from support import (
    append,
    call,
    finding,
    job_rows,
    open_session,
    raise_errors,
    refused,
    rows,
    said,
    together,
    value,
)
from support.embeddings import (
    NEW,
    advance,
    as_literal,
    current,
    hashed,
    migrate,
    work_embed,
)
from support.servers import TestServer

Connection = psycopg.Connection[Any]

FACTS = [
    "User lives in Lyon near the river.", "User works as a nurse at night.",
    "User plays badminton every weekend.", "User has a dog named Rex.",
    "User drinks green tea without sugar.", "User drives an old red car.",
    "User studies medieval history.", "User is allergic to peanuts.",
    "User plants tomatoes on the balcony.", "User travels to Japan in spring.",
]  # fmt: skip


@pytest.fixture
def fresh(server: TestServer) -> Iterator[Connection]:
    """A connection to a database of its own: a change concerns all users of a database."""
    name = server.cloned_database("migration")
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        yield conn
    server.drop_database(name)


def add(conn: Connection, user: uuid.UUID, *texts: str) -> list[uuid.UUID]:
    """Remember texts with vectors of the current model."""
    _model, dimensions = current(conn)
    return [
        value(conn, "select memory_id from recall.remember(%s, %s, p_embedding => %s::halfvec)",
              [user, text, as_literal(hashed(text, dimensions))])
        for text in texts
    ]  # fmt: skip


def talk(conn: Connection, user: uuid.UUID, *texts: str) -> uuid.UUID:
    session = open_session(conn, user)
    append(conn, user, session, said(*texts))
    return session


def furnished(conn: Connection, name: str = "ada") -> uuid.UUID:
    """A user with memories, an ended memory, messages and a summary, all with vectors."""
    user: uuid.UUID = value(conn, "select recall.user_id(%s)", [name])
    ids = add(conn, user, *FACTS)
    conn.execute("select recall.retract_memory(%s, %s, 'wrong')", [user, ids[3]])
    session = talk(conn, user, *(f"I said: {fact}" for fact in FACTS[:6]))
    conn.execute(
        "insert into recall.session_summaries (user_id, session_id, summary_id, kind, from_turn,"
        " to_turn, content, token_count, created_at)"
        " values (%s, %s, recall.uuidv7(), 'rolling', 1, 4, 'They spoke of Lyon.', 5, now())",
        [user, session])  # fmt: skip
    work_embed(conn, [current(conn)[0]])
    return user


def searched(conn: Connection, user: uuid.UUID, query: str, **more: Any) -> list[tuple[Any, ...]]:
    """Return what the searches find by the current model: texts and similarities."""
    _model, dimensions = current(conn)
    embedding = as_literal(hashed(query, dimensions))
    found: list[tuple[Any, ...]] = []
    for function, column in (
        ("search", "content"),
        ("search_messages", "content"),
        ("search_sessions", "summary"),
    ):
        for text in (None, query):
            found += [
                (function, text is None, row[column], round(row["similarity"] or 0, 4))
                for row in rows(
                    conn, f"select * from recall.{function}(%s, %s, %s::halfvec)",
                    [user, text, embedding])
            ]  # fmt: skip
    found += [
        ("as_of", row["content"], round(row["similarity"] or 0, 4))
        for row in rows(
            conn, "select * from recall.search(%s, null, %s::halfvec,"
            " p_filter => '{\"include_ended\": true}')", [user, embedding])
    ]  # fmt: skip
    return found


def counts(conn: Connection) -> dict[str, dict[str, int]]:
    """Return how many vectors each table has of each model."""
    return {
        table: dict(
            conn.execute(
                f"select {model}, count(*) from recall.{table} where {column} is not null"
                f" group by {model}".encode()
            ).fetchall()
        )
        for table, model, column in (
            ("memory_embedding", "embedding_model", "embedding"),
            ("memory_embedding_ended", "embedding_model", "embedding"),
            ("message_search", "embedding_model", "embedding"),
            ("session_summaries", "embedding_model", "embedding"),
            ("session_summaries", "next_embedding_model", "next_embedding"),
        )
        if column == "embedding"
    }


QUERIES = ["Where does the user live?", "Rex the dog", "green tea", "old red car"]


@pytest.mark.parametrize("dimensions", [4, 32, 300], ids=["smaller", "larger", "with sign bits"])
def test_results_stay_until_switch_and_then_equal_those_of_fresh_installation(
    fresh: Connection, server: TestServer, dimensions: int
) -> None:
    old, _ = current(fresh)
    users = [furnished(fresh, "ada"), furnished(fresh, "ben")]
    before = [searched(fresh, user, query) for user in users for query in QUERIES]
    sizes = counts(fresh)

    fresh.execute("select recall.start_embedding_migration(%s, %s, '0')", [NEW, dimensions])
    assert advance(fresh) == "running"
    step = 0
    while work_embed(fresh, [old, NEW], limit=1):
        step += 1
        assert [searched(fresh, user, query) for user in users for query in QUERIES] == before
    assert step >= 2
    assert advance(fresh) == "switched"
    assert current(fresh) == (NEW, dimensions)
    after = [searched(fresh, user, query) for user in users for query in QUERIES]
    assert advance(fresh) == "done"
    assert [searched(fresh, user, query) for user in users for query in QUERIES] == after
    assert counts(fresh) == {
        table: {NEW: models[old]} if models else {} for table, models in sizes.items()
    }
    assert value(fresh, "select count(*) from recall.session_summaries"
                        " where next_embedding is not null") == 0  # fmt: skip

    # The same data in a database that has had the new model from the start
    name = server.cloned_database("other")
    with psycopg.connect(server.dsn(name), autocommit=True) as other:
        other.execute("update recall.settings set embedding_model = %s, embedding_dimensions = %s",
                      [NEW, dimensions])  # fmt: skip
        for user in ("ada", "ben"):
            furnished(other, user)
        assert [searched(other, user, query) for user in users for query in QUERIES] == after
    server.drop_database(name)
    assert call(fresh, "verify_integrity", p_user_id=users[0]) == []


def test_new_and_ended_memories_get_both_vectors(fresh: Connection) -> None:
    old, _ = current(fresh)
    user = furnished(fresh)
    call(fresh, "start_embedding_migration", p_model=NEW, p_dimensions=16)
    advance(fresh)
    work_embed(fresh, [old, NEW])
    (late,) = add(fresh, user, "User sings in a choir on Mondays.")
    newcomer = furnished(fresh, "newcomer")
    fresh.execute("select recall.supersede_memory(%s, %s, 'User sings in a band.')", [user, late])
    talk(fresh, user, "My cello is in repair.")
    for _ in range(3):
        call(fresh, "enqueue_missing_embeddings")
        advance(fresh)
        work_embed(fresh, [old, NEW])
    assert advance(fresh) == "switched"
    lacking = value(
        fresh, "select sum(recall._count_unmigrated(u.user_id, %s)) from recall.users as u", [NEW]
    )
    assert lacking == 0
    both = counts(fresh)
    assert all(models[NEW] >= models[old] for table, models in both.items()
               if table != "session_summaries"), both  # fmt: skip
    assert searched(fresh, newcomer, FACTS[0])[0][2] == FACTS[0]


def test_vector_of_another_model_is_refused_by_its_label(fresh: Connection) -> None:
    old, dimensions = current(fresh)
    user = furnished(fresh)
    query = as_literal(hashed("Lyon", dimensions))
    search = "select content, similarity from recall.search(%s, null, %s::halfvec)"

    def labelled(model: str) -> list[Any]:
        with fresh.transaction():
            fresh.execute("select set_config('recall.embedding_model', %s, true)", [model])
            return fresh.execute(search, [user, query]).fetchall()

    plain = fresh.execute(search, [user, query]).fetchall()
    assert plain == labelled(old) == labelled("")
    with refused("RC004", old):
        labelled(NEW)
    migrate(fresh, NEW, dimensions)
    with pytest.raises(psycopg.Error) as caught:
        labelled(old)
    assert (caught.value.sqlstate, caught.value.diag.message_detail) == ("RC004", NEW)
    assert len(labelled(NEW)) == len(plain)
    with fresh.transaction(), refused("RC004"):
        fresh.execute("select set_config('recall.embedding_model', %s, true)", [old])
        fresh.execute("select recall.remember(%s, 'User naps.', p_embedding => %s::halfvec)",
                      [user, query])  # fmt: skip


def test_label_gives_no_access_to_another_user(fresh: Connection) -> None:
    user, other = furnished(fresh, "ada"), furnished(fresh, "ben")
    query = as_literal(hashed("Lyon", current(fresh)[1]))
    with fresh.transaction():
        fresh.execute("select set_config('recall.user_id', %s, true)", [str(user)])
        fresh.execute("select set_config('recall.embedding_model', %s, true)", [str(other)])
        with refused("RC006"):
            fresh.execute("select * from recall.search(%s, null, %s::halfvec)", [other, query])


def test_dimensions_are_those_of_the_model(fresh: Connection) -> None:
    user = furnished(fresh)
    (memory,) = add(fresh, user, "User likes snow.")
    store = "select recall.add_embedding(%s, %s, %s::halfvec, %s)"
    wide, narrow = as_literal([1.0] * 32), as_literal([1.0] * current(fresh)[1])
    with refused("RC004", "has 32 dimensions"):
        fresh.execute(store, [user, memory, wide, NEW])
    call(fresh, "start_embedding_migration", p_model=NEW, p_dimensions=32)
    fresh.execute(store, [user, memory, wide, NEW])
    for vector, model in ((narrow, NEW), (wide, ""), (wide, current(fresh)[0])):
        with refused("RC004", "dimensions"):
            fresh.execute(store, [user, memory, vector, model])
    with refused("RC004", "dimensions"):
        fresh.execute("select recall.remember(%s, 'It rains.', p_embedding => %s::halfvec)",
                      [user, wide])  # fmt: skip


def test_worker_without_new_model_gets_no_job_of_the_change(fresh: Connection) -> None:
    old, _ = current(fresh)
    user = furnished(fresh)
    call(fresh, "start_embedding_migration", p_model=NEW)
    advance(fresh)
    fresh.execute("delete from recall.jobs where kind <> 'embed'")
    assert [job["payload"] for job in job_rows(fresh, user)] == [{"mode": NEW}]
    for kinds in (None, ["embed"], ["embed:other"]):
        assert call(fresh, "claim_jobs", p_worker="w", p_kinds=kinds) == []
    assert finding(fresh, "embedding_model")[0] == "ok"
    fresh.execute("update recall.jobs set run_at = now() - interval '1 hour'")
    status, detail, hint = finding(fresh, "embedding_model")
    assert (status, "0 %" in detail, f"No worker offers {NEW}" in (hint or "")) == (
        "warn", True, True)  # fmt: skip
    (job,) = call(fresh, "claim_jobs", p_worker="w", p_kinds=[f"embed:{NEW}"])
    assert job["user_id"] == user
    offer = json.dumps({"embedding_model": old})
    ended = value(fresh, "select recall.next_request(%s, %s, %s, %s)",
                  [user, job["job_id"], job["lease_token"], offer])  # fmt: skip
    assert (ended["type"], NEW in ended["reason"]) == ("deferred", True)


def test_pause_resume_and_cancel(fresh: Connection) -> None:
    old, _ = current(fresh)
    users = [furnished(fresh, name) for name in ("ada", "ben")]
    before = [searched(fresh, user, "Lyon") for user in users]
    sizes = counts(fresh)
    with refused("RC007", "is not being changed"):
        call(fresh, "pause_embedding_migration")
    call(fresh, "start_embedding_migration", p_model=NEW, p_dimensions=24)
    advance(fresh)
    work_embed(fresh, [old, NEW], limit=1)
    for _ in range(2):
        call(fresh, "pause_embedding_migration")
    assert advance(fresh) == "paused"
    assert work_embed(fresh, [old, NEW]) == 0
    made = counts(fresh)["memory_embedding"][NEW]
    assert 0 < made < 2 * sizes["memory_embedding"][old]
    for _ in range(2):
        call(fresh, "resume_embedding_migration")
    assert advance(fresh) == "running"
    work_embed(fresh, [old, NEW], limit=1)
    for _ in range(2):
        call(fresh, "cancel_embedding_migration")
    with refused("RC007", "cancelling"):
        call(fresh, "resume_embedding_migration")
    with refused("RC007", "cancelling"):
        call(fresh, "start_embedding_migration", p_model="hash:other")
    assert advance(fresh) == "cancelled"
    assert counts(fresh) == sizes
    assert [searched(fresh, user, "Lyon") for user in users] == before
    assert value(fresh, "select hidden_embedding_model from recall.settings") is None

    # A second and a third change afterwards
    migrate(fresh, NEW, 24)
    migrate(fresh, "hash:third", 8)
    assert current(fresh) == ("hash:third", 8)
    assert searched(fresh, users[0], FACTS[0])[0][2] == FACTS[0]
    with refused("RC007", "already"):
        call(fresh, "start_embedding_migration", p_model="hash:third")
    with refused("RC007", "is not being changed"):
        call(fresh, "cancel_embedding_migration")


def test_way_back_reuses_old_vectors(fresh: Connection) -> None:
    old, dimensions = current(fresh)
    user = furnished(fresh)
    before, sizes = searched(fresh, user, "Lyon"), counts(fresh)
    call(fresh, "start_embedding_migration", p_model=NEW, p_dimensions=12)
    advance(fresh)
    work_embed(fresh, [old, NEW])
    assert advance(fresh) == advance(fresh) == "switched"
    with refused("RC007", "is switched"):
        call(fresh, "cancel_embedding_migration")
    with refused("RC007", "is switched"):
        call(fresh, "start_embedding_migration", p_model="hash:other")
    call(fresh, "start_embedding_migration", p_model=old, p_keep="0")
    assert (advance(fresh), advance(fresh)) == ("switched", "done")
    assert current(fresh) == (old, dimensions)
    assert not [job for job in job_rows(fresh, user) if job["kind"] == "embed"]
    assert (searched(fresh, user, "Lyon"), counts(fresh)) == (before, sizes)


def test_configure_refuses_another_model_while_there_are_vectors(fresh: Connection) -> None:
    call(fresh, "configure", p_changes={"embedding_model": "hash:first"})
    furnished(fresh)
    with pytest.raises(psycopg.Error, match="the vectors here are of hash:first") as caught:
        call(fresh, "configure", p_changes={"embedding_model": NEW})
    assert caught.value.sqlstate == "RC007"
    assert f"pgrecall embeddings migrate --to {NEW}" in str(caught.value.diag.message_hint)
    call(fresh, "configure", p_changes={"embedding_model": "hash:first"})
    with refused("RC007"):
        call(fresh, "configure", p_changes={"embedding_dimensions": 3})


def test_user_with_own_model_keeps_it(fresh: Connection) -> None:
    old, dimensions = current(fresh)
    own, other = furnished(fresh, "own"), furnished(fresh, "other")
    model = {"embedding_model": "hash:own", "embedding_dimensions": 20}
    call(fresh, "configure_user", p_user_id=own, p_changes=model)
    call(fresh, "enqueue_missing_embeddings")

    def work() -> None:
        while jobs := call(fresh, "claim_jobs", p_worker="w", p_kinds=["embed"]):
            ask = "select recall.next_request(%s, %s, %s, %s, %s)"
            job, answer = jobs[0], None
            while True:
                request = value(fresh, ask, [
                    job["user_id"], job["job_id"], job["lease_token"],
                    Jsonb({"embedding_models": ["hash:own", NEW, old]}),
                    None if answer is None else Jsonb(answer)])  # fmt: skip
                if request["type"] != "embed":
                    break
                size = 20 if request["model"] == "hash:own" else dimensions
                made = [hashed(text, size) for text in request["inputs"]]
                answer = {"request_id": request["request_id"], "vectors": made}

    work()
    find = "select content from recall.search(%s, null, %s::halfvec, 1)"
    near = as_literal(hashed(FACTS[0], 20))
    assert value(fresh, find, [own, near]) == FACTS[0]
    words = "select count(*) from recall.search_messages(%s, 'Lyon')"
    found = value(fresh, words, [own])
    assert found > 0
    migrate(fresh, NEW, 48)
    assert value(fresh, find, [own, near]) == FACTS[0]
    assert value(fresh, find, [other, as_literal(hashed(FACTS[0], 48))]) == FACTS[0]
    assert value(fresh, words, [own]) == found
    models = fresh.execute("select distinct embedding_model from recall.memory_embedding"
                           " where user_id = %s", [own]).fetchall()  # fmt: skip
    assert models == [("hash:own",)]

    # Without the override the user follows the installation, by the ordinary jobs.
    call(fresh, "configure_user", p_user_id=own, p_changes={"embedding_model": None})
    call(fresh, "enqueue_missing_embeddings")
    work_embed(fresh, [NEW])
    assert value(fresh, find, [own, as_literal(hashed(FACTS[0], 48))]) == FACTS[0]
    assert value(fresh, words, [own]) == found


@pytest.mark.parametrize("to", [NEW, "hash:own"], ids=["the new model", "another"])
def test_override_during_the_change_leaves_one_row_a_message(fresh: Connection, to: str) -> None:
    old, _dimensions = current(fresh)
    user = furnished(fresh)
    call(fresh, "start_embedding_migration", p_model=NEW)
    advance(fresh)
    work_embed(fresh, [old, NEW])
    found = [row for row in searched(fresh, user, "Lyon") if row[0] == "search_messages"]
    call(fresh, "configure_user", p_user_id=user, p_changes={"embedding_model": to})
    turns = "select count(*), count(distinct (session_id, turn_index)) from recall.message_search"
    (numbers,) = fresh.execute(turns).fetchall()
    assert numbers[0] == numbers[1] > 0
    assert value(fresh, "select count(*) from recall.search_messages(%s, 'Lyon')", [user]) > 0
    call(fresh, "configure_user", p_user_id=user, p_changes={"embedding_model": None})
    for _ in range(4):
        advance(fresh)
        work_embed(fresh, [old, NEW])
    assert advance(fresh) == "switched"
    after = [row for row in searched(fresh, user, "Lyon") if row[0] == "search_messages"]
    assert {row[2] for row in after} == {row[2] for row in found}


def test_erasures_during_the_change_leave_nothing(fresh: Connection) -> None:
    old, _ = current(fresh)
    gone, left = furnished(fresh, "gone"), furnished(fresh, "left")
    call(fresh, "start_embedding_migration", p_model=NEW, p_dimensions=40)
    advance(fresh)
    work_embed(fresh, [old, NEW], limit=1)
    session = value(fresh, "select session_id from recall.sessions where user_id = %s", [left])
    call(fresh, "forget_session", p_user_id=left, p_session_id=session)
    call(fresh, "forget_user", p_user_id=gone)
    for _ in range(3):
        work_embed(fresh, [old, NEW])
        advance(fresh)
    for table in ("memory_embedding", "message_search", "jobs"):
        assert value(fresh, f"select count(*) from recall.{table} where user_id = %s", [gone]) == 0
    assert value(fresh, "select count(*) from recall.message_search") == 0
    assert value(fresh, "select state from recall.get_embedding_migration()") == "switched"


def test_export_from_before_the_change_is_embedded_again_after_it(fresh: Connection) -> None:
    old, _ = current(fresh)
    user = furnished(fresh)
    document = value(fresh, "select recall.export_user(%s)", [user])
    call(fresh, "forget_user", p_user_id=user)
    furnished(fresh, "other")
    migrate(fresh, NEW, 64)
    fresh.execute("select recall.import_user(%s, %s)", [user, Jsonb(document)])
    assert old not in counts(fresh)["memory_embedding"]
    work_embed(fresh, [NEW])
    assert searched(fresh, user, "Lyon river")[0][2] == FACTS[0]
    other = value(fresh, "select recall.user_id('other')")
    mine, theirs = (
        [row for row in searched(fresh, one, "Lyon river") if row[0] != "as_of"]
        for one in (user, other)
    )
    assert mine == theirs


def test_calibration_is_repeated_for_the_new_model(fresh: Connection) -> None:
    for number in range(22):
        user = value(fresh, "select recall.user_id(%s)", [str(number)])
        add(fresh, user, *FACTS[:3])
    (old,) = call(fresh, "calibrate_embeddings")
    migrate(fresh, NEW, 200)
    (stored,) = rows(fresh, "select unrelated_similarity as mean, unrelated_deviation as spread"
                            " from recall.settings")  # fmt: skip
    (measured,) = call(fresh, "calibrate_embeddings")
    assert abs(stored["mean"] - measured["unrelated_similarity"]) < 0.2
    assert stored["mean"] != old["unrelated_similarity"]


def test_switch_by_hand_counts_what_is_missing(fresh: Connection) -> None:
    user = furnished(fresh)
    call(fresh, "start_embedding_migration", p_model=NEW, p_dimensions=10, p_keep="0")
    with refused("RC007", f"have no vector of {NEW}"):
        call(fresh, "switch_embedding_model")
    missing = value(fresh, "select recall.switch_embedding_model(100)")
    assert missing > 0
    # Words still find all; the ordinary jobs embed the rest.
    assert len(call(fresh, "search", p_user_id=user, p_query="Lyon")) > 0
    call(fresh, "enqueue_missing_embeddings")
    work_embed(fresh, [NEW])
    assert advance(fresh) == "done"
    call(fresh, "enqueue_missing_embeddings")
    work_embed(fresh, [NEW])
    assert searched(fresh, user, "Lyon river")[0][2] == FACTS[0]
    assert value(fresh, "select count(*) from recall.search_messages(%s, 'Lyon')", [user]) > 0


def progress(conn: Connection) -> dict[str, float]:
    """Return the gauges of a change, by name and state."""
    found = {}
    for row in call(conn, "metrics"):
        if row["name"].startswith("pgrecall_embedding_migration"):
            labels = row["labels"]
            assert (bool(labels.pop("from")), labels.pop("to")) == (True, NEW)
            name = row["name"].removeprefix("pgrecall_embedding_migration_")
            found[" ".join([name, *labels.values()])] = row["value"]
    return found


def test_metrics_and_health_tell_the_progress(fresh: Connection) -> None:
    old, _ = current(fresh)
    furnished(fresh)
    assert progress(fresh) == {}
    call(fresh, "start_embedding_migration", p_model=NEW, p_keep="1 hour")
    advance(fresh)
    found = progress(fresh)
    texts = found["texts"]
    assert texts > 0
    assert found == {"share running": 0, "texts": texts, "embedded": 0, "jobs ready": 1,
                     "jobs running": 0, "jobs dead": 0}  # fmt: skip
    work_embed(fresh, [old, NEW])
    assert progress(fresh)["embedded"] == texts
    assert advance(fresh) == "switched"
    assert progress(fresh)["share switched"] == 1
    assert "are kept until" in finding(fresh, "embedding_model")[1]
    fresh.execute("update recall.embedding_migrations set keep_old = '0'")
    assert f"vectors of {old} are being deleted" in finding(fresh, "embedding_model")[1]
    assert advance(fresh) == "done"
    assert progress(fresh) == {}


def test_estimate_counts_texts_tokens_and_cost(fresh: Connection) -> None:
    furnished(fresh)
    (found,) = call(fresh, "estimate_embedding_migration", p_model="openai:text-embedding-3-large")
    assert (found["memories"], found["ended_memories"], found["messages"], found["summaries"]) == (
        9, 1, 6, 1)  # fmt: skip
    assert found["texts"] == 17
    assert found["cost_microcents"] == round(13_000_000 * found["tokens"] / 1_000_000)
    (local,) = call(fresh, "estimate_embedding_migration", p_model="local")
    (unknown,) = call(fresh, "estimate_embedding_migration", p_model=NEW)
    assert (local["cost_microcents"], unknown["cost_microcents"]) == (0, None)
    for model in ("", None, "x" * 201):
        with refused("RC003", "p_model is"):
            call(fresh, "estimate_embedding_migration", p_model=model)
    for bad in ({"p_dimensions": 0}, {"p_dimensions": 16001}, {"p_keep": "-1 s"}, {"p_keep": None}):
        with refused("RC003"):
            call(fresh, "start_embedding_migration", p_model=NEW, **bad)
    assert call(fresh, "get_embedding_migration") == []


def test_two_starts_at_once_make_one_change(
    fresh: Connection, server: TestServer, connect: Callable[..., Connection]
) -> None:
    furnished(fresh)
    dsn = fresh.info.dsn
    others = [psycopg.connect(dsn, autocommit=True) for _ in range(2)]
    results = together([
        lambda c=other: call(c, "start_embedding_migration", p_model=NEW) for other in others
    ])  # fmt: skip
    errors = [result for result in results if isinstance(result, psycopg.Error)]
    assert [error.sqlstate for error in errors] in (["RC007"], ["23505"])
    for other in others:
        other.close()
    assert value(fresh, "select count(*) from recall.embedding_migrations") == 1


def test_workers_and_maintenance_at_once(fresh: Connection, server: TestServer) -> None:
    old, _ = current(fresh)
    users = [furnished(fresh, str(number)) for number in range(6)]
    call(fresh, "start_embedding_migration", p_model=NEW, p_dimensions=20)
    dsn = fresh.info.dsn
    others = [psycopg.connect(dsn, autocommit=True) for _ in range(4)]

    def add_as_the_driver() -> None:
        try:
            add(others[3], users[0], "User hums.")
        except InvalidEmbeddingError:  # the switch came after the vector was made
            add(others[3], users[0], "User hums.")

    for _ in range(4):
        raise_errors(together([
            lambda: work_embed(others[0], [old, NEW]),
            lambda: work_embed(others[1], [old, NEW]),
            lambda: advance(others[2]),
            add_as_the_driver,
        ]))  # fmt: skip
    work_embed(fresh, [old, NEW])
    assert advance(fresh) == "switched"
    assert all(searched(fresh, user, "Lyon river")[0][2] == FACTS[0] for user in users)
    for other in others:
        other.close()
