-- recall.job_input(user, job, token) -> everything the step needs, in one read
-- extract (verbatim): mode, candidates, from_turn, through_turn
-- extract (llm): mode, messages, summary, observation_date, kinds, profile, max_facts, from_turn,
--   through_turn
-- embed: model, messages, memories, through_turn
-- summarize: summary, messages, chat_model, from_turn, through_turn
-- compact: summary, messages, chat_model, from_turn, through_turn, retracted, target_tokens
-- merge: tag, memory_kind, memories
-- pattern: episodes, pattern
-- Raises  RC001 no such job under this lease, RC003 a payload that is none.
create or replace function recall.job_input(
    p_user_id     uuid,
    p_job_id      uuid,
    p_lease_token uuid
)
returns jsonb
language plpgsql
stable
parallel unsafe
security definer
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_job recall.jobs;
begin
    perform recall._check_user(p_user_id);

    select j.*
      into v_job
      from recall.jobs as j
     where j.user_id     = p_user_id
       and j.job_id      = p_job_id
       and j.lease_token = p_lease_token
       and j.lease_until > clock_timestamp();
    if not found then
        raise exception using
            errcode = 'RC001',
            message = format('job %s is not under this lease', p_job_id),
            hint    = 'The lease has lapsed or was never yours; claim again.';
    end if;

    return jsonb_build_object('kind', v_job.kind, 'session_id', v_job.session_id,
                              'attempts', v_job.attempts, 'payload', v_job.payload)
           || case
                  when v_job.kind = 'extract' and v_job.payload ->> 'mode' = 'verbatim'
                      then recall._verbatim_input(p_user_id, v_job.session_id)
                  when v_job.kind = 'extract'
                      then recall._extract_input(p_user_id, v_job.session_id)
                  when v_job.kind = 'embed'
                      then recall._embed_input(p_user_id, v_job.session_id)
                  when v_job.kind = 'summarize'
                      then recall._summarize_input(p_user_id, v_job.session_id)
                  when v_job.kind = 'compact'
                      then recall._compact_input(p_user_id, v_job.session_id)
                  when v_job.kind = 'merge'
                      then recall._merge_input(p_user_id, v_job.payload)
                  when v_job.kind = 'pattern'
                      then recall._pattern_input(p_user_id, v_job.payload)
              end;
end;
$function$;

comment on function recall.job_input(uuid, uuid, uuid) is
    'Input of a leased job as JSON: kind, session_id, attempts, payload, and what its kind needs.';
