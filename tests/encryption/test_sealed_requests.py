"""The protocol of a worker for encrypted users: requests of ciphertexts, answers of ciphertexts."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from pgrecall import AgentMemory, ConfigurationError
from pgrecall.encryption import LocalWrappingKeys
from pgrecall.encryption._requests import opened_request, sealed_answer, select_statements
from pgrecall.encryption._sealed import MovedError, Sealing
from support import append, ask, call, open_session, refused, rows, said, value
from support.fakes import MODEL, WordEmbedder
from support.scripted_model import Script, fact
from support.sealed import MARK, connected, marks, readable

Connection = psycopg.Connection[Any]
Request = dict[str, Any]
Said = Callable[[Request], Any]

EXTRACTION = "llm"
WORKER = {"embedding_model": MODEL, "chat_model": "gpt-4o-mini"}


@pytest.fixture(params=[False, True], ids=["without vectors", "with vectors"])
def sealed(memory: AgentMemory, user: uuid.UUID, request: pytest.FixtureRequest) -> uuid.UUID:
    memory.encryption.seal_user(user, vectors=request.param)
    return user


@pytest.fixture(autouse=True)
def emptied(db: Connection) -> Iterator[None]:
    db.execute("update recall.maintenance_tasks set last_run_at = now()")
    yield
    db.execute("delete from recall.jobs")


class Worker:
    """A worker whose model follows a script; it looks at all that the database is handed.

    Attributes:
        seen: the requests, as the database put them.
        prompts: what the model was asked, by purpose.
        inputs: what was embedded.
    """

    def __init__(self, db: Connection, memory: AgentMemory, script: Script | None = None) -> None:
        self._db = db
        self._memory = memory
        self._script = script or Script()
        self.seen: list[Request] = []
        self.prompts: list[str] = []
        self.inputs: list[str] = []

    def claim(self, kind: str) -> dict[str, Any]:
        [job] = call(self._db, "claim_jobs", p_worker="w", p_kinds=[kind], p_limit=1, p_flush=True)
        return job

    def sealing(self, job: dict[str, Any]) -> Sealing:
        found = self._memory._core.guard.sealer().sealing(job["user_id"])
        assert found is not None
        return found

    def ask(self, job: dict[str, Any], answer: Request | None = None, **more: Any) -> Request:
        """Call next_request; neither the answer nor the kept state may be readable."""
        assert hidden(json.dumps(answer)), answer
        request = ask(self._db, job, answer, **WORKER | more)
        for row in rows(self._db, "select work::text from recall.jobs where user_id = %s",
                        [job["user_id"]]):  # fmt: skip
            assert hidden(row["work"] or ""), row["work"]
            assert_sealed(json.loads(row["work"] or "null"))
        assert hidden(json.dumps(request)), request
        return request

    def answer(self, job: dict[str, Any], request: Request, model: Said | None = None) -> Request:
        """Return the encrypted answer to a request."""
        self.seen.append(request)
        sealing = self.sealing(job)
        if request["type"] == "select":
            return select_statements(request, sealing)
        opened = opened_request(request, sealing)
        assert "sealed:v1:" not in json.dumps(opened.get("messages", opened.get("inputs")))
        made: Request = {"request_id": request["request_id"]}
        if request["type"] == "embed":
            self.inputs += opened["inputs"]
            made["vectors"] = WordEmbedder().embed(opened["inputs"])
        else:
            self.prompts.append(opened["messages"][1]["content"])
            spoken = (model or self._model)(opened)
            if isinstance(spoken, dict) and ("error" in spoken or "refusal" in spoken):
                made |= spoken
            else:
                text = spoken if isinstance(spoken, str) else json.dumps(spoken)
                made |= {"content": text, "finish_reason": "stop",
                         "usage": {"prompt_tokens": 9, "of": MARK}}  # fmt: skip
        return sealed_answer(request, made, sealing)

    def _model(self, request: Request) -> Any:
        step = {"compact": "summarize"}.get(request["purpose"], request["purpose"])
        return getattr(self._script, f"_{step}")(request["messages"][1]["content"])

    def work(
        self, kind: str, model: Said | None = None, **more: Any
    ) -> tuple[Request, list[Request]]:
        """Do a job to its end; return how it ended, and its requests."""
        job, before = self.claim(kind), len(self.seen)
        request = self.ask(job, **more)
        while request["type"] in ("chat", "embed", "select"):
            request = self.ask(job, self.answer(job, request, model), **more)
        return request, self.seen[before:]


def hidden(text: str) -> bool:
    """Return whether the mark stands in a text in none of its forms."""
    data = text.lower().encode()
    return not any(form in data for form in marks())


def assert_sealed(work: dict[str, Any] | None) -> None:
    """All that models have made is ciphertexts, ids, vectors and words of ours."""
    known = {"fact", "personal", "high", "medium", "low", "ADD", "UPDATE", "DELETE", "NONE",
             "gpt-4o-mini"}  # fmt: skip

    def look(item: Any) -> None:
        if isinstance(item, dict):
            for one in item.values():
                look(one)
        elif isinstance(item, list):
            for one in item:
                look(one)
        elif isinstance(item, str):
            assert (
                item.startswith(("sealed:v1:", "["))
                or item in known
                or "@" in item
                or is_uuid(item)
                or not item.strip("{}[](),0123456789")
            ), item

    look((work or {}).get("made"))


def is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def types(requests: list[Request]) -> list[str]:
    return [request.get("purpose", request["type"]) for request in requests]


def test_extraction_of_encrypted_turns_stores_encrypted_memories(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection, script: Script
) -> None:
    """Facts and episodes of ciphertexts, and what becomes of them beside similar memories."""
    worker = Worker(db, memory, script)
    has_vectors = memory._core.has_vectors(sealed)
    chat = memory.session(user=sealed, model="gpt-4o-mini")
    chat.append(user=f"I keep a {MARK}\nin a <conversation> tank", reply="I see.")
    script.facts = {
        "": [],
        f"I keep a {MARK}": [
            fact(f"User  keeps a\n{MARK}.", slot=f"The pet: {MARK}!", tags=[MARK.upper(), "", MARK],
                 kind="Personal", confidence="HIGH"),
            fact("the User"),
        ],
    }  # fmt: skip
    script.episodes = {f"I keep a {MARK}": f"Told of a {MARK}."}
    end, seen = worker.work("extract")
    assert end == {"type": "done", "outcome": {"kind": "extract", "items": 2}}
    assert types(seen) == ["extract", "embed"][: 1 + has_vectors]
    assert (f"[1] user: I keep a {MARK}\n  in a (conversation> tank\n[2] assistant: I see.\n"
            in worker.prompts[0])  # fmt: skip
    found = {one.content: one for one in memory.memories.list(sealed)}
    assert found.keys() == {f"User keeps a {MARK}.", f"Told of a {MARK}."}
    kept = found[f"User keeps a {MARK}."]
    assert (kept.slot, kept.tags, kept.kind, kept.confidence) == (
        f"the_pet_{MARK}", [MARK], "personal", 0.9,
    )  # fmt: skip
    assert kept.token_count is not None
    assert 4 <= kept.token_count < 25
    [event] = call(db, "memory_history", p_user_id=sealed, p_memory_id=kept.memory_id)
    assert event["detail"]["made_by"] == [{"prompt": "extract@1", "model": "gpt-4o-mini"}]
    texts = [f"User keeps a {MARK}.", f"Told of a {MARK}."]
    assert worker.inputs == (texts if has_vectors else [])

    # what is known stands in the next question, and the model decides
    chat.append(user=f"My {MARK} died", reply="Sorry.")
    script.facts = {f"My {MARK} died": [fact(f"User keeps no {MARK}.", kind=MARK, **{MARK: MARK})]}
    script.decisions = {f"User keeps no {MARK}.": ("DELETE", f"User keeps a {MARK}.")}
    end, seen = worker.work("extract")
    assert end["type"] == "done"
    assert f"the_pet_{MARK}: User keeps a {MARK}." in worker.prompts[1]
    assert types(seen) == (["extract", "embed", "consolidate"] if has_vectors else ["extract"])
    assert (f"User keeps a {MARK}." in {one.content for one in memory.memories.list(sealed)}
            ) is not has_vectors  # fmt: skip
    assert readable(db) == []


def test_verbatim_extraction_of_an_encrypted_user_keeps_the_same_messages(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    """The worker chooses by the rule that the database has for other users."""
    plain = uuid.uuid4()
    told = [f"I keep a {MARK} in a tank at home", "Hi", "What is the weather like in Oslo today?",
            "My sister lives in Bergen. Where else?", "x" * 5000 + " and so on"]  # fmt: skip
    for one in (sealed, plain):
        chat = memory.session(user=one, model="gpt-4o-mini", extraction="verbatim")
        for text in told:
            chat.append(user=text, reply="I see what you mean by that.")
    worker = Worker(db, memory)
    job = call(db, "claim_jobs", p_worker="w", p_kinds=["extract:verbatim"], p_limit=9,
               p_flush=True)  # fmt: skip
    for one in job:
        request = (worker.ask if one["user_id"] == sealed else
                   lambda *given: ask(db, *given, **WORKER))(one)  # fmt: skip
        while request["type"] in ("embed", "select"):
            if one["user_id"] == sealed:
                request = worker.ask(one, worker.answer(one, request))
            else:
                vectors = WordEmbedder().embed(request["inputs"])
                request = ask(
                    db, one, {"request_id": request["request_id"], "vectors": vectors}, **WORKER
                )
        assert request["type"] == "done", request
    assert types(worker.seen) == ["select", "embed"][: 1 + memory._core.has_vectors(sealed)]
    columns = ("content", "kind", "tier", "provenance", "confidence", "metadata", "token_count")
    kept = [
        sorted([getattr(row, name) for name in columns] for row in memory.memories.list(one))
        for one in (sealed, plain)
    ]
    assert [row[:-1] for row in kept[0]] == [row[:-1] for row in kept[1]]
    assert {row[0] for row in kept[0]} == {told[0], told[3]}
    db.execute("select recall.forget_user(%s)", [plain])
    assert readable(db) == []


def test_summaries_of_an_encrypted_session_are_made_part_by_part(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    """Each part is fed to the next as a ciphertext; a compaction takes the place of the turns."""
    worker = Worker(db, memory)
    chat = memory.session(
        user=sealed, model="gpt-4o-mini", context_window_size=2000, max_response_tokens=300
    )
    for number in range(20):
        chat.append(user=f"{MARK} {number}. " + "The quick fox jumps. " * 9,
                    reply=f"Answer {number}. " + "The dog is lazy. " * 9)  # fmt: skip
    end, seen = worker.work("compact", context_window=2500)
    assert end["type"] == "done", end
    assert types(seen)[:2] == ["compact", "compact"]
    assert "<summary>\n" in worker.prompts[1]
    assert f"the last: {MARK} " in worker.prompts[1]
    assert chat.refresh().compacted_through_turn
    end, seen = worker.work("summarize")
    assert end["type"] == "done", end
    assert (types(seen)[-1] == "embed") is memory._core.has_vectors(sealed)
    summaries = rows(db, "select content, token_count, embedding is null as bare"
                         " from recall.session_summaries where user_id = %s and ended_at is null",
                     [sealed])  # fmt: skip
    assert len(summaries) == 2
    assert {row["bare"] for row in summaries} == {not memory._core.has_vectors(sealed)}
    assert all(row["token_count"] < len(row["content"]) / 3 for row in summaries)
    compiled = json.dumps(chat.context("What now?"))
    assert "messages of the user, the last: " in compiled
    assert "sealed:" not in compiled
    assert readable(db) == []
    assert readable(db, "messages of the user") == []


def test_compaction_of_turns_in_which_nobody_spoke(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    chat = memory.session(
        user=sealed, model="gpt-4o-mini", context_window_size=2000, max_response_tokens=300
    )
    chat.append([{"role": "developer", "content": f"{MARK} {place}. " + "Be kind to them. " * 60}
                 for place in range(9)])  # fmt: skip
    chat.append(user="Hi", reply="Hello")
    worker = Worker(db, memory)
    end, seen = worker.work("compact")
    assert end["type"] == "done", end
    assert types(seen)[0] == "select"
    assert chat.refresh().compacted_through_turn
    assert "Nothing was said." in json.dumps(chat.context("What now?"))
    assert readable(db, "Nothing was said") == []


def test_merges_of_an_encrypted_user_are_verified(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection, script: Script
) -> None:
    """Only what contradicts no part, and what the model supports; the rest stays."""
    texts = [f"User likes green {MARK} soup.", f"User likes cold {MARK} soup.",
             "User eats bread on Mondays.", "User eats bread on Fridays.",
             "User drinks no milk.", "User drinks tea."]  # fmt: skip
    for text in texts:
        memory.remember(sealed, text, tags=[f"food {MARK}"])
    script.merges = {
        f"User likes green and cold {MARK} soup.": texts[:2],
        "User eats bread on Sundays.": texts[2:4],  # lost both days, brought another
        "User drinks milk and tea.": texts[4:],  # lost a "no"
    }
    assert call(db, "enqueue_merges")[0]["done"] == 1
    worker = Worker(db, memory, script)
    end, seen = worker.work("merge", context_window=8192)
    assert end == {"type": "done", "outcome": {"kind": "merge", "items": 1, "refused": 2}}
    assert types(seen) == ["merge", "verify", "embed"][: 2 + memory._core.has_vectors(sealed)]
    assert worker.prompts[1] == (
        f"<memories>\n1. User likes green and cold {MARK} soup.\n   1) {texts[0]}\n   2) {texts[1]}"
        "\n</memories>")  # fmt: skip
    assert worker.prompts[0].startswith(f"Topic: food {MARK}.\n<memories>\n1. {texts[0]} (")
    assert all(text in worker.prompts[0] for text in texts)
    kept = {one.content for one in memory.memories.list(sealed)}
    assert kept == {f"User likes green and cold {MARK} soup.", *texts[2:]}
    assert readable(db) == []


def test_pattern_of_an_encrypted_user_grows_by_a_new_episode(
    memory: AgentMemory, user: uuid.UUID, db: Connection, script: Script
) -> None:
    """A pattern is joined from its sentence and solutions, then grows by a new episode."""
    memory.encryption.seal_user(user, vectors=True)
    worker = Worker(db, memory, script)
    told = [f"User asked why the old filter of the big {MARK} tank at home is broken; {what} did."
            for what in ("cleaning", "repair", "nothing")]  # fmt: skip
    for text in told:
        memory.remember(user, text, kind="episode")
    script.pattern = (f"User's {MARK} filter keeps\nbreaking.",
                      {told[0]: f"cleaning the {MARK} tank.", told[1]: "a new pump"})  # fmt: skip
    call(db, "enqueue_patterns")
    end, seen = worker.work("pattern")
    assert end["type"] == "done", end
    assert types(seen) == ["pattern", "embed"]
    [found] = memory.memories.list(user, filter={"kinds": ["pattern"]})
    day = str(value(db, "select (now() at time zone 'UTC')::date"))
    sentence = f"User's {MARK} filter keeps breaking."
    solved = f"cleaning the {MARK} tank ({day}), a new pump ({day})"
    assert found.content == f"{sentence} Previous solutions: {solved}."
    assert [one["solution"] for one in found.metadata["solutions"]] == [
        f"cleaning the {MARK} tank.", "a new pump",
    ]  # fmt: skip

    late = told[0].replace("cleaning", "magic")
    memory.remember(user, late, kind="episode")
    script.pattern = (f"User's {MARK} filter breaks.", {late: "magic"})
    call(db, "enqueue_patterns")
    worker.work("pattern")
    assert f"<known>\n{sentence}\n</known>" in worker.prompts[1]
    [found] = memory.memories.list(user, filter={"kinds": ["pattern"]})
    assert found.content == (f"User's {MARK} filter breaks. Previous solutions: {solved}, "
                             f"magic ({day}).")  # fmt: skip
    assert readable(db) == []


def test_worker_embeds_decrypted_texts_only_for_users_with_vectors(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection, configured: str
) -> None:
    """The worker decrypts and truncates texts to embed; without vectors it gets no request."""
    with connected(configured) as mute:
        mute.remember(sealed, f"The user keeps a {MARK}.")
        chat = mute.session(user=sealed, model="gpt-4o-mini", extraction="none")
        chat.append(user=f"My {MARK} sleeps", reply="Good.")
    call(db, "enqueue_missing_embeddings")
    worker = Worker(db, memory)
    while rows(db, "select from recall.jobs where kind = 'embed' and user_id = %s", [sealed]):
        end, _ = worker.work("embed", embed_tokens=64)
        assert end["type"] == "done", end
    wanted = memory._core.has_vectors(sealed)
    assert set(worker.inputs) == ({f"The user keeps a {MARK}.", f"user: My {MARK} sleeps",
                                   "assistant: Good."} if wanted else set())  # fmt: skip
    assert value(db, "select count(*) from recall.memory_embedding where user_id = %s",
                 [sealed]) == int(wanted)  # fmt: skip
    assert readable(db) == []


def told(memory: AgentMemory, user: uuid.UUID, text: str = f"I keep a {MARK}") -> uuid.UUID:
    chat = memory.session(user=user, model="gpt-4o-mini")
    chat.append(user=text, reply="I see.")
    return chat.session_id


def test_malformed_answers_leave_no_text(
    memory: AgentMemory, sealed: uuid.UUID, db: Connection
) -> None:
    told(memory, sealed)
    worker = Worker(db, memory)
    job = worker.claim("extract")
    request = worker.ask(job)
    answer = worker.answer(job, request, lambda _: f"I know of no {MARK}.")
    assert answer["value"] is None
    again = worker.ask(job, answer)
    assert again["request_id"] != request["request_id"]
    assert [one["role"] for one in again["messages"]] == ["system", "user"]
    wrong = {"facts": MARK, "episodes": [], MARK: MARK}
    failed = worker.ask(job, worker.answer(job, again, lambda _: wrong))
    assert failed == {"type": "failed", "dead": False, "error": "facts is missing"}
    [left] = rows(db, "select state::text, work, last_error from recall.jobs where user_id = %s"
                      " and kind = 'extract'", [sealed])  # fmt: skip
    assert left == {"state": "ready", "work": None, "last_error": failed["error"]}
    assert readable(db) == []


@pytest.mark.parametrize("spoken", [
    {"error": {"code": "server_error", "message": f"no {MARK} here", "retryable": True}},
    {"refusal": f"I do not talk of a {MARK}."},
])  # fmt: skip
def test_errors_are_kept_encrypted(
    memory: AgentMemory, user: uuid.UUID, db: Connection, spoken: Request
) -> None:
    memory.encryption.seal_user(user)
    told(memory, user)
    worker = Worker(db, memory)
    end, _ = worker.work("extract", lambda _: spoken)
    assert end["type"] == "failed"
    assert end["error"].startswith("sealed:v1:1:error:")
    sealing = worker.sealing({"user_id": user})
    assert MARK in opened_request(end, sealing)["error"]
    assert readable(db) == []


@pytest.mark.parametrize("answer", [
    {"content": json.dumps({"facts": [fact("User keeps fish.")]})},
    {"value": {"facts": [fact("User keeps fish.")], "episodes": []}},
    {"value": {"facts": [], "episodes": [], "more": ["fish"]}},
])  # fmt: skip
def test_readable_answers_are_refused(
    memory: AgentMemory, user: uuid.UUID, db: Connection, answer: Request
) -> None:
    """A worker that encrypts nothing, such as one without keys, changes nothing."""
    memory.encryption.seal_user(user)
    told(memory, user)
    worker = Worker(db, memory)
    job = worker.claim("extract")
    request = worker.ask(job)
    with refused("RC006", "accepts no plaintext"):
        ask(db, job, {"request_id": request["request_id"], **answer}, **WORKER)
    assert worker.ask(job) == request


def test_rotation_during_a_job_restarts_it(
    memory: AgentMemory, user: uuid.UUID, db: Connection, script: Script
) -> None:
    """A rotation destroys the key that encrypted the model's answers, so the job starts over."""
    memory.encryption.seal_user(user, vectors=True)
    told(memory, user)
    script.facts = {f"I keep a {MARK}": [fact(f"User keeps a {MARK}.")]}
    worker = Worker(db, memory, script)
    job = worker.claim("extract")
    embed = worker.ask(job, worker.answer(job, worker.ask(job)))
    assert embed["type"] == "embed"
    answer = worker.answer(job, embed)
    memory.encryption.rotate_user(user)
    failed = worker.ask(job, answer)
    assert (failed["type"], failed["dead"], failed["error"][:5]) == ("failed", False, "RC006")
    db.execute("update recall.jobs set run_at = now() where user_id = %s", [user])
    end, seen = worker.work("extract")
    assert (end["type"], types(seen)[0]) == ("done", "extract")
    assert [one.content for one in memory.memories.list(user)] == [f"User keeps a {MARK}."]
    assert readable(db) == []


