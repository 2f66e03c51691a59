-- Return how many tokens an answer may have: as many as wanted, within a fourth of the window.
create or replace function recall._answer_room(
    p_work    jsonb,
    p_purpose text,
    p_wanted  integer
)
returns integer
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    return least(p_wanted, recall._chat_window(p_work, p_purpose) / 4);
end;
$function$;

comment on function recall._answer_room(jsonb, text, integer) is
    'Tokens of an answer: as many as wanted, within a fourth of the model''s window.';
