"""The actors of a soak run: processes that use the API at random and note everything.

Each actor has a database, a user and a login. Owners have a user of their own; the crowd of a
database shares one; a reader and an administrator look at all. The same users exist in both
databases. An actor remembers nothing that the ledger does not have.
"""

from __future__ import annotations

import json
import random
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from soak.ledger import TOKEN, Ledger, token, tokens_in
from soak.servers import DATABASES
from support import append, call, value
from support.fakes import WordEmbedder
from support.transcripts import assert_valid, prompt_tokens

DIMENSIONS = 64
EMBEDDER = WordEmbedder(dimensions=DIMENSIONS)
SPACE = uuid.UUID("50a4b1ce-0000-4000-8000-000000000000")
USERS = {"owner": (0, 1, 2), "crowd": (3,), "sealed": (4,)}
TOPICS = ("tea", "trains", "Oslo", "bicycles", "Postgres", "chess", "the harbour", "a marathon")

EXPECTED = {
    "40001", "40P01", "55P03",  # repeat it
    "RC001", "RC002",  # another actor has erased or closed it
    "RC003",  # not possible any more: a memory that ended, an open session, a taken slot
    "RC006", "RC009", "RC010",
    "25006",  # a write on a standby
}  # fmt: skip
"""Codes that an actor may get. Any other is a violation."""
CUT = 0.03
"""Share of appends whose connection the actor cuts after the request."""
MOST_SECONDS = 60
"""No statement may take longer; the roles have it as statement_timeout."""


class Lost(Exception):  # noqa: N818
    """The connection broke: nobody knows what became of the request."""


def is_replaced(error: psycopg.Error) -> bool:
    """Return whether a function was replaced under the call: only an upgrade may do that."""
    return error.sqlstate == "XX000" and "cache lookup failed for function" in str(error)


def user_id(number: int) -> uuid.UUID:
    return uuid.uuid5(SPACE, str(number))


def vector(text: str) -> str:
    return str(EMBEDDER.embed([text])[0])


def cut_append(
    conn: psycopg.Connection[Any], user: uuid.UUID, session: uuid.UUID,
    messages: list[dict[str, Any]], usage: dict[str, Any] | None, request: uuid.UUID,
) -> Any:  # fmt: skip
    """Send an append, and lose the connection before its answer."""
    texts = [str(user), str(session), json.dumps(messages),
             None if usage is None else json.dumps(usage), str(request)]  # fmt: skip
    conn.pgconn.send_query_params(
        b"select recall.append_messages($1::uuid, $2::uuid, $3::jsonb, $4::jsonb, $5::uuid)",
        [None if text is None else text.encode() for text in texts])  # fmt: skip
    conn.pgconn.flush()
    conn.close()
    raise psycopg.OperationalError("cut by the actor")


@dataclass
class Conversation:
    """A session of an actor.

    Attributes:
        turn: of the newest message that was acknowledged.
        at: time of the next message of an older conversation, None for now.
    """

    session: uuid.UUID
    window: int
    response: int
    turn: int = 0
    at: datetime | None = None
    is_open: bool = True
    tokens: set[str] = field(default_factory=set)


