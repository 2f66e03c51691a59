-- List the summaries of a session, newest first: rolling ones and compactions.
-- Raises  RC001, RC003.
create or replace function recall.list_summaries(
    p_user_id    uuid,
    p_session_id uuid,
    p_limit      integer default 50,
    p_before_id  uuid    default null
)
returns table (
    summary_id    uuid,
    session_id    uuid,
    kind          text,
    from_turn     integer,
    to_turn       integer,
    summary       text,
    token_count   integer,
    source_tokens bigint,
    created_at    timestamptz,
    ended_at      timestamptz,
    made_by       jsonb
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
    if not recall._has_session(p_user_id, p_session_id) then
        perform recall._unknown_session(p_session_id);
    end if;

    return query
    select s.summary_id, s.session_id, s.kind, s.from_turn, s.to_turn, s.content, s.token_count,
           s.source_tokens, s.created_at, s.ended_at, s.made_by
      from recall.session_summaries as s
     where s.user_id    = p_user_id
       and s.session_id = p_session_id
       and (p_before_id is null or s.summary_id < p_before_id)
     order by s.summary_id desc
     limit p_limit;
end;
$function$;

comment on function recall.list_summaries(uuid, uuid, integer, uuid) is
    'Summaries of a session, newest first, with the turns that each covers; one of each kind is '
    'live, the others have ended. The next page starts after p_before_id. RC001: the session does '
    'not exist. RC003: a bad limit.';
