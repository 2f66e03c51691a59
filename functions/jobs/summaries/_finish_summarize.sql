-- Store a session's new rolling summary; return true.
-- A result without content has no effect: nobody has said anything since the last summary.
-- Locks   the session.
create or replace function recall._finish_summarize(
    p_job    recall.jobs,
    p_result jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_result ? 'content' then
        perform recall._write_summary(
            recall._lock_session(p_job.user_id, p_job.session_id), 'rolling', 1,
            (p_result ->> 'through_turn')::integer, p_result ->> 'content',
            p_job.vectors[1], p_made_by => p_job.work #> '{made,made_by}');
    end if;
    return true;
end;
$function$;

comment on function recall._finish_summarize(recall.jobs, jsonb) is
    'Store a session''s new rolling summary.';
