-- Return ln(1 + the largest access count of the user's memories), which scales their frequency.
create or replace function recall._largest_frequency(
    p_user_id uuid
)
returns double precision
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    return (
        select ln(1 + max(m.access_count)::double precision)
          from recall.memory_store as m
         where m.user_id = p_user_id
           and m.ended_at is null);
end;
$function$;

comment on function recall._largest_frequency(uuid) is
    'ln(1 + the largest access count), of which the frequency of a memory is a share.';
