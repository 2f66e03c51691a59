"""Measure the tokens and dollars of the pipeline for a conversation of twenty turns.

`recall.next_request` makes the requests in a fresh database. The answers are written here as a
model would give them. The benchmark counts instructions, data, schema and answers with the
tokenizer of gpt-4o-mini, without the discount for cached prompts. Exit status 1 when the goal is
missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import uuid
import zlib
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from pgrecall.models import count_text_tokens
from target import database, do_due_jobs

MODEL = "gpt-4o-mini"
INPUT, OUTPUT = 0.15, 0.60  # dollars per million tokens
EMBEDDING = 0.02  # text-embedding-3-small
GOAL = 0.002
FRAME = 4  # tokens of a message beside its text

# ten exchanges, twenty turns
SAID = [
    ("Hi, I'm setting up the backend of a small booking site for my sister's yoga studio.",
     ("Nice project! Tell me what you have so far: the language, the database, and where it will "
     "run. Then we can look at how bookings should be stored.")),
    ("Python with FastAPI, and I use Postgres for everything. It runs on a small VPS in Lyon.",
     ("A good combination. For bookings I would begin with three tables: classes, customers, and "
     "bookings, with a unique constraint so that nobody books the same class twice.")),
    ("How do I keep two people from taking the last place at the same moment?",
     ("Lock the row of the class with SELECT … FOR UPDATE, count its bookings, and insert only if "
     "there is room. Alternatively keep a counter with a CHECK constraint and update it.")),
    ("I prefer the counter with the constraint. Please always show SQL in lower case.",
     ("Understood: update classes set places_left = places_left - 1 where id = $1; the check "
     "(places_left >= 0) refuses a booking that comes too late, and the transaction ends.")),
    ("Great. The site has to be live by the end of March, so nothing fancy.",
     ("Then I would leave payments to a hosted checkout page, and send the confirmations by a "
     "transactional mail service. Both are an afternoon of work.")),
    ("We take payments in cash at the studio. Mails should be in French.",
     ("Even simpler. A template per mail with the class, the date and a link to cancel is enough. "
     "Here is one in French: « Bonjour, votre place est réservée … »")),
    ("I can't stand ORMs, by the way. Plain SQL with psycopg.",
     ("Fine: psycopg 3 with a connection pool, one module of query functions, and migrations as "
     "numbered SQL files. FastAPI's dependencies hand a connection to each request.")),
    ("How should I back it up? I've been burned before, I lost a database in 2023.",
     ("Nightly pg_dump to another machine, kept for thirty days, and one restore a month to see "
     "that it works. If losing a day is too much, add WAL archiving with pgBackRest.")),
    ("A nightly dump is fine. My machine at home is an old ThinkPad with Debian.",
     ("Then a systemd timer on the ThinkPad can fetch it over SSH, so that the server holds no key "
     "to your home. I can write both units if you like.")),
    ("Yes please. And thanks, this was really helpful!",
     ("Here they are: backup.service runs ssh and pg_dump into a dated file, backup.timer runs it "
     "at 03:30 with RandomizedDelaySec=10m. Good luck with the launch!")),
]  # fmt: skip
FACTS = [
    ("User builds a booking site for the yoga studio of his sister.", "fact", None, [1]),
    ("User programs in Python with FastAPI.", "fact", None, [3]),
    ("User uses Postgres for everything.", "fact", "database", [3]),
    ("User's booking site runs on a small VPS in Lyon.", "fact", None, [3]),
    ("User wants SQL shown in lower case, always.", "instruction", None, [7]),
    ("User's booking site has to be live by 2026-03-31.", "goal", None, [9]),
    ("User's sister takes payments in cash at the studio.", "fact", None, [11]),
    ("User wants the mails of the booking site in French.", "preference", None, [11]),
    ("User dislikes ORMs and writes plain SQL with psycopg.", "preference", None, [13]),
    ("User lost a database in 2023.", "personal", None, [15]),
    ("User decided on a nightly dump as the backup.", "decision", None, [17]),
    ("User has an old ThinkPad with Debian at home.", "fact", "home_computer", [17]),
]
EPISODES = [
    "User described the booking site; the assistant asked for details.",
    "User named his stack; the assistant proposed three tables.",
    "User asked about the last place; the assistant proposed a lock or a counter.",
    "User chose the counter; the assistant showed the update.",
    "User named the deadline; the assistant proposed hosted services.",
    "User settled payments and mails; the assistant wrote a French template.",
    "User rejected ORMs; the assistant proposed psycopg with a pool.",
    "User asked about backups; the assistant proposed pg_dump or pgBackRest.",
    "User chose the nightly dump; the assistant proposed a timer on the ThinkPad.",
    "User asked for the units; the assistant wrote them.",
]
SUMMARY = (
    "The user builds a booking site for the yoga studio of his sister, with FastAPI, Postgres and "
    "psycopg on a VPS in Lyon, to be live by the end of March. He chose a counter with a CHECK "
    "constraint against double bookings, cash payments, mails in French, plain SQL in lower case, "
    "and a nightly dump fetched by his ThinkPad over SSH. The assistant wrote the systemd units "
    "backup.service and backup.timer. Nothing is open."
)
NEIGHBORS = 5  # neighbors shown with each candidate in doubt
OPEN = 4  # candidates that SQL does not settle
DIMENSIONS = 64
EMBEDDING_MODEL = "benchmark"
WORKER = {"chat_model": MODEL, "embedding_model": EMBEDDING_MODEL}
USER = uuid.uuid5(uuid.NAMESPACE_URL, "pgrecall/pipeline_cost")


def main() -> int:
    """Print a row for each call and the sum."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    options = parser.parse_args()

    with database(options.dsn, dimensions=DIMENSIONS) as db:
        converse(db)
        calls, embedded = work(db)
    dollars = sum(call["dollars"] for call in calls) + embedded * EMBEDDING / 1e6
    if options.json:
        print(json.dumps({"calls": calls, "embedded": embedded, "dollars": dollars, "goal": GOAL}))
    else:
        print(f"a conversation of {2 * len(SAID)} turns, prices of {MODEL}\n")
        print(f"{'call':14}{'prompt':>8}{'answer':>8}{'dollars':>10}")
        for call in calls:
            print(f"{call['call']:14}{call['prompt']:8,}{call['answer']:8,}{call['dollars']:10.6f}")
        print(f"{'embeddings':14}{embedded:8,}{'':8}{embedded * EMBEDDING / 1e6:10.6f}")
        print(f"{'all':30}{dollars:10.6f}  goal: below {GOAL}")
    return 0 if dollars < GOAL else 1


