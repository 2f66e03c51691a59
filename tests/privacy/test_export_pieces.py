"""A user of any size leaves in pieces, and arrives whole or not at all."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from pgrecall import AgentMemory, AsyncAgentMemory, Limits
from pgrecall.errors import InvalidInputError, NotAllowedError
from privacy.test_export import Connection, Document, comparable, elsewhere, export, world
from support import append, call, open_session, refused, said, value
from support.everyfunction import World
from support.invariants import check_invariants
from support.traces import counts, forget, sums

__all__ = ["elsewhere", "world"]


def pieces_of(conn: Connection, user: uuid.UUID, size: int | None = 1) -> list[Document]:
    found = call(conn, "export_user_pieces", p_user_id=user, p_piece_bytes=size)
    assert [row["piece"] for row in found] == [*range(1, len(found) + 1)]
    return [row["document"] for row in found]


def import_all(conn: Connection, user: uuid.UUID, pieces: list[Document]) -> list[dict[str, int]]:
    with conn.transaction():
        return [
            value(conn, "select recall.import_user(%s, %s)", [user, Jsonb(piece)])
            for piece in pieces
        ]


def in_order(document: Document) -> Document:
    """Return what is comparable of a document, prompts in an order of their own."""
    document = comparable(document)
    document["system_prompts"].sort(key=json.dumps)
    return document


@pytest.mark.parametrize("size", [1, 3000, 50_000])
def test_pieces_move_every_row(
    db: Connection, elsewhere: Connection, world: World, size: int
) -> None:
    user = world["user"]
    whole = export(db, user)
    pieces = pieces_of(db, user, size)
    assert len(pieces) > 3
    for piece in pieces:
        held = [row for found in piece["tables"].values() for row in found]
        assert len(held) == 1 or len(json.dumps(held)) < 2 * size or piece["piece"] == 1
    added = import_all(elsewhere, user, pieces)
    expected = {name: len(found) for name, found in whole["tables"].items()}
    for name in expected.keys() - {"users", "jobs"}:
        assert sum(piece[name] for piece in added) == expected[name], name
    again, given = in_order(export(elsewhere, user)), in_order(whole)
    for name, found in again["tables"].items():
        for row, expect in zip(found, given["tables"][name], strict=True):
            assert row == expect, name
    assert again == given
    check_invariants(elsewhere)

    before = sums(elsewhere, user)
    assert not any(number for piece in import_all(elsewhere, user, pieces)
                   for number in piece.values())  # fmt: skip
    after = sums(elsewhere, user)
    assert {name for name in before if before[name] != after[name]} <= {"users"}
    assert value(elsewhere, "select count(*) from recall.imports") == 0


def test_rows_of_one_memory_and_one_prompt_may_be_in_several_pieces(
    db: Connection, elsewhere: Connection, user: uuid.UUID
) -> None:
    for number in range(9):
        open_session(db, user, p_system_prompt=f"You are kind {number % 3}.")
    (stored,) = call(db, "remember", p_user_id=user, p_content="I like tea")
    for _ in range(3):
        db.execute("select recall.record_access(%s, %s, array[1.0::real])",
                   [user, [stored["memory_id"]]])  # fmt: skip
    expected = call(db, "list_sessions", p_user_id=user)
    for size in (1, 2000, 4000):
        import_all(elsewhere, user, pieces_of(db, user, size))
        assert counts(elsewhere, user)["memory_access_log"] == 3
        assert call(elsewhere, "list_sessions", p_user_id=user) == expected
        forget(elsewhere, user)


def test_user_who_fits_one_piece_gets_the_document_of_export_user(
    db: Connection, world: World
) -> None:
    for size in (None, 128 << 20):
        (piece,) = pieces_of(db, world["user"], size)
        assert comparable(piece) == comparable(export(db, world["user"]))


@pytest.mark.parametrize(
    ("taken", "message"),
    [
        ([0, 1], "the last piece of the import of user"),
        ([0, 2], "is piece 3 of export"),
        ([1, 2], "is piece 2 of export"),
        ([0, 0], "is piece 1 of export"),
        ([0, 1, -1], "is piece"),
        ([0, "other"], "is piece 2 of export"),
        ([0, "whole"], "is piece 1 of export none, not piece 2 of export"),
        ([{"piece": None}], "is not an export of version 1, nor a piece"),
        ([{"piece": "x"}], "is not an export of version 1, nor a piece"),
        ([{"export_id": "x"}], "is not an export of version 1, nor a piece"),
        ([{"is_last": 1}], "is not an export of version 1, nor a piece"),
        ([{"is_last": True}], "has other sessions or memories than the document"),
        ([{"version": 3}], "is not an export of version 1, nor a piece"),
    ],
)
def test_import_in_pieces_is_whole_or_refused(
    db: Connection, elsewhere: Connection, world: World, taken: list[Any], message: str
) -> None:
    user = world["user"]
    mine, other = pieces_of(db, user), pieces_of(db, user)
    chosen: list[Document] = []
    for one in taken:
        if isinstance(one, dict):
            chosen.append(mine[0] | one)
        elif isinstance(one, str):
            chosen.append(other[1] if one == "other" else export(db, user))
        else:
            chosen.append(mine[one])
    code = "RC006" if "other sessions" in message else "RC003"
    with refused(code, message):
        import_all(elsewhere, user, chosen)
    assert not any(counts(elsewhere, user).values())


def test_import_in_pieces_refuses_a_user_with_other_data(
    db: Connection, elsewhere: Connection, world: World
) -> None:
    user = world["user"]
    call(elsewhere, "remember", p_user_id=user, p_content="I was here before")
    before = sums(elsewhere, user)
    with refused("RC006", "has other sessions or memories than the document"):
        import_all(elsewhere, user, pieces_of(db, user))
    assert sums(elsewhere, user) == before


def test_whole_document_has_no_place(db: Connection, elsewhere: Connection, world: World) -> None:
    document = export(db, world["user"]) | {"piece": "x", "export_id": "y", "is_last": False}
    import_all(elsewhere, world["user"], [document])
    assert counts(elsewhere, world["user"])["memory_store"]
    check_invariants(elsewhere)


def test_erasure_ends_an_import(db: Connection, elsewhere: Connection, world: World) -> None:
    user = world["user"]
    with elsewhere.transaction():
        import_all(elsewhere, user, pieces_of(db, user)[:3])
        forget(elsewhere, user)
    assert not any(counts(elsewhere, user).values())


def test_pieces_are_refused_without_a_user_or_a_size(db: Connection, world: World) -> None:
    with refused("RC001", "there is no user"):
        pieces_of(db, uuid.uuid4())
    for size in (0, -1, (128 << 20) + 1):
        with refused("RC003", f"p_piece_bytes is {size}"):
            pieces_of(db, world["user"], size)


def test_export_is_of_one_moment(db: Connection, connect: Any, user: uuid.UUID) -> None:
    """A message that another connection appends meanwhile is not in the pieces."""
    session = open_session(db, user)
    for number in range(5):
        append(db, user, session, said(f"message {number}"))
    other = connect()
    with db.transaction(), db.cursor("pieces") as cursor:
        cursor.execute("select document from recall.export_user_pieces(%s, 1)", [user])
        cursor.itersize = 1
        found = [cursor.fetchone()]
        append(other, user, session, said("later"))
        found += cursor.fetchall()
    assert "later" not in json.dumps(found, default=str)
    assert "message 4" in json.dumps(found, default=str)


@pytest.mark.skipif("SOAK" not in os.environ, reason="minutes long: SOAK=1, make repeat")
def test_user_beyond_one_document(db: Connection, elsewhere: Connection, user: uuid.UUID) -> None:
    """Five messages of 60 MB are more than jsonb holds."""
    for conn in (db, elsewhere):
        conn.execute("select recall.configure('{\"message_max_characters\": null}')")
    session = open_session(db, user)
    for _ in range(5):
        db.execute(
            "select recall.append_messages(%s, %s, jsonb_build_array(jsonb_build_object("
            "'role', 'assistant', 'content', repeat('long ', 12000000))))",
            [user, session],
        )
    with refused("RC003", f"user {user} does not fit one document"):
        export(db, user)
    with elsewhere.transaction(), db.transaction(), db.cursor("pieces") as cursor:
        cursor.itersize = 1
        cursor.execute("select document::text from recall.export_user_pieces(%s)", [user])
        number = 0
        while piece := cursor.fetchone():
            number += 1
            elsewhere.execute("select recall.import_user(%s, %s::jsonb)", [user, piece[0]])
    assert number >= 5
    assert value(elsewhere, "select sum(length(content)) from recall.conversation_history"
                            " where user_id = %s", [user]) == 5 * 60_000_000  # fmt: skip
    db.execute("select recall.configure('{\"message_max_characters\": 1000000}')")


def test_driver_moves_a_user_in_pieces(
    db: Connection, dsn: str, elsewhere: Connection, world: World
) -> None:
    user, target_dsn = world["user"], elsewhere.info.dsn
    with (
        AgentMemory.connect(dsn, embedder=False) as source,
        AgentMemory.connect(target_dsn, embedder=False) as target,
    ):
        pieces = list(source.privacy.export_user_pieces(user, sealed=True, piece_bytes=3000))
        assert len(pieces) > 3
        with pytest.raises(InvalidInputError, match="the last piece of the import"):
            target.privacy.import_user_pieces(pieces[:-1])
        assert not any(counts(elsewhere, user).values())
        with pytest.raises(InvalidInputError, match="there is no piece"):
            target.privacy.import_user_pieces([])
        added = target.privacy.import_user_pieces(iter(pieces))
        assert added["memory_store"] == counts(db, user)["memory_store"]

        target.remember(user, "Something new")
        with pytest.raises(NotAllowedError, match="has other sessions or memories"):
            target.privacy.import_user_pieces(pieces)
    assert (
        in_order(export(db, user))["system_prompts"]
        == (in_order(export(elsewhere, user))["system_prompts"])
    )


def test_export_that_nobody_reads_to_its_end_frees_its_connection(dsn: str, world: World) -> None:
    limits = Limits(max_connections=1, connect_timeout=5.0)
    with AgentMemory.connect(dsn, embedder=False, limits=limits) as memory:
        pieces = memory.privacy.export_user_pieces(world["user"], piece_bytes=1)
        next(pieces)
        pieces.close()
        assert memory.privacy.export_user(world["user"])["version"] == 1


def test_async_driver_moves_a_user_in_pieces(dsn: str, elsewhere: Connection, world: World) -> None:
    async def move() -> dict[str, int]:
        async with (
            AsyncAgentMemory.connect(dsn, embedder=False) as source,
            AsyncAgentMemory.connect(elsewhere.info.dsn, embedder=False) as target,
        ):
            pieces = source.privacy.export_user_pieces(world["user"], sealed=True, piece_bytes=3000)
            return await target.privacy.import_user_pieces(pieces)

    assert asyncio.run(move())["memory_store"] > 0
