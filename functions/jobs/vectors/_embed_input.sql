-- Return the texts that an embed job has to embed.
-- These are messages of the session that are not searchable yet, and the user's memories and
-- summaries without a vector.
create or replace function recall._embed_input(
    p_user_id    uuid,
    p_session_id uuid
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings := recall._settings(p_user_id);
    v_input    jsonb           := jsonb '{"messages": []}';
    v_has_vectors constant boolean := not v_settings.has_sealed_users
                                      or recall._has_vectors(p_user_id);
    v_session  recall.sessions;
    v_through  integer;
    v_memories jsonb;
begin
    if p_session_id is not null and v_settings.embed_messages then
        v_session := recall._read_session(p_user_id, p_session_id);
        v_through := least(v_session.turn_count,
                           v_session.indexed_through_turn + v_settings.embed_batch);
        select v_input || jsonb_build_object(
                   'through_turn', v_through,
                   'messages', coalesce(jsonb_agg(jsonb_build_object(
                       'turn_index', m.turn_index, 'text', m.body) order by m.turn_index), '[]'))
          into v_input
          from recall._searchable_messages(v_session, v_through) as m;
    end if;

    select coalesce(jsonb_agg(jsonb_build_object('memory_id', w.memory_id,
                                                 'text', w.content)), '[]')
      into v_memories
      from (
            select m.memory_id, m.content
              from recall.memory_store as m
             where m.user_id = p_user_id
               and m.ended_at is null
               and v_has_vectors
               and not exists (
                       select from recall.memory_embedding as e
                        where e.user_id         = p_user_id
                          and e.memory_id       = m.memory_id
                          and e.embedding_model = v_settings.embedding_model)
             order by m.memory_id
             limit v_settings.embed_batch
           ) as w;
    return v_input || jsonb_build_object(
        'memories', v_memories,
        'summaries', (
            select coalesce(jsonb_agg(jsonb_build_object('summary_id', u.summary_id,
                                                         'text', u.content)), '[]')
              from recall._unembedded_summaries(p_user_id, v_settings) as u));
end;
$function$;

comment on function recall._embed_input(uuid, uuid) is
    'Input of an embed job: model, messages (turn_index, text), memories (memory_id, text), '
    'summaries (summary_id, text), through_turn.';
