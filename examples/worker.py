"""A worker for pgrecall in Python, with psycopg and openai: a loop around recall.next_request.

The database plans each request and judges each answer: see docs/reference/job-protocol.md.

    export PGRECALL_DSN=postgresql://… OPENAI_BASE_URL=https://… OPENAI_API_KEY=…
    export PGRECALL_WORKER='{"chat_model": "gpt-4o-mini",
                             "embedding_model": "openai:text-embedding-3-small"}'
    python examples/worker.py [--until-idle]
"""

import json
import os
import re
import signal
import sys
import time

import openai
import psycopg

CLAIM = "select user_id, job_id, lease_token from recall.claim_jobs('worker.py')"
NEXT = "select recall.next_request(%s, %s, %s, %s::jsonb, %s::jsonb)"
# Three times 90 seconds are less than the lease, which each call of next_request renews.
ENDPOINT = openai.OpenAI(timeout=90, max_retries=2)
WORKER = {"encryption": False, "features": {}} | json.loads(os.environ["PGRECALL_WORKER"])
# Words in an endpoint's refusal, and the feature that it lacks; each is tried once.
REFUSALS = [
    ("max_completion_tokens", {"limit": "max_completion_tokens"}),
    ("temperature", {"temperature": False}),
    ("schema|format|grammar", {"schema_lengths": False}),
    ("schema|format|grammar", {"response_format": "text"}),
]


def ask(request):
    """Send a request to the endpoint; return the answer, or None to get it in another form."""
    answer, started = {"request_id": request["request_id"]}, time.monotonic()
    try:
        if request["type"] == "embed":
            model = request["model"].removeprefix("openai:")
            made = ENDPOINT.embeddings.create(model=model, input=request["inputs"])
            answer["vectors"] = [item.embedding for item in made.data]
        else:
            body = request.keys() - {"type", "request_id", "purpose"}
            made = ENDPOINT.chat.completions.create(**{name: request[name] for name in body})
            said, end = made.choices[0].message, made.choices[0].finish_reason
            answer |= {"content": said.content, "refusal": said.refusal, "finish_reason": end}
        answer |= {"model": made.model, "usage": made.usage and made.usage.to_dict()}
    except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
        return refused(answer, str(error))
    except (openai.OpenAIError, LookupError, AttributeError, TypeError, ValueError) as error:
        # The last four: what came is no completion.
        answer["error"] = {"code": type(error).__name__, "message": str(error), "retryable": True}
    return answer | {"latency_ms": (time.monotonic() - started) * 1000}


def refused(answer, message):
    """Return a refusal as an answer; None when the endpoint lacks a feature, noted in WORKER."""
    if re.search(r"(?i)context.?(length|size|window)|too (long|many)", message):
        return answer | {"error": {"code": "context_length", "message": message}}
    for words, feature in (known for known in REFUSALS if re.search(known[0], message)):
        REFUSALS.remove((words, feature))
        WORKER["features"] |= feature
        return None
    return answer | {"error": {"code": "refused", "message": message, "retryable": False}}


stopping = []
signal.signal(signal.SIGTERM, lambda *_: stopping.append("after the job at hand"))
with psycopg.connect(os.environ["PGRECALL_DSN"], autocommit=True) as db:
    while not stopping:
        job, answer = db.execute(CLAIM).fetchone(), None
        while job:
            [request] = db.execute(NEXT, [*job, json.dumps(WORKER), json.dumps(answer)]).fetchone()
            if request["type"] not in ("chat", "embed"):
                print(request, flush=True)
                break
            answer = ask(request)
        else:
            if "--until-idle" in sys.argv:
                break
            time.sleep(1)
