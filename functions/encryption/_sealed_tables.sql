-- List the tables with ciphertexts, their columns, and when they are exchanged, in lock order.
-- Compared values (slots, tags, tasks, the text hash of active memories) change for all rows at
-- once (is_late). Otherwise equal values would differ meanwhile. The audit is missing, because it
-- is not rewritten.
create or replace function recall._sealed_tables()
returns table (
    place   integer,
    name    text,
    keys    text[],
    columns text[],
    is_late text
)
language sql
immutable
parallel safe
begin atomic
    select *
      from (values
               (1, 'sessions', '{session_id}'::text[],
                '{title,metadata,system_prompt}'::text[], 'false'),
               (2, 'session_summaries', '{session_id,summary_id}', '{content}', 'false'),
               (3, 'conversation_history', '{session_id,turn_index,created_at}',
                '{content,content_parts,name,tool_calls,metadata}', 'false'),
               (4, 'message_annotations', '{session_id,turn_index,annotation_id}', '{patch}',
                'false'),
               (5, 'memory_store', '{memory_id}', '{content,slot,tags,metadata}',
                't.ended_at is null'),
               (6, 'jobs', '{job_id}', '{payload,dedupe_key,last_error}', 'false'),
               (7, 'model_calls', '{call_id,created_at}', '{error,metadata}', 'false'),
               (8, 'items', '{namespace,key}', '{value}', 'false'),
               (9, 'working_memory', '{session_id,task_id,key}', '{task_id,key,value}', 'true')
           ) as t (place, name, keys, columns, is_late);
end;

comment on function recall._sealed_tables() is
    'The tables with texts of encrypted users: key, text columns, which rows come last.';
