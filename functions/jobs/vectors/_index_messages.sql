-- Make messages of a session searchable up to a turn; return whether more turns wait.
-- NULL means that the session has changed since the input was read. Full-text search finds a
-- message without a vector, too. Planned for one partition: a cached plan locks all of them.
create or replace function recall._index_messages(
    p_session  recall.sessions,
    p_through  integer,
    p_texts    jsonb,
    p_vectors  recall.jobs.vectors%type,
    p_settings recall.settings
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_is_sealed constant boolean := case
        when p_settings.has_sealed_users then recall._is_sealed_user(p_session.user_id)
        else false
    end;
begin
    if p_through not between p_session.indexed_through_turn and p_session.turn_count then
        return null;
    end if;

    delete from recall.message_search as m
     where m.user_id    = p_session.user_id
       and m.session_id = p_session.session_id
       and m.turn_index > p_session.indexed_through_turn
       and m.turn_index <= p_through
       and m.embedding_model is distinct from p_settings.hidden_embedding_model;

    insert into recall.message_search (user_id, session_id, turn_index, message_id, role,
                                       created_at, search_vector, embedding, embedding_model)
    select p_session.user_id, p_session.session_id, m.turn_index, m.message_id, m.role,
           m.created_at,
           case when v_is_sealed then ''::tsvector
                else recall._message_words(p_settings.language::regconfig, m.body) end,
           e.embedding, p_settings.embedding_model
      from recall._searchable_messages(p_session, p_through) as m
      left join recall._text_vectors(p_texts, p_vectors, 'messages') as e
        on e.id::integer = m.turn_index;

    if not v_is_sealed then
        perform recall._pack_words(p_session.user_id, p_session.session_id,
                                   p_session.indexed_through_turn, p_through, false);
    end if;
    update recall.sessions as s
       set indexed_through_turn = p_through
     where s.user_id    = p_session.user_id
       and s.session_id = p_session.session_id;
    return p_session.turn_count > p_through;
end;
$function$;

comment on function recall._index_messages(recall.sessions, integer, jsonb,
    recall.jobs.vectors%type, recall.settings) is
    'Make a session''s messages searchable up to a turn, with the vectors of an embed job.';
