-- Return the best turn of each session, ranked as in recall.search_messages.
create or replace function recall._best_turns(
    p_user_id   uuid,
    p_query     text,
    p_words     text[],
    p_embedding recall.memory_embedding.embedding%type,
    p_settings  recall.settings
)
returns recall.found_turn[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_turns recall.found_turn[] := recall._rank_turns(
        p_user_id, p_words, p_embedding, null, null, null,
        recall._cited_messages(p_user_id, p_query, p_embedding, p_settings), p_settings);
begin
    return array(
        select row(t.session_id, t.turn_index, t.created_at, t.score, t.similarity, t.lexical,
                   t.own_part, t.neighbor_part, t.session_part, t.memory_part, t.speaker_part,
                   t.feedback_part)::recall.found_turn
          from (
                select distinct on (r.session_id) r.*
                  from unnest(v_turns) with ordinality as r
                 order by r.session_id, r.ordinality
               ) as t);
end;
$function$;

comment on function recall._best_turns(uuid, text, text[], recall.memory_embedding.embedding%type,
    recall.settings) is
    'The best turn of each of a user''s sessions for a query.';
