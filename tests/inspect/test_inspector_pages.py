"""Pages as HTML and as JSON, with the rights of roles, and their actions."""

from __future__ import annotations

import html
import json
import re
import uuid
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote
from uuid import UUID

import psycopg
import pytest
from openai import OpenAIError
from psycopg import conninfo
from starlette.testclient import TestClient

from pgrecall import AgentMemory
from pgrecall._plain import HIDDEN
from pgrecall.inspector._context import differences
from pgrecall.inspector._pictures import chain_picture
from pgrecall.models import EmbeddingError
from support import login_role
from support.fakes import WordEmbedder
from support.inspecting import HOSTILE, JSON, TOKEN, csrf_of, entered, furnish_user, pages_of
from support.sealed import KEYS


class FailingEmbedder(WordEmbedder):
    """An embedder whose endpoint fails."""

    def __init__(self, model: str, error: Exception) -> None:
        super().__init__(model)
        self.error = error

    def embed(self, texts: Sequence[str]) -> list[list[float]]:  # noqa: ARG002
        raise self.error


@pytest.fixture(scope="module")
def memory(dsn: str) -> Iterator[AgentMemory]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        yield memory


@pytest.fixture(scope="module")
def ada(memory: AgentMemory) -> dict[str, Any]:
    return furnish_user(memory, "ada")


@pytest.fixture(scope="module")
def client(dsn: str, ada: dict[str, Any]) -> Iterator[TestClient]:
    with entered(dsn) as client:
        yield client


@pytest.fixture(scope="module")
def editor(dsn: str, ada: dict[str, Any]) -> Iterator[TestClient]:
    with entered(dsn, write=True) as client:
        yield client


def rows(client: TestClient, path: str, part: str) -> list[dict[str, Any]]:
    found = client.get(path, headers=JSON).json()[part]
    assert found["error"] is None
    return found["rows"]


def test_every_page_answers_as_html_and_as_json(client: TestClient, ada: dict[str, Any]) -> None:
    for path in pages_of(ada):
        page = client.get(path)
        assert page.status_code == 200, path
        assert page.headers["content-type"].startswith("text/html")
        assert "notice error" not in page.text, path
        document = client.get(path, headers=JSON)
        assert document.status_code == 200, path
        assert isinstance(document.json(), dict)


def test_memory_page_shows_the_chain_and_the_events(
    client: TestClient, ada: dict[str, Any]
) -> None:
    path = f"/users/{ada['user_id']}/memories/{ada['new']}"
    assert [row["content"] for row in rows(client, path, "chain")] == [
        "ada lives in Lyon",
        "ada lives in Porto",
    ]
    assert {row["event"] for row in rows(client, path, "events")} >= {"added", "superseded"}
    page = client.get(path).text
    assert "<svg" in page
    assert f"/memories/{ada['old']}" in page


def test_name_leads_to_the_user(client: TestClient, ada: dict[str, Any]) -> None:
    for name in ("ada", ada["user_id"], str(ada["user_id"]).upper()):
        answer = client.get("/users", params={"name": name})
        assert answer.url.path == f"/users/{ada['user_id']}"


def test_filter_and_time_select_memories(
    client: TestClient, ada: dict[str, Any], db: psycopg.Connection
) -> None:
    path = f"/users/{ada['user_id']}"
    assert [row["kind"] for row in rows(client, f"{path}?kind=goal", "memories")] == ["goal"]
    assert {row["content"] for row in rows(client, f"{path}?slot=city&ended=yes", "memories")} == {
        "ada lives in Lyon",
        "ada lives in Porto",
    }
    [(ended,)] = db.execute(
        "select ended_at - interval '1 microsecond' from recall.memory_store where memory_id = %s",
        [ada["old"]],
    ).fetchall()
    then = rows(client, f"{path}?slot=city&as_of={ended:%Y-%m-%dT%H:%M:%S.%f}", "memories")
    assert [row["content"] for row in then] == ["ada lives in Lyon"]


