-- Return the active memories most similar to a candidate, by its vector or else by its words.
create or replace function recall._neighbors_json(
    p_memory    recall.memory_store,
    p_embedding recall.memory_embedding.embedding%type
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_neighbors  constant integer := 5;
    v_similarity constant real    := 0.3;
begin
    return (
        select coalesce(jsonb_agg(jsonb_build_object(
                   'memory_id', n.memory_id, 'content', n.content, 'kind', n.kind,
                   'observed_at', to_char(n.observed_at at time zone 'UTC', 'YYYY-MM-DD'))
                   order by n.place), '[]')
          from (
                select s.memory_id, s.content, s.kind, s.observed_at, row_number() over () as place
                  from recall.search(
                           p_user_id         => p_memory.user_id,
                           p_query           => case when p_embedding is null
                                                     then p_memory.content end,
                           p_query_embedding => p_embedding,
                           p_limit           => v_neighbors,
                           p_filter          => jsonb_build_object(
                               'session_id', p_memory.source_session_id,
                               'min_similarity', v_similarity)) as s
               ) as n);
end;
$function$;

comment on function recall._neighbors_json(recall.memory_store,
    recall.memory_embedding.embedding%type) is
    'Neighbors that the consolidate request shows beside a candidate: memory_id, content, kind, '
    'observed_at.';
