"""Which messages verbatim extraction keeps, on labeled messages in twelve languages.

Authors of the rule and its phrases may read the messages marked `tune`, and only count those marked
`held`. A change made after reading a held-out miss needs fresh held-out messages.

`verbatim_messages.tsv` was written before the rule, `verbatim_chat.tsv` (short, English) and
`verbatim_short.tsv` (short, nine languages) later by persons who had not read it.
`verbatim_terse.tsv` is hard on purpose: facts in two words, transient matters in the first person.
Its author knew the rule and wrote the personal words soon after, so that its held-out half
flatters them. `verbatim_unseen.tsv` was written when those words were done, and none was changed
for it. `verbatim_daily.tsv` (short, nine languages) was written after that; its author then wrote
phrases, so that its held-out third flatters them, too. `verbatim_common.tsv` (short, eight
languages) was written by someone who had not read the rule. Its tuned part then led to the phrases
of the present moment.
"""

from __future__ import annotations

import uuid
from collections import Counter
from typing import Any

import psycopg
import pytest

from pgrecall.encryption._verbatim import Phrases, is_statement, phrases_by_place
from support import append, call, open_session, rows, said, value
from support.labels import labeled

Connection = psycopg.Connection[Any]
MIN_WORDS = 5  # the default of settings.verbatim_min_words
SETS = ("verbatim_messages", "verbatim_chat", "verbatim_short", "verbatim_terse")
LATE = ("verbatim_unseen", "verbatim_daily", "verbatim_common")


def is_kept(db: Connection, *texts: str) -> list[bool]:
    kept = rows(
        db,
        "select recall._is_statement(t.body, %s) as kept"
        "  from unnest(%s::text[]) with ordinality as t (body, place) order by t.place",
        [MIN_WORDS, list(texts)],
    )
    return [row["kept"] for row in kept]


@pytest.fixture(scope="module")
def phrases(dsn: str) -> Phrases:
    """The phrases as the driver has them for an encrypted user."""
    with psycopg.connect(dsn) as conn:
        found = conn.execute(
            "select place, phrase, meaning from recall.verbatim_phrases"
        ).fetchall()
    lists: dict[str, dict[str, list[str]]] = {}
    for place, phrase, meaning in found:
        lists.setdefault(place, {}).setdefault(meaning, []).append(phrase)
    return phrases_by_place(lists)


def test_list_is_balanced_and_a_third_is_held_out() -> None:
    messages = labeled()
    assert len(messages) >= 300
    assert len({message.text for message in messages}) == len(messages)
    assert len({message.language for message in messages}) >= 8
    for half in ("held", "tune"):
        labels = [message.label for message in messages if message.half == half]
        assert labels.count("keep") == labels.count("drop")
    assert 3 * sum(m.half == "held" for m in messages) >= len(messages) - 6


@pytest.mark.parametrize("name", [*SETS[1:], *LATE])
def test_short_messages_are_balanced_and_unique(name: str) -> None:
    messages = labeled(name)
    assert len({message.text for message in messages}) == len(messages) >= 120
    count = Counter((message.half, message.label) for message in messages)
    assert count["held", "keep"] == count["held", "drop"]
    assert count["tune", "keep"] == count["tune", "drop"]


@pytest.mark.parametrize(
    ("name", "half", "most_others"),
    [(name, half, 0.1) for name in SETS for half in ("held", "tune")]
    + [
        ("verbatim_unseen", "held", 0.1),
        ("verbatim_common", "tune", 0.1),
        ("verbatim_common", "held", 0.1),
        ("verbatim_daily", "tune", 0.1),
        ("verbatim_daily", "held", 0.2),
    ],
)
def test_nine_of_ten_facts_are_kept_and_few_others(
    db: Connection, name: str, half: str, most_others: float
) -> None:
    share = {}
    for label in ("keep", "drop"):
        texts = [m.text for m in labeled(name) if (m.half, m.label) == (half, label)]
        assert len(texts) >= 17
        share[label] = sum(is_kept(db, *texts)) / len(texts)
    assert share["keep"] >= 0.9
    assert share["drop"] <= most_others


