-- List active memories whose review is due, longest due first.
create or replace function recall.memories_to_review(
    p_user_id uuid
)
returns setof recall.memory_row
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
as $function$
begin
    perform recall._check_user(p_user_id);

    return query
    select c.*
      from recall.memory_store as m
     cross join lateral recall._memory_columns(row(m.*)) as c
     where m.user_id = p_user_id
       and m.ended_at is null
       and (m.expires_at is null or m.expires_at > now())
       and m.review_at <= now()
     order by m.review_at, m.memory_id;
end;
$function$;

comment on function recall.memories_to_review(uuid) is
    'Active memories whose review_at has come, longest due first.';
