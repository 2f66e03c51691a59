"""Patterns from natural wording: the labeled sets, their nominations, and the way to a context."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pattern_nominations import LAST_DAY, EpisodeSet, count, nominated, read_sets, with_background
from pgrecall import AgentMemory
from pgrecall.models import LocalEmbedder
from support import call
from support.memories import stored
from support.scripted_model import MODEL, NUMBERED, Script, asked, model, step_of, work
from support.scripted_openai import Request, Scripted, ScriptedOpenAI

Connection = psycopg.Connection[Any]
SETS = read_sets()
TRIED = [s for s in SETS if s.label != "background"]
SET_OF = {text: s for s in TRIED for _, text in s.episodes}


@pytest.fixture(scope="module")
def local() -> LocalEmbedder:
    return LocalEmbedder()


@pytest.fixture(autouse=True)
def _local_vectors(db: Connection) -> Iterator[None]:
    db.execute("update recall.settings set embedding_model = 'local', extraction = 'llm'")
    yield
    db.execute("delete from recall.jobs")
    db.execute("update recall.users set pattern_due = false where pattern_due")


def test_a_third_of_the_sets_is_held_out() -> None:
    vpn = [s for s in TRIED if s.name.startswith("vpn")]
    others = [s for s in TRIED if s.label == "recurring" and s not in vpn]
    unrelated = [s for s in TRIED if s.label == "unrelated"]
    assert (len(vpn), len(others), len(unrelated)) == (5, 13, 18)
    assert 3 * sum(s.is_held_out for s in TRIED) >= len(TRIED)
    assert min(len(s.episodes) for s in SETS) >= 3
    assert len({s.language for s in TRIED}) == 4
    for s in TRIED:
        assert len(with_background(s, SETS)) > len(s.episodes) + 8


@pytest.mark.parametrize(
    "text", ["[a | b]", "[a | rare | office]", "1 | x", "[a | recurring | b]\nx"]
)
def test_malformed_sets_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sets.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"sets\.txt, line \d"):
        read_sets(path)


@pytest.mark.slow
def test_nominations_among_ordinary_episodes(db: Connection, local: LocalEmbedder) -> None:
    """Each wording of the trouble with a VPN is nominated, and two unrelated sets at most."""
    results = {s: nominated(db, s, with_background(s, SETS), local) for s in TRIED}
    figures = count(results)
    assert [part["vpn"] for part in figures.values()] == [[3, 3], [2, 2]]
    assert sum(part["recurring"][0] for part in figures.values()) >= 8
    assert sum(part["unrelated"][0] for part in figures.values()) <= 2


@pytest.mark.parametrize("has_vectors", [True, False])
def test_nominations_of_users_with_few_episodes(
    db: Connection, local: LocalEmbedder, has_vectors: bool
) -> None:
    results = {s: nominated(db, s, s.episodes, local if has_vectors else None) for s in TRIED}
    figures = count(results)
    assert sum(part["vpn"][0] for part in figures.values()) >= 4
    assert sum(part["unrelated"][0] for part in figures.values()) <= 2


def judge(request: Request) -> Scripted:
    """A model that answers by the label of most of what it is shown."""
    shown = [SET_OF.get(text) for _, text in NUMBERED.findall(request["messages"][1]["content"])]
    most = max(set(shown), key=shown.count)
    is_pattern = most is not None and most.label == "recurring" and shown.count(most) >= 3
    return {
        "pattern": f"User has recurring trouble: {most.name.partition(',')[0]}."
        if is_pattern and most else None,
        "solutions": [], "tags": [],
    }  # fmt: skip


def live_through(memory: AgentMemory, user: uuid.UUID, episodes: list[tuple[int, str]]) -> None:
    """One session in which the user has an exchange on each of the days."""
    now = datetime.now(UTC)
    chat = memory.session(user=user, model=MODEL)
    for day, text in sorted(episodes):
        at = now - timedelta(days=LAST_DAY - day)
        turns = ((f"About this: {text}", "user"), ("I see.", "assistant"))
        chat.append([{"role": role, "content": said, "created_at": at.isoformat()}
                     for said, role in turns])  # fmt: skip
    chat.close()


CHOSEN = [s for s in TRIED if s.name.startswith("vpn") or s.name in ("computer", "work", "travel")]


@pytest.mark.slow
def test_patterns_of_natural_wording_reach_the_next_session(
    dsn: str, db: Connection, openai: ScriptedOpenAI, script: Script, local: LocalEmbedder
) -> None:
    """From turns through extraction, maintenance and the worker to a search in a new session."""
    script.episodes = {f"About this: {text}": text for s in SETS for _, text in s.episodes}
    openai.respond = lambda request: (
        judge(request) if step_of(request) == "pattern" else script(request)
    )
    users: dict[uuid.UUID, EpisodeSet] = {uuid.uuid4(): s for s in CHOSEN}
    with AgentMemory.connect(dsn, embedder=local, llm=model(openai)) as memory:
        for user, chosen in users.items():
            live_through(memory, user, with_background(chosen, SETS))
        work(memory)
        call(db, "run_maintenance", p_task="enqueue_patterns")
        work(memory)

        for user, chosen in users.items():
            rows = stored(db, user)
            texts = {str(row["memory_id"]): row for row in rows if row["kind"] == "episode"}
            assert {row["content"] for row in texts.values()} == {
                text for _, text in with_background(chosen, SETS)
            }
            patterns = [row for row in rows if row["kind"] == "pattern"]
            if chosen.label == "unrelated":
                assert patterns == [], chosen.name
                continue
            (pattern,) = patterns
            sources = [texts[id_] for id_ in pattern["metadata"]["episodes"]]
            own = {text for _, text in chosen.episodes}
            assert len(own.intersection(row["content"] for row in sources)) >= 3
            turns = {turn for row in sources for turn in row["source_turn_ids"]}
            assert {*pattern["source_turn_ids"]} == turns != set()
            chat = memory.session(user=user, model=MODEL)
            hits = chat.search("trouble with the vpn")
            assert pattern["content"] in [hit.content for hit in hits]
            assert "[PATTERN] User has recurring trouble: vpn." in str(
                chat.context("I cannot connect to the VPN again")
            )

        # A declined or answered set is not asked again until it changes.
        before = asked(openai).count("pattern")
        db.execute("update recall.users set pattern_due = true")
        call(db, "run_maintenance", p_task="enqueue_patterns")
        work(memory)
        assert asked(openai).count("pattern") == before <= len(CHOSEN)
