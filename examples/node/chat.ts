// A chat in the terminal that remembers, with its worker (worker.js) beside it.
//
//     cd examples/node && npm ci
//     export PGRECALL_DSN=postgresql://… OPENAI_BASE_URL=https://… OPENAI_API_KEY=…
//     npm run chat -- ada [SESSION]
//
// A line is a message; the end of the input ends the chat. The session goes on when its id is given.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import pg from 'pg';
import { Recall } from './recall.ts';

const model = process.env.CHAT_MODEL ?? 'gpt-4o-mini';
const embeddingModel = process.env.EMBEDDING_MODEL ?? 'text-embedding-3-small';
const [name, sessionId] = process.argv.slice(2);
if (!name) throw new Error('usage: chat.ts USER [SESSION]');

const endpoint = new OpenAI({ timeout: 90_000 });
const pool = new pg.Pool({ connectionString: process.env.PGRECALL_DSN });
const recall = new Recall(pool);

// this file may run from build/
const folder = fileURLToPath(new URL('.', import.meta.url)).replace(/build\/$/, '');
const worker = spawn(process.execPath, [`${folder}worker.js`], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {
    ...process.env,
    PGRECALL_WORKER: JSON.stringify({
      chat_model: model,
      embedding_model: `openai:${embeddingModel}`,
    }),
  },
});

const user_id = await recall.ensure_user({ external_id: name });
const session_id = await recall.open_session({
  user_id,
  model_id: model,
  system_prompt: 'You are a helpful assistant.',
  session_id: sessionId ?? null,
});
console.error(`session ${session_id}`);

for await (const text of createInterface({ input: process.stdin })) {
  if (!text.trim()) continue;
  const made = await endpoint.embeddings.create({
    model: embeddingModel,
    input: text,
    encoding_format: 'float',
  });
  const context = await recall.compile_context({
    user_id,
    session_id,
    query: text,
    query_embedding: made.data[0]!.embedding,
    options: { current_message: text }, // it ends the context, and is appended with the reply
  });
  const reply = await endpoint.chat.completions.create({ model, messages: context.messages });
  const { role, content } = reply.choices[0]!.message;
  await recall.append_messages({
    user_id,
    session_id,
    messages: [
      { role: 'user', content: text },
      { role, content },
    ],
    usage: reply.usage,
    request_id: randomUUID(), // a call that is sent again appends once
  });
  console.log(content);
}

await recall.close_session({ user_id, session_id }); // the worker extracts the rest when it runs next
worker.kill('SIGTERM'); // after the job at hand
await pool.end();
