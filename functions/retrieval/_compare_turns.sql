-- Compare the turns of a search with its query by vector, words and speaker.
-- The cosine is normalized over the turns and weighted. A word counts by its rarity among the turns
-- (the weight of BM25), slightly less in a long turn. A turn gains when the query names its
-- speaker, and from the memories that cite it.
-- Cost    one pass over the user's rows of message_search.
create or replace function recall._compare_turns(
    p_user_id   uuid,
    p_words     text[],
    p_embedding recall.memory_embedding.embedding%type,
    p_limit     integer,
    p_filter    recall.message_filter,
    p_favored   tstzrange,
    p_cited     jsonb,
    p_settings  recall.settings
)
returns table (
    session_id    uuid,
    turn_index    integer,
    created_at    timestamptz,
    message_id    uuid,
    role          recall.message_role,
    search_vector tsvector,
    similarity    double precision,
    lexical       double precision,
    closeness     double precision,
    shortness     double precision,
    speaker_part  double precision,
    memory_part   double precision
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set enable_seqscan = off
set jit = off
as $function$
declare
    v_near      constant double precision :=
        case when p_words <> '{}' then p_settings.hybrid_similarity_weight else 1 end;
    v_speaker   constant double precision := p_settings.message_speaker_weight;
    v_names     constant tsquery := (
        select string_agg(recall._term_query(w.word)::text || ':A', '|')::tsquery
          from unnest(p_words) as w (word));
    v_inside    recall.message_filter := p_filter;
    v_likely    recall.turn_keys;
    v_more      recall.turn_keys;
begin
    v_likely := recall._likely_turns(p_user_id, p_words, p_embedding, p_limit, p_filter,
                                     p_settings);
    if p_favored is not null and v_likely.session_ids is not null then
        v_inside.since := lower(p_favored);
        -- recall._date_share favors the week after, too.
        v_inside.until := least(v_inside.until, upper(p_favored) + interval '7 days');
        v_more   := recall._likely_turns(p_user_id, p_words, p_embedding, p_limit, v_inside,
                                         p_settings);
        select array_agg(a.session_id), array_agg(a.turn_index)
          into v_likely.session_ids, v_likely.turn_indexes
          from (
                select * from unnest(v_likely.session_ids, v_likely.turn_indexes)
                 union
                select * from unnest(v_more.session_ids, v_more.turn_indexes)
               ) as a (session_id, turn_index);
    end if;

    return query
    with row as (
        select m.*
          from recall.message_search as m
         where v_likely.session_ids is null
           and m.user_id = p_user_id
           and m.embedding_model is distinct from p_settings.hidden_embedding_model
           and (p_filter.session_ids is null or m.session_id = any (p_filter.session_ids))
         union all
        select m.*
          from unnest(v_likely.session_ids, v_likely.turn_indexes) as l (session_id, turn_index)
          join recall.message_search as m using (session_id, turn_index)
         where m.user_id = p_user_id
           and m.embedding_model is distinct from p_settings.hidden_embedding_model
    ),
    turn as materialized (
        select m.session_id, m.turn_index, m.message_id, m.role, m.created_at, m.search_vector,
               length(m.search_vector) as length,
               case when m.embedding_model = p_settings.embedding_model
                    then 1 - recall._cosine_distance(m.embedding, p_embedding) end as similarity,
               case when m.search_vector @@ v_names then v_speaker else 0 end as speaker,
               case when p_words <> '{}' then recall._found_words(m.search_vector, p_words)
                    end as words
          from row as m
    ),
    total as materialized (
        select count(*)::double precision as turns,
               greatest(avg(t.length)::double precision, 1) as length,
               min(t.similarity) as farthest,
               nullif(max(t.similarity) - min(t.similarity), 0) as span
          from turn as t
    ),
    said as materialized (
        select t.words, count(*) as turns
          from turn as t
         where t.words <> '{}'
         group by t.words
    ),
    word as (
        select f.word, coalesce(v_likely.weights[array_position(p_words, f.word)],
                                recall._rarity(a.turns, f.found)) as weight
          from (
                select u.word, sum(s.turns)::double precision as found
                  from said as s
                 cross join unnest(s.words) as u (word)
                 group by u.word
               ) as f
         cross join total as a
    ),
    by_words as (
        select s.words, sum(w.weight) as weight
          from said as s
         cross join unnest(s.words) as u (word)
          join word as w using (word)
         group by s.words
    )
    select t.session_id, t.turn_index, t.created_at, t.message_id, t.role, t.search_vector,
           t.similarity, coalesce(b.weight, 0) * n.shortness,
           v_near * coalesce((t.similarity - a.farthest) / a.span,
                             (t.similarity is not null)::integer),
           n.shortness, t.speaker,
           p_settings.message_memory_weight
           * coalesce((p_cited ->> t.message_id::text)::double precision, 0)
      from turn as t
     cross join total as a
      left join by_words as b on b.words = t.words
     cross join lateral (
            select 1.9 / (1.9 + 0.9 * p_settings.message_length_penalty
                                * (t.length / a.length - 1))
           ) as n (shortness);
end;
$function$;

comment on function recall._compare_turns(uuid, text[], recall.memory_embedding.embedding%type,
    integer, recall.message_filter, tstzrange, jsonb, recall.settings) is
    'A user''s turns, each compared with a query by vector, words and speaker.';
