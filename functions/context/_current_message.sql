-- Convert the option current_message into a message of the user, and count its tokens.
-- The option is a text, a list of parts, or a message, which may have a token_count.
-- Raises  RC003.
create or replace function recall._current_message(
    p_option           jsonb,
    p_tokens_per_image integer,
    out o_message      jsonb,
    out o_tokens       integer
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_message jsonb;
    v_problem text;
begin
    if p_option is null then
        o_tokens := 0;
        return;
    end if;

    v_message := case
        when jsonb_typeof(p_option) = 'object' then p_option || '{"role": "user"}'
        else jsonb_build_object('role', 'user', 'content', p_option)
    end;
    v_problem := recall._judge_message(v_message);
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = concat('option current_message', v_problem, ' is ' || left(
                (v_message -> ltrim(v_problem, '.'))::text, 80)),
            hint    = 'A text, a list of parts, or a message in the OpenAI chat format.';
    end if;

    o_message := jsonb_strip_nulls(jsonb_build_object(
        'role', 'user', 'content', v_message -> 'content', 'name', v_message -> 'name'));
    o_tokens  := coalesce(
        (v_message ->> 'token_count')::integer,
        recall._estimate_message_tokens(
            case when jsonb_typeof(v_message -> 'content') = 'string'
                 then v_message ->> 'content' end,
            case when jsonb_typeof(v_message -> 'content') = 'array'
                 then v_message -> 'content' end,
            v_message ->> 'name', null, p_tokens_per_image));
end;
$function$;

comment on function recall._current_message(jsonb, integer) is
    'The option current_message as a message of the user, with its tokens (given or estimated).';