def test_moved_texts_are_refused(
    memory: AgentMemory, user: uuid.UUID, db: Connection, script: Script
) -> None:
    """A text moved from another row is rejected; the text of a restored memory is accepted."""
    memory.encryption.seal_user(user, vectors=True)
    session = told(memory, user)
    memory.session(user=user, session_id=session).append(user="My cat is ill", reply="Oh.")
    kept = memory.remember(user, f"The user keeps a {MARK}.")
    memory.memories.edit(user, kept.memory_id, "The user keeps a newt.")
    memory.memories.restore(user, kept.memory_id)
    sealer = memory._core.guard.sealer()
    worker = Worker(db, memory, script)
    job = worker.claim("extract")
    opened = sealer.opened_request(worker.ask(job), user)
    assert "My cat is ill" in opened["messages"][1]["content"]
    with db.transaction(force_rollback=True):
        db.execute("set local session_replication_role = replica")
        db.execute("update recall.conversation_history as h set content = o.content"
                   "  from recall.conversation_history as o"
                   " where h.user_id = %s and o.user_id = h.user_id and h.turn_index = 1"
                   "   and o.turn_index = 3", [user])  # fmt: skip
        request = ask(db, job, **WORKER)
    with pytest.raises(ConfigurationError, match="was encrypted for"):
        sealer.opened_request(request, user)
    # a restored memory has the text of the one before it
    db.execute("delete from recall.memory_embedding where user_id = %s", [user])
    call(db, "enqueue_missing_embeddings")
    request = worker.ask(worker.claim("embed"))
    restored = [one for one in request["inputs"] if "row" in one]
    assert restored
    with pytest.raises(MovedError):
        opened_request(request, worker.sealing(job))
    assert f"The user keeps a {MARK}." in sealer.opened_request(request, user)["inputs"]