def test_session_page_shows_calls_of_tools_by_name(client: TestClient, ada: dict[str, Any]) -> None:
    page = client.get(f"/users/{ada['user_id']}/sessions/{ada['session_id']}").text
    assert "answers weather" in page
    assert "&#34;city&#34;: &#34;Lyon&#34;" in page


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/nothing", 404, "Not Found"),
        ("/users/x", 400, "pass a UUID"),
        ("/users/00000000-0000-0000-0000-000000000000", 404, "There is no user"),
        ("/users/ffffffff-ffff-ffff-ffff-ffffffffffff", 404, "There is no user"),
        ("/jobs?state=lost", 200, "One of due, deferred, running, dead"),
        ("/users?after=1", 400, "pass a UUID"),
        ("{user}?position=101", 400, "pass a number from 0 to 100"),
        ("{user}?position=%C2%B2", 400, "pass a number"),
        ("{user}?as_of=yesterday", 400, "pass a time such as"),
        ("{user}?as_of=9999-99-99", 400, "pass a time such as"),
        ("{user}/memories/{user_id}", 404, "has no memory"),
        ("{user}/sessions/{user_id}", 404, "has no session"),
        ("{user}/calls/{user_id}", 404, "has no call"),
        ("{session}/context?turn=99", 404, "no turn 99"),
        ("{session}/context?turn=99999999999999999999", 400, "pass a number"),
        ("{session}/context?turn=000000000000000001999999999999", 400, "pass a number"),
        ("{session}/context?q=x&memory_budget=-1", 400, "pass a number"),
    ],
)
def test_bad_addresses_get_a_page_that_says_why(
    client: TestClient, ada: dict[str, Any], path: str, status: int, says: str
) -> None:
    user = f"/users/{ada['user_id']}"
    session = f"{user}/sessions/{ada['session_id']}"
    path = path.format(user=user, user_id=ada["user_id"], session=session)
    answer = client.get(path)
    assert (answer.status_code, says in answer.text) == (status, True), answer.text


def test_errors_are_json_with_sqlstate_and_hint(client: TestClient) -> None:
    found = client.get("/jobs?state=lost", headers=JSON).json()["jobs"]["error"]
    assert found["code"] == "RC003"
    assert "One of due" in found["hint"]
    assert client.get("/nothing", headers=JSON).json()["error"]["message"] == "Not Found"


def test_without_write_the_database_refuses_every_change(
    client: TestClient, editor: TestClient, ada: dict[str, Any], db: psycopg.Connection
) -> None:
    user = f"/users/{ada['user_id']}"
    memory = f"{user}/memories/{ada['new']}"
    assert '<form method="post"' not in client.get(memory).text
    before = db.execute("select count(*) from recall.memory_events").fetchone()
    db.execute("update recall.jobs set state = 'dead' where user_id = %s", [ada["user_id"]])
    headers = {"authorization": "Bearer a-token-of-the-tests"}
    for path, data in (
        (f"{memory}/confirm", {}),
        (f"{memory}/correct", {"content": "ada lives on Mars"}),
        (f"{memory}/retract", {}),
        (f"{user}/memories/{ada['old']}/restore", {}),
        (f"{user}/erase", {"name": "ada"}),
        ("/jobs/retry", {}),
    ):
        answer = client.post(path, data=data, headers=headers)
        assert answer.status_code == 403, path
        assert "25006" in answer.text, path
        assert "--write" in answer.text
    assert db.execute("select count(*) from recall.memory_events").fetchone() == before


def test_actions_change_the_memory(editor: TestClient, memory: AgentMemory) -> None:
    ids = furnish_user(memory, "bruno")
    user = f"/users/{ids['user_id']}"
    goal = f"{user}/memories/{ids['goal']}"
    csrf = {"csrf": csrf_of(editor, goal)}
    editor.post(f"{goal}/confirm", data=csrf)
    assert memory.memories.get("bruno", ids["goal"]).is_validated
    corrected = editor.post(f"{goal}/correct", data={**csrf, "content": "bruno speaks Portuguese"})
    assert "<h1>" in corrected.text
    assert "bruno speaks Portuguese" in corrected.text
    editor.post(f"{corrected.url.path}/retract", data={**csrf, "reason": "not true"})
    [ended] = [row for row in memory.memories.chain("bruno", ids["goal"])
               if row.content == "bruno speaks Portuguese"]  # fmt: skip
    assert ended.end_reason == "retracted"
    restored = editor.post(f"{corrected.url.path}/restore", data=csrf)
    assert rows(editor, restored.url.path, "chain")[-1]["is_active"]


