-- Write the memory block of a context, NULL without memories, and list its memories.
-- The block is delimited and introduced as data, with one line per memory in the order of rank:
-- "- [KIND] text (2026-03-01)", where the date has day resolution (UTC), so that the same memory
-- gives the same bytes. Format bullets writes "• text", and "– text" for an episode.
-- Selection all orders lines by observed_at, format bullets puts facts before episodes. o_used
-- keeps the order of rank.
create or replace function recall._memory_block(
    p_request  recall.context_request,
    p_memories recall.context_candidate[],
    out o_text text,
    out o_used jsonb
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_is_bullets constant boolean := p_request.options ->> 'format' = 'bullets';
    v_is_all     constant boolean := p_request.options ->> 'selection' = 'all';
begin
    select p_request.heading || E'\n<memories>\n'
           || string_agg(
                  case when v_is_bullets
                            then case when (m.found).kind = 'episode' then '– ' else '• ' end
                                 || m.content
                       else '- [' || upper((m.found).kind collate "C") || '] ' || m.content
                            || to_char((m.found).observed_at at time zone 'UTC',
                                       ' "("YYYY-MM-DD")"') end, E'\n'
                  order by case when v_is_bullets then (m.found).kind = 'episode' end,
                           case when v_is_all then (m.found).observed_at end,
                           case when v_is_all then (m.found).memory_id end,
                           m.ordinality)
           || E'\n</memories>',
           coalesce(jsonb_agg(jsonb_build_object(
               'id', (m.found).memory_id, 'score', (m.found).score,
               'relevance', (m.found).relevance, 'match', (m.found).match)
               order by m.ordinality), '[]')
      into o_text, o_used
      from unnest(p_memories) with ordinality as m
     where m.taken;
end;
$function$;

comment on function recall._memory_block(recall.context_request, recall.context_candidate[]) is
    'The memory block of a context, and its memories with their scores.';
