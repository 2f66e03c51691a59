-- Enqueue pattern jobs for one user, for sets with an episode that was never proposed.
-- At most settings.pattern_jobs_per_day in 24 hours. The end of a job flags the user again, so that
-- the other sets follow. The caller has locked the user's row.
create or replace function recall._propose_patterns(
    p_user_id  uuid,
    p_limit    integer,
    p_now      timestamptz,
    p_settings recall.settings
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
declare
    v_jobs     integer := 0;
    v_left     integer;
    v_episodes uuid[];
begin
    select p_settings.pattern_jobs_per_day - count(distinct e.job_id)
      into v_left
      from unnest(recall._recent_episodes(p_user_id, p_now, '{}', p_settings)) as i (id)
      join recall.memory_events as e
        on e.user_id = p_user_id and e.memory_id = i.id
     where e.event = 'proposed'
       and e.at > p_now - interval '1 day'
       and e.at <= p_now
       and e.detail @> '{"for": "pattern"}';
    v_left := least(v_left, p_limit);
    if v_left <= 0 then
        return 0;
    end if;

    for v_episodes in
        select s.memory_ids
          from recall._similar_episodes(
                   p_user_id, p_now, recall._open_proposals(p_user_id, 'pattern'), p_settings) as s
         where exists (
                   select
                     from unnest(s.memory_ids) as i (id)
                    where not exists (
                              select from recall.memory_events as e
                               where e.user_id   = p_user_id
                                 and e.memory_id = i.id
                                 and e.event     = 'proposed'
                                 and e.detail @> '{"for": "pattern"}'))
    loop
        exit when v_jobs >= v_left;
        if recall._propose_job(p_user_id, 'pattern', v_episodes[1]::text, v_episodes, '{}',
                               '{"for": "pattern"}') then
            v_jobs := v_jobs + 1;
        end if;
    end loop;
    return v_jobs;
end;
$function$;

comment on function recall._propose_patterns(uuid, integer, timestamptz, recall.settings) is
    'Enqueue pattern jobs for one user. Returns how many.';
