-- Bound the wait for each lock until the caller restores lock_timeout; return its value before.
-- An erasure blocks the user's other writers while it waits. So it waits for nine seconds, or for
-- the caller's lock_timeout if that is shorter. An error restores the setting by itself.
create or replace function recall._bound_erasure_wait()
returns text
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_before constant text     := current_setting('lock_timeout');
    v_most   constant interval := least(nullif(v_before::interval, interval '0'), interval '9 s');
begin
    perform set_config('lock_timeout', (extract(epoch from v_most) * 1000)::integer::text, true);
    return v_before;
end;
$function$;

comment on function recall._bound_erasure_wait() is
    'Set lock_timeout for an erasure, and return its value before.';
