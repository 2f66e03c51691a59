-- Drop one month; return whether it is gone, or null when another transaction has locked it.
-- A month that is still needed stays until the next run (history: _retire_turns has not retired its
-- turns). So does a month with a reader that outlasts the caller's lock_timeout. The partition for
-- everything before is created again.
-- Locks   the partition against writers, then for a moment the parent exclusively.
create or replace function recall._drop_month(
    p_parent      regclass,
    p_leaf        regclass,
    p_lower_bound timestamptz,
    p_upper_bound timestamptz,
    p_now         timestamptz
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_name constant text := (
        select c.relname from pg_catalog.pg_class as c where c.oid = p_leaf);
    v_drop boolean;
begin
    select s.drop_expired_history
           or pg_partition_root(p_parent) <> 'recall.conversation_history'::regclass
      into v_drop
      from recall.settings as s;

    execute format('lock table only %s in share row exclusive mode', p_leaf);
    if pg_partition_root(p_parent) = 'recall.conversation_history'::regclass
       and exists (
               select from recall._month_sessions(p_leaf, p_upper_bound, p_now) as s
                where not s.is_retired) then
        raise exception using errcode = 'RC999', message = 'some of it is still needed';
    end if;

    execute format('alter table %s detach partition %s', p_parent, p_leaf);
    if v_drop then
        execute format('drop table recall.%I', v_name);
    else
        execute format('comment on table recall.%I is %L', v_name,
                       'Messages past their retention, detached: the administrator''s to keep, '
                       'move or drop.');
    end if;
    if p_lower_bound = '-infinity' then
        perform recall._create_leaf(p_parent, v_name, null, p_upper_bound);
    end if;
    return true;
exception
    when lock_not_available or deadlock_detected then
        return null;
    when sqlstate 'RC999' then
        return false;
end;
$function$;

comment on function recall._drop_month(regclass, regclass, timestamptz, timestamptz, timestamptz)
    is 'Detach and drop one month, unless something in it is needed or being read.';
