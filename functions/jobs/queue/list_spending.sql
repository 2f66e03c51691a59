-- List what the jobs of a user have spent on models, by day (UTC), newest first.
-- A day without spending has no row. Days are kept as long as purge_expired keeps them.
-- Raises  RC003.
create or replace function recall.list_spending(
    p_user_id uuid,
    p_days    integer default 30
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
    perform recall._check_user(p_user_id);
    perform recall._check_limit(p_days, 'p_days');

    return query
    select m.day, m.cost_microcents
      from recall.model_spending as m
     where m.user_id = p_user_id
       and m.day     > (clock_timestamp() at time zone 'UTC')::date - least(p_days, 100000)
     order by m.day desc;
end;
$function$;

comment on function recall.list_spending(uuid, integer) is
    'Cost of the models that the user''s jobs called, by day (UTC), newest first; a day without '
    'cost has no row. RC003: a bad number of days.';
