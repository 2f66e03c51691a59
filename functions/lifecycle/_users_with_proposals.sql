-- Return flagged users between two ids, in key order (NULL: no bound).
-- Two statements, so that each gets its own plan by the primary key.
create or replace function recall._users_with_proposals(
    p_kind  text,
    p_after uuid,
    p_until uuid,
    p_limit integer
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set max_parallel_workers_per_gather = 0
as $function$
declare
    v_after uuid := coalesce(p_after, '00000000-0000-0000-0000-000000000000');
    v_until uuid := coalesce(p_until, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
    if p_kind = 'merge' then
        return array(
            select u.user_id
              from recall.users as u
             where u.merge_due
               and u.user_id >  v_after
               and u.user_id <= v_until
             order by u.user_id
             limit p_limit);
    end if;
    return array(
        select u.user_id
          from recall.users as u
         where u.pattern_due
           and u.user_id >  v_after
           and u.user_id <= v_until
         order by u.user_id
         limit p_limit);
end;
$function$;

comment on function recall._users_with_proposals(text, uuid, uuid, integer) is
    'Users with new memories since the last search for merges or patterns, between two ids.';
