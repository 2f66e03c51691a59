-- Return a user's active goals that are not achieved.
create or replace function recall._open_goals(
    p_user_id uuid
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
begin
    return array(
        select m.memory_id
          from recall.memory_store as m
         where m.user_id = p_user_id
           and m.ended_at is null
           and m.kind = 'goal'
           and not m.metadata ? 'achieved_at');
end;
$function$;

comment on function recall._open_goals(uuid) is 'A user''s active goals that are not achieved.';
