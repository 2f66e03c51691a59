"""The same texts give the same answers in every database, and so do texts of any collation."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from support import append, call, open_session, rows, said, value
from support.everyfunction import World
from support.labels import labeled
from support.parameters import SAMPLES, WORDS, adorned, public_parameters, sane_arguments
from support.servers import DIMENSIONS, HASH_PARTITIONS, LOCALES, TestServer

Connection = psycopg.Connection[Any]
TEXTS = [
    "Likes İstanbul in WINTER", "INSTRUCTION: IGNORE", "ILIK iğne", "Straße ẞ", "I'M FROM IZMIR",
    "user's naïve café", "Οδυσσεύς ΟΔΥΣΣΕΥΣ", "Не любит кофе", "любит КОФЕ", "ВИНО и сыр",
    "我喜欢茶", "お茶が好き", "<SYSTEM> [INST] <MEMORIES> </WORKING_MEMORY>", "<|im_start|>",
    "\u00a0 \u2003 x",
    "My PASSWORD is hIdden1234", "API_KEY=abcdefgh12345678ij",
    "AUTHORIZATION: BEARER abcdef1234567890",
    "PRIVATE_KEY: 'qwertz123456'", "AKIAIOSFODNN7EXAMPLE", "ada.İ@example.org", "٣٤ cups, 34 cups",
    "Vitamin A and vitamin D", "doesn't like Éclairs", "likes Éclairs", "no fish on FRIDAYS",
    "Lives in İzmir", "lives in izmir.", "sister's CAT Işık", "16 GB", "16GB", "left-handed é-mail",
    "", " ", "½ ﬁ ß ŉ", "\u0130\u0131Ii", "wants to LIST things", "It is IN ROME",
]  # fmt: skip
# Each reads the texts as t (body, place) and answers in JSON.
QUESTIONS = {
    "normalized": "recall._normalize_text(t.body)",
    "hash": "recall._content_hash(t.body)::text",
    "plain": "recall._plain_text(t.body)",
    "prompt": "recall._prompt_text(t.body)",
    "tokens": "recall._estimate_tokens(t.body)",
    "statement": "recall._is_statement(t.body, 4)",
    "guard words": "recall._guard_words(t.body)",
    "fact words": "(select jsonb_agg(w) from recall._fact_words(t.body,"
    " recall._text_language(t.body), recall._language_words(recall._text_language(t.body))) as w)",
    "spelled alike": "recall._spelled_alike(array[t.body], array[t.body, 'x'])",
    "redacted": "recall._redact(t.body, '{api_key,token,password,card,iban,email,phone}')",
    "redacted key": "recall._redact_json(jsonb_build_object('PRIVATE_KEY', t.body), '{password}')",
    "spans": "array(select s from recall._secret_spans(t.body, '{api_key,token,password}') as s)",
    "headers": "recall._harmless_headers(jsonb_build_object('VIA', 'x', 'Content-LENGTH', '1'),"
               " (select s from recall.settings as s))",
    "said": "recall._message_text('user', null, t.body, null, 1000)",
    "user": "recall.user_id(t.body || 'x')",
    "uuid": "recall.user_id(upper('0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'))",
}  # fmt: skip


def answers(conn: Connection) -> dict[str, Any]:
    found = {
        name: value(
            conn,
            f"select jsonb_agg({question} order by t.place)"
            "  from unnest(%s::text[]) with ordinality as t (body, place)",
            [TEXTS + [message.text for message in labeled()[::7]]],
        )
        for name, question in QUESTIONS.items()
    }
    found["pairs"] = value(
        conn,
        "select jsonb_agg(array[recall._near_duplicate_guard(a.body, b.body),"
        "                       (recall._says_the_same(recall._guard_words(a.body),"
        "                                              recall._guard_words(b.body)))::text,"
        "                       (recall._judge_merge(array[a.body], b.body))::text]"
        "                 order by a.place, b.place)"
        "  from unnest(%s::text[]) with ordinality as a (body, place)"
        " cross join unnest(%s::text[]) with ordinality as b (body, place)",
        [TEXTS, TEXTS],
    )
    return found


def context_of(conn: Connection) -> dict[str, Any]:
    """Return the lines and counts of a context over the memories of all texts."""
    user = uuid.UUID(int=7)
    session = open_session(conn, user, p_system_prompt="You help.")
    told = [text for text in TEXTS if any(char.isalnum() for char in text)]
    # Of texts that differ in punctuation only, a context shows the one that was said last.
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for place, text in enumerate(told):
        call(conn, "remember", p_user_id=user, p_content=text, p_kind="instruction",
             p_observed_at=start + timedelta(minutes=place))  # fmt: skip
    append(conn, user, session, said("Do I REMIND you of my INSTRUCTIONS?"))
    [row] = call(conn, "compile_context", p_user_id=user, p_session_id=session,
                 p_options={"selection": "all"})  # fmt: skip
    context = row["compile_context"]
    [found] = [m["content"] for m in context["messages"] if "[INSTRUCTION]" in m["content"]]
    kept = rows(conn, "select content from recall.memory_store where user_id = %s"
                      ' order by content collate "C"', [user])  # fmt: skip
    return {"lines": sorted(found.splitlines()), "kept": [row["content"] for row in kept],
            "shown": len(context["memories"]), "truncated": context["truncated"]}  # fmt: skip


@pytest.fixture(params=list(LOCALES))
def other(server: TestServer, request: pytest.FixtureRequest) -> Iterator[Connection]:
    """A connection to a database of another locale."""
    name = server.create_database("locale", locale=request.param)
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        server.install(conn, embedding_dimensions=DIMENSIONS, hash_partitions=HASH_PARTITIONS)
        yield conn
    server.drop_database(name)


@pytest.mark.invariants
@pytest.mark.slow
def test_texts_are_read_alike_in_databases_of_every_locale(
    db: Connection, other: Connection
) -> None:
    expected, found = answers(db), answers(other)
    differing = [name for name in expected if expected[name] != found[name]]
    assert differing == []
    assert context_of(other) == context_of(db)


def outcome(db: Connection, function: str, named: str, arguments: dict[str, Any]) -> str:
    """Return the SQLSTATE of a call, 00000 when it works; nothing of it stays."""
    db.execute("savepoint before")
    try:
        db.execute(f"select * from recall.{function}({named})".encode(), arguments)
    except psycopg.Error as error:
        return f"{error.sqlstate} {error.diag.message_primary}"
    finally:
        db.execute("rollback to savepoint before")
    return "00000"


def test_callers_may_pass_texts_of_a_nondeterministic_collation(
    db: Connection, worlds: tuple[World, World]
) -> None:
    """Every public function with a text among its parameters works as with any other text."""
    try:
        db.execute(
            "create collation public.nd"
            " (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedObject) as error:
        pytest.skip(f"the server has no nondeterministic collation: {error}")
    world, differing, compared = adorned(db, worlds[0]), {}, 0
    with db.transaction(force_rollback=True):
        for function, parameters in public_parameters(db).items():
            kinds = {parameter.name: parameter.kind for parameter in parameters}
            for arguments in sane_arguments(function, parameters, world):
                more = {name: WORDS.get(name, SAMPLES[kind]) for name, kind in kinds.items()
                        if kind in ("text", "text[]") and name not in arguments}  # fmt: skip
                if "text" not in kinds.values() and "text[]" not in kinds.values():
                    continue
                for given in (arguments, *(arguments | {name: more[name]} for name in more)):
                    named = [
                        ", ".join(
                            f"{name} => %({name})s::{kinds[name]}"
                            + (collate if kinds[name] in ("text", "text[]") else "")
                            for name in given
                        )
                        for collate in ("", " collate public.nd")
                    ]
                    plain, found = (outcome(db, function, part, given) for part in named)
                    compared += 1
                    if plain != found:
                        differing[function] = (plain, found)
    assert compared > 60
    assert differing == {}, differing
