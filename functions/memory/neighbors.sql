-- Find the active memories that are nearest to a vector.
-- The consolidation shows them to the model beside a candidate.
-- Raises  RC003, RC004.
create or replace function recall.neighbors(
    p_user_id        uuid,
    p_embedding      recall.memory_embedding.embedding%type,
    p_limit          integer default 5,
    p_min_similarity real    default 0
)
returns table (
    memory_id   uuid,
    content     text,
    kind        text,
    slot        text,
    similarity  double precision,
    tier        text,
    scope       text,
    importance  real,
    confidence  real,
    provenance  text,
    tags        text[],
    observed_at timestamptz,
    session_id  uuid
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
set enable_seqscan = off
set jit = off
as $function$
declare
    -- replaces expired rows that the sweep has not ended yet
    v_spare    constant integer := 50;
    v_settings recall.settings;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_limit(p_limit);
    if p_embedding is null or p_min_similarity is null or p_min_similarity = 'NaN' then
        raise exception using
            errcode = 'RC003',
            message = 'p_embedding or p_min_similarity is missing',
            hint    = 'Pass a vector, and a similarity from -1 to 1.';
    end if;
    v_settings := recall._settings(p_user_id);
    perform recall._check_embedding(p_embedding, 'p_embedding', v_settings);

    return query
    with nearest as materialized (
        select e.memory_id, recall._cosine_distance(e.embedding, p_embedding) as distance
          from recall.memory_embedding as e
         where e.user_id         = p_user_id
           and e.embedding_model = v_settings.embedding_model
         order by recall._cosine_distance(e.embedding, p_embedding)
         limit p_limit::bigint + v_spare
    )
    select m.memory_id, m.content, m.kind, m.slot, 1 - n.distance, m.tier::text, m.scope::text,
           m.importance, m.confidence, m.provenance::text, m.tags, m.observed_at, m.session_id
      from nearest as n
      join recall.memory_store as m on m.user_id = p_user_id and m.memory_id = n.memory_id
     where 1 - n.distance >= p_min_similarity
       and (m.expires_at is null or m.expires_at > now())
     order by n.distance, m.memory_id
     limit p_limit;
end;
$function$;

comment on function recall.neighbors(uuid, recall.memory_embedding.embedding%type, integer, real) is
    'Active memories nearest to a vector, most similar first. similarity is the cosine, -1 to 1.';
