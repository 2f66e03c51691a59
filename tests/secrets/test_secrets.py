"""Secrets: recognized in every shape, then kept, masked or refused on every way into the store."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from pgrecall.calls._redaction import Redactor, _Kind
from support import append, call, do_job, everything, open_session, refused, rows, value
from support.everyfunction import World, furnish
from support.invariants import check_invariants
from support.parameters import (
    Parameter,
    adorned,
    at,
    call_with,
    leaves,
    public_parameters,
    replaced,
    sane_arguments,
)
from support.scripted_model import fact
from support.secret_shapes import (
    COMMON,
    DENSE,
    HARMLESS,
    PREFIXES,
    SHAPES,
    Shape,
    is_held_out,
    leaks,
)
from support.servers import TestServer
from support.traces import leave_traces

Connection = psycopg.Connection[Any]

DEFAULT = ["private_key", "api_key", "token", "password", "card"]
KEY = next(shape.secret for shape in SHAPES if shape.name == "github")
MARK = "[secret: api key]"
WORDS = ["key", 'key"', "_key", "</", "1//0", "a3t", "q~", "tk-us-", "dp.", "word\\", "pass", "7"]


def redact(db: Connection, text: str, classes: list[str] = DEFAULT) -> str:
    return str(value(db, "select recall._redact(%s, %s)", [text, classes]))


@pytest.fixture
def masking(db: Connection, user: uuid.UUID) -> uuid.UUID:
    call(db, "configure_user", p_user_id=user, p_changes={"secrets": "mask"})
    return user


@pytest.fixture
def refusing(db: Connection, user: uuid.UUID) -> uuid.UUID:
    call(db, "configure_user", p_user_id=user, p_changes={"secrets": "refuse"})
    return user


def stored_text(db: Connection, user: uuid.UUID) -> str:
    """Everything that the database holds of a user, as text."""
    found = []
    for (table,) in db.execute(
        "select c.oid::regclass::text from pg_class as c"
        " where c.relnamespace = 'recall'::regnamespace and c.relkind in ('r', 'p')"
        " and not c.relispartition and exists (select from pg_attribute as a"
        " where a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped)"
    ).fetchall():
        query = f"select t::text from {table} as t where t.user_id = %s"
        found += [row[0] for row in db.execute(query.encode(), [user]).fetchall()]
    return "\n".join(found)


# Recognizing


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_each_shape_of_a_secret_is_masked(db: Connection, shape: Shape) -> None:
    masked = redact(db, shape.text)
    assert not leaks(shape.secret, masked)
    assert f"[secret: {shape.kind.replace('_', ' ')}]" in masked
    assert redact(db, masked) == masked  # done again it stays the same


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_masked_json_stays_valid(db: Connection, shape: Shape) -> None:
    document = {"a": [shape.text, 1], shape.text: None, "z": True}
    masked = redact(db, json.dumps(document))
    assert json.dumps(shape.secret)[1:-1] not in masked
    assert json.loads(masked)["z"] is True
    [(walked,)] = db.execute(
        "select recall._redact_json(%s, %s)", [json.dumps(document), DEFAULT]
    ).fetchall()
    assert shape.secret not in json.dumps(walked)
    assert walked["a"][1] == 1


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(db: Connection, text: str) -> None:
    assert redact(db, text) == text


@pytest.mark.slow
def test_a_pattern_matches_only_texts_with_what_it_needs(db: Connection) -> None:
    """The driver skips a pattern whose `needs` are not in the text."""
    texts = [shape.text for shape in SHAPES] + HARMLESS
    wrong = rows(
        db, "select p.pattern, t.text from recall._secret_patterns() as p"
        " cross join unnest(%s::text[]) as t (text)"
        " where t.text ~ p.pattern and not exists ("
        "  select from unnest(p.needs) as n (need)"
        '   where strpos(lower(t.text collate "C"), n.need) > 0)'
        " and p.needs <> '{}'", [texts])  # fmt: skip
    assert wrong == []


def test_a_long_text_is_searched_for_its_own_words_only(db: Connection) -> None:
    """Of names of keys those remain that its characters spell; short texts share patterns."""
    words = value(db, "select recall._secret_key_words()")
    query = "select k.pattern from recall._secret_kinds(%s, %s) as k where k.pattern ~ 'api'"

    def kept(text: str) -> set[str]:
        found = {p for (p,) in db.execute(query, [text, ["password"]]).fetchall()}
        listed = re.findall(r"\(\?:([a-z]+(?:\|[a-z]+)*)\)\[_-\]", " ".join(found))
        return {word for one in listed for word in one.split("|")}

    padding = "x " * 10_000
    assert kept("<api_key>a</") == set(words)
    assert kept(f"<api_key>a</{padding}") == {"api", "app"}
    assert kept(f"<api_key>a</{padding}jwt") == {"api", "app", "jwt"}


@pytest.mark.slow
def test_each_name_of_a_key_is_known_in_a_long_text(db: Connection) -> None:
    """Wherever it stands, and in the driver, too."""
    redactor = Redactor(value(db, "select recall._pattern_list(%s)", [DEFAULT]), headers="")
    names = [f"{word}_key" for word in value(db, "select recall._secret_key_words()")]
    for name in [*names, "id_token", "id-token", "idtoken"]:
        secret = f"{name}=s3cr3t-value "
        for before in (0, 9_990, 30_000):
            text = "x " * before + secret + "y " * 20_000
            masked = text.replace("s3cr3t-value", "[secret: password]")
            assert redact(db, text) == masked
            assert redactor.text(text) == masked


@given(st.lists(st.tuples(st.integers(0, 30_000), st.sampled_from(WORDS)), max_size=12))
def test_words_are_found_anywhere(db: Connection, placed: list[tuple[int, str]]) -> None:
    """Of the words that patterns need a text has those that it has."""
    words = value(db, "select array_agg(distinct n.need) from recall._secret_patterns() as p"
                  " cross join unnest(p.needs) as n (need)")  # fmt: skip
    signs = [" "] * 30_000
    for place, word in placed:
        signs[place : place + len(word)] = word
    text = "".join(signs)
    found = value(db, "select recall._words_in(%s, %s)", [text, words])
    assert sorted(found) == sorted(word for word in words if word in text)


def test_patterns_end_in_their_loops(db: Connection) -> None:
    """Of x{9,} PostgreSQL makes nine states at once: such a match takes three times as long."""
    for one in value(db, "select recall._pattern_list(%s)", [[*DEFAULT, "iban", "email", "phone"]]):
        assert not re.search(r"\{\d+,\}", one["pattern"])


def test_the_driver_looks_for_few_words_and_applies_few_patterns(
    db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a long text only words of its own characters; a mark does not make patterns apply."""
    redactor = Redactor(value(db, "select recall._pattern_list(%s)", [DEFAULT]), headers="")

    class Counted(str):
        __slots__ = ()
        looks = 0

        def __contains__(self, word: str) -> bool:  # type: ignore[override]
            Counted.looks += 1
            return str.__contains__(self, word)

    redactor._kinds_in(Counted("sk-" * 10_000))
    assert Counted.looks < 10
    applied = []
    found = _Kind.found

    def counted(kind: _Kind, text: str, lowered: str, start: int) -> Iterator[re.Match[str]]:
        applied.append(kind.pattern)
        return found(kind, text, lowered, start)

    monkeypatch.setattr(_Kind, "found", counted)
    assert "[secret: token]" in redactor.text("cookie: a=b; ")
    assert len(applied) == 1