@dataclass
class Actor:
    """One actor; `run` acts until it is told to stop.

    Attributes:
        folder: of the run: where the ledger and the place of the servers are.
        number: from 0.
        kind: owner, crowd, sealed, reader or admin.
        database: 0 or 1.
        user: the number of its user.
        login: its role.
        is_pooled: whether it connects through PgBouncer.
        keeps: whether it never erases a part, so that every memory of it must be found.
    """

    folder: Path
    seed: int
    number: int
    kind: str
    database: int
    user: int
    login: str
    is_pooled: bool
    keeps: bool = False

    def begin(self) -> None:
        self.chance = random.Random(f"{self.seed}/{self.number}")
        self.ledger = Ledger(self.folder, self.number)
        self.uid = user_id(self.user)
        self.conn: psycopg.Connection[Any] | None = None
        self.made = 0
        self.sessions: list[Conversation] = []
        self.memories: dict[uuid.UUID, set[str]] = {}
        self.erased: set[str] = set()
        """Tokens that no read of its own may show any more."""

    # connections

    def dsn(self, *, standby: bool = False) -> str:
        place = json.loads((self.folder / "place.json").read_text())
        port = place["standby" if standby else "pooler" if self.is_pooled else "primary"]
        return (f"host=127.0.0.1 port={port or 1} dbname={DATABASES[self.database]}"
                f" user={self.login} connect_timeout=10 application_name=soak")  # fmt: skip

    def connect(self) -> psycopg.Connection[Any]:
        """Return the connection, or a new one as soon as the server takes it."""
        while self.conn is None or self.conn.closed:
            try:
                self.conn = psycopg.connect(self.dsn(), autocommit=True, prepare_threshold=None)
            except (psycopg.OperationalError, json.JSONDecodeError):
                if (self.folder / "stop").exists():
                    raise Lost from None
                time.sleep(0.2)
        return self.conn

    def lost(self, error: psycopg.Error) -> bool:
        """Return whether the request's outcome is unknown; its connection is then closed."""
        code = error.sqlstate or "08000"
        broken = self.conn is None or self.conn.closed or self.conn.broken
        if broken or code[:2] in ("08", "58") or code[:3] == "57P":
            if self.conn is not None:
                self.conn.close()
            return True
        return False

    def write(
        self, op: str, work: Callable[[psycopg.Connection[Any]], Any],
        note: Callable[[Any], dict[str, Any]] = lambda _: {}, **facts: Any,
    ) -> Any:  # fmt: skip
        """Send a request that changes something; return its result, None when it failed.

        Raises:
            Lost: its outcome is unknown.
        """
        conn = self.connect()
        number = self.ledger.sent(op, db=self.database, user=self.user, **facts)
        try:
            result = work(conn)
        except psycopg.Error as error:
            if self.lost(error):
                self.ledger.ended(number, "lost", code=error.sqlstate)
                raise Lost from error
            self.failed(op, error)
            self.ledger.ended(number, "failed", code=error.sqlstate)
            return None
        self.ledger.ended(number, "ok", **note(result))
        return result

    def read(self, op: str, work: Callable[[psycopg.Connection[Any]], Any]) -> Any:
        """Send a request that changes nothing, and check what it shows."""
        conn, began = self.connect(), time.monotonic()
        try:
            result = work(conn)
        except psycopg.Error as error:
            outcome = "lost" if self.lost(error) else "failed"
            self.ledger.read(op, began, outcome, code=error.sqlstate)
            if outcome == "lost":
                raise Lost from error
            self.failed(op, error)
            return None
        self.ledger.read(op, began, "ok")
        self.shown(op, result)
        return result

    def failed(self, op: str, error: psycopg.Error) -> None:
        if error.sqlstate not in EXPECTED and not is_replaced(error):
            self.ledger.violation(f"{op}: {error.sqlstate} {error}")

    def shown(self, op: str, result: Any, user: int | None = None) -> None:
        """Note a violation where a result has a foreign token, or one that was erased."""
        user = self.user if user is None else user
        for found in TOKEN.finditer(json.dumps(result, default=str)):
            if (int(found[1]), int(found[2])) != (self.database, user):
                self.ledger.violation(f"{op} of user {user} shows {found[0]}")
            elif found[0] in self.erased:
                self.ledger.violation(f"{op} shows {found[0]}, which was erased")

    def token(self) -> str:
        self.made += 1
        return token(self.database, self.user, self.number, self.made)

    # the loop

    def run(self) -> None:
        self.begin()
        kinds = list(self.choices())
        weights = [self.choices()[name] for name in kinds]
        idle = self.folder / f"idle-{self.number}"
        while not (self.folder / "stop").exists():
            if (self.folder / "pause").exists():
                self.ledger._file.flush()
                idle.touch()
                time.sleep(0.05)
                continue
            idle.unlink(missing_ok=True)
            op = self.chance.choices(kinds, weights)[0]
            try:
                getattr(self, op)()
            except Lost:
                continue
            except Exception as error:
                self.ledger.violation(f"{op}: {type(error).__name__} {error}"[:2000])
            time.sleep(self.chance.expovariate(1 / PAUSE))
        self.ledger._file.flush()
        idle.touch()

    def choices(self) -> dict[str, float]:
        """Return what the actor does, and how often."""
        common = {
            "say": 30, "open": 3, "end": 2, "say_tools": 3, "context": 8, "search": 8,
            "search_messages": 5, "messages": 4, "remember": 10, "supersede": 3, "retract": 2,
            "restore": 2, "dispute": 2, "work": 4, "together": 4, "log_call": 2, "twice": 2,
            "retract_turn": 1, "settings": 1,
        }  # fmt: skip
        erasing = {"forget_memory": 2, "forget_session": 1}
        if self.kind == "owner":
            whole = {"forget_user": 0.4, "move_user": 0.4}
            return common | whole | ({} if self.keeps else erasing)
        if self.kind == "crowd":
            return common | erasing | ({"forget_user": 0.2} if self.login == "soak_admin" else {})
        return {"look": 10, "look_twice": 4, "look_at_standby": 8} if self.kind == "reader" else {
            "configure": 1, "health": 2, "metrics": 1, "audit": 4, "maintain": 6,
            "export": 1}  # fmt: skip

    # conversations

    def conversation(self, *, is_open: bool = True) -> Conversation | None:
        found = [one for one in self.sessions if one.is_open or not is_open]
        return self.chance.choice(found) if found else None

    def open(self) -> None:
        session, title = uuid.uuid4(), self.token()
        window = self.chance.choice([1500, 4000, 16000])
        age = self.chance.choice([None, None, None, 40, 75, 100])
        response = window // 4
        facts = {
            "p_user_id": self.uid, "p_model_id": "gpt-4o-mini", "p_session_id": session,
            "p_system_prompt": "You are a helpful assistant.", "p_title": f"{title} talk",
            "p_context_window_size": window, "p_max_response_tokens": response,
            "p_system_prompt_tokens": 8,
        }  # fmt: skip
        if self.kind == "crowd" and self.sessions and self.chance.random() < 0.3:
            known = self.read("list_sessions", lambda conn: call(
                conn, "list_sessions", p_user_id=self.uid, p_status="active"))  # fmt: skip
            if known:
                row = self.chance.choice(known)
                self.sessions.append(Conversation(row["session_id"], 16000, 4000))
            return
        made = self.write("open_session", lambda conn: call(conn, "open_session", **facts),
                          session=str(session), title=[title])  # fmt: skip
        if made is not None:
            at = None if age is None else datetime.now(UTC) - timedelta(days=age)
            self.sessions.append(Conversation(session, window, response, at=at, tokens={title}))

    def end(self) -> None:
        talk = self.conversation()
        if talk is None:
            return
        how = self.chance.choice(["close_session", "close_session", "pause_session", "expire"])
        here = {"p_user_id": self.uid, "p_session_id": talk.session}
        if how == "expire":
            how, here = "update_session", here | {"p_changes": {"expires_at": (
                datetime.now(UTC) + timedelta(seconds=1)).isoformat()}}  # fmt: skip
        talk.is_open = False
        self.write(how, lambda conn: call(conn, how, **here), session=str(talk.session))
        if how == "pause_session":
            self.write("resume_session", lambda conn: call(
                conn, "resume_session", **here), session=str(talk.session))  # fmt: skip
            talk.is_open = True

    def say(self, *, tools: bool = False) -> None:
        talk = self.conversation()
        if talk is None:
            self.open()
            return
        asked, said = self.token(), self.token()
        topic = self.chance.choice(TOPICS)
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": f"{asked} I like {topic} more than {self.made} others."},
            {"role": "assistant", "content": f"{said} You like {topic}. " + "Well. " *
             self.chance.choice([1, 1, 30])},
        ]  # fmt: skip
        tokens = [asked, said]
        if tools:
            tokens.append(answer := self.token())
            name = f"call_{self.number}_{self.made}"
            function = {"name": "find", "arguments": json.dumps({"query": topic})}
            messages[1:1] = [
                {"role": "assistant",
                 "tool_calls": [{"id": name, "type": "function", "function": function}]},
                {"role": "tool", "tool_call_id": name, "content": f"{answer} found {topic}"},
            ]  # fmt: skip
        if talk.at is not None:
            for message in messages:
                talk.at += timedelta(seconds=1)
                message["created_at"] = talk.at.isoformat()
        request = uuid.uuid4()
        usage = self.chance.choice([None, {"prompt_tokens": 100, "completion_tokens": 20}])
        while True:  # the same request id until it is answered
            try:
                send = cut_append if self.chance.random() < CUT else append
                made = self.write(
                    "append",
                    lambda conn, do=send: do(conn, self.uid, talk.session, messages, usage,
                                              request),
                    lambda made: {"turns": [row[1] for row in made], "inserted": made[0][2]},
                    session=str(talk.session), history=tokens, request=str(request),
                )  # fmt: skip
                break
            except Lost:
                if (self.folder / "stop").exists():
                    raise
                time.sleep(0.2)
        if made is None:
            talk.is_open = False
            return
        talk.tokens.update(tokens)
        turn = max(row[1] for row in made)
        if turn <= talk.turn:
            self.ledger.violation(f"{asked} got turn {turn} after {talk.turn}")
        talk.turn = turn

    def say_tools(self) -> None:
        self.say(tools=True)

    def messages(self) -> None:
        talk = self.conversation(is_open=False)
        if talk is None:
            return
        found = self.read("get_messages", lambda conn: call(
            conn, "get_messages", p_user_id=self.uid, p_session_id=talk.session,
            p_limit=100))  # fmt: skip
        if found is None:
            self.sessions.remove(talk)  # another has erased it
        turns = [row["turn_index"] for row in found or ()]
        if turns != sorted(set(turns), reverse=True):
            self.ledger.violation(f"messages of {talk.session} are out of order: {turns}")

    def retract_turn(self) -> None:
        talk = self.conversation()
        if talk is None or talk.turn == 0:
            return
        self.write("retract_turns", lambda conn: call(
            conn, "retract_turns", p_user_id=self.uid, p_session_id=talk.session,
            p_from_turn=talk.turn), session=str(talk.session))  # fmt: skip

    def context(self) -> None:
        talk = self.conversation(is_open=False)
        if talk is None:
            return
        options = {"current_message": f"What about {self.chance.choice(TOPICS)}?",
                   "recalled": self.chance.random() < 0.5,
                   "layout": self.chance.choice(["standard", "cache_stable"])}  # fmt: skip
        found = self.read("compile_context", lambda conn: value(
            conn, "select recall.compile_context(%s, %s, %s, %s::halfvec, %s)",
            [self.uid, talk.session, options["current_message"],
             vector(str(options["current_message"])), Jsonb(options)]))  # fmt: skip
        if found is None:
            return
        messages = found["messages"]
        assert_valid(messages)
        used = prompt_tokens(messages)
        if used > talk.window - talk.response:
            self.ledger.violation(f"a context of {used} tokens in {talk.window - talk.response}")

    def search(self) -> None:
        topic = self.chance.choice(TOPICS)
        self.read("search", lambda conn: call(
            conn, "search", p_user_id=self.uid, p_query=f"likes {topic}",
            p_query_embedding=vector(topic), p_limit=20))  # fmt: skip

    def search_messages(self) -> None:
        topic = self.chance.choice(TOPICS)
        self.read("search_messages", lambda conn: call(
            conn, "search_messages", p_user_id=self.uid, p_query=topic, p_limit=20))  # fmt: skip
        self.read("search_sessions", lambda conn: call(
            conn, "search_sessions", p_user_id=self.uid, p_query=topic, p_limit=5))  # fmt: skip

    # memories

    def remember(self) -> None:
        mark = self.token()
        text = f"{mark} is private: likes {self.chance.choice(TOPICS)} number {self.made}"
        facts: dict[str, Any] = {"p_user_id": self.uid, "p_content": text}
        if self.chance.random() < 0.7:
            facts["p_embedding"] = vector(text)
        if self.chance.random() < 0.2:
            facts["p_slot"] = self.chance.choice(["home", "job", "pet"])
        if self.chance.random() < 0.2:
            facts["p_tags"] = [self.chance.choice(["food", "sport"])]
        made = self.write("remember", lambda conn: call(conn, "remember", **facts),
                          lambda made: {"memory": str(made[0]["memory_id"]),
                                        "result": made[0]["outcome"]}, memory=[mark])  # fmt: skip
        if made and made[0]["outcome"] == "added":
            self.memories[made[0]["memory_id"]] = {mark}
            self.read("get_memory", lambda conn: call(
                conn, "get_memory", p_user_id=self.uid,
                p_memory_id=made[0]["memory_id"]))  # fmt: skip

    def one_memory(self) -> uuid.UUID | None:
        return self.chance.choice(list(self.memories)) if self.memories else None

    def supersede(self) -> None:
        memory = self.one_memory()
        if memory is None:
            return
        mark = self.token()
        self.memories[memory].add(mark)
        made = self.write("supersede", lambda conn: call(
            conn, "supersede_memory", p_user_id=self.uid, p_memory_id=memory,
            p_content=f"{mark} is private: edited {self.made}"), memory=[mark])  # fmt: skip
        if made:
            self.memories[made[0]["supersede_memory"]] = self.memories[memory]

    def change(self, function: str, memory: uuid.UUID | None, **more: Any) -> Any:
        if memory is not None:
            return self.write(function, lambda conn: call(
                conn, function, p_user_id=self.uid, p_memory_id=memory, **more),
                of=str(memory))  # fmt: skip
        return None

    def retract(self) -> None:
        self.change("retract_memory", self.one_memory(), p_reason="soak")

    def restore(self) -> None:
        memory = self.one_memory()
        made = self.change("restore_memory", memory)
        if made and memory is not None:
            # an edited memory is not used any more: its edit is no version of the restored one
            tokens = self.memories[memory]
            self.memories = {key: own for key, own in self.memories.items() if own is not tokens}
            if len(tokens) == 1:
                self.memories[made[0]["restore_memory"]] = tokens

    def dispute(self) -> None:
        memory, talk = self.one_memory(), self.conversation()
        if memory is None or talk is None:
            return
        self.change("dispute_memory", memory, p_session_id=talk.session, p_words="no",
                    p_current_message="Hello there", p_reason="soak")  # fmt: skip
        for row in self.read("list_disputes", lambda conn: call(
                conn, "list_disputes", p_user_id=self.uid)) or ():  # fmt: skip
            self.change("resolve_dispute", row["memory_id"],
                        p_accept=self.chance.random() < 0.5)  # fmt: skip

    # other calls

    def work(self) -> None:
        talk = self.conversation()
        if talk is None:
            return
        mark = self.token()
        here = {"p_user_id": self.uid, "p_session_id": talk.session, "p_task_id": "task"}
        self.write("put_working", lambda conn: call(
            conn, "put_working", **here, p_key=str(self.made % 5), p_value={"note": mark}),
            session=str(talk.session), working=[mark])  # fmt: skip
        self.read("get_working", lambda conn: call(conn, "get_working", **here))

    def log_call(self) -> None:
        mark = self.token()
        body = {"messages": [{"role": "user", "content": f"{mark} hello"}]}
        self.write("record_model_call", lambda conn: call(
            conn, "record_model_call", p_user_id=self.uid, p_model="gpt-4o-mini",
            p_request=body), call=[mark])  # fmt: skip

    def together(self) -> None:
        """Several calls in one transaction, limited to the user: all of them or none."""
        talk = self.conversation()
        if talk is None:
            return
        said, known = self.token(), self.token()

        def work(conn: psycopg.Connection[Any]) -> Any:
            with conn.transaction():
                conn.execute("select set_config('recall.user_id', %s, true)", [str(self.uid)])
                call(conn, "remember", p_user_id=self.uid,
                     p_content=f"{known} is private and told with a turn")  # fmt: skip
                return append(conn, self.uid, talk.session,
                              [{"role": "user", "content": f"{said} as I told you"}])  # fmt: skip

        made = self.write("together", work, lambda made: {"turns": [row[1] for row in made]},
                          session=str(talk.session), history=[said], memory=[known])  # fmt: skip
        if made:
            talk.tokens.add(said)
            talk.turn = made[0][1]

    def twice(self) -> None:
        """The same reads in one repeatable-read transaction agree."""

        def work(conn: psycopg.Connection[Any]) -> Any:
            with conn.transaction():
                conn.execute("set transaction isolation level repeatable read, read only")
                return [
                    [call(conn, "search", p_user_id=self.uid, p_query="likes tea"),
                     value(conn, "select recall.export_user(%s) #- '{exported_at}'"
                                 " #- '{tables,working_memory}' #- '{tables,memory_access_log}'",
                           [self.uid])]
                    for _ in range(2)
                ]  # fmt: skip

        found = self.read("repeatable_read", work)
        if found and re.sub(r'"\w*score": [^,}]*', "", json.dumps(found[0], default=str)) != re.sub(
            r'"\w*score": [^,}]*', "", json.dumps(found[1], default=str)
        ):
            self.ledger.violation("two reads of one snapshot differ")

    def settings(self) -> None:
        if self.login == "soak_admin":
            self.write("configure_user", lambda conn: call(
                conn, "configure_user", p_user_id=self.uid,
                p_changes={"extract_after_turns": self.chance.randint(1, 4)}))  # fmt: skip

    # erasures

    def gone(self, tokens: set[str]) -> None:
        """Expect never to read these again; the crowd cannot know what others brought back."""
        if self.kind == "owner":
            self.erased |= tokens

    def forget_memory(self) -> None:
        memory = self.one_memory()
        if memory is None:
            return
        tokens = self.memories[memory]
        made = self.write("forget_memory", lambda conn: call(
            conn, "forget_memory", p_user_id=self.uid, p_memory_id=memory),
            erased=sorted(tokens), of=str(memory))  # fmt: skip
        if made:
            self.gone(tokens)
            self.memories = {key: own for key, own in self.memories.items() if own is not tokens}

    def forget_session(self) -> None:
        talk = self.conversation(is_open=False)
        if talk is None:
            return
        made = self.write("forget_session", lambda conn: call(
            conn, "forget_session", p_user_id=self.uid, p_session_id=talk.session),
            erased_session=str(talk.session))  # fmt: skip
        if made:
            self.gone(talk.tokens)
            self.sessions.remove(talk)

    def forget_user(self) -> bool:
        made = self.write("forget_user", lambda conn: call(
            conn, "forget_user", p_user_id=self.uid), erased_user=True)  # fmt: skip
        if made:
            self.gone({token(self.database, self.user, self.number, n + 1)
                       for n in range(self.made)})  # fmt: skip
        self.sessions, self.memories = [], {}
        return bool(made)

    def move_user(self) -> None:
        """Export the user, erase them, and import them again."""
        document = self.read("export_user", lambda conn: value(
            conn, "select recall.export_user(%s)", [self.uid]))  # fmt: skip
        before = (self.sessions, self.memories)
        if document is None or not self.forget_user():
            return
        tokens = tokens_in(json.dumps(document))
        history = tokens_in(json.dumps(document["tables"].get("conversation_history", [])))
        made = None
        for _ in range(20):
            try:
                made = self.write("import_user", lambda conn: call(
                    conn, "import_user", p_user_id=self.uid, p_document=document,
                    p_allow_weaker=True),
                    history=sorted(history), other=sorted(tokens - history))  # fmt: skip
            except Lost:
                if (self.folder / "stop").exists():
                    raise
            if made is not None:
                break
        if made is None:
            self.ledger.violation("an export cannot be imported")
            return
        self.erased -= tokens
        self.sessions, self.memories = before

    # readers and administrators

    def look(self, *, standby: bool = False) -> None:
        user = self.chance.choice([0, 1, 2, 3])
        uid, topic = user_id(user), self.chance.choice(TOPICS)

        def work(conn: psycopg.Connection[Any]) -> Any:
            with conn.transaction():
                conn.execute("set transaction isolation level repeatable read, read only")
                conn.execute("select set_config('recall.user_id', %s, true)", [str(uid)])
                sessions = call(conn, "list_sessions", p_user_id=uid, p_limit=5)
                found = [
                    sessions, call(conn, "search", p_user_id=uid, p_query=topic),
                    call(conn, "get_profile", p_user_id=uid),
                    conn.execute("select content from recall.memory_store").fetchall(),
                ]  # fmt: skip
                for row in sessions[:2]:
                    here = {"p_user_id": uid, "p_session_id": row["session_id"]}
                    found.append(call(conn, "get_messages", **here))
                    found.append(call(conn, "explain_context", **here, p_query=topic))
            return found

        if not standby:
            own, self.user = self.user, user
            try:
                self.read("look", work)
            finally:
                self.user = own
            return
        began = time.monotonic()
        try:
            with psycopg.connect(self.dsn(standby=True), autocommit=True) as conn:
                found = work(conn)
        except psycopg.Error as error:  # a standby may be away, or behind
            self.ledger.read("look_at_standby", began, "failed", code=error.sqlstate)
            return
        self.ledger.read("look_at_standby", began, "ok")
        self.shown("look_at_standby", found, user)

    def look_at_standby(self) -> None:
        self.look(standby=True)

    def look_twice(self) -> None:
        self.user = self.chance.choice([0, 1, 2, 3])
        self.uid = user_id(self.user)
        self.twice()

    def configure(self) -> None:
        self.write("configure", lambda conn: call(conn, "configure", p_changes={
            "extract_after_turns": self.chance.randint(1, 5),
            "hybrid_similarity_weight": self.chance.choice([0.4, 0.5]),
        }))  # fmt: skip

    def health(self) -> None:
        self.read("health", lambda conn: call(conn, "health"))

    def metrics(self) -> None:
        self.read("metrics", lambda conn: call(conn, "metrics"))

    def audit(self) -> None:
        self.user = self.chance.choice([0, 1, 2, 3])
        uid = user_id(self.user)
        found = self.read("verify_integrity", lambda conn: call(
            conn, "verify_integrity", p_user_id=uid))  # fmt: skip
        if found:
            self.ledger.violation(f"verify_integrity of user {self.user}: {found[:3]}")

    def maintain(self) -> None:
        self.write("run_due_maintenance", lambda conn: call(conn, "run_due_maintenance"))

    def export(self) -> None:
        self.user = self.chance.choice([0, 1, 2, 3])
        uid = user_id(self.user)
        self.read("export_user", lambda conn: call(conn, "export_user", p_user_id=uid))


PAUSE = 0.1
"""Mean seconds between two requests of an actor."""