@pytest.mark.parametrize(
    "text",
    [
        "I am vegetarian", "I like tea.", "Call me Fay.", "Sono vegetariano", "Soy vegetariano",
        "Ich bin Vegetarierin", "Je suis végétarien", "Я вегетарианец", "我吃素", "お茶が好きです",
        "My sister Eva lives in Turku. Right?", "I live in Lyon, where should I eat?",
        "Ok. I moved to Bergen", "thanks! my name is Ada btw",
        "please always answer in French", "I AM VEGETARIAN!!!", "Ben İzmir'de yaşıyorum",
        "Minä asun nykyään vaimoni kanssa Turussa",
    ],
)  # fmt: skip
def test_statements_of_two_words_and_more_are_kept(
    db: Connection, phrases: Phrases, text: str
) -> None:
    assert is_kept(db, text) == [is_statement(text, MIN_WORDS, phrases)] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "", "?", "...", "👍👍 🎉 🎉 🎉 🎉", "ok", "Thanks a lot!", "What is my name?",
        "Translate into German: I have two sisters. They live in Cork.",
        "> I am vegetarian", '"I am vegetarian and I live in Cork"', "```\nI am code here now\n```",
        "def f(self): return self.x", "ValueError: I am not a number", "gracias", "好的", "Merhaba",
        "2026-01-02 10:00:00 I am a log line", "select me from users where id = 1",
    ],
)  # fmt: skip
def test_questions_thanks_tasks_quotations_and_code_are_not_kept(
    db: Connection, phrases: Phrases, text: str
) -> None:
    assert is_kept(db, text) == [is_statement(text, MIN_WORDS, phrases)] == [False]


@pytest.mark.slow
def test_driver_decides_as_the_database(db: Connection, phrases: Phrases) -> None:
    """Joined and cut messages, too: the two are written twice, for encrypted users."""
    texts = [message.text for name in (*SETS, *LATE) for message in labeled(name)]
    texts += [f"{a} {b}" for a, b in zip(texts, texts[7:], strict=False)]
    texts += [f"{a}, {b}?" for a, b in zip(texts, texts[11:], strict=False)]
    texts += [f"{a}: {b[: len(b) // 2]}\n'{b}'" for a, b in zip(texts, texts[13:], strict=False)]
    here = [is_statement(text, MIN_WORDS, phrases) for text in texts]
    differing = [t for t, a, b in zip(texts, here, is_kept(db, *texts), strict=True) if a != b]
    assert differing == []


def test_personal_words_outweigh_remarks_and_words_on_the_material_outweigh_the_author(
    db: Connection, phrases: Phrases
) -> None:
    texts = [
        ("that's for the title", False),
        ("that's for my wedding", True),
        ("my cursor is gone", False),
        ("my daughter broke her screen", True),
        ("peanut allergy", True),
        ("pancake recipe", False),
        ("I can't live without it", False),
        ("my wife can't live without it", True),
        ("always link the error", True),
        ("I'm so tired today", False),
        ("I quit my job today", True),
        ("I like the second one", False),
        ("me gusta más la primera", False),
        ("my daughter is the second", True),
        ("vivo en la segunda planta", True),
    ]
    for text, kept in texts:
        assert is_kept(db, text) == [is_statement(text, MIN_WORDS, phrases)] == [kept], text


def test_an_installation_adds_phrases_of_its_own(db: Connection) -> None:
    """An unknown language has the general rule: five words and more, unless it asks."""
    thanks = "Kiitos oikein paljon avusta tänään"
    assert is_kept(db, thanks) == [True]
    with db.transaction():
        db.execute(
            "insert into recall.verbatim_phrases (phrase, place, meaning, language)"
            " values ('kiitos', 'first', 'courtesy', 'fi'), ('minä', 'any', 'self', 'fi')"
        )
        assert is_kept(db, thanks, "Minä laulan") == [False, True]
        raise psycopg.Rollback
    with pytest.raises(psycopg.errors.CheckViolation):
        db.execute("insert into recall.verbatim_phrases values ('Kiitos', 'first', 'courtesy', '')")


def test_min_words_bounds_statements_about_something_else(db: Connection, user: uuid.UUID) -> None:
    call(db, "configure_user", p_user_id=user, p_changes={"extraction": "verbatim"})
    session = open_session(db, user)
    append(db, user, session, said("The harbor office opens early.", "I like tea."))
    sql = """select recall._verbatim_candidates(s, 2, recall._settings(s.user_id))
               from recall.sessions as s where s.session_id = %s"""
    assert len(value(db, sql, [session])) == 2
    call(db, "configure_user", p_user_id=user, p_changes={"verbatim_min_words": 6})
    assert [c["content"] for c in value(db, sql, [session])] == ["I like tea."]
