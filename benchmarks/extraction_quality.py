"""Measure the precision and recall of a model's extraction: `make eval`.

Every transcript goes through the real pipeline, each for a user of its own. The benchmark remembers
the known facts, appends the messages and closes the session, and a worker extracts. It then
compares the active memories with the labeled ones.

    EVAL_BASE_URL=http://localhost:8000/v1 EVAL_MODEL=some-model make eval
    make eval ARGS="--model gpt-4o-mini --api-key-env OPENAI_API_KEY --json eval.json"
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from extraction_scoring import (
    TRANSCRIPTS,
    Judgment,
    Outcome,
    Score,
    Standing,
    Transcript,
    by_category,
    judge,
    read_transcripts,
)
from pgrecall import AgentMemory, ModelSettings
from pgrecall.models import ChatModel, Embedder, embedder_from_name
from target import database

KINDS = ("extract", "embed")  # the steps that make memories; summaries would only cost
BEFORE = timedelta(days=7)  # the time of the known facts
SHOWN = (
    "precision", "recall", "hallucination_rate", "duplicate_rate", "state", "importance", "kind",
    "confidence",
)  # fmt: skip
MICROCENTS = 100_000_000  # microcents in a dollar

Judged = list[tuple[Transcript, Outcome, Judgment]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; exit status 1 when an extraction failed, 2 without an endpoint."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    llm = model_settings(parser, options)
    try:
        chosen = choose(read_transcripts(options.transcripts), options.only)
        embedder = embedder_from_name(options.embedding)
    except ValueError as error:
        parser.error(str(error))

    started = time.monotonic()
    judged: Judged = []
    with database(options.dsn, dimensions=embedder.dimensions) as db:
        has_price = prepare(db, embedder, llm.model)
        dsn = make_conninfo(db.info.dsn, password=db.info.password or None)
        chat_model = ChatModel(llm)  # one for all: it probes the endpoint once
        with AgentMemory.connect(dsn, embedder=embedder) as memory:
            for number, transcript in enumerate(chosen, start=1):
                outcome = run(memory, db, chat_model, transcript)
                judged.append((transcript, outcome, judge(transcript, outcome)))
                if sys.stderr.isatty():
                    print(f"\r{number} of {len(chosen)}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)

    document = report(llm.model, judged, has_price, time.monotonic() - started)
    if options.json is not None:
        text = json.dumps(document, ensure_ascii=False, indent=2)
        options.json.write_text(text + "\n", encoding="utf-8")
    if options.wrong:
        print("\n".join(what_went_wrong(document)), end="\n\n")
    print("\n".join(table(document)))
    return 1 if document["all"]["failed"] else 0


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make eval", description=(__doc__ or "").splitlines()[0],
        epilog="EVAL_BASE_URL, EVAL_MODEL and EVAL_API_KEY_ENV stand for the options.",
    )  # fmt: skip
    said = os.environ.get
    parser.add_argument(
        "--base-url", default=said("EVAL_BASE_URL"), metavar="URL",
        help="the OpenAI-compatible endpoint (default: OpenAI, with a key)",
    )  # fmt: skip
    parser.add_argument("--model", default=said("EVAL_MODEL"), help="the chat model")
    parser.add_argument("--api-key-env", default=said("EVAL_API_KEY_ENV"), metavar="VAR",
                        help="the variable that holds its key")  # fmt: skip
    parser.add_argument("--embedding", default="local", metavar="NAME",
                        help="the embedding model (default: local)")  # fmt: skip
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds of one request")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="a category or a transcript; may be repeated")  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a file, too")
    parser.add_argument("--wrong", action="store_true", help="list what went wrong")
    parser.add_argument("--transcripts", type=Path, default=TRANSCRIPTS, metavar="FOLDER")
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    return parser


def model_settings(parser: argparse.ArgumentParser, options: argparse.Namespace) -> ModelSettings:
    """Return the endpoint, or exit with status 2 and the settings that are missing."""
    if not options.model or not (options.base_url or options.api_key_env):
        parser.error(
            "no endpoint is configured: set EVAL_MODEL, and EVAL_BASE_URL or EVAL_API_KEY_ENV (or "
            'both), or say ARGS="--model M --base-url URL --api-key-env VAR"'
        )
    key = None
    if options.api_key_env and not (key := os.environ.get(options.api_key_env)):
        parser.error(f"the variable {options.api_key_env} is not set")
    return ModelSettings(
        model=options.model, base_url=options.base_url, api_key=key, timeout=options.timeout
    )


def choose(transcripts: Sequence[Transcript], names: Sequence[str]) -> list[Transcript]:
    """Return the transcripts with these names or categories, or all without any.

    Raises:
        ValueError: no transcript or category has the name.
    """
    if not names:
        return list(transcripts)
    called = {name for item in transcripts for name in (item.category, item.name)}
    if strangers := set(names) - called:
        raise ValueError(f"no transcript or category is called {', '.join(sorted(strangers))}")
    return [item for item in transcripts if item.category in names or item.name in names]


def prepare(db: psycopg.Connection[Any], embedder: Embedder, model: str) -> bool:
    """Configure the database; return whether it knows the model's prices."""
    db.execute(
        """select recall.configure(jsonb_build_object(
               'extraction', 'llm', 'embed_messages', false, 'embedding_model', %s::text))""",
        [embedder.model],
    )
    found = db.execute("select from recall.list_models() as m where m.model_id = %s", [model])
    return found.fetchone() is not None


