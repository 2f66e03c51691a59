-- Delete items past their lifetime.
-- Readers ignore expired items before that. The call skips locked users, and `more` reports their
-- items.
-- Locks   each user whose items expire, skipping locked ones.
create or replace function recall.expire_items(
    p_limit integer     default 1000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set jit = off
as $function$
declare
    v_until   timestamptz := coalesce(p_as_of, clock_timestamp());
    v_user_id uuid;
    v_gone    record;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);

    done := 0;
    for v_user_id in
        select distinct d.user_id
          from (
                select i.user_id
                  from recall.items as i
                 where i.expires_at <= v_until
                 order by i.expires_at
                 limit p_limit
               ) as d
         order by d.user_id
    loop
        perform from recall.users as u
          where u.user_id = v_user_id
            for no key update skip locked;
        continue when not found;
        with due as (
            select i.namespace, i.key
              from recall.items as i
             where i.user_id     = v_user_id
               and i.expires_at <= v_until
             order by i.expires_at
             limit p_limit - done
        ), items as (
            delete from recall.items as i
             using due as d
             where i.user_id   = v_user_id
               and i.namespace = d.namespace
               and i.key       = d.key
            returning i.byte_count
        ), vectors as (
            delete from recall.item_vectors as v
             using due as d
             where v.user_id   = v_user_id
               and v.namespace = d.namespace
               and v.key       = d.key
        )
        select count(*) as items, coalesce(sum(i.byte_count), 0) as bytes
          into v_gone
          from items as i;
        perform recall._count_items(v_user_id, -v_gone.items, -v_gone.bytes, null);
        done := done + v_gone.items;
    end loop;
    more := exists (select 1 from recall.items as i where i.expires_at <= v_until);
    return next;
end;
$function$;

comment on function recall.expire_items(integer, timestamptz) is
    'Delete items past their lifetime, one batch a call. done counts items; more is true while '
    'some remain.';
