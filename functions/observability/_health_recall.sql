-- Report the recall of approximate searches that sample_recall measured.
-- The mean of fewer than 20 samples is not judged.
create or replace function recall._health_recall()
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
begin
    -- The table is UNLOGGED, so a standby cannot read it.
    if pg_is_in_recovery() then
        return query
        select 'recall', 'ok', 'the primary measures the recall of approximate searches',
               null::text;
        return;
    end if;

    return query
    select 'recall', case when bool_or(k.is_low) then 'warn' else 'ok' end,
           coalesce('approximate searches find of the ten nearest: '
                    || string_agg(format('%s %s %% (%s samples)', k.kind,
                                         round(100 * k.share::numeric, 1), k.samples), ', '
                                  order by k.kind),
                    'no approximate search was measured in the last week'),
           case when bool_or(k.is_low)
                then format('select recall.configure(''{"rerank_candidates": %s}''); or raise '
                            'exact_search_limit, where the exact scan is quick enough. For the '
                            'floor see settings.recall_floor.',
                            least(100000, greatest(320, 2 * max(k.rerank_candidates)))) end
      from (
            select r.kind, avg(r.share) as share, count(*) as samples, s.rerank_candidates,
                   avg(r.share) < s.recall_floor and count(*) >= 20 as is_low
              from recall.recall_samples as r
             cross join recall.settings as s
             group by r.kind, s.recall_floor, s.rerank_candidates
           ) as k;
end;
$function$;

comment on function recall._health_recall() is
    'Health of approximate searches: the share of the nearest vectors that they find.';
