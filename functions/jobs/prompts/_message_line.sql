-- Return a message as a numbered line of a prompt, and its tokens.
-- Each text is cut to a number of characters by role. A message shown whole has its stored token
-- count. The indent of each further line adds one, and the name its own tokens. A text that
-- _prompt_text changed is counted again: in the stored count a control token may be one token.
create or replace function recall._message_line(
    p_message   jsonb,
    p_limits    jsonb,
    p_is_sealed boolean,
    out o_pieces jsonb,
    out o_tokens integer
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_role   constant text    := p_message ->> 'role';
    v_limit  constant integer := coalesce((p_limits ->> v_role)::integer, 1200);
    v_body   constant text    := p_message ->> 'text';
    v_stored integer := (p_message ->> 'token_count')::integer + 8;
    v_is_whole boolean := recall._text_length(v_body) <= v_limit;
    v_is_same  boolean := p_is_sealed or not v_is_whole
                          or coalesce(recall._prompt_text(v_body) = v_body, true);
    v_name   jsonb;
    v_calls  jsonb;
    v_call   record;
begin
    if strpos(v_body, E'\n') > 0 then
        v_stored := v_stored + length(v_body) - length(replace(v_body, E'\n', ''));
    end if;
    v_name   := recall._prompt_piece(p_message ->> 'name', 100, p_is_sealed, true);
    v_calls  := coalesce(p_message -> 'tool_calls', '[]');
    v_stored := v_stored + 4 * jsonb_array_length(v_calls)
                + case when v_name = '""' then 0
                       else recall._pieces_tokens(jsonb_build_array(v_name)) end;
    o_pieces := jsonb_build_array(format('[%s] %s', p_message ->> 'turn_index', v_role))
                || case when v_name = '""' then jsonb '[": "]'
                        else jsonb_build_array(' ', v_name, ': ') end
                || jsonb_build_array(recall._prompt_piece(
                       v_body, v_limit, p_is_sealed, p_row => p_message -> 'message_id'));
    for v_call in
        select e.place, coalesce(e.call #>> '{function,name}', '?') as name,
               coalesce(e.call #>> '{function,arguments}', '') as arguments
          from jsonb_array_elements(v_calls) with ordinality as e (call, place)
    loop
        o_pieces := o_pieces || jsonb_build_array(
            case when v_call.place = 1 then case when v_body is null then '(calls '
                                                 else ' (calls ' end
                 else '; ' end,
            -- The colon keeps the two from forming one token.
            recall._prompt_piece(v_call.name, 100, false, true), ': ',
            recall._prompt_piece(v_call.arguments, v_limit, p_is_sealed, true,
                                 p_message -> 'message_id'));
        v_is_whole := v_is_whole and recall._text_length(v_call.arguments) <= v_limit;
        v_is_same  := v_is_same and recall._prompt_text(v_call.name) = v_call.name
                      and (p_is_sealed or not v_is_whole
                           or recall._prompt_text(v_call.arguments) = v_call.arguments);
    end loop;
    if v_calls <> '[]' then
        o_pieces := o_pieces || jsonb '[")"]';
    end if;
    o_tokens := case when not v_is_same then recall._pieces_tokens(o_pieces)
                     when v_is_whole then coalesce(v_stored, recall._pieces_tokens(o_pieces))
                     else least(v_stored, recall._pieces_tokens(o_pieces)) end;
end;
$function$;

comment on function recall._message_line(jsonb, jsonb, boolean) is
    'A message as a numbered line of a prompt, in pieces, and its tokens.';
