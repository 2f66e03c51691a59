-- recall._finish_summarize(job, result) -> done? (false: the world moved)
-- A result without content is done without effect when nothing was said since the last summary.
-- Locks   the session.
-- Raises  RC003.
create or replace function recall._finish_summarize(
    p_job    recall.jobs,
    p_result jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_through integer;
    v_session recall.sessions;
begin
    perform recall._check_keys(
        p_result, '{content,token_count,embedding,embedding_model,through_turn}', 'p_result');
    v_through := recall._through_turn(p_result);
    v_session := recall._take_session(p_job.user_id, p_job.session_id);
    if v_through > v_session.turn_count then
        return false;
    end if;
    if v_through = 0
       or btrim(coalesce(p_result ->> 'content', '')) = ''
          and recall._turns_json(v_session, recall._summarized_through(v_session) + 1,
                                 v_through) = '[]' then
        return true;
    end if;
    perform recall._write_summary(v_session, 'rolling', 1, v_through, p_result,
                                  p_made_by => p_job.work #> '{made,made_by}');
    return true;
end;
$function$;

comment on function recall._finish_summarize(recall.jobs, jsonb) is
    'Store a session''s new rolling summary.';
