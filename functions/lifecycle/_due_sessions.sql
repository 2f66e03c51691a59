-- Find open sessions past their expiry.
-- The settings below force the index, as in recall._due_memories.
create or replace function recall._due_sessions(
    p_until timestamptz,
    p_limit bigint
)
returns table (
    user_id    uuid,
    session_id uuid
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $function$
begin
    return query
    select s.user_id, s.session_id
      from recall.sessions as s
     where s.status in ('active', 'paused')
       and s.expires_at <= p_until
     order by s.expires_at
     limit p_limit;
end;
$function$;

comment on function recall._due_sessions(timestamptz, bigint) is 'Open sessions past their expiry.';
