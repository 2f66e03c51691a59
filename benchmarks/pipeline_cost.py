"""What the pipeline costs: a conversation of twenty turns, in tokens and dollars.

The prompts are the ones that are sent; the answers are written down here as a model would give
them. Counted are instructions, data, schema and answers, by the tokenizer of gpt-4o-mini, without
the discount for cached prompts. Exit status 1 when the goal is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from pgrecall import prompts
from pgrecall.steps._questions import block, prompt, turns
from pgrecall.steps.extract import consolidation_prompt, extraction_prompt
from pgrecall.tokens import count_text_tokens

MODEL = "gpt-4o-mini"
INPUT, OUTPUT = 0.15, 0.60  # dollars per million tokens
EMBEDDING = 0.02  # text-embedding-3-small
GOAL = 0.002
FRAME = 4  # tokens around a message

KINDS = {
    "fact": "Factual information about the user",
    "preference": "How the user likes things done: style, format, tools",
    "goal": "What the user wants to reach",
    "decision": "A choice the user has made",
    "context": "A situation that will pass: deadlines, circumstances",
    "feedback": "How the user reacted to something",
    "personal": "A detail that builds rapport",
    "instruction": "What the user asked to be done always or never",
}
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
NEIGHBORS = 5  # below each open candidate
OPEN = 4  # of the candidates, what SQL does not settle


def main() -> int:
    """Print a line for each call and the sum."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()

    calls = [extraction(), consolidation(), summarizing()]
    texts = [content for content, *_ in FACTS] + EPISODES + [SUMMARY]
    embedded = sum(map(tokens, texts)) + sum(tokens(text) for pair in SAID for text in pair)
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


def messages() -> list[dict[str, Any]]:
    return [
        {"turn_index": 2 * number + place, "role": role, "text": text}
        for number, pair in enumerate(SAID)
        for place, (role, text) in enumerate(zip(("user", "assistant"), pair, strict=True), start=1)
    ]


def extraction() -> dict[str, Any]:
    asked = extraction_prompt(
        {
            "observation_date": "2026-03-01",
            "summary": "",
            "kinds": KINDS,
            "profile": "home_city: User lives in Lyon.",
            "max_facts": 3 * len(SAID),
        },
        turns(messages()),
    )
    schema = prompts.schema("extract")
    schema["properties"]["facts"]["items"]["properties"]["kind"]["enum"] = list(KINDS)
    return costs("extract", asked, schema, {
        "facts": [
            {"content": content, "kind": kind, "slot": slot, "importance": 0.6,
             "confidence": "high", "correction": False, "tags": ["project"], "turns": turn}
            for content, kind, slot, turn in FACTS
        ],
        "episodes": [
            {"content": content, "turns": [2 * number + 1, 2 * number + 2]}
            for number, content in enumerate(EPISODES)
        ],
    })  # fmt: skip


def consolidation() -> dict[str, Any]:
    stored = [{"content": content, "kind": kind, "observed_at": "2026-02-01"}
              for content, kind, *_ in FACTS[:NEIGHBORS]]  # fmt: skip
    asked = consolidation_prompt(
        [{"content": content, "kind": kind, "neighbors": stored}
         for content, kind, *_ in FACTS[-OPEN:]]
    )  # fmt: skip
    decisions = [{"candidate": number + 1, "decision": "UPDATE", "target": 1}
                 for number in range(OPEN)]  # fmt: skip
    return costs("consolidate", asked, prompts.schema("consolidate"), {"decisions": decisions})


def summarizing() -> dict[str, Any]:
    asked = prompt(
        "summarize", "At most 120 words.", block("summary", ""),
        block("conversation", turns(messages())),
    )  # fmt: skip
    return costs("summarize", asked, prompts.schema("summarize"), {"summary": SUMMARY})


def costs(step: str, asked: Any, schema: Any, answer: Any) -> dict[str, Any]:
    sent = sum(tokens(message["content"]) + FRAME for message in asked) + tokens(compact(schema))
    said = tokens(compact(answer))
    dollars = (sent * INPUT + said * OUTPUT) / 1e6
    return {"call": step, "prompt": sent, "answer": said, "dollars": dollars}


def tokens(text: str) -> int:
    return count_text_tokens(text, MODEL)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main())
