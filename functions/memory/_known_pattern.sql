-- Return the active pattern about some episodes, or a row of NULLs.
-- First, a pattern that lists an episode or has the same text. Second, one with a word or tag of
-- two thirds of the episodes. Third, the most similar one above settings.pattern_similarity.
create or replace function recall._known_pattern(
    p_user_id  uuid,
    p_episodes recall.memory_store[],
    p_settings recall.settings,
    p_content  text default null
)
returns recall.memory_store
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
declare
    v_hash     bytea  := recall._content_hash(p_content);
    v_ids      uuid[] := array(select e.memory_id from unnest(p_episodes) as e);
    v_patterns uuid[];
    v_pattern  recall.memory_store;
begin
    v_patterns := array(
        select m.memory_id
          from recall.memory_store as m
         where m.user_id = p_user_id
           and m.ended_at is null
           and m.kind = 'pattern');
    if v_patterns = '{}' then
        return null;
    end if;

    select m.*
      into v_pattern
      from recall.memory_store as m
     where m.user_id = p_user_id
       and m.ended_at is null
       and m.kind = 'pattern'
       and (m.metadata -> 'episodes' ?| v_ids::text[] or m.content_hash = v_hash)
     order by m.observed_at desc, m.memory_id
     limit 1;
    if found then
        return v_pattern;
    end if;

    -- A pattern and an episode are less similar by vector than two episodes, so words come first.
    select m.*
      into v_pattern
      from recall.memory_store as m
     cross join lateral (
            select count(*) as how_many
              from recall._episode_words(p_user_id, v_ids, p_settings) as w
             where 3 * cardinality(w.indexes) >= 2 * cardinality(v_ids)
               and w.word = any (m.tags || tsvector_to_array(
                       m.search_vector
                       || recall._text_words(p_settings.language::regconfig,
                                      array_to_string(m.tags, ' '))))) as s
     where m.user_id = p_user_id
       and m.ended_at is null
       and m.kind = 'pattern'
       and s.how_many > 0
     order by s.how_many desc, m.observed_at desc, m.memory_id
     limit 1;
    if found then
        return v_pattern;
    end if;

    select m.*
      into v_pattern
      from recall.memory_embedding as p
      join recall.memory_embedding as e
        on e.user_id = p_user_id and e.memory_id = any (v_ids)
           and e.embedding_model = p_settings.embedding_model
           and 1 - recall._cosine_distance(e.embedding, p.embedding) > p_settings.pattern_similarity
      join recall.memory_store as m
        on m.user_id = p_user_id and m.memory_id = p.memory_id
     where p.user_id         = p_user_id
       and p.memory_id       = any (v_patterns)
       and p.embedding_model = p_settings.embedding_model
     order by recall._cosine_distance(e.embedding, p.embedding), m.memory_id
     limit 1;
    return v_pattern;
end;
$function$;

comment on function recall._known_pattern(uuid, recall.memory_store[], recall.settings, text) is
    'The active pattern that lists some of these episodes, shares their words, or is most '
    'similar.';
