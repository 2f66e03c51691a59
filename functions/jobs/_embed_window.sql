-- Return how many tokens of a text the worker's embedder reads.
create or replace function recall._embed_window(
    p_work jsonb
)
returns integer
language sql
immutable
parallel safe
return coalesce((p_work #>> '{windows,embed}')::integer,
                (p_work #>> '{worker,embed_tokens}')::integer,
                8191);

comment on function recall._embed_window(jsonb) is
    'Tokens of a text that a worker''s embedder reads; 8191 when neither endpoint nor worker says.';
