-- Make a user's message rows follow a change of the user's own embedding model.
-- Rows of other models lose their vectors, which no search would compare, and keep their words.
-- While the installation's model changes, a message has two rows, of which one stays.
create or replace function recall._follow_own_model(
    p_user_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_model constant text := (recall._settings(p_user_id)).embedding_model;
begin
    delete from recall.message_search as m
     where m.user_id          = p_user_id
       and m.embedding_model <> v_model
       and exists (
               select from recall.message_search as c
                where c.user_id    = p_user_id
                  and c.session_id = m.session_id
                  and c.turn_index = m.turn_index
                  and (c.embedding_model = v_model or c.embedding_model < m.embedding_model));
    update recall.message_search as m
       set embedding       = null,
           embedding_model = ''
     where m.user_id          = p_user_id
       and m.embedding_model <> v_model;
end;
$function$;

comment on function recall._follow_own_model(uuid) is
    'Make a user''s message rows follow a change of the user''s own embedding model.';
