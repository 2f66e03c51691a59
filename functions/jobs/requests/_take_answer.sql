-- Add an answer to the state of a job: its value, a complaint about it, or a failure.
-- `said` is the value of a chat, `complaint` goes into the next request, `failure` ends the
-- attempt, and `span` records the cost.
create or replace function recall._take_answer(
    p_work   jsonb,
    p_answer jsonb,
    out o_work    jsonb,
    out o_vectors recall.jobs.vectors%type
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_question constant jsonb := p_work -> 'question';
    v_purpose  constant text  := v_question ->> 'purpose';
    v_value    jsonb;
    v_problem  text;
begin
    o_work := p_work - 'question';
    if jsonb_typeof(p_answer -> 'error') = 'object' then
        o_work := recall._take_error(p_work, p_answer -> 'error');
        v_problem := concat_ws(': ', p_answer #>> '{error,code}', p_answer #>> '{error,message}');
    elsif v_purpose = 'embed' then
        select v.o_work, v.o_vectors
          into o_work, o_vectors
          from recall._take_vectors(p_work, p_answer) as v;
        v_problem := o_work #>> '{failure,error}';
    elsif coalesce(p_answer ->> 'refusal', '') <> ''
          or p_answer ->> 'finish_reason' = 'content_filter' then
        v_problem := case when coalesce(p_answer ->> 'refusal', '') <> ''
                          then case when recall._is_sealed(p_answer ->> 'refusal') then ''
                                    else 'the model refused: ' end
                               || left(p_answer ->> 'refusal', 4000)
                          else 'a content filter stopped the answer' end;
        o_work := o_work || jsonb_build_object(
            'failure', jsonb_build_object('error', v_problem, 'is_final', false));
    else
        select s.o_value, s.o_problem
          into v_value, v_problem
          from recall._said_value(p_answer, v_question -> 'schema') as s;
        if v_problem is not null and p_answer ->> 'finish_reason' = 'length' then
            v_problem := 'the answer was cut off';
        end if;
        if p_work -> 'is_sealed' is distinct from 'true' then
            o_work := o_work || jsonb_build_object('raw', left(p_answer ->> 'content', 1000));
        end if;
        if v_problem is null then
            o_work := o_work || jsonb_build_object('said', v_value, 'answered', v_question);
        else
            o_work := recall._complain(o_work, v_problem,
                                       p_answer ->> 'finish_reason' = 'length');
        end if;
    end if;
    o_work := o_work || jsonb_build_object('span', jsonb_strip_nulls(jsonb_build_object(
        'phase', case when v_purpose in ('summarize', 'compact') then 'summary'
                      when v_purpose = 'select' then 'extract'
                      else v_purpose end,
        'duration_ms', coalesce((p_answer ->> 'latency_ms')::numeric, 0),
        'items', coalesce((v_question ->> 'count')::integer, 0),
        'model_id', v_question -> 'model',
        'prompt_tokens', recall._token_number(p_answer #> '{usage,prompt_tokens}'),
        'completion_tokens', recall._token_number(p_answer #> '{usage,completion_tokens}'),
        'cached_tokens', p_answer #> '{usage,prompt_tokens_details,cached_tokens}',
        'error', left(v_problem, 2000))));
end;
$function$;

comment on function recall._take_answer(jsonb, jsonb) is
    'State of a job after an answer: said, complaint or failure, and the span of the answer.';
