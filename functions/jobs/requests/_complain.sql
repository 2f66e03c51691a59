-- Record what is wrong with an answer in the job's state, so that the model is asked once more.
-- The second unusable answer in a row fails the attempt, and the next attempt starts anew. The
-- error quotes that answer's beginning, except for an encrypted user, whose answers are not kept.
create or replace function recall._complain(
    p_work    jsonb,
    p_problem text,
    p_is_cut  boolean
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_work    constant jsonb   := p_work - '{said,raw,complaint}'::text[];
    v_tries   constant integer := (p_work ->> 'tries')::integer + 1;
    v_problem constant text    := case when p_is_cut then 'the answer was cut off'
                                       else p_problem end;
begin
    if v_tries >= 2 then
        return v_work || jsonb_build_object('failure', jsonb_build_object(
            'error', v_problem || coalesce('; the answer began: ' || (p_work ->> 'raw'), ''),
            'is_final', false, 'is_malformed', true, 'is_ours', true));
    end if;
    return v_work || jsonb_build_object(
        'tries', v_tries,
        'complaint', jsonb_build_object('problem', v_problem, 'is_cut', p_is_cut,
                                        'raw', p_work -> 'raw'));
end;
$function$;

comment on function recall._complain(jsonb, text, boolean) is
    'State of a job with a complaint about an answer; with a failure after the second unusable '
    'answer.';
