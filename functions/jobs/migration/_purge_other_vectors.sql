-- Delete a user's vectors of a model that is no longer, or was never, the current one.
-- A message that has only a row of this model keeps the row for its words, and the session is
-- indexed again. The caller has locked the user.
create or replace function recall._purge_other_vectors(
    p_user_id uuid,
    p_model   text
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_current constant text := (recall._settings(p_user_id)).embedding_model;
begin
    if v_current = p_model then
        return;
    end if;
    delete from recall.memory_embedding as e
     where e.user_id         = p_user_id
       and e.embedding_model = p_model;
    delete from recall.memory_embedding_ended as e
     where e.user_id         = p_user_id
       and e.embedding_model = p_model;
    delete from recall.message_search as m
     where m.user_id         = p_user_id
       and m.embedding_model = p_model
       and exists (
               select from recall.message_search as c
                where c.user_id          = p_user_id
                  and c.session_id       = m.session_id
                  and c.turn_index       = m.turn_index
                  and c.embedding_model <> p_model);
    update recall.message_search as m
       set embedding       = null,
           embedding_model = ''
     where m.user_id         = p_user_id
       and m.embedding_model = p_model;
    if found then
        perform recall._enqueue_embeddings(p_user_id, clock_timestamp(), true);
    end if;
    update recall.session_summaries as s
       set embedding            = case v_current when s.embedding_model then s.embedding
                                                 when s.next_embedding_model
                                                 then s.next_embedding end,
           embedding_model      = case when v_current in (s.embedding_model,
                                                          s.next_embedding_model)
                                       then v_current end,
           next_embedding       = null,
           next_embedding_model = null
     where s.user_id = p_user_id
       and (s.embedding_model = p_model or s.next_embedding_model is not null);
end;
$function$;

comment on function recall._purge_other_vectors(uuid, text) is
    'Delete a user''s vectors of a model that is not their current one.';
