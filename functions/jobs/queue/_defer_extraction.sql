-- Defer an extraction while its conversation goes on; return whether it was deferred.
-- It waits while the session is active, has fewer than extract_after_turns new user turns, and its
-- last message is younger than extract_after_idle. Then it no longer waits for a retry or a cost
-- limit, so last_error is cleared.
create or replace function recall._defer_extraction(
    p_job recall.jobs,
    p_now timestamptz
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings;
    v_idle_at  timestamptz;
begin
    if p_job.kind <> 'extract' or p_job.payload ->> 'mode' = 'verbatim' then
        return false;
    end if;

    v_settings := recall._settings(p_job.user_id);
    select s.last_message_at + v_settings.extract_after_idle
      into v_idle_at
      from recall.sessions as s
     where s.user_id    = p_job.user_id
       and s.session_id = p_job.session_id
       and s.status     = 'active'
       and s.user_turn_count - s.extracted_user_turns < v_settings.extract_after_turns;

    -- A session without messages has no idle time, and nothing to wait for.
    if not found or v_idle_at is null or v_idle_at <= p_now then
        return false;
    end if;

    update recall.jobs as j
       set run_at     = least(v_idle_at, '9999-12-31 00:00Z'),
           last_error = null
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    return true;
end;
$function$;

comment on function recall._defer_extraction(recall.jobs, timestamptz) is
    'Defer an extraction to the idle pause of a conversation that goes on; true if it was '
    'deferred.';
