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
    p_current_message text,
    out is_proven     boolean,
    out provenance    recall.provenance,
    out turn_ids      uuid[],
    out metadata      jsonb
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    if p_session_id is null then
        raise exception using
            errcode = 'RC003',
            message = 'p_session_id is null, and p_user_words or p_current_message is not',
            hint    = 'Pass the session in which the model runs: a text that the user''s words do '
                      'not prove is kept for that session only.';
    end if;
    provenance := coalesce(p_provenance, 'user_stated');
    metadata   := p_metadata;
    is_proven  := false;
    if provenance >= 'tool_output' then
        return;
    end if;

    select true, case when s.message_id is not null then array[s.message_id] end
      into is_proven, turn_ids
      from recall._prove_statement(p_user_id, p_session_id, p_content, p_words,
                                   p_current_message) as s
     where s.verdict = 'states';
    is_proven := coalesce(is_proven, false);
    if is_proven then
        metadata := coalesce(metadata, '{}') || jsonb_build_object('user_words', p_words);
    else
        provenance := 'system_inferred';
    end if;
end;
$function$;

comment on function recall._quoted_statement(uuid, uuid, text, recall.provenance, jsonb, text, text)
    is
    'Provenance of a text that a model remembers: the claimed one if the user''s words prove it.';
