-- Compare the title and newest live summary of each session with a query.
-- Words count by their rarity among the sessions. All sessions of the user are compared exactly.
-- The custom plan locks one partition; a generic one would lock every partition of one more table.
create or replace function recall._session_topics(
    p_user_id   uuid,
    p_words     text[],
    p_embedding recall.memory_embedding.embedding%type,
    p_settings  recall.settings
)
returns table (
    session_id uuid,
    title      text,
    summary    text,
    similarity double precision,
    lexical    double precision,
    active_at  timestamptz
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $function$
declare
    v_terms constant tsquery[] := array(
        select recall._term_query(w.word) from unnest(p_words) as w (word));
begin
    return query
    with live as (
        select distinct on (u.session_id)
               u.session_id, u.content,
               case p_settings.embedding_model
                   when u.embedding_model then 1 - recall._cosine_distance(u.embedding, p_embedding)
                   when u.next_embedding_model
                       then 1 - recall._cosine_distance(u.next_embedding, p_embedding)
               end as similarity
          from recall.session_summaries as u
         where u.user_id = p_user_id
           and u.ended_at is null
           and u.to_turn > 0
         order by u.session_id, u.to_turn desc, u.kind
    ),
    topic as materialized (
        select s.session_id, s.title, l.content, l.similarity, s.active_at,
               case when v_terms <> '{}'
                    then recall._text_words(p_settings.language::regconfig,
                                     left(concat_ws(' ', s.title, l.content), 20000))
               end as words
          from recall._session_headings(p_user_id) as s
          left join live as l on l.session_id = s.session_id
    ),
    hit as materialized (
        select t.session_id, w.ordinal
          from unnest(v_terms) with ordinality as w (term, ordinal)
          join topic as t on t.words @@ w.term
    ),
    word as (
        select h.ordinal, recall._rarity((select count(*) from topic), count(*)) as weight
          from hit as h
         group by h.ordinal
    ),
    by_words as (
        select h.session_id, sum(w.weight) as lexical
          from hit as h
          join word as w on w.ordinal = h.ordinal
         group by h.session_id
    )
    select t.session_id, t.title, t.content, t.similarity,
           case when v_terms <> '{}' then coalesce(b.lexical, 0) end, t.active_at
      from topic as t
      left join by_words as b on b.session_id = t.session_id;
end;
$function$;

comment on function recall._session_topics(uuid, text[], recall.memory_embedding.embedding%type,
    recall.settings) is
    'Title and summary of each of a user''s sessions, compared with a query.';
