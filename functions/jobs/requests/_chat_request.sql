-- Return a step's question as a chat request, in the form that the worker's endpoint supports.
-- After an unusable answer, the request quotes it if the budget allows, and says what is wrong.
-- Roles alternate, since some chat templates reject two user messages in a row.
-- For an encrypted user the request lists the texts of the answer to encrypt. It also holds the
-- schema and sources for the rules that the worker applies in the database's place.
create or replace function recall._chat_request(
    p_work jsonb,
    p_chat jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_purpose   constant text    := p_chat ->> 'purpose';
    v_features  constant jsonb   := coalesce(p_work #> '{worker,features}', '{}');
    v_format    constant text    := coalesce(v_features ->> 'response_format', 'json_schema');
    v_complaint constant jsonb   := p_work -> 'complaint';
    v_is_cut    constant boolean := coalesce(v_complaint -> 'is_cut' = 'true', false);
    v_schema    constant jsonb   := recall._sent_schema(
        case when v_is_cut then coalesce(p_chat -> 'shorter', p_chat -> 'schema')
             else p_chat -> 'schema' end,
        case when v_features -> 'schema_lengths' = 'false' then '{default,maxLength,maxItems}'
             else '{default}' end::text[]);
    v_told      constant text    := case
        when v_format <> 'json_schema' or v_complaint is not null
        then E'Answer with one JSON object of this schema, nothing else:\n' || v_schema::text end;
    v_limit     integer := (p_chat ->> 'max_tokens')::integer;
    v_room      constant integer := (p_chat ->> 'spare')::integer;
    -- The answer may repeat what a stored text holds.
    v_raw       constant text    := coalesce(recall._prompt_text(v_complaint ->> 'raw'), '');
    v_is_quoted constant boolean := v_complaint is not null and not v_is_cut and v_raw <> ''
                                    and recall._estimate_tokens(v_raw || v_told) + 50 <= v_room;
    v_pieces    jsonb   := p_chat -> 'pieces';
    v_content   jsonb;
    v_messages  jsonb;
begin
    -- A truncated answer gets the shorter schema and up to twice the length.
    if v_is_cut then
        v_limit := greatest(v_limit, least(2 * v_limit, v_limit + v_room));
    end if;
    if v_complaint is not null and not v_is_quoted then
        v_pieces := v_pieces || jsonb_build_array(E'\n\nYour last answer was ' || case
            when v_is_cut then 'cut off. Answer shorter.' else 'not the JSON asked for.' end);
    end if;
    -- A text, or segments where some of it is ciphertext
    if jsonb_path_exists(v_pieces, '$[*] ? (@.type() == "object")') then
        select jsonb_agg(case jsonb_typeof(e.piece)
                             when 'string' then jsonb_build_object('text', e.piece)
                             else e.piece end order by e.place)
          into v_content
          from jsonb_array_elements(v_pieces) with ordinality as e (piece, place);
    else
        select to_jsonb(string_agg(e.piece, '' order by e.place))
          into v_content
          from jsonb_array_elements_text(v_pieces) with ordinality as e (piece, place);
    end if;
    v_messages := jsonb_build_array(
        jsonb_build_object(
            'role', 'system',
            'content', (p_chat ->> 'instructions') || case v_format
                           when 'json_schema' then '' else E'\n\n' || v_told end),
        jsonb_build_object('role', 'user', 'content', v_content));
    if v_is_quoted then
        v_messages := v_messages || jsonb_build_array(
            jsonb_build_object('role', 'assistant', 'content', v_raw),
            jsonb_build_object('role', 'user', 'content', format(
                E'That was not the JSON asked for: %s.\nAnswer again. %s',
                v_complaint ->> 'problem', v_told)));
    end if;

    return jsonb_build_object(
        'type', 'chat', 'purpose', v_purpose, 'model', recall._chat_model(p_work, v_purpose),
        'messages', v_messages,
        coalesce(v_features ->> 'limit', 'max_tokens'), v_limit)
        || case when v_features -> 'temperature' = 'false' then jsonb '{}'
                else jsonb '{"temperature": 0}' end
        || case v_format
               when 'json_schema' then jsonb_build_object('response_format', jsonb_build_object(
                   'type', 'json_schema', 'json_schema', jsonb_build_object(
                       'name', v_purpose, 'strict', true, 'schema', v_schema)))
               when 'json_object' then jsonb '{"response_format": {"type": "json_object"}}'
               else jsonb '{}' end
        || case when p_work -> 'is_sealed' = 'true' then jsonb_strip_nulls(jsonb_build_object(
               'seal', coalesce(p_chat -> 'seal', '{}'), 'schema', p_chat -> 'schema',
               'sources', p_chat -> 'sources')) else jsonb '{}' end;
end;
$function$;

comment on function recall._chat_request(jsonb, jsonb) is
    'A step''s question as a chat request, with what is wrong with the previous answer, if it was '
    'unusable.';
