-- recall._through_turn(result) -> the turn that a result reaches to
-- Raises  RC003 when it is missing: then the result is not one of this job.
create or replace function recall._through_turn(
    p_result jsonb
)
returns integer
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_turn integer := recall._integer(p_result, 'through_turn');
begin
    if v_turn is null then
        raise exception using
            errcode = 'RC003',
            message = 'through_turn is missing in p_result',
            hint    = 'Give back what job_input said.';
    end if;
    return v_turn;
end;
$function$;

comment on function recall._through_turn(jsonb) is
    'The turn that a job''s result reaches to (RC003 when it is missing).';
