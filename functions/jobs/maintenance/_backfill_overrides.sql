-- Bound the intervals among a user's overrides as the settings, and expiries that are infinite.
-- Release 0.1.0 took intervals that overflow in a sum with a time. It also took infinite lifetimes,
-- which gave rows a time that no driver can read. It counts users.
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
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_changes constant jsonb := (
        select recall._bounded_intervals(u.overrides)
          from recall.users as u
         where u.user_id = p_user_id);
begin
    if v_changes <> '{}' then
        update recall.users as u
           set overrides = u.overrides || v_changes
         where u.user_id = p_user_id;
    end if;
    update recall.memory_store as m
       set expires_at = least(m.created_at, now()) + interval '1000 years'
     where m.user_id    = p_user_id
       and m.expires_at = 'infinity';
    o_done := coalesce(v_changes <> '{}', false)::integer;
end;
$function$;

comment on function recall._backfill_overrides(uuid, jsonb, integer) is
    'Bound the intervals among one user''s overrides, and infinite expiries, to 1000 years.';
