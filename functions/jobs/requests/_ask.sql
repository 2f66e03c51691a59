-- Send a step's request to the worker, or defer the job when that is impossible now.
-- The worker may offer no model for it or no decryption, or a daily limit is reached. A repeated
-- request keeps its request_id. The question in the job's state holds what is needed to judge the
-- answer. The call renews the lease.
create or replace function recall._ask(
    p_job  recall.jobs,
    p_work jsonb,
    p_step jsonb
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now      constant timestamptz := clock_timestamp();
    v_error    text;
    v_due_at   timestamptz;
    v_batch    integer;
    v_chars    integer;
    v_request  jsonb;
    v_question jsonb;
begin
    if p_step ? 'chat' and recall._chat_model(p_work, p_step #>> '{chat,purpose}') is null
       or p_step ? 'embed' and p_work -> 'has_embedder' = 'false' then
        return recall._defer_job(p_job, p_work, format(
            'the worker offers no model for %s', coalesce(
                p_step #>> '{chat,purpose}', p_work ->> 'embedding_model')),
            v_now + interval '1 minute');
    end if;
    if p_work -> 'is_sealed' = 'true' and p_work #> '{worker,encryption}' = 'false' then
        return recall._defer_job(p_job, p_work, 'the worker opens no texts of encrypted users',
                                 v_now + interval '1 minute');
    end if;
    -- Limits do not stop embeddings: they cost a hundredth of a chat, and complete paid work.
    if p_step ? 'chat' then
        select l.o_error, l.o_due_at
          into v_error, v_due_at
          from recall._blocking_limit(p_job.user_id, v_now) as l;
        if v_error is not null then
            return recall._defer_job(p_job, p_work, v_error, v_due_at);
        end if;
    end if;

    if p_step ? 'select' then
        v_request  := p_step #> '{select,request}';
        v_question := jsonb_build_object('purpose', 'select') || (p_step -> 'select') - 'request';
    elsif p_step ? 'chat' then
        v_request  := recall._chat_request(p_work, p_step -> 'chat');
        v_question := jsonb_build_object(
            'purpose', v_request -> 'purpose', 'model', v_request -> 'model',
            'keep', p_step #> '{chat,keep}', 'schema', p_step #> '{chat,schema}');
    else
        -- The next batch. An endpoint that finds a text too long reports it.
        v_batch := coalesce((p_work #>> '{worker,embed_batch}')::integer, 64);
        v_chars := recall._embed_characters(p_work);
        select jsonb_build_object(
                   'type', 'embed', 'purpose', 'embed',
                   'model', p_work -> 'embedding_model',
                   'inputs', jsonb_agg(
                       case when jsonb_typeof(e.item) = 'string'
                            then to_jsonb(left(e.item #>> '{}', v_chars))
                            else e.item || jsonb_build_object('max_characters', v_chars) end
                       order by e.place))
          into v_request
          from jsonb_array_elements(p_step #> '{embed,texts}') with ordinality as e (item, place)
         where e.place <= v_batch;
        v_question := jsonb_build_object(
            'purpose', 'embed', 'model', v_request -> 'model',
            'count', jsonb_array_length(v_request -> 'inputs'), 'keep', p_step #> '{embed,keep}');
    end if;
    if (p_work -> 'question') - 'request_id' = v_question then
        v_question := p_work -> 'question';
    else
        v_question := v_question || jsonb_build_object('request_id', gen_random_uuid());
    end if;

    update recall.jobs as j
       set work        = (p_work - '{span,raw,answered}'::text[])
                         || jsonb_build_object('question', v_question),
           vectors     = p_job.vectors,
           lease_until = greatest(j.lease_until, v_now + p_job.lease)
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    return v_request || jsonb_build_object('request_id', v_question -> 'request_id')
           || case when p_work -> 'is_sealed' = 'true' and p_job.session_id is not null
                   then jsonb_build_object('session_id', p_job.session_id) else jsonb '{}' end;
end;
$function$;

comment on function recall._ask(recall.jobs, jsonb, jsonb) is
    'A step''s request as the worker gets it; the job is deferred when the worker offers no model '
    'or no decryption for it, or when a daily limit is reached.';