def test_wrong_key_opens_nothing(
    memory: AgentMemory, user: uuid.UUID, db: Connection, configured: str
) -> None:
    memory.encryption.seal_user(user)
    told(memory, user)
    worker = Worker(db, memory)
    job = worker.claim("extract")
    request = worker.ask(job)
    other = connected(configured, LocalWrappingKeys({"first": bytes(range(1, 33))}))
    with other, pytest.raises(ConfigurationError, match="did not wrap"):
        other._core.guard.sealer().opened_request(request, user)
    # the ciphertexts of another user, or text in their place
    stranger = uuid.uuid4()
    memory.encryption.seal_user(stranger)
    with pytest.raises(ConfigurationError, match="cannot be decrypted"):
        opened_request(request, worker.sealing({"user_id": stranger}))
    sealing = worker.sealing(job)
    text = json.loads(json.dumps(request))
    [piece] = [one for one in text["messages"][1]["content"] if "ciphertext" in one][:1]
    piece["ciphertext"] = "I am the user"
    with pytest.raises(ConfigurationError, match="no ciphertext"):
        opened_request(text, sealing)


def test_downgrade_is_refused(memory: AgentMemory, user: uuid.UUID, db: Connection) -> None:
    """A worker reveals no plaintext after a change of rows that hides the encryption."""
    memory.encryption.seal_user(user, vectors=True)
    told(memory, user)
    worker = Worker(db, memory)
    job = worker.claim("extract")
    good = worker.ask(job)
    assert "seal" in good
    sealing = worker.sealing(job)
    db.execute("update recall.users set is_sealed = false where user_id = %s", [user])
    assert "seal" in worker.ask(job)  # the keys say so
    db.execute("update recall.settings set has_sealed_users = false")
    try:
        request = worker.ask(job)
        assert "seal" not in request
        spoken = {"request_id": request["request_id"],
                  "content": json.dumps({"facts": [fact(MARK)], "episodes": []})}  # fmt: skip
        for refusing in (lambda: opened_request(request, sealing),
                         lambda: opened_request(request | {"seal": {}}, sealing),
                         lambda: sealed_answer(request, spoken, sealing)):  # fmt: skip
            with pytest.raises(ConfigurationError, match="a request for the encrypted user"):
                refusing()
        embed = {"type": "embed", "request_id": "x", "inputs": ["sealed:v1:1:memory::AAAA"]}
        with pytest.raises(ConfigurationError, match="no ciphertext"):
            opened_request(embed, sealing)
    finally:
        db.execute("update recall.settings set has_sealed_users = true")
    # the driver drops other texts, whichever fields the request lists for encryption
    more = sealed_answer(good | {"seal": {}}, spoken, sealing)
    assert hidden(json.dumps(more))


