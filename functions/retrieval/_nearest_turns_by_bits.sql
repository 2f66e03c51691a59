-- Return the turns whose vectors share most sign bits with a vector, nearest first.
-- As recall._nearest_by_bits, with the filter of search_messages. Empty without a vector, and when
-- the filter names its turns.
create or replace function recall._nearest_turns_by_bits(
    p_user_id   uuid,
    p_embedding recall.memory_embedding.embedding%type,
    p_limit     integer,
    p_filter    recall.message_filter,
    p_settings  recall.settings
)
returns recall.turn_keys
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $function$
declare
    v_limit constant bigint      := greatest(p_settings.rerank_candidates, 16 * p_limit::bigint);
    v_bits  constant bit varying := recall._binary_quantize(p_embedding);
    v_turns recall.turn_keys;
begin
    if p_embedding is null or p_filter.turn_indexes is not null then
        return v_turns;
    end if;

    if p_settings.embedding_dimensions < 256 then
        select array_agg(n.session_id), array_agg(n.turn_index)
          into v_turns.session_ids, v_turns.turn_indexes
          from (
                select m.session_id, m.turn_index
                  from recall.message_search as m
                 where m.user_id         = p_user_id
                   and m.embedding_model = p_settings.embedding_model
                   and (p_filter.session_ids is null or m.session_id = any (p_filter.session_ids))
                   and (p_filter.since is null or m.created_at >= p_filter.since)
                   and (p_filter.until is null or m.created_at < p_filter.until)
                   and (p_filter.roles is null or m.role = any (p_filter.roles))
                 order by recall._cosine_distance(m.embedding, p_embedding)
                 limit v_limit
               ) as n;
        return v_turns;
    end if;

    select array_agg(n.session_id), array_agg(n.turn_index)
      into v_turns.session_ids, v_turns.turn_indexes
      from (
            select m.session_id, m.turn_index
              from recall.message_search as m
             where m.user_id         = p_user_id
               and m.embedding_model = p_settings.embedding_model
               and m.bits is not null
               and (p_filter.session_ids is null or m.session_id = any (p_filter.session_ids))
               and (p_filter.since is null or m.created_at >= p_filter.since)
               and (p_filter.until is null or m.created_at < p_filter.until)
               and (p_filter.roles is null or m.role = any (p_filter.roles))
             order by recall._hamming_distance(m.bits, v_bits)
             limit v_limit
           ) as n;
    return v_turns;
end;
$function$;

comment on function recall._nearest_turns_by_bits(uuid, recall.memory_embedding.embedding%type,
    integer, recall.message_filter, recall.settings) is
    'The turns whose vectors share most sign bits with a vector.';