def test_erasure_needs_the_name(editor: TestClient, memory: AgentMemory) -> None:
    ids = furnish_user(memory, "carla")
    path = f"/users/{ids['user_id']}"
    csrf = {"csrf": csrf_of(editor, f"{path}/data")}
    refused = editor.post(f"{path}/erase", data={**csrf, "name": "carl"})
    assert refused.status_code == 400
    assert memory.memories.list("carla")
    done = editor.post(f"{path}/erase", data={**csrf, "name": "carla"})
    assert "erasure_id" in done.text
    assert editor.get(path).status_code == 404


def test_dispute_is_settled(editor: TestClient, memory: AgentMemory) -> None:
    memory.remember("dora", "Dora lives in Kiel", slot="city")
    doubt = memory.remember("dora", "Dora lives in Bonn", slot="city", provenance="system_inferred")
    assert doubt.outcome == "disputed"
    path = f"/users/{memory.users.ensure('dora')}/reviews"
    assert "Dora lives in Bonn" in editor.get(path).text
    settle = f"{path.removesuffix('/reviews')}/memories/{doubt.memory_id}/settle"
    answer = editor.post(settle, data={"csrf": csrf_of(editor, path), "decision": "accept"})
    assert "Nothing is disputed" in answer.text
    assert memory.memories.profile("dora")["city"]["content"] == "Dora lives in Bonn"


def test_hostile_texts_are_inert_on_every_page(dsn: str, memory: AgentMemory) -> None:
    ids = furnish_user(memory, HOSTILE)
    with entered(dsn, write=True) as client:
        for path in pages_of(ids):
            # the form that corrects a text holds it as it is
            page = re.sub(r"(?s)<textarea.*?</textarea>", "", client.get(path).text)
            assert "<script" not in page, path
            assert "<img" not in page, path
            assert "\u202e" not in page, path
            assert "\x07" not in page, path
            assert str(6841 * 7919) not in page, path
        page = client.get(f"/users/{ids['user_id']}").text
    assert '<span class="hidden-character">U+202E</span>' in page


def test_no_page_or_document_holds_hidden_characters(dsn: str, memory: AgentMemory) -> None:
    hidden = (
        "\x1b]52;c;QQ==\x07 \x9b \x7f \u202e \u2066 \u061c \u2028 \u200b \u2060 \ufeff \U000e0041"
    )
    for user in ("ada", "ben"):
        ids = furnish_user(memory, f"{user} {hidden}")
        memory.remember(f"{user} {hidden}", f"likes {hidden}", tags=[hidden], slot="s",
                        metadata={hidden: hidden})  # fmt: skip
        export = f"/users/{ids['user_id']}/export"
        with entered(dsn, write=True) as client:
            searched = f"/users/{ids['user_id']}/search?q={quote(hidden)}"
            for path in [*pages_of(ids), export, searched]:
                page = re.sub(r"(?s)<textarea.*?</textarea>", "", client.get(path).text)
                assert not HIDDEN.search(page), path
                document = client.get(path, headers=JSON).text
                assert not HIDDEN.search(document), path
                json.loads(document)
            call = {"user_id": str(ids["user_id"])}
            answer = client.post(
                "/rpc/get_memories", json=call, headers={"authorization": f"Bearer {TOKEN}"}
            )
            assert f"likes {hidden}" in [row["content"] for row in answer.json()]
            assert not HIDDEN.search(answer.text)


def test_field_to_correct_a_text_names_its_hidden_characters(
    editor: TestClient, memory: AgentMemory
) -> None:
    user_id = memory.users.ensure("eva")
    for content, is_named in (("pays \u202e100\x1b[1m USD", True), ("has\ttabs\nand lines", False)):
        made = memory.remember("eva", content)
        path = f"/users/{user_id}/memories/{made.memory_id}"
        page = editor.get(path).text
        [field] = re.findall(r"(?s)<textarea[^>]*>.*?</textarea>(?:<p.*?</p>)?", page)
        assert content in html.unescape(field)
        assert ("aria-describedby" in field) == ("U+202E" in field) == is_named
        assert ("U+001B" in field) == is_named


