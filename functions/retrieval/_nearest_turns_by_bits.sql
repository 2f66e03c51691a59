-- recall._nearest_turns_by_bits(…) -> the likely nearest turns
-- As recall._nearest_by_bits, with the filter of a search of messages: signs alone, out of their
-- index; of few dimensions they would say too little.
create or replace function recall._nearest_turns_by_bits(
    p_user_id   uuid,
    p_embedding halfvec,
    p_limit     integer,
    p_filter    recall.message_filter,
    p_settings  recall.settings
)
returns recall.found_turn[]
language plpgsql
stable
parallel safe
set search_path from current
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $function$
declare
    v_limit constant bigint      := greatest(p_settings.rerank_candidates, 16 * p_limit::bigint);
    v_bits  constant bit varying := binary_quantize(p_embedding);
begin
    if p_settings.embedding_dimensions < 256 then
        return array(
            select row(m.session_id, m.turn_index, m.created_at, null, null, null, null, null, null,
                       null, null, null)::recall.found_turn
              from recall.message_search as m
             where m.user_id         = p_user_id
               and m.embedding_model = p_settings.embedding_model
               and (p_filter.session_ids is null or m.session_id = any (p_filter.session_ids))
               and (p_filter.since is null or m.created_at >= p_filter.since)
               and (p_filter.until is null or m.created_at < p_filter.until)
               and (p_filter.roles is null or m.role = any (p_filter.roles))
             order by m.embedding <=> p_embedding
             limit v_limit);
    end if;

    return array(
        select row(m.session_id, m.turn_index, m.created_at, null, null, null, null, null, null,
                   null, null, null)::recall.found_turn
          from recall.message_search as m
         where m.user_id         = p_user_id
           and m.embedding_model = p_settings.embedding_model
           and m.bits is not null
           and (p_filter.session_ids is null or m.session_id = any (p_filter.session_ids))
           and (p_filter.since is null or m.created_at >= p_filter.since)
           and (p_filter.until is null or m.created_at < p_filter.until)
           and (p_filter.roles is null or m.role = any (p_filter.roles))
         order by m.bits <~> v_bits
         limit v_limit);
end;
$function$;

comment on function recall._nearest_turns_by_bits(uuid, halfvec, integer, recall.message_filter,
    recall.settings) is
    'The turns whose vectors have most signs in common with a vector.';