def converse(db: psycopg.Connection[Any]) -> None:
    """Remember the memories that resemble the last candidates, and append the conversation."""
    settings = {"embedding_model": EMBEDDING_MODEL, "extraction": "llm"}
    db.execute("select recall.configure(%s)", [Jsonb(settings)])
    session = uuid.uuid4()
    with db.transaction():
        for content, kind, _, _ in FACTS[:NEIGHBORS]:
            db.execute(
                "select recall.remember(p_user_id => %s, p_content => %s, p_kind => %s,"
                " p_embedding => %s::halfvec, p_observed_at => '2026-02-01')",
                [USER, content, kind, vector(content, is_near=True)],
            )
        db.execute("select recall.open_session(%s, %s, p_session_id => %s)", [USER, MODEL, session])
        messages = [
            {"role": role, "content": text}
            for pair in SAID
            for role, text in zip(("user", "assistant"), pair, strict=True)
        ]
        db.execute("select recall.append_messages(%s, %s, %s)", [USER, session, Jsonb(messages)])
        db.execute("select recall.close_session(%s, %s)", [USER, session])


def work(db: psycopg.Connection[Any]) -> tuple[list[dict[str, Any]], int]:
    """Do all jobs; return the cost of each chat and the number of embedded tokens."""
    calls = []
    embedded = 0

    def respond(request: dict[str, Any]) -> dict[str, Any]:
        nonlocal embedded
        if request["type"] == "chat":
            said = ANSWERS[request["purpose"]](request)
            calls.append(costs(request, said))
            return {"content": compact(said), "finish_reason": "stop"}
        embedded += sum(map(tokens, request["inputs"]))
        return {"vectors": [vector(text) for text in request["inputs"]]}

    for _ in do_due_jobs(db, WORKER, respond):
        pass
    return calls, embedded


def vector(text: str, *, is_near: bool = False) -> str:
    """Return a vector; the known memories resemble only the last candidates."""
    made = [0.0] * DIMENSIONS
    made[1 + zlib.crc32(text.encode()) % (DIMENSIONS - 1)] = 1.0
    if is_near or text in {content for content, *_ in FACTS[-OPEN - 1 : -1]}:  # without a slot
        made[0] = 1.0
    return json.dumps(made)


def extracted(_: Any) -> dict[str, Any]:
    return {
        "facts": [
            {"content": content, "kind": kind, "slot": slot, "importance": 0.6,
             "confidence": "high", "correction": False, "tags": ["project"], "turns": turn}
            for content, kind, slot, turn in FACTS
        ],
        "episodes": [
            {"content": content, "turns": [2 * number + 1, 2 * number + 2]}
            for number, content in enumerate(EPISODES)
        ],
    }  # fmt: skip


def consolidated(request: dict[str, Any]) -> dict[str, Any]:
    schema = request["response_format"]["json_schema"]["schema"]
    count = schema["properties"]["decisions"]["maxItems"]
    return {"decisions": [{"candidate": number + 1, "decision": "NONE", "target": 1}
                          for number in range(count)]}  # fmt: skip


ANSWERS = {
    "extract": extracted,
    "consolidate": consolidated,
    "summarize": lambda _: {"summary": SUMMARY},
}


def costs(request: dict[str, Any], answer: Any) -> dict[str, Any]:
    schema = request["response_format"]["json_schema"]["schema"]
    sent = sum(tokens(message["content"]) + FRAME for message in request["messages"])
    sent += tokens(compact(schema))
    said = tokens(compact(answer))
    dollars = (sent * INPUT + said * OUTPUT) / 1e6
    return {"call": request["purpose"], "prompt": sent, "answer": said, "dollars": dollars}


def tokens(text: str) -> int:
    return count_text_tokens(text, MODEL)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main())
