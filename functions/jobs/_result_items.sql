-- Count the items in a job's result.
create or replace function recall._result_items(
    p_result jsonb
)
returns integer
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_lists text[] := array['candidates', 'episodes', 'merges', 'texts'];
begin
    if not p_result ?| v_lists then
        v_lists := array['message_ids'];
    end if;
    return (
        select count(*)::integer + (p_result ->> 'content' <> '' is true)::integer
          from jsonb_each(p_result) as e
         cross join lateral jsonb_path_query(e.value, '$[*] ? (@ != null)')
         where e.key = any (v_lists));
end;
$function$;

comment on function recall._result_items(jsonb) is
    'Number of candidates, episodes, merges, vectors or summaries in a job''s result.';
