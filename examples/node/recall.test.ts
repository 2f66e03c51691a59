// Tests of recall.ts: npm test. PGRECALL_DSN names a database with the schema, and OPENAI_BASE_URL
// an endpoint for the worker; what its model finds is in EXPECTED_MEMORY.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { RecallError } from './client.ts';
import { Recall } from './recall.ts';

const pool = new pg.Pool({ connectionString: process.env.PGRECALL_DSN });
const recall = new Recall(pool);
let user_id: string;
let session_id: string;

before(async () => {
  user_id = await recall.ensure_user({ external_id: `node-${randomUUID()}` });
  session_id = await recall.open_session({ user_id, model_id: 'gpt-4o-mini' });
});

after(() => pool.end());

const said = (content: string) => [
  { role: 'user', content },
  { role: 'assistant', content: 'I see.' },
];

test('an append with a request id is stored once, and the context has it', async () => {
  const request = { user_id, session_id, messages: said('Hi'), request_id: randomUUID() };
  const first = await recall.append_messages(request);
  const second = await recall.append_messages(request);
  assert.deepEqual(first.map((row) => [row.turn_index, row.inserted]), [[1, true], [2, true]]);
  assert.deepEqual(second.map((row) => row.inserted), [false, false]);
  const asked = 'Which tea?';
  const options = { current_message: asked };
  const context = await recall.compile_context({ user_id, session_id, query: asked, options });
  assert.equal(context.messages.at(-1).content, asked);
  assert.ok(JSON.stringify(context.messages).includes('I see.'));
});

test('a search finds what was remembered, with types as declared', async () => {
  const [stored] = await recall.remember({
    user_id,
    content: 'User likes green tea.',
    kind: 'preference',
    tags: ['drinks', 'a "quoted", tag'],
    importance: 0.75,
    observed_at: new Date('2020-01-02T03:04:05Z'),
    metadata: { nested: ['ä', null] },
  });
  assert.equal(stored!.outcome, 'added');
  const [hit] = await recall.search({ user_id, query: 'green tea', limit: 1 });
  assert.equal(hit!.memory_id, stored!.memory_id);
  assert.equal(typeof hit!.score, 'number');
  const [memory] = await recall.get_memory({ user_id, memory_id: stored!.memory_id });
  assert.deepEqual(memory!.tags, ['drinks', 'a "quoted", tag']);
  assert.equal(memory!.observed_at!.toISOString(), '2020-01-02T03:04:05.000Z');
  assert.deepEqual(memory!.metadata, { nested: ['ä', null] });
  assert.equal(memory!.slot, null);
});

test('a bigint is exact', async () => {
  const cost_microcents = 9_007_199_254_740_993n; // 2^53 + 1
  const call = await recall.record_model_call({ user_id, model: 'm', cost_microcents });
  const [found] = await recall.list_model_calls({ user_id, call_id: call });
  assert.equal(found!.cost_microcents, cost_microcents);
});

test('vectors are sent', async () => {
  const settings = await recall.get_settings();
  const embedding = Array.from({ length: settings.embedding_dimensions }, (_, n) => (n ? 0 : 0.5));
  const [stored] = await recall.remember({ user_id, content: 'User has a boat.', embedding });
  const [hit] = await recall.search({ user_id, query: 'ship', query_embedding: embedding, limit: 1 });
  assert.equal(hit!.memory_id, stored!.memory_id);
  assert.ok(hit!.similarity! > 0.99);
});

test('an error has the SQLSTATE and the hint', async () => {
  const refused = await recall
    .append_messages({ user_id, session_id: randomUUID(), messages: said('Hi') })
    .catch((error: unknown) => error);
  assert.ok(refused instanceof RecallError);
  assert.equal(refused.sqlstate, 'RC001');
  const malformed = await recall.remember({ user_id, content: 'x', kind: 'none' }).catch((e) => e);
  assert.equal(malformed.sqlstate, 'RC003');
  assert.ok(malformed.hint.length > 0);
  assert.ok(malformed.message.includes(malformed.hint));
});

test('a parameter that no function has is refused', async () => {
  const given = { external_id: 'x', 'external_id => 1); --': 1 };
  await assert.rejects(recall.ensure_user(given), TypeError);
});

test('calls join the transaction of a connection', async () => {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await new Recall(client).remember({ user_id, content: 'User has a snail.' });
    await client.query('rollback');
  } finally {
    client.release();
  }
  const found = await recall.list_memories({ user_id });
  assert.ok(!found.some((memory) => memory.content.includes('snail')));
});

test('the worker extracts memories', async () => {
  await recall.append_messages({ user_id, session_id, messages: said('I switched to SQLite') });
  await recall.close_session({ user_id, session_id });
  const worker = fileURLToPath(new URL('../worker.js', import.meta.url));
  execFileSync(process.execPath, [worker, '--until-idle'], { timeout: 60_000 });
  const found = await recall.list_memories({ user_id });
  assert.ok(found.some((memory) => memory.content === process.env.EXPECTED_MEMORY));
});
