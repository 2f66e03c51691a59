// A worker for pgrecall in Node, with pg and openai: a loop around recall.next_request.
//
// The database plans each request and judges each answer: see docs/reference/job-protocol.md.
//
//     cd examples/node && npm ci
//     export PGRECALL_DSN=postgresql://… OPENAI_BASE_URL=https://… OPENAI_API_KEY=…
//     export PGRECALL_WORKER='{"chat_model": "gpt-4o-mini",
//                              "embedding_model": "openai:text-embedding-3-small"}'
//     node worker.js [--until-idle]

import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI, { APIError } from 'openai';
import pg from 'pg';

const CLAIM = "select user_id, job_id, lease_token from recall.claim_jobs('worker.js')";
const NEXT = 'select recall.next_request($1, $2, $3, $4, $5) as request';
// Three times 90 seconds are less than the lease, which each call of next_request renews.
const endpoint = new OpenAI({ timeout: 90_000, maxRetries: 2 });
const worker = { encryption: false, features: {}, ...JSON.parse(process.env.PGRECALL_WORKER) };
// Words in an endpoint's refusal, and the feature that it lacks; each is tried once.
const refusals = [
  [/max_completion_tokens/, { limit: 'max_completion_tokens' }],
  [/temperature/, { temperature: false }],
  [/schema|format|grammar/, { schema_lengths: false }],
  [/schema|format|grammar/, { response_format: 'text' }],
];

/** Send a request to the endpoint; return the answer, or null to get it in another form. */
async function ask({ type, request_id, purpose, ...body }) {
  const started = performance.now();
  const answer = { request_id };
  try {
    let made;
    if (type === 'embed') {
      const model = body.model.replace(/^openai:/, '');
      made = await endpoint.embeddings.create(
        { model, input: body.inputs, encoding_format: 'float' },
      );
      answer.vectors = made.data.map((item) => item.embedding);
    } else {
      made = await endpoint.chat.completions.create(body);
      const [choice] = made.choices;
      answer.content = choice.message.content;
      answer.refusal = choice.message.refusal;
      answer.finish_reason = choice.finish_reason;
    }
    answer.model = made.model;
    answer.usage = made.usage;
  } catch (error) {
    if (error instanceof APIError && [400, 413, 422].includes(error.status)) {
      return refused(answer, error.message);
    }
    // No connection, or what came is no completion.
    answer.error = { code: error.constructor.name, message: error.message, retryable: true };
  }
  return { ...answer, latency_ms: performance.now() - started };
}

/** Return a refusal as an answer; null when the endpoint lacks a feature, noted in worker. */
function refused(answer, message) {
  if (/context.?(length|size|window)|too (long|many)/i.test(message)) {
    return { ...answer, error: { code: 'context_length', message } };
  }
  const place = refusals.findIndex(([words]) => words.test(message));
  if (place < 0) return { ...answer, error: { code: 'refused', message, retryable: false } };
  Object.assign(worker.features, refusals.splice(place, 1)[0][1]);
  return null;
}

let stopping = false;
process.on('SIGTERM', () => { stopping = true; }); // after the job at hand
const db = new pg.Client({ connectionString: process.env.PGRECALL_DSN });
await db.connect();
while (!stopping) {
  const [job] = (await db.query(CLAIM)).rows;
  if (!job && process.argv.includes('--until-idle')) break;
  if (!job) await sleep(1000);
  for (let answer = null; job; ) {
    const now = [job.user_id, job.job_id, job.lease_token, worker, answer];
    const [{ request }] = (await db.query(NEXT, now)).rows;
    if (!['chat', 'embed'].includes(request.type)) {
      console.log(JSON.stringify(request));
      break;
    }
    answer = await ask(request);
  }
}
await db.end();
