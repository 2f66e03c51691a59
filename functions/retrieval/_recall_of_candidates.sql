-- Return the share of the ten exactly nearest memories, or messages, among a search's candidates.
-- For memories these are those of a search by a vector alone. Others compare more.
-- The vector itself does not count. NULL where the user's own settings compare everything, and
-- where there is no other vector.
create or replace function recall._recall_of_candidates(
    p_user_id    uuid,
    p_memory_id  uuid,
    p_session_id uuid,
    p_turn_index integer,
    p_embedding  recall.memory_embedding.embedding%type
)
returns real
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set jit = off
as $function$
declare
    v_settings constant recall.settings := recall._settings(p_user_id);
    v_nearest  constant integer         := 10;
    v_turns    recall.message_filter;
    v_found    recall.found_candidates;
    v_likely   uuid[];
    v_near     recall.turn_keys;
begin
    if p_memory_id is not null then
        if recall._active_memory_count(p_user_id) <= v_settings.exact_search_limit then
            return null;
        end if;
        -- One more, since the vector finds itself.
        v_found := recall._nearest_memories(p_user_id, p_embedding, v_nearest + 1, v_settings);
        v_likely := array(select c.memory_id from unnest(v_found.candidates) as c);
        return (
            select avg((n.memory_id = any (v_likely))::integer)
              from (
                    select e.memory_id
                      from recall.memory_embedding as e
                      join recall.memory_store as m
                        on m.user_id = e.user_id and m.memory_id = e.memory_id
                     where e.user_id         = p_user_id
                       and e.embedding_model = v_settings.embedding_model
                       and e.memory_id      <> p_memory_id
                       and m.ended_at is null
                       and m.session_id is null
                       and (m.expires_at is null or m.expires_at > now())
                     order by recall._cosine_distance(e.embedding, p_embedding)
                     limit v_nearest
                   ) as n);
    end if;

    if recall._count_turns(p_user_id, null) <= v_settings.exact_search_limit then
        return null;
    end if;
    v_near := recall._nearest_turns_by_bits(p_user_id, p_embedding, v_nearest, v_turns, v_settings);
    return (
        select avg((exists (
                   select
                     from unnest(v_near.session_ids, v_near.turn_indexes) as b (session_id, turn)
                    where b.session_id = n.session_id
                      and b.turn       = n.turn_index))::integer)
          from (
                select m.session_id, m.turn_index
                  from recall.message_search as m
                 where m.user_id         = p_user_id
                   and m.embedding_model = v_settings.embedding_model
                   and (m.session_id, m.turn_index) <> (p_session_id, p_turn_index)
                 order by recall._cosine_distance(m.embedding, p_embedding)
                 limit v_nearest
               ) as n);
end;
$function$;

comment on function recall._recall_of_candidates(uuid, uuid, uuid, integer,
    recall.memory_embedding.embedding%type) is
    'Share of the ten exactly nearest vectors among the candidates of an approximate search.';
