-- List what the jobs of all users have spent on models, by day (UTC), newest first.
-- Raises  RC003.
create or replace function recall.list_total_spending(
    p_days integer default 30
)
returns table (
    day             date,
    cost_microcents bigint
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    perform recall._check_limit(p_days, 'p_days');

    return query
    select t.day, sum(t.cost_microcents)::bigint
      from recall.model_spending_totals as t
     where t.day > (clock_timestamp() at time zone 'UTC')::date - least(p_days, 100000)
     group by t.day
     order by t.day desc;
end;
$function$;

comment on function recall.list_total_spending(integer) is
    'Cost of the models that the jobs of all users called, by day (UTC), newest first; a day '
    'without cost has no row. RC003: a bad number of days.';
