-- Return the token limit of an answer: p_wanted, at most a fourth of the context window.
create or replace function recall._answer_room(
    p_work    jsonb,
    p_purpose text,
    p_wanted  integer
)
returns integer
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return least(p_wanted, recall._model_window(p_work, p_purpose) / 4);
end;
$function$;

comment on function recall._answer_room(jsonb, text, integer) is
    'Token limit of an answer: p_wanted, at most a fourth of the model''s context window.';
