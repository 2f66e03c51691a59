-- Bound the intervals among a user's overrides as the settings.
-- Release 0.1.0 took intervals that overflow in a sum with a time. It counts users.
-- Locks   none: the caller has locked the user.
create or replace function recall._backfill_overrides(
    p_user_id      uuid,
    p_position     jsonb,
    p_limit        integer,
    out o_done     integer,
    out o_position jsonb
)
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_overrides constant jsonb := (
        select u.overrides from recall.users as u where u.user_id = p_user_id);
    v_changes jsonb;
begin
    select jsonb_object_agg(a.attname, '1000 years')
      into v_changes
      from pg_catalog.pg_constraint as c
      join pg_catalog.pg_attribute as a
        on a.attrelid = c.conrelid
       and a.attnum   = any (c.conkey)
     cross join lateral (
            select (v_overrides ->> a.attname::text)::interval
           ) as o (override)
     where c.conrelid = 'recall.settings'::regclass
       and c.conname  = 'settings_intervals_check'
       and o.override > interval '1000 years'
       and o.override < interval 'infinity';
    if v_changes is not null then
        update recall.users as u
           set overrides = u.overrides || v_changes
         where u.user_id = p_user_id;
    end if;
    o_done := (v_changes is not null)::integer;
end;
$function$;

comment on function recall._backfill_overrides(uuid, jsonb, integer) is
    'Bound the intervals among one user''s overrides to 1000 years.';
