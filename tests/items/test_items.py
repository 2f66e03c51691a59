"""Items: JSON values of the application under namespaces and keys."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import call, raise_errors, refused, rows, together, value

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]


def put(conn: Connection, user: uuid.UUID, *items: dict[str, Any], **more: Any) -> int:
    (made,) = call(conn, "put_items", p_user_id=user, p_items=Jsonb(list(items)), **more)
    return int(made["put_items"])


def item(key: str, content: Any, *labels: str, **more: Any) -> dict[str, Any]:
    return {"namespace": list(labels or ("docs",)), "key": key, "value": content} | more


def get(conn: Connection, user: uuid.UUID, *keys: str, labels: tuple[str, ...] = ("docs",)) -> Any:
    found = call(conn, "get_items", p_user_id=user, p_namespace=list(labels), p_keys=list(keys))
    return {row["key"]: row["value"] for row in found}


def search(conn: Connection, user: uuid.UUID, **more: Any) -> list[Any]:
    return [row["key"] for row in call(conn, "search_items", p_user_id=user, **more)]


def counters(conn: Connection, user: uuid.UUID) -> Any:
    """Return the counters of a user, and what they must be."""
    (row,) = rows(
        conn,
        "select item_count, item_bytes, (select count(*) from recall.items where user_id = %s),"
        " (select coalesce(sum(byte_count), 0) from recall.items where user_id = %s)"
        " from recall.users where user_id = %s",
        [user, user, user],
    )
    return list(row.values())


def test_put_replaces_value_and_keeps_created_at(db: Connection, user: uuid.UUID) -> None:
    assert put(db, user, item("a", {"n": 1}), item("b", [1, None])) == 2
    (before,) = call(db, "get_items", p_user_id=user, p_namespace=["docs"], p_keys=["a"])
    assert put(db, user, item("a", {"n": 2}), item("a", {"n": 3})) == 1
    (after,) = call(db, "get_items", p_user_id=user, p_namespace=["docs"], p_keys=["a", "none"])
    assert after["value"] == {"n": 3}
    assert after["created_at"] == before["created_at"]
    assert after["updated_at"] > before["updated_at"]
    assert get(db, user, "b") == {"b": [1, None]}
    assert put(db, user, item("a", None)) == 1
    assert get(db, user, "a", "b") == {"b": [1, None]}
    count, size, counted, sized = counters(db, user)
    assert (count, size) == (counted, sized) == (1, len("[1, null]"))


def test_namespaces_are_matched_by_label(db: Connection, user: uuid.UUID) -> None:
    for labels in (("foo",), ("foo", "child"), ("foobar",), ("foo\x01",), ("fo",), ("é", "x")):
        put(db, user, item("/".join(labels), 1, *labels))
    assert sorted(search(db, user, p_namespace=["foo"])) == ["foo", "foo/child"]
    assert search(db, user, p_namespace=["é"]) == ["é/x"]
    assert search(db, user, p_namespace=["f"]) == []
    assert len(search(db, user)) == 6
    assert get(db, user, "foo", labels=("foo", "child")) == {}


def test_list_namespaces_matches_prefix_suffix_and_depth(db: Connection, user: uuid.UUID) -> None:
    for labels in (("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c"), ("z",)):
        put(db, user, item("k", 1, *labels))

    def listed(**more: Any) -> list[str]:
        found = call(db, "list_namespaces", p_user_id=user, **more)
        return ["/".join(row["namespace"]) for row in found]

    assert listed() == ["a/b/c", "a/b/d", "a/x/c", "z"]
    assert listed(p_prefix=["a", "*", "c"]) == ["a/b/c", "a/x/c"]
    assert listed(p_suffix=["c"]) == ["a/b/c", "a/x/c"]
    assert listed(p_suffix=["*", "*"], p_prefix=["a", "b"]) == ["a/b/c", "a/b/d"]
    assert listed(p_max_depth=2) == ["a/b", "a/x", "z"]
    assert listed(p_max_depth=2, p_limit=1, p_offset=1) == ["a/x"]


def test_filter_compares_fields_of_the_same_type(db: Connection, user: uuid.UUID) -> None:
    put(db, user, item("nine", {"n": 9, "s": "x", "deep": {"a": 1, "b": 2}}),
        item("ten", {"n": 10, "s": "y", "none": None}), item("text", {"n": "5"}))  # fmt: skip

    def found(**wanted: Any) -> set[str]:
        return set(search(db, user, p_filter=Jsonb(wanted)))

    assert found(n=9) == {"nine"}
    assert found(n={"$gt": 9}) == {"ten"}
    assert found(n={"$gte": 9, "$lt": 10}) == {"nine"}
    assert found(n={"$lte": 10}, s={"$ne": "x"}) == {"ten"}
    assert found(s={"$eq": "x"}) == {"nine"}
    assert found(s={"$ne": "x"}) == {"ten", "text"}
    assert found(s={"$gt": "x"}) == {"ten"}
    assert found(none=None) == {"nine", "ten", "text"}
    assert found(deep={"a": 1}) == {"nine"}
    assert found() == {"nine", "ten", "text"}
    for wanted in ({"n": {"$in": [1]}}, {"n": {"$gt": 1, "x": 1}}, [], "x"):
        with refused("RC003"):
            search(db, user, p_filter=Jsonb(wanted))


def test_search_scores_an_item_by_its_nearest_vector(db: Connection, user: uuid.UUID) -> None:
    def vectors(**paths: list[float]) -> list[dict[str, Any]]:
        return [{"path": path, "embedding": numbers} for path, numbers in paths.items()]

    put(db, user, item("one", {"n": 1}, vectors=vectors(a=[1, 0], b=[0, 1])),
        item("two", {"n": 2}, vectors=vectors(a=[3, 4])),
        item("zero", {"n": 3}, vectors=vectors(a=[0, 0])),
        item("long", {"n": 4}, vectors=vectors(a=[1, 0, 0])),
        item("none", {"n": 5}), p_embedding_model="mine")  # fmt: skip
    put(db, user, item("other", 1, vectors=vectors(a=[1, 0])), p_embedding_model="other")

    def scores(distance: str, **more: Any) -> dict[str, float]:
        found = call(
            db, "search_items", p_user_id=user, p_query_embedding=[1, 0], p_distance=distance,
            p_embedding_model="mine", **more,
        )  # fmt: skip
        return {row["key"]: round(row["score"], 6) for row in found}

    assert scores("cosine") == {"one": 1, "two": 0.6, "zero": 0}
    assert list(scores("inner_product").items()) == [("two", 3), ("one", 1), ("zero", 0)]
    assert scores("l2") == {"one": 0, "zero": -1, "two": round(-(20**0.5), 6)}
    assert scores("cosine", p_filter=Jsonb({"n": {"$gt": 1}}), p_limit=1) == {"two": 0.6}
    assert scores("cosine", p_offset=1, p_limit=1) == {"two": 0.6}
    assert scores("cosine", p_namespace=["other"]) == {}
    # a new value without vectors removes the old ones
    put(db, user, item("one", {"n": 1}))
    assert "one" not in scores("cosine")
    with refused("RC003"):
        scores("dot")
    for query in ("{NaN}", "{}", "{{1,2},{3,4}}"):
        with refused("RC004"):
            call(db, "search_items", p_user_id=user, p_query_embedding=query)


def test_touch_renews_living_items_only(db: Connection, user: uuid.UUID) -> None:
    put(db, user, item("old", 1, ttl=60), item("gone", 1, ttl=60), item("always", 1))
    past = datetime.now(UTC) - timedelta(minutes=1)
    db.execute(
        "update recall.items set expires_at = %s where user_id = %s and key = 'gone'", [past, user]
    )
    db.execute(
        "update recall.items set expires_at = now() + interval '1 minute'"
        " where user_id = %s and key = 'old'", [user],
    )  # fmt: skip
    assert get(db, user, "old", "gone", "always") == {"old": 1, "always": 1}
    assert set(search(db, user)) == {"old", "always"}
    touched = "select recall.touch_items(%s, '{docs}', '{old,gone,always,none}')"
    assert value(db, touched, [user]) == 1
    left = {
        row["key"]: row["expires_at"]
        for row in rows(db, "select key, expires_at from recall.items where user_id = %s", [user])
    }
    assert left["gone"] == past
    assert left["always"] is None
    assert left["old"] > datetime.now(UTC) + timedelta(minutes=59)
    assert value(db, touched, [uuid.uuid4()]) == 0


def test_expire_items_deletes_in_batches_and_counts(db: Connection, user: uuid.UUID) -> None:
    later = datetime.now(UTC) + timedelta(minutes=100)
    call(db, "expire_items", p_as_of=later)  # what other tests left
    vectors = [{"path": "x", "embedding": [1, 2]}]
    put(db, user, *(item(f"k{n}", n, ttl=1, vectors=vectors) for n in range(5)), item("stays", 1))
    assert call(db, "expire_items") == [{"done": 0, "more": False}]
    assert call(db, "expire_items", p_limit=3, p_as_of=later) == [{"done": 3, "more": True}]
    assert call(db, "expire_items", p_as_of=later) == [{"done": 2, "more": False}]
    assert counters(db, user) == [1, 1, 1, 1]
    assert rows(db, "select from recall.item_vectors where user_id = %s", [user]) == []


def test_expire_items_skips_a_locked_user(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    later = datetime.now(UTC) + timedelta(minutes=100)
    call(db, "expire_items", p_as_of=later)  # what other tests left
    other_user = uuid.uuid4()
    for one in (user, other_user):
        put(db, one, item("k", 1, ttl=1))
    holder = connect(autocommit=False)
    holder.execute("select from recall.users where user_id = %s for update", [user])
    assert call(db, "expire_items", p_as_of=later) == [{"done": 1, "more": True}]
    holder.rollback()
    assert call(db, "expire_items", p_as_of=later) == [{"done": 1, "more": False}]


def test_limits_hold_under_concurrent_writes(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    call(db, "configure_user", p_user_id=user, p_changes=Jsonb({"items_per_user": 10}))
    connections = [connect() for _ in range(8)]

    def write(number: int) -> Any:
        try:
            return put(connections[number], user, *(item(f"{number}-{n}", n) for n in range(3)))
        except psycopg.Error as error:
            return error.sqlstate

    results = together([lambda n=n: write(n) for n in range(8)])
    assert sorted(map(str, results)) == ["3"] * 3 + ["RC010"] * 5
    assert counters(db, user)[0] == counters(db, user)[2] == 9
    winner = next(number for number, result in enumerate(results) if result == 3)
    put(db, user, item(f"{winner}-0", "again"), item("last", 1))
    with refused("RC010"):
        put(db, user, item("more", 1))
    call(db, "configure_user", p_user_id=user, p_changes=Jsonb({"item_bytes_per_user": 100}))
    with refused("RC010"):
        put(db, user, item("last", "x" * 100))
    with refused("RC010"):
        put(db, user, item("last", 1, vectors=[{"path": "p", "embedding": [1.0] * 25}]))
    # lowered limits do not keep a user from deleting
    call(db, "configure_user", p_user_id=user, p_changes=Jsonb({"items_per_user": 1}))
    assert put(db, user, item("last", None)) == 1


def test_concurrent_puts_of_the_same_items_do_not_deadlock(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    connections = [connect() for _ in range(6)]
    names = [f"k{n}" for n in range(20)]

    def write(number: int) -> None:
        mine = names if number % 2 else names[::-1]
        for _ in range(5):
            put(connections[number], user, *(item(name, number) for name in mine))
            call(connections[number], "touch_items", p_user_id=user, p_namespace=["docs"],
                 p_keys=mine)  # fmt: skip

    raise_errors(together([lambda n=n: write(n) for n in range(6)]))
    values = set(get(db, user, *names).values())
    assert len(values) == 1
    assert counters(db, user) == [20, 20, 20, 20]


@pytest.mark.parametrize(
    "wrong",
    [
        {}, [], "x", {"key": "a", "value": 1}, {"namespace": [], "key": "a", "value": 1},
        {"namespace": [""], "key": "a", "value": 1}, {"namespace": [1], "key": "a", "value": 1},
        {"namespace": [["x"]], "key": "a", "value": 1}, {"namespace": "x", "key": "a", "value": 1},
        item("", 1), item(7, 1), {"namespace": ["x"], "key": "a"},  # type: ignore[arg-type]
        item("k" * 2000, 1), item("a", "x" * 1048577), item("a", 1, ttl=0), item("a", 1, ttl=-1),
        item("a", 1, ttl="x"), item("a", 1, ttl=1e30), item("a", 1, other=1),
        item("a", 1, vectors={}), item("a", 1, vectors=[{}]),
        item("a", 1, vectors=[{"path": 1, "embedding": [1]}]),
        item("a", 1, vectors=[{"path": "x", "embedding": 1}]),
        item("a", 1, vectors=[{"path": "x", "embedding": [1]}] * 2),
    ],
)  # fmt: skip
def test_malformed_items_are_refused_and_write_nothing(
    db: Connection, user: uuid.UUID, wrong: Any
) -> None:
    with refused("RC003"):
        put(db, user, item("good", 1), wrong)
    assert get(db, user, "good") == {}


@pytest.mark.parametrize("numbers", [[], ["x"], [None], [1, [2]], "x", "[1e99]"])
def test_malformed_vectors_are_refused(db: Connection, user: uuid.UUID, numbers: Any) -> None:
    with refused("RC004"):
        put(db, user, item("a", 1, vectors=[{"path": "x", "embedding": numbers}]))
    assert get(db, user, "a") == {}


def test_a_value_of_one_megabyte_with_an_emoji_is_kept(db: Connection, user: uuid.UUID) -> None:
    text = "🧠" * 262143
    put(db, user, item("big", text, "ns", "é"))
    assert get(db, user, "big", labels=("ns", "é")) == {"big": text}


def test_secrets_in_items_are_masked_or_refused(db: Connection, user: uuid.UUID) -> None:
    secret = "sk-proj-" + "a1B2c3D4" * 6
    call(db, "configure_user", p_user_id=user, p_changes=Jsonb({"secrets": "mask"}))
    put(db, user, item(secret, {"text": f"key {secret}"}))
    (kept,) = get(db, user, secret).values()
    assert secret not in json.dumps(kept)
    call(db, "configure_user", p_user_id=user, p_changes=Jsonb({"secrets": "refuse"}))
    with refused("RC003"):
        put(db, user, item("k", secret))


def test_items_belong_to_one_user(db: Connection, user: uuid.UUID) -> None:
    other_user = uuid.uuid4()
    vectors = [{"path": "x", "embedding": [1, 2]}]
    put(db, user, item("k", "mine", vectors=vectors))
    put(db, other_user, item("k", "theirs", vectors=vectors))
    assert get(db, user, "k") == {"k": "mine"}
    document = value(db, "select recall.export_user(%s)", [user])
    assert [row["value"] for row in document["tables"]["items"]] == ["mine"]
    assert len(document["tables"]["item_vectors"]) == 1
    call(db, "forget_user", p_user_id=user)
    assert get(db, user, "k") == {}
    assert get(db, other_user, "k") == {"k": "theirs"}
    call(db, "import_user", p_user_id=user, p_document=Jsonb(document))
    assert get(db, user, "k") == {"k": "mine"}
    assert search(db, user, p_query_embedding=[1, 2]) == ["k"]
    count, size, counted, sized = counters(db, user)
    assert (count, size) == (counted, sized)
    assert count == 1


def test_an_erasure_waits_for_a_put_and_erases_it(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    put(db, user, item("k", 1))
    writer = connect(autocommit=False)
    put(writer, user, item("late", 1))
    eraser = connect()
    run = together([lambda: (writer.execute("select pg_sleep(0.3)"), writer.commit()),
                    lambda: call(eraser, "forget_user", p_user_id=user)])  # fmt: skip
    raise_errors(run)
    assert rows(db, "select from recall.items where user_id = %s", [user]) == []


def test_repeatable_read_refuses_a_user_erased_since(
    db: Connection, connect: Connect, user: uuid.UUID
) -> None:
    put(db, user, item("k", 1))
    reader = connect(autocommit=False)
    reader.execute("set transaction isolation level repeatable read")
    assert get(reader, user, "k") == {"k": 1}
    call(db, "forget_user", p_user_id=user)
    with refused("40001"):
        put(reader, user, item("k", 2))
    reader.rollback()
    assert get(db, user, "k") == {}


def test_an_encrypted_user_has_ciphertexts_only(db: Connection, connect: Connect) -> None:
    user = uuid.uuid4()
    call(db, "seal_user", p_user_id=user, p_wrapped_key=bytes(60), p_wrapping_key="k",
         p_with_vectors=False)  # fmt: skip
    for plain in (item("k", "text"), item("k", {"a": ["text"]})):
        with refused("RC006"):
            put(db, user, plain)
    sealed = f"sealed:v1:1:item::{'A' * 80}"
    with refused("RC006"):
        put(db, user, item("k", sealed, vectors=[{"path": "x", "embedding": [1]}]))
    put(db, user, item("k", sealed))
    assert get(db, user, "k") == {"k": sealed}
    assert search(db, user) == ["k"]
    with refused("RC006"):
        search(db, user, p_filter=Jsonb({"a": 1}))
