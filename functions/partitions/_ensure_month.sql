-- Create the month (UTC) of a time below a range-partitioned table; return whether it was missing.
-- p_refresh is for an insert that found no month while another transaction created it.
-- A connection that first reads the partition list at that moment may cache one without it. So wait
-- for that transaction and invalidate the list with an ALTER that changes nothing.
-- Locks   with p_refresh, or when the month is missing: the parent against partition changes.
create or replace function recall._ensure_month(
    p_parent  regclass,
    p_at      timestamptz,
    p_refresh boolean default false
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $function$
declare
    v_from timestamptz := date_trunc('month', p_at, 'UTC');
    v_to   timestamptz := date_add(v_from, interval '1 month', 'UTC');
begin
    if p_refresh then
        execute format('alter table only %s alter column created_at set statistics -1', p_parent);
    end if;
    if exists (
        select from recall._month_leaves(p_parent) as l
         where l.lower_bound <= p_at and p_at < l.upper_bound
    ) then
        return false;
    end if;

    -- Wait for a transaction that creates it, then check again.
    execute format('lock table only %s in share update exclusive mode', p_parent);
    if exists (
        select from recall._month_leaves(p_parent) as l
         where l.lower_bound <= p_at and p_at < l.upper_bound
    ) then
        return false;
    end if;

    begin
        perform recall._create_leaf(
            p_parent,
            (select c.relname from pg_catalog.pg_class as c where c.oid = p_parent)
                || to_char(v_from, '"_y"YYYY"m"MM'),
            v_from, v_to);
    exception
        -- A repeatable read does not see a month that another transaction has created meanwhile.
        when invalid_object_definition then
            return false;
    end;
    return true;
end;
$function$;

comment on function recall._ensure_month(regclass, timestamptz, boolean) is
    'Create the monthly partition (UTC) of a time if it is missing.';