def test_few_texts_are_taken_for_secrets(db: Connection) -> None:
    """Counted for the third that the patterns were not made with, and for the rest."""
    for held_out in (False, True):
        shapes = [shape for shape in SHAPES if is_held_out(shape.name) == held_out]
        texts = [text for text in HARMLESS if is_held_out(text) == held_out]
        missed = [shape.name for shape in shapes if leaks(shape.secret, redact(db, shape.text))]
        wrong = [text for text in texts if redact(db, text) != text]
        assert len(shapes) > 80
        assert len(texts) > 30
        assert missed == []
        assert wrong == []


@pytest.mark.slow
def test_time_is_linear_in_the_text(db: Connection, capsys: pytest.CaptureFixture[str]) -> None:
    """A text that repeats a secret or its beginning: 1 MB takes four times as long as 0.25 MB."""
    classes = [*DEFAULT, "iban", "email", "phone"]
    patterns = value(db, "select recall._pattern_list(%s)", [classes])
    redactor = Redactor(patterns, headers="")
    begun = [prefix.lower() for prefix in PREFIXES]
    for one in patterns:
        assert any(need in prefix for need in one["needs"] for prefix in begun), one
    by = {"database": lambda text: redact(db, text, classes), "driver": redactor.text}
    worst = dict.fromkeys(by, 0.0)
    for prefix in PREFIXES + DENSE:
        long = (prefix * (1_000_000 // len(prefix) + 1))[:1_000_000]
        for name, mask in by.items():
            for _ in range(3):
                took = [_seconds(mask, text) for text in (long[:250_000], long)]
                if took[1] < 0.2 or took[1] < 8 * took[0]:  # 16 times if it were quadratic
                    break
            else:
                pytest.fail(f"{name}: {prefix!r} takes {took} seconds")
            worst[name] = max(worst[name], took[1])
    with capsys.disabled():
        print(f"seconds for the worst MB: {worst}")  # noqa: T201


@pytest.mark.parametrize("repeated", [*(shape.text for shape in COMMON), *DENSE])
def test_a_long_text_that_repeats_a_secret_is_masked_like_each_part(
    db: Connection, repeated: str
) -> None:
    """Other secrets between the repeated ones, and what continues one of them, too."""
    redactor = Redactor(value(db, "select recall._pattern_list(%s)", [DEFAULT]), headers="")
    many = 120_000 // len(repeated)
    parts = [f"{repeated}\n", f"{repeated}x7;\n", f"9{repeated}\n", "cookie: a=b; c=d\n"]
    for mask in (lambda text: redact(db, text), redactor.text):
        masked = list(map(mask, parts))
        assert mask(parts[0] * many + "".join(parts[1:]) * 2 + parts[0]) == (
            masked[0] * many + "".join(masked[1:]) * 2 + masked[0]
        )
        assert mask("".join(parts[:1] * 9 + parts[1:]) * (many // 12)) == (
            "".join(masked[:1] * 9 + masked[1:]) * (many // 12)
        )


def test_few_different_parts_of_a_long_text_are_masked_once(db: Connection) -> None:
    """Null, and so masked match by match, where parts differ or the text repeats none."""
    query = (
        "select recall._redact_repeated(%s, k.class, k.mark, k.pattern)"
        " from recall._secret_kinds(%s, %s) as k where k.class = 'card'"
    )
    card, other = "5555555555554444", "4111111111111111"

    def once(text: str) -> Any:
        return value(db, query, [text, text, DEFAULT])

    mark = "[secret: card]"
    assert once(f"{card} " * 2000) == f"{mark} " * 2000
    assert once(f"{card} {other}\n" * 2000) == f"{mark} {mark}\n" * 2000
    assert once(f"{card} " * 500) is None
    assert once("".join(f"{card} {n}\n" for n in range(2000))) is None
    assert once(f"]{card}" * 2000) is None


@pytest.mark.slow
def test_time_is_linear_in_a_stream_full_of_secrets(db: Connection) -> None:
    """Of secrets in pieces, four times as many take about four times as long."""
    redactor = Redactor(value(db, "select recall._pattern_list(%s)", [DEFAULT]), headers="")
    text = f"password=hunter2 {KEY} is it. "

    def stream(length: int) -> str:
        long = (text * (length // len(text) + 1))[:length]
        pieces = ({"choices": [{"delta": {"content": long[at : at + 5]}}]}
                  for at in range(0, length, 5))  # fmt: skip
        return "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces)

    def in_database(body: str) -> str:
        query = "select convert_from(recall._redact_bytes(%s, %s), 'UTF8')"
        return str(value(db, query, [body.encode(), DEFAULT]))

    def in_driver(body: str) -> str:
        return redactor.body(body.encode()).decode()

    for mask in (in_database, in_driver):
        masked = mask(stream(10_000))
        assert KEY[:10] not in masked
        assert masked.count("[secret: ") >= 2 * (10_000 // len(text))
        for _ in range(3):
            took = [_seconds(mask, stream(length)) for length in (10_000, 40_000)]
            if took[1] < 8 * took[0]:  # 16 times and more where it was quadratic
                break
        else:
            pytest.fail(f"{mask.__name__} takes {took} seconds")


def _seconds(work: Callable[[str], str], text: str) -> float:
    started = time.perf_counter()
    work(text)
    return time.perf_counter() - started


def test_what_stands_around_stays(db: Connection) -> None:
    text = f"One {KEY}, two {SHAPES[0].secret}; and {KEY}."
    assert redact(db, text) == f"One {MARK}, two {MARK}; and {MARK}."
    assert redact(db, text, ["card"]) == text


def test_personal_classes_are_optional(db: Connection) -> None:
    text = "ann@example.org, +49 170 1234567, (415) 555-1234, DE89 3704 0044 0532 0130 00"
    assert redact(db, text) == text
    assert redact(db, text, ["email", "phone", "iban"]) == (
        "[secret: email], [secret: phone], [secret: phone], [secret: iban]"
    )
    assert redact(db, "DE88370400440532013000", ["iban"]) == "DE88370400440532013000"


def test_a_number_under_a_telling_key(db: Connection) -> None:
    document = '{"password": 123456, "card": 4111111111111111, "n": 17, "pwd": ""}'
    assert value(db, "select recall._redact_json(%s, %s)", [document, DEFAULT]) == {
        "password": "[secret: password]",
        "card": "[secret: card]",
        "n": 17,
        "pwd": "",
    }


def test_lists_and_pairs_under_a_telling_name(db: Connection) -> None:
    """Headers as Go and HAR write them: a list of values, name and value apart."""
    mark = "[secret: password]"
    document = {
        "Authorization": ["Custom opaque", "", 7, {"n": "x"}],
        "headers": [{"name": "x-api-key", "value": "opaque"}, {"name": "accept", "value": "a/b"}],
        "session-token": {"value": "stays"},
    }
    masked = {
        "Authorization": [mark, "", 7, {"n": "x"}],
        "headers": [{"name": "x-api-key", "value": mark}, {"name": "accept", "value": "a/b"}],
        "session-token": {"value": "stays"},
    }
    for function in ("_redact_json", "_mask_json"):
        query = f"select recall.{function}(%s, %s)"
        assert value(db, query, [json.dumps(document), DEFAULT]) == masked
        assert value(db, query, [json.dumps(masked), DEFAULT]) == masked


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_quick_check_of_a_large_value_finds_what_its_parts_hold(
    db: Connection, shape: Shape
) -> None:
    """_mask_json gives what _redact_json gives, also after a line break, a tab or a quote."""
    documents = [
        json.dumps(document)
        for document in (
            {"a": [shape.text]}, {shape.text: 1}, {"name": "content", "value": shape.text},
            *({"a": before + shape.text} for before in ("x\n", "x\t", "x\r", "x\x01", 'x "', "\\")),
        )
    ]  # fmt: skip
    assert rows(
        db,
        "select d.document from unnest(%s::jsonb[]) as d (document)"
        " where recall._mask_json(d.document, %s) <> recall._redact_json(d.document, %s)",
        [documents, DEFAULT, DEFAULT],
    ) == []  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_spans_name_the_place(db: Connection, shape: Shape) -> None:
    text = f"ä {shape.text}"
    spans = rows(db, "select * from recall._secret_spans(%s, %s)", [text, DEFAULT])
    places = [place for s in spans for place in range(s["from_char"] - 1, s["to_char"])]
    start = text.index(shape.secret)
    assert set(range(start, start + len(shape.secret))) <= set(places)
    assert len(places) == len(set(places))


def test_many_secrets_in_a_long_text(db: Connection) -> None:
    text = f"{KEY} is a key. " * 20_000
    assert redact(db, text) == f"{MARK} is a key. " * 20_000


# Every way in, found in the catalog

Attempts = dict[str, dict[str, Any]]

IDENTIFIERS = {
    ("ensure_user", "p_external_id"),
    ("open_session", "p_model_id"),
    ("add_embedding", "p_model"),
    ("claim_jobs", "p_worker"),
    ("next_request", "p_worker"),
    ("rewrap_user_key", "p_wrapping_key"),
    ("seal_user", "p_wrapping_key"),
}
"""Names that are given to users, models, workers and keys: they say who or what it is."""

NOT_A_USERS = {"configure", "register_model", "register_kind", "set_prompt",
               "configure_maintenance"}  # fmt: skip
ONCE = {"next_request", "fail_job"}
"""What a second call would not do again."""


def variants(base: Any, kind: str, secret: str) -> Iterator[Any]:
    """Yield values of a parameter with a secret in each place that has a text, and in a new one."""
    if kind == "text":
        yield f"a {secret}"
    elif kind == "text[]":
        yield [f"a {secret}"]
    elif kind == "jsonb":
        yield Jsonb({"note": f"a {secret}"})
        yield Jsonb({"metadata": {"x": {f"a {secret}": [1]}}})
        for path in leaves(base.obj if base is not None else {}):
            yield Jsonb(replaced(base.obj, path, f"{at(base.obj, path)} {secret}"))


def attempts(function: str, parameters: list[Parameter], world: World) -> Iterator[Attempts]:
    """Yield for each base of a function its calls, by the secret that is in one of the places."""
    for sane in sane_arguments(function, parameters, world):
        calls: Attempts = {}
        for parameter in parameters:
            if (function, parameter.name) in IDENTIFIERS:
                continue
            base = sane.get(parameter.name)
            for number in range(len(list(variants(base, parameter.kind, "")))):
                secret = f"ghp_{len(calls) + 1:036d}"
                item = list(variants(base, parameter.kind, secret))[number]
                calls[secret] = sane | {parameter.name: item}
        if calls:
            yield calls


def found_secrets(db: Connection, world: World, calls: Attempts) -> list[str]:
    text = json.dumps(db.execute("select content from recall.system_prompts").fetchall())
    text += stored_text(db, world["user"]) + stored_text(db, world["newcomer"])
    return [secret for secret in calls if secret in text]


@pytest.mark.parametrize("mode", ["mask", "refuse", "keep"])
@pytest.mark.slow
def test_no_parameter_lets_a_secret_in(db: Connection, mode: str) -> None:
    """Whichever text or JSON of whichever function it comes in by, it is not stored.

    In mode keep it is, in more than thirty places: what the test looks for is there to be found.
    """
    world = adorned(db, furnish(db, "alpha"))
    worked, refusals, found = 0, 0, []
    functions = public_parameters(db)
    for function in functions.keys() - NOT_A_USERS - {"import_user"}:
        for calls in attempts(function, functions[function], world):
            with db.transaction(force_rollback=True):
                call(db, "configure", p_changes={"secrets": mode})
                for secret, arguments in calls.items():
                    try:
                        with db.transaction(force_rollback=function in ONCE):
                            call_with(db, function, functions[function], arguments)
                            worked += 1
                            if function in ONCE:
                                found += found_secrets(db, world, calls)
                    except psycopg.Error as error:
                        if "holds a secret" in str(error):
                            refusals += 1
                            found += [secret] * (secret in everything(error))
                found += found_secrets(db, world, calls)
    assert worked > 12
    if mode == "keep":
        assert len(found) > 30
        assert worked > 100
    else:
        assert found == []
        assert (refusals > 30) == (mode == "refuse")


@pytest.mark.slow
def test_an_import_is_guarded(db: Connection, server: TestServer) -> None:
    """A document full of credentials, in another database that wants none; ids hold together."""
    world = furnish(db, KEY)
    leave_traces(db, world)
    document = value(db, "select recall.export_user(%s)", [world["user"]])
    raw = f'{{"authorization": "{KEY}"}}'
    for call_row in document["tables"]["model_calls"]:
        call_row |= {"request_body": "\\x" + raw.encode().hex(), "error": KEY}
    assert json.dumps(document).count(KEY) > 200
    name = server.cloned_database("guarded")
    with psycopg.connect(server.dsn(name), autocommit=True) as elsewhere:
        call(elsewhere, "configure", p_changes={"secrets": "refuse"})
        with refused("RC003", "p_document"):
            call(elsewhere, "import_user", p_user_id=world["user"], p_document=document)
        assert not call(elsewhere, "get_memories", p_user_id=world["user"])
        call(elsewhere, "configure", p_changes={"secrets": "mask"})
        call(elsewhere, "import_user", p_user_id=world["user"], p_document=document)
        stored = stored_text(elsewhere, world["user"]).replace(world["name"], "")
        assert KEY not in stored
        assert KEY.encode().hex() not in stored
        assert stored.count(MARK) > 200
        (session,) = call(elsewhere, "get_session", p_user_id=world["user"],
                          p_session_id=world["session"])  # fmt: skip
        assert session["system_prompt"] == f"You know {MARK}."
        # the import recomputes derived values: the key is not found, and repeats are recognized
        found = call(elsewhere, "search", p_user_id=world["user"], p_query="thing number 9")
        assert found[0]["content"] == f"{MARK} likes thing number 9"
        again = call(elsewhere, "remember", p_user_id=world["user"],
                     p_content=f"{KEY} likes thing number 9")  # fmt: skip
        assert again[0]["outcome"] == "duplicate"
        check_invariants(elsewhere)
    server.drop_database(name)


# Every way in, one by one

Write = Callable[[Connection, uuid.UUID, uuid.UUID, str], object]


def _parts(db: Connection, user: uuid.UUID, session: uuid.UUID, text: str) -> object:
    part = {"type": "text", "text": text}
    return append(db, user, session, [{"role": "user", "content": [part]}])


def _arguments(db: Connection, user: uuid.UUID, session: uuid.UUID, text: str) -> object:
    function = {"name": "login", "arguments": json.dumps({"note": text})}
    called = {"role": "assistant", "content": None,
              "tool_calls": [{"id": "c1", "type": "function", "function": function}]}  # fmt: skip
    return append(db, user, session, [called, {"role": "tool", "tool_call_id": "c1",
                                               "content": text}])  # fmt: skip


def _extracted(db: Connection, user: uuid.UUID, session: uuid.UUID, text: str) -> object:
    return call(db, "apply_decisions", p_user_id=user, p_session_id=session,
                p_decisions=[{"decision": "ADD", "content": text}])  # fmt: skip


def _edited(db: Connection, user: uuid.UUID, session: uuid.UUID, text: str) -> object:
    [made] = call(db, "remember", p_user_id=user, p_content="Has a key")
    return call(db, "supersede_memory", p_user_id=user, p_memory_id=made["memory_id"],
                p_content="The key", p_changes={"metadata": {"note": text}})  # fmt: skip


def _annotated(db: Connection, user: uuid.UUID, session: uuid.UUID, text: str) -> object:
    append(db, user, session, [{"role": "user", "content": "Hello"}])
    return call(db, "annotate_message", p_user_id=user, p_session_id=session, p_turn_index=1,
                p_patch={"note": text})  # fmt: skip


WRITES: dict[str, Write] = {
    "content": lambda db, user, session, text: append(
        db, user, session, [{"role": "user", "content": text}]
    ),
    "parts": _parts,
    "tool calls": _arguments,
    "metadata": lambda db, user, session, text: append(
        db, user, session, [{"role": "user", "content": "x", "metadata": {"a": {"b": text}}}]
    ),
    "extra": lambda db, user, session, text: append(
        db, user, session, [{"role": "assistant", "content": "x", "reasoning": text}]
    ),
    "annotation": _annotated,
    "remember": lambda db, user, _, text: call(db, "remember", p_user_id=user, p_content=text),
    "ingest": lambda db, user, session, text: call(
        db, "ingest_memories", p_user_id=user, p_session_id=session,
        p_candidates=[{"content": "One"}, {"content": "Two", "tags": [text]}],
    ),
    "decision": _extracted,
    "edit": _edited,
    "working": lambda db, user, session, text: call(
        db, "put_working", p_user_id=user, p_session_id=session, p_task_id="t", p_key="k",
        p_value={"note": text},
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WRITES)
def test_secrets_are_kept_by_default(db: Connection, user: uuid.UUID, way: str) -> None:
    WRITES[way](db, user, open_session(db, user), f"It is {KEY}.")
    assert KEY in stored_text(db, user)


@pytest.mark.parametrize("way", WRITES)
def test_masked_secret_is_nowhere_stored(db: Connection, masking: uuid.UUID, way: str) -> None:
    WRITES[way](db, masking, open_session(db, masking), f"It is {KEY}.")
    stored = stored_text(db, masking)
    assert KEY not in stored
    assert MARK in stored


@pytest.mark.parametrize("way", WRITES)
def test_refused_secret_stores_nothing(db: Connection, refusing: uuid.UUID, way: str) -> None:
    session = open_session(db, refusing)
    with pytest.raises(psycopg.Error, match=r"holds a secret \(api key\)") as caught:
        WRITES[way](db, refusing, session, f"It is {KEY}.")
    error = caught.value
    assert error.sqlstate == "RC003"
    assert error.diag.message_hint
    assert KEY not in f"{error} {error.diag.message_hint} {error.diag.message_detail}"
    stored = stored_text(db, refusing)
    assert KEY not in stored
    WRITES[way](db, refusing, session, "It is nothing.")


def test_a_refusal_names_class_and_place(db: Connection, refusing: uuid.UUID) -> None:
    with refused("RC003", "[0].content holds a secret (card) at character 9"):
        call(db, "remember", p_user_id=refusing, p_content="My card 4111 1111 1111 1111")


def test_what_a_model_extracts_is_masked_not_refused(db: Connection, refusing: uuid.UUID) -> None:
    session = open_session(db, refusing)
    append(db, refusing, session, [{"role": "user", "content": "Hello there"}])
    call(db, "close_session", p_user_id=refusing, p_session_id=session)
    claimed = call(db, "claim_jobs", p_worker="w", p_kinds=["extract"], p_limit=50)
    [job] = [c for c in claimed if c["user_id"] == refusing]
    do_job(db, job, {"extract": {"facts": [fact(f"The user's key is {KEY}", turns=[1])]}})
    [memory] = call(db, "get_memories", p_user_id=refusing)
    assert memory["content"] == f"The user's key is {MARK}"


def test_a_repeated_append_stays_repeatable(db: Connection, masking: uuid.UUID) -> None:
    session, request = open_session(db, masking), uuid.uuid4()
    messages = [{"role": "user", "content": f"Use {KEY}"}]
    first = append(db, masking, session, messages, request_id=request)
    again = append(db, masking, session, messages, request_id=request)
    assert [row[:2] for row in first] == [row[:2] for row in again]
    assert (first[0][2], again[0][2]) == (True, False)


def test_setting_of_one_user_does_not_affect_another(db: Connection, masking: uuid.UUID) -> None:
    second_user = uuid.uuid4()
    for one in (masking, second_user):
        call(db, "remember", p_user_id=one, p_content=f"Key {KEY}")
    assert KEY not in stored_text(db, masking)
    assert KEY in stored_text(db, second_user)


@pytest.mark.parametrize("changes", [{"secrets": "drop"}, {"secret_classes": ["pin"]}])
def test_malformed_settings_of_secrets_are_refused(
    db: Connection, user: uuid.UUID, changes: dict[str, Any]
) -> None:
    with refused("RC003"):
        call(db, "configure_user", p_user_id=user, p_changes=changes)


def test_the_classes_are_a_setting(db: Connection, masking: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=masking, p_changes={"secret_classes": ["email"]})
    call(db, "remember", p_user_id=masking, p_content=f"ann@example.org has {KEY}")
    [memory] = call(db, "get_memories", p_user_id=masking)
    assert memory["content"] == f"[secret: email] has {KEY}"