def run(
    memory: AgentMemory, db: psycopg.Connection[Any], llm: ChatModel, transcript: Transcript
) -> Outcome:
    """Let the pipeline extract a transcript for a user of its own."""
    user = uuid.uuid4()
    start = datetime.fromisoformat(transcript.messages[0]["created_at"])
    known = {
        memory.remember(
            user, item["content"], kind=item.get("kind", "fact"), slot=item.get("slot"),
            observed_at=start - BEFORE,
        ).memory_id
        for item in transcript.known
    }  # fmt: skip
    with memory.session(user=user, model=llm.settings.model) as chat:
        chat.append([dict(message) for message in transcript.messages])
        chat.close()
        done = memory.worker(llm=llm, kinds=KINDS).run_until_idle()
        session = chat.refresh()
    # The conversations are old, so memories that live for a day may have expired by now.
    active = db.execute(
        """select m.memory_id, m.content, m.kind, m.importance,
                  case when m.confidence >= 0.8 then 'high'
                       when m.confidence >= 0.5 then 'medium' else 'low' end
             from recall.memory_store as m
            where m.user_id = %s
              and m.kind <> 'episode'
              and (m.end_reason is null or m.end_reason = 'expired')
            order by m.memory_id""",
        [user],
    ).fetchall()
    error = done.last_error if done.failed else None
    if error is None and not done.done.get("extract"):
        error = "no extraction was done"
    return Outcome(
        known=tuple(content for memory_id, content, *_ in active if memory_id in known),
        new=tuple(content for memory_id, content, *_ in active if memory_id not in known),
        error=error,
        prompt_tokens=session.total_prompt_tokens,
        completion_tokens=session.total_completion_tokens,
        microcents=session.total_cost_microcents,
        standings={content: Standing(*rest) for _, content, *rest in active},
    )


def report(model: str, judged: Judged, has_price: bool, seconds: float) -> dict[str, Any]:
    """Return all figures for `--json`."""
    scores = by_category((transcript, judgment) for transcript, _, judgment in judged)
    return {
        "model": model,
        "has_price": has_price,
        "seconds": round(seconds, 1),
        "all": sum(scores.values(), Score()).figures(),
        "categories": {category: score.figures() for category, score in scores.items()},
        "transcripts": [
            {
                "category": transcript.category,
                "name": transcript.name,
                "error": outcome.error,
                "memories": [
                    {"content": text, "verdict": verdict} for text, verdict in judgment.memories
                ],
                "missed": list(judgment.missed),
                "wrong_states": list(judgment.wrong_states),
                "misrated": list(judgment.misrated),
                **judgment.score.figures(),
            }
            for transcript, outcome, judgment in judged
        ],
    }


def table(document: Mapping[str, Any]) -> Iterator[str]:
    heads = ("precision", "recall", "halluc.", "dupl.", "state", "import.", "kind", "conf.")
    yield f"{'':24}{'talks':>6}{'failed':>8}{'stored':>8}" + "".join(f"{h:>11}" for h in heads)
    for name, figures in [*document["categories"].items(), ("all", document["all"])]:
        yield (
            f"{name:24}{figures['transcripts']:6}{figures['failed']:8}{figures['stored']:8}"
            + "".join(f"{percent(figures[key]):>11}" for key in SHOWN)
        )
    every = document["all"]
    dollars = every["microcents"] / MICROCENTS
    cost = f"{dollars:.4f} dollars" if document["has_price"] else "the price is not known"
    yield (
        f"\n{document['model']}: {every['prompt_tokens']:,} tokens of prompts, "
        f"{every['completion_tokens']:,} of answers, {cost}; {document['seconds']:.0f} s"
    )


def what_went_wrong(document: Mapping[str, Any]) -> Iterator[str]:
    for item in document["transcripts"]:
        if item["error"] is not None:
            yield f"{item['name']}: failed: {item['error']}"
        for memory in item["memories"]:
            if memory["verdict"] not in ("right", "allowed"):
                yield f"{item['name']}: {memory['verdict']}: {memory['content']}"
        for text in item["missed"]:
            yield f"{item['name']}: missed: {text}"
        for text in item["wrong_states"]:
            yield f"{item['name']}: wrong state: {text}"
        for text in item["misrated"]:
            yield f"{item['name']}: misrated: {text}"


def percent(figure: float | None) -> str:
    return "-" if figure is None else f"{100 * figure:.1f} %"


if __name__ == "__main__":
    sys.exit(main())
