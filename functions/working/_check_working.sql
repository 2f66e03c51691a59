-- Refuse arguments that cannot be a value of working memory.
-- A ciphertext of 200 characters decrypts to at most 800 bytes.
-- Raises  RC003.
create or replace function recall._check_working(
    p_task_id     text,
    p_key         text,
    p_value       jsonb,
    p_ttl         interval,
    p_token_count integer
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_problem text := case
        when p_task_id is null or length(p_task_id) < 1
            or recall._text_length(p_task_id)
               > case when recall._is_sealed(p_task_id) then 800 else 200 end then
            format('p_task_id is %L', left(p_task_id, 80))
        when p_key is null or length(p_key) < 1
            or recall._text_length(p_key)
               > case when recall._is_sealed(p_key) then 800 else 200 end then
            format('p_key is %L', left(p_key, 80))
        when p_value is null then 'p_value is null'
        when octet_length(p_value::text) > 1048576 then
            format('p_value has %s bytes', octet_length(p_value::text))
        when p_ttl <= interval '0' or p_ttl > interval '1000 years' then
            format('p_ttl is %s', p_ttl)
        when p_token_count < 0 then format('p_token_count is %s', p_token_count)
    end;
begin
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = v_problem,
            hint    = 'Task and key have 1 to 200 characters, a value (JSON, at most 1 MB; null as '
                      '''null''::jsonb), a ttl is positive, tokens zero or more.';
    end if;
end;
$function$;

comment on function recall._check_working(text, text, jsonb, interval, integer) is
    'Refuse arguments that cannot be a value of working memory (RC003).';
