"""Access to an inspector: tokens, cookies, hosts, origins, CSRF tokens, and headers of answers."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from starlette.testclient import TestClient

from pgrecall import AgentMemory
from pgrecall.inspector import Source, inspector_app
from support.inspecting import HOST, TOKEN, csrf_of, entered, furnish_user, inspecting

FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def ada(dsn: str) -> dict[str, object]:
    with AgentMemory.connect(dsn, embedder=False) as memory:
        return furnish_user(memory, "ada")


@pytest.fixture(scope="module")
def client(dsn: str, ada: dict[str, object]) -> Iterator[TestClient]:
    with inspecting(dsn, write=True) as client:
        yield client


@pytest.fixture(autouse=True)
def no_cookies(client: TestClient) -> None:
    client.cookies.clear()


@pytest.mark.parametrize("path", ["/", "/users", "/style.css", "/openapi.json", "/nothing"])
def test_every_address_needs_the_token(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 401
    assert "pgrecall inspect" in answer.text
    assert TOKEN not in answer.text


@pytest.mark.parametrize("wrong", ["", "x", TOKEN[:-1], TOKEN + "x", "é"])
def test_wrong_token_is_refused_and_sets_no_cookie(client: TestClient, wrong: str) -> None:
    for answer in (
        client.get("/", params={"token": wrong}),
        client.get("/", headers={"authorization": b"Bearer " + wrong.encode()}),
    ):
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers


def test_token_in_the_address_becomes_a_cookie_and_leaves_the_address(client: TestClient) -> None:
    answer = client.get("/users", params={"after": "a&b", "token": TOKEN, "x": "1"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/users?after=a%26b&x=1"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert client.get("/users").status_code == 200


def test_token_in_a_link_of_a_file_is_followed_by_a_request_of_this_server(
    client: TestClient,
) -> None:
    site = {"sec-fetch-site": "cross-site"}
    answer = client.get("/users", params={"token": TOKEN, "x": "1"}, headers=site)
    assert (answer.status_code, answer.headers["refresh"]) == (200, "0; url=/users?x=1")
    assert "SameSite=strict" in answer.headers["set-cookie"]
    assert TOKEN not in answer.text + str(answer.headers)
    assert client.get("/", params={"token": "x"}, headers=site).status_code == 401


@pytest.mark.parametrize("path", ["//evil.example/x", "/\\evil.example", "///evil.example"])
def test_redirect_never_leads_to_another_server(dsn: str, path: str) -> None:
    sent = []

    async def send(message: dict) -> None:
        sent.append(message)

    async def receive() -> dict:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def nothing(*_: object) -> None:
        raise AssertionError("the request passed the gate")

    from pgrecall.inspector._gate import Gate

    gate = Gate(nothing, token=TOKEN, hosts=[HOST])
    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(),
             "query_string": f"token={TOKEN}".encode(), "headers": [(b"host", HOST.encode())],
             "scheme": "http", "server": ("127.0.0.1", 8930), "root_path": ""}  # fmt: skip
    import anyio

    anyio.run(gate, scope, receive, send)
    location = dict(sent[0]["headers"])[b"location"].decode()
    assert location.startswith("/")
    assert location[1:2] not in ("/", "\\")


def test_bearer_token_needs_no_cookie(client: TestClient) -> None:
    assert client.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_cookie_of_another_inspector_is_refused(client: TestClient) -> None:
    client.cookies.set("pgrecall_inspect_00000000", TOKEN)
    assert client.get("/").status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", ""])
def test_foreign_host_is_refused_even_with_the_token(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host, "authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 400
    assert "--allow-host" in answer.text


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_request_that_a_page_of_another_server_sends_is_refused(
    client: TestClient, site: str
) -> None:
    client.get(f"/?token={TOKEN}")
    assert client.get("/", headers={"sec-fetch-site": site}).status_code == 403
    assert client.get("/", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_posts_need_the_csrf_token_and_the_own_origin(
    client: TestClient, ada: dict[str, object], db: psycopg.Connection
) -> None:
    client.get(f"/?token={TOKEN}")
    memory = f"/users/{ada['user_id']}/memories/{ada['goal']}"
    csrf = csrf_of(client, memory)
    refused = [
        client.post(f"{memory}/retract"),
        client.post(f"{memory}/retract", data={"csrf": "0" * 64}),
        client.post(f"{memory}/retract", data={"csrf": csrf}, headers={"origin": "http://evil"}),
        client.post(f"{memory}/retract", data={"csrf": csrf}, headers={"origin": "null"}),
        client.post(f"{memory}/retract", data={"csrf": csrf},
                    headers={"origin": "http://127.0.0.1:1"}),
        client.post(f"{memory}/retract", content=f"csrf={csrf}",
                    headers={"content-type": "text/plain"}),
    ]  # fmt: skip
    assert [answer.status_code for answer in refused] == [403] * len(refused)
    select = "select ended_at is null from recall.memory_store where memory_id = %s"
    assert db.execute(select, [ada["goal"]]).fetchone() == (True,)

    done = client.post(f"{memory}/retract", data={"csrf": csrf, "reason": "a test"},
                       headers={"origin": f"http://{HOST}"})  # fmt: skip
    assert done.status_code == 303
    assert db.execute(select, [ada["goal"]]).fetchone() == (False,)


def test_too_long_request_is_refused(client: TestClient) -> None:
    client.get(f"/?token={TOKEN}")
    answer = client.post("/jobs/retry", content=b"x" * (1 << 20) + b"xx", headers=FORM)
    assert answer.status_code == 413


@pytest.mark.parametrize("path", ["/", "/style.css", "/openapi.json", "/nothing", "/rpc/x"])
def test_every_answer_forbids_scripts_frames_caches_and_referrers(
    client: TestClient, path: str
) -> None:
    for answer in (
        client.get(path),
        client.get(path, headers={"authorization": f"Bearer {TOKEN}"}),
        client.get(path, headers={"host": "evil.example"}),
    ):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "script-src" not in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers


def test_empty_token_is_refused(dsn: str) -> None:
    with pytest.raises(ValueError, match="the token is empty"):
        inspector_app(Source(dsn), token=" ", hosts=[HOST])


def test_pages_load_nothing_from_elsewhere_and_hold_no_script(
    dsn: str, ada: dict[str, object]
) -> None:
    with entered(dsn) as client:
        page = client.get(f"/users/{ada['user_id']}").text
    assert "<script" not in page
    assert "style=" not in page
    assert "http:" not in page.replace(f"http://{HOST}", "")
    assert "https:" not in page