def test_jobs_of_two_encrypted_users_use_their_own_keys(
    memory: AgentMemory, user: uuid.UUID, db: Connection, script: Script
) -> None:
    """Each by their own key; a plain one beside them is as ever."""
    other, plain = uuid.uuid4(), uuid.uuid4()
    for one in (user, other):
        memory.encryption.seal_user(one)
        told(memory, one)
    session = open_session(db, plain)
    append(db, plain, session, [*said("I live in Lyon and work as a nurse."),
                                {"role": "assistant", "content": "Noted."}])  # fmt: skip
    script.facts = {f"I keep a {MARK}": [fact(f"User keeps a {MARK}.")]}
    worker = Worker(db, memory, script)
    jobs = {job["user_id"]: job for job in call(
        db, "claim_jobs", p_worker="w", p_kinds=["extract"], p_limit=3, p_flush=True)}  # fmt: skip
    requests = {one: worker.ask(job) for one, job in jobs.items()}
    assert "seal" not in requests[plain]
    assert "Lyon" in requests[plain]["messages"][1]["content"]
    answers = {one: worker.answer(jobs[one], requests[one]) for one in (user, other)}
    # an answer to the other's request is none of this one's
    assert worker.ask(jobs[user], answers[other]) == requests[user]
    moved = answers[other] | {"request_id": requests[user]["request_id"]}
    worker.ask(jobs[user], answers[user])
    assert [one.content for one in memory.memories.list(user)] == [f"User keeps a {MARK}."]
    worker.ask(jobs[other], moved | {"request_id": requests[other]["request_id"]})
    assert [one.content for one in memory.memories.list(other)] == [f"User keeps a {MARK}."]
    assert readable(db) == []
