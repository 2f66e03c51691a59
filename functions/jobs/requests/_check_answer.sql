-- Reject a value that is not an answer to a request.
-- JSON null means that there is no answer. The key "value" may be null: the worker of an encrypted
-- user found no JSON. A model stopped before its first token has only a finish_reason.
-- Of vectors only the nesting is checked, a tenth of the work: _take_vectors reads their numbers.
-- Raises  RC003.
create or replace function recall._check_answer(
    p_answer jsonb
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_usage jsonb;
begin
    if coalesce(p_answer, 'null') = 'null' then
        return;
    end if;
    perform recall._check_json(
        case when jsonb_typeof(p_answer -> 'vectors') = 'array'
                  and not jsonb_path_exists(p_answer -> 'vectors', 'strict $.**{3}')
             then p_answer - 'vectors' else p_answer end, 'p_answer');
    perform recall._check_keys(
        p_answer, '{request_id,content,value,finish_reason,refusal,usage,model,latency_ms,vectors,'
                  'token_counts,error}', 'p_answer');
    v_usage := coalesce(nullif(p_answer -> 'usage', 'null'), '{}');
    if jsonb_typeof(p_answer -> 'request_id') is distinct from 'string'
       or coalesce(jsonb_typeof(p_answer -> 'content'), 'null') not in ('string', 'null')
       or coalesce(jsonb_typeof(p_answer -> 'vectors'), 'null') not in ('array', 'null')
       or coalesce(jsonb_typeof(p_answer -> 'token_counts'), 'null') not in ('array', 'null')
       or p_answer @? 'strict $.token_counts[*] ? (@ != null && (@.type() != "number" || @ < 1))'
       or coalesce(jsonb_typeof(p_answer -> 'error'), 'null') not in ('object', 'null')
       or coalesce(p_answer ->> 'latency_ms', '0') !~ '^[0-9]{1,11}([.][0-9]*)?$'
       or jsonb_typeof(v_usage) <> 'object'
       or num_nulls(nullif(p_answer -> 'content', 'null'), nullif(p_answer -> 'value', 'null'),
                    nullif(p_answer -> 'vectors', 'null'), nullif(p_answer -> 'error', 'null'),
                    nullif(p_answer -> 'refusal', 'null'),
                    nullif(p_answer -> 'finish_reason', 'null')) = 6 and not p_answer ? 'value'
       or coalesce(jsonb_typeof(p_answer -> 'value'), 'null') not in ('object', 'null') then
        raise exception using
            errcode = 'RC003',
            message = format('p_answer is not an answer to a request: %s',
                             left(p_answer::text, 200)),
            hint    = 'Pass request_id and one of content (a text), value (an object), vectors (a '
                      'list) or error ({"code", "message", "retryable"}). The keys usage, '
                      'finish_reason, refusal, model, latency_ms and token_counts (a list of '
                      'positive numbers) are optional.';
    end if;
end;
$function$;

comment on function recall._check_answer(jsonb) is
    'Reject (RC003) a value that is not an answer to a request of next_request.';
