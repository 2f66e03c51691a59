-- Return the model that a worker offers for a purpose; NULL when it offers none.
create or replace function recall._chat_model(
    p_work    jsonb,
    p_purpose text
)
returns text
language sql
immutable
parallel safe
return coalesce(p_work #>> array['worker', 'models', p_purpose, 'model'],
                p_work #>> '{worker,chat_model}');

comment on function recall._chat_model(jsonb, text) is
    'Chat model that a worker offers for a purpose; NULL when it offers none.';
