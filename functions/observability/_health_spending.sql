-- Report spending and prices.
create or replace function recall._health_spending()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now     timestamptz := clock_timestamp();
    v_day     date        := v_now at time zone 'UTC';
    v_limit   bigint;
    v_spent   bigint;
    v_waiting bigint;
    v_models  text;
begin
    select s.daily_cost_limit_microcents into v_limit from recall.settings as s;
    select coalesce(sum(t.cost_microcents), 0)
      into v_spent
      from recall.model_spending_totals as t
     where t.day = v_day;
    select count(*)
      into v_waiting
      from recall.jobs as j
     where j.state = 'ready'
       and j.last_error like 'RC005 %'
       and j.run_at > v_now;
    return query
    select 'spending', case when v_spent >= v_limit or v_waiting > 0 then 'warn' else 'ok' end,
           format('jobs have spent %s micro-cents on models today (UTC), the limit is %s; '
                  '%s jobs wait because of a limit',
                  v_spent, coalesce(v_limit::text, 'none'), v_waiting),
           case when v_spent >= v_limit
                then 'They go on after midnight (UTC), or raise the limit: select recall.configure('
                     '''{"daily_cost_limit_microcents": …}'');'
                when v_waiting > 0
                then 'They go on after midnight (UTC), or raise the limit: '
                     'select recall.configure_user(user_id, '
                     '''{"daily_user_cost_limit_microcents": …}'');' end;

    select string_agg(distinct coalesce(p.model_id, 'a span that names none'), ', ')
      into v_models
      from recall.job_phases as p
     where p.cost_microcents is null
       and p.created_at > v_now - interval '1 day';
    return query
    select 'prices', case when v_models is null then 'ok' else 'warn' end,
           coalesce('models without a price, whose calls count as free: ' || v_models,
                    'every model that was called in the last day has a price'),
           case when v_models is not null
                then 'select recall.register_model(…) with its prices, or 0 when it is free.' end;
end;
$function$;

comment on function recall._health_spending() is
    'Health of spending: today''s cost against its limit, and models without a price.';
