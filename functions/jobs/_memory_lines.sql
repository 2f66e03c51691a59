-- Return memories as numbered lines of a prompt, each with the day it was observed.
create or replace function recall._memory_lines(
    p_memories  jsonb,
    p_is_sealed boolean
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    return (
        select coalesce(jsonb_agg(jsonb_build_array(
                   format('%s. ', e.place),
                   recall._bound_piece(
                       recall._prompt_piece(e.memory ->> 'content', 4000, p_is_sealed, true),
                       e.memory -> 'memory_id'),
                   format(' (%s)', e.memory ->> 'observed_at')) order by e.place), '[]')
          from jsonb_array_elements(p_memories) with ordinality as e (memory, place));
end;
$function$;

comment on function recall._memory_lines(jsonb, boolean) is
    'Memories as numbered lines of a prompt, each a list of pieces.';
