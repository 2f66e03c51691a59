-- Reindex the words of a user's memories and turns in a language.
-- A query in one language finds no words of another. Encrypted users have no words. The caller has
-- locked the user. It takes some milliseconds for a thousand texts.
-- Cost: once over the user's texts, some milliseconds for a thousand.
create or replace function recall._write_words(
    p_user_id  uuid,
    p_language regconfig
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    if recall._is_sealed_user(p_user_id) then
        return;
    end if;
    update recall.memory_store as m
       set search_vector = recall._text_words(p_language, m.content)
     where m.user_id = p_user_id;

    update recall.message_search as s
       set search_vector = recall._message_words(p_language, t.body)
      from recall.conversation_history as h
     cross join lateral (
            select recall._message_text(h.role::text, h.name, h.content, h.content_parts)
           ) as t (body)
     where s.user_id    = p_user_id
       and h.user_id    = p_user_id
       and h.session_id = s.session_id
       and h.turn_index = s.turn_index
       and h.created_at = s.created_at
       and t.body is not null;
    perform recall._rewrite_word_blocks(p_user_id, w.session_id, 1, max(w.through_turn))
       from recall.message_words as w
      where w.user_id = p_user_id
      group by w.session_id;
end;
$function$;

comment on function recall._write_words(uuid, regconfig) is
    'Reindex the words of a user''s memories and turns in a language.';
