-- Search for the user's own words that prove or deny a memory's text; no row: no proof.
-- They are in the current message, which is not stored yet, or in the user's last fifty messages of
-- the session. Prompt injection can make a model call a function, but not change what the user
-- wrote. Ciphertexts and long texts prove nothing (recall._judge_statement).
-- Raises  RC001 unknown session, RC003 too many words.
create or replace function recall._prove_statement(
    p_user_id         uuid,
    p_session_id      uuid,
    p_content         text,
    p_words           text,
    p_current_message text default null
)
returns table (
    verdict    text,
    message_id uuid
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_session recall.sessions;
begin
    v_session := recall._read_session(p_user_id, p_session_id);
    if length(p_words) > 100000 then
        raise exception using
            errcode = 'RC003',
            message = format('the user''s words have %s characters, more than 100,000',
                             length(p_words)),
            hint    = 'Pass the few words that a model quotes of the user.';
    end if;
    if length(p_content) > 100000 then
        return;
    end if;
    verdict := recall._judge_statement(p_words, p_content, p_current_message);
    if verdict is not null then
        return next;
        return;
    end if;

    return query
    select recall._judge_statement(p_words, p_content, f.body), f.message_id
      from (
            select h.message_id, h.turn_index,
                   recall._content_text(h.content, h.content_parts) as body
              from recall.conversation_history as h
             where h.user_id    = p_user_id
               and h.session_id = p_session_id
               and h.created_at between v_session.created_at and v_session.last_message_at
               and h.role       = 'user'
               and not h.turn_index <@ v_session.retracted_turns
             order by h.turn_index desc
             limit 50
           ) as f
     where recall._judge_statement(p_words, p_content, f.body) is not null
     order by f.turn_index desc
     limit 1;
end;
$function$;

comment on function recall._prove_statement(uuid, uuid, text, text, text) is
    'Whether the user''s words state or deny a text, and in which message; no row: no proof.';
