-- Process the answer to a job's last request and return the next one.
-- A worker in any language is a loop around this function; docs/reference/job-protocol.md lists the
-- requests and answers. Each call renews the lease. An answer to any other request changes nothing
-- and returns the request in flight, so a call may be repeated after a lost connection.
-- Locks   the user, the job, what the effect of an answer needs.
-- Raises  RC003 an invalid worker or answer, RC006 a plaintext answer for an encrypted user; the
--         job stays as it is.
create or replace function recall.next_request(
    p_user_id     uuid,
    p_job_id      uuid,
    p_lease_token uuid,
    p_worker      jsonb,
    p_answer      jsonb default null
)
returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set constraint_exclusion = off  -- no CHECK excludes a partition
as $function$
declare
    v_job   recall.jobs;
    v_mode  text;
    v_work  jsonb;
    v_step  jsonb;
    v_done  jsonb;
    v_spans recall.job_phases[];
begin
    perform recall._check_user(p_user_id);
    perform recall._check_answer(p_answer);
    v_job := recall._lock_leased_job(p_user_id, p_job_id, p_lease_token);
    if v_job.job_id is null then
        return jsonb '{"type": "gone"}';
    end if;

    v_work := recall._begin_work(v_job, p_worker);
    -- Functions get the state as an argument, so the row need not carry a second copy. Vectors are
    -- valid only beside the name of their embedder.
    v_job.work := null;
    if not v_work ? 'embedder' then
        v_job.vectors := null;
    end if;

    -- The answer to the request in flight
    if p_answer -> 'request_id' = v_work #> '{question,request_id}' then
        if v_work -> 'is_sealed' = 'true' then
            perform recall._refuse_plain_answer(p_user_id, p_answer, v_work -> 'question');
        end if;
        select a.o_work, v_job.vectors || a.o_vectors
          into v_work, v_job.vectors
          from recall._take_answer(v_work, p_answer) as a;
        v_spans := array[recall._phase_row(v_job, v_work -> 'span')];
        perform recall._add_usage(v_spans);
    end if;

    begin
        -- The mode of the session may have changed: look before the first step and each question.
        v_mode := case when p_answer is null then recall._changed_mode(v_job) end;
        -- Each step is one function, read from top to bottom and run again at every call. It
        -- returns `made` with one of: `chat`, `embed` or `select`, a question; `result`, the end;
        -- `moved`, the session has gone on without this job; `problem`, an error in the answer.
        while v_mode is null and not v_work ? 'failure' loop
            v_step := jsonb_build_object('made', v_work -> 'made') || case
                when v_job.kind = 'extract' and v_job.payload ->> 'mode' = 'verbatim'
                    then recall._step_verbatim(v_job, v_work)
                when v_job.kind = 'extract' then recall._step_extract(v_job, v_work)
                when v_job.kind = 'embed' then recall._step_embed(v_job, v_work)
                when v_job.kind = 'summarize' then recall._step_summarize(v_job, v_work)
                when v_job.kind = 'compact' then recall._step_compact(v_job, v_work)
                when v_job.kind = 'merge' then recall._step_merge(v_job, v_work)
                when v_job.kind = 'pattern' then recall._step_pattern(v_job, v_work)
            end;
            if v_step ? 'problem' then
                v_work := recall._complain(v_work, v_step ->> 'problem', false);
                v_spans[1].error := v_step ->> 'problem';
                continue;
            end if;
            if v_work ? 'said' then
                v_spans[1].items := coalesce((v_step ->> 'items')::integer, 0);
                v_step := recall._note_maker(v_work, v_step);
                v_work := (v_work - '{said,complaint}'::text[]) || jsonb '{"tries": 0}';
            end if;
            v_work := v_work || jsonb_build_object('made', v_step -> 'made');
            exit;
        end loop;
        if p_answer is not null and v_step ?| '{chat,embed,select}' then
            v_mode := recall._changed_mode(v_job);
        end if;
        if v_step ? 'result' then
            v_job.work := jsonb_build_object(
                'made', v_work -> 'made',
                'embed_characters', recall._embed_characters(v_work))
                || jsonb_strip_nulls(jsonb_build_object(
                       'token_counts', v_work -> 'token_counts'));
            select c.o_next, v_spans || c.o_span
              into v_done, v_spans
              from recall._complete_job(v_job, v_step -> 'result') as c;
        end if;
    -- A step that our own rules refuse would be refused again, so the job is dead. RC006 may come
    -- from a ciphertext whose key was replaced meanwhile, so the step runs again.
    exception when sqlstate 'RC001' or sqlstate 'RC003' or sqlstate 'RC004' or sqlstate 'RC006'
                   or sqlstate 'RC007' then
        v_work := v_work || jsonb_build_object('failure', jsonb_build_object(
            'error', sqlstate || ' ' || sqlerrm,
            'is_final', sqlstate <> 'RC006', 'is_malformed', sqlstate = 'RC006',
            'is_ours', sqlstate in ('RC004', 'RC006', 'RC007')));
    end;

    if v_spans is not null then
        perform recall._record_spans(v_spans);
    end if;
    return case
        when v_mode is not null then recall._follow_mode(v_job, v_mode)
        when v_work ? 'failure' then recall._fail_step(v_job, v_work)
        when v_done is not null then v_done
        when v_step ? 'moved' then recall._defer_job(v_job, v_work - 'made', 'the session moved on')
        else recall._ask(v_job, v_work, v_step)
    end;
end;
$function$;

comment on function recall.next_request(uuid, uuid, uuid, jsonb, jsonb) is
    'Process the answer to a leased job''s last request and return its next request: chat, '
    'embed, select, done, deferred, failed or gone. p_worker: models and limits that the worker '
    'offers; p_answer: {"request_id", …}.';