@pytest.mark.parametrize("content", ["ends \u202ehere\u2028", "first\nsecond", "one\r\ntwo\rthree"])
def test_untouched_text_is_saved_as_it_was(
    editor: TestClient, memory: AgentMemory, content: str
) -> None:
    """A browser sends CR LF for each line end, and the form drops white space at the ends."""
    user = f"fay {uuid.uuid4()}"
    made = memory.remember(user, content)
    path = f"/users/{memory.users.ensure(user)}/memories/{made.memory_id}"
    sent = {"csrf": csrf_of(editor, path), "content": re.sub("\r\n|\r|\n", "\r\n", content)}
    editor.post(f"{path}/correct", data=sent)
    assert [row.content for row in memory.memories.chain(user, made.memory_id)] == [content]
    sent["content"] += "\r\nand more"
    editor.post(f"{path}/correct", data=sent)
    assert memory.memories.list(user)[0].content == re.sub("\r\n|\r", "\n", content) + "\nand more"


def test_page_does_not_claim_that_a_person_confirmed_an_extraction(
    dsn: str, memory: AgentMemory, client: TestClient
) -> None:
    user = f"ada {uuid.uuid4()}"
    user_id = memory.users.ensure(user)
    [extracted] = memory.memories.ingest(
        user,
        [
            {
                "content": "Likes tea",
                "source": "conversation",
                "provenance": "user_stated",
                "confidence": "high",
            }
        ],
    )
    found = memory.memories.get(user, extracted.memory_id)
    assert found is not None
    assert (found.is_validated, found.provenance) == (True, "user_stated")
    path = f"/users/{user_id}/memories/{extracted.memory_id}"
    page = client.get(path).text
    assert "extracted from a conversation by a model or an application" in page
    assert "confirmed" not in page
    assert "person" not in page
    memory.memories.validate(user, extracted.memory_id)
    assert "confirmed through" in client.get(path).text

    stated = memory.remember(user, "Likes rye")
    page = client.get(f"/users/{user_id}/memories/{stated.memory_id}").text
    assert "stated through remember" in page
    assert "confirmed" not in page


def test_two_roles_see_different_things(
    dsn: str, ada: dict[str, Any], db: psycopg.Connection
) -> None:
    user = f"/users/{ada['user_id']}"
    with (
        login_role(db, member_of=["recall_reader"]) as reader,
        login_role(db, member_of=["recall_admin"]) as admin,
    ):
        with entered(conninfo.make_conninfo(dsn, **reader), write=True) as client:
            for path, part in (("/users", "users"), ("/jobs", "jobs"), ("/", "spending")):
                error = client.get(path, headers=JSON).json()[part]["error"]
                assert error["code"] == "42501", path
                assert "role" in error["hint"]
            assert rows(client, user, "memories")
            memory = f"{user}/memories/{ada['new']}"
            refused = client.post(f"{memory}/retract", data={"csrf": csrf_of(client, memory)})
            assert (refused.status_code, "42501" in refused.text) == (403, True)
        with entered(conninfo.make_conninfo(dsn, **admin)) as client:
            assert rows(client, "/users", "users")
            assert rows(client, "/jobs", "jobs")


def test_export_is_a_file_of_all_data(client: TestClient, ada: dict[str, Any]) -> None:
    answer = client.get(f"/users/{ada['user_id']}/export")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert json.loads(answer.text)["user_id"] == str(ada["user_id"])


def test_pages_of_lists_go_on_where_the_last_ended(dsn: str, memory: AgentMemory) -> None:
    user = memory.users.ensure("elena")
    memory.memories.ingest("elena", [{"content": f"elena knows word{n}"} for n in range(120)])
    with entered(dsn) as client:
        path, seen = f"/users/{user}", []
        while path:
            found = client.get(path, headers=JSON).json()
            seen += [row["memory_id"] for row in found["memories"]["rows"]]
            path = found["next"] and f"/users/{user}?{found['next']}"
    assert len(seen) == len(set(seen)) == 120


def test_encrypted_user_is_readable_with_the_key_only(dsn: str) -> None:
    with AgentMemory.connect(dsn, embedder=False, wrapping_keys=KEYS) as memory:
        memory.encryption.seal_user("fritz")
        ids = furnish_user(memory, "fritz")
    memory_page = f"/users/{ids['user_id']}/memories/{ids['new']}"
    with entered(dsn, wrapping_keys=KEYS) as client:
        for path in pages_of(ids):
            page = client.get(path)
            assert (page.status_code, "sealed:v1" in page.text) == (200, False), path
            assert "notice error" not in page.text, path
        assert "fritz lives in Porto" in client.get(memory_page).text
    with entered(dsn) as client:
        for path in pages_of(ids):
            page = client.get(path)
            assert page.status_code == 200, (path, page.text)
            assert "sealed:v1" not in page.text, path
        page = client.get(memory_page).text
        assert "[encrypted]" in page
        assert "fritz lives" not in page
        assert "This user is encrypted" in client.get(f"/users/{ids['user_id']}").text


