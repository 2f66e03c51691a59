-- End a leased job whose mode is none by now, or return it to the queue in another mode.
-- The job loses what its steps have made in the old mode. In the queue, a worker for the
-- new mode claims the job, at the time of that mode. The attempt is not counted.
create or replace function recall._follow_mode(
    p_job  recall.jobs,
    p_mode text
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_mode = 'none' then
        delete from recall.jobs as j
         where j.user_id = p_job.user_id
           and j.job_id  = p_job.job_id;
        return jsonb_build_object('type', 'done', 'outcome', jsonb_build_object(
            'kind', p_job.kind, 'items', 0));
    end if;

    update recall.jobs as j
       set payload = j.payload || jsonb_build_object('mode', p_mode)
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    return recall._defer_job(p_job, '{}', format('the extraction is %s now', p_mode),
                             clock_timestamp());
end;
$function$;

comment on function recall._follow_mode(recall.jobs, text) is
    'End a leased job whose mode is none by now, or return it to the queue in another mode; '
    'returns what next_request returns.';
