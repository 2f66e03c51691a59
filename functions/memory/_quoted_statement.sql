-- Decide the provenance of a text that a model asks to remember.
-- If the user's words prove it, the claimed provenance stays; otherwise the text is an inference.
-- For a proven text, metadata keeps the words and turn_ids the stored message that has them. A
-- claim of tool output or an inference needs no proof.
-- Raises  RC001 unknown session, RC003.
create or replace function recall._quoted_statement(
    p_user_id         uuid,
    p_session_id      uuid,
    p_content         text,
    p_provenance      recall.provenance,
    p_metadata        jsonb,
    p_words           text,
    p_current_message text
)
returns recall.quoted_statement
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_quoted recall.quoted_statement;
begin
    if p_session_id is null then
        raise exception using
            errcode = 'RC003',
            message = 'p_session_id is null, and p_user_words or p_current_message is not',
            hint    = 'Pass the session in which the model runs: a text that the user''s words do '
                      'not prove is kept for that session only.';
    end if;
    v_quoted.provenance := coalesce(p_provenance, 'user_stated');
    v_quoted.metadata   := p_metadata;
    v_quoted.is_proven  := false;
    if v_quoted.provenance >= 'tool_output' then
        return v_quoted;
    end if;

    select true, case when s.message_id is not null then array[s.message_id] end
      into v_quoted.is_proven, v_quoted.turn_ids
      from recall._prove_statement(p_user_id, p_session_id, p_content, p_words,
                                   p_current_message) as s
     where s.verdict = 'states';
    v_quoted.is_proven := coalesce(v_quoted.is_proven, false);
    if v_quoted.is_proven then
        v_quoted.metadata := coalesce(p_metadata, '{}')
                             || jsonb_build_object('user_words', p_words);
    else
        v_quoted.provenance := 'system_inferred';
    end if;
    return v_quoted;
end;
$function$;

comment on function recall._quoted_statement(uuid, uuid, text, recall.provenance, jsonb, text, text)
    is
    'Provenance of a text that a model remembers: the claimed one if the user''s words prove it.';