@pytest.mark.parametrize("error", [EmbeddingError("it is away"), OpenAIError("it is away")])
def test_pages_search_by_words_where_the_embedder_fails(
    dsn: str, ada: dict[str, Any], db: psycopg.Connection, error: Exception
) -> None:
    [(model,)] = db.execute("select embedding_model from recall.settings").fetchall()
    user = f"/users/{ada['user_id']}"
    session = f"{user}/sessions/{ada['session_id']}"
    goal = f"{user}/memories/{ada['goal']}"
    note = "Searched by words only: it is away"
    with entered(dsn, write=True, embedder=FailingEmbedder(model, error)) as client:
        for path, finds in ((f"{user}?q=Porto", "ada lives in Porto"),
                            (f"{user}/search?q=Porto", "ada lives in Porto"),
                            (f"{session}/context?q=Porto", "ada lives in Porto"),
                            (f"{session}/context?turn=6", "Budget"),
                            (f"{user}/memories/{ada['old']}", "Nearest messages")):  # fmt: skip
            page = client.get(path)
            assert (page.status_code, "notice error" in page.text) == (200, False), path
            assert (note in page.text, finds in page.text) == (True, True), path
        csrf = {"csrf": csrf_of(client, goal)}
        answer = client.post(f"{goal}/correct", data={**csrf, "content": "ada learns Greek"})
        assert (answer.status_code, "Nothing was changed" in answer.text) == (502, True)
        assert "ada learns Greek" not in client.get(goal).text


def test_picture_of_a_long_chain_has_its_newest_versions() -> None:
    ids = [UUID(int=number) for number in range(1, 252)]
    chain = [
        {"memory_id": one, "superseded_by": following, "content": "x", "end_reason": None}
        for one, following in zip(ids, [*ids[1:], None], strict=True)
    ]
    picture = chain_picture(chain)
    assert [node.memory["memory_id"] for node in picture.nodes] == ids[-100:]
    assert (len(picture.edges), picture.left_out) == (99, 151)
    assert chain_picture(chain[:100]).left_out == 0


def test_long_texts_are_shown_whole_instead_of_compared() -> None:
    sides = [[{"role": "user", "content": " ".join(f"w{n}" for n in range(count)) + end}]
             for count, end in ((5_000, " a"), (5_000, " b"))]  # fmt: skip
    [changed] = differences(*sides)
    assert changed["words"] == [
        {"kind": "sent", "text": sides[0][0]["content"]},
        {"kind": "replayed", "text": sides[1][0]["content"]},
    ]
    [changed] = differences(*([{**side[0], "content": side[0]["content"][-2000:]}]
                              for side in sides))  # fmt: skip
    assert [part["kind"] for part in changed["words"]] == ["same", "sent", "replayed"]


def test_job_page_shows_input_and_error(
    client: TestClient, ada: dict[str, Any], db: psycopg.Connection
) -> None:
    [(job,)] = db.execute(
        "select recall.enqueue_job(%s, 'merge', p_payload => '{\"why\": \"a test\"}')",
        [ada["user_id"]],
    ).fetchall()
    db.execute("update recall.jobs set last_error = 'no model' where job_id = %s", [job])
    queue = client.get("/jobs").text
    path = f"/users/{ada['user_id']}/jobs/{job}"
    assert f'href="{path}"' in queue
    page = client.get(path).text
    assert "&#34;a test&#34;" in page
    assert "no model" in page


def test_session_page_shows_which_job_read_which_turns(
    client: TestClient, memory: AgentMemory
) -> None:
    chat = memory.session(user="reader", model="m", extraction="verbatim")
    chat.append(user="I live in Lyon.", reply="Noted.")
    chat.append(user="I like tea.", reply="So do I.")
    chat.close()
    memory.worker().run_until_idle()
    here = f"/users/{chat.user_id}/sessions/{chat.session_id}"
    page = client.get(here).text
    assert f'<a href="{here}?before=5#turn-1">1 to 4</a>' in page
    assert 'id="turn-1"' in client.get(f"{here}?before=5").text
