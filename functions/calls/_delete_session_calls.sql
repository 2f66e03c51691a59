-- Delete the call log of one session and return the deleted rows by table.
-- It deletes the session's calls, the calls of its jobs (their bodies quote its messages), their
-- stream events, and the session's traffic with tools.
create or replace function recall._delete_session_calls(
    p_user_id    uuid,
    p_session_id uuid
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_calls  uuid[];
    v_counts jsonb;
begin
    with gone as (
        delete from recall.model_calls as c
         where c.user_id = p_user_id
           and (c.session_id = p_session_id
                or c.job_id in (
                       select j.job_id from recall.jobs as j
                        where j.user_id = p_user_id and j.session_id = p_session_id
                       union all
                       select p.job_id from recall.job_phases as p
                        where p.user_id = p_user_id and p.session_id = p_session_id))
        returning c.call_id
    )
    select coalesce(array_agg(g.call_id), '{}') into v_calls from gone as g;

    with streamed as (
        delete from recall.stream_events as s
         where s.user_id = p_user_id
           and s.call_id = any (v_calls)
        returning 1
    ), traffic as (
        delete from recall.protocol_events as e
         where e.user_id = p_user_id
           and (e.session_id = p_session_id or e.call_id = any (v_calls))
        returning 1
    )
    select jsonb_build_object('model_calls', cardinality(v_calls),
                              'stream_events', (select count(*) from streamed),
                              'protocol_events', (select count(*) from traffic))
      into v_counts;
    return v_counts;
end;
$function$;

comment on function recall._delete_session_calls(uuid, uuid) is
    'Delete the call log of one session; returns the deleted rows by table.';
