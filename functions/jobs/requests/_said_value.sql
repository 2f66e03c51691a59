-- Parse the JSON object of an answer and fit it to a schema; return its value or the problem.
-- Reasoning, a code fence or a sentence may surround the object.
-- For an encrypted user the worker parses the answer and sends the value, or null for no JSON.
create or replace function recall._said_value(
    p_answer jsonb,
    p_schema jsonb,
    out o_value   jsonb,
    out o_problem text
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    -- Longer answers are not parsed: no step asks for a twentieth of this.
    v_longest constant integer := 1000000;
    v_text    text := p_answer ->> 'content';
    v_last    integer;
begin
    if jsonb_typeof(p_answer -> 'value') = 'object' then
        select f.o_value, f.o_problem
          into o_value, o_problem
          from recall._fitted(p_answer -> 'value', p_schema, '') as f;
        return;
    end if;

    if strpos(v_text, '</think>') > 0 then
        v_text := regexp_replace(v_text, '<think>.*?</think>', '', 'g');
        -- Some servers send reasoning without its opening tag.
        v_text := regexp_replace(v_text, '^.*</think>(?=[ \n]*(?:```[a-z]*[ \n]*)?\{)', '');
    end if;
    v_text := substr(v_text, nullif(strpos(v_text, '{'), 0));
    if length(v_text) > v_longest then
        o_problem := format('longer than %s characters', v_longest);
        return;
    end if;
    for v_try in 1 .. 50 loop
        v_last := length(v_text) - strpos(reverse(v_text), '}') + 1;
        exit when v_text is null or strpos(v_text, '}') = 0;
        v_text := left(v_text, v_last);
        -- jsonb rejects NUL and unpaired surrogates: each becomes U+FFFD. Control characters, which
        -- JSON cannot have, stand for escaped backslashes and the backslashes of pairs meanwhile.
        if not pg_input_is_valid(v_text, 'jsonb') and pg_input_is_valid(v_text, 'json') then
            v_text := regexp_replace(
                replace(v_text, '\\', E'\x01'),
                '\\(u[dD][89abAB][0-9a-fA-F]{2})\\(u[dD][c-fC-F][0-9a-fA-F]{2})',
                E'\x02\\1\x02\\2', 'g');
            v_text := regexp_replace(v_text, '\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})',
                                     U&'\FFFD', 'g');
            v_text := replace(replace(v_text, E'\x02', '\'), E'\x01', '\\');
        end if;
        if pg_input_is_valid(v_text, 'jsonb') then
            o_problem := recall._json_problem(v_text::jsonb, 64);
            if o_problem is null then
                select f.o_value, f.o_problem
                  into o_value, o_problem
                  from recall._fitted(v_text::jsonb, p_schema, '') as f;
            end if;
            return;
        end if;
        v_text := left(v_text, v_last - 1);
    end loop;
    o_problem := 'not JSON';
exception when statement_too_complex then
    o_problem := 'JSON that is nested too deeply';
end;
$function$;

comment on function recall._said_value(jsonb, jsonb) is
    'The JSON object of an answer, fitted to a schema; or the problem with it.';
